/* SPDX-License-Identifier: Apache-2.0 */
#include "mountd/list_hints.h"

#include "index/base/lock.h"

/* A list given anew costs as much as a few look-ups. After ANEW of them one is kept again, to see whether the program
 * still looks its names up. */
enum { ENOUGH = 4, ANEW = 256 };

void hf_list_hints_init(struct hf_list_hints *all)
{
	*all = (struct hf_list_hints){.hint = {{0}}};
	pthread_mutex_init(&all->lock, NULL);
}

void hf_list_hints_fini(struct hf_list_hints *all)
{
	pthread_mutex_destroy(&all->lock);
}

/* With the lock held. */
static struct hf_list_hint *lister_of(struct hf_list_hints *all, uint32_t asker)
{
	struct hf_list_hint *hint = &all->hint[asker % (sizeof all->hint / sizeof *all->hint)];

	if (hint->asker != asker)
		*hint = (struct hf_list_hint){.asker = asker};
	return hint;
}

bool hf_list_hints_open(struct hf_list_hints *all, uint32_t asker, size_t names)
{
	struct hf_list_hint *hint;

	HF_LOCKED(&all->lock);
	hint = lister_of(all, asker);
	if (hint->names && hint->looked_up >= (hint->names + ENOUGH - 1) / ENOUGH)
		hint->anew = ANEW;
	hint->looked_up = 0;
	hint->names = 0;
	if (hint->anew) {
		hint->anew--;
		return true;
	}
	hint->names = names;
	return false;
}

void hf_list_hints_look_up(struct hf_list_hints *all, uint32_t asker)
{
	HF_LOCKED(&all->lock);
	lister_of(all, asker)->looked_up++;
}

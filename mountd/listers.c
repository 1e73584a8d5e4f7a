/* SPDX-License-Identifier: Apache-2.0 */
#include "mountd/listers.h"

#include "index/base/lock.h"

/* A list given anew costs as much as a few look-ups. After ANEW of them one is kept again, to see whether the program
 * still looks its names up. */
enum { ENOUGH = 4, ANEW = 256 };

void hf_listers_init(struct hf_listers *all)
{
	*all = (struct hf_listers){.lister = {{0}}};
	pthread_mutex_init(&all->lock, NULL);
}

void hf_listers_fini(struct hf_listers *all)
{
	pthread_mutex_destroy(&all->lock);
}

/* With the lock held. */
static struct hf_lister *lister_of(struct hf_listers *all, uint32_t asker)
{
	struct hf_lister *lister = &all->lister[asker % (sizeof all->lister / sizeof *all->lister)];

	if (lister->asker != asker)
		*lister = (struct hf_lister){.asker = asker};
	return lister;
}

bool hf_listers_open(struct hf_listers *all, uint32_t asker, size_t names)
{
	struct hf_lister *lister;

	HF_LOCKED(&all->lock);
	lister = lister_of(all, asker);
	if (lister->names && lister->looked_up >= (lister->names + ENOUGH - 1) / ENOUGH)
		lister->anew = ANEW;
	lister->looked_up = 0;
	lister->names = 0;
	if (lister->anew) {
		lister->anew--;
		return true;
	}
	lister->names = names;
	return false;
}

void hf_listers_look_up(struct hf_listers *all, uint32_t asker)
{
	HF_LOCKED(&all->lock);
	lister_of(all, asker)->looked_up++;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/capture/makers.h"
#include "fs/base/views.h"
#include "fs/capture/opened.h"
#include "fs/capture/reach.h"
#include "fs/capture/shared.h"

#include <stdlib.h>
#include <string.h>

void hf_makers_init(struct hf_makers *makers)
{
	makers->count = 0;
	pthread_mutex_init(&makers->lock, NULL);
}

void hf_makers_fini(struct hf_makers *makers)
{
	pthread_mutex_destroy(&makers->lock);
}

/* With the lock held. */
static struct hf_lent_maker remove_at(struct hf_makers *makers, unsigned at)
{
	struct hf_lent_maker maker = makers->waiting[at];

	makers->count--;
	memmove(&makers->waiting[at], &makers->waiting[at + 1], (makers->count - at) * sizeof maker);
	return maker;
}

/* The newest of that view; hart NULL: of any. */
static bool take_waiting(const struct hf_open *open, const uint32_t *hart, size_t view, struct hf_lent_maker *ret_maker)
{
	struct hf_makers *makers = open->capture->shared->makers;

	HF_LOCKED(&makers->lock);
	for (unsigned i = makers->count; i-- > 0;) {
		const struct hf_lent_maker *m = &makers->waiting[i];

		if (m->open != open || (hart && (m->hart != *hart || m->view != view)))
			continue;
		*ret_maker = remove_at(makers, i);
		return true;
	}
	return false;
}

static void end_maker(struct hf_lent_maker *lent)
{
	hf_maker_fini(&lent->maker);
	free(lent->reach);
}

int hf_maker_take(struct hf_open *open, uint32_t hart, size_t view, const struct hf_enc_env *env,
		  struct hf_lent_maker *ret_maker)
{
	const struct hf_view_key key = {.ops = hf_fs_view_ops(view)};
	int err;

	if (take_waiting(open, &hart, view, ret_maker))
		return 0;
	*ret_maker = (struct hf_lent_maker){.open = open, .hart = hart, .view = view};
	ret_maker->reach = malloc(sizeof *ret_maker->reach);
	if (!ret_maker->reach)
		return HF_ERR_NOMEM;
	hf_reach_init(ret_maker->reach, open->source);
	err = hf_maker_init(&ret_maker->maker, open->stream, &ret_maker->reach->src, hart, &key, env);
	if (err)
		free(ret_maker->reach);
	return err;
}

void hf_maker_put(struct hf_lent_maker *maker, int err)
{
	struct hf_makers *makers = maker->open->capture->shared->makers;
	struct hf_lent_maker surplus = {.chunks = 0};

	if (err || ++maker->chunks == HF_MAKER_CHUNKS) {
		end_maker(maker);
		return;
	}
	maker->reach->src.until = 0;
	pthread_mutex_lock(&makers->lock);
	if (makers->count == HF_MAKERS_MAX)
		surplus = remove_at(makers, 0);
	makers->waiting[makers->count++] = *maker;
	pthread_mutex_unlock(&makers->lock);
	end_maker(&surplus);
}

void hf_makers_drop(const struct hf_open *open)
{
	struct hf_lent_maker maker;

	while (take_waiting(open, NULL, 0, &maker))
		end_maker(&maker);
}

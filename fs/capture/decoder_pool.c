/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/capture/decoder_pool.h"
#include "fs/base/views.h"
#include "fs/facts/opened.h"
#include "fs/facts/shared.h"
#include "fs/stream/read_limit.h"

#include <stdlib.h>
#include <string.h>

void hf_decoder_pool_init(struct hf_decoder_pool *pool)
{
	pool->count = 0;
	pthread_mutex_init(&pool->lock, NULL);
}

void hf_decoder_pool_fini(struct hf_decoder_pool *pool)
{
	pthread_mutex_destroy(&pool->lock);
}

/* With the lock held. */
static struct hf_lent_maker remove_at(struct hf_decoder_pool *pool, unsigned at)
{
	struct hf_lent_maker maker = pool->waiting[at];

	pool->count--;
	memmove(&pool->waiting[at], &pool->waiting[at + 1], (pool->count - at) * sizeof maker);
	return maker;
}

/* The newest of that hart and view; hart NULL: the newest of open, whatever it made. */
static bool take_waiting(const struct hf_open *open, const uint32_t *hart, size_t view, struct hf_lent_maker *ret_maker)
{
	struct hf_decoder_pool *pool = open->capture->shared->decoder_pool;

	HF_LOCKED(&pool->lock);
	for (unsigned i = pool->count; i-- > 0;) {
		const struct hf_lent_maker *m = &pool->waiting[i];

		if (m->open != open || (hart && (m->hart != *hart || m->view != view)))
			continue;
		*ret_maker = remove_at(pool, i);
		return true;
	}
	return false;
}

static void end_maker(struct hf_lent_maker *lent)
{
	hf_maker_fini(&lent->maker);
	free(lent->limit);
}

int hf_decoder_pool_take(struct hf_open *open, uint32_t hart, size_t view, const struct hf_enc_env *env,
			 struct hf_lent_maker *ret_maker)
{
	const struct hf_view_key key = {.ops = hf_fs_view_ops(view)};
	int err;

	if (take_waiting(open, &hart, view, ret_maker))
		return 0;
	*ret_maker = (struct hf_lent_maker){.open = open, .hart = hart, .view = view};
	ret_maker->limit = malloc(sizeof *ret_maker->limit);
	if (!ret_maker->limit)
		return HF_ERR_NOMEM;
	hf_read_limit_init(ret_maker->limit, open->source);
	err = hf_maker_init(&ret_maker->maker, open->stream, &ret_maker->limit->src, hart, &key, env);
	if (err)
		free(ret_maker->limit);
	return err;
}

void hf_decoder_pool_put(struct hf_lent_maker *maker, int err)
{
	struct hf_decoder_pool *pool = maker->open->capture->shared->decoder_pool;
	struct hf_lent_maker surplus = {.chunks = 0};

	if (err || ++maker->chunks == HF_DECODER_POOL_CHUNKS) {
		end_maker(maker);
		return;
	}
	maker->limit->src.until = 0;
	pthread_mutex_lock(&pool->lock);
	if (pool->count == HF_DECODER_POOL_MAX)
		surplus = remove_at(pool, 0);
	pool->waiting[pool->count++] = *maker;
	pthread_mutex_unlock(&pool->lock);
	end_maker(&surplus);
}

void hf_decoder_pool_drop(const struct hf_open *open)
{
	struct hf_lent_maker maker;

	while (take_waiting(open, NULL, 0, &maker))
		end_maker(&maker);
}

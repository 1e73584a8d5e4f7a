/* SPDX-License-Identifier: Apache-2.0 */
/* The table of captures by path. */
#include "fs/capture/captures.h"
#include "fs/capture/members.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

void hf_table_fini(struct hf_captures *all)
{
	HF_CHAINS_EACH(&all->table, chain)
	{
		struct hf_capture *capture = HF_OWNER(chain, struct hf_capture, in_table);

		hf_facts_unref(capture->facts);
		hf_members_unref(capture->members);
		hf_places_unref(capture->places);
		free(capture->complaint);
		pthread_mutex_destroy(&capture->lock);
		pthread_cond_destroy(&capture->changed);
		free(capture);
	}
	hf_chains_free(&all->table);
}

/* With the lock of the table held, as all below. */
static struct hf_capture *look_up(struct hf_captures *all, const char *path, uint64_t hash)
{
	for (struct hf_chain *at = hf_chains_find(&all->table, hash); at; at = hf_chains_same(at)) {
		struct hf_capture *capture = HF_OWNER(at, struct hf_capture, in_table);

		if (!strcmp(capture->path, path))
			return capture;
	}
	return NULL;
}

static struct hf_capture *new_capture(struct hf_captures *all, const char *path, uint64_t hash)
{
	size_t size = strlen(path) + 1;
	struct hf_capture *capture = calloc(1, sizeof *capture + size);

	if (!capture || hf_chains_add(&all->table, &capture->in_table, hash)) {
		free(capture);
		return NULL;
	}
	capture->all = all;
	capture->common = all->common;
	capture->path = memcpy(capture + 1, path, size);
	capture->job = all->index_job;
	capture->notice = all->notice_job;
	atomic_init(&capture->version, 1);
	hf_link_init(&capture->nodes);
	pthread_mutex_init(&capture->lock, NULL);
	hf_cond_init(&capture->changed);
	return capture;
}

struct hf_capture *hf_table_find(struct hf_captures *all, const char *path)
{
	HF_LOCKED(&all->lock);
	return look_up(all, path, XXH3_64bits(path, strlen(path)));
}

int hf_table_add(struct hf_captures *all, const char *path, const struct hf_found *found,
		 struct hf_capture **ret_capture)
{
	const uint64_t hash = XXH3_64bits(path, strlen(path));
	struct hf_capture *capture;

	HF_LOCKED(&all->lock);
	capture = look_up(all, path, hash);
	if (!capture && (capture = new_capture(all, path, hash))) {
		capture->box = found->box;
		capture->codec = found->codec;
		capture->stamp = found->stamp;
		capture->members = hf_members_ref(found->members);
	}
	*ret_capture = capture;
	return capture ? 0 : HF_ERR_NOMEM;
}

void hf_captures_each(struct hf_captures *all, void (*fn)(void *ctx, struct hf_capture *capture), void *ctx)
{
	HF_LOCKED(&all->lock);
	HF_CHAINS_EACH(&all->table, chain)
	fn(ctx, HF_OWNER(chain, struct hf_capture, in_table));
}

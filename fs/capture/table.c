/* SPDX-License-Identifier: Apache-2.0 */
/* The table of captures by path. */
#include "fs/capture/captures.h"
#include "fs/capture/members.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { FIRST_BUCKETS = 256 };

int hf_table_init(struct hf_captures *all)
{
	all->mask = FIRST_BUCKETS - 1;
	/* Without it nothing is looked up or added, but all is closed as ever. */
	all->bucket = calloc(FIRST_BUCKETS, sizeof *all->bucket);
	pthread_mutex_init(&all->lock, NULL);
	return all->bucket ? 0 : HF_ERR_NOMEM;
}

void hf_table_fini(struct hf_captures *all)
{
	for (size_t i = 0; all->bucket && i <= all->mask; i++)
		for (struct hf_capture *capture = all->bucket[i], *next; capture; capture = next) {
			next = capture->next;
			hf_facts_unref(capture->facts);
			hf_members_unref(capture->members);
			hf_places_unref(capture->places);
			free(capture->complaint);
			pthread_mutex_destroy(&capture->lock);
			pthread_cond_destroy(&capture->changed);
			free(capture);
		}
	free(all->bucket);
	pthread_mutex_destroy(&all->lock);
}

/* With the lock of the table held, as all below. */
static struct hf_capture *look_up(struct hf_captures *all, const char *path, uint64_t hash)
{
	struct hf_capture *capture = all->bucket[hash & all->mask];

	while (capture && (capture->hash != hash || strcmp(capture->path, path) != 0))
		capture = capture->next;
	return capture;
}

static void grow(struct hf_captures *all)
{
	size_t mask = all->mask * 2 + 1;
	struct hf_capture **bucket;

	if (all->count <= all->mask)
		return;
	bucket = calloc(mask + 1, sizeof *bucket);
	if (!bucket)
		return;
	for (size_t i = 0; i <= all->mask; i++)
		for (struct hf_capture *capture = all->bucket[i], *next; capture; capture = next) {
			next = capture->next;
			capture->next = bucket[capture->hash & mask];
			bucket[capture->hash & mask] = capture;
		}
	free(all->bucket);
	all->bucket = bucket;
	all->mask = mask;
}

static struct hf_capture *new_capture(struct hf_captures *all, const char *path, uint64_t hash)
{
	size_t size = strlen(path) + 1;
	struct hf_capture *capture = calloc(1, sizeof *capture + size);

	if (!capture)
		return NULL;
	capture->all = all;
	capture->common = all->common;
	capture->path = memcpy(capture + 1, path, size);
	capture->hash = hash;
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
		capture->next = all->bucket[hash & all->mask];
		all->bucket[hash & all->mask] = capture;
		all->count++;
		grow(all);
	}
	*ret_capture = capture;
	return capture ? 0 : HF_ERR_NOMEM;
}

void hf_captures_each(struct hf_captures *all, void (*fn)(void *ctx, struct hf_capture *capture), void *ctx)
{
	HF_LOCKED(&all->lock);
	for (size_t i = 0; all->bucket && i <= all->mask; i++)
		for (struct hf_capture *capture = all->bucket[i]; capture; capture = capture->next)
			fn(ctx, capture);
}

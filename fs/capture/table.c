/* SPDX-License-Identifier: Apache-2.0 */
/* The table of captures by path. */
#include "fs/capture/table.h"
#include "fs/base/common.h"
#include "fs/base/list.h"
#include "fs/capture/capture.h"
#include "fs/capture/facts.h"
#include "fs/capture/members.h"
#include "fs/capture/places.h"
#include "fs/capture/shared.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { FIRST_BUCKETS = 256 };

int hf_table_init(struct hf_capture_table *table, const struct hf_shared *shared)
{
	table->shared = shared;
	table->mask = FIRST_BUCKETS - 1;
	/* Without it nothing is looked up or added, but all is closed as ever. */
	table->bucket = calloc(FIRST_BUCKETS, sizeof *table->bucket);
	pthread_mutex_init(&table->lock, NULL);
	return table->bucket ? 0 : HF_ERR_NOMEM;
}

void hf_table_fini(struct hf_capture_table *table)
{
	for (size_t i = 0; table->bucket && i <= table->mask; i++)
		for (struct hf_capture *capture = table->bucket[i], *next; capture; capture = next) {
			next = capture->next;
			hf_facts_unref(capture->facts);
			hf_members_unref(capture->members);
			hf_places_unref(capture->places);
			free(capture->complaint);
			pthread_mutex_destroy(&capture->lock);
			pthread_cond_destroy(&capture->changed);
			free(capture);
		}
	free(table->bucket);
	pthread_mutex_destroy(&table->lock);
}

/* With the lock of the table held, as all below. */
static struct hf_capture *look_up(struct hf_capture_table *table, const char *path, uint64_t hash)
{
	struct hf_capture *capture = table->bucket[hash & table->mask];

	while (capture && (capture->hash != hash || strcmp(capture->path, path) != 0))
		capture = capture->next;
	return capture;
}

static void grow(struct hf_capture_table *table)
{
	size_t mask = table->mask * 2 + 1;
	struct hf_capture **bucket;

	if (table->count <= table->mask)
		return;
	bucket = calloc(mask + 1, sizeof *bucket);
	if (!bucket)
		return;
	for (size_t i = 0; i <= table->mask; i++)
		for (struct hf_capture *capture = table->bucket[i], *next; capture; capture = next) {
			next = capture->next;
			capture->next = bucket[capture->hash & mask];
			bucket[capture->hash & mask] = capture;
		}
	free(table->bucket);
	table->bucket = bucket;
	table->mask = mask;
}

static struct hf_capture *new_capture(struct hf_capture_table *table, const char *path, uint64_t hash)
{
	size_t size = strlen(path) + 1;
	struct hf_capture *capture = calloc(1, sizeof *capture + size);

	if (!capture)
		return NULL;
	capture->shared = table->shared;
	capture->common = table->shared->common;
	capture->path = memcpy(capture + 1, path, size);
	capture->hash = hash;
	capture->job = table->index_job;
	capture->notice = table->notice_job;
	atomic_init(&capture->version, 1);
	hf_link_init(&capture->nodes);
	pthread_mutex_init(&capture->lock, NULL);
	hf_cond_init(&capture->changed);
	return capture;
}

struct hf_capture *hf_table_find(struct hf_capture_table *table, const char *path)
{
	HF_LOCKED(&table->lock);
	return look_up(table, path, XXH3_64bits(path, strlen(path)));
}

int hf_table_add(struct hf_capture_table *table, const char *path, const struct hf_found *found,
		 struct hf_capture **ret_capture)
{
	const uint64_t hash = XXH3_64bits(path, strlen(path));
	struct hf_capture *capture;

	HF_LOCKED(&table->lock);
	capture = look_up(table, path, hash);
	if (!capture && (capture = new_capture(table, path, hash))) {
		capture->box = found->box;
		capture->codec = found->codec;
		capture->stamp = found->stamp;
		capture->members = hf_members_ref(found->members);
		capture->next = table->bucket[hash & table->mask];
		table->bucket[hash & table->mask] = capture;
		table->count++;
		grow(table);
	}
	*ret_capture = capture;
	return capture ? 0 : HF_ERR_NOMEM;
}

void hf_table_each(struct hf_capture_table *table, void (*fn)(void *ctx, struct hf_capture *capture), void *ctx)
{
	HF_LOCKED(&table->lock);
	for (size_t i = 0; table->bucket && i <= table->mask; i++)
		for (struct hf_capture *capture = table->bucket[i]; capture; capture = capture->next)
			fn(ctx, capture);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The table of captures by path. */
#include "fs/facts/table.h"
#include "fs/base/list.h"
#include "fs/facts/capture.h"
#include "fs/facts/facts.h"
#include "fs/facts/shared.h"
#include "fs/program/load_addresses.h"
#include "fs/stream/members.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

void hf_table_init(struct hf_capture_table *table, const struct hf_shared *shared)
{
	table->shared = shared;
	pthread_mutex_init(&table->lock, NULL);
}

void hf_table_fini(struct hf_capture_table *table)
{
	HF_CHAINS_EACH(&table->chains, chain)
	{
		struct hf_capture *capture = HF_OWNER(chain, struct hf_capture, in_table);

		hf_facts_unref(capture->facts);
		hf_members_unref(capture->members);
		hf_load_addresses_unref(capture->load_addresses.addresses);
		pthread_mutex_destroy(&capture->load_addresses.lock);
		free(capture->complaint);
		free(capture->profiles);
		pthread_mutex_destroy(&capture->lock);
		pthread_cond_destroy(&capture->changed);
		free(capture);
	}
	hf_chains_free(&table->chains);
	pthread_mutex_destroy(&table->lock);
}

/* With the lock of the table held, like all below. */
static struct hf_capture *look_up(struct hf_capture_table *table, const char *path, uint64_t hash)
{
	for (struct hf_chain *at = hf_chains_find(&table->chains, hash); at; at = hf_chains_same(at)) {
		struct hf_capture *capture = HF_OWNER(at, struct hf_capture, in_table);

		if (!strcmp(capture->path, path))
			return capture;
	}
	return NULL;
}

static struct hf_capture *new_capture(struct hf_capture_table *table, const char *path, uint64_t hash)
{
	size_t size = strlen(path) + 1;
	struct hf_capture *capture = calloc(1, sizeof *capture + size);

	if (!capture || hf_chains_add(&table->chains, &capture->in_table, hash)) {
		free(capture);
		return NULL;
	}
	capture->shared = table->shared;
	capture->common = table->shared->common;
	capture->path = memcpy(capture + 1, path, size);
	capture->job = table->index_job;
	capture->notice = table->notice_job;
	atomic_init(&capture->version, 1);
	hf_link_init(&capture->nodes);
	pthread_mutex_init(&capture->lock, NULL);
	pthread_mutex_init(&capture->load_addresses.lock, NULL);
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
	}
	*ret_capture = capture;
	return capture ? 0 : HF_ERR_NOMEM;
}

void hf_table_each(struct hf_capture_table *table, void (*fn)(void *ctx, struct hf_capture *capture), void *ctx)
{
	HF_LOCKED(&table->lock);
	HF_CHAINS_EACH(&table->chains, chain)
	fn(ctx, HF_OWNER(chain, struct hf_capture, in_table));
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/facts/facts.h"
#include "fs/archive/stamp.h"
#include "fs/base/common.h"
#include "fs/base/views.h"
#include "fs/facts/capture.h"

#include <stdio.h>
#include <stdlib.h>
#include <xxhash.h>

/* A number for the present content of the capture. */
static uint64_t content_of(struct hf_capture *capture)
{
	uint64_t words[5];

	pthread_mutex_lock(&capture->lock);
	words[0] = capture->stamp.ino;
	words[1] = (uint64_t)capture->stamp.size;
	words[2] = (uint64_t)capture->stamp.mtime_ns;
	words[3] = capture->rebuilds;
	words[4] = hf_stamp_around(&capture->stamp);
	pthread_mutex_unlock(&capture->lock);
	return XXH3_64bits(words, sizeof words) | 1;
}

struct hf_facts *hf_facts_new(struct hf_capture *capture, uint64_t version)
{
	struct hf_cache *cache = capture->common->cache;
	struct hf_facts *facts = calloc(1, sizeof *facts);

	if (!facts)
		return NULL;
	atomic_init(&facts->refs, 1);
	facts->version = version;
	facts->content = content_of(capture);
	facts->known.stream_size = HF_NOWHERE;
	facts->known.original = -1;
	facts->known.merged_size = HF_NOWHERE;
	facts->stream_owner = hf_cache_owner(cache);
	facts->merged_owner = hf_cache_owner(cache);
	for (size_t i = 0; i < HF_TEXTS; i++) {
		facts->known.text_size[i] = HF_NOWHERE;
		facts->text_owner[i] = hf_cache_owner(cache);
	}
	return facts;
}

bool hf_facts_has_failed(const struct hf_facts *facts)
{
	return facts->failure.code || facts->known.undecoded.code;
}

void hf_facts_failure(const struct hf_facts *facts, char *buf, size_t size)
{
	if (facts->complaint)
		snprintf(buf, size, "%s", facts->complaint);
	else
		hf_diag_format(facts->failure.code ? &facts->failure : &facts->known.undecoded, buf, (int)size);
}

uint64_t hf_facts_text(const struct hf_facts *facts)
{
	const char *complaint = facts->complaint ? facts->complaint : "";
	const struct hf_diag *failure = facts->failure.code ? &facts->failure : &facts->known.undecoded;
	const uint64_t words[] = {
		facts->content, facts->known.text_size[HF_TEXT_INFO], facts->known.text_size[HF_TEXT_ERRORS],
		(uint64_t)failure->code,
		facts->failure.code ? failure->offset : 0, facts->failure.code ? failure->detail : 0,
		XXH3_64bits(complaint, strlen(complaint)),
	};

	return XXH3_64bits(words, sizeof words) | 1;
}

struct hf_facts *hf_facts_ref(struct hf_facts *facts)
{
	atomic_fetch_add(&facts->refs, 1);
	return facts;
}

void hf_facts_unref(struct hf_facts *facts)
{
	if (!facts || atomic_fetch_sub(&facts->refs, 1) != 1)
		return;
	for (size_t i = 0; facts->hart && i < facts->hart_count + facts->has_records; i++) {
		free(facts->hart[i].view);
		free(facts->hart[i].no_program);
	}
	free(facts->hart);
	free(facts->refusal);
	free(facts->complaint);
	free(facts);
}

bool hf_facts_same_hart(const struct hf_index_hart *a, const struct hf_index_hart *b)
{
	return a->id == b->id && a->insns == b->insns && a->attempts == b->attempts && a->events == b->events &&
	       a->chunks == b->chunks && a->told.texts == b->told.texts && a->told.samples == b->told.samples &&
	       a->told.markers == b->told.markers;
}

static bool same_views(const struct hf_facts_hart *a, const struct hf_facts_hart *b)
{
	for (size_t i = 0; i < HF_VIEW_ALL; i++)
		if (a->view[i].size != b->view[i].size)
			return false;
	return hf_facts_same_hart(&a->info, &b->info);
}

static bool same_known(const struct hf_known *a, const struct hf_known *b)
{
	return a->codec == b->codec && a->undecoded.code == b->undecoded.code && a->stream_size == b->stream_size &&
	       !memcmp(a->print, b->print, sizeof a->print) && !memcmp(a->files, b->files, sizeof a->files) &&
	       !memcmp(a->text_size, b->text_size, sizeof a->text_size) && a->problems == b->problems &&
	       !strcmp(a->version, b->version) && a->arch == b->arch && a->isa == b->isa && a->xlen == b->xlen &&
	       a->original == b->original && a->merged_size == b->merged_size;
}

bool hf_facts_same(const struct hf_facts *a, const struct hf_facts *b)
{
	if (a->content != b->content || a->failure.code != b->failure.code || !same_known(&a->known, &b->known) ||
	    a->hart_count != b->hart_count || a->has_records != b->has_records)
		return false;
	for (size_t i = 0; i < a->hart_count + a->has_records; i++)
		if (!same_views(&a->hart[i], &b->hart[i]))
			return false;
	return true;
}

void hf_facts_forget(const struct hf_facts *facts, struct hf_cache *cache)
{
	for (size_t i = 0; i < HF_TEXTS; i++)
		hf_cache_drop(cache, facts->text_owner[i]);
	hf_cache_drop(cache, facts->stream_owner);
	hf_cache_drop(cache, facts->merged_owner);
	for (size_t i = 0; i < facts->hart_count + facts->has_records; i++)
		for (size_t k = 0; k < HF_VIEW_ALL; k++)
			hf_cache_drop(cache, facts->hart[i].view[k].owner);
}

const struct hf_facts_hart *hf_facts_hart(const struct hf_facts *facts, uint32_t id)
{
	for (size_t i = 0; i < facts->hart_count + facts->has_records; i++)
		if (facts->hart[i].info.id == id)
			return &facts->hart[i];
	return NULL;
}

struct hf_facts_sum hf_facts_sum(const struct hf_facts *facts)
{
	struct hf_facts_sum sum = {0};

	for (size_t i = 0; i < facts->hart_count; i++) {
		sum.insns += facts->hart[i].info.insns;
		sum.attempts += facts->hart[i].info.attempts;
		hf_told_add(&sum.told, &facts->hart[i].info.told);
	}
	return sum;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "index/summary/summary_internal.h"

#include "index/read/decode_index.h"
#include "index/summary/group.h"
#include "index/summary/page.h"
#include "index/summary/summary.h"

#include <stdlib.h>
#include <unistd.h>
#include <zstd.h>

/* Limits of a hart: sets, and tables by number, must fit into memory. */
#define CHUNKS_MAX (UINT64_C(1) << 30)
#define RUNS_MAX (UINT64_C(1) << 28)

/* ---- opening ---- */

static int load_meta(struct hf_summary *s, const struct hf_identity *identity)
{
	struct hf_summary_meta meta = {0};
	int err = hf_store_meta(s->file.store, &hf_table_summary_meta, &meta);

	if (!err &&
	    (!meta.complete || meta.version != HF_SUMMARY_VERSION || !hf_identity_equal(&meta.identity, identity)))
		err = HF_ERR_STATE;
	s->limits = meta.limits;
	return err;
}

int hf_summary_open(int dirfd, const struct hf_identity *identity, struct hf_summary **ret_summary)
{
	struct hf_summary *s = calloc(1, sizeof *s);
	int err;

	*ret_summary = NULL;
	if (!s)
		return HF_ERR_NOMEM;
	hf_index_file_name_summary(identity, s->file.name);
	if (!(err = hf_published_open(&s->file, dirfd, HF_DB_SUMMARY)) && !(err = load_meta(s, identity)))
		err = hf_store_list(s->file.store, &hf_table_summary_hart, true, HF_SLOT_MAX, &s->harts,
				    &s->hart_count);
	for (size_t i = 0; i < s->hart_count && !err; i++)
		err = s->harts[i].chunks > CHUNKS_MAX || s->harts[i].runs > RUNS_MAX ? HF_ERR_STATE : 0;
	if (err)
		hf_summary_close(s);
	else
		*ret_summary = s;
	return err == HF_ERR_STATE ? HF_ERR_NOT_FOUND : err;
}

void hf_summary_close(struct hf_summary *s)
{
	if (!s)
		return;
	hf_published_close(&s->file);
	free(s->harts);
	free(s);
}

bool hf_summary_is_there(int dirfd, const uint64_t files[2])
{
	char name[HF_FILE_NAME_SIZE];
	int fd;

	hf_index_file_name_summary_of(files, name);
	if (hf_index_file_open(dirfd, name, &fd))
		return false;
	close(fd);
	return true;
}

bool hf_summary_is_damaged(const struct hf_summary *summary)
{
	return summary->file.damaged;
}

void hf_summary_remove(const struct hf_summary *summary)
{
	hf_published_remove(&summary->file);
}

const char *hf_summary_name(const struct hf_summary *summary)
{
	return summary->file.name;
}

uint64_t hf_summary_file_size(const struct hf_summary *summary)
{
	return hf_store_file_size(summary->file.store);
}

bool hf_summary_fits(const struct hf_summary *summary, const struct hf_index *index)
{
	const struct hf_index_hart *harts;
	const size_t n = hf_index_harts(index, &harts);

	if (!hf_chunk_limits_equal(&summary->limits, hf_index_limits(index)) || n != summary->hart_count)
		return false;
	for (size_t i = 0; i < n; i++) {
		const struct hf_summary_hart *h = hf_summary_find_hart(summary, harts[i].id);

		if (!h || h->slot != harts[i].slot || h->chunks != harts[i].chunks || h->insns != harts[i].insns)
			return false;
	}
	return true;
}

bool hf_summary_is_wanted(const struct hf_index *index)
{
	const struct hf_index_hart *harts;
	const size_t n = hf_index_harts(index, &harts);
	bool wanted = false;

	for (size_t i = 0; i < n; i++)
		wanted = wanted || harts[i].chunks > 1;
	return wanted;
}

/* ---- contexts ---- */

int hf_summary_context(struct hf_summary *summary, uint32_t hart, uint32_t number, struct hf_run_context *ret_context)
{
	const struct hf_summary_hart *h = hf_summary_find_hart(summary, hart);
	struct hf_summary_context row;
	int err;

	if (!h || number >= h->contexts)
		return HF_ERR_NOT_FOUND;
	err = hf_summary_fetch(summary, &hf_table_summary_context, h->slot, number, &row);
	*ret_context = (struct hf_run_context){.fields = row.fields,
					       .hw = row.hw,
					       .pid = row.pid,
					       .tid = row.tid,
					       .asid = row.asid,
					       .vmid = row.vmid,
					       .state = row.state};
	return hf_published_noted(&summary->file, err);
}

/* ---- runs ---- */

/* A look-up, with memory for one page. */
struct search {
	struct hf_summary *summary;
	const struct hf_summary_hart *hart;
	uint64_t first, end;
	hf_summary_fn fn;
	void *ctx;
	struct hf_summary_span span;
	struct hf_summary_page row;
	uint8_t bytes[HF_PAGE_BYTES_MAX];
};

/* The first pc of a page of the span. */
static int first_of(struct search *s, uint64_t page, uint64_t *ret_first)
{
	return hf_summary_fetch_number(s->summary, &hf_table_summary_page, s->hart->slot, s->span.page + page,
				       ret_first);
}

/* The last page that begins before all runs that may contain s->first: a run has at most HF_RUN_BYTES. */
static int first_page(struct search *s, uint64_t *ret_page)
{
	const uint64_t lowest = s->first > HF_RUN_BYTES ? s->first - HF_RUN_BYTES : 0;
	uint64_t low = 0, high = s->span.pages;

	while (high - low > 1) {
		const uint64_t middle = low + (high - low) / 2;
		uint64_t first;
		int err = first_of(s, middle, &first);

		if (err)
			return err;
		if (first < lowest)
			low = middle;
		else
			high = middle;
	}
	*ret_page = low;
	return 0;
}

static bool reaches(const struct search *s, const struct hf_run *run)
{
	/* The code may end at the end of memory. */
	return run->key.first < s->end && (run->key.first > s->first || s->first - run->key.first < run->bytes);
}

static int give(const struct search *s, const struct hf_page_run *run)
{
	const struct hf_summary_run known = {.run = run->run,
					     .count = run->count,
					     .number = run->number,
					     .chunks = run->chunks,
					     .first = run->first * HF_GROUP_CHUNKS,
					     .end = (run->last + 1) * HF_GROUP_CHUNKS};

	if (run->number - s->span.number >= s->span.runs || run->last > s->hart->chunks / HF_GROUP_CHUNKS)
		return HF_ERR_STATE;
	return reaches(s, &run->run) ? s->fn(s->ctx, &known) : 0;
}

static int search_page(struct search *s)
{
	const struct hf_page_facts facts = {.first = s->row.first,
					    .end = s->row.end,
					    .runs = s->row.runs,
					    .base = s->span.group};
	struct hf_page_reader reader;
	struct hf_page_run run;
	int err;

	if (s->row.size > sizeof s->bytes ||
	    ZSTD_decompress(s->bytes, sizeof s->bytes, s->row.data, s->row.n) != s->row.size)
		return HF_ERR_STATE;
	hf_page_open(&reader, s->bytes, s->row.size, &facts);
	while (!(err = hf_page_next(&reader, &run)))
		if ((err = give(s, &run)))
			return err;
	return err == HF_NOTE_END ? 0 : err;
}

static int search_span(struct search *s)
{
	uint64_t page = 0;
	int err = first_page(s, &page);

	for (; !err && page < s->span.pages; page++) {
		err = hf_summary_fetch(s->summary, &hf_table_summary_page, s->hart->slot, s->span.page + page, &s->row);
		if (!err && s->row.first >= s->end)
			break;
		if (!err && s->row.end > s->first)
			err = search_page(s);
	}
	return err;
}

static int search(struct hf_summary *summary, const struct hf_summary_hart *hart, struct search *s)
{
	int err = 0;

	s->summary = summary;
	s->hart = hart;
	for (uint64_t i = 0; !err && i < hart->spans; i++) {
		err = hf_summary_fetch(summary, &hf_table_summary_span, hart->slot, i, &s->span);
		if (!err && (s->span.number > hart->runs || s->span.runs > hart->runs - s->span.number))
			err = HF_ERR_STATE;
		if (!err)
			err = search_span(s);
	}
	return hf_published_noted(&summary->file, err);
}

int hf_summary_runs(struct hf_summary *summary, uint32_t hart, uint64_t first, uint64_t end, hf_summary_fn fn,
		    void *ctx)
{
	const struct hf_summary_hart *h = hf_summary_find_hart(summary, hart);
	struct search *s = h ? malloc(sizeof *s) : NULL;
	int err;

	if (!s)
		return h ? HF_ERR_NOMEM : HF_ERR_NOT_FOUND;
	s->first = first;
	s->end = end;
	s->fn = fn;
	s->ctx = ctx;
	err = search(summary, h, s);
	free(s);
	return err;
}

struct counting {
	uint64_t pc, count;
};

static int add_count(void *ctx, const struct hf_summary_run *run)
{
	struct counting *c = ctx;
	uint32_t opcode;

	if (!hf_run_has(&run->run, c->pc, &opcode))
		return 0;
	return __builtin_add_overflow(c->count, run->count, &c->count) ? HF_ERR_STATE : 0;
}

int hf_summary_count(struct hf_summary *summary, uint32_t hart, uint64_t pc, uint64_t *ret_count)
{
	struct counting c = {.pc = pc};
	/* No instruction begins at the last address. */
	int err = pc == UINT64_MAX ? 0 : hf_summary_runs(summary, hart, pc, pc + 1, add_count, &c);

	*ret_count = c.count;
	return err;
}

uint64_t hf_summary_run_count(const struct hf_summary *summary, uint32_t hart)
{
	const struct hf_summary_hart *h = hf_summary_find_hart(summary, hart);

	return h ? h->runs : 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A question to a capture: hart by hart, with the summary if there is a good one. */
#include "fs/find/run.h"
#include "codecs/base/errors.h"
#include "fs/base/views.h"
#include "fs/bytes/answer.h"
#include "fs/bytes/kinds.h"
#include "fs/capture/all.h"
#include "fs/capture/open_pool.h"
#include "fs/capture/repair.h"
#include "fs/find/list.h"
#include "fs/find/scan.h"
#include "fs/find/unavailable.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct finding {
	const struct hf_find *find;
	struct hf_open *open;
	struct hf_summary *summary; /* NULL: there is none, or it is not trusted */
	struct hf_disasm *disasm;
	struct hf_worker *worker; /* decodes; NULL: threads of the executor do */
	struct hf_find_state state;
	uint64_t unknown, count; /* answers that cannot be told; and those that were */
	char *why;
	size_t size;
};

static void say(const struct finding *f, const char *text)
{
	if (f->find->say)
		f->find->say(f->find->ctx, text);
}

/* ---- a hart ---- */

/* The chunks between after and before: *ret_low == *ret_high if there are none. */
static int find_window(const struct finding *f, const struct hf_index_hart *hart, uint64_t *ret_low, uint64_t *ret_high)
{
	const struct hf_find *find = f->find;
	const uint64_t first = find->has_after ? find->after + 1 : 0;
	const uint64_t end = find->has_before && find->before < hart->insns ? find->before : hart->insns;
	struct hf_chunk chunk;
	int err = 0;

	*ret_low = *ret_high = 0;
	if ((find->has_after && !first) || first >= end)
		return 0;
	if (first)
		err = hf_index_chunk_of(f->open->index, hart->id, first, &chunk);
	if (!err && first)
		*ret_low = chunk.number;
	if (!err)
		err = hf_index_chunk_of(f->open->index, hart->id, end - 1, &chunk);
	*ret_high = err ? *ret_low : chunk.number + 1;
	return err ? HF_ERR_MISMATCH : 0;
}

/* It was wrong: nobody uses it any more. */
static void drop_summary(struct finding *f)
{
	hf_summary_remove(f->summary);
	hf_summary_close(f->summary);
	f->summary = NULL;
	if (f->find->chunks)
		f->find->chunks->summary_dropped(f->find->ctx);
	say(f, "the summary is damaged and was removed: all chunks are decoded (hartfs index makes it again)");
}

/* How many instructions the chunks have that may have answers, as far as that is below the limit. */
static int check_limit(const struct finding *f, uint32_t hart, const struct hf_find_plan *plan)
{
	struct hf_chunk chunk;
	uint64_t insns = 0;
	int err = 0;

	if (!f->find->chunks || (plan->count && plan->exact))
		return 0;
	for (uint64_t i = plan->low; i < plan->high && !err; i++) {
		if (!hf_find_plan_has(plan, i))
			continue;
		err = hf_index_chunk(f->open->index, hart, i, &chunk);
		insns += err ? 0 : chunk.insns;
		if (insns > f->find->chunks->most_insns)
			return HF_ERR_WHERE_LIMIT;
	}
	return err;
}

/* How many there are in all of the hart is known without its chunks. HF_NOTE_END: it is not. */
static int count_hart(struct finding *f, const struct hf_find_source *source)
{
	const struct hf_find *find = f->find;
	const struct hf_find_ask ask = {
		.predicates = source->predicates, .summary = f->summary, .hart = source->hart, .disasm = f->disasm};
	uint64_t n = 0;
	int err = HF_NOTE_END;

	if (find->count && !find->chunks && !find->explain && !find->has_after && !find->has_before)
		err = hf_find_total(&ask, &n);
	if (!err)
		hf_find_count(&f->state, n);
	return err;
}

/* With a plan of these chunks. HF_ERR_STATE: the summary is not to be trusted. */
static int answer_part(struct finding *f, const struct hf_find_source *source, uint64_t low, uint64_t high,
		       struct hf_find_stats *stats)
{
	const struct hf_find_ask ask = {.predicates = source->predicates,
					.summary = f->summary,
					.index = f->open->index,
					.hart = source->hart,
					.low = low,
					.high = high,
					.disasm = f->disasm};
	struct hf_find_source with = *source;
	struct hf_find_plan plan;
	bool broken_promise = false;
	int err = hf_find_plan_new(&ask, &plan);

	if (err)
		return err;
	stats->list = plan.list;
	stats->no_list = plan.no_list;
	stats->exact = plan.exact && plan.list;
	stats->candidates += plan.candidates;
	stats->from_start = !f->summary;
	with.summary = f->summary;
	err = check_limit(f, source->hart, &plan);
	if (!err)
		err = hf_find_scan(f->find, &with, &plan, &f->state, stats, &broken_promise);
	hf_find_plan_fini(&plan);
	return err == HF_ERR_STATE ? HF_ERR_MISMATCH : !err && broken_promise ? HF_ERR_STATE : err;
}

/* Whoever wants few answers is not to read the summary of the whole hart: lists are asked of so many chunks at first, and
 * then of so many times more each time. */
enum { PART_FIRST = 4096, PART_GROWTH = 16 };

/* HF_ERR_STATE: the summary is not to be trusted, and nothing was given. */
static int answer(struct finding *f, const struct hf_find_source *source, uint64_t low, uint64_t high,
		  struct hf_find_stats *stats)
{
	const struct hf_find_state before = f->state;
	const bool whole = f->find->explain || f->find->chunks || f->find->limit == UINT64_MAX || !f->summary;
	uint64_t step = whole ? high - low : PART_FIRST;
	int err = 0;

	do {
		const uint64_t n = step < high - low ? step : high - low, from = f->find->reverse ? high - n : low;

		err = answer_part(f, source, from, from + n, stats);
		low += f->find->reverse ? 0 : n;
		high -= f->find->reverse ? n : 0;
		step *= PART_GROWTH;
	} while (!err && low < high && !f->state.done);
	if (err != HF_ERR_STATE)
		return err;
	if (f->state.given > before.given) {
		drop_summary(f);
		snprintf(f->why, f->size, "the answers above are right, but others may be missing between them: ask again");
		return HF_ERR_MISMATCH;
	}
	f->state = before;
	return HF_ERR_STATE;
}

static int ask_hart(struct finding *f, const struct hf_index_hart *hart, struct hf_find_source *source)
{
	struct hf_find_stats stats = {.hart = hart->id};
	uint64_t low, high;
	int err = find_window(f, hart, &low, &high);

	stats.chunks = high - low;
	if (!err)
		err = count_hart(f, source);
	if (err == HF_NOTE_END)
		err = answer(f, source, low, high, &stats);
	if (err == HF_ERR_STATE && f->summary) {
		drop_summary(f);
		stats = (struct hf_find_stats){.hart = hart->id, .chunks = high - low};
		err = answer(f, source, low, high, &stats);
	}
	if (!err && hart->chunks == 1 && stats.no_list)
		stats.no_list = "the hart has but one chunk";
	f->unknown += stats.unknown;
	if (!err && f->find->stats)
		f->find->stats(f->find->ctx, &stats);
	return err;
}

/* The listing of the hart, which has the lines. */
static int find_listing(struct finding *f, struct hf_find_source *source)
{
	const struct hf_open *open = f->open;

	for (size_t view = 0; f->find->lines && view < HF_ENC_COUNT; view++)
		if (hf_fs_view_ops(view)->flags & HF_ENC_LINES &&
		    hf_bytes_of_view(open->capture, open->facts, source->hart, view, &source->listing) == 0)
			return 0;
	source->listing.ops = NULL;
	if (!f->find->lines)
		return 0;
	snprintf(f->why, f->size, "listing.txt is not among the views that are offered, so there are no lines");
	return HF_ERR_UNSUPPORTED;
}

static int open_hart(struct finding *f, const struct hf_index_hart *hart)
{
	struct hf_find_source source = {.open = f->open, .hart = hart->id, .worker = f->worker};
	struct hf_predicates *predicates = NULL;
	int err = find_listing(f, &source);

	if (!err && !f->find->chunks)
		err = hf_predicates_new(f->find->question, f->open, hart->id, &predicates, f->why, f->size);
	source.predicates = f->find->chunks ? f->find->chunks->predicates : predicates;
	if (!err && hart->insns)
		err = ask_hart(f, hart, &source);
	hf_predicates_free(predicates);
	return err;
}

/* ---- all harts ---- */

static int ask_harts(struct finding *f)
{
	const struct hf_index_hart *harts;
	const size_t n = hf_index_harts(f->open->index, &harts);
	bool found = f->find->hart == HF_FIND_ALL;
	size_t nameless = 0;
	int err = 0;

	f->state = (struct hf_find_state){.skip = f->find->skip, .left = f->find->limit, .done = !f->find->limit};
	f->unknown = 0;
	for (size_t i = 0; i < n && !err && !f->state.done; i++) {
		const struct hf_index_hart *hart = &harts[f->find->reverse ? n - 1 - i : i];

		if (f->find->hart != HF_FIND_ALL && f->find->hart != hart->id)
			continue;
		found = true;
		err = open_hart(f, hart);
		/* Harts may have programs of their own: the symbol needs to be one of any. */
		if (err == HF_ERR_NOT_FOUND && f->find->hart == HF_FIND_ALL) {
			nameless++;
			err = nameless == n ? err : 0;
		}
	}
	if (err || found)
		return err;
	snprintf(f->why, f->size, "there is no hart %u", f->find->hart);
	return HF_ERR_NOT_FOUND;
}

/* Whether the harts have anything of that kind at all. */
static int probe(struct finding *f, const struct hf_find_term *term, bool *ret_any)
{
	const struct hf_find *asked = f->find;
	struct hf_question question = {.count = 1, .term = {*term}};
	const struct hf_find find = {
		.question = &question, .hart = asked->hart, .limit = 1, .count = true, .ctx = asked->ctx,
		.progress = asked->progress};
	int err;

	f->find = &find;
	err = ask_harts(f);
	*ret_any = f->state.count || f->unknown;
	f->find = asked;
	return err;
}

/* Only what retired is asked for. */
static int tell_trapping(struct finding *f)
{
	static const struct hf_find_term any_trap = {.kind = HF_ASK_TRAP, .trap = HF_TRAP_ANY};
	const char *name = hf_unavailable_trapping(f->find->question);
	bool any = false;
	char text[128];
	int err = name && f->find->say ? probe(f, &any_trap, &any) : 0;

	if (err || !any)
		return err;
	snprintf(text, sizeof text, "no %s retired: what traps does not, and is found by --trap", name);
	f->find->say(f->find->ctx, text);
	return 0;
}

/* Nothing was found: because there is nothing, or because the trace says nothing of that kind? */
static int doubt(struct finding *f)
{
	struct hf_find_term any;
	const char *what;
	int err = tell_trapping(f);

	for (size_t i = 0; !err && (what = hf_unavailable_probe(f->find->question, &i, &any)); i++) {
		bool is_told = true;

		err = probe(f, &any, &is_told);
		if (err || is_told)
			continue;
		snprintf(f->why, f->size, "the trace tells no %s at all, so it cannot say", what);
		err = HF_ERR_UNSUPPORTED;
	}
	return err;
}

/* What the format of the capture cannot tell. */
static int refuse(const struct finding *f)
{
	const char *what = hf_unavailable_by(f->find->question, f->open->stream->info.flags);

	if (what)
		snprintf(f->why, f->size, "a trace of this kind does not tell of %s", what);
	return what ? HF_ERR_UNSUPPORTED : 0;
}

static int find_opened(void *ctx, struct hf_open *open)
{
	struct finding *f = ctx;
	struct hf_disasm *disasm = NULL;
	int err;

	f->open = open;
	f->worker = f->find->chunks ? f->find->chunks->worker : NULL;
	err = open->stream ? refuse(f) : HF_ERR_UNSUPPORTED;
	if (!err && !f->worker)
		err = hf_disasm_new(&disasm);
	f->disasm = f->worker ? f->worker->env.disasm : disasm;
	if (!err && !f->find->no_summary && hf_open_summary(f->open, &f->summary))
		f->summary = NULL;
	if (!err)
		err = ask_harts(f);
	f->count = f->state.count;
	if (!err && !f->state.seen && !f->unknown && f->find->limit)
		err = doubt(f);
	if (f->summary)
		hf_summary_close(f->summary);
	hf_disasm_free(disasm);
	return err;
}

int hf_find_run(struct hf_captures *all, const struct hf_find *find, uint64_t *ret_count, char *why, size_t size)
{
	struct finding f = {.find = find, .why = why, .size = size};
	int err;

	*why = 0;
	err = hf_answer_here(all, find->path, find_opened, &f, why);
	*ret_count = f.count;
	return err;
}

int hf_find_opened(struct hf_open *open, const struct hf_find *find, char *why, size_t size)
{
	struct finding f = {.find = find, .why = why, .size = size};

	*why = 0;
	return find_opened(&f, open);
}

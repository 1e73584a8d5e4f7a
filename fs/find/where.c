/* SPDX-License-Identifier: Apache-2.0 */
/* The files of hartN/where/ as they are counted, kept and found again, and their bytes. */
#include "fs/find/where.h"
#include "codecs/base/array.h"
#include "codecs/base/errors.h"
#include "fs/capture/open_pool.h"
#include "fs/capture/repair.h"
#include "fs/facts/capture.h"
#include "fs/facts/facts.h"
#include "fs/find/run.h"
#include "fs/find/scan.h"
#include "fs/find/where_value.h"
#include "index/summary/summary.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct hf_where {
	struct hf_made made; /* first */
	enum hf_where_kind kind;
	char value[NAME_MAX + 1];
	/* set when it is made */
	struct hf_question *question;
	struct hf_predicates *predicates;
	struct row {
		uint64_t chunk, before; /* so many answers are in the chunks before it */
	} *row;				/* each has answers; owned */
	size_t count;
	uint64_t total;	  /* answers, */
	uint64_t unknown; /* and instructions of which the trace does not tell whether they are */
	bool by_list;	  /* a summary had a part in it */
	uint64_t owner;	  /* in the cache */
};

static const struct hf_bytes_ops bytes_ops;

/* ---- counting ---- */

static int add_row(void *ctx, uint64_t chunk, uint64_t n)
{
	struct hf_where *where = ctx;
	int err = hf_array_room(&where->row, where->count, sizeof *where->row);

	if (err)
		return err;
	where->row[where->count++] = (struct row){chunk, where->total};
	return __builtin_add_overflow(where->total, n, &where->total) ? HF_ERR_STATE : 0;
}

static void forget_rows(struct hf_where *where)
{
	free(where->row);
	where->row = NULL;
	where->count = 0;
	where->total = 0;
}

static void tell_damaged(const struct hf_where *where)
{
	hf_common_log(where->made.capture->common, 4,
		      "%s: the summary is damaged and was removed (hartfs index makes it again)", where->made.capture->path);
}

static void summary_dropped(void *ctx)
{
	forget_rows(ctx);
	tell_damaged(ctx);
}

static void take_stats(void *ctx, const struct hf_find_stats *stats)
{
	struct hf_where *where = ctx;

	where->by_list = !stats->from_start;
	where->unknown = stats->unknown;
}

static int count(struct hf_where *where, struct hf_open *open, struct hf_worker *worker)
{
	const struct hf_find_chunks chunks = {.worker = worker,
					      .predicates = where->predicates,
					      .most_insns = HF_WHERE_DECODED,
					      .counted = add_row,
					      .summary_dropped = summary_dropped};
	const struct hf_find find = {.question = where->question,
				     .hart = where->made.hart,
				     .limit = UINT64_MAX,
				     .count = true,
				     .chunks = &chunks,
				     .ctx = where,
				     .stats = take_stats};
	char why[256];
	int err = hf_find_opened(open, &find, why, sizeof why);

	if (!err && where->unknown)
		return HF_ERR_WHERE_UNKNOWN;
	return err == HF_ERR_UNSUPPORTED ? HF_ERR_WHERE_UNAVAILABLE : err;
}

static int make(void *ctx, struct hf_open *open, struct hf_worker *worker)
{
	struct hf_where *where = ctx;
	const struct hf_common *common = where->made.capture->common;
	char why[256];
	int err = hf_where_ask(where->kind, where->value, &where->question);

	if (!err && (!open->stream || !hf_facts_hart(open->facts, where->made.hart)))
		err = HF_ERR_NOT_FOUND;
	if (!err)
		err = hf_predicates_new(where->question, open, where->made.hart, &where->predicates, why, sizeof why);
	/* A name has its parameters, and one that only one has is spelled without its address; a register has the name of
	 * listings. */
	if (!err && (where->predicates->place[0].bare ||
		     where->predicates->place[0].reg == where->predicates->place[0].reg_name ||
		     (where->predicates->place[0].at && where->predicates->place[0].named == 1)))
		err = HF_ERR_NOT_FOUND;
	if (!err)
		err = count(where, open, worker);
	if (!err)
		where->owner = hf_cache_owner(common->cache);
	if (err == HF_ERR_WHERE_LIMIT)
		hf_common_log(common, 6,
			      "%s: hart%" PRIu32 "/where/%s/%s is not there: more than 1,048,576 instructions would have "
			      "to be decoded to count its lines; ask with hartfs find",
			      where->made.capture->path, where->made.hart, hf_where_name(where->kind), where->value);
	where->made.bytes = sizeof *where + where->count * sizeof *where->row;
	return err;
}

/* ---- keeping ---- */

static bool is_same(const struct hf_made *a, const struct hf_made *b)
{
	const struct hf_where *x = (const struct hf_where *)a, *y = (const struct hf_where *)b;

	return x->kind == y->kind && strcmp(x->value, y->value) == 0;
}

static void free_where(struct hf_made *made)
{
	struct hf_where *where = (struct hf_where *)made;

	if (where->owner)
		hf_cache_drop(made->capture->common->cache, where->owner);
	forget_rows(where);
	hf_predicates_free(where->predicates);
	hf_question_free(where->question);
}

const struct hf_made_kind hf_made_where = {.size = sizeof(struct hf_where),
					   .most = HF_WHERE_KEPT,
					   .most_bytes = HF_WHERE_BYTES,
					   .is_same = is_same,
					   .make = make,
					   .free = free_where};

int hf_where_get(struct hf_mades *wheres, struct hf_capture *capture, const struct hf_facts *facts, uint32_t hart,
		 enum hf_where_kind kind, const char *value, struct hf_bytes *ret_bytes)
{
	struct hf_where key = {.made = {.capture = capture, .version = facts->version, .hart = hart}, .kind = kind};
	struct hf_where *where;
	struct hf_made *made;
	int err;

	/* Whoever asks without a kernel may ask for longer ones. */
	if ((size_t)snprintf(key.value, sizeof key.value, "%s", value) >= sizeof key.value)
		return HF_ERR_NOT_FOUND;
	err = hf_made_get(wheres, &key.made, &made);
	if (err)
		return err;
	where = (struct hf_where *)made;
	*ret_bytes = (struct hf_bytes){.ops = &bytes_ops,
				       .capture = capture,
				       .version = facts->version,
				       .owner = where->owner,
				       .size = where->total * HF_WHERE_LINE,
				       .hart = hart,
				       .own = where};
	return 0;
}

/* ---- the bytes ---- */

static const struct hf_where *where_of(const struct hf_bytes *bytes)
{
	return bytes->own;
}

static void ref_bytes(const struct hf_bytes *bytes)
{
	hf_made_ref(bytes->own);
}

static void unref_bytes(const struct hf_bytes *bytes)
{
	hf_made_put(bytes->own);
}

static int piece_of(const struct hf_bytes *bytes, struct hf_open *open, uint64_t number, struct hf_piece *ret_piece)
{
	const struct hf_where *where = where_of(bytes);
	uint64_t next;

	(void)open;
	if (number >= where->count)
		return HF_NOTE_END;
	next = number + 1 < where->count ? where->row[number + 1].before : where->total;
	*ret_piece = (struct hf_piece){.number = number,
				       .offset = where->row[number].before * HF_WHERE_LINE,
				       .size = (next - where->row[number].before) * HF_WHERE_LINE};
	return 0;
}

static int piece_at(const struct hf_bytes *bytes, struct hf_open *open, uint64_t offset, struct hf_piece *ret_piece)
{
	const struct hf_where *where = where_of(bytes);
	size_t low = 0, high = where->count;

	if (offset >= bytes->size)
		return HF_NOTE_END;
	/* The last that begins there or before. */
	while (high - low > 1) {
		const size_t mid = low + (high - low) / 2;

		if (where->row[mid].before * HF_WHERE_LINE <= offset)
			low = mid;
		else
			high = mid;
	}
	return piece_of(bytes, open, low, ret_piece);
}

/* The lists that it was counted by are wrong. Whoever looks it up again gets it counted anew. */
static int refute(struct hf_where *where, const struct hf_open *open)
{
	struct hf_summary *summary;

	if (!where->by_list)
		return HF_ERR_MISMATCH;
	hf_made_refute(&where->made);
	if (!hf_open_summary(open, &summary)) {
		tell_damaged(where);
		hf_summary_remove(summary);
		hf_summary_close(summary);
	}
	return HF_ERR_CHANGED;
}

static void write_lines(const struct hf_find_items *items, uint8_t *to)
{
	char line[HF_WHERE_LINE + 1];

	for (size_t i = 0; i < items->count; i++, to += HF_WHERE_LINE) {
		snprintf(line, sizeof line, "%*" PRIu64 "\n", (int)HF_WHERE_LINE - 1, items->item[i]);
		memcpy(to, line, HF_WHERE_LINE);
	}
}

static int fill(const struct hf_bytes *bytes, struct hf_open *open, const struct hf_piece *piece,
		struct hf_worker *worker, uint8_t *to)
{
	struct hf_where *where = bytes->own;
	const struct hf_find_source source = {.open = open, .predicates = where->predicates, .hart = where->made.hart};
	struct hf_find_reader *reader = calloc(1, sizeof *reader);
	struct hf_find_chunk chunk;
	int err = reader ? hf_disasm_need(&worker->env.disasm) : HF_ERR_NOMEM;

	if (!err) {
		reader->source = &source;
		err = hf_find_chunk(reader, where->row[piece->number].chunk, worker, &chunk);
		hf_find_reader_fini(reader);
	}
	free(reader);
	if (err)
		return err;
	if (chunk.items.count * HF_WHERE_LINE != piece->size || chunk.items.yes != chunk.items.count)
		err = refute(where, open);
	else
		write_lines(&chunk.items, to);
	hf_find_chunk_fini(&chunk);
	return err;
}

static const struct hf_bytes_ops bytes_ops = {
	.piece_at = piece_at,
	.piece = piece_of,
	.fill = fill,
	.ref = ref_bytes,
	.unref = unref_bytes,
	.at_once = 16,
};

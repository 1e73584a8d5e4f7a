/* SPDX-License-Identifier: Apache-2.0 */
/*
 * samples.txt and samples.svg: where the pc was when the trace unit sampled it. These are no executions: nothing of them is in
 * another profile, and nothing that was executed is in these.
 */
#include "codecs/base/hash_map.h"
#include "fs/facts/facts.h"
#include "fs/profile/svg.h"
#include "fs/profile/texts.h"
#include "index/index.h"
#include "index/read/cursor.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Places that are told apart; further ones are one. */
#define PLACES_MAX (UINT32_C(1) << 20)

struct place {
	const struct hf_symbol *symbol; /* NULL: in none, then pc */
	uint64_t pc, count;
};

struct samples {
	const struct hf_profiled *of;
	struct place *pc, *function; /* each pc, and each function */
	size_t pcs, functions;
	struct hf_hash_map map;
	uint64_t all, asleep, denied, others;
};

/* ---- counting ---- */

static int add(struct samples *s, uint64_t pc)
{
	const uint32_t hash = hf_hash_of(pc, 0);
	int err;

	HF_HASH_EACH(&s->map, hash, i)
	if (s->pc[i].pc == pc) {
		s->pc[i].count++;
		return 0;
	}
	if (s->pcs == PLACES_MAX) {
		s->others++;
		return 0;
	}
	err = hf_hash_map_add_row(&s->map, hash, &s->pc, sizeof *s->pc);
	if (!err)
		s->pc[s->pcs++] = (struct place){
			.symbol = s->of->symbols ? hf_symbols_at(s->of->symbols, pc) : NULL, .pc = pc, .count = 1};
	return err;
}

static int take_events(struct samples *s, const struct hf_event *ev, size_t n, uint64_t *left)
{
	int err = 0;

	for (size_t i = 0; i < n && !err; i++) {
		if (ev[i].kind == HF_EVENT_INSN && !(*left)--)
			return HF_NOTE_END;
		if (ev[i].kind != HF_EVENT_MARKER || ev[i].what != HF_MARKER_SAMPLE)
			continue;
		s->all++;
		s->asleep += ev[i].marker.type == HF_SAMPLE_ASLEEP;
		s->denied += ev[i].marker.type == HF_SAMPLE_DENIED;
		if (ev[i].flags & HF_EVF_AT)
			err = add(s, ev[i].marker.value);
	}
	return err;
}

static int take_chunk(struct samples *s, struct hf_cursor *cursor, uint64_t *left)
{
	struct hf_event ev[HF_CURSOR_BATCH];
	size_t n;
	int err = 0;

	while (!err && cursor->left) {
		err = hf_cursor_take(cursor, ev, HF_CURSOR_BATCH, &n, NULL);
		if (!err)
			err = take_events(s, ev, n, left);
	}
	return err;
}

/* Of the whole hart only chunks that have samples are decoded. */
static int decode_whole(struct samples *s, struct hf_cursor *cursor)
{
	const struct hf_profile_source *source = s->of->source;
	const uint64_t chunks = hf_facts_hart(source->open->facts, source->hart)->info.chunks;
	struct hf_chunk *chunk = malloc(sizeof *chunk);
	uint64_t left = UINT64_MAX;
	int err = chunk ? 0 : HF_ERR_NOMEM;

	for (uint64_t i = 0; i < chunks && !err; i++) {
		err = source->stop(source->ctx) ? HF_ERR_CANCELLED : hf_index_chunk(source->open->index, source->hart, i, chunk);
		if (err || !chunk->told.samples)
			continue;
		err = hf_cursor_enter(cursor, i, NULL);
		if (!err)
			err = take_chunk(s, cursor, &left);
	}
	free(chunk);
	return err;
}

/* Samples before the first instruction belong to it, as all that the listing has there. */
static int decode_slice(struct samples *s, struct hf_cursor *cursor)
{
	const struct hf_profile_source *source = s->of->source;
	uint64_t left = source->end - source->first;
	struct hf_event first;
	int err;

	if (source->first) {
		err = hf_cursor_seek(cursor, source->first, &first, NULL);
		left--;
	} else {
		err = hf_cursor_enter(cursor, 0, NULL);
	}
	while (!err) {
		err = take_chunk(s, cursor, &left);
		if (!err)
			err = source->stop(source->ctx) ? HF_ERR_CANCELLED : hf_cursor_advance(cursor, NULL);
	}
	return err == HF_NOTE_END ? 0 : err;
}

static int by_count(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return x->pc < y->pc ? -1 : x->pc > y->pc;
}

static int by_pc(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return x->pc < y->pc ? -1 : x->pc > y->pc;
}

/* The pcs of one function together; those in none are each its own. */
static int join(struct samples *s)
{
	s->function = calloc(s->pcs + 1, sizeof *s->function);
	if (!s->function)
		return HF_ERR_NOMEM;
	if (!s->pcs)
		return 0;
	qsort(s->pc, s->pcs, sizeof *s->pc, by_pc);
	for (size_t i = 0; i < s->pcs; i++) {
		struct place *last = s->functions ? &s->function[s->functions - 1] : NULL;

		if (last && last->symbol && last->symbol == s->pc[i].symbol)
			last->count += s->pc[i].count;
		else
			s->function[s->functions++] = s->pc[i];
	}
	qsort(s->pc, s->pcs, sizeof *s->pc, by_count);
	qsort(s->function, s->functions, sizeof *s->function, by_count);
	return 0;
}

static void fini(struct samples *s)
{
	hf_hash_map_free(&s->map);
	free(s->pc);
	free(s->function);
}

/* HF_ERR_NOT_FOUND: the hart was not sampled. To be freed also after an error. */
static int count(const struct hf_profiled *of, struct samples *s)
{
	const struct hf_profile_source *source = of->source;
	struct hf_cursor cursor = hf_profile_cursor(source);
	int err;

	*s = (struct samples){.of = of};
	if (!hf_facts_hart(source->open->facts, source->hart)->info.told.samples)
		return HF_ERR_NOT_FOUND;
	err = source->slice ? decode_slice(s, &cursor) : decode_whole(s, &cursor);
	hf_cursor_fini(&cursor);
	return err ? err : join(s);
}

/* ---- the texts ---- */

static double share(const struct samples *s, uint64_t n)
{
	return s->all ? 100.0 * (double)n / (double)s->all : 0;
}

static void put_name(const struct place *place, struct hf_sink *sink)
{
	if (place->symbol)
		hf_sink_write(sink, place->symbol->name, place->symbol->name_size);
	else
		hf_sink_printf(sink, "0x%" PRIx64, place->pc);
}

static void put_places(const struct samples *s, struct hf_sink *sink)
{
	hf_sink_printf(sink, "#    samples   share function\n");
	for (size_t i = 0; i < s->functions; i++) {
		hf_sink_printf(sink, "%12" PRIu64 " %6.2f%% ", s->function[i].count, share(s, s->function[i].count));
		put_name(&s->function[i], sink);
		hf_sink_printf(sink, "\n");
	}
	hf_sink_printf(sink, "\n#    samples   share pc               place\n");
	for (size_t i = 0; i < s->pcs; i++) {
		hf_sink_printf(sink, "%12" PRIu64 " %6.2f%% %016" PRIx64 " ", s->pc[i].count, share(s, s->pc[i].count), s->pc[i].pc);
		hf_profile_put_place(s->of, s->pc[i].pc, sink);
		hf_sink_printf(sink, "\n");
	}
}

int hf_profile_samples(const struct hf_profiled *of, struct hf_sink *sink)
{
	struct samples s;
	int err = count(of, &s);

	if (!err) {
		hf_sink_printf(sink, "# hart%" PRIu32 ": %" PRIu64 " samples of the pc, %" PRIu64 " asleep, %" PRIu64 " denied",
			       of->hart, s.all, s.asleep, s.denied);
		if (s.others)
			hf_sink_printf(sink, ", %" PRIu64 " at places beyond the limit", s.others);
		hf_sink_printf(sink, "; they are no executions\n");
		put_places(&s, sink);
	}
	fini(&s);
	return err ? err : sink->err;
}

/* Bars, and their height in pixels. */
enum { BARS = 64, BAR = 20, TOP = 48 };

static void put_bar(struct hf_svg *svg, const struct samples *s, size_t i)
{
	const struct place *place = &s->function[i];
	const unsigned y = TOP + BAR * (unsigned)i;
	char address[24];
	int n = snprintf(address, sizeof address, "0x%" PRIx64, place->pc);

	hf_svg_put(svg, "rect", "x=\"40%%\" y=\"%u\" width=\"%.3f%%\" height=\"%d\" fill=\"#d9884a\"", y,
		   0.58 * 100.0 * (double)place->count / (double)s->function[0].count, BAR - 4);
	hf_svg_open(svg, "text", "x=\"39%%\" y=\"%u\" text-anchor=\"end\"", y + BAR - 8);
	if (place->symbol)
		hf_svg_say_name(svg, place->symbol->name, place->symbol->name_size);
	else
		hf_svg_say_name(svg, address, (size_t)n);
	hf_svg_close(svg);
	hf_svg_open(svg, "text", "x=\"40.5%%\" y=\"%u\"", y + BAR - 8);
	hf_svg_say(svg, "%" PRIu64 " (%.1f%%)", place->count, share(s, place->count));
	hf_svg_close(svg);
}

int hf_profile_samples_picture(const struct hf_profiled *of, struct hf_sink *sink)
{
	struct hf_svg svg = {.sink = sink};
	struct samples s;
	int err = count(of, &s);
	const size_t bars = err ? 0 : s.functions < BARS ? s.functions : BARS;

	if (!err) {
		hf_svg_open(&svg, "svg",
			    "xmlns=\"http://www.w3.org/2000/svg\" width=\"100%%\" height=\"%u\" font-family=\"sans-serif\" "
			    "font-size=\"12\"", TOP + BAR * (unsigned)bars + 8);
		hf_svg_open(&svg, "text", "x=\"8\" y=\"20\" font-size=\"15\"");
		hf_svg_say(&svg, "%" PRIu64 " samples of the pc of hart%" PRIu32, s.all, of->hart);
		hf_svg_close(&svg);
		hf_svg_open(&svg, "text", "x=\"8\" y=\"38\"");
		hf_svg_say(&svg, "%" PRIu64 " asleep, %" PRIu64 " denied; %zu of %zu places are shown, samples.txt has all", s.asleep,
			   s.denied, bars, s.functions);
		hf_svg_close(&svg);
		for (size_t i = 0; i < bars; i++)
			put_bar(&svg, &s, i);
		hf_svg_close(&svg);
	}
	fini(&s);
	return err ? err : sink->err;
}

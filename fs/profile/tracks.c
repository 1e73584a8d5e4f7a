/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/profile/tracks.h"
#include "codecs/base/errors.h"
#include "codecs/setup/processes.h"
#include "fs/base/human.h"
#include "fs/capture/source_text.h"
#include "fs/profile/frames.h"
#include "fs/profile/overview_parts.h"
#include "fs/profile/pictures.h"
#include "fs/profile/timeline_source.h"
#include "fs/profile/track_source.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Pixels: of the functions; of the line below that says what is known; from track to track; a line of the head. */
enum { BAND = 22, LINE_AT = 24, LINE = 6, PITCH = 42, HEAD = 14 };
enum { LEGEND_AT = 52 + 3 * HEAD, TRACKS_AT = LEGEND_AT + 2 * HF_OVERVIEW_HEAD + 6 };
/* Parts that links lead to, of many tracks fewer; functions that a hart may bring in; letters of a name in the legend,
 * of which so many stand in a row. */
enum { MANY = 16, PARTS_OF_MANY = 8, CANDIDATES = 64, LETTERS = 15, IN_A_ROW = 4 };

/* Kinds of code: the first is all other functions. Then what the line says. */
enum { OTHERS, NAMED = HF_TIMELINE_KINDS - 1 };
enum { TIMED = HF_TIMELINE_KINDS + 1, LOST, COLOURS };

/* Grey, and of Okabe and Ito's colours all but black. */
static const uint32_t colours[COLOURS] = {0,	    0xa8a8a8, 0xe69f00, 0x56b4e9, 0x009e73, 0xf0e442,
					  0x0072b2, 0xd55e00, 0xcc79a7, 0x888888, 0xd55e00};

struct candidate {
	const struct hf_symbol *symbol; /* NULL: what else is in */
	const struct hf_object *object; /*   this file; NULL: the page at start */
	uint64_t start;
	double insns;
};

struct track {
	uint32_t hart;
	uint64_t insns;
	bool decoded;
	struct hf_track_axis axis;
	struct hf_track_thread thread;
};

struct hf_tracks {
	struct hf_open *open;
	struct hf_track_span span;
	struct track *track; /* by hart */
	uint32_t count, next;
	bool drawing; /* else functions are counted */
	struct candidate *candidate;
	size_t candidates;
	struct candidate named[NAMED];
	unsigned names;
	/* Of all harts; of those without a track; and what is not in the tracks, as it has no time. */
	uint64_t insns, others, undrawn;
	size_t harts;
	uint32_t rough; /* tracks that are made of chunks */
	bool summed;	/* there is a summary */
	bool full;	/* functions were too many */
};

/* ---- which harts ---- */

static int by_insns(const void *a, const void *b)
{
	const struct track *x = a, *y = b;

	if (x->insns != y->insns)
		return x->insns > y->insns ? -1 : 1;
	return (x->hart > y->hart) - (x->hart < y->hart);
}

static int by_hart(const void *a, const void *b)
{
	const struct track *x = a, *y = b;

	return (x->hart > y->hart) - (x->hart < y->hart);
}

static int choose_harts(struct hf_tracks *t)
{
	const struct hf_facts *facts = t->open->facts;
	uint64_t decoded = 0;

	t->summed = hf_capture_has_summary(t->open->capture, facts);
	t->harts = facts->hart_count;
	t->track = calloc(t->harts + 1, sizeof *t->track);
	if (!t->track)
		return HF_ERR_NOMEM;
	for (size_t i = 0; i < t->harts; i++) {
		const struct hf_index_hart *hart = &facts->hart[i].info;

		t->track[i].hart = hart->id;
		t->track[i].insns = hart->insns;
		t->insns += hart->insns;
	}
	qsort(t->track, t->harts, sizeof *t->track, by_insns);
	t->count = t->harts < HF_TRACKS ? (uint32_t)t->harts : HF_TRACKS;
	for (size_t i = t->count; i < t->harts; i++)
		t->others += t->track[i].insns;
	for (size_t i = t->count; i-- > 0;) {
		decoded += t->track[i].insns;
		t->track[i].decoded = t->track[i].insns <= HF_PICTURE_DECODED && decoded <= HF_TRACKS_DECODED;
	}
	qsort(t->track, t->count, sizeof *t->track, by_hart);
	return 0;
}

/* Of those that are not decoded. */
static int fill_axes(struct hf_tracks *t)
{
	struct hf_track_axis *axes[HF_TRACKS];
	uint32_t harts[HF_TRACKS];
	bool any = false;

	for (uint32_t i = 0; i < t->count; i++) {
		struct track *track = &t->track[i];

		hf_track_axis_init(&track->axis, &t->span, t->count > MANY ? PARTS_OF_MANY : HF_HOTTEST_PARTS);
		harts[i] = track->hart;
		axes[i] = track->decoded ? NULL : &track->axis;
		any |= !track->decoded;
	}
	return any ? hf_track_axes(t->open, harts, axes, t->count) : 0;
}

int hf_tracks_new(struct hf_open *open, struct hf_tracks **ret_tracks)
{
	struct hf_tracks *t = calloc(1, sizeof *t);
	int err;

	*ret_tracks = t;
	if (!t)
		return HF_ERR_NOMEM;
	t->open = open;
	err = hf_track_span(open, &t->span);
	if (!err)
		err = choose_harts(t);
	if (!err)
		err = fill_axes(t);
	t->candidate = calloc((size_t)t->count * CANDIDATES + 1, sizeof *t->candidate);
	return t->candidate ? err : HF_ERR_NOMEM;
}

void hf_tracks_free(struct hf_tracks *tracks)
{
	if (!tracks)
		return;
	free(tracks->track);
	free(tracks->candidate);
	free(tracks);
}

/* ---- which functions ---- */

static int by_executions(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->insns != y->insns)
		return x->insns > y->insns ? -1 : 1;
	return (x->start > y->start) - (x->start < y->start);
}

static struct candidate candidate_of(const struct hf_symbols *symbols, const struct hf_hottest_function *function)
{
	return (struct candidate){.symbol = function->symbol,
				  .object = function->symbol ? NULL : hf_symbols_object_at(symbols, function->start),
				  .start = function->start,
				  .insns = (double)function->all};
}

static int compare_places(const struct candidate *x, const struct candidate *y)
{
	if (!x->object || !y->object)
		return x->object || y->object ? !x->object - !y->object : (x->start > y->start) - (x->start < y->start);
	return strcmp(x->object->name, y->object->name);
}

/* Functions of one name are one, wherever they lie. */
static int compare_names(const struct candidate *x, const struct candidate *y)
{
	const struct hf_symbol *a = x->symbol, *b = y->symbol;
	int order;

	if (!a || !b)
		return a || b ? !a - !b : compare_places(x, y);
	order = memcmp(a->name, b->name, a->name_size < b->name_size ? a->name_size : b->name_size);
	return order ? order : (a->name_size > b->name_size) - (a->name_size < b->name_size);
}

static int by_name(const void *a, const void *b)
{
	const int order = compare_names(a, b);

	return order ? order : by_executions(a, b);
}

static int count_functions(struct hf_tracks *t, const struct hf_profiled *of)
{
	struct hf_hottest hottest = {0};
	struct hf_hottest_function *function;
	struct candidate *all = NULL;
	size_t n;
	int err = 0;

	for (size_t i = 0; i < of->counts->n && !err; i++) {
		err = hf_hottest_find(&hottest, of->symbols, of->counts->row[i].pc, &function);
		if (!err && function)
			function->all += (float)of->counts->row[i].count;
	}
	if (!err)
		all = calloc(hottest.count + (size_t)1, sizeof *all);
	for (uint32_t i = 0; all && i < hottest.count; i++)
		all[i] = candidate_of(of->symbols, &hottest.function[i]);
	if (all) {
		qsort(all, hottest.count, sizeof *all, by_executions);
		n = hottest.count < CANDIDATES ? hottest.count : CANDIDATES;
		memcpy(t->candidate + t->candidates, all, n * sizeof *all);
		t->candidates += n;
	}
	t->full |= hottest.full;
	free(all);
	hf_hottest_free(&hottest);
	return all || err ? err : HF_ERR_NOMEM;
}

static void choose_functions(struct hf_tracks *t)
{
	size_t n = 0;

	qsort(t->candidate, t->candidates, sizeof *t->candidate, by_name);
	for (size_t i = 0; i < t->candidates; i++) {
		if (n && !compare_names(&t->candidate[n - 1], &t->candidate[i]))
			t->candidate[n - 1].insns += t->candidate[i].insns;
		else
			t->candidate[n++] = t->candidate[i];
	}
	t->candidates = n;
	qsort(t->candidate, n, sizeof *t->candidate, by_executions);
	t->names = n < NAMED ? (unsigned)n : NAMED;
	memcpy(t->named, t->candidate, t->names * sizeof *t->named);
}

/* Of one hart. */
struct kinds {
	const struct hf_tracks *t;
	const struct hf_symbols *symbols;
};

static uint8_t kind_of(const void *ctx, const struct hf_hottest_function *function)
{
	const struct kinds *kinds = ctx;
	const struct hf_tracks *t = kinds->t;
	const struct candidate of = candidate_of(kinds->symbols, function);

	for (unsigned i = 0; i < t->names; i++)
		if (!compare_names(&t->named[i], &of))
			return (uint8_t)(1 + i);
	return OTHERS;
}

static void say_function(struct hf_svg *svg, const struct candidate *of, size_t room)
{
	const char *name = of->symbol ? of->symbol->name : of->object ? of->object->name : NULL;
	size_t size = of->symbol ? of->symbol->name_size : name ? strlen(name) : 0;
	const size_t skip = of->symbol && room != SIZE_MAX ? hf_frame_result(name, size) : 0;

	if (!name) {
		hf_svg_say(svg, "at %" PRIx64, of->start);
		return;
	}
	size -= skip;
	hf_svg_say_name(svg, name + skip, size < room ? size : room);
	if (size > room)
		hf_svg_say(svg, "…");
}

/* ---- a track ---- */

static uint32_t y_of(uint32_t track)
{
	return TRACKS_AT + track * PITCH;
}

/* Up to two lines below its name: who it is, and how many instructions. */
static void put_label(struct hf_overview *o, const struct hf_tracks *t, const struct track *track, bool link)
{
	const struct hf_track_thread *thread = &track->thread;
	const struct hf_processes *processes = t->open->trace.setup ? t->open->trace.setup->processes : NULL;
	const char *name = hf_processes_name(processes, thread->pid, thread->tid);
	const bool known = thread->told && !thread->changes && thread->tid;
	char count[HF_HUMAN_SIZE];

	if (link)
		hf_svg_open(&o->svg, "a", "href=\"../hart%" PRIu32 "/profile/overview.svg\"", track->hart);
	hf_overview_open_label(o, "", o->y);
	hf_svg_say(&o->svg, "hart%" PRIu32, track->hart);
	hf_overview_close_label(o);
	if (link)
		hf_svg_close(&o->svg);
	hf_overview_open_label(o, "ov-note", o->y + HF_OVERVIEW_LABEL);
	if (known && name)
		hf_svg_say_name(&o->svg, name, strlen(name));
	else if (known)
		hf_svg_say(&o->svg, "tid %" PRIu32, thread->tid);
	hf_overview_close_label(o);
	hf_overview_open_label(o, "ov-note", o->y + (known ? 2 : 1) * HF_OVERVIEW_LABEL);
	if (track->insns >= UINT64_C(1000000000))
		hf_svg_say(&o->svg, "%s M", hf_human_count(count, track->insns / 1000000));
	else
		hf_svg_say(&o->svg, "%s", hf_human_count(count, track->insns));
	hf_overview_close_label(o);
}

/* The share of each kind in a column, and below it what is known of it. */
static int put_points(struct hf_overview *o, const struct track *track)
{
	const struct hf_timeline *t = o->t;
	uint8_t *point = calloc(LINE_AT + LINE, t->columns);
	const struct hf_points points = {
		.width = t->columns, .height = LINE_AT + LINE, .point = point, .palette = colours, .colours = COLOURS};
	int err = point ? 0 : HF_ERR_NOMEM;

	for (uint32_t c = 0; !err && c < t->columns; c++) {
		const bool lost = track->axis.known[c] == HF_TRACK_BACK || t->mark[HF_TIMELINE_JUMPS][c] > 0 ||
				  t->mark[HF_TIMELINE_GAPS][c] > 0 || t->mark[HF_TIMELINE_DOUBTS][c] > 0;
		const bool thick = lost || track->axis.known[c] == HF_TRACK_TIMED;
		float share[HF_TIMELINE_KINDS];

		for (unsigned k = 0; k < HF_TIMELINE_KINDS; k++)
			share[k] = t->kind[k][c];
		hf_overview_fill_column(point + c, t->columns, BAND, share, HF_TIMELINE_KINDS);
		for (uint32_t y = thick ? 0 : LINE - 2; track->axis.known[c] | lost && y < LINE; y++)
			point[(size_t)(LINE_AT + y) * t->columns + c] = lost ? LOST : TIMED;
	}
	if (!err)
		err = hf_svg_put_points(&o->svg, &points, t->columns < 800 ? "ov-coarse" : "");
	free(point);
	return err;
}

static int put_plot(struct hf_overview *o, const struct track *track)
{
	char at[32];
	int err;

	hf_overview_open_plot(o, LINE_AT + LINE, o->t->columns, LINE_AT + LINE);
	err = put_points(o, track);
	hf_svg_close(&o->svg);
	snprintf(at, sizeof at, "../hart%" PRIu32 "/at/", track->hart);
	o->at = at;
	o->y += LINE_AT + LINE;
	hf_overview_put_links(o, o->y - LINE_AT - LINE);
	return err;
}

/* The instructions between the first time of a hart and its last. */
static int put_timeline(struct hf_overview *o, const struct hf_tracks *t, const struct track *track, bool exact)
{
	const struct hf_track_axis *axis = &track->axis;
	const struct kinds kinds = {.t = t, .symbols = o->of->symbols};
	const struct hf_timeline_plan plan = {
		.column = &axis->column, .part = &axis->part, .kind = kind_of, .ctx = &kinds};
	struct hf_profile_source source = *o->of->source;
	struct hf_profiled of = *o->of;
	int err;

	source.first = axis->first;
	source.end = axis->end;
	source.by_chunks = !exact;
	of.source = &source;
	err = hf_timeline_make(&of, &plan, &o->t);
	if (!err)
		err = put_plot(o, track);
	hf_timeline_free(o->t);
	return err;
}

static void put_words(struct hf_overview *o, const char *words)
{
	hf_overview_open_plot(o, LINE_AT + LINE, 1, 1);
	hf_svg_close(&o->svg);
	hf_overview_open_line(o, o->y + 6);
	hf_overview_open_text(o, "ov-note", 4);
	hf_svg_say(&o->svg, "%s", words);
	hf_svg_close(&o->svg);
	hf_svg_close(&o->svg);
}

static struct hf_overview begin(const struct hf_tracks *t, const struct hf_profiled *of, struct hf_sink *sink,
				uint32_t y)
{
	struct hf_overview o = {.of = of, .svg = {.sink = sink}, .y = y, .common = true};

	for (uint32_t i = 0; i <= HF_HOTTEST_PARTS; i++) {
		o.timed[i] = true;
		o.time[i] = i < HF_HOTTEST_PARTS ? hf_track_begin(&t->span, i, HF_HOTTEST_PARTS)
						 : t->span.first + (t->span.length - 1);
	}
	return o;
}

static int draw(struct hf_tracks *t, struct track *track, const struct hf_profiled *of, struct hf_sink *sink)
{
	struct hf_overview o = begin(t, of, sink, y_of((uint32_t)(track - t->track)));
	const bool exact = track->decoded || !of->source->summary;
	int err;

	if (exact) {
		hf_track_axis_init(&track->axis, &t->span, track->axis.part.pieces);
		err = hf_track_decode(of, &track->axis, &track->thread);
	} else {
		err = hf_track_thread(of, &track->thread);
	}
	if (err)
		return err;
	hf_track_axis_end(&track->axis, track->insns);
	put_label(&o, t, track, true);
	if (track->axis.first < track->axis.end)
		err = put_timeline(&o, t, track, exact);
	else
		put_words(&o, "it has no times: when it ran is not known");
	t->undrawn += track->insns - (track->axis.end - track->axis.first);
	t->rough += !exact;
	return err;
}

int hf_tracks_take(struct hf_tracks *tracks, const struct hf_profiled *of, struct hf_sink *sink)
{
	return tracks->drawing ? draw(tracks, &tracks->track[tracks->next - 1], of, sink) : count_functions(tracks, of);
}

int hf_tracks_take_none(struct hf_tracks *tracks, int err, struct hf_sink *sink)
{
	const struct track *track = &tracks->track[tracks->next - 1];
	struct hf_overview o = begin(tracks, NULL, sink, y_of(tracks->next - 1));

	if (!tracks->drawing)
		return 0;
	put_label(&o, tracks, track,
		  track->insns && err != HF_ERR_COUNTS_LIMIT && (tracks->summed || track->insns <= HF_PROFILE_DECODED));
	put_words(&o, !track->insns ? "no instructions"
		      : err == HF_ERR_COUNTS_LIMIT
			      ? "not drawn: it executed too many different instructions"
			      : "not drawn: it is long, and has no summary: hartfs index makes it");
	return sink->err;
}

bool hf_tracks_next(struct hf_tracks *tracks, uint32_t *ret_hart, uint64_t *ret_insns)
{
	if (tracks->next == tracks->count) {
		if (tracks->drawing)
			return false;
		choose_functions(tracks);
		tracks->drawing = true;
		tracks->next = 0;
	}
	*ret_hart = tracks->track[tracks->next].hart;
	*ret_insns = tracks->track[tracks->next].decoded || tracks->summed ? tracks->track[tracks->next].insns : 0;
	tracks->next++;
	return true;
}

/* ---- around the tracks ---- */

/* One of the legend, as the i-th. function: NULL: none of those with names. */
static void put_kind(struct hf_overview *o, unsigned i, unsigned kind, const struct candidate *function)
{
	const uint32_t x = 128 * (i % IN_A_ROW);

	hf_overview_open_line(o, LEGEND_AT + i / IN_A_ROW * HF_OVERVIEW_HEAD);
	if (function) {
		hf_svg_open_plain(&o->svg, "title");
		say_function(&o->svg, function, SIZE_MAX);
		hf_svg_say(&o->svg, "%s", function->symbol ? "" : ": what has no symbol");
		hf_svg_close(&o->svg);
	}
	hf_overview_put_swatch(o, x, colours[1 + kind], "");
	hf_overview_open_text(o, "", x + 14);
	if (function)
		say_function(&o->svg, function, LETTERS);
	else
		hf_svg_say(&o->svg, "others");
	hf_svg_close(&o->svg);
	hf_svg_close(&o->svg);
}

static void put_legend(struct hf_overview *o, const struct hf_tracks *t)
{
	for (unsigned i = 0; i < t->names; i++)
		put_kind(o, i, 1 + i, &t->named[i]);
	put_kind(o, t->names, OTHERS, NULL);
}

__attribute__((format(printf, 4, 5))) static void put_line(struct hf_overview *o, const char *class, uint32_t y,
							   const char *format, ...)
{
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	hf_svg_open(&o->svg, "text", "class=\"%s\" x=\"4\" y=\"%" PRIu32 "\"", class, y);
	hf_svg_say(&o->svg, "%s", text);
	hf_svg_close(&o->svg);
}

static void put_head(struct hf_overview *o, const struct hf_tracks *t, bool recorded)
{
	const uint32_t columns = t->track[0].axis.column.pieces;
	char a[HF_HUMAN_SIZE], b[HF_HUMAN_SIZE];

	hf_picture_put_name(o->of, &o->svg, "ov-title", 4);
	put_line(o, "", 34, "%s harts: %s instructions", hf_human_count(a, t->harts), hf_human_count(b, t->insns));
	put_line(o, "ov-note", 48, "A column is %s tick%s. %s", hf_human_count(a, t->span.length / columns),
		 t->span.length / columns == 1 ? "" : "s",
		 recorded ? "A tick is an instruction of any thread." : "Ticks are those of # time in the listing.");
	put_line(o, "ov-note", 48 + HEAD, "Between two times of a hart its instructions are spread evenly.");
	put_line(o, "ov-note", 48 + 2 * HEAD,
		 "Line below: thick at a hart's times, thin between two if several ran, orange: lost.");
	put_line(o, "ov-note", 48 + 3 * HEAD,
		 "Below a name: its thread, and how many instructions. Names and tracks are links.");
}

/* What is not in it, a line each. Without o: how many lines. */
static uint32_t put_foot(struct hf_overview *o, const struct hf_tracks *t)
{
	char a[HF_HUMAN_SIZE], b[HF_HUMAN_SIZE];
	uint32_t lines = 0;

	if (t->undrawn && ++lines && o)
		put_line(o, "ov-note", o->y + lines * HEAD,
			 "%s instructions are not drawn: no time of the hart is before them, or none after.",
			 hf_human_count(a, t->undrawn));
	if (t->rough && ++lines && o)
		put_line(o, "ov-note", o->y + lines * HEAD,
			 "%" PRIu32 " track%s, of long harts: positions are accurate to 16,384 instructions.", t->rough,
			 t->rough == 1 ? "" : "s");
	if (t->full && ++lines && o)
		put_line(o, "ov-note", o->y + lines * HEAD,
			 "A hart has too many functions to tell them apart: they are others.");
	if (t->harts > t->count && ++lines && o)
		put_line(o, "ov-note", o->y + lines * HEAD,
			 "%s more harts, with fewer instructions, have no track: %s instructions.",
			 hf_human_count(a, t->harts - t->count), hf_human_count(b, t->others));
	return lines;
}

/* hartfs record says what was recorded, and has that clock. */
static int look_whether_recorded(const struct hf_tracks *t, bool *ret_recorded)
{
	struct hf_source_text text;
	int err = hf_source_text_read(t->open, "recording.txt", &text);

	if (err)
		return err;
	*ret_recorded = text.bytes != NULL;
	hf_source_text_free(&text);
	return 0;
}

int hf_tracks_put(struct hf_tracks *t, const struct hf_sink *taken, struct hf_sink *sink)
{
	const struct hf_profile_source source = {.open = t->open};
	const struct hf_profiled of = {.hart = HF_HART_RECORDS, .source = &source};
	struct hf_overview o = begin(t, &of, sink, y_of(t->count));
	const bool long_numbers = o.time[HF_HOTTEST_PARTS] > UINT64_C(1000000000000);
	bool recorded;
	int err = look_whether_recorded(t, &recorded);

	if (err)
		return err;
	hf_overview_open(&o, o.y + HF_OVERVIEW_AXIS + put_foot(NULL, t) * HEAD + 14);
	hf_picture_put_window(&of, &o.svg);
	hf_svg_open_plain(&o.svg, "desc");
	hf_svg_say(&o.svg, "Which functions the harts ran, against the time that they have in common: a track for "
			   "each, one below the "
			   "other. Where a track is empty, and no line is below it, the hart did nothing that the "
			   "trace tells of.");
	hf_svg_close(&o.svg);
	put_head(&o, t, recorded);
	put_legend(&o, t);
	hf_sink_write(sink, taken->start, (size_t)hf_sink_total(taken));
	hf_overview_open_label(&o, "ov-note", o.y + 5 + HF_OVERVIEW_LABEL);
	hf_svg_say(&o.svg, "in ticks");
	hf_overview_close_label(&o);
	hf_overview_put_scale(&o, "time", true, long_numbers ? 2 : 1);
	o.y += 6;
	put_foot(&o, t);
	hf_svg_close(&o.svg);
	return sink->err;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * overview.svg: what a hart did against time, from left to right: privilege, traps and losses, depth of calls, code and
 * data. Clicking a 32nd of it leads to that slice.
 */
#include "fs/profile/overview.h"
#include "fs/base/human.h"
#include "fs/profile/course.h"
#include "fs/profile/embedded.h"
#include "fs/profile/escape.h"
#include "fs/profile/overview_map.h"
#include "fs/profile/svg.h"
#include "fs/profile/timeline.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
	/* Pixels from top to bottom. */
	MODES_AT = 64,
	MODES = 20,
	LANE = 12,
	DEPTH = 44,
	HEAD = 17,
	SPACE = 5,
	AXIS = 24,
	/* Between labels. */
	LABEL = 12,
	TICKS = 4,
	MODES_NAMED = 5,
};

/* Where the plots begin, and their width: hundredths of a percent. */
enum { PLOT_X = 1800, PLOT_W = 8100 };

/* A slice of so many instructions is looked at as text. */
#define LISTED UINT64_C(100000)

struct overview {
	const struct hf_profiled *of;
	struct hf_timeline *t;
	struct hf_map_drawing code, data;
	struct hf_svg svg;
	uint32_t y; /* what was drawn ends here */
};

/* ---- places ---- */

/* A plot of that height, whose units are columns and, from top to bottom, height units. It is to be closed. */
static void open_plot(struct overview *o, uint32_t height, uint32_t width_units, uint32_t height_units)
{
	hf_svg_open(&o->svg, "svg",
		    "x=\"%d%%\" y=\"%" PRIu32 "\" width=\"%d%%\" height=\"%" PRIu32
		    "\" viewBox=\"0 0 %" PRIu32 " %" PRIu32 "\" preserveAspectRatio=\"none\"",
		    PLOT_X / 100, o->y, PLOT_W / 100, height, width_units, height_units);
	hf_svg_put(&o->svg, "rect", "class=\"ov-frame\" width=\"100%%\" height=\"100%%\"");
}

/* Text to the left of the plots, cut where these begin. */
static void open_label(struct overview *o, const char *class, uint32_t y, uint32_t height)
{
	hf_svg_open(&o->svg, "svg", "y=\"%" PRIu32 "\" width=\"%d%%\" height=\"%" PRIu32 "\"", y, PLOT_X / 100 - 1, height);
	hf_svg_open(&o->svg, "text", "class=\"%s\" x=\"4\" y=\"%d\"", class, height < LABEL ? 9 : 10);
}

static void close_label(struct overview *o)
{
	hf_svg_close(&o->svg);
	hf_svg_close(&o->svg);
}

/* A line above a plot, which begins where that does; its units are pixels. */
static void open_line(struct overview *o, uint32_t y)
{
	hf_svg_open(&o->svg, "svg", "x=\"%d%%\" y=\"%" PRIu32 "\" width=\"%d%%\" height=\"%d\"", PLOT_X / 100, y,
		    PLOT_W / 100, HEAD);
}

static void put_swatch(struct overview *o, uint32_t x, uint32_t colour, const char *class)
{
	hf_svg_put(&o->svg, "rect", "class=\"%s\" x=\"%" PRIu32 "\" y=\"3\" width=\"10\" height=\"10\" fill=\"#%06" PRIx32 "\"",
		   class, x, colour);
}

static void open_text(struct overview *o, const char *class, uint32_t x)
{
	hf_svg_open(&o->svg, "text", "class=\"%s\" x=\"%" PRIu32 "\" y=\"12\"", class, x);
}

/* ---- privilege ---- */

/* From the least to the most privileged, from light to dark. */
enum rank { RANK_UNKNOWN, RANK_USER, RANK_SYSTEM, RANK_HYPERVISOR, RANK_MACHINE, RANK_DEBUG, RANKS };

static const uint32_t rank_colours[RANKS + 1] = {0, 0x999999, 0x9fd4f3, 0xe69f00, 0x009e73, 0x0072b2, 0xcc79a7};

static enum rank rank_of(unsigned mode)
{
	static const uint8_t ranks[HF_MODE_COUNT] = {
		[HF_MODE_U] = RANK_USER,	   [HF_MODE_VU] = RANK_USER,	   [HF_MODE_EL0t] = RANK_USER,
		[HF_MODE_EL0] = RANK_USER,	   [HF_MODE_USR] = RANK_USER,	   [HF_MODE_THREAD] = RANK_USER,
		[HF_MODE_S] = RANK_SYSTEM,	   [HF_MODE_VS] = RANK_SYSTEM,	   [HF_MODE_EL1t] = RANK_SYSTEM,
		[HF_MODE_EL1h] = RANK_SYSTEM,	   [HF_MODE_EL1] = RANK_SYSTEM,	   [HF_MODE_FIQ] = RANK_SYSTEM,
		[HF_MODE_IRQ] = RANK_SYSTEM,	   [HF_MODE_SVC] = RANK_SYSTEM,	   [HF_MODE_ABT] = RANK_SYSTEM,
		[HF_MODE_UND] = RANK_SYSTEM,	   [HF_MODE_SYS] = RANK_SYSTEM,	   [HF_MODE_HANDLER] = RANK_SYSTEM,
		[HF_MODE_H] = RANK_HYPERVISOR,	   [HF_MODE_EL2t] = RANK_HYPERVISOR, [HF_MODE_EL2h] = RANK_HYPERVISOR,
		[HF_MODE_EL2] = RANK_HYPERVISOR,   [HF_MODE_HYP] = RANK_HYPERVISOR, [HF_MODE_M] = RANK_MACHINE,
		[HF_MODE_EL3t] = RANK_MACHINE,	   [HF_MODE_EL3h] = RANK_MACHINE,  [HF_MODE_EL3] = RANK_MACHINE,
		[HF_MODE_MON] = RANK_MACHINE,	   [HF_MODE_D] = RANK_DEBUG,
	};

	return (enum rank)ranks[mode];
}

/* One column: each rank has its share of the points, and at least one. */
static void fill_column(const struct hf_timeline *t, uint32_t column, uint8_t *point)
{
	float ranks[RANKS] = {0}, all = 0;
	uint32_t height[RANKS], sum = 0;
	unsigned largest = 0, y = 0;

	for (unsigned m = 0; m < HF_MODE_COUNT; m++) {
		ranks[rank_of(m)] += t->mode[m][column];
		all += t->mode[m][column];
	}
	if (all <= 0)
		return;
	for (unsigned r = 0; r < RANKS; r++) {
		height[r] = (uint32_t)(ranks[r] / all * MODES);
		height[r] += ranks[r] > 0 && !height[r];
		sum += height[r];
		largest = ranks[r] > ranks[largest] ? r : largest;
	}
	height[largest] = height[largest] + MODES - sum;
	/* The most privileged on top. */
	for (unsigned r = RANKS; r-- > 0;)
		for (uint32_t n = height[r]; n && y < MODES; n--, y++)
			point[(size_t)y * t->columns + column] = (uint8_t)(1 + r);
}

static int put_modes(struct overview *o)
{
	uint8_t *point = calloc(MODES, o->t->columns);
	const struct hf_points points = {.width = o->t->columns,
					 .height = MODES,
					 .point = point,
					 .palette = rank_colours,
					 .colours = RANKS + 1};
	int err = point ? 0 : HF_ERR_NOMEM;

	for (uint32_t c = 0; !err && c < o->t->columns; c++)
		fill_column(o->t, c, point);
	open_label(o, "", o->y + 4, MODES);
	hf_svg_say(&o->svg, "privilege");
	close_label(o);
	open_plot(o, MODES, o->t->columns, MODES);
	if (!err)
		err = hf_svg_put_points(&o->svg, &points, o->t->columns < 800 ? "ov-coarse" : "");
	hf_svg_close(&o->svg);
	o->y += MODES + SPACE;
	free(point);
	return err;
}

/* Modes by what was executed in them. */
struct mode {
	unsigned mode;
	double insns;
};

static int by_insns(const void *a, const void *b)
{
	const struct mode *x = a, *y = b;

	if (x->insns != y->insns)
		return x->insns > y->insns ? -1 : 1;
	return (int)x->mode - (int)y->mode;
}

static unsigned sum_modes(const struct hf_timeline *t, struct mode mode[HF_MODE_COUNT])
{
	unsigned n = 0;

	for (unsigned m = 0; m < HF_MODE_COUNT; m++) {
		double insns = 0;

		for (uint32_t c = 0; c < t->columns; c++)
			insns += (double)t->mode[m][c];
		if (insns > 0)
			mode[n++] = (struct mode){m, insns};
	}
	qsort(mode, n, sizeof *mode, by_insns);
	return n;
}

static double percent(const struct overview *o, double insns)
{
	return o->t->insns ? 100 * insns / (double)o->t->insns : 0;
}

/* A mode and its share. */
static void say_mode(struct overview *o, const struct mode *mode)
{
	const double share = percent(o, mode->insns);

	hf_svg_say(&o->svg, "%s %s%.1f%%", hf_mode_name(mode->mode), share < 0.1 ? "<" : "", share < 0.1 ? 0.1 : share);
}

static void put_legend(struct overview *o)
{
	struct mode mode[HF_MODE_COUNT];
	const unsigned n = sum_modes(o->t, mode);
	double others = 0;

	open_line(o, MODES_AT - HEAD - 2);
	for (unsigned i = 0; i < n; i++) {
		if (i >= MODES_NAMED) {
			others += mode[i].insns;
			continue;
		}
		put_swatch(o, i * 92, rank_colours[1 + rank_of(mode[i].mode)], "");
		open_text(o, "", i * 92 + 14);
		say_mode(o, &mode[i]);
		hf_svg_close(&o->svg);
	}
	if (others > 0) {
		open_text(o, "ov-note", MODES_NAMED * 92);
		hf_svg_say(&o->svg, "others %.1f%%", percent(o, others));
		hf_svg_close(&o->svg);
	}
	hf_svg_close(&o->svg);
}

/* ---- traps and losses ---- */

static const struct {
	const char *one, *many;
	bool loss;
} marks[HF_TIMELINE_MARKS] = {
	[HF_TIMELINE_EXCEPTIONS] = {"exception", "exceptions", false},
	[HF_TIMELINE_INTERRUPTS] = {"interrupt", "interrupts", false},
	[HF_TIMELINE_CONTEXTS] = {"context", "contexts", false},
	[HF_TIMELINE_JUMPS] = {"flow break", "flow breaks", true},
	[HF_TIMELINE_GAPS] = {"gap", "gaps", true},
	[HF_TIMELINE_DOUBTS] = {"doubt", "doubts", true},
};

static void say_marks(struct overview *o, unsigned mark)
{
	const uint64_t n = o->t->marks[mark];
	char text[HF_HUMAN_SIZE];

	hf_svg_say(&o->svg, "%s %s", hf_human_count(text, n), n == 1 ? marks[mark].one : marks[mark].many);
}

/* Taller for each time that there are four times as many in a column. */
static unsigned height_of_mark(float n)
{
	unsigned height = 5;

	for (; n > 1 && height < LANE; n /= 4)
		height += 2;
	return height;
}

static void put_lane(struct overview *o, unsigned mark)
{
	open_label(o, "", o->y, LANE);
	say_marks(o, mark);
	close_label(o);
	open_plot(o, LANE, 2 * o->t->columns, LANE);
	hf_svg_begin_path(&o->svg, marks[mark].loss ? "ov-marks ov-loss" : "ov-marks");
	for (uint32_t c = 0; c < o->t->columns; c++)
		if (o->t->mark[mark][c] > 0)
			hf_sink_printf(o->svg.sink, "M%" PRIu32 " %dv-%u", 2 * c + 1, LANE,
				       height_of_mark(o->t->mark[mark][c]));
	hf_svg_end_path(&o->svg);
	hf_svg_close(&o->svg);
	o->y += LANE + SPACE - 2;
}

static unsigned lanes(const struct hf_timeline *t)
{
	unsigned n = 0;

	for (unsigned mark = 0; mark < HF_TIMELINE_MARKS; mark++)
		n += t->marks[mark] != 0;
	return n;
}

static void put_lanes(struct overview *o)
{
	for (unsigned mark = 0; mark < HF_TIMELINE_MARKS; mark++)
		if (o->t->marks[mark])
			put_lane(o, mark);
}

/* ---- depth of calls ---- */

static void put_depth(struct overview *o)
{
	const struct hf_timeline *t = o->t;
	const uint32_t units = 10 * DEPTH, deepest = t->deepest ? t->deepest : 1;

	open_label(o, "", o->y + DEPTH / 2 - 12, LABEL + 2);
	hf_svg_say(&o->svg, "call depth");
	close_label(o);
	open_label(o, "ov-note", o->y + DEPTH / 2 + 1, LABEL + 2);
	hf_svg_say(&o->svg, "0 to %" PRIu32 "%s", t->deepest, t->exact ? "" : " at chunks");
	close_label(o);
	open_plot(o, DEPTH, t->columns, units);
	hf_svg_begin_path(&o->svg, "ov-depth");
	hf_sink_printf(o->svg.sink, "M0 %" PRIu32, units);
	for (uint32_t c = 0; c < t->columns; c++)
		if (!c || t->depth[c] != t->depth[c - 1])
			hf_sink_printf(o->svg.sink, "H%" PRIu32 "V%" PRIu32, c,
				       (uint32_t)(units - (uint64_t)units * t->depth[c] / deepest));
	hf_sink_printf(o->svg.sink, "H%" PRIu32 "V%" PRIu32 "z", t->columns, units);
	hf_svg_end_path(&o->svg);
	hf_svg_close(&o->svg);
	o->y += DEPTH + SPACE;
}

/* ---- code and data ---- */

static void say_blocks(struct overview *o, const struct hf_block_map *map)
{
	static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	char count[HF_HUMAN_SIZE];

	hf_svg_say(&o->svg, "%s block%s of %u %s", hf_human_count(count, map->count), map->count == 1 ? "" : "s",
		   1u << map->shift % 10, units[map->shift / 10]);
}

#define NO_LABEL UINT32_MAX

/* What a group of blocks is called: where it begins, and what executes most in it. */
static void put_group(struct overview *o, const struct hf_map_drawing *d, const struct hf_map_group *group, uint32_t label)
{
	const uint64_t first = d->map->row[group->first].block << d->map->shift,
		       last = (d->map->row[group->end - 1].block << d->map->shift) + ((UINT64_C(1) << d->map->shift) - 1);
	const struct hf_busy_function *most = d->map->sums ? hf_busy_most(&o->t->busy, first, last, HF_BUSY_PARTS) : NULL;
	const uint32_t bottom = label != NO_LABEL && group->bottom < label + LABEL ? label + LABEL : group->bottom;

	hf_svg_open(&o->svg, "svg", "y=\"%" PRIu32 "\" width=\"%d%%\" height=\"%" PRIu32 "\"", o->y + group->top,
		    PLOT_X / 100 - 1, bottom - group->top);
	hf_svg_open_plain(&o->svg, "title");
	hf_svg_say(&o->svg, "%" PRIx64 " to %" PRIx64, first, last);
	if (most && most->symbol) {
		hf_svg_say(&o->svg, ", most of it in ");
		hf_svg_say_name(&o->svg, most->symbol->name, most->symbol->name_size);
	}
	hf_svg_close(&o->svg);
	hf_svg_put(&o->svg, "rect", "width=\"100%%\" height=\"100%%\" fill-opacity=\"0\"");
	if (label != NO_LABEL) {
		hf_svg_open(&o->svg, "text", "class=\"ov-place\" x=\"4\" y=\"%" PRIu32 "\"", label - group->top + 9);
		hf_svg_say(&o->svg, "%" PRIx64 "%s", first, most && most->symbol ? " " : "");
		if (most && most->symbol)
			hf_svg_say_name(&o->svg, most->symbol->name, most->symbol->name_size);
		hf_svg_close(&o->svg);
	}
	hf_svg_close(&o->svg);
}

/* Each has a name that is shown when somebody points at it; as many as have room have a label. */
static void put_groups(struct overview *o, const struct hf_map_drawing *d)
{
	uint32_t free_from = 0;

	for (uint32_t i = 0; i < d->groups; i++) {
		const struct hf_map_group *group = &d->group[i];
		uint32_t label = group->top > free_from ? group->top : free_from;

		if (label != group->top && label + LABEL > group->bottom)
			label = NO_LABEL;
		else
			free_from = label + LABEL;
		put_group(o, d, group, label);
	}
}

static int put_map(struct overview *o, const struct hf_map_drawing *d)
{
	int err;

	put_groups(o, d);
	open_plot(o, d->height, d->map->columns, d->height);
	err = hf_map_put(d, &o->svg);
	hf_svg_begin_path(&o->svg, "ov-break");
	for (uint32_t i = 1; i < d->groups; i++)
		hf_sink_printf(o->svg.sink, "M0 %" PRIu32 "H%" PRIu32, d->group[i].top - d->gap / 2, d->map->columns);
	hf_svg_end_path(&o->svg);
	hf_svg_close(&o->svg);
	o->y += d->height + SPACE;
	return err;
}

static int put_code(struct overview *o)
{
	const uint32_t scale = 230;

	open_label(o, "", o->y + 2, HEAD);
	hf_svg_say(&o->svg, "code");
	close_label(o);
	open_line(o, o->y);
	open_text(o, "ov-note", 0);
	say_blocks(o, o->code.map);
	hf_svg_close(&o->svg);
	open_text(o, "ov-note", scale);
	hf_svg_say(&o->svg, "few");
	hf_svg_close(&o->svg);
	for (uint32_t i = 1; i <= HF_MAP_STEPS; i++)
		put_swatch(o, scale + 16 + 10 * i, hf_map_scale[i], "ov-heat");
	open_text(o, "ov-note", scale + 32 + 10 * HF_MAP_STEPS);
	hf_svg_say(&o->svg, "many");
	hf_svg_close(&o->svg);
	hf_svg_close(&o->svg);
	o->y += HEAD;
	return put_map(o, &o->code);
}

static int put_data(struct overview *o)
{
	static const char *const names[] = {"", "read", "written", "both"};

	open_label(o, "", o->y + 2, HEAD);
	hf_svg_say(&o->svg, "data");
	close_label(o);
	open_line(o, o->y);
	open_text(o, "ov-note", 0);
	if (o->data.map->count)
		say_blocks(o, o->data.map);
	else
		hf_svg_say(&o->svg, "the trace tells of no access to memory");
	hf_svg_close(&o->svg);
	for (uint32_t i = 1; i < 4 && o->data.map->count; i++) {
		put_swatch(o, 160 + 70 * i, hf_map_sets[i], "ov-heat");
		open_text(o, "ov-note", 160 + 70 * i + 14);
		hf_svg_say(&o->svg, "%s", names[i]);
		hf_svg_close(&o->svg);
	}
	hf_svg_close(&o->svg);
	o->y += HEAD;
	return o->data.map->count ? put_map(o, &o->data) : 0;
}

/* ---- time ---- */

static void say_ordinal(struct overview *o, uint64_t ordinal)
{
	char text[HF_HUMAN_SIZE];

	if (ordinal >= UINT64_C(100000000))
		hf_svg_say(&o->svg, "%s M", hf_human_count(text, ordinal / 1000000));
	else
		hf_svg_say(&o->svg, "%s", hf_human_count(text, ordinal));
}

static void put_axis(struct overview *o)
{
	static const char *const anchors[TICKS + 1] = {"start", "middle", "middle", "middle", "end"};

	open_label(o, "ov-note", o->y + 5, LABEL + 4);
	hf_svg_say(&o->svg, "instruction");
	close_label(o);
	open_plot(o, 4, HF_BUSY_PARTS, 4);
	hf_svg_begin_path(&o->svg, "ov-axis");
	hf_sink_printf(o->svg.sink, "M0 0H%u", HF_BUSY_PARTS);
	for (uint32_t i = 0; i <= HF_BUSY_PARTS; i++)
		hf_sink_printf(o->svg.sink, "M%" PRIu32 " 0v4", i);
	hf_svg_end_path(&o->svg);
	hf_svg_close(&o->svg);
	for (uint32_t i = 0; i <= TICKS; i++) {
		const uint64_t ordinal = hf_timeline_part(o->t, i * HF_BUSY_PARTS / TICKS);
		const uint32_t x = PLOT_X + PLOT_W * i / TICKS;

		hf_svg_open(&o->svg, "text", "x=\"%" PRIu32 ".%02" PRIu32 "%%\" y=\"%" PRIu32 "\" text-anchor=\"%s\"",
			    x / 100, x % 100, o->y + 15, anchors[i]);
		say_ordinal(o, i == TICKS && o->t->insns ? ordinal - 1 : ordinal);
		hf_svg_close(&o->svg);
	}
	o->y += AXIS;
}

/* ---- slices ---- */

static void say_part(struct overview *o, uint32_t part, uint64_t first, uint64_t end)
{
	const struct hf_busy_function *most = hf_busy_most(&o->t->busy, 0, UINT64_MAX, part);
	char text[HF_HUMAN_SIZE];

	hf_svg_open_plain(&o->svg, "title");
	hf_svg_say(&o->svg, "instructions %s to ", hf_human_count(text, first));
	hf_svg_say(&o->svg, "%s", hf_human_count(text, end - 1));
	if (most) {
		hf_svg_say(&o->svg, "; %.0f%% in ", 100 * (double)most->part[part] / (double)(end - first));
		if (most->symbol)
			hf_svg_say_name(&o->svg, most->symbol->name, most->symbol->name_size);
		else
			hf_svg_say(&o->svg, "code at %" PRIx64, most->start);
	}
	hf_svg_close(&o->svg);
}

/* Then it lies in hartN/at/FIRST-LAST/profile/, else in hartN/profile/. */
static bool is_slice(const struct overview *o)
{
	const struct hf_facts_hart *hart = hf_facts_hart(o->of->source->open->facts, o->of->hart);

	return hart && o->t->insns != hart->info.insns;
}

/* Over all plots: each part leads to its slice, if that is not all that there is. */
static void put_links(struct overview *o, uint32_t from)
{
	const uint32_t height = o->y - from;

	o->y = from;
	hf_svg_open(&o->svg, "svg",
		    "x=\"%d%%\" y=\"%" PRIu32 "\" width=\"%d%%\" height=\"%" PRIu32
		    "\" viewBox=\"0 0 %u 1\" preserveAspectRatio=\"none\"",
		    PLOT_X / 100, from, PLOT_W / 100, height, HF_BUSY_PARTS);
	for (uint32_t i = 0; i < HF_BUSY_PARTS; i++) {
		const uint64_t first = hf_timeline_part(o->t, i), end = hf_timeline_part(o->t, i + 1);

		if (first == end)
			continue;
		hf_svg_open(&o->svg, "a", "href=\"%s%" PRIu64 "-%" PRIu64 "/%s\"", is_slice(o) ? "../../" : "../at/", first, end - 1,
			    end - first <= LISTED ? "listing.txt" : "profile/overview.svg");
		hf_svg_open(&o->svg, "rect", "x=\"%" PRIu32 "\" width=\"1\" height=\"1\"", i);
		say_part(o, i, first, end);
		hf_svg_close(&o->svg);
		hf_svg_close(&o->svg);
	}
	hf_svg_close(&o->svg);
	o->y = from + height;
}

/* ---- around it ---- */

static void put_title(struct overview *o, bool links)
{
	char text[HF_HUMAN_SIZE];
	const uint64_t insns = o->t->insns;

	hf_svg_open(&o->svg, "text", "class=\"ov-title\" x=\"4\" y=\"17\"");
	if (o->of->source) {
		hf_svg_say_name(&o->svg, o->of->source->open->capture->path, strlen(o->of->source->open->capture->path));
		hf_svg_say(&o->svg, ", ");
	}
	hf_svg_say(&o->svg, "hart%" PRIu32 ": %s instruction%s", o->of->hart, hf_human_count(text, insns), insns == 1 ? "" : "s");
	if (is_slice(o))
		hf_svg_say(&o->svg, " from %s on", hf_human_count(text, o->t->first));
	hf_svg_close(&o->svg);
	hf_svg_open(&o->svg, "text", "class=\"ov-note\" x=\"4\" y=\"34\"");
	hf_svg_say(&o->svg, "A column is %s instruction%s. ", hf_human_count(text, insns / o->t->columns),
		   insns / o->t->columns == 1 ? "" : "s");
	if (!o->t->exact)
		hf_svg_say(&o->svg, "Events of a chunk are spread over it. ");
	if (links)
		hf_svg_say(&o->svg, "Click to see a part.");
	hf_svg_close(&o->svg);
}

static void put_description(struct overview *o)
{
	struct mode mode[HF_MODE_COUNT];
	const unsigned n = sum_modes(o->t, mode);
	char text[HF_HUMAN_SIZE];

	hf_svg_open_plain(&o->svg, "desc");
	hf_svg_say(&o->svg, "What the hart did, from its first instruction at the left to its last one at the right. Modes:");
	for (unsigned i = 0; i < n; i++) {
		hf_svg_say(&o->svg, " ");
		say_mode(o, &mode[i]);
	}
	hf_svg_say(&o->svg, ".");
	for (unsigned i = 0; i < HF_TIMELINE_MARKS; i++)
		if (o->t->marks[i]) {
			hf_svg_say(&o->svg, " ");
			say_marks(o, i);
			hf_svg_say(&o->svg, ".");
		}
	hf_svg_say(&o->svg, " Calls are up to %" PRIu32 " deep%s. Code executed in ", o->t->deepest,
		   o->t->exact ? "" : " where a chunk begins");
	say_blocks(o, o->code.map);
	hf_svg_say(&o->svg, ", at most %s instructions in one of them in one column", hf_human_count(text, (uint64_t)hf_map_most(o->code.map)));
	hf_svg_say(&o->svg, ". Data: ");
	say_blocks(o, o->data.map);
	hf_svg_say(&o->svg, ". Blocks are in the order of their addresses; where a dotted line is, some are left out, as nothing happened there.");
	hf_svg_close(&o->svg);
}

static uint32_t height_of(const struct overview *o)
{
	return MODES_AT + MODES + SPACE + lanes(o->t) * (LANE + SPACE - 2) + DEPTH + SPACE + HEAD + o->code.height + SPACE +
	       HEAD + (o->data.height ? o->data.height + SPACE : 0) + AXIS;
}

static int put_all(struct overview *o, bool links)
{
	int err;

	hf_svg_open(&o->svg, "svg",
		    "xmlns=\"http://www.w3.org/2000/svg\" class=\"ov\" width=\"100%%\" height=\"%" PRIu32
		    "\" role=\"group\" aria-label=\"overview of hart%" PRIu32 "\"",
		    height_of(o), o->of->hart);
	hf_svg_open_plain(&o->svg, "style");
	hf_sink_write(o->svg.sink, hf_embedded_overview_css.bytes, hf_embedded_overview_css.size);
	hf_svg_close(&o->svg);
	put_description(o);
	put_title(o, links);
	put_legend(o);
	o->y = MODES_AT;
	err = put_modes(o);
	put_lanes(o);
	put_depth(o);
	if (!err)
		err = put_code(o);
	if (!err)
		err = put_data(o);
	put_axis(o);
	if (links)
		put_links(o, MODES_AT);
	hf_svg_close(&o->svg);
	return err ? err : o->svg.sink->err;
}

static int put_overview(struct overview *o, bool links)
{
	int err = hf_timeline_make(o->of, &o->t);

	if (!err)
		err = hf_map_lay_out(&o->t->code, &o->code);
	if (!err)
		err = hf_map_lay_out(&o->t->data, &o->data);
	if (!err)
		err = put_all(o, links);
	hf_map_free(&o->code);
	hf_map_free(&o->data);
	hf_timeline_free(o->t);
	return err;
}

int hf_overview_put(const struct hf_profiled *of, bool links, struct hf_sink *sink)
{
	struct hf_summary_tree *tree;
	struct hf_profiled whole;
	struct overview o = {.of = &whole, .svg = {.sink = sink}};
	int err = hf_profile_for_course(of, &whole, &tree);

	if (!err)
		err = put_overview(&o, links);
	hf_summary_tree_free(tree);
	return err;
}

int hf_profile_overview(const struct hf_profiled *of, struct hf_sink *sink)
{
	return hf_overview_put(of, true, sink);
}

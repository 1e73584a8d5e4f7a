/* SPDX-License-Identifier: Apache-2.0 */
/*
 * overview.svg: what a hart did against time, from left to right: privilege, traps and losses, depth of calls, code and
 * data. Clicking a 32nd of it leads to that slice.
 */
#include "fs/base/human.h"
#include "fs/profile/embedded.h"
#include "fs/profile/escape.h"
#include "fs/profile/overview_parts.h"
#include "fs/profile/pictures.h"
#include "fs/profile/timeline_source.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Pixels from top to bottom, of ordinals and of times; ticks of the axis. */
enum { AXIS = 24, TIME = 14, TICKS = 4 };

/* A slice of so many instructions is looked at as text. */
#define LISTED UINT64_C(100000)

/* ---- code and data ---- */

static void say_blocks(struct hf_overview *o, const struct hf_block_map *map)
{
	static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	char count[HF_HUMAN_SIZE];

	hf_svg_say(&o->svg, "%s block%s of %u %s", hf_human_count(count, map->count), map->count == 1 ? "" : "s",
		   1u << map->shift % 10, units[map->shift / 10]);
}

/* A group of blocks: its name in a line above it, and in full when somebody points at it. */
static void put_group(struct hf_overview *o, const struct hf_map_drawing *d, const struct hf_map_group *group)
{
	const uint64_t first = d->map->row[group->first].block << d->map->shift,
		       last = (d->map->row[group->end - 1].block << d->map->shift) +
			      ((UINT64_C(1) << d->map->shift) - 1);
	const uint32_t name = group->named ? HF_MAP_NAME : 0;
	const struct hf_hottest_function *most =
		d->map->sums ? hf_hottest_get(&o->t->hottest, first, last, HF_HOTTEST_PARTS) : NULL;

	hf_svg_open(&o->svg, "svg", "y=\"%" PRIu32 "\" width=\"100%%\" height=\"%" PRIu32 "\"", o->y + group->top - name,
		    group->bottom - group->top + name);
	hf_svg_open_plain(&o->svg, "title");
	hf_svg_say(&o->svg, "%" PRIx64 " to %" PRIx64, first, last);
	if (most && most->symbol) {
		hf_svg_say(&o->svg, ", most of it in ");
		hf_svg_say_name(&o->svg, most->symbol->name, most->symbol->name_size);
	}
	hf_svg_close(&o->svg);
	hf_svg_put(&o->svg, "rect", "width=\"%d%%\" height=\"100%%\" fill-opacity=\"0\"", HF_OVERVIEW_PLOT_X / 100);
	if (name) {
		hf_svg_open(&o->svg, "text", "class=\"ov-place\" x=\"2\" y=\"11\"");
		hf_overview_say_place(o, d, group, most ? most->symbol : NULL);
		hf_svg_close(&o->svg);
	}
	hf_svg_close(&o->svg);
}

static int put_map(struct hf_overview *o, const struct hf_map_drawing *d)
{
	int err;

	hf_overview_open_plot(o, d->height, d->map->columns, d->height);
	err = hf_map_put(d, &o->svg);
	hf_svg_begin_path(&o->svg, "ov-break");
	for (uint32_t i = 1; i < d->groups; i++)
		if (!d->group[i].named)
			hf_sink_printf(o->svg.sink, "M0 %" PRIu32 "H%" PRIu32, d->group[i].top - d->gap / 2,
				       d->map->columns);
	hf_svg_end_path(&o->svg);
	hf_svg_close(&o->svg);
	for (uint32_t i = 0; i < d->groups; i++)
		put_group(o, d, &d->group[i]);
	o->y += d->height + HF_OVERVIEW_SPACE;
	return err;
}

static int put_code(struct hf_overview *o)
{
	const uint32_t scale = 230;

	hf_overview_open_label(o, "", o->y + 2);
	hf_svg_say(&o->svg, "code");
	hf_overview_close_label(o);
	hf_overview_open_line(o, o->y);
	hf_overview_open_text(o, "ov-note", 0);
	say_blocks(o, o->code.map);
	hf_svg_close(&o->svg);
	hf_overview_open_text(o, "ov-note", scale);
	hf_svg_say(&o->svg, "few");
	hf_svg_close(&o->svg);
	for (uint32_t i = 1; i <= HF_MAP_STEPS; i++)
		hf_overview_put_swatch(o, scale + 16 + 10 * i, hf_map_scale[i], "ov-heat");
	hf_overview_open_text(o, "ov-note", scale + 32 + 10 * HF_MAP_STEPS);
	hf_svg_say(&o->svg, "many");
	hf_svg_close(&o->svg);
	hf_svg_close(&o->svg);
	o->y += HF_OVERVIEW_HEAD;
	return put_map(o, &o->code);
}

static int put_data(struct hf_overview *o)
{
	static const char *const names[] = {"", "read", "written", "both"};

	hf_overview_open_label(o, "", o->y + 2);
	hf_svg_say(&o->svg, "data");
	hf_overview_close_label(o);
	hf_overview_open_line(o, o->y);
	hf_overview_open_text(o, "ov-note", 0);
	if (o->data.map->count)
		say_blocks(o, o->data.map);
	else
		hf_svg_say(&o->svg, "the trace tells of no access to memory");
	hf_svg_close(&o->svg);
	for (uint32_t i = 1; i < 4 && o->data.map->count; i++) {
		hf_overview_put_swatch(o, 160 + 70 * i, hf_map_sets[i], "ov-heat");
		hf_overview_open_text(o, "ov-note", 160 + 70 * i + 14);
		hf_svg_say(&o->svg, "%s", names[i]);
		hf_svg_close(&o->svg);
	}
	hf_svg_close(&o->svg);
	o->y += HF_OVERVIEW_HEAD;
	return o->data.map->count ? put_map(o, &o->data) : 0;
}

/* ---- time ---- */

static void say_ordinal(struct hf_overview *o, uint64_t ordinal)
{
	char text[HF_HUMAN_SIZE];

	if (ordinal >= UINT64_C(100000000))
		hf_svg_say(&o->svg, "%s M", hf_human_count(text, ordinal / 1000000));
	else
		hf_svg_say(&o->svg, "%s", hf_human_count(text, ordinal));
}

/* From left to right, at each step-th tick. */
static void put_ticks(struct hf_overview *o, uint32_t step, bool time)
{
	static const char *const anchors[TICKS + 1] = {"start", "middle", "middle", "middle", "end"};
	const uint64_t *start = o->t->part.start;
	char text[HF_HUMAN_SIZE];

	for (uint32_t i = 0; i <= TICKS; i += step) {
		const uint32_t part = i * HF_HOTTEST_PARTS / TICKS, x = HF_OVERVIEW_PLOT_X + HF_OVERVIEW_PLOT_W * i / TICKS;

		if (time && !o->timed[part])
			continue;
		hf_svg_open(&o->svg, "text", "x=\"%" PRIu32 ".%02" PRIu32 "%%\" y=\"%" PRIu32 "\" text-anchor=\"%s\"",
			    x / 100, x % 100, o->y + 15, anchors[i]);
		if (time)
			hf_svg_say(&o->svg, "%s", hf_human_count(text, o->time[part]));
		else
			say_ordinal(o, i == TICKS && o->t->insns ? start[part] - 1 : start[part]);
		hf_svg_close(&o->svg);
	}
}

static bool has_time(const struct hf_overview *o)
{
	bool timed = false;

	for (uint32_t i = 0; i <= TICKS; i += 2)
		timed |= o->timed[i * HF_HOTTEST_PARTS / TICKS];
	return timed;
}

static void put_axis(struct hf_overview *o)
{
	hf_overview_open_label(o, "ov-note", o->y + 5);
	hf_svg_say(&o->svg, "ordinal");
	hf_overview_close_label(o);
	hf_overview_open_plot(o, 4, HF_HOTTEST_PARTS, 4);
	hf_svg_begin_path(&o->svg, "ov-axis");
	hf_sink_printf(o->svg.sink, "M0 0H%u", HF_HOTTEST_PARTS);
	for (uint32_t i = 0; i <= HF_HOTTEST_PARTS; i++)
		hf_sink_printf(o->svg.sink, "M%" PRIu32 " 0v4", i);
	hf_svg_end_path(&o->svg);
	hf_svg_close(&o->svg);
	put_ticks(o, 1, false);
	o->y += AXIS;
	if (!has_time(o))
		return;
	hf_overview_open_label(o, "ov-note", o->y - 3);
	hf_svg_say(&o->svg, "time");
	hf_overview_close_label(o);
	o->y -= 8;
	put_ticks(o, 2, true);
	o->y += TIME + 8;
}

/* ---- slices ---- */

static void say_part(struct hf_overview *o, uint32_t part, uint64_t first, uint64_t end)
{
	const struct hf_hottest_function *most = hf_hottest_get(&o->t->hottest, 0, UINT64_MAX, part);
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

/* Over all plots: each part leads to its slice, if that is not all that there is. */
static void put_links(struct hf_overview *o, uint32_t from)
{
	const uint32_t height = o->y - from;

	o->y = from;
	hf_svg_open(&o->svg, "svg",
		    "x=\"%d%%\" y=\"%" PRIu32 "\" width=\"%d%%\" height=\"%" PRIu32
		    "\" viewBox=\"0 0 %u 1\" preserveAspectRatio=\"none\"",
		    HF_OVERVIEW_PLOT_X / 100, from, HF_OVERVIEW_PLOT_W / 100, height, HF_HOTTEST_PARTS);
	for (uint32_t i = 0; i < HF_HOTTEST_PARTS; i++) {
		const uint64_t first = o->t->part.start[i], end = o->t->part.start[i + 1];

		if (first == end)
			continue;
		hf_svg_open(&o->svg, "a", "href=\"%s%" PRIu64 "-%" PRIu64 "/%s\"", o->of->source->slice ? "../../" : "../at/",
			    first, end - 1, end - first <= LISTED ? "listing.txt" : "profile/overview.svg");
		hf_svg_open(&o->svg, "rect", "x=\"%" PRIu32 "\" width=\"1\" height=\"1\"", i);
		say_part(o, i, first, end);
		hf_svg_close(&o->svg);
		hf_svg_close(&o->svg);
	}
	hf_svg_close(&o->svg);
	o->y = from + height;
}

/* ---- around it ---- */

static void open_note(struct hf_overview *o, const char *class, unsigned y)
{
	hf_svg_open(&o->svg, "text", "class=\"%s\" x=\"4\" y=\"%u\"", class, y);
}

static void put_title(struct hf_overview *o, bool links)
{
	char text[HF_HUMAN_SIZE];
	const uint64_t insns = o->t->insns;

	hf_picture_put_name(o->of, &o->svg, "ov-title", 4);
	open_note(o, "", 34);
	hf_svg_say(&o->svg, "hart%" PRIu32 ": %s instruction%s", o->of->hart, hf_human_count(text, insns),
		   insns == 1 ? "" : "s");
	if (!hf_profile_is_whole(o->of->source))
		hf_svg_say(&o->svg, " from %s on", hf_human_count(text, o->t->first));
	hf_svg_close(&o->svg);
	open_note(o, "ov-note", 48);
	hf_svg_say(&o->svg, "A column is %s instruction%s.", hf_human_count(text, insns / o->t->columns),
		   insns / o->t->columns == 1 ? "" : "s");
	if (!o->t->exact)
		hf_svg_say(&o->svg, " Positions are accurate to 16,384 instructions.");
	hf_svg_close(&o->svg);
	if (!links)
		return;
	open_note(o, "ov-note", 62);
	hf_svg_say(&o->svg, "Click to see a part.");
	hf_svg_close(&o->svg);
	hf_picture_put_up(o->of, &o->svg, "overview.svg", 180, 62);
}

static void put_description(struct hf_overview *o)
{
	char text[HF_HUMAN_SIZE];

	hf_svg_open_plain(&o->svg, "desc");
	hf_svg_say(&o->svg,
		   "What the hart did, from its first instruction at the left to its last one at the right. Modes:");
	hf_overview_say_modes(o);
	hf_svg_say(&o->svg, ".");
	for (unsigned i = 0; i < HF_TIMELINE_MARKS; i++)
		if (o->t->marks[i]) {
			hf_svg_say(&o->svg, " ");
			hf_overview_say_mark(o, i);
			hf_svg_say(&o->svg, ".");
		}
	hf_svg_say(&o->svg, " Calls are up to %" PRIu32 " deep%s. Code executed in ", o->t->deepest,
		   o->t->exact ? "" : " where a chunk begins");
	say_blocks(o, o->code.map);
	hf_svg_say(&o->svg, ", at most %s instructions in one of them in one column",
		   hf_human_count(text, (uint64_t)hf_map_most(o->code.map)));
	hf_svg_say(&o->svg, ". Data: ");
	say_blocks(o, o->data.map);
	hf_svg_say(&o->svg, ". Blocks are in the order of their addresses; where a dotted line is, some are left out, "
			    "as nothing happened there.");
	hf_svg_close(&o->svg);
}

static uint32_t height_of(const struct hf_overview *o)
{
	return HF_OVERVIEW_MODES_AT + HF_OVERVIEW_MODES + HF_OVERVIEW_SPACE +
	       hf_overview_lanes(o->t) * (HF_OVERVIEW_LANE + HF_OVERVIEW_SPACE - 2) + HF_OVERVIEW_DEPTH +
	       HF_OVERVIEW_SPACE + HF_OVERVIEW_HEAD + o->code.height + HF_OVERVIEW_SPACE + HF_OVERVIEW_HEAD +
	       (o->data.height ? o->data.height + HF_OVERVIEW_SPACE : 0) + AXIS + (has_time(o) ? TIME : 0);
}

static int put_all(struct hf_overview *o, bool links)
{
	int err;

	hf_svg_open(&o->svg, "svg",
		    "xmlns=\"http://www.w3.org/2000/svg\" class=\"ov\" width=\"100%%\" height=\"%" PRIu32
		    "\" role=\"group\" aria-label=\"overview of hart%" PRIu32 "\"",
		    height_of(o), o->of->hart);
	hf_svg_open_plain(&o->svg, "style");
	hf_sink_write(o->svg.sink, hf_embedded_overview_css.bytes, hf_embedded_overview_css.size);
	hf_svg_close(&o->svg);
	if (links)
		hf_picture_put_window(o->of, &o->svg);
	put_description(o);
	put_title(o, links);
	hf_overview_put_legend(o);
	o->y = HF_OVERVIEW_MODES_AT;
	err = hf_overview_put_modes(o);
	hf_overview_put_lanes(o);
	hf_overview_put_depth(o);
	if (!err)
		err = put_code(o);
	if (!err)
		err = put_data(o);
	put_axis(o);
	if (links)
		put_links(o, HF_OVERVIEW_MODES_AT);
	hf_svg_close(&o->svg);
	return err ? err : o->svg.sink->err;
}

static int put_overview(struct hf_overview *o, bool links)
{
	int err = hf_timeline_make(o->of, &o->t);

	if (!err)
		err = hf_overview_look(o);
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
	struct hf_overview o = {.of = &whole, .svg = {.sink = sink}};
	int err = hf_profile_for_timeline(of, &whole, &tree);

	if (!err)
		err = put_overview(&o, links);
	hf_summary_tree_free(tree);
	return err;
}

int hf_profile_overview(const struct hf_profiled *of, struct hf_sink *sink)
{
	return hf_overview_put(of, true, sink);
}

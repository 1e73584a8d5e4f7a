/* SPDX-License-Identifier: Apache-2.0 */
/*
 * overview.svg: what a hart did against time, from left to right: privilege, traps and losses, depth of calls, code and
 * data. Clicking a 32nd of it leads to that slice.
 */
#include "fs/base/human.h"
#include "fs/profile/escape.h"
#include "fs/profile/overview_parts.h"
#include "fs/profile/pictures.h"
#include "fs/profile/timeline_source.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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
	       (o->data.height ? o->data.height + HF_OVERVIEW_SPACE : 0) + hf_overview_axis(o);
}

static int put_all(struct hf_overview *o, bool links)
{
	int err;

	hf_overview_open(o, height_of(o));
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
	hf_overview_put_axis(o);
	if (links)
		hf_overview_put_links(o, HF_OVERVIEW_MODES_AT);
	hf_svg_close(&o->svg);
	return err ? err : o->svg.sink->err;
}

static int put_overview(struct hf_overview *o, bool links)
{
	int err = hf_timeline_make(o->of, NULL, &o->t);

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
	struct hf_overview o = {.of = &whole, .svg = {.sink = sink}, .at = of->source->slice ? "../../" : "../at/"};
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

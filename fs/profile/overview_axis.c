/* SPDX-License-Identifier: Apache-2.0 */
/* What an overview has from left to right: the numbers of its axis, and links to slices. */
#include "fs/base/human.h"
#include "fs/profile/overview_parts.h"

#include <inttypes.h>

/* Pixels of a second line of numbers; ticks of the axis. */
enum { TIME = 14, TICKS = 4 };

/* A slice of so many instructions is looked at as text. */
#define LISTED UINT64_C(100000)

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
	char text[HF_HUMAN_SIZE];

	for (uint32_t i = 0; i <= TICKS; i += step) {
		const uint32_t part = i * HF_HOTTEST_PARTS / TICKS,
			       x = HF_OVERVIEW_PLOT_X + HF_OVERVIEW_PLOT_W * i / TICKS;

		if (time && !o->timed[part])
			continue;
		hf_svg_open(&o->svg, "text", "x=\"%" PRIu32 ".%02" PRIu32 "%%\" y=\"%" PRIu32 "\" text-anchor=\"%s\"",
			    x / 100, x % 100, o->y + 15, anchors[i]);
		if (time)
			hf_svg_say(&o->svg, "%s", hf_human_count(text, o->time[part]));
		else
			say_ordinal(o, o->t->part.start[part] - (i == TICKS && o->t->insns));
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

void hf_overview_put_scale(struct hf_overview *o, const char *name, bool time, uint32_t step)
{
	hf_overview_open_label(o, "ov-note", o->y + 5);
	hf_svg_say(&o->svg, "%s", name);
	hf_overview_close_label(o);
	hf_overview_open_plot(o, 4, HF_HOTTEST_PARTS, 4);
	hf_svg_begin_path(&o->svg, "ov-axis");
	hf_sink_printf(o->svg.sink, "M0 0H%u", HF_HOTTEST_PARTS);
	for (uint32_t i = 0; i <= HF_HOTTEST_PARTS; i++)
		hf_sink_printf(o->svg.sink, "M%" PRIu32 " 0v4", i);
	hf_svg_end_path(&o->svg);
	hf_svg_close(&o->svg);
	put_ticks(o, step, time);
	o->y += HF_OVERVIEW_AXIS;
}

void hf_overview_put_axis(struct hf_overview *o)
{
	hf_overview_put_scale(o, "ordinal", false, 1);
	if (!has_time(o))
		return;
	hf_overview_open_label(o, "ov-note", o->y - 3);
	hf_svg_say(&o->svg, "time");
	hf_overview_close_label(o);
	o->y -= 8;
	put_ticks(o, 2, true);
	o->y += TIME + 8;
}

uint32_t hf_overview_axis(const struct hf_overview *o)
{
	return HF_OVERVIEW_AXIS + (has_time(o) ? TIME : 0);
}

/* ---- slices ---- */

static void say_part(struct hf_overview *o, uint32_t part, uint64_t first, uint64_t end)
{
	const struct hf_hottest_function *most = hf_hottest_get(&o->t->hottest, 0, UINT64_MAX, part);
	const uint32_t each = HF_HOTTEST_PARTS / o->t->part.pieces;
	char text[HF_HUMAN_SIZE];

	hf_svg_open_plain(&o->svg, "title");
	if (o->common) {
		hf_svg_say(&o->svg, "time %s ", hf_human_count(text, o->time[part * each]));
		hf_svg_say(&o->svg, "to %s: ", hf_human_count(text, o->time[(part + 1) * each]));
	}
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

void hf_overview_put_links(struct hf_overview *o, uint32_t from)
{
	const uint32_t height = o->y - from, parts = o->t->part.pieces;

	o->y = from;
	hf_svg_open(&o->svg, "svg",
		    "x=\"%d%%\" y=\"%" PRIu32 "\" width=\"%d%%\" height=\"%" PRIu32 "\" viewBox=\"0 0 %" PRIu32
		    " 1\" preserveAspectRatio=\"none\"",
		    HF_OVERVIEW_PLOT_X / 100, from, HF_OVERVIEW_PLOT_W / 100, height, parts);
	for (uint32_t i = 0; i < parts; i++) {
		const uint64_t first = o->t->part.start[i], end = o->t->part.start[i + 1];

		if (first == end)
			continue;
		hf_svg_open(&o->svg, "a", "href=\"%s%" PRIu64 "-%" PRIu64 "/%s\"", o->at, first, end - 1,
			    end - first <= LISTED ? "listing.txt" : "profile/overview.svg");
		hf_svg_open(&o->svg, "rect", "x=\"%" PRIu32 "\" width=\"1\" height=\"1\"", i);
		say_part(o, i, first, end);
		hf_svg_close(&o->svg);
		hf_svg_close(&o->svg);
	}
	hf_svg_close(&o->svg);
	o->y = from + height;
}

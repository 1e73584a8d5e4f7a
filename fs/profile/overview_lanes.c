/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of an overview that have no addresses: privilege, traps and losses, depth of calls. */
#include "fs/base/human.h"
#include "fs/profile/overview_parts.h"

#include <inttypes.h>
#include <stdlib.h>

/* Modes that the legend names. */
enum { MODES_NAMED = 5 };

/* ---- privilege ---- */

/* From the least to the most privileged, from light to dark. */
enum rank { RANK_UNKNOWN, RANK_USER, RANK_SYSTEM, RANK_HYPERVISOR, RANK_MACHINE, RANK_DEBUG, RANKS };

static const uint32_t rank_colours[RANKS + 1] = {0, 0x999999, 0x9fd4f3, 0xe69f00, 0x009e73, 0x0072b2, 0xcc79a7};

static enum rank rank_of(unsigned mode)
{
	static const uint8_t ranks[HF_MODE_COUNT] = {
		[HF_MODE_U] = RANK_USER,	 [HF_MODE_VU] = RANK_USER,	   [HF_MODE_EL0t] = RANK_USER,
		[HF_MODE_EL0] = RANK_USER,	 [HF_MODE_USR] = RANK_USER,	   [HF_MODE_THREAD] = RANK_USER,
		[HF_MODE_S] = RANK_SYSTEM,	 [HF_MODE_VS] = RANK_SYSTEM,	   [HF_MODE_EL1t] = RANK_SYSTEM,
		[HF_MODE_EL1h] = RANK_SYSTEM,	 [HF_MODE_EL1] = RANK_SYSTEM,	   [HF_MODE_FIQ] = RANK_SYSTEM,
		[HF_MODE_IRQ] = RANK_SYSTEM,	 [HF_MODE_SVC] = RANK_SYSTEM,	   [HF_MODE_ABT] = RANK_SYSTEM,
		[HF_MODE_UND] = RANK_SYSTEM,	 [HF_MODE_SYS] = RANK_SYSTEM,	   [HF_MODE_HANDLER] = RANK_SYSTEM,
		[HF_MODE_H] = RANK_HYPERVISOR,	 [HF_MODE_EL2t] = RANK_HYPERVISOR, [HF_MODE_EL2h] = RANK_HYPERVISOR,
		[HF_MODE_EL2] = RANK_HYPERVISOR, [HF_MODE_HYP] = RANK_HYPERVISOR,  [HF_MODE_M] = RANK_MACHINE,
		[HF_MODE_EL3t] = RANK_MACHINE,	 [HF_MODE_EL3h] = RANK_MACHINE,	   [HF_MODE_EL3] = RANK_MACHINE,
		[HF_MODE_MON] = RANK_MACHINE,	 [HF_MODE_D] = RANK_DEBUG,
	};

	return (enum rank)ranks[mode];
}

bool hf_overview_is_user(const struct hf_timeline *t)
{
	for (unsigned m = 0; m < HF_MODE_COUNT; m++)
		for (uint32_t c = 0; c < t->columns && rank_of(m) > RANK_USER; c++)
			if (t->mode[m][c] > 0)
				return false;
	return true;
}

void hf_overview_fill_column(uint8_t *point, uint32_t width, uint32_t height, const float *share, unsigned n)
{
	uint32_t rows[HF_OVERVIEW_SHARES], sum = 0;
	unsigned largest = 0, y = 0;
	float all = 0;

	for (unsigned i = 0; i < n; i++)
		all += share[i];
	if (all <= 0)
		return;
	for (unsigned i = 0; i < n; i++) {
		rows[i] = (uint32_t)(share[i] / all * (float)height);
		rows[i] += share[i] > 0 && !rows[i];
		sum += rows[i];
		largest = share[i] > share[largest] ? i : largest;
	}
	rows[largest] = rows[largest] + height - sum;
	for (unsigned i = n; i-- > 0;)
		for (uint32_t left = rows[i]; left && y < height; left--, y++)
			point[(size_t)y * width] = (uint8_t)(1 + i);
}

/* The most privileged on top. */
static void fill_modes(const struct hf_timeline *t, uint32_t column, uint8_t *point)
{
	float ranks[RANKS] = {0};

	for (unsigned m = 0; m < HF_MODE_COUNT; m++)
		ranks[rank_of(m)] += t->mode[m][column];
	hf_overview_fill_column(point + column, t->columns, HF_OVERVIEW_MODES, ranks, RANKS);
}

int hf_overview_put_modes(struct hf_overview *o)
{
	uint8_t *point = calloc(HF_OVERVIEW_MODES, o->t->columns);
	const struct hf_points points = {.width = o->t->columns,
					 .height = HF_OVERVIEW_MODES,
					 .point = point,
					 .palette = rank_colours,
					 .colours = RANKS + 1};
	int err = point ? 0 : HF_ERR_NOMEM;

	for (uint32_t c = 0; !err && c < o->t->columns; c++)
		fill_modes(o->t, c, point);
	hf_overview_open_label(o, "", o->y + 4);
	hf_svg_say(&o->svg, "privilege");
	hf_overview_close_label(o);
	hf_overview_open_plot(o, HF_OVERVIEW_MODES, o->t->columns, HF_OVERVIEW_MODES);
	if (!err)
		err = hf_svg_put_points(&o->svg, &points, o->t->columns < 800 ? "ov-coarse" : "");
	hf_svg_close(&o->svg);
	o->y += HF_OVERVIEW_MODES + HF_OVERVIEW_SPACE;
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

static double percent(const struct hf_overview *o, double insns)
{
	return o->t->insns ? 100 * insns / (double)o->t->insns : 0;
}

/* A mode and its share. */
static void say_mode(struct hf_overview *o, const struct mode *mode)
{
	const double share = percent(o, mode->insns);

	hf_svg_say(&o->svg, "%s %s%.1f%%", hf_mode_name(mode->mode), share < 0.1 ? "<" : "", share < 0.1 ? 0.1 : share);
}

void hf_overview_say_modes(struct hf_overview *o)
{
	struct mode mode[HF_MODE_COUNT];
	const unsigned n = sum_modes(o->t, mode);

	for (unsigned i = 0; i < n; i++) {
		hf_svg_say(&o->svg, " ");
		say_mode(o, &mode[i]);
	}
}

void hf_overview_put_legend(struct hf_overview *o)
{
	struct mode mode[HF_MODE_COUNT];
	const unsigned n = sum_modes(o->t, mode);
	double others = 0;

	hf_overview_open_line(o, HF_OVERVIEW_MODES_AT - HF_OVERVIEW_HEAD - 2);
	for (unsigned i = 0; i < n; i++) {
		if (i >= MODES_NAMED) {
			others += mode[i].insns;
			continue;
		}
		hf_overview_put_swatch(o, i * 92, rank_colours[1 + rank_of(mode[i].mode)], "");
		hf_overview_open_text(o, "", i * 92 + 14);
		say_mode(o, &mode[i]);
		hf_svg_close(&o->svg);
	}
	if (others > 0) {
		hf_overview_open_text(o, "ov-note", MODES_NAMED * 92);
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

/* In a label: of many only the millions. */
static void say_count(struct hf_overview *o, uint64_t n)
{
	const bool many = n >= UINT64_C(10000000);
	char text[HF_HUMAN_SIZE];

	hf_svg_say(&o->svg, "%s%s", hf_human_count(text, many ? n / 1000000 : n), many ? " M" : "");
}

void hf_overview_say_mark(struct hf_overview *o, unsigned mark)
{
	const uint64_t n = o->t->marks[mark];
	char text[HF_HUMAN_SIZE];

	hf_svg_say(&o->svg, "%s %s", hf_human_count(text, n), n == 1 ? marks[mark].one : marks[mark].many);
}

/* Taller for each time that there are four times as many in a column. */
static unsigned height_of_mark(float n)
{
	unsigned height = 8;

	for (; n > 1 && height < HF_OVERVIEW_LANE - 1; n /= 4)
		height += 3;
	return height;
}

static void put_lane(struct hf_overview *o, unsigned mark)
{
	hf_overview_open_label(o, "", o->y - 1);
	hf_svg_say(&o->svg, "%s", o->t->marks[mark] == 1 ? marks[mark].one : marks[mark].many);
	hf_overview_close_label(o);
	hf_overview_open_label(o, "ov-note", o->y + 10);
	say_count(o, o->t->marks[mark]);
	hf_overview_close_label(o);
	hf_overview_open_plot(o, HF_OVERVIEW_LANE, 2 * o->t->columns, HF_OVERVIEW_LANE);
	hf_svg_begin_path(&o->svg, marks[mark].loss ? "ov-marks ov-loss" : "ov-marks");
	for (uint32_t c = 0; c < o->t->columns; c++)
		if (o->t->mark[mark][c] > 0)
			hf_sink_printf(o->svg.sink, "M%" PRIu32 " %dv-%u", 2 * c + 1, HF_OVERVIEW_LANE,
				       height_of_mark(o->t->mark[mark][c]));
	hf_svg_end_path(&o->svg);
	hf_svg_close(&o->svg);
	o->y += HF_OVERVIEW_LANE + HF_OVERVIEW_SPACE - 2;
}

unsigned hf_overview_lanes(const struct hf_timeline *t)
{
	unsigned n = 0;

	for (unsigned mark = 0; mark < HF_TIMELINE_MARKS; mark++)
		n += t->marks[mark] != 0;
	return n;
}

void hf_overview_put_lanes(struct hf_overview *o)
{
	for (unsigned mark = 0; mark < HF_TIMELINE_MARKS; mark++)
		if (o->t->marks[mark])
			put_lane(o, mark);
}

/* ---- depth of calls ---- */

void hf_overview_put_depth(struct hf_overview *o)
{
	const struct hf_timeline *t = o->t;
	const uint32_t units = 10 * HF_OVERVIEW_DEPTH, deepest = t->deepest ? t->deepest : 1;

	hf_overview_open_label(o, "", o->y + 2);
	hf_svg_say(&o->svg, "call depth");
	hf_overview_close_label(o);
	hf_overview_open_label(o, "ov-note", o->y + 15);
	hf_svg_say(&o->svg, "0 to %" PRIu32, t->deepest);
	hf_overview_close_label(o);
	hf_overview_open_label(o, "ov-note", o->y + 28);
	hf_svg_say(&o->svg, "%s", t->exact ? "" : "sampled");
	hf_overview_close_label(o);
	hf_overview_open_plot(o, HF_OVERVIEW_DEPTH, t->columns, units);
	hf_svg_begin_path(&o->svg, "ov-depth");
	hf_sink_printf(o->svg.sink, "M0 %" PRIu32, units);
	for (uint32_t c = 0; c < t->columns; c++)
		if (!c || t->depth[c] != t->depth[c - 1])
			hf_sink_printf(o->svg.sink, "H%" PRIu32 "V%" PRIu32, c,
				       (uint32_t)(units - (uint64_t)units * t->depth[c] / deepest));
	hf_sink_printf(o->svg.sink, "H%" PRIu32 "V%" PRIu32 "z", t->columns, units);
	hf_svg_end_path(&o->svg);
	hf_svg_close(&o->svg);
	o->y += HF_OVERVIEW_DEPTH + HF_OVERVIEW_SPACE;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flame.svg: the calling-context tree as a flame graph, its root on top. The frames are numbers that the script draws
 * (flame.js). The widest are drawn here too, for whoever runs no script.
 */
#include "fs/profile/embedded.h"
#include "fs/profile/escape.h"
#include "fs/profile/flame_texts.h"
#include "fs/profile/frames.h"
#include "fs/profile/pictures.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	ROW = 17, /* of a frame, in pixels, as in flame.js */
	TOP = 110,
	STATIC_FRAMES = 300,
	/* Script, style and the static frames take the rest of a MB. */
	DATA_MAX = 700 << 10,
	FRAME_BYTES = 60, /* of the numbers of one at most; usually 15 */
};

struct flame {
	const struct hf_profiled *of; /* NULL: the frames are of texts */
	const struct hf_flame_texts *texts;
	char root[24];
	struct hf_frames frames;
	struct hf_sink *sink;
	bool links;
	uint64_t most;	   /* the largest change of a frame's own instructions */
	uint32_t *by_size; /* numbers of frames */
	uint32_t kept, names;
	uint32_t *number;		      /* of each name of a kept frame, from 1; 0: it has none */
	bool *keep;			      /* of each frame */
	uint64_t *left_out, *frames_left_out; /* of each frame: below it, without those below a kept one */
};

/* Of two runs: instead of enum hf_frame_kind. */
enum { PAIR_SAME, PAIR_MORE, PAIR_LESS, PAIR_MUCH_MORE, PAIR_MUCH_LESS = HF_FRAME_OTHER + 1 };
static const char pair_letters[] = {'s', 'r', 'b', 'R', 'o', 'B', 0};

static bool is_pair(const struct flame *f)
{
	return !f->of && f->texts->before;
}

/* ---- which frames ---- */

static int by_total(const void *a, const void *b, void *ctx)
{
	const struct hf_frame *frame = ctx;
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (frame[x].total != frame[y].total)
		return frame[x].total > frame[y].total ? -1 : 1;
	return x < y ? -1 : x > y;
}

static size_t name_size(const struct flame *f, uint32_t name)
{
	const uint32_t size = name == HF_FRAME_NONE ? 16 : f->frames.name[name].size;

	/* Each byte may be escaped by six. */
	return 6 * (size < HF_ESCAPE_NAME ? size : HF_ESCAPE_NAME) + 8;
}

/* The largest first, so that no frame is kept whose caller is not. */
static void choose(struct flame *f)
{
	const uint32_t n = f->frames.count;
	size_t bytes = 0;

	for (uint32_t i = 0; i < n; i++)
		f->by_size[i] = i;
	qsort_r(f->by_size, n, sizeof *f->by_size, by_total, f->frames.frame);
	for (; f->kept < n; f->kept++) {
		const struct hf_frame *frame = &f->frames.frame[f->by_size[f->kept]];

		bytes += FRAME_BYTES;
		if (frame->name != HF_FRAME_NONE && !f->number[frame->name])
			bytes += name_size(f, frame->name);
		if (bytes > DATA_MAX)
			break;
		f->keep[f->by_size[f->kept]] = true;
		if (frame->name != HF_FRAME_NONE)
			f->number[frame->name] = 1;
	}
	for (uint32_t i = 1; i < n; i++) {
		uint32_t above = f->frames.frame[i].parent;

		while (!f->keep[above])
			above = f->frames.frame[above].parent;
		if (f->keep[i])
			continue;
		f->left_out[above] += f->frames.frame[i].own;
		f->frames_left_out[above]++;
	}
	f->names = 2; /* that of what is left out, and of all */
	for (uint32_t i = 0; i < f->frames.names; i++)
		if (f->number[i])
			f->number[i] = f->names++;
}

static int make(struct flame *f)
{
	int err = f->of ? hf_frames_make(f->of, &f->frames)
			: hf_frames_fold(f->texts->before, f->texts->text, &f->frames);

	if (err)
		return err;
	if (f->of)
		snprintf(f->root, sizeof f->root, "hart%" PRIu32, f->of->hart);
	else
		snprintf(f->root, sizeof f->root, f->texts->before ? "B" : "all harts");
	f->by_size = calloc(f->frames.count, sizeof *f->by_size);
	f->number = calloc(f->frames.names + (size_t)1, sizeof *f->number);
	f->keep = calloc(f->frames.count, sizeof *f->keep);
	f->left_out = calloc(f->frames.count, sizeof *f->left_out);
	f->frames_left_out = calloc(f->frames.count, sizeof *f->frames_left_out);
	if (!f->by_size || !f->number || !f->keep || !f->left_out || !f->frames_left_out)
		return HF_ERR_NOMEM;
	choose(f);
	return 0;
}

static void fini(struct flame *f)
{
	free(f->by_size);
	free(f->number);
	free(f->keep);
	free(f->left_out);
	free(f->frames_left_out);
	hf_frames_free(&f->frames);
}

/* ---- the numbers ---- */

/* The first number of a frame, of its depth and enum hf_frame_kind. */
#define PLACE(depth, kind) ((unsigned)(depth)*8 + (unsigned)(kind))

/* The lightness of its colour comes of the name, so that neighbours differ and a function is the same in all pictures.
 */
static unsigned shade_of(const struct flame *f, uint32_t name)
{
	const struct hf_frame_name *of = &f->frames.name[name];
	uint32_t hash = 5381;

	for (uint32_t i = 0; i < of->size; i++)
		hash = hash * 33 ^ (uint8_t)f->frames.bytes[of->at + i];
	return hash % 3;
}

static void put_name(const struct flame *f, const struct hf_frame *frame,
		     void (*escape)(struct hf_sink *sink, const char *s, size_t n))
{
	if (frame->name == HF_FRAME_NONE)
		hf_sink_printf(f->sink, "%s", f->root);
	else
		escape(f->sink, f->frames.bytes + f->frames.name[frame->name].at, f->frames.name[frame->name].size);
}

static void put_names(const struct flame *f)
{
	if (is_pair(f))
		hf_sink_printf(f->sink, "\"kinds\":\"%s\",", pair_letters);
	hf_sink_printf(f->sink, "\"names\":[\"(left out)\",\"%s\"", f->root);
	for (uint32_t i = 0; i < f->frames.names; i++) {
		const struct hf_frame frame = {.name = i};

		if (!f->number[i])
			continue;
		hf_sink_printf(f->sink, ",\n\"");
		put_name(f, &frame, hf_escape_json);
		hf_sink_printf(f->sink, "\"");
	}
	hf_sink_printf(f->sink, "],\n\"shades\":\"00");
	for (uint32_t i = 0; i < f->frames.names; i++)
		if (f->number[i])
			hf_sink_printf(f->sink, "%u", shade_of(f, i));
	hf_sink_printf(f->sink, "\",\n");
}

static void put_left_out(const struct flame *f, uint32_t frame)
{
	if (f->frames_left_out[frame])
		hf_sink_printf(f->sink, ",\n%u,0,%" PRIu64 ",%" PRIu64,
			       PLACE(f->frames.frame[frame].depth + 1u, HF_FRAME_OTHER), f->left_out[frame],
			       f->frames_left_out[frame]);
}

/* Of two runs the colour says how much more of its own instructions it has in the second. */
static unsigned kind_of(const struct flame *f, const struct hf_frame *frame)
{
	const bool more = frame->own > frame->before;
	const uint64_t change = more ? frame->own - frame->before : frame->before - frame->own;

	if (!is_pair(f) || frame->kind == HF_FRAME_OTHER)
		return frame->kind;
	if (change * 1000 < f->most)
		return PAIR_SAME;
	return change * 10 < f->most ? (more ? PAIR_MORE : PAIR_LESS) : more ? PAIR_MUCH_MORE : PAIR_MUCH_LESS;
}

/* In pre-order; what is left out of a frame comes behind those below it. */
static void put_frames(const struct flame *f)
{
	const struct hf_frame *frame = f->frames.frame;
	uint32_t last = 0;

	hf_sink_printf(f->sink, "\"frames\":[");
	for (uint32_t i = 0; i < f->frames.count; i++) {
		if (!f->keep[i])
			continue;
		for (; i && last != frame[i].parent; last = frame[last].parent)
			put_left_out(f, last);
		hf_sink_printf(f->sink, "%s%u,%" PRIu32 ",%" PRIu64 ",%" PRIu64, i ? ",\n" : "",
			       PLACE(frame[i].depth, kind_of(f, &frame[i])), i ? f->number[frame[i].name] : 1,
			       frame[i].own, is_pair(f) ? frame[i].before : frame[i].calls);
		last = i;
	}
	for (; last != HF_FRAME_NONE; last = frame[last].parent)
		put_left_out(f, last);
	hf_sink_printf(f->sink, "]");
}

/* ---- the picture without a script ---- */

static double percent(const struct flame *f, uint64_t n)
{
	const uint64_t all = f->frames.frame[0].total;

	return all ? 100.0 * (double)n / (double)all : 100;
}

/* A picture in the picture, as wide as the frame, clips the name. */
static void put_static(const struct flame *f, const struct hf_frame *frame)
{
	const char *letters = is_pair(f) ? pair_letters : "ctino";

	hf_sink_printf(f->sink, "<svg x=\"%.3f%%\" y=\"%u\" width=\"%.3f%%\" height=\"%d\" class=\"%c%u\"><title>",
		       percent(f, frame->start), TOP + frame->depth * ROW, percent(f, frame->total), ROW - 1,
		       letters[kind_of(f, frame)], frame->kind == HF_FRAME_OTHER ? 0 : shade_of(f, frame->name));
	put_name(f, frame, hf_escape_xml);
	hf_sink_printf(f->sink, ": %" PRIu64 " instructions, %.2f%%</title><rect width=\"100%%\" height=\"100%%\"/>",
		       frame->total, percent(f, frame->total));
	if (percent(f, frame->total) > 1) {
		hf_sink_printf(f->sink, "<text x=\"3\" y=\"12\">");
		put_name(f, frame, hf_escape_xml);
		hf_sink_printf(f->sink, "</text>");
	}
	hf_sink_printf(f->sink, "</svg>\n");
}

static void put_statics(const struct flame *f)
{
	for (uint32_t i = 0; i < f->kept && i < STATIC_FRAMES; i++)
		put_static(f, &f->frames.frame[f->by_size[i]]);
}

static unsigned static_depth(const struct flame *f)
{
	unsigned depth = 0;

	for (uint32_t i = 0; i < f->kept && i < STATIC_FRAMES; i++)
		if (f->frames.frame[f->by_size[i]].depth > depth)
			depth = f->frames.frame[f->by_size[i]].depth;
	return depth;
}

/* ---- around it ---- */

struct legend {
	const char *class, *text;
};

static void put_legend(const struct flame *f)
{
	static const struct legend legends[2][4] = {
		{{"c0", "program"}, {"t0", "trap handler"}, {"i0", "interrupt handler"}, {"n0", "no symbol"}},
		{{"R0", "much more in B"}, {"r0", "more"}, {"b0", "less"}, {"B0", "much less"}}};
	const struct legend *legend = legends[is_pair(f)];
	int x = 10;

	for (size_t i = 0; i < sizeof legends[0] / sizeof *legend; i++) {
		hf_sink_printf(f->sink,
			       "<g class=\"%s\"><rect x=\"%d\" y=\"43\" width=\"11\" height=\"11\"/><text x=\"%d\" "
			       "y=\"53\">%s</text></g>\n",
			       legend[i].class, x, x + 16, legend[i].text);
		x += 34 + 7 * (int)strlen(legend[i].text);
	}
}

static void put_head(const struct flame *f)
{
	const uint32_t without = f->frames.count - f->kept;
	struct hf_svg svg = {.sink = f->sink};
	uint64_t before = 0;

	hf_sink_printf(f->sink,
		       "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"fg\" width=\"100%%\" height=\"%u\" "
		       "data-top=\"%d\" role=\"img\" aria-label=\"flame graph of %s\">\n<style>\n",
		       TOP + (static_depth(f) + 1) * ROW + 12, TOP, f->root);
	hf_sink_write(f->sink, hf_embedded_flame_css.bytes, hf_embedded_flame_css.size);
	hf_sink_printf(f->sink, "</style>\n");
	if (f->links)
		hf_picture_put_window(f->of, &svg);
	hf_sink_printf(f->sink,
		       "<desc>Each frame is a function in a chain of calls; its width is the instructions retired in "
		       "it and in what it called. Callees are in the order of names, not of time. %" PRIu32
		       " of %" PRIu32 " frames are here; the others are summed in frames called (left out).</desc>\n",
		       f->kept, f->frames.count);
	if (f->of) {
		hf_picture_put_name(f->of, &svg, "fg-title", 10);
	} else {
		hf_sink_printf(f->sink, "<text class=\"fg-title\" x=\"10\" y=\"17\">");
		hf_escape_xml(f->sink, f->texts->title, strlen(f->texts->title));
		hf_sink_printf(f->sink, "</text>\n");
	}
	hf_sink_printf(f->sink, "<text x=\"10\" y=\"34\">%s: ", f->root);
	hf_put_grouped(f->sink, f->frames.frame[0].total);
	hf_sink_printf(f->sink, " instructions in ");
	hf_put_grouped(f->sink, f->frames.count);
	hf_sink_printf(f->sink, " frames%s", f->of && f->of->sampled ? ", estimated from where chunks begin" : "");
	if (is_pair(f)) {
		for (uint32_t i = 0; i < f->frames.count; i++)
			before += f->frames.frame[i].before;
		hf_sink_printf(f->sink, "; A: ");
		hf_put_grouped(f->sink, before);
	}
	hf_sink_printf(f->sink, "</text>\n");
	put_legend(f);
	if (f->links)
		hf_picture_put_up(f->of, &svg, "flame.svg", 480, 53);
	hf_sink_printf(f->sink,
		       "<text class=\"fg-note fg-found\" x=\"210\" y=\"78\"></text>\n"
		       "<text class=\"fg-button fg-invert\" x=\"360\" y=\"78\" visibility=\"hidden\">invert</text>\n"
		       "<text class=\"fg-button fg-reset\" x=\"430\" y=\"78\" visibility=\"hidden\">reset zoom</text>\n"
		       "<text class=\"fg-note fg-status fg-top\" x=\"10\" y=\"102\">");
	if (without) {
		hf_put_grouped(f->sink, without);
		hf_sink_printf(f->sink, " small frames are in (left out). ");
	}
	hf_sink_printf(f->sink, "Callees are in the order of names, not of time.</text>\n");
}

static void put_all(const struct flame *f)
{
	put_head(f);
	hf_sink_printf(f->sink, "<g class=\"fg-frames\">\n");
	put_statics(f);
	hf_sink_printf(f->sink, "</g>\n<script type=\"application/json\" class=\"fg-data\"><![CDATA[{");
	put_names(f);
	put_frames(f);
	hf_sink_printf(f->sink, "}]]></script>\n<script><![CDATA[\n");
	hf_sink_write(f->sink, hf_embedded_flame_js.bytes, hf_embedded_flame_js.size);
	hf_sink_printf(f->sink, "]]></script>\n</svg>\n");
}

int hf_flame_put_texts(const struct hf_flame_texts *texts, struct hf_sink *sink)
{
	struct flame f = {.texts = texts, .sink = sink};
	int err = make(&f);

	for (uint32_t i = 0; !err && i < f.frames.count; i++) {
		const struct hf_frame *frame = &f.frames.frame[i];
		const uint64_t change =
			frame->own > frame->before ? frame->own - frame->before : frame->before - frame->own;

		f.most = change > f.most ? change : f.most;
	}
	if (!err)
		put_all(&f);
	fini(&f);
	return err ? err : sink->err;
}

int hf_flame_put(const struct hf_profiled *of, bool links, struct hf_sink *sink)
{
	struct flame f = {.of = of, .sink = sink, .links = links};
	int err = make(&f);

	if (!err)
		put_all(&f);
	fini(&f);
	return err ? err : sink->err;
}

int hf_profile_flame(const struct hf_profiled *of, struct hf_sink *sink)
{
	return hf_flame_put(of, true, sink);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/profile/pictures.h"
#include "fs/facts/capture.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Bytes of a name for which a line has room, in letters of 14 pixels. */
enum { ROOM = 66 };

void hf_picture_put_name(const struct hf_profiled *of, struct hf_svg *svg, const char *class, unsigned x)
{
	const char *path = of->source ? of->source->open->capture->path : "", *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	const size_t size = strlen(name);

	hf_svg_open(svg, "text", "class=\"%s\" x=\"%u\" y=\"17\"", class, x);
	hf_svg_say_name(svg, name, size < ROOM ? size : ROOM);
	if (size > ROOM)
		hf_svg_say(svg, "…");
	hf_svg_close(svg);
}

const char *hf_picture_hart(const struct hf_profiled *of, char buf[HF_PICTURE_HART])
{
	if (of->hart == HF_HART_RECORDS)
		snprintf(buf, HF_PICTURE_HART, "all harts");
	else
		snprintf(buf, HF_PICTURE_HART, "hart%" PRIu32, of->hart);
	return buf;
}

void hf_picture_put_window(const struct hf_profiled *of, struct hf_svg *svg)
{
	const char *path = of->source ? of->source->open->capture->path : "";
	char hart[HF_PICTURE_HART];

	hf_svg_open_plain(svg, "title");
	hf_svg_say_name(svg, path, strlen(path));
	hf_svg_say(svg, ", %s", hf_picture_hart(of, hart));
	hf_svg_close(svg);
}

void hf_picture_put_up(const struct hf_profiled *of, struct hf_svg *svg, const char *file, unsigned x, unsigned y)
{
	if (!of->source || !of->source->slice)
		return;
	hf_svg_open(svg, "a", "href=\"../../../profile/%s\"", file);
	hf_svg_open(svg, "text", "x=\"%u\" y=\"%u\"", x, y);
	hf_svg_say(svg, "the whole hart");
	hf_svg_close(svg);
	hf_svg_close(svg);
}

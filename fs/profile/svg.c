/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/profile/svg.h"
#include "fs/profile/escape.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

/* Longer attributes do not come; what is printed is cut there. */
enum { ATTRIBUTES = 512 };

static void begin(struct hf_svg *svg, const char *tag, const char *format, va_list args, const char *end)
{
	char attributes[ATTRIBUTES];

	vsnprintf(attributes, sizeof attributes, format, args);
	hf_sink_printf(svg->sink, "<%s %s%s", tag, attributes, end);
	svg->elements++;
}

void hf_svg_open(struct hf_svg *svg, const char *tag, const char *format, ...)
{
	va_list args;

	assert(svg->depth < HF_SVG_DEPTH);
	va_start(args, format);
	begin(svg, tag, format, args, ">");
	va_end(args);
	svg->open[svg->depth++] = tag;
}

void hf_svg_open_plain(struct hf_svg *svg, const char *tag)
{
	assert(svg->depth < HF_SVG_DEPTH);
	hf_sink_printf(svg->sink, "<%s>", tag);
	svg->elements++;
	svg->open[svg->depth++] = tag;
}

void hf_svg_close(struct hf_svg *svg)
{
	assert(svg->depth);
	hf_sink_printf(svg->sink, "</%s>\n", svg->open[--svg->depth]);
}

void hf_svg_put(struct hf_svg *svg, const char *tag, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	begin(svg, tag, format, args, "/>\n");
	va_end(args);
}

void hf_svg_begin_path(struct hf_svg *svg, const char *class)
{
	hf_sink_printf(svg->sink, "<path class=\"%s\" d=\"", class);
	svg->elements++;
}

void hf_svg_end_path(struct hf_svg *svg)
{
	hf_sink_printf(svg->sink, "\"/>\n");
}

void hf_svg_say(struct hf_svg *svg, const char *format, ...)
{
	char text[ATTRIBUTES];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(text, sizeof text, format, args);
	va_end(args);
	hf_svg_say_name(svg, text, n > 0 ? (size_t)n : 0);
}

void hf_svg_say_name(struct hf_svg *svg, const char *name, size_t size)
{
	hf_escape_xml(svg->sink, name, size);
}

int hf_svg_put_points(struct hf_svg *svg, const struct hf_points *points, const char *class)
{
	int err;

	hf_sink_printf(svg->sink,
		       "<image class=\"%s\" width=\"100%%\" height=\"100%%\" preserveAspectRatio=\"none\" "
		       "href=\"data:image/png;base64,",
		       class);
	err = hf_png_put(svg->sink, points);
	hf_sink_printf(svg->sink, "\"/>\n");
	svg->elements++;
	return err;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/profile/png.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static void put_base64(struct hf_sink *sink, const uint8_t *bytes, size_t n)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < n; i += 3) {
		const size_t left = n - i;
		const uint32_t word = (uint32_t)bytes[i] << 16 | (left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) |
				      (left > 2 ? bytes[i + 2] : 0u);
		const char four[4] = {digits[word >> 18], digits[word >> 12 & 63],
				      left > 1 ? digits[word >> 6 & 63] : '=', left > 2 ? digits[word & 63] : '='};

		hf_sink_write(sink, four, sizeof four);
	}
}

static void put_u32(uint8_t *p, uint32_t n)
{
	for (int i = 0; i < 4; i++)
		p[i] = (uint8_t)(n >> (24 - 8 * i));
}

/* A chunk (PNG 5.3): length, type, data, CRC-32 of the last two. */
static void put_chunk(struct hf_sink *png, const char type[4], const uint8_t *data, uint32_t n)
{
	uint8_t word[4];
	uLong crc = crc32(0, (const uint8_t *)type, 4);

	if (n)
		crc = crc32(crc, data, n);
	put_u32(word, n);
	hf_sink_write(png, word, 4);
	hf_sink_write(png, type, 4);
	hf_sink_write(png, data, n);
	put_u32(word, (uint32_t)crc);
	hf_sink_write(png, word, 4);
}

/* Of zlib: with more it takes ten times as long, and a map becomes smaller by a twelfth at most. */
#define LEVEL 7

/* Filters (PNG 9.2): a line as it is, or less the line above it. */
enum { FILTER_NONE = 0, FILTER_UP = 2 };

/* With its filter in front. Rows of a map are several lines high: such a line is packed in no time if it is all zeros.
 */
static void fill_line(const struct hf_points *points, uint32_t y, uint8_t *line)
{
	const uint8_t *point = points->point + (size_t)y * points->width;

	if (y && !memcmp(point, point - points->width, points->width)) {
		line[0] = FILTER_UP;
		memset(line + 1, 0, points->width);
	} else {
		line[0] = FILTER_NONE;
		memcpy(line + 1, point, points->width);
	}
}

static int put_lines(struct hf_sink *png, const struct hf_points *points)
{
	const size_t line = (size_t)points->width + 1, size = line * points->height;
	uLongf n = compressBound(size);
	uint8_t *lines = malloc(size), *packed = malloc(n);
	int err = lines && packed ? 0 : HF_ERR_NOMEM;

	for (uint32_t y = 0; y < points->height && !err; y++)
		fill_line(points, y, lines + y * line);
	if (!err && compress2(packed, &n, lines, size, LEVEL) != Z_OK)
		err = HF_ERR_NOMEM;
	if (!err)
		put_chunk(png, "IDAT", packed, (uint32_t)n);
	free(lines);
	free(packed);
	return err;
}

static int put_png(struct hf_sink *png, const struct hf_points *points)
{
	/* 8 bits a point, of a palette. */
	uint8_t head[13] = {[8] = 8, [9] = 3}, palette[3 * 256] = {0};
	int err;

	put_u32(head, points->width);
	put_u32(head + 4, points->height);
	for (unsigned i = 0; i < points->colours; i++)
		for (int k = 0; k < 3; k++)
			palette[3 * i + k] = (uint8_t)(points->palette[i] >> (16 - 8 * k));
	hf_sink_write(png, "\x89PNG\r\n\x1a\n", 8);
	put_chunk(png, "IHDR", head, sizeof head);
	put_chunk(png, "PLTE", palette, 3 * points->colours);
	put_chunk(png, "tRNS", (const uint8_t *)"", 1);
	err = put_lines(png, points);
	put_chunk(png, "IEND", NULL, 0);
	return err ? err : png->err;
}

int hf_png_put(struct hf_sink *sink, const struct hf_points *points)
{
	struct hf_sink png;
	int err = hf_sink_init_memory(&png, 0);

	if (err)
		return err;
	err = put_png(&png, points);
	if (!err)
		put_base64(sink, png.start, (size_t)hf_sink_total(&png));
	hf_sink_fini_memory(&png);
	return err ? err : sink->err;
}

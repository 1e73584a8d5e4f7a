/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory written as hexadecimal text by debuggers and probes, line by line: perhaps an offset or address up to a ':',
 * then bytes or words, perhaps with 0x, between blanks, tabs and commas. Comments are lines that begin with '#', ';' or
 * "//", and what follows a '|'. Nothing in the text says that it is one: a description does.
 */
#include "codecs/source/unpack.h"

#include "codecs/source/errors.h"

#include <string.h>

/* An offset column is no longer. */
#define COLUMN_MAX 128
/* Digits of the longest word. */
#define WORD_MAX 16

struct hex {
	struct hf_unpack u;
	bool inside;     /* of a line: behind its offset column */
	uint32_t line;   /* from 1 */
	uint8_t rest[WORD_MAX / 2]; /* of a word for which there was no room */
	unsigned rest_size, rest_at;
};

/* hf_point.bits: twice the number of the line, no larger than this, and whether it is inside. */
#define LINE_MAX ((1u << 28) - 1)

static int hex_start(struct hf_unpack *u, const struct hf_point *at, const uint8_t *window, struct hf_diag *diag)
{
	struct hex *h = (struct hex *)u;

	(void)window;
	if (at->bits >> 1 > LINE_MAX)
		return hf_diag_set(diag, HF_ERR_STATE, HF_SPACE_FILE, at->in_offset, 0);
	h->inside = at->in_offset && (at->bits & 1);
	h->line = at->in_offset ? at->bits >> 1 : 1;
	return 0;
}

static int digit(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool is_separator(uint8_t c)
{
	return c == ' ' || c == '\t' || c == ',' || c == '\r';
}

static int refuse(const struct hex *h, size_t ahead, struct hf_diag *diag)
{
	return hf_diag_set(diag, HF_ERR_BOX_TEXT, HF_SPACE_FILE, h->u.pos + ahead, h->line);
}

/* Up to the end of the line, or of the file. */
static int skip_rest(struct hex *h, struct hf_diag *diag)
{
	const uint8_t *p, *end;
	size_t have;

	for (;;) {
		int err = hf_unpack_need(&h->u, 1, &p, &have, diag);

		if (err || !have)
			return err;
		end = memchr(p, '\n', have);
		h->u.pos += end ? (size_t)(end - p) : have;
		if (end)
			return 0;
	}
}

/* Over blanks, a comment or the offset column. */
static int begin_line(struct hex *h, struct hf_diag *diag)
{
	const uint8_t *p, *end, *colon, *comment;
	size_t have, i = 0;
	int err = hf_unpack_need(&h->u, COLUMN_MAX, &p, &have, diag);

	if (err)
		return err;
	have = have < COLUMN_MAX ? have : COLUMN_MAX;
	end = memchr(p, '\n', have);
	have = end ? (size_t)(end - p) : have;
	while (i < have && is_separator(p[i]))
		i++;
	h->inside = true;
	if (i < have && (p[i] == '#' || p[i] == ';' || (p[i] == '/' && i + 1 < have && p[i + 1] == '/')))
		return skip_rest(h, diag);
	comment = memchr(p, '|', have);
	colon = memchr(p, ':', comment ? (size_t)(comment - p) : have);
	h->u.pos += colon ? (size_t)(colon - p) + 1 : i;
	return 0;
}

/* Two digits. */
static int take_byte(struct hex *h, const uint8_t *p, size_t have, uint8_t *ret_byte, struct hf_diag *diag)
{
	const int high = digit(p[0]), low = have > 1 ? digit(p[1]) : -1;

	if (high < 0 || low < 0)
		return refuse(h, high < 0 ? 0 : 1, diag);
	*ret_byte = (uint8_t)(high << 4 | low);
	h->u.pos += 2;
	return 0;
}

/* An even number of digits, whose lowest byte comes first. */
static int take_word(struct hex *h, const uint8_t *p, size_t have, struct hf_diag *diag)
{
	size_t n = 0;

	while (n < have && digit(p[n]) >= 0)
		n++;
	if (n == 0 || n % 2 || n > WORD_MAX)
		return refuse(h, n < WORD_MAX ? n : WORD_MAX, diag);
	for (size_t i = 0; i < n / 2; i++)
		h->rest[i] = (uint8_t)(digit(p[n - 2 - 2 * i]) << 4 | digit(p[n - 1 - 2 * i]));
	h->rest_size = (unsigned)(n / 2);
	h->rest_at = 0;
	h->u.pos += n;
	return 0;
}

/* What comes next in a line: one byte, one word, or something between two; HF_NOTE_END: nothing. */
static int step_inside(struct hex *h, bool words, uint8_t *out, size_t *n, struct hf_diag *diag)
{
	const uint8_t *p;
	size_t have;
	int err = hf_unpack_need(&h->u, WORD_MAX + 1, &p, &have, diag);

	if (err || !have)
		return err ? err : (int)HF_NOTE_END;
	if (*p == '\n') {
		h->inside = false;
		h->line += h->line < LINE_MAX;
		h->u.pos++;
	} else if (is_separator(*p)) {
		h->u.pos++;
	} else if (*p == '|') {
		return skip_rest(h, diag);
	} else if (*p == '0' && have > 1 && (p[1] | 0x20) == 'x') {
		h->u.pos += 2;
	} else if (words) {
		return take_word(h, p, have, diag);
	} else {
		err = take_byte(h, p, have, out + *n, diag);
		*n += !err;
		return err;
	}
	return 0;
}

static int hex_step(struct hf_unpack *u, uint8_t *out, size_t cap, size_t *ret_n, enum hf_mark *ret_mark,
		    struct hf_diag *diag)
{
	const bool words = u->box == &hf_box_hex_words;
	struct hex *h = (struct hex *)u;
	size_t n = 0;
	int err = 0;

	while (n < cap && !err) {
		if (h->rest_at < h->rest_size)
			out[n++] = h->rest[h->rest_at++];
		else
			err = h->inside ? step_inside(h, words, out, &n, diag) : begin_line(h, diag);
	}
	*ret_n = n;
	*ret_mark = err || h->rest_at < h->rest_size ? HF_MARK_NONE : HF_MARK_FREE;
	return err;
}

static void hex_point(const struct hf_unpack *u, struct hf_point *ret_point)
{
	const struct hex *h = (const struct hex *)u;

	ret_point->bits = h->line << 1 | h->inside;
}

static const struct hf_unpack_ops ops = {
	.size = sizeof(struct hex),
	.aim_free = HF_BLOCK_AIM,
	.aim_window = HF_BLOCK_AIM,
	.whole = HF_UNPACK_WHOLE,
	.start = hex_start,
	.step = hex_step,
	.point = hex_point,
};

static int probe(const uint8_t *head, size_t n, uint64_t file_size)
{
	(void)head;
	(void)n;
	(void)file_size;
	return 0;
}

static const char *const suffixes[] = {NULL};

#define BOX HF_UNPACK_BOX_ENTERABLE, .suffixes = suffixes, .probe = probe, .unpack = &ops

const struct hf_box hf_box_hex = {BOX, .name = "hex"};
const struct hf_box hf_box_hex_words = {BOX, .name = "hex_words"};

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as hexadecimal text: the bytes are those that a plain reading of the whole text gives, or the text is
 * refused where that refuses it; each block comes again when it is read or the scan resumed there. The first byte says
 * whether the text has words, how its bytes arrive, and how often it is repeated, so that there are several blocks.
 */
#include "codecs/source/errors.h"
#include "codecs/source/source.h"
#include "tests/lib/fuzz.h"
#include "tests/lib/sliver.h"

#include <string.h>

#define TEXT_MAX (5u << 19) /* more than one block (HF_BLOCK_AIM) of words */
#define BYTES_MAX 4096 /* of input */
#define POINTS_MAX 8

/* What a plain reading gives. */
struct plain {
	uint8_t *out;
	size_t n;
	bool refused;
	size_t at; /* where */
};

HF_NO_COVERAGE static int digit(uint8_t c)
{
	static const char digits[] = "0123456789abcdefABCDEF";
	const char *p = c ? strchr(digits, c) : NULL;

	return !p ? -1 : p - digits < 16 ? (int)(p - digits) : (int)(p - digits) - 6;
}

/* One word, or one byte, at text[i..end): returns its digits, 0 if it is none. */
HF_NO_COVERAGE static size_t take(struct plain *plain, const uint8_t *text, size_t i, size_t end, bool words)
{
	size_t n = 0;

	while (i + n < end && digit(text[i + n]) >= 0 && n < (words ? 17 : 2))
		n++;
	if (!n || n % 2 || n > 16) {
		plain->refused = true;
		plain->at = i + (n < 16 ? n : 16);
		return 0;
	}
	for (size_t k = 0; k < n; k += 2) {
		const size_t from = i + (words ? n - 2 - k : k);

		plain->out[plain->n++] = (uint8_t)(digit(text[from]) * 16 + digit(text[from + 1]));
	}
	return n;
}

/* A line without its end: an offset column ends within the first 128 characters, before any comment. */
HF_NO_COVERAGE static void read_line(struct plain *plain, const uint8_t *text, size_t i, size_t end, bool words)
{
	const uint8_t *comment = memchr(text + i, '|', end - i);
	const size_t data = comment ? (size_t)(comment - text) : end;
	const uint8_t *colon = memchr(text + i, ':', data - i < 128 ? data - i : 128);
	size_t first = i;

	while (first < data && first < i + 128 && strchr(" \t,\r", text[first]) && text[first])
		first++;
	if (first < data && first < i + 128 &&
	    (text[first] == '#' || text[first] == ';' ||
	     (text[first] == '/' && first + 1 < data && first + 1 < i + 128 && text[first + 1] == '/')))
		return;
	i = colon ? (size_t)(colon - text) + 1 : i;
	while (i < data && !plain->refused) {
		if (text[i] && strchr(" \t,\r", text[i]))
			i++;
		else if (text[i] == '0' && i + 1 < end && (text[i + 1] | 0x20) == 'x')
			i += 2;
		else
			i += take(plain, text, i, end, words);
	}
}

HF_NO_COVERAGE static void read_plainly(struct plain *plain, const uint8_t *text, size_t n, bool words)
{
	for (size_t i = 0; i < n && !plain->refused;) {
		const uint8_t *end = memchr(text + i, '\n', n - i);
		const size_t stop = end ? (size_t)(end - text) : n;

		read_line(plain, text, i, stop, words);
		i = stop + 1;
	}
}

struct seen {
	size_t n;
	struct hf_point points[POINTS_MAX];
	size_t count;
};

static void scan(const struct hf_box *box, struct hf_src *src, const struct plain *plain, struct seen *seen)
{
	const uint8_t *bytes, *window;
	struct hf_diag diag = {0};
	struct hf_point point;
	struct hf_scan *s;
	int err;

	MUST(box->scan_new(box, src, NULL, NULL, &s, &diag) == 0);
	while ((err = box->scan_next(s, &point, &bytes, &window, &diag)) == 0) {
		MUST(bytes && point.out_size && point.out_offset == seen->n && point.out_size <= plain->n - seen->n);
		MUST(memcmp(bytes, plain->out + seen->n, (size_t)point.out_size) == 0);
		seen->n += (size_t)point.out_size;
		if (seen->count < POINTS_MAX)
			seen->points[seen->count++] = point;
	}
	MUST(seen->n == plain->n);
	MUST(err == (plain->refused ? (int)HF_ERR_BOX_TEXT : (int)HF_NOTE_END));
	MUST(!plain->refused || (diag.code == err && diag.offset == plain->at));
	box->scan_free(s);
}

static void look_again(const struct hf_box *box, struct hf_src *src, const struct plain *plain, const struct seen *seen)
{
	const uint8_t *bytes, *window;
	struct hf_point point;
	struct hf_scan *s;

	for (size_t i = 0; i < seen->count; i++) {
		const struct hf_point *p = &seen->points[i];
		const size_t skip = (size_t)p->out_size / 3, n = (size_t)p->out_size - skip;
		uint8_t *again = malloc(n);

		if (p->bits & HF_POINT_CONTINUES) {
			free(again);
			continue;
		}
		MUST(again && box->read_block(box, src, p, NULL, skip, again, n, NULL) == 0);
		MUST(memcmp(again, plain->out + p->out_offset + skip, n) == 0);
		free(again);
		MUST(box->scan_new(box, src, p, NULL, &s, NULL) == 0);
		MUST(box->scan_next(s, &point, &bytes, &window, NULL) == 0);
		MUST(memcmp(&point, p, sizeof point) == 0);
		MUST(memcmp(bytes, plain->out + p->out_offset, (size_t)p->out_size) == 0);
		box->scan_free(s);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const size_t most[] = {SIZE_MAX, 1, 7, 2047};
	const bool words = size && data[0] & 1;
	const struct hf_box *box = words ? &hf_box_hex_words : &hf_box_hex;
	struct plain plain = {0};
	struct seen seen = {0};
	struct hf_src *memory, *src;
	size_t times, n = 0;
	uint8_t *text;

	if (size < 2 || size > BYTES_MAX)
		return 0;
	/* Few are long: those take their time. */
	times = data[0] >> 3 == 31 && size % 32 == 29 ? TEXT_MAX / (size - 1) : 1 + (size_t)(data[0] >> 3 & 3);
	text = malloc(times * (size - 1));
	plain.out = malloc(times * (size - 1));
	MUST(text && plain.out);
	for (; n < times * (size - 1); n += size - 1)
		memcpy(text + n, data + 1, size - 1);
	read_plainly(&plain, text, n, words);
	MUST(hf_src_memory_new(text, n, &memory) == 0);
	MUST(hf_sliver_new(memory, most[data[0] >> 1 & 3], &src) == 0);
	scan(box, src, &plain, &seen);
	look_again(box, src, &plain, &seen);
	hf_src_free(src);
	hf_src_free(memory);
	free(plain.out);
	free(text);
	return 0;
}

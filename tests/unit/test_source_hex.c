/* SPDX-License-Identifier: Apache-2.0 */
/* Hexadecimal text as a container: what the lines give, entered at every block and in slivers; and what is wrong. */
#include "codecs/source/errors.h"
#include "codecs/source/source.h"
#include "tests/lib/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* All bytes of a text, and the error at its end. */
static int scan(const struct hf_box *box, const char *text, size_t size, uint8_t *bytes, size_t *ret_n,
		struct hf_diag *diag)
{
	struct hf_scan *scan;
	struct hf_src *src;
	int err;

	*ret_n = 0;
	CHECK_EQ(hf_src_memory_new(text, size, &src), 0);
	CHECK_EQ(box->scan_new(box, src, NULL, NULL, &scan, diag), 0);
	for (;;) {
		const uint8_t *p, *window;
		struct hf_point point;
		uint8_t byte;

		err = box->scan_next(scan, &point, &p, &window, diag);
		if (err)
			break;
		memcpy(bytes + *ret_n, p, point.out_size);
		for (uint64_t i = 0; i < point.out_size; i += 1 + point.out_size / 7) {
			CHECK_EQ(box->read_block(box, src, &point, NULL, i, &byte, 1, diag), 0);
			CHECK_EQ(byte, p[i]);
		}
		*ret_n += point.out_size;
	}
	box->scan_free(scan);
	hf_src_free(src);
	return err;
}

static void check(const char *name, const char *text, const char *want)
{
	uint8_t bytes[256];
	struct hf_diag diag;
	char got[600] = "";
	size_t n;

	CHECK_EQ(scan(hf_box_by_name(name), text, strlen(text), bytes, &n, &diag), HF_NOTE_END);
	for (size_t i = 0; i < n; i++)
		snprintf(got + 2 * i, 3, "%02x", bytes[i]);
	if (strcmp(got, want) != 0) {
		fprintf(stderr, "%s: '%s' is %s and not %s\n", name, text, got, want);
		exit(1);
	}
}

static void test_lines(void)
{
	check("hex", "", "");
	check("hex", "\n\n  \n", "");
	check("hex", "deadbeef 01\n02", "deadbeef0102");
	check("hex", "0xde,0xAD, 0XBE\tef\r\n", "deadbeef");
	check("hex", "# a dump\n; of 2024\n// memory\n 00\n  # 11\n", "00");
	check("hex", "0x20000000 <buffer+16>:\t0x01\t0x02\n20000002: 0304 |..|\n", "01020304");
	check("hex", "01 02 |12:34\n", "0102");
	check("hex_words", "0x20000000: 0x12345678 9abcdef0\n1122 33 0102030405060708", "78563412f0debc9a2211330807060504030201");
}

static void check_bad(const char *name, const char *text, size_t good, unsigned line, size_t at)
{
	uint8_t bytes[256];
	struct hf_diag diag;
	size_t n;

	CHECK_EQ(scan(hf_box_by_name(name), text, strlen(text), bytes, &n, &diag), HF_ERR_BOX_TEXT);
	CHECK_EQ(n, good);
	CHECK_EQ(diag.detail, line);
	CHECK_EQ(diag.offset, at);
}

static void test_bad(void)
{
	check_bad("hex", "00 11\n22 3 44", 3, 2, 10);
	check_bad("hex", "00 1g", 1, 1, 4);
	check_bad("hex", "00\n\n*\n", 1, 3, 4);
	check_bad("hex_words", "0011 223", 2, 1, 8);
	check_bad("hex_words", "00112233445566778", 0, 1, 16);
}

/* More than one block, in lines, in one line, and as one number. */
static void test_large(const char *name, const char *separator, unsigned group)
{
	const struct hf_box *box = hf_box_by_name(name);
	const size_t count = 3u << 20, cap = 4 * count;
	char *text = malloc(cap + 16);
	uint8_t *bytes = malloc(count);
	struct hf_diag diag;
	size_t size = 0, n;

	CHECK(text && bytes);
	for (size_t i = 0; i < count; i++) {
		static const char digits[] = "0123456789abcdef";
		const uint8_t byte = (uint8_t)(i * 37 + (i >> 8));

		text[size++] = digits[byte >> 4];
		text[size++] = digits[byte & 15];
		if (i % group == group - 1 && *separator)
			text[size++] = *separator;
	}
	CHECK_EQ(scan(box, text, size, bytes, &n, &diag), HF_NOTE_END);
	CHECK_EQ(n, count);
	for (size_t i = 0; i < count; i++) {
		const size_t from = strcmp(name, "hex") == 0 ? i : i - i % group + group - 1 - i % group;

		CHECK_EQ(bytes[i], (uint8_t)(from * 37 + (from >> 8)));
	}
	free(bytes);
	free(text);
}

int main(void)
{
	test_lines();
	test_bad();
	test_large("hex", "\n", 16);
	test_large("hex", " ", 4);
	test_large("hex", "", 1);
	test_large("hex_words", "\n", 4);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ASTF files whose records are compressed (ASTF 4.2.1): a header of 32 bytes in clear, then an .xz or .lzma stream
 * ("LZMA") or a zlib or gzip stream ("Zlib"). Their stream is the file as it would be without compression: the header
 * says so, and the offsets of the records are those of that file. What the stream behind the header is, content shows.
 */
#include "codecs/source/unpack.h"

#include <string.h>

/* format_cfg, byte 8 of the header of 32 */
enum { PREFIX = 32, FORMAT = 8, COMPRESSED = 1, USE_ZLIB = 2 };

static void make_plain(uint8_t *bytes)
{
	bytes[FORMAT] &= (uint8_t)~(COMPRESSED | USE_ZLIB);
}

static bool is_compressed(const uint8_t *head, size_t n)
{
	return n > FORMAT && !memcmp(head, "ASTF", 4) && (head[FORMAT] & COMPRESSED);
}

/* Whether the box of a container takes what is behind the header for its own. */
static bool holds(const struct hf_box *box, const uint8_t *head, size_t n, uint64_t file_size)
{
	return n > PREFIX && box->probe(head + PREFIX, n - PREFIX, file_size) > 0;
}

static int xz_probe(const uint8_t *head, size_t n, uint64_t file_size)
{
	return is_compressed(head, n) && holds(&hf_box_xz, head, n, file_size) ? 100 : 0;
}

/* zlib has no magic number, so the header's word is asked for; gzip speaks for itself. */
static int zlib_probe(const uint8_t *head, size_t n, uint64_t file_size)
{
	if (!is_compressed(head, n) || xz_probe(head, n, file_size))
		return 0;
	return (head[FORMAT] & USE_ZLIB) || holds(&hf_box_gzip, head, n, file_size) ? 100 : 0;
}

/* All the rest: what is not .lzma either is for its decoder to refuse. */
static int lzma_probe(const uint8_t *head, size_t n, uint64_t file_size)
{
	return is_compressed(head, n) && !xz_probe(head, n, file_size) && !zlib_probe(head, n, file_size) ? 100 : 0;
}

/* The codec's own. */
static const char *const no_suffixes[] = {NULL};

#define BOX .suffixes = no_suffixes, .codec = "astf", .prefix = PREFIX, .head = make_plain

const struct hf_box hf_box_astf_xz = {
	HF_UNPACK_BOX_ENTERABLE, BOX, .name = "astf-xz", .slow = true, .probe = xz_probe, .unpack = &hf_unpack_xz};
const struct hf_box hf_box_astf_lzma = {
	HF_UNPACK_BOX, BOX, .name = "astf-lzma", .probe = lzma_probe, .unpack = &hf_unpack_lzma};
const struct hf_box hf_box_astf_zlib = {
	HF_UNPACK_BOX_ENTERABLE,
	BOX,
	.name = "astf-zlib",
	.probe = zlib_probe,
	.thin_window = hf_unpack_thin_window,
	.unpack = &hf_unpack_gzip,
};

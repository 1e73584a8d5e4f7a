/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ASTF files whose records are compressed (ASTF 4.2.1): a header of 32 bytes in clear, then an .xz or .lzma stream
 * ("LZMA") or a zlib or gzip stream ("Zlib"). Their stream is the file as it would be without compression: the header
 * says so, and the offsets of the records are those of that file. What the stream behind the header is, content shows.
 */
#include "codecs/source/unpack.h"

#include <string.h>

/* format_cfg, byte 8 of the header */
enum { FORMAT = 8, COMPRESSED = 1, USE_ZLIB = 2 };

void hf_astf_prefix_head(uint8_t *bytes)
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
	return n > HF_ASTF_PREFIX && box->probe(head + HF_ASTF_PREFIX, n - HF_ASTF_PREFIX, file_size) > 0;
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

#define FUNCTIONS(container) \
	static int container##_scan_new(struct hf_src *base, const struct hf_point *resume, const uint8_t *window, \
					struct hf_scan **ret_scan, struct hf_diag *diag) \
	{ \
		return hf_unpack_scan_new(&hf_unpack_astf_##container, base, resume, window, ret_scan, diag); \
	}
#define BLOCKS(container) \
	static int container##_read_block(struct hf_src *base, const struct hf_point *point, const uint8_t *window, \
					  uint64_t skip, void *buf, size_t n, struct hf_diag *diag) \
	{ \
		return hf_unpack_read_block(&hf_unpack_astf_##container, base, point, window, skip, buf, n, diag); \
	}
#define BOX(container) \
	.name = "astf-" #container, .suffixes = no_suffixes, .codec = "astf", .probe = container##_probe, \
	.scan_new = container##_scan_new, .scan_next = hf_unpack_scan_next, .scan_note = hf_unpack_scan_note, \
	.scan_free = hf_unpack_scan_free, .scan_memory = hf_unpack_scan_memory

/* The codec's own. */
static const char *const no_suffixes[] = {NULL};

FUNCTIONS(xz)
FUNCTIONS(lzma)
FUNCTIONS(zlib)
BLOCKS(xz)
BLOCKS(zlib)

static int zlib_thin_window(struct hf_src *base, struct hf_point *point, uint8_t *window)
{
	return hf_unpack_thin_window(&hf_unpack_astf_zlib, base, point, window);
}

const struct hf_box hf_box_astf_xz = {BOX(xz), .enterable = true, .read_block = xz_read_block};
const struct hf_box hf_box_astf_zlib = {
	BOX(zlib), .enterable = true, .read_block = zlib_read_block, .thin_window = zlib_thin_window};
const struct hf_box hf_box_astf_lzma = {BOX(lzma), .enterable = false};

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the containers share, internal to this folder: a container supplies an unpacker (start at a point, decode a
 * step, say where it stands), and unpack.c makes of it the scans and block reads that source.h promises.
 */
#ifndef HF_SOURCE_UNPACK_H
#define HF_SOURCE_UNPACK_H

#include "codecs/source/reader.h"

/* Input window: also the most that hf_unpack_need can make contiguous. */
#define HF_UNPACK_INPUT (64u * 1024)

/* The largest unit (xz block, zstd frame, deflate block) that becomes one block; larger ones come in pieces. */
#define HF_UNPACK_WHOLE (UINT64_C(4) << 20)

/* Notes kept by one scan; a container with more harmless defects than this has made its point. */
#define HF_UNPACK_NOTES 1024

/* The longest of what may stand before a container in its file. */
#define HF_UNPACK_PREFIX 64

/* What a step says about the place where it stopped. */
enum hf_mark {
	HF_MARK_NONE,
	HF_MARK_FREE,	/* decoding can start here with nothing but the point */
	HF_MARK_WINDOW, /* decoding can start here if it is given the window */
	HF_MARK_DOUBT,	/* with an error: the bytes since the last mark may be wrong and must not be served */
};

struct hf_unpack {
	const struct hf_box *box;
	const struct hf_unpack_ops *ops; /* of box */
	struct hf_reader in;
	uint64_t pos;  /* file offset of the next byte that the unpacker takes */
	bool scanning; /* checksums, notes and marks are wanted; otherwise it is one block being read */
	struct hf_diag *notes;
	size_t note_count;
};

struct hf_unpack_ops {
	size_t size; /* of the unpacker, whose first member is struct hf_unpack */
	/* Blocks end at the first FREE or WINDOW mark at or behind this many bytes, or at whole bytes. */
	uint64_t aim_free, aim_window, whole;
	uint32_t window; /* bytes of history that windows are made of, 0 without WINDOW marks */
	/* Zeroed but for the members above; at->in_offset is 0 for the beginning. window holds at->window_size. */
	int (*start)(struct hf_unpack *u, const struct hf_point *at, const uint8_t *window, struct hf_diag *diag);
	/*
	 * Decodes at most cap >= 1 bytes, perhaps none (a header was read); *ret_n is valid whatever is returned, and
	 * is 0 before, as *ret_mark is HF_MARK_NONE. HF_NOTE_END and errors are final.
	 */
	int (*step)(struct hf_unpack *u, uint8_t *out, size_t cap, size_t *ret_n, enum hf_mark *ret_mark,
		    struct hf_diag *diag);
	/*
	 * After an error that is damage: goes behind the unit that has it, so that step can go on, and fills in *hole
	 * (of which out_size says how many bytes since the last mark were handed out before it): in_offset, in_size,
	 * out_size and bits, with HF_POINT_DAMAGED. Anything but 0: it is not known where the unit ends. NULL: never.
	 */
	int (*skip)(struct hf_unpack *u, struct hf_point *hole, struct hf_diag *diag);
	/* Directly after a mark: bits and window_size of the point for this place, which are 0. NULL: they stay so. */
	void (*point)(const struct hf_unpack *u, struct hf_point *ret_point);
	/* What start has made, also one that failed. NULL: nothing. */
	void (*stop)(struct hf_unpack *u);
	/* Bytes that the decompressor holds. NULL: none. */
	uint64_t (*memory)(const struct hf_unpack *u);
};

/* The functions of struct hf_box for what has unpack. */
int hf_unpack_scan_new(const struct hf_box *box, struct hf_src *base, const struct hf_point *resume,
		       const uint8_t *window, struct hf_scan **ret_scan, struct hf_diag *diag);
int hf_unpack_scan_next(struct hf_scan *scan, struct hf_point *ret_point, const uint8_t **ret_bytes,
			const uint8_t **ret_window, struct hf_diag *diag);
int hf_unpack_scan_note(struct hf_scan *scan, size_t i, struct hf_diag *ret_diag);
void hf_unpack_scan_free(struct hf_scan *scan);
uint8_t *hf_unpack_scan_swap(struct hf_scan *scan, uint8_t *spare, size_t size);
bool hf_unpack_scan_keep(struct hf_scan *scan);
uint64_t hf_unpack_scan_memory(const struct hf_scan *scan);
struct hf_src *hf_unpack_scan_base(const struct hf_scan *scan);
int hf_unpack_read_block(const struct hf_box *box, struct hf_src *base, const struct hf_point *point,
			 const uint8_t *window, uint64_t skip, void *buf, size_t n, struct hf_diag *diag);

/* struct hf_box's thin_window, for what refers to nothing further back than HF_WINDOW_MAX bytes (window.c). */
int hf_unpack_thin_window(const struct hf_box *box, struct hf_src *base, struct hf_point *point, uint8_t *window);

/* The rows of struct hf_box that all of them have; those with blocks also ENTERABLE. */
#define HF_UNPACK_BOX \
	.scan_new = hf_unpack_scan_new, .scan_next = hf_unpack_scan_next, .scan_note = hf_unpack_scan_note, \
	.scan_free = hf_unpack_scan_free, .scan_swap = hf_unpack_scan_swap, .scan_memory = hf_unpack_scan_memory, \
	.scan_base = hf_unpack_scan_base, .scan_keep = hf_unpack_scan_keep
#define HF_UNPACK_BOX_ENTERABLE HF_UNPACK_BOX, .enterable = true, .read_block = hf_unpack_read_block

/* What is inside more than one container: the records of an ASTF file are behind its header in one of these. */
extern const struct hf_unpack_ops hf_unpack_gzip, hf_unpack_xz, hf_unpack_lzma;

/*
 * Makes n <= HF_UNPACK_INPUT bytes at u->pos contiguous: *ret_p[*ret_n], more than n if they are at hand, fewer only
 * at the end of the file.
 */
int hf_unpack_need(struct hf_unpack *u, size_t n, const uint8_t **ret_p, size_t *ret_n, struct hf_diag *diag);

/* The same where fewer are an error (HF_ERR_BOX_CUT); u->pos moves behind them. */
int hf_unpack_take(struct hf_unpack *u, size_t n, const uint8_t **ret_p, struct hf_diag *diag);

/* HF_ERR_BOX_CUT with the end of the file as its place. */
int hf_unpack_cut(const struct hf_unpack *u, struct hf_diag *diag);

/* 0, or HF_ERR_STREAM_MEMORY at file offset at if decompressing from there takes more bytes than it may. */
int hf_unpack_afford(const struct hf_unpack *u, uint64_t bytes, uint64_t at, struct hf_diag *diag);

/* The most bytes it may take. */
uint64_t hf_unpack_limit(const struct hf_unpack *u);

/* An error at file offset at, of whose unit no byte is to be served. */
int hf_unpack_doubt(int code, uint64_t at, enum hf_mark *ret_mark, struct hf_diag *diag);

/* Adds a note about file offset at; never fails, and does nothing when not scanning. */
void hf_unpack_note(struct hf_unpack *u, int code, uint64_t at, uint64_t detail);

#endif

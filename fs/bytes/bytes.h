/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes that are served: what a file of a view directory holds, cut into pieces that the cache knows by number. Each
 * kind is a table of functions: the decompressed stream (stream.c), a view in chunks (chunks.c), the program of a hart
 * and the files beside it (program.c), a view of a slice (slice.c), the views of all harts as one (merged.c), a text
 * about the capture (text.c). Requests, the cache and the pool know nothing but this table.
 */
#ifndef HF_FS_BYTES_H
#define HF_FS_BYTES_H

#include "fs/base/common.h"
#include "fs/capture/opened.h"
#include "fs/capture/repair.h"

/* Pieces of what is cut evenly. */
#define HF_EVEN_PIECE (UINT64_C(1) << 20)

struct hf_bytes;

/* One piece as the cache knows it. Offsets are those of the whole if the bytes have a base. */
struct hf_piece {
	uint64_t number, offset, size;
	bool parts; /* a part of it can be made alone */
};

/*
 * open is the capture, opened in the version of the bytes; NULL if these are closed. A promise of the index that is not
 * kept is HF_ERR_MISMATCH.
 */
struct hf_bytes_ops {
	/* The piece at an offset, or the one with a number: HF_NOTE_END behind the last. Neither makes it. */
	int (*piece_at)(const struct hf_bytes *bytes, struct hf_open *open, uint64_t offset,
			struct hf_piece *ret_piece);
	int (*piece)(const struct hf_bytes *bytes, struct hf_open *open, uint64_t number, struct hf_piece *ret_piece);
	/* Writes the bytes of a piece: to has room for piece->size + HF_SINK_ROOM of them. */
	int (*fill)(const struct hf_bytes *bytes, struct hf_open *open, const struct hf_piece *piece,
		    struct hf_worker *worker, uint8_t *to);
	/* The piece as a block of the cache, pinned, that others use too: then it is not filled. Otherwise HF_NOTE_END, or an
	 * error, which filling it meets again. NULL: there are no such blocks. */
	int (*lend)(const struct hf_bytes *bytes, struct hf_open *open, const struct hf_piece *piece,
		    struct hf_cache_block **ret_block);
	/* A small read from somewhere within pieces that have parts: makes no more than it must. */
	int (*read_once)(const struct hf_bytes *bytes, struct hf_open *open, struct hf_worker *worker, uint64_t offset,
			 uint8_t *buf, size_t size);
	/* The instruction of the hart that the byte at an offset (of the whole) belongs to: hartfs_view_ordinal. NULL: no
	 * instructions make these bytes. */
	int (*ordinal)(const struct hf_bytes *bytes, struct hf_open *open, uint32_t hart, uint64_t offset,
		       struct hf_worker *worker, uint64_t *ret_ordinal);
	/* References to bytes->own; NULL if there is none. */
	void (*ref)(const struct hf_bytes *bytes);
	void (*unref)(const struct hf_bytes *bytes);
	bool table;	 /* pieces are found and made with the table of the view */
	size_t at_once;	 /* pieces in one reply, which is short then, and made ahead; 0: as many as are wanted */
};

struct hf_bytes {
	const struct hf_bytes_ops *ops;
	struct hf_capture *capture;
	uint64_t version;
	uint64_t owner; /* in the cache */
	uint64_t size;
	uint32_t hart;
	size_t view;		/* its number, of a view; of a text, which one */
	bool closed;		/* the capture could not be indexed: there is nothing to open */
	uint64_t base;		/* of a slice of lines: it begins there in the whole, whose pieces these are */
	void *own;		/* what else they belong to, as their kind says: another slice; borrowed: hf_bytes_ref */
};

/* References to what the bytes belong to. */
void hf_bytes_ref(const struct hf_bytes *bytes);
void hf_bytes_unref(const struct hf_bytes *bytes);

extern const struct hf_bytes_ops hf_bytes_stream, hf_bytes_chunks, hf_bytes_program, hf_bytes_side, hf_bytes_text,
	hf_bytes_slice;

/* The views of all harts as one, merged by time. */
int hf_bytes_of_merged(struct hf_capture *capture, const struct hf_facts *facts, struct hf_bytes *ret_bytes);

/* ---- what is cut evenly ---- */

int hf_bytes_even_at(const struct hf_bytes *bytes, struct hf_open *open, uint64_t offset, struct hf_piece *ret_piece);
int hf_bytes_even(const struct hf_bytes *bytes, struct hf_open *open, uint64_t number, struct hf_piece *ret_piece);

/* ---- making them ---- */

/* hf_capture_reopen for what the kind needs of the index; NULL if the bytes are closed. */
int hf_bytes_open(const struct hf_bytes *bytes, unsigned wait_ms, struct hf_open **ret_open);
/* Ends that; err: of what was done with it, for hf_open_blame. open may be NULL. */
void hf_bytes_close(struct hf_open *open, int err);
/* Whether the capture is still of their version: looks at the file. HF_ERR_CHANGED. */
int hf_bytes_check(const struct hf_bytes *bytes);
/*
 * The same behind what was made of the capture with this outcome, and the outcome as it is then. This one look is enough,
 * for bytes and errors of a file that changed before or meanwhile are nobody's; nor is the index to blame for them.
 */
int hf_bytes_check_made(const struct hf_bytes *bytes, int err);

/* Makes a piece, malloc'ed, and looks at nothing else. */
int hf_bytes_make_piece(const struct hf_bytes *bytes, struct hf_open *open, uint64_t number, struct hf_worker *worker,
			uint8_t **ret_bytes, size_t *ret_size);
/*
 * Makes a piece, as long as the capture is of the version of the bytes. What does not come out as promised costs the
 * capture its index.
 */
int hf_bytes_make(const struct hf_bytes *bytes, uint64_t number, struct hf_worker *worker, uint8_t **ret_bytes,
		  size_t *ret_size);

/* Has block, which the cache wants to be made, made by the pool. */
void hf_bytes_submit(const struct hf_bytes *bytes, uint64_t number, struct hf_cache_block *block,
		     enum hf_urgency urgency);

/* What an encoder of that view finds outside on this thread. */
void hf_view_env(struct hf_worker *worker, const struct hf_open *open, size_t view);

struct hf_captures;
/* hf_fs_verify. */
int hf_bytes_verify(struct hf_captures *all, const char *path, uint64_t *ret_chunks, uint64_t *ret_bad,
		    struct hf_diag *diag);

#endif

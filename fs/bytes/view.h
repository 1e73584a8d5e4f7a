/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Open files, and the way of a read: which chunks it needs, who makes them, and when all are there. Internal to this
 * folder.
 */
#ifndef HF_FS_VIEW_H
#define HF_FS_VIEW_H

#include "fs/core.h"

/* Pieces in which a decompressed stream is cached. */
#define HF_SOURCE_PIECE (UINT64_C(1) << 20)

/* What is read through the cache: a view of a hart, or (view < 0) the decompressed stream. */
struct hf_view {
	struct hf_capture *capture;
	uint64_t version;
	uint64_t owner; /* in the cache */
	uint64_t size;
	uint32_t hart;
	int view; /* its number */
	uint64_t base;          /* of a slice of lines: it begins there in the whole, whose pieces these are */
	struct hf_slice *slice; /* of any other slice, whose own they are; borrowed */
};

/* One piece of a view as the cache knows it. */
struct hf_piece {
	uint64_t number, offset, size;
};

/* What an encoder of that view finds outside on this thread. */
void hf_view_env(struct hf_worker *worker, const struct hf_open *open, size_t view);

/* hf_capture_reopen for what is needed of the index to make pieces of the view. */
int hf_view_open(const struct hf_view *view, unsigned wait_ms, struct hf_open **ret_open);

/* Offsets of pieces are those of the whole if the view has a base. */
/* Everything about a piece that can be known without making it. open is of the view's version. */
int hf_view_piece_of(const struct hf_view *view, struct hf_open *open, uint64_t offset, struct hf_piece *ret_piece);
/* The piece with that number; HF_NOTE_END behind the last. */
int hf_view_piece(const struct hf_view *view, struct hf_open *open, uint64_t number, struct hf_piece *ret_piece);

/*
 * Makes the bytes of a piece: malloc'ed, exactly as many as promised, and as the index has them, or an error. A view
 * that does not come out as promised costs the capture its index.
 */
int hf_view_make(const struct hf_view *view, uint64_t number, struct hf_worker *worker, uint8_t **ret_bytes,
		 size_t *ret_size);

/* Has block, which the cache wants to be made, made by the pool. */
void hf_view_submit(const struct hf_view *view, uint64_t number, struct hf_block *block, enum hf_urgency urgency);

/* What one reader does: whether it goes forward, and up to which piece was made ahead of it. */
struct hf_reading {
	pthread_mutex_t lock;
	uint64_t expected;    /* end of the farthest read */
	unsigned streak;      /* reads near expected, one after the other */
	uint64_t ahead;       /* pieces before this number were asked for */
	uint64_t planned;     /* reads up to here see nothing more to be asked for */
	uint64_t once;        /* piece + 1 of the last read that went around the cache */
};

enum hf_file_kind {
	HF_FILE_PLAIN, /* the archive's own */
	HF_FILE_TEXT,  /* made when opened */
	HF_FILE_VIEW,
};

struct hf_file {
	struct hf_fs *fs;
	struct hf_node *node; /* one reference */
	enum hf_file_kind kind;
	struct hf_held *held; /* PLAIN */
	struct hf_sink text;  /* TEXT: a memory sink */
	uint64_t version;     /* TEXT: of the capture, if the text can be made again; 0: it stays */
	struct hf_kept kept;  /* TEXT: of a text that can be made again; reading.lock is held to make it */
	struct hf_view view;  /* VIEW; of its slice one reference */
	struct hf_reading reading;
};

/* What a read holds until it is released: pinned blocks, or bytes of its own. In struct hf_read.state. */
struct hf_request;
/* bytes (malloc'ed) become the request's. */
int hf_request_new(struct hf_fs *fs, struct hf_read *read, size_t waits, uint8_t *bytes, struct hf_request **ret_rq);

/* The read of a VIEW. */
void hf_view_read(struct hf_fs *fs, struct hf_read *read);

#endif

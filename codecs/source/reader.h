/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A window over a source, for decoders that walk forward: it keeps one stretch of the stream contiguous in memory,
 * so that parsing is pointer arithmetic. Going back is possible inside the window only.
 */
#ifndef HF_SOURCE_READER_H
#define HF_SOURCE_READER_H

#include "codecs/source/source.h"

#define HF_READER_CAP (64u * 1024)

struct hf_reader {
	struct hf_src *src; /* borrowed */
	uint8_t *own;       /* [cap], owned */
	const uint8_t *buf; /* own, or what the source lends, which is not less */
	size_t cap;
	uint64_t start;     /* stream offset of buf[0] */
	size_t len;         /* valid bytes in buf; of own up to cap */
	bool ended;         /* no bytes follow buf[len]: the end, or damage (err) */
	int err;            /* 0, or why nothing follows */
	struct hf_diag diag;
};

int hf_reader_init(struct hf_reader *r, struct hf_src *src, size_t cap);
void hf_reader_fini(struct hf_reader *r);

/* Moves the window so that it begins at offset (bytes already held are kept) and fills it. Up to the owner: r->cap
 * may not be exceeded by one record or group; hf_reader_grow makes it larger. */
int hf_reader_seek(struct hf_reader *r, uint64_t offset);

/* Doubles the capacity; HF_ERR_LIMIT beyond max. */
int hf_reader_grow(struct hf_reader *r, size_t max);

/* The byte at offset, and how many there are from it on; offset is in the window, or right behind it. */
static inline const uint8_t *hf_reader_at(const struct hf_reader *r, uint64_t offset)
{
	return r->buf + (offset - r->start);
}

static inline size_t hf_reader_there(const struct hf_reader *r, uint64_t offset)
{
	return (size_t)(r->start + r->len - offset);
}

/* The same as hf_reader_need where the bytes are not at hand. */
int hf_reader_fetch(struct hf_reader *r, uint64_t offset, uint64_t n, size_t max);

/* Makes the window hold [offset, offset + n), for which it may become max long; bytes before offset may go.
 * HF_NOTE_END: the source ends before, and what there is from offset on is held. */
static inline int hf_reader_need(struct hf_reader *r, uint64_t offset, uint64_t n, size_t max)
{
	if (offset >= r->start && offset <= r->start + r->len && n <= hf_reader_there(r, offset))
		return 0;
	return hf_reader_fetch(r, offset, n, max);
}

#endif

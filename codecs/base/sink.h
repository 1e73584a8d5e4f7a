/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where an encoder puts its bytes. A sink hands out room in large pieces and is emptied by its owner's flush: into
 * a chunk being made, into a checksum while indexing, or nowhere when only the length is wanted.
 */
#ifndef HF_BASE_SINK_H
#define HF_BASE_SINK_H

#include "codecs/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* The most an encoder may ask for at once, and the slack that a buffer of a sink must have. */
#define HF_SINK_ROOM 4096

struct hf_sink {
	uint8_t *start, *p, *end;
	uint64_t flushed; /* bytes that went through flush before start */
	/* Takes [start, p) and leaves at least HF_SINK_ROOM bytes of room, or returns an error and leaves it full. */
	int (*flush)(struct hf_sink *sink);
	int err; /* sticky */
	bool counts; /* the bytes are dropped: an encoder that knows how many there are may say so instead */
};

static inline uint64_t hf_sink_total(const struct hf_sink *sink)
{
	return sink->flushed + (uint64_t)(sink->p - sink->start);
}

/* For a sink that counts: n bytes, as if they had been written. */
static inline void hf_sink_count(struct hf_sink *sink, uint64_t n)
{
	sink->flushed += n;
}

int hf_sink_refill(struct hf_sink *sink);

/*
 * Makes sure that n <= HF_SINK_ROOM bytes fit behind sink->p; the caller writes there and advances p. After an
 * error the room is a scratch area whose content is dropped, so emitters need not check; the owner reads sink->err.
 */
static inline uint8_t *hf_sink_room(struct hf_sink *sink, size_t n)
{
	if ((size_t)(sink->end - sink->p) < n)
		hf_sink_refill(sink);
	return sink->p;
}

/* Any number of bytes. */
void hf_sink_write(struct hf_sink *sink, const void *data, size_t n);
/* Text, of which only the first 511 bytes are written. */
void hf_sink_printf(struct hf_sink *sink, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A sink into buf[cap]: cap >= HF_SINK_ROOM; more than cap bytes is HF_ERR_LIMIT. */
void hf_sink_init_buffer(struct hf_sink *sink, uint8_t *buf, size_t cap);

/* A growing memory sink: bytes are sink.start .. sink.p; free with hf_sink_fini_memory, which does no harm after
 * HF_ERR_NOMEM either. */
int hf_sink_init_memory(struct hf_sink *sink, size_t cap);
void hf_sink_fini_memory(struct hf_sink *sink);

/* Counts and drops: buf[cap], cap >= 2 * HF_SINK_ROOM, is reused over and over. */
void hf_sink_init_count(struct hf_sink *sink, uint8_t *buf, size_t cap);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the decoders of records.txt share. The text is made page by page: a page ends with the piece that makes it
 * HF_RECORDS_PAGE bytes long, and is given as DATA events. Pages depend on nothing but the place where the first one
 * begins, and so do their events; a place between two of them is entered where its page begins (codecs/README.md,
 * form B).
 *
 * A codec embeds struct hf_records first in its decoder, says in struct hf_records_ops how the text of its records is
 * made, and has the functions below in its struct hf_dec_ops.
 *
 * A codec with many small records need not make their text: it gives each as a RECORD event, and struct hf_record_ops
 * says what line that is. The encoder makes it, or looks up its length where nobody wants the bytes.
 */
#ifndef HF_RECORDS_H
#define HF_RECORDS_H

#include "codecs/codec.h"

#define HF_RECORDS_PAGE 2048
/* The most that one put may add behind that: a line, or an element of a list. */
#define HF_RECORDS_LINE 1024

struct hf_records;

struct hf_records_ops {
	/*
	 * Adds what comes next, be it nothing, to the page (hf_records_text, hf_records_keep), or sets ended if nothing
	 * does. After an error, what was added is given before it.
	 */
	int (*put)(struct hf_records *r);
	/* Gives the next records as events, max at the most: as many as can be, whatever is in the window. 0: what
	 * comes next is text. A page is then what one put adds. NULL: all is text. */
	size_t (*give)(struct hf_records *r, struct hf_event *ev, size_t max);
	/* Visits the fields of a place. Saving: the one behind the page, or fails f if it cannot be entered there. Loading:
	 * goes there; ended is false and may be set. */
	void (*place)(struct hf_records *r, struct hf_fields *f);
};

struct hf_records {
	struct hf_dec dec; /* first */
	const struct hf_records_ops *ops;
	const struct hf_reader *reader; /* the codec's own, whose diag goes with errors */
	bool ended;           /* nothing follows the page */
	int err;              /* nothing but this follows the page */
	uint32_t used, given; /* bytes of the page */
	uint64_t done;        /* events given since the mark */
	size_t mark_size;
	uint8_t mark[HF_STATE_MAX - 1]; /* where this page begins, or an earlier one if that cannot be entered */
	uint8_t page[HF_RECORDS_PAGE + HF_RECORDS_LINE];
};

/* The last step of an init: the decoder stands where the text begins. */
void hf_records_begin(struct hf_records *r, const struct hf_records_ops *ops, const struct hf_reader *reader);

int hf_records_next(struct hf_dec *dec, struct hf_event *ev, size_t max, size_t *ret_n);
uint64_t hf_records_state(struct hf_dec *dec, struct hf_fields *f);

/*
 * How the encoder tells RECORD events. Such an event is one record; or, of a codec that has sizes, its bytes are those
 * of the stream from there on, and it is as many records as its flags say, all of which lie within them as a whole.
 */
struct hf_record_ops {
	/* The line from behind the offset on, its end included, to t[HF_RECORDS_LINE], of the record that begins with
	 * that byte of the event; returns its end. */
	uint8_t *(*put)(uint8_t *t, const struct hf_event *ev, unsigned at);
	/* All that the length of that depends on; up to 255: the first byte, and it says it for all records that have it. */
	uint64_t (*key)(const struct hf_event *ev, unsigned at);
	/* The sizes of records by their first byte; of one that is alone it does not matter. NULL: each event is one.
	 */
	const uint8_t *sizes;
};

/* Bytes that an event has of the stream. */
#define HF_RECORD_BYTES ((unsigned)sizeof(((struct hf_ev_data *)0)->bytes))

/* Records that begin behind that are text. */
#define HF_RECORD_OFFSET_MAX ((UINT64_C(1) << 48) - 1)

/* A RECORD event of the record at that offset of the stream: flags and bytes are the codec's to fill in. */
static inline void hf_record_begin(struct hf_event *ev, uint64_t offset)
{
	*ev = (struct hf_event){.kind = HF_EVENT_RECORD, .any = (uint16_t)offset, .size = (uint32_t)(offset >> 16)};
}

static inline uint64_t hf_record_offset(const struct hf_event *ev)
{
	return ev->any | (uint64_t)ev->size << 16;
}

/* Where a put writes: the end of the page's text. */
static inline uint8_t *hf_records_text(struct hf_records *r)
{
	return r->page + r->used;
}

/* The text now ends there. */
static inline void hf_records_keep(struct hf_records *r, const uint8_t *end)
{
	r->used = (uint32_t)(end - r->page);
}

#endif

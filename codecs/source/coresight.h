/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CoreSight formatter frames: several sources in one stream, each byte with the 7-bit trace id of its source. A frame
 * has 16 bytes; byte 15 holds the lowest bits of the even bytes before it, which tell ids from data.
 */
#ifndef HF_SOURCE_CORESIGHT_H
#define HF_SOURCE_CORESIGHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HF_CORESIGHT_FRAME 16
#define HF_CORESIGHT_DATA 15 /* bytes of data that a frame holds at most */
#define HF_CORESIGHT_IDS 128
#define HF_CORESIGHT_ID_MAX 0x6f /* of a source; 0 is padding, above are triggers and reserved ones */
#define HF_CORESIGHT_ID_FLUSH 0x7b
#define HF_CORESIGHT_ID_TRIGGER 0x7d
#define HF_CORESIGHT_ID_NONE 0x7f /* no source has it: the id of bytes whose id is not known */
#define HF_CORESIGHT_GUESSED 0x80 /* beside an id: that frames begin here is a guess (sync.h) */

enum hf_coresight_layout {
	HF_CORESIGHT_NONE,    /* no frames: the bytes of one source */
	HF_CORESIGHT_ALIGNED, /* frames from the first byte on, as in memory; four FSYNCs together: a discontinuity */
	HF_CORESIGHT_SYNCED,  /* as on pins: frames begin behind an FSYNC, and HSYNCs stand inside them too */
	HF_CORESIGHT_DSTREAM, /* blocks of 504 bytes of a SYNCED stream and 8 of something else */
	HF_CORESIGHT_LAYOUTS
};

/* Of one framing, before the byte at offset. At the start of a frame (fill 0) it is all in offset, id and locked. */
struct hf_coresight {
	uint64_t start;  /* stream offset where the framing begins: what DSTREAM blocks count from */
	uint64_t offset; /* stream offset of the next byte */
	uint8_t layout;  /* enum hf_coresight_layout but NONE */
	uint8_t id;      /* of data, 0: nobody's */
	bool locked;     /* frames begin at offset - fill; else they are looked for from there on (sync.h) */
	bool guessed;    /* that they do is a guess */
	uint8_t fill;    /* bytes of a frame that has begun */
	uint8_t frame[HF_CORESIGHT_FRAME];
	uint64_t at[HF_CORESIGHT_FRAME]; /* their stream offsets */

	uint64_t lost;       /* not locked: since here; behind a LOST: what was left out */
	uint8_t lost_before; /* hf_coresight_before there; 0 at the start */
	uint64_t good;       /* guessed: frames that begin before here are good */
	uint64_t next;       /*   and those from good on are none: go on here; HF_NOWHERE: that is not known */
	bool next_known;     /*   where frames begin; else they have to be looked for */
};

enum hf_coresight_flags {
	HF_CORESIGHT_RESET = 1, /* a discontinuity: what follows does not continue what was before, of no source */
	HF_CORESIGHT_CUT = 2,   /* and the frame before it was not complete */
	HF_CORESIGHT_LOST = 4,  /* and bytes from lost on were left out, which are no frames */
	HF_CORESIGHT_FOUND = 8, /* and that frames begin where it goes on is a guess */
};

/* The data of one frame, in order. */
struct hf_coresight_data {
	uint64_t frame;  /* stream offset of the frame; HF_NOWHERE: none */
	uint8_t before;  /* hf_coresight_before where it begins */
	uint8_t flags;   /* enum hf_coresight_flags */
	uint8_t count;
	uint8_t id[HF_CORESIGHT_DATA];
	uint8_t byte[HF_CORESIGHT_DATA];
	uint64_t at[HF_CORESIGHT_DATA]; /* stream offset of the byte */
};

void hf_coresight_init(struct hf_coresight *cs, enum hf_coresight_layout layout, uint64_t start);

/* What is to be known where a frame begins, to go on from there: the id that holds, and whether it is guessed. */
static inline uint8_t hf_coresight_before(const struct hf_coresight *cs, uint8_t id)
{
	return cs->guessed ? id | HF_CORESIGHT_GUESSED : id;
}

/* Whether an FSYNC begins at stream offset at, from where on the bytes p[n] are. Not of an ALIGNED stream. */
bool hf_coresight_is_fsync(const struct hf_coresight *cs, uint64_t at, const uint8_t *p, size_t n);

/*
 * Goes on with p[n], the bytes from cs->offset, up to the end of a frame at most, and returns how many it took: data
 * of id 0 is left out, so count may be 0. If it takes 0 it wants more (at most 16) to follow p. A RESET has no data.
 * cs is locked.
 */
size_t hf_coresight_take(struct hf_coresight *cs, const uint8_t *p, size_t n, struct hf_coresight_data *ret_data);

/* Adds the ids that stand in ALIGNED frames p[n], which begin with one, to seen, one bit for each: those that may have data
 * there. Returns how many bytes it took: less than a frame is left. */
size_t hf_coresight_ids(const uint8_t *p, size_t n, uint64_t seen[2]);

#endif

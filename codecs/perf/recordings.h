/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recordings of a perf.data: each AUX record is one, and says which bytes of which buffer it is. AUXTRACE records have
 * these bytes, in any order. A recording is never longer than what it says: between two lies padding.
 */
#ifndef HF_PERF_RECORDINGS_H
#define HF_PERF_RECORDINGS_H

#include "codecs/perf/attrs.h"

/* Of one file. */
#define HF_PERF_RECORDINGS_MAX (1u << 20)
#define HF_PERF_PIECES_MAX (1u << 22)

#define HF_PERF_NO_CPU UINT32_MAX

/* An AUX record, or trace that none tells of. */
struct hf_perf_recording {
	uint64_t offset, size; /* in its buffer, as running positions */
	uint64_t time;	       /* when it ended; 0: nobody says */
	uint64_t flags;	       /* enum hf_perf_aux */
	uint32_t cpu, pid, tid; /* cpu HF_PERF_NO_CPU, tid UINT32_MAX: not said */
	bool stray;	       /* no AUX record tells of it */
	/* Where its bytes are, once matched; there false: nowhere. */
	bool there;
	uint32_t file;
	uint64_t at;
};

/* An AUXTRACE record. */
struct hf_perf_piece {
	uint64_t key;	       /* which buffer: a CPU, or 1 << 32 | thread */
	uint64_t offset, size; /* in the buffer */
	uint64_t at;	       /* in the file */
	uint32_t file;
	bool used;
};

/* AUX_OUTPUT_HW_ID: which trace id a CPU has in a sink. */
struct hf_perf_hw_id {
	uint32_t cpu, sink;
	uint8_t id, minor;
};

struct hf_perf_recordings {
	struct hf_perf_recording *row;
	size_t count;
	struct hf_perf_piece *piece;
	size_t piece_count;
	struct hf_perf_hw_id *hw;
	size_t hw_count;
	uint64_t empty;	     /* AUX records of size 0: nothing was recorded there */
	uint64_t losses;     /* AUX records that say that trace was lost */
	uint64_t missing, missing_bytes; /* recordings whose bytes are nowhere */
	bool hw_odd;	     /* an AUX_OUTPUT_HW_ID without a CPU, of an unknown version, or against another */
	bool cut;	     /* there are more than the limits allow: only the first count */
};

/* A record of type AUX, AUXTRACE or AUX_OUTPUT_HW_ID of that file. */
int hf_perf_recordings_add(struct hf_perf_recordings *all, struct hf_perf_attrs *attrs,
			   const struct hf_perf_record *record, uint32_t file);

/*
 * Behind the last record: finds the bytes of each recording, adds what no AUX record tells of, and puts them in order: by
 * time, as they came where that is the same.
 */
int hf_perf_recordings_match(struct hf_perf_recordings *all);
void hf_perf_recordings_free(struct hf_perf_recordings *all);

#endif

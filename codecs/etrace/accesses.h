/* SPDX-License-Identifier: Apache-2.0 */
/* Accesses of the data trace that wait for their instruction: a queue, in which a split access is found by its id. */
#ifndef HF_ETRACE_ACCESSES_H
#define HF_ETRACE_ACCESSES_H

#include "codecs/base/fields.h"
#include "codecs/etrace/data.h"

/* At most; what is beyond is a doubt. */
#define HF_ETRACE_ACCESSES 65536

struct hf_etrace_accesses {
	uint32_t count;
	uint32_t stale; /* of them, the oldest, that were there at the last synchronisation */
	uint32_t fence; /* of them, the oldest, that came before the report (enum hf_etrace_fence) */
	uint32_t first, room;
	uint32_t dropped; /* how many were there that are gone, modulo 2^32 */
	uint64_t lost;	  /* data packets for which there was no instruction */
	unsigned id_width;
	struct hf_etrace_access *items; /* owned; count from first on, oldest first */
	uint32_t *splits;		/* owned; of each kind and id, where that was appended last */
};

/* Empty; ids of split accesses have so many bits. 0 or HF_ERR_NOMEM; fini in any case. */
int hf_etrace_accesses_init(struct hf_etrace_accesses *q, unsigned id_width);
void hf_etrace_accesses_fini(struct hf_etrace_accesses *q);

static inline struct hf_etrace_access *hf_etrace_oldest(const struct hf_etrace_accesses *q)
{
	return q->items + q->first;
}

/* One more behind those that wait, of which there are fewer than HF_ETRACE_ACCESSES. 0 or HF_ERR_NOMEM. */
int hf_etrace_accesses_append(struct hf_etrace_accesses *q, const struct hf_etrace_access *access);
/* The data of a split access. False: no request waits for it. */
bool hf_etrace_accesses_answer(struct hf_etrace_accesses *q, const struct hf_etrace_access *response);
/* The oldest n are gone. */
void hf_etrace_accesses_drop(struct hf_etrace_accesses *q, uint32_t n);
/* Those that wait have no instruction. */
void hf_etrace_accesses_lose(struct hf_etrace_accesses *q);
/* A synchronisation: those that waited since the one before it have none either. */
void hf_etrace_accesses_age(struct hf_etrace_accesses *q);

/* Loading, the queue is empty. */
void hf_etrace_accesses_visit(struct hf_etrace_accesses *q, struct hf_fields *f);

#endif

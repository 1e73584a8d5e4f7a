/* SPDX-License-Identifier: Apache-2.0 */
/* Views etrace/ of events, made in memory and read back through their own description, whole or from the middle. */
#ifndef HF_TEST_ETRACELOOP_H
#define HF_TEST_ETRACELOOP_H

#include "tests/lib/rvtrace.h"
#include "tests/lib/rvwalk.h"

/* A program's code, in two places at most; the second may have no bytes. */
struct hf_etl_code {
	uint64_t base[2];
	size_t size[2];
	const uint8_t *bytes[2]; /* borrowed */
};

struct hf_etl_code hf_etl_code_of(const struct hf_rvwalk *walk);

struct hf_etl {
	char ini[4096];
	uint8_t *trace; /* owned */
	size_t size;
	struct hf_etl_code code;
};

/* The view of these events with these parameters, as of that hart. */
void hf_etl_make(struct hf_etl *l, const struct hf_rvtrace *trace, const char *params, uint32_t hart,
		 const struct hf_etl_code *code);
/* The same of a walk, as of hart 0. */
void hf_etl_make_walk(struct hf_etl *l, const struct hf_rvtrace *trace, const char *params,
		      const struct hf_rvwalk *walk);
void hf_etl_free(struct hf_etl *l);

/* Appends the events that a reader has of the trace from byte skip on; ret_hart (may be NULL) is whose they are. */
void hf_etl_decode(const struct hf_etl *l, size_t skip, struct hf_rvtrace *got, uint32_t *ret_hart);
/* Appends all events, of decoders each of which goes on from the state of the one before after every few events. */
void hf_etl_decode_resumed(const struct hf_etl *l, struct hf_rvtrace *got);

enum hf_etl_what {
	HF_ETL_INSNS = 1,
	/* cause as far as it is known, interrupt or exception, of exceptions the value, and where they happened if known */
	HF_ETL_TRAPS = 2,
	HF_ETL_MEM = 4,
	HF_ETL_LOSSES = 8, /* that there is a gap or a discontinuity */
	HF_ETL_EPCS = 16,  /* that it is known where exceptions happened, if it was */
	HF_ETL_CSRS = 32,
	/*
	 * Not what version 1.1.1 has no packet for: traps whose handler did not retire anything, where one happened
	 * behind those or an uninferable jump, the value of an illegal instruction.
	 */
	HF_ETL_OLD_TRAPS = 64,
};

/*
 * Ends the test unless both have the same of what, in the same order: says on stderr where they differ first, and what
 * records.txt of l has if SHOW_PACKETS is in the environment.
 */
void hf_etl_check_same(const struct hf_etl *l, const struct hf_rvtrace *want, const struct hf_rvtrace *got, unsigned what,
		       const char *name);

/* How many of the last retired instructions are the same. */
size_t hf_etl_same_tail(const struct hf_rvtrace *a, const struct hf_rvtrace *b);

size_t hf_etl_count(const struct hf_rvtrace *trace, enum hf_event_kind kind);

#endif

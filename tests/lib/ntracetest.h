/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the tests of N-Trace share: a description made on the spot, whole captures decoded to events in memory, and
 * events encoded to bytes.
 */
#ifndef HF_TEST_NTRACETEST_H
#define HF_TEST_NTRACETEST_H

#include "codecs/codec.h"
#include "tests/lib/check.h"
#include "tests/lib/walk.h"

/* A description: one program for every hart, and parameters. */
struct hf_ntt {
	struct hf_setup setup;
	struct hf_setup_image image;
	struct hf_setup_value values[16];
	char text[16][32];
};

/* params: "srcbits=3,implicit_return=1", as in [parameters]. The program is empty; add to t->image.program. */
void hf_ntt_init(struct hf_ntt *t, const char *params);
/* The program of an ELF file in memory. */
void hf_ntt_add_elf(struct hf_ntt *t, const struct hf_walk_bytes *elf);
void hf_ntt_add_code(struct hf_ntt *t, uint64_t address, const void *code, size_t n);
void hf_ntt_fini(struct hf_ntt *t);

struct hf_ntt_events {
	struct hf_event *ev;
	size_t n, cap;
	int err;      /* at the end: HF_NOTE_END */
	size_t insns, losses;
	size_t first_loss; /* instructions before it */
};

/* All events of that hart, at most max of them (0: all there are). */
struct hf_ntt_events hf_ntt_decode(const struct hf_ntt *t, const uint8_t *bytes, size_t n, uint32_t hart, size_t max);
void hf_ntt_events_free(struct hf_ntt_events *events);

/* A decoder saved before any event, and loaded into another, goes on with the same events. */
void hf_ntt_check_cuts(const struct hf_ntt *t, const uint8_t *bytes, size_t n, uint32_t hart);

/* The view of these events with parameters of the view. hart: of the events. */
struct hf_walk_bytes hf_ntt_encode(const struct hf_ntt_events *events, uint8_t xlen, uint32_t hart, const char *params);

/* The same of a source with that description; what the view's own one says is *ret_params, as hf_ntt_init takes it. */
struct hf_walk_bytes hf_ntt_encode_described(const struct hf_setup *setup, const struct hf_ntt_events *events, uint8_t xlen,
					uint32_t hart, const char *params, char *ret_params, size_t size);

/* The instructions are the same: pc, opcode, and whether and where they jumped. */
void hf_ntt_events_check_same_insns(const struct hf_ntt_events *a, const struct hf_ntt_events *b, const char *what);
/* And so are the traps: at the same places, of the same kind, to the same handler. */
void hf_ntt_events_check_same_traps(const struct hf_ntt_events *a, const struct hf_ntt_events *b, const char *what);

#endif

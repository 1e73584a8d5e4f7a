/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For the fuzzers of packet encoders: events in any order, from any state. The packets must be well formed and few, and
 * encoders that take over at boundaries must go on the same.
 */
#ifndef HF_TEST_ENCFUZZ_H
#define HF_TEST_ENCFUZZ_H

#include "codecs/codec.h"
#include "tests/lib/fuzz.h"

#define ENC_FUZZ_EVENT 8 /* bytes of input that make an event */

struct enc_fuzz {
	const struct hf_enc_ops *ops;
	struct hf_stream_info info;
	const char *const *params; /* to choose from, ending with NULL */
	struct hf_event (*event)(const uint8_t *p);
	void (*check)(const uint8_t *p, const uint8_t *end); /* that these are packets */
	size_t most;                                         /* bytes of packets for one event */
};

/* Input: which parameters, how many bytes of blob follow, these, and events. */
void enc_fuzz_run(const struct enc_fuzz *f, const uint8_t *bytes, size_t n);

#endif

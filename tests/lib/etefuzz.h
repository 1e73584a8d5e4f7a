/* SPDX-License-Identifier: Apache-2.0 */
/* For the fuzzers of the ETE decoder: any bytes as a capture, over a program of branches in three instruction sets. */
#ifndef HF_TEST_ETEFUZZ_H
#define HF_TEST_ETEFUZZ_H

#include "codecs/codec.h"
#include "tests/lib/fuzz.h"

struct ete_fuzz {
	struct hf_setup setup;
	struct hf_setup_image image;
	struct hf_setup_part parts[2];
	struct hf_setup_value values[8];
	char texts[8][16];
	struct hf_src *src;
	struct hf_stream *stream;
};

/* flags choose the registers, the framing, and whether the bytes are one recording or two. */
void ete_fuzz_open(struct ete_fuzz *f, unsigned flags, const uint8_t *bytes, size_t n);
void ete_fuzz_close(struct ete_fuzz *f);

#endif

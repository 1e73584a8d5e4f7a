/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trace format that exists for tests of what is around codecs: small, with everything that makes codecs hard. One
 * record gives many events, a decoder can be entered only at some of them (so there is always something to discard),
 * an encoder holds an instruction back, there are harts, losses, attempts, and records that cannot be decoded.
 */
#ifndef HF_TEST_TOY_CODEC_H
#define HF_TEST_TOY_CODEC_H

#include "codecs/codec.h"

/* The whole stream: a header and records of eight bytes each. */
#define HF_TOY_MAGIC "HFTOY1\n"

struct hf_toy_header {
	char magic[7];
	uint8_t flags;       /* enum hf_stream_flags */
	uint32_t first_hart;
	uint32_t pad;
};

enum hf_toy_kind {
	HF_TOY_GROUP = 1, /* an instruction with arg memory accesses; value is added to the pc */
	HF_TOY_RUN,       /* arg instructions one after the other */
	HF_TOY_ATTEMPT,   /* one that does not retire */
	HF_TOY_GAP,       /* value bytes are lost */
	HF_TOY_BAD,       /* the hart cannot be decoded any further */
};

struct hf_toy_record {
	uint8_t kind, hart;
	uint16_t arg;
	uint32_t value;
};

/* Its own view is a directory, toy/trace.bin with toy/capture.ini, of which every copy is a capture again. Its description
 * may have the parameter "step" (a number), and its view "pad" (a number): bytes of zeros at the end of capture.ini's
 * comment. */
extern const struct hf_codec hf_codec_toy;

/* Its views. text: a line an instruction, held back by one; binary: a byte an event; refused: never
 * exists. */
extern const struct hf_enc_ops hf_toy_text, hf_toy_binary, hf_toy_refused;
extern const struct hf_enc_ops hf_toy_dir; /* the one that is a directory */

/* n records of what the seed says, over that many harts, with a loss now and then. */
void hf_toy_fill(struct hf_toy_record *records, size_t n, unsigned harts, uint64_t seed);

#endif

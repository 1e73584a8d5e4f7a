/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The view of what software wrote beside the flow (HF_MARKER_TEXT). Its bytes are frames: channel (32 bits, little endian),
 * a count (8 bits), and so many bytes, which is how hartN/text/CHANNEL.txt of each channel are found in it. Its state has
 * how many bytes each channel had so far, so that a place in one of them is found by the entries of chunks.
 */
#ifndef HF_TEXT_TEXT_H
#define HF_TEXT_TEXT_H

#include "codecs/codec.h"

/* The most channels of a hart; text of further ones is in the listing alone. */
#define HF_TEXT_CHANNELS 128

struct hf_text_channel {
	uint32_t number;
	uint64_t size; /* bytes so far */
};

/* The channels so far, in the order in which they first said something: *ret_n of them, borrowed. enc: of hf_view_text. */
const struct hf_text_channel *hf_text_channels(const struct hf_enc *enc, size_t *ret_n);

/* The frame at p[n], which is behind p if there is none left: its size; 0: it is damaged. */
size_t hf_text_frame(const uint8_t *p, size_t n, uint32_t *ret_channel, const uint8_t **ret_bytes, size_t *ret_n);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The decoder: the layers one above the other, each knowing those below it. Frames (framing.h) give packets (packet.h),
 * these become reports (report.h), which are followed through the program (follow.h), and what comes of that gets its
 * accesses (attach.h). Here are the order of things and the states.
 */
#ifndef HF_ETRACE_DECODER_H
#define HF_ETRACE_DECODER_H

#include "codecs/etrace/attach.h"

struct hf_etrace_dec {
	struct hf_dec dec;
	struct hf_etrace_framer framer;
	struct hf_etrace_message msg;
	struct hf_etrace_attach attach;
	/* the state that save gives, and events given since */
	uint8_t blob[HF_STATE_MAX - 1];
	uint32_t blob_size;
	uint64_t done, retry; /* retry: not before so many are a new one is tried, for want of a small one */
	uint32_t sync_distance, full_distance; /* events between states; tests make them smaller */
	/* source ids seen */
	uint32_t *harts; /* owned; grows at every power of two */
	uint32_t hart_count, last_hart;
	uint64_t hart_bits[1024]; /* ids below 65536 */
};

extern const struct hf_dec_ops hf_etrace_dec_ops;

#endif

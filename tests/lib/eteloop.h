/* SPDX-License-Identifier: Apache-2.0 */
/* Events to the files of the view ete/ in memory, and a decoder on them. */
#ifndef HF_TEST_ETELOOP_H
#define HF_TEST_ETELOOP_H

#include "tests/lib/etetest.h"

struct ete_loop {
	struct hf_sink files[6]; /* trace.bin, then the side files */
	const uint8_t *code;     /* is program.elf */
	size_t code_size;
	struct ete_capture capture;
};

/* all[n] as trace.bin; ends the test if the encoder cannot be made. step: so many events at a time, and a new encoder
 * with the old one's state behind each time; 0: all at once. Free with hf_sink_fini_memory. */
void ete_loop_encode(const struct hf_event *all, size_t n, const char *params, size_t step, struct hf_sink *ret_bytes);
/* The whole directory, opened. */
void ete_loop_open(struct ete_loop *l, const struct hf_event *all, size_t n, const char *params, uint64_t base,
		   const uint8_t *code, size_t code_size);
void ete_loop_close(struct ete_loop *l);

#endif

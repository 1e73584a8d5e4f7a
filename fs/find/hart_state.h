/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a trace tells of a hart at one instruction: once it has retired. Registers as they were told last,
 * accesses, calls, mode and context. What the trace does not tell is not there, and is never guessed.
 *
 * - A register has the value that was told last, of the instruction or before it. What was told before trace was lost
 *   does not count. What is merely stated (HF_REG_STATE) of an earlier instruction counts only if the trace also tells
 *   what instructions write.
 * - The calls are those in which the instruction was executed: if it is a call itself, before that.
 *
 * Internal to fs/find/, but for hart_state_text.h and hart_states.h.
 */
#ifndef HF_FIND_HART_STATE_H
#define HF_FIND_HART_STATE_H

#include "fs/find/hart_state_parts.h"

/* Of an opened capture. summary NULL: there is none, and the hart is decoded from its start. HF_ERR_NOT_FOUND: there is
 * no such hart, or instruction. HF_ERR_STATE: the summary is damaged. */
int hf_hart_state_new(struct hf_open *open, struct hf_summary *summary, uint32_t hart, uint64_t ordinal,
		      bool (*go_on)(void *ctx, uint64_t chunk), void *ctx, struct hf_hart_state **ret_state);
void hf_hart_state_free(struct hf_hart_state *state);

/* Whether what was told of that register counts. */
bool hf_hart_state_counts(const struct hf_hart_state *state, const struct hf_state_part *reg);

#endif

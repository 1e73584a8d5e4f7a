/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a trace tells of a hart at one moment: once an instruction has retired. Registers as they were told last,
 * accesses, calls, mode and context. What the trace does not tell is not there, and is never guessed.
 *
 * - A register has the value that was told last, of the instruction or before it. What was told before trace was lost
 *   does not count. What is merely stated (HF_REG_STATE) of an earlier instruction counts only if the trace also tells
 *   what instructions write.
 * - The calls are those in which the instruction was executed: if it is a call itself, before that.
 *
 * Internal to fs/find/, but for moment_text.h and moments.h.
 */
#ifndef HF_FIND_MOMENT_H
#define HF_FIND_MOMENT_H

#include "fs/find/told.h"

/* Of an opened capture. summary NULL: there is none, and the hart is decoded from its start. HF_ERR_NOT_FOUND: there is
 * no such hart, or instruction. HF_ERR_STATE: the summary is damaged. */
int hf_moment_new(struct hf_open *open, struct hf_summary *summary, uint32_t hart, uint64_t ordinal,
		  bool (*go_on)(void *ctx, uint64_t chunk), void *ctx, struct hf_moment **ret_moment);
void hf_moment_free(struct hf_moment *moment);

/* Whether what was told of that register counts. */
bool hf_moment_counts(const struct hf_moment *moment, const struct hf_told *reg);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Privilege modes as users name them, and whether an instruction ran in one: the trace may not tell it. */
#ifndef HF_FS_MODES_H
#define HF_FS_MODES_H

#include "codecs/event.h"

enum hf_verdict { HF_NO, HF_PERHAPS, HF_YES };

/* "EL1" is EL1t or EL1h, and nobody knows of EL1 which of them it is. wanted, mode: enum hf_mode. */
enum hf_verdict hf_mode_is(unsigned wanted, unsigned mode);

/* A set of modes: a bit for each. */
struct hf_modes {
	uint64_t named;	  /* those that users name */
	uint64_t sure;	  /* modes of instructions that ran in one of these, */
	uint64_t perhaps; /* and of those of which the trace does not tell it */
};

/* "U+S" */
bool hf_modes_read(const char *text, size_t n, uint64_t *ret_named);
#define HF_MODES_WHAT "as listings name them (U, S, M, EL0t, EL1h, svc ...), joined by '+'"
struct hf_modes hf_modes_of(uint64_t named);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a hart as hartfs-state(1) shows it. */
#ifndef HF_FIND_HART_STATE_TEXT_H
#define HF_FIND_HART_STATE_TEXT_H

#include "codecs/base/sink.h"
#include "codecs/isa/disasm.h"
#include "fs/find/hart_state.h"

enum hf_hart_state_form { HF_HART_STATE_TEXT, HF_HART_STATE_JSON };

/* HF_ERR_NOMEM, or the sink's error. */
int hf_hart_state_put(const struct hf_hart_state *state, const struct hf_open *open, struct hf_disasm *disasm,
		      enum hf_hart_state_form form, struct hf_sink *sink);

#endif

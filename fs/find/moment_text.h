/* SPDX-License-Identifier: Apache-2.0 */
/* A moment of a hart as hartfs-state(1) shows it. */
#ifndef HF_FIND_MOMENT_TEXT_H
#define HF_FIND_MOMENT_TEXT_H

#include "codecs/base/sink.h"
#include "codecs/isa/disasm.h"
#include "fs/find/moment.h"

enum hf_moment_form { HF_MOMENT_TEXT, HF_MOMENT_JSON };

/* HF_ERR_NOMEM, or the sink's error. */
int hf_moment_put(const struct hf_moment *moment, const struct hf_open *open, struct hf_disasm *disasm,
		  enum hf_moment_form form, struct hf_sink *sink);

#endif

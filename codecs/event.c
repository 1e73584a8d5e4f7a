/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/event.h"

#include "codecs/base/err.h"

static const char *const mode_names[] = {
#define HF_MODE(name, text, level, word) text,
#include "codecs/modes.def"
#undef HF_MODE
};

const char *hf_mode_name(unsigned mode)
{
	return mode < HF_MODE_COUNT ? mode_names[mode] : "?";
}

const char *hf_marker_name(unsigned what)
{
	static const char *const names[HF_MARKERS] = {"marker",  "text", "sample",    "watchpoint", "counter", "trigger",
						      "control", "call", "exception", "interrupt",  "context"};

	return names[what < HF_MARKERS ? what : HF_MARKER_OTHER];
}

void hf_event_diag(const struct hf_event *ev, struct hf_diag *ret_diag)
{
	*ret_diag = (struct hf_diag){
		.code = ev->code && hf_err_is_code(-(int64_t)ev->code) ? -(int)ev->code : HF_ERR_BUG,
		.space = ev->flags & HF_EVF_FILE ? HF_SPACE_FILE : HF_SPACE_STREAM,
		.offset = ev->loss.offset,
		.detail = ev->loss.detail,
	};
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/event.h"

static const char *const mode_names[] = {
#define HF_MODE(name, text) text,
#include "codecs/modes.def"
#undef HF_MODE
};

const char *hf_mode_name(unsigned mode)
{
	return mode < HF_MODE_COUNT ? mode_names[mode] : "?";
}

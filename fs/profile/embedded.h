/* SPDX-License-Identifier: Apache-2.0 */
/* Files of this folder that are part of what hartfs writes: made by cmake/embed.cmake. */
#ifndef HF_FS_PROFILE_EMBEDDED_H
#define HF_FS_PROFILE_EMBEDDED_H

#include <stddef.h>
#include <stdint.h>

struct hf_embedded {
	const uint8_t *bytes;
	size_t size;
};

extern const struct hf_embedded hf_embedded_flame_js, hf_embedded_flame_css;
extern const struct hf_embedded hf_embedded_overview_css, hf_embedded_report_css;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Points as a PNG, in base64 as data: URLs have it. Internal to fs/profile/. */
#ifndef HF_FS_PROFILE_PNG_H
#define HF_FS_PROFILE_PNG_H

#include "codecs/base/sink.h"

/* Each point is a number of the palette, of which 0 is transparent. */
struct hf_points {
	uint32_t width, height;
	const uint8_t *point;
	const uint32_t *palette; /* 0xrrggbb */
	unsigned colours;
};

/* HF_ERR_NOMEM, or the sink's error. */
int hf_png_put(struct hf_sink *sink, const struct hf_points *points);

#endif

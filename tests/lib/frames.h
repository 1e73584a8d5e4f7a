/* SPDX-License-Identifier: Apache-2.0 */
/* CoreSight frames, to put the bytes of several sources in. */
#ifndef HF_TEST_FRAMES_H
#define HF_TEST_FRAMES_H

#include "codecs/source/coresight.h"
#include "tests/lib/walk.h"

/* On the id of a byte: a discontinuity stands before it. */
#define HF_FRAMES_BREAK 0x80

/* n bytes with these ids (0: padding) in that layout, not NONE. To be freed. */
struct hf_walk_bytes hf_frames(enum hf_coresight_layout layout, const uint8_t *bytes, const uint8_t *ids, size_t n);

#endif

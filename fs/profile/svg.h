/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a picture that is as wide as its window: places from left to right are shares of the width, those from top to
 * bottom pixels, so letters stay as large as they are. All text of others is escaped here. Internal to fs/profile/.
 */
#ifndef HF_FS_PROFILE_SVG_H
#define HF_FS_PROFILE_SVG_H

#include "fs/profile/png.h"

/* Elements in each other. */
#define HF_SVG_DEPTH 8u

struct hf_svg {
	struct hf_sink *sink;
	const char *open[HF_SVG_DEPTH]; /* tags that are to be closed */
	unsigned depth;
	unsigned elements; /* that were written */
};

/* An element that others stand in; attributes as in printf, of which no text is somebody else's. */
void hf_svg_open(struct hf_svg *svg, const char *tag, const char *format, ...) __attribute__((format(printf, 3, 4)));
void hf_svg_open_plain(struct hf_svg *svg, const char *tag);
void hf_svg_close(struct hf_svg *svg);
/* One without anything in it. */
void hf_svg_put(struct hf_svg *svg, const char *tag, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* A path, whose numbers are written to the sink in between. */
void hf_svg_begin_path(struct hf_svg *svg, const char *class);
void hf_svg_end_path(struct hf_svg *svg);

/* Text of the element that is open: ours, a name, a number. */
void hf_svg_say(struct hf_svg *svg, const char *format, ...) __attribute__((format(printf, 2, 3)));
void hf_svg_say_name(struct hf_svg *svg, const char *name, size_t size);

/* Fills the element that is open. HF_ERR_NOMEM. */
int hf_svg_put_points(struct hf_svg *svg, const struct hf_points *points, const char *class);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures as parts of other files, and what they share. Internal to fs/profile/. */
#ifndef HF_FS_PROFILE_PICTURES_H
#define HF_FS_PROFILE_PICTURES_H

#include "fs/profile/svg.h"
#include "fs/profile/texts.h"

/* links: to slices and to the whole hart, for a file that lies in hartN/profile/ or hartN/at/FIRST-LAST/profile/. Errors as
 * hf_timeline_make. */
int hf_overview_put(const struct hf_profiled *of, bool links, struct hf_sink *sink);
/* The same of the flame graph. HF_ERR_NOMEM. */
int hf_flame_put(const struct hf_profiled *of, bool links, struct hf_sink *sink);

/* The name of the capture, as the first line of a picture; what has no room in 600 pixels is left out, with an ellipsis. */
void hf_picture_put_name(const struct hf_profiled *of, struct hf_svg *svg, const char *class, unsigned x);
/* "hart3", or that they are all, if of->hart is HF_HART_RECORDS. Returns buf. */
#define HF_PICTURE_HART 24
const char *hf_picture_hart(const struct hf_profiled *of, char buf[HF_PICTURE_HART]);
/* The title of the window: that of the capture and the hart. Of pictures that are files by themselves. */
void hf_picture_put_window(const struct hf_profiled *of, struct hf_svg *svg);
/* Of a slice a link to the same picture of the whole hart, at a place in pixels. */
void hf_picture_put_up(const struct hf_profiled *of, struct hf_svg *svg, const char *file, unsigned x, unsigned y);

#endif

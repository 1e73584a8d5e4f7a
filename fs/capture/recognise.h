/* SPDX-License-Identifier: Apache-2.0 */
/* Which files are captures, and when one changed. */
#ifndef HF_FS_RECOGNISE_H
#define HF_FS_RECOGNISE_H

#include "fs/facts/capture.h"

/* The capture at path, whose stat is given; NULL if it is no capture, or cannot be read. Probes new files, and looks
 * for descriptions in directories. */
int hf_recognise(const struct hf_shared *shared, const char *path, const struct stat *st, struct hf_capture **ret_capture);

/* The same without a stat; HF_ERR_UNKNOWN_FORMAT if it is no capture, or why it cannot be looked at or read. */
int hf_recognise_at(const struct hf_shared *shared, const char *path, struct hf_capture **ret_capture);

/* Whether it has a description. */
bool hf_capture_is_described(struct hf_capture *capture);
/* The stat of its file, or of its description, with the owner, group and mode of the views (fs/archive/access.h), which
 * may be those of a second ago. */
int hf_capture_stat(struct hf_capture *capture, struct stat *ret_st);

/* Looks at the file: begins a new version if it changed. HF_ERR_NOT_FOUND if it is gone or no capture any more. ret_st
 * is that of hf_capture_stat, as it is now. */
int hf_capture_check(struct hf_capture *capture, struct stat *ret_st);
/* The same, but what lies beside the file may be as it was some milliseconds ago: for a walk that opens one directory
 * of the capture after the other. */
int hf_capture_check_again(struct hf_capture *capture, struct stat *ret_st);

#endif

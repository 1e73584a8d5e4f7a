/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a user's path means to a command that needs no mount: an archive and a file in it. Captures are named by their own
 * path and a view, or by the path of the view.
 */
#ifndef HF_MOUNTD_TARGET_H
#define HF_MOUNTD_TARGET_H

#include "mountd/options.h"

/* All owned. */
struct hf_target {
	char *archive; /* a directory */
	char *path;    /* within it; "" for none */
	char *view;    /* behind it, if path is a capture: "hart0/listing.txt" */
};

/* view may be NULL. as_capture: a capture.ini means the directory that it describes. False: there is no such path, or no
 * memory, which hf_why_none tells; *ret_target is to be ended in any case. */
bool hf_target_find(const struct hf_settings *settings, const char *path, const char *view, bool as_capture,
		    struct hf_target *ret_target);
void hf_target_fini(struct hf_target *target);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a user's path means to a command that needs no mount: an archive and a file in it. Captures are named by their own
 * path and a view, or by the path of the view.
 */
#ifndef HF_MOUNTD_TARGET_H
#define HF_MOUNTD_TARGET_H

#include "mountd/bar.h"
#include "mountd/options.h"

#include <limits.h>

struct hartfs_archive;

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

/*
 * Finds the capture that the only path of a command means, opens its archive, confines the process, and calls fn, whose
 * result it returns; failed after saying why not. command: "find".
 */
struct hf_target_capture {
	struct hartfs_archive *archive;
	char path[PATH_MAX], view_dir[PATH_MAX];
};
int hf_target_run(const struct hf_settings *settings, const char *command, int failed,
		  int (*fn)(void *ctx, struct hf_target_capture *capture), void *ctx);
/* Has it indexed, with a bar, which then begins anew; and warns of problems. False after saying why not. */
bool hf_target_index(const struct hf_settings *settings, const char *command, const struct hf_target_capture *capture,
		     struct hf_bar *bar);
/* Says why there is no answer about it: in those words, or if they are empty what the error is. */
void hf_target_fail(const struct hf_settings *settings, const char *command, const struct hf_target_capture *capture,
		    int err, const char *why);
/* Whether it has more harts than one; *ret_hart: one of them. */
bool hf_target_has_harts(const struct hf_target_capture *capture, uint32_t *ret_hart);

#endif

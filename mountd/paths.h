/*
 * Paths as the user gives them: the directory of the indexes, and archives for the commands that work without a mount.
 */
#ifndef HF_MOUNTD_PATHS_H
#define HF_MOUNTD_PATHS_H

#include "fs/fs.h"
#include "mountd/options.h"

/* Opens the directory of the indexes and makes it first if it is not there (0700). -1 after saying why. */
int hf_paths_open_index(const struct hf_settings *settings);

/* Starts a file system without mount on a directory; NULL after saying why. Nothing is indexed unasked. catalogue: it
 * uses and keeps that of the archive, as a mount would. */
struct hf_fs *hf_paths_open_archive(const struct hf_settings *settings, const char *directory, bool catalogue,
				    const struct hf_stop *stop);

/* Whether path is a directory, and not one that is a capture itself (capture.ini, snapshot.ini). */
bool hf_paths_is_directory(const char *path);

/* The directory that holds path, or of a capture with a description a higher one if its files need that, and path's name
 * in it, both malloc'ed; false: out of memory or no such path. as_capture: a capture.ini that describes the directory in
 * which it lies means that directory. */
bool hf_paths_split(const char *path, bool as_capture, char **ret_directory, char **ret_name);

/* What went wrong with the capture at path of fs, which is called shown, as one line. */
void hf_paths_explain_capture(const char *command, const char *shown, struct hf_fs *fs, const char *path, int err,
			      const struct hf_diag *diag);
/* What went wrong with something else, or with a capture of which no more is known. */
void hf_paths_explain(const char *command, const char *path, int err, const struct hf_diag *diag);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths as the user gives them: the directory of the indexes, and archives for the commands that work without a mount.
 */
#ifndef HF_MOUNTD_PATHS_H
#define HF_MOUNTD_PATHS_H

#include "fs/library.h"
#include "mountd/options.h"

/* Makes the directory and those above it that are missing; an errno if that fails, 0 if it is there already. */
int hf_paths_make(const char *path, mode_t mode);

/* The directory of the indexes. */
struct hf_index_place {
	int fd;      /* -1: it could be neither opened nor made */
	int errnum;  /* then: why */
	char *path;  /* malloc'ed */
};

/* Opens it and makes it first if it is not there (0700). False after saying why: its name cannot be one. Any other error
 * is in *ret_place, and one can do without it. */
bool hf_paths_open_index(const struct hf_settings *settings, struct hf_index_place *ret_place);
/* For those that cannot: -1 after saying why. */
int hf_paths_need_index(const struct hf_settings *settings);

/* The directory that --debug-dir names, with its absolute path, which is the caller's to free; -1 after saying why. */
int hf_paths_open_debug_dir(const char *path, char **ret_path);

/* An archive for a command that works without a mount: what must be open before the process confines itself. */
struct hf_opened {
	char *directory, *real;      /* as it was given; without links and dots; owned */
	int archive_fd;              /* owned until hf_opened_start */
	struct hf_index_place index; /* likewise, but for the path */
	int debug_fd;                /* likewise; -1: there is none */
	char *debug_path;            /* owned */
};

/* False after saying why; there is nothing to close then. */
bool hf_opened_open(const struct hf_settings *settings, const char *directory, struct hf_opened *ret_archive);
/* Confines the process to count archives and their index directory. False after saying why. */
bool hf_opened_confine(const struct hf_settings *settings, const struct hf_opened *archives, size_t count);
/* Opens the archive without mount; NULL after saying why. catalogue: it uses and keeps that of the archive, as a mount
 * would. stop: hartfs_options.stop; may be NULL. */
struct hartfs_archive *hf_opened_start(const struct hf_settings *settings, struct hf_opened *opened, bool catalogue,
			      const struct hf_stop *stop);
void hf_opened_close(struct hf_opened *archive);

/* hf_locate, whose description is read by a process that is confined. */
bool hf_paths_split(const struct hf_settings *settings, const char *path, bool as_capture, char **ret_directory,
		    char **ret_name);

/* What went wrong, as one line about what the user calls shown. */
void hf_paths_complain(const char *command, const char *shown, const struct hartfs_diag *diag);
/* One line on standard error if problems were found in the capture at path of fs, which is indexed: an answer from it may be
 * wrong. */
void hf_paths_warn(const char *command, const char *shown, struct hf_fs *fs, const char *path);
/* What hf_paths_complain says of an error with the capture at path of fs (NULL: with no capture). */
void hf_paths_explain_capture(const char *command, const char *shown, struct hf_fs *fs, const char *path, int err,
			      const struct hf_diag *diag);
/* There is no capture in it, and what may be missing. */
void hf_paths_no_capture(const char *command, const char *shown);
/* What went wrong with something else, or with a capture of which no more is known. */
void hf_paths_explain(const char *command, const char *path, int err, const struct hf_diag *diag);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * View parameters: "VIEW.key=value", where VIEW is hf_taker.name (fs/base/views.h). hartfs.conf in the root of
 * the archive has a line for each; what is given for a mount wins.
 */
#ifndef HF_FS_PARAMS_H
#define HF_FS_PARAMS_H

#include "fs/archive/access.h"
#include "fs/archive/archive.h"
#include "index/base/lock.h"

#define HF_PARAMS_FILE "hartfs.conf"

/*
 * All of them, comma-separated and in ascending order, for the caller to free. HF_ERR_SETUP_VALUE or
 * HF_ERR_SETUP_SYNTAX if one is wrong, and why[size] says which: "hartfs.conf:3: VIEW.key=value: …". given may be NULL;
 * a parameter in it may have before it, with a blank between, how it was given ("-o"), which is repeated in messages.
 * *ret_access (may be NULL): who may read hartfs.conf, nothing if no parameter is from it.
 */
int hf_params_read(const struct hf_archive *archive, const char *given, char **ret_params, struct hf_access *ret_access,
		   char *why, size_t size);

/* hf_fs_check_params. */
int hf_params_check(int archive_fd, const char *given, char *why, size_t size);

/* hartfs.conf as one of the files that views are made of: as it was when it was read and as it is now. */
struct hf_params_access {
	pthread_mutex_t lock;
	struct hf_access read; /* nothing: no view depends on it */
	struct hf_access now;
	int64_t now_ns;        /* when that was looked at */
};
/* Adds what there is of it to *access. */
void hf_params_join_access(struct hf_params_access *own, const struct hf_archive *archive, struct hf_access *access);

#endif

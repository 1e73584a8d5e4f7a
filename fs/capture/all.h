/* SPDX-License-Identifier: Apache-2.0 */
/* All captures of an archive, as the floors above see them. */
#ifndef HF_FS_ALL_H
#define HF_FS_ALL_H

#include "fs/base/callbacks.h"
#include "fs/facts/capture.h"
#include "fs/facts/index_dir.h"

struct hf_captures;
struct hf_fs_ls_line;

/* Captures by their state. */
struct hf_capture_count {
	size_t state[HF_CAPTURE_GONE + 1];
};

struct hf_captures_stats {
	struct hf_capture_count count;
	bool searching;                          /* the archive is searched for captures */
	uint64_t done, total;                    /* bytes of those that are being indexed */
	struct hf_index_dir_stats index_dir;
	const char *params_wrong; /* why hartfs.conf is ignored; or NULL */
	const char *index_path;                  /* NULL: not known */
	uint64_t recalled, probed, opened, flushed; /* struct hf_catalogue_use */
};
void hf_captures_get_stats(struct hf_captures *all, struct hf_captures_stats *ret_stats);
/* Spools in the index directory, those of other processes included, and their bytes. */
void hf_captures_count_spools(struct hf_captures *all, uint64_t *ret_count, uint64_t *ret_bytes);

/* The capture at path, whose stat is given; NULL if it is no capture, or cannot be read. Probes new files, and looks
 * for descriptions in directories. */
int hf_capture_find(struct hf_captures *all, const char *path, const struct stat *st, struct hf_capture **ret_capture);

/* The same without a stat; HF_ERR_UNKNOWN_FORMAT if it is no capture, or why it cannot be looked at or read. */
int hf_capture_at(struct hf_captures *all, const char *path, struct hf_capture **ret_capture);

/* The one at path if it was found before, or NULL. */
struct hf_capture *hf_capture_known(struct hf_captures *all, const char *path);
/* Every capture, in no order. fn must not call back into captures. */
void hf_captures_each(struct hf_captures *all, void (*fn)(void *ctx, struct hf_capture *capture), void *ctx);

/* hf_fs_index_trouble, hf_fs_explain, hf_fs_failures, hf_fs_index_tapped, hf_fs_examine, hf_fs_compare, hf_fs_info_page
 * and hf_fs_ls_line. */
bool hf_captures_index_trouble(struct hf_captures *all, char *text, size_t size, size_t *ret_memory,
			       size_t *ret_waiting);
bool hf_captures_explain(struct hf_captures *all, const char *path, char *text, size_t size);
bool hf_captures_refusal(struct hf_captures *all, const char *path, const char *view, char *text, size_t size);
size_t hf_captures_failures(struct hf_captures *all,
			    void (*fn)(void *ctx, const char *path, const struct hf_diag *diag), void *ctx);
int hf_captures_index(struct hf_captures *all, const char *path, const char *view, hf_tap_fn put,
		      bool (*progress)(void *ctx, double percent, uint64_t insns), void *ctx, struct hf_diag *diag);
int hf_captures_examine(struct hf_captures *all, const char *path,
			void (*fn)(void *ctx, const char *name, const char *what), void *ctx, struct hf_diag *diag);
int hf_captures_compare(struct hf_captures *all, const char *path,
			void (*fn)(void *ctx, const char *name, const char *what), void *ctx, struct hf_diag *diag);
int hf_captures_info_page(struct hf_captures *all, const char *path, char **ret_text);
int hf_captures_ls_line(struct hf_captures *all, const char *path, struct hf_fs_ls_line *ret_line);

#endif

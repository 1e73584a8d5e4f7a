/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The directory .hartfs: what the file system is doing, as files.
 */
#ifndef HF_FS_CONTROL_H
#define HF_FS_CONTROL_H

#include "codecs/base/sink.h"

#include <stdbool.h>
#include <stddef.h>

struct hf_control;
struct hf_tree;

void hf_control_init(struct hf_control *control);
void hf_control_fini(struct hf_control *control);

/* Notes the name that a capture's view directory has instead of its own; the same again is nothing new. */
void hf_control_substitute(struct hf_control *control, const char *path, const char *name);
/* The archive is searched from its beginning: what could not be reached before may be reachable now. */
void hf_control_search_begins(struct hf_control *control);
/* Notes dir/name (dir itself if name is NULL), which a search had to leave out because of err. False if there are too
 * many to keep: they are counted only. */
bool hf_control_unreached(struct hf_control *control, const char *dir, const char *name, int err);

/* hf_fs_unreached. */
size_t hf_tree_unreached(struct hf_tree *tree, void (*fn)(void *ctx, const char *path, const char *why), void *ctx);

void hf_control_status(struct hf_tree *tree, struct hf_sink *sink);
void hf_control_progress(struct hf_tree *tree, struct hf_sink *sink);
/* metrics.c */
void hf_control_metrics(struct hf_tree *tree, struct hf_sink *sink);

#endif

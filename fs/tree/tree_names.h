/* SPDX-License-Identifier: Apache-2.0 */
/* Names that stand beside those of the archive: of view directories and of the control directory. */
#ifndef HF_FS_TREE_NAMES_H
#define HF_FS_TREE_NAMES_H

#include <limits.h>
#include <stdbool.h>

struct hf_capture;
struct hf_tree;

/* Whether a name exists in the archive's directory dir. */
typedef bool (*hf_exists_fn)(void *ctx, const char *dir, const char *name);
/* Asks the archive itself; ctx is the tree. */
bool hf_tree_exists(void *ctx, const char *dir, const char *name);

/* The last component of the view directory of a capture dir/name. HF_ERR_NOT_FOUND if no name is free. */
int hf_tree_view_name(struct hf_tree *tree, const char *dir, const char *name, struct hf_capture *capture,
		      hf_exists_fn exists, void *ctx, char buf[NAME_MAX + 1]);
/* The capture whose view directory is dir/view, a name that the archive does not have; NULL if there is none. An error:
 * HF_ERR_NOMEM, or what kept it from reading dir. */
int hf_tree_find_viewed(struct hf_tree *tree, const char *dir, const char *view, struct hf_capture **ret_capture);
/* The name of the control directory: another one if the archive has that. */
const char *hf_tree_control_name(struct hf_tree *tree, hf_exists_fn exists, void *ctx);

#endif

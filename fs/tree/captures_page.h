/* SPDX-License-Identifier: Apache-2.0 */
/* .hartfs/index.html: the captures of the archive as pages for a browser, with links into the mount. */
#ifndef HF_FS_CAPTURES_PAGE_H
#define HF_FS_CAPTURES_PAGE_H

#include "codecs/base/sink.h"

struct hf_tree;

/* How many pages there are, at least 1. */
size_t hf_captures_pages(struct hf_tree *tree);
/* One of them, from 1 on. HF_ERR_NOMEM. */
int hf_captures_page_write(struct hf_tree *tree, size_t page, struct hf_sink *sink);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* .hartfs/index.html: the captures of the archive as a page for a browser, with links into the mount. */
#ifndef HF_FS_CAPTURES_PAGE_H
#define HF_FS_CAPTURES_PAGE_H

#include "codecs/base/sink.h"

struct hf_tree;

/* HF_ERR_NOMEM. */
int hf_captures_page_write(struct hf_tree *tree, struct hf_sink *sink);

#endif

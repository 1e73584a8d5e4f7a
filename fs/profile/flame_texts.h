/* SPDX-License-Identifier: Apache-2.0 */
/* Flame graphs of texts as stacks.folded: of several harts together, or of a run beside another one. */
#ifndef HF_FS_PROFILE_FLAME_TEXTS_H
#define HF_FS_PROFILE_FLAME_TEXTS_H

#include "codecs/base/sink.h"

struct hf_flame_texts {
	const char *title;
	const char *text;   /* frames are as wide as their instructions in it */
	const char *before; /* colours tell how it differs from this one; NULL: they are as of one hart */
};

/* HF_ERR_NOMEM, or the sink's error. */
int hf_flame_put_texts(const struct hf_flame_texts *texts, struct hf_sink *sink);

#endif

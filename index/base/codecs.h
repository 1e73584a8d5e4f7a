/* SPDX-License-Identifier: Apache-2.0 */
/* Codecs by the name that an index has of them. */
#ifndef HF_INDEX_CODECS_H
#define HF_INDEX_CODECS_H

#include "codecs/codec.h"

/* The codec that decodes the format with that name, or NULL. */
const struct hf_codec *hf_index_codec_named(const char *name);

#endif

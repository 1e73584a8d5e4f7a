/* SPDX-License-Identifier: Apache-2.0 */
/* Decoders by the name that an index has of them. */
#ifndef HF_INDEX_CODECS_H
#define HF_INDEX_CODECS_H

#include "codecs/codec.h"

/* The one of them that decodes the format of that name; NULL: there is none. */
const struct hf_codec *hf_index_codec_named(const char *name);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The views by name, for who makes one or needs a certain one; everybody else goes through hf_views. */
#ifndef HF_CODECS_VIEWS_H
#define HF_CODECS_VIEWS_H

#include "codecs/codec.h"

#define HF_VIEW(name) extern const struct hf_enc_ops hf_view_##name;
#include "codecs/views.def"
#undef HF_VIEW

#endif

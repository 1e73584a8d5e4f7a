/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/registry/toy.h"

#include "codecs/views.h"

#define HF_CODEC(name) extern const struct hf_codec hf_codec_##name;
#include "codecs/codecs.def"
#undef HF_CODEC

const struct hf_codec *const hf_codecs[] = {
	&hf_codec_toy,
#define HF_CODEC(name) &hf_codec_##name,
#include "codecs/codecs.def"
#undef HF_CODEC
	NULL,
};

#define hf_view_stf hf_toy_dir

const struct hf_enc_ops *const hf_views[] = {
#define HF_VIEW(name) &hf_view_##name,
#include "codecs/views.def"
#undef HF_VIEW
	NULL,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* The lists of all codecs and of all views, and who is found in them. */
#include "codecs/codec.h"

#include <string.h>

#define HF_CODEC(name) extern const struct hf_codec hf_codec_##name;
#include "codecs/codecs.def"
#undef HF_CODEC

const struct hf_codec *const hf_codecs_all[] = {
#define HF_CODEC(name) &hf_codec_##name,
#include "codecs/codecs.def"
#undef HF_CODEC
	NULL,
};

const struct hf_codec *const *hf_codecs = hf_codecs_all;

const struct hf_codec *hf_codec_by_name(const char *name)
{
	for (size_t i = 0; hf_codecs[i]; i++)
		if (strcmp(hf_codecs[i]->name, name) == 0)
			return hf_codecs[i];
	return NULL;
}

const struct hf_codec *hf_codec_probe(const uint8_t *head, size_t n)
{
	const struct hf_codec *best = NULL;
	int best_bid = 0;

	for (size_t i = 0; hf_codecs[i]; i++) {
		int bid = hf_codecs[i]->probe ? hf_codecs[i]->probe(head, n) : 0;

		if (bid > best_bid) {
			best = hf_codecs[i];
			best_bid = bid;
		}
	}
	return best;
}

const struct hf_enc_ops *const hf_views_all[] = {
#define HF_VIEW(name) &hf_view_##name,
#include "codecs/views.def"
#undef HF_VIEW
	NULL,
};

const struct hf_enc_ops *const *hf_views = hf_views_all;

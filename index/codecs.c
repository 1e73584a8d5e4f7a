/* SPDX-License-Identifier: Apache-2.0 */
#include "index/index.h"

const struct hf_codec *const *hf_index_codecs = hf_codecs_all;

const struct hf_codec *hf_index_codec_named(const char *name)
{
	for (size_t i = 0; hf_index_codecs[i]; i++)
		if (hf_index_codecs[i]->dec && strcmp(hf_index_codecs[i]->name, name) == 0)
			return hf_index_codecs[i];
	return NULL;
}

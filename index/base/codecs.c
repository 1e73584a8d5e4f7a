/* SPDX-License-Identifier: Apache-2.0 */
#include "index/base/codecs.h"

const struct hf_codec *hf_index_codec_named(const char *name)
{
	for (size_t i = 0; hf_codecs[i]; i++)
		if (hf_codecs[i]->dec && strcmp(hf_codecs[i]->name, name) == 0)
			return hf_codecs[i];
	return NULL;
}

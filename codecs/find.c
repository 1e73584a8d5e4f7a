/* SPDX-License-Identifier: Apache-2.0 */
/* Who is found in the list of codecs. */
#include "codecs/codec.h"

#include <string.h>

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

#include "codecs/source/source.h"

#include <string.h>

const struct hf_box *const hf_boxes[] = {
	&hf_box_zstf, &hf_box_gzip, &hf_box_xz, &hf_box_zstd, &hf_box_lzma,
	&hf_box_astf_xz, &hf_box_astf_lzma, &hf_box_astf_zlib, NULL,
};

const struct hf_box *hf_box_probe(const uint8_t *head, size_t n, uint64_t file_size)
{
	const struct hf_box *best = NULL;
	int best_score = 0;

	for (size_t i = 0; hf_boxes[i]; i++) {
		int score = hf_boxes[i]->probe(head, n, file_size);

		if (score > best_score) {
			best_score = score;
			best = hf_boxes[i];
		}
	}
	return best;
}

const struct hf_box *hf_box_by_name(const char *name)
{
	for (size_t i = 0; hf_boxes[i]; i++)
		if (!strcmp(hf_boxes[i]->name, name))
			return hf_boxes[i];
	return NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/source/source.h"

#include <string.h>

const struct hf_box *const hf_boxes[] = {
	&hf_box_zstf, &hf_box_gzip, &hf_box_xz, &hf_box_zstd, &hf_box_lzma,
	&hf_box_astf_xz, &hf_box_astf_lzma, &hf_box_astf_zlib,
	&hf_box_hex, &hf_box_hex_words, NULL,
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

int hf_box_extent(const struct hf_box *box, struct hf_src *base, const struct hf_point *point,
		  struct hf_extent *ret_extent, struct hf_diag *diag)
{
	int err;

	*ret_extent = (struct hf_extent){.end = point->out_offset + point->out_size,
					 .lost = point->bits & HF_POINT_DAMAGED};
	err = box->sync_behind ? box->sync_behind(base, point, &ret_extent->sync, diag) : (int)HF_NOTE_END;
	ret_extent->known = !err;
	return err < 0 ? err : 0;
}

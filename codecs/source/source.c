/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/source/source.h"

void hf_src_free(struct hf_src *src)
{
	if (src)
		src->ops->free(src);
}

int hf_src_read_all(struct hf_src *src, uint64_t offset, void *buf, size_t n, size_t *ret_n, struct hf_diag *diag)
{
	size_t got;
	int err = 0;

	for (*ret_n = 0; *ret_n < n && !err; *ret_n += got) {
		err = hf_src_read_at(src, offset + *ret_n, (uint8_t *)buf + *ret_n, n - *ret_n, &got, diag);
		if (!got)
			break;
	}
	return err;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/source/source.h"

#include <stdlib.h>
#include <string.h>

struct memory_src {
	struct hf_src src;
	const uint8_t *bytes;
};

static int memory_read_at(struct hf_src *src, uint64_t offset, void *buf, size_t n, size_t *ret_n, struct hf_diag *diag)
{
	const struct memory_src *mem = (const struct memory_src *)src;

	(void)diag;
	*ret_n = 0;
	if (offset >= src->size)
		return 0;
	if (n > src->size - offset)
		n = (size_t)(src->size - offset);
	if (n)
		memcpy(buf, mem->bytes + offset, n);
	*ret_n = n;
	return 0;
}

static void memory_free(struct hf_src *src)
{
	free(src);
}

static const struct hf_src_ops memory_ops = {.read_at = memory_read_at, .free = memory_free};

int hf_src_memory_new(const void *bytes, size_t size, struct hf_src **ret_src)
{
	struct memory_src *mem = malloc(sizeof *mem);

	*ret_src = NULL;
	if (!mem)
		return HF_ERR_NOMEM;
	*mem = (struct memory_src){.src = {.ops = &memory_ops, .size = size}, .bytes = bytes};
	*ret_src = &mem->src;
	return 0;
}

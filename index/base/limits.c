/* SPDX-License-Identifier: Apache-2.0 */
#include "index/base/limits.h"

#include "codecs/base/err.h"

const struct hf_chunk_limits hf_chunk_limits_default = {
	.insns = 16384,
	.events = 131072,
	.bytes = UINT64_C(4) << 20,
};

bool hf_chunk_limits_equal(const struct hf_chunk_limits *a, const struct hf_chunk_limits *b)
{
	return a->insns == b->insns && a->events == b->events && a->bytes == b->bytes;
}

uint64_t hf_expansion_most(uint64_t expansion, uint64_t size)
{
	uint64_t most;

	if (expansion == HF_NOWHERE)
		return HF_NOWHERE;
	if (size < HF_EXPANSION_SMALL)
		size = HF_EXPANSION_SMALL;
	return __builtin_mul_overflow(expansion ? expansion : HF_EXPANSION, size, &most) ? HF_NOWHERE : most;
}

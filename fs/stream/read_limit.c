/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/stream/read_limit.h"
#include "fs/stream/block_source.h"

static int read_at(struct hf_src *src, uint64_t offset, void *buf, size_t n, size_t *ret_n, struct hf_diag *diag)
{
	const struct hf_read_limit *limit = (const struct hf_read_limit *)src;

	if (limit->through)
		return hf_block_source_read_through(limit->blocks, offset, buf, n, src->until, ret_n, diag);
	if (offset >= src->until)
		return hf_src_read_at(limit->blocks, offset, buf, n, ret_n, diag);
	return hf_block_source_read_until(limit->blocks, offset, buf, n, src->until, ret_n, diag);
}

static int sync_after(struct hf_src *src, uint64_t offset, uint64_t limit, struct hf_sync *ret_sync,
		      struct hf_diag *diag)
{
	return hf_src_sync_after(((struct hf_read_limit *)src)->blocks, offset, limit, ret_sync, diag);
}

static int extent_at(struct hf_src *src, uint64_t offset, struct hf_extent *ret_extent, struct hf_diag *diag)
{
	return hf_src_extent_at(((struct hf_read_limit *)src)->blocks, offset, ret_extent, diag);
}

static const struct hf_src_ops ops = {.read_at = read_at, .sync_after = sync_after, .extent_at = extent_at};

void hf_read_limit_init(struct hf_read_limit *limit, struct hf_src *blocks)
{
	*limit = (struct hf_read_limit){.blocks = blocks};
	limit->src = (struct hf_src){.ops = &ops, .size = blocks->size, .memory = blocks->memory, .stop = blocks->stop};
}

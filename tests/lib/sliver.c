/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/sliver.h"

#include <stdlib.h>

struct sliver {
	struct hf_src src;
	struct hf_src *base;
	size_t most;
	uint64_t bad_at;
	int err;
};

static int sliver_read_at(struct hf_src *src, uint64_t offset, void *buf, size_t n, size_t *ret_n, struct hf_diag *diag)
{
	const struct sliver *s = (const struct sliver *)src;

	*ret_n = 0;
	if (offset >= s->bad_at)
		return hf_diag_set(diag, s->err, HF_SPACE_FILE, offset, 0);
	if (n > s->most)
		n = s->most;
	if (n > s->bad_at - offset)
		n = (size_t)(s->bad_at - offset);
	return hf_src_read_at(s->base, offset, buf, n, ret_n, diag);
}

static int sliver_sync_after(struct hf_src *src, uint64_t offset, uint64_t limit, struct hf_sync *ret_sync,
			     struct hf_diag *diag)
{
	return hf_src_sync_after(((struct sliver *)src)->base, offset, limit, ret_sync, diag);
}

static int sliver_extent_at(struct hf_src *src, uint64_t offset, struct hf_extent *ret_extent, struct hf_diag *diag)
{
	return hf_src_extent_at(((struct sliver *)src)->base, offset, ret_extent, diag);
}

static void sliver_free(struct hf_src *src)
{
	free(src);
}

static int make(struct hf_src *base, size_t most, uint64_t bad_at, int err, struct hf_src **ret_src)
{
	static const struct hf_src_ops ops = {
		.read_at = sliver_read_at, .free = sliver_free, .sync_after = sliver_sync_after,
		.extent_at = sliver_extent_at};
	struct sliver *s = malloc(sizeof *s);

	*ret_src = NULL;
	if (!s)
		return HF_ERR_NOMEM;
	*s = (struct sliver){
		.src = {.ops = &ops, .size = base->size}, .base = base, .most = most, .bad_at = bad_at, .err = err};
	*ret_src = &s->src;
	return 0;
}

int hf_sliver_new(struct hf_src *base, size_t most, struct hf_src **ret_src)
{
	return make(base, most, UINT64_MAX, 0, ret_src);
}

int hf_sliver_new_failing(struct hf_src *base, uint64_t bad_at, int err, struct hf_src **ret_src)
{
	return make(base, SIZE_MAX, bad_at, err, ret_src);
}

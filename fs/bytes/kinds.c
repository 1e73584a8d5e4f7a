/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/bytes/kinds.h"
#include "fs/base/views.h"
#include "fs/capture/capture.h"
#include "fs/capture/facts.h"

static int take(struct hf_capture *capture, const struct hf_facts *facts, const struct hf_bytes_ops *ops, uint64_t size,
		uint64_t owner, struct hf_bytes *ret_bytes)
{
	*ret_bytes = (struct hf_bytes){
		.ops = ops, .capture = capture, .version = facts->version, .owner = owner, .size = size};
	return size == HF_NOWHERE ? HF_ERR_NOT_FOUND : 0;
}

int hf_bytes_of_stream(struct hf_capture *capture, const struct hf_facts *facts, struct hf_bytes *ret_bytes)
{
	return take(capture, facts, &hf_bytes_stream, facts->known.stream_size, facts->stream_owner, ret_bytes);
}

int hf_bytes_of_view(struct hf_capture *capture, const struct hf_facts *facts, uint32_t hart, size_t view,
		     struct hf_bytes *ret_bytes)
{
	const struct hf_facts_hart *found = hf_facts_hart(facts, hart);
	const struct hf_bytes_ops *ops = view == HF_VIEW_PROGRAM ? &hf_bytes_program
					 : view >= HF_VIEW_COUNT ? &hf_bytes_side
								 : &hf_bytes_chunks;
	int err;

	if (!found)
		return HF_ERR_NOT_FOUND;
	/* The original of a one-hart stream and source.stf are the same bytes: one place in the cache. */
	if (facts->known.original == (int)view)
		return hf_bytes_of_stream(capture, facts, ret_bytes);
	err = take(capture, facts, ops, found->view[view].size, found->view[view].owner, ret_bytes);
	ret_bytes->hart = hart;
	ret_bytes->view = view;
	return err;
}

int hf_bytes_of_text(struct hf_capture *capture, const struct hf_facts *facts, enum hf_text text,
		     struct hf_bytes *ret_bytes)
{
	int err =
		take(capture, facts, &hf_bytes_text, facts->known.text_size[text], facts->text_owner[text], ret_bytes);

	ret_bytes->view = text;
	ret_bytes->closed = facts->failure.code;
	return err;
}

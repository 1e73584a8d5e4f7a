/* SPDX-License-Identifier: Apache-2.0 */
/* The file of the summary that a pass makes, from opening to publishing. */
#include "index/pass/pass_run.h"
#include "index/read/decode_index.h"
#include "index/summary/summary.h"

bool hf_pass_wants_summary(const struct hf_pass *pass)
{
	return pass->build->summary && hf_summary_part_is_possible(pass->build->dir);
}

bool hf_pass_outgrows_pack(const struct hf_pass *pass, uint64_t number)
{
	return number >= HF_SUMMARY_UNPACKED && pass->build->summary && !hf_summary_part_is_possible(pass->build->dir);
}

int hf_pass_open_summary(struct hf_pass *pass)
{
	return hf_summary_part_open(&pass->summary, pass->build->dir, &pass->build->identity, &pass->limits);
}

void hf_pass_close_summary(struct hf_pass *pass)
{
	if (*pass->summary.file.name)
		hf_summary_part_close(&pass->summary);
	pass->summary = (struct hf_summary_part){0};
}

/* The checkpoint is where a chunk of that index begins, and all harts that are whole are as in there. */
static int is_part_of(struct hf_summary_part *part, struct hf_index *index)
{
	const struct hf_index_hart *hart;
	struct hf_summary_hart row;
	struct hf_chunk chunk;
	int err;

	for (uint64_t slot = 0; (hart = hf_index_next_slot(index, slot)); slot = hart->slot + 1) {
		err = hf_summary_part_hart(part, hart->slot, &row);
		if (err < 0 || (!err && (row.id != hart->id || row.insns != hart->insns || row.chunks != hart->chunks)))
			return err;
		if (!hf_summary_part_checkpoint(part, hart->id, &row))
			continue;
		err = row.chunks < hart->chunks ? hf_index_chunk(index, hart->id, row.chunks, &chunk) : (int)HF_NOTE_END;
		if (err || chunk.ordinal != row.insns)
			return err < 0 ? err : 0;
	}
	return 1;
}

int hf_pass_fit_summary(struct hf_pass *pass, struct hf_index *index)
{
	const int fits = is_part_of(&pass->summary, index);

	return fits == 0 ? hf_summary_part_reset(&pass->summary, &pass->limits) : fits < 0 ? fits : 0;
}

int hf_pass_restart_summary(struct hf_pass *pass)
{
	return pass->summary.store && pass->summary.resumed ? hf_summary_part_reset(&pass->summary, &pass->limits) : 0;
}

int hf_pass_write_summary(struct hf_pass *pass, const uint8_t *bytes, size_t size)
{
	union {
		struct hf_summary_hart hart;
		struct hf_summary_span span;
		struct hf_summary_context context;
		struct hf_summary_page page;
		struct hf_summary_section section;
		struct hf_summary_calls calls;
		struct hf_summary_call_page call_page;
	} row;
	uint64_t head[2];

	memcpy(head, bytes, sizeof head);
	memcpy(&row, bytes + sizeof head, size - sizeof head);
	return hf_summary_part_put(&pass->summary, (enum hf_table_id)head[0], head[1], &row);
}

int hf_pass_finish_summary(struct hf_pass *pass)
{
	struct hf_summary_part *part = &pass->summary;

	if (!part->store)
		return 0;
	return pass->behind ? hf_store_commit(part->store) : hf_summary_part_finish(part, &pass->limits);
}

int hf_pass_publish_summary(struct hf_pass *pass, bool wanted)
{
	if (!*pass->summary.file.name || (wanted && pass->behind))
		return 0;
	if (wanted)
		return hf_part_publish(&pass->summary.file);
	hf_part_remove(&pass->summary.file);
	return 0;
}

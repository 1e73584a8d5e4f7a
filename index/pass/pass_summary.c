/* SPDX-License-Identifier: Apache-2.0 */
/* The file of the summary that a pass makes, from opening to publishing. */
#include "index/pass/pass_run.h"
#include "index/read/decode_index.h"
#include "index/summary/summary.h"

bool hf_pass_wants_summary(const struct hf_pass *pass)
{
	return pass->build->summary && hf_summary_part_is_possible(pass->build->dirfd);
}

bool hf_pass_outgrows_pack(const struct hf_pass *pass, uint64_t number)
{
	return number >= HF_SUMMARY_UNPACKED && pass->build->summary &&
	       !hf_summary_part_is_possible(pass->build->dirfd);
}

int hf_pass_open_summary(struct hf_pass *pass)
{
	return hf_summary_part_open(&pass->summary, pass->build->dirfd, &pass->build->identity, &pass->limits);
}

void hf_pass_close_summary(struct hf_pass *pass)
{
	if (*pass->summary.file.name)
		hf_summary_part_close(&pass->summary);
	pass->summary = (struct hf_summary_part){0};
}

void hf_pass_leave_summary(struct hf_pass *pass)
{
	if (!pass->summary.store)
		return;
	hf_summary_part_remove(&pass->summary);
	hf_pass_close_summary(pass);
	pass->left = true;
}

/* Whether it has all harts before chunk id, and all of that chunk's hart before it. */
static int reaches(struct hf_pass *pass, uint64_t id)
{
	struct hf_summary_part *part = &pass->summary;
	const uint64_t slot = id >> HF_NUMBER_BITS, number = id & HF_NUMBER_MAX;
	struct hf_index_hart hart = {0};
	int err, has;

	for (; !(err = hf_index_part_hart(pass->index, hart.slot, &hart)) && hart.slot < slot; hart.slot++)
		if ((has = hf_summary_part_has_hart(part, hart.slot)) != 1)
			return has;
	if (err < 0 || slot == HF_SLOT_RECORDS || !number)
		return err < 0 ? err : 1;
	has = hf_summary_part_has_hart(part, slot);
	return has || !part->has_state ? has : part->place.slot == slot && part->place.chunk >= number;
}

int hf_pass_resume_summary(struct hf_pass *pass, uint64_t id)
{
	struct hf_summary_part *part = &pass->summary;
	int err;

	if (!part->store)
		return 0;
	err = reaches(pass, id);
	/* At the end it is checked again whether it is of these chunks. */
	pass->left = pass->left || part->resumed;
	if (err == 0)
		hf_pass_leave_summary(pass);
	return err < 0 ? err : 0;
}

int hf_pass_events_before(struct hf_index *index, uint32_t hart, uint64_t chunk, uint64_t *ret_events)
{
	struct hf_chunk row;
	int err = 0;

	*ret_events = 0;
	for (uint64_t i = 0; i < chunk && !err; i++) {
		err = hf_index_chunk(index, hart, i, &row);
		*ret_events += err ? 0 : row.events;
	}
	return err;
}

/* Whether the hart has that place. */
static int has_place(struct hf_index *index, const struct hf_index_hart *hart, const struct hf_summary_place *place)
{
	struct hf_chunk row;
	uint64_t before;
	int err = place->chunk < hart->chunks ? hf_index_chunk(index, hart->id, place->chunk, &row) : 1;

	if (!err)
		err = hf_pass_events_before(index, hart->id, place->chunk, &before);
	return err ? (err < 0 ? err : 0) : before == place->before && (!place->events || place->events < row.events);
}

static int is_part_of(struct hf_summary_part *part, struct hf_index *index)
{
	const struct hf_index_hart *hart = hf_index_next_slot(index, part->place.slot);
	struct hf_summary_hart row;
	int err;

	if (part->has_state && (!hart || hart->slot != part->place.slot))
		return 0;
	if (part->has_state && (err = has_place(index, hart, &part->place)) != 1)
		return err;
	for (uint64_t slot = 0; (hart = hf_index_next_slot(index, slot)); slot = hart->slot + 1) {
		err = hf_summary_part_hart(part, hart->slot, &row);
		if (err < 0 || (!err && (row.id != hart->id || row.insns != hart->insns || row.chunks != hart->chunks)))
			return err;
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
	return pass->summary.resumed ? hf_summary_part_reset(&pass->summary, &pass->limits) : 0;
}

static int write_row(struct hf_pass_run *run, const uint8_t *bytes, size_t size)
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
	return hf_summary_part_put(&run->pass->summary, (enum hf_table_id)head[0], head[1], &row);
}

int hf_pass_write_summary(struct hf_pass_run *run)
{
	const struct hf_row *row;
	struct hf_row_queue rows;
	int err = 0;

	hf_row_queue_init(&rows);
	hf_row_queue_take(&rows, &run->summed);
	while (!err && run->pass->summary.store && (row = hf_row_queue_pop(&rows)))
		err = write_row(run, hf_row_bytes(row), row->size);
	hf_row_queue_fini(&rows);
	return err;
}

int hf_pass_finish_summary(struct hf_pass *pass)
{
	return pass->summary.store ? hf_summary_part_finish(&pass->summary, &pass->limits) : 0;
}

int hf_pass_publish_summary(struct hf_pass *pass, bool wanted)
{
	if (!*pass->summary.file.name)
		return 0;
	if (wanted)
		return hf_summary_part_publish(&pass->summary);
	hf_summary_part_remove(&pass->summary);
	return 0;
}

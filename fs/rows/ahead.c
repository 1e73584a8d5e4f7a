/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/rows/ahead.h"
#include "fs/bytes/answer.h"
#include "fs/capture/repair.h"

#include <stdlib.h>

/* Whether nothing of the chunk can be a row. */
static int look(struct hf_find_reader *reader, uint64_t number, struct hf_worker *worker, bool *ret_no_rows)
{
	struct hf_find_chunk found;
	int err = hf_find_chunk(reader, number, worker, &found);

	*ret_no_rows = !err && !found.items.count;
	if (!err)
		hf_find_chunk_fini(&found);
	return hf_answer_check(reader->source->open, err);
}

static int run(struct hf_job *job, struct hf_worker *worker)
{
	struct hf_rows_ahead_slot *slot = (struct hf_rows_ahead_slot *)job;
	struct hf_find_reader *reader = &slot->reader;

	slot->err = slot->probe ? look(reader, slot->chunk->number, worker, &slot->no_rows) : 0;
	if (!slot->err && !slot->no_rows)
		slot->err = hf_rows_chunk_decode(reader->source->open, hf_find_reader_cursor(reader), slot->chunk);
	return slot->err;
}

static struct hf_exec *exec_of(const struct hf_rows *rows)
{
	return rows->hart->open->capture->common->exec;
}

/* Two for each core, as one of them waits while the other one is decoded. */
static int make_slots(struct hf_rows_ahead *ahead, const struct hf_rows *rows)
{
	const size_t wanted = 2 * (size_t)hf_exec_seats(exec_of(rows), HF_WORK_DECODE);

	ahead->count = wanted < HF_ROWS_AHEAD_MOST ? wanted : HF_ROWS_AHEAD_MOST;
	ahead->slots = calloc(ahead->count, sizeof *ahead->slots);
	return ahead->slots ? 0 : HF_ERR_NOMEM;
}

static int submit(struct hf_rows_ahead *ahead, struct hf_rows *rows, uint64_t number)
{
	struct hf_rows_ahead_slot *slot = &ahead->slots[(ahead->first + ahead->in_flight) % ahead->count];

	slot->chunk = hf_rows_chunk_find(rows->session, rows->hart, number);
	slot->kept = slot->chunk;
	slot->err = slot->kept ? 0 : HF_ERR_CANCELLED;
	if (!slot->kept)
		slot->chunk = hf_rows_chunk_new(rows->hart, number);
	if (!slot->chunk)
		return HF_ERR_NOMEM;
	slot->reader.source = &ahead->source;
	slot->probe = ahead->probe;
	slot->no_rows = false;
	ahead->in_flight++;
	rows->session->ahead++;
	if (slot->kept)
		return 0;
	slot->job = (struct hf_job){.fn = run, .work = HF_WORK_DECODE};
	hf_job_submit(exec_of(rows), &slot->job);
	return 0;
}

/* The oldest one, with a reference, or NULL if it has no rows. */
static int take(struct hf_rows_ahead *ahead, struct hf_rows *rows, struct hf_rows_chunk **ret_chunk)
{
	struct hf_rows_ahead_slot *slot = &ahead->slots[ahead->first];

	if (!slot->kept)
		hf_job_join(&slot->job);
	ahead->first = (ahead->first + 1) % ahead->count;
	ahead->in_flight--;
	rows->session->ahead--;
	*ret_chunk = slot->chunk;
	if (slot->kept)
		return 0;
	if (!slot->err && !slot->no_rows) {
		hf_rows_chunk_keep(rows->session, slot->chunk);
		return 0;
	}
	*ret_chunk = NULL;
	hf_rows_chunk_free(slot->chunk);
	return slot->err;
}

/* As many more may be under way as there is room for if they are like this one; without rows (NULL) it takes none. */
static void widen(struct hf_rows_ahead *ahead, const struct hf_rows *rows, const struct hf_rows_chunk *like)
{
	const size_t size = like ? hf_rows_chunk_size(like) + 1 : 1, fit = HF_ROWS_AHEAD_BYTES / size;
	const size_t others = rows->session->ahead - ahead->in_flight;
	size_t most = fit < HF_ROWS_AHEAD_MOST ? fit : HF_ROWS_AHEAD_MOST;

	most = most > others ? most - others : 0;
	ahead->window = ahead->window ? 2 * ahead->window : 1;
	if (ahead->window > most)
		ahead->window = most;
}

static int fill(struct hf_rows_ahead *ahead, struct hf_rows *rows, hf_rows_ahead_fn next)
{
	uint64_t number;
	int err = ahead->slots ? 0 : make_slots(ahead, rows);

	while (!err && ahead->in_flight < ahead->window && ahead->in_flight < ahead->count && next(rows, &number))
		err = submit(ahead, rows, number);
	return err;
}

static int get_here(struct hf_rows_ahead *ahead, struct hf_rows *rows, uint64_t number, struct hf_rows_chunk **ret_chunk)
{
	struct hf_worker worker = {.env.disasm = rows->session->disasm};
	bool no_rows = false;
	int err = 0;

	*ret_chunk = hf_rows_chunk_find(rows->session, rows->hart, number);
	if (*ret_chunk)
		return 0;
	ahead->here.source = &ahead->source;
	if (ahead->probe)
		err = look(&ahead->here, number, &worker, &no_rows);
	return err || no_rows ? err : hf_rows_chunk_get(rows->session, rows->hart, number, ret_chunk);
}

/* With nothing under way, the one that is wanted is decoded here: whoever wants no more pays for no more. */
int hf_rows_ahead_take(struct hf_rows_ahead *ahead, struct hf_rows *rows, hf_rows_ahead_fn next,
		       struct hf_rows_chunk **ret_chunk, uint64_t *ret_number)
{
	int err = ahead->window ? fill(ahead, rows, next) : 0;

	*ret_chunk = NULL;
	if (err)
		return err;
	if (ahead->in_flight) {
		*ret_number = ahead->slots[ahead->first].chunk->number;
		err = take(ahead, rows, ret_chunk);
	} else if (next(rows, ret_number)) {
		err = get_here(ahead, rows, *ret_number, ret_chunk);
	} else {
		return HF_NOTE_END;
	}
	if (err && err != HF_ERR_LIMIT)
		hf_open_blame(rows->hart->open, err);
	if (!err)
		widen(ahead, rows, *ret_chunk);
	return err;
}

void hf_rows_ahead_end(struct hf_rows_ahead *ahead, struct hf_rows *rows)
{
	for (size_t i = 0; i < ahead->in_flight; i++) {
		struct hf_rows_ahead_slot *slot = &ahead->slots[(ahead->first + i) % ahead->count];

		if (!slot->kept)
			hf_job_cancel(&slot->job);
	}
	while (ahead->in_flight) {
		struct hf_rows_chunk *chunk;

		if (!take(ahead, rows, &chunk) && chunk)
			hf_rows_chunk_put(rows->session, chunk);
	}
	for (size_t i = 0; i < ahead->count; i++)
		hf_find_reader_fini(&ahead->slots[i].reader);
	hf_find_reader_fini(&ahead->here);
	free(ahead->slots);
	*ahead = (struct hf_rows_ahead){0};
}

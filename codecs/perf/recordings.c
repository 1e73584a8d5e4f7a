/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/perf/recordings.h"

#include "codecs/base/array.h"
#include "codecs/base/bytes.h"

#define BY_THREAD (UINT64_C(1) << 32)

enum { AUX_SIZE = 32, AUXTRACE_SIZE = 48, HW_ID_SIZE = 16, TRACE_ID_MAX = 0x6f, HW_IDS_MAX = 4096 };

static int add_recording(struct hf_perf_recordings *all, const struct hf_perf_recording *recording)
{
	int err;

	if (all->count == HF_PERF_RECORDINGS_MAX) {
		all->cut = true;
		return 0;
	}
	err = hf_array_room(&all->row, all->count, sizeof *all->row);
	if (!err)
		all->row[all->count++] = *recording;
	return err;
}

static int add_aux(struct hf_perf_recordings *all, struct hf_perf_attrs *attrs, const struct hf_perf_record *record)
{
	const struct hf_perf_trailer trailer = hf_perf_trailer_of(attrs, record);
	struct hf_perf_recording recording = {.time = trailer.time,
					      .cpu = trailer.has_cpu ? trailer.cpu : HF_PERF_NO_CPU,
					      .pid = trailer.has_tid ? trailer.pid : UINT32_MAX,
					      .tid = trailer.has_tid ? trailer.tid : UINT32_MAX};

	if (record->size < AUX_SIZE)
		return 0;
	recording.offset = hf_get64(record->bytes + 8);
	recording.size = hf_get64(record->bytes + 16);
	recording.flags = hf_get64(record->bytes + 24);
	all->losses += (recording.flags & HF_PERF_AUX_LOSSES) != 0;
	all->empty += !recording.size;
	return recording.size ? add_recording(all, &recording) : 0;
}

static int add_trace(struct hf_perf_recordings *all, const struct hf_perf_record *record, uint32_t file)
{
	struct hf_perf_piece piece = {.at = record->trace_at, .size = record->trace_size, .file = file};
	uint32_t cpu, tid;
	int err;

	if (record->size < AUXTRACE_SIZE || record->packed || !piece.size)
		return 0;
	piece.offset = hf_get64(record->bytes + 16);
	tid = hf_get32(record->bytes + 36);
	cpu = hf_get32(record->bytes + 40);
	piece.key = cpu != HF_PERF_NO_CPU ? cpu : BY_THREAD | tid;
	if (all->piece_count == HF_PERF_PIECES_MAX || piece.offset > UINT64_MAX - piece.size) {
		all->cut |= all->piece_count == HF_PERF_PIECES_MAX;
		return 0;
	}
	err = hf_array_room(&all->piece, all->piece_count, sizeof piece);
	if (!err)
		all->piece[all->piece_count++] = piece;
	return err;
}

/* The same again and again is as once. */
static int add_hw_id(struct hf_perf_recordings *all, struct hf_perf_attrs *attrs, const struct hf_perf_record *record)
{
	const struct hf_perf_trailer trailer = hf_perf_trailer_of(attrs, record);
	const uint64_t value = record->size >= HW_ID_SIZE ? hf_get64(record->bytes + 8) : 0;
	struct hf_perf_hw_id id = {.cpu = trailer.cpu, .id = value & 0xff, .minor = value >> 56 & 15};
	int err;

	if (!trailer.has_cpu || value >> 60 || !id.id || id.id > TRACE_ID_MAX) {
		all->hw_odd = true;
		return 0;
	}
	id.sink = id.minor ? (uint32_t)(value >> 8) : 0;
	for (size_t i = 0; i < all->hw_count; i++) {
		const struct hf_perf_hw_id *other = &all->hw[i];

		if (other->sink != id.sink || (other->cpu != id.cpu && other->id != id.id))
			continue;
		all->hw_odd |= other->cpu != id.cpu || other->id != id.id;
		return 0;
	}
	if (all->hw_count == HW_IDS_MAX) {
		all->hw_odd = true;
		return 0;
	}
	err = hf_array_room(&all->hw, all->hw_count, sizeof id);
	if (!err)
		all->hw[all->hw_count++] = id;
	return err;
}

int hf_perf_recordings_add(struct hf_perf_recordings *all, struct hf_perf_attrs *attrs,
			   const struct hf_perf_record *record, uint32_t file)
{
	switch (record->type) {
	case HF_PERF_AUX: return add_aux(all, attrs, record);
	case HF_PERF_AUXTRACE: return add_trace(all, record, file);
	default: return add_hw_id(all, attrs, record);
	}
}

/* ---- which bytes ---- */

static int by_place(const void *a, const void *b)
{
	const struct hf_perf_piece *left = a, *right = b;

	if (left->key != right->key)
		return left->key < right->key ? -1 : 1;
	return left->offset < right->offset ? -1 : left->offset > right->offset;
}

/* The last piece of that buffer that begins at or before offset; NULL: there is none. */
static struct hf_perf_piece *find_piece(const struct hf_perf_recordings *all, uint64_t key, uint64_t offset)
{
	size_t low = 0, high = all->piece_count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const struct hf_perf_piece *piece = &all->piece[middle];

		if (piece->key < key || (piece->key == key && piece->offset <= offset))
			low = middle + 1;
		else
			high = middle;
	}
	return low && all->piece[low - 1].key == key ? &all->piece[low - 1] : NULL;
}

/* Its bytes in the buffer with that key. With OVERWRITE offset is where it ends, and it may be longer than the buffer. */
static bool find_bytes(const struct hf_perf_recordings *all, struct hf_perf_recording *recording, uint64_t key)
{
	const bool overwrite = recording->flags & HF_PERF_AUX_OVERWRITE;
	uint64_t start = recording->offset, size = recording->size;
	struct hf_perf_piece *piece = find_piece(all, key, overwrite && start ? start - 1 : start);

	if (!piece)
		return false;
	if (overwrite) {
		size = size < piece->size ? size : piece->size;
		start = start > size ? start - size : 0;
	}
	if (start < piece->offset || start - piece->offset > piece->size || size > piece->size - (start - piece->offset))
		return false;
	piece->used = true;
	recording->offset = start;
	recording->size = size;
	recording->file = piece->file;
	recording->at = piece->at + (start - piece->offset);
	return true;
}

/* What the recorder wrote and no AUX record tells of: of older kernels, or their records were lost. */
static int add_strays(struct hf_perf_recordings *all)
{
	uint64_t format = 0;
	int err = 0;

	for (size_t i = 0; i < all->count; i++)
		format |= all->row[i].flags & HF_PERF_AUX_FORMAT;
	for (size_t i = 0; i < all->piece_count && !err; i++) {
		const struct hf_perf_piece *piece = &all->piece[i];
		const bool thread = piece->key & BY_THREAD;

		if (!piece->used)
			err = add_recording(all, &(struct hf_perf_recording){.offset = piece->offset,
									     .size = piece->size,
									     .flags = format,
									     .cpu = thread ? HF_PERF_NO_CPU : (uint32_t)piece->key,
									     .pid = UINT32_MAX,
									     .tid = thread ? (uint32_t)piece->key : UINT32_MAX,
									     .stray = true,
									     .there = true,
									     .file = piece->file,
									     .at = piece->at});
	}
	return err;
}

/* Recordings to be put in order, as numbers: equal ones stay as they are. */
struct turn {
	uint64_t time;
	size_t number;
};

static int by_time(const void *a, const void *b)
{
	const struct turn *left = a, *right = b;

	if (left->time != right->time)
		return left->time < right->time ? -1 : 1;
	return left->number < right->number ? -1 : left->number > right->number;
}

static int sort_recordings(struct hf_perf_recordings *all)
{
	struct turn *turn = malloc((all->count + 1) * sizeof *turn);
	struct hf_perf_recording *sorted = malloc((all->count + 1) * sizeof *sorted);
	const bool room = turn && sorted;

	for (size_t i = 0; room && i < all->count; i++)
		turn[i] = (struct turn){all->row[i].time, i};
	if (room)
		qsort(turn, all->count, sizeof *turn, by_time);
	for (size_t i = 0; room && i < all->count; i++)
		sorted[i] = all->row[turn[i].number];
	free(turn);
	if (!room) {
		free(sorted);
		return HF_ERR_NOMEM;
	}
	free(all->row);
	all->row = sorted;
	return 0;
}

int hf_perf_recordings_match(struct hf_perf_recordings *all)
{
	int err;

	if (all->piece_count)
		qsort(all->piece, all->piece_count, sizeof *all->piece, by_place);
	for (size_t i = 0; i < all->count; i++) {
		struct hf_perf_recording *row = &all->row[i];

		row->there = (row->cpu != HF_PERF_NO_CPU && find_bytes(all, row, row->cpu)) ||
			     (row->tid != UINT32_MAX && find_bytes(all, row, BY_THREAD | row->tid));
		all->missing += !row->there;
		if (!row->there)
			all->missing_bytes += row->size < INT64_MAX - all->missing_bytes ? row->size : 0;
	}
	err = add_strays(all);
	return err ? err : sort_recordings(all);
}

void hf_perf_recordings_free(struct hf_perf_recordings *all)
{
	free(all->row);
	free(all->piece);
	free(all->hw);
	*all = (struct hf_perf_recordings){.row = NULL};
}

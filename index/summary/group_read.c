/* SPDX-License-Identifier: Apache-2.0 */
#include "index/summary/group_read.h"

#include "codecs/base/bytes.h"

#include <stdlib.h>
#include <zstd.h>

/* Most bytes of a section: a chunk has at most 131,072 events. */
#define SECTION_MAX ((size_t)256 << 20)

struct hf_group_room {
	ZSTD_DCtx *zstd;
	struct hf_raw packed, raw;
	struct hf_summary_section row;
};

int hf_group_reader_open(struct hf_summary *summary, uint32_t hart, struct hf_group_reader *r)
{
	*r = (struct hf_group_reader){.summary = summary, .hart = hf_summary_find_hart(summary, hart)};
	if (!r->hart)
		return HF_ERR_NOT_FOUND;
	r->groups = (r->hart->chunks + HF_GROUP_CHUNKS - 1) / HF_GROUP_CHUNKS;
	r->room = calloc(1, sizeof *r->room);
	if (!r->room)
		return HF_ERR_NOMEM;
	r->room->zstd = ZSTD_createDCtx();
	return r->room->zstd ? 0 : HF_ERR_NOMEM;
}

void hf_group_reader_close(struct hf_group_reader *r)
{
	if (!r->room)
		return;
	ZSTD_freeDCtx(r->room->zstd);
	free(r->room->packed.p);
	free(r->room->raw.p);
	free(r->room);
}

static int fetch(struct hf_group_reader *r, uint64_t number)
{
	struct hf_published *file = &r->summary->file;
	int err;

	if (number > HF_NUMBER_MAX)
		return HF_ERR_STATE;
	pthread_mutex_lock(&file->lock);
	err = hf_store_find(file->store, &hf_table_summary_section, HF_SEEK_AT, hf_row_id(r->hart->slot, number), NULL,
			    &r->room->row);
	pthread_mutex_unlock(&file->lock);
	return err;
}

static int unpack(struct hf_group_room *room, const uint8_t *packed, size_t n)
{
	const size_t size = room->row.size;

	room->raw.n = 0;
	if (!size || size > SECTION_MAX)
		return HF_ERR_STATE;
	if (!hf_raw_room(&room->raw, size))
		return HF_ERR_NOMEM;
	return ZSTD_decompressDCtx(room->zstd, room->raw.p, size, packed, n) == size ? 0 : HF_ERR_STATE;
}

/* A section mostly has one piece. */
int hf_group_read(struct hf_group_reader *r, uint64_t group, enum hf_section section)
{
	struct hf_group_room *room = r->room;
	uint64_t piece = 0;
	int err = fetch(r, hf_section_row(group, section, 0));

	if (err)
		return err;
	room->packed.n = 0;
	while (!err && room->row.n == HF_SECTION_PIECE && ++piece < HF_SECTION_PIECES) {
		hf_raw_bytes(&room->packed, room->row.data, room->row.n);
		room->row.n = 0;
		err = fetch(r, hf_section_row(group, section, piece));
	}
	if (err == HF_NOTE_END)
		err = 0;
	if (!err && piece) {
		hf_raw_bytes(&room->packed, room->row.data, room->row.n);
		err = room->packed.err;
	}
	if (!err)
		err = piece ? unpack(room, room->packed.p, room->packed.n) : unpack(room, room->row.data, room->row.n);
	r->at = room->raw.p;
	r->end = r->at + room->row.size;
	return err;
}

int hf_group_number(struct hf_group_reader *r, uint64_t *ret_number)
{
	const uint8_t *p = hf_get_varint(r->at, r->end, ret_number);

	if (!p)
		return HF_ERR_STATE;
	r->at = p;
	return 0;
}

int hf_group_read_keys(struct hf_group_reader *r, struct hf_group_keys *ret_keys)
{
	int err = hf_group_read(r, 0, HF_SECTION_KEYS);

	*ret_keys = (struct hf_group_keys){0};
	if (!err)
		err = hf_group_number(r, &ret_keys->known);
	if (!err)
		err = hf_keys_read(&ret_keys->rare, &r->at, r->end);
	if (!err)
		err = hf_keys_read(&ret_keys->registers, &r->at, r->end);
	return err > 0 || (!err && r->at != r->end) ? HF_ERR_STATE : err;
}

void hf_group_keys_free(struct hf_group_keys *keys)
{
	hf_keys_free(&keys->rare);
	hf_keys_free(&keys->registers);
}

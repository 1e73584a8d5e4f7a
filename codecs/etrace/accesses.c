/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/etrace/accesses.h"

#include <stdlib.h>
#include <string.h>

/* As many as fit a blob of HF_STATE_MAX bytes, and more. */
#define ROOM_FIRST 512u

static int make_room(struct hf_etrace_accesses *q)
{
	const uint32_t room = q->room ? 2 * q->room : ROOM_FIRST;
	struct hf_etrace_access *bigger;

	if (q->first + q->count < q->room)
		return 0;
	if (q->first > q->count) {
		memmove(q->items, hf_etrace_oldest(q), q->count * sizeof *q->items);
		q->first = 0;
		return 0;
	}
	bigger = realloc(q->items, room * sizeof *bigger);
	if (!bigger)
		return HF_ERR_NOMEM;
	q->items = bigger;
	q->room = room;
	return 0;
}

int hf_etrace_accesses_init(struct hf_etrace_accesses *q, unsigned id_width)
{
	q->id_width = id_width;
	q->splits = calloc((size_t)2 << id_width, sizeof *q->splits);
	return q->splits ? make_room(q) : HF_ERR_NOMEM;
}

void hf_etrace_accesses_fini(struct hf_etrace_accesses *q)
{
	free(q->items);
	free(q->splits);
}

void hf_etrace_accesses_drop(struct hf_etrace_accesses *q, uint32_t n)
{
	q->count -= n;
	q->first = q->count ? q->first + n : 0;
	q->dropped += n;
	q->stale -= n < q->stale ? n : q->stale;
	q->fence -= n < q->fence ? n : q->fence;
}

/* Where the split access with this id and kind is found: counted from the first that was ever appended. */
static uint32_t *split_slot(const struct hf_etrace_accesses *q, uint8_t kind, unsigned id)
{
	return &q->splits[(kind == HF_ETRACE_ATOMIC) << q->id_width | id];
}

/* The one that still waits for its data, or NULL. */
static struct hf_etrace_access *find_split(const struct hf_etrace_accesses *q, uint8_t kind, unsigned id)
{
	struct hf_etrace_access *a;
	uint32_t at;

	if (id >> q->id_width)
		return NULL;
	at = *split_slot(q, kind, id) - q->dropped;
	a = hf_etrace_oldest(q) + at;
	return at < q->count && (a->flags & HF_ETRACE_SPLIT) && a->id == id && a->kind == kind ? a : NULL;
}

int hf_etrace_accesses_append(struct hf_etrace_accesses *q, const struct hf_etrace_access *a)
{
	int err = make_room(q);

	if (err)
		return err;
	if ((a->flags & HF_ETRACE_SPLIT) && !(a->id >> q->id_width)) {
		struct hf_etrace_access *before = find_split(q, a->kind, a->id);

		if (before) /* an id that is used again: what had it before gets no answer */
			before->flags &= (uint8_t)~HF_ETRACE_SPLIT;
		*split_slot(q, a->kind, a->id) = q->dropped + q->count;
	}
	hf_etrace_oldest(q)[q->count++] = *a;
	return 0;
}

bool hf_etrace_accesses_answer(struct hf_etrace_accesses *q, const struct hf_etrace_access *response)
{
	const uint8_t kind = response->kind == HF_ETRACE_LOAD_DATA ? HF_ETRACE_LOAD : HF_ETRACE_ATOMIC;
	struct hf_etrace_access *a = find_split(q, kind, response->id);

	if (!a)
		return false;
	a->data = response->data;
	a->flags |= response->flags & HF_ETRACE_HAS_DATA;
	a->flags &= (uint8_t)~HF_ETRACE_SPLIT;
	return true;
}

void hf_etrace_accesses_lose(struct hf_etrace_accesses *q)
{
	q->lost += q->count;
	hf_etrace_accesses_drop(q, q->count);
}

void hf_etrace_accesses_age(struct hf_etrace_accesses *q)
{
	q->lost += q->stale;
	hf_etrace_accesses_drop(q, q->stale);
	q->stale = q->count;
}

/* ---- states ---- */

#define ACCESS(member, max) HF_FIELD_ROW(struct hf_etrace_access, member, max)

static const struct hf_field_row access_fields[] = {ACCESS(id, UINT16_MAX),
						    ACCESS(kind, HF_ETRACE_CSR),
						    ACCESS(size, HF_ETRACE_DATA_SIZES - 1),
						    ACCESS(subtype, HF_ETRACE_ATOMICS - 1),
						    ACCESS(flags, HF_ETRACE_ACCESS_FLAGS),
						    ACCESS(address, UINT64_MAX),
						    ACCESS(data, UINT64_MAX),
						    ACCESS(operand, UINT64_MAX)};

void hf_etrace_accesses_visit(struct hf_etrace_accesses *q, struct hf_fields *f)
{
	uint32_t count = q->count;

	HF_FIELD(f, q->lost, UINT64_MAX);
	HF_FIELD(f, count, HF_ETRACE_ACCESSES);
	HF_FIELD(f, q->stale, count);
	HF_FIELD(f, q->fence, count);
	for (uint32_t i = 0; i < count && !f->err; i++) {
		struct hf_etrace_access loaded = {0};

		HF_FIELD_ROWS(f, access_fields, f->loading ? &loaded : hf_etrace_oldest(q) + i);
		if (f->loading && !f->err)
			hf_fields_fail(f, hf_etrace_accesses_append(q, &loaded));
	}
}

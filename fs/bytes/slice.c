/* SPDX-License-Identifier: Apache-2.0 */
/* Slices as they are kept, found again and read. */
#include "fs/bytes/slice.h"
#include "codecs/base/search.h"
#include "fs/bytes/slice_parts.h"
#include "fs/facts/capture.h"
#include "fs/facts/facts.h"
#include "fs/facts/opened.h"

#include <stdlib.h>
#include <time.h>

/* What is kept of slices that nobody has open. */
enum { KEEP_COUNT = 4096, KEEP_BYTES = 8 << 20 };

/* ---- names ---- */

static const char *parse_number(const char *p, uint64_t *ret)
{
	const char *start = p;

	for (*ret = 0; *p >= '0' && *p <= '9'; p++) {
		if (*ret > (UINT64_MAX - 9) / 10)
			return NULL;
		*ret = *ret * 10 + (uint64_t)(*p - '0');
	}
	return p == start || (*start == '0' && p > start + 1) ? NULL : p;
}

bool hf_slice_parse(const char *name, uint64_t insns, uint64_t *ret_first, uint64_t *ret_last)
{
	const char *p = parse_number(name, ret_first);

	if (!p || *p++ != '-' || *ret_first >= insns)
		return false;
	*ret_last = insns - 1;
	if (!*p)
		return true;
	p = parse_number(p, ret_last);
	return p && !*p && *ret_first <= *ret_last && *ret_last < insns;
}

/* ---- parts ---- */

void hf_slice_free_part(struct hf_slice_part *part)
{
	for (size_t i = 0; i < part->marks; i++)
		free(part->mark[i].entry);
	free(part->mark);
	part->mark = NULL;
	part->marks = 0;
}

int hf_slice_enter(const struct hf_slice *slice, struct hf_open *open, size_t view, const struct hf_enc_env *env,
		   const struct hf_slice_mark *mark, uint64_t *ret_number, struct hf_lent_maker *ret_maker,
		   struct hf_slice_encoder **ret_encoder)
{
	const struct hf_slice_encoder_ask ask = {
		.maker = &ret_maker->maker, .index = open->index, .first = slice->first, .last = slice->last};
	int err = hf_decoder_pool_take(open, slice->hart, view, env, ret_maker);

	*ret_encoder = NULL;
	if (err)
		return err;
	err = hf_slice_encoder_new(&ask, env, mark ? mark->entry : NULL, mark ? mark->entry_size : 0, ret_number,
				   ret_encoder, NULL);
	if (err)
		hf_decoder_pool_put(ret_maker, err);
	return err;
}

/* ---- the table ---- */

void hf_slices_init(struct hf_slices *slices, struct hf_common *common)
{
	*slices = (struct hf_slices){.common = common};
	hf_link_init(&slices->used);
	pthread_mutex_init(&slices->lock, NULL);
	hf_cond_init(&slices->changed);
}

static void free_slice(struct hf_slice *slice, struct hf_cache *cache)
{
	for (size_t i = 0; i < HF_VIEW_COUNT; i++) {
		if (slice->part[i].owner)
			hf_cache_drop(cache, slice->part[i].owner);
		hf_slice_free_part(&slice->part[i]);
	}
	free(slice);
}

static void free_all(const struct hf_link *list, struct hf_cache *cache)
{
	for (struct hf_link *link = list->next, *next; link != list; link = next) {
		next = link->next;
		free_slice(HF_OWNER(link, struct hf_slice, used), cache);
	}
}

void hf_slices_fini(struct hf_slices *slices)
{
	free_all(&slices->used, slices->common->cache);
	hf_chains_free(&slices->table);
	pthread_mutex_destroy(&slices->lock);
	pthread_cond_destroy(&slices->changed);
}

void hf_slices_stop(struct hf_slices *slices)
{
	HF_LOCKED(&slices->lock);
	pthread_cond_broadcast(&slices->changed);
}

static uint64_t hash_of(const struct hf_slice *slice)
{
	uint64_t hash = (uintptr_t)slice->capture / 64 + slice->version;

	hash = (hash * 31 + slice->hart) * UINT64_C(0x9e3779b97f4a7c15) + slice->first;
	hash = hash * UINT64_C(0x9e3779b97f4a7c15) + slice->last;
	return hash * UINT64_C(0x9e3779b97f4a7c15) >> 32;
}

static bool same(const struct hf_slice *a, const struct hf_slice *b)
{
	return a->capture == b->capture && a->version == b->version && a->hart == b->hart && a->first == b->first &&
	       a->last == b->last;
}

static struct hf_slice *find(const struct hf_slices *slices, const struct hf_slice *key)
{
	for (struct hf_chain *at = hf_chains_find(&slices->table, hash_of(key)); at; at = hf_chains_same(at))
		if (same(HF_OWNER(at, struct hf_slice, in_table), key))
			return HF_OWNER(at, struct hf_slice, in_table);
	return NULL;
}

/* Takes out what is too much, the ones used longest ago, for the caller to free. */
static void take_surplus(struct hf_slices *slices, struct hf_link *ret_surplus)
{
	for (struct hf_link *link = slices->used.prev, *newer;
	     link != &slices->used && (slices->table.count > KEEP_COUNT || slices->bytes > KEEP_BYTES); link = newer) {
		struct hf_slice *slice = HF_OWNER(link, struct hf_slice, used);

		newer = link->prev;
		if (slice->refs)
			continue;
		hf_chains_remove(&slices->table, &slice->in_table);
		hf_link_remove(&slice->used);
		slices->bytes -= slice->bytes;
		hf_link_add(ret_surplus, &slice->used);
	}
}

static struct hf_slice *new_slice(struct hf_slices *slices, const struct hf_slice *key,
				  const struct hf_facts_hart *hart)
{
	struct hf_slice *slice = malloc(sizeof *slice);

	if (slice)
		*slice = *key;
	if (!slice || hf_chains_add(&slices->table, &slice->in_table, hash_of(key))) {
		free(slice);
		return NULL;
	}
	slice->bytes = sizeof *slice;
	slices->bytes += slice->bytes;
	for (size_t i = 0; i < HF_VIEW_COUNT; i++) {
		if (i == HF_VIEW_RECORDS || i == HF_VIEW_PROGRAM || hf_fs_view_ops(i)->flags & HF_ENC_CHANNELS || hart->view[i].size == HF_NOWHERE)
			continue;
		slice->part[i].state = HF_SLICE_UNKNOWN;
		if (!hf_slice_is_lines(i))
			slice->part[i].owner = hf_cache_owner(key->slices->common->cache);
	}
	return slice;
}

int hf_slice_get(struct hf_slices *slices, struct hf_capture *capture, const struct hf_facts *facts, uint32_t hart,
		 uint64_t first, uint64_t last, struct hf_slice **ret_slice)
{
	const struct hf_facts_hart *facts_hart = hf_facts_hart(facts, hart);
	struct hf_slice key = {.slices = slices,
			       .capture = capture,
			       .version = facts->version,
			       .hart = hart,
			       .first = first,
			       .last = last};
	struct hf_link surplus;
	struct hf_slice *slice;

	hf_link_init(&surplus);
	*ret_slice = NULL;
	if (!facts_hart || first > last || last >= facts_hart->info.insns)
		return HF_ERR_NOT_FOUND;
	pthread_mutex_lock(&slices->lock);
	slice = find(slices, &key);
	if (slice)
		hf_link_remove(&slice->used);
	else
		slice = new_slice(slices, &key, facts_hart);
	if (slice) {
		slice->refs++;
		hf_link_add(&slices->used, &slice->used);
		take_surplus(slices, &surplus);
	}
	pthread_mutex_unlock(&slices->lock);
	free_all(&surplus, capture->common->cache);
	*ret_slice = slice;
	return slice ? 0 : HF_ERR_NOMEM;
}

void hf_slice_ref(struct hf_slice *slice)
{
	struct hf_slices *slices = slice->slices;

	HF_LOCKED(&slices->lock);
	slice->refs++;
}

void hf_slice_put(struct hf_slice *slice)
{
	struct hf_slices *slices = slice->slices;

	HF_LOCKED(&slices->lock);
	slice->refs--;
}

/* ---- reading ---- */

static void take_piece(const struct hf_slice_part *part, size_t i, struct hf_piece *ret_piece)
{
	const uint64_t end = i + 1 < part->marks ? part->mark[i + 1].offset : part->size;

	*ret_piece = (struct hf_piece){
		.number = i, .offset = part->mark[i].offset, .size = end - part->mark[i].offset};
}

static struct hf_slice *slice_of(const struct hf_bytes *bytes)
{
	return bytes->own;
}

static void ref_bytes(const struct hf_bytes *bytes)
{
	hf_slice_ref(slice_of(bytes));
}

static void unref_bytes(const struct hf_bytes *bytes)
{
	hf_slice_put(slice_of(bytes));
}

static int piece_at(const struct hf_bytes *bytes, struct hf_open *open, uint64_t offset, struct hf_piece *ret_piece)
{
	const struct hf_slice_part *part = &slice_of(bytes)->part[bytes->view];

	(void)open;
	if (offset >= part->size)
		return HF_NOTE_END;
	/* The last that begins there or before. */
	take_piece(part, HF_COUNT_UP_TO(part->mark, part->marks, offset, offset) - 1, ret_piece);
	return 0;
}

static int piece_of(const struct hf_bytes *bytes, struct hf_open *open, uint64_t number, struct hf_piece *ret_piece)
{
	const struct hf_slice_part *part = &slice_of(bytes)->part[bytes->view];

	(void)open;
	if (number >= part->marks)
		return HF_NOTE_END;
	take_piece(part, (size_t)number, ret_piece);
	return 0;
}

static int enter(const struct hf_bytes *bytes, struct hf_open *open, uint64_t piece, struct hf_worker *worker,
		 struct hf_lent_maker *ret_maker, struct hf_slice_encoder **ret_encoder)
{
	const struct hf_slice_part *part = &slice_of(bytes)->part[bytes->view];
	uint64_t chunk = part->number + piece * part->stride;

	hf_view_env(worker, open, bytes->view);
	return hf_slice_enter(slice_of(bytes), open, bytes->view, &worker->env, &part->mark[piece], &chunk, ret_maker,
			      ret_encoder);
}

static int fill(const struct hf_bytes *bytes, struct hf_open *open, const struct hf_piece *piece,
		struct hf_worker *worker, uint8_t *to)
{
	const struct hf_slice_part *part = &slice_of(bytes)->part[bytes->view];
	struct hf_lent_maker lent;
	struct hf_slice_encoder *encoder;
	struct hf_sink sink;
	int err = enter(bytes, open, piece->number, worker, &lent, &encoder);

	hf_sink_init_buffer(&sink, to, (size_t)piece->size + HF_SINK_ROOM);
	if (!err) {
		for (uint64_t i = 0; !err && i < part->stride; i++)
			err = hf_slice_encoder_next(encoder, &worker->env, &sink, NULL);
		hf_slice_encoder_free(encoder);
		hf_decoder_pool_put(&lent, err < 0 ? err : 0);
	}
	if (err < 0)
		return hf_err_is_passing(err) ? err : HF_ERR_MISMATCH;
	return hf_sink_total(&sink) == piece->size ? 0 : HF_ERR_MISMATCH;
}

static int find_ordinal(const struct hf_bytes *bytes, struct hf_open *open, uint32_t hart, uint64_t offset,
			struct hf_worker *worker, uint64_t *ret_ordinal)
{
	struct hf_lent_maker lent;
	struct hf_slice_encoder *encoder;
	struct hf_piece piece;
	int err = piece_at(bytes, open, offset, &piece);

	(void)hart;
	if (err)
		return HF_ERR_MISMATCH;
	err = enter(bytes, open, piece.number, worker, &lent, &encoder);
	if (err)
		return err;
	err = hf_slice_encoder_find(encoder, &worker->env, offset - piece.offset, ret_ordinal, NULL);
	hf_slice_encoder_free(encoder);
	hf_decoder_pool_put(&lent, err);
	return err;
}

const struct hf_bytes_ops hf_bytes_slice = {
	.piece_at = piece_at,
	.piece = piece_of,
	.fill = fill,
	.ordinal = find_ordinal,
	.ref = ref_bytes,
	.unref = unref_bytes,
};

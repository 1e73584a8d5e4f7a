/* SPDX-License-Identifier: Apache-2.0 */
/* The published decode index: opening it, and looking up in it. */
#include "index/read/decode_index.h"

#include "index/base/codecs.h"
#include "index/read/doubts.h"
#include "index/read/image.h"
#include "index/store/published.h"
#include "index/table/index_tables.h"

#include <stdlib.h>
#include <zstd.h>

struct hf_index {
	struct hf_published file;
	struct hf_index_meta meta;
	const struct hf_codec *codec; /* NULL: the stream could not be opened */
	const struct hf_box *box;     /* NULL: plain bytes */
	size_t hart_count;	      /* with HF_HART_RECORDS, which is the last if it is there */
	bool has_records;
	struct hf_index_hart *harts; /* by id */
	size_t problem_count;	     /* stored */
	struct hf_index_problem *problems;
	struct hf_doubts doubts;
};

/* ---- opening: reads and checks all but chunks and points ---- */

static int load_meta(struct hf_index *x, const struct hf_identity *identity)
{
	int err = hf_store_meta(x->file.store, &hf_table_index_meta, &x->meta);

	if (err)
		return err;
	if (!x->meta.complete || !hf_identity_equal(&x->meta.identity, identity))
		return HF_ERR_STATE;
	if (*x->meta.box && !(x->box = hf_box_by_name(x->meta.box)))
		return HF_ERR_STATE;
	if (!*x->meta.codec)
		return 0;
	x->codec = hf_index_codec_named(x->meta.codec);
	return x->codec && x->codec->version == x->meta.codec_version ? 0 : HF_ERR_STATE;
}

static int by_id(const void *a, const void *b)
{
	const struct hf_index_hart *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

static bool makes_sense(const struct hf_index_hart *hart)
{
	return hart->slot <= HF_SLOT_RECORDS && (hart->id == HF_HART_RECORDS) == (hart->slot == HF_SLOT_RECORDS) &&
	       hart->chunks && hart->insns <= hart->events && hart->attempts <= hart->events;
}

static int load_harts(struct hf_index *x)
{
	int err = hf_store_list(x->file.store, &hf_table_hart, true, HF_SLOT_RECORDS + 1, &x->harts,
			      &x->hart_count);

	if (err || !x->hart_count)
		return err;
	for (size_t i = 0; i < x->hart_count; i++)
		if (!makes_sense(&x->harts[i]) || (i && x->harts[i].slot <= x->harts[i - 1].slot))
			return HF_ERR_STATE;
	qsort(x->harts, x->hart_count, sizeof *x->harts, by_id);
	for (size_t i = 1; i < x->hart_count; i++)
		if (x->harts[i].id == x->harts[i - 1].id)
			return HF_ERR_STATE;
	x->has_records = x->harts[x->hart_count - 1].id == HF_HART_RECORDS;
	return 0;
}

static int load_problems(struct hf_index *x)
{
	const uint64_t max = x->meta.problems < HF_INDEX_PROBLEM_MAX ? x->meta.problems : HF_INDEX_PROBLEM_MAX;
	int err = hf_store_list(x->file.store, &hf_table_problem, false, max, &x->problems,
			      &x->problem_count);

	for (size_t i = 0; i < x->problem_count && !err; i++) {
		struct hf_index_problem *problem = &x->problems[i];

		problem->has_ordinal = problem->ordinal != HF_NOWHERE;
		if (problem->has_ordinal)
			err = hf_doubts_add(&x->doubts, problem->hart, problem->ordinal, problem->back);
	}
	hf_doubts_end(&x->doubts);
	return err;
}

static int fetch_chunk(struct hf_index *x, const struct hf_index_hart *hart, uint64_t number, struct hf_chunk *c)
{
	uint64_t end;
	int err = hf_published_chunk(&x->file, &hf_table_chunk, hart->slot, number, hart->chunks, hart->insns, c, &end);

	if (err)
		return err;
	c->number = number;
	c->last = number + 1 == hart->chunks;
	c->insns = end - c->ordinal;
	return c->events <= hart->events && c->insns <= c->events ? 0 : HF_ERR_STATE;
}

/* The last chunk of each hart and the last block must be those that the counts promise. */
static int check_ends(struct hf_index *x)
{
	const uint64_t size = x->meta.stream_size;
	struct hf_chunk *chunk = malloc(sizeof *chunk);
	struct hf_point point = {0};
	int err = chunk ? 0 : HF_ERR_NOMEM;

	for (size_t i = 0; !err && i < x->hart_count; i++)
		err = fetch_chunk(x, &x->harts[i], x->harts[i].chunks - 1, chunk);
	free(chunk);
	if (err || !x->codec || !x->box || !size)
		return err;
	err = hf_index_point_of(x, size - 1, &point);
	/* The last block must end where the stream does, unless the stream ends at damage. */
	if (!err && !x->meta.damage.code && point.out_offset + point.out_size != size)
		err = HF_ERR_STATE;
	return err;
}

int hf_index_open(int dirfd, const struct hf_identity *identity, struct hf_index **ret_index)
{
	struct hf_index *x = calloc(1, sizeof *x);
	int err;

	*ret_index = NULL;
	if (!x)
		return HF_ERR_NOMEM;
	hf_index_file_name_index(identity, x->file.name);
	if (!(err = hf_published_open(&x->file, dirfd, HF_DB_INDEX)) && !(err = load_meta(x, identity)) &&
	    !(err = load_harts(x)) && !(err = load_problems(x)))
		err = check_ends(x);
	if (err)
		hf_index_close(x);
	else
		*ret_index = x;
	return err == HF_ERR_STATE ? HF_ERR_NOT_FOUND : err;
}

void hf_index_close(struct hf_index *index)
{
	if (!index)
		return;
	hf_published_close(&index->file);
	free(index->harts);
	free(index->problems);
	hf_doubts_free(&index->doubts);
	free(index);
}

/* ---- the whole ---- */

bool hf_index_is_damaged(const struct hf_index *index)
{
	return index->file.damaged;
}

void hf_index_remove(const struct hf_index *index)
{
	hf_published_remove(&index->file);
}

const char *hf_index_name(const struct hf_index *index)
{
	return index->file.name;
}

const struct hf_box *hf_index_box(const struct hf_index *index)
{
	return index->box;
}

const struct hf_codec *hf_index_codec(const struct hf_index *index)
{
	return index->codec;
}

uint64_t hf_index_stream_size(const struct hf_index *index)
{
	return index->meta.stream_size;
}

int hf_index_damage(const struct hf_index *index, struct hf_diag *diag)
{
	if (index->meta.damage.code && diag)
		*diag = index->meta.damage;
	return index->meta.damage.code;
}

bool hf_index_has_holes(const struct hf_index *index)
{
	return index->meta.holes;
}

size_t hf_index_harts(const struct hf_index *index, const struct hf_index_hart **ret_harts)
{
	*ret_harts = index->harts;
	return index->hart_count - index->has_records;
}

const struct hf_index_hart *hf_index_records(const struct hf_index *index)
{
	return index->has_records ? &index->harts[index->hart_count - 1] : NULL;
}

size_t hf_index_problem_count(const struct hf_index *index)
{
	return (size_t)index->meta.problems;
}

int hf_index_problem_at(const struct hf_index *index, size_t i, struct hf_index_problem *ret_problem)
{
	if (i >= index->problem_count)
		return HF_ERR_NOT_FOUND;
	*ret_problem = index->problems[i];
	return 0;
}

uint64_t hf_index_doubt(const struct hf_index *index, uint32_t hart, uint64_t ordinal)
{
	return hf_doubts_find(&index->doubts, hart, ordinal);
}

uint64_t hf_index_memory(struct hf_index *index)
{
	return sizeof *index + index->problem_count * sizeof *index->problems +
	       index->doubts.count * sizeof *index->doubts.doubt +
	       index->hart_count * sizeof *index->harts + hf_published_memory(&index->file);
}

uint64_t hf_index_file_size(const struct hf_index *index)
{
	return hf_store_file_size(index->file.store);
}

const struct hf_chunk_limits *hf_index_limits(const struct hf_index *index)
{
	return &index->meta.limits;
}

const struct hf_index_hart *hf_index_next_slot(const struct hf_index *index, uint64_t from)
{
	const struct hf_index_hart *found = NULL;

	for (size_t i = 0; i < index->hart_count; i++)
		if (index->harts[i].slot >= from && (!found || index->harts[i].slot < found->slot))
			found = &index->harts[i];
	return found;
}

/* ---- chunks, code and points ---- */

static const struct hf_index_hart *find_hart(const struct hf_index *index, uint32_t id)
{
	const struct hf_index_hart key = {.id = id};

	return index->hart_count ? bsearch(&key, index->harts, index->hart_count, sizeof key, by_id) : NULL;
}

int hf_index_chunk(struct hf_index *index, uint32_t hart, uint64_t number, struct hf_chunk *ret_chunk)
{
	const struct hf_index_hart *h = find_hart(index, hart);
	int err;

	if (!h || number >= h->chunks)
		return HF_ERR_NOT_FOUND;
	pthread_mutex_lock(&index->file.lock);
	err = fetch_chunk(index, h, number, ret_chunk);
	pthread_mutex_unlock(&index->file.lock);
	return hf_published_noted(&index->file, err);
}

int hf_index_chunk_of(struct hf_index *index, uint32_t hart, uint64_t ordinal, struct hf_chunk *ret_chunk)
{
	const struct hf_index_hart *h = find_hart(index, hart);
	uint64_t number;
	int err;

	if (!h)
		return HF_ERR_NOT_FOUND;
	pthread_mutex_lock(&index->file.lock);
	err = hf_published_search(&index->file, &hf_table_chunk, h->slot, h->chunks, h->insns, ordinal, &number);
	if (!err)
		err = fetch_chunk(index, h, number, ret_chunk);
	pthread_mutex_unlock(&index->file.lock);
	if (!err && (ordinal < ret_chunk->ordinal || ordinal - ret_chunk->ordinal >= ret_chunk->insns))
		err = HF_ERR_STATE;
	return hf_published_noted(&index->file, err);
}

int hf_index_image(struct hf_index *index, uint32_t hart, struct hf_image **ret_image)
{
	const struct hf_index_hart *h = find_hart(index, hart);
	uint64_t events;
	int err;

	*ret_image = NULL;
	if (!h || hart == HF_HART_RECORDS)
		return HF_ERR_NOT_FOUND;
	pthread_mutex_lock(&index->file.lock);
	err = hf_index_image_get(index->file.store, h->slot, &events, ret_image);
	pthread_mutex_unlock(&index->file.lock);
	if (!err && events == h->events)
		return 0;
	hf_image_free(*ret_image);
	*ret_image = NULL;
	return hf_published_noted(&index->file, err < 0 ? err : HF_ERR_STATE);
}

static bool holds(const struct hf_index *index, const struct hf_point *p, uint64_t offset)
{
	return p->in_offset <= index->meta.identity.size && p->in_size <= index->meta.identity.size &&
	       offset >= p->out_offset && offset - p->out_offset < p->out_size;
}

int hf_index_point_of(struct hf_index *index, uint64_t offset, struct hf_point *ret_point)
{
	int err;

	if (offset >= index->meta.stream_size || !index->box)
		return HF_ERR_NOT_FOUND;
	pthread_mutex_lock(&index->file.lock);
	err = hf_store_find(index->file.store, &hf_table_point, HF_SEEK_BACK, offset, &ret_point->out_offset,
			    ret_point);
	pthread_mutex_unlock(&index->file.lock);
	if (err > 0 || (!err && !holds(index, ret_point, offset)))
		err = HF_ERR_STATE;
	return hf_published_noted(&index->file, err);
}

int hf_index_window(struct hf_index *index, const struct hf_point *point, uint8_t *window)
{
	struct hf_packed_window packed;
	int err;

	if (!point->window_size)
		return 0;
	if (point->window_size > HF_WINDOW_MAX)
		return HF_ERR_STATE;
	pthread_mutex_lock(&index->file.lock);
	err = hf_store_find(index->file.store, &hf_table_window, HF_SEEK_AT, point->out_offset, NULL, &packed);
	pthread_mutex_unlock(&index->file.lock);
	if (err > 0 || (!err && ZSTD_decompress(window, point->window_size, packed.data, packed.size) != point->window_size))
		err = HF_ERR_STATE;
	return hf_published_noted(&index->file, err);
}

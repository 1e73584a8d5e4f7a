/* SPDX-License-Identifier: Apache-2.0 */
/* The published decode index: opening it, and looking things up in it. */
#include "index/fault.h"
#include "index/file.h"
#include "index/image.h"
#include "index/index_content.h"
#include "index/row.h"
#include "index/search.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

/*
 * One connection for all threads: a lookup takes a few microseconds, what is done with its result a thousand times
 * as long.
 */
struct hf_index {
	int dirfd, fd;
	char name[HF_FILE_NAME_SIZE];
	atomic_bool damaged;
	sqlite3 *db;
	pthread_mutex_t lock; /* of the statements */
	sqlite3_stmt *chunk, *ordinal, *point, *window;
	struct hf_index_content content;
	uint64_t file_size;
};

static int prepare_all(struct hf_index *x)
{
	int err;

	/* The row behind a chunk says where it ends. */
	if ((err = hf_db_prepare(x->db,
				 "SELECT id, ordinal, stream_offset, pc, events, discard, entry FROM chunk"
				 " WHERE id BETWEEN ?1 AND ?1 + 1 ORDER BY id",
				 &x->chunk)) ||
	    (err = hf_db_prepare(x->db, "SELECT ordinal FROM chunk WHERE id = ?", &x->ordinal)) ||
	    (err = hf_db_prepare(x->db,
				 "SELECT out_offset, out_size, in_offset, in_size, bits, window_size FROM point"
				 " WHERE out_offset <= ? ORDER BY out_offset DESC LIMIT 1",
				 &x->point)))
		return err;
	return hf_db_prepare(x->db, "SELECT data FROM window WHERE out_offset = ?", &x->window);
}

static int fetch_chunk(struct hf_index *x, const struct hf_index_hart *hart, uint64_t slot, uint64_t number,
		       struct hf_chunk *c);

/* What is counted must be there, as far as the last chunk of each hart and the last block tell. */
static int check_ends(struct hf_index *x)
{
	const struct hf_index_content *content = &x->content;
	const uint64_t size = content->meta.stream_size;
	struct hf_chunk *chunk = malloc(sizeof *chunk);
	struct hf_point point;
	int err = chunk ? 0 : HF_ERR_NOMEM;

	for (size_t i = 0; !err && i < content->hart_count + content->has_records; i++)
		err = fetch_chunk(x, &content->harts[i], content->slots[i], content->harts[i].chunks - 1, chunk);
	free(chunk);
	if (err || !content->codec || !content->box || !size)
		return err;
	err = hf_index_point_of(x, size - 1, &point);
	/* The last block ends where the stream does, unless damage ends it before. */
	if (!err && !content->meta.damage.code && point.out_offset + point.out_size != size)
		err = HF_ERR_STATE;
	return err;
}

static int load(struct hf_index *x, const struct hf_identity *identity)
{
	struct stat st;
	int err;

	if (fstat(x->fd, &st) < 0)
		return hf_fault_set_fd("reading", x->fd, errno);
	x->file_size = (uint64_t)st.st_size;
	if ((err = hf_db_open(x->fd, HF_DB_INDEX, &x->db)) ||
	    (err = hf_index_content_load(x->db, identity, &x->content)) || (err = prepare_all(x)))
		return err;
	return check_ends(x);
}

int hf_index_open(int dirfd, const struct hf_identity *identity, struct hf_index **ret_index)
{
	struct hf_index *x = calloc(1, sizeof *x);
	int err;

	*ret_index = NULL;
	if (!x)
		return HF_ERR_NOMEM;
	hf_index_file_name_index(identity, x->name);
	err = hf_index_file_open(dirfd, x->name, &x->fd);
	if (err) {
		free(x);
		return err;
	}
	x->dirfd = dirfd;
	pthread_mutex_init(&x->lock, NULL);
	err = load(x, identity);
	if (err) {
		hf_index_close(x);
		return err == HF_ERR_STATE ? HF_ERR_NOT_FOUND : err;
	}
	*ret_index = x;
	return 0;
}

void hf_index_close(struct hf_index *index)
{
	if (!index)
		return;
	sqlite3_finalize(index->chunk);
	sqlite3_finalize(index->ordinal);
	sqlite3_finalize(index->point);
	sqlite3_finalize(index->window);
	hf_db_close(index->db);
	close(index->fd);
	pthread_mutex_destroy(&index->lock);
	hf_index_content_fini(&index->content);
	free(index);
}

/* The result of a look-up, of which damage is noted. */
static int noted(struct hf_index *x, int err)
{
	if (err == HF_ERR_STATE)
		x->damaged = true;
	return err;
}

bool hf_index_is_damaged(const struct hf_index *index)
{
	return index->damaged;
}

void hf_index_remove(const struct hf_index *index)
{
	hf_index_file_drop_open(index->dirfd, index->name, index->fd);
}

const char *hf_index_name(const struct hf_index *index)
{
	return index->name;
}

const struct hf_box *hf_index_box(const struct hf_index *index)
{
	return index->content.box;
}

const struct hf_codec *hf_index_codec(const struct hf_index *index)
{
	return index->content.codec;
}

uint64_t hf_index_stream_size(const struct hf_index *index)
{
	return index->content.meta.stream_size;
}

int hf_index_damage(const struct hf_index *index, struct hf_diag *diag)
{
	if (index->content.meta.damage.code && diag)
		*diag = index->content.meta.damage;
	return index->content.meta.damage.code;
}

bool hf_index_has_holes(const struct hf_index *index)
{
	return index->content.meta.holes;
}

size_t hf_index_harts(const struct hf_index *index, const struct hf_index_hart **ret_harts)
{
	*ret_harts = index->content.harts;
	return index->content.hart_count;
}

const struct hf_index_hart *hf_index_records(const struct hf_index *index)
{
	return index->content.has_records ? &index->content.harts[index->content.hart_count] : NULL;
}

size_t hf_index_problem_count(const struct hf_index *index)
{
	return (size_t)index->content.meta.problems;
}

int hf_index_problem_at(const struct hf_index *index, size_t i, struct hf_index_problem *ret_problem)
{
	if (i >= index->content.problem_count)
		return HF_ERR_NOT_FOUND;
	*ret_problem = index->content.problems[i];
	return 0;
}

uint64_t hf_index_memory(struct hf_index *index)
{
	const struct hf_index_content *content = &index->content;
	uint64_t bytes = sizeof *index + content->problem_count * sizeof *content->problems +
			 (content->hart_count + content->has_records) * (sizeof *content->harts + sizeof *content->slots);

	pthread_mutex_lock(&index->lock);
	bytes += hf_db_memory(index->db);
	pthread_mutex_unlock(&index->lock);
	return bytes;
}

uint64_t hf_index_file_size(const struct hf_index *index)
{
	return index->file_size;
}

const struct hf_chunk_limits *hf_index_limits(const struct hf_index *index)
{
	return &index->content.meta.limits;
}

const struct hf_index_hart *hf_index_next_slot(const struct hf_index *index, uint64_t from, uint64_t *ret_slot)
{
	const struct hf_index_hart *found = NULL;
	uint64_t slot = 0;

	for (size_t i = 0; i < index->content.hart_count + index->content.has_records; i++) {
		if (index->content.slots[i] < from || (found && index->content.slots[i] > slot))
			continue;
		slot = index->content.slots[i];
		found = &index->content.harts[i];
	}
	*ret_slot = slot;
	return found;
}

static int find_hart(const struct hf_index *index, uint32_t id, size_t *ret_i)
{
	const size_t count = index->content.hart_count + index->content.has_records;
	size_t low = 0, high = count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (index->content.harts[mid].id < id)
			low = mid + 1;
		else
			high = mid;
	}
	if (low == count || index->content.harts[low].id != id)
		return HF_ERR_NOT_FOUND;
	*ret_i = low;
	return 0;
}

/* The row of statement chunk into *c; its ordinal and events belong to hart. */
static int read_chunk(const struct hf_index *x, const struct hf_index_hart *hart, struct hf_chunk *c)
{
	int err;

	if ((err = hf_col_u64(x->chunk, 1, hart->insns, &c->ordinal)) ||
	    (err = hf_col_u64(x->chunk, 2, HF_COUNT_MAX, &c->stream_offset)) ||
	    (err = hf_col_u64(x->chunk, 3, UINT64_MAX, &c->pc)) ||
	    (err = hf_col_u64(x->chunk, 4, hart->events, &c->events)) ||
	    (err = hf_col_u64(x->chunk, 5, HF_COUNT_MAX, &c->discard)))
		return err;
	return hf_col_blob(x->chunk, 6, c->entry, sizeof c->entry, &c->entry_size);
}

static int fetch_chunk(struct hf_index *x, const struct hf_index_hart *hart, uint64_t slot, uint64_t number,
		       struct hf_chunk *c)
{
	uint64_t id = hf_row_id(slot, number), got, end = hart->insns;
	int err;

	hf_db_bind(x->chunk, 1, &id);
	err = hf_db_step(x->chunk);
	if (!err)
		err = hf_col_u64(x->chunk, 0, UINT64_MAX, &got);
	if (!err && got != id)
		err = HF_NOTE_END;
	if (!err)
		err = read_chunk(x, hart, c);
	c->number = number;
	c->last = number + 1 == hart->chunks;
	if (!err && !c->last) {
		err = hf_db_step(x->chunk);
		if (!err)
			err = hf_col_u64(x->chunk, 1, hart->insns, &end);
	}
	sqlite3_reset(x->chunk);
	if (err)
		return err > 0 ? HF_ERR_STATE : err;
	if (end < c->ordinal || end - c->ordinal > c->events || (number == 0 && c->ordinal != 0))
		return HF_ERR_STATE;
	c->insns = end - c->ordinal;
	return 0;
}

int hf_index_chunk(struct hf_index *index, uint32_t hart, uint64_t number, struct hf_chunk *ret_chunk)
{
	size_t i;
	int err = find_hart(index, hart, &i);

	if (err)
		return err;
	if (number >= index->content.harts[i].chunks)
		return HF_ERR_NOT_FOUND;
	pthread_mutex_lock(&index->lock);
	err = fetch_chunk(index, &index->content.harts[i], index->content.slots[i], number, ret_chunk);
	pthread_mutex_unlock(&index->lock);
	return noted(index, err);
}

int hf_index_image(struct hf_index *index, uint32_t hart, struct hf_image **ret_image)
{
	uint64_t events;
	size_t i;
	int err = find_hart(index, hart, &i);

	*ret_image = NULL;
	if (err || hart == HF_HART_RECORDS)
		return err ? err : HF_ERR_NOT_FOUND;
	pthread_mutex_lock(&index->lock);
	err = hf_index_image_get(index->db, index->content.slots[i], &events, ret_image);
	pthread_mutex_unlock(&index->lock);
	if (!err && events == index->content.harts[i].events)
		return 0;
	hf_image_free(*ret_image);
	*ret_image = NULL;
	return noted(index, err < 0 ? err : HF_ERR_STATE);
}

struct ordinal_key {
	struct hf_index *index;
	uint64_t slot;
};

static int key_of(void *ctx, uint64_t number, uint64_t *ret_key)
{
	const struct ordinal_key *k = ctx;
	uint64_t id = hf_row_id(k->slot, number);
	int err;

	hf_db_bind(k->index->ordinal, 1, &id);
	err = hf_db_step(k->index->ordinal);
	if (!err)
		err = hf_col_u64(k->index->ordinal, 0, HF_COUNT_MAX, ret_key);
	sqlite3_reset(k->index->ordinal);
	return err > 0 ? HF_ERR_STATE : err;
}

int hf_index_chunk_of(struct hf_index *index, uint32_t hart, uint64_t ordinal, struct hf_chunk *ret_chunk)
{
	struct ordinal_key k = {.index = index};
	uint64_t number;
	size_t i;
	int err = find_hart(index, hart, &i);

	if (err)
		return err;
	k.slot = index->content.slots[i];
	pthread_mutex_lock(&index->lock);
	err = hf_search(key_of, &k, index->content.harts[i].chunks, index->content.harts[i].insns, ordinal, &number);
	if (!err)
		err = fetch_chunk(index, &index->content.harts[i], k.slot, number, ret_chunk);
	pthread_mutex_unlock(&index->lock);
	if (!err && (ordinal < ret_chunk->ordinal || ordinal - ret_chunk->ordinal >= ret_chunk->insns))
		err = HF_ERR_STATE;
	return noted(index, err);
}

static int read_point(struct hf_index *x, struct hf_point *p)
{
	uint64_t bits, window;
	int err;

	if ((err = hf_col_u64(x->point, 0, HF_COUNT_MAX, &p->out_offset)) ||
	    (err = hf_col_u64(x->point, 1, HF_BLOCK_MAX, &p->out_size)) ||
	    (err = hf_col_u64(x->point, 2, x->content.meta.identity.size, &p->in_offset)) ||
	    (err = hf_col_u64(x->point, 3, x->content.meta.identity.size, &p->in_size)) ||
	    (err = hf_col_u64(x->point, 4, UINT32_MAX, &bits)) ||
	    (err = hf_col_u64(x->point, 5, HF_WINDOW_MAX, &window)))
		return err;
	p->bits = (uint32_t)bits;
	p->window_size = (uint32_t)window;
	return 0;
}

int hf_index_point_of(struct hf_index *index, uint64_t offset, struct hf_point *ret_point)
{
	int err;

	if (offset >= index->content.meta.stream_size || !index->content.box)
		return HF_ERR_NOT_FOUND;
	pthread_mutex_lock(&index->lock);
	hf_db_bind(index->point, 1, &offset);
	err = hf_db_step(index->point);
	if (!err)
		err = read_point(index, ret_point);
	sqlite3_reset(index->point);
	pthread_mutex_unlock(&index->lock);
	if (err > 0 || (!err && (offset < ret_point->out_offset ||
				 offset - ret_point->out_offset >= ret_point->out_size)))
		err = HF_ERR_STATE;
	return noted(index, err);
}

/* Compressed, a window is hardly larger than what it holds. */
#define PACKED_MAX (HF_WINDOW_MAX + 1024)

int hf_index_window(struct hf_index *index, const struct hf_point *point, uint8_t *window)
{
	uint8_t packed[PACKED_MAX];
	uint32_t n = 0;
	int err;

	if (!point->window_size)
		return 0;
	if (point->window_size > HF_WINDOW_MAX)
		return HF_ERR_STATE;
	pthread_mutex_lock(&index->lock);
	hf_db_bind(index->window, 1, &point->out_offset);
	err = hf_db_step(index->window);
	if (!err)
		err = hf_col_blob(index->window, 0, packed, sizeof packed, &n);
	sqlite3_reset(index->window);
	pthread_mutex_unlock(&index->lock);
	if (err > 0 || (!err && ZSTD_decompress(window, point->window_size, packed, n) != point->window_size))
		err = HF_ERR_STATE;
	return noted(index, err);
}

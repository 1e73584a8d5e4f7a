/* SPDX-License-Identifier: Apache-2.0 */
#include "index/pass/shared_scan.h"
#include "index/base/lock.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Blocks that are kept for the memory of later ones. */
#define SPARE_MAX 2u

struct block {
	struct block *next; /* the following block while it is kept; or the next spare one */
	uint64_t number;
	struct hf_point point;
	unsigned readers; /* that use it now */
	unsigned awaited; /* readers that have not reached it yet */
	size_t cap;
	uint8_t *bytes; /* the window, then the block's bytes */
};

struct hf_shared_scan {
	struct hf_box view;	  /* box, as readers see it */
	const struct hf_box *box;
	struct hf_src *base;
	pthread_mutex_t lock; /* of all below, but scan is used by the thread that set making */
	pthread_cond_t changed;
	unsigned users; /* readers, and its maker until hf_shared_scan_release */
	unsigned readers; /* that need its blocks */
	bool making;
	struct hf_scan *scan;
	size_t given;	      /* size of the memory that the scan was given last; 0: none */
	int err;	      /* why no block follows the newest; stays */
	struct hf_diag diag;
	struct block *oldest, *newest; /* blocks [first, end) */
	uint64_t first, end;
	uint64_t bytes; /* in them */
	struct block *spare;
	unsigned spares;
};

/* A reader. */
struct hf_scan {
	struct hf_shared_scan *shared;
	struct block *at;    /* the block given last; unused when it reads alone */
	struct block *kept;  /* the block that scan_keep was asked for last, or NULL */
	uint64_t next;	     /* number of the next block */
	struct hf_scan *own; /* its own scan if it reads alone, or NULL */
	bool made_own;	     /* own was made for it, and is not the shared one */
};

/* ---- blocks, with the lock ---- */

static void free_block(struct block *block)
{
	if (block)
		free(block->bytes);
	free(block);
}

static void drop_block(struct hf_shared_scan *s, struct block *block)
{
	if (s->spares == SPARE_MAX) {
		free_block(block);
		return;
	}
	block->next = s->spare;
	s->spare = block;
	s->spares++;
}

/* Of blocks that nobody awaits some are kept, for readers that join later. */
static void trim(struct hf_shared_scan *s)
{
	while (s->oldest != s->newest &&
	       (s->bytes > HF_SHARED_BYTES || (!s->oldest->awaited && s->bytes > HF_BLOCK_AIM))) {
		struct block *block = s->oldest;

		s->oldest = block->next;
		s->first++;
		s->bytes -= block->point.out_size;
		if (!block->readers)
			drop_block(s, block);
	}
}

static void append(struct hf_shared_scan *s, struct block *block)
{
	block->next = NULL;
	block->number = s->end++;
	block->readers = 0;
	block->awaited = s->readers;
	if (s->newest)
		s->newest->next = block;
	else
		s->oldest = block;
	s->newest = block;
	s->bytes += block->point.out_size;
}

/* The reader needs the blocks from next on (awaits), or no more. */
static void await(struct hf_shared_scan *s, uint64_t next, bool awaits)
{
	for (struct block *block = s->oldest; block; block = block->next)
		if (block->number >= next)
			block->awaited += awaits ? 1 : -1u;
	s->readers += awaits ? 1 : -1u;
}

static void leave_block(struct hf_shared_scan *s, struct block **at)
{
	struct block *block = *at;

	*at = NULL;
	if (block && !--block->readers && block->number < s->first)
		drop_block(s, block);
}

/* ---- decompressing ---- */

/* A spare block, or a new one, with so much memory. */
static struct block *take_block(struct hf_shared_scan *s, size_t size)
{
	struct block *block;

	pthread_mutex_lock(&s->lock);
	block = s->spare;
	if (block) {
		s->spare = block->next;
		s->spares--;
	}
	pthread_mutex_unlock(&s->lock);
	if (!block)
		block = calloc(1, sizeof *block);
	if (!block || block->cap >= size)
		return block;
	free(block->bytes);
	block->bytes = malloc(size);
	block->cap = size;
	if (block->bytes)
		return block;
	free(block);
	return NULL;
}

/* The block takes the memory with the scan's bytes, and the scan gets that of the block. False: the scan cannot do that. */
static bool swap_memory(struct hf_shared_scan *s, struct block *block, size_t size)
{
	uint8_t *bytes = s->box->scan_swap ? s->box->scan_swap(s->scan, block->bytes, block->cap) : NULL;
	const size_t cap = block->cap;

	if (!bytes)
		return false;
	block->bytes = bytes;
	/* The scan may have made it larger. */
	block->cap = s->given > size ? s->given : size;
	s->given = cap;
	return true;
}

/* Without the lock: the next block of the scan, in memory of its own. */
static int unpack(struct hf_shared_scan *s, struct block **ret_block)
{
	const uint8_t *bytes, *window;
	struct block *block;
	struct hf_point point;
	size_t size;
	int err = s->box->scan_next(s->scan, &point, &bytes, &window, &s->diag);

	if (err)
		return err;
	size = point.window_size + (bytes ? (size_t)point.out_size : 0);
	block = take_block(s, size ? size : 1);
	if (!block)
		return hf_diag_set(&s->diag, HF_ERR_NOMEM, HF_SPACE_FILE, HF_NOWHERE, 0);
	block->point = point;
	*ret_block = block;
	if (bytes && !point.window_size && swap_memory(s, block, size))
		return 0;
	if (point.window_size)
		memcpy(block->bytes, window, point.window_size);
	if (bytes)
		memcpy(block->bytes + point.window_size, bytes, (size_t)point.out_size);
	return 0;
}

/* With the lock, which it releases meanwhile. */
static void make(struct hf_shared_scan *s)
{
	struct block *block = NULL;
	int err;

	s->making = true;
	pthread_mutex_unlock(&s->lock);
	err = unpack(s, &block);
	pthread_mutex_lock(&s->lock);
	s->making = false;
	s->err = err;
	if (!err)
		append(s, block);
	pthread_cond_broadcast(&s->changed);
}

/* ---- reading alone ---- */

/* The reader's next block is not kept any more. */
static int go_alone(struct hf_scan *r, struct hf_diag *diag)
{
	struct hf_shared_scan *s = r->shared;
	const uint8_t *bytes, *window;
	struct hf_point point;
	int err = s->box->scan_new(s->box, s->base, NULL, NULL, &r->own, diag);

	r->made_own = !err;
	for (uint64_t i = 0; i < r->next && !err; i++)
		err = s->box->scan_next(r->own, &point, &bytes, &window, diag);
	return err;
}

/* With the lock: whether nobody else needs later blocks, and nobody can join any more. */
static bool is_alone(const struct hf_scan *r)
{
	const struct hf_shared_scan *s = r->shared;

	return s->readers == 1 && s->first && r->next == s->end && !s->making && !s->err;
}

/* ---- the container as a reader sees it ---- */

/* With the lock: the next block, waiting for it. NULL: it reads alone (r->own), s->err, or the block is gone. */
static struct block *find(struct hf_scan *r)
{
	struct hf_shared_scan *s = r->shared;

	for (;;) {
		if (r->next < s->first)
			return NULL;
		if (r->next < s->end)
			break;
		if (s->err)
			return NULL;
		if (is_alone(r)) {
			r->own = s->scan;
			return NULL;
		}
		if (s->making)
			pthread_cond_wait(&s->changed, &s->lock);
		else
			make(s);
	}
	return r->at && r->at->number >= s->first ? r->at->next : s->oldest;
}

static int reader_next(struct hf_scan *r, struct hf_point *ret_point, const uint8_t **ret_bytes,
		       const uint8_t **ret_window, struct hf_diag *diag)
{
	struct hf_shared_scan *s = r->shared;
	struct block *block;
	int err = 0;

	if (r->own)
		return s->box->scan_next(r->own, ret_point, ret_bytes, ret_window, diag);
	pthread_mutex_lock(&s->lock);
	block = find(r);
	leave_block(s, &r->at);
	r->at = block;
	if (block) {
		block->readers++;
		block->awaited--;
		r->next++;
		trim(s);
	} else if (r->own || r->next < s->first) {
		await(s, r->next, false);
	} else {
		err = s->err;
		if (err < 0 && diag)
			*diag = s->diag;
	}
	pthread_mutex_unlock(&s->lock);
	if (err)
		return err;
	if (!block) {
		err = r->own ? 0 : go_alone(r, diag);
		return err ? err : s->box->scan_next(r->own, ret_point, ret_bytes, ret_window, diag);
	}
	*ret_point = block->point;
	*ret_window = block->bytes;
	*ret_bytes = block->point.bits & HF_POINT_DAMAGED ? NULL : block->bytes + block->point.window_size;
	return 0;
}

static bool reader_keep(struct hf_scan *r)
{
	struct hf_shared_scan *s = r->shared;

	/* What it has read on its own it keeps on its own. */
	if (r->own && !r->at)
		return s->box->scan_keep && s->box->scan_keep(r->own);
	HF_LOCKED(&s->lock);
	leave_block(s, &r->kept);
	r->kept = r->at;
	if (r->kept)
		r->kept->readers++;
	return r->kept;
}

static int reader_note(struct hf_scan *r, size_t i, struct hf_diag *ret_diag)
{
	struct hf_shared_scan *s = r->shared;

	if (r->own)
		return s->box->scan_note(r->own, i, ret_diag);
	HF_LOCKED(&s->lock);
	while (s->making)
		pthread_cond_wait(&s->changed, &s->lock);
	return s->box->scan_note(s->scan, i, ret_diag);
}

static struct hf_src *reader_base(const struct hf_scan *r)
{
	return r->shared->base;
}

static void unuse(struct hf_shared_scan *s)
{
	bool last;

	pthread_mutex_lock(&s->lock);
	last = !--s->users;
	pthread_mutex_unlock(&s->lock);
	if (!last)
		return;
	for (struct block *block = s->oldest, *next; block; block = next) {
		next = block->next;
		free_block(block);
	}
	for (struct block *block = s->spare, *next; block; block = next) {
		next = block->next;
		free_block(block);
	}
	s->box->scan_free(s->scan);
	pthread_cond_destroy(&s->changed);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

static void reader_free(struct hf_scan *r)
{
	struct hf_shared_scan *s;

	if (!r)
		return;
	s = r->shared;
	pthread_mutex_lock(&s->lock);
	leave_block(s, &r->at);
	leave_block(s, &r->kept);
	if (!r->own)
		await(s, r->next, false);
	pthread_mutex_unlock(&s->lock);
	if (r->made_own)
		s->box->scan_free(r->own);
	free(r);
	unuse(s);
}

/* ---- making one ---- */

int hf_shared_scan_new(const struct hf_box *box, struct hf_src *base, struct hf_shared_scan **ret_shared,
		       struct hf_diag *diag)
{
	struct hf_shared_scan *s = calloc(1, sizeof *s);
	int err;

	*ret_shared = NULL;
	if (!s)
		return hf_diag_set(diag, HF_ERR_NOMEM, HF_SPACE_FILE, HF_NOWHERE, 0);
	err = box->scan_new(box, base, NULL, NULL, &s->scan, diag);
	if (err) {
		free(s);
		return err;
	}
	s->box = box;
	s->base = base;
	s->users = 1;
	s->view = *box;
	s->view.scan_next = reader_next;
	s->view.scan_note = box->scan_note ? reader_note : NULL;
	s->view.scan_free = reader_free;
	s->view.scan_base = reader_base;
	s->view.scan_keep = reader_keep;
	/* A reader has only some of the operations. */
	s->view.scan_new = NULL;
	s->view.scan_swap = NULL;
	s->view.scan_memory = NULL;
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->changed, NULL);
	*ret_shared = s;
	return 0;
}

void hf_shared_scan_release(struct hf_shared_scan *shared)
{
	if (shared)
		unuse(shared);
}

int hf_shared_scan_join(struct hf_shared_scan *shared, struct hf_scan **ret_scan, struct hf_diag *diag)
{
	struct hf_scan *r = calloc(1, sizeof *r);

	*ret_scan = NULL;
	if (!r)
		return hf_diag_set(diag, HF_ERR_NOMEM, HF_SPACE_FILE, HF_NOWHERE, 0);
	pthread_mutex_lock(&shared->lock);
	if (!shared->first) {
		*r = (struct hf_scan){.shared = shared};
		shared->users++;
		await(shared, 0, true);
		*ret_scan = r;
	}
	pthread_mutex_unlock(&shared->lock);
	if (!*ret_scan)
		free(r);
	return 0;
}

const struct hf_box *hf_shared_scan_box(const struct hf_shared_scan *shared)
{
	return &shared->view;
}

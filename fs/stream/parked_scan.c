/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/stream/parked_scan.h"
#include "index/base/lock.h"
#include "index/exec/exec.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/*
 * Scans hold dictionaries outside the cache, so one bound holds for all streams of the process: FREE bytes, and half of
 * the cache, which lends them; less what the cache lends to others beyond OTHERS.
 */
#define SLOTS 32
#define FREE (UINT64_C(48) << 20)
#define OTHERS (UINT64_C(32) << 20)

/* Blocks passed over go into the cache if they are this near: requests may come out of order, or backwards. */
#define PASSED_KEEP (UINT64_C(8) << 20)

struct parked {
	const struct hf_parked_stream *stream; /* NULL: the slot is free */
	struct hf_scan *scan;		       /* while busy that thread's; NULL until it is made */
	uint64_t at;			       /* stream offset of the block it gives next */
	uint64_t used;			       /* when, in ticks */
	uint64_t memory;		       /* its bytes, measured when it was parked or started */
	bool busy;
};

/* A thread that needs a block: a scan that passes over the block hands it over. */
struct want {
	const struct hf_parked_stream *stream;
	const struct hf_point *point;
	uint8_t *bytes;
	bool served; /* another thread is copying, or has set bytes */
	struct want *next;
};

/*
 * A block that a scan passed over after another thread began to make it, but before that thread registered its want
 * here. Without this, losing that race of microseconds would mean a scan from the beginning.
 */
struct orphan {
	const struct hf_parked_stream *stream; /* NULL: none */
	uint64_t out_offset, out_size;
	uint8_t *bytes;
};

#define ORPHANS 4

/* A busy scan waits only for its file, so a wait for it ends. */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct parked slot[SLOTS];
	struct want *wants;
	struct orphan orphan[ORPHANS]; /* a ring */
	unsigned next_orphan;
	uint64_t ticks;
} yard = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static bool is_entry(const struct hf_parked_stream *stream, const struct hf_point *point)
{
	const uint32_t closed = HF_POINT_CONTINUES | HF_POINT_DAMAGED;

	return point->out_offset == 0 || (stream->box->enterable && !(point->bits & closed));
}

/* The scan of the stream nearest at or before offset, busy or not. */
static struct parked *nearest(const struct hf_parked_stream *stream, uint64_t offset)
{
	struct parked *best = NULL;

	for (struct parked *p = yard.slot; p < yard.slot + SLOTS; p++)
		if (p->stream == stream && p->at <= offset && (!best || p->at > best->at))
			best = p;
	return best;
}

/* The idle scan that was used longest ago, or NULL. */
static struct parked *oldest_idle(void)
{
	struct parked *oldest = NULL;

	for (struct parked *p = yard.slot; p < yard.slot + SLOTS; p++)
		if (p->stream && !p->busy && (!oldest || p->used < oldest->used))
			oldest = p;
	return oldest;
}

static struct parked *free_slot(void)
{
	for (struct parked *p = yard.slot; p < yard.slot + SLOTS; p++)
		if (!p->stream)
			return p;
	return NULL;
}

/* With the lock held, although freeing takes time: after hf_parked_drop the file must not be used any more. */
static void end_scan(struct parked *p)
{
	if (p->scan)
		p->stream->box->scan_free(p->scan);
	*p = (struct parked){0};
}

static uint64_t memory_of(const struct parked *p)
{
	return p->scan && p->stream->box->scan_memory ? p->stream->box->scan_memory(p->scan) : 0;
}

/* Of all scans, or of those that use a cache. */
static uint64_t memory_of_all(const struct hf_cache *cache)
{
	uint64_t sum = 0;

	for (const struct parked *p = yard.slot; p < yard.slot + SLOTS; p++)
		if (p->stream && (!cache || p->stream->cache == cache))
			sum += p->memory;
	return sum;
}

/* After the scans' memory changed: ends those idle for longest if it is too much, and borrows from the cache. */
static void settle(struct hf_cache *cache)
{
	const uint64_t others = hf_cache_lent_to_others(cache, HF_LEND_SCANS);
	uint64_t most = FREE + hf_cache_size(cache) / 2;
	struct parked *oldest;

	if (others > OTHERS)
		most = most > others - OTHERS ? most - (others - OTHERS) : 0;

	while (memory_of_all(NULL) > most && (oldest = oldest_idle()))
		end_scan(oldest);
	hf_cache_lend(cache, HF_LEND_SCANS, memory_of_all(cache));
}

/* Parks a scan after use. useful: false if it failed or is at its end. */
static void park(struct parked *p, bool useful)
{
	struct hf_cache *cache = p->stream->cache;

	if (useful && p->at < hf_index_stream_size(p->stream->index)) {
		p->busy = false;
		p->used = ++yard.ticks;
		p->memory = memory_of(p);
	} else {
		end_scan(p);
	}
	settle(cache);
	pthread_cond_broadcast(&yard.changed);
}

/*
 * Goes back from *entry to the nearest point that can be entered, but not before the offset floor, where a scan is
 * parked.
 */
static int find_entry(const struct hf_parked_stream *stream, uint64_t floor, struct hf_point *entry,
		      struct hf_diag *diag)
{
	while (entry->out_offset > floor && !is_entry(stream, entry)) {
		uint64_t before = stream->box->enterable ? entry->out_offset - 1 : floor;
		uint64_t was = entry->out_offset;
		int err = hf_index_point_of(stream->index, before, entry);

		if (err)
			return hf_diag_set(diag, err, HF_SPACE_STREAM, before, 0);
		if (entry->out_offset >= was)
			return hf_diag_set(diag, HF_ERR_STATE, HF_SPACE_STREAM, before, 0);
	}
	return 0;
}

/* Waits for another thread's scan, with the lock held; the job's seat is free meanwhile. */
static void await_change(void)
{
	struct hf_job *job = hf_job_here();
	const bool left = hf_job_leave_seat(job);

	pthread_cond_wait(&yard.changed, &yard.lock);
	hf_job_take_seat(job, left);
}

/* The wanted block, if a scan left it as an orphan. Called locked. */
static uint8_t *adopt(const struct want *want)
{
	for (struct orphan *o = yard.orphan; o < yard.orphan + ORPHANS; o++) {
		if (o->stream == want->stream && o->out_offset == want->point->out_offset &&
		    o->out_size == want->point->out_size) {
			uint8_t *bytes = o->bytes;

			*o = (struct orphan){0};
			return bytes;
		}
	}
	return NULL;
}

/*
 * Finds or frees a slot from which the wanted block can be reached and makes it busy: with a scan to go on with, or
 * without one (then at is *entry's). NULL with 0: the block was handed over meanwhile. Called and returns locked.
 */
static int take_slot(struct want *want, struct hf_point *entry, struct parked **ret_slot, struct hf_diag *diag)
{
	const struct hf_parked_stream *stream = want->stream;

	*ret_slot = NULL;
	for (;;) {
		struct parked *p = nearest(stream, want->point->out_offset);
		bool go_on = p && p->at >= entry->out_offset;

		if (!want->served)
			want->bytes = adopt(want);
		if (want->bytes)
			return 0;
		if (!go_on && !is_entry(stream, entry)) {
			uint64_t floor = p ? p->at : 0;
			int err;

			pthread_mutex_unlock(&yard.lock);
			err = find_entry(stream, floor, entry, diag);
			pthread_mutex_lock(&yard.lock);
			if (err)
				return err;
			continue;
		}
		if (!go_on && !want->served) {
			p = free_slot();
			if (!p && (p = oldest_idle()))
				end_scan(p);
		}
		if (want->served || !p || p->busy) {
			await_change();
			continue;
		}
		if (!go_on)
			*p = (struct parked){.stream = stream, .at = entry->out_offset};
		p->busy = true;
		*ret_slot = p;
		return 0;
	}
}

static int start_scan(const struct hf_parked_stream *stream, const struct hf_point *entry, struct hf_scan **ret_scan,
		      struct hf_diag *diag)
{
	uint8_t window[HF_WINDOW_MAX];
	int err;

	if (entry->out_offset == 0)
		return stream->box->scan_new(stream->box, stream->file, NULL, NULL, ret_scan, diag);
	if (entry->window_size > sizeof window)
		return hf_diag_set(diag, HF_ERR_STATE, HF_SPACE_FILE, entry->in_offset, 0);
	err = entry->window_size ? hf_index_window(stream->index, entry, window) : 0;
	if (err)
		return hf_diag_set(diag, err, HF_SPACE_FILE, entry->in_offset, 0);
	return stream->box->scan_new(stream->box, stream->file, entry, window, ret_scan, diag);
}

static uint8_t *copy(const struct hf_parked_stream *stream, const struct hf_point *block, const uint8_t *bytes)
{
	uint8_t *memory = hf_cache_alloc(stream->cache, (size_t)block->out_size);

	if (memory)
		memcpy(memory, bytes, (size_t)block->out_size);
	return memory;
}

/*
 * The block that the scan has given, without a copy if the scan accepts other memory instead. Neighbouring blocks
 * mostly have one size, so memory for one will do for the next.
 */
static uint8_t *take(const struct hf_parked_stream *stream, struct hf_scan *scan, const struct hf_point *block,
		     const uint8_t *bytes)
{
	const size_t size = (size_t)block->out_size;
	uint8_t *memory, *swapped;

	if (!stream->box->scan_swap || block->out_size != HF_BLOCK_AIM)
		return copy(stream, block, bytes);
	memory = hf_cache_alloc(stream->cache, size);
	swapped = memory ? stream->box->scan_swap(scan, memory, size) : NULL;
	if (memory && !swapped)
		memcpy(memory, bytes, size);
	return swapped ? swapped : memory;
}

static bool is_block(const struct hf_point *a, const struct hf_point *b)
{
	return a->out_offset == b->out_offset && a->out_size == b->out_size;
}

/* Gives a block to the thread that wants it; false if nobody does. */
static bool hand_over(const struct hf_parked_stream *stream, const struct hf_point *block, const uint8_t *bytes)
{
	struct want *want;
	uint8_t *memory;

	pthread_mutex_lock(&yard.lock);
	for (want = yard.wants; want; want = want->next)
		if (want->stream == stream && !want->served && is_block(want->point, block))
			break;
	if (want)
		want->served = true;
	pthread_mutex_unlock(&yard.lock);
	if (!want)
		return false;
	memory = copy(stream, block, bytes);
	pthread_mutex_lock(&yard.lock);
	want->bytes = memory;
	want->served = memory;
	pthread_cond_broadcast(&yard.changed);
	pthread_mutex_unlock(&yard.lock);
	return true;
}

static void leave_orphan(const struct hf_parked_stream *stream, const struct hf_point *block, const uint8_t *bytes)
{
	uint8_t *memory = copy(stream, block, bytes), *old;
	struct orphan *orphan;

	pthread_mutex_lock(&yard.lock);
	orphan = &yard.orphan[yard.next_orphan++ % ORPHANS];
	old = orphan->bytes;
	*orphan = (struct orphan){
		.stream = stream, .out_offset = block->out_offset, .out_size = block->out_size, .bytes = memory};
	pthread_mutex_unlock(&yard.lock);
	free(old);
}

/* Puts a block into the cache, if it is one of the index and not a part before an error. */
static void keep(const struct hf_parked_stream *stream, const struct hf_point *block, const uint8_t *bytes)
{
	struct hf_cache_key key = {stream->owner, block->out_offset};
	struct hf_point indexed;
	struct hf_cache_block *made;
	uint8_t *memory;
	int err;

	if (hf_index_point_of(stream->index, block->out_offset, &indexed) || !is_block(&indexed, block))
		return;
	switch (hf_cache_acquire(stream->cache, key, NULL, &made, &err)) {
	case HF_CACHE_HIT:
		hf_cache_unpin(stream->cache, made);
		break;
	case HF_CACHE_MAKE:
		memory = copy(stream, block, bytes);
		if (memory)
			hf_cache_fill(stream->cache, made, memory, (size_t)block->out_size);
		else
			hf_cache_fail(stream->cache, made, HF_ERR_NOMEM);
		break;
	case HF_CACHE_PENDING:
		leave_orphan(stream, block, bytes);
		break;
	case HF_CACHE_ERROR:
		break;
	}
}

static void set_place(struct parked *p, uint64_t at)
{
	const uint64_t memory = memory_of(p);

	HF_LOCKED(&yard.lock);
	p->at = at;
	if (p->memory != memory) {
		p->memory = memory;
		settle(p->stream->cache);
	}
}

/*
 * The scan gave another block than the index has: the error that ended it comes next, or the file is another one, or
 * another version of the container's library cuts blocks differently.
 */
static int explain(struct parked *p, const struct hf_point *point, struct hf_diag *diag)
{
	const uint8_t *bytes, *window;
	struct hf_point block;
	int err = p->stream->box->scan_next(p->scan, &block, &bytes, &window, diag);

	return err < 0 ? err : hf_diag_set(diag, HF_ERR_MISMATCH, HF_SPACE_STREAM, point->out_offset, 0);
}

/* Runs the scan up to the block of point and copies that. The slot is busy, so this thread owns all of it but at. */
static int walk(struct parked *p, const struct hf_point *point, uint8_t **ret_bytes, struct hf_diag *diag)
{
	const struct hf_parked_stream *stream = p->stream;
	struct hf_point block = {0};

	while (block.out_offset + block.out_size <= point->out_offset) {
		const uint8_t *bytes, *window;
		int err = stream->box->scan_next(p->scan, &block, &bytes, &window, diag);

		if (err < 0)
			return err;
		if (err == HF_NOTE_END)
			break;
		if (stream->decoded)
			atomic_fetch_add_explicit(stream->decoded, block.out_size, memory_order_relaxed);
		if (bytes && is_block(&block, point)) {
			*ret_bytes = take(stream, p->scan, &block, bytes);
			set_place(p, block.out_offset + block.out_size);
			return *ret_bytes ? 0 : hf_diag_set(diag, HF_ERR_NOMEM, HF_SPACE_STREAM, HF_NOWHERE, 0);
		}
		if (bytes && !hand_over(stream, &block, bytes) && point->out_offset - block.out_offset <= PASSED_KEEP)
			keep(stream, &block, bytes);
		set_place(p, block.out_offset + block.out_size);
	}
	return explain(p, point, diag);
}

static void forget_want(struct want *want)
{
	struct want **at = &yard.wants;

	while (*at != want)
		at = &(*at)->next;
	*at = want->next;
}

int hf_parked_read(const struct hf_parked_stream *stream, const struct hf_point *point, uint8_t **ret_bytes,
		   struct hf_diag *diag)
{
	struct want want = {.stream = stream, .point = point};
	struct hf_point entry = *point;
	struct parked *p;
	int err;

	pthread_mutex_lock(&yard.lock);
	want.next = yard.wants;
	yard.wants = &want;
	err = take_slot(&want, &entry, &p, diag);
	/* A thread may be handing the block over: wait for it. No other can begin by now. */
	while (!p && want.served && !want.bytes)
		await_change();
	forget_want(&want);
	pthread_mutex_unlock(&yard.lock);
	if (!p) {
		*ret_bytes = want.bytes;
		return want.bytes ? 0 : err;
	}
	if (!p->scan)
		err = start_scan(stream, &entry, &p->scan, diag);
	if (!err)
		err = walk(p, point, ret_bytes, diag);
	pthread_mutex_lock(&yard.lock);
	park(p, !err);
	pthread_mutex_unlock(&yard.lock);
	return err;
}

void hf_parked_drop(const struct hf_parked_stream *stream)
{
	HF_LOCKED(&yard.lock);
	for (struct parked *p = yard.slot; p < yard.slot + SLOTS; p++) {
		if (p->stream != stream)
			continue;
		assert(!p->busy);
		end_scan(p);
	}
	if (stream->cache)
		settle(stream->cache);
	for (struct orphan *o = yard.orphan; o < yard.orphan + ORPHANS; o++) {
		if (o->stream != stream)
			continue;
		free(o->bytes);
		*o = (struct orphan){0};
	}
}

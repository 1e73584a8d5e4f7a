/* SPDX-License-Identifier: Apache-2.0 */
/* The chunk cache: single flight, its bound, replacement, cancelling, dropping, and all of it by many threads. */
#include "codecs/base/sink.h"
#include "fs/base/chunk_cache.h"
#include "index/exec/exec.h"
#include "tests/lib/check.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif

#define KIB ((size_t)1024)
#define MIB (1024 * KIB)

static struct hf_cache *new_cache(uint64_t max_bytes)
{
	struct hf_cache *cache;

	CHECK_EQ(hf_cache_new(max_bytes, &cache), 0);
	return cache;
}

static uint64_t bytes_of(struct hf_cache *cache)
{
	struct hf_cache_stats stats;

	hf_cache_get_stats(cache, &stats);
	return stats.bytes;
}

/* Bytes that tell which key they belong to. */
static uint8_t *content(struct hf_cache *cache, struct hf_cache_key key, size_t size)
{
	uint8_t *bytes = hf_cache_alloc(cache, size);

	CHECK(bytes);
	memset(bytes, (int)(key.number * 7 + key.owner), size);
	return bytes;
}

static bool is_content(const struct hf_cache_block *block, struct hf_cache_key key, size_t size)
{
	uint8_t want = (uint8_t)(key.number * 7 + key.owner);

	if (block->size != size)
		return false;
	return size == 0 ||
	       (block->bytes[0] == want && block->bytes[size / 2] == want && block->bytes[size - 1] == want);
}

struct make {
	struct hf_cache *cache;
	struct hf_cache_key key;
	size_t size;
	int err;
	unsigned calls;
};

static int make(void *ctx, uint8_t **ret_bytes, size_t *ret_size)
{
	struct make *m = ctx;

	m->calls++;
	if (m->err)
		return m->err;
	*ret_bytes = m->size ? content(m->cache, m->key, m->size) : NULL;
	*ret_size = m->size;
	return 0;
}

/* Pins the block, making it if it is not there. */
static struct hf_cache_block *want(struct hf_cache *cache, uint64_t owner, uint64_t number, size_t size, bool *ret_hit)
{
	struct make m = {.cache = cache, .key = {owner, number}, .size = size};
	struct hf_cache_block *block;

	CHECK_EQ(hf_cache_get(cache, m.key, make, &m, &block), 0);
	CHECK(is_content(block, m.key, size));
	if (ret_hit)
		*ret_hit = m.calls == 0;
	return block;
}

/* Wants it and lets go of it; true if it was there. */
static bool touch(struct hf_cache *cache, uint64_t owner, uint64_t number, size_t size)
{
	bool hit;

	hf_cache_unpin(cache, want(cache, owner, number, size, &hit));
	return hit;
}

/* A waiter that remembers what it was told. */
struct told {
	struct hf_cache_waiter waiter;
	atomic_int calls;
	struct hf_cache_block *block;
	int err;
};

static void on_ready(struct hf_cache_waiter *waiter, struct hf_cache_block *block, int err)
{
	struct told *told = (struct told *)waiter;

	told->block = block;
	told->err = err;
	atomic_fetch_add(&told->calls, 1);
}

#define TOLD {.waiter = {.ready = on_ready}}

static void test_basics(void)
{
	struct hf_cache *cache = new_cache(MIB);
	uint64_t owner = hf_cache_owner(cache);
	struct hf_cache_key key = {owner, 5};
	struct told maker = TOLD, second = TOLD, third = TOLD;
	struct hf_cache_stats stats;
	struct hf_cache_block *making, *block;
	int err;

	CHECK(hf_cache_owner(cache) != owner);
	CHECK(!hf_cache_has(cache, key));
	CHECK_EQ(hf_cache_acquire(cache, key, &maker.waiter, &making, &err), HF_CACHE_MAKE);
	CHECK(hf_cache_has(cache, key));
	CHECK_EQ(hf_cache_acquire(cache, key, &second.waiter, &block, &err), HF_CACHE_PENDING);
	CHECK_EQ(hf_cache_acquire(cache, key, NULL, &block, &err), HF_CACHE_PENDING);
	hf_cache_fill(cache, making, content(cache, key, 1000), 1000);
	CHECK_EQ(maker.calls, 1);
	CHECK_EQ(second.calls, 1);
	CHECK(maker.block == second.block && maker.err == 0);
	CHECK(is_content(maker.block, key, 1000));
	CHECK_EQ(hf_cache_acquire(cache, key, &third.waiter, &block, &err), HF_CACHE_HIT);
	CHECK(block == maker.block);
	CHECK_EQ(third.calls, 0);
	for (int i = 0; i < 3; i++)
		hf_cache_unpin(cache, block);
	hf_cache_get_stats(cache, &stats);
	CHECK_EQ(stats.hits, 1);
	CHECK_EQ(stats.misses, 1);
	CHECK_EQ(stats.waits, 2);
	CHECK(touch(cache, owner, 5, 1000));
	CHECK(!touch(cache, owner, 6, 0)); /* a block may be empty */
	CHECK(touch(cache, owner, 6, 0));
	hf_cache_free(cache);
}

static void test_fail(void)
{
	struct hf_cache *cache = new_cache(MIB);
	struct make m = {.cache = cache, .key = {1, 1}, .err = HF_ERR_CORRUPT};
	struct told a = TOLD, b = TOLD;
	struct hf_cache_block *making, *block;
	int err;

	CHECK_EQ(hf_cache_acquire(cache, m.key, &a.waiter, &making, &err), HF_CACHE_MAKE);
	CHECK_EQ(hf_cache_acquire(cache, m.key, &b.waiter, &block, &err), HF_CACHE_PENDING);
	hf_cache_fail(cache, making, HF_ERR_IO);
	CHECK(a.calls == 1 && b.calls == 1 && !a.block && !b.block);
	CHECK_EQ(a.err, HF_ERR_IO);
	CHECK_EQ(b.err, HF_ERR_IO);
	CHECK(!hf_cache_has(cache, m.key));
	CHECK_EQ(hf_cache_get(cache, m.key, make, &m, &block), HF_ERR_CORRUPT);
	CHECK_EQ(bytes_of(cache), 0);
	m.err = 0;
	m.size = 10;
	CHECK_EQ(hf_cache_get(cache, m.key, make, &m, &block), 0);
	hf_cache_unpin(cache, block);
	hf_cache_free(cache);
}

static void test_bound(void)
{
	struct hf_cache *cache = new_cache(MIB);
	struct hf_cache_block *pinned[4], *ahead;
	int err;

	for (uint64_t i = 0; i < 4; i++)
		pinned[i] = want(cache, 1, i, 512 * KIB, NULL);
	CHECK(bytes_of(cache) > 2 * MIB); /* pinned blocks may exceed it */
	for (int i = 0; i < 4; i++)
		hf_cache_unpin(cache, pinned[i]);
	CHECK(bytes_of(cache) <= MIB);

	/* Larger than everything: it works, and does not stay. */
	pinned[0] = want(cache, 1, 9, 3 * MIB, NULL);
	CHECK(hf_cache_has(cache, (struct hf_cache_key){1, 9}));
	hf_cache_unpin(cache, pinned[0]);
	CHECK(bytes_of(cache) <= MIB);
	CHECK_EQ(hf_cache_acquire(cache, (struct hf_cache_key){1, 10}, NULL, &ahead, &err), HF_CACHE_MAKE);
	hf_cache_fill(cache, ahead, content(cache, (struct hf_cache_key){1, 10}, 2 * MIB), 2 * MIB);
	CHECK(bytes_of(cache) <= MIB);

	/* The room of a buffer that grew by doubling is not kept. */
	hf_cache_drop(cache, 1);
	CHECK_EQ(bytes_of(cache), 0);
	CHECK_EQ(hf_cache_acquire(cache, (struct hf_cache_key){2, 1}, NULL, &ahead, &err), HF_CACHE_MAKE);
	hf_cache_fill(cache, ahead, malloc(8 * MIB), 100 * KIB);
	CHECK(bytes_of(cache) > 100 * KIB && bytes_of(cache) < 120 * KIB);

	/* Many tiny blocks: what manages them counts. */
	for (uint64_t i = 0; i < 50000; i++)
		touch(cache, 3, i, i % 3);
	CHECK(bytes_of(cache) <= MIB);
	hf_cache_free(cache);
}

/* One pass over a large file, each block read in eight pieces, leaves what is used again and again in place. */
static void test_scan_resistance(void)
{
	struct hf_cache *cache = new_cache(64 * MIB);
	size_t hot = 0;

	for (int round = 0; round < 4; round++) {
		for (uint64_t i = 0; i < 24; i++)
			touch(cache, 1, i, MIB);
		for (uint64_t i = 0; i < 60; i++)
			touch(cache, 2, (uint64_t)round * 60 + i, MIB);
	}
	for (uint64_t i = 0; i < 1000; i++)
		for (int piece = 0; piece < 8; piece++)
			CHECK_EQ(touch(cache, 3, i, MIB), piece > 0);
	for (uint64_t i = 0; i < 24; i++)
		hot += hf_cache_has(cache, (struct hf_cache_key){1, i});
	CHECK_EQ(hot, 24);

	/* With nothing proven hot, all of the cache is there for one pass. */
	hf_cache_free(cache);
	cache = new_cache(64 * MIB);
	for (uint64_t i = 0; i < 60; i++)
		touch(cache, 1, i, MIB);
	for (uint64_t i = 0; i < 60; i++)
		CHECK(touch(cache, 1, i, MIB));
	hf_cache_free(cache);
}

/* What a reader passed goes first, without room for it elsewhere being needed; what is wanted again stays. */
static void test_passed(void)
{
	struct hf_cache *cache = new_cache(64 * MIB);
	const struct hf_cache_key first = {1, 0};
	struct hf_cache_block *block;
	int err;

	for (uint64_t i = 0; i < 20; i++)
		touch(cache, 2, i, MIB);
	for (uint64_t i = 0; i < 1000; i++) {
		CHECK(!touch(cache, 1, i, MIB));
		CHECK_EQ(hf_cache_acquire(cache, (struct hf_cache_key){1, i}, NULL, &block, &err), HF_CACHE_HIT);
		hf_cache_unpin_passed(cache, block);
		if (i % 4 == 0) /* somebody else wants it again and again */
			CHECK(touch(cache, 1, 0, MIB));
		CHECK(bytes_of(cache) < 32 * MIB);
	}
	CHECK(hf_cache_has(cache, first) && hf_cache_has(cache, (struct hf_cache_key){1, 999}));
	CHECK(!hf_cache_has(cache, (struct hf_cache_key){1, 980}));
	for (uint64_t i = 0; i < 20; i++)
		CHECK(hf_cache_has(cache, (struct hf_cache_key){2, i}));
	hf_cache_free(cache);
}

static void test_cancel(void)
{
	struct hf_cache *cache = new_cache(MIB);
	struct hf_cache_key key = {1, 1};
	struct told w[4] = {TOLD, TOLD, TOLD, TOLD};
	struct hf_cache_block *making, *block;
	int err;

	CHECK(!hf_cache_cancel(cache, &w[0].waiter)); /* never waited */
	CHECK_EQ(hf_cache_acquire(cache, key, &w[0].waiter, &making, &err), HF_CACHE_MAKE);
	for (int i = 1; i < 4; i++)
		CHECK_EQ(hf_cache_acquire(cache, key, &w[i].waiter, &block, &err), HF_CACHE_PENDING);
	CHECK(hf_cache_cancel(cache, &w[0].waiter));
	CHECK(hf_cache_cancel(cache, &w[2].waiter));
	CHECK(!hf_cache_cancel(cache, &w[2].waiter));
	hf_cache_fill(cache, making, content(cache, key, 10), 10);
	CHECK(w[0].calls == 0 && w[1].calls == 1 && w[2].calls == 0 && w[3].calls == 1);
	CHECK(!hf_cache_cancel(cache, &w[1].waiter));
	hf_cache_unpin(cache, w[1].block);
	hf_cache_unpin(cache, w[3].block);
	CHECK(touch(cache, 1, 1, 10)); /* the making went on */
	hf_cache_free(cache);
}

static void test_drop(void)
{
	struct hf_cache *cache = new_cache(MIB);
	struct told w = TOLD, other = TOLD;
	struct hf_cache_block *pinned, *making, *again, *failing;
	int err;

	/* Pinned: its bytes stay until it is unpinned. */
	pinned = want(cache, 1, 1, 1000, NULL);
	touch(cache, 1, 2, 1000);
	touch(cache, 2, 1, 1000);
	CHECK_EQ(hf_cache_acquire(cache, (struct hf_cache_key){1, 3}, &w.waiter, &making, &err), HF_CACHE_MAKE);
	CHECK_EQ(hf_cache_acquire(cache, (struct hf_cache_key){1, 4}, NULL, &failing, &err), HF_CACHE_MAKE);
	hf_cache_drop(cache, 1);
	for (uint64_t i = 1; i <= 4; i++)
		CHECK(!hf_cache_has(cache, (struct hf_cache_key){1, i}));
	CHECK(hf_cache_has(cache, (struct hf_cache_key){2, 1}));
	CHECK(is_content(pinned, (struct hf_cache_key){1, 1}, 1000));

	/* Being made: who waits gets it, nobody later does. */
	CHECK_EQ(hf_cache_acquire(cache, (struct hf_cache_key){1, 3}, &other.waiter, &again, &err), HF_CACHE_MAKE);
	CHECK(again != making);
	hf_cache_fill(cache, making, content(cache, (struct hf_cache_key){1, 3}, 100), 100);
	CHECK(w.calls == 1 && other.calls == 0 && w.block == making);
	CHECK(is_content(w.block, (struct hf_cache_key){1, 3}, 100));
	hf_cache_fail(cache, failing, HF_ERR_IO);
	hf_cache_fail(cache, again, HF_ERR_IO);
	CHECK_EQ(other.calls, 1);
	hf_cache_unpin(cache, pinned);
	hf_cache_unpin(cache, w.block);
	hf_cache_drop(cache, 2);
	CHECK_EQ(bytes_of(cache), 0);
	hf_cache_free(cache);
}

/* Threads. */

#define THREADS 8

static uint32_t next_random(uint32_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

static void run_threads(void *(*fn)(void *), void *ctx)
{
	pthread_t thread[THREADS];

	for (int i = 0; i < THREADS; i++)
		CHECK_EQ(pthread_create(&thread[i], NULL, fn, ctx), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
}

#define KEYS 300

struct once {
	struct hf_cache *cache;
	atomic_uint seed;
	atomic_uint made[KEYS];
};

struct once_make {
	struct once *once;
	struct hf_cache_key key;
	size_t size;
};

static int make_once(void *ctx, uint8_t **ret_bytes, size_t *ret_size)
{
	struct once_make *m = ctx;

	atomic_fetch_add(&m->once->made[m->key.number], 1);
	sched_yield();
	*ret_bytes = content(m->once->cache, m->key, m->size);
	*ret_size = m->size;
	return 0;
}

static void *get_all(void *ctx)
{
	struct once *once = ctx;
	uint32_t random = atomic_fetch_add(&once->seed, 1) * 2654435761u + 1;

	for (int i = 0; i < 5000; i++) {
		uint64_t number = next_random(&random) % KEYS;
		struct once_make m = {.once = once, .key = {1, number}, .size = 1 + number * 13};
		struct hf_cache_block *block;

		CHECK_EQ(hf_cache_get(once->cache, m.key, make_once, &m, &block), 0);
		CHECK(is_content(block, m.key, m.size));
		hf_cache_unpin(once->cache, block);
	}
	return NULL;
}

/* Single flight: in a cache that holds everything each key is made exactly once, however many want it. */
static void test_single_flight(void)
{
	static struct once once;

	once.cache = new_cache(16 * MIB);
	run_threads(get_all, &once);
	for (int i = 0; i < KEYS; i++)
		CHECK_EQ(once.made[i], 1);
	hf_cache_free(once.cache);
}

/* Blocks whose bytes others are filled with. */
static void test_lent(void)
{
	struct hf_cache *cache = new_cache(MIB);
	const uint64_t lender = hf_cache_owner(cache), owner = hf_cache_owner(cache);
	const struct hf_cache_key key = {owner, 1};
	struct hf_cache_block *lent, *block, *again;
	uint64_t alone;
	int err;

	/* They are there once, and count once. */
	lent = want(cache, lender, 1, 100 * KIB, NULL);
	alone = bytes_of(cache);
	CHECK_EQ(hf_cache_acquire(cache, key, NULL, &block, &err), HF_CACHE_MAKE);
	hf_cache_fill_lent(cache, block, lent);
	CHECK(bytes_of(cache) < alone + KIB);
	CHECK_EQ(hf_cache_acquire(cache, key, NULL, &block, &err), HF_CACHE_HIT);
	again = want(cache, lender, 1, 100 * KIB, NULL);
	CHECK(again == lent && block->bytes == lent->bytes && block->size == lent->size);
	hf_cache_unpin(cache, again);

	/* The lender's owner goes: who reads them goes on; with the last of them they are gone. */
	hf_cache_drop(cache, lender);
	CHECK(block->bytes[100 * KIB - 1] == (uint8_t)(7 + lender));
	hf_cache_unpin(cache, block);
	CHECK(hf_cache_has(cache, key) && !hf_cache_has(cache, (struct hf_cache_key){lender, 1}));
	hf_cache_drop(cache, owner);
	CHECK_EQ(bytes_of(cache), 0);

	/* The other one goes while somebody reads the lender. */
	lent = want(cache, lender, 2, 100 * KIB, NULL);
	again = want(cache, lender, 2, 100 * KIB, NULL);
	CHECK_EQ(hf_cache_acquire(cache, key, NULL, &block, &err), HF_CACHE_MAKE);
	hf_cache_fill_lent(cache, block, lent);
	hf_cache_drop(cache, owner);
	CHECK(is_content(again, (struct hf_cache_key){lender, 2}, 100 * KIB));
	CHECK(bytes_of(cache) >= 100 * KIB);
	hf_cache_unpin(cache, again);
	CHECK(touch(cache, lender, 2, 100 * KIB));

	/* Both give way to others: nobody reads them. */
	lent = want(cache, lender, 2, 100 * KIB, NULL);
	CHECK_EQ(hf_cache_acquire(cache, key, NULL, &block, &err), HF_CACHE_MAKE);
	hf_cache_fill_lent(cache, block, lent);
	for (uint64_t i = 10; i < 30; i++)
		touch(cache, owner, i, 100 * KIB);
	CHECK(!hf_cache_has(cache, key) && !hf_cache_has(cache, (struct hf_cache_key){lender, 2}));
	CHECK(bytes_of(cache) <= MIB);

	/* The cache ends with some. */
	for (uint64_t i = 40; i < 43; i++) {
		lent = want(cache, lender, i, 100 * KIB, NULL);
		CHECK_EQ(hf_cache_acquire(cache, (struct hf_cache_key){owner, i}, NULL, &block, &err), HF_CACHE_MAKE);
		hf_cache_fill_lent(cache, block, lent);
	}
	hf_cache_drop(cache, lender);
	hf_cache_free(cache);
}

/* A reader who passes through what others have proved they want again does not take it from them. */
static void test_lent_frequent(void)
{
	struct hf_cache *cache = new_cache(MIB);
	const uint64_t lender = hf_cache_owner(cache), owner = hf_cache_owner(cache), other = hf_cache_owner(cache);
	struct hf_cache_block *lent, *block;
	int err;

	touch(cache, lender, 1, 100 * KIB);
	for (uint64_t i = 0; hf_cache_has(cache, (struct hf_cache_key){lender, 1}); i++)
		touch(cache, other, i, 100 * KIB);
	touch(cache, lender, 1, 100 * KIB);
	for (uint64_t i = 1; i < 20; i++) {
		struct told told = TOLD;

		CHECK_EQ(hf_cache_acquire(cache, (struct hf_cache_key){owner, i}, &told.waiter, &block, &err), HF_CACHE_MAKE);
		lent = want(cache, lender, i, 100 * KIB, NULL);
		hf_cache_fill_lent(cache, block, lent);
		hf_cache_unpin_passed(cache, told.block);
	}
	CHECK(!hf_cache_has(cache, (struct hf_cache_key){owner, 1}));
	CHECK(!hf_cache_has(cache, (struct hf_cache_key){lender, 2}));
	CHECK(touch(cache, lender, 1, 100 * KIB));
	CHECK(bytes_of(cache) <= MIB);
	/* It goes as others do. */
	for (uint64_t i = 0; i < 40; i++)
		touch(cache, other, 100 + i % 20, 100 * KIB);
	CHECK(bytes_of(cache) <= MIB);
	hf_cache_drop(cache, owner);
	hf_cache_drop(cache, lender);
	hf_cache_drop(cache, other);
	CHECK_EQ(bytes_of(cache), 0);
	hf_cache_free(cache);
}

#define CHAOS_SIZE (16 * KIB)
#define CHAOS_MAX (CHAOS_SIZE * 20)
#define CHAOS_SLOTS 64
/* Added to an owner: whoever lends to its blocks. */
#define LENDER ((uint64_t)1 << 40)

/* Blocks whose making one thread took on and any thread may end. */
struct chaos {
	struct hf_cache *cache;
	pthread_mutex_t lock;
	struct {
		struct hf_cache_block *block;
		struct hf_cache_key key;
	} slot[CHAOS_SLOTS];
	unsigned slots;
	atomic_uint seed, running, owner;
	atomic_uint making[KEYS];
	atomic_uint hits, told, cancelled, failed;
};

/* A block that others use too, pinned; NULL: another thread is making it just now. */
static struct hf_cache_block *find_lender(struct chaos *chaos, struct hf_cache_key key)
{
	const struct hf_cache_key lender = {LENDER + key.owner, key.number};
	struct told told = TOLD;
	struct hf_cache_block *lent;
	int err;

	switch (hf_cache_acquire(chaos->cache, lender, &told.waiter, &lent, &err)) {
	case HF_CACHE_HIT:
		atomic_fetch_add(&chaos->hits, 1);
		return lent;
	case HF_CACHE_MAKE:
		hf_cache_fill(chaos->cache, lent, content(chaos->cache, key, CHAOS_SIZE), CHAOS_SIZE);
		break;
	case HF_CACHE_PENDING:
		if (hf_cache_cancel(chaos->cache, &told.waiter)) {
			atomic_fetch_add(&chaos->cancelled, 1);
			return NULL;
		}
		while (!atomic_load(&told.calls))
			sched_yield();
		break;
	default:
		CHECK_EQ(err, 0);
	}
	atomic_fetch_add(&chaos->told, 1);
	CHECK(told.block);
	return told.block;
}

static void finish(struct chaos *chaos, struct hf_cache_block *block, struct hf_cache_key key, uint32_t random)
{
	struct hf_cache_block *lent;

	if (key.owner == 0)
		CHECK_EQ(atomic_fetch_sub(&chaos->making[key.number], 1), 1);
	if (random % 10 == 0) {
		hf_cache_fail(chaos->cache, block, HF_ERR_CANCELLED);
		return;
	}
	if (random % 10 < 4 && (lent = find_lender(chaos, key))) {
		hf_cache_fill_lent(chaos->cache, block, lent);
		return;
	}
	hf_cache_fill(chaos->cache, block, content(chaos->cache, key, CHAOS_SIZE), CHAOS_SIZE);
}

static void finish_any(struct chaos *chaos, uint32_t random)
{
	struct hf_cache_block *block = NULL;
	struct hf_cache_key key = {0};

	pthread_mutex_lock(&chaos->lock);
	if (chaos->slots) {
		unsigned at = random % chaos->slots;

		block = chaos->slot[at].block;
		key = chaos->slot[at].key;
		chaos->slot[at] = chaos->slot[--chaos->slots];
	}
	pthread_mutex_unlock(&chaos->lock);
	if (block)
		finish(chaos, block, key, random >> 8);
}

static void take_on(struct chaos *chaos, struct hf_cache_block *block, struct hf_cache_key key, uint32_t random)
{
	bool kept = false;

	if (key.owner == 0)
		CHECK_EQ(atomic_fetch_add(&chaos->making[key.number], 1), 0);
	pthread_mutex_lock(&chaos->lock);
	if (random % 4 && chaos->slots < CHAOS_SLOTS) {
		chaos->slot[chaos->slots].block = block;
		chaos->slot[chaos->slots++].key = key;
		kept = true;
	}
	pthread_mutex_unlock(&chaos->lock);
	if (!kept)
		finish(chaos, block, key, random >> 8);
}

/* Waits, making others' blocks meanwhile so that nobody waits for ever, or cancels at a random moment. */
static void wait_or_cancel(struct chaos *chaos, struct told *told, struct hf_cache_key key, uint32_t *random)
{
	for (unsigned patience = next_random(random) % 8; atomic_load(&told->calls) == 0; patience--) {
		if (patience == 0 && hf_cache_cancel(chaos->cache, &told->waiter)) {
			CHECK_EQ(atomic_load(&told->calls), 0);
			atomic_fetch_add(&chaos->cancelled, 1);
			return;
		}
		finish_any(chaos, next_random(random));
	}
	CHECK_EQ(atomic_load(&told->calls), 1);
	atomic_fetch_add(&chaos->told, 1);
	if (!told->block) {
		CHECK_EQ(told->err, HF_ERR_CANCELLED);
		atomic_fetch_add(&chaos->failed, 1);
		return;
	}
	CHECK(is_content(told->block, key, CHAOS_SIZE));
	sched_yield();
	hf_cache_unpin(chaos->cache, told->block);
}

static void *cause_chaos(void *ctx)
{
	struct chaos *chaos = ctx;
	uint32_t random = atomic_fetch_add(&chaos->seed, 1) * 2654435761u + 1;

	for (int i = 0; i < 8000; i++) {
		/* Owner 0 is never dropped, so that single flight can be proved for it. */
		uint64_t owner = next_random(&random) % 2 ? 0 : atomic_load(&chaos->owner);
		struct hf_cache_key key = {owner, next_random(&random) % 40};
		struct told told = TOLD;
		struct hf_cache_block *block;
		int err;

		switch (hf_cache_acquire(chaos->cache, key, &told.waiter, &block, &err)) {
		case HF_CACHE_HIT:
			CHECK(is_content(block, key, CHAOS_SIZE));
			atomic_fetch_add(&chaos->hits, 1);
			hf_cache_unpin(chaos->cache, block);
			break;
		case HF_CACHE_MAKE:
			take_on(chaos, block, key, next_random(&random));
			wait_or_cancel(chaos, &told, key, &random);
			break;
		case HF_CACHE_PENDING:
			wait_or_cancel(chaos, &told, key, &random);
			break;
		case HF_CACHE_ERROR:
			CHECK_EQ(err, 0);
		}
		/* At most one block a thread is pinned, one that is lent, and those being told of. */
		CHECK(bytes_of(chaos->cache) <= CHAOS_MAX + 4 * THREADS * (CHAOS_SIZE + 256));
		if (next_random(&random) % 200 == 0)
			hf_cache_drop(chaos->cache, LENDER + atomic_load(&chaos->owner));
		if (next_random(&random) % 200 == 0)
			hf_cache_drop(chaos->cache, atomic_fetch_add(&chaos->owner, 1));
	}
	/* The last ones out finish what is left; their waiters were cancelled or are still in their loops. */
	atomic_fetch_sub(&chaos->running, 1);
	while (atomic_load(&chaos->running))
		finish_any(chaos, next_random(&random));
	return NULL;
}

static void test_chaos(void)
{
	static struct chaos chaos = {.lock = PTHREAD_MUTEX_INITIALIZER, .owner = 1, .running = THREADS};
	struct hf_cache_stats stats;

	chaos.cache = new_cache(CHAOS_MAX);
	run_threads(cause_chaos, &chaos);
	while (chaos.slots)
		finish_any(&chaos, 1);
	hf_cache_get_stats(chaos.cache, &stats);
	CHECK(stats.bytes <= CHAOS_MAX);
	CHECK_EQ(stats.hits, chaos.hits);
	CHECK_EQ(stats.misses + stats.waits, chaos.told + chaos.cancelled);
	CHECK(chaos.cancelled && chaos.failed && stats.evicted && stats.waits);
	hf_cache_free(chaos.cache);
}

#ifndef SANITIZED
static size_t rss(void)
{
	FILE *f = fopen("/proc/self/statm", "r");
	size_t pages = 0;

	CHECK(f && fscanf(f, "%*u %zu", &pages) == 1);
	fclose(f);
	return pages * (size_t)sysconf(_SC_PAGESIZE);
}

struct churn {
	struct hf_cache *cache;
	atomic_uint seed;
};

struct churn_make {
	struct hf_cache *cache;
	size_t size;
	bool grow;
};

/* Blocks of all sizes, half of them made in growing buffers as encoders make them. */
static int make_churn(void *ctx, uint8_t **ret_bytes, size_t *ret_size)
{
	struct churn_make *m = ctx;
	size_t size = m->size;
	struct hf_sink sink;

	*ret_size = size;
	if (!m->grow) {
		*ret_bytes = hf_cache_alloc(m->cache, size);
		CHECK(*ret_bytes);
		memset(*ret_bytes, 1, size);
		return 0;
	}
	CHECK_EQ(hf_sink_init_memory(&sink, 0), 0);
	while (hf_sink_total(&sink) < size) {
		memset(hf_sink_room(&sink, 4096), 1, 4096);
		sink.p += 4096;
	}
	*ret_bytes = sink.start;
	return 0;
}

static void *churn(void *ctx)
{
	struct churn *c = ctx;
	uint32_t random = atomic_fetch_add(&c->seed, 1) * 2654435761u + 1;

	for (int i = 0; i < 200; i++) {
		size_t size = (size_t)1 << (6 + next_random(&random) % 18); /* 64 bytes to 8 MiB */
		struct churn_make m = {.cache = c->cache, .size = size + next_random(&random) % size, .grow = i & 1};
		struct hf_cache_key key = {1, next_random(&random)};
		struct hf_cache_block *block;

		CHECK_EQ(hf_cache_get(c->cache, key, make_churn, &m, &block), 0);
		hf_cache_unpin(c->cache, block);
	}
	return NULL;
}

/* Memory of evicted blocks leaves the process; spare pieces and what is being made come on top. */
static void test_memory(void)
{
	struct churn c = {.cache = new_cache(64 * MIB)};
	size_t before = rss(), after;

	for (int round = 0; round < 2; round++)
		run_threads(churn, &c);
	after = rss();
	printf("cache 64 MiB, RSS %zu MiB more than before\n", (after - before) / MIB);
	CHECK(after - before < (64 + 32) * MIB);
	hf_cache_free(c.cache);
}
#endif

/* Jobs that wait for a block whose maker stalls take no seats from the others. */
struct stalled {
	struct hf_job job;
	struct hf_cache *cache;
	atomic_bool *go_on, *making;
	atomic_int ended;
};

static int make_slowly(void *ctx, uint8_t **ret_bytes, size_t *ret_size)
{
	struct stalled *s = ctx;

	*s->making = true;
	while (!*s->go_on)
		usleep(1000);
	*ret_bytes = malloc(1);
	*ret_size = 1;
	return *ret_bytes ? 0 : HF_ERR_NOMEM;
}

static int get_stalled(struct hf_job *job, struct hf_worker *worker)
{
	struct stalled *s = (struct stalled *)job;
	struct hf_cache_block *block;

	(void)worker;
	CHECK_EQ(hf_cache_get(s->cache, (struct hf_cache_key){1, 1}, make_slowly, s, &block), 0);
	hf_cache_unpin(s->cache, block);
	s->ended = 1;
	return 0;
}

static int give_up(struct hf_job *job, struct hf_worker *worker)
{
	struct stalled *s = (struct stalled *)job;
	struct hf_cache_block *block;

	(void)worker;
	CHECK_EQ(hf_cache_get(s->cache, (struct hf_cache_key){1, 1}, make_slowly, s, &block), HF_ERR_CANCELLED);
	CHECK(job->gave_up);
	s->ended = 1;
	return 0;
}

static int get_nothing(struct hf_job *job, struct hf_worker *worker)
{
	(void)worker;
	((struct stalled *)job)->ended = 1;
	return 0;
}

/* However many jobs wait for a stalled maker, those that make ahead leave room for the others, who get through. */
static void test_giving_up(void)
{
	enum { WAIT = 49, SPARE = 20, ALL = WAIT + SPARE + 1 };
	const struct hf_exec_limits limits = {.seats = {[HF_WORK_DECODE] = 2}};
	static atomic_bool go_on, making;
	static struct stalled s[ALL];
	struct hf_cache *cache;
	struct hf_exec *exec;

	CHECK_EQ(hf_cache_new(1 << 20, &cache), 0);
	CHECK_EQ(hf_exec_new(&limits, &exec), 0);
	for (int i = 0; i < ALL; i++) {
		const bool spare = i >= WAIT && i < WAIT + SPARE;

		s[i] = (struct stalled){.job = {.fn = i < WAIT ? get_stalled : spare ? give_up : get_nothing,
						.work = HF_WORK_DECODE, .spare = spare},
					.cache = cache, .go_on = &go_on, .making = &making};
		hf_job_submit(exec, &s[i].job);
		CHECK_COMES(making && (i < WAIT || s[i].ended));
	}
	for (int i = 0; i < WAIT; i++)
		CHECK(!s[i].ended);
	go_on = true;
	for (int i = 0; i < ALL; i++)
		hf_job_join(&s[i].job);
	hf_exec_free(exec);
	hf_cache_free(cache);
}

/* What is abandoned is made anew by who wants it next; it is not while somebody waits for it. */
static void test_abandon(void)
{
	struct hf_cache *cache = new_cache(MIB);
	const struct hf_cache_key key = {1, 2};
	struct hf_cache_waiter waiter = {.ready = NULL};
	struct hf_cache_block *block, *same;
	int err;

	CHECK_EQ(hf_cache_acquire(cache, key, NULL, &block, &err), HF_CACHE_MAKE);
	CHECK_EQ(hf_cache_acquire(cache, key, &waiter, &same, &err), HF_CACHE_PENDING);
	CHECK(!hf_cache_abandon(cache, block));
	CHECK(hf_cache_has(cache, key));
	CHECK(hf_cache_cancel(cache, &waiter));
	CHECK(hf_cache_abandon(cache, block));
	CHECK(!hf_cache_has(cache, key));
	CHECK_EQ(bytes_of(cache), 0);
	CHECK_EQ(hf_cache_acquire(cache, key, NULL, &block, &err), HF_CACHE_MAKE);
	hf_cache_drop(cache, key.owner);
	CHECK(hf_cache_abandon(cache, block));
	hf_cache_free(cache);
}

static void test_stalled_maker(void)
{
	const struct hf_exec_limits limits = {.seats = {[HF_WORK_DECODE] = 2}};
	static atomic_bool go_on, making;
	struct stalled s[8];
	struct hf_cache *cache;
	struct hf_exec *exec;

	CHECK_EQ(hf_cache_new(1 << 20, &cache), 0);
	CHECK_EQ(hf_exec_new(&limits, &exec), 0);
	for (int i = 0; i < 8; i++) {
		s[i] = (struct stalled){.job = {.fn = i < 7 ? get_stalled : get_nothing, .work = HF_WORK_DECODE},
					.cache = cache, .go_on = &go_on, .making = &making};
		hf_job_submit(exec, &s[i].job);
		CHECK_COMES(making);
	}
	CHECK_COMES(s[7].ended);
	for (int i = 0; i < 7; i++)
		CHECK(!s[i].ended);
	go_on = true;
	for (int i = 0; i < 8; i++)
		hf_job_join(&s[i].job);
	for (int i = 0; i < 8; i++)
		CHECK(s[i].ended);
	hf_exec_free(exec);
	hf_cache_free(cache);
}

int main(void)
{
	test_stalled_maker();
	test_giving_up();
	test_abandon();
	test_basics();
	test_fail();
	test_bound();
	test_scan_resistance();
	test_passed();
	test_cancel();
	test_drop();
	test_single_flight();
	test_lent();
	test_lent_frequent();
	test_chaos();
#ifndef SANITIZED
	test_memory();
#endif
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One mutex guards everything. A hit holds it for some tens of nanoseconds and a FUSE round trip costs thousands, so
 * shards would buy nothing, and one lock makes cancelling a waiter exact. Memory is given back outside the lock.
 *
 * Replacement is 2Q. Recency alone would let one pass over a large file throw out everything, and counting hits
 * does not help, since a sequential reader hits each block many times within a moment. So a new block goes to the
 * queue RECENT and stays there however often it is hit; when it leaves, its key is remembered for a while (GHOSTS);
 * only a block that is wanted again after it was gone has proved its worth and goes to FREQUENT. RECENT gives
 * way first while it holds more than a quarter of the cache; until something is in FREQUENT it may use all of it.
 *
 * What a reader that goes forward has passed is kept for a short while only (PASSED), in case another one follows it
 * closely. The kernel has its bytes; and fresh memory for each block costs more than what is made in it.
 *
 * All queues hold unpinned blocks only, the one that was unpinned last at the newest end: evicting never searches.
 */
#include "fs/base/chunk_cache.h"
#include "codecs/base/chains.h"
#include "fs/base/free_list.h"
#include "fs/base/list.h"
#include "index/exec/exec.h"

#include <assert.h>
#include <stdlib.h>

enum queue_name { PASSED, RECENT, FREQUENT, GHOSTS, QUEUES };

/* Of the cache, a part of at most that many bytes has what readers passed. */
#define PASSED_BYTES_MAX ((uint64_t)8 << 20)

enum entry_state { MAKING, READY, GHOST };

struct entry {
	struct hf_cache_block block; /* first: blocks are cast back to entries */
	struct hf_cache_key key;
	struct hf_chain in_table;    /* its next may be that of a list of entries to be freed */
	struct entry *lender;	     /* whose bytes these are, which it pins; NULL: its own */
	struct hf_link link;         /* in its queue */
	struct hf_cache_waiter *waiters;
	size_t cost; /* with its bytes, unless they are lent; a ghost keeps what it had */
	uint32_t pins;
	uint8_t state;
	uint8_t queue; /* where it goes, or is, when unpinned */
	bool dropped;  /* not in the table any more: freed as soon as nobody has it */
};

struct queue {
	struct hf_link list;
	uint64_t cost;
};

/* An entry with what malloc adds to it and its share of the table. */
#define ENTRY_COST (sizeof(struct entry) + 2 * sizeof(void *))

struct hf_cache {
	pthread_mutex_t lock;
	uint64_t max_bytes, lent;
	uint64_t lend[HF_LENDERS];
	struct hf_chains table;
	struct queue queues[QUEUES];
	uint64_t next_owner;
	struct hf_cache_stats stats;
	struct hf_free_list free_list;

	/* For hf_cache_get, whose waiters live on stacks: they sleep on something that outlives them. */
	pthread_mutex_t sleep_lock;
	pthread_cond_t woken;
};

static struct entry *entry_of(struct hf_cache_block *block)
{
	return (struct entry *)block;
}

/* The table of entries by key. */

static uint64_t hash_of(struct hf_cache_key key)
{
	uint64_t h = (key.owner * UINT64_C(0x9e3779b97f4a7c15)) ^ key.number;

	h = (h ^ h >> 32) * UINT64_C(0xd6e8feb86659fd93);
	return h ^ h >> 32;
}

static struct entry *in(struct hf_chain *chain)
{
	return chain ? HF_OWNER(chain, struct entry, in_table) : NULL;
}

static struct entry *find(const struct hf_cache *cache, struct hf_cache_key key)
{
	struct hf_chain *chain = hf_chains_find(&cache->table, hash_of(key));

	while (chain && (in(chain)->key.owner != key.owner || in(chain)->key.number != key.number))
		chain = hf_chains_same(chain);
	return in(chain);
}

static struct entry *add_entry(struct hf_cache *cache, struct hf_cache_key key)
{
	struct entry *e = calloc(1, sizeof *e);

	if (!e || hf_chains_add(&cache->table, &e->in_table, hash_of(key))) {
		free(e);
		return NULL;
	}
	e->key = key;
	e->queue = RECENT;
	e->cost = ENTRY_COST;
	cache->stats.bytes += ENTRY_COST;
	return e;
}

static void remove_from_table(struct hf_cache *cache, struct entry *e)
{
	hf_chains_remove(&cache->table, &e->in_table);
}

/* Queues. */

static void enqueue(struct hf_cache *cache, struct entry *e)
{
	struct queue *q = &cache->queues[e->queue];

	hf_link_add(&q->list, &e->link);
	q->cost += e->cost;
}

static void dequeue(struct hf_cache *cache, struct entry *e)
{
	hf_link_remove(&e->link);
	cache->queues[e->queue].cost -= e->cost;
}

static struct entry *oldest_of(const struct hf_cache *cache, enum queue_name name)
{
	const struct queue *q = &cache->queues[name];

	return hf_link_none(&q->list) ? NULL : HF_OWNER(q->list.prev, struct entry, link);
}

/* Giving memory back. */

static void throw_away(struct hf_cache *cache, struct entry **refuse, struct entry *e)
{
	cache->stats.bytes -= e->state == GHOST ? ENTRY_COST : e->cost;
	e->in_table.next = *refuse ? &(*refuse)->in_table : NULL;
	*refuse = e;
}

/* Bytes that were lent are not needed there any more, nor anywhere else if nobody is just reading them: unless the block
 * was wanted again by itself, which a reader who passed through it does not change. */
static void give_back(struct hf_cache *cache, struct entry **refuse, struct entry *lender, size_t room)
{
	lender->cost += room;
	cache->stats.bytes += room;
	if (--lender->pins)
		return;
	if (lender->queue == FREQUENT && !lender->dropped) {
		enqueue(cache, lender);
		return;
	}
	if (!lender->dropped)
		remove_from_table(cache, lender);
	throw_away(cache, refuse, lender);
}

/* Gives up an entry that is in no queue and not in the table: it is freed once the lock is released. */
static void discard(struct hf_cache *cache, struct entry **refuse, struct entry *e)
{
	struct entry *lender = e->lender;

	throw_away(cache, refuse, e);
	if (!lender)
		return;
	e->lender = NULL;
	e->block.bytes = NULL;
	give_back(cache, refuse, lender, e->cost - ENTRY_COST);
}

static void discard_all(struct hf_cache *cache, struct entry **refuse, struct hf_chain *gone)
{
	for (struct entry *e; (e = in(gone));) {
		gone = gone->next;
		discard(cache, refuse, e);
	}
}

static void empty(struct hf_cache *cache, struct entry *refuse)
{
	for (struct entry *e = refuse, *next; e; e = next) {
		next = in(e->in_table.next);
		if (e->block.bytes)
			hf_free_list_put(&cache->free_list, (uint8_t *)(uintptr_t)e->block.bytes, e->cost - ENTRY_COST);
		free(e);
	}
}

/* Replacement. */

static void forget_oldest_ghost(struct hf_cache *cache, struct entry **refuse)
{
	struct entry *e = oldest_of(cache, GHOSTS);

	assert(e);
	dequeue(cache, e);
	remove_from_table(cache, e);
	discard(cache, refuse, e);
}

/* A ghost is an entry of its own, so that everything to be freed is a whole entry. Without memory it is left out. What
 * was passed has none: reading a long file twice proves nothing of its blocks. */
static void evict(struct hf_cache *cache, struct entry *e, struct entry **refuse)
{
	struct entry *ghost;
	bool passed;

	assert(e);
	passed = e->queue == PASSED;
	dequeue(cache, e);
	remove_from_table(cache, e);
	discard(cache, refuse, e);
	cache->stats.evicted++;
	ghost = passed ? NULL : add_entry(cache, e->key);
	if (!ghost)
		return;
	ghost->state = GHOST;
	ghost->queue = GHOSTS;
	ghost->cost = e->cost;
	enqueue(cache, ghost);
	while (cache->queues[GHOSTS].cost > cache->max_bytes / 2)
		forget_oldest_ghost(cache, refuse);
}

/* The newest block of RECENT goes last even if it alone is more than a quarter: somebody is about to read it on. */
static struct entry *victim(const struct hf_cache *cache)
{
	const struct queue *recent = &cache->queues[RECENT];
	struct entry *passed = oldest_of(cache, PASSED);
	struct entry *oldest = oldest_of(cache, RECENT), *frequent = oldest_of(cache, FREQUENT);
	bool over = recent->cost > cache->max_bytes / 4 && recent->list.prev != recent->list.next;

	if (passed)
		return passed;
	return oldest && (over || !frequent) ? oldest : frequent;
}

static void make_room(struct hf_cache *cache, struct entry **refuse)
{
	const uint64_t passed = cache->max_bytes / 8 < PASSED_BYTES_MAX ? cache->max_bytes / 8 : PASSED_BYTES_MAX;

	while (cache->queues[PASSED].cost > passed)
		evict(cache, oldest_of(cache, PASSED), refuse);
	while (cache->stats.bytes > cache->max_bytes - cache->lent) {
		struct entry *e = victim(cache);

		if (e)
			evict(cache, e, refuse);
		else if (oldest_of(cache, GHOSTS))
			forget_oldest_ghost(cache, refuse);
		else
			break;
	}
}

static void pin(struct hf_cache *cache, struct entry *e)
{
	if (e->pins++ == 0)
		dequeue(cache, e);
}

/* Nobody has the ready block e (any more). */
static void settle(struct hf_cache *cache, struct entry *e, struct entry **refuse)
{
	if (e->dropped)
		discard(cache, refuse, e);
	else
		enqueue(cache, e);
}

/* Waiters. waiter->block is set exactly while the waiter is on a list, so that cancelling knows. */

static void add_waiter(struct entry *e, struct hf_cache_waiter *waiter)
{
	struct hf_cache_waiter **at = &e->waiters;

	while (*at)
		at = &(*at)->next;
	*at = waiter;
	waiter->next = NULL;
	waiter->block = &e->block;
}

static struct hf_cache_waiter *take_waiters(struct entry *e, uint32_t *ret_count)
{
	struct hf_cache_waiter *first = e->waiters;

	*ret_count = 0;
	e->waiters = NULL;
	for (struct hf_cache_waiter *w = first; w; w = w->next) {
		w->block = NULL;
		++*ret_count;
	}
	return first;
}

/* A waiter may be gone as soon as it was told. */
static void tell(struct hf_cache_waiter *first, struct hf_cache_block *block, int err)
{
	for (struct hf_cache_waiter *w = first, *next; w; w = next) {
		next = w->next;
		w->ready(w, block, err);
	}
}

/* The interface. */

int hf_cache_new(uint64_t max_bytes, struct hf_cache **ret_cache)
{
	struct hf_cache *cache = calloc(1, sizeof *cache);

	if (!cache)
		return HF_ERR_NOMEM;
	cache->max_bytes = max_bytes;
	for (size_t i = 0; i < QUEUES; i++)
		hf_link_init(&cache->queues[i].list);
	pthread_mutex_init(&cache->lock, NULL);
	hf_free_list_init(&cache->free_list, max_bytes);
	pthread_mutex_init(&cache->sleep_lock, NULL);
	pthread_cond_init(&cache->woken, NULL);
	*ret_cache = cache;
	return 0;
}

/* Those that were filled with the bytes of others go first. */
static void discard_lent(struct hf_cache *cache)
{
	struct entry *refuse = NULL;
	struct hf_chain *gone = NULL;

	HF_CHAINS_EACH(&cache->table, chain)
	{
		if (!in(chain)->lender)
			continue;
		assert(in(chain)->pins == 0);
		dequeue(cache, in(chain));
		remove_from_table(cache, in(chain));
		chain->next = gone;
		gone = chain;
	}
	discard_all(cache, &refuse, gone);
	empty(cache, refuse);
}

void hf_cache_free(struct hf_cache *cache)
{
	if (!cache)
		return;
	discard_lent(cache);
	HF_CHAINS_EACH(&cache->table, chain)
	{
		struct entry *e = in(chain);

		assert(e->pins == 0 && e->state != MAKING);
		cache->stats.bytes -= e->state == GHOST ? ENTRY_COST : e->cost;
		free((void *)(uintptr_t)e->block.bytes);
		free(e);
	}
	assert(cache->stats.bytes == 0); /* else someone still has a block that was dropped */
	hf_free_list_fini(&cache->free_list);
	pthread_cond_destroy(&cache->woken);
	pthread_mutex_destroy(&cache->sleep_lock);
	pthread_mutex_destroy(&cache->lock);
	hf_chains_free(&cache->table);
	free(cache);
}

uint8_t *hf_cache_alloc(struct hf_cache *cache, size_t size)
{
	return hf_free_list_alloc(&cache->free_list, size);
}

uint64_t hf_cache_owner(struct hf_cache *cache)
{
	HF_LOCKED(&cache->lock);
	return ++cache->next_owner;
}

static enum hf_cache_answer start_making(struct hf_cache *cache, struct hf_cache_key key, struct entry *ghost,
					 struct hf_cache_waiter *waiter, struct hf_cache_block **ret_block)
{
	struct entry *e = ghost;

	if (ghost) {
		dequeue(cache, ghost);
		ghost->queue = FREQUENT;
		ghost->cost = ENTRY_COST;
	} else {
		e = add_entry(cache, key);
		if (!e)
			return HF_CACHE_ERROR;
	}
	e->state = MAKING;
	if (waiter)
		add_waiter(e, waiter);
	cache->stats.misses++;
	*ret_block = &e->block;
	return HF_CACHE_MAKE;
}

enum hf_cache_answer hf_cache_acquire(struct hf_cache *cache, struct hf_cache_key key, struct hf_cache_waiter *waiter,
				      struct hf_cache_block **ret_block, int *ret_err)
{
	enum hf_cache_answer answer;
	struct entry *e;

	*ret_block = NULL;
	*ret_err = 0;
	pthread_mutex_lock(&cache->lock);
	if (waiter)
		waiter->block = NULL;
	e = find(cache, key);
	if (e && e->state == READY) {
		answer = HF_CACHE_HIT;
		cache->stats.hits++;
		pin(cache, e);
		*ret_block = &e->block;
	} else if (e && e->state == MAKING) {
		answer = HF_CACHE_PENDING;
		cache->stats.waits++;
		if (waiter)
			add_waiter(e, waiter);
	} else {
		answer = start_making(cache, key, e, waiter, ret_block);
	}
	pthread_mutex_unlock(&cache->lock);
	if (answer == HF_CACHE_ERROR)
		*ret_err = HF_ERR_NOMEM;
	return answer;
}

/* Its bytes are there, with that much room. Who waited for them is to be told. */
static struct hf_cache_waiter *become_ready(struct hf_cache *cache, struct entry *e, size_t room, struct entry **refuse)
{
	struct hf_cache_waiter *waiters;

	e->state = READY;
	e->cost = ENTRY_COST + room;
	cache->stats.bytes += room;
	waiters = take_waiters(e, &e->pins);
	if (e->pins == 0)
		settle(cache, e, refuse);
	make_room(cache, refuse);
	return waiters;
}

void hf_cache_fill(struct hf_cache *cache, struct hf_cache_block *block, uint8_t *bytes, size_t size)
{
	struct entry *e = entry_of(block);
	struct entry *refuse = NULL;
	struct hf_cache_waiter *waiters;
	size_t room = 0;

	if (size == 0) {
		free(bytes);
		bytes = NULL;
	}
	if (bytes)
		bytes = hf_free_list_fit(bytes, size, &room);
	pthread_mutex_lock(&cache->lock);
	e->block = (struct hf_cache_block){.bytes = bytes, .size = size};
	waiters = become_ready(cache, e, room, &refuse);
	pthread_mutex_unlock(&cache->lock);
	tell(waiters, block, 0);
	empty(cache, refuse);
}

void hf_cache_fill_lent(struct hf_cache *cache, struct hf_cache_block *block, struct hf_cache_block *lent)
{
	struct entry *e = entry_of(block), *lender = entry_of(lent);
	struct entry *refuse = NULL;
	struct hf_cache_waiter *waiters;
	size_t room;

	pthread_mutex_lock(&cache->lock);
	assert(lender->pins > 0 && lender->state == READY && !lender->lender);
	/* The cost goes with them, so that what is passed or evicted counts as what it frees. */
	room = lender->cost - ENTRY_COST;
	lender->cost = ENTRY_COST;
	cache->stats.bytes -= room;
	e->block = lender->block;
	e->lender = lender;
	waiters = become_ready(cache, e, room, &refuse);
	pthread_mutex_unlock(&cache->lock);
	tell(waiters, block, 0);
	empty(cache, refuse);
}

void hf_cache_fail(struct hf_cache *cache, struct hf_cache_block *block, int err)
{
	struct entry *e = entry_of(block);
	struct entry *refuse = NULL;
	struct hf_cache_waiter *waiters;
	uint32_t count;

	pthread_mutex_lock(&cache->lock);
	waiters = take_waiters(e, &count);
	if (!e->dropped)
		remove_from_table(cache, e);
	discard(cache, &refuse, e);
	pthread_mutex_unlock(&cache->lock);
	tell(waiters, NULL, err);
	empty(cache, refuse);
}

bool hf_cache_abandon(struct hf_cache *cache, struct hf_cache_block *block)
{
	struct entry *e = entry_of(block);
	struct entry *refuse = NULL;

	pthread_mutex_lock(&cache->lock);
	if (e->waiters) {
		pthread_mutex_unlock(&cache->lock);
		return false;
	}
	if (!e->dropped)
		remove_from_table(cache, e);
	discard(cache, &refuse, e);
	pthread_mutex_unlock(&cache->lock);
	empty(cache, refuse);
	return true;
}

bool hf_cache_cancel(struct hf_cache *cache, struct hf_cache_waiter *waiter)
{
	bool found = false;

	HF_LOCKED(&cache->lock);
	if (waiter->block) {
		struct hf_cache_waiter **at = &entry_of(waiter->block)->waiters;

		while (*at != waiter)
			at = &(*at)->next;
		*at = waiter->next;
		waiter->block = NULL;
		found = true;
	}
	return found;
}

static void unpin(struct hf_cache *cache, struct hf_cache_block *block, bool passed)
{
	struct entry *e = entry_of(block);
	struct entry *refuse = NULL;

	pthread_mutex_lock(&cache->lock);
	assert(e->pins > 0);
	if (passed && e->queue == RECENT)
		e->queue = PASSED;
	if (--e->pins == 0) {
		settle(cache, e, &refuse);
		make_room(cache, &refuse);
	}
	pthread_mutex_unlock(&cache->lock);
	empty(cache, refuse);
}

void hf_cache_unpin(struct hf_cache *cache, struct hf_cache_block *block)
{
	unpin(cache, block, false);
}

void hf_cache_unpin_passed(struct hf_cache *cache, struct hf_cache_block *block)
{
	unpin(cache, block, true);
}

bool hf_cache_has(struct hf_cache *cache, struct hf_cache_key key)
{
	const struct entry *e;

	HF_LOCKED(&cache->lock);
	e = find(cache, key);
	return e && e->state != GHOST;
}

uint64_t hf_cache_size(const struct hf_cache *cache)
{
	return cache->max_bytes;
}

void hf_cache_lend(struct hf_cache *cache, enum hf_lender lender, uint64_t bytes)
{
	/* Spare pieces are kept beside the cache too. */
	uint64_t sum = cache->free_list.max_bytes;
	struct entry *refuse = NULL;

	pthread_mutex_lock(&cache->lock);
	cache->lend[lender] = bytes;
	for (size_t i = 0; i < HF_LENDERS; i++)
		sum += cache->lend[i];
	sum = sum > HF_LEND_FREE ? sum - HF_LEND_FREE : 0;
	cache->lent = sum < cache->max_bytes / 4 * 3 ? sum : cache->max_bytes / 4 * 3;
	make_room(cache, &refuse);
	pthread_mutex_unlock(&cache->lock);
	empty(cache, refuse);
}

uint64_t hf_cache_lent_to_others(struct hf_cache *cache, enum hf_lender lender)
{
	uint64_t sum = 0;

	HF_LOCKED(&cache->lock);
	for (size_t i = 0; i < HF_LENDERS; i++)
		sum += i == lender ? 0 : cache->lend[i];
	return sum;
}

/* The whole table is searched: captures seldom change, and this saves a list per owner. */
void hf_cache_drop(struct hf_cache *cache, uint64_t owner)
{
	struct entry *refuse = NULL;
	struct hf_chain *gone = NULL;

	pthread_mutex_lock(&cache->lock);
	HF_CHAINS_EACH(&cache->table, chain)
	{
		struct entry *e = in(chain);

		if (e->key.owner != owner)
			continue;
		remove_from_table(cache, e);
		e->dropped = true;
		if (e->state == MAKING || e->pins)
			continue;
		dequeue(cache, e);
		chain->next = gone;
		gone = chain;
	}
	/* Only now: with them others may leave the table. */
	discard_all(cache, &refuse, gone);
	pthread_mutex_unlock(&cache->lock);
	empty(cache, refuse);
}

void hf_cache_get_stats(struct hf_cache *cache, struct hf_cache_stats *ret_stats)
{
	HF_LOCKED(&cache->lock);
	*ret_stats = cache->stats;
}

/* Waiting. */

struct sleeper {
	struct hf_cache_waiter waiter; /* first: cast back; ctx is the cache */
	struct hf_cache_block *block;
	int err;
	bool awake;
};

static void wake(struct hf_cache_waiter *waiter, struct hf_cache_block *block, int err)
{
	struct sleeper *sleeper = (struct sleeper *)waiter;
	struct hf_cache *cache = waiter->ctx;

	HF_LOCKED(&cache->sleep_lock);
	sleeper->block = block;
	sleeper->err = err;
	sleeper->awake = true;
	pthread_cond_broadcast(&cache->woken);
}

/* Another thread makes it: the seat of the job that waits is free meanwhile, so that a maker that stalls holds up
 * nobody else. */
static int sleep_until_told(struct hf_cache *cache, struct sleeper *sleeper, struct hf_cache_block **ret_block)
{
	struct hf_job *job = hf_job_here();
	bool left = false;

	if (hf_job_gives_up(job) && hf_cache_cancel(cache, &sleeper->waiter))
		return HF_ERR_CANCELLED;
	pthread_mutex_lock(&cache->sleep_lock);
	if (!sleeper->awake)
		left = hf_job_leave_seat(job);
	while (!sleeper->awake)
		pthread_cond_wait(&cache->woken, &cache->sleep_lock);
	pthread_mutex_unlock(&cache->sleep_lock);
	hf_job_take_seat(job, left);
	*ret_block = sleeper->block;
	return sleeper->err;
}

int hf_cache_get(struct hf_cache *cache, struct hf_cache_key key, hf_make_fn make, void *ctx,
		 struct hf_cache_block **ret_block)
{
	struct sleeper sleeper = {.waiter = {.ready = wake, .ctx = cache}};
	enum hf_cache_answer answer;
	struct hf_cache_block *block;
	int err;

	answer = hf_cache_acquire(cache, key, &sleeper.waiter, &block, &err);
	if (answer == HF_CACHE_HIT || answer == HF_CACHE_ERROR) {
		*ret_block = block;
		return err;
	}
	if (answer == HF_CACHE_MAKE) {
		uint8_t *bytes = NULL;
		size_t size = 0;

		err = make(ctx, &bytes, &size);
		if (err)
			hf_cache_fail(cache, block, err);
		else
			hf_cache_fill(cache, block, bytes, size);
	}
	return sleep_until_told(cache, &sleeper, ret_block);
}

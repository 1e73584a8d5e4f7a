/* SPDX-License-Identifier: Apache-2.0 */
/* What the chunk cache costs: a hit with its unpin, alone and with four threads, and making blocks of 1 MiB. */
#include "fs/base/chunk_cache.h"
#include "tests/lib/check.h"

#include <pthread.h>
#include <time.h>

#define KEYS 1000
#define ROUNDS 2000000
#define FILLS 2000

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static struct hf_cache_block *start_making(struct hf_cache *cache, uint64_t owner, uint64_t number)
{
	struct hf_cache_block *block;
	int err;

	CHECK_EQ(hf_cache_acquire(cache, (struct hf_cache_key){owner, number}, NULL, &block, &err), HF_CACHE_MAKE);
	return block;
}

static void *hit(void *ctx)
{
	struct hf_cache *cache = ctx;
	struct hf_cache_block *block;
	int err;

	for (uint64_t i = 0; i < ROUNDS; i++) {
		hf_cache_acquire(cache, (struct hf_cache_key){1, (i * 7919 % KEYS) << 20}, NULL, &block, &err);
		hf_cache_unpin(cache, block);
	}
	return NULL;
}

static void fill(struct hf_cache *cache, bool reuse)
{
	double start = now();

	for (uint64_t i = 0; i < FILLS; i++) {
		size_t size = ((size_t)1 << 20) + i * 7919 % ((size_t)1 << 18);
		uint8_t *bytes = reuse ? hf_cache_alloc(cache, size) : malloc(size);

		CHECK(bytes);
		memset(bytes, 1, size);
		hf_cache_fill(cache, start_making(cache, reuse ? 2 : 3, i), bytes, size);
	}
	printf("fill with 1 MiB, %s: %.0f us\n", reuse ? "hf_cache_alloc" : "malloc", (now() - start) / FILLS * 1e6);
}

int main(void)
{
	pthread_t thread[4];
	struct hf_cache *cache;
	double start;

	CHECK_EQ(hf_cache_new((uint64_t)64 << 20, &cache), 0);
	for (uint64_t i = 0; i < KEYS; i++)
		hf_cache_fill(cache, start_making(cache, 1, i << 20), malloc(1000), 1000);
	start = now();
	hit(cache);
	printf("hit and unpin, one thread: %.1f ns\n", (now() - start) / ROUNDS * 1e9);
	start = now();
	for (int i = 0; i < 4; i++)
		CHECK_EQ(pthread_create(&thread[i], NULL, hit, cache), 0);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	printf("hit and unpin, four threads: %.1f ns each\n", (now() - start) / (4.0 * ROUNDS) * 1e9);
	fill(cache, false);
	fill(cache, true);
	fill(cache, true);
	hf_cache_free(cache);
	return 0;
}

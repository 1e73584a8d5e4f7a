/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The least that a cold read costs in a compressed file: bench_block FILE [READS [SEED]]. For random places of the stream
 * the block is decompressed that each lies in, all of it, by the container's library, into memory that is warm. A block
 * that only goes on inside another one is counted from where decompressing can begin. It prints the median of the
 * milliseconds on the clock, and of those of CPU time. A spool is such a file, too.
 */
#include "codecs/source/source.h"
#include "tests/lib/check.h"

#include <fcntl.h>
#include <stdlib.h>
#include <time.h>

/* What one decompression makes: a block, and those that continue it. */
struct blocks {
	struct hf_point *point;
	uint8_t (*window)[HF_WINDOW_MAX];
	size_t count;
	uint64_t largest, stream_size;
};

static double now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static int compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void add_block(struct blocks *b, const struct hf_point *point, const uint8_t *window)
{
	if (point->bits & HF_POINT_CONTINUES) {
		b->point[b->count - 1].out_size += point->out_size;
		b->point[b->count - 1].in_size = 0;
	} else {
		b->point = realloc(b->point, (b->count + 1) * sizeof *b->point);
		b->window = realloc(b->window, (b->count + 1) * sizeof *b->window);
		CHECK(b->point && b->window);
		b->point[b->count] = *point;
		memcpy(b->window[b->count++], window, point->window_size);
	}
	if (b->point[b->count - 1].out_size > b->largest)
		b->largest = b->point[b->count - 1].out_size;
	b->stream_size += point->out_size;
}

static void find_blocks(const struct hf_box *box, struct hf_src *src, struct blocks *ret_blocks)
{
	const uint8_t *bytes, *window;
	struct hf_point point;
	struct hf_scan *scan;
	int err;

	CHECK_EQ(box->scan_new(box, src, NULL, NULL, &scan, NULL), 0);
	while (!(err = box->scan_next(scan, &point, &bytes, &window, NULL)))
		add_block(ret_blocks, &point, window);
	CHECK_EQ(err, HF_NOTE_END);
	CHECK(ret_blocks->count);
	box->scan_free(scan);
}

static size_t block_of(const struct blocks *b, uint64_t offset)
{
	size_t i = 0;

	while (offset >= b->point[i].out_offset + b->point[i].out_size)
		i++;
	return i;
}

int main(int argc, char **argv)
{
	const size_t reads = argc > 2 ? strtoul(argv[2], NULL, 10) : 100;
	struct blocks b = {.count = 0};
	double *wall, *cpu;
	const struct hf_box *box;
	struct hf_src *src;
	uint8_t head[64], *buf;
	size_t n;

	if (argc < 2 || !reads) {
		fprintf(stderr, "usage: bench_block FILE [READS [SEED]]\n");
		return 2;
	}
	CHECK_EQ(hf_src_file_new(open(argv[1], O_RDONLY | O_CLOEXEC), &src, NULL), 0);
	CHECK_EQ(hf_src_read_at(src, 0, head, sizeof head, &n, NULL), 0);
	box = hf_box_probe(head, n, src->size);
	CHECK(box && box->read_block);
	find_blocks(box, src, &b);
	buf = malloc((size_t)b.largest);
	wall = malloc(reads * sizeof *wall);
	cpu = malloc(reads * sizeof *cpu);
	CHECK(buf && wall && cpu);
	memset(buf, 1, (size_t)b.largest);
	srand48(argc > 3 ? strtol(argv[3], NULL, 10) : 1);
	for (size_t i = 0; i < reads; i++) {
		const size_t at = block_of(&b, (uint64_t)(drand48() * (double)b.stream_size));
		const double wall_start = now(CLOCK_MONOTONIC), cpu_start = now(CLOCK_THREAD_CPUTIME_ID);

		CHECK_EQ(box->read_block(box, src, &b.point[at], b.window[at], 0, buf, (size_t)b.point[at].out_size,
					 NULL), 0);
		cpu[i] = now(CLOCK_THREAD_CPUTIME_ID) - cpu_start;
		wall[i] = now(CLOCK_MONOTONIC) - wall_start;
	}
	qsort(wall, reads, sizeof *wall, compare);
	qsort(cpu, reads, sizeof *cpu, compare);
	printf("%s: %zu blocks of up to %" PRIu64 " bytes: %.3f ms, %.3f ms of CPU\n", box->name, b.count, b.largest,
	       wall[reads / 2], cpu[reads / 2]);
	free(cpu);
	free(wall);
	free(buf);
	free(b.window);
	free(b.point);
	hf_src_free(src);
	return 0;
}

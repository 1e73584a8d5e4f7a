/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an index costs: bench_index CAPTURE... prints for each the time of decoding alone, of decoding and encoding
 * without an index, of whole builds, the bytes that are stored a chunk, and the time of lookups. CPU time, all threads
 * together; of builds by several threads also the time on the clock.
 */
#include "codecs/isa/disasm.h"
#include "codecs/views.h"
#include "index/exec/exec.h"
#include "index/index.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define BATCH 512
#define LOOKUPS 200000

extern const struct hf_codec hf_codec_stf;

struct bench {
	char dir[64];
	struct hf_store_dir at;
	struct hf_src *file;
	struct hf_identity identity;
	struct hf_enc_env env;
	uint64_t insns, events;
};

static double clock_seconds(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static double seconds(void)
{
	return clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
}

static void must(int err, const char *what)
{
	if (err < 0) {
		fprintf(stderr, "bench: %s: %s\n", what, hf_err_name(err));
		exit(1);
	}
}

static void empty(struct bench *b)
{
	DIR *dir = opendir(b->dir);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		unlinkat(b->at.fd, entry->d_name, 0);
	if (dir)
		closedir(dir);
}

/* The stream, as a build reads it. */
static struct hf_src *open_stream(struct bench *b, struct hf_stream **ret_stream)
{
	uint8_t head[HF_PROBE_SIZE];
	const struct hf_codec *codec;
	const struct hf_box *box;
	struct hf_diag diag;
	struct hf_src *src = b->file;
	size_t n;

	must(hf_src_read_at(b->file, 0, head, sizeof head, &n, &diag), "head");
	box = hf_box_probe(head, n, b->file->size);
	if (box) {
		struct hf_scan *scan;

		must(box->scan_new(box, b->file, NULL, NULL, &scan, &diag), "scan");
		must(hf_growing_new(box, scan, NULL, NULL, &src), "growing");
		must(hf_src_read_at(src, 0, head, sizeof head, &n, &diag), "head");
	}
	codec = hf_codec_probe(head, n);
	must(codec ? hf_stream_open(codec, src, NULL, ret_stream, &diag) : HF_ERR_UNKNOWN_FORMAT, "codec");
	return src;
}

/* One pass without an index; ops may be NULL. Of the first hart. */
static double plain(struct bench *b, const struct hf_enc_ops *ops)
{
	static uint8_t buf[64 * 1024];
	struct hf_event ev[BATCH];
	struct hf_stream *stream;
	struct hf_enc *enc = NULL;
	struct hf_dec *dec;
	struct hf_sink sink;
	struct hf_src *src;
	double start = seconds();
	size_t n;

	src = open_stream(b, &stream);
	must(hf_dec_new(stream, src, stream->info.first_hart, &dec), "decoder");
	if (ops)
		must(hf_enc_new(ops, stream, stream->info.first_hart, &b->env, &enc), "encoder");
	hf_sink_init_count(&sink, buf, sizeof buf);
	b->insns = b->events = 0;
	while (hf_dec_next(dec, ev, BATCH, &n) == 0) {
		for (size_t i = 0; i < n; i++)
			b->insns += ev[i].kind == HF_EVENT_INSN;
		b->events += n;
		if (enc)
			hf_enc_put(enc, ev, n, &sink);
	}
	hf_enc_free(enc);
	hf_dec_free(dec);
	hf_stream_close(stream);
	if (src != b->file)
		hf_src_free(src);
	return seconds() - start;
}

static unsigned thread_count; /* of builds */
static struct hf_exec *exec;

static unsigned threads(void *ctx)
{
	(void)ctx;
	return thread_count;
}

static double build(struct bench *b, const struct hf_view_key *keys, size_t count)
{
	const struct hf_build build = {
		.dir = &b->at,
		.file = b->file,
		.identity = b->identity,
		.views = keys,
		.view_count = count,
		.disasm = b->env.disasm,
		.threads = thread_count ? threads : NULL,
		.exec = exec,
	};
	struct hf_diag diag;
	double start;

	empty(b);
	start = seconds();
	must(hf_build_run(&build, &diag), "build");
	return seconds() - start;
}

static void print(const struct bench *b, const char *what, double time)
{
	printf("  %-28s %8.1f ms %7.2f ns/insn %7.1f M/s\n", what, time * 1e3, time * 1e9 / (double)b->insns,
	       (double)b->insns / time / 1e6);
}

/* With 1, 2, ... threads, up to one a core. */
static void build_by_many(struct bench *b, const char *what, const struct hf_view_key *keys, size_t count)
{
	const struct hf_exec_limits limits = {.seats = {[HF_WORK_HELP] = 64}, .no_nice = true};
	const long cores = sysconf(_SC_NPROCESSORS_ONLN);

	must(hf_exec_new(&limits, &exec), "threads");
	for (thread_count = 1; thread_count <= (cores > 0 ? cores : 1); thread_count++) {
		double start = clock_seconds(CLOCK_MONOTONIC), cpu = build(b, keys, count);
		double wall = clock_seconds(CLOCK_MONOTONIC) - start;

		printf("  %-20s %u threads %8.1f ms on the clock %7.1f M/s, %8.1f ms CPU\n", what, thread_count,
		       wall * 1e3, (double)b->insns / wall / 1e6, cpu * 1e3);
	}
	thread_count = 0;
	hf_exec_free(exec);
	exec = NULL;
}

static void sizes_and_lookups(struct bench *b, const struct hf_view_key *keys, size_t count)
{
	const struct hf_index_hart *harts;
	struct hf_index *index;
	struct hf_chunk chunk;
	double start;

	must(hf_index_open(&b->at, &b->identity, &index), "open");
	if (!hf_index_harts(index, &harts))
		return;
	printf("  %-28s %8" PRIu64 " bytes %7.1f a chunk of %" PRIu64 "\n", "decode index", hf_index_file_size(index),
	       (double)hf_index_file_size(index) / (double)harts[0].chunks, harts[0].chunks);
	for (size_t i = 0; i < count; i++) {
		struct hf_view_table *table;
		struct hf_view_chunk row;
		uint64_t size;

		if (hf_view_table_open(&b->at, &b->identity, &keys[i], &table))
			continue;
		size = hf_view_table_size(table, harts[0].id);
		printf("  %-28s %8" PRIu64 " bytes %7.1f\n", keys[i].ops->view, hf_view_table_file_size(table),
		       (double)hf_view_table_file_size(table) / (double)harts[0].chunks);
		start = seconds();
		for (uint64_t k = 0; k < LOOKUPS && size; k++)
			must(hf_view_table_chunk_of(table, harts[0].id, k * 2654435761u % size, &row), "lookup");
		if (size)
			printf("  %-28s %8.2f us\n", "  chunk of an offset", (seconds() - start) * 1e6 / LOOKUPS);
		hf_view_table_close(table);
	}
	start = seconds();
	for (uint64_t k = 0; k < LOOKUPS; k++)
		must(hf_index_chunk_of(index, harts[0].id, k * 2654435761u % harts[0].insns, &chunk), "lookup");
	printf("  %-28s %8.2f us\n", "chunk of an ordinal", (seconds() - start) * 1e6 / LOOKUPS);
	start = seconds();
	for (uint64_t k = 0; k < LOOKUPS; k++)
		must(hf_index_chunk(index, harts[0].id, k * 2654435761u % harts[0].chunks, &chunk), "lookup");
	printf("  %-28s %8.2f us\n", "chunk by number", (seconds() - start) * 1e6 / LOOKUPS);
	hf_index_close(index);
	start = seconds();
	for (int k = 0; k < 1000; k++) {
		must(hf_index_open(&b->at, &b->identity, &index), "open");
		hf_index_close(index);
	}
	printf("  %-28s %8.2f us\n", "open and close", (seconds() - start) * 1e6 / 1000);
}

static void bench(struct bench *b, const char *path)
{
	/* A copy, so that it is not taken for the stream itself, which needs no table. */
	const struct hf_enc_ops stf = hf_view_stf;
	const struct hf_view_key keys[] = {
		{.ops = &hf_view_listing, .params = ""},
		{.ops = &stf, .params = ""},
		{.ops = &hf_enc_records, .params = ""},
	};
	struct hf_diag diag;
	double decode, listing;

	must(hf_src_file_new(open(path, O_RDONLY | O_CLOEXEC), &b->file, &diag), path);
	must(hf_identity_of(b->file, 0, &b->identity, &diag), path);
	decode = plain(b, NULL);
	printf("%s: %" PRIu64 " instructions, %" PRIu64 " events\n", path, b->insns, b->events);
	print(b, "decode", decode);
	print(b, "index without views", build(b, keys, 0));
	listing = plain(b, &hf_view_listing);
	print(b, "decode, listing", listing);
	print(b, "index, listing", build(b, keys, 1));
	print(b, "index, listing, STF", build(b, keys, 2));
	print(b, "index, all", build(b, keys, 3));
	build_by_many(b, "index, listing, STF", keys, 2);
	build_by_many(b, "index, all", keys, 3);
	sizes_and_lookups(b, keys, 3);
	hf_src_free(b->file);
}

int main(int argc, char **argv)
{
	struct bench b = {.dir = "/tmp/hartfs-bench-XXXXXX"};

	if (!mkdtemp(b.dir) || (b.at.fd = open(b.dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
		return 1;
	must(hf_disasm_new((struct hf_disasm **)&b.env.disasm), "disasm");
	for (int i = 1; i < argc; i++)
		bench(&b, argv[i]);
	empty(&b);
	rmdir(b.dir);
	return 0;
}

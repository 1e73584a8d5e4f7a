/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first table: bench_capture CAPTURE... prints for each what indexing, the listing, trace.stf and random reads
 * cost in CPU time of one core, beside plain decompression in the same run.
 */
#include "codecs/codec.h"
#include "fs/fs.h"
#include "index/store/spool.h"
#include "index/store/spool_room.h"

#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define RANDOM_READS 200
#define READ_SIZE (1u << 20)

static double cpu_seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static double wall_seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static void die(const char *what, int err)
{
	fprintf(stderr, "bench: %s: %s\n", what, hf_err_name(err));
	exit(1);
}

/* Decompresses the whole file once, as any converter must before it begins. Returns the bytes of the stream. */
static uint64_t plain_pass(const char *path, double *ret_cpu)
{
	struct hf_diag diag;
	struct hf_src *file;
	uint8_t head[HF_PROBE_SIZE];
	const struct hf_box *box;
	uint64_t total = 0;
	size_t n;
	double start;
	int err;

	err = hf_src_file_new(open(path, O_RDONLY | O_CLOEXEC), &file, &diag);
	if (err)
		die(path, err);
	hf_src_read_at(file, 0, head, sizeof head, &n, &diag);
	box = hf_box_probe(head, n, file->size);
	start = cpu_seconds();
	if (box) {
		struct hf_scan *scan;
		struct hf_point point;
		const uint8_t *bytes, *window;

		err = box->scan_new(box, file, NULL, NULL, &scan, &diag);
		if (err)
			die("scan", err);
		while (box->scan_next(scan, &point, &bytes, &window, &diag) == 0)
			total += point.out_size;
		box->scan_free(scan);
	} else {
		uint8_t *buf = malloc(READ_SIZE);

		while (hf_src_read_at(file, total, buf, READ_SIZE, &n, &diag) == 0 && n)
			total += n;
		free(buf);
	}
	*ret_cpu = cpu_seconds() - start;
	hf_src_free(file);
	return total;
}

static uint64_t decode_pass(struct hf_src *src, double *ret_cpu)
{
	struct hf_diag diag;
	struct hf_stream *stream;
	struct hf_dec *dec;
	struct hf_event ev[256];
	uint8_t head[HF_PROBE_SIZE];
	const struct hf_codec *codec;
	uint64_t insns = 0;
	size_t n;
	double start;
	int err;

	hf_src_read_at(src, 0, head, sizeof head, &n, &diag);
	codec = hf_codec_probe(head, n);
	if (!codec)
		die("probe", HF_ERR_UNKNOWN_FORMAT);
	err = hf_stream_open(codec, src, NULL, &stream, &diag);
	if (err)
		die("open", err);
	start = cpu_seconds();
	err = hf_dec_new(stream, src, stream->info.first_hart, &dec);
	if (err)
		die("decoder", err);
	while (hf_dec_next(dec, ev, 256, &n) == 0)
		for (size_t i = 0; i < n; i++)
			insns += ev[i].kind == HF_EVENT_INSN;
	*ret_cpu = cpu_seconds() - start;
	hf_dec_free(dec);
	hf_stream_close(stream);
	return insns;
}

/* The decompressed stream in memory, so that decoding is measured alone; only for streams that fit. */
static double decode_alone(const char *path, uint64_t stream_size, uint64_t *ret_insns)
{
	struct hf_diag diag;
	struct hf_src *file, *memory;
	const struct hf_box *box;
	uint8_t head[HF_PROBE_SIZE], *bytes;
	size_t n, at = 0;
	double cpu;

	hf_src_file_new(open(path, O_RDONLY | O_CLOEXEC), &file, &diag);
	hf_src_read_at(file, 0, head, sizeof head, &n, &diag);
	box = hf_box_probe(head, n, file->size);
	bytes = malloc(stream_size + 1);
	if (!bytes)
		die("memory", HF_ERR_NOMEM);
	if (box) {
		struct hf_scan *scan;
		struct hf_point point;
		const uint8_t *piece, *window;

		box->scan_new(box, file, NULL, NULL, &scan, &diag);
		while (box->scan_next(scan, &point, &piece, &window, &diag) == 0) {
			memcpy(bytes + at, piece, point.out_size);
			at += point.out_size;
		}
		box->scan_free(scan);
	} else {
		hf_src_read_at(file, 0, bytes, stream_size, &at, &diag);
	}
	hf_src_memory_new(bytes, at, &memory);
	*ret_insns = decode_pass(memory, &cpu);
	hf_src_free(memory);
	hf_src_free(file);
	free(bytes);
	return cpu;
}

static struct hf_fs *open_fs(const char *dir, const char *index_dir, uint64_t cache, uint64_t spool)
{
	struct hf_fs_options options = {
		.archive_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC),
		.index_fd = open(index_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC),
		.cache_bytes = cache,
		.spool_bytes = spool,
		.threads = 1,
		.index_threads = 1,
		.no_index = true,
	};
	struct hf_diag diag;
	struct hf_fs *fs;
	int err = hf_fs_open(&options, &fs, &diag);

	if (err)
		die("open fs", err);
	return fs;
}

static struct hf_file *open_view(struct hf_fs *fs, const char *path, uint64_t *ret_size)
{
	struct hf_file *file;
	struct hf_attr attr;
	uint64_t ino;
	bool keep;

	if (hf_fs_resolve(fs, path, &ino) || hf_fs_getattr(fs, ino, &attr) || hf_file_open(fs, ino, &file, &keep))
		return NULL;
	*ret_size = (uint64_t)attr.st.st_size;
	return file;
}

/* Reads a view once from its start to its end. Returns its bytes, 0 if there is no such view. */
static uint64_t read_all(struct hf_fs *fs, const char *path, double *ret_cpu)
{
	uint8_t *buf = malloc(READ_SIZE);
	uint64_t size, at = 0;
	struct hf_file *file = open_view(fs, path, &size);
	double start = cpu_seconds();

	if (file) {
		while (at < size) {
			size_t n;
			int err = hf_fs_read_wait(fs, file, at, buf, READ_SIZE, &n);

			if (err || n == 0)
				die(path, err);
			at += n;
		}
		hf_file_close(file);
	}
	*ret_cpu = cpu_seconds() - start;
	free(buf);
	return at;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void random_reads(struct hf_fs *fs, const char *path, const char *what)
{
	uint8_t buf[4096];
	double wall[RANDOM_READS], cpu = cpu_seconds();
	uint64_t size, seed = 42;
	struct hf_file *file = open_view(fs, path, &size);

	if (!file || size <= sizeof buf)
		return;
	for (int i = 0; i < RANDOM_READS; i++) {
		double start = wall_seconds();
		size_t n;

		seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
		if (hf_fs_read_wait(fs, file, (seed >> 16) % (size - sizeof buf), buf, sizeof buf, &n))
			die(path, HF_ERR_IO);
		wall[i] = wall_seconds() - start;
	}
	cpu = cpu_seconds() - cpu;
	hf_file_close(file);
	qsort(wall, RANDOM_READS, sizeof wall[0], by_value);
	printf("  %-28s median %7.3f ms, 99%% %7.3f ms, CPU %7.3f ms a read\n", what, wall[RANDOM_READS / 2] * 1e3,
	       wall[RANDOM_READS * 99 / 100] * 1e3, cpu / RANDOM_READS * 1e3);
}

/* The same from the spool, if random reads make the stream get one. */
static void spooled_reads(const char *dir, const char *index_dir, const char *path)
{
	struct hf_fs *fs = open_fs(dir, index_dir, 1, UINT64_MAX / 2);
	int fd = open(index_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	uint64_t size, count, bytes = 0, before;
	struct hf_file *file = open_view(fs, path, &size);
	uint8_t buf[4096];
	size_t n;

	/* From its end on, backwards: what has no entry before it is decoded from the beginning. */
	for (int i = 0; file && size > 10 * sizeof buf && i < 10; i++)
		hf_fs_read_wait(fs, file, (size - sizeof buf) / 10 * (uint64_t)(10 - i), buf, sizeof buf, &n);
	if (file)
		hf_file_close(file);
	/* It is being made as long as the directory's spools grow. */
	do {
		before = bytes;
		usleep(500000);
		hf_spool_count(fd, &count, &bytes);
	} while (bytes != before);
	if (count) {
		printf("  %-28s %8.1f MB\n", "spool", (double)bytes / 1e6);
		random_reads(fs, path, "the same from the spool");
	}
	close(fd);
	hf_fs_close(fs);
}

static void row(const char *what, double cpu, uint64_t insns, uint64_t bytes, double plain)
{
	printf("  %-28s %8.3f s CPU  %7.1f ns/insn  %7.1f Minsn/s  %8.1f MB/s  %5.1fx plain\n", what, cpu,
	       insns ? cpu * 1e9 / (double)insns : 0, (double)insns / cpu / 1e6, (double)bytes / cpu / 1e6,
	       cpu / plain);
}

struct first_capture {
	char view_dir[PATH_MAX];
};

static bool note_capture(void *ctx, const char *path, const char *view_dir)
{
	struct first_capture *first = ctx;

	(void)path;
	snprintf(first->view_dir, sizeof first->view_dir, "%s", view_dir);
	return false;
}

static void bench(const char *path)
{
	char dir_copy[PATH_MAX], base_copy[PATH_MAX], view[PATH_MAX + 64], index_dir[] = "/tmp/hartfs-bench-XXXXXX";
	struct first_capture first = {""};
	const char *dir, *base;
	double plain, cpu;
	uint64_t stream, insns, bytes;
	struct hf_diag diag;
	struct hf_fs *fs;
	struct rusage usage;
	int err;

	snprintf(dir_copy, sizeof dir_copy, "%s", path);
	snprintf(base_copy, sizeof base_copy, "%s", path);
	dir = dirname(dir_copy);
	base = basename(base_copy);
	if (!mkdtemp(index_dir))
		die("mkdtemp", HF_ERR_IO);
	stream = plain_pass(path, &plain);
	printf("%s: %llu bytes of stream\n", base, (unsigned long long)stream);

	fs = open_fs(dir, index_dir, UINT64_C(256) << 20, 0);
	cpu = cpu_seconds();
	err = hf_fs_index(fs, base, NULL, NULL, &diag);
	cpu = cpu_seconds() - cpu;
	if (err)
		die("index", err);
	hf_fs_each_capture(fs, base, NULL, note_capture, &first);
	if (stream < UINT64_C(2) << 30) {
		double decode = decode_alone(path, stream, &insns);

		row("plain decompression", plain, insns, stream, plain);
		row("decoding from memory", decode, insns, stream, plain);
	} else {
		insns = 0;
		row("plain decompression", plain, insns, stream, plain);
	}
	row("index (all views)", cpu, insns, stream, plain);
	snprintf(view, sizeof view, "%s/hart0/listing.txt", first.view_dir);
	bytes = read_all(fs, view, &cpu);
	row("listing.txt", cpu, insns, bytes, plain);
	snprintf(view, sizeof view, "%s/hart0/trace.stf", first.view_dir);
	bytes = read_all(fs, view, &cpu);
	row("trace.stf", cpu, insns, bytes, plain);
	hf_fs_close(fs);
	getrusage(RUSAGE_SELF, &usage);
	printf("  %-28s %8.1f MiB (cache 256 MiB)\n", "peak RSS", (double)usage.ru_maxrss / 1024);

	fs = open_fs(dir, index_dir, 1, 0);
	snprintf(view, sizeof view, "%s/hart0/listing.txt", first.view_dir);
	random_reads(fs, view, "cold 4 KiB of listing.txt");
	snprintf(view, sizeof view, "%s/source.stf", first.view_dir);
	random_reads(fs, view, "cold 4 KiB of source.stf");
	hf_fs_close(fs);
	spooled_reads(dir, index_dir, view);

	snprintf(view, sizeof view, "du -b -s %s | cut -f1; rm -rf %s", index_dir, index_dir);
	printf("  index files: ");
	fflush(stdout);
	if (system(view))
		printf("?\n");
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		bench(argv[i]);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libhartfs by its header alone: what it opens and lists, and every error with its words: options, misuse, what is not
 * there, what is damaged, what changes while it is open, stopping, the index in memory and in a directory.
 */
#include "fs/hartfs.h"
#include "tests/lib/fstest.h"
#include "tests/lib/zstftest.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

static struct hf_fst t;
static struct hartfs_diag diag;

/* That the call ended so, and said so; text: a part of the words, or NULL. */
#define FAILS(call, what, capture_path, words)                   \
	do {                                                     \
		memset(&diag, 0xa5, sizeof diag);                \
		CHECK_EQ(call, what);                            \
		CHECK_EQ(diag.error, what);                      \
		CHECK_STR(diag.capture, capture_path);           \
		CHECK(diag.text[0] && !strchr(diag.text, '\n')); \
		if (!strstr(diag.text, words))                   \
			CHECK_STR(diag.text, words);             \
	} while (0)

static void must(int error)
{
	if (!error)
		return;
	fprintf(stderr, "%s: %s (%s)\n", diag.capture, diag.text, hartfs_error_text(error));
	exit(1);
}

static struct hartfs_options options_of(const char *archive, const char *index)
{
	struct hartfs_options options = HARTFS_OPTIONS_INIT;

	options.archive = archive;
	options.index = index;
	options.threads = options.index_threads = 2;
	return options;
}

static struct hartfs_archive *open_archive(const char *index)
{
	struct hartfs_options options = options_of(t.archive, index);
	struct hartfs_archive *archive;

	must(hartfs_open(&options, &archive, &diag));
	return archive;
}

static size_t descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	size_t n = 0;

	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

static void write_stf(const char *path, size_t insns, uint64_t seed, bool many_harts)
{
	struct hf_walk_bytes b = hf_fst_stf(insns, seed, many_harts);

	hf_fst_write(&t, path, b.p, b.n);
	hf_bytes_free(&b);
}

/* nop; beqz zero, -4: a place to begin, and a run of 1000 branches that were taken (N-Trace 1.0, 7.8). The program lies
 * above the directory. */
static void write_described(void)
{
	static const uint8_t code[] = {0x13, 0, 0, 0, 0xe3, 0x0e, 0, 0xfe};
	static const uint8_t trace[] = {0x24, 0x15, 0, 0, 0, 0, 0, 0x07, 0x6c, 0x24, 0xe8, 0x0f};

	hf_fst_write(&t, "deep/code.bin", code, sizeof code);
	hf_fst_write(&t, "deep/loop/trace.bin", trace, sizeof trace);
	hf_fst_write_text(
		&t, "deep/loop/capture.ini",
		"[capture]\nformat = ntrace\ntrace = trace.bin\n[program]\nraw = ../code.bin, address = 0x80000000\n");
}

static void write_damaged(void)
{
	struct hf_walk_bytes b = hf_fst_stf(2000, 3, false), none = {0};

	/* A record of no kind in the middle: what is before it stays. */
	memset(b.p + b.n / 2, 0xff, 9);
	hf_fst_write(&t, "part.stf", b.p, b.n);
	/* Behind the first record there is nothing to decode. */
	hf_stft_header(&none, HF_STF_FEATURE_RV64, 0x1000);
	memset(none.p + 10, 0xff, none.n - 10);
	hf_fst_write(&t, "none.stf", none.p, none.n);
	hf_bytes_free(&b);
	hf_bytes_free(&none);
}

/* ---- opening ---- */

static void check_options(void)
{
	const size_t before = descriptors();
	struct hartfs_options options = options_of(t.archive, NULL), zero = {0};
	struct hartfs_archive *archive = (struct hartfs_archive *)&t;
	struct {
		struct hartfs_options options;
		void *newer[3];
	} later = {options, {&t, &t, &t}};

	FAILS(hartfs_open(&zero, &archive, &diag), HARTFS_ERROR_MISUSE, "", "HARTFS_OPTIONS_INIT");
	CHECK(!archive);
	options.size = offsetof(struct hartfs_options, stop_ctx);
	FAILS(hartfs_open(&options, &archive, &diag), HARTFS_ERROR_MISUSE, "", "HARTFS_OPTIONS_INIT");
	options = options_of(t.archive, NULL);
	options.event_size = 0;
	FAILS(hartfs_open(&options, &archive, &diag), HARTFS_ERROR_MISUSE, "", "HARTFS_OPTIONS_INIT");
	options = options_of(NULL, NULL);
	FAILS(hartfs_open(&options, &archive, &diag), HARTFS_ERROR_MISUSE, "", "neither archive nor capture");
	options = options_of(t.archive, NULL);
	options.views = "listing.txt,lisitng.txt";
	FAILS(hartfs_open(&options, &archive, &diag), HARTFS_ERROR_MISUSE, "", "views");
	options = options_of(t.archive, NULL);
	options.params = "etrace.nonsense=1";
	FAILS(hartfs_open(&options, &archive, &diag), HARTFS_ERROR_MISUSE, "", "nonsense");
	options = options_of(t.archive, NULL);
	options.threads = 1025;
	FAILS(hartfs_open(&options, &archive, &diag), HARTFS_ERROR_MISUSE, "", "threads");
	options = options_of(t.archive, NULL);
	options.index_on_disk = true;
	FAILS(hartfs_open(&options, &archive, &diag), HARTFS_ERROR_MISUSE, "", "index_on_disk");
	options = options_of("/nowhere/at/all", NULL);
	FAILS(hartfs_open(&options, &archive, &diag), HARTFS_ERROR_NOT_FOUND, "", "archive /nowhere/at/all");
	options = options_of(t.archive, "/nowhere/at/all");
	FAILS(hartfs_open(&options, &archive, &diag), HARTFS_ERROR_NOT_FOUND, "", "index directory /nowhere");
	/* Descriptors are closed whatever comes out. */
	options = options_of(NULL, NULL);
	options.archive_fd = open(t.archive, O_PATH | O_DIRECTORY);
	options.index_fd = open(t.index, O_RDONLY | O_DIRECTORY);
	options.views = "nonsense";
	CHECK_EQ(hartfs_open(&options, &archive, NULL), HARTFS_ERROR_MISUSE);
	CHECK_EQ(descriptors(), before);
	/* A caller that was built with a newer header. */
	later.options.size = sizeof later;
	must(hartfs_open(&later.options, &archive, &diag));
	hartfs_close(archive);
	must(hartfs_load(&diag));
	hartfs_close(NULL);
	hartfs_view_close(NULL);
}

static void check_words(void)
{
	CHECK_EQ(hartfs_version(), HARTFS_VERSION_NUMBER);
	for (int error = -20; error <= 20; error++)
		CHECK(strlen(hartfs_error_text(error)) > 5);
	CHECK_STR(hartfs_error_text(5), hartfs_error_text(HARTFS_ERROR_FAILED));
}

/* Instructions are of the size that the caller knows. */
static void check_event_size(size_t size)
{
	struct hartfs_options options = options_of(t.archive, NULL);
	struct hartfs_archive *archive, *plain = open_archive(NULL);
	uint8_t *bytes = malloc(200 * size);
	struct hartfs_view *view, *same;
	struct hartfs_event ev[200];
	const size_t common = size < sizeof *ev ? size : sizeof *ev, named = offsetof(struct hartfs_event, symbol);
	size_t n;

	CHECK(bytes);
	options.event_size = size;
	must(hartfs_open(&options, &archive, &diag));
	must(hartfs_view_open(archive, "run@stf/hart0/listing.txt", &view, &diag));
	must(hartfs_view_open(plain, "run@stf/hart0/listing.txt", &same, &diag));
	must(hartfs_view_events(same, 17, ev, 200, &n, &diag));
	CHECK_EQ(n, 200);
	memset(bytes, 0xa5, 200 * size);
	must(hartfs_view_events(view, 17, (struct hartfs_event *)bytes, 200, &n, &diag));
	CHECK_EQ(n, 200);
	for (size_t i = 0; i < n; i++) {
		CHECK(memcmp(bytes + i * size, &ev[i], common < named ? common : named) == 0);
		for (size_t k = common; k < size; k++)
			CHECK_EQ(bytes[i * size + k], 0);
	}
	hartfs_view_close(view);
	hartfs_view_close(same);
	hartfs_close(archive);
	hartfs_close(plain);
	free(bytes);
}

/* ---- what there is ---- */

struct list {
	char text[4096];
	size_t most;	/* to be taken */
	uint64_t insns; /* of the last file with a hart */
};

static bool add_capture(void *ctx, const char *path, const char *view_dir)
{
	struct list *list = ctx;

	snprintf(list->text + strlen(list->text), sizeof list->text - strlen(list->text), "%s %s\n", path, view_dir);
	return --list->most;
}

static bool add_file(void *ctx, const struct hartfs_file *file)
{
	struct list *list = ctx;

	CHECK(file->hart != HARTFS_NO_HART || !file->instructions);
	list->insns = file->instructions ? file->instructions : list->insns;
	snprintf(list->text + strlen(list->text), sizeof list->text - strlen(list->text), "%s %d %s\n", file->path,
		 (int)file->hart, file->instructions ? "runs" : "-");
	return --list->most;
}

static void check_captures(void)
{
	struct hartfs_archive *archive = open_archive(NULL);
	struct list list = {.most = 99};

	must(hartfs_each_capture(archive, "", add_capture, &list, &diag));
	CHECK_STR(list.text, "deep/loop deep/loop@ntrace\nnone.stf none@stf\npart.stf part@stf\nrun.stf run@stf\n"
			     "two.stf two@stf\n");
	list = (struct list){.most = 1};
	must(hartfs_each_capture(archive, "deep", add_capture, &list, &diag));
	CHECK_STR(list.text, "deep/loop deep/loop@ntrace\n");
	FAILS(hartfs_each_capture(archive, "nonsense", add_capture, &list, &diag), HARTFS_ERROR_NOT_FOUND, "",
	      "no such");
	hartfs_close(archive);
}

static void check_files(void)
{
	struct hartfs_archive *archive = open_archive(NULL);
	struct list list = {.most = 99};

	must(hartfs_each_file(archive, "two.stf", add_file, &list, &diag));
	CHECK(strncmp(list.text, "two@stf/info.json -1 -\ntwo@stf/errors.txt -1 -\n", 47) == 0);
	CHECK(strstr(list.text, "\ntwo@stf/hart0/listing.txt 0 runs\n"));
	CHECK(strstr(list.text, "\ntwo@stf/hart1/trace.stf 1 runs\n"));
	CHECK(!strstr(list.text, "/at/"));
	list = (struct list){.most = 1};
	must(hartfs_each_file(archive, "two@stf", add_file, &list, &diag));
	CHECK_STR(list.text, "two@stf/info.json -1 -\n");
	FAILS(hartfs_each_file(archive, "deep", add_file, &list, &diag), HARTFS_ERROR_NOT_FOUND, "deep",
	      "not a capture");
	FAILS(hartfs_each_file(archive, "three.stf", add_file, &list, &diag), HARTFS_ERROR_NOT_FOUND, "three.stf",
	      "no such");
	hartfs_close(archive);
}

struct sizes {
	struct hartfs_archive *archive;
	const char *info; /* info.json */
	size_t count;
};

/* Each can be opened, is as long as is said, and has its line in info.json. */
static bool check_size(void *ctx, const struct hartfs_file *file)
{
	struct sizes *sizes = ctx;
	struct hartfs_view *view;
	char line[512];

	must(hartfs_view_open(sizes->archive, file->path, &view, &diag));
	CHECK_EQ(hartfs_view_size(view), file->size);
	hartfs_view_close(view);
	/* Which does not list itself, nor the program again that lies beside packets, nor what is no view. */
	if (strcmp(file->path, "info.json") == 0 || strstr(file->path, "trace/program.elf") ||
	    strstr(file->path, "/profile/") || strstr(file->path, "/where/"))
		return true;
	snprintf(line, sizeof line, "\"%s\": {\n      \"size\": %" PRIu64 "\n", file->path, file->size);
	if (!strstr(sizes->info, line))
		CHECK_STR(sizes->info, line);
	sizes->count++;
	return true;
}

/* The files of a capture are those of its info.json. */
static void check_sizes(const char *capture)
{
	struct hartfs_options options = options_of(t.archive, NULL);
	struct sizes sizes = {0};
	struct hartfs_view *view;
	char info[16384];
	size_t n, count = 0;

	options.capture = capture;
	must(hartfs_open(&options, &sizes.archive, &diag));
	must(hartfs_index(sizes.archive, "", NULL, NULL, &diag));
	must(hartfs_view_open(sizes.archive, "info.json", &view, &diag));
	must(hartfs_view_read(view, 0, info, sizeof info - 1, &n, &diag));
	info[n] = 0;
	hartfs_view_close(view);
	sizes.info = info;
	must(hartfs_each_file(sizes.archive, "", check_size, &sizes, &diag));
	for (const char *at = strstr(info, "\"views\""); (at = strstr(at, "      \"size\": ")); at++)
		count++;
	CHECK_EQ(sizes.count, count);
	hartfs_close(sizes.archive);
}

/* One capture, given by name, whose paths are those in its view directory. */
static void check_alone(struct hartfs_options options, const char *file)
{
	struct hartfs_archive *archive;
	struct hartfs_event ev;
	struct hartfs_view *view;
	struct list list = {.most = 99};
	size_t n;

	must(hartfs_open(&options, &archive, &diag));
	must(hartfs_each_capture(archive, "", add_capture, &list, &diag));
	CHECK_STR(list.text, " \n");
	list.text[0] = 0;
	must(hartfs_index(archive, "", NULL, NULL, &diag));
	must(hartfs_each_file(archive, "", add_file, &list, &diag));
	CHECK(strncmp(list.text, "info.json -1 -\n", 15) == 0);
	CHECK(strstr(list.text, "\nhart0/listing.txt 0 runs\n"));
	must(hartfs_view_open(archive, file, &view, &diag));
	CHECK(list.insns > 1000);
	must(hartfs_view_events(view, list.insns - 1, &ev, 1, &n, &diag));
	CHECK_EQ(n, 1);
	must(hartfs_view_events(view, list.insns, &ev, 1, &n, &diag));
	CHECK_EQ(n, 0);
	hartfs_view_close(view);
	FAILS(hartfs_index(archive, "run.stf", NULL, NULL, &diag), HARTFS_ERROR_MISUSE, "", "alone");
	FAILS(hartfs_each_capture(archive, "deep", add_capture, &list, &diag), HARTFS_ERROR_MISUSE, "", "alone");
	CHECK_EQ(hartfs_view_open(archive, "", &view, &diag), HARTFS_ERROR_MISUSE);
	CHECK_EQ(hartfs_view_open(archive, "../run.stf", &view, &diag), HARTFS_ERROR_NOT_FOUND);
	CHECK_EQ(hartfs_view_open(archive, "run@stf/hart0/listing.txt", &view, &diag), HARTFS_ERROR_NOT_FOUND);
	CHECK(!view);
	hartfs_close(archive);
}

static void check_capture_alone(void)
{
	struct hartfs_options options = options_of(NULL, NULL);
	struct hartfs_archive *archive;

	options.capture = hf_fst_path(&t, "deep/loop");
	check_alone(options, "hart0/listing.txt");
	options.capture = hf_fst_path(&t, "deep/loop/capture.ini");
	check_alone(options, "hart0/trace.stf");
	options = options_of(NULL, t.index);
	options.archive_fd = open(t.archive, O_PATH | O_DIRECTORY);
	options.capture = "deep/loop";
	check_alone(options, "hart0/etrace/trace.bin");
	options = options_of(t.archive, NULL);
	options.capture = "deep/loop@ntrace";
	check_alone(options, "hart0/program.elf");
	options = options_of(NULL, NULL);
	options.capture = hf_fst_path(&t, "deep");
	CHECK_EQ(hartfs_open(&options, &archive, &diag), HARTFS_ERROR_NOT_FOUND);
	CHECK(strstr(diag.text, "not a capture"));
	options.capture = hf_fst_path(&t, "three.stf");
	FAILS(hartfs_open(&options, &archive, &diag), HARTFS_ERROR_NOT_FOUND, options.capture, "no such");
	CHECK(!archive);
}

/* ---- what is wrong ---- */

static void check_misuse(void)
{
	struct hartfs_archive *archive = open_archive(NULL);
	struct hartfs_view *view = (struct hartfs_view *)&t;
	struct hartfs_event ev[4];
	uint64_t ordinal;
	uint8_t buf[16];
	size_t n;

	FAILS(hartfs_view_open(archive, "run@stf/hart0", &view, &diag), HARTFS_ERROR_MISUSE, "", "directory");
	CHECK(!view);
	FAILS(hartfs_view_open(archive, "deep", &view, &diag), HARTFS_ERROR_MISUSE, "", "directory");
	FAILS(hartfs_view_open(archive, "run@stf/hart7/listing.txt", &view, &diag), HARTFS_ERROR_NOT_FOUND, "run.stf",
	      "no such");
	FAILS(hartfs_view_open(archive, "run@stf/hart0/trace.astf", &view, &diag), HARTFS_ERROR_NOT_FOUND, "run.stf",
	      "there is no such view: ASTF is AArch64 only");
	FAILS(hartfs_view_open(archive, "run@stf/hart0/ete/trace.bin", &view, &diag), HARTFS_ERROR_NOT_FOUND, "run.stf",
	      "ETE is Arm only");
	FAILS(hartfs_view_open(archive, "nonsense", &view, &diag), HARTFS_ERROR_NOT_FOUND, "", "no such");
	FAILS(hartfs_view_open(archive, "run@stf/hart0/at/5-4/listing.txt", &view, &diag), HARTFS_ERROR_NOT_FOUND,
	      "run.stf", "no such");
	FAILS(hartfs_index(archive, "deep/code.bin", NULL, NULL, &diag), HARTFS_ERROR_NOT_FOUND, "deep/code.bin",
	      "not a capture");
	must(hartfs_view_open(archive, "run@stf/info.json", &view, &diag));
	FAILS(hartfs_view_events(view, 0, ev, 4, &n, &diag), HARTFS_ERROR_MISUSE, "", "no instruction");
	FAILS(hartfs_view_ordinal(view, 0, &ordinal, &diag), HARTFS_ERROR_MISUSE, "", "no instruction");
	must(hartfs_view_read(view, hartfs_view_size(view), buf, sizeof buf, &n, &diag));
	CHECK_EQ(n, 0);
	must(hartfs_view_read(view, UINT64_MAX, buf, sizeof buf, &n, &diag));
	CHECK_EQ(n, 0);
	must(hartfs_view_read(view, hartfs_view_size(view) - 3, buf, sizeof buf, &n, &diag));
	CHECK_EQ(n, 3);
	hartfs_view_close(view);
	must(hartfs_view_open(archive, "deep/code.bin", &view, &diag));
	CHECK_EQ(hartfs_view_size(view), 8);
	FAILS(hartfs_view_events(view, 0, ev, 4, &n, &diag), HARTFS_ERROR_MISUSE, "", "no instruction");
	hartfs_view_close(view);
	must(hartfs_view_open(archive, "run@stf/hart0/listing.txt", &view, &diag));
	must(hartfs_view_events(view, 0, NULL, 0, &n, &diag));
	must(hartfs_view_events(view, UINT64_MAX, ev, 4, &n, &diag));
	CHECK_EQ(n, 0);
	hartfs_view_close(view);
	hartfs_close(archive);
}

static void check_damaged(void)
{
	struct hartfs_archive *archive = open_archive(NULL);
	struct hartfs_view *view;
	struct list list = {.most = 99};

	FAILS(hartfs_index(archive, "none.stf", NULL, NULL, &diag), HARTFS_ERROR_DAMAGED, "none.stf", "offset ");
	CHECK(diag.offset < 64 && !diag.in_file);
	FAILS(hartfs_each_file(archive, "none.stf", add_file, &list, &diag), HARTFS_ERROR_DAMAGED, "none.stf",
	      "offset ");
	CHECK(strstr(list.text, "none@stf/info.json -1 -\nnone@stf/errors.txt"));
	FAILS(hartfs_view_open(archive, "none@stf/hart0/listing.txt", &view, &diag), HARTFS_ERROR_DAMAGED, "none.stf",
	      "offset ");
	must(hartfs_view_open(archive, "none@stf/info.json", &view, &diag));
	hartfs_view_close(view);
	/* Damage in a part is told in errors.txt. */
	must(hartfs_index(archive, "part.stf", NULL, NULL, &diag));
	must(hartfs_view_open(archive, "part@stf/errors.txt", &view, &diag));
	CHECK(hartfs_view_size(view) > 20);
	hartfs_view_close(view);
	CHECK_EQ(hartfs_index(archive, "none.stf", NULL, NULL, NULL), HARTFS_ERROR_DAMAGED);
	hartfs_close(archive);
}

/* A read that meets a damaged chunk gives what is before it, and the next one the error. */
static void check_hole(void)
{
	struct hf_zt_cut cut = hf_zt_make(1);
	struct hartfs_options options = options_of(NULL, NULL);
	struct hartfs_archive *archive;
	struct hartfs_view *view;
	const size_t hole = cut.cut[3], behind = cut.cut[4];
	uint8_t *buf = malloc(cut.stream.n);
	size_t n;

	CHECK(buf);
	hf_zt_pack(&cut);
	cut.file.p[hf_zt_chunk_at(&cut, 3)] ^= 1;
	hf_fst_write(&t, "hole/run.zstf", cut.file.p, cut.file.n);
	options.capture = hf_fst_path(&t, "hole/run.zstf");
	must(hartfs_open(&options, &archive, &diag));
	must(hartfs_view_open(archive, "source.stf", &view, &diag));
	CHECK_EQ(hartfs_view_size(view), cut.stream.n);
	FAILS(hartfs_view_read(view, 0, buf, cut.stream.n, &n, &diag), HARTFS_ERROR_DAMAGED, "run.zstf", "damaged");
	CHECK_EQ(n, hole);
	CHECK(memcmp(buf, cut.stream.p, n) == 0);
	FAILS(hartfs_view_read(view, hole, buf, 10, &n, &diag), HARTFS_ERROR_DAMAGED, "run.zstf", "damaged");
	CHECK_EQ(n, 0);
	must(hartfs_view_read(view, behind, buf, cut.stream.n, &n, &diag));
	CHECK_EQ(n, cut.stream.n - behind);
	CHECK(memcmp(buf, cut.stream.p + behind, n) == 0);
	hartfs_view_close(view);
	hartfs_close(archive);
	hf_zt_drop(&cut);
	free(buf);
}

static void check_changed(void)
{
	struct hartfs_archive *archive = open_archive(NULL);
	struct hartfs_view *view;
	struct hartfs_event ev[4];
	uint64_t ordinal, size;
	uint8_t buf[16];
	size_t n;

	write_stf("run.stf", 3000, 1, false);
	must(hartfs_view_open(archive, "run@stf/hart0/listing.txt", &view, &diag));
	must(hartfs_view_events(view, 0, ev, 4, &n, &diag));
	size = hartfs_view_size(view);
	write_stf("run.stf", 4000, 2, false);
	FAILS(hartfs_view_events(view, 4, ev, 4, &n, &diag), HARTFS_ERROR_CHANGED, "run.stf", "changed");
	CHECK_EQ(n, 0);
	FAILS(hartfs_view_read(view, size / 2, buf, sizeof buf, &n, &diag), HARTFS_ERROR_CHANGED, "run.stf", "changed");
	CHECK_EQ(n, 0);
	FAILS(hartfs_view_ordinal(view, size / 2, &ordinal, &diag), HARTFS_ERROR_CHANGED, "run.stf", "changed");
	CHECK_EQ(hartfs_view_size(view), size);
	hartfs_view_close(view);
	must(hartfs_view_open(archive, "run@stf/hart0/listing.txt", &view, &diag));
	must(hartfs_view_events(view, 3500, ev, 4, &n, &diag));
	CHECK_EQ(n, 4);
	hartfs_view_close(view);
	CHECK_EQ(unlink(hf_fst_path(&t, "run.stf")), 0);
	CHECK(hartfs_index(archive, "run.stf", NULL, NULL, &diag) != 0);
	CHECK_EQ(diag.error, HARTFS_ERROR_NOT_FOUND);
	write_stf("run.stf", 3000, 1, false);
	hartfs_close(archive);
}

/* ---- stopping, the log, the index ---- */

static bool yes(void *ctx)
{
	__atomic_fetch_add((unsigned *)ctx, 1, __ATOMIC_RELAXED);
	return true;
}

static bool no_more(void *ctx, double percent, uint64_t instructions)
{
	CHECK(percent >= 0 && percent <= 100);
	(void)instructions;
	return ++*(unsigned *)ctx < 2;
}

static void check_stop(void)
{
	struct hartfs_options options = options_of(t.archive, NULL);
	struct hartfs_archive *archive;
	struct hartfs_view *view;
	unsigned asked = 0;

	options.stop = yes;
	options.stop_ctx = &asked;
	must(hartfs_open(&options, &archive, &diag));
	FAILS(hartfs_view_open(archive, "two@stf/hart0/listing.txt", &view, &diag), HARTFS_ERROR_STOPPED, "two.stf",
	      "cancelled");
	FAILS(hartfs_index(archive, "two.stf", NULL, NULL, &diag), HARTFS_ERROR_STOPPED, "two.stf", "cancelled");
	CHECK(asked);
	hartfs_close(archive);
	/* By the progress of one capture, of which the next call hears the rest. */
	write_stf("long.stf", 1500000, 9, false);
	archive = open_archive(NULL);
	asked = 1;
	FAILS(hartfs_index(archive, "long.stf", no_more, &asked, &diag), HARTFS_ERROR_STOPPED, "long.stf", "cancelled");
	CHECK_EQ(asked, 2);
	must(hartfs_index(archive, "long.stf", NULL, NULL, &diag));
	must(hartfs_index(archive, "long.stf", no_more, &asked, &diag));
	hartfs_close(archive);
	CHECK_EQ(unlink(hf_fst_path(&t, "long.stf")), 0);
}

struct log {
	pthread_mutex_t lock;
	char text[8192];
};

static void note(void *ctx, int level, const char *line)
{
	struct log *log = ctx;

	pthread_mutex_lock(&log->lock);
	CHECK(level >= 0 && level <= 7);
	CHECK(*line && !strchr(line, '\n'));
	snprintf(log->text + strlen(log->text), sizeof log->text - strlen(log->text), "<%d>%s\n", level, line);
	pthread_mutex_unlock(&log->lock);
}

static size_t index_files(void)
{
	DIR *dir = opendir(t.index);
	size_t n = 0;

	for (struct dirent *entry; (entry = readdir(dir));)
		n += strstr(entry->d_name, ".hf") != NULL;
	closedir(dir);
	return n;
}

static void check_index(void)
{
	struct log log = {.lock = PTHREAD_MUTEX_INITIALIZER};
	struct hartfs_options options = options_of(t.archive, NULL);
	struct hartfs_archive *archive = open_archive(t.index);
	struct hartfs_view *view;
	size_t files;

	files = index_files();
	must(hartfs_index(archive, "two.stf", NULL, NULL, &diag));
	hartfs_close(archive);
	CHECK(index_files() > files + 2);
	files = index_files();
	archive = open_archive(t.index);
	must(hartfs_view_open(archive, "two@stf/hart1/listing.txt", &view, &diag));
	hartfs_view_close(view);
	hartfs_close(archive);
	CHECK_EQ(index_files(), files);
	/* Without one memory is the place, which is no news, and may be too small. */
	options.log = note;
	options.log_ctx = &log;
	must(hartfs_open(&options, &archive, &diag));
	must(hartfs_index(archive, "two.stf", NULL, NULL, &diag));
	hartfs_close(archive);
	CHECK(!strstr(log.text, "<3>") && !strstr(log.text, "<4>"));
	options.cache_bytes = 1000;
	must(hartfs_open(&options, &archive, &diag));
	FAILS(hartfs_index(archive, "two.stf", NULL, NULL, &diag), HARTFS_ERROR_INDEX, "two.stf",
	      "not indexed: there is no index directory, and");
	hartfs_close(archive);
	options.cache_bytes = 0;
	CHECK(!strstr(log.text, "<3>") && !strstr(log.text, "<4>"));
	/* A directory that failed is told, and memory takes its place; or is an error, which says nothing of a capture.
	 */
	options.index = "/lost/index";
	options.index_error = ENOSPC;
	must(hartfs_open(&options, &archive, &diag));
	must(hartfs_index(archive, "two.stf", NULL, NULL, &diag));
	hartfs_close(archive);
	CHECK(strstr(log.text, "/lost/index") && strstr(log.text, strerror(ENOSPC)));
	options.index_on_disk = true;
	must(hartfs_open(&options, &archive, &diag));
	FAILS(hartfs_index(archive, "two.stf", NULL, NULL, &diag), HARTFS_ERROR_INDEX, "two.stf", "not indexed: ");
	hartfs_close(archive);
}

int main(void)
{
	size_t before;

	hf_fst_begin_quick(&t);
	write_stf("run.stf", 3000, 1, false);
	write_stf("two.stf", 2000, 2, true);
	write_described();
	write_damaged();
	check_words();
	check_options();
	before = descriptors();
	check_event_size(24);
	check_event_size(sizeof(struct hartfs_event) + 40);
	check_captures();
	check_files();
	check_sizes("two.stf");
	check_sizes("deep/loop");
	check_capture_alone();
	check_misuse();
	check_damaged();
	check_hole();
	check_changed();
	check_stop();
	check_index();
	CHECK_EQ(descriptors(), before);
	hf_fst_end(&t);
	return 0;
}

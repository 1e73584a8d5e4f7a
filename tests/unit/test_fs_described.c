/* SPDX-License-Identifier: Apache-2.0 */
/* Captures with a description: directories and .ini files, their members, changes of any of these; views that are
 * directories, which are captures again; parameters of views. With a toy codec in the place of STF's. */
#include "fs/whole.h"
#include "fs/stream/members.h"
#include "tests/lib/fstest.h"
#include "tests/lib/toy_codec.h"
#include "tests/registry/toy.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct hf_fst t;

#define RECORDS 600

/* How often anything of the archive was looked at: in the place of the C library's. */
static atomic_uint looks;

int fstatat(int dirfd, const char *restrict name, struct stat *restrict ret_st, int flags)
{
	atomic_fetch_add(&looks, 1);
	return (int)syscall(SYS_newfstatat, dirfd, name, ret_st, flags);
}

/* The views that these tests are about, whatever else is built in. */
static void open_fs(void)
{
	const struct hf_fs_options options = {.threads = 2, .index_threads = 2, .views = "listing.txt,program.elf,toy"};

	hf_fst_open(&t, &options);
}

/* Bytes of the format. */
static struct hf_walk_bytes toy(uint64_t seed, unsigned harts, bool header)
{
	struct hf_toy_header head = {.magic = "HFTOY1", .flags = HF_STREAM_HARTS | (harts > 1 ? HF_STREAM_MANY : 0)};
	struct hf_toy_record records[RECORDS];
	struct hf_walk_bytes bytes = {0};

	head.magic[6] = '\n';
	hf_toy_fill(records, RECORDS, harts, seed);
	if (header)
		hf_bytes_add(&bytes, &head, sizeof head);
	hf_bytes_add(&bytes, records, sizeof records);
	return bytes;
}

static void write_toy(const char *path, uint64_t seed, bool header)
{
	struct hf_walk_bytes bytes = toy(seed, 2, header);

	hf_fst_write(&t, path, bytes.p, bytes.n);
	hf_bytes_free(&bytes);
}

static void check_has(const char *path, const char *what)
{
	char *text = hf_fst_text(&t, path);

	if (!strstr(text, what)) {
		fprintf(stderr, "%s lacks '%s':\n%s\n", path, what, text);
		exit(1);
	}
	free(text);
}

static void check_list(const char *path, const char *names)
{
	char *list = hf_fst_list(&t, path);

	CHECK_STR(list, names);
	free(list);
}

static void check_same(const char *a, const char *b)
{
	struct hf_walk_bytes x = hf_fst_read(&t, a, 4000), y = hf_fst_read(&t, b, 777);

	CHECK_EQ(x.n, y.n);
	CHECK(memcmp(x.p, y.p, x.n) == 0);
	hf_bytes_free(&x);
	hf_bytes_free(&y);
}

/* ---- the tree ---- */

static void test_directory(void)
{
	hf_fst_begin(&t);
	write_toy("run/part0.bin", 1, true);
	write_toy("run/sub/part1.bin", 2, false);
	write_toy("shared/code.bin", 3, true);
	hf_fst_write_text(&t, "run/capture.ini",
			  "[capture]\r\nformat = toy ; the format\r\ntrace = part0.bin\r\ntrace = sub/part1.bin\r\n"
			  "[program]\r\nraw = \"../shared/code.bin\", address = 0x1000\r\n"
			  "[parameters]\r\nstep = 0x2a\r\n");
	open_fs();
	/* What it refers to beneath it is part of it; what is elsewhere may be another capture. */
	check_list("", ".hartfs\nrun\nrun@toy\nshared\n");
	check_list("run", "capture.ini\npart0.bin\nsub\n");
	check_list("run/sub", "part1.bin\n");
	check_list("shared", "code.bin\ncode.bin@toy\n");
	check_list("run@toy/hart0", "at\nlisting.txt\nprofile\nprogram.elf\ntoy\nwhere\n");
	check_list("run@toy/hart0/toy", "capture.ini\nprogram.elf\ntrace.bin\n");
	CHECK_EQ(hf_fst_size(&t, "run@toy/source.toy"), sizeof(struct hf_toy_header) + 2 * RECORDS * 8);
	check_has("run@toy/info.json", "\"step\":42,\"parts\":2");
	check_has("run@toy/info.json", "\"file\": \"run/capture.ini\"");
	check_has("run@toy/info.json", "\"shared/code.bin\"");
	CHECK_EQ(hf_fst_size(&t, "run@toy/errors.txt") > 0, 1); /* the toy's gaps */
	CHECK(!hf_fst_exists(&t, "run/part0.bin@toy"));
	hf_fst_end(&t);
}

/* Any other name.ini is a capture of its own, and so is capture.ini where nothing can lie beside its directory. */
static void test_files(void)
{
	hf_fst_begin(&t);
	write_toy("bytes", 1, true);
	hf_fst_write_text(&t, "capture.ini", "[capture]\nformat = toy\ntrace = bytes\n");
	hf_fst_write_text(&t, "set/one.ini", "[capture]\nformat = toy\ntrace = ../bytes\n");
	hf_fst_write_text(&t, "set/two.ini", "[capture]\nformat = toy\ntrace = ../bytes\n[parameters 1]\nstep = 7\n");
	hf_fst_write_text(&t, "set/other.ini", "[device]\nname = x\n");
	open_fs();
	check_list("", ".hartfs\nbytes\ncapture.ini\ncapture.ini@toy\nset\n");
	check_list("set", "one.ini\none.ini@toy\nother.ini\ntwo.ini\ntwo.ini@toy\n");
	check_same("set/one.ini@toy/hart0/listing.txt", "capture.ini@toy/hart0/listing.txt");
	hf_fst_end(&t);
}

/* Programs are memory: of captures that nobody reads only so much of it is kept. */
static void test_large_programs(void)
{
	enum { MANY = 6, SIZE = 40 << 20 };
	char text[200];

	hf_fst_begin(&t);
	write_toy("bytes", 1, true);
	hf_fst_write_text(&t, "code", "");
	CHECK_EQ(truncate(hf_fst_path(&t, "code"), SIZE), 0);
	for (unsigned i = 0; i < MANY; i++) {
		snprintf(text, sizeof text, "%u.ini", i);
		hf_fst_write_text(&t, text, "[capture]\nformat = toy\ntrace = bytes\n[program]\nraw = code, address = 0\n");
	}
	open_fs();
	for (unsigned i = 0; i < MANY; i++) {
		snprintf(text, sizeof text, "%u.ini@toy/hart0/listing.txt", i);
		check_same(text, "0.ini@toy/hart0/listing.txt");
		/* Others are being indexed meanwhile. */
		pthread_mutex_lock(&t.fs->captures.open_pool.lock);
		CHECK(t.fs->captures.open_pool.bytes > SIZE);
		/* one more while it is read */
		CHECK(t.fs->captures.open_pool.bytes <= t.fs->captures.open_pool.max_bytes + SIZE + (1 << 20));
		pthread_mutex_unlock(&t.fs->captures.open_pool.lock);
	}
	pthread_mutex_lock(&t.fs->captures.open_pool.lock);
	CHECK(t.fs->captures.open_pool.count < MANY);
	pthread_mutex_unlock(&t.fs->captures.open_pool.lock);
	hf_fst_end(&t);
}

/* ---- what is wrong ---- */

static void test_wrong(void)
{
	static const struct {
		const char *ini, *error;
	} wrong[] = {
		{"[capture]\nformat = toy\ntrace = none.bin\n", "w/capture.ini:3: 'none.bin' is no file within the archive"},
		{"[capture]\nformat = toy\ntrace = ../../x\n", "w/capture.ini:3: '../../x' is no file within"},
		{"[capture]\nformat = toy\ntrace = link\n", "w/capture.ini:3: 'link' is no file within"},
		{"[capture]\nformat = toy\ntarce = x\n", "w/capture.ini:3: unknown key 'tarce'"},
		{"[capture]\nformat = toy\ntrace = x\n[program]\nelf = x\n", "w/capture.ini:5: 'x' is no ELF"},
		{"[capture]\nformat = toy\ntrace = x\n[parameters]\nstep = many\n", "w/capture.ini:5: 'step = many': it must be a number from 0 to 100"},
		{"[capture]\nformat = toy\n", "[capture] has no 'trace'"},
	};

	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		hf_fst_begin(&t);
		write_toy("w/x", 1, true);
		CHECK_EQ(symlink("x", hf_fst_path(&t, "w/link")), 0);
		hf_fst_write_text(&t, "w/capture.ini", wrong[i].ini);
		open_fs();
		check_has("w@toy/errors.txt", wrong[i].error);
		check_has("w@toy/info.json", "\"error\"");
		check_has(".hartfs/status.json", wrong[i].error);
		hf_fst_end(&t);
	}
}

static void test_unreadable(void)
{
	hf_fst_begin(&t);
	hf_fst_write_text(&t, "a/capture.ini", "[capture]\nformat = nothing\ntrace = x\n");
	hf_fst_write_text(&t, "b/capture.ini", "nonsense\n");
	hf_fst_write_text(&t, "c/snapshot.ini", "[snapshot]\nversion=1.0\n");
	open_fs();
	check_has("a@capture/errors.txt", "a/capture.ini:2: unknown format 'nothing'");
	check_has("b@capture/errors.txt", "b/capture.ini:1: this is no section and no 'key = value'");
	CHECK(hf_fst_comes(&t, hf_codec_by_name("ete") ? "c@ete/errors.txt" : "c@capture/errors.txt"));
	hf_fst_end(&t);
}

/* ---- changes ---- */

/* Of whatever belongs to the capture: none is left out of its identity. */
static void test_changes(void)
{
	static const char *const path[] = {"run/one", "run/two", "code", "run/capture.ini"};
	char *before, *after;

	hf_fst_begin(&t);
	write_toy("run/one", 1, true);
	write_toy("run/two", 2, false);
	write_toy("code", 3, true);
	hf_fst_write_text(&t, "run/capture.ini",
			  "[capture]\nformat = toy\ntrace = one\ntrace = two\n[program]\nraw = ../code, address = 16\n");
	for (size_t i = 0; i < 5; i++) {
		struct hf_capture *capture;
		struct hf_open *open;
		struct stat st;
		static struct hf_identity seen[5];

		if (i == 3)
			hf_fst_write_text(&t, path[i],
					  "[capture]\nformat = toy\ntrace = two\n[program]\nraw = ../code, address = 8\n");
		else if (i < 4)
			write_toy(path[i], 10 + i, i != 1);
		if (i == 3)
			write_toy("run/two", 11, true);
		/* The last time nothing changes. */
		open_fs();
		free(hf_fst_text(&t, "run@toy/info.json"));
		CHECK_EQ(stat(hf_fst_path(&t, "run"), &st), 0);
		CHECK_EQ(hf_capture_find(&t.fs->captures, "run", &st, &capture), 0);
		CHECK(capture);
		CHECK_COMES(hf_open_get(capture, capture->version, &open) == 0);
		seen[i] = open->trace.identity;
		hf_open_put(open);
		hf_fst_close(&t);
		for (size_t k = 0; k < i; k++)
			CHECK_EQ(seen[k].print[0] == seen[i].print[0] && seen[k].print[1] == seen[i].print[1],
				 i == 4 && k == 3);
	}
	/* And while it is mounted. */
	open_fs();
	before = hf_fst_text(&t, "run@toy/hart0/listing.txt");
	write_toy("run/two", 99, true);
	after = hf_fst_text(&t, "run@toy/hart0/listing.txt");
	CHECK(strcmp(before, after) != 0);
	unlink(hf_fst_path(&t, "run/two"));
	check_has("run@toy/errors.txt", "'two' is no file within the archive");
	free(before);
	free(after);
	unlink(hf_fst_path(&t, "run/capture.ini"));
	CHECK(!hf_fst_exists(&t, "run@toy/info.json"));
	hf_fst_end(&t);
}

/* For each chunk that is made what its bytes depend on is looked at once, and a change is seen by that. */
static void test_looks(void)
{
	/* capture.ini, what it names, and run, as the capture and as a directory of these. */
	static const unsigned paths = 6;
	const struct hf_fs_options options = {.threads = 2, .index_threads = 2, .views = "listing.txt", .chunk_insns = 20};
	struct hf_file *file;
	uint8_t buf[512];
	uint64_t made, size;
	size_t n;

	hf_fst_begin(&t);
	write_toy("run/one", 1, true);
	write_toy("run/two", 2, false);
	write_toy("code", 3, true);
	hf_fst_write_text(&t, "run/capture.ini",
			  "[capture]\nformat = toy\ntrace = one\ntrace = two\n[program]\nraw = ../code, address = 16\n");
	hf_fst_open(&t, &options);
	size = hf_fst_size(&t, "run@toy/hart0/listing.txt");
	file = hf_fst_open_file(&t, "run@toy/hart0/listing.txt");
	CHECK_EQ(hf_fs_read_wait(t.fs, file, 0, buf, sizeof buf, &n), 0);
	made = t.fs->common.metrics.chunks;
	looks = 0;
	for (uint64_t at = n; at < size; at += n)
		CHECK_EQ(hf_fs_read_wait(t.fs, file, at, buf, sizeof buf, &n), 0);
	CHECK_COMES(hf_exec_load(t.fs->common.exec, HF_WORK_DECODE, HF_LATER) == 0);
	made = t.fs->common.metrics.chunks - made;
	CHECK(made > 4);
	CHECK(looks <= made * paths);
	hf_file_close(file);
	file = hf_fst_open_file(&t, "run@toy/hart1/listing.txt");
	write_toy("run/two", 99, false);
	CHECK_EQ(hf_fs_read_wait(t.fs, file, 0, buf, sizeof buf, &n), HF_ERR_CHANGED);
	hf_file_close(file);
	hf_fst_end(&t);
}

/* A capture that was seen before is listed without being opened. */
static void test_remembered(void)
{
	struct hf_fs_options options = {.threads = 2, .index_threads = 2, .views = "listing.txt,toy"};
	uint64_t size;

	hf_fst_begin(&t);
	options.archive_path = t.archive;
	write_toy("run/one", 1, true);
	hf_fst_write_text(&t, "run/capture.ini", "[capture]\nformat = toy\ntrace = one\n");
	hf_fst_open(&t, &options);
	size = hf_fst_size(&t, "run@toy/hart0/toy/capture.ini");
	free(hf_fst_text(&t, "run@toy/hart0/toy/trace.bin"));
	hf_fst_close(&t);
	hf_fst_open(&t, &options);
	CHECK_EQ(hf_fst_size(&t, "run@toy/hart0/toy/capture.ini"), size);
	check_list("run@toy/hart0/toy", "capture.ini\nprogram.elf\ntrace.bin\n");
	CHECK_EQ(t.fs->captures.catalogue_use.opened, 0);
	check_has("run@toy/hart0/toy/capture.ini", "step = 3");
	hf_fst_close(&t);
	write_toy("run/one", 5, true);
	hf_fst_open(&t, &options);
	check_list("run@toy/hart0/toy", "capture.ini\nprogram.elf\ntrace.bin\n");
	CHECK(t.fs->captures.catalogue_use.opened > 0);
	hf_fst_end(&t);
}

/* ---- views that are directories ---- */

/* A copy as cp makes it. */
static void copy(const char *from, const char *to)
{
	static const char *const name[] = {"capture.ini", "program.elf", "trace.bin"};

	for (size_t i = 0; i < 3; i++) {
		char source[256], target[256];
		struct hf_walk_bytes bytes;

		snprintf(source, sizeof source, "%s/%s", from, name[i]);
		snprintf(target, sizeof target, "%s/%s", to, name[i]);
		bytes = hf_fst_read(&t, source, 4096);
		hf_fst_write(&t, target, bytes.p, bytes.n);
		hf_bytes_free(&bytes);
	}
}

/* The pcs of a listing, one a line. */
static char *pcs(const char *path)
{
	char *text = hf_fst_text(&t, path), *out = calloc(1, strlen(text) + 1), *save = NULL;
	size_t n = 0;

	CHECK(out);
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char pc[32];

		if (*line == '#')
			continue;
		CHECK_EQ(sscanf(line, "%*s %*s %31s", pc), 1);
		memcpy(out + n, pc, strlen(pc));
		n += strlen(pc);
		out[n++] = '\n';
	}
	free(text);
	return out;
}

static void test_view_directory(void)
{
	char *whole, *again, *part;

	hf_fst_begin(&t);
	write_toy("x.toy", 1, true);
	open_fs();
	check_list("x@toy/hart0", "at\nlisting.txt\nprofile\nprogram.elf\ntoy\nwhere\n");
	check_same("x@toy/hart0/program.elf", "x@toy/hart0/toy/program.elf");
	check_same("x@toy/hart0/program.elf", "x@toy/hart0/at/3-9/program.elf");
	check_same("x@toy/hart0/program.elf", "x@toy/hart0/at/3-9/toy/program.elf");
	check_same("x@toy/hart0/toy/capture.ini", "x@toy/hart0/at/3-9/toy/capture.ini");
	check_list("x@toy/hart0/at/3-9", "listing.txt\nprofile\nprogram.elf\ntoy\n");
	check_list("x@toy/hart0/at/3-9/toy", "capture.ini\nprogram.elf\ntrace.bin\n");
	CHECK_EQ(hf_fst_size(&t, "x@toy/hart0/at/3-9/toy/trace.bin"), sizeof(struct hf_toy_header) + 7 * 8);
	check_has("x@toy/info.json", "\"hart0/toy/trace.bin\"");
	check_has("x@toy/info.json", "\"hart0/toy/capture.ini\"");
	copy("x@toy/hart0/toy", "whole");
	copy("x@toy/hart1/at/3-9/toy", "part");
	whole = pcs("x@toy/hart0/listing.txt");
	again = pcs("whole@toy/hart0/listing.txt");
	CHECK_STR(again, whole);
	part = pcs("part@toy/hart0/listing.txt");
	free(again);
	again = pcs("x@toy/hart1/at/3-9/listing.txt");
	CHECK_STR(part, again);
	CHECK_EQ(strlen(part), 7 * 17);
	free(whole);
	free(again);
	free(part);
	check_list("", ".hartfs\npart\npart@toy\nwhole\nwhole@toy\nx.toy\nx@toy\n");
	hf_fst_end(&t);
}

/* Without a program there is no such directory, and info.json says why. */
static void test_no_program(void)
{
	const struct hf_toy_header header = {.magic = "HFTOY1\n", .flags = HF_STREAM_HARTS};
	const struct hf_toy_record record = {.kind = HF_TOY_ATTEMPT};
	struct hf_walk_bytes bytes = {0};

	hf_fst_begin(&t);
	hf_bytes_add(&bytes, &header, sizeof header);
	hf_bytes_add(&bytes, &record, sizeof record);
	hf_fst_write(&t, "x.toy", bytes.p, bytes.n);
	hf_bytes_free(&bytes);
	open_fs();
	CHECK(!hf_fst_exists(&t, "x@toy/hart0/program.elf"));
	CHECK(!hf_fst_exists(&t, "x@toy/hart0/toy"));
	check_has("x@toy/info.json", "it needs program.elf");
	hf_fst_end(&t);
}

/* ---- parameters ---- */

static void test_params(void)
{
	struct hf_fs_options options = {.threads = 2, .index_threads = 2, .views = "listing.txt,toy"};
	uint64_t plain;

	hf_fst_begin(&t);
	write_toy("x.toy", 1, true);
	hf_fst_open(&t, &options);
	plain = hf_fst_size(&t, "x@toy/hart0/toy/capture.ini");
	hf_fst_close(&t);
	hf_fst_write_text(&t, "hartfs.conf", "# of this archive\ntoy.pad = 12345\n");
	hf_fst_open(&t, &options);
	CHECK_EQ(hf_fst_size(&t, "x@toy/hart0/toy/capture.ini"), plain + 5);
	check_has("x@toy/hart0/toy/capture.ini", "pad 12345\n");
	hf_fst_close(&t);
	options.params = "toy.pad=77";
	hf_fst_open(&t, &options);
	check_has("x@toy/hart0/toy/capture.ini", "pad 77\n");
	check_has("hartfs.conf", "12345");
	hf_fst_end(&t);
}

static void check_params(const char *conf, const char *given, const char *why)
{
	char text[256] = "";
	int fd, err;

	hf_fst_begin(&t);
	if (conf)
		hf_fst_write_text(&t, "hartfs.conf", conf);
	fd = open(t.archive, O_RDONLY | O_DIRECTORY);
	CHECK(fd >= 0);
	err = hf_fs_check_params(fd, given, text, sizeof text);
	close(fd);
	CHECK_EQ(!err, !why);
	if (why && !strstr(text, why)) {
		fprintf(stderr, "'%s' instead of '%s'\n", text, why);
		exit(1);
	}
	hf_fst_end(&t);
}

static void test_wrong_params(void)
{
	check_params(NULL, NULL, NULL);
	check_params(NULL, "toy.pad=1", NULL);
	check_params("; nothing\n", "toy.pad=1", NULL);
	check_params(NULL, "toy.pad=x", "it has only 'pad'");
	check_params(NULL, "toy.step=1", "it has only 'pad'");
	check_params(NULL, "toy.pad=1,toy.pad=2", "toy.pad=2: it is given twice");
	check_params(NULL, "toy.pad", "it is not VIEW.key=value");
	check_params(NULL, "toy.pad=", "it is not VIEW.key=value");
	check_params(NULL, "astf.pad=1", "there is no view astf with parameters");
	check_params(NULL, "listing.pad=1", "listing has no parameter 'pad'");
	check_params(NULL, "x.pad=1", "there is no view x with parameters");
	check_params("toy.pad = 1\ntoy.pad = 2\n", NULL, "hartfs.conf:2:");
	check_params("[toy]\npad = 1\n", NULL, "hartfs.conf:1: [toy]: it has no sections");
	check_params("toy.pad = 1\nnonsense\n", NULL, "hartfs.conf:2:");
	check_params("toy.pad = 1 2\n", NULL, "hartfs.conf:1:");
	check_params("x.pad = 1\n", "toy.pad=1", "hartfs.conf:1: x.pad=1: there is no view x");
	check_params("; y\ntoy.pad = x\n", NULL, "hartfs.conf:2: toy.pad=x: ");
	check_params(NULL, "--param toy.pad=1,-o toy.pid=2", "-o toy.pid=2: ");
	check_params(NULL, "-o tyo.pad=1", "-o tyo.pad=1: there is no view tyo with parameters (did you mean 'toy'?)");
	check_params(NULL, "--param toy.pad=1,-o toy.pad", "-o toy.pad: it is not VIEW.key=value");
}

/* A description that is rewritten in place and looks as before names another file: who may read the views then is who may
 * read that. */
static void test_forged(void)
{
	static const char text[] = "[capture]\nformat = toy\ntrace = a.bin\n";
	const struct timespec times[2] = {{.tv_sec = 1000}, {.tv_sec = 2000}};
	struct hf_capture *capture;
	struct hf_open *held;
	struct hf_walk_bytes forged;
	struct hf_attr attr;
	bool shown = false;
	int fd;

	hf_fst_begin(&t);
	write_toy("run/a.bin", 1, true);
	write_toy("run/b.bin", 2, true);
	CHECK_EQ(chmod(hf_fst_path(&t, "run/b.bin"), 0600), 0);
	hf_fst_write_text(&t, "run/capture.ini", text);
	CHECK_EQ(utimensat(AT_FDCWD, hf_fst_path(&t, "run/capture.ini"), times, 0), 0);
	open_fs();
	CHECK_EQ(hf_fst_lookup(&t, "run@toy/source.toy", &attr), 0);
	CHECK_EQ(attr.st.st_mode, S_IFREG | 0444);
	CHECK_EQ(hf_capture_at(&t.fs->captures, "run", &capture), 0);
	CHECK_EQ(hf_open_get(capture, capture->version, &held), 0);
	hf_open_put(held);
	forged = toy(2, 2, true);
	fd = open(hf_fst_path(&t, "run/capture.ini"), O_WRONLY);
	CHECK_EQ(pwrite(fd, "b", 1, (off_t)(strstr(text, "a.bin") - text)), 1);
	CHECK_EQ(close(fd), 0);
	CHECK_EQ(utimensat(AT_FDCWD, hf_fst_path(&t, "run/capture.ini"), times, 0), 0);
	/* As when too many captures are open. */
	hf_open_drop(capture);
	for (int tries = 0; !shown; tries++) {
		struct hf_file *file;
		uint8_t bytes[4096];
		size_t n = 0;
		bool keep;

		CHECK(tries < HF_TEST_PATIENCE_MS / 10);
		hf_fst_sleep_ms(10);
		if (hf_fst_lookup(&t, "run@toy/source.toy", &attr) || hf_file_open(t.fs, attr.st.st_ino, &file, &keep))
			continue;
		if (!hf_fs_read_wait(t.fs, file, 0, bytes, sizeof bytes, &n) && n == sizeof bytes)
			shown = memcmp(bytes, forged.p, n) == 0;
		hf_file_close(file);
	}
	CHECK_EQ(attr.st.st_mode, S_IFREG | 0400);
	hf_bytes_free(&forged);
	hf_fst_end(&t);
}

/* Every file that was opened for a description that is wrong is a member: its words may be in the complaint. */
static void test_quoted(void)
{
	struct hf_members *members;

	hf_fst_begin(&t);
	hf_fst_write_text(&t, "far/away/words.ini", "not a section\n");
	hf_fst_write_text(&t, "run/snapshot.ini", "[snapshot]\nversion=1.0\n[trace]\nmetadata=../far/away/words.ini\n");
	open_fs();
	CHECK_EQ(hf_members_read(&t.fs->archive, "run/snapshot.ini", &members), 0);
	CHECK(hf_members_have(members, "run/snapshot.ini"));
	CHECK(hf_members_have(members, "far/away/words.ini"));
	CHECK_EQ(members->dir_count, 3);
	hf_members_unref(members);
	hf_fst_end(&t);
}

/* More directories than anybody looks at: then nobody may read the views. */
static void test_scattered(void)
{
	struct hf_walk_bytes text = {0};
	struct hf_members *members;
	struct hf_access access;
	struct stat st;
	char line[64];

	hf_fst_begin(&t);
	hf_bytes_add(&text, "[capture]\nformat = toy\n", 23);
	for (unsigned i = 0; i < HF_MEMBERS_DIRS_MAX / 2 + 1; i++)
		hf_bytes_add(&text, line, (size_t)snprintf(line, sizeof line, "trace = d%u/e/x\n", i));
	hf_fst_write(&t, "one.ini", text.p, text.n);
	hf_bytes_free(&text);
	open_fs();
	CHECK_EQ(hf_members_read(&t.fs->archive, "one.ini", &members), 0);
	CHECK_EQ(members->count, HF_MEMBERS_DIRS_MAX / 2 + 2);
	CHECK_EQ(members->dir_count, HF_MEMBERS_DIRS_MAX);
	CHECK(members->scattered);
	CHECK_EQ(hf_archive_stat(&t.fs->archive, "one.ini", &st), 0);
	CHECK_EQ(hf_members_look(&t.fs->archive, members, &st, &access, &(uint64_t){0}), 0);
	CHECK_EQ(access.bits, 0);
	hf_members_unref(members);
	hf_fst_end(&t);
}

int main(void)
{
	test_directory();
	test_files();
	test_large_programs();
	test_wrong();
	test_unreadable();
	test_changes();
	test_looks();
	test_remembered();
	test_view_directory();
	test_no_program();
	test_params();
	test_wrong_params();
	test_forged();
	test_quoted();
	test_scattered();
	return 0;
}

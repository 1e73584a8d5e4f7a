/* SPDX-License-Identifier: Apache-2.0 */
/* The snapshots of the corpus, as they really are: all are read, and say what their files say. */
#include "tests/lib/check.h"
#include "tests/lib/setuptest.h"
#include "codecs/setup/read.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

static struct hf_setup *setup;
static struct hf_src *stream;

static int open_file(void *ctx, const char *name, struct hf_src **ret_src, struct hf_diag *diag)
{
	char path[8192];
	int fd;

	snprintf(path, sizeof path, "%s/%s", (const char *)ctx, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? HF_ERR_NOT_FOUND : hf_src_file_new(fd, ret_src, diag);
}

static void load(char *directory)
{
	const struct hf_setup_opener opener = {.ctx = directory, .open = open_file, .codecs = hf_setup_codecs};
	struct hf_setup_error error;
	int err = hf_setup_read(&opener, "snapshot.ini", &setup, &error);

	if (!err)
		err = hf_setup_load(setup, &opener, &stream, &error);
	if (err) {
		fprintf(stderr, "%s/%s:%u: %s\n", directory, error.file, (unsigned)error.line, error.text);
		exit(1);
	}
}

static void drop(void)
{
	hf_src_free(stream);
	hf_setup_free(setup);
}

static uint64_t file_size(const char *directory, const char *name)
{
	struct hf_src *src;
	uint64_t size;

	CHECK_EQ(open_file((void *)(uintptr_t)directory, name, &src, NULL), 0);
	size = src->size;
	hf_src_free(src);
	return size;
}

/* What must hold of every one. */
static void check_one(const char *directory)
{
	uint64_t end = 0;

	for (size_t i = 0; i < setup->part_count; i++) {
		CHECK_EQ(setup->parts[i].offset, end);
		end += setup->parts[i].size;
		CHECK((setup->parts[i].hart == HF_SETUP_ANY) == (strcmp(setup->parts[i].framing, "source_data") != 0));
		if (setup->parts[i].hart != HF_SETUP_ANY)
			CHECK(hf_setup_get(setup, setup->parts[i].hart, "TRCCONFIGR"));
	}
	CHECK_EQ(end, stream->size);
	for (size_t i = 0; i < setup->file_count; i++)
		if (setup->files[i].kind == HF_SETUP_TRACE)
			end -= file_size(directory, setup->files[i].name);
	CHECK_EQ(end, 0);
	for (size_t i = 0; i < setup->warning_count; i++)
		printf("%s: %s:%u: %s\n", directory, setup->warnings[i].file, (unsigned)setup->warnings[i].line,
		       setup->warnings[i].text);
	/* Only those whose images are left out on purpose. */
	CHECK_EQ(setup->warning_count != 0, strstr(directory, "event_test") != NULL);
}

static size_t check_all(const char *corpus, const char *set)
{
	char path[4096], directory[8192];
	struct dirent *entry;
	size_t n = 0;
	DIR *dir;

	snprintf(path, sizeof path, "%s/ete/%s", corpus, set);
	dir = opendir(path);
	if (!dir)
		return 0;
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(directory, sizeof directory, "%s/%s", path, entry->d_name);
		load(directory);
		check_one(directory);
		drop();
		n++;
	}
	closedir(dir);
	return n;
}

static void check_some(const char *corpus)
{
	char directory[8192];

	snprintf(directory, sizeof directory, "%s/ete/snapshots/infrastructure", corpus);
	load(directory);
	CHECK_EQ(setup->part_count, 2);
	CHECK_STR(setup->parts[0].framing, "coresight");
	CHECK_STR(hf_setup_get(setup, 0x15, "core")->value, "cpu_5");
	CHECK_STR(hf_setup_get(setup, 0x10, "TRCDEVARCH")->value, "0x47705A13");
	CHECK_STR(hf_setup_get(setup, 0x20, "type")->value, "STM");
	CHECK_EQ(hf_setup_program(setup, 0x13, 0, HF_MEMORY_EL1N)->pieces[0].address, 0xffffffc000081000);
	drop();
	/* Recordings of one core: the first listed comes first, and all are one hart. */
	snprintf(directory, sizeof directory, "%s/ete/snapshots/q_elem", corpus);
	load(directory);
	CHECK_STR(setup->parts[0].name, "ETB_2");
	CHECK_EQ(setup->parts[0].hart, 1);
	CHECK_EQ(setup->parts[1].hart, 1);
	drop();
}

int main(void)
{
	const char *corpus = getenv("HARTFS_CORPUS");

	if (!corpus) {
		printf("SKIP: HARTFS_CORPUS is not set\n");
		return 77;
	}
	if (check_all(corpus, "snapshots") + check_all(corpus, "crafted") == 0) {
		printf("SKIP: no ete in HARTFS_CORPUS\n");
		return 77;
	}
	check_some(corpus);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Index files as hostile input. The first byte says what the rest is: bit 0 a view table instead of a decode index;
 * bit 1 changes to a valid file (each: page, offset in it, count, bytes) instead of a whole file; bit 2 page checksums
 * are put right, so that what lies behind them is reached; bit 3 a private file that a build resumes; bit 4 both files
 * are compared with what the capture says, and what is left then says the same; bit 5 it is a pack with both files.
 * Whatever is opened may fail to answer, but not answer nonsense.
 */
#include "index/store/file.h"
#include "index/store/packs.h"
#include "index/table/db.h"
#include "tests/lib/check.h"
#include "tests/lib/dbfuzz.h"
#include "tests/lib/indextest.h"
#include "tests/registry/toy.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

enum { VIEW = 1, PART = 8, COMPARED = 16, PACK = 32 }; /* besides DB_FUZZ_CHANGES and DB_FUZZ_SEALED */

/* Of each kind of thing so many are looked at. */
#define LOOKS 12

static struct hf_ixtest t;
static char names[2][HF_FILE_NAME_SIZE]; /* decode index, view table */
static struct hf_walk_bytes valid[2], valid_pack;

static void clean_up(void)
{
	hf_bytes_free(&valid[0]);
	hf_bytes_free(&valid[1]);
	hf_bytes_free(&valid_pack);
	hf_ixtest_fini(&t);
}

static int is_pack(const struct dirent *entry)
{
	return strstr(entry->d_name, ".hfp") != NULL;
}

/* The same files in a pack. */
static void set_up_pack(void)
{
	struct dirent **list;

	hf_ixtest_clear(&t);
	t.at.into = HF_INTO_PACKS;
	CHECK_EQ(hf_packs_new(t.dirfd, NULL, &t.at.packs), 0);
	CHECK_EQ(hf_build_run(&t.build, NULL), 0);
	CHECK_EQ(hf_packs_flush(t.at.packs), 0);
	hf_packs_free(t.at.packs);
	t.at = (struct hf_store_dir){.fd = t.dirfd};
	CHECK_EQ(scandir(t.dir, &list, is_pack, NULL), 1);
	valid_pack = hf_bytes_load(t.dir, list[0]->d_name);
	free(list[0]);
	free(list);
}

static void set_up(void)
{
	hf_ixtest_init(&t);
	atexit(clean_up);
	hf_ixtest_limit(&t, 10);
	hf_ixtest_capture(&t, 150, 2, HF_STREAM_HARTS | HF_STREAM_MANY, 1);
	hf_ixtest_pack(&t, ".gz");
	hf_ixtest_build(&t);
	hf_index_file_name_index(&t.identity, names[0]);
	CHECK_EQ(hf_index_file_name_view(&t.identity, &t.keys[0], names[1]), 0);
	for (int i = 0; i < 2; i++)
		valid[i] = hf_bytes_load(t.dir, names[i]);
	set_up_pack();
}

static bool is_answer(int err)
{
	return err == 0 || err == HF_ERR_STATE || err == HF_ERR_NOT_FOUND;
}

static void look_at_chunk(struct hf_index *index, const struct hf_index_hart *hart, uint64_t number)
{
	struct hf_chunk c;
	int err = hf_index_chunk(index, hart->id, number, &c);

	MUST(is_answer(err));
	if (err)
		return;
	MUST(c.entry_size <= HF_ENTRY_MAX && c.insns <= c.events && c.ordinal + c.insns <= hart->insns);
	MUST(c.last == (number + 1 == hart->chunks));
	if (!c.insns)
		return;
	err = hf_index_chunk_of(index, hart->id, c.ordinal, &c);
	MUST(is_answer(err));
}

static void look_at_index(void)
{
	const struct hf_index_hart *harts;
	struct hf_index_problem problem;
	struct hf_index *index;
	struct hf_diag diag;
	uint64_t at = 0;
	size_t n;
	int err = hf_index_open(&t.at, &t.identity, &index);

	MUST(err == 0 || err == HF_ERR_NOT_FOUND);
	if (err)
		return;
	n = hf_index_harts(index, &harts);
	for (size_t i = 0; i < n && i < LOOKS; i++)
		for (uint64_t c = 0; c < harts[i].chunks && c < LOOKS; c++)
			look_at_chunk(index, &harts[i], c);
	for (size_t i = 0; hf_index_problem_at(index, i, &problem) == 0; i++)
		MUST(problem.diag.code <= 0 && hf_err_name(problem.diag.code));
	MUST(hf_index_damage(index, &diag) <= 0);
	for (unsigned i = 0; i < LOOKS && at < hf_index_stream_size(index); i++) {
		uint8_t window[HF_WINDOW_MAX];
		struct hf_point point;

		err = hf_index_point_of(index, at, &point);
		MUST(is_answer(err));
		if (err)
			break;
		MUST(point.out_size && point.out_size <= HF_BLOCK_MAX && point.window_size <= HF_WINDOW_MAX);
		MUST(is_answer(hf_index_window(index, &point, window)));
		at = point.out_offset + point.out_size;
	}
	hf_index_close(index);
}

static void look_at_view(void)
{
	struct hf_view_table *table;
	int err = hf_view_table_open(&t.at, &t.identity, &t.keys[0], &table);

	MUST(err == 0 || err == HF_ERR_NOT_FOUND);
	if (err)
		return;
	for (uint32_t hart = 0; hart < 2; hart++) {
		uint64_t size = hf_view_table_size(table, hart);
		struct hf_view_chunk c;

		for (uint64_t i = 0; i < LOOKS; i++) {
			err = hf_view_table_chunk(table, hart, i, &c);
			MUST(is_answer(err));
			MUST(err || (c.entry_size <= HF_ENTRY_MAX && c.offset + c.size <= size));
			MUST(err || c.chunks == 1 || (c.chunks && c.checked == c.size));
			MUST(is_answer(hf_view_table_chunk_of(table, hart, size / LOOKS * i, &c)));
		}
	}
	hf_view_table_close(table);
}

/* Whatever there is in it, what is built is right. */
static void look_at_pack(unsigned mode, const uint8_t *bytes, size_t n)
{
	db_fuzz_store(t.dirfd, "00000000000000010000000000000000.hfp", &valid_pack, mode, bytes, n);
	t.at.into = HF_INTO_PACKS;
	MUST(hf_packs_new(t.dirfd, NULL, &t.at.packs) == 0);
	look_at_index();
	look_at_view();
	MUST(hf_build_run(&t.build, NULL) == 0);
	MUST(hf_packs_flush(t.at.packs) == 0);
	hf_packs_free(t.at.packs);
	t.at = (struct hf_store_dir){.fd = t.dirfd};
}

/* A build takes what it can use of a private file and ends well. */
static void look_at_part(unsigned mode, const uint8_t *bytes, size_t n)
{
	char part[HF_FILE_NAME_SIZE + 8];

	snprintf(part, sizeof part, ".%s.part", names[mode & VIEW]);
	if (mode & VIEW) /* nothing else is to be made */
		db_fuzz_store(t.dirfd, names[0], &valid[0], DB_FUZZ_CHANGES, NULL, 0);
	t.build.view_count = 1;
	db_fuzz_store(t.dirfd, part, &valid[mode & VIEW], mode, bytes, n);
	MUST(hf_build_run(&t.build, NULL) == 0);
	hf_ixtest_clear(&t);
}

static void count(void *ctx, const char *name, const char *what)
{
	MUST(*name && *what);
	++*(unsigned *)ctx;
}

/* The other file is valid. */
static void compare(unsigned mode)
{
	const unsigned other = !(mode & VIEW);
	unsigned found = 0;
	int err;

	db_fuzz_store(t.dirfd, names[other], &valid[other], DB_FUZZ_CHANGES, NULL, 0);
	t.build.view_count = 1;
	err = hf_index_compare(&t.build, count, &found, NULL);
	MUST(err == 0 || err == HF_ERR_STATE);
	found = 0;
	MUST(err || hf_index_compare(&t.build, count, &found, NULL) == 0);
	MUST(!found);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool ready;
	unsigned mode;

	if (!ready)
		set_up();
	ready = true;
	hf_ixtest_clear(&t);
	if (!size)
		return 0;
	mode = data[0];
	if (mode & PACK) {
		look_at_pack(mode, data + 1, size - 1);
	} else if (mode & PART) {
		look_at_part(mode, data + 1, size - 1);
	} else {
		db_fuzz_store(t.dirfd, names[mode & VIEW], &valid[mode & VIEW], mode, data + 1, size - 1);
		look_at_index();
		look_at_view();
		if (mode & COMPARED)
			compare(mode);
	}
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A catalogue as hostile input. The first byte says what the rest is: bit 1 changes to a valid file (each: page, offset
 * in it, count, bytes) instead of a whole file; bit 2 page checksums are put right, so that what lies behind them is
 * reached; bit 3 the text of the harts of a row instead.
 * What is found may be wrong, but not nonsense, and the next flush leaves a whole catalogue.
 */
#include "index/catalogue/catalogue.h"
#include "index/store/file.h"
#include "index/table/vfs.h"
#include "tests/lib/check.h"
#include "tests/lib/dbfuzz.h"
#include "tests/lib/indextest.h"
#include "tests/registry/toy.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

enum { HARTS = 8 }; /* besides DB_FUZZ_CHANGES and DB_FUZZ_SEALED */
enum { ENTRIES = 40 };

static struct hf_ixtest t;
static char name[256];
static struct hf_walk_bytes valid;

static struct hf_catalogue *open_cat(void)
{
	struct hf_catalogue_key key = {.path = "/srv/traces", .ino = 7, .views = t.keys, .view_count = 3};
	struct hf_catalogue *cat;

	CHECK_EQ(hf_catalogue_open(t.dirfd, &key, &cat), 0);
	return cat;
}

static void put(struct hf_catalogue *cat, unsigned i)
{
	struct hf_index_hart hart[2] = {{.id = i, .insns = 5, .events = 6, .chunks = 1}, {.id = i + 1, .chunks = 1}};
	uint64_t sizes[6] = {10, HF_NOWHERE, 1000000, i, 0, HF_NOWHERE};
	struct hf_catalogue_entry entry = {
		.stamp = {i, i, i, i}, .kind = HF_CATALOGUE_NOT_CAPTURE + i % 3, .known.original = -1};
	char path[32];

	snprintf(path, sizeof path, "capture%u.toy", i);
	entry.codec = t.codec;
	entry.known.codec = t.codec;
	entry.known.stream_size = 1000 + i;
	entry.hart = hart;
	entry.size = sizes;
	entry.hart_count = 2;
	CHECK_EQ(hf_catalogue_put(cat, path, &entry), 0);
}

static void look(struct hf_catalogue *cat, unsigned i)
{
	struct hf_catalogue_stamp stamp = {i, i, i, i};
	struct hf_catalogue_entry e;
	char path[32];
	int err;

	snprintf(path, sizeof path, "capture%u.toy", i);
	err = hf_catalogue_find(cat, path, &stamp, &e);
	MUST(err == 0 || err == HF_ERR_NOT_FOUND);
	if (err)
		return;
	MUST(e.kind >= HF_CATALOGUE_NOT_CAPTURE && e.kind <= HF_CATALOGUE_INDEXED);
	MUST(e.kind == HF_CATALOGUE_NOT_CAPTURE || e.codec);
	MUST(e.known.original >= -1 && e.known.original < 3);
	MUST(e.known.arch < HF_ARCH_COUNT && e.known.isa < HF_ISA_COUNT && e.known.undecoded.code <= 0);
	MUST(e.kind != HF_CATALOGUE_INDEXED || !e.known.codec == (e.known.stream_size == HF_NOWHERE));
	for (size_t k = 0; k < e.hart_count; k++)
		MUST((!k || e.hart[k].id > e.hart[k - 1].id) &&
		     (e.size[k * 3] == HF_NOWHERE || e.size[k * 3] >> 63 == 0));
	hf_catalogue_clear(&e);
}

static void clean_up(void)
{
	hf_bytes_free(&valid);
	hf_ixtest_fini(&t);
}

static void set_up(void)
{
	struct hf_catalogue *cat;
	struct dirent *entry;
	DIR *dir;

	hf_ixtest_init(&t);
	atexit(clean_up);
	cat = open_cat();
	for (unsigned i = 0; i < ENTRIES; i++)
		put(cat, i);
	CHECK_EQ(hf_catalogue_flush(cat), 0);
	hf_catalogue_close(cat);
	dir = opendir(t.dir);
	CHECK(dir);
	while ((entry = readdir(dir)))
		if (strstr(entry->d_name, ".hfc"))
			snprintf(name, sizeof name, "%s", entry->d_name);
	closedir(dir);
	valid = hf_bytes_load(t.dir, name);
}

/* All rows get that text. */
static void set_harts(const uint8_t *data, size_t size)
{
	sqlite3_stmt *stmt;
	sqlite3 *db;
	int fd;

	db_fuzz_store(t.dirfd, name, &valid, DB_FUZZ_CHANGES, NULL, 0);
	fd = openat(t.dirfd, name, O_RDWR | O_CLOEXEC);
	CHECK(fd >= 0);
	CHECK_EQ(hf_db_open_part(fd, t.dirfd, name, HF_DB_CATALOGUE, &db), 0);
	CHECK_EQ(hf_db_prepare(db, "UPDATE file SET harts = ?", &stmt), 0);
	sqlite3_bind_text(stmt, 1, (const char *)data, size < 4000 ? (int)size : 4000, SQLITE_STATIC);
	CHECK_EQ(hf_db_exec(stmt), 0);
	sqlite3_finalize(stmt);
	CHECK_EQ(hf_db_finish(db), 0);
	hf_db_close(db);
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool ready;
	struct hf_catalogue *cat;
	int fd;

	if (!ready)
		set_up();
	ready = true;
	if (!size)
		return 0;
	hf_ixtest_clear(&t);
	if (data[0] & HARTS)
		set_harts(data + 1, size - 1);
	else
		db_fuzz_store(t.dirfd, name, &valid, data[0], data + 1, size - 1);
	cat = open_cat();
	for (unsigned i = 0; i < ENTRIES; i++)
		look(cat, i);
	put(cat, 1);
	MUST(hf_catalogue_flush(cat) == 0);
	for (unsigned i = 0; i < ENTRIES; i++)
		look(cat, i);
	hf_catalogue_close(cat);
	fd = openat(t.dirfd, name, O_RDONLY | O_CLOEXEC);
	MUST(hf_vfs_verify(fd) == 0);
	close(fd);
	return 0;
}

/*
 * A catalogue as hostile input. The first byte says what the rest is: bit 1 changes to a valid file (each: page, offset
 * in it, count, bytes) instead of a whole file; bit 2 page checksums are put right, so that what lies behind them is
 * reached; bit 3 the text of the harts of a row instead.
 * What is found may be wrong, but not nonsense, and the next flush leaves a whole catalogue.
 */
#include "index/catalogue.h"
#include "index/file.h"
#include "tests/lib/check.h"
#include "tests/lib/indextest.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

enum { CHANGES = 2, SEALED = 4, HARTS = 8 };
enum { ENTRIES = 40 };

#define FILE_MAX ((size_t)1 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct hf_ixtest t;
static char name[256];
static struct hf_bytes valid;

static void must(bool ok)
{
	if (!ok)
		abort();
}

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
	struct hf_catalogue_entry entry = {.stamp = {i, i, i, i}, .kind = HF_CATALOGUE_PLAIN + i % 3, .original = -1};
	char path[32];

	snprintf(path, sizeof path, "capture%u.toy", i);
	entry.codec = t.codec;
	entry.stream = t.codec;
	entry.stream_size = 1000 + i;
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
	must(err == 0 || err == HF_ERR_NOT_FOUND);
	if (err)
		return;
	must(e.kind >= HF_CATALOGUE_PLAIN && e.kind <= HF_CATALOGUE_INDEXED);
	must(e.kind == HF_CATALOGUE_PLAIN || e.codec);
	must(e.original >= -1 && e.original < 3);
	must(e.arch < HF_ARCH_COUNT && e.isa < HF_ISA_COUNT && e.unopened.code <= 0);
	must(e.kind != HF_CATALOGUE_INDEXED || !e.stream == (e.stream_size == HF_NOWHERE));
	for (size_t k = 0; k < e.hart_count; k++)
		must((!k || e.hart[k].id > e.hart[k - 1].id) &&
		     (e.size[k * 3] == HF_NOWHERE || e.size[k * 3] >> 63 == 0));
	hf_catalogue_clear(&e);
}

static void store(const struct hf_bytes *bytes)
{
	int fd = openat(t.dirfd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	CHECK(fd >= 0);
	CHECK(write(fd, bytes->p, bytes->n) == (ssize_t)bytes->n);
	close(fd);
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

static struct hf_bytes make_file(unsigned mode, const uint8_t *data, size_t size)
{
	struct hf_bytes file = {0};

	if (!(mode & CHANGES)) {
		hf_bytes_add(&file, data, size < FILE_MAX ? size : FILE_MAX);
	} else {
		hf_bytes_add(&file, valid.p, valid.n);
		while (size >= 4) {
			size_t at = (size_t)data[0] * HF_PAGE_SIZE + (size_t)(data[1] | data[2] << 8);
			size_t n = data[3] < size - 4 ? data[3] : size - 4;

			if (at < file.n && n <= file.n - at)
				memcpy(file.p + at, data + 4, n);
			data += 4 + n;
			size -= 4 + n;
		}
	}
	for (size_t at = 0; mode & SEALED && at + HF_PAGE_SIZE <= file.n; at += HF_PAGE_SIZE)
		hf_vfs_seal(file.p + at, at);
	return file;
}

/* All rows get that text. */
static void set_harts(const uint8_t *data, size_t size)
{
	sqlite3_stmt *stmt;
	sqlite3 *db;
	int fd;

	store(&valid);
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
	struct hf_bytes file;
	enum hf_db_look what;
	int fd;

	if (!ready)
		set_up();
	ready = true;
	if (!size)
		return 0;
	hf_ixtest_clear(&t);
	if (data[0] & HARTS) {
		set_harts(data + 1, size - 1);
	} else {
		file = make_file(data[0], data + 1, size - 1);
		store(&file);
		hf_bytes_free(&file);
	}
	fd = openat(t.dirfd, name, O_RDONLY | O_CLOEXEC);
	what = hf_db_look(fd, HF_DB_CATALOGUE);
	close(fd);
	cat = open_cat();
	for (unsigned i = 0; i < ENTRIES; i++)
		look(cat, i);
	put(cat, 1);
	must(hf_catalogue_flush(cat) == (what == HF_LOOK_FOREIGN ? HF_ERR_IO : 0));
	for (unsigned i = 0; i < ENTRIES; i++)
		look(cat, i);
	hf_catalogue_close(cat);
	fd = openat(t.dirfd, name, O_RDONLY | O_CLOEXEC);
	must(what == HF_LOOK_FOREIGN || hf_vfs_verify(fd) == 0);
	close(fd);
	return 0;
}

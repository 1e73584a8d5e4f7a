/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Forged index files: each number, text and blob of each table in turn is another one, the page checksums are right, and
 * verifying finds it, whatever it stands for. Afterwards every row is as it was.
 */
#include "index/table/db.h"
#include "index/table/vfs.h"
#include "tests/lib/fstest.h"
#include "tests/lib/pack.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILES_MAX = 16, NAME_MAX_HERE = 256 };

static struct hf_fst t;
static struct {
	char name[NAME_MAX_HERE];
	struct hf_walk_bytes bytes;
} files[FILES_MAX];
static size_t file_count;
static unsigned tried;

/* ---- the index directory ---- */

static void in_index(const char *name, char path[400])
{
	snprintf(path, 400, "%s/%s", t.index, name);
}

static struct hf_walk_bytes load(const char *name)
{
	struct hf_walk_bytes bytes = {0};
	char path[400];
	uint8_t buf[8192];
	ssize_t n;
	int fd;

	in_index(name, path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	CHECK(fd >= 0);
	while ((n = read(fd, buf, sizeof buf)) > 0)
		hf_bytes_add(&bytes, buf, (size_t)n);
	close(fd);
	return bytes;
}

static void store(const char *name, const struct hf_walk_bytes *bytes)
{
	char path[400];
	int fd;

	in_index(name, path);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	CHECK(fd >= 0);
	CHECK_EQ(write(fd, bytes->p, bytes->n), (ssize_t)bytes->n);
	close(fd);
}

static void remember_files(void)
{
	struct dirent *entry;
	DIR *dir = opendir(t.index);

	while ((entry = readdir(dir)))
		if (*entry->d_name != '.' && (strstr(entry->d_name, ".hfi") || strstr(entry->d_name, ".hfv"))) {
			CHECK(file_count < FILES_MAX);
			snprintf(files[file_count].name, NAME_MAX_HERE, "%s", entry->d_name);
			files[file_count].bytes = load(entry->d_name);
			file_count++;
		}
	closedir(dir);
}

static void restore_files(void)
{
	for (size_t i = 0; i < file_count; i++)
		store(files[i].name, &files[i].bytes);
}

/* ---- forging ---- */

static void seal(const char *name)
{
	struct hf_walk_bytes bytes = load(name);

	for (size_t at = 0; at + HF_PAGE_SIZE <= bytes.n; at += HF_PAGE_SIZE)
		hf_vfs_seal(bytes.p + at, at);
	store(name, &bytes);
	hf_bytes_free(&bytes);
}

/* Runs statements on a file as anybody could, and seals it. Whether they changed a row. */
static bool forge(const char *name, const char *sql)
{
	char path[400];
	sqlite3 *db;
	bool changed;

	in_index(name, path);
	CHECK_EQ(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
	CHECK_EQ(sqlite3_exec(db, "PRAGMA journal_mode = MEMORY; PRAGMA ignore_check_constraints = ON", NULL, NULL, NULL),
		 SQLITE_OK);
	/* One that the table does not take is none. */
	changed = sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK && sqlite3_changes(db) > 0;
	sqlite3_close(db);
	if (changed)
		seal(name);
	return changed;
}

/* As many as are found by hf_fs_examine, hf_fs_index, hf_fs_verify or hf_fs_compare, as hartfs verify calls them. */
static void count(void *ctx, const char *name, const char *what)
{
	(void)name;
	(void)what;
	(*(unsigned *)ctx)++;
}

static bool verify_finds(unsigned *ret_compared)
{
	uint64_t chunks = 0, bad = 0;
	struct hf_diag diag;
	unsigned examined = 0;
	int err;

	*ret_compared = 0;
	CHECK_EQ(hf_fs_examine(t.fs, "x.stf.gz", count, &examined, &diag), 0);
	if (examined)
		return true;
	err = hf_fs_index(t.fs, "x.stf.gz", NULL, NULL, &diag);
	if (!err)
		CHECK_EQ(hf_fs_verify(t.fs, "x.stf.gz", &chunks, &bad, &diag), 0);
	if (bad)
		return true;
	CHECK_EQ(hf_fs_compare(t.fs, "x.stf.gz", count, ret_compared, &diag), 0);
	return *ret_compared;
}

static void open_fs(void)
{
	struct hf_fs_options options = {.chunk_insns = 40, .threads = 1, .index_threads = 1, .no_index = true};

	hf_fst_open(&t, &options);
}

static void check_well(void)
{
	struct hf_diag diag;
	unsigned compared;

	open_fs();
	CHECK_EQ(hf_fs_index(t.fs, "x.stf.gz", NULL, NULL, &diag), 0);
	CHECK(!verify_finds(&compared));
	hf_fst_close(&t);
}

static void try_sql(const char *name, const char *sql)
{
	struct hf_walk_bytes forged, left;
	unsigned compared;
	bool found;

	if (!forge(name, sql))
		return;
	tried++;
	forged = load(name);
	open_fs();
	found = verify_finds(&compared);
	hf_fst_close(&t);
	/* What cannot be opened like this was made again before. */
	left = found ? (struct hf_walk_bytes){0} : load(name);
	found = left.n != forged.n || memcmp(left.p, forged.p, left.n) != 0;
	hf_bytes_free(&left);
	hf_bytes_free(&forged);
	if (!found)
		fprintf(stderr, "not found: %s: %s\n", name, sql);
	CHECK(found);
	if (tried % 16 == 0)
		check_well();
	restore_files();
}

/* A number one higher or with all bits turned over, a text or blob with one more byte or none. */
static void try_column(const char *name, const char *table, const char *column)
{
	static const char *const values[] = {
		"WHEN 'integer' THEN v + 1 WHEN 'text' THEN v || 'x' WHEN 'null' THEN 1 ELSE CAST(v || x'07' AS BLOB)",
		"WHEN 'integer' THEN ~v WHEN 'text' THEN '' WHEN 'null' THEN 0 ELSE x''",
	};
	static const char *const rows[] = {"min", "max"};
	char sql[8000];

	for (size_t r = 0; r < 2; r++)
		for (size_t v = 0; v < 2; v++) {
			snprintf(sql, sizeof sql,
				 "WITH row(v) AS (SELECT %1$s FROM %2$s WHERE rowid = (SELECT %3$s(rowid) FROM %2$s)),"
				 " lie(v) AS (SELECT CASE typeof(v) %4$s END FROM row)"
				 "UPDATE OR IGNORE %2$s SET %1$s = (SELECT v FROM lie)"
				 " WHERE rowid = (SELECT %3$s(rowid) FROM %2$s) AND %1$s IS NOT (SELECT v FROM lie)",
				 column, table, rows[r], values[v]);
			try_sql(name, sql);
		}
}

static void try_table(const char *name, const char *table)
{
	char path[400], sql[200], columns[32][40];
	sqlite3_stmt *stmt;
	sqlite3 *db;
	size_t n = 0;

	in_index(name, path);
	CHECK_EQ(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	snprintf(sql, sizeof sql, "SELECT name FROM pragma_table_info('%s')", table);
	CHECK_EQ(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK);
	while (sqlite3_step(stmt) == SQLITE_ROW && n < 32)
		snprintf(columns[n++], sizeof columns[0], "%s", (const char *)sqlite3_column_text(stmt, 0));
	sqlite3_finalize(stmt);
	sqlite3_close(db);
	CHECK(n > 0);
	/* Other limits may cut the same chunks, and decide nothing that is shown. */
	for (size_t i = 0; i < n; i++)
		if (!strstr(columns[i], "_limit"))
			try_column(name, table, columns[i]);
	snprintf(sql, sizeof sql, "DELETE FROM %s WHERE rowid = (SELECT max(rowid) FROM %s)", table, table);
	try_sql(name, sql);
}

/* All at once that stands for a program, a problem or a count, as somebody would who wants to be believed. */
static void try_whole_lies(const char *name)
{
	try_sql(name, "UPDATE problem SET offset = offset + 1");
	try_sql(name, "DELETE FROM problem; UPDATE meta SET problems = 0");
	try_sql(name, "UPDATE hart SET attempts = attempts + 1; UPDATE chunk SET attempts = attempts + 1 WHERE id = 0");
	try_sql(name, "DELETE FROM chunk; DELETE FROM hart; DELETE FROM image; DELETE FROM point; DELETE FROM window;"
		      "DELETE FROM problem; INSERT INTO problem VALUES (1, NULL, 0, NULL, 1, -1000, 0, 0, 0, 0, 0);"
		      "UPDATE meta SET codec = NULL, codec_version = 0, stream_size = 0, problems = 1, holes = 0,"
		      " damage_code = 0, damage_space = 0, damage_offset = -1, damage_detail = 0");
}

int main(void)
{
	static const char *const index_tables[] = {"meta", "hart", "chunk", "point", "window", "image", "problem"};
	static const char *const view_tables[] = {"meta", "hart", "chunk"};
	struct hf_walk_bytes stf = hf_fst_stf(3000, 5, true), packed = {0};

	hf_fst_begin_quick(&t);
	/* Cut short: there are problems. */
	hf_pack_gzip(&packed, stf.p, stf.n - 3, -1, 0);
	hf_fst_write(&t, "x.stf.gz", packed.p, packed.n);
	check_well();
	remember_files();
	CHECK(file_count > 3);
	for (size_t i = 0; i < file_count; i++) {
		const bool view = strstr(files[i].name, ".hfv");

		for (size_t k = 0; k < (view ? 3 : 7); k++)
			try_table(files[i].name, view ? view_tables[k] : index_tables[k]);
		if (!view)
			try_whole_lies(files[i].name);
		hf_bytes_free(&files[i].bytes);
		files[i].bytes = load(files[i].name);
	}
	fprintf(stderr, "%u forgeries\n", tried);
	CHECK(tried > 100);
	for (size_t i = 0; i < file_count; i++)
		hf_bytes_free(&files[i].bytes);
	hf_fst_end(&t);
	hf_bytes_free(&packed);
	hf_bytes_free(&stf);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "index/table/db.h"

#include "codecs/base/bytes.h"
#include "codecs/base/errors.h"
#include "index/base/fault.h"
#include "index/table/vfs.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* Pages held for one published database: lookups touch one path of a B-tree, again and again. */
#define READ_CACHE_PAGES "32"

/* What a number beyond that says is damage. */
#define VERSION_MAX 1000

static const uint32_t application_ids[] = {
	[HF_DB_INDEX] = 0x48415254,	/* "HART" */
	[HF_DB_VIEW] = 0x48415256,	/* "HARV" */
	[HF_DB_SUMMARY] = 0x48415253,	/* "HARS" */
	[HF_DB_CATALOGUE] = 0x48415243, /* "HARC" */
	[HF_DB_PACK] = 0x48415250,	/* "HARP" */
};

static const char *const *schema_of(enum hf_db_kind kind)
{
	static const char *const *const schemas[] = {
		[HF_DB_INDEX] = hf_schema_index,     [HF_DB_VIEW] = hf_schema_view,
		[HF_DB_SUMMARY] = hf_schema_summary, [HF_DB_CATALOGUE] = hf_schema_catalogue,
		[HF_DB_PACK] = hf_schema_pack,
	};

	return schemas[kind];
}

static uint32_t big32(const uint8_t *p)
{
	return __builtin_bswap32(hf_get32(p));
}

enum { HEAD_SIZE = 100 };

/* Bytes of the head that are there; negative: it cannot be read. A read may give fewer than there are. */
static ssize_t read_head(int fd, uint8_t head[HEAD_SIZE])
{
	ssize_t n = 0;

	while (n < HEAD_SIZE) {
		ssize_t got = pread(fd, head + n, HEAD_SIZE - (size_t)n, n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return got;
		if (got == 0)
			break;
		n += got;
	}
	return n;
}

/* The database header: sqlite.org/fileformat2.html, 1.3. */
enum hf_db_look hf_db_look(int fd, enum hf_db_kind kind)
{
	uint8_t head[HEAD_SIZE];
	struct stat st;
	ssize_t n = read_head(fd, head);

	if (n < 0 || fstat(fd, &st) < 0) {
		hf_fault_set_fd("reading", fd, errno);
		return HF_LOOK_UNREADABLE;
	}
	if (n == 0)
		return HF_LOOK_EMPTY;
	if (n != HEAD_SIZE || memcmp(head, "SQLite format 3", 16) != 0)
		return HF_LOOK_FOREIGN;
	if (big32(head + 68) != application_ids[kind])
		return HF_LOOK_FOREIGN;
	if (big32(head + 60) != HF_SCHEMA_VERSION || head[16] != HF_PAGE_SIZE >> 8 || head[17] != 0 || head[18] != 1 ||
	    head[19] != 1 || head[20] != HF_PAGE_SUM)
		return HF_LOOK_OLD;
	if ((uint64_t)st.st_size != (uint64_t)big32(head + 28) * HF_PAGE_SIZE)
		return HF_LOOK_OLD;
	return HF_LOOK_OURS;
}

uint64_t hf_db_memory(sqlite3 *db)
{
	static const int kinds[] = {SQLITE_DBSTATUS_CACHE_USED, SQLITE_DBSTATUS_SCHEMA_USED, SQLITE_DBSTATUS_STMT_USED};
	uint64_t bytes = 0;

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		int now = 0, most;

		sqlite3_db_status(db, kinds[i], &now, &most, 0);
		bytes += (uint64_t)now;
	}
	return bytes;
}

bool hf_db_is_newer(int fd)
{
	uint8_t head[HEAD_SIZE];

	if (read_head(fd, head) != HEAD_SIZE || memcmp(head, "SQLite format 3", 16) != 0)
		return false;
	for (size_t i = 0; i < sizeof application_ids / sizeof application_ids[0]; i++)
		if (big32(head + 68) == application_ids[i])
			return big32(head + 60) > HF_SCHEMA_VERSION && big32(head + 60) <= VERSION_MAX;
	return false;
}

int hf_db_run(sqlite3 *db, const char *sql)
{
	int rc = sqlite3_exec(db, sql, NULL, NULL, NULL);

	return rc == SQLITE_OK ? 0 : hf_vfs_err(rc);
}

int hf_db_prepare(sqlite3 *db, const char *sql, sqlite3_stmt **ret_stmt)
{
	int rc = sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, ret_stmt, NULL);

	return rc == SQLITE_OK ? 0 : hf_vfs_err(rc);
}

int hf_db_step(sqlite3_stmt *stmt)
{
	int rc = sqlite3_step(stmt);

	return rc == SQLITE_ROW ? 0 : rc == SQLITE_DONE ? HF_NOTE_END : hf_vfs_err(rc);
}

int hf_db_exec(sqlite3_stmt *stmt)
{
	int err = hf_db_step(stmt);

	sqlite3_reset(stmt);
	return err < 0 ? err : 0;
}

void hf_db_bind(sqlite3_stmt *stmt, size_t n, const uint64_t *values)
{
	for (size_t i = 0; i < n; i++)
		sqlite3_bind_int64(stmt, (int)i + 1, (sqlite3_int64)values[i]);
}

int hf_db_number(sqlite3 *db, const char *sql, uint64_t *ret_value)
{
	sqlite3_stmt *stmt;
	int err = hf_db_prepare(db, sql, &stmt);

	if (err)
		return err;
	err = hf_db_step(stmt);
	if (!err && sqlite3_column_type(stmt, 0) == SQLITE_NULL)
		err = HF_NOTE_END;
	if (!err)
		err = hf_col_u64(stmt, 0, UINT64_MAX, ret_value);
	sqlite3_finalize(stmt);
	return err;
}

int hf_col_u64(sqlite3_stmt *stmt, int i, uint64_t max, uint64_t *ret_value)
{
	if (sqlite3_column_type(stmt, i) != SQLITE_INTEGER)
		return HF_ERR_STATE;
	*ret_value = (uint64_t)sqlite3_column_int64(stmt, i);
	return *ret_value <= max ? 0 : HF_ERR_STATE;
}

int hf_col_blob(sqlite3_stmt *stmt, int i, void *buf, size_t cap, uint32_t *ret_size)
{
	const void *bytes;
	size_t n;

	if (sqlite3_column_type(stmt, i) != SQLITE_BLOB)
		return HF_ERR_STATE;
	bytes = sqlite3_column_blob(stmt, i);
	n = (size_t)sqlite3_column_bytes(stmt, i);
	if (n > cap)
		return HF_ERR_STATE;
	if (n && !bytes)
		return HF_ERR_NOMEM;
	if (n)
		memcpy(buf, bytes, n);
	*ret_size = (uint32_t)n;
	return 0;
}

int hf_col_text(sqlite3_stmt *stmt, int i, char *buf, size_t cap)
{
	const unsigned char *text;
	size_t n;

	buf[0] = 0;
	if (sqlite3_column_type(stmt, i) == SQLITE_NULL)
		return 0;
	if (sqlite3_column_type(stmt, i) != SQLITE_TEXT)
		return HF_ERR_STATE;
	text = sqlite3_column_text(stmt, i);
	n = (size_t)sqlite3_column_bytes(stmt, i);
	if (!text)
		return HF_ERR_NOMEM;
	if (n >= cap || memchr(text, 0, n))
		return HF_ERR_STATE;
	memcpy(buf, text, n);
	buf[n] = 0;
	return 0;
}

/* Whether the tables are ours to the letter: nothing else in the file can then run when it is queried. */
static int check_schema(sqlite3 *db, enum hf_db_kind kind)
{
	const char *const *want = schema_of(kind);
	sqlite3_stmt *stmt;
	int err = hf_db_prepare(db, "SELECT type, sql FROM sqlite_schema ORDER BY rowid", &stmt);

	if (err)
		return err;
	while (!(err = hf_db_step(stmt))) {
		const char *type = (const char *)sqlite3_column_text(stmt, 0);
		const char *sql = (const char *)sqlite3_column_text(stmt, 1);

		if (!*want && kind == HF_DB_VIEW)
			want = hf_schema_times;
		if (!type || !sql || !*want || strcmp(type, "table") != 0 || strcmp(sql, *want) != 0) {
			err = HF_ERR_STATE;
			break;
		}
		want++;
	}
	sqlite3_finalize(stmt);
	if (err < 0)
		return err;
	return *want ? HF_ERR_STATE : 0;
}

static void harden(sqlite3 *db)
{
	sqlite3_db_config(db, SQLITE_DBCONFIG_LOOKASIDE, NULL, 0, 0);
	sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
	sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 1 << 20);
	sqlite3_extended_result_codes(db, 1);
}

static int open_vfs(const char *uri, int flags, sqlite3 **ret_db)
{
	int err = hf_vfs_register(), rc;

	*ret_db = NULL;
	if (err)
		return err;
	rc = sqlite3_open_v2(uri, ret_db, flags | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE,
			     HF_VFS_NAME);
	if (rc != SQLITE_OK) {
		hf_db_close(*ret_db);
		*ret_db = NULL;
		return hf_vfs_err(rc);
	}
	harden(*ret_db);
	return 0;
}

int hf_db_open(int fd, enum hf_db_kind kind, sqlite3 **ret_db)
{
	char path[HF_VFS_PATH_SIZE], uri[HF_VFS_PATH_SIZE + 32];
	int err;

	*ret_db = NULL;
	switch (hf_db_look(fd, kind)) {
	case HF_LOOK_OURS:
		break;
	case HF_LOOK_UNREADABLE:
		return HF_ERR_INDEX_DIR;
	default:
		return HF_ERR_STATE;
	}
	hf_vfs_path(path, fd, -1, "none");
	snprintf(uri, sizeof uri, "file:%s?immutable=1&mode=ro", path);
	err = open_vfs(uri, SQLITE_OPEN_READONLY, ret_db);
	if (!err)
		err = hf_db_run(*ret_db, "PRAGMA cell_size_check = 1; PRAGMA cache_size = " READ_CACHE_PAGES);
	if (!err)
		err = check_schema(*ret_db, kind);
	if (err) {
		hf_db_close(*ret_db);
		*ret_db = NULL;
	}
	return err;
}

int hf_db_has_times(sqlite3 *db, bool *ret_has)
{
	sqlite3_stmt *stmt = NULL;
	int err = hf_db_prepare(db, "SELECT 1 FROM sqlite_schema WHERE name = 'time'", &stmt);

	if (!err)
		err = hf_db_step(stmt);
	*ret_has = !err;
	sqlite3_finalize(stmt);
	return err < 0 ? err : 0;
}

int hf_db_add_times(sqlite3 *db)
{
	int err = 0;

	for (const char *const *sql = hf_schema_times; !err && *sql; sql++)
		err = hf_db_run(db, *sql);
	return err;
}

static int make_tables(sqlite3 *db, enum hf_db_kind kind)
{
	char ids[96];
	int err = 0;

	snprintf(ids, sizeof ids, "PRAGMA application_id = %u; PRAGMA user_version = %d", application_ids[kind],
		 HF_SCHEMA_VERSION);
	err = hf_db_run(db, ids);
	for (const char *const *sql = schema_of(kind); !err && *sql; sql++)
		err = hf_db_run(db, *sql);
	return err;
}

/*
 * Until the first commit the file is empty, so that there is nothing to keep safe and no journal is needed (OFF is not
 * to be had with SQLITE_DBCONFIG_DEFENSIVE); a kill in the middle of that commit leaves a file shorter than its first
 * page says. cache_spill: nothing is written between commits, which come often enough.
 */
static int set_up(sqlite3 *db, bool fresh)
{
	int reserve = HF_PAGE_SUM;

	if (fresh && sqlite3_file_control(db, "main", SQLITE_FCNTL_RESERVE_BYTES, &reserve) != SQLITE_OK)
		return HF_ERR_BUG;
	return hf_db_run(db, fresh ? "PRAGMA page_size = 8192; PRAGMA locking_mode = EXCLUSIVE;"
				     "PRAGMA temp_store = MEMORY; PRAGMA cache_spill = OFF;"
				     "PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; BEGIN"
				   : "PRAGMA locking_mode = EXCLUSIVE; PRAGMA cell_size_check = 1;"
				     "PRAGMA temp_store = MEMORY; PRAGMA cache_spill = OFF;"
				     "PRAGMA journal_mode = TRUNCATE; PRAGMA synchronous = NORMAL; BEGIN");
}

int hf_db_open_part(int fd, int dirfd, const char *name, enum hf_db_kind kind, sqlite3 **ret_db)
{
	enum hf_db_look look = hf_db_look(fd, kind);
	bool fresh = look == HF_LOOK_EMPTY;
	char path[HF_VFS_PATH_SIZE];
	int err;

	*ret_db = NULL;
	if (look == HF_LOOK_UNREADABLE)
		return HF_ERR_INDEX_DIR;
	if (!fresh && look != HF_LOOK_OURS && look != HF_LOOK_OLD)
		return HF_ERR_STATE;
	hf_vfs_path(path, fd, dirfd, name);
	err = open_vfs(path, SQLITE_OPEN_READWRITE, ret_db);
	if (!err)
		err = set_up(*ret_db, fresh);
	if (!err && fresh)
		err = make_tables(*ret_db, kind);
	/* An interrupted commit was rolled back when the transaction began: only now the file is what it should be. */
	if (!err && !fresh && hf_db_run(*ret_db, "SELECT 1 FROM sqlite_schema"))
		err = HF_ERR_STATE;
	if (!err && !fresh && hf_db_look(fd, kind) != HF_LOOK_OURS)
		err = HF_ERR_STATE;
	/* All of it will be published as ours. */
	if (!err && !fresh)
		err = hf_vfs_verify(fd);
	if (!err && !fresh)
		err = check_schema(*ret_db, kind);
	if (err) {
		hf_db_close(*ret_db);
		*ret_db = NULL;
	}
	return err;
}

int hf_db_commit(sqlite3 *db, int fd)
{
	uint64_t level = 0;
	int err = hf_db_run(db, "COMMIT");

	if (!err)
		err = hf_db_number(db, "PRAGMA synchronous", &level);
	/* From the first commit on there is something to lose. */
	if (!err && level == 0 && fd >= 0)
		err = fsync(fd) < 0 ? hf_fault_set_fd("writing", fd, errno)
				    : hf_db_run(db, "PRAGMA journal_mode = TRUNCATE; PRAGMA synchronous = NORMAL");
	return err ? err : hf_db_run(db, "BEGIN");
}

int hf_db_finish(sqlite3 *db)
{
	return hf_db_run(db, "COMMIT");
}

void hf_db_close(sqlite3 *db)
{
	sqlite3_close_v2(db);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "index/store/pack.h"

#include "codecs/base/array.h"
#include "index/base/fault.h"
#include "index/base/lock.h"
#include "index/store/memory_file.h"
#include "index/store/spool_format.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

bool hf_pack_key_of(const char *name, struct hf_pack_key *ret_key)
{
	const size_t n = strlen(name);
	char hex[17] = "";

	if (n < HF_HEX_SIZE + 3 || strspn(name, "0123456789abcdef") != HF_HEX_SIZE - 1 ||
	    (strcmp(name + n - 4, ".hfi") != 0 && strcmp(name + n - 4, ".hfv") != 0))
		return false;
	memcpy(hex, name, 16);
	ret_key->files[1] = strtoull(hex, NULL, 16);
	memcpy(hex, name + 16, 16);
	ret_key->files[0] = strtoull(hex, NULL, 16);
	ret_key->rest = XXH3_64bits(name + 32, n - 32);
	return true;
}

bool hf_pack_key_is_index(const struct hf_pack_key *key)
{
	return key->rest == XXH3_64bits(".hfi", 4);
}

static int compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_keys(const struct hf_pack_key *a, const struct hf_pack_key *b)
{
	int order = compare_numbers(a->files[1], b->files[1]);

	if (!order)
		order = compare_numbers(a->files[0], b->files[0]);
	return order ? order : compare_numbers(a->rest, b->rest);
}

/* ---- opening and closing ---- */

static int new_pack(int fd, struct hf_pack **ret_pack)
{
	struct hf_pack *pack = calloc(1, sizeof *pack);

	*ret_pack = pack;
	if (!pack) {
		if (fd >= 0)
			close(fd);
		return HF_ERR_NOMEM;
	}
	pack->fd = fd;
	pack->references = 1;
	pthread_mutex_init(&pack->lock, NULL);
	return 0;
}

static int checked(struct hf_pack **pack, int err)
{
	if (err) {
		hf_pack_close(*pack);
		*pack = NULL;
	}
	return err;
}

int hf_pack_new(uint64_t sequence, struct hf_pack **ret_pack)
{
	const int fd = hf_memory_file_new();
	int err = fd < 0 ? hf_fault_set("keeping in memory", NULL, errno) : 0;

	if (!err)
		err = new_pack(fd, ret_pack);
	if (err)
		return err;
	(*ret_pack)->sequence = sequence;
	(*ret_pack)->waits = true;
	hf_connection_share(&(*ret_pack)->connection);
	return checked(ret_pack, hf_db_open_part(fd, -1, "pack", HF_DB_PACK, &(*ret_pack)->connection.db));
}

int hf_pack_connect(struct hf_pack *pack)
{
	if (pack->connection.db)
		return 0;
	hf_connection_share(&pack->connection);
	return hf_db_open(pack->fd, HF_DB_PACK, &pack->connection.db);
}

/* A row of table part. */
static int read_entry(sqlite3_stmt *stmt, struct hf_pack *pack)
{
	struct hf_pack_key key;
	struct hf_pack_entry *entry;
	uint64_t part, bytes;
	int err;

	if ((err = hf_col_u64(stmt, 0, UINT32_MAX, &part)) || (err = hf_col_u64(stmt, 1, UINT64_MAX, &key.files[0])) ||
	    (err = hf_col_u64(stmt, 2, UINT64_MAX, &key.files[1])) ||
	    (err = hf_col_u64(stmt, 3, UINT64_MAX, &key.rest)) || (err = hf_col_u64(stmt, 4, HF_PACK_FILE_MAX, &bytes)))
		return err;
	entry = part && pack->count < HF_PACK_FILES_MAX ? hf_pack_add(pack, &key) : NULL;
	if (!entry || entry->part)
		return part && pack->count < HF_PACK_FILES_MAX && !entry ? HF_ERR_NOMEM : HF_ERR_STATE;
	entry->part = (uint32_t)part;
	entry->bytes = (uint32_t)bytes;
	return 0;
}

static int read_entries(struct hf_pack *pack)
{
	sqlite3_stmt *stmt = NULL;
	int err = hf_db_prepare(pack->connection.db, "SELECT * FROM part", &stmt);

	while (!err && !(err = hf_db_step(stmt)))
		err = read_entry(stmt, pack);
	sqlite3_finalize(stmt);
	return err < 0 ? err : 0;
}

int hf_pack_open(int fd, const char *name, struct hf_pack **ret_pack)
{
	char hex[17] = "";
	struct stat st;
	int err = new_pack(fd, ret_pack);

	if (err)
		return err;
	snprintf((*ret_pack)->name, sizeof(*ret_pack)->name, "%s", name);
	memcpy(hex, (*ret_pack)->name, 16);
	(*ret_pack)->sequence = strtoull(hex, NULL, 16);
	err = fstat(fd, &st) < 0 ? hf_fault_set_fd("reading", fd, errno) : hf_pack_connect(*ret_pack);
	(*ret_pack)->size = (uint64_t)st.st_size;
	if (!err)
		err = read_entries(*ret_pack);
	return checked(ret_pack, err);
}

bool hf_pack_is_old(int fd)
{
	uint8_t magic[8];

	return hf_spool_read_at(fd, 0, magic, sizeof magic) == 0 && memcmp(magic, "HARTPACK", sizeof magic) == 0;
}

struct hf_pack *hf_pack_ref(struct hf_pack *pack)
{
	atomic_fetch_add_explicit(&pack->references, 1, memory_order_relaxed);
	return pack;
}

void hf_pack_close(struct hf_pack *pack)
{
	if (!pack || atomic_fetch_sub_explicit(&pack->references, 1, memory_order_acq_rel) > 1)
		return;
	hf_connection_close(&pack->connection);
	close(pack->fd);
	pthread_mutex_destroy(&pack->lock);
	free(pack->entries);
	free(pack);
}

/* ---- files ---- */

/* How many entries have a smaller key. Packs are read in the order of their keys. */
static size_t place_of(const struct hf_pack *pack, const struct hf_pack_key *key)
{
	size_t low = 0, high = pack->count;

	if (high && compare_keys(&pack->entries[high - 1].key, key) < 0)
		return high;
	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (compare_keys(&pack->entries[middle].key, key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct hf_pack_entry *hf_pack_find(const struct hf_pack *pack, const struct hf_pack_key *key)
{
	const size_t at = place_of(pack, key);

	return at < pack->count && !compare_keys(&pack->entries[at].key, key) ? &pack->entries[at] : NULL;
}

struct hf_pack_entry *hf_pack_add(struct hf_pack *pack, const struct hf_pack_key *key)
{
	struct hf_pack_entry *entry = hf_pack_find(pack, key);
	const size_t at = place_of(pack, key);

	if (entry || hf_array_room(&pack->entries, pack->count, sizeof *pack->entries))
		return entry;
	entry = &pack->entries[at];
	memmove(entry + 1, entry, (pack->count++ - at) * sizeof *entry);
	*entry = (struct hf_pack_entry){.key = *key};
	return entry;
}

/* ---- rows ---- */

/* The name of a table with rows of parts. */
static void table_name(size_t i, char name[32])
{
	sscanf(hf_schema_pack[1 + i], "CREATE TABLE %31[a-z_]", name);
}

int hf_pack_drop(struct hf_pack *pack, uint32_t part)
{
	char name[32], sql[80];
	int err = 0;

	for (size_t i = 0; i < HF_PACK_TABLES && !err; i++) {
		table_name(i, name);
		snprintf(sql, sizeof sql, "DELETE FROM %s WHERE part = %u", name, part);
		err = hf_db_run(pack->connection.db, sql);
	}
	return err;
}

int hf_pack_finish(struct hf_pack *pack, const struct hf_pack_entry *entries, size_t count)
{
	sqlite3_stmt *stmt = NULL;
	int err;

	/* An earlier try came so far. */
	if (sqlite3_get_autocommit(pack->connection.db))
		return 0;
	err = hf_db_prepare(pack->connection.db, "INSERT INTO part VALUES (?, ?, ?, ?, ?)", &stmt);
	for (size_t i = 0; i < count && !err; i++) {
		const struct hf_pack_entry *e = &entries[i];

		if (!e->part)
			continue;
		hf_db_bind(stmt, 5,
			   (const uint64_t[]){e->part, e->key.files[0], e->key.files[1], e->key.rest, e->bytes});
		err = hf_db_exec(stmt);
	}
	sqlite3_finalize(stmt);
	return err ? err : hf_db_finish(pack->connection.db);
}

int hf_pack_copier_init(struct hf_pack_copier *c, struct hf_pack *from, struct hf_pack *to)
{
	char name[32], sql[96];
	int err = 0;

	*c = (struct hf_pack_copier){.from = from, .to = to};
	for (size_t i = 0; i < HF_PACK_TABLES && !err; i++) {
		int n;

		table_name(i, name);
		snprintf(sql, sizeof sql, "SELECT * FROM %s WHERE part = ?", name);
		err = hf_db_prepare(from->connection.db, sql, &c->select[i]);
		if (err || !to)
			continue;
		n = snprintf(sql, sizeof sql, "INSERT INTO %s VALUES (?", name);
		for (int columns = sqlite3_column_count(c->select[i]); columns > 1; columns--)
			n += snprintf(sql + n, sizeof sql - (size_t)n, ",?");
		snprintf(sql + n, sizeof sql - (size_t)n, ")");
		err = hf_db_prepare(to->connection.db, sql, &c->insert[i]);
	}
	return err;
}

void hf_pack_copier_fini(struct hf_pack_copier *c)
{
	for (size_t i = 0; i < HF_PACK_TABLES; i++) {
		sqlite3_finalize(c->select[i]);
		sqlite3_finalize(c->insert[i]);
	}
}

/* The row that select stands at. */
static int copy_row(sqlite3_stmt *select, sqlite3_stmt *insert, uint32_t to_part)
{
	const int columns = sqlite3_column_count(select);

	for (int i = 0; i < columns - 1; i++)
		sqlite3_bind_value(insert, i + 1, sqlite3_column_value(select, i));
	sqlite3_bind_int64(insert, columns, to_part);
	return hf_db_exec(insert);
}

/* The rows of one table. Their keys count up: so nobody makes up a file that has no end. */
static int copy_table(const struct hf_pack_copier *c, size_t i, uint32_t part, uint32_t to_part)
{
	uint64_t key = 0, before = 0;
	bool first = true;
	int err;

	hf_db_bind(c->select[i], 1, (const uint64_t[]){part});
	while (!(err = hf_db_step(c->select[i]))) {
		err = hf_col_u64(c->select[i], 0, HF_COUNT_MAX, &key);
		if (!err && !first && key <= before)
			err = HF_ERR_STATE;
		if (!err && c->to)
			err = copy_row(c->select[i], c->insert[i], to_part);
		if (err)
			break;
		before = key;
		first = false;
	}
	sqlite3_reset(c->select[i]);
	return err < 0 ? err : 0;
}

int hf_pack_copy(struct hf_pack_copier *c, uint32_t part, uint32_t to_part)
{
	int err = 0;

	for (size_t i = 0; i < HF_PACK_TABLES && !err; i++)
		err = copy_table(c, i, part, to_part);
	return err;
}

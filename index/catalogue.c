#include "index/catalogue.h"
#include "index/file.h"
#include "index/row.h"

#include <ctype.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

/* Columns of table file, in their order: id, numbers, texts. */
enum {
	SIZE, INO, MTIME, CTIME, KIND, PRINT_LOW, PRINT_HIGH, BESIDE, STREAM_SIZE, INFO_SIZE, ERRORS_SIZE, PROBLEMS,
	ARCH, ISA, XLEN, ERROR_CODE, ERROR_SPACE, ERROR_OFFSET, ERROR_DETAIL, NUMBERS
};
enum { PATH, BOX, CODEC, STREAM, ORIGINAL, VERSION, HARTS, TEXTS };

#define COLUMNS "?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?"
_Static_assert(sizeof COLUMNS / 2 == 1 + NUMBERS + TEXTS, "a place for each column");

/* No text is longer: of paths, and of the lines of a capture with some thousand harts. */
#define PATH_LIMIT 4096
#define NAME_LIMIT 128
#define HARTS_LIMIT (256 << 10)

static const uint64_t number_max[NUMBERS] = {
	[SIZE] = HF_COUNT_MAX, [INO] = UINT64_MAX, [MTIME] = UINT64_MAX, [CTIME] = UINT64_MAX,
	[KIND] = HF_CATALOGUE_INDEXED, [PRINT_LOW] = UINT64_MAX, [PRINT_HIGH] = UINT64_MAX, [BESIDE] = UINT64_MAX,
	[STREAM_SIZE] = UINT64_MAX,
	[INFO_SIZE] = HF_COUNT_MAX, [ERRORS_SIZE] = HF_COUNT_MAX, [PROBLEMS] = HF_COUNT_MAX, [ARCH] = HF_ARCH_COUNT - 1,
	[ISA] = HF_ISA_COUNT - 1, [XLEN] = UINT16_MAX, [ERROR_CODE] = UINT64_MAX, [ERROR_SPACE] = HF_SPACE_FILE,
	[ERROR_OFFSET] = UINT64_MAX, [ERROR_DETAIL] = UINT64_MAX,
};

static const size_t text_max[TEXTS] = {
	[PATH] = PATH_LIMIT, [BOX] = NAME_LIMIT, [CODEC] = NAME_LIMIT, [STREAM] = NAME_LIMIT, [ORIGINAL] = NAME_LIMIT,
	[VERSION] = HF_CATALOGUE_VERSION_SIZE, [HARTS] = HARTS_LIMIT,
};

/* A row as the table has it. */
struct row {
	int64_t id;
	uint64_t number[NUMBERS];
	const char *text[TEXTS]; /* NULL but for the path: none */
};

/* A row that waits to be written. */
struct pending {
	struct pending *next;  /* in its bucket */
	bool writing, dropped; /* a flush has it; and is to free it, since another took its place */
	struct row row;
	char bytes[];
};

enum { BUCKETS = 4096, PENDING_MAX = 4 * HF_CATALOGUE_MANY };

/* A published file. */
struct base {
	int fd;
	sqlite3 *db;
	sqlite3_stmt *find;
};

struct hf_catalogue {
	int dirfd;
	char name[HF_FILE_NAME_SIZE];
	char *path, *views; /* what the file says of itself */
	uint64_t ino;
	int64_t btime_ns;
	char (*view)[NAME_LIMIT]; /* names */
	size_t view_count;
	bool (*exists)(void *ctx, const char *path);
	void *ctx;

	pthread_mutex_t flushing;
	pthread_mutex_t lock; /* of what follows */
	struct base base;
	struct pending *bucket[BUCKETS];
	size_t count;
};

static int64_t id_of(const char *path)
{
	return (int64_t)XXH3_64bits(path, strlen(path));
}

/* ---- rows and tables ---- */

/* Column i as text that stays valid until the statement moves. */
static int borrow_text(sqlite3_stmt *stmt, int i, size_t max, const char **ret_text)
{
	*ret_text = NULL;
	if (sqlite3_column_type(stmt, i) == SQLITE_NULL)
		return 0;
	if (sqlite3_column_type(stmt, i) != SQLITE_TEXT)
		return HF_ERR_STATE;
	*ret_text = (const char *)sqlite3_column_text(stmt, i);
	if (!*ret_text)
		return HF_ERR_NOMEM;
	return strlen(*ret_text) == (size_t)sqlite3_column_bytes(stmt, i) && strlen(*ret_text) < max ? 0 : HF_ERR_STATE;
}

static int read_row(sqlite3_stmt *stmt, struct row *row)
{
	uint64_t id;
	int err = hf_col_u64(stmt, 0, UINT64_MAX, &id);

	row->id = (int64_t)id;
	for (int i = 0; !err && i < NUMBERS; i++)
		err = hf_col_u64(stmt, 1 + i, number_max[i], &row->number[i]);
	for (int i = 0; !err && i < TEXTS; i++)
		err = borrow_text(stmt, 1 + NUMBERS + i, text_max[i], &row->text[i]);
	if (err)
		return err;
	return row->text[PATH] && row->id == id_of(row->text[PATH]) && row->number[KIND] ? 0 : HF_ERR_STATE;
}

static int write_row(sqlite3_stmt *stmt, const struct row *row)
{
	sqlite3_bind_int64(stmt, 1, row->id);
	for (int i = 0; i < NUMBERS; i++)
		sqlite3_bind_int64(stmt, 2 + i, (sqlite3_int64)row->number[i]);
	for (int i = 0; i < TEXTS; i++)
		sqlite3_bind_text(stmt, 2 + NUMBERS + i, row->text[i], -1, SQLITE_STATIC);
	return hf_db_exec(stmt);
}

/* Whether the file says that it is the catalogue it should be. */
static int check_meta(const struct hf_catalogue *cat, sqlite3 *db)
{
	const char *path, *views;
	uint64_t complete, ino, btime;
	sqlite3_stmt *stmt;
	int err = hf_db_prepare(db, "SELECT complete, path, inode, btime_ns, views FROM meta", &stmt);

	if (err)
		return err;
	err = hf_db_step(stmt);
	if (!err && ((err = hf_col_u64(stmt, 0, 1, &complete)) || (err = borrow_text(stmt, 1, PATH_LIMIT, &path)) ||
		     (err = hf_col_u64(stmt, 2, UINT64_MAX, &ino)) || (err = hf_col_u64(stmt, 3, UINT64_MAX, &btime)) ||
		     (err = borrow_text(stmt, 4, HARTS_LIMIT, &views))))
		;
	else if (!err && (!complete || !path || !views || strcmp(path, cat->path) != 0 || ino != cat->ino ||
			  (int64_t)btime != cat->btime_ns || strcmp(views, cat->views) != 0))
		err = HF_ERR_STATE;
	sqlite3_finalize(stmt);
	return err > 0 ? HF_ERR_STATE : err;
}

static int write_meta(const struct hf_catalogue *cat, sqlite3 *db)
{
	sqlite3_stmt *stmt;
	int err = hf_db_prepare(db, "INSERT INTO meta VALUES (1, 1, ?, ?, ?, ?)", &stmt);

	if (err)
		return err;
	sqlite3_bind_text(stmt, 1, cat->path, -1, SQLITE_STATIC);
	sqlite3_bind_int64(stmt, 2, (sqlite3_int64)cat->ino);
	sqlite3_bind_int64(stmt, 3, cat->btime_ns);
	sqlite3_bind_text(stmt, 4, cat->views, -1, SQLITE_STATIC);
	err = hf_db_exec(stmt);
	sqlite3_finalize(stmt);
	return err;
}

static void close_base(struct base *base)
{
	sqlite3_finalize(base->find);
	if (base->db)
		hf_db_close(base->db);
	if (base->fd >= 0)
		close(base->fd);
	*base = (struct base){.fd = -1};
}

/* Pages that a lookup may find in memory: a thousandth of what a large catalogue has, which the kernel caches too. */
#define BASE_CACHE "PRAGMA cache_size = 64"

static int open_base(const struct hf_catalogue *cat, struct base *base)
{
	int err;

	*base = (struct base){.fd = -1};
	err = hf_idx_file_open(cat->dirfd, cat->name, &base->fd);
	if (!err)
		err = hf_db_open(base->fd, HF_DB_CATALOGUE, &base->db);
	if (!err)
		err = hf_db_run(base->db, BASE_CACHE);
	if (!err)
		err = check_meta(cat, base->db);
	if (!err)
		err = hf_db_prepare(base->db, "SELECT * FROM file WHERE id = ?", &base->find);
	if (err)
		close_base(base);
	return err;
}

/* ---- which catalogue ---- */

/* What decides the sizes of views, as text: a line for each. */
static char *describe_views(const struct hf_catalogue_key *key)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	for (size_t i = 0; i < key->view_count; i++)
		fprintf(out, "%s %u %s\n", key->views[i].ops->view, (unsigned)key->views[i].ops->version,
			key->views[i].params);
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

/* Like the name of an index, so that the versions of the schema and of all decoders are in it; and that of the program,
 * which decides what is taken for a capture. */
static void name_it(struct hf_catalogue *cat)
{
	struct hf_identity identity = {.size = cat->ino, .mtime_ns = cat->btime_ns};
	XXH128_hash_t path = XXH3_128bits(cat->path, strlen(cat->path));
	char hex[HF_HEX_SIZE];

	identity.print[0] = path.low64 ^ XXH3_64bits(cat->views, strlen(cat->views));
	identity.print[1] = path.high64 ^ XXH3_64bits(HARTFS_VERSION, strlen(HARTFS_VERSION));
	hf_idx_file_hex(&identity, hex);
	snprintf(cat->name, sizeof cat->name, "%s.hfc", hex);
}

static int take_key(struct hf_catalogue *cat, const struct hf_catalogue_key *key)
{
	cat->ino = key->ino;
	cat->btime_ns = key->btime_ns;
	cat->exists = key->exists;
	cat->ctx = key->ctx;
	cat->path = strdup(key->path);
	cat->views = describe_views(key);
	cat->view = calloc(key->view_count + 1, sizeof *cat->view);
	cat->view_count = key->view_count;
	if (!cat->path || !cat->views || !cat->view)
		return HF_ERR_NOMEM;
	if (strlen(cat->path) >= PATH_LIMIT || strlen(cat->views) >= HARTS_LIMIT)
		return HF_ERR_LIMIT;
	/* Names stand between spaces and '=' in a row. */
	for (size_t i = 0; i < key->view_count; i++)
		if (strpbrk(key->views[i].ops->view, " =\n") ||
		    snprintf(cat->view[i], NAME_LIMIT, "%s", key->views[i].ops->view) >= NAME_LIMIT)
			return HF_ERR_LIMIT;
	name_it(cat);
	return 0;
}

int hf_catalogue_open(int dirfd, const struct hf_catalogue_key *key, struct hf_catalogue **ret_catalogue)
{
	struct hf_catalogue *cat = calloc(1, sizeof *cat);
	int err;

	*ret_catalogue = NULL;
	if (!cat)
		return HF_ERR_NOMEM;
	cat->dirfd = dirfd;
	cat->base.fd = -1;
	pthread_mutex_init(&cat->flushing, NULL);
	pthread_mutex_init(&cat->lock, NULL);
	err = take_key(cat, key);
	if (!err && open_base(cat, &cat->base) == HF_ERR_NOMEM)
		err = HF_ERR_NOMEM;
	if (err)
		hf_catalogue_close(cat);
	else
		*ret_catalogue = cat;
	return err;
}

void hf_catalogue_close(struct hf_catalogue *cat)
{
	if (!cat)
		return;
	close_base(&cat->base);
	for (size_t i = 0; i < BUCKETS; i++)
		for (struct pending *p = cat->bucket[i], *next; p; p = next) {
			next = p->next;
			free(p);
		}
	free(cat->path);
	free(cat->views);
	free(cat->view);
	pthread_mutex_destroy(&cat->flushing);
	pthread_mutex_destroy(&cat->lock);
	free(cat);
}

/* ---- from a row to an entry ---- */

static int view_of(const struct hf_catalogue *cat, const char *name, size_t len)
{
	for (size_t i = 0; i < cat->view_count; i++)
		if (strlen(cat->view[i]) == len && memcmp(cat->view[i], name, len) == 0)
			return (int)i;
	return -1;
}

/* Digits, and the one character behind them. */
static bool take_number(const char **at, char end, uint64_t max, uint64_t *ret_value)
{
	char *stop;

	if (!isdigit((unsigned char)**at))
		return false;
	*ret_value = strtoull(*at, &stop, 10);
	*at = stop + 1;
	return *stop == end && *ret_value <= max;
}

/* One line: "<id> <insns> <attempts> <events> <chunks>", then " <view>=<size>" for each view, then a line break. */
static bool take_hart(const struct hf_catalogue *cat, const char **at, struct hf_index_hart *hart, uint64_t *size)
{
	uint64_t id;
	size_t len;

	for (size_t i = 0; i < cat->view_count; i++)
		size[i] = HF_NOWHERE;
	if (!take_number(at, ' ', UINT32_MAX, &id) || !take_number(at, ' ', HF_COUNT_MAX, &hart->insns) ||
	    !take_number(at, ' ', HF_COUNT_MAX, &hart->attempts) ||
	    !take_number(at, ' ', HF_COUNT_MAX, &hart->events) || !take_number(at, ' ', HF_COUNT_MAX, &hart->chunks))
		return false;
	hart->id = (uint32_t)id;
	while (**at != '\n') {
		int view = view_of(cat, *at, len = strcspn(*at, "=\n"));

		*at += len;
		if (view < 0 || *(*at)++ != '=' || !take_number(at, ' ', HF_COUNT_MAX, &size[view]))
			return false;
	}
	++*at;
	return true;
}

static int take_harts(const struct hf_catalogue *cat, const char *text, struct hf_catalogue_entry *entry)
{
	size_t lines = 0;

	for (const char *s = text; *s; s++)
		lines += *s == '\n';
	entry->hart = calloc(lines + 1, sizeof *entry->hart);
	entry->size = calloc(lines * cat->view_count + 1, sizeof *entry->size);
	if (!entry->hart || !entry->size)
		return HF_ERR_NOMEM;
	while (*text) {
		struct hf_index_hart *hart = &entry->hart[entry->hart_count];

		if (entry->hart_count == lines ||
		    !take_hart(cat, &text, hart, &entry->size[entry->hart_count * cat->view_count]) ||
		    (entry->hart_count && hart->id <= hart[-1].id))
			return HF_ERR_STATE;
		entry->hart_count++;
	}
	return 0;
}

static int take_diag(const struct row *row, struct hf_diag *diag)
{
	int64_t code = (int64_t)row->number[ERROR_CODE];

	if (code > 0 || code < -(int64_t)HF_ERRI_COUNT)
		return HF_ERR_STATE;
	*diag = (struct hf_diag){.code = (int)code,
				 .space = (enum hf_space)row->number[ERROR_SPACE],
				 .offset = row->number[ERROR_OFFSET],
				 .detail = row->number[ERROR_DETAIL]};
	return 0;
}

static int take_indexed(const struct hf_catalogue *cat, const struct row *row, struct hf_catalogue_entry *entry)
{
	const uint64_t *number = row->number;
	const char *const *text = row->text;
	int err;

	entry->print[0] = number[PRINT_LOW];
	entry->print[1] = number[PRINT_HIGH];
	entry->beside = number[BESIDE];
	entry->stream_size = number[STREAM_SIZE];
	entry->info_size = number[INFO_SIZE];
	entry->errors_size = number[ERRORS_SIZE];
	entry->problems = number[PROBLEMS];
	entry->arch = (uint32_t)number[ARCH];
	entry->isa = (uint32_t)number[ISA];
	entry->xlen = (uint32_t)number[XLEN];
	snprintf(entry->version, sizeof entry->version, "%s", text[VERSION] ? text[VERSION] : "");
	if (text[STREAM] && !(entry->stream = hf_index_codec_named(text[STREAM])))
		return HF_ERR_STATE;
	if (text[ORIGINAL] && (entry->original = view_of(cat, text[ORIGINAL], strlen(text[ORIGINAL]))) < 0)
		return HF_ERR_STATE;
	if ((entry->stream_size == HF_NOWHERE) != !entry->stream || !text[HARTS] ||
	    (entry->stream && entry->stream_size > HF_COUNT_MAX))
		return HF_ERR_STATE;
	err = take_diag(row, &entry->unopened);
	return err ? err : take_harts(cat, text[HARTS], entry);
}

/* HF_ERR_STATE, or another error, if it makes no sense. */
static int take_row(const struct hf_catalogue *cat, const struct row *row, struct hf_catalogue_entry *entry)
{
	int err = 0;

	entry->kind = (enum hf_catalogue_kind)row->number[KIND];
	entry->original = -1;
	if (entry->kind == HF_CATALOGUE_GONE)
		return HF_ERR_STATE;
	if (entry->kind == HF_CATALOGUE_PLAIN)
		return 0;
	if (row->text[BOX] && !(entry->box = hf_box_by_name(row->text[BOX])))
		return HF_ERR_STATE;
	if (!row->text[CODEC] || !(entry->codec = hf_index_codec_named(row->text[CODEC])))
		return HF_ERR_STATE;
	if (entry->kind == HF_CATALOGUE_INDEXED)
		err = take_indexed(cat, row, entry);
	if (err)
		hf_catalogue_clear(entry);
	return err;
}

void hf_catalogue_clear(struct hf_catalogue_entry *entry)
{
	free(entry->hart);
	free(entry->size);
	*entry = (struct hf_catalogue_entry){0};
}

static bool is_of(const struct row *row, const char *path, const struct hf_catalogue_stamp *stamp)
{
	return strcmp(row->text[PATH], path) == 0 && row->number[SIZE] == stamp->size &&
	       row->number[INO] == stamp->ino && row->number[MTIME] == (uint64_t)stamp->mtime_ns &&
	       row->number[CTIME] == (uint64_t)stamp->ctime_ns;
}

static struct pending **find_pending(struct hf_catalogue *cat, int64_t id)
{
	struct pending **at = &cat->bucket[(uint64_t)id % BUCKETS];

	while (*at && (*at)->row.id != id)
		at = &(*at)->next;
	return at;
}

/* In the published file. */
static int find_in_base(struct hf_catalogue *cat, const char *path, const struct hf_catalogue_stamp *stamp,
			struct hf_catalogue_entry *entry)
{
	const uint64_t id = (uint64_t)id_of(path);
	struct row row;
	int err;

	if (!cat->base.db)
		return HF_ERR_NOT_FOUND;
	hf_db_bind(cat->base.find, 1, &id);
	err = hf_db_step(cat->base.find);
	if (!err)
		err = read_row(cat->base.find, &row);
	if (!err)
		err = is_of(&row, path, stamp) ? take_row(cat, &row, entry) : HF_NOTE_END;
	sqlite3_reset(cat->base.find);
	return err && err != HF_ERR_NOMEM ? HF_ERR_NOT_FOUND : err;
}

int hf_catalogue_find(struct hf_catalogue *cat, const char *path, const struct hf_catalogue_stamp *stamp,
		      struct hf_catalogue_entry *ret_entry)
{
	struct pending *pending;
	int err;

	*ret_entry = (struct hf_catalogue_entry){.stamp = *stamp};
	pthread_mutex_lock(&cat->lock);
	pending = *find_pending(cat, id_of(path));
	if (!pending)
		err = find_in_base(cat, path, stamp, ret_entry);
	else if (is_of(&pending->row, path, stamp) && pending->row.number[KIND] != HF_CATALOGUE_GONE)
		err = take_row(cat, &pending->row, ret_entry);
	else
		err = HF_ERR_NOT_FOUND;
	pthread_mutex_unlock(&cat->lock);
	return err && err != HF_ERR_NOMEM ? HF_ERR_NOT_FOUND : err;
}

/* ---- from an entry to a row ---- */

static char *put_harts(const struct hf_catalogue *cat, const struct hf_catalogue_entry *entry)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	for (size_t i = 0; i < entry->hart_count; i++) {
		const struct hf_index_hart *hart = &entry->hart[i];

		fprintf(out, "%" PRIu32 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " ", hart->id, hart->insns,
			hart->attempts, hart->events, hart->chunks);
		for (size_t k = 0; k < cat->view_count; k++)
			if (entry->size[i * cat->view_count + k] != HF_NOWHERE)
				fprintf(out, "%s=%" PRIu64 " ", cat->view[k], entry->size[i * cat->view_count + k]);
		fputc('\n', out);
	}
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

static void put_indexed(const struct hf_catalogue *cat, const struct hf_catalogue_entry *entry, struct row *row)
{
	uint64_t *number = row->number;

	number[PRINT_LOW] = entry->print[0];
	number[PRINT_HIGH] = entry->print[1];
	number[BESIDE] = entry->beside;
	number[STREAM_SIZE] = entry->stream_size;
	number[INFO_SIZE] = entry->info_size;
	number[ERRORS_SIZE] = entry->errors_size;
	number[PROBLEMS] = entry->problems;
	number[ARCH] = entry->arch;
	number[ISA] = entry->isa;
	number[XLEN] = entry->xlen;
	number[ERROR_CODE] = (uint64_t)(int64_t)entry->unopened.code;
	number[ERROR_SPACE] = (uint64_t)entry->unopened.space;
	number[ERROR_OFFSET] = entry->unopened.offset;
	number[ERROR_DETAIL] = entry->unopened.detail;
	row->text[STREAM] = entry->stream ? entry->stream->name : NULL;
	row->text[ORIGINAL] = entry->original >= 0 ? cat->view[entry->original] : NULL;
	row->text[VERSION] = *entry->version ? entry->version : NULL;
}

/* A pending row of its own memory. */
static int copy_row(const struct row *row, struct pending **ret_pending)
{
	struct pending *pending;
	size_t size = 0;
	char *at;

	for (int i = 0; i < TEXTS; i++) {
		if (row->text[i] && strlen(row->text[i]) >= text_max[i])
			return HF_ERR_LIMIT;
		size += row->text[i] ? strlen(row->text[i]) + 1 : 0;
	}
	pending = calloc(1, sizeof *pending + size);
	if (!pending)
		return HF_ERR_NOMEM;
	pending->row = *row;
	at = pending->bytes;
	for (int i = 0; i < TEXTS; i++) {
		if (!row->text[i])
			continue;
		size = strlen(row->text[i]) + 1;
		pending->row.text[i] = memcpy(at, row->text[i], size);
		at += size;
	}
	*ret_pending = pending;
	return 0;
}

static int make_pending(const struct hf_catalogue *cat, const char *path, const struct hf_catalogue_entry *entry,
			struct pending **ret_pending)
{
	struct row row = {.id = id_of(path)};
	char *harts = NULL;
	int err;

	row.number[SIZE] = entry->stamp.size;
	row.number[INO] = entry->stamp.ino;
	row.number[MTIME] = (uint64_t)entry->stamp.mtime_ns;
	row.number[CTIME] = (uint64_t)entry->stamp.ctime_ns;
	row.number[KIND] = entry->kind;
	row.text[PATH] = path;
	if (entry->kind >= HF_CATALOGUE_CAPTURE) {
		row.text[BOX] = entry->box ? entry->box->name : NULL;
		row.text[CODEC] = entry->codec->name;
	}
	if (entry->kind == HF_CATALOGUE_INDEXED) {
		put_indexed(cat, entry, &row);
		harts = put_harts(cat, entry);
		if (!harts)
			return HF_ERR_NOMEM;
		row.text[HARTS] = harts;
	}
	err = copy_row(&row, ret_pending);
	free(harts);
	return err;
}

/* With the lock held: takes the place of what was there. */
static int add_pending(struct hf_catalogue *cat, struct pending *pending)
{
	struct pending **at = find_pending(cat, pending->row.id), *old = *at;

	if (!old && cat->count >= PENDING_MAX)
		return HF_ERR_LIMIT;
	pending->next = old ? old->next : NULL;
	*at = pending;
	cat->count += !old;
	if (old && old->writing)
		old->dropped = true;
	else
		free(old);
	return 0;
}

int hf_catalogue_put(struct hf_catalogue *cat, const char *path, const struct hf_catalogue_entry *entry)
{
	struct pending *pending;
	int err = make_pending(cat, path, entry, &pending);

	if (err)
		return err;
	pthread_mutex_lock(&cat->lock);
	err = add_pending(cat, pending);
	pthread_mutex_unlock(&cat->lock);
	if (err)
		free(pending);
	return err;
}

size_t hf_catalogue_pending(struct hf_catalogue *cat)
{
	size_t count;

	pthread_mutex_lock(&cat->lock);
	count = cat->count;
	pthread_mutex_unlock(&cat->lock);
	return count;
}

/* ---- a new file of the old one and of what waits ---- */

struct merge {
	struct hf_catalogue *cat;
	struct base base;
	sqlite3 *db;
	sqlite3_stmt *add;
	struct pending **pending; /* by id */
	size_t count, next;
	/* Entries that are asked after: so many from some id on, which is another one each time. */
	int64_t ask_from;
	unsigned asks;
};

enum { ASKS = 512 };

static int by_id(const void *a, const void *b)
{
	const struct pending *x = *(struct pending *const *)a, *y = *(struct pending *const *)b;

	return (x->row.id > y->row.id) - (x->row.id < y->row.id);
}

/* What waits now, which stays as it is until end_snapshot. */
static int begin_snapshot(struct merge *m)
{
	struct hf_catalogue *cat = m->cat;

	pthread_mutex_lock(&cat->lock);
	m->pending = calloc(cat->count + 1, sizeof *m->pending);
	for (size_t i = 0; m->pending && i < BUCKETS; i++)
		for (struct pending *p = cat->bucket[i]; p; p = p->next) {
			p->writing = true;
			m->pending[m->count++] = p;
		}
	pthread_mutex_unlock(&cat->lock);
	if (!m->pending)
		return HF_ERR_NOMEM;
	qsort(m->pending, m->count, sizeof *m->pending, by_id);
	return 0;
}

static void end_snapshot(struct merge *m, bool written)
{
	struct hf_catalogue *cat = m->cat;

	pthread_mutex_lock(&cat->lock);
	for (size_t i = 0; i < m->count; i++) {
		struct pending *p = m->pending[i];

		p->writing = false;
		if (written && !p->dropped) {
			*find_pending(cat, p->row.id) = p->next;
			cat->count--;
		}
		if (written || p->dropped)
			free(p);
	}
	if (written) {
		close_base(&cat->base);
		cat->base = m->base;
		m->base = (struct base){.fd = -1};
	}
	pthread_mutex_unlock(&cat->lock);
	free(m->pending);
}

/* Those that come before id, or all. */
static int write_pending(struct merge *m, const int64_t *id)
{
	int err = 0;

	while (!err && m->next < m->count && (!id || m->pending[m->next]->row.id < *id)) {
		const struct row *row = &m->pending[m->next++]->row;

		if (row->number[KIND] != HF_CATALOGUE_GONE)
			err = write_row(m->add, row);
	}
	return err;
}

static bool is_kept(struct merge *m, const struct row *row)
{
	if (m->next < m->count && m->pending[m->next]->row.id == row->id)
		return false;
	if (!m->cat->exists || !m->asks || row->id < m->ask_from)
		return true;
	m->asks--;
	return m->cat->exists(m->cat->ctx, row->text[PATH]);
}

/* The old rows in their order with the new ones between. A row that makes no sense is left out, behind a damaged page
 * all are: they will be found out again. */
static int merge_rows(struct merge *m)
{
	sqlite3_stmt *old;
	struct row row;
	int err = 0;

	if (!m->base.db)
		return write_pending(m, NULL);
	err = hf_db_prepare(m->base.db, "SELECT * FROM file ORDER BY id", &old);
	if (err)
		return err;
	while (!err && hf_db_step(old) == 0) {
		if (read_row(old, &row))
			continue;
		err = write_pending(m, &row.id);
		if (!err && is_kept(m, &row))
			err = write_row(m->add, &row);
	}
	sqlite3_finalize(old);
	return err ? err : write_pending(m, NULL);
}

static int write_file(struct merge *m, struct hf_part *part)
{
	int err = 0;

	/* A file left over by someone who was killed is of no use. */
	if (hf_db_look(part->fd, HF_DB_CATALOGUE) != HF_LOOK_EMPTY)
		err = hf_part_reset(part, HF_DB_CATALOGUE);
	if (!err)
		err = hf_db_open_part(part->fd, part->dirfd, part->part, HF_DB_CATALOGUE, &m->db);
	/* Nobody will ever resume it: pages may go to the file as they come. */
	if (!err)
		err = hf_db_run(m->db, "PRAGMA cache_size = 256; PRAGMA cache_spill = ON");
	if (!err)
		err = write_meta(m->cat, m->db);
	if (!err)
		err = hf_db_prepare(m->db, "INSERT INTO file VALUES (" COLUMNS ")", &m->add);
	if (!err)
		err = merge_rows(m);
	sqlite3_finalize(m->add);
	if (!err)
		err = hf_db_finish(m->db);
	if (m->db)
		hf_db_close(m->db);
	return err;
}

/* With the lock on the private file, so that nobody publishes what this one does not see. */
static int write_new(struct merge *m)
{
	struct hf_part part;
	int err = hf_part_open(m->cat->dirfd, m->cat->name, &part);

	if (err)
		return err;
	/* Another one's of no use is the same as none. */
	if (open_base(m->cat, &m->base) == HF_ERR_NOMEM)
		err = HF_ERR_NOMEM;
	if (!err)
		err = write_file(m, &part);
	close_base(&m->base);
	if (!err)
		err = hf_part_publish(&part, HF_DB_CATALOGUE);
	/* Not what stood in the way and is not ours. */
	if (err && hf_db_look(part.fd, HF_DB_CATALOGUE) != HF_LOOK_FOREIGN)
		hf_part_remove(&part);
	hf_part_close(&part);
	return err ? err : open_base(m->cat, &m->base);
}

int hf_catalogue_flush(struct hf_catalogue *cat)
{
	struct merge m = {.cat = cat, .base.fd = -1, .asks = ASKS};
	struct timespec now;
	int err;

	clock_gettime(CLOCK_REALTIME, &now);
	m.ask_from = (int64_t)XXH3_64bits(&now, sizeof now);
	/* The first ids of all have few before them from which they could be reached. */
	if (m.ask_from % 4 == 0)
		m.ask_from = INT64_MIN;
	pthread_mutex_lock(&cat->flushing);
	err = begin_snapshot(&m);
	if (!err && m.count)
		err = write_new(&m);
	if (m.pending)
		end_snapshot(&m, !err && m.count);
	close_base(&m.base);
	pthread_mutex_unlock(&cat->flushing);
	return err;
}

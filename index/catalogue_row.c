/* SPDX-License-Identifier: Apache-2.0 */
#include "index/catalogue_row.h"
#include "index/codecs.h"
#include "index/row.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <xxhash.h>

enum {
	SIZE, INO, MTIME, CTIME, KIND, PRINT_LOW, PRINT_HIGH, FILES_LOW, FILES_HIGH, BESIDE, STREAM_SIZE, INFO_SIZE,
	ERRORS_SIZE, PROBLEMS, ARCH, ISA, XLEN, MERGED_SIZE, ERROR_CODE, ERROR_SPACE, ERROR_OFFSET, ERROR_DETAIL, NUMBERS
};
enum { PATH, BOX, CODEC, STREAM, ORIGINAL, VERSION, HARTS, TEXTS };

#define COLUMNS "?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?"
_Static_assert((int)NUMBERS == HF_CATALOGUE_NUMBERS && (int)TEXTS == HF_CATALOGUE_TEXTS, "the row holds them all");
_Static_assert(sizeof COLUMNS / 2 == 1 + NUMBERS + TEXTS, "a place for each column");

static const uint64_t number_max[NUMBERS] = {
	[SIZE] = HF_COUNT_MAX, [INO] = UINT64_MAX, [MTIME] = UINT64_MAX, [CTIME] = UINT64_MAX,
	[KIND] = HF_CATALOGUE_INDEXED, [PRINT_LOW] = UINT64_MAX, [PRINT_HIGH] = UINT64_MAX,
	[FILES_LOW] = UINT64_MAX, [FILES_HIGH] = UINT64_MAX, [BESIDE] = UINT64_MAX,
	[STREAM_SIZE] = UINT64_MAX,
	[INFO_SIZE] = HF_COUNT_MAX, [ERRORS_SIZE] = HF_COUNT_MAX, [PROBLEMS] = HF_COUNT_MAX, [ARCH] = HF_ARCH_COUNT - 1,
	[ISA] = HF_ISA_COUNT - 1, [XLEN] = UINT16_MAX, [MERGED_SIZE] = UINT64_MAX, [ERROR_CODE] = UINT64_MAX, [ERROR_SPACE] = HF_SPACE_FILE,
	[ERROR_OFFSET] = UINT64_MAX, [ERROR_DETAIL] = UINT64_MAX,
};

static const size_t text_max[TEXTS] = {
	[PATH] = HF_CATALOGUE_PATH_LIMIT, [BOX] = HF_CATALOGUE_NAME_LIMIT, [CODEC] = HF_CATALOGUE_NAME_LIMIT,
	[STREAM] = HF_CATALOGUE_NAME_LIMIT, [ORIGINAL] = HF_CATALOGUE_NAME_LIMIT,
	[VERSION] = HF_KNOWN_VERSION_SIZE, [HARTS] = HF_CATALOGUE_LINES_LIMIT,
};

int64_t hf_catalogue_row_id(const char *path)
{
	return (int64_t)XXH3_64bits(path, strlen(path));
}

const char *hf_catalogue_row_path(const struct hf_catalogue_row *row)
{
	return row->text[PATH];
}

bool hf_catalogue_row_is_gone(const struct hf_catalogue_row *row)
{
	return row->number[KIND] == HF_CATALOGUE_GONE;
}

bool hf_catalogue_row_is_of(const struct hf_catalogue_row *row, const char *path,
			    const struct hf_catalogue_stamp *stamp)
{
	return strcmp(row->text[PATH], path) == 0 && row->number[SIZE] == stamp->size &&
	       row->number[INO] == stamp->ino && row->number[MTIME] == (uint64_t)stamp->mtime_ns &&
	       row->number[CTIME] == (uint64_t)stamp->ctime_ns;
}

/* ---- rows and tables ---- */

int hf_catalogue_row_text(sqlite3_stmt *stmt, int i, size_t max, const char **ret_text)
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

int hf_catalogue_row_read(sqlite3_stmt *stmt, struct hf_catalogue_row *ret_row)
{
	uint64_t id;
	int err = hf_col_u64(stmt, 0, UINT64_MAX, &id);

	ret_row->id = (int64_t)id;
	for (int i = 0; !err && i < NUMBERS; i++)
		err = hf_col_u64(stmt, 1 + i, number_max[i], &ret_row->number[i]);
	for (int i = 0; !err && i < TEXTS; i++)
		err = hf_catalogue_row_text(stmt, 1 + NUMBERS + i, text_max[i], &ret_row->text[i]);
	if (err)
		return err;
	return ret_row->text[PATH] && ret_row->id == hf_catalogue_row_id(ret_row->text[PATH]) && ret_row->number[KIND]
		       ? 0
		       : HF_ERR_STATE;
}

int hf_catalogue_row_prepare(sqlite3 *db, sqlite3_stmt **ret_insert)
{
	return hf_db_prepare(db, "INSERT INTO file VALUES (" COLUMNS ")", ret_insert);
}

int hf_catalogue_row_write(sqlite3_stmt *insert, const struct hf_catalogue_row *row)
{
	sqlite3_bind_int64(insert, 1, row->id);
	for (int i = 0; i < NUMBERS; i++)
		sqlite3_bind_int64(insert, 2 + i, (sqlite3_int64)row->number[i]);
	for (int i = 0; i < TEXTS; i++)
		sqlite3_bind_text(insert, 2 + NUMBERS + i, row->text[i], -1, SQLITE_STATIC);
	return hf_db_exec(insert);
}

/* ---- from a row to an entry ---- */

static int view_of(const struct hf_catalogue_views *views, const char *name, size_t len)
{
	for (size_t i = 0; i < views->count; i++)
		if (strlen(views->name[i]) == len && memcmp(views->name[i], name, len) == 0)
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
static bool take_hart(const struct hf_catalogue_views *views, const char **at, struct hf_index_hart *hart,
		      uint64_t *size)
{
	uint64_t id;
	size_t len;

	for (size_t i = 0; i < views->count; i++)
		size[i] = HF_NOWHERE;
	if (!take_number(at, ' ', UINT32_MAX, &id) || !take_number(at, ' ', HF_COUNT_MAX, &hart->insns) ||
	    !take_number(at, ' ', HF_COUNT_MAX, &hart->attempts) ||
	    !take_number(at, ' ', HF_COUNT_MAX, &hart->events) || !take_number(at, ' ', HF_COUNT_MAX, &hart->chunks))
		return false;
	hart->id = (uint32_t)id;
	while (**at != '\n') {
		int view = view_of(views, *at, len = strcspn(*at, "=\n"));

		*at += len;
		if (view < 0 || *(*at)++ != '=' || !take_number(at, ' ', HF_COUNT_MAX, &size[view]))
			return false;
	}
	++*at;
	return true;
}

static int take_harts(const struct hf_catalogue_views *views, const char *text, struct hf_catalogue_entry *entry)
{
	size_t lines = 0;

	for (const char *s = text; *s; s++)
		lines += *s == '\n';
	entry->hart = calloc(lines + 1, sizeof *entry->hart);
	entry->size = calloc(lines * views->count + 1, sizeof *entry->size);
	if (!entry->hart || !entry->size)
		return HF_ERR_NOMEM;
	while (*text) {
		struct hf_index_hart *hart = &entry->hart[entry->hart_count];

		if (entry->hart_count == lines ||
		    !take_hart(views, &text, hart, &entry->size[entry->hart_count * views->count]) ||
		    (entry->hart_count && hart->id <= hart[-1].id))
			return HF_ERR_STATE;
		entry->hart_count++;
	}
	return 0;
}

static int take_diag(const struct hf_catalogue_row *row, struct hf_diag *diag)
{
	int64_t code = (int64_t)row->number[ERROR_CODE];

	if (!hf_err_is_code(code))
		return HF_ERR_STATE;
	*diag = (struct hf_diag){.code = (int)code,
				 .space = (enum hf_space)row->number[ERROR_SPACE],
				 .offset = row->number[ERROR_OFFSET],
				 .detail = row->number[ERROR_DETAIL]};
	return 0;
}

static int take_indexed(const struct hf_catalogue_views *views, const struct hf_catalogue_row *row,
			struct hf_catalogue_entry *entry)
{
	const uint64_t *number = row->number;
	const char *const *text = row->text;
	int err;

	entry->known.print[0] = number[PRINT_LOW];
	entry->known.print[1] = number[PRINT_HIGH];
	entry->known.files[0] = number[FILES_LOW];
	entry->known.files[1] = number[FILES_HIGH];
	entry->beside = number[BESIDE];
	entry->known.stream_size = number[STREAM_SIZE];
	entry->known.text_size[HF_TEXT_INFO] = number[INFO_SIZE];
	entry->known.text_size[HF_TEXT_ERRORS] = number[ERRORS_SIZE];
	entry->known.problems = number[PROBLEMS];
	entry->known.arch = (uint32_t)number[ARCH];
	entry->known.isa = (uint32_t)number[ISA];
	entry->known.xlen = (uint32_t)number[XLEN];
	entry->known.merged_size = number[MERGED_SIZE];
	snprintf(entry->known.version, sizeof entry->known.version, "%s", text[VERSION] ? text[VERSION] : "");
	if (text[STREAM] && !(entry->known.codec = hf_index_codec_named(text[STREAM])))
		return HF_ERR_STATE;
	if (text[ORIGINAL] && (entry->known.original = view_of(views, text[ORIGINAL], strlen(text[ORIGINAL]))) < 0)
		return HF_ERR_STATE;
	if ((entry->known.stream_size == HF_NOWHERE) != !entry->known.codec || !text[HARTS] ||
	    (entry->known.codec && entry->known.stream_size > HF_COUNT_MAX) ||
	    (entry->known.merged_size != HF_NOWHERE && entry->known.merged_size > HF_COUNT_MAX))
		return HF_ERR_STATE;
	err = take_diag(row, &entry->known.undecoded);
	return err ? err : take_harts(views, text[HARTS], entry);
}

int hf_catalogue_row_take(const struct hf_catalogue_views *views, const struct hf_catalogue_row *row,
			  struct hf_catalogue_entry *entry)
{
	int err = 0;

	entry->kind = (enum hf_catalogue_kind)row->number[KIND];
	entry->known.original = -1;
	if (entry->kind == HF_CATALOGUE_GONE)
		return HF_ERR_STATE;
	if (entry->kind == HF_CATALOGUE_PLAIN)
		return 0;
	if (row->text[BOX] && !(entry->box = hf_box_by_name(row->text[BOX])))
		return HF_ERR_STATE;
	if (!row->text[CODEC] || !(entry->codec = hf_index_codec_named(row->text[CODEC])))
		return HF_ERR_STATE;
	if (entry->kind == HF_CATALOGUE_INDEXED)
		err = take_indexed(views, row, entry);
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

/* ---- from an entry to a row ---- */

static char *put_harts(const struct hf_catalogue_views *views, const struct hf_catalogue_entry *entry)
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
		for (size_t k = 0; k < views->count; k++)
			if (entry->size[i * views->count + k] != HF_NOWHERE)
				fprintf(out, "%s=%" PRIu64 " ", views->name[k], entry->size[i * views->count + k]);
		fputc('\n', out);
	}
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

static void put_indexed(const struct hf_catalogue_views *views, const struct hf_catalogue_entry *entry,
			struct hf_catalogue_row *row)
{
	uint64_t *number = row->number;

	number[PRINT_LOW] = entry->known.print[0];
	number[PRINT_HIGH] = entry->known.print[1];
	number[FILES_LOW] = entry->known.files[0];
	number[FILES_HIGH] = entry->known.files[1];
	number[BESIDE] = entry->beside;
	number[STREAM_SIZE] = entry->known.stream_size;
	number[INFO_SIZE] = entry->known.text_size[HF_TEXT_INFO];
	number[ERRORS_SIZE] = entry->known.text_size[HF_TEXT_ERRORS];
	number[PROBLEMS] = entry->known.problems;
	number[ARCH] = entry->known.arch;
	number[ISA] = entry->known.isa;
	number[XLEN] = entry->known.xlen;
	number[MERGED_SIZE] = entry->known.merged_size;
	number[ERROR_CODE] = (uint64_t)(int64_t)entry->known.undecoded.code;
	number[ERROR_SPACE] = (uint64_t)entry->known.undecoded.space;
	number[ERROR_OFFSET] = entry->known.undecoded.offset;
	number[ERROR_DETAIL] = entry->known.undecoded.detail;
	row->text[STREAM] = entry->known.codec ? entry->known.codec->name : NULL;
	row->text[ORIGINAL] = entry->known.original >= 0 ? views->name[entry->known.original] : NULL;
	row->text[VERSION] = *entry->known.version ? entry->known.version : NULL;
}

/* Of its own memory. */
static int copy_row(const struct hf_catalogue_row *row, struct hf_catalogue_row **ret_row)
{
	struct hf_catalogue_row *copy;
	size_t size = 0;
	char *at;

	for (int i = 0; i < TEXTS; i++) {
		if (row->text[i] && strlen(row->text[i]) >= text_max[i])
			return HF_ERR_LIMIT;
		size += row->text[i] ? strlen(row->text[i]) + 1 : 0;
	}
	copy = malloc(sizeof *copy + size);
	if (!copy)
		return HF_ERR_NOMEM;
	*copy = *row;
	at = (char *)(copy + 1);
	for (int i = 0; i < TEXTS; i++) {
		if (!row->text[i])
			continue;
		size = strlen(row->text[i]) + 1;
		copy->text[i] = memcpy(at, row->text[i], size);
		at += size;
	}
	*ret_row = copy;
	return 0;
}

int hf_catalogue_row_new(const struct hf_catalogue_views *views, const char *path,
			 const struct hf_catalogue_entry *entry, struct hf_catalogue_row **ret_row)
{
	struct hf_catalogue_row row = {.id = hf_catalogue_row_id(path)};
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
		put_indexed(views, entry, &row);
		harts = put_harts(views, entry);
		if (!harts)
			return HF_ERR_NOMEM;
		row.text[HARTS] = harts;
	}
	err = copy_row(&row, ret_row);
	free(harts);
	return err;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "index/catalogue/catalogue_row.h"

#include "index/base/codecs.h"
#include "index/table/row.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <xxhash.h>

#define COLUMN(type, member, max) HF_COLUMN(type, hf_catalogue_row, member, max)
#define COUNT(member) HF_COLUMN_COUNT(hf_catalogue_row, member)
#define ANY(member) HF_COLUMN_ANY(hf_catalogue_row, member)
#define TEXT(name, limit) COLUMN(LENT, text[HF_CATALOGUE_##name], HF_CATALOGUE_##limit##_LIMIT)

static const struct hf_column file[] = {
	COUNT(entry.stamp.size),
	ANY(entry.stamp.ino),
	ANY(entry.stamp.mtime_ns),
	ANY(entry.stamp.ctime_ns),
	COLUMN(NUMBER, entry.kind, HF_CATALOGUE_INDEXED),
	ANY(entry.known.print[0]),
	ANY(entry.known.print[1]),
	ANY(entry.known.files[0]),
	ANY(entry.known.files[1]),
	ANY(entry.beside),
	ANY(entry.known.stream_size),
	COUNT(entry.known.text_size[HF_TEXT_INFO]),
	COUNT(entry.known.text_size[HF_TEXT_ERRORS]),
	COUNT(entry.known.problems),
	COLUMN(NUMBER, entry.known.arch, HF_ARCH_COUNT - 1),
	COLUMN(NUMBER, entry.known.isa, HF_ISA_COUNT - 1),
	COLUMN(NUMBER, entry.known.xlen, UINT16_MAX),
	ANY(entry.known.merged_size),
	HF_COLUMNS_DIAG(hf_catalogue_row, entry.known.undecoded),
	TEXT(PATH, PATH),
	TEXT(BOX, NAME),
	TEXT(CODEC, NAME),
	TEXT(STREAM, NAME),
	TEXT(ORIGINAL, NAME),
	COLUMN(NAME, entry.known.version, 0),
	TEXT(HARTS, LINES),
};
const struct hf_table hf_table_catalogue_file = HF_TABLE("file", HF_TABLE_META, file, struct hf_catalogue_row);

int64_t hf_catalogue_row_id(const char *path)
{
	return (int64_t)XXH3_64bits(path, strlen(path));
}

bool hf_catalogue_row_is_of(const struct hf_catalogue_row *row, const char *path,
			    const struct hf_catalogue_stamp *stamp)
{
	return strcmp(row->text[HF_CATALOGUE_PATH], path) == 0 &&
	       memcmp(&row->entry.stamp, stamp, sizeof *stamp) == 0 && row->entry.kind != HF_CATALOGUE_GONE;
}

int hf_catalogue_row_read(sqlite3_stmt *stmt, struct hf_catalogue_row *ret_row)
{
	const char *const *path = &ret_row->text[HF_CATALOGUE_PATH];
	uint64_t id;
	int err;

	*ret_row = (struct hf_catalogue_row){.entry.known.original = -1};
	err = hf_row_read(stmt, &hf_table_catalogue_file, &id, ret_row);
	if (err)
		return err;
	ret_row->id = (int64_t)id;
	return *path && ret_row->id == hf_catalogue_row_id(*path) && ret_row->entry.kind ? 0 : HF_ERR_STATE;
}

/* ---- from a row to an entry ---- */

static int view_of(const struct hf_catalogue_views *views, const char *name, size_t len)
{
	for (size_t i = 0; i < views->count; i++)
		if (strlen(views->name[i]) == len && memcmp(views->name[i], name, len) == 0)
			return (int)i;
	return -1;
}

/* A decimal number, and the character end behind it. */
static bool take_number(const char **at, char end, uint64_t max, uint64_t *ret_value)
{
	char *stop;

	if (!isdigit((unsigned char)**at))
		return false;
	*ret_value = strtoull(*at, &stop, 10);
	*at = stop + 1;
	return *stop == end && *ret_value <= max;
}

/* One line: "<id> <insns> <attempts> <events> <chunks> <texts> <samples> <markers>", then " <view>=<size>" for each view, then a line break. */
static bool take_hart(const struct hf_catalogue_views *views, const char **at, struct hf_index_hart *hart,
		      uint64_t *size)
{
	uint64_t id;
	size_t len;

	for (size_t i = 0; i < views->count; i++)
		size[i] = HF_NOWHERE;
	if (!take_number(at, ' ', UINT32_MAX, &id) || !take_number(at, ' ', HF_COUNT_MAX, &hart->insns) ||
	    !take_number(at, ' ', HF_COUNT_MAX, &hart->attempts) ||
	    !take_number(at, ' ', HF_COUNT_MAX, &hart->events) || !take_number(at, ' ', HF_COUNT_MAX, &hart->chunks) ||
	    !take_number(at, ' ', HF_COUNT_MAX, &hart->told.texts) ||
	    !take_number(at, ' ', HF_COUNT_MAX, &hart->told.samples) ||
	    !take_number(at, ' ', HF_COUNT_MAX, &hart->told.markers))
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

/* The lines after those of harts. */
static int take_profiles(const char *text, struct hf_catalogue_entry *entry)
{
	for (const char *line = text; *line; line = strchr(line, '\n') + 1)
		if (strncmp(line, HF_CATALOGUE_PROFILE, strlen(HF_CATALOGUE_PROFILE)) != 0 || !strchr(line, '\n'))
			return HF_ERR_STATE;
	entry->profiles = strdup(text);
	return entry->profiles ? 0 : HF_ERR_NOMEM;
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
	while (isdigit((unsigned char)*text)) {
		struct hf_index_hart *hart = &entry->hart[entry->hart_count];

		if (entry->hart_count == lines ||
		    !take_hart(views, &text, hart, &entry->size[entry->hart_count * views->count]) ||
		    (entry->hart_count && hart->id <= hart[-1].id))
			return HF_ERR_STATE;
		entry->hart_count++;
	}
	return *text ? take_profiles(text, entry) : 0;
}

static int take_indexed(const struct hf_catalogue_views *views, const char *const *text,
			struct hf_catalogue_entry *entry)
{
	const char *const stream = text[HF_CATALOGUE_STREAM], *const original = text[HF_CATALOGUE_ORIGINAL];
	struct hf_known *known = &entry->known;

	if (stream && !(known->codec = hf_index_codec_named(stream)))
		return HF_ERR_STATE;
	if (original && (known->original = view_of(views, original, strlen(original))) < 0)
		return HF_ERR_STATE;
	if ((known->stream_size == HF_NOWHERE) != !known->codec || !text[HF_CATALOGUE_HARTS] ||
	    (known->codec && known->stream_size > HF_COUNT_MAX) ||
	    (known->merged_size != HF_NOWHERE && known->merged_size > HF_COUNT_MAX))
		return HF_ERR_STATE;
	return take_harts(views, text[HF_CATALOGUE_HARTS], entry);
}

int hf_catalogue_row_take(const struct hf_catalogue_views *views, const struct hf_catalogue_row *row,
			  struct hf_catalogue_entry *ret_entry)
{
	const char *const box = row->text[HF_CATALOGUE_BOX], *const codec = row->text[HF_CATALOGUE_CODEC];
	struct hf_catalogue_entry entry = {
		.stamp = row->entry.stamp, .kind = row->entry.kind, .known.original = -1};
	int err = 0;

	if (entry.kind >= HF_CATALOGUE_CAPTURE &&
	    ((box && !(entry.box = hf_box_by_name(box))) || !codec || !(entry.codec = hf_index_codec_named(codec))))
		return HF_ERR_STATE;
	if (entry.kind == HF_CATALOGUE_INDEXED) {
		entry.known = row->entry.known;
		entry.beside = row->entry.beside;
		err = take_indexed(views, row->text, &entry);
	}
	if (err)
		hf_catalogue_clear(&entry);
	else
		*ret_entry = entry;
	return err;
}

void hf_catalogue_clear(struct hf_catalogue_entry *entry)
{
	free(entry->hart);
	free(entry->size);
	free(entry->profiles);
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

		fprintf(out, "%" PRIu32 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " ",
			hart->id, hart->insns, hart->attempts, hart->events, hart->chunks, hart->told.texts,
			hart->told.samples, hart->told.markers);
		for (size_t k = 0; k < views->count; k++)
			if (entry->size[i * views->count + k] != HF_NOWHERE)
				fprintf(out, "%s=%" PRIu64 " ", views->name[k], entry->size[i * views->count + k]);
		fputc('\n', out);
	}
	/* They are left out rather than all of it. */
	if (entry->profiles && !fflush(out) && size + strlen(entry->profiles) < HF_CATALOGUE_LINES_LIMIT)
		fputs(entry->profiles, out);
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

/* A copy with its own memory. */
static int copy_row(const struct hf_catalogue_row *row, struct hf_catalogue_row **ret_row)
{
	struct hf_catalogue_row *copy;
	size_t size = 0;
	char *at;

	for (int i = 0; i < HF_CATALOGUE_TEXTS; i++)
		size += row->text[i] ? strlen(row->text[i]) + 1 : 0;
	copy = malloc(sizeof *copy + size);
	if (!copy)
		return HF_ERR_NOMEM;
	*copy = *row;
	at = (char *)(copy + 1);
	for (int i = 0; i < HF_CATALOGUE_TEXTS; i++) {
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
	const struct hf_known *known = &entry->known;
	struct hf_catalogue_row row = {
		.id = hf_catalogue_row_id(path), .entry = *entry, .text[HF_CATALOGUE_PATH] = path};
	char *harts = NULL;
	int err = HF_ERR_LIMIT;

	row.entry.hart = NULL;
	row.entry.size = NULL;
	row.entry.profiles = NULL;
	row.entry.hart_count = 0;
	row.entry.known.original = -1;
	if (entry->kind >= HF_CATALOGUE_CAPTURE) {
		row.text[HF_CATALOGUE_BOX] = entry->box ? entry->box->name : NULL;
		row.text[HF_CATALOGUE_CODEC] = entry->codec->name;
	}
	if (entry->kind == HF_CATALOGUE_INDEXED) {
		row.text[HF_CATALOGUE_STREAM] = known->codec ? known->codec->name : NULL;
		row.text[HF_CATALOGUE_ORIGINAL] = known->original >= 0 ? views->name[known->original] : NULL;
		row.text[HF_CATALOGUE_HARTS] = harts = put_harts(views, entry);
		if (!harts)
			return HF_ERR_NOMEM;
	}
	if (strlen(path) < HF_CATALOGUE_PATH_LIMIT && (!harts || strlen(harts) < HF_CATALOGUE_LINES_LIMIT))
		err = copy_row(&row, ret_row);
	free(harts);
	return err;
}

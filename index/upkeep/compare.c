/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares the files of a capture with ones that are made again in memory, row by row. A build gives the same rows
 * whatever was interrupted, with any number of threads; only the compressed bytes may depend on the version of zstd.
 */
#include "index/upkeep/compare.h"

#include "index/pass/build.h"
#include "index/pass/pass.h"
#include "index/read/decode_index.h"
#include "index/read/image.h"
#include "index/store/memdir.h"
#include "index/summary/call_page.h"
#include "index/summary/page.h"
#include "index/summary/summary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct hf_table *const index_tables[] = {
	&hf_table_index_meta, &hf_table_hart,  &hf_table_chunk,	  &hf_table_point,
	&hf_table_window,     &hf_table_image, &hf_table_problem, NULL,
};
static const struct hf_table *const view_tables[] = {
	&hf_table_view_meta, &hf_table_view_hart, &hf_table_view_chunk, &hf_table_view_time, &hf_table_view_merge, NULL};

static const struct hf_table *const summary_tables[] = {
	&hf_table_summary_meta,
	&hf_table_summary_hart,
	&hf_table_summary_span,
	&hf_table_summary_context,
	&hf_table_summary_page,
	&hf_table_summary_section,
	&hf_table_summary_calls,
	&hf_table_summary_node,
	&hf_table_summary_stack,
	NULL,
};
static const struct hf_table *const *const tables_of[] = {
	[HF_DB_INDEX] = index_tables, [HF_DB_VIEW] = view_tables, [HF_DB_SUMMARY] = summary_tables};

/* A stored file, and the same made again. */
struct pair {
	struct hf_store *stored, *made;
};

static bool same_window(const void *stored, const void *made)
{
	const struct hf_packed_window *const packed[2] = {stored, made};
	uint8_t bytes[2][HF_WINDOW_MAX];
	size_t n[2];

	for (int i = 0; i < 2; i++)
		n[i] = ZSTD_decompress(bytes[i], sizeof bytes[i], packed[i]->data, packed[i]->size);
	return n[0] == n[1] && !ZSTD_isError(n[0]) && !memcmp(bytes[0], bytes[1], n[0]);
}

static bool same_page(const void *stored, const void *made)
{
	const struct hf_summary_page *const pages[2] = {stored, made};
	uint8_t bytes[2][HF_PAGE_BYTES_MAX];
	size_t n[2];

	for (int i = 0; i < 2; i++)
		n[i] = ZSTD_decompress(bytes[i], sizeof bytes[i], pages[i]->data, pages[i]->n);
	return pages[0]->first == pages[1]->first && pages[0]->end == pages[1]->end &&
	       pages[0]->runs == pages[1]->runs &&
	       pages[0]->size == pages[1]->size && n[0] == n[1] && !ZSTD_isError(n[0]) &&
	       !memcmp(bytes[0], bytes[1], n[0]);
}

static bool same_call_page(const void *stored, const void *made)
{
	const struct hf_summary_call_page *const pages[2] = {stored, made};
	uint8_t bytes[2][HF_CALL_PAGE_BYTES_MAX];
	size_t n[2];

	for (int i = 0; i < 2; i++)
		n[i] = ZSTD_decompress(bytes[i], sizeof bytes[i], pages[i]->data, pages[i]->n);
	return pages[0]->first == pages[1]->first && pages[0]->count == pages[1]->count &&
	       pages[0]->size == pages[1]->size && n[0] == n[1] && !ZSTD_isError(n[0]) &&
	       !memcmp(bytes[0], bytes[1], n[0]);
}

static bool same_row(const struct hf_table *table, const void *stored, const void *made)
{
	if (table == &hf_table_window)
		return same_window(stored, made);
	if (table == &hf_table_summary_node || table == &hf_table_summary_stack)
		return same_call_page(stored, made);
	return table == &hf_table_summary_page ? same_page(stored, made) : hf_row_equal(table, stored, made);
}

/* Compares the next rows at or behind *key, or the end of both. A stored row that cannot be read differs. */
static int same_step(const struct pair *pair, const struct hf_table *table, uint64_t *key, void *rows[2],
		     bool *ret_same, bool *ret_end)
{
	uint64_t stored_key = *key, made_key = *key;
	const int stored = hf_store_find(pair->stored, table, HF_SEEK_FROM, *key, &stored_key, rows[0]);
	const int made = hf_store_find(pair->made, table, HF_SEEK_FROM, *key, &made_key, rows[1]);

	*ret_same = stored == made && stored_key == made_key;
	*ret_end = made == HF_NOTE_END;
	if (made < 0)
		return made;
	if (stored < 0)
		return stored == HF_ERR_STATE ? 0 : stored;
	if (*ret_same && !*ret_end)
		*ret_same = same_row(table, rows[0], rows[1]);
	*key = made_key + 1;
	return 0;
}

static int compare_rows(const struct pair *pair, const struct hf_table *table, bool *ret_same)
{
	void *rows[2] = {calloc(1, table->row_size), calloc(1, table->row_size)};
	int err = rows[0] && rows[1] ? 0 : HF_ERR_NOMEM;
	uint64_t key = 0;
	bool end = false;

	*ret_same = true;
	while (!err && *ret_same && !end)
		err = same_step(pair, table, &key, rows, ret_same, &end);
	free(rows[0]);
	free(rows[1]);
	return err;
}

/* The decompressed code of the hart in that slot, for hf_sink_fini_memory. */
static int unpack_image(struct hf_store *store, uint64_t slot, uint64_t *ret_events, struct hf_sink *ret_sink)
{
	struct hf_image *image;
	int err = hf_sink_init_memory(ret_sink, 0);

	if (err)
		return err;
	err = hf_index_image_get(store, slot, ret_events, &image);
	if (!err)
		hf_image_save(image, ret_sink);
	hf_image_free(image);
	return err ? err : ret_sink->err;
}

static int compare_image(const struct pair *pair, uint64_t slot, bool *ret_same)
{
	uint64_t events[2] = {0};
	struct hf_sink stored = {0}, made = {0};
	int stored_err = unpack_image(pair->stored, slot, &events[0], &stored);
	int made_err = unpack_image(pair->made, slot, &events[1], &made);

	*ret_same = stored_err == made_err && events[0] == events[1];
	if (*ret_same && !made_err)
		*ret_same = hf_sink_total(&stored) == hf_sink_total(&made) &&
			    !memcmp(stored.start, made.start, (size_t)hf_sink_total(&made));
	hf_sink_fini_memory(&stored);
	hf_sink_fini_memory(&made);
	if (made_err < 0)
		return made_err;
	return stored_err < 0 && stored_err != HF_ERR_STATE ? stored_err : 0;
}

static int compare_images(const struct pair *pair, bool *ret_same)
{
	struct hf_index_hart *harts = NULL;
	size_t count = 0;
	int err = compare_rows(pair, &hf_table_image, ret_same);

	if (err || *ret_same)
		return err;
	*ret_same = true;
	err = hf_store_list(pair->made, &hf_table_hart, true, HF_SLOT_RECORDS + 1, &harts, &count);
	for (size_t i = 0; !err && *ret_same && i < count; i++)
		err = compare_image(pair, harts[i].slot, ret_same);
	free(harts);
	return err;
}

/* *ret_table: the first that differs, or NULL. */
static int compare_tables(const struct pair *pair, const struct hf_table *const *tables,
			  const struct hf_table **ret_table)
{
	bool same = true;
	int err = 0;

	for (*ret_table = NULL; !err && same && *tables; tables++) {
		err = *tables == &hf_table_image ? compare_images(pair, &same) : compare_rows(pair, *tables, &same);
		if (!same)
			*ret_table = *tables;
	}
	return err;
}

struct comparison {
	const struct hf_build *build;
	int made_fd; /* the directory in memory, with the new files */
	hf_examine_fn fn;
	void *ctx;
};

/* A missing or invalid file is passed over, and a table of a view that is not made any more. */
static int compare_file(const struct comparison *c, const char *name, enum hf_db_kind kind)
{
	const struct hf_table *table = NULL;
	struct pair pair = {0};
	char what[80];
	int err = hf_store_open(c->build->dirfd, name, kind, &pair.stored);

	if (!err)
		err = hf_store_open(c->made_fd, name, kind, &pair.made);
	if (!err)
		err = compare_tables(&pair, tables_of[kind], &table);
	if (!err && table) {
		snprintf(what, sizeof what, "does not say what the capture does (table %s)", table->name);
		c->fn(c->ctx, name, what);
		hf_index_file_drop_open(c->build->dirfd, name, hf_store_fd(pair.stored));
	}
	hf_store_close(pair.stored);
	hf_store_close(pair.made);
	return err == HF_ERR_NOT_FOUND || err == HF_ERR_STATE ? 0 : err;
}

static int compare_files(const struct comparison *c)
{
	const struct hf_build *build = c->build;
	char name[HF_FILE_NAME_SIZE];
	int err;

	hf_index_file_name_index(&build->identity, name);
	err = compare_file(c, name, HF_DB_INDEX);
	hf_index_file_name_summary(&build->identity, name);
	if (!err)
		err = compare_file(c, name, HF_DB_SUMMARY);
	for (size_t i = 0; !err && i < build->view_count; i++)
		if (!hf_index_file_name_view(&build->identity, &build->views[i], name))
			err = compare_file(c, name, HF_DB_VIEW);
	return err;
}

static bool has_summary(const struct hf_build *build)
{
	struct hf_summary *summary;

	if (hf_summary_open(build->dirfd, &build->identity, &summary))
		return false;
	hf_summary_close(summary);
	return true;
}

/* Builds as the stored index was built: with its limits, and with records or a summary if it has them. */
static int make_again(const struct hf_build *build, struct hf_index *index, int dirfd, struct hf_diag *diag)
{
	struct hf_build again = *build;
	struct hf_view_key *views = malloc((build->view_count + 1) * sizeof *views);
	bool records = false;
	int err;

	if (!views)
		return HF_ERR_NOMEM;
	for (size_t i = 0; i < build->view_count; i++) {
		views[i] = build->views[i];
		records |= views[i].ops == &hf_enc_records;
	}
	if (!records && hf_index_records(index))
		views[again.view_count++] = (struct hf_view_key){.ops = &hf_enc_records, .params = ""};
	again.views = views;
	again.limits = hf_index_limits(index);
	again.dirfd = dirfd;
	again.summary = has_summary(build);
	err = hf_build_run(&again, diag);
	free(views);
	return err;
}

int hf_index_compare(const struct hf_build *build, hf_examine_fn fn, void *ctx, struct hf_diag *diag)
{
	struct hf_memdir *memdir = NULL;
	struct hf_index *index;
	int err = hf_index_open(build->dirfd, &build->identity, &index);

	if (err)
		return err == HF_ERR_NOT_FOUND ? 0 : err;
	err = hf_memdir_new(-1, UINT64_MAX, &memdir);
	if (!err)
		err = make_again(build, index, hf_memdir_fd(memdir), diag);
	hf_index_close(index);
	if (!err)
		err = compare_files(
			&(struct comparison){.build = build, .made_fd = hf_memdir_fd(memdir), .fn = fn, .ctx = ctx});
	hf_memdir_free(memdir);
	return err;
}

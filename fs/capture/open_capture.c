/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/capture/open_capture.h"
#include "codecs/base/errors.h"
#include "fs/archive/stamp.h"
#include "fs/base/common.h"
#include "fs/base/views.h"
#include "fs/capture/decoder_pool.h"
#include "fs/capture/open_trace.h"
#include "fs/facts/capture.h"
#include "fs/facts/catalogue_use.h"
#include "fs/facts/facts.h"
#include "fs/facts/index_dir.h"
#include "fs/facts/open_facts.h"
#include "fs/facts/opened.h"
#include "fs/facts/shared.h"
#include "fs/program/symbol_files.h"
#include "fs/stream/block_source.h"
#include "fs/stream/read_limit.h"

#include <stdlib.h>
#include <unistd.h>

void hf_open_discard_files(const struct hf_open *open, int why)
{
	struct hf_view_key key[HF_VIEW_COUNT];
	const size_t count = hf_open_views(open->capture, &open->symbol_files, key);
	const struct hf_store_dir *dir = open->capture->shared->dir;

	if (why == HF_ERR_INDEX_DIR)
		hf_index_hide(dir, &open->trace.identity, key, count);
	else
		hf_index_discard(dir, &open->trace.identity, key, count);
}

void hf_open_close(struct hf_open *open)
{
	hf_decoder_pool_drop(open);
	for (size_t i = 0; open->table && i < HF_VIEW_COUNT; i++)
		if (open->table[i])
			hf_view_table_close(open->table[i]);
	free(open->table);
	hf_stream_close(open->stream);
	hf_src_free(open->source);
	if (open->index)
		hf_index_close(open->index);
	hf_trace_close(&open->trace);
	hf_symbol_files_close(&open->symbol_files);
	hf_facts_unref(open->facts);
	free(open);
}

static int open_stream(struct hf_open *open)
{
	const struct hf_codec *codec = hf_index_codec(open->index);
	struct hf_read_limit head;
	int err;

	if (!codec)
		return 0;
	/* A header is short: no codec's first block, which may have MiB, is unpacked for it. */
	hf_read_limit_init(&head, open->source);
	head.src.until = HF_STREAM_HEAD;
	err = hf_stream_open(codec, &head.src, open->trace.setup, &open->stream, NULL);
	if (err)
		open->stream = NULL;
	/* It could be opened when it was indexed, so the index is damaged. */
	return !err || hf_err_is_passing(err) ? err : HF_ERR_STATE;
}

static int open_tables(struct hf_open *open)
{
	const struct hf_shared *shared = open->capture->shared;

	open->table = calloc(HF_VIEW_COUNT, sizeof *open->table);
	if (!open->table)
		return HF_ERR_NOMEM;
	for (size_t i = 0; i < HF_VIEW_COUNT; i++) {
		struct hf_view_key key = hf_open_view_key(shared, &open->symbol_files, i);
		int err;

		if (!hf_open_has_table(open, i))
			continue;
		err = hf_view_table_open(shared->dir, &open->trace.identity, &key, &open->table[i]);
		if (err)
			open->table[i] = NULL;
		if (err && err != HF_ERR_NOT_FOUND)
			return err;
		if (!err && !hf_view_table_fits(open->table[i], open->index)) {
			hf_view_table_close(open->table[i]);
			open->table[i] = NULL;
		}
		open->missing |= !open->table[i];
	}
	return 0;
}

bool hf_open_remove_damaged(struct hf_open *open)
{
	const struct hf_shared *shared = open->capture->shared;
	const bool first = !atomic_exchange(&open->blamed, true);
	bool any = open->index && hf_index_is_damaged(open->index);

	if (any) {
		hf_index_remove(open->index);
		if (first)
			hf_common_log(shared->common, 4, "%s: index file %s is damaged; it is made again",
				      open->capture->path, hf_index_name(open->index));
	}
	for (size_t i = 0; open->table && i < HF_VIEW_COUNT; i++) {
		const struct hf_view_table *table = open->table[i];

		if (!table || !hf_view_table_is_damaged(table))
			continue;
		any = true;
		hf_view_table_remove(table);
		if (first)
			hf_common_log(shared->common, 4, "%s: index file %s is damaged; it is made again",
				      open->capture->path, hf_view_table_name(table));
	}
	return any;
}

/* Drops an index that is of no use (HF_ERR_STATE), or cannot be read (HF_ERR_INDEX_DIR). */
static int discard(struct hf_open *open, int why)
{
	if (why == HF_ERR_INDEX_DIR)
		hf_index_dir_failed(open->capture->shared->index_dir);
	/* If some files are known to be damaged, the others stay. */
	if (why != HF_ERR_STATE || !hf_open_remove_damaged(open))
		hf_open_discard_files(open, why);
	return HF_ERR_NOT_FOUND;
}

/* Whether the index can be one of this file: what it leaves out would be lost without a word. */
static bool is_plausible(const struct hf_open *open)
{
	const struct hf_codec *codec = hf_index_codec(open->index);
	const uint64_t stream = hf_index_stream_size(open->index), file = open->trace.file->size;
	struct hf_diag damage;

	if (!codec)
		return true;
	if (codec->records && !hf_index_records(open->index))
		return false;
	/* Without a container the stream is as long as the file, or ends earlier at damage. */
	return hf_index_box(open->index) || stream == file || (stream < file && hf_index_damage(open->index, &damage));
}

static void attach_spool(struct hf_open *open, void (*want_spool)(void *open))
{
	const struct hf_shared *shared = open->capture->shared;

	if (!shared->common->options.spool_bytes)
		return;
	open->spooling = (struct hf_spooling){
		.dir = shared->dir,
		.identity = open->trace.identity,
		.wanted = want_spool,
		.ctx = open,
		.reads = &shared->common->metrics.spool_reads,
		.damaged = &shared->common->metrics.spools_damaged,
	};
	hf_block_source_spool(open->source, &open->spooling);
}

/* Opens what is in the index directory. HF_ERR_NOT_FOUND: there is nothing, or it was of no use and is dropped. */
static int open_indexed(struct hf_open *open, void (*want_spool)(void *open))
{
	const struct hf_shared *shared = open->capture->shared;
	int err = hf_index_open(shared->dir, &open->trace.identity, &open->index);

	if (err)
		open->index = NULL;
	else if (!is_plausible(open))
		return discard(open, HF_ERR_STATE);
	if (!err) {
		err = hf_symbol_files_place(&open->symbol_files, &open->capture->load_addresses, open->version,
					    open->index, NULL);
		if (err)
			return err;
		err = hf_block_source_new(open->trace.file, open->index, shared->common->cache, &open->source);
		if (err) {
			open->source = NULL;
			return err;
		}
		attach_spool(open, want_spool);
		err = open_stream(open);
		/* If the archive cannot be read, the index is not to blame. */
		if (err && err != HF_ERR_STATE)
			return err;
	}
	if (!err)
		err = open_tables(open);
	if (!err || err == HF_ERR_NOT_FOUND || hf_err_is_shortage(err))
		return err;
	return discard(open, err);
}

/* Opens all from the file on. The caller closes, also after an error. */
static int open_all(struct hf_open *open, const struct hf_stamp *stamp, void (*want_spool)(void *open))
{
	int err = hf_capture_open_trace(open->capture, stamp, &open->trace, NULL);

	if (!err)
		err = hf_capture_open_symbol_files(open->capture, &open->trace, stamp, &open->symbol_files);
	if (!err)
		err = open_indexed(open, want_spool);
	if (!err)
		err = hf_open_take_facts(open);
	/* The index's code of a hart is damaged, or cannot be read. */
	if (err == HF_ERR_STATE || err == HF_ERR_INDEX_DIR)
		err = discard(open, err);
	if (!err && open->facts->version != open->version)
		err = HF_ERR_CHANGED;
	return err;
}

/* Of ELF files images borrow the bytes. */
static uint64_t image_memory(const struct hf_setup *setup, const struct hf_setup_image *image)
{
	uint64_t bytes = image->below ? setup->image_count * sizeof *image->below : 0;

	for (size_t i = 0; i < image->program.count; i++) {
		const struct hf_program_piece *piece = &image->program.pieces[i];

		bytes += sizeof *piece;
		if (piece->origin >= setup->file_count || setup->files[piece->origin].kind != HF_SETUP_ELF)
			bytes += piece->size;
	}
	return bytes;
}

static uint64_t setup_memory(const struct hf_setup *setup)
{
	/* Bytes of a row with its texts. */
	enum { ROW = 256 };
	uint64_t bytes = 0;

	if (!setup)
		return 0;
	for (size_t i = 0; i < setup->image_count; i++)
		bytes += image_memory(setup, &setup->images[i]);
	for (size_t i = 0; i < setup->elf_count; i++)
		bytes += setup->elfs[i].program.bytes;
	return bytes + sizeof *setup + (setup->file_count * 8 + 1) * sizeof *setup->images +
	       (setup->file_count + setup->value_count + setup->part_count + setup->warning_count) * ROW;
}

uint64_t hf_open_memory(const struct hf_open *open)
{
	/* Bytes of the stream with its header, the source with its hints, and of malloc's overhead. */
	enum { SMALL = 64 << 10 };
	uint64_t bytes = SMALL + setup_memory(open->trace.setup) + hf_symbols_memory(open->symbol_files.symbols) +
			 hf_index_memory(open->index);

	for (size_t i = 0; i < HF_VIEW_COUNT; i++)
		if (open->table[i])
			bytes += hf_view_table_memory(open->table[i]);
	return bytes;
}

unsigned hf_open_files(const struct hf_open *open)
{
	unsigned count = 2; /* the index, and a spool if there is one */

	for (size_t i = 0; i < HF_VIEW_COUNT; i++)
		count += open->table[i] != NULL;
	return count;
}

int hf_open_new(struct hf_capture *capture, uint64_t version, void (*want_spool)(void *open), struct hf_open **ret_open)
{
	struct hf_open *open = calloc(1, sizeof *open);
	struct hf_stamp stamp;
	bool current;
	int err;

	if (!open)
		return HF_ERR_NOMEM;
	open->capture = capture;
	open->version = version;
	pthread_mutex_lock(&capture->lock);
	current = capture->version == version && capture->state != HF_CAPTURE_GONE;
	stamp = capture->stamp;
	pthread_mutex_unlock(&capture->lock);
	capture->shared->catalogue_use->opened++;
	err = current ? open_all(open, &stamp, want_spool) : HF_ERR_CHANGED;
	if (err) {
		hf_open_close(open);
		return err;
	}
	*ret_open = open;
	return 0;
}

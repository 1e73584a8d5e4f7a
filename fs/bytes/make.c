/* SPDX-License-Identifier: Apache-2.0 */
/* Making pieces of views: the jobs of the pool, and checking all of a capture. */
#include "codecs/isa/disasm.h"
#include "fs/capture/block_source.h"
#include "fs/bytes/view.h"

#include <stdlib.h>
#include <xxhash.h>

static int piece_of_source(const struct hf_view *view, uint64_t number, struct hf_piece *ret_piece)
{
	uint64_t offset = number * HF_SOURCE_PIECE;

	if (number > UINT64_MAX / HF_SOURCE_PIECE || offset >= view->size)
		return HF_NOTE_END;
	*ret_piece = (struct hf_piece){.number = number, .offset = offset, .size = view->size - offset};
	if (ret_piece->size > HF_SOURCE_PIECE)
		ret_piece->size = HF_SOURCE_PIECE;
	return 0;
}

static void take_piece(const struct hf_view_chunk *chunk, struct hf_piece *ret_piece)
{
	*ret_piece = (struct hf_piece){.number = chunk->number, .offset = chunk->offset, .size = chunk->size};
}

/* What is cut evenly, and not into chunks. */
static bool is_even(const struct hf_view *view)
{
	return view->view < 0 || view->view == HF_VIEW_PROGRAM || view->view >= HF_VIEW_COUNT;
}

int hf_view_piece_of(const struct hf_view *view, struct hf_open *open, uint64_t offset, struct hf_piece *ret_piece)
{
	struct hf_view_chunk chunk;
	int err;

	if (is_even(view))
		return piece_of_source(view, offset / HF_SOURCE_PIECE, ret_piece);
	if (view->slice)
		return hf_slice_piece_of(view, offset, ret_piece);
	err = hf_view_table_chunk_of(open->table[view->view], view->hart, offset, &chunk);
	if (!err)
		take_piece(&chunk, ret_piece);
	return err;
}

int hf_view_piece(const struct hf_view *view, struct hf_open *open, uint64_t number, struct hf_piece *ret_piece)
{
	const struct hf_facts_hart *hart = hf_facts_hart(open->facts, view->hart);
	struct hf_view_chunk chunk;
	int err;

	if (is_even(view))
		return piece_of_source(view, number, ret_piece);
	if (view->slice)
		return hf_slice_piece(view, number, ret_piece);
	if (!hart || number >= hart->info.chunks)
		return HF_NOTE_END;
	err = hf_view_table_chunk(open->table[view->view], view->hart, number, &chunk);
	if (!err)
		take_piece(&chunk, ret_piece);
	return err;
}

/* A piece of the decompressed stream. */
static int make_source(const struct hf_view *view, struct hf_open *open, uint64_t number, uint8_t **ret_bytes,
		       size_t *ret_size)
{
	struct hf_piece piece;
	uint8_t *bytes;
	size_t have = 0, n;
	int err = piece_of_source(view, number, &piece);

	if (err)
		return HF_ERR_BUG;
	bytes = hf_cache_alloc(view->capture->fs->cache, (size_t)piece.size);
	if (!bytes)
		return HF_ERR_NOMEM;
	while (have < piece.size && !err) {
		err = hf_src_read_at(open->source, piece.offset + have, bytes + have, (size_t)piece.size - have, &n,
				     NULL);
		have += n;
		/* The index says that these bytes are there and good. */
		if (!err && !n)
			err = HF_ERR_MISMATCH;
	}
	if (err) {
		free(bytes);
		/* A damaged chunk is what the index says too. */
		return hf_err_class(err) == HF_CLASS_corrupt && err != HF_ERR_ZSTF_CHUNK ? HF_ERR_MISMATCH : err;
	}
	*ret_bytes = bytes;
	*ret_size = have;
	return 0;
}

static int make_program(const struct hf_view *view, struct hf_open *open, uint64_t number, uint8_t **ret_bytes,
			size_t *ret_size)
{
	struct hf_piece piece;
	uint8_t *bytes;
	int err = piece_of_source(view, number, &piece);

	if (err)
		return HF_ERR_BUG;
	bytes = hf_cache_alloc(view->capture->fs->cache, (size_t)piece.size + HF_SINK_ROOM);
	if (!bytes)
		return HF_ERR_NOMEM;
	err = hf_executable_read(open, view->hart, view->owner, view->size, piece.offset, (size_t)piece.size, bytes);
	if (err) {
		free(bytes);
		return err;
	}
	*ret_bytes = bytes;
	*ret_size = (size_t)piece.size;
	return 0;
}

/* A piece of a file beside an encoder's own: those are small, so all of it is made. */
static int make_side(const struct hf_view *view, struct hf_open *open, uint64_t number, uint8_t **ret_bytes,
		     size_t *ret_size)
{
	const struct hf_facts_hart *hart = hf_facts_hart(open->facts, view->hart);
	struct hf_piece piece;
	struct hf_sink sink;
	int err = !hart || piece_of_source(view, number, &piece) ? HF_ERR_BUG : hf_sink_init_memory(&sink, 0);

	if (err)
		return err;
	err = hf_executable_side(open, view->hart, hart->view[HF_VIEW_PROGRAM].owner, (size_t)view->view, &sink);
	if (!err && hf_sink_total(&sink) != view->size)
		err = HF_ERR_MISMATCH;
	*ret_bytes = err ? NULL : hf_cache_alloc(view->capture->fs->cache, (size_t)piece.size);
	if (*ret_bytes) {
		memcpy(*ret_bytes, sink.start + piece.offset, (size_t)piece.size);
		*ret_size = (size_t)piece.size;
	} else if (!err) {
		err = HF_ERR_NOMEM;
	}
	hf_sink_fini_memory(&sink);
	return err;
}

void hf_view_env(struct hf_worker *worker, const struct hf_open *open, size_t view)
{
	worker->env.symbols = open->companion.symbols;
	worker->env.params = open->capture->fs->view_options[view];
}

static int make_bytes(const struct hf_view *view, struct hf_open *open, const struct hf_chunk *chunk,
		      const struct hf_view_chunk *view_chunk, struct hf_worker *worker, uint8_t *bytes)
{
	const struct hf_view_key key = {.ops = hf_fs_view_ops((size_t)view->view)};
	struct hf_sink sink;
	int err;

	/* There was no memory for it when the thread began: other bytes would come out without. */
	if (!worker->env.disasm && hf_disasm_new(&worker->env.disasm)) {
		worker->env.disasm = NULL;
		return HF_ERR_NOMEM;
	}
	hf_sink_init_buffer(&sink, bytes, (size_t)view_chunk->size + HF_SINK_ROOM);
	hf_view_env(worker, open, (size_t)view->view);
	err = hf_chunk_make(open->stream, open->source, view->hart, chunk, &key, &worker->env, view_chunk->entry,
			    view_chunk->entry_size, &sink, NULL);
	if (err < 0)
		return hf_err_is_passing(err) ? err : HF_ERR_MISMATCH;
	if (sink.err || hf_sink_total(&sink) != view_chunk->size ||
	    XXH3_64bits(bytes, (size_t)view_chunk->size) != view_chunk->checksum)
		return HF_ERR_MISMATCH;
	return 0;
}

/* A chunk of a hart's view. */
static int make_chunk(const struct hf_view *view, struct hf_open *open, uint64_t number, struct hf_worker *worker,
		      uint8_t **ret_bytes, size_t *ret_size)
{
	struct {
		struct hf_view_chunk view;
		struct hf_chunk chunk;
	} *row = malloc(sizeof *row);
	uint8_t *bytes = NULL;
	int err = row ? hf_view_table_chunk(open->table[view->view], view->hart, number, &row->view) : HF_ERR_NOMEM;

	if (!err)
		err = hf_index_chunk(open->index, view->hart, number, &row->chunk);
	/* The index does not have what it has promised. */
	if (err == HF_ERR_NOT_FOUND)
		err = HF_ERR_MISMATCH;
	if (!err) {
		if (row->view.size < SIZE_MAX - HF_SINK_ROOM)
			bytes = hf_cache_alloc(view->capture->fs->cache, (size_t)row->view.size + HF_SINK_ROOM);
		err = bytes ? make_bytes(view, open, &row->chunk, &row->view, worker, bytes) : HF_ERR_NOMEM;
	}
	if (!err) {
		*ret_size = (size_t)row->view.size;
		*ret_bytes = bytes;
	} else {
		free(bytes);
	}
	free(row);
	return err;
}

static int make_piece(const struct hf_view *view, struct hf_open *open, uint64_t number, struct hf_worker *worker,
		      uint8_t **ret_bytes, size_t *ret_size)
{
	if (view->view < 0)
		return make_source(view, open, number, ret_bytes, ret_size);
	if (view->view == HF_VIEW_PROGRAM)
		return make_program(view, open, number, ret_bytes, ret_size);
	if (view->view >= HF_VIEW_COUNT)
		return make_side(view, open, number, ret_bytes, ret_size);
	if (view->slice)
		return hf_slice_make(view, open, number, worker, ret_bytes, ret_size);
	return make_chunk(view, open, number, worker, ret_bytes, ret_size);
}

/* Whether the capture is still that version. Looks at the file. */
static int check_version(const struct hf_view *view)
{
	struct stat st;
	int err = hf_capture_check(view->capture, &st);

	if (err && err != HF_ERR_NOT_FOUND)
		return err;
	return err || view->capture->version != view->version ? HF_ERR_CHANGED : 0;
}

int hf_view_open(const struct hf_view *view, unsigned wait_ms, struct hf_open **ret_open)
{
	const bool table = !is_even(view) && !view->slice;

	return hf_capture_reopen(view->capture, view->version, table ? view->view : -1, wait_ms, ret_open);
}

int hf_view_make(const struct hf_view *view, uint64_t number, struct hf_worker *worker, uint8_t **ret_bytes,
		 size_t *ret_size)
{
	struct hf_open *open;
	int err, after;

	if (hf_fs_stopping(view->capture->fs))
		return HF_ERR_CANCELLED;
	err = check_version(view);
	if (!err)
		err = hf_view_open(view, 0, &open);
	if (err)
		return err;
	err = make_piece(view, open, number, worker, ret_bytes, ret_size);
	/* Bytes of a file that changed while it was read are nobody's; nor is the index to blame for them. */
	after = err && err != HF_ERR_MISMATCH && err != HF_ERR_STATE ? 0 : check_version(view);
	if (after) {
		if (!err)
			free(*ret_bytes);
		err = after;
	}
	hf_open_blame(open, err);
	hf_open_put(open);
	return err;
}

struct make_job {
	struct hf_job job;
	struct hf_view view;
	uint64_t number;
	struct hf_block *block;
	uint8_t *bytes; /* made */
	size_t size;
};

static int run_make(struct hf_job *job, struct hf_worker *worker)
{
	struct make_job *make = (struct make_job *)job;
	struct hf_fs *fs = make->view.capture->fs;
	int64_t start_ns = hf_fs_now_ns();
	int err = hf_view_make(&make->view, make->number, worker, &make->bytes, &make->size);

	hf_metrics_add(err ? &fs->metrics.chunk_errors : &fs->metrics.chunks, 1);
	hf_metrics_add(&fs->metrics.chunk_bytes, err ? 0 : make->size);
	hf_metrics_add(&fs->metrics.chunk_ns, (uint64_t)(hf_fs_now_ns() - start_ns));
	return err;
}

static void end_make(struct hf_job *job, int err)
{
	struct make_job *make = (struct make_job *)job;
	struct hf_cache *cache = make->view.capture->fs->cache;

	if (err)
		hf_cache_fail(cache, make->block, err);
	else
		hf_cache_fill(cache, make->block, make->bytes, make->size);
	if (make->view.slice)
		hf_slice_put(make->view.slice);
	free(make);
}

void hf_view_submit(const struct hf_view *view, uint64_t number, struct hf_block *block, enum hf_urgency urgency)
{
	struct hf_fs *fs = view->capture->fs;
	struct make_job *make = malloc(sizeof *make);

	if (!make) {
		hf_cache_fail(fs->cache, block, HF_ERR_NOMEM);
		return;
	}
	*make = (struct make_job){.job = {.fn = run_make, .done = end_make, .work = HF_WORK_DECODE, .urgency = urgency},
				  .view = *view,
				  .number = number,
				  .block = block};
	/* The file may be closed before the job runs. */
	if (view->slice)
		hf_slice_ref(view->slice);
	hf_job_submit(fs->exec, &make->job);
}

/* Checking every chunk of every view, on all threads that decode. */
struct verify {
	pthread_mutex_t lock;
	struct hf_view *view;
	uint64_t *bad_of; /* view[i] */
	size_t view_count;
	size_t next_view;
	uint64_t next_number;
	struct hf_open *open;
	uint64_t chunks, bad;
	int err;
};

struct verify_job {
	struct hf_job job;
	struct verify *verify;
};

/* The next chunk to be checked. */
static bool take_chunk(struct verify *verify, size_t *ret_i, struct hf_view *ret_view, uint64_t *ret_number)
{
	struct hf_piece piece;
	bool found = false;

	pthread_mutex_lock(&verify->lock);
	while (!found && !verify->err && verify->next_view < verify->view_count) {
		*ret_i = verify->next_view;
		*ret_view = verify->view[verify->next_view];
		*ret_number = verify->next_number++;
		found = hf_view_piece(ret_view, verify->open, *ret_number, &piece) != HF_NOTE_END;
		if (!found) {
			verify->next_view++;
			verify->next_number = 0;
		}
	}
	verify->chunks += found;
	pthread_mutex_unlock(&verify->lock);
	return found;
}

static int run_verify(struct hf_job *job, struct hf_worker *worker)
{
	struct verify *verify = ((struct verify_job *)job)->verify;
	struct hf_view view;
	uint64_t number;
	size_t i;

	while (take_chunk(verify, &i, &view, &number)) {
		uint8_t *bytes;
		size_t size;
		int err = make_piece(&view, verify->open, number, worker, &bytes, &size);

		if (!err)
			free(bytes);
		pthread_mutex_lock(&verify->lock);
		/* A damaged chunk of the container is as the index has it. */
		if (err == HF_ERR_MISMATCH || err == HF_ERR_STATE)
			verify->bad++, verify->bad_of[i]++;
		else if (err && err != HF_ERR_ZSTF_CHUNK)
			verify->err = err;
		pthread_mutex_unlock(&verify->lock);
	}
	return 0;
}

/* All that can be made of a capture: the views with a table, and the stream. */
static int list_views(struct verify *verify, struct hf_capture *capture)
{
	const struct hf_facts *facts = verify->open->facts;

	verify->view = calloc((facts->hart_count + 1) * HF_VIEW_ALL + 1, sizeof *verify->view);
	verify->bad_of = calloc((facts->hart_count + 1) * HF_VIEW_ALL + 1, sizeof *verify->bad_of);
	if (!verify->view || !verify->bad_of)
		return HF_ERR_NOMEM;
	if (facts->source.size != HF_NOWHERE)
		verify->view[verify->view_count++] = (struct hf_view){
			.capture = capture, .version = facts->version, .size = facts->source.size, .view = -1};
	for (size_t i = 0; i < facts->hart_count + facts->has_records; i++)
		for (int k = 0; k < HF_VIEW_ALL; k++)
			if (facts->hart[i].view[k].size != HF_NOWHERE && k != facts->original)
				verify->view[verify->view_count++] = (struct hf_view){
					.capture = capture,
					.version = facts->version,
					.owner = facts->hart[i].view[k].owner,
					.size = facts->hart[i].view[k].size,
					.hart = facts->hart[i].info.id,
					.view = k,
				};
	return 0;
}

/* Which files promised something else. */
static void tell_bad(struct hf_fs *fs, const struct verify *verify)
{
	for (size_t i = 0; verify->bad_of && i < verify->view_count; i++) {
		const int view = verify->view[i].view;
		const struct hf_view_table *table = is_even(&verify->view[i]) ? NULL : verify->open->table[view];

		if (verify->bad_of[i])
			hf_fs_log(fs, 4, "%s: index file %s: %llu chunks do not come out as it promises",
				  verify->view[i].capture->path,
				  table ? hf_view_table_name(table) : hf_index_name(verify->open->index),
				  (unsigned long long)verify->bad_of[i]);
	}
}

static int run_all(struct hf_fs *fs, struct verify *verify)
{
	const unsigned threads = hf_exec_seats(fs->exec, HF_WORK_DECODE);
	struct verify_job *job = calloc(threads, sizeof *job);

	if (!job)
		return HF_ERR_NOMEM;
	for (unsigned i = 0; i < threads; i++) {
		job[i] = (struct verify_job){.job = {.fn = run_verify, .work = HF_WORK_DECODE, .urgency = HF_LATER},
					     .verify = verify};
		hf_job_submit(fs->exec, &job[i].job);
	}
	for (unsigned i = 0; i < threads; i++)
		hf_job_join(&job[i].job);
	free(job);
	return verify->err;
}

int hf_fs_verify(struct hf_fs *fs, const char *path, uint64_t *ret_chunks, uint64_t *ret_bad, struct hf_diag *diag)
{
	struct verify verify = {.lock = PTHREAD_MUTEX_INITIALIZER};
	struct hf_capture *capture;
	uint64_t version = 0;
	int err = hf_capture_at(fs, path, &capture);

	*ret_chunks = *ret_bad = 0;
	if (!err) {
		version = capture->version;
		err = hf_open_get(capture, version, &verify.open);
	}
	/* Somebody removed a table just now. */
	if (!err && verify.open->missing) {
		hf_open_put(verify.open);
		err = HF_ERR_NOT_FOUND;
	}
	if (err)
		return hf_diag_set(diag, err, HF_SPACE_FILE, HF_NOWHERE, 0);
	err = list_views(&verify, capture);
	if (!err)
		err = run_all(fs, &verify);
	*ret_chunks = verify.chunks;
	*ret_bad = verify.bad;
	tell_bad(fs, &verify);
	hf_open_put(verify.open);
	free(verify.view);
	free(verify.bad_of);
	/* Nobody else is to be served from it. */
	if (verify.bad)
		hf_capture_distrust(capture, version, HF_ERR_MISMATCH);
	return err ? hf_diag_set(diag, err, HF_SPACE_FILE, HF_NOWHERE, 0) : 0;
}

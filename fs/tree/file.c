/* SPDX-License-Identifier: Apache-2.0 */
/* Open files: the archive's own, small texts made when opened, and views. */
#include "fs/capture/info.h"
#include "fs/base/log_ring.h"
#include "fs/tree/tree.h"
#include "fs/bytes/view.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>
#include <xxhash.h>

static int open_plain(struct hf_file *file, bool *ret_keep)
{
	struct hf_fs *fs = file->fs;
	struct hf_stamp stamp;
	struct stat st;
	uint64_t words[4];
	int fd, err = hf_archive_open_file(&fs->archive, file->node->key.path, &fd, &st);

	if (err)
		return err;
	err = hf_held_new(&fs->held, file->node->key.path, fd, &st, HF_HELD_FILE, &file->held);
	if (!err && (st.st_ino != file->node->key.content || !hf_tree_told_rights(file->node, &st)))
		err = HF_ERR_CHANGED;
	if (err)
		return err;
	stamp = hf_stamp_of(&st);
	memcpy(words, (uint64_t[]){stamp.dev, stamp.ino, (uint64_t)stamp.size, (uint64_t)stamp.mtime_ns},
	       sizeof words);
	*ret_keep = hf_node_keep(&fs->nodes, file->node, XXH3_64bits(words, sizeof words));
	return 0;
}

/* The texts about a capture. Without facts there is no more than the state. */
static int make_capture_text(struct hf_file *file, bool *ret_keep)
{
	struct hf_fs *fs = file->fs;
	struct hf_capture *capture = file->node->key.capture;
	struct hf_facts *facts;
	struct hf_open *open = NULL;
	struct stat st;
	int err = hf_tree_check(file->node, 0, &facts, &st);

	if (!err)
		err = hf_capture_confirm(capture, 0, &facts);
	if (err)
		return err;
	/* Of what is not what the name was looked up for another text may be said by now. */
	if (!err && file->node->key.content != (facts ? hf_facts_text(facts) : 0))
		err = HF_ERR_CHANGED;
	if (!err && facts && !facts->failure.code)
		err = hf_capture_reopen(capture, facts->version, -1, HF_REPAIR_MS, &open);
	if (!err && facts) {
		*ret_keep = hf_node_keep(&fs->nodes, file->node, facts->version);
		if (file->version && file->version != facts->version)
			err = HF_ERR_CHANGED;
		file->version = facts->version;
	}
	if (err)
		;
	else if (file->node->key.kind == HF_NODE_INFO)
		hf_info_json(capture, open, facts, &file->text);
	else if (file->node->key.kind == HF_NODE_ERRORS && facts)
		hf_info_errors(capture, open, facts, &file->text);
	else if (file->node->key.kind == HF_NODE_INDEXING && !facts)
		hf_info_indexing(capture, &file->text);
	else
		err = HF_ERR_NOT_FOUND;
	/* A file is as long as its size says. */
	if (!err && facts && hf_sink_total(&file->text) !=
				     (file->node->key.kind == HF_NODE_INFO ? facts->info_size : facts->errors_size)) {
		hf_capture_distrust(capture, facts->version, HF_ERR_MISMATCH);
		err = HF_ERR_CHANGED;
	}
	if (open)
		hf_open_put(open);
	hf_facts_unref(facts);
	return err;
}

static int make_slice_text(struct hf_file *file)
{
	const struct hf_node_key *key = &file->node->key;
	struct hf_slice *slice;
	struct hf_facts *facts;
	struct stat st;
	int err = hf_tree_check(file->node, 0, &facts, &st);

	if (!err)
		err = facts ? hf_slice_get(key->capture, facts, key->hart, key->first, key->last, &slice)
			    : HF_ERR_NOT_FOUND;
	if (!err) {
		hf_slice_indexing(slice, &file->text);
		hf_slice_put(slice);
	}
	hf_facts_unref(facts);
	return err;
}

static void drop_text(struct hf_kept *kept)
{
	struct hf_file *file = (struct hf_file *)((char *)kept - offsetof(struct hf_file, kept));

	hf_sink_fini_memory(&file->text);
}

/* The text of the same version again, which others have displaced. Pinned. */
static int make_again(struct hf_file *file)
{
	bool keep;
	int err = hf_sink_init_memory(&file->text, 0);

	if (err)
		return err;
	err = make_capture_text(file, &keep);
	if (!err)
		err = file->text.err;
	if (err)
		hf_sink_fini_memory(&file->text);
	else
		hf_kept_made(&file->fs->kepts, &file->kept, (size_t)hf_sink_total(&file->text));
	return err;
}

static int open_text(struct hf_file *file, bool *ret_keep)
{
	int err = hf_sink_init_memory(&file->text, 0);

	if (err)
		return err;
	file->kind = HF_FILE_TEXT;
	switch (file->node->key.kind) {
	case HF_NODE_STATUS:
		hf_control_status(file->fs, &file->text);
		break;
	case HF_NODE_PROGRESS:
		hf_control_progress(file->fs, &file->text);
		break;
	case HF_NODE_METRICS:
		hf_control_metrics(file->fs, &file->text);
		break;
	case HF_NODE_LOG:
		hf_log_ring_write(file->fs->options.log_ring, &file->text);
		break;
	case HF_NODE_SLICE_INDEXING:
		err = make_slice_text(file);
		break;
	default:
		err = make_capture_text(file, ret_keep);
		break;
	}
	if (!err)
		err = file->text.err;
	hf_node_show(&file->fs->nodes, file->node, (size_t)hf_sink_total(&file->text));
	if (err)
		file->version = 0;
	if (file->version) {
		file->kept.drop = drop_text;
		hf_kept_made(&file->fs->kepts, &file->kept, (size_t)hf_sink_total(&file->text));
		hf_kept_unpin(&file->fs->kepts, &file->kept);
	}
	return err;
}

static int open_slice(struct hf_file *file, bool *ret_keep)
{
	const struct hf_node_key *key = &file->node->key;
	struct hf_slice *slice;
	struct hf_facts *facts;
	struct stat st;
	int err = hf_tree_check(file->node, hf_tree_patience(key->capture, false), &facts, &st);

	if (!err)
		err = hf_capture_confirm(key->capture, hf_tree_patience(key->capture, false), &facts);
	if (!err)
		err = facts ? hf_slice_get(key->capture, facts, key->hart, key->first, key->last, &slice)
			    : HF_ERR_NOT_FOUND;
	if (!err) {
		file->kind = HF_FILE_VIEW;
		err = hf_slice_view(slice, facts, key->view, &file->view);
		/* The view keeps the reference if it needs the slice. */
		if (err || !file->view.slice)
			hf_slice_put(slice);
	}
	if (!err)
		*ret_keep = hf_node_keep(&file->fs->nodes, file->node, facts->version);
	hf_facts_unref(facts);
	return err == HF_ERR_BUSY ? HF_ERR_CHANGED : err;
}

static int open_view(struct hf_file *file, bool *ret_keep)
{
	const struct hf_node_key *key = &file->node->key;
	const struct hf_facts_hart *hart;
	const struct hf_facts_view *found = NULL;
	struct hf_facts *facts;
	struct stat st;
	int err = hf_tree_check(file->node, hf_tree_patience(key->capture, false), &facts, &st);

	/* The size that the kernel was told is that of the index, or it is told again. */
	if (!err)
		err = hf_capture_confirm(key->capture, hf_tree_patience(key->capture, false), &facts);
	if (err)
		return err;
	if (!facts)
		return HF_ERR_NOT_FOUND;
	file->kind = HF_FILE_VIEW;
	file->view = (struct hf_view){
		.capture = key->capture, .version = facts->version, .hart = key->hart, .view = (int)key->view};
	hart = hf_facts_hart(facts, key->hart);
	if (key->kind == HF_NODE_VIEW && hart)
		found = &hart->view[key->view];
	/* The original of a one-hart stream and source.stf are the same bytes: one place in the cache. */
	if (key->kind == HF_NODE_SOURCE || (found && facts->original == file->view.view)) {
		found = &facts->source;
		file->view.view = -1;
	}
	if (found && found->size != HF_NOWHERE) {
		file->view.size = found->size;
		file->view.owner = found->owner;
		*ret_keep = hf_node_keep(&file->fs->nodes, file->node, facts->version);
	} else {
		err = HF_ERR_NOT_FOUND;
	}
	hf_facts_unref(facts);
	return err;
}

int hf_file_open(struct hf_fs *fs, uint64_t ino, struct hf_file **ret_file, bool *ret_keep)
{
	struct hf_file *file = calloc(1, sizeof *file);
	int err;

	*ret_file = NULL;
	*ret_keep = false;
	if (!file)
		return HF_ERR_NOMEM;
	file->fs = fs;
	pthread_mutex_init(&file->reading.lock, NULL);
	file->node = hf_node_ref(&fs->nodes, ino);
	if (!file->node)
		err = HF_ERR_NOT_FOUND;
	else if (file->node->key.kind == HF_NODE_PLAIN)
		err = open_plain(file, ret_keep);
	else if (hf_node_is_text(&file->node->key))
		err = open_text(file, ret_keep);
	else if (file->node->key.kind == HF_NODE_SOURCE || file->node->key.kind == HF_NODE_VIEW)
		err = open_view(file, ret_keep);
	else if (file->node->key.kind == HF_NODE_SLICE_VIEW)
		err = open_slice(file, ret_keep);
	else
		err = HF_ERR_NOT_FOUND;
	if (err)
		hf_file_close(file);
	else
		*ret_file = file;
	return err;
}

void hf_file_close(struct hf_file *file)
{
	hf_held_free(file->held);
	if (file->kind == HF_FILE_TEXT) {
		hf_node_unshow(&file->fs->nodes, file->node);
		if (file->version)
			hf_kept_end(&file->fs->kepts, &file->kept);
		else
			hf_sink_fini_memory(&file->text);
	}
	if (file->view.slice)
		hf_slice_put(file->view.slice);
	if (file->node)
		hf_node_unref(&file->fs->nodes, file->node, 1);
	pthread_mutex_destroy(&file->reading.lock);
	free(file);
}

static int pread_all(int fd, uint8_t *bytes, size_t size, uint64_t offset, size_t *ret_n)
{
	/* No file is as long as the largest offset. */
	while (*ret_n < size && offset <= INT64_MAX - size) {
		ssize_t n = pread(fd, bytes + *ret_n, size - *ret_n, (off_t)(offset + *ret_n));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return hf_archive_error(errno);
		if (!n)
			break;
		*ret_n += (size_t)n;
	}
	return 0;
}

/* The kernel has read it ahead where that pays, so this is a copy out of its cache most of the time. */
static int read_plain(struct hf_fs *fs, struct hf_read *read)
{
	uint8_t *bytes = malloc(read->size ? read->size : 1);
	struct hf_request *rq;
	size_t have = 0;
	int fd, err = bytes ? hf_held_pin(read->file->held, &fd) : HF_ERR_NOMEM;

	if (!err) {
		err = pread_all(fd, bytes, read->size, read->offset, &have);
		hf_held_unpin(read->file->held);
	}
	if (err) {
		free(bytes);
		return err;
	}
	err = hf_request_new(fs, read, 0, bytes, &rq);
	if (err) {
		free(bytes);
		return err;
	}
	read->pieces = have > 0;
	read->piece[0].bytes = bytes;
	read->piece[0].size = have;
	return 0;
}

/* A copy: the text itself may be displaced as soon as nobody reads it. */
static int copy_text(struct hf_fs *fs, struct hf_read *read)
{
	const struct hf_sink *text = &read->file->text;
	const size_t size = (size_t)hf_sink_total(text);
	struct hf_request *rq;
	uint8_t *bytes;
	size_t n;
	int err;

	if (read->offset >= size || !read->size)
		return 0;
	n = size - read->offset < read->size ? (size_t)(size - read->offset) : read->size;
	bytes = malloc(n);
	if (!bytes)
		return HF_ERR_NOMEM;
	memcpy(bytes, text->start + read->offset, n);
	err = hf_request_new(fs, read, 0, bytes, &rq);
	if (err) {
		free(bytes);
		return err;
	}
	read->pieces = 1;
	read->piece[0].bytes = bytes;
	read->piece[0].size = n;
	return 0;
}

static int read_text(struct hf_fs *fs, struct hf_read *read)
{
	struct hf_file *file = read->file;
	int err = 0;

	if (!file->version)
		return copy_text(fs, read);
	pthread_mutex_lock(&file->reading.lock);
	if (!hf_kept_pin(&fs->kepts, &file->kept))
		err = make_again(file);
	pthread_mutex_unlock(&file->reading.lock);
	if (err)
		return err;
	err = copy_text(fs, read);
	hf_kept_unpin(&fs->kepts, &file->kept);
	return err;
}

void hf_fs_read(struct hf_fs *fs, struct hf_read *read)
{
	read->err = 0;
	read->pieces = 0;
	__atomic_store_n(&read->state, NULL, __ATOMIC_RELAXED);
	hf_metrics_add(&fs->metrics.reads[read->file->kind], 1);
	switch (read->file->kind) {
	case HF_FILE_VIEW:
		hf_view_read(fs, read);
		return;
	case HF_FILE_TEXT:
		read->err = read_text(fs, read);
		break;
	case HF_FILE_PLAIN:
		read->err = read_plain(fs, read);
		break;
	}
	read->done(read);
}

struct waiting {
	pthread_mutex_t lock;
	pthread_cond_t cond;
	bool done;
};

static void wake(struct hf_read *read)
{
	struct waiting *waiting = read->ctx;

	pthread_mutex_lock(&waiting->lock);
	waiting->done = true;
	pthread_cond_signal(&waiting->cond);
	pthread_mutex_unlock(&waiting->lock);
}

/* So much at once: what a request may gather in memory. */
enum { WAIT_PIECE = 1 << 20 };

int hf_fs_read_wait(struct hf_fs *fs, struct hf_file *file, uint64_t offset, void *buf, size_t size, size_t *ret_n)
{
	struct waiting waiting = {.lock = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER};
	uint8_t *to = buf;
	size_t got = 1, most = WAIT_PIECE;
	int err = 0;

	*ret_n = 0;
	while (*ret_n < size && got && !err) {
		size_t want = size - *ret_n < most ? size - *ret_n : most;
		struct hf_read read = {
			.file = file, .offset = offset + *ret_n, .size = want, .done = wake, .ctx = &waiting};

		waiting.done = false;
		hf_fs_read(fs, &read);
		pthread_mutex_lock(&waiting.lock);
		while (!waiting.done)
			pthread_cond_wait(&waiting.cond, &waiting.lock);
		pthread_mutex_unlock(&waiting.lock);
		err = read.err;
		got = 0;
		for (size_t i = 0; !err && i < read.pieces; i++) {
			memcpy(to + *ret_n, read.piece[i].bytes, read.piece[i].size);
			*ret_n += read.piece[i].size;
			got += read.piece[i].size;
		}
		hf_fs_read_release(&read);
		/* Up to a hole in the source every byte is there. */
		if (err == HF_ERR_ZSTF_CHUNK && want > 1) {
			most = want / 2;
			got = 1;
			err = 0;
		}
	}
	return err;
}

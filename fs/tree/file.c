/* SPDX-License-Identifier: Apache-2.0 */
/* Open files: the archive's own, texts made when they are opened, and bytes that are made as they are read. */
#include "codecs/source/errors.h"
#include "fs/archive/open_files.h"
#include "fs/archive/stamp.h"
#include "fs/bytes/events.h"
#include "fs/bytes/request.h"
#include "fs/capture/index_wait.h"
#include "fs/tree/tree.h"

#include <stdlib.h>
#include <xxhash.h>

/* What is done with an open file, by what it is. */
struct way {
	enum hf_metrics_read counter;
	/* Ends with read->done, now or later. */
	void (*read)(struct hf_read *read);
	void (*close)(struct hf_file *file);
};

struct hf_file {
	struct hf_tree *tree;
	struct hf_node *node;   /* one reference */
	const struct way *way;  /* NULL: it could not be opened */
	struct hf_open_file *open_file; /* of the archive's own */
	struct hf_sink text;    /* in memory */
	struct hf_bytes bytes;  /* referenced */
	struct hf_reading reading;
	struct hf_events events; /* of bytes */
};

/* ---- the archive's own ---- */

/* The kernel has read it ahead where that pays, so this is a copy out of its cache most of the time. */
static void read_plain(struct hf_read *read)
{
	uint8_t *bytes = malloc(read->size ? read->size : 1);
	size_t have = 0;
	int fd;

	read->err = bytes ? hf_open_file_pin(read->file->open_file, &fd) : HF_ERR_NOMEM;
	if (!read->err) {
		read->err = hf_archive_pread(fd, bytes, read->size, read->offset, &have);
		hf_open_file_unpin(read->file->open_file);
	}
	if (read->err)
		free(bytes);
	else
		read->err = hf_read_own(read->file->tree->common, read, bytes, have);
	read->done(read);
}

static void close_plain(struct hf_file *file)
{
	hf_open_file_free(file->open_file);
}

static const struct way plain = {HF_METRICS_ARCHIVE, read_plain, close_plain};

static int open_plain(struct hf_file *file, bool *ret_keep)
{
	struct hf_tree *tree = file->tree;
	struct hf_stamp stamp;
	struct stat st;
	uint64_t words[4];
	int fd, err = hf_archive_open_file(tree->archive, file->node->key.path, &fd, &st);

	if (err)
		return err;
	err = hf_open_file_new(tree->open_files, file->node->key.path, fd, &st, HF_OPEN_FILE_SAME, &file->open_file);
	if (err)
		return err;
	file->way = &plain;
	if (st.st_ino != file->node->key.content || !hf_tree_told_rights(file->node, &st))
		return HF_ERR_CHANGED;
	stamp = hf_stamp_of(&st);
	memcpy(words, (uint64_t[]){stamp.dev, stamp.ino, (uint64_t)stamp.size, (uint64_t)stamp.mtime_ns},
	       sizeof words);
	*ret_keep = hf_node_keep(&tree->nodes, file->node, XXH3_64bits(words, sizeof words));
	return 0;
}

/* ---- texts that are made when they are opened ---- */

static void read_text(struct hf_read *read)
{
	const struct hf_sink *text = &read->file->text;
	const size_t size = (size_t)hf_sink_total(text);
	uint8_t *bytes;
	size_t n;

	if (read->offset < size && read->size) {
		n = size - read->offset < read->size ? (size_t)(size - read->offset) : read->size;
		bytes = malloc(n);
		if (bytes)
			memcpy(bytes, text->start + read->offset, n);
		read->err = bytes ? hf_read_own(read->file->tree->common, read, bytes, n) : HF_ERR_NOMEM;
	}
	read->done(read);
}

static void close_text(struct hf_file *file)
{
	hf_node_unshow(&file->tree->nodes, file->node);
	hf_sink_fini_memory(&file->text);
}

static const struct way text = {HF_METRICS_TEXT, read_text, close_text};

static int open_text(struct hf_file *file, const struct hf_facts *facts)
{
	const struct hf_subject of = {file->tree, &file->node->key, facts};
	int err = hf_sink_init_memory(&file->text, 0);

	if (err)
		return err;
	err = hf_kind_of(of.key)->write(&of, &file->text);
	if (!err)
		err = file->text.err;
	hf_node_show(&file->tree->nodes, file->node, (size_t)hf_sink_total(&file->text));
	file->way = &text;
	return err;
}

/* ---- bytes ---- */

static void read_bytes(struct hf_read *read)
{
	hf_bytes_read(read->file->tree->common, read, &read->file->bytes, &read->file->reading);
}

static void close_bytes(struct hf_file *file)
{
	hf_events_fini(&file->events);
	hf_bytes_unref(&file->bytes);
}

static const struct way bytes = {HF_METRICS_BYTES, read_bytes, close_bytes};

static int open_bytes(struct hf_file *file, const struct hf_facts *facts, bool *ret_keep)
{
	const struct hf_subject of = {file->tree, &file->node->key, facts};
	int err = hf_kind_of(of.key)->bytes(&of, &file->bytes);

	if (err)
		return err;
	file->events.bytes = &file->bytes;
	file->events.hart = of.key->hart;
	file->events.count = hf_kind_insns(of.key, facts, &file->events.first);
	hf_events_init(&file->events);
	file->way = &bytes;
	*ret_keep = hf_node_keep(&file->tree->nodes, file->node, facts->version);
	return 0;
}

/* ---- opening ---- */

/* A file of ours. The size that the kernel was told is that of the index, or it is told again. */
static int open_made(struct hf_file *file, bool *ret_keep)
{
	const struct hf_node_key *key = &file->node->key;
	const struct hf_kind *kind = hf_kind_of(key);
	/* What there is a text for also without the index waits for none. */
	const unsigned wait_ms = key->capture && !kind->write ? hf_tree_patience(key->capture, false) : 0;
	struct hf_facts *facts = NULL;
	struct stat st;
	int err = key->capture ? hf_tree_look_to_read(file->node, wait_ms, &facts, &st) : 0;

	if (!err && key->capture)
		err = hf_capture_confirm(key->capture, wait_ms, &facts);
	/* What the name was looked up for may be something else by now. */
	if (!err && key->content != hf_kind_content(key, facts))
		err = HF_ERR_CHANGED;
	if (!err && kind->bytes && facts)
		err = open_bytes(file, facts, ret_keep);
	else if (!err)
		err = kind->write ? open_text(file, facts) : HF_ERR_NOT_FOUND;
	hf_facts_unref(facts);
	return err;
}

int hf_tree_open_file(struct hf_tree *tree, uint64_t ino, struct hf_file **ret_file, bool *ret_keep)
{
	struct hf_file *file = calloc(1, sizeof *file);
	int err = HF_ERR_NOT_FOUND;

	*ret_file = NULL;
	*ret_keep = false;
	if (!file)
		return HF_ERR_NOMEM;
	file->tree = tree;
	pthread_mutex_init(&file->reading.lock, NULL);
	file->node = hf_node_ref(&tree->nodes, ino);
	if (file->node && hf_kind_is(&file->node->key, HF_KIND_ARCHIVE))
		err = open_plain(file, ret_keep);
	else if (file->node && !hf_kind_is(&file->node->key, HF_KIND_DIR))
		err = open_made(file, ret_keep);
	if (err)
		hf_file_close(file);
	else
		*ret_file = file;
	return err;
}

void hf_file_close(struct hf_file *file)
{
	if (file->way)
		file->way->close(file);
	if (file->node)
		hf_node_unref(&file->tree->nodes, file->node, 1);
	pthread_mutex_destroy(&file->reading.lock);
	free(file);
}

bool hf_file_is_direct(const struct hf_file *file)
{
	return hf_kind_is(&file->node->key, HF_KIND_DIRECT);
}

/* ---- reading ---- */

void hf_file_read(struct hf_read *read)
{
	const struct way *way = read->file->way;

	read->err = 0;
	read->pieces = 0;
	__atomic_store_n(&read->state, NULL, __ATOMIC_RELAXED);
	hf_metrics_add(&read->file->tree->common->metrics.reads[way->counter], 1);
	read->latency = &read->file->tree->common->metrics.latency[way->counter];
	read->began_ns = hf_now_ns();
	way->read(read);
}

struct waiting {
	pthread_mutex_t lock;
	pthread_cond_t cond;
	bool done;
};

static void wake(struct hf_read *read)
{
	struct waiting *waiting = read->ctx;

	HF_LOCKED(&waiting->lock);
	waiting->done = true;
	pthread_cond_signal(&waiting->cond);
}

/* So much at once: what a request may gather in memory. */
enum { WAIT_PIECE = 1 << 20 };

int hf_file_read_each(struct hf_file *file, uint64_t offset, uint64_t size, hf_bytes_fn fn, void *ctx, uint64_t *ret_n)
{
	struct waiting waiting = {.lock = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER};
	uint64_t got = 1, most = WAIT_PIECE;
	bool wanted = true;
	int err = 0;

	*ret_n = 0;
	while (*ret_n < size && got && wanted && !err) {
		const size_t want = (size_t)(size - *ret_n < most ? size - *ret_n : most);
		struct hf_read read = {
			.file = file, .offset = offset + *ret_n, .size = want, .done = wake, .ctx = &waiting};

		waiting.done = false;
		hf_file_read(&read);
		pthread_mutex_lock(&waiting.lock);
		while (!waiting.done)
			pthread_cond_wait(&waiting.cond, &waiting.lock);
		pthread_mutex_unlock(&waiting.lock);
		err = read.err;
		got = 0;
		for (size_t i = 0; !err && i < read.pieces && wanted; i++) {
			wanted = fn(ctx, read.piece[i].bytes, read.piece[i].size);
			got += read.piece[i].size;
		}
		*ret_n += got;
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

static bool copy_piece(void *ctx, const uint8_t *piece, size_t n)
{
	uint8_t **to = ctx;

	memcpy(*to, piece, n);
	*to += n;
	return true;
}

int hf_file_read_wait(struct hf_file *file, uint64_t offset, void *buf, size_t size, size_t *ret_n)
{
	uint8_t *to = buf;
	uint64_t n;
	int err = hf_file_read_each(file, offset, size, copy_piece, &to, &n);

	*ret_n = (size_t)n;
	return err;
}

/* ---- instructions ---- */

int hf_file_events(struct hf_file *file, uint64_t ordinal, struct hartfs_event *ev, size_t max, size_t *ret_n,
		   struct hf_diag *diag)
{
	*ret_n = 0;
	return file->way == &bytes ? hf_events_read(&file->events, ordinal, ev, max, ret_n, diag) : HF_ERR_UNSUPPORTED;
}

int hf_file_ordinal(struct hf_file *file, uint64_t offset, uint64_t *ret_ordinal)
{
	return file->way == &bytes ? hf_events_ordinal(&file->events, offset, ret_ordinal) : HF_ERR_UNSUPPORTED;
}

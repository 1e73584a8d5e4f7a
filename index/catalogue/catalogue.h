/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The catalogue of an archive: what each file was found to be, by path, so that an archive that was seen before can be
 * listed without opening a capture or an index. What it says is believed as long as size, times and inode of the file
 * are the same, and confirmed by the index as soon as the bytes of a view are wanted.
 *
 * One published file, never changed: lookups need no lock and wait for nobody. What is put is kept in memory until
 * hf_catalogue_flush writes a new file of both and publishes that in place of the old one. Thread-safe.
 */
#ifndef HF_INDEX_CATALOGUE_H
#define HF_INDEX_CATALOGUE_H

#include "index/base/view_key.h"
#include "index/catalogue/catalogue_entry.h"

struct hf_catalogue;

/* Which catalogue. Whatever differs here has one of its own. */
struct hf_catalogue_key {
	const char *path;   /* canonical, of the archive's root */
	uint64_t ino;       /* of the root: not its device, which is another one after each mount of some file systems */
	int64_t btime_ns;   /* when the root was made, 0 if that is not known */
	const struct hf_view_key *views; /* whose sizes are kept */
	size_t view_count;
	/* What stands at a path now is asked of some entries of each flush, so that those of files that are gone do
	 * not stay for ever. May be NULL. */
	bool (*exists)(void *ctx, const char *path);
	void *ctx;
};

/* HF_ERR_NOMEM, or HF_ERR_LIMIT if the key is too long; a file that is not there or of no use is none. dirfd: the index
 * directory, borrowed. The key is copied. */
int hf_catalogue_open(int dirfd, const struct hf_catalogue_key *key, struct hf_catalogue **ret_catalogue);
/* What was not flushed is lost. */
void hf_catalogue_close(struct hf_catalogue *catalogue);

/* HF_ERR_NOT_FOUND if nothing is known of a file with that stamp. An entry that was found is to be cleared. */
int hf_catalogue_find(struct hf_catalogue *catalogue, const char *path, const struct hf_catalogue_stamp *stamp,
		      struct hf_catalogue_entry *ret_entry);

/* HF_ERR_NOMEM; HF_ERR_LIMIT if too much waits to be flushed, or of an entry that is too large to be kept. */
int hf_catalogue_put(struct hf_catalogue *catalogue, const char *path, const struct hf_catalogue_entry *entry);
/* Entries that wait to be flushed; from HF_CATALOGUE_MANY on it is high time. */
size_t hf_catalogue_pending(struct hf_catalogue *catalogue);
#define HF_CATALOGUE_MANY 32768

/* Publishes what was put. HF_ERR_BUSY if another process is doing that: everything waits on; as after other errors, such as
 * HF_ERR_INDEX_DIR. */
int hf_catalogue_flush(struct hf_catalogue *catalogue);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The catalogue of an archive: what each file was found to be, by path, so that a known archive can be listed without
 * opening a capture or an index. An entry holds as long as size, times and inode of the file are the same, and is
 * confirmed by the index when the bytes of a view are wanted.
 *
 * It is one published file, which never changes: lookups wait for nobody. Entries that are put stay in memory until
 * hf_catalogue_flush writes a new file and publishes it in place of the old one. Thread-safe.
 */
#ifndef HF_INDEX_CATALOGUE_H
#define HF_INDEX_CATALOGUE_H

#include "index/base/view_key.h"
#include "index/catalogue/catalogue_entry.h"

struct hf_catalogue;

/* Which catalogue: one for each different key. */
struct hf_catalogue_key {
	const char *path;   /* canonical, of the archive's root */
	uint64_t ino;       /* of the root; some file systems have another device number after each mount */
	int64_t btime_ns;   /* when the root was made, 0 if that is not known */
	const struct hf_view_key *views; /* whose sizes are kept */
	size_t view_count;
	/* Whether a file is at that path. Asked for some entries at each flush, so that those of removed files go.
	 * May be NULL. */
	bool (*exists)(void *ctx, const char *path);
	void *ctx;
};

/* HF_ERR_NOMEM; HF_ERR_LIMIT: the key is too long. A missing or damaged file is no error. dirfd: the index directory,
 * borrowed. The key is copied. */
int hf_catalogue_open(int dirfd, const struct hf_catalogue_key *key, struct hf_catalogue **ret_catalogue);
/* Entries that were not flushed are lost. */
void hf_catalogue_close(struct hf_catalogue *catalogue);

/* HF_ERR_NOT_FOUND: nothing is known of a file with that stamp. Otherwise the entry is to be cleared. */
int hf_catalogue_find(struct hf_catalogue *catalogue, const char *path, const struct hf_catalogue_stamp *stamp,
		      struct hf_catalogue_entry *ret_entry);

/* HF_ERR_NOMEM; HF_ERR_LIMIT: too much waits to be flushed, or the entry is too large. */
int hf_catalogue_put(struct hf_catalogue *catalogue, const char *path, const struct hf_catalogue_entry *entry);
/* Entries that wait to be flushed, which should be done at HF_CATALOGUE_MANY. */
size_t hf_catalogue_pending(struct hf_catalogue *catalogue);
#define HF_CATALOGUE_MANY 32768

/* Publishes what was put. HF_ERR_BUSY: another process is doing that. After an error, such as HF_ERR_INDEX_DIR, all
 * entries wait on. */
int hf_catalogue_flush(struct hf_catalogue *catalogue);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file of a catalogue: opening it, and writing a new one from the old one and waiting rows. Internal to index/. Not
 * thread-safe: the catalogue has the locks.
 */
#ifndef HF_INDEX_CATALOGUE_FILE_H
#define HF_INDEX_CATALOGUE_FILE_H

#include "index/catalogue/catalogue_row.h"
#include "index/store/file.h"

/* The file and its contents' key, from hf_catalogue_key. */
struct hf_catalogue_place {
	int dirfd; /* borrowed */
	char name[HF_FILE_NAME_SIZE];
	char *path, *views; /* the catalogue's own; views: a line for each */
	uint64_t ino;
	int64_t btime_ns;
	bool (*exists)(void *ctx, const char *path);
	void *ctx;
};

/* A published file; fd is -1 and db NULL if there is none. */
struct hf_catalogue_file {
	int fd;
	sqlite3 *db;
	sqlite3_stmt *find;
};

/* After an error it is closed: HF_ERR_NOMEM, or another one if the file is missing or of no use. */
int hf_catalogue_file_open(const struct hf_catalogue_place *place, struct hf_catalogue_file *ret_file);
/* It may be closed already. */
void hf_catalogue_file_close(struct hf_catalogue_file *file);

/* As hf_catalogue_find, of a file that may be closed. */
int hf_catalogue_file_find(struct hf_catalogue_file *file, const struct hf_catalogue_views *views, const char *path,
			   const struct hf_catalogue_stamp *stamp, struct hf_catalogue_entry *entry);

/* Publishes a new file with the published one's rows, but these, sorted by id, in place of rows with their ids. Opens
 * it. HF_ERR_BUSY: another process is doing that. */
int hf_catalogue_file_write(const struct hf_catalogue_place *place, const struct hf_catalogue_row *const *rows,
			    size_t count, struct hf_catalogue_file *ret_file);

#endif

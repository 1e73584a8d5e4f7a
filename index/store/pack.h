/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pack: one database in the place of the index files of many small captures. Each of these is a part of it: a number
 * that its rows have in all tables (schema.sql). It is made in memory, written whole and never changed. Internal to
 * index/.
 */
#ifndef HF_INDEX_PACK_H
#define HF_INDEX_PACK_H

#include "index/store/file_name.h"
#include "index/table/connection.h"

#include <pthread.h>
#include <stdatomic.h>

/* The files of up to 4,096 captures, five each; and bytes of all of them. */
#define HF_PACK_FILES_MAX 20480u
#define HF_PACK_BYTES_MAX ((uint64_t)16 << 20)
/* A file with more bytes of rows does not go into a pack. */
#define HF_PACK_FILE_MAX ((size_t)256 << 10)

/* Of a file by its name: the capture's 32 digits, and a hash of what follows them. */
struct hf_pack_key {
	uint64_t files[2], rest;
};

/* False: it is not the name of a decode index or of a view table. */
bool hf_pack_key_of(const char *name, struct hf_pack_key *ret_key);
bool hf_pack_key_is_index(const struct hf_pack_key *key);

struct hf_pack_entry {
	struct hf_pack_key key;
	uint32_t part;	 /* its rows; 0: there are none, or they turned out to be of no use */
	uint32_t making; /* rows that are being made; 0: none are */
	uint32_t bytes;	 /* of rows that were put */
};

struct hf_pack {
	atomic_uint references;
	int fd;
	char name[HF_FILE_NAME_SIZE];
	uint64_t sequence; /* of two packs with the same file the higher one counts */
	uint64_t size;	   /* bytes of the file */
	pthread_mutex_t lock;
	struct hf_connection connection; /* with it; of a published one it may be closed */
	/* from here on with the lock of all packs */
	size_t count;
	struct hf_pack_entry *entries; /* by key */
	uint64_t used;		       /* when, in turns */
	bool waits;		       /* it is not published yet: all below is of such a one */
	bool sealed;		       /* no more files are begun in it */
	unsigned writers;	       /* files that are being made */
	uint32_t last_part, finished;  /* parts that were begun, and those that are complete */
	uint64_t bytes;		       /* of complete parts */
};

/* A file in a pack. */
struct hf_packed {
	struct hf_pack *pack; /* a reference; NULL: it is in none */
	struct hf_pack_key key;
	uint32_t part;
	uint32_t bytes; /* of rows that were put */
};

/* A new one, in memory. */
int hf_pack_new(uint64_t sequence, struct hf_pack **ret_pack);
/* A published one. Takes fd, whatever is returned. HF_ERR_STATE: it is no pack of this version, or damaged. */
int hf_pack_open(int fd, const char *name, struct hf_pack **ret_pack);
/* Packs were no databases before schema 13. */
bool hf_pack_is_old(int fd);
struct hf_pack *hf_pack_ref(struct hf_pack *pack);
/* Gives a reference back. */
void hf_pack_close(struct hf_pack *pack);

/* NULL: it is not there. */
struct hf_pack_entry *hf_pack_find(const struct hf_pack *pack, const struct hf_pack_key *key);
/* The same; it is put there if need be. */
struct hf_pack_entry *hf_pack_add(struct hf_pack *pack, const struct hf_pack_key *key);

/* With pack->lock. */

/* The connection is there from here on, until the last reference but one is given back. */
int hf_pack_connect(struct hf_pack *pack);
/* Removes the rows of a part. */
int hf_pack_drop(struct hf_pack *pack, uint32_t part);
/* Nothing is added any more: these are its files. */
int hf_pack_finish(struct hf_pack *pack, const struct hf_pack_entry *entries, size_t count);

/* Copies rows from one pack to another; or, without the other, only reads all of them. */
enum { HF_PACK_TABLES = 12 };
struct hf_pack_copier {
	struct hf_pack *from, *to;
	sqlite3_stmt *select[HF_PACK_TABLES], *insert[HF_PACK_TABLES];
};
int hf_pack_copier_init(struct hf_pack_copier *c, struct hf_pack *from, struct hf_pack *to);
void hf_pack_copier_fini(struct hf_pack_copier *c);
/* HF_ERR_STATE: a page or a value is damaged; of the part some rows may be there. */
int hf_pack_copy(struct hf_pack_copier *c, uint32_t part, uint32_t to_part);

#endif

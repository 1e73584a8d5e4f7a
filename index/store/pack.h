/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pack: one file in the place of the index files of many small captures. It is written whole and never changed.
 * Internal to index/.
 */
#ifndef HF_INDEX_PACK_H
#define HF_INDEX_PACK_H

#include "index/store/file_name.h"
#include "index/store/pack_format.h"

#include <stdatomic.h>

/* The files of up to 4,096 captures, five each. */
#define HF_PACK_FILES_MAX 20480u
/* Written in one go, from memory: together they have no more bytes. */
#define HF_PACK_BYTES_MAX ((uint64_t)64 << 20)
/* A larger file does not go into a pack. */
#define HF_PACK_FILE_MAX ((size_t)256 << 10)

/* False: it is not the name of a decode index or of a view table. */
bool hf_pack_key_of(const char *name, struct hf_pack_key *ret_key);
int hf_pack_key_compare(const void *a, const void *b);

/* But for what is hidden it does not change. */
struct hf_pack {
	atomic_uint references;
	int fd;
	char name[HF_FILE_NAME_SIZE];
	uint64_t sequence; /* of two packs with the same file the higher one counts */
	uint64_t size;
	size_t count;
	struct hf_pack_entry *entries; /* by key */
	uint8_t *samples; /* a decode index, then a view table: the others are kept as what they differ in */
	uint32_t sample_size[2];
};

/* Takes fd, whatever is returned. HF_ERR_STATE: it is no pack of this version, or damaged. */
int hf_pack_open(int fd, const char *name, struct hf_pack **ret_pack);
struct hf_pack *hf_pack_ref(struct hf_pack *pack);
/* Gives a reference back. */
void hf_pack_close(struct hf_pack *pack);
/* NULL: it is not there, or hidden. */
struct hf_pack_entry *hf_pack_find(const struct hf_pack *pack, const struct hf_pack_key *key);
/* Whether it is there, hidden or not. */
bool hf_pack_has(const struct hf_pack *pack, const struct hf_pack_key *key);
/* The bytes of a file, entry->size of them, for free(). HF_ERR_STATE: they are damaged. */
int hf_pack_read(const struct hf_pack *pack, const struct hf_pack_entry *entry, uint8_t **ret_bytes);
/* Whether a file begins like a pack of any version. */
bool hf_pack_is_ours(int fd);
/* Whether it is of a later version of the schema: of use to somebody else. */
bool hf_pack_is_newer(int fd);

/* Files for a new pack. */
struct hf_pack_source {
	size_t count; /* at most HF_PACK_FILES_MAX */
	/* Entry i with key, index and size, in the order of the keys, all different; and its bytes, for free().
	 * HF_ERR_STATE: it is left out. */
	const struct hf_pack_entry *(*entry)(void *ctx, size_t i);
	int (*read)(void *ctx, size_t i, uint8_t **ret_bytes);
	void *ctx;
};

/* Publishes a pack with them. name: what it is called. */
int hf_pack_write(int dirfd, const struct hf_pack_source *source, uint64_t sequence, char name[HF_FILE_NAME_SIZE]);

#endif

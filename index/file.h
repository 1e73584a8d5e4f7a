/*
 * The files of an index directory: their names, whom to trust, the private file that a build writes and its
 * publication. Internal to index/.
 */
#ifndef HF_INDEX_FILE_H
#define HF_INDEX_FILE_H

#include "index/db.h"
#include "index/index.h"

#define HF_HEX_SIZE 33
#define HF_FILE_NAME_SIZE 256

/* 32 hexadecimal digits of everything that decides the events of a capture: identity, schema, decoder versions. */
void hf_idx_file_hex(const struct hf_identity *identity, char hex[HF_HEX_SIZE]);
void hf_idx_file_name_index(const struct hf_identity *identity, char name[HF_FILE_NAME_SIZE]);
/* HF_ERR_LIMIT if the view's name is too long. */
int hf_idx_file_name_view(const struct hf_identity *identity, const struct hf_view_key *key, char name[HF_FILE_NAME_SIZE]);

/* Opens a published file for reading, one in memory (memdir.h) before one on disk: HF_ERR_NOT_FOUND if it is not there,
 * not a regular file or not to be trusted; HF_ERR_INDEX_DIR if it cannot be read. */
int hf_idx_file_open(int dirfd, const char *name, int *ret_fd);
/* Removes a published file, in memory too, if is_ours says of its bytes that it may go. */
void hf_idx_file_drop(int dirfd, const char *name, bool (*is_ours)(void *ctx, int fd), void *ctx);

struct hf_memdir;

/* A private file that will be published as name. */
struct hf_part {
	int dirfd, fd;
	struct hf_memdir *memory; /* it is there; NULL: in the directory */
	char name[HF_FILE_NAME_SIZE];
	char part[HF_FILE_NAME_SIZE]; /* ".<name>.part" */
};

/* Creates or opens it and locks it against other processes and threads: HF_ERR_BUSY. HF_ERR_INDEX_DIR if the directory
 * fails or something that is not ours, or someone else's, is in the way, as with the functions below. */
int hf_part_open(int dirfd, const char *name, struct hf_part *ret_part);
/* Its descriptor if it is one to be resumed after a kill, or -1. */
int hf_part_journaled(const struct hf_part *part);
/* Of one in memory: whether what it has grown to is within the limit. */
int hf_part_count(const struct hf_part *part);
/* Unlocks; the file stays, unless it is empty or in memory. */
void hf_part_close(struct hf_part *part);
/* Makes it empty, to begin anew. */
int hf_part_reset(struct hf_part *part, enum hf_db_kind kind);
/* Makes it durable under its name. The database on it must be closed. */
int hf_part_publish(struct hf_part *part, enum hf_db_kind kind);
/* Removes it. */
void hf_part_remove(struct hf_part *part);

#endif

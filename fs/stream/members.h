/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Captures with a description: a directory with a capture.ini or a snapshot.ini, a capture.ini by another name, and a file
 * that is its own description (hf_codec.describe: perf.data), or the directory whose file data is one.
 * Their members are the description and the files that it names: if one of them changes, the capture has changed.
 */
#ifndef HF_FS_MEMBERS_H
#define HF_FS_MEMBERS_H

#include "codecs/codec.h"
#include "fs/archive/access.h"
#include "fs/archive/archive.h"

#include <stdatomic.h>

/* The members of one version of a description. Immutable. */
struct hf_members {
	atomic_uint refs;
	char *ini;                    /* path of the description */
	const struct hf_codec *codec; /* hf_members_unknown if the format is not known */
	size_t count;
	char **path;                  /* within the archive, each once, ini first; NULL: a name that leads out of it */
	uint64_t *hash;               /* of each */
	/* Their directories, each once, without those that a reader passes on the way to the views. */
	char **dir;
	uint64_t *dir_hash;
	size_t dir_count;
	bool listed;                  /* what lies beside the capture (elf_nearby.h) belongs to it, and makes it another */
	bool unread;                  /* some file could not be read now: it may be another time */
	bool scattered;               /* more than HF_MEMBERS_DIRS_MAX directories: nobody may read the views */
};

enum { HF_MEMBERS_DIRS_MAX = 4096 };

/* A member's part of the stamp, of when it was opened. */
struct hf_member_state {
	uint64_t ino, size, mtime_ns;
	bool opened;
};

/* The codec of a description whose format is not known. */
extern const struct hf_codec hf_members_unknown;

/* Whether files of that format are their own descriptions. */
bool hf_members_describes(const struct hf_codec *codec);

/*
 * The description of the capture at path, whose stat is st: its path and stat. HF_ERR_NOT_FOUND if there is none. A
 * file *.ini may turn out to be no description when it is read; of any other file its format says whether it is one.
 */
int hf_members_find(const struct hf_archive *archive, const char *path, const struct stat *st, char *ret_ini,
		    struct stat *ret_st);

/* Reads the description only. A wrong one has members, too: all files that were opened for it, for its error message
 * may quote them. HF_ERR_NOT_FOUND if ini does not name a format. With a reference. */
int hf_members_read(const struct hf_archive *archive, const char *ini, struct hf_members **ret_members);
struct hf_members *hf_members_ref(struct hf_members *members);
void hf_members_unref(struct hf_members *members);

/* *ret_stamp is a number, not 0, for the state of all members, missing ones included. *ini_st: hf_archive_stat of the
 * description, from just before. *access (may be NULL) gets who may read all of them. The only errors are shortages
 * (hf_err_is_shortage). */
int hf_members_look(const struct hf_archive *archive, const struct hf_members *members, const struct stat *ini_st,
		    struct hf_access *access, uint64_t *ret_stamp);
/* The same number, of opened members as opened[0..count) has them, of the others as they are now. */
int hf_members_stamp_opened(const struct hf_archive *archive, const struct hf_members *members,
			    const struct hf_member_state *opened, uint64_t *ret_stamp);
struct hf_member_state hf_member_state_of(const struct stat *st);
/* The number of the member at path; count if there is none. */
size_t hf_members_find_path(const struct hf_members *members, const char *path);
bool hf_members_have(const struct hf_members *members, const char *path);

/* Whether a description in the directory of the file at path, or in one above that, has it as a member. */
int hf_members_claim(const struct hf_archive *archive, const char *path, bool *ret_member);

/*
 * The path in the archive of a file name in the description ini. HF_ERR_NOT_FOUND if it leads out of the archive.
 * ret_path[HF_PATH_SIZE].
 */
int hf_members_resolve(const char *ini, const char *name, char *ret_path);
/* hf_setup_opener.list of that description in the archive. */
int hf_members_list(const struct hf_archive *archive, const char *ini, int (*fn)(void *ctx, const char *name), void *ctx);
/* hf_fs_reach. */
unsigned hf_members_reach(int dir_fd, const char *ini);

#endif

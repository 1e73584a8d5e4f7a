/*
 * Captures with a description: a directory with a capture.ini or a snapshot.ini, or a capture.ini by another name. Their
 * members are the files that the description names, the description's own among them: what a change of any of them
 * makes another capture.
 */
#ifndef HF_FS_MEMBERS_H
#define HF_FS_MEMBERS_H

#include "codecs/codec.h"
#include "fs/archive.h"

#include <stdatomic.h>

/* The members of one version of a description. Immutable. */
struct hf_members {
	atomic_uint refs;
	char *ini;                    /* path of the description */
	const struct hf_codec *codec; /* of its format; hf_members_unknown if that is not known */
	size_t count;
	char **path;                  /* within the archive; NULL: a name that leads out of it */
};

/* Stands for the format of a description that does not tell it. */
extern const struct hf_codec hf_members_unknown;

/*
 * The description of what is at path, of which st is the stat: its own path and stat. HF_ERR_NOT_FOUND if it has none.
 * That a file *.ini is one shows only when it is read.
 */
int hf_members_find(const struct hf_archive *archive, const char *path, const struct stat *st, char *ret_ini,
		    struct stat *ret_st);

/* Reads the description, no more. One that is wrong has members too, as far as they are known, but HF_ERR_NOT_FOUND if
 * ini is a file that says nothing of a format. With a reference. */
int hf_members_read(const struct hf_archive *archive, const char *ini, struct hf_members **ret_members);
struct hf_members *hf_members_ref(struct hf_members *members);
void hf_members_unref(struct hf_members *members);

/* A number for what the files are now, or that they are not there; not 0. The only errors are shortages
 * (hf_err_is_shortage). */
int hf_members_stamp(const struct hf_archive *archive, const struct hf_members *members, uint64_t *ret_stamp);
bool hf_members_have(const struct hf_members *members, const char *path);

/* Whether a description in the directory of the file at path, or in one above that, has it as a member. */
int hf_members_claim(const struct hf_archive *archive, const char *path, bool *ret_member);

/*
 * The path of a name that the description ini has for a file: HF_ERR_NOT_FOUND if it leads out of the archive.
 * ret_path[HF_PATH_SIZE].
 */
int hf_members_resolve(const char *ini, const char *name, char *ret_path);

#endif

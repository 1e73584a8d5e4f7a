/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who may read what is made of several files: nobody who may not read each of them.
 *
 * One owner, one group and one mode must say so, where the kernel looks at the owner's bits for the owner, at the
 * group's for whoever else is in the group, at the others' for the rest, and at none but these. What is made of files
 * F, each beneath directories that a reader has not passed yet, is shown with owner U, group G and for each class the
 * right to read if every object, F or directory, gives it to everybody who can be in that class:
 *
 *   owner:  is U. Of an object of U its owner's bit counts; of another both its group's and its others', for U may be
 *           in that group or not.
 *   group:  is not U, and in G. Of an object of another owner than U its owner's bit counts, for that owner may be in
 *           G; of one with group G the group's bit, of one with another both the group's and the others'.
 *   others: is not U and not in G. The others' bit counts; of an object of another owner than U its owner's as well, of
 *           one with another group than G its group's as well.
 *
 * An object that gives the right to all three takes nothing away, whoever has it. U and G are therefore those of the
 * first object that does not, which gives most; if there is none, those of the first. What a class is not sure to have
 * it does not get: that is stricter than the truth for some, and never less. Root may read everything anyway.
 */
#ifndef HF_FS_ACCESS_H
#define HF_FS_ACCESS_H

#include <stdbool.h>
#include <sys/stat.h>

struct hf_access {
	uid_t uid;
	gid_t gid;
	unsigned char bits; /* read: 4 the owner, 2 the group, 1 others */
	bool some;          /* an object was added */
	bool chosen;        /* uid and gid are */
};

/* Before the first object: {0} is all that it takes. What no class may read or search is never given back. Access lists
 * must be in st_mode already (hf_archive_stat); symbolic links, which have no rights, are passed over. */
void hf_access_add(struct hf_access *access, const struct stat *st);
/* An object whose rights cannot be told: nobody may. */
void hf_access_close(struct hf_access *access);
/* The objects of more, too. Stricter than adding them one by one if both have objects that not everybody may read. */
void hf_access_join(struct hf_access *access, const struct hf_access *more);

/* Whether everybody whom access lets read may read that object too: adding it takes nothing away. */
bool hf_access_suffices(const struct hf_access *access, const struct stat *st);
bool hf_access_is_everybody(const struct hf_access *access);

/* Owner, group and permissions (0444 at most) into st, whose other members stay. Without any object nobody may. */
void hf_access_show(const struct hf_access *access, struct stat *st);

#endif

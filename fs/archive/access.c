/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/archive/access.h"

enum { OWNER = 4, GROUP = 2, OTHERS = 1, ALL = 7 };

/* One bit for each class that may read a file or search a directory. */
static unsigned bits_of(mode_t mode)
{
	const unsigned shift = S_ISDIR(mode) ? 0 : 2;

	return (mode >> shift & 0100 ? OWNER : 0) | (mode >> shift & 0010 ? GROUP : 0) |
	       (mode >> shift & 0001 ? OTHERS : 0);
}

static bool has(unsigned bits, unsigned wanted)
{
	return (bits & wanted) == wanted;
}

static void add(struct hf_access *access, uid_t uid, gid_t gid, unsigned bits)
{
	const bool first = !access->some;
	unsigned left = 0;

	if (first)
		access->bits = ALL;
	if (first || (!access->chosen && bits != ALL)) {
		access->uid = uid;
		access->gid = gid;
	}
	access->some = true;
	if (bits == ALL)
		return;
	access->chosen = true;
	if (has(bits, uid == access->uid ? OWNER : GROUP | OTHERS))
		left |= OWNER;
	if (has(bits, (uid == access->uid ? 0u : OWNER) | GROUP | (gid == access->gid ? 0u : OTHERS)))
		left |= GROUP;
	if (has(bits, (uid == access->uid ? 0u : OWNER) | (gid == access->gid ? 0u : GROUP) | OTHERS))
		left |= OTHERS;
	access->bits = (unsigned char)(access->bits & left);
}

void hf_access_add(struct hf_access *access, const struct stat *st)
{
	if (!S_ISLNK(st->st_mode))
		add(access, st->st_uid, st->st_gid, bits_of(st->st_mode));
}

void hf_access_close(struct hf_access *access)
{
	access->some = true;
	access->chosen = true;
	access->bits = 0;
}

void hf_access_join(struct hf_access *access, const struct hf_access *more)
{
	if (more->some)
		add(access, more->uid, more->gid, more->bits);
}

bool hf_access_suffices(const struct hf_access *access, const struct stat *st)
{
	struct hf_access more = *access;

	hf_access_add(&more, st);
	return more.bits == access->bits;
}

bool hf_access_is_everybody(const struct hf_access *access)
{
	return access->some && access->bits == ALL;
}

void hf_access_show(const struct hf_access *access, struct stat *st)
{
	const unsigned bits = access->some ? access->bits : 0;

	st->st_mode &= S_IFMT;
	if (bits & OWNER)
		st->st_mode |= 0400;
	if (bits & GROUP)
		st->st_mode |= 0040;
	if (bits & OTHERS)
		st->st_mode |= 0004;
	if (access->some) {
		st->st_uid = access->uid;
		st->st_gid = access->gid;
	}
}

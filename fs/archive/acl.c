/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/archive/acl.h"

#include "codecs/base/bytes.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/xattr.h>

/* <linux/posix_acl_xattr.h>, little-endian wherever it was written. */
enum { HEAD = 4, ENTRY = 8, VERSION = 2 };
enum { USER_OBJ = 1, USER = 2, GROUP_OBJ = 4, GROUP = 8, MASK = 16, OTHER = 32 };

/* Enough for 500 entries; a longer list counts as one that cannot be read. */
enum { LIST_MAX = 4096 };

#define NAME "system.posix_acl_access"

static mode_t close_all_but_owner(mode_t mode)
{
	return mode & ~(mode_t)077;
}

mode_t hf_acl_narrow(const void *acl, size_t size, mode_t mode)
{
	const uint8_t *p = acl;
	unsigned owner = 7, group = 0, other = 0, mask = 7, named = 7, seen = 0;

	if (size < HEAD || (size - HEAD) % ENTRY || hf_get32(p) != VERSION)
		return close_all_but_owner(mode);
	for (size_t at = HEAD; at < size; at += ENTRY) {
		const unsigned tag = hf_get16(p + at), bits = hf_get16(p + at + 2) & 7;

		switch (tag) {
		case USER_OBJ:
			owner = bits;
			break;
		case USER:
		case GROUP:
			named &= bits;
			break;
		case GROUP_OBJ:
			group = bits;
			break;
		case MASK:
			mask = bits;
			break;
		case OTHER:
			other = bits;
			break;
		default:
			return close_all_but_owner(mode);
		}
		seen |= tag;
	}
	if ((seen & (USER_OBJ | GROUP_OBJ | OTHER)) != (USER_OBJ | GROUP_OBJ | OTHER) ||
	    ((seen & (USER | GROUP)) && !(seen & MASK)))
		return close_all_but_owner(mode);
	if (seen & (USER | GROUP))
		named &= mask;
	return mode & (~(mode_t)0777 | owner << 6 | (group & mask & named) << 3 | (other & named));
}

mode_t hf_acl_narrow_fd(int fd, mode_t mode)
{
	uint8_t acl[LIST_MAX];
	char path[32];
	ssize_t n;

	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	n = getxattr(path, NAME, acl, sizeof acl);
	if (n >= 0)
		return hf_acl_narrow(acl, (size_t)n, mode);
	return errno == ENODATA || errno == ENOTSUP ? mode : close_all_but_owner(mode);
}

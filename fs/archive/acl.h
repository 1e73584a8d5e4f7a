/* SPDX-License-Identifier: Apache-2.0 */
/*
 * POSIX access lists. A FUSE file system cannot hand them on without taking part in every check, so a file with one is
 * shown with less: whoever the three classes of its mode let in, the list lets in as well.
 */
#ifndef HF_FS_ACL_H
#define HF_FS_ACL_H

#include <stddef.h>
#include <sys/types.h>

/* The mode of a file of that mode with the list acl, as system.posix_acl_access has it. The group keeps what the list
 * gives to the owning group and to every user and group that it names, all within the mask; others keep what it gives
 * to others and to all that it names. A list that makes no sense leaves nothing to either. */
mode_t hf_acl_narrow(const void *acl, size_t size, mode_t mode);

/* The same of an open file, also one opened with O_PATH, whose list is read by way of /proc; of a list that cannot be
 * read nothing is left to the group and to others. */
mode_t hf_acl_narrow_fd(int fd, mode_t mode);

#endif

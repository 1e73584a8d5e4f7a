/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seccomp: from here on the process may make the system calls of syscalls.def and no other.
 */
#ifndef HF_MOUNTD_SYSCALLS_H
#define HF_MOUNTD_SYSCALLS_H

#include <stdbool.h>

/*
 * For all threads. audit: the kernel writes what is refused to its audit log. 0 or a negative errno, and *ret_why then
 * says what is wrong, for a person; -ENOTSUP: there is no list for this machine or in this build.
 */
int hf_syscalls_enter(bool audit, const char **ret_why);

#endif

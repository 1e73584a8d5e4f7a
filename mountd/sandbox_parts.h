/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a sandbox: for the calling thread and those it makes afterwards; 0 or a negative errno. */
#ifndef HF_MOUNTD_SANDBOX_PARTS_H
#define HF_MOUNTD_SANDBOX_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* AddressSanitizer and ThreadSanitizer look at the process from inside, in ways that a program has no need of. */
#ifdef __has_feature
#define HF_SANDBOX_FEATURE(name) __has_feature(name)
#else
#define HF_SANDBOX_FEATURE(name) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || HF_SANDBOX_FEATURE(address_sanitizer) || \
	HF_SANDBOX_FEATURE(memory_sanitizer) || HF_SANDBOX_FEATURE(thread_sanitizer)
#define HF_SANDBOX_SANITIZER 1
#else
#define HF_SANDBOX_SANITIZER 0
#endif

/* What stays within reach: descriptors of directories, borrowed. */
struct hf_sandbox_places {
	const int *read;  /* to be read beneath: archives */
	size_t read_count;
	int write;        /* to be read and written beneath, the index directory; -1: none */
};

/* The newest version of Landlock whose rights are known. */
#define HF_LANDLOCK_KNOWN 7

/*
 * Files are opened in the places given and nowhere else. Returns the kernel's version, which may be newer than what is
 * known, or 0 if the kernel has no Landlock or has it switched off. *ret_known: the version of which all rights are
 * taken.
 */
int hf_landlock_enter(const struct hf_sandbox_places *places, int *ret_known);

/*
 * Root gives up all capabilities but the one that reads the files of others. overriding: where the process may not have
 * dac_read_search, as root of a container, it keeps dac_override to read with; that one also writes, so something else
 * has to confine writing. ret_kept: what is left, for a person ("none", "dac_read_search").
 */
int hf_capabilities_drop(bool overriding, const char **ret_kept);

/* Root gives up all but what finding and undoing a mount takes, and if it writes, writing anywhere. *ret_can: it may unmount;
 * otherwise nothing is given up. */
int hf_capabilities_keep_unmounting(bool writes, bool *ret_can);

/*
 * seccomp: the process may make the system calls of syscalls.def and no other; this is for all threads. audit: the
 * kernel writes what is refused to its audit log. After an error *ret_why says what is wrong, for a person; -ENOTSUP:
 * there is no list for this machine or in this build. server: the process is the supervisor of that one, and has the list
 * of supervisor_calls.def; 0: it is not.
 */
int hf_syscalls_enter(pid_t server, bool audit, const char **ret_why);

#endif

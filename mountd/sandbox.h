/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Confines a process that decodes: it reads files that nobody vouches for, so it keeps no access that it does not need.
 * Three parts, each in a file of its name: Landlock, capabilities, system calls.
 */
#ifndef HF_MOUNTD_SANDBOX_H
#define HF_MOUNTD_SANDBOX_H

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

/* What is in force and what is not, for a person. */
struct hf_sandbox_report {
	bool complete;     /* nothing is missing */
	char in_force[96]; /* "Landlock 7, seccomp, capabilities: dac_read_search" */
	char missing[256]; /* "this kernel has no Landlock; built without libseccomp" */
};

/*
 * From here on the calling thread and those it makes afterwards open files in those places and nowhere else; they have
 * no network, make no processes and change no attributes. Descriptors that are open stay usable. To be called once,
 * while there is one thread, with everything loaded and opened that will be needed. audit: the kernel's audit log gets
 * the system calls that are refused. What the machine cannot do is left out and reported.
 */
void hf_sandbox_enter(const struct hf_sandbox_places *places, bool audit, struct hf_sandbox_report *ret_report);

/*
 * Confines the supervisor of a mount, which undoes the mount of a server that may be an attacker's by then: it keeps the
 * capabilities for that, signals no process but the server, and makes the system calls of supervisor_calls.def alone. Not
 * with Landlock, which forbids to unmount. writes: it opens a log file in any directory. False if it is left as it is: one
 * that may not unmount starts fusermount3, which is somebody else's program with privileges of its own.
 */
bool hf_sandbox_enter_supervisor(pid_t server, bool writes, bool audit, struct hf_sandbox_report *ret_report);

/* ---- the parts: for the calling thread and those it makes afterwards; 0 or a negative errno ---- */

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

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Confines a process that decodes: it reads files that nobody vouches for, so it keeps no access that it does not need.
 * Three parts, each in a file of its name: Landlock, capabilities, system calls.
 */
#ifndef HF_MOUNTD_SANDBOX_H
#define HF_MOUNTD_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>

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

/*
 * seccomp: the process may make the system calls of syscalls.def and no other; this is for all threads. audit: the
 * kernel writes what is refused to its audit log. After an error *ret_why says what is wrong, for a person; -ENOTSUP:
 * there is no list for this machine or in this build.
 */
int hf_syscalls_enter(bool audit, const char **ret_why);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Confines a process that decodes: it reads files that nobody vouches for, so it keeps no access that it does not need.
 * Three parts, each in a file of its name: Landlock, capabilities, system calls.
 */
#ifndef HF_MOUNTD_SANDBOX_H
#define HF_MOUNTD_SANDBOX_H

#include "mountd/sandbox_parts.h"

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


#endif

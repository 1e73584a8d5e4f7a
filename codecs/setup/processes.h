/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The processes of an operating system, where a description tells of them (perf.data): whose a thread is at a time, and
 * which code a process has then. Immutable once made.
 */
#ifndef HF_SETUP_PROCESSES_H
#define HF_SETUP_PROCESSES_H

#include "codecs/image/program.h"

/* From that time on the thread is one of that process. Rows are sorted by tid, then from. */
struct hf_thread_span {
	uint64_t from;
	uint32_t tid, pid;
};

/* From that time on the process has that program. Sorted by pid, then from. */
struct hf_space_span {
	uint64_t from;
	uint32_t pid;
	uint32_t program;
};

/* What a thread called itself last. Sorted by tid. */
struct hf_thread_name {
	uint32_t tid, pid;
	char name[32]; /* printable */
};

/* The kernel's code from that time on: it changes its own. */
struct hf_kernel_span {
	uint64_t from;
	struct hf_program program; /* its bytes lie in block */
};

/* A file or another piece of code that was mapped, and whose bytes are not known: why, and what to do. */
struct hf_missing_file {
	char *name, *why; /* owned */
};

/* Where it was mapped. Sorted by start, once all are there. */
struct hf_missing_code {
	uint64_t start, end;
	uint32_t file;
};

struct hf_processes {
	struct hf_thread_span *thread;
	size_t thread_count;
	struct hf_thread_name *name;
	size_t name_count;
	struct hf_space_span *space;
	size_t space_count;
	struct hf_program *program; /* their bytes lie in block */
	size_t program_count;
	const struct hf_program **below; /* what programs have below them, all together */
	uint8_t **block; /* owned: code of files, each once */
	size_t block_count;
	uint64_t bytes;	 /* in all blocks */
	struct hf_program kernel; /* of all processes, and where none is known; its bytes lie in block, too */
	struct hf_kernel_span *patched; /* sorted by from; before the first of them it is kernel */
	size_t patched_count;
	bool kernel_is_file; /* its code is that of the file, which the kernel may have changed since */
	struct hf_missing_file *missing;
	size_t missing_count;
	struct hf_missing_code *missing_code;
	size_t missing_code_count;
	bool by_vmid;	 /* a trace has the thread in the VMID, not the context id */
};

/* Who runs, and with which code. */
struct hf_running {
	bool known; /* the process */
	uint32_t pid;
	const struct hf_program *program; /* NULL: none of its code is known */
	const struct hf_program *kernel; /* where the kernel runs; NULL: that is in program */
};

/* The name of that thread, or else of its process; NULL: none is known. processes may be NULL. */
const char *hf_processes_name(const struct hf_processes *processes, uint32_t pid, uint32_t tid);

struct hf_running hf_processes_at(const struct hf_processes *processes, uint32_t tid, uint64_t time);

/* name is missing for that reason: the last row of missing. HF_ERR_NOMEM. */
__attribute__((format(printf, 3, 4))) int hf_processes_add_missing(struct hf_processes *processes, const char *name,
								   const char *why, ...);
int hf_processes_add_missing_code(struct hf_processes *processes, uint64_t start, uint64_t end, uint32_t file);
void hf_processes_sort_missing(struct hf_processes *processes);
/* Which of missing had code at that address in some process; missing_count: none. processes may be NULL. */
size_t hf_processes_missing(const struct hf_processes *processes, uint64_t address);

/* Forgets threads, spaces and programs, but neither the kernel nor the bytes. */
void hf_processes_clear(struct hf_processes *processes);
void hf_processes_free(struct hf_processes *processes);

#endif

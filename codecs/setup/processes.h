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

struct hf_processes {
	struct hf_thread_span *thread;
	size_t thread_count;
	struct hf_space_span *space;
	size_t space_count;
	struct hf_program *program; /* their bytes lie in block */
	size_t program_count;
	const struct hf_program **below; /* what programs have below them, all together */
	uint8_t **block; /* owned: code of files, each once */
	size_t block_count;
	uint64_t bytes;	 /* in all blocks */
	struct hf_program kernel; /* of all processes, and where none is known; its bytes lie in block, too */
	bool by_vmid;	 /* a trace has the thread in the VMID, not the context id */
};

/* Who runs, and with which code. */
struct hf_running {
	bool known; /* the process */
	uint32_t pid;
	const struct hf_program *program; /* NULL: none of its code is known */
};

struct hf_running hf_processes_at(const struct hf_processes *processes, uint32_t tid, uint64_t time);

void hf_processes_free(struct hf_processes *processes);

#endif

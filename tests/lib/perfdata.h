/* SPDX-License-Identifier: Apache-2.0 */
/* Writes perf.data files of any form, and the files that were mapped, into memory. */
#ifndef HF_TEST_PERFDATA_H
#define HF_TEST_PERFDATA_H

#include "codecs/setup/read.h"

enum perf_form {
	PERF_FILE = 0,
	PERF_PIPE = 1,	  /* what is written to a pipe */
	PERF_KILLED = 2,  /* the recorder did not come to its end: no size, no features */
	PERF_ZSTD = 4,	  /* the kernel's records are compressed, in pieces that end anywhere */
	PERF_THREADS = 8, /* buffers are of threads, not of CPUs */
	PERF_SWAPPED = 16, /* the magic number alone */
	PERF_EVENTS = 32, /* as perf has it: another event tells of processes, and what either says of itself differs */
	PERF_NO_CPU = 64, /* the event of the trace does not say its CPU, as an older perf record --per-thread */
};

struct perf_data {
	uint8_t *bytes; /* owned */
	size_t n, cap;
	unsigned form;
	uint64_t features;
	struct perf_text {
		unsigned feature;
		uint8_t bytes[1024];
		size_t n;
	} text[16]; /* sections of features, by their numbers; others are empty */
	size_t text_count;
	uint64_t registers[8]; /* of every trace unit, as AUXTRACE_INFO has them; [1], its id, is 0x10 + 2 * cpu */
	bool clock; /* the units' timestamps are of the virtual counter */
	uint8_t *packed; /* records that wait to be compressed */
	size_t packed_n, packed_cap;
	void *zstd;
};

/* Who and where, as the kernel puts it behind a record. */
struct perf_who {
	uint32_t pid, tid, cpu;
	uint64_t time;
};

void perf_begin(struct perf_data *p, unsigned form);
/* A record with that body; of the kernel's with a trailer. */
void perf_record(struct perf_data *p, unsigned type, unsigned misc, const void *body, size_t n, const struct perf_who *who);
/* The section of a feature, in a file or in a pipe. */
void perf_feature(struct perf_data *p, unsigned feature, const void *bytes, size_t n);
/* The same of a text (feature 5, the version of perf), or of a list of them (11, the command line). */
void perf_text(struct perf_data *p, unsigned feature, const char *const *texts, size_t count);
/* AUXTRACE_INFO of so many CPUs, of an ETE; version 0 to 2. */
void perf_info(struct perf_data *p, unsigned version, unsigned cpus);
/* AUXTRACE_INFO of RISC-V trace, as it was proposed: it says nothing but its event. */
void perf_riscv(struct perf_data *p);
void perf_map(struct perf_data *p, const struct perf_who *who, uint64_t address, uint64_t size, uint64_t offset, unsigned prot,
	      const char *name, const uint8_t id[20]);
/* Code of the kernel: name as mappings have it. */
void perf_kernel(struct perf_data *p, const char *name, uint64_t address, uint64_t size, uint64_t offset, const uint8_t id[20]);
/* A function that the kernel made. */
void perf_ksymbol(struct perf_data *p, const struct perf_who *who, const char *name, uint64_t address, uint32_t size);
/* who's CPU goes on with that thread. */
void perf_switch(struct perf_data *p, const struct perf_who *who, uint32_t pid, uint32_t tid);
void perf_poke(struct perf_data *p, const struct perf_who *who, uint64_t address, uint32_t old, uint32_t new);
void perf_comm(struct perf_data *p, const struct perf_who *who, const char *name, bool exec);
void perf_fork(struct perf_data *p, const struct perf_who *child, uint32_t parent);
void perf_aux(struct perf_data *p, const struct perf_who *who, uint64_t offset, uint64_t size, uint64_t flags);
void perf_auxtrace(struct perf_data *p, uint32_t cpu, uint32_t tid, uint64_t offset, const void *bytes, size_t n);
/* The record alone: size bytes must follow it, of a multiple of 8. */
void perf_auxtrace_head(struct perf_data *p, uint32_t cpu, uint32_t tid, uint64_t offset, uint64_t size);
void perf_hw_id(struct perf_data *p, const struct perf_who *who, unsigned id, uint32_t sink);
/* Writes what waits, and the sizes of the header. */
void perf_end(struct perf_data *p);
void perf_free(struct perf_data *p);

/* An AArch64 file with that build id (20 bytes; NULL: none), whose code[n] lies at offset and address 0x1000, where its
 * symbol _text is. ret[8192]; returns its size. n is 4096 at most. */
size_t perf_elf(const uint8_t *id, const void *code, size_t n, uint8_t *ret);

/* A copy of the kernel's code, code[n] at that address. ret[8192]; returns its size. n is 4096 at most. */
size_t perf_kcore(uint64_t address, const void *code, size_t n, uint8_t *ret);

/* Files by name in memory, as an opener has them: all of them but the first beside the capture, and those whose names begin
 * with "debug:" in the directory of debug files. */
struct perf_files {
	const char *name[8];
	const void *bytes[8];
	size_t size[8];
	size_t count;
};
struct hf_setup_opener perf_opener(struct perf_files *files, const struct hf_codec *const *codecs);

#endif

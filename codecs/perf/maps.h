/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which file lay where in which process, at which time: what MMAP, MMAP2, KSYMBOL, COMM, FORK and ITRACE_START records
 * tell. They are kept as they come, and put in order by time when all are there: a file is not.
 */
#ifndef HF_PERF_MAPS_H
#define HF_PERF_MAPS_H

#include "codecs/base/hash_map.h"
#include "codecs/perf/attrs.h"
#include "codecs/perf/features.h"
#include "codecs/setup/processes.h"

enum {
	HF_PERF_EVENTS_MAX = 1 << 21,
	HF_PERF_OBJECTS_MAX = 1 << 16,
	HF_PERF_KERNEL_MAX = 1 << 16,
	HF_PERF_SPACES_MAX = 1 << 20, /* and so many pieces of programs, times 8 */
};

/* A file that was mapped, by its name and build id. */
struct hf_perf_object {
	char *name;
	struct hf_perf_build_id id; /* of the mapping itself; size 0: the features may know it */
	/* The bytes of it that were mapped as code: [first, end) of the file. */
	uint64_t first, end;
	/* Set by who finds the file: its bytes from first on, as many as it has; borrowed. */
	const uint8_t *bytes;
	uint64_t size;
};

/* Code of the kernel, as MMAP and KSYMBOL have it. */
struct hf_perf_kernel_code {
	char *name; /* "[kernel.kallsyms]_text", a module, or a function that the kernel made */
	uint64_t address, size, offset; /* offset: of the kernel itself the address of the symbol behind the ']' */
	struct hf_perf_build_id id;
	bool made; /* KSYMBOL */
};

enum hf_perf_event_kind {
	HF_PERF_EVENT_MAP,    /* code */
	HF_PERF_EVENT_UNMAP,  /* anything else where code may have been */
	HF_PERF_EVENT_EXEC,
	HF_PERF_EVENT_FORK,   /* of a process: object is the parent */
	HF_PERF_EVENT_THREAD, /* tid is a thread of pid */
};

struct hf_perf_event {
	uint64_t time;
	uint32_t number; /* in the order of the file */
	uint32_t pid, tid;
	uint32_t object; /* MAP: number of the file; FORK: the parent */
	uint64_t address, size, offset;
	uint8_t kind;	 /* enum hf_perf_event_kind */
};

struct hf_perf_thread {
	uint64_t time;
	uint32_t pid, tid;
};

struct hf_perf_maps {
	struct hf_perf_object *object;
	struct hf_hash_map by_name; /* rows: object */
	struct hf_perf_event *event;
	size_t event_count;
	struct hf_perf_thread *thread; /* of each the last event THREAD */
	struct hf_hash_map by_tid; /* rows: thread */
	struct hf_perf_kernel_code *kernel;
	size_t kernel_count;
	struct hf_thread_name *comm; /* of each thread that has told one */
	struct hf_hash_map by_comm;  /* rows: comm */
	bool cut; /* there are more than the limits allow */
};

/* A record of one of these types; others tell nothing. */
int hf_perf_maps_add(struct hf_perf_maps *maps, struct hf_perf_attrs *attrs, const struct hf_perf_record *record);
void hf_perf_maps_free(struct hf_perf_maps *maps);

/* Number of files that were mapped. */
static inline size_t hf_perf_maps_objects(const struct hf_perf_maps *maps)
{
	return maps->by_name.count;
}

/* All threads and programs, from the bytes that the objects have. kernel and blocks of *ret are the caller's to fill in
 * before: programs find the kernel below them. ret is zero otherwise. */
int hf_perf_maps_make(struct hf_perf_maps *maps, struct hf_processes *ret);

#endif

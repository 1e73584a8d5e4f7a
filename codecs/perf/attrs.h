/* SPDX-License-Identifier: Apache-2.0 */
/* The events that a perf.data was recorded with, and what the kernel puts behind its records for them (sample_id_all). */
#ifndef HF_PERF_ATTRS_H
#define HF_PERF_ATTRS_H

#include "codecs/perf/file.h"

/* More events than a recorder can have open, and ids of them. */
#define HF_PERF_ATTRS_MAX 65536u
#define HF_PERF_IDS_MAX (1u << 22)

struct hf_perf_attr {
	uint32_t type; /* number of the PMU */
	uint64_t config, sample_type, flags;
};

struct hf_perf_id {
	uint64_t id;
	uint32_t attr;
};

struct hf_perf_attrs {
	struct hf_perf_attr *row;
	size_t count;
	struct hf_perf_id *id; /* ascending, once sorted */
	size_t id_count;
	bool sorted;
	unsigned id_place; /* words from the end of a record to its event's id; 0: events have it elsewhere */
};

/* What stands behind a record. */
struct hf_perf_trailer {
	bool has_tid, has_time, has_cpu;
	uint32_t pid, tid, cpu;
	uint64_t time; /* ns of the perf clock; 0: of a synthesized record */
};

/* Those of a file's header. */
int hf_perf_attrs_read(struct hf_perf_attrs *attrs, struct hf_perf_file *file);
/* That of a HEADER_ATTR record. */
int hf_perf_attrs_add_record(struct hf_perf_attrs *attrs, const struct hf_perf_record *record);
void hf_perf_attrs_free(struct hf_perf_attrs *attrs);

/* The PMU of the event with that id; UINT32_MAX: there is none. */
uint32_t hf_perf_attrs_type(struct hf_perf_attrs *attrs, uint64_t id);

/* All is false and 0 if it has none. */
struct hf_perf_trailer hf_perf_trailer_of(struct hf_perf_attrs *attrs, const struct hf_perf_record *record);
/* Bytes of it. */
uint32_t hf_perf_trailer_size(struct hf_perf_attrs *attrs, const struct hf_perf_record *record);

#endif

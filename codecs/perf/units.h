/* SPDX-License-Identifier: Apache-2.0 */
/* AUXTRACE_INFO of CoreSight: the trace unit of each CPU (cs-etm.h of perf). */
#ifndef HF_PERF_UNITS_H
#define HF_PERF_UNITS_H

#include "codecs/perf/file.h"

/* Parameters of a block that are read: TRCCONFIGR to TRCAUTHSTATUS, TRCDEVARCH. */
enum { HF_PERF_PARAMS = 8, HF_PERF_TRACEIDR = 1, HF_PERF_DEVARCH = 7 };
/* The counter that the perf clock is made of (TRFCR_EL1.TS). */
#define HF_PERF_CLOCK_VIRTUAL 1u
extern const char *const hf_perf_param_names[HF_PERF_PARAMS];

enum hf_perf_unit_kind {
	HF_PERF_ETMV3, /* or PTM: not decoded */
	HF_PERF_ETMV4,
	HF_PERF_ETE,
};

struct hf_perf_unit {
	uint64_t cpu;
	uint8_t kind;  /* enum hf_perf_unit_kind */
	uint8_t count; /* parameters that are there */
	uint64_t param[HF_PERF_PARAMS];
	uint64_t clock; /* what its timestamps count: HF_PERF_CLOCK_VIRTUAL, or another or an unknown one */
};

struct hf_perf_units {
	uint64_t version; /* of the header */
	uint32_t pmu;     /* type of the event */
	bool snapshot;    /* the kernel writes over what is old */
	struct hf_perf_unit *row;
	size_t count;
	size_t said; /* blocks that the header promises: count of them could be read */
};

/* record is an AUXTRACE_INFO of type CS_ETM. HF_ERR_CORRUPT: not even its header is there; HF_ERR_UNSUPPORTED: version
 * is higher than 2. A block that makes no sense ends them. */
int hf_perf_units_read(const struct hf_perf_record *record, struct hf_perf_units *ret_units);
void hf_perf_units_free(struct hf_perf_units *units);

/* NULL: there is none of that CPU. */
const struct hf_perf_unit *hf_perf_unit_of(const struct hf_perf_units *units, uint64_t cpu);

#endif

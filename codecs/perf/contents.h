/* SPDX-License-Identifier: Apache-2.0 */
/* All that counts of the records of a perf.data, read once. */
#ifndef HF_PERF_CONTENTS_H
#define HF_PERF_CONTENTS_H

#include "codecs/perf/features.h"
#include "codecs/perf/kernel.h"
#include "codecs/perf/maps.h"
#include "codecs/perf/recordings.h"
#include "codecs/perf/units.h"

struct hf_perf_contents {
	struct hf_perf_attrs attrs;
	struct hf_perf_features features;
	struct hf_perf_units units;
	struct hf_perf_recordings recordings;
	struct hf_perf_maps maps;
	struct hf_perf_pokes pokes;
	bool pipe, killed, has_units;
	bool riscv; /* it has trace of RISC-V */
	uint64_t *cpu_wide; /* ids of events that are of a CPU, whoever runs there */
	size_t cpu_wide_count;
	bool system_wide;   /* whoever ran was traced, not one process */
	/* ns of the perf clock are zero + ticks * mult / 2^shift; has_clock: it is told */
	bool has_clock;
	uint64_t zero, mult, shift;
	uint64_t lost;	    /* records that the kernel says were lost */
	uint64_t broken;    /* where records cannot be read further, in file broken_in; HF_NOWHERE */
	uint32_t broken_in;
};

/* From the file and, of a directory, its data.N: all borrowed. It has units, or trace of RISC-V. HF_ERR_PERF_DAMAGED,
 * HF_ERR_PERF_VERSION, or an error of reading. To be freed also after an error. */
int hf_perf_contents_read(struct hf_perf_contents *contents, struct hf_src *const *src, size_t count,
			  struct hf_diag *diag);
void hf_perf_contents_free(struct hf_perf_contents *contents);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files that were mapped, as far as they are there: beside the capture, or in the directory of debug files. A file is
 * taken only if its build id is the one that was recorded; where none was, if its name is, and the trace goes through it.
 */
#ifndef HF_PERF_PROGRAMS_H
#define HF_PERF_PROGRAMS_H

#include "codecs/perf/maps.h"
#include "codecs/setup/read.h"

/* Of which capture. The setup has all but programs, and stream is its trace. */
struct hf_perf_ask {
	struct hf_setup *setup;
	const struct hf_setup_opener *opener;
	struct hf_src *stream;
	struct hf_perf_maps *maps;
	const struct hf_perf_features *features;
};

/*
 * Threads, programs and what is missing, into *ret, which is the setup's and has the kernel. Adds to the setup the rows
 * from which names are taken. Errors are those of memory and reading.
 */
int hf_perf_programs_make(const struct hf_perf_ask *ask, struct hf_processes *ret);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files that were mapped, as far as they are there: beside the capture, or in the directory of debug files. A file is
 * taken only if its build id is the one that was recorded; where none was, if its name is, and that is told.
 */
#ifndef HF_PERF_PROGRAMS_H
#define HF_PERF_PROGRAMS_H

#include "codecs/perf/maps.h"
#include "codecs/setup/read.h"

/*
 * Gives the objects of maps their bytes, which lie in blocks of *ret, and adds to the setup the rows from which names are
 * taken, and warnings of what is missing. Errors are those of memory and reading.
 */
int hf_perf_programs_find(struct hf_setup *setup, const struct hf_setup_opener *opener, struct hf_perf_maps *maps,
			  const struct hf_perf_features *features, struct hf_processes *ret);

#endif

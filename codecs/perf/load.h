/* SPDX-License-Identifier: Apache-2.0 */
/* The contents of a perf.data as a setup: sources, recordings, programs, processes. */
#ifndef HF_PERF_LOAD_H
#define HF_PERF_LOAD_H

#include "codecs/codec.h"
#include "codecs/setup/read.h"

/* Files data.N of one directory. */
#define HF_PERF_FILES_MAX 2048u

extern const struct hf_codec hf_codec_perf;

/* hf_codec.load */
int hf_perf_load(struct hf_setup *setup, const struct hf_setup_opener *opener, struct hf_src **ret_stream,
		 struct hf_setup_error *error);

/* hf_codec.split of trace of RISC-V; name: of the first file. */
int hf_perf_split(struct hf_setup *setup, const char *name, struct hf_src *const *src, size_t count,
		  struct hf_src **ret_stream, struct hf_setup_error *error);

/* hf_setup_opener.list: a file that may be one of the programs of that setup. */
int hf_perf_add_program(void *setup, const char *name);

#endif

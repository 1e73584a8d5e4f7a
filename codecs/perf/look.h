/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a perf.data holds trace, and of which kind: by as few of its records as tell it, in either byte order. */
#ifndef HF_PERF_LOOK_H
#define HF_PERF_LOOK_H

#include "codecs/source/source.h"

/* So many bytes of records are looked through, the trace itself not counted: perf writes what is sought first,
 * simpleperf behind the mappings of every process. */
#define HF_PERF_LOOK_MAX (UINT64_C(16) << 20)
/* So many if the header has no index of trace: an injected file, or one whose trace was dropped, has none. */
#define HF_PERF_GLANCE_MAX (UINT64_C(1) << 20)

/* The first AUXTRACE_INFO of CoreSight, or else of any other trace. */
struct hf_perf_look {
	uint32_t type;	  /* AUXTRACE_INFO.type */
	uint64_t version; /* of CoreSight: its header's */
	uint32_t units;	  /* of CoreSight: how many trace units there are */
	bool swapped;	  /* the file is big-endian */
};

/* The magic number in either byte order, or of the first version. */
bool hf_perf_is_file(const uint8_t *head, size_t n);

/* HF_NOTE_END: there is no trace in it. Other errors are of reading. */
int hf_perf_look(struct hf_src *src, struct hf_perf_look *ret_look, struct hf_diag *diag);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters of what the file system did since it was opened, for .hartfs/metrics.prom. Counted without locks.
 */
#ifndef HF_FS_METRICS_H
#define HF_FS_METRICS_H

#include "index/base/lock.h"

#include <stdatomic.h>
#include <stdint.h>

/* Reads, by what was read: a file of the archive, a text made when it was opened, bytes of a capture. */
enum hf_metrics_read { HF_METRICS_ARCHIVE, HF_METRICS_TEXT, HF_METRICS_BYTES, HF_METRICS_READS };
/* Requests whose time is taken: these reads, and */
enum hf_metrics_request {
	HF_METRICS_LOOKUP = HF_METRICS_READS,
	HF_METRICS_LIST, /* a directory is opened */
	HF_METRICS_OPEN, /* a file is: texts are made then */
	HF_METRICS_REQUESTS
};

/* How many took up to 2^i microseconds, and more than half of that; the last: more than any. */
enum { HF_LATENCY_BUCKETS = 26 };
struct hf_latency {
	_Atomic uint64_t count[HF_LATENCY_BUCKETS], ns;
};

struct hf_metrics {
	_Atomic uint64_t reads[HF_METRICS_READS], read_errors;
	struct hf_latency latency[HF_METRICS_REQUESTS];
	_Atomic uint64_t chunks, chunk_bytes, chunk_ns, chunk_errors;  /* pieces of views that were made */
	_Atomic uint64_t spools, spool_errors, spool_reads, spools_damaged;
	_Atomic uint64_t indexed, index_failed, index_ns;              /* captures */
	_Atomic uint64_t profiles;                                     /* files of profiles that nobody asked for by name */
};

static inline void hf_metrics_add(_Atomic uint64_t *counter, uint64_t n)
{
	atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
}

/* A request that began at that time (hf_now_ns) is done. */
static inline void hf_latency_add(struct hf_latency *latency, int64_t began_ns)
{
	const uint64_t ns = (uint64_t)(hf_now_ns() - began_ns);
	unsigned i = 0;

	while (i < HF_LATENCY_BUCKETS - 1 && ns > UINT64_C(1000) << i)
		i++;
	hf_metrics_add(&latency->count[i], 1);
	hf_metrics_add(&latency->ns, ns);
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters of what the file system did since it was opened, for .hartfs/metrics.prom. Counted without locks.
 */
#ifndef HF_FS_METRICS_H
#define HF_FS_METRICS_H

#include <stdatomic.h>
#include <stdint.h>

/* Reads, by what was read: a file of the archive, a text made when it was opened, bytes of a capture. */
enum hf_metrics_read { HF_METRICS_ARCHIVE, HF_METRICS_TEXT, HF_METRICS_BYTES, HF_METRICS_READS };

struct hf_metrics {
	_Atomic uint64_t reads[HF_METRICS_READS], read_errors;
	_Atomic uint64_t chunks, chunk_bytes, chunk_ns, chunk_errors;  /* pieces of views that were made */
	_Atomic uint64_t spools, spool_errors, spool_reads, spools_damaged;
	_Atomic uint64_t indexed, index_failed, index_ns;              /* captures */
	_Atomic uint64_t profiles;                                     /* files of profiles that nobody asked for by name */
};

static inline void hf_metrics_add(_Atomic uint64_t *counter, uint64_t n)
{
	atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
}

#endif

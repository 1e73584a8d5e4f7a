/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What all floors share: the options, the clock, the log, the executor, the cache, the counters, and whether all is to
 * end.
 */
#ifndef HF_FS_COMMON_H
#define HF_FS_COMMON_H

#include "fs/base/chunk_cache.h"
#include "fs/base/metrics.h"
#include "fs/base/once.h"
#include "fs/base/options.h"
#include "index/exec/exec.h"
#include "index/base/lock.h"

#include <stdatomic.h>

struct hf_common {
	struct hf_fs_options options; /* views, params, skip and the paths are not valid any more */
	struct timespec started;
	struct hf_exec *exec;
	unsigned index_threads; /* of builds, all together */
	struct hf_cache *cache;
	struct hf_once once; /* hf_reading_goes_once */
	struct hf_metrics metrics;
	atomic_bool closing;
	struct hf_stop stop; /* hf_stopping, for sources */
};

/* level as in hf_log_fn. */
__attribute__((format(printf, 3, 4))) void hf_common_log(const struct hf_common *common, int level, const char *format,
							 ...);

/* All work is to end soon: hf_fs_stop was called, or whoever opened it says so. */
static inline bool hf_stopping(const struct hf_common *common)
{
	return common->closing || hf_stop_wanted(common->options.stop);
}

#endif

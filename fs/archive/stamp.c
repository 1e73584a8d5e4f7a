/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/archive/stamp.h"

struct hf_stamp hf_stamp_of(const struct stat *st)
{
	return (struct hf_stamp){
		.dev = st->st_dev,
		.ino = st->st_ino,
		.size = st->st_size,
		.mtime_ns = hf_time_ns(&st->st_mtim),
		.ctime_ns = hf_time_ns(&st->st_ctim),
	};
}

bool hf_stamp_same(const struct hf_stamp *a, const struct hf_stamp *b)
{
	return a->dev == b->dev && a->ino == b->ino && a->size == b->size && a->mtime_ns == b->mtime_ns &&
	       a->beside == b->beside && a->debug == b->debug;
}

uint64_t hf_stamp_around(const struct hf_stamp *stamp)
{
	/* Both are hashes, of other things. */
	return stamp->beside ^ stamp->debug;
}

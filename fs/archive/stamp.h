/* SPDX-License-Identifier: Apache-2.0 */
/* By what a file is taken for unchanged. */
#ifndef HF_FS_STAMP_H
#define HF_FS_STAMP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

struct hf_stamp {
	dev_t dev;
	ino_t ino;
	off_t size;
	int64_t mtime_ns;
	int64_t ctime_ns; /* only for the catalogue: a chmod is no change of what can be read */
	uint64_t beside;  /* of a capture: hf_elf_nearby_stamp, or with a description hf_members_look */
	uint64_t debug;	  /* of a capture: hf_debug_dir_look */
};

struct hf_stamp hf_stamp_of(const struct stat *st);
bool hf_stamp_same(const struct hf_stamp *a, const struct hf_stamp *b);
/* One number for all that a capture's views depend on besides its own file. */
uint64_t hf_stamp_around(const struct hf_stamp *stamp);

static inline int64_t hf_time_ns(const struct timespec *time)
{
	return (int64_t)time->tv_sec * 1000000000 + time->tv_nsec;
}

#endif

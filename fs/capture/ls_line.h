/* SPDX-License-Identifier: Apache-2.0 */
/* What can be told of a capture without indexing it: a line of hartfs ls. */
#ifndef HF_FS_LS_LINE_H
#define HF_FS_LS_LINE_H

#include <stdint.h>

#define HF_FS_FAILURE 1024
struct hf_fs_ls_line {
	const char *format;    /* its codec's name, "stf"; "" : of no known format; static */
	const char *container; /* "gzip", or "" for plain bytes; static */
	uint64_t size;         /* of its file, or of all that its description names, in bytes */
	enum { HF_FS_NOT_INDEXED, HF_FS_INDEXED, HF_FS_FAILED } state;
	uint64_t instructions; /* that its harts retired; like all below only if it is indexed */
	uint64_t harts, problems;
	char failure[HF_FS_FAILURE]; /* why nothing of it could be decoded */
};

#endif

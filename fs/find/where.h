/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hartN/where/KIND/VALUE: the ordinals of the instructions that answer a question, one a line of HF_WHERE_LINE bytes.
 * So the size is known from the counts, which are made when the name is looked up; the ordinals of a chunk are made when
 * they are read, by decoding it. Counts are kept in memory, of a bounded number of files, as long as they are used.
 */
#ifndef HF_FIND_WHERE_H
#define HF_FIND_WHERE_H

#include "fs/bytes/made.h"
#include "fs/find/where_value.h"

/* An ordinal with blanks before it, and the end of the line. */
#define HF_WHERE_LINE 21u
/* So many instructions are decoded to count the lines of a file, at most. */
#define HF_WHERE_DECODED (UINT64_C(1) << 20)
/* What stays in memory of files that nobody reads: of so many, and so many bytes. */
#define HF_WHERE_KEPT 256
#define HF_WHERE_BYTES ((size_t)16 << 20)

extern const struct hf_made_kind hf_made_where;

/*
 * The file of that kind and name, with a reference: hf_bytes_unref. Waits until its lines are counted, by a thread of the
 * executor. HF_ERR_NOT_FOUND: there is no such value, or it is spelled in another way. HF_ERR_WHERE_LIMIT,
 * HF_ERR_WHERE_UNKNOWN, HF_ERR_WHERE_UNAVAILABLE: it cannot be told; or what reading the capture or its index returns.
 */
int hf_where_get(struct hf_mades *wheres, struct hf_capture *capture, const struct hf_facts *facts, uint32_t hart,
		 enum hf_where_kind kind, const char *value, struct hf_bytes *ret_bytes);

#endif

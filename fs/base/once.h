/* SPDX-License-Identifier: Apache-2.0 */
/* What was wanted lately, by whichever reader, as far as a few bits remember. */
#ifndef HF_FS_ONCE_H
#define HF_FS_ONCE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* A bit each, of a hash of owner and number. A zeroed one remembers nothing. */
enum { HF_ONCE_BITS = 65536 };
struct hf_once {
	_Atomic uint64_t bits[HF_ONCE_BITS / 64];
	atomic_uint count; /* of those that are set; at half of them all are forgotten */
};

/* Notes that it is wanted. Whether this is the first time, as far as is remembered. */
bool hf_once_note(struct hf_once *once, uint64_t owner, uint64_t number);

#endif

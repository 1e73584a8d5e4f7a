/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A source that gives at most so many bytes at a time, though more are there: what reads it must not care. (Stricter
 * than the contract of read_at, which allows short reads at the end and at damage only.)
 */
#ifndef HF_TEST_SLIVER_H
#define HF_TEST_SLIVER_H

#include "codecs/source/source.h"

/* base is borrowed; most >= 1. */
int hf_sliver_new(struct hf_src *base, size_t most, struct hf_src **ret_src);

/* Reads at or beyond bad_at fail with err, as on a bad disk; those before stop short of it. */
int hf_sliver_new_failing(struct hf_src *base, uint64_t bad_at, int err, struct hf_src **ret_src);

#endif

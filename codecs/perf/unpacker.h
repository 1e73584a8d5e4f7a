/* SPDX-License-Identifier: Apache-2.0 */
/* The one zstd stream that the compressed records of a file are pieces of: its contents are records, cut anywhere. */
#ifndef HF_PERF_UNPACKER_H
#define HF_PERF_UNPACKER_H

#include "codecs/source/source.h"

struct hf_perf_unpacker;

int hf_perf_unpacker_new(struct hf_perf_unpacker **ret_unpacker);
void hf_perf_unpacker_free(struct hf_perf_unpacker *unpacker);

/* The next piece, in[n], which is copied. All that came before must have been taken, as far as it is whole. */
int hf_perf_unpacker_feed(struct hf_perf_unpacker *unpacker, const uint8_t *in, size_t n);

/*
 * The next whole record of what was fed, valid until the next call; HF_NOTE_END: more must be fed. HF_ERR_CORRUPT: the
 * stream is damaged, or stands for more than so short a file can: nothing comes from here on.
 */
int hf_perf_unpacker_next(struct hf_perf_unpacker *unpacker, const uint8_t **ret_bytes, uint32_t *ret_size);

#endif

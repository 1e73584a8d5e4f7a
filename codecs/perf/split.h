/* SPDX-License-Identifier: Apache-2.0 */
/* A perf.data whose trace is split into recordings and not decoded, as a stream: records.txt lists them. */
#ifndef HF_PERF_SPLIT_H
#define HF_PERF_SPLIT_H

#include "codecs/codec.h"

/* hf_codec.open of a setup whose parts are recordings, and hf_codec.close. */
int hf_perf_split_open(const struct hf_setup *setup, struct hf_stream **ret_stream);
void hf_perf_split_close(struct hf_stream *stream);

/* A line for each part. */
extern const struct hf_dec_ops hf_perf_split_ops;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* An E-Trace capture: its parameters, as far as they are the same for every hart. */
#ifndef HF_ETRACE_STREAM_H
#define HF_ETRACE_STREAM_H

#include "codecs/etrace/params.h"

struct hf_etrace_stream {
	struct hf_stream stream;
	struct hf_etrace_params params;
	char json[96];
};

extern const struct hf_codec hf_codec_etrace;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* perf.data of any bytes: whether it is a capture does not depend on how it is read, and it is never opened as one. */
#include "codecs/codec.h"
#include "codecs/perf/errors.h"
#include "tests/lib/fuzz.h"
#include "tests/lib/sliver.h"

extern const struct hf_codec hf_codec_perf;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hf_diag diag = {.code = 0};
	struct hf_src *src, *thin;
	struct hf_stream *stream;
	bool ours, again;
	int err;

	if (!hf_codec_perf.probe(data, size))
		return 0;
	MUST(!hf_src_memory_new(data, size, &src));
	MUST(!hf_codec_perf.confirm(src, &ours));
	MUST(!hf_sliver_new(src, 5, &thin));
	MUST(!hf_codec_perf.confirm(thin, &again) && ours == again);
	err = hf_stream_open(&hf_codec_perf, thin, NULL, &stream, &diag);
	MUST(err == HF_ERR_PERF_DATA || (ours && err == HF_ERR_PERF_RISCV));
	hf_src_free(thin);
	hf_src_free(src);
	return 0;
}

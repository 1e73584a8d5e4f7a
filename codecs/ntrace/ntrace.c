/* SPDX-License-Identifier: Apache-2.0 */
/* RISC-V N-Trace as a codec. */
#include "codecs/ntrace/encoder.h"

static const char *const suffixes[] = {NULL};

static unsigned xlen(const struct hf_stream *stream, uint32_t hart)
{
	struct hf_ntrace_params params;

	hf_ntrace_params_read(stream->setup, hart, &params, NULL); /* it was checked when the stream was opened */
	return params.xlen;
}

const struct hf_codec hf_codec_ntrace = {
	.name = "ntrace",
	.title = "RISC-V N-Trace",
	.version = 14,
	.suffixes = suffixes,
	.keys = hf_ntrace_keys,
	.xlen = xlen,
	.program_arch = HF_ARCH_RISCV,
	.check = hf_ntrace_check,
	.open = hf_ntrace_open,
	.close = hf_ntrace_close,
	.dec = &hf_ntrace_dec_ops,
	.records = &hf_ntrace_records_ops,
};

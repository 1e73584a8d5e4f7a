/* RISC-V N-Trace as a codec. */
#include "codecs/ntrace/encoder.h"

static const char *const suffixes[] = {NULL};

const struct hf_codec hf_codec_ntrace = {
	.name = "ntrace",
	.title = "RISC-V N-Trace",
	.version = 5,
	.suffixes = suffixes,
	.parameters = hf_ntrace_parameters,
	.program_arch = HF_ARCH_RISCV,
	.check = hf_ntrace_check,
	.open = hf_ntrace_open,
	.close = hf_ntrace_close,
	.dec = &hf_ntrace_dec_ops,
	.enc = &hf_ntrace_enc_ops,
	.records = &hf_ntrace_records_ops,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* ETE and ETMv4, Arm's instruction trace, as a codec. Its captures need a description (CoreSight snapshot.ini). */
#include "codecs/ete/decoder.h"
#include "codecs/ete/encoder.h"

static const char *const suffixes[] = {NULL};

/* What a capture.ini may say of a source in [parameters N]: its registers, by their names. */
static const char *const parameters[] = {"TRCCONFIGR", "TRCTRACEIDR", "TRCAUTHSTATUS", "TRCIDR0", "TRCIDR1", "TRCIDR2",
					 "TRCIDR8", "TRCDEVARCH", "type", "failed_transactions", NULL};

extern const struct hf_codec hf_codec_ete;

const struct hf_codec hf_codec_ete = {
	.name = "ete",
	.title = "Arm Embedded Trace Extension",
	.version = 3,
	.suffixes = suffixes,
	.check = hf_ete_check,
	.remark = hf_ete_remark,
	.open = hf_ete_open,
	.close = hf_ete_close,
	.dec = &hf_ete_dec_ops,
	.enc = &hf_ete_enc_ops,
	.records = &hf_ete_records_ops,
	.parameters = parameters,
	.program_arch = HF_ARCH_ARM,
};

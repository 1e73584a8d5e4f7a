/* SPDX-License-Identifier: Apache-2.0 */
/* ETE and ETMv4, Arm's instruction trace, as a codec. Its captures need a description (CoreSight snapshot.ini). */
#include "codecs/ete/decoder.h"
#include "codecs/ete/encoder.h"

static const char *const suffixes[] = {NULL};

static const char *const types[] = {"ETE", "ETM4", NULL};
/* Of an ETMv4, of an ETE; with PRESENT and ARCHITECT as Arm has them. */
static const char *const archs[] = {"0x47704a13", "0x47705a13", NULL};
/* MAXSPEC of units that were met, and between them: what is too small shows, by how much does not. */
static const char *const depths[] = {"0", "1", "2", "4", "8", "16", "32", "64", "78", "128", "256", "1024", NULL};
static const char *const profiles[] = {"A", "R", "M", NULL};
static const char *const failed[] = {"keep", "drop", NULL};
static const char *const framings[] = {"raw", "coresight", "coresight_sync", "dstream_coresight", NULL};

/* What a capture.ini may say of a source in [parameters N]: its registers, by their names. Of their fields those count
 * here that config.c reads. */
static const struct hf_setup_key keys[] = {
	HF_KEY_WIDE_WORD("framing", framings),
	HF_KEY_FIELD("TRCCONFIGR", "RS", 12, 1, 0, 1, 0),
	HF_KEY_FIELD("TRCIDR0", "COMMOPT", 29, 1, 0, 1, 0),
	HF_KEY_FIELD("TRCIDR0", "COMMTRANS", 30, 1, 0, 1, 0),
	HF_KEY_FIELD("TRCIDR0", "TSMARK", 23, 1, 0, 1, 0),
	HF_KEY_FIELD("TRCIDR1", "TRCARCHMAJ", 8, 4, 4, 15, 0),
	HF_KEY_FIELD("TRCIDR2", "CIDSIZE", 5, 5, 0, 4, 4 << 5 | 4 << 10),
	HF_KEY_FIELD("TRCIDR2", "VMIDSIZE", 10, 5, 0, 4, 4 << 5 | 4 << 10),
	HF_KEY_FIELD("TRCIDR2", "WFXMODE", 31, 1, 0, 1, 4 << 5 | 4 << 10),
	HF_KEY_WORD("TRCIDR8", depths),
	HF_KEY_WORD("TRCDEVARCH", archs),
	HF_KEY_WORD("type", types),
	HF_KEY_WORD("profile", profiles),
	HF_KEY_WORD("failed_transactions", failed),
	HF_KEY_OPEN("TRCTRACEIDR"),
	HF_KEY_OPEN("TRCAUTHSTATUS"),
	HF_KEY_END,
};

extern const struct hf_codec hf_codec_ete;

const struct hf_codec hf_codec_ete = {
	.name = "ete",
	.title = "Arm Embedded Trace Extension",
	.version = 11,
	.suffixes = suffixes,
	.check = hf_ete_check,
	.remark = hf_ete_remark,
	.open = hf_ete_open,
	.close = hf_ete_close,
	.dec = &hf_ete_dec_ops,
	.records = &hf_ete_records_ops,
	.keys = keys,
	.program_arch = HF_ARCH_ARM,
};

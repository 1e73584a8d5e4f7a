/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Instrumentation Trace Macrocell of Cortex-M, with the DWT behind it, as a codec of its own: a dump of SWO, or of frames
 * of several of them, with a capture.ini. One beside an ETM is a source of a snapshot (codecs/ete). Either way each is a hart.
 */
#include "codecs/itm/decoder.h"

#include "codecs/ete/decoder.h"

static const char *const suffixes[] = {NULL};

static const char *const framings[] = {"raw", "coresight", "coresight_sync", "dstream_coresight", NULL};
static const char *const prescalers[] = {"1", "4", "16", "64", NULL};

static const struct hf_setup_key keys[] = {
	HF_KEY_WIDE_WORD("framing", framings),
	HF_KEY_WORD("prescaler", prescalers),
	HF_KEY_END,
};

extern const struct hf_codec hf_codec_itm;

const struct hf_codec hf_codec_itm = {
	.name = "itm",
	.title = "Arm Instrumentation Trace",
	.version = 1,
	.suffixes = suffixes,
	.check = hf_ete_check,
	.open = hf_ete_open,
	.close = hf_ete_close,
	.dec = &hf_ete_dec_ops,
	.records = &hf_ete_records_ops,
	.keys = keys,
	.program_arch = HF_ARCH_NONE, /* it needs none */
};

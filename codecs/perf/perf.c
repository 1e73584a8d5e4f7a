/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perf.data files of Linux, which may hold the trace of an ETE in AUX records: recognised, so that they are refused with
 * a reason instead of being passed over.
 */
#include "codecs/codec.h"

/* The magic number in either byte order, and of the first version. */
static int probe(const uint8_t *head, size_t n)
{
	return n >= 8 && (memcmp(head, "PERFILE2", 8) == 0 || memcmp(head, "2ELIFREP", 8) == 0 ||
			  memcmp(head, "PERFFILE", 8) == 0) ? 100 : 0;
}

static int refuse(struct hf_src *src, const struct hf_setup *setup, struct hf_stream **ret_stream, struct hf_diag *diag)
{
	(void)src;
	(void)setup;
	*ret_stream = NULL;
	return hf_diag_set(diag, HF_ERR_PERF_DATA, HF_SPACE_STREAM, HF_NOWHERE, 0);
}

static const char *const suffixes[] = {NULL};

extern const struct hf_codec hf_codec_perf;

const struct hf_codec hf_codec_perf = {
	.name = "perf",
	.title = "perf.data",
	.version = 1,
	.suffixes = suffixes,
	.probe = probe,
	.open = refuse,
};

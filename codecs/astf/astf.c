/* SPDX-License-Identifier: Apache-2.0 */
/* Arm's Architectural Structured Trace Format as a codec. */
#include "codecs/astf/dump.h"
#include "codecs/astf/encoder.h"
#include "codecs/views.h"

static int probe(const uint8_t *head, size_t n)
{
	return n >= 4 && memcmp(head, "ASTF", 4) == 0 ? 100 : 0;
}

static const char *const suffixes[] = {".astf", NULL};

const struct hf_codec hf_codec_astf = {
	.name = "astf",
	.title = "Architectural Structured Trace Format",
	.version = 6,
	.suffixes = suffixes,
	.probe = probe,
	.open = hf_astf_open,
	.close = hf_astf_close,
	.dec = &hf_astf_dec_ops,
	.original = &hf_view_astf,
	.records = &hf_astf_dump_ops,
	.record = &hf_astf_dump_record,
};

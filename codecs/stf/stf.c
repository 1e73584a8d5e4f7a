/* SPDX-License-Identifier: Apache-2.0 */
/* The Simple Trace Format of the RISC-V world as a codec. */
#include "codecs/stf/decoder.h"
#include "codecs/stf/dump.h"
#include "codecs/stf/encoder.h"
#include "codecs/views.h"

static int probe(const uint8_t *head, size_t n)
{
	return n >= 4 && memcmp(head, "\1STF", 4) == 0 ? 100 : 0;
}

static const char *const suffixes[] = {".stf", NULL};

const struct hf_codec hf_codec_stf = {
	.name = "stf",
	.title = "Simple Trace Format",
	.version = 10,
	.suffixes = suffixes,
	.probe = probe,
	.open = hf_stf_open,
	.close = hf_stf_close,
	.dec = &hf_stf_dec_ops,
	.original = &hf_view_stf,
	.records = &hf_stf_dump_ops,
	.record = &hf_stf_dump_record,
};

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The dump of a Micro Trace Buffer (Cortex-M0+, M23, M33), as a codec: a pair of words for each change of the flow (Arm
 * DDI 0486, 2.1). Word 0 is where it left, with bit A; word 1 where it went, with bit S. Between the destination of a pair
 * and the source of the next one everything was executed in its order. Captures need a capture.ini.
 */
#include "codecs/mtb/mtb.h"

#include "codecs/mtb/errors.h"
#include "codecs/setup/errors.h"
#include "codecs/setup/keys.h"

#include <stdlib.h>

static const char *const suffixes[] = {NULL};

static const struct hf_setup_key keys[] = {
	HF_KEY_OPEN("position"),
	HF_KEY_OPEN("wrap_offset"),
	HF_KEY_OPEN("size"),
	HF_KEY_END,
};

static int check(const struct hf_setup *setup, struct hf_setup_error *error)
{
	struct hf_mtb_layout layout;

	return hf_mtb_layout(setup, HF_MTB_SIZE_MAX, &layout, error);
}

static void close_stream(struct hf_stream *stream)
{
	free(stream);
}

static int open_stream(struct hf_src *src, const struct hf_setup *setup, struct hf_stream **ret_stream,
		       struct hf_diag *diag)
{
	struct hf_mtb_stream *s;
	uint8_t *bytes;
	int err;

	*ret_stream = NULL;
	if (!setup)
		return hf_diag_set(diag, HF_ERR_MTB_NO_SETUP, HF_SPACE_STREAM, HF_NOWHERE, 0);
	s = calloc(1, sizeof *s);
	if (!s)
		return hf_diag_set(diag, HF_ERR_NOMEM, HF_SPACE_STREAM, HF_NOWHERE, 0);
	s->stream.setup = setup;
	s->stream.info = (struct hf_stream_info){
		.arch = HF_ARCH_ARM,
		.xlen = 32,
		.isa = HF_ISA_T32,
		.flags = HF_STREAM_HARTS | HF_STREAM_NO_ACCESSES | HF_STREAM_NO_TEXTS | HF_STREAM_M_PROFILE,
		.version = "MTB",
		.json = "",
	};
	err = hf_mtb_read(src, &bytes, &s->size, diag);
	free(bytes);
	if (!err && (err = hf_mtb_layout(setup, s->size, &s->layout, NULL)) != 0)
		hf_diag_set(diag, err, HF_SPACE_STREAM, HF_NOWHERE, s->size);
	if (err)
		close_stream(&s->stream);
	else
		*ret_stream = &s->stream;
	return err;
}

extern const struct hf_codec hf_codec_mtb;

const struct hf_codec hf_codec_mtb = {
	.name = "mtb",
	.title = "Arm Micro Trace Buffer",
	.version = 1,
	.suffixes = suffixes,
	.check = check,
	.open = open_stream,
	.close = close_stream,
	.dec = &hf_mtb_dec_ops,
	.keys = keys,
	.program_arch = HF_ARCH_ARM,
};

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

/* ---- what the description says ---- */

/* MTB_POSITION: where the next pair will be written, as an address in the RAM or an offset, and WRAP. */
#define POSITION_WRAP 4u
#define POSITION_POINTER (~UINT64_C(7))

int hf_mtb_layout(const struct hf_setup *setup, uint64_t file, struct hf_mtb_layout *ret, struct hf_setup_error *error)
{
	const struct hf_setup_value *position = hf_setup_get(setup, HF_SETUP_ANY, "position");
	const struct hf_setup_value *wrap = hf_setup_get(setup, HF_SETUP_ANY, "wrap_offset");
	const struct hf_setup_value *said = hf_setup_get(setup, HF_SETUP_ANY, "size");
	uint64_t size, pointer, oldest;
	int err = hf_setup_number(setup, HF_SETUP_ANY, "size", 8, HF_MTB_SIZE_MAX, file, &size, error);

	if (!err)
		err = hf_setup_number(setup, HF_SETUP_ANY, "position", 0, UINT32_MAX, 0, &pointer, error);
	if (!err)
		err = hf_setup_number(setup, HF_SETUP_ANY, "wrap_offset", 0, HF_MTB_SIZE_MAX - 8, 0, &oldest, error);
	if (err)
		return err;
	if (said && (size & (size - 1)))
		return hf_setup_refuse(error, said, "a power of two: 1 << (MASK + 4) of MTB_MASTER");
	if (position && wrap)
		return hf_setup_refuse(error, wrap, "left out where 'position' is given");
	if (wrap && (oldest % 8 || (said && oldest >= size)))
		return hf_setup_refuse(error, wrap, "a multiple of 8 in the buffer");
	/* Of a ring that is not all there, or whose size is not one that a ring has, nobody knows where it begins. */
	if ((wrap || pointer & POSITION_WRAP) && (size > file || size & (size - 1)))
		return HF_ERR_MTB_RING;
	*ret = (struct hf_mtb_layout){.size = size < file ? size : file, .first = oldest};
	ret->pairs = ret->size / 8;
	if (position && size) {
		ret->first = (pointer & POSITION_POINTER) % size;
		if (!(pointer & POSITION_WRAP)) {
			ret->pairs = ret->first / 8 < ret->pairs ? ret->first / 8 : ret->pairs;
			ret->first = 0;
		}
	}
	ret->cut = ret->size % 8;
	ret->size -= ret->cut;
	if (ret->first >= ret->size)
		ret->first = 0;
	return 0;
}

static int check(const struct hf_setup *setup, struct hf_setup_error *error)
{
	struct hf_mtb_layout layout;

	return hf_mtb_layout(setup, HF_MTB_SIZE_MAX, &layout, error);
}

static void close_stream(struct hf_stream *stream)
{
	free(stream);
}

int hf_mtb_read(struct hf_src *src, uint8_t **ret_bytes, uint64_t *ret_size, struct hf_diag *diag)
{
	uint64_t room = 0, size = 0;
	size_t got;

	*ret_bytes = NULL;
	do {
		uint8_t *bytes = *ret_bytes;
		int err;

		if (size == room) {
			room = room ? 2 * room : 65536;
			bytes = realloc(*ret_bytes, room);
		}
		if (!bytes)
			return hf_diag_set(diag, HF_ERR_NOMEM, HF_SPACE_STREAM, HF_NOWHERE, 0);
		*ret_bytes = bytes;
		err = hf_src_read_at(src, size, bytes + size, room - size, &got, diag);
		if (err)
			return err;
		size += got;
		if (size > HF_MTB_SIZE_MAX)
			return hf_diag_set(diag, HF_ERR_MTB_SIZE, HF_SPACE_STREAM, HF_NOWHERE, HF_MTB_SIZE_MAX);
	} while (got);
	*ret_size = size;
	return 0;
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
		.flags = HF_STREAM_HARTS | HF_STREAM_NO_ACCESSES | HF_STREAM_M_PROFILE,
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

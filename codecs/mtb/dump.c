/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of a dump, and where in them the pairs lie. */
#include "codecs/mtb/errors.h"
#include "codecs/mtb/mtb.h"
#include "codecs/setup/keys.h"

#include <stdlib.h>

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

/* SPDX-License-Identifier: Apache-2.0 */
/* Pieces of what is cut evenly. */
#include "fs/bytes/bytes.h"
#include "fs/capture/opened.h"

int hf_bytes_even(const struct hf_bytes *bytes, struct hf_open *open, uint64_t number, struct hf_piece *ret_piece)
{
	const uint64_t offset = number * HF_EVEN_PIECE;

	(void)open;
	if (number > UINT64_MAX / HF_EVEN_PIECE || offset >= bytes->size)
		return HF_NOTE_END;
	*ret_piece = (struct hf_piece){
		.number = number, .offset = offset, .size = bytes->size - offset, .parts = bytes->ops->read_once};
	if (ret_piece->size > HF_EVEN_PIECE)
		ret_piece->size = HF_EVEN_PIECE;
	return 0;
}

int hf_bytes_even_at(const struct hf_bytes *bytes, struct hf_open *open, uint64_t offset, struct hf_piece *ret_piece)
{
	return hf_bytes_even(bytes, open, offset / HF_EVEN_PIECE, ret_piece);
}

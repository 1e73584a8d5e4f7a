/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A slice: the events of a range of instructions of a hart through an encoder, as if the hart had only those. It goes
 * chunk by chunk, so that what was found out in one pass, where each chunk begins in the output and in which state the
 * encoder is there, lets any part of the output be made again by itself.
 */
#ifndef HF_INDEX_SLICE_ENCODER_H
#define HF_INDEX_SLICE_ENCODER_H

#include "index/read/chunk_make.h"

/* Everything is borrowed. */
struct hf_slice_encoder_ask {
	struct hf_maker *maker; /* of the view; as long as the encoder lives it makes nothing else */
	struct hf_index *index;
	uint64_t first, last; /* ordinals; both belong to it, and the hart has them */
};

struct hf_slice_encoder;

/*
 * entry NULL: from the start, and *ret_number is the number of the chunk in which that lies. Otherwise from the start
 * of chunk *ret_number with what hf_slice_encoder_save gave there.
 */
int hf_slice_encoder_new(const struct hf_slice_encoder_ask *ask, const struct hf_enc_env *env, const uint8_t *entry,
			 size_t entry_size, uint64_t *ret_number, struct hf_slice_encoder **ret_encoder,
			 struct hf_diag *diag);
void hf_slice_encoder_free(struct hf_slice_encoder *encoder);

/*
 * Makes the bytes of one chunk, as far as it belongs to the slice. HF_NOTE_END: it was the last. env may be another
 * one each time. HF_ERR_MISMATCH: the index promises something else.
 */
int hf_slice_encoder_next(struct hf_slice_encoder *encoder, const struct hf_enc_env *env, struct hf_sink *sink,
			  struct hf_diag *diag);

/* Instead of the bytes of that chunk: which instruction was the last before the byte at an offset of them was made. The
 * encoder can only be freed then. */
int hf_slice_encoder_find(struct hf_slice_encoder *encoder, const struct hf_enc_env *env, uint64_t offset,
			  uint64_t *ret_ordinal, struct hf_diag *diag);

/* The encoder's state before the next chunk: blob[HF_STATE_MAX]. */
size_t hf_slice_encoder_save(const struct hf_slice_encoder *encoder, uint8_t *blob);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Encodes a slice: a range of instructions of a hart, as if the hart had only these. It goes chunk by chunk. One pass
 * finds where each chunk begins in the output and the encoder's state there; with that any part of the output can be
 * made again by itself.
 */
#ifndef HF_INDEX_SLICE_ENCODER_H
#define HF_INDEX_SLICE_ENCODER_H

#include "index/read/chunk_make.h"

/* All is borrowed. */
struct hf_slice_encoder_ask {
	struct hf_maker *maker; /* of the view; not to be used otherwise while the encoder lives */
	struct hf_index *index;
	uint64_t first, last; /* ordinals, inclusive, which the hart has */
};

struct hf_slice_encoder;

/*
 * entry NULL: begins with the slice, and sets *ret_number to the chunk where that is. Otherwise begins at chunk
 * *ret_number with what hf_slice_encoder_save gave there.
 */
int hf_slice_encoder_new(const struct hf_slice_encoder_ask *ask, const struct hf_enc_env *env, const uint8_t *entry,
			 size_t entry_size, uint64_t *ret_number, struct hf_slice_encoder **ret_encoder,
			 struct hf_diag *diag);
void hf_slice_encoder_free(struct hf_slice_encoder *encoder);

/*
 * Makes the bytes of one chunk, as far as it belongs to the slice. HF_NOTE_END: it was the last. env may be another
 * one each time. HF_ERR_MISMATCH: the events are not those of the index.
 */
int hf_slice_encoder_next(struct hf_slice_encoder *encoder, const struct hf_enc_env *env, struct hf_sink *sink,
			  struct hf_diag *diag);

/* Like next, but without writing: finds the last instruction before the byte at that offset of the chunk was made.
 * After that the encoder can only be freed. */
int hf_slice_encoder_find(struct hf_slice_encoder *encoder, const struct hf_enc_env *env, uint64_t offset,
			  uint64_t *ret_ordinal, struct hf_diag *diag);

/* The encoder's state before the next chunk: blob[HF_STATE_MAX]. */
size_t hf_slice_encoder_save(const struct hf_slice_encoder *encoder, uint8_t *blob);

#endif

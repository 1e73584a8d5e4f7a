/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the bytes of a view's chunks again, and compares them with what the index says. */
#ifndef HF_INDEX_CHUNK_MAKE_H
#define HF_INDEX_CHUNK_MAKE_H

#include "index/base/chunk.h"
#include "index/base/view_key.h"

struct hf_index;

/* Made with the bytes of a chunk: the digest of its events, and the encoder's state behind them. */
struct hf_chunk_made {
	struct hf_digest digest;
	uint32_t exit_size;
	uint8_t exit[HF_ENTRY_MAX];
};

/*
 * Makes chunks of one view of one hart, in any order: a decoder on src (a thread-safe or private source of the
 * decompressed stream) and an encoder, which enter each chunk. What they remember of the program stays.
 */
struct hf_maker {
	struct hf_dec *dec;
	struct hf_enc *enc;
	struct hf_memo *memo; /* lengths of encoded events, from the first part on; or NULL */
};

/* stream and src are borrowed as long as it lives, env for the call. */
int hf_maker_init(struct hf_maker *maker, const struct hf_stream *stream, struct hf_src *src, uint32_t hart,
		  const struct hf_view_key *key, const struct hf_enc_env *env);
void hf_maker_fini(struct hf_maker *maker);
/*
 * Writes the bytes of one chunk to sink: the decoder enters at chunk, the encoder at view_entry. HF_ERR_MISMATCH: there
 * are too few events. The caller compares the bytes with the index. env is for this chunk, with the same parameters as
 * before. ret_made may be NULL.
 */
int hf_maker_make(struct hf_maker *maker, const struct hf_chunk *chunk, const struct hf_enc_env *env,
		  const uint8_t *view_entry, size_t view_entry_size, struct hf_sink *sink, struct hf_chunk_made *ret_made,
		  struct hf_diag *diag);

/*
 * Makes and checks the bytes of a row of several chunks: chunk is the first one, and becomes the last. to has room for
 * view->size and HF_SINK_ROOM bytes. HF_ERR_MISMATCH also if the bytes are not those of the index.
 */
int hf_maker_make_joined(struct hf_maker *maker, struct hf_index *index, struct hf_chunk *chunk,
			 const struct hf_enc_env *env, const struct hf_view_chunk *view, uint8_t *to,
			 struct hf_diag *diag);

/*
 * Makes some bytes of one chunk, from an offset on. All events of the chunk are decoded, so *ret_made is that of the
 * whole chunk; bytes before and behind the part are counted, so *ret_size is the whole size. The bytes of the part
 * themselves have no checksum: they follow from the events and the encoder's state. Only with HF_ENC_COUNTS.
 */
struct hf_chunk_part {
	uint64_t offset;
	size_t size;
	uint8_t *to;
};
int hf_maker_make_part(struct hf_maker *maker, const struct hf_chunk *chunk, const struct hf_enc_env *env,
		       const struct hf_view_chunk *view, const struct hf_chunk_part *part,
		       struct hf_chunk_made *ret_made, uint64_t *ret_size, struct hf_diag *diag);

/* Whether bytes[chunk->size], of a row of one chunk, have its checksum. Any bytes do if none are in the checksum. */
bool hf_view_chunk_has(const struct hf_view_chunk *chunk, const uint8_t *bytes);
/* Whether made is what the index says of chunk, and of the view's next one (NULL: it is the last). */
bool hf_chunk_made_fits(const struct hf_chunk_made *made, const struct hf_chunk *chunk,
			const struct hf_view_chunk *next);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Making the bytes of a view's chunks again, and comparing them with what the index says of them. */
#ifndef HF_INDEX_CHUNK_MAKE_H
#define HF_INDEX_CHUNK_MAKE_H

#include "index/base/chunk.h"
#include "index/base/view_key.h"

struct hf_index;

/* What came out with the bytes of a chunk: its events' digest, and the state of the encoder behind them. */
struct hf_chunk_made {
	struct hf_digest digest;
	uint32_t exit_size;
	uint8_t exit[HF_ENTRY_MAX];
};

/*
 * What makes chunks of one view of one hart, in any order: a decoder on src (any thread-safe or private source over the
 * decompressed stream) and an encoder, which are entered anew for each. What they learned of the program stays.
 */
struct hf_maker {
	struct hf_dec *dec;
	struct hf_enc *enc;
	struct hf_memo *memo; /* of the encoder's lengths, once a part was made; or NULL */
};

/* stream and src are borrowed as long as it lives, env for the call. */
int hf_maker_init(struct hf_maker *maker, const struct hf_stream *stream, struct hf_src *src, uint32_t hart,
		  const struct hf_view_key *key, const struct hf_enc_env *env);
void hf_maker_fini(struct hf_maker *maker);
/*
 * Makes the bytes of one chunk into sink: the decoder entered at chunk, the encoder at view_entry. HF_ERR_MISMATCH if
 * the events run out early. What the index promises of the bytes is the caller's to compare. env is for this chunk and
 * has the same parameters as the one before. ret_made may be NULL.
 */
int hf_maker_make(struct hf_maker *maker, const struct hf_chunk *chunk, const struct hf_enc_env *env,
		  const uint8_t *view_entry, size_t view_entry_size, struct hf_sink *sink, struct hf_chunk_made *ret_made,
		  struct hf_diag *diag);

/*
 * Makes and checks the bytes of a row that is several chunks: chunk is the first one, and becomes the last. to has
 * view->size and HF_SINK_ROOM bytes. HF_ERR_MISMATCH also if something else comes out.
 */
int hf_maker_make_joined(struct hf_maker *maker, struct hf_index *index, struct hf_chunk *chunk,
			 const struct hf_enc_env *env, const struct hf_view_chunk *view, uint8_t *to,
			 struct hf_diag *diag);

/*
 * Makes some bytes of one chunk, those from an offset of it on. What is checked of a part: all events of the chunk are
 * made, so *ret_made tells of them as of a whole chunk; the bytes before and behind the part are counted, so *ret_size
 * is that of the whole chunk, and the part lies where it does in that. The bytes of the part are what the encoder
 * writes from these events in that state: no checksum is of them. Only for encoders that can count (HF_ENC_COUNTS).
 */
struct hf_chunk_part {
	uint64_t offset;
	size_t size;
	uint8_t *to;
};
int hf_maker_make_part(struct hf_maker *maker, const struct hf_chunk *chunk, const struct hf_enc_env *env,
		       const struct hf_view_chunk *view, const struct hf_chunk_part *part,
		       struct hf_chunk_made *ret_made, uint64_t *ret_size, struct hf_diag *diag);

/* Whether these are the bytes of a row that is one chunk, bytes[chunk->size], as far as they are in the checksum; of
 * one that has parts, any. */
bool hf_view_chunk_has(const struct hf_view_chunk *chunk, const uint8_t *bytes);
/* Whether that is what was promised of chunk and of next, the view's chunk behind it; NULL: it is the last. */
bool hf_chunk_made_fits(const struct hf_chunk_made *made, const struct hf_chunk *chunk,
			const struct hf_view_chunk *next);

#endif

/*
 * A view table while it is being built, with the encoder that tells how long each chunk is. As with the decode index,
 * what an interrupted build left is cut back to the start of a chunk. Internal to index/.
 */
#ifndef HF_INDEX_VIEW_PART_H
#define HF_INDEX_VIEW_PART_H

#include "index/file.h"
#include "index/row.h"

struct XXH3_state_s;

/* Where the bytes of a view go: into a checksum. sink comes first. */
struct hf_hash_sink {
	struct hf_sink sink;
	struct XXH3_state_s *state;
	uint8_t *buf;
};

struct hf_view_part {
	const struct hf_view_key *key;
	struct hf_part file;
	sqlite3 *db;
	sqlite3_stmt *add_chunk;
	bool complete; /* nothing is left but to publish it */
	bool has_last; /* last: the id of its last chunk */
	uint64_t last;
	/* the chunk at hand */
	struct hf_enc *enc; /* NULL: not in use for it */
	struct hf_enc_env env;
	struct hf_hash_sink out;
	uint64_t offset;
	uint32_t entry_size, next_size;
	uint8_t entry[HF_ENTRY_MAX], next[HF_ENTRY_MAX];
};

/* Locks, and opens or creates it. HF_ERR_BUSY. */
int hf_view_part_open(struct hf_view_part *part, int dirfd, const struct hf_identity *identity,
		      const struct hf_view_key *key, const struct hf_chunk_limits *limits);
/* Throws away what was there. */
int hf_view_part_reset(struct hf_view_part *part, const struct hf_identity *identity,
		       const struct hf_chunk_limits *limits);
void hf_view_part_close(struct hf_view_part *part);

/* Cuts it back to the start of chunk id, which it must have (else HF_NOTE_END), to be entered there. */
int hf_view_part_cut(struct hf_view_part *part, uint64_t id);

/* records.txt is of the hart that is the records, every other view of the others. */
static inline bool hf_view_part_is_for(const struct hf_view_part *part, uint32_t hart)
{
	return (part->key->ops == &hf_enc_records) == (hart == HF_HART_RECORDS);
}

/* Makes the encoder of a hart: at its first chunk, or resume: at the chunk that it was cut back to. */
int hf_view_part_enter(struct hf_view_part *part, const struct hf_stream *stream, uint32_t hart,
		       const struct hf_enc_env *env, bool resume);
static inline void hf_view_part_put(struct hf_view_part *part, const struct hf_event *ev, size_t n)
{
	part->enc->ops->put(part->enc, ev, n, &part->out.sink);
}
/* Takes down the state at the end of a chunk, in case that another follows. */
void hf_view_part_mark(struct hf_view_part *part);
/* Stores the chunk; what follows, if anything, begins where hf_view_part_mark was. */
int hf_view_part_end_chunk(struct hf_view_part *part, uint64_t id);
/* Ends the hart with its last chunk. */
int hf_view_part_end_hart(struct hf_view_part *part, uint64_t slot, uint32_t hart, uint64_t last_number);
/* Leaves a hart of which nothing is to be stored. */
void hf_view_part_drop_hart(struct hf_view_part *part);

int hf_view_part_commit(struct hf_view_part *part);
/* Writes meta as complete and closes the database; the file stays locked until it is published and closed. */
int hf_view_part_finish(struct hf_view_part *part, const struct hf_identity *identity,
			const struct hf_chunk_limits *limits);

#endif

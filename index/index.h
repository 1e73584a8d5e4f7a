/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The seek index of a capture: which events each chunk of each hart holds and how to enter it (the decode index), and
 * where each chunk lies in each view (a view table per view and parameter set). All of it is a cache that can be
 * thrown away at any time. The files are SQLite databases, or, of small captures, sheets in packs (packs.h); schema.sql
 * is the documentation of both.
 *
 * Opened objects are read-only and may be used by any number of threads.
 */
#ifndef HF_INDEX_H
#define HF_INDEX_H

#include "codecs/codec.h"
#include "codecs/image/collect.h"
#include "index/prefix.h"

struct hf_exec;
struct hf_tally_room;
struct hf_call_room;

/* Which bytes an index belongs to. */
struct hf_identity {
	uint64_t size; /* bytes of the file */
	int64_t mtime_ns;
	uint64_t print[2]; /* XXH3-128 of head, tail and samples between */
};

int hf_identity_of(struct hf_src *file, int64_t mtime_ns, struct hf_identity *ret_identity, struct hf_diag *diag);
/* By what the names of its files in an index directory begin: all that decides the events, so versions too. */
void hf_index_files(const struct hf_identity *identity, uint64_t ret_files[2]);
/* Makes it that of a capture of several files: of the file with the trace, and of a further one. */
void hf_identity_add(struct hf_identity *identity, const struct hf_identity *member);

/* The one of them that decodes the format of that name; NULL: there is none. */
const struct hf_codec *hf_index_codec_named(const char *name);

/* Everything that decides the bytes of a view besides the events. */
struct hf_view_key {
	const struct hf_enc_ops *ops;
	/* Canonical text of the view's parameters and of whatever else its bytes depend on: the disassembler's version,
	 * a fingerprint of the symbols. "" for none; at most 4000 bytes. */
	const char *params;
	const char *options; /* the part of it that is the encoder's: hf_enc_env.params; NULL: none */
};

/* Limits at which a chunk is cut: whichever is met first. */
struct hf_chunk_limits {
	uint64_t insns;	 /* retired instructions, default 16384 */
	uint64_t events; /* default 131072 */
	uint64_t bytes;	 /* of the stream, default 4 MiB */
};

extern const struct hf_chunk_limits hf_chunk_limits_default;

/*
 * How much of a capture is decoded, against those that stand for hours of work in a few bytes: the first hart may have
 * that many events for each byte of the capture, the second half as many, the third a third and so on; and its
 * container may decompress to that many bytes. A smaller capture counts as HF_EXPANSION_SMALL bytes.
 */
#define HF_EXPANSION 65536
#define HF_EXPANSION_SMALL 4096

/* What that comes to; 0 is HF_EXPANSION, HF_NOWHERE no limit. */
uint64_t hf_expansion_most(uint64_t expansion, uint64_t size);
/* What a limit that is not HF_EXPANSION adds to an identity: the index is another one. */
struct hf_identity hf_expansion_identity(uint64_t expansion);

#define HF_ENTRY_MAX (HF_MARK_SIZE + HF_STATE_MAX)

/* Of a chunk's events: pcs and opcodes; all else that they say. Of the records both are 0. */
struct hf_digest {
	uint64_t flow, rest;
};

/* One chunk of one hart: what a decoder needs to make its events again. */
struct hf_chunk {
	uint64_t number;	/* from 0 within the hart */
	uint64_t ordinal;	/* of its first retired instruction */
	uint64_t insns;		/* retired instructions in it */
	uint64_t events;	/* events in it, all kinds */
	uint64_t stream_offset; /* where its first event's record or packet begins */
	uint64_t pc;		/* of its first instruction, 0 if it has none */
	uint64_t discard;	/* events to pass over after loading the entry */
	uint64_t attempts;	/* instructions in it that did not retire, */
	uint64_t problems;	/* and gaps, doubts and notes */
	struct hf_digest digest;
	struct hf_prefix before; /* what the hart did before its first event; of the records nothing */
	uint32_t entry_size;
	bool last; /* of its hart */
	uint8_t entry[HF_ENTRY_MAX];
};

/*
 * One row of a view table: a chunk of the view. Where chunks have few bytes it is several side by side, which are made
 * together; then all bytes are in the checksum. Of a view that is counted (HF_ENC_COUNTS), and at the end of a hart,
 * every row is one chunk.
 */
struct hf_view_chunk {
	uint64_t number;   /* of the row, from 0 within the hart */
	uint64_t chunk;	   /* number of its first chunk, */
	uint64_t chunks;   /*   and how many they are */
	uint64_t offset;   /* of its first byte in the view */
	uint64_t size;	   /* bytes; may be 0 */
	uint64_t checked;  /* so many of the last ones are in the checksum */
	uint64_t checksum; /* XXH3-64 of these, and of the entry behind them; 0 if there are none. Of several chunks
			      hf_view_sum_join of them all */
	uint32_t entry_size;
	uint8_t entry[HF_ENTRY_MAX];
};

struct hf_index_hart {
	uint64_t slot;	   /* the file's number for it */
	uint32_t id;	   /* source id: the directory is "hart<id>" */
	uint64_t insns;	   /* retired */
	uint64_t attempts; /* not retired */
	uint64_t events;
	uint64_t chunks; /* at least 1 */
};

/* A problem found while indexing, a line of errors.txt. */
struct hf_index_problem {
	struct hf_diag diag;
	uint64_t chunk; /* the file's number for where it was met; HF_NOWHERE: it is of the file as such */
	uint32_t hart;
	bool fatal; /* the capture could not be opened at all */
	bool has_ordinal;
	uint64_t ordinal; /* retired instructions before it; HF_NOWHERE without has_ordinal */
	uint64_t bytes;	  /* passed over */
	uint64_t back;	  /* hf_event.back: of the instructions before it so many may be wrong, too */
};

struct hf_index;

/* 0, HF_ERR_NOT_FOUND if there is no complete and valid index of that identity, or HF_ERR_NOMEM/IO. A damaged, newer
 * or foreign file counts as not found. dirfd: the index directory. */
int hf_index_open(int dirfd, const struct hf_identity *identity, struct hf_index **ret_index);
void hf_index_close(struct hf_index *index);
/* Whether anything that was asked of it has met damage, a page without its checksum or a row that cannot be. */
bool hf_index_is_damaged(const struct hf_index *index);
/* Removes its file, if that still stands under its name. It can be used as before. */
void hf_index_remove(const struct hf_index *index);

/* Its name in the index directory. */
const char *hf_index_name(const struct hf_index *index);
const struct hf_box *hf_index_box(const struct hf_index *index);     /* NULL: plain bytes */
const struct hf_codec *hf_index_codec(const struct hf_index *index); /* NULL: the stream could not be opened */
uint64_t hf_index_stream_size(const struct hf_index *index);	     /* good decompressed bytes */
/* The damage behind the last good byte: 0 or the error with its place. */
int hf_index_damage(const struct hf_index *index, struct hf_diag *diag);
/* Whether blocks before it are damaged too (HF_POINT_DAMAGED). */
bool hf_index_has_holes(const struct hf_index *index);
/* By id. HF_HART_RECORDS is not among them, though its chunks are found like those of any hart. */
size_t hf_index_harts(const struct hf_index *index, const struct hf_index_hart **ret_harts);
/* HF_HART_RECORDS, or NULL if the capture has no records.txt. */
const struct hf_index_hart *hf_index_records(const struct hf_index *index);
/* The first hart in a slot at or behind from, the records among them; NULL if there is none. */
const struct hf_index_hart *hf_index_next_slot(const struct hf_index *index, uint64_t from);
size_t hf_index_problem_count(const struct hf_index *index);
/* The i-th problem: those of the events in their order, then those of the file as such. HF_ERR_NOT_FOUND for problems
 * beyond HF_INDEX_PROBLEM_MAX, which are only counted. */
int hf_index_problem_at(const struct hf_index *index, size_t i, struct hf_index_problem *ret_problem);
#define HF_INDEX_PROBLEM_MAX 4096
/* Behind which retired instruction the gap or doubt stands whose back reaches that one, so that it may be wrong; HF_NOWHERE:
 * there is none among the problems that are stored. */
uint64_t hf_index_doubt(const struct hf_index *index, uint32_t hart, uint64_t ordinal);

int hf_index_chunk(struct hf_index *index, uint32_t hart, uint64_t number, struct hf_chunk *ret_chunk);
/* The chunk that holds the retired instruction ordinal. */
int hf_index_chunk_of(struct hf_index *index, uint32_t hart, uint64_t ordinal, struct hf_chunk *ret_chunk);

/* The code that the hart executed, for the caller to free: all of it, or hf_image_refuses says why not. Takes memory
 * and time in proportion to the code. */
int hf_index_image(struct hf_index *index, uint32_t hart, struct hf_image **ret_image);

/* What its chunks were cut by. */
const struct hf_chunk_limits *hf_index_limits(const struct hf_index *index);

/* The point of the block that holds stream offset (a container only), and its window (window[HF_WINDOW_MAX]). */
int hf_index_point_of(struct hf_index *index, uint64_t offset, struct hf_point *ret_point);
int hf_index_window(struct hf_index *index, const struct hf_point *point, uint8_t *window);

struct hf_view_table;

int hf_view_table_open(int dirfd, const struct hf_identity *identity, const struct hf_view_key *key,
		       struct hf_view_table **ret_table);
void hf_view_table_close(struct hf_view_table *table);
/* As of an index. */
bool hf_view_table_is_damaged(const struct hf_view_table *table);
void hf_view_table_remove(const struct hf_view_table *table);
/* Its name in the index directory. */
const char *hf_view_table_name(const struct hf_view_table *table);
/* 0 if it has no such hart; the table of hf_enc_records has HF_HART_RECORDS alone. */
uint64_t hf_view_table_size(const struct hf_view_table *table, uint32_t hart);
/* How many rows that hart has; 0 if it is not there. */
uint64_t hf_view_table_rows(const struct hf_view_table *table, uint32_t hart);
/* The row with that number. Of a view that is counted it is that of the chunk with that number. */
int hf_view_table_chunk(struct hf_view_table *table, uint32_t hart, uint64_t number, struct hf_view_chunk *ret_chunk);
/* The row that holds byte offset < size of the view. */
int hf_view_table_chunk_of(struct hf_view_table *table, uint32_t hart, uint64_t offset,
			   struct hf_view_chunk *ret_chunk);

/* Of all harts' views together, merged by time (merge.h): its size, HF_NOWHERE if it does not exist, because fewer than
 * two harts have times, or there are more than HF_MERGED_HARTS. */
#define HF_MERGED_HARTS 4096u
uint64_t hf_view_table_merged(const struct hf_view_table *table);
/* Its runs, from one at or before that offset, below its size, on: for hf_merge_free, before the table is closed. */
struct hf_merge;
int hf_view_table_merge(struct hf_view_table *table, uint64_t offset, struct hf_merge **ret_merge);

/* A chunk with that sum of its bytes is served. false: it was before, with other bytes, as far as is remembered. */
bool hf_view_table_serves(struct hf_view_table *table, uint32_t hart, uint64_t number, uint64_t sum);

/* Whether its chunks were cut by these limits. */
bool hf_view_table_has_limits(const struct hf_view_table *table, const struct hf_chunk_limits *limits);
/* Whether the table was made with the same chunks as the index: if not, hf_build_run makes it anew. */
bool hf_view_table_fits(const struct hf_view_table *table, const struct hf_index *index);

/* Bytes of memory that they hold now: it grows while they are used, up to a few hundred KiB and what the problems take.
 */
uint64_t hf_index_memory(struct hf_index *index);
uint64_t hf_view_table_memory(struct hf_view_table *table);

/* Bytes of its file, for info.json and budgets; of a sheet before it is packed. */
uint64_t hf_index_file_size(const struct hf_index *index);
uint64_t hf_view_table_file_size(const struct hf_view_table *table);

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

/* The checksum of chunks, and of the one behind them, as one. */
static inline uint64_t hf_view_sum_join(uint64_t sum, uint64_t behind)
{
	return sum * UINT64_C(0x9e3779b97f4a7c15) + behind;
}

/* Whether these are the bytes of a row that is one chunk, bytes[chunk->size], as far as they are in the checksum; of
 * one that has parts, any. */
bool hf_view_chunk_has(const struct hf_view_chunk *chunk, const uint8_t *bytes);
/* Whether they all are. Of the others the digest of the events and the encoder's state behind them tell. */
static inline bool hf_view_chunk_is_whole(const struct hf_view_chunk *chunk)
{
	return chunk->checked == chunk->size;
}
/* Whether none of them is, and a part tells as much as all. The end of a hart always is. */
static inline bool hf_view_chunk_has_parts(const struct hf_view_chunk *chunk)
{
	return !chunk->checked && chunk->size;
}
/* Whether that is what was promised of chunk and of next, the view's chunk behind it; NULL: it is the last. */
bool hf_chunk_made_fits(const struct hf_chunk_made *made, const struct hf_chunk *chunk,
			const struct hf_view_chunk *next);

/* How far a build is. Called every few milliseconds from the building thread; non-zero cancels (HF_ERR_CANCELLED). */
struct hf_build_progress {
	uint64_t done, total; /* in bytes of the file, all harts and passes together */
	uint64_t insns;
};
typedef int (*hf_build_fn)(void *ctx, const struct hf_build_progress *progress);

/*
 * Somebody who wants the bytes of one view while the index is being made: put gets them in order, from whatever thread,
 * and not from the beginning if an earlier build had come further, or twice if the build begins anew. Bytes NULL: those
 * that it got are not the view's, which is made anew with a doubt in it. It must not wait.
 * A view that is the stream itself is not given.
 */
struct hf_tap {
	const struct hf_enc_ops *ops;
	uint32_t hart;
	void (*put)(void *ctx, uint64_t offset, const uint8_t *bytes, size_t n);
	void *ctx;
};

struct hf_build {
	int dirfd;		      /* the index directory, hf_memdir_fd, or hf_packs_fd */
	struct hf_src *file;	      /* the capture as it lies in the archive; borrowed */
	const struct hf_setup *setup; /* what its description says; NULL: it has none */
	struct hf_identity identity;  /* of file, with members added in this order */
	const struct hf_identity *members;
	size_t member_count;
	const struct hf_view_key *views;
	size_t view_count;
	struct hf_disasm *disasm; /* may be NULL */
	const struct hf_symbols *symbols;
	const struct hf_chunk_limits *limits; /* NULL: default */
	uint64_t expansion;		      /* see hf_expansion_most */
	const struct hf_tap *tap;	      /* NULL: nobody */
	bool summary;			      /* what the harts do is summed up too (summary.h) */
	bool all_sums;			      /* every byte of every view is in a checksum */
	hf_build_fn on_progress;	      /* may be NULL */
	void *ctx;
	/* How many threads the build may use just now, the caller's included; asked again and again on that one. NULL:
	 * no other. What is built is the same. */
	unsigned (*threads)(void *ctx);
	/* Runs the work of the others. NULL: there are none. */
	struct hf_exec *exec;
	/* For tests: tell the progress and make it safe after so many chunks, whatever the clock says; 0: by the clock.
	 */
	unsigned every;
	/* For tests: what a summary's memory is divided into (summary/tally.h); NULL: as usual. */
	const struct hf_tally_room *room;
	const struct hf_call_room *call_room; /* and the limits of its calls (summary/calls.h) */
};

/*
 * Builds what is missing of the decode index and the view tables and publishes each whole. Resumes what an earlier,
 * interrupted build left behind. A capture that cannot be decoded at all still gets an index, with its problem.
 * HF_ERR_BUSY if another process is building the same capture. HF_ERR_INDEX_DIR if the directory fails (hf_fault_last
 * says why); if it is full spools have gone before, and nothing private is left there.
 */
int hf_build_run(const struct hf_build *build, struct hf_diag *diag);

/*
 * Looks at the decode index and at these views' tables, as far as they are there. fn hears of each that is not valid:
 * its name in the directory, and what is wrong in words that follow it. The files of other users, which are never used,
 * are passed over. HF_ERR_INDEX_DIR or a shortage: one could not be read, which says nothing about it. *ret_found (may be
 * NULL): those that are valid and fit each other.
 */
enum hf_examine {
	HF_EXAMINE_OPENED, /* only what opening them tells */
	HF_EXAMINE_PAGES, /* every page of them; what is not valid is removed, or put aside if hartfs did not make it */
};
struct hf_examined {
	bool index;
	bool summary;        /* there is one, or nothing to sum up */
	uint64_t tables;     /* bit i: that of views[i] */
};
typedef void (*hf_examine_fn)(void *ctx, const char *name, const char *what);
int hf_index_examine(int dirfd, const struct hf_identity *identity, const struct hf_view_key *views, size_t view_count,
		     enum hf_examine how, hf_examine_fn fn, void *ctx, struct hf_examined *ret_found);

/*
 * Makes all of it again, in memory (as much as the files have bytes), and compares every row with the decode index and
 * those of build->views whose tables are in build->dirfd. fn hears of each file that says something else, as of
 * hf_index_examine, and it is removed. build->limits and tap do not count. 0 if there is no index.
 */
int hf_index_compare(const struct hf_build *build, hf_examine_fn fn, void *ctx, struct hf_diag *diag);

/* Removes the decode index, these views' tables and the spool, if they are there and ours: they gave other bytes than
 * they promise, and the next build makes them anew. Who has them open keeps them. */
void hf_index_discard(int dirfd, const struct hf_identity *identity, const struct hf_view_key *views,
		      size_t view_count);
/* The directory fails, which says nothing of them: they stay, and are not found any more where files can be in memory
 * (index/memdir.h), until others take their place. */
void hf_index_hide(int dirfd, const struct hf_identity *identity, const struct hf_view_key *views, size_t view_count);

/* Names and versions of the libraries from here down, as snprintf gives them. */
int hf_index_libraries(char *buf, size_t size);

#endif

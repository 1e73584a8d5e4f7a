/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Harts that are asked, with what was found out of them, and the chunks of them that were decoded last: of a session, for
 * one thread. Internal to fs/rows/.
 */
#ifndef HF_ROWS_HART_H
#define HF_ROWS_HART_H

#include "codecs/isa/disasm.h"
#include "fs/base/list.h"
#include "fs/facts/opened.h"
#include "fs/profile/functions_table.h"
#include "fs/tree/tree.h"
#include "index/read/cursor.h"
#include "index/summary/summary.h"

/* Harts that nobody is asking, and chunks that nobody is reading: so many are kept. */
enum { HF_ROWS_HARTS_KEPT = 4, HF_ROWS_CHUNKS_KEPT = 6 };

struct hf_rows_hart {
	struct hf_link used;
	unsigned refs;
	uint32_t number; /* of capture and hart, in the session */
	struct hf_open *open; /* one reference */
	struct hf_index_hart info;
	struct hf_cursor cursor;
	const struct hf_symbols *symbols; /* NULL: none, or of another machine */
	bool has_lines;
	bool arm;
	uint32_t extensions;	    /* those that share opcodes */
	bool summary_asked;
	struct hf_summary *summary; /* then; NULL: there is none */
	bool counted;
	struct hf_counts counts;    /* then, as all below */
	struct hf_summary_tree *tree;
	struct hf_functions functions;
};

/* The events that belong to the instructions of a chunk. */
struct hf_rows_chunk {
	struct hf_link used;
	unsigned refs;
	uint32_t hart; /* number */
	uint64_t version, number, ordinal;
	size_t insns, events, heads;
	struct hf_event *event;
	/* Those that are not DATA: of which event it is, and of which instruction of the chunk it is, or
	 * comes behind. */
	struct hf_rows_head {
		uint32_t event;
		uint32_t insn : 31, attempted : 1; /* attempted: it is of one that did not retire */
	} *head;
	uint32_t *first; /* of each instruction its head; and behind the last one heads */
	size_t event_room, head_room, first_room;
};

struct hf_rows_session {
	struct hf_captures *captures;
	struct hf_tree *tree;
	struct hf_disasm *disasm;
	struct hf_link harts, chunks; /* by last use */
	size_t hart_count, chunk_count;
	size_t ahead; /* chunks that are decoded ahead */
	struct hf_rows_pair {
		char *path; /* owned */
		uint32_t id;
	} *pairs;
	size_t pair_count, pair_room;
};

/* With a reference, and that of the caller to open, also after an error. HF_ERR_LIMIT: there were HF_ROWS_HARTS. */
int hf_rows_hart_get(struct hf_rows_session *session, struct hf_capture *capture, const struct hf_index_hart *info,
		     struct hf_open *open, struct hf_rows_hart **ret_hart);
void hf_rows_hart_put(struct hf_rows_session *session, struct hf_rows_hart *hart);
void hf_rows_hart_drop(struct hf_rows_session *session, size_t keep);

/* Its summary, or NULL. One that is damaged is removed. */
struct hf_summary *hf_rows_hart_summary(struct hf_rows_hart *hart);
void hf_rows_hart_drop_index(struct hf_rows_hart *hart);
/* How often its instructions were executed, and its calls. */
int hf_rows_hart_count(struct hf_rows_hart *hart);
/* What texts of a profile would be made of. */
struct hf_profiled hf_rows_hart_profiled(const struct hf_rows_session *session, const struct hf_rows_hart *hart);

/* Decodes one that is not kept, on this thread, and keeps it, with a reference. HF_ERR_LIMIT: HF_ROWS_CHUNK_EVENTS. */
int hf_rows_chunk_get(struct hf_rows_session *session, struct hf_rows_hart *hart, uint64_t number,
		      struct hf_rows_chunk **ret_chunk);
/* For other threads: decodes it with that cursor. To be freed, or kept. */
int hf_rows_chunk_decode(const struct hf_open *open, struct hf_cursor *cursor, struct hf_rows_chunk *chunk);
void hf_rows_chunk_free(struct hf_rows_chunk *chunk);
/* The one that is kept, with a reference, or NULL; and a new one, empty. */
struct hf_rows_chunk *hf_rows_chunk_find(struct hf_rows_session *session, const struct hf_rows_hart *hart,
					 uint64_t number);
struct hf_rows_chunk *hf_rows_chunk_new(const struct hf_rows_hart *hart, uint64_t number);
/* Keeps a new one, with a reference. */
void hf_rows_chunk_keep(struct hf_rows_session *session, struct hf_rows_chunk *chunk);
/* Bytes of memory that it has. */
size_t hf_rows_chunk_size(const struct hf_rows_chunk *chunk);
void hf_rows_chunk_put(struct hf_rows_session *session, struct hf_rows_chunk *chunk);
void hf_rows_chunk_drop(struct hf_rows_session *session, size_t keep);

#endif

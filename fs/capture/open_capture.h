/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Captures in use: the file, its index, the decompressed stream and the view tables. As many stay open as fit a number
 * of captures, of bytes and of descriptors; the one used longest ago is closed first and opened again when it is
 * needed, but never one that is in use. What must outlive that, sizes above all, are the facts. open_capture.c opens
 * and closes, open_pool.c keeps.
 */
#ifndef HF_FS_OPEN_CAPTURE_H
#define HF_FS_OPEN_CAPTURE_H

#include "fs/base/chunk_cache.h"
#include "fs/base/list.h"
#include "fs/capture/block_source.h"
#include "fs/capture/capture.h"
#include "fs/capture/companion.h"
#include "fs/capture/facts.h"
#include "fs/capture/trace.h"

/* Bytes of all captures that stay open without being used; and a quarter of the cache, which lends them that. */
#define HF_OPEN_CAPTURES_BYTES (UINT64_C(24) << 20)

struct hf_open {
	struct hf_capture *capture;
	uint64_t version;
	struct hf_trace trace;
	struct hf_index *index;
	struct hf_src *source;
	struct hf_spooling spooling; /* of source */
	struct hf_companion companion;
	struct hf_stream *stream;     /* NULL if the index says that it could not be opened */
	struct hf_view_table **table; /* one for each number, NULL where there is none */
	bool missing;		      /* a table that there should be is not there, or is of no use */
	atomic_bool blamed;	      /* its damage was told */
	struct hf_facts *facts;
	/* the pool's lock */
	unsigned refs;
	unsigned uses; /* since it was opened */
	bool listed;
	uint64_t bytes; /* of memory, when that was last looked at */
	unsigned files; /* descriptors */
	struct hf_link used;      /* in the pool's list, if listed */
	struct hf_open *next;     /* of those that are to be closed */
};

struct hf_open_pool {
	pthread_mutex_t lock;
	pthread_cond_t opened;	/* one is open, or was put by its last user */
	struct hf_cache *cache; /* is told of the bytes */
	struct hf_link used;
	size_t count;
	uint64_t bytes, max_bytes; /* of all in the list */
	size_t files, max_files;   /* of all that are open, or just being opened */
};

void hf_open_pool_init(struct hf_open_pool *pool);
/* How much may stay open. cache is borrowed. */
void hf_open_pool_limit(struct hf_open_pool *pool, struct hf_cache *cache, size_t max_files);
/* The one used last, or NULL: for tests. */
static inline struct hf_open *hf_open_pool_newest(const struct hf_open_pool *pool)
{
	return hf_link_none(&pool->used) ? NULL : HF_OWNER(pool->used.next, struct hf_open, used);
}
/* Closes all; none may be referenced. */
void hf_open_pool_fini(struct hf_open_pool *pool);

/* Those that wait for descriptors look whether all is to end. */
void hf_open_pool_wake(struct hf_open_pool *pool);
/* Closes all that nobody is using. Returns how many those were. */
size_t hf_open_pool_shed(struct hf_open_pool *pool);

/*
 * That version of the capture, opened if it is not, with a reference. HF_ERR_CHANGED if it is another by now,
 * HF_ERR_NOT_FOUND if its index does not exist, or a view table whose size nobody knows; a table of known size may be
 * missing, and is made again then. HF_ERR_MISMATCH: it is not of the sizes that are known. Opening makes it READY.
 */
int hf_open_get(struct hf_capture *capture, uint64_t version, struct hf_open **ret_open);
/* The same, but HF_ERR_BUSY if somebody else opens it and is not done in wait_ms: a read of the archive may take long.
 */
int hf_open_get_within(struct hf_capture *capture, uint64_t version, unsigned wait_ms, struct hf_open **ret_open);
void hf_open_put(struct hf_open *open);
/* Closes it as soon as nobody has a reference. */
void hf_open_drop(struct hf_capture *capture);
/* The same, if it is the one that the next would get. */
void hf_open_drop_if(struct hf_open *open);
/* Removes its files from the index directory, or (why is HF_ERR_INDEX_DIR) hides them, and drops it, if it is open in
 * that version. */
void hf_open_discard(struct hf_capture *capture, uint64_t version, int why);

struct hf_summary;
/* Its summary, for the caller to close. HF_ERR_NOT_FOUND: there is none, or one of other chunks. */
int hf_open_summary(const struct hf_open *open, struct hf_summary **ret_summary);
/* Whether it seems to have one: nothing is opened but the summary's file. */
bool hf_capture_has_summary(const struct hf_capture *capture, const struct hf_facts *facts);

/* The parameters of a view for its encoder; NULL: none. */
const char *hf_open_options(const struct hf_open *open, size_t view);
/* Those of profile/bbv.bb. */
const struct hf_modes *hf_open_bbv_modes(const struct hf_open *open);

/* ---- between open_capture.c, open_facts.c and open_pool.c ---- */

/* Without a reference. Errors as hf_open_get, or for want of descriptors. */
int hf_open_new(struct hf_capture *capture, uint64_t version, struct hf_open **ret_open);
void hf_open_close(struct hf_open *open);
void hf_open_discard_files(const struct hf_open *open, int why);
/* What it holds: bytes of memory now, and descriptors. */
uint64_t hf_open_memory(const struct hf_open *open);
unsigned hf_open_files(const struct hf_open *open);

/* Whether the view with that number is the stream itself: of one hart only, and its codec's view of it. */
bool hf_open_is_original(const struct hf_open *open, size_t view);
/* Whether there is a table for the view: not for what the stream cannot have, or is itself. */
bool hf_open_has_table(const struct hf_open *open, size_t view);
/* The key of its table. */
struct hf_view_key hf_open_view_key(const struct hf_captures *all, const struct hf_companion *companion, size_t view);
/* Sets open->facts, as the index has them. HF_ERR_MISMATCH: others are known; HF_ERR_NOT_FOUND: a table is missing
 * whose size nobody knows. */
int hf_open_take_facts(struct hf_open *open);

/* The views with tables that are offered, of which indexing makes those that a stream can have: key[HF_VIEW_COUNT],
 * with parameters that are the companion's or the fs's. */
size_t hf_open_views(struct hf_capture *capture, const struct hf_companion *companion, struct hf_view_key *key);
/* What an index of the trace is built of: without dirfd, limits, disasm, and who is told of its progress. All is
 * borrowed; views[HF_VIEW_COUNT] is set. */
struct hf_build hf_open_build(struct hf_capture *capture, const struct hf_trace *trace,
			      const struct hf_companion *companion, struct hf_view_key *views);

#endif

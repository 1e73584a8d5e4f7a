/* SPDX-License-Identifier: Apache-2.0 */
/* A capture in use: the file, its index, the decompressed stream and the view tables. */
#ifndef HF_FS_OPENED_CAPTURE_H
#define HF_FS_OPENED_CAPTURE_H

#include "fs/base/chunk_cache.h"
#include "fs/base/list.h"
#include "fs/facts/capture.h"
#include "fs/facts/facts.h"
#include "fs/program/symbol_files.h"
#include "fs/stream/block_source.h"
#include "fs/stream/trace.h"

struct hf_modes;
struct hf_summary;

struct hf_open {
	struct hf_capture *capture;
	uint64_t version;
	struct hf_trace trace;
	struct hf_index *index;
	struct hf_src *source;
	struct hf_spooling spooling; /* of source */
	struct hf_symbol_files symbol_files;
	struct hf_stream *stream;     /* NULL if the index says that it could not be opened */
	struct hf_view_table **table; /* of each view, by number, or NULL */
	bool missing;		      /* a table is missing or of no use */
	atomic_bool blamed;	      /* its damage was logged */
	struct hf_facts *facts;
	/* the pool's lock */
	unsigned refs;
	unsigned uses; /* since it was opened */
	bool listed;
	uint64_t bytes; /* of memory, as measured last */
	unsigned files; /* descriptors */
	struct hf_link used;      /* in the pool's list, if listed */
	struct hf_open *next;     /* of those that are to be closed */
};

/* Its summary, to be closed by the caller. HF_ERR_NOT_FOUND: there is none, or it is of other chunks. */
int hf_open_summary(const struct hf_open *open, struct hf_summary **ret_summary);
/* Whether it seems to have one: looks at the summary's file only. */
bool hf_capture_has_summary(const struct hf_capture *capture, const struct hf_facts *facts);

/* The parameters of a view for its encoder; NULL: none. */
const char *hf_open_options(const struct hf_open *open, size_t view);
/* The modes of profile/bbv.bb. */
const struct hf_modes *hf_capture_bbv_modes(const struct hf_capture *capture);

/* Whether the view is the stream itself: there is one hart, and the view is that of the stream's own format. */
bool hf_open_is_original(const struct hf_open *open, size_t view);
/* Whether the view has a table: not if the stream cannot have the view, or is it itself. */
bool hf_open_has_table(const struct hf_open *open, size_t view);
/* The key of its table. */
struct hf_view_key hf_open_view_key(const struct hf_shared *shared, const struct hf_symbol_files *files, size_t view);
/* Sets key[HF_VIEW_COUNT] to all views that may have tables; indexing makes those that the stream can have. Parameters
 * are borrowed from the symbol files or the fs. */
size_t hf_open_views(struct hf_capture *capture, const struct hf_symbol_files *files, struct hf_view_key *key);
/* The build of an index of the trace, without dir, limits, disasm and progress callbacks. All is borrowed; sets
 * views[HF_VIEW_COUNT]. */
struct hf_build hf_open_build(struct hf_capture *capture, const struct hf_trace *trace,
			      const struct hf_symbol_files *files, struct hf_view_key *views);

#endif

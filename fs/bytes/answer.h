/* SPDX-License-Identifier: Apache-2.0 */
/* Answers about an open capture: what makes one gets what it needs, and what goes wrong costs whoever is to blame. */
#ifndef HF_FS_ANSWER_H
#define HF_FS_ANSWER_H

#include "fs/bytes/bytes.h"
#include "index/summary/summary.h"

/*
 * Has an answer made by a thread of the executor, which has what disassembles, of the capture in that version, and waits for
 * it. HF_ERR_CHANGED: there is another one by now; HF_ERR_CANCELLED; what opening it returns; or what fn returned, for which
 * its index is blamed.
 */
int hf_answer_run(struct hf_capture *capture, uint64_t version,
		  int (*fn)(void *ctx, struct hf_open *open, struct hf_worker *worker), void *ctx);
/* The same on this thread, which is one of the executor. */
int hf_answer_make(struct hf_capture *capture, uint64_t version,
		   int (*fn)(void *ctx, struct hf_open *open, struct hf_worker *worker), void *ctx, struct hf_worker *worker);
/* Has an answer made on this thread, of a capture that is indexed. why: of fn, in words; unless it is empty, the index is
 * not to blame. */
int hf_answer_here(struct hf_captures *all, const char *path, int (*fn)(void *ctx, struct hf_open *open), void *ctx,
		   const char *why);
/*
 * Calls fn with the summary, or with NULL if there is none. If that is HF_ERR_STATE the summary is damaged: it is removed,
 * to be made again when the capture is indexed with one, and fn is called once more, without it.
 */
int hf_answer_summed(struct hf_open *open, int (*fn)(void *ctx, struct hf_summary *summary), void *ctx);

/* hf_bytes_check_made of what was made of it. */
int hf_answer_check(const struct hf_open *open, int err);

#endif

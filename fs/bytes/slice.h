/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slices: the views of a range of instructions of a hart, hartN/at/FIRST-LAST/. The slice of a view of lines is a part
 * of the whole's bytes and is read as such. Any other is encoded anew, which takes one pass to know its size and where
 * to enter it; that is kept in memory, of a bounded number of slices, as long as they are used.
 */
#ifndef HF_FS_SLICE_H
#define HF_FS_SLICE_H

#include "codecs/base/chains.h"
#include "fs/base/common.h"
#include "fs/base/list.h"
#include "fs/capture/opened.h"

struct hf_slice;
struct hf_bytes;
struct hf_measure;

/* lock may be taken with any other lock held but the cache's. */
struct hf_slices {
	struct hf_common *common;
	pthread_mutex_t lock;
	pthread_cond_t changed; /* of the state of any part */
	struct hf_chains table;
	struct hf_link used;
	size_t bytes;
	struct hf_measure *first, *last; /* long ones that wait for their turn */
	size_t waiting;
	bool busy; /* a long one has it */
};

void hf_slices_init(struct hf_slices *slices, struct hf_common *common);
void hf_slices_fini(struct hf_slices *slices);
/* Nobody waits any longer. */
void hf_slices_stop(struct hf_slices *slices);

/* "1000-1999", "1000-" (to the end): both inclusive, decimal, no other spelling, and the hart has them all. */
bool hf_slice_parse(const char *name, uint64_t insns, uint64_t *ret_first, uint64_t *ret_last);

/* With a reference. facts: the current ones of the capture, with that hart. */
int hf_slice_get(struct hf_slices *slices, struct hf_capture *capture, const struct hf_facts *facts, uint32_t hart,
		 uint64_t first, uint64_t last, struct hf_slice **ret_slice);
void hf_slice_ref(struct hf_slice *slice);
void hf_slice_put(struct hf_slice *slice);

/*
 * The view with that number, whose size is then known. HF_ERR_NOT_FOUND: the hart has no such view. Waits for it to be
 * measured, a second or two from when that began, then HF_ERR_BUSY; without a mount until it is.
 */
int hf_slice_view(struct hf_slice *slice, const struct hf_facts *facts, size_t number, struct hf_bytes *ret_bytes);
/* Has it measured and waits for nothing: for tests. */
int hf_slice_want(struct hf_slice *slice);
/* Percent and time left, for INDEXING. */
void hf_slice_indexing(struct hf_slice *slice, struct hf_sink *sink);

#endif

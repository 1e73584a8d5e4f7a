/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The instructions of a file of a hart, as events of fs/hartfs.h: from any ordinal on, by any number of threads. And
 * which of them a byte of the file belongs to.
 */
#ifndef HF_FS_EVENTS_H
#define HF_FS_EVENTS_H

#include "fs/bytes/bytes.h"
#include "fs/hartfs.h"

struct hf_event_place;

/* So many readers go on where they were, each in its part or all in one. */
enum { HF_EVENT_PLACES = 4 };

/* Zero before hf_events_init; then none but lock may be zero. */
struct hf_events {
	const struct hf_bytes *bytes; /* borrowed: the file's */
	uint32_t hart;
	uint64_t first, count;	      /* ordinals that belong to it; count 0: it is of no hart, or of one without any */
	pthread_mutex_t lock;	      /* from here on */
	struct hf_open *open;	      /* one reference, from the first call on: names that were given out stay */
	struct hf_event_place *place[HF_EVENT_PLACES]; /* where calls ended and nobody goes on from; NULL */
	unsigned next;				       /* of them to be given up */
};

void hf_events_init(struct hf_events *events);
void hf_events_fini(struct hf_events *events);

/* hf_file_events, hf_file_ordinal. */
int hf_events_read(struct hf_events *events, uint64_t ordinal, struct hartfs_event *ev, size_t max, size_t *ret_n,
		   struct hf_diag *diag);
int hf_events_ordinal(struct hf_events *events, uint64_t offset, uint64_t *ret_ordinal);

#endif

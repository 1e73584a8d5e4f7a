/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recorder's end of the memory that it shares with the plugin (contrib/capture/ring.h): what comes out of it goes
 * into one capture with a hart a thread, and the files that the program has in its memory are copied beside them.
 */
#ifndef HF_MOUNTD_RECORD_RING_H
#define HF_MOUNTD_RECORD_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hf_record_ring;

/* NULL: errno says why. */
struct hf_record_ring *hf_record_ring_new(void);
void hf_record_ring_free(struct hf_record_ring *ring);

/* By which the plugin finds it. */
int hf_record_ring_id(const struct hf_record_ring *ring);

/* The capture is NAME.zstf in dirfd; files go to the directory NAME.d there. */
void hf_record_ring_into(struct hf_record_ring *ring, int dirfd, const char *name);
/* A file for NAME.d of which the plugin does not know. */
void hf_record_ring_file(struct hf_record_ring *ring, const char *path);

/* Takes what there is; false: there was nothing. */
bool hf_record_ring_take(struct hf_record_ring *ring);
/* Until there is something, a signal came or a moment has gone by. */
void hf_record_ring_wait(struct hf_record_ring *ring);
/* The program has ended: takes all there is, and ends the captures. */
void hf_record_ring_end(struct hf_record_ring *ring);

/* What came of it, when the program has ended. */
struct hf_record_result {
	bool attached;	   /* the plugin was loaded */
	int errnum;	   /* why the capture ended early, or 0 */
	uint64_t insns;	   /* of all threads; 0: there is no capture */
	uint32_t threads;
	uint32_t lost;	   /* threads that were not recorded: too many at a time */
	uint32_t cut;	   /* accesses that are left out: too many of one instruction */
	uint32_t files;	   /* that the program had in its memory */
	bool more_files;   /* than are kept */
};
void hf_record_ring_result(const struct hf_record_ring *ring, struct hf_record_result *ret_result);

#endif

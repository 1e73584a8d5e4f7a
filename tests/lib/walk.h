/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks a container from end to end and keeps everything that came out, so that tests can compare it with what
 * other ways through the same container give.
 */
#ifndef HF_TEST_WALK_H
#define HF_TEST_WALK_H

#include "codecs/source/source.h"

/* Bytes on the heap. */
struct hf_walk_bytes {
	uint8_t *p;
	size_t n, cap;
};

void hf_bytes_add(struct hf_walk_bytes *b, const void *p, size_t n);
void hf_bytes_free(struct hf_walk_bytes *b);
/* The whole file dir/name (name, if dir is empty); ends the program if it cannot be read. */
struct hf_walk_bytes hf_bytes_load(const char *dir, const char *name);

struct hf_walk {
	const struct hf_box *box;
	struct hf_walk_bytes out;
	struct hf_point *points;
	uint8_t **windows;
	size_t count;
	int err; /* HF_NOTE_END or the error at the end */
	struct hf_diag diag;
	struct hf_diag *notes;
	size_t note_count;
};

/* Decodes everything from resume (or NULL) on and checks that the points adjoin. */
void hf_walk_run(struct hf_walk *w, const struct hf_box *box, struct hf_src *src, const struct hf_point *resume,
		 const uint8_t *window);
void hf_walk_free(struct hf_walk *w);

/* The same from memory. */
void hf_walk_memory(struct hf_walk *w, const struct hf_box *box, const void *bytes, size_t n);

/* read_block of random pieces (rounds for each point) and of whole blocks gives what the walk gave. */
void hf_walk_check_blocks(const struct hf_walk *w, struct hf_src *src, unsigned rounds);

/* A scan resumed at any point gives the same rest, or is refused where a block continues. */
void hf_walk_check_resume(const struct hf_walk *w, struct hf_src *src);

/* Two walks with the same bytes, points and end. */
void hf_walk_check_same(const struct hf_walk *a, const struct hf_walk *b);

/* Reads through a growing source, in odd steps and sometimes backwards, give the same bytes and end. */
void hf_walk_check_growing(const struct hf_walk *w, struct hf_src *src);

/* All of it, also with slivers of 1 (small containers only), 7 and 2047 bytes. */
void hf_walk_check_all(const struct hf_walk *w, const void *bytes, size_t n);

/* A small random number generator, the same numbers every time. */
uint32_t hf_rand_next(uint64_t *state);

#endif

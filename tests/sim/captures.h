/* SPDX-License-Identifier: Apache-2.0 */
/* The captures of the simulated archive, each in two versions, and the bytes that every view of them has. */
#ifndef HF_SIM_CAPTURES_H
#define HF_SIM_CAPTURES_H

#include "tests/lib/walk.h"

#include <stdbool.h>

enum { SIM_VERSIONS = 2, SIM_FILES = 8, SIM_CAPTURES = 16 };

struct sim_file {
	char path[64]; /* in the archive */
	struct hf_walk_bytes bytes;
};

/* A file or directory below the view directory. */
struct sim_view {
	char path[96];
	bool is_dir;
	bool loose;   /* says more than what the capture holds: its bytes are not compared */
	bool by_name; /* of a slice: it is found, not listed */
	struct hf_walk_bytes bytes;
};

struct sim_version {
	struct sim_file file[SIM_FILES];
	size_t files;
	struct sim_view *view;
	size_t views;
};

struct sim_capture {
	char path[64]; /* in the archive: the file, or the directory */
	char view_dir[64];
	struct sim_version version[SIM_VERSIONS];
};

extern struct sim_capture sim_capture[SIM_CAPTURES];
extern size_t sim_captures;

/* Makes all of them, and the truth (truth.h) on the way, since some are views of others. */
void sim_captures_make(void);
/* Puts that version into the archive. */
void sim_capture_put(const struct sim_capture *capture, unsigned version, bool in_place);
void sim_capture_remove(const struct sim_capture *capture);
/* NULL: this version has no such view. */
const struct sim_view *sim_view_of(const struct sim_version *version, const char *path);

#endif

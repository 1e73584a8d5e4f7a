/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hartN/at/N-N/state.txt and hartfs state: states as texts. Those of a mount are made when they are asked for, by a
 * thread of the executor, and some are kept: whoever looks one up reads it next.
 */
#ifndef HF_FIND_HART_STATES_H
#define HF_FIND_HART_STATES_H

#include "fs/bytes/made.h"
#include "fs/find/hart_state_text.h"

/* Without a summary a hart is decoded from its start. In a mount there is no text of a later instruction then. */
#define HF_HART_STATES_DECODED (UINT64_C(10) << 20)
/* So many texts are kept, of so many bytes at most. */
#define HF_HART_STATES_KEPT 64
#define HF_HART_STATES_BYTES ((size_t)4 << 20)

struct hf_hart_state_kept {
	struct hf_made made; /* first */
	uint64_t ordinal;
	struct hf_sink text; /* in memory */
};

extern const struct hf_made_kind hf_made_hart_state;

/* To be given back: hf_made_put. HF_ERR_NOT_FOUND: there is none; or what reading the capture or its index returns. */
int hf_hart_states_get(struct hf_mades *hart_states, struct hf_capture *capture, const struct hf_facts *facts,
		       uint32_t hart, uint64_t ordinal, struct hf_hart_state_kept **ret_kept);

/* Of a capture that has been indexed, on this thread. All is borrowed. */
struct hf_hart_state_ask {
	const char *path;
	uint32_t hart;
	uint64_t ordinal;
	enum hf_hart_state_form form;
	bool no_summary; /* for tests: as if there were none */
	void *ctx;
	void (*progress)(void *ctx, double share); /* 0 to 1; may be NULL */
};

struct hf_captures;
/* hf_fs_hart_state, for fs.c. HF_ERR_NOT_FOUND: there is no such hart or instruction, with why[size] in words, which is
 * empty with other errors. */
int hf_hart_state_run(struct hf_captures *all, const struct hf_hart_state_ask *ask, struct hf_sink *sink, char *why,
		      size_t size);

struct hf_fs;
int hf_fs_hart_state(struct hf_fs *fs, const struct hf_hart_state_ask *ask, struct hf_sink *sink, char *why,
		     size_t size);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a capture, its facts, and messages about them. */
#ifndef HF_FS_STATE_H
#define HF_FS_STATE_H

#include "fs/facts/capture.h"

const char *hf_capture_state_name(enum hf_capture_state state);

/* The facts of the capture, with a reference; HF_ERR_BUSY: it is not indexed yet. */
int hf_capture_facts_now(struct hf_capture *capture, struct hf_facts **ret_facts);
/* After indexing or opening it failed with err: whether to try again, for it was a shortage, and not the last of too
 * many, which are counted. */
bool hf_capture_may_try(struct hf_capture *capture, int err);

/* Sets the facts of this version, replacing recalled ones: it becomes READY, or FAILED if they say so. Takes a
 * reference of its own. */
void hf_capture_settle(struct hf_capture *capture, uint64_t version, struct hf_facts *facts);

/* What is remembered of hartN/profile/ in that version, as lines (hf_catalogue_entry.profiles), to be freed; NULL: nothing. */
char *hf_capture_profiles(struct hf_capture *capture, uint64_t version);
/* Remembers a line, in place of an earlier one with the same first two words; also in the catalogue. */
void hf_capture_remember_profile(struct hf_capture *capture, uint64_t version, const char *line);
/* So many bytes of lines are remembered, the latest ones. */
#define HF_CAPTURE_PROFILES ((size_t)32 << 10)

/* Whether the capture could not be indexed, or not be opened in its format: why, also in words (text may be NULL). */
#define HF_FAILURE_SIZE 1024
bool hf_capture_failure(struct hf_capture *capture, struct hf_diag *ret_diag, char *text, size_t size);

/* The state for users: one of which nothing was decoded has failed, though it has an index. With the lock held. */
enum hf_capture_state hf_capture_told_state(const struct hf_capture *capture);

/* The likely seconds until it is indexed; negative: unknown. With the lock of the capture held. */
double hf_capture_seconds_left(const struct hf_capture *capture);
double hf_capture_percent(const struct hf_capture *capture);

#endif

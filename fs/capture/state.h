/* SPDX-License-Identifier: Apache-2.0 */
/* How far a capture is, what is known of it, and what is told of that. */
#ifndef HF_FS_STATE_H
#define HF_FS_STATE_H

#include "fs/capture/capture.h"

const char *hf_capture_state_name(enum hf_capture_state state);

/* What is known of the indexed capture, with a reference; HF_ERR_BUSY while it is not. */
int hf_capture_facts_now(struct hf_capture *capture, struct hf_facts **ret_facts);
/* Indexing or opening it met err, a shortage, and is to be tried again; counts. False: no shortage, or the last of
 * many. */
bool hf_capture_may_try(struct hf_capture *capture, int err);

/* The facts of this version are known: it is READY (or FAILED, if they say so). Takes a reference of its own. They take
 * the place of recalled ones. */
void hf_capture_settle(struct hf_capture *capture, uint64_t version, struct hf_facts *facts);

/* Whether the capture could not be indexed, or not be opened as what it claims to be: why, also in words (text may be
 * NULL). */
#define HF_FAILURE_SIZE 1024
bool hf_capture_failure(struct hf_capture *capture, struct hf_diag *ret_diag, char *text, size_t size);

/* As the user is told: one of which nothing could be decoded has failed, though its index is there. With the lock held.
 */
enum hf_capture_state hf_capture_told_state(const struct hf_capture *capture);

/* Seconds until it is indexed, as far as can be told, or a negative number. With the lock of the capture held. */
double hf_capture_seconds_left(const struct hf_capture *capture);
double hf_capture_percent(const struct hf_capture *capture);

#endif

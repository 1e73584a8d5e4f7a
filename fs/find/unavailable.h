/* SPDX-License-Identifier: Apache-2.0 */
/* What a trace may not tell at all, so that no answer is not "no". Internal to fs/find/. */
#ifndef HF_FIND_UNAVAILABLE_H
#define HF_FIND_UNAVAILABLE_H

#include "fs/find/question.h"

/* What a stream with these flags (enum hf_stream_flags) does not tell of, that is asked for; NULL: nothing. */
const char *hf_unavailable_by(const struct hf_question *question, unsigned flags);

/*
 * If there is no answer: a question for anything of a kind that is asked for, and what that is; if this has no answer
 * either, the trace says nothing of it. From number *i on, which is set to the one found. NULL: there is no more.
 */
const char *hf_unavailable_probe(const struct hf_question *question, size_t *i, struct hf_find_term *ret_any);

/* A mnemonic that the question names, of an instruction that traps, and does not retire then; NULL: there is none. */
const char *hf_unavailable_trapping(const struct hf_question *question);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which value of a description is wrong. Where a stream does not decode as it should, its beginning is decoded again with
 * every other value of every key of its format, one at a time, and what fits better than what is written is named.
 */
#ifndef HF_SETUP_TRIAL_H
#define HF_SETUP_TRIAL_H

#include "codecs/codec.h"

/* Of the stream, up to this far behind the beginning of the part in question: all that a trial reads and keeps in memory. */
#define HF_TRIAL_BYTES (UINT32_C(1) << 20)

struct hf_trial {
	const struct hf_codec *codec;
	const struct hf_setup *setup;
	struct hf_src *src;  /* the stream; its stop ends the trials */
	int code;            /* of the first problem */
	uint32_t hart;       /* its hart, */
	uint64_t offset;     /*   and where it is in the stream; HF_NOWHERE: its beginning */
};

struct hf_trial_result {
	uint64_t found; /* stands for the values that fit, for hf_trial_text; 0: none does */
	bool elsewhere; /* none does, and the first problem comes again and again, or nothing is decoded at all */
	bool wrong_program; /* none does, and the walk hardly ever comes to where the trace synchronises */
};

/*
 * A value fits if the stream then has fewer problems, none where there was none, and comes to synchronisations behind the
 * first of them that it did not come to. Nothing is found where nothing that could be told lies within reach.
 * HF_ERR_NOMEM, HF_ERR_CANCELLED, or what reading gives.
 */
int hf_trial_run(const struct hf_trial *trial, struct hf_trial_result *ret_result);

/* "privilege_width = 2 fits (3 is written)", "TRCCONFIGR.RS: 0x1841 fits (0x841 is written)", several with "or" between
 * them, or that several values of one key fit, cut to size. found may be any number. */
void hf_trial_text(const struct hf_codec *codec, const struct hf_setup *setup, uint64_t found, char *buf, size_t size);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a file is the one that ran, where its name alone speaks for it: the trace must go through it. A trace that meets
 * another file soon says that an unconditional branch was not taken, or comes from where no branch is.
 */
#ifndef HF_PERF_PROOF_H
#define HF_PERF_PROOF_H

#include "codecs/perf/maps.h"
#include "codecs/setup/read.h"

/* So many branches must fit; half of them if nothing at all is against it. One in HF_PERF_PROOF_SHARE may not fit. */
enum { HF_PERF_PROOF_BRANCHES = 8, HF_PERF_PROOF_SHARE = 100 };

struct hf_perf_proof {
	bool wanted;	   /* set by who asks */
	bool shared;	   /* another file was mapped at addresses of this one, so that nothing can be said */
	uint64_t branches; /* that were executed in it */
	uint64_t misfits;  /* places in it where the trace cannot have been */
};

/* Of each object of maps. The setup has processes with the code of them all; codec decodes a first part of its stream. */
int hf_perf_prove(const struct hf_codec *codec, const struct hf_setup *setup, struct hf_src *stream,
		  const struct hf_perf_maps *maps, struct hf_perf_proof *proof);

static inline bool hf_perf_is_refuted(const struct hf_perf_proof *proof)
{
	return proof->misfits * HF_PERF_PROOF_SHARE > proof->branches;
}

static inline bool hf_perf_is_proven(const struct hf_perf_proof *proof)
{
	return !proof->shared && !hf_perf_is_refuted(proof) &&
	       proof->branches >= (proof->misfits ? HF_PERF_PROOF_BRANCHES : HF_PERF_PROOF_BRANCHES / 2);
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Which capture an index belongs to, found without reading all of its bytes. */
#ifndef HF_INDEX_IDENTITY_H
#define HF_INDEX_IDENTITY_H

#include "codecs/source/source.h"

struct hf_identity {
	uint64_t size; /* bytes of the file */
	int64_t mtime_ns;
	uint64_t print[2]; /* XXH3-128 of head, tail and samples between */
};

int hf_identity_of(struct hf_src *file, int64_t mtime_ns, struct hf_identity *ret_identity, struct hf_diag *diag);
/* Adds a further file: the identity of a capture of several files begins with that of the trace file. */
void hf_identity_add(struct hf_identity *identity, const struct hf_identity *member);
bool hf_identity_equal(const struct hf_identity *a, const struct hf_identity *b);
/* To be added for what decides of the events beside the bytes: a limit, say, or the version of who reads a description. */
struct hf_identity hf_identity_of_number(const char *what, uint64_t number);

#endif

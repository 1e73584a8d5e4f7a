/* SPDX-License-Identifier: Apache-2.0 */
/* Which bytes an index belongs to: recognising a capture again without reading all of it. */
#ifndef HF_INDEX_IDENTITY_H
#define HF_INDEX_IDENTITY_H

#include "codecs/source/source.h"

struct hf_identity {
	uint64_t size; /* bytes of the file */
	int64_t mtime_ns;
	uint64_t print[2]; /* XXH3-128 of head, tail and samples between */
};

int hf_identity_of(struct hf_src *file, int64_t mtime_ns, struct hf_identity *ret_identity, struct hf_diag *diag);
/* Makes it that of a capture of several files: of the file with the trace, and of a further one. */
void hf_identity_add(struct hf_identity *identity, const struct hf_identity *member);
bool hf_identity_equal(const struct hf_identity *a, const struct hf_identity *b);
/* What a limit that is not HF_EXPANSION adds to an identity: the index is another one. */
struct hf_identity hf_expansion_identity(uint64_t expansion);

#endif

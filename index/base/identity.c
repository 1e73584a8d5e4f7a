/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Size and time change with nearly every change of content; the samples catch most other changes, such as a copy that
 * kept its time.
 */
#include "index/base/identity.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define EDGE ((size_t)64 << 10)
#define SAMPLE ((size_t)4 << 10)
#define SAMPLES 16
#define ALL (2 * EDGE + SAMPLES * SAMPLE)

/* Adds file[offset, offset + n), which must be there. */
static int add(XXH3_state_t *state, struct hf_src *file, uint64_t offset, size_t n, uint8_t *buf, struct hf_diag *diag)
{
	while (n) {
		size_t got;
		int err = hf_src_read_at(file, offset, buf, n < EDGE ? n : EDGE, &got, diag);

		if (err)
			return err;
		if (!got)
			return hf_diag_set(diag, HF_ERR_CHANGED, HF_SPACE_FILE, offset, 0);
		XXH3_128bits_update(state, buf, got);
		offset += got;
		n -= got;
	}
	return 0;
}

static int add_samples(XXH3_state_t *state, struct hf_src *file, uint8_t *buf, struct hf_diag *diag)
{
	const uint64_t between = file->size - 2 * EDGE, step = between / SAMPLES;
	int err = add(state, file, 0, EDGE, buf, diag);

	for (unsigned i = 0; !err && i < SAMPLES; i++)
		err = add(state, file, EDGE + i * step, SAMPLE, buf, diag);
	return err ? err : add(state, file, file->size - EDGE, EDGE, buf, diag);
}

void hf_identity_add(struct hf_identity *identity, const struct hf_identity *member)
{
	const uint64_t words[] = {identity->print[0], identity->print[1], member->size, (uint64_t)member->mtime_ns,
				  member->print[0],   member->print[1]};
	XXH128_hash_t hash = XXH3_128bits(words, sizeof words);

	identity->print[0] = hash.low64;
	identity->print[1] = hash.high64;
}

struct hf_identity hf_identity_of_number(const char *what, uint64_t number)
{
	return (struct hf_identity){.size = number, .print = {XXH3_64bits(what, strlen(what))}};
}

int hf_identity_of(struct hf_src *file, int64_t mtime_ns, struct hf_identity *ret_identity, struct hf_diag *diag)
{
	XXH3_state_t *state = XXH3_createState();
	uint8_t *buf = malloc(EDGE);
	XXH128_hash_t hash;
	int err;

	if (!state || !buf) {
		err = hf_diag_set(diag, HF_ERR_NOMEM, HF_SPACE_FILE, HF_NOWHERE, 0);
		goto out;
	}
	XXH3_128bits_reset(state);
	err = file->size <= ALL ? add(state, file, 0, (size_t)file->size, buf, diag)
				: add_samples(state, file, buf, diag);
	if (err)
		goto out;
	hash = XXH3_128bits_digest(state);
	*ret_identity = (struct hf_identity){
		.size = file->size, .mtime_ns = mtime_ns, .print = {hash.low64, hash.high64}};
out:
	free(buf);
	XXH3_freeState(state);
	return err;
}

bool hf_identity_equal(const struct hf_identity *a, const struct hf_identity *b)
{
	return a->size == b->size && a->mtime_ns == b->mtime_ns && a->print[0] == b->print[0] &&
	       a->print[1] == b->print[1];
}

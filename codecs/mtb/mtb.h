/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HF_MTB_MTB_H
#define HF_MTB_MTB_H

#include "codecs/codec.h"

/* The largest dump; those of microcontrollers have some KiB. */
#define HF_MTB_SIZE_MAX (UINT64_C(16) << 20)

/* Where the pairs lie in a dump: a ring of size bytes, the oldest pair at first. */
struct hf_mtb_layout {
	uint64_t size, first, pairs;
	uint64_t cut; /* bytes at the end that are no pair */
};

/*
 * Of a dump of so many bytes. HF_ERR_SETUP_VALUE: the description has a value that is not allowed; HF_ERR_MTB_RING: the dump
 * is not all of the ring, so that it is not known where the oldest pair is.
 */
int hf_mtb_layout(const struct hf_setup *setup, uint64_t file, struct hf_mtb_layout *ret, struct hf_setup_error *error);

struct hf_mtb_stream {
	struct hf_stream stream; /* first */
	struct hf_mtb_layout layout;
	uint64_t size; /* of the file */
};

/* All of src, malloc'ed: *ret_bytes is the caller's to free in any case. *diag, which may be NULL, says what is wrong. */
int hf_mtb_read(struct hf_src *src, uint8_t **ret_bytes, uint64_t *ret_size, struct hf_diag *diag);

extern const struct hf_dec_ops hf_mtb_dec_ops;

#endif

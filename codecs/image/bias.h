/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where an ELF file lay when its code ran. The file is slid along the executed code until its bytes are the executed
 * ones: a few words find the place, and all executed bytes within the file's code must then be its own. Nothing is
 * guessed: a file that does not fit, or fits in two ways, has no place. The file is taken to be hostile.
 */
#ifndef HF_IMAGE_BIAS_H
#define HF_IMAGE_BIAS_H

#include "codecs/image/collect.h"
#include "codecs/source/source.h"

/* Of the executed bytes within a file one in a hundred may differ: kernels and modules patch their own code. */
#define HF_BIAS_SHARE 100
/* So many executed words must agree; half of that if nothing at all differs. */
#define HF_BIAS_VOTES 8

enum hf_bias_verdict {
	HF_BIAS_FOUND,
	HF_BIAS_UNUSED,	 /* nothing of the file was executed, or too little to tell */
	HF_BIAS_DIFFERS, /* too much of what was executed there is not the file's */
	HF_BIAS_SEVERAL, /* the file fits in more than one way */
};

struct hf_bias {
	enum hf_bias_verdict verdict;
	uint64_t bias;	  /* FOUND and DIFFERS; modulo 2^64 */
	uint64_t bytes;	  /* of executed code within the file's, with that bias */
	uint64_t differs; /* of these */
};

/* The code of one hart, ready to be searched. Used by one thread at a time. */
struct hf_bias_search;

int hf_bias_search_new(const struct hf_image *image, struct hf_bias_search **ret_search);
void hf_bias_search_free(struct hf_bias_search *search);

/* Of much code a part is looked for at first, which shows where a large file lay. From here on all that nobody has
 * claimed is; *ret_more: it was not before. */
int hf_bias_search_all(struct hf_bias_search *search, bool *ret_more);

/*
 * Looks for the file in what no other file has claimed. Errors are those of reading it, and HF_ERR_NOMEM; HF_ERR_LIMIT
 * if it has more than HF_PROGRAM_BYTES_MAX bytes of code.
 */
int hf_bias_find(struct hf_bias_search *search, struct hf_src *elf, struct hf_bias *ret_bias, struct hf_diag *diag);
/* The same for a bias that is known; FOUND also if nothing was executed there. */
int hf_bias_check(struct hf_bias_search *search, struct hf_src *elf, uint64_t bias, struct hf_bias *ret_bias,
		  struct hf_diag *diag);
/* From here on all code within the file at that bias is its own. *ret_other: some of its range was
 * another's before; then nothing is claimed. */
int hf_bias_claim(struct hf_bias_search *search, struct hf_src *elf, uint64_t bias, bool *ret_other);

/* The i-th piece of executed code in ascending order; false behind the last one. */
bool hf_bias_run(const struct hf_bias_search *search, size_t i, uint64_t *ret_start, uint64_t *ret_end);
/* Executed bytes, and those that nobody has claimed. */
uint64_t hf_bias_bytes(const struct hf_bias_search *search);
uint64_t hf_bias_unclaimed(const struct hf_bias_search *search);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Which function executed most in each part of the time. Internal to fs/profile/. */
#ifndef HF_FS_PROFILE_BUSY_H
#define HF_FS_PROFILE_BUSY_H

#include "codecs/base/hash_map.h"
#include "fs/profile/texts.h"

/* Parts of the time. */
#define HF_BUSY_PARTS 32u
/* Functions that are told apart; with more nothing is said of any. */
#define HF_BUSY_FUNCTIONS (1u << 14)

struct hf_busy_function {
	uint64_t start; /* of the symbol; without one, of the page */
	const struct hf_symbol *symbol;
	float all, part[HF_BUSY_PARTS]; /* instructions */
};

/* A zeroed one is empty. */
struct hf_busy {
	struct hf_busy_function *function;
	uint32_t count;
	struct hf_hash_map map;
	bool full;
	uint64_t last_pc; /* that was asked for, and its function */
	uint32_t last;
};

/* The one with that pc, for the caller to add to, up to the next call; NULL: there is no room for it. busy is to be
 * freed, also after an error: HF_ERR_NOMEM. */
int hf_busy_find(struct hf_busy *busy, const struct hf_symbols *symbols, uint64_t pc,
		 struct hf_busy_function **ret_function);
void hf_busy_free(struct hf_busy *busy);
/* Of those that begin in [first, last] the one that executed most: in that part, or HF_BUSY_PARTS: in all. NULL: none.
 */
const struct hf_busy_function *hf_busy_most(const struct hf_busy *busy, uint64_t first, uint64_t last, uint32_t part);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Which function executed most in each part of the time. Internal to fs/profile/. */
#ifndef HF_FS_PROFILE_HOTTEST_H
#define HF_FS_PROFILE_HOTTEST_H

#include "codecs/base/hash_map.h"
#include "fs/profile/texts.h"

/* Parts of the time. */
#define HF_HOTTEST_PARTS 32u
/* Functions that are told apart; with more nothing is said of any. */
#define HF_HOTTEST_FUNCTIONS (1u << 14)

struct hf_hottest_function {
	uint64_t start; /* of the symbol; without one, of the page */
	const struct hf_symbol *symbol;
	uint8_t kind; /* the caller's */
	float all, part[HF_HOTTEST_PARTS]; /* instructions */
};

/* A zeroed one is empty. */
struct hf_hottest {
	struct hf_hottest_function *function;
	uint32_t count;
	struct hf_hash_map map;
	bool full;
	uint64_t last_pc; /* that was asked for, and its function */
	uint32_t last;
};

/* The one with that pc, for the caller to add to, up to the next call; NULL: there is no room for it. hottest is to be
 * freed, also after an error: HF_ERR_NOMEM. */
int hf_hottest_find(struct hf_hottest *hottest, const struct hf_symbols *symbols, uint64_t pc,
		    struct hf_hottest_function **ret_function);
void hf_hottest_free(struct hf_hottest *hottest);
/* Of those that begin in [first, last] the one that executed most: in that part, or HF_HOTTEST_PARTS: in all. NULL:
 * none.
 */
const struct hf_hottest_function *hf_hottest_get(const struct hf_hottest *hottest, uint64_t first, uint64_t last,
						 uint32_t part);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From where to where the flow of a hart went, and how often. A transfer is a jump, a branch that was taken, a call or a
 * return. Traps, their returns, and what is behind a gap are none. Internal to fs/profile/.
 *
 * If the instructions are decoded, both ends of each transfer are known. A summary tells both ends of those whose opcode
 * says where they go. Of the others it tells how often each went somewhere, and how often something came to each
 * place: then HF_PROFILE_ELSEWHERE stands for the other end.
 */
#ifndef HF_FS_PROFILE_TRANSFERS_H
#define HF_FS_PROFILE_TRANSFERS_H

#include "fs/profile/texts.h"

/* Rows of a table: 24 bytes each, and half as much again while it is made. */
#define HF_TRANSFERS_MAX (UINT32_C(1) << 21)

/* A place that is not known, or not asked for. */
#define HF_PROFILE_ELSEWHERE UINT64_MAX

struct hf_transfer {
	uint64_t from, to; /* pcs of the instruction that was taken, and of the next one */
	uint64_t count;
};

/* A zeroed one is empty. */
struct hf_transfers {
	struct hf_transfer *at; /* owned; of hf_transfers_end: by from, then to */
	size_t count;
	struct hf_hash_map map; /* while it is made */
};

/* HF_ERR_TRANSFERS_LIMIT: too many different ones. HF_ERR_NOMEM. */
int hf_transfers_add(struct hf_transfers *transfers, uint64_t from, uint64_t to, uint64_t count);
/* Nothing is added any more. */
void hf_transfers_end(struct hf_transfers *transfers);
void hf_transfers_free(struct hf_transfers *transfers);
/* How many there are from a place, of those that were ended. */
uint64_t hf_transfers_from(const struct hf_transfers *transfers, uint64_t from);

/* All of them, ended, to be freed after success. lost (may be NULL): is given those that are no transfers, as a gap or the
 * like is behind them: from the last instruction before it to HF_PROFILE_ELSEWHERE, ended, to be freed in any case. Errors as
 * of struct hf_profile_text. */
int hf_transfers_find(const struct hf_profiled *of, struct hf_transfers *ret_transfers, struct hf_transfers *lost);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One of two harts that are compared: what it did before an instruction, and its instructions one after the other, in a
 * window that only moves on. Internal to fs/diff/.
 */
#ifndef HF_DIFF_SIDE_H
#define HF_DIFF_SIDE_H

#include "fs/facts/opened.h"
#include "index/read/cursor.h"

/* An instruction, as far as it is compared. */
struct hf_diff_item {
	uint64_t pc, code;	/* code: opcode, size, instruction set */
	uint64_t access, value; /* of its accesses (index/base/prefix_digest.h); 0 where they are not compared */
};

struct hf_diff_side {
	/* set by the caller */
	struct hf_open *open;
	uint32_t hart;
	uint64_t insns; /* of the hart */
	bool accesses;	/* are compared */
	/* the window: item[0] is the instruction base */
	struct hf_diff_item *item;
	uint64_t base;
	size_t count;
	uint64_t decoded; /* chunks */
	/* its own */
	struct hf_diff_item *store; /* owned; of its room items those before item are not needed any more */
	size_t room;
	struct hf_cursor cursor, other;
	struct hf_prefix_digester digester; /* of the last item alone */
	bool begun, open_item, ended;
};

void hf_diff_side_fini(struct hf_diff_side *side);

/* What the hart did before the instruction with that ordinal, or with the number of all before its end. */
int hf_diff_side_before(struct hf_diff_side *side, uint64_t ordinal, struct hf_prefix_digest *ret_prefix);

/* The window begins at that instruction then; if it is not in it or near its end, the window is empty. */
int hf_diff_side_move(struct hf_diff_side *side, uint64_t ordinal);
/* It has at least count instructions then, or all up to the end of the hart. It may be elsewhere in memory. */
int hf_diff_side_fill(struct hf_diff_side *side, uint64_t count);

static inline bool hf_diff_same_code(const struct hf_diff_item *a, const struct hf_diff_item *b)
{
	return a->pc == b->pc && a->code == b->code;
}

#endif

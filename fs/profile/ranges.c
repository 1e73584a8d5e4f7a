/* SPDX-License-Identifier: Apache-2.0 */
/* fdo/OBJECT.ranges: straight code and transfers with their counts, the unsymbolized profile of llvm-profgen. */
#include "fs/profile/fdo.h"

#include <inttypes.h>
#include <stdlib.h>

/* What llvm-profgen has for an address outside of the program. */
enum { EXTERNAL = 1 };

/* Returns how many there are; sink: NULL to count them. */
static size_t put_ranges(const struct hf_fdo_code *code, struct hf_sink *sink)
{
	size_t n = 0;

	for (size_t i = 0, size; i < code->count; i += size, n++) {
		size = hf_fdo_piece(code, i, UINT64_MAX, true);
		if (sink)
			hf_sink_printf(sink, "%" PRIx64 "-%" PRIx64 ":%" PRIu64 "\n", code->insn[i].at,
				       code->insn[i + size - 1].at, code->insn[i].count);
	}
	return n;
}

static int find_transfers(const struct hf_fdo *fdo, struct hf_transfers *ret_transfers)
{
	struct hf_transfers all;
	uint64_t address;
	int err = hf_transfers_find(fdo->of, &all, NULL);

	*ret_transfers = (struct hf_transfers){0};
	if (err)
		return err;
	/* Where those go that leave the program does not matter to it. */
	for (size_t i = 0; i < all.count && !err; i++)
		if (hf_fdo_address(fdo, all.at[i].to, &address))
			err = hf_fdo_add(fdo, false, &all.at[i], ret_transfers);
	hf_transfers_free(&all);
	if (err)
		hf_transfers_free(ret_transfers);
	else
		hf_transfers_end(ret_transfers);
	return err;
}

static int write_ranges(const struct hf_fdo *fdo, struct hf_sink *sink)
{
	struct hf_transfers transfers;
	struct hf_fdo_code code;
	int err = hf_fdo_code_find(fdo, &code);

	if (err)
		return err;
	hf_sink_printf(sink, "%zu\n", put_ranges(&code, NULL));
	put_ranges(&code, sink);
	free(code.insn);
	err = find_transfers(fdo, &transfers);
	if (err)
		return err;
	hf_sink_printf(sink, "%zu\n", transfers.count);
	for (size_t i = 0; i < transfers.count; i++) {
		const struct hf_transfer *at = &transfers.at[i];

		hf_sink_printf(sink, "%" PRIx64 "->%" PRIx64 ":%" PRIu64 "\n",
			       at->from == HF_PROFILE_ELSEWHERE ? EXTERNAL : at->from, at->to, at->count);
	}
	hf_transfers_free(&transfers);
	return 0;
}

int hf_profile_ranges(const struct hf_profiled *of, struct hf_sink *sink)
{
	return hf_fdo_write(of, sink, write_ranges);
}

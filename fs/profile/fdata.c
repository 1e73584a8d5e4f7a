/* SPDX-License-Identifier: Apache-2.0 */
/* fdo/OBJECT.fdata: how often each branch was taken, and was not, for llvm-bolt. */
#include "fs/profile/fdo.h"

#include <inttypes.h>
#include <string.h>

/* A stub of the procedure linkage table, "malloc@plt", is "malloc@PLT" there. */
static void put_symbol(const struct hf_fdo_function *function, struct hf_sink *sink)
{
	const char *name = function->symbol->name;
	const size_t stub = hf_fdo_stub(function);

	hf_fdo_put_name(name, stub ? stub : strlen(name), true, sink);
	hf_sink_printf(sink, stub ? "@PLT" : "");
	if (function->number && !stub)
		hf_sink_printf(sink, "/%" PRIu32, function->number);
}

static void put_end(const struct hf_fdo *fdo, uint64_t address, struct hf_sink *sink)
{
	const struct hf_fdo_function *function =
		address == HF_PROFILE_ELSEWHERE ? NULL : hf_fdo_function_at(fdo, address);

	if (!function) {
		hf_sink_printf(sink, "0 [unknown] 0 ");
		return;
	}
	hf_sink_printf(sink, "1 ");
	put_symbol(function, sink);
	hf_sink_printf(sink, " %" PRIx64 " ", address - function->start);
}

/* What a conditional branch that was not taken, and any other instruction that something jumps behind, went on to: BOLT
 * wants all edges between basic blocks. came: by where they went to. */
static uint64_t went_on(const struct hf_fdo *fdo, const struct hf_count *row, const struct hf_transfers *came,
			const struct hf_transfers *lost)
{
	const struct hf_count *end = fdo->of->counts->row + fdo->of->counts->n, *next = row + 1;
	const uint64_t pc = row->pc + row->size, others = hf_transfers_from(came, pc);
	uint64_t here, there = 0;

	if (hf_profile_flow(row, fdo->of->extensions) == HF_FLOW_BRANCH)
		return row->count - row->taken - row->open;
	if (!others || row->taken || row->open)
		return 0;
	here = row->count - hf_transfers_from(lost, row->pc);
	for (; next < end && next->pc <= pc; next++)
		there += next->pc == pc ? next->count : 0;
	there = there > others ? there - others : 0;
	return here < there ? here : there;
}

static int add_all(const struct hf_fdo *fdo, const struct hf_transfers *all, const struct hf_transfers *lost,
		   struct hf_transfers *to)
{
	const struct hf_counts *counts = fdo->of->counts;
	struct hf_transfers came = {0};
	int err = 0;

	for (size_t i = 0; i < all->count && !err; i++) {
		err = hf_fdo_add(fdo, true, &all->at[i], to);
		if (!err)
			err = hf_transfers_add(&came, all->at[i].to, 0, all->at[i].count);
	}
	hf_transfers_end(&came);
	for (size_t i = 0; i < counts->n && !err; i++) {
		const struct hf_count *row = &counts->row[i];
		const struct hf_transfer on = {row->pc, row->pc + row->size, went_on(fdo, row, &came, lost)};

		if (on.count)
			err = hf_fdo_add(fdo, true, &on, to);
	}
	hf_transfers_free(&came);
	hf_transfers_end(to);
	return err;
}

static int find_edges(const struct hf_fdo *fdo, struct hf_transfers *edges)
{
	struct hf_transfers all, lost;
	int err = hf_transfers_find(fdo->of, &all, &lost);

	if (!err)
		err = add_all(fdo, &all, &lost, edges);
	if (!err)
		hf_transfers_free(&all);
	hf_transfers_free(&lost);
	return err;
}

static int write_fdata(const struct hf_fdo *fdo, struct hf_sink *sink)
{
	struct hf_transfers edges = {0};
	int err = find_edges(fdo, &edges);

	for (size_t i = 0; i < edges.count && !err; i++) {
		put_end(fdo, edges.at[i].from, sink);
		put_end(fdo, edges.at[i].to, sink);
		hf_sink_printf(sink, "0 %" PRIu64 "\n", edges.at[i].count);
	}
	hf_transfers_free(&edges);
	/* llvm-bolt takes no empty file. */
	return err ? err : hf_sink_total(sink) ? 0 : HF_ERR_NOT_FOUND;
}

int hf_profile_fdata(const struct hf_profiled *of, struct hf_sink *sink)
{
	return hf_fdo_write(of, sink, write_fdata);
}

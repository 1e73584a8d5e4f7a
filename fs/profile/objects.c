/* SPDX-License-Identifier: Apache-2.0 */
/* fdo/objects.txt: of which ELF files there are profiles for compilers, and what is in none of these. */
#include "codecs/base/array.h"
#include "fs/profile/fdo.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct row {
	const char *name; /* of an ELF; NULL: code of none */
	bool has;	  /* files of this name are about it */
	uint64_t insns, transfers;
	uint64_t from_unknown, to_unknown; /* of the transfers into it, and out of it */
};

struct table {
	const struct hf_profiled *of;
	struct row *row; /* the first is that of no ELF */
	size_t count;
	const struct hf_object *object; /* the one asked for last, whose row is: */
	size_t its;
};

static int add_row(struct table *table, const char *name, bool has, size_t *ret_number)
{
	int err = hf_array_room(&table->row, table->count, sizeof *table->row);

	*ret_number = table->count;
	if (!err)
		table->row[table->count++] = (struct row){.name = name, .has = has};
	return err;
}

/* The row in which a pc counts. */
static int find_row(struct table *table, uint64_t pc, struct row **ret_row)
{
	const struct hf_object *object = hf_symbols_object_at(table->of->symbols, pc);
	bool has;
	int err = 0;

	if (object && object != table->object) {
		has = hf_fdo_has(table->of, object);
		for (table->its = 1; table->its < table->count; table->its++)
			if (table->row[table->its].has == has && !strcmp(table->row[table->its].name, object->name))
				break;
		if (table->its == table->count)
			err = add_row(table, object->name, has, &table->its);
		table->object = err ? NULL : object;
	}
	*ret_row = err ? NULL : &table->row[object ? table->its : 0];
	return err;
}

static int count_insns(struct table *table)
{
	const struct hf_counts *counts = table->of->counts;
	struct row *row;
	int err = 0;

	for (size_t i = 0; i < counts->n && !err; i++) {
		err = find_row(table, counts->row[i].pc, &row);
		if (!err)
			row->insns += counts->row[i].count;
	}
	return err;
}

static int count_transfers(struct table *table)
{
	struct hf_transfers transfers;
	int err = hf_transfers_find(table->of, &transfers, NULL);
	struct row *row;

	if (err)
		return err;
	for (size_t i = 0; i < transfers.count && !err; i++) {
		const struct hf_transfer *at = &transfers.at[i];
		const bool from_unknown = at->from == HF_PROFILE_ELSEWHERE;

		err = find_row(table, from_unknown ? at->to : at->from, &row);
		if (err)
			break;
		row->transfers += from_unknown ? 0 : at->count;
		row->from_unknown += from_unknown ? at->count : 0;
		row->to_unknown += at->to == HF_PROFILE_ELSEWHERE ? at->count : 0;
	}
	hf_transfers_free(&transfers);
	return err;
}

static int compare(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	const int order = !x->name || !y->name ? !x->name - !y->name : strcmp(x->name, y->name);

	if (x->insns != y->insns)
		return x->insns > y->insns ? -1 : 1;
	return order ? order : y->has - x->has;
}

static void put_table(struct table *table, struct hf_sink *sink)
{
	hf_profile_put_head(table->of, sink);
	hf_sink_printf(sink, "# instructions  share      transfers   from unknown     to unknown file\n");
	qsort(table->row, table->count, sizeof *table->row, compare);
	for (size_t i = 0; i < table->count; i++) {
		const struct row *row = &table->row[i];

		if (!row->insns)
			continue;
		hf_sink_printf(sink,
			       "%14" PRIu64 " %6.2f %14" PRIu64 " %14" PRIu64 " %14" PRIu64 " %s%s\n", row->insns,
			       hf_profile_share(table->of, row->insns), row->transfers, row->from_unknown,
			       row->to_unknown, row->name ? row->name : "(no ELF: left out)",
			       row->name && !row->has ? " (another file of that name: left out)" : "");
	}
}

int hf_profile_objects(const struct hf_profiled *of, struct hf_sink *sink)
{
	struct table table = {.of = of};
	size_t none;
	int err = add_row(&table, NULL, false, &none);

	if (!err)
		err = count_insns(&table);
	if (!err)
		err = count_transfers(&table);
	if (!err)
		put_table(&table, sink);
	free(table.row);
	return err ? err : sink->err;
}

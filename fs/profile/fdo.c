/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/profile/fdo.h"
#include "codecs/base/array.h"
#include "codecs/base/errors.h"
#include "codecs/base/search.h"
#include "fs/profile/bbv_blocks.h"

#include <stdlib.h>
#include <string.h>

/* Functions that begin before the nearest one are looked at so far back: one may lie in another. */
enum { NESTED = 8 };

/* ---- functions ---- */

static int by_address(const void *a, const void *b)
{
	const struct hf_elf_symbol *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return hf_symbols_prefer(x, y);
}

static int by_name(const void *a, const void *b)
{
	const struct hf_elf_symbol *x = *(const struct hf_elf_symbol *const *)a, *y = *(const struct hf_elf_symbol *const *)b;
	const int order = strcmp(x->name, y->name);

	if (order)
		return order;
	return x->address < y->address ? -1 : x->address > y->address;
}

/* BOLT numbers the local symbols of one name in the order of their addresses, whether they give a function its name. */
static int number_locals(const struct hf_fdo *fdo, uint32_t *number)
{
	const struct hf_elf_symbol **local = malloc((fdo->list.count + 1) * sizeof *local);
	size_t n = 0;
	uint32_t last = 0;

	if (!local)
		return HF_ERR_NOMEM;
	for (size_t i = 0; i < fdo->list.count; i++)
		if (fdo->list.symbol[i].local)
			local[n++] = &fdo->list.symbol[i];
	if (n)
		qsort(local, n, sizeof *local, by_name);
	for (size_t i = 0; i < n; i++) {
		last = i && !strcmp(local[i]->name, local[i - 1]->name) ? last + 1 : 1;
		number[local[i] - fdo->list.symbol] = last;
	}
	free(local);
	return 0;
}

/* One for each address. Labels within functions are none, nor what the assembler names for itself. */
static void collect_functions(struct hf_fdo *fdo, const uint32_t *number)
{
	uint64_t reached = 0;

	for (size_t i = 0; i < fdo->list.count; i++) {
		const struct hf_elf_symbol *symbol = &fdo->list.symbol[i];
		struct hf_fdo_function *last = fdo->function_count ? &fdo->function[fdo->function_count - 1] : NULL;

		if ((last && last->start == symbol->address) ||
		    (!symbol->function && (symbol->address < reached || !strncmp(symbol->name, ".L", 2))))
			continue;
		/* One without a size ends where the next one begins. */
		if (last && !last->symbol->size && last->end > symbol->address)
			last->end = symbol->address;
		fdo->function[fdo->function_count++] = (struct hf_fdo_function){
			.start = symbol->address,
			.end = symbol->size ? symbol->address + symbol->size : symbol->end,
			.symbol = symbol,
			.number = number[i]};
		if (symbol->function && symbol->address + symbol->size > reached)
			reached = symbol->address + symbol->size;
	}
}

static int find_functions(struct hf_fdo *fdo)
{
	uint32_t *number;
	int err;

	if (fdo->list.count)
		qsort(fdo->list.symbol, fdo->list.count, sizeof *fdo->list.symbol, by_address);
	fdo->function = malloc((fdo->list.count + 1) * sizeof *fdo->function);
	number = calloc(fdo->list.count + 1, sizeof *number);
	err = fdo->function && number ? number_locals(fdo, number) : HF_ERR_NOMEM;
	if (!err)
		collect_functions(fdo, number);
	free(number);
	return err;
}

bool hf_fdo_has(const struct hf_profiled *of, const struct hf_object *object)
{
	const struct hf_symbol_files *files = &of->source->open->symbol_files;
	const struct hf_placed_elf *first = hf_symbol_files_elf_of(files, of->hart, object->name, NULL);
	const struct hf_placed_elf *its = hf_symbol_files_elf_of(files, of->hart, object->name, &object->bias);

	return first && its && first->src == its->src;
}

static int find_objects(struct hf_fdo *fdo)
{
	const struct hf_object *object = NULL;
	int err = 0;

	while (!err && (object = hf_symbols_next_object(fdo->of->symbols, object))) {
		if (strcmp(object->name, fdo->name) != 0 || !hf_fdo_has(fdo->of, object))
			continue;
		err = hf_array_room(&fdo->object, fdo->object_count, sizeof *fdo->object);
		if (!err)
			fdo->object[fdo->object_count++] = object;
	}
	return err;
}

static int open_fdo(struct hf_fdo *fdo)
{
	int err = hf_symbol_files_list_elf(fdo->elf, 0, &fdo->list);

	/* What a damaged table does not tell is not missed. */
	if (err && hf_err_is_passing(err))
		return err;
	err = find_objects(fdo);
	return err ? err : find_functions(fdo);
}

int hf_fdo_write(const struct hf_profiled *of, struct hf_sink *sink,
		 int (*write)(const struct hf_fdo *fdo, struct hf_sink *sink))
{
	struct hf_fdo fdo = {.of = of,
			     .name = of->about,
			     .elf = hf_symbol_files_elf_of(&of->source->open->symbol_files, of->hart, of->about, NULL)};
	int err = fdo.elf && of->symbols ? open_fdo(&fdo) : HF_ERR_NOT_FOUND;

	if (!err)
		err = write(&fdo, sink);
	hf_symbol_files_free_list(&fdo.list);
	free(fdo.function);
	free(fdo.object);
	return err ? err : sink->err;
}

bool hf_fdo_address(const struct hf_fdo *fdo, uint64_t pc, uint64_t *ret_address)
{
	const struct hf_object *object =
		pc == HF_PROFILE_ELSEWHERE ? NULL : hf_symbols_object_at(fdo->of->symbols, pc);

	for (size_t i = 0; object && i < fdo->object_count; i++)
		if (fdo->object[i] == object) {
			*ret_address = pc - object->bias;
			return true;
		}
	return false;
}

const struct hf_fdo_function *hf_fdo_function_at(const struct hf_fdo *fdo, uint64_t address)
{
	size_t i = HF_COUNT_UP_TO(fdo->function, fdo->function_count, start, address);

	for (unsigned back = 0; i && back < NESTED; back++, i--)
		if (address < fdo->function[i - 1].end)
			return &fdo->function[i - 1];
	return NULL;
}

void hf_fdo_put_name(const char *name, size_t size, bool escaped, struct hf_sink *sink)
{
	for (size_t i = 0; i < size; i++) {
		if (escaped && (name[i] == ' ' || name[i] == '\\'))
			hf_sink_write(sink, "\\", 1);
		hf_sink_write(sink, (unsigned char)name[i] < ' ' || name[i] == 0x7f ? "_" : &name[i], 1);
	}
}

size_t hf_fdo_stub(const struct hf_fdo_function *function)
{
	const size_t n = strlen(function->symbol->name), mark = strlen("@plt");

	return n > mark && !strcmp(function->symbol->name + n - mark, "@plt") ? n - mark : 0;
}

/* ---- transfers ---- */

static uint64_t end_of(const struct hf_fdo *fdo, bool named, uint64_t pc)
{
	uint64_t address;

	if (!hf_fdo_address(fdo, pc, &address) || (named && !hf_fdo_function_at(fdo, address)))
		return HF_PROFILE_ELSEWHERE;
	return address;
}

int hf_fdo_add(const struct hf_fdo *fdo, bool named, const struct hf_transfer *transfer, struct hf_transfers *to)
{
	const uint64_t from = end_of(fdo, named, transfer->from), end = end_of(fdo, named, transfer->to);

	if (from == HF_PROFILE_ELSEWHERE && end == HF_PROFILE_ELSEWHERE)
		return 0;
	return hf_transfers_add(to, from, end, transfer->count);
}

/* ---- code ---- */

static int by_at(const void *a, const void *b)
{
	const struct hf_fdo_insn *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

/* Several programs of one address, and several places of one program, are one. */
static void join(struct hf_fdo_code *code)
{
	size_t kept = 0;

	qsort(code->insn, code->count, sizeof *code->insn, by_at);
	for (size_t i = 0; i < code->count; i++) {
		struct hf_fdo_insn *last = kept ? &code->insn[kept - 1] : NULL;

		if (!last || last->at != code->insn[i].at) {
			code->insn[kept++] = code->insn[i];
			continue;
		}
		last->count += code->insn[i].count;
		last->begins |= code->insn[i].begins;
		if (last->size < code->insn[i].size)
			last->size = code->insn[i].size;
	}
	code->count = kept;
}

int hf_fdo_code_find(const struct hf_fdo *fdo, struct hf_fdo_code *ret_code)
{
	const struct hf_counts *counts = fdo->of->counts;
	struct hf_bbv_blocks blocks;
	int err = hf_bbv_blocks_find(fdo->of, &blocks);

	if (err)
		return err;
	*ret_code = (struct hf_fdo_code){.insn = malloc((counts->n + 1) * sizeof *ret_code->insn)};
	for (size_t i = 0; ret_code->insn && i < counts->n; i++) {
		const struct hf_count *row = &counts->row[i];
		struct hf_fdo_insn *insn = &ret_code->insn[ret_code->count];

		*insn = (struct hf_fdo_insn){.count = row->count,
					     .size = row->size,
					     .begins = blocks.start[hf_bbv_block_of(&blocks, row->pc)] == row->pc};
		ret_code->count += hf_fdo_address(fdo, row->pc, &insn->at);
	}
	hf_bbv_blocks_free(&blocks);
	if (!ret_code->insn)
		return HF_ERR_NOMEM;
	if (!ret_code->count) {
		free(ret_code->insn);
		return HF_ERR_NOT_FOUND;
	}
	join(ret_code);
	return 0;
}

size_t hf_fdo_piece(const struct hf_fdo_code *code, size_t first, uint64_t bytes, bool even)
{
	const struct hf_fdo_insn *begin = &code->insn[first];
	size_t end = first + 1;

	for (; end < code->count; end++) {
		const struct hf_fdo_insn *insn = &code->insn[end];

		if (insn->begins || insn->at != insn[-1].at + insn[-1].size || (even && insn->count != begin->count) ||
		    insn->at + insn->size - begin->at > bytes)
			break;
	}
	return end - first;
}

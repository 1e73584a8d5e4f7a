/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/find/predicates.h"
#include "codecs/base/array.h"
#include "codecs/base/nearest.h"
#include "codecs/isa/names.h"
#include "codecs/isa/riscv.h"
#include "codecs/listing/listing.h"
#include "codecs/setup/code_size.h"
#include "fs/facts/opened.h"
#include "fs/find/stack_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- symbols ---- */

/* NAME[@ADDRESS][+OFFSET], taken apart. */
struct named {
	const char *name;
	size_t size;
	uint64_t offset, address;
	bool at;
	bool bare; /* the symbol has parameters behind the name, or a tag and parameters: "f[abi:cxx11](int)" */
};

static bool has_name(const struct hf_symbol *symbol, const struct named *named)
{
	if (symbol->name_size < named->size || memcmp(symbol->name, named->name, named->size) != 0)
		return false;
	if (symbol->name_size == named->size)
		return !named->bare;
	return named->bare && (symbol->name[named->size] == '(' || symbol->name[named->size] == '[');
}

/* "NAME@plt" */
static bool is_stub(const struct hf_symbol *symbol, const struct named *named)
{
	return symbol->name_size == named->size + strlen("@plt") &&
	       memcmp(symbol->name, named->name, named->size) == 0 &&
	       memcmp(symbol->name + named->size, "@plt", strlen("@plt")) == 0;
}

static int add_range(struct hf_predicates *predicates, size_t i, struct hf_find_range range)
{
	int err = hf_array_reserve(&predicates->place[i].range, predicates->place[i].count + 1,
				   &predicates->place[i].room, sizeof range);

	if (!err)
		predicates->place[i].range[predicates->place[i].count++] = range;
	return err;
}

/* Code that is chosen when the program is loaded may have no name: what is known of its calls are those of its stubs.
 * Calls of what has the name are of what chooses. */
static int add_stubs(struct hf_predicates *predicates, size_t i, const struct hf_symbols *symbols,
		     const struct named *named)
{
	const struct hf_symbol *symbol = NULL;
	bool indirect = false;
	int err = 0;

	while (!indirect && (symbol = hf_symbols_next(symbols, symbol)))
		indirect = symbol->indirect && has_name(symbol, named);
	if (!indirect)
		return 0;
	symbol = NULL;
	while (!err && (symbol = hf_symbols_next(symbols, symbol)))
		if (is_stub(symbol, named)) {
			err = add_range(predicates, i,
					(struct hf_find_range){.first = symbol->start, .last = symbol->start});
		}
	return err;
}

/* Adds the place of every symbol of that name. */
static int add_symbols(struct hf_predicates *predicates, size_t i, const struct hf_symbols *symbols,
		       const struct named *named)
{
	const uint64_t more = named->offset + predicates->question->term[i].range.last;
	const struct hf_symbol *symbol = NULL;
	const bool called = predicates->question->term[i].kind == HF_ASK_CALL && !named->at && !more;
	int err = called ? add_stubs(predicates, i, symbols, named) : 0;
	const bool stubs = predicates->place[i].count > 0;

	predicates->place[i].at = named->at;
	predicates->place[i].bare = named->bare;
	predicates->place[i].named = 0;
	while (!err && (symbol = hf_symbols_next(symbols, symbol))) {
		struct hf_find_range range = {.first = symbol->start + named->offset};

		if (!has_name(symbol, named) || __builtin_add_overflow(symbol->start, more, &range.last) ||
		    range.last < range.first)
			continue;
		predicates->place[i].named++;
		if (stubs && symbol->indirect)
			continue;
		if (named->at && symbol->start != named->address)
			continue;
		err = add_range(predicates, i, range);
	}
	return err;
}

/* "+0x1c" is hexadecimal, "+28" decimal. */
static bool read_offset(const char *text, size_t n, uint64_t *ret_offset)
{
	return n > 2 && memcmp(text, "0x", 2) == 0 ? hf_find_hex(text, n, ret_offset)
						   : hf_find_dec(text, n, ret_offset);
}

/* Takes what is behind the last mark, which read understands, off the name. */
static bool split(struct named *named, char mark, bool (*read)(const char *text, size_t n, uint64_t *ret_value),
		  uint64_t *ret_value)
{
	const char *at = memrchr(named->name, mark, named->size);

	if (!at || at == named->name || !read(at + 1, (size_t)(named->name + named->size - at - 1), ret_value))
		return false;
	named->size = (size_t)(at - named->name);
	return true;
}

/* "libc.so.6+0x78c96", as a function without a symbol is called. */
static int add_objects(struct hf_predicates *predicates, size_t i, const struct hf_symbols *symbols,
		       const struct named *named)
{
	const struct hf_object *object = NULL;
	int err = 0;

	while (!err && (object = hf_symbols_next_object(symbols, object))) {
		const uint64_t first = object->bias + named->offset;
		struct hf_find_range range = {.first = first, .last = first + predicates->question->term[i].range.last};

		if (strlen(object->name) != named->size || memcmp(object->name, named->name, named->size) != 0 ||
		    first < object->start || first >= object->end || range.last < first)
			continue;
		predicates->place[i].named++;
		err = add_range(predicates, i, range);
	}
	return err;
}

/* A name may have these marks itself: as it stands it comes first. */
static int find_named(struct hf_predicates *predicates, size_t i, const struct hf_symbols *symbols, bool bare)
{
	const char *text = predicates->question->term[i].text;
	struct named named = {.name = text, .size = strlen(text), .bare = bare};
	int err = add_symbols(predicates, i, symbols, &named);

	if (!err && !predicates->place[i].named && split(&named, '+', read_offset, &named.offset))
		err = add_symbols(predicates, i, symbols, &named);
	if (!err && !predicates->place[i].named && named.offset)
		err = add_objects(predicates, i, symbols, &named);
	if (!err && !predicates->place[i].named && split(&named, '@', hf_find_hex, &named.address)) {
		named.at = true;
		err = add_symbols(predicates, i, symbols, &named);
	}
	return err;
}

static const char *hint_symbol(const struct hf_symbols *symbols, const char *text, char hint[HF_NEAREST_SIZE])
{
	struct hf_nearest nearest = {.word = text, .n = strlen(text)};
	const struct hf_symbol *symbol = NULL;

	while ((symbol = hf_symbols_next(symbols, symbol)))
		hf_nearest_offer(&nearest, symbol->name, symbol->name_size);
	return hf_nearest_text(&nearest, hint);
}

static int find_symbols(struct hf_predicates *predicates, size_t i, const struct hf_symbols *symbols, char *why, size_t size)
{
	const char *text = predicates->question->term[i].text;
	char hint[HF_NEAREST_SIZE];
	uint64_t address;
	int err = symbols ? find_named(predicates, i, symbols, false) : 0;

	if (!err && symbols && !predicates->place[i].named)
		err = find_named(predicates, i, symbols, true);
	if (err || predicates->place[i].count)
		return err;
	if (!symbols)
		snprintf(why, size, "the capture has no symbols, and so no '%s'; an ELF file beside it may have", text);
	else if (hf_find_hex(text, strlen(text), &address))
		snprintf(why, size, "there is no symbol '%s' (an address that begins with a letter is written 0xa...)",
			 text);
	else
		snprintf(why, size, "there is no symbol '%s'%s; profile/functions.txt has those that ran", text,
			 hint_symbol(symbols, text, hint));
	return HF_ERR_NOT_FOUND;
}

static int find_places(struct hf_predicates *predicates, const struct hf_open *open, uint32_t hart, char *why,
		       size_t size)
{
	const struct hf_symbols *symbols = hf_find_symbols(open, hart);
	int err = 0;

	for (size_t i = 0; !err && i < predicates->question->count; i++) {
		const struct hf_find_term *term = &predicates->question->term[i];
		const uint32_t placed = 1u << HF_ASK_PC | 1u << HF_ASK_CALL | 1u << HF_ASK_READ | 1u << HF_ASK_WRITE |
					1u << HF_ASK_ACCESS;

		if (!(placed >> term->kind & 1))
			continue;
		if (term->text) {
			err = find_symbols(predicates, i, symbols, why, size);
			continue;
		}
		err = add_range(predicates, i, term->range);
		for (size_t k = 0; k < term->more_count && !err; k++)
			err = add_range(predicates, i, term->more[k]);
	}
	return err;
}

/* ---- registers ---- */

static int find_registers(struct hf_predicates *predicates, char *why, size_t size)
{
	for (size_t i = 0; i < predicates->question->count; i++) {
		const struct hf_find_term *term = &predicates->question->term[i];

		if (term->kind != HF_ASK_REGISTER || !term->text)
			continue;
		predicates->place[i].reg = hf_listing_register(term->text, predicates->arm, predicates->place[i].reg_name);
		if (predicates->place[i].reg)
			continue;
		snprintf(why, size, "'%s' is no register as listings name them (%s)", term->text,
			 predicates->arm ? "x0, sp, v0, z0, p0, s3_0_c1_c0_2, r0, cpsr ..."
					 : "x10, f0, v1, pc, mstatus ...");
		return HF_ERR_NOT_FOUND;
	}
	return 0;
}

/* ---- threads ---- */

static int find_names(struct hf_predicates *predicates, char *why, size_t size)
{
	const struct hf_processes *processes = predicates->processes;

	for (size_t i = 0; i < predicates->question->count; i++) {
		const char *wanted = predicates->question->term[i].comm;
		size_t k = 0;

		while (*wanted && processes && k < processes->name_count && strcmp(processes->name[k].name, wanted) != 0)
			k++;
		if (!*wanted || (processes && k < processes->name_count))
			continue;
		if (processes)
			snprintf(why, size, "not one thread is called '%s'", wanted);
		else
			snprintf(why, size, "threads have names in a perf.data alone");
		return HF_ERR_NOT_FOUND;
	}
	return 0;
}

/* ---- sorting ---- */

static void sort_term(struct hf_predicates *predicates, size_t i)
{
	const uint32_t bit = 1u << i;

	switch (predicates->question->term[i].kind) {
	case HF_ASK_READ:
	case HF_ASK_WRITE:
	case HF_ASK_ACCESS:
		predicates->access |= bit;
		break;
	case HF_ASK_REGISTER:
		predicates->reg |= bit;
		break;
	case HF_ASK_TRAP:
	case HF_ASK_GAP:
	case HF_ASK_MARKER:
	case HF_ASK_RARE:
		predicates->behind |= bit;
		break;
	case HF_ASK_VALUE:
		return;
	case HF_ASK_CALL:
		predicates->called |= bit;
		predicates->code |= bit;
		break;
	case HF_ASK_CONTEXT:
		predicates->context = true;
		predicates->code |= bit;
		break;
	default:
		predicates->code |= bit;
	}
	predicates->all |= bit;
}

/* A value is one of the accesses and registers that are named beside it, or of any if none is. */
static void sort_value(struct hf_predicates *predicates)
{
	for (size_t i = 0; i < predicates->question->count; i++) {
		if (predicates->question->term[i].kind != HF_ASK_VALUE)
			continue;
		if (predicates->question->term[i].value.count)
			predicates->value = &predicates->question->term[i].value;
		if (predicates->access | predicates->reg)
			continue;
		predicates->all |= 1u << i;
		predicates->access = predicates->reg = 1u << i;
	}
}

int hf_predicates_new(const struct hf_question *question, const struct hf_open *open, uint32_t hart,
		      struct hf_predicates **ret_predicates, char *why, size_t size)
{
	struct hf_predicates *predicates = calloc(1, sizeof *predicates);
	int err;

	*ret_predicates = predicates;
	if (!predicates)
		return HF_ERR_NOMEM;
	predicates->question = question;
	predicates->arm = open->stream->info.arch == HF_ARCH_ARM;
	predicates->extensions = hf_code_size_extensions(open->stream, hart);
	for (size_t i = 0; i < question->count; i++)
		sort_term(predicates, i);
	sort_value(predicates);
	predicates->processes = open->trace.setup ? open->trace.setup->processes : NULL;
	err = find_registers(predicates, why, size);
	if (!err)
		err = find_names(predicates, why, size);
	if (!err)
		err = find_places(predicates, open, hart, why, size);
	if (err) {
		hf_predicates_free(predicates);
		*ret_predicates = NULL;
	}
	return err;
}

void hf_predicates_free(struct hf_predicates *predicates)
{
	for (size_t i = 0; predicates && i < predicates->question->count; i++)
		free(predicates->place[i].range);
	free(predicates);
}

/* ---- asking ---- */

static enum hf_verdict verdict(bool yes)
{
	return yes ? HF_YES : HF_NO;
}

static bool lies_in(const struct hf_predicates *predicates, unsigned term, uint64_t first, uint64_t last)
{
	for (size_t i = 0; i < predicates->place[term].count; i++)
		if (first <= predicates->place[term].range[i].last && last >= predicates->place[term].range[i].first)
			return true;
	return false;
}

static bool is_everywhere(const struct hf_predicates *predicates, unsigned term)
{
	return predicates->place[term].range[0].first == 0 && predicates->place[term].range[0].last == UINT64_MAX;
}

static enum hf_verdict least(enum hf_verdict a, enum hf_verdict b)
{
	return a == HF_NO || b == HF_NO ? HF_NO : a == HF_YES ? b : a;
}

/* Whether the thread has that name, at any time. */
static enum hf_verdict of_name(const struct hf_processes *processes, const char *wanted, const struct hf_run_context *is)
{
	const char *name = is && is->fields & HF_CONTEXT_TID ? hf_processes_name(processes, is->pid, is->tid) : NULL;

	return name ? verdict(strcmp(name, wanted) == 0) : HF_PERHAPS;
}

static enum hf_verdict of_context(const struct hf_run_context *wanted, const struct hf_run_context *is)
{
	const uint32_t pairs[][3] = {{HF_CONTEXT_HW, wanted->hw, is ? is->hw : 0},
				     {HF_CONTEXT_PID, wanted->pid, is ? is->pid : 0},
				     {HF_CONTEXT_TID, wanted->tid, is ? is->tid : 0},
				     {HF_CONTEXT_ASID, wanted->asid, is ? is->asid : 0},
				     {HF_CONTEXT_VMID, wanted->vmid, is ? is->vmid : 0}};
	enum hf_verdict all = HF_YES;

	for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
		if (!(wanted->fields & pairs[i][0]))
			continue;
		if (!is || !(is->fields & pairs[i][0]))
			all = HF_PERHAPS;
		else if (pairs[i][1] != pairs[i][2])
			return HF_NO;
	}
	return all;
}

/* The text is opcode, blanks, mnemonic, and perhaps a blank and operands. */
static bool has_mnemonic(const struct hf_predicates *predicates, const char *name, const struct hf_ev_insn *insn,
			 struct hf_disasm *disasm)
{
	const unsigned isa = hf_disasm_isa(insn->isa, insn->opcode, predicates->extensions);
	uint8_t text[HF_DISASM_ROOM];
	const uint8_t *end = hf_disasm_put(disasm, text, insn->opcode, insn->size, isa), *p = text;
	const size_t n = strlen(name);

	while (p < end && *p != ' ')
		p++;
	while (p < end && *p == ' ')
		p++;
	return (size_t)(end - p) >= n && strncasecmp((const char *)p, name, n) == 0 && (p + n == end || p[n] == ' ');
}

enum hf_verdict hf_predicates_of_code(const struct hf_predicates *predicates, unsigned term,
				      const struct hf_find_code *code, struct hf_disasm *disasm)
{
	const struct hf_find_term *t = &predicates->question->term[term];
	const struct hf_ev_insn *insn = code->insn;

	switch (t->kind) {
	case HF_ASK_PC:
		return verdict(lies_in(predicates, term, insn->pc, insn->pc));
	case HF_ASK_CALL:
		return lies_in(predicates, term, insn->pc, insn->pc) ? code->called : HF_NO;
	case HF_ASK_OPCODE:
		return verdict(((insn->opcode ^ t->opcode) & t->mask) == 0);
	case HF_ASK_MNEMONIC:
		return verdict(has_mnemonic(predicates, t->text, insn, disasm));
	case HF_ASK_TAKEN:
		return code->taken;
	case HF_ASK_NOT_TAKEN:
		return code->not_taken;
	case HF_ASK_MODE:
		return hf_mode_is(t->mode, insn->mode);
	case HF_ASK_CONTEXT:
		return least(of_context(&t->context, code->context),
			     *t->comm ? of_name(predicates->processes, t->comm, code->context) : HF_YES);
	default:
		return HF_NO;
	}
}

enum hf_verdict hf_predicates_of_access(const struct hf_predicates *predicates, unsigned term,
					const struct hf_event *ev)
{
	const struct hf_find_term *t = &predicates->question->term[term];
	const unsigned kind = ev->flags & (HF_EVF_READ | HF_EVF_WRITE);
	const uint64_t first = ev->mem.address;
	uint64_t last;
	enum hf_verdict how = HF_YES;

	if (t->kind == HF_ASK_VALUE)
		return HF_YES;
	if (t->kind == HF_ASK_READ || t->kind == HF_ASK_WRITE)
		how = !kind ? HF_PERHAPS : verdict(kind & (t->kind == HF_ASK_READ ? HF_EVF_READ : HF_EVF_WRITE));
	if (!how || is_everywhere(predicates, term))
		return how;
	if (ev->flags & HF_EVF_NO_ADDRESS)
		return HF_PERHAPS;
	if (__builtin_add_overflow(first, ev->mem.size ? ev->mem.size - 1 : 0, &last))
		last = UINT64_MAX;
	return lies_in(predicates, term, first, last) ? how : HF_NO;
}

enum hf_verdict hf_predicates_of_register(const struct hf_predicates *predicates, unsigned term,
					  const struct hf_event *ev)
{
	const struct hf_find_term *t = &predicates->question->term[term];
	uint8_t name[64];
	size_t n;

	if (ev->reg.role != HF_REG_DESTINATION || ev->reg.class == HF_REG_ZA_INDEX)
		return HF_NO;
	if (t->kind == HF_ASK_VALUE || !t->text)
		return HF_YES;
	n = (size_t)(hf_listing_put_register_name(name, ev) - name);
	return verdict(strlen(predicates->place[term].reg) == n && memcmp(predicates->place[term].reg, name, n) == 0);
}

static enum hf_verdict of_trap(const struct hf_predicates *predicates, const struct hf_find_term *t,
			       const struct hf_event *ev)
{
	const bool interrupt = ev->flags & HF_EVF_ASYNC;
	const char *name;

	switch (t->trap) {
	case HF_TRAP_ANY:
		return HF_YES;
	case HF_TRAP_EXCEPTION:
		return verdict(!interrupt);
	case HF_TRAP_INTERRUPT:
		return verdict(interrupt);
	default:
		if (!(ev->flags & HF_EVF_CAUSE))
			return HF_PERHAPS;
		if (t->trap == HF_TRAP_CAUSE)
			return verdict(ev->trap.cause == t->cause);
		name = hf_cause_name(predicates->arm, interrupt, ev->trap.cause);
		return verdict(name && strcmp(name, t->text) == 0);
	}
}

enum hf_verdict hf_predicates_of_event(const struct hf_predicates *predicates, unsigned term, const struct hf_event *ev)
{
	const struct hf_find_term *t = &predicates->question->term[term];

	if (t->kind == HF_ASK_GAP)
		return verdict(ev->kind == HF_EVENT_GAP);
	if (t->kind == HF_ASK_MARKER)
		return verdict(ev->kind == HF_EVENT_MARKER && (t->what == HF_MARKERS || ev->what == t->what) &&
			       (!t->numbered || (ev->marker.number == t->number && !(ev->flags & HF_EVF_UNNUMBERED))));
	return ev->kind == HF_EVENT_TRAP ? of_trap(predicates, t, ev) : HF_NO;
}

struct hf_find_range hf_predicates_span(const struct hf_predicates *predicates)
{
	struct hf_find_range span = {0, UINT64_MAX};

	for (size_t i = 0; i < predicates->question->count; i++) {
		const enum hf_question_kind kind = predicates->question->term[i].kind;
		struct hf_find_range own = {UINT64_MAX, 0};

		if (kind != HF_ASK_PC && kind != HF_ASK_CALL)
			continue;
		for (size_t k = 0; k < predicates->place[i].count; k++) {
			const struct hf_find_range *range = &predicates->place[i].range[k];

			own.first = range->first < own.first ? range->first : own.first;
			own.last = range->last > own.last ? range->last : own.last;
		}
		span.first = own.first > span.first ? own.first : span.first;
		span.last = own.last < span.last ? own.last : span.last;
	}
	return span;
}

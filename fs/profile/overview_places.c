/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the memory of an overview is called, and what time it was: files and their parts, and, of a look at some chunks,
 * stacks, the heap, and timestamps.
 */
#include "codecs/base/search.h"
#include "fs/profile/escape.h"
#include "fs/profile/frames.h"
#include "fs/profile/overview_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A program's heap lies within so many bytes behind its data. */
#define HEAP_MAX (UINT64_C(1) << 30)

/* Going through some chunks of a hart. */
struct look {
	struct hf_overview *o;
	struct hf_cursor cursor;
	bool entered, retired, stack; /* retired, stack: of the instruction at hand; its accesses are relative to sp */
	bool timed;
	uint64_t time;	  /* the last one in the chunk */
	uint64_t ordinal; /* of the next instruction */
	struct hf_event ev[HF_CURSOR_BATCH];
	size_t at, n;
};

/* ---- what instructions tell ---- */

static bool is_relative_to_sp(const struct hf_ev_insn *insn)
{
	const uint32_t op = insn->opcode, low = op & 0x7f;

	if (insn->isa == HF_ISA_A64) /* LDR (literal) has no base */
		return (op & 0x0a000000) == 0x08000000 && (op & 0x3b000000) != 0x18000000 && (op >> 5 & 31) == 31;
	if (insn->isa != HF_ISA_RV32 && insn->isa != HF_ISA_RV64)
		return false;
	if (insn->size == 2) /* C.LWSP and its kin; what C.FSDSP shares with Zcmp is left out */
		return (op & 3) == 2 && ((op >> 13 & 3) >= 2 || op >> 13 == 1);
	return (low == 0x03 || low == 0x07 || low == 0x23 || low == 0x27) && (op >> 15 & 31) == 2;
}

static void take_access(struct look *l, uint64_t address)
{
	const struct hf_block_map *map = &l->o->t->data;
	const uint64_t block = address >> map->shift;
	const size_t row = HF_COUNT_UP_TO(map->row, map->count, block, block);

	if (!row || map->row[row - 1].block != block)
		return;
	if (l->stack)
		map->row[row - 1].holds |= HF_BLOCK_STACK;
	else if (address >= l->o->heap_first && address < l->o->heap_end)
		map->row[row - 1].holds |= HF_BLOCK_HEAP;
}

static void take_event(struct look *l, const struct hf_event *ev)
{
	switch (ev->kind) {
	case HF_EVENT_INSN:
		l->ordinal++;
		l->retired = true;
		l->stack = is_relative_to_sp(&ev->insn);
		break;
	case HF_EVENT_ATTEMPT:
		l->retired = false;
		break;
	case HF_EVENT_MEM:
		if (l->retired && !(ev->flags & HF_EVF_NO_ADDRESS))
			take_access(l, ev->mem.address);
		break;
	case HF_EVENT_TIMESTAMP:
		if (!(ev->flags & (HF_EVF_NO_TIME | HF_EVF_BACK))) {
			l->timed = true;
			l->time = ev->time.value;
		}
		break;
	default:
		break;
	}
}

/* ---- going there ---- */

/* HF_NOTE_END: to get there all before it would have to be decompressed. */
static int enter(struct look *l, uint64_t ordinal)
{
	struct hf_index *index = l->cursor.index;
	const struct hf_box *box = hf_index_box(index);
	struct hf_chunk chunk;
	struct hf_point point;
	struct hf_diag diag;
	int err = hf_index_chunk_of(index, l->cursor.hart, ordinal, &chunk);

	if (err || (l->entered && chunk.number == l->cursor.chunk.number && ordinal >= l->ordinal))
		return err;
	if (!err && box && !l->o->t->exact)
		err = hf_index_point_of(index, chunk.stream_offset, &point);
	if (!err && box && !l->o->t->exact && (!box->enterable || point.bits & HF_POINT_CONTINUES))
		return HF_NOTE_END;
	if (!err)
		err = hf_cursor_enter(&l->cursor, chunk.number, &diag);
	l->entered = !err;
	l->timed = false;
	l->ordinal = chunk.ordinal;
	l->at = l->n = 0;
	return err;
}

/* Goes on in the chunk until the instruction was met. */
static int look_at(struct look *l, uint64_t ordinal)
{
	struct hf_diag diag;
	int err = enter(l, ordinal);

	while (!err && l->ordinal <= ordinal) {
		if (l->at == l->n) {
			if (!l->cursor.left)
				break;
			l->at = 0;
			err = hf_cursor_take(&l->cursor, l->ev, HF_CURSOR_BATCH, &l->n, &diag);
		} else {
			take_event(l, &l->ev[l->at++]);
		}
	}
	return err;
}

/* A program that has no other mode than a user's has its heap behind its own data, which lie lowest. */
static void find_heap(struct hf_overview *o)
{
	const struct hf_object *lowest = hf_symbols_part_from(o->of->symbols, 0), *part = lowest;

	for (; part && lowest && !strcmp(part->name, lowest->name); part = hf_symbols_part_from(o->of->symbols, part->end))
		o->heap_first = part->end;
	if (!lowest || !hf_overview_is_user(o->t) || __builtin_add_overflow(o->heap_first, HEAP_MAX, &o->heap_end))
		o->heap_end = 0;
	else if (part && part->start < o->heap_end)
		o->heap_end = part->start;
	for (uint32_t i = 0; i < o->t->data.count; i++) {
		struct hf_block_row *row = &o->t->data.row[i];

		if (row->block << o->t->data.shift >= o->heap_first && (row->block + 1) << o->t->data.shift <= o->heap_end)
			row->holds |= HF_BLOCK_HEAP;
	}
}

int hf_overview_look(struct hf_overview *o)
{
	struct look l = {.o = o, .cursor = hf_profile_cursor(o->of->source)};
	int err = 0;

	find_heap(o);
	for (uint32_t i = 0; i <= HF_HOTTEST_PARTS && o->t->insns && err >= 0; i++) {
		const uint64_t end = o->t->first + o->t->insns, start = o->t->part.start[i];

		err = o->of->source->stop(o->of->source->ctx) ? HF_ERR_CANCELLED : look_at(&l, start < end ? start : end - 1);
		o->timed[i] = !err && l.timed;
		o->time[i] = l.time;
	}
	hf_cursor_fini(&l.cursor);
	return err < 0 ? err : 0;
}

/* ---- names ---- */

/* A line of text with a limit, which is not passed without a word. */
struct words {
	char text[HF_OVERVIEW_LETTERS + 1];
	size_t size;
	bool full;
};

static void add(struct words *w, const char *before, const char *text, size_t size)
{
	const size_t gap = strlen(before);

	w->full |= w->size + gap + size > HF_OVERVIEW_LETTERS - 1;
	if (w->full)
		return;
	memcpy(w->text + w->size, before, gap);
	memcpy(w->text + w->size + gap, text, size);
	w->size += gap + size;
}

/* Which parts of files lie in some rows, of code only code. */
struct parts {
	const struct hf_overview *o;
	const struct hf_map_drawing *d;
	uint32_t row, end;
	const struct hf_object *last;
};

static const struct hf_object *next_part(struct parts *p)
{
	const struct hf_block_map *map = p->d->map;

	for (; p->row < p->end; p->row++) {
		const uint64_t first = map->row[p->row].block << map->shift, last = first + ((UINT64_C(1) << map->shift) - 1);
		const struct hf_object *next =
			hf_symbols_part_from(p->o->of->symbols, p->last && p->last->end > first ? p->last->end : first);

		while (next && next->start <= last && map->sums && next->part != HF_OBJECT_CODE)
			next = hf_symbols_part_from(p->o->of->symbols, next->end);
		if (next && next->start <= last)
			return p->last = next;
	}
	return NULL;
}

/* The files that lie there; of one file's data also which parts of it. Returns how many files. */
static unsigned add_files(struct words *w, const char *between, const struct parts *from)
{
	static const char *const names[HF_OBJECT_PARTS] = {"code", "rodata", "data", "bss"};
	struct parts p = *from;
	const char *before = " ";
	unsigned files = 0;

	for (const struct hf_object *file = NULL, *part; (part = next_part(&p)); file = part) {
		if (file && !strcmp(file->name, part->name))
			continue;
		add(w, files++ ? ", " : between, part->name, strlen(part->name));
	}
	p = *from;
	for (const struct hf_object *part; files == 1 && !from->d->map->sums && (part = next_part(&p)); before = ", ")
		add(w, before, names[part->part], strlen(names[part->part]));
	return files;
}

/* As much of its name as there is room for. */
static void add_function(struct words *w, const struct hf_symbol *symbol, bool file)
{
	const size_t result = hf_frame_result(symbol->name, symbol->name_size);
	const size_t room = HF_OVERVIEW_LETTERS - 1 - w->size, gap = file ? 2 : 1;
	size_t size = symbol->name_size - result;

	if (w->full || room <= gap)
		return;
	w->full = size > room - gap;
	size = w->full ? room - gap : size;
	memcpy(w->text + w->size, ": " + (file ? 0 : 1), gap);
	memcpy(w->text + w->size + gap, symbol->name + result, size);
	w->size += gap + size;
}

void hf_overview_say_place(struct hf_overview *o, const struct hf_map_drawing *d, const struct hf_map_group *group,
			   const struct hf_symbol *most)
{
	const struct parts parts = {.o = o, .d = d, .row = group->first, .end = group->end};
	struct words w = {.full = false};
	unsigned holds = 0, files;

	w.size = (size_t)snprintf(w.text, sizeof w.text, "%" PRIx64, d->map->row[group->first].block << d->map->shift);
	for (uint32_t i = group->first; i < group->end; i++)
		holds |= d->map->row[i].holds;
	if (holds & HF_BLOCK_HEAP)
		add(&w, " ", "heap", 4);
	if (holds & HF_BLOCK_STACK)
		add(&w, holds & HF_BLOCK_HEAP ? ", " : " ", "stack", 5);
	files = add_files(&w, holds ? ", " : " ", &parts);
	if (most && files < 2)
		add_function(&w, most, files);
	hf_svg_say_name(&o->svg, w.text, w.size);
	if (w.full)
		hf_svg_say(&o->svg, "…");
}

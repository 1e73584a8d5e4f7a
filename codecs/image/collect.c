/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/image/collect.h"

#include "codecs/base/array.h"
#include "codecs/base/bytes.h"
#include "codecs/base/search.h"
#include "codecs/image/pages.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* The hot comparison reads 16 presence bits at any byte, and 32 bits of code at any halfword of a page. */
static_assert(sizeof(struct hf_image_bits) * 8 >= HF_IMAGE_HALVES + 16, "spare bits");
static_assert(HF_IMAGE_FRONT * HF_IMAGE_PAGE >= 1 << 20, "1 MiB of code in one piece has no collisions");

/* No page has this number. */
#define NO_NUMBER UINT64_MAX

static struct hf_image_slot *front_of(struct hf_image *image, uint64_t number)
{
	/* The fold keeps a kernel and a program, both at round addresses, out of each other's slots. */
	return &image->front[(number ^ number >> 12 ^ number >> 24) % HF_IMAGE_FRONT];
}

static void clear_front(struct hf_image *image)
{
	for (size_t i = 0; i < HF_IMAGE_FRONT; i++)
		image->front[i] = (struct hf_image_slot){.number = NO_NUMBER};
}

static void free_pages(struct hf_image *image)
{
	for (size_t i = 0; i < image->count; i++) {
		free(image->pages[i].page->changed);
		free(image->pages[i].page);
	}
	free(image->pages);
	image->pages = NULL;
	image->count = image->cap = 0;
	image->changes = 0;
	clear_front(image);
}

int hf_image_new(struct hf_image **ret_image)
{
	struct hf_image *image = calloc(1, sizeof *image);

	*ret_image = image;
	if (!image)
		return HF_ERR_NOMEM;
	clear_front(image);
	return 0;
}

void hf_image_free(struct hf_image *image)
{
	if (!image)
		return;
	free_pages(image);
	free(image);
}

/* ---- pages ---- */

/* The first page whose number is not below number: image->count if none. */
static size_t page_index(const struct hf_image *image, uint64_t number)
{
	return number ? HF_COUNT_UP_TO(image->pages, image->count, number, number - 1) : 0;
}

/* A page more at index i of the sorted pages. A row that is moved is short (16 bytes a page), and pages are few. */
static struct hf_image_page *insert_page(struct hf_image *image, size_t i, uint64_t number)
{
	struct hf_image_page *page;

	if (hf_array_reserve(&image->pages, image->count + 1, &image->cap, sizeof *image->pages))
		return NULL;
	page = calloc(1, sizeof *page);
	if (!page)
		return NULL;
	memmove(&image->pages[i + 1], &image->pages[i], (image->count - i) * sizeof image->pages[0]);
	image->pages[i] = (struct hf_image_slot){.number = number, .page = page};
	image->count++;
	return page;
}

struct hf_image_page *hf_image_page_make(struct hf_image *image, uint64_t number)
{
	struct hf_image_slot *slot = front_of(image, number);
	size_t i;

	if (slot->number == number)
		return slot->page;
	if (image->err || image->facts.flags & HF_IMAGE_LIMIT)
		return NULL;
	i = page_index(image, number);
	if (i < image->count && image->pages[i].number == number) {
		*slot = image->pages[i];
		return slot->page;
	}
	if (image->count == HF_IMAGE_PAGES_MAX) {
		image->facts.flags |= HF_IMAGE_LIMIT;
		free_pages(image);
		return NULL;
	}
	if (!insert_page(image, i, number)) {
		image->err = HF_ERR_NOMEM;
		return NULL;
	}
	*slot = image->pages[i];
	return slot->page;
}

bool hf_image_page_track(struct hf_image *image, struct hf_image_page *page)
{
	if (!page->changed)
		page->changed = calloc(1, sizeof *page->changed);
	if (!page->changed)
		image->err = HF_ERR_NOMEM;
	return page->changed;
}

/* ---- one instruction ---- */

/* Whether the image holds this instruction already. One branch, for it is asked for every instruction. */
static inline bool is_known(struct hf_image *image, const struct hf_ev_insn *insn)
{
	const uint64_t number = insn->pc / HF_IMAGE_PAGE;
	const unsigned at = insn->pc % HF_IMAGE_PAGE;
	const struct hf_image_slot *slot = front_of(image, number);
	const uint32_t mask = insn->size == 4 ? UINT32_MAX : UINT16_MAX;
	const uint32_t need = insn->size - 1u; /* presence bits: 2 -> 1, 4 -> 3 */
	uint32_t wrong;

	if (slot->number != number)
		return false;
	/* A second halfword that lies in the next page meets the spare bits, which are never present. */
	wrong = need & ~((uint32_t)hf_get16((const uint8_t *)&slot->page->present + at / 16) >> (at / 2 % 8));
	wrong |= (hf_get32(slot->page->bytes + at) ^ insn->opcode) & mask;
	wrong |= (at & 1) | ((insn->size - 2u) & ~2u) | (insn->isa == HF_ISA_T32);
	return !wrong;
}

/* Remembers only the first: what the image was before is then still known. */
static void note_conflict(struct hf_image *image, uint64_t address, uint32_t old, uint32_t new, uint8_t size,
			  uint64_t ordinal)
{
	struct hf_image_facts *facts = &image->facts;

	if (facts->flags & HF_IMAGE_CONFLICT)
		return;
	facts->flags |= HF_IMAGE_CONFLICT;
	facts->conflict_address = address;
	facts->conflict_old = old;
	facts->conflict_new = new;
	facts->conflict_size = size;
	facts->conflict_ordinal = ordinal;
}

static void note_misfit(struct hf_image *image, uint64_t address, uint8_t size, uint64_t ordinal)
{
	struct hf_image_facts *facts = &image->facts;

	if (facts->flags & HF_IMAGE_MISFIT)
		return;
	facts->flags |= HF_IMAGE_MISFIT;
	facts->misfit_address = address;
	facts->misfit_size = size;
	facts->misfit_ordinal = ordinal;
}

static void mark_changed(struct hf_image *image, struct hf_image_page *page, unsigned half)
{
	if (hf_image_page_track(image, page) && !hf_image_bit(page->changed, half)) {
		hf_image_bit_set(page->changed, half);
		image->changes++;
	}
}

/* Puts a halfword where none is; false if another value is there, which stays and is marked. */
static bool place_half(struct hf_image *image, struct hf_image_page *page, unsigned half, uint16_t value, bool thumb)
{
	uint8_t *p = page->bytes + 2 * half;

	if (!hf_image_bit(&page->present, half)) {
		hf_image_bit_set(&page->present, half);
		hf_put16(p, value);
	}
	if (thumb)
		hf_image_bit_set(&page->thumb, half);
	if (hf_get16(p) == value)
		return true;
	mark_changed(image, page, half);
	return false;
}

/* What is_known leaves over: new code, changed code, T32, an instruction over the end of a page, nonsense. */
static void place(struct hf_image *image, const struct hf_ev_insn *insn, uint64_t ordinal)
{
	const bool thumb = insn->isa == HF_ISA_T32;
	/* in memory the first halfword of a T32 instruction is the first */
	const uint32_t code = thumb && insn->size == 4 ? insn->opcode << 16 | insn->opcode >> 16 : insn->opcode;
	uint8_t before[4];
	bool same = true;

	if (insn->pc & 1 || (insn->size != 2 && insn->size != 4)) {
		note_misfit(image, insn->pc, insn->size, ordinal);
		return;
	}
	hf_image_read(image, insn->pc, before, insn->size);
	for (unsigned i = 0; i < insn->size; i += 2) {
		uint64_t address = insn->pc + i;
		struct hf_image_page *page = hf_image_page_make(image, address / HF_IMAGE_PAGE);

		if (!page)
			return;
		same &= place_half(image, page, address % HF_IMAGE_PAGE / 2, (uint16_t)(code >> 8 * i), thumb);
	}
	if (!same)
		note_conflict(image, insn->pc, insn->size == 4 ? hf_get32(before) : hf_get16(before), code,
			      insn->size, ordinal);
}

/* ---- attempts: the trap that follows says whether the instruction was there ---- */

/* Bits of exception codes that are raised only after the instruction was fetched. */
#define BIT(n) (UINT64_C(1) << (n))

/*
 * RISC-V Privileged, table of mcause values: not the fetch faults 0, 1, 12, 20, nor 16 (double trap) and 19 (hardware
 * error), which may hide one. Breakpoint (3) is raised before the fetch by a debug trigger: see below.
 */
#define RISCV_FETCHED (BIT(2) | BIT(3) | BIT(4) | BIT(5) | BIT(6) | BIT(7) | BIT(8) | BIT(9) | BIT(10) | BIT(11) | \
		       BIT(13) | BIT(15) | BIT(18) | BIT(21) | BIT(22) | BIT(23))

/*
 * Arm ARM, ESR_ELx.EC: not the instruction aborts 0x20, 0x21, PC alignment 0x22, SError 0x2f, nor the debug
 * exceptions that come before the instruction (0x30-0x33, 0x3a) or illegal execution state (0x0e).
 */
#define ARM_UNFETCHED (BIT(0x0e) | BIT(0x20) | BIT(0x21) | BIT(0x22) | BIT(0x2f) | BIT(0x30) | BIT(0x31) | BIT(0x32) | \
		       BIT(0x33) | BIT(0x3a))

#define RISCV_EBREAK 0x00100073u
#define RISCV_C_EBREAK 0x9002u

static bool was_fetched(const struct hf_image_facts *facts, uint64_t cause, uint8_t flags)
{
	bool riscv = facts->pending_isa == HF_ISA_RV32 || facts->pending_isa == HF_ISA_RV64;
	bool narrow = facts->pending_size == 2;

	/* What an interrupt held up comes again, and until then need not have been fetched. */
	if (flags & HF_EVF_ASYNC)
		return false;
	/* N-Trace tells no causes; the instruction is that of the capture's program. */
	if (riscv && !(flags & HF_EVF_CAUSE))
		return true;
	if (!(flags & HF_EVF_CAUSE) || cause >= 64)
		return false;
	if (!riscv)
		return !(ARM_UNFETCHED >> cause & 1);
	if (cause == 3)
		return narrow ? (facts->pending_opcode & UINT16_MAX) == RISCV_C_EBREAK :
				facts->pending_opcode == RISCV_EBREAK;
	return RISCV_FETCHED >> cause & 1;
}

/* The trap that the pending attempt caused. */
static void resolve(struct hf_image *image, uint64_t cause, uint8_t flags)
{
	struct hf_image_facts *facts = &image->facts;
	const struct hf_ev_insn insn = {.pc = facts->pending_pc,
					.opcode = facts->pending_opcode,
					.size = facts->pending_size,
					.isa = facts->pending_isa};

	facts->flags &= ~HF_IMAGE_PENDING;
	if (!was_fetched(facts, cause, flags))
		return;
	facts->isas |= UINT32_C(1) << insn.isa % 32;
	facts->sizes |= insn.size;
	place(image, &insn, facts->pending_ordinal);
}

static void put_attempt(struct hf_image_facts *facts, const struct hf_ev_insn *insn)
{
	facts->flags |= HF_IMAGE_PENDING;
	facts->pending_pc = insn->pc;
	facts->pending_opcode = insn->opcode;
	facts->pending_size = insn->size;
	facts->pending_isa = insn->isa;
	facts->pending_ordinal = facts->ordinal;
}

/* ---- contexts ---- */

static void note_space(struct hf_image_facts *facts, uint8_t field, uint32_t *first, uint32_t value)
{
	if (!(facts->spaces & field))
		*first = value;
	else if (*first != value)
		facts->flags |= HF_IMAGE_SPACES;
	facts->spaces |= field;
}

static void note_spaces(struct hf_image_facts *facts, const struct hf_event *ev)
{
	if (ev->fields & HF_CONTEXT_PID)
		note_space(facts, HF_CONTEXT_PID, &facts->pid, ev->context.pid);
	if (ev->fields & HF_CONTEXT_ASID)
		note_space(facts, HF_CONTEXT_ASID, &facts->asid, ev->context.asid);
	if (ev->fields & HF_CONTEXT_VMID)
		note_space(facts, HF_CONTEXT_VMID, &facts->vmid, ev->context.vmid);
}

/* ---- events ---- */

static void put_other(struct hf_image *image, const struct hf_event *ev)
{
	struct hf_image_facts *facts = &image->facts;

	if (ev->kind == HF_EVENT_TRAP && hf_image_is_pending(facts))
		resolve(image, ev->trap.cause, ev->flags);
	if (hf_event_is_attachment(ev))
		return;
	facts->flags &= ~HF_IMAGE_PENDING;
	if (ev->kind == HF_EVENT_ATTEMPT)
		put_attempt(facts, &ev->insn);
	else if (ev->kind == HF_EVENT_CONTEXT)
		note_spaces(facts, ev);
}

static void note_entry(struct hf_image_facts *facts, const struct hf_event *ev, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (ev[i].kind == HF_EVENT_INSN) {
			facts->entry = ev[i].insn.pc;
			facts->flags |= HF_IMAGE_ENTRY;
			return;
		}
	}
}

int hf_image_put(struct hf_image *image, const struct hf_event *ev, size_t n)
{
	struct hf_image_facts *facts = &image->facts;
	uint64_t ordinal = facts->ordinal; /* in a register: a counter in memory would be what the loop waits for */
	uint32_t isas = 0;
	uint8_t sizes = 0;

	if (!(facts->flags & HF_IMAGE_ENTRY))
		note_entry(facts, ev, n);
	for (size_t i = 0; i < n; i++) {
		if (ev[i].kind != HF_EVENT_INSN) {
			facts->ordinal = ordinal;
			put_other(image, &ev[i]);
			continue;
		}
		isas |= UINT32_C(1) << ev[i].insn.isa % 32;
		sizes |= ev[i].insn.size;
		if (!is_known(image, &ev[i].insn))
			place(image, &ev[i].insn, ordinal);
		ordinal++;
	}
	facts->ordinal = ordinal;
	facts->isas |= isas;
	facts->sizes |= sizes;
	return image->err;
}

void hf_image_pass(struct hf_image *image, uint64_t insns)
{
	image->facts.ordinal += insns;
}

/* ---- questions ---- */

#define ISA_BIT(isa) (UINT32_C(1) << (isa))
#define ISA_32BIT (ISA_BIT(HF_ISA_RV32) | ISA_BIT(HF_ISA_A32) | ISA_BIT(HF_ISA_T32))
#define ISA_64BIT (ISA_BIT(HF_ISA_RV64) | ISA_BIT(HF_ISA_A64))

static const char *refuses_isa(const struct hf_image *image)
{
	const uint32_t isas = image->facts.isas;
	const struct hf_image_slot *last = image->count ? &image->pages[image->count - 1] : NULL;

	if (isas & ~(ISA_32BIT | ISA_64BIT))
		return "the instruction set of the code is not known";
	if (isas & ISA_32BIT && isas & ISA_64BIT)
		return "the hart executed 32-bit and 64-bit code, which one ELF file cannot hold";
	if (isas & ISA_32BIT && last && last->number > UINT32_MAX / HF_IMAGE_PAGE)
		return "the code is 32-bit code at an address of more than 32 bits";
	return NULL;
}

static void refuse_conflict(const struct hf_image *image, char *buf, size_t size)
{
	const struct hf_image_facts *facts = &image->facts;
	int digits = facts->conflict_size * 2;

	snprintf(buf, size,
		 "the code at 0x%" PRIx64 " changes from %0*" PRIx32 " to %0*" PRIx32
		 " (first at instruction %" PRIu64 ", %" PRIu64 " bytes in all)%s",
		 facts->conflict_address, digits, facts->conflict_old, digits, facts->conflict_new,
		 facts->conflict_ordinal, image->changes * 2,
		 facts->flags & HF_IMAGE_SPACES ? "; the hart ran in more than one address space" : "");
}

bool hf_image_refuses(const struct hf_image *image, char *buf, size_t size)
{
	const struct hf_image_facts *facts = &image->facts;
	const char *isa = refuses_isa(image);

	if (image->err)
		snprintf(buf, size, "there was not enough memory to collect the code");
	else if (facts->flags & HF_IMAGE_LIMIT)
		snprintf(buf, size, "the code lies in more than %u pages of %" PRIu64 " bytes", HF_IMAGE_PAGES_MAX,
			 HF_IMAGE_PAGE);
	else if (facts->flags & HF_IMAGE_MISFIT)
		snprintf(buf, size, "instruction %" PRIu64 " at 0x%" PRIx64 " has %u bytes%s", facts->misfit_ordinal,
			 facts->misfit_address, facts->misfit_size,
			 facts->misfit_address & 1 ? " and an odd address" : "");
	else if (facts->flags & HF_IMAGE_CONFLICT)
		refuse_conflict(image, buf, size);
	else if (image->count == 0)
		snprintf(buf, size, "no instruction is known");
	else if (isa)
		snprintf(buf, size, "%s", isa);
	else
		return false;
	return true;
}

bool hf_image_entry(const struct hf_image *image, uint64_t *ret_pc)
{
	*ret_pc = image->facts.entry;
	return image->facts.flags & HF_IMAGE_ENTRY;
}

uint32_t hf_image_isas(const struct hf_image *image)
{
	return image->facts.isas;
}

bool hf_image_narrow(const struct hf_image *image)
{
	return image->facts.sizes & 2;
}

uint64_t hf_image_bytes(const struct hf_image *image)
{
	uint64_t halves = 0;

	for (size_t i = 0; i < image->count; i++)
		for (size_t w = 0; w < HF_IMAGE_HALVES / 64; w++)
			halves += (unsigned)__builtin_popcountll(image->pages[i].page->present.word[w]);
	return halves * 2;
}

size_t hf_image_memory(const struct hf_image *image)
{
	size_t bytes = sizeof *image + image->cap * sizeof *image->pages + image->count * sizeof(struct hf_image_page);

	for (size_t i = 0; i < image->count; i++)
		bytes += image->pages[i].page->changed ? sizeof *image->pages[i].page->changed : 0;
	return bytes;
}

size_t hf_image_pages(const struct hf_image *image)
{
	return image->count;
}

uint64_t hf_image_changes(const struct hf_image *image)
{
	return image->changes;
}

void hf_image_read(const struct hf_image *image, uint64_t address, void *buf, size_t n)
{
	uint8_t *to = buf;
	size_t i = page_index(image, address / HF_IMAGE_PAGE);

	while (n) {
		size_t at = address % HF_IMAGE_PAGE;
		size_t piece = n < HF_IMAGE_PAGE - at ? n : HF_IMAGE_PAGE - at;

		if (i < image->count && image->pages[i].number == address / HF_IMAGE_PAGE)
			memcpy(to, image->pages[i++].page->bytes + at, piece);
		else
			memset(to, 0, piece);
		to += piece;
		n -= piece;
		address += piece;
		if (address == 0)
			i = 0;
	}
}

/* ---- runs ---- */

enum nature {
	PRESENT = 1,
	THUMB = 2,
	CHANGED = 4,
};

static unsigned nature_of(const struct hf_image_page *page, unsigned half)
{
	return (hf_image_bit(&page->present, half) ? PRESENT : 0) | (hf_image_bit(&page->thumb, half) ? THUMB : 0) |
	       (page->changed && hf_image_bit(page->changed, half) ? CHANGED : 0);
}

/* The first halfword at or behind half that is not of this nature, or HF_IMAGE_HALVES. */
static unsigned end_of_nature(const struct hf_image_page *page, unsigned half, unsigned nature)
{
	uint64_t mask = UINT64_MAX << half % 64;

	for (unsigned w = half / 64; w < HF_IMAGE_HALVES / 64; w++, mask = UINT64_MAX) {
		uint64_t differ = page->present.word[w] ^ (nature & PRESENT ? UINT64_MAX : 0);

		differ |= page->thumb.word[w] ^ (nature & THUMB ? UINT64_MAX : 0);
		differ |= (page->changed ? page->changed->word[w] : 0) ^ (nature & CHANGED ? UINT64_MAX : 0);
		if (differ & mask)
			return w * 64 + (unsigned)__builtin_ctzll(differ & mask);
	}
	return HF_IMAGE_HALVES;
}

/* Moves the cursor to the first known halfword at or behind it. */
static bool find_known(const struct hf_image *image, struct hf_image_cursor *cursor)
{
	for (; cursor->page < image->count; cursor->page++, cursor->half = 0) {
		if (cursor->half < HF_IMAGE_HALVES)
			cursor->half = end_of_nature(image->pages[cursor->page].page, cursor->half, 0);
		if (cursor->half < HF_IMAGE_HALVES)
			return true;
	}
	return false;
}

bool hf_image_next_run(const struct hf_image *image, struct hf_image_cursor *cursor, struct hf_image_run *ret_run)
{
	const struct hf_image_slot *slot;
	unsigned nature, start;

	if (!find_known(image, cursor))
		return false;
	slot = &image->pages[cursor->page];
	nature = nature_of(slot->page, cursor->half);
	*ret_run = (struct hf_image_run){.address = slot->number * HF_IMAGE_PAGE + 2 * cursor->half,
					 .thumb = nature & THUMB,
					 .changed = nature & CHANGED};
	for (;;) {
		start = cursor->half;
		cursor->half = end_of_nature(slot->page, start, nature);
		ret_run->size += 2 * (cursor->half - start);
		if (cursor->half < HF_IMAGE_HALVES)
			return true;
		cursor->half = 0;
		cursor->page++;
		if (cursor->page == image->count || slot[1].number != slot[0].number + 1 ||
		    nature_of(slot[1].page, 0) != nature)
			return true;
		slot++;
	}
}

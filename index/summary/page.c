/* SPDX-License-Identifier: Apache-2.0 */
#include "index/summary/page.h"

#include "codecs/base/bytes.h"
#include "codecs/base/err.h"

/*
 * A run: pc minus the previous run's; a byte with entered, ended and flags; context, mode and instruction set if they
 * differ from the previous run's; instructions, bytes of code, count, chunks; the difference of its number to the
 * previous one's, with the sign in the lowest bit; its first group, and last minus first; the code. Numbers are LEB128.
 */
enum { ENDED_SHIFT = 3, SAME = 0x40, HOW_MASK = 7 };

static_assert(HF_ENTERED_COUNT <= HOW_MASK + 1 && HF_ENDED_COUNT <= HOW_MASK + 1, "three bits hold them");

static bool is_same(const struct hf_run_key *a, const struct hf_run_key *b)
{
	return a->context == b->context && a->mode == b->mode && a->isa == b->isa;
}

void hf_page_begin(struct hf_page_writer *w, uint64_t base)
{
	w->facts = (struct hf_page_facts){.base = base};
	w->previous = (struct hf_run_key){0};
	w->number = 0;
	w->n = 0;
}

static void note(struct hf_page_writer *w, const struct hf_page_run *run)
{
	const uint64_t end = run->run.key.first + run->run.bytes;

	if (!w->facts.runs++)
		w->facts.first = run->run.key.first;
	/* The code may end at the end of memory. */
	if (end < run->run.key.first)
		w->facts.end = UINT64_MAX;
	else if (end > w->facts.end)
		w->facts.end = end;
}

void hf_page_put(struct hf_page_writer *w, const struct hf_page_run *run)
{
	const struct hf_run_key *k = &run->run.key;
	const uint64_t step = run->number - w->number;
	bool same;
	uint8_t *p;

	note(w, run);
	same = is_same(k, &w->previous);
	p = hf_put_varint(w->bytes + w->n, w->n ? k->first - w->previous.first : 0);
	*p++ = (uint8_t)(k->entered | k->ended << ENDED_SHIFT | (same ? SAME : 0));
	if (!same) {
		p = hf_put_varint(p, k->context);
		*p++ = k->mode;
		*p++ = k->isa;
	}
	p = hf_put_varint(p, run->run.insns);
	p = hf_put_varint(p, run->run.bytes);
	p = hf_put_varint(p, run->count);
	p = hf_put_varint(p, run->chunks);
	p = hf_put_varint(p, step << 1 ^ (step >> 63 ? UINT64_MAX : 0));
	p = hf_put_varint(p, run->first - w->facts.base);
	p = hf_put_varint(p, run->last - run->first);
	memcpy(p, run->run.code, run->run.bytes);
	w->n = (size_t)(p - w->bytes) + run->run.bytes;
	w->previous = *k;
	w->number = run->number;
}

void hf_page_open(struct hf_page_reader *r, const uint8_t *bytes, size_t n, const struct hf_page_facts *facts)
{
	*r = (struct hf_page_reader){.facts = *facts,
				     .at = bytes,
				     .end = bytes + n,
				     .previous = {.first = facts->first},
				     .left = facts->runs};
}

static int get_key(struct hf_page_reader *r, struct hf_run_key *k)
{
	const struct hf_run_key *previous = &r->previous;
	uint64_t step, context = previous->context;
	uint8_t how;

	if (!(r->at = hf_get_varint(r->at, r->end, &step)) || r->at == r->end)
		return HF_ERR_STATE;
	how = *r->at++;
	*k = (struct hf_run_key){.first = previous->first + step,
				 .mode = previous->mode,
				 .isa = previous->isa,
				 .entered = how & HOW_MASK,
				 .ended = how >> ENDED_SHIFT & HOW_MASK};
	if (!(how & SAME)) {
		if (!(r->at = hf_get_varint(r->at, r->end, &context)) || r->end - r->at < 2)
			return HF_ERR_STATE;
		k->mode = *r->at++;
		k->isa = *r->at++;
	}
	k->context = (uint32_t)context;
	return k->first < previous->first || how >> 7 || context > HF_RUN_OTHERS || k->mode >= HF_MODE_COUNT ||
			       k->isa >= HF_ISA_COUNT || k->entered >= HF_ENTERED_COUNT || k->ended >= HF_ENDED_COUNT
		       ? HF_ERR_STATE
		       : 0;
}

static int get_numbers(struct hf_page_reader *r, uint64_t *numbers, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!(r->at = hf_get_varint(r->at, r->end, &numbers[i])))
			return HF_ERR_STATE;
	return 0;
}

/* Reads the code, which must have that number of instructions, and sets the last pc. */
static int get_code(struct hf_page_reader *r, struct hf_run *run)
{
	uint32_t opcode, at = 0, insns = 0;
	unsigned size = 0;

	if (run->bytes > (size_t)(r->end - r->at))
		return HF_ERR_STATE;
	run->code = r->at;
	r->at += run->bytes;
	for (; at < run->bytes; at += size, insns++)
		if (!(size = hf_run_opcode(run, at, &opcode)))
			return HF_ERR_STATE;
	run->key.last = run->key.first + at - size;
	return insns == run->insns && run->key.last >= run->key.first ? 0 : HF_ERR_STATE;
}

/* count, chunks, number, first and further groups */
static int get_places(struct hf_page_reader *r, struct hf_page_run *run, const uint64_t n[5])
{
	run->count = n[0];
	run->chunks = n[1];
	run->number = r->number += n[2] >> 1 ^ (n[2] & 1 ? UINT64_MAX : 0);
	if (!run->chunks || run->chunks > run->count || __builtin_add_overflow(r->facts.base, n[3], &run->first) ||
	    __builtin_add_overflow(run->first, n[4], &run->last))
		return HF_ERR_STATE;
	return 0;
}

int hf_page_next(struct hf_page_reader *r, struct hf_page_run *ret_run)
{
	uint64_t n[7];
	int err;

	if (!r->left)
		return r->at == r->end ? (int)HF_NOTE_END : HF_ERR_STATE;
	*ret_run = (struct hf_page_run){0};
	err = get_key(r, &ret_run->run.key);
	if (!err)
		err = get_numbers(r, n, sizeof n / sizeof *n);
	if (err || !n[0] || n[0] > HF_RUN_INSNS || n[1] > HF_RUN_BYTES || (n[0] == 1 && n[1] != 2 && n[1] != 4))
		return HF_ERR_STATE;
	ret_run->run.insns = (uint32_t)n[0];
	ret_run->run.bytes = (uint32_t)n[1];
	err = get_places(r, ret_run, n + 2);
	if (!err)
		err = get_code(r, &ret_run->run);
	r->previous = ret_run->run.key;
	r->left--;
	return err;
}

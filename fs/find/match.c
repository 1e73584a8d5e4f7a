/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/find/match.h"
#include "codecs/base/array.h"

#include <string.h>

static void mark(struct hf_find_marks *marks, uint32_t bit, enum hf_verdict verdict)
{
	marks->yes |= verdict == HF_YES ? bit : 0;
	marks->perhaps |= verdict == HF_PERHAPS ? bit : 0;
}

/* ---- values ---- */

/* Of a word shorter than eight bytes the source may hold more than was accessed. */
static enum hf_verdict has_value(const struct hf_match *m)
{
	const struct hf_find_value *wanted = m->predicates->value;
	const uint64_t mask = m->value_size && m->value_size < 8 ? (UINT64_C(1) << (8 * m->value_size)) - 1 : UINT64_MAX;

	if (m->value.count != wanted->count)
		return HF_NO;
	if (wanted->count == 1 && (m->value.word[0] & mask) == wanted->word[0])
		return HF_YES;
	return memcmp(m->value.word, wanted->word, wanted->count * sizeof wanted->word[0]) == 0 ? HF_YES : HF_NO;
}

static void end_value(struct hf_match *m)
{
	if (has_value(m)) {
		m->marks.yes |= m->waiting.yes;
		m->marks.perhaps |= m->waiting.perhaps;
	}
	m->waiting = (struct hf_find_marks){0};
}

/* Terms that hold of an access or a register but for its value, of which this is the first word. */
static void put_head(struct hf_match *m, struct hf_find_marks marks, bool known, uint64_t first, uint32_t size,
		     uint32_t more)
{
	m->left = 0;
	if (!m->predicates->value) {
		m->marks.yes |= marks.yes;
		m->marks.perhaps |= marks.perhaps;
		return;
	}
	if (!(marks.yes | marks.perhaps))
		return;
	if (!known) {
		m->marks.perhaps |= marks.yes | marks.perhaps;
		return;
	}
	m->waiting = marks;
	m->value = (struct hf_find_value){.count = 1, .word = {first}};
	m->value_size = more ? 0 : size;
	m->have = sizeof first;
	m->left = more;
	if (!more)
		end_value(m);
}

static void put_data(struct hf_match *m, const struct hf_event *ev)
{
	const size_t room = sizeof m->value.word - m->have, used = ev->used < 24 ? ev->used : 24;
	const size_t n = used < m->left ? used : m->left;

	if (!m->left)
		return;
	memcpy((uint8_t *)m->value.word + m->have, ev->data.bytes, n < room ? n : room);
	/* One that is longer than can be asked for is no answer. */
	m->value.count = n > room ? HF_FIND_WORDS + 1 : m->value.count;
	m->have += n < room ? n : room;
	m->left -= (uint32_t)n;
	if (m->left)
		return;
	if (m->value.count <= HF_FIND_WORDS)
		m->value.count = (unsigned)((m->have + 7) / 8);
	end_value(m);
}

/* ---- what belongs to an instruction ---- */

static void put_access(struct hf_match *m, const struct hf_event *ev)
{
	struct hf_find_marks marks = {0};

	for (uint32_t bits = m->predicates->access; bits; bits &= bits - 1)
		mark(&marks, bits & -bits, hf_predicates_of_access(m->predicates, (unsigned)__builtin_ctz(bits), ev));
	put_head(m, marks, ev->words, ev->mem.data, ev->mem.size, ev->words > 1 ? 8 * (ev->words - 1u) : 0);
}

static void put_register(struct hf_match *m, const struct hf_event *ev)
{
	struct hf_find_marks marks = {0};

	for (uint32_t bits = m->predicates->reg; bits; bits &= bits - 1)
		mark(&marks, bits & -bits, hf_predicates_of_register(m->predicates, (unsigned)__builtin_ctz(bits), ev));
	put_head(m, marks, true, ev->reg.value, 0, ev->size);
}

static void put_behind(struct hf_match *m, const struct hf_event *ev)
{
	for (uint32_t bits = m->predicates->behind; bits; bits &= bits - 1)
		mark(&m->marks, bits & -bits, hf_predicates_of_event(m->predicates, (unsigned)__builtin_ctz(bits), ev));
}

/* ---- instructions ---- */

static bool calls(struct hf_stub *stub, const struct hf_event *ev)
{
	const struct hf_ev_insn *insn = &ev->insn;
	const bool call =
		insn->flow == HF_FLOW_CALL || insn->flow == HF_FLOW_INDIRECT_CALL || insn->flow == HF_FLOW_SWAP;
	const bool more = insn->flow == HF_FLOW_INDIRECT_JUMP && hf_stub_reaches(stub, insn);

	if (!(ev->flags & (HF_EVF_TAKEN | HF_EVF_OPEN)))
		return false;
	if (ev->flags & HF_EVF_TAKEN && (call || more))
		hf_stub_called(stub, insn->target, more);
	else
		stub->called = false;
	return stub->called;
}

enum hf_verdict hf_match_calls(struct hf_stub *stub, const struct hf_event *ev)
{
	switch (ev->kind) {
	case HF_EVENT_INSN:
		return calls(stub, ev) ? HF_YES : HF_NO;
	case HF_EVENT_TRAP:
	case HF_EVENT_TRAP_RETURN:
	case HF_EVENT_DISCONTINUITY:
	case HF_EVENT_GAP:
	case HF_EVENT_DOUBT:
		stub->called = false;
		return HF_NO;
	default:
		return HF_PERHAPS;
	}
}

static int add_item(struct hf_find_items *items, uint64_t item)
{
	int err = hf_array_reserve(&items->item, items->count + 1, &items->room, sizeof item);

	if (err)
		return err;
	items->item[items->count++] = item;
	items->yes += !(item & HF_ITEM_UNKNOWN);
	return 0;
}

int hf_match_end(struct hf_match *m)
{
	const uint32_t all = m->predicates->all;

	m->left = 0;
	if (m->open && !m->err && !(all & ~(m->marks.yes | m->marks.perhaps)))
		m->err = add_item(m->items, (m->ordinal - 1) | (all & ~m->marks.yes ? HF_ITEM_UNKNOWN : 0));
	m->open = false;
	return m->err;
}

/* The terms about the instruction alone; false: it is no answer, whatever comes. */
static bool put_code(struct hf_match *m, const struct hf_event *ev)
{
	const bool branch = ev->insn.flow == HF_FLOW_BRANCH, taken = ev->flags & HF_EVF_TAKEN;
	const bool open = ev->flags & HF_EVF_OPEN && !taken;
	struct hf_find_code code = {.insn = &ev->insn,
				    .taken = taken ? HF_YES : open ? HF_PERHAPS : HF_NO,
				    .not_taken = open ? HF_PERHAPS : branch && !taken ? HF_YES : HF_NO,
				    .called = m->called,
				    .context = m->context_known ? &m->context : NULL};

	/* The costly one comes last. */
	for (uint32_t bits = m->predicates->code & ~m->predicates->called; bits; bits &= bits - 1) {
		const enum hf_verdict v =
			hf_predicates_of_code(m->predicates, (unsigned)__builtin_ctz(bits), &code, m->disasm);

		if (!v)
			return false;
		mark(&m->marks, bits & -bits, v);
	}
	for (uint32_t bits = m->predicates->called; bits; bits &= bits - 1) {
		enum hf_verdict v =
			hf_predicates_of_code(m->predicates, (unsigned)__builtin_ctz(bits), &code, m->disasm);

		if (v == HF_PERHAPS)
			v = code.called = m->before_called(m->ctx, m->ordinal, &m->stub);
		if (!v)
			return false;
		mark(&m->marks, bits & -bits, v);
	}
	return true;
}

static void put_insn(struct hf_match *m, const struct hf_event *ev)
{
	const struct hf_find_marks before = m->ordinal ? (struct hf_find_marks){0} : m->marks;

	hf_match_end(m);
	m->marks = before;
	m->attempted = false;
	m->open = !m->predicates->code || put_code(m, ev);
	m->ordinal++;
}

/* Before the first instruction there is what counts to it. */
static bool takes(const struct hf_match *m)
{
	return m->open || !m->ordinal;
}

/* Whether a call leads to what comes behind the event. */
static void follow_calls(struct hf_match *m, const struct hf_event *ev)
{
	const bool insn = ev->kind == HF_EVENT_INSN, moves = insn && ev->flags & (HF_EVF_TAKEN | HF_EVF_OPEN);
	enum hf_verdict called;

	if (m->stub_open && moves && ev->insn.flow == HF_FLOW_INDIRECT_JUMP && hf_stub_places(&ev->insn))
		m->before_called(m->ctx, m->first, &m->stub);
	called = hf_match_calls(&m->stub, ev);
	if (called == HF_PERHAPS)
		return;
	m->called = called;
	m->stub_open &= insn && !moves;
}

void hf_match_put(struct hf_match *m, const struct hf_event *ev)
{
	if (ev->kind != HF_EVENT_DATA)
		m->left = 0;
	switch (ev->kind) {
	case HF_EVENT_INSN:
		put_insn(m, ev);
		break;
	case HF_EVENT_ATTEMPT:
		m->attempted = true;
		break;
	case HF_EVENT_MEM:
		if (m->open && !m->attempted && m->predicates->access)
			put_access(m, ev);
		break;
	case HF_EVENT_REG:
		if (m->open && !m->attempted && m->predicates->reg)
			put_register(m, ev);
		break;
	case HF_EVENT_DATA:
		put_data(m, ev);
		break;
	case HF_EVENT_CONTEXT:
		hf_run_context_put(&m->context, ev);
		break;
	default:
		if (takes(m) && m->predicates->behind)
			put_behind(m, ev);
	}
	if (m->predicates->called)
		follow_calls(m, ev);
}

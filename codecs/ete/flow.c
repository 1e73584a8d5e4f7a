/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/ete/flow.h"

#include "codecs/ete/errors.h"

#include <assert.h>
#include <string.h>

/* Steps of an element that walks. */
enum { STEP_START, STEP_WALK, STEP_BEHIND };

/* The element that is being told. */
static inline const struct hf_ete_element *front(const struct hf_ete_resolve *r)
{
	const struct hf_ete_element *e = hf_ete_resolve_front(r);

	assert(e);
	return e;
}

int hf_ete_flow_init(struct hf_ete_flow *f, const struct hf_ete_config *config, const struct hf_setup *setup,
		     uint32_t hart)
{
	const struct hf_walk_rules rules = {.wfx = config->wfx};
	int err;

	memset(f, 0, sizeof *f);
	f->config = config;
	f->setup = setup;
	f->hart = hart;
	hf_return_stack_init(&f->links, f->links_room, HF_ETE_STACK_MAX + 1,
			     config->return_stack ? HF_ETE_STACK_MAX : 0);
	err = hf_walk_blocks_init(&f->blocks, &rules, hf_setup_code_size(setup), 1);
	hf_ete_flow_set(f, &(struct hf_ete_flow_state){0});
	return err;
}

void hf_ete_flow_fini(struct hf_ete_flow *f)
{
	hf_walk_blocks_fini(&f->blocks);
}

/* ---- events ---- */

static struct hf_event *emit(struct hf_ete_flow *f, unsigned kind)
{
	struct hf_event *ev = &f->events[f->pending < HF_ETE_PENDING_MAX ? f->pending++ : HF_ETE_PENDING_MAX - 1];

	*ev = (struct hf_event){.kind = (uint8_t)kind};
	return ev;
}

static void emit_loss(struct hf_ete_flow *f, unsigned kind, int code, uint64_t offset, uint64_t bytes, uint64_t detail)
{
	struct hf_event *ev = emit(f, kind);

	ev->code = (uint16_t)-code;
	ev->loss = (struct hf_ev_loss){.offset = offset, .bytes = bytes, .detail = detail};
}

static void tell_marker(struct hf_ete_flow *f, unsigned type, uint64_t number, uint64_t value)
{
	emit(f, HF_EVENT_MARKER)->marker = (struct hf_ev_marker){.type = type, .number = number, .value = value};
}

/* Of a path that turns out to be wrong: all that was told since it last agreed with an address may be. */
static void emit_misfit(struct hf_ete_flow *f, unsigned kind, int code, uint64_t offset, uint64_t detail)
{
	emit_loss(f, kind, code, offset, 0, detail);
	f->events[f->pending - 1].back = f->s.unproven;
}

static void count_insns(struct hf_ete_flow *f, unsigned n)
{
	f->s.unproven = n < UINT32_MAX - f->s.unproven ? f->s.unproven + n : UINT32_MAX;
}

void hf_ete_flow_note(struct hf_ete_flow *f, int code, uint64_t detail)
{
	emit_loss(f, HF_EVENT_NOTE, code, HF_NOWHERE, 0, detail);
}

bool hf_ete_flow_drain(struct hf_ete_flow *f, struct hf_ete_out *out)
{
	while (f->given < f->pending && out->n < out->max) {
		out->ev[out->n++] = f->events[f->given++];
		f->s.age++;
	}
	if (f->given < f->pending)
		return false;
	f->given = f->pending = 0;
	return true;
}

/* ---- context and address ---- */

static const uint8_t modes[4] = {HF_MODE_EL0, HF_MODE_EL1, HF_MODE_EL2, HF_MODE_EL3};

/* Of the M profile: 0 and 3 stand for its two modes, and nothing for 1 and 2. */
static const uint8_t m_modes[4] = {HF_MODE_THREAD, HF_MODE_UNKNOWN, HF_MODE_UNKNOWN, HF_MODE_HANDLER};

static unsigned mode_of(const struct hf_ete_flow *f, unsigned byte)
{
	return (f->config->m ? m_modes : modes)[byte & HF_ETE_CONTEXT_EL];
}

/* The memory that code in this context comes from. EL0 is in the space of EL1; of the M profile both modes are. */
static uint32_t space_of(const struct hf_ete_flow *f, uint8_t byte)
{
	static const uint32_t el1[4] = {HF_MEMORY_EL1S, HF_MEMORY_EL1N, HF_MEMORY_ROOT, HF_MEMORY_EL1R};
	static const uint32_t el2[4] = {HF_MEMORY_EL2S, HF_MEMORY_EL2N, HF_MEMORY_ROOT, HF_MEMORY_EL2R};
	const unsigned state = (byte & HF_ETE_CONTEXT_NSE ? 2 : 0) | (byte & HF_ETE_CONTEXT_NS ? 1 : 0);
	const unsigned el = f->config->m ? 1 : byte & HF_ETE_CONTEXT_EL;

	return el == 3 ? HF_MEMORY_EL3 | HF_MEMORY_ROOT : el == 2 ? el2[state] : el1[state];
}

static bool tells_processes(const struct hf_ete_flow *f)
{
	return f->setup && f->setup->processes;
}

static struct hf_running running_as(const struct hf_ete_flow *f, uint32_t thread)
{
	const struct hf_setup *setup = f->setup;

	return hf_processes_at(setup->processes, thread, f->s.part < setup->part_count ? setup->parts[f->s.part].time : 0);
}

/* Of a description with processes. A trace may have the numbers of another PID namespace: of these nobody tells. */
static uint32_t thread_of(const struct hf_ete_flow *f)
{
	const struct hf_setup *setup = f->setup;
	const struct hf_ete_context *c = &f->s.context;
	const uint32_t recorded = f->s.part < setup->part_count ? setup->parts[f->s.part].thread : HF_SETUP_NO_THREAD;
	const uint32_t told = setup->processes->by_vmid ? c->vmid : c->cid;

	if (!(c->byte & (setup->processes->by_vmid ? HF_ETE_CONTEXT_VMID : HF_ETE_CONTEXT_CID)))
		return recorded;
	return running_as(f, told).known || !running_as(f, recorded).known ? told : recorded;
}

static struct hf_running running(const struct hf_ete_flow *f)
{
	return running_as(f, thread_of(f));
}

/* What depends on context and address. */
static void derive(struct hf_ete_flow *f)
{
	const struct hf_ete_context *c = &f->s.context;
	struct hf_walk_blocks *w = &f->blocks;

	w->isa = f->config->m ? HF_ISA_T32 : c->byte & HF_ETE_CONTEXT_SF ? HF_ISA_A64 : f->s.is ? HF_ISA_T32 : HF_ISA_A32;
	w->mask = w->isa == HF_ISA_A64 ? UINT64_MAX : UINT32_MAX;
	w->mode = (uint8_t)mode_of(f, c->byte);
	if (tells_processes(f)) {
		const struct hf_running now = running(f);

		w->program = now.kernel && w->mode != HF_MODE_EL0 ? now.kernel : now.program;
		return;
	}
	w->program = hf_setup_program(f->setup, f->hart, c->byte & HF_ETE_CONTEXT_CID ? c->cid : HF_SETUP_NO_CONTEXT,
				      space_of(f, c->byte));
}

void hf_ete_flow_set(struct hf_ete_flow *f, const struct hf_ete_flow_state *state)
{
	f->s = *state;
	f->given = f->pending = 0;
	derive(f);
}

static void set_is(struct hf_ete_flow *f, unsigned is)
{
	f->s.is = is != 0;
	if (!f->config->m && !(f->s.context.byte & HF_ETE_CONTEXT_SF))
		f->blocks.isa = is ? HF_ISA_T32 : HF_ISA_A32;
}

static void push_link(struct hf_ete_flow *f, uint64_t address)
{
	if (!f->s.missing)
		hf_return_stack_push(&f->links, address | f->s.is);
}

/* Before any P0 element, and at Trace Info: no address came, so it is on the stack. */
static void pop_link(struct hf_ete_flow *f)
{
	struct hf_ete_flow_state *s = &f->s;
	uint64_t link;

	if (s->sync != HF_ETE_SYNC_TARGET || !hf_return_stack_pop(&f->links, &link))
		return;
	s->pc = link & ~UINT64_C(1);
	s->it = 0;
	set_is(f, link & 1);
	s->sync = HF_ETE_SYNC_FULL;
	s->fresh = 1;
}

static void tell_skipped(struct hf_ete_flow *f)
{
	if (!f->s.skipped)
		return;
	emit_misfit(f, HF_EVENT_GAP, HF_ERR_ETE_NO_ADDRESS, f->s.skipped_at, f->s.skipped);
	f->s.skipped = f->s.unproven = 0;
}

/* An element whose instructions cannot be known. */
static void skip(struct hf_ete_flow *f, const struct hf_ete_element *e)
{
	if (f->s.skipped++ == 0)
		f->s.skipped_at = e->offset;
	if (f->s.sync == HF_ETE_SYNC_ADDRESS)
		f->s.sync = HF_ETE_SYNC_NONE;
}

/* The program and the trace do not go together: the flow is lost until the next address. */
static void stray(struct hf_ete_flow *f, const struct hf_ete_element *e, int code, uint64_t detail)
{
	emit_misfit(f, HF_EVENT_GAP, code, e->offset, detail);
	f->s.unproven = 0;
	f->s.sync = HF_ETE_SYNC_CONTEXT;
	hf_return_stack_clear(&f->links);
}

/* A synchronisation's address is where the flow was. */
static void agree(struct hf_ete_flow *f, uint64_t offset)
{
	f->agreed->reached++;
	if (!(f->s.missing & 2))
		return;
	f->agreed->count++;
	f->agreed->offset = offset;
}

static void take_target(struct hf_ete_flow *f, const struct hf_ete_element *e)
{
	struct hf_ete_flow_state *s = &f->s;

	if (s->sync == HF_ETE_SYNC_FULL && !s->fresh && s->ran && e->value != s->pc) {
		struct hf_event *ev = emit(f, HF_EVENT_DISCONTINUITY);

		ev->jump = (struct hf_ev_jump){.from = s->pc, .to = e->value};
		emit_misfit(f, HF_EVENT_DOUBT, HF_ERR_ETE_ELSEWHERE, e->offset, s->pc);
		s->unproven = 0;
	} else if (s->sync == HF_ETE_SYNC_TARGET || s->sync == HF_ETE_SYNC_RETURN || (s->sync == HF_ETE_SYNC_FULL && !s->fresh)) {
		s->unproven = 0;
		if (s->sync == HF_ETE_SYNC_FULL && s->ran)
			agree(f, e->offset);
	}
	if (s->sync != HF_ETE_SYNC_FULL || s->pc != e->value)
		s->it = 0;
	s->pc = e->value;
	set_is(f, e->is);
	if (s->sync == HF_ETE_SYNC_NONE || s->sync == HF_ETE_SYNC_ADDRESS)
		s->sync = HF_ETE_SYNC_ADDRESS;
	else
		s->sync = HF_ETE_SYNC_FULL;
	s->fresh = 1;
	s->missing &= 1;
	if (s->sync == HF_ETE_SYNC_FULL)
		tell_skipped(f);
}

/* Of a kernel whose contexts are threads: an id of either kind is one. */
static void tell_thread(const struct hf_ete_flow *f, struct hf_event *ev)
{
	const struct hf_running now = running(f);
	const uint32_t tid = thread_of(f);

	ev->fields = HF_CONTEXT_MODE | (tid != HF_SETUP_NO_THREAD ? HF_CONTEXT_TID : 0u) | (now.known ? HF_CONTEXT_PID : 0u);
	ev->context = (struct hf_ev_context){
		.pid = now.known ? now.pid : 0,
		.tid = tid != HF_SETUP_NO_THREAD ? tid : 0,
		.mode = (uint8_t)mode_of(f, f->s.context.byte),
	};
}

static void tell_context(struct hf_ete_flow *f)
{
	const struct hf_ete_context *c = &f->s.context;
	struct hf_event *ev = emit(f, HF_EVENT_CONTEXT);

	f->s.told = 1;
	if (tells_processes(f)) {
		tell_thread(f, ev);
		return;
	}
	ev->fields = HF_CONTEXT_MODE | (c->byte & HF_ETE_CONTEXT_CID ? HF_CONTEXT_PID : 0u) |
		   (c->byte & HF_ETE_CONTEXT_VMID ? HF_CONTEXT_VMID : 0u) |
		   (f->config->secure ? HF_CONTEXT_STATE : 0u);
	if (f->config->secure)
		ev->state = c->byte & HF_ETE_CONTEXT_NS ? 0 : HF_STATE_SECURE;
	ev->context = (struct hf_ev_context){
		.pid = ev->fields & HF_CONTEXT_PID ? c->cid : 0,
		.vmid = ev->fields & HF_CONTEXT_VMID ? c->vmid : 0,
		.mode = (uint8_t)mode_of(f, c->byte),
	};
}

void hf_ete_flow_context(const struct hf_ete_flow *f, struct hf_event *ret_context)
{
	const struct hf_ete_context *c = &f->s.context;

	if (tells_processes(f)) {
		tell_thread(f, ret_context);
		ret_context->fields &= ~(unsigned)HF_CONTEXT_MODE;
		ret_context->context.mode = 0;
		return;
	}
	ret_context->fields = (c->byte & HF_ETE_CONTEXT_CID ? HF_CONTEXT_PID : 0u) |
			      (c->byte & HF_ETE_CONTEXT_VMID ? HF_CONTEXT_VMID : 0u);
	ret_context->context = (struct hf_ev_context){
		.pid = ret_context->fields & HF_CONTEXT_PID ? c->cid : 0,
		.vmid = ret_context->fields & HF_CONTEXT_VMID ? c->vmid : 0,
	};
}

static void take_part(struct hf_ete_flow *f, const struct hf_ete_element *e)
{
	f->s.part = (uint32_t)e->value;
	f->s.told = 0;
	derive(f);
}

static void take_context(struct hf_ete_flow *f, const struct hf_ete_element *e)
{
	struct hf_ete_flow_state *s = &f->s;
	const struct hf_ete_context now = {.byte = (uint8_t)e->info, .cid = e->count, .vmid = e->extra};
	const bool same = s->context.byte == now.byte && s->context.cid == now.cid && s->context.vmid == now.vmid;

	s->context = now;
	s->missing &= 2;
	if (s->sync == HF_ETE_SYNC_NONE)
		s->sync = HF_ETE_SYNC_CONTEXT;
	else if (s->sync == HF_ETE_SYNC_ADDRESS)
		s->sync = HF_ETE_SYNC_FULL;
	if (!same) {
		derive(f);
		tell_context(f);
	} else if (!s->told) {
		tell_context(f);
	}
	if (s->sync == HF_ETE_SYNC_FULL)
		tell_skipped(f);
}

/* ---- instructions ---- */

/* Gives up to n instructions of b from the first on, none of them taken, all of which lies before limit. */
static unsigned put_run(struct hf_ete_flow *f, const struct hf_walk_block *b, unsigned n, uint64_t limit,
			struct hf_ete_out *out)
{
	const size_t room = out->max - out->n;
	unsigned count = 0;

	n = n < room ? n : (unsigned)room;
	while (count < n && b->insn[count].insn.pc + b->insn[count].insn.size <= limit)
		count++;
	memcpy(out->ev + out->n, b->insn, count * sizeof *b->insn);
	f->s.pc = count == b->count ? b->next : b->insn[count].insn.pc;
	f->s.it = (uint8_t)(count == b->count ? b->next_it : b->insn[count].it);
	out->n += count;
	f->s.age += count;
	f->s.walked += count;
	count_insns(f, count);
	f->s.fresh &= count == 0;
	f->s.ran |= count != 0;
	return count;
}

/* Whether the last instruction of b is a P0 instruction. */
static bool is_ended(const struct hf_walk_block *b)
{
	return b->end != HF_WALK_ON && b->end != HF_WALK_NO_CODE;
}

/* Whether the program tells where that goes, if it is taken. */
static bool is_direct(const struct hf_walk_block *b)
{
	return b->end == HF_WALK_BRANCH || b->end == HF_WALK_JUMP;
}

/* Where the last instruction of b, a taken branch, goes: for its event. False: that is not known. */
static bool find_target(const struct hf_ete_flow *f, const struct hf_ete_resolve *r, const struct hf_walk_block *b,
			uint64_t *ret_target)
{
	struct hf_ete_follow follow;

	if (is_direct(b)) {
		*ret_target = b->target;
		return true;
	}
	if (b->end != HF_WALK_INDIRECT)
		return false;
	hf_ete_resolve_follow(r, &follow);
	if (follow.target)
		*ret_target = follow.target->value;
	else if (follow.pops && f->links.depth)
		*ret_target = hf_return_stack_top(&f->links) & ~UINT64_C(1);
	else
		return false;
	return true;
}

/* The P0 instruction that ends b, b's only one left, at pc. */
static void put_p0(struct hf_ete_flow *f, const struct hf_ete_resolve *r, const struct hf_walk_block *b, bool taken,
		   bool initially, struct hf_ete_out *out)
{
	const struct hf_ete_element *e = front(r);
	struct hf_event *ev = &out->ev[out->n++];
	uint64_t target;

	*ev = b->insn[b->count - 1];
	f->s.age++;
	count_insns(f, 1);
	f->s.fresh = 0;
	f->s.ran = 1;
	f->s.pc = b->next;
	f->s.it = b->next_it;
	if (initially && b->flags & HF_WALK_CALL)
		push_link(f, f->s.pc);
	if (!taken) {
		if (b->isa != HF_ISA_T32 && !(b->flags & HF_WALK_CONDITIONAL))
			emit_misfit(f, HF_EVENT_DOUBT, HF_ERR_ETE_NOT_TAKEN, e->offset, ev->insn.pc);
		return;
	}
	if (find_target(f, r, b, &target)) {
		ev->flags = HF_EVF_TAKEN;
		ev->insn.target = target;
	} else if (b->end == HF_WALK_INDIRECT && b->isa != HF_ISA_A64) {
		ev->flags = HF_EVF_OPEN;
	}
	if (is_direct(b)) {
		f->s.pc = b->target;
		f->s.it = 0;
		set_is(f, b->flags & HF_WALK_TO_T32);
	} else if (b->end == HF_WALK_INDIRECT) {
		f->s.sync = HF_ETE_SYNC_TARGET;
	}
}

/* Where an M core stays that cannot go on (Armv7-M ARM, B1.5.15; Armv8-M ARM, B3.33). */
static bool is_locked_up(const struct hf_ete_flow *f)
{
	return f->config->m && (f->s.pc == 0xfffffffe || f->s.pc == 0xeffffffe);
}

/* The next block of a walk; NULL if it cannot go on, which is told. */
static const struct hf_walk_block *next_block(struct hf_ete_flow *f, const struct hf_ete_element *e)
{
	const struct hf_walk_block *b;

	if (!hf_walk_blocks_have_room(&f->blocks, 1))
		hf_walk_blocks_reset(&f->blocks);
	f->blocks.it = f->s.it;
	b = hf_walk_find(&f->blocks, f->s.pc);
	if (b->count == 0)
		stray(f, e, is_locked_up(f) ? HF_ERR_ETE_LOCKUP : HF_ERR_ETE_NO_IMAGE, f->s.pc);
	else if (f->s.walked >= HF_ETE_WALK_MAX)
		stray(f, e, HF_ERR_ETE_WALK, f->s.pc);
	return f->s.sync == HF_ETE_SYNC_FULL ? b : NULL;
}

/* What all P0 elements begin with. False: nothing can be said of its instructions. */
static bool begin_walk(struct hf_ete_flow *f, const struct hf_ete_element *e)
{
	pop_link(f);
	f->s.walked = 0;
	if (f->s.sync != HF_ETE_SYNC_FULL) {
		skip(f, e);
		return false;
	}
	f->s.step = STEP_WALK;
	return true;
}

static bool run_atom(struct hf_ete_flow *f, const struct hf_ete_resolve *r, struct hf_ete_out *out)
{
	const struct hf_ete_element *e = front(r);

	if (f->s.step == STEP_START && !begin_walk(f, e))
		return true;
	while (out->n < out->max) {
		const struct hf_walk_block *b = next_block(f, e);
		const unsigned plain = b ? b->count - (unsigned)is_ended(b) : 0;

		if (!b)
			return true;
		if (put_run(f, b, plain, UINT64_MAX, out) < plain || (plain < b->count && out->n == out->max))
			return false;
		if (plain < b->count) {
			const bool taken = e->flags & HF_ETE_EL_TAKEN;

			put_p0(f, r, b, taken, e->flags & HF_ETE_EL_INITIAL, out);
			return true;
		}
	}
	return false;
}

/*
 * Walks over everything before address. True: it is there, or before an instruction that the address lies in, or cannot
 * get there, which is told (sync is not FULL).
 */
static bool run_up_to(struct hf_ete_flow *f, const struct hf_ete_element *e, struct hf_ete_out *out)
{
	while (f->s.pc < e->value) {
		const struct hf_walk_block *b;

		if (out->n == out->max)
			return false;
		b = next_block(f, e);
		if (!b)
			return true;
		if (!put_run(f, b, b->count, e->value, out))
			return true;
	}
	return true;
}

/* The branch at this address was taken, those before it were not. */
static bool run_source(struct hf_ete_flow *f, const struct hf_ete_resolve *r, struct hf_ete_out *out)
{
	const struct hf_ete_element *e = front(r);
	const struct hf_walk_block *b;

	if (f->s.step == STEP_START && !begin_walk(f, e))
		return true;
	if (!run_up_to(f, e, out))
		return false;
	if (f->s.sync != HF_ETE_SYNC_FULL)
		return true;
	b = f->s.pc == e->value ? next_block(f, e) : NULL;
	if (f->s.sync != HF_ETE_SYNC_FULL)
		return true;
	if (!b || b->count != 1 || !is_ended(b)) {
		stray(f, e, HF_ERR_ETE_SOURCE_ADDRESS, e->value);
		return true;
	}
	if (out->n == out->max)
		return false;
	put_p0(f, r, b, true, true, out);
	return true;
}

/* ---- exceptions ---- */

/* Exceptions whose address is that of the instruction which did not complete (D4.3), and can be shown. */
static bool is_own_instruction(unsigned type)
{
	static const uint32_t types = 1u << HF_ETE_EXC_TRAP | 1u << HF_ETE_EXC_INST_DEBUG | 1u << HF_ETE_EXC_DATA_DEBUG |
				      1u << HF_ETE_EXC_ALIGNMENT | 1u << HF_ETE_EXC_DATA_FAULT;

	return type == HF_ETE_M_USAGE_FAULT || (type < 32 && types >> type & 1);
}

/* ESR.EC of the call that was executed last, which lies before pc. */
static uint64_t call_class(struct hf_ete_flow *f)
{
	struct hf_event call;
	uint32_t opcode;

	if (f->blocks.isa == HF_ISA_T32)
		return 0x11; /* SVC; HVC and SMC have 4 bytes and are not told apart from two others of 2 */
	opcode = f->s.ran && hf_walk_insn(&f->blocks, f->s.pc - 4, &call) ? call.insn.opcode : 0;
	if (f->blocks.isa == HF_ISA_A64)
		return (opcode & 0xffe0001c) == 0xd4000000 && opcode & 3 ? 0x14 + (opcode & 3) :
									   HF_TRAP_ETE + HF_ETE_EXC_CALL;
	return (opcode & 0x0f000000) == 0x0f000000 ? 0x11 :
	       (opcode & 0x0ff000f0) == 0x01400070 ? 0x12 :
	       (opcode & 0x0ff000f0) == 0x01600070 ? 0x13 :
						     HF_TRAP_ETE + HF_ETE_EXC_CALL;
}

/* The cause of a trap, and whether it is an interrupt. */
static uint64_t cause_of(struct hf_ete_flow *f, unsigned type, bool *ret_interrupt)
{
	static const uint8_t async[32] = {
		[HF_ETE_EXC_SYSTEM_ERROR] = 1, [HF_ETE_EXC_IRQ] = 2, [HF_ETE_EXC_FIQ] = 3, [HF_ETE_EXC_RESET] = 4,
	};

	if (type & HF_ETE_EXC_M)
		return hf_ete_m_cause(type, ret_interrupt);
	*ret_interrupt = async[type & 31];
	if (*ret_interrupt)
		return async[type & 31] - 1u;
	return type == HF_ETE_EXC_CALL && f->s.sync == HF_ETE_SYNC_FULL ? call_class(f) : HF_TRAP_ETE + type;
}

/* Where the flow goes on behind a trap, or a return from one. */
static void set_handler(const struct hf_ete_flow *f, const struct hf_ete_resolve *r, struct hf_event *ev)
{
	struct hf_ete_follow follow;

	hf_ete_resolve_follow(r, &follow);
	if (follow.target) {
		ev->flags |= HF_EVF_HANDLER;
		ev->trap.handler = follow.target->value;
	}
	if (follow.context) {
		ev->flags |= HF_EVF_MODE;
		ev->mode = (uint16_t)mode_of(f, follow.context->info);
	}
}

static void tell_trap(struct hf_ete_flow *f, const struct hf_ete_resolve *r, const struct hf_ete_element *e)
{
	struct hf_ete_follow follow;
	struct hf_event *ev;
	bool interrupt;

	if (e->info == HF_ETE_M_LAZY_FP) {
		tell_marker(f, HF_ETE_MARKER_LAZY_FP, 0, 0);
		return;
	}
	if (e->info == HF_ETE_EXC_DEBUG_HALT || e->info == HF_ETE_M_DEBUG_HALT) {
		/* No handler: who halted the PE lets it go on anywhere. */
		hf_ete_resolve_follow(r, &follow);
		ev = emit(f, HF_EVENT_DISCONTINUITY);
		ev->jump.from = f->s.sync == HF_ETE_SYNC_FULL ? f->s.pc : 0;
		ev->jump.to = follow.target ? follow.target->value : 0;
		return;
	}
	ev = emit(f, HF_EVENT_TRAP);
	ev->trap.cause = cause_of(f, e->info, &interrupt);
	ev->flags = (uint8_t)(HF_EVF_CAUSE | (interrupt ? HF_EVF_ASYNC : 0));
	set_handler(f, r, ev);
}

/* An M core left a handler: its newest instruction did, and the return stack has no part in it. */
static void take_exception_return(struct hf_ete_flow *f, const struct hf_ete_resolve *r)
{
	set_handler(f, r, emit(f, HF_EVENT_TRAP_RETURN));
	if (f->s.sync == HF_ETE_SYNC_TARGET || f->s.sync == HF_ETE_SYNC_FULL)
		f->s.sync = HF_ETE_SYNC_RETURN;
}

/* The instruction at pc began and raised the exception. */
static void tell_attempt(struct hf_ete_flow *f)
{
	struct hf_event attempt;

	if (!hf_walk_insn(&f->blocks, f->s.pc, &attempt))
		return;
	attempt.kind = HF_EVENT_ATTEMPT;
	attempt.it = f->s.it;
	*emit(f, HF_EVENT_ATTEMPT) = attempt;
}

static bool run_exception(struct hf_ete_flow *f, const struct hf_ete_resolve *r, struct hf_ete_out *out)
{
	const struct hf_ete_element *e = front(r);
	struct hf_ete_flow_state *s = &f->s;
	const bool known = e->flags & HF_ETE_EL_KNOWN;

	if (s->step == STEP_START) {
		/* From handler to handler nothing was executed. */
		const bool tail = e->info & HF_ETE_EXC_M && known && e->value == HF_ETE_M_TAIL;

		if (tail || !begin_walk(f, e)) {
			if (s->sync != HF_ETE_SYNC_NONE)
				s->sync = HF_ETE_SYNC_CONTEXT;
			tell_skipped(f);
			tell_trap(f, r, e);
			return true;
		}
		if (known && e->value > s->pc && (e->value - s->pc) / 2 > HF_ETE_WALK_MAX)
			stray(f, e, HF_ERR_ETE_WALK, s->pc);
	}
	if (s->step == STEP_WALK && s->sync == HF_ETE_SYNC_FULL && known && !run_up_to(f, e, out))
		return false;
	if (known) {
		/* Interrupted inside an instruction, which will begin anew or go on. */
		if (s->sync == HF_ETE_SYNC_FULL && s->pc < e->value)
			tell_attempt(f);
		s->it = s->sync == HF_ETE_SYNC_FULL && s->pc == e->value ? s->it : 0;
		s->pc = e->value;
		set_is(f, e->is);
		s->sync = HF_ETE_SYNC_FULL;
		if (is_own_instruction(e->info))
			tell_attempt(f);
	} else {
		s->sync = HF_ETE_SYNC_CONTEXT;
	}
	tell_trap(f, r, e);
	s->fresh = 1;
	return true;
}

/* ---- Q ---- */

/* The last of the counted instructions is a branch: whether it was taken shows where the flow goes on. */
static void put_last_of_q(struct hf_ete_flow *f, const struct hf_ete_resolve *r, const struct hf_walk_block *b,
			  struct hf_ete_out *out)
{
	struct hf_event *ev = &out->ev[out->n];
	struct hf_ete_follow follow;
	uint64_t next;

	put_run(f, b, 1, UINT64_MAX, out);
	next = f->s.pc;
	hf_ete_resolve_follow(r, &follow);
	if (follow.target && (is_direct(b) ? follow.target->value == b->target && b->target != next :
					     b->end == HF_WALK_INDIRECT)) {
		ev->flags = HF_EVF_TAKEN;
		ev->insn.target = follow.target->value;
	} else if (!follow.target && b->end != HF_WALK_STAY && (b->flags & HF_WALK_CONDITIONAL || b->isa == HF_ISA_T32)) {
		ev->flags = HF_EVF_OPEN;
	}
}

/* One block of the n instructions; false: the path is not known any more, which is told. */
static bool run_q_block(struct hf_ete_flow *f, const struct hf_ete_resolve *r, struct hf_ete_out *out)
{
	const struct hf_ete_element *e = front(r);
	const struct hf_walk_block *b = next_block(f, e);
	const unsigned plain = b ? b->count - (unsigned)is_ended(b) : 0;

	if (!b)
		return false;
	if (plain) {
		f->s.left -= put_run(f, b, plain < f->s.left ? plain : f->s.left, UINT64_MAX, out);
	} else if (f->s.left == 1) {
		put_last_of_q(f, r, b, out);
		f->s.left = 0;
	} else if (b->end == HF_WALK_JUMP) {
		put_p0(f, r, b, true, false, out);
		f->s.walked++;
		f->s.left--;
	} else if (b->end == HF_WALK_STAY && !(b->flags & HF_WALK_CONDITIONAL)) {
		f->s.left -= put_run(f, b, 1, UINT64_MAX, out);
	} else {
		stray(f, e, HF_ERR_ETE_Q, f->s.pc);
		return false;
	}
	return true;
}

static bool run_q(struct hf_ete_flow *f, const struct hf_ete_resolve *r, struct hf_ete_out *out)
{
	const struct hf_ete_element *e = front(r);

	if (f->s.step == STEP_START) {
		if (!begin_walk(f, e)) {
			if (f->s.sync == HF_ETE_SYNC_TARGET)
				f->s.sync = HF_ETE_SYNC_CONTEXT;
			return true;
		}
		f->s.left = e->flags & HF_ETE_EL_KNOWN ? e->count : 0;
		if (!(e->flags & HF_ETE_EL_KNOWN))
			emit_loss(f, HF_EVENT_GAP, HF_ERR_ETE_Q, e->offset, 0, f->s.pc);
	}
	while (f->s.left && out->n < out->max)
		if (!run_q_block(f, r, out))
			f->s.left = 0;
	if (f->s.left)
		return false;
	f->s.sync = HF_ETE_SYNC_CONTEXT;
	f->s.fresh = 1;
	return true;
}

/* ---- the rest ---- */

static void take_trace_on(struct hf_ete_flow *f)
{
	struct hf_ete_flow_state *s = &f->s;

	tell_skipped(f);
	if (s->ran) {
		struct hf_event *ev = emit(f, HF_EVENT_DISCONTINUITY);

		ev->flags = HF_EVF_UNTRACED;
		ev->jump.from = s->sync == HF_ETE_SYNC_FULL ? s->pc : 0;
	}
	s->sync = s->sync == HF_ETE_SYNC_NONE || s->sync == HF_ETE_SYNC_ADDRESS ? HF_ETE_SYNC_NONE :
										    HF_ETE_SYNC_CONTEXT;
	hf_return_stack_clear(&f->links);
	s->ran = 0;
}

/* Bytes that are no packet: the damage may be of a packet before them, whose length it changed. */
static bool is_misread(int code)
{
	return code == HF_ERR_ETE_HEADER || code == HF_ERR_ETE_FIELD || code == HF_ERR_ETE_COMMIT;
}

static void take_loss(struct hf_ete_flow *f, const struct hf_ete_element *e)
{
	struct hf_ete_flow_state *s = &f->s;

	tell_skipped(f);
	if (!(e->flags & HF_ETE_EL_SILENT)) {
		emit_loss(f, HF_EVENT_GAP, -(int)e->extra, e->offset, e->value, e->count);
		if (is_misread(-(int)e->extra))
			f->events[f->pending - 1].back = s->unproven;
	} else if (s->ran) {
		emit(f, HF_EVENT_DISCONTINUITY)->jump.from = s->sync == HF_ETE_SYNC_FULL ? s->pc : 0;
	}
	s->sync = HF_ETE_SYNC_NONE;
	hf_return_stack_clear(&f->links);
	s->unproven = 0;
	s->ran = s->marked = 0;
}

static void take_timestamp(struct hf_ete_flow *f, const struct hf_ete_element *e)
{
	struct hf_event *ev = emit(f, HF_EVENT_TIMESTAMP);

	ev->time.value = e->value;
	ev->flags = e->value ? 0 : HF_EVF_NO_TIME;
	if (f->s.marked && f->s.age) {
		ev->flags |= HF_EVF_BACK;
		ev->time.back = f->s.age;
	}
	f->s.marked = 0;
}

static void take_cycles(struct hf_ete_flow *f, const struct hf_ete_element *e)
{
	struct hf_event *ev = emit(f, HF_EVENT_CYCLES);

	if (e->flags & HF_ETE_EL_KNOWN)
		ev->time.value = e->value;
	else
		ev->flags = HF_EVF_NO_TIME;
}

/* Elements without instructions. */
static void take(struct hf_ete_flow *f, const struct hf_ete_element *e)
{
	switch (e->kind) {
	case HF_ETE_EL_TRANSACTION_START:
		tell_marker(f, HF_ETE_MARKER_TRANSACTION, 0, 0);
		if (e->flags & HF_ETE_EL_DOUBT)
			emit_loss(f, HF_EVENT_DOUBT, HF_ERR_ETE_TRANSACTION, e->offset, 0, 0);
		break;
	case HF_ETE_EL_TRANSACTION_COMMIT: tell_marker(f, HF_ETE_MARKER_TRANSACTION, 1, 0); break;
	case HF_ETE_EL_TRANSACTION_FAILURE:
		tell_marker(f, HF_ETE_MARKER_TRANSACTION, 2, 0);
		f->s.fresh = 1;
		break;
	case HF_ETE_EL_TARGET: take_target(f, e); break;
	case HF_ETE_EL_CONTEXT: take_context(f, e); break;
	case HF_ETE_EL_TRACE_ON: take_trace_on(f); break;
	case HF_ETE_EL_TRACE_INFO:
		pop_link(f);
		hf_return_stack_clear(&f->links);
		f->s.missing = 3;
		break;
	case HF_ETE_EL_TIMESTAMP: take_timestamp(f, e); break;
	case HF_ETE_EL_MARKER:
		f->s.marked = 1;
		f->s.age = 0;
		break;
	case HF_ETE_EL_CYCLES:
		take_cycles(f, e);
		break;
	case HF_ETE_EL_EVENT: tell_marker(f, HF_ETE_MARKER_EVENT, e->info, 0); break;
	case HF_ETE_EL_INSTRUMENTATION: tell_marker(f, HF_ETE_MARKER_INSTRUMENTATION, e->info, e->value); break;
	case HF_ETE_EL_LOSS: take_loss(f, e); break;
	case HF_ETE_EL_PART: take_part(f, e); break;
	case HF_ETE_EL_NOTE:
		emit_loss(f, e->flags & HF_ETE_EL_DOUBT ? HF_EVENT_DOUBT : HF_EVENT_NOTE, -(int)e->extra, e->offset,
			  e->value, e->count);
		break;
	default: break;
	}
}

bool hf_ete_flow_run(struct hf_ete_flow *f, const struct hf_ete_resolve *r, struct hf_ete_out *out)
{
	const struct hf_ete_element *e = front(r);
	bool done = true;

	if (!hf_ete_flow_drain(f, out))
		return false;
	switch (e->kind) {
	case HF_ETE_EL_ATOM: done = run_atom(f, r, out); break;
	case HF_ETE_EL_EXCEPTION: done = run_exception(f, r, out); break;
	case HF_ETE_EL_SOURCE: done = run_source(f, r, out); break;
	case HF_ETE_EL_Q: done = run_q(f, r, out); break;
	case HF_ETE_EL_EXCEPTION_RETURN:
		if (f->config->m)
			take_exception_return(f, r);
		break;
	default: take(f, e); break;
	}
	if (done)
		f->s.step = STEP_START;
	return done;
}

void hf_ete_flow_end(struct hf_ete_flow *f)
{
	tell_skipped(f);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* One record to its events, and what is wrong with it by the rules of its trace level (ASTF 3 and 4). */
#include "codecs/astf/decoder.h"
#include "codecs/astf/errors.h"
#include "codecs/base/errors.h"
#include "codecs/isa/arm.h"

/* ESR_ELx.EC of aborts and alignment faults that leave no instruction, and the first data abort's. */
enum { EC_SVC = 0x15, EC_SMC = 0x17, EC_FETCH = 0x20, EC_FETCH_SAME = 0x21, EC_PC = 0x22 };

static struct hf_event *push(struct hf_astf_step *s, enum hf_event_kind kind)
{
	struct hf_event *ev = &s->ev[s->n++];

	*ev = (struct hf_event){.kind = (uint8_t)kind};
	return ev;
}

static void push_loss(struct hf_astf_step *s, enum hf_event_kind kind, int code, uint64_t bytes, uint64_t detail)
{
	struct hf_event *ev = push(s, kind);

	ev->code = (uint16_t)-code;
	ev->loss = (struct hf_ev_loss){.offset = s->now->offset, .bytes = bytes, .detail = detail};
}

static void note(struct hf_astf_step *s, int code, uint64_t detail)
{
	push_loss(s, HF_EVENT_NOTE, code, 0, detail);
}

static void note_once(struct hf_astf_step *s, uint32_t bit, int code, uint64_t detail)
{
	if (!(s->now->noted & bit))
		note(s, code, detail);
	s->now->noted |= bit;
}

static void note_reserved(struct hf_astf_step *s, uint8_t type)
{
	const unsigned number = (type & 0xfu) + (type & 0x40 ? 8 : 0);

	note_once(s, (uint32_t)HF_ASTF_NOTED_RESERVED << number, HF_ERR_ASTF_RESERVED, type);
}

/* The record as bytes that no other view can carry. */
static void push_opaque(struct hf_astf_step *s)
{
	struct hf_event *ev = push(s, HF_EVENT_OPAQUE);

	ev->size = HF_ASTF_SIZE;
	ev->text.offset = s->now->offset;
	for (unsigned at = 0; at < HF_ASTF_SIZE; at += ev->used) {
		ev = push(s, HF_EVENT_DATA);
		ev->used = at == 0 ? sizeof ev->data.bytes : HF_ASTF_SIZE - sizeof ev->data.bytes;
		memcpy(ev->data.bytes, s->p + at, ev->used);
	}
}

/* The i-th record behind this one, if it is in the window. */
static bool peek(const struct hf_astf_step *s, unsigned i, struct hf_astf_record *ret_rec)
{
	if (s->have < (i + 1) * (size_t)HF_ASTF_SIZE)
		return false;
	hf_astf_load(ret_rec, s->p + i * (size_t)HF_ASTF_SIZE);
	return true;
}

/* ---- accesses ---- */

/*
 * Whether a size of 0 means just that: prefetches and system instructions (cache and TLB maintenance, address
 * translation; ASTF 4.5.2). SVE prefetches have sizes.
 */
static bool is_special(uint32_t opcode)
{
	return (opcode & 0xfff80000) == 0xd5080000 || (opcode & 0xffc00000) == 0xf9800000 ||
	       (opcode & 0xff000000) == 0xd8000000 || (opcode & 0xffe00c00) == 0xf8a00800 ||
	       (opcode & 0xffe00c00) == 0xf8800000;
}

static void push_mem(struct hf_astf_step *s, uint64_t address, uint32_t size, unsigned direction, bool tagged)
{
	struct hf_event *ev = push(s, HF_EVENT_MEM);

	ev->flags = (uint8_t)direction;
	ev->mem.address = address;
	ev->mem.size = size;
	ev->mem.attr = tagged ? HF_ARM_ATTR_CHECKED : 0;
	if (s->now->flags & HF_ASTF_ATTEMPT)
		s->now->fault = direction ? 0 : address;
}

static void push_range(struct hf_astf_step *s, uint64_t address, uint64_t size, unsigned direction, bool tagged)
{
	push_mem(s, address, size < UINT32_MAX ? (uint32_t)size : UINT32_MAX, direction, tagged);
	s->ev[s->n - 1].mem.attr |= HF_ARM_ATTR_RANGE;
	if (size > UINT32_MAX)
		note(s, HF_ERR_ASTF_RANGE, 0);
}

static void push_access(struct hf_astf_step *s, const struct hf_astf_record *rec)
{
	const unsigned direction = rec->word[0] >> 20 & (HF_EVF_READ | HF_EVF_WRITE);
	const uint32_t size = (uint32_t)HF_ASTF_GET(rec, INSTR, ea_size);
	const uint64_t ea = HF_ASTF_GET(rec, INSTR, ea);
	const bool tagged = HF_ASTF_GET(rec, INSTR, ea_tagged);

	if (HF_ASTF_GET(rec, INSTR, xattr_mode) == HF_ASTF_XATTR_RANGE)
		push_range(s, ea, HF_ASTF_GET(rec, INSTR, xattr), direction, tagged);
	else if (!direction && !size && is_special((uint32_t)HF_ASTF_GET(rec, INSTR, iword)))
		push_mem(s, ea, 0, 0, tagged);
	else
		push_mem(s, ea, size + 1, direction, tagged);
}

static_assert(HF_EVF_READ == 1 && HF_EVF_WRITE == 2, "is_read and is_write stand so in the records");

static void step_extra(struct hf_astf_step *s, const struct hf_astf_record *rec)
{
	const unsigned direction = rec->word[0] >> 22 & 3, direction1 = rec->word[2] >> 22 & 3;
	const uint64_t address = HF_ASTF_GET(rec, EXTRA_EA, mem0_addr);
	const bool tagged = HF_ASTF_GET(rec, EXTRA_EA, mem0_tagged);

	if (!(s->now->flags & HF_ASTF_CHAIN)) {
		note(s, HF_ERR_ASTF_ORPHAN, HF_ASTF_EXTRA_EA);
		push_opaque(s);
		return;
	}
	if (HF_ASTF_GET(rec, EXTRA_EA, mem1_addr_range))
		push_range(s, address, HF_ASTF_GET(rec, EXTRA_EA, mem1_addr), direction, tagged);
	else
		push_mem(s, address, (uint32_t)HF_ASTF_GET(rec, EXTRA_EA, mem0_size) + 1, direction, tagged);
	if (HF_ASTF_GET(rec, EXTRA_EA, mem1_valid) && !HF_ASTF_GET(rec, EXTRA_EA, mem1_addr_range))
		push_mem(s, HF_ASTF_GET(rec, EXTRA_EA, mem1_addr), (uint32_t)HF_ASTF_GET(rec, EXTRA_EA, mem1_size) + 1,
			 direction1, HF_ASTF_GET(rec, EXTRA_EA, mem1_tagged));
	if (!HF_ASTF_GET(rec, EXTRA_EA, extra_eas))
		s->now->flags &= ~(uint32_t)HF_ASTF_CHAIN;
}

/* ---- instructions ---- */

static bool is_call(uint64_t ec)
{
	return (ec >= 0x11 && ec <= 0x13) || (ec >= EC_SVC && ec <= EC_SMC);
}

/*
 * An instruction with the trap flag did not retire, except a system call that was taken as one: not if the Trap record
 * behind it has another cause (HVC where it is undefined).
 */
static bool retires(const struct hf_astf_step *s, uint32_t opcode)
{
	const uint32_t call = opcode & 0xffe0001f;
	struct hf_astf_record trap;

	if (call < 0xd4000001 || call > 0xd4000003)
		return false;
	if (!peek(s, 1, &trap) || hf_astf_type(&trap) != HF_ASTF_TRAP ||
	    HF_ASTF_GET(&trap, TRAP, trap_type) != HF_ASTF_TRAP_SYNC)
		return true;
	return HF_ASTF_GET(&trap, TRAP, syscall_type) || is_call(HF_ASTF_GET(&trap, TRAP, ec));
}

/* Before the instruction: what the records until here owe, and whether the flow is continuous. */
static void check_insn(struct hf_astf_step *s, uint64_t pc)
{
	struct hf_astf_sync *now = s->now;
	const bool jump = (now->flags & HF_ASTF_EXPECT) && pc != now->expected;

	if (!(now->flags & HF_ASTF_CONTEXT_SEEN))
		note_once(s, HF_ASTF_NOTED_CONTEXT, HF_ERR_ASTF_NO_CONTEXT, 0);
	if (now->flags & HF_ASTF_DUE)
		note_once(s, HF_ASTF_NOTED_TRAP, HF_ERR_ASTF_NO_TRAP, 0);
	if (now->state & HF_STATE_ABSENT)
		note_once(s, HF_ASTF_NOTED_LEVEL, HF_ERR_ASTF_LEVEL, HF_ASTF_INSTR);
	/* Basic traces may go on anywhere behind a Context record (3.1), BasicPlus ones nowhere (3.2). */
	if (jump && !(s->d->basic && now->flags & HF_ASTF_FRESH))
		note_once(s, HF_ASTF_NOTED_JUMP, HF_ERR_ASTF_JUMP, 0);
	if (jump)
		push(s, HF_EVENT_DISCONTINUITY)->jump = (struct hf_ev_jump){.from = now->expected, .to = pc};
}

/* Whether the opcode of an instruction that did not trap leads elsewhere than to target, where the record says it went. */
static inline bool contradicts(uint64_t pc, uint32_t opcode, unsigned flow, uint64_t target, bool taken)
{
	unsigned isa;
	uint64_t leads;

	return flow != HF_FLOW_PLAIN && (taken || flow != HF_FLOW_BRANCH) &&
	       hf_arm_target(opcode, 4, HF_ISA_A64, pc, &leads, &isa) && leads != target;
}

static void push_sme(struct hf_astf_step *s, const struct hf_astf_record *rec)
{
	struct hf_event *ev = push(s, HF_EVENT_REG);

	ev->reg = (struct hf_ev_reg){
		.value = HF_ASTF_GET(rec, INSTR, xattr) & 0xff, .class = HF_REG_ZA_INDEX, .role = HF_REG_STATE};
}

static inline void step_insn(struct hf_astf_step *s, const struct hf_astf_record *rec)
{
	struct hf_astf_sync *now = s->now;
	const uint64_t pc = HF_ASTF_GET(rec, INSTR, pc);
	const uint32_t opcode = (uint32_t)HF_ASTF_GET(rec, INSTR, iword);
	const bool trap = HF_ASTF_GET(rec, INSTR, trap);
	const bool attempt = trap && !retires(s, opcode);
	const bool branch = HF_ASTF_GET(rec, INSTR, is_branch), valid = HF_ASTF_GET(rec, INSTR, ea_valid);
	const bool taken = branch && valid;
	const uint64_t target = taken ? HF_ASTF_GET(rec, INSTR, ea) : pc + 4;
	const uint8_t flow = hf_arm_classify(opcode, 4, HF_ISA_A64).flow;
	struct hf_event *ev;

	if (pc != now->expected || (now->state & HF_STATE_ABSENT) ||
	    (now->flags & (HF_ASTF_CONTEXT_SEEN | HF_ASTF_EXPECT | HF_ASTF_DUE)) !=
		    (HF_ASTF_CONTEXT_SEEN | HF_ASTF_EXPECT))
		check_insn(s, pc);
	if (pc & 3)
		push_loss(s, HF_EVENT_DOUBT, HF_ERR_ASTF_ODD, 0, 0);
	if (!trap && contradicts(pc, opcode, flow, target, taken))
		push_loss(s, HF_EVENT_DOUBT, HF_ERR_ASTF_LEADS, 0, target);
	ev = push(s, attempt ? HF_EVENT_ATTEMPT : HF_EVENT_INSN);
	ev->insn = (struct hf_ev_insn){.pc = pc, .opcode = opcode, .size = 4, .isa = HF_ISA_A64, .mode = now->mode};
	ev->insn.flow = flow;
	now->expected = pc + 4;
	if (attempt) {
		ev->flags = HF_EVF_RECORD;
		ev->insn.record = now->index;
	} else if (taken) {
		ev->flags = HF_EVF_TAKEN;
		now->expected = ev->insn.target = target;
	}
	now->index++;
	now->fault = 0;
	now->flags &= ~(uint32_t)(HF_ASTF_DUE | HF_ASTF_FRESH | HF_ASTF_ATTEMPT);
	now->flags |= HF_ASTF_EXPECT | (trap ? HF_ASTF_DUE : 0) | (attempt ? HF_ASTF_ATTEMPT : 0) |
		      (HF_ASTF_GET(rec, INSTR, extra_eas) ? HF_ASTF_CHAIN : 0);
	if (valid && !branch)
		push_access(s, rec);
	if (HF_ASTF_GET(rec, INSTR, xattr_mode) == HF_ASTF_XATTR_SME)
		push_sme(s, rec);
}

/* ---- traps ---- */

/*
 * The mode behind this trap: of the Context record that belongs to it, the next record, a Timestamp aside. Where there
 * is none the mode is what it was (ASTF 4.4).
 */
static void look_for_mode(struct hf_astf_step *s, struct hf_event *ev)
{
	struct hf_astf_record rec;

	if (!(s->now->flags & HF_ASTF_CONTEXT_SEEN))
		return;
	if (peek(s, 1, &rec) && (hf_astf_type(&rec) != HF_ASTF_TIMESTAMP || peek(s, 2, &rec)) &&
	    hf_astf_type(&rec) == HF_ASTF_CONTEXT)
		s->now->mode = hf_astf_mode(&rec);
	ev->flags |= HF_EVF_MODE;
	ev->mode = s->now->mode;
}

static void find_value(const struct hf_astf_step *s, const struct hf_astf_record *rec, struct hf_event *ev)
{
	const uint64_t ec = HF_ASTF_GET(rec, TRAP, ec);

	ev->flags |= HF_EVF_VALUE;
	if (HF_ASTF_GET(rec, TRAP, syscall_type) || is_call(ec))
		ev->trap.value = HF_ASTF_GET(rec, TRAP, syscall_index);
	/* what could not be fetched is what would have been next */
	else if (ec >= EC_FETCH && ec <= EC_PC && (s->now->flags & (HF_ASTF_ATTEMPT | HF_ASTF_EXPECT)) == HF_ASTF_EXPECT)
		ev->trap.value = s->now->expected;
	else if ((s->now->flags & HF_ASTF_ATTEMPT) && s->now->fault)
		ev->trap.value = s->now->fault;
	else
		ev->flags &= (uint8_t)~HF_EVF_VALUE;
}

static void push_trap(struct hf_astf_step *s, const struct hf_astf_record *rec)
{
	const unsigned type = (unsigned)HF_ASTF_GET(rec, TRAP, trap_type);
	/* SError, IRQ, FIQ, reset */
	static const uint8_t causes[8] = {[HF_ASTF_TRAP_SERROR] = 0, [HF_ASTF_TRAP_IRQ] = 1, [HF_ASTF_TRAP_FIQ] = 2,
					  [HF_ASTF_TRAP_RESET] = 3};
	struct hf_event *ev = push(s, HF_EVENT_TRAP);

	ev->flags = HF_EVF_HANDLER | (HF_ASTF_GET(rec, TRAP, is_virtual) ? HF_EVF_VIRTUAL : 0);
	ev->trap.handler = HF_ASTF_GET(rec, TRAP, target_pc);
	if (type == HF_ASTF_TRAP_SYNC) {
		ev->flags |= HF_EVF_CAUSE;
		ev->trap.cause = HF_ASTF_GET(rec, TRAP, ec);
		find_value(s, rec, ev);
	} else if (type <= HF_ASTF_TRAP_RESET) {
		ev->flags |= HF_EVF_CAUSE | HF_EVF_ASYNC;
		ev->trap.cause = causes[type];
	}
	look_for_mode(s, ev);
}

static void step_trap(struct hf_astf_step *s, const struct hf_astf_record *rec)
{
	struct hf_astf_sync *now = s->now;
	const unsigned type = (unsigned)HF_ASTF_GET(rec, TRAP, trap_type);

	if (s->d->basic)
		note_once(s, HF_ASTF_NOTED_LEVEL, HF_ERR_ASTF_LEVEL, HF_ASTF_TRAP);
	if (type > HF_ASTF_TRAP_RESET)
		note_reserved(s, HF_ASTF_TRAP);
	if (type == HF_ASTF_TRAP_RETURN) {
		struct hf_event *ev = push(s, HF_EVENT_TRAP_RETURN);

		ev->flags = HF_EVF_HANDLER;
		ev->trap.handler = HF_ASTF_GET(rec, TRAP, target_pc);
		look_for_mode(s, ev);
	} else {
		push_trap(s, rec);
	}
	now->expected = HF_ASTF_GET(rec, TRAP, target_pc);
	now->flags |= HF_ASTF_EXPECT;
	now->flags &= ~(uint32_t)(HF_ASTF_DUE | HF_ASTF_ATTEMPT);
	now->fault = 0;
}

/* ---- what stands on its own ---- */

static uint16_t context_state(const struct hf_astf_record *rec)
{
	return (uint16_t)((HF_ASTF_GET(rec, CONTEXT, pstate_sm) ? HF_STATE_SM : 0) |
			  (HF_ASTF_GET(rec, CONTEXT, pstate_dit) ? HF_STATE_DIT : 0) |
			  (HF_ASTF_GET(rec, CONTEXT, pstate_ssbs) ? HF_STATE_SSBS : 0) |
			  HF_ASTF_GET(rec, CONTEXT, mte_tcf) << 3 |
			  (HF_ASTF_GET(rec, CONTEXT, secure) ? HF_STATE_SECURE : 0) |
			  (HF_ASTF_GET(rec, CONTEXT, pid_valid) ? 0 : HF_STATE_NO_PID) |
			  (HF_ASTF_GET(rec, CONTEXT, tid_valid) ? 0 : HF_STATE_NO_TID) |
			  (HF_ASTF_GET(rec, CONTEXT, unsupported) ? HF_STATE_ABSENT : 0));
}

/* What ASTF 3.1 and 4.4 forbid. */
static void check_context(struct hf_astf_step *s, const struct hf_astf_record *rec)
{
	const struct hf_astf_sync *now = s->now;
	const bool moved = (now->flags & HF_ASTF_CONTEXT_SEEN) && now->mode != hf_astf_mode(rec);

	if (s->d->basic && (moved || HF_ASTF_GET(rec, CONTEXT, unsupported)))
		note_once(s, HF_ASTF_NOTED_LEVEL, HF_ERR_ASTF_LEVEL, HF_ASTF_CONTEXT);
	if (HF_ASTF_GET(rec, CONTEXT, tid_valid) && !HF_ASTF_GET(rec, CONTEXT, pid_valid))
		note_reserved(s, HF_ASTF_CONTEXT);
}

/* The fields of a CONTEXT event for what holds now, the mode aside. */
static void fill_context(const struct hf_astf_sync *now, struct hf_event *ev)
{
	ev->state = now->state;
	ev->fields |= HF_CONTEXT_STATE | (now->flags & HF_ASTF_PID ? HF_CONTEXT_PID : 0) |
		      (now->flags & HF_ASTF_TID ? HF_CONTEXT_TID : 0);
	ev->context.pid = now->flags & HF_ASTF_PID ? now->pid : 0;
	ev->context.tid = now->flags & HF_ASTF_TID ? now->tid : 0;
	ev->context.vlen = (uint16_t)(16 * (now->evl + 1));
	ev->context.mode = now->mode;
}

static void note_wide(struct hf_astf_step *s, bool valid, uint64_t id)
{
	if (valid && id > UINT32_MAX)
		note(s, HF_ERR_CONTEXT_WIDE, id);
}

static void step_context(struct hf_astf_step *s, const struct hf_astf_record *rec)
{
	struct hf_astf_sync *now = s->now;
	const bool changed = !(now->flags & HF_ASTF_CONTEXT_SEEN) || now->mode != hf_astf_mode(rec);
	const uint8_t evl = (uint8_t)HF_ASTF_GET(rec, CONTEXT, evl);
	struct hf_event *ev;

	check_context(s, rec);
	ev = push(s, HF_EVENT_CONTEXT);
	ev->fields = (changed ? HF_CONTEXT_MODE : 0) | (evl != now->evl ? HF_CONTEXT_VLEN : 0);
	now->flags &= ~(uint32_t)(HF_ASTF_PID | HF_ASTF_TID | (s->d->basic ? HF_ASTF_DUE : 0));
	now->flags |= HF_ASTF_CONTEXT_SEEN | HF_ASTF_FRESH |
		      (HF_ASTF_GET(rec, CONTEXT, pid_valid) ? HF_ASTF_PID : 0) |
		      (HF_ASTF_GET(rec, CONTEXT, tid_valid) ? HF_ASTF_TID : 0);
	now->mode = hf_astf_mode(rec);
	now->evl = evl;
	now->pid = (uint32_t)HF_ASTF_GET(rec, CONTEXT, pid);
	now->tid = (uint32_t)HF_ASTF_GET(rec, CONTEXT, tid);
	now->state = context_state(rec);
	fill_context(now, ev);
	note_wide(s, now->flags & HF_ASTF_PID, HF_ASTF_GET(rec, CONTEXT, pid));
	note_wide(s, now->flags & HF_ASTF_TID, HF_ASTF_GET(rec, CONTEXT, tid));
	if (now->state & HF_STATE_ABSENT) {
		push_loss(s, HF_EVENT_GAP, HF_ERR_ASTF_ABSENT, 0, 0);
		now->flags &= ~(uint32_t)HF_ASTF_EXPECT;
	}
}

static void step_timestamp(struct hf_astf_step *s, const struct hf_astf_record *rec)
{
	struct hf_astf_sync *now = s->now;
	const uint64_t value = HF_ASTF_GET(rec, TIMESTAMP, value0);

	if (HF_ASTF_GET(rec, TIMESTAMP, unit) != 1 || HF_ASTF_GET(rec, TIMESTAMP, value1))
		note_reserved(s, HF_ASTF_TIMESTAMP);
	if (!s->d->timestamps || value == UINT64_MAX || ((now->flags & HF_ASTF_TIMED) && value <= now->time))
		note_once(s, HF_ASTF_NOTED_TIME, HF_ERR_ASTF_TIME, 0);
	push(s, HF_EVENT_TIMESTAMP)->time.value = value;
	now->time = value;
	now->flags |= HF_ASTF_TIMED;
}

/* The records that follow are its bytes, as many as are there. */
static void step_string(struct hf_astf_step *s, const struct hf_astf_record *rec)
{
	uint32_t size = (uint32_t)HF_ASTF_GET(rec, STRING, size);
	const uint32_t records = hf_astf_string_records(size);
	uint32_t there = 1;
	struct hf_event *ev;

	while (there < records && s->have >= (there + 1) * (size_t)HF_ASTF_SIZE &&
	       s->p[there * (size_t)HF_ASTF_SIZE] == HF_ASTF_STRING_CONT)
		there++;
	if (there < records) {
		note(s, HF_ERR_ASTF_STRING_CUT, 0);
		size = HF_ASTF_STRING_FIRST + (there - 1) * HF_ASTF_STRING_NEXT;
	}
	ev = push(s, HF_EVENT_TEXT);
	ev->size = size;
	ev->text.offset = s->now->offset;
	s->d->text = size;
	s->now->offset += (there - 1) * (uint64_t)HF_ASTF_SIZE;
}

/* ---- steps ---- */

/* Before the first record: what the header has that is not defined. */
static void begin_stream(struct hf_astf_step *s)
{
	const struct hf_astf_record *h = s->d->dec.stream->info.header;
	const uint64_t minor = HF_ASTF_GET(h, HEADER, version_minor), at = s->now->offset;

	s->now->flags |= HF_ASTF_BEGUN;
	s->now->offset = 0;
	if (minor != 10 && minor != 11)
		note(s, HF_ERR_ASTF_MINOR, minor);
	if (hf_astf_has_reserved(h) || HF_ASTF_GET(h, HEADER, use_zlib) || (h->word[2] & 0x1f))
		note_reserved(s, HF_ASTF_HEADER);
	s->now->offset = at;
}

static void step_other(struct hf_astf_step *s, const struct hf_astf_record *rec)
{
	switch (hf_astf_type(rec)) {
	case HF_ASTF_TRAP:
		step_trap(s, rec);
		break;
	case HF_ASTF_CONTEXT:
		step_context(s, rec);
		break;
	case HF_ASTF_TIMESTAMP:
		step_timestamp(s, rec);
		break;
	case HF_ASTF_STRING:
		step_string(s, rec);
		break;
	case HF_ASTF_HEADER:
	case HF_ASTF_STRING_CONT:
		note(s, HF_ERR_ASTF_ORPHAN, hf_astf_type(rec));
		push_opaque(s);
		break;
	default:
		note(s, HF_ERR_ASTF_TYPE, hf_astf_type(rec));
		push_opaque(s);
	}
}

/* The Extra EA records that the last instruction announced do not come. */
static void break_chain(struct hf_astf_step *s)
{
	if (s->now->flags & HF_ASTF_CHAIN)
		note(s, HF_ERR_ASTF_CHAIN_CUT, 0);
	s->now->flags &= ~(uint32_t)HF_ASTF_CHAIN;
}

void hf_astf_step(struct hf_astf_step *s)
{
	struct hf_astf_record rec;

	hf_astf_load(&rec, s->p);
	if (!(s->now->flags & HF_ASTF_BEGUN))
		begin_stream(s);
	if (hf_astf_has_reserved(&rec))
		note_reserved(s, hf_astf_type(&rec));
	if (hf_astf_type(&rec) == HF_ASTF_EXTRA_EA) {
		step_extra(s, &rec);
	} else {
		if (s->now->flags & HF_ASTF_CHAIN)
			break_chain(s);
		if (hf_astf_type(&rec) == HF_ASTF_INSTR)
			step_insn(s, &rec);
		else
			step_other(s, &rec);
	}
	s->now->offset += HF_ASTF_SIZE;
}

/*
 * Instructions that are nothing but that, one after another: without trap flag, extra accesses, attributes or reserved
 * bits, where the flow is expected. Stops in front of any other record.
 */
static const uint8_t *run_plain(struct hf_astf_sync *now, const uint8_t *p, const uint8_t *end, struct hf_event **to,
				const struct hf_event *stop)
{
	const uint64_t unusual = UINT64_C(0x1fc00) | 1 << 18 | 1 << 23 | 0x300 | 0xff;
	const uint32_t flags = HF_ASTF_CONTEXT_SEEN | HF_ASTF_EXPECT | HF_ASTF_DUE | HF_ASTF_CHAIN;
	const uint8_t *const begin = p, mode = now->mode;
	struct hf_event *ev = *to;
	uint64_t expected = now->expected;

	if ((now->flags & flags) != (HF_ASTF_CONTEXT_SEEN | HF_ASTF_EXPECT) || (now->state & HF_STATE_ABSENT))
		return p;
	while (p < end && ev + 2 <= stop) {
		const uint64_t head = hf_get64(p), pc = hf_get64(p + 8), ea = hf_get64(p + 16);
		const uint32_t opcode = (uint32_t)(head >> 32), size = head >> 24 & 0xff;
		const unsigned direction = head >> 20 & (HF_EVF_READ | HF_EVF_WRITE);
		const bool valid = head >> 22 & 1, branch = head >> 19 & 1, taken = valid && branch;
		const uint8_t flow = hf_arm_classify(opcode, 4, HF_ISA_A64).flow;

		if ((head & unusual) != HF_ASTF_INSTR || hf_get64(p + 24) || pc != expected || pc & 3 ||
		    contradicts(pc, opcode, flow, taken ? ea : pc + 4, taken))
			break;
		*ev = (struct hf_event){.kind = HF_EVENT_INSN, .flags = taken ? HF_EVF_TAKEN : 0};
		ev->insn = (struct hf_ev_insn){.pc = pc,
					       .target = taken ? ea : 0,
					       .opcode = opcode,
					       .size = 4,
					       .isa = HF_ISA_A64,
					       .flow = flow,
					       .mode = mode};
		expected = taken ? ea : pc + 4;
		ev++;
		if (valid && !branch) {
			*ev = (struct hf_event){.kind = HF_EVENT_MEM, .flags = (uint8_t)direction};
			ev->mem.address = ea;
			ev->mem.size = direction || size || !is_special(opcode) ? size + 1 : 0;
			ev->mem.attr = head >> 17 & 1 ? HF_ARM_ATTR_CHECKED : 0;
			ev++;
		}
		p += HF_ASTF_SIZE;
	}
	if (p == begin)
		return p;
	now->expected = expected;
	now->index += (uint64_t)(p - begin) / HF_ASTF_SIZE;
	now->offset += (uint64_t)(p - begin);
	now->flags &= ~(uint32_t)(HF_ASTF_FRESH | HF_ASTF_ATTEMPT);
	now->fault = 0;
	*to = ev;
	return p;
}

void hf_astf_run(struct hf_astf_dec *d, const uint8_t *p, size_t have, struct hf_event *ev, size_t max, size_t *n)
{
	const uint8_t *const end = p + have;

	while (max - *n >= HF_ASTF_STEP_MAX && (size_t)(end - p) >= HF_ASTF_LOOK) {
		struct hf_event *to = ev + *n;
		const uint8_t *behind = run_plain(&d->now, p, end - HF_ASTF_LOOK + 1, &to, ev + max);

		*n = (size_t)(to - ev);
		if (behind == p) {
			struct hf_astf_step s = {.d = d, .now = &d->now, .p = p, .have = (size_t)(end - p), .ev = to};

			if (*p == HF_ASTF_STRING)
				break;
			hf_astf_step(&s);
			*n += s.n;
			behind = p + HF_ASTF_SIZE;
		}
		p = behind;
	}
}

void hf_astf_step_end(struct hf_astf_step *s)
{
	const struct hf_reader *r = &s->d->reader;

	if (!(s->now->flags & HF_ASTF_BEGUN))
		begin_stream(s);
	break_chain(s);
	/* Basic traces want their Context before the next instruction, and there is none (4.5.3.1). */
	if ((s->now->flags & HF_ASTF_DUE) && !s->d->basic)
		note_once(s, HF_ASTF_NOTED_TRAP, HF_ERR_ASTF_NO_TRAP, 0);
	if (r->err)
		push_loss(s, HF_EVENT_GAP, r->err, s->have, r->diag.detail);
	else if (s->have)
		push_loss(s, HF_EVENT_GAP, HF_ERR_ASTF_CUT, s->have, 0);
}

void hf_astf_begin(const struct hf_astf_sync *now, struct hf_event *ret_context, uint64_t *ret_record)
{
	if (now->flags & HF_ASTF_CONTEXT_SEEN) {
		fill_context(now, ret_context);
		ret_context->fields |= now->evl ? HF_CONTEXT_VLEN : 0;
	}
	*ret_record = now->index - 1;
}

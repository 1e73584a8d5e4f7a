/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/rvrun.h"

#include "codecs/base/bytes.h"
#include "codecs/isa/riscv.h"
#include "codecs/ntrace/errors.h"
#include "tests/lib/rvasm.h"

#define INSNS_MAX 600

struct maker {
	struct hf_run *run;
	unsigned flags;
	uint64_t seed;
	uint64_t pc[INSNS_MAX]; /* of each instruction */
	uint8_t kind[INSNS_MAX], size[INSNS_MAX];
	size_t count;
	uint64_t stack[64];
	unsigned depth;
	uint8_t mode;
	uint64_t time;
	size_t made; /* instructions of the run */
};

/* What an instruction of the program is. */
enum kind {
	KIND_PLAIN, KIND_C_PLAIN, KIND_BRANCH, KIND_C_BRANCH, KIND_JUMP, KIND_C_JUMP, KIND_CALL, KIND_CALL5, KIND_RETURN,
	KIND_C_RETURN, KIND_SWAP, KIND_INDIRECT, KIND_INDIRECT_CALL, KIND_C_INDIRECT, KIND_LUI, KIND_AUIPC, KIND_SET_JUMP,
	KIND_SET_CALL, KIND_ECALL, KIND_MRET, KIND_CUSTOM, KIND_PUSH, KIND_POPRET, KIND_JT, KIND_JALT,
};

static uint32_t pick(struct maker *m, uint32_t n)
{
	return hf_rand_next(&m->seed) % n;
}

/* ---- the program ---- */

static bool is_narrow(unsigned kind)
{
	return kind == KIND_C_PLAIN || kind == KIND_C_BRANCH || kind == KIND_C_JUMP || kind == KIND_C_RETURN ||
	       kind == KIND_C_INDIRECT || kind >= KIND_PUSH;
}

static void lay_out(struct maker *m)
{
	static const uint8_t kinds[] = {
		KIND_PLAIN, KIND_PLAIN, KIND_PLAIN, KIND_C_PLAIN, KIND_C_PLAIN, KIND_C_PLAIN, KIND_BRANCH, KIND_BRANCH,
		KIND_BRANCH, KIND_C_BRANCH, KIND_C_BRANCH, KIND_JUMP, KIND_C_JUMP, KIND_CALL, KIND_CALL, KIND_CALL5,
		KIND_RETURN, KIND_C_RETURN, KIND_SWAP, KIND_INDIRECT, KIND_INDIRECT_CALL, KIND_C_INDIRECT, KIND_LUI, KIND_LUI,
		KIND_AUIPC, KIND_ECALL, KIND_MRET, KIND_CUSTOM,
	};
	uint64_t pc = m->run->base;

	while (m->count < INSNS_MAX - 2 && pc - m->run->base < HF_RUN_CODE_MAX - 16) {
		uint8_t kind = kinds[pick(m, sizeof kinds)];

		if (m->flags & HF_RUN_CODE_SIZE && pick(m, 4) == 0)
			kind = (uint8_t)(KIND_PUSH + pick(m, 4));
		if (kind == KIND_ECALL && !(m->flags & (HF_RUN_TRAPS | HF_RUN_ODD)))
			kind = KIND_PLAIN;
		/* the pairs of a sequential jump, most of them */
		if (m->count && (m->kind[m->count - 1] == KIND_LUI || m->kind[m->count - 1] == KIND_AUIPC) && pick(m, 4))
			kind = pick(m, 2) ? KIND_SET_JUMP : KIND_SET_CALL;
		m->kind[m->count] = kind;
		m->pc[m->count] = pc;
		m->size[m->count] = is_narrow(kind) ? 2 : 4;
		pc += m->size[m->count++];
	}
	m->kind[m->count] = KIND_JUMP;
	m->pc[m->count] = pc;
	m->size[m->count++] = 4;
	m->run->code_size = (size_t)(pc + 4 - m->run->base);
}

/* An instruction within so many bytes. */
static uint64_t near(struct maker *m, size_t i, int64_t reach)
{
	for (;;) {
		const uint64_t target = m->pc[pick(m, (uint32_t)m->count)];
		const int64_t offset = (int64_t)(target - m->pc[i]);

		if (offset > -reach && offset < reach && offset)
			return target;
	}
}

static uint32_t assemble(struct maker *m, size_t i)
{
	const uint64_t pc = m->pc[i], page = m->run->base >> 12 << 12;
	const uint32_t in_page = (uint32_t)(m->pc[pick(m, (uint32_t)m->count)] - page);

	switch (m->kind[i]) {
	case KIND_PLAIN: return 0x00000013;
	case KIND_C_PLAIN: return 0x0001;
	case KIND_BRANCH: return hf_rv_beq((int64_t)(near(m, i, 2000) - pc));
	case KIND_C_BRANCH: return hf_rv_c_beqz((int64_t)(near(m, i, 250) - pc));
	case KIND_JUMP: return hf_rv_jal(0, (int64_t)(near(m, i, 2000) - pc));
	case KIND_C_JUMP: return hf_rv_c_j((int64_t)(near(m, i, 2000) - pc));
	case KIND_CALL: return hf_rv_jal(1, (int64_t)(near(m, i, 2000) - pc));
	case KIND_CALL5: return hf_rv_jal(5, (int64_t)(near(m, i, 2000) - pc));
	case KIND_RETURN: return 0x00028067; /* jalr x0, 0(x5) */
	case KIND_C_RETURN: return 0x8082;
	case KIND_SWAP: return 0x000280e7; /* jalr x1, 0(x5) */
	case KIND_INDIRECT: return 0x00038067; /* jalr x0, 0(x7) */
	case KIND_INDIRECT_CALL: return 0x000380e7;
	case KIND_C_INDIRECT: return 0x8382; /* c.jr x7 */
	case KIND_LUI: return 0x00000337 | (uint32_t)page; /* lui x6 */
	case KIND_AUIPC: return 0x00000317;
	case KIND_SET_JUMP: return 0x00030067 | (m->kind[i - 1] == KIND_LUI ? in_page << 20 : 0);
	case KIND_SET_CALL: return 0x000300e7 | (m->kind[i - 1] == KIND_LUI ? in_page << 20 : 0);
	case KIND_ECALL: return 0x00000073;
	case KIND_MRET: return 0x30200073;
	case KIND_PUSH: return (const uint32_t[]){0xb842, 0xba42, 0xac26, 0xac66}[pick(m, 4)];
	case KIND_POPRET: return pick(m, 2) ? 0xbe42 : 0xbc52;
	case KIND_JT: return 0xa002 | pick(m, 32) << 2;
	case KIND_JALT: return 0xa002 | (32 + pick(m, 224)) << 2;
	default: return 0x0000000b;
	}
}

static void make_table(struct maker *m)
{
	struct hf_run *run = m->run;
	const unsigned size = run->xlen / 8;

	run->isa |= HF_RISCV_ZCMP | HF_RISCV_ZCMT;
	run->table_size = 256 * size;
	for (unsigned i = 0; i < 256; i++) {
		const uint64_t target = m->pc[pick(m, (uint32_t)m->count)];

		if (pick(m, 5))
			memcpy(run->table + i * size, &target, size);
	}
}

/* ---- the run ---- */

static struct hf_event *push(struct maker *m, uint8_t kind)
{
	struct hf_ntt_events *events = &m->run->events;

	if (events->n == events->cap) {
		events->cap = 2 * events->cap + 1024;
		events->ev = realloc(events->ev, events->cap * sizeof *events->ev);
		CHECK(events->ev);
	}
	events->ev[events->n] = (struct hf_event){.kind = kind};
	return &events->ev[events->n++];
}

static size_t index_of(const struct maker *m, uint64_t pc)
{
	for (size_t i = 0; i < m->count; i++)
		if (m->pc[i] == pc)
			return i;
	CHECK(0 && "a pc of the program");
	return 0;
}

static uint64_t anywhere(struct maker *m)
{
	return m->pc[pick(m, (uint32_t)m->count)];
}

static void fill_insn(struct maker *m, struct hf_event *ev, size_t i)
{
	const uint8_t *p = m->run->code + (m->pc[i] - m->run->base);

	ev->insn.pc = m->pc[i];
	ev->insn.size = m->size[i];
	ev->insn.opcode = m->size[i] == 2 ? hf_get16(p) : hf_get32(p);
	ev->insn.isa = m->run->xlen == 32 ? HF_ISA_RV32 : HF_ISA_RV64;
	ev->insn.flow = hf_riscv_flow(ev->insn.opcode, m->run->isa);
	ev->insn.mode = m->mode;
}

/* Where a return goes: mostly to where its call was. */
static uint64_t pop(struct maker *m)
{
	const uint64_t to = m->depth ? m->stack[--m->depth] : anywhere(m);

	return pick(m, 16) ? to : anywhere(m);
}

static void call(struct maker *m, uint64_t from)
{
	if (m->depth == 64)
		m->depth = 0;
	m->stack[m->depth++] = from;
}

/* What the table says of a cm.jt or cm.jalt; 0: nothing, or it is no such instruction. */
static uint64_t table_target(const struct maker *m, uint32_t opcode)
{
	const unsigned size = m->run->xlen / 8;
	uint64_t target = 0;
	unsigned index;

	if (hf_riscv_table_jump(opcode, m->run->isa, &index))
		memcpy(&target, m->run->table + index * size, size);
	return target;
}

/* Executes instruction i: where the flow goes on. Few places are the targets of indirect jumps, so that some repeat. */
static uint64_t execute(struct maker *m, size_t i)
{
	struct hf_event *ev = push(m, HF_EVENT_INSN);
	struct hf_ev_insn *insn = &ev->insn;
	uint64_t next = m->pc[i] + m->size[i], target = next;

	fill_insn(m, ev, i);
	m->made++;
	switch (insn->flow) {
	case HF_FLOW_BRANCH:
		hf_riscv_target(insn->opcode, m->run->xlen, insn->pc, &target);
		if (pick(m, 8) > 2 + i % 4)
			return next;
		break;
	case HF_FLOW_JUMP:
		hf_riscv_target(insn->opcode, m->run->xlen, insn->pc, &target);
		break;
	case HF_FLOW_CALL:
		call(m, next);
		hf_riscv_target(insn->opcode, m->run->xlen, insn->pc, &target);
		break;
	case HF_FLOW_RETURN:
		target = pop(m);
		break;
	case HF_FLOW_SWAP:
		target = pop(m);
		call(m, next);
		break;
	case HF_FLOW_INDIRECT_CALL:
		call(m, next);
		target = m->pc[pick(m, 8) ? i / 2 : pick(m, (uint32_t)m->count)];
		break;
	case HF_FLOW_INDIRECT_JUMP:
	case HF_FLOW_TRAP_RETURN:
		target = m->pc[pick(m, 8) ? i / 3 : pick(m, (uint32_t)m->count)];
		break;
	case HF_FLOW_TRAP_CALL:
		return next;
	default:
		if (m->kind[i] != KIND_CUSTOM || !(m->flags & HF_RUN_ODD) || pick(m, 2))
			return next;
		target = anywhere(m);
		if (target == next)
			return next;
		break;
	}
	if (m->kind[i] == KIND_SET_JUMP || m->kind[i] == KIND_SET_CALL) {
		target = m->kind[i - 1] == KIND_LUI ? (m->run->base >> 12 << 12) + (insn->opcode >> 20) : m->pc[i - 1];
		/* reached by a jump, the register holds something else */
		if (ev == m->run->events.ev || ev[-1].kind != HF_EVENT_INSN || ev[-1].insn.pc != m->pc[i - 1])
			target = anywhere(m);
	}
	if (table_target(m, insn->opcode))
		target = table_target(m, insn->opcode);
	ev->flags = HF_EVF_TAKEN;
	insn->target = target;
	if (insn->flow == HF_FLOW_TRAP_RETURN) {
		ev = push(m, HF_EVENT_TRAP_RETURN);
		ev->flags = HF_EVF_HANDLER;
		ev->trap.handler = target;
	}
	return target;
}

/* A trap where the flow has come to: where it goes on. */
static uint64_t trap(struct maker *m, uint64_t pc, bool interrupt)
{
	struct hf_event *ev;
	const uint64_t handler = m->pc[(m->count / 3) + pick(m, 3)];

	if (!interrupt) {
		ev = push(m, HF_EVENT_ATTEMPT);
		fill_insn(m, ev, index_of(m, pc));
	}
	ev = push(m, HF_EVENT_TRAP);
	ev->flags = HF_EVF_HANDLER | (interrupt ? HF_EVF_ASYNC : 0);
	ev->trap.handler = handler;
	return handler;
}

/* What else a trace may say between two instructions. */
static uint64_t say(struct maker *m, uint64_t pc)
{
	struct hf_event *ev;

	if (m->flags & HF_RUN_CONTEXTS && pick(m, 40) == 0)
		push(m, HF_EVENT_TIMESTAMP)->time.value = m->time += pick(m, 1000);
	if (m->flags & HF_RUN_CONTEXTS && pick(m, 100) == 0) {
		ev = push(m, HF_EVENT_CONTEXT);
		ev->fields = HF_CONTEXT_MODE | HF_CONTEXT_PID;
		ev->context.mode = m->mode = pick(m, 2) ? HF_MODE_U : HF_MODE_M;
		ev->context.pid = pick(m, 100);
	}
	if (!(m->flags & HF_RUN_STOPS) || pick(m, 300))
		return pc;
	ev = push(m, pick(m, 2) ? HF_EVENT_DISCONTINUITY : HF_EVENT_GAP);
	if (ev->kind == HF_EVENT_GAP)
		ev->code = (uint32_t)-HF_ERR_NTRACE_OVERRUN;
	return anywhere(m);
}

static uint64_t advance(struct maker *m, uint64_t pc)
{
	const size_t i = index_of(m, pc);

	if (m->flags & HF_RUN_TRAPS && pick(m, 60) == 0)
		return trap(m, pc, pick(m, 2));
	if (m->kind[i] == KIND_ECALL && (!(m->flags & HF_RUN_ODD) || pick(m, 2)))
		return trap(m, pc, false);
	return say(m, execute(m, i));
}

void hf_run_make(struct hf_run *run, uint64_t base, uint8_t xlen, unsigned flags, size_t insns, uint64_t seed)
{
	struct maker m = {.run = run, .flags = flags, .seed = seed, .mode = HF_MODE_UNKNOWN};
	uint64_t pc;

	*run = (struct hf_run){.base = base, .xlen = xlen, .isa = xlen};
	lay_out(&m);
	if (flags & HF_RUN_CODE_SIZE)
		make_table(&m);
	for (size_t i = 0; i < m.count; i++) {
		const uint32_t opcode = assemble(&m, i);

		memcpy(run->code + (m.pc[i] - base), &opcode, m.size[i]);
	}
	pc = m.pc[0];
	execute(&m, 0);
	pc = run->events.ev[0].flags & HF_EVF_TAKEN ? run->events.ev[0].insn.target : pc + m.size[0];
	while (m.made < insns)
		pc = advance(&m, pc);
}

void hf_run_free(struct hf_run *run)
{
	hf_ntt_events_free(&run->events);
}

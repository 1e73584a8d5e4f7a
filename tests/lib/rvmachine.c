/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/rvmachine.h"

#include "codecs/base/bytes.h"
#include "codecs/isa/riscv.h"
#include "tests/lib/check.h"
#include "tests/lib/walk.h"

#define CAUSE_LOAD 5   /* load access fault */
#define CAUSE_ECALL 8  /* from U */
#define CAUSE_TIMER 7
#define INTERRUPT (UINT64_C(1) << 63)

/* What an instruction does, with all that its opcode says. */
enum op {
	OP_ADD, OP_XOR, OP_AND, OP_ADDI, OP_ANDI, OP_SLLI, OP_SRLI, OP_LD, OP_LW, OP_LBU, OP_SD, OP_SW, OP_SB, OP_BEQ, OP_BNE,
	OP_BLT, OP_JAL, OP_JALR, OP_CSRR, OP_CSRW, OP_ECALL, OP_MRET,
};

struct decoded {
	struct hf_event ev; /* as it is if it retires and goes on to the next one */
	uint8_t op, rd, rs1, rs2;
	int32_t imm;
};

struct hf_rvmachine {
	uint64_t pc, base, handler;
	uint64_t x[32];
	uint64_t mepc, mcause;
	uint64_t seed;
	uint64_t retired, traps;
	uint64_t interrupt_at; /* instructions retired at the next one */
	uint8_t *data;
	struct decoded *code;  /* one for each halfword */
};

/* ---- decoding ---- */

static int32_t sign(uint32_t value, unsigned bits)
{
	return (int32_t)(value << (32 - bits)) >> (32 - bits);
}

static void decode_narrow(struct decoded *d, uint32_t o)
{
	const uint8_t rd = o >> 7 & 31, rs2 = o >> 2 & 31;

	d->rd = rd;
	d->rs1 = rd;
	if ((o & 0xe003) == 0x0001) {
		d->op = OP_ADDI;
		d->imm = sign((o >> 12 & 1) << 5 | rs2, 6);
	} else if (rs2) {
		d->op = OP_ADD;
		d->rs2 = rs2;
		d->rs1 = o & 0x1000 ? rd : 0;
	} else {
		d->op = OP_JALR;
		d->rd = 0;
	}
}

static void decode_system(struct decoded *d, uint32_t o)
{
	d->imm = (int32_t)(o >> 20);
	if (o == 0x73)
		d->op = OP_ECALL;
	else if (o == 0x30200073)
		d->op = OP_MRET;
	else
		d->op = (o >> 12 & 7) == 1 ? OP_CSRW : OP_CSRR;
}

static void decode_wide(struct decoded *d, uint32_t o)
{
	static const uint8_t ops[8] = {[0] = OP_ADD, [4] = OP_XOR, [7] = OP_AND};
	static const uint8_t imms[8] = {[0] = OP_ADDI, [1] = OP_SLLI, [5] = OP_SRLI, [7] = OP_ANDI};
	static const uint8_t loads[8] = {[2] = OP_LW, [3] = OP_LD, [4] = OP_LBU};
	static const uint8_t stores[8] = {[0] = OP_SB, [2] = OP_SW, [3] = OP_SD};
	static const uint8_t branches[8] = {[0] = OP_BEQ, [1] = OP_BNE, [4] = OP_BLT};
	const unsigned funct3 = o >> 12 & 7;

	d->rd = o >> 7 & 31;
	d->rs1 = o >> 15 & 31;
	d->rs2 = o >> 20 & 31;
	d->imm = sign(o >> 20, 12);
	switch (o & 0x7f) {
	case 0x33: d->op = ops[funct3]; break;
	case 0x13: d->op = imms[funct3]; break;
	case 0x03: d->op = loads[funct3]; break;
	case 0x23:
		d->op = stores[funct3];
		d->imm = sign((o >> 25 & 127) << 5 | (o >> 7 & 31), 12);
		break;
	case 0x63: d->op = branches[funct3]; break;
	case 0x6f: d->op = OP_JAL; break;
	case 0x67: d->op = OP_JALR; break;
	case 0x73: decode_system(d, o); break;
	default: CHECK(0 && "an opcode of the program");
	}
}

static void decode_all(struct hf_rvmachine *m, const struct hf_rvprogram *p)
{
	unsigned size;

	for (size_t at = 0; at < p->size; at += size) {
		struct decoded *d = m->code + at / 2;
		struct hf_ev_insn *insn = &d->ev.insn;
		uint64_t target;

		size = (p->code[at] & 3) == 3 ? 4 : 2;
		insn->opcode = size == 2 ? hf_get16(p->code + at) : hf_get32(p->code + at);
		insn->pc = p->base + at;
		insn->size = (uint8_t)size;
		insn->isa = HF_ISA_RV64;
		insn->flow = hf_riscv_flow(insn->opcode, 64);
		insn->mode = insn->pc >= p->handler ? HF_MODE_M : HF_MODE_U;
		d->ev.kind = HF_EVENT_INSN;
		if (size == 2)
			decode_narrow(d, insn->opcode);
		else
			decode_wide(d, insn->opcode);
		/* the distance of a branch or jump */
		if (hf_riscv_target(insn->opcode, 64, insn->pc, &target))
			d->imm = (int32_t)(target - insn->pc);
	}
}

/* ---- running ---- */

static uint8_t *at(struct hf_rvmachine *m, uint64_t address)
{
	CHECK(address - HF_RVPROGRAM_DATA <= HF_RVPROGRAM_DATA_SIZE - 8);
	return m->data + (address - HF_RVPROGRAM_DATA);
}

static struct hf_event *add_access(struct hf_event *ev, bool write, uint64_t address, uint64_t data, unsigned size)
{
	*ev = (struct hf_event){.kind = HF_EVENT_MEM, .flags = write ? HF_EVF_WRITE : HF_EVF_READ, .words = 1};
	ev->mem.address = address;
	ev->mem.data = data;
	ev->mem.size = size;
	return ev + 1;
}

static struct hf_event *load(struct hf_rvmachine *m, const struct decoded *d, struct hf_event *ev)
{
	const uint64_t address = m->x[d->rs1] + (uint64_t)(int64_t)d->imm;
	const uint8_t *p = at(m, address);
	const unsigned size = d->op == OP_LD ? 8 : d->op == OP_LW ? 4 : 1;
	const uint64_t data = size == 8 ? hf_get64(p) : size == 4 ? hf_get32(p) : *p;

	m->x[d->rd] = size == 4 ? (uint64_t)(int64_t)(int32_t)data : data;
	return add_access(ev, false, address, data, size);
}

static struct hf_event *store(struct hf_rvmachine *m, const struct decoded *d, struct hf_event *ev)
{
	const uint64_t address = m->x[d->rs1] + (uint64_t)(int64_t)d->imm;
	const unsigned size = d->op == OP_SD ? 8 : d->op == OP_SW ? 4 : 1;
	const uint64_t data = size == 8 ? m->x[d->rs2] : m->x[d->rs2] & ((UINT64_C(1) << 8 * size) - 1);

	memcpy(at(m, address), &data, size);
	return add_access(ev, true, address, data, size);
}

static struct hf_event *trap(struct hf_rvmachine *m, struct hf_event *ev, uint64_t cause, uint64_t epc)
{
	*ev = (struct hf_event){.kind = HF_EVENT_TRAP,
				.flags = HF_EVF_HANDLER | HF_EVF_MODE | HF_EVF_CAUSE | (cause & INTERRUPT ? HF_EVF_ASYNC : 0)};
	ev->mode = HF_MODE_M;
	ev->trap.cause = cause & ~INTERRUPT;
	ev->trap.handler = m->handler;
	m->mcause = cause;
	m->mepc = epc;
	m->pc = m->handler;
	m->traps++;
	return ev + 1;
}

static struct hf_event *return_from_trap(struct hf_rvmachine *m, struct hf_event *ev)
{
	*ev = (struct hf_event){.kind = HF_EVENT_TRAP_RETURN, .flags = HF_EVF_HANDLER | HF_EVF_MODE};
	ev->mode = HF_MODE_U;
	ev->trap.handler = m->mepc;
	return ev + 1;
}

/* Where an instruction that jumps, if it does, leads; else 0. */
static uint64_t jump(struct hf_rvmachine *m, const struct decoded *d)
{
	const uint64_t a = m->x[d->rs1], b = m->x[d->rs2], pc = d->ev.insn.pc;
	uint64_t to = pc + (uint64_t)(int64_t)d->imm;

	switch (d->op) {
	case OP_BEQ: return a == b ? to : 0;
	case OP_BNE: return a != b ? to : 0;
	case OP_BLT: return (int64_t)a < (int64_t)b ? to : 0;
	case OP_JALR: to = a + (uint64_t)(int64_t)d->imm; break;
	case OP_MRET: return m->mepc;
	default: break;
	}
	if (d->rd)
		m->x[d->rd] = pc + d->ev.insn.size;
	return to;
}

static void compute(struct hf_rvmachine *m, const struct decoded *d)
{
	const uint64_t a = m->x[d->rs1], b = m->x[d->rs2], imm = (uint64_t)(int64_t)d->imm;
	uint64_t *rd = &m->x[d->rd];

	switch (d->op) {
	case OP_ADD: *rd = a + b; break;
	case OP_XOR: *rd = a ^ b; break;
	case OP_AND: *rd = a & b; break;
	case OP_ADDI: *rd = a + imm; break;
	case OP_ANDI: *rd = a & imm; break;
	case OP_SLLI: *rd = a << (imm & 63); break;
	case OP_SRLI: *rd = a >> (imm & 63); break;
	case OP_CSRR: *rd = imm == HF_RV_MEPC ? m->mepc : m->mcause; break;
	case OP_CSRW: m->mepc = a; break;
	default: break;
	}
}

/* One instruction, at ev; returns what is behind its events. */
static struct hf_event *step(struct hf_rvmachine *m, struct hf_event *ev)
{
	const struct decoded *d = m->code + (m->pc - m->base) / 2;
	const uint64_t pc = m->pc;
	uint64_t to;

	*ev = d->ev;
	if (d->op == OP_ECALL || (d->op == OP_LD && d->rs1 == 0)) {
		ev->kind = HF_EVENT_ATTEMPT;
		return trap(m, ev + 1, d->op == OP_ECALL ? CAUSE_ECALL : CAUSE_LOAD, pc);
	}
	m->retired++;
	m->pc = pc + d->ev.insn.size;
	if (d->op >= OP_LD && d->op <= OP_LBU)
		return load(m, d, ev + 1);
	if (d->op >= OP_SD && d->op <= OP_SB)
		return store(m, d, ev + 1);
	if ((d->op >= OP_BEQ && d->op <= OP_JALR) || d->op == OP_MRET) {
		to = jump(m, d);
		if (to) {
			ev->flags = HF_EVF_TAKEN;
			ev->insn.target = to;
			m->pc = to;
		}
		return d->op == OP_MRET ? return_from_trap(m, ev + 1) : ev + 1;
	}
	compute(m, d);
	return ev + 1;
}

static void set_timer(struct hf_rvmachine *m)
{
	m->interrupt_at = m->retired + 5000 + hf_rand_next(&m->seed) % 50000;
}

struct hf_rvmachine *hf_rvmachine_new(const struct hf_rvprogram *program, uint64_t seed)
{
	struct hf_rvmachine *m = calloc(1, sizeof *m);

	CHECK(m);
	m->data = calloc(1, HF_RVPROGRAM_DATA_SIZE);
	m->code = calloc(program->size / 2 + 1, sizeof *m->code);
	CHECK(m->data && m->code);
	m->base = program->base;
	m->handler = program->handler;
	m->pc = program->entry;
	m->seed = seed;
	decode_all(m, program);
	for (size_t i = 0; i < HF_RVPROGRAM_ROOTS; i++)
		hf_put64(m->data + i * 8, program->roots[i]);
	m->x[HF_RV_SP] = HF_RVPROGRAM_DATA + HF_RVPROGRAM_DATA_SIZE - 64;
	m->x[HF_RV_DATA] = HF_RVPROGRAM_S4;
	m->x[HF_RV_MASK] = HF_RVPROGRAM_DATA_SIZE / 2 - 8;
	m->x[HF_RV_RANDOM] = seed | 1;
	set_timer(m);
	return m;
}

void hf_rvmachine_free(struct hf_rvmachine *m)
{
	free(m->data);
	free(m->code);
	free(m);
}

size_t hf_rvmachine_run(struct hf_rvmachine *m, uint64_t most, struct hf_event *ev, size_t max, uint64_t *ret_begun)
{
	struct hf_event *p = ev, *const end = ev + max - HF_RVMACHINE_EVENTS;
	uint64_t begun = 0;

	for (; begun < most && p <= end; begun++) {
		if (m->retired >= m->interrupt_at && m->pc < m->handler) {
			p = trap(m, p, INTERRUPT | CAUSE_TIMER, m->pc);
			set_timer(m);
		} else {
			p = step(m, p);
		}
	}
	*ret_begun = begun;
	return (size_t)(p - ev);
}

uint64_t hf_rvmachine_pc(const struct hf_rvmachine *m)
{
	return m->pc;
}

uint64_t hf_rvmachine_retired(const struct hf_rvmachine *m)
{
	return m->retired;
}

uint64_t hf_rvmachine_traps(const struct hf_rvmachine *m)
{
	return m->traps;
}

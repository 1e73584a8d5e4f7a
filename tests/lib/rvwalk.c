/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/rvwalk.h"

#include "codecs/base/bytes.h"
#include "codecs/isa/riscv.h"
#include "tests/lib/check.h"
#include "tests/lib/rvasm.h"

enum kind {
	PLAIN2, PLAIN4, LOAD, STORE, BRANCH2, BRANCH4, JUMP2, JUMP4, CALL, CALL_T0, RETURN2, RETURN4, CALL_REG, JUMP_REG,
	SWAP, PAIR_LUI, PAIR_AUIPC, PAIR_END, ECALL, MRET, LOOP, KINDS
};

/* Out of 256. */
static const uint8_t shares[KINDS] = {
	[PLAIN2] = 70, [PLAIN4] = 30, [LOAD] = 15, [STORE] = 10, [BRANCH2] = 12, [BRANCH4] = 20, [JUMP2] = 6, [JUMP4] = 6,
	[CALL] = 18, [CALL_T0] = 3, [RETURN2] = 16, [RETURN4] = 4, [CALL_REG] = 8, [JUMP_REG] = 8, [SWAP] = 4,
	[PAIR_LUI] = 6, [PAIR_AUIPC] = 6, [ECALL] = 6, [MRET] = 6, [LOOP] = 2,
};

uint32_t hf_rvwalk_random(struct hf_rvwalk *walk, uint32_t below)
{
	uint64_t x = walk->random;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	walk->random = x;
	return (uint32_t)((x >> 16) % below);
}

static enum kind choose(struct hf_rvwalk *walk)
{
	int v = (int)hf_rvwalk_random(walk, 256);
	enum kind kind = 0;

	while (v >= shares[kind] && kind < KINDS - 1)
		v -= shares[kind++];
	return kind < KINDS - 1 ? kind : PLAIN2;
}

/* An instruction within reach bytes of offset, as a distance from it. */
static int32_t distance(struct hf_rvwalk *walk, uint32_t offset, int32_t reach)
{
	for (;;) {
		int32_t d = (int32_t)walk->at[hf_rvwalk_random(walk, walk->count)] - (int32_t)offset;

		if (d > -reach && d < reach && d != 0)
			return d;
	}
}

/* An instruction of Zcmp or Zcmt in the place of another one of 16 bits; 0: none. */
static uint32_t encode_code_size(struct hf_rvwalk *walk, enum kind kind)
{
	static const uint16_t plain[] = {0xb842, 0xb8a2, 0xb8f2, 0xba42, 0xbaf6, 0xac26, 0xac66};
	static const uint16_t returns[] = {0xbe42, 0xbe9e, 0xbc52, 0xbcf2};

	if ((walk->isa & ~HF_RISCV_XLEN) == 0 || hf_rvwalk_random(walk, 2))
		return 0;
	if (kind == RETURN2)
		return returns[hf_rvwalk_random(walk, 4)];
	if (kind == JUMP_REG) /* cm.jt */
		return 0xa002 | hf_rvwalk_random(walk, 32) << 2;
	if (kind != PLAIN2)
		return 0;
	if (hf_rvwalk_random(walk, 4) == 0) /* cm.jalt */
		return 0xa002 | (32 + hf_rvwalk_random(walk, 224)) << 2;
	return plain[hf_rvwalk_random(walk, 7)];
}

static uint32_t encode(struct hf_rvwalk *walk, enum kind kind, uint32_t offset)
{
	static const uint32_t loads[] = {0x0005b503, 0x0005a503, 0x00059503, 0x00058503};
	static const uint32_t stores[] = {0x00a5b023, 0x00a5a023, 0x00a59023, 0x00a58023};
	static const uint32_t swaps[] = {0x000082e7, 0x000280e7};
	static const uint32_t calls[] = {0x000500e7, 0x9502};
	const unsigned narrow = walk->xlen == 32;
	const uint32_t code_size = encode_code_size(walk, kind);

	if (code_size)
		return code_size;
	switch (kind) {
	case PLAIN4:
		return 0x00150513;
	case LOAD:
		return loads[hf_rvwalk_random(walk, 4 - narrow) + narrow];
	case STORE:
		return stores[hf_rvwalk_random(walk, 4 - narrow) + narrow];
	case BRANCH2:
		return 0x0100 | hf_rv_c_beqz(distance(walk, offset, 250));
	case BRANCH4:
		return 0x00b50000 | hf_rv_beq(distance(walk, offset, 4000));
	case JUMP2:
		return hf_rv_c_j(distance(walk, offset, 2000));
	case JUMP4:
		return hf_rv_jal(0, distance(walk, offset, 4000));
	case CALL:
		return hf_rv_jal(1, distance(walk, offset, 4000));
	case CALL_T0:
		return hf_rv_jal(5, distance(walk, offset, 4000));
	case RETURN2:
		return 0x8082;
	case RETURN4:
		return 0x00008067;
	case CALL_REG:
		return calls[hf_rvwalk_random(walk, 2)];
	case JUMP_REG:
		return 0x8502;
	case SWAP:
		return swaps[hf_rvwalk_random(walk, 2)];
	case ECALL:
		return 0x73;
	case MRET:
		return 0x30200073;
	case LOOP:
		return 0xa001;
	default:
		return 0x0505;
	}
}

/* lui t1 or auipc t1, then jalr of it, with or without a link. */
static void encode_pair(struct hf_rvwalk *walk, uint8_t *p, enum kind kind, uint32_t offset)
{
	const uint32_t to = walk->at[hf_rvwalk_random(walk, walk->count)];
	const uint32_t address = kind == PAIR_LUI ? (uint32_t)walk->base + to : to - offset;
	const uint32_t high = (address + 0x800) & 0xfffff000;

	hf_put32(p, high | 6 << 7 | (kind == PAIR_LUI ? 0x37 : 0x17));
	hf_put32(p + 4, (address - high) << 20 | 6 << 15 | hf_rvwalk_random(walk, 2) << 7 | 0x67);
}

void hf_rvwalk_program(struct hf_rvwalk *walk, uint64_t base, unsigned isa, uint64_t seed)
{
	static uint8_t kinds[HF_RVWALK_INSNS];
	uint32_t offset = 0;

	*walk = (struct hf_rvwalk){.base = base, .xlen = isa & HF_RISCV_XLEN, .isa = isa,
				    .random = seed * 2 + 88172645463325253};
	for (unsigned i = 0; i < HF_RVWALK_INSNS; i++) {
		enum kind kind = i && (kinds[i - 1] == PAIR_LUI || kinds[i - 1] == PAIR_AUIPC) ? PAIR_END : choose(walk);
		uint32_t opcode;

		if ((kind == PAIR_LUI || kind == PAIR_AUIPC) && i + 1 == HF_RVWALK_INSNS)
			kind = PLAIN2;
		kinds[i] = (uint8_t)kind;
		walk->at[i] = offset;
		walk->count = i + 1;
		opcode = kind == BRANCH2 || kind == JUMP2 ? 0 : kind == BRANCH4 || kind == JUMP4 || kind == CALL ||
			 kind == CALL_T0 || kind >= PAIR_LUI ? 3 : 0;
		if (kind == PLAIN4 || kind == LOAD || kind == STORE || kind == RETURN4 || kind == SWAP || kind == CALL_REG)
			opcode = 3;
		if (kind == LOOP)
			opcode = 0;
		offset += opcode ? 4 : 2;
	}
	walk->at[walk->count] = offset;
	for (unsigned i = 0; i < walk->count; i++) {
		uint8_t *p = walk->code + walk->at[i];

		if (kinds[i] == PAIR_LUI || kinds[i] == PAIR_AUIPC) {
			encode_pair(walk, p, kinds[i], walk->at[i]);
			i++; /* its second half is written too */
		} else if (walk->at[i + 1] - walk->at[i] == 4) {
			uint32_t opcode = encode(walk, kinds[i], walk->at[i]);

			hf_put32(p, (opcode & 3) == 3 ? opcode : 0x000500e7);
		} else {
			hf_put16(p, (uint16_t)encode(walk, kinds[i], walk->at[i]));
		}
	}
}

/* ---- the walk ---- */

struct walker {
	struct hf_rvwalk *walk;
	struct hf_rvtrace *trace;
	uint64_t pc;
	uint64_t stack[64];
	unsigned depth, mode, flags;
};

static uint64_t anywhere(struct hf_rvwalk *walk)
{
	return walk->base + walk->at[hf_rvwalk_random(walk, walk->count)];
}

static uint32_t opcode_at(const struct hf_rvwalk *walk, uint64_t pc)
{
	const uint8_t *p = walk->code + (pc - walk->base);
	const uint32_t low = hf_get16(p);

	return hf_riscv_size(low) == 4 ? hf_get32(p) : low;
}

static bool follows_call(const struct hf_rvtrace *trace)
{
	const struct hf_event *last = &trace->events[trace->count ? trace->count - 1 : 0];

	return trace->count && last->kind == HF_EVENT_INSN && last->insn.flow == HF_FLOW_TRAP_CALL;
}

/* An interrupt, or an exception of the instruction at pc. */
static void trap(struct walker *w, bool interrupt, uint64_t cause)
{
	struct hf_rvwalk *walk = w->walk;
	const uint32_t opcode = opcode_at(walk, w->pc);
	struct hf_event attempt = {
		.kind = HF_EVENT_ATTEMPT,
		.insn = {.pc = w->pc, .opcode = opcode, .size = (uint8_t)hf_riscv_size(opcode),
			 .isa = w->trace->stream.info.isa, .flow = hf_riscv_flow(opcode, walk->isa),
			 .mode = (uint8_t)w->mode},
	};
	struct hf_event ev = {.kind = HF_EVENT_TRAP, .flags = HF_EVF_CAUSE | (interrupt ? HF_EVF_ASYNC : 0),
			      .trap = {.cause = cause}};

	/* the causes of ecall and ebreak are theirs alone, and of the first of two */
	if (!interrupt && (attempt.insn.flow != HF_FLOW_TRAP_CALL || follows_call(w->trace)) &&
	    (cause == 3 || (cause >= 8 && cause <= 11)))
		ev.trap.cause = 13;
	ev.trap.value = !interrupt && hf_rvwalk_random(walk, 2) ? hf_rvwalk_random(walk, 1u << 31) : 0;
	hf_rvtrace_add(w->trace, attempt);
	hf_rvtrace_add(w->trace, ev);
	w->pc = hf_rvwalk_random(walk, 2) ? walk->base : anywhere(walk);
	if (w->flags & HF_RVWALK_MODES)
		w->mode = hf_rvwalk_random(walk, 2) ? HF_MODE_M : HF_MODE_S;
}

/* Out of any endless loop, too. */
static void hole(struct walker *w)
{
	const bool gap = (w->flags & HF_RVWALK_HOLES) && hf_rvwalk_random(w->walk, 2);
	struct hf_event ev = {.kind = gap ? HF_EVENT_GAP : HF_EVENT_DISCONTINUITY};

	hf_rvtrace_add(w->trace, ev);
	w->pc = anywhere(w->walk);
}

static void change_context(struct walker *w)
{
	struct hf_event ev = {.kind = HF_EVENT_CONTEXT, .fields = HF_CONTEXT_PID | HF_CONTEXT_ASID};
	struct hf_event time = {.kind = HF_EVENT_TIMESTAMP, .time.value = w->trace->count};

	ev.context.pid = ev.context.asid = hf_rvwalk_random(w->walk, 3);
	hf_rvtrace_add(w->trace, ev);
	hf_rvtrace_add(w->trace, time);
}

static uint64_t next_of(struct walker *w, uint32_t opcode)
{
	struct hf_rvwalk *walk = w->walk;
	const uint64_t behind = w->pc + hf_riscv_size(opcode);
	const uint8_t flow = hf_riscv_flow(opcode, walk->isa);
	uint64_t target = behind;

	switch (flow) {
	case HF_FLOW_BRANCH:
		if (hf_rvwalk_random(walk, 8) == 0 || opcode >> 3 & 1) /* some mostly taken, others not */
			hf_riscv_target(opcode, walk->xlen, w->pc, &target);
		return target;
	case HF_FLOW_JUMP:
	case HF_FLOW_CALL:
		hf_riscv_target(opcode, walk->xlen, w->pc, &target);
		break;
	case HF_FLOW_RETURN:
		if (w->depth && hf_rvwalk_random(walk, 32))
			return w->stack[--w->depth];
		return anywhere(walk);
	case HF_FLOW_TRAP_RETURN:
		if (w->flags & HF_RVWALK_MODES)
			w->mode = (const uint8_t[]){HF_MODE_U, HF_MODE_S, HF_MODE_M}[hf_rvwalk_random(walk, 3)];
		return anywhere(walk);
	case HF_FLOW_INDIRECT_JUMP:
	case HF_FLOW_INDIRECT_CALL:
	case HF_FLOW_SWAP:
		target = anywhere(walk);
		break;
	default:
		return behind;
	}
	if (flow == HF_FLOW_INDIRECT_JUMP && hf_riscv_is_code_size(opcode)) /* cm.jt */
		return target;
	if (flow != HF_FLOW_JUMP && w->depth < 64 && (opcode & 0xf80) != 0)
		w->stack[w->depth++] = behind;
	return target;
}

/* The jump of a pair goes where the pair says if the walk came through its first half. */
static uint64_t pair_target(const struct walker *w, uint32_t before, uint64_t before_pc, uint32_t opcode, uint64_t next)
{
	struct hf_riscv_jump jump;
	uint64_t value;
	unsigned rd;

	if (before && hf_riscv_jump(opcode, w->walk->xlen, &jump) && jump.indirect && jump.rs1 == 6 &&
	    hf_riscv_upper(before, w->walk->xlen, before_pc, &rd, &value) && rd == 6)
		next = (value + (uint64_t)(int64_t)jump.offset) & ~UINT64_C(1);
	return w->walk->xlen == 32 ? next & 0xffffffff : next;
}

/* cm.push, cm.pop and cm.popret: every register of the list. */
static void access_list(struct walker *w, uint32_t opcode)
{
	const unsigned list = opcode >> 4 & 15, size = w->walk->xlen / 8;
	const bool store = (opcode & 0xff00) == 0xb800;

	if (!(w->walk->isa & HF_RISCV_ZCMP) || (opcode & 0xf903) != 0xb802)
		return;
	for (unsigned i = 0; i < (list == 15 ? 13 : list - 3); i++)
		hf_rvtrace_add(w->trace, (struct hf_event){
			.kind = HF_EVENT_MEM, .flags = store ? HF_EVF_WRITE : HF_EVF_READ, .words = 1,
			.mem = {.address = 0x80200000 - i * size, .size = size, .data = hf_rvwalk_random(w->walk, 1u << 31)}});
}

static void access(struct walker *w, uint32_t opcode)
{
	struct hf_rvwalk *walk = w->walk;
	const bool store = (opcode & 0x7f) == 0x23;
	const unsigned size = 1u << (opcode >> 12 & 3);
	struct hf_event ev = {.kind = HF_EVENT_MEM, .flags = store ? HF_EVF_WRITE : HF_EVF_READ, .words = 1};

	if ((opcode & 3) != 3)
		access_list(w, opcode);
	if ((opcode & 0x7f) != 0x23 && (opcode & 0x7f) != 0x03)
		return;
	ev.mem.size = size;
	ev.mem.address = 0x80100000 + hf_rvwalk_random(walk, 512) * (hf_rvwalk_random(walk, 8) ? size : 1);
	ev.mem.data = (uint64_t)hf_rvwalk_random(walk, UINT32_MAX) << hf_rvwalk_random(walk, 32);
	if (size < 8)
		ev.mem.data &= (UINT64_C(1) << 8 * size) - 1;
	hf_rvtrace_add(w->trace, ev);
}

void hf_rvwalk_run(struct hf_rvwalk *walk, struct hf_rvtrace *trace, size_t n, unsigned flags)
{
	struct walker w = {.walk = walk, .trace = trace, .pc = walk->base, .mode = HF_MODE_M, .flags = flags};
	uint32_t before = 0;
	uint64_t before_pc = 0;

	while (trace->retired < n) {
		uint32_t opcode;
		uint64_t next;

		if (w.pc >= walk->base + walk->at[walk->count])
			w.pc = walk->base, hf_rvtrace_add(trace, (struct hf_event){.kind = HF_EVENT_DISCONTINUITY}), before = 0;
		opcode = opcode_at(walk, w.pc);
		if (hf_rvwalk_random(walk, flags & HF_RVWALK_HOLES ? 200 : 400) == 0) {
			hole(&w);
			before = 0;
			continue;
		}
		if ((flags & HF_RVWALK_TRAPS) && hf_rvwalk_random(walk, 60) == 0) {
			do
				trap(&w, hf_rvwalk_random(walk, 2), 2 + hf_rvwalk_random(walk, 12));
			while ((flags & HF_RVWALK_DOUBLE) && hf_rvwalk_random(walk, 6) == 0);
			before = 0;
			continue;
		}
		if ((flags & HF_RVWALK_MODES) && hf_rvwalk_random(walk, 300) == 0)
			w.mode = HF_MODE_U;
		if ((flags & HF_RVWALK_CONTEXTS) && hf_rvwalk_random(walk, 50) == 0)
			change_context(&w);
		hf_rvtrace_insn(trace, w.pc, opcode, w.mode);
		if (flags & HF_RVWALK_MEM)
			access(&w, opcode);
		next = pair_target(&w, before, before_pc, opcode, next_of(&w, opcode));
		/* t1 and the like may hold anything if the walk jumped over the first half */
		before = next == w.pc + hf_riscv_size(opcode) ? opcode : 0;
		before_pc = w.pc;
		w.pc = next;
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Sequentially inferable jumps, wherever in a straight line they stand: nothing of them is in the trace (9.1). */
#include "codecs/base/bytes.h"
#include "codecs/isa/riscv.h"
#include "tests/lib/ntracetest.h"

#define BASE UINT64_C(0x80000000)
#define NOP 0x00000013u
#define AUIPC_T1 0x00000317u
#define JR_T1_8 0x00830067u /* jalr x0, 8(t1) */
#define MOST 200

static struct hf_event list[MOST + 8];
static uint8_t code[4 * (MOST + 8)];
static size_t count;

static struct hf_event *insn(uint32_t opcode)
{
	struct hf_event *ev = &list[count];

	hf_put32(code + 4 * count, opcode);
	*ev = (struct hf_event){.kind = HF_EVENT_INSN};
	ev->insn = (struct hf_ev_insn){.pc = BASE + 4 * count++, .opcode = opcode, .size = 4, .isa = HF_ISA_RV64,
				       .flow = hf_riscv_flow(opcode, 64)};
	return ev;
}

static void check(unsigned before)
{
	struct hf_ntt_events events = {.ev = list}, got;
	struct hf_walk_bytes bytes;
	struct hf_event *jump;
	struct hf_ntt t;

	count = 0;
	for (unsigned i = 0; i < before; i++)
		insn(NOP);
	insn(AUIPC_T1);
	jump = insn(JR_T1_8);
	jump->flags = HF_EVF_TAKEN;
	jump->insn.target = jump->insn.pc + 4;
	insn(NOP);
	events.n = events.insns = count;
	bytes = hf_ntt_encode(&events, 64, 0, "mode=htm,sequential_jump=1");
	hf_ntt_init(&t, "xlen=64,sequential_jump=1");
	hf_ntt_add_code(&t, BASE, code, 4 * count);
	got = hf_ntt_decode(&t, bytes.p, bytes.n, 0, 0);
	CHECK_EQ(got.losses, 0);
	hf_ntt_events_check_same_insns(&events, &got, "a pair in a straight line");
	hf_ntt_events_free(&got);
	hf_bytes_free(&bytes);
	hf_ntt_fini(&t);
}

int main(void)
{
	for (unsigned before = 0; before < MOST; before++)
		check(before);
	return 0;
}

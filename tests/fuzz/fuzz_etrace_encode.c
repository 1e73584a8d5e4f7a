/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions, traps, contexts, accesses and losses in any order: the E-Trace encoder, as tests/lib/encfuzz.h says. */
#include "codecs/base/bytes.h"
#include "codecs/etrace/encoder.h"
#include "codecs/isa/riscv.h"
#include "codecs/views.h"
#include "tests/lib/encfuzz.h"

/* Packets of all kinds, of 32 bytes at the most. */
#define BYTES_OF_EVENT (16 * 32)

static const char *const params[] = {
	"", "sync_instructions=3", "version=1.1.1,options=jump_target_cache,sync_instructions=5", "data=1,sync_instructions=9",
	"options=implicit_return+branch_prediction+jump_target_cache,return_stack_size=2,bpred_size=2,cache_size=2",
	"profile=c111,resync_packets=4,options=implicit_return,call_counter_size=2", "profile=python,resync_packets=5",
	"filter_privilege=M,context=pid,version=2.1",
	"options=implicit_exception,mtvec=0x80000000,context=asid,context_change=imprecise",
	"data=1,lrid_width=2,version=1.1.1,sync_instructions=20", "data=1,mmacas=1,version=2.1,sync_instructions=4",
	"data=1,no_address=1,data_diff=reference,options=implicit_return", "data=1,no_data=1,data_compress=xor",
	"zcmp=1,zcmt=1,options=implicit_return+jump_target_cache,sync_instructions=9,data=1", NULL,
};

static struct hf_event event(const uint8_t *p)
{
	static const uint8_t kinds[] = {HF_EVENT_INSN, HF_EVENT_INSN, HF_EVENT_INSN, HF_EVENT_INSN, HF_EVENT_INSN,
					HF_EVENT_REG, HF_EVENT_ATTEMPT, HF_EVENT_TRAP, HF_EVENT_MEM, HF_EVENT_CONTEXT,
					HF_EVENT_GAP, HF_EVENT_DISCONTINUITY, HF_EVENT_TIMESTAMP, HF_EVENT_BEGIN,
					HF_EVENT_DATA, HF_EVENT_TRAP_RETURN};
	struct hf_event ev = {.kind = kinds[p[0] & 15], .flags = p[1], .any = p[1] & 1, .size = p[2]};
	const uint32_t opcode = hf_get32(p + 4);

	ev.word[0] = 0x80000000 + hf_get16(p + 2);
	ev.word[1] = 0x80000000 + hf_get16(p + 4);
	ev.word[2] = hf_get16(p + 6);
	if (hf_event_is_instruction(&ev)) {
		ev.flags &= HF_EVF_TAKEN;
		ev.insn.size = (opcode & 3) == 3 ? 4 : 2;
		ev.insn.opcode = ev.insn.size == 4 ? opcode : opcode & 0xffff;
		ev.insn.isa = HF_ISA_RV64;
		ev.insn.flow = hf_riscv_flow(opcode, 64);
		ev.insn.mode = (p[0] >> 4) % (HF_MODE_D + 1);
	} else if (ev.kind == HF_EVENT_MEM) {
		ev.mem.size = 1u << (p[0] >> 4) % 5;
	} else if (ev.kind == HF_EVENT_REG) { /* of an instruction with a0, a1 and a2, or a CSR */
		ev.reg.number = p[0] & 0x80 ? 0x340 : 10 + p[3] % 3;
		ev.reg.class = p[0] & 0x80 ? 4 : 1;
		ev.reg.role = p[0] >> 4 & 3;
	} else if (ev.kind == HF_EVENT_TRAP) {
		ev.mode = p[3] % HF_MODE_COUNT;
	}
	return ev;
}

static void check_packets(const uint8_t *p, const uint8_t *end)
{
	while (p < end) {
		MUST((*p & 31) != 0 && (*p >> 5 == 2 || *p >> 5 == 3));
		p += 1 + (*p & 31);
	}
	MUST(p == end);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static const struct enc_fuzz fuzz = {
		.ops = &hf_view_etrace,
		.info = {.arch = HF_ARCH_RISCV, .xlen = 64, .isa = HF_ISA_RV64, .flags = HF_STREAM_HARTS},
		.params = params,
		.event = event,
		.check = check_packets,
		.most = BYTES_OF_EVENT,
	};

	enc_fuzz_run(&fuzz, bytes, n);
	return 0;
}

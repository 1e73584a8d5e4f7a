/* SPDX-License-Identifier: Apache-2.0 */
/* Events of a hart out of few bytes, for fuzz targets that look at what is done with events. */
#ifndef HF_TEST_FUZZEVENTS_H
#define HF_TEST_FUZZEVENTS_H

#include "codecs/event.h"

#define HF_FUZZ_EVENT_BYTES 6

/* kind, flags, step of the pc, opcode, flow and size, mode and instruction set: small numbers, so that they meet. */
static inline struct hf_event hf_fuzz_event(const uint8_t *p, uint64_t *pc)
{
	struct hf_event ev = {.kind = p[0] < 200 ? HF_EVENT_INSN : p[0] % HF_EVENT_KINDS, .flags = p[1] & 3};

	if (ev.kind == HF_EVENT_CONTEXT) {
		ev.fields = p[1];
		ev.state = p[2];
		ev.context.pid = p[3] & 3;
		ev.context.asid = p[4] & 1;
	} else if (ev.kind == HF_EVENT_INSN) {
		ev.insn.size = p[4] & 1 ? 2 : 4;
		ev.insn.flow = p[4] / 2 % HF_FLOW_COUNT;
		ev.insn.mode = p[5] & 64 ? 1 : 2;
		ev.insn.isa = p[5] & 128 ? HF_ISA_T32 : HF_ISA_RV64;
		ev.insn.opcode = (ev.insn.size == 4 ? 0xe8000003u : 0) | p[3];
		ev.insn.pc = p[2] < 128 ? *pc : p[2];
		ev.insn.target = p[3];
		*pc = ev.insn.pc + ev.insn.size;
	} else if (ev.kind == HF_EVENT_MEM) {
		ev.mem.address = p[2] < 16 ? UINT64_MAX - p[2] : (uint64_t)p[2] << (p[3] & 31);
		ev.mem.size = (uint32_t)p[4] << (p[5] & 15);
	} else if (ev.kind == HF_EVENT_REG) {
		ev.reg.role = p[2] % HF_REG_ROLE_COUNT;
		ev.reg.number = p[3];
	} else if (ev.kind == HF_EVENT_TRAP) {
		ev.flags |= HF_EVF_CAUSE;
		ev.trap.cause = p[2];
		ev.trap.handler = p[3];
	} else if (ev.kind == HF_EVENT_CYCLES) {
		ev.time.value = p[3];
	}
	return ev;
}

#endif

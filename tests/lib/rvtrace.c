/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/rvtrace.h"

#include "codecs/isa/riscv.h"
#include "tests/lib/check.h"

#include <lzma.h>

static char *unpack(char *packed, size_t most, size_t *size)
{
	const size_t room = most < (size_t)64 << 20 ? most : (size_t)64 << 20;
	char *plain = malloc(room + 1);
	lzma_stream lzma = LZMA_STREAM_INIT;
	lzma_ret end;

	CHECK(plain);
	CHECK_EQ(lzma_stream_decoder(&lzma, UINT64_MAX, 0), LZMA_OK);
	lzma.next_in = (uint8_t *)packed;
	lzma.avail_in = *size;
	lzma.next_out = (uint8_t *)plain;
	lzma.avail_out = room;
	end = lzma_code(&lzma, LZMA_FINISH);
	CHECK(end == LZMA_STREAM_END || (room == most && lzma.avail_out == 0));
	*size = room - lzma.avail_out;
	lzma_end(&lzma);
	free(packed);
	plain[*size] = 0;
	return realloc(plain, *size + 1);
}

char *hf_rvtrace_read_file(const char *path, size_t most, size_t *ret_size)
{
	FILE *f = fopen(path, "rb");
	char *text;
	long size;

	if (!f)
		return NULL;
	CHECK_EQ(fseek(f, 0, SEEK_END), 0);
	size = ftell(f);
	rewind(f);
	text = malloc((size_t)size + 1);
	CHECK(text);
	CHECK_EQ(fread(text, 1, (size_t)size, f), (size_t)size);
	text[size] = 0;
	fclose(f);
	*ret_size = (size_t)size;
	return *ret_size > 6 && memcmp(text, "\xfd" "7zXZ", 6) == 0 ? unpack(text, most, ret_size) : text;
}

void hf_rvtrace_init(struct hf_rvtrace *trace, unsigned isa)
{
	const unsigned xlen = isa & HF_RISCV_XLEN;

	*trace = (struct hf_rvtrace){.isa = isa};
	trace->stream.info.arch = HF_ARCH_RISCV;
	trace->stream.info.xlen = (uint8_t)xlen;
	trace->stream.info.isa = xlen == 32 ? HF_ISA_RV32 : HF_ISA_RV64;
	trace->stream.info.flags = HF_STREAM_HARTS;
}

void hf_rvtrace_fini(struct hf_rvtrace *trace)
{
	free(trace->events);
}

/* Where the instructions before, retired or not, left the flow. */
static void set_target(struct hf_rvtrace *trace, uint64_t pc)
{
	struct hf_event *last = trace->count ? &trace->events[trace->count - 1] : NULL;

	while (last && last > trace->events && (last->kind == HF_EVENT_CONTEXT || last->kind == HF_EVENT_TIMESTAMP ||
						last->kind == HF_EVENT_MEM))
		last--;

	if (!last || last->kind != HF_EVENT_INSN || last->insn.flow == HF_FLOW_PLAIN ||
	    pc == last->insn.pc + last->insn.size)
		return;
	last->flags |= HF_EVF_TAKEN;
	last->insn.target = pc;
}

void hf_rvtrace_append(struct hf_rvtrace *trace, const struct hf_event *ev)
{
	if (trace->count == trace->room) {
		trace->room = trace->room ? 2 * trace->room : 1024;
		trace->events = realloc(trace->events, trace->room * sizeof *ev);
		CHECK(trace->events);
	}
	trace->retired += ev->kind == HF_EVENT_INSN;
	trace->events[trace->count++] = *ev;
}

struct hf_event *hf_rvtrace_add(struct hf_rvtrace *trace, struct hf_event ev)
{
	if (hf_event_is_instruction(&ev))
		set_target(trace, ev.insn.pc);
	hf_rvtrace_append(trace, &ev);
	return &trace->events[trace->count - 1];
}

/* The trap before it, if there is one, led to that mode. */
static void set_trap_mode(struct hf_rvtrace *trace, unsigned mode)
{
	struct hf_event *last = trace->count ? &trace->events[trace->count - 1] : NULL;

	if (!last || last->kind != HF_EVENT_TRAP)
		return;
	last->flags |= HF_EVF_MODE;
	last->mode = (uint16_t)mode;
}

static struct hf_event instruction(const struct hf_rvtrace *trace, uint64_t pc, uint32_t opcode, unsigned mode)
{
	return (struct hf_event){
		.kind = HF_EVENT_INSN,
		.insn = {.pc = pc, .opcode = opcode, .size = (uint8_t)hf_riscv_size(opcode),
			 .isa = trace->stream.info.isa, .flow = hf_riscv_flow(opcode, trace->isa),
			 .mode = (uint8_t)mode},
	};
}

void hf_rvtrace_insn(struct hf_rvtrace *trace, uint64_t pc, uint32_t opcode, unsigned mode)
{
	hf_rvtrace_add(trace, instruction(trace, pc, opcode, mode));
}

static void add_trap(struct hf_rvtrace *trace, struct hf_event *insn, uint64_t cause, uint64_t value, bool interrupt,
		     unsigned flags)
{
	struct hf_event trap = {.kind = HF_EVENT_TRAP, .flags = HF_EVF_CAUSE};
	const bool retires = insn->insn.flow == HF_FLOW_TRAP_CALL && !interrupt;

	if (interrupt)
		trap.flags |= HF_EVF_ASYNC;
	trap.trap.cause = cause & ~(UINT64_C(1) << (trace->stream.info.xlen - 1));
	if (flags & HF_RVTRACE_ECAUSE8)
		trap.trap.cause &= 0xff;
	trap.trap.value = flags & HF_RVTRACE_TVAL8 ? value & 0xff : value;
	if (!retires || !(flags & HF_RVTRACE_ECALL_RETIRES))
		insn->kind = HF_EVENT_ATTEMPT;
	hf_rvtrace_add(trace, *insn);
	hf_rvtrace_add(trace, trap);
}

void hf_rvtrace_parse(struct hf_rvtrace *trace, const char *text, unsigned xlen, unsigned flags)
{
	static const uint8_t modes[4] = {HF_MODE_U, HF_MODE_S, HF_MODE_H, HF_MODE_M};

	hf_rvtrace_init(trace, xlen);
	for (text = strchr(text, '\n'); text && text[1]; text = strchr(text + 1, '\n')) {
		uint64_t v[8];
		const char *p = text + 1;
		struct hf_event insn;

		for (unsigned i = 0; i < 8; i++) {
			char *end;

			v[i] = strtoull(p, &end, i == 1 || i == 2 || i == 5 || i == 6 ? 16 : 10);
			CHECK(end > p);
			p = end + 1;
		}
		insn = instruction(trace, v[1], (uint32_t)v[2], modes[v[3] & 3]);
		set_trap_mode(trace, insn.insn.mode);
		if (v[4])
			add_trap(trace, &insn, v[5], v[6], v[7], flags);
		else
			hf_rvtrace_add(trace, insn);
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Listing speed: a small loop of real RV64 opcodes, 40% of them with a memory access, encoded over and over into a
 * counting sink. bench_listing [million instructions]
 */
#include "codecs/codec.h"
#include "codecs/isa/disasm.h"
#include "codecs/isa/riscv.h"
#include "codecs/views.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

extern const struct hf_codec hf_codec_stf;

static const struct {
	uint32_t opcode;
	char access; /* 'R', 'W' or 0 */
	char size;
} loop[] = {
	{0x0005b783, 'R', 8}, /* ld a5, 0(a1) */
	{0x00f50733, 0, 0},   /* add a4, a0, a5 */
	{0x02061713, 0, 0},   /* slli a4, a2, 32 */
	{0x60e2, 'R', 8},     /* ld ra, 24(sp) */
	{0x9341, 0, 0},       /* srli a4, a4, 48 */
	{0x00e7a023, 'W', 4}, /* sw a4, 0(a5) */
	{0x0785, 0, 0},       /* addi a5, a5, 1 */
	{0x0007c703, 'R', 1}, /* lbu a4, 0(a5) */
	{0x8f7d, 0, 0},       /* and a4, a4, a5 */
	{0xfcf71ee3, 0, 0},   /* bne a4, a5, -36 */
};

#define LOOP (sizeof loop / sizeof loop[0])
#define BATCH 4096

static size_t make(struct hf_event *ev, bool regs)
{
	size_t n = 0;
	uint64_t pc = 0x80004748, data = 0x1122334455667788;

	for (unsigned i = 0; n + 8 < BATCH; i = (i + 1) % LOOP) {
		uint32_t opcode = loop[i].opcode;
		unsigned size = hf_riscv_size(opcode);
		uint8_t flow = hf_riscv_flow(opcode, 64);

		ev[n] = (struct hf_event){.kind = HF_EVENT_INSN, .flags = flow == HF_FLOW_BRANCH ? HF_EVF_TAKEN : 0};
		ev[n++].insn = (struct hf_ev_insn){.pc = pc, .opcode = opcode, .size = (uint8_t)size,
						   .isa = HF_ISA_RV64, .flow = flow, .mode = HF_MODE_M,
						   .target = 0x80004748};
		if (loop[i].access) {
			unsigned bytes = (unsigned)loop[i].size;

			ev[n] = (struct hf_event){.kind = HF_EVENT_MEM, .words = 1,
						  .flags = loop[i].access == 'R' ? HF_EVF_READ : HF_EVF_WRITE};
			ev[n].mem = (struct hf_ev_mem){.address = 0x80027c08 + 8 * (n % 32), .size = bytes,
						       .data = data >> (64 - 8 * bytes)};
			n++;
			data = data * 3 + 1;
		}
		for (uint16_t r = 0; regs && r < 3; r++) {
			ev[n] = (struct hf_event){.kind = HF_EVENT_REG};
			ev[n++].reg = (struct hf_ev_reg){.number = (uint16_t)(10 + r), .class = 1,
							 .role = r < 2 ? 2 : 3, .value = data >> 16 * r};
		}
		pc = flow == HF_FLOW_BRANCH ? 0x80004748 : pc + size;
	}
	return n;
}

static void measure(const struct hf_stream *stream, const struct hf_enc_env *env, bool regs, double millions)
{
	static struct hf_event ev[BATCH];
	static uint8_t buf[64 * 1024];
	size_t n = make(ev, regs), insns = 0;
	struct timespec start, stop;
	struct hf_sink sink;
	struct hf_enc *enc;
	uint64_t total = 0;
	double ns;

	for (size_t i = 0; i < n; i++)
		insns += ev[i].kind == HF_EVENT_INSN;
	hf_sink_init_count(&sink, buf, sizeof buf);
	if (hf_enc_new(&hf_view_listing, stream, 0, env, &enc))
		exit(1);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
	for (; (double)total < millions * 1e6; total += insns)
		hf_enc_put(enc, ev, n, &sink);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &stop);
	hf_enc_free(enc);
	ns = (double)(stop.tv_sec - start.tv_sec) * 1e9 + (double)(stop.tv_nsec - start.tv_nsec);
	printf("%-24s %6.2f ns/instruction, %5.0f MB/s, %.1f bytes/instruction\n", regs ? "with 3 registers" : "plain",
	       ns / (double)total, (double)hf_sink_total(&sink) / ns * 1e3,
	       (double)hf_sink_total(&sink) / (double)total);
}

int main(int argc, char **argv)
{
	struct hf_stream stream = {.codec = &hf_codec_stf, .info = {.arch = HF_ARCH_RISCV, .xlen = 64}};
	double millions = argc > 1 ? atof(argv[1]) : 20;
	struct hf_enc_env env = {0};

	if (hf_disasm_new(&env.disasm))
		return 1;
	measure(&stream, &env, false, millions);
	measure(&stream, &env, true, millions);
	hf_disasm_free(env.disasm);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The listing against golden lines for every kind of event; and its state: saved at every event boundary and loaded
 * into another encoder that was used for something else, it goes on with the same bytes.
 */
#include "codecs/codec.h"
#include "codecs/isa/disasm.h"
#include "codecs/listing/listing.h"
#include "codecs/stf/errors.h"
#include "codecs/views.h"
#include "tests/lib/check.h"
#include "tests/lib/counted.h"

#include <elf.h>

extern const struct hf_codec hf_codec_stf;

#define MAX_EVENTS 64

static const struct hf_stream riscv = {.codec = &hf_codec_stf, .info = {.arch = HF_ARCH_RISCV, .xlen = 64}};
static const struct hf_stream arm = {.codec = &hf_codec_stf, .info = {.arch = HF_ARCH_ARM, .xlen = 64}};
static struct hf_enc_env env;

/* One part of the golden text and the events that make it. */
struct golden {
	const char *text;
	struct hf_event ev[6];
};

#define INSN(address, code, bytes, does, ...) \
	{.kind = HF_EVENT_INSN, .insn = {.pc = (address), .opcode = (code), .size = (bytes), .isa = HF_ISA_RV64, \
	 .flow = (does), .mode = HF_MODE_M}, __VA_ARGS__}
#define DATA(n, ...) {.kind = HF_EVENT_DATA, .used = (n), .data = {{__VA_ARGS__}}}
#define LOSS(what, error, at, lost, value) \
	{.kind = HF_EVENT_##what, .code = -HF_ERR_##error, .loss = {.offset = (at), .bytes = (lost), .detail = (value)}}
#define TOLD(which, bits, v, n, t, bytes) \
	{.kind = HF_EVENT_MARKER, .flags = (bits), .what = HF_MARKER_##which, .size = (bytes), \
	 .marker = {.value = (v), .number = (n), .type = (t)}}
#define REG(which, group, how, v) \
	{.kind = HF_EVENT_REG, .reg = {.number = (which), .class = (group), .role = (how), .value = (v)}}

static const struct golden goldens[] = {
	/* attachments without an instruction: the known state at the start */
	{"# x1~0 f31~3ff0000000000000 mstatus~a00001800 i{7} x30:1 sp=2 pc~3 v31=0000000000000004 "
	 "z2=0000000000000005_0000000000000006_0000000000000007 p15=8 ffr=9 s3_0_c1_c0_2=a r13=b r13_svc=c cpsr=d "
	 "spsr_und=e r5_?20=f d31=10 s31=11 p15_7_c1_c0_2=12 p14_0_c0_c1_0=13 ?9=14\n",
	 {REG(1, 1, 1, 0), REG(31, 2, 1, 0x3ff0000000000000), REG(0x300, 4, 1, 0xa00001800),
	  REG(0, HF_REG_ZA_INDEX, HF_REG_STATE, 7)}},
	{NULL,
	 {REG(30, HF_REG_ARM_GENERAL, HF_REG_SOURCE, 1), REG(31, HF_REG_ARM_GENERAL, 3, 2),
	  REG(32, HF_REG_ARM_GENERAL, 1, 3), REG(31, HF_REG_ARM_VECTOR, 3, 4),
	  {.kind = HF_EVENT_REG, .size = 16, .reg = {.number = 2, .class = HF_REG_ARM_VECTOR, .role = 3, .value = 5}},
	  DATA(16, [0] = 6, [8] = 7)}},
	{NULL,
	 {REG(15, HF_REG_ARM_PREDICATE, 3, 8), REG(16, HF_REG_ARM_PREDICATE, 3, 9), REG(0xc082, HF_REG_ARM_SYSTEM, 3, 10),
	  REG(13, HF_REG_ARM32_GENERAL, 3, 11), REG(0x130d, HF_REG_ARM32_GENERAL, 3, 12),
	  REG(16, HF_REG_ARM32_GENERAL, 3, 13)}},
	{NULL,
	 {REG(0x1b11, HF_REG_ARM32_GENERAL, 3, 14), REG(0x1405, HF_REG_ARM32_GENERAL, 3, 15),
	  REG(31, HF_REG_ARM32_FLOAT, 3, 16), REG(63, HF_REG_ARM32_FLOAT, 3, 17), REG(0x7882, HF_REG_ARM32_SYSTEM, 3, 18)}},
	{NULL, {REG(8, HF_REG_ARM32_SYSTEM, 3, 19), REG(9, HF_REG_UNKNOWN, 3, 20)}},
	{"0 M 0000000080004748 02061713 slli a4, a2, 32\n",
	 {INSN(0x80004748, 0x02061713, 4, HF_FLOW_PLAIN)}},
	{"1 M 0000000080004750 02f71663 bne a4, a5, 44          -> 000000008000477c\n",
	 {INSN(0x80004750, 0x02f71663, 4, HF_FLOW_BRANCH, .flags = HF_EVF_TAKEN, .insn.target = 0x8000477c)}},
	{"2 M 000000008000477c 02f71663 bne a4, a5, 44          (not taken)\n",
	 {INSN(0x8000477c, 0x02f71663, 4, HF_FLOW_BRANCH)}},
	{"3 M 0000000080004780 60e2     ld ra, 24(sp)           R8 0000000080027c08=1111111111111111\n",
	 {INSN(0x80004780, 0x60e2, 2, HF_FLOW_PLAIN),
	  {.kind = HF_EVENT_MEM, .flags = HF_EVF_READ, .words = 1,
	   .mem = {.address = 0x80027c08, .size = 8, .data = 0x1111111111111111}}}},
	/* data narrower than the value the source holds; none known; all attributes; 16 bytes */
	{"4 M 0000000080004782 00058503 lb a0, 0(a1)            R1 0000000000001000=80 "
	 "R1 0000000000001000=ffffffffffffff80 W4 0000000000002000{tag=3,attr=beef} "
	 "RW16 0000000000003000=0000000000000001_0000000000000002 ?0 0000000000000000=0000000000000005\n",
	 {INSN(0x80004782, 0x00058503, 4, HF_FLOW_PLAIN),
	  {.kind = HF_EVENT_MEM, .flags = HF_EVF_READ, .words = 1, .mem = {.address = 0x1000, .size = 1, .data = 0x80}},
	  {.kind = HF_EVENT_MEM, .flags = HF_EVF_READ, .words = 1,
	   .mem = {.address = 0x1000, .size = 1, .data = 0xffffffffffffff80}},
	  {.kind = HF_EVENT_MEM, .flags = HF_EVF_WRITE,
	   .mem = {.address = 0x2000, .size = 4, .attr = 0xbeef, .tag = 3}},
	  {.kind = HF_EVENT_MEM, .flags = HF_EVF_READ | HF_EVF_WRITE, .words = 2, .size = 8,
	   .mem = {.address = 0x3000, .size = 16, .data = 1}},
	  DATA(8, 2)}},
	{NULL, {{.kind = HF_EVENT_MEM, .words = 1, .mem = {.data = 5}}}},
	/* registers, and what else belongs to an instruction */
	{"5 M 0000000080004786 30529073 csrw mtvec, t0          x5:80000100 mtvec=80000100 csr_7ff=1 pc~80004786 "
	 "v8=0000000000000001_0000000000000002_0000000000000003_0000000000000004\n",
	 {INSN(0x80004786, 0x30529073, 4, HF_FLOW_PLAIN), REG(5, 1, 2, 0x80000100), REG(0x305, 4, 3, 0x80000100),
	  REG(0x7ff, 4, 3, 1), REG(0x20, 1, 1, 0x80004786)}},
	{NULL,
	 {{.kind = HF_EVENT_REG, .size = 24, .reg = {.number = 8, .class = 3, .role = 3, .value = 1}},
	  DATA(24, [0] = 2, [8] = 3, [16] = 4)}},
	{"6 M 000000008000478a 00000013 nop                     ready:7 uop:1234 walk 0000000040001000/1000 first=7 "
	 "0000000080100000:0000000002004001 0000000000000003:0000000000000004 bus:DMA0:W2 0000000000009000=0001\n",
	 {INSN(0x8000478a, 0x00000013, 4, HF_FLOW_PLAIN),
	  {.kind = HF_EVENT_READY_REG, .reg.number = 7},
	  {.kind = HF_EVENT_UOP, .uop_size = 2, .uop.opcode = 0x1234},
	  {.kind = HF_EVENT_TRANSLATION, .size = 32,
	   .walk = {.va = 0x40001000, .first = 7, .page_size = 0x1000, .entries = 2}},
	  DATA(24, [2] = 0x10, [3] = 0x80, [8] = 0x01, [9] = 0x40, [11] = 0x02, [16] = 3), DATA(8, 4)}},
	{NULL, {{.kind = HF_EVENT_BUS, .flags = HF_EVF_WRITE, .words = 1,
		 .bus = {.address = 0x9000, .data = 1, .size = 2, .master = 3}}}},
	/* an attempt and its trap; the second trap tells nothing; return; loose attachment behind it */
	{"# attempt M 000000008000478e 00058503 lb a0, 0(a1)            record=12 R1 0000000000001000\n"
	 "# trap exception cause=13 (load page fault) value=1000 -> 0000000080000100 mode=S meta=d,1000,0,1\n",
	 {{.kind = HF_EVENT_ATTEMPT, .flags = HF_EVF_RECORD,
	   .insn = {.pc = 0x8000478e, .opcode = 0x00058503, .size = 4, .isa = HF_ISA_RV64, .mode = HF_MODE_M,
		    .target = 12}},
	  {.kind = HF_EVENT_MEM, .flags = HF_EVF_READ, .mem = {.address = 0x1000, .size = 1}},
	  {.kind = HF_EVENT_TRAP, .flags = HF_EVF_CAUSE | HF_EVF_HANDLER | HF_EVF_MODE | HF_EVF_VALUE,
	   .mode = HF_MODE_S, .size = 32,
	   .trap = {.cause = 13, .value = 0x1000, .handler = 0x80000100}},
	  DATA(24, [0] = 13, [9] = 0x10), DATA(8, 1)}},
	{"# trap interrupt cause=?\n# trap interrupt cause=7 (machine timer)\n# trap exception cause=99\n"
	 "# trap-return -> 0000000080000200 mode=U\n# x1=5\n",
	 {{.kind = HF_EVENT_TRAP, .flags = HF_EVF_ASYNC},
	  {.kind = HF_EVENT_TRAP, .flags = HF_EVF_ASYNC | HF_EVF_CAUSE, .trap.cause = 7},
	  {.kind = HF_EVENT_TRAP, .flags = HF_EVF_CAUSE, .trap.cause = 99},
	  {.kind = HF_EVENT_TRAP_RETURN, .flags = HF_EVF_HANDLER | HF_EVF_MODE, .mode = HF_MODE_U,
	   .trap.handler = 0x80000200},
	  REG(1, 1, 3, 5)}},
	{"# attempt ? 0000000000000004 - record=3\n",
	 {{.kind = HF_EVENT_ATTEMPT, .flags = HF_EVF_RECORD, .insn = {.pc = 4, .target = 3, .mode = 200}}}},
	/* what is not known, where 0 would be a value */
	{"# attempt ? 0000000000000004 -\n"
	 "# trap exception cause=13 (load page fault)\n# trap exception cause=13 (load page fault) value=0\n"
	 "# R4 ?=00000007 W8 ? R8 0000000000000000\n",
	 {{.kind = HF_EVENT_ATTEMPT, .insn = {.pc = 4}},
	  {.kind = HF_EVENT_TRAP, .flags = HF_EVF_CAUSE, .trap.cause = 13},
	  {.kind = HF_EVENT_TRAP, .flags = HF_EVF_CAUSE | HF_EVF_VALUE, .trap.cause = 13},
	  {.kind = HF_EVENT_MEM, .flags = HF_EVF_READ | HF_EVF_NO_ADDRESS, .words = 1, .mem = {.data = 7, .size = 4}},
	  {.kind = HF_EVENT_MEM, .flags = HF_EVF_WRITE | HF_EVF_NO_ADDRESS, .mem = {.size = 8}},
	  {.kind = HF_EVENT_MEM, .flags = HF_EVF_READ, .mem = {.size = 8}}}},
	{"# time 1\n# R8 0000000000000010{attr=20,stored=64} R3 0000000000000010{stored=3}\n",
	 {{.kind = HF_EVENT_TIMESTAMP, .time.value = 1},
	  {.kind = HF_EVENT_MEM, .flags = HF_EVF_READ | HF_EVF_SIZE_BITS | HF_EVF_SIZE_ASSUMED,
	   .mem = {.address = 0x10, .size = 8, .attr = 0x20}},
	  {.kind = HF_EVENT_MEM, .flags = HF_EVF_READ | HF_EVF_SIZE_ASSUMED, .mem = {.address = 0x10, .size = 3}}}},
	/* events on their own */
	{"# context hw=1 pid=2 tid=3 asid=4 vmid=5 mode=VS vlen=256 isa=RV64\n# context pid=9\n",
	 {{.kind = HF_EVENT_CONTEXT, .size = 0xff, .context = {1, 2, 3, 4, 5, 32, HF_MODE_VS, HF_ISA_RV64}},
	  {.kind = HF_EVENT_CONTEXT, .fields = HF_CONTEXT_PID, .context = {.pid = 9, .tid = 8}}}},
	/* an id that ends is told where one was known, and once */
	{"# context pid=9 tid=8 non-secure\n# context tid=7 pid=? non-secure\n# context tid=? secure\n"
	 "# context non-secure\n",
	 {{.kind = HF_EVENT_CONTEXT, .fields = HF_CONTEXT_PID | HF_CONTEXT_TID | HF_CONTEXT_STATE,
	   .context = {.pid = 9, .tid = 8}},
	  {.kind = HF_EVENT_CONTEXT, .state = HF_STATE_NO_PID, .fields = HF_CONTEXT_TID | HF_CONTEXT_STATE,
	   .context = {.tid = 7}},
	  {.kind = HF_EVENT_CONTEXT, .state = HF_STATE_NO_PID | HF_STATE_NO_TID | HF_STATE_SECURE,
	   .fields = HF_CONTEXT_STATE},
	  {.kind = HF_EVENT_CONTEXT, .state = HF_STATE_NO_PID | HF_STATE_NO_TID, .fields = HF_CONTEXT_STATE}}},
	{"# time 18446744073709551615\n# time 12 back=3\n# cycles 5\n# marker type=1 number=2 value=ff\n",
	 {{.kind = HF_EVENT_TIMESTAMP, .time.value = UINT64_MAX},
	  {.kind = HF_EVENT_TIMESTAMP, .flags = HF_EVF_BACK, .time = {12, 3, 0}},
	  {.kind = HF_EVENT_CYCLES, .time.value = 5},
	  {.kind = HF_EVENT_MARKER, .marker = {.value = 0xff, .number = 2, .type = 1}}}},
	/* beside the flow: a line of text goes on with the next piece of its channel, and ends with a line feed or by another
	 * event */
	{"# text 7 \"Hi\\n\"\n# text 7 \"\\\"a\\x00\"\n",
	 {TOLD(TEXT, 0, 0, 7, 0, 1), DATA(1, 'H'), TOLD(TEXT, 0, 0, 7, 0, 5), DATA(5, 'i', '\n', '"', 'a', 0)}},
	{"# text 8 \"b\"\n# text 7 \"\"\n", {TOLD(TEXT, 0, 0, 8, 0, 1), DATA(1, 'b'), TOLD(TEXT, 0, 0, 7, 0, 0)}},
	{"# sample pc=0000000000001000\n# sample asleep\n# sample denied\n# text 7 \"\"\n# cycles 5 late\n",
	 {TOLD(SAMPLE, HF_EVF_AT, 0x1000, 0, 0, 0), TOLD(SAMPLE, 0, 0, 0, HF_SAMPLE_ASLEEP, 0),
	  TOLD(SAMPLE, 0, 0, 0, HF_SAMPLE_DENIED, 0), TOLD(TEXT, 0, 0, 7, 0, 0),
	  {.kind = HF_EVENT_CYCLES, .flags = HF_EVF_LATE, .time.value = 5}}},
	{"# watchpoint 1 pc=0000000000001000\n# watchpoint 2 write=ff\n# watchpoint ? pc=0000000000001002\n"
	 "# counter 3 value=16\n# counter 4 wrapped\n# call pc=0000000000001000 -> 0000000000002000\n",
	 {TOLD(WATCHPOINT, HF_EVF_AT, 0x1000, 1, 0, 0), TOLD(WATCHPOINT, 0, 0xff, 2, HF_WATCH_WRITE, 0),
	  TOLD(WATCHPOINT, HF_EVF_AT | HF_EVF_UNNUMBERED, 0x1002, 0, 0, 0), TOLD(COUNTER, 0, 16, 3, 0, 0),
	  TOLD(COUNTER, 0, 0, 4, HF_COUNTER_WRAPPED, 0), TOLD(CALL, HF_EVF_AT, 0x1000, 0, 0x2000, 0)}},
	{"# exception 4 entered\n# interrupt 7 pc=0000000000001000\n# control 2 pc=0000000000001000\n# trigger ? pc=0000000000001000\n"
	 "# marker context 1c pc=0000000000001000\n",
	 {TOLD(EXCEPTION, 0, 0, 4, HF_MARKER_ENTERED, 0), TOLD(INTERRUPT, HF_EVF_AT, 0x1000, 7, 0, 0),
	  TOLD(CONTROL, HF_EVF_AT, 0x1000, 2, 0, 0), TOLD(TRIGGER, HF_EVF_AT | HF_EVF_UNNUMBERED, 0x1000, 0, 0, 0),
	  TOLD(CONTEXT, HF_EVF_AT, 0x1000, 0x1c, 0, 0)}},
	{"# comment two\\nlines\\t\\\\ and \\x00\\xff\n# comment\n",
	 {{.kind = HF_EVENT_TEXT, .size = 15},
	  DATA(9, 't', 'w', 'o', '\n', 'l', 'i', 'n', 'e', 's'),
	  DATA(9, '\t', '\\', ' ', 'a', 'n', 'd', ' ', 0, 0xff),
	  {.kind = HF_EVENT_TEXT}}},
	{"# opaque offset=99 bytes=3 data=0102ff\n",
	 {{.kind = HF_EVENT_OPAQUE, .size = 3, .text.offset = 99}, DATA(2, 1, 2), DATA(1, 0xff),
	  {.kind = HF_EVENT_KINDS}}}, /* kinds that do not exist give nothing */
	{"# discontinuity 0000000080000200 -> 0000000080000300\n# discontinuity ? -> 0000000080000300 untraced\n",
	 {{.kind = HF_EVENT_DISCONTINUITY, .jump = {.from = 0x80000200, .to = 0x80000300}},
	  {.kind = HF_EVENT_DISCONTINUITY, .flags = HF_EVF_UNTRACED, .jump.to = 0x80000300}}},
	{"# gap offset=353 bytes=12 descriptor 14 does not exist\n# doubt offset=353 the data is damaged\n"
	 "# note the file ends too early\n# gap offset=0 back=7 internal error, please report it\n",
	 {LOSS(GAP, STF_DESCRIPTOR, 353, 12, 14), LOSS(DOUBT, CORRUPT, 353, 0, 0),
	  LOSS(NOTE, TRUNCATED, HF_NOWHERE, 0, 0),
	  {.kind = HF_EVENT_GAP, .code = UINT16_MAX, .back = 7}}},
	{"# transaction id=1f clock=2 delta=10 metas=1 metasize=2 data=010203\n# dependency id=1e clock=2 delta=9\n",
	 {{.kind = HF_EVENT_TRANSACTION, .clock = 2, .size = 3,
	   .txn = {.id = 0x1f, .delta = 10, .meta_count = 1, .meta_size = 2}},
	  DATA(3, 1, 2, 3), {.kind = HF_EVENT_DEPENDENCY, .clock = 2, .txn = {.id = 0x1e, .delta = 9}}}},
	{"7 EL1h 0000000000000000 d65f03c0 ret                     -> 0000000000000010\n"
	 "8 ? 0000000000000010 ffffffff unknown\n",
	 {{.kind = HF_EVENT_INSN, .flags = HF_EVF_TAKEN, .insn = {.opcode = 0xd65f03c0, .size = 4, .isa = HF_ISA_A64,
	   .flow = HF_FLOW_RETURN, .mode = HF_MODE_EL1h, .target = 0x10}},
	  {.kind = HF_EVENT_INSN, .insn = {.pc = 0x10, .opcode = 0xffffffff, .size = 4, .mode = 99}}}},
	/* the trace ends at a branch */
	{"9 M 0000000000000014 02f71663 bne a4, a5, 44\n",
	 {INSN(0x14, 0x02f71663, 4, HF_FLOW_BRANCH, .flags = HF_EVF_OPEN)}},
};

#define GOLDENS (sizeof goldens / sizeof goldens[0])

static struct hf_event all[GOLDENS * 6];
static size_t all_count;

static struct hf_enc *new_encoder(const struct hf_stream *stream, const struct hf_enc_env *with)
{
	struct hf_enc *enc;

	CHECK_EQ(hf_enc_new(&hf_view_listing, stream, 0, with, &enc), 0);
	return enc;
}

/* All of the text of n events, terminated; to be freed. */
static char *encode(const struct hf_stream *stream, const struct hf_enc_env *with, const struct hf_event *ev, size_t n)
{
	struct hf_enc *enc = new_encoder(stream, with);
	struct hf_sink sink;

	CHECK_EQ(hf_sink_init_memory(&sink, 0), 0);
	hf_enc_put(enc, ev, n, &sink);
	hf_enc_end(enc, &sink);
	*hf_sink_room(&sink, 1) = 0;
	hf_enc_free(enc);
	return (char *)sink.start;
}

static void gather(void)
{
	/* the number of events of a row: up to the last that is not all zero */
	static const struct hf_event none;

	for (size_t i = 0; i < GOLDENS; i++) {
		size_t n = 6;

		while (n > 0 && memcmp(&goldens[i].ev[n - 1], &none, sizeof none) == 0)
			n--;
		memcpy(all + all_count, goldens[i].ev, n * sizeof none);
		all_count += n;
	}
}

static void test_golden(void)
{
	char *text = encode(&riscv, &env, all, all_count), *p = text;

	for (size_t i = 0; i < GOLDENS; i++) {
		size_t n = goldens[i].text ? strlen(goldens[i].text) : 0;

		if (n && strncmp(p, goldens[i].text, n) != 0) {
			fprintf(stderr, "row %zu is\n%.*s\nand not\n%s\n", i, (int)n + 20, p, goldens[i].text);
			exit(1);
		}
		p += n;
	}
	CHECK_STR(p, "");
	free(text);
}

/* Without a disassembler; AArch64 causes; DATA that belongs to nothing. */
static void test_variants(void)
{
	static const struct hf_event plain[] = {
		INSN(0x1000, 0x60e2, 2, HF_FLOW_PLAIN), REG(1, 1, 2, 16),
		INSN(0x1002, 0x00000013, 4, HF_FLOW_PLAIN), REG(1, 1, 2, 16),
		INSN(0x1006, 0x9002, 2, HF_FLOW_BRANCH),
	};
	static const struct hf_event traps[] = {
		{.kind = HF_EVENT_TRAP, .flags = HF_EVF_CAUSE, .trap.cause = 0x15},
		{.kind = HF_EVENT_TRAP, .flags = HF_EVF_CAUSE | HF_EVF_ASYNC, .trap.cause = 1},
		{.kind = HF_EVENT_TIMESTAMP, .time.value = 1},
		DATA(2, 0xab, 0xcd),
		DATA(1, 0xef),
	};
	char *text = encode(&riscv, NULL, plain, 5);

	CHECK_STR(text, "0 M 0000000000001000 60e2     x1:10\n1 M 0000000000001002 00000013 x1:10\n"
			"2 M 0000000000001006 9002     (not taken)\n");
	free(text);
	text = encode(&arm, &env, traps, 5);
	CHECK_STR(text, "# trap exception cause=21 (SVC)\n# trap interrupt cause=1 (IRQ)\n# time 1\n# data=abcdef\n");
	free(text);
	text = encode(&riscv, &env, NULL, 0);
	CHECK_STR(text, "");
	free(text);
}

/* Ordinals across every carry and change of width. */
static void test_ordinals(void)
{
	static const uint64_t starts[] = {0, 95, 99990, 99999990, 999999999990, 9999999999999990,
					  UINT64_C(9223372036854775000)};
	struct hf_event ev = INSN(0, 0x00000013, 4, HF_FLOW_PLAIN);

	for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++) {
		struct hf_enc *enc = new_encoder(&riscv, NULL);
		uint8_t blob[HF_STATE_MAX], buf[16 * HF_SINK_ROOM];
		struct hf_sink sink;

		((struct listing *)enc)->state.ordinal = starts[i];
		CHECK_EQ(hf_enc_load(enc, blob, hf_enc_save(enc, blob)), 0);
		hf_sink_init_buffer(&sink, buf, sizeof buf);
		for (uint64_t k = 0; k < 100; k++) {
			char want[40];
			uint8_t *before = sink.p + (k > 0);

			hf_enc_put(enc, &ev, 1, &sink);
			snprintf(want, sizeof want, "%" PRIu64 " M 0", starts[i] + k);
			CHECK(memcmp(before, want, strlen(want)) == 0);
		}
		hf_enc_free(enc);
	}
}

static void test_entry_points(void)
{
	static uint8_t count_buf[2 * HF_SINK_ROOM];
	char *whole = encode(&riscv, &env, all, all_count);
	struct hf_enc *enc = new_encoder(&riscv, &env);
	struct hf_sink first, rest, count;

	hf_sink_init_count(&count, count_buf, sizeof count_buf);
	CHECK_EQ(hf_sink_init_memory(&first, 0), 0);
	for (size_t i = 0; i <= all_count; i++) {
		struct hf_enc *other = new_encoder(&riscv, &env);
		uint8_t blob[HF_STATE_MAX];
		size_t size = hf_enc_save(enc, blob);

		CHECK(size < 24);
		CHECK_EQ(hf_sink_init_memory(&rest, 0), 0);
		hf_enc_put(other, all, all_count - i, &rest); /* dirty */
		rest.p = rest.start;
		CHECK_EQ(hf_enc_load(other, blob, size), 0);
		hf_enc_put(other, all + i, all_count - i, &rest);
		hf_enc_end(other, &rest);
		CHECK_EQ((size_t)(first.p - first.start) + (size_t)(rest.p - rest.start), strlen(whole));
		CHECK(memcmp(first.start, whole, (size_t)(first.p - first.start)) == 0);
		CHECK(memcmp(rest.start, whole + (first.p - first.start), (size_t)(rest.p - rest.start)) == 0);
		hf_sink_fini_memory(&rest);
		hf_enc_free(other);
		if (i < all_count)
			hf_enc_put(enc, &all[i], 1, &first);
	}
	hf_sink_fini_memory(&first);
	hf_enc_free(enc);

	enc = new_encoder(&riscv, &env);
	hf_enc_put(enc, all, all_count, &count);
	hf_enc_end(enc, &count);
	CHECK_EQ(hf_sink_total(&count), strlen(whole));
	hf_enc_free(enc);
	free(whole);
}

/* Where an ordinal gets a digit more; twice, so that what was measured is used; and with the names of symbols. */
static void test_counted(void)
{
	static const uint64_t starts[] = {0, 1, 5, 9, 10, 95, 99999990, UINT64_MAX / 2 - 200};
	static struct hf_event twice[2 * GOLDENS * 6];

	memcpy(twice, all, all_count * sizeof *all);
	memcpy(twice + all_count, all, all_count * sizeof *all);
	for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
		struct hf_enc *enc = new_encoder(&riscv, NULL);
		uint8_t blob[HF_STATE_MAX];
		struct counted c = {.ops = &hf_view_listing, .stream = &riscv, .env = env, .ev = twice, .n = 2 * all_count,
				    .blob = blob};

		((struct listing *)enc)->state.ordinal = starts[i];
		c.blob_size = hf_enc_save(enc, blob);
		hf_enc_free(enc);
		for (c.step = 1; c.step <= c.n; c.step++)
			CHECK(counted_is_written(&c));
		c.stream = &arm;
		CHECK(counted_is_written(&c));
	}
}

/* Those of an ELF that has one, of 16 bytes. */
static struct hf_symbols *one_symbol(uint64_t at)
{
	struct {
		Elf64_Ehdr header;
		Elf64_Shdr section[4];
		Elf64_Sym symbol[2];
		char names[8];
	} elf = {
		.header = {.e_ident = ELFMAG "\2\1\1", .e_type = ET_EXEC, .e_machine = EM_RISCV, .e_version = EV_CURRENT,
			   .e_ehsize = sizeof elf.header, .e_shoff = sizeof elf.header,
			   .e_shentsize = sizeof elf.section[0], .e_shnum = 4},
		.section = {[1] = {.sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC | SHF_EXECINSTR, .sh_addr = at, .sh_size = 16},
			    [2] = {.sh_type = SHT_SYMTAB, .sh_offset = (size_t)((char *)elf.symbol - (char *)&elf),
				   .sh_size = sizeof elf.symbol, .sh_link = 3, .sh_entsize = sizeof elf.symbol[0]},
			    [3] = {.sh_type = SHT_STRTAB, .sh_offset = (size_t)(elf.names - (char *)&elf),
				   .sh_size = sizeof elf.names}},
		.symbol = {[1] = {.st_name = 1, .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), .st_shndx = 1, .st_value = at,
				  .st_size = 16}},
		.names = "\0loop",
	};
	struct hf_symbols *symbols;
	struct hf_src *src;

	CHECK_EQ(hf_src_memory_new(&elf, sizeof elf, &src), 0);
	CHECK_EQ(hf_symbols_new(src, 0, 0, &symbols, NULL), 0);
	CHECK_EQ(hf_symbols_count(symbols), 1);
	hf_src_free(src);
	return symbols;
}

/* Encoders that take turns with one disassembler have no line of another; nor has one that was loaded, of itself before. */
static void test_lines(void)
{
	static const struct hf_event loop[] = {
		INSN(0x1000, 0x00000013, 4, HF_FLOW_PLAIN), INSN(0x1004, 0x0000a001, 2, HF_FLOW_PLAIN),
		INSN(0x1000, 0x00000013, 4, HF_FLOW_PLAIN), INSN(0x1004, 0x0000a001, 2, HF_FLOW_PLAIN),
	};
	struct hf_symbols *symbols = one_symbol(0x1000);
	struct hf_enc_env with = {.disasm = env.disasm, .symbols = symbols};
	struct hf_enc *enc[2] = {new_encoder(&riscv, &with), new_encoder(&riscv, &env)};
	char *alone[2] = {encode(&riscv, &with, loop, 4), encode(&riscv, &env, loop, 4)};
	uint8_t blob[HF_STATE_MAX];
	struct hf_sink sink[2];

	CHECK(strcmp(alone[0], alone[1]) != 0);
	for (size_t k = 0; k < 2; k++)
		CHECK_EQ(hf_sink_init_memory(&sink[k], 0), 0);
	for (size_t i = 0; i < 8; i++)
		hf_enc_put(enc[i % 2], &loop[i / 2], 1, &sink[i % 2]);
	for (size_t k = 0; k < 2; k++) {
		hf_enc_end(enc[k], &sink[k]);
		*hf_sink_room(&sink[k], 1) = 0;
		CHECK_STR((char *)sink[k].start, alone[k]);
	}
	hf_enc_free(enc[1]);
	enc[1] = new_encoder(&riscv, &with);
	hf_enc_put(enc[0], loop, 4, &sink[0]);
	CHECK_EQ(hf_enc_load(enc[0], blob, hf_enc_save(enc[1], blob)), 0);
	with.symbols = NULL;
	sink[0].p = sink[0].start;
	hf_enc_put(enc[0], loop, 4, &sink[0]);
	hf_enc_end(enc[0], &sink[0]);
	*hf_sink_room(&sink[0], 1) = 0;
	CHECK_STR((char *)sink[0].start, alone[1]);
	/* Twice with the symbols of before: the second time by lines from before the state was loaded. */
	with.symbols = symbols;
	for (size_t k = 0; k < 2; k++) {
		CHECK_EQ(hf_enc_load(enc[0], blob, hf_enc_save(enc[1], blob)), 0);
		sink[0].p = sink[0].start;
		hf_enc_put(enc[0], loop, 4, &sink[0]);
		hf_enc_end(enc[0], &sink[0]);
		*hf_sink_room(&sink[0], 1) = 0;
		CHECK_STR((char *)sink[0].start, alone[0]);
	}
	for (size_t k = 0; k < 2; k++) {
		hf_sink_fini_memory(&sink[k]);
		hf_enc_free(enc[k]);
		free(alone[k]);
	}
	hf_symbols_free(symbols);
}

/* Blobs are taken for hostile. */
static void test_bad_blobs(void)
{
	struct hf_enc *enc = new_encoder(&riscv, NULL);
	uint8_t blob[HF_STATE_MAX];
	size_t size = hf_enc_save(enc, blob);

	for (size_t i = 0; i < size; i++) {
		uint8_t keep = blob[i];

		CHECK_EQ(hf_enc_load(enc, blob, i), HF_ERR_STATE);
		blob[i] = 0x7f;
		CHECK(hf_enc_load(enc, blob, size) == (i == 1 ? 0 : HF_ERR_STATE)); /* 1: the ordinal */
		blob[i] = keep;
	}
	hf_enc_free(enc);
}

static void test_refusal(void)
{
	struct hf_stream_info info = {.flags = HF_STREAM_HARTS};

	CHECK(hf_enc_refusal(&hf_view_listing, &info) == NULL);
	info.flags = 0;
	CHECK(hf_enc_refusal(&hf_view_listing, &info) != NULL);
}

int main(void)
{
	CHECK_EQ(hf_disasm_new(&env.disasm), 0);
	gather();
	test_golden();
	test_variants();
	test_ordinals();
	test_entry_points();
	test_counted();
	test_lines();
	test_bad_blobs();
	test_refusal();
	hf_disasm_free(env.disasm);
	return 0;
}

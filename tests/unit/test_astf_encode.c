/* SPDX-License-Identifier: Apache-2.0 */
/* The ASTF encoder: other formats' events, the trace levels' rules, and the way to STF and back. */
#include "codecs/views.h"
#include "tests/lib/astftest.h"

extern const struct hf_codec hf_codec_stf;

#define PLUS "HEADER version_minor=b timestamps=1\n"
#define BASIC "HEADER version_minor=b single_el=1\n"

/* The header and what hartfs says there of itself and the source: strings of 2 and 4 records. */
#define HEAD (7 * HF_ASTF_SIZE)

static const struct hf_codec foreign_codec = {.name = "other", .title = "Other Trace"};
static struct hf_stream foreign = {
	.codec = &foreign_codec,
	.info = {.arch = HF_ARCH_ARM, .xlen = 64, .isa = HF_ISA_A64, .flags = HF_STREAM_HARTS, .version = "1"},
};

static struct hf_events in;

static struct hf_event *add(enum hf_event_kind kind)
{
	hf_events_add(&in, &(struct hf_event){.kind = (uint8_t)kind}, 1);
	return &in.ev[in.n - 1];
}

static struct hf_event *insn(enum hf_event_kind kind, uint64_t pc, uint32_t opcode)
{
	struct hf_event *ev = add(kind);

	ev->insn = (struct hf_ev_insn){.pc = pc, .opcode = opcode, .size = 4, .isa = HF_ISA_A64, .mode = HF_MODE_EL1h};
	return ev;
}

static struct hf_event *mem(uint64_t address, uint32_t size, uint8_t flags)
{
	struct hf_event *ev = add(HF_EVENT_MEM);

	ev->flags = flags;
	ev->mem.address = address;
	ev->mem.size = size;
	return ev;
}

/* in as trace.astf is what the text describes, behind header and comment (3 records). */
static void expect(const char *text)
{
	struct hf_walk_bytes got = hf_astft_encode(&foreign, &in), want = hf_astft_build(text), lines;

	CHECK(got.n >= HEAD);
	if (got.n - HEAD != want.n || memcmp(got.p + HEAD, want.p, want.n) != 0) {
		lines = hf_astft_dump(&got);
		fprintf(stderr, "%s\nand not\n%s\n", (const char *)lines.p, text);
		exit(1);
	}
	in.n = 0;
	hf_bytes_free(&got);
	hf_bytes_free(&want);
}

static void test_accesses(void)
{
	insn(HF_EVENT_INSN, 0x1000, 0xf8e00000);
	mem(0x55000000002000, 8, HF_EVF_READ);
	mem(0x55000000002000, 8, HF_EVF_WRITE); /* STF's way of a read-modify-write */
	insn(HF_EVENT_INSN, 0x1004, 0xa9000000);
	mem(0x3000, 0, 0)->mem.tag = 5;
	mem(0x4000, 600, HF_EVF_WRITE);
	mem(0x5000, 0x123456, HF_EVF_READ)->mem.attr = HF_ARM_ATTR_RANGE;
	mem(0x6000, 1, HF_EVF_READ);
	expect("CONTEXT el=1 handler=1\n"
	       "INSTR iword=f8e00000 pc=1000 ea=55000000002000 ea_size=7 ea_valid=1 is_read=1 is_write=1\n"
	       "INSTR iword=a9000000 pc=1004 ea=3000 ea_valid=1 ea_tagged=1 extra_eas=1\n"
	       "EXTRA_EA mem0_addr=4000 mem0_size=ff mem0_is_write=1 mem1_valid=1 mem1_addr=4100 mem1_size=ff "
	       "mem1_is_write=1 extra_eas=1\n"
	       "EXTRA_EA mem0_addr=4200 mem0_size=57 mem0_is_write=1 extra_eas=1\n"
	       "EXTRA_EA mem0_addr=5000 mem0_is_read=1 mem1_addr_range=1 mem1_addr=123456 extra_eas=1\n"
	       "EXTRA_EA mem0_addr=6000 mem0_is_read=1\n");
}

static void test_traps(void)
{
	struct hf_event *ev;

	insn(HF_EVENT_INSN, 0x1000, 0xd4000021);
	ev = add(HF_EVENT_TRAP);
	ev->flags = HF_EVF_CAUSE | HF_EVF_HANDLER;
	ev->trap = (struct hf_ev_trap){.cause = 0x15, .value = 9, .handler = 0x9000};
	insn(HF_EVENT_INSN, 0x9000, 0xd503201f);
	insn(HF_EVENT_ATTEMPT, 0x9004, 0xd503201f); /* what STF has for an interrupt */
	ev = add(HF_EVENT_TRAP);
	ev->flags = HF_EVF_CAUSE | HF_EVF_HANDLER | HF_EVF_ASYNC;
	ev->trap = (struct hf_ev_trap){.cause = 2, .handler = 0x9300};
	insn(HF_EVENT_ATTEMPT, 0x9300, 0xf9400000);
	mem(0x77, 8, 0);
	ev = add(HF_EVENT_TRAP);
	ev->flags = HF_EVF_CAUSE | HF_EVF_HANDLER;
	ev->trap = (struct hf_ev_trap){.cause = 0x25, .handler = 0xff80000000009200};
	expect("CONTEXT el=1 handler=1\nINSTR iword=d4000021 pc=1000 trap=1\n"
	       "TRAP ec=15 syscall_type=1 syscall_index=9 target_pc=9000\nINSTR iword=d503201f pc=9000\n"
	       "TRAP trap_type=3 target_pc=9300\nINSTR iword=f9400000 pc=9300 trap=1 ea_valid=1 ea=77 ea_size=7\n"
	       "TRAP ec=25 target_pc=ff80000000009200\n");
}

/* In a trace of one level: no traps and attempts, a Context where the flow breaks or a system call was made. */
static void test_basic(void)
{
	foreign.info.flags |= HF_STREAM_ONE_LEVEL;
	insn(HF_EVENT_INSN, 0x1000, 0xd4000021);
	insn(HF_EVENT_INSN, 0x1004, 0xd503201f);
	insn(HF_EVENT_ATTEMPT, 0x1008, 0xd503201f);
	mem(0x77, 8, 0);
	add(HF_EVENT_TRAP)->flags = HF_EVF_CAUSE;
	add(HF_EVENT_DISCONTINUITY);
	insn(HF_EVENT_INSN, 0x2000, 0xd503201f);
	expect("CONTEXT el=1 handler=1\nINSTR iword=d4000021 pc=1000 trap=1\nCONTEXT el=1 handler=1\n"
	       "INSTR iword=d503201f pc=1004\nCONTEXT el=1 handler=1\nINSTR iword=d503201f pc=2000\n");
	foreign.info.flags &= (uint8_t)~HF_STREAM_ONE_LEVEL;
}

/* What ASTF cannot hold: AArch32 code is an absence, an unexplained jump a remark. */
static void test_foreign(void)
{
	insn(HF_EVENT_INSN, 0x1000, 0xd503201f);
	insn(HF_EVENT_INSN, 0x2000, 0xe320f000)->insn.isa = HF_ISA_A32;
	mem(0x77, 4, HF_EVF_READ);
	insn(HF_EVENT_INSN, 0x2004, 0xe320f000)->insn.isa = HF_ISA_A32;
	insn(HF_EVENT_INSN, 0x3000, 0xd503201f);
	add(HF_EVENT_TIMESTAMP)->time.value = 5;
	add(HF_EVENT_DISCONTINUITY);
	insn(HF_EVENT_INSN, 0x4000, 0xd503201f);
	expect("CONTEXT el=1 handler=1\nINSTR iword=d503201f pc=1000\nCONTEXT el=1 handler=1 unsupported=1\n"
	       "CONTEXT el=1 handler=1\nINSTR iword=d503201f pc=3000\n"
	       "STRING hartfs: timestamp 5\n"
	       "STRING hartfs: the flow goes on elsewhere, the source does not say why\n"
	       "CONTEXT el=1 handler=1\nINSTR iword=d503201f pc=4000\n");
}

/* A text of more than 65,535 bytes is two strings; one whose DATA never comes is zeros. */
static void test_texts(void)
{
	struct hf_walk_bytes bytes;
	struct hf_events back;

	add(HF_EVENT_TEXT)->size = 65600;
	insn(HF_EVENT_INSN, 0x1000, 0xd503201f);
	bytes = hf_astft_encode(&foreign, &in);
	back = hf_astft_decode(&bytes);
	CHECK_EQ(hf_astft_count(&back, HF_EVENT_TEXT, 0), 4);
	CHECK_EQ(hf_astft_count(&back, HF_EVENT_NOTE, 0), 0);
	hf_events_free(&back);
	hf_bytes_free(&bytes);
	in.n = 0;
}

static void test_refusals(void)
{
	struct hf_stream_info info = foreign.info;

	CHECK(!hf_enc_refusal(&hf_view_astf, &info));
	info.flags |= HF_STREAM_NO_ACCESSES;
	CHECK(hf_enc_refusal(&hf_view_astf, &info));
	info.flags = 0;
	CHECK(hf_enc_refusal(&hf_view_astf, &info));
	info = (struct hf_stream_info){.arch = HF_ARCH_RISCV, .flags = HF_STREAM_HARTS};
	CHECK(hf_enc_refusal(&hf_view_astf, &info));
	info = (struct hf_stream_info){.arch = HF_ARCH_ARM, .isa = HF_ISA_T32, .flags = HF_STREAM_HARTS};
	CHECK(hf_enc_refusal(&hf_view_astf, &info));
}

/* To STF, and back: the records that are expected then, behind header and comments. */
static void through_stf(const char *text, const char *want_text)
{
	struct hf_walk_bytes bytes = hf_astft_build(text), stf, back, want = hf_astft_build(want_text);
	struct hf_events list;
	struct hf_stft t, u;

	hf_astft_open(&t, &bytes);
	list = hf_stft_events(t.stream, t.src, 0, 64);
	stf = hf_stft_encode(t.stream, 0, &list);
	hf_events_free(&list);
	hf_stft_open(&u, &stf);
	list = hf_stft_events(u.stream, u.src, 0, 64);
	CHECK_EQ(hf_astft_count(&list, HF_EVENT_NOTE, 0), 0);
	back = hf_astft_encode(u.stream, &list);
	if (back.n < want.n || memcmp(back.p + back.n - want.n, want.p, want.n) != 0) {
		struct hf_walk_bytes lines = hf_astft_dump(&back);

		fprintf(stderr, "%s\nand not\n%s\n", (const char *)lines.p, want_text);
		exit(1);
	}
	hf_events_free(&list);
	hf_stft_close(&t);
	hf_stft_close(&u);
	hf_bytes_free(&bytes);
	hf_bytes_free(&stf);
	hf_bytes_free(&back);
	hf_bytes_free(&want);
}

static void test_stf(void)
{
	static const char plus[] =
		"CONTEXT pid_valid=1 pid=5 tid_valid=1 tid=6\n"
		"INSTR iword=54000041 pc=1000 is_branch=1\n"
		"INSTR iword=14000002 pc=1004 is_branch=1 ea_valid=1 ea=100c\n"
		"INSTR iword=f8e00000 pc=100c ea_valid=1 ea=2000 ea_size=7 is_read=1 is_write=1\n"
		"INSTR iword=1dc00693 pc=1010 xattr_mode=1 ea_tagged=1 is_write=1 ea_valid=1 ea=3000 xattr=12345678\n"
		"INSTR iword=f9800000 pc=1014 ea_valid=1 ea=6000\n"
		"TRAP trap_type=2 target_pc=9280\nCONTEXT el=1 handler=1\n"
		"INSTR iword=d69f03e0 pc=9280\nTRAP trap_type=4 target_pc=1018\n"
		"CONTEXT pid_valid=1 pid=5 tid_valid=1 tid=6\n"
		"INSTR iword=f9400000 pc=1018 trap=1 ea_valid=1 ea=77 ea_size=7\n"
		"TRAP ec=24 target_pc=9200\nCONTEXT el=1 handler=1\n"
		"INSTR iword=d503201f pc=9200\nTRAP ec=21 target_pc=9200\nTRAP trap_type=1 ec=2f target_pc=9380\n"
		"INSTR iword=d4000022 pc=9380 trap=1\n"
		"TRAP ec=16 syscall_type=2 syscall_index=3 target_pc=a000\nCONTEXT el=2 handler=1\n"
		"INSTR iword=d503201f pc=a000\n";
	static const char basic[] =
		"CONTEXT pid_valid=1 pid=5\nINSTR iword=d4000021 pc=1000 trap=1\nCONTEXT pid_valid=1 pid=5\n"
		"INSTR iword=d503201f pc=1004\nCONTEXT pid_valid=1 pid=5\nINSTR iword=d503201f pc=5000\n";
	char text[4096];

	snprintf(text, sizeof text, "%s%s", PLUS, plus);
	through_stf(text, plus);
	snprintf(text, sizeof text, "%s%s", BASIC, basic);
	through_stf(text, basic);
}

int main(void)
{
	test_accesses();
	test_traps();
	test_basic();
	test_foreign();
	test_texts();
	test_refusals();
	test_stf();
	hf_events_free(&in);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The ASTF decoder: each rule of the trace levels, what is damaged or cut, and entering between any two events. */
#include "codecs/astf/errors.h"
#include "codecs/base/errors.h"
#include "tests/lib/astftest.h"

#define PLUS "HEADER version_minor=b timestamps=1\n"
#define BASIC "HEADER version_minor=b single_el=1\n"
#define EL0 "CONTEXT pid_valid=1 pid=5\n"
#define EL1 "CONTEXT el=1 handler=1\n"
#define NOP(pc) "INSTR iword=d503201f pc=" #pc "\n"

static struct hf_walk_bytes stream;
static struct hf_events list;

static void decode(const char *text)
{
	hf_bytes_free(&stream);
	hf_events_free(&list);
	stream = hf_astft_build(text);
	list = hf_astft_decode(&stream);
	hf_astft_check_seek(&stream);
}

static const struct hf_event *nth(enum hf_event_kind kind, size_t n)
{
	for (size_t i = 0; i < list.n; i++)
		if (list.ev[i].kind == kind && n-- == 0)
			return &list.ev[i];
	CHECK(0 && "there is such an event");
	return NULL;
}

#define COUNT(kind) hf_astft_count(&list, HF_EVENT_##kind, 0)
#define NOTES(code) hf_astft_count(&list, HF_EVENT_NOTE, HF_ERR_##code)

/* One NOTE of that code and no other. */
static void noted(const char *text, int code)
{
	decode(text);
	CHECK_EQ(COUNT(NOTE), 1);
	CHECK_EQ(hf_astft_count(&list, HF_EVENT_NOTE, code), 1);
}

static void clean(const char *text)
{
	decode(text);
	CHECK_EQ(COUNT(NOTE), 0);
	CHECK_EQ(COUNT(GAP), 0);
}

static void test_accesses(void)
{
	clean(PLUS "TIMESTAMP unit=1 value0=1\n" EL1
	      "INSTR iword=c89ffc62 pc=1000 is_read=1 is_write=1 ea_valid=1 ea=2000 ea_size=7 extra_eas=1 ea_tagged=1\n"
	      "EXTRA_EA mem0_addr=3000 mem0_size=ff mem0_is_write=1 mem1_valid=1 mem1_addr=4000 mem1_is_read=1 "
	      "mem1_tagged=1 extra_eas=1\n"
	      "EXTRA_EA mem0_addr=5000 mem0_is_read=1 mem1_addr_range=1 mem1_addr=123456\n"
	      "INSTR iword=f9800000 pc=1004 ea_valid=1 ea=6000\n" /* prfm */
	      "INSTR iword=d50b7e20 pc=1008 ea_valid=1 ea=7000\n" /* dc civac */);
	CHECK_EQ(COUNT(MEM), 6);
	CHECK_EQ(nth(HF_EVENT_MEM, 0)->flags, HF_EVF_READ | HF_EVF_WRITE);
	CHECK_EQ(nth(HF_EVENT_MEM, 0)->mem.size, 8);
	CHECK_EQ(nth(HF_EVENT_MEM, 0)->mem.attr, HF_ARM_ATTR_CHECKED);
	CHECK_EQ(nth(HF_EVENT_MEM, 1)->mem.size, 256);
	CHECK_EQ(nth(HF_EVENT_MEM, 2)->mem.address, 0x4000);
	CHECK_EQ(nth(HF_EVENT_MEM, 2)->mem.size, 1);
	CHECK_EQ(nth(HF_EVENT_MEM, 3)->mem.size, 0x123456);
	CHECK_EQ(nth(HF_EVENT_MEM, 3)->mem.attr, HF_ARM_ATTR_RANGE);
	CHECK_EQ(nth(HF_EVENT_MEM, 4)->mem.size, 0);
	CHECK_EQ(nth(HF_EVENT_MEM, 5)->mem.size, 0);
	noted(PLUS EL1 "INSTR iword=1dc00693 xattr_mode=1 is_write=1 ea_valid=1 ea=2000 xattr=100000001\n",
	      HF_ERR_ASTF_RANGE);
	CHECK_EQ(nth(HF_EVENT_MEM, 0)->mem.size, UINT32_MAX);
}

static void test_chains(void)
{
	noted(PLUS EL1 "INSTR pc=1000 ea_valid=1 extra_eas=1 is_read=1\n" NOP(1004), HF_ERR_ASTF_CHAIN_CUT);
	CHECK_EQ(nth(HF_EVENT_NOTE, 0)->loss.offset, 0x60);
	noted(PLUS EL1 "INSTR pc=1000 ea_valid=1 extra_eas=1 is_read=1\n", HF_ERR_ASTF_CHAIN_CUT);
	noted(PLUS EL1 NOP(1000) "EXTRA_EA mem0_addr=3000\n" NOP(1004), HF_ERR_ASTF_ORPHAN);
	CHECK_EQ(COUNT(OPAQUE), 1);
	CHECK_EQ(COUNT(DATA), 2);
	CHECK_EQ(COUNT(MEM), 0);
	noted(PLUS "STRING_CONT\n", HF_ERR_ASTF_ORPHAN);
	noted(PLUS PLUS, HF_ERR_ASTF_ORPHAN);
	noted(PLUS "BYTES 33 1 2 3 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 ff\n", HF_ERR_ASTF_TYPE);
	CHECK_EQ(nth(HF_EVENT_NOTE, 0)->loss.detail, 0x33);
}

static void test_strings(void)
{
	clean(PLUS "STRING \n");
	CHECK_EQ(nth(HF_EVENT_TEXT, 0)->size, 0);
	clean(PLUS "STRING 0123456789012345678901234567890123456789012345678901234567890\n");
	CHECK_EQ(nth(HF_EVENT_TEXT, 0)->size, 61);
	CHECK_EQ(COUNT(DATA), 3);
	CHECK(memcmp(nth(HF_EVENT_DATA, 1)->data.bytes, "456789012345678901234567", 24) == 0);
	noted(PLUS "STRING size=ffff 0123456789012345678901234567890123456789\n" EL1, HF_ERR_ASTF_STRING_CUT);
	CHECK_EQ(nth(HF_EVENT_TEXT, 0)->size, 28 + 31);
	CHECK_EQ(COUNT(CONTEXT), 1);
}

/* The longest string is longer than the decoder's window is at first. */
static void test_long_string(void)
{
	struct hf_walk_bytes text = {0};

	hf_bytes_add(&text, PLUS "STRING ", strlen(PLUS "STRING "));
	for (unsigned i = 0; i < 65535; i++)
		hf_bytes_add(&text, &"0123456789"[i % 10], 1);
	hf_bytes_add(&text, "\n" EL1 NOP(1000), sizeof("\n" EL1 NOP(1000)));
	hf_bytes_free(&stream);
	hf_events_free(&list);
	stream = hf_astft_build((const char *)text.p);
	list = hf_astft_decode(&stream);
	CHECK_EQ(nth(HF_EVENT_TEXT, 0)->size, 65535);
	CHECK_EQ(COUNT(DATA), (65535 + 23) / 24);
	CHECK_EQ(nth(HF_EVENT_DATA, 2730)->data.bytes[0], '0' + 2730 * 24 % 10);
	CHECK_EQ(COUNT(INSN), 1);
	hf_bytes_free(&text);
}

static void test_traps(void)
{
	clean(PLUS EL0 "INSTR iword=d4000021 pc=1000 trap=1\n" /* svc #1 */
	      "TRAP ec=15 syscall_type=1 syscall_index=7 target_pc=9000\n" EL1
	      "INSTR iword=d69f03e0 pc=9000\n"
	      "TRAP trap_type=4 target_pc=1004\n" EL0 "INSTR iword=f9400000 pc=1004 trap=1 ea_valid=1 ea=77 ea_size=7\n"
	      "TRAP ec=24 target_pc=9000\n" EL1 NOP(9000) "TRAP trap_type=2 is_virtual=1 target_pc=9280\n"
	      "TRAP trap_type=1 ec=2f target_pc=9380\n" NOP(9380) "TRAP ec=21 target_pc=9200\n" NOP(9200)
	      "TRAP trap_type=5 target_pc=0\n" NOP(0));
	CHECK_EQ(COUNT(INSN), 6);
	CHECK_EQ(COUNT(ATTEMPT), 1);
	CHECK_EQ(nth(HF_EVENT_ATTEMPT, 0)->insn.target, 2);
	CHECK_EQ(COUNT(TRAP), 6);
	CHECK_EQ(nth(HF_EVENT_TRAP, 0)->trap.value, 7);
	CHECK_EQ(nth(HF_EVENT_TRAP, 0)->flags, HF_EVF_CAUSE | HF_EVF_HANDLER | HF_EVF_MODE | HF_EVF_VALUE);
	CHECK_EQ(nth(HF_EVENT_TRAP, 0)->mode, HF_MODE_EL1h);
	CHECK_EQ(nth(HF_EVENT_TRAP, 1)->trap.cause, 0x24);
	CHECK_EQ(nth(HF_EVENT_TRAP, 1)->trap.value, 0x77);
	CHECK_EQ(nth(HF_EVENT_TRAP, 2)->trap.cause, 1);
	CHECK(nth(HF_EVENT_TRAP, 2)->flags & HF_EVF_VIRTUAL);
	CHECK(nth(HF_EVENT_TRAP, 2)->flags & HF_EVF_ASYNC);
	CHECK_EQ(nth(HF_EVENT_TRAP, 3)->trap.cause, 0);
	CHECK_EQ(nth(HF_EVENT_TRAP, 4)->trap.value, 0x9384); /* what could not be fetched */
	CHECK_EQ(nth(HF_EVENT_TRAP, 5)->trap.cause, 3);
	CHECK_EQ(nth(HF_EVENT_TRAP_RETURN, 0)->mode, HF_MODE_EL0t);
	CHECK_EQ(COUNT(DISCONTINUITY), 0);
	/* a call that was not taken as one */
	clean(PLUS EL0 "INSTR iword=d4000002 pc=1000 trap=1\nTRAP ec=0 target_pc=9000\n" EL1 NOP(9000));
	CHECK_EQ(COUNT(ATTEMPT), 1);
	noted(PLUS EL1 "INSTR iword=d4200000 pc=1000 trap=1\n" NOP(1004), HF_ERR_ASTF_NO_TRAP);
	noted(PLUS EL1 "INSTR iword=d4200000 pc=1000 trap=1\n", HF_ERR_ASTF_NO_TRAP);
	noted(PLUS EL1 "TRAP trap_type=7 target_pc=9000\n", HF_ERR_ASTF_RESERVED);
}

static void test_basic(void)
{
	clean(BASIC EL0 "INSTR iword=d4000021 pc=1000 trap=1\n" EL0 NOP(1004) EL0 NOP(5000)
	      "INSTR iword=d4000021 pc=5004 trap=1\n");
	CHECK_EQ(COUNT(INSN), 4);
	CHECK_EQ(COUNT(DISCONTINUITY), 1);
	CHECK_EQ(nth(HF_EVENT_DISCONTINUITY, 0)->jump.from, 0x1008);
	CHECK_EQ(nth(HF_EVENT_DISCONTINUITY, 0)->jump.to, 0x5000);
	noted(BASIC EL0 "INSTR iword=d4000021 pc=1000 trap=1\n" NOP(1004), HF_ERR_ASTF_NO_TRAP);
	noted(BASIC EL0 NOP(1000) NOP(2000), HF_ERR_ASTF_JUMP);
	noted(BASIC EL0 NOP(1000) "TRAP trap_type=2 target_pc=1004\n" NOP(1004), HF_ERR_ASTF_LEVEL);
	noted(BASIC EL0 NOP(1000) EL1 NOP(1004), HF_ERR_ASTF_LEVEL);
	noted(BASIC EL0 "CONTEXT unsupported=1\n", HF_ERR_ASTF_LEVEL);
	noted(BASIC EL0 "TIMESTAMP unit=1 value0=1\n", HF_ERR_ASTF_TIME);
}

static void test_plus(void)
{
	noted(PLUS NOP(1000) NOP(1004), HF_ERR_ASTF_NO_CONTEXT);
	noted(PLUS EL1 NOP(1000) EL1 NOP(2000) NOP(3000), HF_ERR_ASTF_JUMP); /* once */
	CHECK_EQ(COUNT(DISCONTINUITY), 2);
	noted(PLUS "TIMESTAMP unit=1 value0=5\nTIMESTAMP unit=1 value0=5\nTIMESTAMP unit=1 value0=4\n",
	      HF_ERR_ASTF_TIME);
	noted(PLUS "TIMESTAMP unit=1 value0=ffffffffffffffff\n", HF_ERR_ASTF_TIME);
	noted(PLUS "TIMESTAMP unit=2 value0=5\n", HF_ERR_ASTF_RESERVED);
	noted(PLUS "CONTEXT tid_valid=1 tid=5\n", HF_ERR_ASTF_RESERVED);
	noted(PLUS "CONTEXT pid_valid=1 pid=ffffffff00000005\n" NOP(1000), HF_ERR_CONTEXT_WIDE);
	noted("HEADER version_minor=c\n", HF_ERR_ASTF_MINOR);
	noted("HEADER version_minor=a use_zlib=1\n", HF_ERR_ASTF_RESERVED);
	noted("HEADER version_minor=b meminfo=1\n", HF_ERR_ASTF_RESERVED);
	decode(PLUS EL1 NOP(1000) "CONTEXT unsupported=1\nTRAP ec=15 target_pc=9000\n" EL1 NOP(9000));
	CHECK_EQ(COUNT(NOTE), 0);
	CHECK_EQ(hf_astft_count(&list, HF_EVENT_GAP, HF_ERR_ASTF_ABSENT), 1);
	CHECK_EQ(COUNT(DISCONTINUITY), 0);
	noted(PLUS EL1 "CONTEXT unsupported=1\n" NOP(1000), HF_ERR_ASTF_LEVEL);
	clean(PLUS "CONTEXT evl=3 pstate_sm=1 pstate_dit=1 pstate_ssbs=1 mte_tcf=2 el=3 secure=1\n");
	CHECK_EQ(nth(HF_EVENT_CONTEXT, 0)->context.vlen, 64);
	CHECK_EQ(nth(HF_EVENT_CONTEXT, 0)->context.mode, HF_MODE_EL3t);
	CHECK_EQ(nth(HF_EVENT_CONTEXT, 0)->state, HF_STATE_SM | HF_STATE_DIT | HF_STATE_SSBS | 0x10 | HF_STATE_SECURE |
							  HF_STATE_NO_PID | HF_STATE_NO_TID);
}

/* One DOUBT with that code, and the instruction behind it. */
static void doubted(const char *text, int code, uint64_t detail)
{
	size_t i = 0;

	clean(text);
	CHECK_EQ(COUNT(DOUBT), 1);
	while (list.ev[i].kind != HF_EVENT_DOUBT)
		i++;
	CHECK_EQ((int)list.ev[i].code, -code);
	CHECK_EQ(list.ev[i].loss.detail, detail);
	CHECK_EQ(list.ev[i + 1].kind, HF_EVENT_INSN);
}

/* Direct branches go where their opcode says: b, bl, b.eq, tbz; code lies at multiples of 4. */
static void test_leads(void)
{
	clean(PLUS EL1 "INSTR iword=14000002 pc=1000 is_branch=1 ea_valid=1 ea=1008\n"
	      "INSTR iword=97fffffe pc=1008 is_branch=1 ea_valid=1 ea=1000\n"
	      "INSTR iword=54000040 pc=1000 is_branch=1 ea_valid=1 ea=1008\n"
	      "INSTR iword=54000040 pc=1008\n"
	      "INSTR iword=d61f0000 pc=100c is_branch=1 ea_valid=1 ea=1000\n"
	      "INSTR iword=14000002 pc=1000 trap=1\nTRAP ec=20 target_pc=9000\n");
	CHECK_EQ(COUNT(DOUBT), 0);
	doubted(PLUS EL1 "INSTR iword=14000002 pc=1000 is_branch=1 ea_valid=1 ea=2008\n" NOP(2008),
		HF_ERR_ASTF_LEADS, 0x2008);
	CHECK_EQ(nth(HF_EVENT_INSN, 0)->insn.target, 0x2008);
	doubted(PLUS EL1 "INSTR iword=97fffffe pc=1008 is_branch=1 ea_valid=1 ea=1004\n", HF_ERR_ASTF_LEADS, 0x1004);
	doubted(PLUS EL1 "INSTR iword=54000040 pc=1000 is_branch=1 ea_valid=1 ea=1000\n", HF_ERR_ASTF_LEADS, 0x1000);
	doubted(PLUS EL1 "INSTR iword=36000040 pc=1000 is_branch=1 ea_valid=1 ea=100c\n", HF_ERR_ASTF_LEADS, 0x100c);
	doubted(PLUS EL1 "INSTR iword=14000002 pc=1000\n" NOP(1004), HF_ERR_ASTF_LEADS, 0x1004);
	doubted(PLUS EL1 NOP(1002), HF_ERR_ASTF_ODD, 0);
	/* With enough behind it for several records at once. */
	doubted(PLUS EL1 NOP(1000) NOP(1004) "INSTR iword=14000002 pc=1008\n" NOP(100c) NOP(1010) NOP(1014)
			NOP(1018) NOP(101c) NOP(1020) NOP(1024) NOP(1028) NOP(102c) NOP(1030) NOP(1034) NOP(1038),
		HF_ERR_ASTF_LEADS, 0x100c);
}

static void test_reserved(void)
{
	decode(PLUS EL1 NOP(1000));
	stream.p[2 * HF_ASTF_SIZE + 1] |= 0x80; /* bit 15 of the instruction */
	hf_events_free(&list);
	list = hf_astft_decode(&stream);
	CHECK_EQ(NOTES(ASTF_RESERVED), 1);
	CHECK_EQ(COUNT(INSN), 1);
}

static void refuse(const void *bytes, size_t n, int code, uint64_t offset)
{
	struct hf_stream *opened;
	struct hf_diag diag;
	struct hf_src *src;

	CHECK_EQ(hf_src_memory_new(bytes, n, &src), 0);
	CHECK_EQ(hf_stream_open(&hf_codec_astf, src, NULL, &opened, &diag), code);
	CHECK_EQ(diag.code, code);
	CHECK_EQ(diag.offset, offset);
	hf_src_free(src);
}

static void test_refusals(void)
{
	struct hf_walk_bytes b = hf_astft_build(PLUS);

	refuse(b.p, 3, HF_ERR_ASTF_MAGIC, 0);
	refuse(b.p, 31, HF_ERR_ASTF_CUT, 0);
	b.p[8] = 1;
	refuse(b.p, b.n, HF_ERR_ASTF_NESTED, 8);
	b.p[4] = 1;
	refuse(b.p, b.n, HF_ERR_ASTF_VERSION, 4);
	b.p[0] = 'B';
	refuse(b.p, b.n, HF_ERR_ASTF_MAGIC, 0);
	hf_bytes_free(&b);
}

/* Wherever the stream is cut, what is whole comes out, and then a gap with the cut record's offset. */
static void test_cuts(void)
{
	struct hf_walk_bytes all = hf_astft_build(
		PLUS "TIMESTAMP unit=1 value0=1\n" EL1
		"STRING 0123456789012345678901234567890123456789\n"
		"INSTR pc=1000 is_read=1 ea_valid=1 ea=2000 extra_eas=1\nEXTRA_EA mem0_addr=3000 extra_eas=1\n"
		"EXTRA_EA mem0_addr=4000\n" NOP(1004));

	for (size_t n = HF_ASTF_SIZE; n < all.n; n++) {
		struct hf_walk_bytes cut = {.p = malloc(n), .n = n, .cap = n};
		const size_t whole = n / HF_ASTF_SIZE;
		struct hf_walk_bytes text;

		CHECK(cut.p);
		memcpy(cut.p, all.p, n);
		hf_events_free(&list);
		list = hf_astft_decode(&cut);
		CHECK_EQ(COUNT(GAP), n % HF_ASTF_SIZE != 0);
		if (n % HF_ASTF_SIZE) {
			CHECK_EQ(hf_astft_count(&list, HF_EVENT_GAP, HF_ERR_ASTF_CUT), 1);
			CHECK_EQ(nth(HF_EVENT_GAP, 0)->loss.offset, whole * HF_ASTF_SIZE);
			CHECK_EQ(nth(HF_EVENT_GAP, 0)->loss.bytes, n % HF_ASTF_SIZE);
		}
		CHECK_EQ(NOTES(ASTF_STRING_CUT), whole == 4);
		CHECK_EQ(NOTES(ASTF_CHAIN_CUT), whole == 6 || whole == 7);
		CHECK_EQ(COUNT(MEM), whole < 6 ? 0 : whole - 5 < 3 ? whole - 5 : 3);
		text = hf_astft_dump(&cut);
		CHECK((strstr((const char *)text.p, "\n# offset ") != NULL) == (n % HF_ASTF_SIZE != 0));
		hf_bytes_free(&text);
		hf_bytes_free(&cut);
	}
	hf_bytes_free(&all);
}

int main(void)
{
	test_accesses();
	test_chains();
	test_strings();
	test_long_string();
	test_traps();
	test_basic();
	test_plus();
	test_leads();
	test_reserved();
	test_refusals();
	test_cuts();
	hf_bytes_free(&stream);
	hf_events_free(&list);
	return 0;
}

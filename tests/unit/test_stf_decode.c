/* SPDX-License-Identifier: Apache-2.0 */
/* The STF decoder on streams made here: groups, modes, harts, losses, limits, and its state. */
#include "codecs/source/errors.h"
#include "codecs/stf/errors.h"
#include "tests/lib/sliver.h"
#include "tests/lib/stftest.h"

#define FEATURES (HF_STF_FEATURE_EVENT64 | HF_STF_FEATURE_RV64)
#define MANY (FEATURES | HF_STF_FEATURE_MULTI_CORE)
#define NOP 0x13u

static struct hf_walk_bytes stream(uint64_t features)
{
	struct hf_walk_bytes b = {0};

	hf_stft_header(&b, features, 0x1000);
	return b;
}

static void nop(struct hf_walk_bytes *b)
{
	PUT(b, INST_OPCODE32, .size = NOP);
}

/* Expected events, one after another; a cursor over what was decoded. */
static struct hf_events got;
static size_t cursor;

static const struct hf_event *expect(enum hf_event_kind kind)
{
	CHECK(cursor < got.n);
	CHECK_EQ(got.ev[cursor].kind, kind);
	return &got.ev[cursor++];
}

static void decode(struct hf_walk_bytes *b, uint32_t hart)
{
	hf_events_free(&got);
	got = hf_stft_decode(b, hart);
	cursor = 0;
}

static void expect_end(struct hf_walk_bytes *b)
{
	CHECK_EQ(cursor, got.n);
	hf_bytes_free(b);
}

static const struct hf_event *expect_insn(uint64_t pc, enum hf_mode mode)
{
	const struct hf_event *ev = expect(HF_EVENT_INSN);

	CHECK_EQ(ev->insn.pc, pc);
	CHECK_EQ(ev->insn.mode, mode);
	return ev;
}

static void expect_loss(enum hf_event_kind kind, int code, uint64_t offset, uint64_t detail)
{
	const struct hf_event *ev = expect(kind);

	CHECK_EQ((int)ev->code, -code);
	CHECK_EQ(ev->loss.offset, offset);
	CHECK_EQ(ev->loss.detail, detail);
}

static void expect_mode(enum hf_mode mode)
{
	const struct hf_event *ev = expect(HF_EVENT_CONTEXT);

	CHECK_EQ(ev->fields, HF_CONTEXT_MODE);
	CHECK_EQ(ev->context.mode, mode);
}

static void expect_ids(uint32_t fields, uint32_t hw, uint32_t pid, uint32_t tid)
{
	const struct hf_event *ev = expect(HF_EVENT_CONTEXT);

	CHECK_EQ(ev->fields, fields);
	CHECK_EQ(ev->context.hw, hw);
	CHECK_EQ(ev->context.pid, pid);
	CHECK_EQ(ev->context.tid, tid);
}

/* stf.md 1.3: FORCE_PC is for this instruction, targets for the next; the last of each wins. */
static void test_tracker(void)
{
	struct hf_walk_bytes b = stream(FEATURES);
	const struct hf_event *ev;

	PUT(&b, FORCE_PC, .address = 0x2000);
	PUT(&b, FORCE_PC, .address = 0x2004);
	nop(&b);
	PUT(&b, INST_OPCODE16, .size = 1);
	PUT(&b, INST_PC_TARGET, .address = 0x3000);
	PUT(&b, INST_OPCODE32, .size = 0x78067);
	PUT(&b, INST_PC_TARGET, .address = 0x4000);
	PUT(&b, FORCE_PC, .address = 0x3800);
	nop(&b);
	PUT(&b, EVENT_PC_TARGET, .address = 0x5000);
	nop(&b);
	nop(&b);
	decode(&b, 0);
	expect_insn(0x2004, HF_MODE_UNKNOWN);
	ev = expect_insn(0x2008, HF_MODE_UNKNOWN);
	CHECK_EQ(ev->insn.size, 2);
	CHECK_EQ(ev->insn.isa, HF_ISA_RV64);
	ev = expect_insn(0x200a, HF_MODE_UNKNOWN);
	CHECK_EQ(ev->flags, HF_EVF_TAKEN);
	CHECK_EQ(ev->insn.target, 0x3000);
	CHECK_EQ(ev->insn.flow, HF_FLOW_INDIRECT_JUMP);
	ev = expect(HF_EVENT_DISCONTINUITY);
	CHECK_EQ(ev->jump.from, 0x3000);
	CHECK_EQ(ev->jump.to, 0x3800);
	expect_insn(0x3800, HF_MODE_UNKNOWN);
	ev = expect_insn(0x4000, HF_MODE_UNKNOWN);
	CHECK_EQ(ev->flags, HF_EVF_TAKEN);
	CHECK_EQ(ev->insn.target, 0x5000);
	expect_insn(0x5000, HF_MODE_UNKNOWN);
	expect_end(&b);
}

static void check_data(const void *bytes, size_t n)
{
	for (size_t at = 0; at < n;) {
		const struct hf_event *ev = expect(HF_EVENT_DATA);

		CHECK_EQ(ev->used, n - at < 24 ? n - at : 24);
		CHECK(memcmp(ev->data.bytes, (const uint8_t *)bytes + at, ev->used) == 0);
		at += ev->used;
	}
}

static void test_attachments(void)
{
	static const uint64_t words[5] = {1, 2, 3, 4, 5};
	struct hf_walk_bytes b = stream(FEATURES);
	const struct hf_event *ev;

	nop(&b);
	PUT(&b, INST_REG, .number = 0x300, .code = 0x34, .value = 9);
	PUT(&b, INST_REG, .number = 3, .code = 0x33, .value = 1);
	hf_bytes_add(&b, words + 1, 24);
	PUT(&b, INST_REG, .number = 4, .code = 0x35, .value = 2); /* STF has four classes */
	PUT(&b, INST_READY_REG, .number = 12);
	PUT(&b, PAGE_TABLE_WALK, .address = 0x7000, .value = 7, .size = 4096, .count = 2);
	hf_bytes_add(&b, words, 32);
	PUT(&b, INST_MEM_ACCESS, .address = 0x10, .size = 40, .attr = 0xbeef, .code = HF_STF_WRITE);
	for (unsigned i = 0; i < 5; i++)
		PUT(&b, INST_MEM_CONTENT, .value = words[i]);
	PUT(&b, INST_MEM_ACCESS, .address = 0x20, .size = 4, .code = HF_STF_READ);
	PUT(&b, BUS_MASTER_ACCESS, .address = 0x30, .size = 8, .master = 3, .index = 1, .attr = 77,
	    .code = HF_STF_READ);
	PUT(&b, BUS_MASTER_CONTENT, .value = 11);
	PUT(&b, INST_MICROOP, .code = 2, .size = 0x4501);
	nop(&b);
	decode(&b, 0);
	expect_insn(0x1000, HF_MODE_UNKNOWN);
	expect_insn(0x1004, HF_MODE_UNKNOWN);
	ev = expect(HF_EVENT_REG);
	CHECK(ev->reg.number == 0x300 && ev->reg.class == 4 && ev->reg.role == 3 && ev->reg.value == 9 &&
	      ev->size == 0);
	ev = expect(HF_EVENT_REG);
	CHECK(ev->reg.number == 3 && ev->reg.class == 3 && ev->reg.value == 1 && ev->size == 24);
	check_data(words + 1, 24);
	CHECK_EQ(expect(HF_EVENT_REG)->reg.class, HF_REG_UNKNOWN);
	CHECK_EQ(expect(HF_EVENT_READY_REG)->reg.number, 12);
	ev = expect(HF_EVENT_TRANSLATION);
	CHECK(ev->walk.va == 0x7000 && ev->walk.first == 7 && ev->walk.page_size == 4096 && ev->walk.entries == 2);
	CHECK_EQ(ev->size, 32);
	check_data(words, 32);
	ev = expect(HF_EVENT_MEM);
	CHECK(ev->mem.address == 0x10 && ev->mem.size == 40 && ev->mem.attr == 0xbeef && ev->mem.data == 1);
	CHECK(ev->flags == (HF_EVF_WRITE | HF_EVF_SIZE_ASSUMED) && ev->words == 5 && ev->size == 32);
	check_data(words + 1, 32);
	ev = expect(HF_EVENT_MEM);
	CHECK(ev->mem.address == 0x20 && ev->mem.size == 4 && ev->flags == (HF_EVF_READ | HF_EVF_SIZE_ASSUMED) && ev->words == 0);
	ev = expect(HF_EVENT_BUS);
	CHECK(ev->bus.address == 0x30 && ev->bus.size == 8 && ev->bus.master == 3 && ev->bus.index == 1);
	CHECK(ev->bus.attr == 77 && ev->bus.data == 11 && ev->words == 1 && ev->flags == (HF_EVF_READ | HF_EVF_SIZE_ASSUMED));
	ev = expect(HF_EVENT_UOP);
	CHECK(ev->uop_size == 2 && ev->uop.opcode == 0x4501);
	expect_end(&b);
}

/* An access whose record has this number, and the instruction that made it. */
static void put_access(struct hf_walk_bytes *b, uint32_t number, uint32_t opcode)
{
	PUT(b, INST_MEM_ACCESS, .size = number, .code = HF_STF_READ);
	if (opcode > UINT16_MAX)
		PUT(b, INST_OPCODE32, .size = opcode);
	else
		PUT(b, INST_OPCODE16, .size = opcode);
}

static void expect_access(uint32_t bytes, unsigned unit)
{
	const struct hf_event *ev;

	expect(HF_EVENT_INSN);
	ev = expect(HF_EVENT_MEM);
	CHECK_EQ(ev->mem.size, bytes);
	CHECK_EQ(ev->flags, HF_EVF_READ | unit);
}

#define LW 0x0005a503u
#define LD 0x0005b503u
#define C_LD 0x6502u
#define VLE64 0x0205f007u
#define BITS HF_EVF_SIZE_BITS
#define ASSUMED HF_EVF_SIZE_ASSUMED

/* Whatever the generator and the accesses around: the opcode says which unit a size is in. */
static void test_units(bool dromajo)
{
	struct hf_walk_bytes b = stream(FEATURES);

	for (unsigned pass = 0; pass < 2; pass++) {
		put_access(&b, 8, LD);
		put_access(&b, 64, LD);
		put_access(&b, 4, LW);
		put_access(&b, 32, LW);
		put_access(&b, 8, C_LD);
		put_access(&b, 64, C_LD);
		put_access(&b, 16, 0x0005a507); /* flw, half a cache line: neither */
		if (pass)
			PUT(&b, INST_READY_REG); /* the slow way */
		nop(&b);
	}
	if (dromajo)
		b.p[20] = HF_STF_GENERATOR_DROMAJO;
	decode(&b, 0);
	for (unsigned pass = 0; pass < 2; pass++) {
		expect_access(8, 0);
		expect_access(8, BITS);
		expect_access(4, 0);
		expect_access(4, BITS);
		expect_access(8, 0);
		expect_access(8, BITS);
		/* of those that show it as many are in bits as in bytes: the generator's */
		expect_access(dromajo ? 2 : 16, ASSUMED | (dromajo ? BITS : 0));
		expect(HF_EVENT_INSN);
	}
	expect(HF_EVENT_READY_REG);
	expect_end(&b);
}

/* What the opcode leaves open is as most of the other accesses are, whoever wrote the trace. */
static void test_units_of_file(bool dromajo, bool bits)
{
	const uint32_t shown = bits ? 64 : 8;
	struct hf_walk_bytes b = stream(FEATURES);

	put_access(&b, 64, VLE64);
	put_access(&b, shown, LD);
	put_access(&b, 8, LD);
	put_access(&b, shown, LD);
	put_access(&b, 64, 0x78067);
	if (dromajo)
		b.p[20] = HF_STF_GENERATOR_DROMAJO;
	decode(&b, 0);
	expect_access(bits ? 8 : 64, ASSUMED | (bits ? BITS : 0));
	expect_access(8, bits ? BITS : 0);
	expect_access(8, 0);
	expect_access(8, bits ? BITS : 0);
	expect_access(bits ? 8 : 64, ASSUMED | (bits ? BITS : 0));
	expect_end(&b);
}

static void test_traps(void)
{
	static const uint64_t fault[3] = {0x1008, NOP, 0xdead0000}, illegal[3] = {0x100c, 0xffff, 2}, zero = 0;
	struct hf_walk_bytes b = stream(FEATURES);
	const struct hf_event *ev;

	hf_stft_mode(&b, 0);
	nop(&b);
	nop(&b);
	hf_stft_event(&b, 13, 3, fault); /* load page fault, to S */
	PUT(&b, EVENT_PC_TARGET, .address = 0x8000);
	hf_stft_mode(&b, 1);
	nop(&b);
	hf_stft_mode(&b, 0); /* sret */
	PUT(&b, EVENT_PC_TARGET, .address = 0x1008);
	PUT(&b, INST_OPCODE32, .size = 0x10200073);
	hf_stft_event(&b, HF_STF_EVENT_INTERRUPT | 7, 1, &zero);
	hf_stft_mode(&b, 3); /* before the target */
	PUT(&b, EVENT_PC_TARGET, .address = 0x9000);
	nop(&b);
	hf_stft_event(&b, 2, 3, illegal); /* without a target */
	nop(&b);
	nop(&b);
	decode(&b, 0);
	expect_mode(HF_MODE_U);
	expect_insn(0x1000, HF_MODE_U);
	expect_insn(0x1004, HF_MODE_U);
	ev = expect(HF_EVENT_ATTEMPT);
	CHECK(ev->insn.pc == 0x1008 && ev->insn.target == 2 && ev->insn.mode == HF_MODE_U &&
	      ev->flags == HF_EVF_RECORD);
	ev = expect(HF_EVENT_TRAP);
	CHECK_EQ(ev->flags, HF_EVF_CAUSE | HF_EVF_HANDLER | HF_EVF_MODE | HF_EVF_VALUE);
	CHECK(ev->trap.cause == 13 && ev->trap.value == 0xdead0000 && ev->trap.handler == 0x8000);
	CHECK(ev->mode == HF_MODE_S && ev->size == 24);
	check_data(fault, 24);
	ev = expect_insn(0x8000, HF_MODE_S);
	CHECK(ev->flags == 0 && ev->insn.flow == HF_FLOW_TRAP_RETURN);
	ev = expect(HF_EVENT_TRAP_RETURN);
	CHECK(ev->flags == (HF_EVF_HANDLER | HF_EVF_MODE) && ev->mode == HF_MODE_U && ev->trap.handler == 0x1008);
	ev = expect(HF_EVENT_ATTEMPT);
	CHECK(ev->insn.pc == 0x1008 && ev->insn.target == 4 && ev->insn.mode == HF_MODE_U);
	ev = expect(HF_EVENT_TRAP);
	CHECK_EQ(ev->flags, HF_EVF_CAUSE | HF_EVF_HANDLER | HF_EVF_MODE | HF_EVF_ASYNC);
	CHECK(ev->trap.cause == 7 && ev->trap.value == 0 && ev->trap.handler == 0x9000 && ev->mode == HF_MODE_M);
	check_data(&zero, 8);
	CHECK_EQ(expect(HF_EVENT_ATTEMPT)->insn.pc, 0x9000);
	ev = expect(HF_EVENT_TRAP);
	CHECK(ev->flags == (HF_EVF_CAUSE | HF_EVF_VALUE) && ev->trap.cause == 2 && ev->trap.value == 0xffff);
	check_data(illegal, 24);
	expect_insn(0x9004, HF_MODE_M);
	expect_end(&b);
}

/* A bare MODE_CHANGE: from the next instruction on, but with FORCE_PC or in the first group for this one. */
static void test_modes(void)
{
	struct hf_walk_bytes b = stream(FEATURES);

	PUT(&b, INST_PC_TARGET, .address = 0x2000); /* no target of the event's own */
	hf_stft_mode(&b, 3);
	PUT(&b, INST_OPCODE32, .size = 0x78067);
	hf_stft_mode(&b, 1);
	nop(&b);
	PUT(&b, FORCE_PC, .address = 0x2004);
	hf_stft_mode(&b, 0);
	nop(&b);
	hf_stft_event(&b, HF_STF_EVENT_MODE_CHANGE, 0, NULL);
	nop(&b);
	nop(&b);
	decode(&b, 0);
	expect_mode(HF_MODE_M);
	expect_insn(0x1000, HF_MODE_M);
	expect_insn(0x2000, HF_MODE_M);
	expect_mode(HF_MODE_S);
	expect_mode(HF_MODE_U);
	expect_insn(0x2004, HF_MODE_U);
	expect_insn(0x2008, HF_MODE_U);
	expect_mode(HF_MODE_UNKNOWN);
	expect_insn(0x200c, HF_MODE_UNKNOWN);
	expect_end(&b);
}

/* ARM: the mapping of hartfs-stf(5). A system call retires. */
static void test_arm(void)
{
	static const uint64_t svc[3] = {0x1004, 0xd4000001, 0}, abort[3] = {0x1008, 0xf9400000, 0xbad};
	struct hf_walk_bytes b = stream(FEATURES);
	const struct hf_event *ev;

	hf_put16(b.p + 14, HF_STF_ISA_ARM);
	hf_stft_mode(&b, 0);
	PUT(&b, INST_OPCODE32, .size = 0xd503201f);
	PUT(&b, INST_MEM_ACCESS, .address = 0x40, .size = 8, .attr = 0x17, .code = HF_STF_WRITE);
	PUT(&b, INST_OPCODE32, .size = 0xf9000000);
	PUT(&b, INST_MEM_ACCESS, .address = 0x40, .size = 8, .attr = 0x1b, .code = HF_STF_READ);
	hf_stft_event(&b, 0x15, 3, svc);
	PUT(&b, EVENT_PC_TARGET, .address = 0x8000);
	hf_stft_mode(&b, 5);
	PUT(&b, INST_OPCODE32, .size = 0xd4000001);
	hf_stft_event(&b, 0x25, 3, abort);
	PUT(&b, INST_OPCODE32, .size = 0xf9400000);
	PUT(&b, INST_IEM, .code = HF_STF_IEM_T32);
	PUT(&b, INST_OPCODE16, .size = 0xbf00);
	decode(&b, 0);
	expect_mode(HF_MODE_EL0t);
	expect_insn(0x1000, HF_MODE_EL0t);
	CHECK_EQ(expect_insn(0x1004, HF_MODE_EL0t)->insn.isa, HF_ISA_A64);
	CHECK_EQ(expect(HF_EVENT_MEM)->mem.tag, 7);
	expect_insn(0x1008, HF_MODE_EL0t);
	CHECK_EQ(expect(HF_EVENT_MEM)->mem.tag, 0xb);
	ev = expect(HF_EVENT_TRAP);
	CHECK(ev->trap.cause == 0x15 && ev->mode == HF_MODE_EL1h && ev->trap.handler == 0x8000);
	check_data(svc, 24);
	CHECK_EQ(expect(HF_EVENT_ATTEMPT)->insn.pc, 0x8000);
	CHECK_EQ(expect(HF_EVENT_TRAP)->trap.value, 0xbad);
	check_data(abort, 24);
	CHECK_EQ(expect_insn(0x8004, HF_MODE_EL1h)->insn.isa, HF_ISA_T32);
	expect_end(&b);
}

/* The length of a range has 64 bits, an access of ours 32: what is cut is told, where it is cut. */
static void test_long_range(void)
{
	struct hf_walk_bytes b = stream(FEATURES);
	size_t at;

	hf_put16(b.p + 14, HF_STF_ISA_ARM);
	for (unsigned i = 0; i < 2; i++) {
		PUT(&b, INST_MEM_ACCESS, .address = 0x40, .attr = HF_ARM_ATTR_RANGE, .code = HF_STF_WRITE);
		at = b.n;
		PUT(&b, INST_MEM_CONTENT, .value = UINT64_C(0xffffffff) + i);
		PUT(&b, INST_OPCODE32, .size = 0xd503201f);
	}
	decode(&b, 0);
	expect_insn(0x1000, HF_MODE_UNKNOWN);
	CHECK_EQ(expect(HF_EVENT_MEM)->mem.size, 0xffffffff);
	expect_loss(HF_EVENT_NOTE, HF_ERR_STF_RANGE, at, 0);
	expect_insn(0x1004, HF_MODE_UNKNOWN);
	CHECK_EQ(expect(HF_EVENT_MEM)->mem.size, 0xffffffff);
	expect_end(&b);
}

/* Ids of the header count; only what changed is flagged; comments stay where they are. */
static void test_ids_and_text(void)
{
	struct hf_walk_bytes b = stream(FEATURES);
	struct hf_walk_bytes with = {0};
	const struct hf_event *ev;
	uint64_t at;

	hf_bytes_add(&with, b.p, b.n - 1);
	PUT(&with, PROCESS_ID_EXT, .hw = 0, .pid = 5, .tid = 6);
	PUT(&with, END_HEADER);
	hf_bytes_free(&b);
	b = with;
	PUT(&b, COMMENT, .count = 0);
	nop(&b);
	PUT(&b, PROCESS_ID_EXT, .hw = 0, .pid = 5, .tid = 7);
	PUT(&b, INST_READY_REG, .number = 1);
	at = b.n;
	PUT(&b, COMMENT, .count = 26);
	hf_bytes_add(&b, "abcdefghijklmnopqrstuvwxyz", 26);
	nop(&b);
	PUT(&b, INST_IEM, .code = HF_STF_IEM_RV32);
	nop(&b);
	PUT(&b, PROCESS_ID_EXT, .hw = 1, .pid = 5, .tid = 7);
	PUT(&b, COMMENT, .count = 3);
	hf_bytes_add(&b, "end", 3);
	PUT(&b, FORCE_PC, .address = 2);
	decode(&b, 0);
	expect_ids(HF_CONTEXT_HW | HF_CONTEXT_PID | HF_CONTEXT_TID, 0, 5, 6);
	CHECK_EQ(expect(HF_EVENT_TEXT)->size, 0);
	expect_insn(0x1000, HF_MODE_UNKNOWN);
	expect_ids(HF_CONTEXT_TID, 0, 5, 7);
	ev = expect(HF_EVENT_TEXT);
	CHECK(ev->size == 26 && ev->text.offset == at + 5);
	check_data("abcdefghijklmnopqrstuvwxyz", 26);
	expect_insn(0x1004, HF_MODE_UNKNOWN);
	expect(HF_EVENT_READY_REG);
	CHECK_EQ(expect_insn(0x1008, HF_MODE_UNKNOWN)->insn.isa, HF_ISA_RV32);
	expect_ids(HF_CONTEXT_HW, 1, 5, 7);
	expect(HF_EVENT_TEXT);
	check_data("end", 3);
	expect_end(&b);
}

/* A COMMENT is a time if it is just as ours write one. */
static void test_times(void)
{
	static const char *const texts[] = {
		"hartfs: timestamp 0",	 "hartfs: timestamp 1234567890123456789", "hartfs: timestamp ", "hartfs: timestamp 1x",
		"hartfs: timestamp -1", "hartfs: timestamp 12345678901234567890", "artfs: timestamp 12"};
	struct hf_walk_bytes b = stream(FEATURES);

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		PUT(&b, COMMENT, .count = (uint32_t)strlen(texts[i]));
		hf_bytes_add(&b, texts[i], strlen(texts[i]));
		nop(&b);
	}
	decode(&b, 0);
	CHECK_EQ(expect(HF_EVENT_TIMESTAMP)->time.value, 0);
	expect_insn(0x1000, HF_MODE_UNKNOWN);
	CHECK_EQ(expect(HF_EVENT_TIMESTAMP)->time.value, 1234567890123456789);
	for (size_t i = 2; i < sizeof texts / sizeof *texts; i++) {
		expect_insn(0x1000 + 4 * (i - 1), HF_MODE_UNKNOWN);
		CHECK_EQ(expect(HF_EVENT_TEXT)->size, strlen(texts[i]));
		check_data(texts[i], (uint32_t)strlen(texts[i]));
	}
	expect_insn(0x1000 + 4 * (sizeof texts / sizeof *texts - 1), HF_MODE_UNKNOWN);
	expect_end(&b);
}

/* ---- harts ---- */

static void test_harts(void)
{
	struct hf_walk_bytes b = stream(MANY);
	const uint32_t *ids;
	struct hf_stft t;
	struct hf_dec *dec;
	struct hf_event ev[8];
	size_t n;

	for (unsigned slice = 0; slice < 6; slice++) {
		PUT(&b, PROCESS_ID_EXT, .hw = slice % 2 ? 40 : 7, .pid = slice % 2, .tid = slice == 5);
		PUT(&b, FORCE_PC, .address = (slice % 2 ? 0x4000 : 0x7000) + slice / 2 * 8);
		if (slice < 2)
			hf_stft_mode(&b, slice);
		nop(&b);
		PUT(&b, INST_REG, .number = 3, .code = 0x33);
		hf_bytes_add(&b, "012345670123456701234567", 24);
		hf_stft_event(&b, 2, 0, NULL);
		nop(&b);
	}
	decode(&b, 7);
	expect_ids(7, 7, 0, 0);
	expect_mode(HF_MODE_U);
	for (unsigned i = 0; i < 3; i++) {
		expect_insn(0x7000 + 8 * i, HF_MODE_U);
		CHECK_EQ(expect(HF_EVENT_ATTEMPT)->insn.target, 4 * i + 1);
		expect(HF_EVENT_REG);
		check_data("012345670123456701234567", 24);
		expect(HF_EVENT_TRAP);
	}
	CHECK_EQ(cursor, got.n);
	decode(&b, 40);
	expect_ids(7, 40, 1, 0);
	expect_mode(HF_MODE_S);
	for (unsigned i = 0; i < 3; i++) {
		if (i == 2)
			expect_ids(HF_CONTEXT_TID, 40, 1, 1);
		expect_insn(0x4000 + 8 * i, HF_MODE_S);
		CHECK_EQ(expect(HF_EVENT_ATTEMPT)->insn.target, 4 * i + 3);
		expect(HF_EVENT_REG);
		check_data("012345670123456701234567", 24);
		expect(HF_EVENT_TRAP);
	}
	CHECK_EQ(cursor, got.n);

	hf_stft_open(&t, &b);
	CHECK_EQ(t.stream->info.first_hart, 7);
	CHECK_EQ(hf_dec_new(t.stream, t.src, 1000, &dec), 0);
	CHECK_EQ(hf_dec_next(dec, ev, 8, &n), HF_NOTE_END);
	ids = hf_dec_harts(dec, &n);
	CHECK(n == 3 && ids[0] == 1000 && ids[1] == 7 && ids[2] == 40);
	CHECK_EQ(hf_dec_offset(dec), b.n);
	hf_dec_free(dec);
	hf_stft_close(&t);
	hf_bytes_free(&b);
}

static void test_hart_limit(void)
{
	struct hf_walk_bytes b = stream(MANY);
	struct hf_stft t;
	struct hf_dec *dec;
	struct hf_event ev[8];
	size_t n;

	for (uint32_t i = 0; i < 2000; i++) {
		PUT(&b, PROCESS_ID_EXT, .hw = i * 65536 + 1);
		nop(&b);
	}
	hf_stft_open(&t, &b);
	CHECK_EQ(hf_dec_new(t.stream, t.src, 1, &dec), 0);
	while (hf_dec_next(dec, ev, 8, &n) == 0)
		;
	CHECK_EQ(dec->ops->harts_max, HF_STF_HARTS_MAX);
	/* one more than there may be: the first that is left out */
	CHECK_EQ(hf_dec_harts(dec, &n)[HF_STF_HARTS_MAX], HF_STF_HARTS_MAX * 65536 + 1);
	CHECK_EQ(n, HF_STF_HARTS_MAX + 1);
	hf_dec_free(dec);
	hf_stft_close(&t);
	hf_bytes_free(&b);
}

/* ---- defects ---- */

static void test_defects(void)
{
	struct hf_walk_bytes b = stream(FEATURES);
	uint64_t at;

	/* notes: the trace goes on */
	nop(&b);
	at = b.n;
	PUT(&b, ISA, .code = 1);
	PUT(&b, INST_IEM, .code = 9);
	PUT(&b, INST_MEM_CONTENT, .value = 1);
	PUT(&b, INST_MEM_ACCESS, .code = 3);
	nop(&b);
	decode(&b, 0);
	expect_insn(0x1000, HF_MODE_UNKNOWN);
	expect_loss(HF_EVENT_NOTE, HF_ERR_STF_HEADER_IN_BODY, at, HF_STF_ISA);
	expect_loss(HF_EVENT_NOTE, HF_ERR_STF_VALUE, at + 3, HF_STF_INST_IEM);
	expect_loss(HF_EVENT_NOTE, HF_ERR_STF_ORPHAN, at + 6, HF_STF_INST_MEM_CONTENT);
	expect_loss(HF_EVENT_NOTE, HF_ERR_STF_VALUE, at + 15, HF_STF_INST_MEM_ACCESS);
	expect_insn(0x1004, HF_MODE_UNKNOWN);
	CHECK_EQ(expect(HF_EVENT_MEM)->flags, HF_EVF_SIZE_ASSUMED);
	CHECK_EQ(cursor, got.n);
	/* the end inside a group */
	at = b.n;
	PUT(&b, INST_PC_TARGET, .address = 1);
	PUT(&b, COMMENT, .count = 0);
	decode(&b, 0);
	cursor = got.n - 2;
	expect(HF_EVENT_TEXT);
	expect_loss(HF_EVENT_GAP, HF_ERR_STF_GROUP_CUT, at, 0);
	CHECK_EQ(got.ev[got.n - 1].loss.bytes, b.n - at);
	/* a descriptor that does not exist */
	at = b.n;
	hf_bytes_add(&b, "\16\1\2\3", 4);
	decode(&b, 0);
	cursor = got.n - 1;
	expect_loss(HF_EVENT_GAP, HF_ERR_STF_DESCRIPTOR, at, 14);
	b.n = at;
	/* a comment longer than the stream */
	PUT(&b, COMMENT, .count = 0x7fffffff);
	hf_bytes_add(&b, "text", 4);
	decode(&b, 0);
	cursor = got.n - 1;
	expect_loss(HF_EVENT_GAP, HF_ERR_STF_RECORD_CUT, at, 0);
	b.n = at;
	PUT(&b, TRANSACTION, .count = 0);
	decode(&b, 0);
	cursor = got.n - 1;
	expect_loss(HF_EVENT_GAP, HF_ERR_STF_PROTOCOL, at, HF_STF_TRANSACTION);
	b.n = at;
	hf_bytes_add(&b, "\1STX", 4);
	decode(&b, 0);
	cursor = got.n - 1;
	expect_loss(HF_EVENT_GAP, HF_ERR_STF_MAGIC, at, 0);
	expect_end(&b);
}

/* A group longer than the limit keeps its instruction; a comment may be longer than that. */
static void test_group_limit(void)
{
	enum { RECORDS = HF_STF_GROUP_MAX / 12 };
	struct hf_walk_bytes b = stream(FEATURES);
	const struct hf_event *ev;
	uint64_t at;
	uint8_t *text = calloc(1, 6 << 20);
	struct hf_diag diag;

	CHECK(text);
	nop(&b);
	at = b.n;
	for (unsigned i = 0; i < RECORDS - 5; i++)
		PUT(&b, INST_REG, .number = 1, .code = 0x11, .value = i);
	nop(&b); /* just not too long */
	decode(&b, 0);
	CHECK_EQ(got.n, 2 + RECORDS - 5);
	b.n -= 5;
	for (unsigned i = 0; i < 10; i++)
		PUT(&b, INST_REG, .number = 1, .code = 0x11);
	hf_stft_mode(&b, 2);
	PUT(&b, EVENT_PC_TARGET, .address = 0x6000);
	nop(&b);
	PUT(&b, INST_READY_REG, .number = 4);
	PUT(&b, COMMENT, .count = 6 << 20);
	hf_bytes_add(&b, text, 6 << 20);
	nop(&b);
	PUT(&b, COMMENT, .count = 6 << 20);
	hf_bytes_add(&b, text, 6 << 20);
	PUT(&b, INST_READY_REG, .number = 5);
	nop(&b);
	decode(&b, 0);
	expect_insn(0x1000, HF_MODE_UNKNOWN);
	expect_loss(HF_EVENT_GAP, HF_ERR_STF_GROUP_LIMIT, at, 0);
	expect_insn(0x1004, HF_MODE_UNKNOWN);
	expect_mode(HF_MODE_H);
	for (size_t left = 6 << 20; left;) {
		ev = expect(HF_EVENT_TEXT);
		CHECK_EQ(ev->size, HF_STF_TEXT_MAX);
		check_data(text, ev->size);
		left -= ev->size;
	}
	ev = expect(HF_EVENT_GAP);
	CHECK_EQ((int)ev->code, -HF_ERR_STF_GROUP_LIMIT);
	expect(HF_EVENT_DISCONTINUITY); /* what led to 0x6000 was dropped */
	expect_insn(0x6000, HF_MODE_H);
	for (size_t left = 6 << 20; left; left -= HF_STF_TEXT_MAX) {
		CHECK_EQ(expect(HF_EVENT_TEXT)->size, HF_STF_TEXT_MAX);
		check_data(text, HF_STF_TEXT_MAX);
	}
	expect_insn(0x6004, HF_MODE_H);
	CHECK_EQ(expect(HF_EVENT_READY_REG)->reg.number, 5);
	expect_end(&b);
	free(text);
	(void)diag;
}

/* A disk that fails is no gap: the error comes through, and the events before it. */
static void test_failing_source(void)
{
	struct hf_walk_bytes b = stream(FEATURES);
	struct hf_src *bad;
	struct hf_stft t;
	struct hf_event ev[64];
	struct hf_dec *dec;
	size_t n, total = 0;
	int err;

	for (unsigned i = 0; i < 100; i++)
		nop(&b);
	hf_stft_open(&t, &b);
	CHECK_EQ(hf_sliver_new_failing(t.src, b.n - 7, HF_ERR_IO, &bad), 0);
	CHECK_EQ(hf_dec_new(t.stream, bad, 0, &dec), 0);
	while ((err = hf_dec_next(dec, ev, 64, &n)) == 0)
		total += n;
	CHECK_EQ(err, HF_ERR_IO);
	CHECK(total <= 98);
	hf_dec_free(dec);
	hf_src_free(bad);
	CHECK_EQ(hf_sliver_new_failing(t.src, b.n - 7, HF_ERR_BOX_DAMAGED, &bad), 0);
	got.n = 0;
	hf_events_free(&got);
	got = hf_stft_events(t.stream, bad, 0, 7);
	CHECK_EQ(got.n, 99);
	cursor = 98;
	CHECK_EQ((int)expect(HF_EVENT_GAP)->code, -HF_ERR_BOX_DAMAGED);
	CHECK_EQ(got.ev[98].loss.offset, b.n - 10);
	hf_src_free(bad);
	hf_stft_close(&t);
	hf_bytes_free(&b);
}

/* ---- state ---- */

static void poison(struct hf_dec *dec, uint8_t byte)
{
	struct hf_stf_dec *d = (struct hf_stf_dec *)dec;

	memset(&d->sync, byte, sizeof d->sync);
	memset(&d->group, byte, sizeof d->group);
	memset(&d->done, byte, sizeof d->done);
	memset(d->harts, byte, sizeof d->harts);
	memset(d->hart_slots, byte, sizeof d->hart_slots);
	memset(d->reader.own, byte, d->reader.cap);
	d->reader.buf = d->reader.own;
	d->reader.start = d->reader.len = 0;
}

/* From the state before any event, in another decoder, come the same events. */
static void check_states(const struct hf_walk_bytes *b, uint32_t hart)
{
	struct hf_event ev[40];
	struct hf_events all;
	struct hf_dec *dec, *other;
	struct hf_stft t;
	size_t n;

	hf_stft_open(&t, b);
	all = hf_stft_events(t.stream, t.src, hart, 40);
	CHECK_EQ(hf_dec_new(t.stream, t.src, hart, &dec), 0);
	CHECK_EQ(hf_dec_new(t.stream, t.src, hart, &other), 0);
	for (size_t i = 0; i <= all.n; i++) {
		uint8_t blob[HF_STATE_MAX];
		uint64_t discard;
		size_t size = hf_dec_save(dec, blob, &discard);

		poison(other, i % 2 ? 0xa5 : 0);
		CHECK_EQ(hf_dec_load(other, blob, size, discard), 0);
		for (size_t at = i; at < all.n && at < i + 40; at += n) {
			CHECK_EQ(hf_dec_next(other, ev, all.n - at < 40 ? all.n - at : 40, &n), 0);
			CHECK(memcmp(ev, &all.ev[at], n * sizeof *ev) == 0);
		}
		if (i < all.n)
			CHECK_EQ(hf_dec_next(dec, ev, 1, &n), 0);
		else
			CHECK_EQ(hf_dec_next(other, ev, 1, &n), HF_NOTE_END);
	}
	hf_dec_free(dec);
	hf_dec_free(other);
	hf_events_free(&all);
	hf_stft_close(&t);
}

/* Everything at once, twice, on two harts. */
static struct hf_walk_bytes mixture(uint64_t features)
{
	static const uint64_t words[6] = {0x1008, NOP, 3, 4, 5, 6};
	struct hf_walk_bytes b = stream(features);

	for (unsigned turn = 0; turn < 4; turn++) {
		PUT(&b, PROCESS_ID_EXT, .hw = turn % 2, .pid = 0x12345678, .tid = turn);
		PUT(&b, COMMENT, .count = 60);
		hf_bytes_add(&b, "012345678901234567890123456789012345678901234567890123456789", 60);
		PUT(&b, FORCE_PC, .address = 0xffffffff80000000 + turn * 0x1000);
		hf_stft_mode(&b, 3);
		nop(&b);
		PUT(&b, INST_PC_TARGET, .address = 0xffffffff80000800);
		PUT(&b, INST_REG, .number = 3, .code = 0x33, .value = 1);
		hf_bytes_add(&b, words, 24);
		PUT(&b, PAGE_TABLE_WALK, .count = 3);
		hf_bytes_add(&b, words, 48);
		PUT(&b, COMMENT, .count = 2);
		hf_bytes_add(&b, "xy", 2);
		PUT(&b, INST_MEM_ACCESS, .address = 8, .size = 32, .code = HF_STF_READ);
		for (unsigned i = 0; i < 6; i++)
			PUT(&b, INST_MEM_CONTENT, .value = i);
		nop(&b);
		hf_stft_event(&b, 13, 6, words);
		PUT(&b, EVENT_PC_TARGET, .address = 0x9000);
		hf_stft_mode(&b, 1);
		nop(&b);
		PUT(&b, INST_MEM_ACCESS, .address = 8, .size = 8, .code = HF_STF_WRITE);
		PUT(&b, INST_MEM_CONTENT, .value = 7);
		PUT(&b, INST_OPCODE16, .size = 1);
		hf_stft_mode(&b, 0);
		PUT(&b, EVENT_PC_TARGET, .address = 0x100);
		nop(&b);
		PUT(&b, ISA, .code = 1);
	}
	PUT(&b, COMMENT, .count = 1);
	hf_bytes_add(&b, "z", 1);
	return b;
}

static void test_state(void)
{
	struct hf_walk_bytes b = mixture(FEATURES);

	check_states(&b, 0);
	hf_bytes_free(&b);
	b = mixture(MANY);
	check_states(&b, 0);
	check_states(&b, 1);
	check_states(&b, 2);
	hf_bytes_free(&b);
}

/* Strings of the header that are left out are told once, before the first hart's first event. */
static void test_cut_header(void)
{
	static char text[HF_STF_STRINGS_MAX];
	struct hf_walk_bytes body = mixture(MANY), b = {0};
	const size_t version = 4 + 9;

	memset(text, 'x', sizeof text);
	hf_bytes_add(&b, body.p, version);
	PUT(&b, COMMENT, .count = sizeof text);
	hf_bytes_add(&b, text, sizeof text);
	hf_bytes_add(&b, body.p + version, body.n - version);
	for (unsigned hart = 0; hart < 2; hart++) {
		decode(&b, hart);
		if (hart == 0)
			expect_loss(HF_EVENT_NOTE, HF_ERR_STF_STRINGS, 0, 0);
		for (size_t i = cursor; i < got.n; i++)
			CHECK(got.ev[i].kind != HF_EVENT_NOTE || got.ev[i].code != (uint32_t)-HF_ERR_STF_STRINGS);
		check_states(&b, hart);
	}
	hf_bytes_free(&b);
	hf_bytes_free(&body);
}

/* A source that gives a byte at a time, batches of every size, and cuts at every byte. */
static void test_slivers_and_cuts(void)
{
	struct hf_walk_bytes b = mixture(MANY);
	struct hf_events all, some;
	struct hf_src *thin;
	struct hf_stft t;

	hf_stft_open(&t, &b);
	all = hf_stft_events(t.stream, t.src, 1, 256);
	for (size_t most = 1; most < 50; most += 3) {
		CHECK_EQ(hf_sliver_new(t.src, most, &thin), 0);
		some = hf_stft_events(t.stream, thin, 1, most);
		hf_events_check_same(&all, &some, "slivers");
		hf_events_free(&some);
		hf_src_free(thin);
	}
	for (size_t n = 0; n < b.n; n++) {
		struct hf_walk_bytes part = {.p = malloc(n + 1), .n = n};
		struct hf_src *src;
		size_t same = 0;

		if (n < ((const struct hf_stf_header *)t.stream->info.header)->body) {
			free(part.p);
			continue;
		}
		memcpy(part.p, b.p, n);
		CHECK_EQ(hf_src_memory_new(part.p, n, &src), 0);
		some = hf_stft_events(t.stream, src, 1, 256);
		while (same < some.n && same < all.n && memcmp(&some.ev[same], &all.ev[same], sizeof *some.ev) == 0)
			same++;
		/* the same events, then at most one that says what happened */
		CHECK(same == some.n || (same == some.n - 1 && some.ev[same].kind == HF_EVENT_GAP));
		hf_events_free(&some);
		hf_src_free(src);
		free(part.p);
	}
	hf_events_free(&all);
	hf_stft_close(&t);
	hf_bytes_free(&b);
}

static void test_bad_states(void)
{
	struct hf_walk_bytes b = mixture(FEATURES);
	uint8_t blob[HF_STATE_MAX];
	struct hf_event ev[16];
	struct hf_stft t;
	struct hf_dec *dec;
	uint64_t discard;
	size_t size, n;

	hf_stft_open(&t, &b);
	CHECK_EQ(hf_dec_new(t.stream, t.src, 0, &dec), 0);
	for (unsigned i = 0; i < 5; i++)
		CHECK_EQ(hf_dec_next(dec, ev, 16, &n), 0);
	size = hf_dec_save(dec, blob, &discard);
	CHECK(size < 64);
	for (size_t i = 0; i < size; i++)
		CHECK_EQ(hf_dec_load(dec, blob, i, 0), HF_ERR_STATE);
	CHECK_EQ(hf_dec_load(dec, blob, size + 1, 0), HF_ERR_STATE);
	for (size_t i = 0; i < size * 8; i++) {
		uint8_t copy[HF_STATE_MAX];

		memcpy(copy, blob, size);
		copy[i / 8] ^= (uint8_t)(1 << i % 8);
		if (hf_dec_load(dec, copy, size, 3) == 0)
			while (hf_dec_next(dec, ev, 16, &n) == 0)
				;
	}
	CHECK_EQ(hf_dec_load(dec, blob, size, UINT64_MAX), HF_ERR_STATE);
	hf_dec_free(dec);
	CHECK_EQ(hf_dec_new(t.stream, t.src, 1, &dec), HF_ERR_NOT_FOUND);
	hf_stft_close(&t);
	hf_bytes_free(&b);
}

int main(void)
{
	test_tracker();
	test_attachments();
	for (unsigned i = 0; i < 2; i++) {
		test_units(i);
		test_units_of_file(i, false);
		test_units_of_file(i, true);
	}
	test_traps();
	test_modes();
	test_arm();
	test_long_range();
	test_ids_and_text();
	test_times();
	test_harts();
	test_hart_limit();
	test_defects();
	test_group_limit();
	test_failing_source();
	test_state();
	test_cut_header();
	test_slivers_and_cuts();
	test_bad_states();
	hf_events_free(&got);
	return 0;
}

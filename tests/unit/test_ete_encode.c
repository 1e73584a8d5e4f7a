/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes of the view ete/, written out; what is lost at the edges; parameters and states that are refused. */
#include "codecs/base/errors.h"
#include "codecs/ete/encoder.h"
#include "codecs/isa/arm.h"
#include "codecs/views.h"
#include "tests/lib/check.h"
#include "tests/lib/eteloop.h"

#define NOP 0xd503201fu
#define RET 0xd65f03c0u
#define BLR 0xd63f0020u
#define BNE 0x54000041u /* to 8 bytes behind */
#define SVC 0xd4000001u

static struct hf_event list[64];
static size_t count;

static struct hf_event *add(unsigned kind)
{
	list[count] = (struct hf_event){.kind = (uint8_t)kind};
	return &list[count++];
}

/* An A64 instruction at EL1; target 0: not taken, or it is not said. */
static void insn(uint64_t pc, uint32_t opcode, uint64_t target)
{
	struct hf_event *ev = add(HF_EVENT_INSN);

	ev->flags = target ? HF_EVF_TAKEN : 0;
	ev->insn = (struct hf_ev_insn){.pc = pc, .target = target, .opcode = opcode, .size = 4, .isa = HF_ISA_A64,
				       .flow = hf_arm_classify(opcode, 4, HF_ISA_A64).flow, .mode = HF_MODE_EL1};
}

static void trap(unsigned flags, uint64_t cause, uint64_t handler)
{
	struct hf_event *ev = add(HF_EVENT_TRAP);

	ev->flags = (uint8_t)(flags | HF_EVF_CAUSE | (handler ? HF_EVF_HANDLER : 0));
	ev->trap.cause = cause;
	ev->trap.handler = handler;
}

/* The list as bytes in hexadecimal, where "SYNC" stands for an A-sync and the Trace Info behind it. */
static void check(const char *params, const char *want)
{
	static const uint8_t sync[14] = {[11] = 0x80, [12] = 1};
	static char text[4096];
	struct hf_sink sink;
	size_t used = 0;

	ete_loop_encode(list, count, params, 1, &sink);
	for (const uint8_t *p = sink.start; p < sink.p;) {
		if (sink.p - p >= 14 && memcmp(p, sync, 14) == 0) {
			used += (size_t)snprintf(text + used, sizeof text - used, "SYNC ");
			p += 14;
		} else {
			used += (size_t)snprintf(text + used, sizeof text - used, "%02x ", *p++);
		}
		CHECK(used < sizeof text - 8);
	}
	text[used ? used - 1 : 0] = '\0';
	CHECK_STR(text, want);
	hf_sink_fini_memory(&sink);
	count = 0;
}

#define PLAIN "contextid=0,timestamps=0"
#define ASYNC "00 00 00 00 00 00 00 00 00 00 00 80 "
#define START "SYNC 04 82 00 08 00 00 31 " /* Trace On, 1000 at EL1 */

/* Atoms in the longest patterns (D5.2.10). */
static void put_branches(const char *atoms)
{
	uint64_t pc = 0x1000;

	for (; *atoms; atoms++) {
		insn(pc, BNE, *atoms == 'E' ? pc + 8 : 0);
		pc += *atoms == 'E' ? 8 : 4;
	}
}

static void test_atoms(void)
{
	put_branches("E");
	check(PLAIN, START "f7");
	put_branches("EN");
	check(PLAIN, START "d9");
	put_branches("EEEEEEEEEEEEEEEEEEEEEEEEE"); /* 24 and one */
	check(PLAIN, START "d4 f7");
	put_branches("EEEN");
	check(PLAIN, START "e0");
}

/* Exact match, one and two bytes, 32 and 64 bits. */
static void test_addresses(void)
{
	insn(0x1000, RET, 0);
	insn(0x1010, RET, 0);
	insn(0x12010, RET, 0);
	insn(0x1000, RET, 0);
	insn(0x40001000, RET, 0);
	insn(UINT64_C(0xffff800000001000), RET, 0);
	insn(0x40001000, NOP, 0);
	insn(0x40001004, NOP, 0);
	check(PLAIN, START "f7 95 04 f7 95 84 90 f7 92 f7 9a 00 08 00 40 f7 9d 00 08 00 00 00 80 ff ff f7 91 06 03 95 02");
}

/* A return to the instruction behind the call is not said, another one is; nor is one at a synchronisation, twice. */
static void test_stack(void)
{
	for (unsigned i = 0; i < 2; i++) {
		insn(0x1000, BLR, 0x1100);
		insn(0x1100, RET, 0x1004);
		insn(0x1004, BLR, 0x1100);
		insn(0x1100, RET, 0x1200);
		insn(0x1200, NOP, 0);
		check(i ? PLAIN ",return_stack=1" : PLAIN ",return_stack=0",
		      i ? START "f7 95 40 db 90 f7 95 80 09 06 03 95 01" :
			  START "f7 95 40 f7 95 01 f7 91 f7 95 80 09 06 03 95 01");
	}
}

/* Time is said whole at first, then what changed of it; 0 would mean that it is not known. */
static void test_times(void)
{
	static const uint64_t times[] = {0x81, 0x82, 0, UINT64_C(0xff00000000000082), 0x82};

	for (unsigned i = 0; i < 5; i++) {
		add(HF_EVENT_TIMESTAMP)->time.value = times[i];
		if (i == 0)
			insn(0x1000, BNE, 0);
	}
	check("contextid=0", START "02 81 01 f6 02 02 02 82 81 80 80 80 80 80 80 ff 02 82 81 80 80 80 80 80 80 00");
}

static void test_context(void)
{
	struct hf_event *ev = add(HF_EVENT_CONTEXT);

	ev->fields = HF_CONTEXT_PID;
	ev->context.pid = 0x1234;
	insn(0x1000, BNE, 0);
	ev = add(HF_EVENT_CONTEXT);
	ev->fields = HF_CONTEXT_PID;
	ev->context.pid = 0x1235;
	insn(0x1004, BNE, 0);
	check("timestamps=0", "SYNC 04 82 00 08 00 00 b1 34 12 00 00 f6 81 b1 35 12 00 00 f6");
}

/* Where a trap happened: behind what retired, or where an interrupted branch went. */
static void test_traps(void)
{
	insn(0x1000, SVC, 0);
	trap(0, 0x15, 0x1400);
	insn(0x1400, BNE, 0);
	check(PLAIN, START "06 05 95 01 95 80 0a f6");
	insn(0x1000, RET, 0x1100);
	trap(HF_EVF_ASYNC, 1, 0x1400);
	check(PLAIN, START "f7 95 40 06 1d 90 95 80 0a");
	/* a type that is reserved is a trap like any other */
	insn(0x1000, BNE, 0);
	trap(0, HF_TRAP_ETE + 31, 0);
	insn(0x1400, BNE, 0);
	check(PLAIN, START "f6 06 07 95 01 95 80 0a f6");
	/* nobody knows where: an interrupt behind a loss, or behind a branch that may have gone anywhere */
	insn(0x1000, RET, 0);
	trap(HF_EVF_ASYNC, 1, 0);
	insn(0x1400, BNE, 0);
	check(PLAIN, START "f7 SYNC 04 82 00 0a 00 00 31 f6");
	insn(0x1000, BNE, 0);
	add(HF_EVENT_GAP);
	trap(HF_EVF_ASYNC, 1, 0x1400);
	insn(0x1400, BNE, 0);
	check(PLAIN, START "f6 00 05 SYNC 04 82 00 0a 00 00 31 f6");
}

/* A reset has no address: what ran behind the last branch is told before it, and one may begin to read behind it. */
static void put_reset(void)
{
	insn(0x1000, BNE, 0);
	insn(0x1004, NOP, 0);
	insn(0x1008, NOP, 0);
	trap(HF_EVF_ASYNC, 3, 0x1400);
	insn(0x1400, BNE, 0);
}

static void test_reset(void)
{
	const char *const modes[] = {PLAIN, PLAIN ",q_elements=1", PLAIN ",sync_instructions=0"};

	put_reset();
	check(modes[0], START "f6 06 03 95 03 06 01 70 95 80 0a SYNC 82 00 0a 00 00 31 f6");
	put_reset();
	check(modes[1], START "f6 ac 02 06 01 70 95 80 0a SYNC 82 00 0a 00 00 31 f6");
	put_reset();
	check(modes[2], START "f6 06 03 95 03 06 01 70 95 80 0a f6");
	for (size_t i = 0; i < 3; i++) {
		static const uint8_t code[0x404] = {[0] = 0x41, [3] = 0x54, [4] = 0x1f, [5] = 0x20, [6] = 3, [7] = 0xd5,
						    [8] = 0x1f, [9] = 0x20, [10] = 3, [11] = 0xd5, [0x400] = 0x41,
						    [0x403] = 0x54};
		struct ete_loop l;
		size_t n, insns = 0, resets = 0;
		struct hf_event *ev;

		put_reset();
		ete_loop_open(&l, list, count, modes[i], 0x1000, code, sizeof code);
		ev = ete_events(&l.capture, 1, 5, &n);
		for (size_t k = 0; k < n; k++) {
			insns += ev[k].kind == HF_EVENT_INSN;
			resets += ev[k].kind == HF_EVENT_TRAP && ev[k].trap.cause == 3 && insns == 3;
		}
		CHECK_EQ(insns, 4);
		CHECK_EQ(resets, 1);
		free(ev);
		ete_loop_close(&l);
		count = 0;
	}
}

/* Losses before, between and behind the instructions. */
static void test_losses(void)
{
	add(HF_EVENT_GAP);
	insn(0x1000, BNE, 0);
	add(HF_EVENT_GAP);
	insn(0x1000, NOP, 0);
	add(HF_EVENT_GAP);
	check(PLAIN, ASYNC "00 05 " START "f6 00 05 " START "06 03 95 01 00 05");
	insn(0x1000, NOP, 0);
	check(PLAIN ",q_elements=1", START "ac 01");
	check(PLAIN, "");
	add(HF_EVENT_GAP);
	check(PLAIN, ASYNC "00 05");
}

static void test_refused(void)
{
	static const char *const bad[] = {"sync_instructions=x", "sync_instructions=4294967296", "return_stack=2", "speed=1",
					  "timestamps", "contextid=", "q_elements=-1"};
	struct hf_ete_enc_config config;
	char why[200];

	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		why[0] = '\0';
		CHECK_EQ(hf_ete_enc_check(bad[i], why, sizeof why), HF_ERR_SETUP_VALUE);
		CHECK(strlen(why) > 8);
	}
	CHECK_EQ(hf_ete_enc_config_read("sync_instructions=7,return_stack=0", &config, NULL, 0), 0);
	CHECK(config.sync_instructions == 7 && !config.return_stack && config.timestamps && !config.q_elements);
	CHECK_EQ(hf_ete_enc_check(NULL, why, sizeof why), 0);
}

static void test_states(void)
{
	struct hf_ete_enc e = {.enc = {.ops = &hf_view_ete}, .s = {.atom_count = 3, .atoms = 5, .flags = 511}};
	uint8_t blob[HF_STATE_MAX];
	size_t n;

	hf_return_stack_init(&e.links, e.links_room, HF_ETE_ENC_STACK + 1, HF_ETE_ENC_STACK);
	for (uint64_t i = 0; i < HF_ETE_ENC_STACK; i++)
		hf_return_stack_push(&e.links, 0x1000 - 8 * i);
	n = hf_enc_save(&e.enc, blob);
	CHECK_EQ(hf_enc_load(&e.enc, blob, n), 0);
	for (size_t i = 0; i < n; i++)
		CHECK_EQ(hf_enc_load(&e.enc, blob, i), HF_ERR_STATE);
	e.s.atoms = 9; /* of three */
	n = hf_enc_save(&e.enc, blob);
	CHECK_EQ(hf_enc_load(&e.enc, blob, n), HF_ERR_STATE);
	e.s.atoms = 0;
	e.s.atom_count = HF_ETE_ENC_ATOMS;
	n = hf_enc_save(&e.enc, blob);
	CHECK_EQ(hf_enc_load(&e.enc, blob, n), HF_ERR_STATE);
}

int main(void)
{
	test_atoms();
	test_addresses();
	test_stack();
	test_times();
	test_context();
	test_traps();
	test_reset();
	test_losses();
	test_refused();
	test_states();
	return 0;
}

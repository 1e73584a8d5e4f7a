/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collecting the code of a hart: what enters the image, what makes it refuse, and that neither the order of the
 * events nor the places where they were split for merging or saving change the result.
 */
#include "codecs/base/bytes.h"
#include "codecs/image/collect.h"
#include "tests/lib/check.h"

#define NOP 0x00000013u
#define BASE UINT64_C(0x80000000)

static struct hf_image *new_image(void)
{
	struct hf_image *image;

	CHECK_EQ(hf_image_new(&image), 0);
	return image;
}

static struct hf_event insn_event(uint64_t pc, uint32_t opcode, uint8_t size)
{
	return (struct hf_event){.kind = HF_EVENT_INSN,
				 .insn = {.pc = pc, .opcode = opcode, .size = size, .isa = HF_ISA_RV64}};
}

static struct hf_event attempt_event(uint64_t pc, uint32_t opcode, uint8_t size)
{
	struct hf_event ev = insn_event(pc, opcode, size);

	ev.kind = HF_EVENT_ATTEMPT;
	return ev;
}

static struct hf_event trap_event(uint64_t cause, uint8_t flags)
{
	return (struct hf_event){.kind = HF_EVENT_TRAP, .flags = flags, .trap = {.cause = cause}};
}

static struct hf_event context_event(uint32_t fields, uint32_t pid, uint32_t asid)
{
	return (struct hf_event){.kind = HF_EVENT_CONTEXT, .size = fields, .context = {.pid = pid, .asid = asid}};
}

static void put(struct hf_image *image, struct hf_event ev)
{
	CHECK_EQ(hf_image_put(image, &ev, 1), 0);
}

static void put_insn(struct hf_image *image, uint64_t pc, uint32_t opcode, uint8_t size)
{
	put(image, insn_event(pc, opcode, size));
}

static void check_reason(const struct hf_image *image, const char *want)
{
	char reason[256] = "";

	CHECK_EQ(hf_image_refuses(image, reason, sizeof reason), want != NULL);
	if (want)
		CHECK_STR(reason, want);
}

static uint32_t word_at(const struct hf_image *image, uint64_t address)
{
	uint8_t bytes[4];

	hf_image_read(image, address, bytes, sizeof bytes);
	return hf_get32(bytes);
}

static void save(const struct hf_image *image, struct hf_sink *sink)
{
	CHECK_EQ(hf_sink_init_memory(sink, 0), 0);
	hf_image_save(image, sink);
	CHECK_EQ(sink->err, 0);
}

static size_t saved_size(const struct hf_sink *sink)
{
	return (size_t)(sink->p - sink->start);
}

/* The same in everything that is saved. */
static void check_same(const struct hf_image *a, const struct hf_image *b)
{
	struct hf_sink left, right;

	save(a, &left);
	save(b, &right);
	CHECK_EQ(saved_size(&left), saved_size(&right));
	CHECK(memcmp(left.start, right.start, saved_size(&left)) == 0);
	hf_sink_fini_memory(&left);
	hf_sink_fini_memory(&right);
}

static struct hf_image *reload(const struct hf_image *image)
{
	struct hf_image *copy;
	struct hf_sink sink;

	save(image, &sink);
	CHECK_EQ(hf_image_load(sink.start, saved_size(&sink), &copy), 0);
	hf_sink_fini_memory(&sink);
	check_same(image, copy);
	return copy;
}

/* ---- what enters ---- */

/* Every pattern of 16-bit, 32-bit and missing instructions in 12 halfwords, across the end of a page. */
static void test_patterns(void)
{
	enum { HALVES = 12 };
	const uint64_t start = BASE + HF_IMAGE_PAGE - HALVES;

	for (unsigned pattern = 0; pattern < 531441; pattern += 7) { /* 3^12, of which every seventh */
		struct hf_image *image = new_image(), *copy;
		struct hf_image_cursor cursor = {0};
		struct hf_image_run run;
		uint16_t want[HALVES + 1] = {0};
		bool known[HALVES + 1] = {0};
		unsigned at = 0, rest = pattern;
		uint64_t bytes = 0;

		for (; at < HALVES; rest /= 3) {
			uint32_t opcode = (at + 1) * 0x01030507u | 3;

			if (rest % 3 == 1) {
				put_insn(image, start + 2 * at, opcode & 0xffff, 2);
			} else if (rest % 3 == 2) {
				put_insn(image, start + 2 * at, opcode, 4);
				want[at + 1] = (uint16_t)(opcode >> 16);
				known[at + 1] = true;
			}
			if (rest % 3) {
				want[at] = (uint16_t)opcode;
				known[at] = true;
			}
			at += rest % 3 == 2 ? 2 : 1;
		}
		for (unsigned i = 0; i <= HALVES; i++)
			bytes += known[i] ? 2 : 0;
		CHECK_EQ(hf_image_bytes(image), bytes);
		check_reason(image, bytes ? NULL : "no instruction is known");
		for (unsigned i = 0; i < HALVES; i++)
			CHECK_EQ(word_at(image, start + 2 * i) & 0xffff, want[i]);
		for (unsigned i = 0; i <= HALVES; i++) {
			if (!known[i])
				continue;
			CHECK(hf_image_next_run(image, &cursor, &run));
			CHECK_EQ(run.address, start + 2 * i);
			for (uint64_t n = 0; n < run.size; n += 2)
				CHECK(known[i++]);
			CHECK(i > HALVES || !known[i]);
		}
		CHECK(!hf_image_next_run(image, &cursor, &run));
		copy = reload(image);
		hf_image_free(copy);
		hf_image_free(image);
	}
}

/* Each halfword value at each nature of place compares as itself, and one bit off it as another. */
static void test_every_halfword(void)
{
	struct hf_image *image = new_image();
	struct hf_image *other;

	for (uint32_t half = 0; half <= UINT16_MAX; half++)
		put_insn(image, BASE + 2 * half, half, 2);
	for (uint32_t half = 0; half <= UINT16_MAX; half++)
		put_insn(image, BASE + 2 * half, half | 0xabcd0000, 2); /* what lies above 16 bits is not meant */
	CHECK_EQ(hf_image_changes(image), 0);
	CHECK_EQ(hf_image_bytes(image), 0x20000);
	CHECK_EQ(hf_image_pages(image), 0x20000 / HF_IMAGE_PAGE);
	for (uint32_t half = 0; half < UINT16_MAX; half += 2) /* 32-bit views of the same bytes agree */
		put_insn(image, BASE + 2 * half, half | (half + 1) << 16, 4);
	check_reason(image, NULL);
	for (unsigned bit = 0; bit < 16; bit++) {
		other = reload(image);
		put_insn(other, BASE + 0x3fe, 0x1ff ^ 1u << bit, 2);
		CHECK_EQ(hf_image_changes(other), 1);
		hf_image_free(other);
	}
	hf_image_free(image);
}

static void test_entry(void)
{
	struct hf_image *image = new_image();
	struct hf_event ev[3] = {attempt_event(BASE, NOP, 4), trap_event(5, HF_EVF_CAUSE), insn_event(BASE, NOP, 4)};
	uint64_t pc;

	CHECK(!hf_image_entry(image, &pc));
	CHECK_EQ(hf_image_put(image, ev, 2), 0);
	CHECK(!hf_image_entry(image, &pc)); /* an attempt is not where the hart began */
	CHECK_EQ(hf_image_put(image, ev + 2, 1), 0);
	CHECK(hf_image_entry(image, &pc));
	CHECK_EQ(pc, BASE);
	CHECK(!hf_image_narrow(image));
	put_insn(image, BASE + 4, 1, 2);
	CHECK(hf_image_narrow(image));
	CHECK_EQ(hf_image_isas(image), 1u << HF_ISA_RV64);
	hf_image_free(image);
}

/* Unknown bytes are zero, and are not taken for known zeros. */
static void test_zeros(void)
{
	struct hf_image *image = new_image();

	put_insn(image, BASE, 0x0513, 2);
	put_insn(image, BASE, 0x00000513, 4); /* its second halfword is new */
	CHECK_EQ(hf_image_bytes(image), 4);
	put_insn(image, BASE + 8, 0, 2);
	CHECK_EQ(hf_image_bytes(image), 6);
	put_insn(image, BASE + HF_IMAGE_PAGE - 2, 0x0513, 2);
	put_insn(image, BASE + HF_IMAGE_PAGE - 2, 0x00000513, 4);
	CHECK_EQ(hf_image_bytes(image), 10);
	CHECK_EQ(hf_image_pages(image), 2);
	hf_image_free(image);
}

/* A T32 instruction of 4 bytes has its first halfword in the upper half of the opcode, and first in memory. */
static void test_thumb_order(void)
{
	static const uint8_t bl[4] = {0x00, 0xf0, 0x04, 0xf8};
	struct hf_image *image = new_image();
	struct hf_event ev = insn_event(BASE, 0xf000f804, 4);
	uint8_t bytes[4];

	ev.insn.isa = HF_ISA_T32;
	put(image, ev);
	put(image, ev);
	hf_image_read(image, BASE, bytes, 4);
	CHECK(memcmp(bytes, bl, 4) == 0);
	hf_image_free(image);
}

/* Bytes that were executed as A32 and as T32 are T32, whichever came first. */
static void test_thumb(void)
{
	for (unsigned order = 0; order < 2; order++) {
		struct hf_image *image = new_image();
		struct hf_image_cursor cursor = {0};
		struct hf_image_run run;

		for (unsigned i = 0; i < 2; i++) {
			struct hf_event ev = insn_event(BASE, 0xe3a00001, 4);

			if (i == order) {
				ev.insn.isa = HF_ISA_T32;
				ev.insn.opcode = 0x0001e3a0;
			} else {
				ev.insn.isa = HF_ISA_A32;
			}
			put(image, ev);
		}
		CHECK(hf_image_next_run(image, &cursor, &run));
		CHECK(run.thumb);
		CHECK_EQ(run.size, 4);
		hf_image_free(image);
	}
}

/* The highest instruction of the address space, and one that wraps around its end. */
static void test_top(void)
{
	struct hf_image *image = new_image(), *copy;

	put_insn(image, UINT64_C(0xfffffffffffffffc), 0x00500513, 4);
	check_reason(image, NULL);
	put_insn(image, UINT64_C(0xfffffffffffffffe), 0x12340050, 4);
	check_reason(image, NULL);
	CHECK_EQ(word_at(image, UINT64_C(0xfffffffffffffffe)), 0x12340050);
	copy = reload(image);
	hf_image_free(copy);
	hf_image_free(image);
}

/* ---- attempts ---- */

/* Whether an attempt enters when these events follow it. */
static bool enters(uint32_t opcode, uint8_t isa, const struct hf_event *after, size_t n)
{
	struct hf_image *image = new_image();
	struct hf_event attempt = attempt_event(BASE, opcode, 4);
	uint64_t bytes;

	attempt.insn.isa = isa;
	put(image, attempt);
	for (size_t i = 0; i < n; i++) {
		struct hf_image *copy = reload(image); /* any place may be a checkpoint */

		hf_image_free(image);
		image = copy;
		put(image, after[i]);
	}
	bytes = hf_image_bytes(image);
	hf_image_free(image);
	CHECK(bytes == 0 || bytes == 4);
	return bytes;
}

static void test_attempts(void)
{
	const struct hf_event mem = {.kind = HF_EVENT_MEM}, data = {.kind = HF_EVENT_DATA};
	const struct hf_event fault = trap_event(13, HF_EVF_CAUSE);
	const struct hf_event with_mem[] = {mem, data, fault};
	const struct hf_event late[] = {context_event(HF_CONTEXT_MODE, 0, 0), fault};
	const struct hf_event other[] = {insn_event(BASE + 0, NOP, 4), fault};

	for (unsigned cause = 0; cause < 70; cause++) {
		const struct hf_event trap = trap_event(cause, HF_EVF_CAUSE);
		const struct hf_event async = trap_event(cause, HF_EVF_CAUSE | HF_EVF_ASYNC);
		bool fetched = cause <= 23 && cause != 0 && cause != 1 && cause != 3 && cause != 12 && cause != 14 &&
			       cause != 16 && cause != 17 && cause != 19 && cause != 20;

		CHECK_EQ(enters(NOP, HF_ISA_RV64, &trap, 1), fetched);
		CHECK(!enters(NOP, HF_ISA_RV64, &async, 1));
	}
	for (unsigned cause = 0; cause < 70; cause++) {
		const struct hf_event trap = trap_event(cause, HF_EVF_CAUSE);
		bool fetched = cause < 64 && cause != 0x0e && cause != 0x20 && cause != 0x21 && cause != 0x22 &&
			       cause != 0x2f && !(cause >= 0x30 && cause <= 0x33) && cause != 0x3a;

		CHECK_EQ(enters(0xd4000001, HF_ISA_A64, &trap, 1), fetched);
	}
	{
		const struct hf_event breakpoint = trap_event(3, HF_EVF_CAUSE), unknown = trap_event(13, 0);

		CHECK(enters(0x00100073, HF_ISA_RV64, &breakpoint, 1));
		CHECK(!enters(NOP, HF_ISA_RV64, &breakpoint, 1)); /* a debug trigger, before the fetch */
		CHECK(enters(NOP, HF_ISA_RV64, &unknown, 1)); /* from the program of a packet trace */
		CHECK(!enters(0xd4000001, HF_ISA_A64, &unknown, 1));
	}
	CHECK(enters(NOP, HF_ISA_RV64, with_mem, 3));
	CHECK(!enters(0x00500513, HF_ISA_RV64, late, 2));
	CHECK(!enters(NOP, HF_ISA_RV64, NULL, 0));
	{
		/* The retry at the same address, another instruction than the placeholder: no conflict. */
		struct hf_image *image = new_image();

		put(image, attempt_event(BASE, NOP, 4));
		put(image, trap_event(12, HF_EVF_CAUSE));
		put_insn(image, BASE, 0x00500513, 4);
		check_reason(image, NULL);
		CHECK_EQ(word_at(image, BASE), 0x00500513);
		/* A trap after a retired instruction says nothing of the attempt before that. */
		put(image, attempt_event(BASE + 8, NOP, 4));
		CHECK_EQ(hf_image_put(image, other, 2), 0);
		CHECK_EQ(hf_image_bytes(image), 4);
		hf_image_free(image);
	}
}

/* ---- refusals ---- */

static void test_conflict(void)
{
	struct hf_image *image = new_image();

	put(image, context_event(HF_CONTEXT_PID, 7, 0));
	put(image, context_event(HF_CONTEXT_ASID, 0, 7));
	put_insn(image, BASE, 0x00500513, 4);
	put_insn(image, BASE + 4, 0x4505, 2);
	check_reason(image, NULL);
	put_insn(image, BASE, 0x00600513, 4);
	check_reason(image, "the code at 0x80000000 changes from 00500513 to 00600513 (first at instruction 2, "
			    "2 bytes in all)");
	put_insn(image, BASE, 0x00600513, 4);
	CHECK_EQ(hf_image_changes(image), 1);
	put_insn(image, BASE + 4, 0x4509, 2);
	put(image, context_event(HF_CONTEXT_PID, 7, 0));
	check_reason(image, "the code at 0x80000000 changes from 00500513 to 00600513 (first at instruction 2, "
			    "4 bytes in all)");
	put(image, context_event(HF_CONTEXT_ASID, 0, 8));
	check_reason(image, "the code at 0x80000000 changes from 00500513 to 00600513 (first at instruction 2, "
			    "4 bytes in all); the hart ran in more than one address space");
	CHECK_EQ(word_at(image, BASE), 0x00500513); /* the first ones stay */
	hf_image_free(reload(image));
	hf_image_free(image);
}

/* A conflict in the second half only, and one of a 16-bit instruction. */
static void test_conflict_halves(void)
{
	struct hf_image *image = new_image();

	put_insn(image, BASE + 0xffe, 0x00500513, 4); /* across pages */
	put_insn(image, BASE + 0x1000, 0x4505, 2);
	check_reason(image, "the code at 0x80001000 changes from 0050 to 4505 (first at instruction 1, "
			    "2 bytes in all)");
	put_insn(image, BASE + 0xffe, 0x45050513, 4);
	CHECK_EQ(hf_image_changes(image), 1);
	hf_image_free(image);
}

static void test_misfits(void)
{
	struct hf_image *image = new_image();

	put_insn(image, BASE + 1, NOP, 4);
	check_reason(image, "instruction 0 at 0x80000001 has 4 bytes and an odd address");
	hf_image_free(image);
	image = new_image();
	put_insn(image, BASE, NOP, 4);
	put_insn(image, BASE, NOP, 6);
	put_insn(image, BASE, NOP, 0);
	put_insn(image, BASE, NOP, 1);
	check_reason(image, "instruction 1 at 0x80000000 has 6 bytes");
	CHECK_EQ(hf_image_bytes(image), 4);
	hf_image_free(reload(image));
	hf_image_free(image);
}

static void test_isas(void)
{
	static const struct {
		uint8_t first, second;
		uint64_t pc;
		const char *reason;
	} rows[] = {
		{HF_ISA_RV64, HF_ISA_RV64, BASE, NULL},
		{HF_ISA_A32, HF_ISA_T32, BASE, NULL},
		{HF_ISA_RV32, HF_ISA_RV32, UINT64_C(0xfffffffc), NULL},
		{HF_ISA_RV32, HF_ISA_RV32, UINT64_C(0xffffffff00000000),
		 "the code is 32-bit code at an address of more than 32 bits"},
		{HF_ISA_A64, HF_ISA_T32, BASE,
		 "the hart executed 32-bit and 64-bit code, which one ELF file cannot hold"},
		{HF_ISA_NONE, HF_ISA_RV64, BASE, "the instruction set of the code is not known"},
		{HF_ISA_RV64, 31, BASE, "the instruction set of the code is not known"},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct hf_image *image = new_image();
		struct hf_event first = insn_event(rows[i].pc, NOP, 4), second = first;

		first.insn.isa = rows[i].first;
		second.insn.isa = rows[i].second;
		if (rows[i].second == HF_ISA_T32) /* the same bytes */
			second.insn.opcode = (uint32_t)NOP << 16;
		put(image, first);
		put(image, second);
		check_reason(image, rows[i].reason);
		hf_image_free(reload(image));
		hf_image_free(image);
	}
}

static void test_limit(void)
{
	struct hf_image *image = new_image();

	for (uint64_t i = 0; i < HF_IMAGE_PAGES_MAX; i++) { /* scattered, in no order, all in few slots of the cache */
		uint64_t number = i * 40503 % HF_IMAGE_PAGES_MAX;

		put_insn(image, number * HF_IMAGE_PAGE * 4096, NOP, 4);
	}
	CHECK_EQ(hf_image_pages(image), HF_IMAGE_PAGES_MAX);
	check_reason(image, NULL);
	hf_image_free(reload(image));
	put_insn(image, 0x1ffe, NOP, 4);
	check_reason(image, "the code lies in more than 16384 pages of 4096 bytes");
	CHECK_EQ(hf_image_pages(image), 0);
	put_insn(image, 0, NOP, 4);
	CHECK_EQ(hf_image_pages(image), 0);
	hf_image_free(reload(image));
	hf_image_free(image);
}

/* ---- splitting: saved and loaded at every place ---- */

static uint64_t rnd_state = 0x9e3779b97f4a7c15;

static uint32_t rnd(uint32_t below)
{
	rnd_state ^= rnd_state << 13;
	rnd_state ^= rnd_state >> 7;
	rnd_state ^= rnd_state << 17;
	return (uint32_t)(rnd_state >> 33) % below;
}

#define EVENTS 60u

/* A row of events with all that matters at a split; now and then the code changes. */
static void make_events(struct hf_event ev[EVENTS], bool changes, uint8_t isa)
{
	for (unsigned i = 0; i < EVENTS; i++) {
		uint64_t pc = BASE + HF_IMAGE_PAGE - 16 + 4 * rnd(8);
		uint32_t opcode = (uint32_t)pc * 3 | 3;

		switch (rnd(8)) {
		case 0:
			ev[i] = attempt_event(pc, rnd(2) ? opcode : NOP, 4);
			break;
		case 1:
		case 2:
			ev[i] = trap_event(rnd(2) ? 12 : 13, HF_EVF_CAUSE);
			if (i && ev[i - 1].kind == HF_EVENT_ATTEMPT && ev[i - 1].insn.opcode == NOP)
				ev[i].trap.cause = 12;
			break;
		case 3:
			ev[i] = context_event(HF_CONTEXT_PID, rnd(20) == 0, 0);
			break;
		case 4:
			ev[i] = (struct hf_event){.kind = HF_EVENT_MEM};
			break;
		default:
			ev[i] = insn_event(pc, changes && rnd(4) == 0 ? opcode ^ 0x10 : opcode, 4);
		}
		if (hf_event_is_instruction(&ev[i]))
			ev[i].insn.isa = isa == HF_ISA_T32 && pc & 8 ? HF_ISA_A32 : isa;
	}
}

static void check_equal_but_first(const struct hf_image *a, const struct hf_image *b)
{
	char left[256] = "", right[256] = "";

	CHECK_EQ(hf_image_refuses(a, left, sizeof left), hf_image_refuses(b, right, sizeof right));
	CHECK_EQ(hf_image_changes(a), hf_image_changes(b));
	CHECK_EQ(hf_image_bytes(a), hf_image_bytes(b));
	if (hf_image_changes(a) == 0) {
		CHECK_STR(left, right);
		check_same(a, b);
	}
}

static void test_splits(uint8_t isa)
{
	for (unsigned round = 0; round < 60; round++) {
		struct hf_event ev[EVENTS];
		struct hf_image *whole = new_image();

		make_events(ev, round % 2, isa);
		CHECK_EQ(hf_image_put(whole, ev, EVENTS), 0);
		for (unsigned cut = 0; cut <= EVENTS; cut++) {
			struct hf_image *part = new_image(), *copy;

			CHECK_EQ(hf_image_put(part, ev, cut), 0);
			copy = reload(part);
			CHECK_EQ(hf_image_put(part, ev + cut, EVENTS - cut), 0);
			check_same(whole, part);
			/* and the rest behind a checkpoint */
			CHECK_EQ(hf_image_put(copy, ev + cut, EVENTS - cut), 0);
			check_same(whole, copy);
			hf_image_free(part);
			hf_image_free(copy);
		}
		hf_image_free(whole);
	}
}

/* The order of retired instructions changes nothing but the entry. */
static void test_order(void)
{
	struct hf_event ev[EVENTS], first = insn_event(BASE, NOP, 4);

	for (unsigned round = 0; round < 200; round++) {
		struct hf_image *a = new_image(), *b = new_image();

		put(a, first);
		put(b, first);
		for (unsigned i = 0; i < EVENTS; i++) {
			uint64_t pc = BASE + 8 + 2 * rnd(4000);

			ev[i] = insn_event(pc, (uint32_t)(pc * 77) ^ (round % 2 && rnd(3) == 0), 2);
		}
		CHECK_EQ(hf_image_put(a, ev, EVENTS), 0);
		for (unsigned i = EVENTS; i-- > 0;)
			put(b, ev[i]);
		check_equal_but_first(a, b);
		hf_image_free(a);
		hf_image_free(b);
	}
}

/* ---- hostile bytes ---- */

static void test_load(void)
{
	struct hf_image *image = new_image(), *copy;
	struct hf_sink sink;
	size_t size;

	for (unsigned i = 0; i < 40; i++)
		put_insn(image, BASE + 4000 + 6 * i, NOP + (i << 20), 4);
	put_insn(image, BASE + 4000, NOP + (99 << 20), 4);
	put(image, attempt_event(BASE, NOP, 4));
	save(image, &sink);
	size = saved_size(&sink);
	for (size_t n = 0; n < size; n++) { /* cut anywhere; an exact copy, for the address sanitizer's sake */
		uint8_t *bytes = malloc(n + 1);

		CHECK(bytes);
		memcpy(bytes, sink.start, n);
		CHECK_EQ(hf_image_load(bytes, n, &copy), HF_ERR_STATE);
		free(bytes);
	}
	hf_sink_write(&sink, "", 1);
	CHECK_EQ(hf_image_load(sink.start, size + 1, &copy), HF_ERR_STATE);
	for (size_t n = 0; n < size * 8; n++) { /* any bit */
		sink.start[n / 8] ^= (uint8_t)(1u << n % 8);
		if (hf_image_load(sink.start, size, &copy) == 0)
			hf_image_free(reload(copy));
		hf_image_free(copy);
		sink.start[n / 8] ^= (uint8_t)(1u << n % 8);
	}
	hf_sink_fini_memory(&sink);
	hf_image_free(image);
}

int main(void)
{
	test_patterns();
	test_every_halfword();
	test_entry();
	test_zeros();
	test_thumb();
	test_thumb_order();
	test_top();
	test_attempts();
	test_conflict();
	test_conflict_halves();
	test_misfits();
	test_isas();
	test_limit();
	test_splits(HF_ISA_RV64);
	test_splits(HF_ISA_T32);
	test_order();
	test_load();
	return 0;
}

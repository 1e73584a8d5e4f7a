/* SPDX-License-Identifier: Apache-2.0 */
/* Trace units that were built before or beside N-Trace 1.0: times, narrow addresses, samples, trap values, return stacks. */
#include "codecs/ntrace/errors.h"
#include "codecs/ntrace/message.h"
#include "tests/lib/ntracetest.h"

#define BASE 0x1000
#define KERNEL UINT64_C(0xffffffff80001000)

/* Eight c.nop, beq to the last but three of them, eight c.nop, jr a0: 2 bytes each, but beq and jr 4. */
static const uint8_t code[] = {
	1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0xe3, 0x0c, 0x00, 0xfe,
	1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0x67, 0x00, 0x05, 0x00,
};

struct script {
	struct hf_ntt t;
	struct hf_ntrace_params params;
	uint8_t bytes[2048];
	size_t n;
};

static void begin(struct script *s, const char *params)
{
	memset(s, 0, sizeof *s);
	hf_ntt_init(&s->t, params);
	hf_ntt_add_code(&s->t, BASE, code, sizeof code);
	CHECK_EQ(hf_ntrace_params_read(&s->t.setup, 0, &s->params, NULL), 0);
}

static void add(struct script *s, struct hf_ntrace_message msg)
{
	s->n += hf_ntrace_message_write(&s->params, &msg, s->bytes + s->n);
}

static void add_sync(struct script *s, uint64_t icnt, uint64_t address)
{
	add(s, (struct hf_ntrace_message){
		.tcode = HF_NTRACE_SYNC, .sync = icnt ? HF_NTRACE_SYNC_PERIODIC : HF_NTRACE_SYNC_ENABLE, .icnt = icnt,
		.address = address});
}

static void add_own(struct script *s, uint64_t process)
{
	add(s, (struct hf_ntrace_message){.tcode = HF_NTRACE_OWNERSHIP, .value = process});
}

static void add_stop(struct script *s, uint64_t icnt)
{
	add(s, (struct hf_ntrace_message){.tcode = HF_NTRACE_CORRELATION, .icnt = icnt});
}

/* The events as words: "T1000 i3 P5@2", i for each run of instructions. */
static void check(struct script *s, const char *expected)
{
	struct hf_ntt_events events = hf_ntt_decode(&s->t, s->bytes, s->n, 0, 0);
	char text[1024] = "";
	size_t n = 0, insns = 0;

	for (size_t i = 0; i <= events.n; i++) {
		const struct hf_event *ev = i < events.n ? &events.ev[i] : &(struct hf_event){.kind = HF_EVENT_NONE};

		insns += ev->kind == HF_EVENT_INSN;
		if (ev->kind == HF_EVENT_INSN || n > sizeof text - 100)
			continue;
		if (insns)
			n += (size_t)sprintf(text + n, "i%zu ", insns);
		insns = 0;
		if (ev->kind == HF_EVENT_TIMESTAMP)
			n += (size_t)sprintf(text + n, "T%" PRIu64 " ", ev->time.value);
		if (ev->kind == HF_EVENT_NOTE || ev->kind == HF_EVENT_DOUBT || ev->kind == HF_EVENT_GAP)
			n += (size_t)sprintf(text + n, "%c%d:%" PRIu64 "<%u ", ev->kind == HF_EVENT_NOTE ? 'n' : ev->kind == HF_EVENT_GAP ? 'g' : 'd',
					     ev->code, ev->loss.detail, ev->back);
		if (ev->kind == HF_EVENT_CONTEXT)
			n += (size_t)sprintf(text + n, "C%x/%u/%u ", ev->fields, ev->context.pid, ev->context.mode);
		if (ev->kind == HF_EVENT_MARKER)
			n += (size_t)sprintf(text + n, "M%" PRIx64 " ", ev->marker.value);
		if (ev->kind == HF_EVENT_TRAP)
			n += (size_t)sprintf(text + n, "t%x/%" PRIx64 " ", ev->flags, ev->trap.value);
	}
	CHECK_STR(text, expected);
	CHECK_EQ(events.err, HF_NOTE_END);
	hf_ntt_check_cuts(&s->t, s->bytes, s->n, 0);
	hf_ntt_events_free(&events);
	hf_ntt_fini(&s->t);
}

/* ---- times ---- */

static void add_time(struct script *s, bool sync, uint64_t time)
{
	add(s, (struct hf_ntrace_message){.tcode = sync ? HF_NTRACE_SYNC : HF_NTRACE_RESOURCE_FULL, .sync = HF_NTRACE_SYNC_PERIODIC,
					  .address = BASE, .has_time = true, .time = time});
}

/* fields[0] and, unless it is 0, fields[3] are of synchronising messages. */
static void begin_times(struct script *s, const char *params, const uint64_t fields[6])
{
	begin(s, params);
	for (unsigned i = 0; i < 6; i++)
		if (i != 3 || fields[3])
			add_time(s, i == 0 || i == 3, fields[i]);
}

/* The reading that fits is found, if the source synchronised twice and only one does. */
static void test_times_found(void)
{
	static const struct {
		uint64_t fields[6];
		const char *events;
	} cases[] = {
		{{1000, 30, 20, 1100, 4, 5}, "T1000 T1030 T1050 T1100 T1104 T1109 "},
		{{1000, 1000 ^ 1500, 1500 ^ 1510, 1600, 1600 ^ 1601, 1601 ^ 1650}, "T1000 T1500 T1510 T1600 T1601 T1650 "},
		{{1000, 1020, 1023, 1040, 1041, 1050}, "T1000 T1020 T1023 T1040 T1041 T1050 "},
		/* one synchronisation; two readings fit; none does */
		{{1000, 30, 20, 0, 4, 5}, "T1000 n199:0<0 "},
		{{1024, 1, 2, 1100, 1, 2}, "T1024 n199:0<0 T1100 "},
		{{1000, 30, 20, 900, 4, 5}, "T1000 n199:0<0 n200:100<0 T900 "},
	};
	struct script s;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		begin_times(&s, "xlen=64", cases[i].fields);
		check(&s, cases[i].events);
	}
}

/* What the description says holds, and steps back are told. */
static void test_times_said(void)
{
	static const uint64_t fields[6] = {1000, 24, 16, 1040, 1, 2};
	static const struct {
		const char *params, *events;
	} cases[] = {
		{"timestamps=add", "T1000 T1024 T1040 T1040 T1041 T1043 "},
		{"timestamps=xor", "T1000 T1008 n200:16<0 T992 T1040 T1041 T1043 "},
		{"dialect=sifive", "T1000 T1008 n200:16<0 T992 T1040 T1041 T1043 "},
		{"dialect=tt-dfd", "T1000 n200:976<0 T24 n200:8<0 T16 T1040 n200:1039<0 T1 T2 "},
		{"dialect=sifive,timestamps=add", "T1000 T1024 T1040 T1040 T1041 T1043 "},
	};
	struct script s;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		begin_times(&s, cases[i].params, fields);
		check(&s, cases[i].events);
	}
}

/* A counter of 40 bits wraps; a small step back is none. */
static void test_wrap(void)
{
	const uint64_t top = UINT64_C(1) << 40;
	struct script s;

	begin(&s, "dialect=sifive");
	add_time(&s, true, top - 10);
	add_time(&s, false, (top - 10) ^ (top - 3));
	add_time(&s, false, (top - 3) ^ 5);
	add_time(&s, true, 9);
	add_time(&s, true, 7);
	add_time(&s, false, 7 ^ 12);
	check(&s, "T1099511627766 T1099511627773 T1099511627781 T1099511627785 n200:2<0 T1099511627783 T1099511627788 ");
	begin(&s, "timestamps=xor,timestamp_width=16");
	add_time(&s, true, 0xfff0);
	add_time(&s, true, 16);
	check(&s, "T65520 T65552 ");
}

/* ---- addresses ---- */

static void add_jump(struct script *s, uint64_t icnt, uint8_t btype, uint64_t from, uint64_t to)
{
	add(s, (struct hf_ntrace_message){
		.tcode = HF_NTRACE_INDIRECT_BRANCH, .btype = btype, .icnt = icnt, .address = from ^ to});
}

/* Into a kernel whose addresses are sign extended, and back. The field may have the bit above the width too. */
static void test_narrow(void)
{
	static const char *const widths[] = {"address_width=40", "address_width=48", "address_width=49"};
	struct script s;

	for (unsigned sent = 48; sent < 50; sent++)
		for (size_t i = 0; i < sizeof widths / sizeof *widths - (sent == 48); i++) {
			begin(&s, widths[i]);
			hf_ntt_add_code(&s.t, KERNEL, code, sizeof code);
			s.params.address_width = (uint8_t)sent;
			add_sync(&s, 0, BASE);
			add_jump(&s, 2, HF_NTRACE_BTYPE_TRAP, BASE, KERNEL);
			add_jump(&s, 20, HF_NTRACE_BTYPE_JUMP, KERNEL, BASE + 20);
			add_sync(&s, 10, KERNEL + 4);
			add_stop(&s, 2);
			check(&s, "i2 t2/0 i29 ");
		}
	begin(&s, "address_width=32");
	s.params.address_width = 64;
	add_sync(&s, 0, UINT64_C(0x0000123480001000));
	check(&s, "g54:9<0 ");
}

/* ---- samples ---- */

/* SYNC 15 is where the hart was, and no start. The unit has one address that U-ADDR is relative to. */
static void test_samples(void)
{
	struct script s;

	begin(&s, "");
	for (unsigned i = 0; i < 3; i++)
		add(&s, (struct hf_ntrace_message){.tcode = HF_NTRACE_SYNC, .sync = HF_NTRACE_SYNC_SAMPLE, .address = BASE + 2 * i});
	check(&s, "M1000 M1002 M1004 ");
	begin(&s, "");
	add_sync(&s, 0, BASE);
	add(&s, (struct hf_ntrace_message){.tcode = HF_NTRACE_SYNC, .sync = HF_NTRACE_SYNC_SAMPLE, .address = BASE + 4});
	add_jump(&s, 20, HF_NTRACE_BTYPE_JUMP, BASE + 4, BASE + 20);
	add_stop(&s, 2);
	check(&s, "M1004 i20 ");
}

/* ---- contexts and trap values (tt-dfd) ---- */

static void add_trap(struct script *s, uint64_t icnt, uint64_t from, uint64_t value)
{
	add_jump(s, icnt, HF_NTRACE_BTYPE_EXCEPTION, from, BASE);
	add_own(s, UINT64_C(7) << 5 | 1 << 2);
	add(s, (struct hf_ntrace_message){.tcode = HF_NTRACE_TRAP_VALUE, .value = value});
}

static void test_trap_values(void)
{
	struct script s;

	/* Frames end with idle bytes. */
	begin(&s, "dialect=tt-dfd");
	add_sync(&s, 0, BASE);
	s.bytes[s.n++] = 0xff;
	add_own(&s, UINT64_C(5) << 5);
	memset(s.bytes + s.n, 0xff, 64 - s.n);
	s.n = 64;
	add_trap(&s, 2, BASE, 0xdeadbeef12345678);
	add_jump(&s, 2, HF_NTRACE_BTYPE_INTERRUPT, BASE, BASE);
	add_own(&s, 6 << 2); /* debug mode */
	add_stop(&s, 2);
	check(&s, "C22/5/1 i2 t22/deadbeef12345678 C22/7/2 i2 t3/0 C20/0/0 i2 ");
	/* By any other unit it is a vendor's. */
	begin(&s, "trap_values=1");
	add_sync(&s, 0, BASE);
	add_trap(&s, 2, BASE, 0x1234);
	s.t.values[0].value = "0";
	check(&s, "i2 t2/0 C22/7/2 M48d0 ");
	/* Without a trap before it. */
	begin(&s, "trap_values=1");
	add_sync(&s, 0, BASE);
	add(&s, (struct hf_ntrace_message){.tcode = HF_NTRACE_TRAP_VALUE, .value = 3});
	add_stop(&s, 2);
	check(&s, "M3 i2 ");
}

/* A trap that ends a batch waits for its value: many of them, each with another one. */
static void test_many_trap_values(void)
{
	enum { TRAPS = 3000 };
	struct hf_ntt_events events;
	struct script s;
	uint8_t *bytes = malloc(TRAPS * 64);
	size_t n, values = 0;

	CHECK(bytes);
	begin(&s, "trap_values=1");
	add_sync(&s, 0, BASE);
	n = s.n;
	memcpy(bytes, s.bytes, n);
	for (unsigned i = 0; i < TRAPS; i++, n += s.n) {
		s.n = 0;
		add_trap(&s, 8, BASE, i);
		memcpy(bytes + n, s.bytes, s.n);
	}
	events = hf_ntt_decode(&s.t, bytes, n, 0, 0);
	for (size_t i = 0; i < events.n; i++)
		if (events.ev[i].kind == HF_EVENT_TRAP) {
			CHECK(events.ev[i].flags & HF_EVF_VALUE);
			CHECK_EQ(events.ev[i].trap.value, values++);
		}
	CHECK_EQ(values, TRAPS);
	hf_ntt_events_free(&events);
	hf_ntt_fini(&s.t);
	free(bytes);
}

/* ---- returns that are only counted ---- */

/* jal to 8; two c.nop; 8: c.nop, ret. */
static const uint8_t call[] = {0xef, 0x00, 0x80, 0x00, 0x01, 0x00, 0x01, 0x00, 0x01, 0x00, 0x82, 0x80};

static void begin_calls(struct script *s, const char *params)
{
	begin(s, params);
	hf_ntt_add_code(&s->t, 2 * BASE, call, sizeof call);
	add_sync(s, 0, 2 * BASE);
	add_own(s, 5 << 5 | 2);
}

/* Where the unit does not compare, another context makes all returns since the last synchronisation doubtful. */
static void test_counted_returns(void)
{
	struct script s;

	for (unsigned compares = 0; compares < 2; compares++) {
		begin_calls(&s, compares ? "implicit_return=1" : "implicit_return=1,compare_returns=0");
		add(&s, (struct hf_ntrace_message){.tcode = HF_NTRACE_RESOURCE_FULL, .icnt = 5}); /* jal, nop, ret, nop */
		add_own(&s, 9 << 5 | 2);
		add_stop(&s, 1);
		check(&s, compares ? "C22/5/1 i4 C22/9/1 i1 " : "C22/5/1 i4 d201:9<4 C22/9/1 i1 ");
	}
	/* Nothing was called, or the same context goes on: no doubt. */
	begin(&s, "implicit_return=1,compare_returns=0");
	add_sync(&s, 0, BASE);
	add_own(&s, 5 << 5 | 2);
	add(&s, (struct hf_ntrace_message){.tcode = HF_NTRACE_RESOURCE_FULL, .icnt = 2});
	add_own(&s, 9 << 5 | 2);
	add_stop(&s, 1);
	check(&s, "C22/5/1 i2 C22/9/1 i1 ");
	begin_calls(&s, "implicit_return=1,compare_returns=0");
	add(&s, (struct hf_ntrace_message){.tcode = HF_NTRACE_RESOURCE_FULL, .icnt = 5});
	add_own(&s, 5 << 5 | 2);
	add_stop(&s, 1);
	check(&s, "C22/5/1 i4 C22/5/1 i1 ");
}

/* A misfit is doubtful back to the last address, and not to the last branch that was reported. */
static void test_counted_misfit(void)
{
	struct script s;

	for (unsigned compares = 0; compares < 2; compares++) {
		begin(&s, compares ? "implicit_return=1" : "implicit_return=1,compare_returns=0");
		add_sync(&s, 0, BASE);
		add(&s, (struct hf_ntrace_message){.tcode = HF_NTRACE_DIRECT_BRANCH, .icnt = 10});
		add(&s, (struct hf_ntrace_message){.tcode = HF_NTRACE_DIRECT_BRANCH, .icnt = 3});
		check(&s, compares ? "i9 g60:4108<0 " : "i9 g60:4108<9 ");
	}
}

/* ---- what our own encoder writes as such a unit, a reader of that dialect reads ---- */

static void check_dialect(const char *params)
{
	struct hf_ntt_events events, again;
	struct hf_walk_bytes bytes;
	char ini[512];
	struct script s;
	struct hf_ntt t;

	begin(&s, "dialect=tt-dfd");
	hf_ntt_add_code(&s.t, KERNEL, code, sizeof code);
	s.n = 0;
	add(&s, (struct hf_ntrace_message){.tcode = HF_NTRACE_SYNC, .sync = HF_NTRACE_SYNC_ENABLE, .address = BASE, .has_time = true,
					   .time = 1000});
	add_own(&s, 5 << 5);
	for (unsigned i = 0; i < 40; i++) {
		add(&s, (struct hf_ntrace_message){.tcode = HF_NTRACE_INDIRECT_BRANCH, .btype = HF_NTRACE_BTYPE_EXCEPTION, .icnt = 2,
						   .address = BASE ^ KERNEL, .has_time = true, .time = 1010 + 30 * i});
		add_own(&s, (5 + i % 2) << 5 | 1 << 2);
		add(&s, (struct hf_ntrace_message){.tcode = HF_NTRACE_TRAP_VALUE, .value = UINT64_MAX - i});
		add_jump(&s, 20, HF_NTRACE_BTYPE_JUMP, KERNEL, BASE);
	}
	add_stop(&s, 2);
	events = hf_ntt_decode(&s.t, s.bytes, s.n, 0, 0);
	CHECK_EQ(events.losses, 0);
	bytes = hf_ntt_encode_described(&s.t.setup, &events, 64, 0, params, ini, sizeof ini);
	hf_ntt_init(&t, ini);
	hf_ntt_add_code(&t, BASE, code, sizeof code);
	hf_ntt_add_code(&t, KERNEL, code, sizeof code);
	again = hf_ntt_decode(&t, bytes.p, bytes.n, 0, 0);
	hf_ntt_events_check_same_insns(&events, &again, params);
	CHECK_EQ(again.losses, 0);
	for (size_t i = 0, k = 0; i < events.n; i++) {
		const struct hf_event *ev = &events.ev[i];
		const bool value = ev->kind == HF_EVENT_TRAP && strstr(params, "tt-dfd");

		if (ev->kind != HF_EVENT_TIMESTAMP && !value)
			continue;
		while (k < again.n && (again.ev[k].kind != ev->kind || (!value && again.ev[k].time.value < ev->time.value)))
			k++;
		CHECK(k < again.n);
		CHECK_EQ(value ? again.ev[k].trap.value : again.ev[k].time.value, value ? ev->trap.value : ev->time.value);
		k += value;
	}
	hf_ntt_check_cuts(&t, bytes.p, bytes.n, 0);
	hf_ntt_events_free(&events);
	hf_ntt_events_free(&again);
	hf_bytes_free(&bytes);
	hf_ntt_fini(&t);
	hf_ntt_fini(&s.t);
}

int main(void)
{
	static const char *const dialects[] = {"standard", "sifive", "tt-dfd"}, *const times[] = {"add", "xor", "absolute"};
	char params[128];

	test_times_found();
	test_times_said();
	test_wrap();
	test_narrow();
	test_samples();
	test_trap_values();
	test_many_trap_values();
	test_counted_returns();
	test_counted_misfit();
	for (unsigned i = 0; i < 9; i++) {
		snprintf(params, sizeof params, "dialect=%s,timestamps=%s,times=1,address_width=%u,ownership=1,sync_instructions=%u",
			 dialects[i / 3], times[i % 3], i % 2 ? 49 : 0, 30 + i);
		check_dialect(params);
	}
	return 0;
}

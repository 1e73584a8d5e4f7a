/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Very many accesses between two packets, and rows of accesses and instructions that cannot be brought together: each
 * access at its own instruction or at none, and where it is none a doubt says so.
 */
#include "codecs/etrace/errors.h"
#include "tests/lib/check.h"
#include "tests/lib/etraceloop.h"

#include "codecs/etrace/decoder.h"

#include <stdlib.h>

#define BASE UINT64_C(0x80000000)
#define LOADS 100000
#define LW 0x00012503u

/* Loads without an end; that at BASE + 4 i is from address_of(i). */
static uint32_t code[LOADS];

static uint64_t address_of(uint64_t i)
{
	return 0x1000 + 4 * i;
}

struct made {
	struct hf_etl l;
	struct hf_etrace_params params;
	struct hf_etrace_data_state history;
	uint64_t base;
};

static struct made begin(const char *version, const char *more)
{
	struct made m = {.l = {.code = {.base = {BASE}, .size = {sizeof code}, .bytes = {(const uint8_t *)code}}}};
	struct hf_setup_value values[] = {
		{.hart = HF_SETUP_ANY, .key = "version", .value = version, .file = "test"},
		{.hart = HF_SETUP_ANY, .key = "framing", .value = "te_inst_raw", .file = "test"},
		{.hart = HF_SETUP_ANY, .key = "iaddress_width", .value = "64", .file = "test"},
	};
	const struct hf_setup setup = {.values = values, .value_count = 3};

	m.l.trace = malloc(LOADS * 16);
	CHECK(m.l.trace);
	snprintf(m.l.ini, sizeof m.l.ini,
		 "[capture]\nformat = etrace\nframing = te_inst_raw\ntrace = trace.bin\n[program]\n"
		 "raw = program0.bin, address = 0x80000000\n[parameters]\nversion = %s\niaddress_width = 64\n%s",
		 version, more);
	CHECK_EQ(hf_etrace_params_read(&setup, 0, &m.params, NULL), 0);
	if (strstr(more, "mmacas"))
		m.params.modes |= HF_ETRACE_MMACAS;
	return m;
}

static void add(struct made *m, unsigned type, const uint8_t *payload, size_t n)
{
	CHECK(n > 0 && n < 32);
	m->l.trace[m->l.size++] = (uint8_t)(type << 5 | n);
	memcpy(m->l.trace + m->l.size, payload, n);
	m->l.size += n;
}

static void put(struct made *m, struct hf_etrace_packet pkt)
{
	uint8_t payload[HF_ETRACE_PAYLOAD_MAX + 16];

	add(m, 2, payload, hf_etrace_packet_write(&m->params, m->params.modes, &pkt, payload));
}

static void sync(struct made *m, uint64_t i)
{
	m->base = BASE + 4 * i;
	put(m, (struct hf_etrace_packet){
		       .format = 3, .branch = true, .privilege = 3, .has_address = true, .address = m->base >> 1});
}

static void report(struct made *m, uint64_t i)
{
	const uint64_t at = BASE + 4 * i;

	put(m, (struct hf_etrace_packet){.format = 2,
					 .has_address = true,
					 .notify = true,
					 .address = (uint64_t)((int64_t)(at - m->base) >> 1)});
	m->base = at;
}

/* The accesses of instructions [from, to). */
static void accesses(struct made *m, uint64_t from, uint64_t to)
{
	uint8_t payload[HF_ETRACE_PAYLOAD_MAX];

	for (uint64_t i = from; i < to; i++) {
		const struct hf_etrace_access a = {.kind = HF_ETRACE_LOAD,
						   .size = 2,
						   .address = address_of(i),
						   .data = i & 0x7f,
						   .flags = HF_ETRACE_HAS_ADDRESS | HF_ETRACE_HAS_DATA};

		add(m, 3, payload,
		    hf_etrace_data_write(&m->params, m->params.modes, HF_ETRACE_DATA_NONE, &m->history, &a, payload));
	}
}

/* What came out: accesses, all at their own instruction, and what was said. */
struct found {
	size_t insns, accesses, doubts, notes;
	uint64_t first_doubt; /* instructions before it */
	uint64_t lost;	      /* of the notes */
	int code;
	bool at[LOADS];
};

static struct found decode(struct made *m, bool resumed)
{
	static struct found f;
	struct hf_rvtrace got;
	uint64_t pc = 0;

	memset(&f, 0, sizeof f);
	hf_rvtrace_init(&got, 64);
	resumed ? hf_etl_decode_resumed(&m->l, &got) : hf_etl_decode(&m->l, 0, &got, NULL);
	for (size_t i = 0; i < got.count; i++) {
		const struct hf_event *ev = &got.events[i];

		if (ev->kind == HF_EVENT_INSN) {
			CHECK_EQ(ev->insn.pc, BASE + 4 * f.insns);
			pc = ev->insn.pc;
			f.insns++;
		} else if (ev->kind == HF_EVENT_MEM) {
			CHECK_EQ(ev->mem.address, address_of((pc - BASE) / 4));
			f.at[(pc - BASE) / 4] = true;
			f.accesses++;
		} else if (ev->kind == HF_EVENT_DOUBT) {
			f.first_doubt = f.doubts++ ? f.first_doubt : f.insns;
			f.code = -(int)ev->code;
		} else if (ev->kind == HF_EVENT_NOTE) {
			CHECK_EQ(ev->code, -HF_ERR_ETRACE_DATA);
			f.notes++;
			f.lost += ev->loss.detail;
		}
	}
	hf_rvtrace_fini(&got);
	return f;
}

static const char *const orders[] = {"", "data_order = before\n", "data_order = any\n"};

/* A real program has some 1,057 between two packets; before or behind the packet that reports them. */
static void test_many(size_t n, bool late, const char *order)
{
	struct made m = begin("2.0", order);
	struct found f;

	sync(&m, 0);
	if (!late)
		accesses(&m, 0, n);
	report(&m, n);
	if (late)
		accesses(&m, 0, n);
	accesses(&m, n, n + 1);
	for (unsigned resumed = 0; resumed < (n < 2000 ? 2 : 1); resumed++) {
		f = decode(&m, resumed);
		CHECK_EQ(f.insns, n + 1);
		CHECK_EQ(f.accesses, n + (late || order != orders[1]));
		CHECK_EQ(f.doubts, 0);
	}
	hf_etl_free(&m.l);
}

/* More than wait: none of them, and again all behind the next synchronisation. */
static void test_too_many(const char *order)
{
	const uint64_t n = HF_ETRACE_ACCESSES + 100, more = 50;
	struct made m = begin("2.0", order);
	struct found f;

	sync(&m, 0);
	accesses(&m, 0, 10);
	report(&m, 10);
	accesses(&m, 10, n);
	report(&m, n - 1);
	sync(&m, n);
	accesses(&m, n, n + more);
	report(&m, n + more);
	f = decode(&m, false);
	CHECK_EQ(f.insns, n + more + 1);
	CHECK_EQ(f.doubts, 1);
	CHECK_EQ(f.code, HF_ERR_ETRACE_DATA_WAIT);
	CHECK_EQ(f.first_doubt, 10);
	CHECK(f.at[9] && !f.at[10] && !f.at[n - 1] && f.at[n] && f.at[n + more - 1]);
	CHECK_EQ(f.accesses, 10 + more);
	CHECK_EQ(f.lost, n - 10);
	hf_etl_free(&m.l);
}

/* A packet that stands for more instructions than can wait for accesses that come behind it. */
static void test_too_late(const char *order)
{
	const uint64_t n = HF_ETRACE_LIST / 2 * HF_WALK_BLOCK_MAX + 4000, more = 50;
	struct made m = begin("2.0", order);
	struct found f;

	sync(&m, 0);
	report(&m, n - 1);
	accesses(&m, 0, n);
	sync(&m, n);
	accesses(&m, n, n + more);
	report(&m, n + more);
	f = decode(&m, false);
	CHECK_EQ(f.insns, n + more + 1);
	CHECK(f.doubts >= 1);
	CHECK_EQ(f.code, HF_ERR_ETRACE_DATA_NONE);
	CHECK_EQ(f.first_doubt, *order ? 0 : n - 1); /* that there is data trace shows behind them only */
	CHECK_EQ(f.accesses, more);
	CHECK(f.at[n] && f.at[n + more - 1]);
	hf_etl_free(&m.l);
}

/* One that cannot be read: what comes behind it would be the instructions' before. */
static void test_unreadable(void)
{
	static const uint8_t reserved[] = {0x02}; /* mmacas: format 2 and 0 */
	struct made m = begin("2.1", "data_order = before\nmmacas = 1\n");
	struct found f;

	sync(&m, 0);
	accesses(&m, 0, 20);
	add(&m, 3, reserved, sizeof reserved);
	accesses(&m, 21, 40);
	report(&m, 39);
	sync(&m, 40);
	accesses(&m, 40, 60);
	report(&m, 60);
	for (unsigned resumed = 0; resumed < 2; resumed++) {
		f = decode(&m, resumed);
		CHECK_EQ(f.insns, 61);
		CHECK_EQ(f.doubts, 1);
		CHECK_EQ(f.code, HF_ERR_ETRACE_DATA_PACKET);
		CHECK(!f.at[20] && !f.at[39] && f.at[40] && f.at[59]);
		CHECK_EQ(f.lost, 40);
		CHECK_EQ(f.notes, 1);
	}
	hf_etl_free(&m.l);
}

/* One that is missing, which the instruction waits for too long, and then others without that come late. */
static void test_missing(void)
{
	struct made m = begin("2.0", orders[2]);
	struct found f;

	sync(&m, 0);
	accesses(&m, 0, 20);
	for (uint64_t i = 20; i < 60000; i += 20)
		report(&m, i);
	report(&m, 60000 - 1);
	accesses(&m, 50000, 60000);
	sync(&m, 60000);
	accesses(&m, 60000, 60100);
	report(&m, 60100);
	f = decode(&m, false);
	CHECK_EQ(f.insns, 60101);
	CHECK_EQ(f.accesses, 120);
	CHECK_EQ(f.doubts, 1);
	CHECK_EQ(f.code, HF_ERR_ETRACE_DATA_NONE);
	CHECK_EQ(f.first_doubt, 20);
	CHECK_EQ(f.lost, 10000);
	hf_etl_free(&m.l);
}

int main(void)
{
	for (size_t i = 0; i < LOADS; i++)
		code[i] = LW;
	for (unsigned i = 0; i < 3; i++) {
		test_many(1057, false, orders[i]);
		test_many(60000, false, orders[i]);
		test_too_many(orders[i]);
	}
	test_many(1057, true, orders[2]);
	test_too_late(orders[0]);
	test_too_late(orders[2]);
	test_unreadable();
	test_missing();
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* ETMv4 of the M profile: exceptions and returns from them, low-overhead loops, IT blocks, security states. */
#include "codecs/ete/errors.h"
#include "codecs/ete/packet.h"
#include "codecs/isa/names.h"
#include "tests/lib/check.h"
#include "tests/lib/etetest.h"

#define UNIT "profile=M TRCIDR2=0x4 TRCDEVARCH=0x47724a13 TRCIDR0=0x280006e1 "
#define SIMPLE UNIT "TRCIDR8=0 TRCCONFIGR=0x1801"
#define DEEP UNIT "TRCIDR8=0x10 TRCCONFIGR=0x1801"

/*
 * 1000: svc; 1002: nop; 1004: bl 1104; 1008: b 1000; 1104: svc; 1106: bx lr; 1200: bx lr; 1204: ldm (4 bytes);
 * 1208: bx lr; 120c: wls 1214; 1210: le 1210; 1214: bx lr; 1218: it eq; 121a: bl 1220 in it; 121e, 1220: nop; 1222: bx lr
 */
#define CODE "1000:bf00df01 1004:f87ef000 1008:bf00e7fa 1104:4770df02 1200:bf004770 1204:0006e8b0 1208:bf004770 " \
	     "120c:c003f044 1210:c003f00f 1214:bf004770 1218:f000bf08 121c:bf00f801 1220:4770bf00"

#define SVC_AT_1000 "SYNC 01 00 04 83 00 10 00 00 00 06 17 96 01 83 00 12 00 00 03 "
#define THREAD_AT(first, second) "SYNC 01 00 04 83 " first " " second " 00 00 00 "

static void check(const char *registers, const char *trace, const char *words)
{
	struct ete_capture c;
	const char *got;

	ete_make(&c, registers, CODE, "source_data", trace);
	got = ete_words(&c);
	if (strcmp(got, words) != 0) {
		fprintf(stderr, "%s:\n%s\nis not\n%s\n", trace, got, words);
		exit(1);
	}
	ete_close(&c);
}

static void test_returns(void)
{
	/* the exception return is an element: it tells where the branch before it went */
	check(SIMPLE, SVC_AT_1000 "f7 07 9b 01 10 00 00 81 00 f7",
	      "thread 1000 !3f3>1200 handler 1200>1002 return>1002 thread 1002 1004>1104");
	/* and counts: of the four that are committed it is the third */
	check(DEEP, SVC_AT_1000 "f7 07 9b 01 10 00 00 81 00 f7 2d 04",
	      "thread 1000 !3f3>1200 handler 1200>1002 return>1002 thread 1002 1004>1104");
	check(DEEP, SVC_AT_1000 "f7 07 9b 01 10 00 00 81 00 f7 2d 03",
	      "thread 1000 !3f3>1200 handler 1200>1002 return>1002 thread note:ETE_UNCOMMITTED");
	/* the return stack has no part in it, though something is on it */
	check(SIMPLE, THREAD_AT("02", "10") "f7 06 17 9b 03 11 00 00 83 00 12 00 00 03 f7 07 9b 03 11 00 00 81 00 f7 f7",
	      "thread 1004>1104 1104 !3f3>1200 handler 1200>1106 return>1106 thread 1106>1008 1008>1000");
	/* from handler to handler */
	check(SIMPLE, SVC_AT_1000 "f7 07 06 1f 9b 7f ff ff ff 83 00 12 00 00 03 f7 07 9b 01 10 00 00 81 00 f7",
	      "thread 1000 !3f3>1200 handler 1200 return !!3f7>1200 1200>1002 return>1002 thread 1002 1004>1104");
	/* a function return is an element and no branch */
	check(SIMPLE, THREAD_AT("04", "12") "f7 05 83 02 10 00 00 20 f7", "thread 1208>1004 thread-ns 1004>1104");
}

static void test_exceptions(void)
{
	/* inside an instruction: an attempt, which begins anew */
	check(SIMPLE, THREAD_AT("02", "12") "06 05 96 03 83 00 12 00 00 03 f7 07 83 02 12 00 00 00 f7 9b 01 10 00 00",
	      "thread ?1204 !!3ea>1200 handler 1200>1204 return>1204 thread 1204 1208>1002");
	/* before one: nothing began */
	check(SIMPLE, THREAD_AT("02", "12") "06 05 96 02 83 00 12 00 00 03 f7 07 83 02 12 00 00 00 f7 9b 01 10 00 00",
	      "thread !!3ea>1200 handler 1200>1204 return>1204 thread 1204 1208>1002");
	/* IRQ0, IRQ8, IRQ200 */
	check(SIMPLE, THREAD_AT("01", "10") "06 21 96 02 83 00 12 00 00 03", "thread 1002 !!3f8>1200 handler");
	check(SIMPLE, THREAD_AT("01", "10") "06 91 10 96 02 83 00 12 00 00 03", "thread 1002 !!400>1200 handler");
	check(SIMPLE, THREAD_AT("01", "10") "06 91 36 96 02 83 00 12 00 00 03", "thread 1002 !!4c0>1200 handler");
	/* a usage fault is of its instruction; a reset has no address; a halt is no trap; a late push of the FPU */
	check(SIMPLE, THREAD_AT("01", "10") "06 0d 96 02 83 00 12 00 00 03", "thread 1002 ?1004 !3ee>1200 handler");
	check(SIMPLE, THREAD_AT("01", "10") "06 03 96 00 83 00 12 00 00 03 f7", "thread !!3e9>1200 handler 1200");
	check(SIMPLE, THREAD_AT("01", "10") "06 31 96 02 83 02 10 00 00 00 f7", "thread 1002 jump 1004>1104");
	check(SIMPLE, THREAD_AT("01", "10") "06 33 96 02 f7", "thread 1002 mark:4.0 1004>1104");
	/* locked up, until an NMI; or the trace says that something ran there */
	check(SIMPLE, THREAD_AT("01", "10") "06 35 96 02 9b 7f ff ff ef 06 05 90 83 00 12 00 00 03",
	      "thread 1002 !602>effffffe !!3ea>1200 handler");
	check(SIMPLE, THREAD_AT("01", "10") "06 35 96 02 9b 7f ff ff ef f7", "thread 1002 !602>effffffe gap:ETE_LOCKUP");
	/* reserved types */
	check(SIMPLE, THREAD_AT("01", "10") "06 11 96 02 f7", "thread gap:ETE_FIELD");
	check(SIMPLE, THREAD_AT("01", "10") "06 81 01 96 02 f7", "thread gap:ETE_FIELD");
}

static void test_loops(void)
{
	check(SIMPLE, THREAD_AT("06", "12") "f6 f7 f6 f7", "thread 120c 1210>1210 1210 1214");
	check(SIMPLE, THREAD_AT("06", "12") "f7 f7", "thread 120c>1214 1214");
}

/* What is passed over: it tells of no branch. */
static void test_conditional(void)
{
	check(SIMPLE, THREAD_AT("06", "12") "42 43 44 f6 6c 85 01 6d 01 20 2c 50 07 68 01 82 02 6e 03 45 48 4e f7",
	      "thread 120c 1210>1210");
	check("TRCIDR2=0x4 TRCDEVARCH=0x47724a13 TRCIDR0=0x280006e1 TRCIDR8=0 TRCCONFIGR=0x1801", THREAD_AT("06", "12") "42",
	      "el0 gap:ETE_HEADER");
}

/* Conditions of an IT block, wherever the decoder is asked to stop, and what an atom says of its branch. */
static void test_it_block(void)
{
	static const uint8_t it[] = {0, 0x08, 0, 0, 0};
	static const uint64_t pc[] = {0x1218, 0x121a, 0x121e, 0x1220, 0x1222};
	struct ete_capture c;

	ete_make(&c, SIMPLE, CODE, "source_data", THREAD_AT("0c", "12") "f6 f7");
	for (size_t batch = 1; batch < 5; batch++) {
		size_t n, insns = 0;
		struct hf_event *ev = ete_events(&c, 1, batch, &n);

		for (size_t i = 0; i < n; i++) {
			if (ev[i].kind != HF_EVENT_INSN)
				continue;
			CHECK_EQ(ev[i].insn.pc, pc[insns]);
			CHECK_EQ(ev[i].it, it[insns]);
			CHECK_EQ(hf_event_is_not_taken(&ev[i]), insns == 1);
			CHECK_EQ(ev[i].flags, insns == 4 ? HF_EVF_OPEN : 0);
			insns++;
		}
		CHECK_EQ(insns, 5);
		free(ev);
	}
	ete_close(&c);
}

/* Each type is read and written as it is, and those that have a name have one cause. */
static void test_packets(void)
{
	const struct hf_ete_config config = {.etm = true, .m = true};
	unsigned named = 0;

	for (unsigned type = 0; type < 0x400; type++) {
		struct hf_ete_packet packet = {.kind = HF_ETE_EXCEPTION, .info = (uint16_t)(HF_ETE_EXC_M | type)}, again;
		uint8_t bytes[HF_ETE_PACKET_MAX], text[HF_ETE_TEXT_MAX];
		struct hf_ete_meaning meaning = {.address = 0x1002};
		bool interrupt;
		int n;

		packet.flags = type & 1 ? HF_ETE_HAS_FAULT : 0;
		packet.address = (struct hf_ete_address){.value = 2, .bits = 8, .form = HF_ETE_ADDRESS_SHORT, .is = 1};
		n = (int)(hf_ete_packet_put(&config, bytes, &packet) - bytes);
		if (!hf_ete_m_cause(packet.info, &interrupt)) {
			CHECK_EQ(hf_ete_packet_get(&config, bytes, (size_t)n, &again), HF_ERR_ETE_FIELD);
			continue;
		}
		CHECK_EQ(hf_ete_packet_get(&config, bytes, (size_t)n, &again), n);
		CHECK_EQ(again.info, packet.info);
		CHECK_EQ(again.flags, packet.flags);
		*hf_ete_packet_show(&again, &meaning, 0, text) = 0;
		CHECK(strstr((char *)text, hf_ete_exception_name(packet.info)));
		named++;
	}
	CHECK_EQ(named, 11 + 8 + 3 + 488);
	CHECK_STR(hf_ete_exception_name(HF_ETE_EXC_M | 0xb), "SVCall");
	CHECK_STR(hf_ete_exception_name(HF_ETE_EXC_M | 0x208), "IRQ8");
	CHECK_STR(hf_ete_exception_name(HF_ETE_EXC_M | 0x3ef), "IRQ495"); /* the last: 16 + 495 is 511 */
	CHECK_EQ(hf_cause_name(true, true, HF_TRAP_M_END), NULL);
}

int main(void)
{
	test_returns();
	test_exceptions();
	test_loops();
	test_conditional();
	test_it_block();
	test_packets();
	return 0;
}

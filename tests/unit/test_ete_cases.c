/* SPDX-License-Identifier: Apache-2.0 */
/* What is rare in captures: speculation that is corrected late, losses, limits, AArch32, time with what it stamps. */
#include "codecs/base/errors.h"
#include "codecs/ete/errors.h"
#include "codecs/ete/resolve.h"
#include "tests/lib/check.h"
#include "tests/lib/etetest.h"

#define IDS "TRCIDR2=0xd0001088 TRCDEVARCH=0x47705a13 "
/* Of TRCCONFIGR all that a stream shows: cycle counts, ids, timestamps, Q elements. */
#define SIMPLE IDS "TRCIDR0=0x280000a1 TRCIDR8=0 TRCCONFIGR=0x68d1"
#define MARKS IDS "TRCIDR0=0x288000a1 TRCIDR8=0 TRCCONFIGR=0x68d1"
#define STACK IDS "TRCIDR0=0x280000a1 TRCIDR8=0 TRCCONFIGR=0x78d1"
#define DEEP IDS "TRCIDR0=0x280000a1 TRCIDR8=0x20 TRCCONFIGR=0x68d1"
#define COMMITS IDS "TRCIDR0=0x080000a1 TRCIDR8=0x20 TRCCONFIGR=0x68d1"

#define START "SYNC 01 00 04 82 00 08 00 00 31 " /* at 1000, EL1 */

/* 1000: b.eq 2000; 1004: blr x1; 1008: svc; 100c: b 1000; 2000: ret; 2004: b.ne 2000; 2008: nop; 200c: cbz 1000 */
#define CODE "1000:54008000 1004:d63f0020 1008:d4000001 100c:17fffffd 2000:d65f03c0 2004:54ffffe1 200c:b4ff7fa0"

static void check(const char *registers, const char *code, const char *trace, const char *words)
{
	struct ete_capture c;
	const char *got;

	ete_make(&c, registers, code, "source_data", trace);
	got = ete_words(&c);
	if (strcmp(got, words) != 0) {
		fprintf(stderr, "%s:\n%s\nis not\n%s\n", trace, got, words);
		exit(1);
	}
	ete_close(&c);
}

static void test_speculation(void)
{
	/* a mispredict after its atom was committed, with nothing else between; twice is none */
	check(SIMPLE, CODE, START "f6 30 f7 95 02 f7", "el1 1000>2000 2000>1008 1008 100c>1000");
	check(SIMPLE, CODE, START "f6 30 30 f7 9a 00 10 00 00 f7", "el1 1000 1004>2000 2000");
	/* E to N of an indirect branch: the target that was given is void */
	check(DEEP, CODE, START "f6 f7 9a 00 10 00 00 30 2d 02 f7 2d 01",
	      "el1 1000 1004 doubt:ETE_NOT_TAKEN 1008 100c>1000");
	/* the young one is cancelled, and the one before it was wrong; it was committed already */
	check(DEEP, CODE, START "f7 2d 01 f7 2f 01 f7 9a 00 10 00 00 f7 2d 02", "el1 1000 1004>2000 2000");
	/* cancel F2 and F3 with their atoms */
	check(DEEP, CODE, START "f6 35 f7 95 02 f7 2d 03", "el1 1000>2000 2000>1008 1008 100c>1000");
	check(DEEP, CODE, START "f7 f7 39 f7 2d 01", "el1 1000 note:ETE_UNCOMMITTED");
	/* a source address is a P0 element: cancel counts it */
	check(DEEP, CODE, START "b6 01 08 00 00 2e 01 f7 9a 00 10 00 00 2d 01",
	      "el1 1000>2000");
	/* what is older than MAXSPEC is committed by itself; the rest never is */
	check(IDS "TRCIDR8=1 TRCCONFIGR=1", CODE, START "f6 f7 9a 00 10 00 00 f7",
	      "el1 1000 1004>2000 note:ETE_UNCOMMITTED");
	check(DEEP, CODE, START "f7 2d 02 f7", "el1 note:ETE_UNCOMMITTED gap:ETE_COMMIT");
	check(SIMPLE, CODE, START "30 f7", "el1 doubt:ETE_MISPREDICT 1000>2000");
}

static void test_losses(void)
{
	/* atoms without an address are counted */
	check(SIMPLE, CODE, "SYNC 01 00 04 81 31 f7 f7 f6 9a 00 08 00 00 f7", "el1 gap:ETE_NO_ADDRESS 1000>2000");
	/* an indirect branch without a target, no stack: everything up to the address is passed over */
	check(SIMPLE, CODE, START "f6 f7 f7 f7 9a 00 08 00 00 f7", "el1 1000 1004 gap:ETE_NO_ADDRESS 1000>2000");
	/* and an exception then: nothing is known between */
	check(SIMPLE, CODE, START "f6 f7 06 1d 9a 00 10 00 00 9a 00 08 00 00 f7",
	      "el1 1000 1004 gap:ETE_NO_ADDRESS !!1>1000 1000>2000");
	/* overflow and discard end the flow; events and time stay */
	check(SIMPLE, CODE, START "f7 00 05 71 f7 SYNC 01 00 82 00 08 00 00 31 f6",
	      "el1 1000>2000 gap:ETE_OVERFLOW mark:1.0 gap:ETE_UNSYNCED 1000");
	check(DEEP, CODE, START "f7 09 01 05 00 00 00 00 00 00 00 72 0e 01 00 03 01 00 9a 00 08 00 00 81 31 f6 2d 01",
	      "el1 mark:2.1 mark:1.1 cycles:1 gap:ETE_DISCARD 1000");
	/* a header that does not exist, and what comes before the next synchronisation */
	check(SIMPLE, CODE, START "f6 07 f7 f7 SYNC 01 00 9a 00 08 00 00 81 31 f7",
	      "el1 1000 gap:ETE_HEADER 1000>2000");
	check(SIMPLE, CODE, START "f6 81 04 f7", "el1 1000 gap:ETE_FIELD");
	check(SIMPLE, CODE, "f7 00 00 " START "f6", "gap:ETE_UNSYNCED el1 1000");
	check(SIMPLE, CODE, START "f6 9a 00 08", "el1 1000 note:ETE_CUT");
	check(SIMPLE, CODE, "f7 f7 f7", "gap:ETE_UNSYNCED");
	check(SIMPLE, CODE, "", "");
	/* no program there; the stack is void then */
	check(STACK, CODE, START "9a 00 20 00 00 f7 f7 9a 00 08 00 00 f7",
	      "el1 gap:ETE_NO_IMAGE gap:ETE_NO_ADDRESS 1000>2000");
	check(SIMPLE, CODE, START "b6 7f 07 00 00 9a 00 08 00 00 f7", "el1 gap:ETE_SOURCE_ADDRESS 1000>2000");
	check(SIMPLE, CODE, START "b6 02 08 00 00 9a 00 08 00 00 f7", "el1 1000 1004 gap:ETE_SOURCE_ADDRESS 1000>2000");
	check(SIMPLE, CODE, START "af 9a 00 08 00 00 f7", "el1 gap:ETE_Q 1000>2000");
	check(SIMPLE, CODE, START "aa 00 10 00 00 03 f7 95 00", "el1 gap:ETE_Q 2000>2000");
	/* a jump that nothing explains */
	check(SIMPLE, CODE, START "f6 9a 00 10 00 00 f7 90", "el1 1000 jump doubt:ETE_ELSEWHERE 2000>2000");
}

/* Registers that deny what the trace shows are those of another trace: a note for each, once. */
static void test_denied(void)
{
	const char *const denied = IDS "TRCIDR0=0x280000a1 TRCIDR8=0 TRCCONFIGR=1";

	check(denied, CODE, "SYNC 01 01 01 04 82 00 08 00 00 31 f6 SYNC 01 01 01 82 00 08 00 00 31 f7",
	      "note:ETE_DENIED el1 1000 jump doubt:ETE_ELSEWHERE 1000>2000");
	check(denied, CODE, START "f6 02 05 02 06", "el1 1000 note:ETE_DENIED time:5 time:6");
	check(denied, CODE, START "aa 00 10 00 00 01 f7 95 00", "el1 note:ETE_DENIED 1000>2000 2000>2000");
	check(denied, CODE, "SYNC 01 00 04 82 00 08 00 00 b1 07 00 00 00 f6", "note:ETE_DENIED el1 1000");
	check("TRCIDR0=0x280000a1 TRCIDR8=0 TRCCONFIGR=1", CODE, START "f6", "el1 1000");
	check("TRCIDR2=0 TRCIDR8=0 TRCCONFIGR=0x68d1", CODE, START "f6 81 f1 07 00 00 00 f7", "el1 1000 gap:ETE_NO_ID");
	check(SIMPLE, CODE, "SYNC 01 04 01 04 82 00 08 00 00 31 f6", "note:ETE_SPECULATION el1 1000");
}

static void test_q(void)
{
	check(SIMPLE, CODE, START "aa 00 10 00 00 01 f7 95 00", "el1 1000>2000 2000>2000");
	check(SIMPLE, CODE, START "aa 01 08 00 00 01 f7 9a 00 10 00 00", "el1 1000 1004>2000");
	/* an unconditional branch is followed */
	check(SIMPLE, CODE, START "95 02 aa 00 10 00 00 03 f7 95 00", "el1 1008 100c>1000 1000>2000 2000>2000");
}

#define DROP " failed_transactions=drop"

static void test_exceptions(void)
{
	/* a call: the svc retires; a reset: no address; a fault of the first instruction */
	check(SIMPLE, CODE, START "95 02 06 05 95 03 82 00 10 00 00 32 f7 95 02", "el1 1008 !15>2000 el2 2000>2008");
	check(SIMPLE, CODE, START "f6 06 01 70 82 00 10 00 00 33 f7 95 02", "el1 1000 !!3>2000 el3 2000>2008");
	check(SIMPLE, CODE, START "06 07 90 9a 00 10 00 00 f7 95 02", "el1 ?1000 !43>2000 2000>2008");
	/* over untaken branches */
	check(SIMPLE, CODE, START "9a 01 10 00 00 06 1d 95 03 9a 00 08 00 00 f7",
	      "el1 2004 2008 !!1>1000 1000>2000");
	/* a reset inside a transaction makes it fail */
	check(SIMPLE DROP, CODE, START "0a f6 06 01 70 9a 00 10 00 00 f7 95 02", "el1 !!3>2000 2000>2008");
	/* a debug halt is no trap: nobody handles it */
	check(SIMPLE, CODE, START "f6 06 03 95 02 9a 00 10 00 00 f7 95 02", "el1 1000 1004 jump 2000>2008");
}

static void test_time(void)
{
	check(MARKS, CODE, START "f6 88 f7 9a 00 10 00 00 02 05 f7 02 06 95 02",
	      "el1 1000 1004>2000 time:5-1 2000>2008 time:6");
	check(COMMITS, CODE, "SYNC 01 09 01 04 04 82 00 08 00 00 31 f6 0e 01 05 0f 00 f7 9a 00 10 00 00 10 f7 95 02 18",
	      "el1 1000 cycles:9 cycles:0 1004>2000 cycles:4 note:ETE_UNCOMMITTED gap:ETE_COMMIT");
	check(SIMPLE, CODE, START "7f f6", "el1 mark:1.0 mark:1.1 mark:1.2 mark:1.3 1000");
}

/*
 * A32: 1000: blx 2000 (T32); 1004: nop. T32: 2000: cmp r0, r0; 2002: b.w 2010; 2010: bx lr; 2012: nop.
 */
static void test_aarch32(void)
{
	check(STACK, "1000:fa0003fe 1004:e1a00000 1008:eafffffe 2000:f0004280 2004:bf00b805 2010:bf004770",
	      START "82 00 08 00 00 21 f7 f7 f7 f7", "el1 el1 1000>2000 2000 2002>2010 2010>1004 1004 1008>1008");
	check(STACK, "1000:fa0003fe 1004:e1a00000 1008:eafffffe 2000:f0004280 2004:bf00b805 2010:bf004770",
	      START "82 00 08 00 00 21 f7 b7 01 20 00 00 f7", "el1 el1 1000>2000 2000 2002>2010 2010");
}

/* Transactions and queues that are too long are told of, and nothing is lost without a word. */
static void test_limits(void)
{
	static char trace[400000];
	struct ete_capture c;
	const char *got;
	char *const end = trace + sizeof trace;
	char *p = trace + snprintf(trace, sizeof trace, "%s 9a 03 08 00 00 0a ", START);

	for (unsigned i = 0; i < 3000; i++)
		p += snprintf(p, (size_t)(end - p), "f7 9a 03 08 00 00 ");
	ete_make(&c, SIMPLE DROP, CODE, "source_data", trace);
	got = ete_words(&c);
	CHECK(strstr(got, "mark:3.0 doubt:ETE_TRANSACTION"));
	ete_close(&c);

	p = trace + snprintf(trace, sizeof trace, "%s", START);
	for (unsigned i = 0; i < 300; i++)
		p += snprintf(p, (size_t)(end - p), "d4 ");
	snprintf(p, (size_t)(end - p), "SYNC 01 00 9a 00 08 00 00 81 31 f6 2d 01");
	ete_make(&c, IDS "TRCIDR8=0xffffffff TRCCONFIGR=1", CODE, "", trace);
	CHECK_STR(ete_words(&c), "el1 note:ETE_UNCOMMITTED gap:ETE_QUEUE 1000");
	ete_close(&c);

	/* more behind an atom than can wait: it goes, and a mispredict comes too late */
	p = trace + snprintf(trace, sizeof trace, "%s f6 ", START);
	for (unsigned i = 0; i < 2 * HF_ETE_HELD_MAX; i++)
		p += snprintf(p, (size_t)(end - p), "71 ");
	snprintf(p, (size_t)(end - p), "30 f6");
	ete_make(&c, SIMPLE, CODE, "source_data", trace);
	got = ete_words(&c);
	CHECK(strstr(got, "1000 mark:1.0 ") && strstr(got, "doubt:ETE_MISPREDICT"));
	ete_close(&c);

	/* more zeros than any synchronisation has */
	p = trace + snprintf(trace, sizeof trace, "%s f6 ", START);
	for (unsigned i = 0; i < 10000; i++)
		p += snprintf(p, (size_t)(end - p), "00 ");
	snprintf(p, (size_t)(end - p), "80 01 00 9a 00 08 00 00 81 31 f7");
	check(SIMPLE, CODE, trace, "el1 1000 jump doubt:ETE_ELSEWHERE 1000>2000");
}

/* An ETMv4 has an exception return packet; what traces more than the flow is refused. */
static void test_etm(void)
{
	struct hf_setup_value values[] = {
		{.hart = 1, .key = "TRCCONFIGR", .value = "0x10001", .file = "test", .line = 3},
		{.hart = 1, .key = "trcdevarch", .value = "0x47724a13", .file = "test", .line = 4},
	};
	const struct hf_setup setup = {.values = values, .value_count = 2};
	struct hf_ete_config config;
	struct hf_setup_error error;
	bool missing;

	check("TRCDEVARCH=0x47724a13 TRCIDR2=0x488 TRCIDR0=0x28000ea1 TRCCONFIGR=1", CODE,
	      START "f6 f7 07 82 00 10 00 00 30 f7 95 02", "el1 1000 1004>2000 el0 2000>2008");
	CHECK_EQ(hf_ete_config_read(&config, &setup, 1, &missing, &error), (uint64_t)HF_ERR_ETE_SOURCE);
	CHECK_EQ(error.line, 3);
	values[0].value = "1";
	CHECK_EQ(hf_ete_config_read(&config, &setup, 1, &missing, &error), 0);
	CHECK(config.etm && missing && config.cid_bytes == 4 && config.vmid_bytes == 4);
	values[1].value = "0x47700a31";
	CHECK_EQ(hf_ete_config_read(&config, &setup, 1, &missing, &error), (uint64_t)HF_ERR_ETE_SOURCE);
	values[1].value = "many";
	CHECK_EQ(hf_ete_config_read(&config, &setup, 1, &missing, &error), (uint64_t)HF_ERR_SETUP_VALUE);
	CHECK_EQ(error.line, 4);
	CHECK_STR(error.file, "test");
}

static struct hf_ete_config last_config;

/* What a snapshot says of a source; *ret_error says why it is not decoded. */
static int read_source(const char *type, const char *core, const char *devarch, struct hf_setup_error *ret_error)
{
	struct hf_setup_value values[] = {
		{.hart = 1, .key = "type", .value = type, .file = "device", .line = 4},
		{.hart = 1, .key = "source", .value = "CS_0", .file = "device", .line = 2},
		{.hart = 1, .key = "core_type", .value = core, .file = "core", .line = 5},
		{.hart = 1, .key = devarch ? "TRCDEVARCH" : "ETMIDR", .value = devarch ? devarch : "1", .file = "device"},
	};
	const struct hf_setup setup = {.values = values, .value_count = 4};
	bool missing;

	return hf_ete_config_read(&last_config, &setup, 1, &missing, ret_error);
}

/* Types are whole words, and say more than registers that other trace units do not have. */
static void test_sources(void)
{
	static const char *const good[] = {"ETE", "ete", "ETE1.1", "ETM4", "ETM4.x", "ETMv4", "ETMv4.2"};
	static const char *const other[] = {"ETM3", "ETM3.5", "PTM", "PTM1.1", "PFT1.1", "STM", "ETMv3.5", "stm"};
	static const char *const m_profile[] = {"Cortex-M55", "cortex-m7", "ARMv8.1-M", "ARMv8-M", "ARMv8M", "ARMv7E-M", "STAR-MC1"};
	static const char *const a_profile[] = {"Cortex-A53", "ARM-AA64", "ARMv8.2-A", "ARMv8-R", "Cortex-R82", "ARM-AA32", ""};
	struct hf_setup_error error;

	for (size_t i = 0; i < sizeof good / sizeof *good; i++)
		CHECK_EQ(read_source(good[i], "Cortex-A53", NULL, &error), 0);
	CHECK_EQ(read_source("ITM", "Cortex-M4", NULL, &error), 0);
	for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
		CHECK_EQ(read_source(other[i], "Cortex-A53", "0x47705a13", &error), (uint64_t)HF_ERR_ETE_SOURCE);
		CHECK(strstr(error.text, other[i]) && strstr(error.text, "CS_0"));
		CHECK_STR(error.file, "device");
		CHECK_EQ(error.line, 4);
	}
	CHECK_EQ(read_source("ETMX", "Cortex-A53", NULL, &error), (uint64_t)HF_ERR_ETE_SOURCE);
	CHECK_EQ(read_source("", "Cortex-A53", NULL, &error), (uint64_t)HF_ERR_ETE_SOURCE);
	CHECK_EQ(read_source("ETMX", "Cortex-A53", "0x47724a13", &error), 0);
	CHECK_EQ(read_source("", "Cortex-A53", "0x47705a13", &error), 0);
	for (size_t i = 0; i < sizeof m_profile / sizeof *m_profile; i++) {
		CHECK_EQ(read_source("ETM4.5", m_profile[i], "0x47724a13", &error), 0);
		CHECK(last_config.m);
		CHECK_EQ(last_config.secure, m_profile[i][strlen(m_profile[i]) - 1] != '7' && !strstr(m_profile[i], "v7"));
	}
	CHECK_EQ(read_source("ETM3.5", "Cortex-M4", NULL, &error), (uint64_t)HF_ERR_ETE_SOURCE);
	for (size_t i = 0; i < sizeof a_profile / sizeof *a_profile; i++) {
		CHECK_EQ(read_source("ETM4.5", a_profile[i], "0x47724a13", &error), 0);
		CHECK(!last_config.m);
	}
}

static void check_framed(const char *framing, const char *trace, const char *words)
{
	struct ete_capture c;

	ete_make(&c, SIMPLE, CODE, framing, trace);
	CHECK_STR(ete_words(&c), words);
	ete_close(&c);
}

/* Frames of id 1: the start and an N at 1000 in the first two, in even places bit 0 is in the last byte. */
#define FRAME_1 "03 00 00 00 00 00 00 00 00 00 00 00 80 01 00 00 "
#define FRAME_2 "04 82 00 08 00 00 30 f6 70 70 70 70 70 70 70 08 "
#define FSYNC "ff ff ff 7f "

static void test_frames(void)
{
	check_framed("coresight", FRAME_1 FRAME_2, "el1 1000");
	check_framed("coresight", FRAME_1 FRAME_2 "70 70", "el1 1000 note:CORESIGHT_CUT");
	check_framed("coresight", FRAME_1 FRAME_2 FSYNC FSYNC FSYNC FSYNC FRAME_1 FRAME_2,
		     "el1 1000 gap:CORESIGHT_BREAK 1000");
	check_framed("coresight_sync", "12 34 " FSYNC FRAME_1 "04 82 ff 7f 00 08 00 00 30 f6 70 70 70 70 70 70 70 08",
		     "el1 1000");
	check_framed("coresight_sync", FRAME_1 FRAME_2, "gap:CORESIGHT_CUT");
	check_framed("dstream_coresight", FSYNC FRAME_1 FRAME_2, "el1 1000");
}

int main(void)
{
	test_etm();
	test_sources();
	test_frames();
	test_speculation();
	test_losses();
	test_denied();
	test_q();
	test_exceptions();
	test_time();
	test_aarch32();
	test_limits();
	return 0;
}

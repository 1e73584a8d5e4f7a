/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The worked element streams of the Arm ARM, Tables K10-6 to K10-19, as packets. Where a table lacks a row or has a
 * wrong one, what was changed is said at it. The context is EL1, Non-secure, AArch64 unless the code is A32.
 */
#include "tests/lib/check.h"
#include "tests/lib/etetest.h"

#define IDS "TRCIDR2=0xd0001088 TRCDEVARCH=0x47705a13 "
#define SIMPLE IDS "TRCIDR0=0x280000a1 TRCIDR8=0 TRCCONFIGR=0x68d1"
#define STACK IDS "TRCIDR0=0x280000a1 TRCIDR8=0 TRCCONFIGR=0x78d1"
#define DEEP IDS "TRCIDR0=0x280000a1 TRCIDR8=0x20 TRCCONFIGR=0x68d1"
#define DEEP_STACK IDS "TRCIDR0=0x280000a1 TRCIDR8=0x20 TRCCONFIGR=0x78d1"
#define COMMTRANS IDS "TRCIDR0=0x680000a1 TRCIDR8=0x20 TRCCONFIGR=0x68d1"

/* Trace Info, Trace On, address 1000 with its context. */
#define START "SYNC 01 00 04 "
#define AT_1000 "82 00 08 00 00 31 "

/* 1000: b 2000; 200c: b.eq 3000; 3000 and 4000: b to themselves */
#define CODE "1000:14000400 2000:d503201f 200c:54007fa0 3000:14000400 4000:14000000"

static void check(const char *table, const char *registers, const char *code, const char *trace, const char *words)
{
	struct ete_capture c;
	const char *got;

	ete_make(&c, registers, code, "source_data", trace);
	got = ete_words(&c);
	if (strcmp(got, words) != 0) {
		fprintf(stderr, "%s:\n%s\nis not\n%s\n", table, got, words);
		exit(1);
	}
	ete_close(&c);
}

static void test_basic(void)
{
	check("K10-6", SIMPLE, CODE, START AT_1000 "f7 f6 06 1d 9a 05 10 00 00",
	      "el1 1000>2000 2000 2004 2008 200c 2010 !!1");
	/* the table lacks the address 2010 between Trace On and Exception */
	check("K10-7", SIMPLE, CODE, START AT_1000 "f7 04 9a 04 10 00 00 06 1d 95 05",
	      "el1 1000>2000 jump 2010 !!1");
	check("K10-8", DEEP, CODE, START AT_1000 "f7 f6 2e 01 06 1d 9a 00 10 00 00 2d 02", "el1 1000>2000 !!1");
	/* its last row says IRQ for the data fault */
	check("K10-9", DEEP, CODE, START AT_1000 "f7 f6 2e 01 06 19 9a 01 10 00 00 2d 02",
	      "el1 1000>2000 2000 ?2004 !4c");
	check("K10-10", DEEP, CODE, START AT_1000 "f7 f6 2e 01 06 19 9a 01 10 00 00 9a 00 20 00 00 06 1d 90 2d 03",
	      "el1 1000>2000 2000 ?2004 !4c>4000 !!1");
	/* both in one packet: nothing executed at the target of the first */
	check("K10-10, E 10", DEEP, CODE, START AT_1000 "f7 f6 2e 01 06 19 9a 01 10 00 00 06 5c 9a 00 20 00 00 2d 03",
	      "el1 1000>2000 2000 ?2004 !4c>4000 !!1");
}

/* Contexts AA, BB and CC are CONTEXTID; 2008 is an ISB, 3000: b 4000. */
#define CONTEXTS "1000:14000400 2000:d5182020 2008:d5033fdf 3000:14000400 4000:14000000"
#define AT_AA "82 00 08 00 00 b1 aa 00 00 00 "

static void test_contexts(void)
{
	check("K10-11", SIMPLE, CONTEXTS,
	      START AT_AA "f7 f7 81 b1 bb 00 00 00 06 1d 9a 04 10 00 00 82 00 18 00 00 b1 cc 00 00 00 f7",
	      "el1 1000>2000 2000 2004 2008 el1 200c !!1>3000 el1 3000>4000");
	check("K10-12", SIMPLE, CONTEXTS,
	      START AT_AA "f7 f7 81 b1 bb 00 00 00 06 1d 9a 03 10 00 00 82 00 18 00 00 b1 cc 00 00 00 f7",
	      "el1 1000>2000 2000 2004 2008 el1 !!1>3000 el1 3000>4000");
	check("K10-13", SIMPLE, CONTEXTS, START AT_AA "f7 06 1d 9a 02 10 00 00 82 00 18 00 00 b1 cc 00 00 00 f7",
	      "el1 1000>2000 2000 2004 !!1>3000 el1 3000>4000");
}

/* A32. 1000: bl 2000; 1008: b 4000; 200c: bleq 3000; 2014: bx lr. The rows of the bleq lack their N. */
#define CALLS "1000:eb0003fe 1004:e1a00000 1008:ea000bfc 2000:e1a00000 2004:e5900000 2008:e1500001 200c:0b0003fb " \
	      "2010:e5800000 2014:e12fff1e"
#define AT_1000_A32 "82 00 08 00 00 21 "

static void test_return_stack(void)
{
	check("K10-14", DEEP, CALLS, START AT_1000_A32 "d9 f7 95 81 08 f7 2d 04",
	      "el1 1000>2000 2000 2004 2008 200c 2010 2014>1004 1004 1008>4000");
	check("K10-15", DEEP_STACK, CALLS, START AT_1000_A32 "fd f7 2d 04",
	      "el1 1000>2000 2000 2004 2008 200c 2010 2014>1004 1004 1008>4000");
}

/* 2000: tstart x0; 2004: b 2400; 2400 and 2804: b 2808. The tables leave the context out. */
#define COMMITS "2000:d5233060 2004:140000ff 2400:14000101 2804:14000001 2808:d503307f 3000:14000000"
/* 2000: tstart x0; 2004: tst; 2008: b.eq 2800; 2804: b 3000 */
#define FAILS "1000:14000400 2000:d5233060 2004:ea00001f 2008:54003fc0 2800:d503201f 2804:140001ff 3000:14000000"
#define AT_2000 "82 00 10 00 00 31 "

static void test_transactions(void)
{
	check("K10-16", SIMPLE, COMMITS, START AT_2000 "f7 0a f7 f7 0b",
	      "el1 2000 mark:3.0 2004>2400 2400>2804 mark:3.1");
	/* between the branches of the table instructions without a P0 element are left out: 2008 not taken here */
	check("K10-17", SIMPLE " failed_transactions=drop", FAILS, START AT_2000 "f7 0a f6 f7 9a 00 18 00 00 06 31 70 9a 01 10 00 00 f7",
	      "el1 2000 mark:3.2 2004 2008>2800");
	check("K10-17, kept", SIMPLE, FAILS,
	      START AT_2000 "f7 0a f7 f7 9a 00 18 00 00 06 31 70 9a 01 10 00 00 f7",
	      "el1 2000 mark:3.0 2004 2008>2800 2800 2804>3000 mark:3.2 2004 2008>2800");
	check("K10-18", COMMTRANS " failed_transactions=drop", FAILS,
	      START AT_2000 "f7 0a f6 f7 9a 00 18 00 00 2e 02 06 31 70 9a 01 10 00 00 f7 2d 02",
	      "el1 2000 mark:3.2 2004 2008>2800");
	/* Cancel(4) counts the Transaction Start: COMMTRANS is 0. The b is conditional here: it is not taken at last. */
	check("K10-19", DEEP, "1000:54008000 1004:14000000 2000:d5233060 2004:ea00001f 2008:54003fc0 2804:140001ff",
	      START AT_1000 "f7 f7 0a f6 f7 2e 04 30 f7 2d 02", "el1 1000 1004>1004");
}

int main(void)
{
	test_basic();
	test_contexts();
	test_return_stack();
	test_transactions();
	return 0;
}

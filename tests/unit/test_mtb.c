/* SPDX-License-Identifier: Apache-2.0 */
/* Dumps of a Micro Trace Buffer: pairs that follow on one another, and such that do not. */
#include "codecs/mtb/errors.h"
#include "codecs/mtb/mtb.h"
#include "codecs/base/errors.h"
#include "tests/lib/check.h"
#include "tests/lib/etetest.h"

extern const struct hf_codec hf_codec_mtb;

/*
 * 1000: svc; 1002: nop; 1004: bl 1104; 1008: b 1000; 1104: svc; 1106: bx lr; 1200: bx lr; 1204: ldm (4 bytes);
 * 1208: bx lr; 1218: it eq; 121a: bl 1220 in it; 121e, 1220: nop; 1222: bx lr
 */
#define CODE "1000:bf00df01 1004:f87ef000 1008:bf00e7fa 1104:4770df02 1200:bf004770 1204:0006e8b0 1208:bf004770 " \
	     "1218:f000bf08 121c:bf00f801 1220:4770bf00"

#define LOOP "08 10 00 00 00 10 00 00 "
#define CALL "04 10 00 00 04 11 00 00 "
#define BACK "06 11 00 00 08 10 00 00 "

static void check(const char *keys, const char *trace, const char *words)
{
	struct ete_capture c;
	const char *got;

	ete_make_of(&c, &hf_codec_mtb, keys, CODE, "", trace);
	got = ete_words(&c);
	if (strcmp(got, words) != 0) {
		fprintf(stderr, "%s:\n%s\nis not\n%s\n", trace, got, words);
		exit(1);
	}
	ete_close(&c);
}

static void test_flow(void)
{
	check("", LOOP CALL BACK LOOP, "1008>1000 1000 1002 1004>1104 1104 1106>1008 1008>1000");
	/* an exception, its return in two pairs; tail chaining looks the same */
	check("", LOOP "03 10 00 00 00 12 00 00 00 12 00 00 f8 ff ff ff f9 ff ff ff 02 10 00 00 " CALL,
	      "1008>1000 1000 !0>1200 1200>1002 return>1002 1002 1004>1104");
	check("", "00 12 00 00 f0 ff ff ff f1 ff ff ff 00 12 00 00", "1200>1200 return>1200");
	/* the second pair was not written any more */
	check("", "00 12 00 00 f8 ff ff ff", "1200");
	/* inside an instruction, and before one */
	check("", "00 12 00 00 04 12 00 00 07 12 00 00 00 12 00 00", "1200>1204 ?1204 !0>1200");
	check("", "00 12 00 00 04 12 00 00 09 12 00 00 00 12 00 00", "1200>1204 1204 !0>1200");
	/* a branch in an IT block that failed its condition */
	check("", "00 12 00 00 18 12 00 00 22 12 00 00 08 10 00 00", "1200>1218 1218 121a 121e 1220 1222>1008");
	/* the recording was stopped and started again */
	check("", LOOP "00 12 00 00 03 10 00 00 " CALL, "1008>1000 jump 1200>1002 1002 1004>1104");
	check("", "", "");
}

static void test_ring(void)
{
	check("position=0xc", BACK CALL, "1004>1104 1104 1106>1008");
	check("position=0x2000000c", BACK CALL, "1004>1104 1104 1106>1008");
	check("position=0x8", BACK CALL, "1106>1008");
	check("position=0x0", BACK CALL, "");
	check("wrap_offset=8", BACK CALL, "1004>1104 1104 1106>1008");
	check("size=16 position=0x4", CALL BACK LOOP, "1004>1104 1104 1106>1008");
}

static void test_damage(void)
{
	check("", LOOP "00 12 00 00 02 10 00 00 ", "1008>1000 gap:MTB_UNREACHED 1200>1002");
	check("", LOOP "00 20 00 00 02 10 00 00 ", "1008>1000 gap:MTB_UNREACHED gap:MTB_NO_BRANCH");
	check("", "02 10 00 00 00 10 00 00", "gap:MTB_NO_BRANCH");
	check("", "08 10 00 00 00 11 00 00", "gap:MTB_NO_BRANCH");
	check("", LOOP "00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 " CALL, "1008>1000 gap:MTB_UNUSED 1004>1104");
	check("", LOOP "04 10 00 00", "1008>1000 gap:MTB_CUT");
}

static int layout_of(const char *key, const char *value, uint64_t file, struct hf_mtb_layout *ret)
{
	struct hf_setup_value values[] = {{HF_SETUP_ANY, key, value, "capture.ini", 3}};
	const struct hf_setup setup = {.values = values, .value_count = 1};
	struct hf_setup_error error;

	return hf_mtb_layout(&setup, file, ret, &error);
}

static int layout(const char *key, const char *value, struct hf_mtb_layout *ret)
{
	return layout_of(key, value, 64, ret);
}

static void test_keys(void)
{
	struct hf_mtb_layout l;

	CHECK_EQ(layout("size", "24", &l), HF_ERR_SETUP_VALUE);
	CHECK_EQ(layout("size", "4", &l), HF_ERR_SETUP_VALUE);
	CHECK_EQ(layout("wrap_offset", "4", &l), HF_ERR_SETUP_VALUE);
	CHECK_EQ(layout("position", "0x100000000", &l), HF_ERR_SETUP_VALUE);
	CHECK_EQ(layout("position", "0x4", &l), 0);
	CHECK_EQ(layout_of("position", "0x4", 56, &l), HF_ERR_MTB_RING);
	CHECK_EQ(layout("size", "32", &l), 0);
	CHECK_EQ(l.pairs, 4);
	CHECK_EQ(layout("size", "128", &l), 0);
	CHECK_EQ(l.pairs, 8);
}

int main(void)
{
	test_flow();
	test_ring();
	test_damage();
	test_keys();
	return 0;
}

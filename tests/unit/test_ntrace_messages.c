/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of N-Trace: the examples of the specification, every field in every width, damage; and records.txt. */
#include "codecs/ntrace/errors.h"
#include "codecs/ntrace/message.h"
#include "tests/lib/ntracetest.h"

#include <ctype.h>

static size_t unhex(const char *text, uint8_t *bytes)
{
	size_t n = 0;

	for (; isxdigit((unsigned char)text[0]) && isxdigit((unsigned char)text[1]); text += 2) {
		const char pair[3] = {text[0], text[1], 0};

		bytes[n++] = (uint8_t)strtoul(pair, NULL, 16);
		text += text[2] == ' ';
	}
	return n;
}

static struct hf_ntrace_message read_hex(const struct hf_ntrace_params *params, const char *text, int want)
{
	struct hf_ntrace_message msg;
	uint8_t bytes[256];
	const size_t n = unhex(text, bytes);

	CHECK_EQ(hf_ntrace_message_read(params, bytes, n, &msg), want);
	if (want == 0)
		CHECK_EQ(msg.length, n);
	return msg;
}

static void test_examples(void)
{
	const struct hf_ntrace_params plain = {.xlen = 64}, two = {.xlen = 64, .srcbits = 2};
	struct hf_ntrace_message msg = read_hex(&plain, "70 D0 1D 1D F8 FF", 0); /* 3.5 */

	CHECK_EQ(msg.tcode, HF_NTRACE_INDIRECT_BRANCH_HIST);
	CHECK_EQ(msg.btype, 0);
	CHECK_EQ(msg.icnt, 0x7d);
	CHECK_EQ(msg.address, 7 << 1);
	CHECK_EQ(msg.hist, 0xffe);
	CHECK(!msg.has_time);
	msg = read_hex(&two, "74 24 41 2C A0 04 00 00 05 0D 3C 74 A0 A0 CC FC 13", 0); /* silicon */
	CHECK_EQ(msg.tcode, HF_NTRACE_INDIRECT_BRANCH_HIST_SYNC);
	CHECK_EQ(msg.src, 1);
	CHECK_EQ(msg.sync, HF_NTRACE_SYNC_PERIODIC);
	CHECK_EQ(msg.icnt, 4);
	CHECK_EQ(msg.address, UINT64_C(0x40001a0b) << 1);
	CHECK_EQ(msg.hist, 3);
	CHECK(msg.has_time);
	CHECK_EQ(msg.time, UINT64_C(0x4ff3a2874f));
	msg = read_hex(&plain, "24 05 44 28 20 00 43", 0);
	CHECK_EQ(msg.sync, HF_NTRACE_SYNC_RESET);
	CHECK_EQ(msg.address, 0x10008291 << 1);
}

/* Of a message that is cut right behind its TCODE nothing else may be read, whatever lies there. */
static void test_cut(void)
{
	const struct hf_ntrace_params params = {.xlen = 64, .srcbits = 2};
	struct hf_ntrace_message msg;
	uint8_t *bytes = malloc(1); /* its end is seen by the sanitizer */

	CHECK(bytes);
	bytes[0] = 0x70;
	CHECK_EQ(hf_ntrace_message_read(&params, bytes, 1, &msg), HF_NOTE_END);
	CHECK(!msg.has_src);
	CHECK_EQ(msg.tcode, HF_NTRACE_INDIRECT_BRANCH_HIST);
	free(bytes);
}

static void test_damage(void)
{
	const struct hf_ntrace_params params = {.xlen = 64}, wide = {.xlen = 64, .srcbits = 12};
	uint8_t zeros[300] = {0};
	struct hf_ntrace_message msg;

	read_hex(&params, "01", HF_ERR_NTRACE_MSEO);
	read_hex(&params, "0B", HF_ERR_NTRACE_MSEO);
	read_hex(&params, "70 D2 1D", HF_ERR_NTRACE_MSEO);
	read_hex(&params, "70 D0 1D", HF_NOTE_END);
	read_hex(&params, "70", HF_NOTE_END);
	read_hex(&params, "24 07", HF_ERR_NTRACE_FIELDS);             /* no F-ADDR */
	read_hex(&params, "70 D0 1D 1D F9 05 07", HF_ERR_NTRACE_FIELDS); /* one field too many */
	read_hex(&params, "6C 0C 03", HF_ERR_NTRACE_VALUE);           /* RCODE 3 */
	read_hex(&params, "6C 04 03", HF_ERR_NTRACE_VALUE);           /* HIST without its stop bit */
	read_hex(&params, "28 03", HF_ERR_NTRACE_TCODE);
	CHECK_EQ(read_hex(&params, "E0 13", 0).value, 4);             /* TCODE 56 is a vendor's */
	read_hex(&wide, "E0 13", HF_ERR_NTRACE_FIELDS);               /* cut in SRC */
	zeros[0] = 4;
	CHECK_EQ(hf_ntrace_message_read(&params, zeros, sizeof zeros, &msg), HF_ERR_NTRACE_LONG);
	/* Zeros on top of a number are none. */
	CHECK_EQ(read_hex(&params, "70 D0 1C 01 1D F8 FC 03", 0).icnt, 0x7d);
}

/* ---- there and back ---- */

static uint64_t random_bits(uint64_t *seed, unsigned width)
{
	const uint64_t v = (uint64_t)hf_rand_next(seed) << 32 ^ hf_rand_next(seed);

	return width ? v & (~UINT64_C(0) >> (64 - width)) : 0;
}

static void set(struct hf_ntrace_message *msg, const struct hf_ntrace_params *params, uint64_t *seed)
{
	const unsigned width = hf_rand_next(seed) % params->xlen;

	msg->sync = (uint8_t)random_bits(seed, 4);
	msg->btype = (uint8_t)random_bits(seed, 2);
	msg->rcode = (uint8_t)(hf_rand_next(seed) % 3);
	msg->etype = (uint8_t)random_bits(seed, 4);
	msg->evcode = (uint8_t)random_bits(seed, 4);
	msg->cdf = (uint8_t)random_bits(seed, 1);
	msg->icnt = random_bits(seed, hf_rand_next(seed) % 23);
	msg->hist = (uint32_t)random_bits(seed, hf_rand_next(seed) % 32) | 2;
	msg->hrepeat = (uint32_t)random_bits(seed, hf_rand_next(seed) % 18) + 1;
	msg->value = random_bits(seed, hf_rand_next(seed) % 65);
	msg->address = random_bits(seed, width) << 1;
	if (hf_rand_next(seed) % 2)
		msg->address = (~msg->address & (params->xlen == 32 ? 0xfffffffe : UINT64_MAX - 1));
	msg->src = (uint16_t)random_bits(seed, params->srcbits);
	msg->has_time = hf_rand_next(seed) % 2;
	msg->time = msg->has_time ? random_bits(seed, hf_rand_next(seed) % 65) : 0;
}

static void test_round_trip(void)
{
	uint64_t seed = 5;

	for (unsigned i = 0; i < 200000; i++) {
		static const uint8_t tcodes[] = {2, 3, 4, 8, 9, 11, 12, 27, 28, 29, 30, 33};
		const struct hf_ntrace_params params = {
			.xlen = i & 1 ? 32 : 64, .srcbits = (uint8_t)(i % 13), .addr_msb_ext = i / 2 % 2,
		};
		struct hf_ntrace_message msg = {.tcode = tcodes[hf_rand_next(&seed) % sizeof tcodes]}, back;
		uint8_t bytes[HF_NTRACE_WRITE_MAX];
		size_t n;

		set(&msg, &params, &seed);
		n = hf_ntrace_message_write(&params, &msg, bytes);
		CHECK(n >= 2 && n <= 40);
		CHECK_EQ(hf_ntrace_message_read(&params, bytes, n, &back), 0);
		CHECK_EQ(back.length, n);
		CHECK_EQ(back.src, msg.src);
		CHECK_EQ(back.has_time, msg.has_time);
		CHECK_EQ(back.time, msg.time);
		for (const uint8_t *field = hf_ntrace_fields(&params, msg.tcode); *field; field++)
			if (hf_ntrace_has_field(&msg, *field))
				CHECK_EQ(hf_ntrace_field(&back, *field), hf_ntrace_field(&msg, *field));
	}
}

/* ---- records.txt ---- */

static struct hf_walk_bytes records(const struct hf_ntt *t, const uint8_t *bytes, size_t n, size_t max)
{
	struct hf_ntt_events events = hf_ntt_decode(t, bytes, n, HF_HART_RECORDS, max);
	struct hf_walk_bytes text = {0};

	CHECK_EQ(events.err, HF_NOTE_END);
	for (size_t i = 0; i < events.n; i++)
		hf_bytes_add(&text, events.ev[i].data.bytes, events.ev[i].used);
	hf_bytes_add(&text, "", 1);
	hf_ntt_events_free(&events);
	return text;
}

static void test_records(void)
{
	static const char stream[] = "00 00 2415000000000007 FFFF 70D01D1DF8FF 6C2C07 28 03 E013 0E13 6C0C03 20 05 13 "
				     "84 13 70 D0";
	static const char want[] =
		"0 zeros bytes=2\n"
		"2 9 ProgTraceSync SYNC=5 I-CNT=0 F-ADDR=0x80000000\n"
		"10 idle bytes=2\n"
		"12 28 IndirectBranchHist B-TYPE=0 I-CNT=125 U-ADDR=0xe HIST=0xffe\n"
		"18 27 ResourceFull RCODE=11 RDATA0=0x4\n"
		"21 10 reserved DATA=0x0\n"
		"23 56 vendor DATA=0x4\n"
		"# offset 25: these bytes cannot be part of a message (MSEO); bytes=1\n"
		"26 passed-over bytes=1\n"
		"# offset 27: a message of TCODE 27 holds a reserved or too large value; bytes=3\n"
		"30 8 Error ETYPE=1 ECODE=0 TSTAMP=4\n"
		"# offset 33: a message of TCODE 33 has too few or too many fields; bytes=2\n"
		"# offset 35: the trace ends inside this message; bytes=2\n";
	uint8_t bytes[128];
	size_t n;
	struct hf_walk_bytes text;
	struct hf_ntt t;

	hf_ntt_init(&t, "xlen=64");
	n = unhex(stream, bytes);
	text = records(&t, bytes, n, 0);
	CHECK_STR((const char *)text.p, want);
	hf_bytes_free(&text);
	hf_ntt_check_cuts(&t, bytes, n, HF_HART_RECORDS);
	hf_ntt_fini(&t);
}

/* ---- other people's messages ---- */

/* The number of that field between text and end; field names there have neither hyphens nor digits. */
static bool expects(const char *text, const char *end, const char *field, uint64_t *ret_v)
{
	char key[32] = "\"";
	size_t n = 1;
	const char *p;

	for (; *field; field++)
		if (isalpha((unsigned char)*field))
			key[n++] = *field;
	key[n++] = '"';
	key[n] = '\0';
	p = strstr(text, key);
	if (!p || p >= end)
		return false;
	*ret_v = strtoull(p + n + 1, NULL, 10);
	return true;
}

static void check_message(const char *text, const char *end)
{
	struct hf_ntrace_params params = {0};
	struct hf_ntrace_message msg;
	uint8_t bytes[HF_NTRACE_WRITE_MAX], again[HF_NTRACE_WRITE_MAX];
	uint64_t v;
	size_t n;

	CHECK(expects(text, end, "srcbits", &v));
	params.srcbits = (uint8_t)v;
	CHECK(expects(text, end, "xlen", &v));
	params.xlen = (uint8_t)v;
	params.addr_msb_ext = strtoul(strstr(text, "addr_msb_ext") + 14, NULL, 10);
	n = unhex(strstr(text, "\"hex\": \"") + 8, bytes);
	CHECK_EQ(hf_ntrace_message_read(&params, bytes, n, &msg), 0);
	CHECK_EQ(msg.length, n);
	CHECK(expects(text, end, "tcode", &v) && v == msg.tcode);
	CHECK(!expects(text, end, "SRC", &v) || v == msg.src);
	CHECK_EQ(expects(text, end, "TSTAMP", &v), msg.has_time);
	CHECK(!msg.has_time || v == msg.time);
	for (const uint8_t *field = hf_ntrace_fields(&params, msg.tcode); *field; field++) {
		CHECK_EQ(expects(text, end, hf_ntrace_field_name(*field), &v), hf_ntrace_has_field(&msg, *field));
		CHECK(!hf_ntrace_has_field(&msg, *field) || v == hf_ntrace_field(&msg, *field));
	}
	CHECK_EQ(hf_ntrace_message_write(&params, &msg, again), n);
	CHECK(memcmp(again, bytes, n) == 0);
}

static void test_corpus(const char *corpus)
{
	char dir[512];
	struct hf_walk_bytes json;
	unsigned count = 0;

	snprintf(dir, sizeof dir, "%s/ntrace/messages", corpus);
	json = hf_bytes_load(dir, "messages.json");
	hf_bytes_add(&json, "", 1);
	for (const char *p = strstr((const char *)json.p, "\"desc\""), *end; p; p = *end ? end : NULL, count++) {
		end = strstr(p + 1, "\"desc\"");
		end = end ? end : p + strlen(p);
		check_message(p, end);
	}
	printf("%u messages of the corpus\n", count);
	CHECK(count > 100);
	hf_bytes_free(&json);
}

int main(void)
{
	test_examples();
	test_cut();
	test_damage();
	test_round_trip();
	test_records();
	if (getenv("HARTFS_CORPUS"))
		test_corpus(getenv("HARTFS_CORPUS"));
	else
		printf("SKIPPED IN PART: HARTFS_CORPUS does not name the corpus of test captures\n");
	return 0;
}

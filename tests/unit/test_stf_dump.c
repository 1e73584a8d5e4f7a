/* SPDX-License-Identifier: Apache-2.0 */
/* records.txt of STF streams made here: every field of every record, long texts, defects, cuts, entering anywhere. */
#include "codecs/source/errors.h"
#include "codecs/stf/dump.h"
#include "tests/lib/pack.h"
#include "tests/lib/recordtext.h"
#include "tests/lib/sliver.h"
#include "tests/lib/stftest.h"

#include <stdarg.h>

#define FEATURES (HF_STF_FEATURE_EVENT64 | HF_STF_FEATURE_RV64)
/* No text is further from a place to enter than one page and one element, but inside a transaction. */
#define FAR ((HF_RECORDS_PAGE + HF_RECORDS_LINE) / 24)

static void text_of(struct hf_walk_bytes *to, const struct hf_stream *stream, const struct hf_event *ev, size_t n)
{
	for (size_t i = 0; i < n; i++)
		CHECK(ev[i].kind == HF_EVENT_RECORD ||
		      (ev[i].kind == HF_EVENT_DATA && ev[i].used >= 1 && ev[i].used <= 24));
	hf_bytes_add_records(to, stream, ev, n);
}

/* The text, with a 0 behind it, of the stream's bytes as src has them. */
static struct hf_walk_bytes dump_source(const struct hf_stream *stream, struct hf_src *src, size_t batch)
{
	struct hf_events list = hf_stft_events(stream, src, HF_HART_RECORDS, batch);
	struct hf_walk_bytes text = {0};

	text_of(&text, stream, list.ev, list.n);
	hf_bytes_add(&text, "", 1);
	hf_events_free(&list);
	return text;
}

static struct hf_walk_bytes dump(const struct hf_walk_bytes *b)
{
	struct hf_walk_bytes text;
	struct hf_stft t;

	hf_stft_open(&t, b);
	text = dump_source(t.stream, t.src, 256);
	hf_stft_close(&t);
	return text;
}

static void print(struct hf_walk_bytes *to, const char *format, ...)
{
	char line[512];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(line, sizeof line, format, args);
	va_end(args);
	CHECK(n >= 0 && (size_t)n < sizeof line);
	hf_bytes_add(to, line, (size_t)n);
}

/* The text from a line's offset on. */
static const char *from(const struct hf_walk_bytes *text, uint64_t offset)
{
	const char *line = (const char *)text->p;

	while (*line && strtoull(line, NULL, 10) != offset) {
		line = strchr(line, '\n');
		CHECK(line);
		line++;
	}
	return line;
}

static void check_dump(struct hf_walk_bytes *b, uint64_t offset, const char *expected)
{
	struct hf_walk_bytes text = dump(b);

	CHECK_STR(from(&text, offset), expected);
	hf_bytes_free(&text);
	hf_bytes_free(b);
}

static void string(struct hf_walk_bytes *b, const char *text, size_t n)
{
	PUT(b, COMMENT, .count = (uint32_t)n);
	hf_bytes_add(b, text, n);
}

/* ---- every record ---- */

static void test_header(void)
{
	struct hf_walk_bytes b = {0};

	PUT(&b, IDENTIFIER);
	PUT(&b, VERSION, .major = 1, .minor = 12);
	string(&b, "two words", 9);
	string(&b, "", 0);
	PUT(&b, ISA, .code = 1);
	PUT(&b, INST_IEM, .code = 1);
	PUT(&b, TRACE_INFO, .code = 2, .major = 3, .minor = 40, .patch = 255, .count = 2);
	hf_bytes_add(&b, " x", 2);
	PUT(&b, TRACE_INFO, .code = 99);
	PUT(&b, TRACE_INFO_FEATURE, .value = 0x8000000000100001);
	PUT(&b, PROCESS_ID_EXT, .hw = 0, .pid = 100, .tid = UINT32_MAX);
	PUT(&b, FORCE_PC, .address = 0x8877665544332211);
	PUT(&b, VLEN_CONFIG, .code = 200);
	PUT(&b, PROTOCOL_ID, .code = 1);
	PUT(&b, CLOCK_ID, .clock = 7, .count = 5);
	hf_bytes_add(&b, "bus 1", 5);
	PUT(&b, ISA_EXTENDED, .count = 6);
	hf_bytes_add(&b, "rv32gc", 6);
	PUT(&b, END_HEADER);
	check_dump(&b, 0,
		   "0 IDENTIFIER STF\n"
		   "4 VERSION 1.12\n"
		   "13 COMMENT two words\n"
		   "27 COMMENT\n"
		   "32 ISA RISCV\n"
		   "35 INST_IEM RV32\n"
		   "38 TRACE_INFO Android_Emulator 3.40.255  x\n"
		   "47 TRACE_INFO 99 0.0.0\n"
		   "54 TRACE_INFO_FEATURE 8000000000100001 PHYSICAL_ADDRESS|TRANSACTIONS|bit63\n"
		   "63 PROCESS_ID_EXT hw_thread=0 pid=100 tid=4294967295\n"
		   "76 FORCE_PC 8877665544332211\n"
		   "85 VLEN_CONFIG 200\n"
		   "90 PROTOCOL_ID TILELINK\n"
		   "92 CLOCK_ID 7 bus 1\n"
		   "101 ISA_EXTENDED rv32gc\n"
		   "112 END_HEADER\n");
}

static void add_registers(struct hf_walk_bytes *b)
{
	static const uint16_t numbers[][2] = {{0x21, 0},     {0x31, 31},    {0x11, 32},	    {0x22, 31}, {0x34, 0x300},
					      {0x34, 0x19a}, {0x34, 0xfff}, {0x34, 0x1300}, {0x70, 5},	{0xff, 65535}};

	for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
		PUT(b, INST_REG, .code = (uint8_t)numbers[i][0], .number = numbers[i][1], .value = i);
	PUT(b, INST_REG, .code = 0x33, .number = 7, .value = 1);
	hf_bytes_add(b, (const uint64_t[]){2, 3, UINT64_MAX}, 24);
	PUT(b, INST_READY_REG, .number = 258);
}

/* The lines without their offsets, which test_offsets looks at. */
static char *strip_offsets(const char *text)
{
	char *all = strdup(text), *to = all;

	while (*text) {
		const char *field = strchr(text, ' ') + 1;

		text = strchr(field, '\n') + 1;
		memcpy(to, field, (size_t)(text - field));
		to += text - field;
	}
	*to = 0;
	return all;
}

static void test_body(void)
{
	const uint64_t words[] = {1, 0xfedcba9876543210, 3};
	struct hf_walk_bytes b = {0}, text;
	char *lines;

	hf_stft_header(&b, FEATURES, 0);
	add_registers(&b);
	PUT(&b, INST_PC_TARGET, .address = 0x80002000);
	PUT(&b, PAGE_TABLE_WALK, .address = 0x1000, .value = 12345678901, .size = 0x200000, .count = 1);
	hf_bytes_add(&b, words, 16);
	PUT(&b, PAGE_TABLE_WALK, .address = 0x1000, .size = 4096, .count = 0);
	PUT(&b, INST_MEM_ACCESS, .address = 0x10, .size = 65535, .attr = 0xbeef, .code = 1);
	PUT(&b, INST_MEM_CONTENT, .value = 0x1122334455667788);
	PUT(&b, INST_MEM_ACCESS, .address = 0x10, .size = 8, .code = 2);
	PUT(&b, INST_MEM_ACCESS, .address = 0x10, .size = 8, .code = 3);
	PUT(&b, BUS_MASTER_ACCESS, .address = 0x20, .size = 4, .master = 3, .index = 9, .attr = 0x01020304, .code = 2);
	PUT(&b, BUS_MASTER_ACCESS, .address = 0x20, .size = 4, .master = 77, .index = 255, .code = 0);
	PUT(&b, BUS_MASTER_CONTENT, .value = 9);
	PUT(&b, EVENT_PC_TARGET, .address = 0xffffffff80000004);
	PUT(&b, INST_MICROOP, .code = 2, .size = 0x4501);
	PUT(&b, INST_OPCODE32, .size = 0x00050503);
	PUT(&b, INST_OPCODE16, .size = 0x4501);
	PUT(&b, INST_IEM, .code = 9);
	PUT(&b, ISA, .code = 2);
	PUT(&b, TRANSACTION_DEPENDENCY, .value = 9, .delta = 8, .clock = 7);
	text = dump(&b);
	lines = strip_offsets(strstr((const char *)text.p, "END_HEADER\n") + 11);
	CHECK_STR(lines, "INST_REG SOURCE x0 value=0000000000000000\n"
			 "INST_REG DEST x31 value=0000000000000001\n"
			 "INST_REG STATE pc value=0000000000000002\n"
			 "INST_REG SOURCE f31 value=0000000000000003\n"
			 "INST_REG DEST mstatus value=0000000000000004\n"
			 "INST_REG DEST csr_19a value=0000000000000005\n"
			 "INST_REG DEST csr_fff value=0000000000000006\n"
			 "INST_REG DEST csr_1300 value=0000000000000007\n"
			 "INST_REG 7 0:5 value=0000000000000008\n"
			 "INST_REG 15 15:65535 value=0000000000000009\n"
			 "INST_REG DEST v7 "
			 "value=0000000000000001_0000000000000002_0000000000000003_ffffffffffffffff\n"
			 "INST_READY_REG 258\n"
			 "INST_PC_TARGET 0000000080002000\n"
			 "PAGE_TABLE_WALK address=0000000000001000 first=12345678901 page_size=00200000 "
			 "entries=0000000000000001:fedcba9876543210\n"
			 "PAGE_TABLE_WALK address=0000000000001000 first=0 page_size=00001000 entries=-\n"
			 "INST_MEM_ACCESS READ address=0000000000000010 size=65535 attr=beef\n"
			 "INST_MEM_CONTENT 1122334455667788\n"
			 "INST_MEM_ACCESS WRITE address=0000000000000010 size=8 attr=0000\n"
			 "INST_MEM_ACCESS 3 address=0000000000000010 size=8 attr=0000\n"
			 "BUS_MASTER_ACCESS WRITE address=0000000000000020 size=4 master=DMA index=9 attr=01020304\n"
			 "BUS_MASTER_ACCESS 0 address=0000000000000020 size=4 master=77 index=255 attr=00000000\n"
			 "BUS_MASTER_CONTENT 0000000000000009\n"
			 "EVENT_PC_TARGET ffffffff80000004\n"
			 "INST_MICROOP size=2 00004501\n"
			 "INST_OPCODE32 00050503\n"
			 "INST_OPCODE16 4501\n"
			 "INST_IEM 9\n"
			 "ISA ARM\n"
			 "TRANSACTION_DEPENDENCY id=9 delta=8 clock=7\n");
	free(lines);
	hf_bytes_free(&text);
	hf_bytes_free(&b);
}

static void test_events(void)
{
	static const struct {
		uint64_t id;
		const char *name;
	} events[] = {
		{0, "INST_ADDR_MISALIGN"},
		{13, "LOAD_PAGE_FAULT"},
		{14, "RESERVED"},
		{23, "GUEST_STORE_PAGE_FAULT"},
		{24, "CUSTOM_FAULT_24"},
		{47, "RESERVED"},
		{63, "CUSTOM_FAULT_63"},
		{64, "RESERVED"},
		{HF_STF_EVENT_INTERRUPT | 7, "INT_MACHINE_TIMER"},
		{HF_STF_EVENT_INTERRUPT | 18, "INT_PLATFORM_2"},
		{HF_STF_EVENT_INTERRUPT | 14, "RESERVED"},
		{HF_STF_EVENT_MODE_CHANGE, "MODE_CHANGE"},
		{HF_STF_EVENT_MODE_CHANGE | 1, "RESERVED"},
	};
	static const char *const shown[] = {"-", "0000000000000001", "0000000000000001,fedcba9876543210"};
	const uint64_t words[] = {1, 0xfedcba9876543210};
	const struct hf_stf_layout wide = hf_stft_layout;

	for (unsigned narrow = 0; narrow < 2; narrow++) {
		struct hf_walk_bytes b = {0}, expected = {0};
		uint64_t at;

		hf_stft_layout.event64 = !narrow;
		hf_stft_header(&b, narrow ? HF_STF_FEATURE_RV64 : FEATURES, 0);
		at = b.n;
		for (unsigned i = 0; i < sizeof events / sizeof events[0]; i++) {
			const uint64_t id = events[i].id;

			print(&expected, "%zu EVENT %s id=", b.n, events[i].name);
			if (narrow)
				print(&expected, "%08x", (unsigned)(id | (id >> 62 << 30)));
			else
				print(&expected, "%016" PRIx64, id);
			print(&expected, " metadata=%s\n", shown[i % 3]);
			hf_stft_event(&b, id, i % 3, words);
		}
		hf_bytes_add(&expected, "", 1);
		check_dump(&b, at, (const char *)expected.p);
		hf_bytes_free(&expected);
	}
	hf_stft_layout = wide;
}

/* With ISA = ARM the ids are exception classes; INST_IEM has our own numbers. */
static void test_arm(void)
{
	struct hf_walk_bytes b = {0};

	hf_stft_header(&b, FEATURES, 0);
	b.p[14] = HF_STF_ISA_ARM;
	CHECK_EQ(b.p[13], HF_STF_ISA);
	hf_stft_event(&b, 0x25, 0, NULL);
	hf_stft_event(&b, HF_STF_EVENT_INTERRUPT | 1, 0, NULL);
	hf_stft_event(&b, 0x3f, 0, NULL);
	PUT(&b, INST_IEM, .code = 3);
	check_dump(&b, b.n - 33,
		   "50 EVENT DATA_ABORT id=0000000000000025 metadata=-\n"
		   "60 EVENT IRQ id=8000000000000001 metadata=-\n"
		   "70 EVENT RESERVED id=000000000000003f metadata=-\n"
		   "80 INST_IEM T32\n");
}

/* ---- strings ---- */

static void test_strings(void)
{
	static const struct {
		const char *raw, *shown;
	} strings[] = {
		{"plain ~", "plain ~"},
		{"a\nb\tc\r\x1b[2J\x7f", "a\\x0ab\\x09c\\x0d\\x1b[2J\\x7f"},
		{"back\\slash\\x41", "back\\\\slash\\\\x41"},
		{"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x8e\x83", "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x8e\x83"},
		/* cut, overlong, a surrogate, beyond the last character, a lone continuation */
		{"\xe2\x82", "\\xe2\\x82"},
		{"\xc0\xaf\xed\xa0\x80\xf4\x90\x80\x80\x80!", "\\xc0\\xaf\\xed\\xa0\\x80\\xf4\\x90\\x80\\x80\\x80!"},
		/* C1, line separator, right-to-left override, isolate */
		{"\xc2\x85\xc2\xa0", "\\xc2\\x85\xc2\xa0"},
		{"\xe2\x80\xa8\xe2\x80\xae\xe2\x81\xa9\xe2\x80\xaf",
		 "\\xe2\\x80\\xa8\\xe2\\x80\\xae\\xe2\\x81\\xa9\xe2\x80\xaf"},
	};
	struct hf_walk_bytes b = {0}, expected = {0};
	uint64_t at;

	hf_stft_header(&b, FEATURES, 0);
	at = b.n;
	for (size_t i = 0; i < sizeof strings / sizeof strings[0]; i++) {
		print(&expected, "%zu COMMENT %s\n", b.n, strings[i].shown);
		string(&b, strings[i].raw, strlen(strings[i].raw));
	}
	print(&expected, "%zu COMMENT \\x00 \n", b.n);
	string(&b, "\0 ", 2);
	hf_bytes_add(&expected, "", 1);
	check_dump(&b, at, (const char *)expected.p);
	hf_bytes_free(&expected);
}

/* ---- transactions ---- */

#define EURO "\xe2\x82\xac"
/* 39 bytes: the 14th would not fit any more */
#define EUROS EURO EURO EURO EURO EURO EURO EURO EURO EURO EURO EURO EURO EURO

static void transaction_header(struct hf_walk_bytes *b)
{
	static const char *const names[] = {"core", "", "bus clock \xff",
					    "a name that is much too long to be repeated in every single line",
					    EUROS EURO};

	PUT(b, IDENTIFIER);
	PUT(b, VERSION, .major = 1, .minor = 6);
	PUT(b, TRACE_INFO, .code = 64);
	PUT(b, TRACE_INFO_FEATURE, .value = 0x100000);
	PUT(b, PROTOCOL_ID, .code = 1);
	for (unsigned i = 0; i < 5; i++) {
		PUT(b, CLOCK_ID, .clock = (uint8_t)(i + 1), .count = (uint32_t)strlen(names[i]));
		hf_bytes_add(b, names[i], strlen(names[i]));
	}
	PUT(b, END_HEADER);
}

static void test_transactions(void)
{
	static const char *const clocks[] = {
		"1:core",   "2", "3:bus\\x20clock\\x20\\xff", "4:a\\x20name\\x20that\\x20is\\x20much\\x20too~",
		"5:" EUROS "~", "6"};
	static const struct {
		const char *bytes;
		size_t size;
		const char *shown;
	} channels[] = {
		{"\1\x0c\x0d\x0esourcess\3\0abcaddressA\11\0\x05\xff", 1 + 11 + 2 + 3 + 8 + 2 + 2,
		 "A code=0c param=0d size=0e source=7373656372756f73 data=616263 address=4173736572646461 "
		 "mask=101000001"},
		{"\2cpzsourcess\0\0addressA\0\0", 1 + 11 + 2 + 8 + 2,
		 "B code=63 param=70 size=7a source=7373656372756f73 data=- address=4173736572646461 mask=-"},
		{"\3cpzsourcess\1\0daddressA", 1 + 11 + 2 + 1 + 8,
		 "C code=63 param=70 size=7a source=7373656372756f73 data=64 address=4173736572646461"},
		{"\4cpzsourcess\0\0sinksink", 1 + 11 + 2 + 8,
		 "D code=63 param=70 size=7a source=7373656372756f73 data=- sink=6b6e69736b6e6973"},
		{"\5sinksink", 9, "E sink=6b6e69736b6e6973"},
	};
	struct hf_walk_bytes b = {0}, expected = {0};
	uint64_t at;

	transaction_header(&b);
	at = b.n;
	for (unsigned i = 0; i < 6; i++) {
		const bool meta = i % 2;

		print(&expected, "%zu TRANSACTION id=%u delta=%u clock=%s metadata=%s channel=%s\n", b.n, 1000 + i, i,
		      clocks[i], meta ? "u8:61,u16:0062,u32:64636261,u64:6867666564636261" : "-",
		      channels[i % 5].shown);
		PUT(&b, TRANSACTION, .value = 1000 + i, .delta = i, .clock = (uint8_t)(i + 1), .count = meta ? 4 : 0);
		hf_bytes_add(&b, "\0a\1b\0\2abcd\3abcdefgh", meta ? 19 : 0);
		hf_bytes_add(&b, channels[i % 5].bytes, channels[i % 5].size);
		print(&expected, "%zu TRANSACTION_DEPENDENCY id=7 delta=18446744073709551615 clock=%s\n", b.n,
		      clocks[i]);
		PUT(&b, TRANSACTION_DEPENDENCY, .value = 7, .delta = UINT64_MAX, .clock = (uint8_t)(i + 1));
	}
	hf_bytes_add(&expected, "", 1);
	check_dump(&b, at, (const char *)expected.p);
	hf_bytes_free(&expected);
}

/* The longest record there can be, and its text. */
static void add_huge(struct hf_walk_bytes *b, struct hf_walk_bytes *expected)
{
	static const uint8_t zeros[65536];
	uint64_t seed = 5;

	print(expected, "%zu TRANSACTION id=1 delta=2 clock=1:core metadata=", b->n);
	PUT(b, TRANSACTION, .value = 1, .delta = 2, .clock = 1, .count = 65535);
	for (unsigned i = 0; i < 65535; i++) {
		const uint64_t value = hf_rand_next(&seed) * UINT64_C(0x100000001);

		hf_bytes_add(b, "\3", 1);
		hf_bytes_add(b, &value, 8);
		print(expected, "%su64:%016" PRIx64, i ? "," : "", value);
	}
	hf_bytes_add(b, "\1\0\0\0\0\0\0\0\0\0\0\0\xff\xff", 14);
	hf_bytes_add(b, zeros, 65535);
	print(expected, " channel=A code=00 param=00 size=00 source=0000000000000000 data=");
	for (unsigned i = 0; i < 65535; i++)
		print(expected, "00");
	hf_bytes_add(b, "address*\xff\xff", 10);
	hf_bytes_add(b, zeros, 8192);
	print(expected, " address=2a73736572646461 mask=");
	for (unsigned i = 0; i < 65535; i++)
		print(expected, "0");
	print(expected, "\n");
}

static void check_entries(const struct hf_walk_bytes *b, size_t step, uint64_t most);

static void test_huge(void)
{
	struct hf_walk_bytes b = {0}, expected = {0}, text;
	struct hf_stft t;
	uint64_t at;

	transaction_header(&b);
	at = b.n;
	add_huge(&b, &expected);
	print(&expected, "%zu TRANSACTION_DEPENDENCY id=7 delta=0 clock=0\n", b.n);
	PUT(&b, TRANSACTION_DEPENDENCY, .value = 7);
	hf_bytes_add(&expected, "", 1);
	hf_stft_open(&t, &b);
	text = dump_source(t.stream, t.src, 500);
	CHECK(strcmp(from(&text, at), (const char *)expected.p) == 0);
	hf_bytes_free(&text);
	hf_stft_close(&t);
	check_entries(&b, 9973, UINT64_MAX);
	/* cut in its last byte */
	b.n -= HF_STF_SIZE_TRANSACTION_DEPENDENCY + 1;
	text = dump(&b);
	expected.n = 0;
	print(&expected,
	      "%" PRIu64 " END_HEADER\n# offset %" PRIu64 ": the stream ends inside this record; %zu bytes remain\n",
	      at - 1, at, b.n - (size_t)at);
	hf_bytes_add(&expected, "", 1);
	CHECK_STR(from(&text, at - 1), (const char *)expected.p);
	hf_bytes_free(&text);
	hf_bytes_free(&expected);
	hf_bytes_free(&b);
}

/* ---- offsets and pages ---- */

static void test_offsets(void)
{
	struct hf_walk_bytes b = {0}, text;
	const char *line;
	uint64_t at;

	hf_stft_header(&b, FEATURES, 0);
	at = b.n;
	while (b.n < 1100000) {
		PUT(&b, INST_OPCODE16, .size = 1);
		PUT(&b, INST_OPCODE32, .size = 3);
	}
	text = dump(&b);
	line = from(&text, at);
	for (; at < b.n; at += 5) {
		char expected[100];
		int n = snprintf(expected, sizeof expected,
				 "%" PRIu64 " INST_OPCODE16 0001\n%" PRIu64 " INST_OPCODE32 00000003\n", at, at + 3);

		CHECK(strncmp(line, expected, (size_t)n) == 0);
		line += n;
		at += 3;
	}
	CHECK(*line == 0);
	hf_bytes_free(&text);
	hf_bytes_free(&b);
}

/* ---- entering ---- */

/* At every step-th boundary: the state is small and near, and a fresh decoder gives the same events from there. */
static void check_entries(const struct hf_walk_bytes *b, size_t step, uint64_t most)
{
	struct hf_events all;
	struct hf_dec *dec, *other;
	struct hf_stft t;
	size_t n;

	hf_stft_open(&t, b);
	all = hf_stft_events(t.stream, t.src, HF_HART_RECORDS, 100);
	CHECK_EQ(hf_dec_new(t.stream, t.src, HF_HART_RECORDS, &dec), 0);
	CHECK_EQ(hf_dec_new(t.stream, t.src, HF_HART_RECORDS, &other), 0);
	for (size_t i = 0; i <= all.n; i++) {
		uint8_t blob[HF_STATE_MAX];
		struct hf_event ev[64], one;
		const bool look = i % step == 0 || i + 2 > all.n;
		const size_t left = all.n - i, want = left < 64 ? left : 64;
		uint64_t discard;
		size_t size = look ? hf_dec_save(dec, blob, &discard) : 0;

		if (look) {
			CHECK(size < 16);
			CHECK(discard <= most);
			memset((uint8_t *)other + offsetof(struct hf_records, ended), 0xa5,
			       sizeof(struct hf_records) - offsetof(struct hf_records, ended));
			memset((uint8_t *)other + offsetof(struct hf_stf_dump, at), 0xa5,
			       offsetof(struct hf_stf_dump, clocks) - offsetof(struct hf_stf_dump, at));
			CHECK_EQ(hf_dec_load(other, blob, size, discard), 0);
			CHECK_EQ(hf_dec_offset(other), hf_dec_offset(dec));
			for (size_t k = 0; k < want; k += n) {
				CHECK_EQ(hf_dec_next(other, ev, want - k, &n), 0);
				CHECK(memcmp(ev, &all.ev[i + k], n * sizeof *ev) == 0);
			}
			if (want == left)
				CHECK_EQ(hf_dec_next(other, ev, 1, &n), HF_NOTE_END);
		}
		if (left)
			CHECK_EQ(hf_dec_next(dec, &one, 1, &n), 0);
	}
	hf_dec_free(other);
	hf_dec_free(dec);
	hf_events_free(&all);
	hf_stft_close(&t);
}

/* A bit of everything, several pages long. */
static struct hf_walk_bytes mixture(void)
{
	const uint64_t words[3] = {1, 2, 3};
	struct hf_walk_bytes b = {0};

	hf_stft_header(&b, FEATURES, 0x1000);
	for (unsigned i = 0; i < 4; i++) {
		add_registers(&b);
		hf_stft_event(&b, 13, 3, words);
		hf_stft_event(&b, 13, 0, words);
		PUT(&b, EVENT_PC_TARGET, .address = i);
		string(&b, "text \xe2\x82\xac\n", 9);
		PUT(&b, PAGE_TABLE_WALK, .size = 4096, .count = 1);
		hf_bytes_add(&b, words, 16);
		PUT(&b, INST_MEM_ACCESS, .size = 8, .code = 1);
		PUT(&b, INST_MEM_CONTENT, .value = i);
		PUT(&b, INST_OPCODE32, .size = 0x13);
		PUT(&b, TRANSACTION, .value = i, .count = 1);
		hf_bytes_add(&b, "\3metadata\1cpzsourcess\3\0abcaddressA\11\0mm", 9 + 1 + 11 + 2 + 3 + 8 + 2 + 2);
		PUT(&b, INST_OPCODE16, .size = 1);
	}
	return b;
}

/* The header of mixture has no protocol; its transactions are defects unless it has. */
static struct hf_walk_bytes mixture_with_protocol(void)
{
	struct hf_walk_bytes b = {0}, m = mixture();

	hf_stft_header(&b, FEATURES, 0x1000);
	CHECK_EQ(b.p[--b.n], HF_STF_END_HEADER);
	PUT(&b, PROTOCOL_ID, .code = 1);
	hf_bytes_add(&b, m.p + b.n - HF_STF_SIZE_PROTOCOL_ID, m.n - (b.n - HF_STF_SIZE_PROTOCOL_ID));
	hf_bytes_free(&m);
	return b;
}

static void test_entries(void)
{
	struct hf_walk_bytes b = mixture_with_protocol();
	char *text = malloc(200000);

	check_entries(&b, 1, FAR);
	/* longer than the window, many pages; characters of three bytes meet every edge */
	for (unsigned i = 0; i < 199999; i++)
		text[i] = "\xe2\x82\xac"[i % 3];
	string(&b, text, 199999);
	string(&b, "", 0);
	check_entries(&b, 7, FAR);
	free(text);
	hf_bytes_free(&b);
	b = mixture();
	check_entries(&b, 1, FAR);
	hf_bytes_free(&b);
}

static void test_bad_states(void)
{
	struct hf_walk_bytes b = mixture_with_protocol();
	uint8_t blob[HF_STATE_MAX];
	struct hf_event ev[16];
	struct hf_stft t;
	struct hf_dec *dec;
	uint64_t discard;
	size_t size, n;

	hf_stft_open(&t, &b);
	CHECK_EQ(hf_dec_new(t.stream, t.src, HF_HART_RECORDS, &dec), 0);
	for (unsigned i = 0; i < 9; i++)
		CHECK_EQ(hf_dec_next(dec, ev, 16, &n), 0);
	size = hf_dec_save(dec, blob, &discard);
	CHECK_EQ(size, 4);
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
	/* Into a string that is not there, or not as long. */
	CHECK_EQ(hf_dec_load(dec, (const uint8_t[]){*blob, 0, 1}, 3, 0), 0);
	CHECK_EQ(hf_dec_next(dec, ev, 16, &n), HF_ERR_STATE);
	CHECK_EQ(hf_dec_next(dec, ev, 16, &n), HF_ERR_STATE);
	size = (size_t)(hf_put_varint(hf_put_varint(blob + 1, b.n), HF_STF_SIZE_COMMENT + 9) - blob);
	string(&b, "123456789", 9);
	hf_dec_free(dec);
	hf_stft_close(&t);
	hf_stft_open(&t, &b);
	CHECK_EQ(hf_dec_new(t.stream, t.src, HF_HART_RECORDS, &dec), 0);
	CHECK_EQ(hf_dec_load(dec, blob, size, 0), 0);
	CHECK_EQ(hf_dec_next(dec, ev, 16, &n), HF_ERR_STATE);
	blob[size - 1] = HF_STF_SIZE_COMMENT; /* no text of it: that is the record's own beginning */
	CHECK_EQ(hf_dec_load(dec, blob, size, 0), 0);
	CHECK_EQ(hf_dec_next(dec, ev, 16, &n), HF_ERR_STATE);
	blob[size - 1] = HF_STF_SIZE_COMMENT + 8;
	CHECK_EQ(hf_dec_load(dec, blob, size, 0), 0);
	CHECK_EQ(hf_dec_next(dec, ev, 16, &n), 0);
	CHECK_EQ(n, 1);
	CHECK(ev[0].used == 2 && memcmp(ev[0].data.bytes, "9\n", 2) == 0);
	hf_dec_free(dec);
	hf_stft_close(&t);
	hf_bytes_free(&b);
}

/* ---- sources ---- */

static void test_slivers(void)
{
	struct hf_walk_bytes b = mixture_with_protocol(), all, some;
	struct hf_src *thin;
	struct hf_stft t;

	hf_stft_open(&t, &b);
	all = dump_source(t.stream, t.src, 256);
	for (size_t most = 1; most < 60; most++) {
		CHECK_EQ(hf_sliver_new(t.src, most, &thin), 0);
		some = dump_source(t.stream, thin, most);
		CHECK_STR((const char *)some.p, (const char *)all.p);
		hf_bytes_free(&some);
		hf_src_free(thin);
	}
	hf_bytes_free(&all);
	hf_stft_close(&t);
	hf_bytes_free(&b);
}

/* Every length of the stream: the lines of whole records, then what happened. Strings go as far as they are there. */
static void test_cuts(void)
{
	struct hf_walk_bytes b = mixture_with_protocol(), all;
	struct hf_stft t;

	hf_stft_open(&t, &b);
	all = dump_source(t.stream, t.src, 256);
	for (size_t n = 0; n < b.n; n++) {
		uint8_t *part = malloc(n ? n : 1);
		const char *line, *last = (const char *)all.p, *rest;
		struct hf_walk_bytes text;
		struct hf_src *src;
		char expected[120];
		uint64_t at;

		memcpy(part, b.p, n);
		CHECK_EQ(hf_src_memory_new(part, n, &src), 0);
		text = dump_source(t.stream, src, 256);
		/* the first record that is not there as a whole */
		for (line = last; *line && strtoull(line, NULL, 10) <= n; line = strchr(line, '\n') + 1)
			last = line;
		at = strtoull(last, NULL, 10);
		CHECK(strncmp((const char *)text.p, (const char *)all.p, (size_t)((const uint8_t *)last - all.p)) == 0);
		rest = (const char *)text.p + ((const uint8_t *)last - all.p);
		if (at == n) {
			CHECK(*rest == 0);
		} else if (*rest != '#') {
			CHECK(strstr(last, " COMMENT ") < strchr(last, '\n'));
			CHECK_EQ(strtoull(rest, NULL, 10), at);
			rest = strchr(rest, '\n') + 1;
			snprintf(expected, sizeof expected,
				 "# offset %" PRIu64 ": the stream ends inside this record\n", at);
			CHECK_STR(rest, expected);
		} else {
			snprintf(expected, sizeof expected,
				 "# offset %" PRIu64 ": the stream ends inside this record; %zu byte%s\n", at,
				 n - (size_t)at, n - at == 1 ? " remains" : "s remain");
			CHECK_STR(rest, expected);
		}
		hf_bytes_free(&text);
		hf_src_free(src);
		free(part);
	}
	hf_bytes_free(&all);
	hf_stft_close(&t);
	hf_bytes_free(&b);
}

/* What follows a defect is counted whether the size of the stream is known or must be found out. */
static void test_defects(void)
{
	static const struct {
		const char *bytes;
		size_t n;
		const char *text;
	} defects[] = {
		{"\16", 1, "descriptor 14 does not exist"},
		{"\1STX", 4, "this is not an STF IDENTIFIER record"},
		{"\372........DDDDDDDD\1\0\0", 20,
		 "a transaction of a protocol that the header does not name or nobody knows"},
	};

	for (size_t i = 0; i < sizeof defects / sizeof defects[0]; i++) {
		struct hf_walk_bytes b = {0}, packed = {0}, text, zeros = {.p = calloc(1, 300000), .n = 300000};
		struct hf_src *base, *growing;
		struct hf_scan *scan;
		struct hf_stft t;
		char expected[200];
		uint64_t at;

		hf_stft_header(&b, FEATURES, 0);
		at = b.n;
		hf_bytes_add(&b, defects[i].bytes, defects[i].n);
		hf_bytes_add(&b, zeros.p, zeros.n);
		snprintf(expected, sizeof expected,
			 "%" PRIu64 " END_HEADER\n# offset %" PRIu64 ": %s; %zu bytes remain\n", at - 1, at,
			 defects[i].text, b.n - (size_t)at);
		hf_stft_open(&t, &b);
		text = dump_source(t.stream, t.src, 10);
		CHECK_STR(from(&text, at - 1), expected);
		hf_bytes_free(&text);
		hf_pack_gzip(&packed, b.p, b.n, 1, 0);
		CHECK_EQ(hf_src_memory_new(packed.p, packed.n, &base), 0);
		CHECK_EQ(hf_box_gzip.scan_new(&hf_box_gzip, base, NULL, NULL, &scan, NULL), 0);
		CHECK_EQ(hf_growing_new(&hf_box_gzip, scan, NULL, NULL, &growing), 0);
		text = dump_source(t.stream, growing, 10);
		CHECK_STR(from(&text, at - 1), expected);
		hf_bytes_free(&text);
		hf_src_free(growing);
		hf_src_free(base);
		hf_stft_close(&t);
		check_entries(&b, 1, FAR);
		hf_bytes_free(&packed);
		hf_bytes_free(&zeros);
		hf_bytes_free(&b);
	}
}

static void test_failing_source(void)
{
	struct hf_walk_bytes b = mixture_with_protocol(), text;
	struct hf_event ev[64];
	struct hf_dec *dec;
	struct hf_stft t;
	struct hf_src *bad;
	char expected[200];
	size_t n;
	int err;

	hf_stft_open(&t, &b);
	CHECK_EQ(hf_sliver_new_failing(t.src, b.n - 4, HF_ERR_IO, &bad), 0);
	CHECK_EQ(hf_dec_new(t.stream, bad, HF_HART_RECORDS, &dec), 0);
	while ((err = hf_dec_next(dec, ev, 64, &n)) == 0)
		;
	CHECK_EQ(err, HF_ERR_IO);
	CHECK_EQ(dec->diag.code, HF_ERR_IO);
	CHECK_EQ(dec->diag.offset, b.n - 4);
	hf_dec_free(dec);
	hf_src_free(bad);
	/* between two records, and inside one */
	for (size_t cut = 3; cut < 5; cut++) {
		CHECK_EQ(hf_sliver_new_failing(t.src, b.n - cut, HF_ERR_BOX_DAMAGED, &bad), 0);
		text = dump_source(t.stream, bad, 64);
		snprintf(expected, sizeof expected, "# offset %zu: the compressed stream is damaged%s\n",
			 b.n - 3 - (cut == 4) * 58, cut == 4 ? "; 57 bytes remain" : "");
		CHECK_STR(strrchr((const char *)text.p, '#'), expected);
		hf_bytes_free(&text);
		hf_src_free(bad);
	}
	hf_stft_close(&t);
	hf_bytes_free(&b);
}

int main(void)
{
	test_header();
	test_body();
	test_events();
	test_arm();
	test_strings();
	test_transactions();
	test_huge();
	test_offsets();
	test_entries();
	test_bad_states();
	test_slivers();
	test_cuts();
	test_defects();
	test_failing_source();
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* STF records: bytes to struct and back, sizes from as many bytes as there are, every descriptor. */
#include "codecs/stf/errors.h"
#include "tests/lib/stftest.h"

static struct hf_stf_layout layout = {.vector_words = 4, .protocol = HF_STF_PROTOCOL_TILELINK, .event64 = true};

/* One record of each kind with its bytes, written by hand from the specification. */
static const struct {
	struct hf_stf_record rec;
	const char *bytes;
	size_t head, size;
} records[] = {
	{{.descriptor = HF_STF_IDENTIFIER}, "\1STF", 4, 4},
	{{.descriptor = HF_STF_VERSION, .major = 1, .minor = 6}, "\2\1\0\0\0\6\0\0\0", 9, 9},
	{{.descriptor = HF_STF_COMMENT, .count = 3}, "\3\3\0\0\0abc", 5, 8},
	{{.descriptor = HF_STF_ISA, .code = 1}, "\4\1\0", 3, 3},
	{{.descriptor = HF_STF_INST_IEM, .code = 0x102}, "\5\2\1", 3, 3},
	{{.descriptor = HF_STF_TRACE_INFO, .code = 6, .major = 2, .minor = 3, .patch = 4, .count = 2},
	 "\6\6\2\3\4\2\0xy",
	 7,
	 9},
	{{.descriptor = HF_STF_TRACE_INFO_FEATURE, .value = 0x80021}, "\7\x21\0\10\0\0\0\0\0", 9, 9},
	{{.descriptor = HF_STF_PROCESS_ID_EXT, .hw = 1, .pid = 0x200, .tid = 0x30000},
	 "\10\1\0\0\0\0\2\0\0\0\0\3\0",
	 13,
	 13},
	{{.descriptor = HF_STF_FORCE_PC, .address = 0x8877665544332211}, "\11\x11\x22\x33\x44\x55\x66\x77\x88", 9, 9},
	{{.descriptor = HF_STF_VLEN_CONFIG, .code = 256}, "\12\0\1\0\0", 5, 5},
	{{.descriptor = HF_STF_PROTOCOL_ID, .code = 1}, "\13\1", 2, 2},
	{{.descriptor = HF_STF_CLOCK_ID, .clock = 7, .count = 1}, "\14\7\1\0c", 4, 5},
	{{.descriptor = HF_STF_ISA_EXTENDED, .count = 4}, "\15\4\0\0\0rv64", 5, 9},
	{{.descriptor = HF_STF_END_HEADER}, "\23", 1, 1},
	{{.descriptor = HF_STF_INST_PC_TARGET, .address = 0x80000000}, "\37\0\0\0\x80\0\0\0\0", 9, 9},
	{{.descriptor = HF_STF_INST_REG, .number = 0x300, .code = 0x34, .value = 5},
	 "\50\0\3\x34\5\0\0\0\0\0\0\0",
	 12,
	 12},
	{{.descriptor = HF_STF_INST_REG, .number = 7, .code = 0x33, .value = 2},
	 "\50\7\0\x33\2\0\0\0\0\0\0\0"
	 "12345678abcdefgh87654321",
	 12,
	 36},
	{{.descriptor = HF_STF_INST_READY_REG, .number = 0x102}, "\51\2\1", 3, 3},
	{{.descriptor = HF_STF_PAGE_TABLE_WALK, .address = 0x1000, .value = 7, .size = 4096, .count = 1},
	 "\62\0\x10\0\0\0\0\0\0\7\0\0\0\0\0\0\0\0\x10\0\0\1"
	 "addressPentrypte",
	 22,
	 38},
	{{.descriptor = HF_STF_INST_MEM_ACCESS, .address = 0x10, .size = 8, .attr = 0xbeef, .code = 1},
	 "\74\x10\0\0\0\0\0\0\0\10\0\xef\xbe\1",
	 14,
	 14},
	{{.descriptor = HF_STF_INST_MEM_CONTENT, .value = 1}, "\75\1\0\0\0\0\0\0\0", 9, 9},
	{{.descriptor = HF_STF_BUS_MASTER_ACCESS,
	  .address = 0x10,
	  .size = 4,
	  .master = 3,
	  .index = 9,
	  .attr = 0x01020304,
	  .code = 2},
	 "\76\x10\0\0\0\0\0\0\0\4\0\3\11\4\3\2\1\2",
	 18,
	 18},
	{{.descriptor = HF_STF_BUS_MASTER_CONTENT, .value = 2}, "\77\2\0\0\0\0\0\0\0", 9, 9},
	{{.descriptor = HF_STF_EVENT, .value = HF_STF_EVENT_INTERRUPT | 5, .count = 1},
	 "\144\5\0\0\0\0\0\0\x80\1metadata",
	 10,
	 18},
	{{.descriptor = HF_STF_EVENT_PC_TARGET, .address = 4}, "\145\4\0\0\0\0\0\0\0", 9, 9},
	{{.descriptor = HF_STF_INST_MICROOP, .code = 4, .size = 0x13}, "\346\4\x13\0\0\0", 6, 6},
	{{.descriptor = HF_STF_INST_OPCODE32, .size = 0x50503}, "\360\3\5\5\0", 5, 5},
	{{.descriptor = HF_STF_INST_OPCODE16, .size = 0x4501}, "\361\1\x45", 3, 3},
	{{.descriptor = HF_STF_TRANSACTION, .value = 1, .delta = 2, .clock = 3, .count = 0},
	 "\372\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0\3\0\0"
	 "\5sinksink",
	 20,
	 29},
	{{.descriptor = HF_STF_TRANSACTION_DEPENDENCY, .value = 9, .delta = 8, .clock = 7},
	 "\373\11\0\0\0\0\0\0\0\10\0\0\0\0\0\0\0\7",
	 18,
	 18},
};
#define RECORDS (sizeof records / sizeof records[0])

static void test_both_ways(void)
{
	bool seen[256] = {false};

	for (size_t i = 0; i < RECORDS; i++) {
		struct hf_stf_record rec = {0};
		const uint8_t *bytes = (const uint8_t *)records[i].bytes;
		uint8_t buf[64];
		uint64_t size;

		CHECK_EQ(hf_stf_record_emit(&layout, &records[i].rec, buf), records[i].head);
		CHECK(memcmp(buf, bytes, records[i].head) == 0);
		hf_stf_record_parse(&layout, bytes, &rec);
		CHECK(memcmp(&rec, &records[i].rec, sizeof rec) == 0);
		CHECK_EQ(hf_stf_record_size(&layout, bytes, records[i].size, &size), 0);
		CHECK_EQ(size, records[i].size);
		seen[rec.descriptor] = true;
	}
	for (unsigned d = 0; d < 256; d++)
		CHECK(seen[d] == (hf_stf_places[d] != HF_STF_PLACE_nowhere));
}

/* Of fewer bytes: the same size, or a demand for more that leads there. */
static void test_slivers(void)
{
	for (size_t i = 0; i < RECORDS; i++) {
		for (size_t n = 1; n <= records[i].size; n++) {
			uint8_t *copy = malloc(n); /* so that a sanitizer sees a step too far */
			uint64_t size;
			int err;

			CHECK(copy);
			memcpy(copy, records[i].bytes, n);
			err = hf_stf_record_size(&layout, copy, n, &size);
			if (err) {
				CHECK_EQ(err, HF_STF_MORE);
				CHECK(size > n && size <= records[i].size);
			} else {
				CHECK_EQ(size, records[i].size);
			}
			free(copy);
		}
	}
}

static void test_no_such(void)
{
	static const uint8_t absent[] = {0,  14, 18,  20,  30,	32,  39,  42,  49,  51, 59,
					 64, 99, 102, 229, 231, 239, 242, 249, 252, 255};
	uint8_t bytes[64] = {0};
	uint64_t size;

	for (size_t i = 0; i < sizeof absent; i++) {
		bytes[0] = absent[i];
		CHECK_EQ(hf_stf_record_size(&layout, bytes, sizeof bytes, &size), HF_ERR_STF_DESCRIPTOR);
	}
}

/* 32-bit ids keep the two flags at their own top; metadata stay 64-bit. */
static void test_event32(void)
{
	static const struct {
		const char *bytes;
		uint64_t id;
	} ids[] = {
		{"\144\15\0\0\0\2", 13},
		{"\144\7\0\0\x80\2", HF_STF_EVENT_INTERRUPT | 7},
		{"\144\0\0\0\x40\2", HF_STF_EVENT_MODE_CHANGE},
	};
	const struct hf_stf_layout narrow = {.event64 = false};

	for (size_t i = 0; i < 3; i++) {
		struct hf_stf_record rec = {0};
		const uint8_t *bytes = (const uint8_t *)ids[i].bytes;
		uint8_t buf[64];
		uint64_t size;

		hf_stf_record_parse(&narrow, bytes, &rec);
		CHECK_EQ(rec.value, ids[i].id);
		CHECK_EQ(rec.count, 2);
		CHECK_EQ(hf_stf_record_size(&narrow, bytes, 6, &size), 0);
		CHECK_EQ(size, 6 + 16);
		CHECK_EQ(hf_stf_record_emit(&narrow, &rec, buf), 6);
		CHECK(memcmp(buf, bytes, 6) == 0);
	}
}

static void test_no_vlen(void)
{
	const struct hf_stf_layout none = {.event64 = true};
	uint64_t size;

	CHECK_EQ(hf_stf_record_size(&none, (const uint8_t *)"\50\7\0\x33", 4, &size), HF_ERR_STF_NO_VLEN);
	CHECK_EQ(hf_stf_record_size(&none, (const uint8_t *)"\50\7\0\x31", 4, &size), 0);
	CHECK_EQ(size, 12);
}

/* TileLink channels, with metadata of all four widths. */
static void test_transactions(void)
{
	static const char head[] = "\372\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0\3\4\0"
				   "\0a\1ab\2abcd\3abcdefgh";
	static const struct {
		const char *bytes;
		size_t size;
	} channels[] = {
		{"\1cpzsourcess\3\0abcaddressA\11\0mm", 1 + 11 + 2 + 3 + 8 + 2 + 2},
		{"\2cpzsourcess\0\0addressA\0\0", 1 + 11 + 2 + 8 + 2},
		{"\3cpzsourcess\1\0daddressA", 1 + 11 + 2 + 1 + 8},
		{"\4cpzsourcess\0\0sinksink", 1 + 11 + 2 + 8},
		{"\5sinksink", 9},
	};
	const size_t n = sizeof head - 1;
	uint8_t buf[128];
	uint64_t size;

	memcpy(buf, head, n);
	CHECK_EQ(hf_stf_meta_size(buf + 20, 4), n - 20);
	for (size_t i = 0; i < sizeof channels / sizeof channels[0]; i++) {
		memcpy(buf + n, channels[i].bytes, channels[i].size);
		CHECK_EQ(hf_stf_record_size(&layout, buf, sizeof buf, &size), 0);
		CHECK_EQ(size, n + channels[i].size);
		for (size_t some = 1; some < size; some++) {
			uint64_t want;

			CHECK_EQ(hf_stf_record_size(&layout, buf, some, &want), HF_STF_MORE);
			CHECK(want > some && want <= size);
		}
	}
	buf[n] = 6;
	CHECK_EQ(hf_stf_record_size(&layout, buf, sizeof buf, &size), HF_ERR_STF_VALUE);
	buf[20] = 4;
	CHECK_EQ(hf_stf_record_size(&layout, buf, sizeof buf, &size), HF_ERR_STF_VALUE);
	CHECK_EQ(hf_stf_record_size(&(struct hf_stf_layout){0}, buf, sizeof buf, &size), HF_ERR_STF_PROTOCOL);
}

int main(void)
{
	test_both_ways();
	test_slivers();
	test_no_such();
	test_event32();
	test_no_vlen();
	test_transactions();
	return 0;
}

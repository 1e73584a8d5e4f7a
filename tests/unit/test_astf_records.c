/* SPDX-License-Identifier: Apache-2.0 */
/* The records of ASTF by themselves: every field is where it belongs, and what is no field is reserved. */
#include "tests/lib/astftest.h"

static const struct {
	uint8_t type;
	uint16_t field;
} fields[] = {
#define HF_ASTF_FIELD(record, name, low, width) {HF_ASTF_##record, HF_ASTF_##record##_##name},
#include "codecs/astf/records.def"
#undef HF_ASTF_FIELD
};

#define FIELDS (sizeof fields / sizeof fields[0])

static void test_fields(void)
{
	struct hf_astf_record rec, all;

	for (size_t i = 0; i < FIELDS; i++) {
		const unsigned low = fields[i].field & 0xff, width = fields[i].field >> 8;
		const uint64_t max = width == 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;

		CHECK(low / 64 == (low + width - 1) / 64);
		rec = (struct hf_astf_record){{fields[i].type}};
		hf_astf_put(&rec, fields[i].field, max);
		CHECK_EQ(hf_astf_get(&rec, fields[i].field), max);
		CHECK_EQ(hf_astf_type(&rec), fields[i].type);
		for (unsigned bit = 0; bit < 256; bit++)
			if (bit >= 8)
				CHECK_EQ(rec.word[bit / 64] >> bit % 64 & 1, bit >= low && bit < low + width);
		/* the rest stays */
		memset(&all, 0xff, sizeof all);
		hf_astf_put(&all, fields[i].field, 0);
		for (unsigned w = 0; w < 4; w++)
			CHECK_EQ(all.word[w] | (w == low / 64 ? max << low % 64 : 0), UINT64_MAX);
	}
}

/* A bit is in one field, or reserved; of the header some fields must be 0 too, of strings all bytes are theirs. */
static void test_reserved(uint8_t type)
{
	for (unsigned bit = 8; bit < 256; bit++) {
		struct hf_astf_record rec = {{type}};
		unsigned in = 0;

		for (size_t i = 0; i < FIELDS; i++)
			in += fields[i].type == type && bit >= (fields[i].field & 0xffu) &&
			      bit < (fields[i].field & 0xffu) + (fields[i].field >> 8);
		CHECK(in <= 1);
		if ((type == HF_ASTF_STRING && bit >= 32) || type == HF_ASTF_STRING_CONT)
			in = 1;
		if (bit >= 192 && (type == HF_ASTF_INSTR || type == HF_ASTF_EXTRA_EA))
			in = 0; /* without the field that says what it is */
		rec.word[bit / 64] |= UINT64_C(1) << bit % 64;
		CHECK_EQ(hf_astf_has_reserved(&rec), !in);
	}
}

static void test_last_words(void)
{
	struct hf_astf_record rec = {{HF_ASTF_INSTR, 0, 0, 0xff}};

	HF_ASTF_PUT(&rec, INSTR, xattr_mode, HF_ASTF_XATTR_SME);
	CHECK(!hf_astf_has_reserved(&rec));
	rec.word[3] = 0x100;
	CHECK(hf_astf_has_reserved(&rec));
	HF_ASTF_PUT(&rec, INSTR, xattr_mode, HF_ASTF_XATTR_RANGE);
	CHECK(!hf_astf_has_reserved(&rec));
	HF_ASTF_PUT(&rec, INSTR, xattr_mode, 3);
	CHECK(hf_astf_has_reserved(&rec));
	rec = (struct hf_astf_record){{HF_ASTF_EXTRA_EA, 0, 0, 1}};
	HF_ASTF_PUT(&rec, EXTRA_EA, mem1_addr_range, 1);
	CHECK(!hf_astf_has_reserved(&rec));
}

static void test_strings(void)
{
	uint8_t p[3 * HF_ASTF_SIZE];

	CHECK_EQ(hf_astf_string_records(0), 1);
	CHECK_EQ(hf_astf_string_records(28), 1);
	CHECK_EQ(hf_astf_string_records(29), 2);
	CHECK_EQ(hf_astf_string_records(59), 2);
	CHECK_EQ(hf_astf_string_records(60), 3);
	CHECK_EQ(hf_astf_string_records(65535), 2115);
	CHECK_EQ(hf_astf_string_byte(p, 0) - p, 4);
	CHECK_EQ(hf_astf_string_byte(p, 27) - p, 31);
	CHECK_EQ(hf_astf_string_byte(p, 28) - p, 33);
	CHECK_EQ(hf_astf_string_byte(p, 58) - p, 63);
	CHECK_EQ(hf_astf_string_byte(p, 59) - p, 65);
	CHECK_EQ(hf_astf_sanitise(0x5500ffff00000000), 0x0000ffff00000000);
	CHECK_EQ(hf_astf_sanitise(0x55ffffff00000000), 0xffffffff00000000);
}

int main(void)
{
	test_fields();
	for (unsigned type = 0; type < 256; type++)
		if (hf_astf_name(type))
			test_reserved((uint8_t)type);
	test_last_words();
	test_strings();
	return 0;
}

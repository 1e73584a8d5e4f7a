/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/astf/records.h"

#define ALL UINT64_MAX

const char *hf_astf_name(unsigned type)
{
	switch (type) {
#define HF_ASTF_RECORD(name, number, ...) \
	case number: \
		return #name;
#include "codecs/astf/records.def"
#undef HF_ASTF_RECORD
	default:
		return NULL;
	}
}

/* What word 3 may not have, where other fields say what it is (ASTF tables 8 to 11). */
static uint64_t reserved_last(const struct hf_astf_record *rec)
{
	if (hf_astf_type(rec) == HF_ASTF_EXTRA_EA)
		return HF_ASTF_GET(rec, EXTRA_EA, mem1_valid) || HF_ASTF_GET(rec, EXTRA_EA, mem1_addr_range) ? 0 : ALL;
	if (hf_astf_type(rec) != HF_ASTF_INSTR)
		return 0;
	switch (HF_ASTF_GET(rec, INSTR, xattr_mode)) {
	case HF_ASTF_XATTR_RANGE:
		return 0;
	case HF_ASTF_XATTR_SME:
		return ~UINT64_C(0xff);
	default:
		return ALL;
	}
}

/* Of all types of records; of others nothing. */
static const uint64_t reserved[256][4] = {
#define HF_ASTF_RECORD(name, number, w0, w1, w2, w3) [number] = {w0, w1, w2, w3},
#include "codecs/astf/records.def"
#undef HF_ASTF_RECORD
};

struct hf_astf_record hf_astf_reserved(const struct hf_astf_record *rec)
{
	const uint64_t *mask = reserved[hf_astf_type(rec)];

	return (struct hf_astf_record){{rec->word[0] & mask[0], rec->word[1] & mask[1], rec->word[2] & mask[2],
					rec->word[3] & (mask[3] | reserved_last(rec))}};
}

bool hf_astf_has_reserved(const struct hf_astf_record *rec)
{
	const uint64_t *mask = reserved[hf_astf_type(rec)];

	return (rec->word[0] & mask[0]) | (rec->word[1] & mask[1]) | (rec->word[2] & mask[2]) |
	       (rec->word[3] & (mask[3] | reserved_last(rec)));
}

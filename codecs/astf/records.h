/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The records of ASTF: 32 bytes each, one of eight types, read and written by fields that records.def lists. This layer
 * knows nothing of what records mean to each other.
 */
#ifndef HF_ASTF_RECORDS_H
#define HF_ASTF_RECORDS_H

#include "codecs/base/bytes.h"

#include <stdbool.h>

#define HF_ASTF_SIZE 32

struct hf_astf_record {
	uint64_t word[4];
};

enum hf_astf_type {
#define HF_ASTF_RECORD(name, type, ...) HF_ASTF_##name = (type),
#include "codecs/astf/records.def"
#undef HF_ASTF_RECORD
};

/* HF_ASTF_ and the names of a record and of its field: the lowest bit, and the width in the next byte. */
enum hf_astf_field {
#define HF_ASTF_FIELD(record, name, low, width) HF_ASTF_##record##_##name = (low) | (width) << 8,
#include "codecs/astf/records.def"
#undef HF_ASTF_FIELD
};

/* Bytes of a string in a String record, from byte 4 on, and in a continuation, from byte 1 on (ASTF 4.8). */
#define HF_ASTF_STRING_FIRST 28
#define HF_ASTF_STRING_NEXT 31

enum hf_astf_xattr { HF_ASTF_XATTR_NONE, HF_ASTF_XATTR_RANGE, HF_ASTF_XATTR_SME };

enum hf_astf_trap {
	HF_ASTF_TRAP_SYNC,
	HF_ASTF_TRAP_SERROR,
	HF_ASTF_TRAP_IRQ,
	HF_ASTF_TRAP_FIQ,
	HF_ASTF_TRAP_RETURN,
	HF_ASTF_TRAP_RESET,
};

static inline void hf_astf_load(struct hf_astf_record *rec, const uint8_t *p)
{
	memcpy(rec->word, p, HF_ASTF_SIZE);
}

static inline void hf_astf_store(const struct hf_astf_record *rec, uint8_t *p)
{
	memcpy(p, rec->word, HF_ASTF_SIZE);
}

static inline uint8_t hf_astf_type(const struct hf_astf_record *rec)
{
	return (uint8_t)rec->word[0];
}

static inline uint64_t hf_astf_get(const struct hf_astf_record *rec, enum hf_astf_field field)
{
	const unsigned low = field & 0xff, width = (unsigned)field >> 8;
	const uint64_t v = rec->word[low / 64] >> low % 64;

	return width == 64 ? v : v & ((UINT64_C(1) << width) - 1);
}

/* Sets a field; v fits in it. */
static inline void hf_astf_put(struct hf_astf_record *rec, enum hf_astf_field field, uint64_t v)
{
	const unsigned low = field & 0xff, width = (unsigned)field >> 8;
	const uint64_t mask = width == 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;

	rec->word[low / 64] = (rec->word[low / 64] & ~(mask << low % 64)) | (v & mask) << low % 64;
}

/* HF_ASTF_GET(rec, INSTR, pc) */
#define HF_ASTF_GET(rec, record, name) hf_astf_get(rec, HF_ASTF_##record##_##name)
#define HF_ASTF_PUT(rec, record, name, v) hf_astf_put(rec, HF_ASTF_##record##_##name, v)

/* "INSTR", or NULL if no such type is defined. */
const char *hf_astf_name(unsigned type);

/* The bits that should be 0 and are not, of a record of a known type. */
struct hf_astf_record hf_astf_reserved(const struct hf_astf_record *rec);
/* Whether there are any, without putting them together in memory: every record is asked. */
bool hf_astf_has_reserved(const struct hf_astf_record *rec);

/* Records that a string of so many bytes takes, the String record included. */
static inline uint32_t hf_astf_string_records(uint32_t size)
{
	return size <= HF_ASTF_STRING_FIRST ? 1 : 1 + (size - HF_ASTF_STRING_FIRST + HF_ASTF_STRING_NEXT - 1) /
								HF_ASTF_STRING_NEXT;
}

/* Byte i of a string whose records lie end to end at p. */
static inline const uint8_t *hf_astf_string_byte(const uint8_t *p, uint32_t i)
{
	if (i < HF_ASTF_STRING_FIRST)
		return p + 4 + i;
	i -= HF_ASTF_STRING_FIRST;
	return p + HF_ASTF_SIZE * (1 + i / HF_ASTF_STRING_NEXT) + 1 + i % HF_ASTF_STRING_NEXT;
}

/* ASTF 4.3 as far as it can be without TCR_ELx: bit 55 says what is above it. */
static inline uint64_t hf_astf_sanitise(uint64_t address)
{
	return (uint64_t)((int64_t)(address << 8) >> 8);
}

#endif

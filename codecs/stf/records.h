/* SPDX-License-Identifier: Apache-2.0 */
/*
 * STF records: bytes to struct and back. There is no length field in STF, so the size of a record follows from its
 * descriptor, its counts and a few facts of the header; a descriptor that is not in records.def cannot be passed.
 */
#ifndef HF_STF_RECORDS_H
#define HF_STF_RECORDS_H

#include "codecs/base/bytes.h"
#include "codecs/base/err.h"

#include <stdbool.h>

enum hf_stf_descriptor {
#define HF_STF_RECORD(number, name, head, count, unit, place, fields) HF_STF_##name = (number),
#include "codecs/stf/records.def"
#undef HF_STF_RECORD
};

/* Sizes without what a count adds. */
enum hf_stf_size {
#define HF_STF_RECORD(number, name, head, count, unit, place, fields) HF_STF_SIZE_##name = (head),
#include "codecs/stf/records.def"
#undef HF_STF_RECORD
	HF_STF_SIZE_EVENT32 = 6,
};

enum hf_stf_place {
	HF_STF_PLACE_nowhere, /* no such descriptor */
	HF_STF_PLACE_header,
	HF_STF_PLACE_body,
	HF_STF_PLACE_both,
};

/* INST_REG types (low nibble of its code) and INST_MEM_ACCESS types. */
#define HF_STF_REG_VECTOR 3
#define HF_STF_READ 1
#define HF_STF_WRITE 2

/* EVENT ids: bit 63 interrupts, bit 62 what is not a RISC-V cause; in 32-bit ids bits 31 and 30. */
#define HF_STF_EVENT_INTERRUPT (UINT64_C(1) << 63)
#define HF_STF_EVENT_SPECIAL (UINT64_C(1) << 62)
#define HF_STF_EVENT_MODE_CHANGE HF_STF_EVENT_SPECIAL

/* What of the header the layout of records depends on. */
struct hf_stf_layout {
	uint32_t vector_words; /* ceil(VLEN / 64), 0: no vector registers */
	uint8_t protocol;      /* of transactions; 0: there are none */
	bool event64;
};

/* Widest RISC-V VLEN: 65536 bits. */
#define HF_STF_VLEN_MAX 65536u
#define HF_STF_PROTOCOL_TILELINK 1

/* One record. Which members mean anything, and in which width, is in records.def; code: generator, access type... */
struct hf_stf_record {
	uint8_t descriptor;
	uint8_t clock, master, index;
	uint16_t number;
	uint32_t code;
	uint32_t major, minor, patch;
	uint32_t hw, pid, tid;
	uint32_t size; /* access or page size; opcode of OPCODE16, OPCODE32 and MICROOP */
	uint32_t attr;
	uint32_t count;
	uint64_t value; /* content, event id (always 64-bit form), register (its first word), transaction id */
	uint64_t address;
	uint64_t delta;
};

static inline unsigned hf_stf_event_head(const struct hf_stf_layout *layout)
{
	return layout->event64 ? HF_STF_SIZE_EVENT : HF_STF_SIZE_EVENT32;
}

extern const uint8_t hf_stf_places[256];

/*
 * The size of the record at p, of which n >= 1 bytes are there. 0: *ret_size is it, and may be larger than n.
 * HF_STF_MORE: *ret_size bytes must be there to say more. Errors: no such descriptor, vector without VLEN, a
 * transaction of an unknown protocol.
 */
#define HF_STF_MORE 1
int hf_stf_record_size(const struct hf_stf_layout *layout, const uint8_t *p, size_t n, uint64_t *ret_size);

/* Takes the fields of the record at p apart; its head at least is there. */
void hf_stf_record_parse(const struct hf_stf_layout *layout, const uint8_t *p, struct hf_stf_record *ret_rec);

/*
 * Writes the head of a record at p; returns its length (of a vector INST_REG 12: the first word). The units it
 * counts, or the further words, are the caller's to write behind it.
 */
size_t hf_stf_record_emit(const struct hf_stf_layout *layout, const struct hf_stf_record *rec, uint8_t *p);

/* Bytes of the metadata behind the head of a TRANSACTION that is known to be whole. */
uint32_t hf_stf_meta_size(const uint8_t *p, unsigned count);

#endif

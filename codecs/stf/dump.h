/* SPDX-License-Identifier: Apache-2.0 */
/*
 * records.txt of an STF stream: one line for every record, in the order of the stream, the header's included. This is
 * its grammar, version 1; fields are separated by one blank.
 *
 *   line      = offset NAME field*
 *   offset    = decimal: of the record in the decompressed stream
 *   NAME      = as in records.def
 *   field     = key "=" value, or a bare value: what kind of record it is (READ, DEST, MODE_CHANGE), and the only field
 *               of a record that has but one
 *   value     = a number in hexadecimal with as many digits as the stream holds (addresses, data, opcodes, attributes,
 *               event ids, page sizes); in decimal (other sizes, versions, ids of processes, clocks and transactions,
 *               cycles); a list, or "-" if it is empty; a name, or the decimal number of a value that has none
 *
 *   IDENTIFIER STF                         END_HEADER
 *   VERSION 1.6                            VLEN_CONFIG 256
 *   COMMENT text                           ISA_EXTENDED text
 *   ISA RISCV                              INST_IEM RV64
 *   TRACE_INFO Spike 2.0.0 text            TRACE_INFO_FEATURE 0000000000080021 PHYSICAL_ADDRESS|RV64|EVENT64
 *   PROCESS_ID_EXT hw_thread=0 pid=100 tid=1000
 *   PROTOCOL_ID TILELINK                   CLOCK_ID 1 text
 *   FORCE_PC, INST_PC_TARGET, EVENT_PC_TARGET, INST_MEM_CONTENT, BUS_MASTER_CONTENT 0000000080001000
 *   INST_REG DEST x11 value=1111111111111111          role: STATE, SOURCE, DEST; register: x0 to x31, pc, f0, v0, a
 *                                          CSR's name or csr_ and hex digits, or "type:number"; the words of a vector
 *                                          register are joined by "_", the lowest elements first
 *   INST_READY_REG 12
 *   PAGE_TABLE_WALK address=0000000040001000 first=7 page_size=00001000 entries=pa:entry,pa:entry
 *   INST_MEM_ACCESS READ address=0000003fffa90cb8 size=64 attr=0000              size in the stream's own unit
 *   BUS_MASTER_ACCESS WRITE address=0000000000003000 size=4 master=DMA index=9 attr=01020304
 *   EVENT LOAD_PAGE_FAULT id=000000000000000d metadata=word,word,word
 *   INST_MICROOP size=4 00000013           INST_OPCODE32 02061713           INST_OPCODE16 6722
 *   TRANSACTION id=6 delta=0 clock=1:name metadata=u8:cc,u16:00dd,u32:00000001,u64:0000000000000001 channel=A code=01
 *     param=02 size=03 source=0000000000000004 data=010203 address=0000000000000005 mask=1010
 *                                          on one line; data: bytes, the lowest address first; mask: a digit a bit, bit
 *                                          0 first; channel C has no mask, D "sink=" for address, E nothing but sink
 *   TRANSACTION_DEPENDENCY id=5 delta=10 clock=1:name
 *
 *   text is the last field of its line, and missing if it is empty. A backslash is "\\"; control characters, line
 *   separators and what is not UTF-8 are \xNN, byte by byte. A clock's name has "\x20" for blanks; of more
 *   than 40 characters it has 40 and "~".
 *
 *   Where the stream cannot be followed any further there is a line "# offset N: reason", and "; N bytes remain" if
 *   there are any. Where a container knows how to go on behind it: "; N bytes are lost, the next record is at M".
 */
#ifndef HF_STF_DUMP_H
#define HF_STF_DUMP_H

#include "codecs/records.h"

#include "codecs/base/text.h"
#include "codecs/source/reader.h"
#include "codecs/stf/header.h"

/* Longer than any record that is not told piece by piece: a TRANSACTION with all its counts at their largest. */
#define HF_STF_DUMP_RECORD_MAX (1024u * 1024)

/* The part of a record that is being told element by element. */
enum hf_stf_run {
	HF_STF_RUN_NONE,
	HF_STF_RUN_STRING,
	HF_STF_RUN_VECTOR, /* words of a register */
	HF_STF_RUN_WORDS,  /* of an EVENT */
	HF_STF_RUN_ENTRIES,
	HF_STF_RUN_META,
	HF_STF_RUN_BYTES, /* of a transaction */
	HF_STF_RUN_MASK,
};

struct hf_stf_dump {
	struct hf_records text; /* first */
	struct hf_reader reader;
	const struct hf_stf_header *header;
	uint64_t at;   /* stream offset behind what is text already */
	uint64_t skip; /* the record there is entered so many bytes behind its beginning, in its string; else 0 */
	uint64_t record, string; /* offset of the record that at is in, and of the first byte of its string */
	uint64_t left; /* elements of the run */
	uint8_t run;   /* enum hf_stf_run */
	uint8_t channel;
	struct {
		uint8_t len; /* 0: the header does not name it */
		char text[47];
	} clocks[256];
};

extern const struct hf_dec_ops hf_stf_dump_ops;
extern const struct hf_record_ops hf_stf_dump_record;

/* The line of the record at p up to where its string or list begins; all of its head is there. d may be NULL of a
 * record that is an event. */
uint8_t *hf_stf_dump_head(const struct hf_stf_dump *d, uint8_t *t, const uint8_t *p);

/* All that the length of that depends on, of a record that is an event. */
uint64_t hf_stf_dump_key(const uint8_t *p);

/* Begins what follows the head of the record at p, of size bytes, and moves d->at there; or ends the line. */
uint8_t *hf_stf_dump_begin(struct hf_stf_dump *d, uint8_t *t, const uint8_t *p, uint64_t size);
/* Goes on with a list until it and its line end or the page does. All of the record is in the window. */
uint8_t *hf_stf_dump_list(struct hf_stf_dump *d, uint8_t *t);

/* One character of the text p[n], escaped where it must be; returns its bytes. At most 16 are written. */
size_t hf_stf_dump_character(uint8_t **t, const uint8_t *p, size_t n);

/* Takes the names of clocks from the header. */
void hf_stf_dump_name_clocks(struct hf_stf_dump *d);

/* Whether a record is told as its head and a string of any length. */
bool hf_stf_dump_is_string(unsigned descriptor);

/* The byte at d->at, which is in the window, as the following ones are. */
static inline const uint8_t *hf_stf_dump_here(const struct hf_stf_dump *d)
{
	return hf_reader_at(&d->reader, d->at);
}

#endif

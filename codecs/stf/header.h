/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The header of an STF stream, read once and kept: what info.json tells, what the layout of body records depends on,
 * and what our own encoder hands on.
 */
#ifndef HF_STF_HEADER_H
#define HF_STF_HEADER_H

#include "codecs/codec.h"
#include "codecs/stf/records.h"

/* TRACE_INFO generators and features that mean something to us; names.def has all names. */
#define HF_STF_GENERATOR_EXTRACT 7
#define HF_STF_GENERATOR_DROMAJO 12
#define HF_STF_FEATURE_EVENT UINT64_C(0x8)
#define HF_STF_FEATURE_RV64 UINT64_C(0x20)
#define HF_STF_FEATURE_PROCESS_ID UINT64_C(0x400)
#define HF_STF_FEATURE_MULTI_CORE UINT64_C(0x10000)
#define HF_STF_FEATURE_VEC UINT64_C(0x40000)
#define HF_STF_FEATURE_EVENT64 UINT64_C(0x80000)

/* ISA and INST_IEM values. Those of ARM are ours: the specification has an ISA ARM and no INST_IEM for it. */
enum hf_stf_isa { HF_STF_ISA_RISCV = 1, HF_STF_ISA_ARM, HF_STF_ISA_X86, HF_STF_ISA_POWER };
enum hf_stf_iem {
	HF_STF_IEM_RV32 = 1,
	HF_STF_IEM_RV64 = 2,
	HF_STF_IEM_A32 = 1,
	HF_STF_IEM_A64 = 2,
	HF_STF_IEM_T32 = 3,
};

/* Strings of the header that are kept (comments, TRACE_INFO records, ISA_EXTENDED), together. */
#define HF_STF_STRINGS_MAX (256u * 1024)
/* Behind a header that is longer, at least so much of the body shows in which unit it has sizes of accesses. */
#define HF_STF_UNIT_BYTES (64u << 10)
#define HF_STF_HEADER_RECORDS_MAX 4096

struct hf_stf_bytes {
	uint8_t *p; /* owned */
	size_t n;
};

struct hf_stf_header {
	struct hf_stf_layout layout;
	uint32_t major, minor;
	uint16_t isa, iem;
	uint64_t features;
	uint64_t force_pc;
	uint32_t vlen;
	uint32_t ids[3];	      /* hw_thread, pid, tid */
	bool has[256];		      /* descriptors seen */
	bool bits;		      /* access sizes are in bits where the opcode does not say: as most of the others, */
	bool unit_shown;	      /*   or, if this is not set, as the generator has them (stf.md 1.5) */
	struct hf_stf_bytes infos;    /* TRACE_INFO records as they are, end to end */
	struct hf_stf_bytes comments; /* COMMENT records, cut where they outgrow the limit */
	struct hf_stf_bytes clocks;   /* CLOCK_ID records */
	struct hf_stf_bytes extended; /* the string of ISA_EXTENDED, */
	uint32_t extensions;	      /*   and those of it that share opcodes, as struct hf_stream_info has them */
	bool cut;		      /* some strings were cut */
	uint64_t body;		      /* stream offset behind END_HEADER */
};

struct hf_stf_stream {
	struct hf_stream stream; /* first */
	struct hf_stf_header header;
	char version[24];
	char *json; /* owned */
};

int hf_stf_open(struct hf_src *src, const struct hf_setup *setup, struct hf_stream **ret_stream, struct hf_diag *diag);
void hf_stf_close(struct hf_stream *stream);

extern const struct hf_codec hf_codec_stf;

/* Sets h->bits by the n bytes at p, with which the body begins. True: what follows would change nothing. */
bool hf_stf_header_find_unit(struct hf_stf_header *h, const uint8_t *p, size_t n);

/* Whether bytes is one of sizes: powers of two, OR-ed. */
static inline bool hf_stf_is_one_size(uint32_t bytes, unsigned sizes)
{
	return bytes && !(bytes & (bytes - 1)) && (bytes & sizes);
}

/* The hart of a hardware thread: the same number, but for the one that is taken. */
static inline uint32_t hf_stf_hart_of_thread(uint32_t hw)
{
	return hw == HF_HART_RECORDS ? hw - 1 : hw;
}

/* The members of info.json, allocated; NULL if memory is short. */
char *hf_stf_header_json(const struct hf_stf_header *header);

/* Who wrote a trace, by the number that TRACE_INFO has for it; NULL for numbers without a name. */
const char *hf_stf_generator_name(uint64_t number);
/* Of a bit of TRACE_INFO_FEATURE. */
const char *hf_stf_feature_name(unsigned bit);

/* enum hf_isa of an INST_IEM under an ISA, HF_ISA_NONE if there is none; and back (0). */
uint8_t hf_stf_isa_of_iem(unsigned isa, unsigned iem);
unsigned hf_stf_iem_of_isa(unsigned hf_isa);

/* enum hf_mode of the first metadata word of MODE_CHANGE; and back, false if STF has no word for it. */
uint8_t hf_stf_mode_of_word(unsigned arch, uint64_t word);
bool hf_stf_word_of_mode(unsigned mode, uint64_t *ret_word);

/* enum hf_reg_class of the code of an INST_REG record. */
static inline uint8_t hf_stf_register_class(unsigned code)
{
	return (code & 0xf) <= HF_REG_CSR ? code & 0xf : (uint8_t)HF_REG_UNKNOWN;
}

/* How many metadata words the seed's event table gives an EVENT, and which of them is the trap value (-1: none). */
struct hf_stf_event_layout {
	uint8_t fields;
	int8_t value;
};
struct hf_stf_event_layout hf_stf_event_layout(unsigned arch, uint64_t id);
/*
 * Whether an instruction with this EVENT retired all the same. RISC-V: MODE_CHANGE only; ARM: the system calls too,
 * whose return address is the next instruction (EC 0x11 to 0x13, 0x15 to 0x17: SVC, HVC, SMC of AArch32 and 64).
 */
bool hf_stf_event_retires(unsigned arch, uint64_t id);

#endif

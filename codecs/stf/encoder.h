/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The STF encoder: the events of one hart to trace.stf. A group of records is written as its events come, and closed
 * by its opcode when the first event arrives that is no attachment. What STF has no record for becomes a COMMENT that
 * begins with "hartfs:".
 */
#ifndef HF_STF_ENCODER_H
#define HF_STF_ENCODER_H

#include "codecs/stf/header.h"

enum hf_stf_enc_flags {
	HF_STF_ENC_HEADER = 1,	  /* the header is written */
	HF_STF_ENC_BEGUN = 2,	  /* so is an instruction (or its group is open) */
	HF_STF_ENC_GROUP = 4,	  /* a group is open: opcode, size, pc are its instruction's */
	HF_STF_ENC_ATTEMPT = 8,	  /* that did not retire */
	HF_STF_ENC_NOW = 16,	  /* in this group a MODE_CHANGE of its own would be taken to hold at once */
	HF_STF_ENC_TRAP = 32,	  /* the group has an EVENT other than MODE_CHANGE */
	HF_STF_ENC_FAILED = 64,	  /* one that says that the instruction did not retire */
	HF_STF_ENC_MODE = 128,	  /* held_mode is due: in the open group, or the next one */
	HF_STF_ENC_FORCE = 256,	  /* the next group needs a FORCE_PC */
	HF_STF_ENC_IDS = 512,	  /* ids are known */
	HF_STF_ENC_TARGET = 1024, /* handler is due behind the data of the EVENT */
	HF_STF_ENC_AFTER = 2048,  /* so is a MODE_CHANGE to after_mode */
	HF_STF_ENC_CUT = 4096,	  /* a slice: next and isa are the first instruction's until the header is written */
	HF_STF_ENC_ALL = 8191,
};

struct hf_stf_enc_state {
	uint16_t flags;
	uint8_t said_mode; /* what a reader takes for the mode of the next instruction */
	uint8_t held_mode;
	uint8_t after_mode;
	uint8_t isa;  /* of the last INST_IEM */
	uint8_t size; /* of the open group's instruction */
	uint8_t head; /* kind of the event whose DATA is awaited */
	uint32_t opcode;
	uint32_t left; /* bytes of DATA to come */
	uint32_t take; /* so many of them are written */
	uint32_t fill; /* and so many zeros behind them */
	uint32_t ids[3];
	uint64_t pc;   /* of the open group's instruction */
	uint64_t next; /* where a reader takes the next instruction to be */
	uint64_t handler;
	uint64_t base; /* of a slice: instruction records of the source before it */
};

struct hf_stf_enc {
	struct hf_enc enc;		    /* first */
	const struct hf_stf_header *source; /* of an STF source, else NULL */
	struct hf_stf_layout layout;
	uint32_t extensions; /* those of the hart that share opcodes */
	uint8_t arch;
	struct hf_stf_enc_state s;
};

/* ---- writer.c ---- */

/* The header. force_pc: of the first instruction, if that is known. */
void hf_stf_write_header(struct hf_stf_enc *e, struct hf_sink *sink, uint64_t force_pc, uint8_t isa);
void hf_stf_write_record(struct hf_stf_enc *e, struct hf_sink *sink, const struct hf_stf_record *rec);
/* The record with these members: HF_STF_PUT(e, sink, FORCE_PC, .address = pc). */
#define HF_STF_PUT(e, sink, name, ...) \
	hf_stf_write_record(e, sink, &(struct hf_stf_record){.descriptor = HF_STF_##name, __VA_ARGS__})
/* A COMMENT: "hartfs: " and the text, at most 600 bytes. */
void hf_stf_write_remark(struct hf_sink *sink, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The remark on an event that STF has no record for, without its DATA. */
void hf_stf_write_foreign(struct hf_sink *sink, const struct hf_event *ev);

/* ---- enc_group.c ---- */

/* The cause that is written where the source does not say one: the first that is the platform's to define. */
#define HF_STF_CAUSE_UNKNOWN 24

/* Writes the header if that is still to be done, before any record but an instruction's. */
void hf_stf_enc_need_header(struct hf_stf_enc *e, struct hf_sink *sink);
/* Closes the group that is open and opens that of an instruction or attempt. */
void hf_stf_enc_insn(struct hf_stf_enc *e, struct hf_sink *sink, const struct hf_event *ev);
/* Closes the open group, if any, with its opcode. */
void hf_stf_enc_close(struct hf_stf_enc *e, struct hf_sink *sink);

/* A MODE_CHANGE to an enum hf_mode. */
void hf_stf_enc_write_mode(struct hf_stf_enc *e, struct hf_sink *sink, unsigned mode);
/* The MODE_CHANGE that holds for the open group's own instruction: behind its accesses, before its other events. */
void hf_stf_enc_flush_mode(struct hf_stf_enc *e, struct hf_sink *sink);
void hf_stf_enc_write_target(struct hf_stf_enc *e, struct hf_sink *sink, uint64_t address);

/* Behind the head of a record of an event of kind head: awaits left bytes of DATA, of which take are to be written, and
 * fill zeros behind them. */
void hf_stf_enc_begin_data(struct hf_stf_enc *e, struct hf_sink *sink, uint8_t head, uint32_t left, uint32_t take,
			   uint32_t fill);
void hf_stf_enc_data(struct hf_stf_enc *e, struct hf_sink *sink, const struct hf_event *ev);
/* DATA that never came: a head promises so many bytes in the file. */
void hf_stf_enc_break_data(struct hf_stf_enc *e, struct hf_sink *sink);
/* n bytes, at most 32, in a content record for each word. */
void hf_stf_enc_write_words(struct hf_sink *sink, uint8_t descriptor, const uint8_t *bytes, uint32_t n);

/* ---- enc_attach.c ---- */

/* An attachment, in the open group; without one it becomes a remark, but for a trap, which opens one. */
void hf_stf_enc_attach(struct hf_stf_enc *e, struct hf_sink *sink, const struct hf_event *ev);

/* ---- enc_state.c ---- */

/* As hf_enc_ops has them. */
void hf_stf_enc_visit(struct hf_enc *enc, struct hf_fields *f);

#endif

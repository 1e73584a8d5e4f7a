/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A question to one hart of an opened capture: symbols are addresses, and every term can be asked of code, of accesses
 * and of the rest alone. Three answers: what the trace does not tell is neither yes nor no. Immutable once made.
 * Internal to fs/find/.
 */
#ifndef HF_FIND_PREDICATES_H
#define HF_FIND_PREDICATES_H

#include "codecs/isa/disasm.h"
#include "codecs/listing/listing.h"
#include "fs/base/modes.h"
#include "fs/facts/opened.h"
#include "fs/find/question.h"

struct hf_predicates {
	const struct hf_question *question;
	uint32_t all;    /* a bit for each term that counts, and of these */
	uint32_t code;   /* those about the instruction itself, */
	uint32_t access, reg, behind; /* its accesses; the registers it writes; what comes behind it: traps and gaps */
	uint32_t called; /* those that ask how it was entered */
	bool context;	 /* one asks for the context */
	const struct hf_find_value *value; /* of accesses and registers; NULL: any */
	const struct hf_processes *processes; /* with the names of threads; NULL: there are none */
	bool arm;
	uint32_t extensions; /* those of the hart that share opcodes */
	struct {
		struct hf_find_range *range; /* owned */
		size_t count, room;
		size_t named; /* symbols have the name, whatever their addresses are */
		bool at;      /* one of them was chosen by its address */
		bool bare;    /* they have parameters behind the name, which the question leaves out */
		const char *reg; /* the name that listings give the register, of the question or in reg_name; NULL: any */
		char reg_name[HF_REGISTER_NAME];
	} place[HF_QUESTION_TERMS];
};

/* HF_ERR_NOT_FOUND, with why[size]: there is no such symbol or register. */
int hf_predicates_new(const struct hf_question *question, const struct hf_open *open, uint32_t hart,
		      struct hf_predicates **ret_predicates, char *why, size_t size);
void hf_predicates_free(struct hf_predicates *predicates);

/* An instruction, as an event or a run tells it. */
struct hf_find_code {
	const struct hf_ev_insn *insn;
	enum hf_verdict taken, not_taken, called;
	const struct hf_run_context *context; /* NULL: not known */
};

/* term: one of predicates->code. disasm may be NULL if no mnemonic is asked for. */
enum hf_verdict hf_predicates_of_code(const struct hf_predicates *predicates, unsigned term,
				      const struct hf_find_code *code, struct hf_disasm *disasm);
/* term: one of predicates->access, and a MEM event; of predicates->reg, and a REG event; of predicates->behind, and
 * any. Without a look at its value. */
enum hf_verdict hf_predicates_of_access(const struct hf_predicates *predicates, unsigned term,
					const struct hf_event *ev);
enum hf_verdict hf_predicates_of_register(const struct hf_predicates *predicates, unsigned term,
					  const struct hf_event *ev);
enum hf_verdict hf_predicates_of_event(const struct hf_predicates *predicates, unsigned term,
				       const struct hf_event *ev);

/* Pcs outside of it are no answers. */
struct hf_find_range hf_predicates_span(const struct hf_predicates *predicates);

#endif

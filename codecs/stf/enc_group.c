/* SPDX-License-Identifier: Apache-2.0 */
/* A group of records of the STF encoder: its instruction, the modes that stand in it, and the DATA of its records. */
#include "codecs/stf/encoder.h"

/* ---- modes ---- */

/* The mode that a reader makes of the word we write for this one. */
static uint8_t as_read(const struct hf_stf_enc *e, unsigned mode)
{
	uint64_t word;

	return hf_stf_word_of_mode(mode, &word) ? hf_stf_mode_of_word(e->arch, word) : (uint8_t)HF_MODE_UNKNOWN;
}

void hf_stf_enc_write_mode(struct hf_stf_enc *e, struct hf_sink *sink, unsigned mode)
{
	struct hf_stf_record rec = {.descriptor = HF_STF_EVENT, .value = HF_STF_EVENT_MODE_CHANGE};
	uint64_t word = 0;

	rec.count = hf_stf_word_of_mode(mode, &word);
	hf_stf_write_record(e, sink, &rec);
	if (rec.count) {
		hf_put64(hf_sink_room(sink, 8), word);
		sink->p += 8;
	}
	e->s.said_mode = as_read(e, mode);
}

void hf_stf_enc_flush_mode(struct hf_stf_enc *e, struct hf_sink *sink)
{
	if (!(e->s.flags & HF_STF_ENC_MODE))
		return;
	e->s.flags &= (uint16_t)~HF_STF_ENC_MODE;
	hf_stf_enc_write_mode(e, sink, e->s.held_mode);
}

/* ---- data ---- */

void hf_stf_enc_write_target(struct hf_stf_enc *e, struct hf_sink *sink, uint64_t address)
{
	uint8_t *p = hf_sink_room(sink, HF_STF_SIZE_EVENT_PC_TARGET);

	*p = HF_STF_EVENT_PC_TARGET;
	hf_put64(p + 1, address);
	sink->p += HF_STF_SIZE_EVENT_PC_TARGET;
	e->s.next = address;
}

/* Behind the last byte of DATA. */
static void end_data(struct hf_stf_enc *e, struct hf_sink *sink)
{
	static const uint8_t zeros[64];
	struct hf_stf_enc_state *s = &e->s;

	/* A stored state may name any number. */
	for (; s->fill && !sink->err; s->fill -= s->fill < sizeof zeros ? s->fill : (uint32_t)sizeof zeros)
		hf_sink_write(sink, zeros, s->fill < sizeof zeros ? s->fill : sizeof zeros);
	s->fill = 0;
	if (s->flags & HF_STF_ENC_TARGET)
		hf_stf_enc_write_target(e, sink, s->handler);
	if (s->flags & HF_STF_ENC_AFTER)
		hf_stf_enc_write_mode(e, sink, s->after_mode);
	s->flags &= (uint16_t) ~(HF_STF_ENC_TARGET | HF_STF_ENC_AFTER);
	s->handler = 0;
	s->after_mode = 0;
	s->head = 0;
}

void hf_stf_enc_begin_data(struct hf_stf_enc *e, struct hf_sink *sink, uint8_t head, uint32_t left, uint32_t take,
		       uint32_t fill)
{
	e->s.head = head;
	e->s.left = left;
	e->s.take = take;
	e->s.fill = fill;
	if (left == 0)
		end_data(e, sink);
}

void hf_stf_enc_break_data(struct hf_stf_enc *e, struct hf_sink *sink)
{
	struct hf_stf_enc_state *s = &e->s;

	if (s->left == 0)
		return;
	if (s->head != HF_EVENT_MEM && s->head != HF_EVENT_BUS)
		s->fill += s->take;
	s->left = 0;
	s->take = 0;
	end_data(e, sink);
}

/* Contents go into a record for each word. */
void hf_stf_enc_write_words(struct hf_sink *sink, uint8_t descriptor, const uint8_t *bytes, uint32_t n)
{
	uint8_t *p = hf_sink_room(sink, 4 * HF_STF_SIZE_INST_MEM_CONTENT);
	uint64_t words[4] = {0};

	memcpy(words, bytes, n);
	for (uint32_t i = 0; i < n; i += 8) {
		*p = descriptor;
		hf_put64(p + 1, words[i / 8]);
		p += HF_STF_SIZE_INST_MEM_CONTENT;
	}
	sink->p = p;
}

void hf_stf_enc_data(struct hf_stf_enc *e, struct hf_sink *sink, const struct hf_event *ev)
{
	struct hf_stf_enc_state *s = &e->s;
	uint32_t n = ev->used < sizeof ev->data.bytes ? ev->used : (uint32_t)sizeof ev->data.bytes;
	uint32_t take;

	n = n < s->left ? n : s->left;
	if (n == 0)
		return;
	take = n < s->take ? n : s->take;
	if (take && s->head == HF_EVENT_MEM)
		hf_stf_enc_write_words(sink, HF_STF_INST_MEM_CONTENT, ev->data.bytes, take);
	else if (take && s->head == HF_EVENT_BUS)
		hf_stf_enc_write_words(sink, HF_STF_BUS_MASTER_CONTENT, ev->data.bytes, take);
	else
		hf_sink_write(sink, ev->data.bytes, take);
	s->left -= n;
	s->take -= take;
	if (s->left == 0)
		end_data(e, sink);
}

/* ---- groups ---- */

void hf_stf_enc_need_header(struct hf_stf_enc *e, struct hf_sink *sink)
{
	/* Records before the first instruction: a slice knows its first pc already, and so does an STF source. */
	if ((e->s.flags & (HF_STF_ENC_HEADER | HF_STF_ENC_CUT)) == HF_STF_ENC_CUT)
		hf_stf_write_header(e, sink, e->s.next, e->s.isa);
	if (!(e->s.flags & HF_STF_ENC_HEADER)) {
		hf_stf_write_header(e, sink, e->source ? e->source->force_pc : 0,
				    (uint8_t)hf_stream_isa(e->enc.stream, e->enc.hart));
		if (!e->source)
			hf_stf_write_remark(sink, "the pc of the header is not known and made up");
	}
}

/* A reader must see why it did not retire, or it takes it for an instruction that did. */
static void explain_attempt(struct hf_stf_enc *e, struct hf_sink *sink)
{
	hf_stf_write_remark(sink, "the cause of this event is not known, its number is made up");
	HF_STF_PUT(e, sink, EVENT, .value = HF_STF_CAUSE_UNKNOWN);
}

void hf_stf_enc_close(struct hf_stf_enc *e, struct hf_sink *sink)
{
	struct hf_stf_enc_state *s = &e->s;
	uint8_t *p;

	if (s->left)
		hf_stf_enc_break_data(e, sink);
	if (!(s->flags & HF_STF_ENC_GROUP))
		return;
	if (s->flags & HF_STF_ENC_MODE)
		hf_stf_enc_flush_mode(e, sink);
	if ((s->flags & (HF_STF_ENC_ATTEMPT | HF_STF_ENC_FAILED)) == HF_STF_ENC_ATTEMPT)
		explain_attempt(e, sink);
	p = hf_sink_room(sink, HF_STF_SIZE_INST_OPCODE32);
	hf_put32(p + 1, s->opcode);
	if (s->size == 2) {
		*p = HF_STF_INST_OPCODE16;
		sink->p += HF_STF_SIZE_INST_OPCODE16;
	} else {
		*p = HF_STF_INST_OPCODE32;
		sink->p += HF_STF_SIZE_INST_OPCODE32;
	}
	s->flags &= (uint16_t) ~(HF_STF_ENC_GROUP | HF_STF_ENC_ATTEMPT | HF_STF_ENC_NOW | HF_STF_ENC_TRAP |
				 HF_STF_ENC_FAILED);
	s->opcode = 0;
	s->size = 0;
	s->pc = 0;
}

/* Which mode the instruction needs that a reader would not give it. */
static void hold_mode(struct hf_stf_enc *e, uint8_t mode)
{
	const uint8_t wanted = as_read(e, mode);
	const uint8_t given = e->s.flags & HF_STF_ENC_MODE ? as_read(e, e->s.held_mode) : e->s.said_mode;

	if (wanted != HF_MODE_UNKNOWN && wanted != given) {
		e->s.held_mode = mode;
		e->s.flags |= HF_STF_ENC_MODE;
	}
}

void hf_stf_enc_insn(struct hf_stf_enc *e, struct hf_sink *sink, const struct hf_event *ev)
{
	struct hf_stf_enc_state *s = &e->s;
	const struct hf_ev_insn *insn = &ev->insn;
	bool attempt = ev->kind == HF_EVENT_ATTEMPT;

	hf_stf_enc_close(e, sink);
	if (!(s->flags & HF_STF_ENC_HEADER))
		hf_stf_write_header(e, sink, insn->pc, insn->isa);
	if (insn->isa != s->isa) {
		HF_STF_PUT(e, sink, INST_IEM, .code = hf_stf_iem_of_isa(insn->isa));
		s->isa = insn->isa;
	}
	if (insn->mode != s->said_mode)
		hold_mode(e, insn->mode);
	/* a mode that holds for this instruction already needs FORCE_PC, but in the first group */
	if (insn->pc != s->next || (s->flags & HF_STF_ENC_FORCE) ||
	    (s->flags & (HF_STF_ENC_MODE | HF_STF_ENC_BEGUN)) == (HF_STF_ENC_MODE | HF_STF_ENC_BEGUN)) {
		HF_STF_PUT(e, sink, FORCE_PC, .address = insn->pc);
		s->flags |= HF_STF_ENC_NOW;
	}
	if (!(s->flags & HF_STF_ENC_BEGUN))
		s->flags |= HF_STF_ENC_NOW;
	s->flags &= (uint16_t)~HF_STF_ENC_FORCE;
	s->flags |= HF_STF_ENC_BEGUN | HF_STF_ENC_GROUP | (attempt ? HF_STF_ENC_ATTEMPT : 0);
	s->opcode = insn->opcode;
	s->size = insn->size;
	s->pc = insn->pc;
	s->next = insn->pc + insn->size;
	if (!attempt && (ev->flags & HF_EVF_TAKEN)) {
		uint8_t *p = hf_sink_room(sink, HF_STF_SIZE_INST_PC_TARGET);

		*p = HF_STF_INST_PC_TARGET;
		hf_put64(p + 1, insn->target);
		sink->p += HF_STF_SIZE_INST_PC_TARGET;
		s->next = insn->target;
	}
	if (!attempt && (ev->flags & HF_EVF_OPEN))
		hf_stf_write_remark(sink, "whether this branch was taken is not known");
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/astf/encoder.h"

#include "codecs/astf/errors.h"
#include "codecs/views.h"

#include <stdlib.h>

/* ESR_ELx.EC */
enum { EC_SVC32 = 0x11, EC_SVC = 0x15, EC_FETCH = 0x20, EC_PC = 0x22, EC_SERROR = 0x2f };

static bool is_call(uint32_t opcode)
{
	const uint32_t call = opcode & 0xffe0001f;

	return call >= 0xd4000001 && call <= 0xd4000003;
}

/* ---- header and contexts ---- */

static void need_header(struct hf_astf_enc *e, struct hf_sink *sink)
{
	struct hf_astf_record rec = {{0}};

	if (e->s.flags & HF_ASTF_ENC_HEADER)
		return;
	e->s.flags |= HF_ASTF_ENC_HEADER;
	if (e->source) {
		rec = *e->source;
		rec.word[1] = 0; /* format_cfg: RAW */
		hf_astf_write(sink, &rec);
		return;
	}
	memcpy(rec.word, "ASTF", 4);
	HF_ASTF_PUT(&rec, HEADER, version_major, HF_ASTF_MAJOR);
	HF_ASTF_PUT(&rec, HEADER, version_minor, HF_ASTF_MINOR);
	HF_ASTF_PUT(&rec, HEADER, single_el, e->basic);
	hf_astf_write(sink, &rec);
	hf_astf_enc_remark(e, sink, "hart %u of a capture in %s %s", e->enc.hart,
			   e->enc.stream->codec && e->enc.stream->codec->title ? e->enc.stream->codec->title
									       : "another format",
			   e->enc.stream->info.version ? e->enc.stream->info.version : "");
	hf_astf_enc_remark(e, sink,
			   "what the capture does not say of Contexts and Traps is 0: EL0, non-secure, target 0");
}

/* el and handler, as bits 1:0 and 2, of the modes of AArch64; 0 of all others. */
static unsigned level_of_mode(unsigned mode)
{
	static const struct {
		int8_t level, word;
	} modes[HF_MODE_COUNT] = {
#define HF_MODE(name, text, level, word) {level, word},
#include "codecs/modes.def"
#undef HF_MODE
	};

	if (mode < HF_MODE_EL0t || mode > HF_MODE_EL3)
		return 0;
	return (unsigned)(modes[mode].level | (modes[mode].word & 1) << 2);
}

static void write_context(struct hf_astf_enc *e, struct hf_sink *sink)
{
	struct hf_astf_enc_state *s = &e->s;
	struct hf_astf_record rec = {{HF_ASTF_CONTEXT}};
	const unsigned level = level_of_mode(s->mode);
	/* ids that nobody says anything more of belong to EL0 (ASTF 4.4) */
	const bool ids = (s->flags & HF_ASTF_ENC_STATE) || level == 0;
	const bool pid = ids && (s->flags & HF_ASTF_ENC_PID), tid = pid && (s->flags & HF_ASTF_ENC_TID);

	HF_ASTF_PUT(&rec, CONTEXT, el, level & 3);
	HF_ASTF_PUT(&rec, CONTEXT, handler, level >> 2);
	HF_ASTF_PUT(&rec, CONTEXT, evl, s->evl);
	HF_ASTF_PUT(&rec, CONTEXT, pid_valid, pid);
	HF_ASTF_PUT(&rec, CONTEXT, tid_valid, tid);
	HF_ASTF_PUT(&rec, CONTEXT, pid, pid ? s->pid : 0);
	HF_ASTF_PUT(&rec, CONTEXT, tid, tid ? s->tid : 0);
	HF_ASTF_PUT(&rec, CONTEXT, pstate_sm, !!(s->state & HF_STATE_SM));
	HF_ASTF_PUT(&rec, CONTEXT, pstate_dit, !!(s->state & HF_STATE_DIT));
	HF_ASTF_PUT(&rec, CONTEXT, pstate_ssbs, !!(s->state & HF_STATE_SSBS));
	HF_ASTF_PUT(&rec, CONTEXT, mte_tcf, (s->state & HF_STATE_TCF) >> 3);
	HF_ASTF_PUT(&rec, CONTEXT, secure, !!(s->state & HF_STATE_SECURE));
	HF_ASTF_PUT(&rec, CONTEXT, unsupported,
		    !e->basic && ((s->state & HF_STATE_ABSENT) || (s->flags & HF_ASTF_ENC_AARCH32)));
	hf_astf_write(sink, &rec);
	s->flags &= ~(uint32_t)(HF_ASTF_ENC_SOFT | HF_ASTF_ENC_HARD);
	s->flags |= HF_ASTF_ENC_SAID;
}

/* The instruction and the text before are done, and what was said of the context is written. */
static void close_step(struct hf_astf_enc *e, struct hf_sink *sink)
{
	if (e->s.text)
		hf_astf_enc_text_end(e, sink);
	if (e->s.flags & HF_ASTF_ENC_INSN)
		hf_astf_enc_flush(e, sink);
	e->s.flags &= ~(uint32_t)(HF_ASTF_ENC_INSN | HF_ASTF_ENC_ATTEMPT);
}

static void say_context(struct hf_astf_enc *e, struct hf_sink *sink)
{
	need_header(e, sink);
	if (e->s.flags & HF_ASTF_ENC_HARD)
		write_context(e, sink);
}

/* STF has no word for an id that is not known but 0. */
static void set_id(struct hf_astf_enc *e, uint32_t flag, uint32_t *to, uint32_t id)
{
	*to = id;
	e->s.flags |= flag;
	if (!e->source && id == 0)
		e->s.flags &= ~flag;
}

static void put_context(struct hf_astf_enc *e, struct hf_sink *sink, const struct hf_event *ev)
{
	struct hf_astf_enc_state *s = &e->s;
	const struct hf_ev_context *c = &ev->context;

	close_step(e, sink);
	if (ev->fields & HF_CONTEXT_STATE) {
		s->state = ev->state & HF_STATE_ALL;
		s->flags |= HF_ASTF_ENC_STATE;
		if (s->state & HF_STATE_NO_PID)
			s->flags &= ~(uint32_t)HF_ASTF_ENC_PID;
		if (s->state & HF_STATE_NO_TID)
			s->flags &= ~(uint32_t)HF_ASTF_ENC_TID;
	}
	if (ev->fields & HF_CONTEXT_MODE)
		s->mode = c->mode < HF_MODE_COUNT ? c->mode : (uint8_t)HF_MODE_UNKNOWN;
	if (ev->fields & HF_CONTEXT_PID)
		set_id(e, HF_ASTF_ENC_PID, &s->pid, c->pid);
	if (ev->fields & HF_CONTEXT_TID)
		set_id(e, HF_ASTF_ENC_TID, &s->tid, c->tid);
	if (ev->fields & HF_CONTEXT_VLEN && c->vlen)
		s->evl = c->vlen <= 256 ? (uint8_t)((c->vlen - 1) / 16) : 15;
	s->flags |= HF_ASTF_ENC_HARD;
}

/* ---- instructions ---- */

/* AArch32 code is not recorded: the PE is away until it is back in AArch64 (ASTF 4.4.2). */
static bool enter_isa(struct hf_astf_enc *e, struct hf_sink *sink, const struct hf_ev_insn *insn)
{
	const bool foreign = insn->isa != HF_ISA_A64 || insn->size != 4;

	if (foreign == !!(e->s.flags & HF_ASTF_ENC_AARCH32))
		return !foreign;
	e->s.flags ^= HF_ASTF_ENC_AARCH32;
	e->s.flags |= HF_ASTF_ENC_SOFT;
	if (foreign && !e->basic)
		write_context(e, sink);
	return !foreign;
}

static bool is_branch(const struct hf_event *ev)
{
	return (ev->insn.flow >= HF_FLOW_BRANCH && ev->insn.flow <= HF_FLOW_SWAP) || (ev->flags & HF_EVF_TAKEN);
}

static void hold_insn(struct hf_astf_enc *e, const struct hf_event *ev)
{
	const bool attempt = ev->kind == HF_EVENT_ATTEMPT;
	/* in Basic traces nothing but the flag and the Context behind it tells of a system call (4.5.3.1) */
	const bool call = e->basic && is_call(ev->insn.opcode);
	struct hf_astf_record rec = {{HF_ASTF_INSTR}};

	HF_ASTF_PUT(&rec, INSTR, iword, ev->insn.opcode);
	HF_ASTF_PUT(&rec, INSTR, pc, hf_astf_sanitise(ev->insn.pc));
	HF_ASTF_PUT(&rec, INSTR, trap, attempt || call);
	if (is_branch(ev))
		HF_ASTF_PUT(&rec, INSTR, is_branch, 1);
	if (!attempt && (ev->flags & HF_EVF_TAKEN)) {
		HF_ASTF_PUT(&rec, INSTR, ea_valid, 1);
		HF_ASTF_PUT(&rec, INSTR, ea, hf_astf_sanitise(ev->insn.target));
	}
	e->s.insn = rec;
	e->s.flags |= HF_ASTF_ENC_INSN | HF_ASTF_ENC_HELD | (attempt ? HF_ASTF_ENC_ATTEMPT : 0) |
		      (call ? HF_ASTF_ENC_SOFT : 0);
}

static void put_insn(struct hf_astf_enc *e, struct hf_sink *sink, const struct hf_event *ev)
{
	struct hf_astf_enc_state *s = &e->s;

	if (s->flags & HF_ASTF_ENC_INSN || s->text)
		close_step(e, sink);
	if (!(s->flags & HF_ASTF_ENC_HEADER))
		need_header(e, sink);
	/* Basic traces need not have what did not complete (3.1), and cannot say why it did not. */
	if (!enter_isa(e, sink, &ev->insn) || (e->basic && ev->kind == HF_EVENT_ATTEMPT))
		return;
	if (ev->insn.mode != s->mode && ev->insn.mode != HF_MODE_UNKNOWN && ev->insn.mode < HF_MODE_COUNT) {
		s->mode = ev->insn.mode;
		s->flags |= HF_ASTF_ENC_SOFT;
	}
	if ((s->flags & (HF_ASTF_ENC_SOFT | HF_ASTF_ENC_HARD)) || !(s->flags & HF_ASTF_ENC_SAID))
		write_context(e, sink);
	hold_insn(e, ev);
}

static void put_reg(struct hf_astf_enc *e, const struct hf_event *ev)
{
	struct hf_astf_record *rec = &e->s.insn;

	if (ev->reg.class != HF_REG_ZA_INDEX || !(e->s.flags & HF_ASTF_ENC_HELD) || HF_ASTF_GET(rec, INSTR, xattr_mode))
		return;
	HF_ASTF_PUT(rec, INSTR, xattr_mode, HF_ASTF_XATTR_SME);
	HF_ASTF_PUT(rec, INSTR, xattr, ev->reg.value & 0xff);
}

/* ---- traps ---- */

static void fill_trap(struct hf_astf_record *rec, const struct hf_event *ev)
{
	static const uint8_t types[4] = {HF_ASTF_TRAP_SERROR, HF_ASTF_TRAP_IRQ, HF_ASTF_TRAP_FIQ, HF_ASTF_TRAP_RESET};
	const uint64_t cause = ev->flags & HF_EVF_CAUSE ? ev->trap.cause : 0;

	if (ev->flags & HF_EVF_ASYNC) {
		HF_ASTF_PUT(rec, TRAP, trap_type, types[cause < 4 ? cause : 1]);
		if (cause == 0)
			HF_ASTF_PUT(rec, TRAP, ec, EC_SERROR);
	} else {
		HF_ASTF_PUT(rec, TRAP, ec, cause & 0x3f);
		if ((cause >= EC_SVC && cause <= EC_SVC + 2) || (cause >= EC_SVC32 && cause <= EC_SVC32 + 2)) {
			HF_ASTF_PUT(rec, TRAP, syscall_type, cause & 3);
			HF_ASTF_PUT(rec, TRAP, syscall_index, ev->trap.value & 0xffff);
		}
	}
	HF_ASTF_PUT(rec, TRAP, is_virtual, !!(ev->flags & HF_EVF_VIRTUAL));
}

static_assert((EC_SVC & 3) == 1 && (EC_SVC32 & 3) == 1, "syscall_type is the low bits of the class");

/* An asynchronous exception, or one that left nothing to execute, has no instruction of its own (4.7.1, 4.7.3). */
static bool has_no_insn(const struct hf_event *ev)
{
	return (ev->flags & HF_EVF_ASYNC) ||
	       ((ev->flags & HF_EVF_CAUSE) && ev->trap.cause >= EC_FETCH && ev->trap.cause <= EC_PC);
}

/* Whether a Trap record has a word for it. */
static bool is_known_cause(const struct hf_event *ev)
{
	return (ev->flags & HF_EVF_CAUSE) && (!(ev->flags & HF_EVF_ASYNC) || ev->trap.cause < 4);
}

static void put_trap(struct hf_astf_enc *e, struct hf_sink *sink, const struct hf_event *ev)
{
	struct hf_astf_enc_state *s = &e->s;
	struct hf_astf_record rec = {{HF_ASTF_TRAP}};
	const uint32_t held = s->flags & (HF_ASTF_ENC_HELD | HF_ASTF_ENC_ATTEMPT);

	if (held == (HF_ASTF_ENC_HELD | HF_ASTF_ENC_ATTEMPT) && has_no_insn(ev)) {
		s->flags &= ~(uint32_t)(HF_ASTF_ENC_HELD | HF_ASTF_ENC_EXTRA);
		s->insn = s->extra = (struct hf_astf_record){{0}};
	} else if (held == HF_ASTF_ENC_HELD && ev->kind == HF_EVENT_TRAP && !(ev->flags & HF_EVF_ASYNC) &&
		   is_call((uint32_t)HF_ASTF_GET(&s->insn, INSTR, iword))) {
		HF_ASTF_PUT(&s->insn, INSTR, trap, 1);
	}
	close_step(e, sink);
	say_context(e, sink);
	if (ev->kind == HF_EVENT_TRAP_RETURN)
		HF_ASTF_PUT(&rec, TRAP, trap_type, HF_ASTF_TRAP_RETURN);
	else
		fill_trap(&rec, ev);
	if (ev->flags & HF_EVF_HANDLER)
		HF_ASTF_PUT(&rec, TRAP, target_pc, hf_astf_sanitise(ev->trap.handler));
	if (!e->basic)
		hf_astf_write(sink, &rec);
	if (!e->basic && ev->kind == HF_EVENT_TRAP && !is_known_cause(ev))
		hf_astf_enc_remark(e, sink, "the cause of this trap is not known, its type is made up");
	if (e->basic)
		s->flags |= HF_ASTF_ENC_SOFT;
	if (ev->flags & HF_EVF_MODE && ev->mode < HF_MODE_COUNT && ev->mode != s->mode) {
		s->mode = (uint8_t)ev->mode;
		s->flags |= HF_ASTF_ENC_SOFT;
	}
}

/* ---- what stands on its own ---- */

static void put_time(struct hf_astf_enc *e, struct hf_sink *sink, const struct hf_event *ev)
{
	struct hf_astf_record rec = {{HF_ASTF_TIMESTAMP}};
	const uint64_t value = ev->time.value;

	if (!e->source && !(ev->flags & HF_EVF_NO_TIME)) /* whose unit is another, or not known */
		hf_astf_enc_remark(e, sink, "timestamp %llu", (unsigned long long)value);
	/* Strictly increasing, and announced by the header (4.9). */
	if (!e->timestamps || (ev->flags & HF_EVF_NO_TIME) || value == UINT64_MAX ||
	    ((e->s.flags & HF_ASTF_ENC_TIMED) && value <= e->s.time))
		return;
	HF_ASTF_PUT(&rec, TIMESTAMP, unit, 1);
	HF_ASTF_PUT(&rec, TIMESTAMP, value0, value);
	hf_astf_write(sink, &rec);
	e->s.time = value;
	e->s.flags |= HF_ASTF_ENC_TIMED;
}

static void put_loss(struct hf_astf_enc *e, struct hf_sink *sink, const struct hf_event *ev)
{
	struct hf_diag diag;
	char text[HF_DIAG_SIZE];

	if (ev->code == (uint32_t)-HF_ERR_ASTF_ABSENT)
		return; /* the Context before it says so */
	hf_event_diag(ev, &diag);
	hf_diag_format(&diag, text, sizeof text);
	hf_astf_enc_remark(e, sink, "%s: %s", ev->kind == HF_EVENT_GAP ? "gap" : "doubt", text);
	e->s.flags |= HF_ASTF_ENC_SOFT;
}

static void put_alone(struct hf_astf_enc *e, struct hf_sink *sink, const struct hf_event *ev)
{
	close_step(e, sink);
	if (ev->kind == HF_EVENT_BEGIN || ev->kind == HF_EVENT_NONE)
		return;
	say_context(e, sink);
	switch (ev->kind) {
	case HF_EVENT_TIMESTAMP:
		put_time(e, sink, ev);
		break;
	case HF_EVENT_TEXT:
		hf_astf_enc_text(e, ev->size);
		break;
	case HF_EVENT_DISCONTINUITY:
		/* A Context is where a Basic trace may go on elsewhere (3.1); BasicPlus has no word for it. An ASTF
		 * source had its own, or had none. */
		if (!e->source)
			e->s.flags |= HF_ASTF_ENC_SOFT;
		if (!e->basic && !e->source)
			hf_astf_enc_remark(e, sink, "the flow goes on elsewhere, the source does not say why");
		break;
	case HF_EVENT_GAP:
	case HF_EVENT_DOUBT:
		put_loss(e, sink, ev);
		break;
	default:
		break;
	}
}

static void put_attachment(struct hf_astf_enc *e, struct hf_sink *sink, const struct hf_event *ev)
{
	if (ev->kind == HF_EVENT_TRAP || ev->kind == HF_EVENT_TRAP_RETURN)
		put_trap(e, sink, ev);
	else if (e->s.flags & HF_ASTF_ENC_INSN && ev->kind == HF_EVENT_MEM)
		hf_astf_enc_access(e, sink, ev);
	else if (e->s.flags & HF_ASTF_ENC_INSN && ev->kind == HF_EVENT_REG)
		put_reg(e, ev);
}

/* ---- the encoder as codec.h wants it ---- */

static void put(struct hf_enc *enc, const struct hf_event *ev, size_t n, struct hf_sink *sink)
{
	struct hf_astf_enc *e = (struct hf_astf_enc *)enc;

	for (const struct hf_event *end = ev + n; ev < end; ev++) {
		if (hf_event_is_instruction(ev)) {
			put_insn(e, sink, ev);
		} else if (ev->kind == HF_EVENT_DATA) {
			if (e->s.text)
				hf_astf_enc_text_data(e, sink, ev->data.bytes,
						      ev->used < sizeof ev->data.bytes ? ev->used
										       : sizeof ev->data.bytes);
		} else if (hf_event_is_attachment(ev)) {
			put_attachment(e, sink, ev);
		} else if (ev->kind == HF_EVENT_CONTEXT) {
			put_context(e, sink, ev);
		} else {
			put_alone(e, sink, ev);
		}
	}
}

static void end(struct hf_enc *enc, struct hf_sink *sink)
{
	struct hf_astf_enc *e = (struct hf_astf_enc *)enc;

	close_step(e, sink);
	say_context(e, sink);
}

static const char *refuses(const struct hf_stream_info *info)
{
	if (info->arch != HF_ARCH_ARM || (info->isa != HF_ISA_A64 && info->isa != HF_ISA_NONE))
		return "ASTF is AArch64 only (ASTF 2.1)";
	if (info->flags & HF_STREAM_NO_ACCESSES)
		return "the source knows no memory addresses, which ASTF 2.2 needs";
	return NULL;
}

static int init(struct hf_enc *enc)
{
	struct hf_astf_enc *e = (struct hf_astf_enc *)enc;

	e->source = hf_enc_is_original(enc) ? enc->stream->info.header : NULL;
	e->basic = enc->stream->info.flags & HF_STREAM_ONE_LEVEL;
	e->timestamps = e->source && HF_ASTF_GET(e->source, HEADER, timestamps);
	return 0;
}

#define FIELD(member, max) HF_FIELD_ROW(struct hf_astf_enc_state, member, max)
static const struct hf_field_row fields[] = {
	FIELD(flags, HF_ASTF_ENC_ALL),
	FIELD(insn.word[0], UINT64_MAX),
	FIELD(insn.word[1], UINT64_MAX),
	FIELD(insn.word[2], UINT64_MAX),
	FIELD(insn.word[3], UINT64_MAX),
	FIELD(extra.word[0], UINT64_MAX),
	FIELD(extra.word[1], UINT64_MAX),
	FIELD(extra.word[2], UINT64_MAX),
	FIELD(extra.word[3], UINT64_MAX),
	FIELD(time, UINT64_MAX),
	FIELD(pid, UINT32_MAX),
	FIELD(tid, UINT32_MAX),
	FIELD(text, UINT32_MAX),
	FIELD(piece, UINT16_MAX),
	FIELD(state, HF_STATE_ALL),
	FIELD(text_at, HF_ASTF_SIZE - 1),
	FIELD(slot, 3),
	FIELD(evl, 15),
	FIELD(mode, HF_MODE_COUNT - 1),
};
#undef FIELD

static void state(struct hf_enc *enc, struct hf_fields *f)
{
	struct hf_astf_enc_state *s = &((struct hf_astf_enc *)enc)->s;

	if (f->loading)
		*s = (struct hf_astf_enc_state){0};
	HF_FIELD_ROWS(f, fields, s);
	/* a record that is begun has bytes to come; extra holds one or the other */
	hf_fields_require(f, s->piece <= s->text);
	hf_fields_require(f, !s->text_at || (s->piece && !(s->flags & (HF_ASTF_ENC_EXTRA | HF_ASTF_ENC_INSN))));
}

const struct hf_enc_ops hf_view_astf = {
	.name = "astf",
	.view = "trace.astf",
	.version = 3,
	.refuses = refuses,
	.size = sizeof(struct hf_astf_enc),
	.init = init,
	.put = put,
	.end = end,
	.state = state,
};

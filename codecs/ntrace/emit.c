/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the messages of the encoder, holds back those that may repeat, and resets the counters after a message. */
#include "codecs/ntrace/encoder.h"

/* The largest B-CNT and HREPEAT (6.2). */
#define REPEATS_MAX 0x3ffffu

static unsigned width_of(uint32_t hist)
{
	return 31u - (unsigned)__builtin_clz(hist);
}

/* ---- writing ---- */

/* What the TSTAMP of a message is. */
static uint64_t time_field(const struct hf_ntrace_enc *e, bool sync)
{
	const struct hf_ntrace_enc_state *s = &e->s;

	if (sync || e->c.wire.times == HF_NTRACE_TIMES_ABSOLUTE)
		return s->time;
	return e->c.wire.times == HF_NTRACE_TIMES_XOR ? s->time ^ s->said_time : s->time - s->said_time;
}

static void write_message(struct hf_ntrace_enc *e, struct hf_sink *sink, struct hf_ntrace_message *msg)
{
	struct hf_ntrace_enc_state *s = &e->s;
	const bool sync = hf_ntrace_is_sync(msg->tcode);

	msg->src = e->c.src;
	if (e->c.times && (sync || s->time != s->said_time)) {
		msg->has_time = true;
		msg->time = time_field(e, sync) & (UINT64_MAX >> (64 - e->c.wire.time_width));
		s->said_time = s->time;
	}
	sink->p = hf_sink_room(sink, HF_NTRACE_WRITE_MAX);
	sink->p += hf_ntrace_message_write(&e->c.wire, msg, sink->p);
}

static void flush_repeats(struct hf_ntrace_enc *e, struct hf_sink *sink)
{
	struct hf_ntrace_message msg = {.tcode = HF_NTRACE_REPEAT_BRANCH, .hrepeat = e->s.repeats};

	if (e->s.repeats)
		write_message(e, sink, &msg);
	e->s.repeats = 0;
}

/* Writes the history that is held back, because it cannot repeat any more. */
static void flush_pattern(struct hf_ntrace_enc *e, struct hf_sink *sink)
{
	struct hf_ntrace_enc_state *s = &e->s;
	struct hf_ntrace_message msg = {.tcode = HF_NTRACE_RESOURCE_FULL, .hist = s->pattern};

	if (!s->pattern)
		return;
	msg.rcode = s->pattern_count > 1 ? HF_NTRACE_RCODE_HREPEAT : HF_NTRACE_RCODE_HIST;
	msg.hrepeat = s->pattern_count > 1 ? s->pattern_count : 0;
	flush_repeats(e, sink);
	s->last_tcode = 0;
	write_message(e, sink, &msg);
	s->pattern = 0;
	s->pattern_count = 0;
}

void hf_ntrace_emit(struct hf_ntrace_enc *e, struct hf_sink *sink, struct hf_ntrace_message *msg)
{
	flush_repeats(e, sink);
	e->s.last_tcode = 0;
	write_message(e, sink, msg);
}

/* ---- branch messages ---- */

/*
 * Whether the message repeats the one before it, so that RepeatBranch can count it (7.11). Readers disagree on what a
 * repeated U-ADDR is relative to, so a message with another U-ADDR than 0 is no repeat.
 */
static bool is_again(const struct hf_ntrace_enc *e, const struct hf_ntrace_message *msg)
{
	const struct hf_ntrace_enc_state *s = &e->s;

	return e->c.repeat_branch && s->last_tcode == msg->tcode && msg->address == 0 &&
	       s->last_btype == msg->btype && s->last_icnt == msg->icnt && s->last_hist == msg->hist &&
	       s->repeats < REPEATS_MAX && !(e->c.times && s->time != s->said_time);
}

/* Writes a message without SYNC, or counts it as a repeat. RepeatBranch cannot repeat a jump without an instruction. */
static void emit_branch(struct hf_ntrace_enc *e, struct hf_sink *sink, struct hf_ntrace_message *msg)
{
	struct hf_ntrace_enc_state *s = &e->s;

	if (is_again(e, msg)) {
		s->repeats++;
		return;
	}
	flush_repeats(e, sink);
	write_message(e, sink, msg);
	s->last_tcode = msg->address == 0 && (msg->icnt || msg->btype) ? msg->tcode : 0;
	s->last_btype = msg->btype;
	s->last_icnt = (uint32_t)msg->icnt;
	s->last_hist = msg->hist;
}

/* Resets what every message with I-CNT resets. */
static void reset_counts(struct hf_ntrace_enc_state *s)
{
	s->icnt = 0;
	s->hist = 1;
	s->upper_opcode = 0;
}

/* Resets all that a synchronising message resets (8.4). The context is due again, for readers that start here. */
static void reset_all(struct hf_ntrace_enc *e, uint64_t pc)
{
	struct hf_ntrace_enc_state *s = &e->s;

	reset_counts(s);
	s->ref = pc;
	s->since = 0;
	hf_return_stack_clear(&e->calls);
	s->last_tcode = 0;
	s->said_mode = HF_MODE_UNKNOWN;
	s->owner_due = s->ids != 0;
}

void hf_ntrace_emit_flow(struct hf_ntrace_enc *e, struct hf_sink *sink, uint8_t btype, uint64_t pc, bool sync)
{
	struct hf_ntrace_enc_state *s = &e->s;
	const bool hist = e->c.history && (s->hist > 1 || e->c.seed);
	struct hf_ntrace_message msg = {
		.tcode = hist ? (sync ? HF_NTRACE_INDIRECT_BRANCH_HIST_SYNC : HF_NTRACE_INDIRECT_BRANCH_HIST) :
				(sync ? HF_NTRACE_INDIRECT_BRANCH_SYNC : HF_NTRACE_INDIRECT_BRANCH),
		.sync = sync ? HF_NTRACE_SYNC_PERIODIC : 0,
		.btype = btype,
		.icnt = s->icnt,
		.address = sync ? pc : pc ^ s->ref,
		.hist = hist ? s->hist : 0,
	};

	flush_pattern(e, sink);
	if (sync) {
		hf_ntrace_emit(e, sink, &msg);
		reset_all(e, pc);
	} else {
		emit_branch(e, sink, &msg);
		s->ref = pc;
		reset_counts(s);
	}
}

void hf_ntrace_emit_taken(struct hf_ntrace_enc *e, struct hf_sink *sink, uint64_t pc, bool sync)
{
	struct hf_ntrace_enc_state *s = &e->s;
	struct hf_ntrace_message msg = {.tcode = HF_NTRACE_DIRECT_BRANCH, .icnt = s->icnt};

	if (sync) {
		msg.tcode = HF_NTRACE_DIRECT_BRANCH_SYNC;
		msg.sync = HF_NTRACE_SYNC_PERIODIC;
		msg.address = pc;
		hf_ntrace_emit(e, sink, &msg);
		reset_all(e, pc);
	} else {
		emit_branch(e, sink, &msg);
		reset_counts(s);
	}
}

/* With history, emit_flow writes the shorter IndirectBranchSync if HIST is empty (8.4.1, note 2). */
void hf_ntrace_emit_sync(struct hf_ntrace_enc *e, struct hf_sink *sink, uint64_t pc)
{
	struct hf_ntrace_message msg = {
		.tcode = HF_NTRACE_SYNC,
		.sync = HF_NTRACE_SYNC_PERIODIC,
		.icnt = e->s.icnt,
		.address = pc,
	};

	if (e->c.history) {
		hf_ntrace_emit_flow(e, sink, HF_NTRACE_BTYPE_JUMP, pc, true);
		return;
	}
	hf_ntrace_emit(e, sink, &msg);
	reset_all(e, pc);
}

/* ---- starts and stops ---- */

/* A trace starts with ProgTraceSync, or in a trap handler with IndirectBranchSync (8.4.1, note 1). */
void hf_ntrace_emit_start(struct hf_ntrace_enc *e, struct hf_sink *sink, uint64_t pc)
{
	struct hf_ntrace_message msg = {
		.tcode = e->s.btype ? HF_NTRACE_INDIRECT_BRANCH_SYNC : HF_NTRACE_SYNC,
		.sync = e->s.start,
		.btype = e->s.btype,
		.address = pc,
	};

	hf_ntrace_emit(e, sink, &msg);
	reset_all(e, pc);
}

void hf_ntrace_emit_stop(struct hf_ntrace_enc *e, struct hf_sink *sink)
{
	struct hf_ntrace_message msg = {
		.tcode = HF_NTRACE_CORRELATION,
		.evcode = HF_NTRACE_EVCODE_DISABLED,
		.cdf = e->c.history,
		.icnt = e->s.icnt,
		.hist = e->c.history ? e->s.hist : 0,
	};

	flush_pattern(e, sink);
	hf_ntrace_emit(e, sink, &msg);
	reset_counts(&e->s);
}

void hf_ntrace_emit_error(struct hf_ntrace_enc *e, struct hf_sink *sink)
{
	struct hf_ntrace_message msg = {.tcode = HF_NTRACE_ERROR, .value = HF_NTRACE_ECODE_PROGRAM};

	hf_ntrace_emit(e, sink, &msg);
}

/* PRV and V of PROCESS (7.1); false: PROCESS has no value for this mode. */
static bool process_of_mode(unsigned mode, uint64_t *ret_process)
{
	switch (mode) {
	case HF_MODE_U: *ret_process = 0; return true;
	case HF_MODE_S: *ret_process = 1 << 2; return true;
	case HF_MODE_M: *ret_process = 3 << 2; return true;
	case HF_MODE_VU: *ret_process = 1 << 4; return true;
	case HF_MODE_VS: *ret_process = 1 << 4 | 1 << 2; return true;
	default: return false;
	}
}

static void emit_owner(struct hf_ntrace_enc *e, struct hf_sink *sink, uint64_t process)
{
	struct hf_ntrace_message msg = {.tcode = HF_NTRACE_OWNERSHIP, .value = process};

	hf_ntrace_emit(e, sink, &msg);
}

void hf_ntrace_emit_ownership(struct hf_ntrace_enc *e, struct hf_sink *sink)
{
	struct hf_ntrace_enc_state *s = &e->s;
	uint64_t process;

	s->owner_due = 0;
	if (!process_of_mode(s->mode, &process))
		return;
	s->said_mode = s->mode;
	if (e->c.wire.dialect == HF_NTRACE_DIALECT_TT_DFD) { /* one message, whose FORMAT is 0 */
		emit_owner(e, sink, process | (s->ids & HF_CONTEXT_PID ? (uint64_t)s->pid << 5 : 0));
		return;
	}
	if (s->ids & HF_CONTEXT_VMID && e->c.wire.dialect != HF_NTRACE_DIALECT_SIFIVE)
		emit_owner(e, sink, process | 3 | (uint64_t)s->vmid << 5);
	if (!(s->ids & HF_CONTEXT_VMID) || (s->ids & HF_CONTEXT_PID))
		emit_owner(e, sink, process | (s->ids & HF_CONTEXT_PID ? 2 | (uint64_t)s->pid << 5 : 0));
	if (s->ids & HF_CONTEXT_VMID && e->c.wire.dialect == HF_NTRACE_DIALECT_SIFIVE)
		emit_owner(e, sink, process | 3 | (uint64_t)s->vmid << 5);
}

void hf_ntrace_emit_value(struct hf_ntrace_enc *e, struct hf_sink *sink)
{
	struct hf_ntrace_message msg = {.tcode = HF_NTRACE_TRAP_VALUE, .value = e->s.value};

	if (e->s.has_value)
		hf_ntrace_emit(e, sink, &msg);
	e->s.has_value = 0;
}

/* ---- beside the flow ---- */

void hf_ntrace_emit_text(struct hf_ntrace_enc *e, struct hf_sink *sink, const uint8_t *bytes, unsigned n)
{
	for (unsigned at = 0, size; at < n; at += size) {
		struct hf_ntrace_message msg = {.tcode = HF_NTRACE_DATA_ACQUISITION};

		size = n - at < 4 ? n - at : 4;
		msg.icnt = (uint64_t)e->s.channel << 2 | (4 - size);
		for (unsigned i = 0; i < size; i++)
			msg.value |= (uint64_t)bytes[at + i] << 8 * i;
		hf_ntrace_emit(e, sink, &msg);
	}
}

void hf_ntrace_emit_marker(struct hf_ntrace_enc *e, struct hf_sink *sink, const struct hf_event *ev)
{
	static const uint8_t sources[HF_MARKERS] = {
		[HF_MARKER_SAMPLE] = HF_NTRACE_CK_SAMPLE,	[HF_MARKER_WATCHPOINT] = HF_NTRACE_CK_WATCHPOINT,
		[HF_MARKER_TRIGGER] = HF_NTRACE_CK_TRIGGER,	[HF_MARKER_CALL] = HF_NTRACE_CK_CALL,
		[HF_MARKER_EXCEPTION] = HF_NTRACE_CK_EXCEPTION, [HF_MARKER_INTERRUPT] = HF_NTRACE_CK_INTERRUPT,
		[HF_MARKER_CONTEXT] = HF_NTRACE_CK_CONTEXT,	[HF_MARKER_CONTROL] = HF_NTRACE_CK_CONTROL};
	const uint64_t mask = e->c.wire.xlen == 32 ? UINT32_MAX : UINT64_MAX, pc = ev->marker.value & mask;
	const bool call = ev->what == HF_MARKER_CALL, sample = ev->what == HF_MARKER_SAMPLE;
	struct hf_ntrace_message msg = {.tcode = HF_NTRACE_CIRCUIT_SYNC, .value = pc >> 1, .value1 = ev->marker.number};

	if (ev->what >= HF_MARKERS || (!sources[ev->what] && ev->what != HF_MARKER_CONTROL))
		return;
	msg.cksrc = sources[ev->what];
	if (!(ev->flags & HF_EVF_AT)) {
		if (ev->what != HF_MARKER_CONTROL)
			return;
		msg.tcode = HF_NTRACE_CIRCUIT;
		msg.value = ev->marker.number;
		hf_ntrace_emit(e, sink, &msg);
		return;
	}
	msg.cdf = !sample && !(ev->flags & HF_EVF_UNNUMBERED) && (!call || ev->marker.type);
	e->s.ref = pc;
	if (call && msg.cdf) {
		msg.value1 = ((ev->marker.type & mask) ^ pc) >> 1;
		e->s.ref = ev->marker.type & mask;
	}
	hf_ntrace_emit(e, sink, &msg);
}

/* ---- full counters ---- */

/* I-CNT has no room for one more instruction: a ResourceFull carries it. */
void hf_ntrace_emit_full_count(struct hf_ntrace_enc *e, struct hf_sink *sink)
{
	struct hf_ntrace_message msg = {
		.tcode = HF_NTRACE_RESOURCE_FULL,
		.rcode = HF_NTRACE_RCODE_ICNT,
		.icnt = e->s.icnt,
	};

	hf_ntrace_emit(e, sink, &msg);
	e->s.icnt = 0;
}

/* Whether each of the low n bits of v equals the bit d places above it, if that is one of the n. */
static bool repeats_every(uint64_t v, unsigned n, unsigned d)
{
	return ((v ^ v >> d) & ((UINT64_C(1) << (n - d)) - 1)) == 0;
}

/* Holds back a history: the pattern, repeated count times. First writes what was held back before. */
static void hold(struct hf_ntrace_enc *e, struct hf_sink *sink, uint32_t pattern, uint32_t count)
{
	flush_pattern(e, sink);
	e->s.pattern = pattern;
	e->s.pattern_count = count;
}

/*
 * HIST is full. The part of it that repeats itself is held back as a pattern, because more of the same may follow. A
 * period longer than half of HIST shows only if HIST is compared with the full HIST before it.
 */
static void hold_history(struct hf_ntrace_enc *e, struct hf_sink *sink)
{
	struct hf_ntrace_enc_state *s = &e->s;
	const unsigned n = width_of(s->hist);
	const uint32_t bits = s->hist & ~(1u << n);
	const uint64_t both = (uint64_t)(s->pattern & ((1u << n) - 1)) << n | bits;
	const bool twice = s->pattern && width_of(s->pattern) == n;
	unsigned d = 1, rest;

	while (d < n && !(2 * d <= n ? repeats_every(bits, n, d) : twice && repeats_every(both, 2 * n, d)))
		d++;
	rest = n % d;
	hold(e, sink, 1u << d | bits >> (n - d), n / d);
	s->hist = 1u << rest | (bits & ((1u << rest) - 1));
}

void hf_ntrace_emit_history(struct hf_ntrace_enc *e, struct hf_sink *sink, bool taken)
{
	struct hf_ntrace_enc_state *s = &e->s;

	if (width_of(s->hist) == e->c.hist_branches) {
		if (e->c.repeat_history) {
			hold_history(e, sink);
		} else {
			hold(e, sink, s->hist, 1);
			flush_pattern(e, sink);
			s->hist = 1;
		}
	}
	s->hist = s->hist << 1 | taken;
	if (s->pattern && s->hist == s->pattern && s->pattern_count < REPEATS_MAX) {
		s->pattern_count++;
		s->hist = 1;
	}
}

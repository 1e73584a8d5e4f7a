/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of a listing that begin with '#', and the DATA of any line. */
#include "codecs/listing/listing.h"

#include "codecs/isa/names.h"

uint8_t *hf_listing_begin(struct listing *l, uint8_t *p, enum listing_line line, const char *text)
{
	if (l->state.line == LISTING_TEXT)
		*p++ = '"';
	*p = '\n';
	p += l->state.line != LISTING_NONE;
	l->state.line = (uint8_t)line;
	l->state.owed = 0;
	l->state.run = HF_EVENT_NONE;
	l->state.place = 0;
	return hf_text_put(p, text);
}

static uint8_t *note(struct listing *l, uint8_t *p, const struct hf_event *ev, const char *text)
{
	p = hf_listing_begin(l, p, LISTING_OTHER, text);
	l->state.run = ev->kind;
	return p;
}

static uint8_t *put_dec(uint8_t *p, const char *key, uint64_t v)
{
	return hf_text_put_dec(hf_text_put(p, key), v);
}

static uint8_t *put_hex(uint8_t *p, const char *key, uint64_t v)
{
	return hf_text_put_hex(hf_text_put(p, key), v);
}

static uint8_t *put_escaped(uint8_t *p, const uint8_t *bytes, unsigned n)
{
	for (; n; n--, bytes++) {
		const char *named = *bytes == '\n' ? "\\n" : *bytes == '\t' ? "\\t" : *bytes == '\r' ? "\\r" :
				    *bytes == '\\' ? "\\\\" : NULL;

		if (named)
			p = hf_text_put(p, named);
		else if (*bytes >= ' ' && *bytes <= '~')
			*p++ = *bytes;
		else
			p = hf_text_put_hex_width(hf_text_put(p, "\\x"), *bytes, 2);
	}
	return p;
}

static uint8_t *put_trap(struct listing *l, uint8_t *p, const struct hf_event *ev)
{
	const struct hf_ev_trap *trap = &ev->trap;
	bool interrupt = ev->flags & HF_EVF_ASYNC;

	if (ev->kind == HF_EVENT_TRAP_RETURN) {
		p = note(l, p, ev, "# trap-return");
	} else {
		bool arm = l->enc.stream->info.arch == HF_ARCH_ARM;
		const char *name = hf_cause_name(arm, interrupt, trap->cause);

		p = note(l, p, ev, interrupt ? "# trap interrupt" : "# trap exception");
		p = ev->flags & HF_EVF_CAUSE ? put_dec(p, " cause=", trap->cause) : hf_text_put(p, " cause=?");
		if (name && ev->flags & HF_EVF_CAUSE) {
			p = hf_text_put(hf_text_put(p, " ("), name);
			*p++ = ')';
		}
		if (ev->flags & HF_EVF_VIRTUAL)
			p = hf_text_put(p, " virtual");
		if (ev->flags & HF_EVF_VALUE)
			p = put_hex(p, " value=", trap->value);
	}
	if (ev->flags & HF_EVF_HANDLER)
		p = hf_text_put_hex16(hf_text_put(p, " -> "), trap->handler);
	if (ev->flags & HF_EVF_MODE)
		p = hf_text_put(hf_text_put(p, " mode="), hf_mode_name(ev->mode));
	return p;
}

/* What else an Arm PE is in. */
static uint8_t *put_state(uint8_t *p, unsigned state)
{
	static const char *const checks[4] = {"", " tcf=sync", " tcf=async", " tcf=asym"};

	p = hf_text_put(p, state & HF_STATE_SECURE ? " secure" : " non-secure");
	if (state & HF_STATE_SM)
		p = hf_text_put(p, " SM");
	if (state & HF_STATE_DIT)
		p = hf_text_put(p, " DIT");
	if (state & HF_STATE_SSBS)
		p = hf_text_put(p, " SSBS");
	p = hf_text_put(p, checks[(state & HF_STATE_TCF) >> 3]);
	return state & HF_STATE_ABSENT ? hf_text_put(p, " absent") : p;
}

/* What the thread calls itself, where the source says it. */
static uint8_t *put_name(const struct listing *l, uint8_t *p, const struct hf_ev_context *context)
{
	const struct hf_setup *setup = l->enc.stream->setup;
	const char *name = setup ? hf_processes_name(setup->processes, context->pid, context->tid) : NULL;

	if (!name)
		return p;
	p = hf_text_put(p, " comm=\"");
	for (; *name; name++) {
		if (*name == '"')
			*p++ = '\\';
		p = put_escaped(p, (const uint8_t *)name, 1);
	}
	*p++ = '"';
	return p;
}

static uint8_t *put_context(struct listing *l, uint8_t *p, const struct hf_event *ev)
{
	const struct hf_ev_context *context = &ev->context;
	const unsigned state = ev->fields & HF_CONTEXT_STATE ? ev->state : 0;
	/* of those that were known */
	const unsigned lost = l->state.ids & ((state & HF_STATE_NO_PID ? HF_CONTEXT_PID : 0) |
					      (state & HF_STATE_NO_TID ? HF_CONTEXT_TID : 0));
	const struct {
		uint32_t field;
		const char *key;
		uint64_t value;
	} numbers[] = {
		{HF_CONTEXT_HW, " hw=", context->hw},
		{HF_CONTEXT_PID, " pid=", context->pid},
		{HF_CONTEXT_TID, " tid=", context->tid},
		{HF_CONTEXT_ASID, " asid=", context->asid},
		{HF_CONTEXT_VMID, " vmid=", context->vmid},
	};

	p = note(l, p, ev, "# context");
	for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
		if (ev->fields & numbers[i].field)
			p = put_dec(p, numbers[i].key, numbers[i].value);
	p = lost & HF_CONTEXT_PID ? hf_text_put(p, " pid=?") : p;
	p = lost & HF_CONTEXT_TID ? hf_text_put(p, " tid=?") : p;
	if (ev->fields & HF_CONTEXT_TID)
		p = put_name(l, p, context);
	l->state.ids = (uint8_t)((l->state.ids & ~lost) | (ev->fields & (HF_CONTEXT_PID | HF_CONTEXT_TID)));
	if (ev->fields & HF_CONTEXT_MODE)
		p = hf_text_put(hf_text_put(p, " mode="), hf_mode_name(context->mode));
	if (ev->fields & HF_CONTEXT_VLEN)
		p = put_dec(p, " vlen=", (uint64_t)context->vlen * 8);
	if (ev->fields & HF_CONTEXT_ISA)
		p = hf_text_put(hf_text_put(p, " isa="), hf_isa_name(context->isa));
	return ev->fields & HF_CONTEXT_STATE ? put_state(p, ev->state) : p;
}

static uint8_t *put_time(struct listing *l, uint8_t *p, const struct hf_event *ev)
{
	p = note(l, p, ev, ev->kind == HF_EVENT_TIMESTAMP ? "# time " : "# cycles ");
	p = ev->flags & HF_EVF_NO_TIME ? hf_text_put(p, "?") : hf_text_put_dec(p, ev->time.value);
	if (ev->flags & HF_EVF_BACK)
		p = put_dec(p, " back=", ev->time.back);
	return ev->kind == HF_EVENT_CYCLES && ev->flags & HF_EVF_LATE ? hf_text_put(p, " late") : p;
}

static uint8_t *begin_text(struct listing *l, uint8_t *p, uint64_t channel)
{
	p = put_dec(hf_listing_begin(l, p, LISTING_TEXT, "# text"), " ", channel);
	l->state.run = HF_EVENT_MARKER;
	l->state.channel = channel;
	l->state.said = 0;
	return hf_text_put(p, " \"");
}

/* Goes on with the line if that is of the same channel, and not full. */
static uint8_t *put_text(struct listing *l, uint8_t *p, const struct hf_event *ev)
{
	l->state.run = HF_EVENT_MARKER;
	if (l->state.line == LISTING_TEXT && l->state.channel == ev->marker.number && l->state.said < LISTING_TEXT_MAX)
		return p;
	return begin_text(l, p, ev->marker.number);
}

/* What value, number and type of a marker say. */
static uint8_t *put_what(uint8_t *p, const struct hf_event *ev)
{
	static const char *const samples[] = {"", " asleep", " denied"}, *const watched[] = {"", " address=", " read=", " write="},
				 *const steps[] = {"", " entered", " exited", " returned"};
	const uint64_t type = ev->marker.type & 3;

	switch (ev->what) {
	case HF_MARKER_SAMPLE: return type ? hf_text_put(p, samples[type % 3]) : p;
	case HF_MARKER_WATCHPOINT: return type ? put_hex(p, watched[type], ev->marker.value) : p;
	case HF_MARKER_COUNTER: return type ? hf_text_put(p, " wrapped") : put_dec(p, " value=", ev->marker.value);
	case HF_MARKER_EXCEPTION:
	case HF_MARKER_INTERRUPT: return hf_text_put(p, steps[type]);
	case HF_MARKER_CALL:
		return ev->marker.type ? hf_text_put_hex16(hf_text_put(p, " -> "), ev->marker.type) : p;
	default: return p;
	}
}

static uint8_t *put_marker(struct listing *l, uint8_t *p, const struct hf_event *ev)
{
	const struct hf_ev_marker *marker = &ev->marker;

	if (ev->what == HF_MARKER_TEXT)
		return put_text(l, p, ev);
	p = note(l, p, ev, "# ");
	p = hf_text_put(p, ev->what == HF_MARKER_CONTEXT ? "marker context" : hf_marker_name(ev->what));
	if (ev->what == HF_MARKER_OTHER || ev->what >= HF_MARKERS) {
		p = put_dec(put_dec(p, " type=", marker->type), " number=", marker->number);
		return put_hex(p, " value=", marker->value);
	}
	if (ev->what == HF_MARKER_CONTEXT)
		p = put_hex(p, " ", marker->number);
	else if (ev->flags & HF_EVF_UNNUMBERED)
		p = hf_text_put(p, " ?");
	else if (ev->what != HF_MARKER_SAMPLE && ev->what != HF_MARKER_CALL)
		p = put_dec(p, " ", marker->number);
	if (ev->flags & HF_EVF_AT)
		p = hf_text_put_hex16(hf_text_put(p, " pc="), marker->value);
	return put_what(p, ev);
}

static uint8_t *put_transaction(struct listing *l, uint8_t *p, const struct hf_event *ev)
{
	bool head = ev->kind == HF_EVENT_TRANSACTION;

	p = put_hex(note(l, p, ev, head ? "# transaction" : "# dependency"), " id=", ev->txn.id);
	p = put_dec(p, " clock=", ev->clock);
	p = put_dec(p, " delta=", ev->txn.delta);
	if (!head)
		return p;
	p = put_dec(p, " metas=", ev->txn.meta_count);
	return put_dec(p, " metasize=", ev->txn.meta_size);
}

static uint8_t *put_opaque(struct listing *l, uint8_t *p, const struct hf_event *ev)
{
	p = note(l, p, ev, "# opaque");
	if (ev->text.offset != HF_NOWHERE)
		p = put_dec(p, " offset=", ev->text.offset);
	return put_dec(p, " bytes=", ev->size);
}

static uint8_t *put_address(uint8_t *p, uint64_t address)
{
	return address ? hf_text_put_hex16(p, address) : hf_text_put(p, "?");
}

static uint8_t *put_jump(struct listing *l, uint8_t *p, const struct hf_event *ev)
{
	p = put_address(note(l, p, ev, "# discontinuity "), ev->jump.from);
	p = put_address(hf_text_put(p, " -> "), ev->jump.to);
	return ev->flags & HF_EVF_UNTRACED ? hf_text_put(p, " untraced") : p;
}

static uint8_t *put_loss(struct listing *l, uint8_t *p, const struct hf_event *ev, const char *text)
{
	struct hf_diag diag;

	hf_event_diag(ev, &diag);
	diag.offset = HF_NOWHERE;
	p = note(l, p, ev, text);
	if (ev->loss.offset != HF_NOWHERE)
		p = put_dec(p, ev->flags & HF_EVF_FILE ? " file_offset=" : " offset=", ev->loss.offset);
	if (ev->loss.bytes)
		p = put_dec(p, " bytes=", ev->loss.bytes);
	if (ev->back)
		p = put_dec(p, " back=", ev->back);
	*p++ = ' ';
	return p + hf_diag_format(&diag, (char *)p, LISTING_ROOM / 2);
}

/* Bytes of a channel: a line ends behind a line feed, or when it is full. */
static uint8_t *put_said(struct listing *l, uint8_t *p, const uint8_t *bytes, unsigned n)
{
	for (; n; n--, bytes++) {
		if (l->state.said == LISTING_TEXT_MAX)
			p = begin_text(l, p, l->state.channel);
		if (*bytes == '"')
			*p++ = '\\';
		p = put_escaped(p, bytes, 1);
		l->state.said = *bytes == '\n' ? LISTING_TEXT_MAX : l->state.said + 1;
	}
	return p;
}

/* 64-bit words, the last one maybe shorter; the separators before them are chosen by first, odd, even. */
static uint8_t *put_words(struct listing *l, uint8_t *p, const uint8_t *bytes, unsigned n, const char *const sep[3],
			  bool minimal)
{
	for (unsigned i = 0; i < n; i += 8) {
		unsigned size = n - i < 8 ? n - i : 8;
		uint64_t v = 0;

		memcpy(&v, bytes + i, size);
		p = hf_text_put(p, sep[l->state.place]);
		p = minimal ? hf_text_put_hex(p, v) : hf_text_put_hex_width(p, v, 2 * size);
		l->state.place = l->state.place == 1 ? 2 : 1;
	}
	return p;
}

static uint8_t *put_bytes(struct listing *l, uint8_t *p, const uint8_t *bytes, unsigned n)
{
	if (l->state.place == 0 && n)
		p = hf_text_put(p, " data=");
	for (unsigned i = 0; i < n; i++)
		p = hf_text_put_hex_width(p, bytes[i], 2);
	l->state.place = l->state.place || n;
	return p;
}

/* DATA continues the head that state.run names; without one it is listed by itself. */
static uint8_t *put_data(struct listing *l, uint8_t *p, const struct hf_event *ev)
{
	static const char *const joined[3] = {"_", "_", "_"}, *const list[3] = {" meta=", ",", ","},
				 *const pairs[3] = {" ", ":", " "};
	unsigned n = ev->used < sizeof ev->data.bytes ? ev->used : sizeof ev->data.bytes;
	const uint8_t *bytes = ev->data.bytes;

	switch (l->state.run) {
	case HF_EVENT_MEM:
	case HF_EVENT_BUS:
	case HF_EVENT_REG:
		return put_words(l, p, bytes, n, joined, false);
	case HF_EVENT_TRANSLATION:
		return put_words(l, p, bytes, n, pairs, false);
	case HF_EVENT_TRAP:
	case HF_EVENT_TRAP_RETURN:
		return put_words(l, p, bytes, n, list, true);
	case HF_EVENT_TEXT:
		if (l->state.place == 0 && n)
			*p++ = ' ';
		l->state.place = l->state.place || n;
		return put_escaped(p, bytes, n);
	case HF_EVENT_MARKER:
		if (l->state.line == LISTING_TEXT)
			return put_said(l, p, bytes, n);
		return put_bytes(l, p, bytes, n);
	case HF_EVENT_TRANSACTION:
	case HF_EVENT_OPAQUE:
	case HF_EVENT_DATA:
		return put_bytes(l, p, bytes, n);
	default:
		return put_bytes(l, note(l, p, ev, "#"), bytes, n);
	}
}

uint8_t *hf_listing_put_other(struct listing *l, uint8_t *p, const struct hf_event *ev)
{
	switch (ev->kind) {
	case HF_EVENT_TRAP:
	case HF_EVENT_TRAP_RETURN: return put_trap(l, p, ev);
	case HF_EVENT_CONTEXT: return put_context(l, p, ev);
	case HF_EVENT_TIMESTAMP:
	case HF_EVENT_CYCLES: return put_time(l, p, ev);
	case HF_EVENT_MARKER: return put_marker(l, p, ev);
	case HF_EVENT_TRANSACTION:
	case HF_EVENT_DEPENDENCY: return put_transaction(l, p, ev);
	case HF_EVENT_TEXT: return note(l, p, ev, "# comment");
	case HF_EVENT_DISCONTINUITY: return put_jump(l, p, ev);
	case HF_EVENT_GAP: return put_loss(l, p, ev, "# gap");
	case HF_EVENT_DOUBT: return put_loss(l, p, ev, "# doubt");
	case HF_EVENT_NOTE: return put_loss(l, p, ev, "# note");
	case HF_EVENT_OPAQUE: return put_opaque(l, p, ev);
	case HF_EVENT_DATA: return put_data(l, p, ev);
	default: return p;
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The context that Ownership messages say, and the program that runs in it. */
#include "codecs/base/errors.h"
#include "codecs/ntrace/decoder.h"
#include "codecs/ntrace/errors.h"

void hf_ntrace_choose_program(struct hf_ntrace_dec *d)
{
	const struct hf_ntrace_state *s = &d->s;
	const struct hf_setup *setup = d->dec.stream->setup;
	const uint64_t context = s->ids & HF_CONTEXT_PID ? s->pid : HF_SETUP_NO_CONTEXT;

	d->blocks.program = hf_setup_program(setup, d->dec.hart, context, HF_MEMORY_ANY);
	d->blocks.mode = s->mode;
}

/* The mode of PROCESS, whose fields are FORMAT, PRV, V and CONTEXT (7.1). */
static uint8_t process_mode(uint64_t process)
{
	static const uint8_t modes[2][4] = {
		{HF_MODE_U, HF_MODE_S, HF_MODE_UNKNOWN, HF_MODE_M},
		{HF_MODE_VU, HF_MODE_VS, HF_MODE_UNKNOWN, HF_MODE_UNKNOWN},
	};

	return modes[process >> 4 & 1][process >> 2 & 3];
}

/* Which id PROCESS has. FORMAT 0 has none, but for units that always send it: then there is one if it is not 0. */
static uint8_t process_id(uint64_t process)
{
	switch (process & 3) {
	case 0: return process >> 5 ? HF_CONTEXT_PID : 0;
	case 2: return HF_CONTEXT_PID;
	case 3: return HF_CONTEXT_VMID;
	default: return 0;
	}
}

/* Another context has other calls. A unit that only counts them takes its returns for those of the calls before. */
static void doubt_returns(struct hf_ntrace_dec *d, uint8_t id, uint32_t now)
{
	const struct hf_ntrace_state *s = &d->s;

	if (d->params.compare_returns || !(s->ids & id) || (id == HF_CONTEXT_PID ? s->pid : s->vmid) == now ||
	    !(s->returned || d->calls.depth))
		return;
	hf_ntrace_push_loss(d, HF_EVENT_DOUBT, HF_ERR_NTRACE_RETURNS, s->message_at, 0, now);
	d->singles[d->single_count - 1].back = hf_event_back(s->since);
}

void hf_ntrace_change_context(struct hf_ntrace_dec *d)
{
	struct hf_ntrace_state *s = &d->s;
	const uint64_t process = s->owner;
	struct hf_event *ev;

	if (!s->owned)
		return;
	s->owned = 0;
	s->owner = s->owner_left = 0;
	s->mode = process_mode(process);
	doubt_returns(d, process_id(process), (uint32_t)(process >> 5));
	ev = hf_ntrace_single(d, HF_EVENT_CONTEXT);
	ev->fields = HF_CONTEXT_MODE | process_id(process);
	ev->context.mode = s->mode;
	if (ev->fields & HF_CONTEXT_PID)
		ev->context.pid = s->pid = (uint32_t)(process >> 5);
	if (ev->fields & HF_CONTEXT_VMID)
		ev->context.vmid = s->vmid = (uint32_t)(process >> 5);
	s->ids |= process_id(process);
	hf_ntrace_choose_program(d);
}

static bool is_reserved(const struct hf_ntrace_dec *d, uint64_t process)
{
	if ((process & 3) == 1)
		return true;
	/* tt-dfd: debug mode, and one of its own */
	return process_mode(process) == HF_MODE_UNKNOWN && !(d->params.dialect == HF_NTRACE_DIALECT_TT_DFD && process >> 4 & 1);
}

void hf_ntrace_own(struct hf_ntrace_dec *d, uint64_t process)
{
	struct hf_ntrace_state *s = &d->s;

	if (is_reserved(d, process)) { /* it is likelier a damaged message */
		hf_ntrace_push_loss(d, HF_EVENT_DOUBT, HF_ERR_NTRACE_VALUE, s->message_at, s->message_length, s->tcode);
		return;
	}
	/* of two at once the first takes effect too early */
	hf_ntrace_change_context(d);
	s->owned = 1;
	s->owner = process;
	s->owner_left = s->debt <= INT64_MAX ? s->debt : 0;
	if (!s->owner_left)
		hf_ntrace_change_context(d);
	if (process >> 5 > UINT32_MAX)
		hf_ntrace_push_loss(d, HF_EVENT_NOTE, HF_ERR_CONTEXT_WIDE, s->message_at, 0, process >> 5);
}

void hf_ntrace_put_trap_value(struct hf_ntrace_dec *d, uint64_t value)
{
	struct hf_event *ev = d->open_trap ? &d->singles[d->open_trap - 1] : hf_ntrace_single(d, HF_EVENT_MARKER);

	if (d->open_trap) {
		ev->flags |= HF_EVF_VALUE;
		ev->trap.value = value;
	} else {
		ev->marker.type = HF_NTRACE_TRAP_VALUE;
		ev->marker.value = value;
	}
	d->open_trap = 0;
}

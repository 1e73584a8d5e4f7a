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
	ev = hf_ntrace_single(d, HF_EVENT_CONTEXT);
	ev->fields = HF_CONTEXT_MODE;
	ev->context.mode = s->mode;
	if ((process & 3) == 2) {
		ev->fields |= HF_CONTEXT_PID;
		ev->context.pid = s->pid = (uint32_t)(process >> 5);
		s->ids |= HF_CONTEXT_PID;
	} else if ((process & 3) == 3) {
		ev->fields |= HF_CONTEXT_VMID;
		ev->context.vmid = s->vmid = (uint32_t)(process >> 5);
		s->ids |= HF_CONTEXT_VMID;
	}
	hf_ntrace_choose_program(d);
}

void hf_ntrace_own(struct hf_ntrace_dec *d, uint64_t process)
{
	struct hf_ntrace_state *s = &d->s;

	if ((process & 3) == 1 || process_mode(process) == HF_MODE_UNKNOWN) { /* reserved: it is likelier a damaged message */
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
	if ((process & 2) && process >> 5 > UINT32_MAX)
		hf_ntrace_push_loss(d, HF_EVENT_NOTE, HF_ERR_CONTEXT_WIDE, s->message_at, 0, process >> 5);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What units say beside the flow: Data Acquisition, which is what software writes to its stimulus registers, and In-Circuit
 * Trace, which is samples and events. Both are of Nexus and of units before 1.0. They stand where they came: behind the
 * instructions that messages before them proved.
 */
#include "codecs/base/bytes.h"
#include "codecs/ntrace/decoder.h"
#include "codecs/ntrace/errors.h"
#include "codecs/ntrace/nls.h"

#include <string.h>

static_assert(HF_NTRACE_BESIDE_PLANS >= 4 + (HF_NTRACE_NLS_MAX + 23) / 24, "a text fits");
static_assert(HF_NTRACE_BESIDE_PLANS >= 4 + 8, "counters fit");

static struct hf_event *tell(struct hf_ntrace_dec *d, unsigned what, uint64_t number)
{
	struct hf_event *ev = hf_ntrace_single(d, HF_EVENT_MARKER);

	ev->what = (uint16_t)what;
	ev->marker.number = number;
	return ev;
}

static void tell_time(struct hf_ntrace_dec *d, const struct hf_ntrace_message *msg)
{
	struct hf_ntrace_state *s = &d->s;

	if (!msg->has_time)
		return;
	if (hf_ntrace_has_whole_time(msg->tcode))
		s->timed = 1;
	if (s->timed || d->times == HF_NTRACE_TIMES_ABSOLUTE)
		hf_ntrace_push_time(d);
	else /* what is relative to a time that is not known */
		hf_ntrace_single(d, HF_EVENT_TIMESTAMP)->flags = HF_EVF_NO_TIME;
}

/* ---- Data Acquisition ---- */

/* The text of a word of which the program keeps only the format. */
static size_t print_word(struct hf_ntrace_dec *d, uint64_t number, uint32_t word, uint8_t *text)
{
	const struct hf_program *program =
		hf_setup_program(d->dec.stream->setup, d->dec.hart, HF_SETUP_NO_CONTEXT, HF_MEMORY_ANY);
	const char *format = NULL;
	size_t size = 0;

	if (program && program->comment)
		format = hf_ntrace_nls_find(program->comment, program->comment_size, number, &size);
	size = format ? hf_ntrace_nls_print(format, size, word, text) : 0;
	if (format && !size)
		hf_ntrace_push_loss(d, HF_EVENT_NOTE, HF_ERR_NTRACE_FORMAT, d->s.message_at, 0, number);
	return size;
}

static void tell_text(struct hf_ntrace_dec *d, const struct hf_ntrace_message *msg)
{
	const uint64_t number = msg->icnt >> 2;
	uint8_t text[HF_NTRACE_NLS_MAX];
	size_t n = 0;

	if (number && !(msg->icnt & 3))
		n = print_word(d, number, (uint32_t)msg->value, text);
	if (!n) {
		hf_put32(text, (uint32_t)msg->value);
		n = 4 - (msg->icnt & 3);
	}
	tell(d, HF_MARKER_TEXT, number)->size = (uint32_t)n;
	for (size_t at = 0; at < n; at += 24) {
		struct hf_event *ev = hf_ntrace_single(d, HF_EVENT_DATA);

		ev->used = (uint16_t)(n - at < 24 ? n - at : 24);
		memcpy(ev->data.bytes, text + at, ev->used);
	}
}

/* ---- In-Circuit Trace ---- */

/* 16 bits each, the lowest one first; high zeros are not sent. */
static void tell_counters(struct hf_ntrace_dec *d, const struct hf_ntrace_message *msg)
{
	const uint64_t values[2] = {msg->value, msg->value1};
	unsigned n = 8;

	while (n > 1 && !(values[(n - 1) / 4] >> (n - 1) % 4 * 16))
		n--;
	for (unsigned i = 0; i < n; i++)
		tell(d, HF_MARKER_COUNTER, i)->marker.value = values[i / 4] >> i % 4 * 16 & 0xffff;
}

/* Takes the address, which all later ones are relative to. False: it is relative to one that is not known. */
static bool take_address(struct hf_ntrace_dec *d, const struct hf_ntrace_message *msg, uint64_t *ret_address)
{
	struct hf_ntrace_state *s = &d->s;

	if (msg->tcode == HF_NTRACE_CIRCUIT_SYNC) {
		s->ref = 0;
		s->placed = 1;
	}
	if (!s->known && !s->placed)
		return false;
	*ret_address = s->ref = hf_ntrace_extend(&d->params, msg->src, s->ref ^ msg->value << 1);
	return true;
}

static const uint8_t kinds[16] = {[HF_NTRACE_CK_CONTROL] = HF_MARKER_CONTROL,     [HF_NTRACE_CK_TRIGGER] = HF_MARKER_TRIGGER,
				  [HF_NTRACE_CK_CALL] = HF_MARKER_CALL,	     [HF_NTRACE_CK_EXCEPTION] = HF_MARKER_EXCEPTION,
				  [HF_NTRACE_CK_INTERRUPT] = HF_MARKER_INTERRUPT, [HF_NTRACE_CK_CONTEXT] = HF_MARKER_CONTEXT,
				  [HF_NTRACE_CK_WATCHPOINT] = HF_MARKER_WATCHPOINT, [HF_NTRACE_CK_SAMPLE] = HF_MARKER_SAMPLE};

static void tell_event(struct hf_ntrace_dec *d, const struct hf_ntrace_message *msg)
{
	struct hf_ntrace_state *s = &d->s;
	const unsigned what = kinds[msg->cksrc];
	uint64_t address = 0;
	struct hf_event *ev;

	if (msg->cksrc == HF_NTRACE_CK_CONTROL && !msg->cdf) {
		tell(d, what, msg->value);
		return;
	}
	if (!take_address(d, msg, &address)) {
		hf_ntrace_push_loss(d, HF_EVENT_NOTE, HF_ERR_NTRACE_NO_SYNC, s->message_at, 0, 0);
		return;
	}
	ev = tell(d, what, msg->value1);
	ev->flags = HF_EVF_AT | (msg->cdf || what == HF_MARKER_SAMPLE || what == HF_MARKER_CALL ? 0 : HF_EVF_UNNUMBERED);
	ev->marker.value = address;
	if (msg->cksrc == HF_NTRACE_CK_CALL && msg->cdf) {
		ev->marker.number = 0;
		ev->marker.type = s->ref = hf_ntrace_extend(&d->params, msg->src, address ^ msg->value1 << 1);
	}
}

static void tell_other(struct hf_ntrace_dec *d, const struct hf_ntrace_message *msg)
{
	const uint64_t values[2] = {msg->value, msg->value1};

	for (unsigned i = 0; i <= msg->cdf; i++)
		tell(d, HF_MARKER_OTHER, msg->cksrc)->marker =
			(struct hf_ev_marker){.type = HF_NTRACE_CIRCUIT, .number = msg->cksrc, .value = values[i]};
}

/* A synchronising message of which no flow begins. */
static void tell_sample(struct hf_ntrace_dec *d, const struct hf_ntrace_message *msg)
{
	struct hf_event *ev = tell(d, HF_MARKER_SAMPLE, 0);

	ev->flags = HF_EVF_AT;
	ev->marker.value = d->s.ref = msg->address;
	d->s.placed = 1;
}

void hf_ntrace_tell(struct hf_ntrace_dec *d, const struct hf_ntrace_message *msg)
{
	tell_time(d, msg);
	if (hf_ntrace_is_sample(msg))
		tell_sample(d, msg);
	else if (msg->tcode == HF_NTRACE_DATA_ACQUISITION || msg->tcode == HF_NTRACE_AUX_ACCESS_WRITE)
		tell_text(d, msg);
	else if (msg->cksrc == HF_NTRACE_CK_COUNTERS)
		tell_counters(d, msg);
	else if (msg->cksrc == HF_NTRACE_CK_CONTROL || kinds[msg->cksrc])
		tell_event(d, msg);
	else
		tell_other(d, msg);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TSTAMP. That of a synchronising message is the time, cut to the width of the unit's counter. What that of another
 * message is depends on the unit (enum hf_ntrace_times), and the stream does not say it.
 */
#include "codecs/ntrace/decoder.h"
#include "codecs/ntrace/errors.h"

#include <stdlib.h>
#include <string.h>

/* ---- which reading fits ---- */

#define READINGS HF_NTRACE_TIMES_UNKNOWN

/* The time of a source by each reading. */
struct clock {
	uint64_t now[READINGS];
	uint64_t since;   /* damage so far when it was last known */
	uint8_t back;     /* readings by which it stepped back */
	uint8_t syncs;    /* counted up to 2 */
	bool told;        /* by a message that does not synchronise */
};

static uint64_t read_time(unsigned reading, uint64_t before, uint64_t field)
{
	return reading == HF_NTRACE_TIMES_ADD ? before + field : reading == HF_NTRACE_TIMES_XOR ? before ^ field : field;
}

static void tick(struct clock *clock, const struct hf_ntrace_message *msg, uint64_t damage)
{
	const bool sync = hf_ntrace_has_whole_time(msg->tcode), known = clock->syncs && clock->since == damage;

	if (!msg->has_time || (!sync && !known))
		return;
	for (unsigned i = 0; i < READINGS; i++) {
		const uint64_t now = sync ? msg->time : read_time(i, clock->now[i], msg->time);

		if (clock->syncs && now < clock->now[i])
			clock->back |= (uint8_t)(1u << i);
		clock->now[i] = now;
	}
	clock->since = damage;
	clock->syncs = (uint8_t)(clock->syncs + (sync && clock->syncs < 2));
	clock->told |= !sync;
}

/* The one reading by which no source that synchronised twice ever steps back. Sources by which all do are damaged. */
static uint8_t decide(const struct clock *clocks, size_t n)
{
	uint8_t found = HF_NTRACE_TIMES_UNKNOWN;

	for (size_t i = 0; i < n; i++) {
		const unsigned fits = ~(unsigned)clocks[i].back & ((1u << READINGS) - 1);
		uint8_t only;

		if (clocks[i].syncs < 2 || !clocks[i].told || !fits || (fits & (fits - 1)))
			continue;
		only = (uint8_t)__builtin_ctz(fits);
		if (found != HF_NTRACE_TIMES_UNKNOWN && found != only)
			return HF_NTRACE_TIMES_UNKNOWN;
		found = only;
	}
	return found;
}

int hf_ntrace_guess_times(const struct hf_ntrace_params *params, const uint8_t *bytes, size_t n, size_t first,
			  uint8_t *ret_times)
{
	const size_t sources = (size_t)1 << params->srcbits;
	struct clock *clocks = calloc(sources, sizeof *clocks);
	struct hf_ntrace_message msg;
	uint64_t damage = 0;
	int err = 0;

	*ret_times = HF_NTRACE_TIMES_UNKNOWN;
	if (!clocks)
		return HF_ERR_NOMEM;
	for (size_t at = first; at < n && err != HF_NOTE_END; at += msg.length) {
		msg.length = 1;
		if (hf_ntrace_is_padding(bytes[at]))
			continue;
		err = hf_ntrace_message_read(params, bytes + at, n - at, &msg);
		if (!err)
			tick(&clocks[msg.src], &msg, damage);
		damage += (err && err != HF_ERR_NTRACE_TCODE) || msg.tcode == HF_NTRACE_ERROR;
	}
	*ret_times = decide(clocks, sources);
	free(clocks);
	return 0;
}

/* ---- the time of a hart ---- */

/* The time of which a counter has these bits: it has wrapped if the time is so far behind the last one. */
static uint64_t widen(const struct hf_ntrace_dec *d, uint64_t bits)
{
	const struct hf_ntrace_state *s = &d->s;
	const uint64_t range = UINT64_C(1) << (d->params.time_width & 63);
	uint64_t time;

	if (d->params.time_width == 64 || !s->has_shown)
		return bits;
	time = (s->shown & ~(range - 1)) | (bits & (range - 1));
	return time < s->shown && s->shown - time > range / 2 ? time + range : time;
}

void hf_ntrace_keep_time(struct hf_ntrace_dec *d, const struct hf_ntrace_message *msg)
{
	struct hf_ntrace_state *s = &d->s;

	s->message_timed = msg->has_time;
	if (s->reset)
		s->has_shown = 0; /* the clock may begin again */
	if (!msg->has_time)
		return;
	if (hf_ntrace_has_whole_time(msg->tcode)) {
		s->time = widen(d, msg->time);
	} else if (d->times != HF_NTRACE_TIMES_UNKNOWN) {
		s->time = widen(d, read_time(d->times, s->time, msg->time));
	} else {
		s->message_timed = 0;
		if (s->timed && !s->untimed)
			hf_ntrace_push_loss(d, HF_EVENT_NOTE, HF_ERR_NTRACE_TIMES, s->message_at, 0, 0);
		s->untimed |= s->timed;
	}
}

void hf_ntrace_push_time(struct hf_ntrace_dec *d)
{
	struct hf_ntrace_state *s = &d->s;

	if (!s->message_timed)
		return;
	if (s->has_shown && s->time < s->shown)
		hf_ntrace_push_loss(d, HF_EVENT_NOTE, HF_ERR_NTRACE_BACKWARDS, s->message_at, 0, s->shown - s->time);
	s->has_shown = 1;
	s->shown = s->time;
	hf_ntrace_single(d, HF_EVENT_TIMESTAMP)->time.value = s->time;
}

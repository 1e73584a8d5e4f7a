/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the messages of one hart from the bytes, and hands out the planned events in batches. */
#include "codecs/base/bytes.h"
#include "codecs/ntrace/decoder.h"
#include "codecs/ntrace/errors.h"
#include "codecs/source/errors.h"

#include <stdlib.h>

/* ---- harts ---- */

static void add_hart(struct hf_ntrace_dec *d, uint32_t hart)
{
	for (size_t i = 0; i < d->hart_count; i++)
		if (d->harts[i] == hart)
			return;
	if (d->hart_count <= HF_NTRACE_HARTS_MAX)
		d->harts[d->hart_count++] = hart;
}

/* Without SRC the other harts are the trace ids that the CoreSight frames have had so far. */
static void note_ids(struct hf_ntrace_dec *d)
{
	if (d->params.srcbits || d->params.layout == HF_CORESIGHT_NONE)
		return;
	for (unsigned id = 1; id <= HF_CORESIGHT_ID_MAX; id++)
		if (d->input.pipeline.seen[id / 64] >> id % 64 & 1)
			add_hart(d, id);
}

/* Whether the message is about the flow. */
static bool is_flow(const struct hf_ntrace_message *msg)
{
	return msg->tcode != HF_NTRACE_OWNERSHIP && msg->tcode != HF_NTRACE_ERROR && !hf_ntrace_is_beside(msg) &&
	       msg->tcode < HF_NTRACE_VENDOR_FIRST;
}

/* If a SRC has so many messages, it does not come from damage. */
#define BELIEVED 8

/* A damaged SRC must not make up a hart: a source is a hart if it synchronised, or sent enough messages. */
static void note_hart(struct hf_ntrace_dec *d, const struct hf_ntrace_message *msg)
{
	uint8_t *heard = &d->heard[msg->src];
	bool enough;

	if (!d->params.srcbits || msg->src == d->dec.hart || !(is_flow(msg) || hf_ntrace_is_beside(msg)))
		return;
	enough = *heard < BELIEVED && ++*heard == BELIEVED;
	if (enough || hf_ntrace_has_whole_time(msg->tcode))
		add_hart(d, msg->src);
}

static void count_unsynced(struct hf_ntrace_state *s, const struct hf_ntrace_message *msg)
{
	if (hf_ntrace_is_sync(msg->tcode) && !hf_ntrace_is_sample(msg))
		s->unsynced = HF_NTRACE_SYNCED;
	else if (s->unsynced != HF_NTRACE_SYNCED)
		s->unsynced += is_flow(msg);
	s->beside += hf_ntrace_is_beside(msg);
}

/* At the end: reports that the hart never synchronised, or sent nothing that says anything. */
static void tell_unsynced(struct hf_ntrace_dec *d)
{
	struct hf_ntrace_state *s = &d->s;

	if (!s->unsynced && !s->beside && s->reserved)
		hf_ntrace_push_loss(d, HF_EVENT_GAP, HF_ERR_NTRACE_RESERVED, hf_ntrace_input_at(&d->input), 0, s->reserved);
	if (!s->unsynced || s->unsynced == HF_NTRACE_SYNCED)
		return;
	if (!s->lost_code)
		hf_ntrace_lose(d, HF_ERR_NTRACE_NEVER, hf_ntrace_input_at(&d->input), 0);
	s->lost_code = -HF_ERR_NTRACE_NEVER;
	s->lost_detail = s->unsynced;
}

/* ---- bytes ---- */

/* Skips bytes that belong to no message. If the trace of this hart is lost already, they are counted as lost. */
static void pass(struct hf_ntrace_dec *d, uint64_t n)
{
	if (d->s.lost_code)
		d->s.lost_bytes += n;
	d->input.pipeline.pos += (uint32_t)n;
}

/* Skips the bytes up to the end of a message. */
static void skip(struct hf_ntrace_dec *d, const uint8_t *bytes, size_t n)
{
	size_t i = 0;

	while (i < n && (bytes[i] & 3) != 3)
		i++;
	if (i < n) {
		d->s.skip = 0;
		i++;
	}
	pass(d, i);
}

static bool pad(struct hf_ntrace_dec *d, const uint8_t *bytes, size_t n)
{
	size_t i = 0;

	while (i < n && hf_ntrace_is_padding(bytes[i]))
		i++;
	d->input.pipeline.pos += (uint32_t)i;
	return i != 0;
}

/* ---- messages ---- */

/* Skips a damaged message and reports it. Even if its SRC is another hart's, this hart is in doubt: the damage may have
 * swallowed a message of this hart. */
static void put_damage(struct hf_ntrace_dec *d, const struct hf_ntrace_message *msg, int code, const uint8_t *bytes,
		       size_t n)
{
	struct hf_ntrace_state *s = &d->s;
	const uint64_t at = hf_ntrace_input_at(&d->input), length = code == HF_ERR_NTRACE_CUT ? n : msg->length;
	const bool ours = !d->params.srcbits || !msg->has_src || msg->src == d->dec.hart;
	const uint64_t detail = code == HF_ERR_NTRACE_LONG ? length : msg->tcode;

	if (code == HF_ERR_NTRACE_TCODE) {
		/* It may be a damaged message about the flow. */
		if (ours && s->known)
			hf_ntrace_push_loss(d, HF_EVENT_DOUBT, code, at, length, detail);
		s->reserved += ours;
		pass(d, length);
		return;
	}
	if (ours)
		hf_ntrace_lose(d, code, at, detail);
	else if (s->known && code != HF_ERR_NTRACE_CUT)
		hf_ntrace_push_loss(d, HF_EVENT_DOUBT, code, at, length, detail);
	pass(d, length);
	if (code == HF_ERR_NTRACE_MSEO || code == HF_ERR_NTRACE_LONG)
		s->skip = (bytes[length - 1] & 3) != 3;
}

static void put_message(struct hf_ntrace_dec *d, const struct hf_ntrace_message *msg)
{
	struct hf_ntrace_state *s = &d->s;

	note_hart(d, msg);
	s->message_at = hf_ntrace_input_at(&d->input);
	d->input.pipeline.pos += msg->length;
	if (d->params.srcbits && msg->src != d->dec.hart)
		return;
	count_unsynced(s, msg);
	hf_ntrace_start(d, msg);
}

/* ---- parts ---- */

/* At the beginning of the stream, or of a part of it, nothing is known. */
static void begin_part(struct hf_ntrace_dec *d)
{
	struct hf_ntrace_state *s = &d->s;

	*s = (struct hf_ntrace_state){
		.place = s->place, .hinted = s->hinted, .reserved = s->reserved, .beside = s->beside, .begun = s->begun,
		.unsynced = s->unsynced, .untimed = s->untimed, .stopped = 1, .mode = HF_MODE_UNKNOWN};
	hf_return_stack_clear(&d->calls);
	if (d->params.wrapped)
		s->skip = 1;
	hf_ntrace_choose_program(d);
}

/* Goes to the first part, from this one on, that may hold bytes of this hart. If there is none, the stream ends. */
static void find_part(struct hf_ntrace_dec *d)
{
	struct hf_ntrace_input *in = &d->input;

	for (;;) {
		const uint32_t owner = hf_ntrace_input_hart(in);

		if (owner == HF_SETUP_ANY || owner == d->dec.hart)
			return;
		add_hart(d, owner);
		if (!hf_ntrace_input_has_next(in))
			break;
		hf_ntrace_input_start(in, in->part + 1, in->id);
	}
	d->s.phase = HF_NTRACE_PHASE_END;
}

/* All of a part has been read. */
static void end_part(struct hf_ntrace_dec *d)
{
	struct hf_ntrace_state *s = &d->s;
	struct hf_ntrace_input *in = &d->input;
	const bool last = in->pipeline.stop == HF_PIPELINE_ERROR || !hf_ntrace_input_has_next(in);
	if (last)
		tell_unsynced(d);
	hf_ntrace_push_gap(d);
	hf_ntrace_change_context(d);
	begin_part(d);
	if (last) {
		s->phase = HF_NTRACE_PHASE_END;
		return;
	}
	hf_ntrace_input_start(in, in->part + 1, in->id);
	find_part(d);
}

/* There are no more bytes here. */
static void stop(struct hf_ntrace_dec *d)
{
	struct hf_ntrace_state *s = &d->s;
	struct hf_pipeline *pipeline = &d->input.pipeline;
	const uint64_t at = hf_ntrace_input_at(&d->input);

	if (pipeline->stop == HF_PIPELINE_BREAK) {
		/* A message may go on behind the break, but not if there is no trace before it. */
		if (pipeline->broken_code == HF_ERR_CORESIGHT_FOUND)
			hf_ntrace_push_loss(d, HF_EVENT_NOTE, HF_ERR_CORESIGHT_FOUND,
					    hf_ntrace_input_offset(&d->input, hf_pipeline_break(pipeline)), pipeline->left_out, 0);
		if (s->known)
			hf_ntrace_lose(d, HF_ERR_CORESIGHT_BREAK, at, 0);
		if (s->lost_code)
			s->skip = 1;
		hf_pipeline_resume(pipeline);
		return;
	}
	if (pipeline->stop == HF_PIPELINE_FRAME)
		hf_ntrace_push_loss(d, HF_EVENT_NOTE, HF_ERR_CORESIGHT_CUT,
				    pipeline->frames.locked ? at : hf_ntrace_input_offset(&d->input, pipeline->frames.lost),
				    pipeline->frames.locked ? 0 : pipeline->frames.offset - pipeline->frames.lost, 0);
	end_part(d);
}

/* Adds a note if srcbits or word_bytes of the description does not fit the messages, and another value does. */
static void hint(struct hf_ntrace_dec *d)
{
	const struct hf_ntrace_stream *stream = (const struct hf_ntrace_stream *)d->dec.stream;

	d->s.hinted = 1;
	if (stream->guessed_srcbits != d->params.srcbits)
		hf_ntrace_push_loss(d, HF_EVENT_NOTE, HF_ERR_NTRACE_SRCBITS, hf_ntrace_input_at(&d->input), 0,
				    stream->guessed_srcbits);
	if (stream->guessed_word_bytes != d->params.word_bytes)
		hf_ntrace_push_loss(d, HF_EVENT_NOTE, HF_ERR_NTRACE_WORDS, hf_ntrace_input_at(&d->input), 0,
				    stream->guessed_word_bytes);
}

/* Reads messages, and the bytes between them, until a message has to be executed in pieces. */
static int fetch(struct hf_ntrace_dec *d)
{
	struct hf_ntrace_state *s = &d->s;
	struct hf_ntrace_message msg;
	const uint8_t *bytes;
	size_t n;
	int err;

	if (!s->hinted)
		hint(d);
	for (unsigned i = 0; i < 64 && s->phase == HF_NTRACE_PHASE_FETCH && d->plan_count + HF_NTRACE_BESIDE_PLANS < HF_NTRACE_PLANS; i++) {
		err = hf_ntrace_input_look(&d->input, &bytes, &n);
		if (err)
			return err;
		if (n == 0) {
			stop(d);
			continue;
		}
		if (s->skip) {
			skip(d, bytes, n);
			continue;
		}
		if (pad(d, bytes, n))
			continue;
		err = hf_ntrace_message_read(&d->params, bytes, n, &msg);
		if (err)
			put_damage(d, &msg, err > 0 ? HF_ERR_NTRACE_CUT : err, bytes, n);
		else
			put_message(d, &msg);
	}
	return 0;
}

/* ---- batches ---- */

/* The most blocks of the program that one piece may ask for. */
#define BLOCKS (HF_NTRACE_PIECE + 1)

static bool has_room(const struct hf_ntrace_dec *d)
{
	return d->plan_count + HF_NTRACE_PIECE_PLANS <= HF_NTRACE_PLANS && d->planned < HF_NTRACE_BATCH &&
	       hf_walk_blocks_have_room(&d->blocks, BLOCKS);
}

/* The message with the value of a trap comes right behind that of the trap, and Ownership between them. */
static bool awaits_value(const struct hf_ntrace_dec *d)
{
	return d->open_trap && d->s.phase == HF_NTRACE_PHASE_FETCH && d->plan_count + HF_NTRACE_BESIDE_PLANS < HF_NTRACE_PLANS;
}

/* Plans events until there are enough, or the stream ends. A batch ends between two pieces. */
static int fill(struct hf_ntrace_dec *d)
{
	int err = 0;

	d->before = d->s;
	hf_return_stack_copy(&d->calls_before, &d->calls);
	d->given = 0;
	d->plan_count = d->plan_at = d->plan_used = 0;
	d->planned = 0;
	d->single_count = 0;
	d->open_trap = 0;
	if (!hf_walk_blocks_have_room(&d->blocks, BLOCKS))
		hf_walk_blocks_reset(&d->blocks);
	while (!err && d->s.phase != HF_NTRACE_PHASE_END && (has_room(d) || awaits_value(d))) {
		if (d->s.phase == HF_NTRACE_PHASE_FETCH)
			err = fetch(d);
		else
			hf_ntrace_run(d);
	}
	d->s.place = hf_ntrace_input_place(&d->input);
	note_ids(d);
	return err;
}

/* Gives planned events, at most max. */
static size_t give(struct hf_ntrace_dec *d, struct hf_event *ev, size_t max)
{
	size_t n = 0;

	while (n < max && d->plan_at < d->plan_count) {
		const struct hf_ntrace_plan *plan = &d->plans[d->plan_at];
		const uint32_t left = plan->count - d->plan_used;
		const uint32_t take = left < max - n ? left : (uint32_t)(max - n);

		for (uint32_t i = 0; i < take; i++)
			ev[n + i] = plan->ev[d->plan_used + i];
		n += take;
		d->plan_used += take;
		if (d->plan_used < plan->count)
			break;
		if (plan->taken && take) {
			ev[n - 1].flags = HF_EVF_TAKEN;
			ev[n - 1].insn.target = plan->target;
		}
		d->plan_at++;
		d->plan_used = 0;
	}
	d->given += n;
	return n;
}

/* ---- the decoder ---- */

static void fini(struct hf_dec *dec)
{
	struct hf_ntrace_dec *d = (struct hf_ntrace_dec *)dec;

	hf_ntrace_input_fini(&d->input);
	hf_walk_blocks_fini(&d->blocks);
}

/* Sets up the walk; the program is chosen later, with the context. */
static int init_walk(struct hf_ntrace_dec *d)
{
	const struct hf_walk_rules rules = hf_ntrace_rules(&d->params);
	const uint32_t limit = d->params.implicit_return ? d->params.return_depth : 0;
	int err = hf_walk_blocks_init(&d->blocks, &rules, hf_setup_code_size(d->dec.stream->setup), BLOCKS);

	d->blocks.isa = d->params.xlen == 32 ? HF_ISA_RV32 : HF_ISA_RV64;
	d->blocks.mask = d->params.xlen == 32 ? UINT32_MAX : UINT64_MAX;
	hf_return_stack_init(&d->calls, d->calls_room[0], HF_NTRACE_STACK_MAX, limit);
	hf_return_stack_init(&d->calls_before, d->calls_room[1], HF_NTRACE_STACK_MAX, limit);
	d->calls.bytes_max = d->calls_before.bytes_max = limit > HF_NTRACE_STACK ? HF_NTRACE_STACK_BYTES : 0;
	return err;
}

static int init(struct hf_dec *dec, struct hf_src *src)
{
	struct hf_ntrace_dec *d = (struct hf_ntrace_dec *)dec;
	const struct hf_stream *stream = dec->stream;
	uint8_t id;
	int err = hf_ntrace_params_read(stream->setup, dec->hart, &d->params, NULL);

	id = d->params.srcbits ? ((const struct hf_ntrace_stream *)stream)->id : (uint8_t)dec->hart;
	if (!err)
		err = hf_ntrace_input_init(&d->input, stream->setup, &d->params, src, id);
	if (!err)
		err = init_walk(d);
	if (err)
		return err;
	d->times = d->params.times != HF_NTRACE_TIMES_UNKNOWN ? d->params.times :
								((const struct hf_ntrace_stream *)stream)->guessed_times;
	d->harts[d->hart_count++] = dec->hart;
	begin_part(d);
	find_part(d);
	d->s.place = hf_ntrace_input_place(&d->input);
	return 0;
}

static int next(struct hf_dec *dec, struct hf_event *ev, size_t max, size_t *ret_n)
{
	struct hf_ntrace_dec *d = (struct hf_ntrace_dec *)dec;

	while (*ret_n < max) {
		int err;

		*ret_n += give(d, ev + *ret_n, max - *ret_n);
		if (*ret_n == max || d->s.phase == HF_NTRACE_PHASE_END)
			break;
		err = fill(d);
		if (err) {
			dec->diag = d->input.pipeline.reader.diag;
			return *ret_n ? 0 : err;
		}
	}
	if (*ret_n)
		return 0;
	if (d->input.pipeline.reader.err == 0)
		return HF_NOTE_END;
	dec->diag = d->input.pipeline.reader.diag;
	return d->input.pipeline.reader.err;
}

#define FIELD(member, max) HF_FIELD_ROW(struct hf_ntrace_state, member, max)

static const struct hf_field_row fields[] = {
	FIELD(place.part, UINT32_MAX),
	FIELD(place.entry.at, INT64_MAX),
	FIELD(place.entry.frame, INT64_MAX),
	FIELD(place.entry.before, UINT8_MAX),
	FIELD(hinted, 1),
	FIELD(phase, HF_NTRACE_PHASES - 1),
	FIELD(skip, 1),
	FIELD(known, 1),
	FIELD(stopped, 1),
	FIELD(begun, 1),
	FIELD(history, 1),
	FIELD(timed, 1),
	FIELD(mode, HF_MODE_COUNT - 1),
	FIELD(ids, HF_CONTEXT_PID | HF_CONTEXT_VMID),
	FIELD(pid, UINT32_MAX),
	FIELD(vmid, UINT32_MAX),
	FIELD(owned, 1),
	FIELD(owner, UINT64_MAX),
	FIELD(owner_left, INT64_MAX),
	FIELD(pc, UINT64_MAX),
	FIELD(ref, UINT64_MAX),
	FIELD(debt, UINT64_MAX),
	FIELD(time, UINT64_MAX),
	FIELD(message_at, INT64_MAX),
	FIELD(message_length, HF_NTRACE_MESSAGE_MAX),
	FIELD(tcode, HF_NTRACE_TCODES - 1),
	FIELD(btype, 3),
	FIELD(message_timed, 1),
	FIELD(reset, 1),
	FIELD(pattern, UINT32_MAX),
	FIELD(hist, UINT32_MAX),
	FIELD(repeats, HF_NTRACE_RUN_MAX),
	FIELD(left, INT64_MAX),
	FIELD(straight, INT64_MAX),
	FIELD(unproven, INT64_MAX),
	FIELD(lost_back, UINT32_MAX),
	FIELD(address, UINT64_MAX),
	FIELD(last_tcode, HF_NTRACE_TCODES - 1),
	FIELD(last_btype, 3),
	FIELD(last_icnt, UINT32_MAX),
	FIELD(last_hist, UINT32_MAX),
	FIELD(last_address, UINT64_MAX),
	FIELD(lost_code, UINT32_MAX),
	FIELD(lost_at, INT64_MAX),
	FIELD(lost_bytes, UINT64_MAX),
	FIELD(lost_detail, UINT64_MAX),
	FIELD(reserved, UINT64_MAX),
	FIELD(beside, UINT64_MAX),
	FIELD(placed, 1),
	FIELD(unsynced, UINT64_MAX),
	FIELD(untimed, 1),
	FIELD(has_shown, 1),
	FIELD(returned, 1),
	FIELD(shown, UINT64_MAX),
	FIELD(since, INT64_MAX),
};

/* False for a state that no decoder could have saved. The code relies on this check. */
static bool is_valid(const struct hf_ntrace_state *s)
{
	if (s->hist == 0 && s->phase != HF_NTRACE_PHASE_FETCH && s->phase != HF_NTRACE_PHASE_END)
		return false;
	if (s->phase == HF_NTRACE_PHASE_HISTORY && (s->hist < 2 || s->pattern < 2))
		return false;
	return s->phase != HF_NTRACE_PHASE_COUNT || !s->repeats || s->pattern != 1;
}

static uint64_t state(struct hf_dec *dec, struct hf_fields *f)
{
	struct hf_ntrace_dec *d = (struct hf_ntrace_dec *)dec;
	const bool between = d->plan_at == d->plan_count;
	struct hf_ntrace_state s = {0};

	if (!f->loading)
		s = between ? d->s : d->before;
	HF_FIELD_ROWS(f, fields, &s);
	hf_fields_require(f, hf_err_is_code(-(int64_t)s.lost_code));
	hf_return_stack_visit(f->loading || between ? &d->calls : &d->calls_before, f);
	hf_fields_require(f, is_valid(&s));
	if (!f->loading)
		return between ? 0 : d->given;
	if (!f->err)
		hf_fields_fail(f, hf_ntrace_input_seek(&d->input, &s.place));
	if (f->err)
		return 0;
	d->s = s;
	d->plan_count = d->plan_at = 0;
	hf_ntrace_choose_program(d);
	return 0;
}

static uint64_t offset(const struct hf_dec *dec)
{
	return hf_ntrace_input_at(&((const struct hf_ntrace_dec *)dec)->input);
}

static const uint32_t *harts(const struct hf_dec *dec, size_t *ret_n)
{
	const struct hf_ntrace_dec *d = (const struct hf_ntrace_dec *)dec;

	*ret_n = d->hart_count;
	return d->harts;
}

/* The ids as of the last event given. The state may be ahead of it, because of planned events. */
static void begin(const struct hf_dec *dec, struct hf_event *ret_context, uint64_t *ret_record)
{
	const struct hf_ntrace_dec *d = (const struct hf_ntrace_dec *)dec;

	ret_context->fields = d->before.ids;
	ret_context->context.pid = d->before.pid;
	ret_context->context.vmid = d->before.vmid;
	for (uint32_t i = 0; i < d->plan_at; i++) {
		const struct hf_event *ev = d->plans[i].ev;

		if (ev->kind != HF_EVENT_CONTEXT)
			continue;
		if (ev->fields & HF_CONTEXT_PID)
			ret_context->context.pid = ev->context.pid;
		if (ev->fields & HF_CONTEXT_VMID)
			ret_context->context.vmid = ev->context.vmid;
		ret_context->fields |= ev->fields & (HF_CONTEXT_PID | HF_CONTEXT_VMID);
	}
	*ret_record = 0;
}

const struct hf_dec_ops hf_ntrace_dec_ops = {
	.size = sizeof(struct hf_ntrace_dec),
	.init = init,
	.fini = fini,
	.next = next,
	.state = state,
	.offset = offset,
	.harts = harts,
	.harts_max = HF_NTRACE_HARTS_MAX,
	.begin = begin,
};

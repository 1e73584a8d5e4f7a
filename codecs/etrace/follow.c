/* SPDX-License-Identifier: Apache-2.0 */
/* The layer's life, its packets in order, its list and its states. */
#include "codecs/etrace/follow.h"

#include "codecs/etrace/errors.h"

#include <string.h>

/* ---- a life ---- */

static void forget_blocks(struct hf_etrace_follow *f)
{
	hf_walk_blocks_reset(&f->blocks);
	f->blocks.rules.pairs = f->report.modes & HF_ETRACE_SIJUMP;
	f->full = false;
	f->cur = NULL;
}

int hf_etrace_follow_reset(struct hf_etrace_follow *f)
{
	int err;

	f->s = (struct hf_etrace_follow_state){
		.flags = f->s.flags & HF_ETRACE_ENDED, .privilege = 3, .unsynced = f->s.unsynced};
	f->cur = NULL;
	f->full = true;
	err = hf_etrace_report_reset(&f->report);
	hf_etrace_choose_program(f);
	return err;
}

int hf_etrace_follow_clear(struct hf_etrace_follow *f)
{
	int err;

	f->head = f->committed = f->tail = f->trap = f->final = 0;
	f->synced = f->split = false;
	err = hf_etrace_follow_reset(f);
	forget_blocks(f);
	return err;
}

static int init_blocks(struct hf_etrace_follow *f)
{
	const struct hf_etrace_params *given = &f->report.given;
	const unsigned xlen = hf_etrace_xlen(f->setup, f->hart, given);
	const struct hf_walk_rules rules = {
		.xlen = hf_etrace_isa(given, xlen),
		.absolute = true,
		.x1_alone = !given->link_x5,
	};
	int err = hf_walk_blocks_init(&f->blocks, &rules, hf_setup_code_size(f->setup), 1);

	f->blocks.mask = hf_etrace_address_mask(given);
	f->blocks.isa = xlen == 32 ? HF_ISA_RV32 : HF_ISA_RV64;
	return err;
}

int hf_etrace_follow_init(struct hf_etrace_follow *f, const struct hf_setup *setup, uint32_t hart)
{
	int err = hf_etrace_params_read(setup, hart, &f->report.given, NULL);

	f->setup = setup;
	f->hart = hart;
	if (!err)
		err = init_blocks(f);
	return err ? err : hf_etrace_follow_reset(f);
}

void hf_etrace_follow_fini(struct hf_etrace_follow *f)
{
	hf_walk_blocks_fini(&f->blocks);
	hf_etrace_report_fini(&f->report);
}

/* ---- the list ---- */

void hf_etrace_commit(struct hf_etrace_follow *f)
{
	if (f->trap && f->tail > HF_ETRACE_LIST / 2)
		hf_etrace_settle_trap(f, NULL);
	f->committed = f->trap ? f->trap - 1 : f->tail;
}

void hf_etrace_compact(struct hf_etrace_follow *f)
{
	const uint32_t n = f->head;

	if (n < HF_ETRACE_LIST / 4 || f->s.phase != HF_ETRACE_IDLE)
		return;
	memmove(f->list, f->list + n, (f->tail - n) * sizeof *f->list);
	f->head = 0;
	f->committed -= n;
	f->tail -= n;
	f->final -= n < f->final ? n : f->final;
	f->trap -= f->trap ? n : 0;
}

/* ---- packets ---- */

/* A packet that does not fit. A synchronisation that the walk did not reach is still one. */
static int fail(struct hf_etrace_follow *f, int code, uint64_t detail)
{
	const struct hf_etrace_packet *pkt = &f->report.pkt;
	const bool sync = pkt->format == 3 && pkt->subformat == HF_ETRACE_SYNC && f->s.phase == HF_ETRACE_FOLLOW;

	if (hf_err_class(code) == HF_CLASS_nomem)
		return code;
	hf_etrace_lose(f, code, detail);
	if (!sync)
		return 0;
	f->s.gap_bytes -= f->s.size;
	return hf_etrace_resync(f);
}

bool hf_etrace_follow_is_ready(struct hf_etrace_follow *f)
{
	if (f->full)
		forget_blocks(f);
	if (f->s.phase != HF_ETRACE_IDLE)
		return false;
	if (!f->cur && hf_etrace_has(f, HF_ETRACE_HELD) && !hf_etrace_locate(f) && !f->full)
		hf_etrace_lose(f, HF_ERR_ETRACE_NO_CODE, f->s.pc);
	return !f->full;
}

int hf_etrace_follow_go_on(struct hf_etrace_follow *f)
{
	int err = 0;

	while (!err && f->s.phase != HF_ETRACE_IDLE) {
		uint64_t detail;

		err = hf_etrace_walk(f, &detail);
		if (err == HF_NOTE_END) {
			f->split = true;
			f->cur = NULL;
			err = 0;
			break;
		}
		err = err ? fail(f, err, detail) : hf_etrace_finish(f);
	}
	hf_etrace_commit(f);
	return err;
}

/* Only the low bits of a time are sent: a smaller value than before means that they wrapped once. */
static void note_time(struct hf_etrace_follow *f, uint64_t timestamp)
{
	const struct hf_etrace_params *p = &f->report.given;
	const unsigned bits = p->framing == HF_ETRACE_FRAMING_PULP ? 64
			      : p->timestamp_bytes		   ? 8u * p->timestamp_bytes
								   : 16;
	const uint64_t mask = bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
	uint64_t time = (f->s.time & ~mask) | timestamp;

	if (bits < 64 && time < f->s.time)
		time += mask + 1;
	if (time != f->s.time && (hf_etrace_has(f, HF_ETRACE_STARTED) || f->s.phase == HF_ETRACE_ENTER))
		hf_etrace_add_time(f, time);
	f->s.time = time;
}

/* A packet was read, or could not be. */
static void count_unsynced(struct hf_etrace_follow *f, bool read)
{
	const struct hf_etrace_packet *pkt = &f->report.pkt;
	const bool started = hf_etrace_has(f, HF_ETRACE_STARTED) || f->s.phase != HF_ETRACE_IDLE;

	if (f->s.unsynced == HF_ETRACE_SYNCED || (read && hf_etrace_is_support(pkt)))
		return;
	if (started || (read && pkt->format == 3 && pkt->subformat == HF_ETRACE_SYNC))
		f->s.unsynced = HF_ETRACE_SYNCED;
	else
		f->s.unsynced++;
}

int hf_etrace_follow_take(struct hf_etrace_follow *f, const struct hf_etrace_message *msg)
{
	uint64_t detail;
	int err = hf_etrace_dispatch(f, msg, &detail);

	count_unsynced(f, err >= 0);
	if (err < 0)
		err = fail(f, err, detail);
	if (!err && msg->has_timestamp)
		note_time(f, msg->timestamp);
	return err ? err : hf_etrace_follow_go_on(f);
}

void hf_etrace_follow_lose(struct hf_etrace_follow *f, int code)
{
	hf_etrace_lose(f, code, 0);
	hf_etrace_commit(f);
}

/* At the end: a source without a synchronisation has nothing else to show. */
static void tell_unsynced(struct hf_etrace_follow *f)
{
	struct hf_etrace_follow_state *s = &f->s;

	if (!s->unsynced || s->unsynced == HF_ETRACE_SYNCED)
		return;
	if (!s->gap_code) {
		s->gap_offset = f->behind;
		s->gap_bytes = 0;
	}
	s->gap_code = -HF_ERR_ETRACE_NEVER;
	s->gap_detail = s->unsynced;
}

void hf_etrace_follow_stop(struct hf_etrace_follow *f, bool end)
{
	if (end)
		tell_unsynced(f);
	hf_etrace_close(f);
}

/* ---- states ---- */

#define FIELD(member, max) HF_FIELD_ROW(struct hf_etrace_follow_state, member, max)

static const struct hf_field_row fields[] = {
	FIELD(pc, UINT64_MAX), FIELD(prev_address, UINT64_MAX), FIELD(context, UINT64_MAX), FIELD(next_epc, UINT64_MAX),
	FIELD(gap_offset, UINT64_MAX), FIELD(gap_bytes, UINT64_MAX), FIELD(gap_detail, UINT64_MAX),
	FIELD(unsynced, UINT64_MAX), FIELD(time, UINT64_MAX), FIELD(steps, UINT64_MAX), FIELD(unproven, UINT64_MAX),
	FIELD(gap_back, UINT32_MAX), FIELD(prev_irets, UINT32_MAX),
	FIELD(gap_code, UINT32_MAX), FIELD(privilege, UINT8_MAX), FIELD(phase, HF_ETRACE_ENTER), FIELD(adjacent, 4),
	FIELD(prev_end, HF_WALK_ENDS - 1), FIELD(entering, 2), FIELD(flags, HF_ETRACE_FLAGS), FIELD(reported, 1)};

void hf_etrace_follow_visit(struct hf_etrace_follow *f, struct hf_fields *fields_of)
{
	const bool loading = fields_of->loading;
	bool pause;

	HF_FIELD_ROWS(fields_of, fields, &f->s);
	hf_fields_require(fields_of, hf_err_is_code(-(int64_t)f->s.gap_code));
	hf_etrace_report_visit(&f->report, fields_of);
	pause = f->s.phase != HF_ETRACE_IDLE;
	hf_fields_require(fields_of, pause == (f->s.entering != 0) && (pause || f->report.outcomes.count <= 1));
	if (!loading || fields_of->err)
		return;
	hf_etrace_choose_program(f);
	forget_blocks(f);
}

int hf_etrace_follow_reread(struct hf_etrace_follow *f, const struct hf_etrace_message *msg)
{
	struct hf_etrace_packet *pkt = &f->report.pkt;
	const uint8_t phase = f->s.phase;
	bool fits;

	if (hf_etrace_report_read(&f->report, msg->payload, msg->length))
		return HF_ERR_STATE;
	if (pkt->format != 3)
		fits = phase == HF_ETRACE_INFER || phase == HF_ETRACE_FOLLOW;
	else if (pkt->subformat == HF_ETRACE_SYNC)
		fits = phase == HF_ETRACE_ENTER || phase == HF_ETRACE_FOLLOW;
	else if (pkt->subformat == HF_ETRACE_TRAP)
		fits = phase == HF_ETRACE_ENTER;
	else
		fits = phase == HF_ETRACE_INFER && pkt->subformat == HF_ETRACE_SUPPORT;
	if (hf_etrace_is_index(pkt) && phase == HF_ETRACE_FOLLOW)
		pkt->has_address = true;
	f->split = true;
	return fits ? 0 : HF_ERR_STATE;
}

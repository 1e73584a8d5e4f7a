/* SPDX-License-Identifier: Apache-2.0 */
/* What each packet does to the decoder (1.1.1, chapter 11). */
#include "codecs/etrace/decoder.h"

static void clear(struct hf_etrace_dec *d, unsigned flags)
{
	d->core.flags &= (uint16_t)~flags;
}

static bool has(const struct hf_etrace_dec *d, unsigned flag)
{
	return d->core.flags & flag;
}

static void forget_outcomes(struct hf_etrace_dec *d)
{
	d->core.bits = d->core.predicted = 0;
	d->core.nbits = d->core.against = 0;
}

/* ---- losses ---- */

static void open_gap(struct hf_etrace_dec *d, int code, uint64_t detail)
{
	struct hf_etrace_core *core = &d->core;

	clear(d, HF_ETRACE_ANEW);
	if (!core->gap_code) {
		core->gap_code = (uint32_t)-code;
		core->gap_offset = d->msg.offset;
		core->gap_detail = detail;
		core->gap_bytes = 0;
	}
	core->gap_bytes += d->msg.size;
}

static void close_gap(struct hf_etrace_dec *d)
{
	struct hf_etrace_core *core = &d->core;
	const struct hf_event ev = {
		.kind = HF_EVENT_GAP,
		.size = core->gap_code,
		.loss = {.offset = core->gap_offset, .bytes = core->gap_bytes, .detail = core->gap_detail},
	};

	if (core->gap_code)
		hf_etrace_add(d, &ev);
	core->gap_code = 0;
}

/* Back to where the packet began: what it made of the program is not believed. */
static void roll_back(struct hf_etrace_dec *d)
{
	if (d->split) {
		d->cur = NULL;
		clear(d, HF_ETRACE_HELD);
		return;
	}
	d->tail = d->mark;
	d->cur = d->start;
	d->index = d->open = d->start_index;
	d->core.bits = d->start_bits;
	d->core.nbits = d->start_nbits;
	d->core.predicted = d->core.against = 0;
}

void hf_etrace_lose(struct hf_etrace_dec *d, int code, uint64_t detail)
{
	hf_etrace_settle_trap(d, NULL);
	if (has(d, HF_ETRACE_STARTED) || d->core.phase != HF_ETRACE_IDLE) {
		if (d->core.phase != HF_ETRACE_IDLE)
			roll_back(d);
		hf_etrace_release(d, NULL);
	}
	d->release = d->tail;
	open_gap(d, code, detail);
	forget_outcomes(d);
	d->core.phase = HF_ETRACE_IDLE;
	d->core.entering = 0;
	d->cur = NULL;
	d->core.flags &= HF_ETRACE_CONTEXTED;
}

void hf_etrace_stop(struct hf_etrace_dec *d)
{
	const bool started = has(d, HF_ETRACE_STARTED);

	hf_etrace_settle_trap(d, NULL);
	hf_etrace_release(d, NULL);
	close_gap(d);
	forget_outcomes(d);
	d->core.flags = started ? HF_ETRACE_ENDED : d->core.flags & HF_ETRACE_ENDED;
}

/* ---- context ---- */

void hf_etrace_choose_program(struct hf_etrace_dec *d)
{
	const uint64_t context = has(d, HF_ETRACE_CONTEXTED) ? d->core.context : HF_SETUP_NO_CONTEXT;

	hf_etrace_flow_set(&d->flow, hf_setup_program(d->dec.stream->setup, d->dec.hart, context, HF_MEMORY_ANY),
			   d->core.modes & HF_ETRACE_SIJUMP);
}

static void note(struct hf_etrace_dec *d, int code, uint64_t detail)
{
	const struct hf_event ev = {
		.kind = HF_EVENT_NOTE,
		.size = (uint32_t)-code,
		.loss = {.offset = d->msg.offset, .detail = detail},
	};

	hf_etrace_add(d, &ev);
}

/* True if another program is walked from here on. */
static bool set_context(struct hf_etrace_dec *d)
{
	const struct hf_program *before = d->flow.program;
	const struct hf_event ev = {
		.kind = HF_EVENT_CONTEXT,
		.size = HF_CONTEXT_PID,
		.context.pid = (uint32_t)d->pkt.context,
	};

	if (!d->params.context_width || (has(d, HF_ETRACE_CONTEXTED) && d->core.context == d->pkt.context))
		return false;
	/* That it is 0 from the start, as where nobody sets it, goes without saying. */
	if (has(d, HF_ETRACE_CONTEXTED) || d->pkt.context)
		hf_etrace_add(d, &ev);
	if (d->pkt.context > UINT32_MAX)
		note(d, HF_ERR_CONTEXT_WIDE, d->pkt.context);
	d->core.context = d->pkt.context;
	d->core.flags |= HF_ETRACE_CONTEXTED;
	hf_etrace_choose_program(d);
	return d->flow.program != before;
}

static void add_time(struct hf_etrace_dec *d, uint64_t value)
{
	const struct hf_event ev = {.kind = HF_EVENT_TIMESTAMP, .time.value = value};

	hf_etrace_add(d, &ev);
}

/* ---- formats 0, 1 and 2 ---- */

static void append_outcomes(struct hf_etrace_dec *d)
{
	struct hf_etrace_core *core = &d->core;
	const struct hf_etrace_packet *pkt = &d->pkt;

	if (pkt->format == 1 || (pkt->format == 0 && pkt->subformat == HF_ETRACE_INDEX)) {
		core->bits |= (uint64_t)pkt->branch_map << core->nbits;
		core->nbits = (uint8_t)(core->nbits + hf_etrace_outcomes(pkt));
	} else if (pkt->format == 0) {
		core->predicted = (uint64_t)pkt->branch_count + 31;
		core->against = pkt->branch_fmt != HF_ETRACE_ADDRESS;
	}
}

/* trap_reporting = figure: the address of the packet before was final although nothing says so. */
static bool is_final(const struct hf_etrace_dec *d)
{
	const struct hf_etrace_block *b = d->cur;

	return d->params.figure && b && d->index + 1u == b->count &&
	       (b->end == HF_ETRACE_END_INDIRECT || b->end == HF_ETRACE_END_TRAP_RETURN) &&
	       (has(d, HF_ETRACE_INFERRED) || has(d, HF_ETRACE_FINAL));
}

static int take_report(struct hf_etrace_dec *d)
{
	struct hf_etrace_core *core = &d->core;
	const struct hf_etrace_packet *pkt = &d->pkt;
	const bool final = is_final(d);

	if (!has(d, HF_ETRACE_STARTED)) {
		open_gap(d, HF_ERR_ETRACE_UNSYNCED, 0);
		return 0;
	}
	if (!d->cur)
		return HF_ERR_ETRACE_PATH;
	if (pkt->format == 0 && pkt->subformat != HF_ETRACE_INDEX && pkt->branch_count > HF_ETRACE_PREDICTED_MAX - 31)
		return HF_ERR_ETRACE_WALK;
	if (!has(d, HF_ETRACE_INFERRED)) /* else they count from where that address is found */
		core->irets = 0;
	append_outcomes(d);
	if (pkt->has_address) {
		const uint64_t base = core->modes & HF_ETRACE_FULL_ADDRESS ? 0 : core->base;

		core->base = core->target = (base + hf_etrace_unshift(&d->params, pkt->address)) & d->flow.mask;
	}
	clear(d, HF_ETRACE_SUSPECT | HF_ETRACE_FINAL | HF_ETRACE_AFTER_TRAP);
	if (final) {
		clear(d, HF_ETRACE_INFERRED);
		core->irets = 0;
		core->flags |= HF_ETRACE_SUSPECT;
	}
	if (has(d, HF_ETRACE_INFERRED)) {
		core->phase = HF_ETRACE_INFER;
		return 0;
	}
	return hf_etrace_begin_follow(d);
}

/* An outcome that is left is of the branch held back: it stands by itself from here on. */
static void settle_outcome(struct hf_etrace_dec *d)
{
	uint64_t pc;
	bool taken;

	if (!d->core.predicted && !d->core.against)
		return;
	hf_etrace_successor(d, &pc, &taken);
	forget_outcomes(d);
	d->core.bits = !taken;
	d->core.nbits = 1;
}

static void finish_report(struct hf_etrace_dec *d)
{
	struct hf_etrace_core *core = &d->core;

	settle_outcome(d);
	core->reported = true;
	if (d->params.figure && d->pkt.updiscon)
		core->flags |= HF_ETRACE_FINAL;
	if (d->params.jtc_all && d->pkt.has_address && (core->modes & HF_ETRACE_JUMP_TARGET_CACHE)) {
		uint64_t *entry = &d->tables.cache[core->base >> d->params.iaddress_lsb & d->tables.cache_mask];

		d->tables.cache_used += *entry == HF_ETRACE_CACHE_EMPTY;
		*entry = core->base;
	}
}

/* ---- synchronisation ---- */

/* Where the flow goes on is not where it came from. */
static void add_discontinuity(struct hf_etrace_dec *d, uint64_t to)
{
	struct hf_etrace_core *core = &d->core;
	const bool known = has(d, HF_ETRACE_ENDED_AT);
	const struct hf_event ev = {
		.kind = HF_EVENT_DISCONTINUITY,
		.flags = HF_EVF_UNTRACED,
		.jump = {.from = known ? hf_etrace_full(&d->flow, core->prev_address) : 0,
			 .to = hf_etrace_full(&d->flow, to)},
	};

	if (has(d, HF_ETRACE_ENDED) && !(known && core->prev_address == to))
		hf_etrace_add(d, &ev);
	clear(d, HF_ETRACE_ENDED | HF_ETRACE_ENDED_AT);
}

/* Without regard to what came before: the walk stands before address. */
static void enter(struct hf_etrace_dec *d, uint64_t address)
{
	struct hf_etrace_core *core = &d->core;

	forget_outcomes(d);
	close_gap(d);
	add_discontinuity(d, address);
	core->pc = core->target = address;
	core->privilege = d->pkt.privilege;
	core->phase = HF_ETRACE_ENTER;
	core->entering = 1;
	core->prev_end = HF_ETRACE_END_PLAIN;
	d->cur = NULL;
	set_context(d);
	/* All that is in the list now stays, even if there is no code at address. */
	d->mark = d->tail;
	d->start = NULL;
}

static bool is_branch_at(const struct hf_etrace_dec *d, uint64_t pc)
{
	struct hf_event ev;

	return hf_etrace_flow_insn(&d->flow, pc, &ev) && ev.insn.flow == HF_FLOW_BRANCH;
}

static int take_sync(struct hf_etrace_dec *d)
{
	struct hf_etrace_core *core = &d->core;
	const uint64_t address = hf_etrace_unshift(&d->params, d->pkt.address);

	clear(d, HF_ETRACE_INFERRED | HF_ETRACE_SUSPECT | HF_ETRACE_FINAL | HF_ETRACE_AFTER_TRAP);
	core->irets = 0;
	if (!has(d, HF_ETRACE_STARTED) || has(d, HF_ETRACE_TRAP0) || !d->cur) {
		hf_etrace_settle_trap(d, &address);
		enter(d, address);
		return 0;
	}
	if (is_branch_at(d, address))
		core->bits |= (uint64_t)d->pkt.branch << core->nbits++;
	core->target = address;
	core->phase = HF_ETRACE_FOLLOW;
	return 0;
}

static int take_trap(struct hf_etrace_dec *d)
{
	struct hf_etrace_core *core = &d->core;
	uint64_t address = hf_etrace_unshift(&d->params, d->pkt.address);

	/* behind an announced loss it may be what tracing starts with */
	if (!d->pkt.thaddr && core->gap_code && core->gap_code != (uint32_t)-HF_ERR_ETRACE_LOST) {
		open_gap(d, HF_ERR_ETRACE_UNSYNCED, 0);
		return 0;
	}
	if (!d->pkt.has_address && !hf_etrace_vector(d, &address))
		return HF_ERR_ETRACE_VECTOR;
	clear(d, HF_ETRACE_INFERRED);
	close_gap(d);
	/* The handler of a trap that was reported alone is where the next one came. */
	if (has(d, HF_ETRACE_NEXT_EPC))
		hf_etrace_settle_trap(d, &core->next_epc);
	else
		hf_etrace_settle_trap(d, has(d, HF_ETRACE_TRAP0) && !d->pkt.thaddr ? &address : NULL);
	if (has(d, HF_ETRACE_ENDED) && d->pkt.thaddr)
		add_discontinuity(d, address);
	hf_etrace_trap(d);
	forget_outcomes(d);
	clear(d, HF_ETRACE_SUSPECT | HF_ETRACE_FINAL | HF_ETRACE_AFTER_TRAP | HF_ETRACE_TRAP0);
	core->irets = 0;
	if (!d->pkt.thaddr) {
		core->flags |= HF_ETRACE_TRAP0;
		return 0;
	}
	hf_etrace_settle_trap(d, &address);
	enter(d, address);
	return 0;
}

/* 2.1: tables that outlive synchronisation are not known to who did not see tracing start. */
static void doubt_tables(struct hf_etrace_dec *d)
{
	const uint32_t learning = HF_ETRACE_IMPLICIT_RETURN | HF_ETRACE_BRANCH_PREDICTION | HF_ETRACE_JUMP_TARGET_CACHE;
	const struct hf_event ev = {
		.kind = HF_EVENT_DOUBT, .size = (uint32_t)-HF_ERR_ETRACE_TABLES, .loss.offset = d->msg.offset};

	if ((d->core.modes & HF_ETRACE_RESYNC_DISABLED) && (d->core.modes & learning) && !has(d, HF_ETRACE_ANEW))
		hf_etrace_add(d, &ev);
}

static void finish_sync(struct hf_etrace_dec *d)
{
	struct hf_etrace_core *core = &d->core;

	if (d->finished == HF_ETRACE_ENTER && d->cur->end == HF_ETRACE_END_BRANCH && d->cur->count == 1) {
		core->bits = d->pkt.branch;
		core->nbits = 1;
	}
	core->privilege = d->pkt.privilege;
	core->base = core->target;
	/* 2.1: where nothing is synchronised but the start, what was learned stays */
	if (!has(d, HF_ETRACE_STARTED) || !(core->modes & HF_ETRACE_RESYNC_DISABLED))
		hf_etrace_tables_reset(&d->tables);
	doubt_tables(d);
	clear(d, HF_ETRACE_TRAP0 | HF_ETRACE_INFERRED | HF_ETRACE_NEXT_EPC);
	core->flags |= HF_ETRACE_STARTED;
	if (d->pkt.subformat == HF_ETRACE_TRAP)
		core->flags |= HF_ETRACE_AFTER_TRAP;
	if (d->params.time_width)
		add_time(d, d->pkt.time);
	d->synced = true;
	if (set_context(d)) { /* the same address, but of another program */
		d->cur = NULL;
		core->adjacent = 0;
	}
}

/* ---- context and support ---- */

static void take_context(struct hf_etrace_dec *d)
{
	if (!has(d, HF_ETRACE_INFERRED))
		d->core.irets = 0;
	d->core.privilege = d->pkt.privilege;
	if (d->params.time_width)
		add_time(d, d->pkt.time);
	set_context(d);
}

/* Tracing ends behind the instruction held back. */
static void end_trace(struct hf_etrace_dec *d)
{
	struct hf_etrace_core *core = &d->core;
	bool taken;

	if (!has(d, HF_ETRACE_STARTED))
		return;
	core->flags |= HF_ETRACE_ENDED;
	if (hf_etrace_successor(d, &core->prev_address, &taken))
		core->flags |= HF_ETRACE_ENDED_AT;
	hf_etrace_release(d, NULL);
	forget_outcomes(d);
}

/* Modes and sizes as the packet has them. */
static int take_options(struct hf_etrace_dec *d)
{
	const uint32_t modes = hf_etrace_support_modes(&d->params, &d->pkt);
	const struct hf_etrace_params before = d->params;

	d->full |= (modes ^ d->core.modes) & HF_ETRACE_SIJUMP;
	d->core.modes = modes;
	/* the last accesses may come behind the packet that ends both traces */
	if (hf_etrace_support_has_data(&d->params) && d->pkt.enable)
		d->core.data_on = d->pkt.denable;
	hf_etrace_support_params(&d->params, &d->pkt);
	hf_etrace_choose_program(d);
	if (memcmp(&before, &d->params, sizeof before) == 0)
		return 0;
	return hf_etrace_make_tables(d);
}

static int finish_support(struct hf_etrace_dec *d)
{
	const uint8_t status = d->pkt.qual_status;
	const bool first = !has(d, HF_ETRACE_STARTED) && !d->core.gap_code;
	int err;

	if (status == HF_ETRACE_ENDED_REP || status == HF_ETRACE_ENDED_UPD)
		end_trace(d);
	err = take_options(d);
	if (err)
		return err;
	if (status == HF_ETRACE_TRACE_LOST) {
		hf_etrace_lose(d, HF_ERR_ETRACE_LOST, 0);
		d->core.gap_bytes = 0; /* they never were in the stream */
	} else if (status != HF_ETRACE_NO_CHANGE) {
		hf_etrace_settle_trap(d, NULL); /* its handler was not traced */
		clear(d, HF_ETRACE_STARTED | HF_ETRACE_INFERRED | HF_ETRACE_TRAP0 | HF_ETRACE_NEXT_EPC);
	}
	if (first || status != HF_ETRACE_NO_CHANGE)
		d->core.flags |= HF_ETRACE_ANEW;
	return 0;
}

static int take_support(struct hf_etrace_dec *d)
{
	if (!has(d, HF_ETRACE_INFERRED))
		d->core.irets = 0;
	if (d->pkt.qual_status == HF_ETRACE_ENDED_UPD && has(d, HF_ETRACE_INFERRED) && d->cur) {
		d->core.phase = HF_ETRACE_INFER;
		return 0;
	}
	return finish_support(d);
}

/* ---- all of them ---- */

int hf_etrace_finish(struct hf_etrace_dec *d)
{
	if (d->pkt.format == 3 && d->pkt.subformat == HF_ETRACE_SUPPORT)
		return finish_support(d);
	if (d->pkt.format == 3)
		finish_sync(d);
	else
		finish_report(d);
	return 0;
}

int hf_etrace_resync(struct hf_etrace_dec *d)
{
	return take_sync(d);
}

int hf_etrace_dispatch(struct hf_etrace_dec *d, uint64_t *ret_detail)
{
	int err = hf_etrace_packet_read(&d->params, d->core.modes, d->msg.payload, d->msg.length, &d->pkt);

	d->start = d->cur;
	d->start_index = d->index;
	d->start_bits = d->core.bits;
	d->start_nbits = d->core.nbits;
	d->mark = d->tail;
	d->split = false;
	d->core.steps = 0;
	*ret_detail = 0;
	if (err)
		return err;
	*ret_detail = d->pkt.format == 0 && d->pkt.subformat == HF_ETRACE_INDEX ? d->pkt.index : 0;
	if (d->pkt.format != 3)
		return take_report(d);
	switch (d->pkt.subformat) {
	case HF_ETRACE_SYNC:
		return take_sync(d);
	case HF_ETRACE_TRAP:
		return take_trap(d);
	case HF_ETRACE_CONTEXT:
		take_context(d);
		return 0;
	default:
		return take_support(d);
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
/* From one packet to the next through the program (1.1.1, chapter 11). */
#include "codecs/etrace/decoder.h"

#define NOWHERE UINT64_MAX /* odd, so never the address of an instruction */

static inline uint64_t outcomes(const struct hf_etrace_core *core)
{
	return core->nbits + core->predicted + core->against;
}

static inline bool is_branch(const struct hf_etrace_block *b, uint32_t index)
{
	return b->end == HF_ETRACE_END_BRANCH && index + 1u == b->count;
}

static inline bool is_discontinuity(uint8_t end)
{
	return end == HF_ETRACE_END_INDIRECT || end == HF_ETRACE_END_TRAP_RETURN;
}

static inline bool has_irets(const struct hf_etrace_dec *d)
{
	return d->core.modes & HF_ETRACE_IRET_EXT;
}

/* No outcome is left but that of the branch at address. */
static bool all_consumed(const struct hf_etrace_dec *d, uint64_t address)
{
	const uint64_t left = outcomes(&d->core);
	struct hf_event ev;

	return left == 0 ? !(hf_etrace_flow_insn(&d->flow, address, &ev) && ev.insn.flow == HF_FLOW_BRANCH) :
	       left == 1 && hf_etrace_flow_insn(&d->flow, address, &ev) && ev.insn.flow == HF_FLOW_BRANCH;
}

/*
 * Whether the return that is held back is the one whose target a packet reports although there is a prediction: by the
 * depth of the stack or, in 2.1, by the number of returns since the last branch.
 */
static bool is_reported_return(const struct hf_etrace_dec *d)
{
	const struct hf_etrace_core *core = &d->core;

	if (core->phase == HF_ETRACE_INFER)
		return (core->flags & HF_ETRACE_IRREPORTED) &&
		       core->prev_irets == (has_irets(d) ? core->irets : d->tables.depth);
	if (core->phase != HF_ETRACE_FOLLOW || !d->pkt.irreport)
		return false;
	if (!has_irets(d))
		return d->pkt.irdepth == d->tables.depth;
	return d->pkt.irdepth == core->irets && all_consumed(d, core->target);
}

/* Whether more implicit returns belong to the packet than led to instruction index of d->cur, itself one included. */
static bool has_returns_left(const struct hf_etrace_dec *d, uint32_t index)
{
	const struct hf_etrace_block *b = d->cur;
	const bool itself = (b->flags & HF_ETRACE_BLOCK_RETURN) && index + 1u == b->count && d->tables.depth;

	return d->pkt.irreport && d->pkt.irdepth > d->core.irets + itself;
}

/* ---- branches ---- */

static inline uint8_t *counter_of(const struct hf_etrace_dec *d, uint64_t pc)
{
	return &d->tables.predictor[pc >> d->params.iaddress_lsb & d->tables.predictor_mask];
}

/* Two bits: the upper is the prediction, the lower the last outcome; 1 is taken. */
static inline void update(struct hf_etrace_dec *d, uint64_t pc, bool taken)
{
	uint8_t *counter = counter_of(d, pc);

	if (*counter >> 1 != (*counter & 1))
		*counter = (uint8_t)(taken << 1 | taken);
	else
		*counter = (uint8_t)((*counter & 2) | taken);
	d->tables.predicted = true;
}

/* The oldest outcome; there is one. */
static inline bool peek(const struct hf_etrace_dec *d, uint64_t pc)
{
	const struct hf_etrace_core *core = &d->core;

	if (core->nbits)
		return !(core->bits & 1);
	return (*counter_of(d, pc) >> 1) == (core->predicted != 0);
}

static inline bool consume(struct hf_etrace_dec *d, uint64_t pc)
{
	struct hf_etrace_core *core = &d->core;
	const bool taken = peek(d, pc);

	if (core->nbits) {
		core->bits >>= 1;
		core->nbits--;
	} else if (core->predicted) {
		core->predicted--;
	} else {
		core->against = 0;
	}
	if (core->modes & HF_ETRACE_BRANCH_PREDICTION)
		update(d, pc, taken);
	core->irets = 0;
	return taken;
}

/* ---- the list ---- */

enum hf_mode hf_etrace_mode_of(uint8_t privilege)
{
	static const uint8_t modes[8] = {HF_MODE_U, HF_MODE_S, HF_MODE_UNKNOWN, HF_MODE_M,
					 HF_MODE_D, HF_MODE_VU, HF_MODE_VS, HF_MODE_UNKNOWN};

	return privilege < 8 ? (enum hf_mode)modes[privilege] : HF_MODE_UNKNOWN;
}

static inline void add_stretch(struct hf_etrace_dec *d, const struct hf_etrace_block *b, uint32_t to, bool taken,
			       uint64_t target)
{
	union hf_etrace_item *item = &d->list[d->tail];

	item->kind = HF_EVENT_NONE;
	item->flags = taken ? HF_EVF_TAKEN : 0;
	item->mode = (uint8_t)hf_etrace_mode_of(d->core.privilege);
	item->from = (uint8_t)d->open;
	item->to = (uint8_t)to;
	item->block = b;
	item->target = target;
	d->tail += d->open < to;
	d->open = to;
}

static void add_trap_return(struct hf_etrace_dec *d, uint64_t to)
{
	const uint8_t privilege = d->pkt.format == 3 && d->pkt.subformat == HF_ETRACE_SYNC ? d->pkt.privilege
											    : d->core.privilege;
	const struct hf_event ev = {
		.kind = HF_EVENT_TRAP_RETURN,
		.flags = HF_EVF_HANDLER | HF_EVF_MODE,
		.small = (uint16_t)hf_etrace_mode_of(privilege),
		.trap.handler = hf_etrace_full(&d->flow, to),
	};

	hf_etrace_add(d, &ev);
}

bool hf_etrace_successor(const struct hf_etrace_dec *d, uint64_t *ret_pc, bool *ret_taken)
{
	const struct hf_etrace_block *b = d->cur;

	*ret_taken = false;
	if (!b)
		return false;
	if (d->index + 1u < b->count) {
		*ret_pc = b->insn[d->index + 1].insn.pc & d->flow.mask;
		return true;
	}
	*ret_pc = b->behind;
	switch (b->end) {
	case HF_ETRACE_END_BRANCH:
		if (!outcomes(&d->core))
			return false;
		*ret_taken = peek(d, b->last);
		*ret_pc = *ret_taken ? b->target : b->behind;
		return true;
	case HF_ETRACE_END_JUMP:
		*ret_taken = true;
		*ret_pc = b->target;
		return true;
	case HF_ETRACE_END_INDIRECT:
		if (!(b->flags & HF_ETRACE_BLOCK_RETURN) || !(d->core.modes & HF_ETRACE_IMPLICIT_RETURN) ||
		    !d->tables.depth)
			return false;
		*ret_taken = true;
		*ret_pc = hf_etrace_stack_top(&d->tables);
		return true;
	case HF_ETRACE_END_TRAP_RETURN:
		return false;
	default:
		return true;
	}
}

void hf_etrace_release(struct hf_etrace_dec *d, const uint64_t *target)
{
	struct hf_etrace_block *b = d->cur;
	uint64_t to = 0;
	bool taken;

	d->core.flags &= (uint16_t)~HF_ETRACE_HELD;
	if (!b)
		return;
	if (target && d->index + 1u == b->count && is_discontinuity(b->end)) {
		taken = true;
		to = *target;
	} else {
		hf_etrace_successor(d, &to, &taken);
	}
	add_stretch(d, b, d->index + 1, taken, hf_etrace_full(&d->flow, to));
	if (d->index + 1u == b->count && b->end == HF_ETRACE_END_BRANCH && !outcomes(&d->core))
		d->list[d->tail - 1].flags = HF_EVF_OPEN;
	if (taken && b->end == HF_ETRACE_END_TRAP_RETURN && d->index + 1u == b->count)
		add_trap_return(d, to);
	d->cur = NULL;
}

bool hf_etrace_locate(struct hf_etrace_dec *d)
{
	const uint64_t before = (d->core.pc - d->core.adjacent) & d->flow.mask;
	struct hf_etrace_block *b = d->core.adjacent ? hf_etrace_flow_block(&d->flow, before, &d->full) : NULL;

	d->index = d->open = 0;
	if (b && b->count > 1 && b->insn[0].insn.size == d->core.adjacent)
		d->index = d->open = 1;
	else if (!d->full)
		b = hf_etrace_flow_block(&d->flow, d->core.pc, &d->full);
	d->cur = b;
	return b;
}

/* ---- one step ---- */

static inline void push(struct hf_etrace_dec *d, uint64_t address)
{
	struct hf_etrace_tables *t = &d->tables;
	const uint32_t mask = t->stack_size - 1, top = (t->top - 1) & mask;

	if (!t->stack_size)
		return;
	if (t->depth && t->stack[top] == address && t->repeat[top] < hf_etrace_repeat_max(&d->params, d->core.modes)) {
		t->repeat[top]++;
		return;
	}
	t->repeat[t->top & mask] = 0;
	t->stack[t->top++ & mask] = address;
	t->depth += t->depth < t->stack_size;
}

static inline void pop(struct hf_etrace_tables *t)
{
	const uint32_t top = (t->top - 1) & (t->stack_size - 1);

	if (t->repeat[top]) {
		t->repeat[top]--;
		return;
	}
	t->depth--;
	t->top--;
}

/* A return or another uninferable jump, or a trap return. */
static int resolve_indirect(struct hf_etrace_dec *d, const struct hf_etrace_block *b, uint64_t *ret_pc,
			    bool *ret_explicit)
{
	struct hf_etrace_core *core = &d->core;
	struct hf_etrace_tables *t = &d->tables;
	const bool following = core->phase == HF_ETRACE_FOLLOW, reported = is_reported_return(d);
	uint64_t foretold = NOWHERE;

	*ret_explicit = false;
	if ((b->flags & HF_ETRACE_BLOCK_RETURN) && (core->modes & HF_ETRACE_IMPLICIT_RETURN) && t->depth) {
		*ret_pc = foretold = hf_etrace_stack_top(t);
		if (!reported || has_irets(d)) {
			pop(t);
			core->irets++;
		}
		if (!reported)
			return 0;
	}
	if (following && !d->pkt.has_address)
		return HF_ERR_ETRACE_PATH;
	*ret_pc = following ? core->target : core->prev_address;
	*ret_explicit = true;
	if ((b->flags & HF_ETRACE_BLOCK_KNOWN) && *ret_pc != b->target)
		return HF_ERR_ETRACE_PATH;
	if (b->end == HF_ETRACE_END_INDIRECT && (core->modes & HF_ETRACE_JUMP_TARGET_CACHE) && !d->params.jtc_all &&
	    !(has_irets(d) && *ret_pc == foretold)) {
		uint64_t *entry = &t->cache[*ret_pc >> d->params.iaddress_lsb & t->cache_mask];

		t->cache_used += *entry == HF_ETRACE_CACHE_EMPTY;
		*entry = *ret_pc;
	}
	return 0;
}

/*
 * Whether the walk runs in a circle that nothing can end: no outcome was used and nothing popped since, so it goes on as
 * it went. What calls push matters only to a packet that waits for a depth.
 */
static inline bool is_circle(struct hf_etrace_dec *d, const struct hf_etrace_block *b)
{
	if (d->seen == b)
		return true;
	if (++d->brent == d->brent_power) {
		d->brent_power *= 2;
		d->brent = 0;
		d->seen = b;
	}
	return false;
}

static inline void forget_circle(struct hf_etrace_dec *d)
{
	d->seen = NULL;
	d->brent = 0;
	d->brent_power = 16;
}

/* The last instruction of d->cur: where it goes. The walk then stands before entering there. */
static inline int resolve(struct hf_etrace_dec *d)
{
	struct hf_etrace_block *b = d->cur;
	struct hf_etrace_core *core = &d->core;
	struct hf_etrace_block **link = &b->next;
	uint64_t next = b->behind;
	bool taken = false, explicit = false;
	int err;

	switch (b->end) {
	case HF_ETRACE_END_BRANCH:
		if (!outcomes(core))
			return HF_ERR_ETRACE_PATH;
		taken = consume(d, b->last);
		if (taken) {
			next = b->target;
			link = &b->taken;
		}
		d->core.steps = 0;
		forget_circle(d);
		break;
	case HF_ETRACE_END_JUMP:
		taken = true;
		next = b->target;
		link = &b->taken;
		if (is_circle(d, b))
			return HF_ERR_ETRACE_WALK;
		break;
	case HF_ETRACE_END_INDIRECT:
	case HF_ETRACE_END_TRAP_RETURN:
		err = resolve_indirect(d, b, &next, &explicit);
		if (err)
			return err;
		taken = true;
		link = &b->taken;
		forget_circle(d);
		break;
	default:
		break;
	}
	if ((b->flags & HF_ETRACE_BLOCK_CALL) && (core->modes & HF_ETRACE_IMPLICIT_RETURN)) {
		push(d, b->behind);
		if (d->pkt.irreport && d->tables.depth <= d->pkt.irdepth)
			forget_circle(d);
	}
	add_stretch(d, b, b->count, taken, hf_etrace_full(&d->flow, next));
	if (b->end == HF_ETRACE_END_TRAP_RETURN)
		add_trap_return(d, next);
	core->pc = next;
	core->prev_end = b->end;
	core->entering = 1 + explicit;
	d->cur = NULL;
	/* The successor is usually known. The program may have changed since (a context), so it is compared too. */
	if (*link && (*link)->pc == next && (*link)->program == d->flow.program)
		d->cur = *link;
	else if ((d->cur = hf_etrace_flow_block(&d->flow, next, &d->full)))
		*link = d->cur;
	return 0;
}

/* ---- from one phase to the next ---- */

int hf_etrace_begin_follow(struct hf_etrace_dec *d)
{
	d->core.phase = HF_ETRACE_FOLLOW;
	if (d->pkt.format != 0 || d->pkt.subformat != HF_ETRACE_INDEX)
		return 0;
	d->core.target = d->core.base = d->tables.cache[d->pkt.index & d->tables.cache_mask];
	d->pkt.has_address = true;
	return d->core.base == HF_ETRACE_CACHE_EMPTY ? HF_ERR_ETRACE_INDEX : 0;
}

/* ---- where to stop ---- */

/* The address at which this packet may end without an uninferable jump to it. */
static inline uint64_t stop_at(const struct hf_etrace_dec *d)
{
	const struct hf_etrace_packet *pkt = &d->pkt;

	if (d->core.phase != HF_ETRACE_FOLLOW || !pkt->has_address || pkt->updiscon)
		return NOWHERE;
	return pkt->format == 0 && pkt->subformat == HF_ETRACE_INDEX ? NOWHERE : d->core.target;
}

/* ---- the second reading ---- */

/*
 * By the specification an address without flags is not that of the instruction behind an implicit return: it lies
 * further on. The reference encoder of 1.1.1 reports such instructions all the same. So the place is remembered, and is
 * the end after all if the walk that goes on does not fit.
 */
static void remember(struct hf_etrace_dec *d)
{
	if (d->second)
		return;
	d->second = d->cur;
	d->second_core = d->core;
	d->second_tail = d->tail;
	hf_etrace_tables_copy(&d->spare, &d->tables);
}

/* The packet ends here, as far as it tells: a jump to its address may still come. */
static void infer(struct hf_etrace_dec *d)
{
	struct hf_etrace_core *core = &d->core;

	core->flags &= (uint16_t)~HF_ETRACE_IRREPORTED;
	core->flags |= HF_ETRACE_INFERRED | (d->pkt.irreport ? HF_ETRACE_IRREPORTED : 0);
	core->prev_irets = d->pkt.irdepth;
	core->prev_address = core->target;
}

static void recall(struct hf_etrace_dec *d)
{
	const struct hf_etrace_tables tables = d->tables;

	d->tables = d->spare;
	d->spare = tables;
	d->core = d->second_core;
	d->cur = d->second;
	d->tail = d->second_tail;
	d->open = 0;
	infer(d);
}

/* core.pc is the target: whether it is the end, behind an instruction of that kind. */
static bool is_end(struct hf_etrace_dec *d, uint32_t index, uint8_t prev_end)
{
	struct hf_etrace_core *core = &d->core;
	const struct hf_etrace_packet *pkt = &d->pkt;

	if (outcomes(core) != is_branch(d->cur, index))
		return false;
	if (pkt->format == 3)
		return pkt->privilege == core->privilege || prev_end == HF_ETRACE_END_TRAP_RETURN;
	if (has_irets(d) && has_returns_left(d, index))
		return false;
	if (pkt->notify)
		return true;
	if (!has_irets(d) && pkt->irreport && pkt->irdepth != d->tables.depth)
		return false;
	if (is_discontinuity(prev_end)) {
		remember(d);
		return false;
	}
	infer(d);
	return true;
}

/* The packet's walk is over at instruction index of d->cur. */
static void end_at(struct hf_etrace_dec *d, uint32_t index)
{
	const struct hf_etrace_block *b = d->cur;

	if (index > d->open)
		add_stretch(d, b, index, false, 0);
	d->index = index;
	d->core.pc = b->insn[index].insn.pc & d->flow.mask;
	d->core.adjacent = index ? b->insn[index - 1].insn.size : 0;
	d->finished = d->core.phase;
	d->core.phase = HF_ETRACE_IDLE;
	d->core.steps = 0; /* a packet may end each time round a loop */
	forget_circle(d);
}

/* A block has been entered by its first instruction. HF_NOTE_END: the walk is over. */
static inline int arrive(struct hf_etrace_dec *d)
{
	struct hf_etrace_core *core = &d->core;
	const struct hf_etrace_block *b = d->cur;
	const uint8_t entering = core->entering;

	core->entering = 0;
	core->flags |= HF_ETRACE_HELD;
	d->index = d->open = 0;
	if (core->phase == HF_ETRACE_ENTER)
		return HF_NOTE_END;
	if (entering == 2) {
		forget_circle(d);
		d->core.steps = 0;
		if (core->phase == HF_ETRACE_INFER) {
			core->flags &= (uint16_t)~HF_ETRACE_INFERRED;
			core->irets = 0;
			return d->pkt.format == 3 ? (int)HF_NOTE_END : hf_etrace_begin_follow(d);
		}
		return outcomes(core) > is_branch(b, 0) ? HF_ERR_ETRACE_PATH : (int)HF_NOTE_END;
	}
	if (core->phase == HF_ETRACE_FOLLOW && !d->pkt.has_address)
		return is_branch(b, 0) && outcomes(core) == 1 ? (int)HF_NOTE_END : 0;
	return core->pc == stop_at(d) && is_end(d, 0, core->prev_end) ? (int)HF_NOTE_END : 0;
}

/* The instructions of d->cur behind d->index, none of which jumps before the last. HF_NOTE_END: the walk is over. */
static inline int run(struct hf_etrace_dec *d)
{
	const struct hf_etrace_block *b = d->cur;
	const uint64_t pc = b->insn[d->index].insn.pc & d->flow.mask, stop = stop_at(d);
	const uint32_t last = b->count - 1u;

	d->core.steps += b->count - d->index;
	if (d->core.steps > HF_ETRACE_WALK_MAX)
		return HF_ERR_ETRACE_WALK;
	if (d->index == last)
		return 0;
	if (stop - pc - 1 < b->last - pc)
		for (uint32_t i = d->index + 1; i <= last; i++)
			if ((b->insn[i].insn.pc & d->flow.mask) == stop && is_end(d, i, HF_ETRACE_END_PLAIN)) {
				end_at(d, i);
				return HF_NOTE_END;
			}
	d->index = last;
	if (d->core.phase == HF_ETRACE_FOLLOW && !d->pkt.has_address && is_branch(b, last) && outcomes(&d->core) == 1) {
		end_at(d, last);
		return HF_NOTE_END;
	}
	return 0;
}

static int walk(struct hf_etrace_dec *d)
{
	struct hf_etrace_core *core = &d->core;

	for (;;) {
		int err;

		if (core->entering) {
			if (d->tail > HF_ETRACE_LIST - HF_ETRACE_LIST_ROOM)
				return HF_NOTE_END;
			if (!d->cur && !(d->cur = hf_etrace_flow_block(&d->flow, core->pc, &d->full)))
				return d->full ? (int)HF_NOTE_END : HF_ERR_ETRACE_NO_CODE;
			err = arrive(d);
			if (err == HF_NOTE_END)
				end_at(d, 0);
			if (err)
				return err < 0 ? err : 0;
		}
		err = run(d);
		if (err)
			return err < 0 ? err : 0;
		err = resolve(d);
		if (err)
			return err;
	}
}

int hf_etrace_walk(struct hf_etrace_dec *d, uint64_t *ret_detail)
{
	int err;

	d->second = NULL;
	forget_circle(d);
	err = walk(d);
	if (err < 0 && d->second) {
		recall(d);
		end_at(d, 0);
		err = 0;
	}
	*ret_detail = hf_etrace_full(&d->flow, d->core.pc);
	return err;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Executes messages on the program. I-CNT and HIST of a message are about the instructions since the message before it:
 * these are walked first. Then its address, or the end of tracing, takes effect. References are to N-Trace 1.0.
 */
#include "codecs/base/errors.h"
#include "codecs/isa/riscv.h"
#include "codecs/ntrace/decoder.h"
#include "codecs/ntrace/errors.h"

#include <assert.h>

/*
 * A walk by HIST alone does not end on code without branches. After this many halfwords without a branch it is not on
 * the code that was traced, but in a loop of jumps.
 */
#define STRAIGHT_MAX (UINT64_C(1) << 18)

/* What was executed last, and where that leads. */
struct outcome {
	struct hf_walk_block *block;  /* the block that the last instruction ends; NULL: it ends none */
	struct hf_ntrace_plan *entry; /* its entry in the plan; NULL: nothing was executed */
	uint64_t next;
	bool known;                   /* next is known */
};

/* ---- events ---- */

static void push_jump(struct hf_ntrace_dec *d, uint64_t from, uint64_t to, uint8_t flags)
{
	struct hf_event *ev = hf_ntrace_single(d, HF_EVENT_DISCONTINUITY);

	ev->flags = flags;
	ev->jump.from = from;
	ev->jump.to = to;
}

static void push_trap(struct hf_ntrace_dec *d, const struct outcome *o)
{
	const struct hf_ntrace_state *s = &d->s;
	struct hf_event attempt;
	struct hf_event *ev;

	/* An interrupt has no attempt. An exception has one, unless the walk ended at the ecall that raised it. */
	if (s->btype == HF_NTRACE_BTYPE_EXCEPTION && o->known &&
	    !(o->block && o->block->end == HF_WALK_TRAP_CALL) &&
	    hf_walk_insn(&d->blocks, o->next, &attempt)) {
		ev = hf_ntrace_single(d, HF_EVENT_ATTEMPT);
		*ev = attempt;
		ev->kind = HF_EVENT_ATTEMPT;
	}
	ev = hf_ntrace_single(d, HF_EVENT_TRAP);
	d->open_trap = d->params.trap_values ? d->single_count : 0;
	ev->flags = HF_EVF_HANDLER;
	if (s->btype == HF_NTRACE_BTYPE_INTERRUPT)
		ev->flags |= HF_EVF_ASYNC;
	ev->trap.handler = s->address;
}

/* ---- losing and finding the place ---- */

static void forget(struct hf_ntrace_dec *d)
{
	struct hf_ntrace_state *s = &d->s;

	s->debt = 0;
	s->owner_left = 0;
	s->unproven = 0;
	s->since = 0;
	s->returned = 0;
	hf_return_stack_clear(&d->calls);
	s->last_tcode = 0;
}

void hf_ntrace_lose(struct hf_ntrace_dec *d, int code, uint64_t at, uint64_t detail)
{
	struct hf_ntrace_state *s = &d->s;

	if (s->lost_code == 0) {
		s->lost_code = (uint32_t)-code;
		s->lost_at = at;
		s->lost_detail = detail;
		s->lost_bytes = 0;
		s->lost_back = 0;
	}
	s->known = s->placed = 0;
	s->phase = HF_NTRACE_PHASE_FETCH;
	forget(d);
}

/* So many instructions are not shown after all. What was proved on the way is not told apart. */
static void take_back(struct hf_ntrace_state *s, uint32_t count)
{
	s->unproven -= count < s->unproven ? count : s->unproven;
	s->since -= count < s->since ? count : s->since;
}

static bool is_misfit(int code)
{
	return code == HF_ERR_NTRACE_NO_CODE || code == HF_ERR_NTRACE_COUNT || code == HF_ERR_NTRACE_HISTORY ||
	       code == HF_ERR_NTRACE_FLOW || code == HF_ERR_NTRACE_WHERE;
}

/*
 * The message that is executed does not fit the program. Its events since mark are removed from the plan. Instructions
 * before mark stay, and may be wrong back to where the path was proved last.
 */
static void fail(struct hf_ntrace_dec *d, int code, uint64_t detail, uint32_t mark)
{
	const bool first = !d->s.lost_code;
	uint32_t back;

	while (d->plan_count > mark) {
		const struct hf_ntrace_plan *plan = &d->plans[--d->plan_count];

		d->planned -= plan->count;
		if (plan->ev >= d->singles && plan->ev < d->singles + HF_NTRACE_PLANS)
			d->single_count--;
		else
			take_back(&d->s, plan->count);
	}
	back = hf_event_back(d->s.unproven);
	hf_ntrace_lose(d, code, d->s.message_at, detail);
	if (first && is_misfit(code))
		d->s.lost_back = back;
	d->s.lost_bytes += d->s.message_length;
}

/* Sets all that a synchronising message sets (8.4). */
static void synchronise(struct hf_ntrace_dec *d)
{
	struct hf_ntrace_state *s = &d->s;

	forget(d);
	s->pc = s->ref = s->address;
	s->known = 1;
	s->stopped = 0;
	s->begun = 1;
	s->timed = s->message_timed;
	s->phase = HF_NTRACE_PHASE_FETCH;
	hf_ntrace_push_time(d);
}

/* Starts at a synchronising message while pc is not known. There may be no code at its address (8.6: a fetch fails). */
static void restart(struct hf_ntrace_dec *d)
{
	struct hf_ntrace_state *s = &d->s;

	hf_ntrace_push_gap(d);
	if (!s->lost_code && s->begun)
		push_jump(d, s->pc, s->address, HF_EVF_UNTRACED);
	if (s->btype != HF_NTRACE_BTYPE_JUMP)
		push_trap(d, &(struct outcome){.known = false});
	s->lost_code = 0;
	s->lost_bytes = 0;
	s->lost_at = 0;
	s->lost_detail = 0;
	s->history = s->pattern != 0;
	synchronise(d);
}

/* A message with I-CNT does not fit the program. If it is a synchronising one, it synchronises all the same (8.4). */
static void abandon(struct hf_ntrace_dec *d, int code, uint64_t detail, uint32_t mark)
{
	fail(d, code, detail, mark);
	if (hf_ntrace_is_sync(d->s.tcode))
		restart(d);
}

/* ---- walking ---- */

static struct hf_walk_block *find(struct hf_ntrace_dec *d, uint64_t pc)
{
	return hf_walk_find(&d->blocks, pc);
}

/* The next bit of HIST: the one under the stop bit (8.2.1). */
static unsigned take_bit(uint32_t *hist)
{
	const unsigned at = 30u - (unsigned)__builtin_clz(*hist);
	const unsigned bit = *hist >> at & 1;

	*hist = (*hist & ((1u << at) - 1)) | 1u << at;
	return bit;
}

/* Follows a return that is not reported, and sets its target in the plan; returns the block there. NULL: not known. */
static struct hf_walk_block *follow_return(struct hf_ntrace_dec *d, struct hf_walk_block *block,
					   struct hf_ntrace_plan *entry)
{
	uint64_t target;

	if (!hf_return_stack_pop(&d->calls, &target))
		return NULL;
	d->s.returned = 1;
	if (block->flags & HF_WALK_CALL)
		hf_return_stack_push(&d->calls, block->next);
	if (block->target != target) {
		block->target = target;
		block->link[1] = NULL;
	}
	entry->taken = true;
	entry->target = target;
	return hf_walk_follow(&d->blocks, block, 1);
}

/* The error for a block whose end leads to an unknown place. */
static int lost_way(const struct hf_ntrace_dec *d, const struct hf_walk_block *block)
{
	unsigned index;

	return hf_riscv_table_jump(block->insn[block->count - 1].insn.opcode, d->params.isa, &index) ?
		       HF_ERR_NTRACE_TABLE :
		       HF_ERR_NTRACE_FLOW;
}

/* Follows a direct jump. With all_jumps it takes a bit of HIST. False: the bit is missing, or says not taken. */
static bool take_jump(struct hf_ntrace_dec *d, const struct hf_walk_block *block)
{
	if (d->params.all_jumps && !(block->flags & HF_WALK_PAIRED) && (d->s.hist <= 1 || !take_bit(&d->s.hist)))
		return false;
	if (block->flags & HF_WALK_CALL)
		hf_return_stack_push(&d->calls, block->next);
	return true;
}

/* The block after this one, while the message goes on. NULL: not known, and *ret_err says why. */
static struct hf_walk_block *step(struct hf_ntrace_dec *d, struct hf_walk_block *block, struct hf_ntrace_plan *entry,
				  int *ret_err)
{
	struct hf_ntrace_state *s = &d->s;
	unsigned taken = 0;

	switch (block->end) {
	case HF_WALK_ON:
		break;
	case HF_WALK_BRANCH:
		if (s->hist > 1) {
			taken = take_bit(&s->hist);
			entry->taken = taken;
			entry->target = block->target;
			s->straight = 0;
		} else if (s->history) {
			*ret_err = HF_ERR_NTRACE_HISTORY;
			return NULL;
		}
		break;
	case HF_WALK_JUMP:
		if (!take_jump(d, block)) {
			*ret_err = HF_ERR_NTRACE_HISTORY;
			return NULL;
		}
		taken = 1;
		break;
	case HF_WALK_NO_CODE:
		*ret_err = HF_ERR_NTRACE_NO_CODE;
		return NULL;
	default:
		*ret_err = lost_way(d, block);
		return block->flags & HF_WALK_RETURN ? follow_return(d, block, entry) : NULL;
	}
	return hf_walk_follow(&d->blocks, block, taken);
}

/* The address that is named in an error about a block's end. */
static uint64_t place(const struct hf_walk_block *block)
{
	return block->end == HF_WALK_NO_CODE ? block->next : block->last;
}

/* Whether the walk is in a circle of jumps that never comes to the branch in HIST. A call or return may lead out. */
static bool is_circle(struct hf_walk_circle *circle, const struct hf_walk_block *block)
{
	if (block->end == HF_WALK_ON || (block->end == HF_WALK_JUMP && !(block->flags & HF_WALK_CALL)))
		return hf_walk_is_circle(circle, block);
	*circle = (struct hf_walk_circle){0};
	return false;
}

/* That many halfwords of it are executed. */
static void count_block(struct hf_ntrace_state *s, uint64_t halfwords)
{
	s->owner_left = s->owner_left > halfwords ? s->owner_left - halfwords : 0;
}

/* Whether the context changes before the next instruction. */
static bool is_change_due(const struct hf_ntrace_state *s)
{
	return s->owned && !s->owner_left;
}

/* Executes a ResourceFull with a history as far as its last branch, and no further (7.8). */
static void run_history(struct hf_ntrace_dec *d)
{
	const uint32_t mark = d->plan_count;
	struct hf_ntrace_state *s = &d->s;
	struct hf_walk_block *block = find(d, s->pc);
	struct hf_walk_circle circle = {0};

	for (unsigned used = 0; used < HF_NTRACE_PIECE; used++) {
		struct hf_ntrace_plan *entry = hf_ntrace_push_insns(d, block->insn, block->count);
		struct hf_walk_block *from = block;
		int err = 0;

		s->debt -= block->halfwords;
		s->straight += block->halfwords;
		count_block(s, block->halfwords);
		if (s->straight > STRAIGHT_MAX || (!d->params.all_jumps && is_circle(&circle, block))) {
			fail(d, HF_ERR_NTRACE_HISTORY, place(from), mark);
			return;
		}
		block = step(d, from, entry, &err);
		if (!block) {
			fail(d, err, place(from), mark);
			return;
		}
		s->pc = block->pc;
		if (s->hist <= 1 && s->repeats == 0) {
			s->phase = HF_NTRACE_PHASE_FETCH;
			hf_ntrace_push_time(d);
			break;
		}
		if (s->hist <= 1) {
			s->repeats--;
			s->hist = s->pattern;
		}
		if (is_change_due(s))
			break;
	}
	if (is_change_due(s))
		hf_ntrace_change_context(d);
}

/* The last of left halfwords is inside this block. It is an error if they end inside an instruction. */
static int run_partly(struct hf_ntrace_dec *d, const struct hf_walk_block *block, uint64_t left, struct outcome *o)
{
	const struct hf_event *ev = block->insn;
	uint32_t n = 0;

	while (left && n < block->count) {
		if (ev[n].insn.size / 2u > left)
			return HF_ERR_NTRACE_COUNT;
		left -= ev[n++].insn.size / 2u;
	}
	if (left)
		return HF_ERR_NTRACE_NO_CODE;
	o->entry = hf_ntrace_push_insns(d, ev, n);
	o->next = n < block->count ? ev[n].insn.pc : block->next;
	o->known = true;
	return 0;
}

/* ---- the end of a message ---- */

static const struct hf_ev_insn *last_insn(const struct outcome *o)
{
	return &o->entry->ev[o->entry->count - 1].insn;
}

/*
 * Whether the branch right before a synchronising message was taken, where no history bit says so. A DirectBranchSync
 * may stand behind a taken branch. All synchronising messages may also stand in linear code (7.6, 8.4), behind a branch
 * that was not taken. The address of the message tells which it was.
 */
static bool is_taken_to(const struct hf_ntrace_state *s, const struct hf_walk_block *block)
{
	if (s->btype != HF_NTRACE_BTYPE_JUMP || s->address != block->target)
		return false;
	return s->tcode == HF_NTRACE_DIRECT_BRANCH_SYNC || s->address != block->next;
}

/* Whether a branch that ends a message was taken: its history bit says so. Without a bit it was taken only if the
 * message is about a taken branch. */
static int end_branch(struct hf_ntrace_dec *d, struct outcome *o)
{
	struct hf_ntrace_state *s = &d->s;
	bool taken = s->tcode == HF_NTRACE_DIRECT_BRANCH;

	if (!taken && s->hist > 1)
		taken = take_bit(&s->hist);
	else if (s->tcode == HF_NTRACE_DIRECT_BRANCH_SYNC || (!s->history && hf_ntrace_is_sync(s->tcode)))
		taken = is_taken_to(s, o->block);
	else if (!taken && s->history)
		return HF_ERR_NTRACE_HISTORY;
	o->entry->taken = taken;
	o->entry->target = o->block->target;
	o->next = taken ? o->block->target : o->block->next;
	return 0;
}

/* Finds where the last instruction of a message leads, if that needs no address from the message. */
static int end_block(struct hf_ntrace_dec *d, struct outcome *o)
{
	struct hf_ntrace_state *s = &d->s;
	struct hf_walk_block *block = o->block;
	bool told = false; /* it is a direct jump that messages may report */
	const bool direct = s->tcode == HF_NTRACE_DIRECT_BRANCH || s->tcode == HF_NTRACE_DIRECT_BRANCH_SYNC;

	o->known = true;
	o->next = block->next;
	switch (block->end) {
	case HF_WALK_BRANCH:
		return end_branch(d, o);
	case HF_WALK_JUMP:
		told = !(block->flags & HF_WALK_PAIRED);
		if (told && d->params.all_jumps && !direct && (s->hist <= 1 || !take_bit(&s->hist)))
			return HF_ERR_NTRACE_HISTORY;
		if (told && s->tcode == HF_NTRACE_DIRECT_BRANCH && !d->params.all_jumps)
			return HF_ERR_NTRACE_FLOW;
		o->next = block->target;
		break;
	case HF_WALK_INDIRECT:
		o->known = block->flags & HF_WALK_RETURN && hf_return_stack_pop(&d->calls, &o->next);
		if (o->known) {
			o->entry->taken = true;
			o->entry->target = o->next;
		}
		break;
	case HF_WALK_TRAP_RETURN:
		o->known = false;
		break;
	default:
		break;
	}
	if (block->flags & HF_WALK_CALL)
		hf_return_stack_push(&d->calls, block->next);
	if (!direct || told)
		return 0;
	return s->tcode == HF_NTRACE_DIRECT_BRANCH || !o->known ? lost_way(d, block) : 0;
}

/* Whether the address of the message says where the message's last instruction went. */
static bool is_indirect(const struct outcome *o)
{
	return o->block && (o->block->end == HF_WALK_INDIRECT || o->block->end == HF_WALK_TRAP_RETURN);
}

/* custom-0 to custom-3 (Unprivileged, opcode map) may jump. Then they are traced as indirect jumps (10.1). */
static bool is_custom(const struct outcome *o)
{
	const uint32_t opcode = o->entry ? last_insn(o)->opcode & 0x5f : 0;

	return opcode == 0x0b || opcode == 0x5b;
}

/*
 * Whether the message's address may be another one than where its last instruction leads by itself. That is allowed
 * after any instruction but branches and direct jumps (10.1). If it is no custom instruction, damage is likelier, and
 * arrive() adds a DOUBT. If a message synchronises in linear code, its address is the place that was reached.
 */
static bool may_jump(const struct hf_ntrace_dec *d, const struct outcome *o)
{
	if (!o->entry)
		return false;
	if (o->block && o->block->end != HF_WALK_ON && o->block->end != HF_WALK_NO_CODE &&
	    o->block->end != HF_WALK_TRAP_CALL)
		return false;
	return is_custom(o) || !hf_ntrace_is_sync(d->s.tcode);
}

static void push_return_from_trap(struct hf_ntrace_dec *d)
{
	struct hf_event *ev = hf_ntrace_single(d, HF_EVENT_TRAP_RETURN);

	ev->flags = HF_EVF_HANDLER;
	ev->trap.handler = d->s.address;
}

/* The flow goes on at the message's address: checks that it can, and plans the events of the jump. */
static int arrive(struct hf_ntrace_dec *d, struct outcome *o)
{
	struct hf_ntrace_state *s = &d->s;
	const bool indirect = is_indirect(o);

	if (!indirect && o->known && o->next == s->address)
		return 0;
	if (s->reset && o->known && o->next != s->address) {
		push_jump(d, o->next, s->address, 0);
		return 0;
	}
	if (!indirect && !may_jump(d, o))
		return HF_ERR_NTRACE_WHERE;
	assert(o->entry); /* may_jump has checked it, and a block has one */
	o->entry->taken = true;
	o->entry->target = s->address;
	if (o->block && o->block->end == HF_WALK_TRAP_RETURN)
		push_return_from_trap(d);
	if (!indirect && !is_custom(o)) {
		hf_ntrace_push_loss(d, HF_EVENT_DOUBT, HF_ERR_NTRACE_ODD, s->message_at, 0, last_insn(o)->pc);
		d->singles[d->single_count - 1].back = hf_event_back(s->unproven);
	}
	return 0;
}

/* The stop that a ProgTraceCorrelation reports. */
static void stop(struct hf_ntrace_dec *d, const struct outcome *o)
{
	struct hf_ntrace_state *s = &d->s;

	forget(d);
	s->pc = o->known ? o->next : 0;
	s->known = 0;
	s->stopped = 1;
	hf_ntrace_push_time(d);
	s->phase = HF_NTRACE_PHASE_FETCH;
}

/* A branch message has been executed. If RepeatBranch repeats it, it starts again. */
static void finish_branch(struct hf_ntrace_dec *d)
{
	struct hf_ntrace_state *s = &d->s;

	if (s->repeats) {
		s->repeats--;
		s->hist = s->pattern ? s->pattern : 1;
		s->left = s->last_icnt;
		return;
	}
	s->phase = HF_NTRACE_PHASE_FETCH;
	hf_ntrace_push_time(d);
}

static int end_message(struct hf_ntrace_dec *d, struct outcome *o)
{
	struct hf_ntrace_state *s = &d->s;
	int err = 0;

	if (o->block)
		err = end_block(d, o);
	else if (s->tcode == HF_NTRACE_DIRECT_BRANCH)
		err = HF_ERR_NTRACE_COUNT;
	if (!err && s->hist > 1)
		err = HF_ERR_NTRACE_HISTORY;
	if (err || s->tcode == HF_NTRACE_CORRELATION)
		return err;
	if (s->btype != HF_NTRACE_BTYPE_JUMP)
		push_trap(d, o);
	else if (s->tcode == HF_NTRACE_DIRECT_BRANCH)
		s->address = o->next;
	else
		err = arrive(d, o);
	return err;
}

/* The message fits. Of an indirect jump I-CNT tells that it is at its place, and nothing tells where it goes. */
static void agree(struct hf_ntrace_dec *d, const struct outcome *o)
{
	struct hf_agreed *agreed = &d->dec.agreed;

	agreed->reached += o->entry != NULL;
	if (!o->entry || !hf_ntrace_is_sync(d->s.tcode))
		return;
	agreed->count++;
	agreed->offset = hf_ntrace_input_offset(&d->input, d->s.message_at);
}

/* All halfwords that I-CNT counts are executed. */
static void finish(struct hf_ntrace_dec *d, struct outcome *o, uint32_t mark)
{
	struct hf_ntrace_state *s = &d->s;
	const bool sync = hf_ntrace_is_sync(s->tcode);
	const uint64_t last = o->entry ? last_insn(o)->pc : s->pc;
	int err = end_message(d, o);

	if (err) {
		abandon(d, err, err == HF_ERR_NTRACE_WHERE ? o->next : last, mark);
		/* I-CNT and HIST fitted. Without I-CNT the message is a start: the message of the stop is missing. */
		if (sync && err == HF_ERR_NTRACE_WHERE && o->entry)
			hf_ntrace_push_loss(d, HF_EVENT_DOUBT, HF_ERR_NTRACE_EITHER, s->message_at, 0, s->pc);
		return;
	}
	if (s->tcode == HF_NTRACE_CORRELATION) {
		stop(d, o);
		return;
	}
	s->pc = s->address;
	/* Where returns are not compared, only an address tells that the hart is there. */
	if (d->params.compare_returns || s->tcode != HF_NTRACE_DIRECT_BRANCH)
		s->unproven = 0;
	agree(d, o);
	if (sync)
		synchronise(d);
	else
		finish_branch(d);
}

/* ---- messages ---- */

/* Executes a piece of a message with I-CNT. */
static void run_count(struct hf_ntrace_dec *d)
{
	const uint32_t mark = d->plan_count;
	struct hf_ntrace_state *s = &d->s;
	struct outcome o = {.next = s->pc, .known = true};
	struct hf_walk_block *block = s->left ? find(d, s->pc) : NULL;
	struct hf_walk_circle circle = {0};
	uint64_t stop;
	int err = 0;

	for (unsigned used = 0; s->left; used++) {
		if (used == HF_NTRACE_PIECE)
			return;
		stop = s->owned && s->owner_left < s->left ? s->owner_left : s->left;
		if (block->halfwords > stop || block->count == 0) {
			err = run_partly(d, block, stop, &o);
			if (err) {
				abandon(d, err, block->pc, mark);
				return;
			}
			s->left -= stop;
			s->pc = s->left ? o.next : s->pc;
			break;
		}
		o.entry = hf_ntrace_push_insns(d, block->insn, block->count);
		s->left -= block->halfwords;
		count_block(s, block->halfwords);
		if (s->left == 0) {
			o.block = block;
			break;
		}
		o.block = block;
		if (s->hist > 1 && !d->params.all_jumps && is_circle(&circle, block)) {
			abandon(d, HF_ERR_NTRACE_HISTORY, place(block), mark);
			return;
		}
		block = step(d, block, o.entry, &err);
		if (!block) {
			abandon(d, err, place(o.block), mark);
			return;
		}
		o.block = NULL;
		s->pc = block->pc;
		if (is_change_due(s))
			break;
	}
	if (!s->left)
		finish(d, &o, mark);
	hf_ntrace_change_context(d);
}

void hf_ntrace_run(struct hf_ntrace_dec *d)
{
	if (d->s.phase == HF_NTRACE_PHASE_HISTORY)
		run_history(d);
	else
		run_count(d);
}

/* Begins to execute icnt halfwords of the message in s. Its HIST is in s, too. */
static void start_count(struct hf_ntrace_dec *d, uint64_t icnt)
{
	struct hf_ntrace_state *s = &d->s;

	s->left = icnt + s->debt;
	s->debt = 0;
	s->phase = HF_NTRACE_PHASE_COUNT;
	if (s->left > INT64_MAX) /* more was executed than I-CNT counts */
		abandon(d, HF_ERR_NTRACE_COUNT, s->pc, d->plan_count);
}

/* Branches in a row, all taken or all not taken. They are a history of one bit that is repeated. */
static void start_run(struct hf_ntrace_dec *d, const struct hf_ntrace_message *msg)
{
	struct hf_ntrace_state *s = &d->s;

	if (msg->icnt > HF_NTRACE_RUN_MAX) {
		fail(d, HF_ERR_NTRACE_VALUE, msg->tcode, d->plan_count);
		return;
	}
	s->history = 1;
	s->straight = 0;
	s->pattern = s->hist = msg->rcode == HF_NTRACE_RCODE_TAKEN ? 3 : 2;
	s->repeats = msg->icnt ? (uint32_t)msg->icnt - 1 : 0;
	s->phase = msg->icnt ? HF_NTRACE_PHASE_HISTORY : HF_NTRACE_PHASE_FETCH;
}

static void start_resource(struct hf_ntrace_dec *d, const struct hf_ntrace_message *msg)
{
	struct hf_ntrace_state *s = &d->s;

	s->last_tcode = 0;
	switch (msg->rcode) {
	case HF_NTRACE_RCODE_ICNT: /* a later message has the branches of these halfwords */
		s->debt += msg->icnt;
		hf_ntrace_push_time(d);
		break;
	case HF_NTRACE_RCODE_HREPEAT:
	case HF_NTRACE_RCODE_HIST:
		s->history = 1;
		s->straight = 0;
		s->repeats = msg->rcode == HF_NTRACE_RCODE_HREPEAT ? msg->hrepeat - 1 : 0;
		s->phase = HF_NTRACE_PHASE_HISTORY;
		break;
	case HF_NTRACE_RCODE_NOT_TAKEN:
	case HF_NTRACE_RCODE_TAKEN:
		start_run(d, msg);
		break;
	default: /* a vendor's resource: what it counts is not known */
		fail(d, HF_ERR_NTRACE_VALUE, msg->tcode, d->plan_count);
		break;
	}
}

static void start_branch(struct hf_ntrace_dec *d, const struct hf_ntrace_message *msg)
{
	struct hf_ntrace_state *s = &d->s;

	if (msg->tcode != HF_NTRACE_DIRECT_BRANCH) {
		s->address = hf_ntrace_extend(&d->params, msg->src, s->ref ^ msg->address);
		s->ref = s->address;
	}
	s->repeats = 0;
	s->last_tcode = msg->tcode;
	s->last_btype = msg->btype;
	s->last_icnt = (uint32_t)msg->icnt;
	s->last_hist = msg->hist;
	s->last_address = s->address;
	start_count(d, msg->icnt);
}

/* Executes the branch message before it B-CNT more times, to the same absolute address (7.11). */
static void start_repeat(struct hf_ntrace_dec *d, const struct hf_ntrace_message *msg)
{
	struct hf_ntrace_state *s = &d->s;

	/* A jump without an instruction cannot happen again; a trap can. */
	if (s->last_tcode == 0 || s->debt || msg->hrepeat == 0 ||
	    (s->last_icnt == 0 && s->last_btype == HF_NTRACE_BTYPE_JUMP)) {
		fail(d, HF_ERR_NTRACE_REPEAT, 0, d->plan_count);
		return;
	}
	s->tcode = s->last_tcode;
	s->btype = s->last_btype;
	s->pattern = s->last_hist;
	s->hist = s->last_hist ? s->last_hist : 1;
	s->address = s->last_address;
	s->repeats = msg->hrepeat - 1;
	start_count(d, s->last_icnt);
}

static void start_sync(struct hf_ntrace_dec *d, const struct hf_ntrace_message *msg)
{
	struct hf_ntrace_state *s = &d->s;

	s->repeats = 0;
	s->address = msg->address;
	if (s->known && msg->sync == HF_NTRACE_SYNC_OVERRUN)
		hf_ntrace_lose(d, HF_ERR_NTRACE_OVERRUN, s->message_at, 0);
	if (s->known)
		start_count(d, msg->icnt);
	else
		restart(d);
}

static void start_error(struct hf_ntrace_dec *d, const struct hf_ntrace_message *msg)
{
	/* The encoder lost something, but no program trace. */
	if (msg->value && !(msg->value & HF_NTRACE_ECODE_PROGRAM)) {
		hf_ntrace_push_loss(d, HF_EVENT_NOTE, HF_ERR_NTRACE_OVERRUN, d->s.message_at, 0, msg->value);
		return;
	}
	hf_ntrace_lose(d, HF_ERR_NTRACE_OVERRUN, d->s.message_at, msg->value);
	d->s.lost_bytes += msg->length;
}

/* Executes a message that says nothing about the flow. False: this message is about the flow. */
static bool start_other(struct hf_ntrace_dec *d, const struct hf_ntrace_message *msg)
{
	struct hf_event *ev;

	if (msg->tcode == HF_NTRACE_OWNERSHIP) {
		hf_ntrace_own(d, msg->value);
	} else if (msg->tcode == HF_NTRACE_ERROR) {
		start_error(d, msg);
	} else if (msg->tcode == HF_NTRACE_TRAP_VALUE && d->params.trap_values) {
		hf_ntrace_put_trap_value(d, msg->value);
	} else if (msg->tcode >= HF_NTRACE_VENDOR_FIRST) {
		ev = hf_ntrace_single(d, HF_EVENT_MARKER);
		ev->marker.type = msg->tcode;
		ev->marker.value = msg->value;
	} else {
		return false;
	}
	if (d->s.known)
		hf_ntrace_push_time(d);
	return true;
}

/* The message only says that tracing is off, as was known: the hart halted, or the trace begins in this state (8.6). */
static bool is_still_off(const struct hf_ntrace_state *s, const struct hf_ntrace_message *msg)
{
	return s->stopped && !s->lost_code && msg->tcode == HF_NTRACE_CORRELATION && msg->icnt == 0 && msg->hist <= 1;
}

void hf_ntrace_start(struct hf_ntrace_dec *d, const struct hf_ntrace_message *msg)
{
	struct hf_ntrace_state *s = &d->s;
	const bool sync = hf_ntrace_is_sync(msg->tcode) && !hf_ntrace_is_sample(msg);

	if (msg->tcode != HF_NTRACE_OWNERSHIP && msg->tcode != HF_NTRACE_TRAP_VALUE)
		d->open_trap = 0;
	if (is_change_due(s))
		hf_ntrace_change_context(d);
	s->message_length = msg->length;
	s->tcode = msg->tcode;
	s->btype = msg->btype;
	s->pattern = msg->hist;
	s->hist = msg->hist ? msg->hist : 1;
	s->reset = sync && (msg->sync == HF_NTRACE_SYNC_RESET || msg->sync == HF_NTRACE_SYNC_POWER);
	hf_ntrace_keep_time(d, msg);
	if (hf_ntrace_is_beside(msg)) {
		hf_ntrace_tell(d, msg);
		return;
	}
	if (hf_ntrace_is_odd(msg))
		hf_ntrace_push_loss(d, HF_EVENT_NOTE, HF_ERR_NTRACE_VALUE, s->message_at, 0, msg->tcode);
	/* Damage can merge two messages into one with a time. If the last sync had no time, no message has one. */
	if (s->known && !sync && msg->has_time && !s->timed && d->times != HF_NTRACE_TIMES_ABSOLUTE) {
		fail(d, HF_ERR_NTRACE_FIELDS, msg->tcode, d->plan_count);
		return;
	}
	if (start_other(d, msg))
		return;
	if (!s->known && !sync) {
		if (is_still_off(s, msg))
			return;
		hf_ntrace_lose(d, HF_ERR_NTRACE_NO_SYNC, s->message_at, 0);
		s->lost_bytes += msg->length;
		return;
	}
	if (msg->hist && msg->tcode != HF_NTRACE_RESOURCE_FULL)
		s->history = 1;
	if (sync)
		start_sync(d, msg);
	else if (msg->tcode == HF_NTRACE_RESOURCE_FULL)
		start_resource(d, msg);
	else if (msg->tcode == HF_NTRACE_REPEAT_BRANCH)
		start_repeat(d, msg);
	else if (msg->tcode == HF_NTRACE_CORRELATION)
		start_count(d, msg->icnt);
	else
		start_branch(d, msg);
}

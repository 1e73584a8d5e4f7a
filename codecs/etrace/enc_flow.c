/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the held instruction needs now that one knows what comes behind it: the decision flow of chapter 8, and in the
 * exact profile the stricter rules that leave a decoder no choice. They are:
 * - Before every sync packet the last instruction is reported, so that the sync is one step away.
 * - The target of an uninferable discontinuity is reported with the updiscon flag if a sync or a loss follows at once.
 * - Any other report must not be met too early: it is notified where an implicit return leads to it, and repeated as
 *   often as a decoder passes by.
 * - What a sync packet in the stream cannot tell is told by stopping first.
 */
#include "codecs/etrace/encoder.h"
#include "codecs/isa/riscv.h"

#include <string.h>

/* What is decided about the held instruction. */
struct plan {
	uint8_t behind;     /* enum hf_etrace_behind */
	bool sync_behind;   /* the next instruction gets a sync packet */
	bool privilege;     /* because its privilege or context differs */
	bool missed;        /* the held return goes elsewhere than foretold */
	bool traps_itself;  /* the held ecall retires and traps */
	bool traps_behind;  /* so will the next instruction, an ecall */
	uint32_t next;      /* flags of the next instruction */
};

static bool exact(const struct hf_etrace_enc *e)
{
	return e->c.profile == HF_ETRACE_EXACT;
}

static bool needs_sync(const struct hf_etrace_enc *e)
{
	return !(e->s.flags & HF_ETRACE_ENC_TRACING) || (e->s.flags & (HF_ETRACE_ENC_SYNC | HF_ETRACE_ENC_TRAP)) ||
	       e->s.resync > e->c.resync_packets;
}

/* Implicit returns are counted from each branch on. */
static void forget_returns(struct hf_etrace_enc_state *s)
{
	s->irets = 0;
	s->flags &= ~(uint32_t)HF_ETRACE_ENC_UNSURE;
}

/* Whether the predictor foretold the held branch's outcome, which it then learns. */
static bool is_foretold(struct hf_etrace_enc *e, bool taken)
{
	const uint64_t pc = e->held.insn.pc;
	bool foretold;

	if (!(e->c.params.modes & HF_ETRACE_BRANCH_PREDICTION))
		return false;
	foretold = hf_etrace_foretells_taken(&e->tables, pc);
	hf_etrace_learn_outcome(&e->tables, pc, taken);
	return foretold == taken;
}

/* Outcome of the held branch. */
static void count_branch(struct hf_etrace_enc *e, bool taken)
{
	struct hf_etrace_enc_state *s = &e->s;

	if (s->branches < 31 && !taken)
		s->map |= 1u << s->branches;
	s->branches++;
	if (is_foretold(e, taken))
		s->pbc++;
}

/* No further outcome fits: the map is full, or a branch failed behind a row of predicted ones. */
static bool outcomes_full(const struct hf_etrace_enc *e)
{
	const struct hf_etrace_enc_state *s = &e->s;

	return s->pbc >= 31 ? s->branches > s->pbc : s->branches >= 31;
}

/* The flow went elsewhere than it could: the trace has a hole there, or the opcode is not what ran. */
static void stop_there(struct plan *plan)
{
	plan->behind = HF_ETRACE_BEHIND_STOP;
	plan->missed = false;
	plan->sync_behind = false;
	plan->next = 0;
}

/* A return that goes elsewhere than the stack foretells. */
static void miss(const struct hf_etrace_enc *e, struct plan *plan)
{
	const unsigned width = hf_etrace_depth_width(&e->c.params, e->c.params.modes);

	plan->next = HF_ETRACE_ENC_UPDISCON;
	if (plan->behind == HF_ETRACE_BEHIND_TRAP) /* nothing retires there: the trap's own packet tells it */
		return;
	plan->next |= HF_ETRACE_ENC_JUMP | HF_ETRACE_ENC_MISSED;
	plan->missed = true;
	/* a call counter has no code for a full stack */
	if (plan->privilege || (!hf_etrace_enc_has_irets(e) && e->tables.stack.depth >> width))
		stop_there(plan);
}

/* How the next instruction is reached, and what it needs for that. elsewhere: not as the step foretells. */
static void plan_way(struct hf_etrace_enc *e, struct plan *plan, const struct hf_etrace_step *step, bool elsewhere)
{
	switch (step->way) {
	case HF_ETRACE_WAY_JUMP:
		plan->next = HF_ETRACE_ENC_UPDISCON | HF_ETRACE_ENC_JUMP;
		return;
	case HF_ETRACE_WAY_TRAP_RETURN:
		plan->next = HF_ETRACE_ENC_UPDISCON;
		return;
	case HF_ETRACE_WAY_RETURN:
		plan->next = HF_ETRACE_ENC_INFERRED | HF_ETRACE_ENC_RETURNED;
		if (elsewhere)
			miss(e, plan);
		return;
	case HF_ETRACE_WAY_SIJUMP:
		plan->next = HF_ETRACE_ENC_INFERRED;
		break;
	case HF_ETRACE_WAY_ECALL:
		plan->sync_behind |= exact(e);
		break;
	default:
		break;
	}
	if (elsewhere || !step->known)
		stop_there(plan);
}

/* A decoder that begins at insn would not know where it jumps to. */
static bool needs_before(const struct hf_etrace_enc *e, const struct hf_event *insn)
{
	return hf_etrace_enc_pair(e, &e->held.insn, &insn->insn);
}

static struct plan plan_insn(struct hf_etrace_enc *e, const struct hf_etrace_step *step, const struct hf_event *insn)
{
	const uint64_t pc = insn->insn.pc & hf_etrace_address_mask(&e->c.params);
	struct plan plan = {.behind = HF_ETRACE_BEHIND_INSN};
	const bool level = insn->insn.mode != e->held.insn.mode &&
			   hf_etrace_enc_privilege(e, insn->insn.mode) != hf_etrace_enc_privilege(e, e->held.insn.mode);

	plan.traps_behind = insn->insn.flow == HF_FLOW_TRAP_CALL;
	plan.privilege = level || ((e->s.flags & HF_ETRACE_ENC_CHANGED) && !e->c.imprecise);
	plan.sync_behind = plan.privilege;
	plan_way(e, &plan, step, step->known && step->target != pc);
	if (plan.behind != HF_ETRACE_BEHIND_INSN)
		return plan;
	/* 2.0's decoder stops at another privilege only behind a trap or trap return */
	if (exact(e) && ((level && step->way != HF_ETRACE_WAY_TRAP_RETURN) ||
			 (plan.sync_behind && needs_before(e, insn)))) {
		stop_there(&plan);
		return plan;
	}
	/* by count: where it cannot be told without a stop, one instruction later */
	if ((e->s.flags & HF_ETRACE_ENC_DUE) && !plan.missed && !needs_before(e, insn))
		plan.sync_behind = true;
	if (plan.sync_behind)
		plan.next |= HF_ETRACE_ENC_SYNC;
	if ((e->s.flags & HF_ETRACE_ENC_CHANGED) && e->c.imprecise)
		plan.next |= HF_ETRACE_ENC_CONTEXT;
	return plan;
}

/* Only an instruction that did not retire tells where the flow went before the trap; without one it went on. */
static struct plan plan_trap(struct hf_etrace_enc *e, const struct hf_etrace_step *step, const struct hf_event *trap)
{
	const uint64_t pc = e->s.attempt_pc & hf_etrace_address_mask(&e->c.params);
	const bool attempt = e->s.flags & HF_ETRACE_ENC_ATTEMPT;
	struct plan plan = {.behind = HF_ETRACE_BEHIND_TRAP};

	plan.privilege = (trap->flags & HF_EVF_MODE) &&
			 hf_etrace_enc_privilege(e, trap->mode) != hf_etrace_enc_privilege(e, e->held.insn.mode);
	plan.traps_itself = !attempt && step->way == HF_ETRACE_WAY_ECALL;
	plan_way(e, &plan, step, attempt && step->known && step->target != pc);
	/* whether a trap behind a retired ecall is its own is a parameter, and here it is the other way */
	if (exact(e) && step->way == HF_ETRACE_WAY_ECALL && attempt == e->c.params.ecall_retires)
		stop_there(&plan);
	return plan;
}

/* What is held is a trap: it leads to its handler. */
static struct plan plan_cycle(const struct hf_etrace_enc *e, uint8_t behind, const struct hf_event *insn)
{
	struct plan plan = {.behind = behind};

	if (behind != HF_ETRACE_BEHIND_INSN)
		return plan;
	plan.privilege = hf_etrace_enc_privilege(e, insn->insn.mode) != hf_etrace_enc_privilege(e, e->held.insn.mode);
	plan.next = HF_ETRACE_ENC_TRAP | (e->s.flags & HF_ETRACE_ENC_ASYNC);
	return plan;
}

/* ---- carrying it out ---- */

/* The straight line that the held instruction ends, among those that were passed before; else where it can be added. */
static struct hf_etrace_run *find_run(struct hf_etrace_enc *e)
{
	const uint64_t length = e->held.insn.pc - e->s.run;
	struct hf_etrace_run *run = e->runs, *const end = e->runs + e->s.run_count;

	while (run < end && !(run->first == e->s.run && run->length == length))
		run++;
	return run;
}

/* The jump of the held instruction ends a straight line that cannot be counted. */
static bool runs_full(struct hf_etrace_enc *e, const struct hf_etrace_step *step)
{
	const struct hf_etrace_run *run;

	if (!step->jumps || step->way > HF_ETRACE_WAY_RETURN || e->held.insn.flow == HF_FLOW_BRANCH)
		return false;
	if (e->held.insn.pc - e->s.run > HF_ETRACE_ENC_RUN_MAX)
		return true;
	run = find_run(e);
	return run == e->runs + HF_ETRACE_ENC_RUNS ||
	       (run < e->runs + e->s.run_count && run->passes == HF_ETRACE_ENC_RUN_PASSES);
}

/* The count of predicted branches has 32 bits; not all of them are read again. */
static uint64_t predicted_max(const struct hf_etrace_enc *e)
{
	return exact(e) ? HF_ETRACE_PREDICTED_MAX : (uint64_t)31 + UINT32_MAX;
}

static bool must_report(struct hf_etrace_enc *e, const struct plan *plan, const struct hf_etrace_step *step)
{
	if (e->s.pbc >= predicted_max(e))
		return true;
	if (plan->behind == HF_ETRACE_BEHIND_TRAP && (e->s.flags & HF_ETRACE_ENC_CYCLE))
		return false;
	if (plan->behind != HF_ETRACE_BEHIND_INSN)
		return true;
	if (exact(e))
		return plan->sync_behind || (plan->missed && !hf_etrace_enc_has_irets(e)) || runs_full(e, step) ||
		       (e->s.flags & HF_ETRACE_ENC_CROWDED) || e->s.irets == HF_ETRACE_ENC_IRETS_MAX;
	return e->s.branches && (plan->privilege || e->s.resync == e->c.resync_packets);
}

/* The Python model has an ecall that retires and its trap in one cycle: what matters is whether that cycle is next. */
static bool updiscon_flag(const struct hf_etrace_enc *e, const struct plan *plan)
{
	const bool one_cycle = e->c.profile == HF_ETRACE_PYTHON;

	if (plan->behind == HF_ETRACE_BEHIND_TRAP && !(one_cycle && plan->traps_itself))
		return true;
	if (one_cycle && plan->traps_behind)
		return true;
	if (exact(e))
		return plan->sync_behind || plan->missed || plan->behind == HF_ETRACE_BEHIND_LOST;
	return plan->privilege || e->s.resync == e->c.resync_packets;
}

void hf_etrace_enc_begin(struct hf_etrace_enc *e, struct hf_sink *sink)
{
	struct hf_etrace_enc_state *s = &e->s;

	if (!(s->flags & HF_ETRACE_ENC_ON)) {
		hf_etrace_enc_align(e, sink);
		hf_etrace_enc_support(e, sink, true,
				      s->flags & HF_ETRACE_ENC_LOST ? HF_ETRACE_TRACE_LOST : HF_ETRACE_NO_CHANGE);
	}
	s->flags |= HF_ETRACE_ENC_ON | HF_ETRACE_ENC_TRACING;
	s->flags &= ~(uint32_t)HF_ETRACE_ENC_LOST;
}

/* The sync packet of the held instruction, and what must precede it. */
static void synchronise(struct hf_etrace_enc *e, struct hf_sink *sink)
{
	struct hf_etrace_enc_state *s = &e->s;
	const bool untold = (s->flags & (HF_ETRACE_ENC_TRAP | HF_ETRACE_ENC_TOLD)) == HF_ETRACE_ENC_TRAP;

	if (untold && !hf_etrace_enc_tells_handler(e, e->held.insn.pc, e->held.insn.mode)) {
		if (e->c.params.version != HF_ETRACE_1_1_1) {
			hf_etrace_enc_begin(e, sink);
			hf_etrace_enc_trap(e, sink, s->epc, s->trap_mode);
		} else if (s->flags & HF_ETRACE_ENC_TRACING) { /* the trap itself cannot be told */
			hf_etrace_enc_stop(e, sink, HF_ETRACE_ENDED_REP, true);
		}
		s->flags |= HF_ETRACE_ENC_TOLD;
	}
	hf_etrace_enc_begin(e, sink);
	hf_etrace_enc_sync(e, sink);
}

void hf_etrace_enc_sync_early(struct hf_etrace_enc *e, struct hf_sink *sink)
{
	if (!needs_sync(e))
		return;
	hf_etrace_enc_resync(e);
	synchronise(e, sink);
	e->s.flags |= HF_ETRACE_ENC_SYNCED;
}

/* 2.1: whether the number of implicit returns tells which return it is that goes elsewhere. */
static bool can_miss(struct hf_etrace_enc *e, const struct plan *plan, const struct hf_etrace_step *step, bool synced)
{
	return !synced && !(e->s.flags & (HF_ETRACE_ENC_UPDISCON | HF_ETRACE_ENC_UNSURE)) && !must_report(e, plan, step);
}

/* Says what the plan asks for; whether a packet with the outcomes went out. */
static bool tell(struct hf_etrace_enc *e, struct hf_sink *sink, const struct plan *plan,
		 const struct hf_etrace_step *step, bool synced)
{
	const bool full = outcomes_full(e);
	bool told = true;

	if (synced && !(e->s.flags & HF_ETRACE_ENC_SYNCED))
		synchronise(e, sink);
	else if (synced) /* the packet that went out before told the outcome of its own branch */
		hf_etrace_enc_forget_outcomes(e);
	else if (e->s.flags & HF_ETRACE_ENC_UPDISCON)
		hf_etrace_enc_report(e, sink, (struct hf_etrace_flags){.updiscon = updiscon_flag(e, plan)});
	else if (must_report(e, plan, step) && exact(e))
		hf_etrace_enc_report_pass(e, sink, plan->behind != HF_ETRACE_BEHIND_INSN || plan->sync_behind);
	else if (must_report(e, plan, step))
		hf_etrace_enc_report(e, sink, (struct hf_etrace_flags){0});
	else if (full)
		hf_etrace_enc_outcomes(e, sink);
	else
		told = false;
	if (!told && (e->s.flags & HF_ETRACE_ENC_CONTEXT))
		hf_etrace_enc_context(e, sink);
	return told;
}

static void count_run(struct hf_etrace_enc *e)
{
	struct hf_etrace_run *run = find_run(e);

	if (run == e->runs + e->s.run_count) {
		*run = (struct hf_etrace_run){.first = e->s.run, .length = (uint32_t)(e->held.insn.pc - e->s.run)};
		e->s.run_count++;
	}
	run->passes++;
}

/* The straight lines that were passed since the last place where a decoder stops or decides. */
static void follow_runs(struct hf_etrace_enc *e, const struct hf_etrace_step *step, bool decided, uint64_t next)
{
	struct hf_etrace_enc_state *s = &e->s;

	if (!decided && !step->jumps)
		return;
	if (decided)
		s->run_count = 0;
	else
		count_run(e);
	s->run = next;
}

/*
 * 2.1: the held return was implicit, or is reported with how many were before it. Decoders agree on that number unless the
 * last packet told a return itself.
 */
static void count_return(struct hf_etrace_enc *e, struct plan *plan, const struct hf_etrace_step *step, bool told)
{
	struct hf_etrace_enc_state *s = &e->s;

	if (step->empty && s->irets && !(s->flags & HF_ETRACE_ENC_UNSURE))
		plan->next |= HF_ETRACE_ENC_MISSED;
	if (!step->pops || plan->missed)
		return;
	s->irets++;
	if (told)
		s->flags |= HF_ETRACE_ENC_UNSURE;
}

static void go_on(struct hf_etrace_enc *e, struct plan *plan, const struct hf_etrace_step *step, bool told,
		  uint64_t next)
{
	struct hf_etrace_enc_state *s = &e->s;
	const struct hf_ev_insn *insn = &e->held.insn;

	s->depth = hf_etrace_enc_has_irets(e) ? s->irets : plan->missed ? e->tables.stack.depth : 0;
	if (e->c.params.modes & HF_ETRACE_IMPLICIT_RETURN) {
		if (hf_etrace_enc_has_irets(e))
			count_return(e, plan, step, told);
		if (insn->flow == HF_FLOW_BRANCH)
			forget_returns(s);
		if (step->pops && !(plan->missed && !hf_etrace_enc_has_irets(e)))
			hf_return_stack_drop(&e->tables.stack);
		if (step->call)
			hf_return_stack_push(&e->tables.stack,
					     (insn->pc + insn->size) & hf_etrace_address_mask(&e->c.params));
	}
	if (exact(e))
		follow_runs(e, step, told || insn->flow == HF_FLOW_BRANCH || step->way >= HF_ETRACE_WAY_JUMP, next);
	s->before = step->jumps ? 0 : insn->opcode;
	s->before_pc = insn->pc;
}

/* Of the held branch or jump. */
static inline bool direct_target(const struct hf_etrace_enc *e, uint64_t *ret_target)
{
	if (!e->ending)
		return hf_riscv_target(e->held.insn.opcode, e->xlen, e->held.insn.pc, ret_target);
	*ret_target = e->ending->target;
	return true;
}

bool hf_etrace_enc_branch(struct hf_etrace_enc *e, struct hf_sink *sink, uint64_t pc)
{
	struct hf_etrace_enc_state *s = &e->s;
	const struct hf_ev_insn *insn = &e->held.insn;
	const bool taken = e->held.flags & HF_EVF_TAKEN;
	uint64_t target = insn->pc + insn->size;

	if (s->pbc + 1 >= predicted_max(e))
		return false;
	if (taken && !direct_target(e, &target))
		return false;
	if (target != pc)
		return false;
	count_branch(e, taken);
	if (outcomes_full(e))
		hf_etrace_enc_outcomes(e, sink);
	s->depth = 0;
	hf_etrace_enc_pass(e);
	forget_returns(s);
	s->run_count = 0;
	s->run = exact(e) ? pc : s->run;
	s->before = 0;
	s->before_pc = insn->pc;
	return true;
}

bool hf_etrace_enc_jump(struct hf_etrace_enc *e, uint64_t pc)
{
	const struct hf_etrace_step step = {.way = HF_ETRACE_WAY_ON, .jumps = true};
	const struct hf_ev_insn *insn = &e->held.insn;
	struct hf_etrace_enc_state *s = &e->s;
	uint64_t target;

	if (!exact(e) || s->pbc >= predicted_max(e) || outcomes_full(e) || s->irets == HF_ETRACE_ENC_IRETS_MAX ||
	    !direct_target(e, &target) || target != pc || runs_full(e, &step))
		return false;
	s->depth = hf_etrace_enc_has_irets(e) ? s->irets : 0;
	if (e->c.params.modes & HF_ETRACE_IMPLICIT_RETURN &&
	    (e->ending ? e->ending->flags : hf_walk_links(&e->rules, insn->opcode, insn->flow)) & HF_WALK_CALL)
		hf_return_stack_push(&e->tables.stack,
				     (insn->pc + insn->size) & hf_etrace_address_mask(&e->c.params));
	count_run(e);
	s->run = pc;
	s->before = 0;
	s->before_pc = insn->pc;
	s->flags &= ~(uint32_t)HF_ETRACE_ENC_OF_HELD;
	return true;
}

bool hf_etrace_enc_return(struct hf_etrace_enc *e, uint64_t pc)
{
	const struct hf_etrace_step step = hf_etrace_enc_step(e, true);
	struct plan plan = {.next = HF_ETRACE_ENC_INFERRED | HF_ETRACE_ENC_RETURNED};

	if (!exact(e) || e->s.pbc >= predicted_max(e) || outcomes_full(e) || step.way != HF_ETRACE_WAY_RETURN ||
	    !step.known || step.target != (pc & hf_etrace_address_mask(&e->c.params)) || runs_full(e, &step))
		return false;
	go_on(e, &plan, &step, false, pc);
	e->s.flags = (e->s.flags & ~(uint32_t)HF_ETRACE_ENC_OF_HELD) | plan.next;
	return true;
}

/*
 * The accesses of the held instruction, ahead of its packet. If one of next could be taken for its own, it is reported,
 * or, where its sync packet has just done that, or the report of a jump's target will not be final, next synchronises.
 */
static void end_accesses(struct hf_etrace_enc *e, struct hf_sink *sink, const struct hf_event *next)
{
	hf_etrace_enc_accesses(e, sink);
	if (next && hf_etrace_enc_confuses(e, &next->insn))
		e->s.flags |= e->s.flags & (HF_ETRACE_ENC_SYNCED | HF_ETRACE_ENC_UPDISCON) ? HF_ETRACE_ENC_DUE :
											      HF_ETRACE_ENC_CROWDED;
}

void hf_etrace_enc_finish(struct hf_etrace_enc *e, struct hf_sink *sink, enum hf_etrace_behind behind,
			  const struct hf_event *ev)
{
	struct hf_etrace_enc_state *s = &e->s;
	const bool early = s->flags & HF_ETRACE_ENC_SYNCED, synced = early || needs_sync(e);
	const bool taken = e->held.flags & HF_EVF_TAKEN;
	const bool updiscon = !synced && (s->flags & HF_ETRACE_ENC_UPDISCON);
	struct plan plan = {.behind = (uint8_t)behind};
	struct hf_etrace_step step;
	bool told;

	if (synced && !early)
		hf_etrace_enc_resync(e);
	if (synced)
		s->before = 0;
	step = hf_etrace_enc_step(e, taken);
	if (e->held.insn.flow == HF_FLOW_BRANCH)
		count_branch(e, taken);
	if (e->c.data)
		end_accesses(e, sink, behind == HF_ETRACE_BEHIND_INSN ? ev : NULL);
	if (s->flags & HF_ETRACE_ENC_CYCLE)
		plan = plan_cycle(e, (uint8_t)behind, ev);
	else if (behind == HF_ETRACE_BEHIND_INSN)
		plan = plan_insn(e, &step, ev);
	else if (behind == HF_ETRACE_BEHIND_TRAP)
		plan = plan_trap(e, &step, ev);
	if (plan.missed && hf_etrace_enc_has_irets(e) && !can_miss(e, &plan, &step, synced))
		stop_there(&plan);
	told = tell(e, sink, &plan, &step, synced);
	s->flags &= ~(uint32_t)(HF_ETRACE_ENC_OF_HELD | HF_ETRACE_ENC_HELD);
	if (plan.behind == HF_ETRACE_BEHIND_INSN) {
		go_on(e, &plan, &step, told, ev->insn.pc);
		s->flags |= plan.next;
	} else if (plan.behind == HF_ETRACE_BEHIND_TRAP) {
		s->flags |= plan.next & (HF_ETRACE_ENC_UPDISCON | HF_ETRACE_ENC_INFERRED);
	} else if (plan.behind == HF_ETRACE_BEHIND_LOST) {
		hf_etrace_enc_stop(e, sink, HF_ETRACE_TRACE_LOST, true);
	} else {
		hf_etrace_enc_stop(e, sink, updiscon && exact(e) ? HF_ETRACE_ENDED_UPD : HF_ETRACE_ENDED_REP,
				   plan.behind != HF_ETRACE_BEHIND_END);
	}
}

void hf_etrace_enc_stop(struct hf_etrace_enc *e, struct hf_sink *sink, enum hf_etrace_qual_status status, bool enable)
{
	struct hf_etrace_enc_state *s = &e->s;
	const uint32_t trap = s->flags & (HF_ETRACE_ENC_TRAP | HF_ETRACE_ENC_TOLD | HF_ETRACE_ENC_HELD);

	if (!(s->flags & HF_ETRACE_ENC_TRACING)) {
		if (status == HF_ETRACE_TRACE_LOST && !(s->flags & HF_ETRACE_ENC_LOST)) {
			if (s->flags & HF_ETRACE_ENC_ON)
				hf_etrace_enc_support(e, sink, enable, status);
			s->flags |= HF_ETRACE_ENC_LOST;
		}
		return;
	}
	if (trap == HF_ETRACE_ENC_TRAP && e->c.params.version != HF_ETRACE_1_1_1)
		hf_etrace_enc_trap(e, sink, s->epc, s->trap_mode);
	hf_etrace_enc_support(e, sink, enable, status);
	s->flags &= ~(uint32_t)HF_ETRACE_ENC_TRACING;
	if (status == HF_ETRACE_TRACE_LOST)
		s->flags |= HF_ETRACE_ENC_LOST;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calls of every sample (index/summary/summary_tree.h), built with chunks of several sizes, with the limits there are and
 * with tiny ones: tree, facts and stacks are those of a simple model, which looks at one event after the other. So are
 * the stacks at instructions (index/answer/stack.h), with a summary and without one, forwards and back.
 */
#include "index/answer/stack.h"
#include "index/index.h"
#include "index/summary/calls.h"
#include "index/summary/summary_tree.h"
#include "tests/codec/loops.h"

#include <fcntl.h>
#include <unistd.h>

static const uint64_t chunk_insns[] = {1, 7, 1000};
static const struct hf_call_room rooms[] = {{HF_CALL_NODES, HF_CALL_DEPTH, HF_CALL_FRAMES},
					    {.nodes = 5, .depth = 4, .frames = 1000},
					    {.nodes = 1, .depth = 2, .frames = 1000},
					    {.nodes = 40, .depth = 1, .frames = 1000}};

/* ---- the model ---- */

enum { CONTEXTS = 64 };

struct frame {
	uint64_t back;
	uint32_t node;
	bool trap;
	uint64_t entered; /* with nothing but the flow of its own since; else NEVER */
};

#define NEVER UINT64_MAX

struct stack {
	struct hf_run_context context;
	struct frame frame[HF_CALL_DEPTH];
	uint32_t depth;
	bool has_base;
	uint32_t base;
	uint64_t calls_beyond, traps_beyond;
	bool beyond_class[64];
};

struct model {
	const struct hf_call_room *room;
	struct hf_call_node *node;
	uint32_t count;
	struct hf_call_facts facts;
	struct stack *stack[CONTEXTS];
	uint32_t stack_count, number; /* number: of the context in which the last instruction was */
	struct hf_run_context context;
	uint64_t ordinal, early;
	uint32_t last;     /* where the last instruction was */
	bool any, pending; /* a trap is to come */
	bool from_insn, returned;
	struct hf_call_node trap;
};

static uint32_t enter(struct model *m, uint32_t n)
{
	if (!m->node[n].calls++)
		m->node[n].first = m->ordinal;
	m->node[n].last = m->ordinal;
	return n;
}

static uint32_t find(struct model *m, struct hf_call_node key)
{
	const bool root = key.kind == HF_CALL_ROOT;
	uint32_t i = 1;

	for (; i < m->count; i++)
		if (m->node[i].parent == key.parent && m->node[i].kind == key.kind &&
		    m->node[i].context == key.context &&
		    (root ? m->node[i].mode == key.mode : m->node[i].function == key.function))
			return enter(m, i);
	if (m->count == m->room->nodes) {
		m->facts.refused++;
		return enter(m, 0);
	}
	m->node[m->count] = key;
	return enter(m, m->count++);
}

static struct stack *now(struct model *m)
{
	if (!m->stack_count) {
		m->stack[m->stack_count++] = calloc(1, sizeof *m->stack[0]);
		CHECK(m->stack[0]);
	}
	return m->stack[m->number];
}

static bool beyond(const struct stack *s)
{
	return s->calls_beyond || s->traps_beyond;
}

static uint32_t top(const struct stack *s)
{
	return beyond(s) ? 0 : s->depth ? s->frame[s->depth - 1].node : s->base;
}

static void call(struct model *m, uint64_t function, uint64_t back)
{
	struct stack *s = now(m);
	const uint32_t caller = top(s);

	if (beyond(s) || s->depth == m->room->depth) {
		m->facts.deep++;
		enter(m, 0);
		if (s->traps_beyond)
			return;
		s->calls_beyond++;
		s->beyond_class[back / 2 % 64] = true;
		return;
	}
	if (caller == 0) {
		m->facts.refused++;
		enter(m, 0);
	}
	s->frame[s->depth].node = caller ? find(m, (struct hf_call_node){.kind = HF_CALL_FUNCTION,
									 .function = function,
									 .context = m->number,
									 .parent = caller}) :
					   0;
	s->frame[s->depth].trap = false;
	s->frame[s->depth].entered = m->ordinal;
	s->frame[s->depth++].back = back;
}

/* What sends the flow elsewhere, but for stubs. */
static void disturb(struct model *m)
{
	for (uint32_t i = 0; i < m->stack_count; i++)
		for (uint32_t k = 0; k < m->stack[i]->depth; k++)
			m->stack[i]->frame[k].entered = NEVER;
}

/* The jump of a stub: its call was one of what it goes to. */
static void reach(struct model *m, const struct hf_ev_insn *insn)
{
	struct stack *s = now(m);
	struct frame *frame = s->depth ? &s->frame[s->depth - 1] : NULL;
	const uint64_t entered = frame ? frame->entered : NEVER, now_ordinal = m->ordinal;
	struct hf_call_node *stub = &m->node[top(s)];
	uint32_t n;

	disturb(m);
	if (stub->kind == HF_CALL_FUNCTION && !hf_is_stub_jump(stub->function, insn) &&
	    hf_is_found_jump(stub->function, insn)) {
		frame->node = find(m, (struct hf_call_node){.kind = HF_CALL_FUNCTION,
							    .function = insn->target,
							    .context = stub->context,
							    .parent = stub->parent});
		frame->entered = m->ordinal;
		return;
	}
	if (stub->kind != HF_CALL_FUNCTION || !hf_is_stub_jump(stub->function, insn))
		return;
	m->ordinal = entered == NEVER ? now_ordinal : entered;
	n = find(m, (struct hf_call_node){.kind = HF_CALL_FUNCTION,
					  .function = insn->target,
					  .context = stub->context,
					  .parent = stub->parent});
	stub->calls--;
	stub->own -= now_ordinal - m->ordinal;
	m->node[n].own += now_ordinal - m->ordinal;
	if (m->ordinal != now_ordinal)
		m->node[n].last = now_ordinal - 1;
	m->ordinal = now_ordinal;
	frame->node = m->last = n;
	frame->entered = entered;
}

static void forget_beyond(struct stack *s)
{
	s->calls_beyond = 0;
	memset(s->beyond_class, 0, sizeof s->beyond_class);
}

static bool go_back(struct stack *s, uint64_t target)
{
	if (s->traps_beyond)
		return true;
	if (s->calls_beyond && s->beyond_class[target / 2 % 64]) {
		if (--s->calls_beyond == 0)
			forget_beyond(s);
		return true;
	}
	for (uint32_t i = s->depth; i > 0 && !s->frame[i - 1].trap; i--)
		if (s->frame[i - 1].back == target) {
			s->depth = i - 1;
			forget_beyond(s);
			return true;
		}
	return false;
}

static void take_trap(struct model *m, uint64_t pc)
{
	struct stack *s = now(m);

	m->pending = false;
	if (beyond(s) || s->depth == m->room->depth) {
		m->facts.deep++;
		s->traps_beyond++;
		enter(m, 0);
		return;
	}
	if (m->trap.function == HF_CALL_UNKNOWN)
		m->trap.function = pc;
	m->trap.context = m->number;
	s->frame[s->depth] = (struct frame){.node = find(m, m->trap), .trap = true};
	s->depth++;
}

static void leave_trap(struct model *m)
{
	struct stack *s = now(m);

	if (m->pending)
		take_trap(m, HF_CALL_UNKNOWN);
	m->facts.trap_returns++;
	if (s->traps_beyond) {
		s->traps_beyond--;
		return;
	}
	forget_beyond(s);
	for (uint32_t i = s->depth; i > 0; i--)
		if (s->frame[i - 1].trap) {
			s->depth = i - 1;
			return;
		}
	s->depth = 0;
	s->has_base = false;
	s->base = 0;
	m->facts.unmatched_traps++;
}

static void set(struct hf_run_context *c, uint32_t *field, uint32_t value, uint32_t bit, uint32_t fields)
{
	if (!(fields & bit))
		return;
	*field = value;
	c->fields |= bit;
}

static void put_context(struct model *m, const struct hf_event *ev)
{
	struct hf_run_context *c = &m->context;

	set(c, &c->hw, ev->context.hw, HF_CONTEXT_HW, ev->fields);
	set(c, &c->pid, ev->context.pid, HF_CONTEXT_PID, ev->fields);
	set(c, &c->tid, ev->context.tid, HF_CONTEXT_TID, ev->fields);
	set(c, &c->asid, ev->context.asid, HF_CONTEXT_ASID, ev->fields);
	set(c, &c->vmid, ev->context.vmid, HF_CONTEXT_VMID, ev->fields);
	if (!(ev->fields & HF_CONTEXT_STATE))
		return;
	c->state = ev->state & HF_STATE_SECURE;
	if (ev->state & HF_STATE_NO_PID) {
		c->pid = 0;
		c->fields &= ~(uint32_t)HF_CONTEXT_PID;
	}
	if (ev->state & HF_STATE_NO_TID) {
		c->tid = 0;
		c->fields &= ~(uint32_t)HF_CONTEXT_TID;
	}
}

/* The number of the context: in the order of their first instructions. */
static void choose_stack(struct model *m)
{
	uint32_t i = 0;

	/* One that a trap before all instructions needed is that of the first context. */
	if (!m->any) {
		now(m)->context = m->context;
		m->any = true;
	}
	while (i < m->stack_count && memcmp(&m->stack[i]->context, &m->context, sizeof m->context))
		i++;
	m->number = i;
	if (i < m->stack_count)
		return;
	CHECK(i < CONTEXTS);
	m->stack[i] = calloc(1, sizeof *m->stack[i]);
	CHECK(m->stack[i]);
	m->stack[i]->context = m->context;
	m->stack_count++;
}

static void before_insn(struct model *m, const struct hf_ev_insn *insn)
{
	const uint32_t before = m->number;
	struct stack *s;

	choose_stack(m);
	if (m->number != before)
		disturb(m);
	if (m->pending)
		take_trap(m, insn->pc);
	m->from_insn = m->returned = false;
	s = now(m);
	if (!s->depth && !s->has_base && !beyond(s)) {
		s->has_base = true;
		s->base = find(m, (struct hf_call_node){
					  .kind = HF_CALL_ROOT, .function = insn->pc, .context = m->number, .mode = insn->mode});
	}
}

static void after_insn(struct model *m, const struct hf_event *ev)
{
	struct stack *s = now(m);
	const uint32_t n = top(s);

	if (!m->ordinal)
		m->node[n].cycles = m->early;
	m->node[n].own++;
	m->node[n].last = m->ordinal++;
	m->last = n;
	if (!(ev->flags & HF_EVF_TAKEN))
		return;
	if (ev->insn.flow == HF_FLOW_INDIRECT_JUMP &&
	    (hf_stub_places(&ev->insn) || hf_is_linker_jump(&ev->insn)))
		reach(m, &ev->insn);
	else if (ev->insn.flow >= HF_FLOW_CALL && ev->insn.flow != HF_FLOW_INDIRECT_JUMP)
		disturb(m);
	if (ev->insn.flow == HF_FLOW_RETURN) {
		m->facts.returns++;
		m->facts.unmatched += !go_back(s, ev->insn.target);
	}
	if (ev->insn.flow == HF_FLOW_SWAP)
		go_back(s, ev->insn.target);
	if (ev->insn.flow == HF_FLOW_CALL || ev->insn.flow == HF_FLOW_INDIRECT_CALL || ev->insn.flow == HF_FLOW_SWAP)
		call(m, ev->insn.target, ev->insn.pc + ev->insn.size);
	if (ev->insn.flow == HF_FLOW_TRAP_RETURN) {
		leave_trap(m);
		m->returned = true;
	}
	if (ev->insn.flow == HF_FLOW_TRAP_CALL) {
		m->trap = (struct hf_call_node){.kind = HF_CALL_TRAP, .function = ev->insn.target};
		m->pending = m->from_insn = true;
	}
}

static void put_trap(struct model *m, const struct hf_event *ev)
{
	const bool async = ev->flags & HF_EVF_ASYNC, known = ev->flags & HF_EVF_HANDLER;

	if (m->pending && m->from_insn && !async) {
		if (known)
			m->trap.function = ev->trap.handler;
		if (known)
			m->from_insn = false;
		return;
	}
	if (m->pending)
		take_trap(m, HF_CALL_UNKNOWN);
	m->pending = true;
	m->from_insn = false;
	m->trap = (struct hf_call_node){.kind = async ? HF_CALL_INTERRUPT : HF_CALL_TRAP,
					.function = known ? ev->trap.handler : HF_CALL_UNKNOWN};
}

static void put_other(struct model *m, const struct hf_event *ev)
{
	if (ev->kind == HF_EVENT_TRAP || ev->kind == HF_EVENT_TRAP_RETURN || ev->kind == HF_EVENT_GAP ||
	    ev->kind == HF_EVENT_DOUBT || ev->kind == HF_EVENT_DISCONTINUITY)
		disturb(m);
	if (ev->kind == HF_EVENT_TRAP)
		put_trap(m, ev);
	if (ev->kind == HF_EVENT_TRAP_RETURN && !m->returned)
		leave_trap(m);
	if (ev->kind == HF_EVENT_TRAP_RETURN)
		m->returned = false;
	if (ev->kind == HF_EVENT_CONTEXT)
		put_context(m, ev);
	if (ev->kind == HF_EVENT_GAP || ev->kind == HF_EVENT_DOUBT || ev->kind == HF_EVENT_DISCONTINUITY)
		m->facts.losses++;
	if (ev->kind == HF_EVENT_CYCLES && !(ev->flags & HF_EVF_NO_TIME)) {
		*(m->ordinal ? &m->node[m->last].cycles : &m->early) += ev->time.value;
		m->facts.timed++;
	}
}

/* ---- comparison ---- */

struct asking {
	struct hf_index *index;
	struct hf_summary *summary;
	struct hf_cursor where;
	struct hf_stacks *stacks[2]; /* with the summary, and without; NULL: limits are not as usual */
	struct hf_summary_tree *tree;
	uint64_t chunk, end; /* the last one that was looked at, and the ordinal behind it */
};

static void check_stack(struct asking *a, const struct model *m, uint64_t chunk)
{
	static struct hf_summary_stack got;
	const struct stack *s = m->stack[m->number];
	uint32_t n = 0;

	CHECK_EQ(hf_summary_stack_at(a->summary, a->tree, chunk, &got), 0);
	CHECK_EQ(got.calls_beyond, s->calls_beyond);
	CHECK_EQ(got.traps_beyond, s->traps_beyond);
	CHECK_EQ(got.count, s->depth + s->has_base);
	if (s->has_base)
		CHECK_EQ(got.nodes[n++], s->base);
	for (uint32_t i = 0; i < s->depth; i++)
		CHECK_EQ(got.nodes[n++], s->frame[i].node);
}

static void check_stacks(struct asking *a, const struct model *m)
{
	struct hf_chunk chunk;
	uint64_t first = a->end ? a->chunk + 1 : 0;

	if (m->ordinal < a->end)
		return;
	CHECK_EQ(hf_index_chunk_of(a->index, a->tree->hart, m->ordinal, &chunk), 0);
	for (; first <= chunk.number; first++)
		check_stack(a, m, first);
	a->chunk = chunk.number;
	a->end = chunk.ordinal + chunk.insns;
}

/* ---- stacks at instructions ---- */

static void check_frame(const struct model *m, const struct hf_stack_frame *got, uint32_t node, bool trap)
{
	CHECK_EQ(got->kind, node ? m->node[node].kind : trap ? HF_CALL_TRAP : HF_CALL_BEYOND);
	CHECK_EQ(got->function, node ? m->node[node].function : HF_CALL_UNKNOWN);
}

static void check_at(const struct model *m, struct hf_stacks *stacks, const struct hf_ev_insn *insn)
{
	static struct hf_stack got;
	const struct stack *s = m->stack[m->number];
	const struct hf_stack_frame *frame = got.frame;

	CHECK_EQ(hf_stacks_at(stacks, m->ordinal, NULL, NULL, &got), 0);
	CHECK_EQ(got.calls_beyond, s->calls_beyond);
	CHECK_EQ(got.traps_beyond, s->traps_beyond);
	CHECK_EQ(got.count, s->depth + s->has_base + beyond(s));
	CHECK(frame->has_pc && frame->pc == insn->pc);
	if (beyond(s))
		CHECK_EQ(frame++->kind, HF_CALL_BEYOND);
	if (beyond(s) && got.count > 1)
		CHECK(!frame->has_pc);
	for (uint32_t i = s->depth; i > 0; i--, frame++) {
		check_frame(m, frame, s->frame[i - 1].node, s->frame[i - 1].trap);
		if (i == 1 && !s->has_base)
			break;
		CHECK_EQ(frame[1].has_pc, !s->frame[i - 1].trap);
		CHECK_EQ(frame[1].pc, s->frame[i - 1].trap ? 0 : s->frame[i - 1].back);
	}
	if (s->has_base)
		check_frame(m, frame, s->base, false);
}

/* Of so many instructions one, each with its own way there. */
enum { ONE_OF = 23 };

static void ask_at(struct asking *a, const struct model *m, const struct hf_ev_insn *insn)
{
	struct hf_stacks *once;

	if (!a->stacks[0] || m->ordinal % ONE_OF)
		return;
	check_at(m, a->stacks[0], insn);
	check_at(m, a->stacks[1], insn);
	if (m->ordinal % (ONE_OF * ONE_OF))
		return;
	CHECK_EQ(hf_stacks_new(&a->where, a->summary, &once), 0);
	check_at(m, once, insn);
	/* Once more, so back. */
	check_at(m, once, insn);
	hf_stacks_free(once);
}

static void check_nodes(const struct hf_summary_tree *tree, const struct model *m)
{
	uint64_t sum = 0;

	CHECK_EQ(tree->count, m->count);
	for (uint32_t i = 0; i < tree->count; i++) {
		const struct hf_call_node *got = &tree->nodes[i], *want = &m->node[i];
		uint64_t below = 0;

		CHECK_EQ(got->kind, want->kind);
		CHECK_EQ(got->parent, want->parent);
		CHECK_EQ(got->function, want->function);
		CHECK_EQ(got->context, want->context);
		CHECK_EQ(got->mode, want->mode);
		CHECK_EQ(got->calls, want->calls);
		CHECK_EQ(got->own, want->own);
		CHECK_EQ(got->first, want->first);
		CHECK_EQ(got->last, want->last);
		CHECK_EQ(got->cycles, want->cycles);
		sum += got->own;
		for (uint32_t j = i + 1; j < tree->count && i && i < 200; j++)
			below += tree->nodes[j].parent == i ? tree->nodes[j].own + tree->below[j] : 0;
		if (i < 200)
			CHECK_EQ(tree->below[i], below);
	}
	CHECK_EQ(sum, m->ordinal);
	CHECK(memcmp(&tree->facts, &m->facts, sizeof m->facts) == 0);
}

static void check_hart(const struct sample *s, struct asking *a, uint32_t hart, const struct hf_call_room *room)
{
	struct hf_events all = sample_all(s, hart, 512);
	struct model m = {.room = room, .count = 1};

	a->end = a->chunk = 0;
	a->where = (struct hf_cursor){.stream = s->stream, .src = s->src, .index = a->index, .hart = hart};
	for (unsigned i = 0; i < 2 && room == &rooms[0]; i++)
		CHECK_EQ(hf_stacks_new(&a->where, i ? NULL : a->summary, &a->stacks[i]), 0);
	CHECK_EQ(hf_summary_tree_load(a->summary, hart, &a->tree), 0);
	m.node = calloc(room->nodes, sizeof *m.node);
	CHECK(m.node);
	for (size_t i = 0; i < all.n; i++) {
		const struct hf_event *ev = &all.ev[i];

		if (ev->kind != HF_EVENT_INSN) {
			put_other(&m, ev);
			continue;
		}
		before_insn(&m, &ev->insn);
		check_stacks(a, &m);
		ask_at(a, &m, &ev->insn);
		after_insn(&m, ev);
	}
	/* Of a call that is the last instruction nothing was executed. */
	for (uint32_t i = 0; i < m.stack_count; i++)
		if (m.stack[i]->depth && m.stack[i]->frame[m.stack[i]->depth - 1].entered == m.ordinal)
			m.node[m.stack[i]->frame[m.stack[i]->depth - 1].node].calls--;
	check_nodes(a->tree, &m);
	for (uint32_t i = 0; i < m.stack_count; i++)
		free(m.stack[i]);
	free(m.node);
	hf_summary_tree_free(a->tree);
	for (unsigned i = 0; i < 2; i++)
		hf_stacks_free(a->stacks[i]);
	hf_events_free(&all);
}

static void check_built(const struct sample *s, const struct hf_build *build, const struct hf_call_room *room)
{
	const struct hf_index_hart *harts;
	struct asking a = {0};
	size_t n;

	CHECK_EQ(hf_index_open(build->dir, &build->identity, &a.index), 0);
	n = hf_index_harts(a.index, &harts);
	if (hf_summary_is_wanted(a.index)) {
		CHECK_EQ(hf_summary_open(build->dir, &build->identity, &a.summary), 0);
		CHECK_EQ(hf_summary_check(a.summary), 0);
		for (size_t i = 0; i < n; i++)
			check_hart(s, &a, harts[i].id, room);
		CHECK(!hf_summary_is_damaged(a.summary));
		hf_summary_close(a.summary);
	}
	hf_index_close(a.index);
}

static char base[] = "/tmp/hartfs-calls-XXXXXX";
static unsigned directory;

static void check_with(const struct sample *s, uint64_t insns, const struct hf_call_room *room)
{
	struct hf_store_dir at = {.fd = -1};
	const struct hf_chunk_limits limits = {.insns = insns};
	struct hf_build build = {
		.file = s->src, .setup = s->setup, .limits = &limits, .summary = true, .call_room = room};
	struct hf_diag diag;
	char dir[64];

	sample_about("%s, chunks of %llu, %u nodes", s->name, (unsigned long long)insns, room->nodes);
	snprintf(dir, sizeof dir, "%s/%u", base, directory++);
	CHECK_EQ(mkdir(dir, 0700), 0);
	at.fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK(at.fd >= 0);
	build.dir = &at;
	CHECK_EQ(hf_identity_of(s->src, 0, &build.identity, &diag), 0);
	CHECK_EQ(hf_build_run(&build, &diag), 0);
	check_built(s, &build, room);
	close(at.fd);
}

static void check(struct sample *s)
{
	for (size_t i = 0; i < sizeof chunk_insns / sizeof *chunk_insns; i++)
		for (size_t j = 0; j < sizeof rooms / sizeof *rooms; j++)
			check_with(s, chunk_insns[i], &rooms[j]);
}

void loop_calls(struct samples *all)
{
	char command[64];

	CHECK(mkdtemp(base));
	samples_each(all, check);
	snprintf(command, sizeof command, "rm -rf %s", base);
	CHECK_EQ(system(command), 0);
}

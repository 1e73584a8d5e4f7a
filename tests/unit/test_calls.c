/* SPDX-License-Identifier: Apache-2.0 */
/* The rules by which calls are followed (index/summary/calls.h), each on events made by hand. */
#include "index/summary/calls.h"
#include "tests/lib/check.h"

/* A hart, as its events are made. Instructions have 4 bytes. */
struct hart {
	struct hf_calls *calls;
	struct hf_run_cutter *cutter;
	uint64_t insns, stacks;
	uint32_t depth; /* of the last stack, with its base */
};

static int take_run(void *ctx, const struct hf_run *run)
{
	(void)ctx;
	(void)run;
	return 0;
}

static int take_stack(void *ctx, const struct hf_call_stack *stack)
{
	struct hart *h = ctx;

	h->stacks++;
	h->depth = stack->depth + stack->begun;
	return 0;
}

static void init(struct hart *h, const struct hf_call_room *room)
{
	*h = (struct hart){0};
	CHECK_EQ(hf_run_cutter_new(take_run, NULL, &h->cutter), 0);
	CHECK_EQ(hf_calls_new(room ? room : &hf_call_room_default, take_stack, h, &h->calls), 0);
	hf_run_cutter_watch(h->cutter, &h->calls->watch);
}

static void put(struct hart *h, struct hf_event ev)
{
	h->insns += ev.kind == HF_EVENT_INSN;
	CHECK_EQ(hf_run_cutter_put(h->cutter, &ev, 1), 0);
}

static void insn_in(struct hart *h, uint64_t pc, enum hf_flow flow, uint64_t target, enum hf_mode mode)
{
	put(h, (struct hf_event){.kind = HF_EVENT_INSN,
				 .flags = flow == HF_FLOW_PLAIN ? 0 : HF_EVF_TAKEN,
				 .insn = {.pc = pc,
					  .target = target,
					  .opcode = 0x13,
					  .size = 4,
					  .isa = HF_ISA_RV64,
					  .flow = (uint8_t)flow,
					  .mode = (uint8_t)mode}});
}

static void insn(struct hart *h, uint64_t pc, enum hf_flow flow, uint64_t target)
{
	insn_in(h, pc, flow, target, HF_MODE_U);
}

static void plain(struct hart *h, uint64_t pc)
{
	insn(h, pc, HF_FLOW_PLAIN, 0);
}

static void trap(struct hart *h, uint8_t flags, uint64_t handler)
{
	put(h, (struct hf_event){.kind = HF_EVENT_TRAP, .flags = flags, .trap = {.handler = handler}});
}

static void process(struct hart *h, uint32_t pid)
{
	put(h, (struct hf_event){.kind = HF_EVENT_CONTEXT, .fields = HF_CONTEXT_PID, .context = {.pid = pid}});
}

static void cycles(struct hart *h, uint8_t flags, uint64_t n)
{
	put(h, (struct hf_event){.kind = HF_EVENT_CYCLES, .flags = flags, .time = {.value = n}});
}

static void end(struct hart *h)
{
	uint64_t sum = 0;

	CHECK_EQ(hf_run_cutter_cut(h->cutter), 0);
	CHECK_EQ(hf_calls_end(h->calls, h->insns), 0);
	for (uint32_t i = 0; i < h->calls->tree.count; i++)
		sum += h->calls->tree.nodes[i].own;
	CHECK_EQ(sum, h->insns);
}

static void fini(struct hart *h)
{
	hf_run_cutter_free(h->cutter);
	hf_calls_free(h->calls);
}

/* The n-th node is such a one. */
static void check_node(const struct hart *h, uint32_t n, enum hf_call_kind kind, uint32_t parent, uint64_t function,
		       uint64_t calls, uint64_t own)
{
	const struct hf_call_node *node = &h->calls->tree.nodes[n];

	CHECK(n < h->calls->tree.count);
	CHECK_EQ(node->kind, kind);
	CHECK_EQ(node->parent, parent);
	CHECK_EQ(node->function, function);
	CHECK_EQ(node->calls, calls);
	CHECK_EQ(node->own, own);
}

static void test_call(void)
{
	struct hart h;

	init(&h, NULL);
	plain(&h, 0x100);
	for (int i = 0; i < 2; i++) {
		insn(&h, 0x104, HF_FLOW_CALL, 0x200);
		plain(&h, 0x200);
		/* A tail call is the same function's. */
		insn(&h, 0x204, HF_FLOW_JUMP, 0x300);
		insn(&h, 0x300, HF_FLOW_RETURN, 0x108);
		insn(&h, 0x108, HF_FLOW_JUMP, 0x104);
	}
	end(&h);
	CHECK_EQ(h.calls->tree.count, 3);
	check_node(&h, 1, HF_CALL_ROOT, 0, 0x100, 1, 5);
	check_node(&h, 2, HF_CALL_FUNCTION, 1, 0x200, 2, 6);
	CHECK_EQ(h.calls->tree.nodes[2].first, 2);
	CHECK_EQ(h.calls->tree.nodes[2].last, 9);
	CHECK_EQ(h.calls->facts.returns, 2);
	CHECK_EQ(h.calls->facts.unmatched, 0);
	fini(&h);
}

static void test_recursion(void)
{
	struct hart h;

	init(&h, NULL);
	plain(&h, 0x100);
	insn(&h, 0x104, HF_FLOW_CALL, 0x200);
	for (int i = 0; i < 3; i++)
		insn(&h, 0x200, HF_FLOW_CALL, 0x200);
	/* The addresses are the same: each return takes one away. */
	for (int i = 0; i < 3; i++)
		insn(&h, 0x204, HF_FLOW_RETURN, 0x204);
	insn(&h, 0x204, HF_FLOW_RETURN, 0x108);
	plain(&h, 0x108);
	end(&h);
	CHECK_EQ(h.calls->tree.count, 6);
	check_node(&h, 1, HF_CALL_ROOT, 0, 0x100, 1, 3);
	for (uint32_t n = 2; n < 6; n++)
		check_node(&h, n, HF_CALL_FUNCTION, n - 1, 0x200, 1, 2 - (n == 5));
	CHECK_EQ(h.calls->facts.unmatched, 0);
	fini(&h);
}

/* A return over several calls, and ones that fit none. */
static void test_longjmp(void)
{
	struct hart h;

	init(&h, NULL);
	insn(&h, 0x100, HF_FLOW_CALL, 0x200);
	insn(&h, 0x200, HF_FLOW_CALL, 0x300);
	insn(&h, 0x300, HF_FLOW_INDIRECT_CALL, 0x400);
	insn(&h, 0x400, HF_FLOW_RETURN, 0x104);
	plain(&h, 0x104);
	/* What is gone is no longer there. */
	insn(&h, 0x108, HF_FLOW_RETURN, 0x304);
	plain(&h, 0x304);
	end(&h);
	check_node(&h, 1, HF_CALL_ROOT, 0, 0x100, 1, 4);
	check_node(&h, 4, HF_CALL_FUNCTION, 3, 0x400, 1, 1);
	CHECK_EQ(h.calls->facts.returns, 2);
	CHECK_EQ(h.calls->facts.unmatched, 1);
	fini(&h);
}

/* Of a call that is the last instruction nothing was executed. */
static void test_call_at_end(void)
{
	struct hart h;

	init(&h, NULL);
	for (int i = 0; i < 2; i++) {
		insn(&h, 0x100, HF_FLOW_CALL, 0x200);
		insn(&h, 0x200, HF_FLOW_RETURN, 0x104);
		plain(&h, 0x104);
	}
	insn(&h, 0x108, HF_FLOW_CALL, 0x200);
	end(&h);
	check_node(&h, 2, HF_CALL_FUNCTION, 1, 0x200, 2, 2);
	fini(&h);
}

/* auipc t3; ld t3; jalr t1, t3 at pc: a stub of the PLT, which may be cut behind so many of its instructions. */
static void stub(struct hart *h, uint64_t pc, uint32_t jump, uint64_t target, unsigned cut)
{
	const uint64_t plain_insns = jump == 0x000e0067 ? 7 : 2;

	for (uint64_t i = 0; i <= plain_insns; i++) {
		const bool last = i == plain_insns;

		if (i == cut)
			CHECK_EQ(hf_run_cutter_cut(h->cutter), 0);
		put(h, (struct hf_event){.kind = HF_EVENT_INSN,
					 .flags = last ? HF_EVF_TAKEN : 0,
					 .insn = {.pc = pc + 4 * i,
						  .target = target,
						  .opcode = last ? jump : 0x13,
						  .size = 4,
						  .isa = HF_ISA_RV64,
						  .flow = last ? HF_FLOW_INDIRECT_JUMP : HF_FLOW_PLAIN,
						  .mode = HF_MODE_U}});
	}
}

enum { STUB = 0x000e0367, FIRST = 0x000e0067 }; /* jalr t1, t3; jr t3 */

/* A call of a stub is a call of what it reaches, also where a chunk ends in the stub. */
static void test_stub(void)
{
	for (unsigned cut = 0; cut <= 3; cut++) {
		struct hart h;

		init(&h, NULL);
		plain(&h, 0x100);
		for (int i = 0; i < 2; i++) {
			insn(&h, 0x104, HF_FLOW_CALL, 0x800);
			stub(&h, 0x800, STUB, 0x200, cut);
			plain(&h, 0x200);
			insn(&h, 0x204, HF_FLOW_RETURN, 0x108);
			plain(&h, 0x108);
		}
		end(&h);
		CHECK_EQ(h.calls->tree.count, 4);
		check_node(&h, 2, HF_CALL_FUNCTION, 1, 0x800, 0, 0);
		check_node(&h, 3, HF_CALL_FUNCTION, 1, 0x200, 2, 10);
		CHECK_EQ(h.calls->tree.nodes[3].first, 2);
		CHECK_EQ(h.calls->tree.nodes[3].last, 13);
		CHECK_EQ(h.calls->facts.unmatched, 0);
		fini(&h);
	}
}

/* Through the first entry of the table too, as the dynamic linker is called. */
static void test_stub_chain(void)
{
	struct hart h;

	init(&h, NULL);
	insn(&h, 0x104, HF_FLOW_CALL, 0x820);
	stub(&h, 0x820, STUB, 0x800, 9);
	stub(&h, 0x800, FIRST, 0x200, 9);
	insn(&h, 0x200, HF_FLOW_RETURN, 0x108);
	plain(&h, 0x108);
	end(&h);
	check_node(&h, 4, HF_CALL_FUNCTION, 1, 0x200, 1, 12);
	fini(&h);
}

/* What only looks like one: the same jump elsewhere, in a root, behind a trap's handler; and a jump of another kind. */
static void test_no_stub(void)
{
	struct hart h;

	init(&h, NULL);
	stub(&h, 0x100, STUB, 0x104, 9);
	insn(&h, 0x104, HF_FLOW_CALL, 0x7f8);
	plain(&h, 0x7f8);
	stub(&h, 0x800, STUB, 0x200, 9);
	insn(&h, 0x200, HF_FLOW_RETURN, 0x108);
	trap(&h, HF_EVF_HANDLER, 0x900);
	stub(&h, 0x900, STUB, 0x300, 9);
	plain(&h, 0x300);
	end(&h);
	CHECK_EQ(h.calls->tree.count, 4);
	check_node(&h, 1, HF_CALL_ROOT, 0, 0x100, 1, 4);
	check_node(&h, 2, HF_CALL_FUNCTION, 1, 0x7f8, 1, 5);
	check_node(&h, 3, HF_CALL_TRAP, 0, 0x900, 1, 4);
	fini(&h);
}

/* What comes between: an interrupt in the stub leaves the instructions there, but not the call. */
static void test_stub_interrupted(void)
{
	struct hart h;

	init(&h, NULL);
	insn(&h, 0x104, HF_FLOW_CALL, 0x800);
	plain(&h, 0x800);
	trap(&h, HF_EVF_ASYNC, 0);
	plain(&h, 0x900);
	insn(&h, 0x904, HF_FLOW_TRAP_RETURN, 0x804);
	plain(&h, 0x804);
	put(&h, (struct hf_event){.kind = HF_EVENT_INSN,
				  .flags = HF_EVF_TAKEN,
				  .insn = {.pc = 0x808,
					   .target = 0x200,
					   .opcode = STUB,
					   .size = 4,
					   .isa = HF_ISA_RV64,
					   .flow = HF_FLOW_INDIRECT_JUMP,
					   .mode = HF_MODE_U}});
	plain(&h, 0x200);
	end(&h);
	check_node(&h, 2, HF_CALL_FUNCTION, 1, 0x800, 0, 3);
	check_node(&h, 4, HF_CALL_FUNCTION, 1, 0x200, 1, 1);
	fini(&h);
}

/* There is no room for what it reaches. */
static void test_stub_refused(void)
{
	static const struct hf_call_room room = {.nodes = 3, .depth = 8, .frames = 100};
	struct hart h;

	init(&h, &room);
	insn(&h, 0x104, HF_FLOW_CALL, 0x800);
	stub(&h, 0x800, STUB, 0x200, 9);
	insn(&h, 0x200, HF_FLOW_RETURN, 0x108);
	plain(&h, 0x108);
	end(&h);
	check_node(&h, 0, HF_CALL_BEYOND, 0, 0, 1, 4);
	check_node(&h, 2, HF_CALL_FUNCTION, 1, 0x800, 0, 0);
	CHECK_EQ(h.calls->facts.refused, 1);
	fini(&h);
}

static void test_swap(void)
{
	struct hart h;

	init(&h, NULL);
	insn(&h, 0x100, HF_FLOW_CALL, 0x200);
	insn(&h, 0x200, HF_FLOW_SWAP, 0x104);
	insn(&h, 0x104, HF_FLOW_SWAP, 0x204);
	plain(&h, 0x204);
	end(&h);
	check_node(&h, 2, HF_CALL_FUNCTION, 1, 0x200, 1, 1);
	check_node(&h, 3, HF_CALL_FUNCTION, 1, 0x104, 1, 1);
	check_node(&h, 4, HF_CALL_FUNCTION, 1, 0x204, 1, 1);
	CHECK_EQ(h.calls->facts.unmatched, 0);
	fini(&h);
}

static void test_traps(void)
{
	struct hart h;

	init(&h, NULL);
	insn(&h, 0x100, HF_FLOW_CALL, 0x200);
	plain(&h, 0x200);
	trap(&h, HF_EVF_ASYNC, 0);
	insn(&h, 0x8000, HF_FLOW_CALL, 0x8100);
	/* Into the trap: no return leads out of it, but the trap return does, from any depth. */
	insn(&h, 0x8100, HF_FLOW_RETURN, 0x104);
	trap(&h, HF_EVF_HANDLER, 0x8200);
	insn(&h, 0x8200, HF_FLOW_TRAP_RETURN, 0x8104);
	put(&h, (struct hf_event){.kind = HF_EVENT_TRAP_RETURN});
	insn(&h, 0x8104, HF_FLOW_TRAP_RETURN, 0x204);
	insn(&h, 0x204, HF_FLOW_RETURN, 0x104);
	plain(&h, 0x104);
	end(&h);
	check_node(&h, 1, HF_CALL_ROOT, 0, 0x100, 1, 2);
	check_node(&h, 2, HF_CALL_FUNCTION, 1, 0x200, 1, 2);
	check_node(&h, 3, HF_CALL_INTERRUPT, 0, 0x8000, 1, 1);
	check_node(&h, 4, HF_CALL_FUNCTION, 3, 0x8100, 1, 2);
	check_node(&h, 5, HF_CALL_TRAP, 0, 0x8200, 1, 1);
	CHECK_EQ(h.calls->facts.unmatched, 1);
	CHECK_EQ(h.calls->facts.trap_returns, 2);
	CHECK_EQ(h.calls->facts.unmatched_traps, 0);
	fini(&h);
}

/* Traps of which not all is said: one before the handler of another, one that the instruction says too. */
static void test_trap_at_once(void)
{
	struct hart h;

	init(&h, NULL);
	insn(&h, 0x100, HF_FLOW_TRAP_CALL, 0x8000);
	trap(&h, 0, 0);
	plain(&h, 0x8000);
	trap(&h, 0, 0);
	trap(&h, HF_EVF_ASYNC | HF_EVF_HANDLER, 0x9000);
	insn(&h, 0x9000, HF_FLOW_TRAP_RETURN, 0x8000);
	insn(&h, 0x8000, HF_FLOW_TRAP_RETURN, 0x8004);
	insn(&h, 0x8004, HF_FLOW_TRAP_RETURN, 0x104);
	plain(&h, 0x104);
	end(&h);
	check_node(&h, 1, HF_CALL_ROOT, 0, 0x100, 1, 2);
	check_node(&h, 2, HF_CALL_TRAP, 0, 0x8000, 1, 2);
	check_node(&h, 3, HF_CALL_TRAP, 0, HF_CALL_UNKNOWN, 1, 1);
	check_node(&h, 4, HF_CALL_INTERRUPT, 0, 0x9000, 1, 1);
	CHECK_EQ(h.calls->facts.unmatched_traps, 0);
	fini(&h);
}

/* To where no trap came from: a root of its own, once for each mode. */
static void test_trap_return(void)
{
	struct hart h;

	init(&h, NULL);
	insn_in(&h, 0x100, HF_FLOW_CALL, 0x200, HF_MODE_M);
	insn_in(&h, 0x200, HF_FLOW_TRAP_RETURN, 0x1000, HF_MODE_M);
	plain(&h, 0x1000);
	insn(&h, 0x1004, HF_FLOW_TRAP_RETURN, 0x2000);
	plain(&h, 0x2000);
	end(&h);
	CHECK_EQ(h.calls->tree.count, 4);
	check_node(&h, 3, HF_CALL_ROOT, 0, 0x1000, 2, 3);
	CHECK_EQ(h.calls->facts.unmatched_traps, 2);
	fini(&h);
}

static void test_contexts(void)
{
	struct hart h;

	init(&h, NULL);
	process(&h, 1);
	insn(&h, 0x100, HF_FLOW_CALL, 0x200);
	plain(&h, 0x200);
	process(&h, 2);
	insn(&h, 0x100, HF_FLOW_CALL, 0x200);
	insn(&h, 0x200, HF_FLOW_RETURN, 0x104);
	plain(&h, 0x104);
	process(&h, 1);
	/* Where it was. */
	insn(&h, 0x204, HF_FLOW_RETURN, 0x104);
	/* The stack of a trap is that of the context in which its handler begins. */
	trap(&h, 0, 0);
	process(&h, 3);
	insn(&h, 0x8000, HF_FLOW_TRAP_RETURN, 0x104);
	process(&h, 1);
	plain(&h, 0x104);
	end(&h);
	check_node(&h, 1, HF_CALL_ROOT, 0, 0x100, 1, 2);
	check_node(&h, 2, HF_CALL_FUNCTION, 1, 0x200, 1, 2);
	check_node(&h, 3, HF_CALL_ROOT, 0, 0x100, 1, 2);
	check_node(&h, 4, HF_CALL_FUNCTION, 3, 0x200, 1, 1);
	check_node(&h, 5, HF_CALL_TRAP, 0, 0x8000, 1, 1);
	CHECK_EQ(h.calls->tree.nodes[1].context, 0);
	CHECK_EQ(h.calls->tree.nodes[4].context, 1);
	CHECK_EQ(h.calls->tree.nodes[5].context, 2);
	CHECK_EQ(h.calls->facts.unmatched + h.calls->facts.unmatched_traps, 0);
	fini(&h);
}

static void test_depth(void)
{
	const struct hf_call_room room = {.nodes = 100, .depth = 2, .frames = 100};
	struct hart h;

	init(&h, &room);
	insn(&h, 0x100, HF_FLOW_CALL, 0x200);
	insn(&h, 0x200, HF_FLOW_CALL, 0x300);
	insn(&h, 0x300, HF_FLOW_CALL, 0x400);
	insn(&h, 0x400, HF_FLOW_CALL, 0x500);
	/* A trap there, with a call in it. */
	trap(&h, 0, 0);
	insn(&h, 0x8000, HF_FLOW_CALL, 0x8100);
	insn(&h, 0x8100, HF_FLOW_TRAP_RETURN, 0x500);
	insn(&h, 0x500, HF_FLOW_RETURN, 0x404);
	insn(&h, 0x404, HF_FLOW_RETURN, 0x304);
	plain(&h, 0x304);
	/* And from there to a call that has a frame. */
	insn(&h, 0x308, HF_FLOW_CALL, 0x400);
	insn(&h, 0x400, HF_FLOW_RETURN, 0x104);
	plain(&h, 0x104);
	end(&h);
	CHECK_EQ(h.calls->tree.count, 4);
	check_node(&h, 0, HF_CALL_BEYOND, 0, 0, 5, 6);
	check_node(&h, 1, HF_CALL_ROOT, 0, 0x100, 1, 2);
	check_node(&h, 3, HF_CALL_FUNCTION, 2, 0x300, 1, 3);
	CHECK_EQ(h.calls->facts.deep, 5);
	CHECK_EQ(h.calls->facts.unmatched, 0);
	fini(&h);
}

static void test_nodes(void)
{
	const struct hf_call_room room = {.nodes = 3, .depth = 100, .frames = 100};
	struct hart h;

	init(&h, &room);
	insn(&h, 0x100, HF_FLOW_CALL, 0x200);
	insn(&h, 0x200, HF_FLOW_CALL, 0x300);
	insn(&h, 0x300, HF_FLOW_CALL, 0x400);
	insn(&h, 0x400, HF_FLOW_RETURN, 0x304);
	insn(&h, 0x304, HF_FLOW_RETURN, 0x204);
	insn(&h, 0x204, HF_FLOW_RETURN, 0x104);
	plain(&h, 0x104);
	end(&h);
	check_node(&h, 0, HF_CALL_BEYOND, 0, 0, 2, 3);
	check_node(&h, 1, HF_CALL_ROOT, 0, 0x100, 1, 2);
	check_node(&h, 2, HF_CALL_FUNCTION, 1, 0x200, 1, 2);
	CHECK_EQ(h.calls->facts.refused, 2);
	fini(&h);
}

/* The memory of all stacks together is full: as beyond the limit of depth. */
static void test_frames(void)
{
	const struct hf_call_room room = {.nodes = 100, .depth = 100, .frames = 20};
	struct hart h;

	init(&h, &room);
	for (uint32_t pid = 0; pid < 2; pid++) {
		process(&h, pid);
		insn(&h, 0x100, HF_FLOW_CALL, 0x200);
		plain(&h, 0x200);
	}
	end(&h);
	CHECK_EQ(h.calls->facts.deep, 1);
	check_node(&h, 0, HF_CALL_BEYOND, 0, 0, 1, 1);
	fini(&h);
}

static void test_cycles(void)
{
	struct hart h;

	init(&h, NULL);
	cycles(&h, 0, 7);
	insn(&h, 0x100, HF_FLOW_CALL, 0x200);
	/* Nothing of the callee was executed yet. */
	cycles(&h, 0, 10);
	plain(&h, 0x200);
	cycles(&h, HF_EVF_NO_TIME, 0);
	cycles(&h, 0, INT64_MAX);
	cycles(&h, 0, 5);
	end(&h);
	CHECK_EQ(h.calls->tree.nodes[1].cycles, 17);
	CHECK_EQ(h.calls->tree.nodes[2].cycles, INT64_MAX);
	CHECK_EQ(h.calls->facts.timed, 4);
	fini(&h);
}

/* The stack of a chunk is that of its first instruction, with the trap that came before it. */
static void test_stacks(void)
{
	struct hart h;

	init(&h, NULL);
	insn(&h, 0x100, HF_FLOW_CALL, 0x200);
	CHECK_EQ(h.stacks, 1);
	CHECK_EQ(h.depth, 1);
	trap(&h, 0, 0);
	CHECK_EQ(hf_run_cutter_cut(h.cutter), 0);
	hf_calls_next_chunk(h.calls);
	/* A chunk without an instruction. */
	CHECK_EQ(hf_run_cutter_cut(h.cutter), 0);
	hf_calls_next_chunk(h.calls);
	plain(&h, 0x8000);
	CHECK_EQ(h.stacks, 3);
	CHECK_EQ(h.depth, 3);
	hf_calls_next_chunk(h.calls);
	end(&h);
	CHECK_EQ(h.stacks, 4);
	fini(&h);
}

int main(void)
{
	test_call();
	test_recursion();
	test_longjmp();
	test_call_at_end();
	test_stub();
	test_stub_chain();
	test_no_stub();
	test_stub_interrupted();
	test_stub_refused();
	test_swap();
	test_traps();
	test_trap_at_once();
	test_trap_return();
	test_contexts();
	test_depth();
	test_nodes();
	test_frames();
	test_cycles();
	test_stacks();
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What the texts of a profile have in common. */
#include "fs/profile/texts.h"
#include "codecs/isa/arm.h"
#include "codecs/isa/riscv.h"
#include "fs/facts/facts.h"

#include <inttypes.h>
#include <string.h>

/* The columns of an opcode in front of the text. */
enum { TEXT_AT = 9 };

uint8_t hf_profile_flow(const struct hf_count *row, uint32_t extensions)
{
	switch (row->isa) {
	case HF_ISA_RV32:
		return hf_riscv_flow(row->opcode, 32 | extensions);
	case HF_ISA_RV64:
		return hf_riscv_flow(row->opcode, 64 | extensions);
	default:
		return hf_arm_classify(row->opcode, row->size, row->isa).flow;
	}
}

const char *hf_profile_flow_name(unsigned flow)
{
	static const char *const names[HF_FLOW_COUNT] = {
		[HF_FLOW_PLAIN] = "plain",	       [HF_FLOW_BRANCH] = "branch",
		[HF_FLOW_JUMP] = "jump",	       [HF_FLOW_CALL] = "call",
		[HF_FLOW_INDIRECT_JUMP] = "jump",      [HF_FLOW_INDIRECT_CALL] = "call",
		[HF_FLOW_RETURN] = "return",	       [HF_FLOW_SWAP] = "swap",
		[HF_FLOW_TRAP_CALL] = "trap",	       [HF_FLOW_TRAP_RETURN] = "trap-return",
		[HF_FLOW_SYNC] = "sync",	       [HF_FLOW_WAIT] = "wait",
	};

	return flow < HF_FLOW_COUNT ? names[flow] : names[HF_FLOW_PLAIN];
}

bool hf_profile_target(const struct hf_count *row, uint64_t *ret_target)
{
	unsigned isa;

	if (row->isa == HF_ISA_RV32 || row->isa == HF_ISA_RV64)
		return hf_riscv_target(row->opcode, row->isa == HF_ISA_RV32 ? 32 : 64, row->pc, ret_target);
	return hf_arm_target(row->opcode, row->size, row->isa, row->pc, ret_target, &isa);
}

void hf_profile_text_of(const struct hf_profiled *of, const struct hf_count *row, char buf[HF_DISASM_ROOM])
{
	const unsigned isa = hf_disasm_isa(row->isa, row->opcode, of->extensions);
	uint8_t text[HF_DISASM_ROOM];
	const uint8_t *end = hf_disasm_put(of->disasm, text, row->opcode, row->size, isa);
	const size_t n = end - text > TEXT_AT ? (size_t)(end - text) - TEXT_AT : 0;

	memcpy(buf, text + TEXT_AT, n);
	buf[n] = 0;
}

void hf_profile_put_place(const struct hf_profiled *of, uint64_t pc, struct hf_sink *sink)
{
	const struct hf_symbol *symbol = of->symbols ? hf_symbols_at(of->symbols, pc) : NULL;

	if (!symbol)
		return;
	hf_sink_write(sink, symbol->name, symbol->name_size);
	if (pc != symbol->start)
		hf_sink_printf(sink, "+0x%" PRIx64, pc - symbol->start);
}

/* A name in a chain of calls, whose parts ';' separates. */
static void put_unparted(const char *name, size_t size, struct hf_sink *sink)
{
	for (size_t i = 0; i < size; i++)
		hf_sink_write(sink, name[i] == ';' ? ":" : &name[i], 1);
}

/* "sort 4711 ": who a root belongs to. The thread behind a '/', if it is not the first one. */
static void put_thread(const struct hf_profiled *of, uint32_t context, struct hf_sink *sink)
{
	const struct hf_run_context *is = context < of->tree->context_count ? &of->tree->contexts[context] : NULL;
	const uint32_t both = HF_CONTEXT_PID | HF_CONTEXT_TID;
	const char *name;

	if (!of->processes || !is || (is->fields & both) != both)
		return;
	name = hf_processes_name(of->processes, is->pid, is->tid);
	if (name) {
		put_unparted(name, strlen(name), sink);
		hf_sink_printf(sink, " ");
	}
	hf_sink_printf(sink, "%" PRIu32, is->pid);
	if (is->tid != is->pid)
		hf_sink_printf(sink, "/%" PRIu32, is->tid);
	hf_sink_printf(sink, " ");
}

void hf_profile_put_node(const struct hf_profiled *of, const struct hf_call_node *node, struct hf_sink *sink)
{
	static const char *const marks[HF_CALL_KINDS] = {
		[HF_CALL_BEYOND] = "(beyond the limits)", [HF_CALL_TRAP] = "[trap] ", [HF_CALL_INTERRUPT] = "[interrupt] "};
	const struct hf_symbol *symbol = of->symbols ? hf_symbols_at(of->symbols, node->function) : NULL;
	char place[HF_OBJECT_PLACE_MAX + 1];

	if (node->kind == HF_CALL_ROOT) {
		hf_sink_printf(sink, "[");
		put_thread(of, node->context, sink);
		hf_sink_printf(sink, "%s] ", hf_mode_name(node->mode));
	} else if (marks[node->kind]) {
		hf_sink_printf(sink, "%s", marks[node->kind]);
	}
	if (node->kind == HF_CALL_BEYOND)
		return;
	if (symbol)
		put_unparted(symbol->name, symbol->name_size, sink);
	else if (node->function == HF_CALL_UNKNOWN)
		hf_sink_printf(sink, "?");
	else
		put_unparted(place,
			     hf_object_put_place(hf_symbols_object_at(of->symbols, node->function), node->function,
						 place),
			     sink);
}

void hf_profile_put_head(const struct hf_profiled *of, struct hf_sink *sink)
{
	const struct hf_profile_source *source = of->source;

	hf_sink_printf(sink, "# hart%" PRIu32 ": %" PRIu64 " instructions retired", of->hart, of->counts->insns);
	if (source && (source->first || hf_facts_hart(source->open->facts, of->hart)->info.insns != source->end))
		hf_sink_printf(sink, ", %" PRIu64 " to %" PRIu64 " of it", source->first, source->end - 1);
	hf_sink_printf(sink, "\n");
}

void hf_profile_put_returns(const struct hf_profiled *of, struct hf_sink *sink)
{
	const struct hf_call_facts *facts = &of->tree->facts;

	if (of->sampled) {
		hf_sink_printf(sink, "# an estimate: the instructions of a chunk count for the function in which it begins; calls "
				     "are not counted\n");
		return;
	}
	hf_sink_printf(sink, "# %" PRIu64 " returns, %" PRIu64 " without a matching call; %" PRIu64 " calls beyond the limits\n",
		       facts->returns, facts->unmatched, facts->deep + facts->refused);
}

void hf_profile_put_calls(const struct hf_profiled *of, int columns, uint64_t calls, struct hf_sink *sink)
{
	if (of->sampled)
		hf_sink_printf(sink, "%*s", columns, "-");
	else
		hf_sink_printf(sink, "%*" PRIu64, columns, calls);
}

double hf_profile_share(const struct hf_profiled *of, uint64_t count)
{
	return of->counts->insns ? 100.0 * (double)count / (double)of->counts->insns : 0;
}

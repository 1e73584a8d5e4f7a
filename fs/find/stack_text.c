/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/find/stack_text.h"
#include "codecs/base/json_text.h"
#include "fs/facts/opened.h"

/* What stands before the address of a function, and its kind in JSON. */
static const struct {
	const char *words, *kind;
} kinds[HF_CALL_KINDS] = {
	[HF_CALL_BEYOND] = {"in", "unknown"},
	[HF_CALL_ROOT] = {"from", "root"},
	[HF_CALL_FUNCTION] = {"in", "function"},
	[HF_CALL_TRAP] = {"in trap handler", "trap"},
	[HF_CALL_INTERRUPT] = {"in interrupt handler", "interrupt"},
};

const struct hf_symbols *hf_find_symbols(const struct hf_open *open, uint32_t hart)
{
	const struct hf_symbols *all = open->symbol_files.symbols;
	const struct hf_symbols *symbols = all ? hf_symbols_of(all, hart) : NULL;
	const uint16_t machine = symbols ? hf_symbols_machine(symbols) : 0;

	/* As listings do: those of another machine name nothing. */
	return machine && !hf_arch_has_machine(open->stream->info.arch, machine) ? NULL : symbols;
}

/* ---- lines ---- */

void hf_find_put_place(struct hf_sink *sink, const struct hf_symbols *symbols, uint64_t pc)
{
	const struct hf_symbol *symbol = symbols ? hf_symbols_at(symbols, pc) : NULL;

	if (!symbol)
		return;
	hf_sink_write(sink, " <", 2);
	hf_sink_write(sink, symbol->name, symbol->name_size);
	if (pc != symbol->start)
		hf_sink_printf(sink, "+0x%llx", (unsigned long long)(pc - symbol->start));
	hf_sink_write(sink, ">", 1);
}

static void put_pc(struct hf_sink *sink, bool known, uint64_t pc, const struct hf_symbols *symbols)
{
	if (!known) {
		hf_sink_printf(sink, " ?");
		return;
	}
	hf_sink_printf(sink, " %016llx", (unsigned long long)pc);
	hf_find_put_place(sink, symbols, pc);
}

static void put_beyond(struct hf_sink *sink, const struct hf_stack *stack, const char *prefix)
{
	const uint64_t more = stack->calls_beyond + stack->traps_beyond;

	if (more > 1)
		hf_sink_printf(sink, "%s- %llu more, beyond the limit of %u\n", prefix, (unsigned long long)(more - 1),
			       HF_CALL_DEPTH);
}

void hf_stack_put_lines(struct hf_sink *sink, const struct hf_stack *stack, const struct hf_symbols *symbols,
			const char *prefix)
{
	for (uint32_t i = 0; i < stack->count; i++) {
		const struct hf_stack_frame *frame = &stack->frame[i];

		hf_sink_printf(sink, "%s%u", prefix, i);
		put_pc(sink, frame->has_pc, frame->pc, symbols);
		hf_sink_printf(sink, " %s", kinds[frame->kind].words);
		put_pc(sink, frame->function != HF_CALL_UNKNOWN, frame->function, symbols);
		hf_sink_write(sink, "\n", 1);
		if (!i)
			put_beyond(sink, stack, prefix);
	}
}

/* ---- JSON ---- */

/* "key":"80001028","key_symbol":"page","key_offset":40; null where it is not known. */
static void put_json_pc(struct hf_sink *sink, const char *key, bool known, uint64_t pc,
			const struct hf_symbols *symbols)
{
	const struct hf_symbol *symbol = known && symbols ? hf_symbols_at(symbols, pc) : NULL;

	if (!known) {
		hf_sink_printf(sink, ",\"%s\":null", key);
		return;
	}
	hf_sink_printf(sink, ",\"%s\":\"%016llx\"", key, (unsigned long long)pc);
	if (!symbol)
		return;
	hf_sink_printf(sink, ",\"%s_symbol\":", key);
	hf_put_json_text(sink, symbol->name, symbol->name_size, HF_JSON_AS_IT_IS);
	hf_sink_printf(sink, ",\"%s_offset\":%llu", key, (unsigned long long)(pc - symbol->start));
}

void hf_stack_put_json(struct hf_sink *sink, const struct hf_stack *stack, const struct hf_symbols *symbols)
{
	hf_sink_printf(sink, "[");
	for (uint32_t i = 0; i < stack->count; i++) {
		const struct hf_stack_frame *frame = &stack->frame[i];

		hf_sink_printf(sink, "%s{\"kind\":\"%s\"", i ? "," : "", kinds[frame->kind].kind);
		put_json_pc(sink, "pc", frame->has_pc, frame->pc, symbols);
		put_json_pc(sink, "function", frame->function != HF_CALL_UNKNOWN, frame->function, symbols);
		if (!i && stack->calls_beyond + stack->traps_beyond > 1)
			hf_sink_printf(sink, ",\"more\":%llu",
				       (unsigned long long)(stack->calls_beyond + stack->traps_beyond - 1));
		hf_sink_printf(sink, "}");
	}
	hf_sink_printf(sink, "]");
}

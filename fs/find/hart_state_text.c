/* SPDX-License-Identifier: Apache-2.0 */
/* Two forms of the same: lines, of which the first word says what they are about, and one object of JSON. */
#include "fs/find/hart_state_text.h"
#include "codecs/base/json_text.h"
#include "codecs/setup/code_size.h"
#include "fs/base/views.h"
#include "fs/facts/opened.h"
#include "fs/find/stack_text.h"

#include <stdio.h>
#include <stdlib.h>

/* A register or an access as in listings: "x5=1a", "W8 0000000080005360=0000000000000020". */
struct said {
	char *text;		    /* owned */
	size_t size, name;	    /* name: bytes before the '=', all if there is none */
	const struct hf_state_part *part; /* NULL: a register of which the trace tells nothing that counts */
};

struct writer {
	const struct hf_hart_state *state;
	const struct hf_symbols *symbols;
	struct hf_disasm *disasm;
	uint32_t extensions; /* those of the hart that share opcodes */
	struct hf_sink *sink;
	struct hf_enc *enc; /* of listings */
	struct said *reg;   /* sorted */
	size_t regs;
	struct said access[HF_HART_STATE_ACCESSES];
};

/* ---- words of the listing ---- */

static int new_listing(const struct hf_open *open, uint32_t hart, struct hf_enc **ret_enc)
{
	size_t view = 0;

	while (view < HF_ENC_COUNT && !(hf_fs_view_ops(view)->flags & HF_ENC_LINES))
		view++;
	return hf_enc_new(hf_fs_view_ops(view), open->stream, hart, NULL, ret_enc);
}

static int say_told(struct writer *w, const struct hf_state_part *part, struct said *ret_said)
{
	struct hf_event first = part->ev[0];
	struct hf_sink sink;
	int err = hf_sink_init_memory(&sink, 0);

	if (err)
		return err;
	/* What was written and what is merely known are told apart by their ordinals. */
	if (first.kind == HF_EVENT_REG)
		first.reg.role = HF_REG_DESTINATION;
	err = hf_enc_reset(w->enc, NULL);
	if (!err) {
		hf_enc_put(w->enc, &first, 1, &sink);
		hf_enc_put(w->enc, part->ev + 1, part->n - 1, &sink);
		hf_enc_end(w->enc, &sink);
		err = sink.err;
	}
	*ret_said = (struct said){.part = part};
	if (!err && sink.p - sink.start > 3) {
		/* "# x5=1a\n" */
		ret_said->size = (size_t)(sink.p - sink.start) - 3;
		ret_said->text = malloc(ret_said->size + 1);
		err = ret_said->text ? 0 : HF_ERR_NOMEM;
	}
	if (ret_said->text) {
		memcpy(ret_said->text, sink.start + 2, ret_said->size);
		ret_said->text[ret_said->size] = 0;
		ret_said->name = strcspn(ret_said->text, "=");
	}
	hf_sink_fini_memory(&sink);
	return err;
}

/* ---- which registers ---- */

static bool is_pc(const struct hf_ev_reg *reg)
{
	return (reg->class == HF_REG_INTEGER || reg->class == HF_REG_ARM_GENERAL) && reg->number == 32;
}

/* Those that everybody looks for: of the integer registers the i-th. */
static bool name_common(uint8_t isa, unsigned i, char name[8])
{
	const bool riscv = isa == HF_ISA_RV32 || isa == HF_ISA_RV64;

	if (!riscv && isa != HF_ISA_A64)
		return false;
	if (riscv ? i >= 31 : i >= 32)
		return false;
	if (!riscv && i == 31)
		snprintf(name, 8, "sp");
	else
		snprintf(name, 8, "x%u", i + riscv);
	return true;
}

static int compare(const void *a, const void *b)
{
	const struct hf_ev_reg *x = &((const struct said *)a)->part->ev->reg,
			       *y = &((const struct said *)b)->part->ev->reg;

	return x->class != y->class ? x->class - y->class : x->number - y->number;
}

static bool has_name(const struct writer *w, const char *name)
{
	for (size_t i = 0; i < w->regs; i++)
		if (w->reg[i].name == strlen(name) && memcmp(w->reg[i].text, name, w->reg[i].name) == 0)
			return true;
	return false;
}

static int add_unknown(struct writer *w, const char *name)
{
	char *text = strdup(name);

	if (!text)
		return HF_ERR_NOMEM;
	w->reg[w->regs++] = (struct said){.text = text, .size = strlen(text), .name = strlen(text)};
	return 0;
}

/* Those that are told, in their order, and before them the common ones that are not. */
static int collect(struct writer *w)
{
	const struct hf_hart_state *m = w->state;
	char name[8];
	int err = 0;

	w->reg = calloc(m->reg_count + 32, sizeof *w->reg);
	if (!w->reg)
		return HF_ERR_NOMEM;
	for (size_t i = 0; i < m->reg_count && !err; i++)
		if (hf_hart_state_counts(m, &m->reg[i]) && !is_pc(&m->reg[i].ev->reg))
			err = say_told(w, &m->reg[i], &w->reg[w->regs++]);
	if (err || !w->regs)
		return err;
	qsort(w->reg, w->regs, sizeof *w->reg, compare);
	for (unsigned i = 0; !err && name_common(m->insn.insn.isa, i, name); i++)
		if (!has_name(w, name))
			err = add_unknown(w, name);
	return err;
}

static int open_writer(struct writer *w, const struct hf_open *open)
{
	const struct hf_hart_state *m = w->state;
	int err = new_listing(open, m->hart, &w->enc);

	if (err)
		w->enc = NULL;
	if (!err)
		err = collect(w);
	for (size_t i = 0; i < m->access_count && !err; i++)
		err = say_told(w, &m->access[i], &w->access[i]);
	return err;
}

static void close_writer(struct writer *w)
{
	for (size_t i = 0; i < w->regs; i++)
		free(w->reg[i].text);
	for (size_t i = 0; i < HF_HART_STATE_ACCESSES; i++)
		free(w->access[i].text);
	free(w->reg);
	hf_enc_free(w->enc);
}

/* ---- context ---- */

enum { FIELDS = 5 };

/* *ret_known: the trace tells it. */
static const char *field_of(const struct hf_hart_state *m, size_t i, bool *ret_known, uint32_t *ret_value)
{
	const struct hf_ev_context *c = &m->context.context;
	const struct {
		const char *name;
		uint32_t bit, value;
	} fields[FIELDS] = {{"hw", HF_CONTEXT_HW, c->hw},
			    {"pid", HF_CONTEXT_PID, c->pid},
			    {"tid", HF_CONTEXT_TID, c->tid},
			    {"asid", HF_CONTEXT_ASID, c->asid},
			    {"vmid", HF_CONTEXT_VMID, c->vmid}};
	const uint16_t state = m->context.fields & HF_CONTEXT_STATE ? m->context.state : 0;

	*ret_known = m->context.kind == HF_EVENT_CONTEXT && m->context.fields & fields[i].bit;
	*ret_known &= !(fields[i].bit == HF_CONTEXT_PID && state & HF_STATE_NO_PID);
	*ret_known &= !(fields[i].bit == HF_CONTEXT_TID && state & HF_STATE_NO_TID);
	*ret_value = fields[i].value;
	return fields[i].name;
}

/* "7179     addi sp, sp, -48" */
static size_t disassemble(const struct writer *w, uint8_t text[HF_DISASM_ROOM])
{
	const struct hf_ev_insn *insn = &w->state->insn.insn;

	return (size_t)(hf_disasm_put(w->disasm, text, insn->opcode, insn->size,
				      hf_disasm_isa(insn->isa, insn->opcode, w->extensions)) -
			text);
}

/* ---- lines ---- */

static void put_context_lines(struct writer *w)
{
	const struct hf_hart_state *m = w->state;
	uint8_t text[HF_DISASM_ROOM];
	uint32_t value;
	bool known;

	hf_sink_printf(w->sink, "hart %u\nordinal %llu\nmode %s\npc %016llx", m->hart, (unsigned long long)m->ordinal,
		       hf_mode_name(m->insn.insn.mode), (unsigned long long)m->insn.insn.pc);
	hf_find_put_place(w->sink, w->symbols, m->insn.insn.pc);
	hf_sink_printf(w->sink, "\ninstruction %.*s\ncontext", (int)disassemble(w, text), (char *)text);
	for (size_t i = 0; i < FIELDS; i++) {
		const char *name = field_of(m, i, &known, &value);

		if (known)
			hf_sink_printf(w->sink, " %s=%u", name, value);
		else
			hf_sink_printf(w->sink, " %s=?", name);
	}
	hf_sink_printf(w->sink, "\n");
	if (m->lost)
		hf_sink_printf(
			w->sink,
			"# the flow breaks after instruction %llu, as if trace were missing: what was told of registers "
			"before is not here, and calls may be others\nlost %llu\n",
			(unsigned long long)m->lost_behind, (unsigned long long)m->lost_behind);
	if (m->doubt != HF_NOWHERE)
		hf_sink_printf(w->sink,
			       "# the trace contradicts itself after instruction %llu, and what was told before, from here on, "
			       "may be wrong\ndoubt %llu\n",
			       (unsigned long long)m->doubt, (unsigned long long)m->doubt);
}

static bool is_system(const struct said *said)
{
	const unsigned class = said->part ? said->part->ev->reg.class : HF_REG_NONE;

	return class == HF_REG_CSR || class == HF_REG_ARM_SYSTEM || class == HF_REG_ARM32_SYSTEM;
}

static void put_register_lines(struct writer *w)
{
	const struct hf_hart_state *m = w->state;
	bool system = false;

	hf_sink_printf(w->sink, "# registers: the value that was told last, and of which instruction\n");
	for (size_t i = 0; i < w->regs; i++) {
		const struct said *said = &w->reg[i];

		if (is_system(said) && !system)
			hf_sink_printf(w->sink,
				       "# system registers: traps and the hardware may have changed them since\n");
		system |= is_system(said);
		hf_sink_printf(w->sink, "register ");
		hf_sink_write(w->sink, said->text, said->size);
		if (said->part)
			hf_sink_printf(w->sink, " %llu\n", (unsigned long long)said->part->ordinal);
		else
			hf_sink_printf(w->sink, "=?\n");
	}
	if (!w->regs)
		hf_sink_printf(w->sink, "register ?\n");
	if (m->too_many)
		hf_sink_printf(w->sink, "# there are more than %d registers: some are left out\n",
			       HF_HART_STATE_REGISTERS);
	if (m->more_registers)
		hf_sink_printf(w->sink,
			       "# instructions before %llu were not looked at: they tell of further registers\n",
			       (unsigned long long)m->from);
}

static void put_access_lines(struct writer *w)
{
	const struct hf_hart_state *m = w->state;

	hf_sink_printf(w->sink, m->no_accesses ? "# traces of this kind do not tell of accesses\n"
					       : "# the last accesses, the newest first\n");
	for (size_t i = 0; i < m->access_count; i++) {
		hf_sink_printf(w->sink, "access %llu ", (unsigned long long)m->access[i].ordinal);
		hf_sink_write(w->sink, w->access[i].text, w->access[i].size);
		hf_sink_write(w->sink, "\n", 1);
	}
	if (!m->access_count)
		hf_sink_printf(w->sink, "access ?\n");
	if (m->more_accesses)
		hf_sink_printf(w->sink,
			       "# instructions before %llu were not looked at: they tell of further accesses\n",
			       (unsigned long long)m->from);
}

static void put_lines(struct writer *w)
{
	put_context_lines(w);
	hf_sink_printf(w->sink, "# calls, the innermost first\n");
	hf_stack_put_lines(w->sink, &w->state->stack, w->symbols, "call ");
	put_register_lines(w);
	put_access_lines(w);
}

/* ---- JSON ---- */

static void put_json_context(struct writer *w)
{
	const struct hf_hart_state *m = w->state;
	uint8_t text[HF_DISASM_ROOM];
	uint32_t value;
	bool known;

	hf_sink_printf(
		w->sink, "{\"hart\":%u,\"ordinal\":%llu,\"mode\":\"%s\",\"pc\":\"%016llx\",\"instruction\":", m->hart,
		(unsigned long long)m->ordinal, hf_mode_name(m->insn.insn.mode), (unsigned long long)m->insn.insn.pc);
	hf_put_json_text(w->sink, (char *)text, disassemble(w, text), HF_JSON_AS_IT_IS);
	hf_sink_printf(w->sink, ",\"context\":{");
	for (size_t i = 0; i < FIELDS; i++) {
		const char *name = field_of(m, i, &known, &value);

		if (known)
			hf_sink_printf(w->sink, "%s\"%s\":%u", i ? "," : "", name, value);
		else
			hf_sink_printf(w->sink, "%s\"%s\":null", i ? "," : "", name);
	}
	if (m->lost)
		hf_sink_printf(w->sink, "},\"lost\":%llu", (unsigned long long)m->lost_behind);
	else
		hf_sink_printf(w->sink, "},\"lost\":null");
	if (m->doubt != HF_NOWHERE)
		hf_sink_printf(w->sink, ",\"doubt\":%llu,\"stack\":", (unsigned long long)m->doubt);
	else
		hf_sink_printf(w->sink, ",\"doubt\":null,\"stack\":");
}

/* Of a word such as "x5=1a" the part before the '=', or behind it. */
static void put_json_value(struct writer *w, const struct said *said)
{
	if (said->name < said->size)
		hf_put_json_text(w->sink, said->text + said->name + 1, said->size - said->name - 1, HF_JSON_AS_IT_IS);
	else
		hf_sink_printf(w->sink, "null");
}

static void put_json_registers(struct writer *w)
{
	hf_sink_printf(w->sink, ",\"registers\":{");
	for (size_t i = 0; i < w->regs; i++) {
		const struct said *said = &w->reg[i];

		hf_sink_printf(w->sink, i ? "," : "");
		hf_put_json_text(w->sink, said->text, said->name, HF_JSON_AS_IT_IS);
		if (!said->part) {
			hf_sink_printf(w->sink, ":null");
			continue;
		}
		hf_sink_printf(w->sink, ":{\"value\":");
		put_json_value(w, said);
		hf_sink_printf(w->sink, ",\"ordinal\":%llu}", (unsigned long long)said->part->ordinal);
	}
	hf_sink_printf(w->sink, "}");
}

static void put_json_access(struct writer *w, const struct said *said)
{
	static const char *const kinds[4] = {"?", "R", "W", "RW"};
	const struct hf_event *ev = said->part->ev;

	hf_sink_printf(w->sink, "{\"ordinal\":%llu,\"kind\":\"%s\",\"size\":%u,\"address\":",
		       (unsigned long long)said->part->ordinal, kinds[ev->flags & (HF_EVF_READ | HF_EVF_WRITE)],
		       ev->mem.size);
	if (ev->flags & HF_EVF_NO_ADDRESS)
		hf_sink_printf(w->sink, "null,\"value\":");
	else
		hf_sink_printf(w->sink, "\"%016llx\",\"value\":", (unsigned long long)ev->mem.address);
	if (ev->words)
		put_json_value(w, said);
	else
		hf_sink_printf(w->sink, "null");
	hf_sink_printf(w->sink, "}");
}

static void put_json(struct writer *w)
{
	const struct hf_hart_state *m = w->state;

	put_json_context(w);
	hf_stack_put_json(w->sink, &m->stack, w->symbols);
	put_json_registers(w);
	hf_sink_printf(w->sink, ",\"accesses\":[");
	for (size_t i = 0; i < m->access_count; i++) {
		hf_sink_printf(w->sink, i ? "," : "");
		put_json_access(w, &w->access[i]);
	}
	hf_sink_printf(w->sink, "]");
	if (m->too_many)
		hf_sink_printf(w->sink, ",\"left_out\":true");
	if (m->more_registers || m->more_accesses)
		hf_sink_printf(w->sink, ",\"not_looked_at_before\":%llu", (unsigned long long)m->from);
	hf_sink_printf(w->sink, "}\n");
}

int hf_hart_state_put(const struct hf_hart_state *state, const struct hf_open *open, struct hf_disasm *disasm,
		      enum hf_hart_state_form form, struct hf_sink *sink)
{
	struct writer w = {.state = state,
			   .symbols = hf_find_symbols(open, state->hart),
			   .disasm = disasm,
			   .sink = sink,
			   .extensions = hf_code_size_extensions(open->stream, state->hart)};
	int err = open_writer(&w, open);

	if (!err && form == HF_HART_STATE_JSON)
		put_json(&w);
	else if (!err)
		put_lines(&w);
	close_writer(&w);
	return err ? err : sink->err;
}

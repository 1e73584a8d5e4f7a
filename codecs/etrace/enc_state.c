/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The encoder's state as a blob: its fields by table, the held instruction, and the tables as far as they are filled.
 * At the last instruction before a sync by count, which is where chunks usually end, the tables are as good as empty.
 */
#include "codecs/base/bytes.h"
#include "codecs/etrace/encoder.h"
#include "codecs/isa/riscv.h"

/* What the fields, the held instruction and the counts take at most. */
#define FIELDS_MAX 360

/* Of a run's length, HF_ETRACE_ENC_RUN_MAX at most, and passes. */
#define RUN_BYTES (3 + 1)

/* Of how often a return address lies on the stack. */
#define REPEAT_BYTES 3

#define STATE(member, maximum) HF_FIELD_ROW(struct hf_etrace_enc_state, member, maximum)

static const struct hf_field_row fields[] = {
	STATE(flags, HF_ETRACE_ENC_ALL),
	STATE(left, UINT32_MAX),
	STATE(base, UINT64_MAX),
	STATE(branches, UINT64_MAX / 2),
	STATE(pbc, UINT64_MAX / 2),
	STATE(map, 0x7fffffff),
	STATE(resync, UINT32_MAX),
	STATE(depth, 1u << HF_ETRACE_TABLE_MAX),
	STATE(irets, HF_ETRACE_ENC_IRETS_MAX + 1),
	STATE(before, UINT32_MAX),
	STATE(before_pc, UINT64_MAX),
	STATE(cause, UINT64_MAX),
	STATE(value, UINT64_MAX),
	STATE(epc, UINT64_MAX),
	STATE(trap_mode, HF_MODE_COUNT - 1),
	STATE(mode, HF_MODE_COUNT - 1),
	STATE(attempt_mode, HF_MODE_COUNT - 1),
	STATE(attempt_pc, UINT64_MAX),
	STATE(context, UINT64_MAX),
	STATE(time, UINT64_MAX),
	STATE(ids[0], UINT32_MAX),
	STATE(ids[1], UINT32_MAX),
	STATE(ids[2], UINT32_MAX),
	STATE(ids[3], UINT32_MAX),
	STATE(run, UINT64_MAX),
	STATE(run_count, HF_ETRACE_ENC_RUNS),
	STATE(stack_count, 1u << HF_ETRACE_TABLE_MAX),
	STATE(told_time, UINT64_MAX),
	STATE(block, 1u << 24),
	STATE(number, UINT16_MAX),
	STATE(frame_count, HF_ETRACE_ENC_FRAME - 1),
};

#define SIZES ((1u << HF_ETRACE_ENC_SIZES) - 1)

/* With a data trace only. */
static const struct hf_field_row data_fields[] = {
	STATE(data.history.address_known, SIZES),
	STATE(data.history.data_known, SIZES),
	STATE(data.got, HF_ETRACE_GOT_ALL),
	STATE(data.address, UINT64_MAX),
	STATE(data.read, UINT64_MAX),
	STATE(data.written, UINT64_MAX),
	STATE(data.operand, UINT64_MAX),
	STATE(data.accesses, HF_ETRACE_ENC_ACCESSES_MAX),
	STATE(data.missed, UINT16_MAX),
	STATE(data.id, UINT16_MAX),
};

/* What these fields and their length take at most, and the histories of the sizes. */
#define DATA_MAX (64 + 2 * HF_VARINT_MAX * HF_ETRACE_ENC_SIZES)

static bool keeps_stack(const struct hf_etrace_config *c)
{
	return (c->params.modes & HF_ETRACE_IMPLICIT_RETURN) && c->profile != HF_ETRACE_C111;
}

static bool keeps_repeats(const struct hf_etrace_config *c)
{
	return hf_etrace_repeat_max(&c->params, c->params.modes) != 0;
}

static size_t size_if(uint32_t modes, uint32_t mode, unsigned bits)
{
	return modes & mode ? (size_t)1 << bits : 0;
}

size_t hf_etrace_enc_blob_max(const struct hf_etrace_config *c)
{
	const struct hf_etrace_params *p = &c->params;
	const size_t cache = size_if(p->modes, HF_ETRACE_JUMP_TARGET_CACHE, p->cache_size);
	const size_t predictor = size_if(p->modes, HF_ETRACE_BRANCH_PREDICTION, p->bpred_size);
	const size_t stack = keeps_stack(c) ? (size_t)1 << (p->return_stack_size ? p->return_stack_size :
									      p->call_counter_size) : 0;

	return FIELDS_MAX + (HF_VARINT_MAX + RUN_BYTES) * HF_ETRACE_ENC_RUNS + (predictor + 3) / 4 +
	       (HF_VARINT_MAX + (keeps_repeats(c) ? REPEAT_BYTES : 0)) * stack + (cache + 7) / 8 + HF_VARINT_MAX * cache +
	       (c->data ? DATA_MAX : 0);
}

/*
 * Whatever comes behind the held instruction is a sync packet, which empties the tables; of them only what the held
 * one itself asks is needed.
 */
static bool tables_end(const struct hf_etrace_enc *e)
{
	const struct hf_ev_insn *insn = &e->held.insn;
	unsigned rd;
	uint64_t value;

	return e->c.sync && e->s.left == 1 && (e->s.flags & HF_ETRACE_ENC_HELD) && insn->flow != HF_FLOW_RETURN &&
	       insn->flow != HF_FLOW_SWAP && !hf_riscv_upper(insn->opcode, e->xlen, insn->pc, &rd, &value);
}

/* ---- the visit ---- */

static void visit_held(struct hf_fields *f, struct hf_event *held)
{
	struct hf_ev_insn *insn = &held->insn;

	if (f->loading)
		*held = (struct hf_event){.kind = HF_EVENT_INSN};
	HF_FIELD(f, insn->pc, UINT64_MAX);
	HF_FIELD_NEAR(f, insn->target, insn->pc);
	hf_field_bytes(f, &insn->opcode, sizeof insn->opcode);
	HF_FIELD(f, insn->size, 4);
	HF_FIELD(f, insn->isa, HF_ISA_COUNT - 1);
	HF_FIELD(f, insn->flow, HF_FLOW_COUNT - 1);
	HF_FIELD(f, insn->mode, HF_MODE_COUNT - 1);
	HF_FIELD(f, held->flags, HF_EVF_TAKEN | HF_EVF_OPEN);
}

static void visit_runs(struct hf_fields *f, struct hf_etrace_enc *e, uint64_t *last)
{
	for (uint32_t i = 0; i < e->s.run_count && !f->err; i++) {
		struct hf_etrace_run *run = &e->runs[i];

		HF_FIELD_NEAR(f, run->first, *last);
		HF_FIELD(f, run->length, HF_ETRACE_ENC_RUN_MAX);
		HF_FIELD(f, run->passes, HF_ETRACE_ENC_RUN_PASSES);
		hf_fields_require(f, run->passes != 0);
		*last = run->first + run->length;
	}
}

static void visit_stack(struct hf_fields *f, struct hf_etrace_enc *e, uint32_t count, uint64_t *last)
{
	for (uint32_t i = 0; keeps_stack(&e->c) && i < count && !f->err; i++) {
		HF_FIELD_NEAR(f, e->stack[i], *last);
		if (keeps_repeats(&e->c))
			HF_FIELD(f, e->repeat[i], UINT16_MAX);
		else if (f->loading)
			e->repeat[i] = 0;
		*last = e->stack[i];
	}
}

static void visit_predictor(struct hf_fields *f, struct hf_etrace_enc *e, bool ends)
{
	const size_t n = size_if(e->c.params.modes, HF_ETRACE_BRANCH_PREDICTION, e->c.params.bpred_size);
	const size_t own = e->held.insn.pc >> e->c.params.iaddress_lsb & (n - 1);

	if (n && ends) {
		HF_FIELD(f, e->predictor[own], 3);
		return;
	}
	for (size_t i = 0; i < n && !f->err; i += 4) {
		uint8_t four = 0;

		for (size_t k = i; k < i + 4 && k < n; k++)
			four |= (uint8_t)(e->predictor[k] << 2 * (k - i));
		hf_field_bytes(f, &four, 1);
		for (size_t k = i; f->loading && k < i + 4 && k < n; k++)
			e->predictor[k] = four >> 2 * (k - i) & 3;
	}
}

static void visit_cache(struct hf_fields *f, struct hf_etrace_enc *e, bool ends)
{
	const size_t n = size_if(e->c.params.modes, HF_ETRACE_JUMP_TARGET_CACHE, e->c.params.cache_size);
	uint64_t last = e->s.base;

	if (ends)
		return;
	for (size_t i = 0; i < n && !f->err; i += 8) {
		uint8_t eight = 0;

		for (size_t k = i; k < i + 8 && k < n; k++)
			eight |= (uint8_t)(e->cached[k] << (k - i));
		hf_field_bytes(f, &eight, 1);
		for (size_t k = i; f->loading && k < i + 8 && k < n; k++)
			e->cached[k] = eight >> (k - i) & 1;
	}
	for (size_t i = 0; i < n && !f->err; i++)
		if (e->cached[i])
			last = HF_FIELD_NEAR(f, e->cache[i], last);
}

static void visit_data(struct hf_fields *f, struct hf_etrace_enc *e)
{
	struct hf_etrace_data_state *history = &e->s.data.history;

	if (!e->c.data)
		return;
	HF_FIELD_ROWS(f, data_fields, &e->s);
	for (unsigned i = 0; i < HF_ETRACE_ENC_SIZES; i++) {
		if (history->address_known >> i & 1)
			HF_FIELD(f, history->address[i], UINT64_MAX);
		if (history->data_known >> i & 1)
			HF_FIELD(f, history->data[i], UINT64_MAX);
	}
}

static bool fits(const struct hf_etrace_enc *e)
{
	const struct hf_etrace_enc_state *s = &e->s;
	const bool returns = e->c.params.modes & HF_ETRACE_IMPLICIT_RETURN;

	return s->pbc <= s->branches && s->left != 0 && (returns || s->stack_count == 0) &&
	       (!returns || s->stack_count <= hf_etrace_enc_stack_limit(e)) &&
	       (s->branches <= 31 || (e->c.params.modes & HF_ETRACE_BRANCH_PREDICTION));
}

void hf_etrace_enc_visit(struct hf_enc *enc, struct hf_fields *f)
{
	struct hf_etrace_enc *e = (struct hf_etrace_enc *)enc;
	struct hf_etrace_enc_state *s = &e->s;
	uint32_t stack_count, stored;
	uint64_t last;
	bool ends;

	if (f->loading)
		hf_etrace_enc_reset(e);
	/* Saving: a stack that a sync packet empties is told as empty. */
	stack_count = s->stack_count;
	if (!f->loading && tables_end(e))
		s->stack_count = 0;
	HF_FIELD_ROWS(f, fields, s);
	stored = s->stack_count;
	if (!f->loading)
		s->stack_count = stack_count;
	hf_fields_require(f, fits(e));
	if (f->err)
		return;
	if (s->flags & HF_ETRACE_ENC_HELD)
		visit_held(f, &e->held);
	ends = tables_end(e);
	last = s->base;
	visit_runs(f, e, &last);
	visit_stack(f, e, stored, &last);
	visit_predictor(f, e, ends);
	visit_cache(f, e, ends);
	visit_data(f, e);
	hf_field_bytes(f, s->frame, s->frame_count);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The encoder's state as a blob: its fields by table, the held instruction, and the tables as far as they are filled.
 * At the last instruction before a sync by count, which is where chunks usually end, the tables are as good as empty.
 */
#include "codecs/base/bytes.h"
#include "codecs/etrace/encoder.h"
#include "codecs/isa/riscv.h"

/* What the fields, the held instruction and the counts take at most. */
#define FIELDS_MAX 320

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
	const size_t stack = keeps_stack(c) ? hf_etrace_stack_size(p) : 0;

	return FIELDS_MAX + (HF_VARINT_MAX + RUN_BYTES) * HF_ETRACE_ENC_RUNS + (predictor + 3) / 4 +
	       (HF_VARINT_MAX + (keeps_repeats(c) ? REPEAT_BYTES : 0)) * stack + (cache + 7) / 8 * 2 +
	       HF_VARINT_MAX * cache + (c->data ? DATA_MAX : 0);
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
	HF_FIELD(f, insn->opcode, UINT32_MAX);
	HF_FIELD(f, insn->size, 4);
	HF_FIELD(f, insn->isa, HF_ISA_COUNT - 1);
	HF_FIELD(f, insn->flow, HF_FLOW_COUNT - 1);
	HF_FIELD(f, insn->mode, HF_MODE_COUNT - 1);
	HF_FIELD(f, held->flags, HF_EVF_TAKEN | HF_EVF_OPEN);
}

static void visit_runs(struct hf_fields *f, struct hf_etrace_enc *e)
{
	uint64_t last = e->s.base;

	for (uint32_t i = 0; i < e->s.run_count && !f->err; i++) {
		struct hf_etrace_run *run = &e->runs[i];

		HF_FIELD_NEAR(f, run->first, last);
		HF_FIELD(f, run->length, HF_ETRACE_ENC_RUN_MAX);
		HF_FIELD(f, run->passes, HF_ETRACE_ENC_RUN_PASSES);
		hf_fields_require(f, run->passes != 0);
		last = run->first + run->length;
	}
}

/* The next sync packet forgets all but what it says of the held branch itself. */
static void visit_own_counter(struct hf_fields *f, struct hf_etrace_enc *e)
{
	uint8_t *counter = hf_etrace_counter(&e->tables, e->held.insn.pc);

	HF_FIELD(f, *counter, 3);
	e->tables.predicted = true;
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

	return s->pbc <= s->branches && s->left != 0 &&
	       (s->branches <= 31 || (e->c.params.modes & HF_ETRACE_BRANCH_PREDICTION));
}

void hf_etrace_enc_visit(struct hf_enc *enc, struct hf_fields *f)
{
	struct hf_etrace_enc *e = (struct hf_etrace_enc *)enc;
	struct hf_etrace_enc_state *s = &e->s;

	if (f->loading) {
		hf_etrace_enc_reset(e);
		e->ending = NULL;
	}
	HF_FIELD_ROWS(f, fields, s);
	hf_fields_require(f, fits(e));
	if (f->err)
		return;
	if (s->flags & HF_ETRACE_ENC_HELD)
		visit_held(f, &e->held);
	visit_runs(f, e);
	if (!tables_end(e))
		hf_etrace_tables_visit(&e->tables, f);
	else if (e->c.params.modes & HF_ETRACE_BRANCH_PREDICTION)
		visit_own_counter(f, e);
	visit_data(f, e);
	hf_field_bytes(f, s->frame, s->frame_count);
}

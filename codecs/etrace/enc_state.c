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

#define STATE(member, maximum) HF_STATE_FIELD(struct hf_etrace_enc_state, member, maximum)

static const struct hf_state_field fields[] = {
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

static const struct hf_state_table table = {
	.version = 3,
	.count = sizeof fields / sizeof fields[0],
	.fields = fields,
};

#define SIZES ((1u << HF_ETRACE_ENC_SIZES) - 1)

static const struct hf_state_field data_fields[] = {
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

/* With a data trace only. */
static const struct hf_state_table data_table = {
	.version = 1,
	.count = sizeof data_fields / sizeof data_fields[0],
	.fields = data_fields,
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

/* ---- saving ---- */

static uint8_t *put_held(uint8_t *p, const struct hf_event *held)
{
	const struct hf_ev_insn *insn = &held->insn;

	p = hf_put_varint(p, insn->pc);
	p = hf_put_varint(p, hf_zigzag(insn->target - insn->pc));
	hf_put32(p, insn->opcode);
	p[4] = insn->size;
	p[5] = insn->isa;
	p[6] = insn->flow;
	p[7] = insn->mode;
	p[8] = held->flags;
	return p + 9;
}

static uint8_t *put_predictor(uint8_t *p, const struct hf_etrace_enc *e, bool ends)
{
	const size_t n = size_if(e->c.params.modes, HF_ETRACE_BRANCH_PREDICTION, e->c.params.bpred_size);
	const size_t own = e->held.insn.pc >> e->c.params.iaddress_lsb & (n - 1);

	if (n && ends) {
		*p++ = e->predictor[own];
		return p;
	}
	for (size_t i = 0; i < n; i += 4) {
		*p = 0;
		for (size_t k = i; k < i + 4 && k < n; k++)
			*p |= (uint8_t)(e->predictor[k] << 2 * (k - i));
		p++;
	}
	return p;
}

static uint8_t *put_cache(uint8_t *p, const struct hf_etrace_enc *e, bool ends)
{
	const size_t n = size_if(e->c.params.modes, HF_ETRACE_JUMP_TARGET_CACHE, e->c.params.cache_size);
	uint64_t last = e->s.base;

	if (ends)
		return p;
	for (size_t i = 0; i < n; i += 8) {
		*p = 0;
		for (size_t k = i; k < i + 8 && k < n; k++)
			*p |= (uint8_t)(e->cached[k] << (k - i));
		p++;
	}
	for (size_t i = 0; i < n; i++)
		if (e->cached[i]) {
			p = hf_put_varint(p, hf_zigzag(e->cache[i] - last));
			last = e->cache[i];
		}
	return p;
}

/* A state by its table, behind its length. */
static uint8_t *put_fields(uint8_t *p, const struct hf_state_table *t, const struct hf_etrace_enc_state *s)
{
	const size_t n = hf_state_save(t, s, p + 2);

	hf_put16(p, (uint16_t)n);
	return p + 2 + n;
}

static uint8_t *put_data(uint8_t *p, const struct hf_etrace_enc *e)
{
	const struct hf_etrace_data_state *history = &e->s.data.history;

	if (!e->c.data)
		return p;
	p = put_fields(p, &data_table, &e->s);
	for (unsigned i = 0; i < HF_ETRACE_ENC_SIZES; i++) {
		if (history->address_known >> i & 1)
			p = hf_put_varint(p, history->address[i]);
		if (history->data_known >> i & 1)
			p = hf_put_varint(p, history->data[i]);
	}
	return p;
}

size_t hf_etrace_enc_save(const struct hf_enc *enc, uint8_t *blob)
{
	const struct hf_etrace_enc *e = (const struct hf_etrace_enc *)enc;
	const bool ends = tables_end(e);
	struct hf_etrace_enc_state s = e->s;
	uint64_t last = s.base;
	uint8_t *p;

	if (ends)
		s.stack_count = 0;
	p = put_fields(blob, &table, &s);
	if (s.flags & HF_ETRACE_ENC_HELD)
		p = put_held(p, &e->held);
	for (uint32_t i = 0; i < s.run_count; i++) {
		p = hf_put_varint(p, hf_zigzag(e->runs[i].first - last));
		p = hf_put_varint(p, e->runs[i].length);
		*p++ = (uint8_t)e->runs[i].passes;
		last = e->runs[i].first + e->runs[i].length;
	}
	for (uint32_t i = 0; keeps_stack(&e->c) && i < s.stack_count; i++) {
		p = hf_put_varint(p, hf_zigzag(e->stack[i] - last));
		if (keeps_repeats(&e->c))
			p = hf_put_varint(p, e->repeat[i]);
		last = e->stack[i];
	}
	p = put_predictor(p, e, ends);
	p = put_data(put_cache(p, e, ends), e);
	memcpy(p, s.frame, s.frame_count);
	return (size_t)(p + s.frame_count - blob);
}

/* ---- loading ---- */

struct reading {
	const uint8_t *p, *end;
	bool bad;
};

static uint64_t number(struct reading *r)
{
	uint64_t v = 0;
	const uint8_t *p = r->bad ? NULL : hf_get_varint(r->p, r->end, &v);

	if (!p)
		r->bad = true;
	else
		r->p = p;
	return r->bad ? 0 : v;
}

static const uint8_t *bytes(struct reading *r, size_t n)
{
	static const uint8_t none[16]; /* what the fixed-size callers may still look at */
	const uint8_t *p = r->p;

	if (r->bad || (size_t)(r->end - p) < n) {
		r->bad = true;
		return none;
	}
	r->p += n;
	return p;
}

static uint8_t byte(struct reading *r)
{
	return *bytes(r, 1);
}

static void get_held(struct reading *r, struct hf_event *held)
{
	const uint8_t *p;

	*held = (struct hf_event){.kind = HF_EVENT_INSN};
	held->insn.pc = number(r);
	held->insn.target = held->insn.pc + hf_unzigzag(number(r));
	p = bytes(r, 9);
	held->insn.opcode = hf_get32(p);
	held->insn.size = p[4];
	held->insn.isa = p[5];
	held->insn.flow = p[6];
	held->insn.mode = p[7];
	held->flags = p[8];
	r->bad |= held->insn.size > 4 || held->insn.isa >= HF_ISA_COUNT || held->insn.flow >= HF_FLOW_COUNT ||
		  held->insn.mode >= HF_MODE_COUNT || held->flags > (HF_EVF_TAKEN | HF_EVF_OPEN);
}

static void get_predictor(struct reading *r, struct hf_etrace_enc *e, bool ends)
{
	const size_t n = size_if(e->c.params.modes, HF_ETRACE_BRANCH_PREDICTION, e->c.params.bpred_size);
	const size_t own = e->held.insn.pc >> e->c.params.iaddress_lsb & (n - 1);

	if (n && ends) {
		const uint8_t entry = byte(r);

		r->bad |= entry > 3;
		e->predictor[own] = entry & 3;
		return;
	}
	for (size_t i = 0; i < n; i += 4) {
		const uint8_t four = byte(r);

		for (size_t k = i; k < i + 4 && k < n; k++)
			e->predictor[k] = four >> 2 * (k - i) & 3;
	}
}

static void get_cache(struct reading *r, struct hf_etrace_enc *e, bool ends)
{
	const size_t n = size_if(e->c.params.modes, HF_ETRACE_JUMP_TARGET_CACHE, e->c.params.cache_size);
	uint64_t last = e->s.base;

	if (ends)
		return;
	for (size_t i = 0; i < n; i += 8) {
		const uint8_t eight = byte(r);

		for (size_t k = i; k < i + 8 && k < n; k++)
			e->cached[k] = eight >> (k - i) & 1;
	}
	for (size_t i = 0; i < n; i++)
		if (e->cached[i])
			last = e->cache[i] = last + hf_unzigzag(number(r));
}

/* Returns the last address that they tell. */
static uint64_t get_runs(struct reading *r, struct hf_etrace_enc *e)
{
	uint64_t last = e->s.base;

	for (uint32_t i = 0; i < e->s.run_count; i++) {
		struct hf_etrace_run *run = &e->runs[i];
		uint64_t length;

		run->first = last + hf_unzigzag(number(r));
		length = number(r);
		run->length = (uint32_t)length;
		run->passes = byte(r);
		r->bad |= length > HF_ETRACE_ENC_RUN_MAX || run->passes == 0 || run->passes > HF_ETRACE_ENC_RUN_PASSES;
		last = run->first + length;
	}
	return last;
}

static void get_fields(struct reading *r, const struct hf_state_table *t, struct hf_etrace_enc_state *s)
{
	const size_t n = hf_get16(bytes(r, 2));
	const uint8_t *own = bytes(r, n);

	r->bad = r->bad || hf_state_load(t, s, own, n);
}

static void get_data(struct reading *r, struct hf_etrace_enc *e)
{
	struct hf_etrace_data_state *history = &e->s.data.history;

	if (!e->c.data)
		return;
	get_fields(r, &data_table, &e->s);
	for (unsigned i = 0; i < HF_ETRACE_ENC_SIZES; i++) {
		history->address[i] = history->address_known >> i & 1 ? number(r) : 0;
		history->data[i] = history->data_known >> i & 1 ? number(r) : 0;
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

int hf_etrace_enc_load(struct hf_enc *enc, const uint8_t *blob, size_t size)
{
	struct hf_etrace_enc *e = (struct hf_etrace_enc *)enc;
	struct reading r = {.p = blob, .end = blob + size};
	uint64_t last;
	bool ends;

	hf_etrace_enc_reset(e);
	get_fields(&r, &table, &e->s);
	if (r.bad || !fits(e))
		return HF_ERR_STATE;
	if (e->s.flags & HF_ETRACE_ENC_HELD)
		get_held(&r, &e->held);
	ends = tables_end(e);
	last = get_runs(&r, e);
	for (uint32_t i = 0; keeps_stack(&e->c) && i < e->s.stack_count; i++) {
		last = e->stack[i] = last + hf_unzigzag(number(&r));
		e->repeat[i] = keeps_repeats(&e->c) ? (uint16_t)number(&r) : 0;
	}
	get_predictor(&r, e, ends);
	get_cache(&r, e, ends);
	get_data(&r, e);
	memcpy(e->s.frame, bytes(&r, e->s.frame_count), e->s.frame_count);
	return r.bad || r.p != r.end ? HF_ERR_STATE : 0;
}

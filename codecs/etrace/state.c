/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State blobs: the place in the stream, the core field by field, then the tables as far as they are not as behind a
 * synchronisation. A blob of a pause inside a packet has the place before that packet, which is read again.
 */
#include "codecs/etrace/decoder.h"

#include "codecs/base/bytes.h"

struct stored {
	struct hf_etrace_place place;
	struct hf_etrace_core core;
};

#define PLACE(member, max) HF_FIELD_ROW(struct stored, place.member, max)
#define CORE(member, max) HF_FIELD_ROW(struct stored, core.member, max)

static const struct hf_field_row fields[] = {
	PLACE(part, UINT32_MAX), PLACE(run, 64), PLACE(counter, UINT16_MAX), PLACE(inside, 1), PLACE(counted, 1),
	PLACE(aligned, 1), PLACE(entry.at, INT64_MAX), PLACE(entry.frame, INT64_MAX), PLACE(entry.before, 127),
	CORE(pc, UINT64_MAX), CORE(base, UINT64_MAX), CORE(prev_address, UINT64_MAX), CORE(target, UINT64_MAX),
	CORE(context, UINT64_MAX), CORE(next_epc, UINT64_MAX), CORE(predicted, HF_ETRACE_PREDICTED_MAX),
	CORE(bits, UINT64_MAX), CORE(gap_offset, UINT64_MAX), CORE(gap_bytes, UINT64_MAX), CORE(gap_detail, UINT64_MAX),
	CORE(unsynced, UINT64_MAX),
	CORE(time, UINT64_MAX), CORE(steps, UINT64_MAX), CORE(access_lost, UINT64_MAX), CORE(unmet, UINT64_MAX),
	CORE(modes, UINT32_MAX), CORE(irets, UINT32_MAX), CORE(gap_code, HF_ERRI_COUNT), CORE(prev_irets, UINT32_MAX),
	CORE(nbits, 33), CORE(against, 1), CORE(privilege, UINT8_MAX), CORE(phase, HF_ETRACE_ENTER), CORE(adjacent, 4),
	CORE(prev_end, HF_ETRACE_END_TRAP_CALL), CORE(entering, 2), CORE(flags, HF_ETRACE_FLAGS), CORE(data_on, 1),
	CORE(passed_over, 1), CORE(reported, 1), CORE(fenced, HF_ETRACE_FENCES - 1), CORE(fence, HF_ETRACE_ACCESSES),
	CORE(data_lost, 1),
	CORE(time_width, 64), CORE(f0s_width, HF_ETRACE_F0S_MAX), CORE(return_stack_size, HF_ETRACE_TABLE_MAX),
	CORE(call_counter_size, HF_ETRACE_TABLE_MAX), CORE(bpred_size, HF_ETRACE_TABLE_MAX),
	CORE(cache_size, HF_ETRACE_TABLE_MAX),
};

/* ---- tables ---- */

static void visit_predictor(struct hf_fields *f, struct hf_etrace_tables *t)
{
	for (uint32_t i = 0; i <= t->predictor_mask && !f->err; i += 4) {
		uint8_t four = 0;

		for (uint32_t j = i; j <= t->predictor_mask && j < i + 4; j++)
			four |= (uint8_t)(t->predictor[j] << 2 * (j - i));
		hf_field_bytes(f, &four, 1);
		for (uint32_t j = i; f->loading && j <= t->predictor_mask && j < i + 4; j++)
			t->predictor[j] = four >> 2 * (j - i) & 3;
	}
}

/* Addresses differ little from each other: each is stored as its distance from the one before. */
static void visit_stack(struct hf_fields *f, struct hf_etrace_tables *t, uint64_t *last)
{
	HF_FIELD(f, t->depth, t->stack_size);
	if (f->loading)
		t->top = t->depth;
	for (uint32_t i = 0; i < t->depth && !f->err; i++) {
		const uint32_t slot = (t->top - t->depth + i) & (t->stack_size - 1);

		*last = HF_FIELD_NEAR(f, t->stack[slot], *last);
		HF_FIELD(f, t->repeat[slot], UINT16_MAX);
	}
}

static void save_cache(struct hf_fields *f, struct hf_etrace_tables *t, uint64_t last)
{
	uint32_t index = 0;

	for (uint32_t i = 0; t->cache_used && i <= t->cache_mask; i++) {
		if (t->cache[i] == HF_ETRACE_CACHE_EMPTY)
			continue;
		hf_field(f, i - index, UINT32_MAX);
		index = i;
		last = hf_field_near(f, t->cache[i], last);
	}
}

static void load_cache(struct hf_fields *f, struct hf_etrace_tables *t, uint64_t last)
{
	uint64_t index = 0;

	for (uint32_t i = 0; i < t->cache_used && !f->err; i++) {
		const uint64_t step = hf_field(f, 0, t->cache_mask - index);

		hf_fields_require(f, !i || step);
		index += step;
		t->cache[index] = last = hf_field_near(f, 0, last);
	}
}

static void visit_tables(struct hf_fields *f, struct hf_etrace_tables *t)
{
	bool fresh = hf_etrace_tables_are_fresh(t);
	uint64_t last = 0;

	if (HF_FIELD(f, fresh, 1))
		return;
	if (HF_FIELD(f, t->predicted, 1))
		visit_predictor(f, t);
	visit_stack(f, t, &last);
	HF_FIELD(f, t->cache_used, t->cache_mask + UINT64_C(1));
	if (f->loading)
		load_cache(f, t, last);
	else
		save_cache(f, t, last);
}

/* ---- data trace ---- */

static const struct hf_field_row access_fields[] = {
	HF_FIELD_ROW(struct hf_etrace_access, id, UINT16_MAX),
	HF_FIELD_ROW(struct hf_etrace_access, kind, HF_ETRACE_CSR),
	HF_FIELD_ROW(struct hf_etrace_access, size, HF_ETRACE_DATA_SIZES - 1),
	HF_FIELD_ROW(struct hf_etrace_access, subtype, HF_ETRACE_ATOMICS - 1),
	HF_FIELD_ROW(struct hf_etrace_access, flags, HF_ETRACE_ACCESS_FLAGS),
	HF_FIELD_ROW(struct hf_etrace_access, address, UINT64_MAX),
	HF_FIELD_ROW(struct hf_etrace_access, data, UINT64_MAX),
	HF_FIELD_ROW(struct hf_etrace_access, operand, UINT64_MAX),
};

static void visit_history(struct hf_fields *f, struct hf_etrace_data_state *s)
{
	for (unsigned i = 0; i < HF_ETRACE_DATA_SIZES; i++) {
		HF_FIELD(f, s->address[i], UINT64_MAX);
		HF_FIELD(f, s->data[i], UINT64_MAX);
	}
	HF_FIELD(f, s->atomic_count, HF_ETRACE_DATA_ATOMICS);
	for (unsigned i = 0; i < s->atomic_count && !f->err; i++) {
		HF_FIELD(f, s->atomic_id[i], UINT16_MAX);
		HF_FIELD(f, s->atomic_size[i], 3);
	}
}

static void visit_data(struct hf_fields *f, struct hf_etrace_dec *d)
{
	uint32_t count = d->access_count;

	if (!HF_FIELD(f, d->data.used, 1))
		return;
	visit_history(f, &d->data);
	HF_FIELD(f, count, HF_ETRACE_ACCESSES);
	HF_FIELD(f, d->access_stale, count);
	for (uint32_t i = 0; i < count && !f->err; i++) {
		struct hf_etrace_access loaded = {0};

		HF_FIELD_ROWS(f, access_fields, f->loading ? &loaded : &d->accesses[d->access_first + i]);
		if (f->loading && !f->err && hf_etrace_append_access(d, &loaded))
			hf_fields_fail(f, HF_ERR_STATE);
	}
}

/* ---- the blob ---- */

/* What is stored of this moment. */
static struct stored stored_now(const struct hf_etrace_dec *d)
{
	struct stored st = {.place = d->framer.at, .core = d->core};

	st.place.entry = hf_pipeline_entry(&d->framer.pipeline);
	if (d->core.phase != HF_ETRACE_IDLE)
		st.place = d->framer.before;
	st.core.time_width = d->params.time_width;
	st.core.f0s_width = d->params.f0s_width;
	st.core.return_stack_size = d->params.return_stack_size;
	st.core.call_counter_size = d->params.call_counter_size;
	st.core.bpred_size = d->params.bpred_size;
	st.core.cache_size = d->params.cache_size;
	return st;
}

/* The packet in progress once more. */
static int reread(struct hf_etrace_dec *d)
{
	const uint8_t phase = d->core.phase;
	const struct hf_etrace_packet *pkt = &d->pkt;
	bool fits;

	if (hf_etrace_framer_next(&d->framer, &d->msg) || d->msg.kind != HF_ETRACE_MESSAGE_INSTRUCTION ||
	    d->msg.source != d->dec.hart ||
	    hf_etrace_packet_read(&d->params, d->core.modes, d->msg.payload, d->msg.length, &d->pkt))
		return HF_ERR_STATE;
	if (pkt->format != 3)
		fits = phase == HF_ETRACE_INFER || phase == HF_ETRACE_FOLLOW;
	else if (pkt->subformat == HF_ETRACE_SYNC)
		fits = phase == HF_ETRACE_ENTER || phase == HF_ETRACE_FOLLOW;
	else if (pkt->subformat == HF_ETRACE_TRAP)
		fits = phase == HF_ETRACE_ENTER;
	else
		fits = phase == HF_ETRACE_INFER && pkt->subformat == HF_ETRACE_SUPPORT;
	if (pkt->format == 0 && pkt->subformat == HF_ETRACE_INDEX && phase == HF_ETRACE_FOLLOW)
		d->pkt.has_address = true;
	d->split = true;
	return fits ? 0 : HF_ERR_STATE;
}

static int restore(struct hf_etrace_dec *d, const struct stored *st)
{
	const bool pause = st->core.phase != HF_ETRACE_IDLE;

	if (pause != (st->core.entering != 0) || (!pause && st->core.nbits > 1) ||
	    hf_etrace_framer_seek(&d->framer, &st->place))
		return HF_ERR_STATE;
	d->core = st->core;
	d->params.time_width = st->core.time_width;
	d->params.f0s_width = st->core.f0s_width;
	d->params.return_stack_size = st->core.return_stack_size;
	d->params.call_counter_size = st->core.call_counter_size;
	d->params.bpred_size = st->core.bpred_size;
	d->params.cache_size = st->core.cache_size;
	d->cur = NULL;
	hf_etrace_choose_program(d);
	return hf_etrace_make_tables(d);
}

void hf_etrace_state_visit(struct hf_etrace_dec *d, struct hf_fields *f)
{
	struct stored st = {0};

	if (!f->loading)
		st = stored_now(d);
	HF_FIELD_ROWS(f, fields, &st);
	if (f->loading && !f->err)
		hf_fields_fail(f, restore(d, &st));
	if (f->err)
		return;
	visit_data(f, d);
	visit_tables(f, &d->tables);
	hf_fields_require(f, d->core.fence <= d->access_count);
	if (f->loading && !f->err && d->core.phase != HF_ETRACE_IDLE)
		hf_fields_fail(f, reread(d));
}

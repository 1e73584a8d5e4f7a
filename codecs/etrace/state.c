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

#define PLACE(member, max) HF_STATE_FIELD(struct stored, place.member, max)
#define CORE(member, max) HF_STATE_FIELD(struct stored, core.member, max)

static const struct hf_state_field fields[] = {
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

static const struct hf_state_table table = {
	.version = 5,
	.count = sizeof fields / sizeof fields[0],
	.fields = fields,
};

/* ---- tables ---- */

static uint8_t *put_predictor(const struct hf_etrace_tables *t, uint8_t *p)
{
	for (uint32_t i = 0; i <= t->predictor_mask; i += 4) {
		*p = 0;
		for (uint32_t j = i; j <= t->predictor_mask && j < i + 4; j++)
			*p |= (uint8_t)(t->predictor[j] << 2 * (j - i));
		p++;
	}
	return p;
}

static const uint8_t *get_predictor(struct hf_etrace_tables *t, const uint8_t *p, const uint8_t *end)
{
	if ((size_t)(end - p) < (t->predictor_mask + 4) / 4)
		return NULL;
	for (uint32_t i = 0; i <= t->predictor_mask; i++)
		t->predictor[i] = p[i / 4] >> 2 * (i % 4) & 3;
	t->predicted = true;
	return p + (t->predictor_mask + 4) / 4;
}

/* Addresses differ little from each other: each is stored as its distance from the one before, sign in bit 0. */
static uint8_t *put_near(uint8_t *p, uint64_t *last, uint64_t v)
{
	const uint64_t delta = v - *last;

	*last = v;
	return hf_put_varint(p, delta << 1 ^ (uint64_t)((int64_t)delta >> 63));
}

static const uint8_t *get_near(const uint8_t *p, const uint8_t *end, uint64_t *last, uint64_t *ret_v)
{
	uint64_t v;

	p = hf_get_varint(p, end, &v);
	if (p)
		*ret_v = *last += v >> 1 ^ -(v & 1);
	return p;
}

#define NEAR_MAX HF_VARINT_MAX

/* NULL: it does not fit before end. */
static uint8_t *put_tables(const struct hf_etrace_tables *t, uint8_t *p, const uint8_t *end)
{
	uint64_t last = 0;
	uint32_t index = 0;

	if ((size_t)(end - p) < 3 * HF_VARINT_MAX + (t->predictor_mask + 4) / 4)
		return NULL;
	*p++ = t->predicted;
	if (t->predicted)
		p = put_predictor(t, p);
	p = hf_put_varint(p, t->depth);
	for (uint32_t i = 0; i < t->depth; i++) {
		if (end - p < 2 * NEAR_MAX)
			return NULL;
		p = put_near(p, &last, t->stack[(t->top - t->depth + i) & (t->stack_size - 1)]);
		p = hf_put_varint(p, t->repeat[(t->top - t->depth + i) & (t->stack_size - 1)]);
	}
	p = hf_put_varint(p, t->cache_used);
	for (uint32_t i = 0; t->cache_used && i <= t->cache_mask; i++) {
		if (t->cache[i] == HF_ETRACE_CACHE_EMPTY)
			continue;
		if (end - p < 2 * NEAR_MAX)
			return NULL;
		p = hf_put_varint(p, i - index);
		index = i;
		p = put_near(p, &last, t->cache[i]);
	}
	return p;
}

static const uint8_t *get_stack(struct hf_etrace_tables *t, const uint8_t *p, const uint8_t *end, uint64_t *last)
{
	uint64_t depth, repeat, v;

	p = hf_get_varint(p, end, &depth);
	if (!p || depth > t->stack_size)
		return NULL;
	for (uint64_t i = 0; i < depth; i++) {
		p = get_near(p, end, last, &v);
		if (p)
			p = hf_get_varint(p, end, &repeat);
		if (!p || repeat > UINT16_MAX)
			return NULL;
		t->stack[i] = v;
		t->repeat[i] = (uint16_t)repeat;
	}
	t->depth = t->top = (uint32_t)depth;
	return p;
}

static const uint8_t *get_tables(struct hf_etrace_tables *t, const uint8_t *p, const uint8_t *end)
{
	uint64_t used, step, v, index = 0, last = 0;

	if (p == end || *p > 1)
		return NULL;
	if (*p++ && !(p = get_predictor(t, p, end)))
		return NULL;
	p = get_stack(t, p, end, &last);
	if (p)
		p = hf_get_varint(p, end, &used);
	if (!p || used > (uint64_t)t->cache_mask + 1)
		return NULL;
	for (uint64_t i = 0; i < used; i++) {
		p = hf_get_varint(p, end, &step);
		if (p)
			p = get_near(p, end, &last, &v);
		if (!p || (i && !step) || step > t->cache_mask - index)
			return NULL;
		index += step;
		t->cache[index] = v;
	}
	t->cache_used = (uint32_t)used;
	return p;
}

/* ---- data trace ---- */

/* What is said of accesses besides numbers: id (16 bits), kind, size, subtype, flags. */
#define ACCESS_BYTES 6

static uint8_t *put_access(const struct hf_etrace_access *a, uint8_t *p)
{
	hf_put16(p, a->id);
	p[2] = a->kind;
	p[3] = a->size;
	p[4] = a->subtype;
	p[5] = a->flags;
	return hf_put_varint(hf_put_varint(hf_put_varint(p + ACCESS_BYTES, a->address), a->data), a->operand);
}

static const uint8_t *get_access(struct hf_etrace_access *a, const uint8_t *p, const uint8_t *end)
{
	uint64_t *const numbers[] = {&a->address, &a->data, &a->operand};

	if (end - p < ACCESS_BYTES)
		return NULL;
	*a = (struct hf_etrace_access){.id = hf_get16(p), .kind = p[2], .size = p[3], .subtype = p[4], .flags = p[5]};
	if (a->kind > HF_ETRACE_CSR || a->size >= HF_ETRACE_DATA_SIZES || a->subtype >= HF_ETRACE_ATOMICS ||
	    a->flags > HF_ETRACE_ACCESS_FLAGS)
		return NULL;
	p += ACCESS_BYTES;
	for (unsigned i = 0; p && i < 3; i++)
		p = hf_get_varint(p, end, numbers[i]);
	return p;
}

static uint8_t *put_history(const struct hf_etrace_data_state *s, uint8_t *p)
{
	for (unsigned i = 0; i < HF_ETRACE_DATA_SIZES; i++)
		p = hf_put_varint(hf_put_varint(p, s->address[i]), s->data[i]);
	*p++ = s->atomic_count;
	for (unsigned i = 0; i < s->atomic_count; i++, p += 3) {
		hf_put16(p, s->atomic_id[i]);
		p[2] = s->atomic_size[i];
	}
	return p;
}

static const uint8_t *get_history(struct hf_etrace_data_state *s, const uint8_t *p, const uint8_t *end)
{
	for (unsigned i = 0; p && i < HF_ETRACE_DATA_SIZES; i++) {
		p = hf_get_varint(p, end, &s->address[i]);
		if (p)
			p = hf_get_varint(p, end, &s->data[i]);
	}
	if (!p || p == end || *p > HF_ETRACE_DATA_ATOMICS || end - p - 1 < 3 * *p)
		return NULL;
	s->atomic_count = *p++;
	for (unsigned i = 0; i < s->atomic_count; i++, p += 3) {
		s->atomic_id[i] = hf_get16(p);
		s->atomic_size[i] = p[2];
		if (p[2] > 3)
			return NULL;
	}
	return p;
}

/* NULL: it does not fit before end. */
static uint8_t *put_data(const struct hf_etrace_dec *d, uint8_t *p, const uint8_t *end)
{
	if ((size_t)(end - p) < 2 + 2 * HF_ETRACE_DATA_SIZES * HF_VARINT_MAX + 3 * HF_ETRACE_DATA_ATOMICS)
		return NULL;
	*p++ = d->data.used;
	if (!d->data.used)
		return p;
	p = put_history(&d->data, p);
	if ((size_t)(end - p) < 2 * HF_VARINT_MAX)
		return NULL;
	p = hf_put_varint(hf_put_varint(p, d->access_count), d->access_stale);
	for (uint32_t i = 0; i < d->access_count; i++) {
		if ((size_t)(end - p) < ACCESS_BYTES + 3 * HF_VARINT_MAX)
			return NULL;
		p = put_access(&d->accesses[d->access_first + i], p);
	}
	return p;
}

static const uint8_t *get_data(struct hf_etrace_dec *d, const uint8_t *p, const uint8_t *end)
{
	uint64_t count = 0, stale = 0;

	if (p == end || *p > 1)
		return NULL;
	d->data.used = *p++;
	if (!d->data.used)
		return p;
	p = get_history(&d->data, p, end);
	if (p)
		p = hf_get_varint(p, end, &count);
	if (p)
		p = hf_get_varint(p, end, &stale);
	if (!p || count > HF_ETRACE_ACCESSES || stale > count)
		return NULL;
	for (uint32_t i = 0; p && i < count; i++) {
		struct hf_etrace_access a;

		p = get_access(&a, p, end);
		if (p && hf_etrace_append_access(d, &a))
			return NULL;
	}
	d->access_stale = (uint32_t)stale;
	return p;
}

/* ---- the blob ---- */

size_t hf_etrace_state_save(const struct hf_etrace_dec *d, uint8_t *blob)
{
	struct stored st = {.place = d->framer.at, .core = d->core};
	const uint8_t *end = blob + HF_STATE_MAX;
	uint8_t *p;
	size_t n;

	st.place.entry = hf_pipeline_entry(&d->framer.pipeline);
	if (d->core.phase != HF_ETRACE_IDLE)
		st.place = d->framer.before;
	st.core.time_width = d->params.time_width;
	st.core.f0s_width = d->params.f0s_width;
	st.core.return_stack_size = d->params.return_stack_size;
	st.core.call_counter_size = d->params.call_counter_size;
	st.core.bpred_size = d->params.bpred_size;
	st.core.cache_size = d->params.cache_size;
	n = hf_state_save(&table, &st, blob + 2);
	hf_put16(blob, (uint16_t)n);
	p = put_data(d, blob + 2 + n, end);
	if (p && !hf_etrace_tables_are_fresh(&d->tables))
		p = put_tables(&d->tables, p, end);
	return p ? (size_t)(p - blob) : 0;
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

int hf_etrace_state_load(struct hf_etrace_dec *d, const uint8_t *blob, size_t size)
{
	const uint8_t *p = blob, *const end = blob + size;
	struct stored st = {0};
	size_t n;
	int err;

	if (size < 2 || (n = hf_get16(blob)) > size - 2 || hf_state_load(&table, &st, blob + 2, n))
		return HF_ERR_STATE;
	err = restore(d, &st);
	if (err)
		return err;
	p = get_data(d, blob + 2 + n, end);
	if (p && p != end)
		p = get_tables(&d->tables, p, end);
	if (p != end || d->core.fence > d->access_count)
		return HF_ERR_STATE;
	return d->core.phase == HF_ETRACE_IDLE ? 0 : reread(d);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/etrace/report.h"

#include "codecs/etrace/errors.h"

/* ---- a life ---- */

static int make_tables(struct hf_etrace_report *r)
{
	int err = hf_etrace_tables_make(&r->tables, &r->params);

	return err ? err : hf_etrace_tables_make(&r->spare, &r->params);
}

/* The tables are as the parameters and modes in force have them: others, if sizes have changed. */
static int agree(struct hf_etrace_report *r, bool sizes)
{
	int err = sizes ? make_tables(r) : 0;

	r->tables.stack.repeat_max = (uint16_t)hf_etrace_repeat_max(&r->params, r->modes);
	return err;
}

int hf_etrace_report_reset(struct hf_etrace_report *r)
{
	r->params = r->given;
	r->modes = r->given.modes;
	r->data_on = r->given.data_order == HF_ETRACE_ORDER_ANY;
	r->outcomes = (struct hf_etrace_outcomes){0};
	r->base = r->target = 0;
	return agree(r, true);
}

void hf_etrace_report_fini(struct hf_etrace_report *r)
{
	hf_etrace_tables_free(&r->tables);
	hf_etrace_tables_free(&r->spare);
}

void hf_etrace_report_keep(struct hf_etrace_report *r)
{
	r->kept = r->outcomes;
	hf_etrace_tables_copy(&r->spare, &r->tables);
}

void hf_etrace_report_go_back(struct hf_etrace_report *r)
{
	const struct hf_etrace_tables tables = r->tables;

	r->tables = r->spare;
	r->spare = tables;
	r->outcomes = r->kept;
}

/* ---- packets ---- */

static void append_outcomes(struct hf_etrace_report *r)
{
	const struct hf_etrace_packet *pkt = &r->pkt;
	struct hf_etrace_outcomes *o = &r->outcomes;

	if (pkt->format == 1 || hf_etrace_is_index(pkt)) {
		o->bits |= (uint64_t)pkt->branch_map << o->count;
		o->count = (uint8_t)(o->count + hf_etrace_outcomes(pkt));
	} else if (pkt->format == 0) {
		o->predicted = (uint64_t)pkt->branch_count + 31;
		o->against = pkt->branch_fmt != HF_ETRACE_ADDRESS;
	}
}

int hf_etrace_report_lacks(const struct hf_etrace_report *r, uint32_t mode)
{
	const struct hf_etrace_params *p = &r->params;

	switch (mode) {
	case HF_ETRACE_BRANCH_PREDICTION:
		return p->bpred_size ? 0 : HF_ERR_ETRACE_NO_PREDICTOR;
	case HF_ETRACE_JUMP_TARGET_CACHE:
		if (!p->cache_size)
			return HF_ERR_ETRACE_NO_CACHE;
		return p->f0s_width || !(r->modes & HF_ETRACE_BRANCH_PREDICTION) ? 0 : HF_ERR_ETRACE_NO_F0S;
	case HF_ETRACE_IMPLICIT_RETURN:
		return hf_etrace_stack_size(p) ? 0 : HF_ERR_ETRACE_NO_STACK;
	case HF_ETRACE_IMPLICIT_EXCEPTION:
		return p->has_tvec[0] || p->has_tvec[1] || p->has_tvec[2] ? 0 : HF_ERR_ETRACE_VECTOR;
	default:
		return 0;
	}
}

/* What the packet in progress needs of a mode that it shows to be on. */
static int lacks(const struct hf_etrace_report *r)
{
	const struct hf_etrace_packet *pkt = &r->pkt;

	if (pkt->format == 0 && hf_etrace_is_index(pkt))
		return r->modes & HF_ETRACE_JUMP_TARGET_CACHE ? hf_etrace_report_lacks(r, HF_ETRACE_JUMP_TARGET_CACHE)
							      : HF_ERR_ETRACE_NO_CACHE;
	if (pkt->format == 0)
		return r->modes & HF_ETRACE_BRANCH_PREDICTION ? hf_etrace_report_lacks(r, HF_ETRACE_BRANCH_PREDICTION)
							      : HF_ERR_ETRACE_NO_PREDICTOR;
	return 0;
}

int hf_etrace_report_take(struct hf_etrace_report *r)
{
	const struct hf_etrace_packet *pkt = &r->pkt;
	int err = lacks(r);

	if (err)
		return err;
	if (pkt->irreport && !(r->modes & HF_ETRACE_IMPLICIT_RETURN))
		return HF_ERR_ETRACE_NO_STACK;
	if (pkt->format == 0 && !hf_etrace_is_index(pkt) && pkt->branch_count > HF_ETRACE_PREDICTED_MAX - 31)
		return HF_ERR_ETRACE_WALK;
	append_outcomes(r);
	if (pkt->has_address) {
		const uint64_t base = r->modes & HF_ETRACE_FULL_ADDRESS ? 0 : r->base;

		r->base = r->target =
			(base + hf_etrace_unshift(&r->params, pkt->address)) & hf_etrace_address_mask(&r->params);
	}
	return 0;
}

int hf_etrace_report_index(struct hf_etrace_report *r)
{
	if (!hf_etrace_is_index(&r->pkt))
		return 0;
	r->target = r->base = r->tables.room.cache[r->pkt.index & r->tables.cache_mask];
	r->pkt.has_address = true;
	return r->base == HF_ETRACE_CACHE_EMPTY ? HF_ERR_ETRACE_INDEX : 0;
}

void hf_etrace_report_learn(struct hf_etrace_report *r)
{
	if (r->params.jtc_all && r->pkt.has_address && (r->modes & HF_ETRACE_JUMP_TARGET_CACHE))
		hf_etrace_learn_target(&r->tables, r->base);
}

void hf_etrace_report_sync(struct hf_etrace_report *r, bool keep)
{
	r->base = r->target;
	if (!keep || !(r->modes & HF_ETRACE_RESYNC_DISABLED))
		hf_etrace_tables_reset(&r->tables);
}

/* Of what hf_etrace_support_params sets. */
static bool same_sizes(const struct hf_etrace_params *a, const struct hf_etrace_params *b)
{
	return a->time_width == b->time_width && a->f0s_width == b->f0s_width &&
	       a->return_stack_size == b->return_stack_size && a->call_counter_size == b->call_counter_size &&
	       a->bpred_size == b->bpred_size && a->cache_size == b->cache_size;
}

int hf_etrace_report_support(struct hf_etrace_report *r)
{
	const struct hf_etrace_params before = r->params;

	r->modes = hf_etrace_support_modes(&r->params, &r->pkt);
	/* the last accesses may come behind the packet that ends both traces */
	if (hf_etrace_support_has_data(&r->params) && r->pkt.enable)
		r->data_on = r->pkt.denable;
	hf_etrace_support_params(&r->params, &r->pkt);
	return agree(r, !same_sizes(&before, &r->params));
}

bool hf_etrace_report_vector(const struct hf_etrace_report *r, uint64_t *ret_address)
{
	const uint64_t mask = hf_etrace_address_mask(&r->params);
	const unsigned which = r->pkt.privilege == 1 ? 1 : r->pkt.privilege == 6 ? 2 : 0;
	const uint64_t tvec = r->params.tvec[which];

	*ret_address = (tvec & ~UINT64_C(3)) & mask;
	if ((tvec & 3) == 1 && r->pkt.interrupt)
		*ret_address = (*ret_address + 4 * r->pkt.ecause) & mask;
	return r->params.has_tvec[which];
}

/* ---- states ---- */

#define FIELD(member, max) HF_FIELD_ROW(struct hf_etrace_report, member, max)

static const struct hf_field_row fields[] = {
	FIELD(base, UINT64_MAX), FIELD(target, UINT64_MAX), FIELD(modes, UINT32_MAX), FIELD(data_on, 1),
	FIELD(outcomes.bits, UINT64_MAX), FIELD(outcomes.predicted, HF_ETRACE_PREDICTED_MAX),
	FIELD(outcomes.irets, UINT32_MAX), FIELD(outcomes.count, 33), FIELD(outcomes.against, 1),
	/* what support packets of 2.1 change */
	FIELD(params.time_width, 64), FIELD(params.f0s_width, HF_ETRACE_F0S_MAX),
	FIELD(params.return_stack_size, HF_ETRACE_TABLE_MAX), FIELD(params.call_counter_size, HF_ETRACE_TABLE_MAX),
	FIELD(params.bpred_size, HF_ETRACE_TABLE_MAX), FIELD(params.cache_size, HF_ETRACE_TABLE_MAX)};

void hf_etrace_report_visit(struct hf_etrace_report *r, struct hf_fields *f)
{
	HF_FIELD_ROWS(f, fields, r);
	if (f->loading && !f->err)
		hf_fields_fail(f, agree(r, true));
	if (!f->err)
		hf_etrace_tables_visit(&r->tables, f);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The encoder's packets: which format an address or a row of outcomes takes. */
#include "codecs/etrace/encoder.h"

#include <string.h>

/* Outcomes that one map holds. */
#define MAP_FULL 31

static uint64_t mask(unsigned width)
{
	return width >= 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
}

static void send(struct hf_etrace_enc *e, struct hf_sink *sink, struct hf_etrace_packet *pkt)
{
	uint8_t payload[HF_ETRACE_PAYLOAD_MAX];
	const size_t n = hf_etrace_packet_write(&e->c.params, e->c.params.modes, pkt, payload);

	hf_etrace_enc_message(e, sink, false, payload, n);
	e->s.irets = 0;
	e->s.flags &= ~(uint32_t)HF_ETRACE_ENC_UNSURE;
	e->s.resync += e->s.resync != UINT32_MAX - 1;
}

static bool predicts(const struct hf_etrace_enc *e)
{
	return e->c.params.modes & HF_ETRACE_BRANCH_PREDICTION;
}

/* The outcomes that wait, as they go into a packet with an address. */
static void add_outcomes(const struct hf_etrace_enc *e, struct hf_etrace_packet *pkt)
{
	const struct hf_etrace_enc_state *s = &e->s;

	if (predicts(e) && s->pbc >= MAP_FULL) {
		pkt->format = 0;
		pkt->subformat = HF_ETRACE_COUNT;
		pkt->branch_count = (uint32_t)(s->pbc - MAP_FULL);
		pkt->branch_fmt = s->branches > s->pbc ? HF_ETRACE_ADDRESS_FAILED : HF_ETRACE_ADDRESS;
	} else {
		pkt->format = s->branches ? 1 : 2;
		pkt->branches = (uint8_t)s->branches;
		pkt->branch_map = s->map;
	}
}

/* Whether the cache holds the held instruction's address, at *ret_index; if not, it does from now on. */
static bool is_cached(struct hf_etrace_enc *e, uint32_t *ret_index)
{
	const uint64_t target = e->held.insn.pc;
	bool cached;

	*ret_index = hf_etrace_cache_index(&e->tables, target);
	cached = e->cache[*ret_index] == target;
	hf_etrace_learn_target(&e->tables, target);
	return cached;
}

/*
 * Puts an index of the jump target cache in place of the address where that is no longer. F0.1 has none of the three
 * flags; the C encoder drops an updiscon flag that is due.
 */
static void try_index(struct hf_etrace_enc *e, struct hf_etrace_packet *pkt, bool irreport)
{
	const struct hf_etrace_params *p = &e->c.params;
	struct hf_etrace_packet index = {.subformat = HF_ETRACE_INDEX, .branches = pkt->branches,
					 .branch_map = pkt->branch_map};
	const bool updiscon = pkt->updiscon;
	uint8_t scratch[HF_ETRACE_PAYLOAD_MAX];
	size_t n;

	if (!(p->modes & HF_ETRACE_JUMP_TARGET_CACHE) || !(p->jtc_all || (e->s.flags & HF_ETRACE_ENC_JUMP)) ||
	    !is_cached(e, &index.index) || pkt->format == 0 || pkt->notify || irreport)
		return;
	if (updiscon && e->c.profile != HF_ETRACE_C111)
		return;
	pkt->updiscon = false;
	n = hf_etrace_packet_write(p, p->modes, pkt, scratch);
	pkt->updiscon = updiscon;
	if (hf_etrace_packet_write(p, p->modes, &index, scratch) <= n)
		*pkt = index;
}

void hf_etrace_enc_report(struct hf_etrace_enc *e, struct hf_sink *sink, struct hf_etrace_flags flags)
{
	const struct hf_etrace_params *p = &e->c.params;
	const uint64_t pc = e->held.insn.pc & hf_etrace_address_mask(p);
	const bool missed = e->s.flags & HF_ETRACE_ENC_MISSED;
	struct hf_etrace_packet pkt = {.notify = flags.notify, .updiscon = flags.updiscon,
				       .irreport = missed || flags.counted,
				       .irdepth = missed ? e->s.depth : flags.irets};

	pkt.address = hf_etrace_shift(p, p->modes & HF_ETRACE_FULL_ADDRESS ? pc : pc - e->s.base);
	pkt.has_address = true;
	add_outcomes(e, &pkt);
	try_index(e, &pkt, pkt.irreport);
	send(e, sink, &pkt);
	e->s.base = pc;
	e->s.run_count = 0;
	hf_etrace_enc_settle(e, !(e->s.flags & HF_ETRACE_ENC_UPDISCON) || flags.updiscon || flags.notify);
	hf_etrace_enc_forget_outcomes(e);
}

/*
 * 2.1: what the packet says of the implicit returns since the last packet or branch, the held instruction included; where
 * one of them led to it, of those before. counted: anything at all.
 */
static struct hf_etrace_flags count_returns(const struct hf_etrace_enc *e)
{
	const bool returned = e->s.flags & HF_ETRACE_ENC_RETURNED;
	struct hf_etrace_flags flags = {.irets = e->s.irets};

	if (!hf_etrace_enc_has_irets(e) || (e->s.flags & HF_ETRACE_ENC_UNSURE))
		return flags;
	if (returned)
		flags.irets--;
	else
		flags.irets += hf_etrace_enc_step(e, e->held.flags & HF_EVF_TAKEN).pops;
	flags.counted = returned || flags.irets;
	return flags;
}

void hf_etrace_enc_report_pass(struct hf_etrace_enc *e, struct hf_sink *sink, bool final)
{
	struct hf_etrace_flags flags = count_returns(e);
	const uint64_t pc = e->held.insn.pc;
	unsigned passes = 1;

	if (e->held.insn.flow != HF_FLOW_BRANCH)
		for (uint32_t i = 0; i < e->s.run_count; i++)
			passes += pc - e->runs[i].first <= e->runs[i].length ? e->runs[i].passes : 0;
	/* the target of the jump that the return then is; where it is passed before, not to be met there */
	if (flags.counted && (e->s.flags & HF_ETRACE_ENC_RETURNED)) {
		flags.updiscon = passes > 1;
		hf_etrace_enc_report(e, sink, flags);
		return;
	}
	if (passes == 1) {
		flags.notify = !final || (e->s.flags & HF_ETRACE_ENC_INFERRED);
		hf_etrace_enc_report(e, sink, flags);
		return;
	}
	while (passes--)
		hf_etrace_enc_report(e, sink, (struct hf_etrace_flags){.notify = true});
}

void hf_etrace_enc_outcomes(struct hf_etrace_enc *e, struct hf_sink *sink)
{
	struct hf_etrace_packet pkt = {.format = 1, .branch_map = e->s.map};

	if (predicts(e) && e->s.pbc >= MAP_FULL)
		pkt = (struct hf_etrace_packet){.subformat = HF_ETRACE_COUNT, .branch_fmt = HF_ETRACE_FAILED,
						.branch_count = (uint32_t)(e->s.pbc - MAP_FULL)};
	send(e, sink, &pkt);
	e->s.run_count = 0;
	hf_etrace_enc_settle(e, true);
	hf_etrace_enc_forget_outcomes(e);
}

/* ---- format 3 ---- */

/* 3 bits; with fewer, guests look like their hosts. What a trace does not say is taken for user mode. */
uint8_t hf_etrace_enc_privilege(const struct hf_etrace_enc *e, unsigned mode)
{
	static const uint8_t codes[HF_MODE_COUNT] = {
		[HF_MODE_S] = 1, [HF_MODE_H] = 1, [HF_MODE_M] = 3, [HF_MODE_D] = 4, [HF_MODE_VU] = 5, [HF_MODE_VS] = 6,
	};
	static const uint8_t narrow[HF_MODE_COUNT] = {
		[HF_MODE_S] = 1, [HF_MODE_H] = 1, [HF_MODE_M] = 3, [HF_MODE_D] = 3, [HF_MODE_VS] = 1,
	};
	const uint8_t *table = e->c.params.privilege_width > 2 ? codes : narrow;

	return mode < HF_MODE_COUNT ? (uint8_t)(table[mode] & mask(e->c.params.privilege_width)) : 0;
}

static struct hf_etrace_packet format3(const struct hf_etrace_enc *e, enum hf_etrace_f3_subformat subformat,
				       unsigned mode)
{
	return (struct hf_etrace_packet){
		.format = 3,
		.subformat = (uint8_t)subformat,
		.privilege = hf_etrace_enc_privilege(e, mode),
		.context = e->s.context & mask(e->c.params.context_width),
		.time = e->s.time & mask(e->c.params.time_width),
	};
}

static void add_cause(const struct hf_etrace_enc *e, struct hf_etrace_packet *pkt)
{
	const bool illegal = e->s.cause == 2 && !(e->s.flags & HF_ETRACE_ENC_ASYNC);

	pkt->ecause = e->s.cause & mask(e->c.params.ecause_width);
	pkt->interrupt = e->s.flags & HF_ETRACE_ENC_ASYNC;
	pkt->tval = e->c.params.version == HF_ETRACE_1_1_1 && illegal ? e->s.epc : e->s.value;
	pkt->tval &= mask(e->c.params.iaddress_width);
}

void hf_etrace_enc_sync(struct hf_etrace_enc *e, struct hf_sink *sink)
{
	const struct hf_ev_insn *insn = &e->held.insn;
	const bool trap = (e->s.flags & (HF_ETRACE_ENC_TRAP | HF_ETRACE_ENC_TOLD)) == HF_ETRACE_ENC_TRAP;
	struct hf_etrace_packet pkt = format3(e, trap ? HF_ETRACE_TRAP : HF_ETRACE_SYNC, insn->mode);
	const uint64_t pc = insn->pc & hf_etrace_address_mask(&e->c.params);

	pkt.branch = insn->flow != HF_FLOW_BRANCH || !(e->held.flags & HF_EVF_TAKEN);
	pkt.address = hf_etrace_shift(&e->c.params, pc);
	pkt.has_address = true;
	if (trap) {
		add_cause(e, &pkt);
		pkt.thaddr = true;
	}
	hf_etrace_enc_align(e, sink);
	send(e, sink, &pkt);
	e->s.base = pc;
	e->s.resync = 0;
	e->s.run_count = 0;
	hf_etrace_enc_settle(e, true);
	hf_etrace_enc_forget_outcomes(e);
}

void hf_etrace_enc_trap(struct hf_etrace_enc *e, struct hf_sink *sink, uint64_t address, uint8_t mode)
{
	struct hf_etrace_packet pkt = format3(e, HF_ETRACE_TRAP, mode);

	pkt.branch = true;
	pkt.address = hf_etrace_shift(&e->c.params, address);
	pkt.has_address = true;
	add_cause(e, &pkt);
	send(e, sink, &pkt);
	e->s.resync = 0;
	e->s.run_count = 0;
	e->s.flags |= HF_ETRACE_ENC_TOLD;
	hf_etrace_enc_forget_outcomes(e);
}

void hf_etrace_enc_context(struct hf_etrace_enc *e, struct hf_sink *sink)
{
	struct hf_etrace_packet pkt = format3(e, HF_ETRACE_CONTEXT, e->held.insn.mode);

	send(e, sink, &pkt);
}

void hf_etrace_enc_support(struct hf_etrace_enc *e, struct hf_sink *sink, bool enable,
			   enum hf_etrace_qual_status status)
{
	struct hf_etrace_packet pkt = {.format = 3, .subformat = HF_ETRACE_SUPPORT, .enable = enable,
				       .denable = enable && e->c.data, .qual_status = (uint8_t)status};

	hf_etrace_support_options(&e->c.params, e->c.params.modes, &pkt);
	send(e, sink, &pkt);
}

bool hf_etrace_enc_tells_handler(const struct hf_etrace_enc *e, uint64_t pc, uint8_t mode)
{
	const struct hf_etrace_params *p = &e->c.params;
	const unsigned which = mode == HF_MODE_VS ? 2 : mode == HF_MODE_S || mode == HF_MODE_H ? 1 : 0;
	uint64_t handler = p->tvec[which] & ~UINT64_C(3);

	if (!(p->modes & HF_ETRACE_IMPLICIT_EXCEPTION))
		return true;
	if ((p->tvec[which] & 3) == 1 && (e->s.flags & HF_ETRACE_ENC_ASYNC))
		handler += 4 * e->s.cause;
	return p->has_tvec[which] && handler == pc;
}

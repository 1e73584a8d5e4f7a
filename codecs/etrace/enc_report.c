/* The encoder's packets: which format an address or a row of outcomes takes. */
#include "codecs/etrace/encoder.h"

#include <string.h>

/* Outcomes that one map holds. */
#define MAP_FULL 31

static uint64_t mask(unsigned width)
{
	return width >= 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
}

/* In the raw framing: five bits of length, then 2 for an instruction trace packet. */
static void send(struct hf_etrace_enc *e, struct hf_sink *sink, struct hf_etrace_packet *pkt)
{
	uint8_t *p = hf_sink_room(sink, 1 + HF_ETRACE_PAYLOAD_MAX);
	const size_t n = hf_etrace_packet_write(&e->c.params, e->c.params.modes, pkt, p + 1);

	*p = (uint8_t)(n | 2u << 5);
	sink->p += 1 + n;
	e->s.resync += e->s.resync != UINT32_MAX - 1;
}

static void clear_outcomes(struct hf_etrace_enc *e)
{
	e->s.branches = 0;
	e->s.pbc = 0;
	e->s.map = 0;
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

/*
 * Puts an index of the jump target cache in place of the address where that is no longer. F0.1 has none of the three
 * flags; the C encoder drops an updiscon flag that is due.
 */
static void try_index(struct hf_etrace_enc *e, struct hf_etrace_packet *pkt, bool missed)
{
	const struct hf_etrace_params *p = &e->c.params;
	struct hf_etrace_packet index = {.subformat = HF_ETRACE_INDEX, .branches = pkt->branches,
					 .branch_map = pkt->branch_map};
	const bool updiscon = pkt->updiscon;
	uint8_t scratch[HF_ETRACE_PAYLOAD_MAX];
	size_t n;

	if (!(p->modes & HF_ETRACE_JUMP_TARGET_CACHE) || !(p->jtc_all || (e->s.flags & HF_ETRACE_ENC_JUMP)) ||
	    !hf_etrace_enc_lookup(e, e->held.insn.pc, &index.index) || pkt->format == 0 || pkt->notify || missed)
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
	struct hf_etrace_packet pkt = {.notify = flags.notify, .updiscon = flags.updiscon, .irreport = missed,
				       .irdepth = missed ? e->s.depth : 0};

	pkt.address = hf_etrace_shift(p, p->modes & HF_ETRACE_FULL_ADDRESS ? pc : pc - e->s.base);
	pkt.has_address = true;
	add_outcomes(e, &pkt);
	try_index(e, &pkt, missed);
	send(e, sink, &pkt);
	e->s.base = pc;
	e->s.run_count = 0;
	e->s.accesses = 0;
	e->s.flags &= ~(uint32_t)HF_ETRACE_ENC_CROWDED;
	clear_outcomes(e);
}

void hf_etrace_enc_report_pass(struct hf_etrace_enc *e, struct hf_sink *sink, bool final)
{
	const uint64_t pc = e->held.insn.pc;
	unsigned passes = 1;

	if (e->held.insn.flow != HF_FLOW_BRANCH)
		for (uint32_t i = 0; i < e->s.run_count; i++)
			passes += pc >= e->runs[i].first && pc <= e->runs[i].last;
	if (passes == 1) {
		hf_etrace_enc_report(e, sink, (struct hf_etrace_flags){
						      .notify = !final || (e->s.flags & HF_ETRACE_ENC_INFERRED)});
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
	e->s.accesses = 0;
	e->s.flags &= ~(uint32_t)HF_ETRACE_ENC_CROWDED;
	clear_outcomes(e);
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
	send(e, sink, &pkt);
	e->s.base = pc;
	e->s.resync = 0;
	e->s.run_count = 0;
	e->s.accesses = 0;
	e->s.flags &= ~(uint32_t)HF_ETRACE_ENC_CROWDED;
	clear_outcomes(e);
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
	clear_outcomes(e);
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

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The data trace: packets of chapter 7 for the accesses of each traced instruction, ahead of the packet that reports it.
 *
 * A decoder gives accesses to instructions by their order, kind and size. So an access that its instruction cannot make
 * has no packet, and where an instruction has none although it could (the source says nothing, or no packet fits), it is
 * reported before another comes that could be taken for its own.
 */
#include "codecs/etrace/encoder.h"

static bool got(const struct hf_etrace_enc *e, unsigned flags)
{
	return (e->s.data.got & flags) == flags;
}

static uint64_t low(uint64_t v, unsigned size)
{
	return size >= 3 ? v : v & ((UINT64_C(1) << (8u << size)) - 1);
}

/* ---- packets ---- */

/* False: there is no packet for this. */
static bool send(struct hf_etrace_enc *e, struct hf_sink *sink, const struct hf_etrace_access *a)
{
	const struct hf_etrace_params *p = &e->c.params;
	uint8_t payload[HF_ETRACE_PAYLOAD_MAX];
	struct hf_etrace_enc_data *s = &e->s.data;
	const size_t n = s->accesses < HF_ETRACE_ENC_ACCESSES_MAX ?
				 hf_etrace_data_write(p, p->modes, e->c.compress, &s->history, a, payload) : 0;

	if (n == 0)
		return false;
	hf_etrace_enc_message(e, sink, true, payload, n);
	return true;
}

/* The request and at once its answer, as far as that is known. */
static bool send_split(struct hf_etrace_enc *e, struct hf_sink *sink, struct hf_etrace_access *a)
{
	struct hf_etrace_enc_data *s = &e->s.data;

	a->id = s->id & (uint16_t)((1u << e->c.params.lrid_width) - 1);
	if (!send(e, sink, a))
		return false;
	s->id++;
	if (!(a->flags & HF_ETRACE_HAS_DATA) || (e->c.params.modes & HF_ETRACE_NO_DATA))
		return true;
	a->kind = a->kind == HF_ETRACE_LOAD ? HF_ETRACE_LOAD_DATA : HF_ETRACE_ATOMIC_DATA;
	send(e, sink, a);
	return true;
}

static bool send_access(struct hf_etrace_enc *e, struct hf_sink *sink, struct hf_etrace_access a)
{
	const bool split = e->c.params.lrid_width && (a.kind == HF_ETRACE_LOAD || a.kind == HF_ETRACE_ATOMIC);

	if (a.kind != HF_ETRACE_CSR) {
		a.address &= hf_etrace_address_mask(&e->c.params);
		a.flags |= a.address & ((1u << a.size) - 1) ? HF_ETRACE_UNALIGNED : 0;
	}
	if (split ? !send_split(e, sink, &a) : !send(e, sink, &a))
		return false;
	if (++e->s.data.accesses >= HF_ETRACE_ENC_ACCESSES)
		e->s.flags |= HF_ETRACE_ENC_CROWDED;
	return true;
}

/* ---- what the source says ---- */

static void gather_access(struct hf_etrace_enc *e, struct hf_sink *sink, const struct hf_etrace_expectation *x,
			  const struct hf_event *ev)
{
	const unsigned kind = ev->flags & HF_EVF_WRITE ? HF_ETRACE_STORE : HF_ETRACE_LOAD;
	struct hf_etrace_enc_data *s = &e->s.data;
	const uint32_t size = ev->mem.size;
	unsigned at, value;

	if (x->kind == HF_ETRACE_CSR || size == 0 || size > 8 || (size & (size - 1)))
		return;
	if (x->many) {
		if (kind == x->kind)
			send_access(e, sink, (struct hf_etrace_access){
				.kind = (uint8_t)kind, .size = (uint8_t)__builtin_ctz(size), .address = ev->mem.address,
				.data = ev->mem.data,
				.flags = (ev->flags & HF_EVF_NO_ADDRESS ? 0 : HF_ETRACE_HAS_ADDRESS) |
					 (ev->words ? HF_ETRACE_HAS_DATA : 0)});
		return;
	}
	at = ev->flags & HF_EVF_READ ? HF_ETRACE_GOT_READ_AT : 0;
	at |= ev->flags & HF_EVF_WRITE ? HF_ETRACE_GOT_WRITE_AT : 0;
	if (size != 1u << x->size || (s->got & at))
		return;
	s->address = ev->mem.address;
	value = !ev->words ? 0 : kind == HF_ETRACE_STORE ? HF_ETRACE_GOT_WRITTEN : HF_ETRACE_GOT_READ;
	value |= ev->flags & HF_EVF_NO_ADDRESS ? HF_ETRACE_GOT_NO_ADDRESS : 0;
	*(kind == HF_ETRACE_STORE ? &s->written : &s->read) = low(ev->mem.data, x->size);
	s->got |= (uint16_t)(at | value);
}

/* Registers of atomics and CSR accesses. */
static void gather_register(struct hf_etrace_enc *e, const struct hf_etrace_expectation *x, const struct hf_ev_reg *reg)
{
	struct hf_etrace_enc_data *s = &e->s.data;
	const unsigned rd = e->held.insn.opcode >> 7 & 31;
	unsigned flag = 0;
	uint64_t *to = &s->read;

	if (x->kind == HF_ETRACE_CSR && reg->class == HF_REG_CSR && reg->number == x->csr) {
		flag = reg->role == 3 ? HF_ETRACE_GOT_WRITTEN : HF_ETRACE_GOT_READ;
		to = reg->role == 3 ? &s->written : &s->read;
	} else if (reg->class == HF_REG_INTEGER && reg->role == HF_REG_SOURCE && reg->number == x->source &&
		   !x->immediate) {
		flag = HF_ETRACE_GOT_OPERAND;
		to = &s->operand;
	} else if (reg->class == HF_REG_INTEGER && reg->role == HF_REG_DESTINATION && reg->number == rd && rd) {
		flag = HF_ETRACE_GOT_READ;
	}
	if (!flag || (s->got & flag) || (x->kind != HF_ETRACE_CSR && x->kind != HF_ETRACE_ATOMIC))
		return;
	*to = x->kind == HF_ETRACE_CSR ? reg->value : low(reg->value, x->size);
	s->got |= (uint16_t)flag;
}

void hf_etrace_enc_gather(struct hf_etrace_enc *e, struct hf_sink *sink, const struct hf_event *ev)
{
	const struct hf_etrace_expectation x = hf_etrace_expect(&e->c.params, &e->held.insn);

	if (!(e->s.flags & HF_ETRACE_ENC_HELD) || !x.expects)
		return;
	if (ev->kind == HF_EVENT_MEM)
		gather_access(e, sink, &x, ev);
	else
		gather_register(e, &x, &ev->reg);
}

/* ---- what follows from it ---- */

/* Of what was read, what was written and the operand, two give the third for some operations. */
static void complete_atomic(struct hf_etrace_enc *e, const struct hf_etrace_expectation *x)
{
	const uint32_t opcode = e->held.insn.opcode;
	struct hf_etrace_enc_data *s = &e->s.data;
	const bool reversible = x->subtype == HF_ETRACE_ADD || x->subtype == HF_ETRACE_XOR;

	if (x->source == 0 && !got(e, HF_ETRACE_GOT_OPERAND)) {
		s->operand = 0;
		s->got |= HF_ETRACE_GOT_OPERAND;
	}
	if (got(e, HF_ETRACE_GOT_READ | HF_ETRACE_GOT_WRITTEN) && !got(e, HF_ETRACE_GOT_OPERAND) &&
	    hf_etrace_atomic_operand(opcode, s->read, s->written, &s->operand))
		s->got |= HF_ETRACE_GOT_OPERAND;
	if (reversible && got(e, HF_ETRACE_GOT_OPERAND | HF_ETRACE_GOT_WRITTEN) && !got(e, HF_ETRACE_GOT_READ) &&
	    hf_etrace_atomic_operand(opcode, s->operand, s->written, &s->read))
		s->got |= HF_ETRACE_GOT_READ;
	s->operand = low(s->operand, x->size);
	s->read = low(s->read, x->size);
}

/* What is known does not contradict itself: the opcode says what the operation makes of it. */
static bool is_consistent(const struct hf_etrace_enc *e, const struct hf_etrace_expectation *x)
{
	const struct hf_etrace_enc_data *s = &e->s.data;
	uint64_t new;

	if (!got(e, HF_ETRACE_GOT_READ | HF_ETRACE_GOT_WRITTEN | HF_ETRACE_GOT_OPERAND))
		return true;
	return hf_etrace_atomic_result(e->held.insn.opcode, x->size, s->read, s->operand, &new) && new == s->written;
}

/* HAS_DATA and HAS_OPERAND of an atomic or CSR access. */
static uint8_t known(const struct hf_etrace_enc *e)
{
	return (uint8_t)((got(e, HF_ETRACE_GOT_READ) ? HF_ETRACE_HAS_DATA : 0) |
			 (got(e, HF_ETRACE_GOT_OPERAND) ? HF_ETRACE_HAS_OPERAND : 0));
}

static uint8_t address_flag(const struct hf_etrace_enc *e)
{
	return got(e, HF_ETRACE_GOT_NO_ADDRESS) ? 0 : HF_ETRACE_HAS_ADDRESS;
}

/* A load or store, or this half of an atomic. */
static struct hf_etrace_access half(const struct hf_etrace_enc *e, const struct hf_etrace_expectation *x, bool store)
{
	const struct hf_etrace_enc_data *s = &e->s.data;

	return (struct hf_etrace_access){
		.kind = store ? HF_ETRACE_STORE : HF_ETRACE_LOAD,
		.size = x->size,
		.address = s->address,
		.data = store ? s->written : s->read,
		.flags = address_flag(e) |
			 (got(e, store ? HF_ETRACE_GOT_WRITTEN : HF_ETRACE_GOT_READ) ? HF_ETRACE_HAS_DATA : 0),
	};
}

static bool send_single(struct hf_etrace_enc *e, struct hf_sink *sink, const struct hf_etrace_expectation *x)
{
	const bool store = x->kind == HF_ETRACE_STORE;

	return got(e, store ? HF_ETRACE_GOT_WRITE_AT : HF_ETRACE_GOT_READ_AT) &&
	       send_access(e, sink, half(e, x, store));
}

/* Whether a load or store has a packet, and room for it behind one more. */
static bool has_packet(const struct hf_etrace_enc *e, const struct hf_etrace_access *a)
{
	const struct hf_etrace_params *p = &e->c.params;
	struct hf_etrace_data_state history = e->s.data.history;
	uint8_t payload[HF_ETRACE_PAYLOAD_MAX];

	return e->s.data.accesses + 1 < HF_ETRACE_ENC_ACCESSES_MAX &&
	       hf_etrace_data_write(p, p->modes, e->c.compress, &history, a, payload) != 0;
}

/* An atomic as a load and a store, or not at all: decoders take but both, and know them by their address. */
static bool send_two(struct hf_etrace_enc *e, struct hf_sink *sink, const struct hf_etrace_expectation *x)
{
	const struct hf_etrace_access store = half(e, x, true);

	return got(e, HF_ETRACE_GOT_READ_AT | HF_ETRACE_GOT_WRITE_AT) && !got(e, HF_ETRACE_GOT_NO_ADDRESS) &&
	       !(e->c.params.modes & HF_ETRACE_NO_ADDRESS) && has_packet(e, &store) &&
	       send_access(e, sink, half(e, x, false)) && send_access(e, sink, store);
}

/* Kinds and sizes of accesses, as bits. */
static unsigned bit(unsigned kind, unsigned size)
{
	return 1u << (kind * HF_ETRACE_ENC_SIZES + size);
}

static unsigned bits_of(const struct hf_etrace_expectation *x)
{
	if (!x->expects)
		return 0;
	if (x->many)
		return bit(x->kind, 0) * 15;
	if (x->kind == HF_ETRACE_ATOMIC) /* one told as two begins with the load */
		return bit(HF_ETRACE_ATOMIC, x->size) | bit(HF_ETRACE_LOAD, x->size);
	return bit(x->kind, x->size);
}

/* As one packet if all of it is known, else as a load and a store; what it could take if it is not told. */
static unsigned send_atomic(struct hf_etrace_enc *e, struct hf_sink *sink, const struct hf_etrace_expectation *x)
{
	struct hf_etrace_enc_data *s = &e->s.data;
	struct hf_etrace_access a = {.kind = HF_ETRACE_ATOMIC, .size = x->size, .subtype = x->subtype};

	complete_atomic(e, x);
	a.address = s->address;
	a.data = s->read;
	a.operand = s->operand;
	a.flags = known(e) | address_flag(e);
	if (!(s->got & (HF_ETRACE_GOT_READ_AT | HF_ETRACE_GOT_WRITE_AT)))
		return bits_of(x);
	if (x->subtype != HF_ETRACE_ATOMICS && is_consistent(e, x) && send_access(e, sink, a))
		return 0;
	return send_two(e, sink, x) ? 0 : bits_of(x);
}

/* csrrw writes its operand, so what was written tells that, too. */
static unsigned send_csr(struct hf_etrace_enc *e, struct hf_sink *sink, const struct hf_etrace_expectation *x)
{
	struct hf_etrace_enc_data *s = &e->s.data;
	struct hf_etrace_access a = {.kind = HF_ETRACE_CSR, .subtype = x->subtype, .address = x->csr};

	if (x->immediate || x->source == 0) {
		s->operand = x->source;
		s->got |= HF_ETRACE_GOT_OPERAND;
	} else if (x->subtype == 0 && got(e, HF_ETRACE_GOT_WRITTEN) && !got(e, HF_ETRACE_GOT_OPERAND)) {
		s->operand = s->written;
		s->got |= HF_ETRACE_GOT_OPERAND;
	}
	a.data = s->read;
	a.operand = s->operand;
	a.flags = known(e) | HF_ETRACE_HAS_ADDRESS;
	return send_access(e, sink, a) ? 0 : bits_of(x);
}

void hf_etrace_enc_accesses(struct hf_etrace_enc *e, struct hf_sink *sink)
{
	const struct hf_etrace_expectation x = hf_etrace_expect(&e->c.params, &e->held.insn);
	struct hf_etrace_enc_data *s = &e->s.data;
	unsigned missed = 0;

	if (x.many)
		missed = bits_of(&x); /* NOLINT(bugprone-branch-clone): as below, but nothing was sent */
	else if (x.expects && x.kind == HF_ETRACE_ATOMIC)
		missed = send_atomic(e, sink, &x);
	else if (x.expects && x.kind == HF_ETRACE_CSR)
		missed = send_csr(e, sink, &x);
	else if (x.expects && !send_single(e, sink, &x))
		missed = bits_of(&x);
	s->missed |= (uint16_t)missed;
	s->got = 0;
	s->address = s->read = s->written = s->operand = 0;
}

bool hf_etrace_enc_confuses(const struct hf_etrace_enc *e, const struct hf_ev_insn *next)
{
	const struct hf_etrace_expectation x = hf_etrace_expect(&e->c.params, next);

	return e->s.data.missed & bits_of(&x);
}

void hf_etrace_enc_settle(struct hf_etrace_enc *e, bool final)
{
	e->s.data.accesses = 0;
	if (final)
		e->s.data.missed = 0;
	e->s.flags &= ~(uint32_t)HF_ETRACE_ENC_CROWDED;
}

/* ---- parameters ---- */

const char *hf_etrace_enc_refuses_data(const struct hf_etrace_config *config)
{
	const struct hf_etrace_params *p = &config->params;
	const unsigned address = p->version == HF_ETRACE_1_1_1 ? p->iaddress_width : p->daddress_width;
	const bool mmacas = p->modes & HF_ETRACE_MMACAS;

	if (p->data_width != 32 && p->data_width != 64)
		return "data_width of a view is 32 or 64";
	if (p->data_format_width < 2)
		return "data_format_width is 2 or 3";
	if (address < p->iaddress_width)
		return "daddress_width is iaddress_width at least";
	if ((p->modes & HF_ETRACE_NO_ADDRESS) && ((p->modes & HF_ETRACE_NO_DATA) || p->lrid_width))
		return "no_address leaves nothing with no_data, and no request of a split access";
	if (p->lrid_width && (mmacas || p->data_format_width < 3))
		return "split accesses need a data_format_width of 3, and mmacas leaves open how they look";
	if (mmacas && (p->version != HF_ETRACE_2_1 || p->data_reference))
		return "mmacas is of version 2.1, with data_diff=spec";
	if (config->compress == HF_ETRACE_DATA_DIFFERENCE && p->data_diff_width < 2)
		return "data_compress=difference needs a data_diff_width of 2: one bit means XOR";
	if (config->compress && p->data_reference)
		return "data_diff=reference has one way of compressing";
	return NULL;
}

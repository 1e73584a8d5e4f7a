/*
 * Data trace and instructions: both are in program order, but a data packet usually comes before the instruction packet
 * that covers its instruction. So accesses wait, and each load, store, atomic or CSR instruction that is walked takes
 * the oldest one if that is of its kind and size.
 */
#include "codecs/etrace/decoder.h"

/* What an instruction accesses. */
struct wish {
	bool wants;
	bool many;    /* vector and multi-register instructions: as many as there are */
	uint8_t kind; /* enum hf_etrace_access_kind */
	uint8_t size; /* log2 of bytes */
	uint16_t csr;
};

static struct wish wish_compressed(uint32_t opcode, bool rv64)
{
	const unsigned quadrant = opcode & 3, funct3 = opcode >> 13 & 7;
	struct wish w = {.wants = true, .kind = funct3 & 4 ? HF_ETRACE_STORE : HF_ETRACE_LOAD};

	/* 1 fld, 2 lw, 3 flw or ld; 5 to 7 the stores. Quadrant 2 is the same relative to sp, without Zcmp. */
	switch (funct3 & 3) {
	case 1:
		w.size = 3;
		break;
	case 2:
		w.size = 2;
		break;
	case 3:
		w.size = rv64 ? 3 : 2;
		break;
	default:
		w.wants = false;
	}
	if (quadrant == 1)
		w.wants = false;
	if (quadrant == 0 && funct3 == 4) { /* Zcb: lbu, lhu and lh, sb, sh */
		const unsigned op = opcode >> 10 & 7;

		w = (struct wish){.wants = op < 4, .kind = op < 2 ? HF_ETRACE_LOAD : HF_ETRACE_STORE, .size = op & 1};
	}
	return w;
}

/* Loads and stores of floating point and vector registers share their major opcodes. */
static struct wish wish_float(uint32_t opcode, uint8_t kind)
{
	const unsigned width = opcode >> 12 & 7;
	struct wish w = {.wants = true, .kind = kind, .size = (uint8_t)width};

	if (width == 0 || width >= 5) {
		w.many = true;
		w.size = (uint8_t)(width ? width - 4 : 0);
	}
	return w;
}

static struct wish wish_of(const struct hf_ev_insn *insn)
{
	const uint32_t opcode = insn->opcode, funct3 = opcode >> 12 & 7;
	struct wish w = {.wants = true, .size = (uint8_t)(funct3 & 3)};

	if (insn->size == 2)
		return wish_compressed(opcode, insn->isa == HF_ISA_RV64);
	switch (opcode >> 2 & 31) {
	case 0x00:
		w.kind = HF_ETRACE_LOAD;
		return w;
	case 0x01:
		return wish_float(opcode, HF_ETRACE_LOAD);
	case 0x08:
		w.kind = HF_ETRACE_STORE;
		return w;
	case 0x09:
		return wish_float(opcode, HF_ETRACE_STORE);
	case 0x0b: /* lr, sc, amo */
		w.kind = opcode >> 27 == 2 ? HF_ETRACE_LOAD : opcode >> 27 == 3 ? HF_ETRACE_STORE : HF_ETRACE_ATOMIC;
		return w;
	case 0x1c:
		w.wants = funct3 & 3;
		w.kind = HF_ETRACE_CSR;
		w.csr = (uint16_t)(opcode >> 20);
		return w;
	default:
		w.wants = false;
		return w;
	}
}

static bool is_met(const struct wish *w, const struct hf_etrace_access *a)
{
	if (a->kind == HF_ETRACE_CSR || w->kind == HF_ETRACE_CSR)
		return a->kind == w->kind && (a->address == w->csr || !(a->flags & HF_ETRACE_HAS_ADDRESS));
	if (a->kind != w->kind && !(w->kind == HF_ETRACE_STORE && a->kind == HF_ETRACE_ATOMIC && a->subtype == 7))
		return false;
	return w->many || a->size == w->size;
}

static void add_access(struct hf_etrace_dec *d, const struct hf_etrace_access *a)
{
	struct hf_event ev = {.kind = HF_EVENT_MEM, .small = a->flags & HF_ETRACE_HAS_DATA ? 1 : 0};

	if (a->kind == HF_ETRACE_CSR) {
		ev = (struct hf_event){.kind = HF_EVENT_REG, .reg = {
			.value = a->data, .number = (uint16_t)a->address, .class = 4, .role = 2}};
		if (a->flags & HF_ETRACE_HAS_DATA)
			hf_etrace_add(d, &ev);
		return;
	}
	ev.flags = a->kind == HF_ETRACE_LOAD ? HF_EVF_READ : a->kind == HF_ETRACE_STORE ? HF_EVF_WRITE :
									   HF_EVF_READ | HF_EVF_WRITE;
	ev.mem = (struct hf_ev_mem){.address = a->address, .data = a->data, .size = 1u << a->size};
	hf_etrace_add(d, &ev);
}

static void drop(struct hf_etrace_dec *d, uint32_t n)
{
	d->access_count -= n;
	memmove(d->accesses, d->accesses + n, d->access_count * sizeof *d->accesses);
}

/* The list has room for one more stretch and the rest of a packet. */
static bool has_room(const struct hf_etrace_dec *d)
{
	return d->tail < HF_ETRACE_LIST - HF_ETRACE_LIST_ROOM / 4;
}

static void add_part(struct hf_etrace_dec *d, const union hf_etrace_item *item, uint8_t from, uint8_t to)
{
	union hf_etrace_item *part = &d->list[d->tail];

	*part = *item;
	part->from = from;
	part->to = to;
	if (to != item->to)
		part->flags = 0;
	d->tail += from < to;
}

void hf_etrace_add_attached(struct hf_etrace_dec *d, const union hf_etrace_item *item)
{
	uint8_t from = item->from;

	for (uint8_t i = item->from; i < item->to && d->access_count && has_room(d); i++) {
		const struct wish w = wish_of(&item->block->insn[i].insn);

		if (!w.wants || !is_met(&w, d->accesses))
			continue;
		add_part(d, item, from, (uint8_t)(i + 1));
		from = (uint8_t)(i + 1);
		do {
			add_access(d, d->accesses);
			drop(d, 1);
		} while (w.many && d->access_count && is_met(&w, d->accesses) && has_room(d));
	}
	add_part(d, item, from, item->to);
}

/* Data of a split access: its request still waits, or its instruction is gone. */
static bool take_response(struct hf_etrace_dec *d, const struct hf_etrace_access *response)
{
	for (uint32_t i = 0; i < d->access_count; i++) {
		struct hf_etrace_access *a = &d->accesses[i];

		if (!(a->flags & HF_ETRACE_SPLIT) || a->id != response->id)
			continue;
		a->data = response->data;
		a->flags |= response->flags & HF_ETRACE_HAS_DATA;
		a->flags &= (uint8_t)~HF_ETRACE_SPLIT;
		return true;
	}
	return false;
}

void hf_etrace_take_data(struct hf_etrace_dec *d)
{
	struct hf_etrace_access a;
	int err = hf_etrace_data_read(&d->params, d->core.modes, &d->data, d->msg.payload, d->msg.length, &a);

	if (err || !(d->core.flags & HF_ETRACE_STARTED)) {
		d->core.access_lost++;
		return;
	}
	if (a.kind == HF_ETRACE_RESPONSE) {
		d->core.access_lost += !take_response(d, &a);
		return;
	}
	if (d->access_count == HF_ETRACE_ACCESSES) {
		d->core.access_lost++;
		drop(d, 1);
	}
	d->accesses[d->access_count++] = a;
}

void hf_etrace_tell_lost_data(struct hf_etrace_dec *d)
{
	const struct hf_event ev = {
		.kind = HF_EVENT_NOTE,
		.size = (uint32_t)-HF_ERR_ETRACE_DATA,
		.loss = {.offset = hf_etrace_framer_offset(&d->framer), .detail = d->core.access_lost + d->access_count},
	};

	if (ev.loss.detail)
		hf_etrace_add(d, &ev);
	d->core.access_lost = d->access_count = 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Packets out of what the encoder knows: atoms packed, addresses and contexts as short as what was said allows. */
#include "codecs/ete/encoder.h"

static void put_packet(struct hf_ete_enc *e, struct hf_sink *sink, const struct hf_ete_packet *packet)
{
	sink->p = hf_ete_packet_put(&e->unit, hf_sink_room(sink, HF_ETE_PACKET_MAX), packet);
}

static void put_kind(struct hf_ete_enc *e, struct hf_sink *sink, enum hf_ete_kind kind)
{
	put_packet(e, sink, &(struct hf_ete_packet){.kind = (uint8_t)kind});
}

/* ---- atoms ---- */

/* The packet that holds the most of the oldest atoms (D5.2.10). */
static void put_atoms(struct hf_ete_enc *e, struct hf_sink *sink)
{
	struct hf_ete_enc_state *s = &e->s;
	unsigned n = s->atom_count;
	uint8_t header;

	while (!(header = hf_ete_atom_header(s->atoms, n)))
		n--;
	*hf_sink_room(sink, 1) = header;
	sink->p++;
	s->atoms >>= n;
	s->atom_count = (uint8_t)(s->atom_count - n);
}

void hf_ete_enc_atom(struct hf_ete_enc *e, struct hf_sink *sink, bool taken)
{
	struct hf_ete_enc_state *s = &e->s;

	s->atoms |= (uint32_t)taken << s->atom_count++;
	if (s->atom_count == HF_ETE_ENC_ATOMS)
		put_atoms(e, sink);
}

void hf_ete_enc_flush(struct hf_ete_enc *e, struct hf_sink *sink)
{
	while (e->s.atom_count)
		put_atoms(e, sink);
}

/* ---- addresses and contexts ---- */

static void push_address(struct hf_ete_enc_state *s, uint64_t address, uint8_t is)
{
	memmove(s->address + 1, s->address, sizeof s->address - sizeof *s->address);
	memmove(s->is + 1, s->is, sizeof s->is - sizeof *s->is);
	s->address[0] = address;
	s->is[0] = is;
}

/* D5.2.7; with a context there are only the long forms. */
static struct hf_ete_address shorten(const struct hf_ete_enc_state *s, uint64_t pc, uint8_t is, bool with_context)
{
	const uint64_t other = pc ^ s->address[0];
	const unsigned one = 9u - is, two = one + 8;
	struct hf_ete_address a = {.value = pc, .is = is};

	for (uint8_t i = 0; i < 3 && !with_context; i++)
		if (s->address[i] == pc && s->is[i] == is) {
			a.form = HF_ETE_ADDRESS_MATCH;
			a.match = i;
			return a;
		}
	if (!with_context && !(other >> two)) {
		a.form = HF_ETE_ADDRESS_SHORT;
		a.bits = (uint8_t)(other >> one ? two : one);
	} else {
		a.form = other >> 32 ? HF_ETE_ADDRESS_64 : HF_ETE_ADDRESS_32;
		a.bits = other >> 32 ? 64 : 32;
	}
	return a;
}

static bool is_new_context(const struct hf_ete_enc *e, uint8_t byte)
{
	const struct hf_ete_enc_state *s = &e->s;

	return byte != s->context || (e->c.contextid && (!(s->flags & HF_ETE_ENC_CID) || s->cid != s->said_cid));
}

/* The context as a packet says it now; it counts as said. */
static struct hf_ete_context say_context(struct hf_ete_enc *e, uint8_t byte)
{
	struct hf_ete_enc_state *s = &e->s;
	struct hf_ete_context context = {.byte = byte};

	if (e->c.contextid && (!(s->flags & HF_ETE_ENC_CID) || s->cid != s->said_cid)) {
		context.byte |= HF_ETE_CONTEXT_CID;
		context.cid = s->said_cid = s->cid;
		s->flags |= HF_ETE_ENC_CID;
	}
	s->context = byte;
	return context;
}

static void put_target(struct hf_ete_enc *e, struct hf_sink *sink, const struct hf_ete_enc_place *at, bool with_context)
{
	struct hf_ete_packet packet = {.kind = with_context ? HF_ETE_TARGET_CONTEXT : HF_ETE_TARGET};

	packet.address = shorten(&e->s, at->pc, at->is, with_context);
	if (with_context)
		packet.context = say_context(e, at->context);
	put_packet(e, sink, &packet);
	push_address(&e->s, at->pc, at->is);
	e->s.ran = 0;
}

void hf_ete_enc_target(struct hf_ete_enc *e, struct hf_sink *sink, const struct hf_ete_enc_place *at)
{
	hf_ete_enc_flush(e, sink);
	put_target(e, sink, at, is_new_context(e, at->context));
}

void hf_ete_enc_context(struct hf_ete_enc *e, struct hf_sink *sink, uint8_t byte)
{
	struct hf_ete_packet packet = {.kind = HF_ETE_CONTEXT, .flags = HF_ETE_HAS_CONTEXT};

	if (!is_new_context(e, byte))
		return;
	hf_ete_enc_flush(e, sink);
	packet.context = say_context(e, byte);
	put_packet(e, sink, &packet);
}

void hf_ete_enc_exception(struct hf_ete_enc *e, struct hf_sink *sink, unsigned type, uint64_t address, uint8_t is)
{
	struct hf_ete_packet packet = {.kind = HF_ETE_EXCEPTION, .info = (uint8_t)type};

	hf_ete_enc_flush(e, sink);
	if (type == HF_ETE_EXC_RESET) {
		packet.address.form = HF_ETE_ADDRESS_UNKNOWN;
		address = is = 0;
	} else {
		packet.address = shorten(&e->s, address, is, false);
	}
	put_packet(e, sink, &packet);
	push_address(&e->s, address, is);
	e->s.ran = 0;
}

/* ---- beginnings and ends ---- */

void hf_ete_enc_close(struct hf_ete_enc *e, struct hf_sink *sink)
{
	struct hf_ete_packet q = {.kind = HF_ETE_Q, .flags = HF_ETE_HAS_COUNT, .count = e->s.ran};

	hf_ete_enc_flush(e, sink);
	if (!(e->s.flags & HF_ETE_ENC_STARTED) || !e->s.ran)
		return;
	if (e->c.q_elements)
		put_packet(e, sink, &q);
	else
		hf_ete_enc_exception(e, sink, HF_ETE_EXC_DEBUG_HALT, e->s.next, e->s.next_is);
	e->s.ran = 0;
}

/* A-sync and Trace Info, which void what was said (D4.3.2). */
static void put_sync(struct hf_ete_enc *e, struct hf_sink *sink)
{
	struct hf_ete_enc_state *s = &e->s;

	hf_ete_enc_flush(e, sink);
	put_kind(e, sink, HF_ETE_ASYNC);
	put_kind(e, sink, HF_ETE_TRACE_INFO);
	memset(s->address, 0, sizeof s->address);
	memset(s->is, 0, sizeof s->is);
	s->said_time = 0;
	hf_return_stack_clear(&e->links);
	s->flags &= (uint16_t)~HF_ETE_ENC_CID;
	s->left = e->c.sync_instructions ? e->c.sync_instructions : UINT32_MAX;
}

void hf_ete_enc_sync(struct hf_ete_enc *e, struct hf_sink *sink, const struct hf_ete_enc_place *at)
{
	put_sync(e, sink);
	put_target(e, sink, at, true);
}

void hf_ete_enc_overflow(struct hf_ete_enc *e, struct hf_sink *sink)
{
	/* Where a decoder does not look for packets yet it would pass over it. */
	if (!(e->s.flags & HF_ETE_ENC_STARTED))
		put_kind(e, sink, HF_ETE_ASYNC);
	put_kind(e, sink, HF_ETE_OVERFLOW);
}

void hf_ete_enc_start(struct hf_ete_enc *e, struct hf_sink *sink, const struct hf_ete_enc_place *at)
{
	struct hf_ete_enc_state *s = &e->s;

	hf_ete_enc_close(e, sink);
	if (s->flags & HF_ETE_ENC_LOST)
		hf_ete_enc_overflow(e, sink);
	put_sync(e, sink);
	put_kind(e, sink, HF_ETE_TRACE_ON);
	put_target(e, sink, at, true);
	s->flags &= (uint16_t)~(HF_ETE_ENC_LOST | HF_ETE_ENC_APART | HF_ETE_ENC_INDIRECT | HF_ETE_ENC_ADDRESS |
				HF_ETE_ENC_TARGET);
	s->flags |= HF_ETE_ENC_STARTED;
	if (s->flags & HF_ETE_ENC_TIME)
		hf_ete_enc_timestamp(e, sink);
}

/* As many groups of 7 bits as hold all that differs from the last one; 0 would mean that it is not known (D5.2.4). */
void hf_ete_enc_timestamp(struct hf_ete_enc *e, struct hf_sink *sink)
{
	struct hf_ete_enc_state *s = &e->s;
	const uint64_t other = s->time ^ s->said_time;
	unsigned bits = 7;

	s->flags &= (uint16_t)~HF_ETE_ENC_TIME;
	if (!s->time)
		return;
	while (bits < 56 && other >> bits)
		bits += 7;
	if (other >> bits)
		bits = 64;
	hf_ete_enc_flush(e, sink);
	put_packet(e, sink, &(struct hf_ete_packet){
				.kind = HF_ETE_TIMESTAMP, .value = s->time, .value_bits = (uint8_t)bits});
	s->said_time = s->time;
}

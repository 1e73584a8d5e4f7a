/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The layouts, each described once: the same function reads a packet, writes it or shows it in records.txt, by what its
 * cursor is for, and is instantiated for each.
 */
#include "codecs/ete/packet.h"

#include "codecs/base/bytes.h"
#include "codecs/base/text.h"
#include "codecs/ete/errors.h"
#include "codecs/isa/names.h"

#include <assert.h>

/* Of every header; 0 is reserved. Behind 00 another byte says which it is, first of all an A-sync. */
static const uint8_t kinds[256] = {
	[0x00] = HF_ETE_ASYNC,
	[0xaf] = HF_ETE_Q, /* without a count */
#define HF_ETE_PACKET(kind, form, first, last) [first ... last] = HF_ETE_##kind,
#define HF_ETE_FURTHER HF_ETE_PACKET
#include "codecs/ete/packets.def"
};

/* What form of an address it announces, and the first of the headers that announce it for a kind. */
static const uint8_t forms[256] = {
#define HF_ETE_PACKET(kind, form, first, last) [first ... last] = HF_ETE_ADDRESS_##form,
#define HF_ETE_FURTHER HF_ETE_PACKET
#include "codecs/ete/packets.def"
};

static const uint8_t headers[HF_ETE_KINDS][HF_ETE_ADDRESS_FORMS] = {
#define HF_ETE_PACKET(kind, form, first, last) [HF_ETE_##kind][HF_ETE_ADDRESS_##form] = (first),
#define HF_ETE_FURTHER HF_ETE_PACKET
#include "codecs/ete/packets.def"
};

/* Of those that begin with 00. */
static const uint8_t last_bytes[HF_ETE_KINDS] = {
#define HF_ETE_EXTENDED(kind, last) [HF_ETE_##kind] = (last),
#define HF_ETE_PACKET(...)
#include "codecs/ete/packets.def"
};

uint64_t hf_ete_m_cause(unsigned type, bool *ret_interrupt)
{
	const unsigned own = type - HF_ETE_EXC_M;

	*ret_interrupt = own <= 2 || own == 14 || own == 15;
	if ((own >= 1 && own <= 7) || own == 11 || own == 12 || own == 14 || own == 15)
		return HF_TRAP_M + own;
	if (type >= HF_ETE_M_DEBUG_HALT && type <= HF_ETE_M_LOCKUP)
		return HF_TRAP_M_OTHER + own;
	*ret_interrupt = true;
	if (own >= 0x10 && own <= 0x17)
		return HF_TRAP_M + own;
	return own >= 0x208 && own <= 0x3ef ? HF_TRAP_M + 16 + (own - 0x200) : 0;
}

const char *hf_ete_exception_name(unsigned type)
{
	static const char *const names[] = {
		[HF_ETE_EXC_RESET] = "reset",
		[HF_ETE_EXC_DEBUG_HALT] = "debug halt",
		[HF_ETE_EXC_CALL] = "call",
		[HF_ETE_EXC_TRAP] = "trap",
		[HF_ETE_EXC_SYSTEM_ERROR] = "SError",
		[HF_ETE_EXC_INST_DEBUG] = "instruction debug",
		[HF_ETE_EXC_DATA_DEBUG] = "data debug",
		[HF_ETE_EXC_ALIGNMENT] = "alignment",
		[HF_ETE_EXC_INST_FAULT] = "instruction fault",
		[HF_ETE_EXC_DATA_FAULT] = "data fault",
		[HF_ETE_EXC_IRQ] = "IRQ",
		[HF_ETE_EXC_FIQ] = "FIQ",
		[16] = "implementation defined 0",
		[17] = "implementation defined 1",
		[18] = "implementation defined 2",
		[19] = "implementation defined 3",
		[20] = "implementation defined 4",
		[21] = "implementation defined 5",
		[22] = "implementation defined 6",
		[23] = "implementation defined 7",
		[HF_ETE_EXC_TRANSACTION_FAILURE] = "transaction failure",
	};

	if (type & HF_ETE_EXC_M) {
		bool interrupt;
		const uint64_t cause = hf_ete_m_cause(type, &interrupt);

		return cause ? hf_cause_name(true, interrupt, cause) : NULL;
	}
	return type < sizeof names / sizeof names[0] ? names[type] : NULL;
}

/* ---- atoms ---- */

static void get_atoms(struct hf_ete_packet *ret)
{
	const uint8_t h = ret->header;
	unsigned low = h & 31;

	if (low <= 20 && h < 0xf5) { /* F6: E many times, then E or N */
		ret->atom_count = (uint8_t)(low + 4);
		ret->atoms = (UINT32_C(1) << (low + 3)) - 1;
		ret->atoms |= h < 0xe0 ? UINT32_C(1) << (low + 3) : 0;
	} else if (h >= 0xf8) {
		ret->atom_count = 3;
		ret->atoms = h & 7;
	} else if (h >= 0xf6) {
		ret->atom_count = 1;
		ret->atoms = h & 1;
	} else if (h >= 0xdc && h < 0xe0) {
		static const uint8_t f4[4] = {0xe, 0x0, 0xa, 0x5};

		ret->atom_count = 4;
		ret->atoms = f4[h & 3];
	} else if (h >= 0xd8 && h < 0xdc) {
		ret->atom_count = 2;
		ret->atoms = h & 3;
	} else {
		ret->atom_count = 5;
		ret->atoms = h == 0xd5 ? 0 : h == 0xd6 ? 0x0a : h == 0xd7 ? 0x15 : 0x1e;
	}
}

uint8_t hf_ete_atom_header(uint32_t atoms, unsigned count)
{
	const uint32_t all = count < 32 ? (UINT32_C(1) << count) - 1 : 0;
	static const uint8_t f4[16] = {[0xe] = 0xdc, [0x0] = 0xdd, [0xa] = 0xde, [0x5] = 0xdf};

	atoms &= all;
	if (count == 1)
		return (uint8_t)(0xf6 | atoms);
	if (count == 2)
		return (uint8_t)(0xd8 | atoms);
	if (count == 3)
		return (uint8_t)(0xf8 | atoms);
	if (count >= 4 && count <= 24 && atoms == all)
		return (uint8_t)(0xc0 + count - 4);
	if (count >= 4 && count <= 24 && atoms == all >> 1)
		return (uint8_t)(0xe0 + count - 4);
	if (count == 4)
		return f4[atoms];
	if (count == 5)
		return atoms == 0 ? 0xd5 : atoms == 0x0a ? 0xd6 : atoms == 0x15 ? 0xd7 : atoms == 0x1e ? 0xf5 : 0;
	return 0;
}

/* Of a MISPREDICT or CANCEL_F2, by the low bits of the header. */
static const struct {
	uint8_t count, atoms;
} few_atoms[4] = {{0, 0}, {1, 1}, {2, 3}, {1, 0}};

static uint8_t few_atoms_bits(const struct hf_ete_packet *packet)
{
	return packet->atom_count == 2 ? 2 : packet->atom_count == 0 ? 0 : packet->atoms ? 1 : 3;
}

/* ---- fields ---- */

enum use { READ, WRITE, SHOW };

struct cursor {
	enum use use;
	uint8_t header;                       /* of the packet; writing: its low bits come with the fields */
	bool cut, bad, no_id;                 /* reading: looked for once, at the end */
	const uint8_t *p, *end;               /* reading */
	uint8_t *to;                          /* writing the next byte, showing the end of the text */
	const struct hf_ete_config *config;   /* not showing */
	const struct hf_ete_meaning *meaning; /* showing */
	uint32_t threshold;
};

#define VISIT static inline __attribute__((always_inline))

VISIT uint8_t byte(struct cursor *c, uint64_t v)
{
	if (c->use == WRITE)
		*c->to++ = (uint8_t)v;
	else if (c->p < c->end)
		return *c->p++;
	else
		c->cut = true;
	return c->use == WRITE ? (uint8_t)v : 0;
}

VISIT uint64_t bytes(struct cursor *c, uint64_t v, unsigned n)
{
	uint64_t got = 0;

	for (unsigned i = 0; i < n; i++)
		got |= (uint64_t)byte(c, v >> (8 * i)) << (8 * i);
	return got;
}

/* Bits of the header. */
VISIT uint8_t header_bits(struct cursor *c, unsigned v, unsigned low, unsigned width)
{
	const unsigned mask = ((1u << width) - 1) << low;

	if (c->use == WRITE)
		c->header = (uint8_t)((c->header & ~mask) | (v << low & mask));
	return (uint8_t)((c->header & mask) >> low);
}

VISIT void header_flag(struct cursor *c, struct hf_ete_packet *packet, uint8_t flag)
{
	if (header_bits(c, (packet->flags & flag) != 0, 0, 1))
		packet->flags |= flag;
}

static uint8_t *put_leb(uint8_t *p, uint64_t v, unsigned bits, unsigned least)
{
	for (unsigned at = 0; (v >= 0x80 || at + 7 < least) && (at == 0 || at + 8 < bits); at += 7, v >>= 7)
		*p++ = (uint8_t)(v | 0x80);
	*p++ = (uint8_t)v;
	return p;
}

/*
 * 7 bits a byte, the low ones first; the last byte that a field of so many bits can have has no continuation flag.
 * *used is how many bits there are: bits for all of it. Writing: at least so many.
 */
VISIT uint64_t leb(struct cursor *c, uint64_t v, unsigned bits, uint8_t *used)
{
	unsigned at = 0;
	uint8_t part;

	if (c->use == WRITE) {
		c->to = put_leb(c->to, v, bits, *used);
		return v;
	}
	v = 0;
	do {
		part = byte(c, 0);
		v |= (uint64_t)(part & 0x7f) << at;
		at += 7;
	} while (part & 0x80 && at + 8 < bits);
	if (part & 0x80) {
		part = byte(c, 0);
		if (bits - at < 8)
			c->bad |= part >> (bits - at) != 0;
		v |= (uint64_t)part << at;
		at = bits;
	}
	*used = (uint8_t)at;
	return v;
}

static uint8_t *put_dec(uint8_t *t, const char *key, uint64_t v)
{
	return hf_text_put_dec(hf_text_put(t, key), v);
}

static uint8_t *put_hex(uint8_t *t, const char *key, uint64_t v)
{
	return hf_text_put_hex(hf_text_put(t, key), v);
}

/* A number: decimal where it is shown, behind the key. */
VISIT uint32_t number(struct cursor *c, uint32_t v, unsigned bits, const char *key)
{
	uint8_t used = 0;

	if (c->use != SHOW)
		return (uint32_t)leb(c, v, bits, &used);
	c->to = put_dec(c->to, key, v);
	return v;
}

/* One of n bytes: hexadecimal where it is shown. */
VISIT uint64_t fixed(struct cursor *c, uint64_t v, unsigned n, const char *key)
{
	if (c->use != SHOW)
		return bytes(c, v, n);
	c->to = put_hex(c->to, key, v);
	return v;
}

static uint8_t *show_count(uint8_t *t, const char *key, const struct hf_ete_packet *packet, uint64_t more)
{
	t = hf_text_put(t, key);
	return packet->flags & HF_ETE_HAS_COUNT ? hf_text_put_dec(t, packet->count + more) : hf_text_put(t, "?");
}

/* ---- addresses and contexts ---- */

/* What the header, which is that of a packet of that kind, says of the address. */
VISIT uint8_t address_header(const struct cursor *c, unsigned kind, uint8_t header, struct hf_ete_address *a)
{
	uint8_t *low;

	if (c->use == READ)
		a->form = forms[header];
	low = a->form == HF_ETE_ADDRESS_MATCH ? &a->match : &a->is;
	if (c->use == READ && a->form)
		*low = (uint8_t)(header - headers[kind][a->form]);
	return (uint8_t)(headers[kind][a->form] + *low);
}

static uint8_t *show_address(uint8_t *t, const struct hf_ete_address *a, const struct hf_ete_meaning *meaning)
{
	static const char *const names[] = {"", "match", "short", "32", "64", ""};

	if (a->form == HF_ETE_ADDRESS_NONE)
		return t;
	if (a->form == HF_ETE_ADDRESS_UNKNOWN)
		return hf_text_put(t, " address=?");
	t = hf_text_put_hex16(hf_text_put(t, " address="), meaning->address);
	t = hf_text_put(hf_text_put(t, " form="), names[a->form]);
	if (a->form == HF_ETE_ADDRESS_MATCH)
		t = hf_text_put_dec(t, a->match);
	return meaning->is ? hf_text_put(t, " is=1") : t;
}

/* Sheet 3.5: the first byte holds 7 bits from A[2] or A[1] on; in the longer forms the second is filled up. */
VISIT void address(struct cursor *c, struct hf_ete_address *a)
{
	const unsigned low = 2u - a->is;
	const uint64_t v = a->value;
	uint8_t first, second;

	if (c->use == SHOW) {
		c->to = show_address(c->to, a, c->meaning);
	} else if (a->form == HF_ETE_ADDRESS_SHORT) {
		first = byte(c, (v >> low & 0x7f) | (a->bits > 9 ? 0x80 : 0));
		second = first & 0x80 ? byte(c, v >> (low + 7)) : 0;
		a->value = (uint64_t)(first & 0x7f) << low | (uint64_t)second << (low + 7);
		a->bits = (uint8_t)(low + (first & 0x80 ? 15 : 7));
	} else if (a->form == HF_ETE_ADDRESS_32 || a->form == HF_ETE_ADDRESS_64) {
		a->bits = a->form == HF_ETE_ADDRESS_32 ? 32 : 64;
		first = byte(c, v >> low & 0x7f);
		second = byte(c, (v & 0xffff) >> (low + 7));
		c->bad |= (first & 0x80) || (!a->is && second & 0x80);
		a->value = (uint64_t)first << low | (uint64_t)second << (low + 7);
		a->value |= bytes(c, v >> 16, a->bits / 8 - 2u) << 16;
	}
}

VISIT void context(struct cursor *c, struct hf_ete_packet *packet)
{
	struct hf_ete_context *context = &packet->context;

	if (c->use == SHOW) {
		c->to = put_dec(c->to, " el=", context->byte & HF_ETE_CONTEXT_EL);
		c->to = put_dec(c->to, " sf=", context->byte & HF_ETE_CONTEXT_SF ? 1 : 0);
		c->to = put_dec(c->to, " ns=", context->byte & HF_ETE_CONTEXT_NS ? 1 : 0);
		c->to = put_dec(c->to, " nse=", context->byte & HF_ETE_CONTEXT_NSE ? 1 : 0);
	} else {
		packet->flags |= HF_ETE_HAS_CONTEXT;
		context->byte = byte(c, context->byte);
		c->bad |= (context->byte & 4) != 0;
	}
	if (c->use == READ)
		c->no_id |= (context->byte & HF_ETE_CONTEXT_VMID && !c->config->vmid_bytes) ||
			    (context->byte & HF_ETE_CONTEXT_CID && !c->config->cid_bytes);
	if (context->byte & HF_ETE_CONTEXT_VMID)
		context->vmid = (uint32_t)fixed(c, context->vmid, c->use == SHOW ? 0 : c->config->vmid_bytes, " vmid=");
	if (context->byte & HF_ETE_CONTEXT_CID)
		context->cid = (uint32_t)fixed(c, context->cid, c->use == SHOW ? 0 : c->config->cid_bytes, " cid=");
}

/* ---- packets ---- */

VISIT void trace_info(struct cursor *c, struct hf_ete_packet *packet)
{
	const bool shows = c->use == SHOW;
	const uint8_t plctl = shows ? 0 : byte(c, packet->flags >> 4 & 13);

	if (c->use == READ)
		packet->flags = (uint8_t)((plctl & ~2u) << 4);
	c->bad |= (plctl & 0xf0) != 0 || (plctl & 2 && !c->config->etm);
	if (packet->flags & HF_ETE_HAS_INFO || shows)
		packet->info = (uint8_t)fixed(c, packet->info, 1, " info=");
	if (plctl & 2)
		number(c, 0, 32, ""); /* KEY: of data transfers, which no A profile has */
	if (packet->flags & HF_ETE_HAS_SPEC)
		packet->commit = number(c, packet->commit, 32, " spec=");
	if (packet->flags & HF_ETE_HAS_CYCT)
		packet->count = number(c, packet->count, 12, " cyct=");
}

VISIT void timestamp(struct cursor *c, struct hf_ete_packet *packet)
{
	header_flag(c, packet, HF_ETE_HAS_COUNT);
	if (c->use == SHOW)
		c->to = hf_text_put_hex16(hf_text_put(c->to, " "), c->meaning->timestamp);
	else if (c->use == WRITE && packet->value_bits < 64)
		leb(c, packet->value & ((UINT64_C(1) << packet->value_bits) - 1), 64, &packet->value_bits);
	else
		packet->value = leb(c, packet->value, 64, &packet->value_bits);
	if (packet->flags & HF_ETE_HAS_COUNT)
		packet->count = number(c, packet->count, 20, " cycles=");
}

/* Behind the type: 70, or the header of a TARGET or TARGET_CONTEXT with what follows it. */
VISIT void exception_address(struct cursor *c, struct hf_ete_packet *packet)
{
	unsigned kind = packet->flags & HF_ETE_HAS_CONTEXT ? HF_ETE_TARGET_CONTEXT : HF_ETE_TARGET;
	uint8_t header = 0;

	if (c->use == WRITE)
		header = packet->address.form == HF_ETE_ADDRESS_UNKNOWN ?
				 headers[HF_ETE_IGNORE][HF_ETE_ADDRESS_NONE] :
				 address_header(c, kind, 0, &packet->address);
	header = byte(c, header);
	kind = kinds[header];
	if (kind == HF_ETE_IGNORE) {
		packet->address.form = HF_ETE_ADDRESS_UNKNOWN;
		c->bad |= packet->info != HF_ETE_EXC_RESET && packet->info != HF_ETE_EXC_TRANSACTION_FAILURE &&
			  packet->info != HF_ETE_M_RESET;
	} else if (kind == HF_ETE_TARGET || kind == HF_ETE_TARGET_CONTEXT) {
		address_header(c, kind, header, &packet->address);
		address(c, &packet->address);
		if (kind == HF_ETE_TARGET_CONTEXT)
			context(c, packet);
	} else {
		c->bad = true;
	}
}

/* The second byte of an exception: of an M core the upper bits of the type, and whether a fault is pending. */
VISIT void exception_more(struct cursor *c, struct hf_ete_packet *packet)
{
	const unsigned fault = packet->flags & HF_ETE_HAS_FAULT ? 0x20 : 0;
	const uint8_t more = byte(c, (packet->info >> 5 & 31) | fault);

	packet->info |= (uint16_t)((more & 31) << 5);
	packet->flags |= more & 0x20 ? HF_ETE_HAS_FAULT : 0;
	c->bad |= !c->config->etm || (c->config->m ? more >> 6 : more) != 0;
}

VISIT void exception(struct cursor *c, struct hf_ete_packet *packet)
{
	const bool two = packet->info & HF_ETE_EXC_M && (packet->info & 0x3e0 || packet->flags & HF_ETE_HAS_FAULT);
	uint8_t info;

	if (c->use == SHOW) {
		const char *name = hf_ete_exception_name(packet->info);

		assert(name); /* a packet without one is bad, and is not shown */
		c->to = hf_text_put(put_dec(c->to, " type=", packet->info & ~HF_ETE_EXC_M), " (");
		c->to = hf_text_put(hf_text_put(c->to, name), ")");
		c->to = hf_text_put(c->to, packet->flags & HF_ETE_HAS_FAULT ? " fault-pending" : "");
		c->to = hf_text_put(c->to, packet->flags & HF_ETE_HAS_TARGET ? " target" : "");
		address(c, &packet->address);
		if (packet->flags & HF_ETE_HAS_CONTEXT)
			context(c, packet);
		return;
	}
	info = byte(c, (packet->info & 31u) << 1 | (packet->flags & HF_ETE_HAS_TARGET ? 0x40 : 1) | (two ? 0x80 : 0));
	packet->info = (uint16_t)((info >> 1 & 31) | (c->use == READ ? 0 : packet->info & 0x3e0));
	if (info & 0x80)
		exception_more(c, packet);
	packet->info |= c->config->m ? HF_ETE_EXC_M : 0;
	packet->flags |= info & 0x40 ? HF_ETE_HAS_TARGET : 0;
	c->bad |= (info >> 6 & 1) == (info & 1) || !hf_ete_exception_name(packet->info);
	exception_address(c, packet);
}

VISIT void instrumentation(struct cursor *c, struct hf_ete_packet *packet)
{
	packet->info = (uint8_t)fixed(c, packet->info, 1, " el=");
	c->bad |= packet->info > 3;
	packet->value = fixed(c, packet->value, 8, " value=");
}

VISIT void cycle_count_f1(struct cursor *c, struct hf_ete_packet *packet, uint8_t commits)
{
	if (header_bits(c, !(packet->flags & HF_ETE_HAS_COUNT), 0, 1))
		packet->flags &= (uint8_t)~HF_ETE_HAS_COUNT;
	if (commits)
		packet->commit = number(c, packet->commit, 32, "");
	if (packet->flags & HF_ETE_HAS_COUNT)
		packet->count = number(c, packet->count, 20, "");
}

/* Few that are committed, or as many less than MAXSPEC. */
VISIT void cycle_count_f2(struct cursor *c, struct hf_ete_packet *packet, uint8_t commits)
{
	const bool few = commits && packet->commit >= 1 && packet->commit <= 16;
	const uint32_t written = !commits ? 15 : few ? packet->commit - 1 : packet->commit + 15 - c->config->max_spec;
	const bool many = header_bits(c, !few, 0, 1);
	const uint8_t both = byte(c, written << 4 | packet->count);

	if (c->use == WRITE)
		return;
	packet->count = both & 15;
	packet->commit = !many ? (both >> 4) + 1u : commits ? c->config->max_spec + (both >> 4) - 15 : 0;
	c->bad |= !commits && !many;
	c->bad |= commits && many && c->config->max_spec + UINT64_C(0) + (both >> 4) < 15;
}

VISIT void cycle_count_f3(struct cursor *c, struct hf_ete_packet *packet, uint8_t commits)
{
	const unsigned more = header_bits(c, commits ? packet->commit - 1 : 0, 2, 2);

	packet->count = header_bits(c, packet->count, 0, 2);
	packet->commit = commits ? more + 1 : 0;
	c->bad |= !commits && more;
}

VISIT void cycle_count(struct cursor *c, struct hf_ete_packet *packet)
{
	uint8_t commits;

	if (c->use == SHOW) {
		if (packet->flags & HF_ETE_HAS_COMMIT)
			number(c, packet->commit, 32, " commit=");
		c->to = show_count(c->to, " cycles=", packet, c->threshold);
		return;
	}
	commits = c->config->commopt ? 0 : HF_ETE_HAS_COMMIT;
	if (c->use == READ)
		packet->flags |= commits | HF_ETE_HAS_COUNT;
	if (packet->kind == HF_ETE_CYCLE_COUNT_F1)
		cycle_count_f1(c, packet, commits);
	else if (packet->kind == HF_ETE_CYCLE_COUNT_F2)
		cycle_count_f2(c, packet, commits);
	else
		cycle_count_f3(c, packet, commits);
}

static uint8_t *show_atoms(uint8_t *t, const struct hf_ete_packet *packet)
{
	uint32_t left = packet->atoms;

	if (packet->atom_count)
		*t++ = ' ';
	for (unsigned n = packet->atom_count; n; n--, left >>= 1)
		*t++ = left & 1 ? 'E' : 'N';
	return t;
}

VISIT void atoms(struct cursor *c, struct hf_ete_packet *packet)
{
	if (c->use == SHOW) {
		c->to = show_atoms(c->to, packet);
	} else if (packet->kind == HF_ETE_CANCEL_F3) {
		packet->atoms = packet->atom_count = header_bits(c, packet->atom_count, 0, 1);
	} else {
		const unsigned which = header_bits(c, few_atoms_bits(packet), 0, 2);

		packet->atom_count = few_atoms[which].count;
		packet->atoms = few_atoms[which].atoms;
	}
}

VISIT void cancel(struct cursor *c, struct hf_ete_packet *packet)
{
	if (packet->kind == HF_ETE_CANCEL_F1)
		header_flag(c, packet, HF_ETE_HAS_MISPREDICT);
	else
		packet->flags |= HF_ETE_HAS_MISPREDICT;
	if (packet->kind != HF_ETE_CANCEL_F1)
		atoms(c, packet);
	if (packet->kind == HF_ETE_CANCEL_F1 || c->use == SHOW)
		packet->cancel = number(c, packet->cancel, 32, " ");
	else if (packet->kind == HF_ETE_CANCEL_F2)
		packet->cancel = 1;
	else
		packet->cancel = header_bits(c, packet->cancel - 2, 1, 2) + 2u;
	if (c->use == SHOW)
		c->to = hf_text_put(c->to, packet->flags & HF_ETE_HAS_MISPREDICT ? " mispredict" : "");
}

VISIT void event(struct cursor *c, struct hf_ete_packet *packet)
{
	char separator = ' ';

	if (c->use != SHOW) {
		packet->info = header_bits(c, packet->info, 0, 4);
		return;
	}
	for (unsigned i = 0; i < 4; i++) {
		if (!(packet->info >> i & 1))
			continue;
		*c->to++ = (uint8_t)separator;
		*c->to++ = (uint8_t)('0' + i);
		separator = ',';
	}
}

/* The packet's own header says what address follows, if one does. */
VISIT void own_address(struct cursor *c, struct hf_ete_packet *packet)
{
	if (c->use != SHOW)
		c->header = address_header(c, packet->kind, c->header, &packet->address);
	address(c, &packet->address);
}

VISIT void q(struct cursor *c, struct hf_ete_packet *packet)
{
	if (c->use == SHOW) {
		c->to = show_count(c->to, " count=", packet, 0);
		address(c, &packet->address);
		return;
	}
	if (c->use == READ && c->header != 0xaf)
		packet->flags |= HF_ETE_HAS_COUNT;
	if (packet->flags & HF_ETE_HAS_COUNT || c->use == WRITE)
		own_address(c, packet);
	if (packet->flags & HF_ETE_HAS_COUNT)
		packet->count = number(c, packet->count, 32, "");
	else if (packet->address.form == HF_ETE_ADDRESS_NONE)
		c->header = 0xaf;
}

VISIT void own_context(struct cursor *c, struct hf_ete_packet *packet)
{
	header_flag(c, packet, HF_ETE_HAS_CONTEXT);
	if (packet->flags & HF_ETE_HAS_CONTEXT)
		context(c, packet);
	else if (c->use == SHOW)
		c->to = hf_text_put(c->to, " same");
}

/* A key, a result, or two; and what the header says beside. */
VISIT void conditional(struct cursor *c, struct hf_ete_packet *packet)
{
	if (packet->kind == HF_ETE_CONDITIONAL_I_F3 || packet->kind == HF_ETE_CONDITIONAL_R_F3) {
		packet->info = (uint8_t)fixed(c, packet->info, 1, " value=");
	} else if (packet->kind == HF_ETE_CONDITIONAL_I_F1) {
		packet->count = number(c, packet->count, 32, " key=");
	} else {
		packet->count = number(c, packet->count, 32, " result=");
		if (packet->kind == HF_ETE_CONDITIONAL_R_F1)
			packet->commit = number(c, packet->commit, 32, " result=");
	}
}

/* All but atoms and what begins with 00; kinds that are not named have nothing but their header. */
VISIT void visit(struct cursor *c, struct hf_ete_packet *packet)
{
	switch (packet->kind) {
	case HF_ETE_TRACE_INFO: trace_info(c, packet); break;
	case HF_ETE_TIMESTAMP: timestamp(c, packet); break;
	case HF_ETE_EXCEPTION: exception(c, packet); break;
	case HF_ETE_INSTRUMENTATION: instrumentation(c, packet); break;
	case HF_ETE_CYCLE_COUNT_F1:
	case HF_ETE_CYCLE_COUNT_F2:
	case HF_ETE_CYCLE_COUNT_F3: cycle_count(c, packet); break;
	case HF_ETE_COMMIT: packet->commit = number(c, packet->commit, 32, " "); break;
	case HF_ETE_CANCEL_F1:
	case HF_ETE_CANCEL_F2:
	case HF_ETE_CANCEL_F3: cancel(c, packet); break;
	case HF_ETE_MISPREDICT: atoms(c, packet); break;
	case HF_ETE_EVENT: event(c, packet); break;
	case HF_ETE_CONTEXT: own_context(c, packet); break;
	case HF_ETE_TARGET:
	case HF_ETE_SOURCE: own_address(c, packet); break;
	case HF_ETE_TARGET_CONTEXT:
		own_address(c, packet);
		context(c, packet);
		break;
	case HF_ETE_Q: q(c, packet); break;
	case HF_ETE_CONDITIONAL_I_F1:
	case HF_ETE_CONDITIONAL_I_F3:
	case HF_ETE_CONDITIONAL_R_F1:
	case HF_ETE_CONDITIONAL_R_F1_ONE:
	case HF_ETE_CONDITIONAL_R_F3: conditional(c, packet); break;
	default: break;
	}
}

/* Behind 00: zeros up to 80, or one of two others. */
static int get_extension(const uint8_t *p, size_t n, struct hf_ete_packet *ret)
{
	size_t zeros = 1;

	if (n < 2)
		return 0;
	ret->size = 2;
	if (p[1] == last_bytes[HF_ETE_DISCARD] || p[1] == last_bytes[HF_ETE_OVERFLOW])
		ret->kind = p[1] == last_bytes[HF_ETE_DISCARD] ? HF_ETE_DISCARD : HF_ETE_OVERFLOW;
	if (ret->kind != HF_ETE_ASYNC)
		return 2;
	if (p[1] != 0)
		return HF_ERR_ETE_HEADER;
	while (zeros < n && p[zeros] == 0)
		zeros++;
	if (zeros == n)
		return 0;
	ret->size = (uint32_t)zeros + 1;
	return p[zeros] == 0x80 && zeros >= HF_ETE_ASYNC_ZEROS ? (int)ret->size : HF_ERR_ETE_ASYNC;
}

int hf_ete_packet_get(const struct hf_ete_config *config, const uint8_t *p, size_t n, struct hf_ete_packet *ret)
{
	struct cursor c = {.use = READ, .config = config, .p = p + 1, .end = p + n};

	if (n == 0)
		return 0;
	*ret = (struct hf_ete_packet){.size = 1, .kind = kinds[p[0]], .header = c.header = p[0]};
	if (ret->kind == HF_ETE_ATOM) {
		get_atoms(ret);
		return 1;
	}
	if (ret->kind == HF_ETE_ASYNC)
		return get_extension(p, n, ret);
	if (ret->kind == HF_ETE_NONE || (ret->kind == HF_ETE_EXCEPTION_RETURN && !config->etm) ||
	    (ret->kind > HF_ETE_ATOM && !(config->etm && config->m)))
		return HF_ERR_ETE_HEADER;
	visit(&c, ret);
	ret->size = (uint32_t)(c.p - p);
	if (c.cut)
		return 0;
	if (c.bad || c.no_id)
		return c.bad ? HF_ERR_ETE_FIELD : HF_ERR_ETE_NO_ID;
	return (int)ret->size;
}

static uint8_t *put_extension(uint8_t *p, unsigned kind)
{
	const size_t zeros = kind == HF_ETE_ASYNC ? HF_ETE_ASYNC_ZEROS : 1;

	memset(p, 0, zeros);
	p[zeros] = last_bytes[kind];
	return p + zeros + 1;
}

static uint8_t *put_fields(const struct hf_ete_config *config, uint8_t *p, struct hf_ete_packet packet)
{
	struct cursor c = {.use = WRITE, .config = config, .to = p + 1, .header = headers[packet.kind][HF_ETE_ADDRESS_NONE]};

	if (packet.kind > HF_ETE_ATOM && packet.header)
		c.header = packet.header;

	visit(&c, &packet);
	*p = c.header;
	return c.to;
}

uint8_t *hf_ete_packet_put(const struct hf_ete_config *config, uint8_t *p, const struct hf_ete_packet *packet)
{
	if (last_bytes[packet->kind])
		return put_extension(p, packet->kind);
	if (packet->kind != HF_ETE_ATOM)
		return put_fields(config, p, *packet);
	*p = hf_ete_atom_header(packet->atoms, packet->atom_count);
	return p + 1;
}

/* Apart from the atoms, which are most of all packets. */
static __attribute__((noinline)) uint8_t *show_fields(struct hf_ete_packet *packet,
						      const struct hf_ete_meaning *meaning, uint32_t threshold,
						      uint8_t *t)
{
	struct cursor c = {
		.use = SHOW, .header = packet->header, .to = t, .meaning = meaning, .threshold = threshold};

	visit(&c, packet);
	return c.to;
}

uint8_t *hf_ete_packet_show(struct hf_ete_packet *packet, const struct hf_ete_meaning *meaning, uint32_t threshold,
			    uint8_t *text)
{
	static const char *const names[HF_ETE_KINDS] = {
#define HF_ETE_PACKET(kind, ...) [HF_ETE_##kind] = #kind,
#define HF_ETE_EXTENDED HF_ETE_PACKET
#include "codecs/ete/packets.def"
	};
	uint8_t *t = hf_text_put(text, names[packet->kind]);

	return packet->kind == HF_ETE_ATOM ? show_atoms(t, packet) : show_fields(packet, meaning, threshold, t);
}

/* ---- what packets leave out ---- */

static void push_address(struct hf_ete_history *history, uint64_t address, uint8_t is)
{
	for (unsigned i = 2; i > 0; i--) {
		history->address[i] = history->address[i - 1];
		history->is[i] = history->is[i - 1];
	}
	history->address[0] = address;
	history->is[0] = is;
}

static void apply_address(struct hf_ete_history *history, const struct hf_ete_address *a)
{
	const uint64_t mask = a->bits < 64 ? (UINT64_C(1) << a->bits) - 1 : UINT64_MAX;

	switch (a->form) {
	case HF_ETE_ADDRESS_NONE: break;
	case HF_ETE_ADDRESS_MATCH: push_address(history, history->address[a->match], history->is[a->match]); break;
	case HF_ETE_ADDRESS_UNKNOWN: push_address(history, 0, 0); break;
	default: push_address(history, (history->address[0] & ~mask) | (a->value & mask), a->is);
	}
}

static void apply_context(struct hf_ete_history *history, const struct hf_ete_context *said)
{
	struct hf_ete_context *context = &history->context;

	/* the two bits stay: that ids are traced at all */
	context->byte = (uint8_t)((said->byte & HF_ETE_CONTEXT_STATE) |
				  ((context->byte | said->byte) & (HF_ETE_CONTEXT_VMID | HF_ETE_CONTEXT_CID)));
	if (said->byte & HF_ETE_CONTEXT_VMID)
		context->vmid = said->vmid;
	if (said->byte & HF_ETE_CONTEXT_CID)
		context->cid = said->cid;
}

void hf_ete_history_apply(struct hf_ete_history *history, const struct hf_ete_packet *packet,
			  struct hf_ete_meaning *ret)
{
	if (packet->kind == HF_ETE_TRACE_INFO) {
		memset(history->address, 0, sizeof history->address);
		memset(history->is, 0, sizeof history->is);
		history->timestamp = 0;
		history->threshold = packet->count;
	} else if (packet->kind == HF_ETE_TIMESTAMP) {
		const uint64_t mask = packet->value_bits < 64 ? (UINT64_C(1) << packet->value_bits) - 1 : UINT64_MAX;

		history->timestamp = (history->timestamp & ~mask) | packet->value;
	}
	apply_address(history, &packet->address);
	if (packet->flags & HF_ETE_HAS_CONTEXT && packet->kind != HF_ETE_TRACE_INFO)
		apply_context(history, &packet->context);
	ret->address = history->address[0];
	ret->is = history->is[0];
	ret->timestamp = history->timestamp;
	ret->context = history->context;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/ete/packet.h"

#include "codecs/base/bytes.h"

const char *const hf_ete_kind_names[HF_ETE_KINDS] = {
	"?",
#define HF_ETE_PACKET(kind, text) text,
#include "codecs/ete/packets.def"
#undef HF_ETE_PACKET
};

enum { EXTENSION = HF_ETE_KINDS }; /* 00: a second byte says which */

/* Of every header; 0 is reserved. 07 is ETMv4's alone. */
static const uint8_t kinds[256] = {
	[0x00] = EXTENSION,
	[0x01] = HF_ETE_TRACE_INFO,
	[0x02 ... 0x03] = HF_ETE_TIMESTAMP,
	[0x04] = HF_ETE_TRACE_ON,
	[0x06] = HF_ETE_EXCEPTION,
	[0x07] = HF_ETE_EXCEPTION_RETURN,
	[0x09] = HF_ETE_INSTRUMENTATION,
	[0x0a] = HF_ETE_TRANSACTION_START,
	[0x0b] = HF_ETE_TRANSACTION_COMMIT,
	[0x0c ... 0x0d] = HF_ETE_CYCLE_COUNT_F2,
	[0x0e ... 0x0f] = HF_ETE_CYCLE_COUNT_F1,
	[0x10 ... 0x1f] = HF_ETE_CYCLE_COUNT_F3,
	[0x2d] = HF_ETE_COMMIT,
	[0x2e ... 0x2f] = HF_ETE_CANCEL_F1,
	[0x30 ... 0x33] = HF_ETE_MISPREDICT,
	[0x34 ... 0x37] = HF_ETE_CANCEL_F2,
	[0x38 ... 0x3f] = HF_ETE_CANCEL_F3,
	[0x70] = HF_ETE_IGNORE,
	[0x71 ... 0x7f] = HF_ETE_EVENT,
	[0x80 ... 0x81] = HF_ETE_CONTEXT,
	[0x82 ... 0x83] = HF_ETE_TARGET_CONTEXT,
	[0x85 ... 0x86] = HF_ETE_TARGET_CONTEXT,
	[0x88] = HF_ETE_TIMESTAMP_MARKER,
	[0x90 ... 0x92] = HF_ETE_TARGET,
	[0x95 ... 0x96] = HF_ETE_TARGET,
	[0x9a ... 0x9b] = HF_ETE_TARGET,
	[0x9d ... 0x9e] = HF_ETE_TARGET,
	[0xa0 ... 0xa2] = HF_ETE_Q,
	[0xa5 ... 0xa6] = HF_ETE_Q,
	[0xaa ... 0xac] = HF_ETE_Q,
	[0xaf] = HF_ETE_Q,
	[0xb0 ... 0xb2] = HF_ETE_SOURCE,
	[0xb4 ... 0xb9] = HF_ETE_SOURCE,
	[0xc0 ... 0xff] = HF_ETE_ATOM,
};

/* What the header of a packet with an address says of it. */
#define MATCH(n) {.form = HF_ETE_ADDRESS_MATCH, .match = (n)}
#define FORM(f, i) {.form = HF_ETE_ADDRESS_##f, .is = (i)}
static const struct hf_ete_address addresses[256] = {
	[0x82] = FORM(32, 0), [0x83] = FORM(32, 1), [0x85] = FORM(64, 0), [0x86] = FORM(64, 1),
	[0x90] = MATCH(0), [0x91] = MATCH(1), [0x92] = MATCH(2),
	[0x95] = FORM(SHORT, 0), [0x96] = FORM(SHORT, 1), [0x9a] = FORM(32, 0), [0x9b] = FORM(32, 1),
	[0x9d] = FORM(64, 0), [0x9e] = FORM(64, 1),
	[0xa0] = MATCH(0), [0xa1] = MATCH(1), [0xa2] = MATCH(2),
	[0xa5] = FORM(SHORT, 0), [0xa6] = FORM(SHORT, 1), [0xaa] = FORM(32, 0), [0xab] = FORM(32, 1),
	[0xb0] = MATCH(0), [0xb1] = MATCH(1), [0xb2] = MATCH(2),
	[0xb4] = FORM(SHORT, 0), [0xb5] = FORM(SHORT, 1), [0xb6] = FORM(32, 0), [0xb7] = FORM(32, 1),
	[0xb8] = FORM(64, 0), [0xb9] = FORM(64, 1),
};
#undef MATCH
#undef FORM

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

	return type < sizeof names / sizeof names[0] ? names[type] : NULL;
}

/* ---- reading ---- */

/* Errors stay: a cut packet or a bad field is looked for once, at its end. */
struct cursor {
	const uint8_t *p, *end;
	bool cut, bad;
};

static uint8_t get_byte(struct cursor *c)
{
	if (c->p == c->end) {
		c->cut = true;
		return 0;
	}
	return *c->p++;
}

/*
 * 7 bits a byte, the low ones first; the last byte that a field of so many bits can have has no continuation flag.
 * *ret_bits is how many bits there were: bits for all of it.
 */
static uint64_t get_leb(struct cursor *c, unsigned bits, unsigned *ret_bits)
{
	uint64_t v = 0;
	unsigned at = 0;
	uint8_t byte;

	do {
		byte = get_byte(c);
		v |= (uint64_t)(byte & 0x7f) << at;
		at += 7;
	} while (byte & 0x80 && at + 8 < bits);
	if (byte & 0x80) {
		byte = get_byte(c);
		if (bits - at < 8)
			c->bad |= byte >> (bits - at) != 0;
		v |= (uint64_t)byte << at;
		at = bits;
	}
	*ret_bits = at;
	return v;
}

static uint32_t get_number(struct cursor *c, unsigned bits)
{
	unsigned used;

	return (uint32_t)get_leb(c, bits, &used);
}

static uint64_t get_bytes(struct cursor *c, unsigned n)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < n; i++)
		v |= (uint64_t)get_byte(c) << (8 * i);
	return v;
}

/* Sheet 3.5: the first byte holds 7 bits from A[2] or A[1] on; in the longer forms the second is filled up. */
static void get_address(struct cursor *c, uint8_t header, struct hf_ete_address *a)
{
	*a = addresses[header];
	if (a->form == HF_ETE_ADDRESS_SHORT) {
		const uint8_t low = get_byte(c);

		a->bits = (uint8_t)(9 - a->is);
		a->value = (uint64_t)(low & 0x7f) << (2 - a->is);
		if (low & 0x80) {
			a->value |= (uint64_t)get_byte(c) << a->bits;
			a->bits += 8;
		}
	} else if (a->form == HF_ETE_ADDRESS_32 || a->form == HF_ETE_ADDRESS_64) {
		const uint8_t low = get_byte(c), next = get_byte(c);

		c->bad |= (low & 0x80) || (!a->is && next & 0x80);
		a->bits = a->form == HF_ETE_ADDRESS_32 ? 32 : 64;
		a->value = (uint64_t)low << (2 - a->is) | (uint64_t)next << (9 - a->is);
		a->value |= get_bytes(c, a->bits / 8 - 2u) << 16;
	}
}

static void get_context(struct cursor *c, const struct hf_ete_config *config, struct hf_ete_packet *ret)
{
	ret->flags |= HF_ETE_HAS_CONTEXT;
	ret->context.byte = get_byte(c);
	c->bad |= (ret->context.byte & 4) != 0;
	if (ret->context.byte & HF_ETE_CONTEXT_VMID)
		ret->context.vmid = (uint32_t)get_bytes(c, config->vmid_bytes);
	if (ret->context.byte & HF_ETE_CONTEXT_CID)
		ret->context.cid = (uint32_t)get_bytes(c, config->cid_bytes);
}

static void get_exception(struct cursor *c, const struct hf_ete_config *config, struct hf_ete_packet *ret)
{
	const uint8_t info = get_byte(c);
	uint8_t header;

	ret->info = info >> 1 & 31;
	if (info & 0x80) /* ETMv4: five more bits of the type, which are the M profile's */
		c->bad |= !config->etm || get_byte(c) != 0;
	ret->flags |= info & 0x40 ? HF_ETE_HAS_TARGET : 0;
	c->bad |= (info >> 6 & 1) == (info & 1) || !hf_ete_exception_name(ret->info);
	header = get_byte(c);
	if (c->cut)
		return;
	if (kinds[header] == HF_ETE_IGNORE) {
		ret->address.form = HF_ETE_ADDRESS_UNKNOWN;
		c->bad |= ret->info != HF_ETE_EXC_RESET && ret->info != HF_ETE_EXC_TRANSACTION_FAILURE;
	} else if (kinds[header] == HF_ETE_TARGET || kinds[header] == HF_ETE_TARGET_CONTEXT) {
		get_address(c, header, &ret->address);
		if (kinds[header] == HF_ETE_TARGET_CONTEXT)
			get_context(c, config, ret);
	} else {
		c->bad = true;
	}
}

static void get_cycle_count(struct cursor *c, const struct hf_ete_config *config, struct hf_ete_packet *ret)
{
	const uint8_t h = ret->header;
	const uint8_t commits = config->commopt ? 0 : HF_ETE_HAS_COMMIT;
	uint8_t byte;

	ret->flags |= commits | HF_ETE_HAS_COUNT;
	if (ret->kind == HF_ETE_CYCLE_COUNT_F1) {
		if (commits)
			ret->commit = get_number(c, 32);
		if (h & 1)
			ret->flags &= (uint8_t)~HF_ETE_HAS_COUNT;
		else
			ret->count = get_number(c, 20);
	} else if (ret->kind == HF_ETE_CYCLE_COUNT_F2) {
		byte = get_byte(c);
		ret->count = byte & 15;
		if (!(h & 1))
			ret->commit = (byte >> 4) + 1u;
		else if (commits)
			ret->commit = config->max_spec + (byte >> 4) - 15;
		c->bad |= !commits && !(h & 1);
		c->bad |= commits && h & 1 && config->max_spec + UINT64_C(0) + (byte >> 4) < 15;
	} else {
		ret->count = h & 3;
		ret->commit = commits ? (h >> 2 & 3) + 1u : 0;
		c->bad |= !commits && h > 0x13;
	}
}

static void get_trace_info(struct cursor *c, const struct hf_ete_config *config, struct hf_ete_packet *ret)
{
	const uint8_t plctl = get_byte(c);

	ret->flags = (uint8_t)((plctl & 1 ? HF_ETE_HAS_INFO : 0) | (plctl & 4 ? HF_ETE_HAS_SPEC : 0) |
			       (plctl & 8 ? HF_ETE_HAS_CYCT : 0));
	c->bad |= (plctl & 0xf0) != 0 || (plctl & 2 && !config->etm);
	ret->info = plctl & 1 ? get_byte(c) : 0;
	if (plctl & 2)
		get_number(c, 32); /* KEY: of data transfers, which no A profile has */
	ret->commit = plctl & 4 ? get_number(c, 32) : 0;
	ret->count = plctl & 8 ? get_number(c, 12) : 0;
}

static void get_q(struct cursor *c, struct hf_ete_packet *ret)
{
	get_address(c, ret->header, &ret->address);
	if (ret->header != 0xaf) {
		ret->count = get_number(c, 32);
		ret->flags |= HF_ETE_HAS_COUNT;
	}
}

/* The atoms of a MISPREDICT or CANCEL_F2 header. */
static void get_few_atoms(struct hf_ete_packet *ret)
{
	static const uint8_t counts[4] = {0, 1, 2, 1}, atoms[4] = {0, 1, 3, 0};

	ret->atom_count = counts[ret->header & 3];
	ret->atoms = atoms[ret->header & 3];
}

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

static void get_timestamp(struct cursor *c, struct hf_ete_packet *ret)
{
	unsigned bits;

	ret->value = get_leb(c, 64, &bits);
	ret->value_bits = (uint8_t)bits;
	if (ret->header & 1) {
		ret->count = get_number(c, 20);
		ret->flags |= HF_ETE_HAS_COUNT;
	}
}

/* Everything but atoms, of which there are so many. */
static void get_payload(struct cursor *c, const struct hf_ete_config *config, struct hf_ete_packet *ret)
{
	switch (ret->kind) {
	case HF_ETE_TRACE_INFO: get_trace_info(c, config, ret); break;
	case HF_ETE_TIMESTAMP: get_timestamp(c, ret); break;
	case HF_ETE_EXCEPTION: get_exception(c, config, ret); break;
	case HF_ETE_EXCEPTION_RETURN: c->bad |= !config->etm; break;
	case HF_ETE_INSTRUMENTATION:
		ret->info = get_byte(c);
		c->bad |= ret->info > 3;
		ret->value = get_bytes(c, 8);
		break;
	case HF_ETE_CYCLE_COUNT_F1:
	case HF_ETE_CYCLE_COUNT_F2:
	case HF_ETE_CYCLE_COUNT_F3: get_cycle_count(c, config, ret); break;
	case HF_ETE_COMMIT: ret->commit = get_number(c, 32); break;
	case HF_ETE_CANCEL_F1:
		ret->cancel = get_number(c, 32);
		ret->flags = ret->header & 1 ? HF_ETE_HAS_MISPREDICT : 0;
		break;
	case HF_ETE_CANCEL_F2:
		ret->cancel = 1;
		ret->flags = HF_ETE_HAS_MISPREDICT;
		get_few_atoms(ret);
		break;
	case HF_ETE_CANCEL_F3:
		ret->cancel = (ret->header >> 1 & 3) + 2u;
		ret->flags = HF_ETE_HAS_MISPREDICT;
		ret->atom_count = ret->header & 1;
		ret->atoms = ret->header & 1;
		break;
	case HF_ETE_MISPREDICT: get_few_atoms(ret); break;
	case HF_ETE_EVENT: ret->info = ret->header & 15; break;
	case HF_ETE_CONTEXT:
		if (ret->header & 1)
			get_context(c, config, ret);
		break;
	case HF_ETE_TARGET:
	case HF_ETE_SOURCE: get_address(c, ret->header, &ret->address); break;
	case HF_ETE_TARGET_CONTEXT:
		get_address(c, ret->header, &ret->address);
		get_context(c, config, ret);
		break;
	case HF_ETE_Q: get_q(c, ret); break;
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
	ret->kind = p[1] == 3 ? HF_ETE_DISCARD : p[1] == 5 ? HF_ETE_OVERFLOW : HF_ETE_ASYNC;
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
	struct cursor c = {.p = p + 1, .end = p + n};

	if (n == 0)
		return 0;
	*ret = (struct hf_ete_packet){.size = 1, .kind = kinds[p[0]], .header = p[0]};
	if (ret->kind == HF_ETE_ATOM) {
		get_atoms(ret);
		return 1;
	}
	if (ret->kind == EXTENSION)
		return get_extension(p, n, ret);
	if (ret->kind == HF_ETE_NONE || (ret->kind == HF_ETE_EXCEPTION_RETURN && !config->etm))
		return HF_ERR_ETE_HEADER;
	get_payload(&c, config, ret);
	ret->size = (uint32_t)(c.p - p);
	if (c.cut)
		return 0;
	return c.bad ? HF_ERR_ETE_FIELD : (int)ret->size;
}

/* ---- writing ---- */

static uint8_t *put_leb(uint8_t *p, uint64_t v, unsigned bits)
{
	for (unsigned at = 0; v >= 0x80 && (at == 0 || at + 8 < bits); at += 7, v >>= 7)
		*p++ = (uint8_t)(v | 0x80);
	*p++ = (uint8_t)v;
	return p;
}

static uint8_t *put_bytes(uint8_t *p, uint64_t v, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		*p++ = (uint8_t)(v >> (8 * i));
	return p;
}

/* The header that says that of an address; base is the one of a match with the newest. */
static uint8_t address_header(const struct hf_ete_address *a, unsigned kind)
{
	static const uint8_t first[HF_ETE_ADDRESS_64 + 1][4] = {
		[HF_ETE_ADDRESS_MATCH] = {0x90, 0x00, 0xa0, 0xb0},
		[HF_ETE_ADDRESS_SHORT] = {0x95, 0x00, 0xa5, 0xb4},
		[HF_ETE_ADDRESS_32] = {0x9a, 0x82, 0xaa, 0xb6},
		[HF_ETE_ADDRESS_64] = {0x9d, 0x85, 0x00, 0xb8},
	};
	const unsigned column = kind == HF_ETE_TARGET	      ? 0 :
				kind == HF_ETE_TARGET_CONTEXT ? 1 :
				kind == HF_ETE_Q	      ? 2 :
								3;

	return (uint8_t)(first[a->form][column] + (a->form == HF_ETE_ADDRESS_MATCH ? a->match : a->is));
}

static uint8_t *put_address(uint8_t *p, const struct hf_ete_address *a)
{
	const unsigned low = 2u - a->is; /* the lowest bit that is sent */

	if (a->form == HF_ETE_ADDRESS_SHORT) {
		*p++ = (uint8_t)((a->value >> low & 0x7f) | (a->bits > 9 ? 0x80 : 0));
		if (a->bits > 9)
			*p++ = (uint8_t)(a->value >> (low + 7));
	} else if (a->form == HF_ETE_ADDRESS_32 || a->form == HF_ETE_ADDRESS_64) {
		*p++ = a->value >> low & 0x7f;
		*p++ = (uint8_t)((a->value & 0xffff) >> (low + 7));
		p = put_bytes(p, a->value >> 16, a->form == HF_ETE_ADDRESS_32 ? 2 : 6);
	}
	return p;
}

static uint8_t *put_context(uint8_t *p, const struct hf_ete_config *config, const struct hf_ete_context *context)
{
	*p++ = context->byte;
	if (context->byte & HF_ETE_CONTEXT_VMID)
		p = put_bytes(p, context->vmid, config->vmid_bytes);
	if (context->byte & HF_ETE_CONTEXT_CID)
		p = put_bytes(p, context->cid, config->cid_bytes);
	return p;
}

static uint8_t *put_target(uint8_t *p, const struct hf_ete_config *config, const struct hf_ete_packet *packet,
			   unsigned kind)
{
	*p++ = address_header(&packet->address, kind);
	p = put_address(p, &packet->address);
	return kind == HF_ETE_TARGET_CONTEXT ? put_context(p, config, &packet->context) : p;
}

static uint8_t *put_exception(uint8_t *p, const struct hf_ete_config *config, const struct hf_ete_packet *packet)
{
	*p++ = 0x06;
	*p++ = (uint8_t)(packet->info << 1 | (packet->flags & HF_ETE_HAS_TARGET ? 0x40 : 1));
	if (packet->address.form == HF_ETE_ADDRESS_UNKNOWN) {
		*p++ = 0x70;
		return p;
	}
	return put_target(p, config, packet,
			  packet->flags & HF_ETE_HAS_CONTEXT ? HF_ETE_TARGET_CONTEXT : HF_ETE_TARGET);
}

static uint8_t *put_cycle_count(uint8_t *p, const struct hf_ete_config *config, const struct hf_ete_packet *packet)
{
	const bool known = packet->flags & HF_ETE_HAS_COUNT;

	if (packet->kind == HF_ETE_CYCLE_COUNT_F3) {
		*p++ = (uint8_t)(0x10 | (config->commopt ? 0 : (packet->commit - 1) << 2) | packet->count);
	} else if (packet->kind == HF_ETE_CYCLE_COUNT_F2) {
		const bool small = !config->commopt && packet->commit >= 1 && packet->commit <= 16;
		const uint32_t a = config->commopt ? 15 : small ? packet->commit - 1 :
								   packet->commit + 15 - config->max_spec;

		*p++ = small ? 0x0c : 0x0d;
		*p++ = (uint8_t)(a << 4 | packet->count);
	} else {
		*p++ = known ? 0x0e : 0x0f;
		if (!config->commopt)
			p = put_leb(p, packet->commit, 32);
		if (known)
			p = put_leb(p, packet->count, 20);
	}
	return p;
}

static uint8_t *put_trace_info(uint8_t *p, const struct hf_ete_packet *packet)
{
	*p++ = 0x01;
	*p++ = (uint8_t)((packet->flags & HF_ETE_HAS_INFO ? 1 : 0) | (packet->flags & HF_ETE_HAS_SPEC ? 4 : 0) |
			 (packet->flags & HF_ETE_HAS_CYCT ? 8 : 0));
	if (packet->flags & HF_ETE_HAS_INFO)
		*p++ = packet->info;
	if (packet->flags & HF_ETE_HAS_SPEC)
		p = put_leb(p, packet->commit, 32);
	if (packet->flags & HF_ETE_HAS_CYCT)
		p = put_leb(p, packet->count, 12);
	return p;
}

static uint8_t *put_timestamp(uint8_t *p, const struct hf_ete_packet *packet)
{
	const unsigned n = packet->value_bits / 7; /* 9 of 64 bits */

	*p++ = packet->flags & HF_ETE_HAS_COUNT ? 0x03 : 0x02;
	for (unsigned i = 0; i < n; i++)
		*p++ = (uint8_t)((packet->value >> (7 * i) & (i == 8 ? 0xff : 0x7f)) | (i + 1 < n ? 0x80 : 0));
	return packet->flags & HF_ETE_HAS_COUNT ? put_leb(p, packet->count, 20) : p;
}

static uint8_t *put_q(uint8_t *p, const struct hf_ete_packet *packet)
{
	if (packet->address.form == HF_ETE_ADDRESS_NONE) {
		*p++ = packet->flags & HF_ETE_HAS_COUNT ? 0xac : 0xaf;
	} else {
		*p++ = address_header(&packet->address, HF_ETE_Q);
		p = put_address(p, &packet->address);
	}
	return packet->flags & HF_ETE_HAS_COUNT ? put_leb(p, packet->count, 32) : p;
}

/* Of a MISPREDICT or CANCEL_F2: none, E, EE, N. */
static uint8_t few_atoms(const struct hf_ete_packet *packet)
{
	return packet->atom_count == 2 ? 2 : packet->atom_count == 0 ? 0 : packet->atoms ? 1 : 3;
}

static uint8_t *put_async(uint8_t *p)
{
	memset(p, 0, HF_ETE_ASYNC_ZEROS);
	p[HF_ETE_ASYNC_ZEROS] = 0x80;
	return p + HF_ETE_ASYNC_ZEROS + 1;
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

uint8_t *hf_ete_packet_put(const struct hf_ete_config *config, uint8_t *p, const struct hf_ete_packet *packet)
{
	switch (packet->kind) {
	case HF_ETE_ASYNC: return put_async(p);
	case HF_ETE_DISCARD: return put_bytes(p, 0x0300, 2);
	case HF_ETE_OVERFLOW: return put_bytes(p, 0x0500, 2);
	case HF_ETE_TRACE_INFO: return put_trace_info(p, packet);
	case HF_ETE_TIMESTAMP: return put_timestamp(p, packet);
	case HF_ETE_TRACE_ON: return put_bytes(p, 0x04, 1);
	case HF_ETE_EXCEPTION: return put_exception(p, config, packet);
	case HF_ETE_EXCEPTION_RETURN: return put_bytes(p, 0x07, 1);
	case HF_ETE_INSTRUMENTATION:
		p = put_bytes(p, 0x09 | (unsigned)packet->info << 8, 2);
		return put_bytes(p, packet->value, 8);
	case HF_ETE_TRANSACTION_START: return put_bytes(p, 0x0a, 1);
	case HF_ETE_TRANSACTION_COMMIT: return put_bytes(p, 0x0b, 1);
	case HF_ETE_CYCLE_COUNT_F1:
	case HF_ETE_CYCLE_COUNT_F2:
	case HF_ETE_CYCLE_COUNT_F3: return put_cycle_count(p, config, packet);
	case HF_ETE_COMMIT: return put_leb(put_bytes(p, 0x2d, 1), packet->commit, 32);
	case HF_ETE_CANCEL_F1:
		*p++ = packet->flags & HF_ETE_HAS_MISPREDICT ? 0x2f : 0x2e;
		return put_leb(p, packet->cancel, 32);
	case HF_ETE_CANCEL_F2: return put_bytes(p, 0x34u | few_atoms(packet), 1);
	case HF_ETE_CANCEL_F3: return put_bytes(p, 0x38u | (packet->cancel - 2) << 1 | packet->atom_count, 1);
	case HF_ETE_MISPREDICT: return put_bytes(p, 0x30u | few_atoms(packet), 1);
	case HF_ETE_IGNORE: return put_bytes(p, 0x70, 1);
	case HF_ETE_EVENT: return put_bytes(p, 0x70u | packet->info, 1);
	case HF_ETE_CONTEXT:
		*p++ = packet->flags & HF_ETE_HAS_CONTEXT ? 0x81 : 0x80;
		return packet->flags & HF_ETE_HAS_CONTEXT ? put_context(p, config, &packet->context) : p;
	case HF_ETE_TIMESTAMP_MARKER: return put_bytes(p, 0x88, 1);
	case HF_ETE_Q: return put_q(p, packet);
	case HF_ETE_ATOM: return put_bytes(p, hf_ete_atom_header(packet->atoms, packet->atom_count), 1);
	default: return put_target(p, config, packet, packet->kind);
	}
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

#include "codecs/etrace/data.h"

#include "codecs/base/bytes.h"

/* Longest data packet: an atomic of 64 bits with two data and an address. */
#define BUFFER 64

enum { LOAD = 0, STORE = 2, SPLIT_LOAD = 4, CSR = 5, ATOMIC = 6, SPLIT_ATOMIC = 7, UNALIGNED_BIT = 1 };

/* Values of a diff field of two bits. */
enum { DIFF_FULL = 0, DIFF_XOR = 1, DIFF_ADDRESS = 2, DIFF_BOTH = 3 };

struct cursor {
	const struct hf_etrace_params *params;
	uint32_t modes;
	struct hf_etrace_data_state *state;
	struct hf_etrace_access *access;
	unsigned pos;
	uint8_t bytes[BUFFER];
};

static uint64_t take(struct cursor *c, unsigned width)
{
	const uint8_t *p = c->bytes + c->pos / 8;
	const unsigned shift = c->pos % 8;
	uint64_t v = hf_get64(p) >> shift;

	if (shift + width > 64)
		v |= (uint64_t)p[8] << (64 - shift);
	c->pos += width;
	return width >= 64 ? v : v & ((UINT64_C(1) << width) - 1);
}

static uint64_t take_signed(struct cursor *c, unsigned width)
{
	const uint64_t v = take(c, width);

	return width == 0 ? 0 : (uint64_t)((int64_t)(v << (64 - width)) >> (64 - width));
}

static uint64_t mask_of(unsigned size)
{
	return size >= 3 ? UINT64_MAX : (UINT64_C(1) << (8u << size)) - 1;
}

/* ---- fields ---- */

static unsigned size_width(const struct cursor *c)
{
	return c->params->data_width >= 128 ? 3 : 2;
}

static void take_size(struct cursor *c)
{
	c->access->size = (uint8_t)take(c, size_width(c));
}

static void take_diff(struct cursor *c, unsigned width)
{
	c->access->diff = (uint8_t)take(c, width);
}

/* A value against the last one of that size; the field is sign-extended. */
static uint64_t undo(const struct cursor *c, uint64_t field, uint64_t last)
{
	switch (c->access->diff) {
	case DIFF_XOR:
		return c->params->data_reference ? last + field : last ^ field;
	case DIFF_BOTH:
		return last + field;
	default:
		return field;
	}
}

static uint64_t take_value(struct cursor *c, unsigned width)
{
	struct hf_etrace_access *a = c->access;
	uint64_t *last = &c->state->data[a->size];

	*last = undo(c, take_signed(c, width), *last) & mask_of(a->size);
	return *last;
}

/* A length of so many bits, then that many bytes. */
static uint64_t take_sized(struct cursor *c, unsigned length_width)
{
	const unsigned length = (unsigned)take(c, length_width);

	return take_value(c, 8 * (length < 8 ? length + 1 : 8));
}

/* Aligned addresses, and their differences, are counted in units of the size. */
static void take_address(struct cursor *c)
{
	const struct hf_etrace_params *p = c->params;
	struct hf_etrace_access *a = c->access;
	const unsigned width = p->version == HF_ETRACE_1_1_1 ? p->iaddress_width : p->daddress_width;
	const unsigned shift = a->flags & HF_ETRACE_UNALIGNED ? 0 : a->size;
	uint64_t *last = &c->state->address[a->size], v = take_signed(c, width);

	if (a->diff != DIFF_FULL)
		v += *last >> shift;
	*last = v << shift;
	if (width < 64)
		*last &= (UINT64_C(1) << width) - 1;
	a->address = *last;
	a->flags |= HF_ETRACE_HAS_ADDRESS;
}

static bool has_address(const struct cursor *c)
{
	return !(c->modes & HF_ETRACE_NO_ADDRESS);
}

static bool has_data(const struct cursor *c)
{
	return !(c->modes & HF_ETRACE_NO_DATA);
}

/* ---- packets ---- */

static void take_data(struct cursor *c, uint64_t data)
{
	c->access->data = data;
	c->access->flags |= HF_ETRACE_HAS_DATA;
}

static void take_operand(struct cursor *c, uint64_t operand)
{
	c->access->operand = operand;
	c->access->flags |= HF_ETRACE_HAS_OPERAND;
}

/* Where only data can be compressed, an implementation with one way of doing so may have one bit for it. */
static unsigned diff_width(const struct cursor *c)
{
	if (!has_data(c))
		return 1;
	return has_address(c) ? 2 : c->params->data_diff_width;
}

static void load_store(struct cursor *c)
{
	struct hf_etrace_access *a = c->access;

	take_size(c);
	if (a->kind == HF_ETRACE_LOAD && c->params->lrid_width) {
		a->flags |= HF_ETRACE_SPLIT;
		a->id = (uint16_t)take(c, c->params->lrid_width);
		take_diff(c, 1);
		take_address(c);
		return;
	}
	take_diff(c, diff_width(c));
	if (!has_address(c)) {
		take_data(c, take_value(c, c->params->data_width));
		return;
	}
	if (has_data(c))
		take_data(c, take_sized(c, a->size));
	take_address(c);
}

static void split_load(struct cursor *c)
{
	struct hf_etrace_access *a = c->access;

	take_size(c);
	a->id = (uint16_t)take(c, c->params->lrid_width);
	a->diff = (uint8_t)take(c, 2);
	if (a->diff == 0) {
		a->flags |= HF_ETRACE_FAILED_ACCESS;
		return;
	}
	/* The response numbers its three forms from 1: XOR, full, difference. */
	a->diff = a->diff == 2 ? DIFF_FULL : a->diff;
	take_data(c, take_value(c, c->params->data_width));
}

/* Lengths of an atomic's operand and data: the size field is one bit in 1.1.1, for 4 and 8 bytes. */
static void atomic(struct cursor *c)
{
	struct hf_etrace_access *a = c->access;
	const bool old = c->params->version == HF_ETRACE_1_1_1;

	a->subtype = (uint8_t)take(c, 3);
	a->size = (uint8_t)(old ? take(c, 1) + 2 : take(c, size_width(c)));
	if (c->params->lrid_width) {
		a->flags |= HF_ETRACE_SPLIT;
		a->id = (uint16_t)take(c, c->params->lrid_width);
	}
	take_diff(c, diff_width(c));
	if (has_data(c))
		take_operand(c, take_sized(c, a->size));
	if (has_data(c) && !c->params->lrid_width)
		take_data(c, has_address(c) ? take_sized(c, a->size) : take_value(c, c->params->data_width));
	if (has_address(c))
		take_address(c);
}

static void split_atomic(struct cursor *c)
{
	struct hf_etrace_access *a = c->access;

	a->id = (uint16_t)take(c, c->params->lrid_width);
	a->diff = (uint8_t)take(c, 2);
	if (a->diff == 0) {
		a->flags |= HF_ETRACE_FAILED_ACCESS;
		return;
	}
	a->diff = a->diff == 2 ? DIFF_FULL : a->diff;
	a->size = c->params->data_width > 32 ? 3 : 2;
	take_data(c, take_sized(c, a->size));
}

static void csr(struct cursor *c)
{
	struct hf_etrace_access *a = c->access;
	unsigned high;

	a->size = c->params->data_width > 32 ? 3 : 2;
	if (!has_data(c)) {
		/* Three bits of subtype before 2.1; but the reference encoder has two and a diff as 2.1 does. */
		const bool new = c->params->version == HF_ETRACE_2_1 || c->params->data_reference;

		a->subtype = (uint8_t)take(c, new ? 2 : 3);
		take_diff(c, new ? 1 : 0);
		high = (unsigned)take(c, 6);
	} else {
		a->subtype = (uint8_t)take(c, 2);
		take_diff(c, c->params->data_diff_width);
		take_data(c, take_sized(c, a->size));
		high = (unsigned)take(c, 6);
		if (high >> 4 != 3) /* else it is read-only */
			take_operand(c, take_sized(c, a->size));
	}
	a->address = (uint64_t)high << 6 | take(c, 6);
	a->flags |= HF_ETRACE_HAS_ADDRESS;
}

/* The formats of 2.1's mmacas extension: 0 load or store, 1 one of several accesses, 2 atomic or CSR, 3 split data. */
static bool take_mmacas(struct cursor *c)
{
	static const uint8_t formats[16] = {0, 0, 0, 0, CSR, CSR, CSR, ATOMIC, ATOMIC, ATOMIC, ATOMIC, ATOMIC, ATOMIC,
					    ATOMIC, ATOMIC, ATOMIC};
	const unsigned format = (unsigned)take(c, 2);

	if (format < 2)
		c->access->format = (uint8_t)take(c, 2);
	else if (format == 3)
		c->access->format = SPLIT_LOAD;
	else if (!(c->access->format = formats[take(c, 4)]))
		return false;
	/* The lower bits of that subformat are the subtype, which comes next in the other layout. */
	if (format == 2)
		c->pos -= c->access->format == ATOMIC ? 3 : 2;
	return true;
}

int hf_etrace_data_read(const struct hf_etrace_params *params, uint32_t modes, struct hf_etrace_data_state *state,
			const uint8_t *payload, size_t n, struct hf_etrace_access *ret_access)
{
	struct cursor c = {.params = params, .modes = modes, .state = state, .access = ret_access};

	*ret_access = (struct hf_etrace_access){.length = (uint8_t)n};
	if (n == 0 || n > HF_ETRACE_PAYLOAD_MAX)
		return HF_ERR_ETRACE_PACKET;
	memset(c.bytes, payload[n - 1] & 0x80 ? 0xff : 0, sizeof c.bytes);
	memcpy(c.bytes, payload, n);
	state->used = true;
	if (!(modes & HF_ETRACE_MMACAS))
		ret_access->format = (uint8_t)take(&c, params->data_format_width);
	else if (!take_mmacas(&c))
		return HF_ERR_ETRACE_PACKET;
	switch (ret_access->format) {
	case SPLIT_LOAD:
		ret_access->kind = HF_ETRACE_RESPONSE;
		split_load(&c);
		break;
	case CSR:
		ret_access->kind = HF_ETRACE_CSR;
		csr(&c);
		break;
	case ATOMIC:
		ret_access->kind = HF_ETRACE_ATOMIC;
		atomic(&c);
		break;
	case SPLIT_ATOMIC:
		ret_access->kind = HF_ETRACE_RESPONSE;
		split_atomic(&c);
		break;
	default:
		ret_access->kind = ret_access->format & STORE ? HF_ETRACE_STORE : HF_ETRACE_LOAD;
		ret_access->flags = ret_access->format & UNALIGNED_BIT ? HF_ETRACE_UNALIGNED : 0;
		load_store(&c);
	}
	return 0;
}

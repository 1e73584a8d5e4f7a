/* SPDX-License-Identifier: Apache-2.0 */
/* Each layout of chapter 7 once, for both directions: a field is taken out of the payload, or put into it. */
#include "codecs/etrace/data.h"

#include "codecs/etrace/bits.h"
#include "codecs/etrace/errors.h"

enum { LOAD = 0, STORE = 2, SPLIT_LOAD = 4, CSR = 5, ATOMIC = 6, SPLIT_ATOMIC = 7, UNALIGNED_BIT = 1 };

/* Values of a diff field of two bits. */
enum { DIFF_FULL = 0, DIFF_XOR = 1, DIFF_ADDRESS = 2, DIFF_BOTH = 3 };

/* Values of resp. */
enum { RESP_ERROR = 0, RESP_FULL = 2 };

struct cursor {
	struct hf_etrace_bits b;
	const struct hf_etrace_params *params;
	uint32_t modes;
	struct hf_etrace_data_state *state;
	struct hf_etrace_access *access;
};

/* Takes a field, or puts the low bits of v there; its value either way. */
static uint64_t field(struct cursor *c, unsigned width, uint64_t v)
{
	return hf_etrace_field(&c->b, c->b.writing ? hf_etrace_low(v, width) : 0, width);
}

/* ---- fields ---- */

/* 1.1.1, 7.1.2, counts bits by the largest size; 2.0 has a formula with the same result from 32 bits on. */
static unsigned size_width(const struct cursor *c)
{
	return c->params->version != HF_ETRACE_1_1_1 && c->params->data_width < 32 ? 1 : 2;
}

static void put_size(struct cursor *c)
{
	c->access->size = (uint8_t)field(c, size_width(c), c->access->size);
}

static void put_diff(struct cursor *c, unsigned width)
{
	c->access->diff = (uint8_t)field(c, width, c->access->diff);
}

static void put_id(struct cursor *c)
{
	c->access->id = (uint16_t)field(c, c->params->lrid_width, c->access->id);
}

static void put_subtype(struct cursor *c, unsigned width)
{
	if (!(c->modes & HF_ETRACE_MMACAS)) /* there it is in the format */
		c->access->subtype = (uint8_t)field(c, width, c->access->subtype);
}

/* The reference encoder leaves out 4. */
static void put_atomic_subtype(struct cursor *c)
{
	struct hf_etrace_access *a = c->access;
	const bool reference = c->params->data_reference && !(c->modes & HF_ETRACE_MMACAS);

	if (c->b.writing && reference && a->subtype >= HF_ETRACE_XOR)
		a->subtype++;
	put_subtype(c, 3);
	if (reference && a->subtype > HF_ETRACE_XOR)
		a->subtype--;
}

/* A value against the last one of that size. */
static uint64_t difference(const struct cursor *c, uint64_t v, uint64_t last)
{
	switch (c->access->diff) {
	case DIFF_XOR:
		return c->params->data_reference ? v - last : v ^ last;
	case DIFF_BOTH:
		return v - last;
	default:
		return v;
	}
}

static uint64_t undo(const struct cursor *c, uint64_t v, uint64_t last)
{
	switch (c->access->diff) {
	case DIFF_XOR:
		return c->params->data_reference ? last + v : last ^ v;
	case DIFF_BOTH:
		return last + v;
	default:
		return v;
	}
}

static unsigned bits_of(unsigned size)
{
	return size >= 3 ? 64 : 8u << size;
}

static uint64_t put_value(struct cursor *c, unsigned width, uint64_t v)
{
	const unsigned bits = bits_of(c->access->size);
	uint64_t *last = &c->state->data[c->access->size];

	if (c->b.writing) /* the reference encoder does not wrap around at the size */
		field(c, width, hf_etrace_extend(difference(c, v, *last), c->params->data_reference ? 64 : bits));
	else
		v = undo(c, hf_etrace_extend(field(c, width, 0), width), *last);
	*last = hf_etrace_low(v, bits);
	c->state->data_known |= (uint8_t)(1u << c->access->size);
	return *last;
}

/* Whole bytes of which the sign-extension says v. */
static unsigned length_of(const struct cursor *c, uint64_t v)
{
	const unsigned bits = bits_of(c->access->size);
	const uint64_t difference_of = hf_etrace_extend(difference(c, v, c->state->data[c->access->size]), bits);
	unsigned n = 1;

	if (c->params->data_reference)
		return bits / 8;
	while (8 * n < bits && hf_etrace_extend(difference_of, 8 * n) != difference_of)
		n++;
	return n;
}

/* A length of so many bits, then that many bytes. */
static uint64_t put_sized(struct cursor *c, unsigned length_width, uint64_t v)
{
	const unsigned length = 1 + (unsigned)field(c, length_width, c->b.writing ? length_of(c, v) - 1 : 0);

	return put_value(c, 8 * (length < 8 ? length : 8), v);
}

static unsigned address_width(const struct hf_etrace_params *p)
{
	return p->version == HF_ETRACE_1_1_1 ? p->iaddress_width : p->daddress_width;
}

/* Aligned addresses, and their differences, are counted in units of the size. */
static void put_address(struct cursor *c)
{
	struct hf_etrace_access *a = c->access;
	const unsigned width = address_width(c->params), shift = a->flags & HF_ETRACE_UNALIGNED ? 0 : a->size;
	const bool full = a->diff == DIFF_FULL;
	uint64_t *last = &c->state->address[a->size], v;

	if (c->b.writing) {
		v = hf_etrace_extend(full ? a->address : a->address - *last, width);
		field(c, width, (uint64_t)((int64_t)v >> shift));
		*last = hf_etrace_low(a->address, width);
	} else {
		v = hf_etrace_extend(field(c, width, 0), width);
		*last = hf_etrace_low((full ? v : v + (*last >> shift)) << shift, width);
	}
	c->state->address_known |= (uint8_t)(1u << a->size);
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

static void set_data(struct cursor *c, uint64_t data)
{
	c->access->data = data;
	c->access->flags |= HF_ETRACE_HAS_DATA;
}

static void set_operand(struct cursor *c, uint64_t operand)
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

	put_size(c);
	if (a->kind == HF_ETRACE_LOAD && c->params->lrid_width) {
		a->flags |= HF_ETRACE_SPLIT;
		put_id(c);
		put_diff(c, 1);
		put_address(c);
		return;
	}
	put_diff(c, diff_width(c));
	if (!has_address(c)) {
		set_data(c, put_value(c, c->params->data_width, a->data));
		return;
	}
	if (has_data(c))
		set_data(c, put_sized(c, a->size, a->data));
	put_address(c);
}

/* resp, which numbers its three forms from 1: XOR, full, difference. False: the access failed, nothing follows. */
static bool response(struct cursor *c)
{
	struct hf_etrace_access *a = c->access;
	const bool failed = a->flags & HF_ETRACE_FAILED_ACCESS;
	const unsigned resp = (unsigned)field(c, 2, failed ? RESP_ERROR : a->diff == DIFF_FULL ? RESP_FULL : a->diff);

	a->diff = resp == RESP_FULL ? DIFF_FULL : (uint8_t)resp;
	if (resp == RESP_ERROR)
		a->flags |= HF_ETRACE_FAILED_ACCESS;
	return resp != RESP_ERROR;
}

static void split_load(struct cursor *c)
{
	put_size(c);
	put_id(c);
	if (response(c))
		set_data(c, put_value(c, c->params->data_width, c->access->data));
}

static void forget_atomic(struct hf_etrace_data_state *s, unsigned i)
{
	s->atomic_count--;
	memmove(s->atomic_id + i, s->atomic_id + i + 1, (s->atomic_count - i) * sizeof *s->atomic_id);
	memmove(s->atomic_size + i, s->atomic_size + i + 1, (s->atomic_count - i) * sizeof *s->atomic_size);
}

static void remember_atomic(struct hf_etrace_data_state *s, const struct hf_etrace_access *a)
{
	for (unsigned i = 0; i < s->atomic_count; i++)
		if (s->atomic_id[i] == a->id)
			forget_atomic(s, i--);
	if (s->atomic_count == HF_ETRACE_DATA_ATOMICS)
		forget_atomic(s, 0);
	s->atomic_id[s->atomic_count] = a->id;
	s->atomic_size[s->atomic_count++] = a->size;
}

static unsigned word_size(const struct cursor *c)
{
	return c->params->data_width > 32 ? 3 : 2;
}

/* The size field of an atomic is one bit in 1.1.1, for 4 and 8 bytes. */
static void atomic(struct cursor *c)
{
	struct hf_etrace_access *a = c->access;
	const bool split = c->params->lrid_width;

	put_atomic_subtype(c);
	if (c->params->version == HF_ETRACE_1_1_1)
		a->size = (uint8_t)(field(c, 1, a->size - 2u) + 2);
	else
		put_size(c);
	if (split) {
		a->flags |= HF_ETRACE_SPLIT;
		put_id(c);
		if (!c->b.writing)
			remember_atomic(c->state, a);
	}
	put_diff(c, diff_width(c));
	if (has_data(c))
		set_operand(c, put_sized(c, a->size, a->operand));
	if (has_data(c) && !split)
		set_data(c, has_address(c) ? put_sized(c, a->size, a->data) :
					     put_value(c, c->params->data_width, a->data));
	if (has_address(c))
		put_address(c);
}

/* Its size is that of the request. */
static void split_atomic(struct cursor *c)
{
	struct hf_etrace_access *a = c->access;
	struct hf_etrace_data_state *s = c->state;

	put_id(c);
	if (!c->b.writing) {
		a->size = (uint8_t)word_size(c);
		a->flags |= HF_ETRACE_UNSIZED;
	}
	for (unsigned i = 0; i < s->atomic_count && !c->b.writing; i++)
		if (s->atomic_id[i] == a->id) {
			a->size = s->atomic_size[i];
			a->flags &= (uint8_t)~HF_ETRACE_UNSIZED;
			forget_atomic(s, i);
			break;
		}
	if (response(c))
		set_data(c, put_sized(c, a->size, a->data));
}

/* Only CSRs that a program can write have an operand. */
static bool is_read_only(unsigned csr)
{
	return csr >> 10 == 3;
}

static void csr(struct cursor *c)
{
	struct hf_etrace_access *a = c->access;
	unsigned number = (unsigned)a->address;

	a->size = (uint8_t)word_size(c);
	if (!has_data(c)) {
		/* Three bits of subtype before 2.1; but the reference encoder has two and a diff as 2.1 does. */
		const bool new = c->params->version == HF_ETRACE_2_1 || c->params->data_reference;

		put_subtype(c, new ? 2 : 3);
		put_diff(c, new ? 1 : 0);
		number = (unsigned)field(c, 6, number >> 6) << 6;
	} else {
		put_subtype(c, 2);
		put_diff(c, c->params->data_diff_width);
		set_data(c, put_sized(c, a->size, a->data));
		number = (unsigned)field(c, 6, number >> 6) << 6;
		if (!is_read_only(number))
			set_operand(c, put_sized(c, a->size, a->operand));
	}
	a->address = number | field(c, 6, a->address);
	a->flags |= HF_ETRACE_HAS_ADDRESS;
}

/* ---- formats ---- */

/* Of 2.1's mmacas extension: 2 bits, 0 load or store, 1 one of several accesses, 2 atomic or CSR, 3 split data. */
enum { MMACAS_ONE = 0, MMACAS_MANY = 1, MMACAS_MODIFY = 2, MMACAS_SPLIT = 3 };
/* Behind MMACAS_MODIFY 4 bits: 01xx CSR, 0111 failed compare-and-swap, 1xxx atomic. */
enum { MODIFY_CSR = 4, MODIFY_FAILED_CAS = 7, MODIFY_ATOMIC = 8 };

static unsigned modify_of(const struct hf_etrace_access *a)
{
	if (a->format == CSR)
		return MODIFY_CSR | a->subtype;
	return a->subtype == HF_ETRACE_FAILED_CAS ? MODIFY_FAILED_CAS : MODIFY_ATOMIC | a->subtype;
}

static int set_modify(struct hf_etrace_access *a, unsigned v)
{
	if (v < MODIFY_CSR)
		return HF_ERR_ETRACE_PACKET;
	a->format = v < MODIFY_FAILED_CAS ? CSR : ATOMIC;
	a->subtype = (uint8_t)(v == MODIFY_FAILED_CAS ? HF_ETRACE_FAILED_CAS : v & (v < MODIFY_ATOMIC ? 3 : 7));
	return 0;
}

static int put_mmacas(struct cursor *c)
{
	struct hf_etrace_access *a = c->access;
	const unsigned mine = a->format < SPLIT_LOAD ? MMACAS_ONE : a->format == SPLIT_LOAD ? MMACAS_SPLIT : MMACAS_MODIFY;
	const unsigned format = (unsigned)field(c, 2, mine);

	if (format == MMACAS_MODIFY)
		return set_modify(a, (unsigned)field(c, 4, modify_of(a)));
	a->format = format == MMACAS_SPLIT ? SPLIT_LOAD : (uint8_t)field(c, 2, a->format);
	return 0;
}

static int put_format(struct cursor *c)
{
	static const uint8_t kinds[8] = {HF_ETRACE_LOAD, HF_ETRACE_LOAD, HF_ETRACE_STORE, HF_ETRACE_STORE,
					 HF_ETRACE_LOAD_DATA, HF_ETRACE_CSR, HF_ETRACE_ATOMIC, HF_ETRACE_ATOMIC_DATA};
	struct hf_etrace_access *a = c->access;
	int err = 0;

	if (c->modes & HF_ETRACE_MMACAS)
		err = put_mmacas(c);
	else
		a->format = (uint8_t)field(c, c->params->data_format_width, a->format);
	a->kind = kinds[a->format];
	if (a->format < SPLIT_LOAD && (a->format & UNALIGNED_BIT))
		a->flags |= HF_ETRACE_UNALIGNED;
	return err;
}

static int packet(struct cursor *c)
{
	int err = put_format(c);

	if (err)
		return err;
	c->state->used = true;
	switch (c->access->kind) {
	case HF_ETRACE_LOAD_DATA:
		split_load(c);
		break;
	case HF_ETRACE_CSR:
		csr(c);
		break;
	case HF_ETRACE_ATOMIC:
		atomic(c);
		break;
	case HF_ETRACE_ATOMIC_DATA:
		split_atomic(c);
		break;
	default:
		load_store(c);
	}
	return 0;
}

int hf_etrace_data_read(const struct hf_etrace_params *params, uint32_t modes, struct hf_etrace_data_state *state,
			const uint8_t *payload, size_t n, struct hf_etrace_access *ret_access)
{
	struct cursor c = {.params = params, .modes = modes, .state = state, .access = ret_access};
	int err;

	*ret_access = (struct hf_etrace_access){.length = (uint8_t)n};
	if (n == 0 || n > HF_ETRACE_PAYLOAD_MAX)
		return HF_ERR_ETRACE_PACKET;
	hf_etrace_bits_read(&c.b, payload, n);
	err = packet(&c);
	/* As of other packets: longer than its fields by more than the filling of a transport it is none. */
	return !err && 8 * n >= c.b.pos + 16 ? HF_ERR_ETRACE_PACKET : err;
}

/* ---- writing ---- */

static uint8_t format_of(const struct hf_etrace_access *a)
{
	static const uint8_t formats[] = {LOAD, STORE, ATOMIC, CSR, SPLIT_LOAD, SPLIT_ATOMIC};

	const bool unaligned = a->kind <= HF_ETRACE_STORE && (a->flags & HF_ETRACE_UNALIGNED);

	return (uint8_t)(formats[a->kind] + (unaligned ? UNALIGNED_BIT : 0));
}

static bool is_response(const struct hf_etrace_access *a)
{
	return a->kind == HF_ETRACE_LOAD_DATA || a->kind == HF_ETRACE_ATOMIC_DATA;
}

/* What the packet must say, of enum hf_etrace_access_flags. */
static unsigned needed(const struct cursor *c)
{
	const struct hf_etrace_access *a = c->access;
	const bool split = c->params->lrid_width && (a->kind == HF_ETRACE_LOAD || a->kind == HF_ETRACE_ATOMIC);
	unsigned flags = has_address(c) || split ? HF_ETRACE_HAS_ADDRESS : 0;

	if (is_response(a))
		return a->flags & HF_ETRACE_FAILED_ACCESS ? 0 : HF_ETRACE_HAS_DATA;
	if (has_data(c) && !split)
		flags |= HF_ETRACE_HAS_DATA;
	if (has_data(c) && (a->kind == HF_ETRACE_ATOMIC || (a->kind == HF_ETRACE_CSR && !is_read_only((unsigned)a->address))))
		flags |= HF_ETRACE_HAS_OPERAND;
	return flags;
}

/* Whether there is a packet for such an access. */
static bool fits(const struct cursor *c)
{
	const struct hf_etrace_params *p = c->params;
	const struct hf_etrace_access *a = c->access;
	const bool mmacas = c->modes & HF_ETRACE_MMACAS;

	if (8u << a->size > p->data_width || (needed(c) & ~a->flags) || (is_response(a) && !has_data(c)))
		return false;
	if (!has_address(c) && (!has_data(c) || (p->lrid_width && a->kind != HF_ETRACE_STORE && a->kind != HF_ETRACE_CSR)))
		return false;
	if (p->lrid_width ? mmacas : is_response(a))
		return false;
	if (a->format > (STORE | UNALIGNED_BIT) && p->data_format_width < 3 && !mmacas)
		return false;
	if (a->kind != HF_ETRACE_ATOMIC)
		return true;
	if (p->version == HF_ETRACE_1_1_1 && a->size < 2)
		return false;
	return a->subtype < HF_ETRACE_FAILED_SC || (p->version != HF_ETRACE_1_1_1 && !has_data(c) && !p->data_reference &&
						    (a->subtype == HF_ETRACE_FAILED_SC || mmacas));
}

/* Differences to an address on the other side of alignment would lose bits. */
static bool is_near(const struct cursor *c)
{
	const struct hf_etrace_access *a = c->access;
	const unsigned low = (1u << a->size) - 1;

	return c->state->address_known >> a->size & 1 &&
	       !(c->state->address[a->size] & low) == !(a->flags & HF_ETRACE_UNALIGNED);
}

/* The values of diff that this packet may have, as bits. */
static unsigned choices(const struct cursor *c, enum hf_etrace_data_compress compress)
{
	const struct hf_etrace_access *a = c->access;
	const bool address = has_address(c) && a->kind != HF_ETRACE_CSR && !is_response(a);
	const bool data = has_data(c) && !(a->kind == HF_ETRACE_LOAD && c->params->lrid_width);
	const bool near = is_near(c) && !(c->modes & HF_ETRACE_FULL_DADDRESS) && compress != HF_ETRACE_DATA_NONE;
	unsigned set = 1u << DIFF_FULL;

	if (!data && a->kind == HF_ETRACE_CSR)
		return set;
	if (address && !data)
		return near ? set | 1u << DIFF_XOR : set;
	if (address)
		set |= near ? 1u << DIFF_ADDRESS : 0;
	if ((address && !near) || !(c->state->data_known >> a->size & 1) || (c->modes & HF_ETRACE_FULL_DATA))
		return set;
	if (compress == HF_ETRACE_DATA_BEST || compress == HF_ETRACE_DATA_XOR)
		set |= 1u << DIFF_XOR;
	if (compress == HF_ETRACE_DATA_BEST || compress == HF_ETRACE_DATA_DIFFERENCE)
		set |= 1u << DIFF_BOTH;
	return address || is_response(a) ? set : set & ((1u << (1u << c->params->data_diff_width)) - 1);
}

/* The reference encoder knows full and differential, and calls the latter 1 whatever it is. */
static unsigned reference_choices(const struct cursor *c, unsigned set)
{
	const bool full = c->modes & (HF_ETRACE_FULL_DADDRESS | HF_ETRACE_FULL_DATA);
	const bool number_only = c->access->kind == HF_ETRACE_CSR && !has_data(c);

	return full || (!(set & 1u << DIFF_XOR) && !number_only) ? 1u << DIFF_FULL : 1u << DIFF_XOR;
}

size_t hf_etrace_data_write(const struct hf_etrace_params *params, uint32_t modes, enum hf_etrace_data_compress compress,
			    struct hf_etrace_data_state *state, const struct hf_etrace_access *access, uint8_t *payload)
{
	struct hf_etrace_access a = *access;
	struct hf_etrace_data_state best = *state;
	const struct cursor start = {.params = params, .modes = modes, .state = state, .access = &a, .b.writing = true};
	size_t shortest = 0;
	unsigned set;

	a.size = a.kind == HF_ETRACE_CSR ? (uint8_t)word_size(&start) : a.size;
	a.format = format_of(&a);
	if (!fits(&start))
		return 0;
	set = choices(&start, compress);
	if (params->data_reference)
		set = reference_choices(&start, set);
	for (unsigned diff = DIFF_FULL; diff <= DIFF_BOTH; diff++) {
		struct hf_etrace_access tried = a;
		struct hf_etrace_data_state s = *state;
		struct cursor c = start;
		size_t n;

		if (!(set >> diff & 1))
			continue;
		tried.diff = (uint8_t)diff;
		c.access = &tried;
		c.state = &s;
		packet(&c);
		n = hf_etrace_bits_compress(&c.b, hf_etrace_bits_end(&c.b));
		if (n > HF_ETRACE_PAYLOAD_MAX || (shortest && n >= shortest))
			continue;
		shortest = n;
		best = s;
		memcpy(payload, c.b.bytes, n);
	}
	*state = best;
	return shortest;
}

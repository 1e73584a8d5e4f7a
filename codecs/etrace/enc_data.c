/*
 * The data trace: a unified load or store packet (chapter 7) for each memory access whose instruction is traced. An
 * access that reads and writes goes as a load of what it read: events do not say the operand of an atomic.
 */
#include "codecs/base/bytes.h"
#include "codecs/etrace/encoder.h"

enum format {
	FORMAT_LOAD = 0,
	FORMAT_STORE = 2,
	FORMAT_UNALIGNED = 1, /* added to either */
};

enum diff {
	DIFF_FULL,         /* address and data */
	DIFF_XOR,          /* address differential, data XOR */
	DIFF_ADDRESS,      /* data full */
	DIFF_DIFFERENCE,   /* both */
};

/* A packet in the making; 3 bits of format, 2 of size, 2 of diff, 3 of length, 64 of data, 64 of address. */
struct bits {
	uint8_t bytes[40];
	unsigned pos;
};

static void put(struct bits *b, uint64_t v, unsigned width)
{
	uint8_t *p = b->bytes + b->pos / 8;
	const unsigned shift = b->pos % 8;

	v = width >= 64 ? v : v & ((UINT64_C(1) << width) - 1);
	hf_put64(p, hf_get64(p) | v << shift);
	if (shift + width > 64)
		p[8] = (uint8_t)(p[8] | v >> (64 - shift));
	b->pos += width;
}

static uint64_t sign_extend(uint64_t v, unsigned width)
{
	return width >= 64 ? v : (uint64_t)((int64_t)(v << (64 - width)) >> (64 - width));
}

/* Whole bytes that say v, of the size's. */
static unsigned length_of(uint64_t v, unsigned size)
{
	unsigned n = 1;

	while (n < 1u << size && sign_extend(v, 8 * n) != sign_extend(v, 8u << size))
		n++;
	return n;
}

struct access {
	uint8_t format, size;
	bool known;              /* what is kept of this size can be a base */
	bool far;                /* but not of the address: of one of the two the shift would lose bits */
	uint64_t address, data;
	uint64_t delta;          /* of the address, in units of the access if aligned */
};

/* The diff with the shortest data; with an address, that must be coded in the same way. */
static enum diff choose(const struct hf_etrace_enc *e, const struct access *a, uint64_t before, uint64_t *ret_data)
{
	const bool no_address = e->c.params.modes & HF_ETRACE_NO_ADDRESS;
	const unsigned full = length_of(a->data, a->size), difference = length_of(a->data - before, a->size),
		       exclusive = length_of(a->data ^ before, a->size);

	*ret_data = a->data;
	if (!a->known || (!no_address && ((e->c.params.modes & HF_ETRACE_FULL_DADDRESS) || a->far)))
		return DIFF_FULL;
	if ((e->c.params.modes & HF_ETRACE_FULL_DATA) || (full <= exclusive && full <= difference))
		return no_address ? DIFF_FULL : DIFF_ADDRESS;
	*ret_data = exclusive <= difference ? a->data ^ before : a->data - before;
	return exclusive <= difference ? DIFF_XOR : DIFF_DIFFERENCE;
}

static unsigned address_width(const struct hf_etrace_params *p)
{
	return p->version == HF_ETRACE_1_1_1 ? p->iaddress_width : p->daddress_width;
}

static void put_address(const struct hf_etrace_enc *e, struct bits *b, const struct access *a, bool full)
{
	const unsigned width = address_width(&e->c.params), shift = a->format & FORMAT_UNALIGNED ? 0 : a->size;

	put(b, full ? sign_extend(a->address, width) >> shift : a->delta, width);
}

static void put_packet(const struct hf_etrace_enc *e, struct bits *b, const struct access *a, uint64_t before)
{
	const struct hf_etrace_params *p = &e->c.params;
	uint64_t data;
	const enum diff diff = choose(e, a, before, &data);
	const unsigned length = length_of(data, a->size);

	put(b, a->format, p->data_format_width);
	put(b, a->size, 2);
	if (p->modes & HF_ETRACE_NO_DATA) {
		const bool full = !a->known || a->far || (p->modes & HF_ETRACE_FULL_DADDRESS);

		put(b, !full, 1);
		put_address(e, b, a, full);
		return;
	}
	put(b, diff, 2);
	if (p->modes & HF_ETRACE_NO_ADDRESS) {
		put(b, sign_extend(data, 8u << a->size), p->data_width);
		return;
	}
	put(b, length - 1, a->size);
	put(b, data, 8 * length);
	put_address(e, b, a, diff == DIFF_FULL);
}

/* With what repeats the top bit dropped, in the raw framing: 3 is a data trace packet. */
static void send(struct hf_sink *sink, struct bits *b)
{
	size_t n = (b->pos + 7) / 8;
	uint8_t *p;

	if (b->pos % 8 && b->bytes[n - 1] >> (b->pos - 1) % 8 & 1)
		b->bytes[n - 1] |= (uint8_t)(0xff << b->pos % 8);
	while (n > 1 && b->bytes[n - 1] == (b->bytes[n - 2] & 0x80 ? 0xff : 0))
		n--;
	p = hf_sink_room(sink, 1 + n);
	*p = (uint8_t)(n | 3u << 5);
	memcpy(p + 1, b->bytes, n);
	sink->p += 1 + n;
}

void hf_etrace_enc_access(struct hf_etrace_enc *e, struct hf_sink *sink, const struct hf_event *mem)
{
	struct hf_etrace_enc_state *s = &e->s;
	const uint64_t mask = hf_etrace_address_mask(&e->c.params);
	struct bits bits = {.pos = 0};
	struct access a = {.address = mem->mem.address & mask, .data = mem->small ? mem->mem.data : 0};
	uint64_t last;
	bool unaligned, was_unaligned;

	if (!(s->flags & HF_ETRACE_ENC_HELD) || mem->mem.size == 0 || mem->mem.size > e->c.params.data_width / 8u ||
	    (mem->mem.size & (mem->mem.size - 1)))
		return; /* vectors and blocks have no packet */
	a.size = (uint8_t)__builtin_ctz(mem->mem.size);
	a.data = sign_extend(a.data, 8u << a.size);
	last = s->data_address[a.size];
	unaligned = a.address & (mem->mem.size - 1);
	was_unaligned = last & (mem->mem.size - 1);
	a.format = (uint8_t)((mem->flags & HF_EVF_READ ? FORMAT_LOAD : FORMAT_STORE) | unaligned);
	a.known = s->data_known >> a.size & 1;
	a.far = unaligned != was_unaligned;
	a.delta = sign_extend(a.address - last, e->c.params.iaddress_width);
	if (!unaligned)
		a.delta = (uint64_t)((int64_t)a.delta >> a.size);
	put_packet(e, &bits, &a, s->data_value[a.size]);
	send(sink, &bits);
	s->data_known |= (uint8_t)(1u << a.size);
	s->data_address[a.size] = a.address;
	s->data_value[a.size] = a.data;
	if (++s->accesses >= HF_ETRACE_ENC_ACCESSES)
		s->flags |= HF_ETRACE_ENC_CROWDED;
}

bool hf_etrace_enc_fits_data(const struct hf_etrace_config *config)
{
	const struct hf_etrace_params *p = &config->params;

	return (p->data_width == 32 || p->data_width == 64) && p->data_format_width >= 2 && !p->data_reference &&
	       !(p->modes & HF_ETRACE_MMACAS) && address_width(p) >= p->iaddress_width;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bits of a packet or message, lowest first. A layout is one function over a cursor, which takes the fields out of
 * the bytes or puts them there, by its direction. Bits behind the last byte repeat its highest one.
 */
#ifndef HF_ETRACE_BITS_H
#define HF_ETRACE_BITS_H

#include "codecs/base/bytes.h"

#include <stdbool.h>
#include <string.h>

/* The longest packet (a trap with all widths at 64) or message, and what a field behind it touches. */
#define HF_ETRACE_BITS_BYTES 80

struct hf_etrace_bits {
	unsigned pos;  /* of the next field */
	unsigned size; /* reading: bits of the payload */
	bool writing;
	bool bad; /* writing: a value did not fit its field */
	uint8_t bytes[HF_ETRACE_BITS_BYTES];
};

static inline uint64_t hf_etrace_low(uint64_t v, unsigned width)
{
	return width >= 64 ? v : v & ((UINT64_C(1) << width) - 1);
}

static inline uint64_t hf_etrace_extend(uint64_t v, unsigned width)
{
	return width == 0 ? 0 : (uint64_t)((int64_t)(v << (64 - width)) >> (64 - width));
}

/* For n bytes of payload, 1 or more, to be read. */
static inline void hf_etrace_bits_read(struct hf_etrace_bits *b, const uint8_t *payload, size_t n)
{
	b->pos = 0;
	b->size = 8 * (unsigned)n;
	b->writing = b->bad = false;
	memset(b->bytes, payload[n - 1] & 0x80 ? 0xff : 0, sizeof b->bytes);
	memcpy(b->bytes, payload, n);
}

/* A field of up to 64 bits: its value as it was read, or v as it was written. */
static inline uint64_t hf_etrace_field(struct hf_etrace_bits *b, uint64_t v, unsigned width)
{
	uint8_t *p = b->bytes + b->pos / 8;
	const unsigned shift = b->pos % 8;
	uint64_t bits;

	b->pos += width;
	if (b->writing) {
		bits = hf_etrace_low(v, width);
		b->bad |= bits != v;
		hf_put64(p, hf_get64(p) | bits << shift);
		if (shift + width > 64 && shift)
			p[8] = (uint8_t)(bits >> (64 - shift));
		return bits;
	}
	bits = hf_get64(p) >> shift;
	if (shift + width > 64 && shift)
		bits |= (uint64_t)p[8] << (64 - shift);
	return hf_etrace_low(bits, width);
}

#define HF_ETRACE_FIELD(b, member, width) ((member) = (__typeof__(member))hf_etrace_field((b), (member), (width)))

/* A signed field, in writing only its low bits. */
static inline uint64_t hf_etrace_signed_field(struct hf_etrace_bits *b, uint64_t v, unsigned width)
{
	return hf_etrace_extend(hf_etrace_field(b, b->writing ? hf_etrace_low(v, width) : 0, width), width);
}

/* Ends writing: whole bytes. */
static inline size_t hf_etrace_bits_end(struct hf_etrace_bits *b)
{
	const size_t n = (b->pos + 7) / 8;

	if (b->pos % 8 && b->bytes[n - 1] >> (b->pos - 1) % 8 & 1)
		b->bytes[n - 1] |= (uint8_t)(0xff << b->pos % 8);
	return n;
}

/* Of them those that do not only repeat the highest bit. */
static inline size_t hf_etrace_bits_compress(const struct hf_etrace_bits *b, size_t n)
{
	while (n > 1 && b->bytes[n - 1] == (b->bytes[n - 2] & 0x80 ? 0xff : 0))
		n--;
	return n;
}

#endif

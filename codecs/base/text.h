/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers as text, for the emitters' inner loops: without branches where the width is fixed, without libc, without a
 * terminator. Every function writes at p and returns the end; some scribble up to 16 bytes behind it.
 */
#ifndef HF_BASE_TEXT_H
#define HF_BASE_TEXT_H

#include "codecs/base/bytes.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* The eight lower-case hex digits of v, the highest in the lowest byte: one nibble to a byte, then all to ASCII. */
static inline uint64_t hf_text_hex8(uint32_t v)
{
	uint64_t x = (uint64_t)v << 32 | v >> 16;

	x = (x & 0x000000ff000000ff) << 16 | (x >> 8 & 0x000000ff000000ff);
	x = (x & 0x000f000f000f000f) << 8 | (x >> 4 & 0x000f000f000f000f);
	/* 10 + 6 carries into bit 4: those bytes get the distance from '9' + 1 to 'a' as well */
	return x + 0x3030303030303030 + ((x + 0x0606060606060606) >> 4 & 0x0101010101010101) * ('a' - '9' - 1);
}

#ifdef __SSE2__

/* All sixteen digits at once, the highest first: nibbles to bytes, then those above 9 get the distance to 'a' as well. */
static inline uint8_t *hf_text_put_hex16(uint8_t *p, uint64_t v)
{
	const __m128i nibble = _mm_set1_epi8(0x0f);
	const __m128i bytes = _mm_cvtsi64_si128((long long)__builtin_bswap64(v));
	const __m128i high = _mm_and_si128(_mm_srli_epi16(bytes, 4), nibble), low = _mm_and_si128(bytes, nibble);
	const __m128i digits = _mm_unpacklo_epi8(high, low);
	const __m128i letters = _mm_and_si128(_mm_cmpgt_epi8(digits, _mm_set1_epi8(9)), _mm_set1_epi8('a' - '9' - 1));

	_mm_storeu_si128((__m128i *)p, _mm_add_epi8(_mm_add_epi8(digits, _mm_set1_epi8('0')), letters));
	return p + 16;
}

#else

static inline uint8_t *hf_text_put_hex16(uint8_t *p, uint64_t v)
{
	hf_put64(p, hf_text_hex8((uint32_t)(v >> 32)));
	hf_put64(p + 8, hf_text_hex8((uint32_t)v));
	return p + 16;
}

#endif

/* The low digits (1 to 16) of v. */
static inline uint8_t *hf_text_put_hex_width(uint8_t *p, uint64_t v, unsigned digits)
{
	hf_text_put_hex16(p, v << (64 - 4 * digits));
	return p + digits;
}

/* As many digits as v needs, at least one. */
static inline unsigned hf_text_hex_digits(uint64_t v)
{
	return (67 - (unsigned)__builtin_clzll(v | 1)) / 4;
}

static inline uint8_t *hf_text_put_hex(uint8_t *p, uint64_t v)
{
	return hf_text_put_hex_width(p, v, hf_text_hex_digits(v));
}

static inline uint8_t *hf_text_put_dec(uint8_t *p, uint64_t v)
{
	uint8_t digits[20], *d = digits + sizeof digits;

	if (v < 100) { /* sizes, register numbers */
		unsigned tens = (unsigned)v * 103 >> 10;

		*p = (uint8_t)('0' + tens);
		p += tens != 0;
		*p = (uint8_t)('0' + v - 10 * tens);
		return p + 1;
	}
	for (; v; v /= 10)
		*--d = (uint8_t)('0' + v % 10);
	memcpy(p, d, (size_t)(digits + sizeof digits - d));
	return p + (digits + sizeof digits - d);
}

/* A string literal or short text. */
static inline uint8_t *hf_text_put(uint8_t *p, const char *text)
{
	size_t n = strlen(text);

	memcpy(p, text, n);
	return p + n;
}

#endif

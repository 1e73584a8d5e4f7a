/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unaligned little-endian loads and stores, and LEB128 numbers as the state blobs use them. Everything here is
 * inline: it is what the inner loops of the codecs are made of.
 */
#ifndef HF_BASE_BYTES_H
#define HF_BASE_BYTES_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the loads below are plain copies on little-endian machines");

static inline uint16_t hf_get16(const void *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof v);
	return v;
}

static inline uint32_t hf_get32(const void *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof v);
	return v;
}

static inline uint64_t hf_get64(const void *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof v);
	return v;
}

static inline void hf_put16(void *p, uint16_t v)
{
	memcpy(p, &v, sizeof v);
}

static inline void hf_put32(void *p, uint32_t v)
{
	memcpy(p, &v, sizeof v);
}

static inline void hf_put64(void *p, uint64_t v)
{
	memcpy(p, &v, sizeof v);
}

#define HF_VARINT_MAX 10

/* Writes v as unsigned LEB128 at p, which has room for HF_VARINT_MAX bytes; returns the end. */
static inline uint8_t *hf_put_varint(uint8_t *p, uint64_t v)
{
	while (v >= 0x80) {
		*p++ = (uint8_t)(v | 0x80);
		v >>= 7;
	}
	*p++ = (uint8_t)v;
	return p;
}

/* How many bytes that takes. */
static inline uint32_t hf_varint_size(uint64_t v)
{
	return (70 - (uint32_t)__builtin_clzll(v | 1)) / 7;
}

/* Reads an unsigned LEB128 number of [p, end); returns the byte behind it, or NULL if it is cut or over 64 bits. */
static inline const uint8_t *hf_get_varint(const uint8_t *p, const uint8_t *end, uint64_t *ret_v)
{
	uint64_t v = 0;

	for (unsigned shift = 0; p < end && shift < 64; shift += 7) {
		uint8_t byte = *p++;

		if (shift == 63 && byte > 1)
			return NULL;
		v |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			*ret_v = v;
			return p;
		}
	}
	return NULL;
}

#endif

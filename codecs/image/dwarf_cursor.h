/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers and strings of DWARF sections, one after the other. What is read behind the end is 0, and makes it bad. */
#ifndef HF_IMAGE_DWARF_CURSOR_H
#define HF_IMAGE_DWARF_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A section; a zero byte follows. */
struct hf_dwarf_bytes {
	uint8_t *at;
	size_t size;
};

struct hf_dwarf_cursor {
	const uint8_t *p, *end;
	bool bad;
};

/* From that offset to the end of the section; bad behind it. */
static inline struct hf_dwarf_cursor hf_dwarf_cursor_at(const struct hf_dwarf_bytes *bytes, uint64_t offset)
{
	static const uint8_t none[1];

	if (offset >= bytes->size)
		return (struct hf_dwarf_cursor){none, none, true};
	return (struct hf_dwarf_cursor){bytes->at + offset, bytes->at + bytes->size, false};
}

/* A number of n bytes, little endian; of more than 8 the first ones. */
static inline uint64_t hf_dwarf_get(struct hf_dwarf_cursor *c, unsigned n)
{
	uint64_t value = 0;

	if ((size_t)(c->end - c->p) < n) {
		c->bad = true;
		c->p = c->end;
		return 0;
	}
	for (unsigned i = 0; i < n; i++)
		if (i < 8)
			value |= (uint64_t)c->p[i] << 8 * i;
	c->p += n;
	return value;
}

static inline unsigned hf_dwarf_get_byte(struct hf_dwarf_cursor *c)
{
	if (c->p < c->end)
		return *c->p++;
	c->bad = true;
	return 0;
}

static inline uint64_t hf_dwarf_get_uleb(struct hf_dwarf_cursor *c)
{
	uint64_t value = 0, byte;
	unsigned shift = 0;

	/* Most are of one byte. */
	if (c->p < c->end && *c->p < 0x80)
		return *c->p++;
	do {
		byte = hf_dwarf_get_byte(c);
		value |= shift < 64 ? (byte & 0x7f) << shift : 0;
		shift += 7;
	} while (byte & 0x80);
	return value;
}

static inline int64_t hf_dwarf_get_sleb(struct hf_dwarf_cursor *c)
{
	uint64_t value = 0, byte;
	unsigned shift = 0;

	do {
		byte = hf_dwarf_get_byte(c);
		value |= shift < 64 ? (byte & 0x7f) << shift : 0;
		shift += 7;
	} while (byte & 0x80);
	if (shift < 64 && byte & 0x40)
		value |= -(UINT64_C(1) << shift);
	return (int64_t)value;
}

static inline void hf_dwarf_pass(struct hf_dwarf_cursor *c, uint64_t n)
{
	if (n > (uint64_t)(c->end - c->p)) {
		c->bad = true;
		n = (uint64_t)(c->end - c->p);
	}
	c->p += n;
}

static inline const char *hf_dwarf_get_string(struct hf_dwarf_cursor *c)
{
	const char *text = (const char *)c->p;
	const uint8_t *end = c->p < c->end ? memchr(c->p, 0, (size_t)(c->end - c->p)) : NULL;

	c->bad |= !end;
	c->p = end ? end + 1 : c->end;
	return end ? text : "";
}

/* The length with which a unit begins; *ret_word is the size of its offsets, 4 or 8. *ret_own are its bytes, and *c is
 * behind them. */
static inline void hf_dwarf_get_unit(struct hf_dwarf_cursor *c, unsigned *ret_word, struct hf_dwarf_cursor *ret_own)
{
	uint64_t length = hf_dwarf_get(c, 4);

	*ret_word = length == 0xffffffff ? 8 : 4;
	if (*ret_word == 8)
		length = hf_dwarf_get(c, 8);
	*ret_own = *c;
	hf_dwarf_pass(c, length);
	ret_own->end = c->p;
}

#endif

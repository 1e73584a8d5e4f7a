/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/ntrace/nls.h"

#include <stdbool.h>
#include <string.h>

/* The most of a width or a precision. */
#define WIDTH_MAX 64
#define ARGUMENTS_MAX 4

const char *hf_ntrace_nls_find(const char *comment, size_t size, uint64_t number, size_t *ret_size)
{
	const char *const end = comment + size;

	for (const char *p = comment; p < end;) {
		const char *stop = memchr(p, 0, (size_t)(end - p)), *digit = p;
		uint64_t n = 0;

		stop = stop ? stop : end;
		for (; digit < stop && *digit >= '0' && *digit <= '9' && digit - p < 10; digit++)
			n = 10 * n + (uint64_t)(*digit - '0');
		if (digit > p && digit < stop && *digit == ':' && n == number) {
			*ret_size = (size_t)(stop - digit - 1);
			return digit + 1;
		}
		p = stop + 1;
	}
	return NULL;
}

/* "%-04.2x" */
struct conversion {
	bool left, zeros, plus, blank, prefix, exact;
	unsigned width, precision; /* precision if exact */
	char letter;
};

static const char *read_number(const char *p, const char *end, unsigned *ret)
{
	for (*ret = 0; p < end && *p >= '0' && *p <= '9'; p++)
		*ret = *ret > WIDTH_MAX ? *ret : 10 * *ret + (unsigned)(*p - '0');
	return p;
}

/* Reads what is behind a '%'; NULL: that is no conversion of ours. */
static const char *read_conversion(const char *p, const char *end, struct conversion *c)
{
	*c = (struct conversion){0};
	for (bool more = true; more && p < end; p += more) {
		switch (*p) {
		case '-': c->left = true; break;
		case '0': c->zeros = true; break;
		case '+': c->plus = true; break;
		case ' ': c->blank = true; break;
		case '#': c->prefix = true; break;
		default: more = false;
		}
	}
	p = read_number(p, end, &c->width);
	if (p < end && *p == '.') {
		c->exact = true;
		p = read_number(p + 1, end, &c->precision);
	}
	while (p < end && strchr("hljzt", *p) && *p)
		p++;
	if (p == end || !*p || !strchr("diuoxXc%", *p) || c->width > WIDTH_MAX || c->precision > WIDTH_MAX)
		return NULL;
	c->letter = *p;
	return p + 1;
}

/* How many arguments the format has; more than ARGUMENTS_MAX: it is none of ours. */
static unsigned count_arguments(const char *format, const char *end)
{
	struct conversion c;
	unsigned n = 0;

	for (const char *p = format; p && p < end;) {
		if (*p++ != '%')
			continue;
		p = read_conversion(p, end, &c);
		if (!p)
			return ARGUMENTS_MAX + 1;
		n += c.letter != '%';
	}
	return n;
}

/* The argument at place i of n, unsigned; *ret_bits is its width. */
static uint32_t argument(uint32_t word, unsigned n, unsigned i, unsigned *ret_bits)
{
	static const uint8_t widths[ARGUMENTS_MAX][ARGUMENTS_MAX] = {{32}, {16, 16}, {11, 11, 10}, {8, 8, 8, 8}};
	unsigned below = 0;

	for (unsigned k = i + 1; k < n; k++)
		below += widths[n - 1][k];
	*ret_bits = widths[n - 1][i];
	return word >> below & (uint32_t)((UINT64_C(1) << *ret_bits) - 1);
}

/* Where the text goes. */
struct out {
	uint8_t *p;
	size_t n;
	bool full;
};

static void put(struct out *out, char c, unsigned times)
{
	for (; times; times--) {
		if (out->n == HF_NTRACE_NLS_MAX)
			out->full = true;
		else
			out->p[out->n++] = (uint8_t)c;
	}
}

static void put_padded(struct out *out, const struct conversion *c, const char *sign, const char *digits, unsigned n,
		       unsigned zeros)
{
	const unsigned size = (unsigned)strlen(sign) + zeros + n, blanks = c->width > size ? c->width - size : 0;
	const bool fill = c->zeros && !c->left && !c->exact;

	put(out, ' ', c->left || fill ? 0 : blanks);
	for (; *sign; sign++)
		put(out, *sign, 1);
	put(out, '0', zeros + (fill ? blanks : 0));
	for (unsigned i = 0; i < n; i++)
		put(out, digits[i], 1);
	put(out, ' ', c->left ? blanks : 0);
}

static void put_number(struct out *out, const struct conversion *c, uint32_t value, unsigned bits)
{
	const bool with_sign = c->letter == 'd' || c->letter == 'i', negative = with_sign && value >> (bits - 1) & 1;
	const char *const letters = c->letter == 'X' ? "0123456789ABCDEF" : "0123456789abcdef";
	const unsigned base = c->letter == 'o' ? 8 : c->letter == 'x' || c->letter == 'X' ? 16 : 10;
	const char *sign = negative ? "-" : with_sign && c->plus ? "+" : with_sign && c->blank ? " " : "";
	char digits[16];
	unsigned at = sizeof digits, n;

	if (negative)
		value = (uint32_t)((UINT64_C(1) << bits) - value);
	if (c->prefix && value && base == 16)
		sign = c->letter == 'X' ? "0X" : "0x";
	for (; value; value /= base)
		digits[--at] = letters[value % base];
	n = (unsigned)sizeof digits - at;
	if (!n && !(c->exact && !c->precision)) {
		digits[--at] = '0';
		n = 1;
	} else if (c->prefix && base == 8 && n) {
		digits[--at] = '0';
		n++;
	}
	put_padded(out, c, sign, digits + at, n, c->exact && c->precision > n ? c->precision - n : 0);
}

size_t hf_ntrace_nls_print(const char *format, size_t size, uint32_t word, uint8_t *to)
{
	const char *const end = format + size;
	const unsigned n = count_arguments(format, end);
	struct out out = {.p = to};
	struct conversion c;
	unsigned i = 0;

	if (n > ARGUMENTS_MAX)
		return 0;
	for (const char *p = format; p < end;) {
		unsigned bits;
		uint32_t value;

		if (*p != '%') {
			put(&out, *p++, 1);
			continue;
		}
		p = read_conversion(p + 1, end, &c); /* the count saw them all */
		if (c.letter == '%') {
			put(&out, '%', 1);
			continue;
		}
		value = argument(word, n, i++, &bits);
		if (c.letter == 'c')
			put_padded(&out, &(struct conversion){.left = c.left, .width = c.width}, "",
				   &(char){(char)(uint8_t)value}, 1, 0);
		else
			put_number(&out, &c, value, bits);
	}
	put(&out, '\n', 1);
	return out.full ? 0 : out.n;
}

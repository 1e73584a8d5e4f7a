/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8, as far as views that quote a producer's strings need it. */
#ifndef HF_BASE_UTF8_H
#define HF_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of the well-formed sequence of two or more at p[n], n >= 1; 0 if there is none. */
static inline size_t hf_utf8_length(const uint8_t *p, size_t n)
{
	size_t len = *p < 0xc2 ? 0 : *p < 0xe0 ? 2 : *p < 0xf0 ? 3 : *p < 0xf5 ? 4 : 0;

	if (len == 0 || len > n)
		return 0;
	for (size_t i = 1; i < len; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	if ((*p == 0xe0 && p[1] < 0xa0) || (*p == 0xed && p[1] > 0x9f) || (*p == 0xf0 && p[1] < 0x90) ||
	    (*p == 0xf4 && p[1] > 0x8f))
		return 0;
	return len;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers in options of commands: decimal digits, nothing in front. */
#ifndef HF_MOUNTD_NUMBER_H
#define HF_MOUNTD_NUMBER_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/* *ret_end is what is behind it. */
static inline bool hf_number_read(const char *text, const char **ret_end, uint64_t *ret_value)
{
	char *end;

	errno = 0;
	*ret_value = strtoull(text, &end, 10);
	*ret_end = end;
	return *text >= '0' && *text <= '9' && !errno;
}

/* Nothing is behind it. */
static inline bool hf_number_is(const char *text, uint64_t *ret_value)
{
	const char *end;

	return hf_number_read(text, &end, ret_value) && !*end;
}

#endif

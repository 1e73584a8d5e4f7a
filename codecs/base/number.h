/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers as descriptions and view parameters write them: decimal, also with leading zeros, or hexadecimal behind 0x. */
#ifndef HF_BASE_NUMBER_H
#define HF_BASE_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/* The number that text begins with, and in *ret_end what follows it; false: there is none, or not of 64 bits. */
bool hf_number_parse(const char *text, uint64_t *ret_number, const char **ret_end);

#endif

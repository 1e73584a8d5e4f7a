/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Format strings of messages that programs send as numbers alone ("no load strings"): the ELF's section .comment has them
 * as "N:format", N being the stimulus register that a word is written to. The word holds all arguments. The strings are
 * foreign bytes: no function of the C library gets them.
 */
#ifndef HF_NTRACE_NLS_H
#define HF_NTRACE_NLS_H

#include <stddef.h>
#include <stdint.h>

/* The longest text; a longer one is not made. */
#define HF_NTRACE_NLS_MAX 512

/* The format of a register: size bytes of comment; NULL: it has none. */
const char *hf_ntrace_nls_find(const char *comment, size_t size, uint64_t number, size_t *ret_size);

/*
 * Writes the text of word to out[HF_NTRACE_NLS_MAX], with a line feed behind it, and returns its size; 0: the format is none
 * that can be printed, or its text is too long. It has up to 4 conversions: %d %i %u %o %x %X %c, with flags, width and
 * precision; %% is none. They share the bits of word: 32, 16 + 16, 11 + 11 + 10, or 8 each, the first one the highest.
 */
size_t hf_ntrace_nls_print(const char *format, size_t size, uint32_t word, uint8_t *out);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 (FIPS 180-4), to compare streams with the sums that the corpus gives. */
#ifndef HF_TEST_SHA256_H
#define HF_TEST_SHA256_H

#include <stddef.h>

/* Writes 64 hex digits and a 0. */
void hf_sha256_hex(const void *data, size_t n, char hex[65]);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* What every fuzz target needs: the name of its function, and what must hold. */
#ifndef HF_TEST_FUZZ_H
#define HF_TEST_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

/* Of functions that only say what is right: inputs are not kept for having reached something in them. */
#ifdef __clang__
#define HF_NO_COVERAGE __attribute__((no_sanitize("coverage")))
#else
#define HF_NO_COVERAGE
#endif

#define MUST(cond) \
	do { \
		if (!(cond)) { \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #cond); \
			abort(); \
		} \
	} while (0)

#endif

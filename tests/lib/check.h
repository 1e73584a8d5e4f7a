/* SPDX-License-Identifier: Apache-2.0 */
/* What the unit tests check with: a failed check prints its place and ends the program with status 1. */
#ifndef HF_TEST_CHECK_H
#define HF_TEST_CHECK_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/*
 * Under ThreadSanitizer, which costs a factor of 20, long tests run a sample of what they run elsewhere. Under
 * AddressSanitizer those that allocate a lot do.
 */
#ifdef __has_feature
#define HF_TEST_FEATURE(name) __has_feature(name)
#else
#define HF_TEST_FEATURE(name) 0
#endif
#if defined(__SANITIZE_THREAD__) || HF_TEST_FEATURE(thread_sanitizer)
#define HF_TEST_SAMPLE 1
#else
#define HF_TEST_SAMPLE 0
#endif
#if HF_TEST_SAMPLE || defined(__SANITIZE_ADDRESS__) || HF_TEST_FEATURE(address_sanitizer)
#define HF_TEST_SANITIZED 1
#else
#define HF_TEST_SANITIZED 0
#endif

#define CHECK(cond) \
	do { \
		if (!(cond)) { \
			fprintf(stderr, "%s:%d: check failed: %s\n", __FILE__, __LINE__, #cond); \
			exit(1); \
		} \
	} while (0)

/* Milliseconds after which what should come will not. This bounds hangs, and no verdict is drawn from a shorter time. */
#define HF_TEST_PATIENCE_MS 600000

/* Waits for the condition. */
#define CHECK_COMES(cond) \
	do { \
		for (int check_ms = 0; !(cond); check_ms++) { \
			if (check_ms >= HF_TEST_PATIENCE_MS) { \
				fprintf(stderr, "%s:%d: does not come: %s\n", __FILE__, __LINE__, #cond); \
				exit(1); \
			} \
			nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL); \
		} \
	} while (0)

#define CHECK_EQ(a, b) \
	do { \
		uint64_t check_a = (uint64_t)(a), check_b = (uint64_t)(b); \
		if (check_a != check_b) { \
			fprintf(stderr, "%s:%d: %s is %" PRIu64 " (0x%" PRIx64 "), %s is %" PRIu64 " (0x%" PRIx64 ")\n", \
				__FILE__, __LINE__, #a, check_a, check_a, #b, check_b, check_b); \
			exit(1); \
		} \
	} while (0)

#define CHECK_STR(a, b) \
	do { \
		const char *check_a = (a), *check_b = (b); \
		if (strcmp(check_a, check_b) != 0) { \
			fprintf(stderr, "%s:%d: %s is\n%s\nand not\n%s\n", __FILE__, __LINE__, #a, check_a, check_b); \
			exit(1); \
		} \
	} while (0)

#endif

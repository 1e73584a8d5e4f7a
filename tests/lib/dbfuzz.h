/* SPDX-License-Identifier: Apache-2.0 */
/* For the fuzzers of index and catalogue files: hostile files out of valid ones. */
#ifndef HF_TEST_DBFUZZ_H
#define HF_TEST_DBFUZZ_H

#include "tests/lib/fuzz.h"
#include "tests/lib/walk.h"

enum {
	DB_FUZZ_CHANGES = 2, /* the bytes change a valid file (each: page, offset in it, count, bytes); else they are one */
	DB_FUZZ_SEALED = 4,  /* page checksums are put right, so that what lies behind them is reached */
};

/* Makes the file name in the directory, with these flags in mode; others are not looked at. */
void db_fuzz_store(int dirfd, const char *name, const struct hf_walk_bytes *valid, unsigned mode, const uint8_t *bytes,
		   size_t n);

#endif

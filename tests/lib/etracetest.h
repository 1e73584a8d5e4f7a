/* SPDX-License-Identifier: Apache-2.0 */
/* What the E-Trace tests share: captures of the corpus, or made in memory, and all events of them at once. */
#ifndef HF_TEST_ETRACETEST_H
#define HF_TEST_ETRACETEST_H

#include "codecs/etrace/decoder.h"
#include "codecs/etrace/stream.h"
#include "tests/lib/stftest.h"

struct hf_etracet {
	struct hf_setup *setup;
	struct hf_src *src;
	struct hf_stream *stream;
};

/* The capture whose description is that file; false with its error on stderr if it cannot be opened. */
bool hf_etracet_open(struct hf_etracet *t, const char *ini);
/* The same, but its stream is these bytes. */
bool hf_etracet_open_bytes(struct hf_etracet *t, const char *ini, const void *bytes, size_t n);
void hf_etracet_close(struct hf_etracet *t);

/* Appends "key = value" to a setup for every hart. */
void hf_etracet_value(struct hf_setup *setup, const char *key, const char *value);

/*
 * A capture made of bytes that may be anything: HF_ETRACET_HEAD of them choose the parameters, then come two bytes of
 * length and so much code for 0x80000000, then the stream.
 */
#define HF_ETRACET_HEAD 16
#define HF_ETRACET_CODE UINT64_C(0x80000000)

struct hf_etracet_made {
	struct hf_setup setup;
	struct hf_setup_value values[40];
	struct hf_setup_image image;
	struct hf_program_piece piece;
	char texts[40][24];
	struct hf_src *src;
	struct hf_stream *stream;
};

/* False if there are too few bytes, or they make parameters that are refused. bytes must outlive it. */
bool hf_etracet_make(struct hf_etracet_made *m, const uint8_t *bytes, size_t n);
void hf_etracet_unmake(struct hf_etracet_made *m);

#endif

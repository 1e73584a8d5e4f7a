/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the ASTF tests share: streams written from a text description, all events of a stream, trace.astf and
 * records.txt of it, and the check that a decoder or encoder can be left and entered between any two events.
 */
#ifndef HF_TEST_ASTFTEST_H
#define HF_TEST_ASTFTEST_H

#include "codecs/astf/decoder.h"
#include "codecs/astf/encoder.h"
#include "tests/lib/stftest.h"

/*
 * Records from their description: one a line, its type and then field=hex for each field that is not 0; "STRING text"
 * is a whole string, "STRING size=hex text" one whose size is told wrong; "BYTES hex..." any bytes. Lines that begin
 * with '#' are skipped.
 */
struct hf_walk_bytes hf_astft_build(const char *text);

/* A stream opened from memory. */
void hf_astft_open(struct hf_stft *t, const struct hf_walk_bytes *bytes);
struct hf_events hf_astft_decode(const struct hf_walk_bytes *bytes);
struct hf_walk_bytes hf_astft_encode(const struct hf_stream *stream, const struct hf_events *list);
/* records.txt, terminated. */
struct hf_walk_bytes hf_astft_dump(const struct hf_walk_bytes *bytes);

/* Every batch size gives the same events; save and load at each boundary go on with them, and with the same bytes. */
void hf_astft_check_seek(const struct hf_walk_bytes *bytes);

/* Events of that kind; of NOTE, GAP with that code (0: any). */
size_t hf_astft_count(const struct hf_events *list, enum hf_event_kind kind, int code);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the STF tests share: streams built record by record, files of the corpus decompressed, and all events of a
 * stream at once.
 */
#ifndef HF_TEST_STFTEST_H
#define HF_TEST_STFTEST_H

#include "codecs/stf/decoder.h"
#include "codecs/stf/encoder.h"
#include "tests/lib/check.h"
#include "tests/lib/walk.h"

/* The corpus folder, or ends the program with status 77. */
const char *hf_stft_corpus(void);

/* The stream of corpus file name, out of its container if it is in one; what comes right before damage. */
struct hf_walk_bytes hf_stft_load(const char *name);

/* The text of corpus file name or name.xz, with a 0 behind it. */
struct hf_walk_bytes hf_stft_text(const char *name);

/* Appends a record. The first argument of the rest is its descriptor's name; the others are .member = value. */
void hf_stft_put(struct hf_walk_bytes *to, const struct hf_stf_layout *layout, const struct hf_stf_record *rec);
#define PUT(to, name, ...) \
	hf_stft_put(to, &hf_stft_layout, &(struct hf_stf_record){.descriptor = HF_STF_##name, __VA_ARGS__})
/* EVENT64, VLEN 256, TileLink; what PUT and hf_stft_header use, to be changed at will. */
extern struct hf_stf_layout hf_stft_layout;

/* A header of RV64 with these features (EVENT64 must agree with hf_stft_layout) and first pc. */
void hf_stft_header(struct hf_walk_bytes *to, uint64_t features, uint64_t force_pc);
void hf_stft_event(struct hf_walk_bytes *to, uint64_t id, unsigned count, const uint64_t *words);
void hf_stft_mode(struct hf_walk_bytes *to, uint64_t mode);

/* A stream opened from memory. */
struct hf_stft {
	struct hf_src *src;
	struct hf_stream *stream;
};
void hf_stft_open(struct hf_stft *t, const struct hf_walk_bytes *bytes);
void hf_stft_close(struct hf_stft *t);

struct hf_events {
	struct hf_event *ev;
	size_t n, cap;
};

void hf_events_add(struct hf_events *list, const struct hf_event *ev, size_t n);
void hf_events_free(struct hf_events *list);

/* All events of a hart, batch at a time. src may be another source of the same bytes. */
struct hf_events hf_stft_events(const struct hf_stream *stream, struct hf_src *src, uint32_t hart, size_t batch);
/* The same of a stream in memory; also checks that it ends without an error. */
struct hf_events hf_stft_decode(const struct hf_walk_bytes *bytes, uint32_t hart);

/* Says where two lists differ first and ends the program. */
void hf_events_check_same(const struct hf_events *a, const struct hf_events *b, const char *what);

/* All bytes of trace.stf of these events. */
struct hf_walk_bytes hf_stft_encode(const struct hf_stream *stream, uint32_t hart, const struct hf_events *list);

/* Puts offsets and record numbers to 0, which a re-encoded stream has others of. */
void hf_events_forget_places(struct hf_events *list);

#endif

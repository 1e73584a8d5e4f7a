/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The samples of a registry of codecs: small captures with what is known of them from elsewhere. tests/codec/samples/CODEC/
 * has them, and every codec that reads a trace must have one.
 *
 * CODEC/NAME.txt is one capture, as text. "@FILE" on a line of its own begins a file of it, "@FILE hex" and
 * "@FILE hex_words" one that is written in hexadecimal (as "text" of a capture.ini). "@expected" ends it: a line
 * "PC [OPCODE]" for each retired instruction in hexadecimal, "trap" where a trap is taken, "hart N" before those of
 * another hart than the first. "markers N" is how many MARKER events there are, of a hart that has them alone.
 *
 * CODEC/made lists captures that the view of the same name makes of a recorded capture, one a line: "NAME CAPTURE
 * FIRST-LAST [PARAMETERS]". CAPTURE is a path in tests/data; what is expected of them is what the emulator logged
 * (tests/data/golden).
 *
 * CODEC/corpus lists captures below HARTFS_CORPUS, one pattern a line: directories with a description, descriptions, files;
 * behind it, the loop that they are left out of.
 * Of them nothing is expected here; they are more of what a loop runs over, and without a corpus it says so.
 */
#ifndef HF_TEST_SAMPLE_H
#define HF_TEST_SAMPLE_H

#include "tests/lib/check.h"
#include "tests/lib/fstest.h"
#include "tests/lib/stftest.h"

#define SAMPLE_HARTS 8

/* What must come out of a hart: instructions, and traps between them. */
struct expected {
	uint32_t hart;
	unsigned markers; /* so many MARKER events, if it is not 0 */
	size_t n, cap;
	struct {
		uint64_t pc;
		uint32_t opcode;
		bool has_opcode, trap;
	} *item;
};

struct sample {
	const struct hf_codec *codec;
	char name[128];          /* "etrace/worked", and its directory in the archive */
	char *path;              /* of a capture of the corpus; NULL: it is in the archive */
	struct expected expected[SAMPLE_HARTS];
	size_t expected_count;
	/* Once loaded: */
	struct hf_setup *setup;     /* NULL: it has no description */
	struct hf_walk_bytes bytes; /* of its stream, out of its container */
	struct hf_src *src;         /* these */
	struct hf_stream *stream;
	uint32_t harts[SAMPLE_HARTS]; /* with HF_HART_RECORDS */
	size_t hart_count;
};

struct samples {
	const struct hf_codec *const *codecs;
	struct hf_fst fst; /* whose archive has them all */
	struct sample *sample;
	size_t n, cap;
};

/* Those of the directory that are of one of the codecs; every codec with a decoder must have one. only: of the codec of that
 * name, which must be there; NULL: of all. */
void samples_begin(struct samples *all, const struct hf_codec *const *codecs, const char *dir, const char *only);
void samples_end(struct samples *all);
/* One more, of which nothing is known yet; and what is expected of it, as in a file. */
struct sample *samples_add(struct samples *all, const struct hf_codec *codec, const char *name);
void sample_expect(struct sample *s, char *text);
/* Those of the corpus too, as far as they are for the loop. */
void samples_add_corpus(struct samples *all, const char *dir, const char *loop);
/* For each, loaded: its name is in what is said of a failure. */
void samples_each(struct samples *all, void (*fn)(struct sample *s));

/* What a failed check is about: printed when the program ends before the next call. NULL: nothing. */
__attribute__((format(printf, 1, 2))) void sample_about(const char *format, ...);

/* The capture at that path: a file, a description, or a directory that has a description or one file. */
void sample_load(struct sample *s, const struct hf_codec *const *codecs, const char *path);
void sample_unload(struct sample *s);
/* Another stream of it, of its first n bytes. An error must be one of the input. */
int sample_open(struct sample *s, size_t n, struct hf_src **ret_src, struct hf_stream **ret_stream);

/* All events of a hart, batch at a time. *ret_err is how they end, which must be no defect of ours. */
struct hf_events sample_events(const struct hf_stream *stream, struct hf_src *src, uint32_t hart, size_t batch,
			       int *ret_err);
/* The same to HF_NOTE_END. */
struct hf_events sample_all(const struct sample *s, uint32_t hart, size_t batch);
/* That the events of the n-th hart of which something is expected have it all. */
void sample_check_expected(const struct sample *s, size_t n, const struct hf_events *list);
/* Retired instructions of a list. */
size_t sample_insns(const struct hf_events *list);
/* Of n places about most, evenly: how far one is from the next. each: events that one of them costs.
 * A sanitizer learns nothing from the thousandth place. */
static inline size_t sample_step(size_t n, size_t most, size_t each)
{
	const size_t budget = 3000000 / (each + 1) + 1;

	most = budget < most ? budget : most;
	return n / (HF_TEST_SANITIZED ? 1 + most / 32 : most) + 1;
}

#endif

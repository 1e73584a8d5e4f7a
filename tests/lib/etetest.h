/* Snapshot directories opened for tests of the ETE codec. */
#ifndef HF_TEST_ETETEST_H
#define HF_TEST_ETETEST_H

#include "codecs/codec.h"

struct ete_capture {
	struct hf_setup *setup;
	struct hf_src *src;
	struct hf_stream *stream;
};

/* dir is a snapshot directory. Ends the test if it cannot be opened. */
void ete_open(struct ete_capture *c, const char *dir);
void ete_close(struct ete_capture *c);

/* All events of a decoder's hart until its end, malloc'ed; asked for batch at a time. */
struct hf_event *ete_events(const struct ete_capture *c, uint32_t hart, size_t batch, size_t *ret_n);

/* The corpus of ETE captures, or the test is skipped. */
const char *ete_corpus(void);

#endif

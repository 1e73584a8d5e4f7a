/* SPDX-License-Identifier: Apache-2.0 */
/* Snapshot directories opened for tests of the ETE codec. */
#ifndef HF_TEST_ETETEST_H
#define HF_TEST_ETETEST_H

#include "codecs/codec.h"

struct ete_capture {
	struct hf_setup *setup;
	struct hf_src *src;
	struct hf_stream *stream;
	uint8_t *bytes; /* of a made one's trace */
};

/* dir is a snapshot directory. Ends the test if it cannot be opened. */
void ete_open(struct ete_capture *c, const char *dir);
void ete_close(struct ete_capture *c);
/* Nothing but its first recording. */
void ete_keep_first_part(struct ete_capture *c);

/* All events of a decoder's hart until its end, malloc'ed; asked for batch at a time. */
struct hf_event *ete_events(const struct ete_capture *c, uint32_t hart, size_t batch, size_t *ret_n);

/*
 * A capture of one source with trace id 1 made of text. registers: "NAME=value NAME=value"; code: "address:opcode ..."
 * in hexadecimal, of 4 bytes each (a T32 pair: low halfword first in memory) in pages of NOPs; trace: bytes in
 * hexadecimal, where "SYNC" stands for an A-sync; framing as in setup.h. Ends the test if it cannot be opened; closed
 * with ete_close.
 */
void ete_make(struct ete_capture *c, const char *registers, const char *code, const char *framing, const char *trace);

/* The same of another codec of Arm traces; its values are those of all harts. */
void ete_make_of(struct ete_capture *c, const struct hf_codec *codec, const char *registers, const char *code,
		 const char *framing, const char *trace);

/*
 * The events of hart 1 as words: an instruction is its pc, with ">target" if it was taken; "?pc" an attempt; "!cause" a
 * trap, "!!cause" an interrupt, with ">handler" if known; "gap:ERROR", "doubt:ERROR", "note:ERROR"; "jump"; "el1";
 * "thread", "handler", with "-ns" if not secure; "return", with ">address" if known, is a return from a trap;
 * "time:value" with "-back"; "cycles:value"; "mark:type.number". Static.
 */
const char *ete_words(const struct ete_capture *c);

/* The corpus of ETE captures, or the test is skipped. */
const char *ete_corpus(void);

#endif

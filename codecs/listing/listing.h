/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The listing: one line an instruction, one line that begins with '#' for everything else. This is the grammar of
 * listing.txt, version 2; fields are separated by blanks.
 *
 *   insn      = ordinal mode pc opcode [disassembly] [place] [flow] attachment*
 *   attempt   = "# attempt" mode pc opcode [disassembly] [place] ["record=" dec] attachment*
 *   ordinal   = decimal, from 0, of the retired instructions of this hart
 *   mode      = "U" "S" "M" "VU" "VS" "EL0t" "EL1h" ... "?" (codecs/modes.def)
 *   pc        = 16 hex digits
 *   opcode    = 4 or 8 hex digits as the instruction has 2 or 4 bytes; 4 are followed by blanks up to the width of 8
 *               of an attempt also "-", if it is not known
 *   place     = "<" symbol ["+0x" hex] [" " file ":" line] inlined* [" inlined ..."] ">"
 *   inlined   = " inlined " symbol [" at " (file ":" line | "?")]     the innermost one first
 *   flow      = "->" 16 hex digits, the address to which a taken branch or jump went
 *             | "(not taken)", of a conditional branch
 *   What follows a disassembly of up to 23 characters is aligned to the column behind the 24th.
 *
 *   attachment, in the order of the source:
 *     kind size address [attr] ["=" data]  memory access. kind: R, W, RW, "?"; size: bytes, decimal, no blank
 *                                    between them; address: 16 hex digits, or "?"; attr: "{tag=" hex ",attr=" hex
 *                                    ",stored=" dec "}", or some of these. stored: what the source has for the
 *                                    size, where it does not show whether that counts bits or bytes.
 *                                    data: 2 hex digits a byte, right-justified
 *                                    (16 if the source holds more than size bytes of value); an access of more than
 *                                    8 bytes has 64-bit words joined by "_", the one at the lowest address first
 *     "bus:" master index ":" kind size address [attr] ["=" data]   access by another bus master
 *     reg (":" | "=" | "~") hex      register read, written, or merely known. reg: x0..x31, f0.., v0.., pc, a CSR's
 *                                    name or csr_ and 3 hex digits; vector registers: 64-bit words joined by "_",
 *                                    the lowest elements first
 *     "i{" dec "}"                   the index into the SME array ZA that the instruction computed
 *     "ready:" dec                   register whose dependency counts as fulfilled
 *     "uop:" hex                     micro-operation
 *     "walk" va "/" size "first=" dec (pa ":" entry)*    page table walk: virtual address, page size in bytes (hex),
 *                                    the instruction record that first used it, entries down to the leaf
 *   Attachments that follow no insn or attempt line are on a line "#" attachment*.
 *
 *   "# trap exception" | "# trap interrupt"  "cause=" (dec ["(" name ")"] | "?") ["virtual"] ["value=" hex]
 *                                    ["->" handler] ["mode=" mode] ["meta=" hex ("," hex)*]
 *   "# trap-return" ["->" 16 hex digits] ["mode=" mode]
 *   "# context" ["hw=" dec] ["pid=" dec] ["tid=" dec] ["asid=" dec] ["vmid=" dec] ["comm=" '"' name '"'] ["mode=" mode]
 *                                    ["vlen=" dec]
 *                                    ["isa=" name] [("secure" | "non-secure") ["SM"] ["DIT"] ["SSBS"]
 *                                    ["tcf=" ("sync" | "async" | "asym")] ["absent"]]
 *   "# time" (dec | "?") ["back=" dec]   timestamp; back: it belongs to the event that many before
 *   "# cycles" (dec | "?") ["back=" dec] ["late"]    cycles since the last such line; late: it was delayed
 *   "# marker type=" dec "number=" dec "value=" hex    an event that only the source explains
 *   "# text" channel '"' text '"'    what software wrote to that channel (dec): up to a line feed, an event of another kind
 *                                    or 4096 bytes; escaped as a comment, and \" a quote
 *   "# sample" ("pc=" pc | "asleep" | "denied")
 *   "# watchpoint" dec ["pc=" pc] [("address=" | "read=" | "write=") hex]
 *   "# counter" dec ("value=" dec | "wrapped")
 *   "# trigger" dec ["pc=" pc] | "# control" dec ["pc=" pc] | "# call" "pc=" pc ["->" pc]
 *   ("# exception" | "# interrupt") dec ["pc=" pc | "entered" | "exited" | "returned"]  as instrumentation tells it
 *   "# marker context" hex ["pc=" pc]     the same
 *   "# transaction id=" hex "clock=" dec "delta=" dec "metas=" dec "metasize=" dec ["data=" hex]
 *   "# dependency id=" hex "clock=" dec "delta=" dec
 *   "# comment" text                 of the producer; other than printable ASCII is \n, \t, \r, \xNN, and \\ a
 *                                    backslash
 *   "# opaque" ["offset=" dec] "bytes=" dec ["data=" hex]
 *   "# discontinuity" from "->" to ["untraced"]   from, to: 16 hex digits or "?"
 *   "# gap" | "# doubt" | "# note"   ["offset=" dec] ["bytes=" dec] ["back=" dec] reason   (reason: a sentence, to the
 *                                    line's end; back: so many insn lines before this one may be wrong)
 */
#ifndef HF_LISTING_LISTING_H
#define HF_LISTING_LISTING_H

#include "codecs/base/memo.h"
#include "codecs/base/text.h"
#include "codecs/codec.h"
#include "codecs/image/symbols.h"

/* Which line is open: its end is written when the next one begins, since attachments may still come. */
enum listing_line {
	LISTING_NONE,  /* none */
	LISTING_INSN,  /* an instruction or attempt */
	LISTING_LOOSE, /* attachments without one */
	LISTING_OTHER, /* takes no attachments but its own DATA */
	LISTING_TEXT,  /* what software wrote to a channel: a quote ends it */
};

/* What is saved at an event boundary. */
struct listing_state {
	uint64_t ordinal; /* of the next instruction */
	uint8_t line;     /* enum listing_line */
	uint8_t owed;     /* blanks to write before anything else on the line of an instruction */
	uint8_t run;      /* kind of the event whose DATA may follow */
	uint8_t place;    /* pieces of that DATA so far: 0, then 1 and 2 in turn */
	uint8_t ids;      /* HF_CONTEXT_PID, HF_CONTEXT_TID: known */
	uint64_t channel; /* of the line of text */
	uint16_t said;    /* bytes that are on it; LISTING_TEXT_MAX: no more */
};

/* Bytes that a line of text shows. */
#define LISTING_TEXT_MAX 4096

struct listing {
	struct hf_enc enc;
	struct listing_state state;
	/* the rest is derived from it */
	union {
		uint64_t word[3];
		uint8_t byte[24];
	} number;                     /* the ordinal's digits */
	unsigned digits;
	uint32_t extensions;            /* those of the hart that share opcodes */
	bool has_lines;
	const struct hf_symbol *symbol; /* of the last instruction, or NULL */
	uint32_t use;                   /* of the disassembler's lines that are its own; 0: none */
	struct hf_line line;            /* of the source, the same; [0, 0) before the first one */
	bool has_inlined;
	struct hf_inlined_place inlined; /* the same, and where its calls are */
	const struct hf_inlined *calls;
};

/* Room that any one event needs at most. */
#define LISTING_ROOM 4096
/* Bytes that inlined calls take; outer ones beyond that are left out, which is told. */
#define LISTING_INLINED_ROOM 3000

/* As hf_enc_ops has them. */
int hf_listing_check_params(const char *params, char *why, size_t size);
unsigned hf_listing_symbols(const char *params);

/* Ends the open line and begins one that starts with text, or is a bare "#" for attachments. */
uint8_t *hf_listing_begin(struct listing *l, uint8_t *p, enum listing_line line, const char *text);

/* Writes one event to p[LISTING_ROOM]. */
typedef uint8_t *(*listing_put_fn)(struct listing *l, uint8_t *p, const struct hf_event *ev);

/* The length of n events, by what env->memo, which must be there, remembers of events that put wrote, and of stretches.
 * The state is then as if they had been written; the ordinal's digits are the caller's to set. */
uint64_t hf_listing_count(struct listing *l, listing_put_fn put, const struct hf_event *ev, size_t n,
			  const struct hf_stretch *stretch, size_t count);

/* The name of a register: of class HF_REG_ARM_GENERAL and those after it. */
uint8_t *hf_listing_put_arm_register(uint8_t *p, const struct hf_event *ev);

/* The name of the register of a REG event of any class but HF_REG_ZA_INDEX: at most 32 bytes. */
uint8_t *hf_listing_put_register_name(uint8_t *p, const struct hf_event *ev);

/* Whether a register of RISC-V, or of Arm, is called so: hf_listing_put_register_name may write it. */
bool hf_listing_is_register(const char *name, bool arm);
/* The name that listings give the register: name if it is one of these, else in buf the one of the register that the
 * calling convention calls so ("a0" of RISC-V, "lr" of Arm). NULL: there is none. */
#define HF_REGISTER_NAME 8
const char *hf_listing_register(const char *name, bool arm, char buf[HF_REGISTER_NAME]);

/* Events other than instructions, memory accesses and registers. */
uint8_t *hf_listing_put_other(struct listing *l, uint8_t *p, const struct hf_event *ev);

#endif

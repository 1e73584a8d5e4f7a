/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calls in a summary. A *node* is a function in a chain of calls, as the flow shows it: its function is the pc that
 * a call went to. A function that is jumped to (a tail call) belongs to the node of the function that jumped.
 */
#ifndef HF_INDEX_SUMMARY_CALL_H
#define HF_INDEX_SUMMARY_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum hf_call_kind {
	HF_CALL_BEYOND,	   /* only node 0: all beyond the limits below */
	HF_CALL_ROOT,	   /* what a context executes in a mode outside of calls; function: its first pc */
	HF_CALL_FUNCTION,  /* called by its parent */
	HF_CALL_TRAP,	   /* a trap handler, */
	HF_CALL_INTERRUPT, /* or one of interrupts; neither has a parent */
	HF_CALL_KINDS
};

/* The number of HF_CALL_BEYOND's node; as a parent: none. */
#define HF_CALL_NO_NODE 0u
/* The function of a handler that took another trap before its first instruction, if the source does not tell it. */
#define HF_CALL_UNKNOWN UINT64_MAX

/* Most nodes of a hart, node 0 included. */
#define HF_CALL_NODES (1u << 17)
/* Most nested calls and traps of a context. */
#define HF_CALL_DEPTH 1024u
/* The same for all contexts of a hart together. */
#define HF_CALL_FRAMES (1u << 18)

/* Ordinals count the retired instructions of the hart from 0. */
struct hf_call_node {
	uint64_t function;
	uint64_t calls;	      /* how often it was called, entered or begun */
	uint64_t own;	      /* instructions, without those of its callees */
	uint64_t first, last; /* ordinals: of its first entry; of its last instruction or entry */
	uint64_t cycles;      /* that the source told meanwhile; INT64_MAX: that or more */
	uint32_t parent, context; /* context: its number, as of runs */
	uint8_t kind, mode;	  /* mode: of a root of HF_CALL_ROOT */
};

/* Facts about the calls of a hart besides the tree. */
struct hf_call_facts {
	uint64_t returns, unmatched; /* all; those that fit no call, which were ignored */
	uint64_t trap_returns, unmatched_traps; /* all; those without a trap, which emptied the stack */
	uint64_t deep;	  /* calls and traps beyond the limit of depth */
	uint64_t refused; /* calls and traps beyond the limit of nodes */
	uint64_t losses;  /* gaps, doubts, discontinuities; the stack is assumed to be unchanged behind them */
	uint64_t timed;	  /* events that told cycles; 0: the source tells none */
};

#endif

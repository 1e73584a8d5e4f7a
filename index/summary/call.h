/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a summary says of calls. A *node* stands for a function in a chain of calls, as the flow shows it: its function is
 * the pc that a call went to. A function that is jumped to (a tail call) belongs to the node of the one that jumped.
 */
#ifndef HF_INDEX_SUMMARY_CALL_H
#define HF_INDEX_SUMMARY_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum hf_call_kind {
	HF_CALL_BEYOND,	   /* node 0 alone: all that is beyond the limits below */
	HF_CALL_ROOT,	   /* what a context executes in a mode before any call; function: the first pc of it */
	HF_CALL_FUNCTION,  /* called by its parent */
	HF_CALL_TRAP,	   /* a trap handler, */
	HF_CALL_INTERRUPT, /* or one of interrupts: they have no parents */
	HF_CALL_KINDS
};

/* The number of that node, and of no parent. */
#define HF_CALL_NO_NODE 0u
/* The function of a handler that took another trap before its first instruction, where the source does not say. */
#define HF_CALL_UNKNOWN UINT64_MAX

/* Nodes of a hart, node 0 too. */
#define HF_CALL_NODES (1u << 17)
/* Calls and traps that a context can be in, one within the other. */
#define HF_CALL_DEPTH 1024u
/* The same of all contexts of a hart together. */
#define HF_CALL_FRAMES (1u << 18)

/* Ordinals count the retired instructions of the hart from 0. */
struct hf_call_node {
	uint64_t function;
	uint64_t calls;	      /* how often it was called, entered or begun */
	uint64_t own;	      /* instructions, without those of the nodes below it */
	uint64_t first, last; /* ordinals: where it was first entered; its last instruction, or where it was last entered */
	uint64_t cycles;      /* that the source told while it was executed; at most INT64_MAX, where they end */
	uint32_t parent, context; /* context: its number, as of runs */
	uint8_t kind, mode;	  /* mode: of a root of HF_CALL_ROOT */
};

/* What is known of the calls of a hart besides the tree. */
struct hf_call_facts {
	uint64_t returns, unmatched; /* all; those that fit no call before them, which were ignored */
	uint64_t trap_returns, unmatched_traps; /* of these the stack is forgotten */
	uint64_t deep;	  /* calls and traps beyond the limit of depth */
	uint64_t refused; /* calls and traps beyond the limit of nodes */
	uint64_t losses;  /* gaps, doubts, discontinuities: the stack is taken to be the same behind them */
	uint64_t timed;	  /* events that told cycles; 0: the source tells none */
};

#endif

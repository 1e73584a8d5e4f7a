/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of summaries, and what a row of each is. Internal to index/. */
#ifndef HF_INDEX_SUMMARY_TABLES_H
#define HF_INDEX_SUMMARY_TABLES_H

#include "index/base/identity.h"
#include "index/base/limits.h"
#include "index/summary/call.h"
#include "index/table/row.h"

/* Table meta of a summary. */
struct hf_summary_meta {
	bool complete;
	struct hf_identity identity;
	uint32_t version; /* HF_SUMMARY_VERSION */
	struct hf_chunk_limits limits;
};

/* Table hart of a summary. */
struct hf_summary_hart {
	uint64_t slot, insns, chunks, spans, contexts;
	uint32_t id;
};

/* Table span: what was executed from one place of the hart to the next. */
struct hf_summary_span {
	uint64_t chunk, end; /* in these chunks, [chunk, end) */
	uint64_t insns, runs;
	uint64_t page, pages; /* its first page, and how many there are */
	uint64_t list, lists; /* the same of the pieces of its lists */
};

/* Table context: struct hf_run_context. */
struct hf_summary_context {
	uint32_t fields, hw, pid, tid, asid, vmid, state;
};

/* Table page: runs in the order of their keys (summary/page.h), compressed. */
#define HF_SUMMARY_PAGE_MAX ((size_t)52 << 10)
struct hf_summary_page {
	uint64_t first, end;
	uint64_t runs, list;
	uint32_t size; /* not compressed */
	uint32_t n;
	uint8_t data[HF_SUMMARY_PAGE_MAX];
};

/* Table list: a piece of the lists. */
#define HF_SUMMARY_PIECE ((size_t)32 << 10)
struct hf_summary_piece {
	uint32_t n;
	uint8_t data[HF_SUMMARY_PIECE];
};

/* Table calls: of each hart, and how many nodes and pages there are. */
struct hf_summary_calls {
	uint64_t nodes, node_pages, stack_pages;
	struct hf_call_facts facts;
};

/* Tables node and stack: pages of summary/call_page.h, compressed. */
struct hf_summary_call_page {
	uint64_t first, count; /* number of the first node or chunk, and how many there are */
	uint32_t size;	       /* not compressed */
	uint32_t n;
	uint8_t data[HF_SUMMARY_PAGE_MAX];
};

/* Table inverse: a part of a hart's summary that says where something happened (summary/inverse.h). */
struct hf_inverse_head {
	bool known;	       /* the source tells of such things: without, a part that has nothing says nothing */
	uint64_t spans, total; /* total: sum of all counts */
};

/* Table inverse_span. */
struct hf_inverse_span {
	uint64_t first, end; /* all places at level 0 are in [first, end) */
	uint64_t insns, keys;
	uint64_t page, pages; /* its first page, and how many there are */
	uint64_t list, lists; /* the same of the pieces of its lists */
};

/* Table inverse_page: keys in their order, with what is known of each (summary/inverse_page.h), compressed. */
#define HF_INVERSE_PAGE_MAX ((size_t)36 << 10)
struct hf_inverse_page {
	uint64_t first, last; /* what is asked for lies in [first, last], or not in this page */
	uint64_t keys, list;
	uint32_t size; /* not compressed */
	uint32_t n;
	uint8_t data[HF_INVERSE_PAGE_MAX];
};

/* Of summaries: the structs of these names. */
extern const struct hf_table hf_table_summary_meta, hf_table_summary_hart, hf_table_summary_span,
	hf_table_summary_context, hf_table_summary_page, hf_table_summary_piece;
/* struct hf_summary_calls; struct hf_summary_call_page of both others. */
extern const struct hf_table hf_table_summary_calls, hf_table_summary_node, hf_table_summary_stack;
/* Of summaries too: struct hf_inverse_head, hf_inverse_span, hf_inverse_page, hf_summary_piece. */
extern const struct hf_table hf_table_inverse, hf_table_inverse_span, hf_table_inverse_page, hf_table_inverse_list;

#endif

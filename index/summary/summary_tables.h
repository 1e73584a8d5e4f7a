/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of summaries, and their rows. Internal to index/. */
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
	uint64_t slot, insns, chunks, spans, runs, contexts;
	uint32_t id;
};

/* Table span: runs with consecutive numbers, of one part of the hart. */
struct hf_summary_span {
	uint64_t group; /* the first that has one of them */
	uint64_t insns;
	uint64_t number, runs; /* number of the first run; how many there are */
	uint64_t page, pages;  /* its first page; how many there are */
};

/* Table context: struct hf_run_context. */
struct hf_summary_context {
	uint32_t fields, hw, pid, tid, asid, vmid, state;
};

/* Table page: runs in the order of their keys (summary/page.h), compressed. */
#define HF_SUMMARY_PAGE_MAX ((size_t)52 << 10)
struct hf_summary_page {
	uint64_t first, end;
	uint64_t runs;
	uint32_t size; /* not compressed */
	uint32_t n;
	uint8_t data[HF_SUMMARY_PAGE_MAX];
};

/* Table section: a section of a group (summary/group.h), compressed, or a piece of it. */
#define HF_SECTION_PIECE ((size_t)64 << 10)
struct hf_summary_section {
	uint32_t size; /* of all pieces together, not compressed */
	uint32_t n;
	uint8_t data[HF_SECTION_PIECE];
};

/* Table calls: facts of each hart, and how many nodes and pages it has. */
struct hf_summary_calls {
	uint64_t nodes, node_pages, stack_pages;
	struct hf_call_facts facts;
};

/* Tables node and stack: pages of summary/call_page.h, compressed. */
struct hf_summary_call_page {
	uint64_t first, count; /* number of the first node or chunk; how many there are */
	uint32_t size;	       /* not compressed */
	uint32_t n;
	uint8_t data[HF_SUMMARY_PAGE_MAX];
};

/* Of summaries: the structs of these names. */
extern const struct hf_table hf_table_summary_meta, hf_table_summary_hart, hf_table_summary_span,
	hf_table_summary_context, hf_table_summary_page, hf_table_summary_section;
/* Rows: struct hf_summary_calls; for the two others struct hf_summary_call_page. */
extern const struct hf_table hf_table_summary_calls, hf_table_summary_node, hf_table_summary_stack;

#endif

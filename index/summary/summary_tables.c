/* SPDX-License-Identifier: Apache-2.0 */
#include "index/summary/summary_tables.h"

static const struct hf_column summary_meta[] = {
	HF_COLUMN(NUMBER, hf_summary_meta, complete, 1),
	HF_COLUMNS_IDENTITY(hf_summary_meta),
	HF_COLUMN(NUMBER, hf_summary_meta, version, UINT32_MAX),
	HF_COLUMNS_LIMITS(hf_summary_meta),
};

static const struct hf_column summary_hart[] = {
	HF_COLUMN(NUMBER, hf_summary_hart, id, UINT32_MAX),
	HF_COLUMN_COUNT(hf_summary_hart, insns),
	HF_COLUMN(NUMBER, hf_summary_hart, chunks, HF_NUMBER_MAX),
	HF_COLUMN(NUMBER, hf_summary_hart, spans, HF_NUMBER_MAX),
	HF_COLUMN(NUMBER, hf_summary_hart, runs, HF_NUMBER_MAX),
	HF_COLUMN(NUMBER, hf_summary_hart, contexts, HF_NUMBER_MAX),
};

static const struct hf_column summary_span[] = {
	HF_COLUMN(NUMBER, hf_summary_span, group, HF_NUMBER_MAX),
	HF_COLUMN_COUNT(hf_summary_span, insns),
	HF_COLUMN(NUMBER, hf_summary_span, number, HF_NUMBER_MAX),
	HF_COLUMN(NUMBER, hf_summary_span, runs, UINT32_MAX),
	HF_COLUMN(NUMBER, hf_summary_span, page, HF_NUMBER_MAX),
	HF_COLUMN(NUMBER, hf_summary_span, pages, UINT32_MAX),
};

static const struct hf_column summary_context[] = {
	HF_COLUMN(NUMBER, hf_summary_context, fields, UINT32_MAX),
	HF_COLUMN(NUMBER, hf_summary_context, hw, UINT32_MAX),
	HF_COLUMN(NUMBER, hf_summary_context, pid, UINT32_MAX),
	HF_COLUMN(NUMBER, hf_summary_context, tid, UINT32_MAX),
	HF_COLUMN(NUMBER, hf_summary_context, asid, UINT32_MAX),
	HF_COLUMN(NUMBER, hf_summary_context, vmid, UINT32_MAX),
	HF_COLUMN(NUMBER, hf_summary_context, state, UINT32_MAX),
};

static const struct hf_column summary_page[] = {
	HF_COLUMN_ANY(hf_summary_page, first),
	HF_COLUMN_ANY(hf_summary_page, end),
	HF_COLUMN(NUMBER, hf_summary_page, runs, UINT32_MAX),
	HF_COLUMN(NUMBER, hf_summary_page, size, UINT32_MAX),
	HF_COLUMN_BYTES(hf_summary_page, data, n),
};

static const struct hf_column summary_section[] = {
	HF_COLUMN(NUMBER, hf_summary_section, size, UINT32_MAX),
	HF_COLUMN_BYTES(hf_summary_section, data, n),
};

static const struct hf_column summary_calls[] = {
	HF_COLUMN(NUMBER, hf_summary_calls, nodes, HF_CALL_NODES),
	HF_COLUMN(NUMBER, hf_summary_calls, node_pages, HF_NUMBER_MAX),
	HF_COLUMN(NUMBER, hf_summary_calls, stack_pages, HF_NUMBER_MAX),
	HF_COLUMN_COUNT(hf_summary_calls, facts.returns),
	HF_COLUMN_COUNT(hf_summary_calls, facts.unmatched),
	HF_COLUMN_COUNT(hf_summary_calls, facts.trap_returns),
	HF_COLUMN_COUNT(hf_summary_calls, facts.unmatched_traps),
	HF_COLUMN_COUNT(hf_summary_calls, facts.deep),
	HF_COLUMN_COUNT(hf_summary_calls, facts.refused),
	HF_COLUMN_COUNT(hf_summary_calls, facts.losses),
	HF_COLUMN_COUNT(hf_summary_calls, facts.timed),
};

static const struct hf_column summary_call_page[] = {
	HF_COLUMN_COUNT(hf_summary_call_page, first),
	HF_COLUMN(NUMBER, hf_summary_call_page, count, UINT32_MAX),
	HF_COLUMN(NUMBER, hf_summary_call_page, size, UINT32_MAX),
	HF_COLUMN_BYTES(hf_summary_call_page, data, n),
};

const struct hf_table hf_table_summary_meta = HF_TABLE("meta", HF_TABLE_META, summary_meta, struct hf_summary_meta);
const struct hf_table hf_table_summary_hart = HF_TABLE("hart", HF_TABLE_HART, summary_hart, struct hf_summary_hart);
const struct hf_table hf_table_summary_span = HF_TABLE("span", HF_TABLE_SPAN, summary_span, struct hf_summary_span);
const struct hf_table hf_table_summary_context =
	HF_TABLE("context", HF_TABLE_CONTEXT, summary_context, struct hf_summary_context);
const struct hf_table hf_table_summary_page = HF_TABLE("page", HF_TABLE_PAGE, summary_page, struct hf_summary_page);
const struct hf_table hf_table_summary_section =
	HF_TABLE("section", HF_TABLE_SECTION, summary_section, struct hf_summary_section);
const struct hf_table hf_table_summary_calls =
	HF_TABLE("calls", HF_TABLE_CALLS, summary_calls, struct hf_summary_calls);
const struct hf_table hf_table_summary_node =
	HF_TABLE("node", HF_TABLE_NODE, summary_call_page, struct hf_summary_call_page);
const struct hf_table hf_table_summary_stack =
	HF_TABLE("stack", HF_TABLE_STACK, summary_call_page, struct hf_summary_call_page);

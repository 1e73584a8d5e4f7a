/* SPDX-License-Identifier: Apache-2.0 */
/* How the texts of a profile are made of its counts. Internal to fs/profile/. */
#ifndef HF_FS_PROFILE_TEXTS_H
#define HF_FS_PROFILE_TEXTS_H

#include "codecs/base/sink.h"
#include "codecs/image/symbols.h"
#include "codecs/isa/disasm.h"
#include "fs/profile/counted.h"

struct hf_profiled {
	uint32_t hart;
	const struct hf_counts *counts;
	const struct hf_summary_tree *tree; /* its calls */
	bool sampled;			    /* the tree is an estimate, and how often each was called is not known */
	const struct hf_processes *processes; /* whose contexts are threads; NULL: they are not */
	const struct hf_symbols *symbols; /* of the hart; NULL: there are none */
	struct hf_disasm *disasm;
	uint32_t extensions; /* those of the hart that share opcodes */
	const struct hf_profile_source *source;
	const char *about; /* what a file is about whose name has a "*" (profiles.def); else NULL */
};

/* Each returns 0, HF_ERR_NOMEM, or the sink's error. */
int hf_profile_functions(const struct hf_profiled *of, struct hf_sink *sink);
int hf_profile_functions_files(const struct hf_profiled *of, struct hf_sink *sink);
int hf_profile_lines(const struct hf_profiled *of, struct hf_sink *sink);
int hf_profile_branches(const struct hf_profiled *of, struct hf_sink *sink);
int hf_profile_mix(const struct hf_profiled *of, struct hf_sink *sink);
int hf_profile_callers(const struct hf_profiled *of, struct hf_sink *sink);
int hf_profile_stacks(const struct hf_profiled *of, struct hf_sink *sink);
int hf_profile_callgrind(const struct hf_profiled *of, struct hf_sink *sink);
int hf_profile_flame(const struct hf_profiled *of, struct hf_sink *sink);
int hf_profile_speedscope(const struct hf_profiled *of, struct hf_sink *sink);
int hf_profile_bbv(const struct hf_profiled *of, struct hf_sink *sink);
int hf_profile_bbv_map(const struct hf_profiled *of, struct hf_sink *sink);
int hf_profile_memory(const struct hf_profiled *of, struct hf_sink *sink);
int hf_profile_lcov(const struct hf_profiled *of, struct hf_sink *sink);
int hf_profile_annotated(const struct hf_profiled *of, struct hf_sink *sink);
int hf_profile_objects(const struct hf_profiled *of, struct hf_sink *sink);
int hf_profile_fdata(const struct hf_profiled *of, struct hf_sink *sink);
int hf_profile_ranges(const struct hf_profiled *of, struct hf_sink *sink);
int hf_profile_order(const struct hf_profiled *of, struct hf_sink *sink);
int hf_profile_drcov(const struct hf_profiled *of, struct hf_sink *sink);
int hf_profile_overview(const struct hf_profiled *of, struct hf_sink *sink);
int hf_profile_perfetto(const struct hf_profiled *of, struct hf_sink *sink);
int hf_profile_samples(const struct hf_profiled *of, struct hf_sink *sink);
int hf_profile_samples_picture(const struct hf_profiled *of, struct hf_sink *sink);
int hf_profile_report(const struct hf_profiled *of, struct hf_sink *sink);

/* What the instruction does to the flow on a hart with these extensions: enum hf_flow. */
uint8_t hf_profile_flow(const struct hf_count *row, uint32_t extensions);
/* "branch", "call": of enum hf_flow. */
const char *hf_profile_flow_name(unsigned flow);
/* Where it goes if it is taken; false: its opcode does not tell. */
bool hf_profile_target(const struct hf_count *row, uint64_t *ret_target);
/* Its text as in the listing, without the opcode: "bne a4, a5, 44". Ends with a 0. */
void hf_profile_text_of(const struct hf_profiled *of, const struct hf_count *row, char buf[HF_DISASM_ROOM]);
/* "memcpy+0x1c", or nothing. */
void hf_profile_put_place(const struct hf_profiled *of, uint64_t pc, struct hf_sink *sink);
/* What a node is called: a function by its name, and what nobody called by what it is. ';' becomes ':'. */
void hf_profile_put_node(const struct hf_profiled *of, const struct hf_call_node *node, struct hf_sink *sink);
/* The first line of a text: how many instructions it is about. */
void hf_profile_put_head(const struct hf_profiled *of, struct hf_sink *sink);
/* How far the order of calls is to be believed: another line of the head. */
void hf_profile_put_returns(const struct hf_profiled *of, struct hf_sink *sink);
/* How often something was called, in so many columns; "-" in an estimate. */
void hf_profile_put_calls(const struct hf_profiled *of, int columns, uint64_t calls, struct hf_sink *sink);
/* Percent of all executions. */
double hf_profile_share(const struct hf_profiled *of, uint64_t count);

#endif

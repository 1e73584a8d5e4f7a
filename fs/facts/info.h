/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The small texts of a view directory that are made from the index: info.json, errors.txt, INDEXING. For one version of
 * a capture info.json and errors.txt are always the same bytes.
 */
#ifndef HF_FS_INFO_H
#define HF_FS_INFO_H

#include "fs/facts/opened.h"

/* open and facts: NULL while the capture is not indexed; open also if indexing failed. */
void hf_info_json(struct hf_capture *capture, struct hf_open *open, const struct hf_facts *facts, struct hf_sink *sink);
/* The progress, always HF_INFO_INDEXING_SIZE bytes. */
void hf_info_indexing(struct hf_capture *capture, struct hf_sink *sink);
#define HF_INFO_INDEXING_SIZE 64

/* One of these, which the facts say is there. */
void hf_info_text(enum hf_text text, struct hf_capture *capture, struct hf_open *open, const struct hf_facts *facts,
		  struct hf_sink *sink);

/* Sets the sizes of both texts in facts. */
int hf_info_measure(struct hf_capture *capture, struct hf_open *open, struct hf_facts *facts);

/* Why a capture has no file at that path in its view directory; false: unknown. */
bool hf_info_refusal(const struct hf_facts *facts, const char *path, char *buf, size_t size);

/* "12 s", "3 min", "2 h"; "?" for a negative number. */
void hf_info_duration(double seconds, char *buf, size_t size);

/* "likely cause: ...", if this problem is the likely cause of all others. */
bool hf_info_cause(const struct hf_open *open, const struct hf_index_problem *problem, char *buf, size_t size);

/* "riscv", "rv64"; "none" for any other number. */
const char *hf_info_arch_name(unsigned arch);
const char *hf_info_isa_name(unsigned isa);

/* The name of the file with the decompressed stream: "source.stf". */
void hf_info_source_name(const struct hf_codec *codec, char *buf, size_t size);

/* Retired instructions of all harts per byte of the capture if these are unusually many, else 0. */
uint64_t hf_info_density(const struct hf_open *open);

#endif

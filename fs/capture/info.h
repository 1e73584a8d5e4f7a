/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The small files of a view directory that are text made from the index: info.json, errors.txt, INDEXING. Each is the
 * same bytes whenever it is made of the same version of a capture.
 */
#ifndef HF_FS_INFO_H
#define HF_FS_INFO_H

#include "fs/capture/opened.h"

/* open and facts are NULL while the capture is not indexed, open also if it could not be. */
void hf_info_json(struct hf_capture *capture, struct hf_open *open, const struct hf_facts *facts, struct hf_sink *sink);
/* The progress, HF_INFO_INDEXING_SIZE bytes however far it is. */
void hf_info_indexing(struct hf_capture *capture, struct hf_sink *sink);
#define HF_INFO_INDEXING_SIZE 64

/* Either of these, as the facts say that it is there. */
void hf_info_text(enum hf_text text, struct hf_capture *capture, struct hf_open *open, const struct hf_facts *facts,
		  struct hf_sink *sink);

/* Sets the sizes of both texts in facts. */
int hf_info_measure(struct hf_capture *capture, struct hf_open *open, struct hf_facts *facts);

/* Why a capture has no such file, by its path in the view directory; false: that is not known. */
bool hf_info_refusal(const struct hf_facts *facts, const char *path, char *buf, size_t size);

/* "12 s", "3 min", "2 h"; "?" for a negative number. */
void hf_info_duration(double seconds, char *buf, size_t size);

/* Of the problem that says what is likely behind all others, if this is that one: "likely cause: ...". */
bool hf_info_cause(const struct hf_open *open, const struct hf_index_problem *problem, char *buf, size_t size);

/* "riscv", "rv64"; "none" for what is no such number. */
const char *hf_info_arch_name(unsigned arch);
const char *hf_info_isa_name(unsigned isa);

/* The name of the file with the decompressed stream: "source.stf". */
void hf_info_source_name(const struct hf_codec *codec, char *buf, size_t size);

/* A path in a line of text: what would break the line is a '?'. */
/* Retired instructions of all harts for each byte of the capture, where it is so many that it is worth saying; else 0.
 */
uint64_t hf_info_density(const struct hf_open *open);
void hf_info_path(struct hf_sink *sink, const char *path);

#endif

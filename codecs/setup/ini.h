/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The syntax that capture.ini and the files of a CoreSight snapshot share: sections, "key = value", comments.
 */
#ifndef HF_SETUP_INI_H
#define HF_SETUP_INI_H

#include "codecs/source/source.h"

/* A description is a small text; a larger file is none. */
#define HF_INI_SIZE_MAX (1u << 20)

enum hf_ini_flags {
	/* The rules of snapshots: a comment begins anywhere, also without a blank before it; values may be quoted; what
	 * is no "key = value" is no error, but given as an odd line. */
	HF_INI_LOOSE = 1,
};

/* A line: of a section's beginning key is NULL. Both are trimmed; valid during the call. */
struct hf_ini_line {
	uint32_t number; /* from 1 */
	const char *section; /* "" before the first */
	const char *key;
	const char *value;
	bool odd; /* neither a section nor "key = value": key is NULL */
};

/* Gives fn every section and every "key = value" (and with HF_INI_LOOSE every odd line); what it returns, unless 0, ends the walk and is returned. Also
 * HF_ERR_SETUP_SYNTAX, with *ret_line the number of the line that is wrong. text[size] is written to and has a byte of
 * room behind it. */
typedef int (*hf_ini_fn)(void *ctx, const struct hf_ini_line *line);
int hf_ini_walk(char *text, size_t size, unsigned flags, hf_ini_fn fn, void *ctx, uint32_t *ret_line);

/* All of a source as a text to walk through, for the caller to free; HF_ERR_INI_LIMIT if it is too long for one. */
int hf_ini_load(struct hf_src *src, char **ret_text, size_t *ret_size, struct hf_diag *diag);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Values of attributes by their form (DWARF 5, 7.5.6; versions 2 to 5, and GNU's forms). */
#ifndef HF_IMAGE_DWARF_FORM_H
#define HF_IMAGE_DWARF_FORM_H

#include "codecs/image/dwarf_cursor.h"

enum hf_dwarf_class {
	HF_DWARF_OTHER,		 /* of no use here: blocks, expressions, 16 bytes */
	HF_DWARF_NUMBER,	 /* also a flag */
	HF_DWARF_OFFSET,	 /* into a section that the attribute says */
	HF_DWARF_ADDRESS,
	HF_DWARF_ADDRESS_INDEX,	 /* into .debug_addr */
	HF_DWARF_LIST_INDEX,	 /* into .debug_rnglists */
	HF_DWARF_TEXT,		 /* text has it */
	HF_DWARF_STRING,	 /* offset into .debug_str */
	HF_DWARF_LINE_STRING,	 /* offset into .debug_line_str */
	HF_DWARF_STRING_INDEX,	 /* into .debug_str_offsets */
	HF_DWARF_REFERENCE,	 /* offset into its unit */
	HF_DWARF_FAR_REFERENCE,	 /* offset into .debug_info */
	HF_DWARF_ELSEWHERE,	 /* in a file or a section that is not read here */
};

struct hf_dwarf_value {
	enum hf_dwarf_class class;
	uint64_t number;
	const char *text;
};

/* What sizes of forms depend on. */
struct hf_dwarf_sizes {
	uint8_t version, word, address; /* word: of an offset */
};

/* DW_FORM_implicit_const: its value is not among the others. */
#define HF_DWARF_FORM_IMPLICIT 0x21

/* False for a form that nobody knows, and for HF_DWARF_FORM_IMPLICIT; one of a value that is cut makes *c bad. */
bool hf_dwarf_form_read(struct hf_dwarf_cursor *c, const struct hf_dwarf_sizes *sizes, uint64_t form,
			struct hf_dwarf_value *ret_value);

#endif

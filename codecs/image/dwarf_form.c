/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/image/dwarf_form.h"

/* How a form's bytes are read. */
enum shape {
	NO_SHAPE,
	FIXED,	   /* size bytes */
	WORD,	   /* of the size of an offset */
	ADDRESS,   /* of that of an address */
	VERSIONED, /* of that of an address in version 2, of that of an offset later */
	ULEB,
	SLEB,
	CHARACTERS,
	BLOCK,	   /* behind a length of size bytes */
	ULEB_BLOCK,
	PRESENT,   /* no bytes: 1 */
	INDIRECT,  /* the form comes first */
};

struct form {
	uint8_t shape, size, class;
};

static const struct form forms[] = {
	[0x01] = {ADDRESS, 0, HF_DWARF_ADDRESS},
	[0x03] = {BLOCK, 2, HF_DWARF_OTHER},
	[0x04] = {BLOCK, 4, HF_DWARF_OTHER},
	[0x05] = {FIXED, 2, HF_DWARF_NUMBER},
	[0x06] = {FIXED, 4, HF_DWARF_NUMBER},
	[0x07] = {FIXED, 8, HF_DWARF_NUMBER},
	[0x08] = {CHARACTERS, 0, HF_DWARF_TEXT},
	[0x09] = {ULEB_BLOCK, 0, HF_DWARF_OTHER},
	[0x0a] = {BLOCK, 1, HF_DWARF_OTHER},
	[0x0b] = {FIXED, 1, HF_DWARF_NUMBER},
	[0x0c] = {FIXED, 1, HF_DWARF_NUMBER},	       /* flag */
	[0x0d] = {SLEB, 0, HF_DWARF_NUMBER},
	[0x0e] = {WORD, 0, HF_DWARF_STRING},
	[0x0f] = {ULEB, 0, HF_DWARF_NUMBER},
	[0x10] = {VERSIONED, 0, HF_DWARF_FAR_REFERENCE},
	[0x11] = {FIXED, 1, HF_DWARF_REFERENCE},
	[0x12] = {FIXED, 2, HF_DWARF_REFERENCE},
	[0x13] = {FIXED, 4, HF_DWARF_REFERENCE},
	[0x14] = {FIXED, 8, HF_DWARF_REFERENCE},
	[0x15] = {ULEB, 0, HF_DWARF_REFERENCE},
	[0x16] = {INDIRECT, 0, HF_DWARF_OTHER},
	[0x17] = {WORD, 0, HF_DWARF_OFFSET},
	[0x18] = {ULEB_BLOCK, 0, HF_DWARF_OTHER},      /* exprloc */
	[0x19] = {PRESENT, 0, HF_DWARF_NUMBER},
	[0x1a] = {ULEB, 0, HF_DWARF_STRING_INDEX},
	[0x1b] = {ULEB, 0, HF_DWARF_ADDRESS_INDEX},
	[0x1c] = {FIXED, 4, HF_DWARF_ELSEWHERE},       /* ref_sup4 */
	[0x1d] = {WORD, 0, HF_DWARF_ELSEWHERE},	       /* strp_sup */
	[0x1e] = {FIXED, 16, HF_DWARF_OTHER},
	[0x1f] = {WORD, 0, HF_DWARF_LINE_STRING},
	[0x20] = {FIXED, 8, HF_DWARF_ELSEWHERE},       /* ref_sig8 */
	[0x22] = {ULEB, 0, HF_DWARF_OTHER},	       /* loclistx */
	[0x23] = {ULEB, 0, HF_DWARF_LIST_INDEX},
	[0x24] = {FIXED, 8, HF_DWARF_ELSEWHERE},       /* ref_sup8 */
	[0x25] = {FIXED, 1, HF_DWARF_STRING_INDEX},
	[0x26] = {FIXED, 2, HF_DWARF_STRING_INDEX},
	[0x27] = {FIXED, 3, HF_DWARF_STRING_INDEX},
	[0x28] = {FIXED, 4, HF_DWARF_STRING_INDEX},
	[0x29] = {FIXED, 1, HF_DWARF_ADDRESS_INDEX},
	[0x2a] = {FIXED, 2, HF_DWARF_ADDRESS_INDEX},
	[0x2b] = {FIXED, 3, HF_DWARF_ADDRESS_INDEX},
	[0x2c] = {FIXED, 4, HF_DWARF_ADDRESS_INDEX},
};

/* Of split DWARF 4, and of dwz. */
static struct form gnu_form(uint64_t form)
{
	switch (form) {
	case 0x1f01: return (struct form){ULEB, 0, HF_DWARF_ADDRESS_INDEX};
	case 0x1f02: return (struct form){ULEB, 0, HF_DWARF_STRING_INDEX};
	case 0x1f20: /* ref_alt */
	case 0x1f21: return (struct form){WORD, 0, HF_DWARF_ELSEWHERE};
	default: return (struct form){NO_SHAPE, 0, 0};
	}
}

static struct form form_of(uint64_t form)
{
	return form < sizeof forms / sizeof forms[0] ? forms[form] : gnu_form(form);
}

bool hf_dwarf_form_read(struct hf_dwarf_cursor *c, const struct hf_dwarf_sizes *sizes, uint64_t form,
			struct hf_dwarf_value *ret_value)
{
	struct form is = form_of(form);

	if (is.shape == INDIRECT)
		is = form_of(hf_dwarf_get_uleb(c));
	*ret_value = (struct hf_dwarf_value){.class = is.class};
	switch (is.shape) {
	case FIXED: ret_value->number = hf_dwarf_get(c, is.size); return true;
	case WORD: ret_value->number = hf_dwarf_get(c, sizes->word); return true;
	case ADDRESS: ret_value->number = hf_dwarf_get(c, sizes->address); return true;
	case VERSIONED:
		ret_value->number = hf_dwarf_get(c, sizes->version == 2 ? sizes->address : sizes->word);
		return true;
	case ULEB: ret_value->number = hf_dwarf_get_uleb(c); return true;
	case SLEB: ret_value->number = (uint64_t)hf_dwarf_get_sleb(c); return true;
	case CHARACTERS: ret_value->text = hf_dwarf_get_string(c); return true;
	case BLOCK: hf_dwarf_pass(c, hf_dwarf_get(c, is.size)); return true;
	case ULEB_BLOCK: hf_dwarf_pass(c, hf_dwarf_get_uleb(c)); return true;
	case PRESENT: ret_value->number = 1; return true;
	default: return false;
	}
}

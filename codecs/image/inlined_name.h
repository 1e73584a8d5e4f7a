/* SPDX-License-Identifier: Apache-2.0 */
/* Names of functions that were inlined: of the entry that a call points to, or of one behind that. */
#ifndef HF_IMAGE_INLINED_NAME_H
#define HF_IMAGE_INLINED_NAME_H

#include "codecs/image/demangle.h"
#include "codecs/image/dwarf.h"
#include "codecs/image/inlined_table.h"

struct hf_inlined_namer {
	struct hf_dwarf *dwarf;
	struct hf_demangler *demangler; /* NULL: names as the file has them */
	struct hf_number_map known;	/* offset of an entry: that of its name */
};

/* The name of the function whose entry is at that place of .debug_info, among names; HF_INLINED_NO_NAME if it has none
 * that is in this file. HF_ERR_ELF_LIMIT, HF_ERR_NOMEM. */
int hf_inlined_name(struct hf_inlined_namer *namer, uint64_t entry, struct hf_names *names, uint32_t *ret_name);

#endif

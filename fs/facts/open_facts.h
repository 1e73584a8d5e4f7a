/* SPDX-License-Identifier: Apache-2.0 */
/* The facts of a capture that was just opened, or could not be. */
#ifndef HF_FS_OPEN_FACTS_H
#define HF_FS_OPEN_FACTS_H

#include "fs/facts/opened.h"

/* Sets open->facts from the index. HF_ERR_MISMATCH: other ones are known. HF_ERR_NOT_FOUND: a view whose size is not
 * known lacks its table. */
int hf_open_take_facts(struct hf_open *open);

/* Facts that say only why a capture could not be indexed. */
int hf_facts_new_failed(struct hf_capture *capture, uint64_t version, const struct hf_diag *diag,
			struct hf_facts **ret_facts);

#endif

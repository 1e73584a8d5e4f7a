/* SPDX-License-Identifier: Apache-2.0 */
/* The facts of a capture as a page for people: hartfs info. */
#ifndef HF_FS_INFO_PAGE_H
#define HF_FS_INFO_PAGE_H

#include "fs/facts/opened.h"

/* open may be NULL if the facts say that the capture failed. */
void hf_info_page_write(struct hf_capture *capture, struct hf_open *open, const struct hf_facts *facts,
			struct hf_sink *sink);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Which bytes a capture has. */
#ifndef HF_FS_KINDS_H
#define HF_FS_KINDS_H

#include "fs/bytes/bytes.h"

/* Of a capture with these facts: the decompressed stream; a view, or a file beside one, by number; a text.
 * HF_ERR_NOT_FOUND if there is none. */
int hf_bytes_of_stream(struct hf_capture *capture, const struct hf_facts *facts, struct hf_bytes *ret_bytes);
int hf_bytes_of_view(struct hf_capture *capture, const struct hf_facts *facts, uint32_t hart, size_t view,
		     struct hf_bytes *ret_bytes);
int hf_bytes_of_text(struct hf_capture *capture, const struct hf_facts *facts, enum hf_text text,
		     struct hf_bytes *ret_bytes);

#endif

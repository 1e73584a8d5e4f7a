/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers as people read them. */
#ifndef HF_FS_HUMAN_H
#define HF_FS_HUMAN_H

#include "codecs/base/sink.h"

#include <stdint.h>

#define HF_HUMAN_SIZE 32

/* "873,595". Both return buf. */
const char *hf_human_count(char buf[HF_HUMAN_SIZE], uint64_t count);
/* Bytes, in powers of 1024: "787 KiB", "9.5 MiB". */
const char *hf_human_bytes(char buf[HF_HUMAN_SIZE], uint64_t bytes);

/* Writes a path in a line of text, with '?' for bytes that would break the line. */
void hf_human_path(struct hf_sink *sink, const char *path);

#endif

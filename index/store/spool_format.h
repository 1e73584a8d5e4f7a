/* SPDX-License-Identifier: Apache-2.0 */
/* What the reader and the writer of spools share. Internal to index/. */
#ifndef HF_INDEX_SPOOL_FORMAT_H
#define HF_INDEX_SPOOL_FORMAT_H

#include "index/store/file_name.h"

/* Bytes of the stream in each of its frames but the last. */
#define HF_SPOOL_FRAME (256u * 1024)
/* No stream that has a spool is longer (2 TiB), so that its table fits in memory: a hostile file may claim any size. */
#define HF_SPOOL_FRAMES_MAX (UINT64_C(1) << 23)

enum { HF_SPOOL_HEAD_SIZE = 72, HF_SPOOL_ENTRY_SIZE = 8, HF_SPOOL_FOOTER_SIZE = 9 };

uint64_t hf_spool_frames(uint64_t stream_size);
/* table_hash: XXH3-64 of the seek table, its skippable frame's head included. head[HF_SPOOL_HEAD_SIZE] */
void hf_spool_head_put(const struct hf_identity *identity, uint64_t stream_size, uint64_t table_hash, uint8_t *head);
/* HF_ERR_STATE if the file ends before; HF_ERR_INDEX_DIR or a shortage if it cannot be read, which is no damage. */
int hf_spool_read_at(int fd, uint64_t offset, void *buf, size_t n);
/* Whether a file may be one of ours, by its first or its last bytes: nothing else that has such a name is ever removed. */
bool hf_spool_is_ours(int fd, uint64_t size);
#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Files without a name, in memory. Internal to index/. */
#ifndef HF_INDEX_MEMORY_FILE_H
#define HF_INDEX_MEMORY_FILE_H

/* An empty one; -1: errno says why. */
int hf_memory_file_new(void);

#endif

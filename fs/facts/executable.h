/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program.elf of a hart, made of the code in its index and the symbols beside the capture. It is no view of events and
 * has no table: any range of it is written when it is read.
 */
#ifndef HF_FS_EXECUTABLE_H
#define HF_FS_EXECUTABLE_H

#include "codecs/codec.h"
#include "index/base/lock.h"

struct hf_captures;
struct hf_open;

/* Only the one used last is kept: it has up to 64 MiB of code. */
struct hf_executables {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct hf_executable *last;
	bool making;
	struct hf_cache *cache; /* is told its size; set before the first use */
};

void hf_executables_init(struct hf_executables *executables);
void hf_executables_fini(struct hf_executables *executables);

struct hf_facts_view;

/*
 * Sets the sizes, in view[HF_VIEW_ALL], of a hart's program.elf and of the files beside those views that have a size.
 * HF_NOWHERE: there can be no program; then *ret_refusal, to be freed, says why.
 */
int hf_executable_measure(struct hf_open *open, uint32_t hart, struct hf_facts_view *view, char **ret_refusal);

/* Writes the file with the number side (hf_fs_side). owner: of the hart's program.elf. */
int hf_executable_side(struct hf_open *open, uint32_t hart, uint64_t owner, size_t side, struct hf_sink *sink);

/* Reads [offset, offset + size) into bytes, which must have room for HF_SINK_ROOM more. owner tells one program.elf
 * from others. HF_ERR_MISMATCH: it is not total bytes long. */
int hf_executable_read(struct hf_open *open, uint32_t hart, uint64_t owner, uint64_t total, uint64_t offset,
		       size_t size, uint8_t *bytes);

#endif

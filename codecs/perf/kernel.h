/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code of the kernel and its modules: the copy of /proc/kcore that perf makes on request, or the kernel's file, and what
 * the kernel changed of its code since (TEXT_POKE).
 */
#ifndef HF_PERF_KERNEL_H
#define HF_PERF_KERNEL_H

#include "codecs/perf/attrs.h"
#include "codecs/perf/maps.h"
#include "codecs/setup/setup.h"

/* The names of the copy beside the file data, and of its list of symbols. */
#define HF_PERF_KCORE "kcore_dir/kcore"
#define HF_PERF_KALLSYMS "kcore_dir/kallsyms"
/* What mappings and build ids call the kernel; behind it a mapping has the symbol that it is told by. */
#define HF_PERF_KERNEL_NAME "[kernel.kallsyms]"

enum { HF_PERF_POKES_MAX = 1 << 18, HF_PERF_POKE_BYTES = 32 };

struct hf_perf_poke {
	uint64_t time, address;
	uint32_t number; /* in the order of the file */
	uint8_t size;
	uint8_t bytes[HF_PERF_POKE_BYTES];
};

struct hf_perf_pokes {
	struct hf_perf_poke *row;
	size_t count;
	bool cut; /* there are more, or longer ones */
};

/* A TEXT_POKE record. */
int hf_perf_pokes_add(struct hf_perf_pokes *pokes, struct hf_perf_attrs *attrs, const struct hf_perf_record *record);
void hf_perf_pokes_free(struct hf_perf_pokes *pokes);

/*
 * The code in the copy as ret->kernel, its bytes in ret's blocks, and as pokes changed it (ret->patched) between the ends of
 * the setup's recordings. *ret_poked: places of it that were changed. HF_ERR_CORRUPT: it is no such copy; HF_ERR_LIMIT: it
 * has more than HF_SETUP_PROGRAM_MAX.
 */
int hf_perf_kernel_load(struct hf_src *kcore, struct hf_perf_pokes *pokes, const struct hf_setup *setup,
			struct hf_processes *ret, size_t *ret_poked);

/* What the mappings say of the kernel itself; NULL: nothing. */
const struct hf_perf_kernel_code *hf_perf_kernel_map(const struct hf_perf_maps *maps);

/* The code of an ELF file vmlinux as ret->kernel, moved to where that mapping has it. HF_NOTE_END: that is not known. */
int hf_perf_kernel_add_file(struct hf_src *vmlinux, const struct hf_perf_kernel_code *map, struct hf_processes *ret,
			    uint64_t *ret_bias);

/* What of the kernel's code is missing in ret->kernel; id: of its file, of size 0 if that is not
 * known; beside: where it is looked for, for people. */
int hf_perf_kernel_list_missing(const struct hf_perf_maps *maps, const struct hf_perf_build_id *id, const char *beside,
				struct hf_processes *ret);

#endif

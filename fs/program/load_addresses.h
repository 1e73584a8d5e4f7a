/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The load addresses of the ELF files beside a capture, found by comparing them with the code that its harts executed
 * (codecs/image/bias.h). They depend on the index and the files only.
 */
#ifndef HF_FS_LOAD_ADDRESSES_H
#define HF_FS_LOAD_ADDRESSES_H

#include "codecs/image/bias.h"
#include "index/base/lock.h"
#include "index/index.h"

#include <stdatomic.h>

enum {
	HF_LOAD_ADDRESSES_FILES_MAX = 64,    /* files that are looked for */
	HF_LOAD_ADDRESSES_INSTANCES_MAX = 8, /* of one file in one hart */
};
/* Bytes of the files' code that are compared, in all harts together. */
#define HF_LOAD_ADDRESSES_WORK_MAX (UINT64_C(4) << 30)

struct hf_load_address_file {
	struct hf_src *src; /* NULL: no ELF file, or damaged */
	uint16_t machine;
	uint64_t first, end; /* its executable segments lie between these addresses; equal if there are none */
	uint64_t code;	     /* bytes of them */
	bool stem;	     /* x.elf: if its code was not executed, its addresses are taken as they are */
};

struct hf_load_address {
	size_t file;
	uint32_t hart; /* HF_SETUP_ANY: of all */
	uint64_t bias;
};

struct hf_load_addresses {
	atomic_uint refs;
	struct hf_load_address *row;
	size_t count, cap;
	struct hf_bias *file; /* of each: what was found, or why nothing; bytes and differs are sums over harts */
	size_t file_count;
	struct hf_load_addresses_run {
		uint64_t start, end;
	} * run; /* the code that was executed, of all harts: ascending, apart */
	size_t run_count, run_cap;
	uint64_t executed, unknown; /* bytes of executed code; of these, those in none of the files */
	bool limit_reached;	    /* HF_LOAD_ADDRESSES_WORK_MAX was reached */
};

/* The ones found last, for a version of a capture. lock is a leaf. */
struct hf_kept_load_addresses {
	pthread_mutex_t lock;
	struct hf_load_addresses *addresses; /* one reference; NULL: nobody asked */
	uint64_t version;
};

/* With a reference. */
int hf_load_addresses_find(struct hf_index *index, const struct hf_load_address_file *file, size_t count,
			   struct hf_load_addresses **ret_addresses);
struct hf_load_addresses *hf_load_addresses_ref(struct hf_load_addresses *addresses);
void hf_load_addresses_unref(struct hf_load_addresses *addresses);

/* The first piece of executed code that ends behind address; false: there is none. All counts as executed if there were
 * too many pieces. */
bool hf_load_addresses_executed(const struct hf_load_addresses *addresses, uint64_t address, uint64_t *ret_start,
				uint64_t *ret_end);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of struct hf_image, for collect.c and blob.c only: the pages, and the facts that are saved beside them.
 */
#ifndef HF_IMAGE_PAGES_H
#define HF_IMAGE_PAGES_H

#include "codecs/image/collect.h"

#define HF_IMAGE_HALVES (HF_IMAGE_PAGE / 2)
#define HF_IMAGE_NUMBER_MASK (UINT64_MAX / HF_IMAGE_PAGE)
#define HF_IMAGE_FRONT 4096u /* slots of the direct-mapped cache before the sorted pages: code of 16 MiB */

/* One bit a halfword. The spare bytes are always zero, so that 16 bits can be read at any of the others. */
struct hf_image_bits {
	uint64_t word[HF_IMAGE_HALVES / 64 + 1];
};

struct hf_image_page {
	uint8_t bytes[HF_IMAGE_PAGE + 4]; /* unknown ones are zero; 32 bits can be read at any halfword */
	struct hf_image_bits present;
	struct hf_image_bits thumb;    /* executed as T32; only where present */
	struct hf_image_bits *changed; /* NULL: none; only where present */
};

struct hf_image_slot {
	uint64_t number; /* address / HF_IMAGE_PAGE */
	struct hf_image_page *page;
};

enum hf_image_flags {
	HF_IMAGE_ENTRY = 1,    /* entry is known */
	HF_IMAGE_CONFLICT = 2, /* conflict_* is known */
	HF_IMAGE_MISFIT = 4,   /* misfit_* is known: an instruction that no code can hold */
	HF_IMAGE_PENDING = 8,  /* an attempt waits for the trap that tells whether it was fetched */
	HF_IMAGE_SPACES = 16,  /* more than one address space was seen */
	HF_IMAGE_LIMIT = 32,   /* more pages than the limit: the pages are gone */
	HF_IMAGE_FLAGS_ALL = 63
};

/* Everything but the pages. An instruction ends PENDING without touching it: ask hf_image_is_pending. */
struct hf_image_facts {
	uint64_t ordinal; /* of the next instruction */
	uint64_t entry;
	uint64_t conflict_address, conflict_ordinal;
	uint64_t misfit_address, misfit_ordinal;
	uint64_t pending_pc, pending_ordinal;
	uint32_t pending_opcode;
	uint32_t conflict_old, conflict_new; /* the conflict_size bytes at conflict_address */
	uint32_t isas;                       /* 1 << enum hf_isa */
	uint32_t pid, asid, vmid;            /* the first ones seen */
	uint8_t spaces;                      /* enum hf_context_field: which of these are known */
	uint8_t sizes;                       /* OR of the sizes of all instructions */
	uint8_t conflict_size, misfit_size;
	uint8_t pending_size, pending_isa;
	uint16_t flags;
};

struct hf_image {
	struct hf_image_facts facts;
	int err; /* sticky: HF_ERR_NOMEM */
	struct hf_image_slot *pages; /* sorted by number */
	size_t count, cap;
	uint64_t changes; /* bits set in all changed bitmaps */
	struct hf_image_slot front[HF_IMAGE_FRONT];
};

static inline bool hf_image_is_pending(const struct hf_image_facts *facts)
{
	return facts->flags & HF_IMAGE_PENDING && facts->pending_ordinal == facts->ordinal;
}

/* Page number, made if it does not exist. NULL if the limit was met (then no page is left) or on image->err. */
struct hf_image_page *hf_image_page_make(struct hf_image *image, uint64_t number);
/* Room for the changed bits of a page; false on image->err. */
bool hf_image_page_track(struct hf_image *image, struct hf_image_page *page);

static inline bool hf_image_bit(const struct hf_image_bits *bits, unsigned half)
{
	return bits->word[half / 64] >> (half % 64) & 1;
}

static inline void hf_image_bit_set(struct hf_image_bits *bits, unsigned half)
{
	bits->word[half / 64] |= UINT64_C(1) << (half % 64);
}

#endif

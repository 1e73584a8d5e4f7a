/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The code that one hart executed, collected from its instruction events: sparse pages of bytes, from which
 * program.elf is written. It exists only if the code is one image, that is if no address ever held two instructions;
 * otherwise hf_image_refuses says why not, for info.json.
 *
 * The result does not depend on the order of the events; only which conflict is named as the first one may.
 */
#ifndef HF_IMAGE_COLLECT_H
#define HF_IMAGE_COLLECT_H

#include "codecs/base/sink.h"
#include "codecs/event.h"

#define HF_IMAGE_PAGE UINT64_C(4096)
/* The most pages with code: 64 MiB. An image that needs more is given up, and its memory freed. */
#define HF_IMAGE_PAGES_MAX 16384u

struct hf_image;

int hf_image_new(struct hf_image **ret_image);
void hf_image_free(struct hf_image *image);

/*
 * Takes the next n events of the hart. An opcode is the bytes in memory read as a little-endian number, but that of a
 * T32 instruction of 4 bytes, which has its first halfword in the upper half. Only HF_ERR_NOMEM is an error, and sticky.
 */
int hf_image_put(struct hf_image *image, const struct hf_event *ev, size_t n);
/* The same of so many instructions that it took before, with MEM and REG events. */
void hf_image_pass(struct hf_image *image, uint64_t insns);

/* Whether there is no program, and then the reason: a clause without a full stop in buf. */
bool hf_image_refuses(const struct hf_image *image, char *buf, size_t size);

/* pc of the first retired instruction; false if there was none. */
bool hf_image_entry(const struct hf_image *image, uint64_t *ret_pc);
/* One bit (1 << enum hf_isa) for each instruction set that was seen. */
uint32_t hf_image_isas(const struct hf_image *image);
/* Whether an instruction of 16 bits was seen. */
bool hf_image_narrow(const struct hf_image *image);
/* Bytes of code that are known, and pages that they lie in. */
uint64_t hf_image_bytes(const struct hf_image *image);
size_t hf_image_pages(const struct hf_image *image);
/* Bytes of memory. */
size_t hf_image_memory(const struct hf_image *image);
/* Halfwords that held more than one value. */
uint64_t hf_image_changes(const struct hf_image *image);

/* Bytes [address, address + n) with zeros for unknown ones. */
void hf_image_read(const struct hf_image *image, uint64_t address, void *buf, size_t n);

/* Known bytes without a gap, and all of the same nature. */
struct hf_image_run {
	uint64_t address;
	uint64_t size;
	bool thumb;   /* executed as T32 */
	bool changed; /* held more than one value: these are the first ones seen */
};

/* Place of a walk over the runs in ascending order; zero to start. */
struct hf_image_cursor {
	size_t page;
	unsigned half;
};

bool hf_image_next_run(const struct hf_image *image, struct hf_image_cursor *cursor, struct hf_image_run *ret_run);

/*
 * The image as bytes, at any event boundary, and back: to keep a finished one in an index, and to go on with one
 * that is not. Loading treats the bytes as hostile (HF_ERR_STATE); size must be exact.
 */
void hf_image_save(const struct hf_image *image, struct hf_sink *sink);
int hf_image_load(const uint8_t *bytes, size_t size, struct hf_image **ret_image);

#endif

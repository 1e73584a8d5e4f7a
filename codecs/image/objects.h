/* SPDX-License-Identifier: Apache-2.0 */
/* In which file code or data lies, where no symbol says more: "libc.so.6+0x78c96". Immutable once all are added. */
#ifndef HF_IMAGE_OBJECTS_H
#define HF_IMAGE_OBJECTS_H

#include "codecs/image/names.h"
#include "codecs/source/source.h"

/* Longest name of a place: of a file, and an offset. */
#define HF_OBJECT_PLACE_MAX (HF_LINES_NAME_MAX + sizeof "+0x0123456789abcdef" - 1)

enum hf_object_part { HF_OBJECT_CODE, HF_OBJECT_CONSTANTS, HF_OBJECT_DATA, HF_OBJECT_ZEROS, HF_OBJECT_PARTS };

/* [start, end) is a part of that file, moved by bias. */
struct hf_object {
	uint64_t start, end, bias;
	uint8_t part; /* enum hf_object_part; ZEROS: of which the file has no bytes */
	char name[HF_LINES_NAME_MAX + 1]; /* its last component, as hf_name_file writes it */
};

/* A zeroed one is empty. */
struct hf_objects {
	struct hf_object *at; /* by start; owned */
	size_t count;
};

/* Adds the executable segments of an ELF, which is borrowed for the call, to code, and the others to data. What cannot be
 * read of it adds nothing. HF_ERR_NOMEM, and what may pass by itself (hf_err_is_passing). */
int hf_objects_add(struct hf_objects *code, struct hf_objects *data, struct hf_src *elf, uint64_t bias,
		   const char *path);
void hf_objects_fini(struct hf_objects *objects);

/* The one in which pc lies, or NULL. Borrowed. */
const struct hf_object *hf_objects_at(const struct hf_objects *objects, uint64_t pc);

/* A place that has no symbol: its file (NULL: none is known) with the address there, or its address. Returns the length. */
size_t hf_object_put_place(const struct hf_object *object, uint64_t pc, char to[HF_OBJECT_PLACE_MAX + 1]);

#endif

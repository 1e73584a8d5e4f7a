/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/image/objects.h"

#include "codecs/base/search.h"
#include "codecs/image/elf_read.h"
#include "codecs/image/errors.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static int by_start(const void *a, const void *b)
{
	const struct hf_object *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->end < y->end ? -1 : x->end > y->end;
}

/* [first, beyond) of the segment, if there is something in it. */
static void add_part(struct hf_objects *objects, const struct hf_object *like, enum hf_object_part part, uint64_t first,
		     uint64_t beyond)
{
	struct hf_object *object = &objects->at[objects->count];

	if (__builtin_add_overflow(first, like->bias, &object->start) ||
	    __builtin_add_overflow(beyond, like->bias, &object->end) || object->start >= object->end)
		return;
	*object = (struct hf_object){.start = object->start, .end = object->end, .bias = like->bias, .part = (uint8_t)part};
	hf_name_file(object->name, like->name);
	objects->count++;
}

static void add_segments(struct hf_objects *code, struct hf_objects *data, const struct hf_elf_file *file,
			 const struct hf_object *like)
{
	for (size_t i = 0; i < file->segment_count; i++) {
		const struct hf_elf_segment *segment = &file->segments[i];
		const uint64_t address = segment->address, filled = address + segment->size;

		if (segment->flags & HF_ELF_X) {
			add_part(code, like, HF_OBJECT_CODE, address, address + segment->memory_size);
			continue;
		}
		add_part(data, like, segment->flags & HF_ELF_W ? HF_OBJECT_DATA : HF_OBJECT_CONSTANTS, address, filled);
		add_part(data, like, HF_OBJECT_ZEROS, filled, address + segment->memory_size);
	}
}

/* more: pieces for which there is to be room. */
static int make_room(struct hf_objects *objects, size_t more)
{
	struct hf_object *bigger = realloc(objects->at, (objects->count + more + 1) * sizeof *bigger);

	objects->at = bigger ? bigger : objects->at;
	return bigger ? 0 : HF_ERR_NOMEM;
}

static void sort(struct hf_objects *objects)
{
	if (objects->count)
		qsort(objects->at, objects->count, sizeof *objects->at, by_start);
}

int hf_objects_add(struct hf_objects *code, struct hf_objects *data, struct hf_src *elf, uint64_t bias,
		   const char *path)
{
	struct hf_object like = {.bias = bias};
	struct hf_elf_file file;
	int err = hf_elf_file_open(elf, &file, NULL);

	if (err)
		return hf_err_is_passing(err) ? err : 0;
	hf_name_file(like.name, path);
	err = make_room(code, file.segment_count);
	if (!err)
		err = make_room(data, 2 * file.segment_count);
	if (!err)
		add_segments(code, data, &file, &like);
	sort(code);
	sort(data);
	hf_elf_file_close(&file);
	return err;
}

void hf_objects_fini(struct hf_objects *objects)
{
	free(objects->at);
	*objects = (struct hf_objects){0};
}

const struct hf_object *hf_objects_at(const struct hf_objects *objects, uint64_t pc)
{
	const size_t low = HF_COUNT_UP_TO(objects->at, objects->count, start, pc);

	return low && pc < objects->at[low - 1].end ? &objects->at[low - 1] : NULL;
}

size_t hf_object_put_place(const struct hf_object *object, uint64_t pc, char to[HF_OBJECT_PLACE_MAX + 1])
{
	const int n = object ? snprintf(to, HF_OBJECT_PLACE_MAX + 1, "%s+0x%" PRIx64, object->name, pc - object->bias)
			     : snprintf(to, HF_OBJECT_PLACE_MAX + 1, "0x%" PRIx64, pc);

	return (size_t)n;
}

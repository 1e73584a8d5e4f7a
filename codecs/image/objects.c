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

static void add_segments(struct hf_objects *objects, const struct hf_elf_file *file, uint64_t bias, const char *path)
{
	for (size_t i = 0; i < file->segment_count; i++) {
		const struct hf_elf_segment *segment = &file->segments[i];
		struct hf_object *object = &objects->at[objects->count];
		const uint64_t start = segment->address + bias;

		if (!(segment->flags & HF_ELF_X) || __builtin_add_overflow(start, segment->memory_size, &object->end))
			continue;
		object->start = start;
		object->bias = bias;
		hf_name_file(object->name, path);
		objects->count++;
	}
	if (objects->count)
		qsort(objects->at, objects->count, sizeof *objects->at, by_start);
}

int hf_objects_add(struct hf_objects *objects, struct hf_src *elf, uint64_t bias, const char *path)
{
	struct hf_elf_file file;
	struct hf_object *bigger;
	int err = hf_elf_file_open(elf, &file, NULL);

	if (err)
		return hf_err_is_passing(err) ? err : 0;
	bigger = realloc(objects->at, (objects->count + file.segment_count + 1) * sizeof *bigger);
	if (bigger) {
		objects->at = bigger;
		add_segments(objects, &file, bias, path);
	}
	hf_elf_file_close(&file);
	return bigger ? 0 : HF_ERR_NOMEM;
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

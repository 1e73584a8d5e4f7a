/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/perf/maps.h"

#include "codecs/base/array.h"
#include "codecs/base/bytes.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum {
	NAME_AT = 40,  /* MMAP */
	NAME2_AT = 72, /* MMAP2 */
	COMM_AT = 16,
	SYMBOL_AT = 24, /* KSYMBOL */
	FORK_SIZE = 32,
	PROT_EXEC = 4,
	NAME_MAX_HERE = 4096,
};

static int add_event(struct hf_perf_maps *maps, const struct hf_perf_event *event)
{
	int err;

	if (maps->event_count == HF_PERF_EVENTS_MAX) {
		maps->cut = true;
		return 0;
	}
	err = hf_array_room(&maps->event, maps->event_count, sizeof *event);
	if (!err)
		maps->event[maps->event_count++] = *event;
	return err;
}

/* That tid is a thread of pid; said again it tells nothing. */
static int add_thread(struct hf_perf_maps *maps, uint64_t time, uint32_t pid, uint32_t tid)
{
	const struct hf_perf_event event = {.time = time, .pid = pid, .tid = tid, .kind = HF_PERF_EVENT_THREAD};
	const uint32_t hash = hf_hash_of(tid, 1);
	struct hf_perf_thread *last = NULL;
	int err;

	if (pid == UINT32_MAX || tid == UINT32_MAX)
		return 0;
	HF_HASH_EACH(&maps->by_tid, hash, i)
		if (maps->thread[i].tid == tid)
			last = &maps->thread[i];
	if (last && last->pid == pid && last->time <= time)
		return 0;
	if (!last && maps->by_tid.count < HF_PERF_SPACES_MAX) {
		err = hf_hash_map_add_row(&maps->by_tid, hash, &maps->thread, sizeof *maps->thread);
		if (err)
			return err;
		last = &maps->thread[maps->by_tid.count - 1];
	}
	if (last)
		*last = (struct hf_perf_thread){time, pid, tid};
	return add_event(maps, &event);
}

/* The number of the file with that name and id; HF_NOTE_END: there are too many. */
static int find_object(struct hf_perf_maps *maps, const char *name, size_t n, const struct hf_perf_build_id *id,
		       uint32_t *ret_number)
{
	const uint64_t sum = XXH3_64bits(name, n);
	const uint32_t hash = hf_hash_of(sum, hf_get64(id->byte));
	int err;

	HF_HASH_EACH(&maps->by_name, hash, i)
	{
		const struct hf_perf_object *object = &maps->object[i];

		if (strlen(object->name) == n && memcmp(object->name, name, n) == 0 &&
		    memcmp(object->id.byte, id->byte, sizeof id->byte) == 0) {
			*ret_number = i;
			return 0;
		}
	}
	if (maps->by_name.count == HF_PERF_OBJECTS_MAX) {
		maps->cut = true;
		return HF_NOTE_END;
	}
	*ret_number = maps->by_name.count;
	err = hf_hash_map_add_row(&maps->by_name, hash, &maps->object, sizeof *maps->object);
	if (err)
		return err;
	maps->object[*ret_number] = (struct hf_perf_object){.name = strndup(name, n), .id = *id, .first = UINT64_MAX};
	return maps->object[*ret_number].name ? 0 : HF_ERR_NOMEM;
}

/* Code of the kernel: a MMAP's name and place, or KSYMBOL's. */
static int add_kernel(struct hf_perf_maps *maps, const struct hf_perf_kernel_code *code, const uint8_t *name, size_t n)
{
	int err;

	if (!code->size || code->size > UINT64_MAX - code->address || maps->kernel_count == HF_PERF_KERNEL_MAX)
		return 0;
	err = hf_array_room(&maps->kernel, maps->kernel_count, sizeof *code);
	if (err)
		return err;
	maps->kernel[maps->kernel_count] = *code;
	maps->kernel[maps->kernel_count].name = strndup((const char *)name, n < NAME_MAX_HERE ? n : NAME_MAX_HERE);
	return maps->kernel[maps->kernel_count++].name ? 0 : HF_ERR_NOMEM;
}

static int add_symbol(struct hf_perf_maps *maps, struct hf_perf_attrs *attrs, const struct hf_perf_record *record)
{
	const uint32_t trailer = hf_perf_trailer_size(attrs, record);
	struct hf_perf_kernel_code code = {.made = true};

	/* One that is gone was there before. */
	if (record->size < SYMBOL_AT + trailer || hf_get16(record->bytes + 22) & 1)
		return 0;
	code.address = hf_get64(record->bytes + 8);
	code.size = hf_get32(record->bytes + 16);
	return add_kernel(maps, &code, record->bytes + SYMBOL_AT, record->size - trailer - SYMBOL_AT);
}

/* What a mapping says, and its name[*ret_n]; false: it is none of code, or makes no sense. */
static bool read_map(struct hf_perf_attrs *attrs, const struct hf_perf_record *record, struct hf_perf_event *event,
		     struct hf_perf_build_id *id, const uint8_t **ret_name, size_t *ret_n)
{
	const bool two = record->type == HF_PERF_MMAP2;
	const uint32_t name_at = two ? NAME2_AT : NAME_AT, trailer = hf_perf_trailer_size(attrs, record);

	if (record->size < name_at + trailer)
		return false;
	*event = (struct hf_perf_event){.time = hf_perf_trailer_of(attrs, record).time,
					.kind = HF_PERF_EVENT_MAP,
					.pid = hf_get32(record->bytes + 8),
					.tid = hf_get32(record->bytes + 12),
					.address = hf_get64(record->bytes + 16),
					.size = hf_get64(record->bytes + 24),
					.offset = hf_get64(record->bytes + 32)};
	if (record->misc & HF_PERF_MISC_DATA || (two && !(hf_get32(record->bytes + 64) & PROT_EXEC)))
		event->kind = HF_PERF_EVENT_UNMAP;
	if (two && record->misc & HF_PERF_MISC_BUILD_ID)
		*id = hf_perf_build_id_of(record->bytes + 44, record->bytes[40], true);
	*ret_name = record->bytes + name_at;
	*ret_n = strnlen((const char *)*ret_name, record->size - trailer - name_at);
	*ret_n = *ret_n < NAME_MAX_HERE ? *ret_n : NAME_MAX_HERE;
	return event->size && event->size <= UINT64_MAX - event->address;
}

static int add_map(struct hf_perf_maps *maps, struct hf_perf_attrs *attrs, const struct hf_perf_record *record)
{
	const unsigned mode = record->misc & HF_PERF_MISC_MODE;
	struct hf_perf_build_id id = {.size = 0};
	struct hf_perf_event event;
	struct hf_perf_object *object;
	const uint8_t *name;
	size_t n;
	int err = 0;

	/* A guest's addresses are not those of its host. */
	if (mode == HF_PERF_MISC_GUEST_KERNEL || mode == HF_PERF_MISC_GUEST_USER ||
	    !read_map(attrs, record, &event, &id, &name, &n))
		return 0;
	if (event.pid == UINT32_MAX || mode == HF_PERF_MISC_KERNEL)
		return add_kernel(maps,
				  &(struct hf_perf_kernel_code){
					  .address = event.address, .size = event.size, .offset = event.offset, .id = id},
				  name, n);
	if (event.size > UINT64_MAX - event.offset)
		return 0;
	if (event.kind == HF_PERF_EVENT_MAP)
		err = find_object(maps, (const char *)name, n, &id, &event.object);
	if (err)
		return err == HF_NOTE_END ? 0 : err;
	if (event.kind == HF_PERF_EVENT_MAP) {
		object = &maps->object[event.object];
		object->first = event.offset < object->first ? event.offset : object->first;
		object->end = event.offset + event.size > object->end ? event.offset + event.size : object->end;
	}
	err = add_event(maps, &event);
	return err ? err : add_thread(maps, event.time, event.pid, event.tid);
}

static struct hf_thread_name *find_name(struct hf_perf_maps *maps, uint32_t tid)
{
	const uint32_t hash = hf_hash_of(tid, 0);

	HF_HASH_EACH(&maps->by_comm, hash, i)
		if (maps->comm[i].tid == tid)
			return &maps->comm[i];
	return NULL;
}

/* The thread calls itself so from here on. */
static int add_name(struct hf_perf_maps *maps, uint32_t pid, uint32_t tid, const char *name, size_t n)
{
	struct hf_thread_name *comm = find_name(maps, tid);
	int err = 0;

	if (!comm && maps->by_comm.count == HF_PERF_SPACES_MAX)
		return 0;
	if (!comm)
		err = hf_hash_map_add_row(&maps->by_comm, hf_hash_of(tid, 0), &maps->comm, sizeof *comm);
	if (err)
		return err;
	comm = comm ? comm : &maps->comm[maps->by_comm.count - 1];
	*comm = (struct hf_thread_name){.tid = tid, .pid = pid};
	n = n < sizeof comm->name ? n : sizeof comm->name - 1;
	for (size_t i = 0; i < n; i++)
		comm->name[i] = (char)((uint8_t)name[i] < ' ' || name[i] == 0x7f ? '?' : name[i]);
	return 0;
}

/* A thread begins with the name of the one that made it. */
static int take_name(struct hf_perf_maps *maps, uint32_t pid, uint32_t tid, uint32_t parent)
{
	const struct hf_thread_name *from = find_name(maps, parent);
	char name[sizeof from->name];

	if (!from || find_name(maps, tid))
		return 0;
	memcpy(name, from->name, sizeof name);
	return add_name(maps, pid, tid, name, strlen(name));
}

static int add_comm(struct hf_perf_maps *maps, struct hf_perf_attrs *attrs, const struct hf_perf_record *record)
{
	const uint32_t trailer = hf_perf_trailer_size(attrs, record);
	struct hf_perf_event event = {.time = hf_perf_trailer_of(attrs, record).time, .kind = HF_PERF_EVENT_EXEC};
	size_t n;
	int err;

	if (record->size < COMM_AT + trailer)
		return 0;
	event.pid = hf_get32(record->bytes + 8);
	event.tid = hf_get32(record->bytes + 12);
	n = strnlen((const char *)record->bytes + COMM_AT, record->size - trailer - COMM_AT);
	err = add_name(maps, event.pid, event.tid, (const char *)record->bytes + COMM_AT, n);
	if (!err && record->misc & HF_PERF_MISC_EXEC)
		err = add_event(maps, &event);
	return err ? err : add_thread(maps, event.time, event.pid, event.tid);
}

static int add_fork(struct hf_perf_maps *maps, const struct hf_perf_record *record)
{
	struct hf_perf_event event = {.kind = HF_PERF_EVENT_FORK};
	int err;

	if (record->size < FORK_SIZE)
		return 0;
	event.pid = hf_get32(record->bytes + 8);
	event.object = hf_get32(record->bytes + 12);
	event.tid = hf_get32(record->bytes + 16);
	event.time = hf_get64(record->bytes + 24);
	err = take_name(maps, event.pid, event.tid, hf_get32(record->bytes + 20));
	if (!err && event.pid != event.object)
		err = add_event(maps, &event);
	return err ? err : add_thread(maps, event.time, event.pid, event.tid);
}

int hf_perf_maps_add(struct hf_perf_maps *maps, struct hf_perf_attrs *attrs, const struct hf_perf_record *record)
{
	switch (record->type) {
	case HF_PERF_MMAP:
	case HF_PERF_MMAP2: return add_map(maps, attrs, record);
	case HF_PERF_COMM: return add_comm(maps, attrs, record);
	case HF_PERF_FORK: return add_fork(maps, record);
	case HF_PERF_KSYMBOL: return add_symbol(maps, attrs, record);
	case HF_PERF_ITRACE_START:
	case HF_PERF_SWITCH_CPU_WIDE: /* of the other thread */
		return record->size < 16 ? 0 : add_thread(maps, hf_perf_trailer_of(attrs, record).time,
							   hf_get32(record->bytes + 8), hf_get32(record->bytes + 12));
	default: return 0;
	}
}

void hf_perf_maps_free(struct hf_perf_maps *maps)
{
	for (size_t i = 0; i < maps->by_name.count; i++)
		free(maps->object[i].name);
	for (size_t i = 0; i < maps->kernel_count; i++)
		free(maps->kernel[i].name);
	free(maps->object);
	free(maps->kernel);
	free(maps->event);
	free(maps->thread);
	free(maps->comm);
	hf_hash_map_free(&maps->by_name);
	hf_hash_map_free(&maps->by_comm);
	hf_hash_map_free(&maps->by_tid);
	*maps = (struct hf_perf_maps){.object = NULL};
}

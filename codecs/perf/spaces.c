/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Address spaces over time. There is no record of an unmapping: a mapping ends where another one covers it, or at exec. So
 * a program holds all that was mapped up to the first mapping that covers code of it; what was mapped later where
 * nothing was before is in it from its beginning, when nothing can have run there.
 */
#include "codecs/base/array.h"
#include "codecs/base/search.h"
#include "codecs/perf/maps.h"

#include <stdlib.h>
#include <string.h>

#define PIECES_MAX ((size_t)8 * HF_PERF_SPACES_MAX)
enum { EM_AARCH64 = 183, MAPS_MAX = 4096 }; /* of code, in one process */

/* Code that is mapped now: of a file, from offset on. */
struct map {
	uint64_t address, size, offset;
	uint32_t object;
};

/* A process as it is now, and since when its program is the one that it is. */
struct process {
	uint32_t pid;
	uint64_t from;
	struct map *map; /* by address, apart */
	size_t count;
	uint32_t last; /* number of its program before this one, plus 1 */
	bool dirty;    /* its maps are in no program yet */
};

struct spaces {
	struct hf_perf_maps *maps;
	struct hf_processes *ret;
	struct process *process;
	struct hf_hash_map by_pid;
	size_t pieces;
	uint32_t *before; /* of each program the one before it in its process, plus 1 */
};

static int find_process(struct spaces *s, uint32_t pid, uint64_t time, struct process **ret)
{
	const uint32_t hash = hf_hash_of(pid, 0);
	int err;

	HF_HASH_EACH(&s->by_pid, hash, i)
		if (s->process[i].pid == pid) {
			*ret = &s->process[i];
			return 0;
		}
	err = hf_hash_map_add_row(&s->by_pid, hash, &s->process, sizeof *s->process);
	if (err)
		return err;
	*ret = &s->process[s->by_pid.count - 1];
	**ret = (struct process){.pid = pid, .from = time};
	return 0;
}

/* The bytes of a map that its file has. */
static bool make_piece(const struct spaces *s, const struct map *map, struct hf_program_piece *ret)
{
	const struct hf_perf_object *object = &s->maps->object[map->object];
	const uint64_t at = map->offset - object->first;
	uint64_t size;

	if (!object->bytes || map->offset < object->first || at >= object->size)
		return false;
	size = object->size - at < map->size ? object->size - at : map->size;
	*ret = (struct hf_program_piece){.address = map->address, .size = size, .flags = 5, .bytes = object->bytes + at};
	return true;
}

/* The maps of the process become a program, which held from its time on. */
static int close_program(struct spaces *s, struct process *process)
{
	struct hf_processes *ret = s->ret;
	const struct hf_space_span span = {process->from, process->pid, (uint32_t)ret->program_count};
	struct hf_program_piece *piece;
	size_t n = 0;
	int err;

	if (!process->dirty)
		return 0;
	process->dirty = false;
	if (ret->program_count == HF_PERF_SPACES_MAX || s->pieces + process->count > PIECES_MAX) {
		s->maps->cut = true;
		return 0;
	}
	err = hf_array_room(&ret->space, ret->space_count, sizeof span);
	if (!err)
		err = hf_array_room(&ret->program, ret->program_count, sizeof *ret->program);
	if (!err)
		err = hf_array_room(&s->before, ret->program_count, sizeof *s->before);
	piece = err ? NULL : calloc(process->count + 1, sizeof *piece);
	if (!piece)
		return HF_ERR_NOMEM;
	for (size_t i = 0; i < process->count; i++)
		n += make_piece(s, &process->map[i], &piece[n]);
	s->pieces += process->count;
	hf_program_init(&ret->program[ret->program_count]);
	hf_program_set(&ret->program[ret->program_count], piece, n, EM_AARCH64);
	s->before[ret->program_count] = process->last;
	process->last = (uint32_t)++ret->program_count;
	ret->space[ret->space_count++] = span;
	return 0;
}

/* ---- what changes it ---- */

/* The first map that ends behind address, or NULL. */
static const struct map *first_behind(const struct process *process, uint64_t address)
{
	size_t n = HF_COUNT_UP_TO(process->map, process->count, address, address);

	if (n && address - process->map[n - 1].address < process->map[n - 1].size)
		n--;
	return n < process->count ? &process->map[n] : NULL;
}

static bool is_there(const struct process *process, const struct map *map)
{
	const struct map *old = first_behind(process, map->address);

	return old && old->address == map->address && old->size == map->size && old->offset == map->offset &&
	       old->object == map->object;
}

static bool overlaps(const struct process *process, const struct map *map)
{
	const struct map *old = first_behind(process, map->address);

	return old && old->address < map->address + map->size;
}

/* Takes map's addresses out of the others, into kept[2 * count]. */
static size_t cut(const struct process *process, const struct map *map, struct map *kept)
{
	const uint64_t end = map->address + map->size;
	size_t n = 0;

	for (size_t i = 0; i < process->count; i++) {
		const struct map *old = &process->map[i];
		const uint64_t old_end = old->address + old->size;

		if (old_end <= map->address || old->address >= end) {
			kept[n++] = *old;
			continue;
		}
		if (old->address < map->address) {
			kept[n] = *old;
			kept[n++].size = map->address - old->address;
		}
		if (old_end > end) {
			kept[n] = *old;
			kept[n].address = end;
			kept[n].offset = old->offset + (end - old->address);
			kept[n++].size = old_end - end;
		}
	}
	return n;
}

static int by_address(const void *a, const void *b)
{
	const struct map *left = a, *right = b;

	return left->address < right->address ? -1 : left->address > right->address;
}

/* A mapping, of code or (code false) of anything else, at that time. */
static int take_map(struct spaces *s, struct process *process, const struct map *map, bool code, uint64_t time)
{
	struct map *kept;
	size_t n;
	int err = 0;

	if (code && is_there(process, map))
		return 0;
	if (overlaps(process, map)) {
		err = close_program(s, process);
		process->from = time;
	} else if (!code) {
		return 0;
	}
	if (process->count >= MAPS_MAX) {
		s->maps->cut = true;
		return err;
	}
	kept = err ? NULL : malloc((2 * process->count + 1) * sizeof *kept);
	if (!kept)
		return err ? err : HF_ERR_NOMEM;
	n = cut(process, map, kept);
	if (code)
		kept[n++] = *map;
	qsort(kept, n, sizeof *kept, by_address);
	free(process->map);
	process->map = kept;
	process->count = n;
	process->dirty = true;
	return 0;
}

static int take_exec(struct spaces *s, struct process *process, uint64_t time)
{
	int err = close_program(s, process);

	free(process->map);
	process->map = NULL;
	process->count = 0;
	process->from = time;
	return err;
}

/* The child has what its parent has, and nothing of an earlier process with its number. */
static int take_fork(struct spaces *s, const struct hf_perf_event *event)
{
	struct process *child, *parent;
	uint32_t parent_at;
	int err = find_process(s, event->object, event->time, &parent);

	if (err)
		return err;
	parent_at = (uint32_t)(parent - s->process);
	err = find_process(s, event->pid, event->time, &child);
	if (!err)
		err = take_exec(s, child, event->time);
	if (err)
		return err;
	child->last = 0;
	parent = &s->process[parent_at];
	if (!parent->count || parent == child)
		return 0;
	child->map = malloc(parent->count * sizeof *child->map);
	if (!child->map)
		return HF_ERR_NOMEM;
	memcpy(child->map, parent->map, parent->count * sizeof *child->map);
	child->count = parent->count;
	child->dirty = true;
	return 0;
}

static int take_event(struct spaces *s, const struct hf_perf_event *event)
{
	const struct map map = {event->address, event->size, event->offset, event->object};
	struct process *process;
	int err;

	if (event->kind == HF_PERF_EVENT_THREAD)
		return 0;
	if (event->kind == HF_PERF_EVENT_FORK)
		return take_fork(s, event);
	err = find_process(s, event->pid, event->time, &process);
	if (err)
		return err;
	return event->kind == HF_PERF_EVENT_EXEC
		       ? take_exec(s, process, event->time)
		       : take_map(s, process, &map, event->kind == HF_PERF_EVENT_MAP, event->time);
}

/* ---- all of it ---- */

static int by_time(const void *a, const void *b)
{
	const struct hf_perf_event *left = a, *right = b;

	if (left->time != right->time)
		return left->time < right->time ? -1 : 1;
	return left->number < right->number ? -1 : left->number > right->number;
}

static int by_tid(const void *a, const void *b)
{
	const struct hf_thread_span *left = a, *right = b;

	if (left->tid != right->tid)
		return left->tid < right->tid ? -1 : 1;
	return left->from < right->from ? -1 : left->from > right->from;
}

static int by_pid(const void *a, const void *b)
{
	const struct hf_space_span *left = a, *right = b;

	if (left->pid != right->pid)
		return left->pid < right->pid ? -1 : 1;
	if (left->from != right->from)
		return left->from < right->from ? -1 : 1;
	return left->program < right->program ? -1 : left->program > right->program;
}

/* Every thread with its process, once while that stays the same. */
static int make_threads(const struct hf_perf_maps *maps, struct hf_processes *ret)
{
	size_t n = 0;

	ret->thread = malloc((maps->event_count + 1) * sizeof *ret->thread);
	if (!ret->thread)
		return HF_ERR_NOMEM;
	for (size_t i = 0; i < maps->event_count; i++)
		if (maps->event[i].kind == HF_PERF_EVENT_THREAD)
			ret->thread[n++] = (struct hf_thread_span){maps->event[i].time, maps->event[i].tid, maps->event[i].pid};
	qsort(ret->thread, n, sizeof *ret->thread, by_tid);
	for (size_t i = 0; i < n; i++) {
		const struct hf_thread_span *last = ret->thread_count ? &ret->thread[ret->thread_count - 1] : NULL;

		if (!last || last->tid != ret->thread[i].tid || last->pid != ret->thread[i].pid)
			ret->thread[ret->thread_count++] = ret->thread[i];
	}
	return 0;
}

static int by_name_tid(const void *a, const void *b)
{
	const struct hf_thread_name *left = a, *right = b;

	return left->tid < right->tid ? -1 : left->tid > right->tid;
}

static int make_names(const struct hf_perf_maps *maps, struct hf_processes *ret)
{
	const size_t n = maps->by_comm.count;

	ret->name = malloc((n + 1) * sizeof *ret->name);
	if (!ret->name)
		return HF_ERR_NOMEM;
	if (n) {
		memcpy(ret->name, maps->comm, n * sizeof *ret->name);
		qsort(ret->name, n, sizeof *ret->name, by_name_tid);
	}
	ret->name_count = n;
	return 0;
}

/* What a program lacks may be in the one before it, if that ended while it was recorded, and in the kernel. */
static int link_programs(const struct spaces *s)
{
	struct hf_processes *ret = s->ret;
	const struct hf_program **below = calloc(2 * ret->program_count + 1, sizeof(struct hf_program *));

	if (!below)
		return HF_ERR_NOMEM;
	ret->below = below;
	for (size_t i = 0; i < ret->program_count; i++) {
		struct hf_program *program = &ret->program[i];

		program->below = below;
		if (s->before[i])
			*below++ = &ret->program[s->before[i] - 1];
		*below++ = &ret->kernel;
		program->below_count = (size_t)(below - program->below);
	}
	return 0;
}

int hf_perf_maps_make(struct hf_perf_maps *maps, struct hf_processes *ret)
{
	struct spaces s = {.maps = maps, .ret = ret};
	int err = 0;

	for (size_t i = 0; i < maps->event_count; i++)
		maps->event[i].number = (uint32_t)i;
	if (maps->event_count)
		qsort(maps->event, maps->event_count, sizeof *maps->event, by_time);
	err = make_threads(maps, ret);
	if (!err)
		err = make_names(maps, ret);
	for (size_t i = 0; i < maps->event_count && !err; i++)
		err = take_event(&s, &maps->event[i]);
	for (uint32_t i = 0; i < s.by_pid.count && !err; i++)
		err = close_program(&s, &s.process[i]);
	if (ret->space_count)
		qsort(ret->space, ret->space_count, sizeof *ret->space, by_pid);
	if (!err)
		err = link_programs(&s);
	for (uint32_t i = 0; i < s.by_pid.count; i++)
		free(s.process[i].map);
	free(s.process);
	free(s.before);
	hf_hash_map_free(&s.by_pid);
	return err;
}

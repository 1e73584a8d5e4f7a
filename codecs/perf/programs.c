/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/perf/programs.h"

#include "codecs/base/array.h"
#include "codecs/base/bytes.h"
#include "codecs/image/elf_read.h"
#include "codecs/image/errors.h"
#include "codecs/perf/kernel.h"
#include "codecs/perf/proof.h"
#include "codecs/setup/maps.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	NOTE_MAX = 4096,
	NOTE_HEAD = 16, /* sizes, type, "GNU" */
	PLACES_MAX = 1024, /* rows of names, and of code that is missing */
	PATH_SIZE = 4096 + 128,
	KERNEL_SPANS = 64, /* of its copy, that get names */
};

/* A file that may be one that was mapped. */
struct candidate {
	const char *name; /* of the setup's row */
	struct hf_perf_build_id id;
};

/* Where the file that was mapped comes from. */
struct source {
	const struct candidate *candidate; /* or, in the directory of debug files: */
	char *path;
	bool by_name;	 /* nothing but its name says that it is the file */
	const char *why; /* it is not taken; static */
	uint32_t missing; /* number of its row of what is missing */
};

/* Where a file that was found lies in memory: for names. */
struct place {
	uint64_t start, end, bias;
	const char *name;
};

struct search {
	const struct hf_perf_ask *ask;
	struct hf_setup *setup;
	const struct hf_setup_opener *opener;
	struct hf_perf_maps *maps;
	struct hf_processes *ret;
	struct candidate *candidate;
	size_t candidate_count;
	struct source *source; /* of each object */
	struct place *place;
	size_t place_count;
	unsigned hidden, unnamed;
	const char *name; /* of the capture's file */
	char beside[300]; /* the directory that files are looked for in, for people */
};

/* With a limit of no bytes, any section that is there is over the limit. */
static bool has_section(const struct hf_elf_file *elf, const char *name)
{
	uint8_t *bytes;
	size_t n;

	return hf_elf_file_named(elf, name, 0, &bytes, &n, NULL) == HF_ERR_ELF_LIMIT;
}

/* The build id of a file with code. A file of debug information alone has the same as its program. */
static int read_id(struct hf_src *src, struct hf_perf_build_id *ret_id)
{
	struct hf_elf_file elf;
	uint8_t *note = NULL;
	size_t n = 0;
	int err = hf_elf_file_open_sections(src, &elf, NULL);

	*ret_id = (struct hf_perf_build_id){.size = 0};
	if (err)
		return hf_err_is_passing(err) ? err : 0;
	err = hf_elf_file_named(&elf, ".note.gnu.build-id", NOTE_MAX, &note, &n, NULL);
	if (!err && n > NOTE_HEAD && (has_section(&elf, ".text") || !has_section(&elf, ".debug_info")) &&
	    hf_get32(note) == 4 && memcmp(note + 12, "GNU", 4) == 0)
		*ret_id = hf_perf_build_id_of(note + NOTE_HEAD, n - NOTE_HEAD, true);
	free(err ? NULL : note);
	hf_elf_file_close(&elf);
	return err && hf_err_is_passing(err) ? err : 0;
}

/* Every file beside the capture, with its id: those that are no ELF have none. */
static int look_at_candidates(struct search *s)
{
	const struct hf_setup *setup = s->setup;
	int err = 0;

	s->candidate = calloc(setup->file_count + 1, sizeof *s->candidate);
	if (!s->candidate)
		return HF_ERR_NOMEM;
	for (size_t i = 0; i < setup->file_count && !err; i++) {
		struct candidate *candidate = &s->candidate[s->candidate_count];
		struct hf_src *src = NULL;

		if (setup->files[i].kind != HF_SETUP_CANDIDATE)
			continue;
		err = s->opener->open(s->opener->ctx, setup->files[i].name, &src, NULL);
		if (!err) {
			candidate->name = setup->files[i].name;
			err = read_id(src, &candidate->id);
			s->candidate_count++;
		} else if (err == HF_ERR_NOT_FOUND || hf_err_class(err) == HF_CLASS_io) {
			err = 0;
		}
		hf_src_free(src);
	}
	return err;
}

static const char *base_of(const char *name)
{
	const char *slash = strrchr(name, '/');

	return slash ? slash + 1 : name;
}

/* The candidate with that id, or (known false) the only one with the name of the file. */
static const struct candidate *choose(const struct search *s, const char *name, const struct hf_perf_build_id *id, bool known)
{
	const struct candidate *only = NULL;

	for (size_t i = 0; i < s->candidate_count; i++) {
		const struct candidate *candidate = &s->candidate[i];

		if (known && hf_perf_build_id_same(&candidate->id, id))
			return candidate;
		if (known || strcmp(base_of(candidate->name), base_of(name)) != 0)
			continue;
		if (only)
			return NULL;
		only = candidate;
	}
	return only;
}

/* Where the directory of debug files, or perf's cache of files, may have it: the i-th place. False: there are no more. */
static bool debug_path(const char *name, const struct hf_perf_build_id *id, unsigned i, char *buf)
{
	char text[2 * HF_PERF_BUILD_ID_MAX + 1];
	const char *rest = hf_perf_build_id_text(id, text) + 2;

	while (*name == '/')
		name++;
	switch (i) {
	case 0: snprintf(buf, PATH_SIZE, "%s/%s/elf", name, text); return true;
	case 1: snprintf(buf, PATH_SIZE, ".build-id/%.2s/%s/elf", text, rest); return true;
	case 2: snprintf(buf, PATH_SIZE, "%s/%s/vdso", name, text); return true;
	case 3: snprintf(buf, PATH_SIZE, ".build-id/%.2s/%s/vdso", text, rest); return true;
	case 4: snprintf(buf, PATH_SIZE, ".build-id/%.2s/%s.debug", text, rest); return true;
	case 5: snprintf(buf, PATH_SIZE, ".build-id/%.2s/%s", text, rest); return true;
	case 6: snprintf(buf, PATH_SIZE, "%s", name); return true;
	default: return false;
	}
}

/* *ret_src is NULL if it is not there. path[PATH_SIZE] */
static int find_debug(const struct search *s, const char *name, const struct hf_perf_build_id *id, char *path,
		      struct hf_src **ret_src)
{
	struct hf_perf_build_id own;

	*ret_src = NULL;
	for (unsigned i = 0; s->opener->open_debug && id->size > 1 && debug_path(name, id, i, path); i++) {
		int err = strstr(path, "..") ? HF_ERR_NOT_FOUND : s->opener->open_debug(s->opener->ctx, path, ret_src);

		if (!err)
			err = read_id(*ret_src, &own);
		if (!err && hf_perf_build_id_same(&own, id))
			return 0;
		hf_src_free(*ret_src);
		*ret_src = NULL;
		if (hf_err_is_shortage(err))
			return err;
	}
	return 0;
}

/* The part of the file that was mapped, into a block. */
static int take_bytes(struct search *s, struct hf_perf_object *object, struct hf_src *src)
{
	const uint64_t end = object->end < src->size ? object->end : src->size;
	uint8_t *bytes;
	size_t n;
	int err;

	if (object->first >= end || end - object->first > HF_SETUP_PROGRAM_MAX - s->ret->bytes)
		return object->first >= end ? 0 : HF_ERR_LIMIT;
	err = hf_array_room(&s->ret->block, s->ret->block_count, sizeof *s->ret->block);
	if (err)
		return err;
	bytes = malloc((size_t)(end - object->first));
	if (!bytes)
		return HF_ERR_NOMEM;
	s->ret->block[s->ret->block_count++] = bytes;
	err = hf_src_read_all(src, object->first, bytes, (size_t)(end - object->first), &n, NULL);
	if (err)
		return err;
	s->ret->bytes += n;
	object->bytes = bytes;
	object->size = n;
	return 0;
}

/* ---- names ---- */

/* Names are those of addresses: where two processes have different files, the first has them. */
static int add_place(struct search *s, const struct place *place, bool in_debug_dir)
{
	struct hf_setup_file row = {.kind = HF_SETUP_ELF,
				    .name = place->name,
				    .said_in = s->name,
				    .optional = true,
				    .hart = HF_SETUP_ANY,
				    .spaces = HF_MEMORY_ANY,
				    .context = HF_SETUP_NO_CONTEXT,
				    .has_bias = true,
				    .address = place->bias,
				    .in_debug_dir = in_debug_dir};
	int err;

	for (size_t i = 0; i < s->place_count; i++) {
		const struct place *other = &s->place[i];

		if (place->start >= other->end || other->start >= place->end)
			continue;
		s->hidden += other->bias != place->bias || strcmp(other->name, place->name) != 0;
		return 0;
	}
	if (s->place_count == PLACES_MAX) {
		s->unnamed++;
		return 0;
	}
	err = hf_array_room(&s->place, s->place_count, sizeof *place);
	if (!err)
		err = hf_setup_add_file(s->setup, &row);
	if (err)
		return err;
	s->place[s->place_count] = *place;
	s->place[s->place_count++].name = s->setup->files[s->setup->file_count - 1].name;
	return 0;
}

/* Every place where the file of that number was mapped. */
static int add_places(struct search *s, uint32_t number, struct hf_src *src, const char *name, bool in_debug_dir)
{
	struct hf_elf_file elf;
	int err = hf_elf_file_open(src, &elf, NULL);

	if (err)
		return hf_err_is_passing(err) ? err : 0;
	for (size_t i = 0; i < s->maps->event_count && !err; i++) {
		const struct hf_perf_event *event = &s->maps->event[i];
		struct place place = {event->address, event->address + event->size, 0, name};
		uint64_t address;

		if (event->kind != HF_PERF_EVENT_MAP || event->object != number || !hf_elf_file_address_of(&elf, event->offset, &address))
			continue;
		place.bias = event->address - address;
		err = add_place(s, &place, in_debug_dir);
	}
	hf_elf_file_close(&elf);
	return err;
}

/* ---- each file ---- */

/* The build id of the file that was mapped, of size 0 if none was recorded. */
static struct hf_perf_build_id id_of(const struct search *s, uint32_t number)
{
	const struct hf_perf_object *object = &s->maps->object[number];

	return object->id.size ? object->id : hf_perf_features_id(s->ask->features, object->name);
}

static int open_source(const struct search *s, const struct source *source, struct hf_src **ret_src)
{
	return source->candidate ? s->opener->open(s->opener->ctx, source->candidate->name, ret_src, NULL)
				 : s->opener->open_debug(s->opener->ctx, source->path, ret_src);
}

/* Finds the file, and takes its bytes. */
static int find_object(struct search *s, uint32_t number)
{
	struct hf_perf_object *object = &s->maps->object[number];
	const struct hf_perf_build_id id = id_of(s, number);
	struct source *source = &s->source[number];
	char path[PATH_SIZE];
	struct hf_src *src = NULL;
	int err = 0;

	source->candidate = choose(s, object->name, &id, id.size);
	source->by_name = source->candidate && !id.size;
	if (source->candidate) {
		err = open_source(s, source, &src);
	} else {
		err = find_debug(s, object->name, &id, path, &src);
		source->path = !err && src ? strdup(path) : NULL;
		if (!err && src && !source->path)
			err = HF_ERR_NOMEM;
	}
	if (!err && src)
		err = take_bytes(s, object, src);
	hf_src_free(src);
	if (err == HF_ERR_LIMIT) {
		source->why = "programs have more than 512 MiB";
		err = 0;
	}
	return err;
}

/* ---- files that are taken by their names ---- */

/* Drops those through which the trace does not go. *ret_dropped: there are any. */
static int prove(struct search *s, bool *ret_dropped)
{
	const size_t count = hf_perf_maps_objects(s->maps);
	struct hf_perf_proof *proof = calloc(count + 1, sizeof *proof);
	bool any = false;
	int err = proof ? 0 : HF_ERR_NOMEM;

	for (size_t i = 0; i < count && !err; i++)
		any |= proof[i].wanted = s->source[i].by_name && s->maps->object[i].bytes;
	if (any)
		err = hf_perf_prove(hf_setup_codec(s->opener, s->setup->format), s->setup, s->ask->stream, s->maps, proof);
	for (size_t i = 0; i < count && !err && any; i++) {
		struct source *source = &s->source[i];

		if (!proof[i].wanted || hf_perf_is_proven(&proof[i]))
			continue;
		s->maps->object[i].bytes = NULL;
		source->why = hf_perf_is_refuted(&proof[i]) ? "the trace does not go through it: it is another build"
			      : proof[i].shared ? "other files lay at its addresses, too"
						: "too little of it ran to prove that it is the file";
		*ret_dropped = true;
	}
	free(proof);
	return err;
}

static int make_programs(struct search *s)
{
	bool dropped = false;
	int err = hf_perf_maps_make(s->maps, s->ret);

	if (!err)
		err = prove(s, &dropped);
	if (err || !dropped)
		return err;
	hf_processes_clear(s->ret);
	return hf_perf_maps_make(s->maps, s->ret);
}

/* ---- the kernel ---- */

static struct hf_perf_build_id kernel_id(const struct search *s, const struct hf_perf_kernel_code *map)
{
	return map && map->id.size ? map->id : hf_perf_features_id(s->ask->features, HF_PERF_KERNEL_NAME);
}

/* The kernel's own file, where there is no copy of its code. What its build id does not prove is not taken. */
static int find_kernel(struct search *s)
{
	const struct hf_perf_kernel_code *map = hf_perf_kernel_map(s->maps);
	const struct hf_perf_build_id id = kernel_id(s, map);
	struct source source = {.candidate = map && id.size ? choose(s, map->name, &id, true) : NULL};
	char path[PATH_SIZE];
	struct hf_src *src = NULL;
	struct place place;
	int err = 0;

	if (s->ret->kernel.count || !map || !id.size)
		return 0;
	if (source.candidate)
		err = open_source(s, &source, &src);
	else
		err = find_debug(s, HF_PERF_KERNEL_NAME, &id, path, &src);
	if (err || !src)
		return err;
	err = hf_perf_kernel_add_file(src, map, s->ret, &place.bias);
	hf_src_free(src);
	if (err)
		return err == HF_NOTE_END ? 0 : err;
	s->ret->kernel_is_file = true;
	place.start = map->address;
	place.end = map->address + map->size;
	place.name = source.candidate ? source.candidate->name : path;
	return add_place(s, &place, !source.candidate);
}

/* Names of the copy of the kernel, and of its modules: those that it told itself. */
static int name_kernel(struct search *s)
{
	const struct hf_program *kernel = &s->ret->kernel;
	struct hf_setup_file row = {.kind = HF_SETUP_KALLSYMS, .said_in = s->name, .optional = true, .hart = HF_SETUP_ANY,
				    .spaces = HF_MEMORY_ANY, .context = HF_SETUP_NO_CONTEXT};
	unsigned spans = 0;
	int err = 0;

	for (size_t i = 0; i < s->candidate_count && !row.name; i++)
		row.name = strcmp(s->candidate[i].name, HF_PERF_KALLSYMS) == 0 ? HF_PERF_KALLSYMS : NULL;
	for (size_t i = 0; i < kernel->count && row.name && !s->ret->kernel_is_file && !err; i++) {
		const struct hf_program_piece *piece = &kernel->pieces[i];

		row.address = row.size ? row.address : piece->address;
		row.size += piece->size;
		if (i + 1 < kernel->count && piece[1].address == row.address + row.size)
			continue;
		if (spans++ == KERNEL_SPANS)
			return hf_setup_warn(s->setup, s->name, 0,
					     "the kernel's copy has more than %d pieces: code from %" PRIx64 " on has no names",
					     KERNEL_SPANS, row.address);
		err = hf_setup_add_file(s->setup, &row);
		row.size = 0;
	}
	return err;
}

/* ---- what is missing ---- */

static int add_missing_object(struct search *s, uint32_t number)
{
	const struct hf_perf_object *object = &s->maps->object[number];
	const struct hf_perf_build_id id = id_of(s, number);
	const struct source *source = &s->source[number];
	char text[2 * HF_PERF_BUILD_ID_MAX + 1];

	if (!hf_maps_is_file(object->name))
		return hf_processes_add_missing(s->ret, object->name,
						"it is no file, and a perf.data has no copy of code that a program makes");
	if (source->why && source->by_name)
		return hf_processes_add_missing(s->ret, object->name, "no build id was recorded, '%s' has its name, and %s",
						source->candidate->name, source->why);
	if (source->why)
		return hf_processes_add_missing(s->ret, object->name, "%s", source->why);
	if (id.size)
		return hf_processes_add_missing(s->ret, object->name, "no file has its build id %s: copy it into %s",
						hf_perf_build_id_text(&id, text), s->beside);
	return hf_processes_add_missing(s->ret, object->name,
					"no build id was recorded, and not one file has its name: copy it into %s", s->beside);
}

static int list_missing(struct search *s)
{
	const struct hf_perf_build_id id = kernel_id(s, hf_perf_kernel_map(s->maps));
	int err = 0;

	for (uint32_t i = 0; i < hf_perf_maps_objects(s->maps) && !err; i++) {
		s->source[i].missing = (uint32_t)s->ret->missing_count;
		if (!s->maps->object[i].bytes)
			err = add_missing_object(s, i);
	}
	for (size_t i = 0; i < s->maps->event_count && !err; i++) {
		const struct hf_perf_event *event = &s->maps->event[i];

		if (event->kind == HF_PERF_EVENT_MAP && !s->maps->object[event->object].bytes)
			err = hf_processes_add_missing_code(s->ret, event->address, event->address + event->size,
							    s->source[event->object].missing);
	}
	if (!err)
		err = hf_perf_kernel_list_missing(s->maps, &id, s->beside, s->ret);
	hf_processes_sort_missing(s->ret);
	return err;
}

/* ---- all of it ---- */

/* Names of the files that are taken, and what is told of them. */
static int name_objects(struct search *s)
{
	int err = 0;

	for (uint32_t i = 0; i < hf_perf_maps_objects(s->maps) && !err; i++) {
		const struct hf_perf_object *object = &s->maps->object[i];
		const struct source *source = &s->source[i];
		struct hf_src *src = NULL;

		if (!object->bytes)
			continue;
		err = open_source(s, source, &src);
		if (!err)
			err = add_places(s, i, src, source->candidate ? source->candidate->name : source->path,
					 !source->candidate);
		if (!err && source->by_name)
			err = hf_setup_warn(s->setup, s->name, 0,
					    "'%.100s' is taken for '%.100s': no build id was recorded, and the trace goes "
					    "through it", source->candidate->name, object->name);
		hf_src_free(src);
	}
	if (!err && s->hidden)
		err = hf_setup_warn(s->setup, s->name, 0,
				    "%u mappings lie where another process has another file: names there are those of the first",
				    s->hidden);
	if (!err && s->unnamed)
		err = hf_setup_warn(s->setup, s->name, 0, "%u mappings give no names: only the first %u do", s->unnamed,
				    PLACES_MAX);
	return err;
}

int hf_perf_programs_make(const struct hf_perf_ask *ask, struct hf_processes *ret)
{
	const size_t count = hf_perf_maps_objects(ask->maps);
	struct search s = {.ask = ask, .setup = ask->setup, .opener = ask->opener, .maps = ask->maps, .ret = ret,
			   .name = ask->setup->files[0].name, .source = calloc(count + 1, sizeof *s.source)};
	int err = s.source ? look_at_candidates(&s) : HF_ERR_NOMEM;

	/* A directory's file does not know what that is called. */
	if (strcmp(base_of(s.name), "data") == 0)
		snprintf(s.beside, sizeof s.beside, "DIRECTORY.d beside it");
	else
		snprintf(s.beside, sizeof s.beside, "%.200s.d", base_of(s.name));
	if (!err)
		err = find_kernel(&s);
	if (!err)
		err = name_kernel(&s);
	for (uint32_t i = 0; i < count && !err; i++)
		err = hf_maps_is_file(ask->maps->object[i].name) ? find_object(&s, i) : 0;
	if (!err)
		err = make_programs(&s);
	if (!err)
		err = name_objects(&s);
	if (!err)
		err = list_missing(&s);
	for (size_t i = 0; s.source && i < count; i++)
		free(s.source[i].path);
	free(s.source);
	free(s.candidate);
	free(s.place);
	return err;
}

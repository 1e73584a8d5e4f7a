/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/perf/programs.h"

#include "codecs/base/array.h"
#include "codecs/base/bytes.h"
#include "codecs/image/elf_read.h"
#include "codecs/setup/maps.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	NOTE_MAX = 4096,
	NOTE_HEAD = 16, /* sizes, type, "GNU" */
	TOLD_MAX = 16,	/* missing files that are named one by one */
	PLACES_MAX = 1024, /* rows of names */
	PATH_SIZE = 4096 + 128,
};

/* A file that may be one that was mapped. */
struct candidate {
	const char *name; /* of the setup's row */
	struct hf_perf_build_id id;
};

/* Where a file that was found lies in memory: for names. */
struct place {
	uint64_t start, end, bias;
	const char *name;
};

struct search {
	struct hf_setup *setup;
	const struct hf_setup_opener *opener;
	struct hf_perf_maps *maps;
	const struct hf_perf_features *features;
	struct hf_processes *ret;
	struct candidate *candidate;
	size_t candidate_count;
	struct place *place;
	size_t place_count;
	unsigned missing, hidden, unnamed;
	const char *name; /* of the capture's file */
};

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
	if (!err && n > NOTE_HEAD && hf_get32(note) == 4 && memcmp(note + 12, "GNU", 4) == 0)
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

static int tell_missing(struct search *s, const char *name, const struct hf_perf_build_id *id)
{
	char text[2 * HF_PERF_BUILD_ID_MAX + 1];

	if (s->missing++ >= TOLD_MAX)
		return 0;
	return hf_setup_warn(s->setup, s->name, 0, "'%.120s' is not there: no file has its build id %s", name,
			     id->size ? hf_perf_build_id_text(id, text) : "or, as none was recorded, its name");
}

static int find_object(struct search *s, uint32_t number)
{
	struct hf_perf_object *object = &s->maps->object[number];
	const struct hf_perf_build_id id = object->id.size ? object->id : hf_perf_features_id(s->features, object->name);
	const struct candidate *candidate;
	char path[PATH_SIZE];
	struct hf_src *src = NULL;
	int err = 0;

	if (!hf_maps_is_file(object->name))
		return 0;
	candidate = choose(s, object->name, &id, id.size);
	if (candidate)
		err = s->opener->open(s->opener->ctx, candidate->name, &src, NULL);
	else
		err = find_debug(s, object->name, &id, path, &src);
	if (err)
		return err;
	if (!src)
		return tell_missing(s, object->name, &id);
	err = take_bytes(s, object, src);
	if (err == HF_ERR_LIMIT)
		err = hf_setup_warn(s->setup, s->name, 0, "'%.120s' is left out: programs have more than 512 MiB", object->name);
	else if (!err)
		err = add_places(s, number, src, candidate ? candidate->name : path, !candidate);
	if (!err && candidate && !id.size)
		err = hf_setup_warn(s->setup, s->name, 0,
				    "'%.100s' is taken for '%.100s' by its name: no build id was recorded", candidate->name,
				    object->name);
	hf_src_free(src);
	return err;
}

int hf_perf_programs_find(struct hf_setup *setup, const struct hf_setup_opener *opener, struct hf_perf_maps *maps,
			  const struct hf_perf_features *features, struct hf_processes *ret)
{
	struct search s = {.setup = setup, .opener = opener, .maps = maps, .features = features, .ret = ret,
			   .name = setup->files[0].name};
	int err = look_at_candidates(&s);

	for (uint32_t i = 0; i < hf_perf_maps_objects(maps) && !err; i++)
		err = find_object(&s, i);
	if (!err && s.missing > TOLD_MAX)
		err = hf_setup_warn(setup, s.name, 0, "so are %u other files that were mapped as code", s.missing - TOLD_MAX);
	if (!err && s.hidden)
		err = hf_setup_warn(setup, s.name, 0,
				    "%u mappings lie where another process has another file: names there are those of the first",
				    s.hidden);
	if (!err && s.unnamed)
		err = hf_setup_warn(setup, s.name, 0, "%u mappings give no names: only the first %u do", s.unnamed, PLACES_MAX);
	free(s.candidate);
	free(s.place);
	return err;
}

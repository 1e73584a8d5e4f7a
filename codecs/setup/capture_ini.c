/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capture.ini: the project's own description of a capture (hartfs-capture(5)). Strict: what is not known is an error, with
 * its line, because a key that is passed over would decode to something else without a word.
 */
#include "codecs/base/errors.h"
#include "codecs/base/nearest.h"
#include "codecs/base/number.h"
#include "codecs/codec.h"
#include "codecs/setup/errors.h"
#include "codecs/setup/ini.h"
#include "codecs/setup/maps.h"
#include "codecs/setup/read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum section { NONE, CAPTURE, PROGRAM, PARAMETERS };

/* A section with its hart: each may stand there once. */
struct seen {
	enum section section;
	uint32_t hart;
};

enum { SECTIONS_MAX = 1024, FORMATS_MAX = 32 };

struct reader {
	struct hf_setup *setup;
	struct hf_setup_error *error;
	const struct hf_setup_opener *opener;
	const struct hf_codec *codec;
	const char *file;
	enum section section;
	uint32_t hart;
	uint32_t format_line;
	struct seen seen[SECTIONS_MAX];
	size_t seen_count;
	uint32_t vdso_line; /* 0: not said which file it is */
	char vdso[4096];
};

#define FAIL(r, code, line, ...) hf_setup_fail((r)->error, code, (r)->file, line, __VA_ARGS__)

/* ---- the format, which must be known before anything else can be checked ---- */

struct format {
	char name[32];
	uint32_t line;
	uint32_t section; /* line of [capture] */
};

static int find_format(void *ctx, const struct hf_ini_line *line)
{
	struct format *format = ctx;
	const size_t n = line->key ? strlen(line->value) : 0;

	if (!line->key && strcmp(line->section, "capture") == 0 && !format->section)
		format->section = line->number;
	if (!line->key || strcmp(line->section, "capture") != 0 || strcmp(line->key, "format") != 0)
		return 0;
	format->line = line->number;
	if (n < sizeof format->name)
		memcpy(format->name, line->value, n + 1);
	return HF_NOTE_END;
}

/* ---- sections ---- */

static int begin_section(struct reader *r, const struct hf_ini_line *line)
{
	static const char *const names[] = {
		[NONE] = "", [CAPTURE] = "capture", [PROGRAM] = "program", [PARAMETERS] = "parameters", NULL};
	char hint[HF_NEAREST_SIZE];
	const size_t n = strcspn(line->section, " \t");
	const char *rest = line->section + n + strspn(line->section + n, " \t"), *end;
	struct seen now = {.section = NONE, .hart = HF_SETUP_ANY};
	uint64_t number;

	for (size_t i = CAPTURE; i <= PARAMETERS; i++)
		if (strlen(names[i]) == n && memcmp(names[i], line->section, n) == 0)
			now.section = (enum section)i;
	if (now.section == NONE)
		return FAIL(r, HF_ERR_SETUP_KEY, line->number, "unknown section [%.40s]%s: there are [capture], [program], "
			    "[program N], [parameters] and [parameters N]", line->section,
			    hf_nearest_hint(line->section, n, names, hint));
	if (now.section == CAPTURE && *rest)
		return FAIL(r, HF_ERR_SETUP_KEY, line->number, "unknown section [%.40s]: [capture] has no number",
			    line->section);
	if (*rest) {
		if (!hf_number_parse(rest, &number, &end) || *end || number >= HF_SETUP_ANY)
			return FAIL(r, HF_ERR_SETUP_VALUE, line->number, "'%.40s' is no source id: a number is", rest);
		now.hart = (uint32_t)number;
	}
	for (size_t i = 0; i < r->seen_count; i++)
		if (r->seen[i].section == now.section && r->seen[i].hart == now.hart)
			return FAIL(r, HF_ERR_SETUP_KEY, line->number, "section [%s] stands here twice", line->section);
	if (r->seen_count == SECTIONS_MAX)
		return FAIL(r, HF_ERR_LIMIT, line->number, "too many sections: 1024 are allowed");
	r->seen[r->seen_count++] = now;
	r->section = now.section;
	r->hart = now.hart;
	return 0;
}

/* ---- values ---- */

/* What [capture] has of every format. */
static const char *const capture_keys[] = {"format", "trace", "framing", NULL};
static const char *const program_keys[] = {"elf", "raw", "map", "vdso", "symbols", NULL};

static bool is_one_of(const char *const *words, const char *key)
{
	for (size_t i = 0; words && words[i]; i++)
		if (strcmp(words[i], key) == 0)
			return true;
	return false;
}

static bool has_key(const struct hf_setup_key *keys, const char *key)
{
	for (size_t i = 0; keys && keys[i].key; i++)
		if (strcmp(keys[i].key, key) == 0)
			return true;
	return false;
}

/* No such key in [capture] or [parameters]: what may have been meant. */
static int unknown_key(struct reader *r, const struct hf_ini_line *line)
{
	const struct hf_setup_key *keys = r->codec->keys;
	const char *known[128] = {NULL};
	char hint[HF_NEAREST_SIZE];
	size_t n = 0;

	if (is_one_of(program_keys, line->key))
		return FAIL(r, HF_ERR_SETUP_KEY, line->number, "unknown key '%s': it belongs to [program]", line->key);
	if (is_one_of(capture_keys, line->key))
		return FAIL(r, HF_ERR_SETUP_KEY, line->number, "unknown key '%s': it belongs to [capture]", line->key);
	for (size_t i = 0; r->section == CAPTURE && capture_keys[i]; i++)
		known[n++] = capture_keys[i];
	for (size_t i = 0; keys && keys[i].key && n < 127; i++)
		known[n++] = keys[i].key;
	return FAIL(r, HF_ERR_SETUP_KEY, line->number, "unknown key '%.40s'%s: format %s has no such parameter", line->key,
		    hf_nearest_hint(line->key, strlen(line->key), known, hint), r->codec->name);
}

/* A row of the setup was added, or not. */
static int added(struct reader *r, int err, uint32_t line)
{
	return err ? hf_setup_no_room(r->error, err, r->file, line) : 0;
}

static int add_value(struct reader *r, const struct hf_ini_line *line)
{
	const struct hf_setup *setup = r->setup;

	for (size_t i = 0; i < setup->value_count; i++)
		if (setup->values[i].hart == r->hart && strcmp(setup->values[i].key, line->key) == 0)
			return FAIL(r, HF_ERR_SETUP_KEY, line->number, "'%s' stands in line %u already", line->key,
				    (unsigned)setup->values[i].line);
	return added(r, hf_setup_add_value(r->setup, r->hart, line->key, line->value, r->file, line->number),
		     line->number);
}

/* The name of a file at the start of a value, in quotes or up to a comma; *ret_rest is behind it. */
static int take_name(struct reader *r, const struct hf_ini_line *line, char *name, size_t size, const char **ret_rest)
{
	const char *value = line->value;
	const bool quoted = *value == '"';
	const size_t n = strcspn(value + quoted, quoted ? "\"" : ",");
	size_t used = n;

	if (quoted && value[1 + n] != '"')
		return FAIL(r, HF_ERR_SETUP_SYNTAX, line->number, "the quotes do not end");
	while (!quoted && used && (value[used - 1] == ' ' || value[used - 1] == '\t'))
		used--;
	if (!used || used >= size)
		return FAIL(r, HF_ERR_SETUP_VALUE, line->number, "'%s' needs the name of a file", line->key);
	memcpy(name, value + quoted, used);
	name[used] = '\0';
	if (*name == '/')
		return FAIL(r, HF_ERR_SETUP_VALUE, line->number, "'%s': names are relative to this file", name);
	*ret_rest = value + n + 2 * quoted;
	*ret_rest += strspn(*ret_rest, " \t");
	return 0;
}

static int take_trace(struct reader *r, const struct hf_ini_line *line)
{
	struct hf_setup_file file = {.kind = HF_SETUP_TRACE, .said_in = r->file, .line = line->number};
	char name[4096];
	const char *rest = "";
	int err = take_name(r, line, name, sizeof name, &rest);

	if (err)
		return err;
	if (*rest)
		return FAIL(r, HF_ERR_SETUP_VALUE, line->number, "one file a line; 'trace' may be repeated");
	file.name = name;
	file.size = HF_NOWHERE;
	file.part = r->setup->part_count;
	err = hf_setup_add_part(r->setup, HF_SETUP_ANY, name, "");
	return added(r, err ? err : hf_setup_add_file(r->setup, &file), line->number);
}

/* Where it lies is found out, and for which hart. */
static int take_symbols(struct reader *r, const struct hf_ini_line *line)
{
	struct hf_setup_file file = {.kind = HF_SETUP_SYMBOLS, .said_in = r->file, .line = line->number};
	char name[4096];
	const char *rest = "";
	int err = take_name(r, line, name, sizeof name, &rest);

	if (err)
		return err;
	if (*rest)
		return FAIL(r, HF_ERR_SETUP_VALUE, line->number, "one file a line; 'symbols' may be repeated");
	if (r->hart != HF_SETUP_ANY)
		return FAIL(r, HF_ERR_SETUP_KEY, line->number, "'symbols' belongs to [program], without a number");
	file.name = name;
	return added(r, hf_setup_add_file(r->setup, &file), line->number);
}

/* The code that the kernel gives to every process. */
static int take_vdso(struct reader *r, const struct hf_ini_line *line)
{
	const char *rest = "";
	int err;

	if (r->vdso_line)
		return FAIL(r, HF_ERR_SETUP_KEY, line->number, "'vdso' stands in line %u already", (unsigned)r->vdso_line);
	r->vdso_line = line->number;
	err = take_name(r, line, r->vdso, sizeof r->vdso, &rest);
	if (err)
		return err;
	return *rest ? FAIL(r, HF_ERR_SETUP_VALUE, line->number, "'vdso' is one file") : 0;
}

/* What a process had mapped, as its copy of /proc/PID/maps has it. */
static int read_map(struct reader *r, const struct hf_setup_file *file, const char *root)
{
	struct hf_setup_file own = {.kind = HF_SETUP_DESCRIPTION, .name = file->name, .said_in = r->file, .line = file->line};
	struct hf_src *src = NULL;
	char *text = NULL;
	size_t size;
	int err = hf_setup_add_file(r->setup, &own);

	if (err)
		return added(r, err, file->line);
	err = r->opener->open(r->opener->ctx, file->name, &src, NULL);
	if (err == HF_ERR_NOT_FOUND)
		return FAIL(r, HF_ERR_SETUP_FILE, file->line, "'%.120s' is no file within the archive", file->name);
	if (!err)
		err = hf_ini_load(src, &text, &size, NULL);
	hf_src_free(src);
	if (err)
		return FAIL(r, err, file->line, "'%.120s' cannot be read: %s", file->name,
			    hf_err_text(err, (char[HF_DIAG_SIZE]){0}));
	err = hf_maps_read(r->setup, file, root, text, size, r->error);
	free(text);
	return err;
}

/* Maps name the code of the kernel, and not where it is. */
static int find_vdso(struct reader *r)
{
	struct hf_setup *setup = r->setup;
	bool told = r->vdso_line;
	size_t n = 0;
	int err = 0;

	for (size_t i = 0; i < setup->file_count; i++) {
		struct hf_setup_file *file = &setup->files[i];
		const bool is_vdso = file->kind == HF_SETUP_MAPPED && strcmp(file->name, HF_MAPS_VDSO) == 0;
		char *name = is_vdso && r->vdso_line ? strdup(r->vdso) : NULL;

		if (is_vdso && r->vdso_line && !name)
			return FAIL(r, HF_ERR_NOMEM, 0, "out of memory");
		if (is_vdso && !told)
			err = hf_setup_warn(setup, file->said_in, file->line,
					    "[vdso] is left out: no 'vdso = FILE' of [program] has its bytes");
		told |= is_vdso;
		if (is_vdso)
			free((char *)file->name);
		if (is_vdso && !name) {
			free((char *)file->said_in);
			continue;
		}
		if (is_vdso)
			file->name = name;
		setup->files[n++] = *file;
	}
	setup->file_count = n;
	return added(r, err, 0);
}

/* One "key = number" behind the name of a program. */
static int take_attribute(struct reader *r, const struct hf_ini_line *line, struct hf_setup_file *file, char *item,
			  unsigned *had)
{
	static const char *const of_elf[] = {"bias", "context", NULL};
	static const char *const of_raw[] = {"address", "offset", "size", "context", NULL};
	static const char *const of_map[] = {"context", "root", NULL};
	static const struct {
		const char *key;
		unsigned kinds;
	} keys[] = {
		{"bias", 1u << HF_SETUP_ELF},
		{"address", 1u << HF_SETUP_RAW},
		{"offset", 1u << HF_SETUP_RAW},
		{"size", 1u << HF_SETUP_RAW},
		{"context", 1u << HF_SETUP_RAW | 1u << HF_SETUP_ELF | 1u << HF_SETUP_MAPPED},
	};
	const bool raw = file->kind == HF_SETUP_RAW, map = file->kind == HF_SETUP_MAPPED;
	char hint[HF_NEAREST_SIZE];
	uint64_t *const where[] = {&file->address, &file->address, &file->offset, &file->size, &file->context};
	const size_t n = strcspn(item, " \t=");
	const char *value = item + n + strspn(item + n, " \t"), *end;
	size_t i = 0;

	while (i < 5 && (strlen(keys[i].key) != n || memcmp(keys[i].key, item, n) != 0))
		i++;
	if (i == 5 || !(keys[i].kinds & 1u << file->kind))
		return FAIL(r, HF_ERR_SETUP_KEY, line->number, "'%s' of a program: unknown key '%.*s'%s: there are %s",
			    line->key, (int)n, item, hf_nearest_hint(item, n, raw ? of_raw : map ? of_map : of_elf, hint),
			    raw ? "address, offset, size and context" : map ? "context and root" : "bias and context");
	if (*had & 1u << i)
		return FAIL(r, HF_ERR_SETUP_KEY, line->number, "'%s' stands in this line twice", keys[i].key);
	*had |= 1u << i;
	if (*value == '=')
		value += 1 + strspn(value + 1, " \t");
	if (!hf_number_parse(value, where[i], &end) || end[strspn(end, " \t")])
		return FAIL(r, HF_ERR_SETUP_VALUE, line->number, "'%.60s': '%s' needs a number of up to 64 bits", item,
			    keys[i].key);
	file->has_bias |= i == 0;
	return 0;
}

/* "root = DIR": where the files of a map lie. False: it is another attribute. */
static bool take_root(const char *item, char *root, size_t size)
{
	size_t n;

	if (strncmp(item, "root", 4) != 0 || item[4 + strspn(item + 4, " \t")] != '=')
		return false;
	item = strchr(item, '=') + 1;
	item += strspn(item, " \t");
	n = strlen(item);
	while (n > 1 && (item[n - 1] == ' ' || item[n - 1] == '\t' || item[n - 1] == '/'))
		n--;
	if (n >= 2 && *item == '"' && item[n - 1] == '"') {
		item++;
		n -= 2;
	}
	snprintf(root, size, "%.*s", (int)n, item);
	return true;
}

static int take_program(struct reader *r, const struct hf_ini_line *line)
{
	struct hf_setup_file file = {.said_in = r->file,
				     .line = line->number,
				     .hart = r->hart,
				     .spaces = HF_MEMORY_ANY,
				     .context = HF_SETUP_NO_CONTEXT,
				     .size = HF_NOWHERE};
	char name[4096], item[256], root[256] = "";
	const char *rest = "";
	unsigned had = 0;
	int err;

	if (!is_one_of(program_keys, line->key))
		return FAIL(r, HF_ERR_SETUP_KEY, line->number,
			    "unknown key '%s': a program has 'elf', 'raw', 'map', 'vdso' and 'symbols'", line->key);
	if (*line->key == 's' || *line->key == 'v')
		return *line->key == 's' ? take_symbols(r, line) : take_vdso(r, line);
	file.kind = *line->key == 'e' ? HF_SETUP_ELF : *line->key == 'r' ? HF_SETUP_RAW : HF_SETUP_MAPPED;
	err = take_name(r, line, name, sizeof name, &rest);
	while (!err && *rest == ',') {
		size_t n;

		rest++;
		rest += strspn(rest, " \t");
		n = strcspn(rest, ",");
		if (n >= sizeof item)
			return FAIL(r, HF_ERR_SETUP_VALUE, line->number, "this line is too long");
		memcpy(item, rest, n);
		item[n] = '\0';
		rest += n;
		if (file.kind != HF_SETUP_MAPPED || !take_root(item, root, sizeof root))
			err = take_attribute(r, line, &file, item, &had);
	}
	if (!err && *rest)
		err = FAIL(r, HF_ERR_SETUP_SYNTAX, line->number, "a comma is missing after the name");
	if (!err && file.kind == HF_SETUP_RAW && !(had & 2))
		err = FAIL(r, HF_ERR_SETUP_VALUE, line->number, "'raw' needs an address: raw = %s, address = 0x...",
			   name);
	file.name = name;
	if (!err && *root == '/')
		err = FAIL(r, HF_ERR_SETUP_VALUE, line->number, "'%s': names are relative to this file", root);
	if (!err && file.kind == HF_SETUP_MAPPED)
		return read_map(r, &file, root);
	return err ? err : added(r, hf_setup_add_file(r->setup, &file), line->number);
}

static int take_line(void *ctx, const struct hf_ini_line *line)
{
	struct reader *r = ctx;

	if (!line->key)
		return begin_section(r, line);
	switch (r->section) {
	case NONE:
		return FAIL(r, HF_ERR_SETUP_KEY, line->number, "'%s' stands before the first section", line->key);
	case PROGRAM:
		return take_program(r, line);
	case CAPTURE:
		if (strcmp(line->key, "trace") == 0)
			return take_trace(r, line);
		if (strcmp(line->key, "format") == 0 || strcmp(line->key, "framing") == 0)
			return add_value(r, line);
		break;
	case PARAMETERS:
		break;
	}
	return has_key(r->codec->keys, line->key) ? add_value(r, line) : unknown_key(r, line);
}

static bool has_program(const struct hf_setup *setup)
{
	for (size_t i = 0; i < setup->file_count; i++)
		if (setup->files[i].kind == HF_SETUP_ELF || setup->files[i].kind == HF_SETUP_RAW ||
		    setup->files[i].kind == HF_SETUP_MAPPED)
			return true;
	return false;
}

/* What only the whole shows. */
static int finish(struct reader *r)
{
	struct hf_setup *setup = r->setup;
	const struct hf_setup_value *framing = hf_setup_get(setup, HF_SETUP_ANY, "framing");

	setup->format = strdup(r->codec->name);
	if (!setup->format || (r->codec->program_arch != HF_ARCH_NONE && !has_program(setup) &&
			       hf_setup_warn(setup, r->file, r->format_line, "no [program] with an 'elf' or 'raw': "
					     "packets are listed, but nothing can be decoded")))
		return FAIL(r, HF_ERR_NOMEM, 0, "out of memory");
	if (!setup->part_count)
		return FAIL(r, HF_ERR_SETUP_MISSING, r->format_line, "[capture] has no 'trace': the name of a file");
	for (size_t i = 0; framing && i < setup->part_count; i++) {
		free((char *)setup->parts[i].framing);
		setup->parts[i].framing = strdup(framing->value);
		if (!setup->parts[i].framing)
			return FAIL(r, HF_ERR_NOMEM, 0, "out of memory");
	}
	return 0;
}

static int unknown_format(struct reader *r, const struct format *format)
{
	const char *known[FORMATS_MAX + 1] = {NULL};
	char hint[HF_NEAREST_SIZE], list[100] = "";
	size_t n = 0, used = 0;

	for (size_t i = 0; r->opener->codecs[i] && n < FORMATS_MAX; i++) {
		const struct hf_codec *codec = r->opener->codecs[i];

		if (!codec->dec)
			continue;
		known[n++] = codec->name;
		if (used < sizeof list)
			used += (size_t)snprintf(list + used, sizeof list - used, " %s", codec->name);
	}
	return FAIL(r, HF_ERR_SETUP_VALUE, format->line, "unknown format '%s'%s: there are%s", format->name,
		    hf_nearest_hint(format->name, strlen(format->name), known, hint), list);
}

static int read_text(struct reader *r, char *text, size_t size)
{
	struct format format = {.line = 0};
	char *copy = malloc(size + 1);
	uint32_t line;
	int err;

	if (!copy)
		return FAIL(r, HF_ERR_NOMEM, 0, "out of memory");
	memcpy(copy, text, size);
	err = hf_ini_walk(copy, size, 0, find_format, &format, &line);
	free(copy);
	memcpy(r->error->format, format.name, sizeof format.name);
	if (err < 0)
		return FAIL(r, err, line, "this is no section and no 'key = value'");
	if (!format.line)
		return FAIL(r, HF_ERR_SETUP_MISSING, format.section, "[capture] has no 'format'");
	r->format_line = format.line;
	r->codec = hf_setup_codec(r->opener, format.name);
	if (!r->codec || !r->codec->dec)
		return unknown_format(r, &format);
	err = hf_ini_walk(text, size, 0, take_line, r, &line);
	if (err == HF_ERR_SETUP_SYNTAX && r->error->line == 0)
		return FAIL(r, err, line, "this is no section and no 'key = value'");
	if (!err)
		err = find_vdso(r);
	return err ? err : finish(r);
}

int hf_setup_read_capture(const struct hf_setup_opener *opener, const char *name, struct hf_setup **ret_setup,
			  struct hf_setup_error *error)
{
	struct hf_setup_file own = {.kind = HF_SETUP_DESCRIPTION, .name = name, .said_in = name};
	struct reader *r = calloc(1, sizeof *r);
	struct hf_setup *setup = calloc(1, sizeof *setup);
	char *text = NULL;
	size_t size;
	int err = r && setup ? hf_setup_add_file(setup, &own) : HF_ERR_NOMEM;

	*error = (struct hf_setup_error){.line = 0};
	*ret_setup = NULL;
	if (err)
		hf_setup_no_room(error, err, name, 0);
	else
		err = hf_setup_read_text(opener, name, &text, &size, error);
	if (!err) {
		*r = (struct reader){
			.setup = setup, .opener = opener, .error = error, .file = name, .hart = HF_SETUP_ANY};
		err = read_text(r, text, size);
	}
	free(text);
	free(r);
	if (err)
		hf_setup_free(setup);
	else
		*ret_setup = setup;
	return err;
}

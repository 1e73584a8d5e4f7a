/*
 * capture.ini: the project's own description of a capture (hartfs-views(5)). Strict: what is not known is an error, with
 * its line, because a key that is passed over would decode to something else without a word.
 */
#include "codecs/codec.h"
#include "codecs/setup/ini.h"
#include "codecs/setup/read.h"

#include <stdlib.h>
#include <string.h>

enum section { NONE, CAPTURE, PROGRAM, PARAMETERS };

/* A section with its hart: each may stand there once. */
struct seen {
	enum section section;
	uint32_t hart;
};

enum { SECTIONS_MAX = 1024 };

struct reader {
	struct hf_setup *setup;
	struct hf_setup_error *error;
	const struct hf_codec *codec;
	const char *file;
	enum section section;
	uint32_t hart;
	uint32_t trace_line;
	struct seen seen[SECTIONS_MAX];
	size_t seen_count;
};

#define FAIL(r, code, line, ...) hf_setup_fail((r)->error, code, (r)->file, line, __VA_ARGS__)

/* ---- the format, which must be known before anything else can be checked ---- */

struct format {
	char name[32];
	uint32_t line;
};

static int find_format(void *ctx, const struct hf_ini_line *line)
{
	struct format *format = ctx;
	const size_t n = line->key ? strlen(line->value) : 0;

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
	static const char *const names[] = {[CAPTURE] = "capture", [PROGRAM] = "program", [PARAMETERS] = "parameters"};
	const size_t n = strcspn(line->section, " \t");
	const char *rest = line->section + n + strspn(line->section + n, " \t"), *end;
	struct seen now = {.section = NONE, .hart = HF_SETUP_ANY};
	uint64_t number;

	for (size_t i = CAPTURE; i <= PARAMETERS; i++)
		if (strlen(names[i]) == n && memcmp(names[i], line->section, n) == 0)
			now.section = (enum section)i;
	if (now.section == NONE || (now.section == CAPTURE && *rest))
		return FAIL(r, HF_ERR_SETUP_KEY, line->number, "unknown section [%s]", line->section);
	if (*rest) {
		if (!hf_setup_parse(rest, &number, &end) || *end || number >= HF_SETUP_ANY)
			return FAIL(r, HF_ERR_SETUP_VALUE, line->number, "'%s' is no source id", rest);
		now.hart = (uint32_t)number;
	}
	for (size_t i = 0; i < r->seen_count; i++)
		if (r->seen[i].section == now.section && r->seen[i].hart == now.hart)
			return FAIL(r, HF_ERR_SETUP_KEY, line->number, "section [%s] stands here twice", line->section);
	if (r->seen_count == SECTIONS_MAX)
		return FAIL(r, HF_ERR_LIMIT, line->number, "too many sections");
	r->seen[r->seen_count++] = now;
	r->section = now.section;
	r->hart = now.hart;
	return 0;
}

/* ---- values ---- */

static bool is_parameter(const struct hf_codec *codec, const char *key)
{
	for (size_t i = 0; codec->parameters && codec->parameters[i]; i++)
		if (strcmp(codec->parameters[i], key) == 0)
			return true;
	return false;
}

/* A row of the setup was added, or not. */
static int added(struct reader *r, int err, uint32_t line)
{
	return err ? FAIL(r, err, line, err == HF_ERR_LIMIT ? "too many lines" : "out of memory") : 0;
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
	const char *rest;
	int err = take_name(r, line, name, sizeof name, &rest);

	if (err)
		return err;
	if (*rest)
		return FAIL(r, HF_ERR_SETUP_VALUE, line->number, "one file a line; 'trace' may be repeated");
	file.name = name;
	file.size = HF_NOWHERE;
	file.part = r->setup->part_count;
	r->trace_line = line->number;
	err = hf_setup_add_part(r->setup, HF_SETUP_ANY, name, "");
	return added(r, err ? err : hf_setup_add_file(r->setup, &file), line->number);
}

/* One "key = number" behind the name of a program. */
static int take_attribute(struct reader *r, const struct hf_ini_line *line, struct hf_setup_file *file, char *item,
			  unsigned *had)
{
	static const struct {
		const char *key;
		unsigned kinds;
	} keys[] = {
		{"bias", 1u << HF_SETUP_ELF},
		{"address", 1u << HF_SETUP_RAW},
		{"offset", 1u << HF_SETUP_RAW},
		{"size", 1u << HF_SETUP_RAW},
		{"context", 1u << HF_SETUP_RAW | 1u << HF_SETUP_ELF},
	};
	uint64_t *const where[] = {&file->address, &file->address, &file->offset, &file->size, &file->context};
	const size_t n = strcspn(item, " \t=");
	const char *value = item + n + strspn(item + n, " \t"), *end;
	size_t i = 0;

	while (i < 5 && (strlen(keys[i].key) != n || memcmp(keys[i].key, item, n) != 0))
		i++;
	if (i == 5 || !(keys[i].kinds & 1u << file->kind))
		return FAIL(r, HF_ERR_SETUP_KEY, line->number, "'%s' of a program: unknown key '%.*s'", line->key,
			    (int)n, item);
	if (*had & 1u << i)
		return FAIL(r, HF_ERR_SETUP_KEY, line->number, "'%s' stands in this line twice", keys[i].key);
	*had |= 1u << i;
	if (*value == '=')
		value += 1 + strspn(value + 1, " \t");
	if (!hf_setup_parse(value, where[i], &end) || end[strspn(end, " \t")])
		return FAIL(r, HF_ERR_SETUP_VALUE, line->number, "'%s' needs a number", keys[i].key);
	file->has_bias |= i == 0;
	return 0;
}

static int take_program(struct reader *r, const struct hf_ini_line *line)
{
	struct hf_setup_file file = {.said_in = r->file,
				     .line = line->number,
				     .hart = r->hart,
				     .spaces = HF_MEMORY_ANY,
				     .context = HF_SETUP_NO_CONTEXT,
				     .size = HF_NOWHERE};
	char name[4096], item[256];
	const char *rest;
	unsigned had = 0;
	int err;

	if (strcmp(line->key, "elf") != 0 && strcmp(line->key, "raw") != 0)
		return FAIL(r, HF_ERR_SETUP_KEY, line->number, "unknown key '%s': a program has 'elf' and 'raw'",
			    line->key);
	file.kind = *line->key == 'e' ? HF_SETUP_ELF : HF_SETUP_RAW;
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
		err = take_attribute(r, line, &file, item, &had);
	}
	if (!err && *rest)
		err = FAIL(r, HF_ERR_SETUP_SYNTAX, line->number, "a comma is missing behind the name");
	if (!err && file.kind == HF_SETUP_RAW && !(had & 2))
		err = FAIL(r, HF_ERR_SETUP_VALUE, line->number, "'raw' needs an address: raw = %s, address = 0x...",
			   name);
	file.name = name;
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
	if (!is_parameter(r->codec, line->key))
		return FAIL(r, HF_ERR_SETUP_KEY, line->number, "unknown key '%s': format %s has no such parameter",
			    line->key, r->codec->name);
	return add_value(r, line);
}

/* What only the whole shows. */
static int finish(struct reader *r)
{
	struct hf_setup *setup = r->setup;
	const struct hf_setup_value *framing = hf_setup_get(setup, HF_SETUP_ANY, "framing");

	setup->format = strdup(r->codec->name);
	if (!setup->format)
		return FAIL(r, HF_ERR_NOMEM, 0, "out of memory");
	if (!setup->part_count)
		return FAIL(r, HF_ERR_SETUP_MISSING, 0, "[capture] has no 'trace'");
	for (size_t i = 0; framing && i < setup->part_count; i++) {
		free((char *)setup->parts[i].framing);
		setup->parts[i].framing = strdup(framing->value);
		if (!setup->parts[i].framing)
			return FAIL(r, HF_ERR_NOMEM, 0, "out of memory");
	}
	return 0;
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
		return FAIL(r, HF_ERR_SETUP_MISSING, 0, "[capture] has no 'format'");
	r->codec = hf_codec_by_name(format.name);
	if (!r->codec || !r->codec->dec)
		return FAIL(r, HF_ERR_SETUP_VALUE, format.line, "unknown format '%s'", format.name);
	err = hf_ini_walk(text, size, 0, take_line, r, &line);
	if (err == HF_ERR_SETUP_SYNTAX && r->error->line == 0)
		return FAIL(r, err, line, "this is no section and no 'key = value'");
	return err ? err : finish(r);
}

int hf_setup_read_capture(const struct hf_setup_opener *opener, const char *name, struct hf_setup **ret_setup,
			  struct hf_setup_error *error)
{
	struct hf_setup_file own = {.kind = HF_SETUP_DESCRIPTION, .name = name, .said_in = name};
	struct reader *r = calloc(1, sizeof *r);
	struct hf_setup *setup = calloc(1, sizeof *setup);
	struct hf_src *src = NULL;
	char *text = NULL;
	size_t size;
	int err = r && setup ? hf_setup_add_file(setup, &own) : HF_ERR_NOMEM;

	*error = (struct hf_setup_error){.line = 0};
	*ret_setup = NULL;
	if (!err)
		err = opener->open(opener->ctx, name, &src, NULL);
	if (!err)
		err = hf_ini_load(src, &text, &size, NULL);
	if (err) {
		hf_setup_fail(error, err, name, 0, "it cannot be read: %s", hf_err_name(err));
	} else {
		*r = (struct reader){.setup = setup, .error = error, .file = name, .hart = HF_SETUP_ANY};
		err = read_text(r, text, size);
	}
	hf_src_free(src);
	free(text);
	free(r);
	if (err)
		hf_setup_free(setup);
	else
		*ret_setup = setup;
	return err;
}

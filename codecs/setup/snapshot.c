/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CoreSight snapshot directories: snapshot.ini names the device files and the file about the trace buffers. Lenient as
 * other readers of them are: what is not known is passed over, what is missing is a warning if the rest is of use.
 *
 * The hart of a source is its trace id. Two sources with one id that are recordings of one core with the same registers
 * are one hart; any other second source with an id that is taken gets the id with 0x80 added as often as it takes.
 */
#include "codecs/base/errors.h"
#include "codecs/setup/errors.h"
#include "codecs/setup/ini.h"
#include "codecs/setup/read.h"
#include "codecs/setup/trace_unit.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A "key = value" of a file, or (key NULL) where a section begins. Points into the file's text. */
struct row {
	const char *section, *key, *value;
	uint32_t line;
	unsigned place; /* number of the section in its file: names may repeat */
};

struct doc {
	char *name, *text;
	struct row *rows;
	size_t count;
	unsigned sections;
	uint32_t odd_line; /* the first of those that are neither a section nor "key = value"; 0: none */
	size_t odd_count;
};

struct source {
	const struct doc *doc, *core; /* core NULL: not known */
	const char *name;
	uint32_t hart;
	bool again; /* as a source before it, in another recording */
};

struct reader {
	struct hf_setup *setup;
	const struct hf_setup_opener *opener;
	struct hf_setup_error *error;
	struct doc main, trace;
	struct doc *devices;
	size_t device_count;
	struct source *sources;
	size_t source_count;
	char why[256]; /* the first buffer that is left out is, and in which line of the file about them */
	uint32_t why_line;
};

static int no_memory(struct reader *r, int err, const char *file)
{
	hf_setup_no_room(r->error, err, file, 0);
	return err;
}

/* ---- files ---- */

static int keep_row(void *ctx, const struct hf_ini_line *line)
{
	struct doc *doc = ctx;
	int err;

	if (line->odd) {
		if (!doc->odd_count++)
			doc->odd_line = line->number;
		return 0;
	}
	err = hf_setup_room(&doc->rows, doc->count, sizeof *doc->rows);

	if (err)
		return err;
	doc->sections += !line->key;
	doc->rows[doc->count++] = (struct row){line->section, line->key, line->value, line->number, doc->sections};
	return 0;
}

static void close_doc(struct doc *doc)
{
	free(doc->name);
	free(doc->text);
	free(doc->rows);
	*doc = (struct doc){.name = NULL};
}

static int warn_odd(struct reader *r, const char *name, const struct doc *doc)
{
	char others[64] = "";
	int err;

	if (doc->odd_count > 1)
		snprintf(others, sizeof others, ", and so are others: %zu lines in all", doc->odd_count);
	err = hf_setup_warn(r->setup, name, doc->odd_line,
			    "this is neither [section] nor key = value: it is passed over%s", others);
	return err ? no_memory(r, HF_ERR_NOMEM, name) : 0;
}

/* HF_ERR_NOT_FOUND is the caller's to tell of. */
static int open_doc(struct reader *r, const char *name, const struct hf_setup_file *own, struct doc *ret_doc)
{
	struct doc doc = {.name = strdup(name)};
	uint32_t line = 0;
	size_t size;
	int err = doc.name ? hf_setup_add_file(r->setup, own) : HF_ERR_NOMEM;

	if (err)
		no_memory(r, err, name);
	if (!err)
		err = hf_setup_read_text(r->opener, name, &doc.text, &size, r->error);
	if (!err) {
		err = hf_ini_walk(doc.text, size, HF_INI_LOOSE, keep_row, &doc, &line);
		if (err)
			hf_setup_fail(r->error, err, name, line, err == HF_ERR_SETUP_SYNTAX ? "this is no text"
											    : "too many lines");
	}
	if (!err && doc.odd_count)
		err = warn_odd(r, name, &doc);
	if (err)
		close_doc(&doc);
	else
		*ret_doc = doc;
	return err;
}

/* Names of files with '/' between components, whatever wrote them. */
static int name_of(struct reader *r, const struct doc *doc, const struct row *row, char *buf, size_t size)
{
	const size_t n = strlen(row->value);

	if (!n || n >= size || row->value[0] == '/' || (n > 1 && row->value[1] == ':'))
		return hf_setup_fail(r->error, HF_ERR_SETUP_VALUE, doc->name, row->line,
				     "'%s' is no name of a file in this directory", row->value);
	memcpy(buf, row->value, n + 1);
	for (char *s = buf; *s; s++)
		if (*s == '\\')
			*s = '/';
	return 0;
}

/* The next "key = value" behind row (NULL: the first) of a section with that name, or NULL. */
static const struct row *next_row(const struct doc *doc, const char *section, const struct row *row)
{
	for (row = row ? row + 1 : doc->rows; row < doc->rows + doc->count; row++)
		if (row->key && strcmp(row->section, section) == 0)
			return row;
	return NULL;
}

/* The first row with that key in the section with that name. */
static const struct row *find_row(const struct doc *doc, const char *section, const char *key)
{
	for (const struct row *row = NULL; (row = next_row(doc, section, row));)
		if (strcmp(row->key, key) == 0)
			return row;
	return NULL;
}

static const char *find(const struct doc *doc, const char *section, const char *key, const char *fallback)
{
	const struct row *row = find_row(doc, section, key);

	return row ? row->value : fallback;
}

/* The same in the section that begins as place-th. */
static const struct row *find_at(const struct doc *doc, unsigned place, const char *key)
{
	for (size_t i = 0; i < doc->count; i++)
		if (doc->rows[i].key && doc->rows[i].place == place && strcmp(doc->rows[i].key, key) == 0)
			return &doc->rows[i];
	return NULL;
}

/* ---- devices ---- */

static const char *device_name(const struct doc *doc)
{
	return find(doc, "device", "name", doc->name);
}

static bool is_class(const struct doc *doc, const char *class)
{
	return strcmp(find(doc, "device", "class", ""), class) == 0;
}

/* A device by its name, or by '@' and its location. */
static const struct doc *find_device(const struct reader *r, const char *name)
{
	for (size_t i = 0; i < r->device_count; i++) {
		const struct doc *doc = &r->devices[i];

		if (*name == '@' ? strcmp(find(doc, "device", "location", ""), name + 1) == 0
				 : strcmp(device_name(doc), name) == 0)
			return doc;
	}
	return NULL;
}

static int open_devices(struct reader *r)
{
	for (const struct row *row = NULL; (row = next_row(&r->main, "device_list", row));) {
		struct hf_setup_file own = {.kind = HF_SETUP_DESCRIPTION, .said_in = r->main.name, .line = row->line,
					    .optional = true};
		struct doc doc;
		char name[1024];
		int err = name_of(r, &r->main, row, name, sizeof name);

		own.name = name;
		if (!err)
			err = open_doc(r, name, &own, &doc);
		if (err == HF_ERR_NOT_FOUND) {
			err = hf_setup_warn(r->setup, r->main.name, row->line, "'%s' is not there: it is left out",
					    name);
		} else if (!err) {
			err = hf_setup_room(&r->devices, r->device_count, sizeof *r->devices);
			if (err) {
				close_doc(&doc);
				return no_memory(r, err, name);
			}
			r->devices[r->device_count++] = doc;
		}
		if (err)
			return err;
	}
	return 0;
}

/* ---- sources ---- */

/* "TRCCONFIGR(0x004)" is the register TRCCONFIGR; case does not count. */
static size_t register_size(const char *key)
{
	return strcspn(key, "( \t");
}

static const struct row *find_register(const struct doc *doc, const char *name)
{
	const size_t n = register_size(name);

	for (const struct row *row = NULL; (row = next_row(doc, "regs", row));)
		if (register_size(row->key) == n && strncasecmp(row->key, name, n) == 0)
			return row;
	return NULL;
}

static const char *device_type(const struct doc *doc)
{
	return find(doc, "device", "type", "");
}

/* Whether its type does not say that it traces no flow, or not as an ETE or ETMv4. */
static bool may_be_decoded(const struct doc *doc)
{
	const char *name;

	const enum hf_trace_unit unit = hf_trace_unit_of(device_type(doc), &name);

	return unit != HF_TRACE_UNIT_OTHER && unit != HF_TRACE_UNIT_ITM;
}

/* The first register of a that b lacks or has another value of; NULL: there is none. */
static const struct row *other_register(const struct doc *a, const struct doc *b)
{
	for (const struct row *row = NULL; (row = next_row(a, "regs", row));) {
		const struct row *other = find_register(b, row->key);

		if (!other || strcmp(other->value, row->value) != 0)
			return row;
	}
	return NULL;
}

static bool same_registers(const struct doc *a, const struct doc *b)
{
	return !other_register(a, b) && !other_register(b, a);
}

/* A number as C writes it, an octal one behind a 0, which is how readers of snapshots take them. */
static bool parse_number(const char *text, uint64_t *ret_number)
{
	char *end;

	errno = 0;
	*ret_number = strtoull(text, &end, 0);
	return !errno && *text >= '0' && *text <= '9' && !*end;
}

/* The trace id that a source puts into frames; false if its registers do not say. */
static bool trace_id(const struct doc *doc, uint32_t *ret_id)
{
	static const struct {
		const char *name;
		unsigned shift;
	} registers[] = {{"TRCTRACEIDR", 0}, {"ETMTRACEIDR", 0}, {"STMTCSR", 16}, {"ITMTCR", 16}};

	for (size_t i = 0; i < sizeof registers / sizeof *registers; i++) {
		const struct row *row = find_register(doc, registers[i].name);
		uint64_t value;

		if (!row || !parse_number(row->value, &value))
			continue;
		*ret_id = (uint32_t)(value >> registers[i].shift) & 0x7f;
		return true;
	}
	*ret_id = 0;
	return false;
}

/* The core that a source traces. */
static const struct doc *core_of(const struct reader *r, const struct doc *source)
{
	const struct doc *only = NULL;

	for (const struct row *row = NULL; (row = next_row(&r->trace, "core_trace_sources", row));)
		if (find_device(r, row->value) == source)
			return find_device(r, row->key);
	for (size_t i = 0; i < r->device_count; i++) {
		if (!is_class(&r->devices[i], "core"))
			continue;
		if (only)
			return NULL;
		only = &r->devices[i];
	}
	return only;
}

/* Which hart a source is, among those before it. */
static void choose_hart(struct reader *r, struct source *source)
{
	for (size_t i = 0; i < r->source_count;) {
		const struct source *other = &r->sources[i++];

		if (other->hart != source->hart)
			continue;
		if (other->core == source->core && source->core && same_registers(other->doc, source->doc) &&
		    strcmp(device_type(other->doc), device_type(source->doc)) == 0) {
			source->again = true;
			return;
		}
		source->hart += 0x80;
		i = 0;
	}
}

/* Two recordings of one core should be one hart: where they are not, a damaged register may be why. */
static int warn_split(struct reader *r, const struct source *source)
{
	for (size_t i = 0; i < r->source_count; i++) {
		const struct source *other = &r->sources[i];
		const struct row *row, *lacks;

		if (other->core != source->core || other->hart == source->hart || !may_be_decoded(other->doc))
			continue;
		row = other_register(source->doc, other->doc);
		if (row)
			return hf_setup_warn(r->setup, source->doc->name, row->line,
					     "%s is not as that of %s, which traces the same core: they are harts %u and %u",
					     row->key, other->name, (unsigned)source->hart, (unsigned)other->hart);
		lacks = other_register(other->doc, source->doc);
		return hf_setup_warn(r->setup, source->doc->name, 0,
				     "%s is missing, and %s, which traces the same core, has it: they are harts %u and %u",
				     lacks ? lacks->key : "a register", other->name, (unsigned)source->hart,
				     (unsigned)other->hart);
	}
	return 0;
}

/* A device that would be a source if its class were not another word. */
static int warn_class(struct reader *r, const struct doc *doc)
{
	const struct row *class = find_row(doc, "device", "class");
	uint32_t id;

	if (!trace_id(doc, &id))
		return 0;
	return hf_setup_warn(r->setup, doc->name, class ? class->line : 0,
			     "%s has a trace id, and its class is '%s', not trace_source: it is left out", device_name(doc),
			     class ? class->value : "");
}

/* What of an ETE or ETMv4 is not said is told; of other sources nothing of it matters. */
static int add_source(struct reader *r, const struct doc *doc)
{
	struct source source = {.doc = doc, .core = core_of(r, doc), .name = device_name(doc)};
	const bool has_id = trace_id(doc, &source.hart), decoded = may_be_decoded(doc);
	int err = 0;

	if (!has_id && decoded)
		err = hf_setup_warn(r->setup, doc->name, 0, "no register tells the trace id of %s: 0 is taken",
				    source.name);
	choose_hart(r, &source);
	if (!err && source.core && !source.again && decoded)
		err = warn_split(r, &source);
	if (!err && !source.core && decoded)
		err = hf_setup_warn(r->setup, doc->name, 0, "no core is named for %s: it has no program", source.name);
	if (!err)
		err = hf_setup_room(&r->sources, r->source_count, sizeof *r->sources);
	if (!err)
		r->sources[r->source_count++] = source;
	return err;
}

/* Those that may be decoded first: their numbers do not depend on what lies beside them. */
static int find_sources(struct reader *r)
{
	int err = 0;

	for (size_t i = 0; i < r->device_count && !err; i++)
		if (!is_class(&r->devices[i], "trace_source"))
			err = warn_class(r, &r->devices[i]);
	for (unsigned others = 0; others < 2; others++)
		for (size_t i = 0; i < r->device_count && !err; i++)
			if (is_class(&r->devices[i], "trace_source") && may_be_decoded(&r->devices[i]) != others)
				err = add_source(r, &r->devices[i]);
	return err ? no_memory(r, err, r->main.name) : 0;
}

/* ---- values ---- */

/* The value of key in [device] of doc, if it is there, as name. */
static int add_device(struct reader *r, const struct source *source, const struct doc *doc, const char *key,
		      const char *name)
{
	const struct row *row = find_row(doc, "device", key);

	return row ? hf_setup_add_value(r->setup, source->hart, name, row->value, doc->name, row->line) : 0;
}

/* The name that a device has, which is its file's if it says none. */
static int add_name(struct reader *r, const struct source *source, const struct doc *doc, const char *name)
{
	return hf_setup_add_value(r->setup, source->hart, name, device_name(doc), doc->name, 0);
}

enum { DECIMAL_SIZE = 24 };

/* An octal number as the decimal one that readers of values expect; everything else as it is. */
static const char *as_decimal(const char *text, char buf[DECIMAL_SIZE])
{
	uint64_t number;

	if (text[0] != '0' || !isdigit((unsigned char)text[1]) || !parse_number(text, &number))
		return text;
	snprintf(buf, DECIMAL_SIZE, "%" PRIu64, number);
	return buf;
}

static int add_registers(struct reader *r, const struct source *source)
{
	const struct doc *doc = source->doc;
	int err = add_device(r, source, doc, "type", "type");

	if (!err)
		err = add_name(r, source, doc, "source");
	if (!err && source->core)
		err = add_name(r, source, source->core, "core");
	if (!err && source->core)
		err = add_device(r, source, source->core, "type", "core_type");
	for (const struct row *row = NULL; (row = next_row(doc, "regs", row));) {
		char name[128], decimal[DECIMAL_SIZE];

		if (err)
			break;
		snprintf(name, sizeof name, "%.*s", (int)register_size(row->key), row->key);
		for (char *c = name; *c; c++)
			*c = (char)toupper((unsigned char)*c);
		err = hf_setup_add_value(r->setup, source->hart, name, as_decimal(row->value, decimal), doc->name,
					 row->line);
	}
	return err ? no_memory(r, err, doc->name) : 0;
}

/* ---- programs ---- */

static uint32_t parse_spaces(const char *text)
{
	static const struct {
		const char *name;
		uint32_t spaces;
	} names[] = {
		{"EL1S", HF_MEMORY_EL1S}, {"EL1N", HF_MEMORY_EL1N}, {"EL1R", HF_MEMORY_EL1R},
		{"EL2S", HF_MEMORY_EL2S}, {"EL2N", HF_MEMORY_EL2N}, {"EL2R", HF_MEMORY_EL2R},
		{"EL2", HF_MEMORY_EL2N},  {"EL3", HF_MEMORY_EL3},   {"ROOT", HF_MEMORY_ROOT},
		{"S", HF_MEMORY_EL1S | HF_MEMORY_EL2S | HF_MEMORY_EL3},
		{"N", HF_MEMORY_EL1N | HF_MEMORY_EL2N},
		{"R", HF_MEMORY_EL1R | HF_MEMORY_EL2R},
		{"ANY", HF_MEMORY_ANY},   {"H", HF_MEMORY_EL2N},    {"P", HF_MEMORY_EL1N},
		{"NP", HF_MEMORY_EL1N},   {"SP", HF_MEMORY_EL1S},
	};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(names[i].name, text) == 0)
			return names[i].spaces;
	return 0;
}

/* A number of a dump; absent is allowed if ret_number has a default. */
static bool take_number(const struct doc *core, unsigned place, const char *key, uint64_t *ret_number)
{
	const struct row *row = find_at(core, place, key);

	return row && parse_number(row->value, ret_number);
}

static int add_dump(struct reader *r, const struct source *source, const struct row *section)
{
	const struct doc *core = source->core;
	const struct row *file = find_at(core, section->place, "file");
	const struct row *space = find_at(core, section->place, "space");
	struct hf_setup_file dump = {.kind = HF_SETUP_RAW, .said_in = core->name, .line = section->line,
				     .optional = true, .hart = source->hart, .context = HF_SETUP_NO_CONTEXT,
				     .spaces = HF_MEMORY_ANY, .size = HF_NOWHERE};
	char name[1024];
	int err = 0;

	if (!file || !take_number(core, section->place, "address", &dump.address))
		return hf_setup_warn(r->setup, core->name, section->line,
				     "[%s] needs 'file' and 'address': it is left out", section->section);
	if (name_of(r, core, file, name, sizeof name))
		return hf_setup_warn(r->setup, core->name, file->line, "'%s' is no name of a file in this directory",
				     file->value);
	if ((find_at(core, section->place, "length") &&
	     !take_number(core, section->place, "length", &dump.size)) ||
	    (find_at(core, section->place, "offset") && !take_number(core, section->place, "offset", &dump.offset)))
		return hf_setup_warn(r->setup, core->name, section->line, "[%s]: no such number: it is left out",
				     section->section);
	if (space)
		dump.spaces = parse_spaces(space->value);
	if (space && !dump.spaces) {
		dump.spaces = HF_MEMORY_ANY;
		err = hf_setup_warn(r->setup, core->name, space->line, "'%s' is no memory space: all are taken",
				    space->value);
	}
	dump.name = name;
	return err ? err : hf_setup_add_file(r->setup, &dump);
}

/* The dumps of a source's core, unless another source of the same hart has brought them. */
static int add_dumps(struct reader *r, const struct source *source)
{
	const struct doc *core = source->core;
	int err = 0;

	for (size_t i = 0; core && i < core->count && !err; i++)
		if (!core->rows[i].key && strncmp(core->rows[i].section, "dump", 4) == 0)
			err = add_dump(r, source, &core->rows[i]);
	return err ? no_memory(r, err, core->name) : 0;
}

/* ---- buffers ---- */

/* The next item of a comma-separated list, trimmed and without an option in parentheses, into buf; NULL at the end. */
static const char *next_item(const char *list, char *buf, size_t size)
{
	while (*list) {
		size_t n = strcspn(list, ","), from = strspn(list, " \t"), used;
		const char *next = list + n + (list[n] == ',');

		if (from > n)
			from = n;
		used = strcspn(list + from, "(,");
		if (used > n - from)
			used = n - from;
		while (used && (list[from + used - 1] == ' ' || list[from + used - 1] == '\t'))
			used--;
		if (used && used < size) {
			memcpy(buf, list + from, used);
			buf[used] = '\0';
			return next;
		}
		list = next;
	}
	return NULL;
}

static bool has_item(const char *list, const char *item)
{
	char own[1024];

	while ((list = next_item(list, own, sizeof own)))
		if (strcmp(own, item) == 0)
			return true;
	return false;
}

/* The hart whose bytes a buffer of raw ones has. */
static uint32_t hart_of_buffer(const struct reader *r, const char *buffer, unsigned *ret_count)
{
	uint32_t hart = HF_SETUP_ANY;
	bool said = false;

	*ret_count = 0;
	for (const struct row *row = NULL; (row = next_row(&r->trace, "source_buffers", row));) {
		const struct doc *doc = has_item(row->value, buffer) ? find_device(r, row->key) : NULL;

		said = true;
		for (size_t k = 0; k < r->source_count; k++)
			if (doc && r->sources[k].doc == doc && !(*ret_count)++)
				hart = r->sources[k].hart;
	}
	/* With one source there is nothing to say. */
	if (!said && r->source_count == 1) {
		*ret_count = 1;
		return r->sources[0].hart;
	}
	return hart;
}

/* Raw bytes of which nothing says whose they are: the only source's, or nobody's; *ret_hart stays then. */
static int add_stray(struct reader *r, const struct row *file, const char *name, uint32_t *ret_hart)
{
	for (size_t i = 1; i < r->source_count; i++)
		if (r->sources[i].hart != r->sources[0].hart)
			return hf_setup_warn(r->setup, r->trace.name, file->line,
					     "no source is named for buffer %s: it is left out", name);
	*ret_hart = r->sources[0].hart;
	return hf_setup_warn(r->setup, r->trace.name, file->line, "no source is named for buffer %s: %s is taken", name,
			     r->sources[0].name);
}

static int add_buffer_files(struct reader *r, const struct row *row)
{
	struct hf_setup_file trace = {.kind = HF_SETUP_TRACE, .said_in = r->trace.name, .line = row->line,
				      .optional = true, .size = HF_NOWHERE, .part = r->setup->part_count - 1};
	const char *list = row->value;
	char item[1024], name[1024];
	int err = 0;

	while (!err && (list = next_item(list, item, sizeof item))) {
		const struct row one = {.value = item, .line = row->line};

		err = name_of(r, &r->trace, &one, name, sizeof name);
		trace.name = name;
		if (!err) {
			err = hf_setup_add_file(r->setup, &trace);
			if (err)
				no_memory(r, err, r->trace.name);
		}
	}
	return err;
}

/* A buffer that cannot be read is left out; where it leaves none, the first is why. */
static int leave_out(struct reader *r, uint32_t line, const char *why)
{
	if (!*r->why)
		snprintf(r->why, sizeof r->why, "%s", why);
	r->why_line = r->why_line ? r->why_line : line;
	return hf_setup_warn(r->setup, r->trace.name, line, "%s: it is left out", why);
}

static int refuse_format(struct reader *r, const char *name, const struct row *format, uint32_t line)
{
	char why[256];

	if (format)
		snprintf(why, sizeof why,
			 "format '%.60s' is none of source_data, coresight, dstream_coresight: buffer %.60s cannot be read",
			 format->value, name);
	else
		snprintf(why, sizeof why, "buffer %.60s has no format: source_data, coresight or dstream_coresight", name);
	return leave_out(r, format ? format->line : line, why);
}

static int add_buffer(struct reader *r, const char *section, uint32_t line)
{
	static const char *const framings[] = {"source_data", "coresight", "dstream_coresight"};
	const struct row *file = find_row(&r->trace, section, "file");
	const struct row *said = find_row(&r->trace, section, "format");
	const char *name = find(&r->trace, section, "name", section), *format = said ? said->value : "";
	uint32_t hart = HF_SETUP_ANY;
	unsigned sources = 1;
	char item[1024];
	size_t i = 0;
	int err = 0;

	while (i < 3 && strcmp(framings[i], format) != 0)
		i++;
	if (!file || !next_item(file->value, item, sizeof item)) {
		snprintf(item, sizeof item, "buffer %.60s has no file", name);
		return leave_out(r, file ? file->line : line, item);
	}
	if (i == 3)
		return refuse_format(r, name, said, file->line);
	if (i == 0)
		hart = hart_of_buffer(r, name, &sources);
	if (sources > 1)
		err = hf_setup_warn(r->setup, r->trace.name, file->line,
				    "buffer %s of raw bytes has several sources: the first is taken", name);
	if (!sources && r->source_count) {
		err = add_stray(r, file, name, &hart);
		if (!err && hart == HF_SETUP_ANY)
			return 0;
	}
	if (!err)
		err = hf_setup_add_part(r->setup, hart, name, format);
	if (err)
		return no_memory(r, err, r->trace.name);
	return add_buffer_files(r, file);
}

/* What the file about the buffers says of devices that are not there. */
static int warn_unknown_names(struct reader *r)
{
	int err = 0;

	for (size_t i = 0; i < r->trace.count && !err; i++) {
		const struct row *row = &r->trace.rows[i];
		const bool buffers = row->key && strcmp(row->section, "source_buffers") == 0;
		const bool cores = row->key && strcmp(row->section, "core_trace_sources") == 0;

		if ((buffers || cores) && !find_device(r, row->key))
			err = hf_setup_warn(r->setup, r->trace.name, row->line, "no device is called '%s'", row->key);
		if (cores && !err && !find_device(r, row->value))
			err = hf_setup_warn(r->setup, r->trace.name, row->line, "no device is called '%s'", row->value);
	}
	return err ? no_memory(r, err, r->trace.name) : 0;
}

static int add_buffers(struct reader *r)
{
	const struct row *row = find_row(&r->trace, "trace_buffers", "buffers");
	const char *list = row ? row->value : "";
	const uint32_t line = row ? row->line : 0;
	char section[256];
	int err = 0;

	while (!err && (list = next_item(list, section, sizeof section)))
		err = add_buffer(r, section, line);
	if (!err && !r->setup->part_count)
		err = hf_setup_fail(r->error, HF_ERR_SETUP_MISSING, r->trace.name, r->why_line ? r->why_line : line, "%s",
				    *r->why ? r->why : "it names no trace buffer that could be read");
	if (!err && !r->source_count)
		err = hf_setup_fail(r->error, HF_ERR_SETUP_MISSING, r->main.name, 0,
				    "no device of [device_list] that could be read has class = trace_source");
	return err;
}

/* ---- all of it ---- */

static int open_trace(struct reader *r)
{
	const struct row *row = find_row(&r->main, "trace", "metadata");
	struct hf_setup_file own = {.kind = HF_SETUP_DESCRIPTION, .said_in = r->main.name};
	char name[1024];
	int err;

	if (!row)
		return hf_setup_fail(r->error, HF_ERR_SETUP_MISSING, r->main.name, 0, "[trace] has no 'metadata'");
	err = name_of(r, &r->main, row, name, sizeof name);
	own.name = name;
	own.line = row->line;
	if (!err)
		err = open_doc(r, name, &own, &r->trace);
	if (err == HF_ERR_NOT_FOUND)
		err = hf_setup_fail(r->error, HF_ERR_SETUP_FILE, r->main.name, row->line, "'%s' is not there", name);
	if (!err && !(r->setup->buffers = strdup(name)))
		err = no_memory(r, HF_ERR_NOMEM, name);
	return err;
}

static int read_all(struct reader *r, const char *name)
{
	struct hf_setup_file own = {.kind = HF_SETUP_DESCRIPTION, .name = name, .said_in = name};
	int err = open_doc(r, name, &own, &r->main);

	if (!err)
		err = open_trace(r);
	if (!err)
		err = open_devices(r);
	if (!err)
		err = find_sources(r);
	if (!err)
		err = warn_unknown_names(r);
	for (size_t i = 0; i < r->source_count && !err; i++) {
		if (r->sources[i].again)
			continue;
		err = add_registers(r, &r->sources[i]);
		if (!err)
			err = add_dumps(r, &r->sources[i]);
	}
	if (!err)
		err = add_buffers(r);
	if (!err && !(r->setup->format = strdup("ete")))
		err = no_memory(r, HF_ERR_NOMEM, name);
	return err;
}

int hf_setup_read_snapshot(const struct hf_setup_opener *opener, const char *name, struct hf_setup **ret_setup,
			   struct hf_setup_error *error)
{
	struct hf_setup *setup = calloc(1, sizeof *setup);
	struct reader r = {.setup = setup, .opener = opener, .error = error};
	int err;

	*error = (struct hf_setup_error){.format = "ete"};
	*ret_setup = NULL;
	err = setup ? read_all(&r, name) : no_memory(&r, HF_ERR_NOMEM, name);
	close_doc(&r.main);
	close_doc(&r.trace);
	for (size_t i = 0; i < r.device_count; i++)
		close_doc(&r.devices[i]);
	free(r.devices);
	free(r.sources);
	if (err)
		hf_setup_free(setup);
	else
		*ret_setup = setup;
	return err;
}

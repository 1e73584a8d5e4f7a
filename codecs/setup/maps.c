/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/setup/maps.h"

#include "codecs/base/errors.h"
#include "codecs/setup/errors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_SIZE = 8192 };

bool hf_maps_is_file(const char *name)
{
	static const char *const others[] = {"//anon", "anon_inode:", "/dev/", "/memfd:", "/SYSV", "/[aio]"};

	if (*name == '[')
		return strncmp(name, "[vdso", 5) == 0;
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (strncmp(name, others[i], strlen(others[i])) == 0)
			return false;
	return *name;
}

/* ---- a line: "2aaaaaa000-2aaaaab000 r-xp 00001000 08:01 1234     /usr/bin/cat" ---- */

struct mapping {
	uint64_t start, end, offset;
	bool code, deleted;
	char *path; /* "" if it is no file */
};

static bool take_hex(const char **at, char end, uint64_t *ret_number)
{
	size_t n = 0;

	for (*ret_number = 0;; n++, (*at)++) {
		const char c = **at;
		const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;

		if (digit < 0)
			break;
		*ret_number = *ret_number << 4 | (unsigned)digit;
	}
	if (!n || n > 16 || *(*at)++ != end)
		return false;
	return true;
}

/* Passes over a word and the blanks behind it. */
static bool skip_word(const char **at)
{
	const size_t n = strcspn(*at, " ");

	*at += n;
	*at += strspn(*at, " ");
	return n;
}

static bool read_line(char *line, struct mapping *ret)
{
	static const char deleted[] = " (deleted)";
	const char *at = line;
	size_t n;

	*ret = (struct mapping){.code = false};
	if (!take_hex(&at, '-', &ret->start) || !take_hex(&at, ' ', &ret->end) || ret->start >= ret->end)
		return false;
	at += strspn(at, " ");
	if (strcspn(at, " ") != 4)
		return false;
	ret->code = at[2] == 'x';
	skip_word(&at);
	if (!take_hex(&at, ' ', &ret->offset) || ret->offset > UINT64_MAX - (ret->end - ret->start))
		return false;
	at += strspn(at, " ");
	if (!skip_word(&at) || !skip_word(&at))
		return false;
	ret->path = line + (at - line);
	n = strlen(ret->path);
	ret->deleted = n >= sizeof deleted - 1 && strcmp(ret->path + n - (sizeof deleted - 1), deleted) == 0;
	if (ret->deleted)
		ret->path[n - (sizeof deleted - 1)] = '\0';
	return true;
}

/* ---- names ---- */

/* root and the path beneath it, which ".." does not leave. False: that is too long. */
static bool join(const char *root, const char *path, char name[NAME_SIZE])
{
	size_t base = strlen(root), n = base;

	if (base >= NAME_SIZE)
		return false;
	memcpy(name, root, base + 1);
	while (*path) {
		const size_t length = strcspn(path, "/");

		if (length == 2 && memcmp(path, "..", 2) == 0) {
			while (n > base && name[--n] != '/')
				;
		} else if (length && !(length == 1 && *path == '.')) {
			if (n + length + 2 > NAME_SIZE)
				return false;
			if (n)
				name[n++] = '/';
			memcpy(name + n, path, length);
			n += length;
		}
		name[n] = '\0';
		path += length + (path[length] == '/');
	}
	return n > base;
}

static int add(struct hf_setup *setup, const struct hf_setup_file *first, const char *root, const struct mapping *mapping,
	       uint32_t line, struct hf_setup_error *error)
{
	struct hf_setup_file row = *first;
	char name[NAME_SIZE];
	int err = 0;

	row.kind = HF_SETUP_MAPPED;
	row.said_in = first->name;
	row.line = line;
	row.optional = true;
	row.address = mapping->start;
	row.size = mapping->end - mapping->start;
	row.offset = mapping->offset;
	row.name = HF_MAPS_VDSO;
	if (*mapping->path != '[' && !join(root, mapping->path, name))
		return hf_setup_fail(error, HF_ERR_SETUP_VALUE, first->name, line, "'%.60s' is no name of a file", mapping->path);
	if (*mapping->path != '[')
		row.name = name;
	if (mapping->deleted)
		err = hf_setup_warn(setup, first->name, line,
				    "'%.120s' was deleted when this was written: the file of that name may be another one",
				    mapping->path);
	if (!err)
		err = hf_setup_add_file(setup, &row);
	return err ? hf_setup_no_room(error, err, first->name, line) : 0;
}

int hf_maps_read(struct hf_setup *setup, const struct hf_setup_file *first, const char *root, char *text, size_t size,
		 struct hf_setup_error *error)
{
	uint32_t number = 0;
	int err = 0;

	for (char *line = text, *next; line < text + size && !err; line = next) {
		char *end = memchr(line, '\n', (size_t)(text + size - line));
		struct mapping mapping;

		end = end ? end : text + size;
		next = end + 1;
		*end = '\0';
		number++;
		if (end > line && end[-1] == '\r')
			*--end = '\0';
		if (!line[strspn(line, " ")])
			continue;
		if (!read_line(line, &mapping))
			return hf_setup_fail(error, HF_ERR_SETUP_SYNTAX, first->name, number,
					     "this is no line of /proc/PID/maps: START-END PERMS OFFSET DEV INODE PATH");
		if (mapping.code && hf_maps_is_file(mapping.path))
			err = add(setup, first, root, &mapping, number, error);
	}
	return err;
}

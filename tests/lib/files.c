/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/files.h"

#include "codecs/codec.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

/* The line that begins at text[at] names a file: its name[*ret_n], and where the file begins. */
static bool begins(const struct hf_files *files, size_t at, const char **ret_name, size_t *ret_n, size_t *ret_from)
{
	const char *line = files->text + at, *end;

	if (at >= files->size || *line != '@' || (at && line[-1] != '\n'))
		return false;
	end = memchr(line, '\n', files->size - at);
	if (!end)
		return false;
	*ret_name = line + 1;
	*ret_n = (size_t)(end - line - 1);
	*ret_from = (size_t)(end + 1 - files->text);
	return true;
}

static int open_one(void *ctx, const char *name, struct hf_src **ret_src, struct hf_diag *diag)
{
	const struct hf_files *files = ctx;
	const char *own;
	size_t n, from, to;

	for (size_t at = 0; at < files->size; at++) {
		if (!begins(files, at, &own, &n, &from) || n != strlen(name) || memcmp(own, name, n) != 0)
			continue;
		for (to = from; to < files->size && !begins(files, to, &own, &n, &(size_t){0}); to++)
			;
		return hf_src_memory_new(files->text + from, to - from, ret_src);
	}
	return hf_diag_set(diag, HF_ERR_NOT_FOUND, HF_SPACE_FILE, HF_NOWHERE, 0);
}

struct hf_setup_opener hf_files_opener(struct hf_files *files, const struct hf_codec *const *codecs)
{
	return (struct hf_setup_opener){.ctx = files, .open = open_one, .codecs = codecs};
}

static int open_below(void *ctx, const char *name, struct hf_src **ret_src, struct hf_diag *diag)
{
	char path[8192];
	int fd;

	snprintf(path, sizeof path, "%s/%s", (const char *)ctx, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? HF_ERR_NOT_FOUND : hf_src_file_new(fd, ret_src, diag);
}

struct hf_setup_opener hf_files_in(const char *dir, const struct hf_codec *const *codecs)
{
	return (struct hf_setup_opener){.ctx = (void *)(uintptr_t)dir, .open = open_below, .codecs = codecs};
}

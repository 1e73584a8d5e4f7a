/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/image/names.h"

#include "codecs/base/array.h"
#include "codecs/image/errors.h"

#include <stdlib.h>
#include <string.h>

static bool is_shown(char c, bool blanks)
{
	return c >= ' ' && c <= '~' && (blanks || (c != ' ' && c != '<' && c != '>'));
}

size_t hf_name_copy(char *to, const char *name, size_t max, bool blanks)
{
	const size_t n = strnlen(name, max);

	for (size_t i = 0; i < n; i++)
		to[i] = is_shown(name[i], blanks) ? name[i] : '?';
	if (n == max && name[n])
		memcpy(to + n - strlen("..."), "...", strlen("..."));
	to[n] = '\0';
	return n;
}

size_t hf_name_file(char *to, const char *path)
{
	const char *slash = strrchr(path, '/');

	return hf_name_copy(to, slash ? slash + 1 : path, HF_LINES_NAME_MAX, false);
}

int hf_names_add(struct hf_names *names, const char *name, size_t size, uint32_t *ret_offset)
{
	const size_t want = names->size + size + 1;
	const int err = want <= HF_NAMES_MAX ? hf_array_reserve(&names->at, want, &names->cap, 1) : HF_ERR_ELF_LIMIT;

	if (err)
		return err;
	memcpy(names->at + names->size, name, size);
	names->at[names->size + size] = '\0';
	*ret_offset = (uint32_t)names->size;
	names->size += size + 1;
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/archive/path.h"
#include "codecs/base/errors.h"

#include <stdio.h>
#include <string.h>

int hf_path_join(char buf[HF_PATH_SIZE], const char *dir, const char *name)
{
	const size_t n = strlen(dir), slash = n ? 1 : 0, m = strlen(name);

	/* Of each name in a directory that is listed a path is made. */
	if (n + slash + m >= HF_PATH_SIZE)
		return HF_ERR_PATH_LENGTH;
	memcpy(buf, dir, n);
	buf[n] = '/';
	memcpy(buf + n + slash, name, m + 1);
	return 0;
}

const char *hf_path_split(char buf[HF_PATH_SIZE], const char *path)
{
	const char *slash = strrchr(path, '/');

	snprintf(buf, HF_PATH_SIZE, "%.*s", slash ? (int)(slash - path) : 0, path);
	return slash ? slash + 1 : path;
}

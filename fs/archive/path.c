/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/archive/path.h"
#include "codecs/base/err.h"

#include <stdio.h>
#include <string.h>

int hf_path_join(char buf[HF_PATH_SIZE], const char *dir, const char *name)
{
	int n = snprintf(buf, HF_PATH_SIZE, "%s%s%s", dir, *dir ? "/" : "", name);

	return n < HF_PATH_SIZE ? 0 : HF_ERR_PATH_LENGTH;
}

const char *hf_path_split(char buf[HF_PATH_SIZE], const char *path)
{
	const char *slash = strrchr(path, '/');

	snprintf(buf, HF_PATH_SIZE, "%.*s", slash ? (int)(slash - path) : 0, path);
	return slash ? slash + 1 : path;
}

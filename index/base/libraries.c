/* SPDX-License-Identifier: Apache-2.0 */
#include "index/base/libraries.h"

#include "codecs/base/libraries.h"

#include <sqlite3.h>
#include <stdio.h>
#include <xxhash.h>

int hf_index_libraries(char *buf, size_t size)
{
	char codecs[256];
	unsigned xxh = XXH_versionNumber();

	hf_codecs_libraries(codecs, sizeof codecs);
	return snprintf(buf, size, "SQLite %s, xxHash %u.%u.%u, %s", sqlite3_libversion(), xxh / 10000, xxh / 100 % 100,
			xxh % 100, codecs);
}

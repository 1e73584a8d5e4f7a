/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/base/libraries.h"

#include "codecs/isa/disasm.h"

#include <lzma.h>
#include <stdio.h>
#include <zlib.h>
#include <zstd.h>

int hf_codecs_libraries(char *buf, size_t size)
{
	return snprintf(buf, size, "liblzma %s, zlib %s, libzstd %s, %s", lzma_version_string(), zlibVersion(),
			ZSTD_versionString(), hf_disasm_version());
}

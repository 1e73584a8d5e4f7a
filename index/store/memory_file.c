/* SPDX-License-Identifier: Apache-2.0 */
#include "index/store/memory_file.h"

#include <errno.h>
#include <sys/mman.h>

enum { NOEXEC_SEAL = 8 };

/* Where the system allows no other memory files, they must not be executable; older ones do not know that. */
int hf_memory_file_new(void)
{
	int fd = memfd_create("hartfs-index", MFD_CLOEXEC | NOEXEC_SEAL);

	return fd < 0 && errno == EINVAL ? memfd_create("hartfs-index", MFD_CLOEXEC) : fd;
}

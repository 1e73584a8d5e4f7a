/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/lib/dbfuzz.h"

#include "index/store/file.h"
#include "index/table/vfs.h"
#include "tests/lib/check.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define FILE_MAX ((size_t)1 << 20)

static void change(struct hf_walk_bytes *file, const uint8_t *p, size_t n)
{
	while (n >= 4) {
		const size_t at = (size_t)p[0] * HF_PAGE_SIZE + (size_t)(p[1] | p[2] << 8);
		const size_t count = p[3] < n - 4 ? p[3] : n - 4;

		if (at < file->n && count <= file->n - at)
			memcpy(file->p + at, p + 4, count);
		p += 4 + count;
		n -= 4 + count;
	}
}

static void write_file(int dirfd, const char *name, const struct hf_walk_bytes *file)
{
	int fd = openat(dirfd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	CHECK(fd >= 0);
	CHECK(write(fd, file->p, file->n) == (ssize_t)file->n);
	close(fd);
}

void db_fuzz_store(int dirfd, const char *name, const struct hf_walk_bytes *valid, unsigned mode, const uint8_t *bytes,
		   size_t n)
{
	struct hf_walk_bytes file = {0};

	if (mode & DB_FUZZ_CHANGES) {
		hf_bytes_add(&file, valid->p, valid->n);
		change(&file, bytes, n);
	} else {
		hf_bytes_add(&file, bytes, n < FILE_MAX ? n : FILE_MAX);
	}
	if (mode & DB_FUZZ_SEALED)
		for (size_t at = 0; at + HF_PAGE_SIZE <= file.n; at += HF_PAGE_SIZE)
			hf_vfs_seal(file.p + at, at);
	write_file(dirfd, name, &file);
	hf_bytes_free(&file);
}

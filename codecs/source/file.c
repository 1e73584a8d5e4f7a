/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/source/source.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* pread takes at most 0x7ffff000 bytes on Linux; asking for less keeps ssize_t out of the question. */
#define PREAD_MAX (UINT32_C(1) << 30)

struct file_src {
	struct hf_src src;
	int fd;
};

static int read_error(struct hf_diag *diag, uint64_t offset, int errnum)
{
	int code = errnum == ESTALE ? HF_ERR_CHANGED : errnum == ENOMEM ? HF_ERR_NOMEM : HF_ERR_IO;

	return hf_diag_set(diag, code, HF_SPACE_FILE, offset, (uint64_t)errnum);
}

/*
 * Bytes that were read before an error are given first; the error comes with the next read, at its place. A file
 * that is now shorter than it was when it was opened is HF_ERR_CHANGED, never an early end.
 */
int hf_src_file_read(int fd, uint64_t size, uint64_t offset, void *buf, size_t n, size_t *ret_n, struct hf_diag *diag)
{
	uint8_t *p = buf;
	size_t got = 0;

	*ret_n = 0;
	if (offset >= size)
		return 0;
	if (n > size - offset)
		n = (size_t)(size - offset);
	while (got < n) {
		size_t want = n - got < PREAD_MAX ? n - got : PREAD_MAX;
		ssize_t r = pread(fd, p + got, want, (off_t)(offset + got));

		if (r < 0 && errno == EINTR)
			continue;
		if (r <= 0 && got == 0)
			return r < 0 ? read_error(diag, offset, errno)
				     : hf_diag_set(diag, HF_ERR_CHANGED, HF_SPACE_FILE, offset, 0);
		if (r <= 0)
			break;
		got += (size_t)r;
	}
	*ret_n = got;
	return 0;
}

static int file_read_at(struct hf_src *src, uint64_t offset, void *buf, size_t n, size_t *ret_n, struct hf_diag *diag)
{
	return hf_src_file_read(((const struct file_src *)src)->fd, src->size, offset, buf, n, ret_n, diag);
}

static void file_free(struct hf_src *src)
{
	struct file_src *file = (struct file_src *)src;

	close(file->fd);
	free(file);
}

static const struct hf_src_ops file_ops = {.read_at = file_read_at, .free = file_free};

int hf_src_file_new(int fd, struct hf_src **ret_src, struct hf_diag *diag)
{
	struct file_src *file = NULL;
	struct stat st;
	int err = 0;

	*ret_src = NULL;
	if (fstat(fd, &st) < 0)
		err = read_error(diag, HF_NOWHERE, errno);
	else if (!S_ISREG(st.st_mode))
		err = hf_diag_set(diag, HF_ERR_UNSUPPORTED, HF_SPACE_FILE, HF_NOWHERE, 0);
	else if (!(file = malloc(sizeof *file)))
		err = hf_diag_set(diag, HF_ERR_NOMEM, HF_SPACE_FILE, HF_NOWHERE, 0);
	if (err) {
		close(fd);
		return err;
	}
	*file = (struct file_src){.src = {.ops = &file_ops, .size = (uint64_t)st.st_size}, .fd = fd};
	*ret_src = &file->src;
	return 0;
}

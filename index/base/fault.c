/* SPDX-License-Identifier: Apache-2.0 */
#include "index/base/fault.h"

#include "codecs/base/errors.h"
#include "index/base/libc.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static _Thread_local struct hf_fault last;

int hf_fault_set(const char *doing, const char *file, int errnum)
{
	const int before = errno;

	if (errnum == ENOMEM)
		return HF_ERR_NOMEM;
	if (errnum == EMFILE)
		return HF_ERR_FILES;
	if (errnum == ENFILE)
		return HF_ERR_FILES_SYSTEM;
	last = (struct hf_fault){.errnum = errnum ? errnum : EIO, .doing = doing};
	snprintf(last.file, sizeof last.file, "%s", file ? file : "");
	errno = before;
	return HF_ERR_INDEX_DIR;
}

int hf_fault_set_fd(const char *doing, int fd, int errnum)
{
	char entry[32], target[PATH_MAX];
	const char *slash = NULL;
	ssize_t n;

	snprintf(entry, sizeof entry, "/proc/self/fd/%d", fd);
	n = readlink(entry, target, sizeof target - 1);
	if (n > 0) {
		target[n] = 0;
		slash = strrchr(target, '/');
	}
	return hf_fault_set(doing, slash ? slash + 1 : NULL, errnum);
}

const struct hf_fault *hf_fault_last(void)
{
	return &last;
}

void hf_fault_take(struct hf_fault *ret_fault)
{
	*ret_fault = last;
	last = (struct hf_fault){0};
}

void hf_fault_put_back(const struct hf_fault *fault)
{
	last = *fault;
}

bool hf_fault_is_room(const struct hf_fault *fault)
{
	return fault->errnum == ENOSPC || fault->errnum == EDQUOT || fault->errnum == EFBIG;
}

bool hf_fault_is_of_file(const struct hf_fault *fault)
{
	return fault->errnum == EEXIST || fault->errnum == EISDIR || fault->errnum == ELOOP ||
	       fault->errnum == ENXIO;
}

int hf_fault_format(const struct hf_fault *fault, char *buf, size_t size)
{
	char text[128];
	const char *why = hf_libc_error(fault->errnum, text, sizeof text);

	return snprintf(buf, size, "%s failed: %s%s%s%s", fault->doing ? fault->doing : "using it", why,
			*fault->file ? " (" : "", fault->file, *fault->file ? ")" : "");
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "mountd/record_loads.h"
#include "codecs/base/array.h"
#include "codecs/image/elf_read.h"
#include "mountd/log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

struct copy {
	char *path, *name; /* where it is from, and its name in the directory; NULL: there is no copy */
	uint64_t bias,
		beyond; /* where it is in memory, as far as was told; and the first address behind its last segment */
};

struct hf_record_loads {
	int dirfd, text_fd;
	int errnum;
	struct copy *copy;
	size_t count;
};

static void fail(struct hf_record_loads *l, const char *path, int errnum)
{
	if (!l->errnum)
		hf_say(stderr, "hartfs record: %s: %s: the recording has no copy of it", path, strerror(errnum));
	l->errnum = l->errnum ? l->errnum : errnum;
}

struct hf_record_loads *hf_record_loads_new(int dirfd, const char *name)
{
	static const char head[] = "# Where the program had these files, for a capture.ini: see hartfs-capture(5).\n"
				   "[program]\n";
	struct hf_record_loads *l = calloc(1, sizeof *l);
	char path[NAME_MAX + 8];

	if (!l)
		return NULL;
	snprintf(path, sizeof path, "%s.d", name);
	l->dirfd = openat(dirfd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	l->text_fd = openat(l->dirfd, "addresses.txt", O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
	if (l->text_fd < 0 || write(l->text_fd, head, sizeof head - 1) < 0)
		fail(l, path, errno);
	return l;
}

/* The last part of path, as a description takes it without quotes; with a number if there is one of that name. */
static char *name_for(const struct hf_record_loads *l, const char *path)
{
	const char *slash = strrchr(path, '/');
	char *name = NULL, *part = strdup(slash ? slash + 1 : path);
	int err = -1;

	for (char *c = part; c && *c; c++)
		if (*c <= ' ' || *c == 0x7f || strchr(",;#\"=", *c))
			*c = '_';
	for (size_t n = 1; part && (err || n == 1); n++) {
		free(name);
		err = n == 1 ? asprintf(&name, "%s", part) < 0 : asprintf(&name, "%s~%zu", part, n) < 0;
		if (err)
			break;
		err = !*name || faccessat(l->dirfd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
	}
	free(part);
	return err ? NULL : name;
}

/* 0 or an errno. */
static int copy_bytes(int from, int to)
{
	ssize_t n;

	do
		n = sendfile(to, from, NULL, 1 << 20);
	while (n > 0 || (n < 0 && errno == EINTR));
	return n < 0 ? errno : 0;
}

/* The program may name anything: a pipe would be waited for, a device may never end. */
int hf_record_copy(const char *path, int dirfd, const char *name)
{
	int from = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), to = -1, err = from < 0 ? errno : 0;
	struct stat st;

	if (!err && fstat(from, &st) < 0)
		err = errno;
	else if (!err && !S_ISREG(st.st_mode))
		err = S_ISDIR(st.st_mode) ? EISDIR : EINVAL;
	if (!err) {
		to = openat(dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		err = to < 0 ? errno : copy_bytes(from, to);
	}
	if (from >= 0)
		close(from);
	if (to >= 0 && close(to) < 0 && !err)
		err = errno;
	if (to >= 0 && err)
		unlinkat(dirfd, name, 0);
	return err;
}

/* A copy, made when its path comes first. NULL: there is none. */
static struct copy *copy_of(struct hf_record_loads *l, const char *path)
{
	char *name;
	int err;

	for (size_t i = 0; i < l->count; i++)
		if (!strcmp(l->copy[i].path, path))
			return l->copy[i].name ? &l->copy[i] : NULL;
	if (hf_array_room(&l->copy, l->count, sizeof *l->copy))
		return NULL;
	name = name_for(l, path);
	err = name ? hf_record_copy(path, l->dirfd, name) : ENOMEM;
	if (err) {
		fail(l, path, err);
		free(name);
		name = NULL;
	}
	l->copy[l->count] = (struct copy){.path = strdup(path), .name = name};
	if (!l->copy[l->count].path) {
		free(name);
		return NULL;
	}
	return l->copy[l->count++].name ? &l->copy[l->count - 1] : NULL;
}

/* What is added to the file's addresses if its first byte is at address. False: it does not say, or that is nothing
 * new. */
static bool place(struct hf_record_loads *l, struct copy *copy, uint64_t address)
{
	int fd = openat(l->dirfd, copy->name, O_RDONLY | O_CLOEXEC);
	uint64_t bias = 0, beyond = 0;
	struct hf_elf_file elf;
	struct hf_src *src;
	struct hf_diag diag;
	bool found = false;

	/* The data of a small file is a second copy of its first page. */
	if (fd >= 0 && address > copy->bias && address < copy->beyond) {
		close(fd);
		return false;
	}
	if (fd < 0 || hf_src_file_new(fd, &src, &diag) < 0)
		return false;
	if (!hf_elf_file_open(src, &elf, &diag)) {
		for (size_t i = 0; i < elf.segment_count; i++) {
			const struct hf_elf_segment *segment = &elf.segments[i];

			if (!found && segment->offset < 4096)
				found = true, bias = address - (segment->address - segment->offset);
			if (segment->address + segment->memory_size > beyond)
				beyond = segment->address + segment->memory_size;
		}
		hf_elf_file_close(&elf);
	}
	hf_src_free(src);
	copy->bias = bias;
	copy->beyond = bias + beyond;
	return found;
}

void hf_record_loads_add(struct hf_record_loads *l, const char *path, const uint64_t *address)
{
	struct copy *copy = l ? copy_of(l, path) : NULL;
	int err = 0;

	if (!copy)
		return;
	if (!address)
		err = dprintf(l->text_fd, "elf = %s\n", copy->name) < 0;
	else if (place(l, copy, *address))
		err = dprintf(l->text_fd, "elf = %s, bias = 0x%" PRIx64 "\n", copy->name, copy->bias) < 0;
	if (err)
		fail(l, "addresses.txt", errno);
}

int hf_record_loads_free(struct hf_record_loads *l)
{
	int err = l ? l->errnum : ENOMEM;

	if (!l)
		return err;
	for (size_t i = 0; i < l->count; i++) {
		free(l->copy[i].path);
		free(l->copy[i].name);
	}
	if (l->text_fd >= 0)
		close(l->text_fd);
	if (l->dirfd >= 0)
		close(l->dirfd);
	free(l->copy);
	free(l);
	return err;
}

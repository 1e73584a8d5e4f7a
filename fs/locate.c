/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/locate.h"

#include "codecs/codec.h"
#include "fs/fs.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const descriptions[] = {"capture.ini", "snapshot.ini"};
#define DESCRIPTIONS (sizeof descriptions / sizeof *descriptions)

/* Whether the file called data in that directory makes a capture of it, as that of perf does. */
static bool is_own_description(int dir_fd)
{
	const int fd = openat(dir_fd, "data", O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC);
	uint8_t head[HF_PROBE_SIZE];
	const struct hf_codec *codec = NULL;
	struct stat st;
	ssize_t n = -1;

	if (fd < 0)
		return false;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		n = pread(fd, head, sizeof head, 0);
	if (n > 0)
		codec = hf_codec_probe(head, (size_t)n);
	close(fd);
	return codec && codec->describe;
}

static bool is_capture_dir(const char *path)
{
	int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	bool found = false;

	if (fd < 0)
		return false;
	for (size_t i = 0; i < DESCRIPTIONS; i++)
		found |= faccessat(fd, descriptions[i], F_OK, 0) == 0;
	found |= is_own_description(fd);
	close(fd);
	return found;
}

bool hf_locate_is_directory(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode) && !is_capture_dir(path);
}

static unsigned ask(void *ctx, int dir_fd, const char *ini)
{
	(void)ctx;
	return hf_fs_reach(dir_fd, ini);
}

/* How many directories above the one that holds it an archive with this capture must begin. */
static unsigned levels_above(const char *real, bool directory, hf_reach_fn reach, void *ctx)
{
	char *copy = strdup(real), *slash = copy ? strrchr(copy, '/') : NULL;
	unsigned levels = 0;
	int fd = -1;

	if (slash && !directory)
		*slash = 0;
	if (slash)
		fd = open(*copy ? copy : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0 && !directory)
		levels = reach(ctx, fd, slash + 1);
	for (size_t i = 0; fd >= 0 && directory && i < DESCRIPTIONS && !levels; i++)
		levels = reach(ctx, fd, descriptions[i]);
	if (fd >= 0)
		close(fd);
	free(copy);
	return directory && levels ? levels - 1 : levels;
}

static bool is_ini(const char *real)
{
	const size_t n = strlen(real);

	return n > 4 && strcmp(real + n - 4, ".ini") == 0;
}

/* In the root of an archive, which nothing can lie beside, a description is a capture itself. */
static void cut_description(char *name)
{
	char *slash = strrchr(name, '/');

	for (size_t i = 0; slash && i < DESCRIPTIONS; i++)
		if (strcmp(slash + 1, descriptions[i]) == 0) {
			*slash = 0;
			return;
		}
}

bool hf_locate(const char *path, bool as_capture, hf_reach_fn reach, void *ctx, char **ret_directory, char **ret_name)
{
	char *real = realpath(path, NULL), *slash;
	unsigned up = 0;
	bool directory;

	*ret_directory = *ret_name = NULL;
	if (!real)
		return false;
	slash = strrchr(real, '/');
	directory = is_capture_dir(real);
	if (directory || is_ini(real))
		up = levels_above(real, directory, reach ? reach : ask, ctx);
	for (; up && slash > real; up--)
		slash = memrchr(real, '/', (size_t)(slash - real));
	*ret_name = strdup(slash + 1);
	slash[slash == real] = 0;
	*ret_directory = real;
	if (*ret_name && as_capture)
		cut_description(*ret_name);
	return *ret_name != NULL;
}

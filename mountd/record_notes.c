/* SPDX-License-Identifier: Apache-2.0 */
#include "mountd/record_notes.h"
#include "codecs/image/lines.h"
#include "mountd/log.h"
#include "mountd/record_loads.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Source files that are copied: a directory beside a capture may have 512 files. */
enum { SOURCES = 384 };

struct sources {
	int dirfd;	     /* NAME.d/sources */
	char *path[SOURCES]; /* that were copied, or are not there */
	size_t count, copied;
	uint64_t left_out; /* rows of lines of files beyond the limit */
	int errnum;
};

char *hf_record_quote(const char *text)
{
	const size_t plain = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./@%+=:,-");
	char *quoted = malloc(4 * strlen(text) + 3), *to = quoted;

	if (!quoted || (plain && !text[plain])) {
		if (quoted)
			memcpy(quoted, text, plain + 1);
		return quoted;
	}
	*to++ = '\'';
	for (; *text; text++) {
		if (*text == '\'')
			to = stpcpy(to, "'\\'");
		*to++ = *text;
	}
	stpcpy(to, "'");
	return quoted;
}

/* ---- sources ---- */

/* A copy by its last name; of a second file of that name in a directory with a number. 0 or an errno. */
static int copy_source(struct sources *s, const char *path)
{
	const char *slash = strrchr(path, '/');
	char name[NAME_MAX + 16];
	int err = EEXIST;

	for (unsigned n = 1; err == EEXIST && n <= SOURCES; n++) {
		size_t at = 0;

		if (n > 1) {
			at = (size_t)snprintf(name, sizeof name, "%u", n);
			mkdirat(s->dirfd, name, 0777);
			name[at++] = '/';
		}
		snprintf(name + at, sizeof name - at, "%s", slash ? slash + 1 : path);
		err = hf_record_copy(path, s->dirfd, name);
	}
	return err;
}

static void take_source(struct sources *s, const struct hf_line *line)
{
	char *path;
	int err;

	for (size_t i = s->count; i-- > 0;)
		if (strlen(s->path[i]) == line->path_size && !memcmp(s->path[i], line->path, line->path_size))
			return;
	if (s->count == SOURCES) {
		s->left_out++;
		return;
	}
	path = strndup(line->path, line->path_size);
	if (!path) {
		s->errnum = ENOMEM;
		return;
	}
	s->path[s->count++] = path;
	err = copy_source(s, path);
	s->copied += !err;
	if (err && err != ENOENT && err != ENOTDIR && err != EACCES && !s->errnum)
		s->errnum = err;
}

static void take_lines(struct sources *s, struct hf_lines *lines)
{
	struct hf_line line = {.end = 0};
	const char *before = NULL;

	do {
		hf_lines_at(lines, line.end, &line);
		if (line.line && line.path != before)
			take_source(s, &line);
		before = line.line ? line.path : before;
	} while (line.end > line.start && line.end != UINT64_MAX);
}

/* The files of an ELF; what is none has none. */
static void take_elf(struct sources *s, int dirfd, const char *name)
{
	int fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	struct hf_lines *lines;
	struct hf_src *src;
	struct hf_diag diag;

	if (fd < 0 || hf_src_file_new(fd, &src, &diag) < 0)
		return;
	if (!hf_lines_new(src, 0, NULL, &lines, &diag)) {
		if (hf_lines_count(lines))
			take_lines(s, lines);
		hf_lines_free(lines);
	}
	hf_src_free(src);
}

static bool copy_sources(int dirfd, const char *name, bool quiet)
{
	struct sources s = {.dirfd = -1};
	DIR *dir = fdopendir(fcntl(dirfd, F_DUPFD_CLOEXEC, 0));

	if (dir && mkdirat(dirfd, "sources", 0777) == 0)
		s.dirfd = openat(dirfd, "sources", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s.dirfd < 0)
		s.errnum = errno;
	for (struct dirent *entry; s.dirfd >= 0 && (entry = readdir(dir));)
		if (entry->d_type == DT_REG || entry->d_type == DT_UNKNOWN)
			take_elf(&s, dirfd, entry->d_name);
	if (s.errnum)
		hf_say(stderr, "hartfs record: %s.d/sources: %s", name, strerror(s.errnum));
	if (!quiet)
		hf_say(stderr, "hartfs record: %s.d/sources: %zu of %zu source files were found%s", name, s.copied, s.count,
	       s.left_out ? "; there are more, which are left out" : "");
	for (size_t i = 0; i < s.count; i++)
		free(s.path[i]);
	if (s.dirfd >= 0)
		close(s.dirfd);
	if (dir)
		closedir(dir);
	return !s.errnum;
}

/* ---- the command ---- */

static bool write_command(const struct hf_settings *settings, int dirfd)
{
	const int fd = openat(dirfd, "recording.txt", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
	const time_t now = time(NULL);
	struct tm tm;
	char date[32] = "?";
	bool good;

	if (!file)
		return false;
	if (gmtime_r(&now, &tm))
		strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S", &tm);
	fprintf(file, "command ");
	for (int i = 0; i < settings->operand_count; i++) {
		char *word = hf_record_quote(settings->operands[i]);

		fprintf(file, " %s", word ? word : "?");
		free(word);
	}
	fprintf(file, "\nrecorded %s UTC\n", date);
	good = !ferror(file);
	return !fclose(file) && good;
}

bool hf_record_notes(const struct hf_settings *settings, int dirfd, const char *name)
{
	char path[NAME_MAX + 32];
	bool good;
	int fd;

	snprintf(path, sizeof path, "%s.d", name);
	fd = openat(dirfd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	good = fd >= 0 && write_command(settings, fd);
	if (!good)
		hf_say(stderr, "hartfs record: %s/recording.txt: %s", path, strerror(errno));
	if (fd >= 0 && settings->sources)
		good = copy_sources(fd, name, settings->verbosity < 0) && good;
	if (fd >= 0)
		close(fd);
	return good;
}

#include "mountd/paths.h"

#include "mountd/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* mkdir -p with mode 0700. */
static int make_directories(char *path)
{
	for (char *slash = path + 1; (slash = strchr(slash, '/')); slash++) {
		int err;

		*slash = 0;
		err = mkdir(path, 0700) < 0 && errno != EEXIST ? errno : 0;
		*slash = '/';
		if (err)
			return err;
	}
	return mkdir(path, 0700) < 0 && errno != EEXIST ? errno : 0;
}

static char *default_index_dir(void)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	char *path = NULL;
	int n;

	if (cache && *cache == '/')
		n = asprintf(&path, "%s/hartfs", cache);
	else if (home && *home == '/')
		n = asprintf(&path, "%s/.cache/hartfs", home);
	else
		n = asprintf(&path, "/var/cache/hartfs"); /* started by the system, from fstab for one */
	return n < 0 ? NULL : path;
}

int hf_paths_open_index(const struct hf_settings *settings)
{
	char *path = settings->index_dir ? strdup(settings->index_dir) : default_index_dir();
	int fd = -1, err = 0;

	if (!path) {
		err = ENOMEM;
	} else {
		fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd < 0 && errno == ENOENT) {
			err = make_directories(path);
			fd = err ? -1 : open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		}
		if (fd < 0 && !err)
			err = errno;
	}
	if (fd < 0)
		fprintf(stderr, "hartfs: %s: the index directory cannot be used: %s\n", path ? path : "",
			strerror(err));
	free(path);
	return fd;
}

struct hf_fs *hf_paths_open_archive(const struct hf_settings *settings, const char *directory, bool catalogue,
				    const struct hf_stop *stop)
{
	struct hf_fs_options options = {.cache_bytes = settings->cache,
					.stream_memory = settings->stream_memory,
					.expansion = settings->expansion,
					.threads = settings->threads,
					.index_threads = settings->jobs,
					.no_index = true,
					.chunk_insns = settings->chunk,
					.views = settings->views,
					.params = settings->params,
					.log = hf_log_line,
					.stop = stop};
	struct hf_fs_place place;
	struct hf_diag diag = {0};
	struct hf_fs *fs = NULL;
	struct stat st;
	char *real, why[320];
	int err;

	options.archive_fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (options.archive_fd < 0) {
		fprintf(stderr, "hartfs: %s: %s\n", directory, strerror(errno));
		return NULL;
	}
	if (hf_fs_check_params(options.archive_fd, settings->params, why, sizeof why)) {
		fprintf(stderr, "hartfs: %s: %s\n", directory, why);
		close(options.archive_fd);
		return NULL;
	}
	options.index_fd = hf_paths_open_index(settings);
	if (options.index_fd < 0) {
		close(options.archive_fd);
		return NULL;
	}
	if (fstat(options.index_fd, &st) == 0) {
		place = (struct hf_fs_place){.dev = st.st_dev, .ino = st.st_ino};
		options.skip = &place;
		options.skip_count = 1;
	}
	options.archive_path = real = catalogue ? realpath(directory, NULL) : NULL;
	err = hf_fs_open(&options, &fs, &diag);
	free(real);
	if (err) {
		hf_paths_explain("", directory, err, &diag);
		return NULL;
	}
	return fs;
}

static const char *const descriptions[] = {"capture.ini", "snapshot.ini"};

static bool is_capture_dir(const char *path)
{
	int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	bool found = false;

	if (fd < 0)
		return false;
	for (size_t i = 0; i < sizeof descriptions / sizeof descriptions[0]; i++)
		found |= faccessat(fd, descriptions[i], F_OK, 0) == 0;
	close(fd);
	return found;
}

bool hf_paths_is_directory(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode) && !is_capture_dir(path);
}

static bool is_description(const char *real)
{
	const size_t n = strlen(real);

	return is_capture_dir(real) || (n > 4 && strcmp(real + n - 4, ".ini") == 0);
}

/* How many directories above the one that holds it an archive with this capture must begin. */
static unsigned reach(const char *real, bool directory)
{
	char *copy = strdup(real), *slash = copy ? strrchr(copy, '/') : NULL;
	unsigned levels = 0;
	int fd;

	if (slash && !directory)
		*slash = 0;
	fd = slash ? open(*copy ? copy : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	if (fd >= 0) {
		if (!directory)
			levels = hf_fs_reach(fd, slash + 1);
		for (size_t i = 0; directory && i < 2 && !levels; i++)
			levels = hf_fs_reach(fd, descriptions[i]);
		close(fd);
	}
	free(copy);
	return directory && levels ? levels - 1 : levels;
}

/* In the root of an archive, which nothing can lie beside, a description is a capture itself. */
static void cut_description(char *name)
{
	char *slash = strrchr(name, '/');

	for (size_t i = 0; slash && i < sizeof descriptions / sizeof descriptions[0]; i++)
		if (strcmp(slash + 1, descriptions[i]) == 0) {
			*slash = 0;
			return;
		}
}

bool hf_paths_split(const char *path, bool as_capture, char **ret_directory, char **ret_name)
{
	char *real = realpath(path, NULL), *slash;

	*ret_directory = *ret_name = NULL;
	if (!real)
		return false;
	slash = strrchr(real, '/');
	for (unsigned up = is_description(real) ? reach(real, is_capture_dir(real)) : 0; up && slash > real; up--)
		slash = memrchr(real, '/', (size_t)(slash - real));
	*ret_name = strdup(slash + 1);
	slash[slash == real] = 0;
	*ret_directory = real;
	if (*ret_name && as_capture)
		cut_description(*ret_name);
	return *ret_name != NULL;
}

void hf_paths_explain(const char *command, const char *path, int err, const struct hf_diag *diag)
{
	char text[256];
	struct hf_diag own = {.code = err, .offset = HF_NOWHERE};

	hf_diag_format(diag && diag->code == err ? diag : &own, text, sizeof text);
	fprintf(stderr, "hartfs%s%s: %s: %s\n", *command ? " " : "", command, path, text);
}

void hf_paths_explain_capture(const char *command, const char *shown, struct hf_fs *fs, const char *path, int err,
			      const struct hf_diag *diag)
{
	char text[1024];

	if (hf_fs_explain(fs, path, text, sizeof text))
		fprintf(stderr, "hartfs %s: %s: %s\n", command, shown, text);
	else
		hf_paths_explain(command, shown, err, diag);
}

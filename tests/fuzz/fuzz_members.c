/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A directory with descriptions and what they name, as an archive: input is a text in which "@NAME" on a line of its own
 * begins a file (tests/lib/files.h). The members are found, each once and within the archive; looking at them twice gives
 * the same stamp; and whichever description has a file as a member claims it.
 */
#include "fs/stream/members.h"
#include "fs/tree/tree.h"
#include "tests/lib/files.h"
#include "tests/lib/fstest.h"
#include "tests/lib/fuzz.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MAX 8192

static const char *const names[] = {"d/capture.ini", "d/snapshot.ini", "x.ini", "d/t", "d/rom", "e/t", "d/cpu", "d/etm"};
enum { NAMES = sizeof names / sizeof *names };

static struct hf_fst t;
static struct hf_archive archive;
static bool there[NAMES];

static void clean_up(void)
{
	close(archive.fd);
	hf_fst_end(&t);
}

static void set_up(void)
{
	hf_fst_begin(&t);
	archive.fd = open(t.archive, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	MUST(archive.fd >= 0);
	MUST(mkdirat(archive.fd, "d", 0755) == 0 && mkdirat(archive.fd, "e", 0700) == 0);
	atexit(clean_up);
}

static void store(size_t i, struct hf_src *src)
{
	static uint8_t buf[FILE_MAX];
	size_t n;
	int fd;

	MUST(src->ops->read_at(src, 0, buf, sizeof buf, &n, NULL) == 0);
	fd = openat(archive.fd, names[i], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, i & 1 ? 0640 : 0644);
	MUST(fd >= 0 && write(fd, buf, n) == (ssize_t)n);
	close(fd);
	hf_src_free(src);
	there[i] = true;
}

static void lay_out(const uint8_t *bytes, size_t n)
{
	struct hf_files files = {(const char *)bytes, n};
	const struct hf_setup_opener opener = hf_files_opener(&files, hf_codecs);
	struct hf_src *src;

	for (size_t i = 0; i < NAMES; i++) {
		if (opener.open(opener.ctx, names[i], &src, NULL) == 0) {
			store(i, src);
		} else if (there[i]) {
			MUST(unlinkat(archive.fd, names[i], 0) == 0);
			there[i] = false;
		}
	}
}

static void check_paths(const struct hf_members *members)
{
	for (size_t i = 0; i < members->count; i++) {
		const char *path = members->path[i];
		char again[HF_PATH_SIZE];

		if (!path)
			continue;
		MUST(hf_members_find_path(members, path) == i);
		MUST(hf_members_resolve("x.ini", path, again) == 0 && strcmp(path, again) == 0);
	}
	for (size_t i = 0; i < members->dir_count; i++)
		MUST(*members->dir[i] && *members->dir[i] != '/');
	MUST(members->dir_count <= HF_MEMBERS_DIRS_MAX);
}

static void check_stamps(const struct hf_members *members)
{
	struct hf_member_state *state = calloc(members->count + 1, sizeof *state);
	struct hf_access access;
	uint64_t stamp, again;
	struct stat st;

	MUST(state);
	MUST(hf_archive_stat(&archive, members->ini, &st) == 0);
	MUST(hf_members_look(&archive, members, &st, &access, &stamp) == 0 && stamp);
	MUST(hf_members_look(&archive, members, &st, NULL, &again) == 0 && again == stamp);
	MUST(access.some);
	for (size_t i = 0; i < members->count; i++)
		if (members->path[i] && hf_archive_stat(&archive, members->path[i], &st) == 0)
			state[i] = hf_member_state_of(&st);
	MUST(hf_members_stamp_opened(&archive, members, state, &again) == 0 && again == stamp);
	free(state);
}

static void check_claims(const struct hf_members *members)
{
	for (size_t i = 0; i < NAMES; i++) {
		bool member;

		MUST(hf_members_claim(&archive, names[i], &member) == 0);
		/* Only the descriptions of a directory claim what is in it. */
		if (members && names[i][0] == 'd' && names[i][1] == '/' && strncmp(members->ini, "d/", 2) == 0)
			MUST(member || !hf_members_have(members, names[i]));
	}
}

static void look(const char *path)
{
	struct hf_members *members = NULL;
	char ini[HF_PATH_SIZE];
	struct stat st;
	int err;

	if (hf_archive_stat(&archive, path, &st) || hf_members_find(&archive, path, &st, ini, &st))
		return;
	err = hf_members_read(&archive, ini, &members);
	MUST(!err == !!members && (err == 0 || err == HF_ERR_NOT_FOUND));
	if (members) {
		check_paths(members);
		check_stamps(members);
	}
	check_claims(members);
	hf_members_unref(members);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	if (!*t.dir)
		set_up();
	if (n > FILE_MAX)
		return 0;
	lay_out(bytes, n);
	look("d");
	look("x.ini");
	return 0;
}

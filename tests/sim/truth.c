/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/truth.h"

#include "tests/lib/check.h"
#include "tests/sim/calls.h"
#include "tests/sim/sched.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

/* ---- names ---- */

struct taking {
	struct hf_fs *fs;
	struct sim_names *names;
	bool plus;
	size_t room;
	uint64_t cookie;
};

static bool take(void *ctx, const char *name, const struct hf_attr *attr, uint64_t next_cookie)
{
	struct taking *t = ctx;
	struct sim_names *names = t->names;
	const bool is_dot = strcmp(name, ".") == 0 || strcmp(name, "..") == 0;

	if (!t->room)
		return false;
	t->room--;
	t->cookie = next_cookie;
	if (is_dot)
		return true;
	if (t->plus)
		hf_fs_forget(t->fs, attr->st.st_ino, 1);
	names->name = realloc(names->name, (names->n + 1) * sizeof *names->name);
	names->is_dir = realloc(names->is_dir, names->n + 1);
	CHECK(names->name && names->is_dir);
	snprintf(names->name[names->n], sizeof *names->name, "%s", name);
	names->is_dir[names->n++] = S_ISDIR(attr->st.st_mode);
	return true;
}

void sim_names_read(struct hf_fs *fs, uint64_t ino, bool plus, struct sim_names *ret_names)
{
	struct taking t = {.fs = fs, .names = ret_names, .plus = plus};
	struct hf_dir *dir;

	*ret_names = (struct sim_names){0};
	ret_names->err = hf_dir_open(fs, ino, &dir, NULL);
	if (ret_names->err)
		return;
	do {
		t.room = 5;
		ret_names->err = hf_dir_read(dir, t.cookie, plus, take, &t);
	} while (!ret_names->err && !t.room);
	hf_dir_close(dir);
}

void sim_names_free(struct sim_names *names)
{
	free(names->name);
	free(names->is_dir);
}

/* ---- walking ---- */

struct walk {
	struct hf_fs *fs;
	struct sim_version *version;
	const char *view_dir;
	bool by_name;
};

static uint64_t resolve(const struct walk *w, const char *path)
{
	char full[256];
	uint64_t ino;
	int err;

	snprintf(full, sizeof full, "%s%s%s", w->view_dir, *path ? "/" : "", path);
	err = hf_fs_resolve(w->fs, full, &ino);
	if (err) {
		fprintf(stderr, "%s: %s\n", full, hf_err_name(err));
		exit(1);
	}
	return ino;
}

static struct hf_walk_bytes read_all(const struct walk *w, const char *path)
{
	struct hf_walk_bytes b = {0};
	uint64_t ino = resolve(w, path);
	uint8_t buf[4096];
	struct hf_file *file;
	struct hf_attr attr;
	bool keep;
	size_t n;

	CHECK_EQ(hf_fs_getattr(w->fs, ino, &attr), 0);
	CHECK_EQ(hf_file_open(w->fs, ino, &file, &keep), 0);
	do {
		CHECK_EQ(hf_fs_read_wait(w->fs, file, b.n, buf, sizeof buf, &n), 0);
		hf_bytes_add(&b, buf, n);
	} while (n == sizeof buf);
	CHECK_EQ(b.n, attr.st.st_size);
	hf_file_close(file);
	hf_fs_forget(w->fs, ino, 1);
	return b;
}

static void walk(const struct walk *w, const char *path)
{
	struct sim_names names;
	uint64_t ino = resolve(w, path);

	sim_names_read(w->fs, ino, false, &names);
	CHECK_EQ(names.err, 0);
	for (size_t i = 0; i < names.n; i++) {
		struct sim_version *v = w->version;
		struct sim_view *view;
		char child[96];

		CHECK(snprintf(child, sizeof child, "%s%s%s", path, *path ? "/" : "", names.name[i]) <
		      (int)sizeof child);
		v->view = realloc(v->view, (v->views + 1) * sizeof *v->view);
		CHECK(v->view);
		view = &v->view[v->views++];
		*view = (struct sim_view){.is_dir = names.is_dir[i], .by_name = w->by_name};
		view->loose = strcmp(names.name[i], "info.json") == 0;
		memcpy(view->path, child, sizeof child);
		if (view->is_dir)
			walk(w, child);
		else
			view->bytes = read_all(w, child);
	}
	hf_fs_forget(w->fs, ino, 1);
	sim_names_free(&names);
}

static bool has(const struct walk *w, const char *path)
{
	char full[256];
	uint64_t ino;

	snprintf(full, sizeof full, "%s/%s", w->view_dir, path);
	if (hf_fs_resolve(w->fs, full, &ino))
		return false;
	hf_fs_forget(w->fs, ino, 1);
	return true;
}

/* Two slices of the first hart that has so many instructions. */
static void walk_slices(struct walk *w)
{
	static const char *const ranges[] = {"3-12", "14-35"};
	char path[96];

	w->by_name = true;
	for (unsigned hart = 0; hart < 4; hart++) {
		snprintf(path, sizeof path, "hart%u/listing.txt", hart);
		if (!sim_view_of(w->version, path))
			continue;
		for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
			snprintf(path, sizeof path, "hart%u/at/%s", hart, ranges[i]);
			if (has(w, path))
				walk(w, path);
		}
		return;
	}
}

static void make(struct sim_capture *capture, unsigned version)
{
	struct hf_fs_options options = {.index_threads = 1, .threads = 1};
	char path[PATH_MAX], view_dir[PATH_MAX];
	struct walk w = {.version = &capture->version[version], .view_dir = capture->view_dir};
	struct hf_diag diag;

	sim_disk_format();
	sim_capture_put(capture, version, false);
	sim_sched_begin();
	options.archive_fd = sim_open_root(SIM_ARCHIVE, O_PATH | O_DIRECTORY);
	options.index_fd = sim_open_root(SIM_INDEX, O_RDONLY | O_DIRECTORY);
	CHECK_EQ(hf_fs_open(&options, &w.fs, &diag), 0);
	CHECK_EQ(hf_fs_index(w.fs, capture->path, NULL, NULL, &diag), 0);
	CHECK_EQ(hf_fs_capture_of(w.fs, capture->path, path, view_dir), 0);
	CHECK(strlen(view_dir) < sizeof capture->view_dir);
	memcpy(capture->view_dir, view_dir, strlen(view_dir) + 1);
	walk(&w, "");
	walk_slices(&w);
	hf_fs_close(w.fs);
	sim_sched_end();
	CHECK_EQ(sim_fd_count(), 0);
}

void sim_truth_make(struct sim_capture *capture)
{
	for (unsigned version = 0; version < SIM_VERSIONS; version++)
		make(capture, version);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/client.h"

#include "tests/sim/answers.h"
#include "tests/sim/sched.h"
#include "tests/sim/truth.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#define SECOND INT64_C(1000000000)
/* What nothing but a stalled read of the thread itself may make longer; a look-up waits two seconds for an index. */
#define PROMPT_NS (5 * SECOND)
/* After a fault the index directory is tried again in a minute at the latest, a failed build too. */
#define SETTLE_NS (900 * SECOND)
enum { READ_MOST = 3000, LACK_SIZE = 200 };

/* ---- what an operation may answer ---- */

/* A moment before an operation, to tell how long it took. */
struct moment {
	uint64_t step;
	int64_t ns, own_ns;
};

static struct moment begin(void)
{
	return (struct moment){sim_state->step, sim_now_ns(), sim_delays_of_self()};
}

static void check_prompt(struct moment since, const char *what, const char *path)
{
	const int64_t took = sim_now_ns() - since.ns - (sim_delays_of_self() - since.own_ns);

	if (sim_world.prompt && took > PROMPT_NS)
		sim_fail("%s of %s took %.3f s", what, path, (double)took / 1e9);
}

/* ---- names ---- */

/* Down from the root. 0 and one reference, or the error. */
static int look_up(const char *path, struct hf_attr *ret_attr)
{
	uint64_t ino = HF_FS_ROOT;
	int err = 0;

	for (const char *end; !err && *path; path = *end ? end + 1 : end) {
		const struct moment since = begin();
		char name[NAME_MAX + 1];

		end = strchrnul(path, '/');
		snprintf(name, sizeof name, "%.*s", (int)(end - path), path);
		err = hf_fs_lookup(sim_world.fs, ino, name, ret_attr);
		check_prompt(since, "a look-up", name);
		if (ino != HF_FS_ROOT)
			hf_fs_forget(sim_world.fs, ino, 1);
		ino = ret_attr->st.st_ino;
	}
	return err;
}

/* Looks up until it is there; the error that is left then. */
static int find(const struct sim_chosen *chosen, const char *view, struct hf_attr *ret_attr, unsigned *ret_versions)
{
	const int64_t until = sim_now_ns() + SETTLE_NS;
	char path[256];
	int err;

	snprintf(path, sizeof path, "%s/%s", chosen->capture->view_dir, view);
	do {
		const uint64_t from = sim_state->step;

		err = look_up(path, ret_attr);
		*ret_versions = sim_versions_between(chosen, from, sim_state->step);
		if (!err) {
			sim_check_size(chosen, view, ret_versions, ret_attr);
			return 0;
		}
		sim_check_error(chosen, "a look-up", view, err, *ret_versions);
		/* While nothing goes wrong it can only be that the index is not there yet. */
		if (chosen->fails || sim_world.stopped || chosen->changes || sim_may_lack(chosen, view, *ret_versions))
			return err;
		sim_sleep_ns(SECOND / 2);
	} while (sim_now_ns() < until);
	sim_fail("%s does not come into being: %s", path, hf_err_name(err));
}

static const struct sim_view *any_view(const struct sim_chosen *chosen)
{
	const struct sim_version *v = &chosen->capture->version[sim_below(SIM_VERSIONS)];

	return &v->view[sim_below(v->views)];
}

/* ---- operations ---- */

struct request {
	struct hf_read read;
	bool done;
};

static void done(struct hf_read *read)
{
	struct request *r = read->ctx;

	if (r->done)
		sim_fail("a read is done twice");
	r->done = true;
	sim_wake(r, true);
}

/* One read, which may be taken back. versions are those whose bytes they may be. */
static int read_piece(const struct sim_chosen *chosen, const char *view, struct hf_file *file, uint64_t offset,
		      size_t size, bool cancel, unsigned *versions)
{
	struct request r = {.read = {.file = file, .offset = offset, .size = size, .done = done}};
	struct moment since;
	int err;

	r.read.ctx = &r;
	hf_fs_read(sim_world.fs, &r.read);
	if (cancel) {
		if (!r.done && sim_one_in(2))
			sim_wait("reading", &r, sim_now_ns() + (int64_t)sim_below(4) * SECOND);
		since = begin();
		hf_fs_read_cancel(sim_world.fs, &r.read);
	} else {
		since = begin();
	}
	while (!r.done)
		sim_wait("reading", &r, SIM_NEVER);
	if (cancel || !chosen->stalls)
		check_prompt(since, cancel ? "taking back a read" : "a read", view);
	err = r.read.err;
	if (!err)
		sim_check_bytes(chosen, view, versions, &r.read);
	else if (!cancel || err != HF_ERR_CANCELLED)
		sim_check_error(chosen, "a read", view, err, *versions);
	sim_world.reads++;
	hf_fs_read_release(&r.read);
	return err;
}

static int open_view(const struct sim_chosen *chosen, const char *view, struct hf_file **ret_file,
		     unsigned *ret_versions)
{
	struct hf_attr attr;
	bool keep;
	int err = HF_ERR_CHANGED;

	/* What became ready between the two is looked up again, as the kernel does for ESTALE. */
	for (int tries = 0; tries < 4 && err == HF_ERR_CHANGED; tries++) {
		err = find(chosen, view, &attr, ret_versions);
		if (err)
			return err;
		err = hf_file_open(sim_world.fs, attr.st.st_ino, ret_file, &keep);
		if (err)
			hf_fs_forget(sim_world.fs, attr.st.st_ino, 1);
	}
	if (err) {
		sim_check_error(chosen, "opening", view, err, *ret_versions);
		return err;
	}
	sim_check_keep(attr.st.st_ino, *ret_versions, keep);
	hf_fs_forget(sim_world.fs, attr.st.st_ino, 1);
	return 0;
}

static void read_view(const struct sim_chosen *chosen, bool whole)
{
	const struct sim_view *view = any_view(chosen);
	const unsigned pieces = whole ? UINT_MAX : 1 + (unsigned)sim_below(4);
	struct hf_file *file;
	unsigned versions;
	uint64_t at = 0;

	if (view->is_dir || open_view(chosen, view->path, &file, &versions))
		return;
	for (unsigned i = 0; i < pieces; i++) {
		size_t size = 1 + (size_t)sim_below(READ_MOST);

		if (!whole)
			at = sim_below(view->bytes.n + 10);
		else if (at > view->bytes.n)
			break;
		/* Time for the capture to change under the open file. */
		if (sim_one_in(4))
			sim_sleep_ns((int64_t)sim_below(3 * (uint64_t)SECOND));
		if (read_piece(chosen, view->path, file, at, size, !whole && sim_one_in(4), &versions))
			break;
		at += size;
	}
	hf_file_close(file);
}

static void list_directory(const struct sim_chosen *chosen)
{
	const struct sim_view *view = sim_one_in(3) ? NULL : any_view(chosen);
	const char *path = view ? view->path : "";
	struct sim_names names;
	struct hf_attr attr;
	struct moment since;
	unsigned versions;
	uint64_t from = sim_state->step;

	if ((view && !view->is_dir) || find(chosen, path, &attr, &versions))
		return;
	since = begin();
	sim_names_read(sim_world.fs, attr.st.st_ino, sim_one_in(2), &names);
	check_prompt(since, "listing", path);
	versions = sim_versions_between(chosen, from, sim_state->step);
	if (names.err)
		sim_check_error(chosen, "listing", path, names.err, versions);
	else
		sim_check_names(chosen, path, versions, &names, false);
	sim_names_free(&names);
	hf_fs_forget(sim_world.fs, attr.st.st_ino, 1);
}

/* What the kernel asks of an inode that it knows; it may have been another version's. */
static void ask_again(const struct sim_chosen *chosen)
{
	const struct sim_view *view = any_view(chosen);
	char value[HF_FS_XATTR_SIZE];
	struct moment since;
	struct hf_attr attr, again;
	unsigned versions;
	size_t size;
	int err;

	if (find(chosen, view->path, &attr, &versions))
		return;
	sim_sleep_ns((int64_t)sim_below(3) * SECOND);
	since = begin();
	err = hf_fs_getattr(sim_world.fs, attr.st.st_ino, &again);
	check_prompt(since, "asking for the attributes", view->path);
	versions = ~0u;
	if (err)
		sim_check_error(chosen, "asking for the attributes", view->path, err,
				sim_versions_between(chosen, since.step, sim_state->step));
	else
		sim_check_size(chosen, view->path, &versions, &again);
	since = begin();
	hf_fs_xattr_list(sim_world.fs, attr.st.st_ino, value, &size);
	hf_fs_xattr(sim_world.fs, attr.st.st_ino, "user.hartfs.format", value, &size);
	check_prompt(since, "asking for extended attributes", view->path);
	hf_fs_forget(sim_world.fs, attr.st.st_ino, 1);
}

static void read_status(void)
{
	static const char *const files[] = {".hartfs/status.json", ".hartfs/progress.txt", ".hartfs/metrics.prom"};
	const char *path = files[sim_below(3)];
	const struct moment since = begin();
	char text[20000];
	struct hf_file *file;
	struct hf_attr attr;
	bool keep;
	size_t n;
	int err = look_up(path, &attr);

	if (!err)
		err = hf_file_open(sim_world.fs, attr.st.st_ino, &file, &keep);
	if (!err) {
		err = hf_fs_read_wait(sim_world.fs, file, 0, text, sizeof text, &n);
		hf_file_close(file);
	}
	if (err && !sim_world.stopped && !sim_world.short_of_files && !sim_world.archive_fails)
		sim_fail("%s: %s", path, hf_err_name(err));
	if (attr.st.st_ino)
		hf_fs_forget(sim_world.fs, attr.st.st_ino, 1);
	check_prompt(since, "reading", path);
}

static void verify(const struct sim_chosen *chosen)
{
	uint64_t chunks, bad = 0;
	struct hf_diag diag;
	int err;

	if (sim_one_in(2))
		err = hf_fs_index(sim_world.fs, chosen->capture->path, NULL, NULL, &diag);
	else
		err = hf_fs_verify(sim_world.fs, chosen->capture->path, &chunks, &bad, &diag);
	if (bad && !chosen->changes && !chosen->fails && !sim_world.index_fails && !sim_world.rots)
		sim_fail("%llu chunks of %s are not what the index promises", (unsigned long long)bad,
			 chosen->capture->path);
	(void)err;
}

static const struct sim_chosen *any_capture(void)
{
	return &sim_world.chosen[sim_below(sim_world.count)];
}

static void operate(void)
{
	switch (sim_below(16)) {
	case 0:
	case 1:
		list_directory(any_capture());
		break;
	case 2:
		ask_again(any_capture());
		break;
	case 3:
		read_status();
		break;
	case 4:
		sim_sleep_ns((int64_t)sim_below(10) * SECOND / 2);
		break;
	case 5:
		if (sim_one_in(3))
			verify(any_capture());
		break;
	case 6:
	case 7:
		read_view(any_capture(), true);
		break;
	default:
		read_view(any_capture(), false);
		break;
	}
}

void *sim_client_run(void *arg)
{
	(void)arg;
	sim_thread_name("client");
	for (unsigned i = 0; i < sim_world.operations && !sim_world.stopped; i++)
		operate();
	sim_world.running--;
	return NULL;
}

/* ---- afterwards ---- */

/* Whether all views are there with their sizes; otherwise lack[LACK_SIZE] says what is not. */
static bool is_whole(const struct sim_chosen *chosen, char *lack)
{
	const unsigned version = chosen->history->at[chosen->history->count - 1].version;
	const struct sim_version *v = &chosen->capture->version[version];
	struct hf_attr attr;
	char path[256];
	int err;

	for (size_t i = 0; i < v->views; i++) {
		snprintf(path, sizeof path, "%s/%s", chosen->capture->view_dir, v->view[i].path);
		err = look_up(path, &attr);
		if (err) {
			snprintf(lack, LACK_SIZE, "%s: %s", v->view[i].path, hf_err_name(err));
			return false;
		}
		hf_fs_forget(sim_world.fs, attr.st.st_ino, 1);
		if (!v->view[i].is_dir && !v->view[i].loose && (uint64_t)attr.st.st_size != v->view[i].bytes.n) {
			snprintf(lack, LACK_SIZE, "%s has %lld bytes of %zu", v->view[i].path,
				 (long long)attr.st.st_size, v->view[i].bytes.n);
			return false;
		}
	}
	return true;
}

static int read_whole(const struct sim_chosen *chosen, const struct sim_view *view)
{
	unsigned versions;
	struct hf_file *file;
	int err = open_view(chosen, view->path, &file, &versions);

	if (err)
		return err;
	for (uint64_t at = 0; !err && at <= view->bytes.n; at += READ_MOST)
		err = read_piece(chosen, view->path, file, at, READ_MOST, false, &versions);
	hf_file_close(file);
	return err;
}

static void read_all(const struct sim_chosen *chosen, const struct sim_view *view)
{
	int err = read_whole(chosen, view);

	/* An index that is damaged is found out by reading, and made again. */
	for (int tries = 0; err && sim_world.rots && tries < 10; tries++) {
		sim_sleep_ns(5 * SECOND);
		err = read_whole(chosen, view);
	}
	if (err)
		sim_fail("%s/%s cannot be read: %s", chosen->capture->view_dir, view->path, hf_err_name(err));
}

static void list_all(const struct sim_chosen *chosen, const char *path)
{
	struct sim_names names;
	struct hf_attr attr;
	unsigned versions;

	if (find(chosen, path, &attr, &versions))
		sim_fail("%s/%s is not there", chosen->capture->view_dir, path);
	sim_names_read(sim_world.fs, attr.st.st_ino, false, &names);
	if (names.err)
		sim_fail("%s/%s cannot be listed: %s", chosen->capture->view_dir, path, hf_err_name(names.err));
	sim_check_names(chosen, path, versions, &names, true);
	sim_names_free(&names);
	hf_fs_forget(sim_world.fs, attr.st.st_ino, 1);
}

static void settle(const struct sim_chosen *chosen)
{
	const unsigned version = chosen->history->at[chosen->history->count - 1].version;
	const int64_t until = sim_now_ns() + SETTLE_NS;
	const struct sim_version *v = &chosen->capture->version[version];
	struct hf_attr attr;
	char lack[LACK_SIZE];

	if (version == SIM_GONE) {
		if (!look_up(chosen->capture->view_dir, &attr))
			sim_fail("%s is still there", chosen->capture->view_dir);
		return;
	}
	while (!is_whole(chosen, lack)) {
		if (sim_now_ns() > until)
			sim_fail("%s does not recover: %s", chosen->capture->view_dir, lack);
		sim_sleep_ns(SECOND);
	}
	list_all(chosen, "");
	for (size_t i = 0; i < v->views; i++)
		if (v->view[i].is_dir && !v->view[i].by_name)
			list_all(chosen, v->view[i].path);
		else if (!v->view[i].is_dir)
			read_all(chosen, &v->view[i]);
}

void sim_client_settle(void)
{
	const int64_t until = sim_now_ns() + SETTLE_NS;
	char text[1000];

	for (size_t i = 0; i < sim_world.count; i++)
		settle(&sim_world.chosen[i]);
	while (hf_fs_index_trouble(sim_world.fs, text, sizeof text, NULL, NULL)) {
		if (sim_now_ns() > until)
			sim_fail("the index directory does not recover: %s", text);
		sim_sleep_ns(SECOND);
	}
}

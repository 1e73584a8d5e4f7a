/* SPDX-License-Identifier: Apache-2.0 */
/* hartfs index and hartfs verify: the same walk over captures, several at a time, with a line or a bar of progress. */
#include "codecs/base/array.h"
#include "fs/locate.h"
#include "index/base/lock.h"
#include "index/exec/exec.h"
#include "mountd/bar.h"
#include "mountd/commands.h"
#include "mountd/json_text.h"
#include "mountd/log.h"
#include "mountd/paths.h"

#include <assert.h>
#include <ftw.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct archive {
	dev_t dev;
	ino_t ino;
	struct hf_opened opened;
	struct hartfs_archive *archive; /* NULL: it could not be started */
};

/* A path that was given: a capture, or an archive with all its captures. */
struct operand {
	size_t archive; /* SIZE_MAX: it is nothing to work on */
	char *name;     /* of the capture, within the archive; NULL: all */
};

struct work;

/* One capture to work on. */
struct item {
	struct hf_job job;
	struct work *work;
	size_t archive;
	char *path;  /* within it */
	double percent;
	uint64_t insns; /* of what it told last */
};

struct work {
	const struct hf_settings *settings;
	bool verify;
	struct archive *archives;
	size_t archive_count;
	struct item *items;
	size_t item_count, item_room;
	size_t failed_paths;    /* operands that are nothing to work on */
	size_t unreached;       /* files and directories that could not be looked at */

	pthread_mutex_t lock;   /* from here on */
	size_t done, failed;
	bool no_index_dir;      /* it failed: there is no use in going on */
	double partial;         /* percents of what is under way */
	uint64_t insns;         /* that were decoded */
	struct hf_bar bar;
};

/* Lock-free: set by a signal handler, read by all threads. */
static atomic_bool interrupted;

static void interrupt(int sig)
{
	(void)sig;
	interrupted = true;
}

/* The first ends the work in order; a second one ends the process, which is safe too. */
static void catch_signals(void)
{
	const struct sigaction action = {.sa_handler = interrupt, .sa_flags = SA_RESETHAND};

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

static bool is_interrupted(void *ctx)
{
	(void)ctx;
	return interrupted;
}

static const struct hf_stop interruption = {.wanted = is_interrupted};

/* The archive of a directory, opened once however many operands lie in it. SIZE_MAX after saying what is wrong. */
static size_t take_archive(struct work *work, const char *directory)
{
	struct archive *archive;
	struct stat st = {0};

	if (stat(directory, &st) == 0)
		for (size_t i = 0; i < work->archive_count; i++)
			if (work->archives[i].dev == st.st_dev && work->archives[i].ino == st.st_ino)
				return i;
	archive = hf_array_room(&work->archives, work->archive_count, sizeof *archive)
			  ? hf_got(NULL)
			  : &work->archives[work->archive_count];
	if (!archive)
		return SIZE_MAX;
	*archive = (struct archive){.dev = st.st_dev, .ino = st.st_ino};
	if (!hf_opened_open(work->settings, directory, &archive->opened))
		return SIZE_MAX;
	return work->archive_count++;
}

/* FNV-1a: the same part on every machine, wherever the archive is mounted there. */
static uint64_t hash_path(const char *path)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	while (*path)
		hash = (hash ^ (unsigned char)*path++) * UINT64_C(0x100000001b3);
	return hash;
}

struct finder {
	struct work *work;
	size_t archive;
	bool out_of_memory;
};

static bool is_wanted(void *ctx, const char *path)
{
	const struct finder *finder = ctx;
	const struct hf_settings *settings = finder->work->settings;

	return !settings->shards || hash_path(path) % settings->shards == settings->shard;
}

static bool add_capture(void *ctx, const char *path, const char *view_dir)
{
	struct finder *finder = ctx;
	struct work *work = finder->work;
	char *copy;

	(void)view_dir;
	if (interrupted)
		return false;
	copy = strdup(path);
	if (!copy || hf_array_reserve(&work->items, work->item_count + 1, &work->item_room, sizeof *work->items)) {
		free(copy);
		finder->out_of_memory = true;
		return false;
	}
	work->items[work->item_count++] = (struct item){.archive = finder->archive, .path = copy};
	return true;
}

/* Opens what lies behind a path, before the process confines itself. */
static struct operand open_operand(struct work *work, const char *path)
{
	struct operand operand = {.archive = SIZE_MAX};
	char *directory;

	if (hf_locate_is_directory(path)) {
		operand.archive = take_archive(work, path);
		return operand;
	}
	if (hf_paths_split(work->settings, path, true, &directory, &operand.name))
		operand.archive = take_archive(work, directory);
	else
		hf_say(stderr, "hartfs: %s: %s", path, hf_why_none());
	free(directory);
	return operand;
}

static int is_file(const char *path, const struct stat *st, int type, struct FTW *where)
{
	(void)st;
	return type == FTW_F && path[where->base] != '.';
}

/* Whether a directory has a file somewhere: an empty one is an archive without captures, and nothing is amiss. */
static bool has_files(const char *directory)
{
	return nftw(directory, is_file, 8, FTW_PHYS) == 1;
}

/* False after saying why. */
static bool add_operand(struct work *work, const struct operand *operand)
{
	struct finder finder = {.work = work, .archive = operand->archive};
	struct hartfs_diag diag = {0};
	const struct archive *archive;
	const size_t before = work->item_count;
	struct hf_fs *fs;

	if (operand->archive == SIZE_MAX)
		return false;
	assert(work->archives);
	archive = &work->archives[operand->archive];
	if (!archive->archive)
		return false;
	fs = hf_library_fs(archive->archive);
	if (!operand->name)
		hf_library_fail(fs, NULL, hf_fs_each_capture(fs, "", is_wanted, add_capture, &finder), NULL, &diag);
	else if (is_wanted(&finder, operand->name))
		add_capture(&finder, operand->name, NULL);
	if (finder.out_of_memory)
		hf_say(stderr, "hartfs: %s: out of memory", archive->opened.directory);
	else if (diag.error)
		hf_paths_complain(work->verify ? "verify" : "index", archive->opened.directory, &diag);
	if (finder.out_of_memory || diag.error)
		return false;
	if (work->item_count > before || interrupted || work->settings->shards || !has_files(archive->opened.directory))
		return true;
	hf_paths_no_capture(work->verify ? "verify" : "index", archive->opened.directory);
	return false;
}

static bool confine(const struct work *work)
{
	struct hf_opened *opened = hf_got(calloc(work->archive_count, sizeof *opened));
	bool ok = false;

	for (size_t i = 0; opened && i < work->archive_count; i++)
		opened[i] = work->archives[i].opened;
	if (opened)
		ok = hf_opened_confine(work->settings, opened, work->archive_count);
	free(opened);
	return ok;
}

/* False after saying why nothing at all is done. */
static bool add_operands(struct work *work)
{
	const size_t count = (size_t)work->settings->operand_count;
	struct operand *operands = hf_got(calloc(count, sizeof *operands));
	size_t opened = 0;
	bool ok = operands != NULL;

	for (; ok && opened < count && !interrupted; opened++)
		operands[opened] = open_operand(work, work->settings->operands[opened]);
	if (ok && work->archive_count)
		ok = confine(work);
	for (size_t i = 0; ok && i < work->archive_count && !interrupted; i++)
		work->archives[i].archive =
			hf_opened_start(work->settings, &work->archives[i].opened, !work->verify, &interruption);
	for (size_t i = 0; ok && i < opened && !interrupted; i++)
		work->failed_paths += !add_operand(work, &operands[i]);
	for (size_t i = 0; ok && i < work->archive_count; i++)
		if (work->archives[i].archive)
			work->unreached += hf_fs_unreached(hf_library_fs(work->archives[i].archive), NULL, NULL);
	for (size_t i = 0; i < opened; i++)
		free(operands[i].name);
	free(operands);
	return ok;
}

/* With the lock held. item: the one that is named. */
static void show_bar(struct work *work, const struct item *item)
{
	const double all = ((double)work->done * 100 + work->partial) / (double)work->item_count;

	hf_bar_show(&work->bar, &(struct hf_bar_state){.name = item->path,
						       .share = all / 100,
						       .done = work->done,
						       .of = work->item_count,
						       .instructions = (double)work->insns});
}

struct worker {
	struct work *work;
	struct item *item;
	size_t bad_files; /* of the item's index */
};

/* Nobody would be served by hearing it of every capture. */
static void tell_index_dir(struct work *work, struct hf_fs *fs)
{
	char text[1024];

	if (!work->no_index_dir && hf_fs_index_trouble(fs, text, sizeof text, NULL, NULL)) {
		hf_bar_clear(&work->bar);
		hf_say(stderr, "hartfs index: %s", text);
	}
	work->no_index_dir = true;
}

static bool on_progress(void *ctx, double percent, uint64_t insns)
{
	struct worker *worker = ctx;
	struct work *work = worker->work;
	bool stop;

	HF_LOCKED(&work->lock);
	work->partial += percent - worker->item->percent;
	worker->item->percent = percent;
	/* What an earlier run did is in the first number. */
	if (worker->item->insns)
		work->insns += insns - worker->item->insns;
	worker->item->insns = insns;
	show_bar(work, worker->item);
	stop = work->no_index_dir;
	return !interrupted && !stop;
}

static void tell_result_json(const char *name, const struct hartfs_diag *diag)
{
	putchar('{');
	hf_print_json_member("capture", name, true);
	hf_print_json_member("state", diag->error ? "failed" : "indexed", false);
	if (diag->error)
		hf_print_json_member("error", diag->text, false);
	puts("}");
}

/* With the lock held, so that lines stay whole and the bar out of them. */
static void tell_result(struct work *work, const struct item *item, uint64_t chunks, uint64_t bad,
			const struct hartfs_diag *diag)
{
	const char *directory = work->archives[item->archive].opened.directory;
	bool quiet = work->settings->verbosity < 0 || (work->bar.wanted && work->settings->verbosity <= 0);
	char name[4096];

	hf_bar_clear(&work->bar);
	snprintf(name, sizeof name, "%s/%s", directory, item->path);
	if (work->settings->json) {
		tell_result_json(name, diag);
	} else if (diag->error) {
		hf_paths_complain(work->verify ? "verify" : "index", name, diag);
	} else if (bad) {
		hf_say(stdout, "%s: %llu of %llu chunks are wrong", name, (unsigned long long)bad, (unsigned long long)chunks);
	} else if (!quiet && work->verify) {
		hf_say(stdout, "%s: %llu chunks are right", name, (unsigned long long)chunks);
	} else if (!quiet) {
		hf_say(stdout, "%s: indexed", name);
	}
	fflush(stdout);
}

/* A file of the index that is no good. */
static void tell_bad_file(void *ctx, const char *name, const char *what)
{
	struct worker *worker = ctx;
	struct work *work = worker->work;

	HF_LOCKED(&work->lock);
	worker->bad_files++;
	hf_bar_clear(&work->bar);
	if (work->verify || work->settings->verbosity >= 0)
		hf_say(stdout, "%s/%s: index file %s %s; %s", work->archives[worker->item->archive].opened.directory,
		       worker->item->path, name, what,
		       work->verify ? "it was removed" : "it is made again");
	fflush(stdout);
}

/* Whether the index could be looked at: what else is wrong with a capture, it may say without reason. */
static bool is_comparable(int error)
{
	return !error || error == HARTFS_ERROR_DAMAGED || error == HARTFS_ERROR_UNSUPPORTED;
}

static void verify_item(struct worker *worker, uint64_t *chunks, uint64_t *bad, struct hartfs_diag *diag)
{
	struct hf_fs *fs = hf_library_fs(worker->work->archives[worker->item->archive].archive);
	const char *path = worker->item->path;
	struct hf_diag own = {0};
	struct hartfs_diag *first = diag->error ? NULL : diag; /* what indexing has said stays */

	/* What is left beside a file that was removed is compared all the same: nothing is found only the next time. */
	if (first && !worker->bad_files)
		hf_library_fail(fs, path, hf_fs_verify(fs, path, chunks, bad, &own), &own, first);
	if (*bad || !is_comparable(diag->error))
		return;
	first = diag->error ? NULL : diag;
	hf_library_fail(fs, path, hf_fs_compare(fs, path, tell_bad_file, worker, &own), &own, first);
}

static void make_profiles(const struct worker *worker, struct hartfs_diag *diag)
{
	struct hf_fs *fs = hf_library_fs(worker->work->archives[worker->item->archive].archive);
	const char *path = worker->item->path;
	struct hf_diag own = {0};

	hf_library_fail(fs, path, hf_fs_make_profiles(fs, path, &own), &own, diag);
}

static void do_item(struct worker *worker)
{
	struct work *work = worker->work;
	struct item *item = worker->item;
	struct hartfs_archive *archive = work->archives[item->archive].archive;
	struct hartfs_diag diag = {0};
	struct hf_diag own = {0};
	uint64_t chunks = 0, bad = 0;
	bool removed, unfinished;

	/* What it says against the capture itself, indexing says better. */
	worker->bad_files = 0;
	hf_fs_examine(hf_library_fs(archive), item->path, tell_bad_file, worker, &own);
	if (!work->verify || !worker->bad_files)
		hartfs_index(archive, item->path, on_progress, worker, &diag);
	if (work->verify)
		verify_item(worker, &chunks, &bad, &diag);
	if (work->settings->profiles && !diag.error)
		make_profiles(worker, &diag);
	removed = work->verify && worker->bad_files;
	HF_LOCKED(&work->lock);
	work->partial -= item->percent;
	if (diag.error == HARTFS_ERROR_INDEX && !work->verify)
		tell_index_dir(work, hf_library_fs(archive));
	/* That says nothing of the capture. */
	unfinished = (diag.error == HARTFS_ERROR_INDEX && !work->verify) ||
		     (diag.error == HARTFS_ERROR_STOPPED && (interrupted || work->no_index_dir));
	work->done += !unfinished;
	work->failed += !unfinished && (diag.error || bad || removed);
	if (!removed && !unfinished)
		tell_result(work, item, chunks, bad, &diag);
}

static int run_item(struct hf_job *job, struct hf_worker *own)
{
	struct item *item = (struct item *)job;
	struct worker worker = {.work = item->work, .item = item};
	bool wanted;

	(void)own;
	pthread_mutex_lock(&item->work->lock);
	wanted = !item->work->no_index_dir;
	pthread_mutex_unlock(&item->work->lock);
	if (wanted && !interrupted)
		do_item(&worker);
	return 0;
}

static void run_items(struct work *work)
{
	const size_t count = work->settings->jobs ? work->settings->jobs : hf_exec_cores();
	/* Work of this kind has the priority of the process. */
	const struct hf_exec_limits limits = {
		.seats = {[HF_WORK_DECODE] = (unsigned)(count < work->item_count ? count : work->item_count)}};
	struct hf_exec *exec = NULL;
	const int err = work->item_count > 1 ? hf_exec_new(&limits, &exec) : HF_ERR_NOMEM;

	for (size_t i = 0; i < work->item_count; i++) {
		struct item *item = &work->items[i];

		item->work = work;
		item->job = (struct hf_job){.fn = run_item, .work = HF_WORK_DECODE};
		/* Without memory for threads it still gets done. */
		if (err)
			run_item(&item->job, NULL);
		else
			hf_job_submit(exec, &item->job);
	}
	for (size_t i = 0; i < work->item_count; i++)
		hf_job_join(&work->items[i].job);
	hf_exec_free(exec);
}

/* What still waits to be written is as good as not indexed. */
static void flush(struct work *work)
{
	for (size_t i = 0; i < work->archive_count; i++) {
		struct hf_fs *fs = work->archives[i].archive ? hf_library_fs(work->archives[i].archive) : NULL;

		if (fs && hf_fs_flush(fs))
			tell_index_dir(work, fs);
	}
}

static void print_sums(const struct work *work)
{
	const size_t left = work->item_count - work->done;

	printf("%zu captures: %zu %s, %zu failed", work->item_count, work->done - work->failed,
	       work->verify ? "right" : "indexed", work->failed);
	if (left)
		printf(", %zu not finished", left);
	if (work->unreached)
		printf(", %zu not readable", work->unreached);
	putchar('\n');
}

static int sum_up(struct work *work)
{
	hf_bar_clear(&work->bar);
	if (interrupted)
		hf_say(stderr, "hartfs: interrupted; started again it goes on from here");
	if (work->settings->verbosity >= 0 && work->item_count + work->failed_paths + work->unreached != 1)
		print_sums(work);
	if (interrupted)
		return HF_EXIT_FAILURE;
	if (work->no_index_dir)
		return HF_EXIT_INDEX_DIR;
	if (work->failed + work->failed_paths + work->unreached == 0)
		return HF_EXIT_OK;
	return work->done > work->failed ? HF_EXIT_SOME : HF_EXIT_FAILURE;
}

static int run(const struct hf_settings *settings, bool verify)
{
	struct work work = {.settings = settings, .verify = verify, .lock = PTHREAD_MUTEX_INITIALIZER};
	int status = HF_EXIT_FAILURE;

	if (settings->operand_count == 0)
		return hf_settings_usage(settings, "a file or a directory is needed");
	catch_signals();
	if (add_operands(&work)) {
		hf_bar_begin(&work.bar, settings->verbosity);
		run_items(&work);
		flush(&work);
		status = sum_up(&work);
	}
	for (size_t i = 0; i < work.item_count; i++)
		free(work.items[i].path);
	for (size_t i = 0; i < work.archive_count; i++) {
		hartfs_close(work.archives[i].archive);
		hf_opened_close(&work.archives[i].opened);
	}
	free(work.items);
	free(work.archives);
	/* What may follow can be ended anywhere. */
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	return status;
}

int hf_command_index(const struct hf_settings *settings)
{
	int status = HF_EXIT_OK, pruned;

	if (settings->dry_run && (!settings->prune || settings->operand_count))
		return hf_settings_usage(settings, "--dry-run is for --prune alone");
	if (settings->operand_count || !settings->prune)
		status = run(settings, false);
	if (!settings->prune && !settings->json && settings->verbosity >= 0 && (status == HF_EXIT_OK || status == HF_EXIT_SOME))
		hf_tell_old_indexes(settings);
	if (!(settings->prune || settings->index_limit) || interrupted || status == HF_EXIT_USAGE)
		return status;
	pruned = hf_prune_indexes(settings);
	return status ? status : pruned;
}

int hf_command_verify(const struct hf_settings *settings)
{
	return run(settings, true);
}

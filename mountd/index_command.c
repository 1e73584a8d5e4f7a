/* SPDX-License-Identifier: Apache-2.0 */
/* hartfs index and hartfs verify: the same walk over captures, several at a time, with a line or a bar of progress. */
#include "index/exec.h"
#include "mountd/commands.h"
#include "mountd/log.h"
#include "mountd/paths.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct archive {
	dev_t dev;
	ino_t ino;
	struct hf_opened opened;
	struct hf_fs *fs; /* NULL: it could not be started */
};

/* A path that was given: a capture, or an archive with all its captures. */
struct operand {
	size_t archive; /* SIZE_MAX: it is nothing to work on */
	char *name;     /* of the capture, within the archive; NULL: all */
};

/* One capture to work on. */
struct item {
	size_t archive;
	char *path;  /* within it */
	double percent;
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
	size_t next, done, failed;
	bool no_index_dir;      /* it failed: there is no use in going on */
	double partial;         /* percents of what is under way */
	bool bar;
	int64_t drawn_ns;
};

static volatile sig_atomic_t interrupted;

static void interrupt(int sig)
{
	(void)sig;
	interrupted = 1;
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

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* The archive of a directory, opened once however many operands lie in it. SIZE_MAX after saying what is wrong. */
static size_t take_archive(struct work *work, const char *directory)
{
	struct archive *bigger, *archive;
	struct stat st;

	if (stat(directory, &st) == 0)
		for (size_t i = 0; i < work->archive_count; i++)
			if (work->archives[i].dev == st.st_dev && work->archives[i].ino == st.st_ino)
				return i;
	bigger = realloc(work->archives, (work->archive_count + 1) * sizeof *bigger);
	if (!bigger)
		return SIZE_MAX;
	work->archives = bigger;
	archive = &bigger[work->archive_count];
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

static bool add_capture(void *ctx, const char *path, const char *view_dir)
{
	struct finder *finder = ctx;
	struct work *work = finder->work;
	const struct hf_settings *settings = work->settings;

	(void)view_dir;
	if (settings->shards && hash_path(path) % settings->shards != settings->shard)
		return true;
	if (work->item_count == work->item_room) {
		size_t room = work->item_room ? work->item_room * 2 : 64;
		struct item *bigger = realloc(work->items, room * sizeof *bigger);

		if (!bigger) {
			finder->out_of_memory = true;
			return false;
		}
		work->items = bigger;
		work->item_room = room;
	}
	work->items[work->item_count] = (struct item){.archive = finder->archive, .path = strdup(path)};
	return !interrupted && work->items[work->item_count++].path;
}

/* Opens what lies behind a path, before the process confines itself. */
static struct operand open_operand(struct work *work, const char *path)
{
	struct operand operand = {.archive = SIZE_MAX};
	char *directory;

	if (hf_paths_is_directory(path)) {
		operand.archive = take_archive(work, path);
		return operand;
	}
	if (hf_paths_split(work->settings, path, true, &directory, &operand.name))
		operand.archive = take_archive(work, directory);
	else
		hf_say(stderr, "hartfs: %s: there is no such file", path);
	free(directory);
	return operand;
}

static bool add_operand(struct work *work, const struct operand *operand)
{
	struct finder finder = {.work = work, .archive = operand->archive};

	if (operand->archive == SIZE_MAX || !work->archives[operand->archive].fs)
		return false;
	if (operand->name)
		return add_capture(&finder, operand->name, NULL);
	return hf_fs_each_capture(work->archives[operand->archive].fs, "", add_capture, &finder) == 0 &&
	       !finder.out_of_memory;
}

static bool confine(const struct work *work)
{
	struct hf_opened *opened = calloc(work->archive_count, sizeof *opened);
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
	struct operand *operands = calloc(count, sizeof *operands);
	size_t opened = 0;
	bool ok = operands != NULL;

	for (; ok && opened < count && !interrupted; opened++)
		operands[opened] = open_operand(work, work->settings->operands[opened]);
	if (ok && work->archive_count)
		ok = confine(work);
	for (size_t i = 0; ok && i < work->archive_count && !interrupted; i++)
		work->archives[i].fs =
			hf_opened_start(work->settings, &work->archives[i].opened, !work->verify, &interruption);
	for (size_t i = 0; ok && i < opened && !interrupted; i++)
		work->failed_paths += !add_operand(work, &operands[i]);
	for (size_t i = 0; ok && i < work->archive_count; i++)
		if (work->archives[i].fs)
			work->unreached += hf_fs_unreached(work->archives[i].fs, NULL, NULL);
	for (size_t i = 0; i < opened; i++)
		free(operands[i].name);
	free(operands);
	return ok;
}

static void draw_bar(struct work *work)
{
	char text[48];
	struct winsize size;
	double all = work->item_count ? ((double)work->done * 100 + work->partial) / (double)work->item_count : 100;
	int width = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
	int n = snprintf(text, sizeof text, " %5.1f%% %zu of %zu", all, work->done, work->item_count);
	int room = width - n - 3, full;

	if (room > 60)
		room = 60;
	if (room < 4)
		room = 4;
	full = (int)(all * room / 100);
	fprintf(stderr, "\r[");
	for (int i = 0; i < room; i++)
		putc(i < full ? '#' : '.', stderr);
	fprintf(stderr, "]%s", text);
	fflush(stderr);
	work->drawn_ns = now_ns();
}

static void clear_bar(const struct work *work)
{
	if (work->bar)
		fprintf(stderr, "\r\033[K");
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
		clear_bar(work);
		hf_say(stderr, "hartfs index: %s", text);
	}
	work->no_index_dir = true;
}

static bool on_progress(void *ctx, double percent, uint64_t insns)
{
	struct worker *worker = ctx;
	struct work *work = worker->work;
	bool stop;

	(void)insns;
	pthread_mutex_lock(&work->lock);
	work->partial += percent - worker->item->percent;
	worker->item->percent = percent;
	if (work->bar && now_ns() - work->drawn_ns > 100000000)
		draw_bar(work);
	stop = work->no_index_dir;
	pthread_mutex_unlock(&work->lock);
	return !interrupted && !stop;
}

/* With the lock held, so that lines stay whole and the bar out of them. */
static void tell_result(struct work *work, const struct item *item, int err, uint64_t chunks, uint64_t bad,
			const struct hf_diag *diag)
{
	const char *directory = work->archives[item->archive].opened.directory;
	bool quiet = work->settings->verbosity < 0 || (work->bar && work->settings->verbosity <= 0);

	clear_bar(work);
	if (err) {
		char name[4096];

		snprintf(name, sizeof name, "%s/%s", directory, item->path);
		hf_paths_explain_capture(work->verify ? "verify" : "index", name, work->archives[item->archive].fs,
					 item->path, err, diag);
	} else if (bad) {
		hf_say(stdout, "%s/%s: %llu of %llu chunks are wrong", directory, item->path, (unsigned long long)bad,
		       (unsigned long long)chunks);
	} else if (!quiet && work->verify) {
		hf_say(stdout, "%s/%s: %llu chunks are right", directory, item->path, (unsigned long long)chunks);
	} else if (!quiet) {
		hf_say(stdout, "%s/%s: indexed", directory, item->path);
	}
	fflush(stdout);
	if (work->bar)
		draw_bar(work);
}

/* A file of the index that is no good. */
static void tell_bad_file(void *ctx, const char *name, const char *what)
{
	struct worker *worker = ctx;
	struct work *work = worker->work;

	pthread_mutex_lock(&work->lock);
	worker->bad_files++;
	clear_bar(work);
	if (work->verify || work->settings->verbosity >= 0)
		hf_say(stdout, "%s/%s: index file %s %s; %s", work->archives[worker->item->archive].opened.directory,
		       worker->item->path, name, what,
		       work->verify ? "it was removed" : "it is made again");
	fflush(stdout);
	if (work->bar)
		draw_bar(work);
	pthread_mutex_unlock(&work->lock);
}

/* Also of a capture that failed: its index may say so without reason. */
static int verify_item(struct worker *worker, int err, uint64_t *chunks, uint64_t *bad, struct hf_diag *diag)
{
	struct hf_fs *fs = worker->work->archives[worker->item->archive].fs;
	struct hf_diag other = {0};
	int compared = 0;

	if (!err)
		err = hf_fs_verify(fs, worker->item->path, chunks, bad, diag);
	if (!*bad && hf_err_class(err) != HF_CLASS_state)
		compared = hf_fs_compare(fs, worker->item->path, tell_bad_file, worker, &other);
	if (!err && compared)
		*diag = other;
	return err ? err : compared;
}

static void do_item(struct worker *worker)
{
	struct work *work = worker->work;
	struct item *item = worker->item;
	struct hf_fs *fs = work->archives[item->archive].fs;
	struct hf_diag diag = {0};
	uint64_t chunks = 0, bad = 0;
	bool removed, unfinished;
	int err;

	/* What it says against the capture itself, indexing says better. */
	worker->bad_files = 0;
	hf_fs_examine(fs, item->path, tell_bad_file, worker, &diag);
	removed = work->verify && worker->bad_files;
	err = removed ? 0 : hf_fs_index(fs, item->path, on_progress, worker, &diag);
	if (work->verify && !removed) {
		err = verify_item(worker, err, &chunks, &bad, &diag);
		removed = worker->bad_files;
	}
	pthread_mutex_lock(&work->lock);
	work->partial -= item->percent;
	if (err == HF_ERR_INDEX_DIR && !work->verify)
		tell_index_dir(work, fs);
	/* That says nothing of the capture. */
	unfinished = (err == HF_ERR_INDEX_DIR && !work->verify) ||
		     (err == HF_ERR_CANCELLED && (interrupted || work->no_index_dir));
	work->done += !unfinished;
	work->failed += !unfinished && (err || bad || removed);
	if (!removed && !unfinished)
		tell_result(work, item, err, chunks, bad, &diag);
	pthread_mutex_unlock(&work->lock);
}

static void *run_worker(void *arg)
{
	struct worker worker = {.work = arg};
	struct work *work = arg;

	while (!interrupted) {
		pthread_mutex_lock(&work->lock);
		worker.item = work->next < work->item_count && !work->no_index_dir ? &work->items[work->next++] : NULL;
		pthread_mutex_unlock(&work->lock);
		if (!worker.item)
			break;
		do_item(&worker);
	}
	return NULL;
}

static void run_workers(struct work *work)
{
	size_t count = work->settings->jobs ? work->settings->jobs : hf_exec_cores(), started = 0;
	pthread_t *threads;

	if (count > work->item_count)
		count = work->item_count;
	threads = calloc(count + 1, sizeof *threads);
	/* This thread is one of them: without memory for others it still gets done. */
	while (threads && started + 1 < count && !pthread_create(&threads[started], NULL, run_worker, work))
		started++;
	run_worker(work);
	for (size_t i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
	free(threads);
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
	if (work->bar) {
		clear_bar(work);
		fflush(stderr);
	}
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
		work.bar = settings->verbosity >= 0 && isatty(STDERR_FILENO) && work.item_count > 0;
		run_workers(&work);
		status = sum_up(&work);
	}
	for (size_t i = 0; i < work.item_count; i++)
		free(work.items[i].path);
	for (size_t i = 0; i < work.archive_count; i++) {
		if (work.archives[i].fs)
			hf_fs_close(work.archives[i].fs);
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
	if (!settings->prune || interrupted || status == HF_EXIT_USAGE)
		return status;
	pruned = hf_prune_indexes(settings);
	return status ? status : pruned;
}

int hf_command_verify(const struct hf_settings *settings)
{
	return run(settings, true);
}

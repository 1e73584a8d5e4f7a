/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/facts/index_dir.h"
#include "codecs/base/errors.h"
#include "fs/base/chunk_cache.h"
#include "fs/base/common.h"
#include "fs/base/list.h"
#include "fs/facts/capture.h"
#include "fs/facts/queue.h"
#include "fs/facts/shared.h"
#include "fs/facts/table.h"
#include "index/upkeep/prune.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

enum { DELAY_FIRST_S = 1, DELAY_MAX_S = 60, LOOK_S = 1 };
/* While the disk has no more room than when it was full, only each so many-th time something is tried: a quota may have
 * changed, which free space does not show. */
enum { SKIP_MAX = 8 };

#define S INT64_C(1000000000)

static int run_retry(struct hf_job *job, struct hf_worker *worker);
static int run_pack(struct hf_job *job, struct hf_worker *worker);

static bool may_retry(const struct hf_index_dir *dir)
{
	return !dir->stop && dir->fd >= 0 && !dir->shared->common->options.no_index;
}

/* Tries again after that time, or before. */
static void retry_after(struct hf_index_dir *dir, unsigned seconds)
{
	if (may_retry(dir))
		hf_job_submit_after(dir->shared->common->exec, &dir->retry, seconds * S);
}

int hf_index_dir_init(const struct hf_shared *shared, int fd, const char *path, uint64_t memory, int error)
{
	const struct hf_fs_options *options = &shared->common->options;
	struct hf_index_dir *dir = shared->index_dir;

	*dir = (struct hf_index_dir){.shared = shared,
				     .fd = fd,
				     .path = path ? strdup(path) : NULL,
				     .unwanted = fd < 0 && !error,
				     .memory = memory,
				     .pack_below = options->pack_below,
				     .pack = {.fn = run_pack, .work = HF_WORK_CHORE},
				     .retry = {.fn = run_retry, .work = HF_WORK_CHORE}};
	pthread_mutex_init(&dir->lock, NULL);
	/* If there is no room for a memdir, captures wait for the directory. */
	if (memory)
		hf_memdir_new(fd, memory, &dir->memdir);
	/* If there are no packs, each index has its own files. */
	if (fd >= 0)
		hf_packs_new(fd, &options->sharing, &dir->packs);
	dir->disk = (struct hf_store_dir){.fd = fd,
					  .memory = dir->memdir,
					  .packs = dir->packs,
					  .into = fd < 0 && dir->memdir ? HF_INTO_MEMORY : HF_INTO_DISK,
					  .sharing = options->sharing};
	dir->for_group = dir->in_packs = dir->disk;
	dir->in_packs.into = HF_INTO_PACKS;
	dir->disk.sharing.publish = false;
	dir->in_memory = dir->disk;
	dir->in_memory.into = HF_INTO_MEMORY;
	if (fd < 0) {
		hf_fault_set("opening", NULL, error);
		hf_index_dir_failed(dir);
	}
	return path && !dir->path ? HF_ERR_NOMEM : 0;
}

void hf_index_dir_stop(struct hf_index_dir *dir)
{
	HF_LOCKED(&dir->lock);
	dir->stop = true;
}

void hf_index_dir_fini(struct hf_index_dir *dir)
{
	size_t moved;

	if (!dir->shared)
		return;
	if (dir->has_failed && dir->memdir)
		hf_memdir_publish(dir->memdir, &moved);
	hf_memdir_free(dir->memdir);
	if (dir->packs)
		hf_packs_flush(dir->packs);
	hf_packs_free(dir->packs);
	free(dir->path);
	pthread_mutex_destroy(&dir->lock);
}

static struct hf_memdir_stats memory_of(const struct hf_index_dir *dir)
{
	struct hf_memdir_stats stats = {0};

	if (dir->memdir)
		hf_memdir_get_stats(dir->memdir, &stats);
	return stats;
}

/* Tells the cache how many bytes it lends. */
static void lend(struct hf_index_dir *dir)
{
	if (dir->shared->common->cache && !dir->shared->common->closing)
		hf_cache_lend(dir->shared->common->cache, HF_LEND_INDEXES, memory_of(dir).bytes);
}

bool hf_index_dir_is_none(const struct hf_index_dir *dir)
{
	return dir->fd < 0 && !dir->memdir;
}

uint64_t hf_index_dir_free(struct hf_index_dir *dir)
{
	const struct hf_memdir_stats stats = memory_of(dir);

	return stats.bytes < stats.limit ? stats.limit - stats.bytes : 0;
}

bool hf_index_dir_may_publish(const struct hf_index_dir *dir, const struct hf_access *access)
{
	struct stat st;

	if (!dir->for_group.sharing.publish || !access->some || !(access->bits & 2) || fstat(dir->fd, &st) < 0)
		return false;
	return access->gid == st.st_gid || (access->bits & 1);
}

const struct hf_store_dir *hf_index_dir_choose(struct hf_index_dir *dir, bool publish, uint64_t too_small,
					       bool *ret_memory)
{
	bool failing;

	pthread_mutex_lock(&dir->lock);
	failing = dir->failing;
	pthread_mutex_unlock(&dir->lock);
	*ret_memory = failing && hf_index_dir_free(dir) > too_small;
	return *ret_memory ? &dir->in_memory : publish ? &dir->for_group : &dir->disk;
}

/* ---- packs ---- */

/* All that is in a pack has the same readers. */
const struct hf_store_dir *hf_index_dir_choose_pack(struct hf_index_dir *dir, bool publish, uint64_t size)
{
	HF_LOCKED(&dir->lock);
	return dir->packs && !dir->failing && size < dir->pack_below && publish == dir->in_packs.sharing.publish
		       ? &dir->in_packs
		       : NULL;
}

int hf_index_dir_flush(struct hf_index_dir *dir)
{
	int err = dir->packs && hf_packs_waiting(dir->packs) ? hf_packs_flush(dir->packs) : 0;

	if (err == HF_ERR_INDEX_DIR)
		hf_index_dir_failed(dir);
	return err;
}

/* What could not be written is tried again with all else, or with the next captures. */
static int run_pack(struct hf_job *job, struct hf_worker *worker)
{
	(void)worker;
	hf_index_dir_flush(HF_OWNER(job, struct hf_index_dir, pack));
	return 0;
}

void hf_index_dir_packed(struct hf_index_dir *dir)
{
	if (hf_packs_is_full(dir->packs)) {
		hf_index_dir_flush(dir);
		return;
	}
	HF_LOCKED(&dir->lock);
	if (!dir->stop)
		hf_job_submit_after(dir->shared->common->exec, &dir->pack, S);
}

/* ---- messages ---- */

static void format(const struct hf_index_dir *dir, const struct hf_fault *fault, char *buf, size_t size)
{
	char what[HF_FAULT_SIZE];

	if (dir->unwanted) {
		snprintf(buf, size,
			 "there is no index directory, and the %llu MiB of memory for indexes do not suffice",
			 (unsigned long long)(dir->memory >> 20));
		return;
	}
	hf_fault_format(fault, what, sizeof what);
	if (fault->errnum == EEXIST)
		snprintf(what, sizeof what, "another user made %s; --trust=group:NAME uses what members of a group made",
			 fault->file);
	snprintf(buf, size, "index directory%s%s: %s", dir->path ? " " : "", dir->path ? dir->path : "", what);
}

bool hf_index_dir_text(struct hf_index_dir *dir, char *buf, size_t size)
{
	bool failing;

	*buf = 0;
	HF_LOCKED(&dir->lock);
	failing = dir->failing;
	if (failing)
		format(dir, &dir->fault, buf, size);
	return failing;
}

void hf_index_dir_get_stats(struct hf_index_dir *dir, struct hf_index_dir_stats *ret_stats)
{
	pthread_mutex_lock(&dir->lock);
	*ret_stats = (struct hf_index_dir_stats){
		.failing = dir->failing, .fault = dir->fault, .since = dir->since, .failures = dir->failures};
	pthread_mutex_unlock(&dir->lock);
	ret_stats->memory = memory_of(dir);
}

/* ---- trying again ---- */

struct oldest {
	struct hf_capture *capture;
	int64_t failed_ns;
};

static void find_oldest(void *ctx, struct hf_capture *capture)
{
	struct oldest *oldest = ctx;

	HF_LOCKED(&capture->lock);
	if (capture->state == HF_CAPTURE_WAITING && (!oldest->capture || capture->failed_ns < oldest->failed_ns))
		*oldest = (struct oldest){.capture = capture, .failed_ns = capture->failed_ns};
}

/* Queues up to most captures that wait, longest first; returns how many. */
static unsigned queue_waiting(struct hf_index_dir *dir, unsigned most)
{
	unsigned count = 0;

	for (; count < most; count++) {
		struct oldest oldest = {0};

		hf_table_each(dir->shared->table, find_oldest, &oldest);
		if (!oldest.capture)
			break;
		pthread_mutex_lock(&oldest.capture->lock);
		if (oldest.capture->state == HF_CAPTURE_WAITING)
			oldest.capture->state = HF_CAPTURE_UNKNOWN;
		pthread_mutex_unlock(&oldest.capture->lock);
		hf_jobs_add(oldest.capture, false);
	}
	return count;
}

/* If the disk has more room than when it was full, one of the waiting captures is tried. */
static void try_waiting(struct hf_index_dir *dir)
{
	const uint64_t room = hf_memdir_room(dir->fd);
	bool skip;

	pthread_mutex_lock(&dir->lock);
	skip = hf_fault_is_room(&dir->fault) && room <= dir->room && ++dir->skipped % SKIP_MAX;
	pthread_mutex_unlock(&dir->lock);
	if (!skip)
		queue_waiting(dir, 1);
}

/* When nothing is to be written, only a test file shows whether writing works: that file may fit where an index does not. */
static void try_alone(struct hf_index_dir *dir)
{
	struct hf_exec *exec = dir->shared->common->exec;
	struct oldest oldest = {0};
	int err;

	hf_table_each(dir->shared->table, find_oldest, &oldest);
	if (oldest.capture || memory_of(dir).files || (dir->packs && hf_packs_waiting(dir->packs)) ||
	    hf_exec_load(exec, HF_WORK_INDEX, HF_URGENT) || hf_exec_load(exec, HF_WORK_INDEX, HF_LATER))
		return;
	err = hf_memdir_try(dir->fd);
	if (!err)
		hf_index_dir_wrote(dir);
	else if (err == HF_ERR_INDEX_DIR)
		hf_index_dir_failed(dir);
}

static void try_again(struct hf_index_dir *dir)
{
	size_t moved = 0;
	int err = dir->packs ? hf_packs_flush(dir->packs) : 0;
	bool room;

	if (!err && dir->memdir)
		err = hf_memdir_publish(dir->memdir, &moved);
	room = err == HF_ERR_INDEX_DIR && hf_fault_is_room(hf_fault_last());

	if (err == HF_ERR_INDEX_DIR)
		hf_index_dir_failed(dir);
	lend(dir);
	if (moved)
		hf_index_dir_wrote(dir);
	/* A smaller one may fit. */
	if (err != HF_ERR_INDEX_DIR || room)
		try_waiting(dir);
	if (!err && !moved)
		try_alone(dir);
}

static int run_retry(struct hf_job *job, struct hf_worker *worker)
{
	struct hf_index_dir *dir = HF_OWNER(job, struct hf_index_dir, retry);
	bool failing;

	(void)worker;
	pthread_mutex_lock(&dir->lock);
	failing = dir->failing;
	if (failing) {
		dir->delay_s = 2 * dir->delay_s < DELAY_MAX_S ? 2 * dir->delay_s : DELAY_MAX_S;
		retry_after(dir, dir->delay_s);
	}
	pthread_mutex_unlock(&dir->lock);
	if (failing)
		try_again(dir);
	return 0;
}

/* With the lock held. Commands end before trying again pays; a missing directory is not tried again. */
static void begin_to_fail(struct hf_index_dir *dir)
{
	dir->failing = true;
	dir->since = time(NULL);
	dir->delay_s = DELAY_FIRST_S;
	dir->skipped = 0;
	dir->told_full = dir->told_well = false;
	dir->has_failed |= may_retry(dir);
	retry_after(dir, dir->delay_s);
}

void hf_index_dir_failed(struct hf_index_dir *dir)
{
	const uint64_t room = hf_memdir_room(dir->fd);
	char text[HF_FAULT_SIZE + 256];
	struct hf_fault fault;
	bool news;

	hf_fault_take(&fault);
	if (!fault.errnum)
		fault.errnum = EIO;
	pthread_mutex_lock(&dir->lock);
	/* If there is no directory, the first reason stays. */
	if (dir->failing && dir->fd < 0)
		fault = dir->fault;
	news = !dir->failing || dir->fault.errnum != fault.errnum;
	dir->fault = fault;
	dir->failures++;
	dir->room = room;
	if (!dir->failing)
		begin_to_fail(dir);
	format(dir, &fault, text, sizeof text);
	pthread_mutex_unlock(&dir->lock);
	lend(dir);
	if (dir->memdir)
		hf_memdir_keep(dir->memdir, true);
	/* Commands that need a directory say it themselves. */
	if (news && !dir->unwanted)
		hf_common_log(dir->shared->common, dir->memdir ? 4 : 7,
			      dir->memdir ? "%s; new indexes are kept in memory" : "%s", text);
}

/* With the lock held: writing works, but something is still to be written. */
static void go_on(struct hf_index_dir *dir)
{
	const bool told_full = dir->told_full;

	if (dir->failing || dir->stop)
		return;
	begin_to_fail(dir);
	dir->told_full = told_full;
	dir->told_well = true;
}

void hf_index_dir_kept(struct hf_index_dir *dir)
{
	const bool some = memory_of(dir).files;

	pthread_mutex_lock(&dir->lock);
	if (some)
		go_on(dir);
	pthread_mutex_unlock(&dir->lock);
	lend(dir);
}

void hf_index_dir_waited_for(struct hf_index_dir *dir)
{
	const struct hf_memdir_stats stats = memory_of(dir);
	bool told;

	pthread_mutex_lock(&dir->lock);
	told = dir->told_full;
	dir->told_full = true;
	go_on(dir);
	pthread_mutex_unlock(&dir->lock);
	lend(dir);
	if (!told && dir->memdir && !dir->unwanted)
		hf_common_log(dir->shared->common, 4,
			      "index directory%s%s: the %llu MiB of memory for indexes do not suffice: captures wait "
			      "until it "
			      "can be written",
			      dir->path ? " " : "", dir->path ? dir->path : "",
			      (unsigned long long)(stats.limit >> 20));
}

void hf_index_dir_wrote(struct hf_index_dir *dir)
{
	bool failing, well;

	lend(dir);
	pthread_mutex_lock(&dir->lock);
	failing = dir->failing && !dir->stop;
	if (failing) {
		dir->delay_s = DELAY_FIRST_S;
		retry_after(dir, DELAY_FIRST_S);
	}
	pthread_mutex_unlock(&dir->lock);
	if (!failing)
		return;
	/* After each success two more are tried: soon all if there is room, and few if not. */
	well = !queue_waiting(dir, 2) && memory_of(dir).files == 0 && !(dir->packs && hf_packs_waiting(dir->packs));
	if (!well)
		return;
	pthread_mutex_lock(&dir->lock);
	failing = dir->failing && !dir->told_well;
	dir->failing = false;
	pthread_mutex_unlock(&dir->lock);
	if (dir->memdir)
		hf_memdir_keep(dir->memdir, false);
	if (failing)
		hf_common_log(dir->shared->common, 5, "index directory%s%s: it can be written again", dir->path ? " " : "",
			  dir->path ? dir->path : "");
}

bool hf_index_dir_may_try(struct hf_index_dir *dir)
{
	const int64_t now = hf_now_ns();
	bool may;

	HF_LOCKED(&dir->lock);
	may = !dir->looked_ns || now - dir->looked_ns >= LOOK_S * S;
	if (may) {
		dir->looked_ns = now;
		retry_after(dir, 0);
	}
	return may;
}

/* A look costs a stat of each file: not more often than when a 64th of them may be new. */
enum { LIMIT_SHARE = 64 };

void hf_index_dir_keep_limit(struct hf_index_dir *dir)
{
	const struct hf_fs_options *options = &dir->shared->common->options;
	struct hf_prune prune = {.dirfd = dir->fd, .sharing = options->sharing};
	uint64_t bytes;

	if (!options->index_limit || dir->fd < 0 || atomic_fetch_sub(&dir->limit_due, 1) > 1)
		return;
	if (hf_prune_to_limit(&prune, options->index_limit, &bytes))
		return;
	atomic_store(&dir->limit_due, (int64_t)(prune.kept / LIMIT_SHARE + 1));
	if (prune.files)
		hf_common_log(dir->shared->common, 6, "index directory: %llu files that were used longest ago are removed (--index-limit)",
			      (unsigned long long)prune.files);
	if (bytes > options->index_limit)
		hf_common_log(dir->shared->common, 5, "index directory: %llu bytes, more than --index-limit; the rest is in use, "
			      "was within a minute, or is not ours", (unsigned long long)bytes);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/archive/descriptors.h"
#include "codecs/base/errors.h"
#include "fs/base/views.h"

#include <errno.h>
#include <sys/resource.h>
#include <time.h>

/*
 * A capture being indexed has a file for the index and for each view, and the journals of these; one that is open has
 * the files alone. What is left, half of all, is for the moment: requests of the kernel, captures being looked into.
 */
enum { BUILD_FILES = 2 * (HF_VIEW_COUNT + 1), OPEN_FILES_MAX = 4096 };

/* Of one call; what consists of many calls, each of which has tried so often, is tried again less often. */
enum { TRIES = 10, TRIES_AGAIN = 3, WAIT_MS = 20 };

#define SAY_AGAIN_NS (INT64_C(60) * 1000000000)

void hf_descriptors_divide(struct hf_descriptors *d, size_t limit)
{
	d->limit = limit;
	d->open_files = limit / 8 < OPEN_FILES_MAX ? limit / 8 : OPEN_FILES_MAX;
	d->open = limit / 4 < HF_OPEN_CAPTURES_MAX * HF_OPEN_FILES ? limit / 4 : HF_OPEN_CAPTURES_MAX * HF_OPEN_FILES;
	if (d->open < HF_OPEN_FILES)
		d->open = HF_OPEN_FILES;
	d->builds = limit / 8 / BUILD_FILES + 1;
}

void hf_descriptors_init(struct hf_descriptors *d, const struct hf_common *common)
{
	struct rlimit limit;

	*d = (struct hf_descriptors){.common = common};
	hf_descriptors_divide(d, getrlimit(RLIMIT_NOFILE, &limit) == 0 ? (size_t)limit.rlim_cur : 1024);
	pthread_mutex_init(&d->lock, NULL);
	hf_cond_init(&d->ended);
}

void hf_descriptors_fini(struct hf_descriptors *d)
{
	pthread_mutex_destroy(&d->lock);
	pthread_cond_destroy(&d->ended);
}

/* With the lock held. */
static int await_end(struct hf_descriptors *d, const struct hf_stop *stop)
{
	while (d->building >= d->builds) {
		const struct timespec until = hf_in_ms(1000);

		if (hf_stop_wanted(stop))
			return HF_ERR_CANCELLED;
		/* Not all who want us to stop wake us. */
		pthread_cond_timedwait(&d->ended, &d->lock, &until);
	}
	return 0;
}

int hf_descriptors_begin_build(struct hf_descriptors *d, const struct hf_stop *stop)
{
	struct hf_job *job = hf_job_here();
	bool left = false;
	int err;

	pthread_mutex_lock(&d->lock);
	if (d->building >= d->builds)
		left = hf_job_leave_seat(job);
	err = await_end(d, stop);
	if (!err)
		d->building++;
	pthread_mutex_unlock(&d->lock);
	hf_job_take_seat(job, left);
	return err;
}

void hf_descriptors_wake(struct hf_descriptors *d)
{
	HF_LOCKED(&d->lock);
	pthread_cond_broadcast(&d->ended);
}

void hf_descriptors_end_build(struct hf_descriptors *d)
{
	HF_LOCKED(&d->lock);
	d->building--;
	pthread_cond_broadcast(&d->ended);
}

void hf_descriptors_pause_build(struct hf_descriptors *d, bool pause)
{
	HF_LOCKED(&d->lock);
	d->building += pause ? -1 : 1;
	pthread_cond_broadcast(&d->ended);
}

static void say(struct hf_descriptors *d, int errnum)
{
	const int64_t now = hf_now_ns();
	int64_t told = d->told_ns;

	if ((told && now - told < SAY_AGAIN_NS) || !atomic_compare_exchange_strong(&d->told_ns, &told, now))
		return;
	if (errnum == EMFILE)
		hf_common_log(d->common, 4,
			      "too many open files: the limit of this process is %zu (ulimit -n); files are closed and "
			      "opened again, which takes longer",
			      d->limit);
	else if (errnum == ENFILE)
		hf_common_log(
			d->common, 4,
			"too many open files in the whole system (fs.file-max); files are closed and opened again, "
			"which takes longer");
	else
		hf_common_log(d->common, 4, "out of memory; files are closed and opened again, which takes longer");
}

bool hf_descriptors_make_room(void *ctx, unsigned tries, int errnum)
{
	struct hf_descriptors *d = ctx;
	const struct timespec wait = {.tv_nsec = (long)tries * WAIT_MS * 1000000};
	size_t closed;

	if (tries > TRIES || d->common->closing)
		return false;
	say(d, errnum);
	closed = d->shed(d->ctx);
	if (!closed || tries > 1)
		nanosleep(&wait, NULL);
	return true;
}

bool hf_descriptors_again(struct hf_descriptors *d, unsigned tries, int err)
{
	if (!hf_err_is_shortage(err) || tries > TRIES_AGAIN)
		return false;
	return hf_descriptors_make_room(d, tries, err == HF_ERR_FILES ? EMFILE : err == HF_ERR_NOMEM ? ENOMEM : ENFILE);
}

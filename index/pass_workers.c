/* SPDX-License-Identifier: Apache-2.0 */
#include "index/pass_workers.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Of smaller files a thread would hardly have begun when they are done. */
#define MANY_SIZE (UINT64_C(128) << 10)
/* How long the building thread waits for others before it looks whether progress is to be told. */
#define NAP_NS 5000000L

struct helper {
	struct hf_crew *crew;
	pthread_t thread;
	unsigned number; /* from 1 */
};

struct hf_crew {
	struct hf_builder *b;
	pthread_t builder;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	unsigned waiting;  /* threads that wait for changed */
	unsigned allowed;  /* threads, the builder among them */
	bool many, stop;
	int err;           /* the first, of lane */
	struct hf_lane *failed;
	struct hf_lane *lane[HF_CREW_LANES];
	size_t lane_count;
	struct hf_lane *turn; /* is written */
	size_t started;
	struct helper helper[HF_CREW_THREADS - 1];
};

void hf_crew_lock(struct hf_crew *crew)
{
	pthread_mutex_lock(&crew->lock);
}

void hf_crew_unlock(struct hf_crew *crew)
{
	pthread_mutex_unlock(&crew->lock);
}

void hf_crew_wake(struct hf_crew *crew)
{
	if (crew->waiting)
		pthread_cond_broadcast(&crew->changed);
}

/* With the lock. */
static void sleep_on(struct hf_crew *crew)
{
	crew->waiting++;
	pthread_cond_wait(&crew->changed, &crew->lock);
	crew->waiting--;
}

bool hf_crew_is_many(const struct hf_crew *crew)
{
	return crew->many;
}

size_t hf_crew_ahead(const struct hf_crew *crew)
{
	return crew->allowed < HF_CREW_LANES ? crew->allowed - 1 : HF_CREW_LANES - 1;
}

/* With the lock. Without company only what is written next: the rest would lie about. */
static bool pick(struct hf_crew *crew, unsigned thread, struct hf_lane **ret_lane, struct hf_stage **ret_stage)
{
	if (crew->err || thread >= crew->allowed)
		return false;
	for (size_t i = 0; i < crew->lane_count; i++) {
		struct hf_lane *lane = crew->lane[i];

		if (crew->allowed == 1 && lane != crew->turn)
			continue;
		*ret_stage = hf_lane_ready(lane, thread);
		if (*ret_stage) {
			*ret_lane = lane;
			return true;
		}
	}
	return false;
}

/* With the lock, which it gives up meanwhile. */
static void run_stage(struct hf_crew *crew, unsigned thread, struct hf_lane *lane, struct hf_stage *stage)
{
	int err;

	stage->running = true;
	stage->last = thread;
	pthread_mutex_unlock(&crew->lock);
	err = hf_lane_run(lane, stage);
	pthread_mutex_lock(&crew->lock);
	stage->running = false;
	stage->done++;
	if (!err && stage != &lane->decode)
		err = hf_lane_join(lane);
	if (err && !crew->err) {
		crew->err = err;
		crew->failed = lane;
	}
	hf_crew_wake(crew);
}

static void *help(void *arg)
{
	const struct helper *helper = arg;
	struct hf_crew *crew = helper->crew;
	struct hf_stage *stage;
	struct hf_lane *lane;

	pthread_setname_np(pthread_self(), "hartfs-index");
	pthread_mutex_lock(&crew->lock);
	while (!crew->stop) {
		if (pick(crew, helper->number, &lane, &stage)) {
			run_stage(crew, helper->number, lane, stage);
			continue;
		}
		sleep_on(crew);
	}
	pthread_mutex_unlock(&crew->lock);
	return NULL;
}

/* As many threads as there may be just now. What cannot be started is not missed. */
static void ask_allowed(struct hf_crew *crew)
{
	const struct hf_build *build = crew->b->build;
	unsigned allowed = crew->many ? build->threads(build->ctx) : 1;

	if (allowed < 1)
		allowed = 1;
	if (allowed > HF_CREW_THREADS)
		allowed = HF_CREW_THREADS;
	while (crew->started + 1 < allowed) {
		struct helper *helper = &crew->helper[crew->started];

		*helper = (struct helper){.crew = crew, .number = (unsigned)crew->started + 1};
		if (pthread_create(&helper->thread, NULL, help, helper))
			break;
		crew->started++;
	}
	pthread_mutex_lock(&crew->lock);
	if (crew->allowed != allowed) {
		crew->allowed = allowed;
		hf_crew_wake(crew);
	}
	pthread_mutex_unlock(&crew->lock);
}

int hf_crew_new(struct hf_builder *b, struct hf_crew **ret_crew)
{
	struct hf_crew *crew = calloc(1, sizeof *crew);
	pthread_condattr_t attr;

	*ret_crew = crew;
	if (!crew)
		return HF_ERR_NOMEM;
	crew->b = b;
	crew->builder = pthread_self();
	crew->allowed = 1;
	crew->many = b->build->threads && (b->build->every || b->build->identity.size >= MANY_SIZE);
	pthread_mutex_init(&crew->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&crew->changed, &attr);
	pthread_condattr_destroy(&attr);
	ask_allowed(crew);
	return 0;
}

void hf_crew_stop(struct hf_crew *crew)
{
	if (!crew)
		return;
	pthread_mutex_lock(&crew->lock);
	crew->stop = true;
	pthread_cond_broadcast(&crew->changed);
	pthread_mutex_unlock(&crew->lock);
	for (size_t i = 0; i < crew->started; i++)
		pthread_join(crew->helper[i].thread, NULL);
	crew->started = 0;
}

void hf_crew_free(struct hf_crew *crew)
{
	if (!crew)
		return;
	hf_crew_stop(crew);
	for (size_t i = 0; i < crew->lane_count; i++)
		hf_lane_free(crew->lane[i]);
	pthread_cond_destroy(&crew->changed);
	pthread_mutex_destroy(&crew->lock);
	free(crew);
}

int hf_crew_add(struct hf_crew *crew, struct hf_lane *lane)
{
	if (crew->lane_count == HF_CREW_LANES) {
		hf_lane_free(lane);
		return HF_ERR_BUG;
	}
	pthread_mutex_lock(&crew->lock);
	crew->lane[crew->lane_count++] = lane;
	hf_crew_wake(crew);
	pthread_mutex_unlock(&crew->lock);
	return 0;
}

static bool is_idle(const struct hf_lane *lane)
{
	bool running = lane->decode.running || lane->collect.running;

	for (size_t i = 0; i < lane->view_count; i++)
		running = running || lane->views[i].stage.running;
	return !running;
}

/* The lane is at its end, though whoever brought it there may not have left it yet. */
static void remove_lane(struct hf_crew *crew, struct hf_lane *lane)
{
	pthread_mutex_lock(&crew->lock);
	while (!is_idle(lane))
		sleep_on(crew);
	for (size_t i = 0; i < crew->lane_count; i++) {
		if (crew->lane[i] != lane)
			continue;
		crew->lane_count--;
		for (; i < crew->lane_count; i++)
			crew->lane[i] = crew->lane[i + 1];
	}
	crew->turn = NULL;
	pthread_mutex_unlock(&crew->lock);
}

/* Writes what the lane whose turn it is has ready. */
static int write_some(struct hf_crew *crew)
{
	const struct hf_tape_record *record;
	struct hf_lane *lane = crew->turn;
	struct hf_tape tape;
	int err = 0;

	if (!lane)
		return 0;
	pthread_mutex_lock(&crew->lock);
	hf_tape_take(&tape, &lane->tape);
	hf_crew_wake(crew);
	pthread_mutex_unlock(&crew->lock);
	while (!err && (record = hf_tape_pop(&tape)))
		err = hf_lane_write(lane, record);
	hf_tape_free(&tape);
	return err;
}

int hf_crew_pump(struct hf_crew *crew)
{
	int err;

	if (!pthread_equal(crew->builder, pthread_self()))
		return 0;
	err = write_some(crew);
	return err ? err : hf_builder_tick(crew->b, crew->b->offset, false);
}

/* One stage, or a short sleep if there is none. */
static int work(struct hf_crew *crew)
{
	struct hf_stage *stage;
	struct hf_lane *lane;
	int err;

	pthread_mutex_lock(&crew->lock);
	if (pick(crew, 0, &lane, &stage)) {
		run_stage(crew, 0, lane, stage);
	} else if (!crew->err && !crew->turn->tape.bytes) {
		struct timespec until;

		clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_nsec += NAP_NS;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		crew->waiting++;
		pthread_cond_timedwait(&crew->changed, &crew->lock, &until);
		crew->waiting--;
	}
	err = crew->err;
	pthread_mutex_unlock(&crew->lock);
	if (err && crew->b->diag && crew->failed->diag.code == err)
		*crew->b->diag = crew->failed->diag;
	return err;
}

int hf_crew_finish(struct hf_crew *crew, struct hf_lane *lane, struct hf_lane_end *ret_end)
{
	int err = 0;

	pthread_mutex_lock(&crew->lock);
	crew->turn = lane;
	pthread_mutex_unlock(&crew->lock);
	while (!err && !lane->finished) {
		if (crew->many)
			ask_allowed(crew);
		err = work(crew);
		if (!err)
			err = hf_crew_pump(crew);
	}
	if (err)
		return err;
	remove_lane(crew, lane);
	*ret_end = lane->end;
	hf_lane_free(lane);
	return 0;
}

struct hf_lane *hf_crew_hold_code(struct hf_crew *crew)
{
	struct hf_lane *lane = crew ? crew->turn : NULL;

	if (!lane)
		return NULL;
	pthread_mutex_lock(&crew->lock);
	while (lane->collect.running)
		sleep_on(crew);
	lane->collect.running = true;
	pthread_mutex_unlock(&crew->lock);
	return lane;
}

void hf_crew_release_code(struct hf_crew *crew, struct hf_lane *lane)
{
	if (!lane)
		return;
	pthread_mutex_lock(&crew->lock);
	lane->collect.running = false;
	hf_crew_wake(crew);
	pthread_mutex_unlock(&crew->lock);
}

size_t hf_crew_sum(struct hf_crew *crew, uint64_t *ret_pos, uint64_t *ret_insns)
{
	const uint64_t size = crew ? crew->b->build->identity.size : 0;

	*ret_pos = *ret_insns = 0;
	/* Only the builder, which asks, changes the list. */
	for (size_t i = 0; crew && i < crew->lane_count; i++) {
		uint64_t pos = atomic_load_explicit(&crew->lane[i]->pos, memory_order_relaxed);

		*ret_pos += pos < size ? pos : size;
		*ret_insns += atomic_load_explicit(&crew->lane[i]->insns, memory_order_relaxed);
	}
	return crew ? crew->lane_count : 0;
}

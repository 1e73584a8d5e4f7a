/* SPDX-License-Identifier: Apache-2.0 */
#include "mountd/tasks.h"

#include "codecs/base/err.h"

#include <stddef.h>

static void *run(void *arg)
{
	struct hf_tasks *tasks = arg;

	pthread_mutex_lock(&tasks->lock);
	for (;;) {
		struct hf_task *task = tasks->first;

		if (!task && tasks->stop)
			break;
		if (!task) {
			pthread_cond_wait(&tasks->wake, &tasks->lock);
			continue;
		}
		tasks->first = task->next;
		if (!tasks->first)
			tasks->last = &tasks->first;
		pthread_mutex_unlock(&tasks->lock);
		task->fn(task);
		pthread_mutex_lock(&tasks->lock);
	}
	pthread_mutex_unlock(&tasks->lock);
	return NULL;
}

int hf_tasks_init(struct hf_tasks *tasks)
{
	tasks->first = NULL;
	tasks->last = &tasks->first;
	tasks->stop = tasks->joined = false;
	pthread_mutex_init(&tasks->lock, NULL);
	pthread_cond_init(&tasks->wake, NULL);
	return pthread_create(&tasks->thread, NULL, run, tasks) ? HF_ERR_NOMEM : 0;
}

bool hf_tasks_push(struct hf_tasks *tasks, struct hf_task *task)
{
	bool taken;

	task->next = NULL;
	pthread_mutex_lock(&tasks->lock);
	taken = !tasks->stop;
	if (taken) {
		*tasks->last = task;
		tasks->last = &task->next;
		pthread_cond_signal(&tasks->wake);
	}
	pthread_mutex_unlock(&tasks->lock);
	return taken;
}

void hf_tasks_stop(struct hf_tasks *tasks)
{
	pthread_mutex_lock(&tasks->lock);
	tasks->stop = true;
	pthread_cond_signal(&tasks->wake);
	pthread_mutex_unlock(&tasks->lock);
	if (!tasks->joined)
		pthread_join(tasks->thread, NULL);
	tasks->joined = true;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "mountd/blocked.h"

#include "codecs/base/errors.h"
#include "index/base/lock.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Each is a system call that somebody waits in, of any user: more than this are not put aside. */
enum { BLOCKED_MAX = 1024 };

/* They are looked at as often as that, also if nobody says that something has changed. */
#define NAP_NS (INT64_C(100) * 1000000)

struct blocked {
	struct hf_link link; /* first */
	struct hf_session *session;
	fuse_req_t req;
	hf_blocked_reply *reply;
	fuse_ino_t parent;
	atomic_bool interrupted;
	char name[];
};

/* libfuse holds the request's lock here, which answering needs as well. */
static void on_interrupt(fuse_req_t req, void *data)
{
	struct blocked *blocked = data;

	(void)req;
	atomic_store(&blocked->interrupted, true);
	hf_blocked_wake(blocked->session);
}

bool hf_blocked_add(struct hf_session *session, fuse_req_t req, fuse_ino_t parent, const char *name,
		    hf_blocked_reply *reply)
{
	struct hf_blockings *all = &session->blocked;
	const size_t size = strlen(name) + 1;
	struct blocked *blocked = malloc(sizeof *blocked + size);
	bool taken;

	if (!blocked)
		return false;
	blocked->session = session;
	blocked->req = req;
	blocked->reply = reply;
	blocked->parent = parent;
	atomic_init(&blocked->interrupted, false);
	memcpy(blocked->name, name, size);
	/* While it is in no list nobody answers it. */
	fuse_req_interrupt_func(req, on_interrupt, blocked);
	pthread_mutex_lock(&all->lock);
	taken = all->running && all->count < BLOCKED_MAX;
	if (taken) {
		all->count++;
		hf_link_add(&all->list, &blocked->link);
	}
	pthread_mutex_unlock(&all->lock);
	if (taken) {
		hf_blocked_wake(session);
	} else {
		fuse_req_interrupt_func(req, NULL, NULL);
		free(blocked);
	}
	return taken;
}

void hf_blocked_wake(struct hf_session *session)
{
	struct hf_blockings *all = &session->blocked;
	bool any;

	pthread_mutex_lock(&all->lock);
	any = all->running && all->count;
	pthread_mutex_unlock(&all->lock);
	if (any)
		hf_job_submit(hf_fs_exec(session->fs), &all->look);
}

static bool has_state(struct hf_session *session, const struct blocked *blocked, const char *name)
{
	char state[HF_FS_XATTR_SIZE];
	size_t size;

	return !hf_fs_xattr(session->fs, blocked->parent, "user.hartfs.state", state, &size) && !strcmp(state, name);
}

/* True if it was answered. */
static bool try_again(struct hf_session *session, struct blocked *blocked, bool stop)
{
	struct hf_attr attr = {0};
	int err = HF_ERR_CANCELLED;

	if (!stop && !atomic_load(&blocked->interrupted)) {
		if (has_state(session, blocked, "indexing") || has_state(session, blocked, "queued"))
			return false;
		err = hf_fs_lookup(session->fs, blocked->parent, blocked->name, &attr);
		/* One that waits for the index directory may do so for ever. */
		if (err == HF_ERR_BUSY && !has_state(session, blocked, "waiting"))
			return false;
	}
	/* Waits until an interrupt that is just being delivered has left. */
	fuse_req_interrupt_func(blocked->req, NULL, NULL);
	blocked->reply(blocked->req, err, &attr);
	return true;
}

/* Takes all that there are, and puts those back that have to wait on. With the lock held, which it lets go meanwhile. */
static void look_at_all(struct hf_session *session, bool stop)
{
	struct hf_blockings *all = &session->blocked;
	struct hf_link *rest = NULL;

	for (;;) {
		struct hf_link *link = all->list.next;
		bool answered;

		if (link == &all->list)
			break;
		hf_link_remove(link);
		pthread_mutex_unlock(&all->lock);
		answered = try_again(session, (struct blocked *)link, stop);
		pthread_mutex_lock(&all->lock);
		if (answered) {
			all->count--;
			free(link);
		} else {
			link->next = rest;
			rest = link;
		}
	}
	while (rest) {
		struct hf_link *next = rest->next;

		hf_link_add(&all->list, rest);
		rest = next;
	}
}

static int run_look(struct hf_job *job, struct hf_worker *worker)
{
	struct hf_blockings *all = HF_OWNER(job, struct hf_blockings, look);
	struct hf_session *session = HF_OWNER(all, struct hf_session, blocked);
	bool again;

	(void)worker;
	pthread_mutex_lock(&all->lock);
	if (all->running)
		look_at_all(session, false);
	again = all->running && !hf_link_none(&all->list);
	pthread_mutex_unlock(&all->lock);
	if (again)
		hf_job_submit_after(hf_fs_exec(session->fs), job, NAP_NS);
	return 0;
}

void hf_blocked_init(struct hf_session *session)
{
	struct hf_blockings *all = &session->blocked;

	*all = (struct hf_blockings){.look = {.fn = run_look, .work = HF_WORK_SERVE}};
	hf_link_init(&all->list);
	pthread_mutex_init(&all->lock, NULL);
}

void hf_blocked_start(struct hf_session *session)
{
	HF_LOCKED(&session->blocked.lock);
	session->blocked.running = true;
}

void hf_blocked_stop(struct hf_session *session)
{
	struct hf_blockings *all = &session->blocked;

	pthread_mutex_lock(&all->lock);
	all->running = false;
	pthread_mutex_unlock(&all->lock);
	hf_job_cancel(&all->look);
	hf_job_join(&all->look);
	pthread_mutex_lock(&all->lock);
	look_at_all(session, true);
	pthread_mutex_unlock(&all->lock);
}

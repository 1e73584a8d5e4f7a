/* SPDX-License-Identifier: Apache-2.0 */
#include "mountd/session.h"

#include "mountd/blocked.h"
#include "mountd/log.h"

#include <errno.h>
#include <fuse_log.h>
#include <linux/fuse.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/*
 * Threads of the loop. They never decode, but a lookup may wait a second or two for a small capture to be indexed:
 * enough of them that a few such do not stop the rest.
 */
#define THREADS 16

static void log_from_libfuse(enum fuse_log_level level, const char *format, va_list args)
{
	/* Its "info" is chatter; its levels are syslog's. */
	hf_log_v(level >= FUSE_LOG_NOTICE ? 7 : (int)level, format, args);
}

static int make_args(struct fuse_args *args, const char *archive, char *const *options, int option_count)
{
	char *list = NULL, *name = NULL;
	int err = -1;

	if (asprintf(&name, "fsname=hartfs#%s", archive) < 0)
		return -1;
	if (fuse_opt_add_opt(&list, "ro") || fuse_opt_add_opt(&list, "default_permissions") ||
	    fuse_opt_add_opt(&list, "subtype=hartfs") || fuse_opt_add_opt_escaped(&list, name))
		goto out;
	for (int i = 0; i < option_count; i++)
		if (fuse_opt_add_opt_escaped(&list, options[i]))
			goto out;
	if (!fuse_opt_add_arg(args, "hartfs") && !fuse_opt_add_arg(args, "-o") && !fuse_opt_add_arg(args, list))
		err = 0;
out:
	free(list);
	free(name);
	return err;
}

int hf_session_init(struct hf_session *session, const char *archive, char *const *options, int option_count)
{
	struct fuse_args args = FUSE_ARGS_INIT(0, NULL);

	pthread_mutex_init(&session->lock, NULL);
	pthread_cond_init(&session->no_reads, NULL);
	hf_link_init(&session->handles);
	hf_link_init(&session->reads);
	hf_blocked_init(session);
	hf_list_hints_init(&session->list_hints);
	fuse_set_log_func(log_from_libfuse);
	if (make_args(&args, archive, options, option_count) == 0)
		session->fuse = fuse_session_new(&args, &hf_fuse_ops, sizeof hf_fuse_ops, session);
	fuse_opt_free_args(&args);
	return session->fuse ? 0 : HF_ERR_STATE;
}

int hf_session_mount(struct hf_session *session, const char *mountpoint)
{
	return fuse_session_mount(session->fuse, mountpoint) == 0 ? 0 : HF_ERR_IO;
}

/*
 * No thread of ours may wait in the kernel for what only we can answer: killed meanwhile it could not die, and the
 * connection would stay with everybody who waits in it. To drop pages (an offset from 0 on) the kernel waits for reads
 * of them, to drop a name for look-ups in its directory. With a negative offset it only marks the attributes as old.
 * The next read of cached bytes then asks for them (FUSE_CAP_AUTO_INVAL_DATA) and gets an error if the file was
 * replaced. Pages and names are dropped by whoever opens the file or directory next, on that process's own time.
 */
void hf_session_invalidate(void *ctx, uint64_t ino)
{
	struct hf_session *session = ctx;

	if (session->block)
		hf_blocked_wake(session);
	/* ENOENT: the kernel did not know it anyway. */
	fuse_lowlevel_notify_inval_inode(session->fuse, ino, -1, 0);
}

/* True: the main thread must look after the parked threads. */
static bool leave(struct hf_session *session, const struct fuse_buf *buf, int n)
{
	struct fuse_in_header head = {0};

	if (n >= (int)sizeof head && !(buf->flags & FUSE_BUF_IS_FD))
		memcpy(&head, buf->mem, sizeof head);
	return hf_thread_parking_leave(&session->parking, head.pid, head.opcode == FUSE_READ);
}

/*
 * libfuse's own loop bounds its threads only from 3.12 on and warns about its own default then; this one has a fixed
 * number of threads, each with its buffer, of which no more wait for requests than are needed (thread_parking.h).
 */
static void *serve(void *arg)
{
	struct hf_session *session = arg;
	struct fuse_buf buf = {0};

	while (!fuse_session_exited(session->fuse)) {
		int n;

		if (!hf_thread_parking_enter(&session->parking))
			continue;
		n = fuse_session_receive_buf(session->fuse, &buf);
		if (leave(session, &buf, n))
			pthread_kill(session->main, SIGUSR1);
		if (n == -EINTR || n == -EAGAIN)
			continue;
		if (n <= 0)
			break;
		fuse_session_process_buf(session->fuse, &buf);
	}
	fuse_session_exit(session->fuse);
	free(buf.mem);
	atomic_fetch_sub(&session->threads, 1);
	pthread_kill(session->main, SIGUSR1);
	return NULL;
}

static void wake_up(int sig)
{
	(void)sig;
}

static void nap(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
}

/* Waits until the loop has ended by itself or a signal ends it. */
static void wait_for_end(struct hf_session *session, const sigset_t *signals)
{
	const struct timespec until_look = {.tv_nsec = HF_THREAD_PARKING_LOOK_NS};
	bool watch = true;
	unsigned seen = 0;
	int sig;

	while (!fuse_session_exited(session->fuse)) {
		sig = watch ? sigtimedwait(signals, NULL, &until_look) : sigwaitinfo(signals, NULL);
		if (sig < 0)
			watch = hf_thread_parking_look(&session->parking, &seen);
		else if (sig == SIGUSR1)
			watch = true;
		if (sig < 0 || sig == SIGUSR1)
			continue;
		if (sig == SIGHUP || sig == HF_SIGNAL_NEW_LOG) {
			session->on_log_signal(session->ctx, sig);
			continue;
		}
		hf_log(6, "ending on signal %d", sig);
		fuse_session_exit(session->fuse);
	}
}

int hf_session_run(struct hf_session *session)
{
	pthread_t threads[THREADS];
	sigset_t signals;
	int started = 0;

	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGHUP);
	sigaddset(&signals, HF_SIGNAL_NEW_LOG);
	sigaddset(&signals, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	sigaction(SIGUSR2, &(struct sigaction){.sa_handler = wake_up}, NULL);
	session->main = pthread_self();
	hf_thread_parking_init(&session->parking);
	atomic_store(&session->threads, THREADS);
	while (started < THREADS && !pthread_create(&threads[started], NULL, serve, session))
		started++;
	atomic_fetch_sub(&session->threads, THREADS - started);
	if (started)
		wait_for_end(session, &signals);
	/* A thread may be waiting for an index, and a read for a decoder. */
	hf_fs_stop(session->fs);
	/* A thread may be about to read when it is told: again until all have noticed. */
	while (atomic_load(&session->threads) > 0) {
		for (int i = 0; i < started; i++)
			pthread_kill(threads[i], SIGUSR2);
		nap();
	}
	for (int i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
	hf_thread_parking_fini(&session->parking);
	return started ? 0 : HF_ERR_NOMEM;
}

bool hf_session_quiesce(struct hf_session *session)
{
	struct timespec until;
	bool quiet;

	if (session->block)
		hf_blocked_stop(session);
	hf_fuse_cancel_reads(session);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 5;
	pthread_mutex_lock(&session->lock);
	while (session->read_count > 0)
		if (pthread_cond_timedwait(&session->no_reads, &session->lock, &until) == ETIMEDOUT)
			break;
	quiet = session->read_count == 0;
	pthread_mutex_unlock(&session->lock);
	if (quiet)
		hf_fuse_close_handles(session);
	return quiet;
}

void hf_session_fini(struct hf_session *session)
{
	fuse_session_destroy(session->fuse);
	session->fuse = NULL;
	hf_list_hints_fini(&session->list_hints);
	pthread_mutex_destroy(&session->blocked.lock);
	pthread_mutex_destroy(&session->lock);
	pthread_cond_destroy(&session->no_reads);
}

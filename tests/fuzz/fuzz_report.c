/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any packets from a server to its supervisor: of a mount it is believed once, and only one that the kernel has there
 * too, made since the supervisor began; what was opened for one that is not is closed. Input: reports, a byte each of
 * what it is, what the kernel says, and how long the packet is.
 */
#include "mountd/daemon.c"

#include "tests/lib/fuzz.h"

#include <fcntl.h>

enum { MOUNT = 42, SINCE = 1000000 };

static struct {
	bool holds;	 /* the kernel has that mount */
	unsigned opened; /* hf_dead_handle, hf_dead_watch */
	unsigned announced, confined, reopened;
	dev_t dev;
	uint64_t since;
} seen;

void hf_log(int level, const char *format, ...)
{
	(void)level;
	(void)format;
}

bool hf_mounts_holds(const char *path, dev_t dev, struct hf_mount_entry *ret_entry)
{
	(void)path;
	(void)ret_entry;
	return seen.holds && dev == MOUNT;
}

uint64_t hf_mounts_time(void)
{
	return 2 * SINCE;
}

int hf_mounts_announce(dev_t dev, uint64_t since, enum hf_mounts_role role)
{
	MUST(role == HF_MOUNTS_SUPERVISOR);
	seen.announced++;
	seen.dev = dev;
	seen.since = since;
	return -1;
}

int hf_mounts_detach(const char *path, bool lazy)
{
	(void)path;
	(void)lazy;
	abort();
}

static int open_one(void)
{
	seen.opened++;
	return dup(STDERR_FILENO);
}

int hf_dead_handle(dev_t dev)
{
	return dev % 2 ? -1 : open_one();
}

int hf_dead_watch(dev_t dev)
{
	return dev % 3 ? -1 : open_one();
}

bool hf_dead_process(pid_t pid)
{
	(void)pid;
	abort();
}

bool hf_dead_connected(int watch)
{
	(void)watch;
	abort();
}

void hf_dead_abort(int handle)
{
	(void)handle;
	abort();
}

void hf_dead_clear_own(const char *path, dev_t dev)
{
	(void)path;
	(void)dev;
	abort();
}

void hf_confine_supervisor(const struct hf_settings *settings, pid_t server, bool has_log_file)
{
	(void)settings;
	(void)server;
	(void)has_log_file;
	seen.confined++;
}

int hf_reopen_log(struct hf_plan *plan)
{
	(void)plan;
	seen.reopened++;
	return -1;
}

void hf_reopen_send(int server_fd, int fd)
{
	(void)server_fd;
	(void)fd;
	abort();
}

void hf_daemon_go_quiet(struct hf_plan *plan)
{
	(void)plan;
	abort();
}

int hf_server_run(struct hf_plan *plan, int supervisor_fd, int start_fd)
{
	(void)plan;
	(void)supervisor_fd;
	(void)start_fd;
	abort();
}

static void check(const struct supervisor *s)
{
	const bool known = s->dev != 0;
	const int next = dup(STDERR_FILENO);

	MUST(seen.announced == known && seen.confined == s->told);
	MUST(!known || (s->dev == MOUNT && seen.dev == MOUNT && seen.since >= SINCE && seen.since <= 2 * SINCE));
	/* Numbers go to who asks in their order: none is in use but those that are known of. */
	MUST(next >= 0 && (!seen.opened || known || s->abort_fd < 0));
	close(next);
}

static void give(struct supervisor *s, int fd, const uint8_t *step)
{
	static const dev_t devs[] = {MOUNT, MOUNT + 1, 0, (dev_t)-1, MOUNT + 3, 6};
	static const uint64_t times[] = {SINCE, 0, SINCE - 1, 2 * SINCE, 2 * SINCE + 1, UINT64_MAX};
	uint8_t packet[2 * sizeof(struct hf_report)] = {0};
	struct hf_report report = {.dev = devs[step[1] % 6], .since = times[step[1] / 6 % 6], .status = step[0]};
	const size_t size = step[2] & 1 ? step[2] % sizeof packet : sizeof report;
	const int kind = step[0] & 8 ? (int)(step[0] * 0x1010101u) : step[0] & 3;

	memcpy(&report.kind, &kind, sizeof kind);
	memcpy(packet, &report, sizeof report);
	seen.holds = step[2] & 2;
	MUST(send(fd, packet, size, MSG_NOSIGNAL) == (ssize_t)size || s->server_fd < 0);
	if (s->server_fd >= 0)
		take_report(s);
	MUST(s->server_fd >= 0 || size < sizeof report);
	check(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct hf_plan plan = {.mountpoint = (char *)"/m", .log_path = (char *)"/x"};
	struct supervisor s = {.plan = &plan, .gone_fd = -1, .abort_fd = -1, .watch_fd = -1, .since = SINCE};
	const int first = dup(STDERR_FILENO);
	int ends[2], last;

	close(first);
	memset(&seen, 0, sizeof seen);
	MUST(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == 0);
	s.server_fd = ends[0];
	for (size_t i = 0; i + 3 <= n && i < 60 && s.server_fd >= 0; i += 3)
		give(&s, ends[1], bytes + i);
	MUST(s.abort_fd < 0 || close(s.abort_fd) == 0);
	MUST(s.watch_fd < 0 || close(s.watch_fd) == 0);
	MUST(s.server_fd < 0 || close(s.server_fd) == 0);
	close(ends[1]);
	last = dup(STDERR_FILENO);
	MUST(last == first); /* none is left open */
	close(last);
	return 0;
}

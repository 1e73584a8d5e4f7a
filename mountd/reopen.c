/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a mount's processes write: first to the terminal as well, later to the log alone. A log file that was rotated
 * away the supervisor opens anew and hands to the confined server.
 */
#include "mountd/plan.h"
#include "mountd/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdalign.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

void hf_daemon_go_quiet(struct hf_plan *plan)
{
	atomic_store(&plan->quiet, true);
	if (plan->log_fd >= 0 || !plan->settings->foreground)
		hf_log_leave_stderr();
	if (plan->settings->foreground)
		return;
	dup2(plan->null_fd, STDIN_FILENO);
	dup2(plan->null_fd, STDOUT_FILENO);
	/* What libraries, asserts and sanitizers have to say goes to the log file too, if there is one. */
	dup2(plan->log_fd >= 0 ? plan->log_fd : plan->null_fd, STDERR_FILENO);
}

/* Under the number that the log has had all along, so that no line is lost and no thread writes to a closed file. */
static bool put_in_place(const struct hf_plan *plan, int fd)
{
	if (dup3(fd, plan->log_fd, O_CLOEXEC) < 0)
		return false;
	if (plan->quiet && !plan->settings->foreground)
		dup2(plan->log_fd, STDERR_FILENO);
	return true;
}

int hf_reopen_log(struct hf_plan *plan)
{
	int fd = open(plan->log_path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0600);

	if (fd >= 0 && put_in_place(plan, fd)) {
		close(fd);
		return plan->log_fd;
	}
	hf_log(4, "%s cannot be opened anew: %s; the log goes on in the old file", plan->log_path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return -1;
}

/* A message of one byte with room for one descriptor. */
struct message {
	char byte;
	struct iovec iov;
	alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))];
	struct msghdr header;
};

static void message_init(struct message *message)
{
	memset(message, 0, sizeof *message);
	message->iov = (struct iovec){.iov_base = &message->byte, .iov_len = 1};
	message->header = (struct msghdr){.msg_iov = &message->iov,
					  .msg_iovlen = 1,
					  .msg_control = message->control,
					  .msg_controllen = sizeof message->control};
}

void hf_reopen_send(int server_fd, int fd)
{
	struct message message;
	struct cmsghdr *control;

	message_init(&message);
	control = CMSG_FIRSTHDR(&message.header);
	control->cmsg_level = SOL_SOCKET;
	control->cmsg_type = SCM_RIGHTS;
	control->cmsg_len = CMSG_LEN(sizeof fd);
	memcpy(CMSG_DATA(control), &fd, sizeof fd);
	if (sendmsg(server_fd, &message.header, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		hf_log(4, "the server got no new log file: %s", strerror(errno));
}

static int receive(int supervisor_fd)
{
	struct message message;
	struct cmsghdr *control;
	int fd;

	message_init(&message);
	if (recvmsg(supervisor_fd, &message.header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) < 1)
		return -1;
	control = CMSG_FIRSTHDR(&message.header);
	if (!control || control->cmsg_type != SCM_RIGHTS || control->cmsg_len != CMSG_LEN(sizeof fd))
		return -1;
	memcpy(&fd, CMSG_DATA(control), sizeof fd);
	return fd;
}

void hf_reopen_receive(struct hf_plan *plan, int supervisor_fd)
{
	int fd;

	/* Of several the last is the newest. */
	while ((fd = receive(supervisor_fd)) >= 0) {
		if (plan->log_fd >= 0 && !put_in_place(plan, fd))
			hf_log(4, "the log goes on in the old file: %s", strerror(errno));
		close(fd);
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "mountd/sql/child.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

/* Milliseconds between two looks whether the host wants no more; for the child to answer to that; and to end by itself. */
enum { LOOK_MS = 50, CANCEL_MS = 5000, STOP_MS = 1000 };
/* Bytes of what the child says on standard error. */
enum { ERRORS_MOST = 64 << 10 };

static enum hf_child_result say(struct hf_child *child, enum hf_child_result result, const char *text)
{
	snprintf(child->words, sizeof child->words, "%s", text);
	return result;
}

/* ---- the program ---- */

static bool is_program(const char *path)
{
	return access(path, X_OK) == 0;
}

/* $HARTFS; else beside this file, in the build directory; else where it was installed with this file; else in $PATH. */
static char *find_program(void)
{
	const char *named = getenv("HARTFS"), *slash;
	char *path = NULL;
	Dl_info info;

	if (named && *named)
		return strdup(named);
	if (!dladdr((const void *)&hf_child_open, &info) || !info.dli_fname || !(slash = strrchr(info.dli_fname, '/')))
		return strdup("hartfs");
	for (unsigned i = 0; i < 2; i++) {
		if (asprintf(&path, "%.*s/%s%shartfs", (int)(slash - info.dli_fname), info.dli_fname,
			     i ? HARTFS_BIN_FROM_PLUGIN : "", i ? "/" : "") < 0)
			return NULL;
		if (is_program(path))
			return path;
		free(path);
	}
	return strdup("hartfs");
}

static void free_arguments(struct hf_child *child)
{
	for (size_t i = 0; child->arguments && child->arguments[i]; i++)
		free(child->arguments[i]);
	free(child->arguments);
	child->arguments = NULL;
}

static bool set_arguments(struct hf_child *child, const char *path, const char *const *options, size_t count)
{
	static const char *const fixed[] = {"serve", "-q"};
	size_t n = 0;
	bool ok;

	free_arguments(child);
	child->arguments = calloc(count + 6, sizeof *child->arguments);
	if (!child->arguments)
		return false;
	ok = (child->arguments[n++] = find_program()) != NULL;
	for (size_t i = 0; ok && i < 2; i++)
		ok = (child->arguments[n++] = strdup(fixed[i])) != NULL;
	for (size_t i = 0; ok && i < count; i++)
		ok = (child->arguments[n++] = strdup(options[i])) != NULL;
	ok = ok && (child->arguments[n++] = strdup("--")) != NULL;
	return ok && (child->arguments[n++] = strdup(path)) != NULL;
}

/* ---- its life ---- */

/* What it said last on standard error, if anything. */
static void read_errors(struct hf_child *child, int errors)
{
	char text[HF_CHILD_WORDS];
	const ssize_t n = errors < 0 ? 0 : pread(errors, text, sizeof text - 1, 0);
	char *end;

	if (n <= 0)
		return;
	text[n] = 0;
	end = text + strcspn(text, "\n");
	*end = 0;
	if (end > text)
		say(child, HF_CHILD_DIED, text);
}

/* What it said is for the user of hartfs sql; another host may have no standard error to speak of. */
static void pass_on(int errors)
{
	char text[ERRORS_MOST];
	const ssize_t n = errors >= 0 && getenv("HARTFS_SHELL") ? pread(errors, text, sizeof text, 0) : 0;

	if (n > 0)
		fprintf(stderr, "%.*s", (int)strnlen(text, (size_t)n), text);
}

/* It ends when nobody is there any more, after what it has to write; not later than after a second. */
static void stop(struct hf_child *child)
{
	pid_t ended = 0;

	if (!child->pid)
		return;
	close(child->fd);
	for (int ms = 1, waited = 0; !ended && waited < STOP_MS; waited += ms, ms += ms < 32 ? ms : 0) {
		ended = waitpid(child->pid, NULL, WNOHANG);
		if (!ended)
			poll(NULL, 0, ms);
	}
	if (!ended) {
		kill(child->pid, SIGKILL);
		while (waitpid(child->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	pass_on(child->errors);
	if (child->errors >= 0)
		close(child->errors);
	child->pid = 0;
	child->fd = child->errors = -1;
}

/* It said nothing of use any more. */
static enum hf_child_result bury(struct hf_child *child, const char *what)
{
	const int errors = child->errors;

	child->errors = -1;
	stop(child);
	say(child, HF_CHILD_DIED, what);
	read_errors(child, errors);
	if (errors >= 0)
		close(errors);
	return HF_CHILD_DIED;
}

/* A file in memory that cannot grow: whoever writes there cannot fill the memory. */
static int make_errors(void)
{
	int fd = memfd_create("hartfs-errors", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd >= 0 && (ftruncate(fd, ERRORS_MOST) || fcntl(fd, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK))) {
		close(fd);
		return -1;
	}
	return fd;
}

static int spawn(struct hf_child *child, int fd, int errors)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none;
	int err;

	sigemptyset(&none);
	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attributes);
	/* The terminal's signals are for the host. */
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawn_file_actions_adddup2(&actions, fd, STDIN_FILENO);
	posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	if (errors >= 0)
		posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
	err = posix_spawnp(&child->pid, child->arguments[0], &actions, &attributes, child->arguments, environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	return err;
}

static enum hf_child_result launch(struct hf_child *child)
{
	int pair[2], err;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return say(child, HF_CHILD_DIED, strerror(errno));
	child->errors = make_errors();
	err = spawn(child, pair[1], child->errors);
	close(pair[1]);
	child->fd = pair[0];
	if (!err) {
		child->generation++;
		return HF_CHILD_OK;
	}
	close(pair[0]);
	if (child->errors >= 0)
		close(child->errors);
	child->pid = 0;
	snprintf(child->words, sizeof child->words, "%s cannot be started: %s", child->arguments[0], strerror(err));
	return HF_CHILD_DIED;
}

/* ---- answers ---- */

/* What is known while an answer is waited for. */
struct waiting {
	int64_t looked_ms; /* when the host was asked last, or at first the beginning */
	int64_t cancelled_ms;
	bool cancelled; /* the host wants no more, and the child was told so */
};

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static void begin_waiting(struct waiting *waiting)
{
	*waiting = (struct waiting){.looked_ms = now_ms()};
}

/* Cancels what is under way if the host wants that, once. False: the child does not care, and has had its time. */
static bool look(struct hf_child *child, struct waiting *waiting)
{
	struct hf_out out = {.most = HF_MESSAGE_HEAD};
	const int64_t now = now_ms();

	if (now - waiting->looked_ms < LOOK_MS)
		return true;
	waiting->looked_ms = now;
	if (waiting->cancelled)
		return now - waiting->cancelled_ms < CANCEL_MS;
	if (!child->interrupted || !child->interrupted(child->ctx))
		return true;
	waiting->cancelled = true;
	waiting->cancelled_ms = now;
	hf_request_write(&out, &(struct hf_request){.message = HF_MESSAGE_CANCEL});
	hf_out_send(&out, child->fd);
	hf_out_free(&out);
	return true;
}

/* Until there are bytes. Also of a child that sends some now and then the host is asked. */
static bool wait_for(struct hf_child *child, struct waiting *waiting)
{
	struct pollfd poller = {.fd = child->fd, .events = POLLIN};
	int n = 0;

	while (n <= 0) {
		n = poll(&poller, 1, LOOK_MS);
		if ((n < 0 && errno != EINTR) || !look(child, waiting))
			return false;
	}
	return true;
}

static bool receive(struct hf_child *child, uint8_t *to, size_t size, struct waiting *waiting)
{
	size_t got = 0;

	while (got < size && wait_for(child, waiting)) {
		const ssize_t n = read(child->fd, to + got, size - got);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		got += (size_t)n;
	}
	return got == size;
}

static enum hf_child_result lose(struct hf_child *child, const struct waiting *waiting)
{
	bury(child, "hartfs serve ended");
	return waiting->cancelled ? HF_CHILD_INTERRUPTED : HF_CHILD_DIED;
}

/* The next message, in child->in. */
static enum hf_child_result receive_message(struct hf_child *child, uint32_t *ret_message, struct waiting *waiting)
{
	uint8_t bytes[HF_MESSAGE_HEAD];
	struct hf_head head;
	uint8_t *in;

	if (!receive(child, bytes, sizeof bytes, waiting))
		return lose(child, waiting);
	head = hf_head_read(bytes);
	in = head.size <= HF_REPLY_MOST ? realloc(child->in, head.size + 1) : NULL;
	if (!in)
		return bury(child, "hartfs serve sent what is no answer");
	child->in = in;
	child->in_size = head.size;
	if (!receive(child, child->in, head.size, waiting))
		return lose(child, waiting);
	*ret_message = head.message;
	return HF_CHILD_OK;
}

/* The first one tells the tables; all others must tell the same. */
static enum hf_child_result take_hello(struct hf_child *child)
{
	struct hf_schema schema;
	uint32_t version;
	char words[HF_CHILD_WORDS];

	if (!hf_schema_read(child->in, child->in_size, &schema, &version)) {
		snprintf(words, sizeof words, "%s speaks version %u of the protocol, and this extension %u",
			 child->arguments[0], version, HF_PROTOCOL_VERSION);
		return bury(child, version && version != HF_PROTOCOL_VERSION ? words : "this is not hartfs serve");
	}
	if (child->hello && (child->hello_size != child->in_size || memcmp(child->hello, child->in, child->in_size) != 0))
		return bury(child, "hartfs is another version now: connect anew");
	if (child->hello)
		return HF_CHILD_OK;
	child->schema = schema;
	child->hello = child->in;
	child->hello_size = child->in_size;
	child->in = NULL;
	return HF_CHILD_OK;
}

enum hf_child_result hf_child_start(struct hf_child *child)
{
	enum hf_child_result result;
	struct waiting waiting;
	uint32_t message;

	if (child->pid)
		return HF_CHILD_OK;
	if (!child->arguments)
		return say(child, HF_CHILD_FAILED, "which captures? SELECT hartfs_open('PATH')");
	child->out.most = HF_REQUEST_MOST + HF_MESSAGE_HEAD;
	begin_waiting(&waiting);
	result = launch(child);
	if (!result)
		result = receive_message(child, &message, &waiting);
	if (!result && message != HF_MESSAGE_HELLO)
		result = bury(child, "this is not hartfs serve");
	return result ? result : take_hello(child);
}

enum hf_child_result hf_child_open(struct hf_child *child, const char *path, const char *const *options, size_t count)
{
	stop(child);
	if (!set_arguments(child, path, options, count)) {
		free_arguments(child);
		return say(child, HF_CHILD_FAILED, "out of memory");
	}
	return hf_child_start(child);
}

static enum hf_child_result take_failure(struct hf_child *child)
{
	const char *text;
	uint32_t failure;

	if (!hf_failed_read(child->in, child->in_size, &failure, &text))
		return bury(child, "hartfs serve sent what is no answer");
	return say(child, failure == HF_FAILURE_CANCELLED ? HF_CHILD_INTERRUPTED : HF_CHILD_FAILED, text);
}

enum hf_child_result hf_child_ask(struct hf_child *child, const struct hf_request *request,
				  struct hf_answer_head *ret_head, struct hf_in *ret_in)
{
	enum hf_child_result result;
	struct waiting waiting;
	uint32_t message;

	hf_request_write(&child->out, request);
	if (child->out.failed)
		return say(child, HF_CHILD_FAILED, "too much is asked at once");
	if (!hf_out_send(&child->out, child->fd))
		return bury(child, "hartfs serve ended");
	begin_waiting(&waiting);
	result = receive_message(child, &message, &waiting);
	if (result)
		return result;
	if (message == HF_MESSAGE_FAILED)
		return take_failure(child);
	*ret_in = (struct hf_in){child->in, child->in + child->in_size, false};
	if (message != HF_MESSAGE_ROWS || !hf_answer_head(ret_in, ret_head))
		return bury(child, "hartfs serve sent what is no answer");
	if (!waiting.cancelled)
		return HF_CHILD_OK;
	hf_child_close_cursor(child, child->generation, ret_head->cursor);
	return say(child, HF_CHILD_INTERRUPTED, "interrupted");
}

void hf_child_close_cursor(struct hf_child *child, uint64_t generation, uint32_t cursor)
{
	const struct hf_request request = {.message = HF_MESSAGE_CLOSE, .cursor = cursor};

	if (!child->pid || generation != child->generation)
		return;
	hf_request_write(&child->out, &request);
	hf_out_send(&child->out, child->fd);
}

void hf_child_fini(struct hf_child *child)
{
	stop(child);
	free_arguments(child);
	hf_out_free(&child->out);
	free(child->in);
	free(child->hello);
}

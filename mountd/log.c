/* SPDX-License-Identifier: Apache-2.0 */
#include "mountd/log.h"
#include "mountd/colour.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

static struct {
	atomic_bool on_stderr; /* atomic: other threads write lines when it is left */
	enum hf_log_target target;
	int fd;
	int max_level, stderr_level;
} log_to = {.on_stderr = true, .max_level = LOG_INFO, .stderr_level = LOG_WARNING};

/* What .hartfs/log.txt shows. */
#define KEPT_BYTES ((size_t)1 << 20)
static struct hf_log_ring *_Atomic kept;

void hf_log_init(int verbosity, bool chatty)
{
	static const int levels[] = {LOG_ERR, LOG_ERR, LOG_WARNING, LOG_INFO, LOG_DEBUG, LOG_DEBUG};

	log_to.max_level = levels[verbosity + 3];
	log_to.stderr_level = levels[verbosity + 2 + chatty];
	/* The zone file is out of reach once the process has confined itself. */
	tzset();
}

void hf_log_open(enum hf_log_target target, int fd)
{
	if (target == HF_LOG_SYSLOG)
		openlog("hartfs", LOG_PID | LOG_NDELAY, LOG_DAEMON);
	log_to.fd = fd;
	log_to.target = target;
}

void hf_log_leave_stderr(void)
{
	atomic_store(&log_to.on_stderr, false);
}

struct hf_log_ring *hf_log_keep(void)
{
	struct hf_log_ring *ring;

	/* Without memory for it there is no log.txt: nothing to fail for. */
	if (hf_log_ring_new(KEPT_BYTES, &ring))
		ring = NULL;
	atomic_store(&kept, ring);
	return ring;
}

static size_t put_time(char *buf, size_t size)
{
	struct timespec now;
	struct tm tm;

	clock_gettime(CLOCK_REALTIME, &now);
	localtime_r(&now.tv_sec, &tm);
	return strftime(buf, size, "%Y-%m-%dT%H:%M:%S%z ", &tm);
}

/* One write, so that lines of several processes stay whole; nobody could be told of its failure. */
static void put_line(int fd, const char *from, const char *end)
{
	if (write(fd, from, (size_t)(end - from)) < 0)
		return;
}

/*
 * One line in text[size], whatever file names hold: what a terminal would act on is shown as '?', and a line that does not
 * fit says so. Returns its end.
 */
static char *put_text(char *text, size_t size, const char *format, va_list args)
{
	static const char cut[] = " [the line was cut here]";
	const int n = vsnprintf(text, size, format, args);
	char *end = text + (n < 0 ? 0 : (size_t)n < size ? (size_t)n : size - 1);

	if (n > 0 && (size_t)n >= size)
		memcpy(end - (sizeof cut - 1), cut, sizeof cut);
	while (end > text && end[-1] == '\n')
		*--end = 0;
	for (char *s = text; s < end; s++)
		if ((unsigned char)*s < 0x20 || *s == 0x7f)
			*s = '?';
	return end;
}

void hf_log_v(int level, const char *format, va_list args)
{
	const enum hf_log_target target = level <= log_to.max_level ? log_to.target : HF_LOG_NONE;
	const bool on_stderr = level <= log_to.stderr_level && atomic_load(&log_to.on_stderr);
	struct hf_log_ring *ring = level <= log_to.max_level ? atomic_load(&kept) : NULL;
	char line[HF_LOG_LINE_SIZE], *untimed, *text, *end;

	if (target == HF_LOG_NONE && !on_stderr && !ring)
		return;
	untimed = line + put_time(line, sizeof line);
	text = stpcpy(untimed, "hartfs: ");
	end = put_text(text, sizeof line - (size_t)(text - line) - 1, format, args);
	if (target == HF_LOG_SYSLOG)
		syslog(level, "%s", text);
	*end++ = '\n';
	if (ring)
		hf_log_ring_add(ring, line, (size_t)(end - line));
	if (target == HF_LOG_FILE)
		put_line(log_to.fd, line, end);
	if (on_stderr)
		put_line(STDERR_FILENO, untimed, end);
}

void hf_log(int level, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	hf_log_v(level, format, args);
	va_end(args);
}

void hf_say(FILE *to, const char *format, ...)
{
	char text[HF_LOG_LINE_SIZE];
	const char *says = text;
	va_list args;

	va_start(args, format);
	put_text(text, sizeof text, format, args);
	va_end(args);
	/* Who says it. */
	if (to == stderr && strstr(text, ": "))
		says = strstr(text, ": ") + 1;
	fprintf(to, "%s%.*s%s%s\n", says > text ? hf_colour(to, HF_COLOUR_BAD) : "", (int)(says - text), text,
		says > text ? hf_colour(to, HF_COLOUR_NONE) : "", says);
}

void *hf_got(void *p)
{
	if (!p)
		hf_say(stderr, "hartfs: out of memory");
	return p;
}

const char *hf_why_none(void)
{
	return errno == ENOMEM ? "out of memory" : "there is no such file";
}

void hf_log_line(void *ctx, int level, const char *line)
{
	(void)ctx;
	hf_log(level, "%s", line);
}

#include "mountd/log.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

/* Atomic: redirected while other threads write lines, which may still go to the old place. */
static struct {
	atomic_int target, fd;
	int max_level, stderr_level;
} log_to = {.target = HF_LOG_STDERR, .fd = STDERR_FILENO, .max_level = LOG_INFO, .stderr_level = LOG_WARNING};

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

void hf_log_redirect(enum hf_log_target target, int fd)
{
	if (target == HF_LOG_SYSLOG)
		openlog("hartfs", LOG_PID | LOG_NDELAY, LOG_DAEMON);
	log_to.fd = target == HF_LOG_FILE ? fd : STDERR_FILENO;
	log_to.target = target;
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

void hf_log_v(int level, const char *format, va_list args)
{
	int target = log_to.target;
	struct hf_log_ring *ring = level <= log_to.max_level ? atomic_load(&kept) : NULL;
	bool here = level <= (target == HF_LOG_STDERR ? log_to.stderr_level : log_to.max_level);
	char line[1024], *from = line, *text, *end;

	if (!here && !ring)
		return;
	text = line + put_time(line, sizeof line);
	if (target == HF_LOG_STDERR)
		from = text;
	text = stpcpy(text, "hartfs: ");
	vsnprintf(text, sizeof line - (size_t)(text - line) - 1, format, args);
	/* One line, whatever file names hold. */
	for (end = text; *end && *end != '\n'; end++)
		if ((unsigned char)*end < 0x20 || *end == 0x7f)
			*end = '?';
	*end = 0;
	if (here && target == HF_LOG_SYSLOG)
		syslog(level, "%s", text);
	*end++ = '\n';
	if (ring)
		hf_log_ring_add(ring, line, (size_t)(end - line));
	/* One write, so that lines of several processes stay whole; nobody could be told of its failure. */
	if (here && target != HF_LOG_SYSLOG && write(log_to.fd, from, (size_t)(end - from)) < 0)
		return;
}

void hf_log(int level, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	hf_log_v(level, format, args);
	va_end(args);
}

void hf_log_line(void *ctx, int level, const char *line)
{
	(void)ctx;
	hf_log(level, "%s", line);
}

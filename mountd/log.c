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

void hf_log_v(int level, const char *format, va_list args)
{
	char line[1024];
	int length = 0, target = log_to.target;

	if (level > (target == HF_LOG_STDERR ? log_to.stderr_level : log_to.max_level))
		return;
	if (target == HF_LOG_SYSLOG) {
		vsyslog(level, format, args);
		return;
	}
	if (target == HF_LOG_FILE) {
		struct timespec now;
		struct tm tm;

		clock_gettime(CLOCK_REALTIME, &now);
		localtime_r(&now.tv_sec, &tm);
		length = (int)strftime(line, sizeof line, "%Y-%m-%dT%H:%M:%S%z ", &tm);
	}
	length += snprintf(line + length, sizeof line - (size_t)length, "hartfs: ");
	vsnprintf(line + length, sizeof line - (size_t)length - 1, format, args);
	length = (int)strcspn(line, "\n");
	line[length++] = '\n';
	/* One write, so that lines of several processes stay whole; nobody could be told of its failure. */
	if (write(log_to.fd, line, (size_t)length) < 0)
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

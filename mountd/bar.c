/* SPDX-License-Identifier: Apache-2.0 */
#include "mountd/bar.h"
#include "index/base/lock.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

/* What lasts less long needs no bar; a first guess of the time left needs as much. */
#define PATIENCE_NS INT64_C(1000000000)
#define PERIOD_NS INT64_C(100000000)
enum { NAME_MAX_WIDTH = 30, BAR_MAX_WIDTH = 40, BAR_MIN_WIDTH = 4 };

void hf_bar_begin(struct hf_bar *bar, int verbosity)
{
	*bar = (struct hf_bar){.wanted = verbosity >= 0 && isatty(STDERR_FILENO), .begun_ns = hf_now_ns()};
}

/* "12.3 M", "874". */
static void put_rate(char *buf, size_t size, double rate)
{
	static const char *const units[] = {"", " k", " M", " G"};
	unsigned unit = 0;

	for (; rate >= 1000 && unit < 3; unit++)
		rate /= 1000;
	snprintf(buf, size, unit ? "%.1f%s" : "%.0f%s", rate, units[unit]);
}

/* "0:05", "1:02:03". */
static void put_time(char *buf, size_t size, double seconds)
{
	const unsigned long s = (unsigned long)(seconds + 0.5);

	if (s >= 3600)
		snprintf(buf, size, "%lu:%02lu:%02lu", s / 3600, s / 60 % 60, s % 60);
	else
		snprintf(buf, size, "%lu:%02lu", s / 60, s % 60);
}

/* What stands behind the bar. */
static int put_figures(char *buf, int size, const struct hf_bar_state *state, double seconds, double done)
{
	char text[24];
	int n = snprintf(buf, (size_t)size, " %5.1f%%", 100 * state->share);

	if (state->of > 1)
		n += snprintf(buf + n, (size_t)(size - n), ", %llu of %llu", (unsigned long long)state->done,
			      (unsigned long long)state->of);
	if (state->instructions > 0 && seconds > 0) {
		put_rate(text, sizeof text, state->instructions / seconds);
		n += snprintf(buf + n, (size_t)(size - n), ", %s instructions/s", text);
	}
	if (done > 0 && seconds > 0 && state->share < 1) {
		put_time(text, sizeof text, seconds * (1 - state->share) / done);
		n += snprintf(buf + n, (size_t)(size - n), ", %s left", text);
	}
	return n;
}

static int terminal_width(void)
{
	struct winsize size;

	return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

/* The end of a long name tells more than its beginning. What a terminal would act on is shown as '?'. */
static int put_name(const char *name, int room)
{
	const int length = (int)strlen(name), shown = length < room ? length : room;

	for (const char *s = name + length - shown; *s; s++)
		putc((unsigned char)*s < 0x20 || *s == 0x7f ? '?' : *s, stderr);
	if (shown)
		putc(' ', stderr);
	return shown ? shown + 1 : 0;
}

static void draw(const struct hf_bar *bar, const struct hf_bar_state *state, int64_t now)
{
	char figures[160];
	const double seconds = (double)(now - bar->begun_ns) / 1e9;
	const int width = terminal_width();
	const int n = put_figures(figures, sizeof figures, state, seconds, state->share - bar->begun_share);
	int name = width - n - BAR_MIN_WIDTH - 5, room;

	fprintf(stderr, "\r\033[K");
	room = width - n - 3 - put_name(state->name, name < 0 ? 0 : name < NAME_MAX_WIDTH ? name : NAME_MAX_WIDTH);
	room = room > BAR_MAX_WIDTH ? BAR_MAX_WIDTH : room < BAR_MIN_WIDTH ? BAR_MIN_WIDTH : room;
	putc('[', stderr);
	for (int i = 0; i < room; i++)
		putc(i < (int)(state->share * room) ? '#' : '.', stderr);
	fprintf(stderr, "]%s", figures);
	fflush(stderr);
}

void hf_bar_show(struct hf_bar *bar, const struct hf_bar_state *state)
{
	const int64_t now = bar->wanted ? hf_now_ns() : 0;

	if (!bar->wanted)
		return;
	/* An index that is gone on with was not made in no time. */
	if (!bar->drawn_ns && now - bar->begun_ns < PERIOD_NS)
		bar->begun_share = state->share;
	if (now - bar->begun_ns < PATIENCE_NS || now - bar->drawn_ns < PERIOD_NS)
		return;
	draw(bar, state, now);
	bar->drawn_ns = now;
}

bool hf_bar_show_indexing(void *bar, double percent, uint64_t insns)
{
	hf_bar_show(bar,
		    &(struct hf_bar_state){.name = "indexing", .share = percent / 100, .instructions = (double)insns});
	return true;
}

void hf_bar_clear(struct hf_bar *bar)
{
	if (bar->drawn_ns)
		fprintf(stderr, "\r\033[K");
	bar->drawn_ns = 0;
}

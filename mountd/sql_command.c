/* SPDX-License-Identifier: Apache-2.0 */
/* hartfs sql: the shell of SQLite, with the extension loaded and the archive opened. */
#include "codecs/base/nearest.h"
#include "fs/rows/rows.h"
#include "mountd/commands.h"
#include "mountd/log.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXTENSION "hartfs.so"

/* Arguments of the shell, at most. */
enum { ARGUMENTS = 24 };

/* Where this program lies; its end is behind the last slash. */
static const char *find_self(char self[PATH_MAX])
{
	const ssize_t n = readlink("/proc/self/exe", self, PATH_MAX - 1);

	self[n < 0 ? 0 : n] = 0;
	return n > 0 ? strrchr(self, '/') + 1 : NULL;
}

/* Beside the program in a build directory, or where both are installed. */
static char *find_extension(const char *self, const char *end)
{
	static const char *const places[] = {"", HARTFS_PLUGIN_FROM_BIN "/"};
	char path[2 * PATH_MAX];

	for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
		char *real;

		snprintf(path, sizeof path, "%.*s%s" EXTENSION, (int)(end - self), self, places[i]);
		real = realpath(path, NULL);
		if (real)
			return real;
	}
	return NULL;
}

/* As a text of SQL. */
static void put_text(FILE *to, const char *text)
{
	fputc('\'', to);
	for (; *text; text++) {
		if (*text == '\'')
			fputc('\'', to);
		fputc(*text, to);
	}
	fputc('\'', to);
}

/* SELECT hartfs_open('traces', '--cache=1G') */
static char *make_open(const struct hf_settings *settings)
{
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	if (!to)
		return NULL;
	fputs("SELECT hartfs_open(", to);
	put_text(to, settings->operands[0]);
	for (size_t i = 0; i < settings->asked_count; i++) {
		const struct hf_asked *asked = &settings->asked[i];
		char *option;

		if (asprintf(&option, "--%s%s%s", asked->name, asked->value ? "=" : "", asked->value ? asked->value : "") < 0)
			continue;
		fputs(", ", to);
		put_text(to, option);
		free(option);
	}
	fputs(")", to);
	fclose(to);
	return text;
}

/* What the shell is started with. */
static void make_arguments(const struct hf_settings *settings, const char *load, const char *open, const char *query,
			     const char *argv[ARGUMENTS])
{
	size_t n = 0;

	argv[n++] = "sqlite3";
	if (query) {
		argv[n++] = "-batch";
		argv[n++] = "-bail";
		argv[n++] = "-init";
		argv[n++] = "/dev/null";
	}
	if (settings->mode)
		argv[n++] = strcmp(settings->mode, "csv") == 0	   ? "-csv"
			    : strcmp(settings->mode, "json") == 0  ? "-json"
			    : strcmp(settings->mode, "table") == 0 ? "-table"
								   : "-line";
	else if (isatty(STDOUT_FILENO))
		argv[n++] = "-table";
	argv[n++] = "-header";
	argv[n++] = "-cmd";
	argv[n++] = load;
	argv[n++] = "-cmd";
	argv[n++] = ".output /dev/null";
	argv[n++] = "-cmd";
	argv[n++] = open;
	argv[n++] = "-cmd";
	argv[n++] = ".output";
	argv[n++] = ":memory:";
	if (query)
		argv[n++] = query;
	argv[n] = NULL;
}

/* One that begins with a comment, "-- ...", is no option of the shell. */
static char *make_query(const struct hf_settings *settings)
{
	const char *query = settings->operand_count > 1 ? settings->operands[1] : NULL;
	char *text = NULL;

	return query && asprintf(&text, "%s%s", *query == '-' ? "\n" : "", query) >= 0 ? text : NULL;
}

/* What the shell writes, with '?' for what a terminal would act on, since names come from the archive; but lines end as they
 * do, in CSV with two characters. */
static void show(int from)
{
	bool returned = false; /* the last one was '\r', of which the next decides */
	unsigned char bytes[4096];
	ssize_t n;

	while ((n = read(from, bytes, sizeof bytes)) > 0 || (n < 0 && errno == EINTR)) {
		for (ssize_t i = 0; i < n; i++) {
			const unsigned char c = bytes[i];

			if (returned)
				putchar(c == '\n' ? '\r' : '?');
			returned = c == '\r';
			if (!returned)
				putchar((c < 0x20 && c != '\n' && c != '\t') || c == 0x7f ? '?' : c);
		}
		fflush(stdout);
	}
}

/* What execvp runs, with its output shown if it is for a terminal: its exit status. -1 after an error, which is in errno;
 * of execvp in the child. */
static int run(const char *const argv[])
{
	const bool shown = isatty(STDOUT_FILENO);
	int ends[2], status = 0;
	pid_t pid;

	if ((shown && pipe(ends) < 0) || (pid = fork()) < 0)
		return -1;
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		if (shown) {
			dup2(ends[1], STDOUT_FILENO);
			close(ends[0]);
			close(ends[1]);
		}
		execvp(argv[0], (char **)argv);
		return -1;
	}
	/* The terminal's signals are for the shell: it ends the query. */
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	if (shown) {
		close(ends[1]);
		show(ends[0]);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* The tables of which a query that failed speaks, and that there are not: those whose names are near ones of ours. */
static void say_tables(const char *query)
{
	char copy[400], hint[HF_NEAREST_SIZE], *rest = copy;
	bool named = false;

	snprintf(copy, sizeof copy, "%s", query);
	for (const char *word = strtok_r(copy, " \t\n,;()", &rest); word; word = strtok_r(NULL, " \t\n,;()", &rest)) {
		struct hf_nearest near = {.word = word, .n = strlen(word)};
		const struct hf_table *table;
		bool is_one = false;

		for (size_t i = 0; named && (table = hf_table_at(i)); i++) {
			is_one |= strcasecmp(hf_table_name(table), word) == 0;
			hf_nearest_offer(&near, hf_table_name(table), strlen(hf_table_name(table)));
		}
		if (named && !is_one && *hf_nearest_text(&near, hint))
			hf_say(stderr, "hartfs sql: there is no table '%s'%s", word, hint);
		named = strcasecmp(word, "from") == 0 || strcasecmp(word, "join") == 0;
	}
	hf_say(stderr, "hartfs sql: the query .tables lists the tables, and .schema TABLE the columns");
}

int hf_command_sql(const struct hf_settings *settings)
{
	const char *argv[ARGUMENTS], *end;
	char self[PATH_MAX], *extension, *open, *query, *load;
	int status = -1;

	if (settings->operand_count < 1 || settings->operand_count > 2)
		return hf_settings_usage(settings, "an archive or a capture is needed, and perhaps one query");
	end = find_self(self);
	extension = end ? find_extension(self, end) : NULL;
	if (!extension) {
		hf_say(stderr, "hartfs sql: " EXTENSION ": the extension is not installed");
		return HF_EXIT_FAILURE;
	}
	open = make_open(settings);
	query = make_query(settings);
	if (!open || (!query && settings->operand_count > 1) || asprintf(&load, ".load \"%s\"", extension) < 0) {
		hf_say(stderr, "hartfs sql: out of memory");
		return HF_EXIT_FAILURE;
	}
	/* The extension asks this very program. */
	/* Under a loader of its own (contrib/portable.sh) the program is told where it lies. */
	setenv("HARTFS", self, 0);
	make_arguments(settings, load, open, query, argv);
	/* The extension says on standard error what hartfs serve says: mountd/sql/child.c. */
	setenv("HARTFS_SHELL", "1", 1);
	/* The prompt of the shell needs the terminal itself. */
	if (query || (isatty(STDOUT_FILENO) && !isatty(STDIN_FILENO)))
		status = run(argv);
	else
		execvp(argv[0], (char **)argv);
	if (status == 1 && query)
		say_tables(query);
	if (status < 0) {
		hf_say(stderr, "hartfs sql: sqlite3 cannot be started: %s%s", strerror(errno),
		       errno == ENOENT ? " (the package sqlite3 has it)" : "");
		status = HF_EXIT_FAILURE;
	}
	free(load);
	free(query);
	free(open);
	free(extension);
	return status;
}

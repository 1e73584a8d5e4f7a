/* SPDX-License-Identifier: Apache-2.0 */
/* hartfs top: the functions of each hart that took most instructions, the first rows of profile/functions.txt. */
#include "fs/library.h"
#include "fs/profile/flame_texts.h"
#include "mountd/colour.h"
#include "mountd/commands.h"
#include "mountd/functions.h"
#include "mountd/json_text.h"
#include "mountd/log.h"
#include "mountd/number.h"
#include "mountd/paths.h"
#include "mountd/target.h"
#include "mountd/top_sums.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Lines of comment, and so many rows. */
static void put_rows(const char *text, uint64_t rows)
{
	while (*text && rows) {
		const char *end = strchr(text, '\n');
		const size_t n = end ? (size_t)(end - text) + 1 : strlen(text);

		if (*text == '#')
			printf("%s%.*s%s", hf_colour(stdout, HF_COLOUR_HEAD), (int)n, text,
			       hf_colour(stdout, HF_COLOUR_NONE));
		else
			fwrite(text, 1, n, stdout);
		rows -= *text != '#';
		text += n;
	}
}

/* Names of columns, in the line of comment above the rows; "share" is what the others tell. */
enum { COLUMNS = 16, NAME = 24 };

static size_t read_columns(const char *line, char names[COLUMNS][NAME])
{
	size_t count = 0;

	while (count < COLUMNS && *(line += strspn(line, " ")) && *line != '\n') {
		const size_t n = strcspn(line, " \n");

		snprintf(names[count++], NAME, "%.*s", (int)n, line);
		line += n;
	}
	return count;
}

/* A row of the table, whose last column is the rest of the line. */
static void put_object(uint32_t hart, const char *row, char names[COLUMNS][NAME], size_t count)
{
	printf("{\"hart\":%u", (unsigned)hart);
	for (size_t i = 0; i < count; i++) {
		row += strspn(row, " ");

		const size_t n = strcspn(row, i + 1 < count ? " \n" : "\n");

		if (strcmp(names[i], "share") != 0) {
			printf(",\"%s\":", names[i]);
			if (strspn(row, "0123456789") == n && strcmp(names[i], "address") != 0 && i + 1 < count)
				printf("%.*s", (int)n, row);
			else
				hf_print_json_text(row, n);
		}
		row += n;
	}
	puts("}");
}

static void put_objects(uint32_t hart, const char *text, uint64_t rows)
{
	char names[COLUMNS][NAME];
	size_t count = 0;

	for (; *text && rows; text += strcspn(text, "\n"), text += *text == '\n') {
		if (*text == '#') {
			count = read_columns(text + 1, names);
			continue;
		}
		put_object(hart, text, names, count);
		rows--;
	}
}

struct top {
	const struct hf_settings *settings;
	const char *by; /* NULL: function */
	FILE *to;	/* the text goes there as it is; NULL: rows are shown */
	bool svg;	/* that of chains of calls */
	bool found;	/* the hart that is asked for */
	int status;
};

static void show(const struct top *top, uint32_t hart, const char *text)
{
	const bool sums = top->by && strcmp(top->by, "line") != 0;
	char *summed = sums ? hf_got(hf_top_sum(text, top->by)) : NULL;

	if (top->to)
		fputs(text, top->to);
	else if (sums && !summed)
		return;
	else if (top->settings->json)
		put_objects(hart, sums ? summed : text, top->settings->rows);
	else
		put_rows(sums ? summed : text, top->settings->rows);
	free(summed);
}

static bool put_hart(void *ctx, uint32_t hart, const char *text, const struct hartfs_diag *diag)
{
	struct top *top = ctx;
	const char *shown = top->settings->operands[0];

	if (top->settings->has_hart && hart != top->settings->hart)
		return true;
	top->found = true;
	if (text) {
		show(top, hart, text);
		return true;
	}
	top->status = HF_EXIT_FAILURE;
	if (diag->error == HARTFS_ERROR_NOT_FOUND)
		hf_say(stderr, "hartfs top: %s: hart %u is long and has no summary: hartfs index makes one", shown,
		       (unsigned)hart);
	else
		hf_paths_complain("top", shown, diag);
	return true;
}

static int put_capture(void *ctx, struct hf_target_capture *capture)
{
	struct top top = *(const struct top *)ctx;
	const bool lines = top.by && strcmp(top.by, "object") != 0;
	const char *shown = top.settings->operands[0], *name = top.svg	? "stacks.folded"
							       : lines	? "lines.txt"
							       : top.to ? "functions-files.txt"
									: "functions.txt";
	struct hartfs_diag diag;

	if (hf_functions_each(capture->archive, capture->path, capture->view_dir, name, put_hart, &top, &diag)) {
		hf_paths_complain("top", shown, &diag);
		return HF_EXIT_FAILURE;
	}
	if (!top.found && top.settings->has_hart) {
		hf_say(stderr, "hartfs top: %s: there is no hart %u", shown, (unsigned)top.settings->hart);
		return HF_EXIT_FAILURE;
	}
	hf_paths_warn("top", shown, hf_library_fs(capture->archive), capture->path);
	return top.status;
}

/* The second operand: "hart0" or "0", as --hart. */
static bool take_hart(struct hf_settings *settings)
{
	const char *word = settings->operands[1];
	uint64_t n;

	word += strncmp(word, "hart", strlen("hart")) == 0 ? strlen("hart") : 0;
	if (settings->has_hart || !hf_number_is(word, &n) || n >= UINT32_MAX)
		return false;
	settings->has_hart = true;
	settings->hart = (uint32_t)n;
	return true;
}

/* ---- two captures ---- */

/* A text of a capture, in a process of its own, since it confines itself: starts it; -1 after saying why not. */
static pid_t start_side(const struct hf_settings *settings, int side, bool svg, FILE *to)
{
	struct hf_settings own = *settings;
	struct top top = {.settings = &own, .svg = svg, .to = to};
	pid_t pid;
	int status;

	fflush(NULL);
	pid = fork();
	if (pid < 0)
		hf_say(stderr, "hartfs top: no process: %s", strerror(errno));
	if (pid)
		return pid;
	own.operands += side;
	own.operand_count = 1;
	status = hf_target_run(&own, "top", HF_EXIT_FAILURE, put_capture, &top);
	_exit(fflush(to) ? HF_EXIT_FAILURE : status);
}

/* All that it wrote; NULL after saying why there is nothing. */
static char *end_side(pid_t pid, FILE *from)
{
	char *text = NULL;
	size_t room = 0;
	int status = 0;

	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (pid < 0 || !WIFEXITED(status) || WEXITSTATUS(status) || !from)
		return NULL;
	rewind(from);
	if (getdelim(&text, &room, 0, from) >= 0)
		return text;
	free(text);
	return hf_got(strdup(""));
}

static bool put_table(const struct hf_settings *settings, char *const text[2])
{
	char *both = hf_got(hf_top_compare(text[0], text[1]));

	if (both) {
		printf("# A: %s, B: %s\n", settings->operands[0], settings->operands[1]);
		put_rows(both, settings->rows);
	}
	free(both);
	return both;
}

static bool put_picture(const struct hf_settings *settings, char *const text[2])
{
	struct hf_flame_texts flame = {.before = text[0], .text = text[1]};
	struct hf_sink sink = {0};
	char *title = NULL;
	int err = asprintf(&title, "A: %s, B: %s", settings->operands[0], settings->operands[1]) < 0 ? HF_ERR_NOMEM : 0;

	flame.title = title;
	if (!err)
		err = hf_sink_init_memory(&sink, 0);
	if (!err)
		err = hf_flame_put_texts(&flame, &sink);
	if (!err)
		fwrite(sink.start, 1, (size_t)hf_sink_total(&sink), stdout);
	else
		hf_say(stderr, "hartfs top: out of memory");
	hf_sink_fini_memory(&sink);
	free(title);
	return !err;
}

static int compare(const struct hf_settings *settings, bool svg)
{
	FILE *to[2] = {tmpfile(), tmpfile()};
	char *text[2] = {NULL, NULL};
	pid_t pid[2] = {-1, -1};
	bool ok = false;

	if (!to[0] || !to[1])
		hf_say(stderr, "hartfs top: no temporary file: %s", strerror(errno));
	for (int i = 0; to[0] && to[1] && i < 2; i++)
		pid[i] = start_side(settings, i, svg, to[i]);
	for (int i = 0; i < 2; i++)
		text[i] = end_side(pid[i], to[i]);
	if (text[0] && text[1])
		ok = (svg ? put_picture : put_table)(settings, text);
	for (int i = 0; i < 2; i++) {
		free(text[i]);
		if (to[i])
			fclose(to[i]);
	}
	return ok ? HF_EXIT_OK : HF_EXIT_FAILURE;
}

/* ---- the command ---- */

static bool take_by(struct top *top)
{
	static const char *const names[] = {"function", "object", "line", "file"};
	const struct hf_settings *settings = top->settings;
	const char *by = names[0];
	size_t i = 0;

	for (size_t k = 0; k < settings->asked_count; k++) {
		const struct hf_asked *asked = &settings->asked[k];

		top->svg |= !asked->value;
		by = asked->value ? asked->value : by;
	}
	while (i < sizeof names / sizeof *names && strcmp(names[i], by) != 0)
		i++;
	top->by = i ? by : NULL;
	return i < sizeof names / sizeof *names;
}

int hf_command_top(const struct hf_settings *settings)
{
	struct hf_settings own = *settings;
	struct top top = {.settings = &own};

	if (!take_by(&top))
		return hf_settings_refuse(settings, "by", settings->asked[settings->asked_count - 1].value);
	if (own.operand_count == 2 && access(own.operands[1], F_OK) == 0) {
		if (top.by || own.json)
			return hf_settings_usage(settings, "two captures are compared by their functions, for people");
		return compare(&own, top.svg);
	}
	if (top.svg)
		return hf_settings_usage(settings, "--svg is for two captures; of one, hartfs cat %s flame.svg",
					 own.operand_count ? own.operands[0] : "CAPTURE");
	if (own.operand_count != 1 && (own.operand_count != 2 || !take_hart(&own)))
		return hf_settings_usage(
			settings, "a capture is needed, and perhaps the name of a hart (hart0) or a second capture");
	return hf_target_run(settings, "top", HF_EXIT_FAILURE, put_capture, &top);
}

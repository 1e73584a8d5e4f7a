/* SPDX-License-Identifier: Apache-2.0 */
/* hartfs top: the functions of each hart that took most instructions, the first rows of profile/functions.txt. */
#include "fs/library.h"
#include "mountd/colour.h"
#include "mountd/commands.h"
#include "mountd/functions.h"
#include "mountd/json_text.h"
#include "mountd/log.h"
#include "mountd/number.h"
#include "mountd/paths.h"
#include "mountd/target.h"

#include <stdio.h>
#include <string.h>

/* Lines of comment, and so many rows. */
static void put_rows(const char *text, uint64_t rows)
{
	while (*text && rows) {
		const char *end = strchr(text, '\n');
		const size_t n = end ? (size_t)(end - text) + 1 : strlen(text);

		if (*text == '#')
			printf("%s%.*s%s", hf_colour(stdout, HF_COLOUR_HEAD), (int)n, text, hf_colour(stdout, HF_COLOUR_NONE));
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
	bool found; /* the hart that is asked for */
	int status;
};

static bool put_hart(void *ctx, uint32_t hart, const char *text, const struct hartfs_diag *diag)
{
	struct top *top = ctx;
	const char *shown = top->settings->operands[0];

	if (top->settings->has_hart && hart != top->settings->hart)
		return true;
	top->found = true;
	if (text) {
		if (top->settings->json)
			put_objects(hart, text, top->settings->rows);
		else
			put_rows(text, top->settings->rows);
		return true;
	}
	top->status = HF_EXIT_FAILURE;
	if (diag->error == HARTFS_ERROR_NOT_FOUND)
		hf_say(stderr, "hartfs top: %s: hart %u is long and has no summary: hartfs index makes one",
		       shown, (unsigned)hart);
	else
		hf_paths_complain("top", shown, diag);
	return true;
}

static int put_capture(void *ctx, struct hf_target_capture *capture)
{
	struct top top = {.settings = ctx};
	const char *shown = top.settings->operands[0];
	struct hartfs_diag diag;

	if (hf_functions_each(capture->archive, capture->path, capture->view_dir, put_hart, &top, &diag)) {
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

int hf_command_top(const struct hf_settings *settings)
{
	struct hf_settings own = *settings;

	if (own.operand_count != 1 && (own.operand_count != 2 || !take_hart(&own)))
		return hf_settings_usage(settings, "a capture is needed, and perhaps the name of a hart (hart0)");
	return hf_target_run(settings, "top", HF_EXIT_FAILURE, put_capture, &own);
}

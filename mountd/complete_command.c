/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hartfs complete: what the last word of a command line may be, one candidate a line, for the completion of all shells.
 * A candidate that ends with '=', ',' or '.' goes on without a blank. The line ":files" says that files may stand there,
 * too. Nothing is indexed for it, and nothing is said of what goes wrong.
 */
#include "fs/library.h"
#include "fs/profile/profile.h"
#include "mountd/commands.h"
#include "mountd/functions.h"
#include "mountd/mounts.h"
#include "mountd/paths.h"
#include "mountd/target.h"
#include "mountd/topic.h"

#include <inttypes.h>
#include <limits.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	char letter;
	const char *name;
} commands[] = {
#define HF_COMMAND(id, letter, name, args, help) {letter, name},
#include "mountd/options.def"
};

static const struct option_row {
	const char *commands;
	char letter;
	const char *name, *arg;
} options[] = {
#define HF_OPTION(id, commands, letter, name, arg, help) {commands, letter, name, arg},
#include "mountd/options.def"
};

static const char *const fuse_options[] = {
#define HF_FUSE_OPTION(name) name,
#include "mountd/options.def"
};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* The command line that is completed. */
struct line {
	const struct hf_settings *settings; /* of hartfs complete */
	char **word;
	int count;       /* with the last one, which may be empty */
	char letter;     /* of its command */
	const char *keep; /* what stands before each candidate in the last word, of keep_size bytes */
	size_t keep_size;
	const char *begin; /* what candidates begin with */
};

static void offer(const struct line *line, const char *text, size_t size, const char *end)
{
	const size_t n = strlen(line->begin);

	if (size >= n && memcmp(text, line->begin, n) == 0)
		printf("%.*s%.*s%s\n", (int)line->keep_size, line->keep, (int)size, text, end);
}

static void offer_all(const struct line *line, const char *text, const char *end)
{
	offer(line, text, strlen(text), end);
}

static void offer_files(void)
{
	puts(":files");
}

/* ---- what a capture on the line has ---- */

/* The n-th word that is no option, behind the command; NULL: there is none before the last word. */
static const char *operand(const struct line *line, int n)
{
	for (int i = 1; i < line->count - 1; i++)
		if (line->word[i][0] != '-' && n-- == 0)
			return line->word[i];
	return NULL;
}

/* Behind so many words, and the blanks that follow. */
static const char *behind_words(const char *text, size_t words)
{
	text += strspn(text, " ");
	for (; words; words--) {
		text += strcspn(text, " \n");
		text += strspn(text, " ");
	}
	return text;
}

static size_t count_words(const char *text, size_t size)
{
	size_t words = 0;

	for (size_t i = 0; i < size; i++)
		words += text[i] != ' ' && (!i || text[i - 1] == ' ');
	return words;
}

/* A name is what stands behind the last column that the line above the rows names. */
static bool offer_functions(void *ctx, uint32_t hart, const char *text, const struct hartfs_diag *diag)
{
	const struct line *line = ctx;
	size_t columns = 0;

	(void)hart, (void)diag;
	for (size_t size; text && *text; text += size + (text[size] == '\n')) {
		size = strcspn(text, "\n");
		if (*text == '#') {
			columns = count_words(text + 1, size - 1);
		} else if (columns) {
			const char *name = behind_words(text, columns - 1);

			if (name < text + size)
				offer(line, name, size - (size_t)(name - text), "");
		}
	}
	return true;
}

struct views {
	const struct line *line;
	size_t skip;   /* the view directory and a slash */
	uint32_t hart; /* whose profile was offered last */
};

/* Directories list them when they were made. */
static void offer_profile(const struct line *line, uint32_t hart)
{
	char name[HF_PROFILE_PATH];

	for (enum hf_profile_file file = 0; file < HF_PROFILE_FILES; file++)
		if (hf_profile_path(file, hart, name))
			offer_all(line, name, "");
}

static bool offer_view(void *ctx, const struct hartfs_file *file)
{
	struct views *views = ctx;

	offer_all(views->line, file->path + views->skip, "");
	if (strncmp(file->path + views->skip, "all/", 4) == 0)
		offer_profile(views->line, HF_HART_RECORDS);
	if (file->hart != views->hart && file->hart != HARTFS_NO_HART)
		offer_profile(views->line, file->hart);
	views->hart = file->hart;
	return true;
}

typedef void (*offer_fn)(const struct line *line, struct hartfs_archive *archive, const char *capture,
			 const char *view_dir);

static void offer_symbols(const struct line *line, struct hartfs_archive *archive, const char *capture,
			  const char *view_dir)
{
	hf_functions_each(archive, capture, view_dir, "functions.txt", offer_functions, (void *)line, NULL);
}

static void offer_views(const struct line *line, struct hartfs_archive *archive, const char *capture,
			const char *view_dir)
{
	struct views views = {line, strlen(view_dir) + 1, HARTFS_NO_HART};

	hartfs_each_file(archive, capture, offer_view, &views, NULL);
}

/* Only of a capture that is indexed: nobody waits for a completion. */
static void offer_indexed(const struct line *line, struct hartfs_archive *archive, const char *path, offer_fn fn)
{
	char capture[PATH_MAX], view_dir[PATH_MAX];
	struct hf_fs_ls_line found;

	if (!hf_fs_capture_of(hf_library_fs(archive), path, capture, view_dir) &&
	    !hf_fs_ls_line(hf_library_fs(archive), capture, &found) && found.state == HF_FS_INDEXED)
		fn(line, archive, capture, view_dir);
}

static void offer_of_capture(const struct line *line, const char *path, offer_fn fn)
{
	struct hf_target target = {0};
	struct hartfs_archive *archive = NULL;
	struct hf_opened opened;

	if (path && hf_target_find(line->settings, path, NULL, true, &target) && *target.path &&
	    hf_opened_open(line->settings, target.archive, &opened)) {
		if (hf_opened_confine(line->settings, &opened, 1))
			archive = hf_opened_start(line->settings, &opened, false, NULL);
		if (archive)
			offer_indexed(line, archive, target.path, fn);
		hartfs_close(archive);
		hf_opened_close(&opened);
	}
	hf_target_fini(&target);
}

/* ---- values of options ---- */

/* Of a list, only what follows the last comma is completed. */
static void pass_list(struct line *line)
{
	const char *comma = strrchr(line->begin, ',');

	if (!comma)
		return;
	if (!line->keep_size)
		line->keep = line->begin;
	line->keep_size = (size_t)(comma + 1 - line->keep);
	line->begin = comma + 1;
}

static void offer_view_names(struct line *line, const char *end)
{
	char name[HF_FS_VIEW_NAME];

	pass_list(line);
	for (size_t i = 0; hf_fs_view_name(i, name); i++)
		offer_all(line, name, end);
}

static void offer_mount_options(struct line *line)
{
	pass_list(line);
	for (size_t i = 0; i < COUNT(options); i++)
		if (strchr(options[i].commands, 'm'))
			offer_all(line, options[i].name, options[i].arg ? "=" : "");
	for (size_t i = 0; i < COUNT(fuse_options); i++)
		offer_all(line, fuse_options[i], "");
}

static void offer_choices(const struct line *line, const char *choices)
{
	while (*choices) {
		const size_t n = strcspn(choices, "|");

		offer(line, choices, n, "");
		choices += n + (choices[n] != 0);
	}
}

static void offer_values(struct line *line, const struct option_row *option)
{
	const char *arg = option->arg;

	if (strchr(arg, '|'))
		offer_choices(line, arg);
	else if (!strcmp(arg, "DIR") || !strcmp(arg, "FILE"))
		offer_files();
	else if (!strcmp(option->name, "views"))
		offer_view_names(line, "");
	else if (!strcmp(option->name, "param"))
		offer_view_names(line, ".");
	else if (!strcmp(option->name, "options"))
		offer_mount_options(line);
	else if (strstr(arg, "PLACE") || !strcmp(arg, "SYMBOL"))
		offer_of_capture(line, operand(line, 0), offer_symbols);
}

/* ---- the words of the line ---- */

static const struct option_row *find_option(const struct line *line, const char *word, size_t size)
{
	for (size_t i = 0; i < COUNT(options); i++) {
		const struct option_row *option = &options[i];

		if (!strchr(option->commands, line->letter))
			continue;
		if (size > 2 && !strncmp(word, "--", 2) && strlen(option->name) == size - 2 &&
		    !memcmp(option->name, word + 2, size - 2))
			return option;
		if (size == 2 && word[0] == '-' && option->letter && option->letter == word[1])
			return option;
	}
	return NULL;
}

static void offer_options(const struct line *line)
{
	for (size_t i = 0; i < COUNT(options); i++) {
		char name[64];

		if (!strchr(options[i].commands, line->letter))
			continue;
		snprintf(name, sizeof name, "--%s", options[i].name);
		offer_all(line, name, options[i].arg && options[i].arg[0] != '[' ? "=" : "");
	}
}

static void offer_mounts(const struct line *line)
{
	FILE *list = setmntent("/proc/self/mounts", "r");
	struct mntent *entry;

	while (list && (entry = getmntent(list)))
		if (!strcmp(entry->mnt_type, "fuse.hartfs"))
			offer_all(line, entry->mnt_dir, "");
	if (list)
		endmntent(list);
}

static void offer_operands(const struct line *line)
{
	const char *command = line->word[0], *capture = operand(line, 0);

	if (!strcmp(command, "umount") || !strcmp(command, "wait"))
		offer_mounts(line);
	if (!strcmp(command, "cat") && capture)
		offer_of_capture(line, capture, offer_views);
	else if (strcmp(command, "umount") != 0)
		offer_files();
}

static void offer_commands(const struct line *line)
{
	for (size_t i = 0; i < COUNT(commands); i++)
		offer_all(line, commands[i].name, "");
	offer_all(line, "help", "");
}

static void offer_topics(const struct line *line)
{
	for (const struct hf_topic *topic = hf_topics; topic->name; topic++)
		offer_all(line, hf_topic_short_name(topic), "");
}

static void complete(struct line *line)
{
	const char *last = line->word[line->count - 1], *equals = strchr(last, '=');
	const struct option_row *option = NULL;

	line->begin = line->keep = last;
	if (line->count == 1 || (line->count == 2 && !strcmp(line->word[0], "help"))) {
		offer_commands(line);
		if (line->count == 2)
			offer_topics(line);
		return;
	}
	for (size_t i = 0; i < COUNT(commands); i++)
		if (!strcmp(commands[i].name, line->word[0]))
			line->letter = commands[i].letter;
	if (!line->letter) {
		offer_files();
	} else if (*last == '-' && equals) {
		option = find_option(line, last, (size_t)(equals - last));
		line->begin = equals + 1;
		line->keep_size = (size_t)(equals + 1 - last);
	} else if (*last == '-') {
		offer_options(line);
	} else {
		const char *before = line->word[line->count - 2];

		option = line->count > 2 ? find_option(line, before, strlen(before)) : NULL;
		option = option && option->arg && option->arg[0] != '[' ? option : NULL;
		if (!option)
			offer_operands(line);
	}
	if (option && option->arg)
		offer_values(line, option);
}

int hf_command_complete(const struct hf_settings *settings)
{
	struct line line = {.settings = settings, .word = settings->operands, .count = settings->operand_count};

	if (line.count < 1)
		return hf_settings_usage(settings, "the words after hartfs are needed");
	complete(&line);
	return HF_EXIT_OK;
}

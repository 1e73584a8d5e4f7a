/* SPDX-License-Identifier: Apache-2.0 */
/* hartfs ls: the captures below a directory, or the files that a mount shows of a capture, in columns for people. */
#include "codecs/isa/disasm.h"
#include "fs/base/human.h"
#include "fs/library.h"
#include "fs/locate.h"
#include "mountd/bar.h"
#include "mountd/colour.h"
#include "mountd/commands.h"
#include "mountd/json_text.h"
#include "mountd/log.h"
#include "mountd/paths.h"
#include "mountd/target.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A path on its way: all are opened before the process confines itself. */
struct listed {
	const char *shown;
	struct hf_target target;
	struct hf_opened opened;
	bool good; /* opened; otherwise it was said why not */
};

/* What the callbacks of one path need. */
struct ls {
	struct hartfs_archive *archive;
	bool json;
	const struct listed *listed;
	size_t rows, failed;
	size_t skip;	   /* of a file's path: the view directory and a slash */
	const char *asked; /* "hart0" of "X/hart0": what is below it */
	bool any;	   /* such a file is there */
	struct hf_bar bar;
};

/* Names of files may hold what a terminal would act on. */
static void put_name(const char *name)
{
	for (; *name; name++)
		putchar((unsigned char)*name < 0x20 || *name == 0x7f ? '?' : *name);
}

/* ---- captures ---- */

static const char *const state_names[] = {
	[HF_FS_NOT_INDEXED] = "not indexed", [HF_FS_INDEXED] = "indexed", [HF_FS_FAILED] = "failed"};

/* What only the index knows is left out of a capture that has none. */
static void put_capture_json(const char *path, const struct hf_fs_ls_line *line)
{
	putchar('{');
	hf_print_json_member("capture", path, true);
	hf_print_json_member("state", state_names[line->state], false);
	printf(",\"size\":%" PRIu64, line->size);
	if (*line->format)
		hf_print_json_member("format", line->format, false);
	if (*line->container)
		hf_print_json_member("container", line->container, false);
	if (line->state == HF_FS_INDEXED)
		printf(",\"harts\":%" PRIu64 ",\"instructions\":%" PRIu64 ",\"problems\":%" PRIu64, (uint64_t)line->harts,
		       (uint64_t)line->instructions, (uint64_t)line->problems);
	if (line->state == HF_FS_FAILED)
		hf_print_json_member("error", line->failure, false);
	puts("}");
}

/* In a column of its width: escapes have none. */
static void put_state(const struct hf_fs_ls_line *line)
{
	static const enum hf_colour colours[] = {[HF_FS_NOT_INDEXED] = HF_COLOUR_DIM,
						 [HF_FS_INDEXED] = HF_COLOUR_GOOD,
						 [HF_FS_FAILED] = HF_COLOUR_BAD};
	char text[HF_HUMAN_SIZE + 16], count[HF_HUMAN_SIZE];
	enum hf_colour colour = colours[line->state];

	snprintf(text, sizeof text, "%s", state_names[line->state]);
	if (line->state == HF_FS_INDEXED && line->problems) {
		colour = HF_COLOUR_WARN;
		snprintf(text, sizeof text, "%s problem%s", hf_human_count(count, line->problems),
			 line->problems == 1 ? "" : "s");
	}
	printf("%s%-12s%s", hf_colour(stdout, colour), text, hf_colour(stdout, HF_COLOUR_NONE));
}

static void put_capture(const char *path, const struct hf_fs_ls_line *line)
{
	char format[64], size[HF_HUMAN_SIZE], harts[HF_HUMAN_SIZE] = "?", insns[HF_HUMAN_SIZE] = "?";

	snprintf(format, sizeof format, "%s%s%s", *line->format ? line->format : "?", *line->container ? ", " : "",
		 line->container);
	if (line->state == HF_FS_INDEXED) {
		hf_human_count(harts, line->harts);
		hf_human_count(insns, line->instructions);
	}
	printf("%9s  %-16s %5s %15s  ", hf_human_bytes(size, line->size), format, harts, insns);
	put_state(line);
	putchar(' ');
	put_name(path);
	if (line->state == HF_FS_FAILED)
		printf(": ");
	put_name(line->failure);
	putchar('\n');
}

static bool list_capture(void *ctx, const char *path, const char *view_dir)
{
	struct ls *ls = ctx;
	struct hf_fs_ls_line line;
	const int err = hf_fs_ls_line(hf_library_fs(ls->archive), path, &line);

	(void)view_dir;
	if (!ls->rows++ && !ls->json)
		printf("%s%9s  %-16s %5s %15s  %-12s %s%s\n", hf_colour(stdout, HF_COLOUR_HEAD), "SIZE", "FORMAT", "HARTS",
		       "INSTRUCTIONS", "STATE", "CAPTURE", hf_colour(stdout, HF_COLOUR_NONE));
	if (err) {
		hf_paths_explain_capture("ls", path, hf_library_fs(ls->archive), path, err, NULL);
		ls->failed++;
	} else {
		(ls->json ? put_capture_json : put_capture)(path, &line);
		ls->failed += line.state == HF_FS_FAILED;
	}
	return !ferror(stdout);
}

static int list_archive(struct ls *ls)
{
	struct hartfs_diag diag;

	if (hartfs_each_capture(ls->archive, ls->listed->target.path, list_capture, ls, &diag)) {
		hf_paths_complain("ls", ls->listed->shown, &diag);
		return HF_EXIT_FAILURE;
	}
	if (!ls->rows)
		hf_paths_no_capture("ls", ls->listed->shown);
	if (!ls->rows || ls->failed == ls->rows)
		return HF_EXIT_FAILURE;
	return ls->failed || hf_fs_unreached(hf_library_fs(ls->archive), NULL, NULL) ? HF_EXIT_SOME : HF_EXIT_OK;
}

/* ---- the files of a capture ---- */

static bool is_asked(const struct ls *ls, const char *path)
{
	size_t n = strlen(ls->asked);

	while (n && ls->asked[n - 1] == '/')
		n--;
	path += ls->skip;
	return !n || (strncmp(path, ls->asked, n) == 0 && (!path[n] || path[n] == '/'));
}

static bool list_file(void *ctx, const struct hartfs_file *file)
{
	struct ls *ls = ctx;
	char size[HF_HUMAN_SIZE];

	if (!is_asked(ls, file->path))
		return true;
	ls->any = true;
	hf_bar_clear(&ls->bar);
	if (ls->json) {
		putchar('{');
		hf_print_json_member("file", file->path, true);
		printf(",\"size\":%" PRIu64, file->size);
		if (file->hart != HARTFS_NO_HART)
			printf(",\"hart\":%" PRIu32 ",\"instructions\":%" PRIu64, file->hart, file->instructions);
		puts("}");
		return !ferror(stdout);
	}
	if (!ls->rows++)
		printf("%s%20s  %s%s\n", hf_colour(stdout, HF_COLOUR_HEAD), "BYTES", "FILE",
		       hf_colour(stdout, HF_COLOUR_NONE));
	printf("%20s  ", hf_human_count(size, file->size));
	put_name(file->path);
	putchar('\n');
	return !ferror(stdout);
}

static int list_files(struct ls *ls, const char *capture, const char *view_dir)
{
	const struct hf_target *target = &ls->listed->target;
	struct hartfs_diag diag = {0};

	ls->skip = strlen(view_dir) + 1;
	ls->asked = target->view					       ? target->view
		    : strncmp(target->path, view_dir, ls->skip - 1) == 0 ? target->path + ls->skip - 1
									       : "";
	ls->asked += *ls->asked == '/';
	hartfs_index(ls->archive, capture, hf_bar_show_indexing, &ls->bar, NULL);
	hartfs_each_file(ls->archive, capture, list_file, ls, &diag);
	hf_bar_clear(&ls->bar);
	if (diag.error)
		hf_paths_complain("ls", ls->listed->shown, &diag);
	else if (!ls->any)
		hf_say(stderr, "hartfs ls: %s: there is no such file, or its size is not known before it is read", ls->listed->shown);
	return diag.error || !ls->any ? HF_EXIT_FAILURE : HF_EXIT_OK;
}

/* ---- the command ---- */

/* before: the path before it; NULL: it is the first. */
static void open_path(const struct hf_settings *settings, const char *path, const char *before, struct listed *ret_listed)
{
	struct listed listed = {.shown = path};

	if (!hf_target_find(settings, path, NULL, true, &listed.target))
		hf_say(stderr, "hartfs ls: %s: %s", path, hf_why_none());
	else if (before && access(path, F_OK) < 0 && access(before, F_OK) == 0 && !hf_locate_is_directory(before))
		hf_say(stderr, "hartfs ls: %s: there is no such file (did you mean '%s/%s'?)", path, before, path);
	else
		listed.good = hf_opened_open(settings, listed.target.archive, &listed.opened);
	*ret_listed = listed;
}

static int list_path(const struct hf_settings *settings, struct listed *listed)
{
	struct ls ls = {.listed = listed, .json = settings->json};
	char capture[PATH_MAX], view_dir[PATH_MAX];
	int status, err = HF_ERR_UNKNOWN_FORMAT;

	ls.archive = hf_opened_start(settings, &listed->opened, !*listed->target.path, NULL);
	if (!ls.archive)
		return HF_EXIT_FAILURE;
	hf_bar_begin(&ls.bar, settings->verbosity);
	if (*listed->target.path)
		err = hf_fs_capture_of(hf_library_fs(ls.archive), listed->target.path, capture, view_dir);
	if (*listed->target.path && !err) {
		status = list_files(&ls, capture, view_dir);
	} else if (*listed->target.path && (err != HF_ERR_UNKNOWN_FORMAT || !hf_locate_is_directory(listed->shown))) {
		hf_paths_explain_capture("ls", listed->shown, hf_library_fs(ls.archive), listed->target.path, err, NULL);
		status = HF_EXIT_FAILURE;
	} else {
		status = list_archive(&ls);
	}
	hartfs_close(ls.archive);
	return status;
}

/* Of those that could be opened. */
static bool confine(const struct hf_settings *settings, const struct listed *listed, size_t count)
{
	struct hf_opened *opened = hf_got(calloc(count, sizeof *opened));
	size_t good = 0;
	bool ok = opened != NULL, only_directories = true;

	for (size_t i = 0; ok && i < count; i++) {
		if (!listed[i].good)
			continue;
		opened[good++] = listed[i].opened;
		only_directories = only_directories && !*listed[i].target.path;
	}
	/* Their captures are not indexed. */
	if (only_directories)
		hf_disasm_leave();
	ok = ok && (!good || hf_opened_confine(settings, opened, good));
	free(opened);
	return ok;
}

int hf_command_ls(const struct hf_settings *settings)
{
	const size_t count = (size_t)settings->operand_count;
	struct listed *listed;
	size_t failed = 0, some = 0;
	bool ok;

	if (count == 0)
		return hf_settings_usage(settings, "a directory or a capture is needed");
	listed = hf_got(calloc(count, sizeof *listed));
	for (size_t i = 0; listed && i < count; i++)
		open_path(settings, settings->operands[i], i ? settings->operands[i - 1] : NULL, &listed[i]);
	ok = listed && confine(settings, listed, count);
	for (size_t i = 0; i < count; i++) {
		int status = HF_EXIT_FAILURE;

		if (ok && count > 1 && !settings->json)
			printf("%s%s:\n", i ? "\n" : "", listed[i].shown);
		if (ok && listed[i].good)
			status = list_path(settings, &listed[i]);
		failed += status == HF_EXIT_FAILURE;
		some += status == HF_EXIT_SOME;
	}
	for (size_t i = 0; listed && i < count; i++) {
		if (listed[i].good)
			hf_opened_close(&listed[i].opened);
		hf_target_fini(&listed[i].target);
	}
	free(listed);
	if (failed == count)
		return HF_EXIT_FAILURE;
	return failed || some ? HF_EXIT_SOME : HF_EXIT_OK;
}

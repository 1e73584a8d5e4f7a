/* SPDX-License-Identifier: Apache-2.0 */
/* hartfs state: what a capture tells of a hart at one instruction. */
#include "fs/find/moments.h"
#include "fs/library.h"
#include "mountd/bar.h"
#include "mountd/commands.h"
#include "mountd/log.h"
#include "mountd/number.h"
#include "mountd/paths.h"
#include "mountd/target.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

struct command {
	const struct hf_settings *settings;
	const char *shown;
	char capture[PATH_MAX];
	struct hf_moment_ask ask;
	struct hf_bar bar;
};

static void put_progress(void *ctx, double share)
{
	struct command *c = ctx;

	hf_bar_show(&c->bar, &(struct hf_bar_state){.name = "calls", .share = share});
}

/* The hart, if there is but one. */
struct harts {
	uint32_t hart;
	bool any, many;
};

static bool count_harts(void *ctx, const struct hartfs_file *file)
{
	struct harts *harts = ctx;

	if (file->hart == HARTFS_NO_HART)
		return true;
	harts->many = harts->any && harts->hart != file->hart;
	harts->any = true;
	harts->hart = file->hart;
	return !harts->many;
}

static int choose_hart(struct command *c, struct hartfs_archive *archive)
{
	struct harts harts = {0};

	if (c->settings->has_hart) {
		c->ask.hart = c->settings->hart;
		return HF_EXIT_OK;
	}
	hartfs_each_file(archive, c->capture, count_harts, &harts, NULL);
	c->ask.hart = harts.hart;
	if (!harts.many)
		return HF_EXIT_OK;
	hf_say(stderr, "hartfs state: %s: there are several harts: --hart says which", c->shown);
	return HF_EXIT_USAGE;
}

static int put_state(struct command *c, struct hartfs_archive *archive)
{
	struct hartfs_diag diag;
	struct hf_sink sink;
	char why[200] = "";
	int err = hf_sink_init_memory(&sink, 0);

	if (!err)
		err = hf_fs_moment(hf_library_fs(archive), &c->ask, &sink, why, sizeof why);
	hf_bar_clear(&c->bar);
	if (!err) {
		fwrite(sink.start, 1, (size_t)(sink.p - sink.start), stdout);
	} else if (*why) {
		hf_say(stderr, "hartfs state: %s: %s", c->shown, why);
	} else {
		hf_library_fail(hf_library_fs(archive), c->ask.path, err, NULL, &diag);
		hf_paths_complain("state", c->shown, &diag);
	}
	hf_sink_fini_memory(&sink);
	return err ? HF_EXIT_FAILURE : HF_EXIT_OK;
}

static int ask(struct command *c, struct hartfs_archive *archive, const char *path)
{
	char view_dir[PATH_MAX];
	struct hartfs_diag diag;
	int err = hf_fs_capture_of(hf_library_fs(archive), path, c->capture, view_dir), status;

	if (err) {
		hf_paths_explain("state", c->shown, err, NULL);
		return HF_EXIT_FAILURE;
	}
	if (hartfs_index(archive, c->capture, hf_bar_show_indexing, &c->bar, &diag)) {
		hf_bar_clear(&c->bar);
		hf_paths_complain("state", c->shown, &diag);
		return HF_EXIT_FAILURE;
	}
	hf_bar_clear(&c->bar);
	hf_paths_warn("state", c->shown, hf_library_fs(archive), c->capture);
	hf_bar_begin(&c->bar, c->settings->verbosity);
	status = choose_hart(c, archive);
	c->ask.path = c->capture;
	return status ? status : put_state(c, archive);
}

int hf_command_state(const struct hf_settings *settings)
{
	struct command c = {.settings = settings, .ask = {.progress = put_progress}};
	struct hf_target target;
	struct hf_opened opened;
	int status = HF_EXIT_FAILURE;

	c.ask.ctx = &c;
	if (settings->operand_count != 2 || !hf_number_is(settings->operands[1], &c.ask.ordinal))
		return hf_settings_usage(settings, "a capture and the ordinal of an instruction are needed");
	c.shown = settings->operands[0];
	c.ask.form = settings->json ? HF_MOMENT_JSON : HF_MOMENT_TEXT;
	hf_bar_begin(&c.bar, settings->verbosity);
	if (!hf_target_find(settings, c.shown, NULL, true, &target)) {
		hf_say(stderr, "hartfs state: %s: %s", c.shown, hf_why_none());
	} else if (!*target.path) {
		hf_say(stderr, "hartfs state: %s: this is a directory; hartfs ls lists its captures", c.shown);
	} else if (hf_opened_open(settings, target.archive, &opened)) {
		struct hartfs_archive *archive = NULL;

		if (hf_opened_confine(settings, &opened, 1))
			archive = hf_opened_start(settings, &opened, false, NULL);
		if (archive)
			status = ask(&c, archive, target.path);
		hartfs_close(archive);
		hf_opened_close(&opened);
	}
	hf_target_fini(&target);
	return status;
}

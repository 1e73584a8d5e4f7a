/* SPDX-License-Identifier: Apache-2.0 */
/* hartfs state: what a capture tells of a hart at one instruction. */
#include "fs/find/hart_states.h"
#include "fs/library.h"
#include "mountd/bar.h"
#include "mountd/commands.h"
#include "mountd/log.h"
#include "mountd/number.h"
#include "mountd/target.h"

#include <stdio.h>

struct command {
	const struct hf_settings *settings;
	const char *shown;
	struct hf_hart_state_ask ask;
	struct hf_bar bar;
};

static void put_progress(void *ctx, double share)
{
	struct command *c = ctx;

	hf_bar_show(&c->bar, &(struct hf_bar_state){.name = "calls", .share = share});
}

/* The hart, if there is but one. */
static int choose_hart(struct command *c, const struct hf_target_capture *capture)
{
	if (c->settings->has_hart)
		c->ask.hart = c->settings->hart;
	else if (hf_target_has_harts(capture, &c->ask.hart)) {
		hf_say(stderr, "hartfs state: %s: there are several harts: --hart says which", c->shown);
		return HF_EXIT_USAGE;
	}
	return HF_EXIT_OK;
}

static int put_state(struct command *c, const struct hf_target_capture *capture)
{
	struct hf_sink sink;
	char why[200] = "";
	int err = hf_sink_init_memory(&sink, 0);

	if (!err)
		err = hf_fs_hart_state(hf_library_fs(capture->archive), &c->ask, &sink, why, sizeof why);
	hf_bar_clear(&c->bar);
	if (!err)
		fwrite(sink.start, 1, (size_t)(sink.p - sink.start), stdout);
	else
		hf_target_fail(c->settings, "state", capture, err, why);
	hf_sink_fini_memory(&sink);
	return err ? HF_EXIT_FAILURE : HF_EXIT_OK;
}

static int ask(void *ctx, struct hf_target_capture *capture)
{
	struct command *c = ctx;
	int status;

	if (!hf_target_index(c->settings, "state", capture, &c->bar))
		return HF_EXIT_FAILURE;
	status = choose_hart(c, capture);
	c->ask.path = capture->path;
	return status ? status : put_state(c, capture);
}

int hf_command_state(const struct hf_settings *settings)
{
	struct command c = {.settings = settings, .ask = {.progress = put_progress}};

	c.ask.ctx = &c;
	if (settings->operand_count != 2 || !hf_number_is(settings->operands[1], &c.ask.ordinal))
		return hf_settings_usage(settings, "a capture and the ordinal of an instruction are needed: hartfs find CAPTURE SYMBOL "
						   "--ordinals prints some");
	c.shown = settings->operands[0];
	c.ask.form = settings->json ? HF_HART_STATE_JSON : HF_HART_STATE_TEXT;
	hf_bar_begin(&c.bar, settings->verbosity);
	return hf_target_run(settings, "state", HF_EXIT_FAILURE, ask, &c);
}

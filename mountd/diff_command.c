/* SPDX-License-Identifier: Apache-2.0 */
/* hartfs diff: its options, and which harts of which captures are compared. */
#include "codecs/base/array.h"
#include "mountd/bar.h"
#include "mountd/commands.h"
#include "mountd/diff_print.h"
#include "mountd/log.h"
#include "mountd/number.h"
#include "mountd/paths.h"
#include "mountd/target.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As diff(1). Failures are HF_EXIT_USAGE, too. */
enum { SAME = HF_EXIT_OK, DIFFERENT = 1, FAILED = HF_EXIT_USAGE };

/* One of the two captures. */
struct side {
	const char *shown;
	struct hf_target target;
	struct hf_opened opened;
	bool is_open; /* opened: not if the other one is of the same archive */
	struct hartfs_archive *archive;
	char capture[PATH_MAX], view_dir[PATH_MAX];
	uint32_t *hart; /* owned */
	size_t harts;
};

struct command {
	const struct hf_settings *settings;
	struct side side[2];
	bool accesses, all, count, json, explain, has_hart, has_at;
	uint32_t hart[2];
	uint64_t at[2], context;
	uint64_t parts; /* in which they differ */
	uint32_t at_hand; /* hart of the first, for the progress */
	bool strangers;	  /* two harts have no code in common */
	struct hf_bar bar;
	struct hf_diff_print print;
};

/* ---- options ---- */

/* "A:B"; with alone "A" is "A:A", too. */
static bool read_pair(const char *text, bool alone, uint64_t ret_pair[2])
{
	if (!hf_number_read(text, &text, &ret_pair[0]))
		return false;
	ret_pair[1] = ret_pair[0];
	if (alone && !*text)
		return true;
	return *text == ':' && hf_number_read(text + 1, &text, &ret_pair[1]) && !*text;
}

static bool set_flag(struct command *c, const char *name)
{
	bool flow;
	const struct {
		const char *name;
		bool *flag;
	} flags[] = {{"flow", &flow},	{"data", &c->accesses}, {"all", &c->all},
		     {"count", &c->count}, {"json", &c->json},	   {"explain", &c->explain}};

	for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
		if (strcmp(flags[i].name, name) == 0)
			return *flags[i].flag = true;
	return false;
}

static int take_option(struct command *c, const struct hf_asked *asked)
{
	uint64_t pair[2];
	const char *end;
	bool ok;

	if (set_flag(c, asked->name))
		return 0;
	if (strcmp(asked->name, "at") == 0) {
		ok = c->has_at = read_pair(asked->value, false, c->at);
	} else if (strcmp(asked->name, "hart") == 0) {
		ok = read_pair(asked->value, true, pair) && pair[0] < HARTFS_NO_HART && pair[1] < HARTFS_NO_HART;
		c->has_hart = ok;
		for (unsigned i = 0; ok && i < 2; i++)
			c->hart[i] = (uint32_t)pair[i];
	} else {
		ok = hf_number_read(asked->value, &end, &c->context) && !*end;
	}
	if (ok)
		return 0;
	return hf_settings_refuse(c->settings, asked->name, asked->value);
}

static int take_options(struct command *c)
{
	const struct hf_settings *settings = c->settings;
	int status = 0;

	for (size_t i = 0; !status && i < settings->asked_count; i++)
		status = take_option(c, &settings->asked[i]);
	if (!status && settings->operand_count != 2)
		status = hf_settings_usage(settings, "two captures are needed");
	for (unsigned i = 0; !status && i < 2; i++)
		c->side[i].shown = settings->operands[i];
	return status;
}

/* ---- captures ---- */

static int complain(const struct side *side, const char *text)
{
	hf_say(stderr, "hartfs diff: %s: %s", side->shown, text);
	return FAILED;
}

static bool is_same_archive(const struct command *c)
{
	const struct hf_opened *a = &c->side[0].opened, *b = &c->side[1].opened;

	return a->real && b->real && strcmp(a->real, b->real) == 0;
}

static int open_side(struct command *c, struct side *side)
{
	if (!hf_target_find(c->settings, side->shown, NULL, true, &side->target))
		return complain(side, hf_why_none());
	if (!*side->target.path)
		return complain(side, "this is a directory; hartfs ls lists its captures");
	side->is_open = hf_opened_open(c->settings, side->target.archive, &side->opened);
	return side->is_open ? 0 : FAILED;
}

/* All that has to be opened before the process confines itself, and then that. */
static int start(struct command *c)
{
	struct side *side = c->side;
	struct hf_opened both[2];
	int status = open_side(c, &side[0]);

	if (!status)
		status = open_side(c, &side[1]);
	if (status)
		return status;
	if (is_same_archive(c)) {
		hf_opened_close(&side[1].opened);
		side[1].is_open = false;
	}
	both[0] = side[0].opened;
	both[1] = side[1].opened;
	if (!hf_opened_confine(c->settings, both, side[1].is_open ? 2 : 1))
		return FAILED;
	for (unsigned i = 0; i < 2 && !status; i++) {
		side[i].archive = side[i].is_open ? hf_opened_start(c->settings, &side[i].opened, false, NULL)
						  : side[0].archive;
		status = side[i].archive ? 0 : FAILED;
	}
	return status;
}

static void end(struct command *c)
{
	for (unsigned i = 0; i < 2; i++) {
		struct side *side = &c->side[i];

		if (side->is_open) {
			hartfs_close(side->archive);
			hf_opened_close(&side->opened);
		}
		hf_target_fini(&side->target);
		free(side->hart);
	}
}

static bool add_hart(void *ctx, const struct hartfs_file *file)
{
	struct side *side = ctx;

	if (file->hart == HARTFS_NO_HART || (side->harts && side->hart[side->harts - 1] == file->hart))
		return true;
	if (hf_array_room(&side->hart, side->harts, sizeof *side->hart))
		return false;
	side->hart[side->harts++] = file->hart;
	return true;
}

static int index_side(struct command *c, struct side *side)
{
	struct hartfs_diag diag;
	int err = hf_fs_capture_of(hf_library_fs(side->archive), side->target.path, side->capture, side->view_dir);
	bool failed;

	if (err) {
		hf_paths_explain("diff", side->shown, err, NULL);
		return FAILED;
	}
	hf_bar_begin(&c->bar, c->settings->verbosity);
	failed = hartfs_index(side->archive, side->capture, hf_bar_show_indexing, &c->bar, &diag) ||
		 hartfs_each_file(side->archive, side->capture, add_hart, side, &diag);
	hf_bar_clear(&c->bar);
	if (failed)
		hf_paths_complain("diff", side->shown, &diag);
	else
		hf_paths_warn("diff", side->shown, hf_library_fs(side->archive), side->capture);
	return failed ? FAILED : 0;
}

/* ---- comparing ---- */

static bool put_part(void *ctx, const struct hf_diff_part *part)
{
	struct command *c = ctx;

	hf_bar_clear(&c->bar);
	c->strangers |= part->no_code;
	if (c->count)
		return true;
	if (!hf_diff_print_part(&c->print, part))
		return false;
	if (!c->all && !part->last && !c->json)
		printf("# %llu instructions are equal after it, then there is another difference (--all)\n",
		       (unsigned long long)part->same);
	return true;
}

static void put_progress(void *ctx, double share)
{
	struct command *c = ctx;
	char name[24];

	snprintf(name, sizeof name, "hart %u", (unsigned)c->at_hand);
	hf_bar_show(&c->bar, &(struct hf_bar_state){.name = name, .share = share});
}

static void explain(const struct command *c, const struct hf_diff *diff, const struct hf_diff_told *told)
{
	fprintf(stderr, "harts %u and %u: %s; %llu stretches compared by their digests, %llu and %llu chunks decoded\n",
		diff->hart[0].hart, diff->hart[1].hart,
		!c->accesses	? "instructions"
		: told->values ? "instructions, accesses and their values"
			       : "instructions and accesses, whose values are not in both captures",
		(unsigned long long)told->digests, (unsigned long long)told->decoded[0],
		(unsigned long long)told->decoded[1]);
}

static int fail(struct command *c, unsigned which, int err, const char *why)
{
	const struct side *side = &c->side[which];
	struct hartfs_diag diag;

	if (*why)
		return complain(side, why);
	hf_library_fail(hf_library_fs(side->archive), side->capture, err, NULL, &diag);
	hf_paths_complain("diff", side->shown, &diag);
	return FAILED;
}

/* One hart of the first with one of the second. */
static int compare_harts(struct command *c, uint32_t a, uint32_t b)
{
	const uint32_t hart[2] = {a, b};
	struct hf_diff diff = {.accesses = c->accesses,
			       .limit = c->all || c->count ? UINT64_MAX : 1,
			       .ctx = c,
			       .part = put_part,
			       .progress = put_progress};
	struct hf_diff_told told;
	char why[320] = "";
	unsigned which;
	int err;

	c->print = (struct hf_diff_print){.context = c->context, .json = c->json};
	c->at_hand = a;
	for (unsigned i = 0; i < 2; i++) {
		struct side *side = &c->side[i];

		diff.hart[i] = (struct hf_diff_hart){hf_library_fs(side->archive), side->capture, hart[i], c->at[i]};
		c->print.side[i] = (struct hf_diff_side_print){side->archive, side->shown, side->view_dir, hart[i], c->at[i]};
	}
	hf_bar_begin(&c->bar, c->settings->verbosity);
	err = hf_fs_diff(&diff, &told, &which, why, sizeof why);
	hf_bar_clear(&c->bar);
	c->parts += told.parts;
	if (err)
		return fail(c, which, err, why);
	if (c->explain)
		explain(c, &diff, &told);
	if (told.stopped)
		hf_say(stderr,
		       "hartfs diff: %s: hart %u: stopped after %llu differences; --at %llu:%llu goes on from there",
		       c->side[0].shown, (unsigned)a, (unsigned long long)told.parts, (unsigned long long)told.at[0],
		       (unsigned long long)told.at[1]);
	return c->print.error ? FAILED : 0;
}

static bool are_same_harts(const struct command *c)
{
	const struct side *a = &c->side[0], *b = &c->side[1];

	return a->harts == b->harts && a->harts && memcmp(a->hart, b->hart, a->harts * sizeof *a->hart) == 0;
}

static int compare_all(struct command *c)
{
	const struct side *a = &c->side[0], *b = &c->side[1];
	int status = 0;

	if (c->has_hart)
		return compare_harts(c, c->hart[0], c->hart[1]);
	if (a->harts == 1 && b->harts == 1)
		return compare_harts(c, a->hart[0], b->hart[0]);
	if (!are_same_harts(c))
		return complain(b, "it has other harts than the first capture: --hart N:M says which are compared");
	if (c->has_at)
		return complain(a, "it has several harts: --at needs --hart");
	for (size_t i = 0; i < a->harts && !status; i++)
		status = compare_harts(c, a->hart[i], a->hart[i]);
	return status;
}

static int run(struct command *c)
{
	int status = start(c);

	for (unsigned i = 0; i < 2 && !status; i++)
		status = index_side(c, &c->side[i]);
	if (!status)
		status = compare_all(c);
	if (status)
		return status;
	if (c->strangers)
		hf_say(stderr, "hartfs diff: they have no code in common, as two builds of a program: hartfs top %s %s compares functions",
		       c->side[0].shown, c->side[1].shown);
	if (c->count)
		printf(c->json ? "{\"count\":%llu}\n" : "%llu\n", (unsigned long long)c->parts);
	return c->parts ? DIFFERENT : SAME;
}

int hf_command_diff(const struct hf_settings *settings)
{
	struct command *c = calloc(1, sizeof *c);
	int status;

	if (!c)
		return hf_settings_usage(settings, "out of memory");
	c->settings = settings;
	c->context = 3;
	status = take_options(c);
	if (!status) {
		signal(SIGPIPE, SIG_IGN);
		status = run(c);
		end(c);
	}
	free(c);
	fflush(stdout);
	return ferror(stdout) ? FAILED : status;
}

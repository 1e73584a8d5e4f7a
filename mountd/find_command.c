/* SPDX-License-Identifier: Apache-2.0 */
/* hartfs find: its options, and answers as lines, ordinals, a count or JSON. */
#include "codecs/base/errors.h"
#include "fs/find/find.h"
#include "fs/library.h"
#include "mountd/bar.h"
#include "mountd/commands.h"
#include "mountd/json_text.h"
#include "mountd/log.h"
#include "mountd/number.h"
#include "mountd/target.h"

#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* As grep: nothing was found. Failures are HF_EXIT_USAGE, too. */
enum { NOT_FOUND = 1, FAILED = HF_EXIT_USAGE };

struct command {
	const struct hf_settings *settings;
	char *shown; /* the capture, as it was given */
	struct hf_find find;
	struct hf_question *question;
	const char *word; /* a place or a mnemonic, of which no option says which; NULL: none */
	bool count, ordinals, json, stack;
	bool choice; /* one of first, last, nth and limit was given */
	bool many;   /* harts: answers say of which they are */
	uint32_t hart;
	bool any;	  /* hart is that of the last answer */
	uint64_t unknown; /* instructions of which nobody knows */
	struct hf_bar bar;
};

/* ---- options ---- */

static bool set_flag(struct command *c, const char *name)
{
	const struct {
		const char *name;
		bool *flag;
	} flags[] = {{"count", &c->count},     {"ordinals", &c->ordinals}, {"json", &c->json},
		     {"explain", &c->find.explain}, {"reverse", &c->find.reverse},	{"stack", &c->stack}};

	for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
		if (strcmp(flags[i].name, name) == 0)
			return *flags[i].flag = true;
	return false;
}

/* first, last, nth and limit: at most one of them. */
static int choose(struct command *c, const struct hf_asked *asked)
{
	const bool number = asked->value;
	uint64_t n = 1;

	if (c->choice)
		return hf_settings_usage(c->settings, "only one of --first, --last, --nth and --limit can be");
	if (number && (!hf_number_is(asked->value, &n) || !n))
		return hf_settings_refuse(c->settings, asked->name, asked->value);
	c->choice = true;
	c->find.limit = strcmp(asked->name, "limit") == 0 ? n : 1;
	c->find.skip = strcmp(asked->name, "nth") == 0 ? n - 1 : 0;
	c->find.reverse ^= strcmp(asked->name, "last") == 0;
	return 0;
}

static int bound(struct command *c, const struct hf_asked *asked)
{
	uint64_t n;

	if (!hf_number_is(asked->value, &n) || (strcmp(asked->name, "hart") == 0 && n >= HF_FIND_ALL))
		return hf_settings_refuse(c->settings, asked->name, asked->value);
	if (strcmp(asked->name, "hart") == 0) {
		c->find.hart = (uint32_t)n;
	} else if (strcmp(asked->name, "after") == 0 || (strcmp(asked->name, "from") == 0 && n)) {
		c->find.has_after = true;
		c->find.after = strcmp(asked->name, "from") == 0 ? n - 1 : n;
	} else if (strcmp(asked->name, "before") == 0 || (strcmp(asked->name, "to") == 0 && n < UINT64_MAX)) {
		c->find.has_before = true;
		c->find.before = strcmp(asked->name, "to") == 0 ? n + 1 : n;
	}
	return 0;
}

static int take_option(struct command *c, const struct hf_asked *asked)
{
	static const char *const choices[] = {"first", "last", "nth", "limit"}, *const bounds[] = {"hart", "after", "before", "from", "to"};
	char why[320];
	int err = hf_question_add(c->question, asked->name, asked->value, why, sizeof why);

	if (err == HF_ERR_SETUP_VALUE || err == HF_ERR_LIMIT)
		return hf_settings_usage(c->settings, "--%s: %s", asked->name, why);
	if (err != HF_ERR_NOT_FOUND)
		return err ? hf_settings_usage(c->settings, "out of memory") : 0;
	for (size_t i = 0; i < sizeof choices / sizeof choices[0]; i++)
		if (strcmp(choices[i], asked->name) == 0)
			return choose(c, asked);
	for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++)
		if (strcmp(bounds[i], asked->name) == 0)
			return bound(c, asked);
	set_flag(c, asked->name);
	return 0;
}

/* "find X --trap interrupt": the value of an option whose value may be left out stands like an operand. */
static bool is_value_of_trap(const struct hf_settings *settings, size_t i)
{
	return settings->operand_count == 2 && strcmp(settings->asked[i].name, "trap") == 0 &&
	       (!settings->asked[i].value || strcmp(settings->asked[i].value, "exception") == 0);
}

/* The capture, and perhaps a word: before it, as grep has it, or behind it. */
static int take_operands(struct command *c)
{
	char *const *operands = c->settings->operands;
	const int count = c->settings->operand_count;
	bool swapped;

	if (count < 1 || count > 2)
		return hf_settings_usage(c->settings, count ? "one capture is needed, and one word or an option that asks"
							    : "a capture is needed");
	swapped = count == 2 && access(operands[0], F_OK) < 0 && access(operands[1], F_OK) == 0;
	c->shown = operands[swapped];
	c->word = count == 2 ? operands[!swapped] : NULL;
	return 0;
}

static int take_asked(struct command *c)
{
	const struct hf_settings *settings = c->settings;
	int status = 0;

	for (size_t i = 0; !status && i < settings->asked_count; i++) {
		struct hf_asked asked = settings->asked[i];

		if (c->word && is_value_of_trap(settings, i)) {
			asked.value = c->word;
			c->word = NULL;
		}
		status = take_option(c, &asked);
	}
	return status;
}

static int take_options(struct command *c)
{
	const struct hf_settings *settings = c->settings;
	int status = hf_question_new(&c->question) ? hf_settings_usage(settings, "out of memory") : 0;

	if (!status)
		status = take_operands(c);
	if (!status)
		status = take_asked(c);
	if (status)
		return status;
	if (!hf_question_terms(c->question) && !c->word && !c->choice && !c->find.has_after && !c->find.has_before)
		return hf_settings_usage(settings, "a question is needed: --pc, --call, --opcode, --write ...");
	if (c->count && c->ordinals)
		return hf_settings_usage(settings, "either --count or --ordinals can be");
	if (c->stack && (c->count || (c->ordinals && !c->json)))
		return hf_settings_usage(settings, "--stack has no place beside --%s", c->count ? "count" : "ordinals");
	c->find.question = c->question;
	c->find.count = c->count;
	c->find.lines = !c->count && !c->ordinals;
	if (c->stack)
		c->find.stack = c->json ? HF_FIND_STACK_JSON : HF_FIND_STACK_LINES;
	return 0;
}

/* ---- what is printed ---- */

static void put_json(const struct hf_find_hit *hit)
{
	const char *p = hit->lines, *end = p ? p + hit->size : NULL;

	printf("{\"hart\":%u,\"ordinal\":%llu", hit->hart, (unsigned long long)hit->ordinal);
	if (p)
		fputs(",\"lines\":[", stdout);
	for (bool first = true; p < end; first = false) {
		const char *stop = memchr(p, '\n', (size_t)(end - p));

		stop = stop ? stop : end;
		if (!first)
			putchar(',');
		hf_print_json_text(p, (size_t)(stop - p));
		p = stop < end ? stop + 1 : end;
	}
	if (p)
		putchar(']');
	if (hit->doubt != HF_NOWHERE)
		printf(",\"doubt\":%llu", (unsigned long long)hit->doubt);
	if (hit->stack) {
		fputs(",\"stack\":", stdout);
		fwrite(hit->stack, 1, hit->stack_size, stdout);
	}
	puts("}");
}

static bool put_hit(void *ctx, const struct hf_find_hit *hit)
{
	struct command *c = ctx;
	const bool new_hart = !c->any || c->hart != hit->hart;

	hf_bar_clear(&c->bar);
	c->any = true;
	c->hart = hit->hart;
	if (c->json) {
		put_json(hit);
	} else if (c->ordinals) {
		if (c->many)
			printf("%u ", hit->hart);
		printf("%llu\n", (unsigned long long)hit->ordinal);
	} else {
		if (c->many && new_hart)
			printf("# hart %u\n", hit->hart);
		fwrite(hit->lines, 1, hit->size, stdout);
		if (hit->doubt != HF_NOWHERE)
			printf("# instruction %llu may be wrong: the trace contradicts itself after instruction %llu\n",
			       (unsigned long long)hit->ordinal, (unsigned long long)hit->doubt);
		if (hit->stack)
			fwrite(hit->stack, 1, hit->stack_size, stdout);
	}
	return !ferror(stdout);
}

static void put_stats(void *ctx, const struct hf_find_stats *stats)
{
	struct command *c = ctx;

	hf_bar_clear(&c->bar);
	c->unknown += stats->unknown;
	if (!c->find.explain)
		return;
	fprintf(stderr, "hart %u: ", stats->hart);
	if (stats->list)
		fprintf(stderr, "list of %s, %s", stats->list, stats->exact ? "exact" : "an upper bound");
	else
		fprintf(stderr, "scan, for %s", stats->no_list);
	fprintf(stderr, "; %llu of %llu chunks are candidates, %llu decoded\n", (unsigned long long)stats->candidates,
		(unsigned long long)stats->chunks, (unsigned long long)stats->decoded);
	if (stats->stack_chunks)
		fprintf(stderr, "hart %u: stacks %s, %llu chunks decoded\n", stats->hart,
			stats->from_start ? "followed from the first instruction, for there is no summary"
					  : "from the summary",
			(unsigned long long)stats->stack_chunks);
}

static void put_words(void *ctx, const char *text)
{
	struct command *c = ctx;

	hf_bar_clear(&c->bar);
	hf_say(stderr, "hartfs find: %s: %s", c->shown, text);
}

static void put_progress(void *ctx, uint32_t hart, double share)
{
	struct command *c = ctx;
	char name[24];

	snprintf(name, sizeof name, "hart %u", (unsigned)hart);
	hf_bar_show(&c->bar, &(struct hf_bar_state){.name = name, .share = share});
}

/* ---- asking ---- */

static int end_well(struct command *c, uint64_t count)
{
	hf_bar_clear(&c->bar);
	if (c->count && c->json)
		printf("{\"count\":%llu}\n", (unsigned long long)count);
	else if (c->count)
		printf("%llu\n", (unsigned long long)count);
	if (c->unknown)
		hf_say(stderr, "hartfs find: %s: of %llu instructions the trace does not tell whether they are answers; they are "
			       "left out",
		       c->shown, (unsigned long long)c->unknown);
	return count ? HF_EXIT_OK : c->unknown ? FAILED : NOT_FOUND;
}

/* The question, and the word as one of the kinds that it may be of. */
static int ask_with(struct command *c, const char *kind, uint64_t *ret_count, char *why, size_t size,
		    struct hf_target_capture *capture)
{
	int err = hf_question_add(c->question, kind, c->word, why, size);

	if (err)
		return err;
	err = hf_fs_find(hf_library_fs(capture->archive), &c->find, ret_count, why, size);
	if (err == HF_ERR_NOT_FOUND)
		hf_question_drop(c->question);
	return err;
}

/* A word is a place if it is an address, or a symbol of that name is there, else a mnemonic. */
static int ask_word(struct command *c, struct hf_target_capture *capture, uint64_t *ret_count, char *why, size_t size)
{
	char other[64];
	int err = ask_with(c, "pc", ret_count, why, size, capture);

	if (!err && !*ret_count && !c->count && isdigit(*c->word))
		hf_say(stderr, "hartfs find: %s: no instruction was executed at %s; --access=%s finds what read or wrote there",
		       c->shown, c->word, c->word);
	if (err != HF_ERR_NOT_FOUND)
		return err;
	err = ask_with(c, "mnemonic", ret_count, other, sizeof other, capture);
	return err ? err : *ret_count ? 0 : HF_ERR_NOT_FOUND;
}

static int ask(void *ctx, struct hf_target_capture *capture)
{
	struct command *c = ctx;
	char why[400] = "";
	uint64_t count;
	int err;

	if (!hf_target_index(c->settings, "find", capture, &c->bar))
		return FAILED;
	if (c->find.hart == HF_FIND_ALL)
		c->many = hf_target_has_harts(capture, &c->hart);
	c->find.path = capture->path;
	err = c->word ? ask_word(c, capture, &count, why, sizeof why)
		      : hf_fs_find(hf_library_fs(capture->archive), &c->find, &count, why, sizeof why);
	if (!err)
		return end_well(c, count);
	hf_bar_clear(&c->bar);
	hf_target_fail(c->settings, "find", capture, err, why);
	return FAILED;
}

int hf_command_find(const struct hf_settings *settings)
{
	struct command c = {.settings = settings,
			    .find = {.hart = HF_FIND_ALL,
				     .limit = UINT64_MAX,
				     .hit = put_hit,
				     .stats = put_stats,
				     .say = put_words,
				     .progress = put_progress}};
	struct hf_settings own = *settings;
	int status = take_options(&c);

	c.settings = &own;
	c.find.ctx = &c;
	if (!status) {
		signal(SIGPIPE, SIG_IGN);
		hf_bar_begin(&c.bar, settings->verbosity);
		own.operands = &c.shown;
		status = hf_target_run(&own, "find", FAILED, ask, &c);
	}
	hf_question_free(c.question);
	fflush(stdout);
	return ferror(stdout) ? FAILED : status;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* hartfs slice: the path of the slice in which something happened: a call of a function, what follows a marker, or a
 * span of time. */
#include "fs/find/find.h"
#include "fs/library.h"
#include "fs/rows/rows.h"
#include "mountd/bar.h"
#include "mountd/commands.h"
#include "mountd/log.h"
#include "mountd/number.h"
#include "mountd/target.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct command {
	const struct hf_settings *settings;
	const char *kind; /* "call", "marker", or "time" */
	const char *of;	  /* the call, or the marker */
	uint64_t nth;
	uint64_t from, to; /* of the time */
	const char *shown;
	uint32_t hart;
	struct hf_bar bar;
	uint64_t hits;
	bool any;  /* first is known, */
	bool open; /* and that the hart ends in it */
	uint64_t first, last;
	char why[400];
};

/* ---- rows ---- */

static const struct hf_table *find_table(const char *name)
{
	const struct hf_table *table = NULL;

	for (size_t i = 0; (table = hf_table_at(i)) && strcmp(hf_table_name(table), name) != 0; i++)
		;
	return table;
}

static size_t column_of(const struct hf_table *table, const char *name)
{
	size_t count, i = 0;
	const struct hf_column *column = hf_table_columns(table, &count);

	while (i < count && strcmp(column[i].name, name) != 0)
		i++;
	return i;
}

static void range(struct hf_rows_ask *ask, size_t column, uint64_t first, uint64_t last)
{
	ask->ranged |= 1u << column;
	ask->range[column].first = (int64_t)first;
	ask->range[column].last = last > INT64_MAX ? INT64_MAX : (int64_t)last;
}

/* Calls take with the rows of the hart's table, until that says no. */
static int each_row(struct command *c, const struct hf_target_capture *capture, struct hf_rows_ask *ask,
		    bool (*take)(struct command *c, const struct hf_table *table, const struct hf_row *row))
{
	struct hf_rows_session *session = NULL;
	struct hf_rows *rows = NULL;
	struct hf_row *row = malloc(sizeof *row);
	int err = row ? hf_rows_session_new(hf_library_fs(capture->archive), &session) : HF_ERR_NOMEM;

	ask->columns = UINT32_MAX >> (32 - HF_ROWS_COLUMNS);
	ask->equal[column_of(ask->table, "capture")] = capture->path;
	range(ask, column_of(ask->table, "hart"), c->hart, c->hart);
	if (!err)
		err = hf_rows_open(session, ask, &rows, c->why, sizeof c->why);
	while (!err || err == HF_NOTE_MORE) {
		err = hf_rows_next(rows, row);
		if (!err && !take(c, ask->table, row))
			break;
	}
	if (rows)
		hf_rows_close(rows);
	hf_rows_session_free(session);
	free(row);
	return err == HF_NOTE_END ? 0 : err;
}

/* ---- a call ---- */

static bool take_hit(void *ctx, const struct hf_find_hit *hit)
{
	struct command *c = ctx;

	c->first = c->hits ? c->first : hit->ordinal;
	c->last = hit->ordinal;
	c->hits++;
	return true;
}

/* Of a call through a stub the entry is that of the stub: the last call that began before the function is the one. */
static bool take_call(struct command *c, const struct hf_table *table, const struct hf_row *row)
{
	const struct hf_value *entry = &row->value[column_of(table, "entry")],
			      *end = &row->value[column_of(table, "exit")];
	const uint64_t wanted = c->last;

	if (end->type == HF_VALUE_NUMBER && (uint64_t)end->number < wanted)
		return true;
	c->any = true;
	c->open = end->type != HF_VALUE_NUMBER;
	c->first = (uint64_t)entry->number;
	c->last = c->open ? 0 : (uint64_t)end->number;
	return false;
}

/* So many instructions a stub has, at most. */
enum { STUB = 16 };

/* The N-th instruction that hartfs find finds, and as many behind it as limit says. */
static int find_hits(struct command *c, const struct hf_target_capture *capture, uint64_t limit)
{
	struct hf_question *question;
	struct hf_find find = {
		.path = capture->path, .hart = c->hart, .skip = c->nth - 1, .limit = limit, .ctx = c, .hit = take_hit};
	uint64_t count;
	int err = hf_question_new(&question);

	if (!err)
		err = hf_question_add(question, c->kind, c->of, c->why, sizeof c->why);
	find.question = question;
	if (!err)
		err = hf_fs_find(hf_library_fs(capture->archive), &find, &count, c->why, sizeof c->why);
	hf_question_free(question);
	return err;
}

static int find_call(struct command *c, const struct hf_target_capture *capture)
{
	struct hf_rows_ask ask = {.table = find_table("call")};
	int err = find_hits(c, capture, 1);

	if (err || !c->hits)
		return err;
	range(&ask, column_of(ask.table, "entry"), c->first < STUB ? 0 : c->first - STUB, c->first);
	return each_row(c, capture, &ask, take_call);
}

/* ---- a marker ---- */

static int find_marker(struct command *c, const struct hf_target_capture *capture)
{
	int err = find_hits(c, capture, 2);

	c->any = c->hits;
	c->open = c->hits == 1;
	return err;
}

/* ---- a time ---- */

static bool take_time(struct command *c, const struct hf_table *table, const struct hf_row *row)
{
	const struct hf_value *kind = &row->value[column_of(table, "kind")],
			      *value = &row->value[column_of(table, "value")];
	const uint64_t ordinal = (uint64_t)row->value[column_of(table, "ordinal")].number;

	if (kind->size != strlen("time") || value->type != HF_VALUE_NUMBER || (uint64_t)value->number < c->from ||
	    (uint64_t)value->number > c->to)
		return true;
	c->first = c->any ? c->first : ordinal;
	c->last = ordinal;
	c->any = true;
	return true;
}

static int find_time(struct command *c, const struct hf_target_capture *capture)
{
	struct hf_rows_ask ask = {.table = find_table("time")};

	return each_row(c, capture, &ask, take_time);
}

/* ---- the command ---- */

/* As hartfs cat takes it: beside the capture as it was given. */
static void put_path(const struct command *c, const struct hf_target_capture *capture)
{
	const char *slash = strrchr(c->shown, '/'), *name = strrchr(capture->view_dir, '/');
	const int n = slash ? (int)(slash - c->shown) + 1 : 0;

	name = name ? name + 1 : capture->view_dir;
	printf("%.*s%s/hart%" PRIu32 "/at/%" PRIu64 "-", n, c->shown, name, c->hart, c->first);
	if (!c->open)
		printf("%" PRIu64, c->last);
	putchar('\n');
}

static int ask(void *ctx, struct hf_target_capture *capture)
{
	struct command *c = ctx;
	int err;

	if (!hf_target_index(c->settings, "slice", capture, &c->bar))
		return HF_EXIT_FAILURE;
	if (c->settings->has_hart) {
		c->hart = c->settings->hart;
	} else if (hf_target_has_harts(capture, &c->hart)) {
		hf_say(stderr, "hartfs slice: %s: there are several harts: --hart says which", c->shown);
		return HF_EXIT_USAGE;
	}
	err = *c->kind == 'c'	? find_call(c, capture)
	      : *c->kind == 'm' ? find_marker(c, capture)
				: find_time(c, capture);
	if (err) {
		hf_target_fail(c->settings, "slice", capture, err, c->why);
		return HF_EXIT_FAILURE;
	}
	if (!c->any) {
		if (c->of)
			hf_say(stderr, "hartfs slice: %s: there is no %s %" PRIu64 " of %s in hart %" PRIu32, c->shown,
			       c->kind, c->nth, c->of, c->hart);
		else
			hf_say(stderr,
			       "hartfs slice: %s: the trace tells no time from %" PRIu64 " to %" PRIu64
			       " in hart %" PRIu32,
			       c->shown, c->from, c->to, c->hart);
		return HF_EXIT_FAILURE;
	}
	put_path(c, capture);
	return HF_EXIT_OK;
}

/* "A-B". */
static bool take_span(struct command *c, const char *text)
{
	const char *dash = strchr(text, '-');
	char from[24];

	if (!dash || dash - text >= (long)sizeof from)
		return false;
	snprintf(from, sizeof from, "%.*s", (int)(dash - text), text);
	return hf_number_is(from, &c->from) && hf_number_is(dash + 1, &c->to) && c->from <= c->to;
}

int hf_command_slice(const struct hf_settings *settings)
{
	struct command c = {.settings = settings, .nth = 1};
	bool nth = false;
	int kinds = 0;

	for (size_t i = 0; i < settings->asked_count; i++) {
		const struct hf_asked *asked = &settings->asked[i];
		bool ok = true;

		if (strcmp(asked->name, "nth") == 0) {
			nth = ok = hf_number_is(asked->value, &c.nth) && c.nth;
		} else {
			c.kind = asked->name;
			kinds++;
			if (*c.kind == 't')
				ok = take_span(&c, asked->value);
			else
				c.of = asked->value;
		}
		if (!ok)
			return hf_settings_refuse(settings, asked->name, asked->value);
	}
	if (settings->operand_count > 1 && isdigit(settings->operands[1][0]))
		return hf_settings_usage(settings,
					 "a slice by ordinals is a path: hartfs cat %s hart0/at/%s/listing.txt",
					 settings->operands[0],
					 strchr(settings->operands[1], '-') ? settings->operands[1] : "FIRST-LAST");
	if (settings->operand_count == 2 && !kinds++) {
		c.kind = "call";
		c.of = settings->operands[1];
	}
	if (settings->operand_count < 1 || settings->operand_count > 1 + !!c.of)
		return hf_settings_usage(settings, "a capture is needed, and --call, --marker or --time");
	if (kinds != 1 || (nth && !c.of))
		return hf_settings_usage(
			settings, "one of --call, --marker and --time is needed, with the first two perhaps --nth");
	c.shown = settings->operands[0];
	hf_bar_begin(&c.bar, settings->verbosity);
	return hf_target_run(settings, "slice", HF_EXIT_FAILURE, ask, &c);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * find_batch INDEX CAPTURE CHUNK [no-summary]: asks many questions in one process, for tests/find/judge.py. A line of
 * standard input is a question: parts with tabs between them, each a name of hartfs find's options, with '=' and a value
 * or not. The answer is a line: error, count, instructions that nobody knows of, chunks that were candidates and that were
 * decoded, CRC-32 of the lines, and the ordinals. "stack" adds the stacks, without symbols, to the lines. The answer to
 * "state=ORDINAL" is the text of hartfs state, with tabs between its lines.
 */
#include "codecs/base/errors.h"
#include "fs/find/find.h"
#include "fs/find/hart_states.h"
#include "fs/library.h"
#include "fs/locate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

struct answer {
	uint64_t *ordinal;
	size_t count, room;
	uint64_t unknown, candidates, decoded;
	unsigned long crc;
};

/* Without " <symbol+0x4>". */
static void add_plain(struct answer *a, const char *p, const char *end)
{
	while (p < end) {
		const char *stop = memmem(p, (size_t)(end - p), " <", 2);

		a->crc = crc32(a->crc, (const unsigned char *)p, (unsigned)((stop ? stop : end) - p));
		stop = stop ? memchr(stop, '>', (size_t)(end - stop)) : NULL;
		p = stop ? stop + 1 : end;
	}
}

static bool take_hit(void *ctx, const struct hf_find_hit *hit)
{
	struct answer *a = ctx;

	if (a->count == a->room) {
		a->room = a->room ? 2 * a->room : 64;
		a->ordinal = realloc(a->ordinal, a->room * sizeof *a->ordinal);
		if (!a->ordinal)
			abort();
	}
	a->ordinal[a->count++] = hit->ordinal;
	if (hit->lines)
		a->crc = crc32(a->crc, (const unsigned char *)hit->lines, (unsigned)hit->size);
	add_plain(a, hit->stack, hit->stack + hit->stack_size);
	return true;
}

static void take_stats(void *ctx, const struct hf_find_stats *stats)
{
	struct answer *a = ctx;

	a->unknown += stats->unknown;
	a->candidates += stats->candidates;
	a->decoded += stats->decoded;
}

/* One part; false: it is none. */
static bool take_part(struct hf_find *find, struct hf_question *question, char *part)
{
	char *value = strchr(part, '='), why[320] = "";
	uint64_t n;

	if (value)
		*value++ = 0;
	n = value ? strtoull(value, NULL, 10) : 0;
	if (!hf_question_add(question, part, value, why, sizeof why))
		return true;
	if (*why) {
		fprintf(stderr, "find_batch: %s: %s\n", part, why);
		return false;
	}
	if (strcmp(part, "hart") == 0)
		find->hart = (uint32_t)n;
	else if (strcmp(part, "after") == 0)
		find->has_after = true, find->after = n;
	else if (strcmp(part, "before") == 0)
		find->has_before = true, find->before = n;
	else if (strcmp(part, "limit") == 0)
		find->limit = n;
	else if (strcmp(part, "skip") == 0)
		find->skip = n;
	else if (strcmp(part, "reverse") == 0)
		find->reverse = true;
	else if (strcmp(part, "count") == 0)
		find->count = true;
	else if (strcmp(part, "lines") == 0)
		find->lines = true;
	else if (strcmp(part, "stack") == 0)
		find->stack = HF_FIND_STACK_LINES;
	else
		return false;
	return true;
}

static void ask_state(struct hf_fs *fs, struct hf_hart_state_ask ask, const char *line)
{
	const char *hart = strstr(line, "hart="), *state = strstr(line, "state=");
	struct hf_sink sink;
	char why[200];
	int err;

	ask.hart = (uint32_t)strtoul(hart + 5, NULL, 10);
	ask.ordinal = strtoull(state + 6, NULL, 10);
	if (hf_sink_init_memory(&sink, 0))
		abort();
	err = hf_fs_hart_state(fs, &ask, &sink, why, sizeof why);
	if (err)
		printf("error %d\n", err);
	for (uint8_t *p = sink.start; p < sink.p; p++)
		putchar(*p != '\n' ? *p : p + 1 < sink.p ? '\t' : '\n');
	hf_sink_fini_memory(&sink);
}

static void ask(struct hf_fs *fs, const char *capture, bool no_summary, char *line)
{
	struct answer a = {0};
	struct hf_find find = {.path = capture,
			       .hart = HF_FIND_ALL,
			       .limit = UINT64_MAX,
			       .no_summary = no_summary,
			       .ctx = &a,
			       .hit = take_hit,
			       .stats = take_stats};
	struct hf_question *question;
	char why[400], *save = NULL;
	uint64_t count = 0;
	int err = hf_question_new(&question);

	for (char *part = strtok_r(line, "\t\n", &save); part && !err; part = strtok_r(NULL, "\t\n", &save))
		if (!take_part(&find, question, part))
			err = HF_ERR_SETUP_VALUE;
	find.question = question;
	if (!err)
		err = hf_fs_find(fs, &find, &count, why, sizeof why);
	printf("%d %llu %llu %llu %llu %lu", err, (unsigned long long)count, (unsigned long long)a.unknown,
	       (unsigned long long)a.candidates, (unsigned long long)a.decoded, a.crc);
	for (size_t i = 0; i < a.count; i++)
		printf(" %llu", (unsigned long long)a.ordinal[i]);
	putchar('\n');
	free(a.ordinal);
	hf_question_free(question);
}

int main(int argc, char **argv)
{
	struct hartfs_options options = HARTFS_OPTIONS_INIT;
	struct hartfs_archive *archive;
	struct hartfs_diag diag;
	char *line = NULL, *directory, *name;
	size_t room = 0;

	if (argc < 4 || !hf_locate(argv[2], true, NULL, NULL, &directory, &name))
		return 2;
	options.archive = directory;
	options.index = argv[1];
	options.chunk = strtoull(argv[3], NULL, 10);
	if (hartfs_open(&options, &archive, &diag) || hartfs_index(archive, name, NULL, NULL, &diag)) {
		fprintf(stderr, "find_batch: %s\n", diag.text);
		return 1;
	}
	while (getline(&line, &room, stdin) > 0)
		if (strstr(line, "state="))
			ask_state(hf_library_fs(archive),
				  (struct hf_hart_state_ask){.path = name, .no_summary = argc > 4}, line);
		else
			ask(hf_library_fs(archive), name, argc > 4, line);
	free(line);
	hartfs_close(archive);
	free(directory);
	free(name);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A source file of any bytes beside the counts of its lines: each line of the text has its number, what was executed of
 * it, and its text with no more than "?" in the place of what is not shown; lines that are not in the text come behind.
 * Input: flags; how many rows of counts; of each the file, the line (two bytes) and the count; then the text.
 */
#define hf_source_text_read read_text
#define hf_source_text_free free_text
#define hf_sources_init init_sources
#define hf_sources_free free_sources
#include "fs/profile/annotated.c"

#include "tests/lib/fuzz.h"

enum { NO_TEXT = 1, TOO_LONG = 2, OTHERS = 4, ROWS = 64, LINES = 65536 };

static const uint8_t *text;
static size_t text_size;
static unsigned flags;
static struct hf_source_place places[ROWS];
static struct hf_count rows[ROWS];
static struct hf_source_file files[] = {{"", 0}, {"a.c", 3}, {"b.c", 3}};
static uint64_t sums[LINES], mosts[LINES];

int read_text(const struct hf_open *open, const char *name, struct hf_source_text *ret_text)
{
	(void)open;
	(void)name;
	*ret_text = (struct hf_source_text){.too_long = flags & TOO_LONG, .others = flags & OTHERS ? 2 : 0};
	if (flags & (NO_TEXT | TOO_LONG))
		return 0;
	ret_text->path = strdup("x.d/a.c");
	ret_text->bytes = malloc(text_size + 1);
	MUST(ret_text->path && ret_text->bytes);
	memcpy(ret_text->bytes, text, text_size);
	ret_text->size = text_size;
	return 0;
}

void free_text(struct hf_source_text *of)
{
	free(of->bytes);
	free(of->path);
}

int init_sources(struct hf_sources *sources, const struct hf_profiled *of, bool paths)
{
	(void)of;
	(void)paths;
	*sources = (struct hf_sources){.any = true, .row = places, .file = files, .file_count = 3};
	return 0;
}

void free_sources(struct hf_sources *sources)
{
	(void)sources;
}

/* What is behind the bar of a line. */
HF_NO_COVERAGE static void check_text(const char *at, const char *end, const uint8_t *line, size_t n)
{
	n -= n && line[n - 1] == '\r';
	MUST(n ? (size_t)(end - at) == n + 1 && *at == ' ' : at == end);
	for (size_t i = 0; i < n; i++) {
		const bool gone = line[i] == 0x7f || (line[i] < ' ' && line[i] != '\t');

		MUST(at[1 + i] == (gone ? '?' : (char)line[i]));
	}
}

/* A line of the file from its counts on; what is behind the bar. */
HF_NO_COVERAGE static const char *check_counts(const char *at, uint64_t number)
{
	char wanted[64];
	int n = snprintf(wanted, sizeof wanted, "%14s %14s %7" PRIu64 " |", "-", "-", number);

	if (number < LINES && (sums[number] || mosts[number]))
		n = snprintf(wanted, sizeof wanted, "%14" PRIu64 " %14" PRIu64 " %7" PRIu64 " |", sums[number],
			     mosts[number], number);
	MUST(!strncmp(at, wanted, (size_t)n));
	return at + n;
}

HF_NO_COVERAGE static void check(const char *at)
{
	const uint8_t *line = text, *end = flags & (NO_TEXT | TOO_LONG) ? text : text + text_size;
	uint64_t number = 1;
	bool told = false;

	MUST((at = strstr(at, " line | text\n")));
	at = strchr(at, '\n') + 1;
	for (; line < end; number++, at = strchr(at, '\n') + 1) {
		const uint8_t *newline = memchr(line, '\n', (size_t)(end - line));
		const size_t n = (size_t)((newline ? newline : end) - line);

		at = check_counts(at, number);
		check_text(at, strchr(at, '\n'), line, n);
		line += n + (newline != NULL);
	}
	for (; number < LINES; number++) {
		if (!sums[number])
			continue;
		if (!told && !(flags & (NO_TEXT | TOO_LONG))) {
			MUST(!text_size || !strncmp(at, "# after the end", 15));
			at = *at == '#' ? strchr(at, '\n') + 1 : at;
		}
		told = true;
		at = check_counts(at, number);
		MUST(*at++ == '\n');
	}
	MUST(!*at);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct hf_counts counts = {.row = rows, .insns = 1000};
	const struct hf_profile_source slice = {.first = 1, .end = 1001};
	struct hf_profiled of = {.counts = &counts, .source = &slice, .about = "a.c"};
	struct hf_sink sink;
	int err;

	if (n < 2 || n > 4096 || n < 2 + 4 * (size_t)(bytes[1] % (ROWS + 1)))
		return 0;
	flags = bytes[0];
	counts.n = bytes[1] % (ROWS + 1);
	bytes += 2;
	n -= 2 + 4 * counts.n;
	memset(sums, 0, sizeof sums);
	memset(mosts, 0, sizeof mosts);
	for (size_t i = 0; i < counts.n; i++, bytes += 4) {
		const uint32_t line = 1 + (bytes[1] | (uint32_t)bytes[2] % 16 << 8);

		places[i] = (struct hf_source_place){bytes[0] % 3, line};
		rows[i].count = bytes[3] + UINT64_C(1);
		if (places[i].file != 1)
			continue;
		sums[line] += rows[i].count;
		mosts[line] = rows[i].count > mosts[line] ? rows[i].count : mosts[line];
	}
	text = bytes;
	text_size = n;
	MUST(!hf_sink_init_memory(&sink, 0));
	err = hf_profile_annotated(&of, &sink);
	hf_sink_write(&sink, "", 1);
	MUST(!err);
	check((const char *)sink.start);
	hf_sink_fini_memory(&sink);
	return 0;
}

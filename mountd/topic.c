/* SPDX-License-Identifier: Apache-2.0 */
#include "mountd/topic.h"
#include "mountd/colour.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX "hartfs-"

const char *hf_topic_short_name(const struct hf_topic *topic)
{
	const size_t n = strlen(PREFIX);

	return strncmp(topic->name, PREFIX, n) ? topic->name : topic->name + n;
}

/* "views" and "views.5" and "views(5)". */
static bool is_called(const struct hf_topic *topic, const char *base, const char *name)
{
	const size_t n = strlen(base);

	if (strncmp(name, base, n) != 0)
		return false;
	name += n;
	return !*name || ((*name == '.' || *name == '(') && atoi(name + 1) == topic->section);
}

const struct hf_topic *hf_topic_find(const char *name)
{
	for (const struct hf_topic *topic = hf_topics; topic->name; topic++)
		if (is_called(topic, topic->name, name) || is_called(topic, hf_topic_short_name(topic), name))
			return topic;
	return NULL;
}

static size_t count_word(const char *text, const char *word)
{
	const size_t n = strlen(word);
	size_t count = 0;

	for (const char *at = text; n && (at = strcasestr(at, word)); at += n)
		count += (at == text || !isalnum(at[-1])) && !isalnum(at[n]);
	return count;
}

char *hf_topic_mentions(const char *word)
{
	const struct hf_topic *most[4];
	size_t counts[5], told = 0;
	char *text = NULL;
	size_t size;
	FILE *to;

	for (const struct hf_topic *topic = hf_topics; topic->name; topic++) {
		const size_t count = count_word(topic->text, word);
		size_t i = told;

		for (; count && i && counts[i - 1] < count; i--) {
			counts[i] = counts[i - 1];
			if (i < 4)
				most[i] = most[i - 1];
		}
		if (!count || i == 4)
			continue;
		counts[i] = count;
		most[i] = topic;
		told += told < 4;
	}
	to = told ? open_memstream(&text, &size) : NULL;
	for (size_t i = 0; to && i < told; i++)
		fprintf(to, "%s %s", i ? "," : "; these pages have the word:", hf_topic_short_name(most[i]));
	if (to)
		fclose(to);
	return text;
}

/* What is behind "name - " in the section NAME, of ret_n bytes. */
static const char *title_of(const struct hf_topic *topic, size_t *ret_n)
{
	const char *title = strstr(topic->text, " - ");

	title = title ? title + 3 : "";
	*ret_n = strcspn(title, "\n");
	return title;
}

void hf_topic_print_list(void)
{
	for (const struct hf_topic *topic = hf_topics; topic->name; topic++) {
		char name[64];
		size_t n;
		const char *title = title_of(topic, &n);

		snprintf(name, sizeof name, "%s(%d)", hf_topic_short_name(topic), topic->section);
		printf("  %-14s %.*s\n", name, (int)n, title);
	}
}

/* A line without its Markdown: words between asterisks are bold on a terminal. */
static void print_prose(const char *line, size_t n)
{
	bool bold = false, code = false;

	for (size_t i = 0; i < n; i++) {
		if (line[i] == '`') {
			code = !code;
		} else if (line[i] == '*' && !code) {
			while (i + 1 < n && line[i + 1] == '*')
				i++;
			bold = !bold;
			fputs(hf_colour(stdout, bold ? HF_COLOUR_HEAD : HF_COLOUR_NONE), stdout);
		} else if (line[i] != '\\' || code) {
			putchar(line[i]);
		} else if (i + 1 < n) {
			putchar(line[++i]);
		}
	}
	if (bold)
		fputs(hf_colour(stdout, HF_COLOUR_NONE), stdout);
	putchar('\n');
}

static size_t blanks_of(const char *line, size_t n)
{
	size_t blanks = 0;

	while (blanks < n && line[blanks] == ' ')
		blanks++;
	return blanks;
}

/* Four blanks begin an example, except below the term of a list: there it takes eight. */
static void print_line(const char *line, size_t n, bool *listed)
{
	const size_t blanks = blanks_of(line, n);

	if (*line == '%')
		return;
	if (n && !blanks)
		*listed = *line == ':';
	if (*line == '#') {
		line += strspn(line, "# ");
		printf("%s%.*s%s\n", hf_colour(stdout, HF_COLOUR_HEAD), (int)strcspn(line, "\n"), line,
		       hf_colour(stdout, HF_COLOUR_NONE));
	} else if (blanks >= (*listed ? 8u : 4u)) {
		printf("%.*s\n", (int)n, line);
	} else if (*line == ':') {
		printf(" ");
		print_prose(line + 1, n - 1);
	} else {
		print_prose(line, n);
	}
}

void hf_topic_print(const struct hf_topic *topic)
{
	bool listed = false;

	printf("%s(%d)\n", topic->name, topic->section);
	for (const char *line = topic->text; *line;) {
		const size_t n = strcspn(line, "\n");

		print_line(line, n, &listed);
		line += n + (line[n] == '\n');
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "mountd/guess.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *words, *line;
} guesses[] = {
#define HF_GUESS(words, line) {words, line},
#include "mountd/guesses.def"
};

static const struct {
	const char *commands, *words, *text;
} option_guesses[] = {
#define HF_GUESS_OPTION(commands, words, text) {commands, words, text},
#include "mountd/guesses.def"
};

/* Whether it is one of these, which have blanks between them. */
static bool is_among(const char *words, const char *word)
{
	const size_t n = strlen(word);

	for (const char *at = words; n && (at = strstr(at, word)); at += n)
		if ((at == words || at[-1] == ' ') && (!at[n] || at[n] == ' '))
			return true;
	return false;
}

char *hf_guess_line(const char *word, const char *operand)
{
	static const char capture[] = "CAPTURE";
	char *text = NULL;

	for (size_t i = 0; i < sizeof guesses / sizeof guesses[0]; i++) {
		const char *line = guesses[i].line, *at = operand ? strstr(line, capture) : NULL;

		if (!is_among(guesses[i].words, word))
			continue;
		if (asprintf(&text, "; try: hartfs %.*s%s%s", at ? (int)(at - line) : 0, line, at ? operand : "",
			     at ? at + sizeof capture - 1 : line) < 0)
			text = NULL;
		break;
	}
	return text;
}

void hf_guess_command(const char *word, const char *operand, const char *hint)
{
	char *line = hf_guess_line(word, operand);

	fprintf(stderr, "hartfs: there is no command '%s'%s\nTry 'hartfs help'.\n", word, line ? line : hint);
	free(line);
}

const char *hf_guess_option(char command, const char *name)
{
	for (size_t i = 0; i < sizeof option_guesses / sizeof option_guesses[0]; i++)
		if ((!*option_guesses[i].commands || strchr(option_guesses[i].commands, command)) &&
		    is_among(option_guesses[i].words, name))
			return option_guesses[i].text;
	return NULL;
}

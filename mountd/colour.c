/* SPDX-License-Identifier: Apache-2.0 */
#include "mountd/colour.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Decided for a stream that becomes another one. */
static const FILE *decided;
static bool decision;

static bool has_colours(FILE *to)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

	if (to == decided)
		return decision;
	return !(no_color && *no_color) && term && strcmp(term, "dumb") != 0 && isatty(fileno(to));
}

void hf_colour_decide(FILE *to)
{
	decision = has_colours(to);
	decided = to;
}

const char *hf_colour(FILE *to, enum hf_colour colour)
{
	static const char *const escapes[] = {[HF_COLOUR_NONE] = "\033[0m",  [HF_COLOUR_HEAD] = "\033[1m",
					      [HF_COLOUR_GOOD] = "\033[32m", [HF_COLOUR_WARN] = "\033[33m",
					      [HF_COLOUR_BAD] = "\033[31m",  [HF_COLOUR_DIM] = "\033[2m"};

	return has_colours(to) ? escapes[colour] : "";
}

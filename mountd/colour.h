/* SPDX-License-Identifier: Apache-2.0 */
/* Colours for a terminal: none where NO_COLOR is set and not empty, TERM is "dumb", or the output is no terminal. */
#ifndef HF_MOUNTD_COLOUR_H
#define HF_MOUNTD_COLOUR_H

#include <stdio.h>

enum hf_colour { HF_COLOUR_NONE, HF_COLOUR_HEAD, HF_COLOUR_GOOD, HF_COLOUR_WARN, HF_COLOUR_BAD, HF_COLOUR_DIM };

/* What begins the colour on that stream, HF_COLOUR_NONE ends it: static, "" where there are none. */
const char *hf_colour(FILE *to, enum hf_colour colour);
/* From now on it has colours if it has them now, whatever it leads to. */
void hf_colour_decide(FILE *to);

#endif

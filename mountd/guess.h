/* SPDX-License-Identifier: Apache-2.0 */
/* What a word may have been meant to be that hartfs does not know. */
#ifndef HF_MOUNTD_GUESS_H
#define HF_MOUNTD_GUESS_H

/* Says on standard error that there is no such command, and what may have been meant: what guesses.def knows, or hint, of
 * hf_nearest_hint. operand: what follows the word; NULL: nothing. */
void hf_guess_command(const char *word, const char *operand, const char *hint);

/* "; try: hartfs LINE" with what guesses.def knows of the word, to be freed; NULL: nothing, or there is no memory. */
char *hf_guess_line(const char *word, const char *operand);

/* A sentence about an option that the command of that letter might have; NULL: there is nothing to say. */
const char *hf_guess_option(char command, const char *name);

#endif

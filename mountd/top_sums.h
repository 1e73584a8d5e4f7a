/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of functions.txt and lines.txt added up, and those of two captures side by side: hartfs top. */
#ifndef HF_MOUNTD_TOP_SUMS_H
#define HF_MOUNTD_TOP_SUMS_H

/* functions.txt by its objects ("object"), or lines.txt by its files ("line"): the same comments, and a row for each of what
 * stands in that column, without the number of a line; owned, NULL: no memory. */
char *hf_top_sum(const char *text, const char *column);

/* Functions of two captures, those first that differ most: of each what they executed themselves and how often they were
 * called. a, b: functions-files.txt of all harts of each, end to end; owned, NULL: no memory. Functions of one name in one
 * object are told apart by their source files, and are one if these are not known or the same; an object that only one of the
 * captures has is the program, whatever it is called. */
char *hf_top_compare(const char *a, const char *b);

#endif

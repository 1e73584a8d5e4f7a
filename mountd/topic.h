/* SPDX-License-Identifier: Apache-2.0 */
/* hartfs help TOPIC: the manual pages as plain text, for where they are not installed. cmake/topics.cmake puts them in. */
#ifndef HF_MOUNTD_TOPIC_H
#define HF_MOUNTD_TOPIC_H

#include <stddef.h>

/* One manual page: its Markdown, which ends with a 0. */
struct hf_topic {
	const char *name; /* hartfs-views */
	int section;	  /* 5 */
	const char *text;
};

/* In the order of their names; the last one has no name. */
extern const struct hf_topic hf_topics[];

/* By its name, with or without "hartfs-" in front and "(5)" or ".5" behind; NULL: there is none. */
const struct hf_topic *hf_topic_find(const char *name);

/* Without "hartfs-". */
const char *hf_topic_short_name(const struct hf_topic *topic);

/* "; these pages have the word: profile, views": those that have it most often, at most four, to be freed; NULL: none
 * has it, or there is no memory. */
char *hf_topic_mentions(const char *word);

/* To standard output: a line for each topic; the page of one. */
void hf_topic_print_list(void);
void hf_topic_print(const struct hf_topic *topic);

#endif

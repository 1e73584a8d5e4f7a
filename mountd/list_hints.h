/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which programs look at each name that they list. The kernel keeps lists of names for long, and what it knows of each
 * name for seconds. Then `ls -l` of a kept list is a look-up for each name, where the list given anew would tell all of
 * them at once; `find`, which wants the names alone, is better served with the kept one.
 */
#ifndef HF_MOUNTD_LIST_HINTS_H
#define HF_MOUNTD_LIST_HINTS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What one of those that asked last did. Another one with the same place begins anew: this decides no answer. */
struct hf_list_hint {
	uint32_t asker;    /* a thread, by its number; 0: nobody */
	unsigned anew;     /* so many lists more are given anew */
	size_t names;      /* of the kept list that it opened last */
	size_t looked_up;  /* files, since */
};

struct hf_list_hints {
	pthread_mutex_t lock;
	struct hf_list_hint hint[64];
};

void hf_list_hints_init(struct hf_list_hints *all);
void hf_list_hints_fini(struct hf_list_hints *all);

/* It opens a list of so many names that the kernel has, without knowing much of them any more. True: it is to get the
 * list anew, with all that is known of them. */
bool hf_list_hints_open(struct hf_list_hints *all, uint32_t asker, size_t names);
/* It looks a file up. Directories do not count, which `find` must go into. */
void hf_list_hints_look_up(struct hf_list_hints *all, uint32_t asker);

#endif

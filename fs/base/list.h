/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists whose links are members of what is in them. The head is a link too: its next is what was added last, its prev
 * what was added first and has not been moved since, so that such a list is one by last use.
 */
#ifndef HF_FS_LIST_H
#define HF_FS_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct hf_link {
	struct hf_link *prev, *next;
};

/* What the member of that name of a struct type is in. */
#define HF_OWNER(member_at, type, member) ((type *)((char *)(member_at)-offsetof(type, member)))

static inline void hf_link_init(struct hf_link *head)
{
	head->prev = head->next = head;
}

static inline bool hf_link_none(const struct hf_link *head)
{
	return head->next == head;
}

static inline void hf_link_add(struct hf_link *head, struct hf_link *link)
{
	link->prev = head;
	link->next = head->next;
	head->next->prev = link;
	head->next = link;
}

static inline void hf_link_remove(struct hf_link *link)
{
	link->prev->next = link->next;
	link->next->prev = link->prev;
}

#endif

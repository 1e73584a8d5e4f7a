/* SPDX-License-Identifier: Apache-2.0 */
/* The process that decodes for a connection: "hartfs serve", started when it is needed, and again after it died. */
#ifndef HF_SQL_CHILD_H
#define HF_SQL_CHILD_H

#include "mountd/sql/messages.h"

#include <sys/types.h>

/* What is said when something goes wrong, with its 0. */
#define HF_CHILD_WORDS 1024

enum hf_child_result {
	HF_CHILD_OK,
	HF_CHILD_FAILED,      /* as the words say; the child lives */
	HF_CHILD_INTERRUPTED, /* the host wants no more; the child lives */
	HF_CHILD_DIED,	      /* as the words say; the next request starts another one */
};

struct hf_child {
	/* Of whoever uses it: asked some times a second while an answer is waited for; true cancels. */
	bool (*interrupted)(void *ctx);
	void *ctx;
	/* the rest is its own */
	char **arguments; /* of the program, without the path of it, which is the first; NULL: nothing was opened */
	pid_t pid;	  /* 0: none runs */
	int fd, errors;
	uint64_t generation; /* of those that ran */
	struct hf_out out;
	uint8_t *in; /* the last answer */
	size_t in_size;
	struct hf_schema schema; /* of the first one that ran; its texts lie in hello */
	uint8_t *hello;
	size_t hello_size;
	char words[HF_CHILD_WORDS];
};

/* Names what is to be served from now on: a path, and options of "hartfs serve". The child that ran is ended. */
enum hf_child_result hf_child_open(struct hf_child *child, const char *path, const char *const *options, size_t count);
/* Starts it if it does not run. */
enum hf_child_result hf_child_start(struct hf_child *child);
/* Sends a request of HF_MESSAGE_OPEN or NEXT, and waits for the rows: *ret_in is what follows their head, and stays until
 * the next request. */
enum hf_child_result hf_child_ask(struct hf_child *child, const struct hf_request *request,
				  struct hf_answer_head *ret_head, struct hf_in *ret_in);
/* Closes a cursor of that generation, if that is the one that runs. */
void hf_child_close_cursor(struct hf_child *child, uint64_t generation, uint32_t cursor);
/* Ends it, and frees all. */
void hf_child_fini(struct hf_child *child);

#endif

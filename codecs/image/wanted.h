/* SPDX-License-Identifier: Apache-2.0 */
/* Of which addresses something is asked for: those that were executed. */
#ifndef HF_IMAGE_WANTED_H
#define HF_IMAGE_WANTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* next gives the first range of what is asked for that ends behind address; false if there is none. */
struct hf_lines_filter {
	bool (*next)(void *ctx, uint64_t address, uint64_t *ret_start, uint64_t *ret_end);
	void *ctx;
};

/* The filter, and what it gave last: that is the first range behind from; empty if it was not asked yet. */
struct hf_wanted {
	const struct hf_lines_filter *filter; /* NULL: all is asked for */
	uint64_t from, start, end;
};

/* Whether anything of [start, end) is asked for. */
static inline bool hf_is_wanted(struct hf_wanted *wanted, uint64_t start, uint64_t end)
{
	if (!wanted->filter)
		return true;
	/* What was given last still is the first range behind start. */
	if (start < wanted->from || start >= wanted->end) {
		wanted->from = start;
		if (!wanted->filter->next(wanted->filter->ctx, start, &wanted->start, &wanted->end))
			wanted->start = wanted->end = UINT64_MAX;
	}
	return wanted->start < end && start < wanted->end;
}

#endif

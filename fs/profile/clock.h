/* SPDX-License-Identifier: Apache-2.0 */
/* What time it was at an instruction, as far as the trace tells. Internal to fs/profile/. */
#ifndef HF_FS_PROFILE_CLOCK_H
#define HF_FS_PROFILE_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Times that are kept: of more every second one is left out, until there is room. */
#define HF_CLOCK_POINTS (UINT32_C(1) << 18)

enum hf_clock_state {
	HF_CLOCK_NONE,	/* the trace tells of no time */
	HF_CLOCK_KNOWN, /* of most instructions the time is known, or between two that are */
	HF_CLOCK_BACK,	/* it goes back */
	HF_CLOCK_LARGE, /* it is larger than viewers have room for */
	HF_CLOCK_FEW,	/* of most instructions nothing is known */
};

struct hf_clock_point {
	uint64_t ordinal, time; /* before that instruction it was that time */
};

/* A zeroed one knows nothing. */
struct hf_clock {
	struct hf_clock_point *point; /* in the order of ordinals, each once; times do not go back */
	size_t n, room;
	uint64_t step,
		skipped; /* each step-th is kept; how many were not since the last that was; 0: none was left out */
	struct hf_clock_point last; /* that was told, if n */
	bool back, large;
	uint64_t before, after; /* of HF_CLOCK_KNOWN: instructions before the first time, and behind the last */
	/* Units of hf_clock_at in one of the trace's: a power of ten, so that there are no fewer than instructions. */
	uint64_t scale;
	enum hf_clock_state state;
};

/* In the order of ordinals. HF_ERR_NOMEM; to be freed in any case. */
int hf_clock_put(struct hf_clock *clock, uint64_t ordinal, uint64_t time);
/* All of it was put, about the instructions [first, end). */
void hf_clock_end(struct hf_clock *clock, uint64_t first, uint64_t end);
/* The time before an instruction. Between two times it is spread evenly; what is before the first or behind the last is
 * there. With another state than HF_CLOCK_KNOWN: the ordinal. */
uint64_t hf_clock_at(const struct hf_clock *clock, uint64_t ordinal);
void hf_clock_free(struct hf_clock *clock);

#endif

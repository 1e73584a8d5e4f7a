/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/profile/clock.h"
#include "codecs/base/array.h"
#include "codecs/base/search.h"

#include <stdlib.h>

__extension__ typedef unsigned __int128 wide;

static void thin_out(struct hf_clock *clock)
{
	size_t kept = 0;

	for (size_t i = 0; i < clock->n; i += 2)
		clock->point[kept++] = clock->point[i];
	clock->n = kept;
	clock->step = clock->step ? 2 * clock->step : 2;
	clock->skipped = 0;
}

static int add(struct hf_clock *clock, const struct hf_clock_point *point)
{
	int err = hf_array_reserve(&clock->point, clock->n + 1, &clock->room, sizeof *clock->point);

	if (!err)
		clock->point[clock->n++] = *point;
	return err;
}

int hf_clock_put(struct hf_clock *clock, uint64_t ordinal, uint64_t time)
{
	clock->back |= clock->n && time < clock->last.time;
	clock->large |= time > INT64_MAX;
	clock->last = (struct hf_clock_point){.ordinal = ordinal, .time = time};
	if (clock->n && clock->point[clock->n - 1].ordinal == ordinal) {
		clock->point[clock->n - 1].time = time;
		return 0;
	}
	if (clock->step && ++clock->skipped < clock->step)
		return 0;
	clock->skipped = 0;
	if (clock->n == HF_CLOCK_POINTS)
		thin_out(clock);
	return add(clock, &clock->last);
}

static enum hf_clock_state state_of(const struct hf_clock *clock, uint64_t first, uint64_t end)
{
	const struct hf_clock_point *low = clock->point;

	if (!clock->n)
		return HF_CLOCK_NONE;
	if (clock->back)
		return HF_CLOCK_BACK;
	if (clock->large)
		return HF_CLOCK_LARGE;
	return low->time < clock->last.time && clock->last.ordinal - low->ordinal >= (end - first) / 2 ? HF_CLOCK_KNOWN
												       : HF_CLOCK_FEW;
}

void hf_clock_end(struct hf_clock *clock, uint64_t first, uint64_t end)
{
	clock->state = state_of(clock, first, end);
	if (clock->state != HF_CLOCK_KNOWN)
		return;
	/* The last one is always kept; then there are many. */
	clock->point[clock->n - 1] = clock->last;
	clock->scale = 1;
	while ((clock->last.time - clock->point[0].time) * clock->scale <
		       clock->last.ordinal - clock->point[0].ordinal &&
	       clock->last.time <= INT64_MAX / 10 / clock->scale)
		clock->scale *= 10;
	clock->before = clock->point[0].ordinal - first;
	clock->after = end - clock->last.ordinal;
}

uint64_t hf_clock_at(const struct hf_clock *clock, uint64_t ordinal)
{
	const struct hf_clock_point *p = clock->point;
	size_t low, high;

	if (clock->state != HF_CLOCK_KNOWN)
		return ordinal;
	if (ordinal <= p[0].ordinal)
		return p[0].time * clock->scale;
	high = HF_COUNT_UP_TO(p, clock->n, ordinal, ordinal);
	low = high - 1;
	if (high == clock->n)
		return p[low].time * clock->scale;
	return p[low].time * clock->scale + (uint64_t)((wide)((p[high].time - p[low].time) * clock->scale) *
						       (ordinal - p[low].ordinal) / (p[high].ordinal - p[low].ordinal));
}

void hf_clock_free(struct hf_clock *clock)
{
	free(clock->point);
	*clock = (struct hf_clock){0};
}

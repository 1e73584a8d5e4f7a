/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/profile/activations.h"
#include "fs/profile/timeline_source.h"

#include <stdlib.h>

struct making {
	const struct hf_profiled *of;
	struct hf_activations *a;
	uint32_t open[HF_CALL_DEPTH + 1]; /* numbers of those that have not returned, and their nodes */
	uint32_t nodes[HF_CALL_DEPTH + 1];
	uint32_t depth;
	uint64_t *begun; /* of each node, how many of its calls were seen */
};

static uint64_t length_of(const struct hf_activation *at)
{
	return at->open ? UINT64_MAX : at->end - at->begin;
}

static int by_length(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x > y ? -1 : x < y;
}

int hf_activations_drop(struct hf_activations *activations, size_t most)
{
	uint64_t *length = malloc((activations->count + 1) * sizeof *length), limit, longer = 0, equal = 0, met = 0;
	size_t kept = 0;

	if (!length)
		return HF_ERR_NOMEM;
	for (size_t i = 0; i < activations->count; i++)
		length[i] = length_of(&activations->at[i]);
	qsort(length, activations->count, sizeof *length, by_length);
	limit = most < activations->count ? length[most - 1] : 0;
	for (size_t i = 0; i < activations->count && length[i] >= limit; i++) {
		longer += length[i] > limit;
		equal += length[i] == limit;
	}
	free(length);
	for (size_t i = 0; i < activations->count; i++) {
		const uint64_t is = length_of(&activations->at[i]);
		bool keep = is > limit;

		if (is == limit) {
			keep = equal <= most - longer ||
			       met * (most - longer) / equal != (met + 1) * (most - longer) / equal;
			met++;
		}
		if (keep)
			activations->at[kept++] = activations->at[i];
	}
	activations->left_out += activations->count - kept;
	activations->count = kept;
	limit += equal > most - longer;
	activations->least = limit > activations->least ? limit : activations->least;
	return 0;
}

/* Those that are open are in the order in which they began. */
static void find_open(struct making *m)
{
	uint32_t depth = 0;

	for (size_t i = 0; i < m->a->count && depth < m->depth; i++)
		if (m->a->at[i].open)
			m->open[depth++] = (uint32_t)i;
}

static int make_room(struct making *m)
{
	int err = m->a->count < HF_ACTIVATIONS ? 0 : hf_activations_drop(m->a, HF_ACTIVATIONS / 2);

	if (!err && m->a->count == HF_ACTIVATIONS / 2)
		find_open(m);
	return err;
}

static void close_down_to(struct making *m, uint32_t depth, uint64_t ordinal)
{
	while (m->depth > depth) {
		struct hf_activation *at = &m->a->at[m->open[--m->depth]];

		at->end = ordinal;
		at->open = false;
	}
}

/* Whether a node that is seen anew was called since. */
static bool is_called(struct making *m, const struct hf_timeline_stack *stack, uint32_t node)
{
	if (!stack->so_far)
		return true;
	if (m->begun[node] >= stack->so_far[node].calls)
		return false;
	m->begun[node]++;
	return true;
}

static int open_one(struct making *m, const struct hf_timeline_stack *stack, uint32_t node)
{
	int err = make_room(m);

	if (err)
		return err;
	m->nodes[m->depth] = node;
	m->open[m->depth++] = (uint32_t)m->a->count;
	m->a->at[m->a->count++] = (struct hf_activation){
		.begin = stack->ordinal, .node = node, .open = true, .resumed = !is_called(m, stack, node)};
	return 0;
}

/* How many of the open ones go on. The newest may have returned and been called again, by one instruction. */
static uint32_t staying(const struct making *m, const struct hf_timeline_stack *stack)
{
	uint32_t n = 0;

	while (n < m->depth && n < stack->count && m->nodes[n] == stack->nodes[n])
		n++;
	if (stack->so_far && n && n == stack->count && n == m->depth &&
	    stack->so_far[m->nodes[n - 1]].calls > m->begun[m->nodes[n - 1]])
		n--;
	return n;
}

/* The newest one went to a stub: what that reached was called. */
static void reach(struct making *m, const struct hf_timeline_stack *stack)
{
	const uint32_t top = m->depth - 1, stub = m->nodes[top], reached = stack->nodes[top];

	m->begun[stub]--;
	m->begun[reached]++;
	m->nodes[top] = m->a->at[m->open[top]].node = reached;
}

static int put_stack(void *ctx, const struct hf_timeline_stack *stack)
{
	struct making *m = ctx;
	uint32_t depth = staying(m, stack);
	int err = 0;

	m->a->beyond += stack->beyond != 0;
	for (uint32_t i = 0; i < stack->count; i++)
		if (stack->nodes[i] >= m->of->tree->count)
			return HF_ERR_STATE;
	if (stack->so_far && depth + 1 == m->depth && m->depth == stack->count &&
	    stack->so_far[m->nodes[depth]].calls < m->begun[m->nodes[depth]]) {
		reach(m, stack);
		depth++;
	}
	close_down_to(m, depth, stack->ordinal);
	for (uint32_t i = depth; i < stack->count && !err; i++)
		err = open_one(m, stack, stack->nodes[i]);
	return err;
}

static int put_time(void *ctx, uint64_t ordinal, uint64_t time)
{
	return hf_clock_put(&((struct making *)ctx)->a->clock, ordinal, time);
}

int hf_activations_make(const struct hf_profiled *of, struct hf_activations *ret_activations)
{
	struct making *m = calloc(1, sizeof *m);
	const struct hf_timeline_visitor visitor = {.ctx = m, .stack = put_stack, .time = put_time};
	struct hf_activations *a = ret_activations;
	int err = HF_ERR_NOMEM;

	*a = (struct hf_activations){0};
	if (!m)
		return err;
	m->of = of;
	m->a = a;
	a->exact = hf_profile_timeline_is_exact(of);
	m->begun = calloc((size_t)of->tree->count + 1, sizeof *m->begun);
	a->at = malloc(HF_ACTIVATIONS * sizeof *a->at);
	if (m->begun && a->at)
		err = hf_profile_timeline(of, &visitor);
	if (!err) {
		close_down_to(m, 0, of->source->first + of->counts->insns);
		hf_clock_end(&a->clock, of->source->first, of->source->first + of->counts->insns);
	}
	free(m->begun);
	free(m);
	return err;
}

void hf_activations_free(struct hf_activations *activations)
{
	free(activations->at);
	hf_clock_free(&activations->clock);
	*activations = (struct hf_activations){0};
}

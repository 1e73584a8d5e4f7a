/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/profile/activations.h"
#include "fs/profile/course.h"

#include <stdlib.h>

struct making {
	const struct hf_profiled *of;
	struct hf_activations *a;
	uint32_t open[HF_CALL_DEPTH + 1]; /* numbers of those that have not returned, and their nodes */
	uint32_t nodes[HF_CALL_DEPTH + 1];
	uint32_t depth;
	uint64_t *begun; /* of each node, how many of its calls were seen */
};

static bool is_short(const struct hf_activation *at, uint64_t least)
{
	return !at->open && at->end - at->begin < least;
}

void hf_activations_drop(struct hf_activations *activations, uint64_t least)
{
	size_t kept = 0;

	for (size_t i = 0; i < activations->count; i++)
		if (!is_short(&activations->at[i], least))
			activations->at[kept++] = activations->at[i];
	activations->left_out += activations->count - kept;
	activations->count = kept;
	activations->least = least;
}

/* Those that are open are in the order in which they began. */
static void find_open(struct making *m)
{
	uint32_t depth = 0;

	for (size_t i = 0; i < m->a->count && depth < m->depth; i++)
		if (m->a->at[i].open)
			m->open[depth++] = (uint32_t)i;
}

static void make_room(struct making *m)
{
	if (m->a->count < HF_ACTIVATIONS)
		return;
	while (m->a->count > HF_ACTIVATIONS / 2)
		hf_activations_drop(m->a, m->a->least ? 2 * m->a->least : 2);
	find_open(m);
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
static bool is_called(struct making *m, const struct hf_course_stack *stack, uint32_t node)
{
	if (!stack->so_far)
		return true;
	if (m->begun[node] >= stack->so_far[node].calls)
		return false;
	m->begun[node]++;
	return true;
}

static void open_one(struct making *m, const struct hf_course_stack *stack, uint32_t node)
{
	make_room(m);
	m->nodes[m->depth] = node;
	m->open[m->depth++] = (uint32_t)m->a->count;
	m->a->at[m->a->count++] = (struct hf_activation){
		.begin = stack->ordinal, .node = node, .open = true, .resumed = !is_called(m, stack, node)};
}

/* How many of the open ones go on. The newest may have returned and been called again, by one instruction. */
static uint32_t staying(const struct making *m, const struct hf_course_stack *stack)
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
static void reach(struct making *m, const struct hf_course_stack *stack)
{
	const uint32_t top = m->depth - 1, stub = m->nodes[top], reached = stack->nodes[top];

	m->begun[stub]--;
	m->begun[reached]++;
	m->nodes[top] = m->a->at[m->open[top]].node = reached;
}

static int put_stack(void *ctx, const struct hf_course_stack *stack)
{
	struct making *m = ctx;
	uint32_t depth = staying(m, stack);

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
	for (uint32_t i = depth; i < stack->count; i++)
		open_one(m, stack, stack->nodes[i]);
	return 0;
}

static int put_time(void *ctx, uint64_t ordinal, uint64_t time)
{
	return hf_clock_put(&((struct making *)ctx)->a->clock, ordinal, time);
}

int hf_activations_make(const struct hf_profiled *of, struct hf_activations *ret_activations)
{
	struct making *m = calloc(1, sizeof *m);
	const struct hf_course course = {.ctx = m, .stack = put_stack, .time = put_time};
	struct hf_activations *a = ret_activations;
	int err = HF_ERR_NOMEM;

	*a = (struct hf_activations){0};
	if (!m)
		return err;
	m->of = of;
	m->a = a;
	a->exact = hf_profile_course_is_exact(of);
	m->begun = calloc((size_t)of->tree->count + 1, sizeof *m->begun);
	a->at = malloc(HF_ACTIVATIONS * sizeof *a->at);
	if (m->begun && a->at)
		err = hf_profile_course(of, &course);
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

/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/find/stacks.h"
#include "fs/capture/facts.h"

#include <stdlib.h>

int hf_find_stacks_new(const struct hf_find *find, const struct hf_find_source *source,
		       struct hf_find_stacks **ret_stacks)
{
	struct hf_find_stacks *s;
	int err;

	*ret_stacks = NULL;
	if (find->stack == HF_FIND_NO_STACK || find->count)
		return 0;
	s = calloc(1, sizeof *s);
	if (!s)
		return HF_ERR_NOMEM;
	s->find = find;
	s->hart = source->hart;
	s->symbols = hf_find_symbols(source->open, source->hart);
	s->chunks = hf_facts_hart(source->open->facts, source->hart)->info.chunks;
	err = hf_sink_init_memory(&s->text, 0);
	if (err) {
		free(s);
		return err;
	}
	*ret_stacks = s;
	return 0;
}

void hf_find_stacks_free(struct hf_find_stacks *s)
{
	if (!s)
		return;
	hf_stacks_free(s->from);
	hf_sink_fini_memory(&s->text);
	free(s);
}

/* Only where a hart has to be followed from its start there is progress to be seen. */
static bool go_on(void *ctx, uint64_t chunk)
{
	const struct hf_find_stacks *s = ctx;

	if (s->find->progress)
		s->find->progress(s->find->ctx, s->hart, (double)chunk / (double)s->chunks);
	return true;
}

static int open_stacks(struct hf_find_stacks *s, const struct hf_find_source *source)
{
	const struct hf_cursor where = {.stream = source->open->stream,
					.src = source->open->source,
					.index = source->open->index,
					.hart = source->hart};

	return s->from ? 0 : hf_stacks_new(&where, source->summary, &s->from);
}

int hf_find_stacks_make(struct hf_find_stacks *s, const struct hf_find_source *source, const uint64_t *ordinal,
			size_t n)
{
	int err = open_stacks(s, source);

	s->text.p = s->text.start;
	for (size_t k = 0; k < n && !err; k++) {
		const size_t i = s->find->reverse ? n - 1 - k : k;

		s->first[i] = (size_t)(s->text.p - s->text.start);
		err = hf_stacks_at(s->from, ordinal[i], source->summary ? NULL : go_on, s, &s->stack);
		if (!err && s->find->stack == HF_FIND_STACK_JSON)
			hf_stack_put_json(&s->text, &s->stack, s->symbols);
		else if (!err)
			hf_stack_put_lines(&s->text, &s->stack, s->symbols, "#");
		s->end[i] = (size_t)(s->text.p - s->text.start);
		err = err ? err : s->text.err;
	}
	return err;
}

const char *hf_find_stacks_text(const struct hf_find_stacks *s, size_t i, size_t *ret_size)
{
	*ret_size = s->end[i] - s->first[i];
	return (const char *)s->text.start + s->first[i];
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/find/answers.h"

#include "codecs/base/array.h"
#include "codecs/base/errors.h"

#include <stdlib.h>

void hf_answers_fini(struct hf_answers *answers)
{
	free(answers->row);
	*answers = (struct hf_answers){0};
}

/* What is under way. */
struct counting {
	const struct hf_find_ask *ask;
	const struct hf_find_source *source;
	const struct hf_find_plan *plan;
	struct hf_find_reader *reader; /* NULL: chunks need not be decoded */
	struct hf_worker *worker;
	bool any; /* one chunk with answers is enough */
	struct hf_answers *answers;
	size_t room;
};

static int add_row(struct counting *c, uint64_t chunk, uint64_t n)
{
	struct hf_answers *answers = c->answers;
	int err = n ? hf_array_reserve(&answers->row, answers->count + 1, &c->room, sizeof *answers->row) : 0;

	if (err || !n)
		return err;
	answers->row[answers->count++] = (struct hf_answers_row){chunk, answers->total};
	return __builtin_add_overflow(answers->total, n, &answers->total) ? HF_ERR_STATE : 0;
}

static int count_decoded(struct counting *c, uint64_t chunk)
{
	struct hf_find_chunk found;
	uint64_t yes;
	int err = hf_find_chunk(c->reader, chunk, c->worker, &found);

	if (err)
		return err;
	yes = found.items.yes;
	c->answers->unknown += found.items.count - yes;
	hf_find_chunk_fini(&found);
	/* It promised that there are no more. */
	if (c->plan->count && yes > c->plan->count[chunk - c->plan->low])
		return HF_ERR_STATE;
	return add_row(c, chunk, yes);
}

static int count_chunks(struct counting *c)
{
	const struct hf_find_plan *plan = c->plan;
	const struct hf_common *common = c->source->open->capture->common;
	int err = 0;

	for (uint64_t chunk = plan->low; chunk < plan->high && !err; chunk++) {
		if (!hf_find_plan_has(plan, chunk))
			continue;
		if (hf_stopping(common))
			return HF_ERR_CANCELLED;
		err = c->reader ? count_decoded(c, chunk) : add_row(c, chunk, plan->count[chunk - plan->low]);
		if (c->any && (c->answers->total || c->answers->unknown))
			break;
	}
	return err;
}

/* How many instructions the chunks have that may have answers, as far as that is below the limit. */
static int check_limit(const struct counting *c, uint64_t most_insns)
{
	const struct hf_find_plan *plan = c->plan;
	uint64_t insns = 0;
	int err = 0;

	for (uint64_t i = plan->low; i < plan->high && !err; i++) {
		struct hf_chunk chunk;

		if (!hf_find_plan_has(plan, i))
			continue;
		err = hf_index_chunk(c->ask->index, c->ask->hart, i, &chunk);
		insns += err ? 0 : chunk.insns;
		if (!err && insns > most_insns)
			return HF_ERR_WHERE_LIMIT;
	}
	return err;
}

static int decode(struct counting *c, uint64_t most_insns)
{
	int err = check_limit(c, most_insns);

	if (err)
		return err;
	c->reader = calloc(1, sizeof *c->reader);
	if (!c->reader)
		return HF_ERR_NOMEM;
	c->reader->source = c->source;
	err = count_chunks(c);
	hf_find_reader_fini(c->reader);
	free(c->reader);
	c->reader = NULL;
	return err;
}

static int count(struct counting *c, uint64_t most_insns)
{
	struct hf_find_plan plan;
	int err = hf_find_plan_new(c->ask, &plan);

	if (err)
		return err;
	c->plan = &plan;
	*c->answers = (struct hf_answers){0};
	err = plan.count && plan.exact ? count_chunks(c) : decode(c, most_insns);
	hf_find_plan_fini(&plan);
	if (err)
		hf_answers_fini(c->answers);
	return err;
}

int hf_answers_count(const struct hf_find_ask *ask, const struct hf_find_source *source, uint64_t most_insns,
		     struct hf_worker *worker, struct hf_answers *ret_answers)
{
	return count(&(struct counting){.ask = ask, .source = source, .worker = worker, .answers = ret_answers},
		     most_insns);
}

int hf_answers_any(const struct hf_find_ask *ask, const struct hf_find_source *source, struct hf_worker *worker,
		   bool *ret_any)
{
	struct hf_answers answers;
	int err = count(
		&(struct counting){.ask = ask, .source = source, .worker = worker, .any = true, .answers = &answers},
		UINT64_MAX);

	*ret_any = !err && (answers.total || answers.unknown);
	if (!err)
		hf_answers_fini(&answers);
	return err;
}

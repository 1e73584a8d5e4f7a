/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/find/hart_states.h"
#include "fs/bytes/answer.h"
#include "fs/facts/facts.h"
#include "index/summary/summary.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- making ---- */

/* What is made, and how far it may go. */
struct making {
	struct hf_open *open;
	uint32_t hart;
	uint64_t ordinal;
	enum hf_hart_state_form form;
	uint64_t most; /* without a summary: ordinals up to that */
	bool (*go_on)(void *ctx, uint64_t chunk);
	void *ctx;
	struct hf_disasm *disasm;
	struct hf_sink *sink;
};

static int make_with(void *ctx, struct hf_summary *summary)
{
	const struct making *m = ctx;
	struct hf_hart_state *state;
	int err;

	if (!summary && m->ordinal > m->most)
		return HF_ERR_NOT_FOUND;
	err = hf_hart_state_new(m->open, summary, m->hart, m->ordinal, summary ? NULL : m->go_on, m->ctx, &state);
	if (!err)
		err = hf_hart_state_put(state, m->open, m->disasm, m->form, m->sink);
	hf_hart_state_free(state);
	return err;
}

/* ---- those of a mount ---- */

static bool is_wanted(void *ctx, uint64_t chunk)
{
	(void)chunk;
	return !hf_stopping(ctx);
}

static int make(void *ctx, struct hf_open *open, struct hf_worker *worker)
{
	struct hf_hart_state_kept *kept = ctx;
	struct making making = {.open = open,
				.hart = kept->made.hart,
				.ordinal = kept->ordinal,
				.most = HF_HART_STATES_DECODED,
				.go_on = is_wanted,
				.ctx = kept->made.capture->common,
				.disasm = worker->env.disasm,
				.sink = &kept->text};
	int err = hf_sink_init_memory(&kept->text, 0);

	if (!err)
		err = hf_answer_summed(open, make_with, &making);
	kept->made.bytes = sizeof *kept + (size_t)hf_sink_total(&kept->text);
	return err;
}

static bool is_same(const struct hf_made *a, const struct hf_made *b)
{
	return ((const struct hf_hart_state_kept *)a)->ordinal == ((const struct hf_hart_state_kept *)b)->ordinal;
}

static void free_state(struct hf_made *made)
{
	hf_sink_fini_memory(&((struct hf_hart_state_kept *)made)->text);
}

const struct hf_made_kind hf_made_hart_state = {.size = sizeof(struct hf_hart_state_kept),
						.most = HF_HART_STATES_KEPT,
						.most_bytes = HF_HART_STATES_BYTES,
						.is_same = is_same,
						.make = make,
						.free = free_state};

int hf_hart_states_get(struct hf_mades *hart_states, struct hf_capture *capture, const struct hf_facts *facts,
		       uint32_t hart, uint64_t ordinal, struct hf_hart_state_kept **ret_kept)
{
	const struct hf_hart_state_kept key = {.made = {.capture = capture, .version = facts->version, .hart = hart},
					       .ordinal = ordinal};

	return hf_made_get(hart_states, &key.made, (struct hf_made **)ret_kept);
}

/* ---- hartfs state ---- */

struct telling {
	const struct hf_hart_state_ask *ask;
	double chunks; /* up to the one that is asked for */
	struct hf_sink *sink;
	char *why;
	size_t size;
};

static bool tell(void *ctx, uint64_t chunk)
{
	const struct telling *t = ctx;

	if (t->ask->progress)
		t->ask->progress(t->ask->ctx, (double)chunk / t->chunks);
	return true;
}

static int run_opened(void *ctx, struct hf_open *open)
{
	struct telling *t = ctx;
	const struct hf_hart_state_ask *ask = t->ask;
	const struct hf_facts_hart *hart = hf_facts_hart(open->facts, ask->hart);
	struct making making = {.open = open,
				.hart = ask->hart,
				.ordinal = ask->ordinal,
				.form = ask->form,
				.most = UINT64_MAX,
				.go_on = tell,
				.ctx = t,
				.sink = t->sink};
	int err;

	if (!open->stream)
		return HF_ERR_UNSUPPORTED;
	if (!hart)
		snprintf(t->why, t->size, "there is no hart %u", ask->hart);
	else if (ask->ordinal >= hart->info.insns)
		snprintf(t->why, t->size, "hart %u has %llu instructions, from 0 on", ask->hart,
			 (unsigned long long)hart->info.insns);
	if (*t->why)
		return HF_ERR_NOT_FOUND;
	t->chunks = (double)hart->info.chunks;
	err = hf_disasm_new(&making.disasm);
	if (!err)
		err = ask->no_summary ? make_with(&making, NULL) : hf_answer_summed(open, make_with, &making);
	hf_disasm_free(making.disasm);
	return err;
}

int hf_hart_state_run(struct hf_captures *all, const struct hf_hart_state_ask *ask, struct hf_sink *sink, char *why,
		      size_t size)
{
	struct telling t = {.ask = ask, .sink = sink, .why = why, .size = size};

	*why = 0;
	return hf_answer_here(all, ask->path, run_opened, &t, why);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/find/moments.h"

#include "index/summary.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- making ---- */

/* What is made, and how far it may go. */
struct making {
	struct hf_open *open;
	uint32_t hart;
	uint64_t ordinal;
	enum hf_moment_form form;
	bool no_summary;
	uint64_t most; /* without a summary: ordinals up to that */
	bool (*go_on)(void *ctx, uint64_t chunk);
	void *ctx;
};

static int make_with(const struct making *m, struct hf_summary *summary, struct hf_disasm *disasm, struct hf_sink *sink)
{
	struct hf_moment *moment;
	int err;

	if (!summary && m->ordinal > m->most)
		return HF_ERR_NOT_FOUND;
	err = hf_moment_new(m->open, summary, m->hart, m->ordinal, summary ? NULL : m->go_on, m->ctx, &moment);
	if (!err)
		err = hf_moment_put(moment, m->open, disasm, m->form, sink);
	hf_moment_free(moment);
	return err;
}

/* A summary that is damaged is made again when the capture is indexed with one. */
static int make(const struct making *m, struct hf_disasm *disasm, struct hf_sink *sink)
{
	struct hf_summary *summary;
	int err = HF_ERR_STATE;

	if (!m->no_summary && !hf_open_summary(m->open, &summary)) {
		err = make_with(m, summary, disasm, sink);
		if (err == HF_ERR_STATE)
			hf_summary_remove(summary);
		hf_summary_close(summary);
	}
	return err == HF_ERR_STATE ? make_with(m, NULL, disasm, sink) : err;
}

/* ---- those of a mount ---- */

static bool is_wanted(void *ctx, uint64_t chunk)
{
	(void)chunk;
	return !hf_stopping(ctx);
}

static int make_kept(void *ctx, struct hf_open *open, struct hf_worker *worker)
{
	struct hf_moment_kept *kept = ctx;
	const struct making making = {.open = open,
				      .hart = kept->made.hart,
				      .ordinal = kept->ordinal,
				      .most = HF_MOMENTS_DECODED,
				      .go_on = is_wanted,
				      .ctx = kept->made.capture->common};
	int err = hf_sink_init_memory(&kept->text, 0);

	if (!err)
		err = make(&making, worker->env.disasm, &kept->text);
	kept->made.bytes = sizeof *kept + (size_t)hf_sink_total(&kept->text);
	return err ? err : kept->text.err;
}

static bool is_same(const struct hf_made *a, const struct hf_made *b)
{
	return ((const struct hf_moment_kept *)a)->ordinal == ((const struct hf_moment_kept *)b)->ordinal;
}

static void free_kept(struct hf_made *made)
{
	hf_sink_fini_memory(&((struct hf_moment_kept *)made)->text);
}

const struct hf_made_kind hf_made_moment = {.size = sizeof(struct hf_moment_kept),
					    .most = HF_MOMENTS_KEPT,
					    .most_bytes = HF_MOMENTS_BYTES,
					    .is_same = is_same,
					    .make = make_kept,
					    .free = free_kept};

int hf_moments_get(struct hf_mades *moments, struct hf_capture *capture, const struct hf_facts *facts, uint32_t hart,
		   uint64_t ordinal, struct hf_moment_kept **ret_kept)
{
	const struct hf_moment_kept key = {.made = {.capture = capture, .version = facts->version, .hart = hart},
					   .ordinal = ordinal};

	return hf_made_get(moments, &key.made, (struct hf_made **)ret_kept);
}

/* ---- hartfs state ---- */

struct telling {
	const struct hf_moment_ask *ask;
	double chunks; /* up to the one that is asked for */
};

static bool tell(void *ctx, uint64_t chunk)
{
	const struct telling *t = ctx;

	if (t->ask->progress)
		t->ask->progress(t->ask->ctx, (double)chunk / t->chunks);
	return true;
}

static int run_opened(struct hf_open *open, const struct hf_moment_ask *ask, struct hf_sink *sink, char *why,
		      size_t size)
{
	const struct hf_facts_hart *hart = hf_facts_hart(open->facts, ask->hart);
	struct telling t = {.ask = ask, .chunks = hart ? (double)hart->info.chunks : 1};
	const struct making making = {.open = open,
				      .hart = ask->hart,
				      .ordinal = ask->ordinal,
				      .form = ask->form,
				      .no_summary = ask->no_summary,
				      .most = UINT64_MAX,
				      .go_on = tell,
				      .ctx = &t};
	struct hf_disasm *disasm = NULL;
	int err;

	if (!open->stream)
		return HF_ERR_UNSUPPORTED;
	if (!hart)
		snprintf(why, size, "there is no hart %u", ask->hart);
	else if (ask->ordinal >= hart->info.insns)
		snprintf(why, size, "hart %u has %llu instructions, from 0 on", ask->hart,
			 (unsigned long long)hart->info.insns);
	if (*why)
		return HF_ERR_NOT_FOUND;
	err = hf_disasm_new(&disasm);
	if (!err)
		err = make(&making, disasm, sink);
	hf_disasm_free(disasm);
	return err;
}

int hf_moment_run(struct hf_captures *all, const struct hf_moment_ask *ask, struct hf_sink *sink, char *why,
		  size_t size)
{
	struct hf_capture *capture;
	struct hf_open *open;
	int err = hf_capture_at(all, ask->path, &capture);

	*why = 0;
	if (!err)
		err = hf_open_get(capture, capture->version, &open);
	if (err)
		return err;
	err = run_opened(open, ask, sink, why, size);
	/* What there are words for is no fault of the index. */
	if (!*why)
		hf_open_blame(open, err);
	hf_open_put(open);
	return err;
}

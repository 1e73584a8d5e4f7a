/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/find/moments.h"

#include "fs/bytes/answer.h"
#include "index/summary/summary.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- making ---- */

/* What is made, and how far it may go. */
struct making {
	struct hf_open *open;
	uint32_t hart;
	uint64_t ordinal;
	enum hf_moment_form form;
	uint64_t most; /* without a summary: ordinals up to that */
	bool (*go_on)(void *ctx, uint64_t chunk);
	void *ctx;
	struct hf_disasm *disasm;
	struct hf_sink *sink;
};

static int make_with(void *ctx, struct hf_summary *summary)
{
	const struct making *m = ctx;
	struct hf_moment *moment;
	int err;

	if (!summary && m->ordinal > m->most)
		return HF_ERR_NOT_FOUND;
	err = hf_moment_new(m->open, summary, m->hart, m->ordinal, summary ? NULL : m->go_on, m->ctx, &moment);
	if (!err)
		err = hf_moment_put(moment, m->open, m->disasm, m->form, m->sink);
	hf_moment_free(moment);
	return err;
}

/* ---- those of a mount ---- */

struct text {
	struct hf_link used; /* first */
	const struct hf_capture *capture;
	uint64_t version, ordinal;
	uint32_t hart;
	size_t size;
	uint8_t bytes[];
};

void hf_moments_init(struct hf_moments *moments, struct hf_common *common)
{
	*moments = (struct hf_moments){.common = common};
	hf_link_init(&moments->used);
	pthread_mutex_init(&moments->lock, NULL);
}

static void drop(struct hf_moments *moments, struct text *text)
{
	hf_link_remove(&text->used);
	moments->count--;
	moments->bytes -= text->size;
	free(text);
}

void hf_moments_fini(struct hf_moments *moments)
{
	while (!hf_link_none(&moments->used))
		drop(moments, HF_OWNER(moments->used.next, struct text, used));
	pthread_mutex_destroy(&moments->lock);
}

/* The same one, with the lock held; NULL: it is not kept. */
static struct text *find(const struct hf_moments *moments, const struct text *key)
{
	for (struct hf_link *link = moments->used.next; link != &moments->used; link = link->next) {
		struct text *text = HF_OWNER(link, struct text, used);

		if (text->capture == key->capture && text->version == key->version && text->hart == key->hart &&
		    text->ordinal == key->ordinal)
			return text;
	}
	return NULL;
}

static int copy(const struct text *text, uint8_t **ret_text, size_t *ret_size)
{
	*ret_text = malloc(text->size + 1);
	if (!*ret_text)
		return HF_ERR_NOMEM;
	memcpy(*ret_text, text->bytes, text->size);
	*ret_size = text->size;
	return 0;
}

/* Keeps a text, and drops those used longest ago. */
static void keep(struct hf_moments *moments, struct text *text)
{
	HF_LOCKED(&moments->lock);
	if (find(moments, text)) {
		free(text);
		return;
	}
	hf_link_add(&moments->used, &text->used);
	moments->count++;
	moments->bytes += text->size;
	while (moments->count > 1 && (moments->count > HF_MOMENTS_KEPT || moments->bytes > HF_MOMENTS_BYTES))
		drop(moments, HF_OWNER(moments->used.prev, struct text, used));
}

static bool is_wanted(void *ctx, uint64_t chunk)
{
	(void)chunk;
	return !hf_stopping(ctx);
}

static int make(void *ctx, struct hf_open *open, struct hf_worker *worker)
{
	struct making *m = ctx;

	m->open = open;
	m->disasm = worker->env.disasm;
	return hf_answer_summed(open, make_with, m);
}

static int make_text(const struct hf_moments *moments, const struct text *key, struct hf_capture *capture,
		     struct text **ret_text)
{
	struct hf_sink sink;
	struct making m = {.hart = key->hart,
			   .ordinal = key->ordinal,
			   .most = HF_MOMENTS_DECODED,
			   .go_on = is_wanted,
			   .ctx = moments->common,
			   .sink = &sink};
	int err = hf_sink_init_memory(&sink, 0);
	size_t size;

	*ret_text = NULL;
	if (err)
		return err;
	err = hf_answer_run(capture, key->version, make, &m);
	size = (size_t)hf_sink_total(&sink);
	if (!err)
		*ret_text = malloc(sizeof **ret_text + size);
	if (*ret_text) {
		**ret_text = *key;
		(*ret_text)->size = size;
		memcpy((*ret_text)->bytes, sink.start, size);
	}
	hf_sink_fini_memory(&sink);
	return err || *ret_text ? err : HF_ERR_NOMEM;
}

int hf_moments_text(struct hf_moments *moments, struct hf_capture *capture, const struct hf_facts *facts, uint32_t hart,
		    uint64_t ordinal, uint8_t **ret_text, size_t *ret_size)
{
	const struct text key = {.capture = capture, .version = facts->version, .hart = hart, .ordinal = ordinal};
	struct text *text;
	int err;

	pthread_mutex_lock(&moments->lock);
	text = find(moments, &key);
	if (text) {
		hf_link_remove(&text->used);
		hf_link_add(&moments->used, &text->used);
		err = copy(text, ret_text, ret_size);
	}
	pthread_mutex_unlock(&moments->lock);
	if (text)
		return err;
	err = make_text(moments, &key, capture, &text);
	if (err)
		return err;
	err = copy(text, ret_text, ret_size);
	keep(moments, text);
	return err;
}

/* ---- hartfs state ---- */

struct telling {
	const struct hf_moment_ask *ask;
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
	const struct hf_moment_ask *ask = t->ask;
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

int hf_moment_run(struct hf_captures *all, const struct hf_moment_ask *ask, struct hf_sink *sink, char *why,
		  size_t size)
{
	struct telling t = {.ask = ask, .sink = sink, .why = why, .size = size};

	*why = 0;
	return hf_answer_here(all, ask->path, run_opened, &t, why);
}

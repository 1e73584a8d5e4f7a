/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/perf/proof.h"

#include "codecs/base/search.h"
#include "codecs/codec.h"
#include "codecs/ete/errors.h"

#include <stdlib.h>

/* Events that are looked at, of one hart and of all: a fraction of a second. */
#define EVENTS_MAX (UINT64_C(1) << 20)
#define EVENTS_ALL (UINT64_C(1) << 22)

enum { HARTS_MAX = 64, BATCH = 256 };

/* Where an object was mapped; sorted by start, those of one object apart. */
struct span {
	uint64_t start, end;
	uint32_t object;
};

struct proving {
	struct hf_perf_proof *proof;
	struct span *span;
	size_t count;
	uint64_t events; /* of all harts */
	/* The instruction before, and what was told since. */
	const struct span *at;
	uint8_t flow; /* of it, enum hf_flow */
	bool moved, lost;
};

static int by_start(const void *a, const void *b)
{
	const struct span *left = a, *right = b;

	if (left->start != right->start)
		return left->start < right->start ? -1 : 1;
	return left->object < right->object ? -1 : left->object > right->object;
}

/* Leaves those that are wanted. Where two objects overlap nothing can be said of either. */
static void keep_apart(struct proving *p)
{
	size_t kept = 0;
	struct span *last = NULL;

	for (size_t i = 0; i < p->count; i++) {
		const struct span span = p->span[i];

		if (last && span.start < last->end && span.object != last->object)
			p->proof[span.object].shared = p->proof[last->object].shared = true;
		if (last && span.start <= last->end && span.object == last->object) {
			last->end = span.end > last->end ? span.end : last->end;
			continue;
		}
		if (last && span.end <= last->end)
			continue;
		last = &p->span[kept++];
		*last = span;
	}
	p->count = kept;
}

static int find_spans(struct proving *p, const struct hf_perf_maps *maps)
{
	p->span = malloc((maps->event_count + 1) * sizeof *p->span);
	if (!p->span)
		return HF_ERR_NOMEM;
	for (size_t i = 0; i < maps->event_count; i++) {
		const struct hf_perf_event *event = &maps->event[i];

		if (event->kind == HF_PERF_EVENT_MAP)
			p->span[p->count++] = (struct span){event->address, event->address + event->size, event->object};
	}
	qsort(p->span, p->count, sizeof *p->span, by_start);
	keep_apart(p);
	return 0;
}

static const struct span *span_of(const struct proving *p, uint64_t pc)
{
	const size_t n = p->at && pc >= p->at->start && pc < p->at->end ? (size_t)(p->at - p->span) + 1
								       : HF_COUNT_UP_TO(p->span, p->count, start, pc);

	return n && pc < p->span[n - 1].end ? &p->span[n - 1] : NULL;
}

/* Whether the instruction leaves it to the trace where the flow goes on. */
static bool is_open(unsigned flow)
{
	return flow == HF_FLOW_INDIRECT_JUMP || flow == HF_FLOW_INDIRECT_CALL || flow == HF_FLOW_RETURN ||
	       flow == HF_FLOW_TRAP_CALL || flow == HF_FLOW_TRAP_RETURN;
}

/* Whether the program and the trace contradict each other. They do not where the trace goes to code that is missing. */
static bool is_misfit(const struct proving *p, int code)
{
	switch (code) {
	case HF_ERR_ETE_WALK:
	case HF_ERR_ETE_NOT_TAKEN:
	case HF_ERR_ETE_SOURCE_ADDRESS:
	case HF_ERR_ETE_ELSEWHERE: return true;
	case HF_ERR_ETE_NO_ADDRESS: return !p->moved;
	case HF_ERR_ETE_NO_IMAGE: return !p->moved && !is_open(p->flow);
	default: return false;
	}
}

static void take(struct proving *p, const struct hf_event *ev)
{
	if (ev->kind == HF_EVENT_INSN) {
		p->at = span_of(p, ev->insn.pc);
		p->flow = ev->insn.flow;
		p->lost = p->moved = false;
		if (p->at)
			p->proof[p->at->object].branches += ev->insn.flow != HF_FLOW_PLAIN;
	} else if (ev->kind == HF_EVENT_GAP || ev->kind == HF_EVENT_DOUBT || ev->kind == HF_EVENT_NOTE) {
		/* One thing that is wrong is told by more than one event. */
		if (p->at && !p->lost && is_misfit(p, -(int)ev->code))
			p->proof[p->at->object].misfits++;
		p->lost = true;
	} else {
		p->moved = true;
	}
}

static int decode(struct proving *p, const struct hf_stream *stream, struct hf_src *src, uint32_t hart, uint32_t *harts,
		  size_t *count)
{
	struct hf_event ev[BATCH];
	struct hf_dec *dec;
	const uint32_t *seen;
	uint64_t events = 0;
	size_t n;
	int err = hf_dec_new(stream, src, hart, &dec);

	if (err)
		return hf_err_is_passing(err) ? err : 0;
	p->at = NULL;
	p->lost = true;
	while (events < EVENTS_MAX && p->events < EVENTS_ALL && !(err = hf_dec_next(dec, ev, BATCH, &n))) {
		for (size_t i = 0; i < n; i++)
			take(p, &ev[i]);
		events += n;
		p->events += n;
	}
	seen = hf_dec_harts(dec, &n);
	for (size_t i = 0; i < n && *count < HARTS_MAX; i++) {
		size_t k = 0;

		while (k < *count && harts[k] != seen[i])
			k++;
		if (k == *count)
			harts[(*count)++] = seen[i];
	}
	hf_dec_free(dec);
	return err < 0 && hf_err_is_passing(err) ? err : 0;
}

int hf_perf_prove(const struct hf_codec *codec, const struct hf_setup *setup, struct hf_src *stream,
		  const struct hf_perf_maps *maps, struct hf_perf_proof *proof)
{
	struct proving p = {.proof = proof};
	uint32_t harts[HARTS_MAX];
	size_t count = 1;
	struct hf_stream *opened = NULL;
	int err = find_spans(&p, maps);

	if (!err)
		err = hf_stream_open(codec, stream, setup, &opened, NULL);
	if (!err) {
		harts[0] = opened->info.first_hart;
		for (size_t i = 0; i < count && !err; i++)
			err = decode(&p, opened, stream, harts[i], harts, &count);
		hf_stream_close(opened);
	} else if (!hf_err_is_passing(err)) {
		err = 0;
	}
	free(p.span);
	return err;
}

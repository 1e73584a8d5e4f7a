/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The runs of a hart (index/summary/run.h): each instruction of its events is in them once, with its opcode, and what
 * they say of how they begin and end. Where chunks cut them makes no other difference than the pieces.
 */
#include "index/summary/run.h"
#include "tests/codec/loops.h"

/* 0: the hart is one chunk. The pieces of small ones are what is compared with it. */
static const uint64_t chunk_insns[] = {0, 1, 7, 1000, 16384};

struct joiner {
	const struct hf_events *all;
	size_t at; /* the next event that is to be in a run */
	/* the run at hand, its pieces put together */
	struct hf_run_key key;
	uint64_t insns;
	bool any;
	/* of all that are complete */
	uint64_t sum, runs, total;
};

static uint64_t mix(uint64_t sum, uint64_t value)
{
	sum = (sum ^ value) * UINT64_C(0x9e3779b97f4a7c15);
	return sum ^ sum >> 29;
}

/* A cut hides how a run ended, unless a transfer did. */
static void complete(struct joiner *j)
{
	if (!j->any)
		return;
	j->sum = mix(mix(mix(j->sum, j->key.first), j->key.last), j->insns);
	j->sum = mix(j->sum, (uint64_t)j->key.context << 32 | (uint64_t)j->key.mode << 24 | (uint64_t)j->key.isa << 16 |
				     (uint64_t)j->key.entered << 8 | (j->key.ended == HF_ENDED_TAKEN));
	j->runs++;
	j->any = false;
}

static const struct hf_event *next_insn(struct joiner *j)
{
	while (j->at < j->all->n && j->all->ev[j->at].kind != HF_EVENT_INSN)
		j->at++;
	CHECK(j->at < j->all->n);
	return &j->all->ev[j->at++];
}

/* That its instructions are the next ones of the hart, by brute force. */
static void check_code(struct joiner *j, const struct hf_run *run)
{
	uint32_t at = 0, opcode;
	uint64_t pc = run->key.first, hash = 0;

	CHECK(run->insns >= 1 && run->insns <= HF_RUN_INSNS);
	for (uint32_t i = 0; i < run->insns; i++) {
		const struct hf_event *ev = next_insn(j);
		const unsigned size = hf_run_opcode(run, at, &opcode);

		CHECK(size);
		CHECK_EQ(ev->insn.pc, pc);
		CHECK_EQ(ev->insn.opcode, opcode);
		CHECK_EQ(ev->insn.mode, run->key.mode);
		CHECK_EQ(ev->insn.isa, run->key.isa);
		/* Every transfer ends its run. */
		if (i + 1 < run->insns)
			CHECK(!(ev->flags & (HF_EVF_TAKEN | HF_EVF_OPEN)));
		else
			CHECK_EQ(pc, run->key.last);
		at += size;
		pc += ev->insn.size;
		hash = (hash + opcode) * UINT64_C(0x9e3779b97f4a7c15);
	}
	CHECK_EQ(at, run->bytes);
	/* One run has one hash, however it was put together. */
	if (run->key.isa != HF_ISA_T32)
		CHECK_EQ(run->hash, hash);
}

static bool continues(const struct joiner *j, const struct hf_run *run)
{
	return j->any && j->key.ended == HF_ENDED_LIMIT && run->key.entered == HF_ENTERED_SEQUENCE &&
	       run->key.mode == j->key.mode && run->key.isa == j->key.isa && run->key.context == j->key.context;
}

static int take(void *ctx, const struct hf_run *run)
{
	struct joiner *j = ctx;

	check_code(j, run);
	j->total += run->insns;
	if (continues(j, run)) {
		j->insns += run->insns;
		j->key.last = run->key.last;
		j->key.ended = run->key.ended;
	} else {
		complete(j);
		j->key = run->key;
		j->insns = run->insns;
		j->any = true;
	}
	if (run->key.ended != HF_ENDED_LIMIT)
		complete(j);
	return 0;
}

/* Up to the end of a chunk: behind the attachments of its last instruction, as chunks are cut. */
static size_t chunk_end(const struct hf_events *all, size_t from, uint64_t insns)
{
	uint64_t n = 0;
	size_t i = from;

	for (; insns && i < all->n; i++)
		if (hf_event_is_instruction(&all->ev[i]) && n == insns)
			break;
		else
			n += all->ev[i].kind == HF_EVENT_INSN;
	return insns ? i : all->n;
}

/* known: it is told of stretches. */
static struct joiner cut(const struct hf_events *all, uint64_t insns, bool known)
{
	static struct hf_stretch stretch[4096 / 2];
	const size_t step = known ? 4096 : 61;
	struct joiner j = {.all = all};
	struct hf_run_cutter *cutter;
	struct hf_stretch_finder *finder;

	CHECK_EQ(hf_run_cutter_new(take, &j, &cutter), 0);
	CHECK_EQ(hf_stretch_finder_new(false, &finder), 0);
	for (size_t at = 0, chunk; at < all->n; at = chunk) {
		chunk = chunk_end(all, at, insns);
		/* In parts, as they come. */
		for (size_t n; at < chunk; at += n) {
			size_t count;

			n = chunk - at < step ? chunk - at : step;
			count = known ? hf_stretch_find(finder, all->ev + at, n, stretch) : 0;
			CHECK_EQ(hf_run_cutter_put_known(cutter, all->ev + at, n, stretch, count), 0);
		}
		CHECK_EQ(hf_run_cutter_cut(cutter), 0);
	}
	complete(&j);
	hf_stretch_finder_free(finder);
	hf_run_cutter_free(cutter);
	return j;
}

static void check_hart(const struct sample *s, uint32_t hart)
{
	struct hf_events all = sample_all(s, hart, 512);
	const struct joiner whole = cut(&all, 0, false);

	CHECK_EQ(whole.total, sample_insns(&all));
	for (size_t i = 1; i < 2 * sizeof chunk_insns / sizeof *chunk_insns; i++) {
		const uint64_t insns = chunk_insns[i / 2];
		const struct joiner parts = cut(&all, insns, i % 2);

		sample_about("%s hart %u, chunks of %llu%s", s->name, hart, (unsigned long long)insns,
			     i % 2 ? ", with stretches" : "");
		CHECK_EQ(parts.total, whole.total);
		CHECK_EQ(parts.runs, whole.runs);
		CHECK_EQ(parts.sum, whole.sum);
	}
	hf_events_free(&all);
}

static void check(struct sample *s)
{
	for (size_t h = 0; h < s->hart_count; h++)
		check_hart(s, s->harts[h]);
}

void loop_runs(struct samples *all)
{
	samples_each(all, check);
}

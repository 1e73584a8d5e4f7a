/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two harts of any events, and where they differ: what lies between two differences is equal, instruction by
 * instruction, each difference begins with one, and there is none only if both did the same. Stretches are compared by
 * the sums that the index has, too, however chunks are cut.
 *
 * Input: flags; how short a stretch is that is compared one by one; events of a chunk, of either; how many events the
 * first has, and these; then the second: a number below 128, and from where so many events are the first's, or 255 and
 * an event.
 */
#define hf_index_chunk_of find_chunk
#define hf_cursor_enter enter_chunk
#define hf_cursor_seek seek_instruction
#define hf_cursor_take take_events
#define hf_cursor_advance next_chunk
#define hf_cursor_fini end_cursor
#define hf_index_image get_image
#define hf_image_refuses refuse_image
#include "fs/diff/run.c"
#include "fs/diff/search.c"
#include "fs/diff/side.c"

#include "tests/lib/fuzz.h"
#include "tests/lib/fuzzevents.h"

enum { EVENTS = 2000, HEAD = 5, ACCESSES = 1 };

struct hart {
	struct hf_event ev[EVENTS];
	uint64_t insn[EVENTS];	      /* the events that retired */
	uint64_t before[EVENTS + 1];  /* of each how many retired before it */
	struct hf_prefix_digest sum[EVENTS]; /* before each chunk */
	size_t count, insns, chunk;
};

static struct hart harts[2];

/* ---- in the place of the index and the decoder ---- */

static struct hart *hart_of(struct hf_index *index)
{
	return (struct hart *)(void *)index;
}

/* An entry is no use here, and large. */
HF_NO_COVERAGE static int get_chunk(const struct hart *h, uint64_t number, struct hf_chunk *ret_chunk)
{
	const size_t first = (size_t)number * h->chunk, end = first + h->chunk < h->count ? first + h->chunk : h->count;

	if (first >= h->count)
		return HF_ERR_STATE;
	ret_chunk->number = number;
	ret_chunk->ordinal = h->before[first];
	ret_chunk->insns = h->before[end] - h->before[first];
	ret_chunk->events = end - first;
	ret_chunk->stream_offset = first;
	ret_chunk->before = h->sum[number];
	ret_chunk->last = end == h->count;
	return 0;
}

HF_NO_COVERAGE static void make_chunks(struct hart *h)
{
	struct hf_prefix_digester digester;

	hf_prefix_digester_begin(&digester, &hf_prefix_digest_none, 0);
	h->before[0] = 0;
	for (size_t i = 0; i < h->count; i++) {
		if (i % h->chunk == 0)
			h->sum[i / h->chunk] = hf_prefix_digester_end(&digester);
		hf_prefix_digester_put(&digester, &h->ev[i], 1);
		h->before[i + 1] = h->before[i] + (h->ev[i].kind == HF_EVENT_INSN);
	}
}

/* Of no hart the code is known: they may meet anywhere. */
int get_image(struct hf_index *index, uint32_t hart, struct hf_image **ret_image)
{
	(void)index, (void)hart;
	*ret_image = NULL;
	return 0;
}

bool refuse_image(const struct hf_image *image, char *why, size_t size)
{
	(void)image, (void)why, (void)size;
	return true;
}

int find_chunk(struct hf_index *index, uint32_t hart, uint64_t ordinal, struct hf_chunk *ret_chunk)
{
	const struct hart *h = hart_of(index);

	(void)hart;
	return ordinal < h->insns ? get_chunk(h, h->insn[ordinal] / h->chunk, ret_chunk) : HF_ERR_STATE;
}

int enter_chunk(struct hf_cursor *c, uint64_t number, struct hf_diag *diag)
{
	int err = get_chunk(hart_of(c->index), number, &c->chunk);

	(void)diag;
	c->left = c->chunk.events;
	return err;
}

int take_events(struct hf_cursor *c, struct hf_event *ev, uint64_t max, size_t *ret_n, struct hf_diag *diag)
{
	(void)diag;
	*ret_n = (size_t)(max < c->left ? max : c->left);
	memcpy(ev, hart_of(c->index)->ev + c->chunk.stream_offset + c->chunk.events - c->left, *ret_n * sizeof *ev);
	c->left -= *ret_n;
	return *ret_n ? 0 : HF_ERR_MISMATCH;
}

int seek_instruction(struct hf_cursor *c, uint64_t ordinal, struct hf_event *ret_insn, struct hf_diag *diag)
{
	int err = find_chunk(c->index, c->hart, ordinal, &c->chunk);

	(void)diag;
	if (err)
		return err;
	*ret_insn = hart_of(c->index)->ev[hart_of(c->index)->insn[ordinal]];
	c->left = c->chunk.stream_offset + c->chunk.events - hart_of(c->index)->insn[ordinal] - 1;
	return 0;
}

int next_chunk(struct hf_cursor *c, struct hf_diag *diag)
{
	return c->chunk.last ? HF_NOTE_END : enter_chunk(c, c->chunk.number + 1, diag);
}

void end_cursor(struct hf_cursor *c)
{
	(void)c;
}

/* ---- what must hold ---- */

struct told {
	uint64_t at[2]; /* behind the last difference and what is equal there */
	uint64_t parts;
	bool first, last, accesses;
};

HF_NO_COVERAGE static bool same_code(uint64_t a, uint64_t b)
{
	const struct hf_event *x = &harts[0].ev[harts[0].insn[a]], *y = &harts[1].ev[harts[1].insn[b]];

	return x->insn.pc == y->insn.pc && x->insn.opcode == y->insn.opcode && x->insn.size == y->insn.size &&
	       x->insn.isa == y->insn.isa;
}

HF_NO_COVERAGE static void check_equal(struct told *told, uint64_t count)
{
	MUST(count <= harts[0].insns - told->at[0] && count <= harts[1].insns - told->at[1]);
	for (uint64_t i = 0; i < count; i++)
		MUST(same_code(told->at[0]++, told->at[1]++));
}

static bool take_part(void *ctx, const struct hf_diff_part *part)
{
	struct told *told = ctx;

	MUST(!told->last && part->count[0] + part->count[1]);
	if (!told->parts++)
		check_equal(told, part->ordinal[0]);
	for (unsigned i = 0; i < 2; i++)
		MUST(part->ordinal[i] == told->at[i] && part->count[i] <= harts[i].insns - told->at[i]);
	if (part->kind == HF_DIFF_ACCESS) {
		MUST(told->accesses && part->count[0] == part->count[1]);
		check_equal(told, part->count[0]);
	} else {
		MUST(told->at[0] == harts[0].insns || told->at[1] == harts[1].insns ||
		     !same_code(told->at[0], told->at[1]));
		for (unsigned i = 0; i < 2; i++)
			told->at[i] += part->count[i];
	}
	check_equal(told, part->same);
	told->last = part->last;
	return true;
}

static void run(unsigned flags, uint64_t look)
{
	static struct hf_stream stream;
	struct told told = {.accesses = flags & ACCESSES};
	const struct hf_diff diff = {
		.accesses = told.accesses, .limit = UINT64_MAX, .look = look, .ctx = &told, .part = take_part};
	struct hf_diff_told ret = {.insns = {harts[0].insns, harts[1].insns}};
	static struct hf_open open[2];
	char why[256];
	struct differ d = {.diff = &diff, .told = &ret, .why = why, .size = sizeof why, .pair.diff = &diff};
	int err = 0;

	for (unsigned i = 0; i < 2; i++) {
		open[i].index = (struct hf_index *)(void *)&harts[i];
		open[i].stream = &stream;
		d.pair.side[i].open = &open[i];
		d.pair.side[i].insns = harts[i].insns;
		d.pair.side[i].accesses = diff.accesses;
	}
	if (diff.accesses)
		err = look_at_accesses(&d);
	MUST(!err || err == HF_ERR_UNSUPPORTED);
	if (!err) {
		MUST(!compare(&d));
		if (!told.parts)
			check_equal(&told, harts[0].insns);
		MUST(told.parts == ret.parts && told.at[0] == harts[0].insns && told.at[1] == harts[1].insns);
	}
	for (unsigned i = 0; i < 2; i++)
		hf_diff_side_fini(&d.pair.side[i]);
}

static void add(struct hart *h, const struct hf_event *ev)
{
	if (h->count == EVENTS)
		return;
	if (ev->kind == HF_EVENT_INSN)
		h->insn[h->insns++] = h->count;
	h->ev[h->count++] = *ev;
}

static void make_second(const uint8_t *p, const uint8_t *end)
{
	uint64_t pc = 0;

	while (end - p >= 2) {
		if (*p < 128) {
			for (size_t i = 0; i < *p && i + p[1] < harts[0].count; i++)
				add(&harts[1], &harts[0].ev[i + p[1]]);
			p += 2;
		} else if (end - p > HF_FUZZ_EVENT_BYTES) {
			const struct hf_event ev = hf_fuzz_event(p + 1, &pc);

			add(&harts[1], &ev);
			p += 1 + HF_FUZZ_EVENT_BYTES;
		} else {
			break;
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	const uint8_t *p = bytes + HEAD, *end = bytes + n;
	uint64_t pc = 0;

	if (n < HEAD || n > 2048)
		return 0;
	for (unsigned i = 0; i < 2; i++) {
		harts[i].count = harts[i].insns = 0;
		harts[i].chunk = 1 + bytes[2 + i];
	}
	for (unsigned i = 0; i < bytes[4] && end - p >= HF_FUZZ_EVENT_BYTES; i++, p += HF_FUZZ_EVENT_BYTES) {
		const struct hf_event ev = hf_fuzz_event(p, &pc);

		add(&harts[0], &ev);
	}
	make_second(p, end);
	make_chunks(&harts[0]);
	make_chunks(&harts[1]);
	run(bytes[0], 1 + bytes[1] % 64);
	return 0;
}

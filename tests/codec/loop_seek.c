/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A decoder that is entered by a state goes on exactly as the one that gave it: at every event boundary, whatever was in
 * its memory before, whatever it did before, also after it refused a state. A state is the same bytes each time it is
 * saved.
 */
#include "tests/codec/loops.h"

#include <malloc.h>

/* In musl there is nothing to set, and memory is as it comes. */
#ifndef M_PERTURB
#define mallopt(what, value) (void)(value)
#endif

#define COMPARED 60  /* events behind an entry, */
#define ALL_EVERY 97 /* but everything behind one in so many */
#define FILLED_EVERY 8 /* so often a new decoder's memory is filled: that is most of what the loop costs */

static size_t save(struct hf_dec *dec, uint8_t *blob, uint64_t *ret_discard)
{
	uint8_t again[HF_STATE_MAX + 1];
	size_t size;

	memset(blob, 0, HF_STATE_MAX);
	memset(again, 0xa5, sizeof again);
	size = hf_dec_save(dec, blob, ret_discard);
	CHECK(size && size <= HF_STATE_MAX);
	CHECK_EQ(hf_dec_save(dec, again, ret_discard), size);
	CHECK(memcmp(blob, again, size) == 0);
	CHECK_EQ(again[size], 0xa5);
	return size;
}

/* From event at on, count of them. */
static void check_from(struct hf_dec *dec, const struct hf_events *all, size_t at, size_t count, size_t batch)
{
	struct hf_event ev[64];
	size_t n;

	for (const size_t end = count < all->n - at ? at + count : all->n; at < end; at += n) {
		CHECK_EQ(hf_dec_next(dec, ev, batch < end - at ? batch : end - at, &n), 0);
		CHECK(memcmp(ev, &all->ev[at], n * sizeof *ev) == 0);
	}
	if (at == all->n)
		CHECK_EQ(hf_dec_next(dec, ev, 1, &n), HF_NOTE_END);
}

/* A state that is cut short is refused, or is one of some place. */
static void check_short(struct hf_dec *dec, const uint8_t *blob, size_t size)
{
	struct hf_event ev[64];
	size_t n;

	for (size_t k = 0; k < size; k++) {
		int err = hf_dec_load(dec, blob, k, 0);

		CHECK(!err || err == HF_ERR_STATE);
		for (unsigned i = 0; !err && i < 100; i++)
			err = hf_dec_next(dec, ev, 64, &n);
		CHECK(err >= 0 || hf_err_class(err) != HF_CLASS_bug);
	}
}

static struct hf_dec *fresh(const struct sample *s, uint32_t hart, int poison)
{
	struct hf_dec *dec;

	/* glibc fills what it gives with the complement. */
	mallopt(M_PERTURB, poison); /* 0: with what is there */
	CHECK_EQ(hf_dec_new(s->stream, s->src, hart, &dec), 0);
	mallopt(M_PERTURB, 0);
	return dec;
}

static void check_hart(const struct sample *s, uint32_t hart)
{
	struct hf_events all = sample_all(s, hart, 61);
	struct hf_dec *dec = fresh(s, hart, 0), *used = fresh(s, hart, 0xff);
	const size_t step = sample_step(all.n, 4000, 300 + all.n / 20);
	uint8_t blob[HF_STATE_MAX];
	uint64_t discard;

	for (size_t i = 0; i <= all.n; i++) {
		struct hf_event ev;
		size_t n;

		if (i % step == 0 || i == all.n) {
			size_t size = save(dec, blob, &discard);
			const int poison = i / step % FILLED_EVERY ? 0 : i % 2 ? 0x5a : 0xff;
			struct hf_dec *other = fresh(s, hart, poison);

			sample_about("%s hart %u, event %zu of %zu", s->name, hart, i, all.n);
			if (i / step % 16 == 0)
				check_short(used, blob, size);
			CHECK_EQ(hf_dec_load(other, blob, size, discard), 0);
			check_from(other, &all, i, COMPARED, 1 + i % 64);
			hf_dec_free(other);
			CHECK_EQ(hf_dec_load(used, blob, size, discard), 0);
			/* What was entered can be left at once. */
			size = save(used, blob, &discard);
			CHECK_EQ(hf_dec_load(used, blob, size, discard), 0);
			check_from(used, &all, i, i / step % ALL_EVERY ? COMPARED : all.n, 1 + i % 61);
		}
		if (i == all.n)
			break;
		CHECK_EQ(hf_dec_next(dec, &ev, 1, &n), 0);
		CHECK(memcmp(&ev, &all.ev[i], sizeof ev) == 0);
	}
	hf_dec_free(dec);
	hf_dec_free(used);
	hf_events_free(&all);
}

static void check(struct sample *s)
{
	for (size_t h = 0; h < s->hart_count; h++)
		check_hart(s, s->harts[h]);
}

void loop_seek(struct samples *all)
{
	/* Decoders come and go: what they leave is used again, and is not the kernel's zeros. */
	mallopt(M_MMAP_THRESHOLD, 1 << 25);
	mallopt(M_TRIM_THRESHOLD, 1 << 28);
	samples_each(all, check);
}

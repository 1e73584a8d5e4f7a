/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of a summary: what is coded is read again, from front to end and from anywhere, and no bytes make it go wrong.
 */
#include "index/summary/list.h"
#include "tests/lib/check.h"
#include "tests/lib/walk.h"

enum { MOST = 3000 };

static struct hf_posting all[MOST];

/* n postings; gaps and counts up to 1 << shift, of which most are small. */
static struct hf_list_facts make(size_t n, unsigned shift, uint64_t *seed)
{
	struct hf_list_facts facts = {.postings = n, .first = 5};
	uint64_t chunk = 5;

	for (size_t i = 0; i < n; i++) {
		chunk += hf_rand_next(seed) % (1u << hf_rand_next(seed) % (shift + 1));
		all[i].chunk = chunk++;
		all[i].count = 1 + hf_rand_next(seed) % (1u << hf_rand_next(seed) % (shift + 1));
		facts.total += all[i].count;
	}
	facts.end = chunk;
	return facts;
}

static void write_all(struct hf_list_writer *w, const struct hf_list_facts *facts)
{
	hf_list_begin(w, facts, all[facts->postings - 1].chunk);
	for (size_t i = 0; i < facts->postings; i++)
		CHECK_EQ(hf_list_add(w, &all[i]), 0);
	CHECK_EQ(hf_list_end(w), 0);
}

static void check_all(const struct hf_list_writer *w, const struct hf_list_facts *facts)
{
	struct hf_posting posting;
	struct hf_list list;

	CHECK_EQ(hf_list_open(&list, w->out.p, w->out.n, facts), 0);
	for (size_t i = 0; i < facts->postings; i++) {
		CHECK_EQ(hf_list_next(&list, &posting), 0);
		CHECK_EQ(posting.chunk, all[i].chunk);
		CHECK_EQ(posting.count, all[i].count);
	}
	CHECK_EQ(hf_list_next(&list, &posting), HF_NOTE_END);
}

/* In pieces of every size that matters: within a block, its end, more than there is. */
static void check_take(const struct hf_list_writer *w, const struct hf_list_facts *facts, size_t max)
{
	static struct hf_posting posting[MOST];
	struct hf_list list;
	size_t n, at = 0;

	CHECK_EQ(hf_list_open(&list, w->out.p, w->out.n, facts), 0);
	while (at < facts->postings) {
		CHECK_EQ(hf_list_take(&list, posting, max, &n), 0);
		CHECK_EQ(n, max < facts->postings - at ? max : facts->postings - at);
		for (size_t i = 0; i < n; i++, at++) {
			CHECK_EQ(posting[i].chunk, all[at].chunk);
			CHECK_EQ(posting[i].count, all[at].count);
		}
	}
	CHECK_EQ(hf_list_take(&list, posting, max, &n), HF_NOTE_END);
}

static void check_single(void)
{
	struct hf_list_facts facts = {.postings = 1, .total = 7, .first = 5, .end = 10};
	struct hf_posting posting;
	struct hf_list list;
	uint64_t before;

	CHECK_EQ(hf_list_open_single(&list, 9, &facts), 0);
	CHECK_EQ(hf_list_nth(&list, 6, &posting, &before), 0);
	CHECK_EQ(posting.chunk, 9);
	CHECK_EQ(posting.count, 7);
	CHECK_EQ(before, 0);
	CHECK_EQ(hf_list_next(&list, &posting), HF_NOTE_END);
	CHECK_EQ(hf_list_open_single(&list, 8, &facts), 0);
	CHECK_EQ(hf_list_seek(&list, 9, &posting), HF_NOTE_END);
	CHECK_EQ(hf_list_open_single(&list, 10, &facts), HF_ERR_STATE);
	CHECK_EQ(hf_list_open_single(&list, 4, &facts), HF_ERR_STATE);
	facts.total = 0;
	CHECK_EQ(hf_list_open_single(&list, 9, &facts), HF_ERR_STATE);
}

static void check_seek(const struct hf_list_writer *w, const struct hf_list_facts *facts, uint64_t chunk, size_t from)
{
	struct hf_posting posting;
	struct hf_list list;
	size_t want = from;

	CHECK_EQ(hf_list_open(&list, w->out.p, w->out.n, facts), 0);
	for (size_t i = 0; i < from; i++)
		CHECK_EQ(hf_list_next(&list, &posting), 0);
	while (want < facts->postings && all[want].chunk < chunk)
		want++;
	if (want == facts->postings) {
		CHECK_EQ(hf_list_seek(&list, chunk, &posting), HF_NOTE_END);
		return;
	}
	CHECK_EQ(hf_list_seek(&list, chunk, &posting), 0);
	CHECK_EQ(posting.chunk, all[want].chunk);
	CHECK_EQ(posting.count, all[want].count);
}

static void check_nth(const struct hf_list_writer *w, const struct hf_list_facts *facts, uint64_t n)
{
	struct hf_posting posting;
	struct hf_list list;
	uint64_t before, sum = 0;
	size_t want = 0;

	CHECK_EQ(hf_list_open(&list, w->out.p, w->out.n, facts), 0);
	for (; want < facts->postings && sum + all[want].count <= n; want++)
		sum += all[want].count;
	if (want == facts->postings) {
		CHECK_EQ(hf_list_nth(&list, n, &posting, &before), HF_NOTE_END);
		return;
	}
	CHECK_EQ(hf_list_nth(&list, n, &posting, &before), 0);
	CHECK_EQ(posting.chunk, all[want].chunk);
	CHECK_EQ(before, sum);
}

/* Any bytes: an end or an error, and never more than what the facts say. */
static void check_damaged(const struct hf_list_writer *w, const struct hf_list_facts *facts, uint64_t *seed)
{
	const size_t n = hf_rand_next(seed) % (w->out.n + 1);
	uint8_t *bytes = malloc(n + 1);
	struct hf_posting posting;
	struct hf_list list;
	uint64_t sum = 0;
	int err;

	memcpy(bytes, w->out.p, n);
	for (unsigned i = hf_rand_next(seed) % 4; n && i; i--)
		bytes[hf_rand_next(seed) % n] ^= (uint8_t)(1u << hf_rand_next(seed) % 8);
	err = hf_list_open(&list, bytes, n, facts);
	for (uint64_t chunk = facts->first; !err; chunk = posting.chunk + 1) {
		err = hf_rand_next(seed) % 8 ? hf_list_next(&list, &posting) : hf_list_seek(&list, chunk + 9, &posting);
		if (err)
			break;
		CHECK(posting.chunk >= chunk && posting.chunk < facts->end && posting.count);
		sum += posting.count;
		CHECK(sum <= facts->total);
	}
	CHECK(err == HF_NOTE_END || err == HF_ERR_STATE);
	free(bytes);
}

int main(void)
{
	static const size_t sizes[] = {1, 2, 3, 127, 128, 129, 255, 256, 257, 1000, MOST};
	struct hf_list_writer w = {0};
	uint64_t seed = 1;

	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
		for (unsigned shift = 0; shift < 31; shift += 3) {
			const struct hf_list_facts facts = make(sizes[i], shift, &seed);

			write_all(&w, &facts);
			check_all(&w, &facts);
			check_take(&w, &facts, 100);
			check_take(&w, &facts, 128);
			check_take(&w, &facts, MOST);
			for (int k = 0; k < 40; k++) {
				const uint64_t r = (uint64_t)hf_rand_next(&seed) << 20 ^ hf_rand_next(&seed);

				check_seek(&w, &facts, r % (facts.end + 3), r % sizes[i]);
				check_nth(&w, &facts, r % (facts.total + 3));
				check_damaged(&w, &facts, &seed);
			}
		}
	check_single();
	hf_list_writer_fini(&w);
	return 0;
}

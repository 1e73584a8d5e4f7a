/* SPDX-License-Identifier: Apache-2.0 */
/* The return stack: what is kept, in which order it comes back, and that it is saved and loaded as it is. */
#include "codecs/walk/return_stack.h"
#include "tests/lib/check.h"
#include "tests/lib/walk.h"

#define SIZE 16

static uint64_t room[3][SIZE];
static uint16_t repeats[3][SIZE];

static struct hf_return_stack make(unsigned i, uint32_t limit)
{
	struct hf_return_stack s;

	hf_return_stack_init(&s, room[i], SIZE, limit);
	return s;
}

static void check_pops(struct hf_return_stack *s, uint64_t want)
{
	uint64_t got = 0;

	CHECK(hf_return_stack_pop(s, &got));
	CHECK_EQ(got, want);
}

/* More calls than it keeps, often enough to go round the ring. */
static void test_overflow(void)
{
	for (uint32_t limit = 1; limit <= SIZE; limit++)
		for (uint32_t calls = 0; calls < 3 * SIZE; calls++) {
			struct hf_return_stack s = make(0, limit);
			uint64_t address;

			for (uint32_t i = 0; i < calls; i++)
				hf_return_stack_push(&s, 2 * i);
			CHECK_EQ(s.depth, calls < limit ? calls : limit);
			for (uint32_t i = calls; i > 0 && i + limit > calls; i--)
				check_pops(&s, 2 * (i - 1));
			CHECK(!hf_return_stack_pop(&s, &address));
		}
}

static void test_none(void)
{
	struct hf_return_stack s = make(0, 0);
	uint64_t address;

	hf_return_stack_push(&s, 4);
	CHECK_EQ(s.depth, 0);
	CHECK(!hf_return_stack_pop(&s, &address));
	CHECK(!hf_return_stack_take(&s, 4));
}

static void test_take(void)
{
	struct hf_return_stack s = make(0, 15);

	hf_return_stack_push(&s, 4);
	hf_return_stack_push(&s, 8);
	CHECK(!hf_return_stack_take(&s, 4));
	CHECK(hf_return_stack_take(&s, 8));
	CHECK(hf_return_stack_take(&s, 4));
	CHECK_EQ(s.depth, 0);
	hf_return_stack_push(&s, 4);
	hf_return_stack_clear(&s);
	CHECK(!hf_return_stack_take(&s, 4));
}

/* Direct recursion takes one entry, up to a number of calls. */
static void test_repeats(void)
{
	struct hf_return_stack s = make(0, 4);

	s.repeat = repeats[0];
	s.repeat_max = 3;
	hf_return_stack_push(&s, 8);
	for (unsigned i = 0; i < 5; i++)
		hf_return_stack_push(&s, 4);
	CHECK_EQ(s.depth, 3); /* 8, 4 four times, 4 once more */
	for (unsigned i = 0; i < 5; i++)
		check_pops(&s, 4);
	check_pops(&s, 8);
	CHECK_EQ(s.depth, 0);
}

/* A trace unit that only counts. */
static void test_counts(void)
{
	struct hf_return_stack s;

	hf_return_stack_init(&s, NULL, 1u << 16, 1u << 16);
	for (unsigned i = 0; i < 1u << 17; i++)
		hf_return_stack_push(&s, i);
	CHECK_EQ(s.depth, 1u << 16);
	hf_return_stack_drop(&s);
	CHECK_EQ(s.depth, (1u << 16) - 1);
}

/* As many as fit some bytes of a state: the same ones whether it was saved and loaded in between or not. */
static void test_bytes(void)
{
	struct hf_return_stack s = make(0, SIZE), loaded = make(1, SIZE);
	uint64_t seed = 9, dropped = 0;

	s.bytes_max = loaded.bytes_max = 24;
	for (unsigned i = 0; i < 20000; i++) {
		uint8_t blob[64];
		struct hf_fields f = hf_fields_save(blob, sizeof blob);
		uint64_t r = hf_rand_next(&seed), a = 0, b = 0;

		hf_return_stack_visit(&s, &f);
		CHECK_EQ(f.err, 0);
		CHECK(f.to - blob <= 1 + 10 + 24);
		if (r % 7 == 0) {
			f = hf_fields_load(blob, (size_t)(f.to - blob));
			hf_return_stack_visit(&loaded, &f);
			CHECK_EQ(hf_fields_end(&f), 0);
		}
		if (r >> 8 & 1) {
			const uint64_t address = r >> 63 ? r : 0x80000000 + (r >> 16 & 0xfff);
			const uint32_t depth = s.depth;

			hf_return_stack_push(&s, address);
			hf_return_stack_push(&loaded, address);
			dropped += s.depth <= depth && depth < SIZE;
		} else {
			CHECK_EQ(hf_return_stack_pop(&s, &a), hf_return_stack_pop(&loaded, &b));
			CHECK_EQ(a, b);
		}
		CHECK_EQ(s.depth, loaded.depth);
		CHECK_EQ(s.bytes, loaded.bytes);
		CHECK(s.bytes <= 24 && (s.depth > 1 || s.bytes == 0));
	}
	CHECK(dropped > 100);
}

static void check_same(const struct hf_return_stack *a, const struct hf_return_stack *b)
{
	CHECK_EQ(a->depth, b->depth);
	for (uint32_t i = 1; i <= a->depth; i++) {
		CHECK_EQ(a->address[(a->top - i) & a->mask], b->address[(b->top - i) & b->mask]);
		CHECK_EQ(a->repeat[(a->top - i) & a->mask], b->repeat[(b->top - i) & b->mask]);
	}
}

static void test_saved(void)
{
	static const uint64_t addresses[] = {0x80000004, 0x80000100, 0x80000100, 2, UINT64_MAX - 1, 0x80000008};
	struct hf_return_stack s = make(0, 5), copy = make(1, 5), loaded = make(2, 5);
	uint8_t blob[256];

	s.repeat = repeats[0];
	copy.repeat = repeats[1];
	loaded.repeat = repeats[2];
	s.repeat_max = copy.repeat_max = loaded.repeat_max = 1;
	for (unsigned i = 0; i < 40; i++) {
		struct hf_fields f = hf_fields_save(blob, sizeof blob);
		const uint64_t last = hf_return_stack_visit(&s, &f);

		CHECK_EQ(hf_fields_end(&f), 0);
		if (s.depth)
			CHECK_EQ(last, hf_return_stack_top(&s));
		f = hf_fields_load(blob, (size_t)(f.to - blob));
		hf_return_stack_visit(&loaded, &f);
		CHECK_EQ(hf_fields_end(&f), 0);
		check_same(&s, &loaded);
		hf_return_stack_copy(&copy, &s);
		check_same(&s, &copy);
		hf_return_stack_push(&s, addresses[i % 6]);
	}
	blob[0] = 6; /* deeper than it can be */
	for (size_t n = 0; n < 3; n++) {
		struct hf_fields f = hf_fields_load(blob, n);

		hf_return_stack_visit(&loaded, &f);
		CHECK_EQ(hf_fields_end(&f), HF_ERR_STATE);
		CHECK(loaded.depth <= loaded.limit);
	}
}

int main(void)
{
	test_overflow();
	test_none();
	test_take();
	test_repeats();
	test_counts();
	test_saved();
	test_bytes();
	return 0;
}

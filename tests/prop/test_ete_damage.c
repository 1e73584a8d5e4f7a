/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Damaged ETE captures: cut anywhere the pcs are the first ones of the whole, begun anywhere the last ones, and every
 * loss is told. Single flipped bits: the decoder ends, and how often wrong pcs come that no mark tells of is bounded.
 */
#include "codecs/ete/stream.h"
#include "tests/lib/check.h"
#include "tests/lib/etetest.h"

/* Every bit and byte; with a sanitizer, to which all decoders' memory is dear, a part of them. */
enum { EACH = HF_TEST_SANITIZED ? 5 : 1 };

static uint64_t *whole;
static size_t whole_count;

static uint64_t *pcs_of(const struct hf_event *ev, size_t n, size_t *ret_n)
{
	uint64_t *pcs = malloc((n + 1) * sizeof *pcs);
	size_t count = 0;

	CHECK(pcs);
	for (size_t i = 0; i < n; i++)
		if (ev[i].kind == HF_EVENT_INSN)
			pcs[count++] = ev[i].insn.pc;
	*ret_n = count;
	return pcs;
}

static bool has(const struct hf_event *ev, size_t n, unsigned kind)
{
	for (size_t i = 0; i < n; i++)
		if (ev[i].kind == kind)
			return true;
	return false;
}

static void open_capture(struct ete_capture *c, const char *name)
{
	char path[4096];

	snprintf(path, sizeof path, "%s/%s", ete_corpus(), name);
	ete_open(c, path);
}

static void load_whole(const struct ete_capture *c, uint32_t hart)
{
	size_t n;
	struct hf_event *ev = ete_events(c, hart, 1000, &n);

	free(whole);
	whole = pcs_of(ev, n, &whole_count);
	free(ev);
}

static void test_cut(const char *name, uint32_t hart, uint64_t step)
{
	struct ete_capture c;
	uint64_t size;

	open_capture(&c, name);
	ete_keep_first_part(&c);
	load_whole(&c, hart);
	size = c.setup->parts[0].size;
	for (uint64_t cut = 0; cut < size; cut += step) {
		size_t n, count;
		struct hf_event *ev;
		uint64_t *pcs;

		c.setup->parts[0].size = cut;
		ev = ete_events(&c, hart, 1000, &n);
		pcs = pcs_of(ev, n, &count);
		CHECK(count <= whole_count);
		CHECK(memcmp(pcs, whole, count * sizeof *pcs) == 0);
		free(pcs);
		free(ev);
	}
	ete_close(&c);
}

static void test_begun(const char *name, uint32_t hart, uint64_t step)
{
	struct ete_capture c;
	uint64_t size, some = 0;

	open_capture(&c, name);
	ete_keep_first_part(&c);
	load_whole(&c, hart);
	size = c.setup->parts[0].size;
	for (uint64_t at = step; at < size; at += step) {
		size_t n, count;
		struct hf_event *ev;
		uint64_t *pcs;

		c.setup->parts[0].offset = at;
		c.setup->parts[0].size = size - at;
		ev = ete_events(&c, hart, 1000, &n);
		pcs = pcs_of(ev, n, &count);
		CHECK(count <= whole_count);
		CHECK(memcmp(pcs, whole + whole_count - count, count * sizeof *pcs) == 0);
		CHECK(count == whole_count || has(ev, n, HF_EVENT_GAP) || size - at < 32);
		some += count != 0;
		free(pcs);
		free(ev);
	}
	CHECK(some);
	ete_close(&c);
}

/* Whether the events differ from the whole where none of them tells of a loss or a doubt, by its place or its back. */
static bool is_silent(const struct hf_event *ev, size_t n)
{
	size_t count = 0, same = 0;

	for (size_t i = 0; i < n; i++) {
		const unsigned kind = ev[i].kind;

		if (kind == HF_EVENT_INSN) {
			same += same == count && count < whole_count && ev[i].insn.pc == whole[count];
			count++;
		} else if (same == count && (kind == HF_EVENT_NOTE || kind == HF_EVENT_DISCONTINUITY)) {
			return false;
		} else if (kind == HF_EVENT_GAP || kind == HF_EVENT_DOUBT) {
			return same + ev[i].back < count;
		}
	}
	return same < count || count < whole_count;
}

/* At most so many in a hundred. */
static void test_flips(const char *name, uint32_t hart, unsigned most)
{
	struct ete_capture c;
	struct hf_src *memory;
	uint8_t *bytes;
	size_t size, got;
	unsigned flips = 0, silent = 0;

	open_capture(&c, name);
	ete_keep_first_part(&c);
	load_whole(&c, hart);
	size = (size_t)c.setup->parts[0].size;
	bytes = malloc(size);
	CHECK(bytes);
	CHECK_EQ(hf_src_read_at(c.src, c.setup->parts[0].offset, bytes, size, &got, NULL), 0);
	CHECK_EQ(hf_src_memory_new(bytes, size, &memory), 0);
	c.setup->parts[0].offset = 0;
	hf_src_free(c.src);
	c.src = memory;
	for (size_t bit = 0; bit < 8 * size; bit += EACH) {
		struct hf_event *ev;
		size_t n;

		bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
		ev = ete_events(&c, hart, 1000, &n);
		flips++;
		silent += is_silent(ev, n);
		free(ev);
		bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	printf("%s: %u of %u flipped bits give wrong pcs without a word\n", name, silent, flips);
	/* a sanitizer looks at every fifth, whose share is not quite that of all */
	CHECK(100 * silent <= (most + (EACH > 1)) * flips);
	free(bytes);
	ete_close(&c);
}

int main(void)
{
	test_cut("snapshots/src_addr", 2, EACH);
	test_cut("snapshots/ete_spec_1", 1, EACH);
	test_cut("snapshots/q_elem", 1, EACH);
	test_cut("snapshots/maxspec78_commopt0", 2, 7);
	test_cut("snapshots/infrastructure", 0x10, 1021);
	test_begun("snapshots/infrastructure", 0x10, 16 * 37);
	test_begun("crafted/async_norm", 1, EACH);
	test_begun("crafted/async_long", 1, EACH);
	test_flips("snapshots/ete_spec_1", 1, 8);
	test_flips("snapshots/rme_test", 1, 14);
	free(whole);
	return 0;
}

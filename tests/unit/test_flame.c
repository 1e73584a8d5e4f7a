/* SPDX-License-Identifier: Apache-2.0 */
/* flame.svg and speedscope.json of trees as large as they can be, and what becomes of hostile names. */
#include "fs/profile/activations.h"
#include "fs/profile/escape.h"
#include "fs/profile/frames.h"
#include "tests/lib/check.h"

/* A tree of that many nodes: shape 0 wide, 1 deep, 2 of pseudo-random parents. */
static void make_tree(struct hf_summary_tree *tree, uint32_t count, int shape)
{
	uint64_t seed = 1;

	*tree = (struct hf_summary_tree){.count = count};
	tree->nodes = calloc(count, sizeof *tree->nodes);
	tree->depth = calloc(count, sizeof *tree->depth);
	CHECK(tree->nodes && tree->depth);
	for (uint32_t i = 1; i < count; i++) {
		struct hf_call_node *node = &tree->nodes[i];

		seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
		node->parent = shape == 0 ? 1 : shape == 1 ? i - 1 : 1 + (uint32_t)((seed >> 33) % i);
		if (shape == 1 && (i % HF_CALL_DEPTH == 1))
			node->parent = HF_CALL_NO_NODE;
		if (i == 1)
			node->parent = HF_CALL_NO_NODE;
		if (node->parent >= i || (node->parent && tree->depth[node->parent] == HF_CALL_DEPTH))
			node->parent = 1;
		tree->depth[i] = node->parent ? (uint16_t)(tree->depth[node->parent] + 1) : 0;
		node->kind = node->parent ? HF_CALL_FUNCTION : HF_CALL_TRAP;
		node->function = UINT64_C(0xffffffff80000000) + (shape == 2 ? seed >> 60 : i) * 4;
		node->own = shape == 1 ? 1 : seed >> 20;
		node->calls = seed >> 50;
	}
}

static void free_tree(struct hf_summary_tree *tree)
{
	free(tree->nodes);
	free(tree->depth);
}

static uint64_t own_of(const struct hf_summary_tree *tree)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < tree->count; i++)
		sum += tree->nodes[i].own;
	return sum;
}

static void check_order(const struct hf_frames *frames, uint64_t total)
{
	CHECK_EQ(frames->frame[0].total, total);
	CHECK_EQ(frames->frame[0].end, frames->count);
	for (uint32_t i = 1; i < frames->count; i++) {
		const struct hf_frame *frame = &frames->frame[i], *parent = &frames->frame[frame->parent];

		CHECK(frame->parent < i && frame->end <= parent->end && frame->depth == parent->depth + 1);
		CHECK(frame->start >= parent->start && frame->start + frame->total <= parent->start + parent->total);
	}
}

static void check_frames(const struct hf_profiled *of)
{
	struct hf_frames frames;

	CHECK_EQ(hf_frames_make(of, &frames), 0);
	check_order(&frames, own_of(of->tree));
	hf_frames_free(&frames);
}

/* The frame of a chain, whose functions have ";" between them; it is there. */
static const struct hf_frame *frame_of(const struct hf_frames *frames, const char *chain)
{
	uint32_t at = 0;

	while (*chain) {
		const size_t n = strcspn(chain, ";");
		const struct hf_frame *frame;
		const struct hf_frame_name *name;
		uint32_t i = at + 1;

		for (;; i = frame->end) {
			CHECK(i < frames->frame[at].end);
			frame = &frames->frame[i];
			name = &frames->name[frame->name];
			if (name->size == n && memcmp(frames->bytes + name->at, chain, n) == 0)
				break;
		}
		at = i;
		chain += n + (chain[n] == ';');
	}
	return &frames->frame[at];
}

static void test_folded(void)
{
	static const char before[] = "main 5\nmain;old 7\nmain;[trap] t;f 2\n",
			  text[] = "main 1\nmain;g 10\nmain;g;main 100\nmain;a b(int, int);g 1000\n[interrupt] i;g 3\nno-number\ng 4";
	struct hf_frames frames;

	CHECK_EQ(hf_frames_fold(NULL, text, &frames), 0);
	check_order(&frames, 1118);
	CHECK_EQ(frames.count, 9);
	CHECK_EQ(frame_of(&frames, "main")->own, 1);
	CHECK_EQ(frame_of(&frames, "main")->total, 1111);
	CHECK_EQ(frame_of(&frames, "main;g;main")->own, 100);
	CHECK_EQ(frame_of(&frames, "main;a b(int, int);g")->own, 1000);
	CHECK_EQ(frame_of(&frames, "[interrupt] i;g")->kind, HF_FRAME_INTERRUPT);
	CHECK_EQ(frame_of(&frames, "g")->own, 4);
	hf_frames_free(&frames);
	CHECK_EQ(hf_frames_fold(before, text, &frames), 0);
	check_order(&frames, 1118);
	CHECK_EQ(frame_of(&frames, "main")->before, 5);
	CHECK_EQ(frame_of(&frames, "main;old")->before, 7);
	CHECK_EQ(frame_of(&frames, "main;old")->own, 0);
	CHECK_EQ(frame_of(&frames, "main;[trap] t;f")->kind, HF_FRAME_TRAP);
	CHECK_EQ(frame_of(&frames, "main;g")->before, 0);
	hf_frames_free(&frames);
	CHECK_EQ(hf_frames_fold("", "", &frames), 0);
	CHECK_EQ(frames.count, 1);
	hf_frames_free(&frames);
}

/* The sum of the third of each four numbers. */
static uint64_t sum_flame(const char *text)
{
	const char *p = strstr(text, "\"frames\":[");
	uint64_t sum = 0;

	CHECK(p);
	p += strlen("\"frames\":[");
	for (int column = 0; *p != ']'; column++) {
		char *end;
		const uint64_t n = strtoull(p, &end, 10);

		CHECK(end != p);
		sum += column % 4 == 2 ? n : 0;
		p = end + (*end == ',');
	}
	return sum;
}

static void check_tree(uint32_t count, int shape)
{
	struct hf_counts counts = {0};
	struct hf_summary_tree tree;
	struct hf_profiled of = {.counts = &counts, .tree = &tree};
	struct hf_sink sink;

	make_tree(&tree, count, shape);
	counts.insns = own_of(&tree);
	check_frames(&of);
	CHECK_EQ(hf_sink_init_memory(&sink, 0), 0);
	CHECK_EQ(hf_profile_flame(&of, &sink), 0);
	CHECK(hf_sink_total(&sink) < 1 << 20);
	hf_sink_write(&sink, "", 1);
	CHECK_EQ(sum_flame((const char *)sink.start), own_of(&tree));
	hf_sink_fini_memory(&sink);
	CHECK_EQ(hf_sink_init_memory(&sink, 0), 0);
	CHECK_EQ(hf_profile_speedscope(&of, &sink), 0);
	CHECK(hf_sink_total(&sink) < 80 << 20);
	hf_sink_fini_memory(&sink);
	free_tree(&tree);
}

static void check_escape(const char *name, size_t size, const char *xml, const char *json)
{
	struct hf_sink sink;

	for (int i = 0; i < 2; i++) {
		const char *wanted = i ? json : xml;

		CHECK_EQ(hf_sink_init_memory(&sink, 0), 0);
		(i ? hf_escape_json : hf_escape_xml)(&sink, name, size);
		CHECK_EQ(hf_sink_total(&sink), strlen(wanted));
		CHECK(!memcmp(sink.start, wanted, strlen(wanted)));
		hf_sink_fini_memory(&sink);
	}
}

#define ESCAPE(name, xml, json) check_escape(name, sizeof name - 1, xml, json)
#define GONE "\xef\xbf\xbd"

static void check_escapes(void)
{
	char name[300], wanted[300];

	ESCAPE("main", "main", "main");
	ESCAPE("", "", "");
	ESCAPE("a<b>&c", "a&lt;b&gt;&amp;c", "a\\u003cb\\u003e\\u0026c");
	ESCAPE("]]></script>", "]]&gt;&lt;/script&gt;", "]]\\u003e\\u003c/script\\u003e");
	ESCAPE("\"'\\", "&quot;&#39;\\", "\\\"'\\\\");
	ESCAPE("a\0\n\x1b\x7f", "a" GONE GONE GONE GONE, "a" GONE GONE GONE GONE);
	ESCAPE("z\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", "z\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", "z\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80");
	/* A cut sequence, C1 controls, a surrogate, no characters. */
	ESCAPE("\xc3", GONE, GONE);
	ESCAPE("\xc2\x85", GONE, GONE);
	ESCAPE("\xed\xa0\x80", GONE GONE GONE, GONE GONE GONE);
	ESCAPE("\xef\xbf\xbf", GONE, GONE);
	memset(name, 'x', sizeof name);
	memset(wanted, 'x', HF_ESCAPE_NAME);
	memcpy(wanted + HF_ESCAPE_NAME, "…", sizeof "…");
	check_escape(name, sizeof name, wanted, wanted);
	wanted[HF_ESCAPE_NAME] = 0;
	check_escape(name, HF_ESCAPE_NAME, wanted, wanted);
}

/* Calls that are equally long are thinned out evenly, and not all dropped. */
static void test_activations(void)
{
	struct hf_activations calls = {.count = 1000};
	uint64_t last = 0;

	calls.at = calloc(calls.count, sizeof *calls.at);
	CHECK(calls.at);
	for (size_t i = 0; i < calls.count; i++)
		calls.at[i] = (struct hf_activation){.begin = 10 * i, .end = 10 * i + (i % 100 ? 5 : 9)};
	calls.at[7].open = true;
	CHECK_EQ(hf_activations_drop(&calls, 111), 0);
	CHECK_EQ(calls.count, 111);
	CHECK_EQ(calls.left_out, 889);
	CHECK_EQ(calls.least, 6);
	for (size_t i = 0, longer = 0; i < calls.count; i++) {
		CHECK(calls.at[i].begin - last <= 100);
		last = calls.at[i].begin;
		longer += calls.at[i].end - calls.at[i].begin == 9;
		CHECK(i < calls.count - 1 || longer == 10);
	}
	CHECK_EQ(hf_activations_drop(&calls, 11), 0);
	CHECK_EQ(calls.count, 11);
	CHECK_EQ(calls.least, 9);
	CHECK_EQ(hf_activations_drop(&calls, 5), 0);
	CHECK_EQ(calls.count, 5);
	CHECK_EQ(calls.least, 10);
	hf_activations_free(&calls);
}

int main(void)
{
	check_escapes();
	for (int shape = 0; shape < 3; shape++) {
		for (uint32_t count = 1; count < 5; count++)
			check_tree(count, shape);
		check_tree(5000, shape);
		check_tree(HF_CALL_NODES, shape);
	}
	test_activations();
	test_folded();
	return 0;
}

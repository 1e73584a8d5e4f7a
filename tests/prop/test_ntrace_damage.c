/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Damaged N-Trace: entered at any byte, with any message missing, with any bit flipped. A decoder ends, finds its place
 * again at the next synchronising message, and says what was lost. Wrong pcs that it gives before it notices cannot be
 * ruled out: they are counted.
 */
#include "codecs/ntrace/errors.h"
#include "tests/lib/rvrun.h"

/* So far ahead of a loss the flow is looked for: more than what lies between two synchronising messages. */
#define WINDOW 1500

/* The longest run of pcs from position `from` on that agree with the truth somewhere at or behind `at`. */
static size_t match(const struct hf_ntt_events *truth, const uint64_t *pcs, size_t n, size_t *at)
{
	size_t best = 0, where = *at;

	for (size_t start = *at; start < truth->n && start < *at + WINDOW && best < n; start++) {
		size_t k = 0;

		while (k < n && start + k < truth->n && truth->ev[start + k].insn.pc == pcs[k])
			k++;
		if (k > best) {
			best = k;
			where = start;
		}
	}
	*at = where + best;
	return best;
}

struct toll {
	size_t streams, lossy;
	size_t pcs, wrong, with_wrong;
	size_t with_skips; /* streams with right pcs but not all of them, without a word */
};

/* Shorter pieces than this agree by chance. */
#define PIECE_MIN 12

/* How many of the pcs are wrong; pieces that are right may have something missing between them. */
static size_t count_wrong(const struct hf_ntt_events *truth, const uint64_t *pcs, size_t n, size_t *at, bool *skips)
{
	size_t wrong = 0;

	for (size_t i = 0; i < n;) {
		size_t where = *at;
		const size_t k = match(truth, pcs + i, n - i, &where);

		if (k < PIECE_MIN && i + k < n) {
			wrong++;
			i++;
			continue;
		}
		*skips |= i && where - k != *at;
		*at = where;
		i += k;
	}
	return wrong;
}

/* The undamaged stream: told[i] instructions by its first i bytes, if a message ends there (otherwise SIZE_MAX). */
struct original {
	size_t *told;
	size_t n;
};

static struct original survey(const struct hf_ntt *t, const struct hf_walk_bytes *bytes)
{
	struct original o = {.told = malloc((bytes->n + 1) * sizeof *o.told), .n = bytes->n};

	CHECK(o.told);
	o.told[0] = 0;
	for (size_t i = 1; i <= o.n; i++) {
		struct hf_ntt_events events;

		o.told[i] = SIZE_MAX;
		if ((bytes->p[i - 1] & 3) != 3)
			continue;
		events = hf_ntt_decode(t, bytes->p, i, 0, 0);
		o.told[i] = events.insns;
		hf_ntt_events_free(&events);
	}
	return o;
}

/* How many of the pcs behind event i of got agree with the truth from at on, up to a few. */
static size_t agreeing(const struct hf_ntt_events *truth, const struct hf_ntt_events *got, size_t i, size_t at)
{
	size_t n = 0;

	while (++i < got->n && got->ev[i].kind != HF_EVENT_GAP && n < PIECE_MIN && at + n < truth->n) {
		if (got->ev[i].kind != HF_EVENT_INSN)
			continue;
		if (got->ev[i].insn.pc != truth->ev[at + n].insn.pc)
			break;
		n++;
	}
	return n;
}

/*
 * Where the truth goes on behind the gap that is event i of got: the message that synchronises is the one behind the
 * bytes that were lost, or the last of them.
 */
static size_t resume(const struct original *o, const struct hf_ntt_events *truth, const struct hf_ntt_events *got,
		     size_t i, size_t at)
{
	size_t end = got->ev[i].loss.offset + got->ev[i].loss.bytes, best = 0;

	for (unsigned ends = 0; o->told && end <= o->n && ends < 2; end++) {
		if (o->told[end] == SIZE_MAX)
			continue;
		ends++;
		if (agreeing(truth, got, i, o->told[end]) > best) {
			best = agreeing(truth, got, i, o->told[end]);
			at = o->told[end];
		}
	}
	return at;
}

/* The pcs between two announced losses; those behind a doubt are not silent. */
static void judge(struct toll *toll, const struct original *o, const struct hf_ntt_events *truth,
		  const struct hf_ntt_events *got)
{
	uint64_t *pcs = malloc((got->insns + 1) * sizeof *pcs);
	size_t n = 0, at = 0, wrong = 0;
	bool doubt = false, skips = false;

	CHECK(pcs);
	for (size_t i = 0; i <= got->n; i++) {
		const uint8_t kind = i < got->n ? got->ev[i].kind : (uint8_t)HF_EVENT_GAP;

		if (kind == HF_EVENT_INSN)
			pcs[n++] = got->ev[i].insn.pc;
		if (kind != HF_EVENT_GAP && kind != HF_EVENT_DOUBT && kind != HF_EVENT_DISCONTINUITY)
			continue;
		/* The last of them are announced. */
		if (kind != HF_EVENT_DISCONTINUITY && i < got->n)
			n -= got->ev[i].back < n ? got->ev[i].back : n;
		if (!doubt)
			wrong += count_wrong(truth, pcs, n, &at, &skips);
		if (kind == HF_EVENT_GAP && i < got->n)
			at = resume(o, truth, got, i, at);
		doubt = kind == HF_EVENT_DOUBT;
		n = 0;
	}
	free(pcs);
	toll->streams++;
	toll->pcs += got->insns;
	toll->wrong += wrong;
	toll->with_wrong += wrong != 0;
	toll->with_skips += skips;
	toll->lossy += got->losses != 0;
}

/* The instructions alone: what the pcs are compared with. */
static struct hf_ntt_events only_insns(const struct hf_ntt_events *all)
{
	struct hf_ntt_events insns = {.ev = calloc(all->n + 1, sizeof *insns.ev)};

	CHECK(insns.ev);
	for (size_t i = 0; i < all->n; i++)
		if (all->ev[i].kind == HF_EVENT_INSN)
			insns.ev[insns.n++] = all->ev[i];
	return insns;
}

static void take(struct toll *toll, const struct hf_ntt *t, const struct original *o, const struct hf_ntt_events *truth,
		 const uint8_t *bytes, size_t n)
{
	struct hf_ntt_events got = hf_ntt_decode(t, bytes, n, 0, 0);

	CHECK_EQ(got.err, HF_NOTE_END);
	judge(toll, o, truth, &got);
	hf_ntt_events_free(&got);
}

static void report(const char *what, const struct toll *toll)
{
	printf("  %zu %s: %zu told of; %zu of %zu pcs wrong before that (%.4f%%), in %zu streams; in %zu some are missing\n",
	       toll->streams, what, toll->lossy, toll->wrong, toll->pcs, 100.0 * (double)toll->wrong / (double)toll->pcs,
	       toll->with_wrong, toll->with_skips);
}

/* What is left of a stream from any byte on: only its first message can be misread, for what it never was. */
static void start_anywhere(const struct hf_ntt *t, const struct hf_ntt_events *truth, const struct hf_walk_bytes *bytes)
{
	const struct original elsewhere = {0};
	struct toll toll = {0};

	for (size_t i = 1; i < bytes->n; i++)
		take(&toll, t, &elsewhere, truth, bytes->p + i, bytes->n - i);
	printf("  started at %zu places: %zu of %zu pcs wrong\n", toll.streams, toll.wrong, toll.pcs);
	CHECK_EQ(toll.wrong, 0);
	CHECK(toll.lossy > toll.streams / 2);
}

static void drop_messages(const struct hf_ntt *t, const struct hf_ntt_events *truth, const struct hf_walk_bytes *bytes)
{
	const struct original elsewhere = {0};
	struct toll toll = {0};
	uint8_t *copy = malloc(bytes->n);

	CHECK(copy);
	for (size_t at = 0, end = 0; at < bytes->n; at = end) {
		while ((bytes->p[end++] & 3) != 3)
			;
		memcpy(copy, bytes->p, at);
		memcpy(copy + at, bytes->p + end, bytes->n - end);
		take(&toll, t, &elsewhere, truth, copy, bytes->n - (end - at));
	}
	free(copy);
	report("messages dropped", &toll);
	CHECK(toll.wrong * 100 < toll.pcs);
}

/* At most `per_mille` of the pcs may be wrong: few bytes that stand for many instructions are more delicate. */
static void flip_bits(const struct hf_ntt *t, const struct hf_ntt_events *truth, const struct hf_walk_bytes *bytes,
		      unsigned per_mille)
{
	struct original o = survey(t, bytes);
	struct toll toll = {0};

	for (size_t bit = 0; bit < 8 * bytes->n; bit++) {
		bytes->p[bit / 8] ^= (uint8_t)(1 << bit % 8);
		take(&toll, t, &o, truth, bytes->p, bytes->n);
		bytes->p[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	free(o.told);
	report("bits flipped", &toll);
	CHECK(toll.wrong * 1000 < toll.pcs * per_mille);
}

static void check(const struct hf_ntt *t, const struct hf_ntt_events *events, uint8_t xlen, const char *params)
{
	struct hf_ntt_events truth = only_insns(events);
	struct hf_walk_bytes bytes = hf_ntt_encode(events, xlen, 0, params);

	printf("%s: %zu bytes\n", params, bytes.n);
	start_anywhere(t, &truth, &bytes);
	drop_messages(t, &truth, &bytes);
	flip_bits(t, &truth, &bytes, 5);
	hf_ntt_events_free(&truth);
	hf_bytes_free(&bytes);
}

static void check_run(uint64_t seed, const char *params, const char *parameters)
{
	struct hf_run run;
	struct hf_ntt t;

	hf_run_make(&run, 0x80000000, 64, HF_RUN_TRAPS, HF_TEST_SANITIZED ? 500 : 1500, seed);
	hf_ntt_init(&t, parameters);
	hf_ntt_add_code(&t, run.base, run.code, run.code_size);
	check(&t, &run.events, 64, params);
	hf_ntt_fini(&t);
	hf_run_free(&run);
}

/* A real program is less dense with jumps, and what is wrong shows sooner. */
static void check_corpus(const char *corpus, const char *program, const char *file)
{
	char dir[512];
	struct hf_walk_bytes elf, bytes;
	struct hf_ntt_events events, truth;
	struct hf_ntt t;

	snprintf(dir, sizeof dir, "%s/ntrace/%s", corpus, program);
	elf = hf_bytes_load(dir, "prog.elf");
	bytes = hf_bytes_load(dir, file);
	hf_ntt_init(&t, "implicit_return=1");
	hf_ntt_add_elf(&t, &elf);
	events = hf_ntt_decode(&t, bytes.p, bytes.n, 0, 3000);
	truth = only_insns(&events);
	hf_bytes_free(&bytes);
	bytes = hf_ntt_encode(&events, 64, 0, "sync_instructions=500");
	printf("%s: %zu bytes\n", program, bytes.n);
	flip_bits(&t, &truth, &bytes, 1);
	hf_ntt_events_free(&truth);
	hf_ntt_events_free(&events);
	hf_bytes_free(&bytes);
	hf_bytes_free(&elf);
	hf_ntt_fini(&t);
}

int main(void)
{
	const char *corpus = getenv("HARTFS_CORPUS");

	check_run(9, "mode=htm,sync_instructions=100", "implicit_return=1");
	check_run(4, "repeat_history=1,repeat_branch=1,sync_instructions=100,times=1", "implicit_return=1");
	if (!HF_TEST_SANITIZED)
		check_run(5, "mode=btm,call_stack=0,sync_instructions=100", "implicit_return=0");
	if (corpus && !HF_TEST_SANITIZED) {
		check_corpus(corpus, "vvadd", "nex-htm_cs8.bin");
		check_corpus(corpus, "towers", "nex-htm_cs8.bin");
		check_corpus(corpus, "traps", "nex-spec_htm_all.bin");
	} else if (!corpus) {
		printf("SKIPPED IN PART: HARTFS_CORPUS does not name the corpus of test captures\n");
	}
	return 0;
}

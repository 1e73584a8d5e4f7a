/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Damaged captures: entered at every byte, with any packet missing, with any bit flipped. Decoding comes to its end,
 * goes on at the next synchronisation, and says so; how many instructions are wrong without a word is counted, and
 * bounded: those that a gap's back reaches are told of.
 * unit etrace_damage CAPTURE STEP: every STEP-th bit of that capture instead, with the figures.
 */
#include "tests/lib/etracetest.h"

#define ALIKE 6  /* instructions that must agree for two places to be the same */
#define NEAR 500 /* how far apart two places may be that are the same */

/* Instructions, and up to where the stream was read when each was given. */
struct pcs {
	uint64_t *pc, *offset;
	size_t n;
};

/* What became of a capture: where[i] instructions were given before loss i, of which it doubts the last back[i]. */
struct outcome {
	struct pcs pcs;
	size_t *where, *back, losses;
};

/* Where bytes are missing: offsets of at and more are so many bytes less than they were. */
struct shift {
	uint64_t at, bytes;
};

struct tally {
	size_t cases, changed, announced, silent_cases;
	uint64_t insns, silent;
};

static bool is_loss(const struct hf_event *ev)
{
	return ev->kind == HF_EVENT_GAP || ev->kind == HF_EVENT_DOUBT || ev->kind == HF_EVENT_DISCONTINUITY;
}

/* Where behind from the truth has this pc, given when the stream was read up to offset; from if nowhere. */
static size_t find(const struct pcs *truth, size_t from, uint64_t pc, uint64_t offset)
{
	for (size_t i = from; i < truth->n && truth->offset[i] <= offset; i++)
		if (truth->offset[i] == offset && truth->pc[i] == pc)
			return i;
	return from;
}

/*
 * The nearest place where both go on alike, leaving out *skip instructions of pc[n], at least one in all. False: none.
 */
static bool rejoin(const struct pcs *truth, size_t *at, const uint64_t *pc, size_t n, size_t *skip)
{
	for (size_t d = 1; d < NEAR; d++)
		for (size_t k = 0; k <= d; k++)
			if (k + ALIKE <= n && *at + d - k + ALIKE <= truth->n &&
			    memcmp(truth->pc + *at + d - k, pc + k, ALIKE * sizeof *pc) == 0) {
				*at += d - k;
				*skip = k;
				return true;
			}
	return false;
}

/*
 * Instructions of a stretch without a loss that are not those of the truth from *at on, and those of the truth that it
 * leaves out; *at is moved on.
 */
static size_t count_wrong(const struct pcs *truth, size_t *at, const uint64_t *pc, size_t n)
{
	size_t wrong = 0, i = 0, skip, from;

	while (i < n) {
		if (*at < truth->n && truth->pc[*at] == pc[i]) {
			++*at;
			i++;
			continue;
		}
		from = *at;
		if (!rejoin(truth, at, pc + i, n - i, &skip))
			return wrong + n - i;
		wrong += skip > *at - from ? skip : *at - from;
		i += skip;
	}
	return wrong;
}

static void judge(struct tally *tally, const struct pcs *truth, const struct outcome *o, struct shift shift)
{
	size_t at = 0, wrong = 0, begin = 0, sure;

	for (size_t i = 0; i <= o->losses; i++) {
		const size_t end = i < o->losses ? o->where[i] : o->pcs.n;

		if ((i || (shift.bytes && !shift.at)) && begin < end) { /* behind a loss, or not from the start on */
			const uint64_t offset = o->pcs.offset[begin];

			at = find(truth, at, o->pcs.pc[begin], offset + (offset >= shift.at ? shift.bytes : 0));
		}
		sure = end - begin;
		if (i < o->losses)
			sure -= o->back[i] < sure ? o->back[i] : sure;
		wrong += count_wrong(truth, &at, o->pcs.pc + begin, sure);
		begin = end;
	}
	if (!o->losses && at < truth->n)
		wrong += truth->n - at;
	tally->cases++;
	tally->changed += wrong || o->losses || o->pcs.n != truth->n;
	tally->announced += o->losses != 0;
	tally->silent_cases += wrong != 0;
	tally->insns += o->pcs.n;
	tally->silent += wrong;
}

static void *grown(void *p, size_t n)
{
	/* at every power of two */
	p = n & (n - 1) ? p : realloc(p, (n ? 2 * n : 1) * sizeof(uint64_t));
	CHECK(p);
	return p;
}

static struct outcome decode(const char *ini, const uint8_t *bytes, size_t n)
{
	struct hf_etracet t;
	struct outcome o = {0};
	struct hf_dec *dec;
	struct hf_event ev;
	size_t got;

	CHECK(hf_etracet_open_bytes(&t, ini, bytes, n));
	CHECK_EQ(hf_dec_new(t.stream, t.src, t.stream->info.first_hart, &dec), 0);
	while (hf_dec_next(dec, &ev, 1, &got) == 0) {
		if (is_loss(&ev)) {
			o.where = grown(o.where, o.losses);
			o.back = grown(o.back, o.losses);
			o.back[o.losses] = ev.kind == HF_EVENT_DISCONTINUITY ? 0 : ev.back;
			o.where[o.losses++] = o.pcs.n;
		}
		if (ev.kind != HF_EVENT_INSN)
			continue;
		o.pcs.pc = grown(o.pcs.pc, o.pcs.n);
		o.pcs.offset = grown(o.pcs.offset, o.pcs.n);
		o.pcs.offset[o.pcs.n] = hf_dec_offset(dec);
		o.pcs.pc[o.pcs.n++] = ev.insn.pc;
	}
	CHECK_EQ(dec->err, HF_NOTE_END);
	hf_dec_free(dec);
	hf_etracet_close(&t);
	return o;
}

static void forget(struct outcome *o)
{
	free(o->pcs.pc);
	free(o->pcs.offset);
	free(o->where);
	free(o->back);
}

static void print(const char *ini, const char *what, const struct tally *t)
{
	printf("%s: %s: %zu cases, %zu of them differ, %zu say so, %zu with silent errors; %llu of %llu instructions "
	       "(%.4f %%) silently wrong\n", ini, what, t->cases, t->changed, t->announced, t->silent_cases,
	       (unsigned long long)t->silent, (unsigned long long)t->insns,
	       t->insns ? 100.0 * (double)t->silent / (double)t->insns : 0.0);
}

/* One variant of the bytes. */
static void try(struct tally *tally, const char *ini, const struct pcs *truth, const uint8_t *bytes, size_t n,
		struct shift shift)
{
	struct outcome o = decode(ini, bytes, n);

	judge(tally, truth, &o, shift);
	forget(&o);
}

/* ppm: so many of a million instructions may be wrong without a word when bits are flipped; 0: any. */
static void check_capture(const char *ini, const char *trace, size_t step, uint64_t ppm)
{
	const struct shift none = {0};
	struct hf_walk_bytes file = hf_stft_load(trace);
	struct outcome whole = decode(ini, file.p, file.n);
	struct tally flips = {0}, starts = {0}, drops = {0};
	uint8_t *copy = malloc(file.n + 1);

	CHECK(copy);
	for (size_t bit = 0; bit < 8 * file.n; bit += step) {
		file.p[bit / 8] ^= (uint8_t)(1 << bit % 8);
		try(&flips, ini, &whole.pcs, file.p, file.n, none);
		file.p[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	for (size_t i = 0; i < file.n; i += step)
		try(&starts, ini, &whole.pcs, file.p + i, file.n - i, (struct shift){.at = 0, .bytes = i});
	for (size_t i = 0, k = 0; i < file.n; k++) {
		const size_t size = 1 + (file.p[i] & 31u);

		memcpy(copy, file.p, i);
		memcpy(copy + i, file.p + i + size, file.n - i - size);
		if (k % step == 0)
			try(&drops, ini, &whole.pcs, copy, file.n - size, (struct shift){.at = i, .bytes = size});
		i += size;
	}
	print(ini, "bits flipped", &flips);
	print(ini, "entered at a byte", &starts);
	print(ini, "a packet left out", &drops);
	CHECK(!ppm || flips.silent * 1000000 <= flips.insns * ppm);
	free(copy);
	forget(&whole);
	hf_bytes_free(&file);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		size_t step;
		uint64_t ppm;
	} captures[] = {
		{"test_discon_branch_exception/c111_all_rs16", 1, 10000},
		{"test_discon_branch_exception/c111_delta_rs16", 1, 9000},
		{"corner/safe20_delta_every7", 97, 75},
		{"corner/safe_all_every7", 97, 85},
		{"br_j_asm/strict_basic", 61, 1801},
		{"corner/safe_all_rs4096", 61, 175},
	};
	char ini[4096], trace[4096];

	for (size_t i = 0; argc < 3 && i < sizeof captures / sizeof captures[0]; i++) {
		snprintf(ini, sizeof ini, "%s/etrace/%s/capture.ini", hf_stft_corpus(), captures[i].name);
		snprintf(trace, sizeof trace, "etrace/%s/packets.te_inst_raw", captures[i].name);
		check_capture(ini, trace, captures[i].step, captures[i].ppm);
	}
	if (argc > 2) {
		snprintf(ini, sizeof ini, "%s/etrace/%s/capture.ini", hf_stft_corpus(), argv[1]);
		snprintf(trace, sizeof trace, "etrace/%s/packets.te_inst_raw", argv[1]);
		check_capture(ini, trace, strtoul(argv[2], NULL, 10), 0);
	}
	return 0;
}

/*
 * Damaged captures: entered at every byte, with any packet missing, with any bit flipped. Decoding comes to its end,
 * goes on at the next synchronisation, and says so; how many instructions are wrong without a word is counted.
 * test_etrace_damage CAPTURE.INI STEP: every STEP-th bit of that capture instead, with the figures.
 */
#include "tests/lib/etracetest.h"

#define ALIKE 6 /* instructions that must agree for two places to be the same */

struct pcs {
	uint64_t *pc;
	size_t n;
};

struct tally {
	size_t cases, changed, announced, silent_cases;
	uint64_t insns, silent;
};

static bool is_loss(const struct hf_event *ev)
{
	return ev->kind == HF_EVENT_GAP || ev->kind == HF_EVENT_DOUBT || ev->kind == HF_EVENT_DISCONTINUITY;
}

/* Where behind from the truth goes on as pc[n] does; HF_NOWHERE if nowhere. */
static size_t find(const struct pcs *truth, size_t from, const uint64_t *pc, size_t n)
{
	const size_t want = n < ALIKE ? n : ALIKE;

	for (size_t i = from; i + want <= truth->n; i++)
		if (memcmp(truth->pc + i, pc, want * sizeof *pc) == 0)
			return i;
	return (size_t)HF_NOWHERE;
}

/* Instructions of a stretch without a loss that are not those of the truth from *at on; *at is moved on. */
static size_t count_wrong(const struct pcs *truth, size_t *at, const uint64_t *pc, size_t n)
{
	size_t wrong = 0, i = 0;

	while (i < n) {
		size_t there;

		if (*at < truth->n && truth->pc[*at] == pc[i]) {
			++*at;
			i++;
			continue;
		}
		there = find(truth, *at, pc + i, n - i);
		if (there != (size_t)HF_NOWHERE && (i == 0 || n - i >= ALIKE)) {
			*at = there;
			wrong += i != 0; /* what is left out between is not announced either */
		} else {
			wrong++;
			i++;
		}
	}
	return wrong;
}

static void judge(struct tally *tally, const struct pcs *truth, const struct hf_events *list)
{
	uint64_t *pc = malloc((list->n + 1) * sizeof *pc);
	size_t n = 0, at = 0, total = 0, wrong = 0, losses = 0;

	CHECK(pc);
	for (size_t i = 0; i <= list->n; i++) {
		if (i < list->n && list->ev[i].kind == HF_EVENT_INSN)
			pc[n++] = list->ev[i].insn.pc;
		if (i < list->n && !is_loss(&list->ev[i]))
			continue;
		/* Behind a loss the flow may go on anywhere. */
		if (losses && n) {
			const size_t there = find(truth, at, pc, n);

			at = there == (size_t)HF_NOWHERE ? at : there;
		}
		wrong += count_wrong(truth, &at, pc, n);
		total += n;
		n = 0;
		losses += i < list->n;
	}
	if (!losses && total < truth->n)
		wrong += truth->n - total;
	tally->cases++;
	tally->changed += wrong || losses || total != truth->n;
	tally->announced += losses != 0;
	tally->silent_cases += wrong != 0;
	tally->insns += total;
	tally->silent += wrong;
	free(pc);
}

static struct hf_events decode(const char *ini, const uint8_t *bytes, size_t n)
{
	struct hf_etracet t;
	struct hf_events list = {0};

	CHECK(hf_etracet_open_bytes(&t, ini, bytes, n));
	list = hf_stft_events(t.stream, t.src, t.stream->info.first_hart, 512);
	hf_etracet_close(&t);
	return list;
}

static struct pcs pcs_of(const struct hf_events *list)
{
	struct pcs truth = {.pc = malloc((list->n + 1) * sizeof *truth.pc)};

	CHECK(truth.pc);
	for (size_t i = 0; i < list->n; i++)
		if (list->ev[i].kind == HF_EVENT_INSN)
			truth.pc[truth.n++] = list->ev[i].insn.pc;
	return truth;
}

static void print(const char *ini, const char *what, const struct tally *t)
{
	printf("%s: %s: %zu cases, %zu of them differ, %zu say so, %zu with silent errors; %llu of %llu instructions "
	       "(%.4f %%) silently wrong\n", ini, what, t->cases, t->changed, t->announced, t->silent_cases,
	       (unsigned long long)t->silent, (unsigned long long)t->insns,
	       t->insns ? 100.0 * (double)t->silent / (double)t->insns : 0.0);
}

/* One variant of the bytes. */
static void try(struct tally *tally, const char *ini, const struct pcs *truth, const uint8_t *bytes, size_t n)
{
	struct hf_events list = decode(ini, bytes, n);

	judge(tally, truth, &list);
	hf_events_free(&list);
}

static void check_capture(const char *ini, const char *trace, size_t step)
{
	struct hf_bytes file = hf_stft_load(trace);
	struct hf_events list = decode(ini, file.p, file.n);
	struct pcs truth = pcs_of(&list);
	struct tally flips = {0}, starts = {0}, drops = {0};
	uint8_t *copy = malloc(file.n + 1);

	CHECK(copy);
	for (size_t bit = 0; bit < 8 * file.n; bit += step) {
		file.p[bit / 8] ^= (uint8_t)(1 << bit % 8);
		try(&flips, ini, &truth, file.p, file.n);
		file.p[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	for (size_t i = 0; i < file.n; i += step)
		try(&starts, ini, &truth, file.p + i, file.n - i);
	for (size_t i = 0, k = 0; i < file.n; k++) {
		const size_t size = 1 + (file.p[i] & 31u);

		memcpy(copy, file.p, i);
		memcpy(copy + i, file.p + i + size, file.n - i - size);
		if (k % step == 0)
			try(&drops, ini, &truth, copy, file.n - size);
		i += size;
	}
	print(ini, "bits flipped", &flips);
	print(ini, "entered at a byte", &starts);
	print(ini, "a packet left out", &drops);
	free(copy);
	free(truth.pc);
	hf_events_free(&list);
	hf_bytes_free(&file);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		size_t step;
	} captures[] = {
		{"test_discon_branch_exception/c111_all_rs16", 1}, {"test_discon_branch_exception/c111_delta_rs16", 1},
		{"corner/safe20_delta_every7", 97},		   {"corner/safe_all_every7", 97},
		{"br_j_asm/strict_basic", 61},			   {"corner/safe_all_rs4096", 61},
	};
	char ini[4096], trace[4096];

	for (size_t i = 0; argc < 3 && i < sizeof captures / sizeof captures[0]; i++) {
		snprintf(ini, sizeof ini, "%s/etrace/%s/capture.ini", hf_stft_corpus(), captures[i].name);
		snprintf(trace, sizeof trace, "etrace/%s/packets.te_inst_raw", captures[i].name);
		check_capture(ini, trace, captures[i].step);
	}
	if (argc > 2) {
		snprintf(ini, sizeof ini, "%s/etrace/%s/capture.ini", hf_stft_corpus(), argv[1]);
		snprintf(trace, sizeof trace, "etrace/%s/packets.te_inst_raw", argv[1]);
		check_capture(ini, trace, strtoul(argv[2], NULL, 10));
	}
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One flipped bit in a capture of every format: how often the instructions stay the same, differ behind a gap, doubt or
 * note, differ without any, or differ before the first of them. In packet formats wrong instructions lie within back of a
 * gap or doubt, or behind a doubt, unless a later packet agrees with what the damaged one says: these are counted as
 * outside, and bounded. Of what back reaches at most two thirds are right.
 * unit flips [SEEDS [FLIPS]]: so many captures of each format and so many bits of each, one at a time; nothing is bounded.
 */
#include "codecs/views.h"
#include "tests/lib/armwalk.h"
#include "tests/lib/check.h"
#include "tests/lib/eteloop.h"
#include "tests/lib/etraceloop.h"
#include "tests/lib/ntracetest.h"
#include "tests/lib/rvrun.h"
#include "tests/lib/stftest.h"

enum { INSNS = 2000, ALIKE = 8, NEAR = 400, VARIANTS = 4 };

/* A capture in memory, and what it was made of. */
struct made {
	uint8_t *bytes; /* the trace: a flip is made here */
	size_t size;
	struct hf_rvwalk rv;
	struct hf_run run;
	struct hf_rvtrace trace;
	struct hf_etl etrace;
	struct hf_ntt ntrace;
	struct hf_armwalk arm;
	struct ete_loop ete;
	struct hf_stream stream;
	struct hf_walk_bytes plain;
};

struct format {
	const char *name;
	const char *params[VARIANTS]; /* of its view: those of a seed are the seed's number modulo so many */
	void (*make)(struct made *m, const char *params, uint64_t seed);
	/* False if it does not even open. */
	bool (*decode)(const struct made *m, struct hf_events *ret_events);
	void (*unmake)(struct made *m);
	/* the most silent flips and instructions outside of all that main tries; 0: any */
	uint64_t silent, outside;
};

/* ---- RISC-V ---- */

static void walk_riscv(struct made *m, uint64_t seed)
{
	hf_rvwalk_program(&m->rv, 0x80000000, 64, seed);
	hf_rvtrace_init(&m->trace, 64);
	hf_rvwalk_run(&m->rv, &m->trace, INSNS, HF_RVWALK_TRAPS | HF_RVWALK_MODES);
}

static void make_etrace(struct made *m, const char *params, uint64_t seed)
{
	walk_riscv(m, seed);
	hf_etl_make_walk(&m->etrace, &m->trace, params, &m->rv);
	m->bytes = m->etrace.trace;
	m->size = m->etrace.size;
}

static bool decode_etrace(const struct made *m, struct hf_events *ret_events)
{
	struct hf_rvtrace got;

	hf_rvtrace_init(&got, 64);
	hf_etl_decode(&m->etrace, 0, &got, NULL);
	hf_events_add(ret_events, got.events, got.count);
	hf_rvtrace_fini(&got);
	return true;
}

static void unmake_etrace(struct made *m)
{
	hf_etl_free(&m->etrace);
	hf_rvtrace_fini(&m->trace);
}

static void make_ntrace(struct made *m, const char *params, uint64_t seed)
{
	char ini[512];

	walk_riscv(m, seed);
	m->plain = hf_ntt_encode_described(
		NULL, &(struct hf_ntt_events){.ev = m->trace.events, .n = m->trace.count}, 64, 0, params, ini, sizeof ini);
	hf_ntt_init(&m->ntrace, ini);
	hf_ntt_add_code(&m->ntrace, m->rv.base, m->rv.code, m->rv.at[m->rv.count]);
	m->bytes = m->plain.p;
	m->size = m->plain.n;
}

static bool decode_ntrace(const struct made *m, struct hf_events *ret_events)
{
	struct hf_ntt_events got = hf_ntt_decode(&m->ntrace, m->bytes, m->size, 0, 0);

	CHECK_EQ(got.err, HF_NOTE_END);
	hf_events_add(ret_events, got.ev, got.n);
	hf_ntt_events_free(&got);
	return true;
}

static void unmake_ntrace(struct made *m)
{
	hf_ntt_fini(&m->ntrace);
	hf_bytes_free(&m->plain);
	hf_rvtrace_fini(&m->trace);
}

/* ---- formats that describe themselves ---- */

static void encode_plain(struct made *m, const struct hf_enc_ops *view, const struct hf_stream *stream,
			 const struct hf_event *ev, size_t n)
{
	struct hf_sink sink;
	struct hf_enc *enc;

	CHECK_EQ(hf_sink_init_memory(&sink, 1 << 16), 0);
	CHECK_EQ(hf_enc_new(view, stream, 0, NULL, &enc), 0);
	hf_enc_put(enc, ev, n, &sink);
	hf_enc_end(enc, &sink);
	CHECK_EQ(sink.err, 0);
	hf_enc_free(enc);
	m->plain = (struct hf_walk_bytes){0};
	hf_bytes_add(&m->plain, sink.start, (size_t)(sink.p - sink.start));
	hf_sink_fini_memory(&sink);
	m->bytes = m->plain.p;
	m->size = m->plain.n;
}

static bool decode_plain(const struct hf_codec *codec, const struct made *m, struct hf_events *ret_events)
{
	struct hf_diag diag;
	struct hf_stft t;
	int err;

	CHECK_EQ(hf_src_memory_new(m->bytes, m->size, &t.src), 0);
	err = hf_stream_open(codec, t.src, NULL, &t.stream, &diag);
	if (!err) {
		*ret_events = hf_stft_events(t.stream, t.src, t.stream->info.first_hart, 256);
		hf_stream_close(t.stream);
	}
	hf_src_free(t.src);
	return !err;
}

static void make_stf(struct made *m, const char *params, uint64_t seed)
{
	(void)params;
	hf_run_make(&m->run, 0x80000000, 64, HF_RUN_TRAPS, INSNS, seed);
	m->stream = (struct hf_stream){
		.info = {.arch = HF_ARCH_RISCV, .xlen = 64, .isa = HF_ISA_RV64, .flags = HF_STREAM_HARTS}};
	encode_plain(m, &hf_view_stf, &m->stream, m->run.events.ev, m->run.events.n);
}

static bool decode_stf(const struct made *m, struct hf_events *ret_events)
{
	return decode_plain(hf_codec_by_name("stf"), m, ret_events);
}

static void unmake_stf(struct made *m)
{
	hf_bytes_free(&m->plain);
	hf_run_free(&m->run);
}

static void walk_arm(struct made *m, uint64_t seed, unsigned flags)
{
	hf_armwalk_program(&m->arm, HF_ARMWALK_BASE, true, seed);
	hf_armwalk_run(&m->arm, INSNS, flags);
}

static void make_astf(struct made *m, const char *params, uint64_t seed)
{
	(void)params;
	walk_arm(m, seed, 0);
	m->stream = (struct hf_stream){
		.info = {.arch = HF_ARCH_ARM, .xlen = 64, .isa = HF_ISA_A64, .flags = HF_STREAM_HARTS}};
	encode_plain(m, &hf_view_astf, &m->stream, m->arm.events, m->arm.event_count);
}

static bool decode_astf(const struct made *m, struct hf_events *ret_events)
{
	return decode_plain(hf_codec_by_name("astf"), m, ret_events);
}

static void unmake_astf(struct made *m)
{
	hf_bytes_free(&m->plain);
}

static void make_ete(struct made *m, const char *params, uint64_t seed)
{
	walk_arm(m, seed, HF_ARMWALK_TRAPS);
	ete_loop_open(&m->ete, m->arm.events, m->arm.event_count, params, m->arm.base, m->arm.code, sizeof m->arm.code);
	m->bytes = m->ete.files[0].start;
	m->size = (size_t)(m->ete.files[0].p - m->bytes);
}

static bool decode_ete(const struct made *m, struct hf_events *ret_events)
{
	size_t n;
	struct hf_event *ev = ete_events(&m->ete.capture, m->ete.capture.stream->info.first_hart, 256, &n);

	hf_events_add(ret_events, ev, n);
	free(ev);
	return true;
}

static void unmake_ete(struct made *m)
{
	ete_loop_close(&m->ete);
}

static const struct format formats[] = {
	{"STF", {"", "", "", ""}, make_stf, decode_stf, unmake_stf, 0, 0},
	{"ASTF", {"", "", "", ""}, make_astf, decode_astf, unmake_astf, 0, 0},
	{"E-Trace",
	 {"options=none,sync_instructions=100", "version=2.1,options=implicit_return,sync_instructions=100",
	  "options=full_address,sync_instructions=100",
	  "version=2.1,options=implicit_return+branch_prediction+jump_target_cache"},
	 make_etrace, decode_etrace, unmake_etrace, 125, 80},
	{"N-Trace",
	 {"mode=htm,sync_instructions=100", "mode=btm,call_stack=0,sync_instructions=100",
	  "repeat_history=1,repeat_branch=1,sync_instructions=100,times=1", ""},
	 make_ntrace, decode_ntrace, unmake_ntrace, 40, 150},
	{"ETE",
	 {"return_stack=0,sync_instructions=100", "return_stack=1,sync_instructions=100",
	  "q_elements=1,sync_instructions=100", "return_stack=1,timestamps=1"},
	 make_ete, decode_ete, unmake_ete, 290, 165},
};

/* ---- judging ---- */

/* The instructions of some events, and which of them a mark concerns. */
struct run {
	uint64_t *pc;
	uint32_t *opcode;
	bool *wrong;  /* of a damaged one */
	bool *marked; /* a gap or doubt behind it says that it may be wrong */
	bool *doubted; /* the last mark before it is a doubt */
	size_t n, marks, first_mark; /* first_mark: instructions before it */
};

struct row {
	size_t flips, same, marked, silent, silent_opcodes, early, announced;
	uint64_t insns, wrong, wrong_silent, wrong_early;
	uint64_t marked_wrong, marked_right, outside, doubted; /* of the announced */
};

static struct run run_of(const struct hf_events *events)
{
	struct run r = {.pc = calloc(events->n + 1, sizeof *r.pc), .opcode = calloc(events->n + 1, sizeof *r.opcode),
			.wrong = calloc(events->n + 1, sizeof *r.wrong),
			.marked = calloc(events->n + 1, sizeof *r.marked),
			.doubted = calloc(events->n + 1, sizeof *r.doubted), .first_mark = SIZE_MAX};
	bool doubt = false;

	CHECK(r.pc && r.opcode && r.wrong && r.marked && r.doubted);
	for (size_t i = 0; i < events->n; i++) {
		const struct hf_event *ev = &events->ev[i];

		if (ev->kind == HF_EVENT_INSN) {
			r.doubted[r.n] = doubt;
			r.pc[r.n] = ev->insn.pc;
			r.opcode[r.n++] = ev->insn.opcode;
		} else if (ev->kind == HF_EVENT_GAP || ev->kind == HF_EVENT_DOUBT || ev->kind == HF_EVENT_NOTE) {
			if (!r.marks++)
				r.first_mark = r.n;
			if (ev->kind != HF_EVENT_NOTE)
				doubt = ev->kind == HF_EVENT_DOUBT;
			for (size_t k = ev->back < r.n ? r.n - ev->back : 0; k < r.n; k++)
				r.marked[k] = true;
		}
	}
	return r;
}

static void free_run(struct run *r)
{
	free(r->pc);
	free(r->opcode);
	free(r->wrong);
	free(r->marked);
	free(r->doubted);
}

static bool same_insn(const struct run *a, size_t i, const struct run *b, size_t k)
{
	return a->pc[i] == b->pc[k] && a->opcode[i] == b->opcode[k];
}

/* How many instructions from a[i] and b[k] on are the same, up to max. */
static size_t alike(const struct run *a, size_t i, const struct run *b, size_t k, size_t max)
{
	size_t n = 0;

	while (n < max && i + n < a->n && k + n < b->n && a->pc[i + n] == b->pc[k + n])
		n++;
	return n;
}

/* The nearest place at or behind *at and *i where both go on alike. */
static bool rejoin(const struct run *truth, size_t *at, const struct run *got, size_t *i, size_t end)
{
	for (size_t d = 1; d < NEAR; d++)
		for (size_t k = 0; k <= d; k++)
			if (*i + k + ALIKE <= end && alike(got, *i + k, truth, *at + d - k, ALIKE) == ALIKE) {
				*at += d - k;
				*i += k;
				return true;
			}
	return false;
}

/* Marks what is wrong: not of the beginning or the end that both have, nor of a piece between that agrees. */
static void find_wrong(const struct run *truth, struct run *got, size_t prefix)
{
	size_t suffix = 0, at = prefix, i = prefix, end;

	while (suffix < got->n - prefix && suffix < truth->n - prefix &&
	       same_insn(got, got->n - 1 - suffix, truth, truth->n - 1 - suffix))
		suffix++;
	end = got->n - suffix;
	while (i < end) {
		const size_t from = i;
		bool found;

		if (at < truth->n && got->pc[i] == truth->pc[at]) {
			got->wrong[i] = got->opcode[i] != truth->opcode[at];
			i++;
			at++;
			continue;
		}
		found = rejoin(truth, &at, got, &i, end);
		memset(got->wrong + from, true, (found ? i : end) - from);
		if (!found)
			return;
	}
}

static void judge(struct row *row, const struct run *truth, struct run *got)
{
	const size_t prefix_pcs = alike(got, 0, truth, 0, SIZE_MAX);
	size_t prefix = 0, wrong = 0, early = 0;
	bool same;

	while (prefix < prefix_pcs && got->opcode[prefix] == truth->opcode[prefix])
		prefix++;
	find_wrong(truth, got, prefix);
	for (size_t i = 0; i < got->n; i++) {
		wrong += got->wrong[i];
		early += got->wrong[i] && i < got->first_mark;
		row->marked_wrong += got->marked[i] && got->wrong[i];
		row->marked_right += got->marked[i] && !got->wrong[i];
		if (got->marks && got->wrong[i] && !got->marked[i])
			++*(got->doubted[i] ? &row->doubted : &row->outside);
	}
	same = prefix == truth->n && prefix == got->n;
	row->flips++;
	row->insns += got->n;
	row->wrong += wrong;
	row->announced += got->marks != 0;
	if (same && !got->marks) {
		row->same++;
	} else if (!got->marks) {
		row->silent++;
		row->silent_opcodes += prefix_pcs == truth->n && prefix_pcs == got->n;
		row->wrong_silent += wrong;
	} else if (!same && prefix < got->first_mark) {
		row->early++;
		row->wrong_early += early;
	} else {
		row->marked++;
	}
}

static void try(const struct format *f, struct row *row, uint64_t seed, unsigned flips)
{
	static struct made m;
	struct hf_events events = {0};
	struct run truth;
	uint64_t random = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;

	f->make(&m, f->params[seed % VARIANTS], seed);
	CHECK(f->decode(&m, &events));
	truth = run_of(&events);
	hf_events_free(&events);
	CHECK_EQ(truth.marks, 0);
	CHECK(truth.n > INSNS * 3 / 4);
	for (unsigned i = 0; i < flips; i++) {
		const size_t at = hf_rand_next(&random) % m.size;
		const uint8_t bit = (uint8_t)(1u << hf_rand_next(&random) % 8);
		struct run got;

		m.bytes[at] ^= bit;
		if (f->decode(&m, &events)) {
			got = run_of(&events);
			judge(row, &truth, &got);
			free_run(&got);
		} else { /* refused as a whole */
			row->flips++;
			row->marked++;
			row->announced++;
		}
		hf_events_free(&events);
		m.bytes[at] ^= bit;
	}
	free_run(&truth);
	f->unmake(&m);
}

static void print(const struct format *f, const struct row *r)
{
	printf("%-8s %6zu %6zu %6zu %6zu %8zu %6zu %9zu %12" PRIu64 " %7" PRIu64 " %7" PRIu64 " %7" PRIu64
	       " %7" PRIu64 " %7" PRIu64 " %7" PRIu64 "\n", f->name, r->flips,
	       r->same, r->marked, r->silent, r->silent_opcodes, r->early, r->announced, r->insns, r->wrong_silent,
	       r->wrong_early, r->marked_wrong, r->marked_right, r->outside, r->doubted);
}

int main(int argc, char **argv)
{
	const unsigned seeds = argc > 1 ? (unsigned)atoi(argv[1]) : HF_TEST_SANITIZED ? 2 : 10;
	const unsigned flips = argc > 2 ? (unsigned)atoi(argv[2]) : HF_TEST_SANITIZED ? 20 : 200;

	uint64_t right = 0, wrong = 0;

	printf("%-8s %6s %6s %6s %6s %8s %6s %9s %12s %7s %7s %7s %7s %7s %7s\n", "", "flips", "same", "marked", "silent",
	       "(opcode)", "early", "announced", "instructions", ":silent", ":early", ":told", "(right)", "outside", "doubted");
	for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
		struct row row = {0};

		for (uint64_t seed = 1; seed <= seeds; seed++)
			try(&formats[i], &row, seed, flips);
		print(&formats[i], &row);
		right += row.marked_right;
		wrong += row.marked_wrong;
		CHECK(argc > 1 || !formats[i].silent || row.silent <= formats[i].silent);
		CHECK(argc > 1 || !formats[i].outside || row.outside <= formats[i].outside);
	}
	CHECK(argc > 1 || HF_TEST_SANITIZED || right <= 2 * wrong);
	return 0;
}

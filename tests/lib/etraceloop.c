/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/views.h"
#include "tests/lib/etraceloop.h"

#include "codecs/etrace/encoder.h"
#include "codecs/setup/read.h"
#include "tests/lib/etracetest.h"

/* ---- writing ---- */

/* The description as it is, but for the program, which is bare code here. */
static void set_ini(struct hf_etl *l, const struct hf_sink *ini)
{
	static const char program[] = "elf = program.elf\n";
	const size_t n = (size_t)(ini->p - ini->start);
	char text[sizeof l->ini], raw[2][64] = {"", ""}, *at;

	CHECK(n < sizeof text);
	memcpy(text, ini->start, n);
	text[n] = 0;
	at = strstr(text, program);
	CHECK(at);
	*at = 0;
	for (unsigned i = 0; i < 2 && l->code.size[i]; i++)
		snprintf(raw[i], sizeof raw[i], "raw = program%u.bin, address = 0x%" PRIx64 "\n", i, l->code.base[i]);
	CHECK(snprintf(l->ini, sizeof l->ini, "%s%s%s%s", text, raw[0], raw[1], at + strlen(program)) <
	      (int)sizeof l->ini);
}

void hf_etl_make(struct hf_etl *l, const struct hf_rvtrace *trace, const char *params, uint32_t hart,
		 const struct hf_etl_code *code)
{
	struct hf_enc_env env = {.params = params};
	struct hf_side side = {.stream = &trace->stream, .env = &env};
	struct hf_sink bytes, ini;
	struct hf_enc *enc;
	char why[200] = "";

	if (hf_view_etrace.check_params(params, why, sizeof why))
		fprintf(stderr, "%s: %s\n", params, why);
	CHECK_EQ(hf_sink_init_memory(&bytes, 1 << 16), 0);
	CHECK_EQ(hf_sink_init_memory(&ini, 1 << 13), 0);
	CHECK_EQ(hf_enc_new(&hf_view_etrace, &trace->stream, hart, &env, &enc), 0);
	hf_enc_put(enc, trace->events, trace->count, &bytes);
	hf_enc_end(enc, &bytes);
	hf_enc_free(enc);
	hf_view_etrace.side[0].write(&side, &ini);
	CHECK_EQ(bytes.err, 0);
	CHECK_EQ(ini.err, 0);
	*l = (struct hf_etl){.size = (size_t)(bytes.p - bytes.start), .code = *code};
	l->trace = malloc(l->size + 1);
	CHECK(l->trace);
	memcpy(l->trace, bytes.start, l->size);
	set_ini(l, &ini);
	hf_sink_fini_memory(&bytes);
	hf_sink_fini_memory(&ini);
}

struct hf_etl_code hf_etl_code_of(const struct hf_rvwalk *walk)
{
	return (struct hf_etl_code){.base = {walk->base}, .size = {walk->at[walk->count]}, .bytes = {walk->code}};
}

void hf_etl_make_walk(struct hf_etl *l, const struct hf_rvtrace *trace, const char *params, const struct hf_rvwalk *walk)
{
	const struct hf_etl_code code = hf_etl_code_of(walk);

	hf_etl_make(l, trace, params, 0, &code);
}

void hf_etl_free(struct hf_etl *l)
{
	free(l->trace);
}

/* ---- reading ---- */

struct reading {
	const struct hf_etl *l;
	size_t skip;
};

static int open_file(void *ctx, const char *name, struct hf_src **ret_src, struct hf_diag *diag)
{
	const struct reading *r = ctx;

	(void)diag;
	if (strcmp(name, "capture.ini") == 0)
		return hf_src_memory_new(r->l->ini, strlen(r->l->ini), ret_src);
	if (strcmp(name, "program0.bin") == 0)
		return hf_src_memory_new(r->l->code.bytes[0], r->l->code.size[0], ret_src);
	if (strcmp(name, "program1.bin") == 0)
		return hf_src_memory_new(r->l->code.bytes[1], r->l->code.size[1], ret_src);
	if (strcmp(name, "trace.bin") == 0)
		return hf_src_memory_new(r->l->trace + r->skip, r->l->size - r->skip, ret_src);
	return HF_ERR_NOT_FOUND;
}

static struct hf_etracet open_view(const struct hf_etl *l, size_t skip)
{
	struct reading r = {.l = l, .skip = skip};
	const struct hf_setup_opener opener = {.ctx = &r, .open = open_file, .codecs = hf_codecs};
	struct hf_setup_error error = {0};
	struct hf_etracet t;

	if (hf_setup_read(&opener, "capture.ini", &t.setup, &error) || hf_setup_load(t.setup, &opener, &t.src, &error)) {
		fprintf(stderr, "line %u: %s\n%s", error.line, error.text, l->ini);
		exit(1);
	}
	CHECK_EQ(hf_stream_open(&hf_codec_etrace, t.src, t.setup, &t.stream, NULL), 0);
	return t;
}

void hf_etl_decode(const struct hf_etl *l, size_t skip, struct hf_rvtrace *got, uint32_t *ret_hart)
{
	struct hf_etracet t = open_view(l, skip);
	struct hf_event ev[64];
	struct hf_dec *dec;
	size_t n;
	int err;

	if (ret_hart)
		*ret_hart = t.stream->info.first_hart;
	CHECK_EQ(hf_dec_new(t.stream, t.src, t.stream->info.first_hart, &dec), 0);
	while ((err = hf_dec_next(dec, ev, 64, &n)) == 0)
		for (size_t i = 0; i < n; i++)
			hf_rvtrace_append(got, &ev[i]);
	CHECK_EQ(err, HF_NOTE_END);
	hf_dec_free(dec);
	hf_etracet_close(&t);
}

/* A decoder in the state of that one, which is freed. */
static struct hf_dec *resume(const struct hf_etracet *t, struct hf_dec *dec)
{
	uint8_t blob[HF_STATE_MAX];
	struct hf_dec *next;
	uint64_t discard;
	const size_t n = hf_dec_save(dec, blob, &discard);

	hf_dec_free(dec);
	CHECK_EQ(hf_dec_new(t->stream, t->src, t->stream->info.first_hart, &next), 0);
	CHECK_EQ(hf_dec_load(next, blob, n, discard), 0);
	return next;
}

void hf_etl_decode_resumed(const struct hf_etl *l, struct hf_rvtrace *got)
{
	struct hf_etracet t = open_view(l, 0);
	struct hf_event ev[7];
	struct hf_dec *dec;
	size_t n;
	int err;

	CHECK_EQ(hf_dec_new(t.stream, t.src, t.stream->info.first_hart, &dec), 0);
	for (;;) {
		struct hf_etrace_dec *d = (struct hf_etrace_dec *)dec;

		/* it makes a state wherever it can */
		d->sync_distance = d->full_distance = 1;
		d->retry = 1;
		err = hf_dec_next(dec, ev, 7, &n);
		if (err)
			break;
		for (size_t i = 0; i < n; i++)
			hf_rvtrace_append(got, &ev[i]);
		dec = resume(&t, dec);
	}
	CHECK_EQ(err, HF_NOTE_END);
	hf_dec_free(dec);
	hf_etracet_close(&t);
}

/* ---- comparing ---- */

/* Something retires between the trap before ev and what comes next. */
static bool retires(const struct hf_event *ev, const struct hf_event *end)
{
	for (; ev < end; ev++)
		switch (ev->kind) {
		case HF_EVENT_INSN:
			return true;
		case HF_EVENT_TRAP:
		case HF_EVENT_GAP:
		case HF_EVENT_DISCONTINUITY:
			return false;
		default:
			break;
		}
	return false;
}

static bool is_compared(const struct hf_event *ev, const struct hf_event *end, unsigned what)
{
	switch (ev->kind) {
	case HF_EVENT_INSN:
		return what & HF_ETL_INSNS;
	case HF_EVENT_TRAP:
		return (what & HF_ETL_TRAPS) && (!(what & HF_ETL_OLD_TRAPS) || retires(ev + 1, end));
	case HF_EVENT_MEM:
		return what & HF_ETL_MEM;
	case HF_EVENT_REG:
		return (what & HF_ETL_CSRS) && ev->reg.class == 4;
	case HF_EVENT_GAP:
	case HF_EVENT_DISCONTINUITY:
		return what & HF_ETL_LOSSES;
	default:
		return false;
	}
}

/* The next event that is compared; *ret_epc: the attempt before it, 0 if there is none. */
static const struct hf_event *next_event(const struct hf_event *ev, const struct hf_event *end, unsigned what,
					 uint64_t *ret_epc)
{
	for (*ret_epc = 0; ev < end && !is_compared(ev, end, what); ev++)
		if (ev->kind == HF_EVENT_ATTEMPT)
			*ret_epc = ev->insn.pc;
	return ev < end ? ev : NULL;
}

static bool same_trap(const struct hf_event *a, const struct hf_event *b, uint64_t epc_a, uint64_t epc_b, unsigned what)
{
	const unsigned flags = HF_EVF_ASYNC | HF_EVF_CAUSE;
	const bool old = what & HF_ETL_OLD_TRAPS;

	if (((a->flags ^ b->flags) & flags) || ((a->flags & HF_EVF_CAUSE) && a->trap.cause != b->trap.cause))
		return false;
	if (a->flags & HF_EVF_ASYNC)
		return true;
	if (a->trap.value != b->trap.value && !(old && a->trap.cause == 2))
		return false;
	return old || epc_a == epc_b || (epc_b == 0 && !(what & HF_ETL_EPCS));
}

static bool same(const struct hf_event *a, const struct hf_event *b, uint64_t epc_a, uint64_t epc_b, unsigned what)
{
	if (!a || !b || a->kind != b->kind)
		return a == b;
	switch (a->kind) {
	case HF_EVENT_INSN:
		return a->insn.pc == b->insn.pc && a->insn.opcode == b->insn.opcode && a->insn.mode == b->insn.mode;
	case HF_EVENT_TRAP:
		return same_trap(a, b, epc_a, epc_b, what);
	case HF_EVENT_MEM:
		return a->flags == b->flags && a->words == b->words && a->mem.address == b->mem.address &&
		       a->mem.size == b->mem.size && a->mem.data == b->mem.data;
	case HF_EVENT_REG:
		return a->reg.number == b->reg.number && a->reg.value == b->reg.value && a->reg.role == b->reg.role;
	default:
		return true;
	}
}

/* Some events before and behind it, and it. */
static void show(const char *which, const struct hf_rvtrace *trace, const struct hf_event *at, uint64_t epc)
{
	const size_t i = at ? (size_t)(at - trace->events) : trace->count;

	fprintf(stderr, "%s, epc %" PRIx64 ":\n", which, epc);
	for (size_t k = i < 6 ? 0 : i - 6; k < i + 4 && k < trace->count; k++) {
		const struct hf_event *ev = &trace->events[k];

		fprintf(stderr, "%s kind %u flags %u small %u size %u words %" PRIx64 " %" PRIx64 " %" PRIx64 "\n",
			k == i ? " >" : "  ", ev->kind, ev->flags, ev->any, ev->size, ev->word[0], ev->word[1], ev->word[2]);
	}
	if (!at)
		fprintf(stderr, " > the end\n");
}

static void show_records(const struct hf_etl *l)
{
	struct hf_etracet t = open_view(l, 0);
	struct hf_dec *dec;
	struct hf_event ev;
	size_t n;

	CHECK_EQ(hf_dec_new(t.stream, t.src, HF_HART_RECORDS, &dec), 0);
	while (hf_dec_next(dec, &ev, 1, &n) == 0)
		if (ev.kind == HF_EVENT_DATA)
			fwrite(ev.data.bytes, 1, ev.used, stderr);
	hf_dec_free(dec);
	hf_etracet_close(&t);
}

void hf_etl_check_same(const struct hf_etl *l, const struct hf_rvtrace *want, const struct hf_rvtrace *got, unsigned what,
		       const char *name)
{
	const struct hf_event *a = want->events, *a_end = a + want->count, *b = got->events, *b_end = b + got->count;

	for (size_t i = 0;; i++) {
		uint64_t epc_a, epc_b;

		a = next_event(a, a_end, what, &epc_a);
		b = next_event(b, b_end, what, &epc_b);
		if (!same(a, b, epc_a, epc_b, what)) {
			fprintf(stderr, "%s: event %zu differs\n", name, i);
			show("put in", want, a, epc_a);
			show("came out", got, b, epc_b);
			if (getenv("SHOW_PACKETS"))
				show_records(l);
			exit(1);
		}
		if (!a)
			return;
		a++;
		b++;
	}
}

static size_t insn_before(const struct hf_rvtrace *t, size_t i)
{
	while (i && t->events[i - 1].kind != HF_EVENT_INSN)
		i--;
	return i;
}

size_t hf_etl_same_tail(const struct hf_rvtrace *a, const struct hf_rvtrace *b)
{
	size_t n = 0, i = insn_before(a, a->count), k = insn_before(b, b->count);

	for (; i && k && a->events[i - 1].insn.pc == b->events[k - 1].insn.pc; n++) {
		i = insn_before(a, i - 1);
		k = insn_before(b, k - 1);
	}
	return n;
}

size_t hf_etl_count(const struct hf_rvtrace *trace, enum hf_event_kind kind)
{
	size_t n = 0;

	for (size_t i = 0; i < trace->count; i++)
		n += trace->events[i].kind == kind;
	return n;
}

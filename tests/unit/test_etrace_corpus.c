/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every capture of the corpus gives exactly the retired pcs that others found, and the traps. The pcs of the six
 * streams that nobody can decode (the ambiguity of implicit returns) may differ; they must only come to an end.
 */
#include "tests/lib/etracetest.h"

#include <glob.h>
#include <unistd.h>

struct golden {
	uint64_t *pc;
	size_t n;
};

static struct golden load_golden(const char *name)
{
	struct hf_walk_bytes text = hf_stft_text(name);
	struct golden g = {.pc = malloc(text.n * sizeof *g.pc)};

	CHECK(g.pc);
	for (char *p = (char *)text.p; *p;) {
		g.pc[g.n++] = strtoull(p, &p, 16);
		p += strspn(p, "\r\n");
	}
	hf_bytes_free(&text);
	return g;
}

static bool is_undecodable(const char *ini)
{
	static const char *const names[] = {"corner/c111_ir_rs", "corner/c111_ir_bp_rs", "corner/c111_all_rs"};

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strstr(ini, names[i]))
			return true;
	return false;
}

/* How many of the pcs differ; says where first. */
static size_t compare(const char *name, uint32_t hart, const struct hf_events *list, const struct golden *g)
{
	size_t n = 0, wrong = 0;

	for (size_t i = 0; i < list->n; i++) {
		if (list->ev[i].kind != HF_EVENT_INSN)
			continue;
		if (n >= g->n || list->ev[i].insn.pc != g->pc[n]) {
			if (!wrong++)
				fprintf(stderr, "%s hart %u: instruction %zu is %llx, not %llx\n", name, hart, n,
					(unsigned long long)list->ev[i].insn.pc,
					n < g->n ? (unsigned long long)g->pc[n] : 0);
		}
		n++;
	}
	if (n != g->n && !wrong++)
		fprintf(stderr, "%s hart %u: %zu instructions of %zu\n", name, hart, n, g->n);
	return wrong;
}

static size_t losses(const struct hf_events *list)
{
	size_t n = 0;

	for (size_t i = 0; i < list->n; i++)
		n += list->ev[i].kind == HF_EVENT_GAP || list->ev[i].kind == HF_EVENT_DISCONTINUITY;
	return n;
}

/* ---- traps ---- */

struct trap {
	uint64_t retired, epc, cause, tval;
	unsigned interrupt, before, handler;
	bool has_handler;
};

static size_t load_traps(const char *program, struct trap **ret_traps)
{
	char name[256];
	struct hf_walk_bytes text;
	size_t n = 0, lines = 0;

	snprintf(name, sizeof name, "%s/etrace/%s/expected_traps.csv", hf_stft_corpus(), program);
	*ret_traps = NULL;
	if (access(name, R_OK)) /* a program without traps */
		return 0;
	text = hf_stft_text(name + strlen(hf_stft_corpus()) + 1);
	for (char *p = (char *)text.p; *p; p++)
		lines += *p == '\n';
	*ret_traps = calloc(lines + 1, sizeof **ret_traps);
	CHECK(*ret_traps);
	for (char *p = strchr((char *)text.p, '\n'); p && p[1]; p = strchr(p + 1, '\n')) {
		struct trap *t = &(*ret_traps)[n++];
		char handler[16] = "";

		CHECK(sscanf(p + 1, "%lu,%lx,%lu,%u,%lx,%u,%15[0-9]", &t->retired, &t->epc, &t->cause, &t->interrupt,
			     &t->tval, &t->before, handler) >= 6);
		t->has_handler = *handler;
		t->handler = (unsigned)strtoul(handler, NULL, 10);
	}
	hf_bytes_free(&text);
	return n;
}

struct found {
	size_t count, wrong;
};

/*
 * Traps in order. Those whose handler did not retire anything are not reported in 1.1.1; where the one behind such a
 * trap happened is then unknown. epc is checked where an ATTEMPT says it, values where they are not cut.
 */
static struct found compare_traps(const char *name, const struct hf_events *list, const struct trap *traps, size_t n,
				  bool old, bool cut)
{
	struct found f = {0};
	size_t retired = 0, t = 0;
	const struct hf_event *attempt = NULL;

	for (size_t i = 0; i < list->n; i++) {
		const struct hf_event *ev = &list->ev[i];
		bool hidden = false;

		if (ev->kind == HF_EVENT_INSN || ev->kind == HF_EVENT_ATTEMPT) {
			retired += ev->kind == HF_EVENT_INSN;
			attempt = ev->kind == HF_EVENT_ATTEMPT ? ev : NULL;
		}
		if (ev->kind != HF_EVENT_TRAP)
			continue;
		for (; old && t < n && !traps[t].has_handler; t++)
			hidden = true;
		f.count++;
		if (t >= n || ((ev->flags & HF_EVF_CAUSE) && (ev->trap.cause != traps[t].cause ||
			       !(ev->flags & HF_EVF_ASYNC) != !traps[t].interrupt)) ||
		    (!cut && retired != traps[t].retired) ||
		    (!cut && ev->trap.value != traps[t].tval && ev->trap.value) ||
		    (attempt && !hidden && attempt->insn.pc != traps[t].epc) ||
		    (attempt && attempt->insn.mode != HF_MODE_UNKNOWN &&
		     attempt->insn.mode != hf_etrace_mode_of((uint8_t)traps[t].before)) ||
		    ((ev->flags & HF_EVF_MODE) && traps[t].has_handler &&
		     ev->mode != hf_etrace_mode_of((uint8_t)traps[t].handler))) {
			if (!f.wrong++)
				fprintf(stderr, "%s: trap %zu behind %zu instructions: cause %llu attempt %llx value %llx\n",
					name, f.count - 1, retired, (unsigned long long)ev->trap.cause,
					attempt ? (unsigned long long)attempt->insn.pc : 0,
					(unsigned long long)ev->trap.value);
		}
		attempt = NULL;
		t++;
	}
	for (; old && t < n && !traps[t].has_handler; t++)
		f.count += 0;
	if (t != n && !f.wrong++)
		fprintf(stderr, "%s: %zu traps of %zu\n", name, t, n);
	return f;
}

/* ---- one capture ---- */

struct total {
	size_t captures, failed, undecodable, traps, trap_failures;
};

static void check_traps(struct total *total, const char *ini, const char *program, const struct hf_etracet *t,
			const struct hf_events *list)
{
	const struct hf_etrace_params *params = t->stream->info.header;
	struct trap *traps;
	size_t n = load_traps(program, &traps);
	struct found f = compare_traps(ini, list, traps, n, params->version == HF_ETRACE_1_1_1 && !params->figure,
				       params->ecall_retires);

	total->traps += f.count;
	total->trap_failures += f.wrong != 0;
	free(traps);
}

static void check_hart(struct total *total, const char *ini, const char *program, const struct hf_etracet *t,
		       uint32_t hart)
{
	const struct hf_etrace_params *params = t->stream->info.header;
	struct hf_events list = hf_stft_events(t->stream, t->src, hart, 256);
	struct golden g;
	char name[512];
	bool corner = strcmp(program, "corner") == 0;

	snprintf(name, sizeof name, "etrace/%s/expected_pc%s.txt", program,
		 corner && params->ecall_retires ? "_ecall_retires" : "");
	g = load_golden(name);
	total->captures++;
	if (is_undecodable(ini)) {
		total->undecodable++;
	} else {
		size_t lost = losses(&list);

		if (lost)
			fprintf(stderr, "%s hart %u: %zu losses\n", ini, hart, lost);
		total->failed += compare(ini, hart, &list, &g) || lost;
		check_traps(total, ini, program, t, &list);
	}
	free(g.pc);
	hf_events_free(&list);
}

static void check_capture(struct total *total, const char *ini, const char *program, uint32_t hart, bool other)
{
	struct hf_etracet t;

	if (!hf_etracet_open(&t, ini)) {
		total->captures++;
		total->failed++;
		return;
	}
	if (hart == HF_SETUP_ANY)
		hart = t.stream->info.first_hart;
	check_hart(total, ini, program, &t, hart);
	if (other)
		check_hart(total, ini, "br_j_asm", &t, hart + 1);
	hf_etracet_close(&t);
}

static void check_glob(struct total *total, const char *pattern)
{
	char path[4096];
	glob_t g;

	snprintf(path, sizeof path, "%s/etrace/%s", hf_stft_corpus(), pattern);
	if (glob(path, 0, NULL, &g))
		return;
	for (size_t i = 0; i < g.gl_pathc; i++) {
		const char *p = g.gl_pathv[i] + strlen(hf_stft_corpus()) + strlen("/etrace/");
		char program[256];

		snprintf(program, sizeof program, "%.*s", (int)strcspn(p, "/"), p);
		check_capture(total, g.gl_pathv[i], program, HF_SETUP_ANY, false);
	}
	globfree(&g);
}

int main(int argc, char **argv)
{
	struct total total = {0};
	char path[4096];
	static const struct {
		const char *name;
		uint32_t hart;
		bool two;
	} framings[] = {
		{"encap_src0", 0, false},	 {"encap_src8", 3, false},     {"encap_src8_ts2", 3, false},
		{"encap_src6_type2", 5, false}, {"encap_2hart_sync", 0, true}, {"atb_coresight_2id", 0x10, true},
	};

	check_glob(&total, argc > 1 ? argv[1] : "*/*/capture.ini");
	for (size_t i = 0; argc < 2 && i < sizeof framings / sizeof framings[0]; i++) {
		snprintf(path, sizeof path, "%s/etrace/framing/%s.ini", hf_stft_corpus(), framings[i].name);
		check_capture(&total, path, "corner", framings[i].hart, framings[i].two);
	}
	printf("%zu streams, %zu of them not decodable by anyone; %zu failed; %zu traps, wrong in %zu streams\n",
	       total.captures, total.undecodable, total.failed, total.traps, total.trap_failures);
	CHECK(argc > 1 || total.captures >= 190);
	CHECK_EQ(total.failed, 0);
	CHECK_EQ(total.trap_failures, 0);
	return 0;
}

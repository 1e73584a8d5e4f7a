/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The STF captures with known answers: pcs, opcodes, memory accesses and traps of every one, the malformed files, and
 * trace.stf of every hart read again.
 */
#include "codecs/stf/errors.h"
#include "codecs/views.h"
#include "tests/lib/sliver.h"
#include "tests/lib/stftest.h"

extern const struct hf_codec hf_codec_stf;

/* Compares line by line, so that a difference is shown where it is. */
static void check_text(const struct hf_walk_bytes *ours, const struct hf_walk_bytes *golden, const char *what)
{
	size_t line = 1, at = 0, n = ours->n < golden->n ? ours->n : golden->n, start = 0;

	while (at < n && ours->p[at] == golden->p[at]) {
		if (ours->p[at++] == '\n') {
			line++;
			start = at;
		}
	}
	if (at == ours->n && at == golden->n)
		return;
	fprintf(stderr, "%s:%zu: ours: %.60s\nand not: %.60s\n", what, line, ours->p + start, golden->p + start);
	exit(1);
}

static void printed(struct hf_walk_bytes *to, const char *text, int n)
{
	CHECK(n > 0 && n < 200);
	hf_bytes_add(to, text, (size_t)n);
}

#define PRINT(to, ...)                                                                         \
	do {                                                                                   \
		char print_text[200];                                                          \
		printed(to, print_text, snprintf(print_text, sizeof print_text, __VA_ARGS__)); \
	} while (0)

/* "pc opcode", of all instruction records (with " x" behind attempts, if marks) or the retired ones. */
static struct hf_walk_bytes insts_text(const struct hf_events *list, bool retired, bool marks, int pc_digits)
{
	struct hf_walk_bytes text = {0};

	for (size_t i = 0; i < list->n; i++) {
		const struct hf_event *ev = &list->ev[i];

		if (!hf_event_is_instruction(ev) || (retired && ev->kind == HF_EVENT_ATTEMPT))
			continue;
		PRINT(&text, "%0*" PRIx64 " %0*x%s\n", pc_digits, ev->insn.pc, ev->insn.size * 2, ev->insn.opcode,
		      marks && ev->kind == HF_EVENT_ATTEMPT ? " x" : "");
	}
	hf_bytes_add(&text, "", 1);
	return text;
}

/* Data words of the access at list->ev[i], each as format prints it. */
static void print_words(struct hf_walk_bytes *text, const struct hf_events *list, size_t i)
{
	const struct hf_event *ev = &list->ev[i];

	if (ev->words)
		PRINT(text, " %" PRIx64, ev->mem.data);
	for (unsigned word = 1; word < ev->words; word++) {
		const struct hf_event *data = &list->ev[i + 1 + (word - 1) / 3];

		CHECK_EQ(data->kind, HF_EVENT_DATA);
		PRINT(text, " %" PRIx64, hf_get64(data->data.bytes + (word - 1) % 3 * 8));
	}
}

/* mem.txt of corpus/stf; which[i] is the file's instruction number of this hart's i-th, or NULL. */
static struct hf_walk_bytes mem_text(const struct hf_events *list, const uint32_t *which)
{
	struct hf_walk_bytes text = {0};
	uint32_t insn = 0;

	for (size_t i = 0; i < list->n; i++) {
		const struct hf_event *ev = &list->ev[i];

		insn += hf_event_is_instruction(ev);
		if (ev->kind != HF_EVENT_MEM)
			continue;
		PRINT(&text, "%u %c %" PRIx64 " %u %x", which ? which[insn - 1] : insn - 1,
		      ev->flags & HF_EVF_READ ? 'R' : 'W', ev->mem.address,
		      ev->flags & HF_EVF_SIZE_BITS ? ev->mem.size * 8 : ev->mem.size, ev->mem.attr);
		print_words(&text, list, i);
		PRINT(&text, "\n");
	}
	hf_bytes_add(&text, "", 1);
	return text;
}

/* mem.txt of corpus/qemu: of retired instructions, with the value as wide as the access. */
static struct hf_walk_bytes qemu_mem_text(const struct hf_events *list)
{
	struct hf_walk_bytes text = {0};
	const struct hf_event *insn = NULL;
	uint32_t line = 0;

	for (size_t i = 0; i < list->n; i++) {
		const struct hf_event *ev = &list->ev[i];

		if (hf_event_is_instruction(ev))
			insn = ev;
		line += ev->kind == HF_EVENT_INSN;
		if (ev->kind != HF_EVENT_MEM || insn->kind != HF_EVENT_INSN)
			continue;
		PRINT(&text, "%u %" PRIx64 " %c %u %" PRIx64, line - 1, insn->insn.pc,
		      ev->flags & HF_EVF_READ ? 'R' : 'W', ev->mem.size, ev->mem.address);
		if (ev->words)
			PRINT(&text, " %0*" PRIx64, (int)ev->mem.size * 2, ev->mem.data);
		PRINT(&text, "\n");
	}
	hf_bytes_add(&text, "", 1);
	return text;
}

static void check_and_free(struct hf_walk_bytes ours, struct hf_walk_bytes golden, const char *what)
{
	check_text(&ours, &golden, what);
	hf_bytes_free(&ours);
	hf_bytes_free(&golden);
}

/* trace.stf of these events has the same events. Returns its bytes behind the header. */
static void check_round(const struct hf_stream *stream, uint32_t hart, struct hf_events *list, const char *what)
{
	struct hf_walk_bytes bytes = hf_stft_encode(stream, hart, list);
	struct hf_events again = hf_stft_decode(&bytes, 0);

	hf_events_forget_places(list);
	hf_events_forget_places(&again);
	hf_events_check_same(list, &again, what);
	hf_events_free(&again);
	hf_bytes_free(&bytes);
}

static void path(char *to, const char *folder, const char *name)
{
	snprintf(to, 300, "%s/%s", folder, name);
}

/* ---- corpus/stf ---- */

static void test_trace(const char *folder, const char *file, const char *insts, const char *mem)
{
	char name[300];
	struct hf_walk_bytes bytes;
	struct hf_events list;
	struct hf_stft t;

	path(name, folder, file);
	bytes = hf_stft_load(name);
	hf_stft_open(&t, &bytes);
	list = hf_stft_events(t.stream, t.src, 0, 256);
	if (insts) {
		path(name, folder, insts);
		check_and_free(insts_text(&list, false, false, 1), hf_stft_text(name), name);
	}
	if (mem) {
		path(name, folder, mem);
		check_and_free(mem_text(&list, NULL), hf_stft_text(name), name);
	}
	check_round(t.stream, 0, &list, file);
	hf_events_free(&list);
	hf_stft_close(&t);
	hf_bytes_free(&bytes);
}

/* harts.txt: "hw pid tid pc opcode" of every instruction of the file, in its order. */
static void test_harts(void)
{
	struct hf_walk_bytes bytes = hf_stft_load("stf/harts/harts.zstf"), golden = hf_stft_text("stf/harts/harts.txt");
	struct hf_walk_bytes mem = hf_stft_text("stf/harts/mem.txt");
	uint32_t *which = malloc(40000 * sizeof *which);
	uint8_t *hart_of = malloc(40000);
	struct hf_stft t;

	CHECK(which && hart_of);
	hf_stft_open(&t, &bytes);
	CHECK_EQ(t.stream->info.first_hart, 0);
	for (uint32_t hart = 0; hart < 3; hart++) {
		struct hf_events list = hf_stft_events(t.stream, t.src, hart, 100);
		struct hf_walk_bytes ours = {0}, theirs = {0}, mem_of = {0};
		const char *line = (const char *)golden.p, *end;
		struct hf_ev_context now = {0};
		uint32_t count = 0, mine = 0;

		for (; (end = strchr(line, '\n')); line = end + 1, count++) {
			hart_of[count] = (uint8_t)(*line - '0');
			if (hart_of[count] == hart) {
				which[mine++] = count;
				hf_bytes_add(&theirs, line, (size_t)(end + 1 - line));
			}
		}
		for (size_t i = 0; i < list.n; i++) {
			const struct hf_event *ev = &list.ev[i];

			if (ev->kind == HF_EVENT_CONTEXT && (ev->fields & 7))
				now = ev->context;
			if (hf_event_is_instruction(ev))
				PRINT(&ours, "%u %u %u %" PRIx64 " %0*x\n", now.hw, now.pid, now.tid, ev->insn.pc,
				      ev->insn.size * 2, ev->insn.opcode);
			if (ev->kind == HF_EVENT_ATTEMPT)
				CHECK_EQ(hart_of[ev->insn.target], hart);
		}
		check_and_free(ours, theirs, "harts.txt");
		for (line = (const char *)mem.p; (end = strchr(line, '\n')); line = end + 1)
			if (hart_of[atoi(line)] == hart)
				hf_bytes_add(&mem_of, line, (size_t)(end + 1 - line));
		hf_bytes_add(&mem_of, "", 1);
		check_and_free(mem_text(&list, which), mem_of, "harts mem.txt");
		check_round(t.stream, hart, &list, "harts");
		hf_events_free(&list);
	}
	hf_stft_close(&t);
	free(which);
	free(hart_of);
	hf_bytes_free(&golden);
	hf_bytes_free(&mem);
	hf_bytes_free(&bytes);
}

/* txn.transactions.txt: what a transaction holds, as the reference library prints it. */
static void test_transactions(void)
{
	struct hf_walk_bytes bytes = hf_stft_load("stf/edge/txn.stf");
	struct hf_events list;
	struct hf_stft t;
	uint64_t id = 0;

	hf_stft_open(&t, &bytes);
	CHECK_EQ(t.stream->info.flags & HF_STREAM_HARTS, 0);
	CHECK(hf_enc_refusal(&hf_view_stf, &t.stream->info));
	CHECK(strstr(t.stream->info.json,
		     "\"protocol\":\"TileLink\",\"clocks\":[{\"id\":1,\"name\":\"system_clock\"}]"));
	list = hf_stft_events(t.stream, t.src, 0, 1);
	for (size_t i = 0; i < list.n; i++) {
		const struct hf_event *ev = &list.ev[i];

		if (ev->kind == HF_EVENT_TRANSACTION) {
			CHECK_EQ(ev->txn.id, ++id);
			CHECK_EQ(ev->words, 1);
			CHECK_EQ(ev->txn.delta, id < 6 ? (id - 1) * 10 : 0);
			CHECK_EQ(ev[1].data.bytes[ev->txn.meta_size], id < 6 ? id : 1);
		} else {
			CHECK_EQ(ev->kind, HF_EVENT_DATA);
		}
	}
	CHECK_EQ(id, 7);
	hf_events_free(&list);
	hf_stft_close(&t);
	hf_bytes_free(&bytes);
}

/* Any batch, any sliver, from any saved state: the same events; any cut: a beginning of them. */
static void test_ways(const char *name, uint32_t hart)
{
	struct hf_walk_bytes bytes = hf_stft_load(name);
	struct hf_events all, some;
	struct hf_event ev[64];
	struct hf_dec *dec, *other;
	struct hf_src *src;
	struct hf_stft t;
	size_t n;

	hf_stft_open(&t, &bytes);
	all = hf_stft_events(t.stream, t.src, hart, 64);
	for (size_t most = 1; most < 64; most += 2) {
		CHECK_EQ(hf_sliver_new(t.src, most, &src), 0);
		some = hf_stft_events(t.stream, src, hart, most);
		hf_events_check_same(&all, &some, name);
		hf_events_free(&some);
		hf_src_free(src);
	}
	CHECK_EQ(hf_dec_new(t.stream, t.src, hart, &dec), 0);
	CHECK_EQ(hf_dec_new(t.stream, t.src, hart, &other), 0);
	for (size_t i = 0; i < all.n; i++) {
		struct hf_stf_dec *d = (struct hf_stf_dec *)other;
		uint8_t blob[HF_STATE_MAX];
		uint64_t discard;
		size_t size = hf_dec_save(dec, blob, &discard);

		memset(&d->sync, 0xa5, sizeof d->sync);
		memset(&d->group, 0xa5, sizeof d->group);
		CHECK_EQ(hf_dec_load(other, blob, size, discard), 0);
		for (size_t at = i; at < all.n; at += n) {
			CHECK_EQ(hf_dec_next(other, ev, 64, &n), 0);
			CHECK(n <= all.n - at && memcmp(ev, &all.ev[at], n * sizeof *ev) == 0);
		}
		CHECK_EQ(hf_dec_next(dec, ev, 1, &n), 0);
	}
	hf_dec_free(dec);
	hf_dec_free(other);
	for (size_t cut = ((const struct hf_stf_header *)t.stream->info.header)->body; cut < bytes.n; cut++) {
		uint8_t *copy = malloc(cut);
		size_t same = 0;

		memcpy(copy, bytes.p, cut);
		CHECK_EQ(hf_src_memory_new(copy, cut, &src), 0);
		some = hf_stft_events(t.stream, src, hart, 64);
		while (same < some.n && same < all.n && memcmp(&some.ev[same], &all.ev[same], sizeof *ev) == 0)
			same++;
		CHECK(same == some.n || (same == some.n - 1 && some.ev[same].kind == HF_EVENT_GAP));
		hf_events_free(&some);
		hf_src_free(src);
		free(copy);
	}
	hf_events_free(&all);
	hf_stft_close(&t);
	hf_bytes_free(&bytes);
}

/* ---- corpus/stf/bad: what bad.json says ---- */

static void test_bad_headers(void)
{
	static const struct {
		const char *file;
		int code;
		uint64_t offset;
	} bad[] = {
		{"bad-truncated-in-string", HF_ERR_STF_RECORD_CUT, 29},
		{"bad-comment-length", HF_ERR_STF_RECORD_CUT, 13},
		{"bad-magic", HF_ERR_STF_MAGIC, 0},
		{"bad-no-version", HF_ERR_STF_NO_VERSION, 4},
		{"bad-no-end-header", HF_ERR_STF_HEADER, 62},
		{"bad-no-force-pc", HF_ERR_STF_HEADER_MISSING, 53},
		{"bad-two-isa", HF_ERR_STF_HEADER_TWICE, 16},
		{"bad-version-2", HF_ERR_STF_VERSION, 4},
		{"bad-empty", HF_ERR_STF_MAGIC, 0},
	};

	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		char name[300];
		struct hf_walk_bytes bytes;
		struct hf_stream *stream;
		struct hf_diag diag = {0};
		struct hf_src *src;

		snprintf(name, sizeof name, "stf/bad/%s.stf", bad[i].file);
		bytes = hf_stft_load(name);
		CHECK_EQ(hf_src_memory_new(bytes.p, bytes.n, &src), 0);
		CHECK_EQ(hf_stream_open(&hf_codec_stf, src, NULL, &stream, &diag), bad[i].code);
		CHECK_EQ(diag.offset, bad[i].offset);
		hf_src_free(src);
		hf_bytes_free(&bytes);
	}
}

static void test_bad_bodies(void)
{
	static const struct {
		const char *file;
		int code;
		uint64_t offset;
		unsigned before, after; /* instructions */
	} bad[] = {
		{"bad-descriptor-0.stf", HF_ERR_STF_DESCRIPTOR, 353, 10, 0},
		{"bad-descriptor-20.stf", HF_ERR_STF_DESCRIPTOR, 353, 10, 0},
		{"bad-descriptor-14.stf", HF_ERR_STF_DESCRIPTOR, 353, 10, 0},
		{"bad-descriptor-249.stf", HF_ERR_STF_DESCRIPTOR, 353, 10, 0},
		{"bad-descriptor-255.stf", HF_ERR_STF_DESCRIPTOR, 353, 10, 0},
		{"bad-truncated-record.stf", HF_ERR_STF_RECORD_CUT, 1060, 35, 0},
		{"bad-comment-length-body.stf", HF_ERR_STF_RECORD_CUT, 429, 1, 0},
		{"bad-comment-length-body.zstf", HF_ERR_STF_RECORD_CUT, 429, 1, 0},
		{"bad-isa-in-body.stf", HF_ERR_STF_HEADER_IN_BODY, 353, 10, 26},
		{"bad-vector-without-vlen.stf", HF_ERR_STF_NO_VLEN, 150, 0, 0},
	};

	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		char name[300];
		struct hf_walk_bytes bytes;
		struct hf_events list;
		unsigned insns[2] = {0, 0}, losses = 0;

		snprintf(name, sizeof name, "stf/bad/%s", bad[i].file);
		bytes = hf_stft_load(name);
		list = hf_stft_decode(&bytes, 0);
		for (size_t k = 0; k < list.n; k++) {
			const struct hf_event *ev = &list.ev[k];

			if (hf_event_is_instruction(ev))
				insns[losses]++;
			if (ev->kind != HF_EVENT_GAP && ev->kind != HF_EVENT_NOTE)
				continue;
			CHECK_EQ(-(int)ev->code, bad[i].code);
			CHECK_EQ(ev->loss.offset, bad[i].offset);
			CHECK_EQ(++losses, 1);
		}
		CHECK_EQ(losses, 1);
		CHECK_EQ(insns[0], bad[i].before);
		CHECK_EQ(insns[1], bad[i].after);
		hf_events_free(&list);
		hf_bytes_free(&bytes);
	}
}

/* ---- corpus/qemu ---- */

/*
 * events.txt: "lines record kind cause epc tval target name" of what STF has a record for. In user mode tval is the
 * address that a signal handler is given, which is not what a hart has there.
 */
static struct hf_walk_bytes traps_text(const struct hf_events *list, bool user)
{
	struct hf_walk_bytes text = {0};
	const struct hf_event *insn = NULL;
	unsigned retired = 0;

	for (size_t i = 0; i < list->n; i++) {
		const struct hf_event *ev = &list->ev[i];

		if (hf_event_is_instruction(ev))
			insn = ev;
		retired += ev->kind == HF_EVENT_INSN;
		if (ev->kind != HF_EVENT_TRAP)
			continue;
		CHECK_EQ(insn->kind, HF_EVENT_ATTEMPT);
		PRINT(&text, "%u %" PRIu64 " %s %" PRIx64 " %" PRIx64, retired, insn->insn.target,
		      ev->flags & HF_EVF_ASYNC ? "int" : "exc", ev->trap.cause, insn->insn.pc);
		if (!user)
			PRINT(&text, " %" PRIx64, ev->trap.value);
		PRINT(&text, " %" PRIx64 "\n", ev->trap.handler);
	}
	hf_bytes_add(&text, "", 1);
	return text;
}

/* The same of the golden list; of user mode without what is a FORCE_PC only. */
static struct hf_walk_bytes golden_traps(const char *name, bool user)
{
	struct hf_walk_bytes golden = hf_stft_text(name), text = {0};
	const char *line = (const char *)golden.p, *end;

	for (; (end = strchr(line, '\n')); line = end + 1) {
		char lines[20], record[20], kind[20], cause[20], epc[20], tval[20], target[20];

		if (*line == '#')
			continue;
		CHECK_EQ(sscanf(line, "%19s %19s %19s %19s %19s %19s %19s", lines, record, kind, cause, epc, tval,
				target),
			 7);
		if (user && strcmp(kind, "exc") != 0)
			continue;
		PRINT(&text, "%s %s %s %s %s", lines, record, kind, cause, epc);
		if (!user)
			PRINT(&text, " %s", tval);
		PRINT(&text, " %s\n", target);
	}
	hf_bytes_add(&text, "", 1);
	hf_bytes_free(&golden);
	return text;
}

static void test_qemu(const char *folder, const char *file, const char *pcs, const char *insts, bool mem,
		      const char *events)
{
	char name[300];
	struct hf_walk_bytes bytes;
	struct hf_events list;
	struct hf_stft t;

	path(name, folder, file);
	bytes = hf_stft_load(name);
	hf_stft_open(&t, &bytes);
	list = hf_stft_events(t.stream, t.src, 0, 256);
	path(name, folder, pcs);
	check_and_free(insts_text(&list, true, false, 1), hf_stft_text(name), name);
	if (insts) {
		path(name, folder, insts);
		check_and_free(insts_text(&list, false, true, 1), hf_stft_text(name), name);
	}
	if (mem) {
		path(name, folder, "mem.txt");
		check_and_free(qemu_mem_text(&list), hf_stft_text(name), name);
	}
	if (events) {
		bool user = !strstr(folder, "sys");

		path(name, folder, events);
		check_and_free(traps_text(&list, user), golden_traps(name, user), name);
	}
	check_round(t.stream, 0, &list, folder);
	hf_events_free(&list);
	hf_stft_close(&t);
	hf_bytes_free(&bytes);
}

int main(void)
{
	hf_stft_corpus();
	test_bad_headers();
	test_bad_bodies();
	test_trace("stf/edge", "all64.stf", "all64.insts.txt", "all64.mem.txt");
	test_trace("stf/edge", "all32.stf", "all32.insts.txt", "all32.mem.txt");
	test_trace("stf/edge", "all64.one-chunk.zstf", "all64.insts.txt", "all64.mem.txt");
	test_trace("stf/edge", "pid.stf", "pid.insts.txt", NULL);
	test_trace("stf/edge", "header-only.stf", NULL, NULL);
	test_trace("stf/edge", "comment-after-last.stf.xz", "comment-after-last.insts.txt", NULL);
	test_trace("stf/edge", "two-full-chunks.zstf", NULL, NULL);
	test_trace("stf/bmi_pmp.bare", "bmi_pmp.bare.stf", "insts.txt", "mem.txt");
	test_trace("stf/dhrystone_opt1", "dhrystone_opt1.zstf", "insts.txt", NULL);
	test_trace("stf/dhrystone", "dhrystone.zstf", "insts.txt", "mem.txt");
	test_trace("stf/dhry_riscv", "dhry_riscv.zstf", "insts.txt", "mem.txt");
	test_transactions();
	test_ways("stf/edge/all64.stf", 0);
	test_ways("stf/edge/all32.stf", 0);
	test_ways("stf/edge/pid.stf", 0);
	test_ways("stf/edge/txn.stf", 0);
	test_ways("stf/bmi_pmp.bare/bmi_pmp.bare.stf", 0);
	test_harts();
	test_qemu("qemu/rv32-mini", "trace.stf", "pcs.txt", NULL, false, NULL);
	test_qemu("qemu/rv-sys", "trace.stf.gz", "pcs.txt", "insts.txt", true, "events.txt");
	test_qemu("qemu/rv-signals-ss", "trace.stf.xz", "pcs.txt", "insts.txt", false, "events.txt");
	test_qemu("qemu/rv-small", "trace.stf.xz", "pcs.txt", NULL, true, NULL);
	test_qemu("qemu/rv-recurse", "trace.stf.gz", "pcs.txt", NULL, false, NULL);
	test_qemu("qemu/rv-threads-ss", "t0.stf.xz", "pcs.t0.txt", NULL, false, NULL);
	test_qemu("qemu/rv-threads-ss", "t1.stf.gz", "pcs.t1.txt", NULL, false, NULL);
	test_qemu("qemu/rv-threads-ss", "t4.stf.gz", "pcs.t4.txt", NULL, false, NULL);
	return 0;
}

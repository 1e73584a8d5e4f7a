/* SPDX-License-Identifier: Apache-2.0 */
/*
 * N-Trace against streams of other encoders (HARTFS_CORPUS/ntrace): each decodes to exactly the instructions that the
 * program's simulation logged, the invalid one ends with losses; and our encoder, told the same options, needs no more
 * bytes for messages that decode the same.
 */
#include "codecs/ntrace/message.h"
#include "tests/lib/ntracetest.h"

#include <malloc.h>

static const char *const programs[] = {
	"t1",	      "dhrystone", "towers",   "vvadd",	 "embench-crc32", "embench-nettle-aes",
	"embench-ud", "traps",	   "traps-hi", "rv-sys", "overflow"};

/* What the manifest says of one stream. */
struct level {
	char name[160], file[96];
	unsigned srcbits, src, depth, xlen;
	bool extended, timestamps, valid, repeat_branch, repeat_history, btm;
	unsigned sync, icnt, hist, own, one_type;
};

/* A number (or true, or null as 0) behind "key": in [text, end); fallback if the key is not there. */
static unsigned number(const char *text, const char *end, const char *key, unsigned fallback)
{
	char quoted[64];
	const char *p;

	snprintf(quoted, sizeof quoted, "\"%s\":", key);
	p = strstr(text, quoted);
	if (!p || p >= end)
		return fallback;
	p += strlen(quoted);
	p += strspn(p, " \n");
	return *p == 't' ? 1 : (unsigned)strtoul(p, NULL, 0);
}

static struct hf_walk_bytes load(const char *dir, const char *name)
{
	struct hf_walk_bytes raw = hf_bytes_load(dir, name);
	struct hf_walk walk;

	if (raw.n < 6 || memcmp(raw.p,
				"\xfd"
				"7zXZ",
				6) != 0)
		return raw;
	hf_walk_memory(&walk, &hf_box_xz, raw.p, raw.n);
	CHECK_EQ(walk.err, HF_NOTE_END);
	hf_bytes_free(&raw);
	raw = walk.out;
	walk.out = (struct hf_walk_bytes){0};
	hf_walk_free(&walk);
	return raw;
}

/* What the simulation logged: numbers, which all streams of a program are compared with. */
struct pcs {
	uint64_t *pc;
	size_t n;
};

/* From text, a line each. */
static struct pcs load_pcs(const char *dir, const char *name)
{
	struct hf_walk_bytes text = load(dir, name);
	struct pcs pcs = {.pc = malloc(text.n * sizeof *pcs.pc)};
	char *p, *end;

	CHECK(text.n && pcs.pc);
	hf_bytes_add(&text, "", 1);
	p = (char *)text.p;
	for (end = p + text.n - 1; p < end; p++)
		pcs.pc[pcs.n++] = strtoull(p, &p, 16);
	hf_bytes_free(&text);
	return pcs;
}

static bool equals(const struct hf_ntt_events *events, const struct pcs *pcs)
{
	size_t n = 0;

	for (size_t i = 0; i < events->n; i++) {
		if (events->ev[i].kind != HF_EVENT_INSN)
			continue;
		if (n == pcs->n || pcs->pc[n++] != events->ev[i].insn.pc)
			return false;
	}
	return n == pcs->n;
}

static void describe(const struct level *l, bool has_stack, char *text, size_t size)
{
	snprintf(text, size, "srcbits=%u,xlen=%u,addr_msb_ext=%d,implicit_return=%d", l->srcbits, l->xlen, l->extended,
		 has_stack);
}

/* I-CNT has at most 22 bits (6.2), which the reference encoder does not mind; the other one says where it is full. */
static unsigned icnt_limit(const struct level *l)
{
	if (strncmp(l->file, "nex-spec", 8) != 0)
		return 0x7fffffff;
	return l->icnt ? l->icnt - 1 : 0x3fffff;
}

/* Our encoder with the stream's options: not more bytes, the same instructions and traps. */
static void encode(const struct level *l, const struct hf_ntt *t, const struct hf_ntt_events *events, size_t theirs)
{
	char params[512];
	struct hf_walk_bytes bytes;
	struct hf_ntt_events again;

	snprintf(params, sizeof params,
		 "mode=%s,call_stack=%u,repeat_branch=%d,repeat_history=%d,sync_instructions=0,sync_halfwords=%u,"
		 "srcbits=%u,"
		 "times=%d,ownership=%u,addr_msb_ext=%d,icnt_max=%u,hist_branches=%u,one_trap_type=%u",
		 l->btm ? "btm" : "htm", l->depth, l->repeat_branch, l->repeat_history, l->sync, l->srcbits,
		 l->timestamps, l->own, l->extended, icnt_limit(l), l->hist ? l->hist - 1 : 31, l->one_type);
	bytes = hf_ntt_encode(events, (uint8_t)l->xlen, l->src, params);
	again = hf_ntt_decode(t, bytes.p, bytes.n, l->src, 0);
	hf_ntt_events_check_same_insns(events, &again, params);
	hf_ntt_events_check_same_traps(events, &again, params);
	printf("%-44s %8zu %8zu %+6.1f%%  %.5f bits an instruction\n", l->name, theirs, bytes.n,
	       100.0 * ((double)bytes.n - (double)theirs) / (double)theirs,
	       8.0 * (double)bytes.n / (double)again.insns);
	if (bytes.n > theirs) {
		fprintf(stderr, "%s: %zu bytes, theirs has %zu\n", l->name, bytes.n, theirs);
		exit(1);
	}
	hf_ntt_events_free(&again);
	hf_bytes_free(&bytes);
}

/*
 * The specification's simple encoder is a part of the reference encoder: without history both write the same messages,
 * but that it has none for the end.
 */
static void check_seed(const struct level *l, const struct hf_ntt_events *events, const struct hf_walk_bytes *theirs)
{
	struct hf_walk_bytes ours = hf_ntt_encode(events, (uint8_t)l->xlen, l->src, "mode=btm,profile=seed");
	const struct hf_ntrace_params params = {.xlen = (uint8_t)l->xlen};
	struct hf_ntrace_message last;

	CHECK(ours.n < theirs->n && memcmp(ours.p, theirs->p, ours.n) == 0);
	CHECK_EQ(hf_ntrace_message_read(&params, theirs->p + ours.n, theirs->n - ours.n, &last), 0);
	CHECK_EQ(last.tcode, HF_NTRACE_CORRELATION);
	CHECK_EQ(last.length, theirs->n - ours.n);
	hf_bytes_free(&ours);
}

static void check_level(const struct level *l, const char *dir, const struct hf_walk_bytes *elf, const struct pcs *pcs)
{
	char text[128];
	struct hf_walk_bytes bytes = hf_bytes_load(dir, l->file);
	struct hf_ntt_events events;
	struct hf_ntt t;

	describe(l, l->depth != 0, text, sizeof text);
	hf_ntt_init(&t, text);
	hf_ntt_add_elf(&t, elf);
	events = hf_ntt_decode(&t, bytes.p, bytes.n, l->src, l->valid ? 0 : 10 << 20);
	CHECK_EQ(events.err, HF_NOTE_END);
	if (equals(&events, pcs) != l->valid) {
		fprintf(stderr, "%s: wrong pcs (%zu, %zu losses)\n", l->name, events.insns, events.losses);
		exit(1);
	}
	CHECK(l->valid || events.losses);
	if (l->valid)
		encode(l, &t, &events, bytes.n);
	if (strcmp(l->file, "nex-btm.bin") == 0)
		check_seed(l, &events, &bytes);
	hf_ntt_events_free(&events);
	hf_ntt_fini(&t);
	hf_bytes_free(&bytes);
}

/* The string behind "file": at text. */
static void copy_string(const char *text, char *to, size_t size)
{
	const char *p = strchr(strchr(text, ':'), '"') + 1;

	snprintf(to, size, "%.*s", (int)strcspn(p, "\""), p);
}

static void read_level(struct level *l, const char *program, const char *p, const char *end, unsigned xlen)
{
	copy_string(p, l->file, sizeof l->file);
	snprintf(l->name, sizeof l->name, "%s/%s", program, l->file);
	l->xlen = xlen;
	l->srcbits = number(p, end, "srcbits", 0);
	l->src = number(p, end, "src", 0);
	l->extended = number(p, end, "addr_msb_ext", 0);
	l->timestamps = number(p, end, "timestamps", 0);
	l->depth = number(p, end, "implicit_return_depth", 0);
	l->valid = number(p, end, "valid", 1);
	l->btm = strstr(l->file, "btm") != NULL;
	l->repeat_branch = number(p, end, "rb", 0) || strstr(l->file, "_rb");
	l->repeat_history = number(p, end, "rh", 0) || strstr(l->file, "_rh");
	l->sync = number(p, end, "sync", 0);
	l->icnt = number(p, end, "limI", 0);
	l->hist = number(p, end, "limH", 0);
	l->own = number(p, end, "own", 0) != 0;
	l->one_type = number(p, end, "bt1", 0);
}

static unsigned check_program(const char *corpus, const char *program)
{
	char dir[512];
	struct hf_walk_bytes manifest, elf;
	struct pcs pcs;
	const char *p;
	char name[64];
	unsigned count = 0, xlen;

	snprintf(dir, sizeof dir, "%s/ntrace/%s", corpus, program);
	manifest = hf_bytes_load(dir, "manifest.json");
	hf_bytes_add(&manifest, "", 1);
	elf = hf_bytes_load(dir, "prog.elf");
	copy_string(strstr((const char *)manifest.p, "\"pcs\":"), name, sizeof name);
	pcs = load_pcs(dir, name);
	xlen = number((const char *)manifest.p, (const char *)manifest.p + manifest.n, "xlen", 64);
	for (p = strstr((const char *)manifest.p, "\"file\":"); p; count++) {
		const char *end = strstr(p + 1, "\"file\":");
		struct level l = {0};

		read_level(&l, program, p, end ? end : p + strlen(p), xlen);
		check_level(&l, dir, &elf, &pcs);
		p = end;
	}
	hf_bytes_free(&manifest);
	hf_bytes_free(&elf);
	free(pcs.pc);
	return count;
}

/* Bytes of the messages of one SRC; idle ones lie between messages. */
static size_t size_of_source(const struct hf_walk_bytes *bytes, const struct hf_ntrace_params *params, unsigned src)
{
	struct hf_ntrace_message msg;
	size_t size = 0;

	for (size_t at = 0; at < bytes->n; at += msg.length) {
		msg.length = 1;
		if (bytes->p[at] == 0xff)
			continue;
		CHECK_EQ(hf_ntrace_message_read(params, bytes->p + at, bytes->n - at, &msg), 0);
		size += msg.src == src ? msg.length : 0;
	}
	return size;
}

/* Four harts in one stream, with everything: each is compared by itself. */
static unsigned check_harts(const char *corpus)
{
	const struct hf_ntrace_params params = {.xlen = 64, .srcbits = 2, .addr_msb_ext = true};
	struct level l = {.file = "nex-spec-full.bin",
			  .srcbits = 2,
			  .depth = 8,
			  .xlen = 64,
			  .extended = true,
			  .timestamps = true,
			  .repeat_branch = true,
			  .repeat_history = true,
			  .sync = 1024};
	struct hf_walk_bytes bytes, elf;
	char text[512];
	struct hf_ntt t;

	snprintf(text, sizeof text, "%s/ntrace/multihart4", corpus);
	bytes = hf_bytes_load(text, "nex-full.bin");
	elf = hf_bytes_load(text, "prog.elf");
	describe(&l, true, text, sizeof text);
	hf_ntt_init(&t, text);
	hf_ntt_add_elf(&t, &elf);
	for (l.src = 0; l.src < 4; l.src++) {
		struct hf_ntt_events events = hf_ntt_decode(&t, bytes.p, bytes.n, l.src, 0);

		snprintf(l.name, sizeof l.name, "multihart4, hart %u", l.src);
		CHECK_EQ(events.insns, 30000);
		encode(&l, &t, &events, size_of_source(&bytes, &params, l.src));
		hf_ntt_events_free(&events);
	}
	hf_ntt_fini(&t);
	hf_bytes_free(&elf);
	hf_bytes_free(&bytes);
	return l.src;
}

int main(void)
{
	const char *corpus = getenv("HARTFS_CORPUS");
	unsigned count = 0;

	if (!corpus) {
		printf("SKIPPED: HARTFS_CORPUS does not name the corpus of test captures\n");
		return 77;
	}
	/* Memory once taken stays: each stream needs as much as the last. */
	mallopt(M_MMAP_MAX, 0);
	mallopt(M_TRIM_THRESHOLD, 1 << 30);
	printf("%-44s %8s %8s\n", "stream", "theirs", "ours");
	for (size_t i = 0; i < sizeof programs / sizeof *programs; i += HF_TEST_SANITIZED ? 3 : 1)
		count += check_program(corpus, programs[i]);
	count += check_harts(corpus);
	printf("%u streams\n", count);
	return 0;
}

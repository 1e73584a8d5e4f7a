/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the corpus does not show of the decoder: each case is a few packets over one small program, and the events that
 * must come out, written as text: the low byte of a pc, ">" and the target where it is taken.
 */
#include "codecs/etrace/errors.h"
#include "tests/lib/etracetest.h"

#define BASE UINT64_C(0x80000000)

static const uint32_t code[] = {
	0x00000297, /* 00 auipc t0, 0 */
	0x00012503, /* 04 lw a0, 0(sp) */
	0x00a12423, /* 08 sw a0, 8(sp) */
	0x34051073, /* 0c csrw mscratch, a0 */
	0x00a125af, /* 10 amoadd.w a1, a0, (sp) */
	0x00b50463, /* 14 beq a0, a1, 1c */
	0x00000013, /* 18 nop */
	0x00000317, /* 1c auipc t1, 0 */
	0x01030067, /* 20 jr 16(t1): 2c */
	0x00000013, /* 24 nop */
	0x00000013, /* 28 nop */
	0x000500e7, /* 2c jalr ra, a0 */
	0xfd1ff06f, /* 30 j 00 */
	0x30200073, /* 34 mret */
	0x00000073, /* 38 ecall */
	0x00000013, /* 3c nop */
	0x00000013, /* 40 nop */
	0x00008067, /* 44 ret */
	0x00100073, /* 48 ebreak */
	0x0000006f, /* 4c j . */
	0x00000013, /* 50 nop */
	0xfeb51ee3, /* 54 bne a0, a1, 50 */
	0x00000013, /* 58 nop */
	0x000000ef, /* 5c jal ra, 5c */
};

/* Another context's program at the same place. */
static const uint32_t other_code[] = {0x00000013, 0x00000013, 0x00008067};

struct made {
	struct hf_setup setup;
	struct hf_setup_value values[8];
	struct hf_setup_image images[2];
	struct hf_program_piece pieces[2];
	struct hf_etrace_params params;
	uint32_t modes;
	uint64_t base;
	uint8_t bytes[512];
	size_t n;
};

static void value(struct made *m, const char *key, const char *text)
{
	m->values[m->setup.value_count++] = (struct hf_setup_value){
		.hart = HF_SETUP_ANY, .key = key, .value = text, .file = "test"};
}

static void image(struct made *m, size_t i, uint64_t context, const uint32_t *bytes, size_t size)
{
	m->pieces[i] = (struct hf_program_piece){.address = BASE, .size = size, .bytes = (const uint8_t *)bytes};
	m->images[i] = (struct hf_setup_image){.hart = HF_SETUP_ANY, .spaces = HF_MEMORY_ANY, .context = context,
					       .program = {.pieces = &m->pieces[i], .count = 1, .xlen = 64}};
}

static void make(struct made *m, const char *version, const char *key, const char *text)
{
	*m = (struct made){0};
	m->setup.values = m->values;
	m->setup.images = m->images;
	m->setup.image_count = 1;
	image(m, 0, HF_SETUP_NO_CONTEXT, code, sizeof code);
	value(m, "version", version);
	value(m, "framing", "te_inst_raw");
	value(m, "iaddress_width", "64");
	value(m, "nocontext", "0");
	value(m, "context_width", "8");
	if (key)
		value(m, key, text);
	CHECK_EQ(hf_etrace_params_read(&m->setup, 0, &m->params, NULL), 0);
	m->modes = m->params.modes;
}

static void put(struct made *m, struct hf_etrace_packet pkt)
{
	size_t n = hf_etrace_packet_write(&m->params, m->modes, &pkt, m->bytes + m->n + 1);

	CHECK(n > 0);
	m->bytes[m->n] = (uint8_t)(2 << 5 | n);
	m->n += 1 + n;
}

static void support(struct made *m, uint32_t modes, unsigned status)
{
	struct hf_etrace_packet pkt = {.format = 3, .subformat = 3, .enable = true, .qual_status = (uint8_t)status};

	hf_etrace_support_options(&m->params, modes, &pkt);
	put(m, pkt);
	m->modes = hf_etrace_support_modes(&m->params, &pkt);
}

static void sync(struct made *m, unsigned at, unsigned context)
{
	m->base = BASE + at;
	put(m, (struct hf_etrace_packet){.format = 3, .branch = true, .privilege = 3, .context = context,
					 .has_address = true, .address = m->base >> 1});
}

/* A report of at: with branches (map of the not taken ones), or none. */
static struct hf_etrace_packet report(struct made *m, unsigned at, unsigned branches, unsigned map)
{
	struct hf_etrace_packet pkt = {.format = branches ? 1 : 2, .branches = (uint8_t)branches, .branch_map = map,
				       .has_address = true,
				       .address = (uint64_t)((int64_t)(BASE + at - m->base) >> 1)};

	m->base = BASE + at;
	return pkt;
}

/* ---- events as text ---- */

static char *show_insn(char *t, const struct hf_event *ev)
{
	t += snprintf(t, 64, "%s%02x", ev->kind == HF_EVENT_ATTEMPT ? "a" : "", (unsigned)(ev->insn.pc & 0xff));
	if (ev->kind == HF_EVENT_INSN && (ev->flags & HF_EVF_TAKEN))
		t += snprintf(t, 64, ">%02x", (unsigned)(ev->insn.target & 0xff));
	return t;
}

static char *show(char *t, const struct hf_event *ev)
{
	switch (ev->kind) {
	case HF_EVENT_INSN:
	case HF_EVENT_ATTEMPT:
		return show_insn(t, ev);
	case HF_EVENT_TRAP:
		return t + snprintf(t, 64, "%s%llu>%02x", ev->flags & HF_EVF_ASYNC ? "irq" : "trap",
				   (unsigned long long)ev->trap.cause,
				   ev->flags & HF_EVF_HANDLER ? (unsigned)(ev->trap.handler & 0xff) : 0xff);
	case HF_EVENT_TRAP_RETURN:
		return t + snprintf(t, 64, "ret");
	case HF_EVENT_GAP:
		return t + snprintf(t, 64, "%s:%llu", hf_err_name(-(int)ev->code), (unsigned long long)ev->loss.bytes);
	case HF_EVENT_DOUBT:
		return t + snprintf(t, 64, "doubt:%s", hf_err_name(-(int)ev->code));
	case HF_EVENT_NOTE:
		return t + snprintf(t, 64, "%s", hf_err_name(-(int)ev->code));
	case HF_EVENT_CONTEXT:
		return t + snprintf(t, 64, "context%u", ev->context.pid);
	case HF_EVENT_DISCONTINUITY:
		return t + snprintf(t, 64, "to%02x", (unsigned)(ev->jump.to & 0xff));
	case HF_EVENT_MEM:
		return t + snprintf(t, 64, "%s%s%llx=%llx/%u", ev->flags & HF_EVF_READ ? "r" : "",
				   ev->flags & HF_EVF_WRITE ? "w" : "", (unsigned long long)ev->mem.address,
				   (unsigned long long)ev->mem.data, ev->mem.size);
	case HF_EVENT_REG:
		return t + snprintf(t, 64, "csr%x=%llx", ev->reg.number, (unsigned long long)ev->reg.value);
	default:
		return t + snprintf(t, 64, "kind%u", ev->kind);
	}
}

/* The same events of decoders each of which goes on from the state of the one before, after every event. */
static void check_resumed(struct hf_stream *stream, struct hf_src *src, const struct hf_events *list)
{
	uint8_t blob[HF_STATE_MAX];
	struct hf_dec *dec;
	struct hf_event ev;
	uint64_t discard;
	size_t n;

	CHECK_EQ(hf_dec_new(stream, src, 0, &dec), 0);
	for (size_t i = 0; i < list->n; i++) {
		struct hf_etrace_dec *d = (struct hf_etrace_dec *)dec;

		d->sync_distance = d->full_distance = 1; /* it makes a state wherever it can */
		d->retry = 1;
		CHECK_EQ(hf_dec_next(dec, &ev, 1, &n), 0);
		CHECK(memcmp(&ev, &list->ev[i], sizeof ev) == 0);
		n = hf_dec_save(dec, blob, &discard);
		hf_dec_free(dec);
		CHECK_EQ(hf_dec_new(stream, src, 0, &dec), 0);
		CHECK_EQ(hf_dec_load(dec, blob, n, discard), 0);
	}
	hf_dec_free(dec);
}

static void expect(const char *what, struct made *m, const char *want)
{
	struct hf_src *src;
	struct hf_stream *stream;
	struct hf_diag diag;
	struct hf_events list;
	char text[4096], *t = text;

	CHECK_EQ(hf_src_memory_new(m->bytes, m->n, &src), 0);
	CHECK_EQ(hf_stream_open(&hf_codec_etrace, src, &m->setup, &stream, &diag), 0);
	list = hf_stft_events(stream, src, 0, 3);
	for (size_t i = 0; i < list.n && t < text + 3900; i++) {
		t = show(t, &list.ev[i]);
		*t++ = ' ';
	}
	t[t > text ? -1 : 0] = 0;
	if (strcmp(text, want) != 0)
		fprintf(stderr, "%s:\n", what);
	CHECK_STR(text, want);
	check_resumed(stream, src, &list);
	hf_events_free(&list);
	hf_stream_close(stream);
	hf_src_free(src);
}

/* ---- cases ---- */

/* An address that is passed before it is reached: the packet behind it decides. */
static void test_support(void)
{
	struct made m;

	make(&m, "2.0", NULL, NULL);
	sync(&m, 0, 0);
	put(&m, report(&m, 0x1c, 1, 1));
	support(&m, 0, HF_ETRACE_ENDED_REP);
	expect("ended_rep: the first pass", &m, "00 04 08 0c 10 14 18 1c");

	make(&m, "2.0", NULL, NULL);
	sync(&m, 0x24, 0);
	put(&m, report(&m, 0x2c, 0, 0));
	support(&m, 0, HF_ETRACE_ENDED_UPD);
	expect("ended_upd: once more, by the jump", &m, "24 28 2c>2c 2c");

	make(&m, "2.0", NULL, NULL);
	sync(&m, 0x24, 0);
	put(&m, report(&m, 0x28, 0, 0));
	support(&m, 0, HF_ETRACE_NO_CHANGE);
	put(&m, report(&m, 0x40, 0, 0));
	support(&m, 0, HF_ETRACE_ENDED_REP);
	sync(&m, 0x44, 0);
	support(&m, 0, HF_ETRACE_ENDED_REP);
	sync(&m, 0x48, 0);
	expect("no_change, and where tracing went on or did not", &m, "24 28 2c>28 28 2c>40 40 44 to48 48");

	make(&m, "2.0", NULL, NULL);
	sync(&m, 0, 0);
	put(&m, report(&m, 0x04, 0, 0));
	support(&m, 0, HF_ETRACE_TRACE_LOST);
	put(&m, report(&m, 0x08, 0, 0));
	sync(&m, 0x40, 0);
	expect("trace_lost", &m, "00 04 ETRACE_LOST:2 40");
}

static void test_flags(void)
{
	struct hf_etrace_packet pkt;
	struct made m;

	make(&m, "2.0", NULL, NULL);
	sync(&m, 0x24, 0);
	pkt = report(&m, 0x28, 0, 0);
	pkt.notify = true;
	put(&m, pkt);
	put(&m, report(&m, 0x40, 0, 0));
	expect("notify: exactly here", &m, "24 28 2c>40 40");

	make(&m, "2.0", NULL, NULL);
	sync(&m, 0x24, 0);
	pkt = report(&m, 0x28, 0, 0);
	pkt.updiscon = true;
	put(&m, pkt);
	expect("updiscon: by the jump", &m, "24 28 2c>28 28");

	make(&m, "2.0", NULL, NULL);
	sync(&m, 0x4c, 0);
	for (unsigned i = 0; i < 3; i++) {
		pkt = report(&m, 0x4c, 0, 0);
		pkt.notify = true;
		put(&m, pkt);
	}
	expect("a loop without branches, told by notify", &m, "4c>4c 4c>4c 4c>4c 4c>4c");
}

/* Addresses narrower than the hart's: extended with their sign, or with zeros if the program lies there. */
static void test_narrow(void)
{
	static const uint64_t bases[] = {BASE, BASE | UINT64_C(0xffffffff00000000)};

	for (size_t i = 0; i < 2; i++) {
		struct made m;

		make(&m, "1.1.1", NULL, NULL);
		m.values[2].value = "32"; /* iaddress_width */
		m.params.iaddress_width = 32;
		m.pieces[0].address = bases[i];
		m.base = BASE + 0x24;
		put(&m, (struct hf_etrace_packet){.format = 3, .branch = true, .privilege = 3, .has_address = true,
						  .address = (m.base | UINT64_C(0xffffffff00000000)) >> 1 |
							     UINT64_C(1) << 63});
		put(&m, report(&m, 0x40, 0, 0));
		expect("32 bits of 64", &m, "24 28 2c>40 40");
	}
}

static void test_sijump(void)
{
	struct made m;

	make(&m, "1.1.1", "sijump", "1");
	sync(&m, 0x18, 0);
	put(&m, report(&m, 0x40, 0, 0));
	expect("a pair is one direct jump", &m, "18 1c 20>2c 2c>40 40");

	make(&m, "1.1.1", "sijump", "1");
	sync(&m, 0x20, 0);
	put(&m, report(&m, 0x40, 0, 0));
	expect("without its first half it is not", &m, "20>40 40");

	make(&m, "1.1.1", "sijump", "1");
	sync(&m, 0x18, 0);
	sync(&m, 0x20, 0);
	put(&m, report(&m, 0x40, 0, 0));
	expect("nor is it forgotten at a synchronisation", &m, "18 1c 20>2c 2c>40 40");
}

static void test_implicit_return(void)
{
	struct hf_etrace_packet pkt;
	struct made m;

	make(&m, "1.1.1", "return_stack_size", "3");
	support(&m, HF_ETRACE_IMPLICIT_RETURN, 0);
	sync(&m, 0x2c, 0);
	put(&m, report(&m, 0x40, 0, 0));
	put(&m, report(&m, 0x14, 1, 1));
	expect("popped", &m, "2c>40 40 44>30 30>00 00 04 08 0c 10 14");

	make(&m, "1.1.1", "return_stack_size", "3");
	support(&m, HF_ETRACE_IMPLICIT_RETURN, 0);
	sync(&m, 0x2c, 0);
	put(&m, report(&m, 0x40, 0, 0));
	pkt = report(&m, 0x48, 0, 0);
	pkt.irreport = true;
	pkt.irdepth = 1;
	put(&m, pkt);
	expect("mispredicted", &m, "2c>40 40 44>48 48");

	make(&m, "1.1.1", "return_stack_size", "3");
	support(&m, HF_ETRACE_IMPLICIT_RETURN, 0);
	sync(&m, 0x2c, 0);
	put(&m, report(&m, 0x40, 0, 0));
	pkt = report(&m, 0x44, 0, 0);
	pkt.irreport = true;
	pkt.irdepth = 1;
	put(&m, pkt);
	put(&m, report(&m, 0x04, 0, 0));
	expect("mispredicted, to where the flow had passed", &m, "2c>40 40 44>44 44>30 30>00 00 04");
}

static void append(char *text, const char *more)
{
	memcpy(text + strlen(text), more, strlen(more) + 1);
}

static void test_prediction(void)
{
	struct hf_etrace_packet pkt;
	struct made m;
	char want[1024] = "";

	for (unsigned i = 0; i < 32; i++)
		append(want, "50 54>50 ");
	append(want, "50 54 58");
	make(&m, "1.1.1", "bpred_size", "2");
	support(&m, HF_ETRACE_BRANCH_PREDICTION, 0);
	sync(&m, 0x50, 0);
	pkt = report(&m, 0x50, 1, 0);
	pkt.notify = true;
	put(&m, pkt);
	pkt = report(&m, 0x54, 0, 0);
	pkt.format = 0;
	pkt.branch_fmt = HF_ETRACE_ADDRESS_FAILED; /* 31 are predicted, and then this one is not */
	put(&m, pkt);
	sync(&m, 0x58, 0);
	expect("predicted, with the address of the one that failed", &m, want);

	make(&m, "1.1.1", "bpred_size", "2");
	support(&m, HF_ETRACE_BRANCH_PREDICTION, 0);
	sync(&m, 0x14, 0);
	put(&m, (struct hf_etrace_packet){.format = 0, .branch_fmt = HF_ETRACE_FAILED});
	expect("31 predicted branches, of which one is there", &m, "14 ETRACE_PATH:2");
}

/* A mode that packets show to be on, and what it needs is not written: nothing is made of what depends on it. */
static void test_lacking(void)
{
	const uint32_t both = HF_ETRACE_BRANCH_PREDICTION | HF_ETRACE_JUMP_TARGET_CACHE;
	const struct hf_etrace_packet count = {.format = 0, .branch_fmt = HF_ETRACE_FAILED}, index = {.format = 0, .subformat = 1};
	struct hf_etrace_packet pkt;
	struct made m;

	make(&m, "1.1.1", NULL, NULL);
	support(&m, HF_ETRACE_BRANCH_PREDICTION, 0);
	sync(&m, 0x50, 0);
	pkt = report(&m, 0x50, 1, 0);
	pkt.notify = true;
	put(&m, pkt);
	put(&m, count);
	sync(&m, 0x58, 0);
	expect("bpred_size", &m, "ETRACE_NO_PREDICTOR 50 54>50 50 ETRACE_NO_PREDICTOR:2 58");

	make(&m, "1.1.1", "cache_size", "0");
	support(&m, HF_ETRACE_JUMP_TARGET_CACHE, 0);
	sync(&m, 0x2c, 0);
	put(&m, report(&m, 0x40, 0, 0));
	put(&m, index);
	sync(&m, 0x58, 0);
	expect("cache_size", &m, "ETRACE_NO_CACHE 2c>40 40 ETRACE_NO_CACHE:2 58");

	make(&m, "1.1.1", "cache_size", "4");
	value(&m, "bpred_size", "4");
	support(&m, both, 0);
	sync(&m, 0x2c, 0);
	expect("f0s_width", &m, "ETRACE_NO_F0S 2c");

	make(&m, "1.1.1", NULL, NULL);
	support(&m, HF_ETRACE_IMPLICIT_RETURN, 0);
	sync(&m, 0x2c, 0);
	put(&m, report(&m, 0x40, 0, 0));
	put(&m, report(&m, 0x14, 1, 1));
	sync(&m, 0x58, 0);
	expect("return_stack_size", &m, "ETRACE_NO_STACK 2c>40 40 ETRACE_NO_STACK:3 58");

	make(&m, "1.1.1", "f0s_width", "1");
	value(&m, "bpred_size", "4");
	sync(&m, 0x50, 0);
	put(&m, count);
	sync(&m, 0x58, 0);
	expect("options, where no support packet came", &m, "50 ETRACE_NO_PREDICTOR:2 58");

	make(&m, "1.1.1", "return_stack_size", "2");
	sync(&m, 0x2c, 0);
	pkt = report(&m, 0x40, 0, 0);
	pkt.irreport = true;
	put(&m, pkt);
	sync(&m, 0x58, 0);
	expect("the same of returns", &m, "2c ETRACE_NO_STACK:10 58");
}

static void test_traps(void)
{
	struct hf_etrace_packet trap = {.format = 3, .subformat = 1, .branch = true, .privilege = 3, .thaddr = true,
					.has_address = true, .address = (BASE + 0x40) >> 1};
	struct made m;

	make(&m, "2.0", NULL, NULL);
	sync(&m, 0, 0);
	put(&m, report(&m, 0x08, 0, 0));
	trap.ecause = 2;
	put(&m, trap);
	expect("an exception", &m, "00 04 08 a0c trap2>40 40");

	make(&m, "2.0", NULL, NULL);
	sync(&m, 0x2c, 0);
	trap.thaddr = false;
	trap.address = (BASE + 0x18) >> 1;
	put(&m, trap);
	sync(&m, 0x40, 0);
	put(&m, report(&m, 0x44, 0, 0));
	expect("at the target of a jump", &m, "2c>18 a18 trap2>40 40 44");

	make(&m, "1.1.1", "mtvec", "0x80000001");
	support(&m, HF_ETRACE_IMPLICIT_EXCEPTION, 0);
	sync(&m, 0, 0);
	put(&m, (struct hf_etrace_packet){.format = 3, .subformat = 1, .branch = true, .privilege = 3, .thaddr = true,
					  .ecause = 6, .interrupt = true});
	expect("an interrupt by the vector", &m, "00 irq6>18 18");

	make(&m, "1.1.1", NULL, NULL);
	support(&m, HF_ETRACE_IMPLICIT_EXCEPTION, 0);
	sync(&m, 0, 0);
	put(&m, (struct hf_etrace_packet){.format = 3, .subformat = 1, .branch = true, .privilege = 3, .thaddr = true,
					  .ecause = 6, .interrupt = true});
	sync(&m, 0x40, 0);
	expect("that nobody told", &m, "ETRACE_VECTOR 00 ETRACE_VECTOR:4 40");

	make(&m, "2.0", "ecall_retires", "1");
	sync(&m, 0x34, 0);
	put(&m, report(&m, 0x38, 0, 0));
	trap = (struct hf_etrace_packet){.format = 3, .subformat = 1, .branch = true, .privilege = 3, .thaddr = true,
					 .ecause = 11, .has_address = true, .address = (BASE + 0x40) >> 1};
	put(&m, trap);
	expect("mret, and an ecall that retires", &m, "34>38 ret 38 trap11>40 40");
}

/* An ecall or ebreak that was shown is what trapped, by its cause, also where such instructions do not retire. */
static void test_own_calls(void)
{
	static const struct {
		uint8_t at, cause;
		bool interrupt;
		const char *want;
	} rows[] = {
		{0x38, 11, false, "38 trap11>40 40"}, {0x38, 8, false, "38 trap8>40 40"},
		{0x48, 3, false, "48 trap3>40 40"},   {0x38, 2, false, "38 a3c trap2>40 40"},
		{0x48, 11, false, "48 a4c trap11>40 40"}, {0x38, 11, true, "38 irq11>40 40"},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct made m;

		make(&m, "2.0", NULL, NULL);
		sync(&m, rows[i].at, 0);
		put(&m, (struct hf_etrace_packet){.format = 3, .subformat = 1, .branch = true, .privilege = 3, .thaddr = true,
						  .ecause = rows[i].cause, .interrupt = rows[i].interrupt,
						  .has_address = true, .address = (BASE + 0x40) >> 1});
		expect("a call that was shown", &m, rows[i].want);
	}
}

/* A trap whose handler was not traced: tracing ended, and goes on elsewhere. */
static void test_trap_ended(void)
{
	struct made m;

	make(&m, "2.0", NULL, NULL);
	sync(&m, 0x2c, 0);
	put(&m, (struct hf_etrace_packet){.format = 3, .subformat = 1, .branch = true, .privilege = 3, .ecause = 2,
					  .has_address = true, .address = (BASE + 0x18) >> 1});
	support(&m, 0, HF_ETRACE_ENDED_REP);
	sync(&m, 0x40, 0);
	expect("its handler is not known", &m, "2c>18 a18 trap2>ff to40 40");
}

/* Of version 1.1.1: behind report, a trap at an address that only the trap value tells, if at all. */
static void trap_value(unsigned report_at, unsigned cause, unsigned value_at, const char *want)
{
	struct made m;

	make(&m, "1.1.1", NULL, NULL);
	sync(&m, report_at, 0);
	put(&m, (struct hf_etrace_packet){.format = 3, .subformat = 1, .branch = true, .privilege = 3, .thaddr = true,
					  .has_address = true, .address = (BASE + 0x40) >> 1, .ecause = cause,
					  .tval = BASE + value_at});
	expect("the trap value", &m, want);
}

static void test_trap_values(void)
{
	trap_value(0x2c, 2, 0x18, "2c>18 a18 trap2>40 40");
	trap_value(0x2c, 1, 0x18, "2c>18 a18 trap1>40 40");
	trap_value(0x2c, 3, 0x48, "2c>48 a48 trap3>40 40"); /* an ebreak */
	trap_value(0x2c, 3, 0x18, "2c trap3>40 40");        /* a watchpoint, as it seems */
	trap_value(0x2c, 0, 0x1a, "2c trap0>40 40");        /* where a jump would have gone */
	trap_value(0x08, 12, 0x0c, "08 a0c trap12>40 40");
	trap_value(0x08, 12, 0x0e, "08 a0c trap12>40 40");  /* its second half */
	trap_value(0x08, 12, 0x18, "08 a18 trap12>40 40");  /* behind a trap that was not reported */
}

static void test_contexts(void)
{
	struct made m;

	make(&m, "2.0", NULL, NULL);
	image(&m, 1, 7, other_code, sizeof other_code);
	m.setup.image_count = 2;
	sync(&m, 0, 0);
	put(&m, report(&m, 0x04, 0, 0));
	sync(&m, 0x08, 7);
	put(&m, report(&m, 0x00, 0, 0));
	expect("the program is that of the context", &m, "00 04 context7 08>00 00");

	make(&m, "2.0", NULL, NULL);
	image(&m, 1, 7, other_code, sizeof other_code);
	m.setup.image_count = 2;
	sync(&m, 0x24, 0);
	sync(&m, 0x28, 7);
	put(&m, report(&m, 0x2c, 0, 0));
	sync(&m, 0x04, 7);
	expect("a context whose program has no code there", &m, "24 context7 ETRACE_NO_CODE:9 04");

	make(&m, "2.0", NULL, NULL);
	sync(&m, 0, 5);
	put(&m, (struct hf_etrace_packet){.format = 3, .subformat = 2, .privilege = 3, .context = 6});
	put(&m, report(&m, 0x08, 0, 0));
	expect("an imprecise change", &m, "context5 context6 00 04 08");

	make(&m, "2.0", NULL, NULL);
	m.values[m.setup.value_count - 1].value = "33"; /* context_width */
	CHECK_EQ(hf_etrace_params_read(&m.setup, 0, &m.params, NULL), 0);
	put(&m, (struct hf_etrace_packet){.format = 3,
					  .branch = true,
					  .privilege = 3,
					  .context = UINT64_C(0x100000007),
					  .has_address = true,
					  .address = (BASE + 4) >> 1});
	put(&m, (struct hf_etrace_packet){.format = 3, .subformat = 2, .privilege = 3, .context = 7});
	expect("wider than what is shown", &m, "context7 CONTEXT_WIDE context7 04");
}

static void test_losses(void)
{
	struct made m;

	make(&m, "2.0", NULL, NULL);
	put(&m, report(&m, 0x08, 0, 0));
	sync(&m, 0, 0);
	expect("from the middle on", &m, "ETRACE_UNSYNCED:6 00");

	make(&m, "2.0", NULL, NULL);
	support(&m, m.modes, 0);
	put(&m, report(&m, 0x08, 0, 0));
	put(&m, report(&m, 0x0c, 0, 0));
	expect("never synchronised", &m, "ETRACE_NEVER:8");

	make(&m, "2.0", NULL, NULL);
	support(&m, m.modes, 0);
	expect("nothing was traced", &m, "");

	make(&m, "2.0", NULL, NULL);
	sync(&m, 0, 0);
	put(&m, report(&m, 0x18, 0, 0));
	put(&m, report(&m, 0x1c, 0, 0));
	sync(&m, 0x40, 0);
	expect("a branch without an outcome", &m, "00 ETRACE_PATH:4 40");

	make(&m, "2.0", NULL, NULL);
	sync(&m, 0x48, 0);
	put(&m, report(&m, 0x10, 0, 0));
	sync(&m, 0x40, 0);
	expect("a walk without an end", &m, "48 ETRACE_WALK:2 40");

	make(&m, "2.0", "return_stack_size", "3");
	support(&m, HF_ETRACE_IMPLICIT_RETURN, 0);
	sync(&m, 0x5c, 0);
	put(&m, report(&m, 0x10, 0, 0));
	sync(&m, 0x40, 0);
	expect("a circle of calls", &m, "5c>5c ETRACE_WALK:3 40");

	make(&m, "1.1.1", "bpred_size", "2");
	support(&m, HF_ETRACE_BRANCH_PREDICTION, 0);
	sync(&m, 0x50, 0);
	put(&m, (struct hf_etrace_packet){.format = 0, .branch_fmt = HF_ETRACE_FAILED,
					  .branch_count = HF_ETRACE_PREDICTED_MAX - 30});
	sync(&m, 0x40, 0);
	expect("more predicted branches than the limit", &m, "50 ETRACE_WALK:5 40");

	make(&m, "2.0", NULL, NULL);
	sync(&m, 0x80, 0);
	sync(&m, 0x40, 0);
	expect("no code", &m, "ETRACE_NO_CODE:7 40");
}

/* A count of branches that one wrong bit makes, and that fits a loop: a note before what it stands for. */
static void test_long(void)
{
	for (unsigned i = 0; i < 2; i++) {
		const uint32_t count = HF_ETRACE_PREDICTED_LONG - 1 + i;
		struct hf_event ev[8];
		struct hf_stream *stream;
		struct hf_diag diag;
		struct hf_src *src;
		struct hf_dec *dec;
		struct made m;
		size_t n, notes = 0;

		make(&m, "1.1.1", "bpred_size", "2");
		support(&m, HF_ETRACE_BRANCH_PREDICTION, 0);
		sync(&m, 0x50, 0);
		put(&m, report(&m, 0x50, 2, 0));
		put(&m, (struct hf_etrace_packet){.format = 0, .branch_fmt = HF_ETRACE_FAILED, .branch_count = count});
		sync(&m, 0x40, 0);
		CHECK_EQ(hf_src_memory_new(m.bytes, m.n, &src), 0);
		CHECK_EQ(hf_stream_open(&hf_codec_etrace, src, &m.setup, &stream, &diag), 0);
		CHECK_EQ(hf_dec_new(stream, src, 0, &dec), 0);
		for (unsigned given = 0; given < 12; given += (unsigned)n) {
			CHECK_EQ(hf_dec_next(dec, ev, 8, &n), 0);
			for (size_t j = 0; j < n; j++)
				notes += ev[j].kind == HF_EVENT_NOTE && ev[j].code == -HF_ERR_ETRACE_LONG &&
					 ev[j].loss.detail == count + 31u;
		}
		CHECK_EQ(notes, i);
		hf_dec_free(dec);
		hf_stream_close(stream);
		hf_src_free(src);
	}
}

/* resync_disabled: who missed the start of tracing does not know the tables, if any are used, until the next start. */
static void test_tables(void)
{
	const uint32_t kept = HF_ETRACE_RESYNC_DISABLED, learning = kept | HF_ETRACE_IMPLICIT_RETURN;
	struct made m;

	make(&m, "2.1", "support_options", "standard");
	m.params.return_stack_size = 3;
	support(&m, learning, HF_ETRACE_NO_CHANGE);
	sync(&m, 0, 0);
	sync(&m, 0x04, 0);
	expect("from the start", &m, "00 04");

	make(&m, "2.1", "support_options", "standard");
	m.params.return_stack_size = 3;
	support(&m, learning, HF_ETRACE_NO_CHANGE);
	sync(&m, 0, 0);
	put(&m, report(&m, 0x18, 0, 0));
	support(&m, learning, HF_ETRACE_NO_CHANGE);
	sync(&m, 0x40, 0);
	sync(&m, 0x40, 0);
	support(&m, learning, HF_ETRACE_ENDED_REP);
	sync(&m, 0x40, 0);
	support(&m, learning, HF_ETRACE_TRACE_LOST);
	sync(&m, 0x40, 0);
	expect("behind a loss, up to the next start", &m,
	       "00 ETRACE_PATH:2 doubt:ETRACE_TABLES 40 44>40 doubt:ETRACE_TABLES 40 to40 40 ETRACE_LOST:0 40");

	make(&m, "2.1", "support_options", "standard");
	value(&m, "resync_disabled", "1");
	value(&m, "options", "implicit_return");
	sync(&m, 0, 0);
	expect("from the middle on", &m, "doubt:ETRACE_TABLES 00");

	make(&m, "2.1", "support_options", "standard");
	support(&m, kept, HF_ETRACE_NO_CHANGE);
	sync(&m, 0, 0);
	put(&m, report(&m, 0x18, 0, 0));
	sync(&m, 0x40, 0);
	expect("no tables", &m, "00 ETRACE_PATH:2 40");
}

/* ---- data ---- */

static void data(struct made *m, const char *hex)
{
	const size_t n = strlen(hex) / 2;

	m->bytes[m->n++] = (uint8_t)(3 << 5 | n);
	for (size_t i = 0; i < n; i++) {
		const char digits[3] = {hex[2 * i], hex[2 * i + 1], 0};

		m->bytes[m->n++] = (uint8_t)strtoul(digits, NULL, 16);
	}
}

/* Each access goes to the oldest instruction of its kind; what finds none is told. */
static void test_data(void)
{
	struct made m;

	make(&m, "2.0", NULL, NULL);
	sync(&m, 0, 0);
	/* format 0, size 2, diff 0, data_len 0, data 0x11 as one byte, address 0x1000 >> 2 */
	data(&m, "1022000800");
	/* format 2 (a store), size 2, diff 0, data_len 0, data 0x12, address 0x1008 >> 2 */
	data(&m, "1224040800");
	/* an atomic that nobody executes here: format 6, subtype 1 */
	data(&m, "0e");
	put(&m, report(&m, 0x0c, 0, 0));
	expect("a load, a store", &m, "00 04 r1000=11/4 08 w1008=12/4 0c ETRACE_DATA");
}

/* An access of 4 bytes. */
static void mem(struct made *m, struct hf_etrace_data_state *state, bool store, uint64_t address, uint64_t v)
{
	const struct hf_etrace_access a = {.kind = store ? HF_ETRACE_STORE : HF_ETRACE_LOAD, .size = 2, .address = address,
					   .data = v, .flags = HF_ETRACE_HAS_ADDRESS | HF_ETRACE_HAS_DATA};
	const size_t n = hf_etrace_data_write(&m->params, m->modes, HF_ETRACE_DATA_BEST, state, &a, m->bytes + m->n + 1);

	CHECK(n > 0);
	m->bytes[m->n] = (uint8_t)(3 << 5 | n);
	m->n += 1 + n;
}

/* From the atomic at 10 over 14 to 00, and to the load at 04 and the store at 08. */
static void run_atomic(struct made *m)
{
	put(m, report(m, 0x2c, 1, 1));
	sync(m, 0x00, 0);
	put(m, report(m, 0x0c, 0, 0));
}

/*
 * An atomic takes a load and a store only together and of one address: from a trace that leaves atomics out it takes
 * nothing, and the instructions behind it get what is theirs; as two it may also come late.
 */
static void test_atomics(void)
{
	static const char *const formats[] = {"2", "3"};
	struct hf_etrace_data_state state;
	struct made m;

	for (unsigned i = 0; i < 2; i++) {
		make(&m, "2.0", "data_format_width", formats[i]);
		state = (struct hf_etrace_data_state){0};
		sync(&m, 0x10, 0);
		mem(&m, &state, false, 0x1000, 1);
		mem(&m, &state, true, 0x1008, 2);
		run_atomic(&m);
		expect("atomics are not traced", &m, "10 14 18 1c 20>2c 2c>00 00 04 r1000=1/4 08 w1008=2/4 0c");

		make(&m, "2.0", "data_format_width", formats[i]);
		state = (struct hf_etrace_data_state){0};
		sync(&m, 0x10, 0);
		mem(&m, &state, false, 0x2000, 3);
		mem(&m, &state, true, 0x2000, 4);
		mem(&m, &state, false, 0x1000, 1);
		mem(&m, &state, true, 0x1008, 2);
		run_atomic(&m);
		expect("as a load and a store", &m,
		       "10 r2000=3/4 w2000=4/4 14 18 1c 20>2c 2c>00 00 04 r1000=1/4 08 w1008=2/4 0c");

		make(&m, "2.0", "data_format_width", formats[i]);
		value(&m, "data_order", "any");
		state = (struct hf_etrace_data_state){0};
		sync(&m, 0x10, 0);
		mem(&m, &state, false, 0x2000, 3);
		run_atomic(&m);
		mem(&m, &state, true, 0x2000, 4);
		mem(&m, &state, false, 0x1000, 1);
		mem(&m, &state, true, 0x1008, 2);
		expect("a store behind the report", &m,
		       "10 r2000=3/4 w2000=4/4 14 18 1c 20>2c 2c>00 00 04 r1000=1/4 08 w1008=2/4 0c");
	}
	/* the load may be the atomic's up to the store: both wait, and nothing is lost by it */
	make(&m, "2.0", "data_format_width", "2");
	value(&m, "data_order", "any");
	state = (struct hf_etrace_data_state){0};
	sync(&m, 0x10, 0);
	run_atomic(&m);
	mem(&m, &state, false, 0x1000, 1);
	mem(&m, &state, true, 0x1008, 2);
	expect("late, and no atomics", &m, "10 14 18 1c 20>2c 2c>00 00 04 r1000=1/4 08 w1008=2/4 0c");
}

int main(void)
{
	test_atomics();
	test_support();
	test_flags();
	test_narrow();
	test_sijump();
	test_implicit_return();
	test_prediction();
	test_lacking();
	test_traps();
	test_own_calls();
	test_trap_ended();
	test_trap_values();
	test_contexts();
	test_losses();
	test_long();
	test_tables();
	test_data();
	return 0;
}

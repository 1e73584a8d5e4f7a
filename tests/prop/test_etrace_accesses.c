/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accesses through the data trace and back: random programs of loads, stores, atomics, CSR accesses and vectors come
 * back with each access at its instruction, in every version, layout and compression; also where the source knows only
 * some of them, where packets come late, and from decoders that are entered anywhere.
 */
#include "codecs/base/bytes.h"
#include "tests/lib/check.h"
#include "tests/lib/etraceloop.h"

enum kind { LOAD, STORE, SC, ATOMIC, CSR, VECTOR };

struct op {
	uint32_t opcode;
	uint8_t kind, size; /* log2 of bytes */
	uint8_t only;       /* 64: not on RV32 */
	char what;          /* of an atomic or CSR access */
};

/* a0 is written, a1 the address, a2 the operand. */
#define AMO(funct5, size) ((uint32_t)(funct5) << 27 | 12 << 20 | 11 << 15 | (size) << 12 | 10 << 7 | 0x2f)
#define CSR_OP(csr, funct3, source) ((uint32_t)(csr) << 20 | (source) << 15 | (funct3) << 12 | 10 << 7 | 0x73)

static const struct op ops[] = {
	{0x00058503, LOAD, 0, 0, 0},    {0x00059503, LOAD, 1, 0, 0},    {0x0005a503, LOAD, 2, 0, 0},
	{0x0005b503, LOAD, 3, 64, 0},   {0x0005c503, LOAD, 0, 0, 0},    {0x0005e503, LOAD, 2, 64, 0},
	{0x00a58023, STORE, 0, 0, 0},   {0x00a59023, STORE, 1, 0, 0},   {0x00a5a023, STORE, 2, 0, 0},
	{0x00a5b023, STORE, 3, 64, 0},  {0x0005a507, LOAD, 2, 0, 0},    {0x0005b507, LOAD, 3, 0, 0},
	{0x00a5a027, STORE, 2, 0, 0},   {0x00a5b027, STORE, 3, 0, 0},   {0x1005a52f, LOAD, 2, 0, 0},
	{0x1005b52f, LOAD, 3, 64, 0},   {0x18c5a52f, SC, 2, 0, 0},      {0x18c5b52f, SC, 3, 64, 0},
	{AMO(0, 2), ATOMIC, 2, 0, '+'}, {AMO(1, 2), ATOMIC, 2, 0, '='}, {AMO(4, 2), ATOMIC, 2, 0, '^'},
	{AMO(8, 2), ATOMIC, 2, 0, '|'}, {AMO(12, 2), ATOMIC, 2, 0, '&'}, {AMO(16, 2), ATOMIC, 2, 0, '<'},
	{AMO(20, 2), ATOMIC, 2, 0, '>'}, {AMO(24, 2), ATOMIC, 2, 0, 'l'}, {AMO(28, 2), ATOMIC, 2, 0, 'g'},
	{AMO(0, 3), ATOMIC, 3, 64, '+'}, {AMO(12, 3), ATOMIC, 3, 64, '&'}, {AMO(16, 3), ATOMIC, 3, 64, '<'},
	{CSR_OP(0x340, 1, 12), CSR, 0, 0, 'w'}, {CSR_OP(0x340, 2, 12), CSR, 0, 0, 's'},
	{CSR_OP(0x305, 3, 12), CSR, 0, 0, 'c'}, {CSR_OP(0x340, 5, 9), CSR, 0, 0, 'i'},
	{CSR_OP(0xc00, 2, 0), CSR, 0, 0, 'r'},  {CSR_OP(0x300, 2, 0), CSR, 0, 0, 'r'},
	{0x0205e007, VECTOR, 2, 0, 0},
	/* compressed: lw, sw, ld, sd, ldsp, swsp */
	{0x4188, LOAD, 2, 0, 0},        {0xc188, STORE, 2, 0, 0},       {0x6188, LOAD, 3, 64, 0},
	{0xe188, STORE, 3, 64, 0},      {0x6502, LOAD, 3, 64, 0},       {0xc02a, STORE, 2, 0, 0},
};
#define OPS (sizeof ops / sizeof ops[0])

static const struct op *op_of(uint32_t opcode)
{
	for (size_t i = 0; i < OPS; i++)
		if (ops[i].opcode == opcode)
			return &ops[i];
	return NULL;
}

/* ---- the program ---- */

static uint32_t any_op(struct hf_rvwalk *walk, bool narrow, bool vectors)
{
	for (;;) {
		const struct op *op = &ops[hf_rvwalk_random(walk, OPS)];

		if ((op->opcode < 0x10000) == narrow && (op->only == 0 || walk->xlen == 64) &&
		    (op->kind != VECTOR || vectors))
			return op->opcode;
	}
}

/* Accesses in place of most instructions that do nothing. */
static void add_accesses(struct hf_rvwalk *walk, bool vectors)
{
	for (unsigned i = 0; i < walk->count; i++) {
		uint8_t *p = walk->code + walk->at[i];
		const uint32_t size = walk->at[i + 1] - walk->at[i], opcode = size == 4 ? hf_get32(p) : hf_get16(p);

		if (size == 4 && ((opcode & 0x5f) == 3 || opcode == 0x00150513))
			hf_put32(p, any_op(walk, false, vectors));
		else if (opcode == 0x0505 && hf_rvwalk_random(walk, 3) == 0)
			hf_put16(p, (uint16_t)any_op(walk, true, vectors));
	}
}

/* ---- the source ---- */

enum detail {
	REGISTERS = 1, /* operands and results of atomics and CSR accesses */
	SPARSE = 2,    /* accesses and values are missing at times */
};

struct source {
	struct hf_rvwalk *walk;
	struct hf_rvtrace trace, want; /* what the encoder gets, and what must come back */
	const char *params;
	unsigned detail;
	bool no_data, no_address, split, narrow_format;
	unsigned widest; /* log2 of bytes that have a packet */
};

static uint64_t low(uint64_t v, unsigned size)
{
	return size >= 3 ? v : v & ((UINT64_C(1) << (8u << size)) - 1);
}

static uint64_t random64(struct source *s)
{
	const uint64_t high = hf_rvwalk_random(s->walk, UINT32_MAX), v = high << 32 | hf_rvwalk_random(s->walk, UINT32_MAX);

	return v >> hf_rvwalk_random(s->walk, 64);
}

static bool chance(struct source *s, unsigned one_in)
{
	return (s->detail & SPARSE) && hf_rvwalk_random(s->walk, one_in) == 0;
}

static uint64_t modify(char what, unsigned size, uint64_t old, uint64_t operand)
{
	const int64_t a = size == 3 ? (int64_t)old : (int32_t)old, b = size == 3 ? (int64_t)operand : (int32_t)operand;

	switch (what) {
	case '+': return low(old + operand, size);
	case '^': return old ^ operand;
	case '|': return old | operand;
	case '&': return old & operand;
	case '<': return a < b ? old : operand;
	case '>': return a > b ? old : operand;
	case 'l': return old < operand ? old : operand;
	case 'g': return old > operand ? old : operand;
	default: return operand;
	}
}

/* An access of the source; wanted: it has a packet. */
static void put_mem(struct source *s, unsigned flags, unsigned size, uint64_t address, bool known, uint64_t data, bool wanted)
{
	struct hf_event ev = {.kind = HF_EVENT_MEM, .flags = (uint8_t)flags, .words = known,
			      .mem = {.address = address, .size = 1u << size, .data = known ? data : 0}};

	hf_rvtrace_append(&s->trace, &ev);
	if (!wanted || size > s->widest)
		return;
	if (s->no_data)
		ev.words = 0, ev.mem.data = 0;
	if (s->no_address) {
		ev.mem.address = 0;
		ev.flags |= HF_EVF_NO_ADDRESS;
	}
	hf_rvtrace_append(&s->want, &ev);
}

static void put_reg(struct source *s, unsigned class, unsigned number, unsigned role, uint64_t value, bool wanted)
{
	const struct hf_event ev = {.kind = HF_EVENT_REG, .reg = {.value = value, .number = (uint16_t)number,
								  .class = (uint8_t)class, .role = (uint8_t)role}};

	if (s->detail & REGISTERS)
		hf_rvtrace_append(&s->trace, &ev);
	if (wanted && (s->detail & REGISTERS) && !s->no_data && !s->narrow_format)
		hf_rvtrace_append(&s->want, &ev);
}

static uint64_t any_address(struct source *s, const struct op *op)
{
	const bool atomic = op->kind == ATOMIC || op->kind == SC;
	const uint64_t near = 0x80100000 + hf_rvwalk_random(s->walk, 4096);
	uint64_t address = hf_rvwalk_random(s->walk, 16) ? near : random64(s);

	if (atomic || hf_rvwalk_random(s->walk, 8))
		address &= ~UINT64_C(0) << op->size;
	return s->walk->xlen == 32 ? address & 0xffffffff : address;
}

/* Whether it has a packet: one of an atomic needs the operand; else it is told as two, which need an address. */
static bool is_told(const struct source *s, const struct op *op, uint64_t old, uint64_t new)
{
	const bool derived = strchr("=+^", op->what) || (strchr("<>lg", op->what) && new != old);

	return !s->no_address || (s->detail & REGISTERS) || derived;
}

static void put_atomic(struct source *s, const struct op *op)
{
	const uint64_t address = any_address(s, op), old = low(random64(s), op->size);
	const uint64_t operand = hf_rvwalk_random(s->walk, 4) ? low(random64(s), op->size) : old;
	const uint64_t new = modify(op->what, op->size, old, operand);
	/* at times only what it read or only what it wrote, from which no packet can be made */
	const bool part = !(s->detail & REGISTERS) && !s->no_data && chance(s, 4), read = hf_rvwalk_random(s->walk, 2);
	const bool told = !part && is_told(s, op, old, new);

	if (chance(s, 5))
		return;
	put_reg(s, 1, 12, 2, operand, false);
	put_reg(s, 1, 10, 3, old, false);
	if (!part || read)
		put_mem(s, HF_EVF_READ, op->size, address, true, old, told);
	if (!part || !read)
		put_mem(s, HF_EVF_WRITE, op->size, address, true, new, told);
}

static void put_csr(struct source *s, const struct op *op, uint32_t opcode)
{
	const unsigned csr = opcode >> 20;
	const uint64_t old = low(random64(s), s->walk->xlen == 64 ? 3 : 2), operand = low(random64(s), 2);

	if (op->what != 'i' && op->what != 'r')
		put_reg(s, 1, 12, 2, operand, false);
	put_reg(s, 4, csr, 2, old, true);
	put_reg(s, 1, 10, 3, old, false);
}

static void put_accesses(struct source *s, const struct op *op, uint32_t opcode)
{
	const uint64_t address = any_address(s, op);
	const bool read = op->kind == LOAD || op->kind == VECTOR, known = !chance(s, 5);
	const unsigned count = op->kind == VECTOR ? hf_rvwalk_random(s->walk, 4) : 1;

	if (op->kind == ATOMIC || op->kind == CSR) {
		op->kind == ATOMIC ? put_atomic(s, op) : put_csr(s, op, opcode);
		return;
	}
	if (chance(s, 5) || (op->kind == SC && (s->detail & SPARSE) && hf_rvwalk_random(s->walk, 2)))
		return;
	for (unsigned i = 0; i < count; i++)
		put_mem(s, read ? HF_EVF_READ : HF_EVF_WRITE, op->size, address + 4 * i, known,
			low(random64(s), op->size), known || s->no_data || (s->split && read));
}

static bool has(const char *params, const char *word)
{
	return strstr(params, word) != NULL;
}

static void make_source(struct source *s, struct hf_rvwalk *walk, uint64_t seed, const char *params, unsigned detail,
			unsigned flags, bool vectors)
{
	struct hf_rvtrace bare;

	*s = (struct source){.walk = walk, .params = params, .detail = detail};
	s->no_data = has(params, "no_data=1");
	s->no_address = has(params, "no_address=1");
	s->split = has(params, "lrid_width");
	s->narrow_format = has(params, "data_format_width=2");
	hf_rvwalk_program(walk, 0x80000000, seed & 1 ? 64 : 32, seed);
	add_accesses(walk, vectors);
	s->widest = walk->xlen == 64 ? 3 : 2;
	hf_rvtrace_init(&bare, walk->xlen);
	hf_rvtrace_init(&s->trace, walk->xlen);
	hf_rvtrace_init(&s->want, walk->xlen);
	hf_rvwalk_run(walk, &bare, 1500, flags);
	for (size_t i = 0; i < bare.count; i++) {
		const struct hf_event *ev = &bare.events[i];
		const struct op *op = ev->kind == HF_EVENT_INSN ? op_of(ev->insn.opcode) : NULL;

		hf_rvtrace_append(&s->trace, ev);
		if (ev->kind == HF_EVENT_INSN)
			hf_rvtrace_append(&s->want, ev);
		if (op)
			put_accesses(s, op, ev->insn.opcode);
	}
	hf_rvtrace_fini(&bare);
}

static void free_source(struct source *s)
{
	hf_rvtrace_fini(&s->trace);
	hf_rvtrace_fini(&s->want);
}

/* ---- packets that come late ---- */

/* Each data packet of the raw stream lag packets later, as the description then says. */
static void delay(struct hf_etl *l, size_t lag)
{
	static const char before[] = "data_order = before\n", any[] = "data_order = any\n";
	static size_t waiting[1 << 16], due[1 << 16];
	uint8_t *out = malloc(l->size);
	size_t at = 0, used = 0, first = 0, last = 0;
	char *order = strstr(l->ini, before);

	CHECK(out && order);
	for (size_t number = 0; at < l->size || first < last; number++) {
		const size_t size = at < l->size ? 1u + (l->trace[at] & 31) : 0;

		if (size && l->trace[at] >> 5 == 3) {
			CHECK(last < sizeof waiting / sizeof waiting[0]);
			waiting[last] = at;
			due[last++] = number + lag;
		} else {
			memcpy(out + used, l->trace + at, size);
			used += size;
		}
		at += size;
		while (first < last && (due[first] <= number || at == l->size)) {
			const uint8_t *packet = l->trace + waiting[first++];

			memcpy(out + used, packet, 1u + (*packet & 31));
			used += 1u + (*packet & 31);
		}
	}
	CHECK_EQ(used, l->size);
	free(l->trace);
	l->trace = out;
	memmove(order + strlen(any), order + strlen(before), strlen(order + strlen(before)) + 1);
	memcpy(order, any, strlen(any));
}

/* ---- what is tried ---- */

static const char *const layouts[] = {
	"data=1", "data=1,lrid_width=3", "data=1,no_address=1", "data=1,no_data=1", "data=1,no_data=1,lrid_width=2",
	"data=1,data_compress=none", "data=1,data_compress=xor", "data=1,data_compress=difference", "data=1,full_daddress=1",
	"data=1,full_data=1", "data=1,data_diff=reference", "data=1,data_diff_width=1,no_address=1", "data=1,data_diff_width=0",
	"data=1,data_format_width=2", "data=1,full_daddress=1,full_data=1,lrid_width=1", "data=1,data_diff=reference,no_data=1",
	"data=1,data_format_width=2,no_data=1", "data=1,mmacas=1,version=2.1", "data=1,mmacas=1,version=2.1,no_data=1",
	"data=1,mmacas=1,version=2.1,no_address=1",
};
static const char *const versions[] = {"1.1.1", "2.0", "2.1"};
static const unsigned syncs[] = {1, 3, 100, 0};

static void check(const struct source *s, const struct hf_etl *l, bool resumed)
{
	struct hf_rvtrace got;
	char name[300];

	snprintf(name, sizeof name, "%s, detail %u, rv%u", s->params, s->detail, s->walk->xlen);
	hf_rvtrace_init(&got, s->walk->xlen);
	if (resumed)
		hf_etl_decode_resumed(l, &got);
	else
		hf_etl_decode(l, 0, &got, NULL);
	hf_etl_check_same(l, &s->want, &got, HF_ETL_INSNS | HF_ETL_MEM | HF_ETL_CSRS, name);
	hf_rvtrace_fini(&got);
}

static void loop(uint64_t seed, const char *params, unsigned detail, size_t lag)
{
	static struct hf_rvwalk walk;
	const unsigned flags = HF_RVWALK_TRAPS | HF_RVWALK_MODES | (lag ? 0 : HF_RVWALK_HOLES);
	struct source s;
	struct hf_etl l;

	make_source(&s, &walk, seed, params, detail, flags, !lag);
	hf_etl_make_walk(&l, &s.trace, params, &walk);
	if (lag)
		delay(&l, lag);
	check(&s, &l, false);
	if (seed % 3 == 0)
		check(&s, &l, true);
	hf_etl_free(&l);
	free_source(&s);
}

int main(void)
{
	const char *more = getenv("HARTFS_SEEDS");
	const uint64_t seeds = more ? strtoull(more, NULL, 10) : HF_TEST_SANITIZED ? 1 : 8;
	char params[256];

	for (uint64_t seed = 1; seed <= seeds; seed++)
		for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++)
			for (unsigned k = 0; k < 4; k++) {
				const bool given = has(layouts[i], "version");

				snprintf(params, sizeof params, "%s%s%s,sync_instructions=%u", layouts[i],
					 given ? "" : ",version=", given ? "" : versions[(seed + i + k) % 3], syncs[k]);
				loop(seed, params, REGISTERS, 0);
				loop(seed + 100, params, 0, 0);
				loop(seed + 200, params, REGISTERS | SPARSE, 0);
				loop(seed + 300, params, SPARSE, 0);
			}
	for (uint64_t seed = 1; seed <= seeds; seed++)
		for (size_t lag = 1; lag < 40; lag += 1 + lag / 2)
			for (unsigned k = 0; k < 4; k++) {
				snprintf(params, sizeof params, "data=1,sync_instructions=%u,version=%s%s", syncs[k],
					 versions[(seed + k) % 3], lag % 2 ? "" : ",lrid_width=6");
				loop(seed + 400, params, REGISTERS, lag);
			}
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* STF records that contradict each other are told, at their place; what ISA_EXTENDED says of opcodes counts. */
#include "codecs/stf/errors.h"
#include "tests/lib/stftest.h"

#define FEATURES (HF_STF_FEATURE_EVENT64 | HF_STF_FEATURE_RV64)
#define NOP 0x13u
#define JR 0x78067u /* jr a5 */

static struct hf_walk_bytes stream(void)
{
	struct hf_walk_bytes b = {0};

	hf_stft_header(&b, FEATURES, 0x1000);
	return b;
}

static void put(struct hf_walk_bytes *b, uint32_t opcode, unsigned size)
{
	if (size == 4)
		PUT(b, INST_OPCODE32, .size = opcode);
	else
		PUT(b, INST_OPCODE16, .size = opcode);
}

/* The instructions and losses of all, and nothing else: "1000 170@85:2000 1004 ". */
static void check(struct hf_walk_bytes *b, const char *want)
{
	struct hf_events list = hf_stft_decode(b, 0);
	char text[1024] = "";
	size_t n = 0;

	for (size_t i = 0; i < list.n; i++) {
		const struct hf_event *ev = &list.ev[i];

		CHECK(n < sizeof text - 64);
		if (ev->kind == HF_EVENT_INSN)
			n += (size_t)sprintf(text + n, "%llx ", (unsigned long long)ev->insn.pc);
		else if (ev->kind == HF_EVENT_DOUBT || ev->kind == HF_EVENT_NOTE)
			n += (size_t)sprintf(text + n, "%s%u@%lld:%llx ", ev->kind == HF_EVENT_NOTE ? "note" : "", ev->code,
					     (long long)ev->loss.offset, (unsigned long long)ev->loss.detail);
	}
	CHECK_STR(text, want);
	hf_events_free(&list);
	hf_bytes_free(b);
}

/* A nop, an instruction that goes to target (0: on), which is followed all the same, and a nop; the second time fast. */
static void check_jump(uint32_t opcode, unsigned size, uint64_t target, bool doubted)
{
	const unsigned long long went = target ? target : 0x1004 + size;
	struct hf_walk_bytes b = stream();
	char want[256] = "", doubt[80] = "";

	for (unsigned i = 0; i < 2; i++) {
		const size_t n = strlen(want);

		PUT(&b, FORCE_PC, .address = 0x1000);
		put(&b, NOP, 4);
		if (target)
			PUT(&b, INST_PC_TARGET, .address = target);
		if (doubted)
			snprintf(doubt, sizeof doubt, "170@%zu:%llx ", b.n, went);
		put(&b, opcode, size);
		put(&b, NOP, 4);
		snprintf(want + n, sizeof want - n, "1000 %s1004 %llx ", doubt, went);
	}
	check(&b, want);
}

/* A direct jump goes where its opcode says, and nowhere else. */
static void test_leads(void)
{
	static const struct {
		uint32_t opcode;
		uint8_t size, always;
		int16_t distance;
	} jumps[] = {
		{0x0080006f, 4, 1, 8}, {0x008000ef, 4, 1, 8}, {0xffdff06f, 4, 1, -4}, {0x00000863, 4, 0, 16}, /* jal, beq */
		{0xa021, 2, 1, 8}, {0xc401, 2, 0, 8}, /* c.j, c.beqz */
	};

	for (size_t i = 0; i < sizeof jumps / sizeof jumps[0]; i++) {
		const uint32_t opcode = jumps[i].opcode;
		const unsigned size = jumps[i].size;
		const uint64_t to = 0x1004 + (uint64_t)(int64_t)jumps[i].distance;

		check_jump(opcode, size, to, false);
		check_jump(opcode, size, to ^ 0x1000, true);
		check_jump(opcode, size, to ^ UINT64_C(1) << 60, true);
		check_jump(opcode, size, 0, jumps[i].always);
	}
	/* of indirect ones, and of plain instructions, nothing is known */
	check_jump(JR, 4, 0x2000, false);
	check_jump(0x67, 4, 0x2000, false);
	check_jump(0x8782, 2, 0x2000, false);
	check_jump(NOP, 4, 0x2000, false);
}

/* One that did not retire went nowhere by itself. */
static void test_attempt(void)
{
	struct hf_walk_bytes b = stream();

	put(&b, NOP, 4);
	hf_stft_event(&b, 12, 0, NULL);
	PUT(&b, EVENT_PC_TARGET, .address = 0x8000);
	put(&b, 0x0080006f, 4);
	put(&b, NOP, 4);
	check(&b, "1000 8000 ");
}

/* Opcodes in records of another size; of one kind only the first is told, and at the end how many there were. */
static void test_sizes(void)
{
	struct hf_walk_bytes b = stream();
	char want[128];

	put(&b, NOP, 4);
	snprintf(want, sizeof want, "1000 171@%zu:0 1004 1008 100c 173@%zu:0 1010 note172@-1:3 ", b.n, b.n + 15);
	for (unsigned i = 0; i < 3; i++)
		put(&b, 0x4501, 4);
	put(&b, 0x0513, 2);
	check(&b, want);
}

static void test_odd(void)
{
	struct hf_walk_bytes b = stream();
	char want[128];

	put(&b, NOP, 4);
	hf_stft_event(&b, 8, 0, NULL);
	snprintf(want, sizeof want, "1000 note174@%zu:8001 8001 3001 note175@-1:3 ", b.n);
	PUT(&b, EVENT_PC_TARGET, .address = 0x8001);
	put(&b, 0x73, 4);
	PUT(&b, INST_PC_TARGET, .address = 0x2003);
	put(&b, JR, 4);
	PUT(&b, FORCE_PC, .address = 0x3001);
	put(&b, NOP, 4);
	check(&b, want);
}

/* Which encodings of c.fsdsp are those of Zcmp and Zcmt, in groups that go the long way and the fast one. */
static void check_extensions(const char *isa, enum hf_flow popret, enum hf_flow jt)
{
	struct hf_walk_bytes b = stream();
	struct hf_events list;

	b.n--; /* END_HEADER comes behind it */
	PUT(&b, ISA_EXTENDED, .count = (uint32_t)strlen(isa));
	hf_bytes_add(&b, isa, strlen(isa));
	PUT(&b, END_HEADER);
	for (unsigned i = 0; i < 20; i++) {
		PUT(&b, INST_PC_TARGET, .address = 0x1002);
		put(&b, 0xbcca, 2);
		PUT(&b, INST_PC_TARGET, .address = 0x1000);
		put(&b, 0xa002, 2);
	}
	list = hf_stft_decode(&b, 0);
	CHECK_EQ(list.n, 40);
	for (size_t i = 0; i < list.n; i++)
		CHECK_EQ(list.ev[i].insn.flow, i % 2 ? jt : popret);
	hf_events_free(&list);
	hf_bytes_free(&b);
}

int main(void)
{
	test_leads();
	test_attempt();
	test_sizes();
	test_odd();
	check_extensions("rv64gc", HF_FLOW_PLAIN, HF_FLOW_PLAIN);
	check_extensions("rv64imac_Zcmp1p0", HF_FLOW_RETURN, HF_FLOW_PLAIN);
	check_extensions("rv64imac_zca_zcmt_zicsr", HF_FLOW_PLAIN, HF_FLOW_INDIRECT_JUMP);
	check_extensions("RV64IMA_ZCE", HF_FLOW_RETURN, HF_FLOW_INDIRECT_JUMP);
	return 0;
}

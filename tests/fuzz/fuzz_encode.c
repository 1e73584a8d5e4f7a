/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every encoder of the registry: events in any order, as tests/lib/encfuzz.h says. The first byte chooses a row of the
 * table; a view without one gets every input, without parameters.
 * What packets are well formed is checked by fuzz_ete_encode and fuzz_etrace_encode; here a stream that needs no
 * description is one that its own decoder opens and reads to its end.
 */
#include "codecs/base/bytes.h"
#include "codecs/isa/arm.h"
#include "codecs/isa/riscv.h"
#include "tests/lib/encfuzz.h"

#include <string.h>

/* Records of all that was held back, an instruction with its attachments, and synchronisation. */
#define BYTES_OF_EVENT 4096
#define HEADER_MAX 4096

struct row {
	const char *view;
	uint8_t arch;
	bool reads; /* its decoder takes the bytes alone */
	const char *params[8];
};

static const struct row rows[] = {
	{"listing", HF_ARCH_RISCV, false, {""}},
	{"listing", HF_ARCH_ARM, false, {""}},
	{"stf", HF_ARCH_RISCV, true, {""}},
	{"stf", HF_ARCH_ARM, true, {""}},
	{"astf", HF_ARCH_ARM, true, {""}},
	{"ntrace", HF_ARCH_RISCV, false,
	 {"", "mode=btm", "mode=btm,repeat_branch=1,sync_instructions=3", "call_stack=2,repeat_history=1,hist_branches=3",
	  "srcbits=3,times=1,ownership=1,sync_halfwords=5", "profile=seed,icnt_max=7",
	  "zcmp=1,zcmt=1,sequential_jump=1,all_jumps=1,addr_msb_ext=1,one_trap_type=1"}},
	{"etrace", HF_ARCH_RISCV, false, {"", "data=1,sync_instructions=3"}},
	{"ete", HF_ARCH_ARM, false, {"", "q_elements=1,sync_instructions=3"}},
	{"records", HF_ARCH_NONE, false, {""}},
};
enum { ROWS = sizeof rows / sizeof *rows };

static const struct row *now;
static bool whole; /* from the start of the view: no state was given */

static const struct hf_enc_ops *ops_of(const struct row *row)
{
	for (size_t i = 0; hf_views[i]; i++)
		if (strcmp(hf_views[i]->name, row->view) == 0)
			return hf_views[i];
	return &hf_enc_records;
}

/* Views that have no row, as they are without parameters, once for each architecture that they take. */
static struct row added[16];
static size_t added_count;

static struct hf_stream_info info_of(uint8_t arch)
{
	return (struct hf_stream_info){.arch = arch, .xlen = 64, .isa = arch == HF_ARCH_ARM ? HF_ISA_A64 : HF_ISA_RV64,
				       .flags = HF_STREAM_HARTS};
}

static bool has_row(const char *view)
{
	for (size_t k = 0; k < ROWS; k++)
		if (strcmp(rows[k].view, view) == 0)
			return true;
	return false;
}

static void add_views(void)
{
	for (size_t i = 0; hf_views[i]; i++)
		for (uint8_t arch = HF_ARCH_RISCV; arch < HF_ARCH_COUNT && !has_row(hf_views[i]->name); arch++) {
			const struct hf_stream_info info = info_of(arch);

			if (hf_enc_refusal(hf_views[i], &info))
				continue;
			MUST(added_count < sizeof added / sizeof *added);
			added[added_count++] = (struct row){.view = hf_views[i]->name, .arch = arch, .params = {""}};
		}
}

static uint8_t isa_of(const uint8_t *p)
{
	static const uint8_t sets[] = {HF_ISA_A64, HF_ISA_A64, HF_ISA_A32, HF_ISA_T32};

	return now->arch == HF_ARCH_ARM ? sets[p[1] >> 2 & 3] : HF_ISA_RV64;
}

static void set_insn(struct hf_event *ev, const uint8_t *p)
{
	const bool arm = now->arch == HF_ARCH_ARM;

	ev->flags &= HF_EVF_TAKEN;
	ev->insn.opcode = hf_get32(p + 4);
	ev->insn.isa = isa_of(p);
	ev->insn.size = !arm ? ((ev->insn.opcode & 3) == 3 ? 4 : 2) :
			ev->insn.isa == HF_ISA_T32 ? (uint8_t)hf_t32_size(ev->insn.opcode >> 16) : 4;
	if (ev->insn.size == 2)
		ev->insn.opcode &= 0xffff;
	ev->insn.flow = arm ? p[1] >> 4 & 3 : hf_riscv_flow(ev->insn.opcode, 64);
	ev->insn.mode = p[0] >> 5;
}

static struct hf_event event(const uint8_t *p)
{
	struct hf_event ev = {.kind = 1 + p[0] % (HF_EVENT_KINDS - 1), .flags = p[1], .any = p[2], .size = p[3] & 63};
	const uint64_t high = p[1] & 128 ? UINT64_C(0xffff800000000000) : 0x80000000;

	if (p[0] & 128) /* most are instructions */
		ev.kind = HF_EVENT_INSN;
	ev.word[0] = high + 2 * (uint64_t)hf_get16(p + 2);
	ev.word[1] = high + 2 * (uint64_t)hf_get16(p + 4);
	ev.word[2] = hf_get16(p + 6);
	if (hf_event_is_instruction(&ev)) {
		set_insn(&ev, p);
	} else if (ev.kind == HF_EVENT_MEM) {
		ev.mem.size = 1u << p[6] % 7;
		ev.any = p[2] & 1;
		ev.size = 0;
	} else if (ev.kind == HF_EVENT_REG) {
		ev.reg.number = p[4] & 31;
		ev.reg.class = 1 + p[5] % 4;
		ev.reg.role = 1 + p[6] % 3;
		ev.size = 0;
	} else if (ev.kind == HF_EVENT_CONTEXT) {
		ev.size = hf_get16(p + 4) & 0x1ff;
		ev.any = p[2];
		ev.context.vlen = 2;
		ev.context.mode = p[3] % HF_MODE_COUNT;
		ev.context.isa = p[7] % HF_ISA_COUNT;
	} else if (ev.kind == HF_EVENT_BEGIN) {
		ev.isa = isa_of(p);
		ev.size = 0;
	} else if (ev.kind == HF_EVENT_DATA) {
		ev.any %= 25;
		ev.size = 0;
	}
	return ev;
}

/* The encoder's own decoder comes to the end of what it wrote. */
static void check(const uint8_t *p, const uint8_t *end)
{
	struct hf_stream *stream;
	struct hf_event ev[64];
	struct hf_diag diag;
	struct hf_src *src;
	struct hf_dec *dec;
	size_t n, most = HEADER_MAX * 64;
	int err = 0;

	if (!now->reads || !whole || p == end)
		return;
	MUST(hf_src_memory_new(p, (size_t)(end - p), &src) == 0);
	MUST(hf_stream_open(hf_codec_by_name(now->view), src, NULL, &stream, &diag) == 0);
	MUST(hf_dec_new(stream, src, 0, &dec) == 0);
	while (!err && most--)
		err = hf_dec_next(dec, ev, 64, &n);
	MUST(err == HF_NOTE_END);
	hf_dec_free(dec);
	hf_stream_close(stream);
	hf_src_free(src);
}

static void run(const struct row *row, const uint8_t *bytes, size_t n)
{
	struct enc_fuzz fuzz = {.event = event, .check = check, .most = BYTES_OF_EVENT, .ops = ops_of(row),
				.info = info_of(row->arch), .params = row->params};

	now = row;
	MUST(!hf_enc_refusal(fuzz.ops, &fuzz.info));
	enc_fuzz_run(&fuzz, bytes, n);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static bool ready;

	if (!ready)
		add_views();
	ready = true;
	if (!n)
		return 0;
	whole = n > 2 && !bytes[2];
	run(&rows[bytes[0] % ROWS], bytes + 1, n - 1);
	for (size_t i = 0; i < added_count; i++)
		run(&added[i], bytes + 1, n - 1);
	return 0;
}

/*
 * Instructions, traps, accesses and losses in any order, from any state: the packets must be well formed, and an
 * encoder that takes over at any boundary must go on the same. The first byte chooses the parameters, the second how many bytes
 * of blob follow; the rest are events of 8 bytes.
 */
#include "codecs/base/bytes.h"
#include "codecs/etrace/encoder.h"
#include "codecs/isa/riscv.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#define MUST(cond) \
	do { \
		if (!(cond)) { \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #cond); \
			abort(); \
		} \
	} while (0)

#define EVENTS_MAX 96

static const char *const params[] = {
	"", "sync_instructions=3", "version=1.1.1,options=jump_target_cache,sync_instructions=5", "data=1,sync_instructions=9",
	"options=implicit_return+branch_prediction+jump_target_cache,return_stack_size=2,bpred_size=2,cache_size=2",
	"profile=c111,resync_packets=4,options=implicit_return,call_counter_size=2", "profile=python,resync_packets=5",
	"filter_privilege=M,context=pid,version=2.1",
	"options=implicit_exception,mtvec=0x80000000,context=asid,context_change=imprecise",
};

static struct hf_event event(const uint8_t *p)
{
	static const uint8_t kinds[] = {HF_EVENT_INSN, HF_EVENT_INSN, HF_EVENT_INSN, HF_EVENT_INSN, HF_EVENT_INSN,
					HF_EVENT_INSN, HF_EVENT_ATTEMPT, HF_EVENT_TRAP, HF_EVENT_MEM, HF_EVENT_CONTEXT,
					HF_EVENT_GAP, HF_EVENT_DISCONTINUITY, HF_EVENT_TIMESTAMP, HF_EVENT_BEGIN,
					HF_EVENT_DATA, HF_EVENT_TRAP_RETURN};
	struct hf_event ev = {.kind = kinds[p[0] & 15], .flags = p[1], .small = p[1] & 1, .size = p[2]};
	const uint32_t opcode = hf_get32(p + 4);

	ev.word[0] = 0x80000000 + hf_get16(p + 2);
	ev.word[1] = 0x80000000 + hf_get16(p + 4);
	ev.word[2] = hf_get16(p + 6);
	if (hf_event_is_instruction(&ev)) {
		ev.flags &= HF_EVF_TAKEN;
		ev.insn.size = (opcode & 3) == 3 ? 4 : 2;
		ev.insn.opcode = ev.insn.size == 4 ? opcode : opcode & 0xffff;
		ev.insn.isa = HF_ISA_RV64;
		ev.insn.flow = hf_riscv_flow(opcode, 64);
		ev.insn.mode = (p[0] >> 4) % (HF_MODE_D + 1);
	} else if (ev.kind == HF_EVENT_MEM) {
		ev.mem.size = 1u << (p[0] >> 4) % 5;
	} else if (ev.kind == HF_EVENT_TRAP) {
		ev.small = p[3] % HF_MODE_COUNT;
	}
	return ev;
}

static void check_packets(const struct hf_sink *sink)
{
	const uint8_t *p = sink->start;

	while (p < sink->p) {
		MUST((*p & 31) != 0 && (*p >> 5 == 2 || *p >> 5 == 3));
		p += 1 + (*p & 31);
	}
	MUST(p == sink->p);
}

static struct hf_enc *make(unsigned which)
{
	static const struct hf_stream stream = {.info = {.arch = HF_ARCH_RISCV, .xlen = 64, .isa = HF_ISA_RV64,
							 .flags = HF_STREAM_HARTS}};
	static struct hf_enc_env env;
	struct hf_enc *enc;

	env.params = params[which % (sizeof params / sizeof params[0])];
	MUST(hf_enc_new(&hf_etrace_enc_ops, &stream, 0, &env, &enc) == 0);
	return enc;
}

/* One event at a time from the blob on, with a new encoder at every boundary if again. */
static void run(unsigned which, const uint8_t *blob, size_t size, const struct hf_event *ev, size_t n, bool again,
		struct hf_sink *sink)
{
	struct hf_enc *enc = make(which);
	uint8_t state[HF_STATE_MAX];

	if (enc->ops->load(enc, blob, size)) {
		hf_enc_free(enc);
		enc = make(which);
	}
	for (size_t i = 0; i < n; i++) {
		enc->ops->put(enc, &ev[i], 1, sink);
		if (again) {
			const size_t used = enc->ops->save(enc, state);

			MUST(used <= HF_STATE_MAX);
			hf_enc_free(enc);
			enc = make(which);
			MUST(enc->ops->load(enc, state, used) == 0);
		}
	}
	enc->ops->end(enc, sink);
	hf_enc_free(enc);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static struct hf_event ev[EVENTS_MAX];
	struct hf_sink once, again;
	size_t count = 0, blob;

	if (n < 2)
		return 0;
	blob = bytes[1] < n - 2 ? bytes[1] : n - 2;
	for (const uint8_t *p = bytes + 2 + blob; p + 8 <= bytes + n && count < EVENTS_MAX; p += 8)
		ev[count++] = event(p);
	MUST(hf_sink_init_memory(&once, 1 << 14) == 0 && hf_sink_init_memory(&again, 1 << 14) == 0);
	run(bytes[0], bytes + 2, blob, ev, count, false, &once);
	run(bytes[0], bytes + 2, blob, ev, count, true, &again);
	check_packets(&once);
	MUST(once.p - once.start == again.p - again.start);
	MUST(memcmp(once.start, again.start, (size_t)(once.p - once.start)) == 0);
	hf_sink_fini_memory(&once);
	hf_sink_fini_memory(&again);
	return 0;
}

/*
 * Instructions, traps, contexts and losses in any order, from any state: the packets must be well formed and few, and an
 * encoder that takes over at any boundary must go on the same. The first byte chooses the parameters, the second how many
 * bytes of blob follow; the rest are events of 8 bytes.
 */
#include "codecs/base/bytes.h"
#include "codecs/ete/encoder.h"
#include "codecs/isa/arm.h"

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
/* The atoms that waited, the end of one stretch, an overflow, a synchronisation, addresses, a timestamp. */
#define BYTES_OF_EVENT 256

static const char *const params[] = {
	"", "sync_instructions=3", "return_stack=0,sync_instructions=1", "q_elements=1,sync_instructions=0",
	"timestamps=0,contextid=0",
};

static struct hf_event event(const uint8_t *p)
{
	static const uint8_t kinds[] = {HF_EVENT_INSN, HF_EVENT_INSN, HF_EVENT_INSN, HF_EVENT_INSN, HF_EVENT_INSN,
					HF_EVENT_INSN, HF_EVENT_ATTEMPT, HF_EVENT_TRAP, HF_EVENT_MEM, HF_EVENT_CONTEXT,
					HF_EVENT_GAP, HF_EVENT_DISCONTINUITY, HF_EVENT_TIMESTAMP, HF_EVENT_BEGIN,
					HF_EVENT_DATA, HF_EVENT_TRAP_RETURN};
	static const uint8_t sets[] = {HF_ISA_A64, HF_ISA_A64, HF_ISA_A32, HF_ISA_T32};
	struct hf_event ev = {.kind = kinds[p[0] & 15], .flags = p[1] & 15, .small = p[2], .size = hf_get16(p + 2)};
	const uint64_t high = p[1] & 128 ? UINT64_C(0xffff800000000000) : 0;

	ev.word[0] = high + 2 * (uint64_t)hf_get16(p + 2);
	ev.word[1] = high + 4 * (uint64_t)hf_get16(p + 4);
	ev.word[2] = high + 4 * (uint64_t)hf_get16(p + 6);
	if (hf_event_is_instruction(&ev)) {
		ev.flags &= HF_EVF_TAKEN;
		ev.insn.opcode = hf_get32(p + 4);
		ev.insn.isa = sets[p[0] >> 4 & 3];
		ev.insn.size = ev.insn.isa == HF_ISA_T32 ? (uint8_t)hf_t32_size(ev.insn.opcode >> 16) : 4;
		ev.insn.mode = (uint8_t)(p[1] >> 2) % HF_MODE_COUNT;
	} else if (ev.kind == HF_EVENT_TRAP) {
		ev.trap.cause = p[4];
	}
	return ev;
}

static void check_packets(const struct hf_sink *sink)
{
	const struct hf_ete_config config = {.cid_bytes = 4, .vmid_bytes = 4, .commopt = true, .wfx = true};

	for (const uint8_t *p = sink->start; p < sink->p;) {
		struct hf_ete_packet packet;
		const int size = hf_ete_packet_get(&config, p, (size_t)(sink->p - p), &packet);

		MUST(size > 0);
		p += size;
	}
}

static struct hf_enc *make(unsigned which)
{
	static const struct hf_stream stream = {.info = {.arch = HF_ARCH_ARM, .xlen = 64, .isa = HF_ISA_A64,
							 .flags = HF_STREAM_HARTS}};
	static struct hf_enc_env env;
	struct hf_enc *enc;

	env.params = params[which % (sizeof params / sizeof params[0])];
	MUST(hf_enc_new(&hf_ete_enc_ops, &stream, 0, &env, &enc) == 0);
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
	MUST((size_t)(once.p - once.start) <= BYTES_OF_EVENT * (count + 1));
	MUST(once.p - once.start == again.p - again.start);
	MUST(memcmp(once.start, again.start, (size_t)(once.p - once.start)) == 0);
	hf_sink_fini_memory(&once);
	hf_sink_fini_memory(&again);
	return 0;
}

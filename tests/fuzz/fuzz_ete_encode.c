/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions, traps, contexts, accesses and losses in any order: the ETE encoder, as tests/lib/encfuzz.h says. */
#include "codecs/base/bytes.h"
#include "codecs/ete/encoder.h"
#include "codecs/isa/arm.h"
#include "codecs/views.h"
#include "tests/lib/encfuzz.h"

/* The atoms that waited, the end of one stretch, an overflow, a synchronisation, addresses, a timestamp. */
#define BYTES_OF_EVENT 256

static const char *const params[] = {
	"", "sync_instructions=3", "return_stack=0,sync_instructions=1", "q_elements=1,sync_instructions=0",
	"timestamps=0,contextid=0", NULL,
};

static struct hf_event event(const uint8_t *p)
{
	static const uint8_t kinds[] = {HF_EVENT_INSN, HF_EVENT_INSN, HF_EVENT_INSN, HF_EVENT_INSN, HF_EVENT_INSN,
					HF_EVENT_INSN, HF_EVENT_ATTEMPT, HF_EVENT_TRAP, HF_EVENT_MEM, HF_EVENT_CONTEXT,
					HF_EVENT_GAP, HF_EVENT_DISCONTINUITY, HF_EVENT_TIMESTAMP, HF_EVENT_BEGIN,
					HF_EVENT_DATA, HF_EVENT_TRAP_RETURN};
	static const uint8_t sets[] = {HF_ISA_A64, HF_ISA_A64, HF_ISA_A32, HF_ISA_T32};
	struct hf_event ev = {.kind = kinds[p[0] & 15], .flags = p[1] & 15, .any = p[2], .size = hf_get16(p + 2)};
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

static void check_packets(const uint8_t *p, const uint8_t *end)
{
	const struct hf_ete_config config = {.cid_bytes = 4, .vmid_bytes = 4, .commopt = true, .wfx = true};

	while (p < end) {
		struct hf_ete_packet packet;
		const int size = hf_ete_packet_get(&config, p, (size_t)(end - p), &packet);

		MUST(size > 0);
		p += size;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static const struct enc_fuzz fuzz = {
		.ops = &hf_view_ete,
		.info = {.arch = HF_ARCH_ARM, .xlen = 64, .isa = HF_ISA_A64, .flags = HF_STREAM_HARTS},
		.params = params,
		.event = event,
		.check = check_packets,
		.most = BYTES_OF_EVENT,
	};

	enc_fuzz_run(&fuzz, bytes, n);
	return 0;
}

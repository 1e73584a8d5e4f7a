/* SPDX-License-Identifier: Apache-2.0 */
/* When the view ntrace/ has Ownership messages: never, always, or from the first change of an id on. */
#include "codecs/ntrace/message.h"
#include "tests/lib/ntracetest.h"

#define NOP 0x00000013u
#define BASE 0x10000u

static struct hf_event list[16];
static size_t count;
static uint64_t pc;

static void insn(unsigned mode)
{
	struct hf_event *ev = &list[count++];

	*ev = (struct hf_event){.kind = HF_EVENT_INSN};
	ev->insn = (struct hf_ev_insn){.pc = pc, .opcode = NOP, .size = 4, .isa = HF_ISA_RV64, .mode = (uint8_t)mode};
	pc += 4;
}

static void context(uint32_t pid)
{
	struct hf_event *ev = &list[count++];

	*ev = (struct hf_event){.kind = HF_EVENT_CONTEXT, .fields = HF_CONTEXT_PID};
	ev->context.pid = pid;
}

/* "7M 8U": each Ownership message of the list as a view: the process, and the mode. */
static const char *owners(const char *view)
{
	const struct hf_ntt_events events = {.ev = list, .n = count};
	const struct hf_ntrace_params params = {.xlen = 64};
	static char text[256];
	struct hf_ntrace_message msg;
	struct hf_walk_bytes bytes = hf_ntt_encode(&events, 64, 0, view);
	size_t used = 0;

	text[0] = '\0';
	for (size_t at = 0; at < bytes.n; at += msg.length) {
		CHECK_EQ(hf_ntrace_message_read(&params, bytes.p + at, bytes.n - at, &msg), 0);
		if (msg.tcode == HF_NTRACE_OWNERSHIP)
			used += (size_t)snprintf(text + used, sizeof text - used, "%s%u%c", used ? " " : "",
						 (unsigned)(msg.value >> 5), "US?M"[msg.value >> 2 & 3]);
	}
	hf_bytes_free(&bytes);
	return text;
}

static void begin(void)
{
	count = 0;
	pc = BASE;
}

int main(void)
{
	/* modes alone, and one process all the time */
	begin();
	insn(HF_MODE_M);
	context(7);
	insn(HF_MODE_U);
	context(7);
	insn(HF_MODE_M);
	CHECK_STR(owners(NULL), "");
	CHECK_STR(owners("ownership=2"), "");
	CHECK_STR(owners("ownership=0"), "");
	CHECK_STR(owners("ownership=1"), "0M 7U 7M");
	/* another process: it is said, and from there on so is every mode */
	context(8);
	insn(HF_MODE_M);
	insn(HF_MODE_U);
	insn(HF_MODE_U);
	insn(HF_MODE_M);
	CHECK_STR(owners(NULL), "8M 8U 8M");
	CHECK_STR(owners("ownership=0"), "");
	CHECK_STR(owners("ownership=1"), "0M 7U 7M 8M 8U 8M");
	CHECK_STR(owners("profile=seed"), "");
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any parameters of the view etrace/: what is refused says why, and a walk encoded with what is taken decodes through
 * the view's own description, whole and with a new decoder every few events, to the same instructions. The first byte:
 * odd, and the rest is the text of the parameters; even, and each further byte is one of those below. The second is
 * the program and the walk.
 */
#include "codecs/etrace/encoder.h"
#include "codecs/isa/riscv.h"
#include "codecs/views.h"
#include "tests/lib/etraceloop.h"
#include "tests/lib/fuzz.h"

#include <string.h>

#define TEXT_MAX 1024
#define INSNS 100

static const char *const choices[] = {
	"version=1.1.1", "version=2.0", "version=2.1", "profile=c111", "profile=python", "profile=exact",
	"framing=te_inst_raw", "framing=encap", "framing=smi", "framing=coresight", "framing=pulp", "framing=esp32",
	"options=none", "options=implicit_return", "options=branch_prediction", "options=jump_target_cache",
	"options=full_address", "options=implicit_exception", "options=implicit_return+branch_prediction",
	"options=branch_prediction+jump_target_cache",
	"options=implicit_return+branch_prediction+jump_target_cache+implicit_exception", "f0s_width=1", "f0s_width=2",
	"f0s_width=3", "return_stack_size=1", "return_stack_size=8", "call_counter_size=1", "call_counter_size=8",
	"bpred_size=1", "bpred_size=12", "cache_size=1", "cache_size=8", "sync_instructions=1", "sync_instructions=7",
	"sync_instructions=0", "resync_packets=1", "resync_packets=3", "irets=1", "irets=0", "resync_disabled=1",
	"support_options=reference", "support_options=standard", "encoder_mode_width=0", "encoder_mode_width=8",
	"iaddress_width=33", "iaddress_width=64", "iaddress_lsb=0", "iaddress_lsb=1", "ecause_width=4", "ecause_width=5",
	"ecause_width=64", "unknown_cause=1", "nocontext=0", "nocontext=1", "context_width=1", "context_width=64",
	"context=pid", "context=asid", "context=tid", "context_change=imprecise", "notime=0", "notime=1", "time_width=1",
	"time_width=16", "time_width=64", "sijump=0", "sijump=1", "jtc_policy=all", "ecall_retires=0", "ecall_retires=1",
	"link_registers=x1+x5", "trap_reporting=figure", "mtvec=0x80000000", "stvec=0x80000101", "vstvec=0",
	"compression=none", "compression=address", "compression=full", "alignment=none", "alignment=zeros",
	"alignment=blocks", "block_bytes=64", "block_bytes=100", "srcid_bits=0", "srcid_bits=3", "srcid_bits=16",
	"type_bits=1", "type_bits=2", "type_bits=8", "timestamp_bytes=1", "timestamp_bytes=8", "data=1", "data=0",
	"data_compress=none", "data_compress=xor", "data_compress=difference", "data_diff=reference", "no_address=1",
	"no_data=1", "mmacas=1", "lrid_width=1", "lrid_width=8", "data_width=32", "data_width=64", "daddress_width=64",
	"data_format_width=2", "data_format_width=4", "data_diff_width=1", "data_diff_width=2", "zcmp=1", "zcmt=1",
	"filter_privilege=M", "filter_privilege=U+S", "filter_address=80000000-80000200",
};

static void choose(const uint8_t *bytes, size_t n, char text[TEXT_MAX])
{
	size_t used = 0;

	for (size_t i = 0; i < n; i++) {
		const char *choice = choices[bytes[i] % (sizeof choices / sizeof *choices)];
		const size_t key = strcspn(choice, "=") + 1;
		bool twice = false;

		for (const char *p = text; used && p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL)
			twice |= strncmp(p, choice, key) == 0;
		if (!twice && used + strlen(choice) + 2 < TEXT_MAX)
			used += (size_t)snprintf(text + used, TEXT_MAX - used, "%s%s", used ? "," : "", choice);
	}
}

/* Streams that say the flow whole and without doubt. */
static bool is_complete(const char *params)
{
	return !strstr(params, "profile=") && !strstr(params, "filter_");
}

static void loop(const char *params, unsigned byte)
{
	const unsigned isa = 64 | (strstr(params, "zcmp=1") ? HF_RISCV_ZCMP : 0) |
			     (strstr(params, "zcmt=1") ? HF_RISCV_ZCMT : 0);
	struct hf_rvtrace trace, got, resumed;
	static struct hf_rvwalk walk;
	struct hf_etl l;

	hf_rvwalk_program(&walk, 0x80000000, isa, byte & 3);
	hf_rvtrace_init(&trace, isa);
	hf_rvtrace_init(&got, isa);
	hf_rvtrace_init(&resumed, isa);
	hf_rvwalk_run(&walk, &trace, INSNS, byte >> 2);
	hf_etl_make_walk(&l, &trace, params, &walk);
	hf_etl_decode(&l, 0, &got, NULL);
	hf_etl_decode_resumed(&l, &resumed);
	MUST(got.count == resumed.count);
	MUST(!got.count || memcmp(got.events, resumed.events, got.count * sizeof *got.events) == 0);
	if (is_complete(params))
		hf_etl_check_same(&l, &trace, &got, HF_ETL_INSNS, params);
	hf_etl_free(&l);
	hf_rvtrace_fini(&resumed);
	hf_rvtrace_fini(&got);
	hf_rvtrace_fini(&trace);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	char text[TEXT_MAX] = "", why[256] = "";

	if (n < 2)
		return 0;
	if (bytes[0] & 1)
		memcpy(text, bytes + 2, n - 2 < TEXT_MAX - 1 ? n - 2 : TEXT_MAX - 1);
	else
		choose(bytes + 2, n - 2, text);
	if (hf_view_etrace.check_params(text, why, sizeof why))
		MUST(*why);
	else if (bytes[0] & 1)
		return 0;
	else
		loop(text, bytes[1]);
	return 0;
}

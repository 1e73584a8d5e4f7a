/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of the view, and the capture.ini that gives them to a decoder. */
#include "codecs/ntrace/encoder.h"

#include "codecs/isa/riscv.h"
#include "codecs/base/errors.h"

#include <stdio.h>

enum key {
#define HF_NTRACE_OPTION(key, max) KEY_##key,
#define HF_NTRACE_WORD(key, ...) KEY_##key,
#include "codecs/ntrace/options.def"
	KEYS,
};

static const struct hf_param keys[KEYS + 1] = {
#define HF_NTRACE_OPTION(key, max) HF_PARAM_NUMBER(#key, max),
#define HF_NTRACE_WORD(key, ...) HF_PARAM_WORD(#key, ((const char *const[]){__VA_ARGS__, NULL})),
#include "codecs/ntrace/options.def"
	HF_PARAM_END,
};

/* Sets what the source says about the extensions of the hart. */
static void set_code_size(uint64_t v[KEYS], const struct hf_code_size *code_size)
{
	v[KEY_zcmp] = (code_size->extensions & HF_RISCV_ZCMP) != 0;
	v[KEY_zcmt] = (code_size->extensions & HF_RISCV_ZCMT) != 0;
}

/* The most compact stream that every decoder reads. It has no repeats, because one of the public decoders cannot follow
 * them. It has no Ownership as long as there is one process, because the reference decoder ends at the first; without
 * Ownership only modes and one id are lost. */
static void set_defaults(uint64_t v[KEYS])
{
	v[KEY_mode] = 1;
	v[KEY_call_stack] = HF_NTRACE_STACK;
	v[KEY_timestamps] = HF_NTRACE_TIMES_ADD;
	v[KEY_sync_instructions] = HF_NTRACE_SYNC_DEFAULT;
	v[KEY_ownership] = HF_NTRACE_OWNERSHIP_IDS;
	v[KEY_icnt_max] = 0x3fffff;
	v[KEY_hist_branches] = 31;
}

/* What the trace units of a dialect do otherwise. */
static void set_dialect_defaults(uint64_t v[KEYS])
{
	v[KEY_timestamps] = hf_ntrace_dialect_defaults((unsigned)v[KEY_dialect])->times;
}

/* The simple encoder of the specification has none of the options (10.2). */
static void set_seed_defaults(uint64_t v[KEYS])
{
	v[KEY_call_stack] = 0;
	v[KEY_sync_instructions] = 0;
	v[KEY_ownership] = HF_NTRACE_OWNERSHIP_NEVER;
	v[KEY_icnt_max] = 0x10000;
	v[KEY_hist_branches] = 29;
}

/* The parameters that a decoder of the view needs. */
static struct hf_ntrace_params wire_of(const uint64_t v[KEYS], uint8_t xlen, const struct hf_code_size *code_size)
{
	struct hf_ntrace_params p = {
		.srcbits = (uint8_t)v[KEY_srcbits],
		.xlen = xlen,
		.dialect = (uint8_t)v[KEY_dialect],
		.address_width = (uint8_t)v[KEY_address_width],
		.times = (uint8_t)v[KEY_timestamps],
		.time_width = hf_ntrace_dialect_defaults((unsigned)v[KEY_dialect])->time_width,
		.trap_values = hf_ntrace_dialect_defaults((unsigned)v[KEY_dialect])->trap_values,
		.addr_msb_ext = v[KEY_addr_msb_ext],
		.implicit_return = v[KEY_call_stack] != 0,
		.sequential_jump = v[KEY_sequential_jump],
		.all_jumps = v[KEY_all_jumps],
	};

	p.code_size.extensions = (v[KEY_zcmp] ? HF_RISCV_ZCMP : 0) | (v[KEY_zcmt] ? HF_RISCV_ZCMT : 0);
	p.code_size.has_jvt = v[KEY_zcmt] && code_size->has_jvt;
	p.code_size.jvt = p.code_size.has_jvt ? code_size->jvt : 0;
	p.isa = (uint16_t)(xlen | p.code_size.extensions);
	return p;
}

int hf_ntrace_config_read(const char *params, const struct hf_stream *stream, uint32_t hart,
			  struct hf_ntrace_config *ret_config, char *why, size_t size)
{
	const uint8_t xlen = stream && hf_stream_xlen(stream, hart) == 32 ? 32 : 64;
	struct hf_code_size code_size;
	const struct hf_program *tables = hf_code_size_of_view(stream, hart, &code_size);
	uint64_t v[KEYS] = {0};
	int err;

	set_defaults(v);
	set_code_size(v, &code_size);
	err = hf_params_parse(params, keys, "ntrace", v, why, size);
	if (!err && (v[KEY_profile] || v[KEY_dialect])) {
		if (v[KEY_dialect])
			set_dialect_defaults(v);
		if (v[KEY_profile])
			set_seed_defaults(v);
		err = hf_params_parse(params, keys, "ntrace", v, why, size);
	}
	if (!err && v[KEY_address_width] && v[KEY_address_width] < HF_NTRACE_ADDRESS_MIN) {
		if (why)
			snprintf(why, size, "ntrace.address_width is 0, or %d to 64", HF_NTRACE_ADDRESS_MIN);
		err = HF_ERR_SETUP_VALUE;
	}
	if (err)
		return err;
	*ret_config = (struct hf_ntrace_config){
		.wire = wire_of(v, xlen, &code_size),
		.history = v[KEY_mode],
		.seed = v[KEY_profile],
		.repeat_branch = v[KEY_repeat_branch],
		.repeat_history = v[KEY_repeat_history],
		.times = v[KEY_times],
		.ownership = (uint8_t)v[KEY_ownership],
		.one_trap_type = v[KEY_one_trap_type],
		.call_stack = (uint16_t)v[KEY_call_stack],
		.hist_branches = (uint8_t)(v[KEY_hist_branches] ? v[KEY_hist_branches] : 1),
		.icnt_max = (uint32_t)(v[KEY_icnt_max] > 2 ? v[KEY_icnt_max] : 2),
		.sync = v[KEY_sync_halfwords] ? v[KEY_sync_halfwords] : v[KEY_sync_instructions],
		.sync_halfwords = v[KEY_sync_halfwords] != 0,
		.tables = tables,
		.src = (uint16_t)(hart & ((1u << v[KEY_srcbits]) - 1)),
	};
	return 0;
}

int hf_ntrace_check_params(const char *params, char *why, size_t size)
{
	struct hf_ntrace_config config;

	return hf_ntrace_config_read(params, NULL, 0, &config, why, size);
}

/* What streams of N-Trace 1.0 without times do not need. */
static void write_special(const struct hf_ntrace_config *c, struct hf_sink *sink)
{
	char text[160];
	int n = 0;

	if (c->wire.dialect)
		n += snprintf(text, sizeof text, "dialect = %s\n", hf_ntrace_dialect_name(c->wire.dialect));
	if (c->times)
		n += snprintf(text + n, sizeof text - (size_t)n, "timestamps = %s\n", hf_ntrace_times_name(c->wire.times));
	if (c->wire.address_width)
		n += snprintf(text + n, sizeof text - (size_t)n, "address_width = %u\n", c->wire.address_width);
	if (c->call_stack > HF_NTRACE_STACK)
		n += snprintf(text + n, sizeof text - (size_t)n, "implicit_return_depth = %u\n", c->call_stack);
	hf_sink_write(sink, text, (size_t)n);
}

void hf_ntrace_write_ini(const struct hf_side *side, struct hf_sink *sink)
{
	struct hf_ntrace_config c;
	char text[1024];
	int n;

	/* The parameters were checked before a view was made with them. */
	if (hf_ntrace_config_read(side->env ? side->env->params : NULL, side->stream, side->hart, &c, NULL, 0))
		return;
	n = snprintf(text, sizeof text,
		     "[capture]\n"
		     "format = ntrace\n"
		     "trace = trace.bin\n"
		     "\n"
		     "[program]\n"
		     "elf = program.elf\n"
		     "\n"
		     "[parameters]\n"
		     "xlen = %u\n"
		     "srcbits = %u\n"
		     "addr_msb_ext = %d\n"
		     "implicit_return = %d\n"
		     "sequential_jump = %d\n"
		     "all_jumps = %d\n",
		     c.wire.xlen, c.wire.srcbits, c.wire.addr_msb_ext, c.wire.implicit_return, c.wire.sequential_jump,
		     c.wire.all_jumps);
	hf_sink_write(sink, text, (size_t)n);
	write_special(&c, sink);
	hf_code_size_write(&c.wire.code_size, sink);
}

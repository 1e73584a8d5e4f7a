/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of the view, and the capture.ini that tells a decoder of them. */
#include "codecs/ntrace/encoder.h"

#include "codecs/base/nearest.h"
#include "codecs/base/number.h"
#include "codecs/isa/riscv.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum key {
#define HF_NTRACE_OPTION(key, max) KEY_##key,
#include "codecs/ntrace/options.def"
#undef HF_NTRACE_OPTION
	KEYS,
};

static const struct {
	const char *name;
	uint64_t max;
} keys[KEYS] = {
#define HF_NTRACE_OPTION(key, max) {#key, (max)},
#include "codecs/ntrace/options.def"
#undef HF_NTRACE_OPTION
};

/* mode and profile are words: the numbers they stand for. */
static bool read_word(enum key key, const char *text, size_t size, uint64_t *ret_v)
{
	static const char *const modes[] = {"btm", "htm"}, *const profiles[] = {"default", "seed"};
	const char *const *words = key == KEY_mode ? modes : profiles;

	for (*ret_v = 0; *ret_v < 2; ++*ret_v)
		if (strlen(words[*ret_v]) == size && memcmp(words[*ret_v], text, size) == 0)
			return true;
	return false;
}

static bool read_number(const char *text, size_t size, uint64_t max, uint64_t *ret_v)
{
	const char *end;

	return hf_number_parse(text, ret_v, &end) && end == text + size && *ret_v <= max;
}

/* One "key=value": its key, and the value as a number. */
static int read_item(const char *item, size_t size, enum key *ret_key, uint64_t *ret_v)
{
	const char *equals = memchr(item, '=', size);
	const size_t n = equals ? (size_t)(equals - item) : size;
	const char *value = item + n + 1;
	unsigned key;

	for (key = 0; key < KEYS; key++)
		if (strlen(keys[key].name) == n && memcmp(keys[key].name, item, n) == 0)
			break;
	*ret_key = (enum key)key;
	if (key == KEYS || !equals)
		return HF_ERR_SETUP_KEY;
	if (key == KEY_mode || key == KEY_profile)
		return read_word((enum key)key, value, size - n - 1, ret_v) ? 0 : HF_ERR_SETUP_VALUE;
	return read_number(value, size - n - 1, keys[key].max, ret_v) ? 0 : HF_ERR_SETUP_VALUE;
}

/* What is wrong with "name=value", where key is KEYS if there is none of that name. */
static void explain(enum key key, const char *name, size_t n, char *why, size_t size)
{
	const char *known[KEYS + 1] = {NULL};
	char hint[HF_NEAREST_SIZE];

	for (unsigned i = 0; i < KEYS; i++)
		known[i] = keys[i].name;
	if (key == KEYS)
		snprintf(why, size, "ntrace has no parameter '%.*s'%s", (int)n, name,
			 hf_nearest_hint(name, n, known, hint));
	else if (key == KEY_mode || key == KEY_profile)
		snprintf(why, size, "%s must be %s", keys[key].name, key == KEY_mode ? "btm or htm" : "default or seed");
	else
		snprintf(why, size, "%s must be a number from 0 to %" PRIu64, keys[key].name, keys[key].max);
}

/* All that params say; v[key] stays where they say nothing. */
static int read_params(const char *params, uint64_t v[KEYS], char *why, size_t size)
{
	for (const char *p = params; p && *p;) {
		const size_t n = strcspn(p, ",");
		enum key key = KEYS;
		uint64_t value = 0;
		int err = read_item(p, n, &key, &value);

		if (err) {
			if (why)
				explain(key, p, strcspn(p, "=,"), why, size);
			return HF_ERR_SETUP_VALUE;
		}
		v[key] = value;
		p += n;
		p += *p == ',';
	}
	return 0;
}

/* What the source says of the hart. */
static void set_code_size(uint64_t v[KEYS], const struct hf_code_size *code_size)
{
	v[KEY_zcmp] = (code_size->extensions & HF_RISCV_ZCMP) != 0;
	v[KEY_zcmt] = (code_size->extensions & HF_RISCV_ZCMT) != 0;
}

/* What every decoder reads, as compact as that allows: no repeats, which one of the public ones cannot follow, and no
 * Ownership, at which the reference decoder ends, as long as nothing but modes and the id of the one process is lost. */
static void set_defaults(uint64_t v[KEYS])
{
	v[KEY_mode] = 1;
	v[KEY_call_stack] = HF_NTRACE_STACK;
	v[KEY_sync_instructions] = HF_NTRACE_SYNC_DEFAULT;
	v[KEY_ownership] = HF_NTRACE_OWNERSHIP_IDS;
	v[KEY_icnt_max] = 0x3fffff;
	v[KEY_hist_branches] = 31;
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

/* What a decoder must be told. */
static struct hf_ntrace_params wire_of(const uint64_t v[KEYS], uint8_t xlen, const struct hf_code_size *code_size)
{
	struct hf_ntrace_params p = {
		.srcbits = (uint8_t)v[KEY_srcbits],
		.xlen = xlen,
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
	const struct hf_program *tables = hf_code_size_of_view(stream ? stream->setup : NULL, hart, &code_size);
	uint64_t v[KEYS] = {0};
	int err;

	set_defaults(v);
	set_code_size(v, &code_size);
	err = read_params(params, v, why, size);
	if (!err && v[KEY_profile]) {
		set_seed_defaults(v);
		err = read_params(params, v, why, size);
	}
	if (err)
		return err;
	*ret_config = (struct hf_ntrace_config){
		.wire = wire_of(v, xlen, &code_size),
		.history = v[KEY_mode],
		.seed = v[KEY_profile],
		.repeat_branch = v[KEY_repeat_branch],
		.repeat_history = v[KEY_repeat_history],
		.timestamps = v[KEY_timestamps],
		.ownership = (uint8_t)v[KEY_ownership],
		.one_trap_type = v[KEY_one_trap_type],
		.call_stack = (uint8_t)v[KEY_call_stack],
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

void hf_ntrace_write_ini(const struct hf_side *side, struct hf_sink *sink)
{
	struct hf_ntrace_config c;
	char text[1024];
	int n;

	/* They were checked before a view was made with them. */
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
	hf_code_size_write(&c.wire.code_size, sink);
}

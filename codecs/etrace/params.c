/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/etrace/params.h"

#include "codecs/isa/riscv.h"
#include "codecs/setup/code_size.h"

#include <string.h>

static const char *const versions[] = {"1.1.1", "2.0", "2.1", NULL};
static const char *const supports[] = {"reference", "pulp", "esp32", "standard", NULL};
static const char *const compressions[] = {"full", "none", "address", NULL};
static const char *const links[] = {"x1", "x1,x5", NULL};
static const char *const reportings[] = {"retired", "figure", NULL};
static const char *const policies[] = {"targets", "all", NULL};
static const char *const diffs[] = {"spec", "reference", NULL};
static const char *const orders[] = {"", "any", "before", NULL};
static const char *const kinds[] = {"plain", "attributes", NULL};
static const char *const texts[] = {"hex", "hex_words", NULL};
static const char *const alignments[] = {"none", "zeros", "blocks", NULL};
/* From HF_ETRACE_FRAMING_RAW on. */
static const char *const framings[] = {"te_inst_raw", "encap", "smi", "coresight", "pulp", "esp32", NULL};
/* block_bytes may be any number; these are what a memory controller or a DMA engine has. */
static const char *const blocks[] = {"32", "64", "128", "256", "512", "1024", "2048", "4096", "8192", "16384", "32768",
				     "65536", NULL};
/* Of options, in the order of mode_bits. */
static const char *const mode_names[] = {
	"full_address", "implicit_return", "branch_prediction", "jump_target_cache", "implicit_exception", NULL};
static const uint32_t mode_bits[] = {
	HF_ETRACE_FULL_ADDRESS, HF_ETRACE_IMPLICIT_RETURN, HF_ETRACE_BRANCH_PREDICTION,
	HF_ETRACE_JUMP_TARGET_CACHE, HF_ETRACE_IMPLICIT_EXCEPTION};

const struct hf_setup_key hf_etrace_keys[] = {
	/* of the trace unit */
	HF_KEY_NUMBER("privilege_width", 1, 8),
	HF_KEY_FLAG("nocontext"),
	HF_KEY_NUMBER("context_width", 1, 64),
	HF_KEY_FLAG("notime"),
	HF_KEY_NUMBER("time_width", 1, 64),
	HF_KEY_NUMBER("iaddress_lsb", 0, 3),
	HF_KEY_NUMBER("iaddress_width", 8, 64),
	HF_KEY_WORD("version", versions),
	HF_KEY_NUMBER("ecause_width", 1, 64),
	HF_KEY_NUMBER("f0s_width", 0, HF_ETRACE_F0S_MAX),
	HF_KEY_NUMBER("return_stack_size", 0, HF_ETRACE_TABLE_MAX),
	HF_KEY_NUMBER("call_counter_size", 0, HF_ETRACE_TABLE_MAX),
	HF_KEY_NUMBER("bpred_size", 0, HF_ETRACE_TABLE_MAX),
	HF_KEY_NUMBER("cache_size", 0, HF_ETRACE_TABLE_MAX),
	HF_KEY_FLAG("sijump"),
	HF_KEY_FLAG("irreport"),
	HF_KEY_WORD("support_options", supports),
	HF_KEY_NUMBER("encoder_mode_width", 0, 8),
	HF_KEY_SET("options", mode_names),
	HF_KEY_WORD("link_registers", links),
	HF_KEY_FLAG("ecall_retires"),
	HF_KEY_OPEN("sync_instructions"),
	HF_KEY_WORD("trap_reporting", reportings),
	HF_KEY_WORD("jtc_policy", policies),
	HF_KEY_WORD("compression", compressions),
	HF_KEY_OPEN("mtvec"),
	HF_KEY_OPEN("stvec"),
	HF_KEY_OPEN("vstvec"),
	HF_KEY_FLAG("irets"),
	HF_KEY_FLAG("resync_disabled"),
	HF_KEY_FLAG("mmacas"),
	HF_KEY_FLAG("zcmp"),
	HF_KEY_FLAG("zcmt"),
	HF_KEY_OPEN("jvt"),
	HF_KEY_OPEN("unknown_cause"),
	HF_KEY_NUMBER("daddress_width", 8, 64),
	HF_KEY_NUMBER("data_width", 8, 64),
	HF_KEY_NUMBER("data_format_width", 0, 3),
	HF_KEY_NUMBER("lrid_width", 0, 16),
	HF_KEY_WORD("data_diff", diffs),
	HF_KEY_NUMBER("data_diff_width", 0, 2),
	HF_KEY_WORD("data_order", orders),
	HF_KEY_FLAG("no_address"),
	HF_KEY_FLAG("no_data"),
	HF_KEY_FLAG("full_daddress"),
	HF_KEY_FLAG("full_data"),
	/* the same as the unit shows them: attribute values, or the two registers of the example in chapter 9 */
	HF_KEY_WORD("widths", kinds),
	HF_KEY_OPEN("discovery_info_0"),
	HF_KEY_OPEN("discovery_info_1"),
	/* of the transport */
	HF_KEY_WIDE_WORD("framing", framings),
	HF_KEY_WIDE_NUMBER("srcid_bits", 0, 16),
	HF_KEY_WIDE_NUMBER("timestamp_bytes", 0, 8),
	HF_KEY_WIDE_NUMBER("type_bits", 0, 8),
	HF_KEY_WIDE_WORD("alignment", alignments),
	HF_KEY_WIDE_WORD("block_bytes", blocks),
	HF_KEY_OPEN("text"),
	HF_KEY_END,
};

struct reading {
	const struct hf_setup *setup;
	uint32_t hart;
	struct hf_setup_error *error;
	bool attributes; /* widths = attributes: values that the specification stores less one are so here */
	int err;         /* the first */
};

static uint64_t number(struct reading *r, const char *key, uint64_t min, uint64_t max, uint64_t fallback)
{
	uint64_t v = fallback;

	if (!r->err)
		r->err = hf_setup_number(r->setup, r->hart, key, min, max, fallback, &v, r->error);
	return v;
}

/* A width from min to max bits. */
static uint8_t width(struct reading *r, const char *key, unsigned min, unsigned max, uint8_t fallback)
{
	const unsigned less = r->attributes;

	if (!hf_setup_get(r->setup, r->hart, key))
		return fallback;
	return (uint8_t)(number(r, key, min - less, max - less, fallback) + less);
}

static uint8_t size(struct reading *r, const char *key, unsigned max, uint8_t fallback)
{
	return (uint8_t)number(r, key, 0, max, fallback);
}

static bool on(struct reading *r, const char *key, bool fallback)
{
	return number(r, key, 0, 1, fallback);
}

/* One of these words, ending with NULL: its place. */
static uint8_t word(struct reading *r, const char *key, const char *const *words, uint8_t fallback)
{
	unsigned v = fallback;

	if (!r->err)
		r->err = hf_setup_word(r->setup, r->hart, key, words, fallback, &v, r->error);
	return (uint8_t)v;
}

enum hf_etrace_framing hf_etrace_framing_of(const char *name)
{
	for (unsigned i = 0; framings[i]; i++)
		if (strcmp(framings[i], name) == 0)
			return (enum hf_etrace_framing)(HF_ETRACE_FRAMING_RAW + i);
	return HF_ETRACE_FRAMING_NONE;
}

const char *hf_etrace_framing_name(enum hf_etrace_framing framing)
{
	return framings[framing - HF_ETRACE_FRAMING_RAW];
}

void hf_etrace_params_default(struct hf_etrace_params *params, unsigned xlen)
{
	*params = (struct hf_etrace_params){
		.iaddress_width = (uint8_t)xlen,
		.iaddress_lsb = 1,
		.privilege_width = 3,
		.context_width = 1,
		.ecause_width = 4,
		.encoder_mode_width = 1,
		.irreport = true,
		.daddress_width = (uint8_t)xlen,
		.data_width = (uint8_t)xlen,
		.data_format_width = 3,
		.data_diff_width = 2,
		.lrid_width = 0,
		.block_bytes = 1024,
	};
}

/* What differs in the later versions. */
static void default_of_version(struct hf_etrace_params *params)
{
	if (params->version == HF_ETRACE_1_1_1)
		return;
	params->privilege_width = 2;
	params->context_width = 0;
	if (params->version == HF_ETRACE_2_1)
		params->support = HF_ETRACE_SUPPORT_STANDARD;
}

static uint8_t bits(uint64_t v, unsigned at, unsigned n)
{
	return (uint8_t)(v >> at & ((1u << n) - 1));
}

/* The registers discovery_info_0 and _1 of the IP-XACT example in 9.2 of version 1.1.1. */
static void read_registers(struct reading *r, struct hf_etrace_params *params)
{
	const uint64_t low = number(r, "discovery_info_0", 0, UINT64_MAX, 0);
	const uint64_t high = number(r, "discovery_info_1", 0, UINT64_MAX, 0);

	if (hf_setup_get(r->setup, r->hart, "discovery_info_0")) {
		params->bpred_size = bits(low, 12, 4);
		params->cache_size = bits(low, 16, 4);
		params->call_counter_size = bits(low, 20, 3);
		params->context_width = (uint8_t)(bits(low, 31, 5) + 1);
		params->ecause_width = (uint8_t)(bits(low, 39, 4) + 1);
		params->f0s_width = bits(low, 55, 2);
		params->iaddress_lsb = (uint8_t)(bits(low, 57, 2) + 1);
	}
	if (hf_setup_get(r->setup, r->hart, "discovery_info_1")) {
		params->iaddress_width = (uint8_t)(bits(high, 0, 6) + 1);
		params->context_width = bits(high, 28, 1) ? 0 : params->context_width;
		params->privilege_width = (uint8_t)(bits(high, 29, 2) + 1);
		params->return_stack_size = bits(high, 34, 4);
		params->modes |= bits(high, 38, 1) ? HF_ETRACE_SIJUMP : 0;
	}
}

/* A field with a parameter that says it is absent. */
static uint8_t optional(struct reading *r, const char *absent, const char *key, uint8_t fallback)
{
	const uint8_t v = width(r, key, 1, 64, fallback ? fallback : 1);

	return on(r, absent, fallback == 0) ? 0 : v;
}

static void read_unit(struct reading *r, struct hf_etrace_params *params)
{
	params->iaddress_width = width(r, "iaddress_width", 8, 64, params->iaddress_width);
	if (hf_setup_get(r->setup, r->hart, "iaddress_lsb"))
		params->iaddress_lsb = (uint8_t)(number(r, "iaddress_lsb", 0, 3, 0) + r->attributes);
	params->privilege_width = width(r, "privilege_width", 1, 8, params->privilege_width);
	params->context_width = optional(r, "nocontext", "context_width", params->context_width);
	params->time_width = optional(r, "notime", "time_width", 0);
	if (params->version == HF_ETRACE_1_1_1)
		params->time_width = 0;
	params->ecause_width = width(r, "ecause_width", 1, 64, params->ecause_width);
	params->f0s_width = size(r, "f0s_width", HF_ETRACE_F0S_MAX, params->f0s_width);
	params->return_stack_size = size(r, "return_stack_size", HF_ETRACE_TABLE_MAX, params->return_stack_size);
	params->call_counter_size = size(r, "call_counter_size", HF_ETRACE_TABLE_MAX, params->call_counter_size);
	params->bpred_size = size(r, "bpred_size", HF_ETRACE_TABLE_MAX, params->bpred_size);
	params->cache_size = size(r, "cache_size", HF_ETRACE_TABLE_MAX, params->cache_size);
	params->encoder_mode_width = size(r, "encoder_mode_width", 8, params->encoder_mode_width);
	params->support = word(r, "support_options", supports, params->support);
	params->irreport = on(r, "irreport", params->irreport);
	params->link_x5 = word(r, "link_registers", links, params->link_x5);
	params->ecall_retires = on(r, "ecall_retires", false);
	params->figure = word(r, "trap_reporting", reportings, 0);
	params->jtc_all = word(r, "jtc_policy", policies, 0);
	params->compression = word(r, "compression", compressions, 0);
	params->sync_instructions = (uint32_t)number(r, "sync_instructions", 0, UINT32_MAX, 0);
}

static uint32_t mode_of(const char *name, size_t n)
{
	for (size_t i = 0; mode_names[i]; i++)
		if (strlen(mode_names[i]) == n && strncmp(mode_names[i], name, n) == 0)
			return mode_bits[i];
	return 0;
}

/* options = a list of modes, with commas or blanks between them. */
static void read_modes(struct reading *r, struct hf_etrace_params *params)
{
	const struct hf_setup_value *value = hf_setup_get(r->setup, r->hart, "options");
	static const struct {
		const char *key;
		uint32_t mode;
	} single[] = {
		{"sijump", HF_ETRACE_SIJUMP},         {"irets", HF_ETRACE_IRET_EXT}, {"mmacas", HF_ETRACE_MMACAS},
		{"resync_disabled", HF_ETRACE_RESYNC_DISABLED},
		{"no_address", HF_ETRACE_NO_ADDRESS}, {"no_data", HF_ETRACE_NO_DATA},
		{"full_daddress", HF_ETRACE_FULL_DADDRESS}, {"full_data", HF_ETRACE_FULL_DATA},
	};

	for (size_t i = 0; i < sizeof single / sizeof single[0]; i++)
		if (on(r, single[i].key, params->modes & single[i].mode))
			params->modes |= single[i].mode;
		else
			params->modes &= ~single[i].mode;
	for (const char *p = value ? value->value : ""; *p;) {
		const size_t n = strcspn(p, ", \t");
		const uint32_t mode = mode_of(p, n);

		if (n && !mode && !r->err)
			r->err = hf_setup_refuse(r->error, value, "a list of full_address, implicit_return, "
						 "branch_prediction, jump_target_cache, implicit_exception");
		params->modes |= mode;
		p += n + strspn(p + n, ", \t");
	}
}

/* The jump table is of no use here, since table jumps are uninferable (4.1.1), but for the view ntrace/ it is. */
static void read_code_size(struct reading *r, struct hf_etrace_params *params)
{
	struct hf_code_size code_size;

	if (!r->err)
		r->err = hf_code_size_read(r->setup, r->hart, &code_size, r->error);
	if (r->err)
		return;
	params->zcmp = code_size.extensions & HF_RISCV_ZCMP;
	params->zcmt = code_size.extensions & HF_RISCV_ZCMT;
}

static void read_vectors(struct reading *r, struct hf_etrace_params *params)
{
	static const char *const keys[] = {"mtvec", "stvec", "vstvec"};

	for (unsigned i = 0; i < 3; i++) {
		params->has_tvec[i] = hf_setup_get(r->setup, r->hart, keys[i]);
		params->tvec[i] = number(r, keys[i], 0, UINT64_MAX, 0);
	}
}

/* As wide as the field at most. */
static void read_unknown_cause(struct reading *r, struct hf_etrace_params *params)
{
	const uint64_t max = params->ecause_width >= 64 ? UINT64_MAX : (UINT64_C(1) << params->ecause_width) - 1;

	params->has_unknown_cause = hf_setup_get(r->setup, r->hart, "unknown_cause");
	params->unknown_cause = number(r, "unknown_cause", 0, max, 0);
}

static void read_data(struct reading *r, struct hf_etrace_params *params)
{
	params->daddress_width = width(r, "daddress_width", 8, 64, params->iaddress_width);
	params->data_width = width(r, "data_width", 8, 64, params->iaddress_width > 32 ? 64 : 32);
	params->data_format_width = size(r, "data_format_width", 3, params->data_format_width);
	params->lrid_width = size(r, "lrid_width", 16, params->lrid_width);
	params->data_diff_width = size(r, "data_diff_width", 2, params->data_diff_width);
	params->data_reference = word(r, "data_diff", diffs, 0);
	params->data_order = word(r, "data_order", orders, 0);
}

static void read_transport(struct reading *r, struct hf_etrace_params *params)
{
	if (hf_setup_get(r->setup, r->hart, "framing"))
		params->framing = (uint8_t)(HF_ETRACE_FRAMING_RAW + word(r, "framing", framings, 0));
	word(r, "text", texts, 0); /* taken off before */
	params->srcid_bits = size(r, "srcid_bits", 16, 0);
	params->timestamp_bytes = size(r, "timestamp_bytes", 8, 0);
	params->type_bits = size(r, "type_bits", 8, 0);
	params->alignment = word(r, "alignment", alignments, 0);
	params->block_bytes = (uint32_t)number(r, "block_bytes", 32, 1u << 24, params->block_bytes);
}

unsigned hf_etrace_xlen(const struct hf_setup *setup, uint32_t hart, const struct hf_etrace_params *params)
{
	const unsigned xlen = hf_setup_xlen(setup, hart);

	return xlen ? xlen : params->iaddress_width > 32 ? 64 : 32;
}

unsigned hf_etrace_isa(const struct hf_etrace_params *params, unsigned xlen)
{
	return xlen | (params->zcmp ? HF_RISCV_ZCMP : 0) | (params->zcmt ? HF_RISCV_ZCMT : 0);
}

int hf_etrace_params_read(const struct hf_setup *setup, uint32_t hart, struct hf_etrace_params *ret_params,
			  struct hf_setup_error *error)
{
	struct reading r = {.setup = setup, .hart = hart, .error = error};
	const unsigned xlen = hf_setup_xlen(setup, hart);

	hf_etrace_params_default(ret_params, xlen ? xlen : 32);
	ret_params->version = word(&r, "version", versions, HF_ETRACE_1_1_1);
	r.attributes = word(&r, "widths", kinds, 0);
	default_of_version(ret_params);
	read_registers(&r, ret_params);
	read_unit(&r, ret_params);
	read_modes(&r, ret_params);
	read_code_size(&r, ret_params);
	read_vectors(&r, ret_params);
	read_unknown_cause(&r, ret_params);
	read_data(&r, ret_params);
	read_transport(&r, ret_params);
	return r.err;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/etrace/params.h"

#include "codecs/base/sink.h"
#include "codecs/isa/riscv.h"
#include "codecs/setup/code_size.h"

#include <stddef.h>
#include <string.h>

const char *const hf_etrace_versions[] = {"1.1.1", "2.0", "2.1", NULL};
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
#define KEY(key) key,
#define SIZE(member, low, high) HF_KEY_NUMBER(#member, low, high),
#define WIDTH(member, low, high) HF_KEY_NUMBER(#member, low, high),
#define WORD(key, member, words) HF_KEY_WORD(key, words),
#define MODE(key, mode) HF_KEY_FLAG(key),
#define WIDE_SIZE(member, low, high) HF_KEY_WIDE_NUMBER(#member, low, high),
#define WIDE_WORD(key, member, words) HF_KEY_WIDE_WORD(key, words),
#include "codecs/etrace/params.def"
	HF_KEY_END,
};
#undef KEY
#undef SIZE
#undef WIDTH
#undef WORD
#undef MODE
#undef WIDE_SIZE
#undef WIDE_WORD

/* What is read by the key in the same place, and written with it. */
static const struct row {
	enum { NOTHING, A_SIZE, A_WIDTH, A_WORD, A_MODE } form;
	uint32_t mode;
	size_t offset; /* of a member of one byte */
} rows[] = {
#define MEMBER(form, member) {form, 0, offsetof(struct hf_etrace_params, member)},
#define KEY(key) {NOTHING, 0, 0},
#define SIZE(member, low, high) MEMBER(A_SIZE, member)
#define WIDTH(member, low, high) MEMBER(A_WIDTH, member)
#define WORD(key, member, words) MEMBER(A_WORD, member)
#define MODE(key, mode) {A_MODE, mode, 0},
#define WIDE_SIZE SIZE
#define WIDE_WORD WORD
#include "codecs/etrace/params.def"
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

void hf_etrace_params_default(struct hf_etrace_params *params, unsigned xlen)
{
	*params = (struct hf_etrace_params){
		.iaddress_width = (uint8_t)xlen,
		.iaddress_lsb = 1,
		.privilege_width = 3,
		.context_width = 1,
		.ecause_width = 4,
		.encoder_mode_width = HF_ETRACE_OWN,
		.ioptions_width = HF_ETRACE_OWN,
		.doptions_width = HF_ETRACE_OWN,
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

static void read_row(struct reading *r, const struct hf_setup_key *key, const struct row *row,
		     struct hf_etrace_params *params)
{
	uint8_t *member = (uint8_t *)params + row->offset;

	switch (row->form) {
	case A_SIZE:
		*member = (uint8_t)number(r, key->key, key->min, key->max, *member);
		break;
	case A_WIDTH:
		*member = width(r, key->key, key->min, key->max, *member);
		break;
	case A_WORD:
		*member = word(r, key->key, key->words, *member);
		break;
	case A_MODE:
		params->modes = on(r, key->key, params->modes & row->mode) ? params->modes | row->mode :
									     params->modes & ~row->mode;
		break;
	default:
		break;
	}
}

/* Every row, and what is of several keys or of another form. */
static void read_unit(struct reading *r, struct hf_etrace_params *params)
{
	params->iaddress_width = width(r, "iaddress_width", 8, 64, params->iaddress_width);
	params->daddress_width = params->iaddress_width;
	params->data_width = params->iaddress_width > 32 ? 64 : 32;
	for (size_t i = 0; hf_etrace_keys[i].key; i++)
		read_row(r, &hf_etrace_keys[i], &rows[i], params);
	if (hf_setup_get(r->setup, r->hart, "iaddress_lsb"))
		params->iaddress_lsb = (uint8_t)(params->iaddress_lsb + r->attributes);
	params->context_width = optional(r, "nocontext", "context_width", params->context_width);
	params->time_width = optional(r, "notime", "time_width", 0);
	if (params->version == HF_ETRACE_1_1_1)
		params->time_width = 0;
	params->sync_instructions = (uint32_t)number(r, "sync_instructions", 0, UINT32_MAX, 0);
	if (hf_setup_get(r->setup, r->hart, "framing"))
		params->framing = (uint8_t)(HF_ETRACE_FRAMING_RAW + word(r, "framing", framings, 0));
	word(r, "text", texts, 0); /* taken off before */
	params->block_bytes = (uint32_t)number(r, "block_bytes", 32, 1u << 24, params->block_bytes);
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

static const char *const vectors[] = {"mtvec", "stvec", "vstvec"};

static void read_vectors(struct reading *r, struct hf_etrace_params *params)
{
	for (unsigned i = 0; i < 3; i++) {
		params->has_tvec[i] = hf_setup_get(r->setup, r->hart, vectors[i]);
		params->tvec[i] = number(r, vectors[i], 0, UINT64_MAX, 0);
	}
}

/* As wide as the field at most. */
static void read_unknown_cause(struct reading *r, struct hf_etrace_params *params)
{
	const uint64_t max = params->ecause_width >= 64 ? UINT64_MAX : (UINT64_C(1) << params->ecause_width) - 1;

	params->has_unknown_cause = hf_setup_get(r->setup, r->hart, "unknown_cause");
	params->unknown_cause = number(r, "unknown_cause", 0, max, 0);
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
	ret_params->version = word(&r, "version", hf_etrace_versions, HF_ETRACE_1_1_1);
	r.attributes = word(&r, "widths", kinds, 0);
	default_of_version(ret_params);
	read_registers(&r, ret_params);
	read_unit(&r, ret_params);
	read_modes(&r, ret_params);
	read_code_size(&r, ret_params);
	read_vectors(&r, ret_params);
	read_unknown_cause(&r, ret_params);
	return r.err;
}

/* ---- the reverse ---- */

static void write_row(const struct hf_setup_key *key, const struct row *row, const struct hf_etrace_params *p,
		      const struct hf_etrace_params *usual, struct hf_sink *sink)
{
	const uint8_t member = *((const uint8_t *)p + row->offset), other = *((const uint8_t *)usual + row->offset);

	if (row->form == A_MODE && ((p->modes ^ usual->modes) & row->mode))
		hf_sink_printf(sink, "%s = %d\n", key->key, (p->modes & row->mode) != 0);
	else if (row->form == A_WORD && member != other)
		hf_sink_printf(sink, "%s = %s\n", key->key, key->words[member]);
	else if ((row->form == A_SIZE || row->form == A_WIDTH) && member != other)
		hf_sink_printf(sink, "%s = %u\n", key->key, member);
}

static void write_rows(const struct hf_etrace_params *p, const struct hf_etrace_params *usual, bool whole_stream,
		       struct hf_sink *sink)
{
	for (size_t i = 0; hf_etrace_keys[i].key; i++)
		if (hf_etrace_keys[i].whole_stream == whole_stream)
			write_row(&hf_etrace_keys[i], &rows[i], p, usual, sink);
}

static void write_width(const char *absent, const char *key, unsigned width, unsigned usual, struct hf_sink *sink)
{
	if (width != usual)
		hf_sink_printf(sink, "%s = %d\n", absent, width == 0);
	if (width != usual && width)
		hf_sink_printf(sink, "%s = %u\n", key, width);
}

static void write_modes(uint32_t modes, struct hf_sink *sink)
{
	const char *before = "options = ";

	for (size_t i = 0; mode_names[i]; i++)
		if (modes & mode_bits[i]) {
			hf_sink_printf(sink, "%s%s", before, mode_names[i]);
			before = " ";
		}
	if (*before == ' ')
		hf_sink_printf(sink, "\n");
}

void hf_etrace_params_write_transport(const struct hf_etrace_params *p, const struct hf_etrace_params *usual,
				      struct hf_sink *sink)
{
	hf_sink_printf(sink, "framing = %s\n", framings[p->framing - HF_ETRACE_FRAMING_RAW]);
	write_rows(p, usual, true, sink);
	if (p->alignment == HF_ETRACE_ALIGN_BLOCKS)
		hf_sink_printf(sink, "block_bytes = %u\n", p->block_bytes);
}

void hf_etrace_params_write(const struct hf_etrace_params *p, const struct hf_etrace_params *usual,
			    struct hf_sink *sink)
{
	hf_sink_printf(sink, "version = %s\niaddress_width = %u\n", hf_etrace_versions[p->version], p->iaddress_width);
	write_rows(p, usual, false, sink);
	write_width("nocontext", "context_width", p->context_width, usual->context_width, sink);
	write_width("notime", "time_width", p->time_width, usual->time_width, sink);
	write_modes(p->modes, sink);
	for (unsigned i = 0; i < 3; i++)
		if (p->has_tvec[i])
			hf_sink_printf(sink, "%s = 0x%llx\n", vectors[i], (unsigned long long)p->tvec[i]);
	if (p->has_unknown_cause)
		hf_sink_printf(sink, "unknown_cause = %llu\n", (unsigned long long)p->unknown_cause);
	if (p->sync_instructions)
		hf_sink_printf(sink, "sync_instructions = %u\n", p->sync_instructions);
}

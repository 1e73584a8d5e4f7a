/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of the view etrace/: those of the trace unit, by the names of capture.ini, and the encoder's own. */
#include "codecs/base/errors.h"
#include "codecs/base/nearest.h"
#include "codecs/base/number.h"
#include "codecs/etrace/encoder.h"
#include "codecs/isa/riscv.h"
#include "codecs/setup/code_size.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Every key that a view may have, and defaults. */
#define VALUES_MAX 96
#define KEYS_MAX 96
#define TEXT_MAX 3072
/* Of these, for the defaults: they always fit. */
#define DEFAULT_VALUES 32
#define DEFAULT_TEXT 1024
#define BLOCK_MIN 64 /* bytes, so that every message fits */
#define DEFAULT_SYNC 16384
#define DEFAULT_TABLE 7 /* 128 entries: more make hardly a difference, and 2.1 has three bits for it */

/* The description of the trace unit that the view's parameters and the defaults amount to. */
struct reading {
	struct hf_setup setup;
	struct hf_setup_value values[VALUES_MAX];
	char text[TEXT_MAX];
	size_t used;
	char *why; /* [size], what is wrong */
	size_t size;
};

static int refuse(struct reading *r, const char *format, const char *what)
{
	snprintf(r->why, r->size, format, what);
	return HF_ERR_SETUP_VALUE;
}

/* ---- the text of the parameters ---- */

static const char *keep(struct reading *r, const char *text, size_t n)
{
	char *copy = r->text + r->used;

	if (n >= TEXT_MAX - r->used)
		return NULL;
	memcpy(copy, text, n);
	copy[n] = 0;
	r->used += n + 1;
	return copy;
}

static const char *get(const struct reading *r, const char *key)
{
	const struct hf_setup_value *value = hf_setup_get(&r->setup, HF_SETUP_ANY, key);

	return value ? value->value : NULL;
}

static int add(struct reading *r, const char *key, size_t key_size, const char *value, size_t value_size)
{
	const char *k = keep(r, key, key_size), *v = keep(r, value, value_size);

	if (!k || !v || r->setup.value_count == VALUES_MAX)
		return refuse(r, "%s", "too many parameters");
	r->values[r->setup.value_count] = (struct hf_setup_value){
		.hart = HF_SETUP_ANY, .key = k, .value = v};
	r->setup.value_count++;
	return 0;
}

/* What holds where the parameters do not say otherwise. */
static void add_default(struct reading *r, const char *key, const char *value)
{
	int err = get(r, key) ? 0 : add(r, key, strlen(key), value, strlen(value));

	assert(!err);
	(void)err;
}

/* One that has its default. */
static const char *get_set(const struct reading *r, const char *key)
{
	const char *value = get(r, key);

	assert(value);
	return value;
}

/* Lists have their members joined by '+' here: a comma would end the parameter. */
static void split_list(struct reading *r, const char *key, char between)
{
	char *list = (char *)get(r, key);

	for (; list && *list; list++)
		if (*list == '+')
			*list = between;
}

/* The keys of a view, ending with NULL, into list[KEYS_MAX]. */
static void list_keys(const char **list)
{
	static const char *const own[] = {"profile", "resync_packets", "filter_address", "filter_privilege", "context",
					  "context_change", "data", "data_compress", NULL};
	static const char *const not_ours[] = {"widths", "discovery_info_0", "discovery_info_1", "jvt", "data_order",
					       NULL};
	size_t n = 0;

	for (size_t i = 0; own[i]; i++)
		list[n++] = own[i];
	for (size_t i = 0; hf_etrace_keys[i].key && n < KEYS_MAX - 1; i++) {
		bool ours = true;

		for (size_t k = 0; not_ours[k]; k++)
			ours &= strcmp(not_ours[k], hf_etrace_keys[i].key) != 0;
		if (ours)
			list[n++] = hf_etrace_keys[i].key;
	}
	list[n] = NULL;
}

static int check_key(struct reading *r, const char *key)
{
	const char *keys[KEYS_MAX];
	char hint[HF_NEAREST_SIZE], text[160];

	list_keys(keys);
	for (size_t i = 0; keys[i]; i++)
		if (strcmp(keys[i], key) == 0)
			return 0;
	snprintf(text, sizeof text, "etrace has no parameter '%.40s'%s", key, hf_nearest_hint(key, strlen(key), keys, hint));
	return refuse(r, "%s", text);
}

static int parse(struct reading *r, const char *params)
{
	for (const char *p = params ? params : ""; *p;) {
		const size_t n = strcspn(p, ","), key = strcspn(p, "=,");
		int err;

		if (key == n)
			return refuse(r, "%s", "a parameter is KEY=VALUE");
		err = add(r, p, key, p + key + 1, n - key - 1);
		if (!err && (r->setup.value_count > VALUES_MAX - DEFAULT_VALUES || r->used > TEXT_MAX - DEFAULT_TEXT))
			err = refuse(r, "%s", "too many parameters");
		if (!err)
			err = check_key(r, r->values[r->setup.value_count - 1].key);
		if (err)
			return err;
		p += n + (p[n] == ',');
	}
	split_list(r, "options", ' ');
	split_list(r, "link_registers", ',');
	return 0;
}

/* ---- one parameter ---- */

static int word(struct reading *r, const char *key, const char *const *words, uint8_t *ret_index)
{
	struct hf_setup_error error;
	unsigned v;

	if (hf_setup_word(&r->setup, HF_SETUP_ANY, key, words, *ret_index, &v, &error))
		return refuse(r, "%s", error.text);
	*ret_index = (uint8_t)v;
	return 0;
}

static int number(struct reading *r, const char *key, uint64_t max, uint32_t *ret_number)
{
	uint64_t v;

	struct hf_setup_error error;

	if (hf_setup_number(&r->setup, HF_SETUP_ANY, key, 0, max, *ret_number, &v, &error))
		return refuse(r, "%s", error.text);
	*ret_number = (uint32_t)v;
	return 0;
}

/* filter_address = LO-HI, both in hexadecimal and inclusive. */
static int read_range(struct reading *r, struct hf_etrace_config *c)
{
	const char *text = get(r, "filter_address");
	char *end;

	c->filter_high = UINT64_MAX;
	if (!text)
		return 0;
	errno = 0;
	c->filter_low = strtoull(text, &end, 16);
	if (end == text || *end != '-' || *text == '-')
		return refuse(r, "%s", "filter_address is LOW-HIGH in hexadecimal");
	text = end + 1;
	c->filter_high = strtoull(text, &end, 16);
	if (end == text || *end || *text == '-' || errno || c->filter_high < c->filter_low)
		return refuse(r, "%s", "filter_address is LOW-HIGH in hexadecimal");
	c->filtered = true;
	return 0;
}

/* filter_privilege = M+S: the words of the listing. */
static int read_modes(struct reading *r, struct hf_etrace_config *c)
{
	const char *p = get(r, "filter_privilege");

	c->filter_modes = UINT32_MAX;
	if (!p)
		return 0;
	c->filter_modes = 0;
	c->filtered = true;
	while (*p) {
		const size_t n = strcspn(p, "+");
		unsigned mode = 0;

		while (mode <= HF_MODE_D && (strlen(hf_mode_name(mode)) != n || strncmp(hf_mode_name(mode), p, n) != 0))
			mode++;
		if (mode > HF_MODE_D)
			return refuse(r, "%s", "filter_privilege is a list of U, S, H, M, VU, VS, D joined by '+'");
		c->filter_modes |= 1u << mode;
		p += n + (p[n] == '+');
	}
	return 0;
}

static int read_own(struct reading *r, struct hf_etrace_config *c)
{
	static const char *const profiles[] = {"exact", "c111", "python", NULL};
	static const char *const contexts[] = {"none", "pid", "tid", "asid", NULL};
	static const char *const changes[] = {"precise", "imprecise", NULL};
	static const char *const switches[] = {"0", "1", NULL};
	static const char *const compressions[] = {"best", "none", "xor", "difference", NULL};
	uint8_t imprecise = 0, data = 0;
	int err;

	c->resync_packets = UINT32_MAX;
	err = word(r, "profile", profiles, &c->profile);
	err = err ? err : word(r, "context", contexts, &c->context);
	err = err ? err : word(r, "context_change", changes, &imprecise);
	err = err ? err : word(r, "data", switches, &data);
	err = err ? err : word(r, "data_compress", compressions, &c->compress);
	err = err ? err : number(r, "resync_packets", UINT32_MAX - 2, &c->resync_packets);
	err = err ? err : read_range(r, c);
	err = err ? err : read_modes(r, c);
	if (!err && c->resync_packets == 0)
		c->resync_packets = UINT32_MAX;
	c->imprecise = imprecise;
	c->data = data;
	return err;
}

/* ---- all of them ---- */

/* Framings whose messages say their type, if type_bits are there for it. */
static bool has_types(unsigned framing)
{
	return framing == HF_ETRACE_FRAMING_ENCAP || framing == HF_ETRACE_FRAMING_SMI ||
	       framing == HF_ETRACE_FRAMING_CORESIGHT;
}

static bool has_option(const struct reading *r, const char *name)
{
	const char *options = get(r, "options");

	return options && strstr(options, name);
}

/* Where messages have a source id, 8 bits with the type; where they can be found in the middle, they are. */
static void add_transport(struct reading *r, const struct hf_etrace_config *c)
{
	enum hf_etrace_framing framing;

	add_default(r, "framing", "te_inst_raw");
	framing = hf_etrace_framing_of(get_set(r, "framing"));
	if (framing == HF_ETRACE_FRAMING_SMI) {
		add_default(r, "srcid_bits", "6");
		add_default(r, "type_bits", "2");
	} else if (framing == HF_ETRACE_FRAMING_ENCAP) {
		add_default(r, "srcid_bits", "8");
	}
	if (has_types(framing) && c->data)
		add_default(r, "type_bits", "1");
	if (has_types(framing))
		add_default(r, "alignment", "zeros");
}

/* All ones: of 5 and 6 bits a code that is the platform's own, of more a reserved one. Of 4 bits that is a page fault. */
static void add_unknown_cause(struct reading *r)
{
	const char *end;
	uint64_t width;
	char text[24];

	if (!hf_number_parse(get_set(r, "ecause_width"), &width, &end) || *end || width < 4 || width > 64)
		return; /* it is refused */
	snprintf(text, sizeof text, "%llu", width == 4 ? 14 : ~0ull >> (64 - width));
	add_default(r, "unknown_cause", text);
}

/* The most compact that every decoder reads; the reference profiles begin with nothing switched on. */
static void add_defaults(struct reading *r, const struct hf_etrace_config *c, const struct hf_stream *stream,
			 uint32_t hart)
{
	const bool exact = c->profile == HF_ETRACE_EXACT;
	struct hf_code_size code_size;
	char text[16];

	add_default(r, "version", c->profile == HF_ETRACE_C111 ? "1.1.1" : "2.0");
	add_default(r, "options", exact ? "implicit_return branch_prediction" : "");
	if (strcmp(get_set(r, "options"), "none") == 0)
		*(char *)get_set(r, "options") = 0;
	add_default(r, "iaddress_width", stream && hf_stream_xlen(stream, hart) == 32 ? "32" : "64");
	/* packet formats have ecalls that retire and trap; with those that trap alone this changes nothing */
	add_default(r, "ecall_retires", stream && stream->setup ? "1" : "0");
	hf_code_size_of_view(stream, hart, &code_size);
	add_default(r, "zcmp", code_size.extensions & HF_RISCV_ZCMP ? "1" : "0");
	add_default(r, "zcmt", code_size.extensions & HF_RISCV_ZCMT ? "1" : "0");
	add_default(r, "privilege_width", "3");
	add_default(r, "ecause_width", "7");
	if (exact)
		add_unknown_cause(r);
	add_default(r, "nocontext", c->context || get(r, "context_width") ? "0" : "1");
	add_default(r, "context_width", c->context == HF_ETRACE_CONTEXT_ASID ? "30" : "32");
	add_default(r, "notime", get(r, "time_width") ? "0" : "1");
	add_default(r, "sijump", c->profile == HF_ETRACE_PYTHON ? "0" : "1");
	snprintf(text, sizeof text, "%u", DEFAULT_TABLE);
	if (has_option(r, "implicit_return") && !get(r, "call_counter_size"))
		add_default(r, "return_stack_size", text);
	if (has_option(r, "branch_prediction"))
		add_default(r, "bpred_size", text);
	if (has_option(r, "jump_target_cache"))
		add_default(r, "cache_size", text);
	if (has_option(r, "branch_prediction") && has_option(r, "jump_target_cache"))
		add_default(r, "f0s_width", "1");
	snprintf(text, sizeof text, "%u", exact ? DEFAULT_SYNC : 0);
	add_default(r, "sync_instructions", text);
	if (exact && strcmp(get_set(r, "version"), "2.1") == 0) {
		add_default(r, "irets", has_option(r, "implicit_return") ? "1" : "0");
		add_default(r, "resync_disabled", strcmp(get_set(r, "sync_instructions"), "0") == 0 ? "1" : "0");
	}
	add_transport(r, c);
}

/* Sizes of tables that a mode needs and that a state can hold. */
static int check_tables(struct reading *r, const struct hf_etrace_config *c)
{
	const struct hf_etrace_params *p = &c->params;
	const uint32_t both = HF_ETRACE_BRANCH_PREDICTION | HF_ETRACE_JUMP_TARGET_CACHE;
	const unsigned stack = p->return_stack_size ? p->return_stack_size : p->call_counter_size;
	const bool counts = c->profile == HF_ETRACE_C111;

	if (p->modes & HF_ETRACE_IMPLICIT_RETURN) {
		if (p->return_stack_size && p->call_counter_size && !(p->modes & HF_ETRACE_IRET_EXT))
			return refuse(r, "%s", "return_stack_size and call_counter_size exclude each other without irets");
		if (stack == 0 || (!counts && stack > HF_ETRACE_ENC_TABLE_MAX))
			return refuse(r, "%s", "implicit_return needs a return_stack_size or call_counter_size of 1 to 8: "
				      "a larger stack does not fit into the state that is kept of each chunk");
	}
	if ((p->modes & HF_ETRACE_BRANCH_PREDICTION) && (p->bpred_size == 0 || p->bpred_size > HF_ETRACE_ENC_BPRED_MAX))
		return refuse(r, "%s", "branch_prediction needs a bpred_size of 1 to 12");
	if ((p->modes & HF_ETRACE_JUMP_TARGET_CACHE) && (p->cache_size == 0 || p->cache_size > HF_ETRACE_ENC_TABLE_MAX))
		return refuse(r, "%s", "jump_target_cache needs a cache_size of 1 to 8");
	if ((p->modes & both) == both && p->f0s_width == 0)
		return refuse(r, "%s", "branch_prediction with jump_target_cache needs an f0s_width of 1");
	if (p->support == HF_ETRACE_SUPPORT_STANDARD &&
	    (p->return_stack_size > 7 || p->call_counter_size > 15 || p->bpred_size > 7 || p->cache_size > 7))
		return refuse(r, "%s", "the support packet of 2.1 has no code for a table of that size");
	if (hf_etrace_enc_blob_max(c) > HF_STATE_MAX)
		return refuse(r, "%s", "these tables together do not fit into the state that is kept of each chunk");
	return 0;
}

/* What only 2.1 has. */
static int check_draft(struct reading *r, const struct hf_etrace_config *c)
{
	const struct hf_etrace_params *p = &c->params;
	const uint32_t draft = HF_ETRACE_IRET_EXT | HF_ETRACE_RESYNC_DISABLED;

	if ((p->modes & draft) && (p->version != HF_ETRACE_2_1 || p->support != HF_ETRACE_SUPPORT_STANDARD))
		return refuse(r, "%s", "irets and resync_disabled are for version=2.1 with support_options=standard");
	if ((p->modes & HF_ETRACE_IRET_EXT) && !(p->modes & HF_ETRACE_IMPLICIT_RETURN))
		return refuse(r, "%s", "irets is for options=implicit_return");
	if ((p->modes & HF_ETRACE_RESYNC_DISABLED) && c->sync)
		return refuse(r, "%s", "resync_disabled is for sync_instructions=0");
	return 0;
}

static int check_alignment(struct reading *r, const struct hf_etrace_params *p)
{
	const bool records = p->framing == HF_ETRACE_FRAMING_PULP;

	if (p->alignment == HF_ETRACE_ALIGN_ZEROS && (records || p->framing == HF_ETRACE_FRAMING_ESP32))
		return refuse(r, "%s", "alignment=zeros is not for framing=pulp and esp32, where it would not be noticed");
	if (p->alignment == HF_ETRACE_ALIGN_BLOCKS && (records || p->framing == HF_ETRACE_FRAMING_CORESIGHT))
		return refuse(r, "%s", "alignment=blocks is not for framing=pulp and coresight, which have units of their own");
	if (p->alignment == HF_ETRACE_ALIGN_BLOCKS ? p->block_bytes < BLOCK_MIN : get(r, "block_bytes") != NULL)
		return refuse(r, "%s", "block_bytes is for alignment=blocks, and 64 at least");
	return 0;
}

static int check_transport(struct reading *r, const struct hf_etrace_config *c)
{
	const struct hf_etrace_params *p = &c->params;
	const bool sources = p->framing == HF_ETRACE_FRAMING_ENCAP || p->framing == HF_ETRACE_FRAMING_SMI;

	if (p->srcid_bits && !sources)
		return refuse(r, "%s", "srcid_bits is for framing=encap and smi");
	if ((p->timestamp_bytes || p->type_bits) && !has_types(p->framing))
		return refuse(r, "%s", "timestamp_bytes and type_bits are for framing=encap, smi and coresight");
	if (p->framing == HF_ETRACE_FRAMING_SMI && p->type_bits == 0)
		return refuse(r, "%s", "framing=smi has type_bits, 2 of them");
	if (c->data && p->framing != HF_ETRACE_FRAMING_RAW && p->type_bits == 0)
		return refuse(r, "%s", "data=1 needs a framing that tells data trace packets from others: te_inst_raw, or "
			      "encap, smi and coresight with type_bits of 1 or more");
	if (!hf_etrace_enc_fits_framing(p))
		return refuse(r, "%s", "with these widths (context_width, time_width, ecause_width, iaddress_width) a packet "
			      "may be longer than the framing's messages");
	return check_alignment(r, p);
}

static int check(struct reading *r, const struct hf_etrace_config *c)
{
	const struct hf_etrace_params *p = &c->params;
	int err;

	if (p->support != HF_ETRACE_SUPPORT_REFERENCE && p->support != HF_ETRACE_SUPPORT_STANDARD)
		return refuse(r, "%s", "support_options of a view are reference or standard");
	if (p->figure && c->profile != HF_ETRACE_C111)
		return refuse(r, "%s", "trap_reporting=figure is for profile=c111: its streams are ambiguous");
	if (c->profile == HF_ETRACE_EXACT && p->ecause_width < 4)
		return refuse(r, "%s", "ecause_width is 4 or more: fewer bits leave no code for an unknown cause");
	if (!p->irreport)
		return refuse(r, "%s", "irreport=0 is read only: no packet of a specification lacks that bit");
	if (c->profile != HF_ETRACE_EXACT && c->sync)
		return refuse(r, "%s", "sync_instructions is for profile=exact; the others count resync_packets");
	if (c->profile == HF_ETRACE_EXACT && c->resync_packets != UINT32_MAX)
		return refuse(r, "%s", "resync_packets is for profile=c111 and python; exact counts sync_instructions");
	if ((c->profile == HF_ETRACE_C111) != (p->version == HF_ETRACE_1_1_1) && c->profile != HF_ETRACE_EXACT)
		return refuse(r, "%s", "profile=c111 is of version 1.1.1, profile=python of 2.0");
	if ((p->modes & HF_ETRACE_IMPLICIT_EXCEPTION) && !p->has_tvec[0] && !p->has_tvec[1] && !p->has_tvec[2])
		return refuse(r, "%s", "implicit_exception needs mtvec, stvec or vstvec");
	if (c->data && hf_etrace_enc_refuses_data(c))
		return refuse(r, "%s", hf_etrace_enc_refuses_data(c));
	err = check_draft(r, c);
	err = err ? err : check_tables(r, c);
	return err ? err : check_transport(r, c);
}

int hf_etrace_config_read(struct hf_etrace_config *config, const char *params, const struct hf_stream *stream,
			  uint32_t hart, char *why, size_t size)
{
	struct reading r = {.why = why, .size = size};
	struct hf_setup_error error;
	int err;

	r.setup.values = r.values;
	*config = (struct hf_etrace_config){0};
	err = parse(&r, params);
	err = err ? err : read_own(&r, config);
	if (err)
		return err;
	add_defaults(&r, config, stream, hart);
	if (hf_etrace_params_read(&r.setup, HF_SETUP_ANY, &config->params, &error))
		return refuse(&r, "%s", error.text);
	config->sync = config->params.sync_instructions;
	config->params.data_order = config->data ? HF_ETRACE_ORDER_BEFORE : HF_ETRACE_ORDER_UNSAID;
	return check(&r, config);
}

int hf_etrace_config_check(const char *params, char *why, size_t size)
{
	struct hf_etrace_config config;

	return hf_etrace_config_read(&config, params, NULL, HF_SETUP_ANY, why, size);
}

void hf_etrace_config_defaults(struct hf_etrace_params *params, unsigned version, unsigned iaddress_width)
{
	struct reading r = {0};
	char text[16];

	r.setup.values = r.values;
	snprintf(text, sizeof text, "%u", iaddress_width);
	add_default(&r, "version", hf_etrace_versions[version]);
	add_default(&r, "iaddress_width", text);
	hf_etrace_params_read(&r.setup, HF_SETUP_ANY, params, NULL);
}

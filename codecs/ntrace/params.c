/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/ntrace/params.h"

#include "codecs/setup/errors.h"
#include "codecs/source/coresight.h"

#include <string.h>

/* In the order of enum hf_coresight_layout. */
static const char *const framings[] = {"raw", "coresight", "coresight_sync", "dstream_coresight", NULL};
static const char *const xlens[] = {"32", "64", NULL}, *const words[] = {"1", "2", "4", "8", NULL};

const struct hf_setup_key hf_ntrace_keys[] = {
	HF_KEY_WIDE_NUMBER("srcbits", 0, HF_NTRACE_SRCBITS_MAX),
	HF_KEY_WIDE_WORD("word_bytes", words),
	HF_KEY_WIDE_WORD("framing", framings),
	HF_KEY_WIDE_NUMBER("trace_id", 0, HF_CORESIGHT_ID_MAX),
	HF_KEY_WORD("xlen", xlens),
	HF_KEY_FLAG("addr_msb_ext"),
	HF_KEY_FLAG("implicit_return"),
	HF_KEY_NUMBER("implicit_return_depth", 0, HF_NTRACE_STACK_MAX),
	HF_KEY_FLAG("sequential_jump"),
	HF_KEY_FLAG("all_jumps"),
	HF_KEY_FLAG("zcmp"),
	HF_KEY_FLAG("zcmt"),
	HF_KEY_OPEN("jvt"),
	HF_KEY_FLAG("wrapped"),
	HF_KEY_OPEN("wrap_offset"),
	HF_KEY_OPEN("text"),
	HF_KEY_END,
};

/* Keys that are about the whole stream, and not about one hart. */
static const char *const common[] = {"srcbits", "wrap_offset", "wrapped", "word_bytes", "text", "trace_id", NULL};

struct reading {
	const struct hf_setup *setup;
	uint32_t hart;
	struct hf_setup_error *error;
	int err;
};

/* The first error is kept. After it every value is its fallback. */
static uint64_t number(struct reading *r, const char *key, uint64_t max, uint64_t fallback)
{
	uint64_t v = fallback;

	if (!r->err)
		r->err = hf_setup_number(r->setup, r->hart, key, 0, max, fallback, &v, r->error);
	return r->err ? fallback : v;
}

static bool flag(struct reading *r, const char *key, bool fallback)
{
	return number(r, key, 1, fallback) != 0;
}

/* If the description does not say xlen, it is that of the program. */
static uint8_t read_xlen(struct reading *r)
{
	const unsigned program = hf_setup_xlen(r->setup, r->hart);
	unsigned word;

	r->err = hf_setup_word(r->setup, r->hart, "xlen", xlens, program != 32, &word, r->error);
	if (!r->err && !word && program == 64)
		r->err = hf_setup_refuse(r->error, hf_setup_get(r->setup, r->hart, "xlen"), "64, as the program is");
	return word ? 64 : 32;
}

static bool says_of_harts(const struct hf_setup *setup)
{
	for (size_t i = 0; setup && i < setup->value_count; i++)
		if (setup->values[i].hart != HF_SETUP_ANY)
			return true;
	for (size_t i = 0; setup && i < setup->image_count; i++)
		if (setup->images[i].hart != HF_SETUP_ANY)
			return true;
	return false;
}

/* Finds the sources with another xlen or addr_msb_ext. Errors in their parameters are reported elsewhere. */
static void read_sources(const struct hf_setup *setup, struct hf_ntrace_params *p)
{
	for (unsigned src = 0; src < 1u << p->srcbits; src++) {
		struct reading r = {.setup = setup, .hart = src};
		const uint64_t bit = UINT64_C(1) << src % 64;

		if (read_xlen(&r) != p->xlen)
			p->other_xlen.bits[src / 64] |= bit;
		if (flag(&r, "addr_msb_ext", false) != p->addr_msb_ext)
			p->other_msb_ext.bits[src / 64] |= bit;
	}
}

/* How the stream is stored. */
static void read_transport(struct reading *r, struct hf_ntrace_params *p)
{
	static const char *const texts[] = {"hex", "hex_words", NULL};
	unsigned layout = 0, word = 0, text;

	if (!r->err)
		r->err = hf_setup_word(r->setup, r->hart, "framing", framings, 0, &layout, r->error);
	if (!r->err)
		r->err = hf_setup_word(r->setup, r->hart, "word_bytes", words, 0, &word, r->error);
	if (!r->err) /* only checked; the text was turned into bytes before */
		r->err = hf_setup_word(r->setup, r->hart, "text", texts, 0, &text, r->error);
	p->layout = (uint8_t)layout;
	p->word_bytes = (uint8_t)(1u << word);
	p->trace_id = (uint8_t)number(r, "trace_id", HF_CORESIGHT_ID_MAX, 0);
	p->wrap_offset = number(r, "wrap_offset", INT64_MAX, 0);
	p->wrapped = flag(r, "wrapped", p->wrap_offset != 0);
}

int hf_ntrace_params_read(const struct hf_setup *setup, uint32_t hart, struct hf_ntrace_params *ret_params,
			  struct hf_setup_error *error)
{
	struct reading r = {.setup = setup, .hart = hart, .error = error};
	struct hf_ntrace_params p = {.xlen = read_xlen(&r)};

	p.srcbits = (uint8_t)number(&r, "srcbits", HF_NTRACE_SRCBITS_MAX, 0);
	p.addr_msb_ext = flag(&r, "addr_msb_ext", false);
	/* The depth is the encoder's; a decoder keeps 32 addresses at least (9.2). */
	p.return_depth = (uint16_t)number(&r, "implicit_return_depth", HF_NTRACE_STACK_MAX, 0);
	p.implicit_return = flag(&r, "implicit_return", p.return_depth != 0);
	p.return_depth = p.return_depth > HF_NTRACE_STACK ? p.return_depth : HF_NTRACE_STACK;
	p.sequential_jump = flag(&r, "sequential_jump", false);
	p.all_jumps = flag(&r, "all_jumps", false);
	read_transport(&r, &p);
	if (p.srcbits && says_of_harts(setup))
		read_sources(setup, &p);
	if (!r.err)
		r.err = hf_code_size_read(setup, hart, &p.code_size, error);
	p.isa = (uint16_t)(p.xlen | p.code_size.extensions);
	*ret_params = p;
	return r.err;
}

/* Keys about the whole stream stand in [parameters], not in [parameters N]. */
static int check_common(const struct hf_setup *setup, struct hf_setup_error *error)
{
	for (size_t i = 0; i < setup->value_count; i++)
		for (size_t k = 0; setup->values[i].hart != HF_SETUP_ANY && common[k]; k++)
			if (strcmp(setup->values[i].key, common[k]) == 0)
				return hf_setup_fail(error, HF_ERR_SETUP_KEY, setup->values[i].file, setup->values[i].line,
						     "'%s' is of all harts: it belongs to [parameters]", common[k]);
	return 0;
}

/* A circular buffer is one file whose size is known before it is read. With word_bytes a file holds whole words. */
static int check_order(const struct hf_setup *setup, const struct hf_ntrace_params *params, struct hf_setup_error *error)
{
	const struct hf_setup_value *wrap = hf_setup_get(setup, HF_SETUP_ANY, "wrap_offset");
	const struct hf_setup_value *word = hf_setup_get(setup, HF_SETUP_ANY, "word_bytes");

	if (params->wrap_offset && setup->part_count > 1)
		return hf_setup_refuse(error, wrap, "0 with several trace files: a circular buffer is one file");
	if (params->wrap_offset && setup->packed)
		return hf_setup_refuse(error, wrap, setup->text ? "0 with a trace file that is text: convert it to bytes" :
						    "0 with a compressed trace file: unpack it");
	for (size_t i = 0; i < setup->part_count; i++) {
		const uint64_t size = setup->parts[i].size;

		if (params->wrap_offset && size != HF_NOWHERE && params->wrap_offset >= size)
			return hf_setup_refuse(error, wrap, "less than the %llu bytes of %.60s", (unsigned long long)size,
					       setup->parts[i].name);
		if (params->word_bytes > 1 && size != HF_NOWHERE && size % params->word_bytes)
			return hf_setup_refuse(error, word, "1: the %llu bytes of %.60s are no whole words",
					       (unsigned long long)size, setup->parts[i].name);
	}
	return 0;
}

int hf_ntrace_check(const struct hf_setup *setup, struct hf_setup_error *error)
{
	struct hf_ntrace_params params, own;
	int err = hf_ntrace_params_read(setup, HF_SETUP_ANY, &params, error);

	for (size_t i = 0; i < setup->value_count && !err; i++)
		if (setup->values[i].hart != (i ? setup->values[i - 1].hart : HF_SETUP_ANY))
			err = hf_ntrace_params_read(setup, setup->values[i].hart, &own, error);
	if (!err)
		err = check_common(setup, error);
	return err ? err : check_order(setup, &params, error);
}

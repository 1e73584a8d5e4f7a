/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/ntrace/params.h"

#include "codecs/setup/errors.h"
#include "codecs/source/coresight.h"

#include <string.h>

/* In the order of enum hf_coresight_layout. */
static const char *const framings[] = {"raw", "coresight", "coresight_sync", "dstream_coresight", NULL};
static const char *const times[] = {"add", "xor", "absolute", NULL};
static const char *const xlens[] = {"32", "64", NULL}, *const words[] = {"1", "2", "4", "8", NULL};

/* The words of the key; a description without it is of the standard. */
static const char *const dialects[] = {
#define HF_NTRACE_DIALECT(NAME, word, ...) word,
#include "codecs/ntrace/dialects.def"
#undef HF_NTRACE_DIALECT
	NULL};

static const struct hf_ntrace_params defaults[HF_NTRACE_DIALECTS] = {
#define HF_NTRACE_DIALECT(NAME, word, TIMES, width, depth, values) \
	{.times = HF_NTRACE_TIMES_##TIMES, .time_width = (width), .return_depth = (depth), .trap_values = (values)},
#include "codecs/ntrace/dialects.def"
#undef HF_NTRACE_DIALECT
};

const char *hf_ntrace_times_name(unsigned i)
{
	return times[i];
}

const char *hf_ntrace_dialect_name(unsigned dialect)
{
	return dialects[dialect];
}

const struct hf_ntrace_params *hf_ntrace_dialect_defaults(unsigned dialect)
{
	return &defaults[dialect];
}

const struct hf_setup_key hf_ntrace_keys[] = {
	HF_KEY_WIDE_NUMBER("srcbits", 0, HF_NTRACE_SRCBITS_MAX),
	HF_KEY_WIDE_WORD("word_bytes", words),
	HF_KEY_WIDE_WORD("framing", framings),
	HF_KEY_WIDE_NUMBER("trace_id", 0, HF_CORESIGHT_ID_MAX),
	HF_KEY_WORD("dialect", dialects),
	HF_KEY_NUMBER("address_width", HF_NTRACE_ADDRESS_MIN, 64),
	HF_KEY_FLAG("trap_values"),
	HF_KEY_WORD("xlen", xlens),
	HF_KEY_FLAG("addr_msb_ext"),
	HF_KEY_FLAG("implicit_return"),
	HF_KEY_OPEN("implicit_return_depth"),
	HF_KEY_FLAG("compare_returns"),
	HF_KEY_WORD("timestamps", times),
	HF_KEY_OPEN("timestamp_width"),
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
static const char *const common[] = {"srcbits", "wrap_offset", "wrapped", "word_bytes", "text", "trace_id",
				     "dialect", "address_width", "trap_values", NULL};

struct reading {
	const struct hf_setup *setup;
	uint32_t hart;
	struct hf_setup_error *error;
	int err;
};

/* The first error is kept. After it every value is its fallback. */
static uint64_t number_from(struct reading *r, const char *key, uint64_t min, uint64_t max, uint64_t fallback)
{
	uint64_t v = fallback;

	if (!r->err)
		r->err = hf_setup_number(r->setup, r->hart, key, min, max, fallback, &v, r->error);
	return r->err ? fallback : v;
}

static uint64_t number(struct reading *r, const char *key, uint64_t max, uint64_t fallback)
{
	return number_from(r, key, 0, max, fallback);
}

static uint8_t word(struct reading *r, const char *key, const char *const *of, unsigned fallback)
{
	unsigned v = fallback;

	if (!r->err)
		r->err = hf_setup_word(r->setup, r->hart, key, of, fallback, &v, r->error);
	return (uint8_t)(r->err ? fallback : v);
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

	p->layout = word(r, "framing", framings, 0);
	p->word_bytes = (uint8_t)(1u << word(r, "word_bytes", words, 0));
	word(r, "text", texts, 0); /* only checked; the text was turned into bytes before */
	p->trace_id = (uint8_t)number(r, "trace_id", HF_CORESIGHT_ID_MAX, 0);
	p->wrap_offset = number(r, "wrap_offset", INT64_MAX, 0);
	p->wrapped = flag(r, "wrapped", p->wrap_offset != 0);
}

/* Returns that are not reported. The depth is the unit's, and also says that it has a stack; a decoder keeps 32 at least. */
static void read_returns(struct reading *r, struct hf_ntrace_params *p)
{
	const uint64_t depth = number(r, "implicit_return_depth", HF_NTRACE_STACK_MAX, 0);

	p->implicit_return = flag(r, "implicit_return", depth != 0);
	if (depth)
		p->return_depth = (uint16_t)(depth > HF_NTRACE_STACK ? depth : HF_NTRACE_STACK);
	p->compare_returns = flag(r, "compare_returns", true);
}

static void read_dialect(struct reading *r, struct hf_ntrace_params *p)
{
	const uint8_t dialect = word(r, "dialect", dialects, HF_NTRACE_DIALECT_STANDARD), xlen = p->xlen;

	*p = defaults[dialect];
	p->dialect = dialect;
	p->xlen = xlen;
	p->times = word(r, "timestamps", times, p->times);
	p->time_width = (uint8_t)number_from(r, "timestamp_width", HF_NTRACE_TIME_MIN, 64, p->time_width);
	p->trap_values = flag(r, "trap_values", p->trap_values);
	p->address_width = (uint8_t)number_from(r, "address_width", HF_NTRACE_ADDRESS_MIN, 64, 0);
}

int hf_ntrace_params_read(const struct hf_setup *setup, uint32_t hart, struct hf_ntrace_params *ret_params,
			  struct hf_setup_error *error)
{
	struct reading r = {.setup = setup, .hart = hart, .error = error};
	struct hf_ntrace_params p = {.xlen = read_xlen(&r)};

	read_dialect(&r, &p);
	p.srcbits = (uint8_t)number(&r, "srcbits", HF_NTRACE_SRCBITS_MAX, 0);
	p.addr_msb_ext = flag(&r, "addr_msb_ext", false);
	read_returns(&r, &p);
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

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arbitrary bytes as an ELF with DWARF entries: every place has a range that holds it, the ranges follow one another, and
 * its calls come to an end and have names that can be shown. Raw or demangled, moved or not, it is the same calls.
 */
#include "codecs/image/inlined.h"
#include "tests/lib/fuzz.h"

#include <string.h>

#define BIAS UINT64_C(0x5500000000)

static bool is_shown(const char *text, uint32_t size, bool blanks)
{
	for (uint32_t i = 0; i < size; i++)
		if (text[i] < ' ' || text[i] > '~' || (!blanks && strchr(" <>", text[i])))
			return false;
	return !text[size];
}

/* The calls at a place, from the innermost one; how many. */
static unsigned check_calls(const struct hf_inlined *inlined, const struct hf_inlined_place *place, bool blanks)
{
	struct hf_inlined_call call;
	unsigned n = 0;

	for (uint32_t i = place->call; i; i = call.outer, n++) {
		hf_inlined_get(inlined, i, &call);
		MUST(call.outer < i);
		MUST(call.name_size && call.name_size <= HF_SYMBOL_NAME_MAX);
		MUST(is_shown(call.name, call.name_size, blanks));
		MUST(call.file_size <= HF_LINES_NAME_MAX && is_shown(call.file, call.file_size, false));
	}
	return n;
}

static void check(const struct hf_inlined *raw, const struct hf_inlined *demangled)
{
	uint64_t pc = 0;

	MUST(hf_inlined_count(raw) == hf_inlined_count(demangled));
	for (size_t i = 0; i <= hf_inlined_count(raw); i++) {
		struct hf_inlined_place a, b;

		hf_inlined_at(raw, pc, &a);
		hf_inlined_at(demangled, pc, &b);
		MUST(a.start <= pc && pc < a.end);
		MUST(a.start == b.start && a.end == b.end && a.call == b.call);
		MUST(check_calls(raw, &a, false) == check_calls(demangled, &b, true));
		if (a.end == UINT64_MAX)
			return;
		pc = a.end;
	}
	MUST(0 && "more ranges than rows");
}

static bool next_wanted(void *ctx, uint64_t address, uint64_t *ret_start, uint64_t *ret_end)
{
	(void)ctx;
	*ret_start = ((address >> 6) | 1) << 6;
	*ret_end = *ret_start + 64;
	return *ret_end > address;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct hf_lines_filter filter = {next_wanted, NULL};
	struct hf_inlined *raw, *demangled;
	struct hf_src *src;

	if (hf_src_memory_new(data, size, &src))
		return 0;
	for (unsigned i = 0; i < 2; i++) {
		const struct hf_lines_filter *some = i ? &filter : NULL;
		const int err = hf_inlined_new(src, i * BIAS, false, some, &raw, NULL);

		MUST(hf_inlined_new(src, i * BIAS, true, some, &demangled, NULL) == err);
		if (err)
			continue;
		check(raw, demangled);
		hf_inlined_free(raw);
		hf_inlined_free(demangled);
	}
	if (hf_inlined_new_unknown(src, BIAS, &raw) == 0) {
		check(raw, raw);
		hf_inlined_free(raw);
	}
	hf_src_free(src);
	return 0;
}

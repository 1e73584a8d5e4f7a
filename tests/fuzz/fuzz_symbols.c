/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arbitrary bytes as an ELF: symbols come out sorted, not overlapping and printable, or an error does; joined by those
 * of the same file a little further on they stay so, and all places that had one keep it.
 */
#include "codecs/image/symbols.h"
#include "tests/lib/fuzz.h"

#include <stdbool.h>
#include <string.h>

#define BIAS 0x24

/* Whether names are demangled. */
static unsigned options;

static bool is_printable(const char *name)
{
	while (*name >= (options ? ' ' : '!') && *name <= '~' && (options || (*name != '<' && *name != '>')))
		name++;
	return !*name;
}

static void check(const struct hf_symbols *symbols, uint64_t from)
{
	const struct hf_symbol *symbol = hf_symbols_at(symbols, from);

	if (!symbol)
		return;
	if (symbol->start > from || symbol->end <= from || symbol->name_size > HF_SYMBOL_NAME_MAX ||
	    symbol->name_size != strlen(symbol->name) || !is_printable(symbol->name))
		abort();
	/* no other symbol begins inside this one */
	if (hf_symbols_at(symbols, symbol->end - 1) != symbol)
		abort();
}

static void check_all(const struct hf_symbols *symbols, const uint8_t *data, size_t size)
{
	for (uint64_t pc = 0; pc < 0x4000; pc += 4)
		check(symbols, pc);
	for (size_t i = 0; i + 8 <= size; i += 4) {
		uint64_t pc;

		memcpy(&pc, data + i, sizeof pc);
		check(symbols, pc);
	}
}

static void check_objects(const struct hf_symbols *symbols)
{
	const struct hf_object *object = NULL;
	char place[HF_OBJECT_PLACE_MAX + 1];

	while ((object = hf_symbols_next_object(symbols, object))) {
		MUST(object->start <= object->end && strcmp(object->name, "a?file.so") == 0);
		MUST(hf_object_put_place(object, object->start, place) == strlen(place));
	}
}

static void check_join(const struct hf_symbols *symbols, struct hf_src *src, const uint8_t *data, size_t size)
{
	struct hf_symbols *joined, *more;

	MUST(hf_symbols_new_empty(&joined) == 0 && hf_symbols_new(src, BIAS, options, &more, NULL) == 0);
	MUST(hf_symbols_join(joined, symbols) == 0 && hf_symbols_count(joined) == hf_symbols_count(symbols));
	MUST(hf_symbols_join(joined, more) == 0 && hf_symbols_count(joined) >= hf_symbols_count(symbols));
	check_all(joined, data, size);
	for (uint64_t pc = 0; pc < 0x4000; pc += 4) {
		const struct hf_symbol *before = hf_symbols_at(symbols, pc), *after = hf_symbols_at(joined, pc);

		MUST(!before || (after && strcmp(before->name, after->name) == 0));
	}
	hf_symbols_free(more);
	hf_symbols_free(joined);
}

static void check_file(const uint8_t *data, size_t size)
{
	struct hf_symbols *symbols;
	struct hf_diag diag;
	struct hf_src *src;

	if (hf_src_memory_new(data, size, &src))
		return;
	if (hf_symbols_new(src, 0, options, &symbols, &diag) == 0) {
		MUST(hf_symbols_add_object(symbols, src, BIAS, "dir/a file.so") == 0);
		check_objects(symbols);
		check_all(symbols, data, size);
		check_join(symbols, src, data, size);
		hf_symbols_free(symbols);
	}
	hf_src_free(src);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	for (options = 0; options <= HF_SYMBOLS_DEMANGLE; options++)
		check_file(data, size);
	return 0;
}

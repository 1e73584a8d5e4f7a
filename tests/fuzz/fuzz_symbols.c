/* Arbitrary bytes as an ELF: symbols come out sorted, not overlapping and printable, or an error does. */
#include "codecs/image/symbols.h"
#include "tests/lib/fuzz.h"

#include <string.h>

static void check(const struct hf_symbols *symbols, uint64_t from)
{
	const struct hf_symbol *symbol = hf_symbols_at(symbols, from);

	if (!symbol)
		return;
	if (symbol->start > from || symbol->end <= from || symbol->name_size > HF_SYMBOL_NAME_MAX ||
	    symbol->name_size != strlen(symbol->name) || strpbrk(symbol->name, " <>\n"))
		abort();
	/* no other symbol begins inside this one */
	if (hf_symbols_at(symbols, symbol->end - 1) != symbol)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hf_symbols *symbols;
	struct hf_diag diag;
	struct hf_src *src;

	if (hf_src_memory_new(data, size, &src))
		return 0;
	if (hf_symbols_new(src, 0, &symbols, &diag) == 0) {
		for (uint64_t pc = 0; pc < 0x4000; pc += 4)
			check(symbols, pc);
		for (size_t i = 0; i + 8 <= size; i += 4) {
			uint64_t pc;

			memcpy(&pc, data + i, sizeof pc);
			check(symbols, pc);
		}
		hf_symbols_free(symbols);
	}
	hf_src_free(src);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the kernel from a copy of /proc/kallsyms: of code alone, up to the next name; cut anywhere, and of any bytes. */
#include "codecs/image/kallsyms.h"
#include "codecs/image/symbols.h"
#include "tests/lib/check.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char text[] = "0000000000000000 A zero\n"
			   "ffff800010000100 t second\n"
			   "ffff800010000000 T _text\n"
			   "ffff800010000000 t $x\n"
			   "ffff800010000000 t .Lshort\n"
			   "ffff800010000010 T first\n"
			   "ffff800010000010 W weak_first\n"
			   "not a line\n"
			   "ffff800010000180 D table\n"
			   "ffff8000100001f0 t of_module\t[m]\n"
			   "ffff800010000200 T behind\n"
			   "fffff800010000100 T long\n"
			   "ffff800010000120 t cut";

/* All of it, "NAME START END ". */
static const char *names(const char *bytes, size_t n, uint64_t address, uint64_t size)
{
	static char all[1024];
	struct hf_src *src, *elf;
	struct hf_symbols *symbols;
	size_t used = 0;

	all[0] = '\0';
	CHECK_EQ(hf_src_memory_new(bytes, n, &src), 0);
	CHECK_EQ(hf_kallsyms_elf(src, address, size, &elf), 0);
	CHECK_EQ(hf_symbols_new(elf, 0, 0, &symbols, NULL), 0);
	CHECK_EQ(hf_symbols_add_object(symbols, elf, 0, "x/kallsyms"), 0);
	for (const struct hf_symbol *s = hf_symbols_next(symbols, NULL); s; s = hf_symbols_next(symbols, s))
		used += (size_t)snprintf(all + used, sizeof all - used, "%s %" PRIx64 "-%" PRIx64 " ", s->name, s->start - address,
					 s->end - address);
	if (size)
		CHECK_STR(hf_symbols_object_at(symbols, address)->name, "kallsyms");
	hf_symbols_free(symbols);
	hf_src_free(elf);
	return all;
}

int main(void)
{
	const uint64_t base = 0xffff800010000000;
	char flipped[sizeof text];

	CHECK_STR(names(text, sizeof text - 1, base, 0x200),
		  "_text 0-10 first 10-100 second 100-120 cut 120-180 of_module 1f0-200 weak_first 10-100 ");
	CHECK_STR(names(text, sizeof text - 1, base + 0x100, 0x50), "second 0-20 cut 20-50 ");
	CHECK_STR(names(text, sizeof text - 1, 0x1000, 0x50), "");
	CHECK_STR(names("", 0, base, 0x200), "");
	CHECK_STR(names("ffffffffffffffff T last\n", 24, UINT64_MAX - 1, 1000), "");
	for (size_t n = 0; n < sizeof text; n++)
		names(text, n, base, 0x200);
	for (size_t bit = 0; bit < 8 * (sizeof text - 1); bit++) {
		memcpy(flipped, text, sizeof text);
		flipped[bit / 8] ^= (char)(1 << bit % 8);
		names(flipped, sizeof text - 1, base, 0x200);
	}
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small DWARF by hand: calls within calls, code upon code, what the linker left out, and what is damaged, too deep, too
 * much or in another file, which is unknown.
 */
#include "codecs/image/errors.h"
#include "codecs/image/inlined.h"
#include "tests/lib/check.h"

#include <elf.h>

enum { ROOM = 1 << 20 };

struct bytes {
	uint8_t at[ROOM];
	size_t size;
};

static struct bytes info, abbrev;

/* Codes of the abbreviations below. */
enum { UNIT = 1, FUNCTION, NAMED, CALL, BLOCK, SPLIT, FOREIGN, LINKED, EMPTY };

static const uint8_t abbreviations[] = {
	UNIT,	  0x11, 1, 0x11, 0x01, 0x12, 0x06, 0, 0,			  /* low_pc addr, high_pc data4 */
	FUNCTION, 0x2e, 1, 0x11, 0x01, 0x12, 0x06, 0, 0,			  /* the same */
	NAMED,	  0x2e, 0, 0x03, 0x08, 0, 0,					  /* name string */
	CALL,	  0x1d, 1, 0x31, 0x13, 0x11, 0x01, 0x12, 0x06, 0x59, 0x0b, 0, 0, /* and origin ref4, call_line data1 */
	BLOCK,	  0x0b, 1, 0, 0,
	SPLIT,	  0x11, 0, 0x11, 0x01, 0x12, 0x06, 0xb0, 0x42, 0x08, 0, 0,	  /* GNU_dwo_name string */
	FOREIGN,  0x1d, 1, 0x31, 0xa0, 0x3e, 0x11, 0x01, 0x12, 0x06, 0x59, 0x0b, 0, 0, /* origin GNU_ref_alt */
	LINKED,	  0x2e, 0, 0x6e, 0x08, 0, 0,					  /* linkage_name string */
	EMPTY,	  0x1d, 0,							  /* many flags, see fill_flags */
};

static void put(struct bytes *to, uint64_t value, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		to->at[to->size++] = (uint8_t)(value >> 8 * i);
}

static void put_entry(unsigned code, uint64_t low, uint32_t size)
{
	put(&info, code, 1);
	put(&info, low, 8);
	put(&info, size, 4);
}

static uint32_t put_name(unsigned code, const char *name)
{
	const uint32_t at = (uint32_t)info.size;

	put(&info, code, 1);
	memcpy(info.at + info.size, name, strlen(name) + 1);
	info.size += strlen(name) + 1;
	return at;
}

static void put_call(unsigned code, uint32_t origin, uint64_t low, uint32_t size, uint8_t line)
{
	put(&info, code, 1);
	put(&info, origin, 4);
	put(&info, low, 8);
	put(&info, size, 4);
	put(&info, line, 1);
}

/* An abbreviation of entries that have flags and no bytes. */
static void fill_flags(void)
{
	enum { FLAGS = 10000 };

	for (unsigned i = 0; i < FLAGS; i++)
		put(&abbrev, 0x193f, 2); /* DW_AT_external, DW_FORM_flag_present */
	put(&abbrev, 0, 2);
	put(&abbrev, 0, 1);
}

/* The header of a unit of DWARF 4, and its first entry with 0x1000 bytes of code at 0x10000. */
static void begin(unsigned code)
{
	info.size = abbrev.size = 0;
	memcpy(abbrev.at, abbreviations, sizeof abbreviations);
	abbrev.size = sizeof abbreviations;
	fill_flags();
	put(&info, 0, 4);
	put(&info, 4, 2);
	put(&info, 0, 4);
	put(&info, 8, 1);
	put_entry(code, 0x10000, 0x1000);
}

static size_t add_section(uint8_t *elf, Elf64_Shdr *row, size_t at, uint32_t name, const void *bytes, size_t size)
{
	memcpy(elf + at, bytes, size);
	*row = (Elf64_Shdr){.sh_name = name, .sh_type = SHT_PROGBITS, .sh_offset = at, .sh_size = size, .sh_addralign = 1};
	return at + size;
}

/* What comes of it as an ELF file. */
static int make(struct hf_inlined **ret_inlined)
{
	static const char names[] = "\0.debug_info\0.debug_abbrev\0.names";
	static uint8_t elf[3 * ROOM];
	Elf64_Ehdr head = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
			   .e_type = ET_EXEC,
			   .e_machine = EM_RISCV,
			   .e_version = EV_CURRENT,
			   .e_ehsize = sizeof head,
			   .e_shentsize = sizeof(Elf64_Shdr),
			   .e_shnum = 4,
			   .e_shstrndx = 3};
	Elf64_Shdr row[4] = {0};
	size_t at = sizeof head;
	struct hf_src *src;
	int err;

	for (unsigned i = 0; i < 4; i++)
		info.at[i] = (uint8_t)((info.size - 4) >> 8 * i);
	at = add_section(elf, &row[1], at, 1, info.at, info.size);
	at = add_section(elf, &row[2], at, 13, abbrev.at, abbrev.size);
	at = add_section(elf, &row[3], at, 27, names, sizeof names);
	head.e_shoff = at;
	memcpy(elf + at, row, sizeof row);
	memcpy(elf, &head, sizeof head);
	CHECK_EQ(hf_src_memory_new(elf, at + sizeof row, &src), 0);
	err = hf_inlined_new(src, 0x400000, true, NULL, ret_inlined, NULL);
	hf_src_free(src);
	return err;
}

/* "swap 7 partition 9 " */
static const char *at(const struct hf_inlined *inlined, uint64_t pc)
{
	static char text[512];
	struct hf_inlined_place place;
	struct hf_inlined_call call;
	size_t n = 0;

	text[0] = '\0';
	hf_inlined_at(inlined, 0x400000 + pc, &place);
	CHECK(place.start <= 0x400000 + pc && 0x400000 + pc < place.end);
	for (uint32_t i = place.call; i; i = call.outer) {
		hf_inlined_get(inlined, i, &call);
		n += (size_t)snprintf(text + n, sizeof text - n, "%s %u ", call.name, call.line);
	}
	return text;
}

static void test_calls(void)
{
	struct hf_inlined *inlined;
	uint32_t swap, partition;

	begin(UNIT);
	swap = put_name(NAMED, "swap");
	partition = put_name(LINKED, "_Z9partitionv");
	put_entry(FUNCTION, 0x10000, 0x100);
	put_call(CALL, partition, 0x10010, 0x40, 9);
	put(&info, BLOCK, 1);
	put_call(CALL, swap, 0x10020, 0x10, 7);
	put_entry(FUNCTION, 0x10024, 4); /* a function within: what it is in is not its caller */
	put(&info, 0, 4);
	put_call(CALL, swap, 0x10040, 0x10, 8);
	put(&info, 0, 2);
	put_call(CALL, swap, 0, 0x20000, 1); /* the linker left it out */
	put(&info, 0, 3);
	CHECK_EQ(make(&inlined), 0);
	CHECK_STR(at(inlined, 0x1000f), "");
	CHECK_STR(at(inlined, 0x10010), "partition() 9 ");
	CHECK_STR(at(inlined, 0x10023), "swap 7 partition() 9 ");
	CHECK_STR(at(inlined, 0x10024), "");
	CHECK_STR(at(inlined, 0x10028), "swap 7 partition() 9 ");
	CHECK_STR(at(inlined, 0x10030), "partition() 9 ");
	/* Of code upon code the last one counts. */
	CHECK_STR(at(inlined, 0x10040), "swap 8 ");
	CHECK_STR(at(inlined, 0x1004f), "swap 8 ");
	CHECK_STR(at(inlined, 0x10050), "");
	hf_inlined_free(inlined);
}

static void test_elsewhere(void)
{
	struct hf_inlined *inlined;

	begin(UNIT);
	put_entry(FUNCTION, 0x10000, 0x100);
	put_call(FOREIGN, 0x20, 0x10010, 0x10, 5);
	put(&info, 0, 3);
	CHECK_EQ(make(&inlined), 0);
	CHECK_STR(at(inlined, 0x10010), "? 5 ");
	CHECK_STR(at(inlined, 0x10000), "");
	hf_inlined_free(inlined);

	begin(SPLIT);
	put(&info, 'x', 2);
	CHECK_EQ(make(&inlined), 0);
	CHECK_STR(at(inlined, 0x10000), "? 0 ");
	CHECK_STR(at(inlined, 0x10fff), "? 0 ");
	CHECK_STR(at(inlined, 0x11000), "");
	hf_inlined_free(inlined);
}

static void test_damage(void)
{
	struct hf_inlined *inlined;
	uint32_t swap;

	/* An entry of a code that no abbreviation has: nobody knows what follows. */
	begin(UNIT);
	swap = put_name(NAMED, "swap");
	put_entry(FUNCTION, 0x10000, 0x100);
	put_call(CALL, swap, 0x10010, 0x10, 5);
	put(&info, 99, 1);
	CHECK_EQ(make(&inlined), 0);
	CHECK_STR(at(inlined, 0x10010), "? 0 ");
	CHECK_STR(at(inlined, 0x10800), "? 0 ");
	hf_inlined_free(inlined);

	/* A name that points to itself, and one that points out of the file. */
	begin(UNIT);
	put_entry(FUNCTION, 0x10000, 0x100);
	put_call(CALL, (uint32_t)info.size, 0x10010, 0x10, 5);
	put_call(CALL, 0x7fffffff, 0x10014, 4, 6);
	put(&info, 0, 4);
	CHECK_EQ(make(&inlined), 0);
	CHECK_STR(at(inlined, 0x10014), "? 6 ? 5 ");
	hf_inlined_free(inlined);

	/* A unit that is longer than its section. */
	begin(UNIT);
	put(&info, 0, 1);
	info.size += 4;
	CHECK_EQ(make(&inlined), 0);
	hf_inlined_free(inlined);
}

static void test_limits(void)
{
	struct hf_inlined *inlined;

	begin(UNIT);
	put_entry(FUNCTION, 0x10000, 0x100);
	for (unsigned i = 0; i <= HF_INLINED_DEPTH_MAX; i++)
		put(&info, BLOCK, 1);
	CHECK_EQ(make(&inlined), 0);
	CHECK_STR(at(inlined, 0x10010), "? 0 ");
	hf_inlined_free(inlined);

	/* Entries of one byte that stand for 10,000 attributes each. */
	begin(UNIT);
	put_entry(FUNCTION, 0x10000, 0x100);
	for (unsigned i = 0; i < 100000; i++)
		put(&info, EMPTY, 1);
	CHECK_EQ(make(&inlined), HF_ERR_ELF_LIMIT);
}

int main(void)
{
	test_calls();
	test_elsewhere();
	test_damage();
	test_limits();
	return 0;
}

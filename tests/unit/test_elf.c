/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program.elf as it is written, read back by our reader and, where installed, by readelf and objdump; the reader on
 * an ELF of a linker, and on damaged ones.
 */
#include "codecs/image/collect.h"
#include "codecs/image/elf_read.h"
#include "codecs/image/elf_write.h"
#include "codecs/image/program.h"
#include "tests/lib/check.h"

#include <elf.h>
#include <unistd.h>

#define BASE UINT64_C(0x80000000)

struct bytes {
	uint8_t *at;
	size_t n;
};

static void put_insn(struct hf_image *image, uint64_t pc, uint32_t opcode, uint8_t size, uint8_t isa)
{
	const struct hf_event ev = {.kind = HF_EVENT_INSN,
				    .insn = {.pc = pc, .opcode = opcode, .size = size, .isa = isa}};

	CHECK_EQ(hf_image_put(image, &ev, 1), 0);
}

/* All of an ELF, made in one go, with guard bytes checked by the size. */
static struct bytes write_elf(const struct hf_image *image, const struct hf_elf_symbol *symbols, size_t count)
{
	struct hf_elf *elf;
	struct hf_sink sink;
	struct bytes bytes;

	CHECK_EQ(hf_elf_new(image, symbols, count, NULL, &elf), 0);
	CHECK_EQ(hf_sink_init_memory(&sink, 0), 0);
	CHECK_EQ(hf_elf_write(elf, 0, UINT64_MAX, &sink), 0);
	bytes.n = (size_t)hf_elf_size(elf);
	CHECK_EQ(hf_sink_total(&sink), bytes.n);
	bytes.at = malloc(bytes.n);
	CHECK(bytes.at);
	memcpy(bytes.at, sink.start, bytes.n);
	hf_sink_fini_memory(&sink);
	hf_elf_free(elf);
	return bytes;
}

/* The ranges of the file that from and n cut out, against the whole. */
static void check_ranges(const struct hf_image *image, const struct hf_elf_symbol *symbols, size_t count)
{
	struct bytes whole = write_elf(image, symbols, count);
	static uint8_t buf[1 << 16];
	struct hf_elf *elf;
	struct hf_sink sink;

	CHECK_EQ(hf_elf_new(image, symbols, count, NULL, &elf), 0);
	for (uint64_t n = 1; n <= 4099; n += n < 8 ? 1 : n * 3 + 1) {
		for (uint64_t from = 0; from < whole.n + 3; from += n < 8 ? 1 : n / 3) {
			uint64_t want = from >= whole.n ? 0 : n < whole.n - from ? n : whole.n - from;

			hf_sink_init_buffer(&sink, buf, sizeof buf);
			CHECK_EQ(hf_elf_write(elf, from, n, &sink), 0);
			CHECK_EQ(hf_sink_total(&sink), want);
			CHECK(memcmp(buf, whole.at + (from < whole.n ? from : 0), want) == 0);
		}
	}
	hf_elf_free(elf);
	free(whole.at);
}

struct list {
	struct hf_elf_symbol symbol[200];
	char name[200][100];
	size_t count;
	size_t stop; /* at this many */
};

static int note_symbol(void *ctx, const struct hf_elf_symbol *symbol)
{
	struct list *list = ctx;

	if (list->count == list->stop)
		return 77;
	snprintf(list->name[list->count], sizeof list->name[0], "%s", symbol->name);
	list->symbol[list->count] = *symbol;
	list->symbol[list->count].name = list->name[list->count];
	list->count++;
	return 0;
}

static void read_symbols(struct bytes bytes, struct list *list)
{
	struct hf_elf_file file;
	struct hf_src *src;

	*list = (struct list){.stop = 200};
	CHECK_EQ(hf_src_memory_new(bytes.at, bytes.n, &src), 0);
	CHECK_EQ(hf_elf_file_open(src, &file, NULL), 0);
	CHECK_EQ(hf_elf_file_symbols(&file, note_symbol, list, NULL), 0);
	hf_elf_file_close(&file);
	hf_src_free(src);
}

/* Every known byte is in the program, and nothing lies outside of what the image has within a page. */
static void check_program(struct bytes bytes, const struct hf_image *image, uint16_t machine, uint8_t xlen)
{
	struct hf_image_cursor cursor = {0};
	struct hf_image_run run;
	struct hf_program program;
	struct hf_src *src;
	uint64_t entry;

	hf_program_init(&program);
	CHECK_EQ(hf_src_memory_new(bytes.at, bytes.n, &src), 0);
	CHECK_EQ(hf_program_add_elf(&program, src, 0, NULL), 0);
	CHECK_EQ(program.machine, machine);
	CHECK_EQ(program.xlen, xlen);
	hf_image_entry(image, &entry);
	CHECK_EQ(program.entry & ~UINT64_C(1), entry);
	while (hf_image_next_run(image, &cursor, &run)) {
		for (uint64_t i = 0; i < run.size; i++) {
			uint64_t n;
			const uint8_t *p = hf_program_at(&program, run.address + i, &n);
			uint8_t byte;

			CHECK(n >= run.size - i);
			hf_image_read(image, run.address + i, &byte, 1);
			CHECK_EQ(*p, byte);
		}
	}
	for (size_t i = 0; i < program.count; i++) {
		const struct hf_program_piece *piece = &program.pieces[i];
		uint8_t *want = malloc(piece->size);
		uint64_t n;

		CHECK(want);
		CHECK_EQ(piece->flags, HF_ELF_R | HF_ELF_X);
		hf_image_read(image, piece->address, want, piece->size); /* zeros where nothing is known */
		CHECK(memcmp(want, piece->bytes, piece->size) == 0);
		free(want);
		CHECK(!hf_program_at(&program, piece->address - 1, &n));
		CHECK(!hf_program_at(&program, piece->address + piece->size, &n));
	}
	hf_program_fini(&program);
	hf_src_free(src);
}

/* Code with gaps of every kind: inside a page, across pages, of more than a page, around the limit between them. */
static struct hf_image *make_image(uint8_t isa)
{
	static const uint32_t at[] = {0, 4, 8, 16, 0x100, 0xffc, 0x1000, 0x1ff8, 0x2ff8, 0x3ffc, 0x5000, 0x8000, 0x8004,
				      0x200000};
	struct hf_image *image;

	CHECK_EQ(hf_image_new(&image), 0);
	for (size_t i = 0; i < sizeof at / sizeof at[0]; i++)
		put_insn(image, BASE + at[i], 0x00500513 + ((uint32_t)i << 20), 4, isa);
	return image;
}

static const struct hf_elf_symbol some_symbols[] = {
	{.address = BASE, .size = 12, .name = "start", .function = true},
	{.address = BASE + 0x100, .name = "label"},
	{.address = BASE - 1, .name = "before", .function = true},
	{.address = BASE + 0x200001, .name = "odd", .function = true},
	{.address = BASE + 0x200002, .size = 2, .name = "last", .function = true, .local = true},
	{.address = BASE + 0x200004, .name = "behind", .function = true},
	{.address = BASE + 0x20, .name = "in_a_gap", .function = true},
};

static void check_symbols(struct bytes bytes)
{
	struct list list;

	read_symbols(bytes, &list);
	CHECK_EQ(list.count, 4);
	CHECK_STR(list.symbol[0].name, "last"); /* the local one is first */
	CHECK(list.symbol[0].local);
	CHECK_STR(list.symbol[1].name, "start");
	CHECK_EQ(list.symbol[1].address, BASE);
	CHECK_EQ(list.symbol[1].size, 12);
	CHECK(list.symbol[1].function && !list.symbol[1].local);
	CHECK_STR(list.symbol[2].name, "label");
	CHECK(!list.symbol[2].function);
	CHECK_STR(list.symbol[3].name, "in_a_gap");
	CHECK(list.symbol[3].end > list.symbol[3].address);
}

/* The symbol table with the mapping symbols, as text. */
static void list_maps(struct bytes bytes, char *text, size_t size)
{
	const Elf64_Ehdr *ehdr = (const Elf64_Ehdr *)bytes.at;
	const Elf64_Shdr *shdr = (const Elf64_Shdr *)(bytes.at + ehdr->e_shoff) + ehdr->e_shnum - 3;
	const Elf64_Sym *sym = (const Elf64_Sym *)(bytes.at + shdr->sh_offset);
	int n = 0;

	for (uint32_t i = 1; i < shdr->sh_info; i++)
		n += snprintf(text + n, size - (size_t)n, "%s %x %x\n", (const char *)bytes.at + shdr[1].sh_offset +
			      sym[i].st_name, sym[i].st_shndx, (unsigned)(sym[i].st_value - BASE));
}

static void test_maps(void)
{
	struct hf_image *image = make_image(HF_ISA_RV64);
	struct bytes bytes = write_elf(image, NULL, 0);
	char text[1024] = "";

	list_maps(bytes, text, sizeof text);
	CHECK_STR(text, "$x 1 0\n$d 1 c\n$x 1 10\n$d 1 14\n$x 1 100\n$d 1 104\n$x 1 ffc\n$d 1 1004\n$x 1 1ff8\n$d 1 1ffc\n"
			"$x 1 2ff8\n$x 2 3ffc\n$x 3 5000\n$x 4 8000\n$x 5 200000\n");
	hf_image_free(image);
	free(bytes.at);
}

static void test_machines(void)
{
	static const struct {
		uint8_t isa;
		uint8_t xlen;
		uint16_t machine;
		uint32_t flags;
	} rows[] = {
		{HF_ISA_RV64, 64, EM_RISCV, 0},   {HF_ISA_RV32, 32, EM_RISCV, 0},
		{HF_ISA_A64, 64, EM_AARCH64, 0},  {HF_ISA_A32, 32, EM_ARM, 0x05000000},
		{HF_ISA_T32, 32, EM_ARM, 0x05000000},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct hf_image *image = make_image(rows[i].isa);
		struct bytes bytes = write_elf(image, some_symbols, 7), again = write_elf(image, some_symbols, 7);
		struct hf_elf_file file;
		struct hf_src *src;

		CHECK_EQ(bytes.n, again.n);
		CHECK(memcmp(bytes.at, again.at, bytes.n) == 0);
		check_program(bytes, image, rows[i].machine, rows[i].xlen);
		check_symbols(bytes);
		CHECK_EQ(hf_src_memory_new(bytes.at, bytes.n, &src), 0);
		CHECK_EQ(hf_elf_file_open(src, &file, NULL), 0);
		CHECK_EQ(file.flags, rows[i].flags);
		CHECK_EQ(file.type, ET_EXEC);
		CHECK_EQ(file.entry, BASE + (rows[i].isa == HF_ISA_T32));
		CHECK_EQ(file.segment_count, 5);
		for (size_t s = 0; s < file.segment_count; s++)
			CHECK_EQ((file.segments[s].offset - file.segments[s].address) % 4096, 0);
		hf_elf_file_close(&file);
		hf_src_free(src);
		free(bytes.at);
		free(again.at);
		if (rows[i].isa == HF_ISA_RV64 || rows[i].isa == HF_ISA_A32)
			check_ranges(image, some_symbols, 7);
		hf_image_free(image);
	}
}

/* 16-bit instructions show in e_flags; the highest address of all is in a segment of its own. */
static void test_narrow_and_top(void)
{
	struct hf_image *image = make_image(HF_ISA_RV64);
	struct bytes bytes;

	put_insn(image, BASE + 20, 0x4505, 2, HF_ISA_RV64);
	put_insn(image, UINT64_C(0xfffffffffffffffc), 0x00500513, 4, HF_ISA_RV64);
	put_insn(image, 0, 0x00500513, 4, HF_ISA_RV64);
	bytes = write_elf(image, NULL, 0);
	CHECK_EQ(((const Elf64_Ehdr *)bytes.at)->e_flags, 1);
	CHECK_EQ(((const Elf64_Ehdr *)bytes.at)->e_phnum, 7);
	{
		struct hf_program program;
		struct hf_src *src;
		uint64_t n;

		hf_program_init(&program);
		CHECK_EQ(hf_src_memory_new(bytes.at, bytes.n, &src), 0);
		CHECK_EQ(hf_program_add_elf(&program, src, 0, NULL), 0);
		CHECK(hf_program_at(&program, UINT64_MAX, &n));
		CHECK_EQ(n, 1);
		CHECK_EQ(*hf_program_at(&program, 0, &n), 0x13);
		hf_src_free(src);
		hf_program_fini(&program);
	}
	free(bytes.at);
	hf_image_free(image);
}

static void test_refused(void)
{
	struct hf_image *image;
	struct hf_elf *elf;

	CHECK_EQ(hf_image_new(&image), 0);
	CHECK_EQ(hf_elf_new(image, NULL, 0, NULL, &elf), HF_ERR_UNSUPPORTED);
	CHECK(!elf);
	put_insn(image, 0, 0x13, 4, HF_ISA_RV64);
	put_insn(image, 0, 0x33, 4, HF_ISA_RV64);
	CHECK_EQ(hf_elf_new(image, NULL, 0, NULL, &elf), HF_ERR_UNSUPPORTED);
	hf_image_free(image);
}

/* The most segments there can be: one halfword a page, every other page. */
static void test_many(void)
{
	struct hf_image *image;
	struct bytes bytes;
	struct hf_elf_file file;
	struct hf_src *src;

	CHECK_EQ(hf_image_new(&image), 0);
	for (uint64_t i = 0; i < HF_IMAGE_PAGES_MAX; i++)
		put_insn(image, i * 2 * HF_IMAGE_PAGE, 0x4505, 2, HF_ISA_RV64);
	bytes = write_elf(image, NULL, 0);
	CHECK_EQ(hf_src_memory_new(bytes.at, bytes.n, &src), 0);
	CHECK_EQ(hf_elf_file_open(src, &file, NULL), 0);
	CHECK_EQ(file.segment_count, HF_IMAGE_PAGES_MAX);
	hf_elf_file_close(&file);
	hf_src_free(src);
	check_program(bytes, image, EM_RISCV, 64);
	free(bytes.at);
	hf_image_free(image);
}

/* ---- the reader ---- */

static struct bytes load_file(const char *name)
{
	const char *data = getenv("HARTFS_DATA");
	char path[4096];
	struct bytes bytes = {malloc(1 << 20), 0};
	FILE *file;

	snprintf(path, sizeof path, "%s/%s", data ? data : "tests/data", name);
	file = fopen(path, "rb");
	CHECK(file && bytes.at);
	bytes.n = fread(bytes.at, 1, 1 << 20, file);
	fclose(file);
	return bytes;
}

static const struct hf_elf_symbol *find(const struct list *list, const char *name)
{
	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->name[i], name) == 0)
			return &list->symbol[i];
	return NULL;
}

/* What the linker put there, as readelf of binutils prints it. */
static void test_linked(void)
{
	struct bytes bytes = load_file("archive/boot/rv-sys.elf");
	struct hf_elf_file file;
	struct hf_program program;
	struct list list;
	struct hf_src *src;
	uint64_t n;

	CHECK_EQ(hf_src_memory_new(bytes.at, bytes.n, &src), 0);
	CHECK_EQ(hf_elf_file_open(src, &file, NULL), 0);
	CHECK_EQ(file.xlen, 64);
	CHECK_EQ(file.machine, EM_RISCV);
	CHECK_EQ(file.flags, 5);
	CHECK_EQ(file.entry, BASE);
	CHECK_EQ(file.segment_count, 4);
	CHECK_EQ(file.segments[1].address, 0x40010000);
	CHECK_EQ(file.segments[1].size, 0x1000);
	CHECK_EQ(file.segments[1].offset, 0x3000);
	CHECK_EQ(file.segments[1].flags, HF_ELF_R | HF_ELF_W | HF_ELF_X);
	CHECK_EQ(file.segments[3].memory_size, 0x74000);
	hf_elf_file_close(&file);
	read_symbols(bytes, &list);
	CHECK(find(&list, "m_trap") && find(&list, "m_trap")->address == 0x8000005c);
	CHECK(find(&list, "page") && find(&list, "page")->size == 46 && find(&list, "page")->function);
	CHECK(find(&list, "page")->local && find(&list, "page")->end == 0x80001ade);
	CHECK(!find(&list, "pool"));  /* data */
	CHECK(!find(&list, "m_top")); /* untyped in .bss */
	for (size_t i = 0; i < list.count; i++)
		CHECK(list.name[i][0] != '$');

	hf_program_init(&program);
	CHECK_EQ(hf_program_add_elf(&program, src, 0x1000, NULL), 0);
	CHECK_EQ(program.count, 4);
	CHECK_EQ(program.pieces[0].address, 0x40011000); /* sorted, and moved */
	CHECK_EQ(program.entry, BASE + 0x1000);
	CHECK(hf_program_at(&program, 0x80001000, &n));
	CHECK_EQ(n, 0x1b98);
	CHECK(!hf_program_at(&program, 0x80006000, &n)); /* .bss */
	CHECK_EQ(n, 0);
	/* The same again changes nothing. */
	CHECK_EQ(hf_program_add_elf(&program, src, 0x1000, NULL), 0);
	CHECK_EQ(program.count, 4);
	CHECK(!program.differs);
	CHECK_EQ(hf_program_add_elf(&program, src, UINT64_C(0x100000000), NULL), 0);
	CHECK_EQ(program.count, 8);
	CHECK_EQ(hf_program_add_raw(&program, src, 0x1000, NULL), 0);
	CHECK_EQ(hf_program_add_raw(&program, src, UINT64_MAX - 10, NULL), HF_ERR_CORRUPT);
	CHECK_EQ(program.count, 9);
	CHECK_EQ(*hf_program_at(&program, 0x1001, &n), 'E');
	hf_program_fini(&program);
	hf_src_free(src);
	free(bytes.at);
}

static void test_stop(void)
{
	struct hf_image *image = make_image(HF_ISA_RV64);
	struct bytes bytes = write_elf(image, some_symbols, 7);
	struct list list = {.stop = 2};
	struct hf_elf_file file;
	struct hf_src *src;

	CHECK_EQ(hf_src_memory_new(bytes.at, bytes.n, &src), 0);
	CHECK_EQ(hf_elf_file_open(src, &file, NULL), 0);
	CHECK_EQ(hf_elf_file_symbols(&file, note_symbol, &list, NULL), 77);
	CHECK_EQ(list.count, 2);
	hf_elf_file_close(&file);
	hf_src_free(src);
	free(bytes.at);
	hf_image_free(image);
}

static int count_symbol(void *ctx, const struct hf_elf_symbol *symbol)
{
	*(size_t *)ctx += strlen(symbol->name) ? 1 : 100000; /* reads all of the name */
	return 0;
}

/* Everything that reads, on bytes that may be anything: only that it ends and stays within its memory. */
static void read_anything(const uint8_t *at, size_t n)
{
	struct hf_program program;
	struct hf_elf_file file;
	struct hf_diag diag;
	struct hf_src *src;
	size_t count = 0;

	CHECK_EQ(hf_src_memory_new(at, n, &src), 0);
	if (hf_elf_file_open(src, &file, &diag) == 0) {
		hf_elf_file_symbols(&file, count_symbol, &count, &diag);
		hf_elf_file_close(&file);
	}
	hf_program_init(&program);
	hf_program_add_elf(&program, src, 0, &diag);
	hf_program_fini(&program);
	hf_src_free(src);
}

static void test_damaged(uint8_t isa)
{
	struct hf_image *image;
	struct bytes bytes;

	CHECK_EQ(hf_image_new(&image), 0);
	put_insn(image, BASE + 0x200, 0x00500513, 4, isa);
	bytes = write_elf(image, some_symbols + 1, 1);
	for (size_t n = 0; n < bytes.n; n++) {
		uint8_t *cut = malloc(n + 1);

		CHECK(cut);
		memcpy(cut, bytes.at, n);
		read_anything(cut, n);
		free(cut);
	}
	for (size_t i = 0; i < bytes.n * 10; i++) {
		uint8_t *byte = &bytes.at[i / 10], was = *byte;

		*byte = (uint8_t)(i % 10 < 8 ? was ^ 1u << i % 10 : i % 10 == 8 ? 0 : 255);
		read_anything(bytes.at, bytes.n);
		*byte = was;
	}
	free(bytes.at);
	hf_image_free(image);
}

/* ---- other people's readers ---- */

/* What tool prints of the file; false if it is not there or fails. */
static bool run_tool(const char *tool, const char *path, char *out, size_t size)
{
	char command[512];
	FILE *pipe;
	size_t n;

	snprintf(command, sizeof command, "command -v %.*s >/dev/null || exit 77; %s %s 2>&1",
		 (int)strcspn(tool, " "), tool, tool, path);
	pipe = popen(command, "r");
	CHECK(pipe);
	n = fread(out, 1, size - 1, pipe);
	out[n] = 0;
	return pclose(pipe) == 0;
}

static void test_tools(void)
{
	static const char *const readers[] = {"readelf -aW", "llvm-readelf-19 -aW", "llvm-readelf -aW"};
	static const char *const disassemblers[] = {"llvm-objdump-19 -d", "llvm-objdump-14 -d", "llvm-objdump -d"};
	char path[] = "/tmp/hartfs-elf-XXXXXX";
	static char out[1 << 20];
	struct hf_image *image = make_image(HF_ISA_RV64);
	struct bytes bytes;
	unsigned ran = 0;
	int fd;

	put_insn(image, BASE + 20, 0x4505, 2, HF_ISA_RV64);
	put_insn(image, BASE + 22, 0x02a50533, 4, HF_ISA_RV64); /* mul: more than I and C */
	bytes = write_elf(image, some_symbols, 7);
	fd = mkstemp(path);
	CHECK(fd >= 0);
	CHECK_EQ(write(fd, bytes.at, bytes.n), bytes.n);
	close(fd);
	for (size_t i = 0; i < 3; i++) {
		if (!run_tool(readers[i], path, out, sizeof out))
			continue;
		ran++;
		CHECK(!strstr(out, "arning") && !strstr(out, "rror"));
		CHECK(strstr(out, "in_a_gap") && strstr(out, ".text.80200000") && strstr(out, "RISC-V"));
	}
	for (size_t i = 0; i < 3; i++) {
		if (!run_tool(disassemblers[i], path, out, sizeof out))
			continue;
		ran++;
		CHECK(strstr(out, "<start>:") && strstr(out, "\tmul\t"));
		CHECK(!strstr(out, "unknown"));
	}
	if (ran == 0)
		fprintf(stderr, "NOT CHECKED: no readelf and no llvm-objdump here\n");
	unlink(path);
	free(bytes.at);
	hf_image_free(image);
}

int main(void)
{
	test_maps();
	test_machines();
	test_narrow_and_top();
	test_refused();
	test_many();
	test_linked();
	test_stop();
	test_damaged(HF_ISA_RV64);
	test_damaged(HF_ISA_RV32);
	test_tools();
	return 0;
}

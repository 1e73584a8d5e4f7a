/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of an ELF in profiles, pictures and stacks: a tree of calls whose functions are called so. Whatever the names are, the
 * pictures are XML and JSON, folded stacks have a line each that adds up to all instructions, and no text has what a
 * terminal or an editor would act on. Input: flags; how many nodes; of each its parent, function and instructions; then
 * names, each with a 0 behind it. The same bytes are escaped as they are, too.
 */
#include "fs/find/stack_text.h"
#include "fs/profile/escape.h"
#include "fs/profile/texts.h"
#include "tests/lib/fuzztext.h"

#include <elf.h>

enum { DEMANGLE = 1, SAMPLED = 2, TIMED = 4 };
enum { TEXT = 1, SYMBOLS, STRINGS, SECTIONS, NAMES = 16, NODES = 24, BYTES = 1024, BASE = 0x1000, STEP = 16 };

/* ---- what must hold ---- */

/* A tag, from its name on; what is behind it. *ret_alone: it has no end. */
HF_NO_COVERAGE static const char *skip_tag(const char *p, bool *ret_alone)
{
	p += strcspn(p, " />");
	while (*p == ' ') {
		p += 1 + strspn(p + 1, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-:");
		MUST(p[0] == '=' && p[1] == '"');
		p += 2 + strcspn(p + 2, "\"<");
		MUST(*p++ == '"');
	}
	*ret_alone = *p == '/';
	p += *ret_alone;
	MUST(*p == '>');
	return p + 1;
}

HF_NO_COVERAGE static void check_xml(const char *p)
{
	const char *open[16];
	unsigned depth = 0;
	bool alone;

	while (*p) {
		const char *tag = p + 1;

		if (!strncmp(p, "<![CDATA[", 9)) {
			const char *end = strstr(p, "]]>");

			MUST(end);
			if (p[9] == '{')
				MUST(skip_json(p + 9, true, 0) == end);
			p = end + 3;
		} else if (!strncmp(p, "</", 2)) {
			const size_t n = strcspn(p + 2, ">");

			MUST(depth && !strncmp(open[depth - 1], p + 2, n) && strchr(" >", open[depth - 1][n]));
			depth--;
			p += 3 + n;
		} else if (*p == '<') {
			p = skip_tag(tag, &alone);
			if (!strncmp(tag, "style>", 6))
				MUST((p = strstr(p, "</style>")));
			MUST(depth < 16);
			if (!alone)
				open[depth++] = tag;
		} else if (*p == '&') {
			p += strcspn(p, ";") + 1;
			MUST(!strncmp(tag, "lt;", 3) || !strncmp(tag, "gt;", 3) || !strncmp(tag, "amp;", 4) ||
			     !strncmp(tag, "quot;", 5) || !strncmp(tag, "#39;", 4));
		} else {
			MUST(*p != '>' && (depth || *p == '\n'));
			p++;
		}
	}
	MUST(!depth);
}

/* "a;b;c 12" */
HF_NO_COVERAGE static void check_folded(const char *text, uint64_t insns)
{
	uint64_t sum = 0;

	for (const char *end; *text; text = end + 1) {
		const char *blank = text;

		end = strchr(text, '\n');
		MUST(end);
		for (const char *p = text; p < end; p++)
			blank = *p == ' ' ? p : blank;
		MUST(blank > text && strspn(blank + 1, "0123456789") == (size_t)(end - blank - 1));
		sum += strtoull(blank + 1, NULL, 10);
	}
	MUST(sum == insns);
}

/* ---- what is there ---- */

static struct {
	Elf64_Ehdr head;
	Elf64_Shdr section[SECTIONS];
	Elf64_Sym symbol[NAMES + 1];
	char strings[BYTES + 2];
} elf;

/* *ret_count: of the names. */
static struct hf_symbols *make_symbols(const uint8_t *names, size_t n, unsigned options, unsigned *ret_count)
{
	struct hf_symbols *symbols = NULL;
	struct hf_src *src;
	unsigned count = 0;

	memset(&elf, 0, sizeof elf);
	elf.head = (Elf64_Ehdr){.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
				.e_type = ET_EXEC,
				.e_machine = EM_RISCV,
				.e_version = EV_CURRENT,
				.e_shoff = offsetof(__typeof__(elf), section),
				.e_ehsize = sizeof elf.head,
				.e_shentsize = sizeof *elf.section,
				.e_shnum = SECTIONS};
	elf.section[TEXT] = (Elf64_Shdr){.sh_type = SHT_PROGBITS,
					 .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
					 .sh_addr = BASE,
					 .sh_size = NAMES * STEP};
	elf.section[SYMBOLS] = (Elf64_Shdr){.sh_type = SHT_SYMTAB,
					    .sh_link = STRINGS,
					    .sh_offset = offsetof(__typeof__(elf), symbol),
					    .sh_size = sizeof elf.symbol,
					    .sh_entsize = sizeof *elf.symbol};
	elf.section[STRINGS] = (Elf64_Shdr){
		.sh_type = SHT_STRTAB, .sh_offset = offsetof(__typeof__(elf), strings), .sh_size = sizeof elf.strings};
	memcpy(elf.strings + 1, names, n);
	for (size_t at = 1; at <= n && count < NAMES; at += strlen(elf.strings + at) + 1, count++)
		elf.symbol[1 + count] = (Elf64_Sym){.st_name = (uint32_t)at,
						    .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
						    .st_shndx = TEXT,
						    .st_value = BASE + STEP * count,
						    .st_size = STEP};
	MUST(!hf_src_memory_new(&elf, sizeof elf, &src));
	MUST(!hf_symbols_new(src, 0, options, &symbols, NULL));
	hf_src_free(src);
	*ret_count = count;
	return symbols;
}

static struct hf_call_node nodes[NODES + 1];
static uint64_t below[NODES + 1];
static uint16_t depths[NODES + 1];
static struct hf_count rows[NAMES + 1];

/* Returns how many instructions there are. */
static uint64_t make_tree(const uint8_t *p, uint32_t count, unsigned names)
{
	static const uint8_t roots[] = {HF_CALL_ROOT, HF_CALL_TRAP, HF_CALL_INTERRUPT, HF_CALL_ROOT};
	uint64_t insns = 0;

	memset(nodes, 0, sizeof nodes);
	memset(below, 0, sizeof below);
	memset(rows, 0, sizeof rows);
	for (unsigned i = 0; i <= names; i++)
		rows[i] = (struct hf_count){.pc = BASE + STEP * i, .opcode = 0x13, .size = 4, .isa = HF_ISA_RV64};
	for (uint32_t i = 1; i <= count; i++, p += 3) {
		const uint32_t parent = p[0] % i, of = p[1] % (names + 1);

		nodes[i] = (struct hf_call_node){.parent = parent,
						 .kind = parent ? (uint8_t)HF_CALL_FUNCTION : roots[p[0] / 64],
						 .function = BASE + STEP * of,
						 .own = p[2],
						 .calls = p[2] % 7 + 1,
						 .cycles = p[2] * 3u};
		depths[i] = parent ? (uint16_t)(depths[parent] + 1) : 0;
		rows[of].count += p[2];
		insns += p[2];
	}
	for (uint32_t i = count; i; i--)
		if (nodes[i].parent)
			below[nodes[i].parent] += nodes[i].own + below[i];
	return insns;
}

static char *write_text(int (*write)(const struct hf_profiled *of, struct hf_sink *sink), const struct hf_profiled *of)
{
	struct hf_sink sink;
	char *text;

	MUST(!hf_sink_init_memory(&sink, 0) && !write(of, &sink));
	check_text((const char *)sink.start, (size_t)hf_sink_total(&sink));
	text = strndup((const char *)sink.start, (size_t)hf_sink_total(&sink));
	MUST(text);
	hf_sink_fini_memory(&sink);
	return text;
}

static void check_files(const struct hf_profiled *of)
{
	char *text = write_text(hf_profile_flame, of);

	check_xml(text);
	free(text);
	text = write_text(hf_profile_speedscope, of);
	check_json(text, true);
	free(text);
	text = write_text(hf_profile_stacks, of);
	check_folded(text, of->counts->insns);
	free(text);
	free(write_text(hf_profile_functions, of));
	free(write_text(hf_profile_callers, of));
	free(write_text(hf_profile_callgrind, of));
}

/* As hartfs state and hartfs find --stack show them. */
static void check_stack(const struct hf_profiled *of)
{
	static struct hf_stack stack;
	struct hf_sink sink;
	unsigned lines = 0;

	stack = (struct hf_stack){.count = of->tree->count - 1, .calls_beyond = of->sampled};
	for (uint32_t i = 0; i < stack.count; i++)
		stack.frame[i] = (struct hf_stack_frame){.kind = nodes[i + 1].kind,
							 .function = nodes[i + 1].function,
							 .has_pc = nodes[i + 1].own % 4,
							 .pc = nodes[i + 1].function + nodes[i + 1].own % 5};
	MUST(!hf_sink_init_memory(&sink, 0));
	hf_stack_put_lines(&sink, &stack, of->symbols, "# ");
	check_text((const char *)sink.start, (size_t)hf_sink_total(&sink));
	hf_sink_write(&sink, "", 1);
	for (const char *p = (const char *)sink.start; *p; p = strchr(p, '\n') + 1, lines++)
		MUST(!strncmp(p, "# ", 2));
	MUST(lines == stack.count);
	hf_sink_fini_memory(&sink);
	MUST(!hf_sink_init_memory(&sink, 0));
	hf_stack_put_json(&sink, &stack, of->symbols);
	check_text((const char *)sink.start, (size_t)hf_sink_total(&sink));
	hf_sink_write(&sink, "", 1);
	check_json((const char *)sink.start, false);
	hf_sink_fini_memory(&sink);
}

static void check_escapes(const char *bytes, size_t n)
{
	void (*const escapes[])(struct hf_sink *, const char *, size_t) = {hf_escape_xml, hf_escape_json,
									   hf_escape_nothing};
	static uint8_t buf[16384];
	struct hf_sink sink;

	for (unsigned i = 0; i < 3; i++) {
		char *text;

		hf_sink_init_buffer(&sink, buf, sizeof buf);
		hf_sink_printf(&sink, "%s", i == 0 ? "<a b=\"" : i == 1 ? "\"" : "");
		escapes[i](&sink, bytes, n);
		hf_sink_printf(&sink, "%s", i == 0 ? "\"></a>" : i == 1 ? "\"" : "");
		text = (char *)buf;
		check_text(text, (size_t)hf_sink_total(&sink));
		text[hf_sink_total(&sink)] = 0;
		if (i == 0)
			check_xml(text);
		else if (i == 1)
			check_json(text, true);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct hf_counts counts = {.row = rows};
	struct hf_summary_tree tree = {.nodes = nodes, .below = below, .depth = depths};
	struct hf_profiled of = {.counts = &counts, .tree = &tree};
	struct hf_symbols *symbols;
	unsigned names;
	uint32_t count;

	if (n < 2 || n > BYTES)
		return 0;
	check_escapes((const char *)bytes, n);
	count = bytes[1] % (NODES + 1);
	if (n < 2 + 3 * count)
		return 0;
	symbols = make_symbols(bytes + 2 + 3 * count, n - 2 - 3 * count, bytes[0] & DEMANGLE ? HF_SYMBOLS_DEMANGLE : 0,
			       &names);
	counts.insns = make_tree(bytes + 2, count, names);
	counts.n = names + 1;
	tree.count = count + 1;
	tree.facts.timed = bytes[0] & TIMED;
	of.sampled = bytes[0] & SAMPLED;
	of.symbols = symbols;
	check_files(&of);
	check_stack(&of);
	hf_symbols_free(symbols);
	return 0;
}

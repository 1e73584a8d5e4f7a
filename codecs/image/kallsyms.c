/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/image/kallsyms.h"

#include "codecs/base/array.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

/* "ffff800010000000 T _text\n", "ffff800008000000 t probe\t[module]\n" */
struct name {
	uint64_t address;
	const char *text;
	uint32_t size;
	char type; /* 't' and 'T', 'w' and 'W': code */
};

struct list {
	struct name *row;
	size_t count;
	uint64_t start, end; /* of the code */
	size_t bytes;	     /* of the names of code */
};

enum { SECTIONS = 4, CODE = 1, SYMBOLS = 2, STRINGS = 3 };

/* The file in memory. */
struct elf_src {
	struct hf_src src;
	uint8_t bytes[];
};

static bool is_code(const struct name *name)
{
	return name->type && strchr("tTwW", name->type);
}

static const char *take_address(const char *at, const char *end, uint64_t *ret)
{
	const char *begin = at;

	for (*ret = 0; at < end && strchr("0123456789abcdef", *at) && *at; at++)
		*ret = *ret << 4 | (uint64_t)(*at <= '9' ? *at - '0' : *at - 'a' + 10);
	return at > begin && at - begin <= 16 ? at : NULL;
}

/* What the linker and the compiler use between them, "$x" and ".Ltmp0", names no place. */
static int add_line(struct list *list, const char *at, const char *end)
{
	struct name name;
	int err;

	at = take_address(at, end, &name.address);
	if (!at || end - at < 4 || at[0] != ' ' || at[2] != ' ' || name.address < list->start || name.address >= list->end)
		return 0;
	name.type = at[3] != '$' && at[3] != '.' ? at[1] : '-';
	name.text = at + 3;
	while (at < end && *at != '\t' && *at)
		at++;
	name.size = (uint32_t)(at - name.text);
	err = hf_array_room(&list->row, list->count, sizeof name);
	if (err)
		return err;
	list->bytes += is_code(&name) ? name.size + 1u : 0;
	list->row[list->count++] = name;
	return 0;
}

static int by_address(const void *a, const void *b)
{
	const struct name *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->text < y->text ? -1 : x->text > y->text;
}

static int read_lines(struct list *list, const char *text, size_t n)
{
	int err = 0;

	for (const char *at = text, *end; at < text + n && !err; at = end + 1) {
		end = memchr(at, '\n', (size_t)(text + n - at));
		end = end ? end : text + n;
		err = add_line(list, at, end);
	}
	if (!err && list->count)
		qsort(list->row, list->count, sizeof *list->row, by_address);
	return err;
}

/* ---- the file ---- */

static int read_at(struct hf_src *src, uint64_t offset, void *buf, size_t n, size_t *ret_n, struct hf_diag *diag)
{
	(void)diag;
	*ret_n = offset >= src->size ? 0 : src->size - offset < n ? (size_t)(src->size - offset) : n;
	memcpy(buf, ((struct elf_src *)src)->bytes + (*ret_n ? offset : 0), *ret_n);
	return 0;
}

static void free_elf(struct hf_src *src)
{
	free(src);
}

static const struct hf_src_ops elf_ops = {.read_at = read_at, .free = free_elf};

/* symbol[] and strings, which begin with a zero byte. */
static void write_symbols(const struct list *list, Elf64_Sym *symbol, char *strings)
{
	uint64_t end = list->end;
	uint32_t at = 1;
	unsigned binding;

	for (size_t i = list->count; i-- > 0;) {
		const struct name *name = &list->row[i];

		if (i + 1 < list->count && list->row[i + 1].address != name->address)
			end = list->row[i + 1].address;
		if (!is_code(name))
			continue;
		binding = name->type == 'T' ? STB_GLOBAL : name->type == 't' ? STB_LOCAL : STB_WEAK;
		*symbol++ = (Elf64_Sym){.st_name = at, .st_info = (uint8_t)ELF64_ST_INFO(binding, STT_FUNC), .st_shndx = CODE,
					.st_value = name->address, .st_size = end - name->address};
		memcpy(strings + at, name->text, name->size);
		at += name->size + 1;
	}
}

static struct hf_src *write_elf(const struct list *list)
{
	const uint64_t size = list->end - list->start, sections = sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr);
	const uint64_t symbols = sections + SECTIONS * sizeof(Elf64_Shdr);
	uint64_t count = 1, strings, all;
	struct elf_src *elf;

	for (size_t i = 0; i < list->count; i++)
		count += is_code(&list->row[i]);
	strings = symbols + count * sizeof(Elf64_Sym);
	all = strings + list->bytes + 1;
	elf = calloc(1, sizeof *elf + all);
	if (!elf)
		return NULL;
	elf->src = (struct hf_src){.ops = &elf_ops, .size = all};
	memcpy(elf->bytes,
	       &(Elf64_Ehdr){.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT}, .e_type = ET_EXEC,
			     .e_machine = EM_AARCH64, .e_version = EV_CURRENT, .e_phoff = sizeof(Elf64_Ehdr), .e_shoff = sections,
			     .e_ehsize = sizeof(Elf64_Ehdr), .e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 1,
			     .e_shentsize = sizeof(Elf64_Shdr), .e_shnum = SECTIONS, .e_shstrndx = STRINGS},
	       sizeof(Elf64_Ehdr));
	/* A segment must have a byte in the file. */
	memcpy(elf->bytes + sizeof(Elf64_Ehdr),
	       &(Elf64_Phdr){.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_vaddr = list->start, .p_filesz = 1, .p_memsz = size},
	       sizeof(Elf64_Phdr));
	memcpy(elf->bytes + sections,
	       (const Elf64_Shdr[SECTIONS]){[CODE] = {.sh_type = SHT_NOBITS, .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
						      .sh_addr = list->start, .sh_size = size},
					    [SYMBOLS] = {.sh_type = SHT_SYMTAB, .sh_offset = symbols, .sh_size = strings - symbols,
							 .sh_link = STRINGS, .sh_info = 1, .sh_entsize = sizeof(Elf64_Sym)},
					    [STRINGS] = {.sh_type = SHT_STRTAB, .sh_offset = strings, .sh_size = all - strings}},
	       SECTIONS * sizeof(Elf64_Shdr));
	write_symbols(list, (Elf64_Sym *)(void *)(elf->bytes + symbols) + 1, (char *)elf->bytes + strings);
	return &elf->src;
}

int hf_kallsyms_elf(struct hf_src *text, uint64_t address, uint64_t size, struct hf_src **ret_elf)
{
	struct list list = {.start = address, .end = size > UINT64_MAX - address ? UINT64_MAX : address + size};
	size_t n = text->size < HF_KALLSYMS_MAX ? (size_t)text->size : (size_t)HF_KALLSYMS_MAX;
	char *bytes = malloc(n + 1);
	int err = bytes ? hf_src_read_all(text, 0, bytes, n, &n, NULL) : HF_ERR_NOMEM;

	*ret_elf = NULL;
	hf_src_free(text);
	if (!err)
		err = read_lines(&list, bytes, n);
	if (!err) {
		*ret_elf = write_elf(&list);
		err = *ret_elf ? 0 : HF_ERR_NOMEM;
	}
	free(list.row);
	free(bytes);
	return err;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/base/build_id.h"

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <string.h>
#include <xxhash.h>

static const char here;

/* The id among the notes of a segment. */
static uint64_t find_note(const uint8_t *at, size_t size, size_t align)
{
	ElfW(Nhdr) note;

	while (size >= sizeof note) {
		size_t name, all;

		memcpy(&note, at, sizeof note);
		name = sizeof note + ((note.n_namesz + 3) & ~(size_t)3);
		all = (name + note.n_descsz + align - 1) & ~(align - 1);
		if (name > size || note.n_descsz > size - name)
			return 0;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof "GNU" && !memcmp(at + sizeof note, "GNU", sizeof "GNU"))
			return XXH3_64bits(at + name, note.n_descsz);
		if (all > size)
			return 0;
		at += all;
		size -= all;
	}
	return 0;
}

/* Of the object that this function is in. */
static int find(struct dl_phdr_info *info, size_t size, void *ctx)
{
	uint64_t *id = ctx;
	bool ours = false;

	(void)size;
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

		ours |= segment->p_type == PT_LOAD && (uintptr_t)&here - info->dlpi_addr - segment->p_vaddr < segment->p_memsz;
	}
	for (size_t i = 0; ours && i < info->dlpi_phnum && !*id; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

		if (segment->p_type == PT_NOTE)
			*id = find_note((const uint8_t *)(info->dlpi_addr + segment->p_vaddr), segment->p_memsz,
					segment->p_align > 4 ? segment->p_align : 4);
	}
	return ours;
}

uint64_t hf_build_id(void)
{
	uint64_t id = 0;

	dl_iterate_phdr(find, &id);
	return id;
}

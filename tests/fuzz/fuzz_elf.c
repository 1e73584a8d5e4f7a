/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arbitrary bytes as an ELF: what is read lies in the file, a program made of it is sorted and has no overlaps, and what
 * is its debug file is one of the same build, or of the name and checksum that it says.
 */
#include "codecs/image/elf_read.h"
#include "codecs/image/program.h"
#include "fs/program/debug_file.h"
#include "tests/lib/fuzz.h"

#include <string.h>
#include <zlib.h>

static int check_symbol(void *ctx, const struct hf_elf_symbol *symbol)
{
	size_t *left = ctx;

	MUST(strlen(symbol->name) > 0);
	return --*left == 0;
}

/* The file as its own debug file. */
static void check_debug(const struct hf_elf_file *file, struct hf_src *src, const uint8_t *data)
{
	struct hf_debug_id id;
	bool is;

	MUST(hf_debug_id_read(file, &id) == 0);
	MUST(id.build_id_size <= sizeof id.build_id && strnlen(id.link, sizeof id.link) < sizeof id.link);
	MUST(!strchr(id.link, '/'));
	MUST(hf_debug_is_of(&id, &id, id.link, src, &is) == 0);
	MUST(is == (id.build_id_size || (*id.link && crc32_z(0, data, src->size) == id.link_sum)));
	MUST(hf_debug_is_of(&id, &(struct hf_debug_id){0}, "", src, &is) == 0 && !is);
}

static void check_file(struct hf_src *src, const uint8_t *data)
{
	size_t most = 1000;
	struct hf_elf_file file;
	struct hf_diag diag;

	if (hf_elf_file_open(src, &file, &diag))
		return;
	for (size_t i = 0; i < file.segment_count; i++) {
		const struct hf_elf_segment *segment = &file.segments[i];

		MUST(segment->size && segment->offset < src->size && segment->size <= src->size - segment->offset);
		MUST(segment->memory_size >= segment->size);
		MUST(segment->address + (segment->memory_size - 1) >= segment->address);
	}
	hf_elf_file_symbols(&file, check_symbol, &most, &diag);
	check_debug(&file, src, data);
	hf_elf_file_close(&file);
}

static void check_program(struct hf_src *src, const uint8_t *data, uint64_t bias)
{
	struct hf_program program;
	struct hf_diag diag;
	uint64_t n;

	hf_program_init(&program);
	if (hf_program_add_elf(&program, src, bias, &diag) == 0) {
		for (size_t i = 0; i < program.count; i++) {
			const struct hf_program_piece *piece = &program.pieces[i];

			MUST(i == 0 || piece[-1].address + piece[-1].size - 1 < piece->address);
			MUST(hf_program_at(&program, piece->address + piece->size - 1, &n) && n == 1);
		}
		/* Once more: the same bytes at the same addresses change nothing, unless there are too many. */
		if (program.count) {
			const size_t count = program.count;
			const uint64_t bytes = program.bytes;

			MUST(hf_program_add_elf(&program, src, bias, &diag) == 0 || bytes > HF_PROGRAM_BYTES_MAX / 2);
			MUST(program.count == count && program.bytes == bytes && !program.differs);
		}
		hf_program_add_raw(&program, src, bias, &diag);
		if (hf_program_at(&program, bias, &n) && program.count == 1)
			MUST(*hf_program_at(&program, bias, &n) == data[0] || n < src->size);
	}
	hf_program_fini(&program);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hf_src *src;

	if (hf_src_memory_new(data, size, &src))
		return 0;
	check_file(src, data);
	check_program(src, data, 0);
	check_program(src, data, UINT64_C(0xfffffffffffff000));
	hf_src_free(src);
	return 0;
}

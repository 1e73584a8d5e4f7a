/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fdo/OBJECT.drcov: which basic blocks were executed, as DynamoRIO's drcov writes it: version 2, with a module table of version
 * 2. Behind the text each block has 8 bytes, little endian: u32 offset from the module's base, u16 bytes, u16 module.
 */
#include "codecs/base/bytes.h"
#include "codecs/image/elf_read.h"
#include "fs/profile/fdo.h"

#include <inttypes.h>
#include <stdlib.h>

enum { ENTRY = 8, BLOCK_MAX = UINT16_MAX, PAGE = 4096 };

/* Where the ELF's segments lie by themselves, in whole pages. */
static int find_span(const struct hf_fdo *fdo, uint64_t *ret_base, uint64_t *ret_end)
{
	struct hf_elf_file file;
	int err = hf_elf_file_open(fdo->elf->src, &file, NULL);

	*ret_base = UINT64_MAX;
	*ret_end = 0;
	if (err)
		return err;
	for (size_t i = 0; i < file.segment_count; i++) {
		const struct hf_elf_segment *segment = &file.segments[i];

		if (segment->address < *ret_base)
			*ret_base = segment->address;
		if (segment->address + segment->memory_size > *ret_end)
			*ret_end = segment->address + segment->memory_size;
	}
	hf_elf_file_close(&file);
	*ret_base &= ~(uint64_t)(PAGE - 1);
	*ret_end = (*ret_end + PAGE - 1) & ~(uint64_t)(PAGE - 1);
	return 0;
}

static size_t put_blocks(const struct hf_fdo_code *code, uint64_t base, struct hf_sink *sink)
{
	size_t n = 0;

	for (size_t i = 0, size; i < code->count; i += size, n++) {
		const struct hf_fdo_insn *first = &code->insn[i], *last;
		uint8_t *p;

		size = hf_fdo_piece(code, i, BLOCK_MAX, false);
		last = first + size - 1;
		if (!sink)
			continue;
		p = hf_sink_room(sink, ENTRY);
		hf_put32(p, (uint32_t)(first->at - base));
		hf_put16(p + 4, (uint16_t)(last->at + last->size - first->at));
		hf_put16(p + 6, 0);
		sink->p += ENTRY;
	}
	return n;
}

static int write_drcov(const struct hf_fdo *fdo, struct hf_sink *sink)
{
	struct hf_fdo_code code;
	uint64_t base, end;
	int err = find_span(fdo, &base, &end);

	if (!err)
		err = hf_fdo_code_find(fdo, &code);
	if (err)
		return err;
	/* The format has no larger offsets. */
	if (code.insn[0].at < base || code.insn[code.count - 1].at - base > UINT32_MAX) {
		free(code.insn);
		return HF_ERR_NOT_FOUND;
	}
	hf_sink_printf(sink,
		       "DRCOV VERSION: 2\nDRCOV FLAVOR: drcov\nModule Table: version 2, count 1\n"
		       "Columns: id, base, end, entry, checksum, timestamp, path\n");
	hf_sink_printf(sink, "  0, 0x%016" PRIx64 ", 0x%016" PRIx64 ", 0x%016x, 0x%08x, 0x%08x, %s\n", base, end, 0, 0, 0,
		       fdo->name);
	hf_sink_printf(sink, "BB Table: %zu bbs\n", put_blocks(&code, base, NULL));
	put_blocks(&code, base, sink);
	free(code.insn);
	return 0;
}

int hf_profile_drcov(const struct hf_profiled *of, struct hf_sink *sink)
{
	return hf_fdo_write(of, sink, write_drcov);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/perf/kernel.h"

#include "codecs/base/array.h"
#include "codecs/base/bytes.h"
#include "codecs/base/search.h"
#include "codecs/setup/read.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum { POKE_AT = 20, SEGMENTS_MAX = 4096, FLAGS = 5 };

int hf_perf_pokes_add(struct hf_perf_pokes *pokes, struct hf_perf_attrs *attrs, const struct hf_perf_record *record)
{
	struct hf_perf_poke poke = {.time = hf_perf_trailer_of(attrs, record).time, .number = (uint32_t)pokes->count};
	size_t old, new;
	int err;

	if (record->size < POKE_AT)
		return 0;
	poke.address = hf_get64(record->bytes + 8);
	old = hf_get16(record->bytes + 16);
	new = hf_get16(record->bytes + 18);
	if (!new || old + new > record->size - POKE_AT)
		return 0;
	if (new > HF_PERF_POKE_BYTES || pokes->count == HF_PERF_POKES_MAX) {
		pokes->cut = true;
		return 0;
	}
	poke.size = (uint8_t)new;
	memcpy(poke.bytes, record->bytes + POKE_AT + old, new);
	err = hf_array_room(&pokes->row, pokes->count, sizeof poke);
	if (!err)
		pokes->row[pokes->count++] = poke;
	return err;
}

void hf_perf_pokes_free(struct hf_perf_pokes *pokes)
{
	free(pokes->row);
	*pokes = (struct hf_perf_pokes){.row = NULL};
}

/* ---- the copy ---- */

/* One segment of the kernel's half of the addresses, as a piece. */
static int add_segment(struct hf_src *kcore, const Elf64_Phdr *segment, struct hf_processes *ret,
		       struct hf_program_piece *piece, size_t *count)
{
	uint8_t *bytes;
	size_t n;
	int err;

	if (segment->p_type != PT_LOAD || !(segment->p_vaddr >> 63) || !segment->p_filesz ||
	    segment->p_offset > kcore->size || segment->p_filesz > kcore->size - segment->p_offset ||
	    segment->p_filesz - 1 > UINT64_MAX - segment->p_vaddr)
		return 0;
	if (segment->p_filesz > HF_SETUP_PROGRAM_MAX - ret->bytes)
		return HF_ERR_LIMIT;
	err = hf_array_room(&ret->block, ret->block_count, sizeof *ret->block);
	bytes = err ? NULL : malloc((size_t)segment->p_filesz);
	if (!bytes)
		return HF_ERR_NOMEM;
	ret->block[ret->block_count++] = bytes;
	err = hf_src_read_all(kcore, segment->p_offset, bytes, (size_t)segment->p_filesz, &n, NULL);
	ret->bytes += n;
	if (!err && n)
		piece[(*count)++] = (struct hf_program_piece){
			.address = segment->p_vaddr, .size = n, .flags = FLAGS, .bytes = bytes};
	return err;
}

static int by_address(const void *a, const void *b)
{
	const struct hf_program_piece *left = a, *right = b;

	return left->address < right->address ? -1 : left->address > right->address;
}

/* Of two that overlap the first counts. */
static size_t keep_apart(struct hf_program_piece *piece, size_t count)
{
	size_t n = 0;

	for (size_t i = 0; i < count; i++)
		if (!n || piece[i].address - piece[n - 1].address >= piece[n - 1].size)
			piece[n++] = piece[i];
	return n;
}

static int load_segments(struct hf_src *kcore, const Elf64_Ehdr *head, struct hf_processes *ret)
{
	struct hf_program_piece *piece = calloc(head->e_phnum + 1u, sizeof *piece);
	size_t count = 0, got;
	int err = piece ? 0 : HF_ERR_NOMEM;

	for (unsigned i = 0; i < head->e_phnum && !err; i++) {
		Elf64_Phdr segment;

		err = hf_src_read_all(kcore, head->e_phoff + i * sizeof segment, &segment, sizeof segment, &got, NULL);
		if (!err && got == sizeof segment)
			err = add_segment(kcore, &segment, ret, piece, &count);
	}
	if (err) {
		free(piece);
		return err;
	}
	qsort(piece, count, sizeof *piece, by_address);
	hf_program_set(&ret->kernel, piece, keep_apart(piece, count), EM_AARCH64);
	return 0;
}

/* ---- pokes ---- */

static int by_time(const void *a, const void *b)
{
	const struct hf_perf_poke *left = a, *right = b;

	if (left->time != right->time)
		return left->time < right->time ? -1 : 1;
	return left->number < right->number ? -1 : left->number > right->number;
}

/* False: it is not in the copy. */
static bool apply(const struct hf_program *kernel, const struct hf_perf_poke *poke)
{
	const size_t n = HF_COUNT_UP_TO(kernel->pieces, kernel->count, address, poke->address);
	const struct hf_program_piece *piece = n ? &kernel->pieces[n - 1] : NULL;
	const uint64_t at = piece ? poke->address - piece->address : 0;

	if (!piece || at >= piece->size || poke->size > piece->size - at)
		return false;
	memcpy((uint8_t *)(uintptr_t)piece->bytes + at, poke->bytes, poke->size);
	return true;
}

int hf_perf_kernel_load(struct hf_src *kcore, struct hf_perf_pokes *pokes, struct hf_processes *ret, size_t *ret_poked)
{
	Elf64_Ehdr head;
	size_t n;
	int err = hf_src_read_all(kcore, 0, &head, sizeof head, &n, NULL);

	*ret_poked = 0;
	if (err)
		return err;
	if (n < sizeof head || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
	    head.e_ident[EI_DATA] != ELFDATA2LSB || head.e_machine != EM_AARCH64 ||
	    head.e_phentsize != sizeof(Elf64_Phdr) || head.e_phnum > SEGMENTS_MAX || head.e_phoff > kcore->size)
		return HF_ERR_CORRUPT;
	err = load_segments(kcore, &head, ret);
	if (err)
		return err;
	if (pokes->count)
		qsort(pokes->row, pokes->count, sizeof *pokes->row, by_time);
	for (size_t i = 0; i < pokes->count; i++)
		*ret_poked += apply(&ret->kernel, &pokes->row[i]);
	return 0;
}

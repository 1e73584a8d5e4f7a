/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/perf/kernel.h"

#include "codecs/base/array.h"
#include "codecs/base/bytes.h"
#include "codecs/base/search.h"
#include "codecs/image/elf_read.h"
#include "codecs/setup/read.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum {
	POKE_AT = 20,
	SEGMENTS_MAX = 4096,
	FLAGS = 5,
	PATCH = 64, /* bytes; a power of two, and more than a poke has */
	VERSIONS_MAX = 64, /* of the kernel's code; what changes later is in the last, */
	PATCHES_MAX = 8192, /* as is what changes when there are so many patches */
};

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

/* A poke changes one block, or two. */
struct patch {
	uint64_t address; /* of its first byte */
	uint32_t size;	  /* PATCH, but where a piece begins or ends */
	uint32_t version; /* that it was made for */
	uint8_t *bytes;	  /* in a block of the processes */
};

struct patching {
	struct hf_processes *ret;
	struct patch *patch; /* by address */
	size_t count;
	size_t poked; /* places that are in the copy */
};

static const struct hf_program_piece *piece_at(const struct hf_program *kernel, uint64_t address)
{
	const size_t n = HF_COUNT_UP_TO(kernel->pieces, kernel->count, address, address);
	const struct hf_program_piece *piece = n ? &kernel->pieces[n - 1] : NULL;

	return piece && address - piece->address < piece->size ? piece : NULL;
}

/* The block of that address for that version: its own, with what it was before. NULL: there is no memory. */
static struct patch *patch_of(struct patching *p, const struct hf_program_piece *piece, uint64_t address, uint32_t version)
{
	const uint64_t begin = (address & ~(uint64_t)(PATCH - 1)) > piece->address ? address & ~(uint64_t)(PATCH - 1)
										   : piece->address;
	const uint64_t end = piece->size - (begin - piece->address) < PATCH - begin % PATCH ? piece->address + piece->size
											   : begin + PATCH - begin % PATCH;
	size_t at = p->count ? HF_COUNT_UP_TO(p->patch, p->count, address, begin) : 0;
	const bool there = at && p->patch[at - 1].address == begin;
	const uint8_t *from = there ? p->patch[at - 1].bytes : piece->bytes + (begin - piece->address);
	uint8_t *bytes;

	if (there && p->patch[at - 1].version == version)
		return &p->patch[at - 1];
	bytes = malloc(PATCH);
	if (!bytes || hf_array_room(&p->ret->block, p->ret->block_count, sizeof *p->ret->block) ||
	    (!there && hf_array_room(&p->patch, p->count, sizeof *p->patch))) {
		free(bytes);
		return NULL;
	}
	p->ret->block[p->ret->block_count++] = bytes;
	memcpy(bytes, from, (size_t)(end - begin));
	if (there) {
		at--;
	} else {
		memmove(p->patch + at + 1, p->patch + at, (p->count - at) * sizeof *p->patch);
		p->count++;
	}
	p->patch[at] = (struct patch){begin, (uint32_t)(end - begin), version, bytes};
	return &p->patch[at];
}

/* What is not in the copy is passed over. */
static int apply(struct patching *p, const struct hf_perf_poke *poke, uint32_t version)
{
	const struct hf_program_piece *piece = piece_at(&p->ret->kernel, poke->address);

	if (!piece || poke->size > piece->size - (poke->address - piece->address))
		return 0;
	p->poked++;
	for (uint32_t i = 0; i < poke->size;) {
		struct patch *patch = patch_of(p, piece, poke->address + i, version);
		uint32_t at, n;

		if (!patch)
			return HF_ERR_NOMEM;
		at = (uint32_t)(poke->address + i - patch->address);
		n = patch->size - at < poke->size - i ? patch->size - at : poke->size - i;
		memcpy(patch->bytes + at, poke->bytes + i, n);
		i += n;
	}
	return 0;
}

static void add_piece(struct hf_program_piece *pieces, size_t *count, uint64_t address, uint64_t size, const uint8_t *bytes)
{
	if (size)
		pieces[(*count)++] =
			(struct hf_program_piece){.address = address, .size = size, .flags = FLAGS, .bytes = bytes};
}

/* The kernel with all patches so far. */
static int add_version(struct patching *p, uint64_t from)
{
	const struct hf_program *kernel = &p->ret->kernel;
	struct hf_program_piece *pieces = calloc(kernel->count + 2 * p->count + 1, sizeof *pieces);
	struct hf_kernel_span *span;
	size_t n = 0, k = 0;

	if (!pieces || hf_array_room(&p->ret->patched, p->ret->patched_count, sizeof *span)) {
		free(pieces);
		return HF_ERR_NOMEM;
	}
	for (size_t i = 0; i < kernel->count; i++) {
		const struct hf_program_piece *piece = &kernel->pieces[i];
		uint64_t at = 0;

		for (; k < p->count && p->patch[k].address - piece->address < piece->size; k++) {
			const uint64_t begin = p->patch[k].address - piece->address;

			add_piece(pieces, &n, piece->address + at, begin - at, piece->bytes + at);
			add_piece(pieces, &n, p->patch[k].address, p->patch[k].size, p->patch[k].bytes);
			at = begin + p->patch[k].size;
		}
		add_piece(pieces, &n, piece->address + at, piece->size - at, piece->bytes + at);
	}
	span = &p->ret->patched[p->ret->patched_count++];
	span->from = from;
	hf_program_init(&span->program);
	hf_program_set(&span->program, pieces, n, EM_AARCH64);
	return 0;
}

/* How many of the recordings, which are in order, ended before that. */
static size_t ended_before(const struct hf_setup *setup, uint64_t time)
{
	size_t low = 0, high = setup->part_count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (setup->parts[middle].time < time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* A version for all pokes between the ends of two recordings; the last one has all that follow. */
static int apply_all(struct patching *p, const struct hf_perf_pokes *pokes, const struct hf_setup *setup)
{
	size_t made = 0;
	int err = 0;

	for (size_t i = 0; i < pokes->count && !err;) {
		const size_t ended = ended_before(setup, pokes->row[i].time), first = i, poked = p->poked;

		if (ended == setup->part_count)
			break;
		while (i < pokes->count && !err &&
		       (made + 1 == VERSIONS_MAX || p->count > PATCHES_MAX || ended_before(setup, pokes->row[i].time) == ended))
			err = apply(p, &pokes->row[i++], (uint32_t)made);
		if (err || p->poked == poked)
			continue;
		err = add_version(p, pokes->row[first].time);
		made++;
	}
	return err;
}

int hf_perf_kernel_load(struct hf_src *kcore, struct hf_perf_pokes *pokes, const struct hf_setup *setup,
			struct hf_processes *ret, size_t *ret_poked)
{
	struct patching p = {.ret = ret};
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
	err = apply_all(&p, pokes, setup);
	*ret_poked = p.poked;
	free(p.patch);
	return err;
}

/* ---- the kernel's file ---- */

const struct hf_perf_kernel_code *hf_perf_kernel_map(const struct hf_perf_maps *maps)
{
	for (size_t i = 0; i < maps->kernel_count; i++)
		if (strncmp(maps->kernel[i].name, HF_PERF_KERNEL_NAME, strlen(HF_PERF_KERNEL_NAME)) == 0)
			return &maps->kernel[i];
	return NULL;
}

int hf_perf_kernel_add_file(struct hf_src *vmlinux, const struct hf_perf_kernel_code *map, struct hf_processes *ret,
			    uint64_t *ret_bias)
{
	const char *symbol = map->name + strlen(HF_PERF_KERNEL_NAME);
	/* 0: the recorder was not allowed to know it. */
	const uint64_t at = map->offset ? map->offset : map->address;
	struct hf_elf_file elf;
	uint64_t value;
	int err = hf_elf_file_open(vmlinux, &elf, NULL);

	if (err)
		return hf_err_is_passing(err) ? err : (int)HF_NOTE_END;
	err = *symbol && at >> 63 ? hf_elf_file_symbol(&elf, symbol, &value, NULL) : (int)HF_NOTE_END;
	hf_elf_file_close(&elf);
	if (err)
		return err > 0 || hf_err_is_passing(err) ? err : (int)HF_NOTE_END;
	*ret_bias = at - value;
	err = hf_program_add_elf(&ret->kernel, vmlinux, *ret_bias, NULL);
	ret->bytes += ret->kernel.bytes;
	return err && !hf_err_is_passing(err) ? (int)HF_NOTE_END : err;
}

static int add_missing(const struct hf_perf_kernel_code *code, const struct hf_perf_build_id *id, const char *beside,
		       struct hf_processes *ret)
{
	char text[2 * HF_PERF_BUILD_ID_MAX + 1];

	if (code->made)
		return hf_processes_add_missing(ret, code->name,
						"the kernel made it while it ran, and not one copy of its code is here");
	if (strncmp(code->name, HF_PERF_KERNEL_NAME, strlen(HF_PERF_KERNEL_NAME)) != 0)
		return hf_processes_add_missing(ret, code->name, "where the kernel put the sections of a module is known from "
						"kcore alone: perf record --kcore copies it");
	if (!id->size)
		return hf_processes_add_missing(ret, code->name, "perf record --kcore copies it");
	return hf_processes_add_missing(ret, code->name,
					"perf record --kcore copies it, or copy the vmlinux with build id %s into %s",
					hf_perf_build_id_text(id, text), beside);
}

int hf_perf_kernel_list_missing(const struct hf_perf_maps *maps, const struct hf_perf_build_id *id, const char *beside,
				struct hf_processes *ret)
{
	int err = 0;

	for (size_t i = 0; i < maps->kernel_count && !err; i++) {
		const struct hf_perf_kernel_code *code = &maps->kernel[i];
		uint64_t n;

		/* What a copy, or a file, has is not missing; of what has no address nobody asks. */
		if (!(code->address >> 63) || hf_program_at(&ret->kernel, code->address, &n))
			continue;
		err = add_missing(code, id, beside, ret);
		if (!err)
			err = hf_processes_add_missing_code(ret, code->address, code->address + code->size,
							    (uint32_t)ret->missing_count - 1);
	}
	return err;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/image/program.h"

#include "codecs/base/search.h"
#include "codecs/image/elf_riscv.h"

#include <assert.h>
#include <elf.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static int fail(struct hf_diag *diag, int code, uint64_t offset)
{
	return hf_diag_set(diag, code, HF_SPACE_STREAM, offset, 0);
}

void hf_program_fini(struct hf_program *program)
{
	for (size_t i = 0; i < program->count && !program->borrowed; i++)
		free((uint8_t *)program->pieces[i].bytes);
	free(program->pieces);
	free(program->comment);
	hf_program_init(program);
}

void hf_program_set(struct hf_program *program, struct hf_program_piece *pieces, size_t count, uint16_t machine)
{
	hf_program_fini(program);
	*program = (struct hf_program){
		.pieces = pieces, .count = count, .machine = machine, .xlen = 64, .borrowed = true};
	for (size_t i = 0; i < count; i++)
		program->bytes += pieces[i].size;
}

/* The piece of the program itself that holds address, or NULL, and then *room becomes the bytes to the next one if they
 * are fewer. */
static const struct hf_program_piece *find(const struct hf_program *program, uint64_t address, uint64_t *room)
{
	const size_t low = HF_COUNT_UP_TO(program->pieces, program->count, address, address);
	const struct hf_program_piece *next = &program->pieces[low];

	if (low && address - next[-1].address < next[-1].size)
		return &next[-1];
	if (low < program->count && next->address - address < *room)
		*room = next->address - address;
	return NULL;
}

const uint8_t *hf_program_at(const struct hf_program *program, uint64_t address, uint64_t *ret_n)
{
	uint64_t room = UINT64_MAX;
	const struct hf_program_piece *piece = find(program, address, &room);

	for (size_t i = 0; !piece && i < program->below_count; i++)
		piece = find(program->below[i], address, &room);
	*ret_n = 0;
	if (!piece)
		return NULL;
	*ret_n = piece->size - (address - piece->address);
	*ret_n = *ret_n < room ? *ret_n : room;
	return piece->bytes + (address - piece->address);
}

/* Bytes [offset, offset + n) of src in memory of their own. */
static int load(struct hf_src *src, uint64_t offset, uint64_t n, uint8_t **ret_bytes, struct hf_diag *diag)
{
	uint8_t *bytes = malloc((size_t)n);
	size_t got;
	int err;

	if (!bytes)
		return fail(diag, HF_ERR_NOMEM, HF_NOWHERE);
	err = hf_src_read_all(src, offset, bytes, (size_t)n, &got, diag);
	if (!err && got < n)
		err = fail(diag, HF_ERR_TRUNCATED, offset + got);
	if (err) {
		free(bytes);
		return err;
	}
	*ret_bytes = bytes;
	return 0;
}

/* A piece that is to be added: its bytes are at offset of the source. */
struct row {
	struct hf_program_piece piece;
	uint64_t offset;
};

static int by_address(const void *a, const void *b)
{
	const struct hf_program_piece *left = a, *right = b;

	return left->address < right->address ? -1 : left->address > right->address;
}

static_assert(offsetof(struct row, piece) == 0, "rows are sorted as pieces");

static int check_sizes(const struct hf_program *program, const struct row *rows, size_t n, uint64_t *ret_bytes,
		       struct hf_diag *diag)
{
	uint64_t bytes = program->bytes;

	for (size_t i = 0; i < n; i++) {
		if (rows[i].piece.size - 1 > UINT64_MAX - rows[i].piece.address)
			return fail(diag, HF_ERR_CORRUPT, rows[i].offset);
		if (rows[i].piece.size > HF_PROGRAM_BYTES_MAX - bytes)
			return fail(diag, HF_ERR_LIMIT, rows[i].offset);
		bytes += rows[i].piece.size;
	}
	*ret_bytes = bytes;
	return 0;
}

/* Loads the pieces without bytes, which are the rows in their order. On an error none is left. */
static int load_pieces(struct hf_program_piece *all, size_t count, const struct row *rows, struct hf_src *src,
		       struct hf_diag *diag)
{
	int err = 0;

	for (size_t i = 0, row = 0; i < count; i++) {
		uint8_t *bytes = NULL;

		if (all[i].bytes)
			continue;
		err = load(src, rows[row++].offset, all[i].size, &bytes, diag);
		if (err)
			break;
		all[i].bytes = bytes;
	}
	return err;
}

/* Frees the pieces that program does not own. */
static void drop_pieces(const struct hf_program *program, struct hf_program_piece *all, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t room = UINT64_MAX;
		const struct hf_program_piece *old = find(program, all[i].address, &room);

		if (!old || old->bytes != all[i].bytes)
			free((uint8_t *)all[i].bytes);
	}
	free(all);
}

/* All of it or nothing. Sorts rows; what overlaps is found before anything is read. */
static int add(struct hf_program *program, struct row *rows, size_t n, struct hf_src *src, struct hf_diag *diag)
{
	const size_t count = program->count + n;
	struct hf_program_piece *all;
	uint64_t bytes = 0;
	int err = check_sizes(program, rows, n, &bytes, diag);

	if (err || n == 0)
		return err;
	all = calloc(count, sizeof *all);
	if (!all)
		return fail(diag, HF_ERR_NOMEM, HF_NOWHERE);
	if (program->count)
		memcpy(all, program->pieces, program->count * sizeof *all);
	qsort(rows, n, sizeof *rows, by_address);
	for (size_t i = 0; i < n; i++)
		all[program->count + i] = rows[i].piece;
	qsort(all, count, sizeof *all, by_address);
	for (size_t i = 1; i < count && !err; i++)
		if (all[i].address - all[i - 1].address < all[i - 1].size)
			err = fail(diag, HF_ERR_MISMATCH, HF_NOWHERE);
	if (!err)
		err = load_pieces(all, count, rows, src, diag);
	if (err) {
		drop_pieces(program, all, count);
		return err;
	}
	free(program->pieces);
	program->pieces = all;
	program->count = count;
	program->bytes = bytes;
	return 0;
}

/* The address of a file of this width, moved by bias. */
static uint64_t move(uint64_t address, uint64_t bias, uint8_t xlen)
{
	return (address + bias) & (xlen == 64 ? UINT64_MAX : UINT32_MAX);
}

static int add_segments(struct hf_program *program, const struct hf_elf_file *file, uint64_t bias,
			struct hf_diag *diag)
{
	struct row *rows = calloc(file->segment_count + 1, sizeof *rows);
	int err;

	if (!rows)
		return fail(diag, HF_ERR_NOMEM, HF_NOWHERE);
	for (size_t i = 0; i < file->segment_count; i++) {
		const struct hf_elf_segment *segment = &file->segments[i];

		rows[i].offset = segment->offset;
		rows[i].piece.address = move(segment->address, bias, file->xlen);
		rows[i].piece.size = segment->size;
		rows[i].piece.flags = segment->flags;
	}
	err = add(program, rows, file->segment_count, file->src, diag);
	free(rows);
	return err;
}

static void note_riscv(struct hf_program *program, const struct hf_elf_file *file,
		       const struct hf_elf_riscv *riscv, uint64_t bias)
{
	program->extensions |= riscv->extensions;
	if (!program->has_jvt && riscv->has_jvt) {
		program->has_jvt = true;
		program->jvt = move(riscv->jvt, bias, file->xlen);
	}
}

/* More of it is of no use. */
#define COMMENT_MAX 65536

/* A damaged one is none. */
static int note_comment(struct hf_program *program, const struct hf_elf_file *file)
{
	int err = 0;

	if (!program->comment)
		err = hf_elf_file_named(file, ".comment", COMMENT_MAX, (uint8_t **)&program->comment, &program->comment_size, NULL);
	return err == HF_ERR_NOMEM ? err : 0;
}

int hf_program_add_elf(struct hf_program *program, struct hf_src *src, uint64_t bias, struct hf_diag *diag)
{
	struct hf_elf_riscv riscv = {0};
	struct hf_elf_file file;
	int err = hf_elf_file_open(src, &file, diag);

	if (err)
		return err;
	if (file.machine == EM_RISCV)
		err = hf_elf_file_riscv(&file, &riscv, diag);
	if (!err && program->xlen && (program->xlen != file.xlen || program->machine != file.machine))
		err = fail(diag, HF_ERR_MISMATCH, 0);
	if (!err)
		err = add_segments(program, &file, bias, diag);
	if (!err && !program->xlen) {
		program->xlen = file.xlen;
		program->machine = file.machine;
		program->entry = move(file.entry, bias, file.xlen);
	}
	if (!err)
		note_riscv(program, &file, &riscv, bias);
	if (!err)
		err = note_comment(program, &file);
	hf_elf_file_close(&file);
	return err;
}

int hf_program_add_raw(struct hf_program *program, struct hf_src *src, uint64_t address, struct hf_diag *diag)
{
	struct row row = {.piece = {.address = address, .size = src->size, .flags = HF_ELF_R | HF_ELF_W | HF_ELF_X}};

	if (src->size == HF_NOWHERE)
		return fail(diag, HF_ERR_UNSUPPORTED, HF_NOWHERE);
	return src->size ? add(program, &row, 1, src, diag) : 0;
}

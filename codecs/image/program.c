/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/image/program.h"

#include "codecs/base/array.h"
#include "codecs/base/search.h"
#include "codecs/image/elf_riscv.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

static int fail(struct hf_diag *diag, int code, uint64_t offset)
{
	return hf_diag_set(diag, code, HF_SPACE_STREAM, offset, 0);
}

void hf_program_fini(struct hf_program *program)
{
	for (size_t i = 0; i < program->block_count; i++)
		free(program->block[i]);
	free(program->block);
	free(program->pieces);
	free(program->comment);
	hf_program_init(program);
}

void hf_program_set(struct hf_program *program, struct hf_program_piece *pieces, size_t count, uint16_t machine)
{
	hf_program_fini(program);
	*program = (struct hf_program){.pieces = pieces, .count = count, .machine = machine, .xlen = 64};
	for (size_t i = 0; i < count; i++)
		program->bytes += pieces[i].size;
}

/* The piece of the program itself that holds address, or NULL, and then *room becomes the bytes to the next one if they
 * are fewer. */
static const struct hf_program_piece *find(const struct hf_program *program, uint64_t address, uint64_t *room)
{
	const size_t low = HF_COUNT_UP_TO(program->pieces, program->count, address, address);
	const struct hf_program_piece *next = program->count ? &program->pieces[low] : NULL;

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

/* ---- laying pieces over others ---- */

static int by_address(const void *a, const void *b)
{
	const struct hf_program_piece *left = a, *right = b;

	return left->address < right->address ? -1 : left->address > right->address;
}

/* Sorts pieces that come together: they may not overlap each other, and there is a limit of bytes. */
static int check(const struct hf_program *program, struct hf_program_piece *pieces, size_t n, struct hf_diag *diag)
{
	uint64_t bytes = program->bytes;

	for (size_t i = 0; i < n; i++) {
		if (pieces[i].size - 1 > UINT64_MAX - pieces[i].address)
			return fail(diag, HF_ERR_CORRUPT, HF_NOWHERE);
		if (pieces[i].size > HF_PROGRAM_BYTES_MAX - bytes)
			return fail(diag, HF_ERR_LIMIT, HF_NOWHERE);
		bytes += pieces[i].size;
	}
	if (n)
		qsort(pieces, n, sizeof *pieces, by_address);
	for (size_t i = 1; i < n; i++)
		if (pieces[i].address - pieces[i - 1].address < pieces[i - 1].size)
			return fail(diag, HF_ERR_MISMATCH, HF_NOWHERE);
	return 0;
}

/* Notes the first byte of an old piece that a new one over it has otherwise. */
static void compare(struct hf_program *program, const struct hf_program_piece *old, const struct hf_program_piece *new)
{
	const uint64_t old_last = old->address + (old->size - 1), new_last = new->address + (new->size - 1);
	const uint64_t last = old_last < new_last ? old_last : new_last;
	uint64_t at = old->address > new->address ? old->address : new->address;

	if (program->differs ||
	    memcmp(old->bytes + (at - old->address), new->bytes + (at - new->address), (size_t)(last - at + 1)) == 0)
		return;
	while (old->bytes[at - old->address] == new->bytes[at - new->address])
		at++;
	program->differs = true;
	program->differs_at = at;
	program->differs_from = old->origin;
}

/* What is left of an old piece before and behind a new one over it: put to kept[2]. */
static size_t cut(const struct hf_program_piece *old, const struct hf_program_piece *new, struct hf_program_piece *kept)
{
	const uint64_t old_last = old->address + (old->size - 1), new_last = new->address + (new->size - 1);
	size_t n = 0;

	if (old->address < new->address) {
		kept[n] = *old;
		kept[n++].size = new->address - old->address;
	}
	if (old_last > new_last) {
		kept[n] = *old;
		kept[n].address = new_last + 1;
		kept[n].size = old_last - new_last;
		kept[n++].bytes = old->bytes + (new_last + 1 - old->address);
	}
	return n;
}

/* Puts the piece among the others, of which it takes the addresses. There is room for two more. */
static void lay(struct hf_program *program, const struct hf_program_piece *piece)
{
	const uint64_t last = piece->address + (piece->size - 1);
	struct hf_program_piece *pieces = program->pieces, kept[3];
	size_t from = HF_COUNT_UP_TO(pieces, program->count, address, piece->address), to = from, n = 0;

	if (from && piece->address - pieces[from - 1].address < pieces[from - 1].size)
		from--;
	while (to < program->count && pieces[to].address <= last)
		to++;
	for (size_t i = from; i < to; i++) {
		struct hf_program_piece parts[2];
		const size_t count = cut(&pieces[i], piece, parts);

		compare(program, &pieces[i], piece);
		program->bytes -= pieces[i].size;
		for (size_t k = 0; k < count; k++) {
			program->bytes += parts[k].size;
			kept[n++] = parts[k];
		}
	}
	program->bytes += piece->size;
	kept[n++] = *piece;
	qsort(kept, n, sizeof *kept, by_address);
	if (to < program->count)
		memmove(pieces + from + n, pieces + to, (program->count - to) * sizeof *pieces);
	memcpy(pieces + from, kept, n * sizeof *kept);
	program->count = program->count - (to - from) + n;
}

/* Room for n more pieces, each of which may cut one in two. */
static int reserve(struct hf_program *program, size_t n, struct hf_diag *diag)
{
	struct hf_program_piece *bigger = realloc(program->pieces, (program->count + 2 * n + 1) * sizeof *bigger);

	if (!bigger)
		return fail(diag, HF_ERR_NOMEM, HF_NOWHERE);
	program->pieces = bigger;
	return 0;
}

static void lay_all(struct hf_program *program, struct hf_program_piece *pieces, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		pieces[i].origin = program->origin;
		lay(program, &pieces[i]);
	}
}

/* ---- files ---- */

/* What is wrong with pieces is found before anything is read. They stay in their order. */
static int check_rows(const struct hf_program *program, const struct hf_program_piece *rows, size_t n, struct hf_diag *diag)
{
	struct hf_program_piece *sorted = malloc((n + 1) * sizeof *sorted);
	int err;

	if (!sorted)
		return fail(diag, HF_ERR_NOMEM, HF_NOWHERE);
	if (n)
		memcpy(sorted, rows, n * sizeof *sorted);
	err = check(program, sorted, n, diag);
	free(sorted);
	return err;
}

/* All of it or nothing. The bytes of the rows are read at those offsets of src. */
static int add(struct hf_program *program, struct hf_program_piece *rows, const uint64_t *offsets, size_t n,
	       struct hf_src *src, struct hf_diag *diag)
{
	size_t read = 0;
	int err = check_rows(program, rows, n, diag);

	if (!err)
		err = reserve(program, n, diag);
	for (; read < n && !err; read += !err) {
		uint8_t *bytes = NULL;

		err = hf_array_room(&program->block, program->block_count, sizeof *program->block);
		if (!err)
			err = load(src, offsets[read], rows[read].size, &bytes, diag);
		if (!err)
			program->block[program->block_count++] = bytes;
		rows[read].bytes = bytes;
	}
	if (err) {
		while (read--)
			free(program->block[--program->block_count]);
		return err;
	}
	lay_all(program, rows, n);
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
	struct hf_program_piece *rows = calloc(file->segment_count + 1, sizeof *rows);
	uint64_t *offsets = calloc(file->segment_count + 1, sizeof *offsets);
	int err = rows && offsets ? 0 : fail(diag, HF_ERR_NOMEM, HF_NOWHERE);

	for (size_t i = 0; i < file->segment_count && !err; i++) {
		const struct hf_elf_segment *segment = &file->segments[i];

		offsets[i] = segment->offset;
		rows[i].address = move(segment->address, bias, file->xlen);
		rows[i].size = segment->size;
		rows[i].flags = segment->flags;
	}
	if (!err)
		err = add(program, rows, offsets, file->segment_count, file->src, diag);
	free(rows);
	free(offsets);
	return err;
}

/* Of several programs in one the first says where it begins, and the first with a table where that is. */
static void note(struct hf_program *program, const struct hf_program *other, uint64_t bias)
{
	program->extensions |= other->extensions;
	if (!program->has_jvt && other->has_jvt) {
		program->has_jvt = true;
		program->jvt = move(other->jvt, bias, other->xlen);
	}
	if (program->xlen)
		return;
	program->xlen = other->xlen;
	program->machine = other->machine;
	program->entry = move(other->entry, bias, other->xlen);
}

static bool fits(const struct hf_program *program, uint8_t xlen, uint16_t machine)
{
	return !program->xlen || (program->xlen == xlen && program->machine == machine);
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
	if (!err && !fits(program, file.xlen, file.machine))
		err = fail(diag, HF_ERR_MISMATCH, 0);
	if (!err)
		err = add_segments(program, &file, bias, diag);
	if (!err)
		note(program,
		     &(struct hf_program){.xlen = file.xlen, .machine = file.machine, .entry = file.entry,
					  .extensions = riscv.extensions, .has_jvt = riscv.has_jvt, .jvt = riscv.jvt},
		     bias);
	if (!err)
		err = note_comment(program, &file);
	hf_elf_file_close(&file);
	return err;
}

static int copy_comment(struct hf_program *program, const struct hf_program *other)
{
	if (program->comment || !other->comment)
		return 0;
	program->comment = malloc(other->comment_size + 1);
	if (!program->comment)
		return HF_ERR_NOMEM;
	memcpy(program->comment, other->comment, other->comment_size + 1);
	program->comment_size = other->comment_size;
	return 0;
}

int hf_program_add_program(struct hf_program *program, const struct hf_program *other, uint64_t bias, struct hf_diag *diag)
{
	struct hf_program_piece *pieces = calloc(other->count + 1, sizeof *pieces);
	int err = pieces ? 0 : fail(diag, HF_ERR_NOMEM, HF_NOWHERE);

	if (!err && !fits(program, other->xlen, other->machine))
		err = fail(diag, HF_ERR_MISMATCH, 0);
	for (size_t i = 0; i < other->count && !err; i++) {
		pieces[i] = other->pieces[i];
		pieces[i].address = move(pieces[i].address, bias, other->xlen);
	}
	if (!err)
		err = check(program, pieces, other->count, diag);
	if (!err)
		err = reserve(program, other->count, diag);
	if (!err)
		err = copy_comment(program, other);
	if (!err) {
		lay_all(program, pieces, other->count);
		note(program, other, bias);
	}
	free(pieces);
	return err;
}

int hf_program_add_raw(struct hf_program *program, struct hf_src *src, uint64_t address, struct hf_diag *diag)
{
	struct hf_program_piece row = {.address = address, .size = src->size, .flags = HF_ELF_R | HF_ELF_W | HF_ELF_X};

	if (src->size == HF_NOWHERE)
		return fail(diag, HF_ERR_UNSUPPORTED, HF_NOWHERE);
	return src->size ? add(program, &row, &(uint64_t){0}, 1, src, diag) : 0;
}

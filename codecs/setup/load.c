/* SPDX-License-Identifier: Apache-2.0 */
/* The files that a description names: programs into memory, traces end to end. */
#include "codecs/base/array.h"
#include "codecs/base/errors.h"
#include "codecs/codec.h"
#include "codecs/image/symbols.h"
#include "codecs/setup/errors.h"
#include "codecs/setup/read.h"
#include "codecs/source/concat.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ET_DYN = 3 };

struct loader {
	struct hf_setup *setup;
	const struct hf_setup_opener *opener;
	struct hf_setup_error *error;
	uint8_t arch;
	uint64_t bytes; /* of all programs so far */
};

/* Something is wrong with a file: an error, or a warning if it can be done without. */
__attribute__((format(printf, 4, 5))) static int blame(struct loader *l, const struct hf_setup_file *file, int err,
						       const char *format, ...)
{
	char text[200];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	if (hf_err_is_shortage(err) || hf_err_class(err) == HF_CLASS_io || (hf_err_class(err) == HF_CLASS_state &&
	    err != HF_ERR_NOT_FOUND && err != HF_ERR_MISMATCH))
		return hf_setup_fail(l->error, err, file->said_in, file->line, "'%s' %s", file->name, text);
	if (file->optional)
		return hf_setup_warn(l->setup, file->said_in, file->line, "'%s' %s: it is left out", file->name, text);
	return hf_setup_fail(l->error, HF_ERR_SETUP_FILE, file->said_in, file->line, "'%s' %s", file->name, text);
}

/* *ret_src is NULL if it is not there and can be done without. */
static int open_file(struct loader *l, const struct hf_setup_file *file, struct hf_src **ret_src)
{
	int err = l->opener->open(l->opener->ctx, file->name, ret_src, NULL);

	if (!err)
		return 0;
	*ret_src = NULL;
	if (err == HF_ERR_NOT_FOUND)
		return blame(l, file, err, "is no file within the archive%s", strncmp(file->name, "../", 3) != 0 ? "" :
			     ", which ends at the directory that is mounted or indexed");
	return blame(l, file, err, "cannot be read");
}

/* ---- programs ---- */

/* A damaged symbol table takes no code away, but all names. */
static int check_symbols(struct loader *l, const struct hf_setup_file *file, struct hf_src *src)
{
	struct hf_diag diag = {.code = 0};
	struct hf_symbols *symbols;
	char text[160];
	int err = hf_symbols_new(src, 0, 0, &symbols, &diag);

	if (!err) {
		hf_symbols_free(symbols);
		return 0;
	}
	if (hf_err_is_passing(err))
		return hf_setup_fail(l->error, err, file->said_in, file->line, "'%s': its symbols cannot be read", file->name);
	diag.code = err;
	diag.space = HF_SPACE_FILE;
	hf_diag_format(&diag, text, sizeof text);
	return hf_setup_warn(l->setup, file->said_in, file->line, "'%s' gives no symbols: %s", file->name, text);
}

/* An ELF file that several contexts have is read once. */
static struct hf_setup_elf *find_elf(const struct loader *l, const char *name)
{
	for (size_t i = 0; i < l->setup->elf_count; i++)
		if (strcmp(l->setup->elfs[i].name, name) == 0)
			return &l->setup->elfs[i];
	return NULL;
}

/* A program for another machine, or with a damaged part. err: of hf_program_add_elf, or 0. */
static int refuse_elf(struct loader *l, const struct hf_setup_file *file, unsigned machine, int err)
{
	if (err)
		return blame(l, file, err, "cannot be used: %s", hf_err_text(err, (char[HF_DIAG_SIZE]){0}));
	return blame(l, file, HF_ERR_SETUP_FILE, "is for another machine (e_machine %u): format %s needs %s", machine,
		     l->setup->format, l->arch == HF_ARCH_RISCV ? "RISC-V (243)" : "AArch64 (183) or Arm (40)");
}

/* *ret_elf is NULL if it cannot be used and can be done without. */
static int read_elf(struct loader *l, const struct hf_setup_file *file, struct hf_src *src, struct hf_setup_elf **ret_elf)
{
	struct hf_setup *setup = l->setup;
	struct hf_setup_elf elf = {.name = file->name};
	int err = hf_elf_file_open(src, &elf.file, NULL), reading = 0;
	bool fits;

	*ret_elf = NULL;
	if (err)
		return blame(l, file, err, "is no ELF program that can be used");
	elf.file.src = NULL;
	hf_program_init(&elf.program);
	fits = hf_arch_has_machine(l->arch, elf.file.machine);
	if (fits)
		err = check_symbols(l, file, src);
	if (fits && !err)
		reading = hf_program_add_elf(&elf.program, src, 0, NULL);
	if (!err && fits && !reading) {
		err = hf_array_room(&setup->elfs, setup->elf_count, sizeof elf);
		if (!err) {
			l->bytes += elf.program.bytes;
			setup->elfs[setup->elf_count] = elf;
			*ret_elf = &setup->elfs[setup->elf_count++];
			return 0;
		}
	}
	if (!err)
		err = refuse_elf(l, file, elf.file.machine, reading);
	hf_program_fini(&elf.program);
	hf_elf_file_close(&elf.file);
	return err;
}

/* What differs where two programs overlap. */
static int tell_overlap(struct loader *l, struct hf_program *program, const struct hf_setup_file *file)
{
	const struct hf_setup_file *other = &l->setup->files[program->differs_from];
	int err = 0;

	if (program->differs)
		err = hf_setup_warn(l->setup, file->said_in, file->line,
				    "'%.60s' and '%.60s' of %.60s:%u differ at 0x%" PRIx64 ", where they overlap: '%.60s' holds there",
				    file->name, other->name, other->said_in, (unsigned)other->line, program->differs_at, file->name);
	program->differs = false;
	return err;
}

static int add_elf(struct loader *l, struct hf_program *program, struct hf_setup_file *file, struct hf_src *src)
{
	struct hf_setup_elf *elf = find_elf(l, file->name);
	int err = elf ? 0 : read_elf(l, file, src, &elf);

	if (err || !elf)
		return err;
	if (elf->file.type == ET_DYN && !file->has_bias)
		err = hf_setup_warn(l->setup, file->said_in, file->line,
				    "'%s' is position-independent and no bias is given: 0 is taken", file->name);
	if (err)
		return err;
	err = hf_program_add_program(program, &elf->program, file->address, NULL);
	if (err == HF_ERR_MISMATCH)
		return blame(l, file, err, "is of another machine than other programs");
	if (err)
		return blame(l, file, err, "cannot be used: %s", hf_err_text(err, (char[HF_DIAG_SIZE]){0}));
	return 0;
}

static int warn_short(struct loader *l, const struct hf_setup_file *file, uint64_t size)
{
	return hf_setup_warn(l->setup, file->said_in, file->line, "'%s' has %" PRIu64 " of the %" PRIu64 " bytes: the rest is not "
			     "known", file->name, size, file->size);
}

/* A dump: takes src. */
static int add_raw(struct loader *l, struct hf_program *program, const struct hf_setup_file *file, struct hf_src *src)
{
	struct hf_concat_piece piece = {.src = src, .offset = file->offset};
	struct hf_src *part;
	int err;

	if (file->offset > src->size) {
		hf_src_free(src);
		return blame(l, file, HF_ERR_SETUP_FILE, "is shorter than its offset");
	}
	piece.size = src->size - file->offset < file->size ? src->size - file->offset : file->size;
	err = file->size == HF_NOWHERE || piece.size == file->size ? 0 : warn_short(l, file, piece.size);
	if (err) {
		hf_src_free(src);
		return err;
	}
	err = hf_src_concat_new(&piece, 1, &part);
	if (err)
		return hf_setup_fail(l->error, err, file->said_in, file->line, "out of memory");
	err = hf_program_add_raw(program, part, file->address, NULL);
	hf_src_free(part);
	return err ? blame(l, file, err, "cannot be used: %s", hf_err_text(err, (char[HF_DIAG_SIZE]){0})) : 0;
}

/*
 * Makes a program of what was mapped: an ELF with the bias by which the mapped part of it lay where it did, or, of a file
 * that is none, that part itself. It stays what it is if nothing can be done with it.
 */
static int place(struct loader *l, struct hf_setup_file *file, struct hf_src *src)
{
	struct hf_elf_file elf;
	uint64_t address;
	int err = hf_elf_file_open(src, &elf, NULL);
	bool found;

	if (err && hf_err_is_passing(err))
		return blame(l, file, err, "cannot be read");
	if (err) {
		file->kind = HF_SETUP_RAW;
		return 0;
	}
	found = hf_elf_file_address_of(&elf, file->offset, &address);
	hf_elf_file_close(&elf);
	if (!found)
		return blame(l, file, HF_ERR_SETUP_FILE, "has no code at offset 0x%" PRIx64 ", where it was mapped: it is another build",
			     file->offset);
	file->kind = HF_SETUP_ELF;
	file->has_bias = true;
	file->address -= address;
	return 0;
}

/* Whether another process had the file too, and it was told of that that nothing can be done with it. */
static bool is_told(const struct hf_setup *setup, const struct hf_setup_file *file)
{
	for (const struct hf_setup_file *other = setup->files; other < file; other++)
		if (other->kind == HF_SETUP_MAPPED && strcmp(other->name, file->name) == 0)
			return true;
	return false;
}

static int add_program(struct loader *l, struct hf_program *program, struct hf_setup_file *file)
{
	struct hf_src *src;
	int err;

	if (file->kind == HF_SETUP_MAPPED && is_told(l->setup, file))
		return 0;
	err = open_file(l, file, &src);
	if (err || !src)
		return err;
	program->origin = (uint32_t)(file - l->setup->files);
	if (file->kind == HF_SETUP_MAPPED)
		err = place(l, file, src);
	if (err || file->kind == HF_SETUP_MAPPED) {
		hf_src_free(src);
		return err;
	}
	if (file->kind == HF_SETUP_RAW) {
		l->bytes += src->size < file->size ? src->size : file->size;
		err = add_raw(l, program, file, src);
	} else {
		err = add_elf(l, program, file, src);
		hf_src_free(src);
	}
	if (!err)
		err = tell_overlap(l, program, file);
	if (!err && l->bytes > HF_SETUP_PROGRAM_MAX)
		err = hf_setup_fail(l->error, HF_ERR_LIMIT, file->said_in, file->line,
				    "all programs together are too large");
	return err;
}

static bool is_program(const struct hf_setup_file *file)
{
	return file->kind == HF_SETUP_ELF || file->kind == HF_SETUP_RAW || file->kind == HF_SETUP_MAPPED;
}

static bool same_owner(const struct hf_setup_file *a, const struct hf_setup_file *b)
{
	return a->hart == b->hart && a->context == b->context;
}

/*
 * The files of first's hart and context that are in this space. Where two overlap the one said of fewer spaces counts,
 * and of those the last; in a snapshot the first, as other readers have it. What counts is added behind the other.
 */
static int load_image(struct loader *l, const struct hf_setup_file *first, uint32_t spaces)
{
	struct hf_setup *setup = l->setup;
	const uint32_t one = spaces & -spaces;
	struct hf_setup_image *image = &setup->images[setup->image_count++];
	int err = 0;

	*image = (struct hf_setup_image){.hart = first->hart, .spaces = spaces, .context = first->context};
	hf_program_init(&image->program);
	for (int bits = 8; bits > 0 && !err; bits--)
		for (size_t i = 0; i < setup->file_count && !err; i++) {
			struct hf_setup_file *file = &setup->files[setup->buffers ? setup->file_count - 1 - i : i];

			if (is_program(file) && same_owner(file, first) && (file->spaces & one) &&
			    __builtin_popcount(file->spaces) == bits)
				err = add_program(l, &image->program, file);
		}
	return err;
}

/* Whether both spaces see the same files of first's hart and context; *ret_any: at least one. */
static bool same_files(const struct hf_setup *setup, const struct hf_setup_file *first, uint32_t a, uint32_t b,
		       bool *ret_any)
{
	*ret_any = false;
	for (size_t i = 0; i < setup->file_count; i++) {
		const struct hf_setup_file *file = &setup->files[i];

		if (!is_program(file) || !same_owner(file, first))
			continue;
		if (!(file->spaces & a) != !(file->spaces & b))
			return false;
		*ret_any |= file->spaces & a;
	}
	return true;
}

/* One image for each group of spaces that see the same files. */
static int load_owner(struct loader *l, const struct hf_setup_file *first)
{
	uint32_t left = HF_MEMORY_ANY;
	int err = 0;

	while (left && !err) {
		const uint32_t one = left & -left;
		uint32_t group = 0;
		bool any = false, has = false;

		for (uint32_t bit = one; bit <= HF_MEMORY_ROOT; bit <<= 1)
			if ((left & bit) && same_files(l->setup, first, one, bit, &any)) {
				group |= bit;
				has = any;
			}
		left &= ~group;
		if (has)
			err = load_image(l, first, group);
	}
	return err;
}

/* Whether all code of b holds wherever a does, which has a context and b has none. */
static bool is_below(const struct hf_setup_image *a, const struct hf_setup_image *b)
{
	return a->context != HF_SETUP_NO_CONTEXT && b->context == HF_SETUP_NO_CONTEXT &&
	       (b->hart == a->hart || b->hart == HF_SETUP_ANY) && !(a->spaces & ~b->spaces) &&
	       (a->program.machine == b->program.machine || !a->program.machine || !b->program.machine);
}

/* A kernel is in the contexts of all processes: what their programs have no bytes of is looked for there. */
static int link_images(struct loader *l)
{
	struct hf_setup *setup = l->setup;

	for (size_t i = 0; i < setup->image_count; i++) {
		struct hf_setup_image *image = &setup->images[i];
		struct hf_program *program = &image->program;

		if (image->context == HF_SETUP_NO_CONTEXT)
			continue;
		image->below = calloc(setup->image_count, sizeof(struct hf_program *));
		if (!image->below)
			return hf_setup_fail(l->error, HF_ERR_NOMEM, "", 0, "out of memory");
		program->below = image->below;
		/* the hart's own before those of every hart */
		for (unsigned own = 2; own-- > 0;)
			for (size_t k = 0; k < setup->image_count; k++)
				if (is_below(image, &setup->images[k]) &&
				    (setup->images[k].hart != HF_SETUP_ANY) == own)
					image->below[program->below_count++] = &setup->images[k].program;
	}
	return 0;
}

/* The addresses of an ELF file in a context; end 0: it is none. */
struct extent {
	uint64_t start, end;
	bool hidden;
};

static struct extent extent_of(const struct loader *l, const struct hf_setup_file *file)
{
	const bool named = file->kind == HF_SETUP_ELF && file->context != HF_SETUP_NO_CONTEXT;
	const struct hf_setup_elf *elf = named ? find_elf(l, file->name) : NULL;
	const struct hf_program *program = elf && elf->program.count ? &elf->program : NULL;
	const struct hf_program_piece *last = program ? &program->pieces[program->count - 1] : NULL;

	if (!program)
		return (struct extent){.end = 0};
	return (struct extent){program->pieces[0].address + file->address, last->address + last->size + file->address, false};
}

/* Names are those of addresses. Where contexts have different files neither has names, since one of them would be wrong. */
static int hide_names(struct loader *l)
{
	struct hf_setup *setup = l->setup;
	struct extent *extents = calloc(setup->file_count + 1, sizeof *extents);
	struct hf_setup_file *first = NULL;
	size_t hidden = 0;

	if (!extents)
		return hf_setup_fail(l->error, HF_ERR_NOMEM, "", 0, "out of memory");
	for (size_t i = 0; i < setup->file_count; i++)
		extents[i] = extent_of(l, &setup->files[i]);
	for (size_t i = 0; i < setup->file_count; i++)
		for (size_t k = 0; k < i && extents[i].end; k++)
			if (extents[k].end && extents[k].start < extents[i].end && extents[i].start < extents[k].end &&
			    setup->files[i].context != setup->files[k].context &&
			    (setup->files[i].address != setup->files[k].address ||
			     strcmp(setup->files[i].name, setup->files[k].name) != 0))
				extents[i].hidden = extents[k].hidden = true;
	for (size_t i = 0; i < setup->file_count; i++)
		if (extents[i].hidden) {
			first = first ? first : &setup->files[i];
			setup->files[i].kind = HF_SETUP_RAW; /* names are taken of ELF files */
			hidden++;
		}
	free(extents);
	return first ? hf_setup_warn(setup, first->said_in, first->line,
				     "'%.120s' and %zu more files lie where another context has another one: they give no names",
				     first->name, hidden - 1) :
		       0;
}

static int load_programs(struct loader *l)
{
	struct hf_setup *setup = l->setup;
	int err = 0;

	setup->images = calloc(setup->file_count * 8 + 1, sizeof *setup->images);
	if (!setup->images)
		return hf_setup_fail(l->error, HF_ERR_NOMEM, "", 0, "out of memory");
	for (size_t i = 0; i < setup->file_count && !err; i++) {
		bool done = false;

		if (!is_program(&setup->files[i]))
			continue;
		for (size_t k = 0; k < i && !done; k++)
			done = is_program(&setup->files[k]) && same_owner(&setup->files[k], &setup->files[i]);
		if (!done)
			err = load_owner(l, &setup->files[i]);
	}
	if (!err)
		err = link_images(l);
	return err ? err : hide_names(l);
}

/* ---- traces ---- */

/* A part begins where the first of its files does, and has their bytes. */
static void note_part(struct loader *l, const struct hf_setup_file *file, uint64_t offset, uint64_t size)
{
	struct hf_setup_part *part = &l->setup->parts[file->part];

	if (part->size == HF_NOWHERE) {
		part->offset = offset;
		part->size = 0;
	}
	part->size += size;
}

/* Whether a name has the extension of a container. Content alone does not say so of packets, which may look like
 * anything; a container it must be as well. */
static bool is_container(const char *name)
{
	const size_t n = strlen(name);

	for (size_t i = 0; hf_boxes[i]; i++)
		for (size_t k = 0; hf_boxes[i]->suffixes && hf_boxes[i]->suffixes[k]; k++) {
			const size_t size = strlen(hf_boxes[i]->suffixes[k]);

			if (n > size && strcmp(name + n - size, hf_boxes[i]->suffixes[k]) == 0)
				return true;
		}
	return false;
}

/* Hexadecimal text is a container that only the description knows of. */
static const struct hf_box *text_of(const struct hf_setup *setup)
{
	const struct hf_setup_value *value = hf_setup_get(setup, HF_SETUP_ANY, "text");

	return !value ? NULL : strcmp(value->value, hf_box_hex.name) == 0 ? &hf_box_hex :
	       strcmp(value->value, hf_box_hex_words.name) == 0 ? &hf_box_hex_words : NULL;
}

/* One trace file may be compressed, or text. Its size in the stream is then not known before it is read. */
static int check_containers(struct loader *l)
{
	struct hf_setup *setup = l->setup;
	const struct hf_setup_file *packed = NULL;
	size_t traces = 0;

	setup->text = text_of(setup);
	for (size_t i = 0; i < setup->file_count; i++) {
		if (setup->files[i].kind != HF_SETUP_TRACE)
			continue;
		traces++;
		if (setup->text || is_container(setup->files[i].name))
			packed = &setup->files[i];
	}
	if (packed && traces > 1)
		return hf_setup_fail(l->error, HF_ERR_SETUP_VALUE, packed->said_in, packed->line,
				     "'%s': of several trace files none may be %s", packed->name,
				     setup->text ? "text" : "compressed");
	setup->packed = packed;
	if (packed)
		setup->parts[packed->part].size = HF_NOWHERE;
	return 0;
}

static int warn_empty(struct hf_setup *setup)
{
	const struct hf_setup_file *file = setup->files;

	while (file->kind != HF_SETUP_TRACE)
		file++;
	return hf_setup_warn(setup, file->said_in, file->line, "'%s' is empty", file->name);
}

/* The format whose files hold the trace of others, if it is such a file; NULL: the bytes are the trace. */
static const struct hf_codec *holder_of(const struct loader *l, struct hf_src *src)
{
	uint8_t head[HF_PROBE_SIZE];
	size_t n;

	if (hf_src_read_all(src, 0, head, sizeof head, &n, NULL))
		return NULL;
	for (size_t i = 0; l->opener->codecs[i]; i++)
		if (l->opener->codecs[i]->split && l->opener->codecs[i]->probe(head, n))
			return l->opener->codecs[i];
	return NULL;
}

/* pieces[n] end to end, or what they hold. */
static int make_stream(struct loader *l, const struct hf_concat_piece *pieces, size_t n, struct hf_src **ret_stream)
{
	const struct hf_codec *holder = n ? holder_of(l, pieces[0].src) : NULL;
	struct hf_src **src = holder ? calloc(n, sizeof *src) : NULL;
	int err;

	for (size_t i = 0; i < n && src; i++)
		src[i] = pieces[i].src;
	if (src)
		err = holder->split(l->setup, src, n, ret_stream, l->error);
	else if ((err = hf_src_concat_new(pieces, n, ret_stream)) != 0)
		hf_setup_fail(l->error, err, "", 0, "the trace files cannot be put together");
	free(src);
	return err;
}

static int load_traces(struct loader *l, struct hf_src **ret_stream)
{
	struct hf_setup *setup = l->setup;
	struct hf_concat_piece *pieces = calloc(setup->file_count + 1, sizeof *pieces);
	uint64_t offset = 0;
	size_t n = 0;
	int err = 0;

	if (!pieces)
		return hf_setup_fail(l->error, HF_ERR_NOMEM, "", 0, "out of memory");
	for (size_t i = 0; i < setup->file_count && !err; i++) {
		const struct hf_setup_file *file = &setup->files[i];
		struct hf_src *src = NULL;

		if (file->kind != HF_SETUP_TRACE)
			continue;
		err = open_file(l, file, &src);
		if (!err)
			note_part(l, file, offset, src ? src->size : 0);
		if (!src)
			continue;
		offset += src->size;
		pieces[n++] = (struct hf_concat_piece){.src = src, .size = src->size};
	}
	if (!err && n && !offset)
		err = warn_empty(setup);
	if (!err)
		err = make_stream(l, pieces, n, ret_stream);
	else
		while (n)
			hf_src_free(pieces[--n].src);
	free(pieces);
	return err;
}

/* The files that a text names. */
static int load_files(struct loader *l, struct hf_src **ret_stream)
{
	int err = load_programs(l);

	if (!err)
		err = load_traces(l, ret_stream);
	if (!err && (err = check_containers(l))) {
		hf_src_free(*ret_stream);
		*ret_stream = NULL;
	}
	return err;
}

int hf_setup_load(struct hf_setup *setup, const struct hf_setup_opener *opener, struct hf_src **ret_stream,
		  struct hf_setup_error *error)
{
	const struct hf_codec *codec = hf_setup_codec(opener, setup->format);
	struct loader l = {.setup = setup, .opener = opener, .error = error,
			   .arch = codec ? codec->program_arch : HF_ARCH_NONE};
	int err;

	if (!codec)
		return hf_setup_fail(error, HF_ERR_UNSUPPORTED, setup->files[0].name, 0,
				     "format %s is not in this version", setup->format);
	err = setup->reader ? setup->reader->load(setup, opener, ret_stream, error) : load_files(&l, ret_stream);
	if (err)
		return err;
	if (codec->check)
		err = codec->check(setup, error);
	if (!err && codec->remark && (err = codec->remark(setup)))
		hf_setup_fail(error, err, setup->files[0].name, 0, "out of memory");
	if (err) {
		hf_src_free(*ret_stream);
		*ret_stream = NULL;
	}
	return err;
}

static bool is_ini(const char *base)
{
	const size_t n = strlen(base);

	return n > 4 && strcmp(base + n - 4, ".ini") == 0;
}

int hf_setup_read(const struct hf_setup_opener *opener, const char *name, struct hf_setup **ret_setup,
		  struct hf_setup_error *error)
{
	const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name;

	for (size_t i = 0; opener->codecs[i] && !is_ini(base); i++)
		if (opener->codecs[i]->describe)
			return opener->codecs[i]->describe(opener, name, ret_setup, error);
	return strcmp(base, "snapshot.ini") == 0
		       ? hf_setup_read_snapshot(opener, name, ret_setup, error)
		       : hf_setup_read_capture(opener, name, ret_setup, error);
}

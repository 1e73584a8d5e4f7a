/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/facts/executable.h"
#include "codecs/base/bytes.h"
#include "codecs/image/elf_write.h"
#include "codecs/setup/code_size.h"
#include "fs/base/chunk_cache.h"
#include "fs/base/views.h"
#include "fs/facts/facts.h"
#include "fs/facts/opened.h"
#include "fs/facts/shared.h"
#include "fs/program/symbol_files.h"

#include <stdio.h>
#include <stdlib.h>

struct hf_executable {
	uint64_t owner;
	unsigned refs; /* the lock of the executables */
	struct hf_image *image;
	struct hf_elf_symbol_list symbols;
	struct hf_elf *elf;
};

static void free_executable(struct hf_executable *exe)
{
	if (!exe)
		return;
	hf_elf_free(exe->elf);
	hf_symbol_files_free_list(&exe->symbols);
	hf_image_free(exe->image);
	free(exe);
}

/*
 * Adds the jump table of a hart with Zcmt where no code was executed: packets that leave table jumps out can only be
 * decoded with it, so a copy of a view needs it.
 */
static int add_table(struct hf_executable *exe, const struct hf_stream *stream, uint32_t hart)
{
	struct hf_code_size code_size;
	const struct hf_program *program = hf_code_size_of_view(stream, hart, &code_size);
	const uint8_t isa = (uint8_t)hf_stream_isa(stream, hart);
	const uint64_t size = program ? HF_CODE_SIZE_ENTRIES * (hf_stream_xlen(stream, hart) / 8u) : 0;
	int err = 0;

	for (uint64_t i = 0; i < size && !err; i += 2) {
		struct hf_event half = {.kind = HF_EVENT_INSN,
					.insn = {.pc = code_size.jvt + i, .size = 2, .isa = isa}};
		uint64_t n;
		const uint8_t *p = hf_program_at(program, half.insn.pc, &n);
		uint8_t there[2];

		hf_image_read(exe->image, half.insn.pc, there, sizeof there);
		if (n < 2 || hf_get16(there))
			continue;
		half.insn.opcode = hf_get16(p);
		err = hf_image_put(exe->image, &half, 1);
	}
	return err;
}

/* HF_ERR_UNSUPPORTED, with the reason: its code cannot be one image. */
static int load(struct hf_executable *exe, struct hf_open *open, uint32_t hart, char *reason, size_t size)
{
	const struct hf_symbols *lines = NULL;
	int err = hf_index_image(open->index, hart, &exe->image);

	if (err)
		return err;
	if (hf_image_refuses(exe->image, reason, size))
		return HF_ERR_UNSUPPORTED;
	err = add_table(exe, open->stream, hart);
	if (err)
		return err;
	if (hf_symbol_files_fits(&open->symbol_files, open->stream->info.arch)) {
		lines = open->symbol_files.symbols ? hf_symbols_of(open->symbol_files.symbols, hart) : NULL;
		err = hf_symbol_files_list(&open->symbol_files, hart, &exe->symbols);
	}
	if (err)
		return err;
	err = hf_elf_new(exe->image, exe->symbols.symbol, exe->symbols.count, lines, &exe->elf);
	if (err == HF_ERR_LIMIT)
		snprintf(reason, size, "the file would be too large");
	return err == HF_ERR_LIMIT ? HF_ERR_UNSUPPORTED : err;
}

static int make(struct hf_open *open, uint32_t hart, uint64_t owner, char *reason, size_t size,
		struct hf_executable **ret_exe)
{
	struct hf_executable *exe = calloc(1, sizeof *exe);
	int err = exe ? load(exe, open, hart, reason, size) : HF_ERR_NOMEM;

	if (err) {
		free_executable(exe);
		exe = NULL;
	} else {
		exe->owner = owner;
		exe->refs = 1;
	}
	*ret_exe = exe;
	return err;
}

/* The codec writes the text; side has all that it may depend on. */
static int write_side(const struct hf_executable *exe, struct hf_open *open, uint32_t hart, size_t number,
		      struct hf_sink *sink)
{
	size_t view = 0;
	const struct hf_side_file *file = hf_fs_side(number, &view);
	const struct hf_enc_env env = {.params = open->capture->shared->views->options[view]};
	struct hf_side side = {.stream = open->stream, .hart = hart, .env = &env};

	side.segments = hf_elf_segments(exe->elf, &side.segment_count);
	if (!side.segments)
		return HF_ERR_NOMEM;
	hf_image_entry(exe->image, &side.entry);
	file->write(&side, sink);
	free((struct hf_elf_segment *)side.segments);
	return sink->err;
}

static int measure_sides(const struct hf_executable *exe, struct hf_open *open, uint32_t hart,
			 struct hf_facts_view *view)
{
	uint8_t buf[2 * HF_SINK_ROOM];
	int err = 0;

	for (size_t i = HF_VIEW_COUNT; i < HF_VIEW_ALL && !err; i++) {
		struct hf_sink sink;
		size_t of;

		if (!hf_fs_side(i, &of) || view[of].size == HF_NOWHERE)
			continue;
		hf_sink_init_count(&sink, buf, sizeof buf);
		err = write_side(exe, open, hart, i, &sink);
		view[i].size = hf_sink_total(&sink);
	}
	return err;
}

int hf_executable_measure(struct hf_open *open, uint32_t hart, struct hf_facts_view *view, char **ret_refusal)
{
	struct hf_executable *exe;
	char reason[256];
	int err = make(open, hart, 0, reason, sizeof reason, &exe);

	view[HF_VIEW_PROGRAM].size = HF_NOWHERE;
	*ret_refusal = NULL;
	if (!err) {
		view[HF_VIEW_PROGRAM].size = hf_elf_size(exe->elf);
		err = measure_sides(exe, open, hart, view);
	}
	free_executable(exe);
	if (err != HF_ERR_UNSUPPORTED)
		return err;
	*ret_refusal = strdup(reason);
	return *ret_refusal ? 0 : HF_ERR_NOMEM;
}

void hf_executables_init(struct hf_executables *executables)
{
	*executables = (struct hf_executables){.last = NULL};
	pthread_mutex_init(&executables->lock, NULL);
	pthread_cond_init(&executables->changed, NULL);
}

void hf_executables_fini(struct hf_executables *executables)
{
	free_executable(executables->last);
	pthread_mutex_destroy(&executables->lock);
	pthread_cond_destroy(&executables->changed);
}

static void put(struct hf_executables *executables, struct hf_executable *exe)
{
	bool last;

	if (!exe)
		return;
	pthread_mutex_lock(&executables->lock);
	last = --exe->refs == 0;
	pthread_mutex_unlock(&executables->lock);
	if (last)
		free_executable(exe);
}

/* The one of owner, with a reference. NULL: the caller must make it, while others wait, and call keep. */
static struct hf_executable *find(struct hf_executables *executables, uint64_t owner)
{
	struct hf_executable *exe = NULL;

	HF_LOCKED(&executables->lock);
	while (executables->making)
		pthread_cond_wait(&executables->changed, &executables->lock);
	if (executables->last && executables->last->owner == owner) {
		exe = executables->last;
		exe->refs++;
	} else {
		executables->making = true;
	}
	return exe;
}

/* A symbol costs a row of a list, its bytes in the file's layout, and its name. */
static uint64_t memory_of(const struct hf_executable *exe)
{
	enum { SYMBOL = 160 };

	return exe ? hf_image_memory(exe->image) + exe->symbols.count * SYMBOL + hf_elf_lines_memory(exe->elf) : 0;
}

/* After find returned NULL. exe: NULL if it could not be made. */
static void keep(struct hf_executables *executables, struct hf_executable *exe)
{
	struct hf_executable *old = NULL;

	pthread_mutex_lock(&executables->lock);
	executables->making = false;
	if (exe) {
		exe->refs++;
		old = executables->last;
		executables->last = exe;
	}
	pthread_cond_broadcast(&executables->changed);
	pthread_mutex_unlock(&executables->lock);
	put(executables, old);
	if (exe && executables->cache)
		hf_cache_lend(executables->cache, HF_LEND_PROGRAMS, memory_of(exe));
}

/* The hart's program, made or found, with a reference. */
static int get(struct hf_open *open, uint32_t hart, uint64_t owner, struct hf_executable **ret_exe)
{
	struct hf_executables *executables = open->capture->shared->executables;
	char reason[256];
	int err = 0;

	*ret_exe = find(executables, owner);
	if (*ret_exe)
		return 0;
	err = make(open, hart, owner, reason, sizeof reason, ret_exe);
	keep(executables, *ret_exe);
	return err;
}

int hf_executable_side(struct hf_open *open, uint32_t hart, uint64_t owner, size_t side, struct hf_sink *sink)
{
	struct hf_executable *exe;
	int err = get(open, hart, owner, &exe);

	if (!err)
		err = write_side(exe, open, hart, side, sink);
	put(open->capture->shared->executables, exe);
	return err;
}

int hf_executable_read(struct hf_open *open, uint32_t hart, uint64_t owner, uint64_t total, uint64_t offset,
		       size_t size, uint8_t *bytes)
{
	struct hf_executable *exe;
	struct hf_sink sink;
	int err = get(open, hart, owner, &exe);

	if (!err && hf_elf_size(exe->elf) != total)
		err = HF_ERR_MISMATCH;
	if (!err) {
		hf_sink_init_buffer(&sink, bytes, size + HF_SINK_ROOM);
		err = hf_elf_write(exe->elf, offset, size, &sink);
		if (!err && hf_sink_total(&sink) != size)
			err = HF_ERR_MISMATCH;
	}
	put(open->capture->shared->executables, exe);
	if (err < 0 && !hf_err_is_passing(err))
		err = HF_ERR_MISMATCH;
	return err;
}

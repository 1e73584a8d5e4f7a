/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/capture/companion.h"

#include "codecs/image/elf_read.h"
#include "fs/archive/names.h"
#include "fs/capture/trace.h"
#include "fs/archive/path.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <xxhash.h>

#define ET_DYN 3

/* Where the ELF of a capture at path would be. */
static int path_of(const char *path, char buf[HF_PATH_SIZE])
{
	char dir[HF_PATH_SIZE], name[NAME_MAX + 1];
	const char *base = hf_path_split(dir, path);

	if (hf_name_elf(base, name) > NAME_MAX)
		return HF_ERR_NOT_FOUND;
	return hf_path_join(buf, dir, name);
}

static uint64_t stamp_of(const struct stat *st)
{
	const struct hf_stamp stamp = hf_stamp_of(st);
	const uint64_t words[3] = {stamp.ino, (uint64_t)stamp.size, (uint64_t)stamp.mtime_ns};

	/* Without the device, which may be another one after the next mount of the same file system. */
	return XXH3_64bits(words, sizeof words) | 1;
}

int hf_companion_look(const struct hf_archive *archive, const char *path, struct hf_access *access,
		      uint64_t *ret_stamp)
{
	char elf[HF_PATH_SIZE];
	struct stat st;
	int err = path_of(path, elf);

	*ret_stamp = 0;
	if (!err)
		err = hf_archive_stat(archive, elf, &st);
	if (access && err && err != HF_ERR_NOT_FOUND)
		hf_access_close(access);
	if (!err && S_ISREG(st.st_mode)) {
		*ret_stamp = stamp_of(&st);
		if (access)
			hf_access_add(access, &st);
	}
	return hf_err_is_shortage(err) ? err : 0;
}

/* Why the file is no good is the companion's to tell; what is only bad luck is an error. */
static int verdict(struct hf_companion *companion, int err)
{
	if (err >= 0)
		return 0;
	if (hf_err_is_passing(err))
		return err;
	if (!companion->diag.code)
		companion->diag = (struct hf_diag){.code = err, .offset = HF_NOWHERE};
	companion->diag.space = HF_SPACE_FILE;
	hf_symbols_free(companion->symbols);
	companion->symbols = NULL;
	hf_src_free(companion->file);
	companion->file = NULL;
	return 0;
}

static int read_elf(struct hf_companion *companion)
{
	struct hf_elf_file elf;
	int err = hf_elf_file_open(companion->file, &elf, &companion->diag);

	if (err)
		return err;
	companion->relocatable = elf.type == ET_DYN;
	hf_elf_file_close(&elf);
	return hf_symbols_new(companion->file, 0, &companion->symbols, &companion->diag);
}

static int load(struct hf_companion *companion, int64_t mtime_ns, const char *params)
{
	struct hf_identity identity;
	int err = read_elf(companion);

	if (err)
		companion->symbols = NULL;
	err = verdict(companion, err);
	if (err || !companion->symbols || !hf_symbols_count(companion->symbols))
		return err;
	err = hf_identity_of(companion->file, mtime_ns, &identity, NULL);
	if (!err)
		snprintf(companion->params, sizeof companion->params,
			 "%s symbols=%" PRIu64 "-%" PRId64 "-%016" PRIx64 "%016" PRIx64, params, identity.size,
			 identity.mtime_ns, identity.print[1], identity.print[0]);
	return err;
}

static int open_file(struct hf_companion *companion, struct hf_held_files *held, uint64_t stamp, struct stat *ret_st)
{
	int err = hf_held_open_src(held, companion->path, ret_st, &companion->file);

	/* Not ours to read: that does not pass by itself, and the capture is good without. */
	if (err == HF_ERR_DENIED) {
		companion->diag = (struct hf_diag){.code = err, .space = HF_SPACE_FILE, .offset = HF_NOWHERE};
		return 0;
	}
	if (err)
		return err == HF_ERR_NOT_FOUND ? HF_ERR_CHANGED : err;
	return stamp_of(ret_st) == stamp ? 0 : HF_ERR_CHANGED;
}

/* ---- ELF files of a description ---- */

static bool has_own(const struct hf_companion *companion, uint32_t hart)
{
	for (size_t i = 0; i < companion->elf_count; i++)
		if (companion->elf[i].hart == hart)
			return true;
	return false;
}

/* The symbols of all files of that hart into symbols. What a file's damaged table does not tell is not missed. */
static int join_symbols(const struct hf_companion *companion, uint32_t hart, struct hf_symbols *symbols)
{
	int err = 0;

	for (size_t i = 0; i < companion->elf_count && !err; i++) {
		const struct hf_companion_elf *elf = &companion->elf[i];
		struct hf_symbols *more;

		if (elf->hart != hart)
			continue;
		err = hf_symbols_new(elf->file, elf->bias, &more, NULL);
		if (!err) {
			err = hf_symbols_join(symbols, more);
			hf_symbols_free(more);
		} else if (!hf_err_is_passing(err)) {
			err = 0;
		}
	}
	return err;
}

static int add_hart(struct hf_companion *companion, uint32_t hart)
{
	struct hf_symbols *own;
	int err = hf_symbols_new_empty(&own);

	if (err)
		return err;
	err = join_symbols(companion, hart, own);
	if (!err)
		return hf_symbols_set_hart(companion->symbols, hart, own);
	hf_symbols_free(own);
	return err;
}

static int open_described(struct hf_held_files *held, const struct hf_trace *trace,
			  struct hf_companion *companion)
{
	const struct hf_setup *setup = trace->setup;
	int err = 0;

	companion->elf = calloc(setup->file_count + 1, sizeof *companion->elf);
	if (!companion->elf)
		return HF_ERR_NOMEM;
	for (size_t i = 0; i < setup->file_count && !err; i++) {
		if (setup->files[i].kind != HF_SETUP_ELF)
			continue;
		companion->elf[companion->elf_count] =
			(struct hf_companion_elf){.bias = setup->files[i].address, .hart = setup->files[i].hart};
		err = hf_trace_open_member(held, trace, setup->files[i].name,
					   &companion->elf[companion->elf_count].file);
		companion->elf_count += !err;
	}
	if (err || !companion->elf_count)
		return err;
	err = hf_symbols_new_empty(&companion->symbols);
	if (!err)
		err = join_symbols(companion, HF_SETUP_ANY, companion->symbols);
	for (size_t i = 0; i < companion->elf_count && !err; i++)
		if (companion->elf[i].hart != HF_SETUP_ANY &&
		    hf_symbols_of(companion->symbols, companion->elf[i].hart) == companion->symbols)
			err = add_hart(companion, companion->elf[i].hart);
	return err;
}

int hf_companion_open(struct hf_held_files *held, const char *path, const struct hf_trace *trace,
		      uint64_t stamp, const char *params, struct hf_companion *ret_companion)
{
	struct hf_companion *companion = ret_companion;
	char elf[HF_PATH_SIZE];
	struct stat st;
	int err = 0;

	*companion = (struct hf_companion){.path = NULL};
	snprintf(companion->params, sizeof companion->params, "%s", params);
	if (trace->setup) {
		err = open_described(held, trace, companion);
	} else if (stamp) {
		if (path_of(path, elf))
			return HF_ERR_CHANGED;
		companion->path = strdup(elf);
		if (!companion->path)
			return HF_ERR_NOMEM;
		err = open_file(companion, held, stamp, &st);
		if (!err && !companion->diag.code)
			err = load(companion, hf_stamp_of(&st).mtime_ns, params);
	}
	if (err)
		hf_companion_close(companion);
	return err;
}

void hf_companion_close(struct hf_companion *companion)
{
	for (size_t i = 0; i < companion->elf_count; i++)
		hf_src_free(companion->elf[i].file);
	free(companion->elf);
	hf_symbols_free(companion->symbols);
	hf_src_free(companion->file);
	free(companion->path);
	*companion = (struct hf_companion){.path = NULL};
}

bool hf_companion_fits(const struct hf_companion *companion, uint8_t arch)
{
	const uint16_t machine = companion->symbols ? hf_symbols_machine(companion->symbols) : 0;

	return !machine || hf_arch_has_machine(arch, machine);
}

/* ---- all symbols ---- */

/* A list being filled from a file whose addresses are moved. */
struct filling {
	struct hf_elf_symbol_list *list;
	uint64_t bias;
};

static int add_symbol(void *ctx, const struct hf_elf_symbol *symbol)
{
	const struct filling *filling = ctx;
	struct hf_elf_symbol_list *list = filling->list;

	if (hf_array_room(&list->symbol, list->count, &list->cap, sizeof *list->symbol))
		return HF_ERR_NOMEM;
	list->symbol[list->count] = *symbol;
	list->symbol[list->count].address += filling->bias;
	list->symbol[list->count].name = strdup(symbol->name);
	if (!list->symbol[list->count].name)
		return HF_ERR_NOMEM;
	list->count++;
	return 0;
}

static int list_file(struct hf_src *file, uint64_t bias, struct hf_elf_symbol_list *list)
{
	struct filling filling = {list, bias};
	struct hf_elf_file elf;
	int err = hf_elf_file_open(file, &elf, NULL);

	if (err)
		return err;
	err = hf_elf_file_symbols(&elf, add_symbol, &filling, NULL);
	hf_elf_file_close(&elf);
	return err;
}

int hf_companion_list(const struct hf_companion *companion, uint32_t hart, struct hf_elf_symbol_list *ret_list)
{
	const uint32_t owner = has_own(companion, hart) ? hart : HF_SETUP_ANY;
	int err = 0;

	*ret_list = (struct hf_elf_symbol_list){0};
	for (size_t i = 0; i < companion->elf_count && !err; i++) {
		if (companion->elf[i].hart == owner)
			err = list_file(companion->elf[i].file, companion->elf[i].bias, ret_list);
		/* As in join_symbols. */
		if (err && !hf_err_is_passing(err))
			err = 0;
	}
	if (companion->file && companion->symbols && hf_symbols_count(companion->symbols))
		err = list_file(companion->file, 0, ret_list);
	if (err)
		hf_companion_free_list(ret_list);
	return err;
}

void hf_companion_free_list(struct hf_elf_symbol_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free((char *)(uintptr_t)list->symbol[i].name);
	free(list->symbol);
	*list = (struct hf_elf_symbol_list){0};
}

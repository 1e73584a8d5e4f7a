/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/program/symbol_files.h"
#include "codecs/base/array.h"
#include "codecs/base/errors.h"
#include "codecs/image/elf_read.h"
#include "codecs/image/errors.h"
#include "codecs/image/kallsyms.h"
#include "fs/archive/path.h"
#include "fs/archive/stamp.h"
#include "fs/base/views.h"
#include "fs/program/debug_dir.h"
#include "fs/stream/elf_nearby.h"
#include "fs/program/load_addresses.h"
#include "fs/stream/members.h"
#include "fs/stream/trace.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define ET_DYN 3

/* ---- files beside the capture ---- */

/* diag says why the file is no good; a shortage is an error. */
static int verdict(struct hf_symbol_file *file, int err)
{
	if (err >= 0)
		return 0;
	if (hf_err_is_passing(err))
		return err;
	if (!file->diag.code)
		file->diag = (struct hf_diag){.code = err, .offset = HF_NOWHERE};
	file->diag.space = HF_SPACE_FILE;
	hf_src_free(file->src);
	file->src = NULL;
	return 0;
}

/* A file with debug information only may lack the bytes of its segments. */
static int read_header(struct hf_symbol_file *file)
{
	struct hf_elf_file elf;
	int err = hf_elf_file_open(file->src, &elf, &file->diag);

	if (err == HF_ERR_TRUNCATED && !hf_elf_file_open_sections(file->src, &elf, NULL)) {
		err = hf_debug_id_read(&elf, &file->id);
		if (!err && !file->id.build_id_size && !file->id.has_lines)
			err = HF_ERR_TRUNCATED;
	} else if (!err) {
		err = hf_debug_id_read(&elf, &file->id);
	}
	if (!err) {
		file->type = elf.type;
		file->machine = elf.machine;
		file->diag = (struct hf_diag){0};
		hf_elf_file_close(&elf);
	}
	return verdict(file, err);
}

/* A file that may not be read, or is not there, is noted and no error: the capture does not need it. */
static int refuse(struct hf_symbol_file *file, int err)
{
	file->src = NULL;
	file->diag = (struct hf_diag){.code = err, .space = HF_SPACE_FILE, .offset = HF_NOWHERE};
	return 0;
}

static int open_file(struct hf_symbol_file *file, struct hf_open_files *open_files,
		     const struct hf_elf_nearby_file *beside)
{
	struct stat st;
	int err = hf_open_file_as_src(open_files, beside->path, &st, &file->src);

	if (err == HF_ERR_DENIED)
		return refuse(file, err);
	if (!err && hf_elf_nearby_stamp_of(&st) == beside->stamp) {
		file->mtime_ns = hf_stamp_of(&st).mtime_ns;
		return read_header(file);
	}
	if (err)
		file->src = NULL;
	return err && err != HF_ERR_NOT_FOUND ? err : HF_ERR_CHANGED;
}

static void close_file(struct hf_symbol_file *file)
{
	hf_src_free(file->src);
	free(file->path);
	*file = (struct hf_symbol_file){0};
}

/* dir: the debug directory, or NULL. */
static char *shown_path(const char *dir, const char *path)
{
	char *shown;

	return asprintf(&shown, "%s%s%s", dir ? dir : "", dir ? "/" : "", path) < 0 ? NULL : shown;
}

/* Adds a file that is open, or (told) is to be listed with its error; closes any other. */
static int keep_file(struct hf_symbol_files *files, struct hf_symbol_file *file, bool told)
{
	const bool wanted = file->src || told, full = files->file_count == HF_LOAD_ADDRESSES_FILES_MAX;
	int err = 0;

	if (wanted && !full)
		err = hf_array_reserve(&files->file, files->file_count + 1, &files->file_cap, sizeof *files->file);
	if (wanted && !full && !err) {
		files->file[files->file_count++] = *file;
		return 0;
	}
	files->left_out += wanted;
	files->relocatable += file->diag.code == HF_ERR_ELF_RELOCATABLE;
	close_file(file);
	return err;
}

/* Adds the ELF files of x.d or of the debug directory (dir). Other files may lie there, too: they are not listed. */
static int add_files(struct hf_symbol_files *files, struct hf_open_files *open_files, const char *dir,
		     const struct hf_elf_nearby *beside)
{
	int err = 0;

	files->left_out += beside->left_out;
	files->withheld += beside->withheld;
	for (size_t i = 0; i < beside->count && !err; i++) {
		struct hf_symbol_file file = {.path = shown_path(dir, beside->file[i].path)};

		err = file.path ? open_file(&file, open_files, &beside->file[i]) : HF_ERR_NOMEM;
		if (err)
			close_file(&file);
		else
			err = keep_file(files, &file, i == 0 && beside->stem);
	}
	return err;
}

static int open_beside(struct hf_symbol_files *files, struct hf_open_files *open_files, const char *path,
		       uint64_t stamp)
{
	struct hf_elf_nearby beside;
	int err = hf_elf_nearby_list(open_files->archive, path, NULL, &beside);

	if (err)
		return err;
	files->stem = beside.stem;
	err = hf_elf_nearby_stamp(&beside) == stamp ? add_files(files, open_files, NULL, &beside) : HF_ERR_CHANGED;
	hf_elf_nearby_free(&beside);
	return err;
}

static int open_debug_dir(struct hf_symbol_files *files, uint64_t stamp)
{
	struct hf_elf_nearby beside;
	int err = hf_debug_dir_list(files->dir, stamp, &beside);

	if (err)
		return err;
	err = add_files(files, &files->dir->open_files, files->dir->path, &beside);
	hf_elf_nearby_free(&beside);
	return err;
}

/* ---- symbols of the ELF files at their load addresses ---- */

/* Whether one of the first count belongs to that hart only. */
static bool has_own(const struct hf_symbol_files *files, size_t count, uint32_t hart)
{
	for (size_t i = 0; i < count; i++)
		if (files->elf[i].hart == hart)
			return true;
	return false;
}

/* Whether the hart has that ELF. Those found for all harts come on top of the program that a description gives it. */
static bool is_of(const struct hf_symbol_files *files, size_t i, uint32_t hart)
{
	const struct hf_placed_elf *elf = &files->elf[i];

	if (elf->hart == hart || !files->given || elf->hart != HF_SETUP_ANY)
		return elf->hart == hart;
	return i >= files->given || !has_own(files, files->given, hart);
}

static bool next_executed(void *ctx, uint64_t address, uint64_t *ret_start, uint64_t *ret_end)
{
	return hf_load_addresses_executed(ctx, address, ret_start, ret_end);
}

/* The source lines of the executed code of an ELF. If they are damaged, there are none. */
static int add_lines(const struct hf_symbol_files *files, const struct hf_placed_elf *elf, struct hf_symbols *symbols)
{
	const struct hf_lines_filter filter = {next_executed, files->addresses};
	struct hf_lines *lines;
	int err;

	if (!(files->options & HF_SYMBOLS_LINES))
		return 0;
	err = hf_lines_new(elf->debug ? elf->debug : elf->src, elf->bias, files->addresses ? &filter : NULL, &lines,
			   NULL);
	if (err)
		return hf_err_is_passing(err) ? err : 0;
	if (hf_lines_count(lines))
		return hf_symbols_add_lines(symbols, lines);
	hf_lines_free(lines);
	return 0;
}

/* The same for inlined functions. If they are damaged, they are shown as unknown. */
static int add_inlined(const struct hf_symbol_files *files, const struct hf_placed_elf *elf, struct hf_symbols *symbols)
{
	const struct hf_lines_filter filter = {next_executed, files->addresses};
	struct hf_inlined *inlined;
	int err;

	if (!(files->options & HF_SYMBOLS_INLINED))
		return 0;
	err = hf_inlined_new(elf->debug ? elf->debug : elf->src, elf->bias, files->options & HF_SYMBOLS_DEMANGLE,
			     files->addresses ? &filter : NULL, &inlined, NULL);
	if (err && !hf_err_is_passing(err))
		err = hf_inlined_new_unknown(elf->src, elf->bias, &inlined);
	if (err)
		return hf_err_is_passing(err) ? err : 0;
	if (hf_inlined_count(inlined))
		return hf_symbols_add_inlined(symbols, inlined);
	hf_inlined_free(inlined);
	return 0;
}

/* The file that has that source: a candidate, or a debug file. NULL: it is a program of the description. */
static const struct hf_symbol_file *file_of(const struct hf_symbol_files *files, const struct hf_src *src)
{
	for (size_t i = 0; i < files->file_count; i++)
		if (files->file[i].src == src)
			return &files->file[i];
	for (size_t i = 0; i < files->debug_count; i++)
		if (files->debug[i].src == src)
			return &files->debug[i];
	return NULL;
}

static const char *path_of(const struct hf_symbol_files *files, const struct hf_placed_elf *elf)
{
	const struct hf_symbol_file *file = file_of(files, elf->src);

	return file ? file->path : elf->name;
}

/* Adds where its code lies, with lines and inlined functions. */
static int add_addresses(const struct hf_symbol_files *files, const struct hf_placed_elf *elf,
			 struct hf_symbols *symbols)
{
	int err = hf_symbols_add_object(symbols, elf->src, elf->bias, path_of(files, elf));

	if (!err)
		err = add_lines(files, elf, symbols);
	return err ? err : add_inlined(files, elf, symbols);
}

/* Stubs of the PLT are in the file itself, as are symbols that its debug file does not have. */
static int join_own_symbols(const struct hf_symbol_files *files, const struct hf_placed_elf *elf,
			    struct hf_symbols *symbols)
{
	struct hf_symbols *more;
	int err = hf_symbols_new(elf->src, elf->bias, files->options, &more, NULL);

	if (err)
		return hf_err_is_passing(err) ? err : 0;
	err = hf_symbols_join(symbols, more);
	hf_symbols_free(more);
	return err;
}

/* Adds the symbols of all files of that hart. A damaged symbol table adds none. */
static int join_symbols(const struct hf_symbol_files *files, uint32_t hart, struct hf_symbols *symbols)
{
	int err = 0;

	for (size_t i = 0; i < files->elf_count && !err; i++) {
		const struct hf_placed_elf *elf = &files->elf[i];
		struct hf_symbols *more;

		if (!is_of(files, i, hart))
			continue;
		err = hf_symbols_new(elf->debug ? elf->debug : elf->src, elf->bias, files->options, &more, NULL);
		if (!err) {
			err = hf_symbols_join(symbols, more);
			hf_symbols_free(more);
			if (!err)
				err = add_addresses(files, elf, symbols);
			if (!err && elf->debug)
				err = join_own_symbols(files, elf, symbols);
		} else if (!hf_err_is_passing(err)) {
			err = 0;
		}
	}
	return err;
}

static int add_hart(struct hf_symbol_files *files, uint32_t hart)
{
	struct hf_symbols *own;
	int err = hf_symbols_new_empty(&own);

	if (err)
		return err;
	err = join_symbols(files, hart, own);
	if (!err)
		return hf_symbols_set_hart(files->symbols, hart, own);
	hf_symbols_free(own);
	return err;
}

/* For all harts, into new files->symbols. */
static int join_all(struct hf_symbol_files *files)
{
	int err = hf_symbols_new_empty(&files->symbols);

	if (err) {
		files->symbols = NULL;
		return err;
	}
	err = join_symbols(files, HF_SETUP_ANY, files->symbols);
	for (size_t i = 0; i < files->elf_count && !err; i++)
		if (files->elf[i].hart != HF_SETUP_ANY &&
		    hf_symbols_of(files->symbols, files->elf[i].hart) == files->symbols)
			err = add_hart(files, files->elf[i].hart);
	return err;
}

/* ---- ELF files of a description ---- */

/* A program with the address that the description gives. */
static int open_program(struct hf_symbol_files *files, struct hf_open_files *open_files, const struct hf_trace *trace,
			const struct hf_setup_file *file)
{
	struct hf_placed_elf *elf = &files->elf[files->elf_count];
	struct stat st;
	int err;

	*elf = (struct hf_placed_elf){.bias = file->address, .hart = file->hart};
	hf_name_file(elf->name, file->name);
	if (file->in_debug_dir)
		err = files->dir->path ? hf_debug_dir_open(files->dir, file->name, &st, &elf->src) : HF_ERR_CHANGED;
	else
		err = hf_trace_open_member(open_files, trace, file->name, &elf->src);
	if (!err && file->kind == HF_SETUP_KALLSYMS) {
		elf->bias = 0;
		err = hf_kallsyms_elf(elf->src, file->address, file->size, &elf->src);
	}
	files->given = files->elf_count += !err;
	return err;
}

/* A file to be looked for in the code. If it is not there, that is noted. */
static int open_candidate(struct hf_symbol_files *files, struct hf_open_files *open_files, const struct hf_trace *trace,
			  const char *name)
{
	struct hf_symbol_file file = {.src = NULL};
	char path[HF_PATH_SIZE];
	struct stat st;
	int err = hf_members_resolve(trace->members->ini, name, path);

	file.path = strdup(err ? name : path);
	if (!file.path)
		return HF_ERR_NOMEM;
	if (!err)
		err = hf_open_file_as_src(open_files, path, &st, &file.src);
	if (err == HF_ERR_DENIED || err == HF_ERR_NOT_FOUND) {
		err = refuse(&file, err);
	} else if (!err) {
		file.mtime_ns = hf_stamp_of(&st).mtime_ns;
		err = read_header(&file);
	}
	if (!err)
		return keep_file(files, &file, true);
	close_file(&file);
	return err;
}

static int open_described(struct hf_open_files *open_files, const struct hf_trace *trace, struct hf_symbol_files *files)
{
	const struct hf_setup *setup = trace->setup;
	int err = 0;

	files->elf = calloc(setup->file_count + 1, sizeof *files->elf);
	if (!files->elf)
		return HF_ERR_NOMEM;
	for (size_t i = 0; i < setup->file_count && !err; i++) {
		if (setup->files[i].kind == HF_SETUP_ELF || setup->files[i].kind == HF_SETUP_KALLSYMS)
			err = open_program(files, open_files, trace, &setup->files[i]);
		else if (setup->files[i].kind == HF_SETUP_SYMBOLS)
			err = open_candidate(files, open_files, trace, setup->files[i].name);
	}
	return err;
}

/* ---- placed files ---- */

/* Whether the only file is x.elf, at its own addresses: then its machine counts, and errors in it are reported. */
static bool is_stem_alone(const struct hf_symbol_files *files)
{
	return files->stem && files->elf_count == 1 && files->elf[0].src == files->file[0].src &&
	       files->elf[0].bias == 0 && files->elf[0].hart == HF_SETUP_ANY && !files->elf[0].debug;
}

static int load_symbols(struct hf_symbol_files *files)
{
	struct hf_symbol_file *stem = files->file;
	int err;

	hf_symbols_free(files->symbols);
	files->symbols = NULL;
	if (!files->elf_count)
		return 0;
	if (!is_stem_alone(files))
		return join_all(files);
	err = hf_symbols_new(stem->src, 0, files->options, &files->symbols, &stem->diag);
	if (!err)
		return add_addresses(files, files->elf, files->symbols);
	files->symbols = NULL;
	files->elf_count = 0;
	return verdict(stem, err);
}

/* The identities of the files so far. Those of a description are part of the trace's own identity. */
struct made_of {
	struct hf_identity all;
	uint64_t addresses;
	bool some;
};

static int add_made_of(const struct hf_symbol_files *files, const struct hf_src *src, struct made_of *made)
{
	const struct hf_symbol_file *file = src ? file_of(files, src) : NULL;
	struct hf_identity one;
	int err = file ? hf_identity_of(file->src, file->mtime_ns, &one, NULL) : 0;

	if (err || !file)
		return err;
	if (made->some)
		hf_identity_add(&made->all, &one);
	else
		made->all = one;
	made->some = true;
	return 0;
}

/* Sets params: the key of views with symbols has the identities and addresses of the files. */
static int set_params(struct hf_symbol_files *files)
{
	const char *params = hf_view_params(files->views, hf_views_naming());
	struct made_of made = {.some = false};
	int err = 0;

	snprintf(files->params, sizeof files->params, "%s", params);
	if (!files->symbols || (!hf_symbols_count(files->symbols) && is_stem_alone(files)))
		return 0;
	for (size_t i = 0; i < files->elf_count && !err; i++) {
		const struct hf_placed_elf *elf = &files->elf[i];
		const uint64_t words[3] = {made.addresses, elf->bias, elf->hart};

		err = add_made_of(files, elf->src, &made);
		made.addresses = XXH3_64bits(words, sizeof words);
		if (!err)
			err = add_made_of(files, elf->debug, &made);
	}
	if (err || !made.some)
		return err;
	snprintf(files->params, sizeof files->params, "%s symbols=%" PRIu64 "-%" PRId64 "-%016" PRIx64 "%016" PRIx64,
		 params, made.all.size, made.all.mtime_ns, made.all.print[1], made.all.print[0]);
	if (!is_stem_alone(files))
		snprintf(files->params + strlen(files->params), sizeof files->params - strlen(files->params),
			 "-%016" PRIx64, made.addresses);
	return 0;
}

/* ---- debug files ---- */

/* Among the files that were not found in the code. */
static int find_beside(const struct hf_symbol_files *files, const struct hf_debug_id *id, const struct hf_src *src,
		       struct hf_src **ret_debug)
{
	int err = 0;

	for (size_t k = 0; k < files->file_count && !err && !*ret_debug; k++) {
		const struct hf_symbol_file *other = &files->file[k];
		const char *slash = strrchr(other->path, '/');
		bool is = false;

		if (!other->src || other->src == src ||
		    (files->addresses && files->addresses->file[k].verdict == HF_BIAS_FOUND))
			continue;
		err = hf_debug_is_of(id, &other->id, slash ? slash + 1 : other->path, other->src, &is);
		if (is)
			*ret_debug = other->src;
	}
	return err;
}

/* The file at that path of the debug directory, opened once. One that is no ELF counts as missing. */
static int open_debug(struct hf_symbol_files *files, const char *path, struct hf_symbol_file **ret_file)
{
	struct hf_symbol_file file = {.path = shown_path(files->dir->path, path)};
	struct stat st;
	int err;

	*ret_file = NULL;
	if (!file.path ||
	    hf_array_reserve(&files->debug, files->debug_count + 1, &files->debug_cap, sizeof *files->debug)) {
		free(file.path);
		return HF_ERR_NOMEM;
	}
	for (size_t i = 0; i < files->debug_count && !*ret_file; i++)
		if (strcmp(files->debug[i].path, file.path) == 0)
			*ret_file = &files->debug[i];
	err = *ret_file ? 0 : hf_debug_dir_open(files->dir, path, &st, &file.src);
	if (!err && !*ret_file) {
		file.mtime_ns = hf_stamp_of(&st).mtime_ns;
		err = read_header(&file);
		if (!err && file.src) {
			files->debug[files->debug_count] = file;
			*ret_file = &files->debug[files->debug_count++];
			return 0;
		}
	}
	close_file(&file);
	return hf_err_is_passing(err) && err != HF_ERR_NOT_FOUND && err != HF_ERR_DENIED ? err : 0;
}

static int find_in_debug_dir(struct hf_symbol_files *files, const struct hf_debug_id *id, struct hf_src **ret_debug)
{
	char path[HF_PATH_SIZE];
	int err = 0;

	for (unsigned i = 0; i < HF_DEBUG_DIR_PLACES && files->dir->path && !err && !*ret_debug; i++) {
		struct hf_symbol_file *file = NULL;
		bool is = false;

		if (!hf_debug_dir_place(id, i, path, sizeof path))
			continue;
		err = open_debug(files, path, &file);
		if (err || !file)
			continue;
		err = hf_debug_is_of(id, &file->id, id->link, file->src, &is);
		if (is)
			*ret_debug = file->src;
	}
	return err;
}

/* The id of the program of a description. */
static int read_id(struct hf_src *src, struct hf_debug_id *ret_id)
{
	struct hf_elf_file elf;
	int err = hf_elf_file_open(src, &elf, NULL);

	*ret_id = (struct hf_debug_id){.build_id_size = 0};
	if (err)
		return hf_err_is_passing(err) ? err : 0;
	err = hf_debug_id_read(&elf, ret_id);
	hf_elf_file_close(&elf);
	return err;
}

/* The file with the debug information of that one. */
static int find_debug(struct hf_symbol_files *files, struct hf_placed_elf *elf)
{
	const struct hf_symbol_file *file = file_of(files, elf->src);
	struct hf_debug_id id;
	int err = 0;

	elf->debug = NULL;
	if (file)
		id = file->id;
	else
		err = read_id(elf->src, &id);
	if (!err)
		err = find_beside(files, &id, elf->src, &elf->debug);
	if (!err && !elf->debug)
		err = find_in_debug_dir(files, &id, &elf->debug);
	return err;
}

/* Makes elf[] of those of the description and of the rows. */
static int take_rows(struct hf_symbol_files *files, const struct hf_load_address *row, size_t count)
{
	struct hf_placed_elf *elf = calloc(files->given + count + 1, sizeof *elf);
	int err = 0;

	if (!elf)
		return HF_ERR_NOMEM;
	for (size_t i = 0; i < files->given; i++)
		elf[i] = files->elf[i];
	for (size_t i = 0; i < count; i++)
		elf[files->given + i] = (struct hf_placed_elf){
			.src = files->file[row[i].file].src, .bias = row[i].bias, .hart = row[i].hart};
	free(files->elf);
	files->elf = elf;
	files->elf_count = files->given + count;
	for (size_t i = 0; i < files->elf_count && !err; i++)
		err = find_debug(files, &elf[i]);
	return err ? err : load_symbols(files);
}

/* Takes the symbols that need no index. */
static int take_known(struct hf_symbol_files *files)
{
	const bool alone = files->file_count == 1 && files->stem && files->file[0].src && files->file[0].type != ET_DYN;
	int err = 0;

	files->waiting = files->file_count && !alone;
	files->trusted = alone;
	if (files->given)
		err = take_rows(files, NULL, 0);
	return err ? err : set_params(files);
}

int hf_symbol_files_open(const struct hf_symbol_files_ask *ask, struct hf_symbol_files *ret_files)
{
	struct hf_symbol_files *files = ret_files;
	int err = 0;

	*files = (struct hf_symbol_files){
		.views = ask->views, .options = hf_views_symbols(ask->views), .dir = ask->debug_dir};
	if (ask->trace->setup)
		err = open_described(ask->open_files, ask->trace, files);
	else if (ask->stamp->beside)
		err = open_beside(files, ask->open_files, ask->path, ask->stamp->beside);
	if (!err)
		err = open_debug_dir(files, ask->stamp->debug);
	if (!err)
		err = take_known(files);
	if (err)
		hf_symbol_files_close(files);
	return err;
}

int hf_symbol_files_trust(struct hf_symbol_files *files)
{
	int err;

	if (!files->trusted)
		return 0;
	files->trusted = false;
	err = take_rows(files, &(struct hf_load_address){0, HF_SETUP_ANY, 0}, 1);
	return err ? err : set_params(files);
}

void hf_symbol_files_close(struct hf_symbol_files *files)
{
	for (size_t i = 0; i < files->given; i++)
		hf_src_free(files->elf[i].src);
	for (size_t i = 0; i < files->file_count; i++)
		close_file(&files->file[i]);
	for (size_t i = 0; i < files->debug_count; i++)
		close_file(&files->debug[i]);
	free(files->file);
	free(files->debug);
	free(files->elf);
	hf_load_addresses_unref(files->addresses);
	hf_symbols_free(files->symbols);
	*files = (struct hf_symbol_files){0};
}

/* ---- load addresses ---- */

/* The file with the addresses of its code: none if it cannot be read any more. */
static struct hf_load_address_file place_file(const struct hf_symbol_files *files, size_t i)
{
	const struct hf_symbol_file *from = &files->file[i];
	struct hf_load_address_file file = {.src = from->src, .machine = from->machine, .stem = files->stem && i == 0};
	struct hf_elf_file elf;

	if (!from->src || hf_elf_file_open(from->src, &elf, NULL))
		return file;
	file.first = UINT64_MAX;
	for (size_t k = 0; k < elf.segment_count; k++) {
		const struct hf_elf_segment *segment = &elf.segments[k];

		if (!(segment->flags & HF_ELF_X))
			continue;
		if (segment->address < file.first)
			file.first = segment->address;
		if (segment->address + segment->size > file.end)
			file.end = segment->address + segment->size;
		file.code += segment->size;
	}
	if (file.first == UINT64_MAX)
		file.first = file.end = 0;
	hf_elf_file_close(&elf);
	return file;
}

static int find_addresses(const struct hf_symbol_files *files, struct hf_index *index,
			  struct hf_load_addresses **ret_addresses)
{
	struct hf_load_address_file file[HF_LOAD_ADDRESSES_FILES_MAX];

	for (size_t i = 0; i < files->file_count; i++)
		file[i] = place_file(files, i);
	return hf_load_addresses_find(index, file, files->file_count, ret_addresses);
}

/* Those that are kept for this version, or else found now and kept. */
static int addresses_of(const struct hf_symbol_files *files, struct hf_kept_load_addresses *kept, uint64_t version,
			struct hf_index *index, struct hf_load_addresses **ret_addresses)
{
	struct hf_load_addresses *old = NULL;
	int err;

	pthread_mutex_lock(&kept->lock);
	*ret_addresses = kept->version == version ? hf_load_addresses_ref(kept->addresses) : NULL;
	pthread_mutex_unlock(&kept->lock);
	if (*ret_addresses)
		return 0;
	err = find_addresses(files, index, ret_addresses);
	/* Errors of x.elf are not kept: each one who opens it has to find them. */
	if (err || (files->stem && !files->file[0].src))
		return err;
	pthread_mutex_lock(&kept->lock);
	if (kept->version <= version) {
		old = kept->addresses;
		kept->addresses = hf_load_addresses_ref(*ret_addresses);
		kept->version = version;
	}
	pthread_mutex_unlock(&kept->lock);
	hf_load_addresses_unref(old);
	return 0;
}

int hf_symbol_files_place(struct hf_symbol_files *files, struct hf_kept_load_addresses *kept, uint64_t version,
			  struct hf_index *index, bool *ret_moved)
{
	char before[sizeof files->params];
	int err;

	if (ret_moved)
		*ret_moved = false;
	if (!files->file_count || files->addresses)
		return 0;
	err = addresses_of(files, kept, version, index, &files->addresses);
	if (err) {
		files->addresses = NULL;
		return err;
	}
	memcpy(before, files->params, sizeof before);
	assert(files->addresses);
	err = take_rows(files, files->addresses->row, files->addresses->count);
	if (!err)
		err = set_params(files);
	if (ret_moved)
		*ret_moved = files->waiting || strcmp(before, files->params) != 0;
	files->waiting = files->trusted = false;
	return err;
}

int hf_symbol_files_place_in(struct hf_symbol_files *files, struct hf_kept_load_addresses *kept, uint64_t version,
			     const struct hf_store_dir *dir, const struct hf_identity *identity, bool *ret_moved)
{
	struct hf_index *index;
	int err;

	if (ret_moved)
		*ret_moved = false;
	if (!files->file_count || files->addresses)
		return 0;
	err = hf_index_open(dir, identity, &index);
	if (err)
		return err == HF_ERR_NOT_FOUND ? hf_symbol_files_trust(files) : err;
	err = hf_symbol_files_place(files, kept, version, index, ret_moved);
	hf_index_close(index);
	return err;
}

bool hf_symbol_files_fits(const struct hf_symbol_files *files, uint8_t arch)
{
	const uint16_t machine = files->symbols ? hf_symbols_machine(files->symbols) : 0;

	return !machine || hf_arch_has_machine(arch, machine);
}

/* ---- all symbols ---- */

/* A list that is filled with the symbols of a file, moved by its bias. */
struct filling {
	struct hf_elf_symbol_list *list;
	uint64_t bias;
};

static int add_symbol(void *ctx, const struct hf_elf_symbol *symbol)
{
	const struct filling *filling = ctx;
	struct hf_elf_symbol_list *list = filling->list;

	if (hf_array_reserve(&list->symbol, list->count + 1, &list->cap, sizeof *list->symbol))
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
	if (!err)
		err = hf_elf_file_plt(&elf, add_symbol, &filling, NULL);
	hf_elf_file_close(&elf);
	return err;
}

/* A debug file has all symbols of its program but the stubs of the PLT. */
int hf_symbol_files_list_elf(const struct hf_placed_elf *elf, uint64_t bias, struct hf_elf_symbol_list *list)
{
	return list_file(elf->debug ? elf->debug : elf->src, bias, list);
}

int hf_symbol_files_list(const struct hf_symbol_files *files, uint32_t hart, struct hf_elf_symbol_list *ret_list)
{
	const uint32_t owner = has_own(files, files->elf_count, hart) ? hart : HF_SETUP_ANY;
	int err = 0;

	*ret_list = (struct hf_elf_symbol_list){0};
	for (size_t i = 0; i < files->elf_count && !err; i++) {
		if (is_of(files, i, owner))
			err = hf_symbol_files_list_elf(&files->elf[i], files->elf[i].bias, ret_list);
		/* As in join_symbols. */
		if (err && !hf_err_is_passing(err))
			err = 0;
	}
	if (err)
		hf_symbol_files_free_list(ret_list);
	return err;
}

void hf_symbol_files_free_list(struct hf_elf_symbol_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free((char *)(uintptr_t)list->symbol[i].name);
	free(list->symbol);
	*list = (struct hf_elf_symbol_list){0};
}

const struct hf_placed_elf *hf_symbol_files_elf_of(const struct hf_symbol_files *files, uint32_t hart, const char *name,
						   const uint64_t *bias)
{
	const uint32_t owner = has_own(files, files->elf_count, hart) ? hart : HF_SETUP_ANY;
	char its[HF_LINES_NAME_MAX + 1];

	for (size_t i = 0; i < files->elf_count; i++) {
		const struct hf_placed_elf *elf = &files->elf[i];

		hf_name_file(its, path_of(files, elf));
		if (is_of(files, i, owner) && !strcmp(its, name) && (!bias || *bias == elf->bias))
			return elf;
	}
	return NULL;
}

/* ---- all lines ---- */

int hf_symbol_files_lines(const struct hf_symbol_files *files, uint32_t hart,
			  int (*fn)(void *ctx, struct hf_lines *lines), void *ctx)
{
	const uint32_t owner = has_own(files, files->elf_count, hart) ? hart : HF_SETUP_ANY;
	int err = 0;

	for (size_t i = 0; i < files->elf_count && !err; i++) {
		const struct hf_placed_elf *elf = &files->elf[i];
		struct hf_lines *lines;

		if (!is_of(files, i, owner))
			continue;
		err = hf_lines_new(elf->debug ? elf->debug : elf->src, elf->bias, NULL, &lines, NULL);
		/* All lines may be too many, where those that were executed are not. */
		if (!err)
			err = fn(ctx, lines);
		else if (!hf_err_is_passing(err) && err != HF_ERR_ELF_LIMIT)
			err = 0;
	}
	return err;
}

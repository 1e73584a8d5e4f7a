/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/rows/hart.h"
#include "codecs/base/array.h"
#include "codecs/isa/riscv.h"
#include "codecs/setup/code_size.h"
#include "fs/capture/open_pool.h"
#include "fs/facts/capture.h"
#include "fs/rows/rows.h"

#include <stdlib.h>
#include <string.h>

static void free_hart(struct hf_rows_hart *hart)
{
	if (hart->summary)
		hf_summary_close(hart->summary);
	hf_functions_free(&hart->functions);
	hf_counts_free(&hart->counts);
	hf_summary_tree_free(hart->tree);
	hf_cursor_fini(&hart->cursor);
	hf_open_put(hart->open);
	free(hart);
}

/* The number of a hart in the session, perhaps a new one. */
static int number_of(struct hf_rows_session *session, const char *path, uint32_t id, uint32_t *ret_number)
{
	size_t n = 0;
	int err;

	while (n < session->pair_count && (session->pairs[n].id != id || strcmp(session->pairs[n].path, path) != 0))
		n++;
	*ret_number = (uint32_t)n;
	if (n < session->pair_count)
		return 0;
	err = n < HF_ROWS_HARTS ? hf_array_reserve(&session->pairs, n + 1, &session->pair_room, sizeof *session->pairs)
				: HF_ERR_LIMIT;
	if (err)
		return err;
	session->pairs[n] = (struct hf_rows_pair){strdup(path), id};
	if (!session->pairs[n].path)
		return HF_ERR_NOMEM;
	session->pair_count++;
	return 0;
}

/* As in listings: symbols of another machine name nothing. */
static void find_symbols(struct hf_rows_hart *hart)
{
	const struct hf_symbols *all = hart->open->symbol_files.symbols;
	const struct hf_symbols *symbols = all ? hf_symbols_of(all, hart->info.id) : NULL;
	const uint16_t machine = symbols ? hf_symbols_machine(symbols) : 0;

	if (machine && !hf_arch_has_machine(hart->open->stream->info.arch, machine))
		symbols = NULL;
	hart->symbols = symbols;
	hart->has_lines = symbols && hf_symbols_have_lines(symbols);
}

static int new_hart(const struct hf_index_hart *info, struct hf_open *open, uint32_t number,
		    struct hf_rows_hart **ret_hart)
{
	struct hf_rows_hart *hart = calloc(1, sizeof *hart);

	if (!hart)
		return HF_ERR_NOMEM;
	hart->number = number;
	hart->info = *info;
	hart->open = open;
	hart->cursor = (struct hf_cursor){
		.stream = open->stream, .src = open->source, .index = open->index, .hart = info->id};
	find_symbols(hart);
	hart->arm = open->stream->info.arch == HF_ARCH_ARM;
	hart->extensions = hf_code_size_extensions(open->stream, info->id);
	*ret_hart = hart;
	return 0;
}

static struct hf_rows_hart *find(const struct hf_rows_session *session, uint32_t number, const struct hf_open *open)
{
	for (struct hf_link *link = session->harts.next; link != &session->harts; link = link->next) {
		struct hf_rows_hart *hart = HF_OWNER(link, struct hf_rows_hart, used);

		if (hart->number == number && hart->open == open)
			return hart;
	}
	return NULL;
}

int hf_rows_hart_get(struct hf_rows_session *session, struct hf_capture *capture, const struct hf_index_hart *info,
		     struct hf_open *open, struct hf_rows_hart **ret_hart)
{
	struct hf_rows_hart *hart = NULL;
	uint32_t number;
	int err = number_of(session, capture->path, info->id, &number);

	if (!err)
		hart = find(session, number, open);
	if (hart) {
		hf_link_remove(&hart->used);
		hf_open_put(open);
	} else if (!err) {
		err = new_hart(info, open, number, &hart);
		session->hart_count += !err;
	}
	if (err) {
		hf_open_put(open);
		return err;
	}
	hf_link_add(&session->harts, &hart->used);
	hart->refs++;
	*ret_hart = hart;
	return 0;
}

void hf_rows_hart_put(struct hf_rows_session *session, struct hf_rows_hart *hart)
{
	hart->refs--;
	hf_rows_hart_drop(session, HF_ROWS_HARTS_KEPT);
}

void hf_rows_hart_drop(struct hf_rows_session *session, size_t keep)
{
	for (struct hf_link *link = session->harts.prev, *newer; link != &session->harts; link = newer) {
		struct hf_rows_hart *hart = HF_OWNER(link, struct hf_rows_hart, used);

		newer = link->prev;
		if (hart->refs || session->hart_count <= keep)
			continue;
		hf_link_remove(link);
		session->hart_count--;
		free_hart(hart);
	}
}

struct hf_summary *hf_rows_hart_summary(struct hf_rows_hart *hart)
{
	if (!hart->summary_asked && hf_open_summary(hart->open, &hart->summary))
		hart->summary = NULL;
	hart->summary_asked = true;
	return hart->summary;
}

void hf_rows_hart_drop_index(struct hf_rows_hart *hart)
{
	if (!hart->summary)
		return;
	hf_summary_remove(hart->summary);
	hf_summary_close(hart->summary);
	hart->summary = NULL;
}

struct hf_profiled hf_rows_hart_profiled(const struct hf_rows_session *session, const struct hf_rows_hart *hart)
{
	return (struct hf_profiled){.hart = hart->info.id,
				    .counts = &hart->counts,
				    .tree = hart->tree,
				    .processes = hart->open->trace.setup ? hart->open->trace.setup->processes : NULL,
				    .symbols = hart->symbols,
				    .disasm = session->disasm,
				    .extensions = hart->extensions};
}

int hf_rows_hart_count(struct hf_rows_hart *hart)
{
	struct hf_profiled of;
	int err;

	if (hart->counted)
		return 0;
	err = hf_profile_count(hart->open, hart->info.id, &hart->counts, &hart->tree);
	if (err)
		return err;
	of = hf_rows_hart_profiled(&(struct hf_rows_session){0}, hart);
	err = hf_functions_new(&of, &hart->functions);
	if (err) {
		hf_counts_free(&hart->counts);
		hf_summary_tree_free(hart->tree);
		hart->tree = NULL;
	}
	hart->counted = !err;
	return err;
}

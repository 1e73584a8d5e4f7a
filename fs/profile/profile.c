/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles as they are made, kept and found again. */
#include "fs/profile/profile.h"
#include "codecs/base/errors.h"
#include "codecs/setup/code_size.h"
#include "fs/bytes/answer.h"
#include "fs/capture/open_pool.h"
#include "fs/facts/capture.h"
#include "fs/profile/counted.h"
#include "fs/profile/flame_texts.h"
#include "fs/profile/texts.h"
#include "fs/profile/tracks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a hart, or a part of it, executed and called: of whoever is making a text of it. */
struct counted {
	struct hf_link used; /* the profiles' lock */
	const struct hf_capture *capture;
	uint64_t version, first, last;
	uint32_t hart;
	bool slice;
	struct hf_counts counts;
	struct hf_summary_tree *tree; /* NULL: nothing was counted yet */
	bool sampled;		      /* the tree is an estimate */
};

static const struct {
	const char *name;
	int (*write)(const struct hf_profiled *of, struct hf_sink *sink);
	enum hf_profile_when when;
} files[] = {
#define HF_PROFILE(id, name, write, when, what) {name, write, HF_PROFILE_##when},
#include "fs/profile/profiles.def"
#undef HF_PROFILE
};

static const char readme[] =
	"What this hart spent its instructions on; hartfs-profile(5), or: hartfs help profile\n"
	"Each file is made when it is read. The directory lists those that were made, and soon after the first look\n"
	"most others. With a * in its name a file is there for each word in its place, and never listed.\n"
	"\n"
#define HF_PROFILE(id, name, write, when, what) name "\n    " what "\n"
#include "fs/profile/profiles.def"
#undef HF_PROFILE
	;

const char *hf_profile_name(enum hf_profile_file file)
{
	return files[file].name;
}

bool hf_profile_is_of_all(enum hf_profile_file file)
{
	return file == HF_PROFILE_FLAME || file == HF_PROFILE_OVERVIEW;
}

bool hf_profile_path(enum hf_profile_file file, uint32_t hart, char buf[HF_PROFILE_PATH])
{
	if (hart == HF_HART_RECORDS)
		snprintf(buf, HF_PROFILE_PATH, "all/%s", files[file].name);
	else
		snprintf(buf, HF_PROFILE_PATH, "hart%" PRIu32 "/profile/%s", hart, files[file].name);
	return !strchr(buf, '*') && (hart != HF_HART_RECORDS || hf_profile_is_of_all(file));
}

enum hf_profile_when hf_profile_when(enum hf_profile_file file)
{
	return files[file].when;
}

const char *hf_profile_readme(void)
{
	return readme;
}

bool hf_profile_exists(const struct hf_capture *capture, const struct hf_facts *facts, const struct hf_facts_hart *hart)
{
	return hart->info.insns <= HF_PROFILE_DECODED || hf_capture_has_summary(capture, facts);
}

/* ---- making ---- */

static bool is_stopping(void *ctx)
{
	return hf_stopping(ctx);
}

static void forget(struct counted *counted)
{
	hf_counts_free(&counted->counts);
	hf_summary_tree_free(counted->tree);
	counted->tree = NULL;
}

static int count(struct counted *counted, const struct hf_profile_source *source)
{
	int err = counted->tree ? 0 : hf_profile_counted(source, &counted->counts, &counted->tree, &counted->sampled);

	if (err)
		forget(counted);
	return err;
}

/* What is made on a thread of the executor. */
struct making {
	struct hf_profile_text *text;
	struct counted *counted;
	struct hf_profile_source source;
	struct hf_worker *worker;
	struct hf_tracks *tracks; /* NULL, or it is a part of that picture */
};

static int write_text(struct making *m)
{
	const struct hf_open *open = m->source.open;
	const struct hf_symbols *symbols = open->symbol_files.symbols;
	struct hf_profile_text *text = m->text;
	struct hf_profiled of = {
		.hart = m->source.hart,
		.counts = &m->counted->counts,
		.processes = open->trace.setup ? open->trace.setup->processes : NULL,
		.symbols = symbols ? hf_symbols_of(symbols, m->source.hart) : NULL,
		.disasm = m->worker->env.disasm,
		.extensions = hf_code_size_extensions(open->stream, m->source.hart),
		.source = &m->source,
		.about = strchr(files[text->file].name, '*') ? text->about : NULL,
	};
	int err = count(m->counted, &m->source);

	if (err)
		return err;
	of.tree = m->counted->tree;
	of.sampled = m->counted->sampled;
	err = hf_sink_init_memory(&text->text, 0);
	if (!err)
		err = m->tracks ? hf_tracks_take(m->tracks, &of, &text->text) : files[text->file].write(&of, &text->text);
	return err ? err : text->text.err;
}

/* What a summary that is damaged said is forgotten, and the hart decoded. */
static int write_summed(void *ctx, struct hf_summary *summary)
{
	struct making *m = ctx;
	int err;

	m->source.summary = summary;
	err = write_text(m);
	if (summary && err == HF_ERR_STATE) {
		forget(m->counted);
		hf_sink_fini_memory(&m->text->text);
	}
	return err;
}

/* ---- what was counted ---- */

static size_t bytes_of(const struct counted *counted)
{
	return sizeof *counted + counted->counts.n * sizeof *counted->counts.row +
	       (counted->tree ? counted->tree->count * (sizeof *counted->tree->nodes + sizeof *counted->tree->below)
			      : 0);
}

/* Nobody else has it then. */
static struct counted *take(struct hf_profiles *profiles, const struct hf_profile_text *text)
{
	const struct hf_made *made = &text->made;
	struct counted *counted;

	HF_LOCKED(&profiles->lock);
	for (struct hf_link *link = profiles->counted.next; link != &profiles->counted; link = link->next) {
		counted = HF_OWNER(link, struct counted, used);
		if (counted->capture != made->capture || counted->version != made->version ||
		    counted->hart != made->hart || counted->first != text->first || counted->last != text->last ||
		    counted->slice != text->slice)
			continue;
		hf_link_remove(link);
		profiles->bytes -= bytes_of(counted);
		return counted;
	}
	counted = calloc(1, sizeof *counted);
	if (counted)
		*counted = (struct counted){.capture = made->capture,
					    .version = made->version,
					    .hart = made->hart,
					    .first = text->first,
					    .last = text->last,
					    .slice = text->slice};
	return counted;
}

static void drop(struct counted *counted)
{
	forget(counted);
	free(counted);
}

/* Keeps it for the next text, and drops those used longest ago. */
static void give_back(struct hf_profiles *profiles, struct counted *counted)
{
	HF_LOCKED(&profiles->lock);
	hf_link_add(&profiles->counted, &counted->used);
	profiles->bytes += bytes_of(counted);
	while (profiles->bytes > HF_PROFILE_COUNTED) {
		struct counted *oldest = HF_OWNER(profiles->counted.prev, struct counted, used);

		hf_link_remove(&oldest->used);
		profiles->bytes -= bytes_of(oldest);
		drop(oldest);
	}
}

/* ---- texts ---- */

static int make_part(struct hf_profile_text *text, struct hf_open *open, struct hf_worker *worker, struct hf_tracks *tracks)
{
	struct hf_profiles *profiles = HF_OWNER(text->made.mades, struct hf_profiles, texts);
	struct making m = {.text = text,
			   .worker = worker,
			   .tracks = tracks,
			   .source = {.open = open,
				      .hart = text->made.hart,
				      .first = text->first,
				      .end = text->last + 1,
				      .slice = text->slice,
				      .decodes = text->last + 1 - text->first <= HF_PROFILE_DECODED,
				      .stop = is_stopping,
				      .ctx = profiles->texts.common}};
	int err;

	if (!open->stream)
		return HF_ERR_NOT_FOUND;
	m.counted = take(profiles, text);
	if (!m.counted)
		return HF_ERR_NOMEM;
	err = hf_answer_summed(open, write_summed, &m);
	give_back(profiles, m.counted);
	return err;
}

static int make_of_hart(struct hf_profile_text *text, struct hf_open *open, struct hf_worker *worker)
{
	return make_part(text, open, worker, NULL);
}

/* The chains of calls of all harts, one behind the other, end with a 0. */
static int fold_all(const struct hf_profile_text *text, struct hf_open *open, struct hf_worker *worker,
		    struct hf_sink *folded)
{
	const struct hf_facts *facts = open->facts;
	int err = 0;

	for (size_t i = 0; i < facts->hart_count && !err; i++) {
		const struct hf_index_hart *hart = &facts->hart[i].info;
		struct hf_profile_text part = *text;

		if (!hart->insns)
			continue;
		part.made.hart = hart->id;
		part.file = HF_PROFILE_STACKS;
		part.last = hart->insns - 1;
		err = make_of_hart(&part, open, worker);
		if (!err)
			hf_sink_write(folded, part.text.start, (size_t)hf_sink_total(&part.text));
		hf_sink_fini_memory(&part.text);
	}
	hf_sink_write(folded, "", 1);
	return err ? err : folded->err;
}

static int take_tracks(const struct hf_profile_text *text, struct hf_open *open, struct hf_worker *worker,
		       struct hf_tracks *tracks, struct hf_sink *taken)
{
	struct hf_profile_text part = *text;
	uint64_t insns;
	int err = 0;

	while (!err && hf_tracks_next(tracks, &part.made.hart, &insns)) {
		part.text = (struct hf_sink){0};
		part.last = insns - 1;
		err = insns ? make_part(&part, open, worker, tracks) : HF_ERR_NOT_FOUND;
		if (!err)
			hf_sink_write(taken, part.text.start, (size_t)hf_sink_total(&part.text));
		else if (err == HF_ERR_NOT_FOUND || err == HF_ERR_COUNTS_LIMIT)
			err = hf_tracks_take_none(tracks, err, taken);
		hf_sink_fini_memory(&part.text);
	}
	return err ? err : taken->err;
}

static int make_overview_of_all(struct hf_profile_text *text, struct hf_open *open, struct hf_worker *worker)
{
	struct hf_tracks *tracks;
	struct hf_sink taken = {0};
	int err = hf_tracks_new(open, &tracks);

	if (!err)
		err = hf_sink_init_memory(&taken, 0);
	if (!err)
		err = take_tracks(text, open, worker, tracks, &taken);
	if (!err)
		err = hf_sink_init_memory(&text->text, 0);
	if (!err)
		err = hf_tracks_put(tracks, &taken, &text->text);
	hf_sink_fini_memory(&taken);
	hf_tracks_free(tracks);
	return err;
}

static int make_flame_of_all(struct hf_profile_text *text, struct hf_open *open, struct hf_worker *worker)
{
	struct hf_flame_texts flame = {.title = open->capture->path};
	struct hf_sink folded = {0};
	int err = hf_sink_init_memory(&folded, 0);

	if (!err)
		err = fold_all(text, open, worker, &folded);
	flame.text = (const char *)folded.start;
	if (!err)
		err = hf_sink_init_memory(&text->text, 0);
	if (!err)
		err = hf_flame_put_texts(&flame, &text->text);
	hf_sink_fini_memory(&folded);
	return err;
}

static int make_of_all(struct hf_profile_text *text, struct hf_open *open, struct hf_worker *worker)
{
	return (text->file == HF_PROFILE_OVERVIEW ? make_overview_of_all : make_flame_of_all)(text, open, worker);
}

int hf_profile_make(void *ctx, struct hf_open *open, struct hf_worker *worker)
{
	struct hf_profile_text *text = ctx;
	int err = (text->made.hart == HF_HART_RECORDS ? make_of_all : make_of_hart)(text, open, worker);

	text->made.bytes = sizeof *text + (size_t)hf_sink_total(&text->text);
	return err;
}

static bool is_same(const struct hf_made *a, const struct hf_made *b)
{
	const struct hf_profile_text *x = (const struct hf_profile_text *)a, *y = (const struct hf_profile_text *)b;

	return x->first == y->first && x->last == y->last && x->slice == y->slice && x->file == y->file &&
	       strcmp(x->about, y->about) == 0;
}

static void free_text(struct hf_made *made)
{
	hf_sink_fini_memory(&((struct hf_profile_text *)made)->text);
}

void hf_profiles_init(struct hf_profiles *profiles, struct hf_common *common)
{
	static const struct hf_made_kind kind = {.size = sizeof(struct hf_profile_text),
						 .most = HF_PROFILES_KEPT,
						 .most_bytes = HF_PROFILES_BYTES,
						 .is_same = is_same,
						 .make = hf_profile_make,
						 .free = free_text};

	hf_mades_init(&profiles->texts, &kind, common);
	pthread_mutex_init(&profiles->lock, NULL);
	hf_link_init(&profiles->counted);
	hf_link_init(&profiles->sized);
	profiles->bytes = 0;
	profiles->sized_count = 0;
	profiles->looked = NULL;
	profiles->walked_ns = 0;
	for (size_t i = 0; i < HF_PROFILE_WALK; i++)
		profiles->turned_ns[i] = 0;
}

void hf_profiles_fini(struct hf_profiles *profiles)
{
	hf_mades_fini(&profiles->texts);
	for (struct hf_link *link = profiles->counted.next, *next; link != &profiles->counted; link = next) {
		next = link->next;
		drop(HF_OWNER(link, struct counted, used));
	}
	pthread_mutex_destroy(&profiles->lock);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles as they are made, kept and found again. */
#include "fs/profile/profile.h"
#include "codecs/setup/code_size.h"
#include "fs/bytes/answer.h"
#include "fs/capture/open_pool.h"
#include "fs/facts/capture.h"
#include "fs/profile/texts.h"

#include <stdlib.h>

struct text {
	struct text *next;
	enum hf_profile_file file;
	char *about; /* owned; NULL: nothing */
	uint8_t *bytes;
	size_t size;
	unsigned refs; /* the profiles' lock */
};

struct hf_profile {
	struct hf_profiles *profiles;
	struct hf_capture *capture;
	uint64_t version;
	uint32_t hart;
	uint64_t first, last;
	bool slice;
	/* Of whoever is making a text. tree is NULL: nothing was counted yet, or it is too much to be kept. */
	struct hf_counts counts;
	struct hf_summary_tree *tree;
	bool sampled; /* the tree is an estimate */
	/* the profiles' lock */
	struct text *texts;
	unsigned refs;
	bool making;
	size_t bytes;
	struct hf_link used;
};

static const struct {
	const char *name;
	int (*write)(const struct hf_profiled *of, struct hf_sink *sink);
} files[] = {
#define HF_PROFILE(id, name, write) {name, write},
#include "fs/profile/profiles.def"
#undef HF_PROFILE
};

const char *hf_profile_name(enum hf_profile_file file)
{
	return files[file].name;
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

static uint64_t insns_of(const struct hf_profile *profile)
{
	return profile->last - profile->first + 1;
}

static void forget_counted(struct hf_profile *profile)
{
	hf_counts_free(&profile->counts);
	hf_summary_tree_free(profile->tree);
	profile->tree = NULL;
}

static int count(struct hf_profile *profile, const struct hf_profile_source *source)
{
	int err = profile->tree ? 0 : hf_profile_counted(source, &profile->counts, &profile->tree, &profile->sampled);

	if (err)
		forget_counted(profile);
	return err;
}

static int write_text(const struct hf_profiled *of, struct text *text)
{
	struct hf_sink sink;
	int err = hf_sink_init_memory(&sink, 0);

	if (err)
		return err;
	err = files[text->file].write(of, &sink);
	text->size = (size_t)hf_sink_total(&sink);
	text->bytes = err ? NULL : malloc(text->size + 1);
	if (text->bytes)
		memcpy(text->bytes, sink.start, text->size);
	else if (!err)
		err = HF_ERR_NOMEM;
	hf_sink_fini_memory(&sink);
	return err;
}

static size_t counted_bytes(const struct hf_profile *profile)
{
	if (!profile->tree)
		return 0;
	return profile->counts.n * sizeof *profile->counts.row +
	       profile->tree->count * (sizeof *profile->tree->nodes + sizeof *profile->tree->below);
}

static int write_file(struct hf_profile *profile, struct text *text, struct hf_profile_source *source,
		      struct hf_worker *worker)
{
	const struct hf_symbols *symbols = source->open->companion.symbols;
	struct hf_profiled of = {
		.hart = profile->hart,
		.counts = &profile->counts,
		.symbols = symbols ? hf_symbols_of(symbols, profile->hart) : NULL,
		.disasm = worker->env.disasm,
		.extensions = hf_code_size_extensions(source->open->stream, profile->hart),
		.source = source,
		.about = text->about,
	};
	int err = count(profile, source);

	if (err)
		return err;
	of.tree = profile->tree;
	of.sampled = profile->sampled;
	err = write_text(&of, text);
	if (counted_bytes(profile) > HF_PROFILE_COUNTED)
		forget_counted(profile);
	return err;
}

/* What is made on a thread of the executor. */
struct making {
	struct hf_profile *profile;
	struct text *text;
	struct hf_profile_source source;
	struct hf_worker *worker;
};

/* What a summary that is damaged said is forgotten, and the hart decoded. */
static int write_summed(void *ctx, struct hf_summary *summary)
{
	struct making *m = ctx;
	int err;

	m->source.summary = summary;
	err = write_file(m->profile, m->text, &m->source, m->worker);
	if (summary && err == HF_ERR_STATE)
		forget_counted(m->profile);
	return err;
}

static int write_from(void *ctx, struct hf_open *open, struct hf_worker *worker)
{
	struct making *m = ctx;
	const struct hf_profile *profile = m->profile;

	m->worker = worker;
	m->source = (struct hf_profile_source){
		.open = open,
		.hart = profile->hart,
		.first = profile->first,
		.end = profile->last + 1,
		.slice = profile->slice,
		.decodes = insns_of(profile) <= HF_PROFILE_DECODED,
		.stop = is_stopping,
		.ctx = profile->capture->common,
	};
	return open->stream ? hf_answer_summed(open, write_summed, m) : HF_ERR_NOT_FOUND;
}

/* ---- keeping ---- */

void hf_profiles_init(struct hf_profiles *profiles, struct hf_common *common)
{
	*profiles = (struct hf_profiles){.common = common};
	hf_link_init(&profiles->used);
	pthread_mutex_init(&profiles->lock, NULL);
	pthread_cond_init(&profiles->made, NULL);
}

static void free_text(struct text *text)
{
	free(text->about);
	free(text->bytes);
	free(text);
}

static void free_profile(struct hf_profile *profile)
{
	for (struct text *text = profile->texts, *next; text; text = next) {
		next = text->next;
		free_text(text);
	}
	forget_counted(profile);
	free(profile);
}

void hf_profiles_fini(struct hf_profiles *profiles)
{
	for (struct hf_link *link = profiles->used.next, *next; link != &profiles->used; link = next) {
		next = link->next;
		free_profile(HF_OWNER(link, struct hf_profile, used));
	}
	pthread_mutex_destroy(&profiles->lock);
	pthread_cond_destroy(&profiles->made);
}

static bool same(const struct hf_profile *a, const struct hf_profile *b)
{
	return a->capture == b->capture && a->version == b->version && a->hart == b->hart && a->first == b->first &&
	       a->last == b->last && a->slice == b->slice;
}

/* With the lock held: what it has in memory is other than it was. */
static void count_bytes(struct hf_profile *profile)
{
	size_t bytes = counted_bytes(profile);

	for (const struct text *text = profile->texts; text; text = text->next)
		bytes += text->size;
	profile->profiles->bytes += bytes - profile->bytes;
	profile->bytes = bytes;
}

/* With the lock held: drops texts that nobody reads. */
static void drop_texts(struct hf_profile *profile)
{
	for (struct text **at = &profile->texts; *at;) {
		struct text *text = *at;

		if (text->refs) {
			at = &text->next;
			continue;
		}
		*at = text->next;
		free_text(text);
	}
	count_bytes(profile);
}

/* With the lock held: from the one used longest ago on. */
static void drop_surplus(struct hf_profiles *profiles)
{
	for (struct hf_link *link = profiles->used.prev, *newer; link != &profiles->used; link = newer) {
		struct hf_profile *profile = HF_OWNER(link, struct hf_profile, used);

		newer = link->prev;
		if (profiles->count <= HF_PROFILES_KEPT && profiles->bytes <= HF_PROFILES_BYTES)
			return;
		if (profile->making)
			continue;
		drop_texts(profile);
		if (profile->refs)
			continue;
		hf_link_remove(link);
		profiles->count--;
		profiles->bytes -= profile->bytes;
		free_profile(profile);
	}
}

/* With the lock held: the profile, with a reference. */
static struct hf_profile *find_or_add(struct hf_profiles *profiles, const struct hf_profile *key)
{
	struct hf_profile *profile = NULL;

	for (struct hf_link *link = profiles->used.next; !profile && link != &profiles->used; link = link->next)
		if (same(HF_OWNER(link, struct hf_profile, used), key))
			profile = HF_OWNER(link, struct hf_profile, used);
	if (profile) {
		hf_link_remove(&profile->used);
	} else {
		profile = malloc(sizeof *profile);
		if (!profile)
			return NULL;
		*profile = *key;
		profiles->count++;
	}
	hf_link_add(&profiles->used, &profile->used);
	profile->refs++;
	return profile;
}

static struct text *find_text(const struct hf_profile *profile, const struct hf_profile_which *which)
{
	struct text *text = profile->texts;

	while (text && (text->file != which->file || (which->about && strcmp(text->about, which->about) != 0)))
		text = text->next;
	return text;
}

static struct text *new_text(const struct hf_profile_which *which)
{
	struct text *text = calloc(1, sizeof *text);

	if (!text)
		return NULL;
	text->file = which->file;
	text->about = which->about ? strdup(which->about) : NULL;
	if (which->about && !text->about) {
		free(text);
		return NULL;
	}
	return text;
}

/* With the lock held, which is released meanwhile. One thread at a time makes texts of a hart. */
static int make_once(struct hf_profile *profile, const struct hf_profile_which *which, struct text **ret_text)
{
	struct hf_profiles *profiles = profile->profiles;
	struct text *text;
	int err;

	while (!(text = find_text(profile, which)) && profile->making)
		pthread_cond_wait(&profiles->made, &profiles->lock);
	*ret_text = text ? text : new_text(which);
	if (text || !*ret_text)
		return text ? 0 : HF_ERR_NOMEM;
	text = *ret_text;
	profile->making = true;
	pthread_mutex_unlock(&profiles->lock);
	err = hf_answer_run(profile->capture, profile->version, write_from,
			    &(struct making){.profile = profile, .text = text});
	pthread_mutex_lock(&profiles->lock);
	if (err) {
		free_text(text);
	} else {
		text->next = profile->texts;
		profile->texts = text;
	}
	count_bytes(profile);
	profile->making = false;
	pthread_cond_broadcast(&profiles->made);
	return err;
}

int hf_profile_get(struct hf_profiles *profiles, struct hf_capture *capture, const struct hf_facts *facts,
		   const struct hf_profile_which *which, struct hf_profile_text *ret_text)
{
	const struct hf_profile key = {.profiles = profiles,
				       .capture = capture,
				       .version = facts->version,
				       .hart = which->hart,
				       .first = which->first,
				       .last = which->last,
				       .slice = which->slice};
	struct hf_profile *profile;
	struct text *text = NULL;
	int err = HF_ERR_NOMEM;

	HF_LOCKED(&profiles->lock);
	profile = find_or_add(profiles, &key);
	if (profile)
		err = make_once(profile, which, &text);
	if (!err) {
		text->refs++;
		*ret_text = (struct hf_profile_text){
			.profile = profile, .bytes = text->bytes, .size = text->size, .own = text};
	} else if (profile) {
		profile->refs--;
		drop_surplus(profiles);
	}
	return err;
}

void hf_profile_put(struct hf_profile_text *ret_text)
{
	struct hf_profile *profile = ret_text->profile;
	struct hf_profiles *profiles = profile->profiles;
	struct text *text = ret_text->own;

	HF_LOCKED(&profiles->lock);
	text->refs--;
	profile->refs--;
	drop_surplus(profiles);
}

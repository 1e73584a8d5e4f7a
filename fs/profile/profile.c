/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles as they are made, kept and found again. */
#include "fs/profile/profile.h"
#include "fs/bytes/bytes.h"
#include "fs/profile/texts.h"

#include <stdlib.h>

struct text {
	bool made;
	int err; /* why it could not be */
	uint8_t *bytes;
	size_t size;
};

struct hf_profile {
	struct hf_profiles *profiles;
	struct hf_capture *capture;
	uint64_t version;
	uint32_t hart;
	/* Of whoever is making a text. tree is NULL: nothing was counted yet, or it is too much to be kept. */
	struct hf_counts counts;
	struct hf_summary_tree *tree;
	struct text text[HF_PROFILE_FILES];
	/* the profiles' lock */
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

/* ---- making ---- */

static bool is_stopping(void *ctx)
{
	return hf_stopping(ctx);
}

static int count_events(struct hf_open *open, uint32_t hart, struct hf_counts *counts, struct hf_summary_tree **ret_tree)
{
	struct hf_cursor cursor = {.stream = open->stream, .src = open->source, .index = open->index, .hart = hart};
	struct hf_diag diag;
	int err = hf_counts_of_events(&cursor, is_stopping, open->capture->common, counts, ret_tree, &diag);

	hf_cursor_fini(&cursor);
	return err;
}

static int ask_summary(struct hf_summary *summary, uint32_t hart, struct hf_counts *counts,
		       struct hf_summary_tree **ret_tree)
{
	int err = hf_counts_of_summary(summary, hart, counts);

	if (err)
		return err;
	err = hf_summary_tree_load(summary, hart, ret_tree);
	if (err)
		hf_counts_free(counts);
	return err;
}

/* A summary that is damaged is made again when the capture is indexed with one; until then the hart is decoded. */
int hf_profile_count(struct hf_open *open, uint32_t id, struct hf_counts *counts, struct hf_summary_tree **ret_tree)
{
	const struct hf_facts_hart *hart = hf_facts_hart(open->facts, id);
	struct hf_summary *summary;
	int err = HF_ERR_STATE;

	if (!hart || !open->stream)
		return HF_ERR_NOT_FOUND;
	if (!hf_open_summary(open, &summary)) {
		err = ask_summary(summary, id, counts, ret_tree);
		if (err == HF_ERR_STATE)
			hf_summary_remove(summary);
		hf_summary_close(summary);
	}
	if (err != HF_ERR_STATE)
		return err;
	return hart->info.insns > HF_PROFILE_DECODED ? HF_ERR_NOT_FOUND :
							 count_events(open, id, counts, ret_tree);
}

static int write_text(const struct hf_profiled *of, size_t file, struct text *text)
{
	struct hf_sink sink;
	int err = hf_sink_init_memory(&sink, 0);

	if (err)
		return err;
	err = files[file].write(of, &sink);
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
	return profile->counts.room * sizeof *profile->counts.row +
	       profile->tree->count * (sizeof *profile->tree->nodes + sizeof *profile->tree->below);
}

static void forget_counted(struct hf_profile *profile)
{
	hf_counts_free(&profile->counts);
	hf_summary_tree_free(profile->tree);
	profile->tree = NULL;
}

static int write_file(struct hf_profile *profile, size_t file, struct hf_open *open, struct hf_worker *worker)
{
	const struct hf_symbols *symbols = open->companion.symbols;
	struct hf_profiled of = {
		.hart = profile->hart,
		.counts = &profile->counts,
		.symbols = symbols ? hf_symbols_of(symbols, profile->hart) : NULL,
		.disasm = worker->env.disasm,
	};
	int err = profile->tree ? 0 : hf_profile_count(open, profile->hart, &profile->counts, &profile->tree);

	if (err)
		return err;
	of.tree = profile->tree;
	err = write_text(&of, file, &profile->text[file]);
	if (counted_bytes(profile) > HF_PROFILE_COUNTED)
		forget_counted(profile);
	return err;
}

struct make_job {
	struct hf_job job;
	struct hf_profile *profile;
	size_t file;
	int err;
};

/* By a thread of the executor, which has what disassembles. */
static int run_make(struct hf_job *job, struct hf_worker *worker)
{
	struct make_job *make = (struct make_job *)job;
	struct hf_profile *profile = make->profile;
	const struct hf_bytes any = {.capture = profile->capture, .version = profile->version};
	struct hf_open *open;

	make->err = HF_ERR_NOMEM;
	if (!worker->env.disasm && hf_disasm_new(&worker->env.disasm)) {
		worker->env.disasm = NULL;
		return make->err;
	}
	make->err = hf_capture_reopen(profile->capture, profile->version, -1, HF_REPAIR_MS, &open);
	if (make->err)
		return make->err;
	make->err = hf_bytes_check_made(&any, write_file(profile, make->file, open, worker));
	hf_open_blame(open, make->err);
	hf_open_put(open);
	return make->err;
}

static int make(struct hf_profile *profile, size_t file)
{
	struct make_job job = {.job = {.fn = run_make, .work = HF_WORK_DECODE},
			       .profile = profile,
			       .file = file,
			       .err = HF_ERR_CANCELLED};

	hf_job_submit(profile->capture->common->exec, &job.job);
	hf_job_join(&job.job);
	return job.err;
}

/* ---- keeping ---- */

void hf_profiles_init(struct hf_profiles *profiles, struct hf_common *common)
{
	*profiles = (struct hf_profiles){.common = common};
	hf_link_init(&profiles->used);
	pthread_mutex_init(&profiles->lock, NULL);
	pthread_cond_init(&profiles->made, NULL);
}

static void free_profile(struct hf_profile *profile)
{
	for (size_t i = 0; i < HF_PROFILE_FILES; i++)
		free(profile->text[i].bytes);
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

static struct hf_profile *find(const struct hf_profiles *profiles, const struct hf_profile *key)
{
	for (struct hf_link *link = profiles->used.next; link != &profiles->used; link = link->next) {
		struct hf_profile *profile = HF_OWNER(link, struct hf_profile, used);

		if (profile->capture == key->capture && profile->version == key->version && profile->hart == key->hart)
			return profile;
	}
	return NULL;
}

static bool has_failed(const struct hf_profile *profile)
{
	for (size_t i = 0; i < HF_PROFILE_FILES; i++)
		if (profile->text[i].err)
			return true;
	return false;
}

static bool is_surplus(const struct hf_profiles *profiles, const struct hf_profile *profile)
{
	return !profile->refs && (has_failed(profile) || profiles->count > HF_PROFILES_KEPT ||
				  profiles->bytes > HF_PROFILES_BYTES);
}

/* With the lock held: from the one used longest ago on. */
static void drop_surplus(struct hf_profiles *profiles)
{
	for (struct hf_link *link = profiles->used.prev, *newer; link != &profiles->used; link = newer) {
		struct hf_profile *profile = HF_OWNER(link, struct hf_profile, used);

		newer = link->prev;
		if (!is_surplus(profiles, profile))
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
	struct hf_profile *profile = find(profiles, key);

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

/* With the lock held, which is released meanwhile. One thread at a time makes texts of a hart. */
static void make_once(struct hf_profile *profile, size_t file)
{
	struct hf_profiles *profiles = profile->profiles;
	struct text *text = &profile->text[file];
	size_t bytes;
	int err;

	while (profile->making)
		pthread_cond_wait(&profiles->made, &profiles->lock);
	if (text->made)
		return;
	profile->making = true;
	pthread_mutex_unlock(&profiles->lock);
	err = make(profile, file);
	pthread_mutex_lock(&profiles->lock);
	text->made = true;
	text->err = err;
	bytes = counted_bytes(profile);
	for (size_t i = 0; i < HF_PROFILE_FILES; i++)
		bytes += profile->text[i].size;
	profiles->bytes += bytes - profile->bytes;
	profile->bytes = bytes;
	profile->making = false;
	pthread_cond_broadcast(&profiles->made);
}

int hf_profile_get(struct hf_profiles *profiles, struct hf_capture *capture, const struct hf_facts *facts,
		   uint32_t hart, enum hf_profile_file file, struct hf_profile **ret_profile)
{
	const struct hf_profile key = {
		.profiles = profiles, .capture = capture, .version = facts->version, .hart = hart};
	struct hf_profile *profile;
	int err = HF_ERR_NOMEM;

	*ret_profile = NULL;
	pthread_mutex_lock(&profiles->lock);
	profile = find_or_add(profiles, &key);
	if (profile) {
		make_once(profile, file);
		err = profile->text[file].err;
	}
	pthread_mutex_unlock(&profiles->lock);
	if (err && profile)
		hf_profile_put(profile);
	else
		*ret_profile = profile;
	return err;
}

void hf_profile_put(struct hf_profile *profile)
{
	struct hf_profiles *profiles = profile->profiles;

	HF_LOCKED(&profiles->lock);
	profile->refs--;
	drop_surplus(profiles);
}

const uint8_t *hf_profile_text(const struct hf_profile *profile, enum hf_profile_file file, size_t *ret_size)
{
	*ret_size = profile->text[file].size;
	return profile->text[file].bytes;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/profile/ahead.h"

#include "fs/base/build_id.h"
#include "fs/base/common.h"
#include "fs/base/modes.h"
#include "fs/bytes/answer.h"
#include "fs/facts/queue.h"
#include "fs/facts/state.h"
#include "fs/profile/counted.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* The size of a file that there is not. */
#define NONE (HF_NOWHERE - 1)

/* What is known of a hart or a slice. */
struct sized {
	struct hf_job job;
	struct hf_link used; /* the profiles' lock, as are all below but key */
	struct hf_profiles *profiles;
	struct hf_profile_text key; /* its file is none */
	uint64_t size[HF_PROFILE_FILES]; /* HF_NOWHERE: not known; NONE */
	bool queued;
	int64_t looked_ns; /* when it was */
};

static bool is_key(const struct sized *sized, const struct hf_profile_text *key)
{
	const struct hf_made *a = &sized->key.made, *b = &key->made;

	return a->capture == b->capture && a->version == b->version && a->hart == b->hart &&
	       sized->key.first == key->first && sized->key.last == key->last && sized->key.slice == key->slice;
}

static void drop(struct hf_profiles *profiles, struct sized *sized)
{
	hf_link_remove(&sized->used);
	profiles->sized_count--;
	free(sized);
}

/* With the lock held, as are all below that find. */
static struct sized *find(struct hf_profiles *profiles, const struct hf_profile_text *key)
{
	for (struct hf_link *link = profiles->sized.next; link != &profiles->sized; link = link->next) {
		struct sized *sized = HF_OWNER(link, struct sized, used);

		if (!is_key(sized, key))
			continue;
		hf_link_remove(link);
		hf_link_add(&profiles->sized, link);
		return sized;
	}
	return NULL;
}

static void drop_oldest(struct hf_profiles *profiles)
{
	for (struct hf_link *link = profiles->sized.prev; link != &profiles->sized; link = link->prev) {
		struct sized *sized = HF_OWNER(link, struct sized, used);

		if (sized->queued)
			continue;
		drop(profiles, sized);
		return;
	}
}

/* ---- what the catalogue remembers ---- */

/* Of all that sizes depend on besides the version of the capture and its row in the catalogue; 0: not to be remembered. */
static uint64_t made_for(const struct hf_profile_text *key)
{
	struct hf_capture *capture = key->made.capture;
	uint64_t words[] = {hf_build_id(), hf_capture_bbv_modes(capture)->named, 0};
	struct hf_facts *facts;

	if (key->slice || !words[0] || hf_capture_facts_now(capture, &facts))
		return 0;
	words[2] = hf_capture_has_summary(capture, facts);
	hf_facts_unref(facts);
	return XXH3_64bits(words, sizeof words) | 1;
}

/* "profile <hart> <made for> " */
static void put_words(const struct hf_profile_text *key, char *line, size_t size)
{
	snprintf(line, size, HF_CATALOGUE_PROFILE "%" PRIu32 " %016" PRIx64 " ", key->made.hart, made_for(key));
}

static void forget_sizes(uint64_t size[HF_PROFILE_FILES])
{
	for (size_t i = 0; i < HF_PROFILE_FILES; i++)
		size[i] = HF_NOWHERE;
}

/* Behind the words one of each file that is not only made for who asks: its size, "-" if there is none, or "?". */
static void read_sizes(const char *at, uint64_t size[HF_PROFILE_FILES])
{
	for (enum hf_profile_file file = 0; file < HF_PROFILE_FILES; file++) {
		char *end;

		if (hf_profile_when(file) == HF_PROFILE_ASKED)
			continue;
		if (isdigit((unsigned char)*at)) {
			size[file] = strtoull(at, &end, 10);
			at = end;
		} else if (*at == '-' || *at == '?') {
			size[file] = *at++ == '-' ? NONE : HF_NOWHERE;
		}
		if (size[file] > INT64_MAX && size[file] < NONE)
			size[file] = HF_NOWHERE;
		if (*at++ != ' ')
			return;
	}
}

/* Whether anything is remembered. Without the lock. */
static bool recall(const struct hf_profile_text *key, uint64_t size[HF_PROFILE_FILES])
{
	char *text = key->slice ? NULL : hf_capture_profiles(key->made.capture, key->made.version), words[64];
	const char *line = text;
	bool found;

	forget_sizes(size);
	if (text)
		put_words(key, words, sizeof words);
	while (line && *line && strncmp(line, words, strlen(words)) != 0) {
		line = strchr(line, '\n');
		line += line != NULL;
	}
	found = line && *line;
	if (found)
		read_sizes(line + strlen(words), size);
	free(text);
	return found;
}

/* Without the lock. */
static void remember(const struct hf_profile_text *key, const uint64_t size[HF_PROFILE_FILES])
{
	char line[64 + HF_PROFILE_FILES * 24];
	size_t n;

	if (!made_for(key))
		return;
	put_words(key, line, sizeof line);
	n = strlen(line);
	for (enum hf_profile_file file = 0; file < HF_PROFILE_FILES; file++)
		if (hf_profile_when(file) != HF_PROFILE_ASKED)
			n += (size_t)(size[file] < NONE ? snprintf(line + n, sizeof line - n, "%" PRIu64 " ", size[file])
							 : snprintf(line + n, sizeof line - n, "%c ", size[file] == NONE ? '-' : '?'));
	snprintf(line + n, sizeof line - n, "\n");
	hf_capture_remember_profile(key->made.capture, key->made.version, line);
}

/* ---- what is known ---- */

/* size: what is known if it is not there. NULL: out of memory. */
static struct sized *find_or_add(struct hf_profiles *profiles, const struct hf_profile_text *key,
				 const uint64_t size[HF_PROFILE_FILES])
{
	struct sized *sized = find(profiles, key);

	if (sized)
		return sized;
	if (profiles->sized_count >= HF_PROFILE_SIZED)
		drop_oldest(profiles);
	sized = calloc(1, sizeof *sized);
	if (!sized)
		return NULL;
	sized->profiles = profiles;
	sized->key = *key;
	sized->key.made.mades = &profiles->texts;
	memcpy(sized->size, size, sizeof sized->size);
	hf_link_add(&profiles->sized, &sized->used);
	profiles->sized_count++;
	return sized;
}

/* With NONE. */
static void get_sizes(struct hf_profiles *profiles, const struct hf_profile_text *key, uint64_t size[HF_PROFILE_FILES])
{
	const struct sized *sized;

	pthread_mutex_lock(&profiles->lock);
	sized = find(profiles, key);
	if (sized)
		memcpy(size, sized->size, sizeof sized->size);
	pthread_mutex_unlock(&profiles->lock);
	if (sized || !recall(key, size))
		return;
	HF_LOCKED(&profiles->lock);
	find_or_add(profiles, key, size);
}

void hf_profile_sizes(struct hf_profiles *profiles, const struct hf_profile_text *key, uint64_t ret_size[HF_PROFILE_FILES])
{
	get_sizes(profiles, key, ret_size);
	for (size_t i = 0; i < HF_PROFILE_FILES; i++)
		if (ret_size[i] == NONE)
			ret_size[i] = HF_NOWHERE;
}

uint64_t hf_profile_size(struct hf_profiles *profiles, const struct hf_profile_text *key)
{
	uint64_t size[HF_PROFILE_FILES];

	if (hf_profile_when(key->file) == HF_PROFILE_ASKED)
		return HF_NOWHERE;
	hf_profile_sizes(profiles, key, size);
	return size[key->file];
}

void hf_profile_told(struct hf_profiles *profiles, const struct hf_profile_text *text)
{
	const uint64_t now = hf_sink_total(&text->text);
	uint64_t size[HF_PROFILE_FILES];
	struct sized *sized;
	bool wrong;

	if (hf_profile_when(text->file) == HF_PROFILE_ASKED)
		return;
	get_sizes(profiles, text, size);
	wrong = size[text->file] != HF_NOWHERE && size[text->file] != now;
	size[text->file] = now;
	pthread_mutex_lock(&profiles->lock);
	sized = find_or_add(profiles, text, size);
	if (sized)
		sized->size[text->file] = now;
	pthread_mutex_unlock(&profiles->lock);
	if (!wrong)
		return;
	remember(text, size);
	hf_jobs_notify(text->made.capture);
}

/* ---- making ---- */

static bool is_wanted(const struct sized *sized, enum hf_profile_file file)
{
	const enum hf_profile_when when = hf_profile_when(file);

	/* Of all harts together there is one. */
	if (sized->key.made.hart == HF_HART_RECORDS && file != HF_PROFILE_FLAME)
		return false;
	return sized->size[file] == HF_NOWHERE &&
	       (when == HF_PROFILE_SMALL ||
		(when == HF_PROFILE_LARGE && sized->key.last - sized->key.first < HF_PROFILE_DECODED));
}

/* The next file to make; HF_PROFILE_FILES: none. */
static enum hf_profile_file next_file(struct sized *sized)
{
	enum hf_profile_file file = 0;

	HF_LOCKED(&sized->profiles->lock);
	while (file < HF_PROFILE_FILES && !is_wanted(sized, file))
		file++;
	return file;
}

/* It was looked at in a walk. */
static bool was_walked(struct sized *sized)
{
	int64_t since_ns;

	HF_LOCKED(&sized->profiles->lock);
	since_ns = sized->profiles->walked_ns - sized->looked_ns;
	return since_ns >= 0 && since_ns < HF_PROFILE_WALK_NS;
}

/* Makes one, for its size. worker: of this thread, or NULL, if it is none of the executor. An error that is not of the file. */
static int make_one(struct sized *sized, enum hf_profile_file file, struct hf_worker *worker)
{
	struct hf_profiles *profiles = sized->profiles;
	struct hf_profile_text text = sized->key;
	const struct hf_made *made = &text.made;
	int err;

	text.file = file;
	err = worker ? hf_answer_make(made->capture, made->version, hf_profile_make, &text, worker)
		     : hf_answer_run(made->capture, made->version, hf_profile_make, &text);
	if (!err) {
		/* Counted before it is listed. */
		hf_metrics_add(&profiles->texts.common->metrics.profiles, 1);
		hf_profile_told(profiles, &text);
	}
	hf_sink_fini_memory(&text.text);
	if (err == HF_ERR_CHANGED || err == HF_ERR_CANCELLED || hf_err_is_shortage(err))
		return err;
	if (err) {
		HF_LOCKED(&profiles->lock);
		sized->size[file] = NONE;
	}
	return 0;
}

static int run(struct hf_job *job, struct hf_worker *worker)
{
	struct sized *sized = (struct sized *)job;
	struct hf_common *common = sized->profiles->texts.common;
	const enum hf_profile_file file = next_file(sized);
	uint64_t size[HF_PROFILE_FILES];
	int err;

	if (hf_stopping(common) || was_walked(sized))
		return 0;
	if (file == HF_PROFILE_FILES) {
		get_sizes(sized->profiles, &sized->key, size);
		remember(&sized->key, size);
		return 0;
	}
	err = make_one(sized, file, worker);
	if (err)
		return err;
	/* Others may have their turn. */
	hf_job_submit(common->exec, job);
	return HF_JOB_ASIDE;
}

static void done(struct hf_job *job, int err)
{
	struct sized *sized = (struct sized *)job;

	if (!err)
		hf_jobs_notify(sized->key.made.capture);
	HF_LOCKED(&sized->profiles->lock);
	sized->queued = false;
}

/* ---- looks ---- */

/* Notes a look at a capture: false if it is one of a walk. With the lock held. */
static bool note_look(struct hf_profiles *profiles, const struct hf_capture *capture, int64_t now)
{
	int64_t *turned = profiles->turned_ns;

	if (profiles->looked != capture) {
		memmove(turned, turned + 1, (HF_PROFILE_WALK - 1) * sizeof *turned);
		turned[HF_PROFILE_WALK - 1] = now;
	}
	profiles->looked = capture;
	if (!turned[0] || now - turned[0] >= HF_PROFILE_WALK_NS)
		return true;
	profiles->walked_ns = now;
	return false;
}

static bool wants_any(const struct sized *sized)
{
	for (enum hf_profile_file file = 0; file < HF_PROFILE_FILES; file++)
		if (is_wanted(sized, file))
			return true;
	return false;
}

void hf_profile_looked(struct hf_profiles *profiles, const struct hf_profile_text *key)
{
	struct hf_common *common = profiles->texts.common;
	const int64_t now = hf_now_ns();
	uint64_t size[HF_PROFILE_FILES];
	struct sized *sized = NULL;

	/* Commands without a mount ask for what they want. */
	if (common->options.no_index)
		return;
	get_sizes(profiles, key, size);
	pthread_mutex_lock(&profiles->lock);
	if (note_look(profiles, key->made.capture, now))
		sized = find_or_add(profiles, key, size);
	if (sized && (sized->queued || !wants_any(sized)))
		sized = NULL;
	if (sized) {
		sized->queued = true;
		sized->looked_ns = now;
		sized->job = (struct hf_job){.fn = run, .done = done, .work = HF_WORK_CHORE, .urgency = HF_LATER};
	}
	pthread_mutex_unlock(&profiles->lock);
	if (sized)
		hf_job_submit_after(common->exec, &sized->job, HF_PROFILE_DELAY_NS);
}

/* ---- ahead ---- */

/* Those of one hart that are not known, unless another thread makes them. */
static int make_of(struct hf_profiles *profiles, const struct hf_profile_text *key)
{
	uint64_t size[HF_PROFILE_FILES], made[HF_PROFILE_FILES];
	enum hf_profile_file file;
	struct sized *sized;
	int err = 0;

	get_sizes(profiles, key, size);
	pthread_mutex_lock(&profiles->lock);
	sized = find_or_add(profiles, key, size);
	if (sized && sized->queued)
		sized = NULL;
	if (sized)
		sized->queued = true;
	pthread_mutex_unlock(&profiles->lock);
	if (!sized)
		return 0;
	while (!err && (file = next_file(sized)) != HF_PROFILE_FILES)
		err = make_one(sized, file, NULL);
	get_sizes(profiles, key, made);
	if (!err && memcmp(size, made, sizeof size) != 0)
		remember(key, made);
	HF_LOCKED(&profiles->lock);
	sized->queued = false;
	return err;
}

int hf_profile_make_ahead(struct hf_profiles *profiles, struct hf_capture *capture, const struct hf_facts *facts)
{
	struct hf_profile_text key = {.made = {.capture = capture, .version = facts->version, .hart = HF_HART_RECORDS}};
	const size_t count = facts->hart_count < HF_PROFILE_AHEAD ? facts->hart_count : HF_PROFILE_AHEAD;
	int err = 0;

	for (size_t i = 0; i < count && !err; i++) {
		const struct hf_index_hart *hart = &facts->hart[i].info;
		struct hf_profile_text own = key;

		own.made.hart = hart->id;
		own.last = hart->insns - 1;
		if (hart->insns && hf_profile_exists(capture, facts, &facts->hart[i]))
			err = make_of(profiles, &own);
	}
	if (!err && facts->hart_count > 1)
		err = make_of(profiles, &key);
	return err;
}

void hf_profile_ahead_fini(struct hf_profiles *profiles)
{
	while (!hf_link_none(&profiles->sized))
		drop(profiles, HF_OWNER(profiles->sized.next, struct sized, used));
}

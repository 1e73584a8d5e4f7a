/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/profile/ahead.h"

#include "fs/base/common.h"
#include "fs/bytes/answer.h"
#include "fs/facts/queue.h"
#include "fs/profile/counted.h"

#include <stdlib.h>
#include <string.h>

/* What is known of a hart or a slice. */
struct sized {
	struct hf_job job;
	struct hf_link used; /* the profiles' lock, as are all below but key */
	struct hf_profiles *profiles;
	struct hf_profile_text key; /* its file is none */
	uint64_t size[HF_PROFILE_FILES];
	bool failed[HF_PROFILE_FILES];
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

/* NULL: out of memory, and nothing is known. */
static struct sized *find_or_add(struct hf_profiles *profiles, const struct hf_profile_text *key)
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
	for (size_t i = 0; i < HF_PROFILE_FILES; i++)
		sized->size[i] = HF_NOWHERE;
	hf_link_add(&profiles->sized, &sized->used);
	profiles->sized_count++;
	return sized;
}

uint64_t hf_profile_size(struct hf_profiles *profiles, const struct hf_profile_text *key)
{
	const struct sized *sized;

	if (hf_profile_when(key->file) == HF_PROFILE_ASKED)
		return HF_NOWHERE;
	HF_LOCKED(&profiles->lock);
	sized = find(profiles, key);
	return sized ? sized->size[key->file] : HF_NOWHERE;
}

void hf_profile_told(struct hf_profiles *profiles, const struct hf_profile_text *text)
{
	struct sized *sized;

	if (hf_profile_when(text->file) == HF_PROFILE_ASKED)
		return;
	HF_LOCKED(&profiles->lock);
	sized = find_or_add(profiles, text);
	if (sized)
		sized->size[text->file] = hf_sink_total(&text->text);
}

/* ---- making ---- */

static bool is_wanted(const struct sized *sized, enum hf_profile_file file)
{
	const enum hf_profile_when when = hf_profile_when(file);

	return sized->size[file] == HF_NOWHERE && !sized->failed[file] &&
	       (when == HF_PROFILE_SMALL ||
		(when == HF_PROFILE_LARGE && sized->key.last - sized->key.first < HF_PROFILE_DECODED));
}

/* The next file to make; HF_PROFILE_FILES: none, or it was looked at in a walk. */
static enum hf_profile_file next_file(struct sized *sized)
{
	enum hf_profile_file file = 0;
	int64_t since_ns;

	HF_LOCKED(&sized->profiles->lock);
	since_ns = sized->profiles->walked_ns - sized->looked_ns;
	if (since_ns >= 0 && since_ns < HF_PROFILE_WALK_NS)
		return HF_PROFILE_FILES;
	while (file < HF_PROFILE_FILES && !is_wanted(sized, file))
		file++;
	return file;
}

static int run(struct hf_job *job, struct hf_worker *worker)
{
	struct sized *sized = (struct sized *)job;
	struct hf_profiles *profiles = sized->profiles;
	struct hf_common *common = profiles->texts.common;
	struct hf_profile_text text = sized->key;
	int err;

	text.file = next_file(sized);
	if (text.file == HF_PROFILE_FILES || hf_stopping(common))
		return 0;
	err = hf_answer_make(text.made.capture, text.made.version, hf_profile_make, &text, worker);
	if (!err) {
		/* Counted before it is listed. */
		hf_metrics_add(&common->metrics.profiles, 1);
		hf_profile_told(profiles, &text);
	}
	hf_sink_fini_memory(&text.text);
	if (err == HF_ERR_CHANGED || err == HF_ERR_CANCELLED || hf_err_is_shortage(err))
		return err;
	pthread_mutex_lock(&profiles->lock);
	sized->failed[text.file] |= err != 0;
	pthread_mutex_unlock(&profiles->lock);
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
	struct sized *sized = NULL;

	/* Commands without a mount ask for what they want. */
	if (common->options.no_index)
		return;
	pthread_mutex_lock(&profiles->lock);
	if (note_look(profiles, key->made.capture, now))
		sized = find_or_add(profiles, key);
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

void hf_profile_ahead_fini(struct hf_profiles *profiles)
{
	while (!hf_link_none(&profiles->sized))
		drop(profiles, HF_OWNER(profiles->sized.next, struct sized, used));
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a capture, its facts, and messages about them. */

#include "fs/facts/state.h"
#include "codecs/base/errors.h"
#include "fs/base/common.h"
#include "fs/facts/capture.h"
#include "fs/facts/catalogue_use.h"
#include "fs/facts/facts.h"
#include "fs/facts/queue.h"

#include <stdlib.h>
#include <string.h>

static const char *const state_names[] = {"unknown", "queued", "indexing", "ready", "failed", "waiting", "gone"};

const char *hf_capture_state_name(enum hf_capture_state state)
{
	return state_names[state];
}

enum hf_capture_state hf_capture_told_state(const struct hf_capture *capture)
{
	return capture->state == HF_CAPTURE_READY && hf_facts_has_failed(capture->facts) ? HF_CAPTURE_FAILED
											 : capture->state;
}

/* Commands print it themselves, also "mount --wait": so only a notice. */
static void log_failure(const struct hf_capture *capture, const struct hf_facts *facts)
{
	char text[HF_FAILURE_SIZE];

	hf_facts_failure(facts, text, sizeof text);
	hf_common_log(capture->common, capture->common->options.no_index ? 7 : 5, "%s: %s", capture->path,
		      text);
}

/* What was made for other facts may have other sizes. */
static void forget_profiles(struct hf_capture *capture)
{
	HF_LOCKED(&capture->lock);
	free(capture->profiles);
	capture->profiles = NULL;
}

void hf_capture_settle(struct hf_capture *capture, uint64_t version, struct hf_facts *facts)
{
	const bool failed = hf_facts_has_failed(facts);
	struct hf_facts *old = NULL;
	bool settled = false, news, told = false;

	pthread_mutex_lock(&capture->lock);
	if (capture->version == version && (!capture->facts || capture->facts->recalled)) {
		old = capture->facts;
		capture->facts = hf_facts_ref(facts);
		capture->state = facts->failure.code ? HF_CAPTURE_FAILED : HF_CAPTURE_READY;
		capture->failed_ns = hf_now_ns();
		pthread_cond_broadcast(&capture->changed);
		settled = true;
		told = failed && capture->told == version + 1;
		if (failed)
			capture->told = version + 1;
	}
	pthread_mutex_unlock(&capture->lock);
	if (settled && failed && !told)
		log_failure(capture, facts);
	news = settled && !(old && hf_facts_same(old, facts));
	if (news && old)
		forget_profiles(capture);
	hf_facts_unref(old);
	if (!news)
		return;
	hf_catalogue_use_put(capture, facts);
	hf_jobs_notify(capture);
}

int hf_capture_facts_now(struct hf_capture *capture, struct hf_facts **ret_facts)
{
	HF_LOCKED(&capture->lock);
	*ret_facts = capture->facts ? hf_facts_ref(capture->facts) : NULL;
	return *ret_facts ? 0 : HF_ERR_BUSY;
}

/* A shortage passes, so it is tried again, but not for ever: somebody may wait for all captures. */
enum { SHORTAGES_MAX = 8 };

bool hf_capture_may_try(struct hf_capture *capture, int err)
{
	HF_LOCKED(&capture->lock);
	return hf_err_is_shortage(err) && capture->shortages++ < SHORTAGES_MAX;
}

bool hf_capture_failure(struct hf_capture *capture, struct hf_diag *ret_diag, char *text, size_t size)
{
	bool failed = false;

	HF_LOCKED(&capture->lock);
	if (capture->facts) {
		*ret_diag = capture->facts->failure.code ? capture->facts->failure : capture->facts->known.undecoded;
		failed = ret_diag->code;
		if (failed && text)
			hf_facts_failure(capture->facts, text, size);
	}
	return failed;
}

double hf_capture_percent(const struct hf_capture *capture)
{
	const struct hf_build_progress *progress = &capture->progress;

	if (capture->state == HF_CAPTURE_READY)
		return 100;
	if (capture->state != HF_CAPTURE_INDEXING || !progress->total)
		return 0;
	return progress->done >= progress->total ? 100 : 100.0 * (double)progress->done / (double)progress->total;
}

double hf_capture_seconds_left(const struct hf_capture *capture)
{
	const struct hf_build_progress *progress = &capture->progress;
	const int64_t now_ns = capture->paused_ns ? capture->paused_ns : hf_now_ns();
	const double spent = (double)(now_ns - capture->started_ns) / 1e9;

	/* At the beginning any number would be a guess. */
	if (capture->state != HF_CAPTURE_INDEXING || !progress->done || progress->done > progress->total || spent < 0.2)
		return -1;
	return spent * (double)(progress->total - progress->done) / (double)progress->done;
}

char *hf_capture_profiles(struct hf_capture *capture, uint64_t version)
{
	HF_LOCKED(&capture->lock);
	return capture->profiles && capture->profiles_of == version ? strdup(capture->profiles) : NULL;
}

/* The lines of old, but for one that begins like line, then line; to be freed. NULL: out of memory. */
static char *add_line(const char *old, const char *line)
{
	const size_t words = strlen(HF_CATALOGUE_PROFILE), same = words + strcspn(line + words, " ") + 1;
	char *text = malloc(strlen(old) + strlen(line) + 1), *at = text;

	if (!text)
		return NULL;
	while (*old) {
		const size_t n = strcspn(old, "\n") + 1;

		if (strncmp(old, line, same) != 0) {
			memcpy(at, old, n);
			at += n;
		}
		old += n;
	}
	memcpy(at, line, strlen(line) + 1);
	for (at = text; strlen(at) > HF_CAPTURE_PROFILES;)
		at += strcspn(at, "\n") + 1;
	memmove(text, at, strlen(at) + 1);
	return text;
}

void hf_capture_remember_profile(struct hf_capture *capture, uint64_t version, const char *line)
{
	struct hf_facts *facts = NULL;
	char *text = NULL;

	pthread_mutex_lock(&capture->lock);
	if (capture->version == version && capture->facts) {
		facts = hf_facts_ref(capture->facts);
		text = add_line(capture->profiles && capture->profiles_of == version ? capture->profiles : "", line);
	}
	if (text) {
		free(capture->profiles);
		capture->profiles = text;
		capture->profiles_of = version;
	}
	pthread_mutex_unlock(&capture->lock);
	if (text)
		hf_catalogue_use_put(capture, facts);
	hf_facts_unref(facts);
}

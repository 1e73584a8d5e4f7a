/* SPDX-License-Identifier: Apache-2.0 */
/* Throws away an index that gave wrong bytes. */
#include "fs/capture/drop_index.h"
#include "codecs/base/errors.h"
#include "fs/base/common.h"
#include "fs/capture/open_pool.h"
#include "fs/facts/capture.h"
#include "fs/facts/catalogue_use.h"
#include "fs/facts/facts.h"
#include "fs/facts/index_dir.h"
#include "fs/facts/open_facts.h"
#include "fs/facts/queue.h"
#include "fs/facts/shared.h"
#include "fs/facts/state.h"

/* So often in that time a version may be indexed again because its views came out otherwise: more of it would be a bug
 * of ours. An index that cannot be read does not count. */
enum { REBUILDS_MAX = 2 };
#define REBUILDS_NS (INT64_C(60) * 1000000000)

/* With the lock held. */
static bool may_rebuild(struct hf_capture *capture)
{
	const int64_t now_ns = hf_now_ns();

	if (now_ns - capture->rebuilt_ns > REBUILDS_NS)
		capture->rebuilt = 0;
	capture->rebuilt_ns = now_ns;
	/* Part of the identity of its index files. */
	capture->rebuilds++;
	return capture->rebuilt++ < REBUILDS_MAX;
}

void hf_capture_drop_index(struct hf_capture *capture, uint64_t version, int why)
{
	const struct hf_shared *shared = capture->shared;
	struct hf_diag diag = {.code = why, .offset = HF_NOWHERE};
	char text[HF_DIAG_SIZE];
	struct hf_facts *facts = NULL, *failed = NULL;
	bool again = false, ours;

	if (why == HF_ERR_INDEX_DIR)
		hf_index_dir_failed(shared->index_dir);
	if (hf_stopping(shared->common))
		return;
	hf_facts_new_failed(capture, version + 1, &diag, &failed);
	pthread_mutex_lock(&capture->lock);
	ours = capture->version == version && capture->state == HF_CAPTURE_READY;
	if (ours) {
		/* Files opened before must not get bytes of two indexes. */
		atomic_fetch_add(&capture->version, 1);
		facts = capture->facts;
		capture->facts = NULL;
		again = why == HF_ERR_INDEX_DIR || may_rebuild(capture);
		capture->repair = false;
		capture->state = HF_CAPTURE_UNKNOWN;
	}
	pthread_mutex_unlock(&capture->lock);
	if (ours) {
		hf_diag_format(&diag, text, sizeof text);
		hf_common_log(shared->common, 3, "%s: index: %s; %s", capture->path, text,
			      again ? "it is built anew" : "given up");
		hf_catalogue_use_put(capture, NULL);
		hf_open_discard(capture, version, why);
		hf_facts_forget(facts, shared->common->cache);
		hf_facts_unref(facts);
		if (!again && failed)
			hf_capture_settle(capture, version + 1, failed);
		else if (!shared->common->options.no_index)
			hf_jobs_add(capture, true);
		hf_jobs_notify(capture);
	}
	hf_facts_unref(failed);
}

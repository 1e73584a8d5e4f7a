/* SPDX-License-Identifier: Apache-2.0 */
/* Checking all bytes of a capture against its index, on all threads that decode. */
#include "codecs/source/errors.h"
#include "fs/base/views.h"
#include "fs/bytes/bytes.h"
#include "fs/bytes/kinds.h"
#include "fs/capture/all.h"
#include "fs/capture/drop_index.h"
#include "fs/capture/open_pool.h"
#include "fs/facts/facts.h"

#include <stdlib.h>

struct verify {
	pthread_mutex_t lock;
	struct hf_bytes *bytes;
	uint64_t *bad_of; /* bytes[i] */
	size_t count;
	size_t next;
	uint64_t next_number;
	struct hf_open *open;
	uint64_t chunks, bad;
	int err;
};

struct verify_job {
	struct hf_job job;
	struct verify *verify;
};

/* The next chunk to be checked. */
static bool take_chunk(struct verify *verify, size_t *ret_i, struct hf_bytes *ret_bytes, uint64_t *ret_number)
{
	struct hf_piece piece;
	bool found = false;

	HF_LOCKED(&verify->lock);
	while (!found && !verify->err && verify->next < verify->count) {
		*ret_i = verify->next;
		*ret_bytes = verify->bytes[verify->next];
		*ret_number = verify->next_number++;
		found = ret_bytes->ops->piece(ret_bytes, verify->open, *ret_number, &piece) != HF_NOTE_END;
		if (!found) {
			verify->next++;
			verify->next_number = 0;
		}
	}
	verify->chunks += found;
	return found;
}

static int run_verify(struct hf_job *job, struct hf_worker *worker)
{
	struct verify *verify = ((struct verify_job *)job)->verify;
	struct hf_bytes bytes;
	uint64_t number;
	size_t i;

	while (take_chunk(verify, &i, &bytes, &number)) {
		uint8_t *made;
		size_t size;
		int err = hf_bytes_make_piece(&bytes, verify->open, number, worker, &made, &size);

		if (!err)
			free(made);
		pthread_mutex_lock(&verify->lock);
		/* A damaged chunk of the container is as the index has it. */
		if (err == HF_ERR_MISMATCH || err == HF_ERR_STATE)
			verify->bad++, verify->bad_of[i]++;
		else if (err && err != HF_ERR_ZSTF_CHUNK)
			verify->err = err;
		pthread_mutex_unlock(&verify->lock);
	}
	return 0;
}

/* All that can be made of a capture. */
static int list_bytes(struct verify *verify, struct hf_capture *capture)
{
	const struct hf_facts *facts = verify->open->facts;
	const size_t most = 2 + HF_TEXTS + (facts->hart_count + 1) * HF_VIEW_ALL;

	verify->bytes = calloc(most, sizeof *verify->bytes);
	verify->bad_of = calloc(most, sizeof *verify->bad_of);
	if (!verify->bytes || !verify->bad_of)
		return HF_ERR_NOMEM;
	verify->count += !hf_bytes_of_stream(capture, facts, &verify->bytes[verify->count]);
	for (int i = 0; i < HF_TEXTS; i++)
		verify->count += !hf_bytes_of_text(capture, facts, (enum hf_text)i, &verify->bytes[verify->count]);
	verify->count += !hf_bytes_of_merged(capture, facts, &verify->bytes[verify->count]);
	for (size_t i = 0; i < facts->hart_count + facts->has_records; i++)
		for (int k = 0; k < HF_VIEW_ALL; k++)
			if (k != facts->known.original)
				verify->count += !hf_bytes_of_view(capture, facts, facts->hart[i].info.id, (size_t)k,
								   &verify->bytes[verify->count]);
	return 0;
}

/* Which files promised something else. */
static void tell_bad(struct hf_common *common, const struct verify *verify)
{
	for (size_t i = 0; verify->bad_of && i < verify->count; i++) {
		const struct hf_bytes *bytes = &verify->bytes[i];

		if (verify->bad_of[i])
			hf_common_log(common, 4, "%s: index file %s: %llu chunks do not come out as it promises",
				  bytes->capture->path,
				  bytes->ops->table ? hf_view_table_name(verify->open->table[bytes->view])
						    : hf_index_name(verify->open->index),
				  (unsigned long long)verify->bad_of[i]);
	}
}

static int run_all(struct hf_common *common, struct verify *verify)
{
	const unsigned threads = hf_exec_seats(common->exec, HF_WORK_DECODE);
	struct verify_job *job = calloc(threads, sizeof *job);

	if (!job)
		return HF_ERR_NOMEM;
	for (unsigned i = 0; i < threads; i++) {
		job[i] = (struct verify_job){.job = {.fn = run_verify, .work = HF_WORK_DECODE, .urgency = HF_LATER},
					     .verify = verify};
		hf_job_submit(common->exec, &job[i].job);
	}
	for (unsigned i = 0; i < threads; i++)
		hf_job_join(&job[i].job);
	free(job);
	return verify->err;
}

int hf_bytes_verify(struct hf_captures *all, const char *path, uint64_t *ret_chunks, uint64_t *ret_bad,
		    struct hf_diag *diag)
{
	struct verify verify = {.lock = PTHREAD_MUTEX_INITIALIZER};
	struct hf_capture *capture;
	uint64_t version = 0;
	int err = hf_capture_at(all, path, &capture);

	*ret_chunks = *ret_bad = 0;
	if (!err) {
		version = capture->version;
		err = hf_open_get(capture, version, &verify.open);
	}
	/* Somebody removed a table just now. */
	if (!err && verify.open->missing) {
		hf_open_put(verify.open);
		err = HF_ERR_NOT_FOUND;
	}
	if (err)
		return hf_diag_set(diag, err, HF_SPACE_FILE, HF_NOWHERE, 0);
	err = list_bytes(&verify, capture);
	if (!err)
		err = run_all(capture->common, &verify);
	*ret_chunks = verify.chunks;
	*ret_bad = verify.bad;
	tell_bad(capture->common, &verify);
	hf_open_put(verify.open);
	free(verify.bytes);
	free(verify.bad_of);
	/* Nobody else is to be served from it. */
	if (verify.bad)
		hf_capture_drop_index(capture, version, HF_ERR_MISMATCH);
	return err ? hf_diag_set(diag, err, HF_SPACE_FILE, HF_NOWHERE, 0) : 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/capture/opens.h"
#include "fs/capture/block_source.h"
#include "fs/core.h"
#include "fs/capture/info.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <xxhash.h>

/* A number for what the capture is now. */
static uint64_t content_of(struct hf_capture *capture)
{
	uint64_t words[5];

	pthread_mutex_lock(&capture->lock);
	words[0] = capture->stamp.ino;
	words[1] = (uint64_t)capture->stamp.size;
	words[2] = (uint64_t)capture->stamp.mtime_ns;
	words[3] = capture->rebuilds;
	words[4] = capture->stamp.beside;
	pthread_mutex_unlock(&capture->lock);
	return XXH3_64bits(words, sizeof words) | 1;
}

struct hf_facts *hf_facts_new(struct hf_capture *capture, uint64_t version)
{
	struct hf_facts *facts = calloc(1, sizeof *facts);

	if (!facts)
		return NULL;
	atomic_init(&facts->refs, 1);
	facts->version = version;
	facts->content = content_of(capture);
	facts->source = (struct hf_facts_view){HF_NOWHERE, hf_cache_owner(capture->fs->cache)};
	for (size_t i = 0; i < HF_TEXTS; i++)
		facts->text[i] = (struct hf_facts_view){HF_NOWHERE, hf_cache_owner(capture->fs->cache)};
	facts->original = -1;
	return facts;
}

int hf_facts_new_failed(struct hf_capture *capture, uint64_t version, const struct hf_diag *diag,
			struct hf_facts **ret_facts)
{
	struct hf_facts *facts = hf_facts_new(capture, version);
	int err;

	*ret_facts = NULL;
	if (!facts)
		return HF_ERR_NOMEM;
	facts->failure = *diag;
	pthread_mutex_lock(&capture->lock);
	if (capture->complaint && capture->version == version)
		facts->complaint = strdup(capture->complaint);
	pthread_mutex_unlock(&capture->lock);
	err = hf_info_measure(capture, NULL, facts);
	if (err)
		hf_facts_unref(facts);
	else
		*ret_facts = facts;
	return err;
}

bool hf_facts_has_failed(const struct hf_facts *facts)
{
	return facts->failure.code || facts->undecoded.code;
}

void hf_facts_failure(const struct hf_facts *facts, char *buf, size_t size)
{
	if (facts->complaint)
		snprintf(buf, size, "%s", facts->complaint);
	else
		hf_diag_format(facts->failure.code ? &facts->failure : &facts->undecoded, buf, (int)size);
}

uint64_t hf_facts_text(const struct hf_facts *facts)
{
	const char *complaint = facts->complaint ? facts->complaint : "";
	const struct hf_diag *failure = facts->failure.code ? &facts->failure : &facts->undecoded;
	const uint64_t words[] = {
		facts->content, facts->text[HF_TEXT_INFO].size, facts->text[HF_TEXT_ERRORS].size,
		(uint64_t)failure->code,
		facts->failure.code ? failure->offset : 0, facts->failure.code ? failure->detail : 0,
		XXH3_64bits(complaint, strlen(complaint)),
	};

	return XXH3_64bits(words, sizeof words) | 1;
}

struct hf_facts *hf_facts_ref(struct hf_facts *facts)
{
	atomic_fetch_add(&facts->refs, 1);
	return facts;
}

void hf_facts_unref(struct hf_facts *facts)
{
	if (!facts || atomic_fetch_sub(&facts->refs, 1) != 1)
		return;
	for (size_t i = 0; facts->hart && i < facts->hart_count + facts->has_records; i++) {
		free(facts->hart[i].view);
		free(facts->hart[i].no_program);
	}
	free(facts->hart);
	free(facts->refusal);
	free(facts->complaint);
	free(facts);
}

static bool same_hart(const struct hf_index_hart *a, const struct hf_index_hart *b)
{
	return a->id == b->id && a->insns == b->insns && a->attempts == b->attempts && a->events == b->events &&
	       a->chunks == b->chunks;
}

static bool same_views(const struct hf_facts_hart *a, const struct hf_facts_hart *b)
{
	for (size_t i = 0; i < HF_VIEW_ALL; i++)
		if (a->view[i].size != b->view[i].size)
			return false;
	return same_hart(&a->info, &b->info);
}

bool hf_facts_same(const struct hf_facts *a, const struct hf_facts *b)
{
	if (a->content != b->content || a->failure.code != b->failure.code || a->codec != b->codec ||
	    a->undecoded.code != b->undecoded.code || strcmp(a->stream.version, b->stream.version) != 0 ||
	    a->stream.arch != b->stream.arch || a->stream.isa != b->stream.isa || a->stream.xlen != b->stream.xlen ||
	    a->problems != b->problems || a->source.size != b->source.size || a->original != b->original ||
	    a->text[HF_TEXT_INFO].size != b->text[HF_TEXT_INFO].size ||
	    a->text[HF_TEXT_ERRORS].size != b->text[HF_TEXT_ERRORS].size || a->hart_count != b->hart_count ||
	    a->has_records != b->has_records || a->print[0] != b->print[0] || a->print[1] != b->print[1])
		return false;
	for (size_t i = 0; i < a->hart_count + a->has_records; i++)
		if (!same_views(&a->hart[i], &b->hart[i]))
			return false;
	return true;
}

void hf_facts_forget(const struct hf_facts *facts, struct hf_cache *cache)
{
	for (size_t i = 0; i < HF_TEXTS; i++)
		hf_cache_drop(cache, facts->text[i].owner);
	hf_cache_drop(cache, facts->source.owner);
	for (size_t i = 0; i < facts->hart_count + facts->has_records; i++)
		for (size_t k = 0; k < HF_VIEW_ALL; k++)
			hf_cache_drop(cache, facts->hart[i].view[k].owner);
}

const struct hf_facts_hart *hf_facts_hart(const struct hf_facts *facts, uint32_t id)
{
	for (size_t i = 0; i < facts->hart_count + facts->has_records; i++)
		if (facts->hart[i].info.id == id)
			return &facts->hart[i];
	return NULL;
}

static size_t count_harts(struct hf_index *index)
{
	const struct hf_index_hart *harts;

	return hf_index_harts(index, &harts);
}

/* Whether the stream has one hart only and is, as it is, its codec's view of it. */
static bool is_original(const struct hf_open *open, size_t view)
{
	return (open->stream->info.flags & HF_STREAM_ORIGINAL) && hf_views[view] == open->stream->codec->original &&
	       count_harts(open->index) == 1 && !hf_index_has_holes(open->index);
}

static struct hf_view_key key_of(const struct hf_fs *fs, const struct hf_companion *companion, size_t view)
{
	const struct hf_enc_ops *ops = hf_fs_view_ops(view);

	return (struct hf_view_key){
		.ops = ops,
		.params = ops && ops->flags & HF_ENC_SYMBOLS ? companion->params : hf_view_params(fs, view),
		.options = fs->view_options[view],
	};
}

size_t hf_open_views(struct hf_capture *capture, const struct hf_companion *companion, struct hf_view_key *key)
{
	const struct hf_fs *fs = capture->fs;
	const struct hf_codec *codec = capture->codec;
	size_t n = 0;

	for (size_t i = 0; i < HF_VIEW_COUNT; i++)
		if (fs->wanted[i] && i != HF_VIEW_PROGRAM && (i != HF_VIEW_RECORDS || (codec && codec->records)))
			key[n++] = key_of(fs, companion, i);
	return n;
}

/* Whether there is a table for the view: not for what the stream cannot have, or is itself. */
static bool has_table(const struct hf_open *open, size_t view)
{
	const struct hf_stream *stream = open->stream;

	if (!open->capture->fs->wanted[view] || !stream || view == HF_VIEW_PROGRAM)
		return false;
	if (view == HF_VIEW_RECORDS)
		return hf_index_records(open->index);
	return !hf_enc_refusal(hf_fs_view_ops(view), &stream->info) && !is_original(open, view);
}

void hf_open_discard_files(const struct hf_open *open, int why)
{
	struct hf_view_key key[HF_VIEW_COUNT];
	const size_t count = hf_open_views(open->capture, &open->companion, key);
	const int dirfd = open->capture->fs->index_fd;

	if (why == HF_ERR_INDEX_DIR)
		hf_index_hide(dirfd, &open->trace.identity, key, count);
	else
		hf_index_discard(dirfd, &open->trace.identity, key, count);
}

void hf_open_close(struct hf_open *open)
{
	for (size_t i = 0; open->table && i < HF_VIEW_COUNT; i++)
		if (open->table[i])
			hf_view_table_close(open->table[i]);
	free(open->table);
	hf_stream_close(open->stream);
	hf_src_free(open->source);
	if (open->index)
		hf_index_close(open->index);
	hf_trace_close(&open->trace);
	hf_companion_close(&open->companion);
	hf_facts_unref(open->facts);
	free(open);
}

static int open_stream(struct hf_open *open)
{
	const struct hf_codec *codec = hf_index_codec(open->index);
	int err;

	if (!codec)
		return 0;
	err = hf_stream_open(codec, open->source, open->trace.setup, &open->stream, NULL);
	if (err)
		open->stream = NULL;
	/* It could be opened when it was indexed. */
	return !err || hf_err_is_passing(err) ? err : HF_ERR_STATE;
}

static int open_tables(struct hf_open *open)
{
	const struct hf_fs *fs = open->capture->fs;

	open->table = calloc(HF_VIEW_COUNT, sizeof *open->table);
	if (!open->table)
		return HF_ERR_NOMEM;
	for (size_t i = 0; i < HF_VIEW_COUNT; i++) {
		struct hf_view_key key = key_of(fs, &open->companion, i);
		int err;

		if (!has_table(open, i))
			continue;
		err = hf_view_table_open(fs->index_fd, &open->trace.identity, &key, &open->table[i]);
		if (err)
			open->table[i] = NULL;
		if (err && err != HF_ERR_NOT_FOUND)
			return err;
		if (!err && !hf_view_table_fits(open->table[i], open->index)) {
			hf_view_table_close(open->table[i]);
			open->table[i] = NULL;
		}
		open->missing |= !open->table[i];
	}
	return 0;
}

static void find_refusals(struct hf_open *open, struct hf_facts *facts)
{
	const bool *wanted = open->capture->fs->wanted;

	for (size_t i = 0; i < HF_VIEW_COUNT; i++) {
		const struct hf_enc_ops *enc = hf_fs_view_ops(i);

		if (!enc)
			continue;
		if (!open->stream)
			facts->refusal[i] = "the capture could not be opened";
		else if (i == HF_VIEW_RECORDS)
			facts->refusal[i] = hf_index_records(open->index) ? NULL : "the format has no records as text";
		else
			facts->refusal[i] = hf_enc_refusal(enc, &open->stream->info);
		if (!facts->refusal[i] && !wanted[i])
			facts->refusal[i] = "not among the views that were asked for";
	}
}

/* The sizes of one hart's views. recalled has those of which the table is missing. */
static int make_facts_hart(struct hf_open *open, const struct hf_facts *recalled, struct hf_facts *facts,
			   const struct hf_index_hart *info, struct hf_facts_hart *hart)
{
	const struct hf_facts_hart *known = recalled ? hf_facts_hart(recalled, info->id) : NULL;
	const bool records = info->id == HF_HART_RECORDS;
	int err = 0;

	hart->info = *info;
	hart->view = calloc(HF_VIEW_ALL, sizeof *hart->view);
	if (!hart->view)
		return HF_ERR_NOMEM;
	for (size_t i = 0; i < HF_VIEW_ALL; i++) {
		hart->view[i].owner = hf_cache_owner(open->capture->fs->cache);
		hart->view[i].size = HF_NOWHERE;
		if (i >= HF_VIEW_COUNT)
			continue;
		if (facts->original == (int)i && !records)
			hart->view[i].size = facts->source.size;
		else if (open->table[i] && records == (i == HF_VIEW_RECORDS))
			hart->view[i].size = hf_view_table_size(open->table[i], info->id);
		else if (!open->table[i] && known && has_table(open, i) && records == (i == HF_VIEW_RECORDS))
			hart->view[i].size = known->view[i].size;
		else if (!open->table[i] && has_table(open, i) && records == (i == HF_VIEW_RECORDS))
			err = HF_ERR_NOT_FOUND;
	}
	if (!err && !records && !facts->refusal[HF_VIEW_PROGRAM])
		err = hf_executable_measure(open, info->id, hart->view, &hart->no_program);
	/* A directory that is to be a capture is one only with its program. */
	for (size_t i = 0; i < HF_ENC_COUNT; i++)
		if (hart->view[HF_VIEW_PROGRAM].size == HF_NOWHERE && hf_view_dir(i, NULL))
			hart->view[i].size = HF_NOWHERE;
	/* The caller does not count it. */
	if (err)
		free(hart->view);
	return err;
}

static int make_facts_harts(struct hf_open *open, const struct hf_facts *recalled, struct hf_facts *facts)
{
	const struct hf_index_hart *harts, *records = open->stream ? hf_index_records(open->index) : NULL;
	size_t count = open->stream ? hf_index_harts(open->index, &harts) : 0;
	int err = 0;

	facts->hart = calloc(count + 1, sizeof *facts->hart);
	if (!facts->hart)
		return HF_ERR_NOMEM;
	for (size_t i = 0; open->stream && i < HF_ENC_COUNT; i++)
		if (is_original(open, i) && !facts->refusal[i])
			facts->original = (int)i;
	for (size_t i = 0; i < count && !err; i++) {
		err = make_facts_hart(open, recalled, facts, &harts[i], &facts->hart[facts->hart_count]);
		facts->hart_count += !err;
	}
	if (!err && records) {
		err = make_facts_hart(open, recalled, facts, records, &facts->hart[facts->hart_count]);
		facts->has_records = !err;
	}
	return err;
}

/* Whether a stream of instructions has none, or could not be opened at all. */
static bool is_void(const struct hf_open *open)
{
	const struct hf_index_hart *harts;
	const size_t count = open->stream ? hf_index_harts(open->index, &harts) : 0;

	for (size_t i = 0; i < count; i++)
		if (harts[i].insns || harts[i].attempts)
			return false;
	return !open->stream || (open->stream->info.flags & HF_STREAM_HARTS);
}

/* Nothing could be decoded, and there is a problem that says why. */
static int describe_void(struct hf_open *open, struct hf_facts *facts)
{
	struct hf_index_problem problem;
	char text[HF_FAILURE_SIZE];

	if (!is_void(open) || !facts->problems || hf_index_problem_at(open->index, 0, &problem))
		return 0;
	facts->undecoded = problem.diag;
	if (!hf_info_cause(open, &problem, text, sizeof text))
		return 0;
	facts->complaint = strdup(text);
	return facts->complaint ? 0 : HF_ERR_NOMEM;
}

static int describe(struct hf_open *open, struct hf_facts *facts)
{
	const struct hf_stream_info *info = open->stream ? &open->stream->info : NULL;

	facts->problems = hf_index_problem_count(open->index);
	if (info) {
		snprintf(facts->stream.version, sizeof facts->stream.version, "%s", info->version ? info->version : "");
		facts->stream.arch = (uint8_t)info->arch;
		if (info->flags & HF_STREAM_HARTS) {
			facts->stream.isa = (uint8_t)info->isa;
			facts->stream.xlen = (uint16_t)info->xlen;
		}
	}
	return describe_void(open, facts);
}

static uint64_t index_size(const struct hf_open *open)
{
	uint64_t size = hf_index_file_size(open->index);

	for (size_t i = 0; i < HF_VIEW_COUNT; i++)
		if (open->table[i])
			size += hf_view_table_file_size(open->table[i]);
	return size;
}

static bool hart_fits(const struct hf_open *open, const struct hf_index_hart *info)
{
	const struct hf_facts_hart *hart = hf_facts_hart(open->facts, info->id);

	if (!hart || !same_hart(&hart->info, info))
		return false;
	for (size_t i = 0; i < HF_VIEW_COUNT; i++)
		if (open->table[i] && (info->id == HF_HART_RECORDS) == (i == HF_VIEW_RECORDS) &&
		    hart->view[i].size != HF_NOWHERE &&
		    hart->view[i].size != hf_view_table_size(open->table[i], info->id))
			return false;
	return true;
}

/* Whether the index is as long in everything as what is known: it may have been made again since. */
static bool fits(const struct hf_open *open)
{
	const struct hf_index_hart *harts, *records = open->stream ? hf_index_records(open->index) : NULL;
	const size_t count = open->stream ? hf_index_harts(open->index, &harts) : 0;
	const struct hf_facts *facts = open->facts;

	if (facts->hart_count != count || facts->has_records != (records != NULL) ||
	    facts->codec != hf_index_codec(open->index) || facts->problems != hf_index_problem_count(open->index) ||
	    facts->source.size != (facts->codec ? hf_index_stream_size(open->index) : HF_NOWHERE))
		return false;
	for (size_t i = 0; i < count; i++)
		if (!hart_fits(open, &harts[i]))
			return false;
	return !records || hart_fits(open, records);
}

/* recalled may be NULL. */
static int make_facts(struct hf_open *open, const struct hf_facts *recalled)
{
	struct hf_facts *facts = hf_facts_new(open->capture, open->version);
	int err;

	if (!facts)
		return HF_ERR_NOMEM;
	open->facts = facts;
	facts->print[0] = open->trace.identity.print[0];
	facts->print[1] = open->trace.identity.print[1];
	facts->codec = hf_index_codec(open->index);
	facts->source.size = facts->codec ? hf_index_stream_size(open->index) : HF_NOWHERE;
	facts->refusal = calloc(HF_VIEW_COUNT, sizeof *facts->refusal);
	if (!facts->refusal)
		return HF_ERR_NOMEM;
	find_refusals(open, facts);
	facts->index_size = index_size(open);
	err = describe(open, facts);
	if (!err)
		err = make_facts_harts(open, recalled, facts);
	return err ? err : hf_info_measure(open->capture, open, facts);
}

/* It is of no use, or cannot be read. */
static int discard(struct hf_open *open, int why)
{
	if (why == HF_ERR_INDEX_DIR)
		hf_index_dir_failed(&open->capture->fs->index_dir);
	/* What is known to be damaged goes alone. */
	if (why != HF_ERR_STATE || !hf_open_remove_damaged(open))
		hf_open_discard_files(open, why);
	return HF_ERR_NOT_FOUND;
}

/* Whether an index can be one of the file: what it leaves out would be lost without a word. */
static bool is_plausible(const struct hf_open *open)
{
	const struct hf_codec *codec = hf_index_codec(open->index);
	const uint64_t stream = hf_index_stream_size(open->index), file = open->trace.file->size;
	struct hf_diag damage;

	if (!codec)
		return true;
	if (codec->records && !hf_index_records(open->index))
		return false;
	/* Of plain bytes there are as many as the file has, or fewer before damage. */
	return hf_index_box(open->index) || stream == file ||
	       (stream < file && hf_index_damage(open->index, &damage));
}

/* What there is in the index directory. HF_ERR_NOT_FOUND also if it is of no use: then it is not there any more. */
static int open_indexed(struct hf_open *open)
{
	struct hf_fs *fs = open->capture->fs;
	int err = hf_index_open(fs->index_fd, &open->trace.identity, &open->index);

	if (err)
		open->index = NULL;
	else if (!is_plausible(open))
		return discard(open, HF_ERR_STATE);
	if (!err) {
		err = hf_block_source_new(open->trace.file, open->index, fs->cache, &open->source);
		if (err) {
			open->source = NULL;
			return err;
		}
		hf_spooler_attach(open);
		err = open_stream(open);
		/* A bad disk under the archive is not the index' fault. */
		if (err && err != HF_ERR_STATE)
			return err;
	}
	if (!err)
		err = open_tables(open);
	if (!err || err == HF_ERR_NOT_FOUND || hf_err_is_shortage(err))
		return err;
	return discard(open, err);
}

/* Facts once known stay: the cache has their owners, the kernel their sizes. */
static int take_facts(struct hf_open *open)
{
	struct hf_facts *recalled;
	int err;

	if (hf_capture_facts_now(open->capture, &open->facts))
		return open->missing ? HF_ERR_NOT_FOUND : make_facts(open, NULL);
	if (!open->facts->recalled)
		return fits(open) ? 0 : HF_ERR_MISMATCH;
	recalled = open->facts;
	open->facts = NULL;
	err = make_facts(open, recalled);
	hf_facts_unref(recalled);
	return err;
}

/* Everything from the file on; what was opened before an error is the caller's to close. */
static int open_all(struct hf_open *open, const struct hf_stamp *stamp)
{
	int err = hf_capture_open_trace(open->capture, stamp, &open->trace, NULL);

	if (!err)
		err = hf_companion_open(&open->capture->fs->held, open->capture->path, &open->trace, stamp->beside,
					open->capture->fs->params, &open->companion);
	if (!err)
		err = open_indexed(open);
	if (!err)
		err = take_facts(open);
	/* The code of a hart is damaged, or cannot be read. */
	if (err == HF_ERR_STATE || err == HF_ERR_INDEX_DIR)
		err = discard(open, err);
	if (!err && open->facts->version != open->version)
		err = HF_ERR_CHANGED;
	return err;
}

static uint64_t setup_memory(const struct hf_setup *setup)
{
	/* A row with its texts. */
	enum { ROW = 256 };
	uint64_t bytes = 0;

	if (!setup)
		return 0;
	for (size_t i = 0; i < setup->image_count; i++)
		bytes += setup->images[i].program.bytes;
	return bytes + sizeof *setup + (setup->file_count * 8 + 1) * sizeof *setup->images +
	       (setup->file_count + setup->value_count + setup->part_count + setup->warning_count) * ROW;
}

uint64_t hf_open_memory(const struct hf_open *open)
{
	/* The stream with its header, the source with its hints, and what malloc adds to all of it. */
	enum { SMALL = 64 << 10 };
	uint64_t bytes = SMALL + setup_memory(open->trace.setup) + hf_symbols_memory(open->companion.symbols) +
			 hf_index_memory(open->index);

	for (size_t i = 0; i < HF_VIEW_COUNT; i++)
		if (open->table[i])
			bytes += hf_view_table_memory(open->table[i]);
	return bytes;
}

unsigned hf_open_files(const struct hf_open *open)
{
	unsigned count = 2; /* the index, and a spool if there is one */

	for (size_t i = 0; i < HF_VIEW_COUNT; i++)
		count += open->table[i] != NULL;
	return count;
}

int hf_open_new(struct hf_capture *capture, uint64_t version, struct hf_open **ret_open)
{
	struct hf_open *open = calloc(1, sizeof *open);
	struct hf_stamp stamp;
	bool current;
	int err;

	if (!open)
		return HF_ERR_NOMEM;
	open->capture = capture;
	open->version = version;
	pthread_mutex_lock(&capture->lock);
	current = capture->version == version && capture->state != HF_CAPTURE_GONE;
	stamp = capture->stamp;
	pthread_mutex_unlock(&capture->lock);
	capture->fs->memory.opened++;
	err = current ? open_all(open, &stamp) : HF_ERR_CHANGED;
	if (err) {
		hf_open_close(open);
		return err;
	}
	*ret_open = open;
	return 0;
}

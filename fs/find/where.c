/* SPDX-License-Identifier: Apache-2.0 */
/* The files of hartN/where/ as they are counted, kept and found again, and their bytes. */
#include "fs/find/where.h"
#include "codecs/base/errors.h"
#include "fs/capture/open_pool.h"
#include "fs/capture/repair.h"
#include "fs/facts/capture.h"
#include "fs/facts/facts.h"
#include "fs/find/answers.h"
#include "fs/find/untold.h"
#include "fs/find/where_value.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct hf_where {
	struct hf_wheres *wheres;
	struct hf_capture *capture;
	uint64_t version;
	uint32_t hart;
	enum hf_where_kind kind;
	char *value;
	/* set when it is made */
	struct hf_question *question;
	struct hf_terms *terms;
	struct hf_answers answers;
	bool by_list;	/* a summary had a part in it */
	uint64_t owner; /* in the cache */
	/* the wheres' lock */
	unsigned refs;
	bool made;
	int err; /* why it could not be, or is not to be used any more */
	struct hf_link used;
};

static const struct hf_bytes_ops bytes_ops;

/* ---- counting ---- */

static int check_told(const struct hf_find_ask *ask, const struct hf_find_source *source, struct hf_worker *worker)
{
	const struct hf_question *question = ask->terms->question;
	struct hf_find_term any;
	int err = 0;

	for (size_t i = 0; !err && hf_untold_probe(question, &i, &any); i++) {
		const struct hf_question probe = {.count = 1, .term = {any}};
		struct hf_find_source of = *source;
		struct hf_find_ask other = *ask;
		struct hf_terms *terms;
		bool told = true;
		char why[256];

		err = hf_terms_new(&probe, source->open, source->hart, &terms, why, sizeof why);
		if (err)
			return err;
		of.terms = other.terms = terms;
		err = hf_answers_any(&other, &of, worker, &told);
		hf_terms_free(terms);
		if (!err && !told)
			err = HF_ERR_WHERE_UNTOLD;
	}
	return err;
}

static int count_with(struct hf_where *where, struct hf_open *open, struct hf_summary *summary,
		      struct hf_worker *worker)
{
	const struct hf_facts_hart *hart = hf_facts_hart(open->facts, where->hart);
	const struct hf_find_source source = {.open = open, .terms = where->terms, .hart = where->hart};
	const struct hf_find_ask ask = {.terms = where->terms,
					.summary = summary,
					.index = open->index,
					.hart = where->hart,
					.high = hart->info.insns ? hart->info.chunks : 0,
					.disasm = worker->env.disasm};
	int err = hf_answers_count(&ask, &source, HF_WHERE_DECODED, worker, &where->answers);

	if (err)
		return err;
	if (where->answers.unknown)
		err = HF_ERR_WHERE_UNKNOWN;
	else if (!where->answers.total)
		err = check_told(&ask, &source, worker);
	if (err)
		hf_answers_fini(&where->answers);
	return err;
}

/* It was wrong: nobody uses it any more. */
static void distrust(const struct hf_where *where, struct hf_summary *summary)
{
	hf_common_log(where->capture->common, 4,
		      "%s: the summary is damaged and was removed (hartfs index makes it again)", where->capture->path);
	hf_summary_remove(summary);
}

static int count(struct hf_where *where, struct hf_open *open, struct hf_worker *worker)
{
	struct hf_summary *summary;
	int err = HF_ERR_STATE;

	if (!hf_open_summary(open, &summary)) {
		err = count_with(where, open, summary, worker);
		where->by_list = true;
		if (err == HF_ERR_STATE)
			distrust(where, summary);
		hf_summary_close(summary);
	}
	if (err != HF_ERR_STATE)
		return err;
	where->by_list = false;
	return count_with(where, open, NULL, worker);
}

static int make_where(struct hf_where *where, struct hf_open *open, struct hf_worker *worker)
{
	char why[256];
	int err;

	if (!open->stream || !hf_facts_hart(open->facts, where->hart))
		return HF_ERR_NOT_FOUND;
	if (hf_untold_by(where->question, open->stream->info.flags))
		return HF_ERR_WHERE_UNTOLD;
	err = hf_terms_new(where->question, open, where->hart, &where->terms, why, sizeof why);
	/* A name has its parameters, and one that only one has is spelled without its address. */
	if (!err && (where->terms->place[0].bare || (where->terms->place[0].at && where->terms->place[0].named == 1)))
		err = HF_ERR_NOT_FOUND;
	return err ? err : count(where, open, worker);
}

/* ---- by a thread of the executor ---- */

static int take_disasm(struct hf_worker *worker)
{
	if (!worker->env.disasm && hf_disasm_new(&worker->env.disasm)) {
		worker->env.disasm = NULL;
		return HF_ERR_NOMEM;
	}
	return 0;
}

struct make_job {
	struct hf_job job;
	struct hf_where *where;
	int err;
};

static int run_make(struct hf_job *job, struct hf_worker *worker)
{
	struct make_job *make = (struct make_job *)job;
	struct hf_where *where = make->where;
	const struct hf_bytes any = {.capture = where->capture, .version = where->version};
	struct hf_open *open;

	make->err = take_disasm(worker);
	if (!make->err)
		make->err = hf_capture_reopen(where->capture, where->version, -1, HF_REPAIR_MS, &open);
	if (make->err)
		return make->err;
	make->err = hf_bytes_check_made(&any, make_where(where, open, worker));
	hf_open_blame(open, make->err);
	hf_open_put(open);
	return make->err;
}

static void tell_limit(const struct hf_where *where)
{
	hf_common_log(where->capture->common, 6,
		      "%s: hart%" PRIu32 "/where/%s/%s is not there: more than 1,048,576 instructions would have to be "
		      "decoded to count its lines; ask with hartfs find",
		      where->capture->path, where->hart, hf_where_name(where->kind), where->value);
}

static int make(struct hf_where *where)
{
	struct make_job job = {
		.job = {.fn = run_make, .work = HF_WORK_DECODE}, .where = where, .err = HF_ERR_CANCELLED};
	int err = hf_where_ask(where->kind, where->value, &where->question);

	if (err)
		return err;
	hf_job_submit(where->capture->common->exec, &job.job);
	hf_job_join(&job.job);
	if (job.err == HF_ERR_WHERE_LIMIT)
		tell_limit(where);
	return job.err;
}

/* ---- keeping ---- */

void hf_wheres_init(struct hf_wheres *wheres, struct hf_common *common)
{
	*wheres = (struct hf_wheres){.common = common};
	hf_link_init(&wheres->used);
	pthread_mutex_init(&wheres->lock, NULL);
	pthread_cond_init(&wheres->made, NULL);
}

static size_t bytes_of(const struct hf_where *where)
{
	return sizeof *where + where->answers.count * sizeof *where->answers.row;
}

static void free_where(struct hf_where *where)
{
	if (where->owner)
		hf_cache_drop(where->wheres->common->cache, where->owner);
	hf_answers_fini(&where->answers);
	hf_terms_free(where->terms);
	hf_question_free(where->question);
	free(where->value);
	free(where);
}

static void free_all(const struct hf_link *list)
{
	for (struct hf_link *link = list->next, *next; link != list; link = next) {
		next = link->next;
		free_where(HF_OWNER(link, struct hf_where, used));
	}
}

void hf_wheres_fini(struct hf_wheres *wheres)
{
	free_all(&wheres->used);
	pthread_mutex_destroy(&wheres->lock);
	pthread_cond_destroy(&wheres->made);
}

static bool is_same(const struct hf_where *a, const struct hf_where *b)
{
	return a->capture == b->capture && a->version == b->version && a->hart == b->hart && a->kind == b->kind &&
	       strcmp(a->value, b->value) == 0;
}

/* One that failed is not what the next one gets who asks, once those who wait for it know. */
static struct hf_where *find(const struct hf_wheres *wheres, const struct hf_where *key)
{
	for (struct hf_link *link = wheres->used.next; link != &wheres->used; link = link->next) {
		struct hf_where *where = HF_OWNER(link, struct hf_where, used);

		if (is_same(where, key) && !(where->made && where->err))
			return where;
	}
	return NULL;
}

/* With the lock held: from the one used longest ago on. To be freed without it, as the cache has a lock of its own. */
static void drop_surplus(struct hf_wheres *wheres, struct hf_link *ret_surplus)
{
	hf_link_init(ret_surplus);
	for (struct hf_link *link = wheres->used.prev, *newer; link != &wheres->used; link = newer) {
		struct hf_where *where = HF_OWNER(link, struct hf_where, used);

		newer = link->prev;
		if (where->refs || !(where->err || wheres->count > HF_WHERE_KEPT || wheres->bytes > HF_WHERE_BYTES))
			continue;
		hf_link_remove(link);
		hf_link_add(ret_surplus, link);
		wheres->count--;
		wheres->bytes -= where->made ? bytes_of(where) : 0;
	}
}

static struct hf_where *new_where(const struct hf_where *key)
{
	struct hf_where *where = malloc(sizeof *where);

	if (!where)
		return NULL;
	*where = *key;
	where->value = strdup(key->value);
	if (where->value)
		return where;
	free(where);
	return NULL;
}

static void put(struct hf_where *where)
{
	struct hf_wheres *wheres = where->wheres;
	struct hf_link surplus;

	pthread_mutex_lock(&wheres->lock);
	where->refs--;
	drop_surplus(wheres, &surplus);
	pthread_mutex_unlock(&wheres->lock);
	free_all(&surplus);
}

/* With the lock held, which is released meanwhile. */
static void make_new(struct hf_where *where)
{
	struct hf_wheres *wheres = where->wheres;
	int err;

	pthread_mutex_unlock(&wheres->lock);
	err = make(where);
	if (!err)
		where->owner = hf_cache_owner(wheres->common->cache);
	pthread_mutex_lock(&wheres->lock);
	where->made = true;
	where->err = err;
	wheres->bytes += bytes_of(where);
	pthread_cond_broadcast(&wheres->made);
}

/* With a reference, and made, or *ret_err says why not. */
static struct hf_where *get(struct hf_wheres *wheres, const struct hf_where *key, int *ret_err)
{
	struct hf_where *where;

	HF_LOCKED(&wheres->lock);
	where = find(wheres, key);
	if (where) {
		hf_link_remove(&where->used);
	} else {
		where = new_where(key);
		wheres->count += where != NULL;
	}
	*ret_err = HF_ERR_NOMEM;
	if (!where)
		return NULL;
	hf_link_add(&wheres->used, &where->used);
	where->refs++;
	if (where->refs == 1 && !where->made)
		make_new(where);
	while (!where->made)
		pthread_cond_wait(&wheres->made, &wheres->lock);
	*ret_err = where->err;
	return where;
}

int hf_where_get(struct hf_wheres *wheres, struct hf_capture *capture, const struct hf_facts *facts, uint32_t hart,
		 enum hf_where_kind kind, const char *value, struct hf_bytes *ret_bytes)
{
	char name[NAME_MAX + 1];
	const struct hf_where key = {.wheres = wheres,
				     .capture = capture,
				     .version = facts->version,
				     .hart = hart,
				     .kind = kind,
				     .value = name};
	struct hf_where *where;
	int err;

	/* Whoever asks without a kernel may ask for longer ones. */
	if ((size_t)snprintf(name, sizeof name, "%s", value) >= sizeof name)
		return HF_ERR_NOT_FOUND;
	where = get(wheres, &key, &err);
	if (!err)
		*ret_bytes = (struct hf_bytes){.ops = &bytes_ops,
					       .capture = capture,
					       .version = facts->version,
					       .owner = where->owner,
					       .size = where->answers.total * HF_WHERE_LINE,
					       .hart = hart,
					       .own = where};
	else if (where)
		put(where);
	return err;
}

/* ---- the bytes ---- */

static const struct hf_where *where_of(const struct hf_bytes *bytes)
{
	return bytes->own;
}

static void ref_bytes(const struct hf_bytes *bytes)
{
	struct hf_where *where = bytes->own;

	HF_LOCKED(&where->wheres->lock);
	where->refs++;
}

static void unref_bytes(const struct hf_bytes *bytes)
{
	put(bytes->own);
}

static int piece_of(const struct hf_bytes *bytes, struct hf_open *open, uint64_t number, struct hf_piece *ret_piece)
{
	const struct hf_answers *answers = &where_of(bytes)->answers;

	(void)open;
	if (number >= answers->count)
		return HF_NOTE_END;
	*ret_piece = (struct hf_piece){.number = number,
				       .offset = answers->row[number].before * HF_WHERE_LINE,
				       .size = hf_answers_in(answers, (size_t)number) * HF_WHERE_LINE};
	return 0;
}

static int piece_at(const struct hf_bytes *bytes, struct hf_open *open, uint64_t offset, struct hf_piece *ret_piece)
{
	const struct hf_answers *answers = &where_of(bytes)->answers;
	size_t low = 0, high = answers->count;

	if (offset >= bytes->size)
		return HF_NOTE_END;
	/* The last that begins there or before. */
	while (high - low > 1) {
		const size_t mid = low + (high - low) / 2;

		if (answers->row[mid].before * HF_WHERE_LINE <= offset)
			low = mid;
		else
			high = mid;
	}
	return piece_of(bytes, open, low, ret_piece);
}

/* The lists that it was counted by are wrong. Whoever looks it up again gets it counted anew. */
static int refute(struct hf_where *where, const struct hf_open *open)
{
	struct hf_summary *summary;

	if (!where->by_list)
		return HF_ERR_MISMATCH;
	pthread_mutex_lock(&where->wheres->lock);
	where->err = HF_ERR_CHANGED;
	pthread_mutex_unlock(&where->wheres->lock);
	if (!hf_open_summary(open, &summary)) {
		distrust(where, summary);
		hf_summary_close(summary);
	}
	return HF_ERR_CHANGED;
}

static void write_lines(const struct hf_find_items *items, uint8_t *to)
{
	char line[HF_WHERE_LINE + 1];

	for (size_t i = 0; i < items->count; i++, to += HF_WHERE_LINE) {
		snprintf(line, sizeof line, "%*" PRIu64 "\n", (int)HF_WHERE_LINE - 1, items->item[i]);
		memcpy(to, line, HF_WHERE_LINE);
	}
}

static int fill(const struct hf_bytes *bytes, struct hf_open *open, const struct hf_piece *piece,
		struct hf_worker *worker, uint8_t *to)
{
	struct hf_where *where = bytes->own;
	const struct hf_find_source source = {.open = open, .terms = where->terms, .hart = where->hart};
	struct hf_find_reader *reader = calloc(1, sizeof *reader);
	struct hf_find_chunk chunk;
	int err = reader ? take_disasm(worker) : HF_ERR_NOMEM;

	if (!err) {
		reader->source = &source;
		err = hf_find_chunk(reader, where->answers.row[piece->number].chunk, worker, &chunk);
		hf_find_reader_fini(reader);
	}
	free(reader);
	if (err)
		return err;
	if (chunk.items.count * HF_WHERE_LINE != piece->size || chunk.items.yes != chunk.items.count)
		err = refute(where, open);
	else
		write_lines(&chunk.items, to);
	hf_find_chunk_fini(&chunk);
	return err;
}

static const struct hf_bytes_ops bytes_ops = {
	.piece_at = piece_at,
	.piece = piece_of,
	.fill = fill,
	.ref = ref_bytes,
	.unref = unref_bytes,
	.at_once = 16,
};

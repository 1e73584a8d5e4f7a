#include "fs/slice.h"
#include "fs/core.h"
#include "fs/info.h"
#include "fs/view.h"
#include "index/cut.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* What is kept of slices that nobody has open. */
enum { KEEP_COUNT = 4096, KEEP_BYTES = 32 << 20 };
/* Places at which a view can be entered; of a longer slice every second, fourth... chunk is one. */
enum { MARKS_MAX = 4096 };
/* Measuring up to so many instructions is done at once; of longer slices one after the other, in steps. */
#define SHORT (UINT64_C(4) << 20)
enum { QUEUE_MAX = 64 };
#define STEP_NS (INT64_C(20) * 1000000)
/* A lookup waits that long; nobody who asked for a long slice waits for its turn after that. */
#define PATIENCE_NS (INT64_C(2) * 1000000000)
#define WANTED_NS (INT64_C(60) * 1000000000)

enum state {
	ABSENT,  /* the hart has no such view */
	UNKNOWN, /* nobody asked, or it failed */
	QUEUED,  /* being measured, or waiting for that */
	READY,
};

/* Where a piece of a view begins. */
struct mark {
	uint64_t offset;
	uint16_t entry_size;
	uint8_t *entry; /* the encoder's; NULL: at the start */
};

/* One view. What is not the state changes only before it is READY. */
struct part {
	enum state state;
	int err;         /* why it is UNKNOWN again */
	uint64_t base;   /* of lines: where they begin in the whole */
	uint64_t size;
	uint64_t owner;  /* in the cache; of lines it is the whole's */
	uint64_t number; /* chunk of the first mark */
	uint64_t stride; /* chunks from mark to mark */
	size_t marks;
	struct mark *mark;
};

struct hf_slice {
	struct hf_capture *capture;
	uint64_t version;
	uint32_t hart;
	uint64_t first, last;
	/* the slices' lock */
	unsigned refs;
	int64_t started_ns; /* when it was queued */
	int64_t asked_ns;
	bool measuring;
	uint64_t done;      /* instructions of the part being measured */
	size_t bytes;
	struct hf_slice *next; /* in its bucket */
	struct hf_slice *newer, *older;
	struct part part[HF_VIEW_COUNT];
};

/* The measuring of one slice, on a thread of the pool. */
struct hf_measure {
	struct hf_job job;
	struct hf_slice *slice; /* one reference */
	struct hf_measure *next;
	struct hf_open *open;
	struct hf_cutter *cutter; /* of part view */
	size_t view;
	uint64_t chunk;           /* the cutter's next */
	bool turn;                /* it has the turn of the long ones */
	struct part part;
	struct hf_sink sink;
	uint8_t buf[2 * HF_SINK_ROOM];
	uint8_t entry[HF_STATE_MAX];
	struct hf_chunk at;
	struct hf_view_chunk view_at;
};

static bool is_lines(size_t view)
{
	return hf_fs_view_ops(view)->flags & HF_ENC_LINES;
}

/* ---- names ---- */

static const char *parse_number(const char *p, uint64_t *ret)
{
	const char *start = p;

	for (*ret = 0; *p >= '0' && *p <= '9'; p++) {
		if (*ret > (UINT64_MAX - 9) / 10)
			return NULL;
		*ret = *ret * 10 + (uint64_t)(*p - '0');
	}
	return p == start || (*start == '0' && p > start + 1) ? NULL : p;
}

bool hf_slice_parse(const char *name, uint64_t insns, uint64_t *ret_first, uint64_t *ret_last)
{
	const char *p = parse_number(name, ret_first);

	if (!p || *p++ != '-' || *ret_first >= insns)
		return false;
	*ret_last = insns - 1;
	if (!*p)
		return true;
	p = parse_number(p, ret_last);
	return p && !*p && *ret_first <= *ret_last && *ret_last < insns;
}

/* ---- the table ---- */

void hf_slices_init(struct hf_slices *slices)
{
	pthread_condattr_t attr;

	*slices = (struct hf_slices){0};
	pthread_mutex_init(&slices->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&slices->changed, &attr);
	pthread_condattr_destroy(&attr);
}

static void free_part(struct part *part)
{
	for (size_t i = 0; i < part->marks; i++)
		free(part->mark[i].entry);
	free(part->mark);
	part->mark = NULL;
	part->marks = 0;
}

static void free_slice(struct hf_slice *slice, struct hf_cache *cache)
{
	for (size_t i = 0; i < HF_VIEW_COUNT; i++) {
		if (slice->part[i].owner)
			hf_cache_drop(cache, slice->part[i].owner);
		free_part(&slice->part[i]);
	}
	free(slice);
}

void hf_slices_fini(struct hf_slices *slices, struct hf_cache *cache)
{
	while (slices->oldest) {
		struct hf_slice *slice = slices->oldest;

		slices->oldest = slice->newer;
		free_slice(slice, cache);
	}
	pthread_mutex_destroy(&slices->lock);
	pthread_cond_destroy(&slices->changed);
}

void hf_slices_stop(struct hf_slices *slices)
{
	pthread_mutex_lock(&slices->lock);
	pthread_cond_broadcast(&slices->changed);
	pthread_mutex_unlock(&slices->lock);
}

static struct hf_slice **bucket_of(struct hf_slices *slices, const struct hf_slice *slice)
{
	uint64_t hash = (uintptr_t)slice->capture / 64 + slice->version;

	hash = (hash * 31 + slice->hart) * UINT64_C(0x9e3779b97f4a7c15) + slice->first;
	hash = hash * UINT64_C(0x9e3779b97f4a7c15) + slice->last;
	return &slices->bucket[(hash * UINT64_C(0x9e3779b97f4a7c15) >> 32) % HF_SLICE_BUCKETS];
}

static bool same(const struct hf_slice *a, const struct hf_slice *b)
{
	return a->capture == b->capture && a->version == b->version && a->hart == b->hart && a->first == b->first &&
	       a->last == b->last;
}

static void unlink_used(struct hf_slices *slices, struct hf_slice *slice)
{
	*(slice->newer ? &slice->newer->older : &slices->newest) = slice->older;
	*(slice->older ? &slice->older->newer : &slices->oldest) = slice->newer;
}

static void link_newest(struct hf_slices *slices, struct hf_slice *slice)
{
	slice->newer = NULL;
	slice->older = slices->newest;
	*(slice->older ? &slice->older->newer : &slices->oldest) = slice;
	slices->newest = slice;
}

/* Takes out what is too much, the ones used longest ago; the chain that is returned is the caller's to free. */
static struct hf_slice *take_surplus(struct hf_slices *slices)
{
	struct hf_slice *chain = NULL, **at;

	for (struct hf_slice *slice = slices->oldest, *newer;
	     slice && (slices->count > KEEP_COUNT || slices->bytes > KEEP_BYTES); slice = newer) {
		newer = slice->newer;
		if (slice->refs)
			continue;
		for (at = bucket_of(slices, slice); *at != slice;)
			at = &(*at)->next;
		*at = slice->next;
		unlink_used(slices, slice);
		slices->count--;
		slices->bytes -= slice->bytes;
		slice->next = chain;
		chain = slice;
	}
	return chain;
}

static struct hf_slice *new_slice(const struct hf_slice *key, const struct hf_facts_hart *hart)
{
	struct hf_slice *slice = malloc(sizeof *slice);

	if (!slice)
		return NULL;
	*slice = *key;
	slice->bytes = sizeof *slice;
	for (size_t i = 0; i < HF_VIEW_COUNT; i++) {
		if (i == HF_VIEW_RECORDS || i == HF_VIEW_PROGRAM || hart->view[i].size == HF_NOWHERE)
			continue;
		slice->part[i].state = UNKNOWN;
		if (!is_lines(i))
			slice->part[i].owner = hf_cache_owner(key->capture->fs->cache);
	}
	return slice;
}

int hf_slice_get(struct hf_capture *capture, const struct hf_facts *facts, uint32_t hart, uint64_t first,
		 uint64_t last, struct hf_slice **ret_slice)
{
	struct hf_slices *slices = &capture->fs->slices;
	const struct hf_facts_hart *facts_hart = hf_facts_hart(facts, hart);
	struct hf_slice key = {
		.capture = capture, .version = facts->version, .hart = hart, .first = first, .last = last};
	struct hf_slice *slice, **bucket = bucket_of(slices, &key), *surplus = NULL;

	*ret_slice = NULL;
	if (!facts_hart || first > last || last >= facts_hart->info.insns)
		return HF_ERR_NOT_FOUND;
	pthread_mutex_lock(&slices->lock);
	slice = *bucket;
	while (slice && !same(slice, &key))
		slice = slice->next;
	if (slice) {
		unlink_used(slices, slice);
	} else {
		slice = new_slice(&key, facts_hart);
		if (slice) {
			slice->next = *bucket;
			*bucket = slice;
			slices->count++;
			slices->bytes += slice->bytes;
		}
	}
	if (slice) {
		slice->refs++;
		link_newest(slices, slice);
		surplus = take_surplus(slices);
	}
	pthread_mutex_unlock(&slices->lock);
	while (surplus) {
		struct hf_slice *next = surplus->next;

		free_slice(surplus, capture->fs->cache);
		surplus = next;
	}
	*ret_slice = slice;
	return slice ? 0 : HF_ERR_NOMEM;
}

void hf_slice_ref(struct hf_slice *slice)
{
	struct hf_slices *slices = &slice->capture->fs->slices;

	pthread_mutex_lock(&slices->lock);
	slice->refs++;
	pthread_mutex_unlock(&slices->lock);
}

void hf_slice_put(struct hf_slice *slice)
{
	struct hf_slices *slices = &slice->capture->fs->slices;

	pthread_mutex_lock(&slices->lock);
	slice->refs--;
	pthread_mutex_unlock(&slices->lock);
}

/* ---- lines: a part of the whole ---- */

/* The offset in its chunk of the line of an instruction; HF_NOWHERE if it has none. */
static uint64_t find_line(const uint8_t *bytes, size_t size, bool at_start, uint64_t ordinal)
{
	char text[32];
	size_t n = (size_t)snprintf(text, sizeof text, "\n%llu ", (unsigned long long)ordinal);
	const uint8_t *found;

	if (at_start && size >= n - 1 && memcmp(bytes, text + 1, n - 1) == 0)
		return 0;
	found = memmem(bytes, size, text, n);
	return found ? (uint64_t)(found - bytes) + 1 : HF_NOWHERE;
}

/* The line of an instruction in the chunk that view_at is about. What is made for that goes into the cache. */
static int find_in_chunk(struct hf_measure *m, const struct hf_view *whole, uint64_t ordinal, struct hf_worker *worker,
			 uint64_t *ret_offset)
{
	struct hf_cache *cache = m->slice->capture->fs->cache;
	const struct hf_cache_key key = {whole->owner, m->view_at.number};
	const bool start = m->view_at.offset == 0;
	struct hf_block *block;
	uint8_t *bytes;
	size_t size;
	int err;
	enum hf_cache_answer answer = hf_cache_acquire(cache, key, NULL, &block, &err);

	if (answer == HF_CACHE_ERROR)
		return err;
	if (answer == HF_CACHE_HIT) {
		*ret_offset = find_line(block->bytes, block->size, start, ordinal);
		hf_cache_unpin(cache, block);
		return 0;
	}
	/* PENDING: to wait for it here could be to wait for ourselves. */
	err = hf_view_make(whole, m->view_at.number, worker, &bytes, &size);
	if (!err)
		*ret_offset = find_line(bytes, size, start, ordinal);
	if (answer == HF_CACHE_MAKE && err)
		hf_cache_fail(cache, block, err);
	else if (answer == HF_CACHE_MAKE)
		hf_cache_fill(cache, block, bytes, size);
	else if (!err)
		free(bytes);
	return err;
}

/* Where in the whole the line of an instruction begins: ordinal may be that behind the hart's last. */
static int find_offset(struct hf_measure *m, const struct hf_view *whole, uint64_t ordinal, struct hf_worker *worker,
		       uint64_t *ret_offset)
{
	const struct hf_facts_hart *hart = hf_facts_hart(m->open->facts, whole->hart);
	uint64_t offset = HF_NOWHERE;
	int err;

	/* What is before the first instruction or behind the last belongs to them. */
	*ret_offset = ordinal ? whole->size : 0;
	if (!ordinal || ordinal == hart->info.insns)
		return 0;
	err = hf_index_chunk_of(m->open->index, whole->hart, ordinal, &m->at);
	if (!err)
		err = hf_view_table_chunk(m->open->table[whole->view], whole->hart, m->at.number, &m->view_at);
	if (err)
		return err == HF_ERR_NOMEM ? err : HF_ERR_MISMATCH;
	err = find_in_chunk(m, whole, ordinal, worker, &offset);
	if (!err && offset == HF_NOWHERE)
		err = HF_ERR_MISMATCH;
	*ret_offset = m->view_at.offset + offset;
	return err;
}

static void whole_view(const struct hf_slice *slice, const struct hf_facts *facts, size_t view,
		       struct hf_view *ret_view)
{
	const struct hf_facts_view *found = &hf_facts_hart(facts, slice->hart)->view[view];

	*ret_view = (struct hf_view){
		.capture = slice->capture,
		.version = slice->version,
		.owner = found->owner,
		.size = found->size,
		.hart = slice->hart,
		.view = (int)view,
	};
}

static int measure_lines(struct hf_measure *m, struct hf_worker *worker)
{
	struct hf_view whole;
	uint64_t end;
	int err;

	whole_view(m->slice, m->open->facts, m->view, &whole);
	err = find_offset(m, &whole, m->slice->first, worker, &m->part.base);
	if (!err)
		err = find_offset(m, &whole, m->slice->last + 1, worker, &end);
	if (!err && end < m->part.base)
		err = HF_ERR_MISMATCH;
	if (!err)
		m->part.size = end - m->part.base;
	return err;
}

/* ---- other views: encoded anew ---- */

static struct hf_cut cut_of(const struct hf_slice *slice, const struct hf_open *open, size_t view)
{
	return (struct hf_cut){
		.stream = open->stream,
		.src = open->source,
		.index = open->index,
		.hart = slice->hart,
		.first = slice->first,
		.last = slice->last,
		.ops = hf_fs_view_ops(view),
	};
}

/* Every second mark is enough. */
static void thin(struct part *part)
{
	size_t n = 0;

	for (size_t i = 0; i < part->marks; i++)
		if (i % 2)
			free(part->mark[i].entry);
		else
			part->mark[n++] = part->mark[i];
	part->marks = n;
	part->stride *= 2;
}

/* Notes where the cutter stands, at the start of a chunk. */
static int add_mark(struct hf_measure *m)
{
	struct part *part = &m->part;
	struct mark *mark;
	size_t size;

	if ((m->chunk - part->number) % part->stride)
		return 0;
	if (part->marks == MARKS_MAX) {
		thin(part);
		if ((m->chunk - part->number) % part->stride)
			return 0;
	}
	if (!(part->marks & (part->marks - 1))) {
		mark = realloc(part->mark, (part->marks ? 2 * part->marks : 1) * sizeof *mark);
		if (!mark)
			return HF_ERR_NOMEM;
		part->mark = mark;
	}
	mark = &part->mark[part->marks];
	*mark = (struct mark){.offset = hf_sink_total(&m->sink)};
	if (m->chunk > part->number) {
		size = hf_cutter_save(m->cutter, m->entry);
		mark->entry = malloc(size ? size : 1);
		if (!mark->entry)
			return HF_ERR_NOMEM;
		memcpy(mark->entry, m->entry, size);
		mark->entry_size = (uint16_t)size;
	}
	part->marks++;
	return 0;
}

static int begin_part(struct hf_measure *m)
{
	struct hf_cut cut = cut_of(m->slice, m->open, m->view);
	int err = hf_cutter_new(&cut, NULL, 0, &m->part.number, &m->cutter, NULL);

	if (err)
		return err;
	m->part.stride = 1;
	m->chunk = m->part.number;
	hf_sink_init_count(&m->sink, m->buf, sizeof m->buf);
	return 0;
}

/* Until the part is measured, or (HF_NOTE_END) time is up. */
static int measure_encoded(struct hf_measure *m, struct hf_worker *worker)
{
	const int64_t until = hf_fs_now_ns() + STEP_NS;
	int err = m->cutter ? 0 : begin_part(m);

	if (!err)
		hf_view_env(worker, m->open, m->view);
	while (!err) {
		if (m->slice->capture->fs->closing)
			return HF_ERR_CANCELLED;
		if (m->turn && hf_fs_now_ns() > until)
			return HF_NOTE_END;
		err = add_mark(m);
		if (!err)
			err = hf_cutter_next(m->cutter, &worker->env, &m->sink, NULL);
		m->chunk++;
		__atomic_store_n(&m->slice->done, m->chunk - m->part.number, __ATOMIC_RELAXED);
	}
	if (err != HF_NOTE_END)
		return err;
	m->part.size = hf_sink_total(&m->sink);
	return 0;
}

/* ---- measuring ---- */

static size_t bytes_of(const struct part *part)
{
	size_t bytes = 0;

	for (size_t i = 0; i < part->marks; i++)
		bytes += sizeof *part->mark + part->mark[i].entry_size + 16;
	return bytes;
}

/* Of the part at hand: it is measured, or it is not. */
static void settle_part(struct hf_measure *m, int err)
{
	struct hf_slices *slices = &m->slice->capture->fs->slices;
	struct part *part = &m->slice->part[m->view];

	hf_cutter_free(m->cutter);
	m->cutter = NULL;
	if (err)
		free_part(&m->part);
	pthread_mutex_lock(&slices->lock);
	part->err = err;
	part->state = err ? UNKNOWN : READY;
	if (!err) {
		const size_t bytes = bytes_of(&m->part);

		part->base = m->part.base;
		part->size = m->part.size;
		part->number = m->part.number;
		part->stride = m->part.stride;
		part->marks = m->part.marks;
		part->mark = m->part.mark;
		m->slice->bytes += bytes;
		slices->bytes += bytes;
	}
	pthread_cond_broadcast(&slices->changed);
	pthread_mutex_unlock(&slices->lock);
	m->part = (struct part){0};
}

/* Nobody measures the slice any more; what is still open of it failed with err. */
static void end_measure(struct hf_measure *m, int err)
{
	struct hf_slices *slices = &m->slice->capture->fs->slices;
	struct hf_pool *pool = m->slice->capture->fs->pool;
	struct hf_measure *next = NULL;

	hf_cutter_free(m->cutter);
	free_part(&m->part);
	if (m->open)
		hf_open_put(m->open);
	pthread_mutex_lock(&slices->lock);
	for (size_t i = 0; i < HF_VIEW_COUNT; i++)
		if (m->slice->part[i].state == QUEUED) {
			m->slice->part[i].state = UNKNOWN;
			m->slice->part[i].err = err;
		}
	m->slice->measuring = false;
	m->slice->refs--;
	if (m->turn) {
		next = slices->first;
		slices->busy = next;
		if (next) {
			slices->first = next->next;
			slices->waiting--;
			next->turn = true;
		}
	}
	pthread_cond_broadcast(&slices->changed);
	pthread_mutex_unlock(&slices->lock);
	free(m);
	if (next)
		hf_pool_submit(pool, &next->job);
}

/* HF_NOTE_END: it has the turn for a long pass. HF_ERR_BUSY: it waits in the queue, may run on another thread already
 * when this returns, and must not be touched any more. HF_ERR_CANCELLED: too many wait. */
static int take_turn(struct hf_measure *m)
{
	struct hf_slices *slices = &m->slice->capture->fs->slices;
	int err = HF_NOTE_END;

	m->job.urgency = HF_AHEAD;
	/* While it waits it holds no capture open. */
	hf_open_put(m->open);
	m->open = NULL;
	pthread_mutex_lock(&slices->lock);
	if (!slices->busy) {
		m->turn = slices->busy = true;
	} else if (slices->waiting == QUEUE_MAX) {
		err = HF_ERR_CANCELLED;
	} else {
		m->next = NULL;
		*(slices->first ? &slices->last->next : &slices->first) = m;
		slices->last = m;
		slices->waiting++;
		err = HF_ERR_BUSY;
	}
	pthread_mutex_unlock(&slices->lock);
	return err;
}

/* The first part of the kind that is to be measured; lines come first, they take no time. */
static bool next_part(struct hf_measure *m, bool lines)
{
	for (size_t i = 0; i < HF_VIEW_COUNT; i++)
		if (m->slice->part[i].state == QUEUED && is_lines(i) == lines) {
			m->view = i;
			return true;
		}
	return false;
}

static int check_version(const struct hf_slice *slice)
{
	struct stat st;
	int err = hf_capture_check(slice->capture, &st);

	if (err && err != HF_ERR_NOT_FOUND)
		return err;
	return err || slice->capture->version != slice->version ? HF_ERR_CHANGED : 0;
}

/* Nobody asked for it for a while, and it has not begun. */
static bool is_forgotten(const struct hf_measure *m)
{
	struct hf_slices *slices = &m->slice->capture->fs->slices;
	int64_t asked_ns;

	if (!m->turn || m->cutter)
		return false;
	pthread_mutex_lock(&slices->lock);
	asked_ns = m->slice->asked_ns;
	pthread_mutex_unlock(&slices->lock);
	return hf_fs_now_ns() - asked_ns > WANTED_NS;
}

/* 0: all is measured. HF_NOTE_END: to be called again. HF_ERR_BUSY: it waits for its turn and is not ours any more. */
static int run_parts(struct hf_measure *m, struct hf_worker *worker)
{
	struct hf_view any = {.capture = m->slice->capture, .version = m->slice->version};
	int err = m->open ? 0 : hf_view_open(&any, &m->open);

	while (!err && !m->cutter && next_part(m, true)) {
		err = measure_lines(m, worker);
		if (!err)
			err = check_version(m->slice);
		if (!err)
			settle_part(m, 0);
	}
	if (err || (!m->cutter && !next_part(m, false)))
		return err;
	if (!m->turn && m->slice->last - m->slice->first >= SHORT)
		return take_turn(m);
	err = measure_encoded(m, worker);
	if (!err)
		err = check_version(m->slice);
	if (!err)
		settle_part(m, 0);
	/* There may be another one. */
	return err ? err : HF_NOTE_END;
}

static void run_measure(struct hf_job *job, struct hf_worker *worker)
{
	struct hf_measure *m = (struct hf_measure *)job;
	struct hf_fs *fs = m->slice->capture->fs;
	int err;

	do
		err = fs->closing || is_forgotten(m) ? HF_ERR_CANCELLED : run_parts(m, worker);
	while (err == HF_NOTE_END && !m->turn);
	if (err == HF_NOTE_END) {
		hf_pool_submit(fs->pool, job);
		return;
	}
	if (err == HF_ERR_BUSY)
		return;
	if (err == HF_ERR_MISMATCH)
		hf_capture_distrust(m->slice->capture, m->slice->version, err);
	end_measure(m, err);
}

/* With the lock held. */
static int start_measure(struct hf_slice *slice)
{
	struct hf_measure *m;

	slice->asked_ns = hf_fs_now_ns();
	if (slice->measuring)
		return 0;
	m = malloc(sizeof *m);
	if (!m)
		return HF_ERR_NOMEM;
	memset(m, 0, offsetof(struct hf_measure, buf));
	m->job = (struct hf_job){.fn = run_measure, .urgency = HF_URGENT};
	m->slice = slice;
	slice->refs++;
	slice->measuring = true;
	slice->started_ns = slice->asked_ns;
	slice->done = 0;
	for (size_t i = 0; i < HF_VIEW_COUNT; i++)
		if (slice->part[i].state == UNKNOWN) {
			slice->part[i].state = QUEUED;
			slice->part[i].err = 0;
		}
	hf_pool_submit(slice->capture->fs->pool, &m->job);
	return 0;
}

/* Waits for a part to be measured. With the lock held. */
static void await(struct hf_slice *slice, const struct part *part)
{
	const struct hf_fs *fs = slice->capture->fs;
	struct hf_slices *slices = &slice->capture->fs->slices;
	const int64_t until_ns = slice->started_ns + PATIENCE_NS;
	const struct timespec until = {.tv_sec = until_ns / 1000000000, .tv_nsec = until_ns % 1000000000};
	int late = 0;

	while (part->state == QUEUED && late != ETIMEDOUT && !fs->closing) {
		/* Without a mount there is nobody to see that it is not there yet. */
		if (fs->options.no_index)
			pthread_cond_wait(&slices->changed, &slices->lock);
		else
			late = pthread_cond_timedwait(&slices->changed, &slices->lock, &until);
	}
}

int hf_slice_want(struct hf_slice *slice)
{
	struct hf_slices *slices = &slice->capture->fs->slices;
	int err;

	pthread_mutex_lock(&slices->lock);
	err = start_measure(slice);
	pthread_mutex_unlock(&slices->lock);
	return err;
}

int hf_slice_view(struct hf_slice *slice, const struct hf_facts *facts, size_t number, struct hf_view *ret_view)
{
	struct hf_slices *slices = &slice->capture->fs->slices;
	const struct part *part = &slice->part[number];
	int err = 0;

	pthread_mutex_lock(&slices->lock);
	if (part->state == ABSENT)
		err = HF_ERR_NOT_FOUND;
	else if (part->state != READY)
		err = start_measure(slice);
	if (!err)
		await(slice, part);
	if (!err && part->state != READY)
		err = part->state == UNKNOWN && part->err && part->err != HF_ERR_CANCELLED ? part->err : HF_ERR_BUSY;
	if (!err) {
		whole_view(slice, facts, number, ret_view);
		ret_view->base = part->base;
		ret_view->size = part->size;
		if (part->owner) {
			ret_view->owner = part->owner;
			ret_view->slice = slice;
		}
	}
	pthread_mutex_unlock(&slices->lock);
	return err;
}

void hf_slice_indexing(struct hf_slice *slice, struct hf_sink *sink)
{
	struct hf_slices *slices = &slice->capture->fs->slices;
	const struct hf_facts_hart *hart;
	struct hf_facts *facts;
	char left[32], text[HF_INFO_INDEXING_SIZE], line[HF_INFO_INDEXING_SIZE + 1];
	double percent = 0, seconds = -1;

	if (!hf_capture_facts_now(slice->capture, &facts)) {
		hart = hf_facts_hart(facts, slice->hart);
		pthread_mutex_lock(&slices->lock);
		/* Chunks are about equally long. */
		if (hart && hart->info.insns)
			percent = 100.0 * (double)__atomic_load_n(&slice->done, __ATOMIC_RELAXED) /
				  ((double)(slice->last - slice->first + 1) / (double)hart->info.insns *
					   (double)hart->info.chunks + 1);
		percent = percent > 100 ? 100 : percent;
		if (percent > 0)
			seconds = (double)(hf_fs_now_ns() - slice->started_ns) / 1e9 * (100 - percent) / percent;
		pthread_mutex_unlock(&slices->lock);
		hf_facts_unref(facts);
	}
	hf_info_duration(seconds, left, sizeof left);
	snprintf(text, sizeof text, "%5.1f%% measured, %s left", percent, left);
	/* Filled up, so that its size stays right while it changes. */
	snprintf(line, sizeof line, "%-*s\n", HF_INFO_INDEXING_SIZE - 1, text);
	hf_sink_write(sink, line, HF_INFO_INDEXING_SIZE);
}

/* ---- reading ---- */

static void take_piece(const struct part *part, size_t i, struct hf_piece *ret_piece)
{
	const uint64_t end = i + 1 < part->marks ? part->mark[i + 1].offset : part->size;

	*ret_piece = (struct hf_piece){
		.number = i, .offset = part->mark[i].offset, .size = end - part->mark[i].offset};
}

int hf_slice_piece_of(const struct hf_view *view, uint64_t offset, struct hf_piece *ret_piece)
{
	const struct part *part = &view->slice->part[view->view];
	size_t low = 0, high = part->marks;

	if (offset >= part->size)
		return HF_NOTE_END;
	/* The last that begins there or before. */
	while (high - low > 1) {
		size_t mid = low + (high - low) / 2;

		if (part->mark[mid].offset <= offset)
			low = mid;
		else
			high = mid;
	}
	take_piece(part, low, ret_piece);
	return 0;
}

int hf_slice_piece(const struct hf_view *view, uint64_t number, struct hf_piece *ret_piece)
{
	const struct part *part = &view->slice->part[view->view];

	if (number >= part->marks)
		return HF_NOTE_END;
	take_piece(part, (size_t)number, ret_piece);
	return 0;
}

int hf_slice_make(const struct hf_view *view, struct hf_open *open, uint64_t number, struct hf_worker *worker,
		  uint8_t **ret_bytes, size_t *ret_size)
{
	const struct part *part = &view->slice->part[view->view];
	const struct mark *mark = &part->mark[number];
	struct hf_cut cut = cut_of(view->slice, open, (size_t)view->view);
	uint64_t chunk = part->number + number * part->stride;
	struct hf_cutter *cutter;
	struct hf_piece piece;
	struct hf_sink sink;
	uint8_t *bytes;
	int err;

	take_piece(part, (size_t)number, &piece);
	bytes = piece.size < SIZE_MAX - HF_SINK_ROOM
			? hf_cache_alloc(view->capture->fs->cache, (size_t)piece.size + HF_SINK_ROOM)
			: NULL;
	if (!bytes)
		return HF_ERR_NOMEM;
	hf_sink_init_buffer(&sink, bytes, (size_t)piece.size + HF_SINK_ROOM);
	hf_view_env(worker, open, (size_t)view->view);
	err = hf_cutter_new(&cut, mark->entry, mark->entry_size, &chunk, &cutter, NULL);
	for (uint64_t i = 0; !err && i < part->stride; i++)
		err = hf_cutter_next(cutter, &worker->env, &sink, NULL);
	hf_cutter_free(cutter);
	if (err < 0 && hf_err_class(err) != HF_CLASS_io && hf_err_class(err) != HF_CLASS_nomem)
		err = HF_ERR_MISMATCH;
	if (err >= 0 && hf_sink_total(&sink) != piece.size)
		err = HF_ERR_MISMATCH;
	if (err < 0) {
		free(bytes);
		return err;
	}
	*ret_bytes = bytes;
	*ret_size = (size_t)piece.size;
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/source/sync.h"

#include "codecs/base/err.h"

/* All in bytes of the stream. */
#define FSYNC_NEAR (16u * 1024) /* an FSYNC so near is waited for */
#define SEARCH 8192u            /* alignments are compared over so many */
#define AHEAD 2048u             /* a frame is only good if so many behind it are */
#define RELOCK 2048u            /* behind a fault, frames begin again within these */

#define FRAMES_LEAST 16 /* frames without a fault prove an alignment ... */
#define FAULTS_LEAST 4  /* ... if each other one has so many faults in as many bytes */
#define MET_LEAST 3     /* so often is an id met that is one */
#define HSYNCS_MOST 4   /* in a frame */
#define IDS_MOST 16     /* sources of one stream; noise has more */
#define PLACES HF_CORESIGHT_FRAME

/* ---- frames that are tried ---- */

struct trial {
	struct hf_coresight cs;
	uint64_t at; /* where the frame begins that was read last, with what stands before it */
	uint64_t ids[2];
	unsigned frames, faults;
};

/* Bytes p[n] from base on. */
struct view {
	const uint8_t *p;
	uint64_t base;
	size_t n;
};

static struct trial begin_trial(const struct hf_coresight *cs, uint64_t offset, uint8_t id)
{
	struct trial t = {.cs = *cs, .at = offset};

	t.cs.offset = offset;
	t.cs.id = id;
	t.cs.fill = 0;
	t.cs.locked = true;
	return t;
}

static bool is_reserved(uint8_t id)
{
	return id > HF_CORESIGHT_ID_MAX && id != HF_CORESIGHT_ID_FLUSH && id != HF_CORESIGHT_ID_TRIGGER;
}

/*
 * Whether these bytes can be a frame of a stream that had this id before: no id is reserved, none in byte 14 is delayed, as
 * there is no byte behind it, and padding is zero if so wanted. Adds the ids to ids.
 */
static bool is_frame(const uint8_t *frame, uint8_t id, bool zeros, uint64_t ids[2])
{
	for (unsigned i = 0; i < HF_CORESIGHT_DATA; i += 2) {
		const uint8_t low = frame[15] >> (i / 2) & 1;
		uint8_t odd_id = id;

		if (frame[i] & 1) {
			id = frame[i] >> 1;
			if (is_reserved(id) || (i == 14 && low))
				return false;
			ids[id / 64] |= UINT64_C(1) << id % 64;
			odd_id = low ? odd_id : id;
		} else if (zeros && id == 0 && (frame[i] | low)) {
			return false;
		}
		if (zeros && i < 14 && odd_id == 0 && frame[i + 1])
			return false;
	}
	return true;
}

/* Reads the next frame; false: no whole one is left in the view. */
static bool try_frame(struct trial *t, const struct view *v)
{
	const uint8_t id = t->cs.id;
	struct hf_coresight_data data = {.frame = HF_NOWHERE};
	const size_t done = (size_t)(t->cs.offset - v->base);

	t->at = t->cs.offset;
	if (done >= v->n || !hf_coresight_take(&t->cs, v->p + done, v->n - done, &data))
		return false;
	if (!data.flags && data.frame == HF_NOWHERE)
		return false;
	t->frames++;
	/* An FSYNC inside it is a fault too. Behind one nobody knows which id holds. */
	if (data.flags || !is_frame(t->cs.frame, id, true, t->ids)) {
		t->faults++;
		t->cs.id = HF_CORESIGHT_ID_NONE;
	}
	return true;
}

static unsigned bits(uint64_t v)
{
	return (unsigned)__builtin_popcountll(v);
}

static unsigned count_sources(const struct trial *t)
{
	return bits(t->ids[0]) + bits(t->ids[1]);
}

/* ---- the search ---- */

enum verdict { NONE, ONE, MANY };

/* Reads count frames in all, or as many as there are; a trial that is lost is not gone on with. */
static void go_on(struct trial *t, const struct view *v, unsigned count)
{
	while (t->frames < count && t->faults < FAULTS_LEAST && try_frame(t, v))
		if (count_sources(t) > IDS_MOST)
			t->faults = FAULTS_LEAST;
}

/* Of places that are as good: the one without a fault that has no more than half as many sources as each other. */
static enum verdict prefer_few(const struct trial t[PLACES], unsigned *ret_which)
{
	enum verdict verdict = MANY;

	for (unsigned i = 0; i < PLACES && verdict == MANY; i++) {
		bool few = !t[i].faults && t[i].frames >= 4 * FRAMES_LEAST && count_sources(&t[i]);

		for (unsigned k = 0; k < PLACES && few; k++)
			few = k == i || t[k].faults >= FAULTS_LEAST || 2 * count_sources(&t[i]) <= count_sources(&t[k]);
		*ret_which = i;
		verdict = few ? ONE : MANY;
	}
	return verdict;
}

/* Which of the 16 places from offset on frames begin at: all others have to tell themselves from the right one. */
static enum verdict search_at(const struct hf_coresight *cs, const struct view *v, uint64_t offset, uint64_t *ret_place)
{
	const size_t most = (size_t)(offset - v->base) + SEARCH;
	const struct view near = {v->p, v->base, v->n < most ? v->n : most};
	enum verdict verdict = MANY;
	struct trial t[PLACES];
	unsigned which = 0;

	for (unsigned i = 0; i < PLACES; i++)
		t[i] = begin_trial(cs, offset + i, HF_CORESIGHT_ID_NONE);
	for (unsigned count = FRAMES_LEAST; verdict == MANY && count <= SEARCH / HF_CORESIGHT_FRAME; count *= 2) {
		unsigned right = 0, possible = 0;

		for (unsigned i = 0; i < PLACES; i++) {
			go_on(&t[i], &near, count);
			possible += t[i].faults < FAULTS_LEAST;
			if (t[i].faults || t[i].frames < FRAMES_LEAST)
				continue;
			right++;
			which = i;
		}
		verdict = right == 0 ? NONE : possible == 1 ? ONE : MANY;
	}
	if (verdict == MANY)
		verdict = prefer_few(t, &which);
	*ret_place = offset + which;
	return verdict;
}

/* How often each id is met in the first frames from place on. */
static void count_ids(struct trial t, const struct view *v, unsigned met[HF_CORESIGHT_IDS])
{
	for (unsigned i = 0; i < 4 * FRAMES_LEAST && try_frame(&t, v); i++)
		for (unsigned k = 0; k < HF_CORESIGHT_DATA; k += 2)
			met[t.cs.frame[k] >> 1] += t.cs.frame[k] & 1;
}

/*
 * Frames begin at place, as many of them say; but the first ones may be frames by chance, if bytes are missing behind them.
 * Then they have ids that are not met again: goes on behind the last of these, with the first frame that has an id.
 */
static uint64_t pass_strangers(const struct hf_coresight *cs, const struct view *v, uint64_t place)
{
	struct trial t = begin_trial(cs, place, HF_CORESIGHT_ID_NONE);
	unsigned met[HF_CORESIGHT_IDS] = {0};
	uint64_t from = place;
	bool any = false;

	count_ids(t, v, met);
	for (unsigned i = 0; i < FRAMES_LEAST && try_frame(&t, v); i++) {
		bool stranger = false;

		for (unsigned k = 0; k < HF_CORESIGHT_DATA; k += 2)
			if (t.cs.frame[k] & 1) {
				any = true;
				stranger |= met[t.cs.frame[k] >> 1] < MET_LEAST;
			}
		if (!any || stranger)
			from = t.cs.offset;
	}
	return from;
}

/* The first FSYNC that begins in [from, to). */
static bool find_fsync(const struct hf_coresight *cs, const struct view *v, uint64_t from, uint64_t to, uint64_t *ret_at)
{
	for (uint64_t at = from; at < to && at - v->base < v->n; at++) {
		if (!hf_coresight_is_fsync(cs, at, v->p + (at - v->base), v->n - (size_t)(at - v->base)))
			continue;
		*ret_at = at;
		return true;
	}
	return false;
}

/* ---- frames that were found by a guess ---- */

/* The frame that ends where another one begins, with up to HSYNCS_MOST HSYNCs in it; false: there is none in the view. */
static bool step_back(const struct hf_coresight *cs, const struct view *v, uint64_t *at, bool *ret_fault)
{
	const uint64_t end = *at;

	for (unsigned size = HF_CORESIGHT_FRAME; size <= HF_CORESIGHT_FRAME + 2 * HSYNCS_MOST && end - v->base >= size; size += 2) {
		struct trial t = begin_trial(cs, end - size, HF_CORESIGHT_ID_NONE);

		if (!try_frame(&t, v) || t.cs.offset != end)
			continue;
		*at = end - size;
		*ret_fault = t.faults;
		return true;
	}
	return false;
}

/*
 * Up to where the frames from cs->offset on are good if they go wrong at fault and others begin at next: those are followed
 * back as far as they are frames too. What may be of either alignment is of none, and nothing is if there is a third one.
 */
static uint64_t good_until(const struct hf_coresight *cs, const struct view *v, uint64_t fault, uint64_t next)
{
	uint64_t at = next;
	bool wrong;

	while (step_back(cs, v, &at, &wrong)) {
		if (at == fault || (wrong && at > fault && at < fault + HF_CORESIGHT_FRAME))
			return fault;
		if (wrong)
			return at > fault || at < v->base + HF_CORESIGHT_FRAME ? v->base : at - HF_CORESIGHT_FRAME + 1;
	}
	return v->base;
}

/*
 * Looks ahead from a frame on, which cs is at. Sets good, and behind a fault next and next_known. That must not depend on
 * where it was looked from: a reader may come to each of these frames first.
 */
static void look_ahead(struct hf_coresight *cs, const struct view *v)
{
	struct trial t = begin_trial(cs, cs->offset, cs->id);
	const uint64_t end = cs->offset + 2 * AHEAD;
	uint64_t place;

	while (t.cs.offset < end && !t.faults && try_frame(&t, v))
		;
	cs->next = HF_NOWHERE;
	cs->good = t.faults ? t.at - AHEAD + 1 : cs->offset + AHEAD;
	if (!t.faults || t.at >= cs->offset + AHEAD)
		return;
	cs->next = t.at;
	cs->next_known = false;
	cs->good = cs->offset;
	/* Bytes may be missing inside the frame of the fault, or too many. */
	for (uint64_t at = t.at + HF_CORESIGHT_FRAME; at < t.at + RELOCK && !cs->next_known; at += HF_CORESIGHT_FRAME) {
		cs->next_known = find_fsync(cs, v, at, at + HF_CORESIGHT_FRAME, &place) || search_at(cs, v, at, &place) == ONE;
		if (!cs->next_known)
			continue;
		cs->next = pass_strangers(cs, v, place);
		cs->good = good_until(cs, v, t.at, cs->next);
	}
}

/* ---- taking ---- */

/* Frames begin at offset. Nothing is told of what was passed over before the first FSYNC of a stream. */
static void lock(struct hf_coresight *cs, uint64_t offset, bool guessed, struct hf_coresight_data *data)
{
	if (guessed)
		data->flags = HF_CORESIGHT_RESET | HF_CORESIGHT_LOST | HF_CORESIGHT_FOUND;
	else if (cs->lost != cs->start || cs->lost_before)
		data->flags = HF_CORESIGHT_RESET | HF_CORESIGHT_LOST;
	cs->offset = offset;
	cs->locked = true;
	cs->guessed = guessed;
	cs->fill = 0;
	cs->id = guessed ? HF_CORESIGHT_ID_NONE : 0;
	cs->good = 0;
	cs->next = HF_NOWHERE;
}

/* A frame that begins at lost, where this id held, is none. It is looked for others from offset on. */
static void lose(struct hf_coresight *cs, uint64_t lost, uint8_t id, uint64_t offset)
{
	cs->lost = lost;
	cs->lost_before = hf_coresight_before(cs, id);
	cs->offset = offset;
	cs->locked = false;
}

/* Passes over bytes up to where frames begin. At the start of a stream an FSYNC is preferred, as it says so. */
static void find(struct hf_coresight *cs, const struct view *v, struct hf_coresight_data *data)
{
	const uint64_t end = v->base + v->n, limit = cs->offset + SEARCH;
	uint64_t place, fsync = end, to = limit < end ? limit : end;
	const bool near = find_fsync(cs, v, cs->offset, cs->offset + FSYNC_NEAR, &fsync);

	if (near && cs->lost == cs->start && !cs->lost_before)
		cs->offset = fsync;
	to = near && fsync < to ? fsync : to;
	while (cs->offset < to) {
		const enum verdict verdict = search_at(cs, v, cs->offset, &place);

		if (verdict == ONE && (!near || place < fsync)) {
			lock(cs, pass_strangers(cs, v, place), true, data);
			return;
		}
		/* if many are possible, what tells them apart may come */
		cs->offset += verdict == MANY ? SEARCH / 2 : HF_CORESIGHT_FRAME;
	}
	if (near && cs->offset >= fsync)
		lock(cs, fsync, false, data);
	else if (cs->offset > end)
		cs->offset = end;
}

/* A frame of an alignment that an FSYNC showed. If it cannot be a frame, bytes are missing, or too many. */
static size_t take_known(struct hf_coresight *cs, const struct view *v, struct hf_coresight_data *data)
{
	const size_t took = hf_coresight_take(cs, v->p, v->n, data);
	const uint8_t id = data->before & HF_CORESIGHT_ID_NONE;
	uint64_t ids[2] = {0};

	if (data->flags || data->frame == HF_NOWHERE || is_frame(cs->frame, id, false, ids))
		return took;
	data->count = 0;
	data->frame = HF_NOWHERE;
	lose(cs, cs->at[0], id, v->base + 1);
	cs->id = id;
	return 1;
}

static size_t take_guessed(struct hf_coresight *cs, const struct view *v, struct hf_coresight_data *data)
{
	if (!cs->fill && cs->offset >= cs->good && cs->next == HF_NOWHERE)
		look_ahead(cs, v);
	if (cs->fill || cs->offset < cs->good)
		return hf_coresight_take(cs, v->p, v->n, data);
	lose(cs, cs->offset, cs->id, cs->next + !cs->next_known);
	if (cs->next_known)
		lock(cs, cs->next, true, data);
	return (size_t)(cs->offset - v->base);
}

size_t hf_sync_take(struct hf_coresight *cs, const uint8_t *p, size_t n, struct hf_coresight_data *ret_data)
{
	struct view v = {p, cs->offset, n < HF_SYNC_LOOK ? n : HF_SYNC_LOOK};
	size_t passed = 0;

	ret_data->flags = 0;
	ret_data->count = 0;
	ret_data->frame = HF_NOWHERE;
	if (!n)
		return 0;
	if (!cs->locked) {
		find(cs, &v, ret_data);
		passed = (size_t)(cs->offset - v.base);
		if (!cs->locked || ret_data->flags)
			return passed;
		v = (struct view){p + passed, cs->offset, v.n - passed};
	}
	return passed + (cs->guessed ? take_guessed(cs, &v, ret_data) : take_known(cs, &v, ret_data));
}

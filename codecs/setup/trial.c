/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/setup/trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Bytes behind the first problem that count too. */
#define BEHIND (UINT32_C(16) << 10)
/* Problems near the end of what is decoded may be those of its being cut. */
#define TAIL 1024u
/* Events of a trial, of all trials together: a second or two of work. */
#define EVENTS_MAX (UINT64_C(1) << 19)
#define EVENTS_ALL (UINT64_C(1) << 25)
/* Problems of what is written that are compared. */
#define PROBLEMS_MAX 256u
#define HARTS_MAX 4u
/* Where so many things do not fit and hardly a synchronisation is reached, it is not the value of one key. */
#define STRAYS_MIN 8u
/* Of a key with many values: where so many change nothing, no other will. */
#define IDLE_MAX 8u
#define MANY 33u

/* What hf_trial_text makes words of: 16 bits each, the row of the key from 1 on and which of its values. */
#define FOUND_MAX 4u
#define VALUE_BITS 9u

struct score {
	bool valid;
	uint64_t insns, accesses, problems, events, hash;
	uint64_t alike;           /* problems that are like the first */
	uint64_t reached, agreed; /* as struct hf_agreed has them */
	bool proved; /* a synchronisation agrees that lies behind the first problem of what is written */
};

/* Bytes of the stream of which what is written makes nothing, or not what it should. */
struct stretch {
	uint64_t from, to; /* to: the last one */
};

struct search {
	const struct hf_trial *trial;
	const struct hf_setup_value *values; /* of setup: those of the description, with room for one more in front */
	struct hf_setup setup;
	struct hf_setup_part part;
	struct hf_src *src;                  /* bytes */
	uint8_t *bytes;
	uint64_t size, start;                /* in the stream */
	bool cut;
	uint64_t events_max, events;         /* of a trial; of all */
	struct stretch lost[PROBLEMS_MAX];   /* by the problems of what is written */
	uint64_t end;                        /* how far what is written was decoded */
	struct score written, best;
	uint16_t found[FOUND_MAX];
	size_t found_count;
	uint64_t of_key; /* hash of the first that was found of a key */
};

/* What the stream says itself is none. */
static bool is_problem(const struct search *s, const struct hf_event *ev)
{
	if (ev->kind != HF_EVENT_GAP && ev->kind != HF_EVENT_DOUBT && ev->kind != HF_EVENT_NOTE)
		return false;
	if (hf_err_class(-(int)ev->code) == HF_CLASS_lost)
		return false;
	return ev->loss.offset == HF_NOWHERE ||
	       (ev->loss.offset <= s->end && (!s->cut || ev->loss.offset + TAIL < s->size));
}

static void add_hash(struct score *score, const struct hf_event *ev)
{
	for (size_t i = 0; i < sizeof *ev / 8; i++) {
		uint64_t word;

		memcpy(&word, (const char *)ev + 8 * i, 8);
		score->hash = (score->hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
		score->hash ^= score->hash >> 29;
	}
}

/* Whether what is written has a problem there too, or has lost what is there. */
static bool is_lost(const struct search *s, uint64_t offset)
{
	for (size_t i = 0; i < s->written.problems; i++)
		if (offset >= s->lost[i].from && offset <= s->lost[i].to)
			return true;
	return false;
}

/* False: it is one that what is written does not have, or there are too many. */
static bool take_problem(struct search *s, struct score *score, uint64_t offset, uint64_t bytes, bool first)
{
	if (first)
		s->lost[score->problems] = (struct stretch){offset, bytes < HF_NOWHERE - offset ? offset + bytes : HF_NOWHERE};
	else if (!is_lost(s, offset))
		return false;
	return ++score->problems < (first ? PROBLEMS_MAX : s->written.problems + 1);
}

static bool take(struct search *s, struct score *score, const struct hf_event *ev, bool first)
{
	add_hash(score, ev);
	score->events++;
	score->insns += ev->kind == HF_EVENT_INSN;
	score->accesses += ev->kind == HF_EVENT_MEM || ev->kind == HF_EVENT_REG;
	if (!is_problem(s, ev))
		return true;
	score->alike += (int)ev->code == -s->trial->code;
	return take_problem(s, score, ev->loss.offset, ev->loss.bytes, first);
}

static void add_ids(const struct hf_dec *dec, uint32_t *ids, size_t *count)
{
	size_t n;
	const uint32_t *seen = hf_dec_harts(dec, &n);

	for (size_t i = 0; i < n && *count < HARTS_MAX; i++) {
		size_t k = 0;

		while (k < *count && ids[k] != seen[i])
			k++;
		if (k == *count)
			ids[(*count)++] = seen[i];
	}
}

/* Where the decoder stands with the synchronisations that agree. */
static void add_agreed(const struct search *s, const struct hf_dec *dec, struct score *score, bool first)
{
	score->reached += dec->agreed.reached;
	score->agreed += dec->agreed.count;
	score->proved |= !first && dec->agreed.count && s->written.problems &&
			 (s->lost[0].from == HF_NOWHERE || dec->agreed.offset >= s->lost[0].from);
}

/* One hart; what it meets of others is put to ids. HF_NOTE_END: that is enough. */
static int decode(struct search *s, const struct hf_stream *stream, uint32_t hart, struct score *score, bool first,
		  uint32_t *ids, size_t *id_count)
{
	struct hf_event ev[256];
	struct hf_dec *dec;
	bool more = true;
	size_t n;
	int err = hf_dec_new(stream, s->src, hart, &dec);

	if (err)
		return hf_err_is_passing(err) ? err : (int)HF_NOTE_END;
	while (more && score->events < s->events_max && !(err = hf_dec_next(dec, ev, 256, &n))) {
		for (size_t i = 0; i < n && more; i++)
			more = take(s, score, &ev[i], first);
		if (s->cut && hf_dec_offset(dec) + TAIL >= s->size)
			break;
	}
	add_ids(dec, ids, id_count);
	add_agreed(s, dec, score, first);
	if (first && !err && hf_dec_offset(dec) < s->end)
		s->end = hf_dec_offset(dec);
	hf_dec_free(dec);
	if (err < 0 && hf_err_is_passing(err))
		return err;
	if (more && err < 0)
		more = take_problem(s, score, HF_NOWHERE, 0, first);
	score->valid &= more || first;
	return more ? 0 : (int)HF_NOTE_END;
}

/* The stream as s->setup describes it. A description that is none leaves *ret_score invalid. */
static int run(struct search *s, bool first, struct score *ret_score)
{
	const struct hf_codec *codec = s->trial->codec;
	uint32_t ids[HARTS_MAX];
	size_t id_count = 0;
	struct hf_stream *stream;
	int err = 0;

	*ret_score = (struct score){.valid = false};
	if (codec->check && codec->check(&s->setup, NULL))
		return 0;
	err = hf_stream_open(codec, s->src, &s->setup, &stream, NULL);
	if (err)
		return hf_err_is_passing(err) ? err : 0;
	ret_score->valid = true;
	ids[id_count++] = stream->info.first_hart;
	if (s->trial->hart != ids[0] && s->trial->hart != HF_HART_RECORDS)
		ids[id_count++] = s->trial->hart;
	for (size_t i = 0; i < id_count && !err; i++)
		err = decode(s, stream, ids[i], ret_score, first, ids, &id_count);
	hf_stream_close(stream);
	s->events += ret_score->events;
	return err < 0 ? err : 0;
}

/* ---- what is decoded ---- */

/* The part of the stream that offset lies in. */
static struct hf_setup_part part_at(const struct hf_setup *setup, uint64_t offset)
{
	for (size_t i = setup->part_count; i > 0; i--)
		if (setup->parts[i - 1].offset <= offset)
			return setup->parts[i - 1];
	return (struct hf_setup_part){.size = HF_NOWHERE, .hart = HF_SETUP_ANY, .name = "", .framing = ""};
}

static int read_bytes(struct search *s)
{
	const uint64_t at = s->trial->offset == HF_NOWHERE ? 0 : s->trial->offset;
	const struct hf_setup_part part = part_at(s->trial->setup, at);
	const uint64_t want = at - part.offset + BEHIND < HF_TRIAL_BYTES ? at - part.offset + BEHIND : HF_TRIAL_BYTES;
	/* Whole words, and whole frames. */
	const uint64_t most = part.size < want ? part.size : want & ~UINT64_C(15);
	size_t n;
	int err;

	s->bytes = malloc(most + 1);
	if (!s->bytes)
		return HF_ERR_NOMEM;
	err = hf_src_read_all(s->trial->src, part.offset, s->bytes, most, &n, NULL);
	s->size = n;
	if (err && hf_err_is_passing(err))
		return err;
	s->cut = s->size == most && most < part.size;
	s->part = part;
	s->part.offset = 0;
	s->part.size = s->size;
	err = hf_src_memory_new(s->bytes, s->size, &s->src);
	if (!err)
		s->src->stop = s->trial->src->stop;
	return err;
}

static int begin(struct search *s)
{
	const struct hf_setup *setup = s->trial->setup;
	struct hf_setup_value *values = calloc(setup->value_count + 1, sizeof *values);

	if (!values)
		return HF_ERR_NOMEM;
	s->values = values;
	memcpy(values + 1, setup->values, setup->value_count * sizeof *values);
	s->setup = *setup;
	s->setup.values = values + 1;
	s->setup.parts = &s->part;
	s->setup.part_count = 1;
	return read_bytes(s);
}

/* ---- one value of one key ---- */

/* The value that counts for that hart; names of registers may be in any case. */
static struct hf_setup_value *find_value(const struct hf_setup *setup, uint32_t hart, const char *key)
{
	struct hf_setup_value *common = NULL;

	for (size_t i = 0; i < setup->value_count; i++) {
		if (strcasecmp(setup->values[i].key, key) != 0)
			continue;
		if (setup->values[i].hart == hart)
			return &setup->values[i];
		if (setup->values[i].hart == HF_SETUP_ANY)
			common = &setup->values[i];
	}
	return common;
}

/*
 * Whether a removes problems, adds none (else it is not valid), comes to more of what the trace names, and is proved: the
 * walk comes to a synchronisation behind the first problem. How a stream is cut concerns all of it.
 */
static bool is_better(const struct hf_setup_key *key, const struct score *a, const struct score *b)
{
	if (!a->valid || 2 * a->problems > b->problems || (a->reached <= b->reached && a->accesses <= b->accesses))
		return false;
	if (key->whole_stream)
		return a->agreed && 2 * a->insns >= 3 * b->insns;
	return a->proved && 2 * a->insns >= b->insns;
}

static bool is_same(const struct search *s, const struct score *score)
{
	return score->hash == s->written.hash && score->events == s->written.events;
}

/* Whether a leaves a's stream with fewer problems, or far more of it in agreement. */
static bool is_far_better(const struct score *a, const struct score *b)
{
	return a->problems < b->problems || (a->problems == b->problems && a->reached > 2 * b->reached);
}

/*
 * Keeps the values that fit about as well as the best: of each key the first, and behind it the last by which the stream
 * becomes another one, if there is such a value.
 */
static void note(struct search *s, const struct hf_setup_key *key, size_t row, size_t value, const struct score *score)
{
	const uint16_t found = (uint16_t)((row + 1) << VALUE_BITS | value);
	const struct score *best = &s->best;
	uint16_t *last;

	if (!is_better(key, score, &s->written) || (s->found_count && is_far_better(best, score)))
		return;
	if (!s->found_count || is_far_better(score, best)) {
		s->found_count = 0;
		s->best = *score;
	}
	last = s->found_count ? &s->found[s->found_count - 1] : NULL;
	if (!last || *last >> VALUE_BITS != row + 1u) {
		if (s->found_count < FOUND_MAX)
			s->found[s->found_count++] = found;
		s->of_key = score->hash;
	} else if (s->found_count > 1 && last[-1] >> VALUE_BITS == row + 1u) {
		*last = found;
	} else if (score->hash != s->of_key && s->found_count < FOUND_MAX) {
		s->found[s->found_count++] = found;
	}
}

/* How a snapshot's buffer is framed is said by other words, in a file of its own. */
static bool is_of_snapshot(const struct hf_setup *setup, const struct hf_setup_key *key)
{
	return setup && setup->buffers && strcmp(key->key, "framing") == 0;
}

static int try_value(struct search *s, const struct hf_setup_key *key, size_t row, size_t i, bool *ret_same)
{
	struct hf_setup_value *value = find_value(&s->setup, s->trial->hart, key->key);
	const struct hf_setup_value saved = value ? *value : (struct hf_setup_value){.hart = HF_SETUP_ANY, .file = ""};
	const struct hf_setup_part part = s->part;
	struct score score;
	char text[128];
	int err;

	hf_key_value(key, i, value ? value->value : NULL, text, sizeof text);
	*ret_same = false;
	if (is_of_snapshot(&s->setup, key) && strcmp(text, "coresight_sync") == 0)
		return 0; /* no snapshot can say that */
	if (!value) {
		s->setup.values--;
		s->setup.value_count++;
		value = s->setup.values;
		*value = (struct hf_setup_value){.hart = HF_SETUP_ANY, .key = key->key, .value = text, .file = ""};
	}
	value->value = text;
	if (strcmp(key->key, "framing") == 0)
		s->part.framing = text;
	err = run(s, false, &score);
	*value = saved;
	s->part = part;
	if (!saved.key) {
		s->setup.values++;
		s->setup.value_count--;
	}
	*ret_same = score.valid && is_same(s, &score);
	if (!err && score.valid && !*ret_same)
		note(s, key, row, i, &score);
	return err;
}

static int try_key(struct search *s, const struct hf_setup_key *key, size_t row)
{
	const size_t n = hf_key_values(key), max = n < MANY ? n : IDLE_MAX;
	size_t idle = 0;
	int err = 0;

	for (size_t i = 0; i < n && idle < max && !err && s->events < EVENTS_ALL; i++) {
		bool same;

		/* Of many from both ends: what is too narrow is all the same often. */
		err = try_value(s, key, row, n < MANY ? i : i % 2 ? n - 1 - i / 2 : i / 2, &same);
		idle += same;
		if (!same)
			idle = 0;
	}
	return err;
}

static int search(struct search *s, struct hf_trial_result *ret)
{
	const struct hf_setup_key *keys = s->trial->codec->keys;
	int err;

	s->end = HF_NOWHERE;
	s->events_max = EVENTS_MAX;
	err = run(s, true, &s->written);
	if (err || !s->written.valid || !s->written.problems)
		return err;
	s->events_max = 4 * s->written.events + 65536;
	for (size_t i = 0; keys[i].key && !err; i++)
		err = try_key(s, &keys[i], i);
	for (size_t i = 0; i < s->found_count; i++)
		ret->found |= (uint64_t)s->found[i] << 16 * i;
	ret->elsewhere = !ret->found && (!s->written.insns || (s->written.alike > 2 &&
							      STRAYS_MIN * s->written.alike > s->written.agreed));
	ret->wrong_program = !ret->found && s->written.insns && s->written.problems >= STRAYS_MIN &&
			     2 * s->written.agreed < s->written.problems;
	return err;
}

static int run_trial(const struct hf_trial *trial, struct hf_trial_result *ret)
{
	struct search *s = calloc(1, sizeof *s);
	int err = s ? 0 : HF_ERR_NOMEM;

	if (err)
		return err;
	s->trial = trial;
	err = begin(s);
	if (!err && s->size)
		err = search(s, ret);
	hf_src_free(s->src);
	free(s->bytes);
	free((void *)s->values);
	free(s);
	return err;
}

int hf_trial_run(const struct hf_trial *trial, struct hf_trial_result *ret_result)
{
	struct hf_trial before = *trial;
	int err;

	*ret_result = (struct hf_trial_result){.found = 0};
	err = run_trial(trial, ret_result);
	/* Where one part begins another one ends, and it may be that one's end that is wrong. */
	if (!err && !ret_result->found && trial->offset && trial->offset != HF_NOWHERE &&
	    part_at(trial->setup, trial->offset).offset == trial->offset) {
		before.offset--;
		err = run_trial(&before, ret_result);
	}
	return err;
}

/* ---- words ---- */

static size_t count_rows(const struct hf_setup_key *keys)
{
	size_t n = 0;

	while (keys && keys[n].key)
		n++;
	return n;
}

/* As it stands in the description; NULL: it does not. */
static const char *written_value(const struct hf_setup *setup, const struct hf_setup_key *key)
{
	const struct hf_setup_value *written = setup ? find_value(setup, HF_SETUP_ANY, key->key) : NULL;

	if (is_of_snapshot(setup, key))
		return setup->part_count ? setup->parts[0].framing : NULL;
	for (size_t i = 0; setup && i < setup->value_count && !written; i++)
		if (strcasecmp(setup->values[i].key, key->key) == 0)
			written = &setup->values[i];
	return written ? written->value : NULL;
}

/* The words of a description of that kind. other: a value of the key that fits too, by which the trace becomes another
 * one; SIZE_MAX: none. */
static int text_of(const struct hf_setup *setup, const struct hf_setup_key *key, size_t value, size_t other, char *buf,
		   size_t size)
{
	const bool snapshot = is_of_snapshot(setup, key);
	const char *written = written_value(setup, key), *in = snapshot ? " in " : "", *file = snapshot ? setup->buffers : "";
	char text[2][128] = {"", ""}, name[128];

	snprintf(name, sizeof name, "%s%s%s", snapshot ? "format" : key->key, key->field ? "." : "",
		 key->field ? key->field : "");
	for (unsigned i = 0; i < 2 && (i ? other : value) != SIZE_MAX; i++) {
		hf_key_value(key, i ? other : value, written, text[i], sizeof text[i]);
		if (snapshot && strcmp(text[i], "raw") == 0)
			snprintf(text[i], sizeof text[i], "source_data");
	}
	if (other == SIZE_MAX)
		return snprintf(buf, size, "%s%s %s fits%s%.60s (%.60s%s)", name, key->field ? ":" : " =", text[0], in, file,
				written ? written : "not written", written ? " is written" : "");
	return snprintf(buf, size,
			"%s%s%.60s (%.60s%s): %s, %s and perhaps others fit, each with other instructions: the trace does not "
			"tell which",
			name, in, file, written ? written : "not written", written ? " is written" : "", text[0], text[1]);
}

void hf_trial_text(const struct hf_codec *codec, const struct hf_setup *setup, uint64_t found, char *buf, size_t size)
{
	const size_t rows = codec ? count_rows(codec->keys) : 0, mask = (1u << VALUE_BITS) - 1;
	size_t n = 0;

	*buf = '\0';
	for (; found && n < size; found >>= 16) {
		const size_t row = (found & UINT16_MAX) >> VALUE_BITS, value = found & mask;
		size_t other = SIZE_MAX;

		if (!row || row > rows || value >= hf_key_values(&codec->keys[row - 1]))
			continue;
		if ((found >> 16 & UINT16_MAX) >> VALUE_BITS == row &&
		    (found >> 16 & mask) < hf_key_values(&codec->keys[row - 1])) {
			other = found >> 16 & mask;
			found >>= 16;
		}
		if (n)
			n += (size_t)snprintf(buf + n, size - n, ", or ");
		if (n < size)
			n += (size_t)text_of(setup, &codec->keys[row - 1], value, other, buf + n, size - n);
	}
}

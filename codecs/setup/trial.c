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
/* Instructions for each problem below which nothing is said to fit. */
#define STRETCH_MIN 16u
/* Of a key with many values: where so many change nothing, no other will. */
#define IDLE_MAX 8u
#define MANY 33u

/* What hf_trial_text makes words of: 16 bits each, the row of the key from 1 on and which of its values. */
#define FOUND_MAX 4u
#define VALUE_BITS 9u

struct score {
	bool valid;
	uint64_t insns, problems, events, hash;
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
	uint64_t problems_max, events_max, events; /* of a trial; of all */
	uint64_t prefix[PROBLEMS_MAX];       /* hash of what is written up to each problem */
	struct score written, best;
	uint16_t found[FOUND_MAX];
	size_t found_count;
};

static bool is_problem(const struct search *s, const struct hf_event *ev)
{
	if (ev->kind != HF_EVENT_GAP && ev->kind != HF_EVENT_DOUBT && ev->kind != HF_EVENT_NOTE)
		return false;
	return !s->cut || ev->loss.offset == HF_NOWHERE || ev->loss.offset + TAIL < s->size;
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

/* False: there are too many problems, unless they are those of what is written so far. */
static bool take(struct search *s, struct score *score, const struct hf_event *ev, bool first)
{
	add_hash(score, ev);
	score->events++;
	score->insns += ev->kind == HF_EVENT_INSN;
	if (!is_problem(s, ev))
		return true;
	if (first)
		s->prefix[score->problems] = score->hash;
	return ++score->problems < s->problems_max || (!first && score->problems <= s->written.problems &&
						       score->hash == s->prefix[score->problems - 1]);
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
	hf_dec_free(dec);
	if (err < 0 && hf_err_is_passing(err))
		return err;
	score->problems += err < 0;
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
	ids[id_count++] = stream->info.first_hart;
	if (s->trial->hart != ids[0] && s->trial->hart != HF_HART_RECORDS)
		ids[id_count++] = s->trial->hart;
	for (size_t i = 0; i < id_count && !err; i++)
		err = decode(s, stream, ids[i], ret_score, first, ids, &id_count);
	hf_stream_close(stream);
	s->events += ret_score->events;
	ret_score->valid = true;
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

/* Whether a fits far better: without any problem, or with many times the instructions for each. */
static bool is_better(const struct hf_setup_key *key, const struct score *a, const struct score *b)
{
	if (!a->valid || !a->insns || a->problems > b->problems)
		return false;
	if (key->whole_stream && 2 * a->insns < 3 * b->insns)
		return false;
	if (!a->problems)
		return a->insns * 2 >= b->insns;
	if (a->insns < STRETCH_MIN * a->problems)
		return false;
	if (a->problems * 2 > b->problems)
		return a->insns >= 8 * b->insns;
	return a->insns * (b->problems + 1) >= 4 * b->insns * (a->problems + 1);
}

static bool is_same(const struct search *s, const struct score *score)
{
	return score->hash == s->written.hash && score->events == s->written.events;
}

/* Keeps the values that fit about as well as the best, one of each key. */
static void note(struct search *s, const struct hf_setup_key *key, size_t row, size_t value, const struct score *score)
{
	const struct score *best = &s->best;
	const uint16_t found = (uint16_t)((row + 1) << VALUE_BITS | value);

	if (!is_better(key, score, &s->written) || (s->found_count && score->problems > best->problems))
		return;
	if (!s->found_count || score->problems < best->problems) {
		s->found_count = 0;
		s->best = *score;
	}
	if (s->found_count && s->found[s->found_count - 1] >> VALUE_BITS == row + 1)
		return;
	if (s->found_count < FOUND_MAX)
		s->found[s->found_count++] = found;
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

static int search(struct search *s, uint64_t *ret_found)
{
	const struct hf_setup_key *keys = s->trial->codec->keys;
	int err;

	s->problems_max = PROBLEMS_MAX;
	s->events_max = EVENTS_MAX;
	err = run(s, true, &s->written);
	if (err || !s->written.valid || !s->written.problems)
		return err;
	s->problems_max = s->written.problems + 1;
	s->events_max = 4 * s->written.events + 65536;
	for (size_t i = 0; keys[i].key && !err; i++)
		err = try_key(s, &keys[i], i);
	for (size_t i = 0; i < s->found_count; i++)
		*ret_found |= (uint64_t)s->found[i] << 16 * i;
	return err;
}

static int run_trial(const struct hf_trial *trial, uint64_t *ret_found)
{
	struct search *s = calloc(1, sizeof *s);
	int err = s ? 0 : HF_ERR_NOMEM;

	if (err)
		return err;
	s->trial = trial;
	err = begin(s);
	if (!err && s->size)
		err = search(s, ret_found);
	hf_src_free(s->src);
	free(s->bytes);
	free((void *)s->values);
	free(s);
	return err;
}

int hf_trial_run(const struct hf_trial *trial, uint64_t *ret_found)
{
	struct hf_trial before = *trial;
	int err;

	*ret_found = 0;
	err = run_trial(trial, ret_found);
	/* Where one part begins another one ends, and it may be that one's end that is wrong. */
	if (!err && !*ret_found && trial->offset && trial->offset != HF_NOWHERE &&
	    part_at(trial->setup, trial->offset).offset == trial->offset) {
		before.offset--;
		err = run_trial(&before, ret_found);
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

static int text_of(const struct hf_setup *setup, const struct hf_setup_key *key, size_t value, char *buf, size_t size)
{
	const struct hf_setup_value *written = setup ? find_value(setup, HF_SETUP_ANY, key->key) : NULL;
	char text[128];

	for (size_t i = 0; setup && i < setup->value_count && !written; i++)
		if (strcasecmp(setup->values[i].key, key->key) == 0)
			written = &setup->values[i];
	hf_key_value(key, value, written ? written->value : NULL, text, sizeof text);
	return snprintf(buf, size, "%s%s%s%s %s fits (%.60s%s)", key->key, key->field ? "." : "",
			key->field ? key->field : "", key->field ? ":" : " =", text,
			written ? written->value : "not written", written ? " is written" : "");
}

void hf_trial_text(const struct hf_codec *codec, const struct hf_setup *setup, uint64_t found, char *buf, size_t size)
{
	const size_t rows = codec ? count_rows(codec->keys) : 0;
	size_t n = 0;

	*buf = '\0';
	for (; found && n < size; found >>= 16) {
		const size_t row = (found & UINT16_MAX) >> VALUE_BITS, value = found & ((1u << VALUE_BITS) - 1);

		if (row && row <= rows && value < hf_key_values(&codec->keys[row - 1])) {
			if (n)
				n += (size_t)snprintf(buf + n, size - n, ", or ");
			if (n < size)
				n += (size_t)text_of(setup, &codec->keys[row - 1], value, buf + n, size - n);
		}
	}
}

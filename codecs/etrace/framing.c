/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/etrace/framing.h"

#include "codecs/etrace/errors.h"

#include <string.h>

/* More than any message has. */
#define REACH 64
static_assert(REACH > 1 + 2 + 8 + HF_ETRACE_PAYLOAD_MAX, "headers of the encapsulation");

/* ---- parts ---- */

enum hf_etrace_framing hf_etrace_framing_of_part(const struct hf_etrace_params *params, const struct hf_setup *setup,
						 size_t part)
{
	const char *name = setup && part < setup->part_count ? setup->parts[part].framing : NULL;

	return name && *name ? hf_etrace_framing_of(name) : (enum hf_etrace_framing)params->framing;
}

bool hf_etrace_framing_has_sources(const struct hf_etrace_params *params, const struct hf_setup *setup)
{
	const size_t parts = setup && setup->part_count ? setup->part_count : 1;

	for (size_t i = 0; i < parts; i++) {
		const enum hf_etrace_framing framing = hf_etrace_framing_of_part(params, setup, i);

		if (setup && i < setup->part_count && setup->parts[i].hart != HF_SETUP_ANY)
			return true;
		if (framing == HF_ETRACE_FRAMING_CORESIGHT ||
		    ((framing == HF_ETRACE_FRAMING_ENCAP || framing == HF_ETRACE_FRAMING_SMI) && params->srcid_bits))
			return true;
	}
	return false;
}

static void start_part(struct hf_etrace_framer *f, const struct hf_pipeline_entry *entry)
{
	const struct hf_setup *setup = f->setup;
	uint64_t start = 0, end = HF_NOWHERE;

	f->hart = 0;
	if (setup && f->at.part < setup->part_count) {
		const struct hf_setup_part *part = &setup->parts[f->at.part];

		start = part->offset;
		end = part->size == HF_NOWHERE ? HF_NOWHERE : part->offset + part->size;
		f->hart = part->hart == HF_SETUP_ANY ? 0 : part->hart;
	}
	f->framing = (uint8_t)hf_etrace_framing_of_part(f->params, setup, f->at.part);
	hf_pipeline_start(&f->pipeline,
			  f->framing == HF_ETRACE_FRAMING_CORESIGHT ? HF_CORESIGHT_ALIGNED : HF_CORESIGHT_NONE, f->id,
			  start, end, entry);
	if (entry)
		return;
	f->at.inside = f->at.part == 0;
	f->at.run = 0;
	f->at.counted = false;
	f->at.aligned = f->params->alignment != HF_ETRACE_ALIGN_ZEROS;
}

int hf_etrace_framer_seek(struct hf_etrace_framer *f, const struct hf_etrace_place *place)
{
	const size_t parts = f->setup && f->setup->part_count ? f->setup->part_count : 1;

	if (place && place->part >= parts)
		return HF_ERR_STATE;
	f->at = place ? *place : (struct hf_etrace_place){0};
	start_part(f, place ? &place->entry : NULL);
	f->before = hf_etrace_framer_place(f);
	return 0;
}

int hf_etrace_framer_init(struct hf_etrace_framer *f, const struct hf_etrace_params *params,
			  const struct hf_setup *setup, struct hf_src *src, uint8_t id)
{
	f->params = params;
	f->setup = setup;
	f->id = id;
	f->at = (struct hf_etrace_place){0};
	return hf_pipeline_init(&f->pipeline, src) ? HF_ERR_NOMEM : hf_etrace_framer_seek(f, NULL);
}

void hf_etrace_framer_fini(struct hf_etrace_framer *f)
{
	hf_pipeline_fini(&f->pipeline);
}

#define PLACE(member, max) HF_FIELD_ROW(struct hf_etrace_place, member, max)

static const struct hf_field_row place_fields[] = {
	PLACE(part, UINT32_MAX), PLACE(run, 64), PLACE(counter, UINT16_MAX), PLACE(inside, 1), PLACE(counted, 1),
	PLACE(aligned, 1), PLACE(entry.at, INT64_MAX), PLACE(entry.frame, INT64_MAX), PLACE(entry.before, UINT8_MAX),
};

void hf_etrace_place_visit(struct hf_etrace_place *place, struct hf_fields *f)
{
	HF_FIELD_ROWS(f, place_fields, place);
}

/* ---- runs of null bytes ---- */

/* Null bytes in a row that a message can hold; behind more of them the first other byte begins one. */
static uint32_t run_limit(const struct hf_etrace_framer *f)
{
	if (f->framing == HF_ETRACE_FRAMING_RAW)
		return 31;
	return 31u + f->params->timestamp_bytes + f->params->srcid_bits / 8;
}

static bool has_runs(const struct hf_etrace_framer *f)
{
	switch (f->framing) {
	case HF_ETRACE_FRAMING_ENCAP:
	case HF_ETRACE_FRAMING_SMI:
	case HF_ETRACE_FRAMING_CORESIGHT:
		return true;
	case HF_ETRACE_FRAMING_RAW:
		return f->params->alignment == HF_ETRACE_ALIGN_ZEROS;
	default:
		return false;
	}
}

/* In the encapsulation every byte whose length field is 0. */
static bool is_null(const struct hf_etrace_framer *f, uint8_t byte)
{
	return f->framing == HF_ETRACE_FRAMING_RAW ? byte == 0 : (byte & 0x1f) == 0;
}

/*
 * Counts the null bytes of p[n]. Returns where, not before from, a message begins because there are more of them in a
 * row than a message has; n if there is no such place.
 */
static size_t pass_run(struct hf_etrace_framer *f, const uint8_t *p, size_t n, size_t from)
{
	const uint32_t limit = run_limit(f);
	uint32_t run = f->at.run;
	size_t i = 0;

	for (; i < n; i++)
		if (is_null(f, p[i]))
			run += run <= limit;
		else if (run > limit && i >= from)
			break;
		else
			run = 0;
	f->at.run = run;
	return i;
}

/* ---- losses ---- */

static int lose(struct hf_etrace_framer *f, struct hf_etrace_message *msg, int code, size_t n)
{
	memset(msg, 0, sizeof *msg);
	msg->kind = HF_ETRACE_MESSAGE_LOSS;
	msg->offset = hf_pipeline_offset(&f->pipeline);
	msg->size = n;
	msg->code = code;
	f->pipeline.pos += (uint32_t)n;
	return 0;
}

/* Bytes from the next one to where a block begins; at least one. */
static uint64_t to_boundary(const struct hf_etrace_framer *f)
{
	const uint64_t start = f->setup && f->setup->part_count ? f->setup->parts[f->at.part].offset : 0;

	return f->params->block_bytes - (hf_pipeline_offset(&f->pipeline) - start) % f->params->block_bytes;
}

/* Messages in a row that make it sure enough where one begins. */
#define CHAIN 8

/* Whether messages of te_inst_raw, or zeros between them, follow each other from p on. */
static bool is_chain(const uint8_t *p, const uint8_t *end)
{
	for (unsigned i = 0; i < CHAIN && p < end; i++) {
		if (*p && !hf_etrace_is_raw_header(*p))
			return false;
		p += *p ? 1 + (*p & 0x1f) : 1;
	}
	return true;
}

/* The bytes up to the next place where a message surely begins, as far as they are in the pipeline. */
static int lose_alignment(struct hf_etrace_framer *f, struct hf_etrace_message *msg)
{
	const uint8_t *p = f->pipeline.bytes + f->pipeline.pos;
	const size_t left = hf_pipeline_left(&f->pipeline);
	size_t n = 0;

	if (f->params->alignment == HF_ETRACE_ALIGN_BLOCKS) {
		const uint64_t distance = to_boundary(f);

		f->at.aligned = distance <= left;
		n = f->at.aligned ? (size_t)distance : left;
	} else if (has_runs(f)) {
		n = pass_run(f, p, left, f->at.aligned);
		f->at.aligned = n < left;
		f->at.run = f->at.aligned ? 0 : f->at.run;
	} else if (f->framing == HF_ETRACE_FRAMING_RAW) {
		for (n = 1; n < left && !is_chain(p + n, p + left);)
			n++;
		f->at.aligned = true;
	} else {
		n = f->framing == HF_ETRACE_FRAMING_PULP && left > 40 ? 40 : 1;
		f->at.aligned = true;
	}
	return lose(f, msg, HF_ERR_ETRACE_FRAME, n);
}

/* ---- messages ---- */

/* The pipeline has no more: the next part, the other side of a break, or the end. */
static int go_on(struct hf_etrace_framer *f, struct hf_etrace_message *msg)
{
	const size_t parts = f->setup && f->setup->part_count ? f->setup->part_count : 1;
	const uint8_t stop = f->pipeline.stop;

	if (stop == HF_PIPELINE_BREAK) {
		hf_pipeline_resume(&f->pipeline);
		f->at.run = 0;
		f->at.aligned = f->params->alignment != HF_ETRACE_ALIGN_ZEROS;
		return lose(f, msg, HF_ERR_ETRACE_FRAME, 0);
	}
	if (stop == HF_PIPELINE_ERROR)
		return f->pipeline.reader.err;
	if (f->at.part + 1 >= parts)
		return HF_NOTE_END;
	f->at.part++;
	start_part(f, NULL);
	f->at.inside = true;
	memset(msg, 0, sizeof *msg);
	msg->kind = HF_ETRACE_MESSAGE_RESTART;
	msg->offset = hf_pipeline_offset(&f->pipeline);
	return 0;
}

/* ESP32's packets are numbered: one that is missing was lost before it was stored. */
static bool count(struct hf_etrace_framer *f, struct hf_etrace_message *msg)
{
	const uint16_t counter = (uint16_t)msg->timestamp;
	const bool missing = f->at.counted && counter != (uint16_t)(f->at.counter + 1);

	msg->timestamp = 0;
	f->at.counter = missing ? (uint16_t)(counter - 1) : counter;
	f->at.counted = true;
	return !missing;
}

/* Null bytes before the next message. */
static void pass_nulls(struct hf_etrace_framer *f)
{
	struct hf_pipeline *pipeline = &f->pipeline;
	const bool runs = has_runs(f);

	while (pipeline->pos < pipeline->count) {
		const uint8_t byte = pipeline->bytes[pipeline->pos];

		if (f->framing == HF_ETRACE_FRAMING_PULP || !is_null(f, byte) ||
		    (f->framing == HF_ETRACE_FRAMING_ESP32 && byte))
			break;
		pipeline->pos++;
		f->at.run += runs && f->at.run <= run_limit(f);
	}
}

/* One message from what is in the pipeline, of which there is something. */
static int read_message(struct hf_etrace_framer *f, struct hf_etrace_message *msg)
{
	const uint8_t *p = f->pipeline.bytes + f->pipeline.pos;
	const size_t left = hf_pipeline_left(&f->pipeline);
	int size;

	size = hf_etrace_message_read(f->params, f->framing, p, left, msg);
	/* A message that something else than another one follows is none: its length is wrong, or was meant otherwise. */
	if (f->framing == HF_ETRACE_FRAMING_RAW && size > 0 && (size_t)size < left && p[size] &&
	    !hf_etrace_is_raw_header(p[size]))
		return lose_alignment(f, msg);
	if (size == HF_ERR_TRUNCATED)
		return lose(f, msg, HF_ERR_TRUNCATED, left);
	if (size <= 0 || (f->params->alignment == HF_ETRACE_ALIGN_BLOCKS && (uint64_t)size > to_boundary(f)))
		return lose_alignment(f, msg);
	f->at.run = 0;
	if (has_runs(f)) {
		const size_t n = pass_run(f, p, (size_t)size, 1);

		if (n < (size_t)size) {
			f->at.run = 0;
			return lose(f, msg, HF_ERR_ETRACE_FRAME, n);
		}
	}
	if (f->framing == HF_ETRACE_FRAMING_ESP32 && !count(f, msg))
		return lose(f, msg, HF_ERR_ETRACE_LOST, 0);
	msg->offset = hf_pipeline_offset(&f->pipeline);
	msg->size = (uint64_t)size;
	if (f->framing == HF_ETRACE_FRAMING_CORESIGHT && !f->params->srcid_bits)
		msg->source = f->id;
	else if (!f->params->srcid_bits)
		msg->source = f->hart;
	f->pipeline.pos += (uint32_t)size;
	return 0;
}

int hf_etrace_framer_next(struct hf_etrace_framer *f, struct hf_etrace_message *ret_msg)
{
	struct hf_pipeline *pipeline = &f->pipeline;

	for (;;) {
		int err = hf_pipeline_left(pipeline) < REACH ? hf_pipeline_fill(pipeline) : 0;

		if (err)
			return err;
		f->before = hf_etrace_framer_place(f);
		if (hf_pipeline_left(pipeline) == 0)
			return go_on(f, ret_msg);
		if (f->at.aligned || f->params->alignment != HF_ETRACE_ALIGN_BLOCKS) /* what fills a block ends with it */
			pass_nulls(f);
		if (!f->at.aligned && has_runs(f) && f->at.run > run_limit(f) && hf_pipeline_left(pipeline))
			f->at.aligned = true;
		if (!f->at.aligned && hf_pipeline_left(pipeline)) {
			lose_alignment(f, ret_msg);
			if (ret_msg->size)
				return 0;
			continue;
		}
		if (hf_pipeline_left(pipeline) >= REACH ||
		    (pipeline->stop != HF_PIPELINE_MORE && hf_pipeline_left(pipeline)))
			return read_message(f, ret_msg);
	}
}

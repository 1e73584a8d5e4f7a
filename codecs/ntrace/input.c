/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/ntrace/input.h"

#include <stdlib.h>
#include <string.h>

/* ---- the order of time ---- */

/* A dump in the order of time: its oldest byte is at wrap_offset, and each word is reversed (L ^ (word_bytes - 1)). */
struct ordered {
	struct hf_src src; /* first */
	struct hf_src *base;
	uint64_t offset;
	unsigned word;
};

#define WORDS_MAX 512

static bool is_damage(int err)
{
	return err && hf_err_class(err) == HF_CLASS_corrupt;
}

/* Reads bytes of whole words, and reverses the bytes of each word. The bytes of an incomplete word at the end of the
 * source stay in their order; those of a word that damage cuts are left out. */
static int read_words(const struct ordered *o, uint64_t at, uint8_t *buf, size_t n, size_t *ret_n, struct hf_diag *diag)
{
	uint8_t words[WORDS_MAX];
	const uint64_t start = at & ~(uint64_t)(o->word - 1);
	size_t got = 0, from = (size_t)(at - start);
	int err;

	if (o->word == 1)
		return hf_src_read_at(o->base, at, buf, n, ret_n, diag);
	n = n < WORDS_MAX - from ? n : WORDS_MAX - from;
	err = hf_src_read_at(o->base, start, words, (from + n + o->word - 1) & ~(size_t)(o->word - 1), &got, diag);
	if (!err && got % o->word) {
		uint8_t byte;
		size_t more;

		err = hf_src_read_at(o->base, start + got, &byte, 1, &more, diag);
		if (err)
			got -= got % o->word;
	}
	for (size_t i = 0; i + o->word <= got; i += o->word)
		for (size_t k = 0; k < o->word / 2; k++) {
			const uint8_t byte = words[i + k];

			words[i + k] = words[i + o->word - 1 - k];
			words[i + o->word - 1 - k] = byte;
		}
	*ret_n = got <= from ? 0 : got - from < n ? got - from : n;
	memcpy(buf, words + from, *ret_n);
	return *ret_n && is_damage(err) ? 0 : err;
}

static int ordered_read(struct hf_src *src, uint64_t offset, void *buf, size_t n, size_t *ret_n, struct hf_diag *diag)
{
	const struct ordered *o = (const struct ordered *)src;
	const uint64_t older = o->src.size - o->offset; /* bytes from the write pointer to the end of memory */
	size_t done = 0;
	int err = 0;

	*ret_n = 0;
	while (done < n && offset < o->src.size && !err) {
		const bool wrapped = o->offset && offset >= older;
		const uint64_t at = wrapped ? offset - older : offset + o->offset;
		const uint64_t there = wrapped ? o->src.size - offset : older - offset;
		const size_t want = n - done < there ? n - done : (size_t)there;
		size_t got = 0;

		err = read_words(o, at, (uint8_t *)buf + done, want, &got, diag);
		done += got;
		offset += got;
		if (got == 0)
			break;
	}
	*ret_n = done;
	return done ? 0 : err;
}

static void ordered_free(struct hf_src *src)
{
	free(src);
}

static const struct hf_src_ops ordered_ops = {.read_at = ordered_read, .free = ordered_free};

static int order(const struct hf_ntrace_params *params, struct hf_src *src, struct hf_src **ret_src)
{
	struct ordered *o;

	*ret_src = NULL;
	if (!params->wrap_offset && params->word_bytes == 1)
		return 0;
	if (params->wrap_offset && src->size == HF_NOWHERE)
		return HF_ERR_UNSUPPORTED;
	o = calloc(1, sizeof *o);
	if (!o)
		return HF_ERR_NOMEM;
	*o = (struct ordered){
		.src = {.ops = &ordered_ops, .size = src->size, .stop = src->stop},
		.base = src,
		.offset = params->wrap_offset && src->size ? params->wrap_offset % src->size : 0,
		.word = params->word_bytes,
	};
	*ret_src = &o->src;
	return 0;
}

uint64_t hf_ntrace_input_offset(const struct hf_ntrace_input *in, uint64_t at)
{
	uint64_t offset = at;

	if (at >= in->size)
		return at;
	if (in->params->wrap_offset)
		offset = (at + in->params->wrap_offset % in->size) % in->size;
	return offset ^ (in->params->word_bytes - 1u);
}

/* ---- parts ---- */

static const struct hf_setup_part *part_of(const struct hf_ntrace_input *in)
{
	return in->setup && in->part < in->setup->part_count ? &in->setup->parts[in->part] : NULL;
}

static void start(struct hf_ntrace_input *in, const struct hf_pipeline_entry *entry)
{
	const struct hf_setup_part *part = part_of(in);

	hf_pipeline_start(&in->pipeline, (enum hf_coresight_layout)in->params->layout, in->id, part ? part->offset : 0,
			  part && part->size != HF_NOWHERE ? part->offset + part->size : HF_NOWHERE, entry);
}

void hf_ntrace_input_start(struct hf_ntrace_input *in, uint32_t part, uint8_t id)
{
	in->part = part;
	in->id = id;
	start(in, NULL);
}

bool hf_ntrace_input_has_next(const struct hf_ntrace_input *in)
{
	return in->setup && in->part + 1 < in->setup->part_count;
}

uint32_t hf_ntrace_input_hart(const struct hf_ntrace_input *in)
{
	const struct hf_setup_part *part = part_of(in);

	if (in->params->srcbits || in->params->layout != HF_CORESIGHT_NONE)
		return HF_SETUP_ANY;
	return part && part->hart != HF_SETUP_ANY ? part->hart : 0;
}

int hf_ntrace_input_init(struct hf_ntrace_input *in, const struct hf_setup *setup,
			 const struct hf_ntrace_params *params, struct hf_src *src, uint8_t id)
{
	int err;

	in->setup = setup;
	in->params = params;
	in->size = src->size;
	err = order(params, src, &in->ordered);
	if (!err)
		err = hf_pipeline_init(&in->pipeline, in->ordered ? in->ordered : src);
	if (err) {
		hf_src_free(in->ordered);
		in->ordered = NULL;
		return err;
	}
	hf_ntrace_input_start(in, 0, id);
	return 0;
}

void hf_ntrace_input_fini(struct hf_ntrace_input *in)
{
	hf_pipeline_fini(&in->pipeline);
	hf_src_free(in->ordered);
}

int hf_ntrace_input_seek(struct hf_ntrace_input *in, const struct hf_ntrace_place *place)
{
	if (place->part && (!in->setup || place->part >= in->setup->part_count))
		return HF_ERR_STATE;
	in->part = place->part;
	start(in, &place->entry);
	if (place->entry.frame < in->pipeline.frames.start || place->entry.at < place->entry.frame ||
	    place->entry.at > in->pipeline.end)
		return HF_ERR_STATE;
	return 0;
}

struct hf_ntrace_place hf_ntrace_input_place(const struct hf_ntrace_input *in)
{
	return (struct hf_ntrace_place){.part = in->part, .entry = hf_pipeline_entry(&in->pipeline)};
}

int hf_ntrace_input_look(struct hf_ntrace_input *in, const uint8_t **ret_bytes, size_t *ret_n)
{
	if (hf_pipeline_left(&in->pipeline) < HF_NTRACE_MESSAGE_MAX && in->pipeline.stop == HF_PIPELINE_MORE) {
		int err = hf_pipeline_fill(&in->pipeline);

		if (err)
			return err;
	}
	*ret_bytes = in->pipeline.bytes + in->pipeline.pos;
	*ret_n = hf_pipeline_left(&in->pipeline);
	return 0;
}

/* ---- looking ahead ---- */

int hf_ntrace_input_sample(const struct hf_setup *setup, const struct hf_ntrace_params *params, struct hf_src *src,
			   uint8_t id, uint8_t *buf, size_t n, size_t *ret_n, uint64_t *ret_seen)
{
	struct hf_ntrace_input *in = calloc(1, sizeof *in);
	const uint8_t *bytes;
	size_t got;
	int err = in ? hf_ntrace_input_init(in, setup, params, src, id) : HF_ERR_NOMEM;

	*ret_n = 0;
	if (err) {
		free(in);
		return err;
	}
	if (in->pipeline.end > n)
		in->pipeline.end = n;
	while (!err && *ret_n < n) {
		err = hf_ntrace_input_look(in, &bytes, &got);
		if (err || (!got && in->pipeline.stop != HF_PIPELINE_BREAK))
			break;
		if (!got)
			hf_pipeline_resume(&in->pipeline);
		got = got < n - *ret_n ? got : n - *ret_n;
		memcpy(buf + *ret_n, bytes, got);
		in->pipeline.pos += (uint32_t)got;
		*ret_n += got;
	}
	for (unsigned i = 0; ret_seen && i < 2; i++)
		ret_seen[i] = in->pipeline.seen[i];
	hf_ntrace_input_fini(in);
	free(in);
	return err;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "index/pass/input.h"

#include "codecs/source/errors.h"
#include "index/base/codecs.h"

bool hf_input_is_verdict(int err)
{
	enum hf_err_class class;

	if (err >= 0)
		return false;
	class = hf_err_class(err);
	return class == HF_CLASS_corrupt || class == HF_CLASS_unsupported || class == HF_CLASS_limit;
}

static int pass_point(void *ctx, const struct hf_point *point, const uint8_t *window)
{
	struct hf_input *in = ctx;

	if (point->out_offset + point->out_size > in->most)
		return HF_ERR_EXPANSION_STREAM;
	in->in_pos = point->in_offset;
	in->out_end = point->out_offset + point->out_size;
	return in->on_point ? in->on_point(in->ctx, point, window) : 0;
}

/* Makes in->scan a reader of *shared, if that still has its beginning, else of a new one. */
static int join(struct hf_input *in, struct hf_shared_scan **shared, struct hf_diag *diag)
{
	int err = *shared ? hf_shared_scan_join(*shared, &in->scan, diag) : 0;

	if (err || in->scan)
		return err;
	hf_shared_scan_release(*shared);
	err = hf_shared_scan_new(in->box, in->file, shared, diag);
	return err ? err : hf_shared_scan_join(*shared, &in->scan, diag);
}

/* Makes in->src. */
static int open_src(struct hf_input *in, struct hf_shared_scan **shared, struct hf_diag *diag)
{
	int err;

	in->in_pos = in->out_end = 0;
	if (!in->box) {
		in->src = in->file;
		return 0;
	}
	err = join(in, shared, diag);
	if (err)
		return err;
	in->reads = hf_shared_scan_box(*shared);
	err = hf_growing_new(in->reads, in->scan, pass_point, in, &in->src);
	if (!err)
		in->src->stop = in->file->stop;
	return err ? hf_diag_set(diag, err, HF_SPACE_FILE, HF_NOWHERE, 0) : 0;
}

static void close_src(struct hf_input *in)
{
	if (in->box && in->src)
		hf_src_free(in->src);
	in->src = NULL;
	in->scan = NULL;
	hf_shared_scan_release(in->shared);
	in->shared = NULL;
}

static int read_head(struct hf_src *src, uint8_t head[HF_PROBE_SIZE], size_t *ret_n, struct hf_diag *diag)
{
	*ret_n = 0;
	while (*ret_n < HF_PROBE_SIZE) {
		size_t got;
		int err = hf_src_read_at(src, *ret_n, head + *ret_n, HF_PROBE_SIZE - *ret_n, &got, diag);

		/* Damage behind the first bytes does not matter here. */
		if (err && (!*ret_n || !hf_input_is_verdict(err)))
			return err;
		if (err || !got)
			break;
		*ret_n += got;
	}
	return 0;
}

/* hf_codec_probe, but in the list of codecs that tests may replace. */
static const struct hf_codec *probe_codec(const uint8_t *head, size_t n)
{
	const struct hf_codec *best = NULL;
	int best_bid = 0;

	for (size_t i = 0; hf_codecs[i]; i++) {
		const struct hf_codec *codec = hf_codecs[i];
		int bid = codec->probe ? codec->probe(head, n) : 0;

		if (bid > best_bid) {
			best = codec;
			best_bid = bid;
		}
	}
	return best;
}

/* Whether the stream is a container again. lzma does not count: it has no magic number. */
static bool is_box(const uint8_t *head, size_t n)
{
	const struct hf_box *box = hf_box_probe(head, n, n);

	return box && box != &hf_box_lzma;
}

static int open_stream(struct hf_input *in, struct hf_diag *diag)
{
	uint8_t head[HF_PROBE_SIZE];
	const struct hf_codec *codec;
	size_t n;
	int err = read_head(in->file, head, &n, diag);

	if (err)
		return err;
	if (in->setup && in->setup->text)
		in->box = in->setup->text;
	else if (!in->setup || in->setup->packed)
		in->box = hf_box_probe(head, n, in->file->size);
	err = open_src(in, &in->shared, diag);
	if (!err && in->box)
		err = read_head(in->src, head, &n, diag);
	if (err)
		return err;
	codec = in->setup ? hf_index_codec_named(in->setup->format) : probe_codec(head, n);
	if (!codec)
		return hf_diag_set(diag, in->box && is_box(head, n) ? HF_ERR_BOX_NESTED : HF_ERR_UNKNOWN_FORMAT,
				   HF_SPACE_STREAM, 0, 0);
	return hf_stream_open(codec, in->src, in->setup, &in->stream, diag);
}

int hf_input_open(struct hf_input *in, struct hf_src *file, const struct hf_setup *setup, uint64_t most,
		  hf_point_fn on_point, void *ctx, bool *ret_fatal, struct hf_diag *diag)
{
	int err;

	*in = (struct hf_input){.file = file, .setup = setup, .most = most, .on_point = on_point, .ctx = ctx};
	*diag = (struct hf_diag){.offset = HF_NOWHERE};
	err = open_stream(in, diag);
	diag->code = err;
	*ret_fatal = hf_input_is_verdict(err);
	return err;
}

void hf_input_close(struct hf_input *in)
{
	if (!in->forked)
		hf_stream_close(in->stream);
	in->stream = NULL;
	close_src(in);
}

int hf_input_fork(struct hf_input *in, struct hf_input *of, hf_point_fn on_point, void *ctx,
		  struct hf_diag *diag)
{
	*in = (struct hf_input){.file = of->file, .box = of->box, .stream = of->stream, .most = of->most,
				.on_point = on_point, .ctx = ctx, .forked = true};
	return open_src(in, &of->shared, diag);
}

int hf_input_drain(struct hf_input *in, uint64_t *ret_size, struct hf_diag *ret_damage)
{
	uint64_t end;
	uint8_t byte;
	size_t got;
	int err = 0;

	*ret_damage = (struct hf_diag){0};
	*ret_size = in->file->size;
	if (!in->box)
		return 0;
	/* Reading one byte behind the present block makes the next one. The error of a block ends only that block. */
	do {
		end = in->out_end;
		err = hf_src_read_at(in->src, end, &byte, 1, &got, ret_damage);
	} while (in->out_end > end);
	*ret_size = in->out_end;
	if (err && !hf_input_is_verdict(err))
		return err;
	ret_damage->code = err;
	return 0;
}

int hf_input_note(const struct hf_input *in, size_t i, struct hf_diag *ret_diag)
{
	if (!in->scan || !in->reads->scan_note)
		return HF_NOTE_END;
	return in->reads->scan_note(in->scan, i, ret_diag);
}

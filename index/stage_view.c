/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Encodes one view of one hart: it says of each chunk where its bytes begin, their checksum, and in which state the
 * encoder is there. The bytes go nowhere, but to who asked for them with a tap.
 *
 * Of a view that can be counted most bytes are not made at all: they follow from the events, whose digest the index
 * has, and from the encoder's entry. In the checksum are all bytes of every SAMPLE-th chunk, the first among them, and
 * those from a batch on that has a problem or ends the hart: what a batch is, the events say. With hf_build.all_sums
 * they all are.
 */
#include "index/hash.h"
#include "index/pass_run.h"

#include "codecs/base/memo.h"
#include "codecs/isa/disasm.h"

#include <stdlib.h>

/* Small enough to stay in the second-level cache, large enough that the checksum runs at full speed. */
#define SINK_SIZE ((size_t)32 << 10)
#define SAMPLE 64u

/* Where the bytes of a view go: into a checksum, and to a tap. */
struct hash_sink {
	struct hf_sink sink; /* first */
	struct XXH3_state_s *state;
	uint8_t *buf;
	const struct hf_tap *tap; /* NULL: nobody wants them */
	uint64_t base;		  /* where the chunk at hand begins in the view */
	bool sums;		  /* what comes is in the checksum: */
	uint64_t summed;	  /*   so many bytes are */
};

struct view {
	struct hf_stage stage; /* first */
	size_t number;	       /* in pass->views */
	struct hf_enc *enc;
	struct hf_enc_env env;
	struct hf_disasm *disasm; /* of its own, or NULL */
	struct hf_memo *memo;	  /* the same; with it, bytes that nobody asks for are counted */
	struct hash_sink out;
	uint64_t first;		  /* number of the chunk with which it begins */
	struct hf_view_chunk row; /* the chunk at hand; checksum and size when it is done */
};

static int flush_hash(struct hf_sink *sink)
{
	struct hash_sink *out = (struct hash_sink *)sink;
	size_t n = (size_t)(sink->p - sink->start);

	if (out->sums) {
		XXH3_64bits_update(out->state, sink->start, n);
		out->summed += n;
	}
	if (out->tap && n)
		out->tap->put(out->tap->ctx, out->base + sink->flushed, sink->start, n);
	sink->flushed += n;
	sink->p = sink->start;
	return 0;
}

static void start_chunk(struct hash_sink *out)
{
	XXH3_64bits_reset(out->state);
	out->sink = (struct hf_sink){.start = out->buf,
				     .p = out->buf,
				     .end = out->buf + SINK_SIZE,
				     .flush = flush_hash,
				     .counts = !out->tap};
	out->sums = false;
	out->summed = 0;
}

/* What follows in the chunk is in the checksum. */
static void start_hash(struct hash_sink *out)
{
	flush_hash(&out->sink);
	out->sums = true;
	out->sink.counts = false;
}

/* Of the chunk that ends here. */
static void take_hash(struct hash_sink *out, struct hf_view_chunk *row)
{
	flush_hash(&out->sink);
	XXH3_64bits_update(out->state, row->entry, row->entry_size);
	row->size = out->sink.flushed;
	row->checked = out->summed;
	row->checksum = XXH3_64bits_digest(out->state);
	start_chunk(out);
}

/* The chunk at hand has all its events. */
static int end_chunk(struct view *view, const struct hf_batch *batch)
{
	const uint64_t number = view->number;
	struct hf_view_chunk *row = &view->row;
	const bool last = batch->tail == HF_TAIL_HART;
	uint64_t end;
	int err;

	row->number = batch->chunk.number;
	if (last)
		hf_enc_end(view->enc, &view->out.sink);
	take_hash(&view->out, row);
	end = row->offset + row->size;
	err = hf_pass_run_push(view->stage.run, HF_ROW_VIEW, &number, sizeof number, row,
			       offsetof(struct hf_view_chunk, entry) + row->entry_size);
	if (last) {
		const uint64_t of_hart[3] = {number, row->number + 1, end};

		return err ? err : hf_pass_run_push(view->stage.run, HF_ROW_VIEW_END, of_hart, sizeof of_hart, NULL, 0);
	}
	row->offset = view->out.base = end;
	row->entry_size = (uint32_t)hf_enc_save(view->enc, row->entry);
	return err;
}

static bool is_to_be_summed(const struct view *view, const struct hf_batch *batch)
{
	return !view->memo || view->stage.run->pass->build->all_sums || batch->chunk.number % SAMPLE == 0 ||
	       batch->tail == HF_TAIL_HART || batch->kinds & HF_PROBLEM_KINDS;
}

static int work(struct hf_stage *stage, struct hf_batch *batch)
{
	struct view *view = (struct view *)stage;

	if (batch->chunk.number < view->first)
		return HF_STAGE_DONE;
	if (!view->out.sums && is_to_be_summed(view, batch))
		start_hash(&view->out);
	hf_enc_put_known(view->enc, batch->ev, batch->n, batch->stretch, batch->stretch_count, &view->out.sink);
	return batch->tail == HF_TAIL_NONE ? (int)HF_STAGE_DONE : end_chunk(view, batch);
}

static void free_view(struct hf_stage *stage)
{
	struct view *view = (struct view *)stage;

	hf_enc_free(view->enc);
	hf_disasm_free(view->disasm);
	free(view->memo);
	XXH3_freeState(view->out.state);
	free(view->out.buf);
	free(view);
}

static const struct hf_stage_ops ops = {.work = work, .free = free_view};

static int open_encoder(struct view *view, const struct hf_view_part *part, bool resume)
{
	const struct hf_pass_run *run = view->stage.run;
	int err;

	view->out.state = XXH3_createState();
	view->out.buf = malloc(SINK_SIZE);
	if (!view->out.state || !view->out.buf)
		return HF_ERR_NOMEM;
	start_chunk(&view->out);
	err = hf_enc_new(part->key->ops, run->pass->in.stream, run->end.hart.id, &view->env, &view->enc);
	if (err) {
		view->enc = NULL;
		return err;
	}
	if (resume) {
		view->row = part->resume;
		view->out.base = view->row.offset;
		return hf_enc_load(view->enc, view->row.entry, view->row.entry_size);
	}
	view->row.entry_size = (uint32_t)hf_enc_save(view->enc, view->row.entry);
	return 0;
}

/* Who wants the bytes of that view and hart, or NULL. A view that is the stream itself is not given. */
static const struct hf_tap *tap_of(const struct hf_pass_run *run, const struct hf_enc_ops *encoder)
{
	const struct hf_stream *stream = run->pass->in.stream;
	const struct hf_tap *tap = run->pass->build->tap;

	if (!tap || tap->ops != encoder || tap->hart != run->end.hart.id)
		return NULL;
	return encoder == stream->codec->original && (stream->info.flags & HF_STREAM_ORIGINAL) ? NULL : tap;
}

int hf_stage_view_add(struct hf_pass_run *run, size_t number, uint64_t first, bool resume)
{
	const struct hf_view_part *part = &run->pass->views[number];
	struct view *view = calloc(1, sizeof *view);
	int err = 0;

	if (!view)
		return HF_ERR_NOMEM;
	view->stage.ops = &ops;
	hf_pass_run_add_stage(run, &view->stage);
	view->number = number;
	view->first = first;
	view->env = run->pass->env;
	view->env.params = part->key->options;
	view->out.tap = tap_of(run, part->key->ops);
	if (part->key->ops->flags & HF_ENC_COUNTS) {
		view->env.memo = view->memo = calloc(1, sizeof *view->memo);
		err = view->memo ? 0 : HF_ERR_NOMEM;
	}
	/* It may run beside other encoders. */
	if (!err && view->env.disasm && run->pass->many) {
		err = hf_disasm_new(&view->disasm);
		view->env.disasm = view->disasm;
	}
	return err ? err : open_encoder(view, part, resume);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Encodes one view of one hart: finds for each chunk where its bytes begin, their checksum, and the encoder's state
 * there. The bytes themselves are dropped, unless there is a tap for them.
 *
 * In a view that can be counted most bytes are not made: they follow from the events, whose digest the index has, and
 * the encoder's entry. In the checksum are all bytes of each SAMPLE-th chunk, beginning with the first, and those from
 * a batch on that has a problem or ends the hart. With hf_build.all_sums all bytes are.
 */
#include "index/base/hash.h"
#include "index/pass/pass_run.h"

#include "codecs/base/memo.h"
#include "codecs/isa/disasm.h"
#include "codecs/walk/known.h"

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
	uint64_t base;		  /* where the present chunk begins in the view */
	bool sums;		  /* bytes go into the checksum: */
	uint64_t summed;	  /*   so many did */
};

/* Which lines of a view have a time; for a capture that may have several harts. */
struct times {
	struct hf_times_writer writer;
	uint64_t rows; /* pushed for the present chunk */
	struct hf_stretch stretch[HF_BATCH_EVENTS / 2];
};

struct view {
	struct hf_stage stage; /* first */
	size_t number;	       /* in pass->views */
	struct hf_enc *enc;
	struct hf_enc_env env;
	struct hf_disasm *disasm; /* of its own, or NULL */
	struct hf_memo *memo;	  /* the same; with it bytes that nobody needs are only counted */
	struct hf_walk_known *known; /* the same, of a view that is not counted */
	struct hash_sink out;
	uint64_t first;		  /* the chunk with which it begins */
	struct hf_view_chunk row; /* the present chunk; checksum and size at its end */
	struct times *times;	  /* NULL: not wanted */
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

/* From here on bytes of the chunk go into the checksum. */
static void start_hash(struct hash_sink *out)
{
	flush_hash(&out->sink);
	out->sums = true;
	out->sink.counts = false;
}

/* Takes the checksum of the chunk that ends here. */
static void take_hash(struct hash_sink *out, struct hf_view_chunk *row)
{
	flush_hash(&out->sink);
	row->size = out->sink.flushed;
	row->checked = out->summed;
	row->checksum = 0;
	if (out->summed) {
		XXH3_64bits_update(out->state, row->entry, row->entry_size);
		row->checksum = XXH3_64bits_digest(out->state);
	}
	start_chunk(out);
}

/* ---- times ---- */

static int push_times(struct view *view, uint64_t chunk)
{
	struct times *times = view->times;
	struct hf_view_times *row = &times->writer.row;
	const uint64_t head[3] = {view->number, chunk, times->rows};
	int err;

	if (!row->n)
		return 0;
	err = hf_pass_run_push(view->stage.run, HF_ROW_TIMES, head, sizeof head, row,
			       offsetof(struct hf_view_times, data) + row->n);
	row->n = 0;
	times->rows++;
	return err;
}

/* Encodes events [from, to) of the batch. *stretch: the first stretch that is not before from. */
static void put_some(struct view *view, const struct hf_batch *batch, size_t from, size_t to, size_t *stretch)
{
	struct hf_stretch *some = view->times->stretch;
	size_t n = 0;

	for (; *stretch < batch->stretch_count && batch->stretch[*stretch].at < to; ++*stretch) {
		some[n] = batch->stretch[*stretch];
		some[n++].at -= (uint16_t)from;
	}
	hf_enc_put_known(view->enc, batch->ev + from, to - from, some, n, &view->out.sink);
}

/* A TIMESTAMP event comes next: notes the offset where its line begins. */
static int note_time(struct view *view, const struct hf_batch *batch, const struct hf_event *ev)
{
	struct hf_times_writer *writer = &view->times->writer;
	const uint64_t offset = view->row.offset + hf_sink_total(&view->out.sink);
	int err = 0;

	if (ev->flags & HF_EVF_NO_TIME)
		return 0;
	if (hf_times_is_full(writer))
		err = push_times(view, batch->chunk.number);
	hf_times_put(writer, offset + view->enc->ops->owes(view->enc), ev->time.value);
	return err;
}

static int put_timed(struct view *view, const struct hf_batch *batch)
{
	size_t from = 0, stretch = 0;
	int err = 0;

	for (size_t i = 0; i < batch->n && !err; i++) {
		if (batch->ev[i].kind != HF_EVENT_TIMESTAMP)
			continue;
		put_some(view, batch, from, i, &stretch);
		err = note_time(view, batch, &batch->ev[i]);
		from = i;
	}
	put_some(view, batch, from, batch->n, &stretch);
	return err;
}

/* ---- chunks ---- */

/* After the last event of the present chunk. */
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
	err = view->times ? push_times(view, row->number) : 0;
	if (view->times)
		view->times->rows = 0;
	if (!err)
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
	int err = 0;

	if (batch->chunk.number < view->first)
		return HF_STAGE_DONE;
	if (!view->out.sums && is_to_be_summed(view, batch))
		start_hash(&view->out);
	if (view->times && batch->kinds & 1u << HF_EVENT_TIMESTAMP)
		err = put_timed(view, batch);
	else
		hf_enc_put_known(view->enc, batch->ev, batch->n, batch->stretch, batch->stretch_count, &view->out.sink);
	if (err)
		return err;
	return batch->tail == HF_TAIL_NONE ? (int)HF_STAGE_DONE : end_chunk(view, batch);
}

static void free_view(struct hf_stage *stage)
{
	struct view *view = (struct view *)stage;

	hf_enc_free(view->enc);
	hf_disasm_free(view->disasm);
	free(view->memo);
	free(view->known);
	free(view->times);
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

/* For a view whose lines are merged, if the capture may have several harts. */
static int open_times(struct view *view, const struct hf_view_part *part, bool resume)
{
	if (!(part->key->ops->flags & HF_ENC_TIMES) ||
	    !(view->stage.run->pass->in.stream->info.flags & HF_STREAM_MANY))
		return 0;
	view->times = calloc(1, sizeof *view->times);
	if (!view->times)
		return HF_ERR_NOMEM;
	if (resume)
		view->times->writer.state = part->times;
	return 0;
}

/* The tap of that view and hart, or NULL. A view that is the stream itself has none. */
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
	} else if (part->key->ops->put_known) {
		view->env.known = view->known = calloc(1, sizeof *view->known);
		err = view->known ? 0 : HF_ERR_NOMEM;
	}
	/* Other encoders may run at the same time. */
	if (!err && view->env.disasm && run->pass->many) {
		err = hf_disasm_new(&view->disasm);
		view->env.disasm = view->disasm;
	}
	if (!err)
		err = open_times(view, part, resume);
	return err ? err : open_encoder(view, part, resume);
}

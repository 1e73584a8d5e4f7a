/* SPDX-License-Identifier: Apache-2.0 */
#include "index/pass_run.h"

#include "index/pass_workers.h"

#include <stdlib.h>

int hf_lane_new(struct hf_builder *b, const struct hf_lane_ops *ops, uint64_t slot, uint32_t hart, bool first,
		struct hf_lane **ret_lane)
{
	struct hf_lane *lane = calloc(1, ops->size);
	int err = 0;

	*ret_lane = NULL;
	if (!lane)
		return HF_ERR_NOMEM;
	*lane = (struct hf_lane){.ops = ops, .b = b, .crew = b->crew, .slot = slot, .in = &b->in};
	lane->end.hart.id = hart;
	lane->ring = malloc(HF_SEGMENTS * sizeof *lane->ring);
	lane->views = calloc(b->view_count + 1, sizeof *lane->views);
	if (!lane->ring || !lane->views)
		err = HF_ERR_NOMEM;
	if (!err && first) {
		b->in.on_point = hf_lane_point;
		b->in.ctx = lane;
	} else if (!err) {
		lane->in = &lane->own;
		err = hf_input_fork(&lane->own, &b->in, hf_lane_point, lane, b->diag);
	}
	if (!err)
		err = hf_dec_new(b->in.stream, lane->in->src, hart, &lane->dec);
	if (err)
		hf_lane_free(lane);
	else
		*ret_lane = lane;
	return err;
}

void hf_lane_free(struct hf_lane *lane)
{
	if (!lane)
		return;
	for (size_t i = 0; i < lane->view_count; i++)
		hf_view_lane_close(&lane->views[i].lane);
	free(lane->views);
	hf_dec_free(lane->dec);
	if (lane->in == &lane->own)
		hf_input_close(&lane->own);
	else if (lane->b->in.ctx == lane)
		lane->b->in.on_point = NULL;
	hf_image_free(lane->code.image);
	hf_tape_free(&lane->tape);
	free(lane->ring);
	free(lane);
}

int hf_lane_add_view(struct hf_lane *lane, size_t number, uint64_t first_chunk, bool resume)
{
	struct hf_lane_view *view = &lane->views[lane->view_count];
	struct hf_builder *b = lane->b;
	const struct hf_view_part *part = &b->views[number];
	const bool original = part->key->ops == b->in.stream->codec->original && (b->in.stream->info.flags & HF_STREAM_ORIGINAL);
	int err = hf_view_lane_open(&view->lane, part, b->in.stream, lane->end.hart.id, &b->env,
				    original ? NULL : b->build->tap, hf_crew_is_many(b->crew), resume);

	if (err)
		return err;
	view->number = number;
	view->lane.first = first_chunk;
	lane->view_count++;
	return 0;
}

/* ---- the tape ---- */

int hf_lane_push(struct hf_lane *lane, enum hf_lane_record kind, const void *a, size_t an, const void *b, size_t bn)
{
	int err;

	hf_crew_lock(lane->crew);
	err = hf_tape_push(&lane->tape, kind, a, an, b, bn);
	hf_crew_unlock(lane->crew);
	return err;
}

int hf_lane_point(void *ctx, const struct hf_point *point, const uint8_t *window)
{
	struct hf_lane *lane = ctx;
	int err = 0;

	/* The other lanes find the same ones. */
	if (lane->in != &lane->own && lane->b->index)
		err = hf_lane_push(lane, HF_REC_POINT, point, sizeof *point, window, point->window_size);
	atomic_store_explicit(&lane->pos, point->in_offset, memory_order_relaxed);
	return err ? err : hf_crew_pump(lane->crew);
}

int hf_lane_publish(struct hf_lane *lane)
{
	int err;

	hf_crew_lock(lane->crew);
	lane->ended = hf_lane_segment(lane, 0)->tail == HF_TAIL_HART;
	lane->head++;
	/* Without any stage behind this one it is through at once. */
	err = hf_lane_join(lane);
	hf_crew_wake(lane->crew);
	hf_crew_unlock(lane->crew);
	return err;
}

int hf_lane_publish_nothing(struct hf_lane *lane)
{
	int err;

	hf_crew_lock(lane->crew);
	lane->ended = true;
	err = hf_tape_push(&lane->tape, HF_REC_END, NULL, 0, NULL, 0);
	hf_crew_unlock(lane->crew);
	return err;
}

static int join_segment(struct hf_lane *lane, const struct hf_segment *s)
{
	const struct hf_lane_chunk counts = {.attempts = s->row.attempts, .problems = s->row.problems};
	int err;

	if (s->tail == HF_TAIL_NONE)
		return 0;
	err = hf_tape_push(&lane->tape, HF_REC_CHUNK, &counts, sizeof counts, &s->row.chunk,
			   offsetof(struct hf_chunk, entry) + s->row.chunk.entry_size);
	if (!err && s->tail == HF_TAIL_HART)
		err = hf_tape_push(&lane->tape, HF_REC_END, NULL, 0, NULL, 0);
	return err;
}

int hf_lane_join(struct hf_lane *lane)
{
	uint64_t through = lane->head;
	int err = 0;

	if (lane->code.image && lane->collect.done < through)
		through = lane->collect.done;
	for (size_t i = 0; i < lane->view_count; i++)
		if (lane->views[i].stage.done < through)
			through = lane->views[i].stage.done;
	for (; lane->joined < through && !err; lane->joined++)
		err = join_segment(lane, &lane->ring[lane->joined % HF_SEGMENTS]);
	return err;
}

/* ---- the stages behind the decoder ---- */

static int run_collect(struct hf_lane *lane, const struct hf_segment *s)
{
	struct hf_lane_code *code = &lane->code;
	size_t known = code->ahead < s->n ? (size_t)code->ahead : s->n;

	code->ahead -= known;
	code->events += s->n - known;
	if (known < s->n)
		return hf_image_put(code->image, s->ev + known, s->n - known);
	/* Fewer events than there were at first. */
	return s->tail == HF_TAIL_HART && code->ahead ? HF_ERR_STATE : 0;
}

static int run_view(struct hf_lane *lane, struct hf_lane_view *view, const struct hf_segment *s)
{
	const struct hf_lane_place place = {.view = view->number, .number = s->row.chunk.number};
	const struct hf_view_row *row = &view->lane.row;
	uint64_t size;
	int err;

	if (s->row.chunk.number < view->lane.first)
		return 0;
	hf_view_lane_put(&view->lane, s->ev, s->n);
	if (s->tail == HF_TAIL_NONE)
		return 0;
	hf_view_lane_end_chunk(&view->lane, s->tail == HF_TAIL_HART);
	size = row->offset + row->size;
	err = hf_lane_push(lane, HF_REC_VIEW, &place, sizeof place, row,
			   offsetof(struct hf_view_row, entry) + row->entry_size);
	if (!err && s->tail == HF_TAIL_HART)
		err = hf_lane_push(lane, HF_REC_VIEW_END, &place, sizeof place, &size, sizeof size);
	if (s->tail == HF_TAIL_CHUNK)
		hf_view_lane_next_chunk(&view->lane);
	return err;
}

int hf_lane_run(struct hf_lane *lane, struct hf_stage *stage)
{
	const struct hf_segment *s = &lane->ring[stage->done % HF_SEGMENTS];

	if (stage == &lane->decode)
		return lane->ops->decode(lane);
	if (stage == &lane->collect)
		return run_collect(lane, s);
	/* The stage is the first member. */
	return run_view(lane, (struct hf_lane_view *)stage, s);
}

static void consider(struct hf_stage *stage, bool ready, unsigned thread, struct hf_stage **best)
{
	if (ready && !stage->running && (!*best || (stage->last == thread && (*best)->last != thread)))
		*best = stage;
}

struct hf_stage *hf_lane_ready(struct hf_lane *lane, unsigned thread)
{
	struct hf_stage *best = NULL;

	for (size_t i = 0; i < lane->view_count; i++)
		consider(&lane->views[i].stage, lane->views[i].stage.done < lane->head, thread, &best);
	if (lane->code.image)
		consider(&lane->collect, lane->collect.done < lane->head, thread, &best);
	/* Two: the one at hand, and the one that shows whether anything follows it. */
	consider(&lane->decode, !lane->ended && lane->head - lane->joined + 2 <= HF_SEGMENTS &&
					lane->tape.bytes < HF_LANE_TAPE_MAX,
		 thread, &best);
	return best;
}

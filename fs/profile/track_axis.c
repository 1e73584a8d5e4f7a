/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/profile/track_axis.h"

__extension__ typedef unsigned __int128 wide;

uint64_t hf_track_begin(const struct hf_track_span *span, uint32_t i, uint32_t pieces)
{
	return span->first + (uint64_t)(((wide)span->length * i + pieces - 1) / pieces);
}

void hf_track_axis_init(struct hf_track_axis *axis, const struct hf_track_span *span, uint32_t parts)
{
	*axis = (struct hf_track_axis){.span = *span, .part.pieces = parts};
	axis->column.pieces = span->length < HF_TIMELINE_COLUMNS ? (uint32_t)span->length : HF_TIMELINE_COLUMNS;
	axis->column.pieces += !axis->column.pieces;
}

/* Pieces that begin up to that time, of which *begun did before, begin with an instruction between the last time and
 * this. */
static void begin_pieces(const struct hf_track_axis *axis, struct hf_timeline_axis *of, uint32_t *begun,
			 uint64_t ordinal, uint64_t time)
{
	for (; *begun < of->pieces; (*begun)++) {
		const uint64_t begin = hf_track_begin(&axis->span, *begun, of->pieces), length = time - axis->time;

		if (begin > time)
			return;
		of->start[*begun] =
			axis->timed
				? axis->ordinal + (uint64_t)(((wide)(begin - axis->time) * (ordinal - axis->ordinal) +
							      length - 1) /
							     length)
				: ordinal;
	}
}

/* The columns [from, to) lie between two times. */
static void note_guess(struct hf_track_axis *axis, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to && i < axis->column.pieces; i++)
		axis->known[i] = HF_TRACK_GUESSED;
}

/* The column in which the last time is. */
static uint8_t *known_now(struct hf_track_axis *axis)
{
	return &axis->known[axis->columns ? axis->columns - 1 : 0];
}

void hf_track_axis_put(struct hf_track_axis *axis, uint64_t ordinal, uint64_t time)
{
	const uint32_t from = axis->columns;

	if (axis->timed && time < axis->time) {
		*known_now(axis) = HF_TRACK_BACK;
		return;
	}
	begin_pieces(axis, &axis->column, &axis->columns, ordinal, time);
	begin_pieces(axis, &axis->part, &axis->parts, ordinal, time);
	/* Of those between two times the first has the one before it. */
	if (axis->timed ? ordinal - axis->ordinal > 1 : ordinal > 0)
		note_guess(axis, from, axis->columns ? axis->columns - 1 : 0);
	if (*known_now(axis) != HF_TRACK_BACK)
		*known_now(axis) = HF_TRACK_TIMED;
	if (!axis->timed)
		axis->first = ordinal;
	axis->timed = true;
	axis->ordinal = ordinal;
	axis->time = time;
}

void hf_track_axis_end(struct hf_track_axis *axis, uint64_t insns)
{
	const bool more = axis->ordinal < insns;

	axis->end = axis->ordinal + (axis->timed && more);
	if (axis->end < insns)
		note_guess(axis, axis->columns, axis->column.pieces);
	while (axis->columns <= axis->column.pieces)
		axis->column.start[axis->columns++] = axis->end;
	while (axis->parts <= axis->part.pieces)
		axis->part.start[axis->parts++] = axis->end;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/source/unpack.h"

#include "codecs/base/array.h"
#include "codecs/source/errors.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Blocks are discarded in pieces of this size on the way to the bytes that are wanted: small enough that malloc does
 * not map fresh pages for it, which would take longer than decoding into them. */
#define SCRATCH (64u * 1024)
#define FIRST_BUFFER (256u * 1024)

struct hf_scan {
	struct hf_unpack *u;
	struct hf_point next; /* of the block being made; out_size and in_size are not filled in yet */
	uint8_t *buf;	      /* history[ops->window], then the block */
	size_t cap;	      /* of the block's part */
	uint8_t *other;	      /* the same for every other block, once one was to be kept; or NULL */
	size_t other_cap;
	bool kept;	      /* the block given last stays: the next one is made in the other place */
	size_t have;	      /* bytes of the block */
	size_t sound;	      /* bytes of the block before its last mark: what later damage leaves in trust */
	uint64_t mark_at;     /* stream offset of the last mark */
	uint64_t sure_at;     /* stream offset up to which checksums, if there are any, were right */
	bool doubted;         /* what lies between that and damage was noted */
	size_t history;	      /* valid bytes right before the block, at most ops->window */
	bool given;	      /* the block was handed out and is dropped by the next call */
	bool marked;	      /* the block given last ended at a mark: next is filled in */
	bool prefix;	      /* what stands before the container is the next block */
	int err;	      /* sticky: HF_NOTE_END or an error */
	struct hf_diag diag;
};

static int unpack_new(const struct hf_box *box, struct hf_src *base, const struct hf_point *at, const uint8_t *window,
		      bool scanning, struct hf_unpack **ret_u, struct hf_diag *diag)
{
	const struct hf_unpack_ops *ops = box->unpack;
	size_t cap = HF_UNPACK_INPUT;
	struct hf_unpack *u;
	int err;

	if ((at->bits & (HF_POINT_CONTINUES | HF_POINT_DAMAGED)) || at->window_size > ops->window ||
	    (at->window_size && !window) || (at->in_offset && at->in_offset < box->prefix))
		return hf_diag_set(diag, HF_ERR_STATE, HF_SPACE_FILE, at->in_offset, 0);
	if (!scanning && at->in_size && at->in_size < cap)
		cap = at->in_size < 4096 ? 4096 : (size_t)at->in_size;
	u = calloc(1, ops->size);
	if (!u)
		return hf_diag_set(diag, HF_ERR_NOMEM, HF_SPACE_FILE, HF_NOWHERE, 0);
	u->box = box;
	u->ops = ops;
	u->pos = at->in_offset ? at->in_offset : box->prefix;
	u->scanning = scanning;
	err = hf_reader_init(&u->in, base, cap);
	if (err < 0)
		hf_diag_set(diag, err, HF_SPACE_FILE, HF_NOWHERE, 0);
	else
		err = ops->start(u, at, window, diag);
	*ret_u = u;
	return err;
}

static void unpack_free(struct hf_unpack *u)
{
	if (!u)
		return;
	if (u->ops->stop)
		u->ops->stop(u);
	hf_reader_fini(&u->in);
	free(u->notes);
	free(u);
}

int hf_unpack_need(struct hf_unpack *u, size_t n, const uint8_t **ret_p, size_t *ret_n, struct hf_diag *diag)
{
	struct hf_reader *in = &u->in;
	size_t have = 0;
	int err = 0;

	if (u->pos >= in->start && u->pos - in->start <= in->len)
		have = in->len - (size_t)(u->pos - in->start);
	if (have < n || have == 0) {
		/* The reader keeps what it holds, also when it fails: what is at hand is used up first. */
		err = hf_reader_seek(in, u->pos);
		while (!err && in->cap < n)
			err = hf_reader_grow(in, HF_UNPACK_INPUT);
		have = in->len;
		if (err == 0 && in->err < 0 && have < n)
			err = in->err;
	}
	*ret_p = in->buf + (in->len - have);
	*ret_n = have;
	if (err < 0 && have < n) {
		if (diag)
			*diag = in->diag;
		return err;
	}
	return 0;
}

int hf_unpack_cut(const struct hf_unpack *u, struct hf_diag *diag)
{
	return hf_diag_set(diag, HF_ERR_BOX_CUT, HF_SPACE_FILE, u->in.start + u->in.len, 0);
}

int hf_unpack_take(struct hf_unpack *u, size_t n, const uint8_t **ret_p, struct hf_diag *diag)
{
	size_t have;
	int err = hf_unpack_need(u, n, ret_p, &have, diag);

	if (err < 0)
		return err;
	if (have < n)
		return hf_unpack_cut(u, diag);
	u->pos += n;
	return 0;
}

uint64_t hf_unpack_limit(const struct hf_unpack *u)
{
	return u->in.src->memory ? u->in.src->memory : HF_STREAM_MEMORY;
}

int hf_unpack_afford(const struct hf_unpack *u, uint64_t bytes, uint64_t at, struct hf_diag *diag)
{
	if (bytes <= hf_unpack_limit(u))
		return 0;
	return hf_diag_set(diag, HF_ERR_STREAM_MEMORY, HF_SPACE_FILE, at, (bytes >> 20) + ((bytes & 0xfffff) != 0));
}

int hf_unpack_doubt(int code, uint64_t at, enum hf_mark *ret_mark, struct hf_diag *diag)
{
	*ret_mark = HF_MARK_DOUBT;
	return hf_diag_set(diag, code, HF_SPACE_FILE, at, 0);
}

void hf_unpack_note(struct hf_unpack *u, int code, uint64_t at, uint64_t detail)
{
	if (!u->scanning || u->note_count == HF_UNPACK_NOTES)
		return;
	if (!hf_array_room(&u->notes, u->note_count, sizeof *u->notes))
		hf_diag_set(&u->notes[u->note_count++], code, HF_SPACE_FILE, at, detail);
}

/* The next block can be entered where the unpacker stands. */
static void set_entry(struct hf_scan *scan)
{
	const struct hf_unpack *u = scan->u;

	scan->next.in_offset = u->pos;
	scan->next.bits = scan->next.window_size = 0;
	if (u->ops->point)
		u->ops->point(u, &scan->next);
}

int hf_unpack_scan_new(const struct hf_box *box, struct hf_src *base, const struct hf_point *resume,
		       const uint8_t *window, struct hf_scan **ret_scan, struct hf_diag *diag)
{
	static const struct hf_point beginning;
	const struct hf_unpack_ops *ops = box->unpack;
	const struct hf_point *at = resume ? resume : &beginning;
	struct hf_scan *scan;
	int err;

	*ret_scan = NULL;
	if (!box->enterable && (at->in_offset || at->out_offset))
		return hf_diag_set(diag, HF_ERR_STATE, HF_SPACE_FILE, at->in_offset, 0);
	scan = calloc(1, sizeof *scan);
	if (!scan)
		return hf_diag_set(diag, HF_ERR_NOMEM, HF_SPACE_FILE, HF_NOWHERE, 0);
	scan->cap = FIRST_BUFFER;
	scan->buf = malloc(ops->window + scan->cap);
	if (!scan->buf)
		err = hf_diag_set(&scan->diag, HF_ERR_NOMEM, HF_SPACE_FILE, HF_NOWHERE, 0);
	else
		err = unpack_new(box, base, at, window, true, &scan->u, &scan->diag);
	if (err < 0 && (hf_err_class(err) != HF_CLASS_corrupt || !scan->u)) {
		if (diag)
			*diag = scan->diag;
		hf_unpack_scan_free(scan);
		return err;
	}
	/* A container whose very head is bad is a scan that gives no block: damage has one way out, scan_next. */
	scan->err = err;
	scan->next = *at;
	scan->mark_at = scan->sure_at = at->out_offset;
	if (!resume && !err)
		set_entry(scan);
	scan->prefix = box->prefix && !at->in_offset;
	scan->history = at->window_size;
	if (at->window_size)
		memcpy(scan->buf + ops->window - at->window_size, window, at->window_size);
	*ret_scan = scan;
	return 0;
}

static void change_places(struct hf_scan *scan)
{
	uint8_t *buf = scan->buf;
	const size_t cap = scan->cap;

	scan->buf = scan->other;
	scan->cap = scan->other_cap;
	scan->other = buf;
	scan->other_cap = cap;
	scan->kept = false;
}

/* Drops the block that was given, or the one before it; its end becomes the history of the next. */
static void begin_block(struct hf_scan *scan)
{
	const uint32_t window = scan->u->ops->window;
	const size_t history = scan->history + scan->have < window ? scan->history + scan->have : window;
	const uint8_t *const end = scan->buf + window + scan->have;

	if (scan->kept)
		change_places(scan);
	if (history)
		memmove(scan->buf + window - history, end - history, history);
	scan->history = history;
	scan->next.out_offset += scan->have;
	if (!scan->marked) {
		scan->next.in_offset = scan->u->pos;
		scan->next.bits = HF_POINT_CONTINUES;
		scan->next.window_size = 0;
	}
	scan->have = 0;
	scan->sound = 0;
	scan->given = false;
}

static int make_room(struct hf_scan *scan, uint64_t limit)
{
	const uint32_t window = scan->u->ops->window;
	size_t cap = scan->cap * 2 < limit ? scan->cap * 2 : (size_t)limit;
	uint8_t *bigger;

	assert(scan->cap);
	if (scan->have < scan->cap || scan->cap >= limit)
		return 0;
	bigger = realloc(scan->buf, window + cap);
	if (!bigger)
		return hf_diag_set(&scan->diag, HF_ERR_NOMEM, HF_SPACE_FILE, HF_NOWHERE, 0);
	scan->buf = bigger;
	scan->cap = cap;
	return 0;
}

/* Whether the block ends here; a piece of a large unit ends as soon as the next block can be entered. */
static bool block_ends(const struct hf_scan *scan, enum hf_mark mark, uint64_t limit)
{
	const struct hf_unpack_ops *ops = scan->u->ops;
	bool piece = scan->next.bits & HF_POINT_CONTINUES;

	if (scan->have >= limit)
		return true;
	if (mark == HF_MARK_FREE)
		return scan->have && (piece || scan->have >= ops->aim_free);
	return mark == HF_MARK_WINDOW && scan->have && (piece || scan->have >= ops->aim_window);
}

/* A few bytes of a file can be gigabytes of the stream: reading them is not often enough to ask. */
static int is_unwanted(const struct hf_unpack *u, struct hf_diag *diag)
{
	return hf_stop_wanted(u->in.src->stop) ? hf_diag_set(diag, HF_ERR_CANCELLED, HF_SPACE_FILE, u->pos, 0) : 0;
}

/* Decodes until the block is complete; true if its end is at a mark. */
static bool make_block(struct hf_scan *scan)
{
	struct hf_unpack *u = scan->u;
	const uint64_t limit = scan->next.bits & HF_POINT_CONTINUES ? HF_BLOCK_AIM : u->ops->whole;

	while (!scan->err) {
		enum hf_mark mark = HF_MARK_NONE;
		size_t n = 0, room;

		scan->err = is_unwanted(u, &scan->diag);
		if (!scan->err)
			scan->err = make_room(scan, limit);
		if (scan->err)
			break;
		room = (scan->cap < limit ? scan->cap : (size_t)limit) - scan->have;
		scan->err = u->ops->step(u, scan->buf + u->ops->window + scan->have, room, &n, &mark, &scan->diag);
		scan->have += n;
		if (mark == HF_MARK_DOUBT)
			scan->have = scan->sound;
		if (scan->err)
			break;
		if (mark != HF_MARK_NONE) {
			scan->sound = scan->have;
			scan->mark_at = scan->next.out_offset + scan->have;
			/* Behind a whole xz block, zstd frame or gzip member, whose check was right. */
			if (mark == HF_MARK_FREE)
				scan->sure_at = scan->mark_at;
			/* Nothing has come out yet: a later entry to the same bytes is the better one. */
			if (!scan->have)
				set_entry(scan);
		}
		if (block_ends(scan, mark, limit))
			return mark != HF_MARK_NONE;
	}
	return false;
}

/* The scan met damage, and what came right before it was given: a point that stands for the hole, if one can. */
static bool make_hole(struct hf_scan *scan, struct hf_point *ret_point)
{
	struct hf_unpack *u = scan->u;
	struct hf_point hole = {.out_offset = scan->next.out_offset, .out_size = scan->next.out_offset - scan->mark_at};
	struct hf_diag unused;

	if (!u->ops->skip || scan->err >= 0 || hf_err_class(scan->err) != HF_CLASS_corrupt ||
	    u->ops->skip(u, &hole, &unused))
		return false;
	hf_unpack_note(u, scan->err, scan->diag.offset, scan->diag.detail);
	scan->err = 0;
	*ret_point = hole;
	scan->next.out_offset += hole.out_size;
	scan->mark_at = scan->sure_at = scan->next.out_offset;
	scan->sound = 0;
	set_entry(scan);
	return true;
}

/*
 * Of the unit that is damaged some bytes were given already, and a checksum behind them never came or is wrong: says from
 * where on. Where the file is merely cut nothing speaks against them.
 */
static void note_doubt(struct hf_scan *scan)
{
	struct hf_unpack *u = scan->u;
	const uint64_t end = scan->next.out_offset + scan->have;
	const size_t count = u->note_count;

	if (scan->doubted || (scan->err != HF_ERR_CHECKSUM && scan->err != HF_ERR_BOX_DAMAGED) || end <= scan->sure_at)
		return;
	scan->doubted = true;
	hf_unpack_note(u, HF_ERR_BOX_DOUBT, scan->sure_at, end - scan->sure_at);
	if (u->note_count > count)
		u->notes[count].space = HF_SPACE_STREAM;
	if (scan->err == HF_ERR_CHECKSUM)
		scan->err = hf_diag_set(&scan->diag, HF_ERR_BOX_CHECKSUM, HF_SPACE_FILE, scan->diag.offset,
					end - scan->sure_at);
}

/* What stands before the container: bytes[n] of those from skip on, as the stream has them. */
static int read_prefix(const struct hf_box *box, struct hf_src *base, uint64_t skip, uint8_t *bytes, size_t n,
		       struct hf_diag *diag)
{
	uint8_t head[HF_UNPACK_PREFIX];
	size_t have;
	int err = hf_src_read_all(base, 0, head, box->prefix, &have, diag);

	if (err)
		return err;
	if (have < box->prefix)
		return hf_diag_set(diag, HF_ERR_BOX_CUT, HF_SPACE_FILE, have, 0);
	box->head(head);
	memcpy(bytes, head + skip, n);
	return 0;
}

static int next_prefix(struct hf_scan *scan, struct hf_point *ret_point, const uint8_t **ret_bytes,
		       const uint8_t **ret_window, struct hf_diag *diag)
{
	const struct hf_box *box = scan->u->box;
	uint8_t *bytes = scan->buf + scan->u->ops->window;
	int err = read_prefix(box, scan->u->in.src, 0, bytes, box->prefix, diag);

	if (err)
		return err;
	scan->prefix = false;
	scan->sure_at = box->prefix;
	*ret_point = (struct hf_point){.in_size = box->prefix, .out_size = box->prefix};
	*ret_bytes = *ret_window = bytes;
	scan->have = box->prefix;
	scan->given = true;
	scan->marked = box->enterable && !scan->err;
	if (scan->marked)
		set_entry(scan);
	return 0;
}

int hf_unpack_scan_next(struct hf_scan *scan, struct hf_point *ret_point, const uint8_t **ret_bytes,
			const uint8_t **ret_window, struct hf_diag *diag)
{
	const uint32_t window = scan->u->ops->window;

	if (scan->given)
		begin_block(scan);
	if (scan->prefix)
		return next_prefix(scan, ret_point, ret_bytes, ret_window, diag);
	scan->marked = make_block(scan);
	if (!scan->have && make_hole(scan, ret_point)) {
		*ret_bytes = *ret_window = NULL;
		return 0;
	}
	if (!scan->u->ops->skip)
		note_doubt(scan);
	/* What a bad disk or the end of all work cut short is no block: another time it is longer. */
	if (!scan->have || (scan->err < 0 && hf_err_class(scan->err) == HF_CLASS_io) ||
	    scan->err == HF_ERR_CANCELLED) {
		if (scan->err < 0 && diag)
			*diag = scan->diag;
		return scan->err;
	}
	*ret_point = scan->next;
	ret_point->in_size = scan->u->pos - scan->next.in_offset;
	ret_point->out_size = scan->have;
	*ret_bytes = scan->buf + window;
	*ret_window = scan->buf + window - scan->next.window_size;
	if (scan->marked)
		set_entry(scan);
	scan->given = true;
	return 0;
}

int hf_unpack_scan_note(struct hf_scan *scan, size_t i, struct hf_diag *ret_diag)
{
	if (i >= scan->u->note_count)
		return HF_NOTE_END;
	*ret_diag = scan->u->notes[i];
	return 0;
}

void hf_unpack_scan_free(struct hf_scan *scan)
{
	if (!scan)
		return;
	unpack_free(scan->u);
	free(scan->buf);
	free(scan->other);
	free(scan);
}

uint8_t *hf_unpack_scan_swap(struct hf_scan *scan, uint8_t *spare, size_t size)
{
	uint8_t *block = scan->buf;

	/* The end of a block is the window of the next, and what stands before it is not the block's. */
	if (!scan->given || scan->u->ops->window)
		return NULL;
	scan->buf = spare;
	scan->cap = size;
	return block;
}

bool hf_unpack_scan_keep(struct hf_scan *scan)
{
	const uint32_t window = scan->u->ops->window;

	if (scan->given && !scan->other) {
		scan->other = malloc(window + scan->cap);
		scan->other_cap = scan->cap;
	}
	scan->kept = scan->given && scan->other;
	return scan->kept;
}

uint64_t hf_unpack_scan_memory(const struct hf_scan *scan)
{
	const struct hf_unpack *u = scan->u;

	return sizeof *scan + u->ops->size + u->in.cap + u->ops->window + scan->cap +
	       (scan->other ? u->ops->window + scan->other_cap : 0) +
	       (u->ops->memory ? u->ops->memory(u) : 0);
}

struct hf_src *hf_unpack_scan_base(const struct hf_scan *scan)
{
	return scan->u->in.src;
}

/* Decodes exactly n bytes into buf, or with scratch set n bytes over and over into its SCRATCH bytes. */
static int decode(struct hf_unpack *u, uint8_t *buf, uint64_t n, bool scratch, struct hf_diag *diag)
{
	while (n) {
		enum hf_mark mark = HF_MARK_NONE;
		size_t got = 0;
		size_t cap = !scratch || n < SCRATCH ? (size_t)n : SCRATCH;
		int err = is_unwanted(u, diag);

		if (err)
			return err;
		err = u->ops->step(u, buf, cap, &got, &mark, diag);

		n -= got;
		if (!scratch)
			buf += got;
		if (err < 0 && (n || mark == HF_MARK_DOUBT))
			return err;
		if (err && n)
			return hf_diag_set(diag, HF_ERR_MISMATCH, HF_SPACE_FILE, u->pos, 0);
	}
	return 0;
}

int hf_unpack_read_block(const struct hf_box *box, struct hf_src *base, const struct hf_point *point,
			 const uint8_t *window, uint64_t skip, void *buf, size_t n, struct hf_diag *diag)
{
	struct hf_unpack *u = NULL;
	uint8_t *scratch = NULL;
	int err;

	if (skip > point->out_size || n > point->out_size - skip)
		return hf_diag_set(diag, HF_ERR_STATE, HF_SPACE_FILE, point->in_offset, 0);
	if (!n)
		return 0;
	if (!point->in_offset && box->prefix)
		return skip + n <= box->prefix ? read_prefix(box, base, skip, buf, n, diag) :
						 hf_diag_set(diag, HF_ERR_STATE, HF_SPACE_FILE, 0, 0);
	err = unpack_new(box, base, point, window, false, &u, diag);
	if (!err && skip) {
		scratch = malloc(skip < SCRATCH ? (size_t)skip : SCRATCH);
		if (scratch)
			err = decode(u, scratch, skip, true, diag);
		else
			err = hf_diag_set(diag, HF_ERR_NOMEM, HF_SPACE_FILE, HF_NOWHERE, 0);
	}
	if (!err)
		err = decode(u, buf, n, false, diag);
	free(scratch);
	unpack_free(u);
	return err;
}

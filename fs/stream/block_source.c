/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/stream/block_source.h"
#include "fs/base/common.h"
#include "fs/base/metrics.h"
#include "fs/base/once.h"
#include "fs/stream/parked_scan.h"
#include "index/base/lock.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Slots for the points found last, by the MiB of the stream that was read: a power of two. */
#define HINTS 16

struct block_source {
	struct hf_src src; /* first: cast back */
	struct hf_parked_stream stream;
	uint64_t pieces;      /* owner, in the cache, of pieces of blocks; their number is the block's */
	struct hf_once begun; /* blocks of which a piece was made */
	int damage; /* behind the last good byte: 0, or an error with its place */
	struct hf_diag damage_diag;
	pthread_mutex_t lock;
	struct hf_point hint[HINTS];
	struct hf_point once; /* the block of which hf_block_source_read_once read a part last */
	const struct hf_spooling *spooling;
	struct hf_spool *spool;	  /* one reference, or NULL */
	bool looked;		  /* a spool was looked for */
	bool asked;		  /* spooling->wanted was called */
	_Atomic uint64_t decoded; /* bytes from scans, since the stream was opened or had a spool last */
	_Atomic uint64_t passed;  /* end of the block that was read to its end last */
};

/*
 * A read far from all scans decodes the stream from its beginning. Once 1.5 times its size was decoded, somebody reads
 * it a second time, or at random: then a spool pays. A stream smaller than this gets none.
 */
#define SPOOL_SIZE_MIN (UINT64_C(2) << 20)

static const struct hf_src_ops plain_ops;

static bool holds(const struct hf_point *point, uint64_t offset)
{
	return offset >= point->out_offset && offset - point->out_offset < point->out_size;
}

/* The point of the block that holds offset < size. Sizes from the index are checked, for memory depends on them. */
static int find_point(struct block_source *bs, uint64_t offset, struct hf_point *ret_point, struct hf_diag *diag)
{
	struct hf_point *hint = &bs->hint[(offset >> 20) % HINTS];
	bool found;
	int err;

	pthread_mutex_lock(&bs->lock);
	*ret_point = *hint;
	pthread_mutex_unlock(&bs->lock);
	found = holds(ret_point, offset);
	if (found)
		return 0;
	err = hf_index_point_of(bs->stream.index, offset, ret_point);
	if (err < 0)
		return hf_diag_set(diag, err, HF_SPACE_STREAM, offset, 0);
	if (err || !holds(ret_point, offset) || ret_point->out_size > HF_BLOCK_MAX ||
	    ret_point->out_size > bs->src.size - ret_point->out_offset || ret_point->window_size > HF_WINDOW_MAX)
		return hf_diag_set(diag, HF_ERR_STATE, HF_SPACE_STREAM, offset, 0);
	pthread_mutex_lock(&bs->lock);
	*hint = *ret_point;
	pthread_mutex_unlock(&bs->lock);
	return 0;
}

static bool is_enterable(const struct block_source *bs, const struct hf_point *point)
{
	return bs->stream.box->enterable && !(point->bits & HF_POINT_CONTINUES);
}

/* Decodes bytes [skip, skip + n) of a block that can be entered. */
static int decode(const struct hf_parked_stream *stream, const struct hf_point *point, uint64_t skip, void *buf,
		  size_t n, struct hf_diag *diag)
{
	uint8_t window[HF_WINDOW_MAX];
	int err = point->window_size ? hf_index_window(stream->index, point, window) : 0;

	if (err)
		return hf_diag_set(diag, err, HF_SPACE_FILE, point->in_offset, 0);
	return stream->box->read_block(stream->box, stream->file, point, window, skip, buf, n, diag);
}

/* ---- the spool ---- */

/* The stream's spool with a reference, or NULL. */
static struct hf_spool *get_spool(struct block_source *bs)
{
	struct hf_spool *spool;

	HF_LOCKED(&bs->lock);
	if (!bs->looked && bs->spooling) {
		int err = hf_spool_open(bs->spooling->dirfd, &bs->spooling->identity, bs->src.size, &bs->spool);

		bs->looked = !hf_err_is_shortage(err);
	}
	spool = bs->spool ? hf_spool_ref(bs->spool) : NULL;
	return spool;
}

/* It is damaged, and its file is removed: a new one is made when it pays again. */
static void drop_spool(struct block_source *bs, struct hf_spool *spool)
{
	bool ours;

	pthread_mutex_lock(&bs->lock);
	ours = bs->spool == spool;
	if (ours) {
		bs->spool = NULL;
		bs->asked = false;
		bs->decoded = 0;
	}
	pthread_mutex_unlock(&bs->lock);
	if (ours) {
		hf_metrics_add(bs->spooling->damaged, 1);
		hf_spool_unref(spool);
	}
}

/* Whether the bytes came from the spool; if not, a scan must give them. */
static bool read_spool(struct block_source *bs, uint64_t offset, void *buf, size_t n)
{
	struct hf_spool *spool = get_spool(bs);
	int err;

	if (!spool)
		return false;
	err = hf_spool_read(spool, offset, buf, n);
	if (err == HF_ERR_STATE)
		drop_spool(bs, spool);
	else if (!err)
		hf_metrics_add(bs->spooling->reads, 1);
	hf_spool_unref(spool);
	return !err;
}

static bool has_spool(struct block_source *bs)
{
	struct hf_spool *spool = get_spool(bs);

	hf_spool_unref(spool);
	return spool;
}

/* After a scan: asks for a spool if one would pay. */
static void consider_spool(struct block_source *bs)
{
	bool ask;

	if (!bs->spooling || bs->src.size < SPOOL_SIZE_MIN || bs->decoded < bs->src.size + bs->src.size / 2)
		return;
	pthread_mutex_lock(&bs->lock);
	ask = !bs->asked && !bs->spool;
	bs->asked = true;
	pthread_mutex_unlock(&bs->lock);
	if (ask)
		bs->spooling->wanted(bs->spooling->ctx);
}

void hf_block_source_spool(struct hf_src *src, const struct hf_spooling *spooling)
{
	if (src->ops != &plain_ops)
		((struct block_source *)src)->spooling = spooling;
}

void hf_block_source_spooled(struct hf_src *src, bool again)
{
	struct block_source *bs = (struct block_source *)src;

	HF_LOCKED(&bs->lock);
	bs->looked = false;
	bs->asked = !again;
	bs->decoded = 0;
}

/* ---- blocks ---- */

/* Decodes, or takes from the spool, bytes [skip, skip + n) of a block; false: a scan must do it. */
static bool read_part(struct block_source *bs, const struct hf_point *point, uint64_t skip, void *buf, size_t n,
		      struct hf_diag *diag, int *ret_err)
{
	*ret_err = 0;
	if (!is_enterable(bs, point))
		return read_spool(bs, point->out_offset + skip, buf, n);
	*ret_err = decode(&bs->stream, point, skip, buf, n, diag);
	return true;
}

struct make {
	struct block_source *bs;
	const struct hf_point *point;
	struct hf_diag *diag;
};

/* By a scan, which allocates the bytes. */
static int make_by_scan(const struct make *make, uint8_t **ret_bytes)
{
	const int err = hf_parked_read(&make->bs->stream, make->point, ret_bytes, make->diag);

	consider_spool(make->bs);
	return err;
}

static int make_block(void *ctx, uint8_t **ret_bytes, size_t *ret_size)
{
	const struct make *make = ctx;
	uint8_t *bytes;
	bool made;
	int err;

	*ret_size = (size_t)make->point->out_size;
	if (!is_enterable(make->bs, make->point) && !has_spool(make->bs))
		return make_by_scan(make, ret_bytes);
	bytes = hf_cache_alloc(make->bs->stream.cache, *ret_size);
	if (!bytes)
		return hf_diag_set(make->diag, HF_ERR_NOMEM, HF_SPACE_STREAM, HF_NOWHERE, 0);
	made = read_part(make->bs, make->point, 0, bytes, *ret_size, make->diag, &err);
	if (made && !err) {
		*ret_bytes = bytes;
		return 0;
	}
	free(bytes);
	return made ? err : make_by_scan(make, ret_bytes);
}

/* Threads that together read a stream forward end their blocks no further apart than this. */
#define PASSED_NEAR (UINT64_C(8) << 20)

/* Whether the block was read to its end in forward reading; a random reader may want it again. */
static bool is_passed(struct block_source *bs, const struct hf_point *point, uint64_t end)
{
	const uint64_t block_end = point->out_offset + point->out_size;
	uint64_t last;

	if (end != point->out_size)
		return false;
	last = atomic_exchange_explicit(&bs->passed, block_end, memory_order_relaxed);
	return last + PASSED_NEAR >= block_end && last <= block_end + PASSED_NEAR;
}

/* Copies bytes [skip, skip + n) of a block through the cache. through: the reader will not come back. */
static int read_cached(struct block_source *bs, const struct hf_point *point, bool through, uint64_t skip, void *buf,
		       size_t n, struct hf_diag *diag)
{
	struct hf_cache_key key = {bs->stream.owner, point->out_offset};
	struct hf_diag made_diag = {0};
	struct make make = {.bs = bs, .point = point, .diag = &made_diag};
	struct hf_cache_block *block;
	int err = hf_cache_get(bs->stream.cache, key, make_block, &make, &block);

	if (err) {
		/* Another thread made the block: its error is known, but not the place. */
		if (made_diag.code != err)
			hf_diag_set(&made_diag, err, HF_SPACE_STREAM, point->out_offset, 0);
		if (diag)
			*diag = made_diag;
		return err;
	}
	if (block->size == point->out_size)
		memcpy(buf, block->bytes + skip, n);
	else
		err = hf_diag_set(diag, HF_ERR_BUG, HF_SPACE_STREAM, point->out_offset, 0);
	if (is_passed(bs, point, skip + n) || through)
		hf_cache_unpin_passed(bs->stream.cache, block);
	else
		hf_cache_unpin(bs->stream.cache, block);
	return err;
}

/* ---- pieces of blocks ---- */

/* Bytes of a block. */
struct span {
	uint64_t from, end;
};

/* A piece in the cache: its offset in the block, then its bytes. */
enum { PIECE_HEAD = sizeof(uint64_t) };

/* Widens the span to whole frames of the spool, within the block. */
static void widen_to_frames(const struct hf_point *point, struct span *span)
{
	const uint64_t from = (point->out_offset + span->from) / HF_SPOOL_FRAME * HF_SPOOL_FRAME;
	const uint64_t end = (point->out_offset + span->end + HF_SPOOL_FRAME - 1) / HF_SPOOL_FRAME * HF_SPOOL_FRAME;

	span->from = from > point->out_offset ? from - point->out_offset : 0;
	span->end = end < point->out_offset + point->out_size ? end - point->out_offset : point->out_size;
}

/*
 * Whether a read from skip of the block up to the stream offset until is served from a piece of it: *ret_span. Only
 * with slow containers the piece has all bytes from the start of the block: with others, decoding them again costs
 * little more than memory for them.
 */
static bool is_piece(struct block_source *bs, const struct hf_point *point, uint64_t skip, uint64_t until,
		     struct span *ret_span)
{
	const struct hf_cache_key whole = {bs->stream.owner, point->out_offset};
	const uint64_t end = until > point->out_offset ? until - point->out_offset : 0;

	*ret_span = (struct span){skip, end < point->out_size ? end : point->out_size};
	if (ret_span->end <= skip)
		return false;
	if (!is_enterable(bs, point)) {
		if (!has_spool(bs))
			return false;
		widen_to_frames(point, ret_span);
	} else if (bs->stream.box->slow) {
		ret_span->from = 0;
	}
	return ret_span->end - ret_span->from <= point->out_size / 4 * 3 && !hf_cache_has(bs->stream.cache, whole);
}

struct make_piece {
	struct block_source *bs;
	const struct hf_point *point;
	struct span span;
};

static int make_piece(void *ctx, uint8_t **ret_bytes, size_t *ret_size)
{
	const struct make_piece *make = ctx;
	const size_t size = (size_t)(make->span.end - make->span.from);
	uint8_t *bytes = hf_cache_alloc(make->bs->stream.cache, PIECE_HEAD + size);
	int err;

	if (!bytes)
		return HF_ERR_NOMEM;
	memcpy(bytes, &make->span.from, PIECE_HEAD);
	if (!read_part(make->bs, make->point, make->span.from, bytes + PIECE_HEAD, size, NULL, &err))
		err = HF_ERR_NOT_FOUND;
	if (err) {
		free(bytes);
		return err;
	}
	*ret_bytes = bytes;
	*ret_size = PIECE_HEAD + size;
	return 0;
}

/* A piece of a block is made once. After it left the cache the next reader gets the whole block. */
static bool may_have_piece(struct block_source *bs, const struct hf_cache_key *key)
{
	return hf_cache_has(bs->stream.cache, *key) || hf_once_note(&bs->begun, key->owner, key->number);
}

/* Whether the n bytes came from a piece: not if that has other bytes, and not on an error: then the block tells it. */
static bool read_piece(struct block_source *bs, const struct hf_point *point, const struct span *span, uint64_t skip,
		       void *buf, size_t n)
{
	const struct hf_cache_key key = {bs->pieces, point->out_offset};
	struct make_piece make = {bs, point, *span};
	struct hf_cache_block *block;
	uint64_t from;
	bool has;

	if (!may_have_piece(bs, &key) || hf_cache_get(bs->stream.cache, key, make_piece, &make, &block))
		return false;
	memcpy(&from, block->bytes, PIECE_HEAD);
	has = skip >= from && skip - from + n <= block->size - PIECE_HEAD;
	if (has)
		memcpy(buf, block->bytes + PIECE_HEAD + (skip - from), n);
	/* A piece that is cheap to make leaves the cache first: its memory is warm for the next one. */
	if (is_enterable(bs, point) && bs->stream.box->slow)
		hf_cache_unpin(bs->stream.cache, block);
	else
		hf_cache_unpin_passed(bs->stream.cache, block);
	return has;
}

/*
 * Whether to decode just these n bytes and keep nothing: they are few, the block is not in the cache, and the last such
 * read was neither in this block nor in the one before, which would be a reader who goes on.
 */
static bool is_once(struct block_source *bs, const struct hf_point *point, size_t n)
{
	struct hf_cache_key key = {bs->stream.owner, point->out_offset};
	struct hf_point last;

	if (n > point->out_size / 4 || !(is_enterable(bs, point) || has_spool(bs)))
		return false;
	pthread_mutex_lock(&bs->lock);
	last = bs->once;
	bs->once = *point;
	pthread_mutex_unlock(&bs->lock);
	if (last.out_size &&
	    (point->out_offset == last.out_offset || point->out_offset == last.out_offset + last.out_size))
		return false;
	return !hf_cache_has(bs->stream.cache, key);
}

/* The error of the container at such a point; without one the index is damaged. */
static int say_damage(const struct hf_parked_stream *stream, const struct hf_point *point, struct hf_diag *diag)
{
	const struct hf_box *box = stream->box;
	int err = box->read_block ? box->read_block(box, stream->file, point, NULL, 0, NULL, 0, diag) : 0;

	return err < 0 ? err : hf_diag_set(diag, HF_ERR_STATE, HF_SPACE_FILE, point->in_offset, 0);
}

/* What is known about the reader. */
struct reading {
	bool may_be_once, through;
	uint64_t until; /* 0: unknown */
};

static int read_one(struct block_source *bs, const struct hf_point *point, const struct reading *reading, uint64_t skip,
		    void *buf, size_t n, struct hf_diag *diag)
{
	struct span span;
	int err;

	if (point->bits & HF_POINT_DAMAGED)
		return say_damage(&bs->stream, point, diag);
	if (is_piece(bs, point, skip, reading->until, &span) && read_piece(bs, point, &span, skip, buf, n))
		return 0;
	if (reading->may_be_once && is_once(bs, point, n) && read_part(bs, point, skip, buf, n, diag, &err))
		return err;
	return read_cached(bs, point, reading->through, skip, buf, n, diag);
}

static int read_blocks(struct block_source *bs, uint64_t offset, uint8_t *buf, size_t n, const struct reading *reading,
		       size_t *ret_n, struct hf_diag *diag)
{
	*ret_n = 0;
	if (offset == bs->src.size && n && bs->damage) {
		if (diag)
			*diag = bs->damage_diag;
		return bs->damage;
	}
	while (n && offset < bs->src.size) {
		struct hf_point point;
		int err = find_point(bs, offset, &point, diag);
		uint64_t skip = offset - point.out_offset;
		size_t piece = 0;

		if (!err) {
			piece = n < point.out_size - skip ? n : (size_t)(point.out_size - skip);
			err = read_one(bs, &point, reading, skip, buf, piece, diag);
		}
		/* Bytes before the error are returned first; the next read gets the error. */
		if (err)
			return *ret_n ? 0 : err;
		offset += piece;
		buf += piece;
		n -= piece;
		*ret_n += piece;
	}
	return 0;
}

static int blocks_read_at(struct hf_src *src, uint64_t offset, void *buf, size_t n, size_t *ret_n, struct hf_diag *diag)
{
	return read_blocks((struct block_source *)src, offset, buf, n, &(struct reading){.until = 0}, ret_n, diag);
}

static void blocks_free(struct hf_src *src)
{
	struct block_source *bs = (struct block_source *)src;

	hf_parked_drop(&bs->stream);
	hf_cache_drop(bs->stream.cache, bs->stream.owner);
	hf_cache_drop(bs->stream.cache, bs->pieces);
	hf_spool_unref(bs->spool);
	pthread_mutex_destroy(&bs->lock);
	free(bs);
}

static int blocks_sync_after(struct hf_src *src, uint64_t offset, uint64_t limit, struct hf_sync *ret_sync,
			     struct hf_diag *diag)
{
	struct block_source *bs = (struct block_source *)src;
	int err = HF_NOTE_END;

	if (!bs->stream.box->sync_behind)
		return HF_NOTE_END;
	while (err > 0 && offset < limit && offset < src->size) {
		struct hf_point point;

		err = find_point(bs, offset, &point, diag);
		if (err)
			return err;
		offset = point.out_offset + point.out_size;
		err = offset <= limit ? bs->stream.box->sync_behind(bs->stream.file, &point, ret_sync, diag)
				      : (int)HF_NOTE_END;
	}
	return err;
}

static int blocks_extent_at(struct hf_src *src, uint64_t offset, struct hf_extent *ret_extent, struct hf_diag *diag)
{
	struct block_source *bs = (struct block_source *)src;
	struct hf_point point;
	int err;

	if (offset >= src->size)
		return HF_NOTE_END;
	err = find_point(bs, offset, &point, diag);
	return err ? err : hf_box_extent(bs->stream.box, bs->stream.file, &point, ret_extent, diag);
}

static const struct hf_src_ops blocks_ops = {
	.read_at = blocks_read_at, .free = blocks_free, .sync_after = blocks_sync_after, .extent_at = blocks_extent_at};

/* Plain bytes: nothing to decode, and the kernel caches the file itself. */
static int plain_read_at(struct hf_src *src, uint64_t offset, void *buf, size_t n, size_t *ret_n, struct hf_diag *diag)
{
	return hf_src_read_at(((struct block_source *)src)->stream.file, offset, buf, n, ret_n, diag);
}

static void plain_free(struct hf_src *src)
{
	free(src);
}

static const struct hf_src_ops plain_ops = {.read_at = plain_read_at, .free = plain_free};

int hf_block_source_new(struct hf_src *file, struct hf_index *index, struct hf_cache *cache, struct hf_src **ret_src)
{
	struct block_source *bs = calloc(1, sizeof *bs);

	if (!bs)
		return HF_ERR_NOMEM;
	bs->stream.file = file;
	*ret_src = &bs->src;
	if (!hf_index_box(index)) {
		bs->src = (struct hf_src){.ops = &plain_ops, .size = file->size, .stop = file->stop};
		return 0;
	}
	bs->src = (struct hf_src){
		.ops = &blocks_ops, .size = hf_index_stream_size(index), .stop = file ? file->stop : NULL};
	bs->stream.index = index;
	bs->stream.box = hf_index_box(index);
	bs->stream.cache = cache;
	bs->stream.owner = hf_cache_owner(cache);
	bs->pieces = hf_cache_owner(cache);
	bs->stream.decoded = &bs->decoded;
	bs->damage = hf_index_damage(index, &bs->damage_diag);
	pthread_mutex_init(&bs->lock, NULL);
	return 0;
}

int hf_block_source_lend(struct hf_src *src, uint64_t offset, uint64_t size, struct hf_cache_block **ret_block)
{
	struct block_source *bs = (struct block_source *)src;
	struct hf_point point;
	struct hf_diag diag;
	struct make make = {.bs = bs, .point = &point, .diag = &diag};
	int err = hf_stop_wanted(src->stop) ? HF_ERR_CANCELLED : 0;

	*ret_block = NULL;
	if (src->ops == &plain_ops || offset >= src->size)
		return HF_NOTE_END;
	if (!err)
		err = find_point(bs, offset, &point, &diag);
	if (err)
		return err;
	if (point.bits & HF_POINT_DAMAGED || point.out_offset != offset || point.out_size != size)
		return HF_NOTE_END;
	err = hf_cache_get(bs->stream.cache, (struct hf_cache_key){bs->stream.owner, point.out_offset}, make_block, &make,
			   ret_block);
	if (!err && (*ret_block)->size != size) {
		hf_cache_unpin(bs->stream.cache, *ret_block);
		*ret_block = NULL;
		return HF_NOTE_END;
	}
	return err;
}

int hf_block_source_read_once(struct hf_src *src, uint64_t offset, void *buf, size_t n, size_t *ret_n,
			      struct hf_diag *diag)
{
	if (src->ops == &plain_ops)
		return plain_read_at(src, offset, buf, n, ret_n, diag);
	return read_blocks((struct block_source *)src, offset, buf, n, &(struct reading){.may_be_once = true}, ret_n,
			   diag);
}

int hf_block_source_read_through(struct hf_src *src, uint64_t offset, void *buf, size_t n, uint64_t until, size_t *ret_n,
				 struct hf_diag *diag)
{
	if (src->ops == &plain_ops)
		return plain_read_at(src, offset, buf, n, ret_n, diag);
	return read_blocks((struct block_source *)src, offset, buf, n,
			   &(struct reading){.through = true, .until = until}, ret_n, diag);
}

int hf_block_source_read_until(struct hf_src *src, uint64_t offset, void *buf, size_t n, uint64_t until, size_t *ret_n,
			       struct hf_diag *diag)
{
	if (src->ops == &plain_ops)
		return plain_read_at(src, offset, buf, n, ret_n, diag);
	return read_blocks((struct block_source *)src, offset, buf, n, &(struct reading){.until = until}, ret_n, diag);
}

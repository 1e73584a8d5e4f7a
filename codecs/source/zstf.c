/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The chunked STF container: "ZSTF", u64 instructions per chunk, i64 offset E of the chunk table; from byte 20 the
 * chunks, each one zstd frame; at E the table: u64 count, count x {i64 offset, u64 start pc, u64 stream bytes}.
 * What follows the table is nobody's.
 *
 * The frames say themselves where they end, so the table is not needed for reading. It is only compared, and tells
 * a damaged chunk from the end of the chunks; a writer that was killed leaves E at 0, or at an older, overwritten
 * table. It also says how many bytes of the stream a damaged chunk takes away and where the next chunk begins, so that
 * decoding can go on there. Start pcs and the number of instructions are compared by whoever knows them: the decoder,
 * which asks for what the container says of the places between two chunks.
 */
#include "codecs/base/bytes.h"
#include "codecs/source/errors.h"
#include "codecs/source/frames.h"

#include <assert.h>
#include <string.h>

enum { HEAD_SIZE = 20, HEAD_INSNS = 4, HEAD_TABLE = 12 };
enum { COUNT_SIZE = 8, ENTRY_SIZE = 24, ENTRY_PC = 8, ENTRY_BYTES = 16 };

/* hf_point.bits: the chunk's ordinal; this value for all that are larger. */
#define ORDINAL_MAX 0x3fffffffu
static_assert((ORDINAL_MAX & (HF_POINT_DAMAGED | HF_POINT_CONTINUES)) == 0, "the flags are other bits");

struct unzstf {
	struct hf_frames f;
	bool table_ok;	    /* table_at is where the chunks end, as far as can be seen */
	bool compare;	    /* chunk is known: entries can be compared */
	uint64_t table_at;  /* E */
	uint64_t count;	    /* of the table */
	uint64_t chunk;	    /* ordinal of the chunk we are in, or that comes next */
	unsigned frames;    /* frames of this chunk so far */
	uint64_t chunk_at;  /* file offset of this chunk */
	uint64_t chunk_out; /* stream bytes of this chunk so far */
	uint64_t sound_out; /* those of its frames that are complete */
	uint64_t cut_at;    /* offset of the first entry that the file is too short for, or 0 */
};

/* Up to n bytes at offset: the table is far from the chunks, so it does not go through the input window. */
static int read_far(struct hf_src *src, uint64_t offset, uint8_t *buf, size_t n, size_t *ret_n, struct hf_diag *diag)
{
	const int err = hf_src_read_all(src, offset, buf, n, ret_n, diag);

	/* Damage below us hides the table, no more. */
	return err < 0 && hf_err_class(err) != HF_CLASS_corrupt ? err : 0;
}

static uint64_t entry_at(uint64_t table_at, uint64_t i)
{
	return table_at + COUNT_SIZE + i * ENTRY_SIZE;
}

/* An entry of the table. */
struct entry {
	uint64_t offset, bytes;
	bool known; /* the table has it, in the file too */
};

static int read_entry(struct unzstf *z, uint64_t i, struct entry *ret, struct hf_diag *diag)
{
	uint8_t entry[ENTRY_SIZE];
	size_t have;
	int err;

	*ret = (struct entry){.known = false};
	/* Chunks take more than 8 bytes of file each, so that i * ENTRY_SIZE cannot overflow. */
	if (!z->table_ok || i >= z->count)
		return 0;
	err = read_far(z->f.u.in.src, entry_at(z->table_at, i), entry, sizeof entry, &have, diag);
	if (err < 0)
		return err;
	if (have == sizeof entry)
		*ret = (struct entry){hf_get64(entry), hf_get64(entry + ENTRY_BYTES), true};
	else if (!z->cut_at)
		z->cut_at = entry_at(z->table_at, i);
	return 0;
}

/* Where the chunk behind z->chunk begins, or the table: *ret_next is known. */
static int read_next(struct unzstf *z, struct entry *ret_next, struct hf_diag *diag)
{
	if (z->chunk + 1 < z->count)
		return read_entry(z, z->chunk + 1, ret_next, diag);
	*ret_next = (struct entry){.offset = z->table_at, .known = true};
	return 0;
}

static void bad_table(struct unzstf *z, uint64_t at)
{
	z->table_ok = false;
	hf_unpack_note(&z->f.u, HF_ERR_ZSTF_TABLE, at, 0);
}

/*
 * Reads E and sees whether a table is there at all: its entries must fit in the file, or the first must be right. A
 * writer that was killed leaves E naming a table which it had begun to write a chunk over.
 */
static int open_table(struct unzstf *z, const uint8_t *head, struct hf_diag *diag)
{
	const uint64_t size = z->f.u.in.src->size;
	uint8_t start[COUNT_SIZE + 8];
	size_t have;
	int err;

	z->table_at = hf_get64(head + HEAD_TABLE);
	if (z->table_at < HEAD_SIZE || z->table_at > INT64_MAX || z->table_at >= size) {
		bad_table(z, 12);
		return 0;
	}
	err = read_far(z->f.u.in.src, z->table_at, start, sizeof start, &have, diag);
	if (err < 0)
		return err;
	z->count = have < COUNT_SIZE ? UINT64_MAX : hf_get64(start);
	z->table_ok = true;
	if (have >= COUNT_SIZE && z->count <= (size - z->table_at - COUNT_SIZE) / ENTRY_SIZE)
		return 0;
	if (have < sizeof start)
		bad_table(z, z->table_at);
	else if (hf_get64(start + COUNT_SIZE) != HEAD_SIZE)
		bad_table(z, 12);
	return 0;
}

/*
 * After a resume at what the point takes for the first frame of chunk z->chunk: entries are compared from here on if
 * this one agrees; if not, the frame may as well be the second of a chunk.
 */
static int compare_again(struct unzstf *z, struct hf_diag *diag)
{
	struct entry entry;
	int err;

	if (z->chunk == ORDINAL_MAX)
		return 0;
	err = read_entry(z, z->chunk, &entry, diag);
	z->compare = !entry.known || entry.offset == z->f.u.pos;
	return err;
}

static int zstf_start(struct hf_unpack *u, const struct hf_point *at, const uint8_t *window, struct hf_diag *diag)
{
	struct unzstf *z = (struct unzstf *)u;
	uint8_t head[HEAD_SIZE];
	size_t have;
	int err = hf_frames_start(&z->f, diag);

	(void)window;
	if (err < 0)
		return err;
	if (at->bits > ORDINAL_MAX || (at->in_offset && at->in_offset < HEAD_SIZE))
		return hf_diag_set(diag, HF_ERR_STATE, HF_SPACE_FILE, at->in_offset, 0);
	if (!at->in_offset)
		u->pos = HEAD_SIZE;
	if (!u->scanning)
		return 0;
	err = read_far(u->in.src, 0, head, sizeof head, &have, diag);
	if (err < 0)
		return err;
	if (memcmp(head, "ZSTF", have < 4 ? have : 4) != 0)
		return hf_diag_set(diag, HF_ERR_BOX_DAMAGED, HF_SPACE_FILE, 0, 0);
	if (have < sizeof head)
		return hf_diag_set(diag, HF_ERR_BOX_CUT, HF_SPACE_FILE, have, 0);
	if (!hf_get64(head + HEAD_INSNS))
		hf_unpack_note(u, HF_ERR_ZSTF_TABLE, 4, 0);
	err = open_table(z, head, diag);
	z->chunk = at->bits;
	z->compare = u->pos == HEAD_SIZE;
	return err < 0 || z->compare ? err : compare_again(z, diag);
}

/*
 * A frame has ended. The chunk goes on if the table says that the next chunk (or the table) begins further on and
 * that this chunk has more bytes: either alone may be a wrong entry.
 */
static int chunk_goes_on(struct unzstf *z, bool *ret_goes_on, struct hf_diag *diag)
{
	struct entry entry, next;
	int err;

	*ret_goes_on = false;
	err = read_entry(z, z->chunk, &entry, diag);
	if (err < 0 || !entry.known || z->chunk_out >= entry.bytes)
		return err;
	err = read_next(z, &next, diag);
	*ret_goes_on = !err && next.known && z->f.u.pos < next.offset && next.offset <= z->table_at;
	return err;
}

/* Compares the chunk that ends here with its entry. */
static int end_chunk(struct unzstf *z, struct hf_diag *diag)
{
	struct hf_unpack *u = &z->f.u;
	struct entry entry;
	int err = read_entry(z, z->chunk, &entry, diag);

	if (err < 0)
		return err;
	if (entry.known && entry.offset != z->chunk_at)
		hf_unpack_note(u, HF_ERR_ZSTF_ENTRY, entry_at(z->table_at, z->chunk), z->chunk);
	if (entry.known && entry.bytes != z->chunk_out)
		hf_unpack_note(u, HF_ERR_ZSTF_ENTRY, entry_at(z->table_at, z->chunk) + ENTRY_BYTES, z->chunk);
	if (z->frames > 1)
		hf_unpack_note(u, HF_ERR_ZSTF_FRAMES, z->chunk_at, z->chunk);
	z->chunk++;
	z->frames = 0;
	z->chunk_out = z->sound_out = 0;
	return 0;
}

/* The chunks end here, at the table or without one. */
static int end_chunks(struct unzstf *z, struct hf_diag *diag)
{
	if (z->f.u.pos == HEAD_SIZE)
		return hf_diag_set(diag, HF_ERR_ZSTF_EMPTY, HF_SPACE_FILE, HF_NOWHERE, 0);
	if (z->table_ok && z->compare && z->chunk != z->count)
		bad_table(z, z->table_at);
	else if (z->table_ok && z->cut_at)
		bad_table(z, z->cut_at);
	return HF_NOTE_END;
}

/* A table that E does not name: its count is the number of chunks before it. */
static bool looks_like_table(const struct unzstf *z, const uint8_t *p, size_t n)
{
	uint8_t count[COUNT_SIZE];

	hf_put64(count, z->chunk);
	return z->compare && memcmp(p, count, n < COUNT_SIZE ? n : COUNT_SIZE) == 0;
}

/* Between two frames, or at the end of the last one. */
static int next_frame(struct unzstf *z, struct hf_diag *diag)
{
	struct hf_unpack *u = &z->f.u;
	const uint8_t *p;
	size_t have;
	bool frame, goes_on = false;
	int err = hf_unpack_need(u, COUNT_SIZE, &p, &have, diag);

	if (err < 0)
		return err;
	if (z->table_ok && u->pos > z->table_at)
		bad_table(z, 12);
	frame = hf_frames_magic(p, have) && !(z->table_ok && u->pos == z->table_at);
	if (u->scanning && z->compare && z->frames) {
		if (frame)
			err = chunk_goes_on(z, &goes_on, diag);
		if (!err && !goes_on)
			err = end_chunk(z, diag);
		if (err < 0)
			return err;
	}
	if (frame) {
		if (!goes_on)
			z->chunk_at = u->pos;
		z->frames++;
		z->f.in_frame = true;
		z->f.frame_at = u->pos;
		return 0;
	}
	if (!have || (z->table_ok && u->pos == z->table_at) || (!z->table_ok && looks_like_table(z, p, have)))
		return end_chunks(z, diag);
	return hf_diag_set(diag, HF_ERR_BOX_DAMAGED, HF_SPACE_FILE, u->pos, 0);
}

static int zstf_step(struct hf_unpack *u, uint8_t *out, size_t cap, size_t *ret_n, enum hf_mark *ret_mark,
		     struct hf_diag *diag)
{
	struct unzstf *z = (struct unzstf *)u;
	int err;

	if (!z->f.in_frame) {
		return next_frame(z, diag);
	}
	err = hf_frames_step(&z->f, out, cap, ret_n, ret_mark, diag);
	z->chunk_out += *ret_n;
	if (*ret_mark == HF_MARK_FREE)
		z->sound_out = z->chunk_out;
	/* The table lies behind all chunks: a file with one was not cut in a chunk. */
	if (err == HF_ERR_BOX_CUT && z->table_ok)
		*ret_mark = HF_MARK_DOUBT;
	return err;
}

/*
 * Behind the chunk at hand, or the one that should begin here, if its entry names it, its size, and with the entry
 * behind it where it ends.
 */
static int zstf_skip(struct hf_unpack *u, struct hf_point *hole, struct hf_diag *diag)
{
	struct unzstf *z = (struct unzstf *)u;
	const uint64_t at = z->frames ? z->chunk_at : u->pos, had = z->sound_out + hole->out_size;
	struct entry entry, next;
	int err;

	if (!z->compare || z->chunk >= ORDINAL_MAX)
		return HF_NOTE_END;
	err = read_entry(z, z->chunk, &entry, diag);
	if (err || !entry.known || entry.offset != at || entry.bytes <= had || entry.bytes - had > HF_BLOCK_MAX)
		return err ? err : (int)HF_NOTE_END;
	err = read_next(z, &next, diag);
	if (err || !next.known || next.offset <= at || next.offset > z->table_at)
		return err ? err : (int)HF_NOTE_END;
	hole->in_offset = at;
	hole->in_size = next.offset - at;
	hole->out_size = entry.bytes - had;
	hole->bits = HF_POINT_DAMAGED | (uint32_t)z->chunk;
	ZSTD_DCtx_reset(z->f.zstd, ZSTD_reset_session_only);
	z->f.in_frame = z->f.checked = false;
	u->pos = next.offset;
	z->chunk++;
	z->frames = 0;
	z->chunk_out = z->sound_out = 0;
	return 0;
}

static void zstf_point(const struct hf_unpack *u, struct hf_point *ret_point)
{
	const struct unzstf *z = (const struct unzstf *)u;
	const uint64_t next = z->chunk + (z->frames > 0);

	ret_point->bits = next < ORDINAL_MAX ? (uint32_t)next : ORDINAL_MAX;
}

static const struct hf_unpack_ops ops = {
	.size = sizeof(struct unzstf),
	/* Every chunk is a block, however small: that is what the container's own table is about. */
	.aim_free = 1,
	.whole = HF_BLOCK_MAX,
	.start = zstf_start,
	.step = zstf_step,
	.skip = zstf_skip,
	.point = zstf_point,
	.stop = hf_frames_stop,
	.memory = hf_frames_memory,
};

static int zstf_probe(const uint8_t *head, size_t n, uint64_t file_size)
{
	(void)file_size;
	return n >= 4 && !memcmp(head, "ZSTF", 4) ? 100 : 0;
}

static int zstf_read_block(const struct hf_box *box, struct hf_src *base, const struct hf_point *point,
			   const uint8_t *window, uint64_t skip, void *buf, size_t n, struct hf_diag *diag)
{
	if (point->bits & HF_POINT_DAMAGED)
		return hf_diag_set(diag, HF_ERR_ZSTF_CHUNK, HF_SPACE_FILE, point->in_offset, point->bits & ORDINAL_MAX);
	if ((!skip && hf_frames_read_whole(base, point, buf, n)) || hf_frames_read_part(base, point, skip, buf, n))
		return 0;
	return hf_unpack_read_block(box, base, point, window, skip, buf, n, diag);
}

/* The entry behind the chunk, which names its end, is proof enough that the table is where the head says. */
static int zstf_sync_behind(struct hf_src *base, const struct hf_point *point, struct hf_sync *ret_sync,
			    struct hf_diag *diag)
{
	const uint64_t end = point->in_offset + point->in_size;
	const uint32_t ordinal = point->bits & ~HF_POINT_DAMAGED;
	const uint64_t next = (uint64_t)ordinal + 1;
	uint8_t head[HEAD_SIZE], entry[ENTRY_SIZE];
	uint64_t table_at, insns;
	size_t have;
	int err;

	if (ordinal >= ORDINAL_MAX)
		return HF_NOTE_END;
	err = read_far(base, 0, head, sizeof head, &have, diag);
	if (err < 0 || have < sizeof head)
		return err < 0 ? err : (int)HF_NOTE_END;
	insns = hf_get64(head + HEAD_INSNS);
	table_at = hf_get64(head + HEAD_TABLE);
	if (table_at <= end || table_at >= base->size)
		return HF_NOTE_END;
	err = read_far(base, entry_at(table_at, next), entry, sizeof entry, &have, diag);
	if (err < 0 || have < sizeof entry || hf_get64(entry) != end)
		return err < 0 ? err : (int)HF_NOTE_END;
	*ret_sync = (struct hf_sync){
		.offset = point->out_offset + point->out_size,
		.pc = hf_get64(entry + ENTRY_PC),
		.index = insns && insns <= INT64_MAX / next ? insns * next : HF_NOWHERE,
		.part = ordinal,
		.part_at = point->in_offset,
		.pc_at = entry_at(table_at, next) + ENTRY_PC,
	};
	return 0;
}

static const char *const suffixes[] = {".zstf", NULL};

const struct hf_box hf_box_zstf = {
	HF_UNPACK_BOX,
	.name = "zstf",
	.suffixes = suffixes,
	.codec = "stf",
	.enterable = true,
	.probe = zstf_probe,
	.read_block = zstf_read_block,
	.sync_behind = zstf_sync_behind,
	.unpack = &ops,
};

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sources: immutable bytes that can be read at any offset by any number of callers at once, and the containers
 * (gzip, xz, zstd, .zstf, the records of an ASTF file) that turn one source into another. A source has no cursor and never maps memory.
 */
#ifndef HF_SOURCE_SOURCE_H
#define HF_SOURCE_SOURCE_H

#include "codecs/base/err.h"

#include <stdbool.h>
#include <stddef.h>

struct hf_src;

/*
 * A place in the stream that the container says something about: one of its parts ends there (.zstf: a chunk), and
 * another begins.
 */
struct hf_sync {
	uint64_t offset;  /* stream offset */
	uint64_t pc;	  /* where the instruction behind it lies, as long as the stream does not say otherwise */
	uint64_t index;	  /* instruction records before it; HF_NOWHERE if that is not said */
	uint64_t part;	  /* ordinal of the part that ends here */
	uint64_t part_at; /* file offset of that part */
	uint64_t pc_at;	  /* file offset of what says pc */
};

/*
 * Up to where one part of the container reaches that holds a place where the stream cannot be read, or makes no sense:
 * where to go on.
 */
struct hf_extent {
	uint64_t end;	     /* stream offset where the part ends */
	bool lost;	     /* its bytes cannot be had: read_at gives an error up to end, and behind it bytes again */
	bool known;	     /* sync says something of end */
	struct hf_sync sync; /* with offset end */
};

struct hf_src_ops {
	/*
	 * Reads up to n bytes at offset: *ret_n < n only where the source ends or at a damaged place. At or behind
	 * the end it gives 0 bytes and HF_OK; exactly at a damaged place 0 bytes and the negative error.
	 */
	int (*read_at)(struct hf_src *src, uint64_t offset, void *buf, size_t n, size_t *ret_n, struct hf_diag *diag);
	void (*free)(struct hf_src *src);
	/*
	 * How many bytes from offset on are in memory side by side, and where; 0: ask read_at, which knows why. They stay
	 * there until read_at or lend is asked for what is behind them. NULL: always 0.
	 */
	size_t (*lend)(struct hf_src *src, uint64_t offset, const uint8_t **ret_bytes);
	/*
	 * The first place in (offset, limit] that the container says something about, or HF_NOTE_END. A growing
	 * source knows the places up to where it has been read, and forgets those far behind. NULL: never any.
	 */
	int (*sync_after)(struct hf_src *src, uint64_t offset, uint64_t limit, struct hf_sync *ret_sync,
			  struct hf_diag *diag);
	/*
	 * The part that holds offset, or HF_NOTE_END: nothing is known of it. A growing source knows the parts as
	 * sync_after does. NULL: never anything.
	 */
	int (*extent_at)(struct hf_src *src, uint64_t offset, struct hf_extent *ret_extent, struct hf_diag *diag);
};

/*
 * Whether work is still wanted: asked again and again by whatever can work for long without giving anything back. It is
 * cheap, and any thread may ask; once it has said yes it goes on saying so. A build pauses in it while a more urgent one
 * has its seat: no lock is held that other work needs.
 */
struct hf_stop {
	bool (*wanted)(void *ctx); /* to stop */
	void *ctx;
};

static inline bool hf_stop_wanted(const struct hf_stop *stop)
{
	return stop && stop->wanted(stop->ctx);
}

/* The head of every source. size is HF_NOWHERE while it is not known (a growing source, below). */
struct hf_src {
	const struct hf_src_ops *ops;
	uint64_t size;
	/* What decompressing this as a container may take for its dictionary or window, in bytes: more is refused with
	 * HF_ERR_STREAM_MEMORY. 0: HF_STREAM_MEMORY. */
	uint64_t memory;
	/* Makes every read fail with HF_ERR_CANCELLED, and with it what decompresses or decodes. NULL: never. Borrowed; to
	 * be set before the first read. Sources and decoders over this one take it over. */
	const struct hf_stop *stop;
	/* The offset beyond which whoever reads it now will hardly go, so that nobody reads ahead of it; 0: not known. Only of
	 * a source that one thread has for itself, which may change it between reads. */
	uint64_t until;
};

#define HF_STREAM_MEMORY (UINT64_C(256) << 20)

static inline int hf_src_read_at(struct hf_src *src, uint64_t offset, void *buf, size_t n, size_t *ret_n,
				 struct hf_diag *diag)
{
	if (hf_stop_wanted(src->stop)) {
		*ret_n = 0;
		return hf_diag_set(diag, HF_ERR_CANCELLED, HF_SPACE_STREAM, offset, 0);
	}
	return src->ops->read_at(src, offset, buf, n, ret_n, diag);
}

/* The same again and again, until n bytes are there, the source ends, or there is an error: *ret_n came before that. */
int hf_src_read_all(struct hf_src *src, uint64_t offset, void *buf, size_t n, size_t *ret_n, struct hf_diag *diag);

static inline size_t hf_src_lend(struct hf_src *src, uint64_t offset, const uint8_t **ret_bytes)
{
	return src->ops->lend && !hf_stop_wanted(src->stop) ? src->ops->lend(src, offset, ret_bytes) : 0;
}

static inline int hf_src_sync_after(struct hf_src *src, uint64_t offset, uint64_t limit, struct hf_sync *ret_sync,
				    struct hf_diag *diag)
{
	return src->ops->sync_after ? src->ops->sync_after(src, offset, limit, ret_sync, diag) : (int)HF_NOTE_END;
}

static inline int hf_src_extent_at(struct hf_src *src, uint64_t offset, struct hf_extent *ret_extent,
				   struct hf_diag *diag)
{
	return src->ops->extent_at ? src->ops->extent_at(src, offset, ret_extent, diag) : (int)HF_NOTE_END;
}

void hf_src_free(struct hf_src *src);

/* A file descriptor, read with pread; the descriptor is owned by the source from here on, also on failure. */
int hf_src_file_new(int fd, struct hf_src **ret_src, struct hf_diag *diag);

/* Reading a descriptor as such a source does, for other sources over files: size is that of the file when it was opened. */
int hf_src_file_read(int fd, uint64_t size, uint64_t offset, void *buf, size_t n, size_t *ret_n, struct hf_diag *diag);

/* Bytes in memory, borrowed: they must outlive the source. */
int hf_src_memory_new(const void *bytes, size_t size, struct hf_src **ret_src);

/*
 * A container is a compressed file seen as a row of blocks. A block can be decoded by itself from its point; the
 * blocks in order, end to end, are the decompressed stream.
 */
struct hf_point {
	uint64_t in_offset;   /* first byte of the block in the container; for gzip behind the partial byte */
	uint64_t in_size;     /* bytes of the container that decoding the block takes, 0 if not known */
	uint64_t out_offset;  /* its first byte in the decompressed stream */
	uint64_t out_size;    /* bytes it gives */
	uint32_t bits;        /* container's own: gzip, the unused bits of the byte before in_offset, and flags */
	uint32_t window_size; /* bytes of window that decoding needs, 0 if none */
};

/*
 * In bits: the block continues the one before it, inside something that cannot be entered (a large xz block or zstd
 * frame, all of an .lzma). scan_new and read_block refuse such a point with HF_ERR_STATE: decode from the last point
 * before it that lacks the flag. read_block also takes that point with out_size widened over the blocks that
 * continue it.
 */
#define HF_POINT_CONTINUES UINT32_C(0x80000000)

/*
 * In bits: the block is damaged, and what comes behind it is not. How many bytes are missing the container says
 * elsewhere (.zstf: its chunk table). scan_next gives no bytes for such a point, read_block says what is wrong with it,
 * scan_new refuses it as above.
 */
#define HF_POINT_DAMAGED UINT32_C(0x40000000)

/* The largest block a container hands out, and the size that those with a choice (gzip) aim at. */
#define HF_BLOCK_AIM (UINT64_C(1) << 20)
#define HF_BLOCK_MAX (UINT64_C(64) << 20)
#define HF_WINDOW_MAX 32768

struct hf_scan;
struct hf_unpack_ops;

/*
 * Walks a container from a point to its end, block by block: how points are found, and how a stream that cannot
 * be entered in the middle is read. One thread at a time.
 */
struct hf_box {
	const char *name;               /* "gzip" */
	const char *const *suffixes;    /* the name extensions, ".gz", ending with NULL */
	const char *codec;              /* the one format that this container holds; NULL: any */
	bool enterable;                 /* false: blocks can only be decoded in order (part of the format) */
	bool slow;                      /* decoding takes many times as long as getting memory for what comes out of it */
	/* 0..100: how sure we are that these first n bytes of a file of file_size bytes are such a container. */
	int (*probe)(const uint8_t *head, size_t n, uint64_t file_size);
	/*
	 * Starts at resume (NULL: the beginning); window[resume->window_size] is copied. box is this one, here and
	 * below; base is borrowed. A resumed scan cannot check what covers bytes before it: the CRC of that gzip
	 * member, the index of that xz stream.
	 */
	int (*scan_new)(const struct hf_box *box, struct hf_src *base, const struct hf_point *resume,
			const uint8_t *window, struct hf_scan **ret_scan, struct hf_diag *diag);
	/*
	 * The next block. *ret_point describes it, *ret_bytes[out_size] and *ret_window[window_size] are borrowed
	 * until the next call. HF_NOTE_END at the end. On damage the bytes that came out right before it are given
	 * first as a last, shorter block; the next call returns the error, with its place in *diag, for ever.
	 * A decompressor notices damage late, so what it gave since the unit's start (xz block, zstd frame, deflate
	 * block) is withheld, as far as it was not handed out yet; where the file is merely cut, nothing is.
	 * A container that says what is missing and where it goes on has a point with HF_POINT_DAMAGED and *ret_bytes
	 * NULL instead of the error, and a note with the error's place.
	 */
	int (*scan_next)(struct hf_scan *scan, struct hf_point *ret_point, const uint8_t **ret_bytes,
			 const uint8_t **ret_window, struct hf_diag *diag);
	/*
	 * Harmless defects met so far (bytes behind the stream, a wrong table): the i-th, or HF_NOTE_END. May be
	 * NULL.
	 */
	int (*scan_note)(struct hf_scan *scan, size_t i, struct hf_diag *ret_diag);
	void (*scan_free)(struct hf_scan *scan);
	/*
	 * Decodes bytes [skip, skip + n) of one block into buf; skip + n <= out_size. Thread-safe: all state is the
	 * call's own. NULL when not enterable.
	 */
	int (*read_block)(const struct hf_box *box, struct hf_src *base, const struct hf_point *point,
			  const uint8_t *window, uint64_t skip, void *buf, size_t n, struct hf_diag *diag);
	/*
	 * Leaves of window[point->window_size] what decoding the block needs: other bytes become zeros, and those before
	 * the first needed one go, with point->window_size as much less. On any error (there is no memory, the file
	 * cannot be read) both stay as they are, and are right. Thread-safe. NULL where there are no windows.
	 */
	int (*thin_window)(const struct hf_box *box, struct hf_src *base, struct hf_point *point, uint8_t *window);
	/*
	 * What the container says of the place where the block of that point ends, or HF_NOTE_END. Thread-safe. NULL
	 * if it has nothing of the kind.
	 */
	int (*sync_behind)(struct hf_src *base, const struct hf_point *point, struct hf_sync *ret_sync,
			   struct hf_diag *diag);
	/*
	 * Takes the block that scan_next has given last for the caller, who frees it, and gives the scan the malloc'ed
	 * spare[size > 0] for the next one. NULL: the scan cannot do without it, all is as it was, and spare is the
	 * caller's still. May be NULL.
	 */
	uint8_t *(*scan_swap)(struct hf_scan *scan, uint8_t *spare, size_t size);
	/*
	 * The block that scan_next has given last stays where it is until the call after the next one. False: it does not.
	 * May be NULL: none ever does.
	 */
	bool (*scan_keep)(struct hf_scan *scan);
	/* Bytes of memory that the scan holds now. */
	uint64_t (*scan_memory)(const struct hf_scan *scan);
	/* What the scan was given as base; where there is sync_behind. */
	struct hf_src *(*scan_base)(const struct hf_scan *scan);
	/* Of the containers of this folder, whose functions are those of unpack.h: how the inside is decoded. */
	const struct hf_unpack_ops *unpack;
	/*
	 * Bytes of the file before the container, HF_UNPACK_PREFIX at most, which are a block of their own in the
	 * stream once head has made of them what the stream has there. 0: none.
	 */
	uint32_t prefix;
	void (*head)(uint8_t *bytes);
};

extern const struct hf_box hf_box_gzip, hf_box_xz, hf_box_lzma, hf_box_zstd, hf_box_zstf;
extern const struct hf_box hf_box_astf_xz, hf_box_astf_lzma, hf_box_astf_zlib;
/* Text: bytes in their order, and words whose lowest byte is the first. Their probes never say so. */
extern const struct hf_box hf_box_hex, hf_box_hex_words;
/* All of them, ending with NULL. */
extern const struct hf_box *const hf_boxes[];

/* The container of these first bytes of a file, or NULL for plain bytes. */
const struct hf_box *hf_box_probe(const uint8_t *head, size_t n, uint64_t file_size);
const struct hf_box *hf_box_by_name(const char *name);

/* What extent_at of a source over this container says of the block of point. */
int hf_box_extent(const struct hf_box *box, struct hf_src *base, const struct hf_point *point,
		  struct hf_extent *ret_extent, struct hf_diag *diag);

/*
 * A source over a running scan, for a first pass that reads forward: it can go back HF_BLOCK_AIM bytes behind the
 * block that was reached, and no further (HF_ERR_STATE). Its size becomes known at the end. The callback sees each
 * block's point before its bytes are read by anyone; an error of it ends the stream there. The scan is owned, also
 * on failure, and may still be asked for its notes. Not thread-safe.
 */
struct hf_growing;
typedef int (*hf_point_fn)(void *ctx, const struct hf_point *point, const uint8_t *window);
int hf_growing_new(const struct hf_box *box, struct hf_scan *scan, hf_point_fn on_point, void *ctx,
		   struct hf_src **ret_src);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file system without FUSE: the tree of an archive with the view directories beside its captures, and reads of
 * views out of a bounded cache, made on demand by a pool of decoding threads. mountd puts it behind the kernel,
 * "hartfs cat", "verify" and the tests use it as it is.
 *
 * Thread-safe: every function may be called by any number of threads. Nothing here decodes on the caller's thread
 * except hf_fs_read_wait and hf_file_events.
 */
#ifndef HF_FS_H
#define HF_FS_H

#include "codecs/base/err.h"
#include "codecs/source/source.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

struct hf_fs;
struct hf_file;
struct hf_log_ring;

/* As long as the longest path, and what is said of it. */
#define HF_LOG_LINE_SIZE (PATH_MAX + 1024)
/* Where log lines go: level as in syslog (3 error, 4 warning, 6 info, 7 debug). Called from any thread. */
typedef void (*hf_log_fn)(void *ctx, int level, const char *line);

/* A directory as fstatat sees it; ino 0: all of that device. */
struct hf_fs_place {
	dev_t dev;
	ino_t ino;
};

#define HF_PACK_BELOW ((uint64_t)16 << 10)

struct hf_fs_options {
	int archive_fd;          /* O_PATH or O_DIRECTORY descriptor of the archive; owned by the fs from then on */
	int index_fd;            /* directory of the indexes; owned likewise; -1: there is none */
	int index_error;         /* why it is -1 (errno); 0: because nobody wants one */
	const char *index_path;  /* its name in messages; copied by hf_fs_open; NULL: it has none */
	bool index_on_disk;      /* an index that cannot be written there fails, instead of being kept in memory */
	const char *archive_path; /* canonical: what was found is remembered in the catalogue of that; NULL: in none */
	/* Directories inside the archive that must not be shown: index directory, mountpoint (both what lies under it
	 * and the root of the mount: looking into that one would be a request to ourselves). Copied by hf_fs_open. */
	size_t skip_count;
	const struct hf_fs_place *skip;
	uint64_t cache_bytes;    /* chunk cache, default 256 MiB; up to half of it for indexes that cannot be written */
	uint64_t stream_memory;  /* what decompressing a stream may take; 0: default */
	uint64_t expansion;      /* events for each byte of a capture; 0: default, HF_NOWHERE: no limit */
	uint64_t pack_below;     /* indexes of captures of fewer bytes go into packs; 0: none. HF_PACK_BELOW is usual */
	bool summary;		 /* indexing sums up what harts execute (index/summary.h) */
	bool summary_of_indexed; /* also where there is an index without one */
	bool all_sums;		 /* indexes have checksums of every byte of every view, also of lines */
	uint64_t spool_bytes;    /* what spools may take in the index directory; 0: there are none */
	unsigned threads;        /* decode pool; 0: one a core */
	unsigned index_threads;  /* of indexing: captures at a time, or parts of the last ones; 0: one a core */
	bool no_index;           /* index only what hf_fs_index is called for, nothing by itself (cat, info) */
	uint64_t chunk_insns;    /* 0: default; tests set 1, 7, 1000 */
	const char *debug_path; /* directory of debug files, in messages; copied by hf_fs_open; NULL: there is none */
	int debug_fd;           /* its descriptor, if there is one; owned likewise */
	const char *views;       /* names of hart views to offer, comma-separated; NULL: all */
	const char
		*params; /* "VIEW.key=value" or "-o VIEW.key=value", comma-separated: hf_fs_check_params; NULL: none */
	const char *sandbox;     /* how the process is confined, for status.json; borrowed; NULL: not told */
	hf_log_fn log;
	void *log_ctx;
	bool status_all;         /* .hartfs is for everybody, not only for the user of this process */
	struct hf_log_ring
		*log_ring; /* what .hartfs/log.txt shows (fs/base/log_ring.h), borrowed; NULL: no such file */
	/* The kernel must ask for this inode's attributes before it believes them again: a file that was replaced then
	 * gives an error also for bytes that the kernel has cached. Must not wait for anything. May be NULL. */
	void (*invalidate)(void *ctx, uint64_t ino);
	void *invalidate_ctx;
	/* A second way to say hf_fs_stop, for whoever gets to know it in a signal handler; borrowed. NULL: none. */
	const struct hf_stop *stop;
};

/* Starts the pools. On failure the descriptors are closed. */
int hf_fs_open(const struct hf_fs_options *options, struct hf_fs **ret_fs, struct hf_diag *diag);
/* What is under way ends soon, with HF_ERR_CANCELLED where somebody waits for it: decoding, decompressing, indexing
 * (which is resumable), waiting. For any thread; nothing but hf_fs_close is of use afterwards. */
void hf_fs_stop(struct hf_fs *fs);
/* The same, and joins all threads. All files must have been closed. */
void hf_fs_close(struct hf_fs *fs);

#define HF_FS_ROOT 1
/* The st_ino, in a directory, of what has a longer path than there are: hf_fs_lookup says HF_ERR_PATH_LENGTH of it. */
#define HF_FS_UNREACHABLE 2

/* What lookup and getattr give: a stat with st_ino set, plus how long the kernel may believe it (seconds). */
struct hf_attr {
	struct stat st;
	double entry_timeout, attr_timeout;
};

/*
 * Names to inodes. Errors: HF_ERR_NOT_FOUND (ret_attr->entry_timeout then says how long the kernel may believe that),
 * HF_ERR_IO. Each success holds one reference to the inode that hf_fs_forget gives back. A lookup in a view directory
 * of a capture that is not indexed yet starts its indexing and waits up to a second or two, then answers as the
 * directory is at that moment; with HF_ERR_BUSY, which the kernel must not keep, if it may have the name later. So does
 * a lookup of a slice's view that is still being measured.
 */
int hf_fs_lookup(struct hf_fs *fs, uint64_t parent, const char *name, struct hf_attr *ret_attr);
void hf_fs_forget(struct hf_fs *fs, uint64_t ino, uint64_t count);
int hf_fs_getattr(struct hf_fs *fs, uint64_t ino, struct hf_attr *ret_attr);
/* The same for whoever does not hand them on to the kernel: HF_ERR_CHANGED, and *ret_attr as it is now, if somebody may
 * not read it any more who may after the last lookup or hf_fs_getattr. Opening a file gives that error too: the kernel,
 * which checked with what it knew, then looks anew. *ret_attr has st_ino 0 after other errors. */
int hf_fs_check(struct hf_fs *fs, uint64_t ino, struct hf_attr *ret_attr);
int hf_fs_readlink(struct hf_fs *fs, uint64_t ino, char *buf, size_t size);

/*
 * Extended attributes: user.hartfs.* of the directories and files of views, none of anything else. Neither decodes nor
 * waits; of a capture that is not indexed there are fewer. buf gets the value, *ret_size its bytes, without a 0 behind
 * them; HF_NOTE_END if there is no attribute of that name. hf_fs_xattr_list gives the names, each with a 0 behind it.
 */
#define HF_FS_XATTR_SIZE 8192
int hf_fs_xattr(struct hf_fs *fs, uint64_t ino, const char *name, char buf[HF_FS_XATTR_SIZE], size_t *ret_size);
int hf_fs_xattr_list(struct hf_fs *fs, uint64_t ino, char buf[HF_FS_XATTR_SIZE], size_t *ret_size);

/*
 * A directory as it was when opened, so that a cookie stays valid. emit returns false when it has no more room; the
 * entry is then given again next time. Never blocks on an index. attr has st_ino and the type bits of st_mode; with
 * plus, entries are looked up: attr is complete and a reference is held for each entry that emit took, ".", ".." and
 * HF_FS_UNREACHABLE excepted. *ret_keep: the kernel may keep the names that it has cached. Who opens for it has just
 * asked hf_fs_check, and the capture is not looked at again; NULL for everybody else.
 */
struct hf_dir;
typedef bool (*hf_emit_fn)(void *ctx, const char *name, const struct hf_attr *attr, uint64_t next_cookie);
int hf_dir_open(struct hf_fs *fs, uint64_t ino, struct hf_dir **ret_dir, bool *ret_keep);
/* Says what hf_fs_check has just found of the directory: a read at once, with plus, does not look at the capture again. */
void hf_dir_checked(struct hf_dir *dir, const struct hf_attr *attr);
/* So many names it had when it was opened. */
size_t hf_dir_count(const struct hf_dir *dir);
/* Whether all of them were given out with their attributes so short a time ago that the kernel still believes these. */
bool hf_dir_is_told(const struct hf_dir *dir);
int hf_dir_read(struct hf_dir *dir, uint64_t cookie, bool plus, hf_emit_fn emit, void *ctx);
void hf_dir_close(struct hf_dir *dir);

/* The kernel never got the answer to an open of that file or directory, and did not drop what it was to drop. */
void hf_fs_unseen(struct hf_fs *fs, uint64_t ino);

/* Opens a regular file or view. *ret_keep: the kernel may keep what it has cached of it. */
int hf_file_open(struct hf_fs *fs, uint64_t ino, struct hf_file **ret_file, bool *ret_keep);
void hf_file_close(struct hf_file *file);
/* The kernel is not to cache it, nor to ask for more than somebody reads: a reply may have fewer bytes, but not none. */
bool hf_file_is_direct(const struct hf_file *file);

/*
 * One read. The caller fills file, offset, size, done and ctx and keeps the request alive until done was called, once,
 * from any thread (from hf_fs_read itself if the bytes are at hand). In done: err, or piece[0..pieces) in order: bytes
 * pinned in the cache, valid until hf_fs_read_release, which every request that was done needs, also a failed one; the
 * file may be closed before the release, the bytes are then not to be looked at. Fewer than size bytes only at the end
 * of the file, or if hf_file_is_direct.
 */
#define HF_READ_PIECES 64
struct hf_read {
	struct hf_file *file;
	uint64_t offset;
	size_t size;
	void (*done)(struct hf_read *read);
	void *ctx;
	int err;
	size_t pieces;
	struct {
		const uint8_t *bytes;
		size_t size;
	} piece[HF_READ_PIECES];
	void *state; /* the fs' own */
};
void hf_fs_read(struct hf_fs *fs, struct hf_read *read);
void hf_fs_read_release(struct hf_read *read);
/* Asks that done be called soon, with HF_ERR_CANCELLED, if it has not been yet. Safe at any moment before release. */
void hf_fs_read_cancel(struct hf_fs *fs, struct hf_read *read);
/* For callers that want bytes: *ret_n of them into buf, waiting; a short count only at the end of the file. */
int hf_fs_read_wait(struct hf_fs *fs, struct hf_file *file, uint64_t offset, void *buf, size_t size, size_t *ret_n);
/* The same without copying: fn gets them in order, where they lie; false ends it. */
typedef bool (*hf_bytes_fn)(void *ctx, const uint8_t *bytes, size_t n);
int hf_fs_read_each(struct hf_fs *fs, struct hf_file *file, uint64_t offset, uint64_t size, hf_bytes_fn fn, void *ctx,
		    uint64_t *ret_n);

/*
 * The instructions of the hart that a view is of, and which of them a byte of it belongs to: hartfs_view_events and
 * hartfs_view_ordinal of fs/hartfs.h. Decodes on the caller's thread, or waits. HF_ERR_UNSUPPORTED: it has none.
 */
struct hartfs_event;
int hf_file_events(struct hf_file *file, uint64_t ordinal, struct hartfs_event *ev, size_t max, size_t *ret_n,
		   struct hf_diag *diag);
int hf_file_ordinal(struct hf_file *file, uint64_t offset, uint64_t *ret_ordinal);

/* Paths, for the command line: "boot/dhry@zstf/hart0/listing.txt" to an inode (one reference held). */
int hf_fs_resolve(struct hf_fs *fs, const char *path, uint64_t *ret_ino);

/* Captures found under the archive, one call each in the order of the tree; a false return stops. */
typedef bool (*hf_capture_fn)(void *ctx, const char *path, const char *view_dir);
int hf_fs_each_capture(struct hf_fs *fs, const char *under, hf_capture_fn fn, void *ctx);

/* What the last search of the whole archive could not look at, a directory that may not be read or a file, with the
 * reason; returns how many. fn (NULL: none) gets the first thousand and must not call back. */
size_t hf_fs_unreached(struct hf_fs *fs, void (*fn)(void *ctx, const char *path, const char *why), void *ctx);

/* Gives fn each file of the view directory of a capture that is indexed: its own first, then those of its harts one
 * after the other, but none of a range. A false return stops. HF_ERR_BUSY: it is not indexed any more. */
struct hartfs_file;
typedef bool (*hf_file_fn)(void *ctx, const struct hartfs_file *file);
int hf_fs_each_file(struct hf_fs *fs, const char *view_dir, hf_file_fn fn, void *ctx);

/*
 * The capture that path is, or in whose view directory path lies: its path, and that of the view directory.
 * HF_ERR_NOT_FOUND: neither the archive nor a capture has such a name; HF_ERR_UNKNOWN_FORMAT: it is no capture; or why
 * it cannot be read. Searches nothing, however large the archive is.
 */
int hf_fs_capture_of(struct hf_fs *fs, const char *path, char ret_capture[PATH_MAX], char ret_view_dir[PATH_MAX]);

/* How many directories above its own the files lie that a description names: an archive that is to have the capture
 * must begin there. 0 also of what is no description. dir_fd: of its directory. */
unsigned hf_fs_reach(int dir_fd, const char *ini);

/* Indexes one capture on the calling thread, with all its views. An error also if nothing of it could be decoded,
 * though its view directory then says so. progress may be NULL: percent 0..100. */
int hf_fs_index(struct hf_fs *fs, const char *path, bool (*progress)(void *ctx, double percent, uint64_t insns),
		void *ctx, struct hf_diag *diag);
/*
 * The same, and meanwhile put gets the bytes of a view, by its path in the view directory, as they are made: in order,
 * from any thread, perhaps not from the beginning or twice, or in vain (struct hf_tap), or none of a view of which that
 * cannot be.
 */
typedef void (*hf_tap_fn)(void *ctx, uint64_t offset, const uint8_t *bytes, size_t n);
int hf_fs_index_tapped(struct hf_fs *fs, const char *path, const char *view, hf_tap_fn put,
		       bool (*progress)(void *ctx, double percent, uint64_t insns), void *ctx, struct hf_diag *diag);
/* The same in words, which say more of a description: false if there is nothing to say. Looks at nothing anew. */
bool hf_fs_explain(struct hf_fs *fs, const char *path, char *text, size_t size);
/* Why the capture at path has no such file in its view directory; false if that is not known. Looks at nothing anew. */
bool hf_fs_refusal(struct hf_fs *fs, const char *path, const char *view, char *text, size_t size);
/* What is known of a capture that was indexed, as a page for people: lines, to be freed. */
int hf_fs_page(struct hf_fs *fs, const char *path, char **ret_text);
/* What is known of a capture without indexing it. */
#define HF_FS_FAILURE 1024
struct hf_fs_brief {
	const char *format;    /* its codec's name, "stf"; "" : of no known format; static */
	const char *container; /* "gzip", or "" for plain bytes; static */
	uint64_t size;         /* of its file, or of all that its description names, in bytes */
	enum { HF_FS_NOT_INDEXED, HF_FS_INDEXED, HF_FS_FAILED } state;
	uint64_t instructions; /* that its harts retired, as all below: only if it is indexed */
	uint64_t harts, problems;
	char failure[HF_FS_FAILURE]; /* why nothing of it could be decoded */
};
int hf_fs_brief(struct hf_fs *fs, const char *path, struct hf_fs_brief *ret_brief);
/* Small captures that were indexed are published within a second or so (pack_below); this does it now: 0, or why not. */
int hf_fs_flush(struct hf_fs *fs);
/* Whether the index directory fails, or was missing: in words. *ret_memory: indexes that are only in memory;
 * *ret_waiting: captures for which there is none, because there was no room for it (both may be NULL). */
bool hf_fs_index_trouble(struct hf_fs *fs, char *text, size_t size, size_t *ret_memory, size_t *ret_waiting);
/* Captures of which nothing could be decoded, in the order of their paths, with the reason; returns how many. */
size_t hf_fs_failures(struct hf_fs *fs, void (*fn)(void *ctx, const char *path, const struct hf_diag *diag),
		      void *ctx);
/* The executor of its work, for that of whoever answers the kernel (HF_WORK_SERVE). It stops in hf_fs_close. */
struct hf_exec *hf_fs_exec(struct hf_fs *fs);

/* Starts indexing of every capture of the archive behind the caller's back; hf_fs_idle waits until none is left. */
void hf_fs_index_all(struct hf_fs *fs);
void hf_fs_idle(struct hf_fs *fs);
/* fn is called once, by another thread, when none is left; not after hf_fs_stop. */
void hf_fs_when_idle(struct hf_fs *fs, void (*fn)(void *ctx), void *ctx);

/* Looks at every page of the index files of a capture, as far as they are there. fn hears of each that is damaged or
 * not a file of hartfs, with what is wrong in words that follow its name; it is removed, or put aside if hartfs did not
 * make it, so that the next use makes it again. */
int hf_fs_examine(struct hf_fs *fs, const char *path, void (*fn)(void *ctx, const char *name, const char *what),
		  void *ctx, struct hf_diag *diag);

/* Makes every chunk of every view of a capture and compares it with the index. *ret_bad counts chunks. */
int hf_fs_verify(struct hf_fs *fs, const char *path, uint64_t *ret_chunks, uint64_t *ret_bad, struct hf_diag *diag);

/* Indexes a capture again, in memory, and compares all of it with what the index directory has: also what no chunk
 * shows, as problems, counts and code. fn as of hf_fs_examine; all files of the capture go if one does. 0 if it has no
 * index. */
int hf_fs_compare(struct hf_fs *fs, const char *path, void (*fn)(void *ctx, const char *name, const char *what),
		  void *ctx, struct hf_diag *diag);

/* Whether there are views of these names, whatever a capture can have: of hf_fs_options.views. */
bool hf_fs_knows_views(const char *list);
/* The i-th of those names; false behind the last. */
#define HF_FS_VIEW_NAME 64
bool hf_fs_view_name(size_t i, char buf[HF_FS_VIEW_NAME]);
/* Whether these view parameters, and those of hartfs.conf in the archive (archive_fd < 0: none), are ones: else
 * why[size] says which is not, with what stands before it ("-o VIEW.key=value") or the line of hartfs.conf. */
int hf_fs_check_params(int archive_fd, const char *given, char *why, size_t size);
/* Names and versions of the libraries from here down, as snprintf gives them. */
int hf_fs_libraries(char *buf, size_t size);

#endif

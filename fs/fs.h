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

#include "fs/base/callbacks.h"
#include "fs/base/options.h"
#include "fs/bytes/read.h"
#include "fs/capture/ls_line.h"
#include "fs/tree/opened.h"

struct hf_fs;

/* Starts the pools. On failure the descriptors are closed. */
int hf_fs_open(const struct hf_fs_options *options, struct hf_fs **ret_fs, struct hf_diag *diag);
/* What is under way ends soon, with HF_ERR_CANCELLED where somebody waits for it: decoding, decompressing, indexing
 * (which is resumable), waiting. For any thread; nothing but hf_fs_close is of use afterwards. */
void hf_fs_stop(struct hf_fs *fs);
/* The same, and joins all threads. All files must have been closed. */
void hf_fs_close(struct hf_fs *fs);

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
int hf_fs_xattr(struct hf_fs *fs, uint64_t ino, const char *name, char buf[HF_FS_XATTR_SIZE], size_t *ret_size);
int hf_fs_xattr_list(struct hf_fs *fs, uint64_t ino, char buf[HF_FS_XATTR_SIZE], size_t *ret_size);

/* The kernel never got the answer to an open of that file or directory, and did not drop what it was to drop. */
void hf_fs_unseen(struct hf_fs *fs, uint64_t ino);

/* A directory as it is now: hf_dir_read. *ret_keep: the kernel may keep the names that it has cached. Who opens for it has
 * just asked hf_fs_check, and the capture is not looked at again; NULL for everybody else. */
int hf_dir_open(struct hf_fs *fs, uint64_t ino, struct hf_dir **ret_dir, bool *ret_keep);

/* Opens a regular file or view. *ret_keep: the kernel may keep what it has cached of it. */
int hf_file_open(struct hf_fs *fs, uint64_t ino, struct hf_file **ret_file, bool *ret_keep);
/* One read, as fs/bytes/read.h tells. */
void hf_fs_read(struct hf_fs *fs, struct hf_read *read);
/* Asks that done be called soon, with HF_ERR_CANCELLED, if it has not been yet. Safe at any moment before release. */
void hf_fs_read_cancel(struct hf_fs *fs, struct hf_read *read);
/* For callers that want bytes: *ret_n of them into buf, waiting; a short count only at the end of the file. */
int hf_fs_read_wait(struct hf_fs *fs, struct hf_file *file, uint64_t offset, void *buf, size_t size, size_t *ret_n);
/* The same without copying: fn gets them in order, where they lie; false ends it. */
int hf_fs_read_each(struct hf_fs *fs, struct hf_file *file, uint64_t offset, uint64_t size, hf_bytes_fn fn, void *ctx,
		    uint64_t *ret_n);

/* Paths, for the command line: "boot/dhry@zstf/hart0/listing.txt" to an inode (one reference held). */
int hf_fs_resolve(struct hf_fs *fs, const char *path, uint64_t *ret_ino);

/* Captures found under the archive, one call each in the order of the tree; a false return stops. wanted (NULL: all
 * are) gets each path of a file or directory first: of what is not wanted nothing but its name is read. */
int hf_fs_each_capture(struct hf_fs *fs, const char *under, hf_wanted_fn wanted, hf_capture_fn fn, void *ctx);

/* What the last search of the whole archive could not look at, a directory that may not be read or a file, with the
 * reason; returns how many. fn (NULL: none) gets the first thousand and must not call back. */
size_t hf_fs_unreached(struct hf_fs *fs, void (*fn)(void *ctx, const char *path, const char *why), void *ctx);

/* Gives fn each file of the view directory of a capture that is indexed: its own first, then those of its harts one
 * after the other, but none of a range. A false return stops. HF_ERR_BUSY: it is not indexed any more. */
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
int hf_fs_index_tapped(struct hf_fs *fs, const char *path, const char *view, hf_tap_fn put,
		       bool (*progress)(void *ctx, double percent, uint64_t insns), void *ctx, struct hf_diag *diag);
/* Makes the files in profile/ of an indexed capture that somebody will look for, so that they are listed from the first look
 * on; waits. */
int hf_fs_make_profiles(struct hf_fs *fs, const char *path, struct hf_diag *diag);
/* The same in words, which say more of a description: false if there is nothing to say. Looks at nothing anew. */
bool hf_fs_explain(struct hf_fs *fs, const char *path, char *text, size_t size);
/* Why the capture at path has no such file in its view directory; false if that is not known. Looks at nothing anew. */
bool hf_fs_refusal(struct hf_fs *fs, const char *path, const char *view, char *text, size_t size);
/* What is known of a capture that was indexed, as a page for people: lines, to be freed. */
int hf_fs_info_page(struct hf_fs *fs, const char *path, char **ret_text);
int hf_fs_ls_line(struct hf_fs *fs, const char *path, struct hf_fs_ls_line *ret_line);
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
 * not a file of hartfs, with what is wrong in words that follow its name; it is removed, so that the next
 * use makes it again. */
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

/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/base/errors.h"
#include "index/base/lock.h"
#include "mountd/blocked.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

static struct hf_session *session_of(fuse_req_t req)
{
	return fuse_req_userdata(req);
}

static void reply_err(fuse_req_t req, int err)
{
	fuse_reply_err(req, hf_err_errno(err));
}

/*
 * An open file or directory; fi->fh points here. A read holds a reference as long as it holds bytes: the kernel, which
 * has got them, may release the file while the thread that gave them is still on its way back from doing so.
 */
struct handle {
	struct hf_link link;
	size_t refs; /* under the session's lock */
	struct hf_file *file;
	struct hf_dir *dir;
};

static struct handle *handle_new(struct hf_session *session, struct hf_file *file, struct hf_dir *dir)
{
	struct handle *handle = malloc(sizeof *handle);

	if (!handle)
		return NULL;
	*handle = (struct handle){.refs = 1, .file = file, .dir = dir};
	HF_LOCKED(&session->lock);
	hf_link_add(&session->handles, &handle->link);
	return handle;
}

static void handle_put(struct hf_session *session, struct handle *handle)
{
	bool last;

	pthread_mutex_lock(&session->lock);
	last = --handle->refs == 0;
	if (last)
		hf_link_remove(&handle->link);
	pthread_mutex_unlock(&session->lock);
	if (!last)
		return;
	if (handle->file)
		hf_file_close(handle->file);
	if (handle->dir)
		hf_dir_close(handle->dir);
	free(handle);
}

void hf_fuse_close_handles(struct hf_session *session)
{
	while (session->handles.next != &session->handles)
		handle_put(session, HF_OWNER(session->handles.next, struct handle, link));
}

static struct handle *handle_of(const struct fuse_file_info *fi)
{
	return (struct handle *)(uintptr_t)fi->fh;
}

static void op_init(void *userdata, struct fuse_conn_info *conn)
{
	struct hf_session *session = userdata;

	/* Replies come from memory: moving pages through pipes costs more than it saves. */
	conn->want &= ~(unsigned)(FUSE_CAP_SPLICE_READ | FUSE_CAP_SPLICE_WRITE | FUSE_CAP_SPLICE_MOVE);
	/* With it readers with O_DIRECT wait where no signal reaches them, and we hear of none. */
	conn->want &= ~(unsigned)FUSE_CAP_ASYNC_DIO;
	conn->want |= conn->capable & (FUSE_CAP_ASYNC_READ | FUSE_CAP_PARALLEL_DIROPS | FUSE_CAP_READDIRPLUS |
				       FUSE_CAP_READDIRPLUS_AUTO | FUSE_CAP_AUTO_INVAL_DATA);
	conn->max_readahead = HF_SESSION_READ_AHEAD;
#ifdef FUSE_CAP_DIRECT_IO_ALLOW_MMAP
	conn->want |= conn->capable & (unsigned)FUSE_CAP_DIRECT_IO_ALLOW_MMAP;
#endif
	/* Readahead of all readers together; a dozen of them would share the default. */
	conn->max_background = 64;
	conn->congestion_threshold = 48;
	conn->time_gran = 1;
	if (session->on_init)
		session->on_init(session->ctx);
}

static struct fuse_entry_param entry_of(const struct hf_attr *attr)
{
	return (struct fuse_entry_param){.ino = attr->st.st_ino,
					 .attr = attr->st,
					 .attr_timeout = attr->attr_timeout,
					 .entry_timeout = attr->entry_timeout};
}

static void reply_lookup(fuse_req_t req, int err, const struct hf_attr *attr)
{
	struct hf_fs *fs = session_of(req)->fs;
	struct fuse_entry_param entry;

	if (err == HF_ERR_NOT_FOUND && attr->entry_timeout > 0) {
		entry = (struct fuse_entry_param){.entry_timeout = attr->entry_timeout};
		fuse_reply_entry(req, &entry);
		return;
	}
	if (err) {
		reply_err(req, err);
		return;
	}
	entry = entry_of(attr);
	/* Of an interrupted lookup the kernel keeps no count. */
	if (fuse_reply_entry(req, &entry) == -ENOENT)
		hf_fs_forget(fs, entry.ino, 1);
}

static void op_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct hf_session *session = session_of(req);
	struct hf_attr attr = {0};
	int err = hf_fs_lookup(session->fs, parent, name, &attr);

	if (err == HF_ERR_BUSY && session->block && hf_blocked_add(session, req, parent, name, reply_lookup))
		return;
	if (!err && !S_ISDIR(attr.st.st_mode))
		hf_list_hints_look_up(&session->list_hints, (uint32_t)fuse_req_ctx(req)->pid);
	reply_lookup(req, err, &attr);
}

static void op_forget(fuse_req_t req, fuse_ino_t ino, uint64_t count)
{
	hf_fs_forget(session_of(req)->fs, ino, count);
	fuse_reply_none(req);
}

static void op_forget_multi(fuse_req_t req, size_t count, struct fuse_forget_data *forgets)
{
	for (size_t i = 0; i < count; i++)
		hf_fs_forget(session_of(req)->fs, forgets[i].ino, forgets[i].nlookup);
	fuse_reply_none(req);
}

static void op_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct hf_attr attr;
	int err = hf_fs_getattr(session_of(req)->fs, ino, &attr);

	(void)fi;
	if (err)
		reply_err(req, err);
	else
		fuse_reply_attr(req, &attr.st, attr.attr_timeout);
}

static void op_readlink(fuse_req_t req, fuse_ino_t ino)
{
	char target[4096 + 1];
	int err = hf_fs_readlink(session_of(req)->fs, ino, target, sizeof target);

	if (err)
		reply_err(req, err);
	else
		fuse_reply_readlink(req, target);
}

static void reply_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct hf_session *session = session_of(req);

	/* It was interrupted: nobody will use the handle. */
	if (fuse_reply_open(req, fi) == -ENOENT) {
		hf_fs_unseen(session->fs, ino);
		handle_put(session, handle_of(fi));
	}
}

static void op_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct hf_session *session = session_of(req);
	struct hf_file *file;
	struct handle *handle;
	bool keep = false;
	int err;

	if ((fi->flags & O_ACCMODE) != O_RDONLY || fi->flags & O_TRUNC) {
		fuse_reply_err(req, EROFS);
		return;
	}
	err = hf_file_open(session->fs, ino, &file, &keep);
	if (err) {
		reply_err(req, err);
		return;
	}
	handle = handle_new(session, file, NULL);
	if (!handle) {
		hf_fs_unseen(session->fs, ino);
		hf_file_close(file);
		fuse_reply_err(req, ENOMEM);
		return;
	}
	fi->fh = (uintptr_t)handle;
	fi->direct_io = session->direct || hf_file_is_direct(file);
	fi->keep_cache = keep && !fi->direct_io;
	reply_open(req, ino, fi);
}

static void op_release(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	(void)ino;
	handle_put(session_of(req), handle_of(fi));
	fuse_reply_err(req, 0);
}

/*
 * A read under way. It is answered by done, on whatever thread that is called; freed when three have let go of it:
 * the thread that started it, done, and the job that cancels it, if there is one.
 */
struct pending {
	struct hf_read read;
	struct hf_session *session;
	struct handle *handle;
	fuse_req_t req;
	struct hf_link link;
	struct hf_job cancel;
	int refs;    /* under the session's lock, as is queued */
	bool queued; /* its job was submitted */
	atomic_int state;
};

enum {
	STARTED = 1,   /* hf_fs_read has returned: it may be cancelled */
	CANCELLED = 2, /* it should be */
};

static void pending_put(struct pending *pending)
{
	struct hf_session *session = pending->session;
	bool last;

	pthread_mutex_lock(&session->lock);
	last = --pending->refs == 0;
	if (last)
		hf_link_remove(&pending->link);
	pthread_mutex_unlock(&session->lock);
	if (!last)
		return;
	hf_fs_read_release(&pending->read);
	handle_put(session, pending->handle);
	free(pending);
	pthread_mutex_lock(&session->lock);
	if (--session->read_count == 0)
		pthread_cond_broadcast(&session->no_reads);
	pthread_mutex_unlock(&session->lock);
}

static void reply_read(fuse_req_t req, const struct hf_read *read)
{
	struct iovec iov[HF_READ_PIECES];

	if (read->err) {
		reply_err(req, read->err);
		return;
	}
	/* One piece, the usual case, measured fastest as a plain buffer. */
	if (read->pieces <= 1) {
		fuse_reply_buf(req, read->pieces ? (const char *)read->piece[0].bytes : NULL,
			       read->pieces ? read->piece[0].size : 0);
		return;
	}
	for (size_t i = 0; i < read->pieces; i++)
		iov[i] = (struct iovec){.iov_base = (void *)(uintptr_t)read->piece[i].bytes,
					.iov_len = read->piece[i].size};
	fuse_reply_iov(req, iov, (int)read->pieces);
}

static void read_done(struct hf_read *read)
{
	struct pending *pending = read->ctx;

	/* Waits until an interrupt that is just being delivered has left: it must not find the request gone. */
	fuse_req_interrupt_func(pending->req, NULL, NULL);
	reply_read(pending->req, read);
	pending_put(pending);
}

/* Exactly one of this and op_read sees both STARTED and CANCELLED, and cancels. */
static int run_cancel(struct hf_job *job, struct hf_worker *worker)
{
	struct pending *pending = HF_OWNER(job, struct pending, cancel);

	(void)worker;
	if (atomic_fetch_or(&pending->state, CANCELLED) & STARTED)
		hf_fs_read_cancel(pending->session->fs, &pending->read);
	return 0;
}

static void end_cancel(struct hf_job *job, int err)
{
	(void)err;
	pending_put(HF_OWNER(job, struct pending, cancel));
}

/* Under the session's lock: while there are reads the executor has not been stopped, and refuses nothing. */
static void queue_cancel(struct pending *pending)
{
	if (pending->queued)
		return;
	pending->queued = true;
	pending->refs++;
	pending->cancel = (struct hf_job){.fn = run_cancel, .done = end_cancel, .work = HF_WORK_SERVE};
	hf_job_submit(hf_fs_exec(pending->session->fs), &pending->cancel);
}

/* libfuse holds the request's lock here, which answering needs as well: only ask. */
static void on_interrupt(fuse_req_t req, void *data)
{
	struct pending *pending = data;

	(void)req;
	HF_LOCKED(&pending->session->lock);
	queue_cancel(pending);
}

static void op_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset, struct fuse_file_info *fi)
{
	struct hf_session *session = session_of(req);
	struct pending *pending = malloc(sizeof *pending);

	(void)ino;
	if (!pending) {
		fuse_reply_err(req, ENOMEM);
		return;
	}
	/* Field by field: the table of pieces is most of it and needs no clearing. */
	pending->handle = handle_of(fi);
	pending->read.file = pending->handle->file;
	pending->read.offset = (uint64_t)offset;
	pending->read.size = size;
	pending->read.done = read_done;
	pending->read.ctx = pending;
	pending->read.err = 0;
	pending->read.pieces = 0;
	pending->read.state = NULL;
	pending->session = session;
	pending->req = req;
	pending->refs = 2;
	pending->queued = false;
	atomic_init(&pending->state, 0);
	pthread_mutex_lock(&session->lock);
	pending->handle->refs++;
	hf_link_add(&session->reads, &pending->link);
	session->read_count++;
	pthread_mutex_unlock(&session->lock);
	fuse_req_interrupt_func(req, on_interrupt, pending);
	hf_fs_read(session->fs, &pending->read);
	if (atomic_fetch_or(&pending->state, STARTED) & CANCELLED)
		hf_fs_read_cancel(session->fs, &pending->read);
	pending_put(pending);
}

void hf_fuse_cancel_reads(struct hf_session *session)
{
	HF_LOCKED(&session->lock);
	for (struct hf_link *link = session->reads.next; link != &session->reads; link = link->next)
		queue_cancel(HF_OWNER(link, struct pending, link));
}

/* Whether the caller may certainly read that. Of groups only his first is known here: who has the right by another one
 * may, too. */
static bool may_read(const struct stat *st, const struct fuse_ctx *caller)
{
	if (caller->uid == 0)
		return true;
	if (caller->uid == st->st_uid)
		return st->st_mode & 0400;
	return caller->gid == st->st_gid ? st->st_mode & 0040 : (st->st_mode & 0044) == 0044;
}

/* Whether who opens the directory gets its list from us, though the kernel may have it. */
static bool wants_anew(fuse_req_t req, const struct hf_dir *dir)
{
	return !hf_dir_is_told(dir) &&
	       hf_list_hints_open(&session_of(req)->list_hints, (uint32_t)fuse_req_ctx(req)->pid, hf_dir_count(dir));
}

static void op_opendir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct hf_session *session = session_of(req);
	struct hf_attr attr;
	struct hf_dir *dir;
	struct handle *handle;
	bool keep, checked = false;
	int err = hf_fs_check(session->fs, ino, &attr);

	/* The kernel looks anew along a path, but not at "." */
	if (err == HF_ERR_CHANGED && attr.st.st_ino && may_read(&attr.st, fuse_req_ctx(req)))
		err = 0;
	else
		checked = !err;
	if (!err)
		err = hf_dir_open(session->fs, ino, &dir, &keep);
	if (err) {
		reply_err(req, err);
		return;
	}
	if (checked)
		hf_dir_checked(dir, &attr);
	handle = handle_new(session, NULL, dir);
	if (!handle) {
		hf_fs_unseen(session->fs, ino);
		hf_dir_close(dir);
		fuse_reply_err(req, ENOMEM);
		return;
	}
	fi->fh = (uintptr_t)handle;
	/* Names that are added to the archive show in mtime; those of views, when an index is ready, only here. */
	fi->cache_readdir = attr.attr_timeout > 0;
	fi->keep_cache = keep && attr.attr_timeout > 0 && !wants_anew(req, dir);
	reply_open(req, ino, fi);
}

static void op_releasedir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	op_release(req, ino, fi);
}

/* So much the C library asks for; others may want more. */
#define LISTING_MAX ((size_t)32 << 10)

/* One answer to readdir being filled. */
struct listing {
	fuse_req_t req;
	char *buf;
	size_t size, used;
	bool plus;
};

static bool is_dots(const char *name)
{
	return name[0] == '.' && (!name[1] || (name[1] == '.' && !name[2]));
}

static bool emit_entry(void *ctx, const char *name, const struct hf_attr *attr, uint64_t next_cookie)
{
	struct listing *listing = ctx;
	struct fuse_entry_param entry;
	size_t room = listing->size - listing->used, n;
	char *at = listing->buf + listing->used;

	entry = entry_of(attr);
	if (is_dots(name) || entry.ino == HF_FS_UNREACHABLE)
		entry.ino = 0; /* no reference, no entry for the kernel to keep */
	n = listing->plus ? fuse_add_direntry_plus(listing->req, at, room, name, &entry, (off_t)next_cookie)
			  : fuse_add_direntry(listing->req, at, room, name, &entry.attr, (off_t)next_cookie);
	if (n > room)
		return false;
	listing->used += n;
	return true;
}

static void read_dir(fuse_req_t req, size_t size, off_t cookie, const struct fuse_file_info *fi, bool plus)
{
	/* Memory of this thread, which was just used: allocated anew for each directory it would be cold. */
	char buf[LISTING_MAX];
	struct listing listing = {
		.req = req, .buf = buf, .size = size < sizeof buf ? size : sizeof buf, .plus = plus};
	int err = hf_dir_read(handle_of(fi)->dir, (uint64_t)cookie, plus, emit_entry, &listing);

	/* Entries that are in the buffer hold references: an error behind them is given next time. */
	if (err < 0 && !listing.used)
		reply_err(req, err);
	else
		fuse_reply_buf(req, listing.buf, listing.used);
}

static void op_readdir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t cookie, struct fuse_file_info *fi)
{
	(void)ino;
	read_dir(req, size, cookie, fi, false);
}

static void op_readdirplus(fuse_req_t req, fuse_ino_t ino, size_t size, off_t cookie, struct fuse_file_info *fi)
{
	(void)ino;
	read_dir(req, size, cookie, fi, true);
}

static void op_statfs(fuse_req_t req, fuse_ino_t ino)
{
	/* No blocks: df passes over it, as over every file system that stores nothing. */
	struct statvfs st = {.f_bsize = 131072, .f_frsize = 4096, .f_namemax = 255};

	(void)ino;
	fuse_reply_statfs(req, &st);
}

/* Room for size bytes of buf, or, with size 0, the question how much room is needed. */
static void reply_xattr(fuse_req_t req, const char *buf, size_t have, size_t size)
{
	if (!size)
		fuse_reply_xattr(req, have);
	else if (have > size)
		fuse_reply_err(req, ERANGE);
	else
		fuse_reply_buf(req, buf, have);
}

static void op_getxattr(fuse_req_t req, fuse_ino_t ino, const char *name, size_t size)
{
	char value[HF_FS_XATTR_SIZE];
	size_t have;
	int err;

	/* ACLs, labels, capabilities: of a file system that knows none, ls asks once instead of twice a file. */
	if (strncmp(name, "user.", 5) != 0) {
		fuse_reply_err(req, EOPNOTSUPP);
		return;
	}
	err = hf_fs_xattr(session_of(req)->fs, ino, name, value, &have);
	if (err == HF_NOTE_END)
		fuse_reply_err(req, ENODATA);
	else if (err)
		reply_err(req, err);
	else
		reply_xattr(req, value, have, size);
}

static void op_listxattr(fuse_req_t req, fuse_ino_t ino, size_t size)
{
	struct hf_fs *fs = session_of(req)->fs;
	char names[HF_FS_XATTR_SIZE];
	struct hf_attr attr;
	size_t have;
	int err = hf_fs_xattr_list(fs, ino, names, &have);

	/* The kernel lets everybody list names, and which there are tells of the content. */
	if (!err && have)
		err = hf_fs_check(fs, ino, &attr);
	if (!err && have && !may_read(&attr.st, fuse_req_ctx(req)))
		have = 0;
	if (err)
		reply_err(req, err);
	else
		reply_xattr(req, names, have, size);
}

/*
 * The kernel refuses these itself as long as the mount is read-only; root may remount it. Locks and flush are absent on
 * purpose: the kernel then stops asking.
 */
static void op_setxattr(fuse_req_t req, fuse_ino_t ino, const char *name, const char *value, size_t size, int flags)
{
	(void)ino, (void)name, (void)value, (void)size, (void)flags;
	fuse_reply_err(req, EROFS);
}

static void op_removexattr(fuse_req_t req, fuse_ino_t ino, const char *name)
{
	(void)ino, (void)name;
	fuse_reply_err(req, EROFS);
}

static void op_setattr(fuse_req_t req, fuse_ino_t ino, struct stat *attr, int set, struct fuse_file_info *fi)
{
	(void)ino, (void)attr, (void)set, (void)fi;
	fuse_reply_err(req, EROFS);
}

static void op_mknod(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode, dev_t dev)
{
	(void)parent, (void)name, (void)mode, (void)dev;
	fuse_reply_err(req, EROFS);
}

static void op_mkdir(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode)
{
	(void)parent, (void)name, (void)mode;
	fuse_reply_err(req, EROFS);
}

static void op_unlink(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	(void)parent, (void)name;
	fuse_reply_err(req, EROFS);
}

static void op_symlink(fuse_req_t req, const char *target, fuse_ino_t parent, const char *name)
{
	(void)target, (void)parent, (void)name;
	fuse_reply_err(req, EROFS);
}

static void op_rename(fuse_req_t req, fuse_ino_t parent, const char *name, fuse_ino_t new_parent, const char *new_name,
		      unsigned flags)
{
	(void)parent, (void)name, (void)new_parent, (void)new_name, (void)flags;
	fuse_reply_err(req, EROFS);
}

static void op_link(fuse_req_t req, fuse_ino_t ino, fuse_ino_t new_parent, const char *new_name)
{
	(void)ino, (void)new_parent, (void)new_name;
	fuse_reply_err(req, EROFS);
}

static void op_create(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode, struct fuse_file_info *fi)
{
	(void)parent, (void)name, (void)mode, (void)fi;
	fuse_reply_err(req, EROFS);
}

const struct fuse_lowlevel_ops hf_fuse_ops = {
	.init = op_init,
	.lookup = op_lookup,
	.forget = op_forget,
	.forget_multi = op_forget_multi,
	.getattr = op_getattr,
	.readlink = op_readlink,
	.open = op_open,
	.read = op_read,
	.release = op_release,
	.opendir = op_opendir,
	.readdir = op_readdir,
	.readdirplus = op_readdirplus,
	.releasedir = op_releasedir,
	.statfs = op_statfs,
	.getxattr = op_getxattr,
	.listxattr = op_listxattr,
	.setxattr = op_setxattr,
	.removexattr = op_removexattr,
	.setattr = op_setattr,
	.mknod = op_mknod,
	.mkdir = op_mkdir,
	.unlink = op_unlink,
	.rmdir = op_unlink,
	.symlink = op_symlink,
	.rename = op_rename,
	.link = op_link,
	.create = op_create,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* Finds files of a capture that are invalid: damaged, or not what their name says. */
#include "index/upkeep/examine.h"

#include "index/base/fault.h"
#include "index/read/decode_index.h"
#include "index/read/view_table.h"
#include "index/store/dir_entry.h"
#include "index/store/file.h"
#include "index/summary/summary.h"
#include "index/table/db.h"
#include "index/table/vfs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct examiner {
	int dirfd;
	const struct hf_identity *identity;
	enum hf_examine how;
	hf_examine_fn fn;
	void *ctx;
	struct hf_index *index; /* NULL: missing or invalid */
	bool fits;              /* the file opened last is there and belongs to index */
};

/* What it is if it is no regular file; NULL: it is one, or missing. */
static const char *kind_of(int dirfd, const char *name)
{
	struct stat st;

	if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || S_ISREG(st.st_mode))
		return NULL;
	return S_ISDIR(st.st_mode)   ? "is a directory"
	       : S_ISLNK(st.st_mode) ? "is a symbolic link"
	       : S_ISFIFO(st.st_mode) ? "is a FIFO"
				      : "is not a regular file";
}

/* Reads every page of the file. what: set if one is bad. */
static int look_at_pages(int fd, char *what, size_t size)
{
	struct stat st;
	int err = fstat(fd, &st) < 0 ? hf_fault_set_fd("reading", fd, errno) : 0;

	for (off_t at = 0; !err && at < st.st_size; at += HF_PAGE_SIZE) {
		err = hf_vfs_verify_page(fd, (uint64_t)at);
		if (err == HF_ERR_STATE)
			snprintf(what, size, "is damaged: the page at byte %lld does not have its checksum",
				 (long long)at);
	}
	return err;
}

static const char *header_of(int fd, enum hf_db_kind kind)
{
	switch (hf_db_look(fd, kind)) {
	case HF_LOOK_EMPTY:
		return "is empty";
	case HF_LOOK_FOREIGN:
		return "is not of hartfs, or its header is damaged";
	case HF_LOOK_OLD:
		return "is of another version, cut short, or damaged in its header";
	default:
		return NULL;
	}
}

static int open_as_index(struct examiner *x)
{
	int err = hf_index_open(x->dirfd, x->identity, &x->index);

	if (err)
		x->index = NULL;
	x->fits = !err;
	return err;
}

static int open_as_view(struct examiner *x, const struct hf_view_key *key)
{
	struct hf_view_table *table;
	int err = hf_view_table_open(x->dirfd, x->identity, key, &table);

	x->fits = !err && x->index && hf_view_table_fits(table, x->index);
	hf_view_table_close(table);
	return err;
}

static int open_as_summary(struct examiner *x)
{
	struct hf_summary *summary;
	int err = hf_summary_open(x->dirfd, x->identity, &summary);

	if (!err && x->how == HF_EXAMINE_PAGES)
		err = hf_summary_check(summary);
	x->fits = !err && x->index && hf_summary_fits(summary, x->index);
	hf_summary_close(summary);
	return err;
}

static int open_as(struct examiner *x, enum hf_db_kind kind, const struct hf_view_key *key)
{
	switch (kind) {
	case HF_DB_VIEW:
		return open_as_view(x, key);
	case HF_DB_SUMMARY:
		return open_as_summary(x);
	default:
		return open_as_index(x);
	}
}

/* Sets what[] if the file is invalid. key: of a view table. */
static int look_at_file(struct examiner *x, int fd, enum hf_db_kind kind, const struct hf_view_key *key,
			char *what, size_t size)
{
	const char *header = header_of(fd, kind);
	int err;

	if (header) {
		snprintf(what, size, "%s", header);
		return 0;
	}
	err = x->how == HF_EXAMINE_PAGES ? look_at_pages(fd, what, size) : 0;
	if (!err)
		err = open_as(x, kind, key);
	if (err == HF_ERR_NOT_FOUND || (err == HF_ERR_STATE && !*what))
		snprintf(what, size, "is damaged, or of another capture");
	return err == HF_ERR_NOT_FOUND || err == HF_ERR_STATE ? 0 : err;
}

/* The same for one in a pack. */
static int look_in_packs(struct examiner *x, const char *name, enum hf_db_kind kind,
			 const struct hf_view_key *key, char *what, size_t size)
{
	uint8_t *bytes;
	size_t n;
	int err = hf_index_file_read(x->dirfd, name, &bytes, &n);

	free(bytes);
	if (err == HF_ERR_NOT_FOUND) {
		const char *is = kind_of(x->dirfd, name);

		snprintf(what, size, "%s", is ? is : "");
		return 0;
	}
	if (!err)
		err = open_as(x, kind, key);
	if (err == HF_ERR_STATE || err == HF_ERR_NOT_FOUND)
		snprintf(what, size, "is damaged in its pack");
	return err == HF_ERR_STATE || err == HF_ERR_NOT_FOUND ? 0 : err;
}

static int examine(struct examiner *x, const char *name, enum hf_db_kind kind, const struct hf_view_key *key)
{
	char what[128] = "";
	int fd, err = hf_index_file_open(x->dirfd, name, &fd);

	x->fits = false;
	if (err == HF_ERR_NOT_FOUND) {
		err = look_in_packs(x, name, kind, key, what, sizeof what);
	} else if (!err) {
		err = look_at_file(x, fd, kind, key, what, sizeof what);
		close(fd);
	}
	if (err || !*what)
		return err;
	x->fn(x->ctx, name, what);
	if (x->how != HF_EXAMINE_PAGES)
		return 0;
	hf_index_file_drop(x->dirfd, name);
	return hf_dir_entry_remove(x->dirfd, name);
}

static int examine_all(struct examiner *x, const struct hf_view_key *views, size_t view_count, struct hf_examined *found)
{
	char name[HF_FILE_NAME_SIZE];
	int err;

	hf_index_file_name_index(x->identity, name);
	err = examine(x, name, HF_DB_INDEX, NULL);
	found->index = x->fits;
	hf_index_file_name_summary(x->identity, name);
	if (!err)
		err = examine(x, name, HF_DB_SUMMARY, NULL);
	found->summary = !err && (x->fits || (x->index && !hf_summary_is_wanted(x->index)));
	for (size_t i = 0; !err && i < view_count; i++) {
		if (hf_index_file_name_view(x->identity, &views[i], name))
			continue;
		err = examine(x, name, HF_DB_VIEW, &views[i]);
		found->tables |= (uint64_t)x->fits << i;
	}
	return err;
}

int hf_index_examine(int dirfd, const struct hf_identity *identity, const struct hf_view_key *views, size_t view_count,
		     enum hf_examine how, hf_examine_fn fn, void *ctx, struct hf_examined *ret_found)
{
	struct examiner x = {.dirfd = dirfd, .identity = identity, .how = how, .fn = fn, .ctx = ctx};
	struct hf_examined found = {.tables = 0};
	int err = examine_all(&x, views, view_count, &found);

	hf_index_close(x.index);
	if (ret_found)
		*ret_found = found;
	return err;
}

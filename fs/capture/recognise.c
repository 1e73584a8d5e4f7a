/* SPDX-License-Identifier: Apache-2.0 */
/* Which files and directories are captures: they are probed when they are new, and again when they change. */
#include "fs/capture/recognise.h"
#include "fs/archive/params.h"
#include "fs/archive/path.h"
#include "fs/archive/probe.h"
#include "fs/base/common.h"
#include "fs/capture/not_captures.h"
#include "fs/capture/open_pool.h"
#include "fs/facts/capture.h"
#include "fs/facts/catalogue_use.h"
#include "fs/facts/facts.h"
#include "fs/facts/queue.h"
#include "fs/facts/shared.h"
#include "fs/facts/table.h"
#include "fs/program/debug_dir.h"
#include "fs/stream/elf_nearby.h"
#include "fs/stream/members.h"

#include <stdlib.h>
#include <string.h>

/* For lists of directories the access to views may be that of so long ago. */
#define ACCESS_NS INT64_C(1000000000)
/* A walk through the directories of a capture looks for files beside it only so often. */
#define BESIDE_NS (INT64_C(5) * 1000000)

/* Whether a description could not be read before, and can be now. With the lock held. */
static bool is_read_at_last(const struct hf_capture *capture, const struct hf_found *found)
{
	return capture->members && capture->members->unread && !(found->members && found->members->unread);
}

/* Begins a new version with what was recognised (codec NULL: no capture any more). False: nothing has changed. */
static bool renew(struct hf_capture *capture, const struct hf_found *found)
{
	const struct hf_shared *shared = capture->shared;
	struct hf_facts *facts = NULL;
	struct hf_members *members;
	char *complaint;
	bool was_gone;

	pthread_mutex_lock(&capture->lock);
	if (hf_stamp_same(&capture->stamp, &found->stamp) && (capture->state == HF_CAPTURE_GONE) == !found->codec &&
	    !is_read_at_last(capture, found)) {
		pthread_mutex_unlock(&capture->lock);
		return false;
	}
	was_gone = capture->state == HF_CAPTURE_GONE;
	atomic_fetch_add(&capture->version, 1);
	facts = capture->facts;
	capture->facts = NULL;
	capture->stamp = found->stamp;
	/* A capture that is gone keeps its format: who found it before may still ask for it. */
	if (found->codec) {
		capture->box = found->box;
		capture->codec = found->codec;
	}
	members = capture->members;
	capture->members = hf_members_ref(found->members);
	complaint = capture->complaint;
	capture->complaint = NULL;
	capture->access = (struct hf_access){0};
	capture->access_ns = 0;
	capture->state = found->codec ? HF_CAPTURE_UNKNOWN : HF_CAPTURE_GONE;
	capture->rebuilds = capture->rebuilt = 0;
	capture->repair = false;
	capture->too_small = 0;
	pthread_cond_broadcast(&capture->changed);
	pthread_mutex_unlock(&capture->lock);

	free(complaint);
	hf_members_unref(members);
	hf_open_drop(capture);
	if (facts) {
		hf_facts_forget(facts, shared->common->cache);
		hf_facts_unref(facts);
	}
	hf_jobs_notify(capture);
	if (!was_gone)
		hf_common_log(shared->common, 6, found->codec ? "%s: changed" : "%s: gone", capture->path);
	return true;
}

/* Notes who may read the views, as a look at these members (NULL: at a single file) found it that began at that time.
 * Not if the members are others by now, or a later look was noted. */
static void note_access(struct hf_capture *capture, const struct hf_members *members, int64_t begun_ns,
			const struct hf_access *access)
{
	struct hf_access more = *access;

	hf_params_join_access(capture->shared->params_access, capture->shared->archive, &more);
	hf_debug_dir_join_access(capture->shared->debug_dir, &more);
	HF_LOCKED(&capture->lock);
	if (capture->members == members && begun_ns > capture->access_ns) {
		capture->access = more;
		capture->access_ns = begun_ns;
	}
}

/* ---- files ---- */

/* The stamp of what lies beside the file; access may be NULL. */
static int look_beside(const struct hf_shared *shared, const char *path, struct hf_access *access, uint64_t *ret_beside)
{
	struct hf_elf_nearby beside;
	int err = hf_elf_nearby_list(shared->archive, path, access, &beside);

	*ret_beside = 0;
	if (err)
		return err;
	*ret_beside = hf_elf_nearby_stamp(&beside);
	hf_elf_nearby_free(&beside);
	return 0;
}

/* Who may read the views of a file whose stat is given, and the stamp of what lies beside it. */
static int look_at_file(const struct hf_shared *shared, const char *path, const struct stat *st,
			struct hf_access *access, uint64_t *ret_beside)
{
	*access = (struct hf_access){0};
	hf_access_add(access, st);
	return look_beside(shared, path, access, ret_beside);
}

/* Whether the file is the same as when it was looked at a moment ago, with what lies beside it. */
static bool is_as_it_just_was(struct hf_capture *capture, int64_t now_ns, const struct hf_stamp *now)
{
	struct hf_stamp stamp = *now;

	HF_LOCKED(&capture->lock);
	stamp.beside = capture->stamp.beside;
	stamp.debug = capture->stamp.debug;
	return capture->access_ns && now_ns - capture->access_ns < BESIDE_NS && !capture->members &&
	       capture->state != HF_CAPTURE_GONE && hf_stamp_same(&capture->stamp, &stamp);
}

static int read_described(const struct hf_shared *shared, const char *ini, const struct stat *st, struct hf_found *found,
			  struct hf_access *access);

/* Reads what a file that is its own description says; else nothing. */
static int read_own(struct hf_capture *capture, const struct stat *st, struct hf_found *found, struct hf_access *access)
{
	const struct hf_codec *codec = found->codec;
	int err = found->box || !hf_members_describes(codec) ? HF_ERR_NOT_FOUND
							     : read_described(capture->shared, capture->path, st, found, access);

	if (err)
		found->codec = codec;
	return err == HF_ERR_NOT_FOUND ? 0 : err;
}

/* A known capture of which the file's stat is given: recognised anew if that differs. *ret_gone: it is none. */
static int refresh(struct hf_capture *capture, const struct stat *st, bool again, bool *ret_gone)
{
	const int64_t begun_ns = hf_now_ns();
	struct hf_stamp now = hf_stamp_of(st);
	struct hf_found found = {.box = NULL};
	struct hf_access access;
	bool same;
	int err;

	if (again && is_as_it_just_was(capture, begun_ns, &now)) {
		*ret_gone = false;
		return 0;
	}
	err = look_at_file(capture->shared, capture->path, st, &access, &now.beside);
	if (!err)
		err = hf_debug_dir_look(capture->shared->debug_dir, &now.debug);
	if (err)
		return err;
	note_access(capture, NULL, begun_ns, &access);
	pthread_mutex_lock(&capture->lock);
	same = hf_stamp_same(&capture->stamp, &now);
	*ret_gone = capture->state == HF_CAPTURE_GONE;
	pthread_mutex_unlock(&capture->lock);
	if (same)
		return 0;
	capture->shared->catalogue_use->probed++;
	err = hf_probe_file(capture->shared->archive, capture->path, &found.box, &found.codec, &found.stamp);
	if (hf_err_is_shortage(err))
		return err;
	/* What could not be read may be readable next time: it is not remembered. */
	if (err)
		found = (struct hf_found){.box = NULL};
	else {
		found.stamp.beside = now.beside;
		found.stamp.debug = now.debug;
		err = read_own(capture, st, &found, &access);
		if (err)
			return err;
	}
	if (renew(capture, &found) && !err)
		hf_catalogue_use_put(capture, NULL);
	note_access(capture, found.members, begun_ns, &access);
	*ret_gone = !found.codec;
	hf_members_unref(found.members);
	return 0;
}

/* Adds a capture as the catalogue has it. */
static int add_recalled(const struct hf_shared *shared, const char *path, const struct hf_catalogue_entry *entry,
			const struct hf_found *found, struct hf_capture **ret_capture)
{
	struct hf_capture *capture;
	struct hf_facts *facts;
	int err = hf_table_add(shared->table, path, found, &capture);

	if (err)
		return err;
	*ret_capture = capture;
	/* If a file beside it or a member has changed since, sizes differ. */
	if (entry->kind != HF_CATALOGUE_INDEXED || entry->beside != hf_stamp_around(&found->stamp))
		return 0;
	err = hf_catalogue_use_facts(capture, 1, entry, &facts);
	if (err)
		return err;
	pthread_mutex_lock(&capture->lock);
	/* Unless another thread came first, and perhaps found more. The kernel has seen no older state: no notice. */
	if (capture->version == 1 && capture->state == HF_CAPTURE_UNKNOWN && !capture->facts &&
	    hf_stamp_same(&capture->stamp, &found->stamp)) {
		capture->facts = facts;
		capture->state = HF_CAPTURE_READY;
		capture->profiles = entry->profiles ? strdup(entry->profiles) : NULL;
		capture->profiles_of = 1;
		facts = NULL;
	}
	pthread_mutex_unlock(&capture->lock);
	hf_facts_unref(facts);
	return 0;
}

/* A new file that is recognised, unless it is part of a capture with a description. */
static int add_file(const struct hf_shared *shared, const char *path, struct hf_found *found,
		    const struct hf_catalogue_entry *entry, struct hf_capture **ret_capture)
{
	bool member;
	int err = hf_members_claim(shared->archive, path, &member);

	if (err || member)
		return err;
	err = look_beside(shared, path, NULL, &found->stamp.beside);
	if (!err)
		err = hf_debug_dir_look(shared->debug_dir, &found->stamp.debug);
	if (err)
		return err;
	if (entry)
		return add_recalled(shared, path, entry, found, ret_capture);
	err = hf_table_add(shared->table, path, found, ret_capture);
	if (!err)
		hf_catalogue_use_put(*ret_capture, NULL);
	return err;
}

/* A file that cannot be read may be a capture: an error, unless it is a member of a described one, which tells it. */
static int unread(const struct hf_shared *shared, const char *path, int err)
{
	bool member;
	int claim_err = hf_err_is_shortage(err) ? err : hf_members_claim(shared->archive, path, &member);

	return claim_err ? claim_err : member ? 0 : err;
}

static int find_described(const struct hf_shared *shared, const char *path, const char *ini, const struct stat *st,
			  struct hf_capture **ret_capture);

/* A file that is its own description, unless it is part of a capture with another. */
static int find_own(const struct hf_shared *shared, const char *path, const struct stat *st, struct hf_capture **ret_capture)
{
	bool member;
	int err = hf_members_claim(shared->archive, path, &member);

	if (err || member)
		return err;
	err = find_described(shared, path, path, st, ret_capture);
	return err == HF_ERR_NOT_FOUND ? 0 : err;
}

/* Whether the catalogue had it as a file that is its own description: its format does not show in its first bytes. */
static bool was_own(const struct hf_catalogue_entry *entry)
{
	return entry->kind != HF_CATALOGUE_NOT_CAPTURE && !entry->box && entry->codec &&
	       (!entry->codec->probe || hf_members_describes(entry->codec));
}

/* A new file, as the catalogue has it, or probed. */
static int find_file(const struct hf_shared *shared, const char *path, const struct stat *st, struct hf_capture **ret_capture)
{
	struct hf_found found = {.stamp = hf_stamp_of(st)};
	struct hf_catalogue_entry entry;
	int err;

	if (!hf_catalogue_use_recall(shared, path, st, &entry)) {
		found.box = entry.box;
		found.codec = entry.codec;
		if (entry.kind == HF_CATALOGUE_NOT_CAPTURE) {
			hf_not_captures_add(shared->not_captures, path, &found.stamp);
			err = 0;
		} else if (was_own(&entry)) {
			err = find_own(shared, path, st, ret_capture);
		} else {
			err = add_file(shared, path, &found, &entry, ret_capture);
		}
		hf_catalogue_clear(&entry);
		return err;
	}
	shared->catalogue_use->probed++;
	err = hf_probe_file(shared->archive, path, &found.box, &found.codec, &found.stamp);
	if (err)
		return unread(shared, path, err);
	if (!found.box && hf_members_describes(found.codec))
		return find_own(shared, path, st, ret_capture);
	if (found.codec)
		return add_file(shared, path, &found, NULL, ret_capture);
	hf_not_captures_add(shared->not_captures, path, &found.stamp);
	hf_catalogue_use_put_not_capture(shared, path, &found.stamp);
	return 0;
}

/* ---- descriptions ---- */

/* What a description, whose stat is given, is now; *access is of all that it names (NULL: not asked for).
 * HF_ERR_NOT_FOUND if it is none. */
static int read_described(const struct hf_shared *shared, const char *ini, const struct stat *st, struct hf_found *found,
			  struct hf_access *access)
{
	int err;

	shared->catalogue_use->probed++;
	err = hf_members_read(shared->archive, ini, &found->members);
	if (err)
		return err;
	err = hf_members_look(shared->archive, found->members, st, access, &found->stamp.beside);
	if (!err)
		err = hf_debug_dir_look(shared->debug_dir, &found->stamp.debug);
	if (err) {
		hf_members_unref(found->members);
		found->members = NULL;
		return err;
	}
	found->codec = found->members->codec;
	if (found->members->scattered)
		hf_common_log(shared->common, 4,
			      "%s: its files lie in more than %d directories: only root may read the views", ini,
			      HF_MEMBERS_DIRS_MAX);
	return 0;
}

/* The same of a capture with a description, whose path and stat are given. */
static int refresh_described(struct hf_capture *capture, const char *ini, const struct stat *st, bool *ret_gone)
{
	const int64_t begun_ns = hf_now_ns();
	struct hf_found found = {.stamp = hf_stamp_of(st)};
	struct hf_members *members;
	struct hf_access access;
	bool same;
	int err = 0;

	pthread_mutex_lock(&capture->lock);
	members = hf_members_ref(capture->members);
	pthread_mutex_unlock(&capture->lock);
	if (members && strcmp(members->ini, ini) == 0) {
		err = hf_members_look(capture->shared->archive, members, st, &access, &found.stamp.beside);
		if (!err)
			err = hf_debug_dir_look(capture->shared->debug_dir, &found.stamp.debug);
		if (!err)
			note_access(capture, members, begun_ns, &access);
	}
	hf_members_unref(members);
	if (err)
		return err;
	pthread_mutex_lock(&capture->lock);
	same = capture->members && !capture->members->unread && hf_stamp_same(&capture->stamp, &found.stamp);
	*ret_gone = capture->state == HF_CAPTURE_GONE;
	pthread_mutex_unlock(&capture->lock);
	if (same)
		return 0;
	err = read_described(capture->shared, ini, st, &found, &access);
	if (hf_err_is_shortage(err))
		return err;
	if (renew(capture, &found) && found.codec != &hf_members_unknown)
		hf_catalogue_use_put(capture, NULL);
	if (found.members)
		note_access(capture, NULL, begun_ns, &access);
	*ret_gone = !found.codec;
	hf_members_unref(found.members);
	return 0;
}

/* A description that is new. HF_ERR_NOT_FOUND if it is none. */
static int find_described(const struct hf_shared *shared, const char *path, const char *ini, const struct stat *st,
			  struct hf_capture **ret_capture)
{
	struct hf_found found = {.stamp = hf_stamp_of(st)};
	struct hf_catalogue_entry entry;
	bool recalled;
	int err = read_described(shared, ini, st, &found, NULL);

	if (err)
		return err;
	recalled = !hf_catalogue_use_recall(shared, path, st, &entry);
	if (recalled && entry.kind == HF_CATALOGUE_INDEXED && entry.codec == found.codec) {
		err = add_recalled(shared, path, &entry, &found, ret_capture);
	} else {
		err = hf_table_add(shared->table, path, &found, ret_capture);
		if (!err && found.codec != &hf_members_unknown)
			hf_catalogue_use_put(*ret_capture, NULL);
	}
	if (recalled)
		hf_catalogue_clear(&entry);
	hf_members_unref(found.members);
	return err;
}

bool hf_capture_is_described(struct hf_capture *capture)
{
	HF_LOCKED(&capture->lock);
	return capture->members;
}

/* *st, of path, becomes the stat of the capture's own file: for a directory that of its description. */
static int stat_own(const struct hf_archive *archive, const char *path, struct stat *st)
{
	char ini[HF_PATH_SIZE];
	struct stat own;
	int err;

	if (!S_ISDIR(st->st_mode))
		return 0;
	err = hf_members_find(archive, path, st, ini, &own);
	if (!err)
		*st = own;
	return err;
}

static void show_access(struct hf_capture *capture, struct stat *st)
{
	HF_LOCKED(&capture->lock);
	hf_access_show(&capture->access, st);
}

int hf_capture_stat(struct hf_capture *capture, struct stat *ret_st)
{
	const struct hf_archive *archive = capture->shared->archive;
	const int64_t now_ns = hf_now_ns();
	struct hf_members *members = NULL;
	struct hf_access access;
	uint64_t beside;
	bool known;
	int err = hf_archive_stat(archive, capture->path, ret_st);

	if (!err)
		err = stat_own(archive, capture->path, ret_st);
	if (err)
		return err;
	pthread_mutex_lock(&capture->lock);
	known = capture->access_ns && now_ns - capture->access_ns < ACCESS_NS;
	if (!known)
		members = hf_members_ref(capture->members);
	pthread_mutex_unlock(&capture->lock);
	if (members)
		err = hf_members_look(archive, members, ret_st, &access, &beside);
	else if (!known)
		err = look_at_file(capture->shared, capture->path, ret_st, &access, &beside);
	if (!known && !err)
		note_access(capture, members, now_ns, &access);
	hf_members_unref(members);
	if (err)
		return err;
	show_access(capture, ret_st);
	return 0;
}

/* ---- either ---- */

/* A path that is not known yet. */
static int find_new(const struct hf_shared *shared, const char *path, const struct stat *st, struct hf_capture **ret_capture)
{
	char ini[HF_PATH_SIZE];
	struct stat ini_st;
	int err = hf_members_find(shared->archive, path, st, ini, &ini_st);

	if (!err)
		err = find_described(shared, path, ini, &ini_st, ret_capture);
	if (hf_err_is_shortage(err))
		return err;
	return err == HF_ERR_NOT_FOUND && S_ISREG(st->st_mode) ? find_file(shared, path, st, ret_capture) : 0;
}

/* A known capture, with the stat of its path in *st, which becomes that of the capture's own file. */
static int find_again(struct hf_capture *known, struct stat *st, bool again, bool *ret_gone)
{
	char ini[HF_PATH_SIZE];
	struct stat ini_st;
	int err = hf_members_find(known->shared->archive, known->path, st, ini, &ini_st);

	*ret_gone = true;
	if (hf_err_is_shortage(err))
		return err;
	if (!err) {
		*st = ini_st;
		return refresh_described(known, ini, st, ret_gone);
	}
	if (S_ISREG(st->st_mode) && hf_capture_is_described(known))
		return refresh_described(known, known->path, st, ret_gone);
	if (S_ISREG(st->st_mode))
		return refresh(known, st, again, ret_gone);
	if (renew(known, &(struct hf_found){.box = NULL}))
		hf_catalogue_use_put(known, NULL);
	return 0;
}

/* hf_recognise, but what cannot be read is an error. */
static int find_readable(const struct hf_shared *shared, const char *path, const struct stat *st,
			 struct hf_capture **ret_capture)
{
	const struct hf_stamp stamp = hf_stamp_of(st);
	struct stat own = *st;
	struct hf_capture *known;
	bool gone;
	int err;

	*ret_capture = NULL;
	if (!S_ISREG(st->st_mode) && !S_ISDIR(st->st_mode))
		return 0;
	known = hf_table_find(shared->table, path);
	if (!known && S_ISREG(st->st_mode) && hf_not_captures_has(shared->not_captures, path, &stamp))
		return 0;
	if (!known)
		return find_new(shared, path, st, ret_capture);
	err = find_again(known, &own, false, &gone);
	*ret_capture = err || gone ? NULL : known;
	return err;
}

int hf_recognise(const struct hf_shared *shared, const char *path, const struct stat *st, struct hf_capture **ret_capture)
{
	int err = find_readable(shared, path, st, ret_capture);

	return hf_err_is_shortage(err) ? err : 0;
}

int hf_recognise_at(const struct hf_shared *shared, const char *path, struct hf_capture **ret_capture)
{
	struct stat st;
	int err = hf_archive_stat(shared->archive, path, &st);

	*ret_capture = NULL;
	if (!err)
		err = find_readable(shared, path, &st, ret_capture);
	return !err && !*ret_capture ? HF_ERR_UNKNOWN_FORMAT : err;
}

static int check(struct hf_capture *capture, bool again, struct stat *ret_st)
{
	bool gone;
	int err = hf_archive_stat(capture->shared->archive, capture->path, ret_st);

	if (err && err != HF_ERR_NOT_FOUND)
		return err;
	if (err || (!S_ISREG(ret_st->st_mode) && !S_ISDIR(ret_st->st_mode))) {
		if (renew(capture, &(struct hf_found){.box = NULL}))
			hf_catalogue_use_put(capture, NULL);
		return HF_ERR_NOT_FOUND;
	}
	err = find_again(capture, ret_st, again, &gone);
	if (!err && gone)
		err = HF_ERR_NOT_FOUND;
	if (!err)
		show_access(capture, ret_st);
	return err;
}

int hf_capture_check(struct hf_capture *capture, struct stat *ret_st)
{
	return check(capture, false, ret_st);
}

int hf_capture_check_again(struct hf_capture *capture, struct stat *ret_st)
{
	return check(capture, true, ret_st);
}

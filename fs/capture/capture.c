/* SPDX-License-Identifier: Apache-2.0 */
/* Which files and directories are captures: the table of those that were found, looked at anew when they change. */
#include "fs/capture/capture.h"
#include "fs/capture/companion.h"
#include "fs/capture/captures.h"
#include "fs/capture/members.h"
#include "fs/archive/probe.h"
#include "fs/archive/path.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { FIRST_BUCKETS = 256, PLAIN_SLOTS = 1 << 16 };

/* So long what was found of who may read the views holds for lists of directories. */
#define ACCESS_NS INT64_C(1000000000)

/* A file that is no capture. A table of fixed size, so that an archive of a million other files costs no more. */
struct hf_plain {
	uint64_t hash, size, mtime_ns, ino;
};

static const char *const state_names[] = {"unknown", "queued", "indexing", "ready", "failed", "waiting", "gone"};

const char *hf_capture_state_name(enum hf_capture_state state)
{
	return state_names[state];
}

int hf_captures_init(struct hf_captures *captures)
{
	captures->mask = FIRST_BUCKETS - 1;
	captures->bucket = calloc(FIRST_BUCKETS, sizeof *captures->bucket);
	captures->plain = calloc(PLAIN_SLOTS, sizeof *captures->plain);
	pthread_mutex_init(&captures->lock, NULL);
	return captures->bucket && captures->plain ? 0 : HF_ERR_NOMEM;
}

void hf_captures_fini(struct hf_captures *captures)
{
	for (size_t i = 0; captures->bucket && i <= captures->mask; i++)
		for (struct hf_capture *capture = captures->bucket[i], *next; capture; capture = next) {
			next = capture->next;
			hf_facts_unref(capture->facts);
			hf_members_unref(capture->members);
			free(capture->complaint);
			pthread_mutex_destroy(&capture->lock);
			pthread_cond_destroy(&capture->changed);
			free(capture);
		}
	free(captures->bucket);
	free(captures->plain);
	pthread_mutex_destroy(&captures->lock);
}

/* With the lock of captures held. */
static struct hf_capture *look_up(struct hf_captures *captures, const char *path, uint64_t hash)
{
	struct hf_capture *capture = captures->bucket[hash & captures->mask];

	while (capture && (capture->hash != hash || strcmp(capture->path, path) != 0))
		capture = capture->next;
	return capture;
}

static bool known_plain(struct hf_captures *captures, uint64_t hash, const struct hf_stamp *stamp, bool remember)
{
	struct hf_plain *slot = &captures->plain[hash % PLAIN_SLOTS];
	struct hf_plain plain = {hash, (uint64_t)stamp->size, (uint64_t)stamp->mtime_ns, stamp->ino};

	if (remember)
		*slot = plain;
	return memcmp(slot, &plain, sizeof plain) == 0;
}

static void grow(struct hf_captures *captures)
{
	size_t mask = captures->mask * 2 + 1;
	struct hf_capture **bucket;

	if (captures->count <= captures->mask)
		return;
	bucket = calloc(mask + 1, sizeof *bucket);
	if (!bucket)
		return;
	for (size_t i = 0; i <= captures->mask; i++)
		for (struct hf_capture *capture = captures->bucket[i], *next; capture; capture = next) {
			next = capture->next;
			capture->next = bucket[capture->hash & mask];
			bucket[capture->hash & mask] = capture;
		}
	free(captures->bucket);
	captures->bucket = bucket;
	captures->mask = mask;
}

static struct hf_capture *new_capture(struct hf_captures *all, const char *path, uint64_t hash)
{
	size_t size = strlen(path) + 1;
	struct hf_capture *capture = calloc(1, sizeof *capture + size);
	pthread_condattr_t attr;

	if (!capture)
		return NULL;
	capture->all = all;
	capture->common = all->common;
	capture->path = memcpy(capture + 1, path, size);
	capture->hash = hash;
	atomic_init(&capture->version, 1);
	pthread_mutex_init(&capture->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&capture->changed, &attr);
	pthread_condattr_destroy(&attr);
	hf_jobs_init_capture(capture);
	return capture;
}

/* What was found out of a file or directory. */
struct found {
	const struct hf_box *box;
	const struct hf_codec *codec; /* NULL: it is no capture */
	struct hf_members *members;   /* borrowed */
	struct hf_stamp stamp;
};

static int add(struct hf_captures *all, const char *path, uint64_t hash, const struct found *found,
	       struct hf_capture **ret_capture)
{
	struct hf_captures *captures = all;
	struct hf_capture *capture;

	pthread_mutex_lock(&captures->lock);
	capture = look_up(captures, path, hash);
	if (!capture) {
		capture = new_capture(all, path, hash);
		if (capture) {
			capture->box = found->box;
			capture->codec = found->codec;
			capture->stamp = found->stamp;
			capture->members = hf_members_ref(found->members);
			capture->next = captures->bucket[hash & captures->mask];
			captures->bucket[hash & captures->mask] = capture;
			captures->count++;
			grow(captures);
		}
	}
	pthread_mutex_unlock(&captures->lock);
	*ret_capture = capture;
	return capture ? 0 : HF_ERR_NOMEM;
}

/* A description that can be read now, though it has not changed. With the lock held. */
static bool is_read_at_last(const struct hf_capture *capture, const struct found *found)
{
	return capture->members && capture->members->unread && !(found->members && found->members->unread);
}

/* Begins a new version, of content that was just recognised (codec NULL: not recognised any more). False: it is known
 * already. */
static bool renew(struct hf_capture *capture, const struct found *found)
{
	struct hf_captures *all = capture->all;
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
	/* Who found it before it went still asks for its format. */
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
		hf_facts_forget(facts, all->common->cache);
		hf_facts_unref(facts);
	}
	hf_jobs_notify(all, capture);
	if (!was_gone)
		hf_common_log(all->common, 6, found->codec ? "%s: changed" : "%s: gone", capture->path);
	return true;
}

/* Notes who may read the views, by a look at these members (NULL: at a file alone) that began at that time, unless they
 * are others by now or a later look was noted. */
static void note_access(struct hf_capture *capture, const struct hf_members *members, int64_t begun_ns,
			const struct hf_access *access)
{
	struct hf_access more = *access;

	hf_params_join_access(&capture->all->params_access, capture->all->archive, &more);
	pthread_mutex_lock(&capture->lock);
	if (capture->members == members && begun_ns > capture->access_ns) {
		capture->access = more;
		capture->access_ns = begun_ns;
	}
	pthread_mutex_unlock(&capture->lock);
}

/* ---- files ---- */

/* Who may read the views of a file whose stat is given, and the stamp of what lies beside it. */
static int look_at_file(const struct hf_captures *all, const char *path, const struct stat *st, struct hf_access *access,
			uint64_t *ret_beside)
{
	*access = (struct hf_access){0};
	hf_access_add(access, st);
	return hf_companion_look(all->archive, path, access, ret_beside);
}

/* A known capture of which the file's stat is given: recognised anew if that differs. *ret_gone: it is none. */
static int refresh(struct hf_capture *capture, const struct stat *st, bool *ret_gone)
{
	const int64_t begun_ns = hf_now_ns();
	struct hf_stamp now = hf_stamp_of(st);
	struct found found = {.box = NULL};
	struct hf_access access;
	bool same;
	int err;

	err = look_at_file(capture->all, capture->path, st, &access, &now.beside);
	if (err)
		return err;
	note_access(capture, NULL, begun_ns, &access);
	pthread_mutex_lock(&capture->lock);
	same = hf_stamp_same(&capture->stamp, &now);
	*ret_gone = capture->state == HF_CAPTURE_GONE;
	pthread_mutex_unlock(&capture->lock);
	if (same)
		return 0;
	capture->all->memory.probed++;
	err = hf_probe_file(capture->all->archive, capture->path, &found.box, &found.codec, &found.stamp);
	if (hf_err_is_shortage(err))
		return err;
	/* What could not be read may be readable the next time: that is not remembered, and it is looked at again. */
	if (err)
		found = (struct found){.box = NULL};
	else
		found.stamp.beside = now.beside;
	if (renew(capture, &found) && !err)
		hf_memory_put(capture, NULL);
	note_access(capture, NULL, begun_ns, &access);
	*ret_gone = !found.codec;
	return 0;
}

/* Adds a capture as the catalogue has it. */
static int add_recalled(struct hf_captures *all, const char *path, uint64_t hash, const struct hf_catalogue_entry *entry,
			const struct found *found, struct hf_capture **ret_capture)
{
	struct hf_capture *capture;
	struct hf_facts *facts;
	int err = add(all, path, hash, found, &capture);

	if (err)
		return err;
	*ret_capture = capture;
	/* With another file beside it, or another member, than then the sizes are others. */
	if (entry->kind != HF_CATALOGUE_INDEXED || entry->beside != found->stamp.beside)
		return 0;
	err = hf_memory_facts(capture, 1, entry, &facts);
	if (err)
		return err;
	pthread_mutex_lock(&capture->lock);
	/* Unless somebody else came first and perhaps found more. Nobody has seen it otherwise: no notice. */
	if (capture->version == 1 && capture->state == HF_CAPTURE_UNKNOWN && !capture->facts &&
	    hf_stamp_same(&capture->stamp, &found->stamp)) {
		capture->facts = facts;
		capture->state = HF_CAPTURE_READY;
		facts = NULL;
	}
	pthread_mutex_unlock(&capture->lock);
	hf_facts_unref(facts);
	return 0;
}

static void remember_plain(struct hf_captures *captures, uint64_t hash, const struct hf_stamp *stamp)
{
	pthread_mutex_lock(&captures->lock);
	known_plain(captures, hash, stamp, true);
	pthread_mutex_unlock(&captures->lock);
}

/* A new file that is recognised, unless it is part of a capture with a description. */
static int add_file(struct hf_captures *all, const char *path, uint64_t hash, struct found *found,
		    const struct hf_catalogue_entry *entry, struct hf_capture **ret_capture)
{
	bool member;
	int err = hf_members_claim(all->archive, path, &member);

	if (err || member)
		return err;
	err = hf_companion_look(all->archive, path, NULL, &found->stamp.beside);
	if (err)
		return err;
	if (entry)
		return add_recalled(all, path, hash, entry, found, ret_capture);
	err = add(all, path, hash, found, ret_capture);
	if (!err)
		hf_memory_put(*ret_capture, NULL);
	return err;
}

/* What cannot be read may be a capture. A part of a capture with a description is that one's to complain of. */
static int unread(const struct hf_captures *all, const char *path, int err)
{
	bool member;
	int claim_err = hf_err_is_shortage(err) ? err : hf_members_claim(all->archive, path, &member);

	return claim_err ? claim_err : member ? 0 : err;
}

/* A new file: as the catalogue has it, or as it looks. */
static int find_file(struct hf_captures *all, const char *path, uint64_t hash, const struct stat *st,
		     struct hf_capture **ret_capture)
{
	struct found found = {.stamp = hf_stamp_of(st)};
	struct hf_catalogue_entry entry;
	int err;

	if (!hf_memory_recall(all, path, st, &entry)) {
		found.box = entry.box;
		found.codec = entry.codec;
		if (entry.kind == HF_CATALOGUE_PLAIN) {
			remember_plain(all, hash, &found.stamp);
			err = 0;
		} else {
			err = add_file(all, path, hash, &found, &entry, ret_capture);
		}
		hf_catalogue_clear(&entry);
		return err;
	}
	all->memory.probed++;
	err = hf_probe_file(all->archive, path, &found.box, &found.codec, &found.stamp);
	if (err)
		return unread(all, path, err);
	if (found.codec)
		return add_file(all, path, hash, &found, NULL, ret_capture);
	remember_plain(all, hash, &found.stamp);
	hf_memory_put_plain(all, path, &found.stamp);
	return 0;
}

/* ---- descriptions ---- */

static void tell_scattered(struct hf_captures *all, const struct hf_members *members)
{
	if (members && members->scattered)
		hf_common_log(all->common, 4, "%s: its files lie in more than %d directories: only root may read the views",
			  members->ini, HF_MEMBERS_DIRS_MAX);
}

/* The same of a capture with a description, whose path and stat are given. */
static int refresh_described(struct hf_capture *capture, const char *ini, const struct stat *st, bool *ret_gone)
{
	const struct hf_archive *archive = capture->all->archive;
	const int64_t begun_ns = hf_now_ns();
	struct found found = {.stamp = hf_stamp_of(st)};
	struct hf_members *members;
	struct hf_access access;
	bool same;
	int err = 0;

	pthread_mutex_lock(&capture->lock);
	members = hf_members_ref(capture->members);
	pthread_mutex_unlock(&capture->lock);
	if (members && strcmp(members->ini, ini) == 0) {
		err = hf_members_look(archive, members, &access, &found.stamp.beside);
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
	capture->all->memory.probed++;
	err = hf_members_read(archive, ini, &found.members);
	if (hf_err_is_shortage(err))
		return err;
	if (found.members) {
		found.codec = found.members->codec;
		err = hf_members_look(archive, found.members, &access, &found.stamp.beside);
		if (err) {
			hf_members_unref(found.members);
			return err;
		}
	}
	tell_scattered(capture->all, found.members);
	if (renew(capture, &found) && found.codec != &hf_members_unknown)
		hf_memory_put(capture, NULL);
	if (found.members)
		note_access(capture, NULL, begun_ns, &access);
	*ret_gone = !found.codec;
	hf_members_unref(found.members);
	return 0;
}

/* A description that is new. HF_ERR_NOT_FOUND if it is none. */
static int find_described(struct hf_captures *all, const char *path, uint64_t hash, const char *ini, const struct stat *st,
			  struct hf_capture **ret_capture)
{
	struct found found = {.stamp = hf_stamp_of(st)};
	struct hf_catalogue_entry entry;
	int err;

	all->memory.probed++;
	err = hf_members_read(all->archive, ini, &found.members);
	if (err)
		return err;
	tell_scattered(all, found.members);
	found.codec = found.members->codec;
	err = hf_members_look(all->archive, found.members, NULL, &found.stamp.beside);
	if (err) {
		hf_members_unref(found.members);
		return err;
	}
	if (!hf_memory_recall(all, path, st, &entry)) {
		if (entry.kind == HF_CATALOGUE_INDEXED && entry.codec == found.codec) {
			err = add_recalled(all, path, hash, &entry, &found, ret_capture);
			hf_catalogue_clear(&entry);
			hf_members_unref(found.members);
			return err;
		}
		hf_catalogue_clear(&entry);
	}
	err = add(all, path, hash, &found, ret_capture);
	if (!err && found.codec != &hf_members_unknown)
		hf_memory_put(*ret_capture, NULL);
	hf_members_unref(found.members);
	return err;
}

struct hf_capture *hf_capture_known(struct hf_captures *all, const char *path)
{
	struct hf_capture *capture;

	pthread_mutex_lock(&all->lock);
	capture = look_up(all, path, XXH3_64bits(path, strlen(path)));
	pthread_mutex_unlock(&all->lock);
	return capture;
}

bool hf_capture_is_described(struct hf_capture *capture)
{
	bool described;

	pthread_mutex_lock(&capture->lock);
	described = capture->members;
	pthread_mutex_unlock(&capture->lock);
	return described;
}

/* The stat of the capture's own file at path, of which st is the stat: the description's of a directory. */
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
	pthread_mutex_lock(&capture->lock);
	hf_access_show(&capture->access, st);
	pthread_mutex_unlock(&capture->lock);
}

int hf_capture_stat(struct hf_capture *capture, struct stat *ret_st)
{
	const struct hf_archive *archive = capture->all->archive;
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
		err = hf_members_look(archive, members, &access, &beside);
	else if (!known)
		err = look_at_file(capture->all, capture->path, ret_st, &access, &beside);
	if (!known && !err)
		note_access(capture, members, now_ns, &access);
	hf_members_unref(members);
	if (err)
		return err;
	show_access(capture, ret_st);
	return 0;
}

/* ---- either ---- */

/* What is known of it is looked at anew; what is not, for the first time. */
static int find(struct hf_captures *all, const char *path, uint64_t hash, const struct stat *st, struct hf_capture *known,
		struct hf_capture **ret_capture)
{
	char ini[HF_PATH_SIZE];
	struct stat ini_st;
	bool gone = true;
	int err = hf_members_find(all->archive, path, st, ini, &ini_st);

	if (hf_err_is_shortage(err))
		return err;
	if (!known && !err) {
		err = find_described(all, path, hash, ini, &ini_st, ret_capture);
		return err == HF_ERR_NOT_FOUND && S_ISREG(st->st_mode) ? find_file(all, path, hash, st, ret_capture)
		       : hf_err_is_shortage(err) ? err : 0;
	}
	if (!known)
		return S_ISREG(st->st_mode) ? find_file(all, path, hash, st, ret_capture) : 0;
	if (!err) {
		err = refresh_described(known, ini, &ini_st, &gone);
	} else if (S_ISREG(st->st_mode)) {
		err = refresh(known, st, &gone);
	} else {
		err = 0;
		if (renew(known, &(struct found){.box = NULL}))
			hf_memory_put(known, NULL);
	}
	if (!err && !gone)
		*ret_capture = known;
	return err;
}

/* hf_capture_find, with the error of what cannot be read. */
static int find_readable(struct hf_captures *all, const char *path, const struct stat *st, struct hf_capture **ret_capture)
{
	struct hf_captures *captures = all;
	struct hf_stamp stamp = hf_stamp_of(st);
	uint64_t hash = XXH3_64bits(path, strlen(path));
	struct hf_capture *known;
	bool plain = false;

	*ret_capture = NULL;
	if (!S_ISREG(st->st_mode) && !S_ISDIR(st->st_mode))
		return 0;
	pthread_mutex_lock(&captures->lock);
	known = look_up(captures, path, hash);
	if (!known && S_ISREG(st->st_mode))
		plain = known_plain(captures, hash, &stamp, false);
	pthread_mutex_unlock(&captures->lock);
	return plain ? 0 : find(all, path, hash, st, known, ret_capture);
}

int hf_capture_find(struct hf_captures *all, const char *path, const struct stat *st, struct hf_capture **ret_capture)
{
	int err = find_readable(all, path, st, ret_capture);

	return hf_err_is_shortage(err) ? err : 0;
}

int hf_capture_at(struct hf_captures *all, const char *path, struct hf_capture **ret_capture)
{
	struct stat st;
	int err = hf_archive_stat(all->archive, path, &st);

	*ret_capture = NULL;
	if (!err)
		err = find_readable(all, path, &st, ret_capture);
	return !err && !*ret_capture ? HF_ERR_UNKNOWN_FORMAT : err;
}

int hf_capture_check(struct hf_capture *capture, struct stat *ret_st)
{
	struct hf_capture *found = NULL;
	int err = hf_archive_stat(capture->all->archive, capture->path, ret_st);

	if (err && err != HF_ERR_NOT_FOUND)
		return err;
	if (err || (!S_ISREG(ret_st->st_mode) && !S_ISDIR(ret_st->st_mode))) {
		if (renew(capture, &(struct found){.box = NULL}))
			hf_memory_put(capture, NULL);
		return HF_ERR_NOT_FOUND;
	}
	err = find(capture->all, capture->path, capture->hash, ret_st, capture, &found);
	if (!err && !found)
		err = HF_ERR_NOT_FOUND;
	if (!err)
		err = stat_own(capture->all->archive, capture->path, ret_st);
	if (!err)
		show_access(capture, ret_st);
	return err;
}

void hf_captures_each(struct hf_captures *captures, void (*fn)(void *ctx, struct hf_capture *capture), void *ctx)
{
	pthread_mutex_lock(&captures->lock);
	for (size_t i = 0; i <= captures->mask; i++)
		for (struct hf_capture *capture = captures->bucket[i]; capture; capture = capture->next)
			fn(ctx, capture);
	pthread_mutex_unlock(&captures->lock);
}

enum hf_capture_state hf_capture_told_state(const struct hf_capture *capture)
{
	return capture->state == HF_CAPTURE_READY && hf_facts_has_failed(capture->facts) ? HF_CAPTURE_FAILED
											 : capture->state;
}

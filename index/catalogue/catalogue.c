/* SPDX-License-Identifier: Apache-2.0 */
/* A catalogue: its file name, look-ups, and rows that wait to be written. */
#include "index/catalogue/catalogue.h"
#include "codecs/base/errors.h"
#include "index/base/fault.h"
#include "index/base/lock.h"
#include "index/catalogue/catalogue_file.h"
#include "index/store/spool_format.h"
#include "index/store/spool_room.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

/* A row that waits to be written. */
struct pending {
	struct pending *next;  /* in its bucket */
	bool writing, dropped; /* a flush has it; that must free it, for another replaced it */
	struct hf_catalogue_row *row;
};

enum { BUCKETS = 4096, PENDING_MAX = 4 * HF_CATALOGUE_MANY };

struct hf_catalogue {
	struct hf_catalogue_place place;
	struct hf_catalogue_views views;

	pthread_mutex_t flushing;
	pthread_mutex_t lock; /* of what follows */
	struct hf_catalogue_file file;
	struct pending *bucket[BUCKETS];
	size_t count;
};

static void free_pending(struct pending *pending)
{
	if (pending)
		free(pending->row);
	free(pending);
}

/* All that sizes of views depend on, a line a view. */
static char *describe_views(const struct hf_catalogue_key *key)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	for (size_t i = 0; i < key->view_count; i++)
		fprintf(out, "%s %u %s\n", key->views[i].ops->view, (unsigned)key->views[i].ops->version,
			key->views[i].params);
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

/* As the name of an index it depends on the versions of the schema and of all decoders; and on that of the program,
 * which decides what is a capture. */
static void name_it(struct hf_catalogue_place *place)
{
	struct stat dir;
	struct hf_identity identity = {.size = place->ino, .mtime_ns = place->btime_ns};
	XXH128_hash_t path = XXH3_128bits(place->path, strlen(place->path));
	char hex[HF_HEX_SIZE];

	identity.print[0] = path.low64 ^ XXH3_64bits(place->views, strlen(place->views));
	identity.print[1] = path.high64 ^ XXH3_64bits(HARTFS_VERSION, strlen(HARTFS_VERSION));
	/* Where several users write each has one of its own: it tells what that user can see. */
	if (fstat(place->dir->fd, &dir) == 0 && dir.st_uid != geteuid())
		identity.size ^= (uint64_t)geteuid() << 32;
	hf_index_file_hex(&identity, hex);
	snprintf(place->name, sizeof place->name, "%s.hfc", hex);
}

static int take_views(struct hf_catalogue_views *views, const struct hf_catalogue_key *key)
{
	views->name = calloc(key->view_count + 1, sizeof *views->name);
	views->count = key->view_count;
	if (!views->name)
		return HF_ERR_NOMEM;
	/* In a row a name stands between a space and '='. */
	for (size_t i = 0; i < key->view_count; i++)
		if (strpbrk(key->views[i].ops->view, " =\n") ||
		    snprintf(views->name[i], HF_CATALOGUE_NAME_LIMIT, "%s", key->views[i].ops->view) >=
			    HF_CATALOGUE_NAME_LIMIT)
			return HF_ERR_LIMIT;
	return 0;
}

static int take_place(struct hf_catalogue_place *place, const struct hf_store_dir *dir,
		      const struct hf_catalogue_key *key)
{
	*place = (struct hf_catalogue_place){
		.dir = dir,
		.path = strdup(key->path),
		.views = describe_views(key),
		.ino = key->ino,
		.btime_ns = key->btime_ns,
		.exists = key->exists,
		.ctx = key->ctx,
	};
	if (!place->path || !place->views)
		return HF_ERR_NOMEM;
	if (strlen(place->path) >= HF_CATALOGUE_PATH_LIMIT || strlen(place->views) >= HF_CATALOGUE_LINES_LIMIT)
		return HF_ERR_LIMIT;
	name_it(place);
	return 0;
}

int hf_catalogue_open(const struct hf_store_dir *dir, const struct hf_catalogue_key *key,
		      struct hf_catalogue **ret_catalogue)
{
	struct hf_catalogue *cat = calloc(1, sizeof *cat);
	int err;

	*ret_catalogue = NULL;
	if (!cat)
		return HF_ERR_NOMEM;
	cat->file.fd = -1;
	pthread_mutex_init(&cat->flushing, NULL);
	pthread_mutex_init(&cat->lock, NULL);
	err = take_place(&cat->place, dir, key);
	if (!err)
		err = take_views(&cat->views, key);
	if (!err && hf_catalogue_file_open(&cat->place, &cat->file) == HF_ERR_NOMEM)
		err = HF_ERR_NOMEM;
	if (err)
		hf_catalogue_close(cat);
	else
		*ret_catalogue = cat;
	return err;
}

void hf_catalogue_close(struct hf_catalogue *cat)
{
	if (!cat)
		return;
	hf_catalogue_file_close(&cat->file);
	for (size_t i = 0; i < BUCKETS; i++)
		for (struct pending *p = cat->bucket[i], *next; p; p = next) {
			next = p->next;
			free_pending(p);
		}
	free(cat->place.path);
	free(cat->place.views);
	free(cat->views.name);
	pthread_mutex_destroy(&cat->flushing);
	pthread_mutex_destroy(&cat->lock);
	free(cat);
}

static struct pending **find_pending(struct hf_catalogue *cat, int64_t id)
{
	struct pending **at = &cat->bucket[(uint64_t)id % BUCKETS];

	while (*at && (*at)->row->id != id)
		at = &(*at)->next;
	return at;
}

int hf_catalogue_find(struct hf_catalogue *cat, const char *path, const struct hf_catalogue_stamp *stamp,
		      struct hf_catalogue_entry *ret_entry)
{
	struct pending *pending;
	int err;

	*ret_entry = (struct hf_catalogue_entry){.stamp = *stamp};
	HF_LOCKED(&cat->lock);
	pending = *find_pending(cat, hf_catalogue_row_id(path));
	if (!pending)
		err = hf_catalogue_file_find(&cat->file, &cat->views, path, stamp, ret_entry);
	else if (hf_catalogue_row_is_of(pending->row, path, stamp))
		err = hf_catalogue_row_take(&cat->views, pending->row, ret_entry);
	else
		err = HF_ERR_NOT_FOUND;
	return err && err != HF_ERR_NOMEM ? HF_ERR_NOT_FOUND : err;
}

/* With the lock held: replaces an entry of the same id. */
static int add_pending(struct hf_catalogue *cat, struct pending *pending)
{
	struct pending **at = find_pending(cat, pending->row->id), *old = *at;

	if (!old && cat->count >= PENDING_MAX)
		return HF_ERR_LIMIT;
	pending->next = old ? old->next : NULL;
	*at = pending;
	cat->count += !old;
	if (old && old->writing)
		old->dropped = true;
	else
		free_pending(old);
	return 0;
}

int hf_catalogue_put(struct hf_catalogue *cat, const char *path, const struct hf_catalogue_entry *entry)
{
	struct pending *pending = calloc(1, sizeof *pending);
	int err = pending ? hf_catalogue_row_new(&cat->views, path, entry, &pending->row) : HF_ERR_NOMEM;

	if (!err) {
		pthread_mutex_lock(&cat->lock);
		err = add_pending(cat, pending);
		pthread_mutex_unlock(&cat->lock);
	}
	if (err)
		free_pending(pending);
	return err;
}

size_t hf_catalogue_pending(struct hf_catalogue *cat)
{
	HF_LOCKED(&cat->lock);
	return cat->count;
}

/* The rows that wait when a flush begins, by id. Later puts do not change them. Until end_snapshot. */
struct snapshot {
	struct pending **pending;
	const struct hf_catalogue_row **rows; /* theirs */
	size_t count;
};

static int by_id(const void *a, const void *b)
{
	const struct pending *x = *(struct pending *const *)a, *y = *(struct pending *const *)b;

	return (x->row->id > y->row->id) - (x->row->id < y->row->id);
}

static int begin_snapshot(struct hf_catalogue *cat, struct snapshot *snap)
{
	pthread_mutex_lock(&cat->lock);
	snap->count = 0;
	snap->pending = calloc(cat->count + 1, sizeof *snap->pending);
	snap->rows = calloc(cat->count + 1, sizeof *snap->rows);
	for (size_t i = 0; snap->pending && snap->rows && i < BUCKETS; i++)
		for (struct pending *p = cat->bucket[i]; p; p = p->next) {
			p->writing = true;
			snap->pending[snap->count++] = p;
		}
	pthread_mutex_unlock(&cat->lock);
	if (!snap->pending || !snap->rows)
		return HF_ERR_NOMEM;
	qsort(snap->pending, snap->count, sizeof *snap->pending, by_id);
	for (size_t i = 0; i < snap->count; i++)
		snap->rows[i] = snap->pending[i]->row;
	return 0;
}

/* file: the new one with all rows, which becomes the catalogue's; NULL: nothing was written, they wait on. */
static void end_snapshot(struct hf_catalogue *cat, struct snapshot *snap, const struct hf_catalogue_file *file)
{
	pthread_mutex_lock(&cat->lock);
	for (size_t i = 0; i < snap->count; i++) {
		struct pending *p = snap->pending[i];

		p->writing = false;
		if (file && !p->dropped) {
			*find_pending(cat, p->row->id) = p->next;
			cat->count--;
		}
		if (file || p->dropped)
			free_pending(p);
	}
	if (file) {
		hf_catalogue_file_close(&cat->file);
		cat->file = *file;
	}
	pthread_mutex_unlock(&cat->lock);
	free(snap->pending);
	free(snap->rows);
}

int hf_catalogue_flush(struct hf_catalogue *cat)
{
	struct hf_catalogue_file file;
	struct snapshot snap;
	int err;

	HF_LOCKED(&cat->flushing);
	err = begin_snapshot(cat, &snap);
	if (!err && snap.count) {
		do
			err = hf_catalogue_file_write(&cat->place, snap.rows, snap.count, &file);
		while (err == HF_ERR_INDEX_DIR && hf_fault_is_room(hf_fault_last()) &&
		       hf_spool_give_way(cat->place.dir->fd));
	}
	end_snapshot(cat, &snap, !err && snap.count ? &file : NULL);
	return err;
}

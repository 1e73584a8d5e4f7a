/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Publishing what waits, and putting packs together. With the flush lock held: so nobody else takes a pack away. The
 * other lock is held only where what others see changes.
 */
#include "codecs/base/errors.h"
#include "index/base/lock.h"
#include "index/store/dir_entry.h"
#include "index/store/disk_file.h"
#include "index/store/packs.h"
#include "index/store/packs_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* So many packs that are not half full are put together. */
enum { MERGE_MANY = 8 };

/* Those that are in the directory from here on, in the place of one or several others. */
struct exchange {
	struct hf_pack *made;  /* in memory */
	struct hf_pack **olds; /* that go; a reference each, the newest first */
	size_t old_count;
};

/* Whether a file was dropped meanwhile. */
static bool is_dropped(const struct exchange *x, const struct hf_pack_key *key)
{
	for (size_t i = 0; i < x->old_count; i++) {
		const struct hf_pack_entry *entry = hf_pack_find(x->olds[i], key);

		if (entry && entry->part)
			return false;
	}
	return true;
}

/* With the lock. The files of published ones are the caller's to remove. */
static void forget(struct hf_packs *packs, const struct hf_pack *pack)
{
	for (size_t i = 0; i < packs->count; i++)
		if (packs->packs[i] == pack) {
			hf_pack_close(packs->packs[i]);
			packs->count--;
			memmove(&packs->packs[i], &packs->packs[i + 1], (packs->count - i) * sizeof(*packs->packs));
			break;
		}
}

static int write_file(const struct hf_packs *packs, struct hf_pack *pack, char name[HF_FILE_NAME_SIZE])
{
	struct hf_part part;
	uint64_t random;
	int err;

	/* Of two nodes with the same time. */
	sqlite3_randomness(sizeof random, &random);
	snprintf(name, HF_FILE_NAME_SIZE, "%016" PRIx64 "%016" PRIx64 ".hfp", pack->sequence, random);
	err = hf_disk_part_open(&part, packs->dirfd, &packs->sharing, name);
	if (err)
		return err;
	err = hf_disk_part_copy(&part, pack->fd);
	if (!err)
		err = hf_disk_part_publish(&part);
	if (err)
		hf_disk_part_remove(&part);
	hf_disk_part_close(&part);
	return err;
}

/* The files of a pack in memory, as they are now. */
static int finish(struct hf_packs *packs, struct hf_pack *pack)
{
	struct hf_pack_entry *entries;
	int err = HF_ERR_NOMEM;

	pthread_mutex_lock(&packs->lock);
	entries = malloc((pack->count + 1) * sizeof *entries);
	if (entries)
		memcpy(entries, pack->entries, pack->count * sizeof *entries);
	pthread_mutex_unlock(&packs->lock);
	if (entries) {
		HF_LOCKED(&pack->lock);
		err = hf_pack_finish(pack, entries, pack->count);
	}
	free(entries);
	return err;
}

static int publish(struct hf_packs *packs, const struct exchange *x)
{
	char name[HF_FILE_NAME_SIZE];
	struct hf_pack *pack;
	int err = finish(packs, x->made);

	if (!err)
		err = write_file(packs, x->made, name);
	if (!err)
		err = hf_packs_open_pack(packs, name, &pack);
	if (err)
		return err;
	HF_LOCKED(&packs->lock);
	pack = hf_packs_add(packs, pack);
	for (size_t i = 0; pack && i < pack->count; i++)
		if (is_dropped(x, &pack->entries[i].key))
			pack->entries[i].part = 0;
	for (size_t i = 0; pack && i < x->old_count; i++)
		forget(packs, x->olds[i]);
	return pack ? 0 : HF_ERR_NOMEM;
}

/* A reference to the oldest one that is complete; NULL: there is none. Nothing is added to those that wait any more. */
static struct hf_pack *next_complete(struct hf_packs *packs)
{
	struct hf_pack *found = NULL;

	HF_LOCKED(&packs->lock);
	for (size_t i = 0; i < packs->count; i++) {
		packs->packs[i]->sealed |= packs->packs[i]->finished > 0;
		if (packs->packs[i]->waits && packs->packs[i]->sealed && !packs->packs[i]->writers)
			found = packs->packs[i];
	}
	return found ? hf_pack_ref(found) : NULL;
}

/* ---- putting packs together ---- */

struct merger {
	struct exchange x;
	struct hf_pack **others; /* that stay; a reference each */
	size_t other_count;
};

static bool is_small(const struct hf_pack *pack)
{
	return !pack->waits && pack->count < HF_PACK_FILES_MAX / 2 && pack->size < HF_PACK_BYTES_MAX / 2;
}

/* With the lock: those that are less than half full, as many as fit into one. HF_NOTE_END: that is not worth it. */
static int choose_packs(struct hf_packs *packs, struct merger *m)
{
	size_t total = 0, small = 0;
	uint64_t bytes = 0;

	m->x.olds = calloc(packs->count + 1, sizeof(*m->x.olds));
	m->others = calloc(packs->count + 1, sizeof(*m->others));
	if (!m->x.olds || !m->others)
		return HF_ERR_NOMEM;
	for (size_t i = 0; i < packs->count; i++) {
		struct hf_pack *pack = hf_pack_ref(packs->packs[i]);

		small += is_small(pack);
		if (!is_small(pack) || total + pack->count > HF_PACK_FILES_MAX ||
		    bytes + pack->size > HF_PACK_BYTES_MAX) {
			m->others[m->other_count++] = pack;
			continue;
		}
		m->x.olds[m->x.old_count++] = pack;
		total += pack->count;
		bytes += pack->size;
	}
	return small < MERGE_MANY || m->x.old_count < 2 ? HF_NOTE_END : 0;
}

/* A pack that stays has a newer one, which the new pack would hide. */
static bool is_outdated(const struct merger *m, const struct hf_pack *from, const struct hf_pack_key *key)
{
	for (size_t i = 0; i < m->other_count; i++)
		if (m->others[i]->sequence > from->sequence && hf_pack_find(m->others[i], key))
			return true;
	return false;
}

/* With the lock: an entry of the pack as it is to be copied, with its new part in making; 0: it is not to be. */
static uint32_t take_entry(const struct merger *m, const struct hf_pack *from, size_t i, int *ret_err)
{
	const struct hf_pack_entry *entry = &from->entries[i];
	struct hf_pack_entry *to;

	if (!entry->part || is_outdated(m, from, &entry->key))
		return 0;
	to = hf_pack_add(m->x.made, &entry->key);
	if (!to)
		*ret_err = HF_ERR_NOMEM;
	if (!to || to->part)
		return 0;
	to->part = ++m->x.made->last_part;
	to->bytes = entry->bytes;
	return entry->part;
}

/* What is damaged is left out. */
static int copy_files(struct hf_packs *packs, const struct merger *m, struct hf_pack *from)
{
	struct hf_pack *made = m->x.made;
	struct hf_pack_copier copier;
	int err;

	HF_LOCKED(&from->lock);
	err = hf_pack_connect(from);
	if (err)
		return err == HF_ERR_STATE ? 0 : err;
	err = hf_pack_copier_init(&copier, from, made);
	for (size_t i = 0; i < from->count && !err; i++) {
		uint32_t part;

		pthread_mutex_lock(&packs->lock);
		part = take_entry(m, from, i, &err);
		pthread_mutex_unlock(&packs->lock);
		if (part && (err = hf_pack_copy(&copier, part, made->last_part)) == HF_ERR_STATE) {
			hf_pack_find(made, &from->entries[i].key)->part = 0;
			err = hf_pack_drop(made, made->last_part);
		}
	}
	hf_pack_copier_fini(&copier);
	return err;
}

static int merge(struct hf_packs *packs)
{
	struct merger m = {.others = NULL};
	int err;

	pthread_mutex_lock(&packs->lock);
	err = choose_packs(packs, &m);
	pthread_mutex_unlock(&packs->lock);
	/* Newer than all that it is made of, and older than what was written meanwhile. */
	if (!err)
		err = hf_pack_new(m.x.olds[0]->sequence + 1, &m.x.made);
	for (size_t i = 0; i < m.x.old_count && !err; i++)
		err = copy_files(packs, &m, m.x.olds[i]);
	if (!err)
		err = publish(packs, &m.x);
	for (size_t i = 0; i < m.x.old_count; i++) {
		if (!err)
			hf_dir_entry_remove_open(packs->dirfd, m.x.olds[i]->name, m.x.olds[i]->fd);
		hf_pack_close(m.x.olds[i]);
	}
	for (size_t i = 0; i < m.other_count; i++)
		hf_pack_close(m.others[i]);
	hf_pack_close(m.x.made);
	free(m.x.olds);
	free(m.others);
	/* Another process does the same. */
	return err > 0 || err == HF_ERR_BUSY ? 0 : err;
}

int hf_packs_flush(struct hf_packs *packs)
{
	struct hf_pack *pack;
	int err = 0;

	HF_LOCKED(&packs->flush_lock);
	while (!err && (pack = next_complete(packs))) {
		err = publish(packs, &(struct exchange){.made = pack, .olds = &pack, .old_count = 1});
		hf_pack_close(pack);
	}
	return err ? err : merge(packs);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Publishing what waits, and putting packs together. With the flush lock held: so nobody else takes a file from those
 * that wait, or a pack away. The other lock is held only where what others see changes.
 */
#include "codecs/base/errors.h"
#include "index/base/lock.h"
#include "index/store/dir_entry.h"
#include "index/store/packs.h"
#include "index/store/packs_internal.h"

#include <stdlib.h>
#include <string.h>

/* So many packs that are not half full are put together. */
enum { MERGE_MANY = 8 };

/* ---- publishing ---- */

/* Files that go into one pack, in the order of their keys. */
struct batch {
	struct hf_waiting **files;
	size_t count;
	uint64_t bytes;
	bool more; /* others wait, too */
};

static const struct hf_pack_entry *batch_entry(void *ctx, size_t i)
{
	return &((struct batch *)ctx)->files[i]->entry;
}

static int batch_read(void *ctx, size_t i, uint8_t **ret_bytes)
{
	const struct hf_waiting *file = ((struct batch *)ctx)->files[i];

	*ret_bytes = malloc(file->entry.size);
	if (!*ret_bytes)
		return HF_ERR_NOMEM;
	memcpy(*ret_bytes, file->bytes, file->entry.size);
	return 0;
}

static int compare_files(const void *a, const void *b)
{
	return hf_pack_key_compare(*(struct hf_waiting *const *)a, *(struct hf_waiting *const *)b);
}

/* Takes a file out of its list. */
static void remove_at(struct hf_packs *packs, struct hf_waiting **at)
{
	struct hf_waiting *file = *at;

	*at = file->next;
	packs->waiting_count--;
	packs->waiting_bytes -= file->entry.size;
	free(file->bytes);
	free(file);
}

static void add_to_batch(struct batch *batch, struct hf_waiting *file)
{
	if (batch->count == HF_PACK_FILES_MAX || batch->bytes + file->entry.size > HF_PACK_BYTES_MAX) {
		batch->more = true;
		return;
	}
	batch->files[batch->count++] = file;
	batch->bytes += file->entry.size;
}

/* As many as fit into a pack. Those that nobody finds any more go. */
static int take_batch(struct hf_packs *packs, struct batch *batch)
{
	int err = 0;

	pthread_mutex_lock(&packs->lock);
	*batch = (struct batch){.files = malloc((packs->waiting_count + 1) * sizeof(*batch->files))};
	if (!batch->files)
		err = HF_ERR_NOMEM;
	for (size_t i = 0; i < HF_WAITING_BUCKETS && !err; i++)
		for (struct hf_waiting **at = &packs->waiting[i]; *at;) {
			if ((*at)->hidden) {
				remove_at(packs, at);
				continue;
			}
			add_to_batch(batch, *at);
			at = &(*at)->next;
		}
	pthread_mutex_unlock(&packs->lock);
	if (!err && batch->count)
		qsort(batch->files, batch->count, sizeof(*batch->files), compare_files);
	return err;
}

/* With the lock: the files are in the pack, and wait no more. What was dropped meanwhile is dropped there. */
static void leave_to_pack(struct hf_packs *packs, const struct batch *batch, const struct hf_pack *pack)
{
	for (size_t i = 0; i < batch->count; i++) {
		struct hf_pack_entry *entry =
			batch->files[i]->hidden ? hf_pack_find(pack, &batch->files[i]->entry.key) : NULL;

		if (entry)
			entry->hidden = true;
		batch->files[i]->hidden = true;
	}
	for (size_t i = 0; i < HF_WAITING_BUCKETS; i++)
		for (struct hf_waiting **at = &packs->waiting[i]; *at;)
			if ((*at)->hidden)
				remove_at(packs, at);
			else
				at = &(*at)->next;
}

static uint64_t next_sequence(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static int publish_batch(struct hf_packs *packs, struct batch *batch)
{
	const struct hf_pack_source source = {
		.count = batch->count, .entry = batch_entry, .read = batch_read, .ctx = batch};
	char name[HF_FILE_NAME_SIZE];
	struct hf_pack *pack;
	int err = hf_pack_write(packs->dirfd, &source, next_sequence(), name);

	if (!err)
		err = hf_packs_open_pack(packs, name, &pack);
	if (err)
		return err;
	HF_LOCKED(&packs->lock);
	pack = hf_packs_add(packs, pack);
	if (pack)
		leave_to_pack(packs, batch, pack);
	return pack ? 0 : HF_ERR_NOMEM;
}

/* *ret_more: there may be more. */
static int publish(struct hf_packs *packs, bool *ret_more)
{
	struct batch batch;
	int err = take_batch(packs, &batch);

	if (!err && batch.count)
		err = publish_batch(packs, &batch);
	*ret_more = batch.more;
	free(batch.files);
	return err;
}

/* ---- putting packs together ---- */

struct merged {
	struct hf_pack_entry entry; /* comes first */
	const struct hf_pack *pack;
};

struct merger {
	struct hf_pack **packs; /* the newest first; a reference each */
	size_t pack_count;
	struct hf_pack **others; /* that stay; likewise */
	size_t other_count;
	struct merged *files;
	size_t count;
};

static const struct hf_pack_entry *merged_entry(void *ctx, size_t i)
{
	return &((struct merger *)ctx)->files[i].entry;
}

static int merged_read(void *ctx, size_t i, uint8_t **ret_bytes)
{
	const struct merged *file = &((struct merger *)ctx)->files[i];

	return hf_pack_read(file->pack, &file->entry, ret_bytes);
}

/* Of one key the newest comes first. */
static int compare_merged(const void *a, const void *b)
{
	const struct merged *x = a, *y = b;
	const int order = hf_pack_key_compare(x, y);

	return order ? order : (x->pack->sequence < y->pack->sequence) - (x->pack->sequence > y->pack->sequence);
}

/* With the lock: those that are less than half full, as many as fit into one. HF_NOTE_END: that is not worth it. */
static int choose_packs(struct hf_packs *packs, struct merger *m)
{
	size_t total = 0, small = 0;
	uint64_t bytes = 0;

	m->packs = calloc(packs->count + 1, sizeof(*m->packs));
	m->others = calloc(packs->count + 1, sizeof(*m->others));
	if (!m->packs || !m->others)
		return HF_ERR_NOMEM;
	for (size_t i = 0; i < packs->count; i++) {
		struct hf_pack *pack = packs->packs[i];
		const bool is_small = pack->count < HF_PACK_FILES_MAX / 2 && pack->size < HF_PACK_BYTES_MAX / 2;

		small += is_small;
		if (!is_small || total + pack->count > HF_PACK_FILES_MAX || bytes + pack->size > HF_PACK_BYTES_MAX) {
			m->others[m->other_count++] = hf_pack_ref(pack);
			continue;
		}
		m->packs[m->pack_count++] = hf_pack_ref(pack);
		total += pack->count;
		bytes += pack->size;
	}
	if (small < MERGE_MANY || m->pack_count < 2)
		return HF_NOTE_END;
	m->files = calloc(total + 1, sizeof *m->files);
	if (!m->files)
		return HF_ERR_NOMEM;
	for (size_t i = 0; i < m->pack_count; i++)
		for (size_t j = 0; j < m->packs[i]->count; j++)
			if (!m->packs[i]->entries[j].hidden)
				m->files[m->count++] =
					(struct merged){.entry = m->packs[i]->entries[j], .pack = m->packs[i]};
	return 0;
}

/* A pack that stays has a newer one, which the new pack would hide. */
static bool is_outdated(const struct merger *m, const struct merged *file)
{
	for (size_t i = 0; i < m->other_count; i++)
		if (m->others[i]->sequence > file->pack->sequence && hf_pack_has(m->others[i], &file->entry.key))
			return true;
	return false;
}

/* Of each key the newest is left. */
static void sort_files(struct merger *m)
{
	size_t n = 0;

	qsort(m->files, m->count, sizeof *m->files, compare_merged);
	for (size_t i = 0; i < m->count; i++)
		if ((!i || hf_pack_key_compare(&m->files[i], &m->files[i - 1])) && !is_outdated(m, &m->files[i]))
			m->files[n++] = m->files[i];
	m->count = n;
}

/* With the lock: what was dropped meanwhile is hidden in the new pack, too. */
static void hide_again(const struct merger *m, const struct hf_pack *merged)
{
	for (size_t i = 0; i < m->count; i++) {
		struct hf_pack_entry *entry = hf_pack_find(m->files[i].pack, &m->files[i].entry.key)
						      ? NULL
						      : hf_pack_find(merged, &m->files[i].entry.key);

		if (entry)
			entry->hidden = true;
	}
}

/* With the lock. Its file is the caller's to remove. */
static void forget_pack(struct hf_packs *packs, const struct hf_pack *pack)
{
	for (size_t i = 0; i < packs->count; i++)
		if (packs->packs[i] == pack) {
			hf_pack_close(packs->packs[i]);
			packs->count--;
			memmove(&packs->packs[i], &packs->packs[i + 1], (packs->count - i) * sizeof(*packs->packs));
			break;
		}
}

static int write_merged(struct hf_packs *packs, struct merger *m)
{
	const struct hf_pack_source source = {.count = m->count, .entry = merged_entry, .read = merged_read, .ctx = m};
	char name[HF_FILE_NAME_SIZE];
	struct hf_pack *pack;
	/* Newer than all that it is made of, and older than what was written meanwhile. */
	int err = hf_pack_write(packs->dirfd, &source, m->packs[0]->sequence + 1, name);

	if (!err)
		err = hf_packs_open_pack(packs, name, &pack);
	if (err)
		return err;
	pthread_mutex_lock(&packs->lock);
	pack = hf_packs_add(packs, pack);
	if (pack) {
		hide_again(m, pack);
		for (size_t i = 0; i < m->pack_count; i++)
			forget_pack(packs, m->packs[i]);
	}
	pthread_mutex_unlock(&packs->lock);
	for (size_t i = 0; pack && i < m->pack_count; i++)
		hf_dir_entry_remove_open(packs->dirfd, m->packs[i]->name, m->packs[i]->fd);
	return pack ? 0 : HF_ERR_NOMEM;
}

static int merge(struct hf_packs *packs)
{
	struct merger m = {0};
	int err;

	pthread_mutex_lock(&packs->lock);
	err = choose_packs(packs, &m);
	pthread_mutex_unlock(&packs->lock);
	if (!err) {
		sort_files(&m);
		err = write_merged(packs, &m);
	}
	for (size_t i = 0; i < m.pack_count; i++)
		hf_pack_close(m.packs[i]);
	for (size_t i = 0; i < m.other_count; i++)
		hf_pack_close(m.others[i]);
	free(m.packs);
	free(m.others);
	free(m.files);
	/* Another process does the same. */
	return err > 0 || err == HF_ERR_BUSY ? 0 : err;
}

int hf_packs_flush(struct hf_packs *packs)
{
	bool more = true;
	int err = 0;

	HF_LOCKED(&packs->flush_lock);
	while (!err && more)
		err = publish(packs, &more);
	if (!err)
		err = merge(packs);
	return err;
}

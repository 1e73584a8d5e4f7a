/* SPDX-License-Identifier: Apache-2.0 */
/* Finding files in packs, be they published or not, and adding files. */
#include "index/store/packs.h"
#include "codecs/base/array.h"
#include "codecs/base/errors.h"
#include "index/base/lock.h"
#include "index/store/disk_file.h"
#include "index/store/packs_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* The files of some two thousand captures, or what memory may be lent to them. */
enum { FULL_FILES = 10240, FULL_BYTES = HF_PACK_BYTES_MAX };

/* So many connections stay open though nobody uses them. */
enum { OPEN_MAX = 32 };

/* The directory is listed again when it changed, but at most so often. */
#define LIST_PAUSE_NS (INT64_C(1) * 1000000000)

int hf_packs_new(int dirfd, const struct hf_sharing *sharing, struct hf_packs **ret_packs)
{
	struct hf_packs *packs = calloc(1, sizeof *packs);

	*ret_packs = NULL;
	if (!packs)
		return HF_ERR_NOMEM;
	packs->dirfd = dirfd;
	packs->sharing = sharing ? *sharing : (struct hf_sharing){.publish = false};
	pthread_mutex_init(&packs->flush_lock, NULL);
	pthread_mutex_init(&packs->lock, NULL);
	pthread_cond_init(&packs->was_listed, NULL);
	*ret_packs = packs;
	return 0;
}

void hf_packs_free(struct hf_packs *packs)
{
	if (!packs)
		return;
	for (size_t i = 0; i < packs->count; i++)
		hf_pack_close(packs->packs[i]);
	free(packs->packs);
	pthread_cond_destroy(&packs->was_listed);
	pthread_mutex_destroy(&packs->lock);
	pthread_mutex_destroy(&packs->flush_lock);
	free(packs);
}

/* ---- which packs there are ---- */

static struct hf_pack *known(const struct hf_packs *packs, const char *name)
{
	for (size_t i = 0; i < packs->count; i++)
		if (strcmp(packs->packs[i]->name, name) == 0)
			return packs->packs[i];
	return NULL;
}

int hf_packs_open_pack(const struct hf_packs *packs, const char *name, struct hf_pack **ret_pack)
{
	int fd, err = hf_disk_file_open(packs->dirfd, &packs->sharing, name, &fd);

	*ret_pack = NULL;
	return err ? err : hf_pack_open(fd, name, ret_pack);
}

/* With the lock, before a connection is opened. Nobody has a reference to a pack that is closed. */
static void close_oldest(struct hf_packs *packs)
{
	struct hf_pack *oldest = NULL;
	size_t open = 0;

	for (size_t i = 0; i < packs->count; i++) {
		struct hf_pack *pack = packs->packs[i];
		const bool idle = !pack->waits && atomic_load_explicit(&pack->references, memory_order_acquire) == 1;

		if (idle && !pack->connection.db)
			continue;
		open++;
		if (idle && (!oldest || pack->used < oldest->used))
			oldest = pack;
	}
	if (open >= OPEN_MAX && oldest)
		hf_connection_close(&oldest->connection);
}

struct hf_pack *hf_packs_add(struct hf_packs *packs, struct hf_pack *pack)
{
	struct hf_pack *same = pack->waits ? NULL : known(packs, pack->name);
	size_t at = packs->count;

	if (same || hf_array_room(&packs->packs, packs->count, sizeof(*packs->packs))) {
		hf_pack_close(pack);
		return same;
	}
	close_oldest(packs);
	for (; at && packs->packs[at - 1]->sequence < pack->sequence; at--)
		packs->packs[at] = packs->packs[at - 1];
	packs->packs[at] = pack;
	packs->count++;
	return pack;
}

static bool is_pack_name(const char *name)
{
	const size_t n = HF_HEX_SIZE - 1;

	return strspn(name, "0123456789abcdef") == n && strcmp(name + n, ".hfp") == 0;
}

/* A name begins with the sequence. */
static int by_age(const void *a, const void *b)
{
	return strcmp(*(char *const *)b, *(char *const *)a);
}

/* Of all packs, the newest first. */
static char **pack_names(DIR *dir, size_t *ret_count)
{
	struct dirent *entry;
	char **names = NULL;
	size_t n = 0;

	while ((entry = readdir(dir)))
		if (is_pack_name(entry->d_name) && !hf_array_room(&names, n, sizeof(*names)) &&
		    (names[n] = strdup(entry->d_name)))
			n++;
	if (n)
		qsort(names, n, sizeof *names, by_age);
	*ret_count = n;
	return names;
}

/* An older version's: it is not even opened, for that counts as use (--index-limit). */
static bool is_old(const struct hf_packs *packs, const char *name)
{
	int fd;
	const bool old = !hf_disk_file_look(packs->dirfd, &packs->sharing, name, &fd) && hf_pack_is_old(fd);

	if (fd >= 0)
		close(fd);
	return old;
}

/* Without the lock. A pack that cannot be read is passed over: what is in it is made again. */
static void learn(struct hf_packs *packs, const char *name)
{
	struct hf_pack *pack;
	bool new_one;

	pthread_mutex_lock(&packs->lock);
	new_one = !known(packs, name);
	pthread_mutex_unlock(&packs->lock);
	if (!new_one || is_old(packs, name) || hf_packs_open_pack(packs, name, &pack))
		return;
	pthread_mutex_lock(&packs->lock);
	hf_packs_add(packs, pack);
	pthread_mutex_unlock(&packs->lock);
}

/* Without the lock. Whoever looks meanwhile finds the newest of a file, for the newest packs come first. */
static void list_directory(struct hf_packs *packs)
{
	int fd = openat(packs->dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	size_t n = 0;
	char **names = dir ? pack_names(dir, &n) : NULL;

	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
	for (size_t i = 0; i < n; i++) {
		learn(packs, names[i]);
		free(names[i]);
	}
	free(names);
}

/* Whether what changes from now on may get that time, too: clocks of file systems have a grain, of two seconds at most. */
static bool is_young(const struct timespec *time)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec - time->tv_sec <= 2;
}

/* With the lock, which it leaves meanwhile: others may have published packs. Whether any of them may be new to the
 * caller. */
static bool look_for_packs(struct hf_packs *packs)
{
	struct stat st;

	if (packs->listing) {
		while (packs->listing)
			pthread_cond_wait(&packs->was_listed, &packs->lock);
		return true;
	}
	if ((packs->listed_ns && hf_now_ns() - packs->listed_ns < LIST_PAUSE_NS) || fstat(packs->dirfd, &st) < 0 ||
	    (packs->listed_ns && st.st_mtim.tv_sec == packs->listed.tv_sec &&
	     st.st_mtim.tv_nsec == packs->listed.tv_nsec))
		return false;
	/* Then it is listed once more. */
	if (is_young(&st.st_mtim))
		st.st_mtim = (struct timespec){.tv_nsec = -1};
	packs->listing = true;
	pthread_mutex_unlock(&packs->lock);
	list_directory(packs);
	pthread_mutex_lock(&packs->lock);
	packs->listed = st.st_mtim;
	packs->listed_ns = hf_now_ns();
	packs->listing = false;
	pthread_cond_broadcast(&packs->was_listed);
	return true;
}

/* ---- reading ---- */

/* With the lock: the newest that there is. */
static int find(struct hf_packs *packs, struct hf_packed *file)
{
	for (size_t i = 0; i < packs->count; i++) {
		struct hf_pack *pack = packs->packs[i];
		const struct hf_pack_entry *entry = hf_pack_find(pack, &file->key);

		if (!entry || !entry->part)
			continue;
		if (atomic_load_explicit(&pack->references, memory_order_acquire) == 1 && !pack->connection.db)
			close_oldest(packs);
		pack->used = ++packs->turns;
		file->pack = hf_pack_ref(pack);
		file->part = entry->part;
		file->bytes = entry->bytes;
		return 0;
	}
	return HF_ERR_NOT_FOUND;
}

int hf_packs_find(struct hf_packs *packs, const char *name, struct hf_packed *ret_file)
{
	int err;

	*ret_file = (struct hf_packed){.pack = NULL};
	if (!hf_pack_key_of(name, &ret_file->key))
		return HF_ERR_NOT_FOUND;
	HF_LOCKED(&packs->lock);
	err = find(packs, ret_file);
	if (err && look_for_packs(packs))
		err = find(packs, ret_file);
	return err;
}

void hf_packs_drop(struct hf_packs *packs, const char *name)
{
	struct hf_pack_key key;

	if (!hf_pack_key_of(name, &key))
		return;
	HF_LOCKED(&packs->lock);
	for (size_t i = 0; i < packs->count; i++) {
		struct hf_pack_entry *entry = hf_pack_find(packs->packs[i], &key);

		if (entry)
			entry->part = 0;
	}
}

/* ---- making files: with the lock ---- */

static bool is_full(const struct hf_pack *pack, uint32_t files)
{
	return pack->last_part >= files || pack->bytes >= FULL_BYTES;
}

/* The pack into which files go now; NULL: there is none. */
static struct hf_pack *current(const struct hf_packs *packs)
{
	for (size_t i = 0; i < packs->count; i++)
		if (packs->packs[i]->waits && !packs->packs[i]->sealed)
			return packs->packs[i];
	return NULL;
}

static uint64_t next_sequence(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static int take_current(struct hf_packs *packs, struct hf_pack **ret_pack)
{
	int err = 0;

	*ret_pack = current(packs);
	if (*ret_pack && is_full(*ret_pack, HF_PACK_FILES_MAX)) {
		(*ret_pack)->sealed = true;
		*ret_pack = NULL;
	}
	if (!*ret_pack)
		err = hf_pack_new(next_sequence(), ret_pack);
	else
		return 0;
	if (!err && !(*ret_pack = hf_packs_add(packs, *ret_pack)))
		err = HF_ERR_NOMEM;
	return err;
}

int hf_packs_begin(struct hf_packs *packs, const char *name, struct hf_packed *ret_file)
{
	struct hf_pack_entry *entry;
	struct hf_pack *pack;
	int err;

	*ret_file = (struct hf_packed){.pack = NULL};
	if (!hf_pack_key_of(name, &ret_file->key))
		return HF_ERR_BUG;
	HF_LOCKED(&packs->lock);
	for (size_t i = 0; i < packs->count; i++) {
		entry = packs->packs[i]->waits ? hf_pack_find(packs->packs[i], &ret_file->key) : NULL;
		if (entry && entry->making)
			return HF_ERR_BUSY;
	}
	err = take_current(packs, &pack);
	entry = err ? NULL : hf_pack_add(pack, &ret_file->key);
	if (!entry)
		return err ? err : HF_ERR_NOMEM;
	ret_file->pack = hf_pack_ref(pack);
	ret_file->part = entry->making = ++pack->last_part;
	pack->writers++;
	return 0;
}

void hf_packs_finish(struct hf_packs *packs, const struct hf_packed *file)
{
	struct hf_pack_entry *entry;

	HF_LOCKED(&packs->lock);
	entry = hf_pack_find(file->pack, &file->key);
	entry->part = file->part;
	entry->bytes = file->bytes;
	file->pack->finished++;
	file->pack->bytes += file->bytes;
}

void hf_packs_end(struct hf_packs *packs, struct hf_packed *file)
{
	struct hf_pack *pack = file->pack;
	struct hf_pack_entry *entry;
	bool finished;

	pthread_mutex_lock(&packs->lock);
	entry = hf_pack_find(pack, &file->key);
	finished = entry->part == file->part;
	pthread_mutex_unlock(&packs->lock);
	/* What stays for want of memory takes room, and nobody finds it. */
	if (!finished) {
		pthread_mutex_lock(&pack->lock);
		hf_pack_drop(pack, file->part);
		pthread_mutex_unlock(&pack->lock);
	}
	pthread_mutex_lock(&packs->lock);
	hf_pack_find(pack, &file->key)->making = 0;
	pack->writers--;
	pthread_mutex_unlock(&packs->lock);
	hf_pack_close(pack);
	file->pack = NULL;
}

size_t hf_packs_waiting(struct hf_packs *packs)
{
	size_t n = 0;

	HF_LOCKED(&packs->lock);
	for (size_t i = 0; i < packs->count; i++)
		n += packs->packs[i]->waits ? packs->packs[i]->finished : 0;
	return n;
}

bool hf_packs_is_full(struct hf_packs *packs)
{
	const struct hf_pack *pack;

	HF_LOCKED(&packs->lock);
	pack = current(packs);
	return pack && is_full(pack, FULL_FILES);
}

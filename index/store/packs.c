/* SPDX-License-Identifier: Apache-2.0 */
/* Finding files in packs and among those that wait, and adding those. */
#include "codecs/base/array.h"
#include "codecs/base/bytes.h"
#include "codecs/base/errors.h"
#include "index/base/lock.h"
#include "index/store/disk_file.h"
#include "index/store/memory_file.h"
#include "index/store/packs.h"
#include "index/store/packs_internal.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* The files of some two thousand captures, of a kilobyte each, or what memory may be lent to them. */
enum { FULL_FILES = 10240, FULL_BYTES = 16 << 20 };

/* The directory is listed again when it changed, but at most so often. */
#define LIST_PAUSE_NS (INT64_C(1) * 1000000000)

/* Directories are known by their descriptors everywhere in this folder: so are these. */
static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static struct hf_packs *list;

int hf_packs_new(int dirfd, struct hf_packs **ret_packs)
{
	struct hf_packs *packs = calloc(1, sizeof *packs);

	*ret_packs = NULL;
	if (!packs)
		return HF_ERR_NOMEM;
	packs->dirfd = dirfd;
	packs->own_fd = hf_memory_file_new();
	if (packs->own_fd < 0) {
		free(packs);
		return HF_ERR_NOMEM;
	}
	pthread_mutex_init(&packs->flush_lock, NULL);
	pthread_mutex_init(&packs->lock, NULL);
	pthread_cond_init(&packs->was_listed, NULL);
	pthread_mutex_lock(&list_lock);
	packs->next = list;
	list = packs;
	pthread_mutex_unlock(&list_lock);
	*ret_packs = packs;
	return 0;
}

static void free_waiting(struct hf_waiting *file)
{
	while (file) {
		struct hf_waiting *next = file->next;

		free(file->bytes);
		free(file);
		file = next;
	}
}

void hf_packs_free(struct hf_packs *packs)
{
	if (!packs)
		return;
	pthread_mutex_lock(&list_lock);
	for (struct hf_packs **at = &list; *at; at = &(*at)->next)
		if (*at == packs) {
			*at = packs->next;
			break;
		}
	pthread_mutex_unlock(&list_lock);
	for (size_t i = 0; i < packs->count; i++)
		hf_pack_close(packs->packs[i]);
	for (size_t i = 0; i < HF_WAITING_BUCKETS; i++)
		free_waiting(packs->waiting[i]);
	free(packs->packs);
	free(packs->making);
	close(packs->own_fd);
	pthread_cond_destroy(&packs->was_listed);
	pthread_mutex_destroy(&packs->lock);
	pthread_mutex_destroy(&packs->flush_lock);
	free(packs);
}

int hf_packs_fd(const struct hf_packs *packs)
{
	return packs->own_fd;
}

int hf_packs_dirfd(const struct hf_packs *packs)
{
	return packs->dirfd;
}

struct hf_packs *hf_packs_of(int fd, bool *ret_own)
{
	struct hf_packs *found;

	pthread_mutex_lock(&list_lock);
	for (found = list; found && found->own_fd != fd && found->dirfd != fd; found = found->next)
		;
	pthread_mutex_unlock(&list_lock);
	*ret_own = found && found->own_fd == fd;
	return found;
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
	int fd, err = hf_disk_file_open(packs->dirfd, name, &fd);

	*ret_pack = NULL;
	return err ? err : hf_pack_open(fd, name, ret_pack);
}

struct hf_pack *hf_packs_add(struct hf_packs *packs, struct hf_pack *pack)
{
	struct hf_pack *same = known(packs, pack->name);
	size_t at = packs->count;

	if (same || hf_array_room(&packs->packs, packs->count, sizeof(*packs->packs))) {
		hf_pack_close(pack);
		return same;
	}
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

/* Without the lock. A pack that cannot be read is passed over: what is in it is made again. */
static void list_directory(struct hf_packs *packs)
{
	int fd = openat(packs->dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!dir && fd >= 0)
		close(fd);
	while (dir && (entry = readdir(dir))) {
		struct hf_pack *pack;
		bool new_one;

		if (!is_pack_name(entry->d_name))
			continue;
		pthread_mutex_lock(&packs->lock);
		new_one = !known(packs, entry->d_name);
		pthread_mutex_unlock(&packs->lock);
		if (!new_one || hf_packs_open_pack(packs, entry->d_name, &pack))
			continue;
		pthread_mutex_lock(&packs->lock);
		hf_packs_add(packs, pack);
		pthread_mutex_unlock(&packs->lock);
	}
	if (dir)
		closedir(dir);
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

/* ---- reading: with the lock where nothing else is said ---- */

static struct hf_waiting **bucket_of(struct hf_packs *packs, const struct hf_pack_key *key)
{
	return &packs->waiting[(hf_get64(key->bytes) ^ hf_get64(key->bytes + 16)) % HF_WAITING_BUCKETS];
}

/* The newest. */
static struct hf_waiting *find_waiting(struct hf_packs *packs, const struct hf_pack_key *key)
{
	struct hf_waiting *file = *bucket_of(packs, key);

	while (file && (file->hidden || hf_pack_key_compare(&file->entry.key, key)))
		file = file->next;
	return file;
}

/* The newest pack of those with a smaller sequence that has the file: a reference, or NULL. */
static struct hf_pack *find_pack(struct hf_packs *packs, const struct hf_pack_key *key, uint64_t below,
				 struct hf_pack_entry *ret_entry)
{
	for (size_t i = 0; i < packs->count; i++) {
		const struct hf_pack_entry *entry =
			packs->packs[i]->sequence < below ? hf_pack_find(packs->packs[i], key) : NULL;

		if (entry) {
			*ret_entry = *entry;
			return hf_pack_ref(packs->packs[i]);
		}
	}
	return NULL;
}

/* It leaves the lock to read. The newest that is whole; HF_ERR_STATE: none is. */
static int read_packed(struct hf_packs *packs, const struct hf_pack_key *key, uint8_t **ret_bytes, size_t *ret_size)
{
	struct hf_pack_entry entry;
	uint64_t below = UINT64_MAX;
	struct hf_pack *pack;
	int err = HF_ERR_NOT_FOUND;

	while ((err == HF_ERR_NOT_FOUND || err == HF_ERR_STATE) && (pack = find_pack(packs, key, below, &entry))) {
		pthread_mutex_unlock(&packs->lock);
		below = pack->sequence;
		*ret_size = entry.size;
		err = hf_pack_read(pack, &entry, ret_bytes);
		hf_pack_close(pack);
		pthread_mutex_lock(&packs->lock);
	}
	return err;
}

static int find(struct hf_packs *packs, const struct hf_pack_key *key, uint8_t **ret_bytes, size_t *ret_size)
{
	const struct hf_waiting *file = find_waiting(packs, key);

	if (!file)
		return read_packed(packs, key, ret_bytes, ret_size);
	*ret_size = file->entry.size;
	*ret_bytes = malloc(*ret_size);
	if (!*ret_bytes)
		return HF_ERR_NOMEM;
	memcpy(*ret_bytes, file->bytes, *ret_size);
	return 0;
}

int hf_packs_read(struct hf_packs *packs, const char *name, uint8_t **ret_bytes, size_t *ret_size)
{
	struct hf_pack_key key;
	int err;

	*ret_bytes = NULL;
	*ret_size = 0;
	if (!hf_pack_key_of(name, &key))
		return HF_ERR_NOT_FOUND;
	HF_LOCKED(&packs->lock);
	err = find(packs, &key, ret_bytes, ret_size);
	if (err == HF_ERR_NOT_FOUND && look_for_packs(packs))
		err = find(packs, &key, ret_bytes, ret_size);
	return err;
}

void hf_packs_drop(struct hf_packs *packs, const char *name)
{
	struct hf_pack_key key;
	struct hf_waiting *file;

	if (!hf_pack_key_of(name, &key))
		return;
	HF_LOCKED(&packs->lock);
	while ((file = find_waiting(packs, &key)))
		file->hidden = true;
	for (size_t i = 0; i < packs->count; i++) {
		struct hf_pack_entry *entry = hf_pack_find(packs->packs[i], &key);

		if (entry)
			entry->hidden = true;
	}
}

/* ---- making files ---- */

static struct hf_pack_key *find_making(struct hf_packs *packs, const struct hf_pack_key *key)
{
	for (size_t i = 0; i < packs->making_count; i++)
		if (!hf_pack_key_compare(&packs->making[i], key))
			return &packs->making[i];
	return NULL;
}

int hf_packs_begin(struct hf_packs *packs, const char *name)
{
	struct hf_pack_key key;
	int err = 0;

	if (!hf_pack_key_of(name, &key))
		return HF_ERR_BUG;
	HF_LOCKED(&packs->lock);
	if (find_making(packs, &key))
		err = HF_ERR_BUSY;
	else
		err = hf_array_room(&packs->making, packs->making_count, sizeof *packs->making);
	if (!err)
		packs->making[packs->making_count++] = key;
	return err;
}

int hf_packs_finish(struct hf_packs *packs, const char *name, uint8_t *bytes, size_t size)
{
	struct hf_waiting *file = calloc(1, sizeof *file), *older, **bucket;

	if (!file || !hf_pack_key_of(name, &file->entry.key)) {
		free(bytes);
		free(file);
		return file ? HF_ERR_BUG : HF_ERR_NOMEM;
	}
	file->bytes = bytes;
	file->entry.size = (uint32_t)size;
	file->entry.index = name[strlen(name) - 1] == 'i';
	HF_LOCKED(&packs->lock);
	older = find_waiting(packs, &file->entry.key);
	if (older)
		older->hidden = true;
	bucket = bucket_of(packs, &file->entry.key);
	file->next = *bucket;
	*bucket = file;
	packs->waiting_count++;
	packs->waiting_bytes += size;
	return 0;
}

void hf_packs_end(struct hf_packs *packs, const char *name)
{
	struct hf_pack_key key, *making;

	if (!hf_pack_key_of(name, &key))
		return;
	HF_LOCKED(&packs->lock);
	making = find_making(packs, &key);
	if (making)
		*making = packs->making[--packs->making_count];
}

size_t hf_packs_waiting(struct hf_packs *packs)
{
	HF_LOCKED(&packs->lock);
	return packs->waiting_count;
}

bool hf_packs_is_full(struct hf_packs *packs)
{
	HF_LOCKED(&packs->lock);
	return packs->waiting_count >= FULL_FILES || packs->waiting_bytes >= FULL_BYTES;
}

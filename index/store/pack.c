/* SPDX-License-Identifier: Apache-2.0 */
/* Reading packs. */
#include "index/store/pack.h"

#include "codecs/base/bytes.h"
#include "index/base/fault.h"
#include "index/store/pack_format.h"
#include "index/store/spool_format.h"
#include "index/table/db.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>

static int digit_of(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool hf_pack_key_of(const char *name, struct hf_pack_key *ret_key)
{
	const size_t n = strlen(name);

	if (n < HF_HEX_SIZE + 3 || (strcmp(name + n - 4, ".hfi") != 0 && strcmp(name + n - 4, ".hfv") != 0))
		return false;
	for (size_t i = 0; i < 16; i++) {
		const int high = digit_of(name[2 * i]), low = digit_of(name[2 * i + 1]);

		if (high < 0 || low < 0)
			return false;
		ret_key->bytes[i] = (uint8_t)(high << 4 | low);
	}
	hf_put64(ret_key->bytes + 16, XXH3_64bits(name + 32, n - 32));
	return true;
}

int hf_pack_key_compare(const void *a, const void *b)
{
	return memcmp(a, b, HF_PACK_KEY_SIZE);
}

bool hf_pack_is_ours(int fd)
{
	uint8_t magic[8];

	return hf_spool_read_at(fd, 0, magic, sizeof magic) == 0 && memcmp(magic, HF_PACK_MAGIC, sizeof magic) == 0;
}

bool hf_pack_is_newer(int fd)
{
	uint8_t bytes[HF_PACK_HEAD_SIZE];
	struct hf_pack_head head;

	return hf_spool_read_at(fd, 0, bytes, sizeof bytes) == 0 && hf_pack_head_get(bytes, &head) &&
	       head.version > HF_SCHEMA_VERSION;
}

/* Bytes of the file with that sum, for free(). */
static int read_block(int fd, uint64_t offset, size_t n, uint64_t seed, uint64_t sum, uint8_t **ret_bytes)
{
	int err;

	*ret_bytes = malloc(n ? n : 1);
	if (!*ret_bytes)
		return HF_ERR_NOMEM;
	err = hf_spool_read_at(fd, offset, *ret_bytes, n);
	if (!err && XXH3_64bits_withSeed(*ret_bytes, n, seed) != sum)
		err = HF_ERR_STATE;
	if (err) {
		free(*ret_bytes);
		*ret_bytes = NULL;
	}
	return err;
}

static uint64_t files_offset(const struct hf_pack_head *head)
{
	return HF_PACK_HEAD_SIZE + (uint64_t)head->count * HF_PACK_ENTRY_SIZE + head->samples_packed;
}

static bool makes_sense(const struct hf_pack *pack, const struct hf_pack_entry *entry, uint64_t from)
{
	return entry->size && entry->size <= HF_PACK_FILE_MAX && entry->offset >= from && entry->offset <= pack->size &&
	       entry->packed <= pack->size - entry->offset && entry->packed <= ZSTD_COMPRESSBOUND(HF_PACK_FILE_MAX) &&
	       (entry == pack->entries || hf_pack_key_compare(entry - 1, entry) < 0);
}

static int read_entries(struct hf_pack *pack, const struct hf_pack_head *head)
{
	uint8_t *bytes;
	int err = read_block(pack->fd, HF_PACK_HEAD_SIZE, (size_t)head->count * HF_PACK_ENTRY_SIZE, 0,
			     head->entries_sum, &bytes);

	if (err)
		return err;
	pack->entries = calloc(head->count ? head->count : 1, sizeof *pack->entries);
	if (!pack->entries)
		err = HF_ERR_NOMEM;
	for (pack->count = 0; !err && pack->count < head->count; pack->count++) {
		struct hf_pack_entry *entry = &pack->entries[pack->count];

		hf_pack_entry_get(bytes + pack->count * HF_PACK_ENTRY_SIZE, entry);
		if (!makes_sense(pack, entry, files_offset(head)))
			err = HF_ERR_STATE;
	}
	free(bytes);
	return err;
}

static int read_samples(struct hf_pack *pack, const struct hf_pack_head *head)
{
	const size_t size = (size_t)head->sample_size[0] + head->sample_size[1];
	uint8_t *packed;
	int err = read_block(pack->fd, HF_PACK_HEAD_SIZE + (uint64_t)head->count * HF_PACK_ENTRY_SIZE,
			     head->samples_packed, 0, head->samples_sum, &packed);

	if (err)
		return err;
	memcpy(pack->sample_size, head->sample_size, sizeof pack->sample_size);
	pack->samples = malloc(size + 1);
	if (!pack->samples)
		err = HF_ERR_NOMEM;
	else if (ZSTD_decompress(pack->samples, size, packed, head->samples_packed) != size)
		err = HF_ERR_STATE;
	free(packed);
	return err;
}

static int read_all(struct hf_pack *pack)
{
	uint8_t bytes[HF_PACK_HEAD_SIZE];
	struct hf_pack_head head;
	struct stat st;
	int err = fstat(pack->fd, &st) < 0 ? hf_fault_set_fd("reading", pack->fd, errno)
					   : hf_spool_read_at(pack->fd, 0, bytes, sizeof bytes);

	if (err)
		return err;
	if (!hf_pack_head_get(bytes, &head) || head.version != HF_SCHEMA_VERSION || head.size != (uint64_t)st.st_size ||
	    head.count > HF_PACK_FILES_MAX || head.sample_size[0] > HF_PACK_SAMPLE_MAX ||
	    head.sample_size[1] > HF_PACK_SAMPLE_MAX ||
	    head.samples_packed > ZSTD_COMPRESSBOUND(2 * HF_PACK_SAMPLE_MAX))
		return HF_ERR_STATE;
	pack->size = head.size;
	pack->sequence = head.sequence;
	err = read_entries(pack, &head);
	return err ? err : read_samples(pack, &head);
}

int hf_pack_open(int fd, const char *name, struct hf_pack **ret_pack)
{
	struct hf_pack *pack = calloc(1, sizeof *pack);
	int err;

	*ret_pack = NULL;
	if (!pack) {
		close(fd);
		return HF_ERR_NOMEM;
	}
	pack->fd = fd;
	pack->references = 1;
	snprintf(pack->name, sizeof pack->name, "%s", name);
	err = read_all(pack);
	if (err)
		hf_pack_close(pack);
	else
		*ret_pack = pack;
	return err;
}

struct hf_pack *hf_pack_ref(struct hf_pack *pack)
{
	atomic_fetch_add_explicit(&pack->references, 1, memory_order_relaxed);
	return pack;
}

void hf_pack_close(struct hf_pack *pack)
{
	if (!pack || atomic_fetch_sub_explicit(&pack->references, 1, memory_order_acq_rel) > 1)
		return;
	close(pack->fd);
	free(pack->samples);
	free(pack->entries);
	free(pack);
}

static struct hf_pack_entry *entry_of(const struct hf_pack *pack, const struct hf_pack_key *key)
{
	return pack->count ? bsearch(key, pack->entries, pack->count, sizeof *pack->entries, hf_pack_key_compare)
			   : NULL;
}

bool hf_pack_has(const struct hf_pack *pack, const struct hf_pack_key *key)
{
	return entry_of(pack, key);
}

struct hf_pack_entry *hf_pack_find(const struct hf_pack *pack, const struct hf_pack_key *key)
{
	struct hf_pack_entry *entry = entry_of(pack, key);

	return entry && !entry->hidden ? entry : NULL;
}

int hf_pack_read(const struct hf_pack *pack, const struct hf_pack_entry *entry, uint8_t **ret_bytes)
{
	uint8_t *packed = NULL;
	int err;

	*ret_bytes = malloc(entry->size);
	err = *ret_bytes ? read_block(pack->fd, entry->offset, entry->packed, entry->offset, entry->sum, &packed)
			 : HF_ERR_NOMEM;
	if (!err && ZSTD_decompress(*ret_bytes, entry->size, packed, entry->packed) != entry->size)
		err = HF_ERR_STATE;
	if (!err) {
		hf_pack_differ(*ret_bytes, entry, pack->samples, pack->sample_size);
	} else {
		free(*ret_bytes);
		*ret_bytes = NULL;
	}
	free(packed);
	return err;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Writing a pack: it is made in memory, for it is a few megabytes at most, and written in one go. */
#include "codecs/base/array.h"
#include "index/base/fault.h"
#include "index/store/disk_file.h"
#include "index/store/pack.h"
#include "index/store/pack_format.h"
#include "index/table/db.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>

/* What files differ in is zeros, nearly all of it; better levels gain little there, and clearing a larger table for each
 * file costs more than compressing it. */
enum { LEVEL = 1, HASH_LOG = 10 };

struct writer {
	const struct hf_pack_source *source;
	struct hf_pack_head head;
	struct hf_pack_entry *entries; /* head.count of them are in the pack */
	uint8_t *samples, *packed_samples;
	ZSTD_CCtx *zstd;
	uint8_t *files; /* behind the samples */
	size_t used, room;
};

/* The first file of its kind that can be read. */
static int add_sample(struct writer *w, bool index)
{
	for (size_t i = 0; i < w->source->count; i++) {
		const struct hf_pack_entry *entry = w->source->entry(w->source->ctx, i);
		uint32_t n = entry->size < HF_PACK_SAMPLE_MAX ? entry->size : HF_PACK_SAMPLE_MAX;
		uint8_t *bytes;
		int err = entry->index == index ? w->source->read(w->source->ctx, i, &bytes) : HF_ERR_STATE;

		if (err == HF_ERR_STATE)
			continue;
		if (err)
			return err;
		memcpy(w->samples + w->head.sample_size[0], bytes, n);
		w->head.sample_size[index ? 0 : 1] = n;
		free(bytes);
		return 0;
	}
	return 0;
}

static int make_samples(struct writer *w)
{
	const size_t room = ZSTD_COMPRESSBOUND(2 * HF_PACK_SAMPLE_MAX);
	size_t n;
	int err;

	w->samples = malloc(2 * HF_PACK_SAMPLE_MAX);
	w->packed_samples = malloc(room);
	w->entries = calloc(w->source->count ? w->source->count : 1, sizeof *w->entries);
	w->zstd = ZSTD_createCCtx();
	if (!w->samples || !w->packed_samples || !w->entries || !w->zstd ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_compressionLevel, LEVEL)) ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_hashLog, HASH_LOG)))
		return HF_ERR_NOMEM;
	err = add_sample(w, true);
	if (!err)
		err = add_sample(w, false);
	if (err)
		return err;
	n = ZSTD_compress2(w->zstd, w->packed_samples, room, w->samples,
			   (size_t)w->head.sample_size[0] + w->head.sample_size[1]);
	if (ZSTD_isError(n))
		return HF_ERR_NOMEM;
	w->head.samples_packed = (uint32_t)n;
	w->head.samples_sum = XXH3_64bits(w->packed_samples, n);
	return 0;
}

static int add_file(struct writer *w, size_t i)
{
	struct hf_pack_entry *entry = &w->entries[w->head.count];
	uint8_t *bytes;
	size_t n;
	int err = w->source->read(w->source->ctx, i, &bytes);

	if (err)
		return err == HF_ERR_STATE ? 0 : err;
	*entry = *w->source->entry(w->source->ctx, i);
	err = hf_array_reserve(&w->files, w->used + ZSTD_compressBound(entry->size), &w->room, 1);
	if (!err) {
		hf_pack_differ(bytes, entry, w->samples, w->head.sample_size);
		n = ZSTD_compress2(w->zstd, w->files + w->used, w->room - w->used, bytes, entry->size);
		if (ZSTD_isError(n)) {
			err = HF_ERR_NOMEM;
		} else {
			entry->packed = (uint32_t)n;
			entry->offset = w->used;
			w->used += n;
			w->head.count++;
		}
	}
	free(bytes);
	return err;
}

/* Head and entries, now that all places are known. *ret_size bytes for free(). */
static uint8_t *make_front(struct writer *w, size_t *ret_size)
{
	const size_t size = HF_PACK_HEAD_SIZE + (size_t)w->head.count * HF_PACK_ENTRY_SIZE;
	uint8_t *front = malloc(size);

	if (!front)
		return NULL;
	for (size_t i = 0; i < w->head.count; i++) {
		struct hf_pack_entry *entry = &w->entries[i];
		const uint8_t *bytes = w->files + entry->offset;

		entry->offset += size + w->head.samples_packed;
		entry->sum = XXH3_64bits_withSeed(bytes, entry->packed, entry->offset);
		hf_pack_entry_put(entry, front + HF_PACK_HEAD_SIZE + i * HF_PACK_ENTRY_SIZE);
	}
	w->head.version = HF_SCHEMA_VERSION;
	w->head.size = size + w->head.samples_packed + w->used;
	w->head.entries_sum = XXH3_64bits(front + HF_PACK_HEAD_SIZE, size - HF_PACK_HEAD_SIZE);
	hf_pack_head_put(&w->head, front);
	*ret_size = size;
	return front;
}

static int put(int fd, const char *name, const uint8_t *bytes, size_t n, uint64_t *offset)
{
	while (n) {
		ssize_t done = pwrite(fd, bytes, n, (off_t)*offset);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return hf_fault_set("writing", name, errno);
		bytes += done;
		n -= (size_t)done;
		*offset += (uint64_t)done;
	}
	return 0;
}

static int publish(struct writer *w, int dirfd, const uint8_t *front, size_t size, const char *name)
{
	struct hf_part part;
	uint64_t offset = 0;
	int err = hf_disk_part_open(&part, dirfd, name);

	if (err)
		return err;
	if (!(err = hf_disk_part_reset(&part)) && !(err = put(part.fd, part.part, front, size, &offset)) &&
	    !(err = put(part.fd, part.part, w->packed_samples, w->head.samples_packed, &offset)) &&
	    !(err = put(part.fd, part.part, w->files, w->used, &offset)))
		err = hf_disk_part_publish(&part);
	if (err)
		hf_disk_part_remove(&part);
	hf_disk_part_close(&part);
	return err;
}

int hf_pack_write(int dirfd, const struct hf_pack_source *source, uint64_t sequence, char name[HF_FILE_NAME_SIZE])
{
	struct writer w = {.source = source, .head.sequence = sequence};
	uint8_t *front = NULL;
	size_t size = 0;
	int err = source->count > HF_PACK_FILES_MAX ? HF_ERR_BUG : make_samples(&w);

	for (size_t i = 0; !err && i < source->count; i++)
		err = add_file(&w, i);
	if (!err && !(front = make_front(&w, &size)))
		err = HF_ERR_NOMEM;
	if (!err) {
		/* The head has the sums of all that tells one pack from another. */
		const XXH128_hash_t hash = XXH3_128bits(front, HF_PACK_HEAD_SIZE);

		snprintf(name, HF_FILE_NAME_SIZE, "%016llx%016llx.hfp", (unsigned long long)hash.high64,
			 (unsigned long long)hash.low64);
		err = publish(&w, dirfd, front, size, name);
	}
	free(front);
	free(w.files);
	free(w.entries);
	free(w.packed_samples);
	free(w.samples);
	ZSTD_freeCCtx(w.zstd);
	return err;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes of a pack, all numbers little-endian:
 *   head      "HARTPACK"; u32 version of the schema; u32 number of files; u64 sequence; u64 bytes of the pack; u32 bytes
 *             of the samples, packed; u32 0; u32 bytes of the sample of a decode index; u32 that of a view table; u64
 *             XXH3-64 of the packed samples; u64 that of the entries; u64 that of all before
 *   entries   of each file, by key: its key; u32 bytes in the pack; u32 bytes of the file, with bit 31 set in that of a
 *             decode index; u64 offset in the pack; u64 XXH3-64 of its bytes in the pack, seeded with the offset
 *   samples   a zstd frame: the first bytes of a decode index, then those of a view table
 *   files     a zstd frame each: its bytes, the first of them exclusive-or those of the sample of its kind
 * Internal to index/.
 */
#ifndef HF_INDEX_PACK_FORMAT_H
#define HF_INDEX_PACK_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

/* Of a file by its name: the capture's 32 digits, as bytes, then a hash of what follows them. */
#define HF_PACK_KEY_SIZE 24
struct hf_pack_key {
	uint8_t bytes[HF_PACK_KEY_SIZE];
};

#define HF_PACK_MAGIC "HARTPACK"
#define HF_PACK_IS_INDEX (UINT32_C(1) << 31)

enum {
	HF_PACK_HEAD_SIZE = 72,
	HF_PACK_ENTRY_SIZE = HF_PACK_KEY_SIZE + 24,
	HF_PACK_SAMPLE_MAX = 64 << 10,
};

struct hf_pack_entry {
	struct hf_pack_key key; /* comes first */
	bool index;		/* a decode index, otherwise a view table */
	bool hidden;		/* it turned out to be of no use */
	uint32_t packed, size;	/* bytes in the pack, and of the file */
	uint64_t offset;
	uint64_t sum; /* XXH3-64 of the packed bytes */
};

struct hf_pack_head {
	uint32_t version, count;
	uint64_t sequence, size;
	uint32_t samples_packed, sample_size[2];
	uint64_t samples_sum, entries_sum;
};

/* A file, or what it differs in, into the other. samples: that of a decode index before that of a view table. */
void hf_pack_differ(uint8_t *bytes, const struct hf_pack_entry *entry, const uint8_t *samples,
		    const uint32_t sample_size[2]);
void hf_pack_head_put(const struct hf_pack_head *head, uint8_t *to);
/* False: it is not one, or damaged. */
bool hf_pack_head_get(const uint8_t *from, struct hf_pack_head *ret_head);
void hf_pack_entry_put(const struct hf_pack_entry *entry, uint8_t *to);
void hf_pack_entry_get(const uint8_t *from, struct hf_pack_entry *ret_entry);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pack with changes: whatever is wrong with it, it is not taken, or a file of it is as it was put in or damaged.
 * Input: a byte, which sums are put right behind the changes, so that what lies behind them is reached; then changes:
 * two bytes where in the pack, one how many bytes, these. None: it is cut there.
 */
#include "codecs/base/bytes.h"
#include "index/store/pack.h"
#include "index/store/pack_format.h"
#include "tests/lib/check.h"
#include "tests/lib/fuzz.h"
#include "tests/lib/indextest.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xxhash.h>

enum { FILES = 6, PACK_MAX = 32768 };
enum { SEAL_FILES = 1, SEAL_SAMPLES = 2, SEAL_ENTRIES = 4, SEAL_HEAD = 8, SEAL_SIZE = 16 };

static const uint32_t sizes[FILES] = {1, 700, 9000, 7, 800, 70000};
static struct hf_pack_entry files[FILES]; /* two of each three are decode indexes */
static uint8_t valid[PACK_MAX], now[PACK_MAX];
static size_t valid_size, now_size;
static int pack_fd = -1;

/* Much of it is as in the other files of its kind. */
static uint8_t byte_at(size_t file, uint32_t i)
{
	return (uint8_t)(i % 50 ? i / 7 : i * (file + 3));
}

static const struct hf_pack_entry *source_entry(void *ctx, size_t i)
{
	(void)ctx;
	return &files[i];
}

static int source_read(void *ctx, size_t i, uint8_t **ret_bytes)
{
	(void)ctx;
	*ret_bytes = malloc(sizes[i]);
	MUST(*ret_bytes);
	for (uint32_t k = 0; k < sizes[i]; k++)
		(*ret_bytes)[k] = byte_at(i, k);
	return 0;
}

static void set_up(void)
{
	const struct hf_pack_source source = {.count = FILES, .entry = source_entry, .read = source_read};
	char name[HF_FILE_NAME_SIZE];
	struct hf_ixtest t;
	ssize_t n;
	int fd;

	for (size_t i = 0; i < FILES; i++) {
		files[i] = (struct hf_pack_entry){.index = i % 3 != 0, .size = sizes[i]};
		memset(files[i].key.bytes, (int)i * 40, HF_PACK_KEY_SIZE);
	}
	hf_ixtest_init(&t);
	CHECK_EQ(hf_pack_write(t.dirfd, &source, 7, name), 0);
	fd = openat(t.dirfd, name, O_RDONLY | O_CLOEXEC);
	CHECK(fd >= 0 && (n = read(fd, valid, PACK_MAX)) > 0 && n < PACK_MAX);
	valid_size = (size_t)n;
	close(fd);
	hf_ixtest_fini(&t);
	pack_fd = memfd_create("pack", MFD_CLOEXEC);
	CHECK(pack_fd >= 0);
}

static void change(const uint8_t *p, const uint8_t *end)
{
	memcpy(now, valid, valid_size);
	now_size = valid_size;
	while (end - p >= 3) {
		const size_t at = (p[0] | p[1] << 8) % (now_size + 1), count = p[2];

		p += 3;
		if (!count)
			now_size = at;
		for (size_t i = 0; i < count && p < end && at + i < now_size; i++)
			now[at + i] = *p++;
	}
}

static bool within(uint64_t at, uint64_t n)
{
	return at <= now_size && n <= now_size - at;
}

static void seal(unsigned what)
{
	const uint64_t count = hf_get32(now + 12), packed = hf_get32(now + 32);
	const uint64_t samples = HF_PACK_HEAD_SIZE + count * HF_PACK_ENTRY_SIZE;
	struct hf_pack_entry entry;

	if (what & SEAL_SIZE)
		hf_put64(now + 24, now_size);
	for (uint64_t i = 0;
	     what & SEAL_FILES && i < count && within(0, HF_PACK_HEAD_SIZE + (i + 1) * HF_PACK_ENTRY_SIZE); i++) {
		uint8_t *at = now + HF_PACK_HEAD_SIZE + i * HF_PACK_ENTRY_SIZE;

		hf_pack_entry_get(at, &entry);
		if (within(entry.offset, entry.packed))
			entry.sum = XXH3_64bits_withSeed(now + entry.offset, entry.packed, entry.offset);
		hf_pack_entry_put(&entry, at);
	}
	if (what & SEAL_SAMPLES && within(samples, packed))
		hf_put64(now + 48, XXH3_64bits(now + samples, packed));
	if (what & SEAL_ENTRIES && within(0, samples))
		hf_put64(now + 56, XXH3_64bits(now + HF_PACK_HEAD_SIZE, samples - HF_PACK_HEAD_SIZE));
	if (what & SEAL_HEAD)
		hf_put64(now + 64, XXH3_64bits(now, 64));
}

/* forged: who can put a sum right can put other bytes there. */
static void look(const struct hf_pack *pack, bool forged)
{
	for (size_t i = 0; i < pack->count; i++) {
		const struct hf_pack_entry *entry = &pack->entries[i];
		uint8_t *bytes;
		const int err = hf_pack_read(pack, entry, &bytes);

		MUST(err == 0 || err == HF_ERR_STATE);
		MUST(hf_pack_find(pack, &entry->key) == entry && entry->size && entry->size <= HF_PACK_FILE_MAX);
		for (uint32_t k = 0; !err && !forged && k < entry->size; k++)
			MUST(bytes[k] == byte_at(i, k));
		free(bytes);
	}
	for (size_t i = 0; !forged && i < FILES; i++)
		MUST(hf_pack_has(pack, &files[i].key));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct hf_pack *pack;
	int err;

	if (pack_fd < 0)
		set_up();
	if (!n || n > 1024)
		return 0;
	change(bytes + 1, bytes + n);
	if (now_size >= HF_PACK_HEAD_SIZE)
		seal(bytes[0]);
	MUST(pwrite(pack_fd, now, now_size, 0) == (ssize_t)now_size && ftruncate(pack_fd, (off_t)now_size) == 0);
	err = hf_pack_open(dup(pack_fd), "x.hfp", &pack);
	MUST(err == 0 || err == HF_ERR_STATE);
	MUST(!err || now_size != valid_size || memcmp(now, valid, now_size) != 0);
	if (err)
		return 0;
	look(pack, bytes[0] & SEAL_HEAD);
	hf_pack_close(pack);
	return 0;
}

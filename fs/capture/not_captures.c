/* SPDX-License-Identifier: Apache-2.0 */
/* Files that are no captures: they are not probed again before they change. */
#include "fs/capture/not_captures.h"
#include "codecs/base/err.h"
#include "fs/archive/stamp.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* A table of fixed size, however many such files an archive has: a newer entry replaces one with the same slot. */
enum { SLOTS = 1 << 16 };

struct hf_not_capture {
	uint64_t hash, size, mtime_ns, ino;
};

int hf_not_captures_init(struct hf_not_captures *not_captures)
{
	pthread_mutex_init(&not_captures->lock, NULL);
	not_captures->entry = calloc(SLOTS, sizeof *not_captures->entry);
	return not_captures->entry ? 0 : HF_ERR_NOMEM;
}

void hf_not_captures_fini(struct hf_not_captures *not_captures)
{
	free(not_captures->entry);
	pthread_mutex_destroy(&not_captures->lock);
}

static struct hf_not_capture entry_of(const char *path, const struct hf_stamp *stamp)
{
	return (struct hf_not_capture){XXH3_64bits(path, strlen(path)), (uint64_t)stamp->size,
				       (uint64_t)stamp->mtime_ns, stamp->ino};
}

bool hf_not_captures_has(struct hf_not_captures *not_captures, const char *path, const struct hf_stamp *stamp)
{
	const struct hf_not_capture entry = entry_of(path, stamp);

	HF_LOCKED(&not_captures->lock);
	return memcmp(&not_captures->entry[entry.hash % SLOTS], &entry, sizeof entry) == 0;
}

void hf_not_captures_add(struct hf_not_captures *not_captures, const char *path, const struct hf_stamp *stamp)
{
	const struct hf_not_capture entry = entry_of(path, stamp);

	HF_LOCKED(&not_captures->lock);
	not_captures->entry[entry.hash % SLOTS] = entry;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Files that are no captures: they need not be looked into again before they change. */
#include "fs/capture/plain.h"
#include "fs/archive/stamp.h"
#include "codecs/base/err.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* A table of fixed size, so that an archive of a million such files costs no more. */
enum { SLOTS = 1 << 16 };

struct hf_plain {
	uint64_t hash, size, mtime_ns, ino;
};

int hf_plain_init(struct hf_plains *plains)
{
	pthread_mutex_init(&plains->lock, NULL);
	plains->plain = calloc(SLOTS, sizeof *plains->plain);
	return plains->plain ? 0 : HF_ERR_NOMEM;
}

void hf_plain_fini(struct hf_plains *plains)
{
	free(plains->plain);
	pthread_mutex_destroy(&plains->lock);
}

static struct hf_plain plain_of(const char *path, const struct hf_stamp *stamp)
{
	return (struct hf_plain){XXH3_64bits(path, strlen(path)), (uint64_t)stamp->size, (uint64_t)stamp->mtime_ns,
				 stamp->ino};
}

bool hf_plain_is_known(struct hf_plains *plains, const char *path, const struct hf_stamp *stamp)
{
	const struct hf_plain plain = plain_of(path, stamp);

	HF_LOCKED(&plains->lock);
	return memcmp(&plains->plain[plain.hash % SLOTS], &plain, sizeof plain) == 0;
}

void hf_plain_remember(struct hf_plains *plains, const char *path, const struct hf_stamp *stamp)
{
	const struct hf_plain plain = plain_of(path, stamp);

	HF_LOCKED(&plains->lock);
	plains->plain[plain.hash % SLOTS] = plain;
}

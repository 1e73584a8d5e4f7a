/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/base/kept.h"

void hf_kepts_init(struct hf_kepts *kepts)
{
	*kepts = (struct hf_kepts){.max_bytes = HF_KEPT_BYTES};
	pthread_mutex_init(&kepts->lock, NULL);
}

void hf_kepts_fini(struct hf_kepts *kepts)
{
	pthread_mutex_destroy(&kepts->lock);
}

static void unlink_kept(struct hf_kepts *kepts, struct hf_kept *kept)
{
	*(kept->newer ? &kept->newer->older : &kepts->newest) = kept->older;
	*(kept->older ? &kept->older->newer : &kepts->oldest) = kept->newer;
}

/* With the lock held, of one that is in no list. */
static void drop(struct hf_kepts *kepts, struct hf_kept *kept)
{
	kepts->bytes -= kept->bytes;
	kept->bytes = 0;
	kept->drop(kept);
}

bool hf_kept_pin(struct hf_kepts *kepts, struct hf_kept *kept)
{
	bool there;

	HF_LOCKED(&kepts->lock);
	there = kept->bytes;
	if (there && !kept->pins++)
		unlink_kept(kepts, kept);
	return there;
}

void hf_kept_made(struct hf_kepts *kepts, struct hf_kept *kept, size_t bytes)
{
	HF_LOCKED(&kepts->lock);
	kept->bytes = bytes ? bytes : 1;
	kept->pins = 1;
	kepts->bytes += kept->bytes;
}

void hf_kept_unpin(struct hf_kepts *kepts, struct hf_kept *kept)
{
	HF_LOCKED(&kepts->lock);
	if (!--kept->pins) {
		kept->newer = NULL;
		kept->older = kepts->newest;
		*(kept->older ? &kept->older->newer : &kepts->oldest) = kept;
		kepts->newest = kept;
	}
	/* The one used last stays, however large it is: it is about to be used again. */
	while (kepts->bytes > kepts->max_bytes && kepts->oldest && kepts->oldest != kepts->newest) {
		struct hf_kept *oldest = kepts->oldest;

		unlink_kept(kepts, oldest);
		drop(kepts, oldest);
	}
}

void hf_kept_end(struct hf_kepts *kepts, struct hf_kept *kept)
{
	HF_LOCKED(&kepts->lock);
	if (kept->bytes) {
		unlink_kept(kepts, kept);
		drop(kepts, kept);
	}
}

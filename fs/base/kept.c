/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/base/kept.h"

void hf_kepts_init(struct hf_kepts *kepts)
{
	*kepts = (struct hf_kepts){.max_bytes = HF_KEPT_BYTES};
	hf_link_init(&kepts->unpinned);
	pthread_mutex_init(&kepts->lock, NULL);
}

void hf_kepts_fini(struct hf_kepts *kepts)
{
	pthread_mutex_destroy(&kepts->lock);
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
		hf_link_remove(&kept->link);
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
	if (!--kept->pins)
		hf_link_add(&kepts->unpinned, &kept->link);
	/* The one used last stays, however large it is: it is about to be used again. */
	while (kepts->bytes > kepts->max_bytes && kepts->unpinned.prev != kepts->unpinned.next) {
		struct hf_kept *oldest = HF_OWNER(kepts->unpinned.prev, struct hf_kept, link);

		hf_link_remove(&oldest->link);
		drop(kepts, oldest);
	}
}

void hf_kept_end(struct hf_kepts *kepts, struct hf_kept *kept)
{
	HF_LOCKED(&kepts->lock);
	if (kept->bytes) {
		hf_link_remove(&kept->link);
		drop(kepts, kept);
	}
}

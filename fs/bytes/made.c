/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/bytes/made.h"

#include "fs/bytes/answer.h"

#include <stdlib.h>
#include <string.h>

void hf_mades_init(struct hf_mades *mades, const struct hf_made_kind *kind, struct hf_common *common)
{
	*mades = (struct hf_mades){.common = common, .kind = kind};
	hf_link_init(&mades->used);
	pthread_mutex_init(&mades->lock, NULL);
	pthread_cond_init(&mades->changed, NULL);
}

static void free_all(const struct hf_mades *mades, const struct hf_link *list)
{
	for (struct hf_link *link = list->next, *next; link != list; link = next) {
		struct hf_made *made = HF_OWNER(link, struct hf_made, used);

		next = link->next;
		mades->kind->free(made);
		free(made);
	}
}

void hf_mades_fini(struct hf_mades *mades)
{
	free_all(mades, &mades->used);
	pthread_mutex_destroy(&mades->lock);
	pthread_cond_destroy(&mades->changed);
}

/* With the lock held. One that failed is for those alone who wait for it. */
static struct hf_made *find(const struct hf_mades *mades, const struct hf_made *key)
{
	for (struct hf_link *link = mades->used.next; link != &mades->used; link = link->next) {
		struct hf_made *made = HF_OWNER(link, struct hf_made, used);

		if (made->capture == key->capture && made->version == key->version && made->hart == key->hart &&
		    !made->err && mades->kind->is_same(made, key))
			return made;
	}
	return NULL;
}

/* With the lock held. To be freed without it, as other locks may be taken for that. */
static void drop_surplus(struct hf_mades *mades, struct hf_link *ret_surplus)
{
	const struct hf_made_kind *kind = mades->kind;

	hf_link_init(ret_surplus);
	for (struct hf_link *link = mades->used.prev, *newer; link != &mades->used; link = newer) {
		struct hf_made *made = HF_OWNER(link, struct hf_made, used);
		const bool surplus = (mades->count > kind->most || mades->bytes > kind->most_bytes) && mades->count > 1;

		newer = link->prev;
		if (made->refs || !(made->err || surplus))
			continue;
		hf_link_remove(link);
		hf_link_add(ret_surplus, link);
		mades->count--;
		mades->bytes -= made->bytes;
	}
}

/* With the lock held, which is released meanwhile. */
static void make_new(struct hf_made *made)
{
	struct hf_mades *mades = made->mades;
	int err;

	pthread_mutex_unlock(&mades->lock);
	err = hf_answer_run(made->capture, made->version, mades->kind->make, made);
	pthread_mutex_lock(&mades->lock);
	made->done = true;
	made->err = err;
	mades->bytes += made->bytes;
	pthread_cond_broadcast(&mades->changed);
}

/* With the lock held. */
static struct hf_made *add(struct hf_mades *mades, const struct hf_made *key)
{
	struct hf_made *made = malloc(mades->kind->size);

	if (!made)
		return NULL;
	memcpy(made, key, mades->kind->size);
	made->mades = mades;
	made->refs = 0;
	made->done = false;
	made->err = 0;
	made->bytes = 0;
	mades->count++;
	return made;
}

int hf_made_get(struct hf_mades *mades, const struct hf_made *key, struct hf_made **ret_made)
{
	struct hf_made *made;
	int err;

	pthread_mutex_lock(&mades->lock);
	made = find(mades, key);
	if (made)
		hf_link_remove(&made->used);
	else
		made = add(mades, key);
	if (made) {
		hf_link_add(&mades->used, &made->used);
		if (!made->refs++ && !made->done)
			make_new(made);
		while (!made->done)
			pthread_cond_wait(&mades->changed, &mades->lock);
	}
	err = made ? made->err : HF_ERR_NOMEM;
	pthread_mutex_unlock(&mades->lock);
	*ret_made = made;
	if (err && made)
		hf_made_put(made);
	return err;
}

void hf_made_ref(struct hf_made *made)
{
	HF_LOCKED(&made->mades->lock);
	made->refs++;
}

void hf_made_put(struct hf_made *made)
{
	struct hf_mades *mades = made->mades;
	struct hf_link surplus;

	pthread_mutex_lock(&mades->lock);
	made->refs--;
	drop_surplus(mades, &surplus);
	pthread_mutex_unlock(&mades->lock);
	free_all(mades, &surplus);
}

void hf_made_refute(struct hf_made *made)
{
	HF_LOCKED(&made->mades->lock);
	made->err = HF_ERR_CHANGED;
}

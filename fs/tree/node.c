/* SPDX-License-Identifier: Apache-2.0 */
#include "fs/tree/node.h"
#include "fs/capture/capture.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

void hf_nodes_init(struct hf_nodes *nodes)
{
	*nodes = (struct hf_nodes){.table = {0}};
	pthread_mutex_init(&nodes->lock, NULL);
}

void hf_nodes_fini(struct hf_nodes *nodes)
{
	HF_CHAINS_EACH(&nodes->table, chain)
	free(HF_OWNER(chain, struct hf_node, in_table));
	hf_chains_free(&nodes->table);
	pthread_mutex_destroy(&nodes->lock);
}

/* Numbers below this are not given: 0 is no inode, 1 the root. */
#define FIRST_NUMBER 16

static uint64_t number_of(const struct hf_node_key *key, uint64_t salt)
{
	uint64_t seed = key->type ? key->type : 1;
	uint64_t hash = XXH3_64bits_withSeed(key->path, strlen(key->path), seed | salt << 32);

	if (key->content)
		hash = XXH3_64bits_withSeed(&key->content, sizeof key->content, hash);
	return hash < FIRST_NUMBER ? hash + FIRST_NUMBER : hash;
}

static bool same_key(const struct hf_node_key *a, const struct hf_node_key *b)
{
	return a->kind == b->kind && a->type == b->type && a->capture == b->capture && a->hart == b->hart &&
	       a->view == b->view && a->content == b->content && a->cut == b->cut && a->first == b->first && a->last == b->last &&
	       strcmp(a->path, b->path) == 0;
}

static struct hf_node *find(struct hf_nodes *nodes, uint64_t ino)
{
	struct hf_chain *chain = hf_chains_find(&nodes->table, ino);

	return chain ? HF_OWNER(chain, struct hf_node, in_table) : NULL;
}

/*
 * The node of key, or NULL and the number it would get. Two paths with one hash: the later gets the next number of
 * its row, and the earlier stays, so that the row has no hole.
 */
static struct hf_node *probe(struct hf_nodes *nodes, const struct hf_node_key *key, bool crowd, uint64_t *ret_ino)
{
	if (!*key->path) {
		*ret_ino = HF_FS_ROOT;
		return find(nodes, HF_FS_ROOT);
	}
	for (uint64_t salt = 0;; salt++) {
		struct hf_node *node = find(nodes, *ret_ino = number_of(key, salt));

		if (!node || same_key(&node->key, key))
			return node;
		node->crowded |= crowd;
	}
}

static struct hf_node *add(struct hf_nodes *nodes, const struct hf_node_key *key, uint64_t ino)
{
	size_t size = strlen(key->path) + 1;
	struct hf_node *node = calloc(1, sizeof *node + size);

	if (!node || hf_chains_add(&nodes->table, &node->in_table, ino)) {
		free(node);
		return NULL;
	}
	node->ino = ino;
	node->key = *key;
	node->key.path = memcpy(node + 1, key->path, size);
	if (key->capture)
		hf_link_add(&key->capture->nodes, &node->of_capture);
	return node;
}

int hf_node_get(struct hf_nodes *nodes, const struct hf_node_key *key, struct hf_node **ret_node)
{
	struct hf_node *node;
	uint64_t ino;

	pthread_mutex_lock(&nodes->lock);
	node = probe(nodes, key, true, &ino);
	if (!node)
		node = add(nodes, key, ino);
	if (node)
		node->refs++;
	pthread_mutex_unlock(&nodes->lock);
	*ret_node = node;
	return node ? 0 : HF_ERR_NOMEM;
}

uint64_t hf_node_number(struct hf_nodes *nodes, const struct hf_node_key *key)
{
	uint64_t ino;

	HF_LOCKED(&nodes->lock);
	probe(nodes, key, false, &ino);
	return ino;
}

struct hf_node *hf_node_ref(struct hf_nodes *nodes, uint64_t ino)
{
	struct hf_node *node;

	HF_LOCKED(&nodes->lock);
	node = find(nodes, ino);
	if (node && !node->refs)
		node = NULL;
	if (node)
		node->refs++;
	return node;
}

/* With the lock held. */
static void drop(struct hf_nodes *nodes, struct hf_node *node, uint64_t count)
{
	node->refs -= count < node->refs ? count : node->refs;
	if (node->refs || node->crowded)
		return;
	hf_chains_remove(&nodes->table, &node->in_table);
	if (node->key.capture)
		hf_link_remove(&node->of_capture);
	free(node);
}

void hf_node_unref(struct hf_nodes *nodes, struct hf_node *node, uint64_t count)
{
	HF_LOCKED(&nodes->lock);
	drop(nodes, node, count);
}

void hf_node_forget(struct hf_nodes *nodes, uint64_t ino, uint64_t count)
{
	struct hf_node *node;

	/* Nobody looks the root up, so there is nothing to give back; its reference is our own. */
	if (ino == HF_FS_ROOT)
		return;
	HF_LOCKED(&nodes->lock);
	node = find(nodes, ino);
	if (node && node->refs)
		drop(nodes, node, count);
}

bool hf_node_keep(struct hf_nodes *nodes, struct hf_node *node, uint64_t stamp)
{
	bool same;

	HF_LOCKED(&nodes->lock);
	same = node->kept == stamp;
	node->kept = stamp;
	return same;
}

void hf_node_unkeep(struct hf_nodes *nodes, struct hf_node *node)
{
	HF_LOCKED(&nodes->lock);
	node->kept = 0;
}

bool hf_node_list(struct hf_nodes *nodes, struct hf_node *node, uint64_t stamp, uint32_t *ret_round)
{
	bool keep;

	HF_LOCKED(&nodes->lock);
	if (node->kept != stamp) {
		node->kept = stamp;
		node->list_round++;
		node->old_lists = node->lists;
		node->mixed = true;
	}
	keep = !node->mixed;
	/* Whoever opens it now empties the cache; from then on it holds this list alone, if nobody adds an older one.
	 */
	node->mixed = node->old_lists > 0;
	node->lists++;
	*ret_round = node->list_round;
	return keep;
}

void hf_node_unlist(struct hf_nodes *nodes, struct hf_node *node, uint32_t round)
{
	HF_LOCKED(&nodes->lock);
	node->lists--;
	if (round != node->list_round)
		node->old_lists--;
}

void hf_node_show(struct hf_nodes *nodes, struct hf_node *node, size_t size)
{
	HF_LOCKED(&nodes->lock);
	node->shown_size = size;
	node->shown++;
}

void hf_node_unshow(struct hf_nodes *nodes, struct hf_node *node)
{
	HF_LOCKED(&nodes->lock);
	node->shown--;
}

uint64_t hf_node_shown(struct hf_nodes *nodes, struct hf_node *node)
{
	HF_LOCKED(&nodes->lock);
	return node->shown ? node->shown_size : HF_NOWHERE;
}

size_t hf_nodes_of(struct hf_nodes *nodes, const struct hf_capture *capture, uint64_t *ino, size_t max)
{
	size_t count = 0;

	HF_LOCKED(&nodes->lock);
	for (struct hf_link *link = capture->nodes.next; link != &capture->nodes; link = link->next, count++)
		if (count < max)
			ino[count] = HF_OWNER(link, struct hf_node, of_capture)->ino;
	return count;
}

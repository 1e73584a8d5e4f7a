/* SPDX-License-Identifier: Apache-2.0 */
#include "index/summary/call_tree.h"

#include "codecs/base/err.h"
#include "codecs/event.h"
#include "index/summary/run.h"

#include <stdlib.h>

int hf_call_tree_init(struct hf_call_tree *t, uint32_t most)
{
	uint32_t slots = 16;

	while (slots < 2 * most)
		slots *= 2;
	*t = (struct hf_call_tree){.most = most, .slot_mask = slots - 1, .count = 1};
	t->nodes = calloc(most, sizeof *t->nodes);
	t->recent = calloc(most, sizeof *t->recent);
	t->slots = calloc(slots, sizeof *t->slots);
	if (t->nodes && t->recent && t->slots)
		return 0;
	hf_call_tree_fini(t);
	return HF_ERR_NOMEM;
}

void hf_call_tree_fini(struct hf_call_tree *t)
{
	free(t->nodes);
	free(t->recent);
	free(t->slots);
	*t = (struct hf_call_tree){0};
}

/* What distinguishes a node from others of its kind and context. */
static uint64_t name_of(const struct hf_call_node *n)
{
	return n->kind == HF_CALL_ROOT ? n->mode : n->function;
}

static uint32_t slot_of(const struct hf_call_tree *t, const struct hf_call_node *key)
{
	uint64_t h = (name_of(key) + key->parent) * UINT64_C(0x9e3779b97f4a7c15);

	h = (h ^ h >> 32 ^ (uint64_t)key->context << 8 ^ key->kind) * UINT64_C(0xd6e8feb86659fd93);
	return (uint32_t)(h >> 32) & t->slot_mask;
}

static bool is_it(const struct hf_call_node *n, const struct hf_call_node *key)
{
	return n->parent == key->parent && n->kind == key->kind && n->context == key->context &&
	       name_of(n) == name_of(key);
}

/* Finds or makes the node of that key. */
static uint32_t find(struct hf_call_tree *t, const struct hf_call_node *key, uint64_t ordinal)
{
	uint32_t slot = slot_of(t, key), n;

	while ((n = t->slots[slot])) {
		if (is_it(&t->nodes[n], key))
			return n;
		slot = (slot + 1) & t->slot_mask;
	}
	if (t->count == t->most)
		return HF_CALL_NO_NODE;
	n = t->slots[slot] = t->count++;
	t->nodes[n] = *key;
	t->nodes[n].first = ordinal;
	return n;
}

int hf_call_tree_fill(struct hf_call_tree *t, const struct hf_call_node *nodes, uint32_t count)
{
	if (!count || count > t->most)
		return HF_ERR_STATE;
	t->nodes[0] = nodes[0];
	for (uint32_t i = 1; i < count; i++) {
		if (find(t, &nodes[i], nodes[i].first) != i)
			return HF_ERR_STATE;
		t->nodes[i] = nodes[i];
	}
	return 0;
}

static void keep_node(struct hf_call_node *n, struct hf_keep *k)
{
	HF_KEEP(k, n->function, UINT64_MAX);
	HF_KEEP(k, n->calls, INT64_MAX);
	HF_KEEP(k, n->own, INT64_MAX);
	HF_KEEP(k, n->first, INT64_MAX);
	HF_KEEP(k, n->last, INT64_MAX);
	HF_KEEP(k, n->cycles, INT64_MAX);
	HF_KEEP(k, n->parent, HF_CALL_NODES);
	HF_KEEP(k, n->context, HF_RUN_OTHERS);
	HF_KEEP(k, n->kind, HF_CALL_KINDS - 1);
	HF_KEEP(k, n->mode, HF_MODE_COUNT - 1);
}

/* Whether the parent comes before it, and only a function has one. */
static bool can_be(const struct hf_call_node *n, uint32_t number)
{
	if (!number)
		return n->kind == HF_CALL_BEYOND && n->parent == HF_CALL_NO_NODE;
	return n->kind == HF_CALL_FUNCTION ? n->parent != HF_CALL_NO_NODE && n->parent < number
					   : n->kind != HF_CALL_BEYOND && n->parent == HF_CALL_NO_NODE;
}

void hf_call_tree_keep(struct hf_call_tree *t, struct hf_keep *k)
{
	uint32_t count = t->count;

	HF_KEEP(k, count, t->most);
	hf_keep_check(k, count != 0);
	for (uint32_t i = 0; i < count && !k->err; i++) {
		struct hf_call_node node = k->load ? (struct hf_call_node){0} : t->nodes[i];

		keep_node(&node, k);
		hf_keep_check(k, can_be(&node, i));
		if (!k->load || k->err)
			continue;
		hf_keep_check(k, !i || find(t, &node, node.first) == i);
		t->nodes[i] = node;
	}
}

static uint32_t entered(struct hf_call_tree *t, uint32_t n, uint64_t ordinal)
{
	struct hf_call_node *node = &t->nodes[n];

	if (!node->calls++)
		node->first = ordinal;
	node->last = ordinal;
	return n;
}

uint32_t hf_call_tree_call(struct hf_call_tree *t, uint32_t parent, uint64_t function, uint64_t ordinal)
{
	const uint32_t recent = t->recent[parent];
	struct hf_call_node key;

	if (parent == HF_CALL_NO_NODE)
		return entered(t, parent, ordinal);
	if (recent && t->nodes[recent].function == function)
		return entered(t, recent, ordinal);
	key = (struct hf_call_node){.kind = HF_CALL_FUNCTION,
				    .parent = parent,
				    .function = function,
				    .context = t->nodes[parent].context};
	t->recent[parent] = find(t, &key, ordinal);
	return entered(t, t->recent[parent], ordinal);
}

uint32_t hf_call_tree_move(struct hf_call_tree *t, uint32_t from, uint64_t function, uint64_t first, uint64_t end)
{
	const uint32_t to = hf_call_tree_call(t, t->nodes[from].parent, function, first);

	t->nodes[from].calls--;
	t->nodes[from].own -= end - first;
	hf_call_tree_add(t, to, end - first, end);
	return to;
}

uint32_t hf_call_tree_root(struct hf_call_tree *t, const struct hf_call_node *root, uint64_t ordinal)
{
	return entered(t, find(t, root, ordinal), ordinal);
}

void hf_call_tree_add(struct hf_call_tree *t, uint32_t n, uint64_t insns, uint64_t ordinal)
{
	struct hf_call_node *node = &t->nodes[n];

	if (!insns)
		return;
	node->own += insns;
	node->last = ordinal - 1;
}

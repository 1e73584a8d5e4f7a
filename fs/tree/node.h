/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inodes: what the kernel has a reference to, by number. The number is a hash of the path and of the file that is
 * there, so that it is the same at the next mount without being stored anywhere. A node says what stands behind a
 * number and holds no data.
 */
#ifndef HF_FS_NODE_H
#define HF_FS_NODE_H

#include "codecs/base/chains.h"
#include "fs/base/list.h"
#include "fs/tree/opened.h"
#include "index/base/lock.h"

#include <stdatomic.h>

struct hf_capture;

enum hf_node_kind {
#define HF_NODE(id, name, parent, when, flags, each, size, write, bytes) HF_NODE_##id,
#include "fs/tree/nodes.def"
#undef HF_NODE
};

struct hf_node_key {
	enum hf_node_kind kind;
	mode_t type; /* S_IFMT of what the archive has itself, 0 of all else: a name that changes its type becomes
			another inode */
	struct hf_capture *capture; /* of the views; NULL otherwise */
	uint32_t hart;              /* of what is in one: source id */
	uint32_t view;              /* of views and their directories: number of the view */
	bool cut;                   /* a slice, or in one: only the instructions from first to last */
	uint64_t first, last;       /* ordinals; the path tells them too */
	/* Of a file: tells apart what stood under one path at different times, so that the kernel never has two
	 * contents in one inode. The same as long as the file is, also at the next mount. */
	uint64_t content;
	uint64_t parent;            /* the number of its directory; the root's is 0 */
	const char *path;           /* as shown, relative to the root of the mount; "" is the root */
};

struct hf_node {
	uint64_t ino;
	struct hf_node_key key;     /* path is owned */
	_Atomic uint64_t rights;    /* owner, group and permissions as last given out, packed; 0: never */
	_Atomic int64_t told_ns;    /* of a directory: when the kernel was last told of all its entries; 0: never */
	/* Everything below belongs to the table's lock. */
	uint64_t refs;
	bool crowded;               /* another node's number had to avoid this one: it stays for ever */
	uint64_t kept;              /* of the content that the kernel may have cached: hf_node_keep, hf_node_list */
	unsigned lists, old_lists;  /* open directories of it; of those, with another list than the newest */
	uint32_t list_round;        /* grows when there is another list */
	bool mixed;                 /* what the kernel has cached may be an old list */
	size_t shown_size;          /* of a text that changes by itself: as last opened */
	unsigned shown;             /* open files of it */
	struct hf_chain in_table;   /* by ino */
	struct hf_link of_capture;  /* in its capture's nodes */
};

struct hf_nodes {
	pthread_mutex_t lock;
	struct hf_chains table;
};

void hf_nodes_init(struct hf_nodes *nodes);
void hf_nodes_fini(struct hf_nodes *nodes);

/* The node of a key, with one reference more. */
int hf_node_get(struct hf_nodes *nodes, const struct hf_node_key *key, struct hf_node **ret_node);
/* The number that it has or would get. */
uint64_t hf_node_number(struct hf_nodes *nodes, const struct hf_node_key *key);
/* By number, with one reference more; NULL if nobody has a reference. */
struct hf_node *hf_node_ref(struct hf_nodes *nodes, uint64_t ino);
void hf_node_unref(struct hf_nodes *nodes, struct hf_node *node, uint64_t count);
/* Gives back references by number; unknown numbers are ignored. */
void hf_node_forget(struct hf_nodes *nodes, uint64_t ino, uint64_t count);

/* Notes that the content of that stamp is what the kernel gets to see; whether it was the same before. */
bool hf_node_keep(struct hf_nodes *nodes, struct hf_node *node, uint64_t stamp);
/*
 * The same of the names in a directory, whose list of that stamp is opened: whether the kernel may keep what it has
 * cached. Never while somebody who may fill that cache has an older list open. *ret_round: for hf_node_unlist, when it
 * is closed.
 */
bool hf_node_list(struct hf_nodes *nodes, struct hf_node *node, uint64_t stamp, uint32_t *ret_round);
void hf_node_unlist(struct hf_nodes *nodes, struct hf_node *node, uint32_t round);
/* What the kernel has cached is not what the last hf_node_keep or hf_node_list noted. */
void hf_node_unkeep(struct hf_nodes *nodes, struct hf_node *node);
/* Of texts that change: the size that getattr should give while one is open (HF_NOWHERE if none is). */
void hf_node_show(struct hf_nodes *nodes, struct hf_node *node, size_t size);
void hf_node_unshow(struct hf_nodes *nodes, struct hf_node *node);
uint64_t hf_node_shown(struct hf_nodes *nodes, struct hf_node *node);

/* Numbers of the nodes of a capture, ino[0..max); returns how many there are. */
size_t hf_nodes_of(struct hf_nodes *nodes, const struct hf_capture *capture, uint64_t *ino, size_t max);

#endif

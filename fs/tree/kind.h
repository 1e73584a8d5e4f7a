/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each kind of node is: nodes.def as a table of functions. The root is of kind PLAIN, as all that the archive has
 * itself; everything else is made by us.
 */
#ifndef HF_FS_KIND_H
#define HF_FS_KIND_H

#include "fs/bytes/bytes.h"
#include "fs/tree/node.h"

struct hf_tree;

enum hf_when { HF_WHEN_ALWAYS, HF_WHEN_INDEXED, HF_WHEN_UNINDEXED };

enum {
	HF_KIND_ARCHIVE = 1 << 0, /* the archive's own */
	HF_KIND_DIR = 1 << 1,
	HF_KIND_TEXT = 1 << 2,	   /* told apart by hf_facts_text, not by facts->content */
	HF_KIND_PASSING = 1 << 3,  /* will not be there for long */
	HF_KIND_CHANGING = 1 << 4, /* a directory whose list changes while somebody looks at it, if it is cut */
	HF_KIND_CUTS =
		1 << 5, /* a directory whose names are understood with the index alone, not with recalled facts */
	HF_KIND_OF_HART = 1 << 6, /* says something about one hart as a whole, if it is not cut */
	HF_KIND_STATUS =
		1 << 7, /* .hartfs and what is in it: for the mounter alone, unless the options say otherwise */
	HF_KIND_DIRECT = 1 << 8, /* hf_file_is_direct */
	HF_KIND_OF_CUT = 1 << 9, /* there is one only in what is cut, */
	HF_KIND_UNCUT = 1 << 10, /* or only in what is not */
};

/* A file or directory that is asked about. facts: of its capture, NULL while it is not indexed, and where there is
 * none. */
struct hf_subject {
	struct hf_tree *tree;
	const struct hf_node_key *key;
	const struct hf_facts *facts;
};

/* A look into a directory. */
struct hf_look {
	struct hf_tree *tree;
	const struct hf_node_key *dir;
	const struct hf_facts *facts; /* as those of a subject */
	const char *name;	      /* only this one is looked for; NULL: all that are listed */
	/* kind.c's: takes one more that may be there; false: no more are wanted. key has no path, or just the name. */
	bool (*offer)(void *ctx, const char *name, const struct hf_node_key *key);
	void *ctx;
};

struct hf_kind {
	const char *name;
	enum hf_node_kind parent;
	enum hf_when when;
	unsigned flags;
	/* key: of one in that directory, which each completes. False if no more are wanted. NULL: they are not listed.
	 */
	bool (*each)(const struct hf_look *look, struct hf_node_key key);
	/* The size of a file, 0 of a directory. HF_NOWHERE: of a text that changes, as long as it is when made.
	 * HF_ERR_NOT_FOUND: there is none; HF_ERR_BUSY: that is not known yet. */
	int (*size)(const struct hf_subject *of, uint64_t *ret_size);
	int (*write)(const struct hf_subject *of, struct hf_sink *sink);
	/* What they belong to is referenced: hf_bytes_unref. */
	int (*bytes)(const struct hf_subject *of, struct hf_bytes *ret_bytes);
};

const struct hf_kind *hf_kind_of(const struct hf_node_key *key);

static inline bool hf_kind_is(const struct hf_node_key *key, unsigned flag)
{
	return hf_kind_of(key)->flags & flag & ~(unsigned)(key->cut ? HF_KIND_OF_HART : HF_KIND_CHANGING);
}

/* What a file is told apart by (hf_node_key.content) while these facts hold. */
uint64_t hf_kind_content(const struct hf_node_key *key, const struct hf_facts *facts);
/* Its size, or whether it is there, as the kind's own function says it. */
int hf_kind_size(const struct hf_subject *of, uint64_t *ret_size);

/* The instructions of the hart that a file is about: so many from *ret_first on, none if it is about no hart. */
uint64_t hf_kind_insns(const struct hf_node_key *key, const struct hf_facts *facts, uint64_t *ret_first);

/* What is in a directory that is not the archive's own. Ends when fn returns false. */
typedef bool (*hf_child_fn)(void *ctx, const char *name, const struct hf_node_key *key, uint64_t size);
int hf_kind_list(struct hf_look *look, hf_child_fn fn, void *ctx);
/* The one with the name of the look; ret_key has no path. HF_ERR_BUSY if it may be there later. */
int hf_kind_find(struct hf_look *look, struct hf_node_key *ret_key, uint64_t *ret_size);
/* Whether that name may be in the directory as soon as its capture is indexed. */
bool hf_kind_may_come(const struct hf_node_key *dir, const char *name);

#endif

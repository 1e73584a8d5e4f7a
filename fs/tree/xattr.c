/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Extended attributes of views: the essentials of info.json, for those who look at a single file. All of it is known
 * without opening the capture or its index, because ls and cp ask for attributes of everything they see.
 */
#include "fs/capture/capture.h"
#include "fs/capture/info.h"
#include "fs/capture/recognise.h"
#include "fs/capture/state.h"
#include "fs/tree/tree.h"

#include <assert.h>
#include <stdio.h>

#define PREFIX "user.hartfs."

/* What the attributes are made of. */
struct about {
	const struct hf_node_key *key;
	const char *path; /* of the capture */
	const struct hf_codec *codec;
	const struct hf_box *box;
	enum hf_capture_state state;
	struct hf_facts *facts; /* one reference, or NULL */
};

static const struct hf_facts_hart *hart_of(const struct about *about)
{
	const struct hf_node_key *key = about->key;

	if (!about->facts || !hf_kind_is(key, HF_KIND_OF_HART))
		return NULL;
	return hf_facts_hart(about->facts, key->hart);
}

/* hartfs-info(5) documents them. From VERSION to PROBLEMS they are of what was indexed. */
enum what {
	CAPTURE,
	STATE,
	FORMAT,
	CONTAINER,
	VERSION,
	ARCH,
	ISA,
	XLEN,
	HARTS,
	HART,
	INSTRUCTIONS,
	ATTEMPTS,
	PROBLEMS,
	ERROR,
	COUNT
};

static const char *const names[COUNT] = {"capture", "state", "format", "container",    "version",  "arch",     "isa",
					 "xlen",    "harts", "hart",   "instructions", "attempts", "problems", "error"};

/* Of the hart, or of all of them. */
static uint64_t count_of(const struct about *about, enum what what)
{
	const struct hf_facts_hart *hart = hart_of(about);
	uint64_t insns = 0, attempts = 0;

	for (size_t i = 0; i < about->facts->hart_count; i++) {
		insns += about->facts->hart[i].info.insns;
		attempts += about->facts->hart[i].info.attempts;
	}
	if (hart)
		return what == INSTRUCTIONS ? hart->info.insns : hart->info.attempts;
	return what == INSTRUCTIONS ? insns : attempts;
}

/* What is said as a number; HF_NOWHERE if it is not known. */
static uint64_t number_of(const struct about *about, enum what what)
{
	const struct hf_facts *facts = about->facts;

	switch (what) {
	case XLEN:
		return facts->known.xlen ? facts->known.xlen : HF_NOWHERE;
	case HARTS:
		return facts->hart_count;
	case HART:
		return hart_of(about) ? about->key->hart : HF_NOWHERE;
	case PROBLEMS:
		return facts->known.problems;
	default:
		return count_of(about, what);
	}
}

/* What is said in a word; NULL if it is not known. */
static const char *word_of(const struct about *about, enum what what)
{
	const struct hf_facts *facts = about->facts;

	assert(facts || what < VERSION);
	switch (what) {
	case CAPTURE:
		return about->path;
	case STATE:
		return hf_capture_state_name(about->state);
	case FORMAT:
		return about->codec ? about->codec->name : NULL;
	case CONTAINER:
		return about->box ? about->box->name : "none";
	case VERSION:
		return facts->known.version;
	case ARCH:
		return facts->known.arch != HF_ARCH_NONE ? hf_info_arch_name(facts->known.arch) : NULL;
	default:
		return facts->known.isa != HF_ISA_NONE ? hf_info_isa_name(facts->known.isa) : NULL;
	}
}

/* The value, terminated, or an empty one: there is no such attribute of this one. */
static void put_value(const struct about *about, enum what what, char *buf, size_t size)
{
	const struct hf_facts *facts = about->facts;
	uint64_t number;
	const char *word;

	*buf = '\0';
	if (what == ERROR && facts && hf_facts_has_failed(facts))
		hf_facts_failure(facts, buf, size);
	if (what == ERROR || (what >= VERSION && (!facts || facts->failure.code)))
		return;
	if (what <= ISA && (word = word_of(about, what)))
		snprintf(buf, size, "%s", word);
	if (what > ISA && (number = number_of(about, what)) != HF_NOWHERE)
		snprintf(buf, size, "%llu", (unsigned long long)number);
}

static void fill(struct about *about, struct hf_capture *capture)
{
	HF_LOCKED(&capture->lock);
	about->path = capture->path;
	about->codec = capture->codec;
	about->box = capture->box;
	about->state = hf_capture_told_state(capture);
	about->facts = capture->facts ? hf_facts_ref(capture->facts) : NULL;
}

/* With a reference to the node in *ret_node, which is NULL (and the result 0) if it has no attributes. */
static int begin(struct hf_tree *tree, uint64_t ino, struct about *about, struct hf_node **ret_node)
{
	struct hf_node *node = hf_node_ref(&tree->nodes, ino);
	struct stat st;
	int err = node ? 0 : HF_ERR_NOT_FOUND;

	*ret_node = NULL;
	*about = (struct about){0};
	if (node && node->key.capture) {
		err = hf_capture_check(node->key.capture, &st);
		if (!err && !hf_tree_told_rights(node, &st))
			err = HF_ERR_CHANGED;
		about->key = &node->key;
		if (!err)
			fill(about, node->key.capture);
		/* A file of an older version has nothing to say any more. */
		if (about->facts && node->key.content && node->key.content != hf_kind_content(&node->key, about->facts))
			err = HF_ERR_CHANGED;
		if (!err) {
			*ret_node = node;
			return 0;
		}
	}
	hf_facts_unref(about->facts);
	if (node)
		hf_node_unref(&tree->nodes, node, 1);
	return err;
}

static void end(struct hf_tree *tree, struct about *about, struct hf_node *node)
{
	hf_facts_unref(about->facts);
	hf_node_unref(&tree->nodes, node, 1);
}

int hf_tree_xattr(struct hf_tree *tree, uint64_t ino, const char *name, char buf[HF_FS_XATTR_SIZE], size_t *ret_size)
{
	struct hf_node *node;
	struct about about;
	int err;

	*ret_size = 0;
	buf[0] = '\0';
	/* Most questions are about other people's attributes: ACLs, labels. */
	if (strncmp(name, PREFIX, strlen(PREFIX)) != 0)
		return HF_NOTE_END;
	err = begin(tree, ino, &about, &node);
	if (err || !node)
		return err ? err : HF_NOTE_END;
	for (enum what i = CAPTURE; i < COUNT; i++)
		if (strcmp(name + strlen(PREFIX), names[i]) == 0)
			put_value(&about, i, buf, HF_FS_XATTR_SIZE);
	end(tree, &about, node);
	*ret_size = strlen(buf);
	return *ret_size ? 0 : HF_NOTE_END;
}

int hf_tree_xattr_list(struct hf_tree *tree, uint64_t ino, char buf[HF_FS_XATTR_SIZE], size_t *ret_size)
{
	char value[HF_FS_XATTR_SIZE];
	struct hf_node *node;
	struct about about;
	int err = begin(tree, ino, &about, &node);

	*ret_size = 0;
	if (err || !node)
		return err;
	for (enum what i = CAPTURE; i < COUNT; i++) {
		put_value(&about, i, value, sizeof value);
		if (*value)
			*ret_size +=
				(size_t)snprintf(buf + *ret_size, HF_FS_XATTR_SIZE - *ret_size, PREFIX "%s", names[i]) +
				1;
	}
	end(tree, &about, node);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Extended attributes of views: the essentials of info.json, for those who look at a single file. All of it is known
 * without opening the capture or its index, because ls and cp ask for attributes of everything they see.
 */
#include "fs/capture/recognise.h"
#include "fs/facts/capture.h"
#include "fs/facts/info.h"
#include "fs/facts/state.h"
#include "fs/tree/tree.h"

#include <inttypes.h>
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

/* What was asked for: the value of one, or the names of those that there are. */
struct asked {
	const char *name; /* NULL: the names */
	char *buf;	  /* [HF_FS_XATTR_SIZE], terminated */
	size_t size;	  /* of the names, each with its end */
};

/* There is no attribute whose word is NULL or empty. */
static void put_word(struct asked *asked, const char *name, const char *word)
{
	const size_t room = HF_FS_XATTR_SIZE - asked->size;

	if (!word || !*word)
		return;
	if (!asked->name)
		asked->size += (size_t)snprintf(asked->buf + asked->size, room, PREFIX "%s", name) + 1;
	else if (strcmp(asked->name, name) == 0)
		snprintf(asked->buf, room, "%s", word);
}

static void put_number(struct asked *asked, const char *name, uint64_t number)
{
	char text[24];

	snprintf(text, sizeof text, "%" PRIu64, number);
	put_word(asked, name, text);
}

/* Of what was indexed: of the hart, or of all of them. */
static void put_known(struct asked *asked, const struct about *about)
{
	const struct hf_facts_hart *hart = hart_of(about);
	const struct hf_known *known = &about->facts->known;
	const struct hf_facts_sum sum = hf_facts_sum(about->facts);

	put_word(asked, "version", known->version);
	put_word(asked, "arch", known->arch != HF_ARCH_NONE ? hf_info_arch_name(known->arch) : NULL);
	put_word(asked, "isa", known->isa != HF_ISA_NONE ? hf_info_isa_name(known->isa) : NULL);
	if (known->xlen)
		put_number(asked, "xlen", known->xlen);
	put_number(asked, "harts", about->facts->hart_count);
	if (hart)
		put_number(asked, "hart", hart->info.id);
	put_number(asked, "instructions", hart ? hart->info.insns : sum.insns);
	put_number(asked, "attempts", hart ? hart->info.attempts : sum.attempts);
	put_number(asked, "texts", hart ? hart->info.told.texts : sum.told.texts);
	put_number(asked, "samples", hart ? hart->info.told.samples : sum.told.samples);
	put_number(asked, "markers", hart ? hart->info.told.markers : sum.told.markers);
	put_number(asked, "problems", known->problems);
}

/* hartfs-info(5) documents them. */
static void put_all(struct asked *asked, const struct about *about)
{
	char failure[HF_FS_XATTR_SIZE];

	put_word(asked, "capture", about->path);
	put_word(asked, "state", hf_capture_state_name(about->state));
	put_word(asked, "format", about->codec ? about->codec->name : NULL);
	put_word(asked, "container", about->box ? about->box->name : "none");
	if (about->facts && !about->facts->failure.code)
		put_known(asked, about);
	if (about->facts && hf_facts_has_failed(about->facts)) {
		hf_facts_failure(about->facts, failure, sizeof failure);
		put_word(asked, "error", failure);
	}
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
	put_all(&(struct asked){.name = name + strlen(PREFIX), .buf = buf}, &about);
	end(tree, &about, node);
	*ret_size = strlen(buf);
	return *ret_size ? 0 : HF_NOTE_END;
}

int hf_tree_xattr_list(struct hf_tree *tree, uint64_t ino, char buf[HF_FS_XATTR_SIZE], size_t *ret_size)
{
	struct asked asked = {.buf = buf};
	struct hf_node *node;
	struct about about;
	int err = begin(tree, ino, &about, &node);

	*ret_size = 0;
	if (err || !node)
		return err;
	put_all(&asked, &about);
	*ret_size = asked.size;
	end(tree, &about, node);
	return 0;
}

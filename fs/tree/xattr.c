/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Extended attributes of views: the essentials of info.json, for those who look at a single file. All of it is known
 * without opening the capture or its index, because ls and cp ask for attributes of everything they see.
 */
#include "fs/capture/info.h"
#include "fs/tree/tree.h"

#include <stdio.h>

#define PREFIX "user.hartfs."

/* What the attributes are made of. */
struct about {
	const struct hf_node_key *key;
	const char *path;           /* of the capture */
	const struct hf_codec *codec;
	const struct hf_box *box;
	enum hf_capture_state state;
	struct hf_facts *facts;     /* one reference, or NULL */
};

/* The value, terminated, or an empty one: there is no such attribute of this one. */
typedef void (*value_fn)(const struct about *about, char *buf, size_t size);

static const struct hf_facts_hart *hart_of(const struct about *about)
{
	const struct hf_node_key *key = about->key;

	if (!about->facts || !hf_kind_is(key, HF_KIND_OF_HART))
		return NULL;
	return hf_facts_hart(about->facts, key->hart);
}

static bool is_ready(const struct about *about)
{
	return about->facts && !about->facts->failure.code;
}

static void put_u64(char *buf, size_t size, uint64_t value)
{
	snprintf(buf, size, "%llu", (unsigned long long)value);
}

static void value_capture(const struct about *about, char *buf, size_t size)
{
	snprintf(buf, size, "%s", about->path);
}

static void value_state(const struct about *about, char *buf, size_t size)
{
	snprintf(buf, size, "%s", hf_capture_state_name(about->state));
}

static void value_format(const struct about *about, char *buf, size_t size)
{
	snprintf(buf, size, "%s", about->codec ? about->codec->name : "");
}

static void value_container(const struct about *about, char *buf, size_t size)
{
	snprintf(buf, size, "%s", about->box ? about->box->name : "none");
}

static void value_version(const struct about *about, char *buf, size_t size)
{
	snprintf(buf, size, "%s", is_ready(about) ? about->facts->known.version : "");
}

static void value_arch(const struct about *about, char *buf, size_t size)
{
	if (is_ready(about) && about->facts->known.arch != HF_ARCH_NONE)
		snprintf(buf, size, "%s", hf_info_arch_name(about->facts->known.arch));
}

static void value_isa(const struct about *about, char *buf, size_t size)
{
	if (is_ready(about) && about->facts->known.isa != HF_ISA_NONE)
		snprintf(buf, size, "%s", hf_info_isa_name(about->facts->known.isa));
}

static void value_xlen(const struct about *about, char *buf, size_t size)
{
	if (is_ready(about) && about->facts->known.xlen)
		put_u64(buf, size, about->facts->known.xlen);
}

static void value_harts(const struct about *about, char *buf, size_t size)
{
	if (is_ready(about))
		put_u64(buf, size, about->facts->hart_count);
}

static void value_hart(const struct about *about, char *buf, size_t size)
{
	if (hart_of(about))
		put_u64(buf, size, about->key->hart);
}

/* Of the hart, or of all of them. */
static void value_instructions(const struct about *about, char *buf, size_t size)
{
	const struct hf_facts_hart *hart = hart_of(about);
	uint64_t sum = 0;

	if (!is_ready(about))
		return;
	for (size_t i = 0; i < about->facts->hart_count; i++)
		sum += about->facts->hart[i].info.insns;
	put_u64(buf, size, hart ? hart->info.insns : sum);
}

static void value_attempts(const struct about *about, char *buf, size_t size)
{
	const struct hf_facts_hart *hart = hart_of(about);
	uint64_t sum = 0;

	if (!is_ready(about))
		return;
	for (size_t i = 0; i < about->facts->hart_count; i++)
		sum += about->facts->hart[i].info.attempts;
	put_u64(buf, size, hart ? hart->info.attempts : sum);
}

static void value_problems(const struct about *about, char *buf, size_t size)
{
	if (is_ready(about))
		put_u64(buf, size, about->facts->known.problems);
}

static void value_error(const struct about *about, char *buf, size_t size)
{
	const struct hf_facts *facts = about->facts;

	if (facts && hf_facts_has_failed(facts))
		hf_facts_failure(facts, buf, size);
}

/* hartfs-info(5) documents them. */
static const struct {
	const char *name;
	value_fn value;
} attributes[] = {
	{PREFIX "capture", value_capture},     {PREFIX "state", value_state},
	{PREFIX "format", value_format},       {PREFIX "container", value_container},
	{PREFIX "version", value_version},     {PREFIX "arch", value_arch},
	{PREFIX "isa", value_isa},             {PREFIX "xlen", value_xlen},
	{PREFIX "harts", value_harts},         {PREFIX "hart", value_hart},
	{PREFIX "instructions", value_instructions}, {PREFIX "attempts", value_attempts},
	{PREFIX "problems", value_problems},   {PREFIX "error", value_error},
};

#define COUNT (sizeof attributes / sizeof *attributes)

static void fill(struct about *about, struct hf_capture *capture)
{
	pthread_mutex_lock(&capture->lock);
	about->path = capture->path;
	about->codec = capture->codec;
	about->box = capture->box;
	about->state = hf_capture_told_state(capture);
	about->facts = capture->facts ? hf_facts_ref(capture->facts) : NULL;
	pthread_mutex_unlock(&capture->lock);
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
	for (size_t i = 0; i < COUNT; i++)
		if (strcmp(name, attributes[i].name) == 0)
			attributes[i].value(&about, buf, HF_FS_XATTR_SIZE);
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
	for (size_t i = 0; i < COUNT; i++) {
		value[0] = '\0';
		attributes[i].value(&about, value, sizeof value);
		if (!value[0])
			continue;
		memcpy(buf + *ret_size, attributes[i].name, strlen(attributes[i].name) + 1);
		*ret_size += strlen(attributes[i].name) + 1;
	}
	end(tree, &about, node);
	return 0;
}

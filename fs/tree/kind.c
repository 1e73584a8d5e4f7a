/* SPDX-License-Identifier: Apache-2.0 */
/* The table of nodes.def, and the loops over it. */
#include "fs/tree/kind.h"
#include "codecs/base/errors.h"
#include "fs/base/log_ring.h"
#include "fs/base/views.h"
#include "fs/bytes/channels.h"
#include "fs/bytes/kinds.h"
#include "fs/bytes/slice.h"
#include "fs/facts/info.h"
#include "fs/find/hart_states.h"
#include "fs/find/where.h"
#include "fs/profile/ahead.h"
#include "fs/tree/captures_page.h"
#include "fs/tree/control.h"
#include "fs/tree/shared.h"

#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool offer(const struct hf_look *look, const char *name, const struct hf_node_key *key)
{
	return look->offer(look->ctx, name, key);
}

/* ---- what has one name, and what is always there ---- */

static bool each_one(const struct hf_look *look, struct hf_node_key key)
{
	return offer(look, hf_kind_of(&key)->name, &key);
}

static int size_none(const struct hf_subject *of, uint64_t *ret_size)
{
	(void)of;
	*ret_size = 0;
	return 0;
}

/* ---- .hartfs ---- */

static bool each_log(const struct hf_look *look, struct hf_node_key key)
{
	return !look->tree->common->options.log_ring || each_one(look, key);
}

static int size_made(const struct hf_subject *of, uint64_t *ret_size)
{
	(void)of;
	*ret_size = HF_NOWHERE;
	return 0;
}

static int write_status(const struct hf_subject *of, struct hf_sink *sink)
{
	hf_control_status(of->tree, sink);
	return 0;
}

static int write_captures(const struct hf_subject *of, struct hf_sink *sink)
{
	hf_control_progress(of->tree, sink);
	return 0;
}

/* Those behind index.html. */
static bool each_page(const struct hf_look *look, struct hf_node_key key)
{
	const size_t pages = hf_captures_pages(look->tree);
	char name[32];
	bool more = true;

	for (key.view = 2; key.view <= pages && more; key.view++) {
		snprintf(name, sizeof name, "index-%u.html", (unsigned)key.view);
		more = offer(look, name, &key);
	}
	return more;
}

static int write_page(const struct hf_subject *of, struct hf_sink *sink)
{
	return hf_captures_page_write(of->tree, of->key->kind == HF_NODE_PAGES ? of->key->view : 1, sink);
}

static int write_metrics(const struct hf_subject *of, struct hf_sink *sink)
{
	hf_control_metrics(of->tree, sink);
	return 0;
}

static int write_log(const struct hf_subject *of, struct hf_sink *sink)
{
	hf_log_ring_write(of->tree->common->options.log_ring, sink);
	return 0;
}

/* ---- the view directory of a capture ---- */

static int size_info(const struct hf_subject *of, uint64_t *ret_size)
{
	*ret_size = of->facts ? of->facts->known.text_size[HF_TEXT_INFO] : HF_NOWHERE;
	return 0;
}

static int size_errors(const struct hf_subject *of, uint64_t *ret_size)
{
	*ret_size = of->facts->known.text_size[HF_TEXT_ERRORS];
	return 0;
}

static int write_info(const struct hf_subject *of, struct hf_sink *sink)
{
	hf_info_json(of->key->capture, NULL, NULL, sink);
	return 0;
}

static int bytes_info(const struct hf_subject *of, struct hf_bytes *ret_bytes)
{
	return hf_bytes_of_text(of->key->capture, of->facts, HF_TEXT_INFO, ret_bytes);
}

static int bytes_errors(const struct hf_subject *of, struct hf_bytes *ret_bytes)
{
	return hf_bytes_of_text(of->key->capture, of->facts, HF_TEXT_ERRORS, ret_bytes);
}

static int size_progress(const struct hf_subject *of, uint64_t *ret_size)
{
	(void)of;
	*ret_size = HF_INFO_INDEXING_SIZE;
	return 0;
}

static int write_progress(const struct hf_subject *of, struct hf_sink *sink)
{
	hf_info_indexing(of->key->capture, sink);
	return 0;
}

static bool each_source(const struct hf_look *look, struct hf_node_key key)
{
	char name[64];

	if (look->facts->known.stream_size == HF_NOWHERE)
		return true;
	hf_info_source_name(look->facts->known.codec, name, sizeof name);
	return offer(look, name, &key);
}

static int size_source(const struct hf_subject *of, uint64_t *ret_size)
{
	*ret_size = of->facts->known.stream_size;
	return *ret_size == HF_NOWHERE ? HF_ERR_NOT_FOUND : 0;
}

static int bytes_source(const struct hf_subject *of, struct hf_bytes *ret_bytes)
{
	return hf_bytes_of_stream(of->key->capture, of->facts, ret_bytes);
}

static bool each_records(const struct hf_look *look, struct hf_node_key key)
{
	key.hart = HF_HART_RECORDS;
	key.view = HF_VIEW_RECORDS;
	return each_one(look, key);
}

/* ---- all harts ---- */

static bool each_merged(const struct hf_look *look, struct hf_node_key key)
{
	key.view = (uint32_t)hf_views_merged();
	return key.view == HF_VIEW_COUNT || offer(look, hf_fs_view_ops(key.view)->view, &key);
}

static int size_merged(const struct hf_subject *of, uint64_t *ret_size)
{
	*ret_size = of->facts->known.merged_size;
	return *ret_size == HF_NOWHERE ? HF_ERR_NOT_FOUND : 0;
}

/* The directory is there if the file in it is. */
static int size_all(const struct hf_subject *of, uint64_t *ret_size)
{
	int err = size_merged(of, ret_size);

	*ret_size = 0;
	return err;
}

static int bytes_merged(const struct hf_subject *of, struct hf_bytes *ret_bytes)
{
	return hf_bytes_of_merged(of->key->capture, of->facts, ret_bytes);
}

/* ---- harts ---- */

static bool each_hart(const struct hf_look *look, struct hf_node_key key)
{
	char name[64];
	bool more = true;

	for (size_t i = 0; i < look->facts->hart_count && more; i++) {
		key.hart = look->facts->hart[i].info.id;
		snprintf(name, sizeof name, "hart%u", (unsigned)key.hart);
		more = offer(look, name, &key);
	}
	return more;
}

/* ---- the views of a hart ---- */

static int size_hart(const struct hf_subject *of, uint64_t *ret_size)
{
	const struct hf_facts_hart *hart = hf_facts_hart(of->facts, of->key->hart);

	*ret_size = 0;
	return hart && !(of->key->cut && of->key->last >= hart->info.insns) ? 0 : HF_ERR_NOT_FOUND;
}

static int size_whole(const struct hf_subject *of, uint64_t *ret_size)
{
	const struct hf_facts_hart *hart = hf_facts_hart(of->facts, of->key->hart);

	*ret_size = hart ? hart->view[of->key->view].size : HF_NOWHERE;
	return *ret_size == HF_NOWHERE ? HF_ERR_NOT_FOUND : 0;
}

/* A directory is there if the hart's view that lies in it is; of a slice that need not be measured. */
static int size_dir(const struct hf_subject *of, uint64_t *ret_size)
{
	int err = size_whole(of, ret_size);

	*ret_size = 0;
	return err;
}

/* The views that lie in their hart's directory itself, up to the number end. The program is that of the whole hart. */
static bool each_file(const struct hf_look *look, struct hf_node_key key, size_t end)
{
	bool more = true;

	for (key.view = 0; key.view < end && more; key.view++) {
		key.cut &= key.view < HF_ENC_COUNT;
		if (!hf_view_dir(key.view, NULL) && key.view != hf_views_channels())
			more = offer(look, hf_fs_view_ops(key.view)->view, &key);
	}
	return more;
}

static bool each_view(const struct hf_look *look, struct hf_node_key key)
{
	return each_file(look, key, HF_VIEW_COUNT);
}

/* The directories of views that have one. */
static bool each_dir(const struct hf_look *look, struct hf_node_key key)
{
	bool more = true;

	for (key.view = 0; key.view < HF_ENC_COUNT && more; key.view++) {
		const size_t length = hf_view_dir(key.view, NULL);
		char name[64];

		snprintf(name, sizeof name, "%.*s", (int)length, hf_fs_view_ops(key.view)->view);
		if (length)
			more = offer(look, name, &key);
	}
	return more;
}

static bool each_dir_view(const struct hf_look *look, struct hf_node_key key)
{
	const char *name;

	hf_view_dir(key.view, &name);
	return offer(look, name, &key);
}

/* What lies beside a view in its directory: the program, and files that its encoder adds. */
static bool each_side(const struct hf_look *look, struct hf_node_key key)
{
	const size_t view = key.view;
	bool more;

	key.cut = false;
	key.view = HF_VIEW_PROGRAM;
	more = offer(look, hf_view_program.view, &key);
	for (key.view = HF_VIEW_COUNT; key.view < HF_VIEW_ALL && more; key.view++) {
		size_t of;

		if (hf_fs_side(key.view, &of) && of == view)
			more = each_dir_view(look, key);
	}
	return more;
}

/* ---- texts: a file for each channel, which key.view is the number of ---- */

static int size_texts(const struct hf_subject *of, uint64_t *ret_size)
{
	const struct hf_facts_hart *hart = hf_facts_hart(of->facts, of->key->hart);
	const size_t view = hf_views_channels();
	const uint64_t size = hart && view < HF_VIEW_COUNT ? hart->view[view].size : HF_NOWHERE;

	*ret_size = 0;
	return size && size != HF_NOWHERE ? 0 : HF_ERR_NOT_FOUND;
}

static bool each_channel(const struct hf_look *look, struct hf_node_key key)
{
	struct hf_channels *channels;
	bool more = true;

	if (hf_channels_get(look->tree->channels, key.capture, look->facts, key.hart, &channels))
		return true;
	for (size_t i = 0; i < channels->count && more; i++) {
		char name[32];

		key.view = channels->channel[i].number;
		snprintf(name, sizeof name, "%u.txt", (unsigned)key.view);
		more = offer(look, name, &key);
	}
	hf_made_put(&channels->made);
	return more;
}

static int bytes_channel(const struct hf_subject *of, struct hf_bytes *ret_bytes)
{
	return hf_channels_bytes(of->tree->channels, of->key->capture, of->facts, of->key->hart, of->key->view, ret_bytes);
}

static int size_channel(const struct hf_subject *of, uint64_t *ret_size)
{
	struct hf_bytes bytes;
	int err = bytes_channel(of, &bytes);

	*ret_size = err ? 0 : bytes.size;
	if (!err)
		hf_bytes_unref(&bytes);
	return err;
}

/* ---- slices ---- */

static int get_slice(const struct hf_subject *of, struct hf_slice **ret_slice)
{
	const struct hf_node_key *key = of->key;

	return hf_slice_get(of->tree->slices, key->capture, of->facts, key->hart, key->first, key->last, ret_slice);
}

/* They are found by name and not listed. */
static bool each_slice(const struct hf_look *look, struct hf_node_key key)
{
	const struct hf_facts_hart *hart = hf_facts_hart(look->facts, key.hart);

	if (!look->name || !hart || !hf_slice_parse(look->name, hart->info.insns, &key.first, &key.last))
		return true;
	key.kind = HF_NODE_HART;
	key.cut = true;
	return offer(look, look->name, &key);
}

/* It was measured once, but that may be forgotten. */
static int size_cut(const struct hf_subject *of, uint64_t *ret_size)
{
	struct hf_slice *slice;
	struct hf_bytes bytes;
	int err = get_slice(of, &slice);

	if (err)
		return err;
	err = hf_slice_view(slice, of->facts, of->key->view, &bytes);
	*ret_size = err ? 0 : bytes.size;
	hf_slice_put(slice);
	return err;
}

static int size_view(const struct hf_subject *of, uint64_t *ret_size)
{
	return of->key->cut ? size_cut(of, ret_size) : size_whole(of, ret_size);
}

static int bytes_view(const struct hf_subject *of, struct hf_bytes *ret_bytes)
{
	struct hf_slice *slice;
	int err;

	if (!of->key->cut)
		return hf_bytes_of_view(of->key->capture, of->facts, of->key->hart, of->key->view, ret_bytes);
	err = get_slice(of, &slice);
	if (err)
		return err;
	err = hf_slice_view(slice, of->facts, of->key->view, ret_bytes);
	if (!err)
		hf_bytes_ref(ret_bytes);
	hf_slice_put(slice);
	return err == HF_ERR_BUSY ? HF_ERR_CHANGED : err;
}

/* ctx: the directory that they are in, as a subject. */
static bool is_measured(void *ctx, const char *name, const struct hf_node_key *key)
{
	struct hf_subject view = *(const struct hf_subject *)ctx;
	uint64_t size;

	(void)name;
	view.key = key;
	return size_cut(&view, &size) != HF_ERR_BUSY;
}

/* INDEXING is there as long as views in its directory are being measured: all of a slice's own, or the one of a
 * directory. */
static int size_measuring(const struct hf_subject *of, uint64_t *ret_size)
{
	struct hf_subject dir = *of;
	const struct hf_look look = {.offer = is_measured, .ctx = &dir};

	*ret_size = HF_INFO_INDEXING_SIZE;
	return each_file(&look, *of->key, HF_ENC_COUNT) ? HF_ERR_NOT_FOUND : 0;
}

static int size_measuring_one(const struct hf_subject *of, uint64_t *ret_size)
{
	struct hf_subject dir = *of;

	*ret_size = HF_INFO_INDEXING_SIZE;
	return is_measured(&dir, NULL, of->key) ? HF_ERR_NOT_FOUND : 0;
}

static int write_measuring(const struct hf_subject *of, struct hf_sink *sink)
{
	struct hf_slice *slice;
	int err = get_slice(of, &slice);

	if (err)
		return err;
	hf_slice_indexing(slice, sink);
	hf_slice_put(slice);
	return 0;
}

/* ---- states of harts ---- */

/* In the slice of one instruction. */
static bool each_state(const struct hf_look *look, struct hf_node_key key)
{
	return key.first != key.last || each_one(look, key);
}

static int get_state(const struct hf_subject *of, struct hf_hart_state_kept **ret_kept)
{
	const struct hf_node_key *key = of->key;

	return hf_hart_states_get(of->tree->hart_states, key->capture, of->facts, key->hart, key->first, ret_kept);
}

static int size_state(const struct hf_subject *of, uint64_t *ret_size)
{
	struct hf_hart_state_kept *kept;
	int err = get_state(of, &kept);

	if (err)
		return err;
	*ret_size = hf_sink_total(&kept->text);
	hf_made_put(&kept->made);
	return 0;
}

static int write_state(const struct hf_subject *of, struct hf_sink *sink)
{
	struct hf_hart_state_kept *kept;
	int err = get_state(of, &kept);

	if (err)
		return err;
	hf_sink_write(sink, kept->text.start, (size_t)hf_sink_total(&kept->text));
	hf_made_put(&kept->made);
	return 0;
}

/* ---- profiles ---- */

/* How to ask, in profile/ and where/. */
static const char *readme_of(const struct hf_subject *of)
{
	return of->key->kind == HF_NODE_WHERE_README ? hf_where_readme() : hf_profile_readme();
}

static int size_readme(const struct hf_subject *of, uint64_t *ret_size)
{
	*ret_size = strlen(readme_of(of));
	return 0;
}

static int write_readme(const struct hf_subject *of, struct hf_sink *sink)
{
	const char *text = readme_of(of);

	hf_sink_write(sink, text, strlen(text));
	return 0;
}

/* The key of what is in a profile, but for its file; false: the hart, or the slice, is not there. */
static bool get_profile_key(const struct hf_node_key *key, const struct hf_facts *facts, struct hf_profile_text *ret_text)
{
	const struct hf_facts_hart *hart = hf_facts_hart(facts, key->hart);

	*ret_text = (struct hf_profile_text){.made = {.capture = key->capture, .version = facts->version, .hart = key->hart}};
	if (key->kind == HF_NODE_ALL_PICTURE)
		return true;
	if (!hart || (key->cut && key->last >= hart->info.insns))
		return false;
	ret_text->first = key->cut ? key->first : 0;
	ret_text->last = key->cut ? key->last : hart->info.insns - 1;
	ret_text->slice = key->cut;
	return true;
}

/* Files whose names, of which length bytes are a directory, fit the one that is looked for. */
static bool each_profile_in(const struct hf_look *look, struct hf_node_key key, size_t length)
{
	bool more = true;

	/* Whoever asks without a kernel may ask for longer ones. */
	if (look->name && strlen(look->name) > NAME_MAX)
		return true;
	key.path = look->name;
	for (key.view = 0; look->name && more && key.view < HF_PROFILE_FILES; key.view++) {
		const char *name = hf_profile_name((enum hf_profile_file)key.view), *slash = strrchr(name, '/');

		if ((slash ? (size_t)(slash - name) + 1 : 0) == length && !fnmatch(name + length, look->name, 0))
			more = offer(look, look->name, &key);
	}
	return more;
}

/* Those whose sizes are known; all others will be. */
static bool each_profile_sized(const struct hf_look *look, struct hf_node_key key)
{
	struct hf_profiles *profiles = look->tree->profiles;
	uint64_t size[HF_PROFILE_FILES];
	struct hf_profile_text text;
	bool more = true;

	if (!get_profile_key(&key, look->facts, &text))
		return true;
	hf_profile_looked(profiles, &text);
	hf_profile_sizes(profiles, &text, size);
	for (key.view = 0; more && key.view < HF_PROFILE_FILES; key.view++)
		if (size[key.view] != HF_NOWHERE)
			more = offer(look, hf_profile_name((enum hf_profile_file)key.view), &key);
	return more;
}

static bool each_profile(const struct hf_look *look, struct hf_node_key key)
{
	return look->name ? each_profile_in(look, key, 0) : each_profile_sized(look, key);
}

/* The directories in which files of a profile are: view is the number of the first of these. */
static bool each_profile_dir(const struct hf_look *look, struct hf_node_key key)
{
	bool more = true;

	for (key.view = 0; look->name && more && key.view < HF_PROFILE_FILES; key.view++) {
		const char *name = hf_profile_name((enum hf_profile_file)key.view), *slash = strrchr(name, '/');

		if (slash && strlen(look->name) == (size_t)(slash - name) && !strncmp(look->name, name, (size_t)(slash - name)))
			more = offer(look, look->name, &key);
	}
	return more;
}

static bool each_profile_of_dir(const struct hf_look *look, struct hf_node_key key)
{
	const char *name = hf_profile_name((enum hf_profile_file)key.view);

	return each_profile_in(look, key, (size_t)(strrchr(name, '/') - name) + 1);
}

/* Those of all harts: found by name, and listed once their size is known. */
static bool each_all_picture(const struct hf_look *look, struct hf_node_key key)
{
	struct hf_profile_text text;
	bool more = true;

	key.hart = HF_HART_RECORDS;
	get_profile_key(&key, look->facts, &text);
	for (key.view = 0; key.view < HF_PROFILE_FILES && more; key.view++) {
		text.file = (enum hf_profile_file)key.view;
		key.path = hf_profile_name(text.file);
		if (hf_profile_is_of_all(text.file) &&
		    (look->name || hf_profile_size(look->tree->profiles, &text) != HF_NOWHERE))
			more = offer(look, key.path, &key);
	}
	return more;
}

/* What stands for the "*" of its name, if it has one. */
static void find_about(const struct hf_node_key *key, char about[NAME_MAX + 1])
{
	const char *pattern = hf_profile_name((enum hf_profile_file)key->view), *slash = strrchr(key->path, '/');
	const char *name = slash ? slash + 1 : key->path, *star;
	size_t before, n;

	pattern = strrchr(pattern, '/') ? strrchr(pattern, '/') + 1 : pattern;
	star = strchr(pattern, '*');
	if (!star)
		return;
	before = (size_t)(star - pattern);
	n = strlen(name) - before - strlen(star + 1);
	memcpy(about, name + before, n);
	about[n] = 0;
}

static int get_profile(const struct hf_subject *of, struct hf_profile_text **ret_text)
{
	struct hf_profiles *profiles = of->tree->profiles;
	struct hf_profile_text text;
	int err;

	if (!get_profile_key(of->key, of->facts, &text))
		return HF_ERR_NOT_FOUND;
	text.file = (enum hf_profile_file)of->key->view;
	find_about(of->key, text.about);
	err = hf_made_get(&profiles->texts, &text.made, (struct hf_made **)ret_text);
	if (!err)
		hf_profile_told(profiles, *ret_text);
	return err;
}

static int size_profile(const struct hf_subject *of, uint64_t *ret_size)
{
	struct hf_profile_text key, *text;
	int err;

	if (!get_profile_key(of->key, of->facts, &key))
		return HF_ERR_NOT_FOUND;
	key.file = (enum hf_profile_file)of->key->view;
	*ret_size = hf_profile_size(of->tree->profiles, &key);
	err = *ret_size == HF_NOWHERE ? get_profile(of, &text) : 0;
	if (err || *ret_size != HF_NOWHERE)
		return err;
	*ret_size = hf_sink_total(&text->text);
	hf_made_put(&text->made);
	return 0;
}

static int write_profile(const struct hf_subject *of, struct hf_sink *sink)
{
	struct hf_profile_text *text;
	int err = get_profile(of, &text);

	if (err)
		return err;
	hf_sink_write(sink, text->text.start, (size_t)hf_sink_total(&text->text));
	hf_made_put(&text->made);
	return 0;
}

/* ---- where something happened ---- */

/* They are found by name and not listed, as is what is in them: whoever goes through an archive would go through all. */
static bool each_where_kind(const struct hf_look *look, struct hf_node_key key)
{
	bool more = true;

	for (key.view = 0; look->name && more && key.view < HF_WHERE_KINDS; key.view++)
		more = offer(look, hf_where_name((enum hf_where_kind)key.view), &key);
	return more;
}

/* They are found by name and not listed: every address is one. */
static bool each_where_value(const struct hf_look *look, struct hf_node_key key)
{
	key.path = look->name;
	return !look->name || offer(look, look->name, &key);
}

/* The value is the last part of the path, which during a look-up is all there is of it. */
static int bytes_where(const struct hf_subject *of, struct hf_bytes *ret_bytes)
{
	const struct hf_node_key *key = of->key;
	const char *slash = strrchr(key->path, '/');

	return hf_where_get(of->tree->wheres, key->capture, of->facts, key->hart, (enum hf_where_kind)key->view,
			    slash ? slash + 1 : key->path, ret_bytes);
}

static int size_where(const struct hf_subject *of, uint64_t *ret_size)
{
	struct hf_bytes bytes;
	int err = bytes_where(of, &bytes);

	if (err)
		return err;
	*ret_size = bytes.size;
	hf_bytes_unref(&bytes);
	return 0;
}

/* ---- the table ---- */

enum {
	ARCHIVE = HF_KIND_ARCHIVE,
	DIR = HF_KIND_DIR,
	TEXT = HF_KIND_TEXT,
	PASSING = HF_KIND_PASSING,
	CHANGING = HF_KIND_CHANGING,
	CUTS = HF_KIND_CUTS,
	OF_HART = HF_KIND_OF_HART,
	STATUS = HF_KIND_STATUS,
	DIRECT = HF_KIND_DIRECT,
	OF_CUT = HF_KIND_OF_CUT,
	UNCUT = HF_KIND_UNCUT,
};

static const struct hf_kind kinds[] = {
#define HF_NODE(id, name, parent, when, flags, each, size, write, bytes) \
	[HF_NODE_##id] = {name, HF_NODE_##parent, HF_WHEN_##when, flags, each, size, write, bytes},
#include "fs/tree/nodes.def"
#undef HF_NODE
};

const struct hf_kind *hf_kind_of(const struct hf_node_key *key)
{
	return &kinds[key->kind];
}

uint64_t hf_kind_content(const struct hf_node_key *key, const struct hf_facts *facts)
{
	if (!facts || hf_kind_is(key, HF_KIND_DIR))
		return 0;
	return hf_kind_is(key, HF_KIND_TEXT) ? hf_facts_text(facts) : facts->content;
}

uint64_t hf_kind_insns(const struct hf_node_key *key, const struct hf_facts *facts, uint64_t *ret_first)
{
	const bool cut = key->cut && (hf_kind_of(key)->bytes == bytes_view || hf_kind_of(key)->write == write_profile);
	const struct hf_facts_hart *hart =
		facts && (cut || hf_kind_is(key, HF_KIND_OF_HART)) ? hf_facts_hart(facts, key->hart) : NULL;

	*ret_first = cut ? key->first : 0;
	if (!hart)
		return 0;
	return cut ? key->last - key->first + 1 : hart->info.insns;
}

static bool is_there(const struct hf_kind *kind, const struct hf_facts *facts)
{
	return kind->when == HF_WHEN_ALWAYS || (kind->when == HF_WHEN_INDEXED) == (facts != NULL);
}

int hf_kind_size(const struct hf_subject *of, uint64_t *ret_size)
{
	const struct hf_kind *kind = hf_kind_of(of->key);

	*ret_size = 0;
	/* What is in a directory is not known before the capture is indexed. */
	if (!is_there(kind, of->facts))
		return hf_kind_is(of->key, HF_KIND_DIR) ? HF_ERR_BUSY : HF_ERR_NOT_FOUND;
	return kind->size(of, ret_size);
}

/* What each offers goes to fn, if it is there. */
struct listing {
	struct hf_look *look;
	hf_child_fn fn;
	void *ctx;
	bool busy;
	int err;
};

static bool take_offered(void *ctx, const char *name, const struct hf_node_key *offered)
{
	struct listing *listing = ctx;
	const struct hf_look *look = listing->look;
	struct hf_node_key key = *offered;
	uint64_t size;
	int err;

	if (look->name && strcmp(name, look->name) != 0)
		return true;
	key.content = hf_kind_content(&key, look->facts);
	err = hf_kind_size(&(struct hf_subject){look->tree, &key, look->facts}, &size);
	listing->busy |= err == HF_ERR_BUSY;
	if (err == HF_ERR_BUSY || err == HF_ERR_NOT_FOUND)
		return true;
	listing->err = err;
	return !err && listing->fn(listing->ctx, name, &key, size);
}

static int list(struct listing *listing)
{
	struct hf_look *look = listing->look;
	bool more = true;

	look->offer = take_offered;
	look->ctx = listing;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds && more; i++) {
		struct hf_node_key key = *look->dir;

		if (kinds[i].parent != look->dir->kind || !kinds[i].each || !is_there(&kinds[i], look->facts) ||
		    kinds[i].flags & (key.cut ? UNCUT : OF_CUT))
			continue;
		key.kind = (enum hf_node_kind)i;
		key.path = NULL;
		more = kinds[i].each(look, key);
	}
	return listing->err;
}

int hf_kind_list(struct hf_look *look, hf_child_fn fn, void *ctx)
{
	return list(&(struct listing){.look = look, .fn = fn, .ctx = ctx});
}

struct found {
	struct hf_node_key *key;
	uint64_t *size;
	bool any;
};

static bool take_found(void *ctx, const char *name, const struct hf_node_key *key, uint64_t size)
{
	struct found *found = ctx;

	(void)name;
	*found->key = *key;
	*found->size = size;
	found->any = true;
	return false;
}

int hf_kind_find(struct hf_look *look, struct hf_node_key *ret_key, uint64_t *ret_size)
{
	struct found found = {ret_key, ret_size, false};
	struct listing listing = {.look = look, .fn = take_found, .ctx = &found};
	int err = list(&listing);

	return err || found.any ? err : listing.busy ? HF_ERR_BUSY : HF_ERR_NOT_FOUND;
}

bool hf_kind_may_come(const struct hf_node_key *dir, const char *name)
{
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (kinds[i].parent == dir->kind && kinds[i].when == HF_WHEN_INDEXED &&
		    !fnmatch(kinds[i].name, name, 0))
			return true;
	return false;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "index/store/discard.h"

#include "index/store/file.h"

static void each(void (*fn)(const struct hf_store_dir *dir, const char *name), const struct hf_store_dir *dir,
		 const struct hf_identity *identity, const struct hf_view_key *views, size_t view_count)
{
	char name[HF_FILE_NAME_SIZE];

	hf_index_file_name_spool(identity, name);
	fn(dir, name);
	hf_index_file_name_summary(identity, name);
	fn(dir, name);
	hf_index_file_name_index(identity, name);
	fn(dir, name);
	for (size_t i = 0; i < view_count; i++)
		if (!hf_index_file_name_view(identity, &views[i], name))
			fn(dir, name);
}

void hf_index_discard(const struct hf_store_dir *dir, const struct hf_identity *identity,
		      const struct hf_view_key *views, size_t view_count)
{
	each(hf_index_file_drop, dir, identity, views, view_count);
}

void hf_index_hide(const struct hf_store_dir *dir, const struct hf_identity *identity, const struct hf_view_key *views,
		   size_t view_count)
{
	each(hf_index_file_hide, dir, identity, views, view_count);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "index/store/discard.h"

#include "index/store/file.h"

static void each(void (*fn)(int dirfd, const char *name), int dirfd, const struct hf_identity *identity,
		 const struct hf_view_key *views, size_t view_count)
{
	char name[HF_FILE_NAME_SIZE];

	hf_index_file_name_spool(identity, name);
	fn(dirfd, name);
	hf_index_file_name_summary(identity, name);
	fn(dirfd, name);
	hf_index_file_name_index(identity, name);
	fn(dirfd, name);
	for (size_t i = 0; i < view_count; i++)
		if (!hf_index_file_name_view(identity, &views[i], name))
			fn(dirfd, name);
}

void hf_index_discard(int dirfd, const struct hf_identity *identity, const struct hf_view_key *views,
		      size_t view_count)
{
	each(hf_index_file_drop, dirfd, identity, views, view_count);
}

void hf_index_hide(int dirfd, const struct hf_identity *identity, const struct hf_view_key *views, size_t view_count)
{
	each(hf_index_file_hide, dirfd, identity, views, view_count);
}

#include "index/spool_format.h"

#include <sys/stat.h>
#include <unistd.h>

/* Only what is one of our files goes: a directory given by mistake must lose nothing. */
static bool is_our_db(void *ctx, int fd)
{
	const enum hf_db_look look = hf_db_look(fd, *(const enum hf_db_kind *)ctx);

	return look != HF_LOOK_FOREIGN && look != HF_LOOK_UNREADABLE;
}

static bool is_our_spool(void *ctx, int fd)
{
	struct stat st;

	(void)ctx;
	return fstat(fd, &st) == 0 && hf_spool_is_ours(fd, (uint64_t)st.st_size);
}

static void discard(int dirfd, const char *name, enum hf_db_kind kind)
{
	hf_idx_file_drop(dirfd, name, is_our_db, &kind);
}

static void discard_spool(int dirfd, const struct hf_identity *identity)
{
	char name[HF_FILE_NAME_SIZE];

	hf_spool_name(identity, name);
	hf_idx_file_drop(dirfd, name, is_our_spool, NULL);
}

void hf_index_discard(int dirfd, const struct hf_identity *identity, const struct hf_view_key *views,
		      size_t view_count)
{
	char name[HF_FILE_NAME_SIZE];

	discard_spool(dirfd, identity);
	hf_idx_file_name_index(identity, name);
	discard(dirfd, name, HF_DB_INDEX);
	for (size_t i = 0; i < view_count; i++)
		if (!hf_idx_file_name_view(identity, &views[i], name))
			discard(dirfd, name, HF_DB_VIEW);
}

#include "index/spool_format.h"
#include "index/stand.h"

#include <sys/stat.h>
#include <unistd.h>

/* What another user may have put there is left alone. */
static void discard(int dirfd, const char *name)
{
	int fd;

	if (hf_idx_file_open(dirfd, name, &fd))
		return;
	hf_stand_remove_open(dirfd, name, fd);
	close(fd);
}

void hf_index_discard(int dirfd, const struct hf_identity *identity, const struct hf_view_key *views,
		      size_t view_count)
{
	char name[HF_FILE_NAME_SIZE];

	hf_spool_name(identity, name);
	discard(dirfd, name);
	hf_idx_file_name_index(identity, name);
	discard(dirfd, name);
	for (size_t i = 0; i < view_count; i++)
		if (!hf_idx_file_name_view(identity, &views[i], name))
			discard(dirfd, name);
}

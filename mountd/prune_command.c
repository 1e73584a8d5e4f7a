/* SPDX-License-Identifier: Apache-2.0 */
/* hartfs index --prune: what went, in a line, or with --verbose or --dry-run a line for each file. */
#include "index/upkeep/prune.h"

#include "mountd/commands.h"
#include "mountd/confine.h"
#include "mountd/paths.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

static void tell(void *ctx, const char *name, uint64_t bytes, const char *reason)
{
	(void)ctx;
	printf("%s: %s, %" PRIu64 " bytes\n", name, reason, bytes);
}

void hf_tell_old_indexes(const struct hf_settings *settings)
{
	struct hf_prune prune = {.dirfd = hf_paths_need_index(settings), .sharing = settings->sharing};

	if (prune.dirfd < 0)
		return;
	if (hf_prune_count_old(&prune) == 0 && prune.files)
		printf("indexes of older versions: %" PRIu64 " files, %.1f MB; --prune removes them\n", prune.files,
		       (double)prune.bytes / 1e6);
	close(prune.dirfd);
}

int hf_prune_indexes(const struct hf_settings *settings)
{
	struct hf_prune prune = {.dirfd = hf_paths_need_index(settings),
				  .sharing = settings->sharing,
				  .dry_run = settings->dry_run};
	int err;

	if (prune.dirfd < 0)
		return HF_EXIT_FAILURE;
	if (!hf_confine(settings, &(struct hf_sandbox_places){.write = prune.dirfd})) {
		close(prune.dirfd);
		return HF_EXIT_FAILURE;
	}
	if (settings->dry_run || settings->verbosity > 0)
		prune.on_file = tell;
	err = hf_prune_run(&prune);
	close(prune.dirfd);
	if (err) {
		hf_paths_explain("index --prune", settings->index_dir ? settings->index_dir : "the index directory",
				 err, NULL);
		return HF_EXIT_FAILURE;
	}
	if (settings->verbosity >= 0)
		printf("%" PRIu64 " files %s, %" PRIu64 " bytes; %" PRIu64 " stay\n", prune.files,
		       settings->dry_run ? "would go" : "removed", prune.bytes, prune.kept);
	return HF_EXIT_OK;
}

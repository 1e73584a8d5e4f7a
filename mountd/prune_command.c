/* SPDX-License-Identifier: Apache-2.0 */
/* hartfs index --prune and --index-limit: what went, in a line, or with --verbose or --dry-run a line for each file. */
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

static int explain(const struct hf_settings *settings, int err)
{
	hf_paths_explain("index --prune", settings->index_dir ? settings->index_dir : "the index directory", err, NULL);
	return HF_EXIT_FAILURE;
}

static int keep_limit(const struct hf_settings *settings, struct hf_prune *prune)
{
	uint64_t bytes;
	const int err = hf_prune_to_limit(prune, settings->index_limit, &bytes);

	if (err)
		return explain(settings, err);
	if (settings->verbosity >= 0 && !settings->json)
		printf("%" PRIu64 " files used longest ago %s, %" PRIu64 " bytes; %" PRIu64 " bytes stay%s\n", prune->files,
		       settings->dry_run ? "would go" : "removed", prune->bytes, bytes,
		       bytes > settings->index_limit ? ", more than --index-limit: they are in use, were within a minute, or are not ours" : "");
	return HF_EXIT_OK;
}

int hf_prune_indexes(const struct hf_settings *settings)
{
	struct hf_prune prune = {.dirfd = hf_paths_need_index(settings),
				  .sharing = settings->sharing,
				  .dry_run = settings->dry_run};
	int err, status = HF_EXIT_OK;

	if (prune.dirfd < 0)
		return HF_EXIT_FAILURE;
	if (!hf_confine(settings, &(struct hf_sandbox_places){.write = prune.dirfd})) {
		close(prune.dirfd);
		return HF_EXIT_FAILURE;
	}
	if (settings->dry_run || settings->verbosity > 0)
		prune.on_file = tell;
	err = settings->prune ? hf_prune_run(&prune) : 0;
	if (err)
		status = explain(settings, err);
	else if (settings->prune && settings->verbosity >= 0)
		printf("%" PRIu64 " files %s, %" PRIu64 " bytes; %" PRIu64 " stay\n", prune.files,
		       settings->dry_run ? "would go" : "removed", prune.bytes, prune.kept);
	if (!err && settings->index_limit)
		status = keep_limit(settings, &prune);
	close(prune.dirfd);
	return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds what is missing: the decode index together with all views, or only views for an index that is there. Each file
 * is written under a private name and published whole.
 */
#include "index/pass/build.h"

#include "codecs/base/errors.h"
#include "index/pass/pass.h"
#include "index/read/decode_index.h"
#include "index/store/discard.h"

#include <stdlib.h>

static void set_limits(struct hf_pass *pass)
{
	pass->limits = pass->build->limits ? *pass->build->limits : hf_chunk_limits_default;
	if (!pass->limits.insns)
		pass->limits.insns = hf_chunk_limits_default.insns;
	if (!pass->limits.events)
		pass->limits.events = hf_chunk_limits_default.events;
	if (!pass->limits.bytes)
		pass->limits.bytes = hf_chunk_limits_default.bytes;
}

static int run(struct hf_pass *pass)
{
	const struct hf_build *build = pass->build;
	struct hf_index *index = NULL;
	int err = hf_index_open(build->dirfd, &build->identity, &index);

	*pass->diag = (struct hf_diag){.offset = HF_NOWHERE};
	set_limits(pass);
	pass->committed = pass->ticked = hf_pass_now();
	if (err == HF_ERR_NOT_FOUND) {
		err = hf_pass_build_index(pass);
		if (!err && !pass->whole)
			err = hf_index_open(build->dirfd, &build->identity, &index);
		/* Files that an earlier build had finished may be damaged. */
		if (err == HF_ERR_NOT_FOUND)
			err = HF_ERR_STATE;
	}
	if (!err && !pass->whole)
		err = hf_pass_build_views(pass, index);
	hf_index_close(index);
	free(pass->ids);
	return err;
}

/* Tries again as long as something can be removed to make room, and once for a doubt. */
static int run_with_room(const struct hf_build *build, struct hf_diag *diag)
{
	struct hf_pass pass = {.doubt = {0}};
	int err;

	do {
		pass = (struct hf_pass){
			.build = build,
			.diag = diag,
			.doubt = pass.doubt,
			.most = hf_expansion_most(build->expansion, build->identity.size),
			.env = {.disasm = build->disasm, .symbols = build->symbols},
		};
		err = run(&pass);
		if (pass.doubted && build->tap)
			build->tap->put(build->tap->ctx, 0, NULL, 0);
		/* The pass did not begin. */
		if (err == HF_ERR_INDEX_DIR && !pass.fault.errnum)
			hf_pass_make_room(&pass);
	} while (pass.doubted || (err == HF_ERR_INDEX_DIR && pass.made_room));
	if (err == HF_ERR_INDEX_DIR)
		hf_fault_put_back(&pass.fault);
	return err;
}

int hf_build_run(const struct hf_build *build, struct hf_diag *diag)
{
	struct hf_diag own;
	int err = 0;

	for (int tries = 0; tries < 2; tries++) {
		err = run_with_room(build, diag ? diag : &own);
		if (!hf_pass_is_unusable(err))
			break;
		hf_index_discard(build->dirfd, &build->identity, build->views, build->view_count);
	}
	/* Made from the start it must fit: anything else is a bug. */
	if (err == HF_ERR_STATE)
		err = HF_ERR_BUG;
	if (diag && diag->code != err)
		hf_diag_set(diag, err, HF_SPACE_FILE, HF_NOWHERE, 0);
	return err;
}

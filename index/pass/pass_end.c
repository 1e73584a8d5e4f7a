/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a pass: whether the capture is unchanged, and what stays after an error. */
#include "codecs/base/errors.h"
#include "index/pass/pass_workers.h"
#include "index/store/spool_room.h"

int hf_pass_check_identity(struct hf_pass *pass)
{
	struct hf_identity now;
	int err = hf_identity_of(pass->build->file, pass->build->identity.mtime_ns, &now, pass->diag);

	if (err)
		return err;
	for (size_t i = 0; i < pass->build->member_count; i++)
		hf_identity_add(&now, &pass->build->members[i]);
	return hf_identity_equal(&now, &pass->build->identity)
		       ? 0
		       : hf_diag_set(pass->diag, HF_ERR_CHANGED, HF_SPACE_FILE, HF_NOWHERE, 0);
}

bool hf_pass_is_unusable(int err)
{
	return err == HF_ERR_STATE || err == HF_ERR_MISMATCH;
}

void hf_pass_make_room(struct hf_pass *pass)
{
	pass->fault = *hf_fault_last();
	if (!hf_fault_is_room(&pass->fault))
		return;
	pass->made_room = hf_spool_give_way(pass->build->dirfd);
	if (!pass->made_room)
		hf_pass_remove_parts(pass);
}

/* After an error: keeps what is worth it for the next build. */
static void rescue(struct hf_pass *pass, int err)
{
	if (err == HF_ERR_CHANGED || hf_pass_is_unusable(err))
		hf_pass_remove_parts(pass);
	else if (err == HF_ERR_INDEX_DIR)
		hf_pass_make_room(pass);
	else if ((err == HF_ERR_CANCELLED || hf_err_class(err) == HF_CLASS_io) && (!pass->index || pass->index->store))
		hf_pass_commit(pass);
}

void hf_pass_end(struct hf_pass *pass, int err)
{
	hf_pass_workers_stop(pass->workers);
	if (err)
		rescue(pass, err);
	hf_pass_workers_free(pass->workers);
	pass->workers = NULL;
}

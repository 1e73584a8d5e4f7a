/* SPDX-License-Identifier: Apache-2.0 */
/* The summary that a pass makes: its file, from opening to its name. */
#include "index/pass.h"
#include "index/summary.h"

bool hf_pass_wants_summary(const struct hf_pass *pass)
{
	return pass->build->summary && hf_summary_part_is_possible(pass->build->dirfd);
}

bool hf_pass_outgrows_pack(const struct hf_pass *pass, uint64_t number)
{
	return number >= HF_SUMMARY_UNPACKED && pass->build->summary &&
	       !hf_summary_part_is_possible(pass->build->dirfd);
}

int hf_pass_open_summary(struct hf_pass *pass)
{
	return hf_summary_part_open(&pass->summary, pass->build->dirfd, &pass->build->identity, &pass->limits);
}

void hf_pass_close_summary(struct hf_pass *pass)
{
	if (*pass->summary.file.name)
		hf_summary_part_close(&pass->summary);
	pass->summary = (struct hf_summary_part){0};
}

void hf_pass_leave_summary(struct hf_pass *pass)
{
	if (!pass->summary.store)
		return;
	hf_part_remove(&pass->summary.file);
	hf_pass_close_summary(pass);
	pass->left = true;
}

int hf_pass_finish_summary(struct hf_pass *pass)
{
	return pass->summary.store ? hf_summary_part_finish(&pass->summary, &pass->build->identity, &pass->limits) : 0;
}

int hf_pass_publish_summary(struct hf_pass *pass, bool wanted)
{
	if (!*pass->summary.file.name)
		return 0;
	if (wanted)
		return hf_part_publish(&pass->summary.file);
	hf_part_remove(&pass->summary.file);
	return 0;
}

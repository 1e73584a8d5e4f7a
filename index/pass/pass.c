/* SPDX-License-Identifier: Apache-2.0 */
#include "index/pass/pass.h"

#include "codecs/base/array.h"
#include "codecs/base/errors.h"

static bool known(const struct hf_pass *pass, uint32_t id)
{
	for (size_t i = 0; i < pass->id_count; i++)
		if (pass->ids[i] == id)
			return true;
	return false;
}

int hf_pass_add_id(struct hf_pass *pass, uint32_t id)
{
	const struct hf_index_hart hart = {.id = id};
	int err;

	if (known(pass, id))
		return 0;
	if (pass->id_count > HF_SLOT_MAX / 2)
		return HF_ERR_HARTS_LIMIT;
	err = hf_array_room(&pass->ids, pass->id_count, sizeof *pass->ids);
	if (err)
		return err;
	pass->ids[pass->id_count] = id;
	/* A temporary slot: harts are sorted when all are known. */
	return hf_index_part_set_hart(pass->index, HF_SLOT_MAX - pass->id_count++, &hart);
}

bool hf_pass_wants_records(const struct hf_pass *pass)
{
	bool asked = false;

	for (size_t i = 0; i < pass->build->view_count; i++)
		asked = asked || pass->build->views[i].ops == &hf_enc_records;
	return asked && pass->in.stream->codec->records;
}

int hf_pass_init_views(struct hf_pass *pass)
{
	pass->views = calloc(pass->build->view_count + 1, sizeof *pass->views);
	return pass->views ? 0 : HF_ERR_NOMEM;
}

int hf_pass_add_view(struct hf_pass *pass, const struct hf_view_key *key)
{
	int err = hf_view_part_open(&pass->views[pass->view_count], pass->build->dirfd, &pass->build->identity, key,
				    &pass->limits);

	if (!err)
		pass->view_count++;
	return err;
}

void hf_pass_leave_view(struct hf_pass *pass, size_t i)
{
	hf_view_part_close(&pass->views[i]);
	pass->left = true;
	pass->view_count--;
	for (; i < pass->view_count; i++)
		pass->views[i] = pass->views[i + 1];
}

void hf_pass_close_views(struct hf_pass *pass)
{
	for (size_t i = 0; i < pass->view_count; i++)
		hf_view_part_close(&pass->views[i]);
	free(pass->views);
	pass->views = NULL;
	pass->view_count = 0;
}

bool hf_pass_wants_view(const struct hf_pass *pass, const struct hf_view_key *key)
{
	if (key->ops == &hf_enc_records)
		return pass->in.stream->codec->records;
	return !hf_enc_refusal(key->ops, &pass->in.stream->info);
}

bool hf_pass_view_is_stream(const struct hf_pass *pass, const struct hf_view_key *key, size_t harts, bool holes)
{
	const struct hf_stream *stream = pass->in.stream;

	return harts == 1 && !holes && key->ops == stream->codec->original && (stream->info.flags & HF_STREAM_ORIGINAL);
}

int hf_pass_finish_views(struct hf_pass *pass)
{
	int err = 0;

	for (size_t i = 0; i < pass->view_count && !err; i++)
		err = hf_view_part_finish(&pass->views[i], &pass->build->identity, &pass->limits);
	return err;
}

int hf_pass_publish_views(struct hf_pass *pass, size_t harts, bool holes)
{
	int err = 0;

	for (size_t i = 0; i < pass->view_count && !err; i++) {
		struct hf_view_part *view = &pass->views[i];

		if (hf_pass_view_is_stream(pass, view->key, harts, holes))
			hf_part_remove(&view->file);
		else
			err = hf_part_publish(&view->file);
	}
	return err;
}

void hf_pass_remove_parts(struct hf_pass *pass)
{
	for (size_t i = 0; i < pass->view_count; i++)
		hf_part_remove(&pass->views[i].file);
	if (*pass->summary.file.name)
		hf_summary_part_remove(&pass->summary);
	if (pass->index)
		hf_part_remove(&pass->index->file);
}
